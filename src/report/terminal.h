/* SPDX-License-Identifier: MIT
 *
 * Between the files of the terminal's page.
 */
#ifndef PS_REPORT_TERMINAL_H
#define PS_REPORT_TERMINAL_H

#include "report/page.h"
#include "report/report.h"

#define PS_TERMINAL_INDENT 2

enum ps_colour { PS_PLAIN, PS_BOLD, PS_DIM, PS_RED, PS_YELLOW };

struct ps_printer {
    FILE *stream;
    const struct ps_report_options *options;
    uint32_t marks; /* that were printed in letters, for the legend */
};

void ps_terminal_paint(const struct ps_printer *printer, enum ps_colour colour, const char *text);
/* Words wrapped at the width, every line but the first indented; `at` is the column it begins in.
 * A word that is longer than a line is broken. Ends with a newline. */
void ps_terminal_wrap(const struct ps_printer *printer, const char *text, unsigned indent,
                      unsigned at);
void ps_terminal_table(struct ps_printer *printer, const struct ps_page *page,
                       const struct ps_page_table *table);

#endif
