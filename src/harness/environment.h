/* SPDX-License-Identifier: MIT
 *
 * The machine as the plan sees it, and the conditions that every sheet states.
 */
#ifndef PS_HARNESS_ENVIRONMENT_H
#define PS_HARNESS_ENVIRONMENT_H

#include "core/env.h"
#include "core/json_writer.h"
#include "harness/boardfile.h"
#include "harness/selftest.h"
#include "sys/clock_speed.h"
#include "sys/topology.h"

#define PS_TARGETS_MAX 16

struct ps_environment {
    const char *root; /* "" or --root */
    struct ps_topology topology;
    struct ps_env env;
    int usable_cpus[PS_CPU_MAX];
    struct ps_target targets[PS_TARGETS_MAX];
    char target_names[PS_TARGETS_MAX][64], target_paths[PS_TARGETS_MAX][256];
    char target_filesystems[PS_TARGETS_MAX][32], target_whys[PS_TARGETS_MAX][200];
    struct ps_clock_check clock; /* of the first cluster; trusted only when all clusters' are */
    struct ps_clock_quality clock_quality;
    struct ps_selftest
        selftest; /* by ps_selftest_measure, where this program is the one to start */
    double measured_mhz[PS_CLUSTERS_MAX];  /* median probe; 0 unknown or not measured */
    double reference_mhz[PS_CLUSTERS_MAX]; /* 0 unknown */
    double full_issue[PS_CLUSTERS_MAX];    /* adds per cycle on a core of one's own; 0 unknown */
    double core_shared; /* of the probes, the share beside a busy neighbour: largest of clusters */
    char reference_from[PS_CLUSTERS_MAX][48];
    struct ps_cpufreq cpufreq[PS_CLUSTERS_MAX]; /* read while the cluster was busy with probes */
    uint64_t memory_total_bytes;
    const struct ps_boardfile *board; /* may be NULL */
    char model[128], hostname[65], kernel[128], started[32];
    char thp[16]; /* "always", "madvise", "never"; "" where the kernel has none */
    bool clock_measured, anonymise, emulated;
    char emulated_why[64]; /* "qemu-user", "qemu TCG" ... */
};

struct ps_environment_options {
    const char *root, *cpus;
    const struct ps_boardfile *board;
    bool quick, anonymise, measure_clock; /* measure_clock false for --dry-run and list */
    const char *const *targets;           /* "name=path" or "path", NULL-terminated; NULL: none */
};
/* 0, or a negative errno with a sentence in why. */
int ps_environment_read(const struct ps_environment_options *options,
                        struct ps_environment *ret_environment, char *ret_why, size_t why_bytes);
/* The sheet's "env" object and the "source" record of this Linux; like all records without the end
 * of the line. */
void ps_environment_write(const struct ps_environment *environment, struct ps_json_writer *json);
void ps_environment_write_source(const struct ps_environment *environment,
                                 struct ps_json_writer *json);

/* What the "sheet" record says of the plan. */
struct ps_sheet_plan {
    const char *hash, *depth;
    const char *const *args; /* what --resume needs to make the same plan again */
    size_t n_args;
    uint64_t seed;
    double predicted_s;
    size_t n_cases; /* case records that follow */
};
/* Writes {"type":"sheet",...}, `id` being new for every sheet. */
void ps_environment_write_header(const struct ps_environment *environment,
                                 const struct ps_sheet_plan *plan, struct ps_json_writer *json);

/* Differences worth a line to people before the run starts: clock measured against reported over
 * 3 %, quota below CPUs, governor ... Calls `say` for each. */
void ps_environment_notes(const struct ps_environment *environment,
                          void (*say)(void *, const char *), void *context);

/* A cluster's reference clock: the board file's (0: none), else the hardware's maximum if the
 * highest probe is within 3 % of it, else the median probe. 0 and "unknown" when there is none of
 * these. *ret_from is static. */
double ps_reference_clock_mhz(double board_mhz, unsigned hardware_max_khz, double highest_probe_mhz,
                              double median_probe_mhz, const char **ret_from);

/* The program that is running: "0.1.0", the commit, the compiler. */
const char *ps_tool_version(void);
const char *ps_tool_commit(void);

#endif
