/* SPDX-License-Identifier: MIT
 *
 * Streaming JSON writer without libc: one line, no allocation, commas by itself, numbers with '.'
 * whatever the locale, never nan or inf (null instead).
 */
#ifndef PS_CORE_JSON_WRITER_H
#define PS_CORE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_json_writer {
    /* Takes the next bytes; a negative errno is kept in `error` and stops the output. */
    int (*write)(void *target, const char *data, size_t length);
    void *target;
    int error;
    unsigned depth;
    uint32_t has_items; /* one bit per depth */
    bool after_key;
};

void ps_json_init(struct ps_json_writer *json, int (*write)(void *, const char *, size_t),
                  void *target);
void ps_json_object_begin(struct ps_json_writer *json);
void ps_json_object_end(struct ps_json_writer *json);
void ps_json_array_begin(struct ps_json_writer *json);
void ps_json_array_end(struct ps_json_writer *json);
void ps_json_key(struct ps_json_writer *json, const char *key);
void ps_json_string(struct ps_json_writer *json, const char *string); /* NULL: null */
void ps_json_i64(struct ps_json_writer *json, int64_t value);
void ps_json_u64(struct ps_json_writer *json, uint64_t value);
void ps_json_double(struct ps_json_writer *json, double value, unsigned digits);
void ps_json_bool(struct ps_json_writer *json, bool value);
void ps_json_null(struct ps_json_writer *json);
/* Ends a line: '\n' at depth 0. Returns and clears json->error. */
int ps_json_line_end(struct ps_json_writer *json);

/* key + value in one call. */
void ps_json_pair_string(struct ps_json_writer *json, const char *key, const char *string);
void ps_json_pair_i64(struct ps_json_writer *json, const char *key, int64_t value);
void ps_json_pair_u64(struct ps_json_writer *json, const char *key, uint64_t value);
void ps_json_pair_double(struct ps_json_writer *json, const char *key, double value,
                         unsigned digits);
void ps_json_pair_bool(struct ps_json_writer *json, const char *key, bool value);

#endif
