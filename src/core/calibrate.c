/* SPDX-License-Identifier: MIT
 *
 * How many iterations make a sample. Trials grow by eight while they are too short to tell, so that
 * none lasts more than about a sample; then the number is scaled, and tried. The first trial is
 * cold and decides nothing by itself, unless it was longer than anything that happens only once.
 */
#include "core/calibrate.h"

#include "core/assert.h"

#define GROWTH 8
#define SCALING_TRIALS_MAX 8 /* on a machine so noisy that no trial repeats, take what there is */
#define BACKWARD_TRIALS_MAX 3
#define COLD_SAMPLES_MAX 50 /* faults and caches of a first iteration stay below 50 ms */

#define NULL_TURNS_FIRST (UINT64_C(1) << 14)
#define NULL_TURNS_MAX (UINT64_C(1) << 22) /* 1 ms at 4 GHz, 0.7 s at 25 MHz */

__attribute__((noinline)) static void null_loop(uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++)
        __asm__ volatile("");
}

static uint64_t null_loop_time_ns(const struct ps_port *port, uint64_t turns) {
    uint64_t before = port->now_ns(port->self);
    null_loop(turns);
    uint64_t now = port->now_ns(port->self);
    return now > before ? now - before : 0;
}

double ps_null_loop_ns(const struct ps_port *port) {
    uint64_t turns = NULL_TURNS_FIRST;
    uint64_t best_ns = null_loop_time_ns(port, turns);
    while (best_ns < 100 * port->resolution_ns && turns < NULL_TURNS_MAX) { /* to 1 % */
        turns *= GROWTH;
        best_ns = null_loop_time_ns(port, turns);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint64_t time_ns = null_loop_time_ns(port, turns);
        if (time_ns > 0 && (time_ns < best_ns || best_ns == 0))
            best_ns = time_ns;
    }
    return (double)best_ns / (double)turns;
}

uint64_t ps_sample_target_ns(const struct ps_port *port, uint64_t sample_ns) {
    const uint64_t stretch_max_ns = 1000000000;
    uint64_t steps_ns = 1000 * port->resolution_ns;
    if (steps_ns > stretch_max_ns)
        steps_ns = stretch_max_ns;
    if (steps_ns < 100 * port->resolution_ns)
        steps_ns = 100 * port->resolution_ns;
    return sample_ns > steps_ns ? sample_ns : steps_ns;
}

static uint64_t scaled(uint64_t n, uint64_t target_ns, uint64_t time_ns) {
    double wanted = (double)n * 1.1 * (double)target_ns / (double)time_ns + 1;
    return wanted < (double)PS_ITERATIONS_MAX ? (uint64_t)wanted : PS_ITERATIONS_MAX;
}

int ps_calibrate_trials(const struct ps_port *port, uint64_t sample_ns,
                        int (*trial)(void *context, uint64_t n, uint64_t *ret_ns), void *context,
                        uint64_t *ret_n, uint64_t *ret_trial_ns) {
    uint64_t target_ns = ps_sample_target_ns(port, sample_ns);
    uint64_t n = 1, time_ns = 0;
    unsigned n_scaled = 0;
    for (bool cold = true;; cold = false) {
        int ret = trial(context, n, &time_ns);
        if (ret < 0)
            return ret;
        if (time_ns < target_ns / 10) {
            if (n == PS_ITERATIONS_MAX)
                break;
            n = n < PS_ITERATIONS_MAX / GROWTH ? n * GROWTH : PS_ITERATIONS_MAX;
            continue;
        }
        bool long_enough = time_ns >= target_ns / 10 * 9;
        if (n == 1 && long_enough) {
            if (!cold || time_ns > COLD_SAMPLES_MAX * target_ns)
                break;
            continue;
        }
        if (long_enough && !cold && time_ns <= 2 * target_ns)
            break;
        if (n_scaled++ == SCALING_TRIALS_MAX)
            break;
        n = scaled(n, target_ns, time_ns);
    }
    *ret_n = n;
    *ret_trial_ns = time_ns;
    return 0;
}

struct segment_trial {
    struct ps_run *run;
    unsigned segment;
};

static int try_segment(void *context, uint64_t n, uint64_t *ret_ns) {
    const struct segment_trial *trial = context;
    const struct ps_port *port = trial->run->shared->port;
    for (unsigned i = 0; i < BACKWARD_TRIALS_MAX; i++) {
        uint64_t before = port->now_ns(port->self);
        int ret = trial->run->shared->bench->batch(trial->run, trial->segment, n);
        uint64_t now = port->now_ns(port->self);
        if (ret < 0)
            return ret;
        *ret_ns = now >= before ? now - before : 0;
        if (now >= before)
            break;
    }
    return 0;
}

int ps_calibrate(struct ps_run *run, unsigned segment, uint64_t sample_ns, uint64_t *ret_n) {
    struct segment_trial trial = {run, segment};
    uint64_t trial_ns;
    return ps_calibrate_trials(run->shared->port, sample_ns, try_segment, &trial, ret_n, &trial_ns);
}
