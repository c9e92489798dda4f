/* SPDX-License-Identifier: MIT
 *
 * One JSON line in a buffer, and the run record of a run that could not speak for itself.
 */
#ifndef PS_HARNESS_LINE_H
#define PS_HARNESS_LINE_H

#include <stddef.h>

#include "core/json_writer.h"
#include "harness/plan.h"

struct ps_line {
    char *data;
    size_t size_bytes, length; /* always NUL-terminated; length without the NUL */
};

/* A writer whose output goes to data[]; what does not fit is -ENOBUFS in json->error. */
void ps_line_begin(struct ps_line *line, char *data, size_t size_bytes,
                   struct ps_json_writer *json);
/* Ends the line and cuts its newline. 0 or a negative errno. */
int ps_line_end(struct ps_line *line, struct ps_json_writer *json);

/* A run record without samples: the child hung, crashed, or was never started. */
int ps_line_outcome(const struct ps_plan_row *row, const struct ps_run_identity *identity,
                    enum ps_status status, const char *reason, char *data, size_t size_bytes);

#endif
