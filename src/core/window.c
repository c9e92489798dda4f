/* SPDX-License-Identifier: MIT
 *
 * Slices of a team's window. Between two entries of a thread its iterations are taken as evenly
 * spread; entries are about 1 ms apart and slices 10 ms, so what that gets wrong at a slice's two
 * edges cancels over the window and is at most a tenth of a slice each.
 */
#include "core/window.h"

#include "core/assert.h"

void ps_window_log_init(struct ps_window_log *log, struct ps_window_entry *entries,
                        unsigned capacity, uint64_t start_ns, uint64_t switches) {
    PS_ASSERT(capacity >= 4 && capacity % 2 == 0);
    *log = (struct ps_window_log){
        .entries = entries, .n = 1, .capacity = capacity, .stride = 1, .last_ns = start_ns};
    entries[0] = (struct ps_window_entry){start_ns, 0, switches};
}

static void keep_every_second(struct ps_window_log *log) {
    for (unsigned i = 1; i < log->n / 2; i++)
        log->entries[i] = log->entries[2 * i];
    log->n /= 2;
    log->stride *= 2;
}

/* After a step back the clock goes on from where it was. */
static uint64_t forward(struct ps_window_log *log, uint64_t time_ns) {
    time_ns += log->offset_ns;
    if (time_ns < log->last_ns) {
        log->offset_ns += log->last_ns - time_ns;
        log->n_backward++;
        time_ns = log->last_ns;
    }
    log->last_ns = time_ns;
    return time_ns;
}

uint64_t ps_window_log_add(struct ps_window_log *log, uint64_t time_ns, uint64_t iterations,
                           uint64_t switches) {
    time_ns = forward(log, time_ns);
    if (++log->skipped < log->stride)
        return time_ns;
    log->skipped = 0;
    if (log->n == log->capacity)
        keep_every_second(log);
    log->entries[log->n++] = (struct ps_window_entry){time_ns, iterations, switches};
    return time_ns;
}

uint64_t ps_window_log_finish(struct ps_window_log *log, uint64_t time_ns, uint64_t iterations,
                              uint64_t switches) {
    log->skipped = log->stride - 1;
    return ps_window_log_add(log, time_ns, iterations, switches);
}

/* Index of the last entry at or before the time; the time is not before the first. */
static unsigned entry_before(const struct ps_window_log *log, uint64_t time_ns) {
    unsigned low = 0, high = log->n;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (log->entries[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double ps_window_iterations_at(const struct ps_window_log *log, uint64_t time_ns) {
    unsigned i = entry_before(log, time_ns);
    const struct ps_window_entry *a = &log->entries[i];
    if (time_ns <= a->time_ns || i + 1 == log->n)
        return (double)a->iterations;
    const struct ps_window_entry *b = a + 1;
    double part = (double)(time_ns - a->time_ns) / (double)(b->time_ns - a->time_ns);
    return (double)a->iterations + part * (double)(b->iterations - a->iterations);
}

static bool switched_between(const struct ps_window_log *log, uint64_t from_ns, uint64_t to_ns) {
    unsigned first = entry_before(log, from_ns), last = entry_before(log, to_ns);
    if (last + 1 < log->n && log->entries[last].time_ns < to_ns)
        last++;
    return log->entries[last].switches != log->entries[first].switches;
}

unsigned ps_window_cut(const struct ps_window_log *logs, unsigned n_logs, uint64_t skip_ns,
                       uint64_t slice_ns, struct ps_window_slice *ret_slices, unsigned max) {
    PS_ASSERT(n_logs > 0 && slice_ns > 0);
    uint64_t from_ns = 0, stop_ns = UINT64_MAX;
    for (unsigned i = 0; i < n_logs; i++) {
        const struct ps_window_log *log = &logs[i];
        if (log->entries[0].time_ns > from_ns)
            from_ns = log->entries[0].time_ns;
        if (log->entries[log->n - 1].time_ns < stop_ns)
            stop_ns = log->entries[log->n - 1].time_ns;
    }
    from_ns += skip_ns;

    unsigned n = 0;
    for (; n < max && from_ns < stop_ns && stop_ns - from_ns >= slice_ns; from_ns += slice_ns) {
        struct ps_window_slice slice = {0, false};
        for (unsigned i = 0; i < n_logs; i++) {
            slice.iterations += ps_window_iterations_at(&logs[i], from_ns + slice_ns) -
                                ps_window_iterations_at(&logs[i], from_ns);
            slice.switched |= switched_between(&logs[i], from_ns, from_ns + slice_ns);
        }
        if (slice.iterations > 0)
            ret_slices[n++] = slice;
    }
    return n;
}
