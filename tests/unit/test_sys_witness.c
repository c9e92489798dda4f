/* SPDX-License-Identifier: MIT
 *
 * Witnesses: what is read, what lies between two readings, and when a run counts as disturbed.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/witness.h"
#include "unit/fake_root.h"

static void test_read_fake(void **state) {
    struct fake_root root;
    struct ps_cpu_set set;
    struct ps_witness w;
    (void)state;
    fake_root_init(&root);
    assert_int_equal(ps_cpu_list_parse("2,5", &set), 0);
    /* Nothing to read: unknown, not 0. */
    ps_witness_read(root.path, &set, &w);
    assert_true(w.queue_ns == UINT64_MAX);
    assert_true(w.busy_ticks == UINT64_MAX);
    assert_true(w.steal_ticks == UINT64_MAX);
    assert_int_equal(w.throttled, -1);
    assert_true(w.temp_c < 0);
    assert_int_equal(w.n_cpus, 2);

    fake_file(&root, "123456 7890 12\n", "/proc/self/schedstat");
    fake_file(&root, "cpu2 0 0 0 10 0 0 0 3\ncpu3 0 0 0 0 0 0 0 99\ncpu5 0 0 0 10 0 0 0 4\n",
              "/proc/stat");
    fake_file(&root, "48500\n", "/sys/class/thermal/thermal_zone0/temp");
    fake_file(&root, "61250\n", "/sys/class/thermal/thermal_zone7/temp");
    fake_file(&root, "-274000\n", "/sys/class/thermal/thermal_zone8/temp");
    fake_file(&root, "255000\n", "/sys/class/thermal/thermal_zone9/temp");
    fake_file(&root, "99000\n", "/sys/class/thermal/cooling_device0/temp");
    fake_file(&root, "5\n", "/sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count");
    fake_file(&root, "2\n", "/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count");
    fake_file(&root, "1\n", "/sys/devices/system/cpu/cpu5/thermal_throttle/core_throttle_count");
    fake_file(&root, "cgroup2 /cg cgroup2 rw 0 0\n", "/proc/self/mounts");
    fake_file(&root, "0::/box\n", "/proc/self/cgroup");
    fake_file(&root, "usage_usec 12\nnr_periods 100\nnr_throttled 40\n", "/cg/box/cpu.stat");
    ps_witness_read(root.path, &set, &w);
    assert_true(w.queue_ns == 7890);
    assert_true(w.steal_ticks == 7);
    assert_true(fabs(w.temp_c - 61.25) < 1e-9);
    assert_int_equal(w.throttled, 48);
    /* All threads, where the kernel lists them. */
    fake_file(&root, "1 1000 1\n", "/proc/self/task/10/schedstat");
    fake_file(&root, "1 500 1\n", "/proc/self/task/11/schedstat");
    ps_witness_read(root.path, &set, &w);
    assert_true(w.queue_ns == 1500);
    /* A CPU went offline. */
    fake_file(&root, "cpu2 0 0 0 10 0 0 0 3\n", "/proc/stat");
    ps_witness_read(root.path, &set, &w);
    assert_true(w.busy_ticks == UINT64_MAX);
    fake_root_done(&root);
}

static const struct ps_witness known = {.at_ns = 1000000000,
                                        .queue_ns = 10,
                                        .steal_ticks = 5,
                                        .busy_ticks = 1000,
                                        .own_ns = 7,
                                        .nivcsw = 3,
                                        .throttled = 9,
                                        .temp_c = 40,
                                        .n_cpus = 1};

static void test_between(void **state) {
    struct ps_witness after = known;
    struct ps_witness_numbers n;
    (void)state;
    after.at_ns += 200000000;
    after.queue_ns += 20000000;
    after.steal_ticks += 1;
    after.busy_ticks += 20;
    after.own_ns += 150000000;
    after.nivcsw += 4;
    after.throttled += 2;
    after.temp_c = 41;
    ps_witness_between(&known, &after, 100, &n);
    assert_true(fabs(n.queue_pct - 10) < 1e-9);
    assert_true(fabs(n.steal_pct - 5) < 1e-9);
    assert_true(fabs(n.foreign_pct - 25) < 1e-9);
    assert_int_equal(n.nivcsw, 4);
    assert_int_equal(n.throttled, 2);
    assert_true(n.temp_before_c == 40 && n.temp_after_c == 41);

    after.own_ns += 35000000; /* 15 ms are left: one tick and a half may be the counter's step */
    ps_witness_between(&known, &after, 100, &n);
    assert_true(n.foreign_pct == 0);
    after.own_ns += 90000000; /* never negative */
    ps_witness_between(&known, &after, 100, &n);
    assert_true(n.foreign_pct == 0);
}

static void test_between_many_cpus(void **state) {
    struct ps_witness before = known, after = known;
    struct ps_witness_numbers n;
    (void)state;
    before.n_cpus = after.n_cpus = 4;
    before.busy_ticks = (uint64_t)-50; /* only differences mean something */
    after.busy_ticks = 30;
    after.at_ns += 1000000000;
    after.own_ns += 400000000;
    after.queue_ns += 400000000;
    ps_witness_between(&before, &after, 100, &n);
    assert_true(fabs(n.foreign_pct - 10) < 1e-9);
    assert_true(fabs(n.queue_pct - 10) < 1e-9);
    after.own_ns += 370000000; /* 3 ticks on 4 CPUs */
    ps_witness_between(&before, &after, 100, &n);
    assert_true(n.foreign_pct == 0);
}

static void test_between_unknown(void **state) {
    struct ps_witness before = known, after = known;
    struct ps_witness_numbers n;
    (void)state;
    before.queue_ns = before.busy_ticks = before.steal_ticks = UINT64_MAX;
    before.throttled = before.nivcsw = -1;
    before.temp_c = -1;
    after.at_ns += 1000;
    ps_witness_between(&before, &after, 100, &n);
    assert_true(n.queue_pct < 0 && n.steal_pct < 0 && n.foreign_pct < 0);
    assert_true(n.nivcsw < 0 && n.throttled < 0 && n.temp_before_c < 0);
    assert_null(ps_witness_disturbed(&n, false, 0, 0));
    assert_null(ps_witness_disturbed(&n, true, 75, 0));
    ps_witness_between(&known, &known, 100, &n); /* no time passed */
    assert_true(n.queue_pct < 0 && n.steal_pct < 0 && n.foreign_pct < 0);
}

static void test_disturbed(void **state) {
    struct ps_witness_numbers n = {.queue_pct = 5, .steal_pct = 1, .foreign_pct = 5};
    (void)state;
    assert_null(ps_witness_disturbed(&n, false, 10, 5));
    assert_null(ps_witness_disturbed(&n, true, 10, 10));
    assert_non_null(ps_witness_disturbed(&n, false, 10, 6));
    n.queue_pct = 5.1;
    assert_non_null(ps_witness_disturbed(&n, false, 10, 0));
    assert_null(ps_witness_disturbed(&n, true, 10, 0));
    n.queue_pct = 0;
    n.foreign_pct = 5.1;
    assert_null(ps_witness_disturbed(&n, false, 10, 0));
    assert_non_null(ps_witness_disturbed(&n, true, 10, 0));
    n.foreign_pct = 0;
    n.steal_pct = 1.1;
    assert_non_null(ps_witness_disturbed(&n, false, 10, 0));
    assert_non_null(ps_witness_disturbed(&n, true, 10, 0));
    n.steal_pct = 0;
    n.throttled = 1;
    assert_non_null(ps_witness_disturbed(&n, false, 10, 0));
}

static uint64_t waited_ns(const struct ps_cpu_set *set) {
    struct ps_witness w;
    ps_witness_read("", set, &w);
    return w.queue_ns;
}

static void *spin(void *cpu) {
    ps_pin_to_cpu(*(unsigned *)cpu);
    for (uint64_t end_ns = ps_now_ns() + 60000000; ps_now_ns() < end_ns;) {
    }
    ps_witness_thread_done();
    return NULL;
}

/* Two threads on one CPU wait for each other; what they waited is known when they are gone. */
static void test_threads_that_ended(void **state) {
    struct ps_cpu_set allowed, set;
    pthread_t threads[2];
    (void)state;
    assert_int_equal(ps_affinity_get(&allowed), 0);
    unsigned cpu = (unsigned)ps_cpu_set_next(&allowed, 0);
    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, cpu);
    uint64_t before_ns = waited_ns(&set);
    if (before_ns == UINT64_MAX) {
        skip(); /* a kernel without schedstat */
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, spin, &cpu), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    /* Together they wanted twice the time that there was: one of them waited for about half. */
    assert_true(waited_ns(&set) - before_ns > 20000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_fake),         cmocka_unit_test(test_between),
        cmocka_unit_test(test_between_many_cpus), cmocka_unit_test(test_between_unknown),
        cmocka_unit_test(test_disturbed),         cmocka_unit_test(test_threads_that_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
