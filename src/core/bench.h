/* SPDX-License-Identifier: MIT
 *
 * The benchmark interface: the one header that a benchmark includes.
 *
 * A table of the datasheet is one file with one `const struct ps_bench`, and one line in
 * src/bench/registry.def. A benchmark has no clock, no stdout and no sheet: it does n units of work
 * when it is told to, and the harness times it. See docs/ADDING_A_BENCHMARK.md.
 */
#ifndef PS_CORE_BENCH_H
#define PS_CORE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/env.h"
#include "core/keep.h"
#include "core/status.h"
#include "core/text.h"
#include "core/units.h"

#define PS_NAME_MAX 64 /* a case's name; an id's part */
#define PS_PARAMS_MAX 8
#define PS_PUBLISHED_MAX 4
#define PS_RELATIONS_MAX 6
#define PS_METRICS_MAX 12
#define PS_SEGMENTS_MAX 12
#define PS_GIVEN_MAX 16 /* CPUs that a case names itself */

/* ---- Metrics: the columns ------------------------------------------------------------------- */

enum ps_metric_kind {
    PS_TIME,    /* timed; the value is time per unit, unit of dimension TIME */
    PS_RATE,    /* timed; the value is units per time, unit of dimension RATE */
    PS_READING, /* pushed by events(), in base units of its dimension */
    PS_DERIVED, /* computed from another metric of the same case */
};

enum ps_derivation {
    PS_DERIVE_NONE,
    PS_DERIVE_SCALE,   /* value of `from` x factor */
    PS_DERIVE_PER_MHZ, /* value of `from` x factor / clock, each run's rate by its own clock */
    PS_DERIVE_CLOCK,   /* the clock measured while `from` ran, MHz */
};

/* What limits a row, and with it the estimator (docs/METHOD.md). */
enum ps_bound {
    PS_BOUND_AUTO, /* core or memory, by the case's memory request against the last private cache */
    PS_BOUND_CORE, /* 10th percentile of clock-normalised samples; mean of the lower half of runs */
    PS_BOUND_MEMORY, /* 25th percentile of raw samples; mean of the lower half of the runs */
    PS_BOUND_WAKE,   /* median of 10 ms samples; median over runs; 8 runs or more */
    PS_BOUND_DEVICE, /* mean of samples; mean over runs */
};

/* Inside a run; PS_STAT_AUTO takes the bound's. All on time per unit. */
enum ps_stat {
    PS_STAT_AUTO,
    PS_STAT_MEDIAN,
    PS_STAT_P25,
    PS_STAT_P10,
    PS_STAT_MIN,
    PS_STAT_MEAN,
    PS_STAT_LOWER_HALF, /* over runs only: mean of the ceil(n/2) fastest */
};

enum ps_better { PS_BETTER_LOWER, PS_BETTER_HIGHER, PS_BETTER_NEITHER };

enum ps_depends { PS_DEPENDS_NOTHING, PS_DEPENDS_LIBC, PS_DEPENDS_LIBCRYPTO, PS_DEPENDS_COMPILER };

struct ps_metric {
    const char *name; /* id's last part: [a-z0-9_-] */
    enum ps_unit unit;
    enum ps_metric_kind kind;
    const char *counts; /* what is counted: "bytes read, once", "one round trip" */
    enum ps_better better;
    bool positive;       /* zero is wrong */
    unsigned decimals;   /* printed */
    unsigned method;     /* version; changes with the timed region or the estimator */
    enum ps_bound bound; /* AUTO: the case's */
    enum ps_stat sample_stat;
    enum ps_stat run_stat;
    enum ps_depends depends;
    /* Fewest core cycles in which any processor could do one unit; less means that the work was
     * optimised away, and the row is suspect. 0: no such floor is known. */
    double floor_cycles;
    enum ps_derivation derivation; /* kind DERIVED */
    const char *from;              /* name of the metric it is derived from */
    double factor;
};

/* ---- Cases: the rows ------------------------------------------------------------------------ */

/* A number or, where `text` is not NULL, a text. Units come last in the name: "size_bytes". */
struct ps_param {
    const char *name;
    int64_t value;
    const char *text;
};

enum ps_pairing {
    PS_PAIR_NONE, /* `threads` CPUs, or one */
    PS_PAIR_SAME_CPU,
    PS_PAIR_CROSS_CPU, /* two CPUs of one cluster */
    PS_PAIR_CROSS_CLUSTER,
};

struct ps_place {
    unsigned threads; /* 0 and 1: one; more: a team */
    enum ps_pairing pairing;
    bool every_cluster; /* rows per cluster when clusters are unequal; set for single-CPU rows */
    bool every_cpu;     /* a row per usable CPU */
    const char *target; /* name of a target, or NULL */
    /* With a pairing: the very CPUs, of env->usable_cpus, the caller's first. 0: the plan's choice.
     */
    unsigned n_given;
    int given[PS_GIVEN_MAX];
    /* Assigned by the plan: */
    int cluster; /* -1: any */
    int cpu;     /* -1: any of the cluster */
};

enum ps_pages { PS_PAGES_ANY, PS_PAGES_BASE, PS_PAGES_HUGE };

/* The run's arena holds this plus 64 KiB of small change. Mapped fresh for every run, prefaulted.
 */
struct ps_memory {
    uint64_t bytes;
    uint64_t alignment_bytes; /* of the first allocation; 0: a page */
    enum ps_pages pages;
    bool untouched; /* do not prefault: the benchmark measures the faults */
};

enum ps_comparable {
    PS_COMPARABLE_YES,
    PS_COMPARABLE_APPROX,
    PS_COMPARABLE_SCALING,
    PS_COMPARABLE_NO
};

/* A row of a vendor's page that a metric of this case stands beside. */
struct ps_published {
    const char *metric; /* ours */
    const char *page;   /* "am62l" */
    const char *table;  /* as on the page */
    char row[PS_NAME_MAX];
    const char *column;
    unsigned nth; /* which of several rows of that name; 1 = the first */
    enum ps_comparable comparable;
    const char *why; /* NULL only for YES */
};

enum ps_relation_type {
    PS_ORDER_AT_LEAST, /* this value >= other x (1 - tolerance) */
    PS_ORDER_AT_MOST,  /* this value <= other x (1 + tolerance) */
    PS_SCALING,        /* this value <= other x threads x (1 + tolerance) */
    PS_NEAR,           /* |this / other - 1| <= tolerance */
    PS_WHOLE_CYCLES,   /* this in cycles is a whole number within tolerance */
};

/* A sanity rule between two metrics; read by rules/, never by a name. */
struct ps_relation {
    enum ps_relation_type type;
    const char *rule;   /* its id, "mem-06" */
    const char *metric; /* ours */
    char other[2 *
               PS_NAME_MAX]; /* "chapter.table/case:metric", without places; "" for WHOLE_CYCLES */
    double factor;           /* on the other's value: 1 when 0 */
    double tolerance;
    const char *cause; /* the likely cause when it does not hold */
};

enum ps_tag { PS_TAG_HEADLINE = 1 << 0 }; /* in the quick datasheet */

struct ps_case {
    char name[PS_NAME_MAX];
    struct ps_param params[PS_PARAMS_MAX];
    unsigned n_params;
    struct ps_place place;
    struct ps_memory memory;
    enum ps_bound bound; /* AUTO with no memory request: core */
    unsigned tags;
    struct ps_published published[PS_PUBLISHED_MAX];
    unsigned n_published;
    struct ps_relation relations[PS_RELATIONS_MAX];
    unsigned n_relations;
    uint32_t quality;      /* marks known at plan time: PS_Q_CACHE_RESIDENT */
    enum ps_status status; /* OK, or why this case cannot run here at all (UNSUPPORTED, SKIPPED) */
    const char *reason;
    const char *alias_of; /* "chapter.table/case:metric" whose runs this row repeats, or NULL */
    unsigned
        predicted_ms; /* of one run beyond warm-up and window (set-up, long passes); 0: little */
};

struct ps_case_list;

/* A new case, zeroed but for `name` (copied), cluster and cpu -1 and every_cluster true; NULL when
 * memory ran out, which the list remembers: cases() need not report it. */
struct ps_case *ps_case_add(struct ps_case_list *list, const char *name);
/* Each of these does nothing when `c` is NULL; an array that is full trips an assertion. */
void ps_case_param(struct ps_case *c, const char *name, int64_t value);
void ps_case_param_text(struct ps_case *c, const char *name, const char *text);
void ps_case_publish(struct ps_case *c, const char *metric, const char *page, const char *table,
                     const char *row, enum ps_comparable comparable, const char *why);
void ps_case_relate(struct ps_case *c, enum ps_relation_type type, const char *rule,
                    const char *metric, const char *other, double factor, double tolerance,
                    const char *cause);
/* Value of a parameter, `missing` where there is none. */
int64_t ps_case_value(const struct ps_case *c, const char *name, int64_t missing);
const char *ps_case_text(const struct ps_case *c, const char *name);

/* ---- A run: what the callbacks get ---------------------------------------------------------- */

struct ps_run;

const struct ps_case *ps_run_case(const struct ps_run *run);
/* Of the arena, zeroed unless `untouched`; alignment a power of two or 0 (16). Only in setup and
 * thread_setup. NULL when it is full: the memory request was too small. */
void *ps_run_alloc(struct ps_run *run, size_t bytes, size_t alignment_bytes);
/* The benchmark's own pointer, shared by the threads of a team. */
void ps_run_set_state(struct ps_run *run, void *state);
void *ps_run_state(const struct ps_run *run);
/* This thread of the team, from 0, and how many there are. */
unsigned ps_run_thread(const struct ps_run *run);
unsigned ps_run_threads(const struct ps_run *run);
/* CPU number that the plan gave to thread or partner `index`; -1 where there is no such thing. */
int ps_run_cpu(const struct ps_run *run, unsigned index);
/* A number that differs from run to run, for inputs and orders. Deterministic under --golden. */
uint64_t ps_run_seed(const struct ps_run *run);
/* Ends the case: keeps status, errno-like error (0: none) and reason, a static sentence that says
 * what to do. Returns a negative value for the callback to return. The first call counts. */
int ps_run_end(struct ps_run *run, enum ps_status status, int error, const char *reason);
/* The quality marks that only the run can know. */
void ps_run_mark(struct ps_run *run, uint32_t quality);

/* Events tables only. */
unsigned ps_run_events_wanted(const struct ps_run *run);
uint64_t ps_run_now_ns(const struct ps_run *run); /* CLOCK_MONOTONIC */
/* One event of metric number `metric`, in base units (ns for times). */
void ps_run_event(struct ps_run *run, unsigned metric, double value);

/* ---- The benchmark -------------------------------------------------------------------------- */

enum ps_case_order { PS_INTERLEAVED, PS_AS_LISTED };

enum ps_team {
    PS_TEAM_WINDOW, /* 10 ms samples inside the window from last start to first stop */
    PS_TEAM_JOIN,   /* first start to last stop, all work counted */
};

/* A named piece of a pass, timed by itself, feeding one metric. */
struct ps_segment {
    const char *name;
    unsigned metric; /* index into metrics */
};

/* How a page may draw a table. Plots read params and metrics, never ids; rows that lack one of them
 * are not in the plot. */
enum ps_plot_kind {
    PS_PLOT_LINE,      /* x: a numeric param (bytes on a log axis); y: a metric */
    PS_PLOT_CURVE,     /* x and y: two metrics of one row, rows joined in their order */
    PS_PLOT_MATRIX,    /* x and y: two numeric params, a cell a row; value: a metric */
    PS_PLOT_HISTOGRAM, /* y: the metric whose histogram the runs carry */
};

struct ps_plot {
    enum ps_plot_kind kind;
    const char *title;
    const char *x, *y, *value; /* NULL where the kind has no use for it */
    const char *series;        /* a param by whose values lines are told apart; NULL: one line */
};

enum ps_verify_when { PS_VERIFY_BEFORE, PS_VERIFY_AFTER };

struct ps_bench {
    const char *chapter;
    const char *table;
    const char *title;
    const char *about;  /* printed under the table: what is measured, in a sentence or two */
    const char *region; /* the timed region in a sentence, for `explain` */
    const struct ps_metric *metrics;
    unsigned n_metrics;
    const struct ps_plot *plots; /* optional */
    unsigned n_plots;
    enum ps_case_order order;
    enum ps_team team;

    /* 0 where it can run; else PS_UNSUPPORTED, PS_DENIED or PS_SKIPPED with a sentence in *ret_why
     * (static). NULL: anywhere. Asked at plan time, without side effects. */
    enum ps_status (*probe)(const struct ps_env *env, const char **ret_why);
    /* Makes the case list from the environment. 0 or a negative errno. */
    int (*cases)(const struct ps_env *env, struct ps_case_list *list);

    /* Once per run, on thread 0, outside the time; then thread_setup on each thread of a team (the
     * only one, too). teardown comes whenever setup succeeded, or failed after it had set a state.
     */
    int (*setup)(struct ps_run *run);
    int (*thread_setup)(struct ps_run *run);
    void (*teardown)(struct ps_run *run);

    /* Exactly one of batch and events. batch: n iterations of a segment, returns 0 or a negative
     * errno, which fails the case. */
    int (*batch)(struct ps_run *run, unsigned segment, uint64_t n);
    /* Optional: the part to subtract, n iterations, timed in turn with batch. */
    int (*baseline)(struct ps_run *run, unsigned segment, uint64_t n);
    /* Whether this case has the baseline. NULL: every one, when there is a baseline. */
    bool (*has_baseline)(const struct ps_case *c);
    int (*events)(struct ps_run *run);

    const struct ps_segment *segments; /* NULL: one, feeding metric 0 */
    unsigned n_segments;
    /* Units in one iteration: bytes for MB/s, hops, 2 for half a round trip. NULL: 1. In a JOIN
     * team of the whole pass, in a WINDOW team of one thread's iteration. */
    uint64_t (*units)(const struct ps_case *c, unsigned segment);

    unsigned passes;         /* fixed number of one-iteration passes (STREAM: 10); 0: by time */
    unsigned passes_dropped; /* before them */
    unsigned events_per_run;
    unsigned events_per_run_quick;

    /* Proves the answer. 0, or ps_run_end(). NULL only with no_verify. */
    int (*verify)(struct ps_run *run, enum ps_verify_when when);
    const char *no_verify;
};

/* Whether this case of the table is timed against the table's baseline. */
static inline bool ps_case_has_baseline(const struct ps_bench *bench, const struct ps_case *c) {
    return bench->baseline != NULL && (bench->has_baseline == NULL || bench->has_baseline(c));
}

#endif
