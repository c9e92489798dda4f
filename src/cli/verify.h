/* SPDX-License-Identifier: MIT
 *
 * Runs without numbers: the plan as a list, and the proof of every kernel's answer.
 */
#ifndef PS_CLI_VERIFY_H
#define PS_CLI_VERIFY_H

#include "cli/setup.h"

/* --dry-run: a line a row. An exit code. */
int ps_print_plan(const struct ps_setup *setup);
/* --golden: each row that can run sets up, proves its answer and stops; its id and "ok" or what was
 * wrong. An exit code. */
int ps_verify_all(const struct ps_invocation *invocation, const struct ps_setup *setup);

#endif
