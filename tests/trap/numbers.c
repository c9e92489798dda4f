/* SPDX-License-Identifier: MIT
 *
 * Benchmarks whose numbers must be marked, and some whose numbers are known beforehand.
 */
#include <stdlib.h>
#include <time.h>

#include "traps.h"

#define ADDS 1000
#define EXACT_NS 1000000
/* Per second since PS_TRAP_START: the slope of the drifting trap. */
#define DRIFT_PER_S 0.25

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A chain of so many multiplications. */
static void work(uint64_t n) {
    uint64_t x = 1;
    for (uint64_t i = 0; i < n; i++) {
        x = x * 3 + i;
        PS_LAUNDER(x);
    }
}

static int one_case(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    ps_case_add(list, "one");
    return 0;
}

/* A thousand additions, says the table; the compiler makes one multiplication of them. */
static int folded(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)run, (void)segment;
    uint64_t x = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t step = x;
        for (unsigned j = 0; j < ADDS; j++)
            x += step;
        PS_LAUNDER(x);
    }
    return 0;
}

static uint64_t folded_units(const struct ps_case *c, unsigned segment) {
    (void)c, (void)segment;
    return ADDS;
}

/* Every other sample does twice as much. */
static int bimodal(struct ps_run *run, unsigned segment, uint64_t n) {
    static unsigned calls;
    (void)run, (void)segment;
    work(calls++ % 2 ? 100 * n : 200 * n);
    return 0;
}

static int drifting(struct ps_run *run, unsigned segment, uint64_t n) {
    static double factor;
    (void)run, (void)segment;
    if (factor <= 0) {
        const char *start = getenv("PS_TRAP_START");
        double elapsed_s = (double)now_ns() / 1e9 - (start ? atof(start) : 0);
        factor = 1 + DRIFT_PER_S * elapsed_s;
    }
    work((uint64_t)(100 * (double)n * factor));
    return 0;
}

/* From the 60th call on, which is inside the window, the core goes at half its speed: the work is
 * twice as much, and the probes, whose place these wrappers take, say half. */
#define CALLS_BEFORE_SLOW 60
static unsigned slowing_calls;

static double slowed(double speed) {
    return slowing_calls > CALLS_BEFORE_SLOW ? speed / 2 : speed;
}

double __real_ps_clock_probe_mhz(void);
double __wrap_ps_clock_probe_mhz(void);
double __real_ps_issue_probe_per_us(void);
double __wrap_ps_issue_probe_per_us(void);

double __wrap_ps_clock_probe_mhz(void) {
    return slowed(__real_ps_clock_probe_mhz());
}

double __wrap_ps_issue_probe_per_us(void) {
    return slowed(__real_ps_issue_probe_per_us());
}

static int slowing(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)run, (void)segment;
    work(++slowing_calls > CALLS_BEFORE_SLOW ? 200 * n : 100 * n);
    return 0;
}

static int exact(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)run, (void)segment;
    uint64_t end_ns = now_ns() + n * EXACT_NS;
    while (now_ns() < end_ns)
        ;
    return 0;
}

static int nothing_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    ps_case_add(list, "returns");
    ps_case_add(list, "null-loop");
    return 0;
}

static int nothing(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    if (ps_run_case(run)->name[0] == 'n')
        for (uint64_t i = 0; i < n; i++)
            PS_KEEP(i);
    return 0;
}

#define METRIC(counts_, unit_, bound_, floor_)                                                     \
    {                                                                                              \
        .name = "time", .unit = unit_, .kind = PS_TIME, .counts = counts_,                         \
        .better = PS_BETTER_LOWER, .positive = true, .decimals = 3, .method = 1, .bound = bound_,  \
        .floor_cycles = floor_                                                                     \
    }

static const struct ps_metric folded_metric[] = {
    METRIC("one addition", PS_UNIT_NS, PS_BOUND_CORE, 1)};
static const struct ps_metric work_metric[] = {METRIC("one pass", PS_UNIT_NS, PS_BOUND_CORE, 0)};
static const struct ps_metric exact_metric[] = {METRIC("one wait", PS_UNIT_US, PS_BOUND_MEMORY, 0)};

#define TRAP(table_, metrics_, cases_, batch_)                                                     \
    .chapter = "trap", .table = table_, .title = table_, .about = "A trap.",                       \
    .region = "what it says", .metrics = metrics_, .n_metrics = 1, .cases = cases_,                \
    .batch = batch_, .no_verify = "traps have no answer"

const struct ps_bench trap_folded = {TRAP("folded", folded_metric, one_case, folded),
                                     .units = folded_units};
const struct ps_bench trap_bimodal = {TRAP("bimodal", work_metric, one_case, bimodal)};
const struct ps_bench trap_drifting = {TRAP("drifting", work_metric, one_case, drifting)};
const struct ps_bench trap_slowing = {TRAP("slowing", work_metric, one_case, slowing)};
const struct ps_bench trap_exact = {TRAP("exact", exact_metric, one_case, exact)};
const struct ps_bench trap_nothing = {TRAP("nothing", work_metric, nothing_cases, nothing)};
