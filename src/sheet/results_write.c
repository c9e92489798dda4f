/* SPDX-License-Identifier: MIT
 *
 * Result and end records, in the order of docs/FORMAT.md, and the exit code of a sheet. What a
 * measured row does not have (what was requested, what an imported cell said) is null.
 */
#include <math.h>
#include <string.h>

#include "core/record.h"
#include "sheet/results.h"

#define DIGITS 12

static void write_json(struct ps_json_writer *json, const struct ps_json *value) {
    if (!value) {
        ps_json_null(json);
        return;
    }
    switch (value->type) {
    case PS_JSON_NULL:
        ps_json_null(json);
        break;
    case PS_JSON_BOOL:
        ps_json_bool(json, value->u.boolean);
        break;
    case PS_JSON_INTEGER:
        ps_json_i64(json, value->u.integer);
        break;
    case PS_JSON_UNSIGNED:
        ps_json_u64(json, value->u.natural);
        break;
    case PS_JSON_DOUBLE:
        ps_json_double(json, value->u.number, 17);
        break;
    case PS_JSON_STRING:
        ps_json_string(json, value->u.string);
        break;
    case PS_JSON_ARRAY:
        ps_json_array_begin(json);
        for (const struct ps_json *item = value->u.first; item; item = item->next)
            write_json(json, item);
        ps_json_array_end(json);
        break;
    case PS_JSON_OBJECT:
        ps_json_object_begin(json);
        for (const struct ps_json *item = value->u.first; item; item = item->next) {
            ps_json_key(json, item->key);
            write_json(json, item);
        }
        ps_json_object_end(json);
        break;
    }
}

static void pair_null(struct ps_json_writer *json, const char *key) {
    ps_json_key(json, key);
    ps_json_null(json);
}

/* NAN is written as null. */
static void pair_number(struct ps_json_writer *json, const char *key, double value) {
    ps_json_pair_double(json, key, value, DIGITS);
}

static void pair_two(struct ps_json_writer *json, const char *key, const double values[2]) {
    ps_json_key(json, key);
    if (!isfinite(values[0]) || !isfinite(values[1])) {
        ps_json_null(json);
        return;
    }
    ps_json_array_begin(json);
    ps_json_double(json, values[0], DIGITS);
    ps_json_double(json, values[1], DIGITS);
    ps_json_array_end(json);
}

static void write_identity(struct ps_json_writer *json, const struct ps_result *result) {
    const struct ps_sheet_metric *metric = result->metric;
    ps_json_pair_string(json, "type", "result");
    ps_json_pair_string(json, "id", result->id);
    ps_json_pair_string(json, "source", result->source);
    ps_json_key(json, "params");
    write_json(json, result->c->params);
    ps_json_key(json, "place");
    write_json(json, result->c->place);
    ps_json_pair_string(json, "unit", ps_unit_name(metric->unit));
    ps_json_pair_string(json, "counts", metric->counts);
    ps_json_pair_string(json, "better", ps_better_name(metric->better));
    ps_json_pair_u64(json, "method", metric->method);
    ps_json_pair_string(json, "kind", ps_metric_kind_name(metric->kind));
    ps_json_pair_string(json, "sample_stat", ps_stat_name(metric->sample_stat));
    ps_json_pair_string(json, "run_stat", ps_stat_name(metric->run_stat));
    ps_json_pair_string(json, "bound", ps_bound_name(metric->bound));
    ps_json_pair_string(json, "status", ps_status_name(result->status));
    ps_json_pair_string(json, "reason", result->reason);
    ps_json_key(json, "quality");
    ps_json_array_begin(json);
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++)
        if (result->quality >> bit & 1)
            ps_json_string(json, ps_quality_name(bit));
    ps_json_array_end(json);
}

static void write_quantiles(struct ps_json_writer *json, const struct ps_result *result) {
    static const char *const names[6] = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};
    ps_json_key(json, "quantiles");
    if (!result->has_quantiles) {
        ps_json_null(json);
        return;
    }
    ps_json_object_begin(json);
    for (unsigned i = 0; i < 6; i++)
        pair_number(json, names[i], result->quantiles[i]);
    ps_json_object_end(json);
}

static void write_numbers(struct ps_json_writer *json, const struct ps_result *result) {
    pair_number(json, "value", result->value);
    pair_number(json, "mean", result->mean);
    pair_number(json, "min", result->min);
    pair_number(json, "max", result->max);
    pair_number(json, "raw", result->raw);
    pair_number(json, "cycles", result->cycles);
    pair_number(json, "median", result->median);
    pair_number(json, "mad", result->mad);
    pair_number(json, "cv", result->cv);
    pair_two(json, "ci95", result->ci95);
    pair_number(json, "best", result->best);
    pair_two(json, "modes", result->modes);
    write_quantiles(json, result);
    pair_number(json, "mhz", result->mhz);
    ps_json_key(json, "load");
    if (isfinite(result->load_all_pct) || isfinite(result->load_busiest_pct)) {
        ps_json_object_begin(json);
        pair_number(json, "all_pct", result->load_all_pct);
        pair_number(json, "busiest_pct", result->load_busiest_pct);
        ps_json_object_end(json);
    } else {
        ps_json_null(json);
    }
    ps_json_pair_u64(json, "n_runs", result->n_runs);
    ps_json_pair_u64(json, "n_disturbed", result->n_disturbed);
    pair_number(json, "gross", result->gross);
    pair_number(json, "baseline", result->baseline);
}

static void write_declared(struct ps_json_writer *json, const struct ps_result *result) {
    static const char *const none[] = {"limit", "requested", "granted", "role", "of", "order"};
    const struct ps_sheet_metric *metric = result->metric;
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        pair_null(json, none[i]);
    ps_json_pair_string(json, "alias_of", result->c->alias_of);
    ps_json_pair_string(json, "derived_from", metric->from);
    ps_json_pair_u64(json, "decimals", metric->decimals);
    ps_json_pair_bool(json, "positive", metric->positive);
    ps_json_pair_string(json, "depends",
                        metric->depends == PS_DEPENDS_NOTHING ? NULL
                                                              : ps_depends_name(metric->depends));
    ps_json_pair_string(json, "origin", "measured");
    pair_null(json, "printed");
    pair_null(json, "text");
}

static void write_relations(struct ps_json_writer *json, const struct ps_result *result) {
    const struct ps_sheet_case *c = result->c;
    ps_json_key(json, "relations");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < c->n_relations; i++) {
        const struct ps_sheet_relation *relation = &c->relations[i];
        if (strcmp(relation->metric, result->metric->name) != 0)
            continue;
        ps_json_object_begin(json);
        ps_json_pair_string(json, "type", ps_relation_name(relation->type));
        ps_json_pair_string(json, "rule", relation->rule);
        ps_json_pair_string(json, "other", relation->other);
        pair_number(json, "factor", relation->factor);
        pair_number(json, "tolerance", relation->tolerance);
        ps_json_pair_string(json, "cause", relation->cause);
        ps_json_object_end(json);
    }
    ps_json_array_end(json);
    ps_json_key(json, "published");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < c->n_published; i++) {
        const struct ps_sheet_published *published = &c->published[i];
        if (strcmp(published->metric, result->metric->name) != 0)
            continue;
        ps_record_published(json, NULL, published->page, published->table, published->row,
                            published->column, published->nth, published->comparable,
                            published->why);
    }
    ps_json_array_end(json);
}

void ps_record_result(struct ps_json_writer *json, const struct ps_result *result) {
    ps_json_object_begin(json);
    write_identity(json, result);
    write_numbers(json, result);
    write_declared(json, result);
    write_relations(json, result);
    ps_json_key(json, "rules");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < result->n_rules; i++) {
        const struct ps_result_rule *rule = &result->rules[i];
        ps_json_object_begin(json);
        ps_json_pair_string(json, "rule", rule->id);
        ps_json_pair_string(json, "type", rule->type);
        ps_json_pair_string(json, "other", rule->other);
        pair_number(json, "expected", rule->expected);
        pair_number(json, "got", rule->got);
        ps_json_pair_bool(json, "failed", rule->failed);
        ps_json_pair_string(json, "cause", rule->cause);
        ps_json_object_end(json);
    }
    ps_json_array_end(json);
    ps_json_object_end(json);
}

static void count_statuses(const struct ps_sheet *sheet, uint64_t counts[PS_N_STATUS]) {
    memset(counts, 0, PS_N_STATUS * sizeof(*counts));
    for (size_t i = 0; i < sheet->n_results; i++)
        counts[sheet->results[i].status]++;
}

void ps_record_end(struct ps_json_writer *json, const char *finished, int exit_code,
                   const struct ps_sheet *sheet) {
    uint64_t counts[PS_N_STATUS];
    count_statuses(sheet, counts);
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "end");
    ps_json_pair_string(json, "finished", finished);
    ps_json_pair_i64(json, "exit", exit_code);
    ps_json_key(json, "counts");
    ps_json_object_begin(json);
    for (unsigned i = 0; i < PS_N_STATUS; i++)
        ps_json_pair_u64(json, ps_status_name((enum ps_status)i), counts[i]);
    ps_json_object_end(json);
    ps_json_object_end(json);
}

int ps_results_exit_code(const struct ps_sheet *sheet, bool strict) {
    uint64_t counts[PS_N_STATUS];
    count_statuses(sheet, counts);
    if (counts[PS_UNSAFE])
        return 4;
    if (counts[PS_FAILED] || counts[PS_TIMEOUT] || counts[PS_ABORTED] ||
        (strict && counts[PS_DENIED]))
        return 1;
    if (counts[PS_SUSPECT])
        return 3;
    return counts[PS_OK] ? 0 : 5;
}
