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

/* Between backticks: a name that has one, or ends a cell, is not one of ours. */
static void put_code(FILE *stream, const char *text) {
    fputc('`', stream);
    for (; *text; text++)
        fputc(*text == '`' || *text == '|' ? '?' : *text, stream);
    fputc('`', stream);
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

static void put_source(FILE *stream, const struct ps_page *page, const struct ps_page_row *row) {
    fputc(' ', stream);
    put(stream, page->sources[row->source].label);
    fputs(" |", stream);
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

struct detail {
    FILE *stream;
    const struct ps_page *page;
    const struct ps_page_table *table;
    const struct ps_result *result;
    size_t source;
};

static void print_detail(void *context, const char *text) {
    const struct detail *detail = context;
    char name[256];
    ps_cell_name(detail->result, detail->table->several_metrics, name, sizeof(name));
    fputs("- ", detail->stream);
    put_code(detail->stream, name);
    if (detail->page->n_sources > 1) {
        fputs(" of ", detail->stream);
        put(detail->stream, detail->page->sources[detail->source].label);
    }
    fputs(": ", detail->stream);
    put(detail->stream, text);
    fputc('\n', detail->stream);
}

/* What the terminal has below each row: a list below the table. */
static void print_details(FILE *stream, const struct ps_page *page,
                          const struct ps_page_table *table) {
    fputc('\n', stream);
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t s = 0; s < page->n_sources; s++) {
            struct detail detail = {stream, page, table, table->rows[i].by_source[s], s};
            if (detail.result)
                ps_page_details(detail.result, false, print_detail, &detail);
        }
}

static void print_table(FILE *stream, const struct ps_page *page,
                        const struct ps_page_table *table) {
    char spread[PS_CELL_MAX], runs[PS_CELL_MAX], marks[2 * PS_CELL_MAX];
    fputs("\n### ", stream);
    put(stream, table->title);
    fputs(" (", stream);
    put_code(stream, table->id);
    fputs(")\n\n", stream);
    if (table->about) {
        put(stream, table->about);
        fputs("\n\n", stream);
    }
    if (table->side_by_side) {
        fputs("| row | unit |", stream);
        for (size_t s = 0; s < page->n_sources; s++) {
            fputc(' ', stream);
            put(stream, page->sources[s].label);
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
                put_source(stream, page, row);
            put_cell(stream, row->result, false);
            ps_cell_spread(row->result, spread, sizeof(spread));
            ps_cell_runs(row->result, runs, sizeof(runs));
            ps_cell_marks(row->result, marks, sizeof(marks));
            fprintf(stream, " %s | %s | %s |", spread, runs, marks);
        }
        fputc('\n', stream);
    }
    print_details(stream, page, table);
}

static void print_groups(FILE *stream, const struct ps_page *page) {
    if (page->n_groups == 0)
        return;
    fputs("\n## Rows without a number\n\n| status | n | why, and what helps | rows |\n"
          "|---|---:|---|---|\n",
          stream);
    for (size_t g = 0; g < page->n_groups; g++) {
        const struct ps_page_group *group = &page->groups[g];
        fprintf(stream, "| %s | %zu | ", ps_status_name(group->status), group->n);
        put(stream, group->reason ? group->reason : "");
        fputs(" | ", stream);
        for (size_t i = 0; i < group->n;) {
            char text[256 + 32];
            fputs(i ? ", " : "", stream);
            ps_page_group_item(group, group->n <= PS_PAGE_GROUP_NAMES, &i, text, sizeof(text));
            put_code(stream, text);
        }
        fputs(" |\n", stream);
    }
}

static void print_legend(FILE *stream, const struct ps_sheet *sheet) {
    uint32_t marks = 0;
    bool suspect = false;
    for (size_t i = 0; i < sheet->n_results; i++) {
        if (!ps_cell_has_number(&sheet->results[i]))
            continue;
        marks |= sheet->results[i].quality;
        suspect = suspect || sheet->results[i].status == PS_SUSPECT;
    }
    fputs("\n## How to read it\n\n"
          "- ± %: half of the 95 % interval of the value, in per cent of it\n"
          "- n: runs behind the value; behind + those that were disturbed and left out\n"
          "- min, max: the lowest and the highest run\n",
          stream);
    if (suspect)
        fputs("- suspect: a rule that must hold does not; it stands below the table\n", stream);
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++)
        if (marks & (1u << bit))
            fprintf(stream, "- %s: %s\n", ps_quality_name(bit), ps_cell_meaning(bit));
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
    print_legend(stream, sheet);
    ps_page_replay(sheet, text, sizeof(text));
    if (*text) {
        fputs("\nMeasured with ", stream);
        if (strchr(text, '`'))
            put(stream, text);
        else
            fprintf(stream, "`%s`", text);
        fputs(", plan ", stream);
        put(stream, ps_json_get_string(ps_json_get(sheet->header, "plan"), "hash", "unknown"));
        fputs(".\n", stream);
    }
    ps_page_done(&page);
    return 0;
}
