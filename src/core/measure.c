/* SPDX-License-Identifier: MIT
 *
 * One run of one case, from mapping its memory to giving it back. What is timed, and how, is in
 * measure_batch.c (one thread, and teams that join) and measure_team.c; lengths come from the
 * design's study of estimators: 1 ms samples because scheduler slices are 3 to 4 ms, a 75 ms window
 * because more samples in a run buy nothing after about 30, 25 ms of warm-up because clocks settle
 * in 3 to 20.
 */
#include "core/measure.h"

#include "core/assert.h"
#include "core/calibrate.h"
#include "core/errors.h"
#include "core/measuring.h"

#define MS_NS UINT64_C(1000000)
#define BASE_PAGE_BYTES                                                                            \
    4096 /* the smallest there is; a larger page's mapping is aligned anyway                       \
          */

enum ps_bound ps_case_bound(const struct ps_case *c, uint64_t last_private_bytes) {
    if (c->bound != PS_BOUND_AUTO)
        return c->bound;
    uint64_t quarter_bytes = last_private_bytes / 4 + (last_private_bytes % 4 != 0);
    return c->memory.bytes <= last_private_bytes - quarter_bytes ? PS_BOUND_CORE : PS_BOUND_MEMORY;
}

void ps_measure_defaults(struct ps_measure_settings *ret_settings, const struct ps_bench *bench,
                         const struct ps_case *c, enum ps_bound bound, bool quick) {
    PS_ASSERT(bound != PS_BOUND_AUTO);
    struct ps_measure_settings settings = {
        .warm_up_ns = (quick ? 15 : 25) * MS_NS,
        .warm_up_cap_ns = 250 * MS_NS,
        .sample_ns = MS_NS,
        .window_ns = (quick ? 40 : 75) * MS_NS,
        .events = quick && bench->events_per_run_quick > 0 ? bench->events_per_run_quick
                                                           : bench->events_per_run,
    };
    if (c->place.threads > 1 && bench->team == PS_TEAM_WINDOW) {
        settings.sample_ns = 10 * MS_NS;
        settings.window_ns = (quick ? 80 : 160) * MS_NS;
    }
    if (bound ==
        PS_BOUND_WAKE) { /* shorter ones do not reproduce: a wake-up's cost has a long tail */
        settings.sample_ns = 10 * MS_NS;
        settings.window_ns = 160 * MS_NS;
        settings.single_events = bench->batch == NULL ? 0 : quick ? 300 : 1000;
    }
    *ret_settings = settings;
}

/* ---- Scratch memory ------------------------------------------------------------------------- */

/* Takes memory, or only adds up how much it would be. */
struct scratch {
    struct ps_arena *arena; /* NULL: adds up */
    uint64_t bytes;
    bool full;
};

static void *take(struct scratch *scratch, uint64_t bytes) {
    scratch->bytes += (bytes + 15) / 16 * 16; /* ps_arena_alloc's alignment */
    if (scratch->arena == NULL)
        return NULL;
    void *memory = ps_arena_alloc(scratch->arena, bytes, 0);
    scratch->full |= memory == NULL;
    return memory;
}

static unsigned n_segments_of(const struct ps_bench *bench) {
    return bench->segments != NULL ? bench->n_segments : 1;
}

static void take_histogram(struct scratch *scratch, struct ps_series *series) {
    series->histogram = take(scratch, sizeof(*series->histogram));
    if (series->histogram != NULL)
        ps_histogram_init(series->histogram);
}

static void take_batch_series(struct scratch *scratch, const struct ps_bench *bench,
                              const struct ps_measure_settings *settings, bool probed,
                              struct ps_series *all) {
    unsigned capacity = bench->passes > 0 ? bench->passes : PS_SAMPLES_MAX;
    uint64_t bytes = capacity * sizeof(double);
    for (unsigned i = 0; i < n_segments_of(bench); i++) {
        struct ps_series *series = &all[bench->segments != NULL ? bench->segments[i].metric : 0];
        PS_ASSERT(series->capacity == 0); /* one segment feeds one metric */
        series->capacity = capacity;
        series->samples = take(scratch, bytes);
        series->mhz = probed ? take(scratch, bytes) : NULL;
        series->issue = probed ? take(scratch, bytes) : NULL;
        if (bench->baseline != NULL) {
            series->baseline = take(scratch, bytes);
            series->baseline_mhz = probed ? take(scratch, bytes) : NULL;
        }
        if (settings->single_events > 0)
            take_histogram(scratch, series);
    }
}

static void take_event_series(struct scratch *scratch, const struct ps_bench *bench,
                              const struct ps_measure_settings *settings, struct ps_series *all) {
    bool more = settings->events > PS_SAMPLES_MAX;
    /* 0 is a table that knows for itself how many there will be. */
    unsigned capacity = more || settings->events == 0 ? PS_SAMPLES_MAX : settings->events;
    for (unsigned i = 0; i < bench->n_metrics; i++) {
        if (bench->metrics[i].kind != PS_READING)
            continue;
        all[i].capacity = capacity;
        all[i].samples = take(scratch, capacity * sizeof(double));
        if (more && ps_unit_dimension(bench->metrics[i].unit) == PS_DIM_TIME)
            take_histogram(scratch, &all[i]);
    }
}

static void take_all(struct scratch *scratch, const struct ps_bench *bench,
                     const struct ps_measure_settings *settings, bool probed,
                     struct ps_measuring *m, struct ps_series *series) {
    if (bench->batch != NULL)
        take_batch_series(scratch, bench, settings, probed, series);
    else
        take_event_series(scratch, bench, settings, series);
    m->probes = probed ? take(scratch, PS_PROBES_MAX * sizeof(double)) : NULL;
    m->issues = probed ? take(scratch, PS_PROBES_MAX * sizeof(double)) : NULL;
}

uint64_t ps_measure_scratch_bytes(const struct ps_bench *bench,
                                  const struct ps_measure_settings *settings) {
    struct scratch scratch = {.arena = NULL};
    struct ps_series series[PS_METRICS_MAX] = {{.n = 0}};
    struct ps_measuring unused = {.n_probes = 0};
    take_all(&scratch, bench, settings, true, &unused, series);
    return scratch.bytes + 16; /* the block may start anywhere */
}

/* ---- Small parts ---------------------------------------------------------------------------- */

struct ps_series *ps_segment_series(struct ps_measuring *m, unsigned segment) {
    const struct ps_segment *segments = m->shared->bench->segments;
    return &m->shared->series[segments != NULL ? segments[segment].metric : 0];
}

double ps_between(double mhz_before, double mhz_after) {
    return mhz_before > 0 && mhz_after > 0 ? (mhz_before + mhz_after) / 2 : 0;
}

double ps_issue_between(double before, double after) {
    if (!(before > 0) || !(after > 0))
        return 0;
    return before < after ? before : after;
}

static double probe_issue(struct ps_measuring *m, double mhz) {
    struct ps_run_shared *shared = m->shared;
    if (shared->port->probe_issue == NULL)
        return 0;
    double issue = shared->port->probe_issue(shared->port->self) / mhz;
    if (!(issue > 0))
        return 0;
    if (shared->issue_min <= 0 || issue < shared->issue_min)
        shared->issue_min = issue;
    if (issue > shared->issue_max)
        shared->issue_max = issue;
    if (m->n_issues < PS_PROBES_MAX)
        m->issues[m->n_issues++] = issue;
    return issue;
}

struct ps_probed ps_probe(struct ps_measuring *m) {
    struct ps_run_shared *shared = m->shared;
    if (shared->port->probe_mhz == NULL)
        return (struct ps_probed){.mhz = 0};
    double mhz = shared->port->probe_mhz(shared->port->self);
    if (!(mhz > 0))
        return (struct ps_probed){.mhz = 0};
    if (shared->mhz_min <= 0 || mhz < shared->mhz_min)
        shared->mhz_min = mhz;
    if (mhz > shared->mhz_max)
        shared->mhz_max = mhz;
    if (m->n_probes < PS_PROBES_MAX)
        m->probes[m->n_probes++] = mhz;
    return (struct ps_probed){.mhz = mhz, .issue = probe_issue(m, mhz)};
}

/* Shell's sort, gaps by thirds: at most a thousand values, once a run. */
static void sort(double *values, unsigned n) {
    unsigned gap = 1;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (unsigned i = gap; i < n; i++) {
            double value = values[i];
            unsigned j = i;
            for (; j >= gap && values[j - gap] > value; j -= gap)
                values[j] = values[j - gap];
            values[j] = value;
        }
    }
}

static double median(double *values, unsigned n) {
    if (n == 0)
        return 0;
    sort(values, n);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* A run that saw more of the core than was known knows better which samples were shared. */
static void judge_sharing(struct ps_measuring *m) {
    struct ps_run_shared *shared = m->shared;
    double high = m->n_issues > 0 ? m->issues[(m->n_issues - 1) * 95 / 100] : 0; /* sorted */
    if (high > shared->full_issue)
        shared->full_issue = high;
    for (unsigned i = 0; i < m->n_segments; i++) {
        const struct ps_series *series = ps_segment_series(m, i);
        for (unsigned j = 0; series->issue != NULL && j < series->n; j++)
            shared->n_shared += ps_core_shared(series->issue[j], shared->full_issue);
    }
}

static void summarise_core(struct ps_measuring *m) {
    m->shared->mhz_median = median(m->probes, m->n_probes);
    m->shared->issue_median = median(m->issues, m->n_issues);
    judge_sharing(m);
}

uint64_t ps_switches(const struct ps_port *port) {
    return port->switches != NULL ? port->switches(port->self) : 0;
}

void ps_timing_settle(struct ps_timing *timing) {
    timing->backward = timing->stop_ns < timing->start_ns;
    timing->ns = timing->backward ? 0 : timing->stop_ns - timing->start_ns;
}

int ps_time_work(struct ps_run *run, unsigned segment, bool baseline, uint64_t n,
                 struct ps_timing *ret_timing) {
    const struct ps_bench *bench = run->shared->bench;
    const struct ps_port *port = run->shared->port;
    int (*work)(struct ps_run *, unsigned, uint64_t) = baseline ? bench->baseline : bench->batch;

    uint64_t switches = ps_switches(port);
    uint64_t start_ns = port->now_ns(port->self);
    int ret = work(run, segment, n);
    uint64_t stop_ns = port->now_ns(port->self);
    *ret_timing = (struct ps_timing){
        .start_ns = start_ns, .stop_ns = stop_ns, .switched = ps_switches(port) != switches};
    ps_timing_settle(ret_timing);
    return ps_run_check(run, ret, "an operation failed while it was timed");
}

int ps_step(struct ps_measuring *m, unsigned segment, bool baseline, uint64_t n,
            struct ps_timing *ret_timing) {
    if (m->team != NULL)
        return ps_team_step(m, segment, baseline, n, ret_timing);
    return ps_time_work(&m->run, segment, baseline, n, ret_timing);
}

/* ---- The run -------------------------------------------------------------------------------- */

static int prove(struct ps_measuring *m, enum ps_verify_when when) {
    const struct ps_bench *bench = m->shared->bench;
    if (bench->verify == NULL)
        return 0;
    return ps_run_check(&m->run, bench->verify(&m->run, when),
                        when == PS_VERIFY_BEFORE ? "wrong answer before it was timed"
                                                 : "wrong answer after it was timed");
}

/* --golden: everything once, nothing timed. */
static int once(struct ps_measuring *m) {
    struct ps_timing timing;
    for (unsigned i = 0; i < m->n_segments; i++) {
        if (ps_step(m, i, false, 1, &timing) < 0)
            return -PS_ECANCELED;
        if (ps_segment_series(m, i)->baseline != NULL && ps_step(m, i, true, 1, &timing) < 0)
            return -PS_ECANCELED;
    }
    return 0;
}

static int measure_events(struct ps_measuring *m) {
    struct ps_run_shared *shared = m->shared;
    const struct ps_port *port = shared->port;
    shared->stop = "events";
    ps_probe(m);
    uint64_t before = port->now_ns(port->self);
    int ret = shared->bench->events(&m->run);
    uint64_t now = port->now_ns(port->self);
    ps_probe(m);
    shared->timed_ns = now > before ? now - before : 0;
    if (ps_run_check(&m->run, ret, "an operation failed while events were taken") < 0)
        return -PS_ECANCELED;

    uint64_t n = 0;
    for (unsigned i = 0; i < shared->bench->n_metrics; i++)
        n += shared->series[i].n_events;
    shared->n_samples = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
    return n > 0 ? 0 : ps_run_end(&m->run, PS_FAILED, 0, "it produced no event");
}

static int thread_setup(struct ps_measuring *m) {
    if (m->team != NULL)
        return ps_team_thread_setup(m);
    if (m->shared->bench->thread_setup == NULL)
        return 0;
    return ps_run_check(&m->run, m->shared->bench->thread_setup(&m->run), "its set-up failed");
}

/* On thread 0, with the team, if there is one, at its command. */
static void body(struct ps_measuring *m) {
    const struct ps_bench *bench = m->shared->bench;
    if (thread_setup(m) < 0 || prove(m, PS_VERIFY_BEFORE) < 0)
        return;
    if (m->settings->verify_only && bench->events != NULL)
        return; /* without events there is no answer to prove afterwards */
    int ret;
    if (m->settings->verify_only) {
        ret = once(m);
    } else {
        m->shared->null_ns = ps_null_loop_ns(m->shared->port);
        if (bench->events != NULL)
            ret = measure_events(m);
        else if (m->team != NULL && bench->team == PS_TEAM_WINDOW)
            ret = ps_measure_windows(m);
        else
            ret = ps_measure_batches(m);
    }
    if (ret == 0)
        (void)prove(m, PS_VERIFY_AFTER);
    summarise_core(m);
}

static void set_up_and_measure(struct ps_measuring *m) {
    struct ps_run_shared *shared = m->shared;
    const struct ps_bench *bench = shared->bench;
    int ret = bench->setup != NULL ? bench->setup(&m->run) : 0;
    bool set_up = ps_run_check(&m->run, ret, "its set-up failed") == 0;
    if (set_up && shared->threads > 1 && bench->batch != NULL)
        ps_team_run(m, body);
    else if (set_up)
        body(m);
    /* A set-up that failed half-way has something to give back once it has set its state. */
    if (bench->teardown != NULL && (set_up || shared->state != NULL))
        bench->teardown(&m->run);
}

static int map_arena(struct ps_measuring *m, void **ret_memory, uint64_t *ret_bytes) {
    struct ps_run_shared *shared = m->shared;
    const struct ps_memory *request = &shared->c->memory;
    uint64_t alignment = request->alignment_bytes > 0 ? request->alignment_bytes : BASE_PAGE_BYTES;
    PS_ASSERT((alignment & (alignment - 1)) == 0);
    uint64_t bytes = request->bytes + PS_ARENA_SLACK_BYTES + alignment;
    void *memory = NULL;
    int ret = shared->port->map(shared->port->self, request, bytes, &memory);
    if (ret == -PS_EOPNOTSUPP)
        return ps_run_end(&m->run, PS_UNSUPPORTED, 0,
                          "the kernel did not grant pages of the kind that this case asks for");
    if (ret < 0)
        return ps_run_end(&m->run, PS_SKIPPED, 0, "there is not enough memory for its working set");
    ps_arena_init(&shared->arena, memory, bytes);
    void *start = ps_arena_alloc(&shared->arena, 0, alignment);
    PS_ASSERT(start != NULL);
    *ret_memory = memory;
    *ret_bytes = bytes;
    return 0;
}

int ps_measure(struct ps_run_shared *shared, const struct ps_measure_settings *settings,
               void *scratch, uint64_t scratch_bytes) {
    const struct ps_bench *bench = shared->bench;
    struct ps_measuring m = {.run = {shared, 0},
                             .shared = shared,
                             .settings = settings,
                             .n_segments = n_segments_of(bench)};
    PS_ASSERT((bench->batch != NULL) != (bench->events != NULL));
    PS_ASSERT(m.n_segments <= PS_SEGMENTS_MAX && bench->n_metrics <= PS_METRICS_MAX);
    PS_ASSERT(bench->passes <= PS_SAMPLES_MAX);
    shared->threads = shared->c->place.threads > 1 ? shared->c->place.threads : 1;
    shared->events_wanted = settings->events;
    shared->seed = settings->seed;
    for (unsigned i = 0; i < m.n_segments; i++) {
        m.units[i] = bench->units != NULL ? bench->units(shared->c, i) : 1;
        PS_ASSERT(m.units[i] > 0);
    }

    struct ps_arena arena;
    struct scratch taking = {.arena = &arena};
    ps_arena_init(&arena, scratch, scratch_bytes);
    take_all(&taking, bench, settings, shared->port->probe_mhz != NULL, &m, shared->series);
    shared->full_issue = shared->port->full_issue;
    PS_ASSERT(!taking.full);
    if (!ps_case_has_baseline(bench, shared->c))
        for (unsigned i = 0; i < bench->n_metrics; i++)
            shared->series[i].baseline = shared->series[i].baseline_mhz = NULL;

    void *memory = NULL;
    uint64_t bytes = 0;
    if (map_arena(&m, &memory, &bytes) == 0) {
        set_up_and_measure(&m);
        shared->port->unmap(shared->port->self, memory, bytes);
        ps_arena_init(&shared->arena, NULL, 0);
    }
    return shared->status == PS_OK ? 0 : -(shared->error > 0 ? shared->error : PS_ECANCELED);
}
