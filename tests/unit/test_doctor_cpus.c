/* SPDX-License-Identifier: MIT
 *
 * The doctor's checks of CPUs and of who else uses them: a good, a bad and an absent case each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "doctor/finding.h"
#include "unit/doctor_fixture.h"

static void test_quota_v2(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("quota", PS_UNKNOWN, "no CPU control group", NULL);
    fake_file(&root, "0::/job\n", "/proc/self/cgroup");
    fake_file(&root, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "/proc/self/mounts");
    fake_file(&root, "max 100000\n", "/sys/fs/cgroup/job/cpu.max");
    describe(NULL, NULL);
    expect_found("quota", PS_GOOD, "no control group limits", NULL);
    fake_file(&root, "400000 100000\n", "/sys/fs/cgroup/job/cpu.max");
    describe(NULL, NULL);
    expect_found("quota", PS_GOOD, "4.00 covers the 2", NULL);
    fake_file(&root, "150000 100000\n", "/sys/fs/cgroup/job/cpu.max");
    describe(NULL, NULL);
    expect_found("quota", PS_BAD, "1.50 CPUs, of 2",
                 "echo max | sudo tee /sys/fs/cgroup/job/cpu.max");
    assert_non_null(strstr(found.spoils, "several threads"));
    fake_file(&root, "50000 100000\n", "/sys/fs/cgroup/job/cpu.max");
    describe(NULL, NULL);
    expect_found("quota", PS_BAD, "0.50 CPUs", NULL);
    assert_non_null(strstr(found.spoils, "every row"));
}

static void test_quota_v1(void **state) {
    (void)state;
    fake_file(&root, "4:cpu,cpuacct:/a/b\n", "/proc/self/cgroup");
    fake_file(&root, "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n", "/proc/self/mounts");
    fake_file(&root, "-1\n", "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us");
    fake_file(&root, "100000\n", "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us");
    describe(NULL, NULL);
    expect_found("quota", PS_GOOD, "no control group limits", NULL);
    /* The one above is the tighter. */
    fake_file(&root, "180000\n", "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us");
    fake_file(&root, "120000\n", "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us");
    fake_file(&root, "100000\n", "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us");
    describe(NULL, NULL);
    expect_found("quota", PS_BAD, "1.20 CPUs",
                 "echo -1 | sudo tee /sys/fs/cgroup/cpu/a/cpu.cfs_quota_us");
}

static void test_isolated(void **state) {
    (void)state;
    fake_file(&root, "0-3\n", "/sys/devices/system/cpu/online");
    fake_file(&root, "Cpus_allowed_list:\t0-1\n", "/proc/self/status");
    describe(NULL, NULL);
    expect_found("isolated", PS_UNKNOWN, "does not say", NULL);
    fake_file(&root, "\n", "/sys/devices/system/cpu/isolated");
    describe(NULL, NULL);
    expect_found("isolated", PS_GOOD, "no CPU is isolated", NULL);
    fake_file(&root, "2-3\n", "/sys/devices/system/cpu/isolated");
    describe(NULL, NULL);
    expect_found("isolated", PS_NOTE, "CPUs 2-3 are isolated and not used",
                 "perfsheet run --cpus 2-3");
    /* They are isolated, not taken away: the affinity is as it should be. */
    expect_found("cpuset", PS_GOOD, "2 of 4", NULL);
    describe("1-2", NULL);
    expect_found("isolated", PS_NOTE, "1 of the 2 CPUs in use", NULL);
    describe("2-3", NULL);
    expect_found("isolated", PS_GOOD, "every CPU in use is isolated", NULL);
}

static void test_offline(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("offline", PS_UNKNOWN, "does not say", NULL);
    fake_file(&root, "0-1\n", "/sys/devices/system/cpu/present");
    describe(NULL, NULL);
    expect_found("offline", PS_GOOD, "all 2 CPUs", NULL);
    fake_file(&root, "0-3\n", "/sys/devices/system/cpu/present");
    describe(NULL, NULL);
    expect_found("offline", PS_NOTE, "2 of 4 CPUs are offline (2-3)", "cpu2/online");
    fake_file(&root, "off\n", "/sys/devices/system/cpu/smt/control");
    expect_found("offline", PS_NOTE, "hardware threads are switched off", "smt/control");
}

static void test_cpuset(void **state) {
    (void)state;
    fake_file(&root, "0-3\n", "/sys/devices/system/cpu/online");
    describe(NULL, NULL);
    expect_found("cpuset", PS_UNKNOWN, "/proc/self/status is not there", NULL);
    fake_file(&root, "Cpus_allowed_list:\t0-3\n", "/proc/self/status");
    describe(NULL, NULL);
    expect_found("cpuset", PS_GOOD, "4 of 4", NULL);
    fake_file(&root, "Cpus_allowed_list:\t1,3\n", "/proc/self/status");
    describe(NULL, NULL);
    expect_found("cpuset", PS_NOTE, "2 of 4 online CPUs may be used (1,3)", "--cpus 0-3");
    describe("0", NULL); /* the user's own choice */
    expect_found("cpuset", PS_GOOD, "1 of 4", NULL);
}

static void test_emulated(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("emulated", PS_UNKNOWN, "/proc/cpuinfo", NULL);
    fake_file(&root, "processor\t: 0\nflags\t\t: fpu sse2\n", "/proc/cpuinfo");
    expect_found("emulated", PS_GOOD, "no emulator", NULL);
    fake_file(&root, "processor\t: 0\nflags\t\t: fpu hypervisor\n", "/proc/cpuinfo");
    expect_found("emulated", PS_NOTE, "guest", NULL);
    fake_file(&root, "processor\t: 0\nCPU implementer\t: 0x00\n", "/proc/cpuinfo");
    expect_found("emulated", PS_BAD, "qemu TCG", NULL);
}

static void test_load(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("load", PS_UNKNOWN, "not measured", NULL);
    machine.foreign_pct = 0.5;
    expect_found("load", PS_GOOD, "0.5 %", NULL);
    machine.foreign_pct = 50;
    expect_found("load", PS_BAD, "50 %", "ps -eo");
    machine.busiest.pid = 4711;
    snprintf(machine.busiest.name, sizeof(machine.busiest.name), "lat_orphan");
    machine.busiest.cpu_pct = 98; /* of one of two */
    expect_found("load", PS_BAD, "most of it lat_orphan (pid 4711)", "kill -STOP 4711");
    machine.busiest.cpu_pct = 10; /* many small ones: stopping it would not help */
    expect_found("load", PS_BAD, "the busiest is lat_orphan", "ps -eo");
}

/* The ticks behind a name with anything in it; what ended and what is new. */
static void test_busiest(void **state) {
    (void)state;
    struct ps_process_times before, after;
    fake_file(&root, "7 (a) b (c) S 1 7 7 0 -1 4194304 1 2 3 4 100 20 9 9 20 0 1 0 5\n",
              "/proc/7/stat");
    fake_file(&root, "8 (idle) S 1 8 8 0 -1 4194304 1 2 3 4 5000 5000 9 9 20 0 1 0 5\n",
              "/proc/8/stat");
    fake_file(&root, "9 (self) R 1 9 9 0 -1 4194304 1 2 3 4 1 1 0 0 20 0 1 0 5\n", "/proc/9/stat");
    fake_file(&root, "nonsense", "/proc/10/stat");
    assert_int_equal(ps_process_times_read(root.path, 9, &before), 0);
    assert_int_equal(before.n, 2);
    fake_file(&root, "7 (a) b (c) S 1 7 7 0 -1 4194304 1 2 3 4 150 30 9 9 20 0 1 0 5\n",
              "/proc/7/stat");
    fake_file(&root, "9 (self) R 1 9 9 0 -1 4194304 1 2 3 4 999 999 0 0 20 0 1 0 5\n",
              "/proc/9/stat");
    fake_file(&root, "11 (new) R 1 9 9 0 -1 4194304 1 2 3 4 30 10 0 0 20 0 1 0 5\n",
              "/proc/11/stat");
    assert_int_equal(ps_process_times_read(root.path, 9, &after), 0);
    struct ps_process_time busiest = ps_process_busiest(&before, &after);
    assert_int_equal(busiest.pid, 7);
    assert_int_equal(busiest.ticks, 60);
    assert_string_equal(busiest.name, "a) b (c");
    assert_int_equal(ps_process_busiest(&after, &after).pid, 0);
    ps_process_times_done(&before);
    ps_process_times_done(&after);
    assert_true(ps_process_times_read("/nonexistent", 0, &after) < 0);
}

static void test_run_queue(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("run-queue", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "garbage\n", "/proc/loadavg");
    expect_found("run-queue", PS_UNKNOWN, "no number", NULL);
    fake_file(&root, "0.08 0.10 0.09 1/100 123\n", "/proc/loadavg");
    expect_found("run-queue", PS_GOOD, "0.1 tasks", NULL);
    fake_file(&root, "3.50 0.10 0.09 1/100 123\n", "/proc/loadavg");
    expect_found("run-queue", PS_NOTE, "3.5 tasks", "ps -eo");
}

static void test_steal(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("steal", PS_UNKNOWN, "/proc/stat", NULL);
    fake_file(&root, "cpu0 100 0 100 800 0 0 0 0 0 0\nintr 5\n", "/proc/stat");
    expect_found("steal", PS_GOOD, "no host", NULL);
    fake_file(&root, "cpu0 100 0 100 700 0 0 0 100 0 0\nintr 5\n", "/proc/stat");
    expect_found("steal", PS_NOTE, "not measured now: the host has taken the CPUs away for 10.0 %",
                 NULL);
    machine.steal_pct = 0;
    expect_found("steal", PS_NOTE, "not now", NULL);
    machine.steal_pct = 4;
    expect_found("steal", PS_BAD, "4.0 %", NULL);
}

static void test_core_shared(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("core-shared", PS_UNKNOWN, "not measured", NULL);
    machine.core_shared = 0.02;
    expect_found("core-shared", PS_GOOD, "98 %", NULL);
    machine.core_shared = 0.4;
    expect_found("core-shared", PS_BAD, "40 %", "another time");
    fake_file(&root, "1\n", "/sys/devices/system/cpu/smt/active");
    expect_found("core-shared", PS_BAD, "40 %", "echo off | sudo tee");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(test_quota_v2), DOCTOR_TEST(test_quota_v1),    DOCTOR_TEST(test_isolated),
        DOCTOR_TEST(test_offline),  DOCTOR_TEST(test_cpuset),      DOCTOR_TEST(test_emulated),
        DOCTOR_TEST(test_load),     DOCTOR_TEST(test_busiest),     DOCTOR_TEST(test_run_queue),
        DOCTOR_TEST(test_steal),    DOCTOR_TEST(test_core_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
