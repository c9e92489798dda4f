/* SPDX-License-Identifier: MIT
 *
 * Directories to put files in, and what filesystem each is on. A directory that cannot be used
 * stays in the list with the reason, so that its rows say why they have no number.
 */
#include "harness/environment_target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Magic numbers of statfs(2) that belong to one filesystem only; ext2, 3 and 4 share theirs. */
static const struct {
    uint32_t magic;
    const char *name;
} filesystems[] = {
    {0x01021994, "tmpfs"},    {0x858458f6, "ramfs"},   {0x58465342, "xfs"},
    {0x9123683e, "btrfs"},    {0xf2f52010, "f2fs"},    {0x24051905, "ubifs"},
    {0x73717368, "squashfs"}, {0x00004d44, "vfat"},    {0x2011bab0, "exfat"},
    {0x00006969, "nfs"},      {0x794c7630, "overlay"}, {0x000072b6, "jffs2"},
    {0xe0f5e1e2, "erofs"},    {0x2fc12fc1, "zfs"},     {0x01021997, "9p"},
    {0xca451a4e, "bcachefs"},
};
#define TMPFS_MAGIC 0x01021994u

/* "\040" of mountinfo. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = 0;
}

/* The type of the mount that `path` (absolute, resolved) lies in: the longest mount point above it,
 * and of equal ones the last, which hides the others. */
static bool mount_type(const char *path, char *type, size_t type_bytes) {
    char *line = NULL;
    size_t line_bytes = 0, longest = 0;
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return false;
    while (getline(&line, &line_bytes, file) > 0) {
        /* id parent major:minor root mountpoint options ... - type source options */
        char *rest = line, *point = NULL;
        for (int field = 0; field < 5 && rest; field++)
            point = strsep(&rest, " ");
        char *dash = rest ? strstr(rest, " - ") : NULL;
        if (!point || !dash)
            continue;
        unescape(point);
        size_t length = strcmp(point, "/") == 0 ? 0 : strlen(point);
        if (strncmp(path, point, length) != 0 || (path[length] != '/' && path[length] != 0) ||
            length < longest)
            continue;
        dash += 3;
        dash[strcspn(dash, " \n")] = 0;
        snprintf(type, type_bytes, "%s", dash);
        longest = length;
        found = true;
    }
    free(line);
    fclose(file);
    return found;
}

static void filesystem_name(const char *path, const struct statfs *fs, char *name,
                            size_t name_bytes) {
    uint32_t magic = (uint32_t)fs->f_type;
    for (size_t i = 0; i < sizeof(filesystems) / sizeof(filesystems[0]); i++)
        if (filesystems[i].magic == magic) {
            snprintf(name, name_bytes, "%s", filesystems[i].name);
            return;
        }
    if (mount_type(path, name, name_bytes))
        return;
    if (magic == 0xef53)
        snprintf(name, name_bytes, "ext4");
    else
        snprintf(name, name_bytes, "0x%x", magic);
}

/* Looks at `path` and fills in the target; a sentence in `why` and false when it cannot be used. */
static bool look(struct ps_environment *environment, struct ps_target *target, unsigned i,
                 const char *path) {
    char *why = environment->target_whys[i], given[PATH_MAX], full[PATH_MAX];
    const size_t why_bytes = sizeof(environment->target_whys[i]);
    struct stat status;
    struct statfs fs;
    struct statvfs space;
    snprintf(given, sizeof(given), "%s%s", environment->root, path);
    /* Resolved once: a run that changes its directory must still find it. */
    if (!realpath(given, full) || stat(full, &status) < 0 || statfs(full, &fs) < 0 ||
        statvfs(full, &space) < 0) {
        snprintf(why, why_bytes, "%.100s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        snprintf(why, why_bytes, "%.100s is not a directory", path);
        return false;
    }
    filesystem_name(full, &fs, environment->target_filesystems[i],
                    sizeof(environment->target_filesystems[i]));
    target->filesystem = environment->target_filesystems[i];
    target->free_bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_frsize;
    /* The effective user's right, which is what open() will go by. */
    if (eaccess(full, W_OK | X_OK) < 0) {
        if (errno == EROFS)
            snprintf(why, why_bytes, "%.100s is read-only", path);
        else
            snprintf(why, why_bytes,
                     "%.100s is not writable for this user: run as its owner or name another with "
                     "--target",
                     path);
        return false;
    }
    if (strlen(full) >= sizeof(environment->target_paths[i])) {
        snprintf(why, why_bytes, "%.100s...: the path is too long", path);
        return false;
    }
    memcpy(environment->target_paths[i], full, strlen(full) + 1);
    target->path = environment->target_paths[i];
    return true;
}

static void add_tmpfs(struct ps_environment *environment) {
    static const char *const variables[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    const char *places[4] = {"/dev/shm", NULL, NULL, "/tmp"};
    struct ps_target *target = &environment->targets[0];
    char first_why[sizeof(environment->target_whys[0])] = "";
    for (size_t i = 0; i < 2; i++) {
        const char *path = *environment->root ? NULL : getenv(variables[i]);
        if (path && *path == '/')
            places[1 + i] = path;
    }
    target->name = "tmpfs";
    environment->env.n_targets = 1;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char full[PATH_MAX];
        struct statfs fs;
        if (!places[i])
            continue;
        snprintf(full, sizeof(full), "%s%s", environment->root, places[i]);
        if (statfs(full, &fs) < 0 || (uint32_t)fs.f_type != TMPFS_MAGIC)
            continue;
        if (look(environment, target, 0, places[i]))
            break;
        if (!*first_why)
            snprintf(first_why, sizeof(first_why), "%s", environment->target_whys[0]);
    }
    if (!target->path) {
        target->filesystem = "tmpfs";
        target->free_bytes = 0;
        snprintf(environment->target_whys[0], sizeof(environment->target_whys[0]), "%s",
                 *first_why ? first_why : "no tmpfs here: mount one on /dev/shm");
        target->why = environment->target_whys[0];
    }
}

static bool name_ok(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length < 64 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.+-") == length &&
           !strchr("_.+-", name[0]);
}

static bool has_target(const struct ps_environment *environment, const char *name) {
    for (unsigned i = 0; i < environment->env.n_targets; i++)
        if (strcmp(environment->targets[i].name, name) == 0)
            return true;
    return false;
}

static int add_target(struct ps_environment *environment, const char *name, const char *path,
                      char *ret_why, size_t why_bytes) {
    unsigned i = environment->env.n_targets;
    if (i == PS_TARGETS_MAX) {
        snprintf(ret_why, why_bytes, "more than %d targets", PS_TARGETS_MAX);
        return -EINVAL;
    }
    if (!name_ok(name)) {
        snprintf(
            ret_why, why_bytes,
            "target '%.40s': a name is lower-case letters, digits and _.+- (--target NAME=DIR)",
            name);
        return -EINVAL;
    }
    if (has_target(environment, name)) {
        snprintf(ret_why, why_bytes, "target '%s' is there twice", name);
        return -EINVAL;
    }
    struct ps_target *target = &environment->targets[i];
    memcpy(environment->target_names[i], name, strlen(name) + 1);
    target->name = environment->target_names[i];
    if (!look(environment, target, i, path))
        target->why = environment->target_whys[i];
    environment->env.n_targets++;
    return 0;
}

int ps_environment_targets(struct ps_environment *environment, const char *const *targets,
                           char *ret_why, size_t why_bytes) {
    add_tmpfs(environment);
    for (size_t i = 0; targets && targets[i]; i++) {
        const char *equals = strchr(targets[i], '=');
        char name[sizeof(environment->target_names[0])];
        const char *path = equals ? equals + 1 : targets[i];
        const char *base = strrchr(path, '/');
        if (equals)
            snprintf(name, sizeof(name), "%.*s", (int)(equals - targets[i]), targets[i]);
        else
            snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
        if (!*path) {
            snprintf(ret_why, why_bytes, "target '%.40s' has no directory (--target NAME=DIR)",
                     name);
            return -EINVAL;
        }
        int error = add_target(environment, name, path, ret_why, why_bytes);
        if (error)
            return error;
    }
    const char *name;
    for (size_t i = 0; (name = ps_boardfile_section(environment->board, "target", i)); i++) {
        char section[80];
        snprintf(section, sizeof(section), "target %s", name);
        const char *path = ps_boardfile_value(environment->board, section, "path");
        if (has_target(environment, name))
            continue;
        if (!path) {
            snprintf(ret_why, why_bytes, "board file: [target %s] has no path", name);
            return -EINVAL;
        }
        int error = add_target(environment, name, path, ret_why, why_bytes);
        if (error)
            return error;
    }
    return 0;
}
