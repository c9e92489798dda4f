/* SPDX-License-Identifier: MIT
 *
 * The page for a terminal or a plain text file: ASCII only, since a board's console may show
 * nothing else, and no line wider than it is.
 */
#include "report/report.h"

#include <string.h>

#include "report/cells.h"
#include "report/terminal.h"

#define LABEL_WIDTH 10
#define INDENT PS_TERMINAL_INDENT

void ps_terminal_paint(const struct ps_printer *printer, enum ps_colour colour, const char *text) {
    static const char *const codes[] = {"", "1", "2", "31", "33"};
    if (printer->options->colour && colour != PS_PLAIN && *text)
        fprintf(printer->stream, "\033[%sm%s\033[0m", codes[colour], text);
    else
        fputs(text, printer->stream);
}

/* As much of a word as a line takes, whole characters of UTF-8. */
static unsigned piece_of(const char *word, unsigned length, unsigned room) {
    if (length <= room)
        return length;
    unsigned piece = room > 0 ? room : 1;
    while (piece > 1 && ((unsigned char)word[piece] & 0xc0) == 0x80)
        piece--;
    return piece;
}

void ps_terminal_wrap(const struct ps_printer *printer, const char *text, unsigned indent,
                      unsigned at) {
    unsigned width = printer->options->width > indent ? printer->options->width : indent + 1;
    for (const char *word = text; *word;) {
        unsigned length = (unsigned)strcspn(word, " ");
        bool first = word == text;
        if (at + !first + length > width && at > indent) {
            fprintf(printer->stream, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', printer->stream);
            at++;
        }
        while (length > 0) {
            unsigned piece = piece_of(word, length, width - at);
            fwrite(word, 1, piece, printer->stream);
            word += piece;
            length -= piece;
            at += piece;
            if (length > 0) {
                fprintf(printer->stream, "\n%*s", (int)indent, "");
                at = indent;
            }
        }
        word += strspn(word, " ");
    }
    fputc('\n', printer->stream);
}

static void condition(void *context, const char *label, const char *text) {
    const struct ps_printer *printer = context;
    bool note = strcmp(label, "note") == 0;
    char padded[LABEL_WIDTH + 2];
    snprintf(padded, sizeof(padded), "%-*s", LABEL_WIDTH, label);
    ps_terminal_paint(printer, note ? PS_YELLOW : PS_DIM, padded);
    fputc(' ', printer->stream);
    ps_terminal_wrap(printer, text, LABEL_WIDTH + 1, LABEL_WIDTH + 1);
}

/* ---- Rows without a number ------------------------------------------------------------------- */

static void print_group(const struct ps_printer *printer, const struct ps_page_group *group) {
    char text[256 + 32];
    unsigned at = INDENT;
    snprintf(text, sizeof(text), "%s, %zu row%s: ", ps_status_name(group->status), group->n,
             group->n == 1 ? "" : "s");
    fprintf(printer->stream, "%*s", INDENT, "");
    ps_terminal_paint(
        printer,
        group->status == PS_SKIPPED || group->status == PS_UNSUPPORTED ? PS_DIM : PS_YELLOW, text);
    at += (unsigned)strlen(text);
    ps_terminal_wrap(printer, group->reason ? group->reason : "no reason is recorded", INDENT + 2,
                     at);
    bool names = group->n <= PS_PAGE_GROUP_NAMES || printer->options->all;
    fprintf(printer->stream, "%*s", INDENT + 2, "");
    at = INDENT + 2;
    for (size_t i = 0; i < group->n;) {
        ps_page_group_item(group, names, &i, text, sizeof(text));
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

/* ---- The end --------------------------------------------------------------------------------- */

/* Length of the shell word that begins here, its quoted blanks among it. */
static unsigned shell_word(const char *text) {
    bool quoted = false;
    unsigned i = 0;
    for (; text[i] && (quoted || text[i] != ' '); i++) {
        if (text[i] == '\'')
            quoted = !quoted;
        else if (text[i] == '\\' && !quoted && text[i + 1])
            i++;
    }
    return i;
}

/* A command that still is one when its lines are copied together. */
static void print_command(const struct ps_printer *printer, const char *text) {
    unsigned at = (unsigned)fprintf(printer->stream, "again:");
    while (*text) {
        unsigned length = shell_word(text);
        bool last = !text[length];
        if (at > LABEL_WIDTH && at + 1 + length + (last ? 0 : 2) > printer->options->width) {
            fputs(" \\\n      ", printer->stream);
            at = 6;
        }
        fprintf(printer->stream, " %.*s", (int)length, text);
        at += 1 + length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', printer->stream);
}

static void print_end(const struct ps_printer *printer, const struct ps_sheet *sheet,
                      const struct ps_page *page) {
    char text[1024];
    const char *hash = ps_json_get_string(ps_json_get(sheet->header, "plan"), "hash", NULL);
    size_t suspect = 0, without = 0;
    for (size_t i = 0; i < sheet->n_results; i++) {
        suspect += sheet->results[i].status == PS_SUSPECT;
        without += !ps_cell_has_number(&sheet->results[i]);
    }
    int length = snprintf(text, sizeof(text), "%zu number%s, %zu suspect, %zu without a number",
                          page->n_numbers, page->n_numbers == 1 ? "" : "s", suspect, without);
    if (page->n_hidden > 0)
        snprintf(text + length, sizeof(text) - (size_t)length, "; --all shows %zu more",
                 page->n_hidden);
    fputc('\n', printer->stream);
    ps_terminal_wrap(printer, text, 0, 0);
    ps_terminal_wrap(printer,
                     "+/-% is half the 95 % interval of the value; n counts runs, behind + those "
                     "left out as disturbed",
                     6, 0);
    if (printer->marks) {
        ps_cell_legend(printer->marks, text, sizeof(text));
        if (*text) {
            fputs("marks: ", printer->stream);
            ps_terminal_wrap(printer, text, 7, 7);
        }
    }
    if (ps_page_cut_off(sheet, text, sizeof(text)))
        ps_terminal_wrap(printer, text, 0, 0);
    ps_page_replay_by(sheet, printer->options->program, text, sizeof(text));
    if (*text)
        print_command(printer, text);
    if (hash)
        fprintf(printer->stream, "plan:  %s\n", hash);
    /* A path is for copying: whole, on a line of its own where it is long. */
    if (printer->options->path)
        fprintf(printer->stream, "sheet:%s%s\n",
                7 + strlen(printer->options->path) > printer->options->width ? "\n" : " ",
                printer->options->path);
}

int ps_report_terminal(const struct ps_sheet *sheet, const struct ps_report_options *options,
                       FILE *stream) {
    struct ps_printer printer = {.stream = stream, .options = options};
    struct ps_page page;
    char text[256];
    int error = ps_page_make(sheet, options->all, &page);
    if (error)
        return error;
    if (ps_page_cut_off(sheet, text, sizeof(text))) {
        ps_terminal_paint(&printer, PS_YELLOW, text);
        fputc('\n', stream);
    }
    ps_page_conditions(sheet, condition, &printer);
    for (size_t i = 0; i < page.n_tables; i++)
        ps_terminal_table(&printer, &page, &page.tables[i]);
    if (page.n_groups > 0) {
        fputc('\n', stream);
        ps_terminal_paint(&printer, PS_BOLD, "Rows without a number");
        fputc('\n', stream);
    }
    for (size_t i = 0; i < page.n_groups; i++)
        print_group(&printer, &page.groups[i]);
    print_end(&printer, sheet, &page);
    ps_page_done(&page);
    return 0;
}
