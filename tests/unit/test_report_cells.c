/* SPDX-License-Identifier: MIT
 *
 * Cells of a table: a value with its range, an upper bound, a status instead of a number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "report/cells.h"

static struct ps_sheet_metric metric = {
    .name = "bandwidth", .unit = PS_UNIT_MB_PER_S, .decimals = 2};
static struct ps_sheet_case row = {
    .id = "mem.bw_mem/rd-1mb@x2", .table = "mem.bw_mem", .source = "linux"};

static struct ps_result make(double value, double min, double max) {
    struct ps_result result = {.id = "mem.bw_mem/rd-1mb@x2:bandwidth",
                               .c = &row,
                               .metric = &metric,
                               .source = "linux",
                               .status = PS_OK,
                               .value = value,
                               .min = min,
                               .max = max,
                               .ci95 = {NAN, NAN},
                               .n_runs = 8};
    metric.decimals = 2;
    return result;
}

static void expect_cell(const struct ps_result *result, const char *wanted) {
    char text[512];
    ps_cell(result, text, sizeof(text));
    assert_string_equal(text, wanted);
}

static void test_value(void **state) {
    (void)state;
    struct ps_result result = make(1409.324, 1401.1, 1420.55);
    expect_cell(&result, "1409.32 (min 1401.10, max 1420.55)");
    result = make(1409.324, 1409.321, 1409.3249);
    expect_cell(&result, "1409.32"); /* equal at the shown precision */
    result = make(1409.32, 1409.32, 1409.33);
    expect_cell(&result, "1409.32 (min 1409.32, max 1409.33)");
    result = make(1409.32, NAN, NAN);
    expect_cell(&result, "1409.32");
    result = make(1409.5, 1409.4, 1410.5);
    metric.decimals = 0;
    expect_cell(&result, "1410 (min 1409, max 1411)");
}

static void test_small_is_not_zero(void **state) {
    (void)state;
    struct ps_result result = make(0.00042, 0.00041, 0.00044);
    expect_cell(&result, "0.0004"); /* one digit is enough to tell it from nothing */
    result = make(0, 0, 0);
    expect_cell(&result, "0.00");
    char text[64];
    ps_cell_number(0.004, 2, text, sizeof(text));
    assert_string_equal(text, "0.004");
    ps_cell_number(0.05, 2, text, sizeof(text));
    assert_string_equal(text, "0.05");
    ps_cell_number(1e15, 1, text, sizeof(text));
    assert_string_equal(text, "1000000000000000.0");
    ps_cell_number(NAN, 1, text, sizeof(text));
    assert_string_equal(text, "-");
}

static void test_upper_bound(void **state) {
    (void)state;
    struct ps_result result = make(0.25, 0.1, 0.3);
    result.quality = PS_Q_BELOW_RESOLUTION;
    expect_cell(&result, "< 0.25");
    char text[64];
    ps_cell_marks(&result, text, sizeof(text));
    assert_string_equal(text, "");
}

static void test_words(void **state) {
    (void)state;
    static const struct {
        enum ps_status status;
        const char *word;
    } words[] = {{PS_UNSUPPORTED, "unsupported"}, {PS_SKIPPED, "skipped"}, {PS_DENIED, "denied"},
                 {PS_UNSAFE, "unsafe"},           {PS_FAILED, "failed"},   {PS_TIMEOUT, "timeout"},
                 {PS_ABORTED, "aborted"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        /* A number that a result of this status must not have is not printed either. */
        struct ps_result result = make(0, 0, 0);
        result.status = words[i].status;
        expect_cell(&result, words[i].word);
        assert_false(ps_cell_has_number(&result));
    }
    struct ps_result result = make(NAN, NAN, NAN);
    expect_cell(&result, "-");
    result = make(12, 12, 12);
    result.status = PS_SUSPECT;
    expect_cell(&result, "12.00");
}

static void test_spread(void **state) {
    (void)state;
    char text[64];
    struct ps_result result = make(1000, 990, 1010);
    ps_cell_spread(&result, text, sizeof(text));
    assert_string_equal(text, "-");
    result.ci95[0] = 995.8;
    result.ci95[1] = 1004.2;
    ps_cell_spread(&result, text, sizeof(text));
    assert_string_equal(text, "0.42");
    result.ci95[0] = 900;
    result.ci95[1] = 1050;
    ps_cell_spread(&result, text, sizeof(text));
    assert_string_equal(text, "7.5");
    result.ci95[0] = 500;
    result.ci95[1] = 1500;
    ps_cell_spread(&result, text, sizeof(text));
    assert_string_equal(text, "50");
    result = make(0, 0, 0);
    result.ci95[0] = result.ci95[1] = 0;
    ps_cell_spread(&result, text, sizeof(text));
    assert_string_equal(text, "-");
}

static void test_marks_runs_name(void **state) {
    (void)state;
    char text[128];
    struct ps_result result = make(1, 1, 1);
    result.quality = PS_Q_NOISY | PS_Q_PRECISION_NOT_REACHED;
    result.status = PS_SUSPECT;
    ps_cell_marks(&result, text, sizeof(text));
    assert_string_equal(text, "suspect, noisy, precision-not-reached");
    ps_cell_runs(&result, text, sizeof(text));
    assert_string_equal(text, "8");
    result.n_disturbed = 2;
    ps_cell_runs(&result, text, sizeof(text));
    assert_string_equal(text, "8+2");
    ps_cell_name(&result, true, text, sizeof(text));
    assert_string_equal(text, "rd-1mb@x2:bandwidth");
    ps_cell_name(&result, false, text, sizeof(text));
    assert_string_equal(text, "rd-1mb@x2");
}

static void test_bytes(void **state) {
    (void)state;
    char text[64];
    ps_cell_bytes(64, text, sizeof(text));
    assert_string_equal(text, "64 B");
    ps_cell_bytes(32768, text, sizeof(text));
    assert_string_equal(text, "32 KiB");
    ps_cell_bytes(1.5 * 1048576, text, sizeof(text));
    assert_string_equal(text, "1.5 MiB");
    ps_cell_bytes(2199023255552.0, text, sizeof(text));
    assert_string_equal(text, "2 TiB");
    ps_cell_bytes(NAN, text, sizeof(text));
    assert_string_equal(text, "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value),       cmocka_unit_test(test_small_is_not_zero),
        cmocka_unit_test(test_upper_bound), cmocka_unit_test(test_words),
        cmocka_unit_test(test_spread),      cmocka_unit_test(test_marks_runs_name),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
