/* SPDX-License-Identifier: MIT
 *
 * Pinning the calling thread.
 */
#ifndef PS_SYS_AFFINITY_H
#define PS_SYS_AFFINITY_H

#include "sys/cpu_list.h"

/* 0 or a negative errno; -ENODEV when the kernel took the call but the thread is not there. */
int ps_pin_to_cpu(unsigned cpu);
int ps_pin_to_set(const struct ps_cpu_set *set);
/* The calling thread's mask. 0 or a negative errno. */
int ps_affinity_get(struct ps_cpu_set *ret_set);

#endif
