/* SPDX-License-Identifier: MIT
 *
 * STREAM's four loops over three arrays of doubles, by one thread and by more.
 *
 * Measured: bytes that the loops read and write in a second, counted as STREAM does: 16 an element
 * for copy and scale, 24 for add and triad; what the caches read besides, to write
 * (write-allocate), is not counted. The loops run one after the other, 11 times; the first time is
 * dropped, the best of the ten is the run's value. Not STREAM itself but a variant: its rules of
 * counting, repeating and checking, code of our own, compiled as src/kernels/variants.cmake says.
 *
 * Each array is to have four times the last-level cache or 10^7 elements, whichever is more. Where
 * memory or the cap on working sets does not allow it the row says cache-resident.
 */
#include "core/bench.h"
#include "kernels/stream_ops.h"

enum { COPY, SCALE, ADD, TRIAD, N_LOOPS };

/* Of all threads together: a core can do no more than 128 bytes a cycle, and no team has more than
 * 1024 cores. A floor this low only finds loops that were removed. */
#define FLOOR_CYCLES (1.0 / 128 / 1024)
#define ARRAYS 3u
#define ELEMENTS_DEFAULT UINT64_C(10000000)
/* Starts of slices are this many elements apart, two cache lines of 64 bytes or one of 128, so that
 * no two threads write one line. */
#define SLICE_ELEMENTS 16u
/* Bytes that STREAM counts for one element in all four loops. */
#define BYTES_PER_ELEMENT 80u

#define METRIC(loop)                                                                               \
    {                                                                                              \
        .name = (loop), .unit = PS_UNIT_MB_PER_S, .kind = PS_RATE,                                 \
        .counts = "bytes read + written", .better = PS_BETTER_HIGHER, .positive = true,            \
        .decimals = 1, .method = 1, .bound = PS_BOUND_MEMORY, .sample_stat = PS_STAT_MIN,          \
        .run_stat = PS_STAT_MEDIAN, .depends = PS_DEPENDS_COMPILER, .floor_cycles = FLOOR_CYCLES,  \
    }
static const struct ps_metric metrics[N_LOOPS] = {METRIC("copy"), METRIC("scale"), METRIC("add"),
                                                  METRIC("triad")};
static const struct ps_segment segments[N_LOOPS] = {
    {"copy", COPY}, {"scale", SCALE}, {"add", ADD}, {"triad", TRIAD}};

/* ---- The cases ------------------------------------------------------------------------------ */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t elements_for(const struct ps_env *env, bool *ret_cache_resident) {
    const uint64_t element_bytes = ARRAYS * sizeof(double);
    uint64_t last_level = env->cluster != NULL ? env->cluster->last_level_bytes : 0;
    uint64_t wanted = 4 * last_level / sizeof(double);
    if (wanted < ELEMENTS_DEFAULT)
        wanted = ELEMENTS_DEFAULT;
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    uint64_t cap = cap_bytes / element_bytes;
    /* STREAM's own size is a published one, which the cap does not hold back but in a quick run. */
    if (!env->quick && cap < ELEMENTS_DEFAULT &&
        ELEMENTS_DEFAULT * element_bytes <= env->published_cap_bytes)
        cap = ELEMENTS_DEFAULT;
    uint64_t n = smaller(wanted, cap);
    n = smaller(n, env->memory_available_bytes * 6 / 10 / element_bytes);
    n -= n % SLICE_ELEMENTS;
    *ret_cache_resident =
        last_level > 0 ? n * sizeof(double) < 4 * last_level : n < ELEMENTS_DEFAULT;
    return n;
}

static void relate_and_publish(struct ps_case *c, unsigned threads) {
    ps_case_relate(
        c, PS_NEAR, "mem-13", "triad", "mem.stream/all:add", 1, 0.15,
        "add and triad move the same bytes: a run was disturbed, or one of the loops was "
        "compiled differently");
    ps_case_relate(
        c, PS_NEAR, "mem-13", "copy", "mem.stream/all:scale", 1, 0.30,
        "copy and scale move the same bytes: a run was disturbed, or one of the loops was "
        "compiled differently");
    for (unsigned i = 0; i < N_LOOPS; i++) {
        if (threads > 1) {
            char other[2 * PS_NAME_MAX];
            struct ps_text text;
            ps_text_init(&text, other, sizeof(other));
            ps_text_add(&text, "mem.stream/all:");
            ps_text_add(&text, metrics[i].name);
            ps_case_relate(c, PS_SCALING, "mem-13", metrics[i].name, other, 1, 0.10,
                           "threads can not do more than their number times one thread: the "
                           "single-thread row was disturbed, or the arrays fit the caches of all");
        } else {
            ps_case_publish(c, metrics[i].name, "am62l", "stream", metrics[i].name,
                            PS_COMPARABLE_APPROX,
                            "the page says neither threads nor array size nor compiler flags");
        }
    }
}

/* STREAM counts a copy as read and as written, bcopy once: bcopy is 0.6 to 1.8 of half of this, as
 * either may do without the write-allocate reading of the other. Only beyond the caches. */
static void relate_to_library(struct ps_case *c, uint64_t last_level_bytes) {
    if (last_level_bytes == 0 || 2 * last_level_bytes > 16000000)
        return;
    ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-07", "copy", "mem.bw_mem/bcopy-16mb:bandwidth",
                   2 / 1.8, 0, "the copy loop was compiled poorly, or a run was disturbed");
    ps_case_relate(c, PS_ORDER_AT_MOST, "mem-07", "copy", "mem.bw_mem/bcopy-16mb:bandwidth",
                   2 / 0.6, 0,
                   "the C library's copy is poor on this processor, or a run was disturbed");
}

static void add_case(const struct ps_env *env, struct ps_case_list *list, unsigned threads) {
    bool cache_resident;
    uint64_t elements = elements_for(env, &cache_resident);
    struct ps_case *c = ps_case_add(list, "all");
    if (c == NULL)
        return;
    c->place.threads = threads;
    if (threads > 1)
        c->place.every_cluster = false;
    ps_case_param(c, "elements", (int64_t)elements);
    ps_case_param(c, "bytes", (int64_t)(elements * ARRAYS * sizeof(double)));
    ps_case_param(c, "threads", threads);
    c->memory.bytes = elements * ARRAYS * sizeof(double);
    c->memory.untouched = true; /* each thread touches its slice first */
    /* 11 passes, and as much as one more to fill and to check, at some 12 GB/s. */
    c->predicted_ms = (unsigned)(12 * elements * BYTES_PER_ELEMENT / 12000000);
    if (threads == 1 || threads == env->n_cpus)
        c->tags |= PS_TAG_HEADLINE;
    if (cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    if (elements < SLICE_ELEMENTS * threads) {
        c->status = PS_SKIPPED;
        c->reason =
            "needs three arrays of doubles with some elements for each thread, and there is "
            "no memory for them";
    }
    relate_and_publish(c, threads);
    if (threads == 1 && !cache_resident && env->cluster != NULL)
        relate_to_library(c, env->cluster->last_level_bytes);
}

/* One thread, powers of two, all CPUs. */
static int cases(const struct ps_env *env, struct ps_case_list *list) {
    for (unsigned threads = 1; threads < env->n_cpus; threads *= 2)
        add_case(env, list, threads);
    add_case(env, list, env->n_cpus > 0 ? env->n_cpus : 1);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    double *a, *b, *c;
    size_t elements;
    uint64_t done[N_LOOPS]; /* by thread 0 */
};

/* STREAM starts from 1, 2 and 0, and doubles the first once. */
static const double start_a = 2.0, start_b = 2.0, start_c = 0.0;

struct slice {
    size_t begin, n;
};

static struct slice slice_of(const struct ps_run *run, const struct state *state) {
    size_t chunks = state->elements / SLICE_ELEMENTS;
    unsigned thread = ps_run_thread(run), threads = ps_run_threads(run);
    size_t begin = chunks * thread / threads * SLICE_ELEMENTS;
    size_t end = chunks * (thread + 1) / threads * SLICE_ELEMENTS;
    return (struct slice){begin, end - begin};
}

static int setup(struct ps_run *run) {
    size_t elements = (size_t)ps_case_value(ps_run_case(run), "elements", 0);
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    double *arrays[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++)
        arrays[i] = ps_run_alloc(run, elements * sizeof(double), 4096);
    if (state == NULL || arrays[0] == NULL || arrays[1] == NULL || arrays[2] == NULL)
        return ps_run_end(run, PS_FAILED, 0, "the arrays do not fit the memory that was asked for");
    *state = (struct state){arrays[0], arrays[1], arrays[2], elements, {0}};
    ps_run_set_state(run, state);
    return 0;
}

static int thread_setup(struct ps_run *run) {
    struct state *state = ps_run_state(run);
    struct slice slice = slice_of(run, state);
    for (size_t i = slice.begin; i < slice.begin + slice.n; i++) {
        state->a[i] = start_a;
        state->b[i] = start_b;
        state->c[i] = start_c;
    }
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    struct slice slice = slice_of(run, state);
    double *a = state->a + slice.begin, *b = state->b + slice.begin, *c = state->c + slice.begin;
    for (uint64_t i = 0; i < n; i++) {
        switch (segment) {
        case COPY:
            psk_stream_copy(c, a, slice.n);
            break;
        case SCALE:
            psk_stream_scale(b, c, slice.n);
            break;
        case ADD:
            psk_stream_add(c, a, b, slice.n);
            break;
        default:
            psk_stream_triad(a, b, c, slice.n);
            break;
        }
    }
    if (ps_run_thread(run) == 0)
        state->done[segment] += n;
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    uint64_t elements = (uint64_t)ps_case_value(c, "elements", 0);
    return elements * sizeof(double) * (segment == ADD || segment == TRIAD ? 3 : 2);
}

static bool near(const double *array, size_t n, double expected) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double error = array[i] - expected;
        sum += error < 0 ? -error : error;
    }
    /* STREAM's bound for doubles. Also false when a sum is not a number. */
    double magnitude = expected < 0 ? -expected : expected;
    return sum / (double)n <= 1e-13 * magnitude;
}

/* The recurrence on single numbers, as often as the loops have run. */
static int verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    double a = start_a, b = start_b, c = start_c;
    (void)when; /* before the first pass the arrays must hold what they were given */
    for (uint64_t pass = 0; pass < state->done[TRIAD]; pass++) {
        c = a;
        b = PSK_STREAM_SCALAR * c;
        c = a + b;
        a = b + PSK_STREAM_SCALAR * c;
    }
    for (unsigned i = 0; i < N_LOOPS; i++)
        if (state->done[i] != state->done[TRIAD])
            return ps_run_end(run, PS_FAILED, 0, "the loops did not run equally often");
    if (!near(state->a, state->elements, a) || !near(state->b, state->elements, b) ||
        !near(state->c, state->elements, c))
        return ps_run_end(run, PS_FAILED, 0,
                          "the arrays do not hold the loops' result: memory, compiler or kernel is "
                          "at fault");
    return 0;
}

const struct ps_bench ps_bench_mem_stream = {
    .chapter = "mem",
    .table = "stream",
    .title = "Sustained bandwidth, a variant of STREAM",
    .about =
        "copy c=a, scale b=qc, add c=a+b, triad a=b+qc over arrays of doubles; best of ten passes. "
        "Bytes count as in STREAM: read and written ones, without what caches read in order to "
        "write, so the bus may carry half as much again. The result of a variant, not of the "
        "STREAM program.",
    .region =
        "one loop over the arrays, each thread its slice, from the first start to the last stop",
    .metrics = metrics,
    .n_metrics = N_LOOPS,
    .order = PS_INTERLEAVED,
    .team = PS_TEAM_JOIN,
    .cases = cases,
    .setup = setup,
    .thread_setup = thread_setup,
    .batch = batch,
    .segments = segments,
    .n_segments = N_LOOPS,
    .units = units,
    .passes = 10,
    .passes_dropped = 1,
    .verify = verify,
};
