/* SPDX-License-Identifier: MIT
 *
 * Text and numbers without libc, against libc's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Any finite double: every exponent is as likely as another. */
static double any_double(void) {
    double value;
    do {
        uint64_t bits = next_random();
        memcpy(&value, &bits, sizeof(value));
    } while (!isfinite(value));
    return value;
}

static const char *as_double(double value, unsigned digits) {
    static char buffer[64];
    struct ps_text text;
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_double(&text, value, digits);
    assert_false(text.cut);
    return buffer;
}

static const char *as_fixed(double value, unsigned decimals) {
    static char buffer[1600];
    struct ps_text text;
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_fixed(&text, value, decimals);
    assert_false(text.cut);
    return buffer;
}

static void test_doubles(void **state) {
    (void)state;
    assert_string_equal(as_double(0, 12), "0");
    assert_string_equal(as_double(-0.0, 12), "0");
    assert_string_equal(as_double(1, 12), "1");
    assert_string_equal(as_double(-2.5, 12), "-2.5");
    assert_string_equal(as_double(0.1, 12), "0.1");
    assert_string_equal(as_double(0.1, 17), "0.10000000000000001");
    assert_string_equal(as_double(240000000, 12), "240000000");
    assert_string_equal(as_double(999999.9999996, 12), "1000000");
    assert_string_equal(as_double(0.00001234, 12), "0.00001234");
    assert_string_equal(as_double(0.000001234, 12), "1.234e-6");
    assert_string_equal(as_double(1e300, 12), "1e300");
    assert_string_equal(as_double(123456789012345.0, 12), "123456789012000");
    assert_string_equal(as_double(9007199254740993.0, 17), "9007199254740992");
    assert_string_equal(as_double(DBL_MAX, 17), "1.7976931348623157e308");
    assert_string_equal(as_double(4.9406564584124654e-324, 17), "4.9406564584124654e-324");
    assert_string_equal(as_double(9.96, 2), "10");
    assert_string_equal(as_double(0.5, 1), "0.5");
    assert_string_equal(as_double(NAN, 12), "null");
    assert_string_equal(as_double(INFINITY, 12), "null");
    assert_string_equal(as_double(-INFINITY, 12), "null");
}

static void test_doubles_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        double value = any_double();
        const char *text = as_double(value, 17);
        char *end;
        double back = strtod(text, &end);
        assert_true(*end == '\0');
        if (back != value)
            fail_msg("%.17g became %s", value, text);
    }
}

/* What printf cuts off behind the point after `kept` characters of the exact number is one half:
 * ties go away from zero here and to even there. */
static bool is_tie(const char *exact, size_t kept) {
    const char *tail = exact + kept;
    return tail[0] == '5' && strspn(tail + 1, "0") == strcspn(tail + 1, "e");
}

static void test_doubles_as_printf(void **state) {
    (void)state;
    for (int i = 0; i < 100000; i++) {
        double value = any_double();
        unsigned digits = 1 + (unsigned)(next_random() % 17);
        char expected[64], exact[900];
        int length = snprintf(expected, sizeof(expected), "%.*e", (int)digits - 1, fabs(value));
        snprintf(exact, sizeof(exact), "%.800e", fabs(value));
        size_t kept = (size_t)(strchr(expected, 'e') - expected) + (digits == 1);
        assert_true(length > 0);
        if (is_tie(exact, kept))
            continue;
        value = fabs(value);
        /* Both denote the same decimal number, so they read back alike. */
        if (strtod(expected, NULL) != strtod(as_double(value, digits), NULL))
            fail_msg("%u digits: %s became %s", digits, expected, as_double(value, digits));
    }
}

static void test_fixed(void **state) {
    (void)state;
    assert_string_equal(as_fixed(0, 0), "0");
    assert_string_equal(as_fixed(0, 2), "0.00");
    assert_string_equal(as_fixed(1.005, 2), "1.00"); /* it is 1.00499999999999989... */
    assert_string_equal(as_fixed(0.125, 2), "0.13");
    assert_string_equal(as_fixed(-0.125, 2), "-0.13");
    assert_string_equal(as_fixed(2.5, 0), "3");
    assert_string_equal(as_fixed(0.5, 0), "1");
    assert_string_equal(as_fixed(0.499, 0), "0");
    assert_string_equal(as_fixed(-0.004, 2), "0.00");
    assert_string_equal(as_fixed(9.999, 2), "10.00");
    assert_string_equal(as_fixed(0.00999, 3), "0.010");
    assert_string_equal(as_fixed(1234567.891, 1), "1234567.9");
    assert_string_equal(as_fixed(1e22, 1), "10000000000000000000000.0");
    assert_string_equal(as_fixed(NAN, 2), "null");
    for (int i = 0; i < 100000; i++) {
        double value = ldexp((double)(next_random() >> 11), (int)(next_random() % 80) - 70);
        unsigned decimals = (unsigned)(next_random() % 9);
        char expected[400], exact[400];
        int length = snprintf(expected, sizeof(expected), "%.*f", (int)decimals, value);
        snprintf(exact, sizeof(exact), "%.150f", value);
        const char *got = as_fixed(value, decimals);
        if (strcmp(expected, got) != 0 && !is_tie(exact, (size_t)length + (decimals == 0)))
            fail_msg("%.17g with %u: %s, not %s", value, decimals, got, expected);
    }
}

static void test_integers(void **state) {
    (void)state;
    char buffer[64];
    struct ps_text text;
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add_i64(&text, INT64_MIN);
    ps_text_add_char(&text, ' ');
    ps_text_add_u64(&text, UINT64_MAX);
    ps_text_add_char(&text, ' ');
    ps_text_add_i64(&text, 0);
    assert_string_equal(buffer, "-9223372036854775808 18446744073709551615 0");
    assert_int_equal(text.length, strlen(buffer));
}

static void test_cut(void **state) {
    (void)state;
    char buffer[8];
    memset(buffer, 'x', sizeof(buffer));
    struct ps_text text;
    ps_text_init(&text, buffer, 5);
    assert_string_equal(buffer, "");
    ps_text_add(&text, "1234");
    assert_false(text.cut);
    ps_text_add(&text, "5");
    assert_true(text.cut);
    assert_string_equal(buffer, "1234");
    assert_int_equal(buffer[5], 'x');
    ps_text_init(&text, buffer, 1);
    ps_text_add_u64(&text, 7);
    assert_true(text.cut);
    assert_string_equal(buffer, "");
}

static void test_equal(void **state) {
    (void)state;
    assert_true(ps_text_equal("", ""));
    assert_true(ps_text_equal("abc", "abc"));
    assert_false(ps_text_equal("abc", "ab"));
    assert_false(ps_text_equal("ab", "abc"));
    assert_false(ps_text_equal(NULL, ""));
    assert_true(ps_text_equal(NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_doubles_round_trip),
        cmocka_unit_test(test_doubles_as_printf),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
