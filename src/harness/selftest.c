/* SPDX-License-Identifier: MIT
 *
 * The costs of measuring: an empty loop as core/calibrate.h has it, and a child process, which is
 * this program told to end at once.
 */
#include "harness/selftest.h"

#include <errno.h>
#include <stddef.h>
#include <sys/wait.h>

#include "core/calibrate.h"
#include "port/port_linux.h"
#include "stats/summary.h"
#include "sys/clock_speed.h"
#include "sys/process.h"

/* A child takes about a millisecond on a desktop and ten on a slow board. */
#define CHILDREN 11
#define CHILD_DEADLINE_NS UINT64_C(5000000000)

static int start_child(double *ret_ms) {
    char *argv[] = {(char[]){"perfsheet"}, (char[]){"--exit-code"}, (char[]){"0"}, NULL};
    struct ps_child child;
    int status = 0;
    uint64_t begin_ns = ps_now_ns();
    int error = ps_child_spawn("/proc/self/exe", argv, -1, -1, -1, &child);
    if (error)
        return error;
    error = ps_child_wait(&child, begin_ns + CHILD_DEADLINE_NS, &status);
    uint64_t end_ns = ps_now_ns();
    ps_child_kill(&child);
    if (!error && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        error = -ECHILD;
    *ret_ms = (double)(end_ns - begin_ns) / 1e6;
    return error;
}

void ps_selftest_measure(bool clock_trusted, uint64_t resolution_ns,
                         struct ps_selftest *ret_selftest) {
    struct ps_port port;
    double children_ms[CHILDREN];
    *ret_selftest = (struct ps_selftest){.child_error = 0};
    if (ps_port_linux_init(&port, clock_trusted, resolution_ns, 0) == 0)
        ret_selftest->null_loop_ns = ps_null_loop_ns(&port);
    for (size_t i = 0; i < CHILDREN && !ret_selftest->child_error; i++)
        ret_selftest->child_error = start_child(&children_ms[i]);
    if (!ret_selftest->child_error)
        ret_selftest->child_ms = ps_median(children_ms, CHILDREN);
}
