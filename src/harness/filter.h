/* SPDX-License-Identifier: MIT
 *
 * FILTERs of the command line: "mem", "mem.stream", a glob over ids without metric, "tag:headline",
 * "!x" to subtract. No filter selects everything; only subtractions select everything else.
 */
#ifndef PS_HARNESS_FILTER_H
#define PS_HARNESS_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* 0, or -EINVAL with a sentence: empty, a ':' that is no tag, a character no id has. */
int ps_filter_check(const char *filter, char *ret_why, size_t why_bytes);
/* id = "chapter.table/case@places". */
bool ps_filter_selects(const char *const *filters, size_t n, const char *id, unsigned tags);

#endif
