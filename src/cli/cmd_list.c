/* SPDX-License-Identifier: MIT
 *
 * list: a line for each row and metric, with what will become of it here.
 */
#include "cli/setup.h"
#include "cli/verbs.h"

#include <string.h>

static void write_published(struct ps_json_writer *json, const struct ps_plan_row *row,
                            const char *metric) {
    ps_json_key(json, "published");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < row->c.n_published; i++) {
        const struct ps_published *published = &row->c.published[i];
        if (strcmp(published->metric, metric) != 0)
            continue;
        ps_record_published(json, NULL, published->page, published->table, published->row,
                            published->column, published->nth, published->comparable,
                            published->why);
    }
    ps_json_array_end(json);
}

static void list_json(const struct ps_plan *plan) {
    struct ps_json_writer json;
    bool first = true;
    char id[PS_ID_MAX + PS_NAME_MAX];
    fputs("[", stdout);
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        for (unsigned m = 0; m < row->bench->n_metrics; m++) {
            const struct ps_metric *metric = &row->bench->metrics[m];
            snprintf(id, sizeof(id), "%s:%s", row->id, metric->name);
            fputs(first ? "\n" : ",\n", stdout);
            first = false;
            ps_json_to_stream(&json, stdout);
            ps_json_object_begin(&json);
            ps_json_pair_string(&json, "id", id);
            ps_json_pair_string(&json, "unit", ps_unit_name(metric->unit));
            ps_json_pair_string(&json, "better", ps_better_name(metric->better));
            ps_json_pair_bool(&json, "will_run", row->status == PS_OK);
            ps_json_pair_string(&json, "status",
                                row->status == PS_OK ? NULL : ps_status_name(row->status));
            ps_json_pair_string(&json, "reason", row->status == PS_OK ? NULL : row->reason);
            write_published(&json, row, metric->name);
            ps_json_object_end(&json);
        }
    }
    fputs("\n]\n", stdout);
}

static void list_text(const struct ps_plan *plan) {
    int width = 0;
    for (size_t i = 0; i < plan->n_rows; i++)
        for (unsigned m = 0; m < plan->rows[i].bench->n_metrics; m++) {
            int length =
                snprintf(NULL, 0, "%s:%s", plan->rows[i].id, plan->rows[i].bench->metrics[m].name);
            if (length > width)
                width = length;
        }
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        for (unsigned m = 0; m < row->bench->n_metrics; m++) {
            int length = printf("%s:%s", row->id, row->bench->metrics[m].name);
            if (row->status == PS_OK)
                printf("%*s  will run\n", width - length, "");
            else
                printf("%*s  %s: %s\n", width - length, "", ps_status_name(row->status),
                       row->reason ? row->reason : "");
        }
    }
}

int ps_cmd_list(struct ps_invocation *invocation) {
    const char *format = ps_option_value(&invocation->arguments, "format");
    struct ps_setup setup;
    if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return ps_usage(invocation, "--format is text or json, not '%.40s'", format);
    int code = ps_setup_make(invocation, &invocation->arguments, false, 0, &setup);
    if (code)
        return code;
    if (format && strcmp(format, "json") == 0)
        list_json(&setup.plan);
    else
        list_text(&setup.plan);
    ps_setup_done(&setup);
    return ps_finish_stdout(PS_EXIT_OK);
}
