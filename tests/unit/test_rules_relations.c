/* SPDX-License-Identifier: MIT
 *
 * Each kind of rule, once broken and once not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "rules/rules.h"

#define FOUND_MAX 16
static struct ps_rule_finding findings[FOUND_MAX];
static size_t n_findings;

static void found(void *context, const struct ps_rule_finding *finding) {
    assert_ptr_equal(context, &n_findings);
    assert_true(n_findings < FOUND_MAX);
    findings[n_findings++] = *finding;
}

static size_t check(const struct ps_rule_row *rows, size_t n) {
    n_findings = 0;
    return ps_rules_check(rows, n, found, &n_findings);
}

static struct ps_rule_row row_of(const char *key, double value, enum ps_unit unit) {
    return (struct ps_rule_row){.id = key,
                                .key = key,
                                .table = key,
                                .source = "linux",
                                .has_value = true,
                                .threads = 1,
                                .place = "",
                                .value = value,
                                .min = value,
                                .max = value,
                                .unit = unit,
                                .cycles = NAN,
                                .limit = NAN};
}

static void relate(struct ps_rule_row *row, struct ps_rule_relation *relation,
                   enum ps_relation_type type, const char *other, double factor, double tolerance) {
    *relation = (struct ps_rule_relation){type, "os-01", other, "cause", factor, tolerance};
    row->relations = relation;
    row->n_relations = 1;
}

/* lat_tcp 0.86 us beside lat_pipe 20.9 us: a socket is not faster than a pipe. */
static void test_order(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[2] = {row_of("os.lat_tcp/lo:latency", 0.86, PS_UNIT_US),
                                  row_of("os.lat_pipe/pipe:latency", 20.9, PS_UNIT_US)};
    relate(&rows[0], &relation, PS_ORDER_AT_LEAST, "os.lat_pipe/pipe:latency", 1, 0.1);
    assert_int_equal(check(rows, 2), 1);
    assert_int_equal(findings[0].row, 0);
    assert_int_equal(findings[0].other, 1);
    assert_string_equal(findings[0].type, "ORDER");
    assert_string_equal(findings[0].rule, "os-01");
    assert_string_equal(findings[0].cause, "cause");
    assert_true(findings[0].failed);
    assert_double(findings[0].expected, 20.9 * 0.9, 1e-12);
    assert_double(findings[0].got, 0.86, 0);
    rows[0].value = 18.9; /* within the tolerance */
    assert_int_equal(check(rows, 2), 0);
    assert_int_equal(n_findings, 0);
    relate(&rows[0], &relation, PS_ORDER_AT_MOST, "os.lat_pipe/pipe:latency", 0.5, 0.1);
    assert_int_equal(check(rows, 2), 1); /* 18.9 > 20.9 x 0.5 x 1.1 */
    rows[0].value = 11.4;
    assert_int_equal(check(rows, 2), 0);
    relation.factor = 0; /* none given is 1 */
    rows[0].value = 22.9;
    assert_int_equal(check(rows, 2), 0);
}

static void test_near(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[2] = {row_of("a", 114, PS_UNIT_MB_PER_S),
                                  row_of("b", 100, PS_UNIT_MB_PER_S)};
    relate(&rows[0], &relation, PS_NEAR, "b", 1, 0.15);
    assert_int_equal(check(rows, 2), 0);
    rows[0].value = 84;
    assert_int_equal(check(rows, 2), 1);
    assert_string_equal(findings[0].type, "NEAR");
}

/* 1 copy: 100 a second; 16 copies on 4 CPUs: 1600 a second. */
static void test_scaling(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[2] = {row_of("cpu.copies/shell:rate", 100, PS_UNIT_PER_S),
                                  row_of("cpu.copies/shell:rate", 1600, PS_UNIT_PER_S)};
    rows[1].threads = 16;
    rows[1].usable_cpus = 4;
    relate(&rows[1], &relation, PS_SCALING, "cpu.copies/shell:rate", 1, 0.1);
    assert_int_equal(check(rows, 2), 1);
    assert_int_equal(findings[0].row, 1);
    assert_int_equal(findings[0].other, 0);
    assert_string_equal(findings[0].type, "SCALING");
    assert_double(findings[0].expected, 440, 1e-9);
    rows[1].value = 430;
    assert_int_equal(check(rows, 2), 0);
    rows[1].value = 1600;
    rows[1].usable_cpus = 0; /* unknown: by threads */
    assert_int_equal(check(rows, 2), 0);
    /* Times go the other way: a 16th of the time on 4 CPUs. */
    rows[0].unit = rows[1].unit = PS_UNIT_MS;
    rows[1].usable_cpus = 4;
    rows[1].value = 100.0 / 16;
    assert_int_equal(check(rows, 2), 1);
    rows[1].value = 100.0 / 4;
    assert_int_equal(check(rows, 2), 0);
}

/* Unequal clusters: a team is measured against the fastest single row. */
static void test_scaling_clusters(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[3] = {row_of("k", 100, PS_UNIT_MB_PER_S),
                                  row_of("k", 200, PS_UNIT_MB_PER_S),
                                  row_of("k", 410, PS_UNIT_MB_PER_S)};
    rows[0].place = "@cl0";
    rows[1].place = "@cl1";
    rows[2].threads = 2;
    relate(&rows[2], &relation, PS_SCALING, "k", 1, 0.1);
    assert_int_equal(check(rows, 3), 0);
    rows[2].value = 450;
    assert_int_equal(check(rows, 3), 1);
    assert_int_equal(findings[0].other, 1);
}

static void test_whole_cycles(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row row = row_of("cpu.ops/mul:latency", 1, PS_UNIT_NS);
    relate(&row, &relation, PS_WHOLE_CYCLES, "", 1, 0.05);
    row.cycles = 2.97;
    assert_int_equal(check(&row, 1), 0);
    row.cycles = 2.5;
    assert_int_equal(check(&row, 1), 1);
    assert_string_equal(findings[0].type, "WHOLE_CYCLES");
    row.cycles = 0.03; /* zero is no number of cycles */
    assert_int_equal(check(&row, 1), 1);
    row.cycles = NAN;
    assert_int_equal(check(&row, 1), 0);
    assert_int_equal(n_findings, 1);
    assert_false(findings[0].failed);
}

/* What cannot be compared is said, and breaks nothing. */
static void test_not_checked(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[2] = {row_of("a", 5, PS_UNIT_US), row_of("b", 10, PS_UNIT_US)};
    relate(&rows[0], &relation, PS_ORDER_AT_LEAST, "b", 1, 0);
    rows[1].has_value = false;
    assert_int_equal(check(rows, 2), 0);
    assert_int_equal(n_findings, 1);
    assert_false(findings[0].failed);
    assert_int_equal(findings[0].other, 1);
    assert_int_equal(check(rows, 1), 0); /* the other row is not there at all */
    assert_int_equal(n_findings, 1);
    assert_true(findings[0].other == SIZE_MAX);
    assert_string_equal(findings[0].other_key, "b");
    rows[1].has_value = true;
    rows[1].below_resolution = true;
    assert_int_equal(check(rows, 2), 0);
    rows[1].below_resolution = false;
    rows[1].source = "r5f0-0"; /* another source */
    assert_int_equal(check(rows, 2), 0);
    rows[1].source = "linux";
    rows[1].place = "@emmc"; /* another place */
    assert_int_equal(check(rows, 2), 0);
    rows[1].place = "";
    assert_int_equal(check(rows, 2), 1);
    rows[0].place = "@tmpfs"; /* a row without a place stands for all */
    assert_int_equal(check(rows, 2), 1);
    rows[1].place = "@emmc";
    assert_int_equal(check(rows, 2), 0);
    rows[0].place = rows[1].place = "";
    rows[0].below_resolution = true; /* takes no part */
    assert_int_equal(check(rows, 2), 0);
    assert_int_equal(n_findings, 0);
}

/* Of several rows of one key, the one with as many threads, else the one with the fewest. */
static void test_threads(void **ignored) {
    (void)ignored;
    struct ps_rule_relation relation;
    struct ps_rule_row rows[4] = {row_of("a", 50, PS_UNIT_US), row_of("b", 400, PS_UNIT_US),
                                  row_of("b", 10, PS_UNIT_US), row_of("b", 60, PS_UNIT_US)};
    rows[1].threads = 4;
    rows[3].threads = 2;
    relate(&rows[0], &relation, PS_ORDER_AT_LEAST, "b", 1, 0);
    assert_int_equal(check(rows, 4), 0); /* 50 >= 10 */
    rows[0].threads = 2;
    assert_int_equal(check(rows, 4), 1);
    assert_int_equal(findings[0].other, 3);
    rows[0].threads = 8;
    assert_int_equal(check(rows, 4), 0); /* 50 >= 10 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),        cmocka_unit_test(test_near),
        cmocka_unit_test(test_scaling),      cmocka_unit_test(test_scaling_clusters),
        cmocka_unit_test(test_whole_cycles), cmocka_unit_test(test_not_checked),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
