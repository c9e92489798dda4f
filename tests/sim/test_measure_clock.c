/* SPDX-License-Identifier: MIT
 *
 * Clocks that are coarse, step back, wrap or stand still.
 */
#include "sim/measure_fixture.h"

/* Steps of 10 ms: a sample is stretched until it has a hundred. */
static void test_coarse_clock(void **state) {
    (void)state;
    f.fake.step_ns = 10 * MS;
    f.iteration_ns[0] = 1234;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    double sample_ns = (double)f.last_n * 1234;
    assert_true(sample_ns >= 100.0 * 10 * MS && sample_ns <= 2.1e9);
    assert_samples(series, 1234, 0.011); /* a step at each end */
    assert_true(series->resolution >= 10.0 * MS / (double)f.last_n);
}

static void test_fine_clock_is_stretched_to_1000_steps(void **state) {
    (void)state;
    assert_int_equal(ps_sample_target_ns(&(struct ps_port){.resolution_ns = 1}, MS), MS);
    assert_int_equal(ps_sample_target_ns(&(struct ps_port){.resolution_ns = 30517}, MS), 30517000);
    assert_int_equal(ps_sample_target_ns(&(struct ps_port){.resolution_ns = 10 * MS}, MS),
                     1000 * MS);
    assert_int_equal(ps_sample_target_ns(&(struct ps_port){.resolution_ns = 100 * MS}, MS),
                     10000 * MS);
    f.fake.step_ns = 30517; /* 32768 Hz */
    assert_int_equal(fixture_measure(), 0);
    assert_true(f.last_n * 100 >= 1000 * 30517);
    assert_samples(&f.shared.series[0], 100, 0.0021);
}

/* The same coarse clock over nothing at all: no sample can be seen, the bound is what is kept. */
static void test_coarse_clock_over_nothing(void **state) {
    (void)state;
    f.fake.step_ns = 10 * MS;
    f.iteration_ns[0] = 0;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_true(series->n > 0);
    for (unsigned i = 0; i < series->n; i++)
        assert_true(series->samples[i] > 0 && series->samples[i] <= series->resolution);
}

static void test_backward_step(void **state) {
    (void)state;
    f.fake.backward_at_ns = f.fake.now_ns + 60 * MS; /* after warm-up, inside the window */
    f.fake.backward_by_ns = 5 * MS;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.n_dropped, 1);
    assert_samples(&f.shared.series[0], 100, 1e-3);
    assert_int_equal(f.shared.n_samples, f.shared.series[0].n);
}

/* At any moment of a run a step back costs at most a sample, and never makes a time of its own. */
static void test_backward_step_anywhere(void **state) {
    (void)state;
    for (uint64_t at_ns = 0; at_ns < 120 * MS; at_ns += 370123) {
        fixture_begin(NULL);
        f.bench.baseline = fixture_baseline;
        f.baseline_ns = 50;
        f.fake.backward_at_ns = f.fake.now_ns + at_ns;
        f.fake.backward_by_ns = 1000 * MS;
        assert_int_equal(fixture_measure(), 0);
        assert_true(f.shared.n_dropped <= 1);
        assert_samples(&f.shared.series[0], 100, 1e-3);
        assert_true(f.last_n * 100 >= 9 * MS / 10);
        fixture_end(NULL);
        f.scratch = NULL;
    }
    fixture_begin(NULL);
}

/* A counter of 32 bits wraps at 4.29 s of ns. */
static void test_wrap(void **state) {
    (void)state;
    f.fake.counter_bits = 32;
    f.fake.now_ns = UINT64_C(0xffffffff) - 70 * MS;
    assert_int_equal(fixture_measure(), 0);
    assert_true(f.fake.now_ns > UINT64_C(0x100000000));
    assert_int_equal(f.shared.n_dropped, 0);
    assert_samples(&f.shared.series[0], 100, 1e-3);
    assert_true(f.shared.timed_ns >= 75 * MS && f.shared.timed_ns < 80 * MS);

    /* Many wraps of 24 bits, 17 ms each. */
    f.fake.counter_bits = 24;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.n_dropped, 0);
    assert_samples(&f.shared.series[0], 100, 1e-3);
}

static void test_clock_stands_still(void **state) {
    (void)state;
    f.fake.stopped = true;
    f.iteration_ns[0] = 0; /* or it would not end: 2^40 iterations are asked for */
    assert_int_equal(fixture_measure(), 0);
    assert_true(f.last_n == PS_ITERATIONS_MAX);
    for (unsigned i = 0; i < f.shared.series[0].n; i++)
        assert_true(f.shared.series[0].samples[i] <= f.shared.series[0].resolution);

    /* Where the number of passes is fixed there is no bound to state: no number at all. */
    f.bench.passes = 10;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_FAILED);
    assert_int_equal(f.shared.n_dropped, 10);
    assert_int_equal(f.shared.series[0].n, 0);
    assert_int_equal(f.n_teardown, 2);
}

static void test_null_loop(void **state) {
    (void)state;
    f.fake.stopped = true;
    ps_fake_port(&f.fake, &f.port);
    assert_true(ps_null_loop_ns(&f.port) == 0);
    f.fake.stopped = false;
    /* On a clock that moves by its reading only, a turn costs nearly nothing. */
    double null_ns = ps_null_loop_ns(&f.port);
    assert_true(null_ns > 0 && null_ns < 20.0 / 16384);
}

static int try_constant(void *context, uint64_t n, uint64_t *ret_ns) {
    *ret_ns = (uint64_t)((double)n * *(double *)context);
    return 0;
}

static int try_noisy(void *context, uint64_t n, uint64_t *ret_ns) {
    static const double factors[] = {1, 9, 0.2, 3, 1, 0.1, 30, 2};
    unsigned *call = context;
    *ret_ns = (uint64_t)((double)n * 10 * factors[(*call)++ % 8]);
    return 0;
}

static int try_failing(void *context, uint64_t n, uint64_t *ret_ns) {
    (void)context;
    *ret_ns = n;
    return n > 100 ? -5 : 0;
}

static void test_calibration(void **state) {
    (void)state;
    ps_fake_port(&f.fake, &f.port);
    uint64_t n, time_ns;
    for (double each_ns = 0.001; each_ns < 1e8; each_ns *= 1.7) {
        assert_int_equal(ps_calibrate_trials(&f.port, MS, try_constant, &each_ns, &n, &time_ns), 0);
        assert_true(n >= 1 && (double)n * each_ns >= 0.9e6);
        assert_true(n == 1 || (double)n * each_ns <= 2.2e6);
        assert_true(fabs((double)time_ns - (double)n * each_ns) <= 1);
    }
    double nothing = 0;
    assert_int_equal(ps_calibrate_trials(&f.port, MS, try_constant, &nothing, &n, &time_ns), 0);
    assert_true(n == PS_ITERATIONS_MAX && time_ns == 0);
    unsigned call = 0;
    assert_int_equal(ps_calibrate_trials(&f.port, MS, try_noisy, &call, &n, &time_ns), 0);
    assert_true(n >= 1 && call < 64);
    assert_int_equal(ps_calibrate_trials(&f.port, MS, try_failing, NULL, &n, &time_ns), -5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_coarse_clock),
        TEST(test_fine_clock_is_stretched_to_1000_steps),
        TEST(test_coarse_clock_over_nothing),
        TEST(test_backward_step),
        TEST(test_backward_step_anywhere),
        TEST(test_wrap),
        TEST(test_clock_stands_still),
        TEST(test_null_loop),
        TEST(test_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
