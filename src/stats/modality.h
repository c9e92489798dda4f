/* SPDX-License-Identifier: MIT
 *
 * Two modes in a row's samples: best two-way split by between-class variance, then a distance in
 * robust sigmas. Thresholds and their false alarm rates: docs/METHOD.md.
 */
#ifndef PS_STATS_MODALITY_H
#define PS_STATS_MODALITY_H

#include <stdbool.h>
#include <stddef.h>

struct ps_modes {
    double low, high; /* the two centres */
    double minority;  /* share of the smaller one */
    double threshold; /* values below it belong to `low` */
};

/* Pooled samples of n_runs runs; run_of[i] says which run samples[i] came from (from 0). True when
 * D > 5, separation > 5 %, minority >= 20 % and n >= 100; below 8 runs both modes must also occur
 * inside at least two single runs (each >= 10 % there). */
bool ps_bimodal(const double *samples, const unsigned *run_of, size_t n, unsigned n_runs,
                struct ps_modes *ret_modes);

#endif
