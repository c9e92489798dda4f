/* SPDX-License-Identifier: MIT
 *
 * What measuring itself costs here: an empty loop, and a child process. Stored in every sheet.
 */
#ifndef PS_HARNESS_SELFTEST_H
#define PS_HARNESS_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

struct ps_selftest {
    double null_loop_ns; /* one turn; 0 unknown */
    double child_ms;     /* median time to start this program again and see it end; 0 unknown */
    int child_error;     /* negative errno when a child could not be started */
};

/* On the calling thread, a few tens of ms. `trusted` and `resolution_ns` as ps_clock_check and
 * ps_clock_quality found them. */
void ps_selftest_measure(bool clock_trusted, uint64_t resolution_ns,
                         struct ps_selftest *ret_selftest);

#endif
