/* SPDX-License-Identifier: MIT
 *
 * A neighbour on the same core: samples beside it do not count for the window, which is extended,
 * but not without end; without such a probe nothing is different.
 */
#include "sim/measure_fixture.h"

static const double mhz[] = {3000};

/* Free until probe 10, shared until probe 30, then free. */
static void test_window_is_extended(void **state) {
    (void)state;
    double issue[31];
    for (unsigned i = 0; i < 31; i++)
        issue[i] = i >= 10 && i < 30 ? 2.5 : 4.0;
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    assert_int_equal(fixture_measure(), 0);
    unsigned alone = f.shared.series[0].n;
    fixture_end(NULL);
    f.scratch = NULL;

    fixture_begin(NULL);
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    f.fake.issue = issue;
    f.fake.n_issue = 31;
    f.fake.full_issue = 4.0;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    /* A sample is shared when the probe on either side of it says so: 21 of them. */
    assert_int_equal(f.shared.n_shared, 21);
    assert_int_equal(series->n, alone + 21);
    /* The first probe asks whether the window may begin. */
    assert_true(series->issue[8] == 2.5 && series->issue[7] == 4.0 && series->issue[29] == 4.0);
    assert_true(f.shared.issue_min == 2.5 && f.shared.issue_max == 4.0);
    assert_true(f.shared.issue_median == 4.0);
}

/* A neighbour who goes in time is waited for: none of the samples is beside him. */
static void test_waits_for_the_core(void **state) {
    (void)state;
    static const double issue[] = {2.0, 2.0, 2.0, 2.0, 2.0, 4.0};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    f.fake.issue = issue;
    f.fake.n_issue = 6;
    f.fake.full_issue = 4.0;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.n_shared, 0);
    assert_true(f.shared.issue_min == 2.0);
    for (unsigned i = 0; i < f.shared.series[0].n; i++)
        assert_true(f.shared.series[0].issue[i] == 4.0);
}

static void test_window_has_an_end(void **state) {
    (void)state;
    static const double issue[] = {2.0};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    f.fake.issue = issue;
    f.fake.n_issue = 1;
    f.fake.full_issue = 4.0;
    assert_int_equal(fixture_measure(), 0);
    double sum_ns = 0;
    for (unsigned i = 0; i < f.shared.series[0].n; i++)
        sum_ns += f.shared.series[0].samples[i] * (double)f.last_n;
    assert_true(sum_ns >= 1.5 * (double)f.settings.window_ns);
    assert_true(sum_ns <= 1.6 * (double)f.settings.window_ns);
    assert_int_equal(f.shared.n_shared, f.shared.series[0].n);
}

/* What the run saw of the core counts when it is more than was known. */
static void test_run_knows_better(void **state) {
    (void)state;
    static const double issue[] = {4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 2.0};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    f.fake.issue = issue;
    f.fake.n_issue = 9;
    f.fake.full_issue = 2.0; /* measured beside the neighbour */
    assert_int_equal(fixture_measure(), 0);
    assert_true(f.shared.full_issue == 4.0);
    assert_true(f.shared.n_shared > 0);
}

static void test_unknown(void **state) {
    (void)state;
    assert_false(ps_core_shared(0, 4));
    assert_false(ps_core_shared(2, 0));
    assert_true(ps_core_shared(3.79, 4));
    assert_false(ps_core_shared(3.81, 4));
    assert_false(ps_enough_unshared(4, 10));
    assert_true(ps_enough_unshared(5, 25));
    assert_false(ps_enough_unshared(9, 50));
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.n_shared, 0);
    for (unsigned i = 0; i < f.shared.series[0].n; i++)
        assert_true(f.shared.series[0].issue[i] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_window_is_extended, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_waits_for_the_core, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_window_has_an_end, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_run_knows_better, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_unknown, fixture_begin, fixture_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
