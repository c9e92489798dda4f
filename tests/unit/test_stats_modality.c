/* SPDX-License-Identifier: MIT
 *
 * Two modes are found where there are two, and not in the shapes that look like it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "stats/modality.h"

#define N_MAX 2000
static double samples[N_MAX];
static unsigned run_of[N_MAX];

static uint64_t state;
static double uniform(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}
static double normal(void) {
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Fills n samples, `runs` of them in turn, and asks. */
static bool ask(double (*draw)(size_t i, unsigned run), size_t n, unsigned runs,
                struct ps_modes *modes) {
    for (size_t i = 0; i < n; i++) {
        run_of[i] = (unsigned)(i * runs / n);
        samples[i] = draw(i, run_of[i]);
    }
    return ps_bimodal(samples, run_of, n, runs, modes);
}

static double one_mode(size_t i, unsigned run) {
    (void)i;
    (void)run;
    return 100 * (1 + 0.01 * normal());
}
static double outliers(size_t i, unsigned run) {
    (void)run;
    return 100 * (1 + 0.01 * normal()) * (i % 20 == 7 ? 1.5 : 1);
}
static double tail(size_t i, unsigned run) {
    (void)i;
    (void)run;
    return 100 * (1 + 0.004 * normal() - 0.03 * log(uniform()));
}
/* 12 % apart, 30 % in the upper mode. */
static double two_modes(size_t i, unsigned run) {
    (void)run;
    return 100 * (1 + 0.01 * normal()) * (i % 10 < 3 ? 1.12 : 1);
}
static double small_minority(size_t i, unsigned run) {
    (void)run;
    return 100 * (1 + 0.01 * normal()) * (i % 10 < 1 ? 1.12 : 1);
}
static double close_modes(size_t i, unsigned run) {
    (void)run;
    return 100 * (1 + 0.001 * normal()) * (i % 2 ? 1.04 : 1);
}
/* Whole runs differ, as page colours make them. */
static double run_modes(size_t i, unsigned run) {
    (void)i;
    return 100 * (1 + 0.01 * normal()) * (run % 2 ? 1.12 : 1);
}
static double far_third(size_t i, unsigned run) {
    return i % 50 == 9 ? 1e6 : two_modes(i, run);
}
static double exactly_two(size_t i, unsigned run) {
    (void)run;
    return i % 2 ? 11 : 10;
}
static double constant(size_t i, unsigned run) {
    (void)i;
    (void)run;
    return 10;
}

static void test_found(void **ignored) {
    (void)ignored;
    struct ps_modes modes;
    state = 7;
    assert_true(ask(two_modes, 600, 8, &modes));
    assert_double(modes.low, 100, 0.5);
    assert_double(modes.high, 112, 0.7);
    assert_double(modes.minority, 0.3, 0.01);
    assert_true(modes.threshold > 103 && modes.threshold < 111);
    assert_true(ask(two_modes, 100, 8, &modes));
    assert_true(ask(two_modes, 120, 3, &modes)); /* both modes in each of three runs */
    assert_true(ask(run_modes, 600, 8, &modes));
    assert_true(ask(far_third, 600, 8, &modes)); /* what is far off is dropped first */
    assert_double(modes.high, 112, 0.7);
    assert_true(ask(exactly_two, 200, 8, &modes)); /* no spread inside the modes at all */
    assert_double(modes.low, 10, 0);
    assert_double(modes.high, 11, 0);
}

static void test_not_found(void **ignored) {
    (void)ignored;
    struct ps_modes modes = {-1, -1, -1, -1};
    state = 8;
    for (int i = 0; i < 200; i++) {
        assert_false(ask(one_mode, 100, 8, &modes));
        assert_false(ask(outliers, 100, 8, &modes));
        assert_false(ask(tail, 100, 8, &modes));
        assert_false(ask(small_minority, 100, 8, &modes));
        assert_false(ask(close_modes, 100, 8, &modes));
    }
    assert_false(ask(two_modes, 99, 8, &modes));  /* too few for a verdict */
    assert_false(ask(run_modes, 600, 4, &modes)); /* few runs scatter like that */
    assert_false(ask(constant, 300, 8, &modes));
    assert_double(modes.low, -1, 0); /* untouched */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
