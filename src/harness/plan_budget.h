/* SPDX-License-Identifier: MIT
 *
 * How many runs a row gets, how long they will take, and which rows are dropped to fit a budget.
 */
#ifndef PS_HARNESS_PLAN_BUDGET_H
#define PS_HARNESS_PLAN_BUDGET_H

#include "harness/plan.h"

/* Sets runs_planned, runs_max and predicted_ms of every row that will run, drops what the depth or
 * the budget leaves no room for, and sets plan->predicted_s and n_run. `core_shared`: the share of
 * the time, 0 to 1, for which a neighbour was seen on the core; it lengthens predicted_s, and drops
 * nothing: the same plan must come of it in a busy hour. 0 or -ENOMEM. */
int ps_plan_budget(const struct ps_plan_options *options, double core_shared, struct ps_plan *plan);

/* Runs that a row will take on average: planned, plus its share of growth and replacements. */
double ps_plan_expected_runs(const struct ps_plan_row *row);

#endif
