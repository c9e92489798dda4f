/* SPDX-License-Identifier: MIT
 *
 * Rounds. Every row that needs another run gets one in each round, in an order shuffled with the
 * stored seed, so that a drift of the machine falls on all rows alike; tables that must keep their
 * order do so, as a block. Replacements of disturbed runs come at the end of the next round, when
 * what disturbed them has had time to go away.
 */
#include "harness/runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/child.h"
#include "harness/line.h"
#include "harness/runner_rows.h"
#include "sys/topology.h"

/* A run record of 12 metrics, each of 1000 samples with clock, baseline and its clock, at 20
 * characters a number, is 1 MB; the histograms are small beside it. */
#define PS_RUN_LINE_BYTES ((size_t)4 << 20)
#define PS_WAIT_FOR_QUIET_NS (UINT64_C(30) * 1000000000)
#define PS_WAIT_STEP_NS UINT64_C(100000000)

struct place_in_order {
    uint64_t key; /* random, the same for all rows of a unit */
    size_t index;
};

struct runner {
    const struct ps_plan *plan;
    const struct ps_environment *environment;
    const struct ps_executor *executor;
    struct ps_output *output;
    const struct ps_runner_options *options;
    struct ps_row_state *states;
    size_t n_states;
    struct place_in_order *order; /* of one pass */
    char *line;
    uint64_t begin_ns;
    double offset_s; /* --resume: when the last run of the sheet began */
    unsigned seq, round, rounds;
    size_t done;         /* runs of this invocation ... */
    double predicted_ms; /* ... and what they were thought to take */
    unsigned round_runs, round_disturbed;
};

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double elapsed_s(const struct runner *runner) {
    return (double)(runner->executor->now_ns(runner->executor->self) - runner->begin_ns) / 1e9;
}

static bool signalled(const struct runner *runner) {
    return runner->options->signal_seen && *runner->options->signal_seen;
}

/* ---- Order ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b) {
    const struct place_in_order *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static void shuffle(struct runner *runner, size_t n, bool replacements) {
    uint64_t stream = mix(runner->plan->seed ^ mix(2 * (uint64_t)runner->round + replacements));
    for (size_t i = 0; i < n; i++)
        runner->order[i].key = mix(stream ^ mix(runner->states[runner->order[i].index].unit));
    qsort(runner->order, n, sizeof(*runner->order), compare_places);
}

/* ---- One run -------------------------------------------------------------------------------- */

static void tell_progress(struct runner *runner, const char *id) {
    if (!runner->options->progress)
        return;
    double left_runs = 0, left_ms = 0, elapsed = elapsed_s(runner);
    for (size_t i = 0; i < runner->n_states; i++) {
        double runs = ps_row_expected(&runner->states[i]);
        left_runs += runs;
        left_ms += runs * runner->states[i].row->predicted_ms;
    }
    /* What has been learnt of this machine's speed so far. */
    if (runner->predicted_ms > 1000)
        left_ms *= elapsed * 1e3 / runner->predicted_ms;
    struct ps_progress progress = {
        .round = runner->round,
        .rounds = runner->rounds > runner->round ? runner->rounds : runner->round,
        .done = runner->done,
        .total = runner->done + (size_t)(left_runs + 0.5),
        .elapsed_s = elapsed,
        .left_s = left_ms / 1e3,
        .id = id,
    };
    if (runner->options->budget_s > 0 && progress.left_s > runner->options->budget_s - elapsed)
        progress.left_s = runner->options->budget_s - elapsed;
    runner->options->progress(runner->options->context, &progress);
}

/* The first CPU of the row that is not online now, or -1. */
static int offline_cpu(const struct runner *runner, const struct ps_plan_row *row) {
    struct ps_cpu_set set;
    ps_cpu_set_clear(&set);
    for (unsigned i = 0; i < row->n_cpus; i++)
        ps_cpu_set_add(&set, (unsigned)row->cpus[i]);
    for (int cpu = ps_cpu_set_next(&set, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&set, (unsigned)cpu + 1))
        if (!ps_cpu_online(runner->environment->root, (unsigned)cpu))
            return cpu;
    return -1;
}

/* Runs it and makes sure that runner->line is a run record that readers take. */
static int obtain_line(struct runner *runner, const struct ps_row_state *state,
                       const struct ps_run_identity *identity, struct ps_run_outcome *ret_outcome) {
    const struct ps_plan_row *row = state->row;
    int error, cpu = offline_cpu(runner, row);

    if (cpu >= 0) {
        char reason[64];
        snprintf(reason, sizeof(reason), "cpu %d is offline", cpu);
        error = ps_line_outcome(row, identity, PS_ABORTED, reason, runner->line, PS_RUN_LINE_BYTES);
    } else {
        uint64_t seed = mix(runner->plan->seed ^ mix((uint64_t)(row - runner->plan->rows)) ^
                            mix(((uint64_t)identity->round << 32) + identity->attempt));
        error = runner->executor->execute(runner->executor->self, row, identity, seed, runner->line,
                                          PS_RUN_LINE_BYTES);
    }
    if (error)
        return error;
    error = ps_row_read_line(state, runner->line, strlen(runner->line), ret_outcome);
    if (error != -EINVAL)
        return error;
    error = ps_line_outcome(row, identity, PS_FAILED, "what it wrote is not a run record",
                            runner->line, PS_RUN_LINE_BYTES);
    if (error)
        return error;
    return ps_row_read_line(state, runner->line, strlen(runner->line), ret_outcome);
}

/* Takes a run and writes it. 0 with *ret_taken false: there is no time left for this row. */
static int take_run(struct runner *runner, const struct ps_row_state *state, unsigned attempt,
                    const char *load_method, struct ps_run_outcome *ret_outcome, bool *ret_taken) {
    const struct ps_plan_row *row = state->row;
    double budget_s = runner->options->budget_s;

    *ret_taken = false;

    if (signalled(runner))
        return -EINTR;
    if (budget_s > 0 && elapsed_s(runner) + row->predicted_ms / 1e3 > budget_s)
        return 0;
    tell_progress(runner, row->id);
    if (row->bench->order == PS_AS_LISTED) { /* such tables hang boards */
        int error = ps_output_sync(runner->output);
        if (error)
            return error;
    }
    struct ps_run_identity identity = {
        .id = row->id,
        .source = "linux",
        .round = runner->round,
        .seq = runner->seq,
        .attempt = attempt,
        .start_s = runner->offset_s + elapsed_s(runner),
        .load_all_pct = -1,
        .load_busiest_pct = -1,
        .load_method = load_method,
    };
    int error = obtain_line(runner, state, &identity, ret_outcome);
    if (!error)
        error = ps_output_line(runner->output, runner->line, strlen(runner->line), false);
    if (error)
        return error;
    runner->seq++;
    runner->done++;
    runner->predicted_ms += row->predicted_ms;
    *ret_taken = true;
    return 0;
}

/* Runs beyond the planned number are a gift of the time that was shown before the start: on a busy
 * machine, where all runs take longer and no row is ever precise, they end with it. Replacements
 * end a fifth later (two seconds where that is more), within which the shown time is to be right:
 * a machine that disturbs one run after another is not mended by more of them. */
static bool is_past_its_time(const struct runner *runner, const struct ps_row_state *state,
                             bool replacement) {
    double shown_s = runner->plan->predicted_s, elapsed = elapsed_s(runner);
    if (replacement)
        return elapsed > shown_s + (shown_s > 10 ? shown_s / 5 : 2);
    return state->taken >= state->row->runs_planned && elapsed > shown_s;
}

static int run_one(struct runner *runner, struct ps_row_state *state, bool replacement) {
    struct ps_run_outcome outcome;
    bool taken;
    if (is_past_its_time(runner, state, replacement)) {
        if (replacement)
            state->pending = 0; /* its planned runs go on */
        else
            state->finished = true;
        return 0;
    }
    unsigned attempt = ps_row_next_attempt(state, runner->round, replacement);
    int error = take_run(runner, state, attempt, NULL, &outcome, &taken);
    if (error)
        return error;
    if (!taken) {
        state->finished = true; /* it does not fit now and never will; shorter rows may */
        return 0;
    }
    ps_row_take(state, runner->round, replacement, &outcome);
    runner->round_runs++;
    runner->round_disturbed += outcome.disturbed;
    return 0;
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static int run_regular(struct runner *runner) {
    size_t n = 0;
    for (size_t i = 0; i < runner->n_states; i++) {
        struct ps_row_state *state = &runner->states[i];
        state->replacements_due = state->finished ? 0 : state->pending;
        if (ps_row_due(state, runner->round))
            runner->order[n++].index = i;
    }
    shuffle(runner, n, false);
    for (size_t i = 0; i < n; i++) {
        int error = run_one(runner, &runner->states[runner->order[i].index], false);
        if (error)
            return error;
    }
    return 0;
}

static int run_replacements(struct runner *runner) {
    size_t n = 0;
    for (size_t i = 0; i < runner->n_states; i++)
        if (runner->states[i].replacements_due)
            runner->order[n++].index = i;
    shuffle(runner, n, true);
    for (size_t i = 0; i < n; i++) {
        struct ps_row_state *state = &runner->states[runner->order[i].index];
        for (unsigned left = state->replacements_due; left > 0 && !state->finished; left--) {
            int error = run_one(runner, state, true);
            if (error)
                return error;
        }
    }
    return 0;
}

/* Says so when the machine is too busy to be measured, and waits when that is wished. */
static int look_at_first_round(struct runner *runner) {
    const struct ps_executor *executor = runner->executor;
    if (!runner->options->disturbed || 3 * runner->round_disturbed <= runner->round_runs ||
        !runner->options->disturbed(runner->options->context, runner->round_disturbed,
                                    runner->round_runs))
        return 0;
    uint64_t until_ns = executor->now_ns(executor->self) + PS_WAIT_FOR_QUIET_NS;
    while (executor->sleep_ns && executor->now_ns(executor->self) < until_ns) {
        if (signalled(runner))
            return -EINTR;
        executor->sleep_ns(executor->self, PS_WAIT_STEP_NS);
    }
    for (size_t i = 0; i < runner->n_states; i++)
        ps_row_forgive(&runner->states[i]);
    return 0;
}

static bool work_remains(struct runner *runner) {
    for (size_t i = 0; i < runner->n_states; i++) {
        struct ps_row_state *state = &runner->states[i];
        if (ps_row_due(state, UINT32_MAX) || (!state->finished && state->pending))
            return true;
    }
    return false;
}

static int run_rounds(struct runner *runner) {
    while (work_remains(runner)) {
        runner->round_runs = runner->round_disturbed = 0;
        int error = run_regular(runner);
        if (!error && runner->round == 1)
            error = look_at_first_round(runner);
        if (!error)
            error = run_replacements(runner);
        if (error)
            return error;
        runner->round++;
    }
    return 0;
}

/* CPU load is measured apart from time: what measures it runs on the same CPUs. */
static int run_soak_pass(struct runner *runner) {
    for (size_t i = 0; i < runner->n_states; i++) {
        struct ps_row_state *state = &runner->states[i];
        struct ps_run_outcome outcome;
        bool taken;
        int error =
            state->n_values ? take_run(runner, state, 1, PS_LOAD_SOAK, &outcome, &taken) : 0;
        if (error)
            return error;
    }
    return 0;
}

/* ---- Start ---------------------------------------------------------------------------------- */

static int init_states(struct runner *runner) {
    const struct ps_plan *plan = runner->plan;
    runner->states = calloc(plan->n_rows ? plan->n_rows : 1, sizeof(*runner->states));
    runner->order = calloc(plan->n_rows ? plan->n_rows : 1, sizeof(*runner->order));
    runner->line = malloc(PS_RUN_LINE_BYTES);
    if (!runner->states || !runner->order || !runner->line)
        return -ENOMEM;
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        if (row->status != PS_OK || row->runs_planned == 0)
            continue;
        struct ps_row_state *state = &runner->states[runner->n_states];
        int error = ps_row_state_init(state, row, runner->environment->clock.trusted);
        if (error)
            return error;
        state->unit = i;
        const struct ps_row_state *before = runner->n_states ? state - 1 : NULL;
        if (before && before->row->bench == row->bench && row->bench->order == PS_AS_LISTED)
            state->unit = before->unit;
        if (row->runs_planned > runner->rounds)
            runner->rounds = row->runs_planned;
        runner->n_states++;
    }
    return 0;
}

static int compare_seq(const void *a, const void *b) {
    const struct ps_sheet_run *const *left = a, *const *right = b;
    return (*left)->seq < (*right)->seq ? -1 : (*left)->seq > (*right)->seq;
}

/* Takes over the runs that the sheet has, in the order in which they were taken. A run that was cut
 * short by circumstances (aborted) is due again; every other outcome stands. */
static int take_over(struct runner *runner, const struct ps_sheet *sheet) {
    const struct ps_sheet_run **runs =
        calloc(sheet->n_runs ? sheet->n_runs : 1, sizeof(const void *));
    if (!runs)
        return -ENOMEM;
    for (size_t i = 0; i < sheet->n_runs; i++)
        runs[i] = &sheet->runs[i];
    qsort(runs, sheet->n_runs, sizeof(const void *), compare_seq);
    for (size_t i = 0; i < sheet->n_runs; i++) {
        const struct ps_sheet_run *run = runs[i];
        if (run->seq >= runner->seq)
            runner->seq = run->seq + 1;
        if (run->start_s > runner->offset_s)
            runner->offset_s = run->start_s;
        if (!isnan(run->load_all_pct)) /* of a pass for the load */
            continue;
        for (size_t s = 0; s < runner->n_states; s++) {
            struct ps_row_state *state = &runner->states[s];
            struct ps_run_outcome outcome;
            if (strcmp(state->row->id, run->case_id) != 0)
                continue;
            if (run->status == PS_ABORTED) {
                ps_row_pass_over(state, run->round, run->attempt);
                continue;
            }
            ps_row_outcome(state, run, &outcome);
            ps_row_take(state, run->round, run->attempt > 1, &outcome);
        }
    }
    free(runs);
    for (size_t s = 0; s < runner->n_states; s++)
        ps_row_settle(&runner->states[s]);

    unsigned first = UINT32_MAX;
    for (size_t s = 0; s < runner->n_states; s++)
        if (!runner->states[s].finished && runner->states[s].last_round < first)
            first = runner->states[s].last_round;
    runner->round = first == UINT32_MAX ? 1 : first + 1;
    return 0;
}

int ps_runner_run(const struct ps_plan *plan, const struct ps_environment *environment,
                  const struct ps_executor *executor, struct ps_output *output,
                  const struct ps_runner_options *options) {
    struct runner runner = {
        .plan = plan,
        .environment = environment,
        .executor = executor,
        .output = output,
        .options = options,
        .begin_ns = executor->now_ns(executor->self),
        .round = 1,
    };
    int error = init_states(&runner);
    if (!error && options->done)
        error = take_over(&runner, options->done);
    if (!error) {
        if (executor->watch)
            executor->watch(executor->self, options->signal_seen);
        error = run_rounds(&runner);
        if (!error && options->soak)
            error = run_soak_pass(&runner);
        if (executor->watch)
            executor->watch(executor->self, NULL);
    }
    if (!error || error == -EINTR) {
        int sync_error = ps_output_sync(output);
        error = error ? error : sync_error;
    }
    for (size_t i = 0; i < runner.n_states; i++)
        ps_row_state_done(&runner.states[i]);
    free(runner.states);
    free(runner.order);
    free(runner.line);
    return error;
}
