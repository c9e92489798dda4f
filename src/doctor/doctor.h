/* SPDX-License-Identifier: MIT
 *
 * Is this machine fit to be measured? One small function for each thing that spoils numbers: it
 * says what it saw, which rows that spoils, and the command that mends it, which is for a person
 * to run. Nothing is changed here, and a file that is not there is never taken for a good or a bad
 * sign: the verdict is then PS_UNKNOWN.
 */
#ifndef PS_DOCTOR_DOCTOR_H
#define PS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/boardfile.h"
#include "sys/topology.h"

#define PS_NOT_TRIED 1 /* in place of 0 or a negative errno */

enum ps_verdict {
    PS_GOOD,
    PS_UNKNOWN, /* the kernel does not say */
    PS_NOTE,    /* numbers are right, but rows are missing, or the condition should be known */
    PS_BAD,     /* numbers are wrong, noisy or not those of this machine */
    PS_N_VERDICT
};

/* What a check reads besides the files below root: what can only be measured. Tests fill it in. */
struct ps_machine {
    const char *root; /* "" for this machine, else a directory that stands for one */
    const struct ps_boardfile *board; /* NULL: none */
    struct ps_topology topology;
    char directory[512]; /* where a sheet would be written; "" unknown */

    double measured_mhz[PS_CLUSTERS_MAX]; /* median probe; 0 unknown */
    unsigned
        busy_khz[PS_CLUSTERS_MAX]; /* what cpufreq said while the cluster was busy; 0 unknown */
    bool clock_measured, chains_agree;
    double core_shared; /* share of the probes beside a busy hardware thread; negative unknown */

    /* Over a window of about a second in which this program slept; negative unknown. */
    double steal_pct, foreign_pct;
    double swapped_pages; /* in and out */
    int64_t throttled;    /* thermal and quota events */
    struct {
        int pid; /* 0: none */
        char name[32];
        double cpu_pct; /* of one CPU */
    } busiest;

    /* Rights that were tried: 0, a negative errno, or PS_NOT_TRIED (under a root). */
    int realtime, memory_lock, perf;
};

/* Reads and, where root is this machine, measures for about `window_ms` and 60 ms a cluster.
 * *ret_machine is large: not for the stack of a thread. 0, or a negative errno with a sentence. */
int ps_machine_read(const char *root, const char *cpus, const struct ps_boardfile *board,
                    unsigned window_ms, struct ps_machine *ret_machine, char *ret_why,
                    size_t why_bytes);
/* The same with nothing measured and nothing tried, whatever the root. */
int ps_machine_describe(const char *root, const char *cpus, const struct ps_boardfile *board,
                        struct ps_machine *ret_machine, char *ret_why, size_t why_bytes);

struct ps_finding {
    enum ps_verdict verdict;
    char seen[320];   /* one sentence */
    char spoils[200]; /* the rows, and what becomes of them; "" when good or unknown */
    char mend[320];   /* a command to paste; "" where there is none */
};

struct ps_check {
    const char *name; /* "governor": as in the sheet's ids, for --format json */
    void (*run)(const struct ps_machine *machine, struct ps_finding *ret_finding);
};
/* Ends with a check without a name. */
extern const struct ps_check ps_checks[];

/* Runs the check of that name; false when there is none. */
bool ps_check_run(const struct ps_machine *machine, const char *name,
                  struct ps_finding *ret_finding);

/* Calls `say` for every check and for every line of the board file that this machine contradicts
 * (named "board file"). Returns how many findings are PS_BAD. */
unsigned ps_doctor_examine(const struct ps_machine *machine,
                           void (*say)(void *context, const char *name,
                                       const struct ps_finding *finding),
                           void *context);

/* "good", "unknown", "note", "bad". */
const char *ps_verdict_name(enum ps_verdict verdict);

#endif
