/* SPDX-License-Identifier: MIT
 *
 * The 95 % interval of a row's value over its runs. Method and proof of coverage: docs/METHOD.md.
 */
#ifndef PS_STATS_INTERVAL_H
#define PS_STATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/bench.h"

/* Interval for statistic `stat` (MEDIAN, MEAN or LOWER_HALF) of n run values. False with n < 3: no
 * interval can be told. Truth is the estimator's expectation at that n. */
bool ps_interval95(enum ps_stat stat, const double *runs, size_t n, double *ret_low,
                   double *ret_high);

#endif
