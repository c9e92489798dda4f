/* SPDX-License-Identifier: MIT
 *
 * What the working directory and the root are on. A sheet is written and synced while rows are
 * timed; over a network that is work for the very CPUs and links.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/root.h"

struct mount {
    char type[32];
    bool read_only, sync;
};

static bool option_in(const char *options, const char *word) {
    size_t length = strlen(word);
    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

/* A line of mountinfo: id parent device root POINT OPTIONS ... - TYPE source OPTIONS. */
static bool parse_line(char *line, char **ret_point, struct mount *ret_mount) {
    char *rest = line, *point = NULL, *options = NULL;
    for (int field = 0; field < 6 && rest; field++) {
        options = strsep(&rest, " ");
        if (field == 4)
            point = options;
    }
    char *dash = rest ? strstr(rest, "- ") : NULL;
    if (!point || !options || !dash)
        return false;
    char *at = dash + 2, *type = strsep(&at, " "), *super;
    if (!at)
        return false;
    strsep(&at, " "); /* what is mounted */
    super = at ? at : dash + strlen(dash);
    snprintf(ret_mount->type, sizeof(ret_mount->type), "%.31s", type);
    ret_mount->read_only = option_in(options, "ro") || option_in(super, "ro");
    ret_mount->sync = option_in(options, "sync") || option_in(super, "sync");
    *ret_point = point;
    return true;
}

/* The mount that `path` lies in: the longest mount point above it, of equal ones the last, which
 * hides the others. Mount points with blanks in their names are passed over. False: not told. */
static bool find_mount(const struct ps_machine *machine, const char *path,
                       struct mount *ret_mount) {
    char *text;
    size_t text_length, longest = 0;
    bool found = false;
    if (ps_read_whole(machine->root, "/proc/self/mountinfo", &text, &text_length) < 0)
        return false;
    for (char *line = text, *next; line && *line; line = next) {
        struct mount mount;
        char *point;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!parse_line(line, &point, &mount))
            continue;
        size_t length = strcmp(point, "/") == 0 ? 0 : strlen(point);
        if (strncmp(path, point, length) != 0 || (path[length] != '/' && path[length]) ||
            length < longest)
            continue;
        longest = length;
        *ret_mount = mount;
        found = true;
    }
    free(text);
    return found;
}

static bool over_network(const char *type) {
    static const char *const types[] = {"nfs",        "nfs4", "cifs", "smb3",           "9p",
                                        "fuse.sshfs", "ceph", "afs",  "fuse.gvfsd-fuse"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

void ps_check_directory(const struct ps_machine *machine, struct ps_finding *finding) {
    struct mount mount;
    if (!*machine->directory || !find_mount(machine, machine->directory, &mount)) {
        ps_seen(finding, PS_UNKNOWN, "what the working directory is on is not told");
    } else if (over_network(mount.type)) {
        ps_seen(finding, PS_BAD, "the working directory is on a network (%s)", mount.type);
        ps_spoils(finding, "network and os rows: the sheet is written over the network meanwhile");
        ps_mend(finding, "perfsheet run -o /dev/shm/sheet.jsonl");
    } else if (mount.read_only) {
        ps_seen(finding, PS_NOTE, "the working directory is read-only (%s)", mount.type);
        ps_spoils(finding, "nothing, but the sheet goes to stdout");
        ps_mend(finding, "perfsheet run -o /dev/shm/sheet.jsonl");
    } else if (mount.sync) {
        ps_seen(finding, PS_BAD, "the working directory is mounted with the option sync (%s)",
                mount.type);
        ps_spoils(finding, "storage rows there: each write waits for the medium");
        ps_mend(finding, "sudo mount -o remount,async \"$(df --output=target . | tail -1)\"");
    } else {
        ps_seen(finding, PS_GOOD, "the working directory is on %s", mount.type);
    }
}

void ps_check_root_filesystem(const struct ps_machine *machine, struct ps_finding *finding) {
    struct mount mount;
    if (!find_mount(machine, "/", &mount)) {
        ps_seen(finding, PS_UNKNOWN, "what the root directory is on is not told");
    } else if (over_network(mount.type)) {
        ps_seen(finding, PS_BAD, "the root directory is on a network (%s)", mount.type);
        ps_spoils(finding, "os rows that start programs or open files, network rows on that link, "
                           "storage rows of the root");
        ps_mend(finding,
                "cp \"$(command -v perfsheet)\" /dev/shm && cd /dev/shm && ./perfsheet run");
    } else {
        ps_seen(finding, PS_GOOD, "the root directory is on %s", mount.type);
    }
}
