/* SPDX-License-Identifier: MIT
 *
 * The plan: rows from all tables, the runs they get, and a hash that says whether two plans are the
 * same. What a row is stands in plan_expand.c, what it costs in plan_budget.c.
 */
#include "harness/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/filter.h"
#include "harness/plan_budget.h"
#include "harness/plan_expand.h"
#include "sys/clock_speed.h"

/* --golden gives the same inputs in every invocation; the digits are those of pi. */
#define PS_GOLDEN_SEED UINT64_C(3141592653589793238)

static void hash_bytes(uint64_t *hash, const void *data, size_t length) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++)
        *hash = (*hash ^ bytes[i]) * UINT64_C(1099511628211); /* FNV-1a, 64 bits */
}

static void hash_u64(uint64_t *hash, uint64_t value) {
    hash_bytes(hash, &value, sizeof(value));
}

/* What makes runs of two invocations poolable: rows, methods, lengths and depth. The seed and the
 * machine's state are not in it. */
static void hash_plan(struct ps_plan *plan) {
    uint64_t hash = UINT64_C(14695981039346656037);
    hash_u64(&hash, plan->depth);
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        hash_bytes(&hash, row->id, strlen(row->id) + 1);
        hash_u64(&hash, row->bound);
        hash_u64(&hash, row->status == PS_OK);
        hash_u64(&hash, row->runs_planned);
        hash_u64(&hash, row->runs_max);
        for (unsigned m = 0; m < row->bench->n_metrics; m++) {
            const struct ps_metric *metric = &row->bench->metrics[m];
            hash_bytes(&hash, metric->name, strlen(metric->name) + 1);
            hash_u64(&hash, metric->method);
        }
        hash_u64(&hash, row->settings.warm_up_ns);
        hash_u64(&hash, row->settings.warm_up_cap_ns);
        hash_u64(&hash, row->settings.sample_ns);
        hash_u64(&hash, row->settings.window_ns);
        hash_u64(&hash, row->settings.single_events);
        hash_u64(&hash, row->settings.events);
        for (unsigned p = 0; p < row->c.n_params; p++) {
            const struct ps_param *param = &row->c.params[p];
            hash_bytes(&hash, param->name, strlen(param->name) + 1);
            hash_u64(&hash, (uint64_t)param->value);
            if (param->text)
                hash_bytes(&hash, param->text, strlen(param->text) + 1);
        }
    }
    snprintf(plan->hash, sizeof(plan->hash), "%016llx", (unsigned long long)hash);
}

/* Each filter that adds must have found something: a misspelt name is an error, not an empty page.
 */
static int check_filters(const struct ps_plan *plan, const struct ps_plan_options *options,
                         char *ret_why, size_t why_bytes) {
    for (size_t f = 0; f < options->n_filters; f++) {
        bool found = options->filters[f][0] == '!';
        for (size_t i = 0; i < plan->n_rows && !found; i++)
            found =
                ps_filter_selects(&options->filters[f], 1, plan->rows[i].id, plan->rows[i].c.tags);
        if (!found) {
            snprintf(ret_why, why_bytes,
                     "'%s' selects nothing; `perfsheet list` shows what there is",
                     options->filters[f]);
            return -EINVAL;
        }
    }
    if (plan->n_rows == 0) {
        snprintf(ret_why, why_bytes, "the filters together leave nothing to measure");
        return -EINVAL;
    }
    return 0;
}

int ps_plan_make(const struct ps_registry *registry, const struct ps_environment *environment,
                 const struct ps_plan_options *options, struct ps_plan *ret_plan, char *ret_why,
                 size_t why_bytes) {
    struct ps_plan plan = {.depth = options->depth, .seed = options->seed};
    if (plan.seed == 0)
        plan.seed = options->golden ? PS_GOLDEN_SEED : ps_now_ns();

    if (ps_cpu_set_count(&environment->topology.usable) == 0) {
        snprintf(ret_why, why_bytes,
                 "no CPU can be used: the affinity mask and the online CPUs have "
                 "none in common; --cpus LIST names some");
        return -EINVAL;
    }
    int error = ps_plan_expand(registry, environment, options, &plan);
    if (!error)
        error = check_filters(&plan, options, ret_why, why_bytes);
    if (!error)
        error = ps_plan_budget(options, environment->core_shared, &plan);
    if (error) {
        if (error == -ENOMEM)
            snprintf(ret_why, why_bytes, "not enough memory for the plan");
        ps_plan_free(&plan);
        return error;
    }
    if (options->threads > environment->topology.n_threads)
        snprintf(plan.warning, sizeof(plan.warning),
                 "--threads %u is obeyed, but only %u CPUs can be had: threads will wait for each "
                 "other, and throttling is possible",
                 options->threads, environment->topology.n_threads);
    hash_plan(&plan);
    *ret_plan = plan;
    return 0;
}

void ps_plan_free(struct ps_plan *plan) {
    struct ps_plan_block *block = plan->memory;
    while (block) {
        struct ps_plan_block *next = block->next;
        free(block);
        block = next;
    }
    free(plan->rows);
    memset(plan, 0, sizeof(*plan));
}

static bool has_table(const struct ps_sheet *sheet, const struct ps_bench *bench) {
    char id[2 * PS_NAME_MAX];
    snprintf(id, sizeof(id), "%s.%s", bench->chapter, bench->table);
    for (size_t i = 0; sheet && i < sheet->n_tables; i++)
        if (strcmp(sheet->tables[i].id, id) == 0)
            return true;
    return false;
}

static bool has_case(const struct ps_sheet *sheet, const char *source, const char *id) {
    for (size_t i = 0; sheet && i < sheet->n_cases; i++)
        if (strcmp(sheet->cases[i].id, id) == 0 && strcmp(sheet->cases[i].source, source) == 0)
            return true;
    return false;
}

int ps_plan_write(const struct ps_plan *plan, const char *source, struct ps_json_writer *json) {
    return ps_plan_write_missing(plan, source, NULL, json);
}

int ps_plan_write_missing(const struct ps_plan *plan, const char *source,
                          const struct ps_sheet *sheet, struct ps_json_writer *json) {
    const struct ps_bench *table = NULL;
    int error = 0;
    for (size_t i = 0; i < plan->n_rows && !error; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        if (row->bench != table) {
            table = row->bench;
            if (!has_table(sheet, table)) {
                ps_record_table(json, table);
                error = ps_json_line_end(json);
            }
            if (error)
                break;
        }
        if (has_case(sheet, source, row->id))
            continue;
        ps_record_case(json, row->bench, &row->c, row->id, source, row->bound, row->runs_planned,
                       row->status, row->reason);
        error = ps_json_line_end(json);
    }
    return error;
}
