/* SPDX-License-Identifier: MIT
 *
 * The samples of one metric in one run.
 */
#include "core/series.h"

static uint64_t to_histogram(double value) {
    if (!(value > 0))
        return 0;
    if (value >= 18446744073709551615.0) /* 2^64 - 1, rounded up: it would not fit */
        return UINT64_MAX;
    return (uint64_t)(value + 0.5);
}

void ps_series_push(struct ps_series *series, double value) {
    series->n_events++;
    if (series->histogram != NULL)
        ps_histogram_add(series->histogram, to_histogram(value));
    if (series->n < series->capacity)
        series->samples[series->n++] = value;
}

bool ps_core_shared(double issue, double full_issue) {
    return issue > 0 && full_issue > 0 && issue < 0.95 * full_issue;
}

bool ps_enough_unshared(unsigned unshared, unsigned n) {
    return unshared >= 5 && unshared >= n / 5;
}
