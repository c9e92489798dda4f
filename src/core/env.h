/* SPDX-License-Identifier: MIT
 *
 * What a benchmark may know of the machine when it makes its cases. Filled by the harness (or by
 * the microcontroller's board file); 0 and NULL mean unknown, never "none of it".
 */
#ifndef PS_CORE_ENV_H
#define PS_CORE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_cluster {
    unsigned id;
    unsigned n_cpus;    /* usable ones */
    unsigned first_cpu; /* a usable one, where single-threaded rows of this cluster run */
    unsigned capacity;  /* cpu_capacity, 0 unknown */
    unsigned max_khz;   /* cpuinfo_max_freq, 0 unknown */
    uint64_t l1d_bytes;
    uint64_t l2_bytes;           /* 0: no L2, or unknown */
    uint64_t last_private_bytes; /* the largest cache that one CPU has to itself; 0 unknown */
    uint64_t last_level_bytes;   /* sum of the last-level instances of the usable CPUs; 0 unknown */
    unsigned line_bytes;         /* 0 unknown */
};

/* A place to put files: the tmpfs that is always tried, and each --target or [target] directory. */
struct ps_target {
    const char *name;       /* the place's name, "tmpfs" */
    const char *path;       /* a writable directory, or NULL when `why` says what is wrong */
    const char *filesystem; /* "tmpfs", "ext4", "nfs" ...; as the kernel names it */
    const char *why;        /* one sentence when path is NULL */
    uint64_t free_bytes;
};

struct ps_env {
    const struct ps_cluster *cluster; /* the one that cases are being made for */
    const struct ps_cluster *clusters;
    unsigned n_clusters;
    unsigned n_cpus; /* usable: affinity, cpuset, quota and online state together */
    const int
        *usable_cpus; /* their numbers, ascending; more than n_cpus under a quota; may be NULL */
    unsigned n_usable_cpus;
    size_t page_bytes;
    size_t huge_page_bytes; /* of transparent huge pages; 0 when the kernel has none */
    uint64_t memory_available_bytes;
    uint64_t working_set_cap_bytes; /* for sizes taken from the machine */
    uint64_t published_cap_bytes;   /* for published sizes: half of what is available */
    bool quick;
    const struct ps_target *targets;
    unsigned n_targets;
    /* Value of a board file key ("endpoint ocsram", "base"), or NULL. May be NULL itself. */
    const char *(*board_value)(const struct ps_env *env, const char *section, const char *key);
    const void *board;
    /* Name of the n-th section of a kind ("endpoint"), or NULL past the last. May be NULL itself.
     */
    const char *(*board_section)(const struct ps_env *env, const char *kind, size_t nth);
};

/* Cap of 4 x last level cache and of working_set_cap_bytes; `*ret_cache_resident` when the result
 * is below 4 x last level (or the cache is unknown and the cap bites). */
uint64_t ps_env_beyond_cache_bytes(const struct ps_env *env, bool *ret_cache_resident);

#endif
