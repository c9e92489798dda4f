/* SPDX-License-Identifier: MIT
 *
 * Applies the rules to the results: rows as the rules see them in, findings out and onto the
 * results. Of two rows that are in the wrong order, or the same, nobody knows which is wrong: both
 * are suspect.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "sheet/memory_pool.h"
#include "sheet/results.h"

/* Ids are at most some 250 bytes; places are a part of them. */
#define PLACE_BYTES 128

struct finding {
    size_t result;
    struct ps_result_rule rule;
};

struct judge {
    struct ps_sheet *sheet;
    struct ps_memory_pool pool; /* what is only needed while judging */
    struct ps_rule_row *rows;
    struct finding *findings;
    size_t n_findings, findings_max;
    bool short_of_memory;
};

static const char *copy(struct judge *judge, const char *string) {
    size_t bytes = strlen(string) + 1;
    char *made = ps_memory_pool_alloc(&judge->pool, bytes);
    if (!made)
        return NULL;
    return memcpy(made, string, bytes);
}

/* All places but threads. */
static const char *place_of(struct judge *judge, const struct ps_sheet_case *c) {
    char text[PLACE_BYTES];
    int64_t cpu = ps_json_get_i64(c->place, "cpu", -1);
    int used = snprintf(text, sizeof(text), "%.64s", c->target ? c->target : "");
    char *end = text + used;
    size_t left = sizeof(text) - (size_t)used;
    if (cpu >= 0)
        snprintf(end, left, "@cpu%lld", (long long)cpu);
    else if (c->cluster >= 0)
        snprintf(end, left, "@cl%d", c->cluster);
    return copy(judge, text);
}

static const char *key_of(struct judge *judge, const struct ps_sheet_case *c,
                          const struct ps_sheet_metric *metric) {
    size_t bytes = strlen(c->table) + strlen(c->name) + strlen(metric->name) + 3;
    char *key = ps_memory_pool_alloc(&judge->pool, bytes);
    if (key)
        snprintf(key, bytes, "%s/%s:%s", c->table, c->name, metric->name);
    return key;
}

/* Cycles of a row that is not set to a clock, by the clock that its runs had. */
static double cycles_of(const struct ps_result *result) {
    const struct ps_sheet_metric *metric = result->metric;
    if (isfinite(result->cycles) || (metric->kind != PS_TIME && metric->kind != PS_RATE))
        return result->cycles;
    double raw = result->quality & PS_Q_BELOW_RESOLUTION ? result->value : result->raw;
    double factor = ps_unit_factor(metric->unit);
    double ns = metric->kind == PS_RATE ? 1e9 / (raw * factor) : raw * factor;
    return ns * result->mhz / 1000.0;
}

static bool fill_relations(struct judge *judge, const struct ps_result *result,
                           struct ps_rule_row *row) {
    const struct ps_sheet_case *c = result->c;
    struct ps_rule_relation *relations =
        ps_memory_pool_alloc(&judge->pool, c->n_relations * sizeof(*relations));
    if (!relations)
        return false;
    for (unsigned i = 0; i < c->n_relations; i++) {
        const struct ps_sheet_relation *relation = &c->relations[i];
        if (strcmp(relation->metric, result->metric->name) != 0)
            continue;
        relations[row->n_relations++] =
            (struct ps_rule_relation){.type = relation->type,
                                      .rule = relation->rule,
                                      .other = relation->other ? relation->other : "",
                                      .cause = relation->cause,
                                      .factor = relation->factor,
                                      .tolerance = relation->tolerance};
    }
    row->relations = relations;
    return true;
}

static unsigned usable_cpus(const struct ps_sheet *sheet, const struct ps_sheet_case *c) {
    for (size_t i = 0; i < sheet->n_sources; i++)
        if (sheet->sources[i].sheet == c->sheet && strcmp(sheet->sources[i].id, c->source) == 0)
            return sheet->sources[i].usable_cpus;
    return 0;
}

/* Rows of different sheets are of different machines: the source's name tells them apart. */
static const char *source_of(struct judge *judge, const struct ps_sheet_case *c) {
    if (c->sheet == 0)
        return c->source;
    size_t bytes = strlen(c->source) + 16;
    char *source = ps_memory_pool_alloc(&judge->pool, bytes);
    if (source)
        snprintf(source, bytes, "%s %u", c->source, c->sheet);
    return source;
}

static bool fill_row(struct judge *judge, const struct ps_result *result, struct ps_rule_row *row) {
    const struct ps_sheet_case *c = result->c;
    bool has_value = result->status == PS_OK || result->status == PS_SUSPECT;
    *row = (struct ps_rule_row){
        .id = result->id,
        .key = key_of(judge, c, result->metric),
        .table = c->table,
        .source = source_of(judge, c),
        .alias_of = c->alias_of,
        .has_value = has_value,
        .positive = result->metric->positive,
        .below_resolution = result->quality & PS_Q_BELOW_RESOLUTION,
        .threads = c->threads,
        .usable_cpus = usable_cpus(judge->sheet, c),
        .place = place_of(judge, c),
        .value = result->value,
        .min = result->min,
        .max = result->max,
        .unit = result->metric->unit,
        .cycles = cycles_of(result),
        .floor_cycles = result->metric->floor_cycles,
        .limit = NAN,
    };
    return row->key && row->place && row->source && fill_relations(judge, result, row);
}

static void add(struct judge *judge, size_t result, const struct ps_rule_finding *finding,
                const char *other) {
    if (judge->n_findings == judge->findings_max) {
        size_t wanted = judge->findings_max ? 2 * judge->findings_max : 16;
        void *grown = reallocarray(judge->findings, wanted, sizeof(*judge->findings));
        if (!grown) {
            judge->short_of_memory = true;
            return;
        }
        judge->findings = grown;
        judge->findings_max = wanted;
    }
    judge->findings[judge->n_findings++] = (struct finding){.result = result,
                                                            .rule = {.id = finding->rule,
                                                                     .type = finding->type,
                                                                     .cause = finding->cause,
                                                                     .other = other,
                                                                     .failed = finding->failed,
                                                                     .expected = finding->expected,
                                                                     .got = finding->got}};
}

static void found(void *context, const struct ps_rule_finding *finding) {
    struct judge *judge = context;
    bool both = strcmp(finding->type, "ORDER") == 0 || strcmp(finding->type, "DUPLICATE") == 0;
    const struct ps_result *results = judge->sheet->results;
    const char *other = finding->other_key && finding->other_key[0] ? finding->other_key : NULL;
    if (finding->other != SIZE_MAX)
        other = results[finding->other].id;
    add(judge, finding->row, finding, other);
    if (finding->failed && both && finding->other != SIZE_MAX)
        add(judge, finding->other, finding, results[finding->row].id);
}

static int compare_findings(const void *a, const void *b) {
    const struct finding *x = a, *y = b;
    if (x->result != y->result)
        return x->result < y->result ? -1 : 1;
    return (int)y->rule.failed - (int)x->rule.failed; /* broken rules first */
}

static int put_findings(struct judge *judge) {
    struct ps_sheet *sheet = judge->sheet;
    if (judge->n_findings)
        qsort(judge->findings, judge->n_findings, sizeof(*judge->findings), compare_findings);
    for (size_t i = 0; i < judge->n_findings;) {
        size_t end = i;
        while (end < judge->n_findings && judge->findings[end].result == judge->findings[i].result)
            end++;
        struct ps_result *result = &sheet->results[judge->findings[i].result];
        struct ps_result_rule *rules = ps_sheet_alloc(sheet, (end - i) * sizeof(*rules));
        if (!rules)
            return -ENOMEM;
        result->rules = rules;
        result->n_rules = (unsigned)(end - i);
        for (size_t j = i; j < end; j++)
            rules[j - i] = judge->findings[j].rule;
        if (rules[0].failed && result->status == PS_OK) {
            result->status = PS_SUSPECT;
            result->reason = rules[0].cause ? rules[0].cause : "A sanity rule does not hold.";
        }
        i = end;
    }
    return 0;
}

int ps_results_judge(struct ps_sheet *sheet) {
    struct judge judge = {.sheet = sheet};
    int error = -ENOMEM;
    ps_memory_pool_init(&judge.pool, 4096);
    judge.rows = calloc(sheet->n_results + 1, sizeof(*judge.rows));
    if (!judge.rows)
        goto out;
    for (size_t i = 0; i < sheet->n_results; i++)
        if (!fill_row(&judge, &sheet->results[i], &judge.rows[i]))
            goto out;
    if (ps_rules_check(judge.rows, sheet->n_results, found, &judge) == SIZE_MAX ||
        judge.short_of_memory)
        goto out;
    error = put_findings(&judge);
out:
    free(judge.rows);
    free(judge.findings);
    ps_memory_pool_done(&judge.pool);
    return error;
}
