/* SPDX-License-Identifier: MIT
 *
 * Several sheets: runs are pooled where cases mean the same, and kept apart where they do not.
 */
#include <errno.h>

#include "unit/sheet_text.h"

static unsigned n_sheets;

/* A sheet of its own id each time. */
static struct ps_sheet *sheet_of(const char *board, const char *source, unsigned method,
                                 double sample) {
    struct sheet_text *text = calloc(1, sizeof(*text));
    assert_non_null(text);
    put(text, "{\"type\":\"sheet\",\"format\":1,\"id\":\"s%u\",\"board\":{\"id\":\"%s\"}}\n",
        n_sheets++, board);
    put(text, "{\"type\":\"source\",\"id\":\"%s\",\"kind\":\"linux\",\"usable_cpus\":2}\n", source);
    put(text, "{\"type\":\"table\",\"id\":\"t.t\"}\n");
    put(text,
        "{\"type\":\"case\",\"id\":\"t.t/"
        "a\",\"source\":\"%s\",\"table\":\"t.t\",\"name\":\"a\",\"params\":"
        "{\"bytes\":4},\"metrics\":[{\"name\":\"m\",\"unit\":\"ns\",\"kind\":\"time\",\"bound\":"
        "\"device\",\"method\":%u}]}\n",
        source, method);
    for (unsigned i = 0; i < 3; i++)
        put(text,
            "{\"type\":\"run\",\"case\":\"t.t/"
            "a\",\"source\":\"%s\",\"seq\":%u,\"metrics\":{\"m\":{\"samples\":"
            "[%.9g]}}}\n",
            source, i, sample + i);
    put_end(text);
    return parse_text(text);
}

static void test_pooled(void **ignored) {
    (void)ignored;
    struct ps_sheet *into = sheet_of("x", "linux", 1, 100), *from = sheet_of("x", "linux", 1, 200);
    struct ps_sheet *third = sheet_of("x", "linux", 1, 300);
    assert_int_equal(ps_sheet_merge(into, from), 0);
    assert_int_equal(ps_sheet_merge(into, third), 0);
    assert_int_equal(into->n_cases, 1);
    assert_int_equal(into->n_sources, 1);
    assert_int_equal(into->n_tables, 1);
    assert_int_equal(into->n_runs, 9);
    assert_int_equal(into->n_results, 1);
    assert_int_equal(into->results[0].n_runs, 9);
    assert_close(into->results[0].value, 201);
    assert_close(from->results[0].value, 201); /* what was given is as it was */
    assert_int_equal(from->n_runs, 3);
    ps_sheet_free(into);
    ps_sheet_free(from);
    ps_sheet_free(third);
}

static void test_apart(void **ignored) {
    (void)ignored;
    static const struct {
        const char *board, *source;
        unsigned method, n_sources;
    } others[] = {{"y", "linux", 1, 2}, {"x", "r5f0-0", 1, 2}, {"x", "linux", 2, 2}};
    for (unsigned i = 0; i < 3; i++) {
        struct ps_sheet *into = sheet_of("x", "linux", 1, 100);
        struct ps_sheet *from = sheet_of(others[i].board, others[i].source, others[i].method, 200);
        struct ps_sheet *again = sheet_of(others[i].board, others[i].source, others[i].method, 300);
        assert_int_equal(ps_sheet_merge(into, from), 0);
        assert_int_equal(into->n_cases, 2);
        assert_int_equal(into->n_sources, others[i].n_sources);
        assert_close(into->results[0].value, 101);
        assert_close(into->results[1].value, 201);
        assert_int_equal(into->results[1].n_runs, 3);
        assert_int_equal(into->results[0].status, PS_OK);
        assert_int_equal(ps_sheet_merge(into, again), 0);
        assert_int_equal(into->n_runs, 9); /* the third pools with the second */
        assert_int_equal(into->n_cases, 2);
        assert_int_equal(into->n_sources, 2);
        assert_close(into->results[0].value, 101);
        assert_int_equal(into->results[1].n_runs, 6);
        ps_sheet_free(into);
        ps_sheet_free(from);
        ps_sheet_free(again);
    }
}

/* The same sheet twice has each run once, and the interval is not narrowed by it. */
static void test_repeated(void **ignored) {
    (void)ignored;
    struct ps_sheet *into = sheet_of("x", "linux", 1, 100), *again, *other;
    n_sheets--;
    again = sheet_of("x", "linux", 1, 100);
    other = sheet_of("x", "linux", 1, 200);
    double low = into->results[0].ci95[0];
    assert_int_equal(ps_sheet_merge(into, again), 0);
    assert_int_equal(into->n_repeated, 3);
    assert_int_equal(into->n_runs, 3);
    assert_int_equal(into->n_cases, 1);
    assert_int_equal(into->results[0].n_runs, 3);
    assert_close(into->results[0].ci95[0], low);
    assert_int_equal(ps_sheet_merge(into, other), 0);
    assert_int_equal(ps_sheet_merge(into, again), 0); /* also behind another */
    assert_int_equal(into->n_runs, 6);
    assert_int_equal(into->n_repeated, 6);
    ps_sheet_free(into);
    ps_sheet_free(again);
    ps_sheet_free(other);
}

/* One file with two sheets is refused: their runs could not be told apart. */
static void test_two_in_one_file(void **ignored) {
    (void)ignored;
    static const char text[] = "{\"type\":\"sheet\",\"format\":1,\"id\":\"s\"}\n"
                               "{\"type\":\"end\"}\n"
                               "{\"type\":\"sheet\",\"format\":1,\"id\":\"s\"}\n";
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error = {0};
    assert_int_equal(ps_sheet_parse(text, sizeof(text) - 1, &sheet, &error), -EINVAL);
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.what, "another sheet begins here"));
}

/* What one invocation skipped, another measured. */
static void test_complement(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheets[2];
    for (unsigned i = 0; i < 2; i++) {
        struct sheet_text *text = sheet_text_new("");
        put_case(text, "a", "", i ? "" : ",\"status\":\"skipped\",\"reason\":\"No budget.\"");
        put_metric(text, "m", "ns", "time", "memory", "");
        end_case(text, "");
        for (unsigned j = 0; i && j < 3; j++)
            put_run(text, "a", 100, 5, 0, "");
        if (i)
            put_end(text);
        sheets[i] = parse_text(text);
    }
    assert_int_equal(sheets[0]->results[0].status, PS_SKIPPED);
    assert_int_equal(ps_sheet_merge(sheets[0], sheets[1]), 0);
    assert_int_equal(sheets[0]->n_results, 1);
    assert_int_equal(sheets[0]->results[0].status, PS_OK);
    assert_close(sheets[0]->results[0].value, 100);
    assert_true(sheets[0]->incomplete);
    ps_sheet_free(sheets[0]);
    ps_sheet_free(sheets[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pooled),     cmocka_unit_test(test_apart),
        cmocka_unit_test(test_repeated),   cmocka_unit_test(test_two_in_one_file),
        cmocka_unit_test(test_complement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
