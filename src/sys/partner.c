/* SPDX-License-Identifier: MIT
 *
 * Second processes by fork. The parent hears from its partner only once, when it is in its place;
 * all else is the benchmark's.
 */
#include "sys/partner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/process.h"

static _Noreturn void be_partner(pid_t parent, int ready_fd, int cpu,
                                 int (*function)(void *argument), void *argument) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent) {
        _exit(127);
    }
    int r = cpu < 0 ? 0 : ps_pin_to_cpu((unsigned)cpu);
    if (ps_write_all(ready_fd, &r, sizeof r) < 0 || r < 0) {
        _exit(127);
    }
    close(ready_fd);
    _exit(function(argument));
}

int ps_partner_start(struct ps_partner *partner, int cpu, int (*function)(void *argument),
                     void *argument) {
    int ready[2], r = 0;
    ssize_t n;
    pid_t parent = getpid();
    partner->pid = 0;
    if (pipe2(ready, O_CLOEXEC) < 0) {
        return -errno;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        be_partner(parent, ready[1], cpu, function, argument);
    }
    if (pid < 0) {
        r = -errno;
    }
    close(ready[1]);
    if (pid > 0) {
        do {
            n = read(ready[0], &r, sizeof r);
        } while (n < 0 && errno == EINTR);
        if (n != (ssize_t)sizeof r) {
            r = -EIO; /* it died before it was ready */
        }
        if (r < 0) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        } else {
            partner->pid = pid;
        }
    }
    close(ready[0]);
    return r;
}

int ps_partner_stop(struct ps_partner *partner, unsigned timeout_ms) {
    int status;
    if (partner->pid <= 0) {
        return 0;
    }
    /* Without a pidfd the wait looks every few milliseconds, which is soon enough here. */
    struct ps_child child = {.pid = partner->pid, .pidfd = -1};
    int r = ps_child_wait(&child, ps_now_ns() + (uint64_t)timeout_ms * 1000000u, &status);
    if (r < 0) {
        ps_partner_kill(partner);
        return r;
    }
    waitpid(partner->pid, NULL, 0);
    partner->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

void ps_partner_kill(struct ps_partner *partner) {
    if (partner->pid > 0) {
        kill(partner->pid, SIGKILL);
        while (waitpid(partner->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        partner->pid = 0;
    }
}
