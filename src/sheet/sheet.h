/* SPDX-License-Identifier: MIT
 *
 * A sheet in memory: what was declared (cases), what was measured (runs), and what follows from it
 * (results). Reading a sheet whose results are missing rebuilds them (sheet/results.h).
 */
#ifndef PS_SHEET_SHEET_H
#define PS_SHEET_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bench.h"
#include "core/record.h"
#include "sheet/json.h"

#define PS_SHEET_FORMAT 1

/* All strings belong to the sheet, and can be shown as they are: control characters were replaced
 * when it was read. NULL and NAN: not there. */

struct ps_sheet_source {
    const char *id, *kind;
    double hz;
    unsigned usable_cpus; /* 0 unknown */
    bool emulated;
    const char *started, *depth; /* of the header above it; NULL: not there */
    unsigned sheet;              /* which of the merged sheets it is from, 0 the first */
    const struct ps_json *json;  /* the whole record */
    const struct ps_json *board; /* of the header above it; NULL: none */
};

struct ps_sheet_table {
    const char *id, *title, *about;
    const struct ps_json *json;
};

/* A metric as its case record declares it. */
struct ps_sheet_metric {
    const char *name, *counts, *from;
    enum ps_unit unit;
    enum ps_metric_kind kind;
    enum ps_better better;
    enum ps_bound bound;
    enum ps_stat sample_stat, run_stat; /* never AUTO here */
    enum ps_derivation derivation;
    enum ps_depends depends;
    double factor, floor_cycles;
    bool positive;
    unsigned decimals, method;
};

struct ps_sheet_relation {
    enum ps_relation_type type;
    const char *rule, *metric, *other, *cause;
    double factor, tolerance;
};

struct ps_sheet_published {
    const char *metric, *page, *table, *row, *column, *why;
    unsigned nth;
    enum ps_comparable comparable;
};

struct ps_sheet_case {
    const char *id, *source, *table;
    const char *name;
    enum ps_status status; /* OK when it was to run */
    const char *reason;
    uint32_t quality;
    unsigned runs_planned;
    unsigned threads;
    const char *alias_of;
    bool headline;
    const struct ps_sheet_metric *metrics;
    unsigned n_metrics;
    const struct ps_sheet_relation *relations;
    unsigned n_relations;
    const struct ps_sheet_published *published;
    unsigned n_published;
    const struct ps_json *params, *place; /* objects, as in the record */
    int cluster;                          /* of the place; -1: any */
    const char *target;                   /* of the place, or NULL */
    unsigned order;                       /* place in the sheet, from 0 */
    unsigned sheet;                       /* as in the source: ids are the same only within one */
};

struct ps_sheet_series {
    const char *metric;
    unsigned n;
    const double *samples, *mhz, *baseline, *baseline_mhz; /* NULL where absent */
    const double *issue; /* adds per cycle around each sample; NULL where absent */
    double full_issue;   /* what they are held against; 0 unknown */
    double resolution;
    const struct ps_histogram *histogram;
    uint64_t n_events;
};

struct ps_sheet_run {
    const char *case_id, *source;
    const char *sheet_id; /* of the header above it, or NULL */
    unsigned round, seq, attempt;
    double start_s;
    enum ps_status status;
    const char *reason;
    uint32_t quality;
    const char *disturbed; /* why, or NULL */
    int64_t throttled;     /* throttle events during the run; -1 unknown */
    unsigned sheet;        /* that of its case */
    double mhz_median, mhz_min, mhz_max;
    double load_all_pct, load_busiest_pct;
    const struct ps_sheet_series *series;
    unsigned n_series;
    const struct ps_json *witness;
};

struct ps_result_rule { /* a rule that was broken, or could not be checked */
    const char *id, *type, *cause, *other;
    bool failed; /* false: not checked */
    double expected, got;
};

struct ps_result {
    const char *id; /* with :metric */
    const struct ps_sheet_case *c;
    const struct ps_sheet_metric *metric;
    const char *source;
    enum ps_status status;
    const char *reason;
    uint32_t quality;
    /* In the metric's unit; NAN: none. */
    double value, mean, min, max, raw, cycles, median, mad, cv, ci95[2], best;
    double gross, baseline; /* medians over the runs used */
    double modes[2];        /* when bimodal */
    double quantiles[6];    /* p50 p90 p99 p99.9 p99.99 max, of events */
    bool has_quantiles;
    double mhz; /* median of the runs' clocks; NAN unknown */
    double load_all_pct, load_busiest_pct;
    unsigned n_runs, n_disturbed; /* used; left out */
    const struct ps_result_rule *rules;
    unsigned n_rules;
};

struct ps_sheet {
    const struct ps_json *header; /* the "sheet" record; NULL when missing */
    const struct ps_json *end;    /* NULL: incomplete */
    const char *id, *started;
    struct ps_sheet_source *sources;
    struct ps_sheet_table *tables;
    struct ps_sheet_case *cases;
    struct ps_sheet_run *runs;
    struct ps_result *results;
    size_t n_sources, n_tables, n_cases, n_runs, n_results;
    size_t n_repeated;    /* runs that were merged once more, and left out */
    bool incomplete;      /* killed: results were rebuilt */
    bool truncated;       /* the last line was cut short, and left out */
    double reference_mhz; /* of source "linux"'s first cluster; NAN unknown */
    void *memory;
};

struct ps_sheet_error {
    size_t line, column; /* from 1 */
    char what[160];
};

/* Reads a whole sheet and rebuilds its results from its runs, rules applied. A cut last line is
 * tolerated; anything else malformed is -EINVAL with *ret_error. -errno when the file cannot be
 * read; path "-" is stdin. */
int ps_sheet_read(const char *path, struct ps_sheet **ret_sheet, struct ps_sheet_error *ret_error);
int ps_sheet_parse(const char *text, size_t length, struct ps_sheet **ret_sheet,
                   struct ps_sheet_error *ret_error);
void ps_sheet_free(struct ps_sheet *sheet);
/* Pools `from` into `into` (several sheets, one page; repeated invocations pool their runs when
 * case, source and declarations agree). A run that is there already, by its sheet's id, source and
 * number, is left out and counted. `from` must outlive `into`. 0, -ENOMEM. */
int ps_sheet_merge(struct ps_sheet *into, const struct ps_sheet *from);

/* Strings and arrays that live as long as the sheet; NULL on memory shortage. */
void *ps_sheet_alloc(struct ps_sheet *sheet, size_t bytes);
const char *ps_sheet_strdup(struct ps_sheet *sheet, const char *string);

#endif
