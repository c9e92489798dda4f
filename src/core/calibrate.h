/* SPDX-License-Identifier: MIT
 *
 * How many iterations make a sample, and what an empty loop costs.
 */
#ifndef PS_CORE_CALIBRATE_H
#define PS_CORE_CALIBRATE_H

#include <stdint.h>

#include "core/run.h"

#define PS_ITERATIONS_MAX (UINT64_C(1) << 40)

/* ns per turn of an empty counted loop, minimum of three. */
double ps_null_loop_ns(const struct ps_port *port);

/* `sample_ns`, or what the clock's steps demand: 1000 of them, though no more than a second for
 * that unless even 100 take longer. */
uint64_t ps_sample_target_ns(const struct ps_port *port, uint64_t sample_ns);

/* Iterations of a segment that take at least `sample_ns` (and 1000 clock steps), at least 1, at
 * most PS_ITERATIONS_MAX, which a segment that does nothing reaches. Runs the segment; its last,
 * longest trial is part of the warm-up. 0 and *ret_n, or the negative value the segment returned.
 */
int ps_calibrate(struct ps_run *run, unsigned segment, uint64_t sample_ns, uint64_t *ret_n);

/* The same for anything that can be tried: `trial` does n iterations and tells how long they took,
 * 0 when the clock did not move. *ret_trial_ns is the time of the last trial, which was of *ret_n
 * iterations or near it. */
int ps_calibrate_trials(const struct ps_port *port, uint64_t sample_ns,
                        int (*trial)(void *context, uint64_t n, uint64_t *ret_ns), void *context,
                        uint64_t *ret_n, uint64_t *ret_trial_ns);

#endif
