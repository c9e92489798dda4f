/* SPDX-License-Identifier: MIT
 *
 * Pinned second processes for benchmarks whose work is done by two or more: pipe rings, round
 * trips. They die with the process that made them.
 */
#ifndef PS_SYS_PARTNER_H
#define PS_SYS_PARTNER_H

#include <sys/types.h>

#include "core/bench.h"

struct ps_partner {
    pid_t pid; /* 0: none */
};

/* Forks a process that is pinned to `cpu` (-1: not pinned) and runs function(argument), then _exits
 * with its return value. Returns 0 once it is pinned and about to call, or a negative errno (the
 * pinning's own). */
int ps_partner_start(struct ps_partner *partner, int cpu, int (*function)(void *argument),
                     void *argument);
/* Waits for it at most timeout_ms, then kills it. Its exit status (0..255), -ETIMEDOUT, or -EIO
 * when a signal ended it. 0 when there is none. */
int ps_partner_stop(struct ps_partner *partner, unsigned timeout_ms);
void ps_partner_kill(struct ps_partner *partner);

#endif
