/* SPDX-License-Identifier: MIT
 *
 * What RFC 8259 allows is read exactly, what it does not is refused where it stands.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "sheet/json.h"

static struct ps_json_document *document;
static const struct ps_json *root;

static const struct ps_json *parse(const char *text) {
    struct ps_json_error error = {0, NULL};
    /* In a block of its own size, so that a sanitizer sees a read beyond it. */
    size_t length = strlen(text);
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    int result = ps_json_parse(exact, length, &document, &root, &error);
    free(exact);
    if (result)
        fail_msg("%s: column %zu: %s", text, error.column, error.what);
    return root;
}

static void done(void) {
    ps_json_document_free(document);
    document = NULL;
}

static void refuse_n(const char *text, size_t length, size_t column) {
    struct ps_json_error error = {0, NULL};
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    document = NULL;
    int result = ps_json_parse(exact, length, &document, &root, &error);
    free(exact);
    if (result != -EINVAL)
        fail_msg("%s was accepted", text);
    assert_null(document);
    assert_non_null(error.what);
    if (error.column != column)
        fail_msg("%s: column %zu instead of %zu: %s", text, error.column, column, error.what);
}

static void refuse(const char *text, size_t column) {
    refuse_n(text, strlen(text), column);
}

static void test_values(void **ignored) {
    (void)ignored;
    parse(
        " { \"a\" : [ 1 , -2.5e3 , true , false , null , \"x\" , { } , [ ] ] , \"b\":\"\" } \r\n");
    assert_int_equal(root->type, PS_JSON_OBJECT);
    assert_int_equal(root->n, 2);
    const struct ps_json *a = ps_json_get(root, "a");
    assert_int_equal(a->n, 8);
    const struct ps_json *item = a->u.first;
    assert_int_equal(item->type, PS_JSON_INTEGER);
    assert_int_equal(item->u.integer, 1);
    item = item->next;
    assert_int_equal(item->type, PS_JSON_DOUBLE);
    assert_double(item->u.number, -2500, 0);
    item = item->next;
    assert_true(item->type == PS_JSON_BOOL && item->u.boolean);
    item = item->next;
    assert_true(item->type == PS_JSON_BOOL && !item->u.boolean);
    item = item->next;
    assert_int_equal(item->type, PS_JSON_NULL);
    item = item->next;
    assert_string_equal(item->u.string, "x");
    assert_int_equal(item->n, 1);
    item = item->next;
    assert_true(item->type == PS_JSON_OBJECT && item->n == 0 && !item->u.first);
    item = item->next;
    assert_true(item->type == PS_JSON_ARRAY && item->n == 0 && !item->next);
    assert_string_equal(ps_json_get_string(root, "b", NULL), "");
    done();
}

static void test_getters(void **ignored) {
    (void)ignored;
    parse("{\"i\":7,\"d\":0.5,\"s\":\"t\",\"n\":null,\"b\":true,\"neg\":-1}");
    assert_int_equal(ps_json_get_i64(root, "i", -9), 7);
    assert_int_equal(ps_json_get_i64(root, "d", -9), -9);
    assert_int_equal(ps_json_get_i64(root, "n", -9), -9);
    assert_int_equal(ps_json_get_i64(root, "none", -9), -9);
    assert_int_equal(ps_json_get_u64(root, "neg", 3), 3);
    assert_double(ps_json_get_double(root, "i", NAN), 7, 0);
    assert_true(isnan(ps_json_get_double(root, "n", NAN)));
    assert_string_equal(ps_json_get_string(root, "i", "?"), "?");
    assert_true(ps_json_get_bool(root, "b", false));
    assert_true(ps_json_get_bool(root, "i", true));
    assert_null(ps_json_get(NULL, "i"));
    assert_null(ps_json_get(ps_json_get(root, "i"), "i"));
    assert_false(ps_json_is_number(NULL));
    assert_true(isnan(ps_json_double_of(ps_json_get(root, "s"))));
    done();
}

static void test_integers(void **ignored) {
    (void)ignored;
    assert_true(parse("9223372036854775807")->u.integer == INT64_MAX);
    done();
    assert_true(parse("-9223372036854775808")->u.integer == INT64_MIN);
    done();
    parse("[18446744073709551615]");
    assert_int_equal(root->u.first->type, PS_JSON_UNSIGNED);
    assert_true(root->u.first->u.natural == UINT64_MAX);
    done();
    parse("{\"seed\":9223372036854775808}");
    assert_true(ps_json_get_u64(root, "seed", 0) == UINT64_C(9223372036854775808));
    assert_int_equal(ps_json_get_i64(root, "seed", -1), -1);
    assert_double(ps_json_get_double(root, "seed", 0), 9223372036854775808.0, 0);
    done();
    assert_int_equal(parse("18446744073709551616")->type, PS_JSON_DOUBLE); /* one more */
    assert_double(root->u.number, 18446744073709551616.0, 0);
    done();
    assert_int_equal(parse("-9223372036854775809")->type, PS_JSON_DOUBLE);
    done();
    assert_int_equal(parse("1e2")->type, PS_JSON_DOUBLE); /* written as a double, read as one */
    done();
    assert_int_equal(parse("-0")->u.integer, 0);
    done();
}

/* Correctly rounded, whatever way they take: against strtod on many texts. */
static void test_doubles(void **ignored) {
    (void)ignored;
    static const char *const texts[] = {"0.1",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993.0",
                                        "123456789.123456789",
                                        "4.9e-324",
                                        "2.5e-324",
                                        "1.7976931348623157e308",
                                        "0.000001",
                                        "1e-22",
                                        "1E+5",
                                        "3.0e-400",
                                        "8.5e-23",
                                        "179769313486231570000000000000000000000.5",
                                        "0.30000000000000004",
                                        "1.00000000000000011102230246251565404236316680908203126"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double got = ps_json_double_of(parse(texts[i])), expected = strtod(texts[i], NULL);
        assert_memory_equal(&got, &expected, sizeof(got));
        done();
    }
    uint64_t state = 5;
    for (unsigned i = 0; i < 20000; i++) {
        char text[64];
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value = (double)(state >> 11) / 9007199254740992.0 * pow(10, (double)(i % 40) - 20);
        snprintf(text, sizeof(text), i % 2 ? "%.*g" : "%.*e", 1 + (int)(i % 17), value);
        double got = ps_json_double_of(parse(text)), expected = strtod(text, NULL);
        assert_memory_equal(&got, &expected, sizeof(got));
        done();
    }
}

static void test_strings(void **ignored) {
    (void)ignored;
    assert_string_equal(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->u.string, "\"\\/\b\f\n\r\t");
    done();
    assert_string_equal(parse("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"")->u.string,
                        "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_int_equal(root->n, 10);
    done();
    assert_string_equal(parse("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"")->u.string,
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f");
    done();
    assert_string_equal(ps_json_get_string(parse("{\"\\u0061\":\"b\"}"), "a", NULL), "b");
    done();
}

static void test_refused_strings(void **ignored) {
    (void)ignored;
    refuse("\"a", 1);
    refuse("\"a\\\"", 1);
    refuse("\"a\\", 1);
    refuse("\"\\x\"", 3);
    refuse("\"\\u12\"", 6);
    refuse("\"\\u0000\"", 2);
    refuse("\"\\ud800\"", 2);
    refuse("\"\\ud800\\u0041\"", 2);
    refuse("\"\\udc00\"", 2);
    refuse("\"a\tb\"", 3);
    refuse_n("\"a\0b\"", 5, 3);
    refuse("\"\x80\"", 2);         /* a continuation alone */
    refuse("\"\xc0\xaf\"", 2);     /* overlong */
    refuse("\"\xe0\x80\xaf\"", 2); /* overlong */
    refuse("\"\xf0\x80\x80\xaf\"", 2);
    refuse("\"\xed\xa0\x80\"", 2); /* a surrogate */
    refuse("\"\xf4\x90\x80\x80\"", 2);
    refuse("\"\xf5\x80\x80\x80\"", 2);
    refuse("\"\xe2\x82\"", 2); /* cut */
}

static void test_refused(void **ignored) {
    (void)ignored;
    refuse("", 1);
    refuse("  ", 3);
    refuse("[1,]", 4);
    refuse("[1 2]", 4);
    refuse("[1", 3);
    refuse("[", 2);
    refuse("{\"a\":1,}", 8);
    refuse("{\"a\" 1}", 6);
    refuse("{a:1}", 2);
    refuse("{\"a\":1,\"b\":2,\"a\":3}", 14);
    refuse("{\"a\":1,\"\\u0061\":3}", 8); /* the same key in other letters */
    refuse("{\"a\"", 5);
    refuse("1 2", 3);
    refuse("[]]", 3);
    refuse("01", 1);
    refuse("-", 2);
    refuse("+1", 1);
    refuse(".5", 1);
    refuse("1.", 3);
    refuse("1e", 3);
    refuse("1e+", 4);
    refuse("0x10", 2);
    refuse("1e999", 1);
    refuse("-1e999", 1);
    refuse("NaN", 1);
    refuse("Infinity", 1);
    refuse("nul", 1);
    refuse("TRUE", 1);
    refuse("'a'", 1);
    refuse("[1]//", 4);
    refuse("\xef\xbb\xbf{}", 1); /* a byte order mark */
    refuse_n("\0", 1, 1);
}

static void test_depth(void **ignored) {
    (void)ignored;
    parse("[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"); /* 16 */
    done();
    refuse("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", 17);
    refuse("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
           "\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}}}}}}}}}",
           81);
}

static void test_large(void **ignored) {
    (void)ignored;
    enum { N = 200000 };
    char *text = malloc(16 * N);
    size_t length = 0;
    assert_non_null(text);
    text[length++] = '[';
    for (unsigned i = 0; i < N; i++)
        length += (size_t)sprintf(text + length, "%s%u.25", i ? "," : "", i);
    text[length++] = ']';
    struct ps_json_error error;
    assert_int_equal(ps_json_parse(text, length, &document, &root, &error), 0);
    assert_int_equal(root->n, N);
    unsigned i = 0;
    for (const struct ps_json *item = root->u.first; item; item = item->next)
        assert_double(item->u.number, 0.25 + i++, 0);
    done();
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_getters),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_refused_strings),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_depth),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
