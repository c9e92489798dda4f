/* SPDX-License-Identifier: MIT
 *
 * Data caches, as the kernel describes them in /sys/devices/system/cpu/cpuN/cache, or an x86
 * processor where the kernel is silent. Instruction caches are not looked at.
 */
#ifndef PS_SYS_CACHE_H
#define PS_SYS_CACHE_H

#include <stdint.h>

#include "core/env.h"
#include "sys/cpu_list.h"

/* Fills l1d_bytes, l2_bytes, last_private_bytes and line_bytes from the caches of first_cpu; 0
 * where neither says. Threads of one core count as one owner. */
void ps_cache_read(const char *root, const struct ps_cpu_set *online, struct ps_cluster *cluster);
/* Sum over the distinct last-level caches of the CPUs in `set`; 0 unknown. */
uint64_t ps_cache_last_level_bytes(const char *root, const struct ps_cpu_set *set);

#endif
