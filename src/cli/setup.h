/* SPDX-License-Identifier: MIT
 *
 * From a command line to a plan: board file, environment, plan. For every verb that makes one.
 */
#ifndef PS_CLI_SETUP_H
#define PS_CLI_SETUP_H

#include "cli/cli.h"
#include "harness/plan.h"

struct ps_setup {
    struct ps_boardfile *board;
    struct ps_environment *environment; /* points into itself: not to be copied */
    struct ps_plan plan;
    struct ps_plan_options options;
    const char **targets;
};

/* `arguments` are the invocation's own or those of a sheet that is resumed. `measure_clock`: probe
 * it, which takes 40 ms a cluster. `seed` 0: --seed, else the clock. Returns an exit code; not 0
 * after a complaint. */
int ps_setup_make(const struct ps_invocation *invocation, const struct ps_arguments *arguments,
                  bool measure_clock, uint64_t seed, struct ps_setup *ret_setup);
void ps_setup_done(struct ps_setup *setup);

const char *ps_depth_name(enum ps_depth depth);

#endif
