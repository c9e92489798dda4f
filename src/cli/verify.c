/* SPDX-License-Identifier: MIT
 *
 * --dry-run and --golden.
 */
#include "cli/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_watch.h"
#include "harness/runner.h"

/* A run record without samples; its reason is the longest thing in it. */
#define RECORD_BYTES 65536

int ps_print_plan(const struct ps_setup *setup) {
    const struct ps_plan *plan = &setup->plan;
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        if (row->status == PS_OK)
            printf("%-44s %2u runs of %4u ms, %s\n", row->id, row->runs_planned, row->predicted_ms,
                   ps_bound_name(row->bound));
        else
            printf("%-44s %s: %s\n", row->id, ps_status_name(row->status),
                   row->reason ? row->reason : "");
    }
    printf("%zu of %zu rows would run, in about %.0f s; plan %s\n", plan->n_run, plan->n_rows,
           plan->predicted_s, plan->hash);
    return plan->n_run > 0 ? PS_EXIT_OK : PS_EXIT_NOTHING;
}

/* Prints the outcome of one run record. True when the answer was right. */
static bool print_outcome(const char *id, const char *line) {
    struct ps_json_document *document = NULL;
    const struct ps_json *record = NULL;
    struct ps_json_error where = {0};
    const char *status = "failed", *reason = "its run record cannot be read";
    if (ps_json_parse(line, strlen(line), &document, &record, &where) == 0) {
        status = ps_json_get_string(record, "status", "ok");
        reason = ps_json_get_string(record, "reason", NULL);
    }
    enum ps_status outcome;
    bool known = ps_status_from_name(status, &outcome) == 0;
    if (known && outcome == PS_OK)
        printf("%s ok\n", id);
    else
        printf("%s %s%s%s\n", id, status, reason ? ": " : "", reason ? reason : "");
    /* What cannot run here is not wrong. */
    bool right = known && (outcome == PS_OK || outcome == PS_UNSUPPORTED || outcome == PS_DENIED ||
                           outcome == PS_SKIPPED);
    ps_json_document_free(document);
    return right;
}

int ps_verify_all(const struct ps_invocation *invocation, const struct ps_setup *setup) {
    const struct ps_plan *plan = &setup->plan;
    struct ps_executor executor;
    size_t n_wrong = 0, n = 0;
    char *line = malloc(RECORD_BYTES);
    int error = line ? ps_executor_process(setup->environment, &executor) : -ENOMEM;
    if (error) {
        free(line);
        ps_complain("%s", strerror(-error));
        return PS_EXIT_FAILED;
    }
    if (executor.watch)
        executor.watch(executor.self, &ps_signal_seen);
    for (size_t i = 0; i < plan->n_rows && !error && !ps_signal_seen; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        const struct ps_run_identity identity = {.id = row->id,
                                                 .source = "linux",
                                                 .round = 1,
                                                 .seq = (unsigned)i + 1,
                                                 .attempt = 1,
                                                 .load_all_pct = -1,
                                                 .load_busiest_pct = -1};
        if (row->status != PS_OK) {
            printf("%s %s: %s\n", row->id, ps_status_name(row->status),
                   row->reason ? row->reason : "");
            continue;
        }
        error = executor.execute(executor.self, row, &identity, plan->seed, line, RECORD_BYTES);
        if (!error) {
            n++;
            n_wrong += !print_outcome(row->id, line);
        }
    }
    if (error && error != -EINTR)
        ps_complain("%s", strerror(-error));
    ps_tell(invocation, "%zu rows, %zu wrong", n, n_wrong);
    ps_executor_process_done(&executor);
    free(line);
    if (error || n_wrong > 0)
        return PS_EXIT_FAILED;
    return n > 0 ? PS_EXIT_OK : PS_EXIT_NOTHING;
}
