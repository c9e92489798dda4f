/* SPDX-License-Identifier: MIT
 *
 * Streaming JSON writer (RFC 8259). Nesting mistakes are ours and trip an assertion; strings come
 * from anywhere, so what is not UTF-8 in them becomes U+FFFD and the line stays valid.
 */
#include "core/json_writer.h"

#include "core/assert.h"
#include "core/text.h"

#define DEPTH_MAX 31 /* bits of has_items, less the one of depth 0 */

static void put(struct ps_json_writer *json, const char *data, size_t length) {
    if (json->error != 0 || length == 0)
        return;
    int ret = json->write(json->target, data, length);
    if (ret < 0)
        json->error = ret;
}

static void put_text(struct ps_json_writer *json, const char *string) {
    size_t length = 0;
    while (string[length] != '\0')
        length++;
    put(json, string, length);
}

void ps_json_init(struct ps_json_writer *json, int (*write)(void *, const char *, size_t),
                  void *target) {
    *json = (struct ps_json_writer){.write = write, .target = target};
}

/* Before every value and every key: a comma where something went before. */
static void begin_item(struct ps_json_writer *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    uint32_t bit = UINT32_C(1) << json->depth;
    if ((json->has_items & bit) != 0)
        put(json, ",", 1);
    json->has_items |= bit;
}

static void begin_nest(struct ps_json_writer *json, char bracket) {
    begin_item(json);
    PS_ASSERT(json->depth < DEPTH_MAX);
    json->depth++;
    json->has_items &= ~(UINT32_C(1) << json->depth);
    put(json, &bracket, 1);
}

static void end_nest(struct ps_json_writer *json, char bracket) {
    PS_ASSERT(json->depth > 0 && !json->after_key);
    json->depth--;
    put(json, &bracket, 1);
}

void ps_json_object_begin(struct ps_json_writer *json) {
    begin_nest(json, '{');
}

void ps_json_object_end(struct ps_json_writer *json) {
    end_nest(json, '}');
}

void ps_json_array_begin(struct ps_json_writer *json) {
    begin_nest(json, '[');
}

void ps_json_array_end(struct ps_json_writer *json) {
    end_nest(json, ']');
}

static void put_escape(struct ps_json_writer *json, unsigned char c) {
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    for (unsigned i = 0; plain[i] != '\0'; i++) {
        if (c == (unsigned char)plain[i]) {
            const char escape[2] = {'\\', letter[i]};
            put(json, escape, sizeof(escape));
            return;
        }
    }
    static const char hex[] = "0123456789abcdef";
    const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    put(json, escape, sizeof(escape));
}

static void put_string(struct ps_json_writer *json, const char *string) {
    const unsigned char *s = (const unsigned char *)string;
    size_t done = 0, i = 0; /* [done, i) waits to be written as it is */
    put(json, "\"", 1);
    while (s[i] != '\0') {
        /* The closing NUL is never part of a sequence, so this does not run past the end. */
        size_t length = ps_utf8_length(string + i, 4);
        if (length > 0 && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\') {
            i += length;
            continue;
        }
        put(json, string + done, i - done);
        if (length > 0)
            put_escape(json, s[i]);
        else
            put(json, "\xef\xbf\xbd", 3);
        done = ++i;
    }
    put(json, string + done, i - done);
    put(json, "\"", 1);
}

void ps_json_key(struct ps_json_writer *json, const char *key) {
    PS_ASSERT(json->depth > 0 && !json->after_key);
    begin_item(json);
    put_string(json, key);
    put(json, ":", 1);
    json->after_key = true;
}

void ps_json_string(struct ps_json_writer *json, const char *string) {
    begin_item(json);
    if (string == NULL)
        put_text(json, "null");
    else
        put_string(json, string);
}

void ps_json_i64(struct ps_json_writer *json, int64_t value) {
    char buffer[24];
    struct ps_text text;
    begin_item(json);
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_i64(&text, value);
    put(json, buffer, text.length);
}

void ps_json_u64(struct ps_json_writer *json, uint64_t value) {
    char buffer[24];
    struct ps_text text;
    begin_item(json);
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_u64(&text, value);
    put(json, buffer, text.length);
}

void ps_json_double(struct ps_json_writer *json, double value, unsigned digits) {
    char buffer[32]; /* sign, 17 digits, point, "e-324" and a few zeroes */
    struct ps_text text;
    begin_item(json);
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_double(&text, value, digits);
    PS_ASSERT(!text.cut);
    put(json, buffer, text.length);
}

void ps_json_bool(struct ps_json_writer *json, bool value) {
    begin_item(json);
    put_text(json, value ? "true" : "false");
}

void ps_json_null(struct ps_json_writer *json) {
    begin_item(json);
    put_text(json, "null");
}

int ps_json_line_end(struct ps_json_writer *json) {
    PS_ASSERT(json->depth == 0 && !json->after_key);
    put(json, "\n", 1);
    json->has_items = 0;
    int error = json->error;
    json->error = 0;
    return error;
}

void ps_json_pair_string(struct ps_json_writer *json, const char *key, const char *string) {
    ps_json_key(json, key);
    ps_json_string(json, string);
}

void ps_json_pair_i64(struct ps_json_writer *json, const char *key, int64_t value) {
    ps_json_key(json, key);
    ps_json_i64(json, value);
}

void ps_json_pair_u64(struct ps_json_writer *json, const char *key, uint64_t value) {
    ps_json_key(json, key);
    ps_json_u64(json, value);
}

void ps_json_pair_double(struct ps_json_writer *json, const char *key, double value,
                         unsigned digits) {
    ps_json_key(json, key);
    ps_json_double(json, value, digits);
}

void ps_json_pair_bool(struct ps_json_writer *json, const char *key, bool value) {
    ps_json_key(json, key);
    ps_json_bool(json, value);
}
