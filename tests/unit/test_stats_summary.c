/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "stats/summary.h"

static uint64_t state = 1;
static double number(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 40) - 8000000.0;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_sort(void **ignored) {
    (void)ignored;
    static const size_t sizes[] = {0, 1, 2, 3, 10, 75, 1000, 20000};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t n = sizes[s];
        double *a = calloc(n + 1, sizeof(*a)), *b = calloc(n + 1, sizeof(*b));
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = i % 3 ? number() : floor(number() / 1e6);
        ps_sort(a, n);
        qsort(b, n, sizeof(*b), compare);
        assert_memory_equal(a, b, (n + 1) * sizeof(*a));
        free(a);
        free(b);
    }
}

static void test_small(void **ignored) {
    (void)ignored;
    const double values[] = {4, 1, 3, 2};
    assert_double(ps_median(values, 4), 2.5, 0);
    assert_double(ps_median(values, 3), 3, 0);
    assert_double(ps_median(values, 1), 4, 0);
    assert_double(ps_mean(values, 4), 2.5, 0);
    assert_double(ps_mad(values, 4), 1, 0); /* 1.5 1.5 .5 .5 */
    assert_double(ps_stddev(values, 4), sqrt(5.0 / 3), 1e-15);
    assert_double(ps_lower_half_mean(values, 4), 1.5, 0);
    assert_double(ps_lower_half_mean(values, 3), 2, 0); /* two of three */
    assert_double(ps_lower_half_mean(values, 1), 4, 0);
    assert_double(ps_stat(PS_STAT_P25, values, 4), 1.75, 0);
    assert_double(ps_stat(PS_STAT_MIN, values, 4), 1, 0);
    assert_double(ps_stat(PS_STAT_MEAN, values, 4), 2.5, 0);
    assert_double(ps_stat(PS_STAT_MEDIAN, values, 4), 2.5, 0);
    assert_double(ps_stat(PS_STAT_LOWER_HALF, values, 4), 1.5, 0);
    assert_double(values[0], 4, 0); /* inputs stay */
}

/* Beyond the stack's room the answers come from bisection and must be the same to the last bit. */
static void test_large(void **ignored) {
    (void)ignored;
    enum { N = 5001 };
    double *values = calloc(N, sizeof(*values)), *sorted = calloc(N, sizeof(*sorted));
    double sum = 0;
    for (size_t n = N - 1; n <= N; n++) {
        for (size_t i = 0; i < n; i++)
            values[i] = sorted[i] = i % 5 ? number() * 1e-3 : -17.25;
        ps_sort(sorted, n);
        assert_double(ps_median(values, n), ps_quantile_sorted(sorted, n, 0.5), 0);
        assert_double(ps_stat(PS_STAT_P25, values, n), ps_quantile_sorted(sorted, n, 0.25), 0);
        sum = 0;
        for (size_t i = 0; i < (n + 1) / 2; i++)
            sum += sorted[i];
        assert_double(ps_lower_half_mean(values, n), sum / (double)((n + 1) / 2), 1e-6);
        double median = ps_median(values, n);
        for (size_t i = 0; i < n; i++)
            sorted[i] = fabs(values[i] - median);
        ps_sort(sorted, n);
        assert_double(ps_mad(values, n), ps_quantile_sorted(sorted, n, 0.5), 0);
    }
    free(values);
    free(sorted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
