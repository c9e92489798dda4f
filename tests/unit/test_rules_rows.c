/* SPDX-License-Identifier: MIT
 *
 * The rules that look at a row alone, and duplicates.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "rules/rules.h"

static struct ps_rule_finding last;
static size_t n_findings;

static void found(void *context, const struct ps_rule_finding *finding) {
    (void)context;
    last = *finding;
    n_findings++;
}

static size_t check(const struct ps_rule_row *rows, size_t n) {
    n_findings = 0;
    return ps_rules_check(rows, n, found, NULL);
}

static struct ps_rule_row row_of(const char *key, double value, double min, double max) {
    return (struct ps_rule_row){.id = key,
                                .key = key,
                                .table = "mem.bw_mem",
                                .source = "linux",
                                .has_value = true,
                                .threads = 1,
                                .place = "",
                                .value = value,
                                .min = min,
                                .max = max,
                                .unit = PS_UNIT_MB_PER_S,
                                .cycles = NAN,
                                .limit = NAN};
}

static void test_positive(void **ignored) {
    (void)ignored;
    struct ps_rule_row row = row_of("a", 21.15, 0, 47); /* a missing value averaged in as zero */
    row.positive = true;
    assert_int_equal(check(&row, 1), 1);
    assert_string_equal(last.type, "POSITIVE");
    assert_double(last.got, 0, 0);
    row.positive = false;
    assert_int_equal(check(&row, 1), 0); /* zero is wrong only for positive metrics */
    row.min = row.value = -1;            /* a rate is never negative */
    assert_int_equal(check(&row, 1), 1);
    row.unit = PS_UNIT_CELSIUS; /* a temperature may be */
    assert_int_equal(check(&row, 1), 0);
    row.positive = true;
    assert_int_equal(check(&row, 1), 1);
    row.has_value = false;
    assert_int_equal(check(&row, 1), 0);
}

static void test_ceilings(void **ignored) {
    (void)ignored;
    struct ps_rule_row row = row_of("a", 100, 99, 101);
    row.floor_cycles = 25;
    row.cycles = 24.5; /* the clock itself is known to 3 % */
    assert_int_equal(check(&row, 1), 0);
    row.cycles = 1.01;
    assert_int_equal(check(&row, 1), 1);
    assert_string_equal(last.type, "CEILING");
    assert_non_null(strstr(last.cause, "optimised away"));
    assert_double(last.expected, 25, 0);
    row.below_resolution = true; /* even the upper bound is under the floor */
    assert_int_equal(check(&row, 1), 1);
    row.cycles = NAN;
    assert_int_equal(check(&row, 1), 0);
    row.below_resolution = false;
    row.limit = 200;
    assert_int_equal(check(&row, 1), 0);
    row.value = 5000; /* 5 GB/s on a bus of 200 MB/s */
    assert_int_equal(check(&row, 1), 1);
    assert_double(last.expected, 200, 0);
}

/* Neighbouring operations that share their extremes, as in a published table. */
static void test_duplicate_extremes(void **ignored) {
    (void)ignored;
    struct ps_rule_row rows[3] = {row_of("rd", 1001, 540.83, 1462), row_of("wr", 635, 540.83, 730),
                                  row_of("cp", 1534, 392.55, 2938.48)};
    assert_int_equal(check(rows, 3), 1);
    assert_string_equal(last.type, "DUPLICATE");
    assert_double(last.got, 540.83, 0);
    rows[1].min = 540.84;
    assert_int_equal(check(rows, 3), 0);
    rows[1].max = 2938.48;
    assert_int_equal(check(rows, 3), 1);
    assert_double(last.got, 2938.48, 0);
    rows[1].max = rows[2].max = 3000.0; /* one digit: a coincidence */
    assert_int_equal(check(rows, 3), 0);
    rows[1].max = rows[2].max = 29380.0; /* four */
    assert_int_equal(check(rows, 3), 0);
    rows[1].max = rows[2].max = 293.81; /* five */
    rows[1].min = rows[2].min = 200;
    assert_int_equal(check(rows, 3), 1);
}

static void test_duplicate_all(void **ignored) {
    (void)ignored;
    struct ps_rule_row rows[2] = {row_of("rd", 12345.6, 200, 300), row_of("wr", 12345.6, 200, 300)};
    assert_int_equal(check(rows, 2), 1); /* once, though all three agree */
    rows[0].value = rows[1].value = 250;
    assert_int_equal(check(rows, 2), 0);
}

static void test_duplicate_exempt(void **ignored) {
    (void)ignored;
    struct ps_rule_row rows[2] = {row_of("mem.bw_mem/rd:bandwidth", 1001, 540.83, 1462),
                                  row_of("mem.bw_mem/wr:bandwidth", 635, 540.83, 730)};
    rows[1].alias_of = "mem.bw_mem/rd:bandwidth";
    assert_int_equal(check(rows, 2), 0);
    rows[1].alias_of = "mem.bw_mem/rd"; /* the whole case */
    assert_int_equal(check(rows, 2), 0);
    rows[1].alias_of = "mem.bw_mem/r";
    assert_int_equal(check(rows, 2), 1);
    rows[0].alias_of = "mem.bw_mem/r"; /* both repeat a third */
    assert_int_equal(check(rows, 2), 0);
    rows[0].alias_of = rows[1].alias_of = NULL;
    rows[1].table = "mem.stream"; /* another table */
    assert_int_equal(check(rows, 2), 0);
    rows[1].table = rows[0].table;
    rows[1].place = "@cl1";
    assert_int_equal(check(rows, 2), 0);
    rows[1].place = "";
    rows[0].unit = rows[1].unit = PS_UNIT_MHZ; /* a clock is a condition, the same for many rows */
    assert_int_equal(check(rows, 2), 0);
    rows[0].unit = rows[1].unit = PS_UNIT_MB_PER_S;
    rows[1].below_resolution = true;
    assert_int_equal(check(rows, 2), 0);
    rows[1].below_resolution = false;
    for (unsigned i = 0; i < 2; i++) /* a counter that repeats exactly has no extremes to share */
        rows[i].value = rows[i].min = rows[i].max = 540.83;
    assert_int_equal(check(rows, 2), 0);
}

static void test_many(void **ignored) {
    (void)ignored;
    enum { N = 500 };
    static struct ps_rule_row rows[N];
    static char keys[N][32];
    for (unsigned i = 0; i < N; i++) {
        snprintf(keys[i], sizeof(keys[i]), "t/c%u:m", i);
        rows[i] = row_of(keys[i], 1000.123 + i, 900.123 + i, 1100.123 + i);
    }
    assert_int_equal(check(rows, N), 0);
    rows[77].max = rows[400].max;
    assert_int_equal(check(rows, N), 1);
    assert_int_equal(last.row + last.other, 477);
    assert_int_equal(check(rows, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positive),           cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_duplicate_extremes), cmocka_unit_test(test_duplicate_all),
        cmocka_unit_test(test_duplicate_exempt),   cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
