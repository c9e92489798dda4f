/* SPDX-License-Identifier: MIT
 *
 * Properties of the interval; what it covers is in tests/sim/test_interval_coverage.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "stats/interval.h"
#include "stats/summary.h"

static const double runs[] = {101, 99, 100, 102, 98, 100.5, 99.5, 100.2, 101.3, 99.1};

static void test_contains_value(void **ignored) {
    (void)ignored;
    static const enum ps_stat stats[] = {PS_STAT_MEDIAN, PS_STAT_MEAN, PS_STAT_LOWER_HALF};
    for (unsigned s = 0; s < 3; s++) {
        double last = INFINITY;
        for (size_t n = 3; n <= 10; n++) {
            double low, high, value = ps_stat(stats[s], runs, n);
            assert_true(ps_interval95(stats[s], runs, n, &low, &high));
            assert_true(low < value && value < high);
            if (n == 3 || n == 10)
                assert_true(high - low < last); /* ten runs know more than three */
            last = high - low;
        }
    }
}

static void test_none(void **ignored) {
    (void)ignored;
    double low = -1, high = -1;
    assert_false(ps_interval95(PS_STAT_MEDIAN, runs, 2, &low, &high));
    assert_false(ps_interval95(PS_STAT_MIN, runs, 8, &low, &high));
    assert_double(low, -1, 0);
}

static void test_scale(void **ignored) {
    (void)ignored;
    double scaled[8], low, high, low_scaled, high_scaled;
    for (unsigned i = 0; i < 8; i++)
        scaled[i] = runs[i] * 1e-3;
    assert_true(ps_interval95(PS_STAT_LOWER_HALF, runs, 8, &low, &high));
    assert_true(ps_interval95(PS_STAT_LOWER_HALF, scaled, 8, &low_scaled, &high_scaled));
    assert_double(low_scaled, low * 1e-3, 1e-12);
    assert_double(high_scaled, high * 1e-3, 1e-12);
}

static void test_odd_inputs(void **ignored) {
    (void)ignored;
    const double equal[] = {5, 5, 5, 5}, negative[] = {-1, 0, 1, 2, -2, 1}, zero[] = {0, 0, 0};
    double many[200], low, high;
    assert_true(ps_interval95(PS_STAT_MEDIAN, equal, 4, &low, &high));
    assert_double(low, 5, 0);
    assert_double(high, 5, 0);
    assert_true(ps_interval95(PS_STAT_MEAN, negative, 6, &low, &high));
    assert_true(low < 0 && high > 0.1);
    assert_true(ps_interval95(PS_STAT_MEAN, zero, 3, &low, &high));
    assert_double(high, 0, 0);
    for (unsigned i = 0; i < 200; i++)
        many[i] = 100 + i % 7;
    assert_true(ps_interval95(PS_STAT_MEAN, many, 200, &low, &high));
    /* 1.96 x 2.0 / sqrt(200) on either side */
    assert_double((high - low) / 2, 1.97 * ps_stddev(many, 200) / sqrt(200), 0.01);
}

/* Two heaps: the next median may lie in either, so the interval reaches both. */
static void test_gap(void **ignored) {
    (void)ignored;
    const double heaps[] = {100,  112,   100.1, 112.1, 100.2, 112.2,
                            99.9, 112.3, 100.3, 111.9, 100,   112};
    double low, high;
    assert_true(ps_interval95(PS_STAT_MEDIAN, heaps, 12, &low, &high));
    assert_true(low <= 100.1 && high >= 112);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contains_value),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_odd_inputs),
        cmocka_unit_test(test_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
