/* SPDX-License-Identifier: MIT
 *
 * The stop rule looks at the scatter between runs, never inside one: samples of one process agree
 * with each other far better than with the next process.
 */
#include "harness/quality.h"

#include <math.h>

#include "stats/interval.h"
#include "stats/summary.h"

double ps_row_precision(const struct ps_sheet_metric *metric, const double *run_values, size_t n) {
    enum ps_stat stat = metric->run_stat;
    double low, high;

    if (stat != PS_STAT_MEAN && stat != PS_STAT_LOWER_HALF)
        stat = PS_STAT_MEDIAN;
    if (n < 3 || !ps_interval95(stat, run_values, n, &low, &high))
        return INFINITY;
    if (low >= high)
        return 0;
    double value = fabs(ps_stat(stat, run_values, n));
    return value > 0 ? (high - low) / 2 / value : INFINITY;
}
