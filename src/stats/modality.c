/* SPDX-License-Identifier: MIT
 *
 * Two modes in a row's samples. Samples above 3 x median are dropped, the rest is split in two
 * where the variance between the parts is largest, and the parts are modes when their medians are
 * far apart in units of their robust spreads: D = sqrt(2) (m2 - m1) / sqrt(s1^2 + s2^2), s from the
 * MAD.
 *
 * With D > 5, 5 % apart and a minority of 20 % there is no false alarm on normal, lognormal,
 * uniform and outlier-ridden shapes of 100 samples. Sarle's coefficient and the valley of a density
 * estimate alarm on half of the one-sided tails and are not used. With few runs ordinary scatter
 * between runs looks like two modes: below 8 runs both must occur within single runs.
 */
#include "stats/modality.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/summary.h"

#define SAMPLES_MIN 100
#define DISTANCE_MIN 5.0
#define SEPARATION_MIN 0.05
#define MINORITY_MIN 0.20
#define FAR_OFF 3.0 /* x median */
#define RUNS_TRUSTED 8
#define RUNS_WITH_BOTH 2
#define MINORITY_IN_RUN_MIN 0.10
#define SIGMA_OF_MAD 1.4826 /* of a normal distribution */

/* How many values lie below the split with the largest variance between its parts. */
static size_t best_split(const double *sorted, size_t n) {
    /* Distances from the median, so that sums of nearly equal values keep their digits. */
    double origin = sorted[n / 2], total = 0.0, left = 0.0, best = -1.0;
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        total += sorted[i] - origin;
    for (size_t i = 1; i < n; i++) {
        left += sorted[i - 1] - origin;
        if (sorted[i] <= sorted[i - 1])
            continue; /* equal values stay together */
        double a = (double)i, b = (double)(n - i);
        double apart = left / a - (total - left) / b;
        double between = a * b * apart * apart;
        if (between > best) {
            best = between;
            split = i;
        }
    }
    return split;
}

/* Both modes inside at least two single runs. */
static bool both_within_runs(const double *samples, const unsigned *run_of, size_t n,
                             unsigned n_runs, double threshold, double far_off) {
    unsigned with_both = 0;
    for (unsigned run = 0; run < n_runs; run++) {
        size_t low = 0, high = 0;
        for (size_t i = 0; i < n; i++) {
            if (run_of[i] != run || samples[i] > far_off)
                continue;
            low += samples[i] < threshold;
            high += samples[i] >= threshold;
        }
        size_t minority = low < high ? low : high;
        with_both += minority > 0 && (double)minority >= MINORITY_IN_RUN_MIN * (double)(low + high);
    }
    return with_both >= RUNS_WITH_BOTH;
}

bool ps_bimodal(const double *samples, const unsigned *run_of, size_t n, unsigned n_runs,
                struct ps_modes *ret_modes) {
    if (n < SAMPLES_MIN)
        return false;
    double *sorted = malloc(n * sizeof(*sorted));
    if (!sorted)
        return false; /* no verdict, as with too few samples */
    bool found = false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = samples[i];
    ps_sort(sorted, n);
    double far_off = FAR_OFF * ps_quantile_sorted(sorted, n, 0.5);
    size_t kept = n;
    while (kept > 0 && sorted[kept - 1] > far_off)
        kept--;
    if (kept < SAMPLES_MIN)
        goto out;
    size_t split = best_split(sorted, kept);
    if (split == 0)
        goto out;
    struct ps_modes modes = {
        .low = ps_quantile_sorted(sorted, split, 0.5),
        .high = ps_quantile_sorted(sorted + split, kept - split, 0.5),
        .minority = (double)(split < kept - split ? split : kept - split) / (double)kept,
        .threshold = sorted[split],
    };
    double sigma_low = SIGMA_OF_MAD * ps_mad(sorted, split);
    double sigma_high = SIGMA_OF_MAD * ps_mad(sorted + split, kept - split);
    double spread = sqrt(sigma_low * sigma_low + sigma_high * sigma_high);
    double apart = modes.high - modes.low;
    found = modes.minority >= MINORITY_MIN && apart > SEPARATION_MIN * fabs(modes.low) &&
            sqrt(2.0) * apart > DISTANCE_MIN * spread;
    if (found && n_runs < RUNS_TRUSTED)
        found = both_within_runs(samples, run_of, n, n_runs, modes.threshold, far_off);
    if (found)
        *ret_modes = modes;
out:
    free(sorted);
    return found;
}
