/* SPDX-License-Identifier: MIT
 *
 * Context switches: processes in a ring, joined by pipes, pass a 4-byte token around. On each visit
 * a process reads the token, sums its private array, and writes the token on. A hop's time less its
 * overhead (a write and a read of the token through a pipe and one sum of an array, all in one
 * process with warm caches) is the switch, the wake-up, and what it takes to get the array back
 * into the caches after the others had them. It is not a bare context switch, and grows steeply
 * once the arrays together exceed a cache.
 *
 * Where the processes are matters more than anything else, so that each row says it: all on one CPU
 * (switches proper), on two CPUs of one cluster or of two (remote wake-ups out of idle). The token
 * proves that it went around, each sum is checked, the processes report the CPU that they ran on,
 * and on one CPU the kernel's count of switches must agree with the hops.
 */
#include <errno.h>
#include <string.h>

#include "core/bench.h"
#include "sys/pipe_ring.h"

#define ARRAY_ALIGNMENT_BYTES 4096

/* How far switches and hops may differ: a twentieth, and what the proof itself adds to few hops. */
#define SWITCHES_SLACK 0.05
#define SWITCHES_SLACK_MIN 16.0

struct ctx_state {
    struct ps_pipe_ring ring;
    int cpus[PS_PIPE_RING_MAX];
    bool same_cpu;
    uint64_t hops, hops_before;
    struct ps_pipe_ring_report before[PS_PIPE_RING_MAX];
};

static int ctx_setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    unsigned processes = (unsigned)ps_case_value(c, "processes", 2);
    size_t array_bytes = (size_t)ps_case_value(c, "array_bytes", 0);
    struct ctx_state *state = ps_run_alloc(run, sizeof(*state), 0);
    uint64_t *array = NULL;
    if (array_bytes > 0)
        array = ps_run_alloc(run, array_bytes, ARRAY_ALIGNMENT_BYTES);
    if (state == NULL || (array == NULL && array_bytes > 0))
        return -ENOMEM;
    memset(state, 0, sizeof(*state));
    state->same_cpu = c->place.pairing == PS_PAIR_SAME_CPU;
    for (unsigned i = 0; i < processes && i < PS_PIPE_RING_MAX; i++) {
        state->cpus[i] = ps_run_cpu(run, state->same_cpu ? 0 : i);
        if (state->cpus[i] < 0)
            return ps_run_end(run, PS_FAILED, 0, "the plan named no CPU for a process of the ring");
    }
    int r = ps_pipe_ring_start(&state->ring, processes, state->cpus, array,
                               array_bytes / sizeof(uint64_t), ps_run_seed(run));
    if (r == 0)
        ps_run_set_state(run, state);
    return r;
}

static void ctx_teardown(struct ps_run *run) {
    struct ctx_state *state = ps_run_state(run);
    if (state != NULL)
        ps_pipe_ring_stop(&state->ring);
    ps_run_set_state(run, NULL);
}

static int ctx_end(struct ps_run *run, int r) {
    if (r == -EPIPE)
        return ps_run_end(run, PS_FAILED, EPIPE, "a process of the ring died");
    if (r == -EBADMSG)
        return ps_run_end(run, PS_FAILED, 0,
                          "the token or an array's sum came back wrong: memory or kernel is "
                          "unreliable");
    return r;
}

static int ctx_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct ctx_state *state = ps_run_state(run);
    state->hops += n * state->ring.processes;
    return ctx_end(run, ps_pipe_ring_rounds(&state->ring, n));
}

static int ctx_baseline(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct ctx_state *state = ps_run_state(run);
    return ctx_end(run, ps_pipe_ring_alone(&state->ring, n * state->ring.processes));
}

static uint64_t ctx_units(const struct ps_case *c, unsigned segment) {
    (void)segment;
    return (uint64_t)ps_case_value(c, "processes", 2);
}

/* On one CPU each hop switches once, mostly because the last process waits for the token, sometimes
 * because the kernel lets the next one preempt it. More waits than hops would be somebody else's.
 */
static bool switches_agree(const struct ctx_state *state) {
    double hops = (double)(state->hops - state->hops_before), waits = 0, switches = 0;
    double slack = hops * SWITCHES_SLACK + SWITCHES_SLACK_MIN;
    for (unsigned i = 0; i < state->ring.processes; i++) {
        const struct ps_pipe_ring_report *now = &state->ring.reports[i], *was = &state->before[i];
        waits += (double)(now->voluntary - was->voluntary);
        switches += (double)(now->voluntary - was->voluntary) +
                    (double)(now->involuntary - was->involuntary);
    }
    return switches >= hops - slack && waits <= hops + slack;
}

static int ctx_verify(struct ps_run *run, enum ps_verify_when when) {
    struct ctx_state *state = ps_run_state(run);
    int r = ps_pipe_ring_collect(&state->ring);
    if (r < 0)
        return ctx_end(run, r);
    for (unsigned i = 0; i < state->ring.processes; i++)
        if (state->ring.reports[i].cpu != state->cpus[i])
            return ps_run_end(run, PS_FAILED, 0,
                              "a process of the ring did not run on the CPU that the row names");
    if (when == PS_VERIFY_AFTER && state->same_cpu && !switches_agree(state))
        return ps_run_end(run, PS_FAILED, 0,
                          "not switching: the kernel's count of context switches differs from the "
                          "token's hops by over 5 %");
    if (when == PS_VERIFY_BEFORE) {
        memcpy(state->before, state->ring.reports,
               sizeof(state->before[0]) * state->ring.processes);
        state->hops_before = state->hops;
        return ctx_batch(run, 0, 1);
    }
    return 0;
}

/* ---- Cases ---------------------------------------------------------------------------------- */

struct ring_shape {
    unsigned processes, array_kib;
    enum ps_pairing pairing;
    unsigned tags;
    bool published;
    /* Shapes of the same place that this one must not be quicker than; 0 processes: none. */
    unsigned smaller_kib, fewer_processes;
};

#define NOT_COMPARED UINT32_MAX

static const struct ring_shape shapes[] = {
    {2, 0, PS_PAIR_SAME_CPU, PS_TAG_HEADLINE, false, NOT_COMPARED, 0},
    {2, 128, PS_PAIR_SAME_CPU, PS_TAG_HEADLINE, true, 0, 0},
    {2, 256, PS_PAIR_SAME_CPU, 0, true, 128, 0},
    {4, 0, PS_PAIR_SAME_CPU, 0, false, NOT_COMPARED, 2},
    {4, 128, PS_PAIR_SAME_CPU, 0, true, 0, 2},
    {4, 256, PS_PAIR_SAME_CPU, PS_TAG_HEADLINE, true, 128, 2},
    {8, 16, PS_PAIR_SAME_CPU, 0, false, NOT_COMPARED, 0},
    {2, 0, PS_PAIR_CROSS_CPU, PS_TAG_HEADLINE, false, NOT_COMPARED, 0},
    {2, 128, PS_PAIR_CROSS_CPU, 0, false, NOT_COMPARED, 0},
    {2, 256, PS_PAIR_CROSS_CPU, 0, false, NOT_COMPARED, 0},
    {2, 0, PS_PAIR_CROSS_CLUSTER, 0, false, NOT_COMPARED, 0},
    {2, 128, PS_PAIR_CROSS_CLUSTER, 0, false, NOT_COMPARED, 0},
};

static void add_shape_name(struct ps_text *text, unsigned processes, unsigned array_kib,
                           enum ps_pairing pairing) {
    ps_text_add_u64(text, processes);
    ps_text_add_char(text, '-');
    ps_text_add_u64(text, array_kib);
    ps_text_add(text, pairing == PS_PAIR_SAME_CPU    ? "k-same-cpu"
                      : pairing == PS_PAIR_CROSS_CPU ? "k-cross-cpu"
                                                     : "k-cross-cluster");
}

static void relate_to_shape(struct ps_case *c, const struct ring_shape *shape, unsigned processes,
                            unsigned array_kib) {
    char other[2 * PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, "os.lat_ctx/");
    add_shape_name(&text, processes, array_kib, shape->pairing);
    ps_text_add(&text, ":latency");
    ps_case_relate(c, PS_ORDER_AT_LEAST, "os-16", "latency", other, 1, 0.2,
                   "more to bring back into the caches cannot take less time: the runs were "
                   "disturbed, or pages of the arrays share cache sets");
}

static void publish(struct ps_case *c, const struct ring_shape *shape) {
    char row[PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, row, sizeof(row));
    ps_text_add(&text, "lat_ctx-");
    ps_text_add_u64(&text, shape->processes);
    ps_text_add_char(&text, '-');
    ps_text_add_u64(&text, shape->array_kib);
    ps_text_add_char(&text, 'k');
    ps_case_publish(c, "latency", "am62l", "lmbench", row, PS_COMPARABLE_APPROX,
                    "the vendor's processes were not pinned: its value mixes switches on one CPU "
                    "with wake-ups across two");
}

/* Switches on one CPU run at that CPU's clock so long as the arrays fit its caches. */
static enum ps_bound ring_bound(const struct ps_env *env, const struct ring_shape *shape) {
    if (shape->pairing != PS_PAIR_SAME_CPU)
        return PS_BOUND_WAKE;
    uint64_t footprint_bytes = (uint64_t)shape->processes * shape->array_kib * 1024;
    uint64_t cache_bytes = env->cluster == NULL ? 0 : env->cluster->last_private_bytes;
    return footprint_bytes <= cache_bytes / 4 * 3 ? PS_BOUND_CORE : PS_BOUND_MEMORY;
}

static void require_cpus(struct ps_case *c, const struct ps_env *env) {
    if (c->place.pairing == PS_PAIR_CROSS_CPU && env->cluster != NULL && env->cluster->n_cpus < 2) {
        c->status = PS_UNSUPPORTED;
        c->reason = "needs two usable CPUs of one kind";
    } else if (c->place.pairing == PS_PAIR_CROSS_CLUSTER && env->n_clusters < 2) {
        c->status = PS_UNSUPPORTED;
        c->reason = "needs CPUs of two kinds; all usable CPUs here are alike";
    }
}

static int ctx_cases(const struct ps_env *env, struct ps_case_list *list) {
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const struct ring_shape *shape = &shapes[i];
        char name[PS_NAME_MAX];
        struct ps_text text;
        ps_text_init(&text, name, sizeof(name));
        add_shape_name(&text, shape->processes, shape->array_kib, shape->pairing);
        struct ps_case *c = ps_case_add(list, name);
        if (c == NULL)
            continue;
        c->bound = ring_bound(env, shape);
        c->tags = shape->tags;
        c->place.pairing = shape->pairing;
        c->memory.bytes = (uint64_t)shape->array_kib * 1024;
        ps_case_param(c, "processes", shape->processes);
        ps_case_param(c, "array_bytes", (int64_t)c->memory.bytes);
        require_cpus(c, env);
        if (shape->published)
            publish(c, shape);
        if (shape->smaller_kib != NOT_COMPARED)
            relate_to_shape(c, shape, shape->processes, shape->smaller_kib);
        if (shape->fewer_processes > 0)
            relate_to_shape(c, shape, shape->fewer_processes, shape->array_kib);
        if (shape->pairing == PS_PAIR_SAME_CPU && shape->processes == 2 && shape->array_kib == 0)
            ps_case_relate(c, PS_ORDER_AT_LEAST, "os-16", "latency", "os.lat_syscall/null:latency",
                           2, 0.05, "the processes did not switch at each hop");
    }
    return 0;
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_TIME,
        .counts = "one hop of the token, net of pipe and sum",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
    },
};

const struct ps_bench ps_bench_os_lat_ctx = {
    .chapter = "os",
    .table = "lat_ctx",
    .title = "Context switches",
    .about = "A token passed around a ring of 2, 4 or 8 processes through pipes; each sums a "
             "private array of the given size on each visit. Per hop, net of the pipe's and the "
             "sum's own time with warm caches. same-cpu: all processes on one CPU; cross-cpu and "
             "cross-cluster: on two, which is a wake-up rather than a switch.",
    .region = "rounds of the token: write, and in each process read, sum of the array, write; the "
              "baseline is write, read and sum in one process",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = ctx_cases,
    .setup = ctx_setup,
    .teardown = ctx_teardown,
    .batch = ctx_batch,
    .baseline = ctx_baseline,
    .units = ctx_units,
    .verify = ctx_verify,
};
