/* SPDX-License-Identifier: MIT
 *
 * Which runs of a row count, and with which estimator. Disturbed runs are left out while three
 * others remain. A core-bound row is set to the reference clock when the clock is known in most of
 * its samples and runs, which then stand for it; else all its runs are valued like those of a
 * memory-bound row, whose low estimator does without.
 */
#include "sheet/row_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/series.h"
#include "sheet/results.h"
#include "sheet/run_value.h"
#include "stats/summary.h"

#define UNDISTURBED_MIN 3
#define RUNS_WITH_CLOCK_MIN 2
/* Standard error of a median of normal values against that of their mean, and the standard
 * deviation of normal values against their MAD. */
#define MEDIAN_ERROR 1.2533
#define SIGMA_OF_MAD 1.4826

int ps_row_init(struct ps_row *row, size_t runs_max) {
    *row = (struct ps_row){0};
    size_t n = runs_max ? runs_max : 1;
    row->runs = calloc(n, sizeof(*row->runs));
    row->series = calloc(n, sizeof(*row->series));
    row->values = calloc(n, sizeof(*row->values));
    row->raws = calloc(n, sizeof(*row->raws));
    if (row->runs && row->series && row->values && row->raws)
        return 0;
    ps_row_done(row);
    return -ENOMEM;
}

void ps_row_done(struct ps_row *row) {
    free(row->runs);
    free(row->series);
    free(row->values);
    free(row->raws);
    *row = (struct ps_row){0};
}

/* What a run measured before it was aborted is not known to be right. */
static const struct ps_sheet_series *series_of(const struct ps_sheet_run *run, const char *metric) {
    if (run->status == PS_ABORTED)
        return NULL;
    for (unsigned i = 0; i < run->n_series; i++)
        if (strcmp(run->series[i].metric, metric) == 0)
            return run->series[i].n || run->series[i].histogram ? &run->series[i] : NULL;
    return NULL;
}

static void choose_runs(struct ps_row *row, const struct ps_sheet_run *const *runs, size_t n) {
    unsigned measured = 0, disturbed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!series_of(runs[i], row->metric.name))
            continue;
        measured++;
        disturbed += runs[i]->disturbed != NULL;
    }
    bool all = disturbed > 0 && measured - disturbed < UNDISTURBED_MIN;
    row->preempted = all || 2 * disturbed > measured;
    row->n_disturbed = all ? 0 : disturbed;
    row->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ps_sheet_series *series = series_of(runs[i], row->metric.name);
        if (!series || (runs[i]->disturbed && !all))
            continue;
        row->runs[row->n] = runs[i];
        row->series[row->n++] = series;
    }
}

/* A run whose clock could not be told is left out rather than made the measure of the others. */
static bool enough_have_clock(const struct ps_row *row) {
    unsigned clocked = 0;
    for (unsigned i = 0; i < row->n; i++)
        clocked += ps_series_has_clock(row->series[i]);
    return clocked == row->n || (clocked >= RUNS_WITH_CLOCK_MIN && 2 * clocked > row->n);
}

void ps_row_take_runs(struct ps_row *row, const struct ps_sheet_metric *metric,
                      const struct ps_sheet_run *const *runs, size_t n,
                      const struct ps_row_clock *clock) {
    row->metric = *metric;
    choose_runs(row, runs, n);
    bool wanted = metric->bound == PS_BOUND_CORE && metric->kind != PS_READING;
    row->reference_mhz = clock->fixed_mhz > 0.0 ? clock->fixed_mhz : clock->reference_mhz;
    row->normalised = wanted && row->n > 0 && row->reference_mhz > 0.0;
    if (row->normalised && clock->fixed_mhz <= 0.0)
        row->normalised = enough_have_clock(row);
    if (wanted && !row->normalised) {
        if (row->metric.sample_stat == PS_STAT_P10)
            row->metric.sample_stat = PS_STAT_P25;
        if (row->metric.run_stat == PS_STAT_MEDIAN)
            row->metric.run_stat = PS_STAT_LOWER_HALF;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < row->n; i++) {
        /* At a fixed clock the raw value is at the reference already. */
        bool own_clock = row->normalised && clock->fixed_mhz <= 0.0;
        double value = ps_run_value(&row->metric, row->series[i], own_clock, row->reference_mhz);
        double raw = ps_run_value(&row->metric, row->series[i], false, 0.0);
        if (!isfinite(value) || !isfinite(raw))
            continue;
        row->runs[kept] = row->runs[i];
        row->series[kept] = row->series[i];
        row->values[kept] = value;
        row->raws[kept++] = raw;
    }
    row->n = kept;
}

unsigned ps_row_nets(const struct ps_row *row, unsigned run, double *nets) {
    const struct ps_sheet_series *series = row->series[run];
    bool own_clock = row->normalised && ps_series_has_clock(series);
    return ps_series_nets(series, own_clock, row->reference_mhz, nets);
}

double ps_row_bound_ns(const struct ps_row *row) {
    double nets[PS_SAMPLES_MAX], sum = 0.0;
    for (unsigned i = 0; i < row->n; i++) {
        double bound = row->series[i]->resolution;
        if (row->series[i]->baseline) {
            unsigned n = ps_row_nets(row, i, nets);
            double error = MEDIAN_ERROR * SIGMA_OF_MAD * ps_mad(nets, n) / sqrt((double)n);
            bound = fmax(bound, 3.0 * error);
        }
        sum += bound;
    }
    return row->n ? sum / row->n : 0.0;
}

struct ps_scale ps_scale_of(const struct ps_sheet_metric *metric) {
    return (struct ps_scale){.inverse = metric->kind == PS_RATE,
                             .divisor = ps_unit_factor(metric->unit),
                             .multiplier = 1.0};
}

double ps_scale_apply(const struct ps_scale *scale, double base) {
    double value = (scale->inverse ? 1e9 / base : base) / scale->divisor * scale->multiplier;
    return isfinite(value) ? value : NAN;
}
