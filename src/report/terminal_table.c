/* SPDX-License-Identifier: MIT
 *
 * A table on a terminal. Columns are as wide as their longest cell; what does not fit the width is
 * moved step by step: marks become letters, ranges take a line of their own, then names, then
 * marks.
 */
#include "report/terminal.h"

#include <string.h>

#include "report/cells.h"

#define NAME_MAX_BYTES 256
#define INDENT PS_TERMINAL_INDENT
/* From this width on there is room for marks in words. */
#define WORDS_WIDTH 120

struct cells {
    char name[NAME_MAX_BYTES], value[PS_CELL_MAX], range[3 * PS_CELL_MAX], spread[PS_CELL_MAX],
        runs[PS_CELL_MAX], words[2 * PS_CELL_MAX], letters[2 * PS_CELL_MAX];
    const char *unit;
};

struct layout {
    unsigned name, value, range, unit, spread, runs, words, letters;
    bool as_letters, range_apart, name_apart, marks_apart;
};

static void make_cells(const struct ps_page_table *table, const struct ps_result *result,
                       struct cells *cells) {
    ps_cell_name(result, table->several_metrics, cells->name, sizeof(cells->name));
    ps_cell_value(result, cells->value, sizeof(cells->value));
    ps_cell_range(result, cells->range, sizeof(cells->range));
    ps_cell_spread(result, cells->spread, sizeof(cells->spread));
    ps_cell_runs(result, cells->runs, sizeof(cells->runs));
    ps_cell_marks(result, cells->words, sizeof(cells->words));
    ps_cell_letters(result, cells->letters, sizeof(cells->letters));
    cells->unit = ps_cell_has_number(result) ? ps_unit_name(result->metric->unit) : "";
}

static void widen(unsigned *width, const char *text) {
    unsigned length = (unsigned)strlen(text);
    if (length > *width)
        *width = length;
}

static unsigned with_gap(unsigned width) {
    return width ? 2 + width : 0;
}

/* Of a row, as far as it is in one line. */
static unsigned width_of(const struct layout *layout) {
    unsigned width = INDENT + (layout->name_apart ? 2 : layout->name + 2) + layout->value + 1 +
                     layout->unit + 2 + layout->spread + 2 + layout->runs;
    if (!layout->range_apart)
        width += with_gap(layout->range);
    if (!layout->marks_apart)
        width += with_gap(layout->as_letters ? layout->letters : layout->words);
    return width;
}

static void make_layout(const struct ps_page_table *table, unsigned width, struct layout *layout) {
    struct cells cells;
    *layout = (struct layout){.name = 3, .value = 5, .unit = 4, .spread = 5, .runs = 1};
    for (size_t i = 0; i < table->n_rows; i++) {
        make_cells(table, table->rows[i].result, &cells);
        widen(&layout->name, cells.name);
        widen(&layout->value, cells.value);
        widen(&layout->range, cells.range);
        widen(&layout->unit, cells.unit);
        widen(&layout->spread, cells.spread);
        widen(&layout->runs, cells.runs);
        widen(&layout->words, cells.words);
        widen(&layout->letters, cells.letters);
    }
    layout->as_letters = width < WORDS_WIDTH || width_of(layout) > width;
    bool *const steps[] = {&layout->range_apart, &layout->name_apart, &layout->marks_apart};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && width_of(layout) > width; i++)
        *steps[i] = true;
}

struct detail {
    const struct ps_printer *printer;
    const char *before;
};

static void print_detail(void *context, const char *text) {
    const struct detail *detail = context;
    char line[1024];
    snprintf(line, sizeof(line), "%s%s", detail->before, text);
    fprintf(detail->printer->stream, "%*s", INDENT + 2, "");
    ps_terminal_wrap(detail->printer, line, INDENT + 4, INDENT + 2);
}

static void print_marks(struct ps_printer *printer, const struct layout *layout,
                        const struct ps_result *result, const struct cells *cells) {
    const char *marks = layout->as_letters ? cells->letters : cells->words;
    if (!*marks)
        return;
    fprintf(printer->stream, "%s%*s", layout->marks_apart ? "\n" : "",
            layout->marks_apart ? INDENT + 2 : 2, "");
    ps_terminal_paint(printer, result->status == PS_SUSPECT ? PS_RED : PS_YELLOW, marks);
    if (layout->as_letters)
        printer->marks |= result->quality;
}

static void print_row(struct ps_printer *printer, const struct ps_page_table *table,
                      const struct layout *layout, const struct ps_result *result) {
    struct cells cells;
    char value[PS_CELL_MAX];
    FILE *stream = printer->stream;
    bool number = ps_cell_has_number(result);
    make_cells(table, result, &cells);
    fprintf(stream, "%*s", INDENT, "");
    if (layout->name_apart) {
        ps_terminal_wrap(printer, cells.name, INDENT, INDENT);
        fprintf(stream, "%*s", INDENT + 2, "");
    } else {
        fprintf(stream, "%-*s  ", (int)layout->name, cells.name);
    }
    snprintf(value, sizeof(value), "%*s", (int)layout->value, cells.value);
    ps_terminal_paint(printer, !number || result->status == PS_SUSPECT ? PS_RED : PS_BOLD, value);
    if (number) {
        if (!layout->range_apart && layout->range)
            fprintf(stream, "  %-*s", (int)layout->range, cells.range);
        fprintf(stream, " %-*s  %*s  %*s", (int)layout->unit, cells.unit, (int)layout->spread,
                cells.spread, (int)layout->runs, cells.runs);
        print_marks(printer, layout, result, &cells);
    }
    fputc('\n', stream);
    struct detail detail = {printer, ""};
    if (layout->range_apart && *cells.range)
        print_detail(&detail, cells.range);
    ps_page_details(result, false, print_detail, &detail);
}

static void print_heading(const struct ps_printer *printer, const struct layout *layout) {
    char line[512];
    bool range = !layout->range_apart && layout->range > 0;
    snprintf(line, sizeof(line), "%*s%-*s  %*s%s%-*s %-*s  %*s  %*s", INDENT, "",
             layout->name_apart ? 0 : (int)layout->name, layout->name_apart ? "" : "row",
             (int)layout->value, "value", range ? "  " : "", range ? (int)layout->range : 0,
             range ? "(over runs)" : "", (int)layout->unit, "unit", (int)layout->spread, "+/-%",
             (int)layout->runs, "n");
    ps_terminal_paint(printer, PS_DIM, line);
    fputc('\n', printer->stream);
}

/* ---- Several sources ------------------------------------------------------------------------ */

static void row_and_unit(const struct ps_page_table *table, const struct ps_page_row *row,
                         char *text, size_t size_bytes) {
    char name[NAME_MAX_BYTES];
    ps_cell_name(row->result, table->several_metrics, name, sizeof(name));
    snprintf(text, size_bytes, "%s, %s", name, ps_unit_name(row->result->metric->unit));
}

struct side_by_side {
    unsigned name, value, marks;
    bool stacked; /* columns do not fit: a line a source */
};

static void measure_side_by_side(const struct ps_page *page, const struct ps_page_table *table,
                                 unsigned width, struct side_by_side *ret_side) {
    char text[NAME_MAX_BYTES + 32];
    *ret_side = (struct side_by_side){.name = 9, .value = 8, .marks = 1};
    for (size_t s = 0; s < page->n_sources; s++)
        widen(&ret_side->value, page->sources[s].label);
    for (size_t i = 0; i < table->n_rows; i++) {
        row_and_unit(table, &table->rows[i], text, sizeof(text));
        widen(&ret_side->name, text);
        for (size_t s = 0; s < page->n_sources; s++) {
            if (!table->rows[i].by_source[s])
                continue;
            ps_cell_value(table->rows[i].by_source[s], text, sizeof(text));
            widen(&ret_side->value, text);
            ps_cell_letters(table->rows[i].by_source[s], text, sizeof(text));
            widen(&ret_side->marks, text);
        }
    }
    unsigned column = 2 + ret_side->value + 1 + ret_side->marks;
    ret_side->stacked = INDENT + ret_side->name + page->n_sources * column > width;
}

static void print_sources(struct ps_printer *printer, const struct ps_page *page,
                          const struct ps_page_row *row, const struct side_by_side *side) {
    char value[PS_CELL_MAX], marks[2 * PS_CELL_MAX], text[4 * PS_CELL_MAX];
    for (size_t s = 0; s < page->n_sources; s++) {
        const struct ps_result *result = row->by_source[s];
        snprintf(value, sizeof(value), "-");
        *marks = 0;
        if (result) {
            ps_cell_value(result, value, sizeof(value));
            ps_cell_letters(result, marks, sizeof(marks));
            printer->marks |= result->quality;
        }
        if (!side->stacked) {
            fprintf(printer->stream, "  %*s %-*s", (int)side->value, value, (int)side->marks,
                    marks);
        } else if (result) {
            snprintf(text, sizeof(text), "%s: %s %s", page->sources[s].label, value, marks);
            fprintf(printer->stream, "%*s", INDENT + 2, "");
            ps_terminal_wrap(printer, text, INDENT + 4, INDENT + 2);
        }
    }
    if (!side->stacked)
        fputc('\n', printer->stream);
    for (size_t s = 0; s < page->n_sources; s++) {
        char before[sizeof(page->sources[s].label) + 2];
        struct detail detail = {printer, before};
        snprintf(before, sizeof(before), "%s: ", page->sources[s].label);
        if (row->by_source[s])
            ps_page_details(row->by_source[s], true, print_detail, &detail);
    }
}

/* One column a source, with its marks in letters; spreads are left to each source's own page. */
static void print_side_by_side(struct ps_printer *printer, const struct ps_page *page,
                               const struct ps_page_table *table) {
    char text[NAME_MAX_BYTES + 32];
    struct side_by_side side;
    measure_side_by_side(page, table, printer->options->width, &side);
    if (!side.stacked) {
        fprintf(printer->stream, "%*s%-*s", INDENT, "", (int)side.name, "row, unit");
        for (size_t s = 0; s < page->n_sources; s++)
            fprintf(printer->stream, "  %*s %*s", (int)side.value, page->sources[s].label,
                    (int)side.marks, "");
        fputc('\n', printer->stream);
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        row_and_unit(table, &table->rows[i], text, sizeof(text));
        fprintf(printer->stream, "%*s", INDENT, "");
        if (side.stacked)
            ps_terminal_wrap(printer, text, INDENT, INDENT);
        else
            fprintf(printer->stream, "%-*s", (int)side.name, text);
        print_sources(printer, page, &table->rows[i], &side);
    }
}

static void print_rows(struct ps_printer *printer, const struct ps_page *page,
                       const struct ps_page_table *table) {
    struct layout layout;
    make_layout(table, printer->options->width, &layout);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ps_page_row *row = &table->rows[i];
        if (page->n_sources > 1 && (i == 0 || row->source != table->rows[i - 1].source)) {
            fprintf(printer->stream, "%*ssource: ", INDENT, "");
            ps_terminal_wrap(printer, page->sources[row->source].label, INDENT + 2, INDENT + 8);
        }
        if (i == 0)
            print_heading(printer, &layout);
        print_row(printer, table, &layout, row->result);
    }
}

void ps_terminal_table(struct ps_printer *printer, const struct ps_page *page,
                       const struct ps_page_table *table) {
    FILE *stream = printer->stream;
    size_t title = strlen(table->title), length = title + 4 + strlen(table->id);
    fputc('\n', stream);
    ps_terminal_paint(printer, PS_BOLD, table->title);
    fprintf(stream, "%s[%s]\n", length > printer->options->width ? "\n" : "  ", table->id);
    if (printer->options->all && table->about)
        ps_terminal_wrap(printer, table->about, 0, 0);
    if (table->n_rows > 0 && table->side_by_side)
        print_side_by_side(printer, page, table);
    else if (table->n_rows > 0)
        print_rows(printer, page, table);
    if (table->n_hidden > 0)
        fprintf(stream, "%*s%zu more row%s with --all\n", INDENT, "", table->n_hidden,
                table->n_hidden == 1 ? "" : "s");
}
