/* SPDX-License-Identifier: MIT
 *
 * Which process uses the CPU while we measure: an orphan of another benchmark that spins on is
 * found by its name.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/cpuinfo.h"
#include "sys/root.h"

/* "pid (name) state ppid ...": fields 14 and 15 are user and system ticks. The name may hold blanks
 * and parentheses; the last one closes it. */
static bool parse_stat(char *text, struct ps_process_time *time) {
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return false;
    *close = 0;
    ps_copy_printable(time->name, sizeof(time->name), open + 1);
    char *at = close + 1;
    for (int field = 2; field < 13; field++) { /* stands behind field 2 */
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    char *end;
    uint64_t user = strtoull(at, &end, 10);
    if (end == at)
        return false;
    at = end;
    uint64_t system = strtoull(at, &end, 10);
    time->ticks = user + system;
    return end != at;
}

static int add(struct ps_process_times *times, const struct ps_process_time *time) {
    if (times->n % 256 == 0) {
        struct ps_process_time *items = reallocarray(times->items, times->n + 256, sizeof(*items));
        if (!items)
            return -ENOMEM;
        times->items = items;
    }
    times->items[times->n++] = *time;
    return 0;
}

int ps_process_times_read(const char *root, int but_pid, struct ps_process_times *ret_times) {
    char path[PS_PATH_BYTES], file[300], text[1024];
    struct ps_process_times times = {0};
    int r = ps_root_path(root, "/proc", path, sizeof(path));
    DIR *processes = r == 0 ? opendir(path) : NULL;
    if (!processes)
        return r ? r : -errno;
    for (const struct dirent *entry; r == 0 && (entry = readdir(processes));) {
        struct ps_process_time time = {0};
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        time.pid = (int)strtol(entry->d_name, NULL, 10);
        snprintf(file, sizeof(file), "/proc/%.200s/stat", entry->d_name);
        /* One that ended in between is none of those that use the CPU now. */
        if (time.pid != but_pid && ps_read_text(root, file, text, sizeof(text)) > 0 &&
            parse_stat(text, &time))
            r = add(&times, &time);
    }
    closedir(processes);
    if (r)
        ps_process_times_done(&times);
    else
        *ret_times = times;
    return r;
}

void ps_process_times_done(struct ps_process_times *times) {
    free(times->items);
    memset(times, 0, sizeof(*times));
}

struct ps_process_time ps_process_busiest(const struct ps_process_times *before,
                                          const struct ps_process_times *after) {
    struct ps_process_time busiest = {0};
    for (size_t i = 0; i < after->n; i++) {
        uint64_t ticks = after->items[i].ticks;
        for (size_t j = 0; j < before->n; j++)
            /* A smaller count is another process of that number. */
            if (before->items[j].pid == after->items[i].pid && before->items[j].ticks <= ticks) {
                ticks -= before->items[j].ticks;
                break;
            }
        if (ticks > busiest.ticks) {
            busiest = after->items[i];
            busiest.ticks = ticks;
        }
    }
    return busiest;
}
