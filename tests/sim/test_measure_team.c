/* SPDX-License-Identifier: MIT
 *
 * Teams in simulated parallel time: windows, joins, errors on any thread.
 */
#include "sim/measure_fixture.h"

static void become_team(enum ps_team team, unsigned threads) {
    f.bench.team = team;
    f.c.place.threads = threads;
    ps_measure_defaults(&f.settings, &f.bench, &f.c, PS_BOUND_CORE, false);
}

/* ---- WINDOW --------------------------------------------------------------------------------- */

static void test_window_rates_add_up(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 3);
    f.thread_factor[1] = 2;
    f.thread_factor[2] = 4;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    /* 1/100 + 1/200 + 1/400 iterations a ns. */
    assert_samples(series, 400.0 / 7, 1e-3);
    assert_int_equal(series->n, 16);
    assert_true(f.shared.timed_ns == 160 * MS);
    assert_int_equal(f.shared.threads, 3);
    assert_int_equal(f.n_thread_setup, 3);
    assert_int_equal(f.n_setup, 1);
    assert_int_equal(f.n_teardown, 1);
    assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 1);
    assert_true(series->resolution > 0 && series->resolution < 1);
}

/* A thread whose first work is slow (its pages, its caches) does not spoil the window. */
static void test_window_slow_beginner(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 2);
    f.first_extra_ns = 15 * MS; /* within the warm-up of 25 ms */
    f.fake.start_delay_ns[1] = 40 * MS;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 50, 1e-3);
    assert_int_equal(f.shared.series[0].n, 16);
}

/* Iterations longer than a slice, and than the window. */
static void test_window_long_iterations(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 2);
    f.iteration_ns[0] = 25 * MS;
    f.thread_factor[1] = 20;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 25.0 * MS / (1 + 1.0 / 20), 1e-3);
    assert_true(f.shared.series[0].n >= 16);
}

static uint64_t units_8(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return 8;
}

static void test_window_segments_units_and_clock(void **state) {
    (void)state;
    static const struct ps_segment segments[] = {{"a", 1}, {"b", 0}};
    static const double mhz[] = {1000, 1200, 1300, 1500};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 4;
    f.fake.switch_every_ns = 1000 * MS;
    f.bench.segments = segments;
    f.bench.n_segments = 2;
    f.bench.units = units_8;
    f.iteration_ns[1] = 3000;
    become_team(PS_TEAM_WINDOW, 2);
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[1], 100.0 / 16, 1e-3);
    assert_samples(&f.shared.series[0], 3000.0 / 16, 1e-3);
    for (unsigned i = 0; i < 16; i++)
        assert_true(f.shared.series[1].mhz[i] == 1100 && f.shared.series[0].mhz[i] == 1400);
    assert_int_equal(f.fake.n_probes, 4);
    assert_int_equal(f.shared.n_samples, 32);
    assert_int_equal(f.shared.n_switched, 0);
}

static void test_window_switches(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 2);
    f.fake.switch_every_ns = 40 * MS;
    assert_int_equal(fixture_measure(), 0);
    /* One in four slices, and the one beside it where the switch is near its edge. */
    assert_true(f.shared.n_switched >= 4 && f.shared.n_switched <= 10);
}

static void test_window_does_nothing(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 2);
    f.iteration_ns[0] = 0;
    f.settings.warm_up_ns = 0; /* each of millions of steps of 20 ns is simulated */
    f.settings.sample_ns = MS / 10;
    f.settings.window_ns = MS;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    for (unsigned i = 0; i < series->n; i++)
        assert_true(series->samples[i] > 0 && series->samples[i] < series->resolution);
}

/* ---- JOIN ----------------------------------------------------------------------------------- */

static void test_join_takes_the_last(void **state) {
    (void)state;
    become_team(PS_TEAM_JOIN, 4);
    f.bench.units = units_8;
    f.thread_factor[2] = 3;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_samples(series, 300.0 / 8, 1e-3);
    assert_true(series->n >= 40);
    for (unsigned i = 1; i < 4; i++) /* each did every step but thread 0's own */
        assert_int_equal(f.thread_batches[i], f.thread_batches[0]);
}

static void test_join_fixed_passes(void **state) {
    (void)state;
    static const struct ps_segment segments[] = {{"a", 0}, {"b", 1}};
    static const double mhz[] = {1000};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    f.fake.switch_every_ns = 500 * MS;
    f.bench.segments = segments;
    f.bench.n_segments = 2;
    f.bench.passes = 10;
    f.bench.passes_dropped = 1;
    f.iteration_ns[0] = 4 * MS;
    f.iteration_ns[1] = 6 * MS;
    f.thread_factor[1] = 1.5;
    f.first_extra_ns = 90 * MS;
    become_team(PS_TEAM_JOIN, 2);
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.series[0].n, 10);
    assert_int_equal(f.shared.series[1].n, 10);
    assert_samples(&f.shared.series[0], 6 * MS, 1e-4);
    assert_samples(&f.shared.series[1], 9 * MS, 1e-4);
    assert_int_equal(f.thread_batches[0], 22);
    assert_int_equal(f.thread_batches[1], 22);
    assert_true(f.shared.series[0].mhz[9] == 1000);
    assert_int_equal(f.fake.n_probes, 23);
    assert_true(f.shared.n_switched <= 2);
}

static void test_golden_team(void **state) {
    (void)state;
    become_team(PS_TEAM_JOIN, 3);
    f.settings.verify_only = true;
    assert_int_equal(fixture_measure(), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(f.thread_batches[i], 1);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void test_error_on_any_thread(void **state) {
    (void)state;
    for (int team = PS_TEAM_WINDOW; team <= PS_TEAM_JOIN; team++) {
        for (f.fail_thread = 0; f.fail_thread < 3; f.fail_thread++) {
            for (f.fail_call = 1; f.fail_call < 80; f.fail_call += 13) {
                become_team((enum ps_team)team, 3);
                memset(f.thread_batches, 0, sizeof(f.thread_batches));
                f.fail_ret = -28;
                f.n_teardown = 0;
                assert_int_equal(fixture_measure(), -28);
                assert_int_equal(f.shared.status, PS_FAILED);
                assert_int_equal(f.shared.error, 28);
                assert_int_equal(f.thread_batches[f.fail_thread], f.fail_call);
                assert_int_equal(f.n_teardown, 1);
                assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 0);
            }
        }
    }
}

static int setup_of_thread_2_fails(struct ps_run *run) {
    return ps_run_thread(run) == 2 ? ps_run_end(run, PS_DENIED, 0, "not for you") : 0;
}

static void test_thread_setup_fails(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 3);
    f.bench.thread_setup = setup_of_thread_2_fails;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_DENIED);
    assert_int_equal(f.n_batch, 0);
    assert_int_equal(f.n_teardown, 1);
}

static int allocate_per_thread(struct ps_run *run) {
    uint8_t *memory = ps_run_alloc(run, 1000, 64);
    assert_non_null(memory);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    memset(memory, 0xee, 1000);
    return 0;
}

static void test_threads_get_memory(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 8);
    f.bench.thread_setup = allocate_per_thread;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 100.0 / 8, 1e-3);
}

static void test_no_team(void **state) {
    (void)state;
    become_team(PS_TEAM_WINDOW, 3);
    ps_fake_port(&f.fake, &f.port);
    f.port.team = NULL;
    assert_true(fixture_measure_on_port() < 0);
    assert_int_equal(f.shared.status, PS_UNSUPPORTED);
    assert_int_equal(f.n_teardown, 1);

    f.fake.team_error = -38; /* ENOSYS */
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_UNSUPPORTED);
    f.fake.team_error = -11;
    assert_int_equal(fixture_measure(), -11);
    assert_int_equal(f.shared.status, PS_FAILED);
    f.fake.team_error = 0;
    f.fake.memory_limit_bytes = 1 << 17; /* enough for the arena, not for the team */
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_SKIPPED);
    become_team(PS_TEAM_WINDOW, FAKE_THREADS + 1);
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_SKIPPED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_window_rates_add_up),
        TEST(test_window_slow_beginner),
        TEST(test_window_long_iterations),
        TEST(test_window_segments_units_and_clock),
        TEST(test_window_switches),
        TEST(test_window_does_nothing),
        TEST(test_join_takes_the_last),
        TEST(test_join_fixed_passes),
        TEST(test_golden_team),
        TEST(test_error_on_any_thread),
        TEST(test_thread_setup_fails),
        TEST(test_threads_get_memory),
        TEST(test_no_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
