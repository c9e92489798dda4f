/* SPDX-License-Identifier: MIT
 *
 * Between the files that make a result: the runs of one case and metric that count, and their
 * values.
 */
#ifndef PS_SHEET_ROW_RUNS_H
#define PS_SHEET_ROW_RUNS_H

#include "sheet/sheet.h"

/* The clock that a row is set to. */
struct ps_row_clock {
    double reference_mhz; /* 0: unknown */
    double fixed_mhz;     /* of a microcontroller, whose clock does not move; 0: it is probed */
};

struct ps_row {
    struct ps_sheet_metric metric; /* with the estimator in force */
    const struct ps_sheet_run **runs;
    const struct ps_sheet_series **series; /* of runs[i] */
    unsigned n;                            /* used */
    unsigned n_disturbed;                  /* left out */
    bool preempted;                        /* disturbed ones had to be used, or were the most */
    bool normalised;                       /* values are at reference_mhz */
    double reference_mhz;
    double *values; /* per run used: ns per unit, or readings */
    double *raws;   /* the same, not normalised */
};

/* Arrays for as many runs as a case can have. */
int ps_row_init(struct ps_row *row, size_t runs_max);
void ps_row_done(struct ps_row *row);

/* Chooses among the n ok runs and fills values and raws. `metric` is measured, not derived. With
 * row->n 0 afterwards there is no number. */
void ps_row_take_runs(struct ps_row *row, const struct ps_sheet_metric *metric,
                      const struct ps_sheet_run *const *runs, size_t n,
                      const struct ps_row_clock *clock);

/* The samples of a run, net, normalised as the row is: into nets[], at most PS_SAMPLES_MAX. Returns
 * how many. */
unsigned ps_row_nets(const struct ps_row *row, unsigned run, double *nets);

/* Time per unit, in ns, below which the row's value can not be told from nothing. 0: none. */
double ps_row_bound_ns(const struct ps_row *row);

/* A base value (ns per unit, reading) in a metric's unit. */
struct ps_scale {
    bool inverse; /* a rate: per second of ns */
    double divisor, multiplier;
};
struct ps_scale ps_scale_of(const struct ps_sheet_metric *metric);
double ps_scale_apply(const struct ps_scale *scale, double base);

/* Marks that follow from how the row's samples and runs went; modes in base values when BIMODAL is
 * among them; note[] says what was seen of a throttled clock, or is empty. */
uint32_t ps_row_quality(const struct ps_row *row, double ret_modes[2], char *note,
                        size_t note_bytes);

/* Quantiles of events of all runs used; false when there are no events. */
bool ps_row_quantiles(const struct ps_row *row, const struct ps_scale *scale,
                      double ret_quantiles[6]);

#endif
