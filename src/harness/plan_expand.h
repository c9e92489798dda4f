/* SPDX-License-Identifier: MIT
 *
 * From cases to rows: every table's cases for every cluster, with places, CPUs and ids.
 */
#ifndef PS_HARNESS_PLAN_EXPAND_H
#define PS_HARNESS_PLAN_EXPAND_H

#include "harness/plan.h"

/* Fills plan->rows with the rows that the filters select, in the order of the registry. Runs and
 * predicted times are not set yet. There must be a usable CPU. 0 or -ENOMEM. */
int ps_plan_expand(const struct ps_registry *registry, const struct ps_environment *environment,
                   const struct ps_plan_options *options, struct ps_plan *plan);

/* plan->memory is a list of these. */
struct ps_plan_block {
    struct ps_plan_block *next;
    _Alignas(16) char data[];
};

/* Memory and formatted texts that live as long as the plan; NULL when there is none left. */
void *ps_plan_alloc(struct ps_plan *plan, size_t bytes);
const char *ps_plan_format(struct ps_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
