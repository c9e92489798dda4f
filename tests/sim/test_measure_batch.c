/* SPDX-License-Identifier: MIT
 *
 * One run on the fake clock: calibration, warm-up, window, segments, baselines, probes.
 */
#include "sim/measure_fixture.h"

static void test_plain(void **state) {
    (void)state;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_samples(series, 100, 1e-3);
    /* 1.1 ms samples for 75 ms. */
    assert_true(series->n >= 60 && series->n <= 76);
    assert_int_equal(f.shared.n_samples, series->n);
    assert_true(f.last_n * 100 >= 1 * MS && f.last_n * 100 <= 2 * MS);
    assert_true(f.shared.timed_ns >= 75 * MS && f.shared.timed_ns < 80 * MS);
    assert_string_equal(f.shared.stop, "time");
    assert_null(series->mhz);
    assert_null(series->baseline);
    assert_null(series->histogram);
    assert_int_equal(f.shared.n_dropped, 0);
    assert_int_equal(f.n_setup, 1);
    assert_int_equal(f.n_thread_setup, 1);
    assert_int_equal(f.n_teardown, 1);
    assert_int_equal(f.n_verify[PS_VERIFY_BEFORE], 1);
    assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 1);
    assert_true(f.fake.n_kicks >= series->n);
    assert_int_equal(f.shared.series[1].n, 0);
    /* Warm-up of 25 ms went before. */
    assert_true((double)f.total_n * 100 > 100 * MS);
}

/* A cold first iteration must not make the samples short. */
static void test_cold_start(void **state) {
    (void)state;
    f.first_extra_ns = 3 * MS;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 100, 1e-3);
    assert_true(f.last_n * 100 >= 1 * MS);
}

/* What is slow only while it is warmed up: the samples are long enough nevertheless. */
static void test_faster_when_warm(void **state) {
    (void)state;
    f.first_extra_ns = 60 * MS; /* taken for an iteration of 60 ms */
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 100, 1e-3);
    assert_true(f.last_n * 100 >= 1 * MS);
}

static void test_fractions_of_ns(void **state) {
    (void)state;
    f.iteration_ns[0] = 0.25;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 0.25, 1e-3);
}

static void test_long_iteration(void **state) {
    (void)state;
    f.iteration_ns[0] = 30 * MS;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.last_n, 1);
    assert_int_equal(f.shared.series[0].n, 3);
    assert_samples(&f.shared.series[0], 30 * MS, 1e-4);
}

static void test_does_nothing(void **state) {
    (void)state;
    f.iteration_ns[0] = 0;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_true(f.last_n == PS_ITERATIONS_MAX);
    assert_int_equal(series->n, PS_SAMPLES_MAX);
    for (unsigned i = 0; i < series->n; i++)
        assert_true(series->samples[i] > 0 && series->samples[i] < series->resolution);
}

static uint64_t units_16(const struct ps_case *c, unsigned segment) {
    assert_ptr_equal(c, &f.c);
    return 16 + segment;
}

static void test_units(void **state) {
    (void)state;
    f.bench.units = units_16;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 100.0 / 16, 1e-3);
    double clock = (1 + 20) / ((double)f.last_n * 16);
    double loop = 1.5 * f.shared.null_ns / 16;
    double expected = clock > loop ? clock : loop;
    assert_true(fabs(f.shared.series[0].resolution / expected - 1) < 1e-9);
}

static const struct ps_segment two_segments[] = {{"a", 0}, {"b", 1}};

static void test_segments(void **state) {
    (void)state;
    f.bench.segments = two_segments;
    f.bench.n_segments = 2;
    f.bench.units = units_16;
    f.iteration_ns[1] = 2000;
    assert_int_equal(fixture_measure(), 0);
    assert_samples(&f.shared.series[0], 100.0 / 16, 1e-3);
    assert_samples(&f.shared.series[1], 2000.0 / 17, 1e-3);
    /* In turn: as many of the one as of the other. */
    assert_int_equal(f.shared.series[0].n, f.shared.series[1].n);
    assert_true(f.shared.timed_ns >= 150 * MS);
}

static void test_fixed_passes(void **state) {
    (void)state;
    f.bench.segments = two_segments;
    f.bench.n_segments = 2;
    f.bench.passes = 10;
    f.bench.passes_dropped = 1;
    f.iteration_ns[0] = 5 * MS;
    f.iteration_ns[1] = 7 * MS;
    f.first_extra_ns = 50 * MS; /* of the pass that is dropped */
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.series[0].n, 10);
    assert_int_equal(f.shared.series[1].n, 10);
    assert_samples(&f.shared.series[0], 5 * MS, 1e-4);
    assert_samples(&f.shared.series[1], 7 * MS, 1e-4);
    assert_int_equal(f.n_batch, 22); /* nothing else was run: no calibration, no warm-up */
    assert_int_equal(f.total_n, 22);
    assert_int_equal(f.shared.n_samples, 20);
    assert_string_equal(f.shared.stop, "fixed");
}

static void test_baseline(void **state) {
    (void)state;
    f.bench.baseline = fixture_baseline;
    f.baseline_ns = 40;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_samples(series, 100, 1e-3);
    for (unsigned i = 0; i < series->n; i++)
        assert_true(fabs(series->baseline[i] / 40 - 1) < 1e-3);
    assert_true(f.n_baseline >= series->n);
    assert_null(series->baseline_mhz);
}

/* The overhead that was measured is larger than the body: the net is negative and stays so; nothing
 * turns into 4294967286. */
static void test_baseline_above_body(void **state) {
    (void)state;
    f.bench.baseline = fixture_baseline;
    f.iteration_ns[0] = 50;
    f.baseline_ns = 60;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    for (unsigned i = 0; i < series->n; i++) {
        double net = series->samples[i] - series->baseline[i];
        assert_true(fabs(net + 10) < 0.1);
    }
}

static void test_baseline_of_nothing(void **state) {
    (void)state;
    f.fake.read_ns = 0;
    f.bench.baseline = fixture_baseline;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_int_equal(f.shared.n_dropped, 0);
    for (unsigned i = 0; i < series->n; i++)
        assert_true(series->baseline[i] > 0 && series->baseline[i] <= series->resolution);
}

static void test_clock_probes(void **state) {
    (void)state;
    static const double mhz[] = {1400, 1400, 1400, 900, 0, 900};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 6;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_true(series->n > 6);
    const double expected[] = {1400, 1400, 1150, 0, 0, 900};
    for (unsigned i = 0; i < 6; i++)
        assert_true(series->mhz[i] == expected[i]);
    assert_int_equal(f.fake.n_probes, series->n + 1);
    assert_true(f.shared.mhz_min == 900 && f.shared.mhz_max == 1400 && f.shared.mhz_median == 900);
}

static void test_clock_probes_with_baseline(void **state) {
    (void)state;
    static const double mhz[] = {1000, 1200, 1400, 1600};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 4;
    f.bench.baseline = fixture_baseline;
    f.baseline_ns = 40;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_true(series->mhz[0] == 1100 && series->baseline_mhz[0] == 1300);
    assert_true(series->mhz[1] == 1500 && series->baseline_mhz[1] == 1600);
    assert_int_equal(f.fake.n_probes, 2 * series->n + 1);
}

/* With a locked clock each sample's clock is that of all: dividing by it changes nothing. */
static void test_locked_clock(void **state) {
    (void)state;
    static const double mhz[] = {1250};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 1;
    assert_int_equal(fixture_measure(), 0);
    for (unsigned i = 0; i < f.shared.series[0].n; i++)
        assert_true(f.shared.series[0].mhz[i] == 1250);
    assert_true(f.shared.mhz_median == 1250 && f.shared.mhz_min == f.shared.mhz_max);
}

static void test_switches(void **state) {
    (void)state;
    f.fake.switch_every_ns = 11 * MS; /* ten samples of 1.1 ms, and a little */
    assert_int_equal(fixture_measure(), 0);
    assert_true(f.shared.n_switched >= 6 && f.shared.n_switched <= 8);
}

static void test_wake_histogram(void **state) {
    (void)state;
    ps_measure_defaults(&f.settings, &f.bench, &f.c, PS_BOUND_WAKE, false);
    f.iteration_ns[0] = 5000;
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[0];
    assert_samples(series, 5000, 1e-3);
    assert_true(series->n >= 14 && series->n <= 16); /* 11 ms samples for 160 ms */
    assert_non_null(series->histogram);
    assert_int_equal(series->histogram->n, 1000);
    assert_int_equal(series->n_events, 1000);
    /* The cost of reading the clock is not in it. */
    assert_int_equal(series->histogram->min, 5000);
    assert_int_equal(series->histogram->max, 5000);
    /* Slow ones are fewer: two windows at most. */
    f.iteration_ns[0] = 20 * MS;
    f.n_batch = f.n_verify[0] = 0;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.series[0].histogram->n, 16);
}

static uint64_t warm_up_ns(void) {
    uint64_t before = f.fake.now_ns;
    assert_int_equal(fixture_measure(), 0);
    return f.fake.now_ns - before - f.shared.timed_ns;
}

static void test_warm_up_of_large_sets(void **state) {
    (void)state;
    uint64_t small = warm_up_ns();
    assert_true(small >= 25 * MS && small < 35 * MS);
    /* A chase: one load is an iteration, two passes over 1 MiB of lines are 2 x 16384 loads. */
    f.c.memory.bytes = 16 << 20;
    uint64_t chase = warm_up_ns();
    assert_true(chase >= 2 * 262144 * 100 && chase < 75 * MS);
    f.c.memory.bytes = 512 << 20;
    f.c.memory.untouched = true;
    uint64_t capped = warm_up_ns();
    assert_true(capped >= 250 * MS && capped < 260 * MS);
    /* An iteration that is a pass is run twice. */
    f.c.memory.bytes = 64 << 20;
    f.iteration_ns[0] = 40 * MS;
    uint64_t passes = warm_up_ns();
    assert_true(passes >= 80 * MS && passes <= 250 * MS);
    f.iteration_ns[0] = 400 * MS;
    assert_true(warm_up_ns() <= 810 * MS); /* a trial and one more */
}

static void test_defaults(void **state) {
    (void)state;
    struct ps_measure_settings s;
    f.bench.events_per_run = 500;
    f.bench.events_per_run_quick = 160;
    ps_measure_defaults(&s, &f.bench, &f.c, PS_BOUND_MEMORY, true);
    assert_true(s.warm_up_ns == 15 * MS && s.window_ns == 40 * MS && s.sample_ns == MS);
    assert_int_equal(s.events, 160);
    assert_int_equal(s.single_events, 0);
    assert_true(s.warm_up_cap_ns == 250 * MS);
    ps_measure_defaults(&s, &f.bench, &f.c, PS_BOUND_WAKE, true);
    assert_true(s.sample_ns == 10 * MS && s.window_ns == 160 * MS && s.single_events == 300);
    f.c.place.threads = 2;
    ps_measure_defaults(&s, &f.bench, &f.c, PS_BOUND_MEMORY, false);
    assert_true(s.sample_ns == 10 * MS && s.window_ns == 160 * MS);
    assert_int_equal(s.events, 500);
    ps_measure_defaults(&s, &f.bench, &f.c, PS_BOUND_CORE, true);
    assert_true(s.sample_ns == 10 * MS && s.window_ns == 80 * MS);
    f.bench.team = PS_TEAM_JOIN;
    ps_measure_defaults(&s, &f.bench, &f.c, PS_BOUND_MEMORY, false);
    assert_true(s.sample_ns == MS && s.window_ns == 75 * MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_plain),
        TEST(test_cold_start),
        TEST(test_faster_when_warm),
        TEST(test_fractions_of_ns),
        TEST(test_long_iteration),
        TEST(test_does_nothing),
        TEST(test_units),
        TEST(test_segments),
        TEST(test_fixed_passes),
        TEST(test_baseline),
        TEST(test_baseline_above_body),
        TEST(test_baseline_of_nothing),
        TEST(test_clock_probes),
        TEST(test_clock_probes_with_baseline),
        TEST(test_locked_clock),
        TEST(test_switches),
        TEST(test_wake_histogram),
        TEST(test_warm_up_of_large_sets),
        TEST(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
