/* SPDX-License-Identifier: MIT
 *
 * Teams on real threads and a real clock, for races that simulated time cannot have. Nothing here
 * depends on how long anything takes.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "sim/measure_fixture.h"

struct start {
    void (*function)(void *argument, unsigned i);
    void *argument;
    unsigned i;
};

static void *run_thread(void *argument) {
    const struct start *start = argument;
    start->function(start->argument, start->i);
    return NULL;
}

static int real_team(void *self, unsigned n, const int *cpus,
                     void (*function)(void *argument, unsigned i), void *argument) {
    pthread_t threads[FAKE_THREADS];
    struct start starts[FAKE_THREADS];
    (void)self;
    (void)cpus;
    for (unsigned i = 1; i < n; i++) {
        starts[i] = (struct start){function, argument, i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &starts[i]), 0);
    }
    function(argument, 0);
    for (unsigned i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static uint64_t real_now_ns(void *self) {
    struct timespec now;
    (void)self;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void real_relax(void *self) {
    (void)self;
    sched_yield();
}

static unsigned fail_thread, fail_after;

static int real_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    static unsigned calls[FAKE_THREADS][16]; /* a line each */
    unsigned thread = ps_run_thread(run);
    for (uint64_t i = 0; i < n; i++)
        PS_KEEP(i);
    if (segment == 1)
        ps_run_mark(run, PS_Q_NOISY);
    if (fail_after == 0 || thread != fail_thread || ++calls[thread][0] < fail_after)
        return 0;
    calls[thread][0] = 0;
    return -5;
}

static void become_real(enum ps_team team) {
    static const struct ps_segment segments[] = {{"a", 0}, {"b", 1}};
    f.bench.batch = real_batch;
    f.bench.team = team;
    f.bench.segments = segments;
    f.bench.n_segments = 2;
    f.c.place.threads = 4;
    fail_after = 0;
    f.settings.sample_ns = MS;
    f.settings.window_ns = 5 * MS;
    f.settings.warm_up_ns = MS;
    ps_fake_port(&f.fake, &f.port);
    f.port.team = real_team;
    f.port.now_ns = real_now_ns;
    f.port.relax = real_relax;
}

static void measure_well(enum ps_team team) {
    become_real(team);
    assert_int_equal(fixture_measure_on_port(), 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct ps_series *series = &f.shared.series[i];
        assert_true(series->n > 0);
        for (unsigned j = 0; j < series->n; j++)
            assert_true(series->samples[j] > 0 && isfinite(series->samples[j]));
    }
    assert_int_equal(f.shared.quality, PS_Q_NOISY);
    assert_int_equal(f.shared.n_samples, f.shared.series[0].n + f.shared.series[1].n);
}

static void test_window(void **state) {
    (void)state;
    measure_well(PS_TEAM_WINDOW);
}

static void test_join(void **state) {
    (void)state;
    measure_well(PS_TEAM_JOIN);
}

static void test_errors(void **state) {
    (void)state;
    for (fail_thread = 0; fail_thread < 4; fail_thread++) {
        for (int team = PS_TEAM_WINDOW; team <= PS_TEAM_JOIN; team++) {
            become_real((enum ps_team)team);
            fail_after = 2;
            assert_int_equal(fixture_measure_on_port(), -5);
            assert_int_equal(f.shared.status, PS_FAILED);
            assert_int_equal(f.shared.error, 5);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_window), TEST(test_join), TEST(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
