/* SPDX-License-Identifier: MIT
 *
 * Dhrystone 2.1's statement mix: passes a second, DMIPS (passes / 1757, the VAX-11/780's),
 * DMIPS/MHz by the measured clock, and that clock. One pass is some 200 to 400 instructions, one
 * strcpy of 30 characters, one strcmp that differs at index 19 and one copy of a record, all from
 * warm L1.
 *
 * Not measured: anything beyond L1; floating point. An independent implementation, built twice:
 * `strict` by the published ground rules, `vendor` as a vendor is likely to have built it.
 */
#include <limits.h>

#include "core/bench.h"
#include "kernels/dhrystone.h"

/* The known-answer run before: enough that a counter that stands still is seen. */
#define PROOF_PASSES 100
/* array_2[8][7] starts at 10 and counts passes in an int. */
#define PASSES_MAX (INT_MAX - 10)

struct dhrystone_state {
    const struct psk_dhrystone_variant *variant;
    int passes; /* since init */
    struct psk_dhrystone d;
};

enum { METRIC_PASSES, METRIC_DMIPS, METRIC_DMIPS_PER_MHZ, METRIC_CLOCK };

static const struct ps_metric metrics[] = {
    [METRIC_PASSES] = {.name = "dhrystone_per_second",
                       .unit = PS_UNIT_PER_S,
                       .kind = PS_RATE,
                       .counts = "passes of the Dhrystone 2.1 main loop",
                       .better = PS_BETTER_HIGHER,
                       .positive = true,
                       .decimals = 0,
                       .method = 1,
                       .bound = PS_BOUND_CORE,
                       .depends = PS_DEPENDS_COMPILER,
                       /* A pass is 180 instructions at -O3 on x86-64 (250 strict; Cortex-M3 330
                        * and 390), with chains through memory: no core does nine a cycle. */
                       .floor_cycles = 20},
    [METRIC_DMIPS] = {.name = "dmips",
                      .unit = PS_UNIT_DMIPS,
                      .kind = PS_DERIVED,
                      .counts = "passes a second / 1757",
                      .better = PS_BETTER_HIGHER,
                      .positive = true,
                      .decimals = 1,
                      .method = 1,
                      .bound = PS_BOUND_CORE,
                      .depends = PS_DEPENDS_COMPILER,
                      .derivation = PS_DERIVE_SCALE,
                      .from = "dhrystone_per_second",
                      .factor = 1.0 / 1757},
    [METRIC_DMIPS_PER_MHZ] = {.name = "dmips_per_mhz",
                              .unit = PS_UNIT_DMIPS_PER_MHZ,
                              .kind = PS_DERIVED,
                              .counts = "passes a second / 1757 / the clock measured beside them",
                              .better = PS_BETTER_HIGHER,
                              .positive = true,
                              .decimals = 3,
                              .method = 1,
                              .bound = PS_BOUND_CORE,
                              .depends = PS_DEPENDS_COMPILER,
                              .derivation = PS_DERIVE_PER_MHZ,
                              .from = "dhrystone_per_second",
                              .factor = 1.0 / 1757},
    [METRIC_CLOCK] = {.name = "cpu_clock",
                      .unit = PS_UNIT_MHZ,
                      .kind = PS_DERIVED,
                      .counts = "the core's clock, measured while the passes ran",
                      .better = PS_BETTER_NEITHER,
                      .positive = true,
                      .decimals = 1,
                      .method = 1,
                      .bound = PS_BOUND_CORE,
                      .derivation = PS_DERIVE_CLOCK,
                      .from = "dhrystone_per_second",
                      .factor = 1},
};

static void publish(struct ps_case *c, enum ps_comparable rate, const char *rate_why,
                    enum ps_comparable clock, const char *clock_why) {
    ps_case_publish(c, "dhrystone_per_second", "am62l", "dhrystone", "dhrystone_per_second", rate,
                    rate_why);
    ps_case_publish(c, "dmips_per_mhz", "am62l", "dhrystone", "dhrystone_per_mhz", rate, rate_why);
    ps_case_publish(c, "cpu_clock", "am62l", "dhrystone", "cpu_clock", clock, clock_why);
}

static int dhrystone_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    struct ps_case *c = ps_case_add(list, "strict");
    if (c) {
        ps_case_param_text(c, "build", "strict");
        ps_case_param_text(c, "flags", psk_dhrystone_strict.flags);
        c->bound = PS_BOUND_CORE;
        c->memory.bytes = sizeof(struct dhrystone_state);
        c->memory.alignment_bytes = 64;
        c->tags = PS_TAG_HEADLINE;
        publish(c, PS_COMPARABLE_SCALING,
                "The page does not state its build and does not keep the ground rules' ban on "
                "merged procedures; the number scales with the clock.",
                PS_COMPARABLE_APPROX,
                "The page prints what its script read, not a measured clock.");
    }
    c = ps_case_add(list, "vendor");
    if (c) {
        ps_case_param_text(c, "build", "vendor");
        ps_case_param_text(c, "flags", psk_dhrystone_vendor.flags);
        c->bound = PS_BOUND_CORE;
        c->memory.bytes = sizeof(struct dhrystone_state);
        c->memory.alignment_bytes = 64;
        c->tags = PS_TAG_HEADLINE;
        publish(c, PS_COMPARABLE_APPROX,
                "The page was timed with a clock of whole seconds (1.5 % steps) and does not state "
                "its compiler.",
                PS_COMPARABLE_APPROX,
                "The page prints what its script read, not a measured clock.");
        ps_case_relate(c, PS_ORDER_AT_LEAST, "cpu-01", "dhrystone_per_second",
                       "cpu.dhrystone/strict:dhrystone_per_second", 1, 0.10,
                       "The build with more optimisation is slower: the clock changed between the "
                       "rows, or the two were built alike.");
    }
    return 0;
}

static int dhrystone_setup(struct ps_run *run) {
    struct dhrystone_state *state = ps_run_alloc(run, sizeof(*state), 64);
    if (!state)
        return ps_run_end(run, PS_FAILED, 0, "The memory request is too small for the records.");
    const char *build = ps_case_text(ps_run_case(run), "build");
    state->variant = ps_text_equal(build, "vendor") ? &psk_dhrystone_vendor : &psk_dhrystone_strict;
    state->passes = 0;
    state->variant->init(&state->d);
    ps_run_set_state(run, state);
    return 0;
}

static int dhrystone_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct dhrystone_state *state = ps_run_state(run);
    while (n > 0) { /* one turn, unless a counter would overflow */
        if (state->passes == PASSES_MAX) {
            state->variant->init(&state->d);
            state->passes = 0;
        }
        uint64_t room = (uint64_t)(PASSES_MAX - state->passes);
        int passes = (int)(n < room ? n : room);
        state->variant->run(&state->d, passes);
        state->passes += passes;
        n -= (uint64_t)passes;
    }
    return 0;
}

static int dhrystone_verify(struct ps_run *run, enum ps_verify_when when) {
    struct dhrystone_state *state = ps_run_state(run);
    if (when == PS_VERIFY_BEFORE) {
        state->variant->init(&state->d);
        state->variant->run(&state->d, PROOF_PASSES);
        state->passes = PROOF_PASSES;
    }
    bool right = state->passes > 0 && state->variant->right(&state->d, state->passes);
    if (!right)
        return ps_run_end(run, PS_FAILED, 0,
                          "The variables after the last pass are not Dhrystone's known answer: "
                          "the compiler or the processor erred.");
    if (when == PS_VERIFY_BEFORE) {
        state->variant->init(&state->d);
        state->passes = 0;
    }
    return 0;
}

const struct ps_bench ps_bench_cpu_dhrystone = {
    .chapter = "cpu",
    .table = "dhrystone",
    .title = "Dhrystone",
    .about =
        "Dhrystone 2.1 statement mix, independent implementation, from warm L1. strict: separate "
        "files, no procedure merged, the C library's strcpy and strcmp; vendor: -O3.",
    .region = "n passes of the main loop: 8 procedures and 3 functions in two files.",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = dhrystone_cases,
    .setup = dhrystone_setup,
    .batch = dhrystone_batch,
    .verify = dhrystone_verify,
};
