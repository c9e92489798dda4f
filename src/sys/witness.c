/* SPDX-License-Identifier: MIT
 *
 * Witnesses of a run: how long this process waited for a CPU, what the host took away, what others
 * ran on the run's CPUs, heat and throttling. What /proc does not show here is unknown, never 0.
 *
 * The time of others is wall time less idle time less our own; the kernel's user and system columns
 * are tick samples and say little about a tenth of a second. Idle time comes in ticks of 10 ms, so
 * less than two of those (or one for each CPU) is nothing.
 */
#include "sys/witness.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/clock_speed.h"
#include "sys/cpu_load.h"
#include "sys/root.h"

/* Limits of an undisturbed run: docs/METHOD.md. Per cent of the run. */
#define QUEUE_PCT_MAX 5
#define STEAL_PCT_MAX 1
#define FOREIGN_PCT_MAX 5

/* Sensors that are off say such things as -273 or 255 degrees. */
#define TEMP_C_MAX 150

/* Run-queue delay of threads that have ended. The kernel keeps none of it, as it does for their CPU
 * time: this is the process's, like RUSAGE_SELF. */
static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ended_queue_ns;

/* Field 2 of "run_ns wait_ns slices"; UINT64_MAX unknown. */
static uint64_t read_queue_ns(const char *root, const char *path) {
    char text[96], *at;
    if (ps_read_text(root, path, text, sizeof text) <= 0) {
        return UINT64_MAX;
    }
    strtoull(text, &at, 10);
    if (*at != ' ' || !isdigit((unsigned char)at[1])) {
        return UINT64_MAX;
    }
    return strtoull(at + 1, NULL, 10);
}

void ps_witness_thread_done(void) {
    uint64_t queue_ns = read_queue_ns("", "/proc/thread-self/schedstat");
    if (queue_ns != UINT64_MAX) {
        pthread_mutex_lock(&ended_lock);
        ended_queue_ns += queue_ns;
        pthread_mutex_unlock(&ended_lock);
    }
}

/* /proc/self/schedstat is the first thread's alone; all threads are in the task directory. */
static uint64_t read_process_queue_ns(const char *root) {
    char path[PS_PATH_BYTES];
    uint64_t sum_ns = UINT64_MAX;
    DIR *tasks = NULL;
    if (ps_root_path(root, "/proc/self/task", path, sizeof path) == 0) {
        tasks = opendir(path);
    }
    if (tasks == NULL) {
        return read_queue_ns(root, "/proc/self/schedstat");
    }
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char file[300];
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        snprintf(file, sizeof file, "/proc/self/task/%s/schedstat", entry->d_name);
        uint64_t queue_ns = read_queue_ns(root, file);
        if (queue_ns != UINT64_MAX) {
            sum_ns = (sum_ns == UINT64_MAX ? 0 : sum_ns) + queue_ns;
        }
    }
    closedir(tasks);
    if (sum_ns != UINT64_MAX) {
        pthread_mutex_lock(&ended_lock);
        sum_ns += ended_queue_ns;
        pthread_mutex_unlock(&ended_lock);
    }
    return sum_ns;
}

/* Busy and steal ticks of the CPUs; unknown when one of them is not there. */
static void read_ticks(const char *root, const struct ps_cpu_set *set, struct ps_witness *witness) {
    struct ps_load_snapshot snapshot;
    witness->steal_ticks = witness->busy_ticks = UINT64_MAX;
    if (ps_load_snapshot(root, 0, &snapshot) < 0) {
        return;
    }
    uint64_t steal = 0, idle = 0;
    bool all = true;
    for (int cpu = ps_cpu_set_next(set, 0); cpu >= 0;
         cpu = ps_cpu_set_next(set, (unsigned)cpu + 1)) {
        all = all && (unsigned)cpu < snapshot.n_cpus && snapshot.cpus[cpu].present;
        if (all) {
            steal += snapshot.cpus[cpu].steal;
            idle += snapshot.cpus[cpu].idle + snapshot.cpus[cpu].iowait;
        }
    }
    if (all && witness->n_cpus > 0) {
        double all_ns = (double)snapshot.at_ns * witness->n_cpus; /* would not fit 64 bits */
        uint64_t wall_ticks = (uint64_t)(all_ns * 1e-9 * (double)sysconf(_SC_CLK_TCK));
        witness->steal_ticks = steal;
        /* Only differences mean something, and those are right also when this wraps below 0. */
        witness->busy_ticks = wall_ticks - idle;
    }
    ps_load_snapshot_done(&snapshot);
}

static uint64_t own_cpu_ns(void) {
    static const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    uint64_t sum_us = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct rusage usage;
        if (getrusage(who[i], &usage) == 0) {
            sum_us += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        }
    }
    return sum_us * 1000u;
}

static double read_hottest_c(const char *root) {
    char path[PS_PATH_BYTES];
    double hottest_c = -1;
    DIR *zones = NULL;
    if (ps_root_path(root, "/sys/class/thermal", path, sizeof path) == 0) {
        zones = opendir(path);
    }
    if (zones == NULL) {
        return hottest_c;
    }
    for (const struct dirent *entry; (entry = readdir(zones)) != NULL;) {
        char file[300];
        int64_t millidegrees;
        if (strncmp(entry->d_name, "thermal_zone", 12) != 0) {
            continue;
        }
        snprintf(file, sizeof file, "/sys/class/thermal/%s/temp", entry->d_name);
        if (ps_read_i64(root, file, &millidegrees) == 0 && millidegrees >= 0 &&
            millidegrees <= TEMP_C_MAX * 1000) {
            double temp_c = (double)millidegrees / 1000;
            hottest_c = temp_c > hottest_c ? temp_c : hottest_c;
        }
    }
    closedir(zones);
    return hottest_c;
}

/* Thermal throttle events of the CPUs and quota throttling of the control groups; -1 unknown. */
static int64_t read_throttled(const char *root, const struct ps_cpu_set *set) {
    int64_t sum = ps_cgroup_throttled(root), count;
    for (int cpu = ps_cpu_set_next(set, 0); cpu >= 0;
         cpu = ps_cpu_set_next(set, (unsigned)cpu + 1)) {
        static const char *const names[] = {"core", "package"};
        bool there = false;
        for (unsigned i = 0; i < 2; i++) {
            char path[128];
            snprintf(path, sizeof path,
                     "/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count", cpu,
                     names[i]);
            if (ps_read_i64(root, path, &count) == 0) {
                sum = (sum < 0 ? 0 : sum) + count;
                there = true;
            }
        }
        if (!there) {
            break; /* this machine does not count them */
        }
    }
    return sum;
}

void ps_witness_read(const char *root, const struct ps_cpu_set *set,
                     struct ps_witness *ret_witness) {
    struct ps_witness *w = ret_witness;
    struct rusage usage;
    memset(w, 0, sizeof *w);
    w->n_cpus = ps_cpu_set_count(set);
    w->temp_c = read_hottest_c(root);
    w->throttled = read_throttled(root, set);
    w->queue_ns = read_process_queue_ns(root);
    w->nivcsw = getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_nivcsw : -1;
    /* These three belong together. */
    read_ticks(root, set, w);
    w->own_ns = own_cpu_ns();
    w->at_ns = ps_now_ns();
}

static double part_pct(double part_ns, double whole_ns) {
    double pct = part_ns / whole_ns * 100;
    return pct < 0 ? 0 : pct;
}

void ps_witness_between(const struct ps_witness *before, const struct ps_witness *after,
                        unsigned user_hz, struct ps_witness_numbers *ret_numbers) {
    struct ps_witness_numbers numbers = {.temp_before_c = before->temp_c,
                                         .temp_after_c = after->temp_c,
                                         .queue_pct = -1,
                                         .steal_pct = -1,
                                         .foreign_pct = -1,
                                         .nivcsw = -1,
                                         .throttled = -1};
    double wall_ns = after->at_ns > before->at_ns ? (double)(after->at_ns - before->at_ns) : 0;
    double all_ns = wall_ns * after->n_cpus, tick_ns = user_hz > 0 ? 1e9 / user_hz : 0;
    if (all_ns > 0 && before->queue_ns != UINT64_MAX && after->queue_ns != UINT64_MAX) {
        numbers.queue_pct = part_pct((double)(int64_t)(after->queue_ns - before->queue_ns), all_ns);
    }
    if (all_ns > 0 && before->steal_ticks != UINT64_MAX && after->steal_ticks != UINT64_MAX) {
        double steal_ticks = (double)(int64_t)(after->steal_ticks - before->steal_ticks);
        numbers.steal_pct = part_pct(steal_ticks * tick_ns, all_ns);
    }
    if (all_ns > 0 && before->busy_ticks != UINT64_MAX && after->busy_ticks != UINT64_MAX) {
        double busy_ticks = (double)(int64_t)(after->busy_ticks - before->busy_ticks);
        double own_ns = (double)(int64_t)(after->own_ns - before->own_ns);
        double foreign_ns = busy_ticks * tick_ns - own_ns;
        double least_ns = tick_ns * (after->n_cpus > 2 ? after->n_cpus : 2);
        numbers.foreign_pct = foreign_ns < least_ns ? 0 : part_pct(foreign_ns, all_ns);
    }
    if (before->nivcsw >= 0 && after->nivcsw >= before->nivcsw) {
        numbers.nivcsw = after->nivcsw - before->nivcsw;
    }
    if (before->throttled >= 0 && after->throttled >= before->throttled) {
        numbers.throttled = after->throttled - before->throttled;
    }
    *ret_numbers = numbers;
}

const char *ps_witness_disturbed(const struct ps_witness_numbers *numbers, bool partner,
                                 unsigned n_samples, unsigned n_switched) {
    if (!partner && numbers->queue_pct > QUEUE_PCT_MAX) {
        return "waited for its CPU for more than 5 % of the run";
    }
    if (partner && numbers->foreign_pct > FOREIGN_PCT_MAX) {
        return "others used its CPUs for more than 5 % of the run";
    }
    if (numbers->steal_pct > STEAL_PCT_MAX) {
        return "the host took its CPU away for more than 1 % of the run";
    }
    if (!partner && n_samples > 0 && n_switched > n_samples - n_switched) {
        return "more than half of the samples were interrupted by another task";
    }
    if (numbers->throttled > 0) {
        return "throttled by heat, current or quota";
    }
    return NULL;
}
