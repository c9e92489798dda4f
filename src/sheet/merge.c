/* SPDX-License-Identifier: MIT
 *
 * Several sheets, one page. Cases of the same id, source and board whose metrics mean the same are
 * one case, and their runs are pooled; all others stand beside each other, each with its own runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/results.h"
#include "sheet/sheet_build.h"

static bool same_string(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_json(const struct ps_json *a, const struct ps_json *b) {
    if (!a || !b || a->type != b->type || a->n != b->n)
        return a == b;
    switch (a->type) {
    case PS_JSON_NULL:
        return true;
    case PS_JSON_BOOL:
        return a->u.boolean == b->u.boolean;
    case PS_JSON_INTEGER:
        return a->u.integer == b->u.integer;
    case PS_JSON_UNSIGNED:
        return a->u.natural == b->u.natural;
    case PS_JSON_DOUBLE:
        return !(a->u.number < b->u.number) && !(a->u.number > b->u.number);
    case PS_JSON_STRING:
        return strcmp(a->u.string, b->u.string) == 0;
    case PS_JSON_ARRAY:
    case PS_JSON_OBJECT:
        break;
    }
    const struct ps_json *x = a->u.first, *y = b->u.first;
    while (x && y && same_string(x->key, y->key) && same_json(x, y)) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

static bool same_metric(const struct ps_sheet_metric *a, const struct ps_sheet_metric *b) {
    return strcmp(a->name, b->name) == 0 && a->method == b->method && a->unit == b->unit &&
           a->kind == b->kind && a->bound == b->bound && a->sample_stat == b->sample_stat &&
           a->run_stat == b->run_stat && a->derivation == b->derivation &&
           !(a->factor < b->factor) && !(a->factor > b->factor);
}

static bool same_case(const struct ps_sheet_case *a, const struct ps_sheet_case *b) {
    bool same = strcmp(a->id, b->id) == 0 && strcmp(a->source, b->source) == 0 &&
                a->n_metrics == b->n_metrics && same_json(a->params, b->params);
    for (unsigned i = 0; same && i < a->n_metrics; i++)
        same = same_metric(&a->metrics[i], &b->metrics[i]);
    return same;
}

/* Boards that are not named may be the same; two that are named must be. */
static bool same_board(const struct ps_json *a, const struct ps_json *b) {
    static const char *const keys[] = {"id", "model", "revision"};
    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *left = ps_json_get_string(a, keys[i], NULL);
        const char *right = ps_json_get_string(b, keys[i], NULL);
        if (left && right && strcmp(left, right) != 0)
            return false;
    }
    return true;
}

static const struct ps_json *board_of(const struct ps_sheet *sheet, const struct ps_sheet_case *c) {
    for (size_t i = 0; i < sheet->n_sources; i++)
        if (sheet->sources[i].sheet == c->sheet && strcmp(sheet->sources[i].id, c->source) == 0)
            return sheet->sources[i].board;
    return ps_json_get(sheet->header, "board");
}

static unsigned sheets_of(const struct ps_sheet *sheet) {
    unsigned most = 0;
    for (size_t i = 0; i < sheet->n_sources; i++)
        most = sheet->sources[i].sheet > most ? sheet->sources[i].sheet : most;
    for (size_t i = 0; i < sheet->n_cases; i++)
        most = sheet->cases[i].sheet > most ? sheet->cases[i].sheet : most;
    return most + 1;
}

/* Arrays of both, before anything of `into` is changed. */
struct merged {
    struct ps_sheet_source *sources;
    struct ps_sheet_table *tables;
    struct ps_sheet_case *cases;
    struct ps_sheet_run *runs;
    size_t n_sources, n_tables, n_cases, n_runs;
};

static void *joined(const void *a, size_t n_a, size_t n_b, size_t element_bytes) {
    char *array = calloc(n_a + n_b + 1, element_bytes);
    if (array && n_a)
        memcpy(array, a, n_a * element_bytes);
    return array;
}

static bool merged_init(struct merged *merged, const struct ps_sheet *into,
                        const struct ps_sheet *from) {
    *merged = (struct merged){
        .sources = joined(into->sources, into->n_sources, from->n_sources, sizeof(*into->sources)),
        .tables = joined(into->tables, into->n_tables, from->n_tables, sizeof(*into->tables)),
        .cases = joined(into->cases, into->n_cases, from->n_cases, sizeof(*into->cases)),
        .runs = joined(into->runs, into->n_runs, from->n_runs, sizeof(*into->runs)),
        .n_sources = into->n_sources,
        .n_tables = into->n_tables,
        .n_cases = into->n_cases,
        .n_runs = into->n_runs,
    };
    if (merged->sources && merged->tables && merged->cases && merged->runs)
        return true;
    free(merged->sources);
    free(merged->tables);
    free(merged->cases);
    free(merged->runs);
    return false;
}

/* Which case in `into` the runs of `c` go to, or NULL. */
static struct ps_sheet_case *find_pool(struct merged *merged, const struct ps_sheet *into,
                                       const struct ps_sheet *from, const struct ps_sheet_case *c) {
    for (size_t i = 0; i < into->n_cases; i++)
        if (same_case(&merged->cases[i], c) &&
            same_board(board_of(into, &into->cases[i]), board_of(from, c)))
            return &merged->cases[i];
    return NULL;
}

/* Sources that some case that stands apart comes from, or that are new. */
static void merge_sources(struct merged *merged, const struct ps_sheet *into,
                          const struct ps_sheet *from, unsigned base) {
    for (size_t i = 0; i < from->n_sources; i++) {
        const struct ps_sheet_source *source = &from->sources[i];
        bool needed = true;
        for (size_t j = 0; j < into->n_sources; j++)
            needed = needed && strcmp(into->sources[j].id, source->id) != 0;
        for (size_t j = into->n_cases; j < merged->n_cases && !needed; j++)
            needed = merged->cases[j].sheet == source->sheet + base &&
                     strcmp(merged->cases[j].source, source->id) == 0;
        if (!needed)
            continue;
        merged->sources[merged->n_sources] = *source;
        merged->sources[merged->n_sources++].sheet += base;
    }
}

static void merge_tables(struct merged *merged, const struct ps_sheet *from) {
    for (size_t i = 0; i < from->n_tables; i++) {
        bool known = false;
        for (size_t j = 0; j < merged->n_tables && !known; j++)
            known = strcmp(merged->tables[j].id, from->tables[i].id) == 0;
        if (!known)
            merged->tables[merged->n_tables++] = from->tables[i];
    }
}

/* Cases, and in sheet_of[] the number under which the runs of each go. */
static void merge_cases(struct merged *merged, const struct ps_sheet *into,
                        const struct ps_sheet *from, unsigned base, unsigned *sheet_of) {
    for (size_t i = 0; i < from->n_cases; i++) {
        const struct ps_sheet_case *c = &from->cases[i];
        struct ps_sheet_case *pool = find_pool(merged, into, from, c);
        if (pool) {
            if (pool->status != PS_OK &&
                c->status == PS_OK) { /* what one could not, the other did */
                pool->status = PS_OK;
                pool->reason = NULL;
            }
            if (pool->runs_planned < c->runs_planned)
                pool->runs_planned = c->runs_planned;
            pool->quality |= c->quality;
            sheet_of[i] = pool->sheet;
            continue;
        }
        struct ps_sheet_case *added = &merged->cases[merged->n_cases];
        *added = *c;
        added->order = (unsigned)merged->n_cases++;
        added->sheet += base;
        sheet_of[i] = added->sheet;
    }
}

static bool same_run(const struct ps_sheet_run *a, const struct ps_sheet_run *b) {
    return a->seq == b->seq && a->sheet_id && b->sheet_id &&
           strcmp(a->sheet_id, b->sheet_id) == 0 && strcmp(a->source, b->source) == 0 &&
           strcmp(a->case_id, b->case_id) == 0;
}

/* A sheet that is named twice, or once whole and once as it was before --resume, has each of its
 * runs once: the same numbers again would only narrow the interval. */
static bool is_repeated(const struct ps_sheet *into, const struct ps_sheet_run *run) {
    for (size_t i = 0; i < into->n_runs; i++)
        if (same_run(&into->runs[i], run))
            return true;
    return false;
}

/* Returns how many were left out. */
static size_t merge_runs(struct merged *merged, const struct ps_sheet *into,
                         const struct ps_sheet *from, const unsigned *sheet_of) {
    size_t n_repeated = 0;
    for (size_t i = 0; i < from->n_runs; i++) {
        const struct ps_sheet_run *run = &from->runs[i];
        if (is_repeated(into, run)) {
            n_repeated++;
            continue;
        }
        for (size_t j = 0; j < from->n_cases; j++) {
            const struct ps_sheet_case *c = &from->cases[j];
            if (c->sheet != run->sheet || strcmp(c->id, run->case_id) != 0 ||
                strcmp(c->source, run->source) != 0)
                continue;
            merged->runs[merged->n_runs] = *run;
            merged->runs[merged->n_runs++].sheet = sheet_of[j];
            break;
        }
    }
    return n_repeated;
}

int ps_sheet_merge(struct ps_sheet *into, const struct ps_sheet *from) {
    struct ps_sheet_memory *memory = into->memory;
    struct merged merged;
    unsigned *sheet_of = calloc(from->n_cases + 1, sizeof(*sheet_of));
    if (!sheet_of || !merged_init(&merged, into, from)) {
        free(sheet_of);
        return -ENOMEM;
    }
    unsigned base = sheets_of(into);
    merge_tables(&merged, from);
    merge_cases(&merged, into, from, base, sheet_of);
    merge_sources(&merged, into, from, base);
    into->n_repeated += merge_runs(&merged, into, from, sheet_of);
    free(sheet_of);
    free(into->sources);
    free(into->tables);
    free(into->cases);
    free(into->runs);
    into->sources = merged.sources;
    into->tables = merged.tables;
    into->cases = merged.cases;
    into->runs = merged.runs;
    memory->sources_max = into->n_sources = merged.n_sources;
    memory->tables_max = into->n_tables = merged.n_tables;
    memory->cases_max = into->n_cases = merged.n_cases;
    memory->runs_max = into->n_runs = merged.n_runs;
    into->incomplete = into->incomplete || from->incomplete;
    into->truncated = into->truncated || from->truncated;
    int error = ps_results_build(into);
    return error ? error : ps_results_judge(into);
}
