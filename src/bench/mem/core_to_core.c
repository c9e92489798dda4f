/* SPDX-License-Identifier: MIT
 *
 * How long a cache line takes from one CPU to another: two pinned processes pass a word in shared
 * memory to and fro, each by compare-and-exchange until it succeeds.
 *
 * Published is the one-way time, half a round trip. Both spin, nobody sleeps or is woken (that is
 * os.lat_ctx). On many CPUs the pairs of some, evenly spread, stand for all.
 */
#include <errno.h>
#include <sys/mman.h>

#include "core/bench.h"
#include "kernels/line_pass.h"
#include "sys/partner.h"

/* CPUs that pairs are made of: 15 rows, and 1 in quick. */
#define CPUS_MAX 6u
#define CPUS_MAX_QUICK 2u
/* So few that each pair is measured from both sides, to see whether they agree. */
#define CPUS_BOTH_WAYS 3u

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one way of the line, half a round trip",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 1,
        .method = 1,
        /* No core exchanges a word, even its own, in less. */
        .floor_cycles = 2,
    },
};

static const struct ps_plot plots[] = {
    {
        .kind = PS_PLOT_MATRIX,
        .title = "One-way latency between CPUs",
        .x = "from_cpu",
        .y = "to_cpu",
        .value = "latency",
    },
};

/* ---- The cases ------------------------------------------------------------------------------- */

static void name_pair(char name[PS_NAME_MAX], const char *head, int from, int to) {
    struct ps_text text;
    ps_text_init(&text, name, PS_NAME_MAX);
    ps_text_add(&text, head);
    ps_text_add_i64(&text, from);
    ps_text_add(&text, "-cpu");
    ps_text_add_i64(&text, to);
}

static void add_pair(const struct ps_env *env, struct ps_case_list *list, int from, int to,
                     bool other_way_too) {
    char name[PS_NAME_MAX];
    name_pair(name, "cpu", from, to);
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return;
    /* Which of several clusters the two are of does not matter: the time is not normalised. */
    c->place.pairing = env->n_clusters > 1 ? PS_PAIR_CROSS_CLUSTER : PS_PAIR_CROSS_CPU;
    c->place.every_cluster = false;
    c->place.n_given = 2;
    c->place.given[0] = from;
    c->place.given[1] = to;
    c->bound = PS_BOUND_MEMORY;
    if (from == env->usable_cpus[0] && to == env->usable_cpus[env->n_usable_cpus - 1])
        c->tags = PS_TAG_HEADLINE;
    ps_case_param(c, "from_cpu", from);
    ps_case_param(c, "to_cpu", to);
    if (other_way_too) {
        char other[PS_NAME_MAX], id[2 * PS_NAME_MAX];
        struct ps_text text;
        name_pair(other, "cpu", to, from);
        ps_text_init(&text, id, sizeof(id));
        ps_text_add(&text, "mem.core_to_core/");
        ps_text_add(&text, other);
        ps_text_add(&text, ":latency");
        ps_case_relate(c, PS_NEAR, "mem-15", "latency", id, 1, 0.2,
                       "the two ways of a round trip are the same: a run was disturbed, or the "
                       "kernel moved a process");
    }
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    unsigned n = env->usable_cpus != NULL ? env->n_usable_cpus : 0;
    unsigned most = env->quick ? CPUS_MAX_QUICK : CPUS_MAX;
    unsigned some = n < most ? n : most;
    if (n < 2 || env->n_cpus < 2) {
        struct ps_case *c = ps_case_add(list, "pair");
        if (c != NULL) {
            c->place.every_cluster = false;
            c->tags = PS_TAG_HEADLINE;
            c->status = PS_UNSUPPORTED;
            c->reason = "needs two usable CPUs";
        }
        return 0;
    }
    bool both_ways = some <= CPUS_BOTH_WAYS && !env->quick;
    for (unsigned i = 0; i < some; i++)
        for (unsigned k = 0; k < some; k++) {
            /* The first and the last are among them. */
            int from = env->usable_cpus[(uint64_t)i * (n - 1) / (some - 1)];
            int to = env->usable_cpus[(uint64_t)k * (n - 1) / (some - 1)];
            if (i < k || (both_ways && i != k))
                add_pair(env, list, from, to, both_ways);
        }
    return 0;
}

/* ---- The run --------------------------------------------------------------------------------- */

struct state {
    struct psk_line *line;
    struct ps_partner partner;
    uint32_t turn;
};

static int follow(void *argument) {
    for (uint32_t turn = 1;; turn += 2u << 20)
        psk_line_follow(argument, turn, UINT64_C(1) << 20);
    return 0;
}

static int setup(struct ps_run *run) {
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return ps_run_end(run, PS_FAILED, 0, "there is no memory for its state");
    ps_run_set_state(run, state);
    void *line =
        mmap(NULL, sizeof(*state->line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (line == MAP_FAILED)
        return ps_run_end(run, PS_FAILED, errno, "there is no memory for the shared line");
    state->line = line;
    int error = ps_partner_start(&state->partner, ps_run_cpu(run, 1), follow, state->line);
    return error < 0 ? ps_run_end(run, PS_FAILED, -error, "the second process could not be started")
                     : 0;
}

static void teardown(struct ps_run *run) {
    struct state *state = ps_run_state(run);
    if (state == NULL)
        return;
    ps_partner_kill(&state->partner);
    if (state->line != NULL)
        munmap(state->line, sizeof(*state->line));
    state->line = NULL;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    uint64_t made = psk_line_lead(state->line, state->turn, n);
    state->turn += 2 * (uint32_t)made;
    return made == n ? 0 : -ETIMEDOUT;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return 2;
}

/* The word has counted the passes of both. */
static int verify(struct ps_run *run, enum ps_verify_when when) {
    struct state *state = ps_run_state(run);
    if (when == PS_VERIFY_BEFORE) {
        int error = batch(run, 0, 100);
        if (error < 0)
            return ps_run_end(run, PS_FAILED, -error, "the second process does not answer");
    }
    /* After the last pass it is the other's turn, or he has answered already. */
    uint32_t turn = __atomic_load_n(&state->line->turn, __ATOMIC_ACQUIRE);
    if (turn != state->turn - 1 && turn != state->turn)
        return ps_run_end(run, PS_FAILED, 0, "the passes of both do not add up");
    return 0;
}

const struct ps_bench ps_bench_mem_core_to_core = {
    .chapter = "mem",
    .table = "core_to_core",
    .title = "Core to core latency",
    .about = "One way of a cache line between two CPUs: half a round trip of a word that two "
             "pinned processes pass to and fro by compare-and-exchange, both spinning. On more "
             "than six CPUs (quick: two) the pairs of as many, evenly spread.",
    .region = "round trips of the line: compare-and-exchange until it is back",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .plots = plots,
    .n_plots = sizeof(plots) / sizeof(plots[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .teardown = teardown,
    .batch = batch,
    .units = units,
    .verify = verify,
};
