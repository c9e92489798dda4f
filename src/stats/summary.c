/* SPDX-License-Identifier: MIT
 *
 * Order statistics without allocation: up to STACK_VALUES a copy is sorted on the stack (a run
 * keeps at most 1000 samples); longer inputs are answered by bisection over the ordered bit
 * patterns of doubles, which needs no memory and at most 64 passes. So no statistic can fail.
 */
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STACK_VALUES 1024

/* Shell's sort with Ciura's gaps, those above 701 continued by 2.25: for the tens to thousands of
 * values here it takes a third of the time of qsort and its calls, and has no bad inputs. */
void ps_sort(double *values, size_t n) {
    static const unsigned gaps[] = {18056, 8025, 3566, 1585, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
        size_t gap = gaps[g];
        for (size_t i = gap; i < n; i++) {
            double value = values[i];
            size_t at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
    }
}

double ps_quantile_sorted(const double *sorted, size_t n, double q) {
    assert(n >= 1);
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    double part = position - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/* What is looked at: the values themselves, or their distances from a centre. */
struct view {
    const double *values;
    size_t n;
    bool distance;
    double centre;
};

static double view_at(const struct view *view, size_t i) {
    return view->distance ? fabs(view->values[i] - view->centre) : view->values[i];
}

/* Bit patterns of doubles, ordered as the numbers are. */
static uint64_t ordered_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double double_of(uint64_t ordered) {
    uint64_t bits = ordered >> 63 ? ordered & ~(UINT64_C(1) << 63) : ~ordered;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The k-th smallest, k from 0: the smallest value with more than k values at or below it. */
static double select_kth(const struct view *view, size_t k) {
    uint64_t low = ordered_of(-INFINITY), high = ordered_of(INFINITY);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        double limit = double_of(middle);
        size_t at_or_below = 0;
        for (size_t i = 0; i < view->n; i++)
            at_or_below += view_at(view, i) <= limit;
        if (at_or_below > k)
            high = middle;
        else
            low = middle + 1;
    }
    return double_of(low);
}

static double view_quantile(const struct view *view, double q) {
    assert(view->n >= 1);
    if (view->n <= STACK_VALUES) {
        double copy[STACK_VALUES];
        for (size_t i = 0; i < view->n; i++)
            copy[i] = view_at(view, i);
        ps_sort(copy, view->n);
        return ps_quantile_sorted(copy, view->n, q);
    }
    double position = q * (double)(view->n - 1);
    size_t below = (size_t)position;
    double part = position - (double)below;
    double low = select_kth(view, below);
    if (part <= 0.0 || below + 1 >= view->n)
        return low;
    return low + part * (select_kth(view, below + 1) - low);
}

static double quantile(const double *values, size_t n, double q) {
    struct view view = {.values = values, .n = n};
    return view_quantile(&view, q);
}

double ps_median(const double *values, size_t n) {
    return quantile(values, n, 0.5);
}

double ps_mean(const double *values, size_t n) {
    assert(n >= 1);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

double ps_mad(const double *values, size_t n) {
    struct view view = {.values = values, .n = n, .distance = true, .centre = ps_median(values, n)};
    return view_quantile(&view, 0.5);
}

double ps_stddev(const double *values, size_t n) {
    assert(n >= 2);
    double mean = ps_mean(values, n), sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

double ps_lower_half_mean(const double *values, size_t n) {
    assert(n >= 1);
    size_t half = (n + 1) / 2;
    struct view view = {.values = values, .n = n};
    double last;
    if (n <= STACK_VALUES) {
        double copy[STACK_VALUES];
        memcpy(copy, values, n * sizeof(*copy));
        ps_sort(copy, n);
        return ps_mean(copy, half);
    }
    last = select_kth(&view, half - 1);
    double sum = 0.0;
    size_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        if (values[i] < last) {
            sum += values[i];
            taken++;
        }
    }
    /* Values equal to the last one fill up the half. */
    return (sum + last * (double)(half - taken)) / (double)half;
}

static double minimum(const double *values, size_t n) {
    assert(n >= 1);
    double least = values[0];
    for (size_t i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

double ps_stat(enum ps_stat stat, const double *values, size_t n) {
    switch (stat) {
    case PS_STAT_MEDIAN:
        return ps_median(values, n);
    case PS_STAT_P25:
        return quantile(values, n, 0.25);
    case PS_STAT_P10:
        return quantile(values, n, 0.10);
    case PS_STAT_MIN:
        return minimum(values, n);
    case PS_STAT_MEAN:
        return ps_mean(values, n);
    case PS_STAT_LOWER_HALF:
        return ps_lower_half_mean(values, n);
    case PS_STAT_AUTO:
        break;
    }
    assert(stat != PS_STAT_AUTO); /* it is resolved when the case is declared */
    return NAN;
}
