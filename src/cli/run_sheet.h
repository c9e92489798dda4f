/* SPDX-License-Identifier: MIT
 *
 * The sheet that `run` writes: where it goes, its first records, its last.
 */
#ifndef PS_CLI_RUN_SHEET_H
#define PS_CLI_RUN_SHEET_H

#include <limits.h>

#include "cli/setup.h"
#include "harness/runner.h"

struct ps_run_sheet {
    struct ps_output output;
    char path[PATH_MAX]; /* "" when it goes to stdout */
    bool to_stdout;      /* then people are told things on stderr */
};

/* `name` is of -o, NULL: ./<board>-<date>-<time>.jsonl, or stdout where nothing is writable. An
 * existing regular file is refused. An exit code; not 0 after a complaint. */
int ps_run_sheet_open(const struct ps_invocation *invocation,
                      const struct ps_environment *environment, const char *name,
                      struct ps_run_sheet *ret_sheet);
/* Opens a sheet to be finished, for nobody else to write. Nothing in it is changed yet. */
int ps_run_sheet_lock(const char *path, struct ps_run_sheet *ret_sheet);
/* Cuts off what does not belong to the sheet's runs (results, the end, a line that was cut short)
 * and writes what `done`, which is what it holds, lacks before them. */
int ps_run_sheet_continue(struct ps_run_sheet *sheet, const struct ps_setup *setup,
                          const struct ps_sheet *done);
/* The file has no name any more: what is written is lost. */
bool ps_run_sheet_gone(const struct ps_run_sheet *sheet);
/* Closes the files. */
void ps_run_sheet_done(struct ps_run_sheet *sheet);

/* Records before the first run. 0 or -errno. `args` are those of plan.args. */
int ps_run_sheet_begin(struct ps_run_sheet *sheet, const struct ps_setup *setup,
                       const char *const *args, size_t n_args);
/* What the sheet holds now, as every reader sees it. 0 or -errno. */
int ps_run_sheet_read(struct ps_run_sheet *sheet, struct ps_sheet **ret_content,
                      struct ps_sheet_error *ret_error);
/* Result records and the end. 0 or -errno. */
int ps_run_sheet_end(struct ps_run_sheet *sheet, const struct ps_sheet *content, int exit_code);

#endif
