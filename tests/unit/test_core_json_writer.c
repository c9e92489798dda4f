/* SPDX-License-Identifier: MIT
 *
 * The JSON writer: commas, nesting, escapes, what is not UTF-8, and an output that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/json_writer.h"

struct sink {
    char data[4096];
    size_t length;
    size_t room; /* then -28 */
};

static int sink_write(void *target, const char *data, size_t length) {
    struct sink *sink = target;
    if (sink->length + length > sink->room)
        return -28;
    memcpy(sink->data + sink->length, data, length);
    sink->length += length;
    sink->data[sink->length] = '\0';
    return 0;
}

static void test_nesting(void **state) {
    (void)state;
    struct sink sink = {.room = 4095};
    struct ps_json_writer json;
    ps_json_init(&json, sink_write, &sink);
    ps_json_object_begin(&json);
    ps_json_pair_string(&json, "a", "x");
    ps_json_pair_string(&json, "none", NULL);
    ps_json_key(&json, "b");
    ps_json_array_begin(&json);
    ps_json_i64(&json, INT64_MIN);
    ps_json_u64(&json, UINT64_MAX);
    ps_json_array_begin(&json);
    ps_json_array_end(&json);
    ps_json_object_begin(&json);
    ps_json_object_end(&json);
    ps_json_bool(&json, true);
    ps_json_null(&json);
    ps_json_array_end(&json);
    ps_json_pair_double(&json, "c", 0.25, 12);
    ps_json_pair_double(&json, "d", NAN, 12);
    ps_json_pair_bool(&json, "e", false);
    ps_json_pair_i64(&json, "f", -1);
    ps_json_pair_u64(&json, "g", 1);
    ps_json_object_end(&json);
    assert_int_equal(ps_json_line_end(&json), 0);
    ps_json_array_begin(&json); /* a second line has no comma before it */
    ps_json_array_end(&json);
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_string_equal(
        sink.data, "{\"a\":\"x\",\"none\":null,\"b\":[-9223372036854775808,18446744073709551615,"
                   "[],{},true,null],\"c\":0.25,\"d\":null,\"e\":false,\"f\":-1,\"g\":1}\n[]\n");
}

static void expect_written(const char *string, const char *expected) {
    struct sink sink = {.room = 4095};
    struct ps_json_writer json;
    ps_json_init(&json, sink_write, &sink);
    ps_json_string(&json, string);
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_string_equal(sink.data, expected);
}

static void test_strings(void **state) {
    (void)state;
    expect_written("", "\"\"\n");
    expect_written("a\"b\\c", "\"a\\\"b\\\\c\"\n");
    expect_written("\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"\n");
    expect_written("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                   "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
}

#define REPLACED "\xef\xbf\xbd"

static void test_not_utf8(void **state) {
    (void)state;
    expect_written("\xff", "\"" REPLACED "\"\n");
    expect_written("a\x80z", "\"a" REPLACED "z\"\n");
    expect_written("\xc0\xaf", "\"" REPLACED REPLACED "\"\n");              /* overlong */
    expect_written("\xed\xa0\x80", "\"" REPLACED REPLACED REPLACED "\"\n"); /* surrogate */
    expect_written("\xf4\x90\x80\x80", "\"" REPLACED REPLACED REPLACED REPLACED "\"\n");
    expect_written("\xe2\x82", "\"" REPLACED REPLACED "\"\n"); /* cut */
}

static void test_output_fails(void **state) {
    (void)state;
    struct sink sink = {.room = 10};
    struct ps_json_writer json;
    ps_json_init(&json, sink_write, &sink);
    ps_json_array_begin(&json);
    for (int i = 0; i < 20; i++)
        ps_json_i64(&json, i);
    ps_json_array_end(&json);
    assert_int_equal(ps_json_line_end(&json), -28);
    assert_int_equal(json.error, 0);
    assert_true(sink.length <= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_output_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
