/* SPDX-License-Identifier: MIT
 *
 * Child processes with a deadline, and nothing left behind.
 */
#ifndef PS_SYS_PROCESS_H
#define PS_SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* exec's `path` with argv in a process group of its own, stdin and stdout on /dev/null, stderr on
 * `stderr_fd` (or /dev/null at -1), `job_fd` as fd 3 and `reply_fd` as fd 4, every other fd closed.
 * The child dies with its parent (PR_SET_PDEATHSIG). */
#define PS_CHILD_SIBLINGS_MAX 16
struct ps_child {
    pid_t pid; /* 0: none; also its process group */
    int pidfd; /* -1 where the kernel has none */
    /* Other children that this process had when it made this one: not left by it. */
    pid_t siblings[PS_CHILD_SIBLINGS_MAX];
    unsigned n_siblings;
};
int ps_child_spawn(const char *path, char *const argv[], int job_fd, int reply_fd, int stderr_fd,
                   struct ps_child *ret_child);
/* Waits until the deadline (CLOCK_MONOTONIC ns). 0 and *ret_wait_status, -ETIMEDOUT, or -ECHILD
 * when there is none. The child is not reaped, so that the number of its group stays its own: that,
 * and clearing away what it left, is for ps_child_kill, which must follow. */
int ps_child_wait(struct ps_child *child, uint64_t deadline_ns, int *ret_wait_status);
/* SIGKILL to the whole group, reaps the child and, as subreaper, whatever it left, also what had
 * left the group; then *child is empty. Returns how many other processes had been left behind. One
 * child at a time: children made after it count as left by it. */
unsigned ps_child_kill(struct ps_child *child);
/* Makes this process the reaper of its grandchildren. */
int ps_become_subreaper(void);
/* Open file descriptors of this process, at most `max`; -errno. */
int ps_count_fds(void);
/* Any children (also zombies) of this process? */
bool ps_has_children(void);
/* Writes all of it. 0 or -errno. */
int ps_write_all(int fd, const void *data, size_t length);

#endif
