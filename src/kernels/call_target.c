/* SPDX-License-Identifier: MIT
 *
 * A function as small as a function gets: one int argument, added to a volatile, nothing returned.
 * It stands in a file of its own, without link-time optimisation, so that the caller can neither
 * inline it nor know what it does; that, and the global total, is how the row has always been
 * defined. What is measured is call, return and one read-modify-write in the first-level cache.
 */
#include "kernels/call_target.h"

static volatile uint32_t total;

void psk_call_target(int value) {
    total += (uint32_t)value;
}

uint32_t psk_call_target_total(void) {
    return total;
}
