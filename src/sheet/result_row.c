/* SPDX-License-Identifier: MIT
 *
 * A result's numbers. All statistics are taken of the base value, time per unit for what is timed;
 * a rate is inverted last. A derived metric takes the runs of the metric that it comes from and has
 * its run values scaled, so that its spread is its own: per MHz, by each run's own clock.
 */
#include "sheet/result_row.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/series.h"
#include "sheet/run_value.h"
#include "stats/interval.h"
#include "stats/summary.h"

#define PRECISION_POOR 0.05 /* half of the interval, of the value */
#define RUNS_FOR_WAKE 8
#define RUNS_FOR_INTERVAL 3

void ps_result_init(struct ps_result *result, const struct ps_sheet_case *c,
                    const struct ps_sheet_metric *metric) {
    *result = (struct ps_result){
        .c = c,
        .metric = metric,
        .source = c->source,
        .value = NAN,
        .mean = NAN,
        .min = NAN,
        .max = NAN,
        .raw = NAN,
        .cycles = NAN,
        .median = NAN,
        .mad = NAN,
        .cv = NAN,
        .ci95 = {NAN, NAN},
        .best = NAN,
        .gross = NAN,
        .baseline = NAN,
        .modes = {NAN, NAN},
        .quantiles = {NAN, NAN, NAN, NAN, NAN, NAN},
        .mhz = NAN,
        .load_all_pct = NAN,
        .load_busiest_pct = NAN,
    };
}

static void no_number(struct ps_result *result, enum ps_status status, const char *reason) {
    result->status = status;
    result->reason = reason;
}

static bool is_timed(const struct ps_row *row) {
    return row->metric.kind == PS_TIME || row->metric.kind == PS_RATE;
}

/* ---- Parts of the numbers ------------------------------------------------------------------- */

/* Median over the runs used of what `of` says of each; NAN where no run knows. */
static double median_over_runs(struct ps_row *row, double (*of)(const struct ps_row *, unsigned)) {
    unsigned n = 0;
    for (unsigned i = 0; i < row->n; i++) {
        double value = of(row, i);
        if (isfinite(value))
            row->raws[n++] = value; /* raws have been used up by now */
    }
    return n ? ps_median(row->raws, n) : NAN;
}

static double mhz_of(const struct ps_row *row, unsigned i) {
    return row->runs[i]->mhz_median > 0.0 ? row->runs[i]->mhz_median : NAN;
}
static double part_of(const struct ps_row *row, unsigned i, bool baseline) {
    const struct ps_sheet_series *series = row->series[i];
    bool own_clock = row->normalised && ps_series_has_clock(series);
    return series->baseline
               ? ps_run_part(&row->metric, series, baseline, own_clock, row->reference_mhz)
               : NAN;
}
static double gross_of(const struct ps_row *row, unsigned i) {
    return part_of(row, i, false);
}
static double baseline_of(const struct ps_row *row, unsigned i) {
    return part_of(row, i, true);
}

/* The best single sample, as a base value. */
static double best_sample(const struct ps_row *row) {
    double nets[PS_SAMPLES_MAX], best = NAN;
    bool highest = !is_timed(row) && row->metric.better == PS_BETTER_HIGHER;
    if (!is_timed(row) && row->metric.better == PS_BETTER_NEITHER)
        return NAN;
    for (unsigned i = 0; i < row->n; i++) {
        unsigned n = ps_row_nets(row, i, nets);
        for (unsigned j = 0; j < n; j++)
            if (isnan(best) || (highest ? nets[j] > best : nets[j] < best))
                best = nets[j];
    }
    return is_timed(row) && best <= 0.0 ? NAN : best;
}

static void take_spread(struct ps_result *result, struct ps_row *row,
                        const struct ps_scale *scale) {
    double *values = row->raws;
    bool usable = true;
    for (unsigned i = 0; i < row->n; i++) {
        values[i] = ps_scale_apply(scale, row->values[i]);
        usable = usable && isfinite(values[i]) && !(is_timed(row) && row->values[i] <= 0.0);
    }
    if (!usable) { /* some run was less than nothing: there is a value, but no spread to print */
        result->quality |= PS_Q_LOW_CONFIDENCE;
        return;
    }
    result->min = result->max = values[0];
    for (unsigned i = 1; i < row->n; i++) {
        result->min = fmin(result->min, values[i]);
        result->max = fmax(result->max, values[i]);
    }
    result->mean = ps_scale_apply(scale, ps_mean(row->values, row->n));
    result->median = ps_scale_apply(scale, ps_median(row->values, row->n));
    if (row->n >= 2) {
        double mean = fabs(ps_mean(values, row->n));
        result->mad = ps_mad(values, row->n);
        result->cv = mean > 0.0 ? ps_stddev(values, row->n) / mean : NAN;
    }
    double low, high;
    if (ps_interval95(row->metric.run_stat, row->values, row->n, &low, &high)) {
        result->ci95[0] = ps_scale_apply(scale, scale->inverse ? high : low);
        result->ci95[1] = ps_scale_apply(scale, scale->inverse ? low : high);
    }
}

static void judge_precision(struct ps_result *result, const struct ps_row *row) {
    double half = (result->ci95[1] - result->ci95[0]) / 2.0;
    if (row->n < RUNS_FOR_INTERVAL || half > PRECISION_POOR * fabs(result->value) ||
        (row->metric.bound == PS_BOUND_WAKE && row->n < RUNS_FOR_WAKE))
        result->quality |= PS_Q_PRECISION_NOT_REACHED;
}

static void take_conditions(struct ps_result *result, struct ps_row *row,
                            const struct ps_scale *scale) {
    result->mhz = median_over_runs(row, mhz_of);
    if (scale) {
        result->gross = ps_scale_apply(scale, median_over_runs(row, gross_of));
        result->baseline = ps_scale_apply(scale, median_over_runs(row, baseline_of));
    }
}

/* The result's metric names the estimator that was used, which without a clock is another one than
 * was declared. */
static int take_estimator(struct ps_sheet *sheet, struct ps_result *result,
                          const struct ps_sheet_metric *used) {
    const struct ps_sheet_metric *declared = result->metric;
    if (declared->sample_stat == used->sample_stat && declared->run_stat == used->run_stat)
        return 0;
    struct ps_sheet_metric *copy = ps_sheet_alloc(sheet, sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    *copy = *declared;
    copy->sample_stat = used->sample_stat;
    copy->run_stat = used->run_stat;
    result->metric = copy;
    return 0;
}

/* ---- Whole results -------------------------------------------------------------------------- */

/* A value that can not be told from nothing is given as the bound that it lies below. */
static void take_below(struct ps_result *result, const struct ps_row *row,
                       const struct ps_scale *scale, double bound) {
    result->value = ps_scale_apply(scale, bound);
    if (row->normalised)
        result->cycles = bound * row->reference_mhz / 1000.0;
    result->quality &= ~(uint32_t)(PS_Q_NOISY | PS_Q_BIMODAL | PS_Q_DRIFTING);
    result->quality |= PS_Q_BELOW_RESOLUTION;
    result->modes[0] = result->modes[1] = NAN;
    result->reason = scale->inverse
                         ? "The time was too short to be told from nothing: it is faster than this."
                         : "The time was too short to be told from nothing: it is below this.";
}

static void take_numbers(struct ps_result *result, struct ps_row *row, const struct ps_scale *scale,
                         double value, double raw) {
    result->value = ps_scale_apply(scale, value);
    result->raw = is_timed(row) && raw <= 0.0 ? NAN : ps_scale_apply(scale, raw);
    if (row->normalised)
        result->cycles = value * row->reference_mhz / 1000.0;
    result->best = ps_scale_apply(scale, best_sample(row));
    take_spread(result, row, scale);
    judge_precision(result, row);
}

/* Quality and notes that the metric and what is derived from it share. */
static int take_quality(struct ps_sheet *sheet, struct ps_result *result, const struct ps_row *row,
                        const struct ps_scale *scale) {
    char note[96];
    double modes[2] = {NAN, NAN};
    result->quality |= ps_row_quality(row, modes, note, sizeof(note));
    double a = ps_scale_apply(scale, modes[0]), b = ps_scale_apply(scale, modes[1]);
    result->modes[0] = fmin(a, b);
    result->modes[1] = fmax(a, b);
    if (note[0] && !(result->reason = ps_sheet_strdup(sheet, note)))
        return -ENOMEM;
    return 0;
}

/* A part is not more than the whole that it was taken out of. Uses up the raws, which a bound has
 * no use for. */
static double cap_bound(struct ps_row *row, double bound) {
    double gross = median_over_runs(row, gross_of);
    return gross > 0.0 && gross < bound ? gross : bound;
}

/* The base value of the row; *ret_below when it is only a bound. NAN: there is no number. */
static double row_value(struct ps_row *row, bool *ret_below) {
    double value = ps_stat(row->metric.run_stat, row->values, row->n);
    *ret_below = false;
    if (!is_timed(row))
        return value;
    double bound = ps_row_bound_ns(row);
    *ret_below = value < bound || value <= 0.0;
    return *ret_below ? (bound > 0.0 ? cap_bound(row, bound) : NAN) : value;
}

static void no_sample(struct ps_result *result, const struct ps_sheet_run *const *runs, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || runs[i]->n_series > 0;
    if (any)
        no_number(result, PS_FAILED, "It ran, but no sample of this was left: run it again.");
    else
        no_number(result, PS_SKIPPED, "Its answer was proved; nothing was timed.");
}

static int take_measured(struct ps_sheet *sheet, struct ps_result *result, struct ps_row *row) {
    struct ps_scale scale = ps_scale_of(&row->metric);
    bool below;
    double value = row_value(row, &below);
    if (!isfinite(ps_scale_apply(&scale, value))) {
        no_number(result, PS_FAILED, "No time passed, and the clock's resolution is not known.");
        return 0;
    }
    int error = take_quality(sheet, result, row, &scale);
    if (error)
        return error;
    double raw = ps_stat(row->metric.run_stat, row->raws, row->n);
    if (below)
        take_below(result, row, &scale, value);
    else
        take_numbers(result, row, &scale, value, raw);
    if (!below)
        result->has_quantiles = ps_row_quantiles(row, &scale, result->quantiles);
    take_conditions(result, row, is_timed(row) ? &scale : NULL);
    return take_estimator(sheet, result, &row->metric);
}

/* ---- Derived results ------------------------------------------------------------------------ */

/* Drops runs without a clock; false when none is left. */
static bool keep_clocked(struct ps_row *row) {
    unsigned kept = 0;
    for (unsigned i = 0; i < row->n; i++) {
        if (!(row->runs[i]->mhz_median > 0.0))
            continue;
        row->runs[kept] = row->runs[i];
        row->series[kept] = row->series[i];
        row->raws[kept] = row->raws[i];
        row->values[kept++] = row->values[i];
    }
    row->n = kept;
    return kept > 0;
}

static int take_clock(struct ps_sheet *sheet, struct ps_result *result, struct ps_row *row,
                      const struct ps_row_clock *clock) {
    struct ps_scale scale = {.divisor = 1.0, .multiplier = 1.0};
    if (clock->fixed_mhz <= 0.0 && !keep_clocked(row)) {
        no_number(result, PS_UNSUPPORTED, "The clock could not be measured.");
        return 0;
    }
    for (unsigned i = 0; i < row->n; i++)
        row->values[i] = clock->fixed_mhz > 0.0 ? clock->fixed_mhz : row->runs[i]->mhz_median;
    struct ps_sheet_metric used = row->metric;
    used.run_stat = row->metric.run_stat = PS_STAT_MEDIAN;
    row->metric.kind = PS_READING;
    char note[96];
    double modes[2];
    result->quality |= ps_row_quality(row, modes, note, sizeof(note)) &
                       (PS_Q_CLOCK_CHANGED | PS_Q_THROTTLED | PS_Q_PREEMPTED | PS_Q_LOW_CONFIDENCE);
    result->value = result->raw = ps_median(row->values, row->n);
    take_spread(result, row, &scale);
    take_conditions(result, row, NULL);
    return take_estimator(sheet, result, &used);
}

/* Values x each run's own clock, as cycles are (ns x MHz), so that a scale without a clock fits. */
static bool to_cycles(struct ps_row *row, const struct ps_scale *scale, double *bound_or_value) {
    double factor = *bound_or_value / ps_stat(row->metric.run_stat, row->values, row->n);
    if (!keep_clocked(row))
        return false;
    for (unsigned i = 0; i < row->n; i++) {
        double mhz = row->runs[i]->mhz_median;
        row->values[i] *= scale->inverse ? mhz : 1.0 / mhz;
        row->raws[i] *= scale->inverse ? mhz : 1.0 / mhz;
    }
    *bound_or_value = factor * ps_stat(row->metric.run_stat, row->values, row->n);
    return true;
}

static int take_scaled(struct ps_sheet *sheet, struct ps_result *result, struct ps_row *row) {
    const struct ps_sheet_metric *derived = result->metric;
    struct ps_scale scale = ps_scale_of(&row->metric);
    bool below, per_mhz = derived->derivation == PS_DERIVE_PER_MHZ;
    double value = row_value(row, &below);
    int error = take_quality(sheet, result, row, &scale);
    if (error)
        return error;
    scale.multiplier = derived->factor;
    if (per_mhz && row->normalised) {
        scale.multiplier /= row->reference_mhz;
    } else if (per_mhz && !to_cycles(row, &scale, &value)) {
        no_number(result, PS_UNSUPPORTED, "The clock could not be measured.");
        return 0;
    }
    if (!isfinite(ps_scale_apply(&scale, value))) {
        no_number(result, PS_FAILED, "What it is derived from has no number.");
        return 0;
    }
    double factor = derived->factor * (per_mhz && row->normalised ? 1.0 / row->reference_mhz : 1.0);
    result->modes[0] *= factor;
    result->modes[1] *= factor;
    bool normalised = row->normalised;
    row->normalised = false; /* cycles are the metric's, not of what is derived from it */
    double raw = per_mhz ? value : ps_stat(row->metric.run_stat, row->raws, row->n);
    if (below)
        take_below(result, row, &scale, value);
    else
        take_numbers(result, row, &scale, value, raw);
    row->normalised = normalised;
    take_conditions(result, row, NULL);
    return take_estimator(sheet, result, &row->metric);
}

/* Of all runs that know one: a pass that measures the load (--cpu-load) has no samples. */
static void take_load(struct ps_result *result, struct ps_row *row,
                      const struct ps_sheet_run *const *runs, size_t n) {
    unsigned n_all = 0, n_busiest = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(runs[i]->load_all_pct))
            row->raws[n_all++] = runs[i]->load_all_pct;
        if (isfinite(runs[i]->load_busiest_pct))
            row->values[n_busiest++] = runs[i]->load_busiest_pct;
    }
    result->load_all_pct = n_all ? ps_median(row->raws, n_all) : NAN;
    result->load_busiest_pct = n_busiest ? ps_median(row->values, n_busiest) : NAN;
}

static const struct ps_sheet_metric *measured_metric(const struct ps_sheet_case *c,
                                                     const char *name) {
    for (unsigned i = 0; i < c->n_metrics; i++)
        if (name && strcmp(c->metrics[i].name, name) == 0)
            return c->metrics[i].kind != PS_DERIVED ? &c->metrics[i] : NULL;
    return NULL;
}

int ps_result_take(struct ps_sheet *sheet, struct ps_result *result, struct ps_row *row,
                   const struct ps_sheet_run *const *runs, size_t n,
                   const struct ps_row_clock *clock) {
    const struct ps_sheet_metric *metric = result->metric;
    bool derived = metric->kind == PS_DERIVED;
    if (derived)
        metric = measured_metric(result->c, metric->from);
    if (!metric) {
        no_number(result, PS_FAILED, "It is derived from a metric that is not measured here.");
        return 0;
    }
    ps_row_take_runs(row, metric, runs, n, clock);
    if (row->n == 0) {
        no_sample(result, runs, n);
        return 0;
    }
    int error;
    if (derived && result->metric->derivation == PS_DERIVE_CLOCK)
        error = take_clock(sheet, result, row, clock);
    else
        error = derived ? take_scaled(sheet, result, row) : take_measured(sheet, result, row);
    if (result->status == PS_OK) {
        result->n_runs = row->n;
        result->n_disturbed = row->n_disturbed;
        take_load(result, row, runs, n);
    }
    return error;
}
