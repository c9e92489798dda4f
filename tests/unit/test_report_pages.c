/* SPDX-License-Identifier: MIT
 *
 * Whole pages of made-up sheets: nothing wider than the terminal, what lies behind a row on both
 * pages, no control byte of a sheet on any, sources that are told apart.
 */
#include "unit/sheet_text.h"

#include "report/report.h"

static char page[1 << 20];

static const char *print(const struct ps_sheet *sheet, unsigned width, bool all) {
    struct ps_report_options options = {.width = width, .all = all, .path = "a.jsonl"};
    FILE *stream = fmemopen(page, sizeof(page), "w");
    assert_non_null(stream);
    int error = width ? ps_report_terminal(sheet, &options, stream) : ps_report_md(sheet, stream);
    assert_int_equal(error, 0);
    assert_int_equal(fclose(stream), 0);
    return page;
}

static void assert_has(const char *text) {
    if (!strstr(page, text))
        fail_msg("no '%s' in:\n%s", text, page);
}

static void assert_width(size_t width) {
    for (const char *line = page; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > width)
            fail_msg("%zu columns of %zu: %.*s", length, width, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Rows with long names, every mark, events and modes. */
static struct ps_sheet *full_sheet(const char *id, const char *depth, const char *size) {
    struct sheet_text *text = calloc(1, sizeof(*text));
    assert_non_null(text);
    put(text,
        "{\"type\":\"sheet\",\"format\":1,\"id\":\"%s\",\"started\":\"2026-01-31T09:30:00Z\","
        "\"board\":{\"model\":\"Evil\\u001b[2J\\u007f\\u009b "
        "board\\nrest\"},\"plan\":{\"hash\":\"0123456789abcdef\","
        "\"depth\":\"%s\",\"args\":[\"t.t/a-very-long-filter-*\",\"two "
        "words\",\"--cpus\",\"2-3\",\"-o\","
        "\"some/long/path/of/a/sheet.jsonl\"]}}\n",
        id, depth);
    put(text, "{\"type\":\"source\",\"id\":\"linux\",\"kind\":\"linux\"}\n");
    put(text,
        "{\"type\":\"case\",\"id\":\"t.t/a-row-with-a-long-name\",\"source\":\"linux\",\"table\":"
        "\"t.t\",\"name\":\"a\",\"params\":{\"size_bytes\":%s},\"quality\":[\"cache-resident\","
        "\"emulated\",\"low-confidence\",\"preempted\"],\"metrics\":[",
        size);
    put_metric(text, "m", "ns", "time", "memory", "");
    end_case(text, "{\"type\":\"at-most\",\"rule\":\"r-1\",\"metric\":\"m\",\"other\":"
                   "\"t.t/b:m\",\"factor\":0.001,\"tolerance\":0.1,\"cause\":\"this test\"}");
    put_row(text, "b", "ns", "reading", "wake", "");
    for (unsigned i = 0; i < 8; i++) {
        put(text,
            "{\"type\":\"run\",\"case\":\"t.t/a-row-with-a-long-name\",\"source\":\"linux\","
            "\"seq\":%u,\"metrics\":{\"m\":{\"samples\":[",
            i);
        for (unsigned j = 0; j < 40; j++)
            put(text, "%s%.6g", j ? "," : "", 10.0 * i + (j % 10 < 3 ? 112112 : 100100) + j % 7);
        put(text, "]}}}\n");
        put_run(text, "b", 50 + i, 20, 0, "");
    }
    for (unsigned i = 0; i < 12; i++) {
        put(text,
            "{\"type\":\"case\",\"id\":\"t.t/c%u\",\"source\":\"linux\",\"table\":\"t.t\","
            "\"name\":\"c\",\"status\":\"denied\",\"reason\":\"needs the\\u0007 right\","
            "\"metrics\":[",
            i);
        put_metric(text, "m", "ns", "time", "memory", "");
        end_case(text, "");
    }
    put_end(text);
    return parse_text(text);
}

static void test_widths(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = full_sheet("s", "quick", "67108864");
    for (unsigned width = 40; width <= 160; width += 5)
        for (unsigned all = 0; all < 2; all++) {
            print(sheet, width, all);
            assert_width(width);
        }
    print(sheet, 80, false);
    assert_has("marks: ");
    assert_has("L=low-confidence"); /* wherever there are letters, their legend */
    print(sheet, 40, false);
    assert_has("'two words'"); /* in one piece, so that it can be copied */
    ps_sheet_free(sheet);
}

static void test_behind_a_row(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = full_sheet("s", "quick", "67108864");
    for (unsigned width = 0; width <= 100; width += 100) {
        print(sheet, width, false);
        assert_has("two modes: ");
        assert_has("p50 ");
        assert_has("rule r-1: expected ");
        assert_has("a-row-with-a-long-name (64 MiB)"); /* what a capped set really is */
        assert_has("t.t (12)");                        /* of a dozen rows, their table */
        assert_null(strstr(page, "t.t/c7"));
    }
    print(sheet, 0, false);
    assert_has("± %: half of the 95 % interval");
    assert_has("- low-confidence: ");
    ps_sheet_free(sheet);
}

static void test_control_bytes(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = full_sheet("s", "quick", "67108864");
    for (unsigned width = 0; width <= 100; width += 100) {
        print(sheet, width, true);
        assert_has("?");
        assert_has("board rest"); /* a newline neither ends a line */
        for (const char *c = page; *c; c++)
            if ((*c < 0x20 && *c >= 0 && *c != '\n') || *c == 0x7f ||
                ((unsigned char)*c == 0xc2 && (unsigned char)c[1] < 0xa0))
                fail_msg("byte 0x%02x in: %.60s", (unsigned char)*c, c);
    }
    ps_sheet_free(sheet);
}

static void test_two_plans(void **ignored) {
    (void)ignored;
    struct ps_sheet *quick = full_sheet("s1", "quick", "67108864");
    struct ps_sheet *deep = full_sheet("s2", "default", "134217728");
    assert_int_equal(ps_sheet_merge(quick, deep), 0);
    for (unsigned width = 0; width <= 160; width += 40) {
        print(quick, width, false);
        if (width)
            assert_width(width);
        if (width == 40) /* folded */
            continue;
        assert_has("linux (quick, 2026-01-31T09:30:00Z)");
        assert_has("linux (default, 2026-01-31T09:30:00Z)");
    }
    ps_sheet_free(quick);
    ps_sheet_free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_behind_a_row),
        cmocka_unit_test(test_control_bytes),
        cmocka_unit_test(test_two_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
