/* SPDX-License-Identifier: MIT
 *
 * The 95 % interval of a row's value over its runs.
 *
 * value / exp(upper x e) .. value x exp(lower x e), where e = relative standard deviation of the
 * run values / sqrt(n), and lower and upper are the 97.5 % points of (statistic - its expectation)
 * / e on either side. For the mean these are Student's t; for the median and the mean of the lower
 * half they were found by simulating 1.5 million rows of normal values for each n (the third digit
 * is uncertain by about 5). Times are positive and skewed to the right, so logarithms make the
 * points that hold for the normal distribution hold for the lognormal too; with the few per cent of
 * scatter that rows have, a normal distribution does not notice. Where a value is not positive
 * (temperatures, differences) the same is done without logarithms.
 *
 * The spread of all runs is used, also for the robust statistics: with few runs a trimmed estimate
 * of spread is blind to a second mode that the next row's median may land on. The coverage
 * that is reached is asserted by tests/sim/test_interval_coverage.c and tabled in docs/METHOD.md.
 */
#include "stats/interval.h"

#include <math.h>
#include <string.h>

#include "stats/summary.h"

#define RUNS_FOR_GAP_MAX 64 /* many runs have no gap in their middle, or it is small */

struct points {
    unsigned n;
    double mean, median;           /* symmetric */
    double half_upper, half_lower; /* mean of the lower half: of its skewed distribution */
};

/* Odd and even n differ for the median (one middle value or two), so each n up to 20 is there. */
static const struct points table[] = {
    {3, 4.303, 4.397, 6.503, 2.920},   {4, 3.182, 3.269, 5.289, 2.242},
    {5, 2.776, 3.025, 4.009, 2.188},   {6, 2.571, 2.759, 3.936, 2.101},
    {7, 2.447, 2.766, 3.435, 2.082},   {8, 2.365, 2.615, 3.460, 2.062},
    {9, 2.306, 2.669, 3.184, 2.050},   {10, 2.262, 2.551, 3.221, 2.055},
    {11, 2.228, 2.613, 3.041, 2.040},  {12, 2.201, 2.521, 3.073, 2.059},
    {13, 2.179, 2.583, 2.939, 2.048},  {14, 2.160, 2.500, 2.971, 2.062},
    {15, 2.145, 2.561, 2.872, 2.052},  {16, 2.131, 2.488, 2.901, 2.067},
    {17, 2.120, 2.545, 2.815, 2.056},  {18, 2.110, 2.485, 2.847, 2.073},
    {19, 2.101, 2.535, 2.775, 2.059},  {20, 2.093, 2.477, 2.807, 2.078},
    {24, 2.069, 2.474, 2.742, 2.091},  {30, 2.045, 2.461, 2.663, 2.097},
    {40, 2.023, 2.459, 2.592, 2.120},  {60, 2.001, 2.461, 2.527, 2.137},
    {120, 1.980, 2.455, 2.440, 2.170},
};
#define N_TABLE (sizeof(table) / sizeof(table[0]))
/* Limits for many runs: 1.96 x 1, sqrt(pi/2), and sqrt(2 - 2/pi), the standard deviation of
 * min(x, 0)/0.5 for a standard normal x. */
static const struct points limit = {0, 1.960, 2.456, 2.288, 2.288};

static double between(double a, double b, double part) {
    return a + part * (b - a);
}

/* Between two rows of the table linear in 1/n, which is how such points approach their limit. */
static struct points points_of(size_t n) {
    size_t i = 0;
    while (i + 1 < N_TABLE && table[i + 1].n <= n)
        i++;
    const struct points *a = &table[i], *b = i + 1 < N_TABLE ? &table[i + 1] : &limit;
    double inverse_a = 1.0 / a->n, inverse_b = b->n ? 1.0 / b->n : 0.0;
    double part = (inverse_a - 1.0 / (double)n) / (inverse_a - inverse_b);
    return (struct points){
        .mean = between(a->mean, b->mean, part),
        .median = between(a->median, b->median, part),
        .half_upper = between(a->half_upper, b->half_upper, part),
        .half_lower = between(a->half_lower, b->half_lower, part),
    };
}

/* Standard deviation of the values or of their logarithms. */
static double deviation(const double *values, size_t n, bool logarithms) {
    double mean = 0.0, sum = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += (logarithms ? log(values[i]) : values[i]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double distance = (logarithms ? log(values[i]) : values[i]) - mean;
        sum += distance * distance;
    }
    return sqrt(sum / (double)(n - 1));
}

/* Relative to the value. A normal distribution asks for the deviation / value, a lognormal one for
 * that of the logarithms; they differ by 2 % at a scatter of 5 %, by a third at 30 % in the lower
 * half. Weights of 1/4 and 3/4 keep both within the band. */
static double relative_deviation(const double *values, size_t n, double value) {
    return pow(deviation(values, n, false) / value, 0.25) * pow(deviation(values, n, true), 0.75);
}

/* Few runs cannot show that their distribution is not normal, so intervals are a little wider than
 * the normal distribution asks: medians and lower halves by 11 % at 3 runs and 1.6 % at 8, means,
 * which a rare slow run moves, by 23 and 9 %. */
static double caution(enum ps_stat stat, size_t n) {
    double runs = (double)n;
    return 1.0 + (stat == PS_STAT_MEAN ? 0.7 / runs : 1.0 / (runs * runs));
}

/* Runs in two heaps: the median of the next row may lie in either. When a gap among the middle runs
 * is wider than 0.65 of the interval, the interval takes in all of the middle runs. They are those
 * between which the distribution's own median lies with 90 % or more: ranks c and n - 1 - c from 0,
 * where c or fewer heads in n tosses of a coin have a probability of at most 5 %. */
static void span_gap(const double *runs, size_t n, double *low, double *high) {
    double sorted[RUNS_FOR_GAP_MAX];
    if (n > RUNS_FOR_GAP_MAX)
        return;
    memcpy(sorted, runs, n * sizeof(*sorted));
    ps_sort(sorted, n);
    double term = pow(0.5, (double)n), below = term; /* of c heads; of c or fewer */
    size_t c = 0;
    while (c + 1 < n / 2) {
        term *= (double)(n - c) / (double)(c + 1);
        if (below + term > 0.05)
            break;
        below += term;
        c++;
    }
    double gap = 0.0;
    for (size_t i = c; i + 1 < n - c; i++)
        gap = fmax(gap, sorted[i + 1] - sorted[i]);
    if (gap > 0.65 * (*high - *low)) {
        *low = fmin(*low, sorted[c]);
        *high = fmax(*high, sorted[n - 1 - c]);
    }
}

bool ps_interval95(enum ps_stat stat, const double *runs, size_t n, double *ret_low,
                   double *ret_high) {
    if (n < 3)
        return false;
    struct points points = points_of(n);
    double upper, lower;
    switch (stat) {
    case PS_STAT_MEAN:
        upper = lower = points.mean;
        break;
    case PS_STAT_MEDIAN:
        upper = lower = points.median;
        break;
    case PS_STAT_LOWER_HALF:
        upper = points.half_upper;
        lower = points.half_lower;
        break;
    default: /* a minimum or a quarter has no interval that simulation bears out */
        return false;
    }
    bool positive = true;
    for (size_t i = 0; i < n; i++)
        positive = positive && runs[i] > 0.0;
    double value = ps_stat(stat, runs, n);
    double scale = caution(stat, n) / sqrt((double)n);
    double low, high;
    if (positive) {
        double error = scale * relative_deviation(runs, n, value);
        low = value * exp(-upper * error);
        high = value * exp(lower * error);
    } else {
        double error = scale * deviation(runs, n, false);
        low = value - upper * error;
        high = value + lower * error;
    }
    if (stat == PS_STAT_MEDIAN)
        span_gap(runs, n, &low, &high);
    if (!isfinite(low) || !isfinite(high))
        return false;
    *ret_low = low;
    *ret_high = high;
    return true;
}
