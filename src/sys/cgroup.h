/* SPDX-License-Identifier: MIT
 *
 * What the control groups of this process grant: CPU quota and memory, versions 1 and 2, mounted
 * anywhere, together or alone. Limits hold all along the path up to the root: the tightest counts.
 */
#ifndef PS_SYS_CGROUP_H
#define PS_SYS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In CPUs: 1.5 for 150 ms in every 100 ms. 0: no quota. */
double ps_cgroup_quota_cpus(const char *root);
/* The directory of the group whose quota is the tightest, and whether it is of version 2. False:
 * there is no quota, or the path does not fit. */
bool ps_cgroup_quota_directory(const char *root, char *directory, size_t directory_bytes,
                               bool *ret_v2);
/* Is any hierarchy with CPU quotas mounted where this process can see it? */
bool ps_cgroup_has_cpu(const char *root);
/* How much more memory may be taken: limit less what is used and not cheaply given back.
 * UINT64_MAX: no limit. */
uint64_t ps_cgroup_memory_left_bytes(const char *root);
/* Times that this process's groups were throttled, all levels; -1 unknown. */
int64_t ps_cgroup_throttled(const char *root);

#endif
