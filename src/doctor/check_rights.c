/* SPDX-License-Identifier: MIT
 *
 * Rights that rows need. A right that was tried is known; of another machine only files speak.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/root.h"

/* linux/capability.h */
#define CAP_IPC_LOCK_BIT 14
#define CAP_SYS_ADMIN_BIT 21
#define CAP_SYS_NICE_BIT 23
#define CAP_PERFMON_BIT 38

#define PRIORITY_WANTED 80
#define LOCKED_BYTES_WANTED (UINT64_C(64) << 20) /* this program and a working set */

/* The soft limit of a line of /proc/self/limits; UINT64_MAX unlimited. False: not told. */
static bool soft_limit(const struct ps_machine *machine, const char *key, uint64_t *ret_limit) {
    char *text, *end;
    size_t length;
    if (ps_read_whole(machine->root, "/proc/self/limits", &text, &length) < 0)
        return false;
    const char *at = strstr(text, key);
    bool found = at != NULL;
    if (found) {
        at += strlen(key);
        at += strspn(at, " ");
        *ret_limit = strtoull(at, &end, 10);
        if (strncmp(at, "unlimited", 9) == 0)
            *ret_limit = UINT64_MAX;
        else
            found = end != at;
    }
    free(text);
    return found;
}

/* 1: has the right by a capability or by a limit of at least `wanted`; 0: has not; -1: not told. */
static int by_files(const struct ps_machine *machine, unsigned capability, const char *key,
                    uint64_t wanted) {
    uint64_t limit = 0;
    int capable = ps_has_capability(machine, capability);
    if (capable == 1)
        return 1;
    if (!soft_limit(machine, key, &limit))
        return -1;
    if (limit >= wanted)
        return 1;
    return capable == 0 ? 0 : -1;
}

static int tried_or_by_files(const struct ps_machine *machine, int tried, unsigned capability,
                             const char *key, uint64_t wanted) {
    if (tried != PS_NOT_TRIED)
        return tried == 0;
    return by_files(machine, capability, key, wanted);
}

void ps_check_realtime(const struct ps_machine *machine, struct ps_finding *finding) {
    int may = tried_or_by_files(machine, machine->realtime, CAP_SYS_NICE_BIT,
                                "Max realtime priority", PRIORITY_WANTED);
    if (may < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/self does not tell whether SCHED_FIFO is allowed");
    } else if (may) {
        ps_seen(finding, PS_GOOD, "SCHED_FIFO is allowed");
    } else {
        ps_seen(finding, PS_NOTE, "SCHED_FIFO is not allowed%s%s",
                machine->realtime < 0 ? ": " : "",
                machine->realtime < 0 ? strerror(-machine->realtime) : "");
        ps_spoils(finding, "os.wake_up/fifo and other real-time rows (denied)");
        ps_mend(finding, "sudo prlimit --rtprio=99 --memlock=unlimited --pid $$");
    }
}

void ps_check_realtime_limit(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char path[] = "/proc/sys/kernel/sched_rt_runtime_us";
    int64_t runtime_us, period_us = 1000000;
    struct ps_finding unused;
    if (!ps_look_i64(machine, path, &runtime_us, finding))
        return;
    ps_look_i64(machine, "/proc/sys/kernel/sched_rt_period_us", &period_us, &unused);
    if (runtime_us < 0) {
        ps_seen(finding, PS_GOOD, "real-time threads may run without a limit");
    } else if (period_us > 0 && (double)runtime_us >= 0.9 * (double)period_us) {
        ps_seen(finding, PS_GOOD, "real-time threads may run %.0f %% of the time",
                100.0 * (double)runtime_us / (double)period_us);
    } else {
        ps_seen(finding, PS_BAD, "real-time threads are stopped after %lld of every %lld us",
                (long long)runtime_us, (long long)period_us);
        ps_spoils(finding, "real-time rows: long delays that are none of the board's, or denied");
        ps_mend(finding, "sudo sysctl kernel.sched_rt_runtime_us=%lld",
                (long long)(period_us > 0 ? period_us * 95 / 100 : 950000));
    }
}

void ps_check_memory_lock(const struct ps_machine *machine, struct ps_finding *finding) {
    int may = tried_or_by_files(machine, machine->memory_lock, CAP_IPC_LOCK_BIT,
                                "Max locked memory", LOCKED_BYTES_WANTED);
    if (may < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/self does not tell whether memory may be locked");
    } else if (may) {
        ps_seen(finding, PS_GOOD, "memory may be locked");
    } else {
        ps_seen(finding, PS_NOTE, "memory may not be locked%s%s",
                machine->memory_lock < 0 ? ": " : "",
                machine->memory_lock < 0 ? strerror(-machine->memory_lock) : "");
        ps_spoils(finding, "os.wake_up/fifo and other real-time rows (denied)");
        ps_mend(finding, "sudo prlimit --rtprio=99 --memlock=unlimited --pid $$");
    }
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

void ps_check_perf(const struct ps_machine *machine, struct ps_finding *finding) {
    int64_t level;
    /* No counter of that kind is the next check's; here only the right matters. */
    bool refused = machine->perf == -EACCES || machine->perf == -EPERM;
    int capable = ps_has_capability(machine, CAP_PERFMON_BIT) == 1 ||
                  ps_has_capability(machine, CAP_SYS_ADMIN_BIT) == 1;
    if (!ps_look_i64(machine, PARANOID, &level, finding)) {
        if (machine->perf == -ENOSYS || (machine->perf != PS_NOT_TRIED && !refused))
            ps_seen(finding, PS_UNKNOWN, "this kernel has no performance events");
        return;
    }
    if (refused || (machine->perf == PS_NOT_TRIED && level > 2 && !capable)) {
        ps_seen(finding, PS_NOTE, "performance events are not allowed (perf_event_paranoid %lld)",
                (long long)level);
        ps_spoils(finding, "nothing of this program; perf, and tools that explain a number by "
                           "counters, see none");
        ps_mend(finding, "sudo sysctl kernel.perf_event_paranoid=2");
        return;
    }
    ps_seen(finding, PS_GOOD, "performance events of one's own are allowed (level %lld)",
            (long long)level);
}

/* Names of the processors' own event sources: x86, Arm, RISC-V, POWER. */
static bool is_processor(const char *name) {
    static const char *const beginnings[] = {"armv", "cpu_", "riscv-pmu", "apple_"};
    if (strcmp(name, "cpu") == 0)
        return true;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

void ps_check_pmu(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char devices[] = "/sys/bus/event_source/devices";
    char path[PS_PATH_BYTES], found[64] = "";
    DIR *directory =
        ps_root_path(machine->root, devices, path, sizeof(path)) == 0 ? opendir(path) : NULL;
    if (!directory) {
        ps_seen(finding, PS_UNKNOWN, "%s: %s", devices, strerror(errno));
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (is_processor(entry->d_name))
            snprintf(found, sizeof(found), "%.63s", entry->d_name);
    closedir(directory);
    if (!*found || machine->perf == -ENOENT || machine->perf == -EOPNOTSUPP) {
        ps_seen(finding, PS_NOTE, "the processor's counters are not to be had%s",
                *found ? ": it is listed, but counts nothing" : "");
        ps_spoils(finding, "nothing: cycles come from the measured clock, not from counters");
        ps_mend(finding, "grep -i pmu /proc/interrupts   # a guest needs its host to pass them on, "
                         "a board an entry in its device tree");
        return;
    }
    ps_seen(finding, PS_GOOD, "the processor has counters (%s)", found);
}
