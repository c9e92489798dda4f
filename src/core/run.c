/* SPDX-License-Identifier: MIT
 *
 * What a benchmark's callbacks can ask and tell: its case, its memory, its place, its end. The
 * threads of a team may call any of it at once.
 */
#include "core/run.h"

#include "core/assert.h"
#include "core/errors.h"

const struct ps_case *ps_run_case(const struct ps_run *run) {
    return run->shared->c;
}

static void relax(const struct ps_port *port) {
    if (port->relax != NULL)
        port->relax(port->self);
}

void *ps_run_alloc(struct ps_run *run, size_t bytes, size_t alignment_bytes) {
    struct ps_run_shared *shared = run->shared;
    while (__atomic_exchange_n(&shared->arena_lock, 1u, __ATOMIC_ACQUIRE) != 0)
        relax(shared->port);
    void *memory = ps_arena_alloc(&shared->arena, bytes, alignment_bytes);
    __atomic_store_n(&shared->arena_lock, 0u, __ATOMIC_RELEASE);
    if (memory != NULL && !shared->c->memory.untouched && !shared->port->map_zeroes)
        __builtin_memset(memory, 0, bytes);
    return memory;
}

void ps_run_set_state(struct ps_run *run, void *state) {
    run->shared->state = state;
}

void *ps_run_state(const struct ps_run *run) {
    return run->shared->state;
}

unsigned ps_run_thread(const struct ps_run *run) {
    return run->thread;
}

unsigned ps_run_threads(const struct ps_run *run) {
    return run->shared->threads;
}

int ps_run_cpu(const struct ps_run *run, unsigned index) {
    return index < run->shared->n_cpus ? run->shared->cpus[index] : -1;
}

uint64_t ps_run_seed(const struct ps_run *run) {
    return run->shared->seed;
}

int ps_run_end(struct ps_run *run, enum ps_status status, int error, const char *reason) {
    struct ps_run_shared *shared = run->shared;
    PS_ASSERT(status != PS_OK && status != PS_SUSPECT && reason != NULL);
    unsigned nobody = 0;
    if (error < 0)
        error = -error;
    if (__atomic_compare_exchange_n(&shared->ended, &nobody, 1u, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        shared->status = status;
        shared->error = error;
        shared->reason = reason;
    }
    return error > 0 ? -error : -PS_ECANCELED;
}

bool ps_run_ended(const struct ps_run *run) {
    return __atomic_load_n(&run->shared->ended, __ATOMIC_ACQUIRE) != 0;
}

int ps_run_check(struct ps_run *run, int ret, const char *reason) {
    if (ps_run_ended(run))
        return ret < 0 ? ret : -PS_ECANCELED;
    return ret < 0 ? ps_run_end(run, PS_FAILED, ret, reason) : 0;
}

void ps_run_mark(struct ps_run *run, uint32_t quality) {
    __atomic_fetch_or(&run->shared->quality, quality, __ATOMIC_RELAXED);
}

unsigned ps_run_events_wanted(const struct ps_run *run) {
    return run->shared->events_wanted;
}

uint64_t ps_run_now_ns(const struct ps_run *run) {
    const struct ps_port *port = run->shared->port;
    return port->now_event_ns(port->self);
}

void ps_run_event(struct ps_run *run, unsigned metric, double value) {
    struct ps_run_shared *shared = run->shared;
    PS_ASSERT(metric < shared->bench->n_metrics &&
              shared->bench->metrics[metric].kind == PS_READING);
    PS_ASSERT(value - value ==
              0); /* neither infinite nor a NaN: a reading that failed is not one */
    /* A time below zero is two clocks that disagree, or one that stepped: not an event. */
    if (value < 0 && ps_unit_dimension(shared->bench->metrics[metric].unit) == PS_DIM_TIME) {
        shared->n_dropped++;
        return;
    }
    ps_series_push(&shared->series[metric], value);
}
