/* SPDX-License-Identifier: MIT
 *
 * The doctor's checks of memory, rights, kernel, directories and board file: a good, a bad and an
 * absent case each; and that all of them together hold nothing against a bare root.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/doctor_fixture.h"

static void test_memory(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("memory", PS_UNKNOWN, "/proc/meminfo", NULL);
    fake_file(&root, "MemTotal: 2147483648 kB\nMemAvailable: 1073741824 kB\n", "/proc/meminfo");
    expect_found("memory", PS_GOOD, "1048576 of 2097152 MiB", NULL);
    fake_file(&root, "MemTotal: 131072 kB\nMemAvailable: 40960 kB\n", "/proc/meminfo");
    expect_found("memory", PS_BAD, "40 of 128 MiB", "ps -eo rss");
    fake_file(&root, "MemTotal: 1310720 kB\nMemAvailable: 131072 kB\n", "/proc/meminfo");
    expect_found("memory", PS_GOOD, "128 of 1280 MiB", NULL);
    machine.topology.clusters[0].last_level_bytes = 16 << 20; /* four times that is half of it */
    expect_found("memory", PS_NOTE, "128 of 1280 MiB", NULL);
}

#define THP "/sys/kernel/mm/transparent_hugepage/enabled"

static void test_huge_pages(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("huge-pages", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "always [madvise] never\n", THP);
    expect_found("huge-pages", PS_GOOD, "madvise", NULL);
    fake_file(&root, "[always] madvise never\n", THP);
    expect_found("huge-pages", PS_NOTE, "asked for or not", "echo madvise | sudo tee " THP);
    fake_file(&root, "always madvise [never]\n", THP);
    expect_found("huge-pages", PS_NOTE, "switched off", "echo madvise | sudo tee " THP);
    fake_file(&root, "what\n", THP);
    expect_found("huge-pages", PS_UNKNOWN, "not understood", NULL);
}

static void test_swap(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("swap", PS_UNKNOWN, "/proc/meminfo", NULL);
    fake_file(&root, "MemTotal: 9 kB\n", "/proc/meminfo");
    expect_found("swap", PS_UNKNOWN, "does not tell", NULL);
    fake_file(&root, "SwapTotal: 0 kB\nSwapFree: 0 kB\n", "/proc/meminfo");
    expect_found("swap", PS_GOOD, "there is no swap", NULL);
    fake_file(&root, "SwapTotal: 1048576 kB\nSwapFree: 1048000 kB\n", "/proc/meminfo");
    expect_found("swap", PS_GOOD, "not in use", NULL);
    fake_file(&root, "SwapTotal: 1048576 kB\nSwapFree: 524288 kB\n", "/proc/meminfo");
    expect_found("swap", PS_NOTE, "512 of 1024 MiB", "swapoff");
    machine.swapped_pages = 12;
    expect_found("swap", PS_BAD, "12 in the last second", "swapoff");
}

static void test_layout(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("address-layout", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "2\n", "/proc/sys/kernel/randomize_va_space");
    expect_found("address-layout", PS_GOOD, "of its own", NULL);
    fake_file(&root, "1\n", "/proc/sys/kernel/randomize_va_space");
    expect_found("address-layout", PS_NOTE, "half fixed", "randomize_va_space=2");
    fake_file(&root, "0\n", "/proc/sys/kernel/randomize_va_space");
    expect_found("address-layout", PS_NOTE, "are fixed", "randomize_va_space=2");
    fake_file(&root, "2\n", "/proc/sys/kernel/randomize_va_space");
    fake_file(&root, "00040000\n", "/proc/self/personality");
    expect_found("address-layout", PS_NOTE, "setarch", NULL);
}

#define LIMITS "Limit                     Soft Limit           Hard Limit           Units     \n"

static void test_realtime(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("realtime", PS_UNKNOWN, "does not tell", NULL);
    expect_found("memory-lock", PS_UNKNOWN, "does not tell", NULL);
    fake_file(&root, "Name:\tx\nCapEff:\t0000000000000000\n", "/proc/self/status");
    fake_file(&root,
              LIMITS "Max locked memory         8388608              8388608              bytes\n"
                     "Max realtime priority     0                    0                    \n",
              "/proc/self/limits");
    expect_found("realtime", PS_NOTE, "SCHED_FIFO is not allowed", "prlimit --rtprio=99");
    expect_found("memory-lock", PS_NOTE, "may not be locked", "--memlock=unlimited");
    fake_file(&root,
              LIMITS "Max locked memory         unlimited            unlimited            bytes\n"
                     "Max realtime priority     99                   99                   \n",
              "/proc/self/limits");
    expect_found("realtime", PS_GOOD, "is allowed", NULL);
    expect_found("memory-lock", PS_GOOD, "may be locked", NULL);
    /* A capability does without the limit. */
    fake_file(&root, LIMITS, "/proc/self/limits");
    fake_file(&root, "Name:\tx\nCapEff:\t0000000000804000\n", "/proc/self/status");
    expect_found("realtime", PS_GOOD, "is allowed", NULL);
    expect_found("memory-lock", PS_GOOD, "may be locked", NULL);
    /* What was tried goes before what files say. */
    machine.realtime = machine.memory_lock = -EPERM;
    expect_found("realtime", PS_NOTE, "not permitted", NULL);
    expect_found("memory-lock", PS_NOTE, "not permitted", NULL);
}

static void test_realtime_limit(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("realtime-limit", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "950000\n", "/proc/sys/kernel/sched_rt_runtime_us");
    expect_found("realtime-limit", PS_GOOD, "95 %", NULL);
    fake_file(&root, "-1\n", "/proc/sys/kernel/sched_rt_runtime_us");
    expect_found("realtime-limit", PS_GOOD, "without a limit", NULL);
    fake_file(&root, "0\n", "/proc/sys/kernel/sched_rt_runtime_us");
    expect_found("realtime-limit", PS_BAD, "after 0 of every 1000000", "runtime_us=950000");
    fake_file(&root, "50000\n", "/proc/sys/kernel/sched_rt_runtime_us");
    fake_file(&root, "100000\n", "/proc/sys/kernel/sched_rt_period_us");
    expect_found("realtime-limit", PS_BAD, "50000 of every 100000", "runtime_us=95000");
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static void test_perf(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("perf", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "2\n", PARANOID);
    expect_found("perf", PS_GOOD, "level 2", NULL);
    fake_file(&root, "4\n", PARANOID);
    expect_found("perf", PS_NOTE, "paranoid 4", "perf_event_paranoid=2");
    fake_file(&root, "Name:\tx\nCapEff:\t0000004000000000\n", "/proc/self/status");
    expect_found("perf", PS_GOOD, "level 4", NULL); /* CAP_PERFMON */
    machine.perf = -EACCES;
    expect_found("perf", PS_NOTE, "not allowed", NULL);
    machine.perf = -ENOENT; /* no such counter: a right is not what is missing */
    expect_found("perf", PS_GOOD, "allowed", NULL);
}

static void test_pmu(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("pmu", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "1\n", "/sys/bus/event_source/devices/software/type");
    expect_found("pmu", PS_NOTE, "not to be had", "/proc/interrupts");
    fake_file(&root, "8\n", "/sys/bus/event_source/devices/armv8_cortex_a53/type");
    expect_found("pmu", PS_GOOD, "armv8_cortex_a53", NULL);
    machine.perf = -EOPNOTSUPP;
    expect_found("pmu", PS_NOTE, "counts nothing", NULL);
}

#define FAULT "/sys/devices/system/cpu/vulnerabilities/"

static void test_mitigations(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("mitigations", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "Not affected\n", FAULT "l1tf");
    fake_file(&root, "Mitigation: PTI\n", FAULT "meltdown");
    expect_found("mitigations", PS_GOOD, "1 faults of the processor are mitigated", NULL);
    fake_file(&root, "Vulnerable\n", FAULT "spectre_v2");
    expect_found("mitigations", PS_NOTE, "are open: spectre_v2", NULL);
    fake_file(&root, "quiet mitigations=off root=/dev/x\n", "/proc/cmdline");
    expect_found("mitigations", PS_NOTE, "switched off (mitigations=off)", "mitigations=off");
    fake_file(&root, "quiet mitigations=offline xnopti\n", "/proc/cmdline"); /* other words */
    expect_found("mitigations", PS_NOTE, "are open", NULL);
}

static void test_debug_kernel(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("debug-kernel", PS_UNKNOWN, "not to be found", NULL);
    fake_file(&root, "x", "/proc/config.gz");
    expect_found("debug-kernel", PS_UNKNOWN, "only there compressed", "zcat /proc/config.gz");
    fake_file(&root, "6.6.0-board\n", "/proc/sys/kernel/osrelease");
    fake_file(&root, "CONFIG_SMP=y\n# CONFIG_KASAN is not set\n#CONFIG_KCSAN=y\nCONFIG_KASAN_X=y\n",
              "/boot/config-6.6.0-board");
    expect_found("debug-kernel", PS_GOOD, "not built to check itself", NULL);
    fake_file(&root, "CONFIG_SMP=y\nCONFIG_PROVE_LOCKING=y\nCONFIG_KASAN=y\n",
              "/boot/config-6.6.0-board");
    expect_found("debug-kernel", PS_BAD, "CONFIG_KASAN, CONFIG_PROVE_LOCKING", NULL);
    fake_file(&root, "CONFIG_SMP=y\n", "/boot/config-6.6.0-board");
    fake_file(&root, "quiet slub_debug=FZ\n", "/proc/cmdline");
    expect_found("debug-kernel", PS_BAD, "slub_debug=FZ", "command line");
    fake_file(&root, "quiet\n", "/proc/cmdline");
    fake_file(&root, "lock-classes: 1\n", "/proc/lockdep_stats");
    expect_found("debug-kernel", PS_BAD, "/proc/lockdep_stats", NULL);
}

static void test_tracing(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("tracing", PS_UNKNOWN, "no trace directory", NULL);
    fake_file(&root, "nop\n", "/sys/kernel/debug/tracing/current_tracer");
    expect_found("tracing", PS_GOOD, "nothing is traced", NULL);
    fake_file(&root, "X\n", "/sys/kernel/debug/tracing/events/enable");
    expect_found("tracing", PS_NOTE, "some", "echo 0 | sudo tee");
    fake_file(&root, "function\n", "/sys/kernel/debug/tracing/current_tracer");
    expect_found("tracing", PS_BAD, "tracer function", "echo nop | sudo tee");
}

static void test_load_accounting(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("load-accounting", PS_UNKNOWN, "/proc/stat", NULL);
    fake_file(&root, "cpu0 1 0 1 9 0 0 0 0 0 0\nintr 5\n", "/proc/stat");
    expect_found("load-accounting", PS_UNKNOWN, "too few", NULL);
    fake_file(&root, "cpu0 100 0 100 9000 0 0 0 0 0 0\nintr 5000000\n", "/proc/stat");
    expect_found("load-accounting", PS_NOTE, "no time accounted", "--cpu-load soak");
    fake_file(&root, "cpu0 100 0 100 9000 0 3 4 0 0 0\nintr 5000000\n", "/proc/stat");
    expect_found("load-accounting", PS_GOOD, "are accounted", NULL);
}

static void test_entropy(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("entropy", PS_UNKNOWN, "No such file", NULL);
    fake_file(&root, "256\n", "/proc/sys/kernel/random/entropy_avail");
    expect_found("entropy", PS_GOOD, "256", NULL);
    fake_file(&root, "12\n", "/proc/sys/kernel/random/entropy_avail");
    expect_found("entropy", PS_NOTE, "only 12 bits", "rngd");
}

#define ROOT_LINE "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"

static void test_directory(void **state) {
    (void)state;
    describe(NULL, NULL);
    expect_found("directory", PS_UNKNOWN, "not told", NULL);
    snprintf(machine.directory, sizeof(machine.directory), "/home/me");
    expect_found("directory", PS_UNKNOWN, "not told", NULL);
    fake_file(&root, ROOT_LINE, "/proc/self/mountinfo");
    expect_found("directory", PS_GOOD, "ext4", NULL);
    expect_found("root-filesystem", PS_GOOD, "ext4", NULL);
    fake_file(&root, ROOT_LINE "30 21 0:9 / /home rw - nfs4 host:/x rw,vers=4.2\n",
              "/proc/self/mountinfo");
    expect_found("directory", PS_BAD, "nfs4", "-o /dev/shm/sheet.jsonl");
    expect_found("root-filesystem", PS_GOOD, "ext4", NULL);
    /* Another mount hides it; one beside it with the same beginning does not count. */
    fake_file(&root,
              ROOT_LINE "30 21 0:9 / /home rw - nfs4 host:/x rw\n"
                        "31 21 8:2 / /home rw - xfs /dev/b rw\n"
                        "32 21 0:9 / /home/m rw - nfs host:/x rw\n",
              "/proc/self/mountinfo");
    expect_found("directory", PS_GOOD, "xfs", NULL);
    fake_file(&root, ROOT_LINE "30 21 8:2 / /home rw,sync - vfat /dev/b rw\n",
              "/proc/self/mountinfo");
    expect_found("directory", PS_BAD, "option sync", "remount,async");
    fake_file(&root, ROOT_LINE "30 21 8:2 / /home ro - squashfs /dev/b ro\n",
              "/proc/self/mountinfo");
    expect_found("directory", PS_NOTE, "read-only", NULL);
    fake_file(&root, "21 1 0:9 / / rw - nfs host:/root rw\n", "/proc/self/mountinfo");
    expect_found("root-filesystem", PS_BAD, "nfs", "/dev/shm");
}

/* ---- The board file -------------------------------------------------------------------------- */

static char told[4096];
static unsigned n_told, n_bad_told, n_absent_as_good;

static void tell(void *context, const char *name, const struct ps_finding *finding) {
    (void)context;
    if (strcmp(name, "board-file") == 0) {
        size_t length = strlen(told);
        snprintf(told + length, sizeof(told) - length, "%s: %s | %s\n",
                 ps_verdict_name(finding->verdict), finding->seen, finding->mend);
    }
    n_told++;
    n_bad_told += finding->verdict == PS_BAD;
    n_absent_as_good += finding->verdict == PS_GOOD;
}

static unsigned examine(const char *text) {
    char why[200];
    struct ps_boardfile *board = NULL;
    if (text && ps_boardfile_parse(text, strlen(text), &board, why, sizeof(why)))
        fail_msg("%s", why);
    told[0] = 0;
    n_told = n_bad_told = n_absent_as_good = 0;
    machine.board = board;
    unsigned n_bad = ps_doctor_examine(&machine, tell, NULL);
    assert_int_equal(n_bad, n_bad_told);
    machine.board = NULL;
    ps_boardfile_free(board);
    return n_bad;
}

static void test_board_file(void **state) {
    (void)state;
    describe(NULL, NULL);
    fake_file(&root, "", "/mnt/emmc/x");
    fake_file(&root, "", "/sys/class/net/eth0/mtu");
    fake_file(&root, "", "/sys/class/hwmon/hwmon0/in1_input");
    assert_int_equal(examine("[board]\nid = x\n[cluster 0]\nreference_mhz = 1250\n"
                             "[target emmc]\npath = /mnt/emmc\n[link a]\ninterface = eth0\n"
                             "[rail core]\nsensor = /sys/class/hwmon/hwmon0/in1_input\n"),
                     0);
    assert_non_null(strstr(told, "good: what the board file names is here (4 sections"));
    assert_int_equal(examine("[cluster 3]\nreference_mhz = 1250\n[target nand]\npath = /mnt/nand\n"
                             "[link b]\ninterface = eth7\n[rail core]\nsensor = /sys/x\n"
                             "[rail named]\nsensor = vdd_core\n"),
                     4);
    assert_non_null(strstr(told, "[cluster 3]: this machine has the clusters 0 to 0"));
    assert_non_null(
        strstr(told, "[target nand]: path = /mnt/nand, but there is no such directory"));
    assert_non_null(strstr(told, "[link b]: interface = eth7"));
    assert_non_null(strstr(told, "[rail core]: sensor = /sys/x"));
    assert_null(strstr(told, "good")); /* a sensor's name is not a path */
    machine.clock_measured = machine.chains_agree = true;
    machine.measured_mhz[0] = 1000;
    assert_int_equal(examine("[cluster 0]\nreference_mhz = 1250\n"), 1);
    assert_non_null(strstr(told, "1250, measured are 1000 MHz (-20 %)"));
    assert_int_equal(examine("[cluster 0]\nreference_mhz = 1010\n"), 0);
}

/* A root with nothing but its CPUs: nothing is bad, nothing noted, and what cannot be known is not
 * called good either. */
static void test_bare_root(void **state) {
    (void)state;
    describe(NULL, NULL);
    unsigned n_checks = 0;
    for (const struct ps_check *check = ps_checks; check->name; check++) {
        n_checks++;
        expect_found(check->name, PS_UNKNOWN, "", NULL);
        assert_true(found.seen[0]);
        for (const struct ps_check *other = ps_checks; other != check; other++)
            assert_string_not_equal(other->name, check->name);
    }
    assert_int_equal(examine(NULL), 0);
    assert_int_equal(n_told, n_checks);
    assert_int_equal(n_absent_as_good, 0);
    assert_true(n_checks >= 20);
    assert_false(ps_check_run(&machine, "no-such-check", &found));
}

/* What is tried and measured on this machine ends in a verdict; rights are put back. */
static void test_this_machine(void **state) {
    (void)state;
    char why[300] = "";
    assert_int_equal(ps_machine_read("", NULL, NULL, 50, &machine, why, sizeof(why)), 0);
    assert_int_not_equal(machine.realtime, PS_NOT_TRIED);
    assert_int_not_equal(machine.memory_lock, PS_NOT_TRIED);
    assert_int_not_equal(machine.perf, PS_NOT_TRIED);
    assert_true(machine.clock_measured);
    assert_true(machine.directory[0] == '/');
    examine(NULL);
    assert_true(n_absent_as_good > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(test_memory),       DOCTOR_TEST(test_huge_pages),
        DOCTOR_TEST(test_swap),         DOCTOR_TEST(test_layout),
        DOCTOR_TEST(test_realtime),     DOCTOR_TEST(test_realtime_limit),
        DOCTOR_TEST(test_perf),         DOCTOR_TEST(test_pmu),
        DOCTOR_TEST(test_mitigations),  DOCTOR_TEST(test_debug_kernel),
        DOCTOR_TEST(test_tracing),      DOCTOR_TEST(test_load_accounting),
        DOCTOR_TEST(test_entropy),      DOCTOR_TEST(test_directory),
        DOCTOR_TEST(test_board_file),   DOCTOR_TEST(test_bare_root),
        DOCTOR_TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
