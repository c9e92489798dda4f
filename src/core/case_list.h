/* SPDX-License-Identifier: MIT
 *
 * The list that cases() fills. The memory is the caller's.
 */
#ifndef PS_CORE_CASE_LIST_H
#define PS_CORE_CASE_LIST_H

#include "core/bench.h"

struct ps_case_list {
    struct ps_case *cases;
    size_t n, capacity;
    bool overflow; /* a case did not fit */
    /* Makes room for at least one more (cases may move), or returns a negative errno. NULL: fixed.
     */
    int (*grow)(struct ps_case_list *list);
};

#endif
