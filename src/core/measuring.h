/* SPDX-License-Identifier: MIT
 *
 * The parts of measuring, for measure*.c only.
 */
#ifndef PS_CORE_MEASURING_H
#define PS_CORE_MEASURING_H

#include "core/measure.h"

#define PS_PROBES_MAX (PS_SAMPLES_MAX + 1)

struct ps_team_run; /* measure_team.c */

struct ps_measuring {
    struct ps_run run; /* of thread 0 */
    struct ps_run_shared *shared;
    const struct ps_measure_settings *settings;
    struct ps_team_run *team; /* NULL: one thread */
    unsigned n_segments;
    uint64_t units[PS_SEGMENTS_MAX];
    uint64_t n[PS_SEGMENTS_MAX];        /* iterations of a sample */
    uint64_t trial_ns[PS_SEGMENTS_MAX]; /* what n of them took when that was found */
    double *probes;                     /* the first PS_PROBES_MAX that were known */
    unsigned n_probes;
    double *issues; /* likewise, adds per cycle */
    unsigned n_issues;
};

/* The core as the calling thread finds it. */
struct ps_probed {
    double mhz;   /* 0: unknown */
    double issue; /* adds per cycle, 0: unknown */
};

struct ps_timing {
    uint64_t start_ns, stop_ns;
    uint64_t ns;   /* between; 0: the clock did not move, or went back */
    bool backward; /* it went back */
    bool switched; /* involuntarily, on any thread */
};

/* Series of a segment. */
struct ps_series *ps_segment_series(struct ps_measuring *m, unsigned segment);
/* Probes the clock, and how much of the core is this thread's. */
struct ps_probed ps_probe(struct ps_measuring *m);
/* The lower of two, 0 when either is unknown. */
double ps_issue_between(double before, double after);
/* Mean of two probes, 0 when either is unknown. */
double ps_between(double mhz_before, double mhz_after);

/* Involuntary switches of the calling thread so far; 0 where that cannot be told. */
uint64_t ps_switches(const struct ps_port *port);
/* Fills in ns and backward from start and stop. */
void ps_timing_settle(struct ps_timing *timing);
/* One timed piece of work on the calling thread. 0, or negative when the case is over. */
int ps_time_work(struct ps_run *run, unsigned segment, bool baseline, uint64_t n,
                 struct ps_timing *ret_timing);
/* The same on one thread or, in a JOIN team, on all of them. */
int ps_step(struct ps_measuring *m, unsigned segment, bool baseline, uint64_t n,
            struct ps_timing *ret_timing);

/* measure_batch.c. Warm-up in ns that two passes of a segment's working set ask for. */
uint64_t ps_two_passes_ns(const struct ps_measuring *m, unsigned segment);
int ps_measure_batches(struct ps_measuring *m);

/* measure_team.c. Calls body(m) on thread 0, with the other threads waiting for its steps. */
void ps_team_run(struct ps_measuring *m, void (*body)(struct ps_measuring *m));
int ps_team_thread_setup(struct ps_measuring *m);
int ps_team_step(struct ps_measuring *m, unsigned segment, bool baseline, uint64_t n,
                 struct ps_timing *ret_timing);
int ps_measure_windows(struct ps_measuring *m);

#endif
