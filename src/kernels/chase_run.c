/* SPDX-License-Identifier: MIT
 *
 * A run of one pointer chase: built, proved to be one cycle, followed, and proved to have been
 * followed.
 */
#include "kernels/chase_run.h"

#include "kernels/pointer_chase.h"

/* Loads that a proof may follow: a lap of this many lines, and as many steps, take at most some
 * 10 ms even from memory. */
#define LAP_LINES_MAX 65536u

struct state {
    char *lines;
    size_t n_lines, line_bytes;
    uint8_t *marks;
    void *start;   /* a random line */
    void *at;      /* where the last batch stopped */
    uint64_t done; /* loads since the start */
};

uint64_t psk_chase_memory_bytes(uint64_t n_lines, uint64_t line_bytes) {
    return n_lines * line_bytes + (n_lines + 7) / 8;
}

unsigned psk_chase_predicted_ms(uint64_t n_lines) {
    return (unsigned)(n_lines / 40000); /* some 40 million lines a second */
}

static void build(void *lines, const struct psk_chase_plan *plan, uint64_t seed) {
    switch (plan->order) {
    case PSK_CHASE_RANDOM:
        psk_chase_build(lines, plan->n_lines, plan->line_bytes, seed);
        break;
    case PSK_CHASE_FORWARD:
        psk_chase_build_forward(lines, plan->n_lines, plan->line_bytes);
        break;
    case PSK_CHASE_BY_PAGE:
        psk_chase_build_by_page(lines, plan->n_lines / (plan->page_bytes / plan->line_bytes),
                                plan->page_bytes, plan->line_bytes, seed);
        break;
    }
}

static bool is_possible(const struct psk_chase_plan *plan) {
    if (plan->line_bytes < sizeof(void *) || plan->n_lines == 0)
        return false;
    return plan->order != PSK_CHASE_BY_PAGE ||
           (plan->page_bytes >= plan->line_bytes &&
            plan->n_lines % (plan->page_bytes / plan->line_bytes) == 0);
}

int psk_chase_setup(struct ps_run *run, const struct psk_chase_plan *plan) {
    if (!is_possible(plan))
        return ps_run_end(run, PS_FAILED, 0, "the case has no line");
    char *lines = ps_run_alloc(run, plan->n_lines * plan->line_bytes, 4096);
    uint8_t *marks = ps_run_alloc(run, (plan->n_lines + 7) / 8, 0);
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (lines == NULL || marks == NULL || state == NULL)
        return ps_run_end(run, PS_FAILED, 0,
                          "the buffer does not fit the memory that was asked for");
    uint64_t seed = ps_run_seed(run);
    build(lines, plan, seed);
    *state = (struct state){.lines = lines,
                            .n_lines = plan->n_lines,
                            .line_bytes = plan->line_bytes,
                            .marks = marks,
                            .start = lines + seed % plan->n_lines * plan->line_bytes};
    state->at = state->start;
    ps_run_set_state(run, state);
    return 0;
}

int psk_chase_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    state->at = psk_chase_walk(state->at, n);
    state->done += n * PSK_CHASE_LOADS;
    return 0;
}

uint64_t psk_chase_units(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return PSK_CHASE_LOADS;
}

/* Before: every line has one predecessor, which with the ways of building means one cycle; small
 * ones are gone round besides. After: the loads have led to where as many loads lead. */
int psk_chase_verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    bool right;
    if (when == PS_VERIFY_BEFORE) {
        right =
            psk_chase_is_permutation(state->lines, state->n_lines, state->line_bytes, state->marks);
        if (right && state->n_lines <= LAP_LINES_MAX)
            right = psk_chase_lap(state->start, state->n_lines) == state->n_lines;
        return right
                   ? 0
                   : ps_run_end(run, PS_FAILED, 0,
                                "the lines do not make one cycle: memory, compiler or kernel is at "
                                "fault");
    }
    uint64_t steps = state->done % state->n_lines;
    size_t offset = (size_t)((uintptr_t)state->at - (uintptr_t)state->lines);
    right = offset % state->line_bytes == 0 && offset / state->line_bytes < state->n_lines;
    if (right && steps <= LAP_LINES_MAX)
        right = psk_chase_follow(state->start, steps) == state->at;
    return right
               ? 0
               : ps_run_end(run, PS_FAILED, 0,
                            "the loads did not follow the cycle: memory, compiler or kernel is at "
                            "fault");
}
