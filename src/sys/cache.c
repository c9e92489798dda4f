/* SPDX-License-Identifier: MIT
 *
 * Data and unified caches of a CPU, and who shares them.
 */
#include "sys/cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "sys/cache_cpuid.h"
#include "sys/root.h"

/* No CPU has more: two of level 1, and levels 2 to 4, with room for victim and system caches. */
#define CACHE_INDEXES_MAX 16

struct cache {
    unsigned level;
    uint64_t size_bytes; /* 0 unknown */
    unsigned line_bytes; /* 0 unknown */
    bool shared_known;
    struct ps_cpu_set shared;
};

/* "32K", "1024K", "2M"; a number alone is bytes. */
static uint64_t parse_size(const char *text) {
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    switch (*end) {
    case 'K':
        return size << 10;
    case 'M':
        return size << 20;
    case 'G':
        return size << 30;
    default:
        return size;
    }
}

/* A file of a CPU: /sys/devices/system/cpu/cpuN/<name>. */
static bool read_cpu_file(const char *root, unsigned cpu, const char *name, char *text,
                          size_t bytes) {
    char path[160];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
    return ps_read_text(root, path, text, bytes) > 0;
}

static bool read_cache_file(const char *root, unsigned cpu, unsigned index, const char *name,
                            char *text, size_t bytes) {
    char path[64];
    snprintf(path, sizeof path, "cache/index%u/%s", index, name);
    return read_cpu_file(root, cpu, path, text, bytes);
}

/* 1: a data cache; 0: something else there; -1: no such index. */
static int read_cache(const char *root, unsigned cpu, unsigned index, struct cache *cache) {
    /* A list of 4096 CPUs, every other one, is at most about 20 000 characters. */
    static const size_t list_bytes = 24576;
    char text[64];
    if (!read_cache_file(root, cpu, index, "level", text, sizeof text)) {
        return -1;
    }
    cache->level = (unsigned)strtoul(text, NULL, 10);
    if (!read_cache_file(root, cpu, index, "type", text, sizeof text) ||
        (text[0] != 'D' && text[0] != 'U')) {
        return 0;
    }
    cache->size_bytes =
        read_cache_file(root, cpu, index, "size", text, sizeof text) ? parse_size(text) : 0;
    cache->line_bytes = read_cache_file(root, cpu, index, "coherency_line_size", text, sizeof text)
                            ? (unsigned)strtoul(text, NULL, 10)
                            : 0;
    ps_cpu_set_clear(&cache->shared);
    char *list = malloc(list_bytes);
    cache->shared_known = list != NULL &&
                          read_cache_file(root, cpu, index, "shared_cpu_list", list, list_bytes) &&
                          ps_cpu_list_parse(list, &cache->shared) == 0;
    free(list);
    return 1;
}

/* The threads of this CPU's core; itself alone where the kernel does not say. */
static void read_siblings(const char *root, unsigned cpu, struct ps_cpu_set *siblings) {
    char text[1024];
    if (!read_cpu_file(root, cpu, "topology/thread_siblings_list", text, sizeof text) ||
        ps_cpu_list_parse(text, siblings) < 0) {
        ps_cpu_set_clear(siblings);
    }
    ps_cpu_set_add(siblings, cpu);
}

static bool is_private(const struct cache *cache, const struct ps_cpu_set *online,
                       const struct ps_cpu_set *siblings) {
    if (!cache->shared_known) {
        return cache->level == 1; /* no machine that runs Linux shares it between cores */
    }
    for (int cpu = ps_cpu_set_next(&cache->shared, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&cache->shared, (unsigned)cpu + 1)) {
        if (ps_cpu_set_has(online, (unsigned)cpu) && !ps_cpu_set_has(siblings, (unsigned)cpu)) {
            return false;
        }
    }
    return true;
}

static void add_to_cluster(struct ps_cluster *cluster, unsigned level, uint64_t size_bytes,
                           unsigned line_bytes, bool is_private) {
    if (level == 1) {
        cluster->l1d_bytes = size_bytes;
    } else if (level == 2) {
        cluster->l2_bytes = size_bytes;
    }
    if (cluster->line_bytes == 0) {
        cluster->line_bytes = line_bytes;
    }
    if (is_private && size_bytes > cluster->last_private_bytes) {
        cluster->last_private_bytes = size_bytes;
    }
}

/* The processor's own word, where this is its machine and not a made-up root. Machines with unlike
 * cores have kernels that tell, so the processor that this runs on stands for all. */
static unsigned read_processor(const char *root, struct ps_cpuid_cache *caches) {
    ps_cpuid_fn *cpuid = ps_root_is_real(root) ? ps_cpuid_here() : NULL;
    return cpuid != NULL ? ps_cpuid_caches(cpuid, caches) : 0;
}

void ps_cache_read(const char *root, const struct ps_cpu_set *online, struct ps_cluster *cluster) {
    struct ps_cpu_set siblings;
    struct cache cache;
    cluster->l1d_bytes = cluster->l2_bytes = cluster->last_private_bytes = 0;
    cluster->line_bytes = 0;
    read_siblings(root, cluster->first_cpu, &siblings);
    for (unsigned index = 0; index < CACHE_INDEXES_MAX; index++) {
        int kind = read_cache(root, cluster->first_cpu, index, &cache);
        if (kind < 0) {
            break;
        }
        if (kind == 0) {
            continue;
        }
        add_to_cluster(cluster, cache.level, cache.size_bytes, cache.line_bytes,
                       is_private(&cache, online, &siblings));
    }
    if (cluster->l1d_bytes == 0) {
        struct ps_cpuid_cache told[PS_CPUID_CACHES_MAX];
        unsigned n = read_processor(root, told);
        for (unsigned i = 0; i < n; i++) {
            add_to_cluster(cluster, told[i].level, told[i].size_bytes, told[i].line_bytes,
                           told[i].sharers <= 2);
        }
    }
}

/* The highest data cache of a CPU that has a size; false where there is none. */
static bool read_last_level(const char *root, unsigned cpu, struct cache *last) {
    struct cache cache;
    bool found = false;
    for (unsigned index = 0; index < CACHE_INDEXES_MAX; index++) {
        int kind = read_cache(root, cpu, index, &cache);
        if (kind < 0) {
            break;
        }
        if (kind > 0 && cache.size_bytes > 0 && (!found || cache.level > last->level)) {
            *last = cache;
            found = true;
        }
    }
    return found;
}

uint64_t ps_cache_last_level_bytes(const char *root, const struct ps_cpu_set *set) {
    struct ps_cpu_set left = *set; /* CPUs whose last-level cache has not been counted */
    struct cache last;
    uint64_t sum_bytes = 0;
    for (int cpu = ps_cpu_set_next(&left, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&left, (unsigned)cpu + 1)) {
        if (!read_last_level(root, (unsigned)cpu, &last)) {
            continue;
        }
        sum_bytes += last.size_bytes;
        for (unsigned i = 0; i < PS_CPU_MAX / 64; i++) {
            left.words[i] &= ~last.shared.words[i];
        }
    }
    if (sum_bytes == 0) {
        struct ps_cpuid_cache told[PS_CPUID_CACHES_MAX];
        unsigned n = read_processor(root, told);
        unsigned n_cpus = ps_cpu_set_count(set);
        /* Below the third level it may be that there is more of which nothing was told. */
        if (n > 0 && told[n - 1].level >= 3 && told[n - 1].sharers > 0) {
            unsigned instances = (n_cpus + told[n - 1].sharers - 1) / told[n - 1].sharers;
            sum_bytes = instances * told[n - 1].size_bytes;
        }
    }
    return sum_bytes;
}
