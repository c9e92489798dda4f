/* SPDX-License-Identifier: MIT
 *
 * CPU load over exactly a window: 1 - delta(idle + iowait) / (wall x USER_HZ) per CPU. The only
 * implementation; every table that prints a load uses it.
 */
#ifndef PS_SYS_CPU_LOAD_H
#define PS_SYS_CPU_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/cpu_list.h"

struct ps_cpu_ticks { /* of one CPU, USER_HZ ticks since boot */
    bool present;
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
};

struct ps_load_snapshot {
    uint64_t at_ns;
    unsigned n_cpus; /* highest CPU number + 1 */
    struct ps_cpu_ticks *cpus;
    uint64_t interrupts; /* "intr" total */
};

struct ps_load {
    double all_pct, busiest_pct, steal_pct;            /* of the window */
    double user_pct, system_pct, irq_pct, softirq_pct; /* tick-sampled */
    bool low_confidence;                               /* fewer than 100 ticks in the window */
    bool clamped;                                      /* an idle counter went backwards */
    bool tick_sampled_irq; /* irq = softirq = 0 although interrupts went up */
    unsigned busiest_cpu;
};

/* 0 or -errno; _done frees. `at_ns` is read by the call unless given (fake clock, tests). */
int ps_load_snapshot(const char *root, uint64_t at_ns, struct ps_load_snapshot *ret_snapshot);
void ps_load_snapshot_done(struct ps_load_snapshot *snapshot);
/* Over the CPUs in `set` (NULL: all that are in both snapshots). -EINVAL for an empty window. */
int ps_load_between(const struct ps_load_snapshot *before, const struct ps_load_snapshot *after,
                    const struct ps_cpu_set *set, unsigned user_hz, struct ps_load *ret_load);

/* The soak: one SCHED_IDLE thread a CPU that counts; load = 1 - counted / counted when idle. A
 * separate pass, never together with idle-delta. */
struct ps_soak;
/* Calibrates on the set for calibrate_ns (the machine must be idle then: else -EBUSY; the best of
 * ten slices counts, of 20 ms or more). 0 or -errno. The threads run until _free. */
int ps_soak_new(const struct ps_cpu_set *set, uint64_t calibrate_ns, struct ps_soak **ret_soak);
int ps_soak_begin(struct ps_soak *soak);
int ps_soak_end(struct ps_soak *soak, double *ret_all_pct, double *ret_busiest_pct);
void ps_soak_free(struct ps_soak *soak);

#endif
