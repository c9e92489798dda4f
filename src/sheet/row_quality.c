/* SPDX-License-Identifier: MIT
 *
 * What is said of a row beside its value: scatter, modes, drift, the clock, and the quantiles of
 * its events. Thresholds: docs/METHOD.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/histogram.h"
#include "core/series.h"
#include "sheet/row_runs.h"
#include "sheet/run_value.h"
#include "stats/drift.h"
#include "stats/modality.h"
#include "stats/summary.h"

#define CLOCK_CHANGED 1.03 /* highest over lowest probe of a run */
#define CLOCK_FELL 0.90    /* last quarter of a run against its first */
#define SAMPLES_FOR_QUARTERS 8
#define NOISY_CV 0.05
#define EVENTS_BEYOND_MIN 3.0 /* a quantile rests on as many */
#define EVENTS_MIN 6.0        /* so that there is a median */

static bool clock_changed(const struct ps_sheet_series *series) {
    double low = INFINITY, high = 0.0;
    for (unsigned i = 0; series->mhz && i < series->n; i++) {
        if (!(series->mhz[i] > 0.0)) /* a probe that was interrupted */
            continue;
        low = fmin(low, series->mhz[i]);
        high = fmax(high, series->mhz[i]);
    }
    return high > CLOCK_CHANGED * low;
}

/* Median clock of `n` samples from `first`, of those whose probe is known and that had the core to
 * themselves; NAN where they are less than half, or fewer than two. */
static double median_clock(const struct ps_sheet_series *series, unsigned first, unsigned n) {
    double known[PS_SAMPLES_MAX / 4];
    unsigned n_known = 0;
    for (unsigned i = first; i < first + n; i++)
        if (series->mhz[i] > 0.0 && !ps_series_shared(series, i))
            known[n_known++] = series->mhz[i];
    return n_known >= 2 && 2 * n_known >= n ? ps_median(known, n_known) : NAN;
}

/* Did the clock fall in this run, and stay low to its end? */
static bool clock_fell(const struct ps_sheet_series *series, double *ret_from, double *ret_to) {
    if (!series->mhz || series->n < SAMPLES_FOR_QUARTERS || series->n > PS_SAMPLES_MAX)
        return false;
    unsigned quarter = series->n / 4;
    *ret_from = median_clock(series, 0, quarter);
    *ret_to = median_clock(series, series->n - quarter, quarter);
    return *ret_to < CLOCK_FELL * *ret_from; /* not with a NAN */
}

static uint32_t clock_quality(const struct ps_row *row, char *note, size_t note_bytes) {
    unsigned changed = 0;
    uint32_t quality = 0;
    for (unsigned i = 0; i < row->n; i++) {
        double from, to;
        changed += clock_changed(row->series[i]);
        if (row->runs[i]->throttled > 0)
            quality |= PS_Q_THROTTLED;
        if (clock_fell(row->series[i], &from, &to)) {
            quality |= PS_Q_THROTTLED;
            snprintf(note, note_bytes, "The clock fell from %.0f to %.0f MHz within a run.", from,
                     to);
        }
    }
    if (row->n && 2 * changed >= row->n)
        quality |= PS_Q_CLOCK_CHANGED;
    return quality;
}

static bool bimodal(const struct ps_row *row, double ret_modes[2]) {
    size_t total = 0;
    for (unsigned i = 0; i < row->n; i++)
        total += row->series[i]->n < PS_SAMPLES_MAX ? row->series[i]->n : PS_SAMPLES_MAX;
    double *pool = malloc((total ? total : 1) * sizeof(*pool));
    unsigned *run_of = malloc((total ? total : 1) * sizeof(*run_of));
    bool found = false;
    if (pool && run_of) {
        struct ps_modes modes;
        size_t n = 0;
        for (unsigned i = 0; i < row->n; i++) {
            unsigned taken = ps_row_nets(row, i, pool + n);
            for (unsigned j = 0; j < taken; j++)
                run_of[n++] = i;
        }
        found = ps_bimodal(pool, run_of, n, row->n, &modes);
        if (found) {
            ret_modes[0] = modes.low;
            ret_modes[1] = modes.high;
        }
    }
    free(pool);
    free(run_of);
    return found;
}

uint32_t ps_row_quality(const struct ps_row *row, double ret_modes[2], char *note,
                        size_t note_bytes) {
    note[0] = '\0';
    uint32_t quality = clock_quality(row, note, note_bytes);
    for (unsigned i = 0; i < row->n; i++)
        quality |= row->runs[i]->quality;
    if (row->preempted)
        quality |= PS_Q_PREEMPTED;
    if (bimodal(row, ret_modes))
        quality |= PS_Q_BIMODAL;
    if (ps_drifting(row->values, row->n))
        quality |= PS_Q_DRIFTING;
    if (row->n >= 2 &&
        ps_stddev(row->values, row->n) > NOISY_CV * fabs(ps_mean(row->values, row->n)))
        quality |= PS_Q_NOISY;
    return quality;
}

/* ---- Quantiles ------------------------------------------------------------------------------ */

static const double quantiles[5] = {0.5, 0.9, 0.99, 0.999, 0.9999};

static void from_histograms(const struct ps_row *row, const struct ps_scale *scale,
                            double ret_quantiles[6], double *ret_n) {
    struct ps_histogram merged; /* 4.5 KiB */
    ps_histogram_init(&merged);
    for (unsigned i = 0; i < row->n; i++)
        if (row->series[i]->histogram)
            ps_histogram_merge(&merged, row->series[i]->histogram);
    *ret_n = (double)merged.n;
    for (unsigned q = 0; q < 5; q++)
        ret_quantiles[q] = ps_scale_apply(scale, ps_histogram_quantile(&merged, quantiles[q]));
    ret_quantiles[5] = ps_scale_apply(scale, (double)merged.max);
}

static void from_samples(const struct ps_row *row, const struct ps_scale *scale,
                         double ret_quantiles[6], double *ret_n) {
    size_t n = 0;
    for (unsigned i = 0; i < row->n; i++)
        n += row->series[i]->n;
    double *pool = malloc((n ? n : 1) * sizeof(*pool));
    *ret_n = 0.0;
    if (!pool || !n) {
        free(pool);
        return;
    }
    n = 0;
    for (unsigned i = 0; i < row->n; i++)
        n += ps_row_nets(row, i, pool + n);
    ps_sort(pool, n);
    for (unsigned q = 0; q < 5; q++)
        ret_quantiles[q] = ps_scale_apply(scale, ps_quantile_sorted(pool, n, quantiles[q]));
    ret_quantiles[5] = ps_scale_apply(scale, pool[n - 1]);
    *ret_n = (double)n;
    free(pool);
}

bool ps_row_quantiles(const struct ps_row *row, const struct ps_scale *scale,
                      double ret_quantiles[6]) {
    bool histogram = false, kept = row->metric.kind == PS_READING;
    for (unsigned i = 0; i < row->n; i++) {
        histogram = histogram || row->series[i]->histogram;
        kept = kept && row->series[i]->n_events <= row->series[i]->n;
    }
    double n = 0.0;
    if (kept)
        from_samples(row, scale, ret_quantiles, &n);
    else if (histogram && !scale->inverse)
        from_histograms(row, scale, ret_quantiles, &n);
    if (n < EVENTS_MIN)
        return false;
    for (unsigned q = 0; q < 5; q++)
        if (n * (1.0 - quantiles[q]) < EVENTS_BEYOND_MIN - 1e-6) /* 1 - q is not exact */
            ret_quantiles[q] = NAN;
    return true;
}
