/* SPDX-License-Identifier: MIT
 *
 * What lies behind a row, a sentence each: why it has no number, which rule it breaks, its two
 * modes, its quantiles, the load beside it. The same on every page that people read.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "report/cells.h"
#include "report/page.h"

#define DETAIL_MAX_BYTES 512

static void tell_rules(const struct ps_result *result, ps_page_line_fn line, void *context) {
    char text[DETAIL_MAX_BYTES], expected[PS_CELL_MAX], got[PS_CELL_MAX];
    unsigned decimals = result->metric->decimals;
    for (unsigned i = 0; i < result->n_rules; i++) {
        const struct ps_result_rule *rule = &result->rules[i];
        if (!rule->failed)
            continue;
        ps_cell_number(rule->expected, decimals, expected, sizeof(expected));
        ps_cell_number(rule->got, decimals, got, sizeof(got));
        snprintf(text, sizeof(text), "rule %s: expected %s, got %s%s%s%s%s", rule->id, expected,
                 got, rule->other ? ", against " : "", rule->other ? rule->other : "",
                 rule->cause ? "; likely " : "", rule->cause ? rule->cause : "");
        line(context, text);
    }
}

static void tell_quantiles(const struct ps_result *result, ps_page_line_fn line, void *context) {
    static const char *const names[] = {"p50 ", "p90 ", "p99 ", "p99.9 ", "p99.99 ", "max "};
    char data[DETAIL_MAX_BYTES], number[PS_CELL_MAX];
    struct ps_text text;
    ps_text_init(&text, data, sizeof(data));
    for (size_t i = 0; i < 6; i++) {
        if (!isfinite(result->quantiles[i]))
            continue;
        ps_cell_number(result->quantiles[i], result->metric->decimals, number, sizeof(number));
        ps_text_add(&text, text.length ? ", " : "");
        ps_text_add(&text, names[i]);
        ps_text_add(&text, number);
    }
    if (text.length > 0)
        line(context, data);
}

void ps_page_details(const struct ps_result *result, bool rules_only, ps_page_line_fn line,
                     void *context) {
    char text[DETAIL_MAX_BYTES], low[PS_CELL_MAX], high[PS_CELL_MAX];
    if (!ps_cell_has_number(result) && result->reason)
        line(context, result->reason);
    tell_rules(result, line, context);
    if (rules_only)
        return;
    if ((result->quality & PS_Q_BIMODAL) && isfinite(result->modes[0])) {
        ps_cell_number(result->modes[0], result->metric->decimals, low, sizeof(low));
        ps_cell_number(result->modes[1], result->metric->decimals, high, sizeof(high));
        snprintf(text, sizeof(text), "two modes: %s and %s", low, high);
        line(context, text);
    }
    if (result->has_quantiles && ps_cell_has_number(result))
        tell_quantiles(result, line, context);
    if (isfinite(result->load_all_pct) && result->load_all_pct >= 0) {
        snprintf(text, sizeof(text), "CPU load %.0f %% of all, %.0f %% of the busiest",
                 result->load_all_pct, result->load_busiest_pct);
        line(context, text);
    }
}

/* ---- Sources -------------------------------------------------------------------------------- */

static const struct ps_sheet_source *find_source(const struct ps_sheet *sheet, const char *id,
                                                 unsigned number) {
    for (size_t i = 0; i < sheet->n_sources; i++)
        if (sheet->sources[i].sheet == number && strcmp(sheet->sources[i].id, id) == 0)
            return &sheet->sources[i];
    return NULL;
}

static const char *board_name(const struct ps_sheet_source *source) {
    return ps_json_get_string(source->board, "id",
                              ps_json_get_string(source->board, "model", "unknown board"));
}

/* Two boards or two plans of one are both called "linux": what differs is said beside the id. */
void ps_page_source_label(const struct ps_sheet *sheet, const char *id, unsigned number, char *text,
                          size_t size_bytes) {
    struct ps_text out;
    const struct ps_sheet_source *source = find_source(sheet, id, number);
    bool shared = false, boards = false;
    for (size_t i = 0; source && i < sheet->n_sources; i++) {
        const struct ps_sheet_source *other = &sheet->sources[i];
        if (other == source || strcmp(other->id, id) != 0)
            continue;
        shared = true;
        boards = boards || strcmp(board_name(other), board_name(source)) != 0;
    }
    ps_text_init(&out, text, size_bytes);
    ps_text_add(&out, id);
    if (!shared)
        return;
    ps_text_add(&out, " (");
    ps_text_add(&out, boards ? board_name(source) : "");
    ps_text_add(&out, boards ? ", " : "");
    ps_text_add(&out, source->depth ? source->depth : "unknown plan");
    ps_text_add(&out, ", ");
    ps_text_add(&out, source->started ? source->started : "unknown date");
    ps_text_add(&out, ")");
}
