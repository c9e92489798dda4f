/* SPDX-License-Identifier: MIT
 *
 * Which CPUs there are, which may be used, and how they group.
 */
#ifndef PS_SYS_TOPOLOGY_H
#define PS_SYS_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/env.h"
#include "sys/cpu_list.h"

#define PS_CLUSTERS_MAX 64

struct ps_topology {
    struct ps_cpu_set possible, present, online, isolated;
    struct ps_cpu_set allowed; /* this process's affinity, cpuset included */
    struct ps_cpu_set usable;  /* allowed and online; or the explicit list, which wins */
    double quota_cpus;         /* cgroup CPU quota in CPUs; 0: none */
    unsigned n_threads;        /* min(usable, ceil(quota)), at least 1: default for "all" */
    bool explicit_list;        /* --cpus */
    bool quota_limits;         /* quota below usable: throttling is possible */
    /* Clusters are groups of usable CPUs that differ in cpu_capacity, MIDR (or model) or maximum
     * frequency, in order of their first CPUs. One cluster when all are alike: capacities and
     * frequencies within 10 % are, so that favoured cores of one kind are no cluster of their own.
     */
    struct ps_cluster clusters[PS_CLUSTERS_MAX];
    struct ps_cpu_set cluster_cpus[PS_CLUSTERS_MAX];
    unsigned n_clusters;
};

/* `affinity` NULL: sched_getaffinity (with a fake root: Cpus_allowed_list of its proc/self/status).
 * `cpus` NULL: no explicit list. An explicit list is taken as it is, so long as its CPUs are
 * online. 0, -EINVAL with a sentence in why[160] (static or formatted), or -errno. */
int ps_topology_read(const char *root, const char *cpus, struct ps_topology *ret_topology,
                     char *ret_why, size_t why_bytes);

/* Is this CPU online now? (Asked again before each run.) */
bool ps_cpu_online(const char *root, unsigned cpu);

/* MemAvailable, MemTotal, in bytes; cgroup memory limit (v1, v2) applied to `available`. 0 or
 * -errno. */
int ps_memory_read(const char *root, uint64_t *ret_total_bytes, uint64_t *ret_available_bytes);

#endif
