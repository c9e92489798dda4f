/* SPDX-License-Identifier: MIT
 *
 * Order statistics and spread. Every function takes n >= 1 unless it says so; inputs are not
 * changed.
 */
#ifndef PS_STATS_SUMMARY_H
#define PS_STATS_SUMMARY_H

#include <stddef.h>

#include "core/bench.h"

void ps_sort(double *values, size_t n);
/* Of sorted values: linear interpolation between order statistics (Hyndman and Fan type 7). */
double ps_quantile_sorted(const double *sorted, size_t n, double q);
double ps_median(const double *values, size_t n);
double ps_mean(const double *values, size_t n);
/* Median absolute deviation, not scaled. */
double ps_mad(const double *values, size_t n);
/* Sample standard deviation (n - 1); n >= 2. */
double ps_stddev(const double *values, size_t n);
/* Mean of the ceil(n/2) smallest: "lower half". */
double ps_lower_half_mean(const double *values, size_t n);
/* The statistic named, of time per unit. PS_STAT_AUTO is not accepted (assertion). */
double ps_stat(enum ps_stat stat, const double *values, size_t n);

#endif
