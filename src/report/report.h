/* SPDX-License-Identifier: MIT
 *
 * Sheet in, page out. A report reads no file, starts nothing and prints no error; what could not be
 * written shows in ferror() of the stream.
 */
#ifndef PS_REPORT_REPORT_H
#define PS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "sheet/sheet.h"

struct ps_report_options {
    bool all;            /* every row, not a screen a chapter */
    bool colour;         /* escape sequences of a terminal */
    unsigned width;      /* columns of a terminal */
    const char *path;    /* of the sheet, for the last line; NULL: none */
    const char *program; /* how it was called, so that its command can be pasted; NULL: perfsheet */
};

/* 0 or -ENOMEM. */
int ps_report_terminal(const struct ps_sheet *sheet, const struct ps_report_options *options,
                       FILE *stream);
int ps_report_md(const struct ps_sheet *sheet, FILE *stream);
/* An array of the result records. */
int ps_report_json(const struct ps_sheet *sheet, FILE *stream);

#endif
