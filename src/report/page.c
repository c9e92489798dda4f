/* SPDX-License-Identifier: MIT
 *
 * Arranges results into tables and groups. Nothing is printed here.
 */
#include "report/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cells.h"

/* All arrays of a page hang in one chain. */
struct block {
    struct block *next;
    max_align_t data[];
};

static void *page_alloc(struct ps_page *page, size_t n, size_t item_bytes) {
    struct block *block = NULL;
    size_t bytes;
    if (__builtin_mul_overflow(n, item_bytes, &bytes) || bytes > SIZE_MAX - sizeof(*block))
        return NULL;
    block = calloc(1, sizeof(*block) + bytes + 1);
    if (!block)
        return NULL;
    block->next = page->memory;
    page->memory = block;
    return block->data;
}

void ps_page_done(struct ps_page *page) {
    for (struct block *block = page->memory, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    memset(page, 0, sizeof(*page));
}

static bool same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static size_t source_index(const struct ps_page *page, const struct ps_result *result) {
    size_t i = 0;
    while (i < page->n_sources && (page->sources[i].sheet != result->c->sheet ||
                                   !same(page->sources[i].id, result->source)))
        i++;
    return i;
}

/* A row stands in its table when it has a number, or should have one and was denied it by a fault;
 * what cannot run here is in the groups only. */
static bool in_table(const struct ps_result *result) {
    return ps_cell_has_number(result) || result->status == PS_FAILED ||
           result->status == PS_TIMEOUT || result->status == PS_ABORTED ||
           result->status == PS_UNSAFE;
}

static bool worth_a_headline(const struct ps_result *result) {
    return result->c->headline || !ps_cell_has_number(result) || result->status == PS_SUSPECT;
}

static size_t chapter_length(const char *table) {
    return strcspn(table, ".");
}

static bool chapter_fits(const struct ps_sheet *sheet, const char *table) {
    size_t length = chapter_length(table), n = 0;
    for (size_t i = 0; i < sheet->n_results; i++) {
        const char *other = sheet->results[i].c->table;
        n += in_table(&sheet->results[i]) && strncmp(other, table, length) == 0 &&
             other[length] == '.';
    }
    return n <= PS_PAGE_CHAPTER_ROWS;
}

/* Adds a result to the row of the same id, or as a new row. */
static int place_result(struct ps_page *page, struct ps_page_table *table,
                        const struct ps_result *result) {
    size_t source = source_index(page, result);
    for (size_t i = 0; i < table->n_rows; i++) {
        struct ps_page_row *row = &table->rows[i];
        if (!row->by_source[source] && same(row->result->id, result->id)) {
            row->by_source[source] = result;
            table->side_by_side = true;
            return 0;
        }
    }
    struct ps_page_row *row = &table->rows[table->n_rows];
    row->by_source = page_alloc(page, page->n_sources, sizeof(void *));
    if (!row->by_source)
        return -ENOMEM;
    row->by_source[source] = result;
    row->result = result;
    row->source = source;
    table->n_rows++;
    return 0;
}

static int fill_table(struct ps_page *page, const struct ps_sheet *sheet, bool all,
                      struct ps_page_table *table) {
    size_t n = 0;
    const char *metric = NULL;
    table->chapter_length = chapter_length(table->id);
    all = all || chapter_fits(sheet, table->id);
    for (size_t i = 0; i < sheet->n_results; i++) {
        const struct ps_result *result = &sheet->results[i];
        if (strcmp(result->c->table, table->id) != 0 || !in_table(result))
            continue;
        n++;
        table->several_metrics =
            table->several_metrics || (metric && !same(metric, result->metric->name));
        metric = result->metric->name;
    }
    table->rows = page_alloc(page, n, sizeof(*table->rows));
    if (!table->rows)
        return -ENOMEM;
    for (size_t i = 0; i < sheet->n_results; i++) {
        const struct ps_result *result = &sheet->results[i];
        if (strcmp(result->c->table, table->id) != 0 || !in_table(result))
            continue;
        if (ps_cell_has_number(result))
            page->n_numbers++;
        if (!all && !worth_a_headline(result)) {
            table->n_hidden++;
            continue;
        }
        int error = place_result(page, table, result);
        if (error)
            return error;
    }
    page->n_hidden += table->n_hidden;
    return 0;
}

static int make_tables(struct ps_page *page, const struct ps_sheet *sheet, bool all) {
    page->tables = page_alloc(page, sheet->n_cases, sizeof(*page->tables));
    if (!page->tables)
        return -ENOMEM;
    for (size_t i = 0; i < sheet->n_cases; i++) {
        const char *id = sheet->cases[i].table;
        size_t first = 0;
        while (strcmp(sheet->cases[first].table, id) != 0)
            first++;
        if (first < i) /* its table is there already */
            continue;
        struct ps_page_table *table = &page->tables[page->n_tables];
        memset(table, 0, sizeof(*table));
        table->id = table->title = id;
        for (size_t t = 0; t < sheet->n_tables; t++)
            if (strcmp(sheet->tables[t].id, id) == 0) {
                table->title = sheet->tables[t].title ? sheet->tables[t].title : id;
                table->about = sheet->tables[t].about;
            }
        page->n_tables++;
        int error = fill_table(page, sheet, all, table);
        if (error)
            return error;
    }
    size_t kept = 0;
    for (size_t t = 0; t < page->n_tables; t++)
        if (page->tables[t].n_rows + page->tables[t].n_hidden > 0)
            page->tables[kept++] = page->tables[t];
    page->n_tables = kept;
    return 0;
}

/* What a person can do something about comes first. */
static const enum ps_status group_order[] = {PS_UNSAFE, PS_FAILED,      PS_TIMEOUT, PS_ABORTED,
                                             PS_DENIED, PS_UNSUPPORTED, PS_SKIPPED};

static int make_groups(struct ps_page *page, const struct ps_sheet *sheet) {
    page->groups = page_alloc(page, sheet->n_results, sizeof(*page->groups));
    if (!page->groups)
        return -ENOMEM;
    for (size_t o = 0; o < sizeof(group_order) / sizeof(group_order[0]); o++) {
        size_t first_of_status = page->n_groups;
        for (size_t i = 0; i < sheet->n_results; i++) {
            const struct ps_result *result = &sheet->results[i];
            if (result->status != group_order[o])
                continue;
            size_t g = first_of_status;
            while (g < page->n_groups && !same(page->groups[g].reason, result->reason))
                g++;
            struct ps_page_group *group = &page->groups[g];
            if (g == page->n_groups) {
                group->status = result->status;
                group->reason = result->reason;
                group->results = page_alloc(page, sheet->n_results - i, sizeof(void *));
                if (!group->results)
                    return -ENOMEM;
                page->n_groups++;
            }
            /* The metrics of a case follow each other: one line for all. */
            if (group->n == 0 || group->results[group->n - 1]->c != result->c)
                group->results[group->n++] = result;
        }
    }
    return 0;
}

void ps_page_group_item(const struct ps_page_group *group, bool names, size_t *at, char *text,
                        size_t size_bytes) {
    const struct ps_sheet_case *c = group->results[*at]->c;
    size_t n = 1;
    while (!names && *at + n < group->n && strcmp(group->results[*at + n]->c->table, c->table) == 0)
        n++;
    if (names)
        snprintf(text, size_bytes, "%s", c->id);
    else
        snprintf(text, size_bytes, "%s (%zu)", c->table, n);
    *at += n;
}

int ps_page_make(const struct ps_sheet *sheet, bool all, struct ps_page *ret_page) {
    memset(ret_page, 0, sizeof(*ret_page));
    int error = 0;
    ret_page->sources = page_alloc(ret_page, sheet->n_results, sizeof(*ret_page->sources));
    if (!ret_page->sources) {
        error = -ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < sheet->n_results; i++) {
        const struct ps_result *result = &sheet->results[i];
        if (source_index(ret_page, result) < ret_page->n_sources)
            continue;
        struct ps_page_source *source = &ret_page->sources[ret_page->n_sources++];
        source->id = result->source;
        source->sheet = result->c->sheet;
        ps_page_source_label(sheet, source->id, source->sheet, source->label,
                             sizeof(source->label));
    }
    error = make_tables(ret_page, sheet, all);
    if (!error)
        error = make_groups(ret_page, sheet);
out:
    if (error)
        ps_page_done(ret_page);
    return error;
}
