/* SPDX-License-Identifier: MIT
 *
 * What goes onto a page: the tables with their rows, one column a source where several sources
 * measured the same row, and the rows without a number, grouped by what would help.
 */
#ifndef PS_REPORT_PAGE_H
#define PS_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "sheet/sheet.h"

/* A chapter with more rows than this shows its headline rows unless all are asked for: a screen. */
#define PS_PAGE_CHAPTER_ROWS 40

struct ps_page_row {
    const struct ps_result **by_source; /* page->n_sources of them, NULL where there is none */
    const struct ps_result *result;     /* the first that is there */
};

struct ps_page_table {
    const char *id, *title, *about; /* title is the id where the sheet has none */
    size_t chapter_length;          /* of id */
    struct ps_page_row *rows;
    size_t n_rows;
    size_t n_hidden;      /* rows with a number that are not on the page */
    bool side_by_side;    /* some row has more than one source */
    bool several_metrics; /* the metric is part of a row's name */
};

struct ps_page_group {
    enum ps_status status;
    const char *reason;
    const struct ps_result **results; /* one a case */
    size_t n;
};

struct ps_page {
    const char **sources;
    size_t n_sources;
    struct ps_page_table *tables; /* those with rows or hidden rows */
    size_t n_tables;
    struct ps_page_group *groups;
    size_t n_groups;
    size_t n_numbers, n_hidden;
    void *memory;
};

/* 0 or -ENOMEM. The page points into the sheet. */
int ps_page_make(const struct ps_sheet *sheet, bool all, struct ps_page *ret_page);
void ps_page_done(struct ps_page *page);

/* The conditions of a sheet, a label and a text each, in order. */
void ps_page_conditions(const struct ps_sheet *sheet,
                        void (*line)(void *context, const char *label, const char *text),
                        void *context);
/* "this sheet was cut off: rebuilt from 57 runs"; false when it is whole. */
bool ps_page_cut_off(const struct ps_sheet *sheet, char *text, size_t size_bytes);
/* The command that measures the same again. */
void ps_page_replay(const struct ps_sheet *sheet, char *text, size_t size_bytes);

#endif
