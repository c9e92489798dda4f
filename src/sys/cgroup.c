/* SPDX-License-Identifier: MIT
 *
 * Control groups. The mount points come from /proc/self/mounts, this process's place in each
 * hierarchy from /proc/self/cgroup. Inside a container that path may be the host's and not exist
 * below the mount point, which then is the group itself: levels that do not exist are passed over.
 */
#include "sys/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/root.h"

struct hierarchy {
    bool found;
    bool v2;
    char mount[512];
    char path[PS_PATH_BYTES / 2]; /* "" for the root group, else "/a/b" */
};

/* Called for each level from the process's own group up, with the directory (below root). */
typedef void level_function(const char *root, const char *directory, bool v2, void *argument);

/* Is `word` an item of the comma-separated `list`? */
static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* /proc/self/mounts writes a space in a path as \040. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Splits a line in place at its first `separator`; the rest, or NULL. */
static char *split(char *text, char separator) {
    char *at = strchr(text, separator);
    if (at != NULL) {
        *at++ = '\0';
    }
    return at;
}

/* Mount point of version 2 (controller NULL) or of the version 1 hierarchy with the controller. */
static void find_mount(char *mounts, const char *controller, struct hierarchy *h) {
    for (char *line = mounts, *next; line != NULL && !h->found; line = next) {
        next = split(line, '\n');
        char *point = split(line, ' ');
        char *type = point == NULL ? NULL : split(point, ' ');
        char *options = type == NULL ? NULL : split(type, ' ');
        if (options == NULL) {
            continue;
        }
        split(options, ' ');
        bool match = controller == NULL
                         ? strcmp(type, "cgroup2") == 0
                         : strcmp(type, "cgroup") == 0 && list_has(options, controller);
        if (match && strlen(point) < sizeof h->mount) {
            unescape(point);
            memcpy(h->mount, point, strlen(point) + 1);
            h->found = true;
        }
    }
}

/* Lines are "number:controllers:path"; version 2's is "0::path". */
static void find_path(char *groups, const char *controller, struct hierarchy *h) {
    h->path[0] = '\0';
    for (char *line = groups, *next; line != NULL; line = next) {
        next = split(line, '\n');
        char *controllers = split(line, ':');
        char *path = controllers == NULL ? NULL : split(controllers, ':');
        if (path == NULL) {
            continue;
        }
        bool match =
            controller == NULL ? controllers[0] == '\0' : list_has(controllers, controller);
        /* "/" is the root group; "/.." means outside of what this namespace shows. */
        if (match && strcmp(path, "/") != 0 && strncmp(path, "/..", 3) != 0 &&
            strlen(path) < sizeof h->path) {
            memcpy(h->path, path, strlen(path) + 1);
        }
    }
}

static void find_hierarchy(const char *root, const char *controller, struct hierarchy *h) {
    char *text;
    size_t length;
    memset(h, 0, sizeof *h);
    h->v2 = controller == NULL;
    if (ps_read_whole(root, "/proc/self/mounts", &text, &length) < 0) {
        return;
    }
    find_mount(text, controller, h);
    free(text);
    if (h->found && ps_read_whole(root, "/proc/self/cgroup", &text, &length) == 0) {
        find_path(text, controller, h);
        free(text);
    }
}

static void walk_up(const char *root, struct hierarchy *h, level_function *function,
                    void *argument) {
    while (h->found) {
        char directory[PS_PATH_BYTES];
        snprintf(directory, sizeof directory, "%s%s", h->mount, h->path);
        function(root, directory, h->v2, argument);
        char *slash = strrchr(h->path, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

static void for_each_level(const char *root, const char *controller, level_function *function,
                           void *argument) {
    struct hierarchy h;
    find_hierarchy(root, NULL, &h);
    walk_up(root, &h, function, argument);
    find_hierarchy(root, controller, &h);
    walk_up(root, &h, function, argument);
}

static bool read_file(const char *root, const char *directory, const char *name, char *text,
                      size_t size_bytes) {
    char path[PS_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return ps_read_text(root, path, text, size_bytes) >= 0;
}

static bool read_number(const char *root, const char *directory, const char *name,
                        int64_t *ret_value) {
    char path[PS_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return ps_read_i64(root, path, ret_value) == 0;
}

struct quota {
    double cpus; /* 0: none */
    bool v2;
    char directory[PS_PATH_BYTES]; /* of the tightest */
};

static void quota_level(const char *root, const char *directory, bool v2, void *argument) {
    struct quota *tightest = argument;
    int64_t quota = 0, period = 0;
    char text[64], *end;
    if (v2) { /* cpu.max: "max 100000" or "150000 100000" */
        if (!read_file(root, directory, "cpu.max", text, sizeof text)) {
            return;
        }
        quota = strtoll(text, &end, 10); /* "max" gives 0: no quota */
        period = strtoll(end, NULL, 10);
    } else if (!read_number(root, directory, "cpu.cfs_quota_us", &quota) ||
               !read_number(root, directory, "cpu.cfs_period_us", &period)) {
        return;
    }
    if (quota > 0 && period > 0) {
        double cpus = (double)quota / (double)period;
        if (tightest->cpus <= 0 || cpus < tightest->cpus) {
            tightest->cpus = cpus;
            tightest->v2 = v2;
            snprintf(tightest->directory, sizeof tightest->directory, "%s", directory);
        }
    }
}

double ps_cgroup_quota_cpus(const char *root) {
    struct quota tightest = {.cpus = 0};
    for_each_level(root, "cpu", quota_level, &tightest);
    return tightest.cpus;
}

bool ps_cgroup_quota_directory(const char *root, char *directory, size_t directory_bytes,
                               bool *ret_v2) {
    struct quota tightest = {.cpus = 0};
    for_each_level(root, "cpu", quota_level, &tightest);
    if (tightest.cpus <= 0 || strlen(tightest.directory) >= directory_bytes) {
        return false;
    }
    memcpy(directory, tightest.directory, strlen(tightest.directory) + 1);
    *ret_v2 = tightest.v2;
    return true;
}

bool ps_cgroup_has_cpu(const char *root) {
    struct hierarchy h;
    find_hierarchy(root, "cpu", &h);
    if (!h.found) {
        find_hierarchy(root, NULL, &h);
    }
    return h.found;
}

static void memory_level(const char *root, const char *directory, bool v2, void *argument) {
    uint64_t *left_bytes = argument, inactive = 0;
    int64_t limit = INT64_MAX, high, used;
    char *statistics, path[PS_PATH_BYTES + 32];
    size_t length;
    bool limited =
        read_number(root, directory, v2 ? "memory.max" : "memory.limit_in_bytes", &limit);
    if (v2 && read_number(root, directory, "memory.high", &high)) {
        limit = high < limit ? high : limit; /* beyond it the group is slowed down */
        limited = true;
    }
    /* "max" is no number; version 1 says "none" by the largest multiple of a page. */
    if (!limited || limit >= INT64_C(1) << 60 ||
        !read_number(root, directory, v2 ? "memory.current" : "memory.usage_in_bytes", &used)) {
        return;
    }
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    if (ps_read_whole(root, path, &statistics, &length) == 0) {
        /* Page cache that nobody used lately goes as soon as it is asked for. */
        ps_text_key_u64(statistics, v2 ? "inactive_file" : "total_inactive_file", &inactive);
        free(statistics);
    }
    used -= (int64_t)inactive < used ? (int64_t)inactive : used;
    uint64_t left = limit > used ? (uint64_t)(limit - used) : 0;
    if (left < *left_bytes) {
        *left_bytes = left;
    }
}

uint64_t ps_cgroup_memory_left_bytes(const char *root) {
    uint64_t left_bytes = UINT64_MAX;
    for_each_level(root, "memory", memory_level, &left_bytes);
    return left_bytes;
}

static void throttled_level(const char *root, const char *directory, bool v2, void *argument) {
    int64_t *throttled = argument;
    char text[2048];
    uint64_t count;
    (void)v2; /* both call it so */
    if (read_file(root, directory, "cpu.stat", text, sizeof text) &&
        ps_text_key_u64(text, "nr_throttled", &count)) {
        *throttled = (*throttled < 0 ? 0 : *throttled) + (int64_t)count;
    }
}

int64_t ps_cgroup_throttled(const char *root) {
    int64_t throttled = -1;
    for_each_level(root, "cpu", throttled_level, &throttled);
    return throttled;
}
