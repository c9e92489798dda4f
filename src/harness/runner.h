/* SPDX-License-Identifier: MIT
 *
 * Runs a plan: interleaved rounds, replacements of disturbed runs, rows that stop when they are
 * precise enough, one run record per child, synced once a second.
 */
#ifndef PS_HARNESS_RUNNER_H
#define PS_HARNESS_RUNNER_H

#include <stdbool.h>

#include "harness/plan.h"
#include "sheet/sheet.h"

/* One run of one row, wherever it happens: a child process, or the fake clock in the tests. Writes
 * the line of its run record (no newline) into line[]; a row that hangs, crashes or says nothing
 * still gets a record, with status timeout or failed. 0 or a negative errno for want of resources.
 */
struct ps_executor {
    void *self;
    int (*execute)(void *self, const struct ps_plan_row *row,
                   const struct ps_run_identity *identity, uint64_t seed, char *line,
                   size_t line_bytes);
    uint64_t (*now_ns)(void *self);            /* the runner's clock */
    void (*sleep_ns)(void *self, uint64_t ns); /* NULL: the runner never waits */
    /* A run that goes on when *signal_seen becomes set is ended and execute returns -EINTR. May be
     * NULL, and gets NULL when nobody watches. */
    void (*watch)(void *self, const volatile int *signal_seen);
};

struct ps_progress {
    unsigned round, rounds;
    size_t done, total; /* runs */
    double elapsed_s, left_s;
    const char *id; /* being run */
};

struct ps_runner_options {
    double budget_s; /* 0: none */
    bool to_stdout;
    bool soak; /* --cpu-load soak: one more run of each row, for its CPU load only */
    void (*progress)(void *context, const struct ps_progress *progress);
    /* A line to people: "more than a third of round 1 was disturbed ...". Returns true to wait 30 s
     * and begin again with a quiet machine (only asked on a terminal), false to go on. */
    bool (*disturbed)(void *context, unsigned n_disturbed, unsigned n_runs);
    void *context;
    const volatile int *signal_seen; /* set by the handler: stop, close the sheet */
    /* --resume: runs that the sheet already has; NULL: none. */
    const struct ps_sheet *done;
};

/* Where lines go. fsync at most once a second and when `sync` is true. */
struct ps_output {
    int fd;
    int copy_fd; /* the same lines go there too, so that a sheet on a pipe can be read back; 0: none
                  */
    uint64_t synced_ns;
    int error; /* first write error: a full disk; the runner stops and says so */
};
int ps_output_line(struct ps_output *output, const char *line, size_t length, bool sync);
int ps_output_sync(struct ps_output *output);

/* Runs everything and appends run records. 0, or a negative errno that ended it (-EINTR: a signal,
 * -ENOSPC: the disk is full); what was measured is in the sheet either way. */
int ps_runner_run(const struct ps_plan *plan, const struct ps_environment *environment,
                  const struct ps_executor *executor, struct ps_output *output,
                  const struct ps_runner_options *options);

/* The executor of the product: /proc/self/exe --child. */
int ps_executor_process(const struct ps_environment *environment, struct ps_executor *ret_executor);
void ps_executor_process_done(struct ps_executor *executor);

#endif
