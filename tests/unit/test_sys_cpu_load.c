/* SPDX-License-Identifier: MIT
 *
 * CPU load from pairs of /proc/stat, and that the soak tells busy from idle.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/cpu_load.h"
#include "unit/fake_root.h"

#define SECOND UINT64_C(1000000000)

static struct ps_load load;

/* The load between two texts that are `wall_ns` apart, at 100 ticks a second. */
static int between(const char *before, const char *after, uint64_t wall_ns, const char *cpus) {
    struct fake_root root;
    struct ps_load_snapshot first, second;
    struct ps_cpu_set set;
    fake_root_init(&root);
    fake_file(&root, before, "/proc/stat");
    assert_int_equal(ps_load_snapshot(root.path, 5 * SECOND, &first), 0);
    fake_file(&root, after, "/proc/stat");
    assert_int_equal(ps_load_snapshot(root.path, 5 * SECOND + wall_ns, &second), 0);
    if (cpus != NULL) {
        assert_int_equal(ps_cpu_list_parse(cpus, &set), 0);
    }
    int r = ps_load_between(&first, &second, cpus == NULL ? NULL : &set, 100, &load);
    ps_load_snapshot_done(&first);
    ps_load_snapshot_done(&second);
    fake_root_done(&root);
    return r;
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-6)) {
        fail_msg("%g instead of %g", value, expected);
    }
}

static void test_by_idle_not_by_ticks(void **state) {
    (void)state;
    /* The tick saw nobody work, and yet half of the time was not idle. */
    assert_int_equal(
        between("cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 10 0 10 1000 50 1 1 0 0 0\nintr 5 1 2\n",
                "cpu 9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 10 1080 70 2 1 0 0 0\nintr 9 3 3\n", 2 * SECOND,
                NULL),
        0);
    assert_near(load.all_pct, 50);
    assert_near(load.busiest_pct, 50);
    assert_near(load.user_pct, 0);
    assert_near(load.irq_pct, 0.5);
    assert_false(load.low_confidence);
    assert_false(load.clamped);
    assert_false(load.tick_sampled_irq);
}

static void test_softirq_counts(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 100 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\n",
                             "cpu0 5 0 5 110 0 0 80 0\ncpu1 0 0 0 200 0 0 0 0\n", SECOND, NULL),
                     0);
    assert_near(load.all_pct, 45);
    assert_near(load.busiest_pct, 90);
    assert_int_equal(load.busiest_cpu, 0);
    assert_near(load.softirq_pct, 40);
    assert_near(load.user_pct, 2.5);
    assert_near(load.system_pct, 2.5);
}

static void test_steal(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 0 0 0 0 7\n", "cpu0 0 0 0 60 0 0 0 47\n", SECOND, NULL),
                     0);
    assert_near(load.all_pct, 40);
    assert_near(load.steal_pct, 40);
}

static void test_no_irq_accounting(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 0 0 0 0 0\nintr 100 3\n",
                             "cpu0 0 0 50 50 0 0 0 0\nintr 90000 3\n", SECOND, NULL),
                     0);
    assert_true(load.tick_sampled_irq);
    assert_near(load.all_pct, 50);
}

static void test_backward_idle(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 500 5 0 0 0\n", "cpu0 9 0 0 480 5 0 0 0\n", SECOND, NULL),
                     0);
    assert_true(load.clamped);
    assert_near(load.all_pct, 100);
    /* Time that moved from one kind of idle to the other is no load. */
    assert_int_equal(
        between("cpu0 0 0 0 500 40 0 0 0\n", "cpu0 0 0 0 610 30 0 0 0\n", SECOND, NULL), 0);
    assert_true(load.clamped);
    assert_near(load.all_pct, 0);
    /* Other columns that go backwards are not negative times. */
    assert_int_equal(between("cpu0 9 0 9 0 0 9 9 9\n", "cpu0 0 0 0 100 0 0 0 0\n", SECOND, NULL),
                     0);
    assert_near(load.steal_pct, 0);
    assert_near(load.user_pct + load.system_pct + load.irq_pct + load.softirq_pct, 0);
}

static void test_idle_by_a_tick_more_than_wall(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 0 0 0 0 0\n", "cpu0 0 0 0 101 0 0 0 0\n", SECOND, NULL),
                     0);
    assert_near(load.all_pct, 0);
    assert_near(load.busiest_pct, 0);
    assert_false(load.clamped);
}

static void test_hotplug_and_sets(void **state) {
    static const char before[] =
        "cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu9 0 0 0 0 0 0 0 0\n";
    static const char after[] =
        "cpu0 0 0 0 90 0 0 0 0\ncpu9 0 0 0 30 0 0 0 0\ncpu12 0 0 0 5 0 0 0 0\n";
    (void)state;
    assert_int_equal(between(before, after, SECOND, NULL), 0);
    assert_near(load.all_pct, 40); /* CPU 1 is gone and 12 came: neither was there throughout */
    assert_near(load.busiest_pct, 70);
    assert_int_equal(load.busiest_cpu, 9);
    assert_int_equal(between(before, after, SECOND, "0-8"), 0);
    assert_near(load.all_pct, 10);
    assert_int_equal(between(before, after, SECOND, "1,12"), -EINVAL);
    assert_int_equal(between(before, after, 0, NULL), -EINVAL);
}

static void test_short_window(void **state) {
    (void)state;
    assert_int_equal(between("cpu0 0 0 0 0 0 0 0 0\n", "cpu0 0 0 0 49 0 0 0 0\n", 980000000, NULL),
                     0);
    assert_near(load.all_pct, 50);
    assert_true(load.low_confidence);
}

static void test_many_cpus(void **state) {
    enum { N = 1024, LINE = 40 };
    char *before = malloc(N * LINE + 100000), *after = malloc(N * LINE + 1000);
    size_t b = 0, a = 0;
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        b += (size_t)sprintf(before + b, "cpu%u 1 2 3 1000 0 0 0 0 0 0\n", i);
        a += (size_t)sprintf(after + a, "cpu%u 1 2 3 %u 0 0 0 0 0 0\n", i, i == 777 ? 1010 : 1100);
    }
    b += (size_t)sprintf(before + b, "intr 12");
    for (unsigned i = 0; i < 20000; i++) {
        b += (size_t)sprintf(before + b, " 0");
    }
    sprintf(before + b, "\nctxt 4\n");
    assert_int_equal(between(before, after, SECOND, NULL), 0);
    assert_near(load.all_pct, 90.0 / N);
    assert_near(load.busiest_pct, 90);
    assert_int_equal(load.busiest_cpu, 777);
    free(before);
    free(after);
}

static void test_old_kernels_and_nonsense(void **state) {
    struct fake_root root;
    struct ps_load_snapshot snapshot;
    (void)state;
    fake_root_init(&root);
    assert_int_equal(ps_load_snapshot(root.path, 1, &snapshot), -ENOENT);
    fake_file(&root, "cpux 1\nintr\n", "/proc/stat");
    assert_int_equal(ps_load_snapshot(root.path, 1, &snapshot), -EINVAL);
    fake_file(&root, "cpu99999 1 2 3 4\ncpu2 7 8 9 10\n", "/proc/stat");
    assert_int_equal(ps_load_snapshot(root.path, 1, &snapshot), 0);
    assert_int_equal(snapshot.n_cpus, 3);
    assert_false(snapshot.cpus[0].present);
    assert_int_equal(snapshot.cpus[2].idle, 10);
    assert_int_equal(snapshot.cpus[2].steal, 0);
    ps_load_snapshot_done(&snapshot);
    fake_root_done(&root);
}

static void test_this_machine(void **state) {
    struct ps_load_snapshot first, second;
    struct timespec nap = {.tv_nsec = 50000000};
    (void)state;
    assert_int_equal(ps_load_snapshot("", 0, &first), 0);
    nanosleep(&nap, NULL);
    assert_int_equal(ps_load_snapshot("", 0, &second), 0);
    assert_true(second.at_ns > first.at_ns);
    assert_int_equal(ps_load_between(&first, &second, NULL, 100, &load), 0);
    assert_true(load.all_pct >= 0 && load.all_pct <= load.busiest_pct && load.busiest_pct <= 100);
    assert_true(load.low_confidence);
    ps_load_snapshot_done(&first);
    ps_load_snapshot_done(&second);
}

/* ---- Soak ----------------------------------------------------------------------------------- */

static atomic_bool stop;

static void *spin(void *cpu) {
    ps_pin_to_cpu((unsigned)*(int *)cpu);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    }
    return NULL;
}

static void test_soak(void **state) {
    struct ps_cpu_set allowed, set;
    struct ps_soak *soak;
    struct timespec nap = {.tv_nsec = 200000000};
    double all_pct = -1, busiest_pct = -1;
    pthread_t thread;
    (void)state;
    ps_cpu_set_clear(&set);
    assert_int_equal(ps_soak_new(&set, 0, &soak), -EINVAL);
    assert_int_equal(ps_affinity_get(&allowed), 0);
    int cpu = ps_cpu_set_next(&allowed, 0), r = -EBUSY;
    while (cpu >= 0 && r == -EBUSY) { /* one that has nothing to do */
        ps_cpu_set_clear(&set);
        ps_cpu_set_add(&set, (unsigned)cpu);
        r = ps_soak_new(&set, 200000000, &soak);
        if (r == -EBUSY) {
            cpu = ps_cpu_set_next(&allowed, (unsigned)cpu + 1);
        }
    }
    if (r == -EBUSY || r == -EPERM) {
        skip(); /* others keep all CPUs busy, or a sandbox without scheduling classes */
    }
    assert_int_equal(r, 0);
    assert_int_equal(ps_soak_end(soak, &all_pct, &busiest_pct), -EINVAL); /* not begun */
    assert_int_equal(pthread_create(&thread, NULL, spin, &cpu), 0);
    nanosleep(&nap, NULL);
    assert_int_equal(ps_soak_begin(soak), 0);
    nanosleep(&nap, NULL);
    assert_int_equal(ps_soak_end(soak, &all_pct, &busiest_pct), 0);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ps_soak_free(soak);
    /* Whoever else runs there, a spinning thread leaves the idle class nothing. */
    assert_true(busiest_pct > 90 && busiest_pct <= 100);
    assert_near(all_pct, busiest_pct);

    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, PS_CPU_MAX - 1); /* no such CPU */
    assert_int_equal(ps_soak_new(&set, 0, &soak), -EINVAL);
    ps_soak_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_idle_not_by_ticks),
        cmocka_unit_test(test_softirq_counts),
        cmocka_unit_test(test_steal),
        cmocka_unit_test(test_no_irq_accounting),
        cmocka_unit_test(test_backward_idle),
        cmocka_unit_test(test_idle_by_a_tick_more_than_wall),
        cmocka_unit_test(test_hotplug_and_sets),
        cmocka_unit_test(test_short_window),
        cmocka_unit_test(test_many_cpus),
        cmocka_unit_test(test_old_kernels_and_nonsense),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_soak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
