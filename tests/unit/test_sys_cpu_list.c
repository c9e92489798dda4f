/* SPDX-License-Identifier: MIT
 *
 * CPU lists: the kernel's syntax, strictly; and files below a root.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/affinity.h"
#include "sys/cpu_list.h"
#include "sys/root.h"
#include "unit/fake_root.h"

static void round_trip(const char *text, unsigned count, const char *expected) {
    struct ps_cpu_set set;
    char formatted[256];
    assert_int_equal(ps_cpu_list_parse(text, &set), 0);
    assert_int_equal(ps_cpu_set_count(&set), count);
    ps_cpu_list_format(&set, formatted, sizeof formatted);
    assert_string_equal(formatted, expected);
}

static void test_good(void **state) {
    (void)state;
    round_trip("", 0, "");
    round_trip("0", 1, "0");
    round_trip("0-3", 4, "0-3");
    round_trip("0,8,16", 3, "0,8,16");
    round_trip("5,0-3,2", 5, "0-3,5");
    round_trip("62-65", 4, "62-65");
    round_trip("0-1023", 1024, "0-1023");
    round_trip("4095", 1, "4095");
    round_trip("0-4095", 4096, "0-4095");
    round_trip("0-6:2/3", 5, "0-1,3-4,6");
    round_trip("0-7:1/2", 4, "0,2,4,6");
}

static void test_bad(void **state) {
    static const char *const bad[] = {
        ",",       "0,",      ",0",      "3-1",    "0-",    "-3",
        "a",       "0x1",     "4096",    "0-4096", "0 1",   "0-3 ",
        " 0",      "1,,2",    "1-2-3",   "0-3:",   "0-3:1", "0-3:1/",
        "0-3:0/2", "0-3:3/2", "0-3:1/0", "4:1/2",  "+1",    "99999999999999999999"};
    struct ps_cpu_set set;
    (void)state;
    memset(&set, 0x5a, sizeof set);
    struct ps_cpu_set before = set;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (ps_cpu_list_parse(bad[i], &set) != -EINVAL) {
            fail_msg("\"%s\" was accepted", bad[i]);
        }
    }
    assert_memory_equal(&set, &before, sizeof set);
}

static void test_members(void **state) {
    struct ps_cpu_set set, other;
    (void)state;
    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, 63);
    ps_cpu_set_add(&set, 64);
    ps_cpu_set_add(&set, 4095);
    ps_cpu_set_add(&set, 4096); /* ignored */
    assert_int_equal(ps_cpu_set_count(&set), 3);
    assert_true(ps_cpu_set_has(&set, 64));
    assert_false(ps_cpu_set_has(&set, 65));
    assert_false(ps_cpu_set_has(&set, 100000));
    assert_int_equal(ps_cpu_set_next(&set, 0), 63);
    assert_int_equal(ps_cpu_set_next(&set, 64), 64);
    assert_int_equal(ps_cpu_set_next(&set, 65), 4095);
    assert_int_equal(ps_cpu_set_next(&set, 4096), -1);
    assert_int_equal(ps_cpu_list_parse("64-100", &other), 0);
    ps_cpu_set_and(&set, &other);
    assert_int_equal(ps_cpu_set_next(&set, 0), 64);
    assert_int_equal(ps_cpu_set_count(&set), 1);
}

static void test_format_cut(void **state) {
    struct ps_cpu_set set;
    char text[12];
    (void)state;
    assert_int_equal(ps_cpu_list_parse("0,2,4,6,8,10,12,14", &set), 0);
    ps_cpu_list_format(&set, text, sizeof text);
    assert_string_equal(text, "0,2,4,6...");
    assert_int_equal(ps_cpu_list_parse("0,2,4,6,8,1", &set), 0);
    ps_cpu_list_format(&set, text, sizeof text);
    assert_string_equal(text, "0-2,4,6,8");              /* the last item may use the mark's room */
    for (size_t size = 0; size <= sizeof text; size++) { /* never over the end */
        memset(text, '#', sizeof text);
        ps_cpu_list_format(&set, text, size);
        for (size_t i = size; i < sizeof text; i++) {
            assert_int_equal(text[i], '#');
        }
        assert_true(size == 0 || memchr(text, '\0', size) != NULL);
    }
}

static void test_read(void **state) {
    struct fake_root root;
    char text[16], *whole;
    size_t length;
    int64_t value = 7;
    (void)state;
    fake_root_init(&root);
    fake_file(&root, "hello\n", "/a/b");
    assert_int_equal(ps_read_text(root.path, "/a/b", text, sizeof text), 5);
    assert_string_equal(text, "hello");
    assert_int_equal(ps_read_text(root.path, "/a/c", text, sizeof text), -ENOENT);
    assert_int_equal(ps_read_text(root.path, "/a/b", text, 6), -EFBIG);
    assert_int_equal(ps_read_text(root.path, "/a", text, sizeof text), -EISDIR);
    assert_int_equal(ps_read_i64(root.path, "/a/b", &value), -EINVAL);
    assert_int_equal(value, 7);
    fake_file(&root, "-12\n", "/n");
    assert_int_equal(ps_read_i64(root.path, "/n", &value), 0);
    assert_int_equal(value, -12);
    fake_file(&root, "12 kB\n", "/n");
    assert_int_equal(ps_read_i64(root.path, "/n", &value), -EINVAL);
    fake_file(&root, "99999999999999999999\n", "/n");
    assert_int_equal(ps_read_i64(root.path, "/n", &value), -EINVAL);

    enum { LARGE = 300000 };
    char *large = malloc(LARGE + 1);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    fake_file(&root, large, "/large");
    assert_int_equal(ps_read_whole(root.path, "/large", &whole, &length), 0);
    assert_int_equal(length, LARGE);
    assert_string_equal(whole, large);
    free(whole);
    free(large);
    fake_root_done(&root);
}

static void test_keys(void **state) {
    uint64_t value = 3;
    (void)state;
    const char *text = "MemTotalX: 1 kB\nMemTotal:    2147483648 kB\nnr 12\nnone max\n";
    assert_true(ps_text_key_u64(text, "MemTotal", &value));
    assert_int_equal(value, 2147483648u);
    assert_true(ps_text_key_u64(text, "nr", &value));
    assert_int_equal(value, 12);
    assert_false(ps_text_key_u64(text, "none", &value));
    assert_false(ps_text_key_u64(text, "absent", &value));
    assert_int_equal(value, 12);
}

static void test_affinity(void **state) {
    struct ps_cpu_set before, after;
    (void)state;
    assert_int_equal(ps_affinity_get(&before), 0);
    assert_true(ps_cpu_set_count(&before) > 0);
    unsigned cpu = (unsigned)ps_cpu_set_next(&before, 0);
    assert_int_equal(ps_pin_to_cpu(cpu), 0);
    assert_int_equal(ps_affinity_get(&after), 0);
    assert_int_equal(ps_cpu_set_count(&after), 1);
    assert_true(ps_cpu_set_has(&after, cpu));
    assert_int_equal(ps_pin_to_cpu(4095), -EINVAL);
    assert_int_equal(ps_pin_to_set(&before), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),     cmocka_unit_test(test_bad),
        cmocka_unit_test(test_members),  cmocka_unit_test(test_format_cut),
        cmocka_unit_test(test_read),     cmocka_unit_test(test_keys),
        cmocka_unit_test(test_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
