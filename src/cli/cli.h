/* SPDX-License-Identifier: MIT
 *
 * What the verbs share: the command line in force, messages to people, streams. Only this folder
 * prints errors. stdout is data, stderr is for people.
 */
#ifndef PS_CLI_CLI_H
#define PS_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "core/json_writer.h"

/* docs/FORMAT.md; of run and report, 0, 1, 3, 4 and 5 come from ps_results_exit_code(). */
enum ps_exit {
    PS_EXIT_OK = 0,
    PS_EXIT_FAILED = 1,
    PS_EXIT_USAGE = 2,
    PS_EXIT_SUSPECT = 3,
    PS_EXIT_NOTHING = 5
};

struct ps_verb;

struct ps_invocation {
    const struct ps_verb *verb; /* NULL: none was named */
    struct ps_arguments arguments;
    const char *root;    /* "" or --root */
    const char *program; /* as it was called; NULL: nobody said */
    bool quiet;
};

/* "perfsheet: ..." on stderr, quiet or not. */
void ps_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line on stderr, unless quiet. */
void ps_tell(const struct ps_invocation *invocation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* ps_tell as the `say` of the harness; the context is the invocation. */
void ps_tell_note(void *invocation, const char *note);
/* Complains, points to --help and returns PS_EXIT_USAGE. */
int ps_usage(const struct ps_invocation *invocation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A writer of JSON onto a stream. */
void ps_json_to_stream(struct ps_json_writer *json, FILE *stream);
/* Flushes stdout. Returns `code`, or PS_EXIT_FAILED after a complaint when not all could be
 * written; a reader that has gone away (EPIPE) is not complained about. */
int ps_finish_stdout(int code);

/* Columns of the terminal that the stream is: COLUMNS, else asked of it, else 80. */
unsigned ps_stream_width(FILE *stream);
/* A terminal that shows colours, and nobody said NO_COLOR. */
bool ps_stream_colour(FILE *stream);

#endif
