/* SPDX-License-Identifier: MIT
 *
 * What will be measured: cases with their places, numbers of runs and predicted times. Cases are
 * dropped whole to fit a budget, never thinned below 3 runs.
 */
#ifndef PS_HARNESS_PLAN_H
#define PS_HARNESS_PLAN_H

#include "bench/registry.h"
#include "core/measure.h"
#include "core/record.h"
#include "harness/environment.h"
#include "sheet/sheet.h"

#define PS_ID_MAX 256
#define PS_ROW_CPUS_MAX 64 /* in the row itself; larger teams take the usable CPUs in order */

enum ps_depth { PS_DEPTH_QUICK, PS_DEPTH_DEFAULT, PS_DEPTH_THOROUGH };

struct ps_plan_row {
    const struct ps_bench *bench;
    struct ps_case c; /* with place.cluster or place.cpu set */
    char id[PS_ID_MAX];
    enum ps_bound bound;
    int *cpus;
    unsigned n_cpus;
    bool partner; /* run-queue delay is the benchmark's own: judge foreign CPU time */
    struct ps_measure_settings settings;
    unsigned runs_planned, runs_max; /* 0 when it will not run */
    unsigned predicted_ms;           /* of one run */
    double reference_mhz;            /* of its cluster; 0 unknown */
    enum ps_status status;           /* OK: will run */
    const char *reason;
};

struct ps_plan_options {
    const char *const *filters;
    size_t n_filters;
    enum ps_depth depth;
    unsigned budget_s; /* 0: the depth's own: quick 60 s overall, else 600 s a chapter */
    uint64_t seed;     /* 0: from the clock */
    unsigned threads;  /* --threads: overrides the number for "all"; 0: topology's */
    bool golden;
};

struct ps_plan {
    struct ps_plan_row *rows;
    size_t n_rows;
    enum ps_depth depth;
    uint64_t seed;
    char hash[17];      /* of ids, methods and settings: the same plan has the same hash */
    double predicted_s; /* of all rows that will run, replacements (10 %) included */
    size_t n_run;       /* rows that will run */
    char warning[160];  /* what was asked for and obeyed, and should not be; "": nothing */
    void *memory;
};

/* Asks every selected table's probe() and cases(). Rows that cannot run are in the plan with their
 * status. 0, -EINVAL when a filter selects nothing (why says which), -ENOMEM. */
int ps_plan_make(const struct ps_registry *registry, const struct ps_environment *environment,
                 const struct ps_plan_options *options, struct ps_plan *ret_plan, char *ret_why,
                 size_t why_bytes);
void ps_plan_free(struct ps_plan *plan);
/* Case records of all rows, table records before their first case. */
int ps_plan_write(const struct ps_plan *plan, const char *source, struct ps_json_writer *json);
/* The same without those that the sheet has. NULL: it has none. */
int ps_plan_write_missing(const struct ps_plan *plan, const char *source,
                          const struct ps_sheet *sheet, struct ps_json_writer *json);

#endif
