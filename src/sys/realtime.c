/* SPDX-License-Identifier: MIT
 *
 * Scheduling class, locked memory and timer slack of the calling thread.
 */
#include "sys/realtime.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The deepest path of a sleeping measurement needs a few KiB; a signal frame with the largest
 * vector state some 12. */
#define STACK_BYTES 65536
#define PAGE_BYTES_MIN 4096

int ps_scheduling_get(struct ps_scheduling *ret_scheduling) {
    long policy = syscall(SYS_sched_getscheduler, 0);
    struct sched_param param = {0};
    if (policy < 0 || syscall(SYS_sched_getparam, 0, &param) != 0)
        return -errno;
    ret_scheduling->policy = (int)policy;
    ret_scheduling->priority = param.sched_priority;
    return 0;
}

int ps_scheduling_set(const struct ps_scheduling *scheduling) {
    struct sched_param param = {.sched_priority = scheduling->priority};
    if (syscall(SYS_sched_setscheduler, 0, scheduling->policy, &param) != 0)
        return -errno;
    return 0;
}

int ps_realtime_allowed(int priority) {
    struct ps_scheduling before = {0}, wanted = {.policy = SCHED_FIFO, .priority = priority};
    int r = ps_scheduling_get(&before);
    if (r == 0)
        r = ps_scheduling_set(&wanted);
    if (r == 0)
        r = ps_scheduling_set(&before);
    return r;
}

int ps_memory_lock_allowed(void) {
    /* Of what is not touched there is nothing to lock yet, but it counts against the limit. */
    if (mlockall(MCL_CURRENT | MCL_ONFAULT) != 0)
        return -errno;
    munlockall();
    return 0;
}

int ps_memory_lock(void) {
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : -errno;
}

void ps_memory_unlock(void) {
    munlockall();
}

void ps_stack_prefault(void) {
    volatile char stack[STACK_BYTES];
    for (size_t i = 0; i < sizeof(stack); i += PAGE_BYTES_MIN)
        stack[i] = 0;
}

int ps_timer_slack_set(unsigned long slack_ns) {
    return prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0) == 0 ? 0 : -errno;
}

long ps_timer_slack_get(void) {
    int slack_ns = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    return slack_ns < 0 ? -errno : slack_ns;
}
