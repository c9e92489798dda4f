/* SPDX-License-Identifier: MIT
 *
 * While a run goes on: signals, and what people see of it.
 */
#ifndef PS_CLI_RUN_WATCH_H
#define PS_CLI_RUN_WATCH_H

#include "cli/cli.h"
#include "harness/runner.h"

/* SIGINT, SIGTERM and SIGHUP set the flag; the same signal a second time kills at once. One that
 * was ignored at the start (nohup) stays ignored. */
void ps_signals_watch(void);
/* Number of the signal that came, 0: none. */
extern volatile int ps_signal_seen;
/* Dies of the signal that came, as if it had never been caught. Returns only where none came. */
void ps_signals_die(void);

struct ps_watch {
    const struct ps_invocation *invocation;
    bool terminal;  /* stderr is one: a line that is written over */
    bool shown;     /* such a line stands there */
    unsigned round; /* that was told last */
    double told_s;  /* when */
};
void ps_watch_init(struct ps_watch *watch, const struct ps_invocation *invocation);
/* Callbacks of the runner; the context is the watch. */
void ps_watch_progress(void *watch, const struct ps_progress *progress);
bool ps_watch_disturbed(void *watch, unsigned n_disturbed, unsigned n_runs);
/* Takes the line away. */
void ps_watch_done(struct ps_watch *watch);

#endif
