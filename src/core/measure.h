/* SPDX-License-Identifier: MIT
 *
 * One run of one case: set up, prove, warm up, sample, prove again. The same code runs in the child
 * process on Linux, on a microcontroller and on the fake clock of the tests.
 */
#ifndef PS_CORE_MEASURE_H
#define PS_CORE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/run.h"

struct ps_measure_settings {
    uint64_t warm_up_ns;     /* at least; also two passes over the working set ... */
    uint64_t warm_up_cap_ns; /* ... but not beyond this; 0: no cap */
    uint64_t sample_ns;
    uint64_t window_ns;     /* sum of the timed samples of a segment */
    unsigned single_events; /* wake-bound batches: this many single iterations for the histogram */
    unsigned events;        /* events tables: wanted */
    uint64_t seed;
    bool verify_only; /* --golden: set up, prove and stop */
};

/* The design's lengths for a bound: 25 + 75 ms of 1 ms samples (quick 15 + 40), wake 160 ms of
 * 10 ms samples, footprints over 32 MiB at most 250 ms of warm-up. */
void ps_measure_defaults(struct ps_measure_settings *ret_settings, const struct ps_bench *bench,
                         const struct ps_case *c, enum ps_bound bound, bool quick);

/* The bound of a case: its own, or core when its footprint is at most 3/4 of the last private
 * cache, else memory (also when the cache is unknown). */
enum ps_bound ps_case_bound(const struct ps_case *c, uint64_t last_private_bytes);

/* Bytes of scratch memory that ps_measure needs for its samples. */
uint64_t ps_measure_scratch_bytes(const struct ps_bench *bench,
                                  const struct ps_measure_settings *settings);

/* Runs the case. `shared` is zeroed but for bench, c, port, cpus, n_cpus; scratch must outlive it.
 * Outcome in shared->status, error, reason, series. Returns 0 when shared->status is PS_OK. */
int ps_measure(struct ps_run_shared *shared, const struct ps_measure_settings *settings,
               void *scratch, uint64_t scratch_bytes);

#endif
