/* SPDX-License-Identifier: MIT
 *
 * Building short names without libc. A text never overflows: what does not fit is cut and `cut`
 * set.
 */
#ifndef PS_CORE_TEXT_H
#define PS_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_text {
    char *data;
    size_t size_bytes; /* of data, the closing NUL included */
    size_t length;
    bool cut;
};

void ps_text_init(struct ps_text *text, char *data, size_t size_bytes);
void ps_text_add(struct ps_text *text, const char *string);
void ps_text_add_char(struct ps_text *text, char c);
void ps_text_add_i64(struct ps_text *text, int64_t value);
void ps_text_add_u64(struct ps_text *text, uint64_t value);
/* A JSON number with up to `digits` (1 to 17) significant digits, trailing zeroes dropped; a value
 * that is not finite is written as null. 17 digits round-trip on a hosted build. */
void ps_text_add_double(struct ps_text *text, double value, unsigned digits);
/* Exactly `decimals` digits behind the point, rounded half away from zero. */
void ps_text_add_fixed(struct ps_text *text, double value, unsigned decimals);

/* Length of the well-formed UTF-8 sequence (Unicode, table 3-7) at `at`, of which `left` bytes may
 * be read; 0: there is none. Overlong forms, surrogates and numbers beyond U+10FFFF are none. */
size_t ps_utf8_length(const char *at, size_t left);

bool ps_text_equal(const char *a, const char *b);

#endif
