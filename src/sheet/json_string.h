/* SPDX-License-Identifier: MIT
 *
 * The inside of a JSON string.
 */
#ifndef PS_SHEET_JSON_STRING_H
#define PS_SHEET_JSON_STRING_H

#include <stddef.h>

/* Unescapes [from, quote), which ends before the closing quote, into out[], which is at least as
 * long and gets a NUL. Returns the length without it; or (size_t)-1, and where and what is wrong.
 */
size_t ps_json_unescape(const char *from, const char *quote, char *out, const char **ret_where,
                        const char **ret_what);

#endif
