/* SPDX-License-Identifier: MIT
 *
 * Strict JSON reader for one line of a sheet: RFC 8259, UTF-8 checked, duplicate keys, NaN,
 * trailing commas and depth over 16 refused; integers that fit 64 bits are exact. Errors name the
 * column.
 */
#ifndef PS_SHEET_JSON_H
#define PS_SHEET_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ps_json_type {
    PS_JSON_NULL,
    PS_JSON_BOOL,
    PS_JSON_INTEGER,
    PS_JSON_UNSIGNED, /* an integer beyond INT64_MAX */
    PS_JSON_DOUBLE,
    PS_JSON_STRING,
    PS_JSON_ARRAY,
    PS_JSON_OBJECT
};

struct ps_json {
    enum ps_json_type type;
    const char *key; /* inside an object */
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural; /* of UNSIGNED */
        double number;
        const char *string; /* NUL-terminated, unescaped; U+0000 is refused */
        struct ps_json *first;
    } u;
    size_t n; /* items of an array or object; bytes of a string */
    struct ps_json *next;
};

struct ps_json_error {
    size_t column; /* from 1 */
    const char *what;
};

struct ps_json_document; /* owns the values */

/* 0 and *ret_document with its root, -EINVAL with *ret_error, or -ENOMEM. */
int ps_json_parse(const char *text, size_t length, struct ps_json_document **ret_document,
                  const struct ps_json **ret_root, struct ps_json_error *ret_error);
void ps_json_document_free(struct ps_json_document *document);

/* Member of an object, or NULL (also when `object` is NULL or not one). */
const struct ps_json *ps_json_get(const struct ps_json *object, const char *key);
/* Value, or `missing` when absent, null or of another type. */
double ps_json_get_double(const struct ps_json *object, const char *key, double missing);
int64_t ps_json_get_i64(const struct ps_json *object, const char *key, int64_t missing);
uint64_t ps_json_get_u64(const struct ps_json *object, const char *key, uint64_t missing);
const char *ps_json_get_string(const struct ps_json *object, const char *key, const char *missing);
bool ps_json_get_bool(const struct ps_json *object, const char *key, bool missing);
bool ps_json_is_number(const struct ps_json *value);
double ps_json_double_of(const struct ps_json *value); /* of INTEGER, UNSIGNED or DOUBLE */

#endif
