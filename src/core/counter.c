/* SPDX-License-Identifier: MIT
 *
 * Narrow hardware counters. A difference is taken modulo the counter's width: a 32-bit counter of
 * ns wraps every 4.29 s, a 24-bit SysTick at 25 MHz every 0.67 s.
 */
#include "core/counter.h"

#include "core/assert.h"

uint64_t ps_counter_delta(uint64_t now, uint64_t before, unsigned bits) {
    PS_ASSERT(bits >= 1 && bits <= 64);
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (now - before) & mask;
}

void ps_counter_init(struct ps_counter *counter, unsigned bits, uint64_t reading) {
    counter->bits = bits;
    counter->last = reading;
    counter->total = 0;
}

uint64_t ps_counter_widen(struct ps_counter *counter, uint64_t reading) {
    counter->total += ps_counter_delta(reading, counter->last, counter->bits);
    counter->last = reading;
    return counter->total;
}

uint64_t ps_counter_ns(uint64_t ticks, uint64_t hz) {
    const uint64_t ns_per_s = 1000000000;
    PS_ASSERT(hz > 0 && hz <= UINT64_C(1) << 34); /* 2^34 x 10^9 < 2^64 */
    return ticks / hz * ns_per_s + ticks % hz * ns_per_s / hz;
}
