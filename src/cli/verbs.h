/* SPDX-License-Identifier: MIT
 *
 * The one table of verbs and options. --help, the man page, the completion and the parser all read
 * it.
 */
#ifndef PS_CLI_VERBS_H
#define PS_CLI_VERBS_H

#include "cli/cli.h"

struct ps_verb {
    const char *name;
    const char *words;   /* its arguments: "[FILTER...]" */
    const char *summary; /* a line */
    const char *about;   /* a paragraph or more, parted by "\n" */
    const struct ps_option *options;
    int (*run)(struct ps_invocation *invocation); /* the exit code */
};

/* Ends with a verb without a name. */
extern const struct ps_verb ps_verbs[];
/* Options of every verb. */
extern const struct ps_option ps_options_of_all[];

const struct ps_verb *ps_verb_find(const char *name);
/* The verb with the name most like this one. */
const struct ps_verb *ps_verb_nearest(const char *name);

int ps_cmd_run(struct ps_invocation *invocation);
int ps_cmd_list(struct ps_invocation *invocation);
int ps_cmd_explain(struct ps_invocation *invocation);
int ps_cmd_report(struct ps_invocation *invocation);
int ps_cmd_doctor(struct ps_invocation *invocation);
int ps_cmd_selftest(struct ps_invocation *invocation);
int ps_cmd_ingest(struct ps_invocation *invocation);

#endif
