/* SPDX-License-Identifier: MIT
 *
 * cmocka compares floats; results are doubles. Include behind cmocka.h.
 */
#ifndef PS_TESTS_UNIT_DOUBLES_H
#define PS_TESTS_UNIT_DOUBLES_H

#include <math.h>

#define assert_double(got, expected, tolerance)                                                    \
    do {                                                                                           \
        double got_ = (got), expected_ = (expected);                                               \
        if (!(fabs(got_ - expected_) <= (tolerance)))                                              \
            fail_msg("%s is %.17g instead of %.17g", #got, got_, expected_);                       \
    } while (0)

#endif
