/* SPDX-License-Identifier: MIT
 *
 * Scheduling class, locked memory and timer slack of the calling thread.
 */
#ifndef PS_SYS_REALTIME_H
#define PS_SYS_REALTIME_H

/* What Linux gives a thread of the normal class unless somebody changed it (init_task.c). */
#define PS_TIMER_SLACK_DEFAULT_NS 50000

struct ps_scheduling {
    int policy;   /* SCHED_OTHER, SCHED_FIFO ... */
    int priority; /* 0 for the normal classes */
};

/* Both by the system call itself: musl's functions of that name refuse, as they would have to work
 * on a whole process. 0 or a negative errno; -EPERM: no right. */
int ps_scheduling_get(struct ps_scheduling *ret_scheduling);
int ps_scheduling_set(const struct ps_scheduling *scheduling);

/* May this process have SCHED_FIFO of that priority and locked memory? Tried and put back at once,
 * as limits, capabilities, control groups and security modules all have a say. 0 or a negative
 * errno. */
int ps_realtime_allowed(int priority);
int ps_memory_lock_allowed(void);

/* All memory, present and future, stays resident. 0, or -EPERM, -ENOMEM, -EAGAIN: no right to lock
 * that much. */
int ps_memory_lock(void);
void ps_memory_unlock(void);

/* Touches the stack as deep as the program will use it, so that no page of it is new later. */
void ps_stack_prefault(void);

/* How much later than asked the kernel may let a sleep end; real-time classes have none. 0 or a
 * negative errno; _get returns it in ns. */
int ps_timer_slack_set(unsigned long slack_ns);
long ps_timer_slack_get(void);

#endif
