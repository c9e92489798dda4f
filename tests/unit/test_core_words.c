/* SPDX-License-Identifier: MIT
 *
 * Units, statuses and marks: every enumerator has its word, and every word its enumerator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/record.h"
#include "core/status.h"
#include "core/units.h"

static void test_units(void **state) {
    (void)state;
    for (unsigned i = 0; i < PS_N_UNIT; i++) {
        enum ps_unit unit = PS_N_UNIT;
        assert_non_null(ps_unit_name((enum ps_unit)i));
        assert_int_equal(ps_unit_from_name(ps_unit_name((enum ps_unit)i), &unit), 0);
        assert_int_equal(unit, i);
        assert_true(ps_unit_factor((enum ps_unit)i) > 0);
    }
    enum ps_unit unit = PS_UNIT_WATT;
    assert_int_equal(ps_unit_from_name("furlong", &unit), -22);
    assert_int_equal(ps_unit_from_name("", &unit), -22);
    assert_int_equal(unit, PS_UNIT_WATT);
}

static void test_factors(void **state) {
    (void)state;
    assert_true(ps_unit_factor(PS_UNIT_US) == 1e3 && ps_unit_factor(PS_UNIT_S) == 1e9);
    assert_true(ps_unit_factor(PS_UNIT_MB_PER_S) == 1e6);
    assert_true(ps_unit_factor(PS_UNIT_MIB_PER_S) == 1048576);
    assert_true(ps_unit_factor(PS_UNIT_DMIPS) == 1757);
    assert_int_equal(ps_unit_dimension(PS_UNIT_MS), PS_DIM_TIME);
    assert_int_equal(ps_unit_dimension(PS_UNIT_MBIT_PER_S), PS_DIM_RATE);
    assert_int_equal(ps_unit_dimension(PS_UNIT_BIT_PER_S), PS_DIM_RATE);
    assert_int_equal(ps_unit_dimension(PS_UNIT_PERCENT), PS_DIM_NONE);
}

static void test_status(void **state) {
    (void)state;
    for (unsigned i = 0; i < PS_N_STATUS; i++) {
        enum ps_status status = PS_N_STATUS;
        assert_int_equal(ps_status_from_name(ps_status_name((enum ps_status)i), &status), 0);
        assert_int_equal(status, i);
    }
    for (unsigned i = 0; i < PS_N_QUALITY; i++) {
        unsigned bit = PS_N_QUALITY;
        assert_int_equal(ps_quality_from_name(ps_quality_name(i), &bit), 0);
        assert_int_equal(bit, i);
    }
    enum ps_status status;
    assert_int_equal(ps_status_from_name("fine", &status), -22);
    assert_string_equal(ps_quality_name(8), "below-resolution");
    assert_int_equal(PS_Q_BELOW_RESOLUTION, 1 << 8);
    assert_int_equal(PS_Q_PRECISION_NOT_REACHED, 1 << (PS_N_QUALITY - 1));
}

static void test_record_words(void **state) {
    (void)state;
    assert_string_equal(ps_bound_name(PS_BOUND_DEVICE), "device");
    assert_string_equal(ps_stat_name(PS_STAT_LOWER_HALF), "lower-half");
    assert_string_equal(ps_metric_kind_name(PS_DERIVED), "derived");
    assert_string_equal(ps_derivation_name(PS_DERIVE_PER_MHZ), "per-mhz");
    assert_string_equal(ps_better_name(PS_BETTER_NEITHER), "neither");
    assert_string_equal(ps_depends_name(PS_DEPENDS_LIBCRYPTO), "libcrypto");
    assert_string_equal(ps_comparable_name(PS_COMPARABLE_NO), "no");
    assert_string_equal(ps_relation_name(PS_WHOLE_CYCLES), "whole-cycles");
    assert_string_equal(ps_pairing_name(PS_PAIR_CROSS_CLUSTER), "cross-cluster");
    assert_string_equal(ps_pages_name(PS_PAGES_HUGE), "huge");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_record_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
