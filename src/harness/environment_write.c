/* SPDX-License-Identifier: MIT
 *
 * The conditions of a measurement as records of the sheet (docs/FORMAT.md: sheet, source), and as
 * sentences for people where something differs from what they may expect.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "harness/environment.h"
#include "sheet/sheet.h"
#include "sys/root.h"

#ifndef PS_VERSION
#define PS_VERSION "unknown"
#endif
#ifndef PS_COMMIT
#define PS_COMMIT "unknown"
#endif
#ifndef PS_COMPILER
#define PS_COMPILER "unknown"
#endif
#ifndef PS_FLAGS
#define PS_FLAGS "unknown"
#endif

/* Measured and reported clock further apart than this are news (the chain itself is good to 1 %).
 */
#define CLOCK_DIFFERS 0.03

const char *ps_tool_version(void) {
    return PS_VERSION;
}

const char *ps_tool_commit(void) {
    return PS_COMMIT;
}

static void pair_known_u64(struct ps_json_writer *json, const char *key, uint64_t value) {
    if (value > 0) {
        ps_json_pair_u64(json, key, value);
        return;
    }
    ps_json_key(json, key);
    ps_json_null(json);
}

static void pair_known_double(struct ps_json_writer *json, const char *key, double value,
                              unsigned digits) {
    ps_json_pair_double(json, key, value > 0 ? value : NAN, digits);
}

static void pair_text(struct ps_json_writer *json, const char *key, const char *text) {
    ps_json_pair_string(json, key, text && *text ? text : NULL);
}

static void pair_cpus(struct ps_json_writer *json, const char *key, const struct ps_cpu_set *set) {
    /* 1024 CPUs, every other one: 5 bytes each. */
    char text[8192];
    ps_cpu_list_format(set, text, sizeof(text));
    ps_json_pair_string(json, key, text);
}

/* The clock that the kernel states for a busy CPU, MHz; 0: it states none. */
static double reported_mhz(const struct ps_cpufreq *cpufreq) {
    unsigned khz = cpufreq->current_khz ? cpufreq->current_khz : cpufreq->policy_max_khz;
    return (khz ? khz : cpufreq->hardware_max_khz) / 1000.0;
}

static void write_clusters(const struct ps_environment *environment, struct ps_json_writer *json) {
    const struct ps_topology *topology = &environment->topology;
    ps_json_key(json, "clusters");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < topology->n_clusters; i++) {
        const struct ps_cluster *cluster = &topology->clusters[i];
        const struct ps_cpufreq *cpufreq = &environment->cpufreq[i];
        ps_json_object_begin(json);
        ps_json_pair_u64(json, "id", cluster->id);
        pair_cpus(json, "cpus", &topology->cluster_cpus[i]);
        ps_json_pair_u64(json, "n_cpus", cluster->n_cpus);
        pair_known_u64(json, "capacity", cluster->capacity);
        pair_known_double(json, "reported_mhz", reported_mhz(cpufreq), 7);
        pair_known_double(json, "policy_max_mhz", cpufreq->policy_max_khz / 1000.0, 7);
        pair_known_double(json, "hardware_max_mhz", cpufreq->hardware_max_khz / 1000.0, 7);
        ps_json_pair_string(json, "governor", cpufreq->governor[0] ? cpufreq->governor : "none");
        pair_known_double(json, "measured_mhz", environment->measured_mhz[i], 6);
        pair_known_double(json, "reference_mhz", environment->reference_mhz[i], 6);
        ps_json_pair_string(json, "reference_from", environment->reference_from[i]);
        pair_known_u64(json, "l1d_bytes", cluster->l1d_bytes);
        pair_known_u64(json, "l2_bytes", cluster->l2_bytes);
        pair_known_u64(json, "last_private_bytes", cluster->last_private_bytes);
        pair_known_u64(json, "last_level_bytes", cluster->last_level_bytes);
        pair_known_u64(json, "line_bytes", cluster->line_bytes);
        ps_json_object_end(json);
    }
    ps_json_array_end(json);
}

static void write_cpus(const struct ps_topology *topology, struct ps_json_writer *json) {
    ps_json_key(json, "cpus");
    ps_json_object_begin(json);
    pair_cpus(json, "possible", &topology->possible);
    pair_cpus(json, "online", &topology->online);
    pair_cpus(json, "isolated", &topology->isolated);
    pair_cpus(json, "allowed", &topology->allowed);
    pair_cpus(json, "usable", &topology->usable);
    pair_known_double(json, "quota", topology->quota_cpus, 6);
    ps_json_pair_u64(json, "threads", topology->n_threads);
    ps_json_object_end(json);
}

static void write_clock(const struct ps_environment *environment, struct ps_json_writer *json) {
    char source[32] = "";
    ps_json_key(json, "clock");
    if (!environment->clock_measured) {
        ps_json_null(json);
        return;
    }
    (void)ps_read_text(environment->root,
                       "/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                       sizeof(source));
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "resolution_ns", environment->clock_quality.resolution_ns);
    ps_json_pair_u64(json, "read_ns", environment->clock_quality.read_ns);
    ps_json_pair_bool(json, "monotone", environment->clock_quality.monotone);
    pair_text(json, "source", source);
    ps_json_pair_bool(json, "chains_agree", environment->clock.trusted);
    pair_known_double(json, "multiply_ratio", environment->clock.ratio, 4);
    ps_json_pair_double(json, "core_shared_pct", environment->core_shared * 100, 3);
    ps_json_object_end(json);
}

static void write_selftest(const struct ps_environment *environment, struct ps_json_writer *json) {
    ps_json_key(json, "selftest");
    ps_json_object_begin(json);
    pair_known_double(json, "null_loop_ns", environment->selftest.null_loop_ns, 4);
    pair_known_double(json, "child_ms", environment->selftest.child_ms, 4);
    ps_json_object_end(json);
}

static void write_targets(const struct ps_environment *environment, struct ps_json_writer *json) {
    ps_json_key(json, "targets");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < environment->env.n_targets; i++) {
        const struct ps_target *target = &environment->targets[i];
        ps_json_object_begin(json);
        ps_json_pair_string(json, "name", target->name);
        ps_json_pair_string(json, "path", environment->anonymise ? NULL : target->path);
        pair_text(json, "filesystem", target->filesystem);
        pair_known_u64(json, "free_bytes", target->free_bytes);
        ps_json_pair_string(json, "why", target->path ? NULL : target->why);
        ps_json_object_end(json);
    }
    ps_json_array_end(json);
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Each CPU fault that this machine has and what the kernel does about it, the first word of it. */
static void write_mitigations(const char *root, struct ps_json_writer *json) {
    char directory[PATH_MAX], names[64][32], text[4096] = "";
    size_t n = 0, length = 0;
    snprintf(directory, sizeof(directory), "%s/sys/devices/system/cpu/vulnerabilities", root);
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && n < 64 && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof(names[0]))
            snprintf(names[n++], sizeof(names[0]), "%s", entry->d_name);
    if (dir)
        closedir(dir);
    qsort(names, n, sizeof(names[0]), by_name);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_MAX], state[256];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s", names[i]);
        if (ps_read_text(root, path, state, sizeof(state)) <= 0 ||
            strncmp(state, "Not affected", 12) == 0)
            continue;
        const char *word = strncmp(state, "Mitigation", 10) == 0   ? "mitigated"
                           : strncmp(state, "Vulnerable", 10) == 0 ? "vulnerable"
                                                                   : "unknown";
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %s",
                                   length ? ", " : "", names[i], word);
    }
    ps_json_pair_string(json, "mitigations", n == 0 ? NULL : length ? text : "none needed");
}

static void write_note(void *context, const char *note) {
    ps_json_string(context, note);
}

void ps_environment_write(const struct ps_environment *environment, struct ps_json_writer *json) {
    char text[64] = "";
    ps_json_object_begin(json);
    ps_json_pair_string(json, "kernel", environment->kernel);
    pair_text(json, "hostname", environment->hostname);
    write_cpus(&environment->topology, json);
    write_clusters(environment, json);
    ps_json_pair_u64(json, "memory_total_bytes", environment->memory_total_bytes);
    ps_json_pair_u64(json, "memory_available_bytes", environment->env.memory_available_bytes);
    ps_json_pair_u64(json, "page_bytes", environment->env.page_bytes);
    pair_known_u64(json, "huge_page_bytes", environment->env.huge_page_bytes);
    pair_text(json, "thp", environment->thp);
    write_clock(environment, json);
    write_selftest(environment, json);
    write_mitigations(environment->root, json);
    ps_json_pair_double(json, "load_average",
                        ps_read_text(environment->root, "/proc/loadavg", text, sizeof(text)) > 0
                            ? strtod(text, NULL)
                            : NAN,
                        4);
    write_targets(environment, json);
    ps_json_key(json, "notes");
    ps_json_array_begin(json);
    ps_environment_notes(environment, write_note, json);
    ps_json_array_end(json);
    ps_json_pair_bool(json, "emulated", environment->emulated);
    ps_json_object_end(json);
}

void ps_environment_write_source(const struct ps_environment *environment,
                                 struct ps_json_writer *json) {
    char cluster[16];
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "source");
    ps_json_pair_string(json, "id", "linux");
    ps_json_pair_string(json, "kind", "linux");
    pair_text(json, "core", environment->model);
    /* The unit of CLOCK_MONOTONIC_RAW, in which batches are timed. */
    ps_json_pair_i64(json, "hz", 1000000000);
    ps_json_pair_i64(json, "counter_bits", 64);
    ps_json_pair_u64(json, "usable_cpus", environment->env.n_cpus);
    ps_json_key(json, "reference_mhz");
    ps_json_object_begin(json);
    for (unsigned i = 0; i < environment->topology.n_clusters; i++) {
        snprintf(cluster, sizeof(cluster), "%u", environment->topology.clusters[i].id);
        pair_known_double(json, cluster, environment->reference_mhz[i], 6);
    }
    ps_json_object_end(json);
    ps_json_pair_bool(json, "emulated", environment->emulated);
    pair_text(json, "emulated_why", environment->emulated_why);
    ps_json_object_end(json);
}

static void write_tool(struct ps_json_writer *json) {
    struct utsname name;
    char libc[64];
    /* "glibc 2.36"; the other libc of Linux has no version to ask for. */
    size_t length = confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc));
    if (length == 0 || length > sizeof(libc))
        snprintf(libc, sizeof(libc), "musl");
    ps_json_key(json, "tool");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "version", PS_VERSION);
    ps_json_pair_string(json, "commit", PS_COMMIT);
    ps_json_pair_string(json, "compiler", PS_COMPILER);
    ps_json_pair_string(json, "flags", PS_FLAGS);
    ps_json_pair_string(json, "libc", libc);
    ps_json_pair_string(json, "arch", uname(&name) == 0 ? name.machine : NULL);
    ps_json_object_end(json);
}

static void write_board(const struct ps_environment *environment, struct ps_json_writer *json) {
    const char *mts = ps_boardfile_value(environment->board, "memory", "mts");
    ps_json_key(json, "board");
    ps_json_object_begin(json);
    pair_text(json, "id", ps_boardfile_value(environment->board, "board", "id"));
    pair_text(json, "model", environment->model);
    pair_text(json, "revision", ps_boardfile_value(environment->board, "board", "revision"));
    pair_known_u64(json, "memory_mts", mts ? strtoull(mts, NULL, 10) : 0);
    ps_json_object_end(json);
}

void ps_environment_write_header(const struct ps_environment *environment,
                                 const struct ps_sheet_plan *plan, struct ps_json_writer *json) {
    uint64_t random = 0;
    char id[17];
    /* Two sheets of one board in one second must still differ. */
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        random = ((uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec) * 0x9e3779b97f4a7c15u ^
                 (uint64_t)getpid();
    }
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)random);
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "sheet");
    ps_json_pair_i64(json, "format", PS_SHEET_FORMAT);
    ps_json_pair_string(json, "id", id);
    ps_json_pair_string(json, "started", environment->started);
    write_board(environment, json);
    write_tool(json);
    ps_json_key(json, "plan");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "hash", plan->hash);
    ps_json_key(json, "args");
    ps_json_array_begin(json);
    for (size_t i = 0; i < plan->n_args; i++)
        ps_json_string(json, plan->args[i]);
    ps_json_array_end(json);
    ps_json_pair_u64(json, "seed", plan->seed);
    ps_json_pair_string(json, "depth", plan->depth);
    ps_json_pair_double(json, "predicted_s", plan->predicted_s, 4);
    ps_json_pair_u64(json, "cases", plan->n_cases);
    ps_json_object_end(json);
    ps_json_key(json, "env");
    ps_environment_write(environment, json);
    ps_json_object_end(json);
}

struct speaker {
    void (*say)(void *, const char *);
    void *context;
};

static void note(const struct speaker *speaker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(const struct speaker *speaker, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    speaker->say(speaker->context, text);
}

static void note_clock(const struct ps_environment *environment, unsigned i,
                       const struct speaker *speaker) {
    const struct ps_cpufreq *cpufreq = &environment->cpufreq[i];
    double measured = environment->measured_mhz[i], reported = reported_mhz(cpufreq);
    unsigned cluster = environment->topology.clusters[i].id,
             cpu = environment->topology.clusters[i].first_cpu;
    if (measured > 0 && reported > 0 && fabs(measured / reported - 1) > CLOCK_DIFFERS)
        note(speaker,
             "cluster %u: clock differs %+.0f %%: %.0f MHz measured, %.0f MHz reported; the "
             "measured one is used",
             cluster, 100 * (measured / reported - 1), measured, reported);
    if (cpufreq->hardware_max_khz > cpufreq->policy_max_khz && cpufreq->policy_max_khz > 0)
        note(speaker, "cluster %u: the clock is limited to %.0f of %.0f MHz (scaling_max_freq)",
             cluster, cpufreq->policy_max_khz / 1000.0, cpufreq->hardware_max_khz / 1000.0);
    if (strcmp(cpufreq->governor, "powersave") == 0 ||
        strcmp(cpufreq->governor, "conservative") == 0 ||
        strcmp(cpufreq->governor, "ondemand") == 0)
        note(speaker,
             "cluster %u: governor %s on cpu %u may hold the clock down; for a steady clock: run "
             "--fix-clock, as root",
             cluster, cpufreq->governor, cpu);
}

void ps_environment_notes(const struct ps_environment *environment,
                          void (*say)(void *, const char *), void *context) {
    const struct speaker speaker = {say, context};
    const struct ps_topology *topology = &environment->topology;
    unsigned usable = ps_cpu_set_count(&topology->usable);
    char list[80];
    for (unsigned i = 0; i < topology->n_clusters; i++)
        note_clock(environment, i, &speaker);
    if (environment->clock_measured && !environment->clock.trusted)
        note(&speaker,
             "clock unknown: the two cycle loops disagree (ratio %.2f); times are not normalised",
             environment->clock.ratio);
    if (environment->clock_measured && !environment->clock_quality.monotone)
        note(&speaker, "the clock is not monotone across CPUs: times of rows on several CPUs "
                       "cannot be trusted");
    if (topology->quota_limits)
        note(&speaker,
             "CPU quota %.2f for %u usable CPUs: %u threads by default, throttling possible",
             topology->quota_cpus, usable, topology->n_threads);
    unsigned online = ps_cpu_set_count(&topology->online);
    if (!topology->explicit_list && usable < online) {
        ps_cpu_list_format(&topology->usable, list, sizeof(list));
        note(&speaker,
             "%u of %u online CPUs may be used (%s): affinity or cpuset; --cpus names others",
             usable, online, list);
    }
    if (ps_cpu_set_count(&topology->isolated) > 0) {
        ps_cpu_list_format(&topology->isolated, list, sizeof(list));
        note(&speaker, "isolated CPUs: %s%s", list,
             topology->explicit_list ? "" : "; --cpus uses them");
    }
    if (environment->emulated)
        note(&speaker, "this machine is emulated (%s): times are of the emulator, not of hardware",
             environment->emulated_why);
}
