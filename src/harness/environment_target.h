/* SPDX-License-Identifier: MIT
 *
 * Where files may be put: directories that were asked for, and a tmpfs that is always looked for.
 */
#ifndef PS_HARNESS_ENVIRONMENT_TARGET_H
#define PS_HARNESS_ENVIRONMENT_TARGET_H

#include "harness/environment.h"

/* Fills environment->targets and env.targets: tmpfs, then `targets` of the command line, then the
 * board file's that the command line does not name. 0, or -EINVAL with a sentence in why. */
int ps_environment_targets(struct ps_environment *environment, const char *const *targets,
                           char *ret_why, size_t why_bytes);

#endif
