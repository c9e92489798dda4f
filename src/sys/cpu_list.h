/* SPDX-License-Identifier: MIT
 *
 * Sets of CPUs: sparse, large (CPU numbers below 4096), and the kernel's list syntax "0-3,8,10-11".
 */
#ifndef PS_SYS_CPU_LIST_H
#define PS_SYS_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_CPU_MAX 4096

struct ps_cpu_set {
    uint64_t words[PS_CPU_MAX / 64];
};

void ps_cpu_set_clear(struct ps_cpu_set *set);
void ps_cpu_set_add(struct ps_cpu_set *set, unsigned cpu);
bool ps_cpu_set_has(const struct ps_cpu_set *set, unsigned cpu);
unsigned ps_cpu_set_count(const struct ps_cpu_set *set);
/* The next member >= from, or -1. */
int ps_cpu_set_next(const struct ps_cpu_set *set, unsigned from);
void ps_cpu_set_and(struct ps_cpu_set *into, const struct ps_cpu_set *other);
/* Strict: 0, or -EINVAL (empty items, reversed ranges, numbers >= PS_CPU_MAX, trailing text). An
 * empty text is the empty set. "0-6:2/3" style strides are accepted as the kernel writes none. */
int ps_cpu_list_parse(const char *text, struct ps_cpu_set *ret_set);
/* "0-3,8"; cut with "..." when it does not fit. */
void ps_cpu_list_format(const struct ps_cpu_set *set, char *text, size_t size_bytes);

#endif
