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

/* A group with more rows than this is told by its tables and their numbers of rows. */
#define PS_PAGE_GROUP_NAMES 8

typedef void (*ps_page_line_fn)(void *context, const char *text);

struct ps_page_source {
    const char *id;
    unsigned sheet; /* sources of two sheets may have one id */
    char label[160];
};

struct ps_page_row {
    const struct ps_result **by_source; /* page->n_sources of them, NULL where there is none */
    const struct ps_result *result;     /* the first that is there */
    size_t source;                      /* of it */
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
    struct ps_page_source *sources;
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

/* What lies behind a row, a sentence a call; `rules_only`: why it has no number or is suspect. */
void ps_page_details(const struct ps_result *result, bool rules_only, ps_page_line_fn line,
                     void *context);
/* The id of a source, with what tells it from others of that id. `number`: of its sheet. */
void ps_page_source_label(const struct ps_sheet *sheet, const char *id, unsigned number, char *text,
                          size_t size_bytes);
/* "os.lat_sig (3)" of the results from group->results[*at] that are of one table, or one id where
 * names fit (`names`); *at goes on behind them. */
void ps_page_group_item(const struct ps_page_group *group, bool names, size_t *at, char *text,
                        size_t size_bytes);

/* The conditions of a sheet, a label and a text each, in order. */
void ps_page_conditions(const struct ps_sheet *sheet,
                        void (*line)(void *context, const char *label, const char *text),
                        void *context);
/* "this sheet was cut off: rebuilt from 57 runs"; false when it is whole. */
bool ps_page_cut_off(const struct ps_sheet *sheet, char *text, size_t size_bytes);
/* The command that measures the same again. */
void ps_page_replay(const struct ps_sheet *sheet, char *text, size_t size_bytes);
/* The same by the program's own path; NULL: perfsheet. */
void ps_page_replay_by(const struct ps_sheet *sheet, const char *program, char *text,
                       size_t size_bytes);

#endif
