/* SPDX-License-Identifier: MIT
 *
 * Signals and progress of a run. On a terminal one line is written over; elsewhere (a log, a serial
 * console's recorder) a line a round, and one a minute.
 */
#include "cli/run_watch.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define QUIET_LINE_S 60.0 /* a log that is silent for longer looks like a hang */
#define REDRAW_S 0.1

volatile int ps_signal_seen;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number) {
    if (ps_signal_seen) {
        signal(number, SIG_DFL);
        raise(number);
    }
    ps_signal_seen = number;
}

void ps_signals_watch(void) {
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction action = {.sa_handler = on_signal}, before;
        sigemptyset(&action.sa_mask);
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void ps_signals_die(void) {
    int number = ps_signal_seen;
    if (number == 0)
        return;
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

void ps_watch_init(struct ps_watch *watch, const struct ps_invocation *invocation) {
    memset(watch, 0, sizeof(*watch));
    watch->invocation = invocation;
    watch->told_s = -QUIET_LINE_S;
    watch->terminal = !invocation->quiet && isatty(STDERR_FILENO);
}

static unsigned per_cent(const struct ps_progress *progress) {
    return progress->total ? (unsigned)(100 * progress->done / progress->total) : 0;
}

void ps_watch_progress(void *context, const struct ps_progress *progress) {
    struct ps_watch *watch = context;
    if (watch->invocation->quiet)
        return;
    if (watch->terminal) {
        char line[256];
        if (watch->shown && progress->elapsed_s - watch->told_s < REDRAW_S)
            return;
        snprintf(line, sizeof(line), "round %u of %u  %3u %%  %.0f s left  %s", progress->round,
                 progress->rounds, per_cent(progress), progress->left_s,
                 progress->id ? progress->id : "");
        /* A line that wraps could not be written over. */
        fprintf(stderr, "\r\033[K%.*s", (int)ps_stream_width(stderr) - 1, line);
        fflush(stderr);
        watch->shown = true;
    } else {
        if (progress->round == watch->round && progress->elapsed_s - watch->told_s < QUIET_LINE_S)
            return;
        ps_tell(watch->invocation, "round %u of %u: %u %% done, %.0f s left", progress->round,
                progress->rounds, per_cent(progress), progress->left_s);
    }
    watch->round = progress->round;
    watch->told_s = progress->elapsed_s;
}

void ps_watch_done(struct ps_watch *watch) {
    if (watch->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    watch->shown = false;
}

bool ps_watch_disturbed(void *context, unsigned n_disturbed, unsigned n_runs) {
    struct ps_watch *watch = context;
    char answer[16];
    ps_watch_done(watch);
    ps_tell(watch->invocation,
            "%u of the first round's %u runs were disturbed: something else takes CPU time on this "
            "machine. Rows are "
            "measured again where they can be and marked where not.",
            n_disturbed, n_runs);
    if (!watch->terminal || !isatty(STDIN_FILENO))
        return false;
    fputs("Wait 30 s and begin again? [y/N] ", stderr);
    fflush(stderr);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}
