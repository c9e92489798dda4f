/* SPDX-License-Identifier: MIT
 *
 * Cutting a team's window into slices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "core/window.h"

#define MS 1000000u

/* A thread that does `rate` iterations a ms in entries of `entry_ns`, from start to stop. */
static void steady(struct ps_window_log *log, struct ps_window_entry *entries, unsigned capacity,
                   uint64_t start_ns, uint64_t stop_ns, uint64_t entry_ns, uint64_t rate) {
    ps_window_log_init(log, entries, capacity, start_ns, 0);
    uint64_t time_ns = start_ns;
    while (time_ns + entry_ns < stop_ns) {
        time_ns += entry_ns;
        ps_window_log_add(log, time_ns, (time_ns - start_ns) / MS * rate, 0);
    }
    ps_window_log_finish(log, stop_ns, (stop_ns - start_ns) / MS * rate, 0);
}

static void test_two_rates_add_up(void **state) {
    (void)state;
    struct ps_window_entry entries[2][256];
    struct ps_window_log logs[2];
    struct ps_window_slice slices[20];
    steady(&logs[0], entries[0], 256, 100 * MS, 260 * MS, 1 * MS, 1000);
    steady(&logs[1], entries[1], 256, 100 * MS, 263 * MS, 3 * MS, 400);
    assert_int_equal(ps_window_cut(logs, 2, 0, 10 * MS, slices, 20), 16);
    for (unsigned i = 0; i < 16; i++) {
        assert_true(fabs(slices[i].iterations - 14000) < 1e-6);
        assert_false(slices[i].switched);
    }
    assert_int_equal(ps_window_cut(logs, 2, 0, 10 * MS, slices, 5), 5);
    assert_int_equal(ps_window_cut(logs, 2, 25 * MS, 10 * MS, slices, 20), 13);
}

/* Only the time in which all of them work counts: from the last start to the first stop. */
static void test_late_start_and_early_stop(void **state) {
    (void)state;
    struct ps_window_entry entries[2][256];
    struct ps_window_log logs[2];
    struct ps_window_slice slices[20];
    steady(&logs[0], entries[0], 256, 0, 100 * MS, 1 * MS, 1000);
    steady(&logs[1], entries[1], 256, 37 * MS, 200 * MS, 1 * MS, 1000);
    assert_int_equal(ps_window_cut(logs, 2, 0, 10 * MS, slices, 20), 6);
    for (unsigned i = 0; i < 6; i++)
        assert_true(fabs(slices[i].iterations - 20000) < 1e-6);
    steady(&logs[1], entries[1], 256, 100 * MS, 200 * MS, 1 * MS, 1000);
    assert_int_equal(ps_window_cut(logs, 2, 0, 10 * MS, slices, 20), 0);
    assert_int_equal(ps_window_cut(logs, 2, 500 * MS, 10 * MS, slices, 20), 0);
}

/* One iteration of 25 ms: its parts belong to the slices it lies in. */
static void test_long_iterations(void **state) {
    (void)state;
    struct ps_window_entry entries[64];
    struct ps_window_log log;
    struct ps_window_slice slices[20];
    ps_window_log_init(&log, entries, 64, 0, 0);
    for (uint64_t i = 1; i <= 4; i++)
        ps_window_log_add(&log, i * 25 * MS, i, 0);
    assert_int_equal(ps_window_cut(&log, 1, 0, 10 * MS, slices, 20), 10);
    for (unsigned i = 0; i < 10; i++)
        assert_true(fabs(slices[i].iterations - 0.4) < 1e-9);
    assert_true(ps_window_iterations_at(&log, 0) == 0);
    assert_true(ps_window_iterations_at(&log, 100 * MS) == 4);
    assert_true(ps_window_iterations_at(&log, 500 * MS) == 4);
}

static void test_log_is_thinned(void **state) {
    (void)state;
    struct ps_window_entry entries[16];
    struct ps_window_log log;
    struct ps_window_slice slices[20];
    steady(&log, entries, 16, 50 * MS, 1050 * MS, 1 * MS, 100);
    assert_true(log.n <= 16 && log.n >= 8);
    assert_true(entries[0].time_ns == 50 * MS && entries[0].iterations == 0);
    assert_true(entries[log.n - 1].time_ns == 1050u * MS &&
                entries[log.n - 1].iterations == 100000);
    assert_int_equal(ps_window_cut(&log, 1, 0, 100 * MS, slices, 20), 10);
    for (unsigned i = 0; i < 10; i++)
        assert_true(fabs(slices[i].iterations - 10000) < 1e-6);
}

static void test_switches(void **state) {
    (void)state;
    struct ps_window_entry entries[64];
    struct ps_window_log log;
    struct ps_window_slice slices[20];
    ps_window_log_init(&log, entries, 64, 0, 7);
    for (uint64_t i = 1; i <= 40; i++) /* switched in the fifteenth ms */
        ps_window_log_add(&log, i * MS, i * 10, i < 15 ? 7 : 8);
    assert_int_equal(ps_window_cut(&log, 1, 0, 10 * MS, slices, 20), 4);
    assert_false(slices[0].switched);
    assert_true(slices[1].switched);
    assert_false(slices[2].switched);
    assert_false(slices[3].switched);
}

static void test_clock_steps_back(void **state) {
    (void)state;
    struct ps_window_entry entries[64];
    struct ps_window_log log;
    struct ps_window_slice slices[20];
    ps_window_log_init(&log, entries, 64, 100 * MS, 0);
    for (uint64_t i = 1; i <= 20; i++)
        ps_window_log_add(&log, (100 + i) * MS, i * 10, 0);
    for (uint64_t i = 21; i <= 41; i++) /* by 30 ms */
        ps_window_log_add(&log, (70 + i) * MS, i * 10, 0);
    assert_int_equal(log.n_backward, 1);
    for (unsigned i = 1; i < log.n; i++)
        assert_true(entries[i].time_ns >= entries[i - 1].time_ns);
    /* 41 entries in 40 ms: the one whose length is not known has none. */
    assert_int_equal(ps_window_cut(&log, 1, 0, 10 * MS, slices, 20), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(slices[i].iterations > 99 && slices[i].iterations < 111);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_rates_add_up), cmocka_unit_test(test_late_start_and_early_stop),
        cmocka_unit_test(test_long_iterations),  cmocka_unit_test(test_log_is_thinned),
        cmocka_unit_test(test_switches),         cmocka_unit_test(test_clock_steps_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
