/* SPDX-License-Identifier: MIT
 *
 * Topology of machines that are not at hand: sparse, large, unequal, limited, with little to read.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/clock_speed.h"
#include "sys/topology.h"
#include "unit/fake_root.h"

static struct ps_topology topology;
static char why[160];

static int set_up(void **state) {
    static struct fake_root root;
    fake_root_init(&root);
    *state = &root;
    return 0;
}

static int tear_down(void **state) {
    fake_root_done(*state);
    return 0;
}

/* Lists of a machine; `allowed` NULL: no /proc/self/status. */
static void make_lists(const struct fake_root *root, const char *possible, const char *online,
                       const char *isolated, const char *allowed) {
    char text[256];
    fake_file(root, possible, "/sys/devices/system/cpu/possible");
    fake_file(root, possible, "/sys/devices/system/cpu/present");
    fake_file(root, online, "/sys/devices/system/cpu/online");
    fake_file(root, isolated, "/sys/devices/system/cpu/isolated");
    if (allowed != NULL) {
        snprintf(text, sizeof text,
                 "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nThreads:\t1\n", allowed);
        fake_file(root, text, "/proc/self/status");
    }
}

static void make_cache(const struct fake_root *root, unsigned cpu, unsigned index, unsigned level,
                       const char *type, const char *size, const char *shared) {
    char text[16];
    snprintf(text, sizeof text, "%u\n", level);
    fake_file(root, text, "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu, index);
    fake_file(root, type, "/sys/devices/system/cpu/cpu%u/cache/index%u/type", cpu, index);
    fake_file(root, size, "/sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, index);
    fake_file(root, shared, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu,
              index);
    fake_file(root, "64\n", "/sys/devices/system/cpu/cpu%u/cache/index%u/coherency_line_size", cpu,
              index);
}

static void read_ok(const struct fake_root *root, const char *cpus) {
    int r = ps_topology_read(root->path, cpus, &topology, why, sizeof why);
    if (r != 0) {
        fail_msg("%d: %s", r, why);
    }
}

static void assert_list(const struct ps_cpu_set *set, const char *expected) {
    char text[256];
    ps_cpu_list_format(set, text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_one_bare_cpu(void **state) {
    const struct fake_root *root = *state;
    struct ps_cpufreq cpufreq;
    make_lists(root, "0\n", "0\n", "\n", "0");
    read_ok(root, NULL);
    assert_int_equal(topology.n_threads, 1);
    assert_int_equal(topology.n_clusters, 1);
    assert_int_equal(topology.clusters[0].n_cpus, 1);
    /* Nothing is known, so nothing is claimed. */
    assert_int_equal(topology.clusters[0].l1d_bytes, 0);
    assert_int_equal(topology.clusters[0].last_private_bytes, 0);
    assert_int_equal(topology.clusters[0].last_level_bytes, 0);
    assert_int_equal(topology.clusters[0].max_khz, 0);
    assert_true(topology.quota_cpus == 0);
    ps_cpufreq_read(root->path, 0, &cpufreq);
    assert_int_equal(cpufreq.current_khz, 0);
    assert_string_equal(cpufreq.governor, "none");
}

static void test_cpufreq(void **state) {
    const struct fake_root *root = *state;
    struct ps_cpufreq cpufreq;
    fake_file(root, "1200000\n", "/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq");
    fake_file(root, "1700000\n", "/sys/devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq");
    fake_file(root, "1500000\n", "/sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq");
    fake_file(root, "schedutil\n", "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor");
    ps_cpufreq_read(root->path, 3, &cpufreq);
    assert_int_equal(cpufreq.current_khz, 1200000);
    assert_int_equal(cpufreq.hardware_max_khz, 1700000);
    assert_int_equal(cpufreq.policy_max_khz, 1500000);
    assert_string_equal(cpufreq.governor, "schedutil");
    fake_file(root, "<unknown>\n", "/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq");
    ps_cpufreq_read(root->path, 3, &cpufreq);
    assert_int_equal(cpufreq.current_khz, 0);
}

static void test_sizes(void **state) {
    static const struct {
        const char *list;
        unsigned n;
    } machines[] = {{"0-16\n", 17}, {"0-127\n", 128}, {"0-1023\n", 1024}, {"0-4095\n", 4096}};
    const struct fake_root *root = *state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        make_lists(root, machines[i].list, machines[i].list, "\n", NULL);
        read_ok(root, NULL);
        assert_int_equal(ps_cpu_set_count(&topology.usable), machines[i].n);
        assert_int_equal(topology.n_threads, machines[i].n);
        assert_int_equal(topology.n_clusters, 1);
        assert_int_equal(topology.clusters[0].n_cpus, machines[i].n);
    }
}

static void test_sparse_and_offline(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-23\n", "0,8,16\n", "\n", "0-23");
    read_ok(root, NULL);
    assert_list(&topology.usable, "0,8,16");
    assert_int_equal(topology.n_threads, 3);
    assert_true(ps_cpu_online(root->path, 8));
    assert_false(ps_cpu_online(root->path, 9));
    fake_file(root, "0,16\n", "/sys/devices/system/cpu/online"); /* asked again, it has changed */
    assert_false(ps_cpu_online(root->path, 8));
    make_lists(root, "0-23\n", "8,16\n", "\n", "8,16"); /* no CPU 0 */
    read_ok(root, NULL);
    assert_int_equal(topology.clusters[0].first_cpu, 8);
}

static void test_isolated_and_explicit(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-3\n", "0-3\n", "1-3\n", "0");
    read_ok(root, NULL);
    assert_list(&topology.usable, "0");
    assert_list(&topology.isolated, "1-3");
    assert_false(topology.explicit_list);
    read_ok(root, "1-3");
    assert_list(&topology.usable, "1-3");
    assert_true(topology.explicit_list);
    assert_int_equal(topology.n_threads, 3);
    assert_int_equal(topology.clusters[0].first_cpu, 1);
}

static void assert_refused(const struct fake_root *root, const char *cpus, const char *expected) {
    why[0] = '\0';
    assert_int_equal(ps_topology_read(root->path, cpus, &topology, why, sizeof why), -EINVAL);
    assert_string_equal(why, expected);
}

static void test_refusals(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-3\n", "0-1,3\n", "\n", "2");
    assert_refused(root, "1-2", "CPU 2 of the list is offline; online are 0-1,3.");
    assert_refused(root, "9", "CPU 9 of the list is not there; online are 0-1,3.");
    assert_refused(root, "3-1", "\"3-1\" is not a list of CPUs; write it like 0-3,8.");
    assert_refused(root, "", "\"\" is not a list of CPUs; write it like 0-3,8.");
    assert_refused(
        root, NULL,
        "None of the CPUs that this process may use is online; give others with --cpus.");
}

static void test_no_sys(void **state) {
    const struct fake_root *root = *state;
    assert_true(ps_topology_read(root->path, NULL, &topology, why, sizeof why) < 0);
    fake_file(root, "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu5 1 2 3 4\nintr 3\n", "/proc/stat");
    read_ok(root, NULL);
    assert_list(&topology.usable, "0,5");
    assert_list(&topology.possible, "0,5");
    assert_true(ps_cpu_online(root->path, 5));
    assert_false(ps_cpu_online(root->path, 1));
}

/* ---- Quota ---------------------------------------------------------------------------------- */

static void test_quota_v2(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-7\n", "0-7\n", "\n", "2-3");
    fake_file(root, "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
              "/proc/self/mounts");
    fake_file(root, "0::/a/b\n", "/proc/self/cgroup");
    fake_file(root, "max 100000\n", "/sys/fs/cgroup/a/b/cpu.max");
    read_ok(root, NULL);
    assert_true(topology.quota_cpus == 0);
    assert_int_equal(topology.n_threads, 2);
    assert_false(topology.quota_limits);
    fake_file(root, "150000 100000\n", "/sys/fs/cgroup/a/cpu.max"); /* the parent's holds too */
    read_ok(root, NULL);
    assert_true(topology.quota_cpus == 1.5);
    assert_int_equal(ps_cpu_set_count(&topology.usable), 2);
    assert_int_equal(topology.n_threads, 2);
    assert_true(topology.quota_limits);
    fake_file(root, "20000 100000\n", "/sys/fs/cgroup/a/b/cpu.max");
    read_ok(root, NULL);
    assert_true(topology.quota_cpus == 0.2);
    assert_int_equal(topology.n_threads, 1);
    fake_file(root, "800000 100000\n", "/sys/fs/cgroup/a/b/cpu.max");
    fake_file(root, "max 100000\n", "/sys/fs/cgroup/a/cpu.max");
    read_ok(root, NULL);
    assert_false(topology.quota_limits); /* more than there is */
    assert_int_equal(topology.n_threads, 2);
}

static void test_quota_v1(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-7\n", "0-7\n", "\n", "0-7");
    fake_file(root,
              "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
              "cgroup /cg\\040cpu cgroup rw,nosuid,cpu,cpuacct 0 0\n"
              "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
              "/proc/self/mounts");
    /* The path is the host's: below the mount point, which is the group itself, it is not there. */
    fake_file(root, "4:cpuset:/\n3:cpu,cpuacct:/docker/abc\n0::/\n", "/proc/self/cgroup");
    fake_file(root, "250000\n", "/cg cpu/cpu.cfs_quota_us");
    fake_file(root, "100000\n", "/cg cpu/cpu.cfs_period_us");
    read_ok(root, NULL);
    assert_true(topology.quota_cpus == 2.5);
    assert_int_equal(topology.n_threads, 3);
    assert_true(topology.quota_limits);
    fake_file(root, "-1\n", "/cg cpu/cpu.cfs_quota_us");
    read_ok(root, NULL);
    assert_true(topology.quota_cpus == 0);
    assert_int_equal(topology.n_threads, 8);
}

/* ---- Clusters and caches -------------------------------------------------------------------- */

static void test_capacities(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-5\n", "0-5\n", "\n", "0-5");
    for (unsigned cpu = 0; cpu < 6; cpu++) { /* big ones first and last */
        bool big = cpu == 0 || cpu == 5;
        fake_file(root, big ? "1024\n" : "485\n", "/sys/devices/system/cpu/cpu%u/cpu_capacity",
                  cpu);
        fake_file(root, big ? "2016000\n" : "1512000\n",
                  "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
    }
    read_ok(root, NULL);
    assert_int_equal(topology.n_clusters, 2);
    assert_list(&topology.cluster_cpus[0], "0,5");
    assert_list(&topology.cluster_cpus[1], "1-4");
    assert_int_equal(topology.clusters[0].max_khz, 2016000);
    assert_int_equal(topology.clusters[1].id, 1);
    assert_int_equal(topology.clusters[1].first_cpu, 1);
    assert_int_equal(topology.clusters[1].n_cpus, 4);
    read_ok(root, "1-2");
    assert_int_equal(topology.n_clusters, 1);
    assert_int_equal(topology.clusters[0].capacity, 485);
}

static void test_favoured_cores_are_no_cluster(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-1\n", "0-1\n", "\n", "0-1");
    fake_file(root, "5000000\n", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    fake_file(root, "4800000\n", "/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq");
    read_ok(root, NULL);
    assert_int_equal(topology.n_clusters, 1);
}

static void test_models(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-3\n", "0-3\n", "\n", "0-3");
    fake_file(root,
              "processor\t: 0\nCPU part\t: 0xd03\n\nprocessor\t: 1\nCPU part\t: 0xd03\n\n"
              "processor\t: 2\nCPU part\t: 0xd09\n\nprocessor\t: 3\nCPU part\t: 0xd03\n",
              "/proc/cpuinfo");
    read_ok(root, NULL);
    assert_int_equal(topology.n_clusters, 2);
    assert_list(&topology.cluster_cpus[0], "0-1,3");
    /* MIDR says it better where there is one; its revision does not count. */
    static const char *const midr[] = {"0x00000000410fd034\n", "0x00000000411fd033\n",
                                       "0x00000000410fd092\n", "0x00000000410fd092\n"};
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        fake_file(root, midr[cpu], "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
                  cpu);
    }
    read_ok(root, NULL);
    assert_int_equal(topology.n_clusters, 2);
    assert_list(&topology.cluster_cpus[0], "0-1");
    assert_list(&topology.cluster_cpus[1], "2-3");
}

static void test_hybrid_x86(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-5\n", "0-5\n", "\n", "0-5");
    fake_file(root, "0-1\n", "/sys/devices/cpu_core/cpus");
    fake_file(root, "2-5\n", "/sys/devices/cpu_atom/cpus");
    read_ok(root, NULL);
    assert_int_equal(topology.n_clusters, 2);
    assert_list(&topology.cluster_cpus[1], "2-5");
}

static void test_many_kinds(void **state) {
    const struct fake_root *root = *state;
    char text[32];
    make_lists(root, "0-79\n", "0-79\n", "\n", "0-79");
    for (unsigned cpu = 0; cpu < 80; cpu++) {
        snprintf(text, sizeof text, "0x%x0000\n", cpu + 0x410);
        fake_file(root, text, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
    }
    read_ok(root, NULL);
    unsigned n = 0;
    assert_true(topology.n_clusters <= PS_CLUSTERS_MAX);
    for (unsigned i = 0; i < topology.n_clusters; i++) {
        n += topology.clusters[i].n_cpus;
    }
    assert_int_equal(n, 80);
}

static void test_caches(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-3\n", "0-3\n", "\n", "0-3");
    for (unsigned cpu = 0; cpu < 4; cpu++) { /* L2 of each pair of threads, L3 of each two cores */
        const char *siblings = cpu < 2 ? "0-1\n" : "2-3\n";
        fake_file(root, siblings, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
                  cpu);
        make_cache(root, cpu, 0, 1, "Data\n", "32K\n", siblings);
        make_cache(root, cpu, 1, 1, "Instruction\n", "64K\n", siblings);
        make_cache(root, cpu, 2, 2, "Unified\n", "512K\n", siblings);
        make_cache(root, cpu, 3, 3, "Unified\n", "32768K\n", "0-3\n");
    }
    read_ok(root, NULL);
    assert_int_equal(topology.clusters[0].l1d_bytes, 32 << 10);
    assert_int_equal(topology.clusters[0].l2_bytes, 512 << 10);
    assert_int_equal(topology.clusters[0].last_private_bytes, 512 << 10);
    assert_int_equal(topology.clusters[0].last_level_bytes, 32 << 20);
    assert_int_equal(topology.clusters[0].line_bytes, 64);
    /* Without the sharers of the L3 it is this core's own. */
    fake_file(root, "0-1\n", "/sys/devices/system/cpu/online");
    read_ok(root, NULL);
    assert_int_equal(topology.clusters[0].last_private_bytes, 32 << 20);
}

static void test_last_level_sum(void **state) {
    const struct fake_root *root = *state;
    make_lists(root, "0-3\n", "0-3\n", "\n", "0-3");
    for (unsigned cpu = 0; cpu < 4; cpu++) { /* shared L2 of each two; no L3 */
        char own[8];
        snprintf(own, sizeof own, "%u\n", cpu);
        make_cache(root, cpu, 0, 1, "Data\n", "32K\n", own);
        make_cache(root, cpu, 1, 2, "Unified\n", "1M\n", cpu < 2 ? "0-1\n" : "2-3\n");
    }
    read_ok(root, NULL);
    assert_int_equal(topology.clusters[0].last_private_bytes, 32 << 10);
    assert_int_equal(topology.clusters[0].last_level_bytes, 2 << 20);
    read_ok(root, "0-1"); /* one of the two is out of reach */
    assert_int_equal(topology.clusters[0].last_level_bytes, 1 << 20);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void test_memory(void **state) {
    const struct fake_root *root = *state;
    uint64_t total = 1, available = 1;
    assert_true(ps_memory_read(root->path, &total, &available) < 0);
    assert_int_equal(total, 1);
    fake_file(root, "MemTotal:       2147483648 kB\nMemFree: 1 kB\nMemAvailable:   40960 kB\n",
              "/proc/meminfo");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_true(total == UINT64_C(2) << 40);
    assert_int_equal(available, 40 << 20);
    fake_file(
        root,
        "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 3 kB\nSwapCached: 7 kB\n",
        "/proc/meminfo");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_int_equal(available, 123 * 1024);
}

static void test_memory_limits(void **state) {
    const struct fake_root *root = *state;
    uint64_t total, available;
    fake_file(root, "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n", "/proc/meminfo");
    fake_file(root, "cgroup2 /cg cgroup2 rw 0 0\n", "/proc/self/mounts");
    fake_file(root, "0::/box\n", "/proc/self/cgroup");
    fake_file(root, "max\n", "/cg/box/memory.max");
    fake_file(root, "100\n", "/cg/box/memory.current");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_true(available == UINT64_C(4) << 30);
    fake_file(root, "536870912\n", "/cg/box/memory.max");
    fake_file(root, "268435456\n", "/cg/box/memory.current");
    fake_file(root, "anon 5\ninactive_file 67108864\n", "/cg/box/memory.stat");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_int_equal(available, 320 << 20);
    fake_file(root, "cgroup /m cgroup rw,memory 0 0\n", "/proc/self/mounts");
    fake_file(root, "4:memory:/x\n", "/proc/self/cgroup");
    fake_file(root, "9223372036854771712\n", "/m/memory.limit_in_bytes");
    fake_file(root, "5\n", "/m/memory.usage_in_bytes");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_true(available == UINT64_C(4) << 30);
    fake_file(root, "1048576\n", "/m/x/memory.limit_in_bytes");
    fake_file(root, "2097152\n", "/m/x/memory.usage_in_bytes");
    assert_int_equal(ps_memory_read(root->path, &total, &available), 0);
    assert_int_equal(available, 0);
}

static void test_this_machine(void **state) {
    uint64_t total, available;
    (void)state;
    int r = ps_topology_read("", NULL, &topology, why, sizeof why);
    assert_int_equal(r, 0);
    assert_true(topology.n_threads >= 1);
    assert_true(topology.n_clusters >= 1);
    unsigned n = 0;
    for (unsigned i = 0; i < topology.n_clusters; i++) {
        n += topology.clusters[i].n_cpus;
        assert_true(ps_cpu_set_has(&topology.cluster_cpus[i], topology.clusters[i].first_cpu));
    }
    assert_int_equal(n, ps_cpu_set_count(&topology.usable));
    assert_int_equal(ps_memory_read("", &total, &available), 0);
    assert_true(available <= total);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_bare_cpu),
        TEST(test_cpufreq),
        TEST(test_sizes),
        TEST(test_sparse_and_offline),
        TEST(test_isolated_and_explicit),
        TEST(test_refusals),
        TEST(test_no_sys),
        TEST(test_quota_v2),
        TEST(test_quota_v1),
        TEST(test_capacities),
        TEST(test_favoured_cores_are_no_cluster),
        TEST(test_models),
        TEST(test_hybrid_x86),
        TEST(test_many_kinds),
        TEST(test_caches),
        TEST(test_last_level_sum),
        TEST(test_memory),
        TEST(test_memory_limits),
        TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
