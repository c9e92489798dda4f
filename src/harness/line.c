/* SPDX-License-Identifier: MIT
 *
 * JSON lines in memory.
 */
#include "harness/line.h"

#include <errno.h>
#include <string.h>

static int take(void *target, const char *data, size_t length) {
    struct ps_line *line = target;
    if (length >= line->size_bytes - line->length)
        return -ENOBUFS;
    memcpy(line->data + line->length, data, length);
    line->length += length;
    line->data[line->length] = '\0';
    return 0;
}

void ps_line_begin(struct ps_line *line, char *data, size_t size_bytes,
                   struct ps_json_writer *json) {
    *line = (struct ps_line){.data = data, .size_bytes = size_bytes};
    data[0] = '\0';
    ps_json_init(json, take, line);
}

int ps_line_end(struct ps_line *line, struct ps_json_writer *json) {
    int error = ps_json_line_end(json);
    while (line->length > 0 && line->data[line->length - 1] == '\n')
        line->data[--line->length] = '\0';
    return error;
}

int ps_line_outcome(const struct ps_plan_row *row, const struct ps_run_identity *identity,
                    enum ps_status status, const char *reason, char *data, size_t size_bytes) {
    struct ps_run_shared shared = {
        .bench = row->bench,
        .c = &row->c,
        .cpus = row->cpus,
        .n_cpus = row->n_cpus,
        .threads = row->c.place.threads ? row->c.place.threads : 1,
        .status = status,
        .reason = reason,
    };
    struct ps_line line;
    struct ps_json_writer json;
    ps_line_begin(&line, data, size_bytes, &json);
    ps_record_run(&json, identity, &shared, NULL);
    return ps_line_end(&line, &json);
}
