/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "stats/drift.h"

static void test_tau(void **ignored) {
    (void)ignored;
    const double rising[] = {1, 2, 3, 4, 5}, falling[] = {5, 4, 3, 2, 1}, mixed[] = {1, 3, 2, 4};
    const double tied[] = {1, 1, 1};
    assert_double(ps_kendall_tau(rising, 5), 1, 0);
    assert_double(ps_kendall_tau(falling, 5), -1, 0);
    assert_double(ps_kendall_tau(mixed, 4), 4.0 / 6, 1e-15);
    assert_double(ps_kendall_tau(tied, 3), 0, 0);
}

static void test_drifting(void **ignored) {
    (void)ignored;
    const double rising[] = {100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122};
    const double flat[] = {100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 100.7};
    const double step[] = {110, 108, 109, 107, 104, 103, 101, 102}; /* tau -24/28 */
    const double weak[] = {100, 110, 101, 111, 102, 112, 103, 113}; /* tau 16/28 */
    assert_false(ps_drifting(rising, 4));                           /* never below five runs */
    assert_true(ps_drifting(rising, 5));
    assert_true(ps_drifting(rising, 8));
    assert_true(ps_drifting(rising, 12));
    assert_false(ps_drifting(flat, 8)); /* a perfect order, but of 0.4 % */
    assert_true(ps_drifting(step, 8));
    assert_false(ps_drifting(weak, 8));
}

/* The score needed is the one whose chance among all orders is nearest to 1 %: tau 1 for 5 runs,
 * 20/28 for 8, 38/66 for 12. */
static void test_critical(void **ignored) {
    (void)ignored;
    /* One swap of neighbours takes 2 from the score. */
    const double five[] = {100, 110, 120, 140, 130};
    const double eight_20[] = {110, 100, 130, 120, 150, 140, 170, 160}; /* 28 - 8 */
    const double eight_18[] = {110, 100, 130, 120, 160, 150, 140, 170}; /* 28 - 10 */
    assert_false(ps_drifting(five, 5));
    assert_double(ps_kendall_tau(eight_20, 8), 20.0 / 28, 1e-15);
    assert_true(ps_drifting(eight_20, 8));
    assert_double(ps_kendall_tau(eight_18, 8), 18.0 / 28, 1e-15);
    assert_false(ps_drifting(eight_18, 8));
}

/* Shuffled orders alarm in about 1 % of rows. */
static void test_false_alarms(void **ignored) {
    (void)ignored;
    static const size_t sizes[] = {5, 8, 12, 20};
    uint64_t state = 3;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        unsigned alarms = 0;
        for (unsigned row = 0; row < 20000; row++) {
            double values[20];
            for (size_t i = 0; i < sizes[s]; i++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                values[i] = 100.0 + (double)(state >> 33) / 2147483648.0 * 100.0;
            }
            alarms += ps_drifting(values, sizes[s]);
        }
        assert_in_range(alarms, 50, 360); /* 0.25 to 1.8 % */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tau),
        cmocka_unit_test(test_drifting),
        cmocka_unit_test(test_critical),
        cmocka_unit_test(test_false_alarms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
