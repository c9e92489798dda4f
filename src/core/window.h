/* SPDX-License-Identifier: MIT
 *
 * Samples of a team that works without stopping: each thread logs how far it has come, afterwards
 * the common window is cut into slices. Pure; no clock is read here.
 */
#ifndef PS_CORE_WINDOW_H
#define PS_CORE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct ps_window_entry {
    uint64_t time_ns;
    uint64_t iterations; /* done so far, by this thread */
    uint64_t switches;   /* of this thread, so far */
};

/* Bounded: when it is full, every second entry goes and the stride doubles. */
struct ps_window_log {
    struct ps_window_entry *entries;
    unsigned n, capacity; /* capacity even, at least 4 */
    unsigned stride;      /* every so many additions are kept ... */
    unsigned skipped;     /* ... and so many were not, since */
    uint64_t offset_ns;   /* added to times, for a clock that stepped back */
    uint64_t last_ns;
    unsigned n_backward;
};

void ps_window_log_init(struct ps_window_log *log, struct ps_window_entry *entries,
                        unsigned capacity, uint64_t start_ns, uint64_t switches);
/* Returns the entry's time, which never goes backwards. */
uint64_t ps_window_log_add(struct ps_window_log *log, uint64_t time_ns, uint64_t iterations,
                           uint64_t switches);
/* The last entry is always kept. */
uint64_t ps_window_log_finish(struct ps_window_log *log, uint64_t time_ns, uint64_t iterations,
                              uint64_t switches);

/* Iterations done at a time, partial ones interpolated between the entries around it. */
double ps_window_iterations_at(const struct ps_window_log *log, uint64_t time_ns);

struct ps_window_slice {
    double iterations; /* of all threads together, above 0 */
    bool switched;     /* some thread was, inside the slice or the entries around it */
};

/* Cuts from `skip_ns` after the last start to the first stop into slices. Returns how many there
 * are, at most `max`; slices in which nobody got anywhere are left out. */
unsigned ps_window_cut(const struct ps_window_log *logs, unsigned n_logs, uint64_t skip_ns,
                       uint64_t slice_ns, struct ps_window_slice *ret_slices, unsigned max);

#endif
