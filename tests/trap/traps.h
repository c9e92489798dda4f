/* SPDX-License-Identifier: MIT
 *
 * The benchmarks that lie.
 */
#ifndef PS_TESTS_TRAPS_H
#define PS_TESTS_TRAPS_H

#include "core/bench.h"

/* Behave badly: faults.c. */
extern const struct ps_bench trap_faults;
/* Give numbers that should not be believed, or should: numbers.c. */
extern const struct ps_bench trap_folded, trap_bimodal, trap_drifting, trap_slowing, trap_exact,
    trap_nothing;

#endif
