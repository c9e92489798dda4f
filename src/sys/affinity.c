/* SPDX-License-Identifier: MIT
 *
 * Pinning, by the system calls themselves: libc's cpu_set_t ends at 1024 CPUs. The kernel's mask is
 * an array of long, which on little-endian machines of either width is our array of 64-bit words.
 */
#include "sys/affinity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int ps_pin_to_set(const struct ps_cpu_set *set) {
    return syscall(SYS_sched_setaffinity, 0, sizeof set->words, set->words) < 0 ? -errno : 0;
}

int ps_affinity_get(struct ps_cpu_set *ret_set) {
    struct ps_cpu_set set;
    ps_cpu_set_clear(&set);
    /* Returns the bytes it wrote; the rest stays 0. */
    if (syscall(SYS_sched_getaffinity, 0, sizeof set.words, set.words) < 0) {
        return -errno;
    }
    *ret_set = set;
    return 0;
}

int ps_pin_to_cpu(unsigned cpu) {
    struct ps_cpu_set set;
    unsigned at;
    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, cpu);
    int r = ps_pin_to_set(&set);
    if (r < 0) {
        return r;
    }
    /* A thread that the kernel moves does so before the call returns; an emulator may only say so.
     */
    if (syscall(SYS_getcpu, &at, NULL, NULL) == 0 && at != cpu) {
        return -ENODEV;
    }
    return 0;
}
