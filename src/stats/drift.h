/* SPDX-License-Identifier: MIT
 *
 * A trend of run values over the order in which the runs were taken.
 */
#ifndef PS_STATS_DRIFT_H
#define PS_STATS_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

/* Kendall's tau of values against their order; n >= 2. */
double ps_kendall_tau(const double *values, size_t n);
/* tau beyond its two-sided critical value (about 1 %) and halves that differ by more than 3 %.
 * Never true below 5 runs. */
bool ps_drifting(const double *values, size_t n);

#endif
