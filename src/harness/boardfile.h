/* SPDX-License-Identifier: MIT
 *
 * The board file: INI with a closed list of sections and keys (docs/FORMAT.md); anything else is an
 * error that names the line.
 */
#ifndef PS_HARNESS_BOARDFILE_H
#define PS_HARNESS_BOARDFILE_H

#include <stddef.h>

struct ps_boardfile;

/* 0, -EINVAL with "line 3: unknown key 'x' in [board]" in why, or -errno. */
int ps_boardfile_read(const char *path, struct ps_boardfile **ret_board, char *ret_why,
                      size_t why_bytes);
int ps_boardfile_parse(const char *text, size_t length, struct ps_boardfile **ret_board,
                       char *ret_why, size_t why_bytes);
void ps_boardfile_free(struct ps_boardfile *board);
/* Section "board", or "target nand"; NULL when not there. */
const char *ps_boardfile_value(const struct ps_boardfile *board, const char *section,
                               const char *key);
/* n-th section whose kind is `kind` ("target"): its name, or NULL past the last. */
const char *ps_boardfile_section(const struct ps_boardfile *board, const char *kind, size_t nth);

#endif
