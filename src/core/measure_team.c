/* SPDX-License-Identifier: MIT
 *
 * Teams: several threads that work at once. Thread 0 measures and gives commands, the others wait
 * for them, spinning with the port's relax. In a JOIN team a step is one piece of work on every
 * thread, timed from the first start to the last stop. In a WINDOW team all work without stopping
 * and log how far they have come; samples are slices of the time in which all of them worked
 * (window.c). An error on any thread ends the step for all and then the run; nobody is left
 * waiting.
 */
#include <stdatomic.h>

#include "core/assert.h"
#include "core/calibrate.h"
#include "core/errors.h"
#include "core/measuring.h"
#include "core/window.h"

#define CACHE_LINE_BYTES 64 /* keeps what threads write apart */
/* Entries about 1 ms apart, for a quarter of a second of warm-up and the window, twice over. */
#define LOG_ENTRIES 1024
#define CHUNK_NS UINT64_C(1000000)
/* More than a chunk of anything has; a segment that does nothing would overflow the sum. */
#define CHUNK_ITERATIONS_MAX (UINT64_C(1) << 32)

struct slot {
    _Alignas(CACHE_LINE_BYTES) struct ps_run run;
    struct ps_timing timing;
};

enum op { OP_THREAD_SETUP, OP_STEP, OP_WINDOW, OP_QUIT };

struct ps_team_run {
    struct ps_measuring *m;
    void (*body)(struct ps_measuring *m);
    unsigned threads;
    struct slot *slots;
    struct ps_window_log *logs;      /* written once a millisecond: they may share lines */
    struct ps_window_entry *entries; /* LOG_ENTRIES for each thread */
    struct ps_window_slice *slices;
    /* The command, written by thread 0 while all others wait. */
    enum op op;
    unsigned segment;
    bool baseline;
    uint64_t n;
    uint64_t busy_ns; /* OP_WINDOW: how long, from the last start */

    atomic_uint epoch;   /* number of commands given */
    atomic_uint arrived; /* threads that have done the last one */
    atomic_uint started; /* OP_WINDOW: threads that have begun */
    atomic_uint stop;    /* OP_WINDOW: everybody, finish */
};

static void relax(const struct ps_team_run *team) {
    const struct ps_port *port = team->m->shared->port;
    if (port->relax != NULL)
        port->relax(port->self);
}

static uint64_t last_start_ns(const struct ps_team_run *team) {
    uint64_t last = 0;
    for (unsigned i = 0; i < team->threads; i++) {
        if (team->slots[i].timing.start_ns > last)
            last = team->slots[i].timing.start_ns;
    }
    return last;
}

/* One thread's part of a window. */
static void work_window(struct ps_team_run *team, struct slot *slot) {
    const struct ps_bench *bench = team->m->shared->bench;
    const struct ps_port *port = team->m->shared->port;
    struct ps_window_log *log = &team->logs[slot->run.thread];
    uint64_t iterations = 0;
    slot->timing.start_ns = port->now_ns(port->self);
    ps_window_log_init(log, &team->entries[(size_t)slot->run.thread * LOG_ENTRIES], LOG_ENTRIES,
                       slot->timing.start_ns, ps_switches(port));
    atomic_fetch_add_explicit(&team->started, 1, memory_order_release);
    for (bool last = false; !last;) {
        int ret = bench->batch(&slot->run, team->segment, team->n);
        uint64_t now_ns = port->now_ns(port->self);
        uint64_t switches = ps_switches(port);
        iterations += team->n;
        if (ps_run_check(&slot->run, ret, "an operation failed while it was timed") < 0)
            atomic_store_explicit(&team->stop, 1, memory_order_release);
        now_ns = ps_window_log_add(log, now_ns, iterations, switches);
        last = atomic_load_explicit(&team->stop, memory_order_acquire) != 0;
        if (slot->run.thread == 0 &&
            atomic_load_explicit(&team->started, memory_order_acquire) == team->threads &&
            now_ns >= last_start_ns(team) + team->busy_ns) {
            atomic_store_explicit(&team->stop, 1, memory_order_release);
            last = true;
        }
        if (last)
            ps_window_log_finish(log, now_ns - log->offset_ns, iterations, switches);
    }
}

static void execute(struct ps_team_run *team, struct slot *slot) {
    const struct ps_bench *bench = team->m->shared->bench;
    switch (team->op) {
    case OP_THREAD_SETUP:
        if (bench->thread_setup != NULL)
            ps_run_check(&slot->run, bench->thread_setup(&slot->run), "its set-up failed");
        break;
    case OP_STEP:
        ps_time_work(&slot->run, team->segment, team->baseline, team->n, &slot->timing);
        break;
    case OP_WINDOW:
        work_window(team, slot);
        break;
    case OP_QUIT:
        break;
    }
}

/* Gives the command that was written into `team`, does thread 0's part and waits for the others. */
static int command(struct ps_team_run *team, enum op op) {
    team->op = op;
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->epoch, 1, memory_order_release);
    execute(team, &team->slots[0]);
    while (atomic_load_explicit(&team->arrived, memory_order_acquire) != team->threads - 1)
        relax(team);
    return ps_run_ended(&team->m->run) ? -PS_ECANCELED : 0;
}

static void obey(struct ps_team_run *team, struct slot *slot) {
    unsigned done = 0;
    for (enum op op = OP_THREAD_SETUP; op != OP_QUIT;) {
        while (atomic_load_explicit(&team->epoch, memory_order_acquire) == done)
            relax(team);
        done++;
        op = team->op;
        execute(team, slot);
        atomic_fetch_add_explicit(&team->arrived, 1, memory_order_release);
    }
}

static void team_thread(void *argument, unsigned i) {
    struct ps_team_run *team = argument;
    if (i > 0) {
        obey(team, &team->slots[i]);
        return;
    }
    team->body(team->m);
    command(team, OP_QUIT);
}

/* The team's own memory, apart from the benchmark's and from the scratch, whose size does not know
 * how many threads there are. */
static int map_team(struct ps_team_run *team, void **ret_memory, uint64_t *ret_bytes) {
    const struct ps_port *port = team->m->shared->port;
    uint64_t slots_bytes = team->threads * sizeof(struct slot);
    uint64_t logs_bytes = team->threads * sizeof(struct ps_window_log);
    uint64_t entries_bytes = (uint64_t)team->threads * LOG_ENTRIES * sizeof(struct ps_window_entry);
    uint64_t slices_bytes = PS_SAMPLES_MAX * sizeof(struct ps_window_slice);
    uint64_t bytes = slots_bytes + logs_bytes + entries_bytes + slices_bytes + 4 * CACHE_LINE_BYTES;
    const struct ps_memory request = {.bytes = bytes};
    int ret = port->map(port->self, &request, bytes, ret_memory);
    if (ret < 0)
        return ret;
    struct ps_arena arena;
    ps_arena_init(&arena, *ret_memory, bytes);
    team->slots = ps_arena_alloc(&arena, slots_bytes, CACHE_LINE_BYTES);
    team->logs = ps_arena_alloc(&arena, logs_bytes, CACHE_LINE_BYTES);
    team->entries = ps_arena_alloc(&arena, entries_bytes, CACHE_LINE_BYTES);
    team->slices = ps_arena_alloc(&arena, slices_bytes, CACHE_LINE_BYTES);
    PS_ASSERT(team->slices != NULL);
    for (unsigned i = 0; i < team->threads; i++)
        team->slots[i] = (struct slot){.run = {team->m->shared, i}};
    *ret_bytes = bytes;
    return 0;
}

void ps_team_run(struct ps_measuring *m, void (*body)(struct ps_measuring *m)) {
    static const char no_teams[] = "this platform runs one thread only";
    struct ps_run_shared *shared = m->shared;
    const struct ps_port *port = shared->port;
    unsigned threads = shared->threads;
    PS_ASSERT(shared->bench->baseline == NULL); /* a difference of two teams' times means nothing */
    PS_ASSERT(shared->bench->team == PS_TEAM_JOIN || shared->bench->passes == 0);
    struct ps_team_run team = {.m = m, .body = body, .threads = threads};
    void *memory = NULL;
    uint64_t bytes = 0;
    if (port->team == NULL) {
        ps_run_end(&m->run, PS_UNSUPPORTED, 0, no_teams);
        return;
    }
    if (shared->n_cpus < threads) {
        ps_run_end(&m->run, PS_SKIPPED, 0, "there are fewer usable CPUs than its threads");
        return;
    }
    if (map_team(&team, &memory, &bytes) < 0) {
        ps_run_end(&m->run, PS_SKIPPED, 0, "there is not enough memory for its threads");
        return;
    }
    m->team = &team;
    int ret = port->team(port->self, threads, shared->cpus, team_thread, &team);
    m->team = NULL;
    if (ret == -PS_ENOSYS)
        ps_run_end(&m->run, PS_UNSUPPORTED, 0, no_teams);
    else
        ps_run_check(&m->run, ret, "its threads could not be started on their CPUs");
    port->unmap(port->self, memory, bytes);
}

int ps_team_thread_setup(struct ps_measuring *m) {
    return command(m->team, OP_THREAD_SETUP);
}

int ps_team_step(struct ps_measuring *m, unsigned segment, bool baseline, uint64_t n,
                 struct ps_timing *ret_timing) {
    struct ps_team_run *team = m->team;
    team->segment = segment;
    team->baseline = baseline;
    team->n = n;
    if (command(team, OP_STEP) < 0)
        return -PS_ECANCELED;
    struct ps_timing all = team->slots[0].timing;
    bool backward = all.backward;
    for (unsigned i = 1; i < team->threads; i++) {
        const struct ps_timing *one = &team->slots[i].timing;
        all.start_ns = one->start_ns < all.start_ns ? one->start_ns : all.start_ns;
        all.stop_ns = one->stop_ns > all.stop_ns ? one->stop_ns : all.stop_ns;
        all.switched |= one->switched;
        backward |= one->backward;
    }
    ps_timing_settle(&all);
    if (backward) {
        all.backward = true;
        all.ns = 0;
    }
    *ret_timing = all;
    return 0;
}

/* ---- Windows -------------------------------------------------------------------------------- */

struct alone {
    struct ps_measuring *m;
    unsigned segment;
};

static int try_alone(void *context, uint64_t n, uint64_t *ret_ns) {
    const struct alone *alone = context;
    struct ps_timing timing;
    if (ps_time_work(&alone->m->run, alone->segment, false, n, &timing) < 0)
        return -PS_ECANCELED;
    *ret_ns = timing.ns;
    return 0;
}

static uint64_t warm_up_ns(const struct ps_measuring *m, unsigned segment) {
    const struct ps_measure_settings *settings = m->settings;
    uint64_t time_ns = ps_two_passes_ns(m, segment);
    if (time_ns < settings->warm_up_ns)
        time_ns = settings->warm_up_ns;
    if (settings->warm_up_cap_ns > 0 && time_ns > settings->warm_up_cap_ns)
        time_ns = settings->warm_up_cap_ns;
    return time_ns;
}

/* The window's slices become the segment's samples. */
static int keep_slices(struct ps_measuring *m, unsigned segment, uint64_t skip_ns,
                       uint64_t slice_ns, double mhz) {
    struct ps_team_run *team = m->team;
    struct ps_run_shared *shared = m->shared;
    struct ps_series *series = ps_segment_series(m, segment);
    double units = (double)m->units[segment];
    unsigned n =
        ps_window_cut(team->logs, team->threads, skip_ns, slice_ns, team->slices, series->capacity);
    for (unsigned i = 0; i < n; i++) {
        if (series->mhz != NULL)
            series->mhz[series->n] = mhz;
        series->samples[series->n++] = (double)slice_ns / (team->slices[i].iterations * units);
        shared->n_switched += team->slices[i].switched;
    }
    for (unsigned i = 0; i < team->threads; i++)
        shared->n_dropped += team->logs[i].n_backward;
    if (n == 0)
        return ps_run_end(&m->run, PS_FAILED, 0,
                          "no sample could be timed: the threads never worked all at once");
    shared->n_samples += n;
    shared->timed_ns += n * slice_ns;

    /* As for one thread, with the threads' turns of the empty loop side by side. */
    const struct ps_port *port = shared->port;
    double loop = 1.5 * shared->null_ns / (units * team->threads);
    double clock =
        series->samples[0] * (double)(port->resolution_ns + port->read_ns) / (double)slice_ns;
    series->resolution = loop > clock ? loop : clock;
    return 0;
}

static int measure_window(struct ps_measuring *m, unsigned segment) {
    struct ps_team_run *team = m->team;
    const struct ps_port *port = m->shared->port;
    struct alone alone = {m, segment};
    if (ps_calibrate_trials(port, CHUNK_NS, try_alone, &alone, &m->n[segment],
                            &m->trial_ns[segment]) < 0)
        return -PS_ECANCELED;
    uint64_t skip_ns = warm_up_ns(m, segment);
    uint64_t slice_ns = ps_sample_target_ns(port, m->settings->sample_ns);
    uint64_t window_ns = m->settings->window_ns > slice_ns ? m->settings->window_ns : slice_ns;

    team->segment = segment;
    team->n = m->n[segment] < CHUNK_ITERATIONS_MAX ? m->n[segment] : CHUNK_ITERATIONS_MAX;
    team->busy_ns = skip_ns + window_ns;
    atomic_store_explicit(&team->started, 0, memory_order_relaxed);
    atomic_store_explicit(&team->stop, 0, memory_order_relaxed);
    struct ps_probed before = ps_probe(m);
    if (command(team, OP_WINDOW) < 0)
        return -PS_ECANCELED;
    double mhz = ps_between(before.mhz, ps_probe(m).mhz);
    /* Of one thread, and not between the samples. */
    ps_segment_series(m, segment)->issue = NULL;
    if (port->kick != NULL)
        port->kick(port->self);
    return keep_slices(m, segment, skip_ns, slice_ns, mhz);
}

int ps_measure_windows(struct ps_measuring *m) {
    m->shared->stop = "time";
    for (unsigned i = 0; i < m->n_segments; i++) {
        if (measure_window(m, i) < 0)
            return -PS_ECANCELED;
    }
    return 0;
}
