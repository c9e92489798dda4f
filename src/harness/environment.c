/* SPDX-License-Identifier: MIT
 *
 * Reads what a plan and a sheet need to know of the machine: CPUs, memory, pages, clocks, names,
 * and whether all of it is emulated. Nothing here fails because a file is missing: what cannot be
 * told is left unknown, never 0 with a meaning. Not here: the directories for files
 * (environment_target.c).
 */
#include "harness/environment.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/series.h"
#include "harness/environment_target.h"
#include "stats/summary.h"
#include "sys/affinity.h"
#include "sys/cpuinfo.h"
#include "sys/emulation.h"
#include "sys/root.h"

#define MIB (UINT64_C(1) << 20)
/* Long enough for a governor that looks every 10 ms to have raised the clock well before the end.
 */
#define PROBE_NS UINT64_C(40000000)
#define CHECKS_MAX 10
#define CHECK_PAUSE_NS 20000000
#define FULL_ISSUE_NS UINT64_C(20000000)
/* The latest probes, about 3 ms of them: the median is of the clock that has settled. */
#define PROBES_KEPT 255

/* DMI fields that vendors left as they were. */
static bool is_placeholder(const char *text) {
    static const char *const words[] = {"To Be Filled By O.E.M.",
                                        "To be filled by O.E.M.",
                                        "Default string",
                                        "System Product Name",
                                        "Not Specified",
                                        "None",
                                        "Unknown"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return !*text;
}

static void read_model(struct ps_environment *environment) {
    static const char *const files[] = {"/proc/device-tree/model",
                                        "/sys/firmware/devicetree/base/model",
                                        "/sys/class/dmi/id/product_name"};
    char text[256];
    const char *named = ps_boardfile_value(environment->board, "board", "model");
    if (named) {
        ps_copy_printable(environment->model, sizeof(environment->model), named);
        return;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (ps_read_text(environment->root, files[i], text, sizeof(text)) <= 0)
            continue;
        ps_copy_printable(environment->model, sizeof(environment->model), text);
        if (!is_placeholder(environment->model))
            return;
    }
    static const char *const keys[] = {"Model",   "Hardware",  "model name",
                                       "machine", "cpu model", "uarch"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (ps_cpuinfo_value(environment->root, keys[i], environment->model,
                             sizeof(environment->model)) &&
            environment->model[0])
            return;
    environment->model[0] = 0;
}

static void read_names(struct ps_environment *environment) {
    struct utsname name;
    char text[65];
    if (uname(&name) == 0) {
        snprintf(environment->kernel, sizeof(environment->kernel), "%.15s %.80s %.30s",
                 name.sysname, name.release, name.machine);
        ps_copy_printable(environment->hostname, sizeof(environment->hostname), name.nodename);
    }
    /* Under --root the tree says what it is of, where it does. */
    if (*environment->root) {
        if (ps_read_text(environment->root, "/proc/sys/kernel/hostname", text, sizeof(text)) > 0)
            ps_copy_printable(environment->hostname, sizeof(environment->hostname), text);
        if (ps_read_text(environment->root, "/proc/sys/kernel/osrelease", text, sizeof(text)) > 0)
            snprintf(environment->kernel, sizeof(environment->kernel), "Linux %s", text);
    }
    if (environment->anonymise)
        environment->hostname[0] = 0;
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm))
        strftime(environment->started, sizeof(environment->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* "always [madvise] never" */
static void read_huge_pages(struct ps_environment *environment) {
    char text[64];
    int64_t bytes = 0;
    if (ps_read_text(environment->root, "/sys/kernel/mm/transparent_hugepage/enabled", text,
                     sizeof(text)) <= 0)
        return;
    const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return;
    snprintf(environment->thp, sizeof(environment->thp), "%.*s", (int)(close - open - 1), open + 1);
    if (strcmp(environment->thp, "never") == 0)
        return;
    if (ps_read_i64(environment->root, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
                    &bytes) == 0 &&
        bytes > 0)
        environment->env.huge_page_bytes = (size_t)bytes;
}

static int read_memory(struct ps_environment *environment, bool quick, char *ret_why,
                       size_t why_bytes) {
    struct ps_env *env = &environment->env;
    int error = ps_memory_read(environment->root, &environment->memory_total_bytes,
                               &env->memory_available_bytes);
    if (error) {
        snprintf(ret_why, why_bytes, "cannot read how much memory there is (/proc/meminfo): %s",
                 strerror(-error));
        return error;
    }
    /* The available memory has the cgroup's limit in it. */
    uint64_t cap = (quick ? 64 : 256) * MIB;
    env->working_set_cap_bytes =
        env->memory_available_bytes / 4 < cap ? env->memory_available_bytes / 4 : cap;
    env->published_cap_bytes = env->memory_available_bytes / 2;
    long page = sysconf(_SC_PAGESIZE);
    env->page_bytes = page > 0 ? (size_t)page : 4096;
    return 0;
}

double ps_reference_clock_mhz(double board_mhz, unsigned hardware_max_khz, double highest_probe_mhz,
                              double median_probe_mhz, const char **ret_from) {
    double hardware_mhz = hardware_max_khz / 1000.0;
    if (board_mhz > 0) {
        *ret_from = "board file";
        return board_mhz;
    }
    if (hardware_mhz > 0 && highest_probe_mhz > 0.97 * hardware_mhz &&
        highest_probe_mhz < 1.03 * hardware_mhz) {
        *ret_from = "cpuinfo_max_freq";
        return hardware_mhz;
    }
    *ret_from = median_probe_mhz > 0 ? "median probe" : "unknown";
    return median_probe_mhz > 0 ? median_probe_mhz : 0;
}

/* On the CPU that the calling thread is pinned to. 0 in both where the chains disagree. */
static void probe_clock(struct ps_clock_check *ret_check, double *ret_highest, double *ret_median,
                        double *ret_full_issue, double *ret_shared) {
    double probes[PROBES_KEPT], issues[PROBES_KEPT];
    size_t n = 0, kept = 0;
    *ret_highest = *ret_median = *ret_shared = 0;
    *ret_full_issue = ps_full_issue(FULL_ISSUE_NS);
    uint64_t end = ps_now_ns() + PROBE_NS;
    do {
        double mhz = ps_clock_probe_mhz();
        probes[n % PROBES_KEPT] = mhz;
        issues[n++ % PROBES_KEPT] = mhz > 0 ? ps_issue_probe_per_us() / mhz : 0;
        if (mhz > *ret_highest)
            *ret_highest = mhz;
    } while (ps_now_ns() < end);
    n = n < PROBES_KEPT ? n : PROBES_KEPT;
    for (size_t i = 0; i < n; i++)
        *ret_shared += ps_core_shared(issues[i], *ret_full_issue) / (double)n;
    /* A busy neighbour on the core makes even a chain of adds a per cent slower. */
    for (int shared = 0; shared < 2 && kept == 0; shared++)
        for (size_t i = 0; i < n; i++)
            if (probes[i] > 0 && (shared || !ps_core_shared(issues[i], *ret_full_issue)))
                probes[kept++] = probes[i];
    /* A busy moment is no reason to do without a clock for the whole sheet: chains that do not
     * agree never do, those that were disturbed agree a moment later. */
    for (unsigned i = 0; i < CHECKS_MAX; i++) {
        ps_clock_check(ret_check);
        if (ret_check->trusted)
            break;
        nanosleep(&(struct timespec){.tv_nsec = CHECK_PAUSE_NS}, NULL);
    }
    if (ret_check->trusted)
        *ret_median = kept > 0 ? ps_median(probes, kept) : 0;
    else
        *ret_highest = 0;
}

static double board_clock_mhz(const struct ps_environment *environment, unsigned cluster) {
    char section[32];
    snprintf(section, sizeof(section), "cluster %u", cluster);
    const char *text = ps_boardfile_value(environment->board, section, "reference_mhz");
    return text ? strtod(text, NULL) : 0;
}

static void read_clocks(struct ps_environment *environment, bool measure) {
    struct ps_topology *topology = &environment->topology;
    struct ps_cpu_set before;
    bool movable = measure && ps_affinity_get(&before) == 0;
    environment->clock.trusted = measure;
    for (unsigned i = 0; i < topology->n_clusters; i++) {
        const struct ps_cluster *cluster = &topology->clusters[i];
        struct ps_clock_check check = {0};
        double highest = 0, median = 0, shared = 0;
        const char *from;
        if (movable && ps_pin_to_cpu(cluster->first_cpu) == 0) {
            probe_clock(&check, &highest, &median, &environment->full_issue[i], &shared);
            if (!check.trusted)
                environment->full_issue[i] = 0;
            else if (shared > environment->core_shared)
                environment->core_shared = shared;
        }
        ps_cpufreq_read(environment->root, cluster->first_cpu, &environment->cpufreq[i]);
        bool trusted = environment->clock.trusted && check.trusted;
        if (i == 0)
            environment->clock = check;
        environment->clock.trusted = trusted;
        environment->measured_mhz[i] = median;
        environment->reference_mhz[i] = ps_reference_clock_mhz(
            board_clock_mhz(environment, cluster->id), environment->cpufreq[i].hardware_max_khz,
            highest, median, &from);
        snprintf(environment->reference_from[i], sizeof(environment->reference_from[i]), "%s",
                 from);
    }
    if (movable)
        (void)ps_pin_to_set(&before);
    if (measure)
        ps_clock_quality(&environment->clock_quality);
    environment->clock_measured = measure;
}

static const char *board_value(const struct ps_env *env, const char *section, const char *key) {
    return ps_boardfile_value(env->board, section, key);
}

static const char *board_section(const struct ps_env *env, const char *kind, size_t nth) {
    return env->board != NULL ? ps_boardfile_section(env->board, kind, nth) : NULL;
}

int ps_environment_read(const struct ps_environment_options *options,
                        struct ps_environment *ret_environment, char *ret_why, size_t why_bytes) {
    struct ps_environment *environment = ret_environment;
    memset(environment, 0, sizeof(*environment));
    environment->root = options->root ? options->root : "";
    environment->board = options->board;
    environment->anonymise = options->anonymise;

    int error = ps_topology_read(environment->root, options->cpus, &environment->topology, ret_why,
                                 why_bytes);
    if (error)
        return error;
    error = read_memory(environment, options->quick, ret_why, why_bytes);
    if (error)
        return error;
    read_model(environment);
    read_names(environment);
    read_huge_pages(environment);
    const char *emulated_by = ps_emulated_by(environment->root);
    environment->emulated = emulated_by != NULL;
    if (emulated_by)
        snprintf(environment->emulated_why, sizeof(environment->emulated_why), "%s", emulated_by);
    /* Clocks of a described machine cannot be measured on this one. */
    read_clocks(environment, options->measure_clock && !*environment->root);
    error = ps_environment_targets(environment, options->targets, ret_why, why_bytes);
    if (error)
        return error;

    struct ps_env *env = &environment->env;
    env->clusters = environment->topology.clusters;
    env->cluster = env->clusters;
    env->n_clusters = environment->topology.n_clusters;
    env->n_cpus = environment->topology.n_threads;
    const struct ps_cpu_set *usable = &environment->topology.usable;
    for (int cpu = ps_cpu_set_next(usable, 0); cpu >= 0;
         cpu = ps_cpu_set_next(usable, (unsigned)cpu + 1))
        environment->usable_cpus[env->n_usable_cpus++] = cpu;
    env->usable_cpus = environment->usable_cpus;
    env->quick = options->quick;
    env->targets = environment->targets;
    env->board = options->board;
    env->board_value = board_value;
    env->board_section = board_section;
    return 0;
}
