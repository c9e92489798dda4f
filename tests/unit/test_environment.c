/* SPDX-License-Identifier: MIT
 *
 * The environment of machines that are not at hand, and what is told of them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "harness/environment.h"
#include "sheet/json.h"
#include "unit/fake_root.h"

static struct ps_environment environment;
static struct fake_root root;
static char why[300], notes[4096];
static char json_text[65536];
static size_t json_length;

static int set_up(void **state) {
    (void)state;
    fake_root_init(&root);
    memset(&environment, 0, sizeof(environment));
    why[0] = notes[0] = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_root_done(&root);
    return 0;
}

static void make_machine(const char *cpus, const char *allowed, const char *isolated,
                         const char *meminfo) {
    char text[256];
    snprintf(text, sizeof(text), "Cpus_allowed_list:\t%s\n", allowed);
    fake_file(&root, cpus, "/sys/devices/system/cpu/possible");
    fake_file(&root, cpus, "/sys/devices/system/cpu/present");
    fake_file(&root, cpus, "/sys/devices/system/cpu/online");
    fake_file(&root, isolated, "/sys/devices/system/cpu/isolated");
    fake_file(&root, text, "/proc/self/status");
    fake_file(&root, meminfo, "/proc/meminfo");
}

#define MEMINFO_SMALL "MemTotal:  4000000 kB\nMemFree: 1 kB\nMemAvailable:  3000000 kB\n"

static int read_with(struct ps_environment_options options) {
    options.root = root.path;
    return ps_environment_read(&options, &environment, why, sizeof(why));
}

static void read_ok(const char *cpus, const struct ps_boardfile *board) {
    int error = read_with(
        (struct ps_environment_options){.cpus = cpus, .board = board, .measure_clock = true});
    if (error)
        fail_msg("%d: %s", error, why);
}

static void say(void *context, const char *note) {
    (void)context;
    size_t length = strlen(notes);
    snprintf(notes + length, sizeof(notes) - length, "%s\n", note);
}

static const char *all_notes(void) {
    notes[0] = 0;
    ps_environment_notes(&environment, say, NULL);
    return notes;
}

static int collect(void *target, const char *data, size_t length) {
    (void)target;
    assert_true(json_length + length < sizeof(json_text));
    memcpy(json_text + json_length, data, length);
    json_length += length;
    return 0;
}

/* The env object as a reader sees it. */
static const struct ps_json *written(struct ps_json_document **document) {
    struct ps_json_writer json;
    struct ps_json_error error = {0};
    const struct ps_json *parsed = NULL;
    json_length = 0;
    ps_json_init(&json, collect, NULL);
    ps_environment_write(&environment, &json);
    assert_int_equal(json.error, 0);
    if (ps_json_parse(json_text, json_length, document, &parsed, &error))
        fail_msg("column %zu: %s", error.column, error.what);
    return parsed;
}

/* No cpufreq, no device tree, no DMI, no THP: unknown, never 0 or a failure. */
static void test_bare_machine(void **state) {
    (void)state;
    struct ps_json_document *document;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    read_ok(NULL, NULL);
    assert_string_equal(environment.model, "");
    assert_int_equal(environment.env.huge_page_bytes, 0);
    assert_true(environment.reference_mhz[0] == 0);
    assert_string_equal(environment.reference_from[0], "unknown");
    assert_false(environment.clock_measured); /* never on another machine's behalf */
    const struct ps_json *env = written(&document);
    const struct ps_json *cluster = ps_json_get(env, "clusters")->u.first;
    assert_string_equal(ps_json_get_string(cluster, "governor", ""), "none");
    assert_int_equal(ps_json_get(cluster, "measured_mhz")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(cluster, "reported_mhz")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(cluster, "l1d_bytes")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(env, "huge_page_bytes")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(env, "clock")->type, PS_JSON_NULL);
    ps_json_document_free(document);
}

static void test_no_memory_file(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", "Nonsense: 1 kB\n");
    assert_true(read_with((struct ps_environment_options){0}) < 0);
    assert_non_null(strstr(why, "/proc/meminfo"));
}

static void test_clock_differs(void **state) {
    (void)state;
    struct ps_json_document *document;
    make_machine("0-1\n", "0-1", "\n", MEMINFO_SMALL);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        fake_file(&root, "1700000\n", "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
                  cpu);
        fake_file(&root, "1700000\n", "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq",
                  cpu);
        fake_file(&root, "1700000\n", "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_max_freq",
                  cpu);
        fake_file(&root, "performance\n", "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
                  cpu);
    }
    read_ok(NULL, NULL);
    assert_null(strstr(all_notes(), "differs")); /* nothing was measured yet */
    environment.measured_mhz[0] = 1295;
    assert_non_null(strstr(all_notes(),
                           "cluster 0: clock differs -24 %: 1295 MHz measured, 1700 MHz reported"));
    const struct ps_json *env = written(&document);
    const struct ps_json *cluster = ps_json_get(env, "clusters")->u.first;
    assert_true(ps_json_get_double(cluster, "measured_mhz", 0) == 1295);
    assert_true(ps_json_get_double(cluster, "reported_mhz", 0) == 1700);
    assert_string_equal(ps_json_get_string(cluster, "governor", ""), "performance");
    assert_non_null(strstr(ps_json_get(env, "notes")->u.first->u.string, "differs -24 %"));
    ps_json_document_free(document);
    environment.measured_mhz[0] = 1690; /* within 3 % */
    assert_null(strstr(all_notes(), "differs"));
}

static void test_reference_clock(void **state) {
    (void)state;
    const char *from;
    assert_true(ps_reference_clock_mhz(1250, 1700000, 1700, 1690, &from) == 1250);
    assert_string_equal(from, "board file");
    assert_true(ps_reference_clock_mhz(0, 1700000, 1680, 1650, &from) == 1700);
    assert_string_equal(from, "cpuinfo_max_freq");
    assert_true(ps_reference_clock_mhz(0, 1700000, 1295, 1290, &from) == 1290);
    assert_string_equal(from, "median probe");
    assert_true(ps_reference_clock_mhz(0, 1700000, 2400, 2390, &from) ==
                2390); /* above what it may be */
    assert_true(ps_reference_clock_mhz(0, 0, 1295, 1290, &from) == 1290);
    assert_true(ps_reference_clock_mhz(0, 1700000, 0, 0, &from) == 0);
    assert_string_equal(from, "unknown");
}

static void test_governor_and_limit(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    fake_file(&root, "1700000\n", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    fake_file(&root, "1200000\n", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
    fake_file(&root, "powersave\n", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    read_ok(NULL, NULL);
    assert_non_null(strstr(all_notes(), "governor powersave on cpu 0 may hold the clock down"));
    assert_non_null(strstr(notes, "--fix-clock"));
    assert_non_null(strstr(notes, "limited to 1200 of 1700 MHz"));
}

static void test_quota(void **state) {
    (void)state;
    make_machine("0-7\n", "2-3", "\n", MEMINFO_SMALL);
    fake_file(&root, "0::/job\n", "/proc/self/cgroup");
    fake_file(&root, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "/proc/self/mounts");
    fake_file(&root, "150000 100000\n", "/sys/fs/cgroup/job/cpu.max");
    read_ok(NULL, NULL);
    assert_int_equal(environment.env.n_cpus, 2);
    assert_non_null(strstr(all_notes(), "2 threads by default, throttling possible"));
    assert_non_null(strstr(notes, "2 of 8 online CPUs may be used (2-3)"));
}

static void test_explicit_cpus(void **state) {
    (void)state;
    struct ps_json_document *document;
    make_machine("0-3\n", "0", "1-3\n", MEMINFO_SMALL);
    read_ok("1-3", NULL);
    assert_int_equal(environment.env.n_cpus, 3);
    assert_int_equal(environment.env.clusters[0].first_cpu, 1);
    const struct ps_json *cpus = ps_json_get(written(&document), "cpus");
    assert_string_equal(ps_json_get_string(cpus, "usable", ""), "1-3");
    assert_string_equal(ps_json_get_string(cpus, "isolated", ""), "1-3");
    assert_string_equal(ps_json_get_string(cpus, "allowed", ""), "0");
    ps_json_document_free(document);
    assert_int_equal(read_with((struct ps_environment_options){.cpus = "1-"}), -EINVAL);
    assert_true(*why);
}

static void test_unequal_clusters(void **state) {
    (void)state;
    struct ps_json_document *document;
    struct ps_boardfile *board;
    const char text[] = "[cluster 1]\nreference_mhz = 2016\n";
    make_machine("0-5\n", "0-5", "\n", MEMINFO_SMALL);
    for (unsigned cpu = 0; cpu < 6; cpu++) {
        fake_file(&root, cpu < 4 ? "485\n" : "1024\n", "/sys/devices/system/cpu/cpu%u/cpu_capacity",
                  cpu);
        fake_file(&root, cpu < 4 ? "1512000\n" : "2016000\n",
                  "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
    }
    assert_int_equal(ps_boardfile_parse(text, sizeof(text) - 1, &board, why, sizeof(why)), 0);
    read_ok(NULL, board);
    assert_int_equal(environment.env.n_clusters, 2);
    assert_true(environment.reference_mhz[1] == 2016);
    assert_string_equal(environment.reference_from[1], "board file");
    assert_string_equal(environment.env.board_value(&environment.env, "cluster 1", "reference_mhz"),
                        "2016");
    const struct ps_json *clusters = ps_json_get(written(&document), "clusters");
    assert_int_equal(clusters->n, 2);
    assert_string_equal(ps_json_get_string(clusters->u.first, "cpus", ""), "0-3");
    assert_string_equal(ps_json_get_string(clusters->u.first->next, "cpus", ""), "4-5");
    ps_json_document_free(document);
    ps_boardfile_free(board);
}

/* 2 TB of which 40 MB are to be had. */
static void test_memory_caps(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", "MemTotal: 2147483648 kB\nMemAvailable: 40960 kB\n");
    read_ok(NULL, NULL);
    assert_true(environment.memory_total_bytes == UINT64_C(2) << 40);
    assert_true(environment.env.working_set_cap_bytes == UINT64_C(10) << 20);
    assert_true(environment.env.published_cap_bytes == UINT64_C(20) << 20);
    make_machine("0\n", "0", "\n", "MemTotal: 2147483648 kB\nMemAvailable: 1073741824 kB\n");
    read_ok(NULL, NULL);
    assert_true(environment.env.working_set_cap_bytes == UINT64_C(256) << 20);
    assert_int_equal(read_with((struct ps_environment_options){.quick = true}), 0);
    assert_true(environment.env.working_set_cap_bytes == UINT64_C(64) << 20);
}

static void test_huge_pages(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    fake_file(&root, "2097152\n", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    fake_file(&root, "always [madvise] never\n", "/sys/kernel/mm/transparent_hugepage/enabled");
    read_ok(NULL, NULL);
    assert_int_equal(environment.env.huge_page_bytes, 2097152);
    assert_string_equal(environment.thp, "madvise");
    fake_file(&root, "always madvise [never]\n", "/sys/kernel/mm/transparent_hugepage/enabled");
    read_ok(NULL, NULL);
    assert_int_equal(environment.env.huge_page_bytes, 0);
    assert_string_equal(environment.thp, "never");
}

static void test_model(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    fake_file(&root, "processor\t: 0\nmodel name\t: Some  CPU @ 2 GHz \nflags\t\t: x\n",
              "/proc/cpuinfo");
    read_ok(NULL, NULL);
    assert_string_equal(environment.model, "Some CPU @ 2 GHz");
    fake_file(&root, "To Be Filled By O.E.M.\n", "/sys/class/dmi/id/product_name");
    read_ok(NULL, NULL);
    assert_string_equal(environment.model, "Some CPU @ 2 GHz");
    fake_file(&root, "ThinkStation P3\n", "/sys/class/dmi/id/product_name");
    read_ok(NULL, NULL);
    assert_string_equal(environment.model, "ThinkStation P3");
    fake_file(&root, "Texas Instruments AM62L", "/proc/device-tree/model");
    read_ok(NULL, NULL);
    assert_string_equal(environment.model, "Texas Instruments AM62L");
}

static void test_emulated(void **state) {
    (void)state;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    /* A KVM guest runs on silicon. */
    fake_file(&root,
              "vendor_id\t: GenuineIntel\nmodel name\t: QEMU Virtual CPU version 2.5+\nflags\t: "
              "hypervisor\n",
              "/proc/cpuinfo");
    fake_file(&root, "QEMU\n", "/sys/class/dmi/id/sys_vendor");
    read_ok(NULL, NULL);
    assert_false(environment.emulated);
    fake_file(&root, "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n",
              "/proc/cpuinfo");
    read_ok(NULL, NULL);
    assert_false(environment.emulated);
    fake_file(&root, "processor\t: 0\nCPU implementer\t: 0x00\nCPU part\t: 0x051\n",
              "/proc/cpuinfo");
    read_ok(NULL, NULL);
    assert_true(environment.emulated);
    assert_non_null(strstr(all_notes(), "emulated (qemu TCG)"));
    fake_file(&root, "processor\t: 0\n", "/proc/cpuinfo");
    fake_file(&root, "", "/proc/thread-self/x");
    char link[256];
    snprintf(link, sizeof(link), "%s/proc/thread-self/exe", root.path);
    assert_int_equal(symlink("/usr/bin/qemu-aarch64", link), 0);
    read_ok(NULL, NULL);
    assert_true(environment.emulated);
    assert_string_equal(environment.emulated_why, "qemu-user");
}

static const struct ps_target *target_named(const char *name) {
    for (unsigned i = 0; i < environment.env.n_targets; i++)
        if (strcmp(environment.targets[i].name, name) == 0)
            return &environment.targets[i];
    return NULL;
}

static void test_targets(void **state) {
    (void)state;
    char emmc[512], board_text[512];
    const char *targets[] = {emmc, "gone=/nonexistent", NULL};
    struct ps_boardfile *board;
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    fake_file(&root, "", "/mnt/emmc/x");
    fake_file(&root, "", "/mnt/nand/x");
    snprintf(emmc, sizeof(emmc), "emmc=/mnt/emmc");
    snprintf(board_text, sizeof(board_text),
             "[target emmc]\npath = /elsewhere\n[target nand]\npath = /mnt/nand\n");
    assert_int_equal(ps_boardfile_parse(board_text, strlen(board_text), &board, why, sizeof(why)),
                     0);
    assert_int_equal(read_with((struct ps_environment_options){.targets = targets, .board = board}),
                     0);
    assert_int_equal(environment.env.n_targets, 4);
    /* The root has no tmpfs: the target is there all the same, with what to do. */
    const struct ps_target *tmpfs = target_named("tmpfs");
    assert_non_null(tmpfs);
    if (!tmpfs->path)
        assert_non_null(strstr(tmpfs->why, "tmpfs"));
    /* The command line goes before the board file. */
    assert_non_null(target_named("emmc")->path);
    assert_non_null(strstr(target_named("emmc")->path, "/mnt/emmc"));
    assert_true(target_named("emmc")->free_bytes > 0);
    assert_true(*target_named("emmc")->filesystem);
    assert_non_null(strstr(target_named("nand")->path, "/mnt/nand"));
    assert_null(target_named("gone")->path);
    assert_non_null(strstr(target_named("gone")->why, "No such file"));
    ps_boardfile_free(board);

    const char *const wrong[][2] = {{"Name=/tmp", NULL}, {"x=", NULL}, {"tmpfs=/mnt/emmc", NULL}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(read_with((struct ps_environment_options){.targets = wrong[i]}), -EINVAL);
}

/* Nothing that names a person, a place or a single piece of hardware. */
static void test_anonymise(void **state) {
    (void)state;
    char secret[200];
    const char *targets[] = {"emmc=/mnt/secret", NULL};
    make_machine("0\n", "0", "\n", MEMINFO_SMALL);
    fake_file(&root, "", "/mnt/secret/x");
    fake_file(&root, "secret-host\n", "/proc/sys/kernel/hostname");
    assert_int_equal(
        read_with((struct ps_environment_options){.targets = targets, .anonymise = true}), 0);
    struct ps_json_document *document;
    const struct ps_json *env = written(&document);
    json_text[json_length] = 0;
    assert_null(strstr(json_text, "secret"));
    assert_int_equal(ps_json_get(env, "hostname")->type, PS_JSON_NULL);
    ps_json_document_free(document);
    snprintf(secret, sizeof(secret), "%s", environment.targets[1].path);
    assert_non_null(strstr(secret, "secret")); /* the run itself still knows it */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_bare_machine),
        TEST(test_no_memory_file),
        TEST(test_clock_differs),
        TEST(test_reference_clock),
        TEST(test_governor_and_limit),
        TEST(test_quota),
        TEST(test_explicit_cpus),
        TEST(test_unequal_clusters),
        TEST(test_memory_caps),
        TEST(test_huge_pages),
        TEST(test_model),
        TEST(test_emulated),
        TEST(test_targets),
        TEST(test_anonymise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
