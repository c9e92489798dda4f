/* SPDX-License-Identifier: MIT
 *
 * The stop rule and the replacement rule, one row at a time. A disturbed run is replaced, never
 * dropped in silence: it stays in the sheet and counts. At most half as many again a row; a row
 * most of whose runs are disturbed is not made better by more of them, it is marked.
 */
#include "harness/runner_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/line.h"
#include "harness/plan_budget.h"
#include "harness/quality.h"
#include "sheet/results.h"

/* A case record with all its published rows and relations is 2 to 6 KB. */
#define PS_CASE_LINE_BYTES 65536

static unsigned replacements_max(const struct ps_plan_row *row) {
    return row->runs_planned / 2;
}

/* The case record, in text[], as it stands in the sheet. 0 or -errno. */
static int case_line(const struct ps_plan_row *row, char *text, size_t text_bytes,
                     size_t *ret_length) {
    struct ps_line line;
    struct ps_json_writer json;
    ps_line_begin(&line, text, text_bytes, &json);
    ps_record_case(&json, row->bench, &row->c, row->id, "linux", row->bound, row->runs_planned,
                   row->status, row->reason);
    int error = ps_line_end(&line, &json);
    *ret_length = line.length;
    return error;
}

/* Reads the row's case record back, and a run record behind it when there is one. */
static int parse(const struct ps_plan_row *row, const char *run, size_t run_length,
                 struct ps_sheet **ret_sheet) {
    size_t length = 0, size_bytes = PS_CASE_LINE_BYTES + run_length + 2;
    char *text = malloc(size_bytes);
    if (!text)
        return -ENOMEM;
    int error = case_line(row, text, PS_CASE_LINE_BYTES, &length);
    if (!error) {
        struct ps_sheet_error why;
        text[length++] = '\n';
        memcpy(text + length, run, run_length);
        length += run_length;
        if (run_length)
            text[length++] = '\n';
        error = ps_sheet_parse(text, length, ret_sheet, &why);
    }
    free(text);
    return error;
}

int ps_row_state_init(struct ps_row_state *state, const struct ps_plan_row *row,
                      bool clock_trusted) {
    struct ps_sheet *sheet = NULL;
    memset(state, 0, sizeof(*state));
    state->row = row;
    state->clock_trusted = clock_trusted;
    int error = parse(row, "", 0, &sheet);
    if (error)
        return error;
    if (sheet->n_cases == 1 && sheet->cases[0].n_metrics > 0 &&
        sheet->cases[0].n_metrics <= PS_METRICS_MAX && row->runs_max > 0) {
        const struct ps_sheet_case *c = &sheet->cases[0];
        state->n_metrics = c->n_metrics;
        for (unsigned m = 0; m < c->n_metrics; m++) {
            state->metrics[m] = c->metrics[m];
            state->metrics[m].name = row->bench->metrics[m].name;
            state->metrics[m].counts = state->metrics[m].from = NULL; /* die with the sheet */
            if (!clock_trusted && c->metrics[m].bound == PS_BOUND_CORE) {
                if (state->metrics[m].sample_stat == PS_STAT_P10) /* as sheet/row_runs.c has it */
                    state->metrics[m].sample_stat = PS_STAT_P25;
            }
        }
        state->capacity = row->runs_max + replacements_max(row);
        state->values = calloc((size_t)state->n_metrics * state->capacity, sizeof(double));
    }
    ps_sheet_free(sheet);
    return state->values ? 0 : -ENOMEM;
}

void ps_row_state_done(struct ps_row_state *state) {
    free(state->values);
    state->values = NULL;
}

void ps_row_outcome(const struct ps_row_state *state, const struct ps_sheet_run *run,
                    struct ps_run_outcome *ret_outcome) {
    ret_outcome->status = run->status;
    ret_outcome->disturbed = run->disturbed != NULL;
    ret_outcome->n_values = state->n_metrics;
    /* A relative width does not depend on the reference. */
    double reference_mhz = state->row->reference_mhz > 0 ? state->row->reference_mhz : 1000;
    for (unsigned m = 0; m < state->n_metrics; m++) {
        const struct ps_sheet_metric *metric = &state->metrics[m];
        ret_outcome->values[m] = NAN;
        for (unsigned s = 0; s < run->n_series; s++)
            if (strcmp(run->series[s].metric, metric->name) == 0)
                ret_outcome->values[m] = ps_run_value(
                    metric, &run->series[s], state->clock_trusted && metric->bound == PS_BOUND_CORE,
                    reference_mhz);
    }
}

int ps_row_read_line(const struct ps_row_state *state, const char *line, size_t length,
                     struct ps_run_outcome *ret_outcome) {
    struct ps_sheet *sheet = NULL;
    int error = parse(state->row, line, length, &sheet);
    if (error)
        return error;
    if (sheet->n_runs == 1)
        ps_row_outcome(state, &sheet->runs[0], ret_outcome);
    else
        error = -EINVAL;
    ps_sheet_free(sheet);
    return error;
}

unsigned ps_row_next_attempt(const struct ps_row_state *state, unsigned round, bool replacement) {
    if (!replacement)
        return 1;
    return state->attempt_round == round ? state->last_attempt + 1 : 2;
}

void ps_row_take(struct ps_row_state *state, unsigned round, bool replacement,
                 const struct ps_run_outcome *outcome) {
    state->last_attempt = ps_row_next_attempt(state, round, replacement);
    state->attempt_round = round;
    if (replacement) {
        state->replaced++;
        if (state->pending)
            state->pending--;
    } else {
        state->taken++;
        state->last_round = round;
    }
    /* Somebody's signal, a CPU taken away: once may be an accident, twice is how things are. */
    if (outcome->status == PS_ABORTED && state->aborted++ == 0) {
        state->pending++;
        return;
    }
    if (outcome->status != PS_OK && outcome->status != PS_SUSPECT) {
        state->finished = true;
        return;
    }
    if (outcome->disturbed) {
        state->disturbed++;
        if (state->replaced + state->pending < replacements_max(state->row))
            state->pending++;
    } else if (state->n_values < state->capacity) {
        for (unsigned m = 0; m < state->n_metrics; m++)
            state->values[(size_t)m * state->capacity + state->n_values] = outcome->values[m];
        state->n_values++;
    }
}

void ps_row_pass_over(struct ps_row_state *state, unsigned round, unsigned attempt) {
    state->last_attempt = attempt;
    state->attempt_round = round;
    if (attempt == 1 && round > state->last_round)
        state->last_round = round;
}

/* A replacement that no disturbed run asked for was an aborted one's, which has been passed over:
 * it stands in for the regular run. */
void ps_row_settle(struct ps_row_state *state) {
    unsigned for_aborted =
        state->replaced > state->disturbed ? state->replaced - state->disturbed : 0;
    state->replaced -= for_aborted;
    state->taken += for_aborted;
}

/* Every metric that was measured is within the wanted precision. */
static bool is_precise(const struct ps_row_state *state) {
    for (unsigned m = 0; m < state->n_metrics; m++) {
        const double *values = &state->values[(size_t)m * state->capacity];
        bool measured = state->n_values > 0;
        for (unsigned i = 0; i < state->n_values; i++)
            measured = measured && isfinite(values[i]);
        if (measured &&
            ps_row_precision(&state->metrics[m], values, state->n_values) > PS_PRECISION_WANTED)
            return false;
    }
    return state->n_values > 0;
}

bool ps_row_due(struct ps_row_state *state, unsigned round) {
    if (state->finished || state->last_round >= round)
        return false;
    if (state->taken < state->row->runs_planned)
        return true;
    if (state->pending) /* the stop rule waits for the replacements */
        return false;
    bool hopeless = 2 * state->disturbed > state->taken + state->replaced;
    state->finished = state->taken >= state->row->runs_max || hopeless || is_precise(state);
    return !state->finished;
}

void ps_row_forgive(struct ps_row_state *state) {
    unsigned disturbed = state->disturbed;
    if (state->finished)
        return;
    state->taken -= disturbed < state->taken ? disturbed : state->taken;
    state->disturbed = state->pending = state->replaced = state->replacements_due = 0;
}

double ps_row_expected(const struct ps_row_state *state) {
    if (state->finished)
        return 0;
    double left = ps_plan_expected_runs(state->row) - state->taken - state->replaced;
    double sure = state->pending;
    if (state->taken < state->row->runs_planned)
        sure += state->row->runs_planned - state->taken;
    return left > sure ? left : sure;
}
