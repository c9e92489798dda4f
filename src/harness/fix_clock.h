/* SPDX-License-Identifier: MIT
 *
 * --fix-clock: the governor "performance" on every usable CPU, until the program ends.
 */
#ifndef PS_HARNESS_FIX_CLOCK_H
#define PS_HARNESS_FIX_CLOCK_H

#include "harness/guard.h"
#include "sys/cpu_list.h"

/* Through the guard, and read back. 0 and in *ret_changed how many governors are now fixed, or a
 * negative errno with a sentence in ret_why: -ENOENT where there is no cpufreq, -EACCES ... */
int ps_fix_clock(struct ps_guard *guard, const char *root, const struct ps_cpu_set *cpus,
                 unsigned *ret_changed, char *ret_why, size_t why_bytes);

#endif
