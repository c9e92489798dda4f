/* SPDX-License-Identifier: MIT
 *
 * What the runner knows of each row while it runs: runs taken, values so far, what is still due.
 */
#ifndef PS_HARNESS_RUNNER_ROWS_H
#define PS_HARNESS_RUNNER_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/plan.h"
#include "sheet/sheet.h"

struct ps_row_state {
    const struct ps_plan_row *row;
    size_t unit; /* rows of one unit stay together when the order is shuffled */
    struct ps_sheet_metric metrics[PS_METRICS_MAX]; /* as the sheet declares them; no strings */
    unsigned n_metrics;
    bool clock_trusted; /* samples of core rows are normalised */
    double *values;     /* of undisturbed runs: values[metric * capacity + i] */
    unsigned capacity, n_values;

    unsigned taken;        /* regular runs */
    unsigned last_round;   /* round of the last regular run; 0: none */
    unsigned last_attempt; /* in round `attempt_round` */
    unsigned attempt_round;
    unsigned replaced;         /* replacement runs taken */
    unsigned disturbed;        /* runs, replacements included */
    unsigned aborted;          /* runs of this invocation that were ended from outside */
    unsigned pending;          /* disturbed runs that wait for their replacement */
    unsigned replacements_due; /* of those, the ones that this round's end takes */
    bool finished;
};

/* What a run record says that the runner acts on. */
struct ps_run_outcome {
    enum ps_status status;
    bool disturbed;
    unsigned n_values;
    double values[PS_METRICS_MAX]; /* NAN where a metric has none */
};

/* 0 or -ENOMEM. */
int ps_row_state_init(struct ps_row_state *state, const struct ps_plan_row *row,
                      bool clock_trusted);
void ps_row_state_done(struct ps_row_state *state);

/* Outcome of a run that has been read back. */
void ps_row_outcome(const struct ps_row_state *state, const struct ps_sheet_run *run,
                    struct ps_run_outcome *ret_outcome);
/* Reads the line of a run record as every reader of the sheet does. 0, -EINVAL, -ENOMEM. */
int ps_row_read_line(const struct ps_row_state *state, const char *line, size_t length,
                     struct ps_run_outcome *ret_outcome);

/* Attempt number of the row's next run in a round: 1 is the regular one, more are replacements. */
unsigned ps_row_next_attempt(const struct ps_row_state *state, unsigned round, bool replacement);
/* Counts a run. */
void ps_row_take(struct ps_row_state *state, unsigned round, bool replacement,
                 const struct ps_run_outcome *outcome);
/* --resume: a run of the sheet that was aborted. It does not count, but its place is taken. */
void ps_row_pass_over(struct ps_row_state *state, unsigned round, unsigned attempt);
/* --resume: all runs of the sheet have been taken over. */
void ps_row_settle(struct ps_row_state *state);
/* Is a regular run due in this round? Sets `finished` when the row needs no more. */
bool ps_row_due(struct ps_row_state *state, unsigned round);
/* After a wait for a quiet machine: disturbed runs are taken anew as regular ones. */
void ps_row_forgive(struct ps_row_state *state);
/* Runs that are probably still to come. */
double ps_row_expected(const struct ps_row_state *state);

#endif
