/* SPDX-License-Identifier: MIT
 *
 * Narrow hardware counters: differences over a wrap, and a count that does not wrap.
 */
#ifndef PS_CORE_COUNTER_H
#define PS_CORE_COUNTER_H

#include <stdint.h>

/* now - before of a counter of `bits` bits (1 to 64) that wrapped at most once in between. */
uint64_t ps_counter_delta(uint64_t now, uint64_t before, unsigned bits);

/* A counter made wide. It must be read more often than it wraps. */
struct ps_counter {
    unsigned bits;
    uint64_t last;  /* as read */
    uint64_t total; /* ticks since the first reading */
};
void ps_counter_init(struct ps_counter *counter, unsigned bits, uint64_t reading);
uint64_t ps_counter_widen(struct ps_counter *counter, uint64_t reading);

/* Ticks to ns, rounded down, without overflow while the answer fits; hz up to 2^34. */
uint64_t ps_counter_ns(uint64_t ticks, uint64_t hz);

#endif
