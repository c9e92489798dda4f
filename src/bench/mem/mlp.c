/* SPDX-License-Identifier: MIT
 *
 * Memory-level parallelism: how much faster loads of memory get when several are on their way.
 *
 * Measured: time per load of 1 to 16 random chases that do not wait for each other, by one thread,
 * in a buffer beyond the caches that they share out between them. With one chase a load takes a
 * whole latency; with k it takes a k-th, until the core, its caches or the memory can not have more
 * misses on their way. The value of one chase divided by that of k is how many were. Not measured:
 * bandwidth (that is mem.bw_mem), what several cores can have together.
 *
 * Each chase has lines of its own, so that a line comes again after all of the buffer, however many
 * there are. Huge pages, where the kernel has them: walks through page tables are misses too.
 */
#include "core/bench.h"
#include "kernels/chase_run.h"
#include "kernels/pointer_chase.h"

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one load, of all chases",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        /* No core begins more than four loads in a cycle. */
        .floor_cycles = 0.25,
    },
};

static const struct ps_plot plots[] = {
    {
        .kind = PS_PLOT_LINE,
        .title = "Time per load by chases at a time",
        .x = "chases",
        .y = "latency",
    },
};

static const unsigned numbers[] = {PSK_CHASES_NUMBERS};
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* ---- The cases ------------------------------------------------------------------------------ */

static uint64_t line_bytes_of(const struct ps_env *env) {
    bool known = env->cluster != NULL && env->cluster->line_bytes >= 2 * sizeof(void *);
    return known ? env->cluster->line_bytes : 64;
}

static void add_case(const struct ps_env *env, struct ps_case_list *list, unsigned n_chases,
                     uint64_t size_bytes, bool cache_resident) {
    bool huge = env->huge_page_bytes > 0;
    uint64_t line_bytes = line_bytes_of(env);
    uint64_t n_lines = size_bytes / line_bytes / n_chases;
    char name[PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add(&text, "chases-");
    ps_text_add_u64(&text, n_chases);
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return;
    ps_case_param(c, "chases", n_chases);
    ps_case_param(c, "size_bytes", (int64_t)(n_chases * n_lines * line_bytes));
    ps_case_param(c, "line_bytes", (int64_t)line_bytes);
    ps_case_param(c, "page_bytes", (int64_t)(huge ? env->huge_page_bytes : env->page_bytes));
    c->memory.pages = huge ? PS_PAGES_HUGE : PS_PAGES_BASE;
    c->memory.bytes = n_chases * psk_chase_memory_bytes(n_lines, line_bytes);
    c->bound = PS_BOUND_MEMORY;
    c->predicted_ms = psk_chase_predicted_ms(n_chases * n_lines);
    if (cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    if (n_chases == 8)
        c->tags |= PS_TAG_HEADLINE;
    if (n_chases == 1)
        return;
    ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-16", "latency", "mem.mlp/chases-1:latency",
                   1.0 / n_chases, 0.15,
                   "so many chases have at most so many loads on their way: the row of one chase "
                   "was disturbed");
    ps_case_relate(c, PS_ORDER_AT_MOST, "mem-16", "latency", "mem.mlp/chases-1:latency", 1, 0.10,
                   "loads that need not wait can not take longer than loads that must: a run was "
                   "disturbed");
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    bool cache_resident = false;
    uint64_t size_bytes = ps_env_beyond_cache_bytes(env, &cache_resident);
    /* A lap of each of the most chases must be longer than what they load in a turn. */
    if (size_bytes / line_bytes_of(env) < (uint64_t)PSK_CHASES_MAX * PSK_CHASES_STEPS)
        return 0;
    for (size_t i = 0; i < N_NUMBERS; i++)
        add_case(env, list, numbers[i], size_bytes, cache_resident);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    struct psk_chase chases[PSK_CHASES_MAX];
    unsigned n;
};

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    int64_t n = ps_case_value(c, "chases", 0), line_bytes = ps_case_value(c, "line_bytes", 0);
    if (state == NULL || n < 1 || n > PSK_CHASES_MAX || line_bytes < 1)
        return ps_run_end(run, PS_FAILED, 0, "the case has no such number of chases");
    state->n = (unsigned)n;
    const struct psk_chase_plan plan = {
        .order = PSK_CHASE_RANDOM,
        .n_lines = (size_t)(ps_case_value(c, "size_bytes", 0) / line_bytes / n),
        .line_bytes = (size_t)line_bytes};
    ps_run_set_state(run, state);
    for (unsigned i = 0; i < state->n; i++) {
        int r = psk_chase_make(run, &plan, i, &state->chases[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    void *at[PSK_CHASES_MAX];
    (void)segment;
    for (unsigned i = 0; i < state->n; i++)
        at[i] = state->chases[i].at;
    if (!psk_chase_walk_many(at, state->n, n))
        return ps_run_end(run, PS_FAILED, 0, "there is no loop for so many chases");
    for (unsigned i = 0; i < state->n; i++) {
        state->chases[i].at = at[i];
        state->chases[i].done += n * PSK_CHASES_STEPS;
    }
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    (void)segment;
    return PSK_CHASES_STEPS * (uint64_t)ps_case_value(c, "chases", 1);
}

static int verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    int r = 0;
    for (unsigned i = 0; r == 0 && i < state->n; i++)
        r = psk_chase_prove(run, &state->chases[i], when);
    return r;
}

const struct ps_bench ps_bench_mem_mlp = {
    .chapter = "mem",
    .table = "mlp",
    .title = "Memory-level parallelism",
    .about = "Time per load of 1 to 16 random chases at a time by one thread, beyond the caches, "
             "with huge pages where there are any. The value of one chase divided by that of a row "
             "is how many misses were on their way at a time; where it grows no more is the most "
             "that this core can have.",
    .region = "ten loads of each chase in a turn of the loop, the chases in turn",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .plots = plots,
    .n_plots = sizeof(plots) / sizeof(plots[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .batch = batch,
    .units = units,
    .verify = verify,
};
