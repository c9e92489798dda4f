/* SPDX-License-Identifier: MIT
 *
 * Benchmarks that fail in every way that a process can: each case is one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traps.h"

static bool is(const struct ps_run *run, const char *name) {
    return strcmp(ps_run_case(run)->name, name) == 0;
}

/* A process that leaves its group and its parent. */
static void start_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            sleep(1000);
        _exit(0);
    }
    sleep(1);
}

static int setup(struct ps_run *run) {
    static volatile int *volatile nowhere;
    if (is(run, "crash"))
        *nowhere = 1;
    if (is(run, "abort")) {
        fprintf(stderr, "first words\nlast words\n");
        abort();
    }
    if (is(run, "exit"))
        _exit(0);
    if (is(run, "garbage") && write(4, "{\"type\":\"run\",\"case\":nan}\n", 26) != 26)
        _exit(1);
    if (is(run, "flood"))
        for (unsigned i = 0; i < 100000; i++)
            if (write(4, "0123456789012345678901234567890123456789012345678901234567890123", 64) <
                0)
                _exit(1);
    if (is(run, "fd-leak") && open("/dev/null", O_RDONLY) < 0)
        return -errno;
    if (is(run, "child-leak") && fork() == 0) {
        sleep(1000);
        _exit(0);
    }
    if (is(run, "daemon"))
        start_daemon();
    if (is(run, "set-up"))
        return -EMFILE;
    if (is(run, "denied"))
        return ps_run_end(run, PS_DENIED, EPERM, "needs a right that nobody has");
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    bool hang = is(run, "hang"), stop = is(run, "stop");
    uint64_t x = 1;
    for (uint64_t i = 0; i < n || hang; i++) {
        x = x * 3 + i;
        PS_LAUNDER(x);
    }
    if (stop)
        raise(SIGSTOP);
    return is(run, "syscall") ? -EBADF : 0;
}

static int verify(struct ps_run *run, enum ps_verify_when when) {
    if (is(run, "wrong-after") && when == PS_VERIFY_AFTER)
        return ps_run_end(run, PS_FAILED, 0, "its sum is not the one that was computed by hand");
    if (is(run, "wrong-before") && when == PS_VERIFY_BEFORE)
        return ps_run_end(run, PS_FAILED, 0, "it does not even start right");
    return 0;
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    static const char *const names[] = {
        "crash",  "abort",  "exit", "garbage", "flood",   "fd-leak",     "child-leak",   "daemon",
        "set-up", "denied", "hang", "stop",    "syscall", "wrong-after", "wrong-before", "honest"};
    (void)env;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ps_case_add(list, names[i]);
    return 0;
}

static const struct ps_metric metrics[] = {{.name = "time",
                                            .unit = PS_UNIT_NS,
                                            .kind = PS_TIME,
                                            .counts = "one multiplication",
                                            .better = PS_BETTER_LOWER,
                                            .positive = true,
                                            .decimals = 3,
                                            .method = 1,
                                            .floor_cycles = 1}};

const struct ps_bench trap_faults = {
    .chapter = "trap",
    .table = "faults",
    .title = "Faults",
    .about = "Every way to fail.",
    .region = "a chain of multiplications",
    .metrics = metrics,
    .n_metrics = 1,
    .cases = cases,
    .setup = setup,
    .batch = batch,
    .verify = verify,
};
