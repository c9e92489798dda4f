/* SPDX-License-Identifier: MIT
 *
 * What else happened on the machine while a run was timed.
 */
#ifndef PS_SYS_WITNESS_H
#define PS_SYS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "sys/cpu_list.h"

struct ps_witness {
    uint64_t at_ns;
    uint64_t queue_ns;    /* run-queue delay of all its threads; UINT64_MAX unknown */
    uint64_t steal_ticks; /* of the run's CPUs; UINT64_MAX unknown */
    uint64_t busy_ticks;  /* of the run's CPUs: wall time less idle and iowait; UINT64_MAX unknown;
                           * only differences mean something */
    uint64_t own_ns;      /* CPU time of this process and its waited-for children */
    int64_t nivcsw;
    int64_t throttled; /* core + package throttle counts and cpu.stat nr_throttled; -1 unknown */
    double temp_c;     /* hottest thermal zone; -1 unknown */
    unsigned n_cpus;
};

/* Reads everything for the CPUs in `set`; cheap enough for every run (about 0.2 ms). */
void ps_witness_read(const char *root, const struct ps_cpu_set *set,
                     struct ps_witness *ret_witness);
/* A timed thread other than the first calls this just before it ends, so that its run-queue delay
 * stays in the process's queue_ns. */
void ps_witness_thread_done(void);
/* What lies between two readings; unknown values are negative. */
void ps_witness_between(const struct ps_witness *before, const struct ps_witness *after,
                        unsigned user_hz, struct ps_witness_numbers *ret_numbers);
/* The reason why a run counts as disturbed, or NULL. `partner`: run-queue delay is part of the
 * benchmark, so the foreign CPU time is judged instead. */
const char *ps_witness_disturbed(const struct ps_witness_numbers *numbers, bool partner,
                                 unsigned n_samples, unsigned n_switched);

#endif
