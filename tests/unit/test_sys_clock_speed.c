/* SPDX-License-Identifier: MIT
 *
 * The clock probe against itself: no absolute speed or time is asserted.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"

static void test_check(void **state) {
    struct ps_clock_check check;
    (void)state;
    ps_clock_check(&check);
    if (check.trusted) {
        assert_in_range(check.multiply_cycles, 1, 5);
        assert_true(fabs(check.ratio / check.multiply_cycles - 1) <= 0.03);
        assert_true(check.add_mhz > 0);
    } else {
        assert_int_equal(check.multiply_cycles, 0);
    }
}

static void test_probe(void **state) {
    unsigned n = 0;
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        double mhz = ps_clock_probe_mhz();
        assert_true(mhz >= 0 && isfinite(mhz));
        /* Unknown, or a clock that a core can have. */
        assert_true(mhz == 0 || (mhz > 1 && mhz < 20000));
        n += mhz > 0;
    }
    assert_true(n > 0);
}

static void test_quality(void **state) {
    struct ps_clock_quality quality;
    struct ps_cpu_set before, after;
    (void)state;
    assert_int_equal(ps_affinity_get(&before), 0);
    ps_clock_quality(&quality);
    assert_true(quality.resolution_ns > 0);
    assert_true(quality.read_ns > 0);
    assert_true(quality.monotone);
    assert_int_equal(ps_affinity_get(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

static void test_clocks_go_on(void **state) {
    (void)state;
    uint64_t raw_ns = ps_now_raw_ns(), ns = ps_now_ns();
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t raw_now_ns = ps_now_raw_ns(), now_ns = ps_now_ns();
        assert_true(raw_now_ns >= raw_ns && now_ns >= ns);
        raw_ns = raw_now_ns;
        ns = now_ns;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check), cmocka_unit_test(test_probe),
                                       cmocka_unit_test(test_quality),
                                       cmocka_unit_test(test_clocks_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
