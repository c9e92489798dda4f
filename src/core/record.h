/* SPDX-License-Identifier: MIT
 *
 * The records that a measuring program writes: case and run. docs/FORMAT.md is the contract; the
 * same code writes them on Linux and on a microcontroller. None of them ends the line: the caller
 * does, and so gets the error.
 */
#ifndef PS_CORE_RECORD_H
#define PS_CORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/json_writer.h"
#include "core/run.h"

/* What the platform saw around a run. A value below 0 is unknown and written as null. */
struct ps_witness_numbers {
    double temp_before_c, temp_after_c;
    double queue_pct; /* run-queue delay, per cent of the run */
    double steal_pct;
    double foreign_pct; /* CPU time of others on the run's CPUs */
    int64_t nivcsw;
    int64_t throttled; /* throttle events during the run */
};

struct ps_run_identity {
    const char *id;     /* chapter.table/case@places */
    const char *source; /* "linux" */
    unsigned round, seq, attempt;
    double start_s;                        /* since the sheet's start */
    const char *disturbed;                 /* why, or NULL */
    const char *pages;                     /* granted: "base", "huge", or NULL */
    double load_all_pct, load_busiest_pct; /* below 0: not measured */
    const char *load_method;
};

/* Writes {"type":"case",...}: the declaration from which results are rebuilt without the program
 * that measured. `bound` is the one in force, `runs_planned` 0 when it will not run; then `status`
 * and `reason` say why. */
void ps_record_case(struct ps_json_writer *json, const struct ps_bench *bench,
                    const struct ps_case *c, const char *id, const char *source,
                    enum ps_bound bound, unsigned runs_planned, enum ps_status status,
                    const char *reason);

/* Writes {"type":"run",...}. `witness` may be NULL. */
void ps_record_run(struct ps_json_writer *json, const struct ps_run_identity *identity,
                   const struct ps_run_shared *shared, const struct ps_witness_numbers *witness);

/* Writes the object of one published row; `metric` NULL: without that key. */
void ps_record_published(struct ps_json_writer *json, const char *metric, const char *page,
                         const char *table, const char *row, const char *column, unsigned nth,
                         enum ps_comparable comparable, const char *why);

/* Writes {"type":"table",...}. */
void ps_record_table(struct ps_json_writer *json, const struct ps_bench *bench);

/* The sheet's words for enumerators; never NULL. */
const char *ps_bound_name(enum ps_bound bound);
const char *
ps_stat_name(enum ps_stat stat); /* "median", "p25", "min", "mean", "lower-half", "auto" */
const char *ps_metric_kind_name(enum ps_metric_kind kind);
const char *ps_derivation_name(enum ps_derivation derivation);
const char *ps_better_name(enum ps_better better);
const char *ps_depends_name(enum ps_depends depends); /* "nothing" is written as null */
const char *ps_comparable_name(enum ps_comparable comparable);
const char *ps_relation_name(enum ps_relation_type type);
const char *ps_pairing_name(enum ps_pairing pairing);
const char *ps_pages_name(enum ps_pages pages);

#endif
