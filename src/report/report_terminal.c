/* SPDX-License-Identifier: MIT
 *
 * The page for a terminal or a plain text file: ASCII only, since a board's console may show
 * nothing else. Columns are as wide as their longest cell; a row that does not fit the terminal
 * continues on a line of its own.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/cells.h"
#include "report/page.h"

#define NAME_MAX_BYTES 256
#define LABEL_WIDTH 10
#define INDENT 2
/* A group with more rows than this is told by its tables and their numbers of rows. */
#define GROUP_NAMES_MAX 8
/* From this width on there is room for marks in words. */
#define WORDS_WIDTH 120

enum colour { PLAIN, BOLD, DIM, RED, YELLOW };

struct printer {
    FILE *stream;
    const struct ps_report_options *options;
    uint32_t marks; /* that were printed, for the legend */
    bool letters;   /* instead of words */
};

static void paint(const struct printer *printer, enum colour colour, const char *text) {
    static const char *const codes[] = {"", "1", "2", "31", "33"};
    if (printer->options->colour && colour != PLAIN && *text)
        fprintf(printer->stream, "\033[%sm%s\033[0m", codes[colour], text);
    else
        fputs(text, printer->stream);
}

/* Words wrapped at the width, every line but the first indented; `at` is the column it begins in.
 */
static void wrap(const struct printer *printer, const char *text, unsigned indent, unsigned at) {
    for (const char *word = text; *word;) {
        unsigned length = (unsigned)strcspn(word, " ");
        bool first = word == text;
        if (!first && at + 1 + length > printer->options->width) {
            fprintf(printer->stream, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', printer->stream);
            at++;
        }
        fwrite(word, 1, length, printer->stream);
        at += length;
        word += length;
        word += strspn(word, " ");
    }
    fputc('\n', printer->stream);
}

static void condition(void *context, const char *label, const char *text) {
    const struct printer *printer = context;
    bool note = strcmp(label, "note") == 0;
    char padded[LABEL_WIDTH + 2];
    snprintf(padded, sizeof(padded), "%-*s", LABEL_WIDTH, label);
    paint(printer, note ? YELLOW : DIM, padded);
    fputc(' ', printer->stream);
    wrap(printer, text, LABEL_WIDTH + 1, LABEL_WIDTH + 1);
}

/* ---- A table --------------------------------------------------------------------------------- */

struct cells {
    char name[NAME_MAX_BYTES], value[PS_CELL_MAX], range[3 * PS_CELL_MAX], spread[PS_CELL_MAX],
        runs[PS_CELL_MAX], marks[2 * PS_CELL_MAX];
    const char *unit;
};

struct widths {
    unsigned name, value, range, unit, spread, runs;
};

static void make_cells(const struct printer *printer, const struct ps_page_table *table,
                       const struct ps_result *result, struct cells *cells) {
    ps_cell_name(result, table->several_metrics, cells->name, sizeof(cells->name));
    ps_cell_value(result, cells->value, sizeof(cells->value));
    ps_cell_range(result, cells->range, sizeof(cells->range));
    ps_cell_spread(result, cells->spread, sizeof(cells->spread));
    ps_cell_runs(result, cells->runs, sizeof(cells->runs));
    if (!printer->letters)
        ps_cell_marks(result, cells->marks, sizeof(cells->marks));
    else
        ps_cell_letters(result, cells->marks, sizeof(cells->marks));
    cells->unit = ps_cell_has_number(result) ? ps_unit_name(result->metric->unit) : "";
}

static void widen(unsigned *width, const char *text) {
    unsigned length = (unsigned)strlen(text);
    if (length > *width)
        *width = length;
}

static void measure_widths(const struct printer *printer, const struct ps_page_table *table,
                           struct widths *widths) {
    struct cells cells;
    *widths = (struct widths){3, 5, 0, 4, 5, 1};
    for (size_t i = 0; i < table->n_rows; i++) {
        make_cells(printer, table, table->rows[i].result, &cells);
        widen(&widths->name, cells.name);
        widen(&widths->value, cells.value);
        widen(&widths->range, cells.range);
        widen(&widths->unit, cells.unit);
        widen(&widths->spread, cells.spread);
        widen(&widths->runs, cells.runs);
    }
}

/* What lies behind a row: why it has no number, which rule it breaks, its two modes, its quantiles.
 */
static void print_details(const struct printer *printer, const struct ps_result *result) {
    char text[512], a[PS_CELL_MAX], b[PS_CELL_MAX];
    const unsigned indent = INDENT + 2;
    unsigned decimals = result->metric->decimals;
    if (!ps_cell_has_number(result) && result->reason) {
        fprintf(printer->stream, "%*s", (int)indent, "");
        wrap(printer, result->reason, indent, indent);
    }
    for (unsigned i = 0; i < result->n_rules; i++) {
        const struct ps_result_rule *rule = &result->rules[i];
        if (!rule->failed)
            continue;
        ps_cell_number(rule->expected, decimals, a, sizeof(a));
        ps_cell_number(rule->got, decimals, b, sizeof(b));
        snprintf(text, sizeof(text), "rule %s: expected %s, got %s%s%s%s%s", rule->id, a, b,
                 rule->other ? ", against " : "", rule->other ? rule->other : "",
                 rule->cause ? "; likely " : "", rule->cause ? rule->cause : "");
        fprintf(printer->stream, "%*s", (int)indent, "");
        wrap(printer, text, indent + 2, indent);
    }
    if ((result->quality & PS_Q_BIMODAL) && isfinite(result->modes[0])) {
        ps_cell_number(result->modes[0], decimals, a, sizeof(a));
        ps_cell_number(result->modes[1], decimals, b, sizeof(b));
        fprintf(printer->stream, "%*stwo modes: %s and %s\n", (int)indent, "", a, b);
    }
    if (result->has_quantiles && ps_cell_has_number(result)) {
        static const char *const names[] = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};
        size_t length = 0;
        for (size_t i = 0; i < 6; i++) {
            if (!isfinite(result->quantiles[i]))
                continue;
            ps_cell_number(result->quantiles[i], decimals, a, sizeof(a));
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %s",
                                       length ? ", " : "", names[i], a);
        }
        if (length > 0) {
            fprintf(printer->stream, "%*s", (int)indent, "");
            wrap(printer, text, indent, indent);
        }
    }
    if (isfinite(result->load_all_pct) && result->load_all_pct >= 0)
        fprintf(printer->stream, "%*sCPU load %.0f %% of all, %.0f %% of the busiest\n",
                (int)indent, "", result->load_all_pct, result->load_busiest_pct);
}

static void print_row(struct printer *printer, const struct ps_page_table *table,
                      const struct widths *widths, const struct ps_result *result) {
    struct cells cells;
    make_cells(printer, table, result, &cells);
    unsigned fixed = INDENT + widths->name + 2 + widths->value + 1 + widths->unit + 2 +
                     widths->spread + 2 + widths->runs;
    bool range_fits = widths->range == 0 || fixed + 2 + widths->range <= printer->options->width;
    char value[PS_CELL_MAX];
    enum colour colour = result->status == PS_SUSPECT ? RED : YELLOW;

    fprintf(printer->stream, "%*s%-*s  ", INDENT, "", (int)widths->name, cells.name);
    snprintf(value, sizeof(value), "%*s", (int)widths->value, cells.value);
    paint(printer, !ps_cell_has_number(result) || result->status == PS_SUSPECT ? RED : BOLD, value);
    if (!ps_cell_has_number(result)) {
        fputc('\n', printer->stream);
        print_details(printer, result);
        return;
    }
    if (range_fits && widths->range)
        fprintf(printer->stream, "  %-*s", (int)widths->range, cells.range);
    fprintf(printer->stream, " %-*s  %*s  %*s", (int)widths->unit, cells.unit, (int)widths->spread,
            cells.spread, (int)widths->runs, cells.runs);
    if (*cells.marks) {
        fputs("  ", printer->stream);
        paint(printer, colour, cells.marks);
    }
    fputc('\n', printer->stream);
    if (!range_fits && *cells.range)
        fprintf(printer->stream, "%*s%s\n", INDENT + 2, "", cells.range);
    printer->marks |= result->quality;
    print_details(printer, result);
}

static void print_heading(const struct printer *printer, const struct widths *widths) {
    char line[512];
    unsigned fixed = INDENT + widths->name + 2 + widths->value + 1 + widths->unit + 2 +
                     widths->spread + 2 + widths->runs;
    bool range_fits = widths->range > 0 && fixed + 2 + widths->range <= printer->options->width;
    snprintf(line, sizeof(line), "%*s%-*s  %*s%s%-*s %-*s  %*s  %*s", INDENT, "", (int)widths->name,
             "row", (int)widths->value, "value", range_fits ? "  " : "",
             range_fits ? (int)widths->range : 0, range_fits ? "(over runs)" : "",
             (int)widths->unit, "unit", (int)widths->spread, "+/-%", (int)widths->runs, "n");
    paint(printer, DIM, line);
    fputc('\n', printer->stream);
}

static void row_and_unit(const struct ps_page_table *table, const struct ps_page_row *row,
                         char *text, size_t size_bytes) {
    char name[NAME_MAX_BYTES];
    ps_cell_name(row->result, table->several_metrics, name, sizeof(name));
    snprintf(text, size_bytes, "%s, %s", name, ps_unit_name(row->result->metric->unit));
}

/* One column a source, with its marks in letters; spreads are left to each source's own page. */
static void print_side_by_side(struct printer *printer, const struct ps_page *page,
                               const struct ps_page_table *table) {
    char text[NAME_MAX_BYTES + 32];
    unsigned name_width = 9, width = 8, mark_width = 1;
    for (size_t s = 0; s < page->n_sources; s++)
        widen(&width, page->sources[s]);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ps_page_row *row = &table->rows[i];
        row_and_unit(table, row, text, sizeof(text));
        widen(&name_width, text);
        for (size_t s = 0; s < page->n_sources; s++) {
            if (!row->by_source[s])
                continue;
            ps_cell_value(row->by_source[s], text, sizeof(text));
            widen(&width, text);
            ps_cell_letters(row->by_source[s], text, sizeof(text));
            widen(&mark_width, text);
            printer->marks |= row->by_source[s]->quality;
        }
    }
    printer->letters = true;
    fprintf(printer->stream, "%*s%-*s", INDENT, "", (int)name_width, "row, unit");
    for (size_t s = 0; s < page->n_sources; s++)
        fprintf(printer->stream, "  %*s %*s", (int)width, page->sources[s], (int)mark_width, "");
    fputc('\n', printer->stream);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct ps_page_row *row = &table->rows[i];
        row_and_unit(table, row, text, sizeof(text));
        fprintf(printer->stream, "%*s%-*s", INDENT, "", (int)name_width, text);
        for (size_t s = 0; s < page->n_sources; s++) {
            char marks[2 * PS_CELL_MAX] = "";
            snprintf(text, sizeof(text), "-");
            if (row->by_source[s]) {
                ps_cell_value(row->by_source[s], text, sizeof(text));
                ps_cell_letters(row->by_source[s], marks, sizeof(marks));
            }
            fprintf(printer->stream, "  %*s %-*s", (int)width, text, (int)mark_width, marks);
        }
        fputc('\n', printer->stream);
    }
}

static void print_table(struct printer *printer, const struct ps_page *page,
                        const struct ps_page_table *table) {
    struct widths widths;
    fputc('\n', printer->stream);
    paint(printer, BOLD, table->title);
    fprintf(printer->stream, "  [%s]\n", table->id);
    if (printer->options->all && table->about)
        wrap(printer, table->about, 0, 0);
    if (table->n_rows > 0 && table->side_by_side) {
        print_side_by_side(printer, page, table);
    } else if (table->n_rows > 0) {
        measure_widths(printer, table, &widths);
        const char *source = NULL;
        for (size_t i = 0; i < table->n_rows; i++) {
            const struct ps_result *result = table->rows[i].result;
            if (page->n_sources > 1 && (!source || strcmp(source, result->source) != 0))
                fprintf(printer->stream, "%*ssource: %s\n", INDENT, "", result->source);
            if (!source)
                print_heading(printer, &widths);
            source = result->source;
            print_row(printer, table, &widths, result);
        }
    }
    if (table->n_hidden > 0)
        fprintf(printer->stream, "%*s%zu more row%s with --all\n", INDENT, "", table->n_hidden,
                table->n_hidden == 1 ? "" : "s");
}

/* ---- Rows without a number ------------------------------------------------------------------- */

static void print_group(const struct printer *printer, const struct ps_page_group *group) {
    char text[NAME_MAX_BYTES + 32];
    unsigned at = INDENT;
    snprintf(text, sizeof(text), "%s, %zu row%s: ", ps_status_name(group->status), group->n,
             group->n == 1 ? "" : "s");
    fprintf(printer->stream, "%*s", INDENT, "");
    paint(printer, group->status == PS_SKIPPED || group->status == PS_UNSUPPORTED ? DIM : YELLOW,
          text);
    at += (unsigned)strlen(text);
    wrap(printer, group->reason ? group->reason : "no reason is recorded", INDENT + 2, at);
    bool by_table = group->n > GROUP_NAMES_MAX && !printer->options->all;
    fprintf(printer->stream, "%*s", INDENT + 2, "");
    at = INDENT + 2;
    for (size_t i = 0; i < group->n;) {
        const char *table = group->results[i]->c->table;
        size_t n = 1;
        while (by_table && i + n < group->n && strcmp(group->results[i + n]->c->table, table) == 0)
            n++;
        if (by_table)
            snprintf(text, sizeof(text), "%s (%zu)", table, n);
        else
            snprintf(text, sizeof(text), "%s", group->results[i]->c->id);
        i += n;
        unsigned length = (unsigned)strlen(text) + (i < group->n ? 1 : 0);
        if (at > INDENT + 2 && at + 1 + length > printer->options->width) {
            fprintf(printer->stream, "\n%*s", INDENT + 2, "");
            at = INDENT + 2;
        } else if (at > INDENT + 2) {
            fputc(' ', printer->stream);
            at++;
        }
        fprintf(printer->stream, "%s%s", text, i < group->n ? "," : "");
        at += length;
    }
    fputc('\n', printer->stream);
}

static void print_end(const struct printer *printer, const struct ps_sheet *sheet,
                      const struct ps_page *page) {
    char text[1024];
    const char *hash = ps_json_get_string(ps_json_get(sheet->header, "plan"), "hash", NULL);
    fprintf(printer->stream, "\n%zu number%s", page->n_numbers, page->n_numbers == 1 ? "" : "s");
    size_t suspect = 0, without = 0;
    for (size_t i = 0; i < sheet->n_results; i++) {
        suspect += sheet->results[i].status == PS_SUSPECT;
        without += !ps_cell_has_number(&sheet->results[i]);
    }
    fprintf(printer->stream, ", %zu suspect, %zu without a number", suspect, without);
    if (page->n_hidden > 0)
        fprintf(printer->stream, "; --all shows %zu more", page->n_hidden);
    fputs(
        "\n+/-% is half the 95 % interval of the value; n counts runs, behind + those left out as "
        "disturbed\n",
        printer->stream);
    if (printer->letters && printer->marks) {
        ps_cell_legend(printer->marks, text, sizeof(text));
        fputs("marks: ", printer->stream);
        wrap(printer, text, 7, 7);
    }
    if (ps_page_cut_off(sheet, text, sizeof(text)))
        fprintf(printer->stream, "%s\n", text);
    ps_page_replay(sheet, text, sizeof(text));
    if (*text)
        fprintf(printer->stream, "again: %s\n", text);
    if (hash)
        fprintf(printer->stream, "plan:  %s\n", hash);
    if (printer->options->path)
        fprintf(printer->stream, "sheet: %s\n", printer->options->path);
}

int ps_report_terminal(const struct ps_sheet *sheet, const struct ps_report_options *options,
                       FILE *stream) {
    struct printer printer = {
        .stream = stream, .options = options, .letters = options->width < WORDS_WIDTH};
    struct ps_page page;
    char text[256];
    int error = ps_page_make(sheet, options->all, &page);
    if (error)
        return error;
    if (ps_page_cut_off(sheet, text, sizeof(text))) {
        paint(&printer, YELLOW, text);
        fputc('\n', stream);
    }
    ps_page_conditions(sheet, condition, &printer);
    for (size_t i = 0; i < page.n_tables; i++)
        print_table(&printer, &page, &page.tables[i]);
    if (page.n_groups > 0) {
        fputc('\n', stream);
        paint(&printer, BOLD, "Rows without a number");
        fputc('\n', stream);
    }
    for (size_t i = 0; i < page.n_groups; i++)
        print_group(&printer, &page.groups[i]);
    print_end(&printer, sheet, &page);
    ps_page_done(&page);
    return 0;
}
