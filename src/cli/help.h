/* SPDX-License-Identifier: MIT
 *
 * Texts made from the table of verbs.
 */
#ifndef PS_CLI_HELP_H
#define PS_CLI_HELP_H

#include <stdio.h>

#include "cli/verbs.h"

/* verb NULL: of the program. */
void ps_help(FILE *stream, const struct ps_verb *verb);
/* perfsheet(1), in the macros of man(7). */
void ps_man_page(FILE *stream);
/* For bash. */
void ps_completion(FILE *stream);

#endif
