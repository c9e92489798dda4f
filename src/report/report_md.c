/* SPDX-License-Identifier: MIT
 *
 * The page as Markdown: the conditions, a section a chapter with its tables, what has no number and
 * why, and how to measure it again. Every row is on it: a published page has no --all.
 */
#include "report/report.h"

#include <string.h>

#include "report/cells.h"
#include "report/page.h"

/* Text inside a table's cell: nothing in it may end the cell or begin markup. */
static void put(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]", *text))
            fputc('\\', stream);
        fputc(*text == '\n' ? ' ' : *text, stream);
    }
}

static void condition(void *context, const char *label, const char *text) {
    FILE *stream = context;
    fprintf(stream, "| %s | ", label);
    put(stream, text);
    fputs(" |\n", stream);
}

static void put_unit_and_name(FILE *stream, const struct ps_page_table *table,
                              const struct ps_result *result) {
    char text[256];
    ps_cell_name(result, table->several_metrics, text, sizeof(text));
    fputs("| ", stream);
    put(stream, text);
    fprintf(stream, " | %s |", ps_unit_name(result->metric->unit));
}

static void put_cell(FILE *stream, const struct ps_result *result, bool with_marks) {
    char cell[4 * PS_CELL_MAX], marks[2 * PS_CELL_MAX];
    if (!result) {
        fputs(" - |", stream);
        return;
    }
    ps_cell(result, cell, sizeof(cell));
    ps_cell_marks(result, marks, sizeof(marks));
    fputc(' ', stream);
    put(stream, cell);
    if (with_marks && *marks)
        fprintf(stream, " *%s*", marks);
    fputs(" |", stream);
}

static void print_table(FILE *stream, const struct ps_page *page,
                        const struct ps_page_table *table) {
    char spread[PS_CELL_MAX], runs[PS_CELL_MAX], marks[2 * PS_CELL_MAX];
    fputs("\n### ", stream);
    put(stream, table->title);
    fprintf(stream, " (`%s`)\n\n", table->id);
    if (table->about) {
        put(stream, table->about);
        fputs("\n\n", stream);
    }
    if (table->side_by_side) {
        fputs("| row | unit |", stream);
        for (size_t s = 0; s < page->n_sources; s++) {
            fputc(' ', stream);
            put(stream, page->sources[s]);
            fputs(" |", stream);
        }
        fputs("\n|---|---|", stream);
        for (size_t s = 0; s < page->n_sources; s++)
            fputs("---:|", stream);
    } else {
        fputs(page->n_sources > 1
                  ? "| row | unit | source | value (over runs) | ± % | n | marks |\n|---"
                  : "| row | unit | value (over runs) | ± % | n | marks |\n",
              stream);
        fputs("|---|---|---:|---:|---:|---|", stream);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ps_page_row *row = &table->rows[i];
        put_unit_and_name(stream, table, row->result);
        if (table->side_by_side) {
            for (size_t s = 0; s < page->n_sources; s++)
                put_cell(stream, row->by_source[s], true);
        } else {
            if (page->n_sources > 1)
                fprintf(stream, " %s |", row->result->source);
            put_cell(stream, row->result, false);
            ps_cell_spread(row->result, spread, sizeof(spread));
            ps_cell_runs(row->result, runs, sizeof(runs));
            ps_cell_marks(row->result, marks, sizeof(marks));
            fprintf(stream, " %s | %s | %s |", spread, runs, marks);
        }
        fputc('\n', stream);
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ps_result *result = table->rows[i].result;
        for (unsigned r = 0; r < result->n_rules; r++) {
            char expected[PS_CELL_MAX], got[PS_CELL_MAX];
            if (!result->rules[r].failed)
                continue;
            ps_cell_number(result->rules[r].expected, result->metric->decimals, expected,
                           sizeof(expected));
            ps_cell_number(result->rules[r].got, result->metric->decimals, got, sizeof(got));
            fprintf(stream, "\nSuspect: `%s` breaks rule %s: expected %s, got %s.", result->id,
                    result->rules[r].id, expected, got);
            if (result->rules[r].cause) {
                fputs(" Likely cause: ", stream);
                put(stream, result->rules[r].cause);
                fputc('.', stream);
            }
            fputc('\n', stream);
        }
    }
}

static void print_groups(FILE *stream, const struct ps_page *page) {
    if (page->n_groups == 0)
        return;
    fputs("\n## Rows without a number\n\n| status | why, and what helps | rows |\n|---|---|---|\n",
          stream);
    for (size_t g = 0; g < page->n_groups; g++) {
        const struct ps_page_group *group = &page->groups[g];
        fprintf(stream, "| %s | ", ps_status_name(group->status));
        put(stream, group->reason ? group->reason : "");
        fputs(" | ", stream);
        for (size_t i = 0; i < group->n; i++)
            fprintf(stream, "%s`%s`", i ? ", " : "", group->results[i]->c->id);
        fputs(" |\n", stream);
    }
}

int ps_report_md(const struct ps_sheet *sheet, FILE *stream) {
    struct ps_page page;
    char text[1024];
    int error = ps_page_make(sheet, true, &page);
    if (error)
        return error;
    fputs("# Performance datasheet: ", stream);
    put(stream, ps_json_get_string(ps_json_get(sheet->header, "board"), "model", "unknown board"));
    fputs("\n\n", stream);
    if (ps_page_cut_off(sheet, text, sizeof(text)))
        fprintf(stream, "**%s**\n\n", text);
    fputs("## Conditions\n\n| | |\n|---|---|\n", stream);
    ps_page_conditions(sheet, condition, stream);
    const char *chapter = "";
    size_t chapter_length = 0;
    for (size_t i = 0; i < page.n_tables; i++) {
        const struct ps_page_table *table = &page.tables[i];
        if (table->chapter_length != chapter_length ||
            strncmp(table->id, chapter, chapter_length) != 0) {
            chapter = table->id;
            chapter_length = table->chapter_length;
            fprintf(stream, "\n## %.*s\n", (int)chapter_length, chapter);
        }
        print_table(stream, &page, table);
    }
    print_groups(stream, &page);
    ps_page_replay(sheet, text, sizeof(text));
    if (*text)
        fprintf(stream, "\nMeasured with `%s`, plan %s.\n", text,
                ps_json_get_string(ps_json_get(sheet->header, "plan"), "hash", "unknown"));
    ps_page_done(&page);
    return 0;
}
