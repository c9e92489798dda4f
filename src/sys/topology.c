/* SPDX-License-Identifier: MIT
 *
 * Which CPUs there are, which may be used, and how they group. What may be used is what the kernel
 * grants this process (affinity and cpuset, online), unless the user gives a list: people who test
 * isolated CPUs start from a mask without them. A quota of the control group limits how many
 * threads make sense, not which CPUs.
 */
#include "sys/topology.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/affinity.h"
#include "sys/cache.h"
#include "sys/cgroup.h"
#include "sys/root.h"

/* What makes CPUs alike. */
struct kind {
    uint64_t model; /* MIDR, or a hash of what /proc/cpuinfo says; 0 unknown */
    unsigned capacity, max_khz;
};

static int read_list(const char *root, const char *path, struct ps_cpu_set *ret_set) {
    char *text;
    size_t length;
    int r = ps_read_whole(root, path, &text, &length);
    if (r < 0) {
        return r;
    }
    r = ps_cpu_list_parse(text, ret_set);
    free(text);
    return r;
}

/* The CPUs that have a line in /proc/stat: those online. */
static int read_stat_cpus(const char *root, struct ps_cpu_set *ret_set) {
    char *text;
    size_t length;
    int r = ps_read_whole(root, "/proc/stat", &text, &length);
    if (r < 0) {
        return r;
    }
    ps_cpu_set_clear(ret_set);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)line[3])) {
            ps_cpu_set_add(ret_set, (unsigned)strtoul(line + 3, NULL, 10));
        }
    }
    free(text);
    return ps_cpu_set_next(ret_set, 0) < 0 ? -ENOENT : 0;
}

/* "Cpus_allowed_list:	0-3" of /proc/self/status. */
static int read_status_allowed(const char *root, struct ps_cpu_set *ret_set) {
    static const char key[] = "Cpus_allowed_list:";
    char *text;
    size_t length;
    int r = ps_read_whole(root, "/proc/self/status", &text, &length);
    if (r < 0) {
        return r;
    }
    char *list = strstr(text, key);
    r = -ENOENT;
    if (list != NULL) {
        list += strlen(key);
        list += strspn(list, " \t");
        list[strcspn(list, "\n")] = '\0';
        r = ps_cpu_list_parse(list, ret_set);
    }
    free(text);
    return r;
}

static int read_sets(const char *root, struct ps_topology *t) {
    int affinity = ps_root_is_real(root) ? ps_affinity_get(&t->allowed)
                                         : read_status_allowed(root, &t->allowed);
    /* Without /sys (small containers) /proc/stat knows, and at the least what we may run on. */
    if (read_list(root, "/sys/devices/system/cpu/online", &t->online) < 0 &&
        read_stat_cpus(root, &t->online) < 0) {
        if (affinity < 0) {
            return affinity;
        }
        t->online = t->allowed;
    }
    if (affinity < 0) {
        t->allowed = t->online;
    }
    if (read_list(root, "/sys/devices/system/cpu/present", &t->present) < 0) {
        t->present = t->online;
    }
    if (read_list(root, "/sys/devices/system/cpu/possible", &t->possible) < 0) {
        t->possible = t->present;
    }
    if (read_list(root, "/sys/devices/system/cpu/isolated", &t->isolated) < 0) {
        ps_cpu_set_clear(&t->isolated);
    }
    return 0;
}

static int choose_usable(const char *cpus, struct ps_topology *t, char *ret_why, size_t why_bytes) {
    t->usable = t->allowed;
    t->explicit_list = cpus != NULL;
    if (cpus != NULL) {
        if (ps_cpu_list_parse(cpus, &t->usable) < 0 || ps_cpu_set_next(&t->usable, 0) < 0) {
            snprintf(ret_why, why_bytes, "\"%.60s\" is not a list of CPUs; write it like 0-3,8.",
                     cpus);
            return -EINVAL;
        }
        for (int cpu = ps_cpu_set_next(&t->usable, 0); cpu >= 0;
             cpu = ps_cpu_set_next(&t->usable, (unsigned)cpu + 1)) {
            if (!ps_cpu_set_has(&t->online, (unsigned)cpu)) {
                char online[64];
                ps_cpu_list_format(&t->online, online, sizeof online);
                snprintf(ret_why, why_bytes, "CPU %d of the list is %s; online are %s.", cpu,
                         ps_cpu_set_has(&t->present, (unsigned)cpu) ? "offline" : "not there",
                         online);
                return -EINVAL;
            }
        }
        return 0;
    }
    ps_cpu_set_and(&t->usable, &t->online);
    if (ps_cpu_set_next(&t->usable, 0) < 0) {
        snprintf(ret_why, why_bytes,
                 "None of the CPUs that this process may use is online; give others with --cpus.");
        return -EINVAL;
    }
    return 0;
}

/* ---- Clusters ------------------------------------------------------------------------------- */

static unsigned read_cpu_unsigned(const char *root, unsigned cpu, const char *name) {
    char path[128];
    int64_t value;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
    if (ps_read_i64(root, path, &value) < 0 || value < 0 || value > UINT32_MAX) {
        return 0;
    }
    return (unsigned)value;
}

static uint64_t hash_line(uint64_t hash, const char *line) {
    for (; *line != '\0' && *line != '\n'; line++) {
        hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
    return hash;
}

/* Fills models[cpu] for the usable CPUs from /proc/cpuinfo: for architectures without MIDR files.
 */
static void read_cpuinfo_models(const char *root, uint64_t *models) {
    static const char *const keys[] = {"CPU implementer", "CPU part",  "model name", "cpu model",
                                       "uarch",           "marchid\t", "isa\t"};
    char *text;
    size_t length;
    uint64_t *model = NULL;
    if (ps_read_whole(root, "/proc/cpuinfo", &text, &length) < 0) {
        return;
    }
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "processor", 9) == 0) {
            unsigned long cpu = strtoul(line + strcspn(line, ":\n") + 1, NULL, 10);
            model = cpu < PS_CPU_MAX ? &models[cpu] : NULL;
        }
        for (size_t i = 0; model != NULL && i < sizeof keys / sizeof keys[0]; i++) {
            if (strncmp(line, keys[i], strlen(keys[i])) == 0) {
                *model = hash_line(*model, line);
            }
        }
    }
    free(text);
}

/* Hybrid x86 processors tell their kinds of core apart by the event sources that they have. */
static void add_hybrid_kinds(const char *root, uint64_t *models) {
    static const char *const lists[] = {"/sys/devices/cpu_atom/cpus",
                                        "/sys/devices/cpu_lowpower/cpus"};
    struct ps_cpu_set set;
    for (unsigned i = 0; i < 2; i++) {
        if (read_list(root, lists[i], &set) < 0) {
            continue;
        }
        for (int cpu = ps_cpu_set_next(&set, 0); cpu >= 0;
             cpu = ps_cpu_set_next(&set, (unsigned)cpu + 1)) {
            models[cpu] += i + 1;
        }
    }
}

/* *ret_models has PS_CPU_MAX entries. */
static int read_models(const char *root, const struct ps_cpu_set *usable, uint64_t **ret_models) {
    uint64_t *models = calloc(PS_CPU_MAX, sizeof *models);
    bool midr = false;
    if (models == NULL) {
        return -ENOMEM;
    }
    for (int cpu = ps_cpu_set_next(usable, 0); cpu >= 0;
         cpu = ps_cpu_set_next(usable, (unsigned)cpu + 1)) {
        char path[128], text[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
                 cpu);
        if (ps_read_text(root, path, text, sizeof text) > 0) {
            /* Revision and variant (bits 0-3, 20-23) are steppings of one kind. */
            models[cpu] = strtoull(text, NULL, 16) & ~UINT64_C(0xf0000f);
            midr = true;
        } else if (!midr) {
            break; /* no such files on this architecture */
        }
    }
    if (!midr) {
        read_cpuinfo_models(root, models);
        add_hybrid_kinds(root, models);
    }
    *ret_models = models;
    return 0;
}

/* Within 10 % of each other, or both or one unknown. */
static bool about_equal(unsigned a, unsigned b) {
    unsigned high = a > b ? a : b, low = a > b ? b : a;
    return low == 0 || high - low <= high / 10;
}

static bool same_kind(const struct kind *a, const struct kind *b) {
    return a->model == b->model && about_equal(a->capacity, b->capacity) &&
           about_equal(a->max_khz, b->max_khz);
}

static int find_clusters(const char *root, struct ps_topology *t) {
    struct kind kinds[PS_CLUSTERS_MAX] = {{0}};
    uint64_t *models;
    int r = read_models(root, &t->usable, &models);
    if (r < 0) {
        return r;
    }
    for (int cpu = ps_cpu_set_next(&t->usable, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&t->usable, (unsigned)cpu + 1)) {
        struct kind kind = {.model = models[cpu],
                            .capacity = read_cpu_unsigned(root, (unsigned)cpu, "cpu_capacity"),
                            .max_khz =
                                read_cpu_unsigned(root, (unsigned)cpu, "cpufreq/cpuinfo_max_freq")};
        unsigned i = 0;
        while (i < t->n_clusters && !same_kind(&kinds[i], &kind)) {
            i++;
        }
        if (i == PS_CLUSTERS_MAX) {
            i--; /* more kinds than any machine has: the last is a mixed lot */
        } else if (i == t->n_clusters) {
            kinds[i] = kind;
            ps_cpu_set_clear(&t->cluster_cpus[i]);
            t->clusters[i] = (struct ps_cluster){.id = i,
                                                 .first_cpu = (unsigned)cpu,
                                                 .capacity = kind.capacity,
                                                 .max_khz = kind.max_khz};
            ps_cache_read(root, &t->online, &t->clusters[i]);
            t->n_clusters++;
        }
        ps_cpu_set_add(&t->cluster_cpus[i], (unsigned)cpu);
        t->clusters[i].n_cpus++;
    }
    free(models);
    uint64_t last_level_bytes = ps_cache_last_level_bytes(root, &t->usable);
    for (unsigned i = 0; i < t->n_clusters; i++) {
        t->clusters[i].last_level_bytes = last_level_bytes;
    }
    return 0;
}

int ps_topology_read(const char *root, const char *cpus, struct ps_topology *ret_topology,
                     char *ret_why, size_t why_bytes) {
    struct ps_topology *t = calloc(1, sizeof *t);
    if (t == NULL) {
        snprintf(ret_why, why_bytes, "There is no memory left.");
        return -ENOMEM;
    }
    int r = read_sets(root, t);
    if (r < 0) {
        snprintf(ret_why, why_bytes, "The kernel does not say which CPUs there are; mount /proc.");
        goto out;
    }
    r = choose_usable(cpus, t, ret_why, why_bytes);
    if (r < 0) {
        goto out;
    }
    r = find_clusters(root, t);
    if (r < 0) {
        snprintf(ret_why, why_bytes, "There is no memory left.");
        goto out;
    }
    unsigned n_usable = ps_cpu_set_count(&t->usable);
    t->quota_cpus = ps_cgroup_quota_cpus(root);
    t->quota_limits = t->quota_cpus > 0 && t->quota_cpus < n_usable;
    t->n_threads = t->quota_limits ? (unsigned)ceil(t->quota_cpus) : n_usable;
    *ret_topology = *t;
out:
    free(t);
    return r;
}

bool ps_cpu_online(const char *root, unsigned cpu) {
    struct ps_cpu_set online;
    if (read_list(root, "/sys/devices/system/cpu/online", &online) < 0 &&
        read_stat_cpus(root, &online) < 0) {
        return true; /* nobody knows; pinning will tell */
    }
    return ps_cpu_set_has(&online, cpu);
}

int ps_memory_read(const char *root, uint64_t *ret_total_bytes, uint64_t *ret_available_bytes) {
    char *text;
    size_t length;
    uint64_t total_kib, available_kib, free_kib, buffers_kib = 0, cached_kib = 0;
    int r = ps_read_whole(root, "/proc/meminfo", &text, &length);
    if (r < 0) {
        return r;
    }
    bool known = ps_text_key_u64(text, "MemTotal", &total_kib);
    if (known && !ps_text_key_u64(text, "MemAvailable", &available_kib)) { /* before Linux 3.14 */
        known = ps_text_key_u64(text, "MemFree", &free_kib);
        ps_text_key_u64(text, "Buffers", &buffers_kib);
        ps_text_key_u64(text, "Cached", &cached_kib);
        available_kib = free_kib + buffers_kib + cached_kib;
    }
    free(text);
    if (!known) {
        return -EINVAL;
    }
    uint64_t available_bytes = available_kib * 1024;
    uint64_t left_bytes = ps_cgroup_memory_left_bytes(root);
    *ret_total_bytes = total_kib * 1024;
    *ret_available_bytes = left_bytes < available_bytes ? left_bytes : available_bytes;
    return 0;
}
