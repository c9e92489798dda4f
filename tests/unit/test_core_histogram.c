/* SPDX-License-Identifier: MIT
 *
 * The histogram's buckets, its error bound, and series that spill into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "core/histogram.h"
#include "core/series.h"

static void test_buckets_are_in_order(void **state) {
    (void)state;
    for (unsigned i = 0; i < PS_HISTOGRAM_BUCKETS; i++) {
        uint64_t low = ps_histogram_low(i);
        assert_int_equal(ps_histogram_bucket(low), i);
        if (i > 0) {
            assert_true(low > ps_histogram_low(i - 1));
            assert_int_equal(ps_histogram_bucket(low - 1), i - 1);
        }
    }
    for (uint64_t value = 0; value < 1 << PS_HISTOGRAM_SUB_BITS; value++)
        assert_int_equal(ps_histogram_low(ps_histogram_bucket(value)), value);
    assert_int_equal(ps_histogram_bucket((UINT64_C(1) << 40) - 1), PS_HISTOGRAM_BUCKETS - 1);
    assert_int_equal(ps_histogram_bucket(UINT64_C(1) << 40), PS_HISTOGRAM_BUCKETS);
    assert_true(ps_histogram_bucket(UINT64_MAX) > PS_HISTOGRAM_BUCKETS);
}

/* A bucket's middle is within 2^-6 of every value in it: the extreme ones are its ends. */
static void test_error_bound(void **state) {
    (void)state;
    for (unsigned i = 1; i < PS_HISTOGRAM_BUCKETS; i++) {
        double low = (double)ps_histogram_low(i);
        double high = (i + 1 < PS_HISTOGRAM_BUCKETS ? (double)ps_histogram_low(i + 1)
                                                    : (double)(UINT64_C(1) << 40)) -
                      1;
        double middle = (low + high) / 2;
        assert_true((middle - low) / low <= 1.0 / 64 && (high - middle) / high <= 1.0 / 64);
    }
}

static void test_quantiles(void **state) {
    (void)state;
    struct ps_histogram histogram;
    ps_histogram_init(&histogram);
    assert_true(ps_histogram_quantile(&histogram, 0.5) == 0);
    for (uint64_t value = 1; value <= 100000; value++)
        ps_histogram_add(&histogram, value * 7);
    for (double q = 0.01; q < 1; q += 0.01)
        assert_true(fabs(ps_histogram_quantile(&histogram, q) / (q * 700000) - 1) <=
                    1.0 / 64 + 1e-3);
    assert_true(ps_histogram_quantile(&histogram, 0) == 7);
    assert_true(fabs(ps_histogram_quantile(&histogram, 1) / 700000 - 1) <= 1.0 / 64);
    assert_int_equal(histogram.min, 7);
    assert_int_equal(histogram.max, 700000);
}

static void test_over_and_merge(void **state) {
    (void)state;
    struct ps_histogram a, b;
    ps_histogram_init(&a);
    ps_histogram_init(&b);
    ps_histogram_add(&a, 5);
    ps_histogram_add(&b, UINT64_C(1) << 50);
    ps_histogram_add(&b, 9);
    ps_histogram_merge(&a, &b);
    assert_int_equal(a.n, 3);
    assert_int_equal(a.over, 1);
    assert_int_equal(a.min, 5);
    assert_true(a.max == UINT64_C(1) << 50);
    assert_true(ps_histogram_quantile(&a, 1) == (double)(UINT64_C(1) << 50));
    assert_true(ps_histogram_quantile(&a, 0.5) == 9);
}

static void test_series_spills(void **state) {
    (void)state;
    double samples[3];
    struct ps_histogram histogram;
    struct ps_series series = {.capacity = 3, .samples = samples, .histogram = &histogram};
    ps_histogram_init(&histogram);
    const double values[] = {1.4, 2.6, 1e300, -4, 60};
    for (unsigned i = 0; i < 5; i++)
        ps_series_push(&series, values[i]);
    assert_int_equal(series.n, 3);
    assert_int_equal(series.n_events, 5);
    assert_true(samples[2] == 1e300);
    assert_int_equal(histogram.n, 5);
    assert_int_equal(histogram.over, 1);
    assert_int_equal(histogram.counts[1], 1);
    assert_int_equal(histogram.counts[3], 1);
    assert_int_equal(histogram.counts[0], 1);
    series.histogram = NULL;
    ps_series_push(&series, 1);
    assert_int_equal(series.n_events, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_are_in_order),
        cmocka_unit_test(test_error_bound),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_over_and_merge),
        cmocka_unit_test(test_series_spills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
