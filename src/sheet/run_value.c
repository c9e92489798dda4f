/* SPDX-License-Identifier: MIT
 *
 * One run's value for one metric: samples net of their baseline, each divided by its own clock
 * where the row is normalised, then the statistic. Events that were too many to be kept are in the
 * histogram, and so is the value then.
 */
#include <math.h>

#include "core/histogram.h"
#include "core/series.h"
#include "sheet/results.h"
#include "sheet/run_value.h"
#include "stats/summary.h"

static bool clock_known(const struct ps_sheet_series *series, unsigned i) {
    return series->mhz[i] > 0.0 &&
           (!series->baseline || !series->baseline_mhz || series->baseline_mhz[i] > 0.0);
}

/* A probe that was interrupted is unknown; its neighbours are not. */
bool ps_series_has_clock(const struct ps_sheet_series *series) {
    unsigned known = 0;
    if (!series->mhz)
        return false;
    for (unsigned i = 0; i < series->n; i++)
        known += clock_known(series, i);
    return known > 0 && 2 * known >= series->n;
}

bool ps_series_shared(const struct ps_sheet_series *series, unsigned i) {
    return series->issue && ps_core_shared(series->issue[i], series->full_issue);
}

/* A busy neighbour on the same core slows every sample beside it by 10 to 50 % and comes in bursts
 * of milliseconds to seconds: samples that had the core to themselves stand for the run where they
 * are enough. */
unsigned ps_series_nets(const struct ps_sheet_series *series, bool normalised, double reference_mhz,
                        double *nets) {
    unsigned n = series->n < PS_SAMPLES_MAX ? series->n : PS_SAMPLES_MAX, unshared = 0, kept = 0;
    for (unsigned i = 0; i < n; i++)
        unshared += !ps_series_shared(series, i) && (!normalised || clock_known(series, i));
    bool leave_shared = ps_enough_unshared(unshared, n);
    for (unsigned i = 0; i < n; i++) {
        if ((leave_shared && ps_series_shared(series, i)) ||
            (normalised && !clock_known(series, i)))
            continue;
        double gross = series->samples[i], baseline = series->baseline ? series->baseline[i] : 0.0;
        if (normalised) {
            double mhz = series->mhz[i];
            gross *= mhz / reference_mhz;
            baseline *= (series->baseline_mhz ? series->baseline_mhz[i] : mhz) / reference_mhz;
        }
        nets[kept++] = gross - baseline;
    }
    return kept;
}

static double histogram_mean(const struct ps_histogram *histogram) {
    double sum = (double)histogram->over * (double)histogram->max;
    for (unsigned i = 0; i < PS_HISTOGRAM_BUCKETS; i++) {
        double low = (double)ps_histogram_low(i), next = (double)ps_histogram_low(i + 1);
        sum += histogram->counts[i] * (low + (next - low - 1.0) / 2.0);
    }
    return sum / (double)histogram->n;
}

static double histogram_stat(enum ps_stat stat, const struct ps_histogram *histogram) {
    switch (stat) {
    case PS_STAT_MIN:
        return (double)histogram->min;
    case PS_STAT_MEAN:
        return histogram_mean(histogram);
    case PS_STAT_P10:
        return ps_histogram_quantile(histogram, 0.10);
    case PS_STAT_P25:
        return ps_histogram_quantile(histogram, 0.25);
    default:
        return ps_histogram_quantile(histogram, 0.5);
    }
}

/* Timed metrics keep single iterations in a histogram beside their samples; readings keep there
 * what went beyond the samples. */
static bool histogram_counts(const struct ps_sheet_metric *metric,
                             const struct ps_sheet_series *series) {
    return series->histogram &&
           (series->n == 0 || (metric->kind == PS_READING && series->n_events > series->n));
}

double ps_run_value(const struct ps_sheet_metric *metric, const struct ps_sheet_series *series,
                    bool normalised, double reference_mhz) {
    double nets[PS_SAMPLES_MAX];
    if (histogram_counts(metric, series))
        return normalised ? NAN : histogram_stat(metric->sample_stat, series->histogram);
    if (series->n == 0)
        return NAN;
    if (normalised && (!(reference_mhz > 0.0) || !ps_series_has_clock(series)))
        return NAN;
    unsigned n = ps_series_nets(series, normalised, reference_mhz, nets);
    return ps_stat(metric->sample_stat, nets, n);
}

double ps_run_part(const struct ps_sheet_metric *metric, const struct ps_sheet_series *series,
                   bool baseline, bool normalised, double reference_mhz) {
    struct ps_sheet_series part = *series;
    if (baseline) {
        part.samples = series->baseline;
        part.mhz = series->baseline_mhz ? series->baseline_mhz : series->mhz;
    }
    part.baseline = part.baseline_mhz = NULL;
    return part.samples ? ps_run_value(metric, &part, normalised, reference_mhz) : NAN;
}
