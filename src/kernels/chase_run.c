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

uint64_t psk_chase_memory_bytes(uint64_t n_lines, uint64_t line_bytes) {
    return n_lines * line_bytes + (n_lines + 7) / 8 + 4096;
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

int psk_chase_make(struct ps_run *run, const struct psk_chase_plan *plan, uint64_t salt,
                   struct psk_chase *ret_chase) {
    if (!is_possible(plan))
        return ps_run_end(run, PS_FAILED, 0, "the case has no line");
    char *lines = ps_run_alloc(run, plan->n_lines * plan->line_bytes, 4096);
    uint8_t *marks = ps_run_alloc(run, (plan->n_lines + 7) / 8, 0);
    if (lines == NULL || marks == NULL)
        return ps_run_end(run, PS_FAILED, 0,
                          "the buffer does not fit the memory that was asked for");
    uint64_t seed = ps_run_seed(run) + salt;
    build(lines, plan, seed);
    *ret_chase = (struct psk_chase){.lines = lines,
                                    .n_lines = plan->n_lines,
                                    .line_bytes = plan->line_bytes,
                                    .marks = marks,
                                    .start = lines + seed % plan->n_lines * plan->line_bytes};
    ret_chase->at = ret_chase->start;
    return 0;
}

void psk_chase_go_on(struct psk_chase *chase, uint64_t n) {
    chase->at = psk_chase_walk(chase->at, n);
    chase->done += n * PSK_CHASE_LOADS;
}

/* Every line has one predecessor, which with the ways of building means one cycle; small ones are
 * gone round besides. */
static bool is_one_cycle(const struct psk_chase *chase) {
    if (!psk_chase_is_permutation(chase->lines, chase->n_lines, chase->line_bytes, chase->marks))
        return false;
    return chase->n_lines > LAP_LINES_MAX ||
           psk_chase_lap(chase->start, chase->n_lines) == chase->n_lines;
}

static bool was_followed(const struct psk_chase *chase) {
    uint64_t steps = chase->done % chase->n_lines;
    size_t offset = (size_t)((uintptr_t)chase->at - (uintptr_t)chase->lines);
    if (offset % chase->line_bytes != 0 || offset / chase->line_bytes >= chase->n_lines)
        return false;
    return steps > LAP_LINES_MAX || psk_chase_follow(chase->start, steps) == chase->at;
}

int psk_chase_prove(struct ps_run *run, const struct psk_chase *chase, enum ps_verify_when when) {
    if (when == PS_VERIFY_BEFORE && !is_one_cycle(chase))
        return ps_run_end(
            run, PS_FAILED, 0,
            "the lines do not make one cycle: memory, compiler or kernel is at fault");
    if (when == PS_VERIFY_AFTER && !was_followed(chase))
        return ps_run_end(run, PS_FAILED, 0,
                          "the loads did not follow the cycle: memory, compiler or kernel is at "
                          "fault");
    return 0;
}

int psk_chase_setup(struct ps_run *run, const struct psk_chase_plan *plan) {
    struct psk_chase chase;
    int r = psk_chase_make(run, plan, 0, &chase);
    if (r < 0)
        return r;
    struct psk_chase *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return ps_run_end(run, PS_FAILED, 0, "there is no memory for its state");
    *state = chase;
    ps_run_set_state(run, state);
    return 0;
}

int psk_chase_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    psk_chase_go_on(ps_run_state(run), n);
    return 0;
}

uint64_t psk_chase_units(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return PSK_CHASE_LOADS;
}

int psk_chase_verify(struct ps_run *run, enum ps_verify_when when) {
    return psk_chase_prove(run, ps_run_state(run), when);
}
