/* SPDX-License-Identifier: MIT
 *
 * The reader: what is taken, what is tolerated (a cut end, a resumed sheet, unknown keys), what is
 * refused and where.
 */
#include "unit/sheet_text.h"

#include <errno.h>
#include <unistd.h>

static void test_whole(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"hz\":1e9,\"usable_cpus\":4,\"emulated\":true,"
                                             "\"reference_mhz\":{\"0\":2000,\"1\":1500}");
    put(text, "{\"type\":\"table\",\"id\":\"t.t\",\"title\":\"T\",\"about\":\"A\",\"columns\":["
              "\"m\"]}\n");
    put_case(text, "a", "\"threads\":2,\"cluster\":1,\"target\":\"emmc\"",
             ",\"headline\":true,\"quality_of_life\":[{}]");
    put_metric(text, "m", "MB/s", "rate", "memory",
               ",\"floor_cycles\":0.5,\"positive\":true,\"depends\":\"libc\"");
    end_case(text, "{\"type\":\"at-most\",\"rule\":\"r\",\"metric\":\"m\",\"other\":\"t.t/b:m\","
                   "\"factor\":2,\"tolerance\":0.1,\"cause\":\"c\"}");
    put_run(text, "a", 0.5, 3, 2000, ",\"disturbed\":\"steal\",\"load\":{\"all_pct\":12.5}");
    put(text, "{\"type\":\"trial\",\"what\":\"is not known here\"}\n");
    put_end(text);
    struct ps_sheet *sheet = parse_text(text);
    assert_false(sheet->incomplete);
    assert_false(sheet->truncated);
    assert_string_equal(sheet->id, "s");
    assert_non_null(sheet->header);
    assert_non_null(sheet->end);
    assert_double(sheet->reference_mhz, 2000, 0);
    assert_int_equal(sheet->n_sources, 1);
    assert_int_equal(sheet->sources[0].usable_cpus, 4);
    assert_true(sheet->sources[0].emulated);
    assert_string_equal(sheet->sources[0].kind, "linux");
    assert_int_equal(sheet->n_tables, 1);
    assert_string_equal(sheet->tables[0].title, "T");
    assert_int_equal(sheet->n_cases, 1);
    const struct ps_sheet_case *c = &sheet->cases[0];
    assert_string_equal(c->id, "t.t/a");
    assert_int_equal(c->threads, 2);
    assert_int_equal(c->cluster, 1);
    assert_string_equal(c->target, "emmc");
    assert_true(c->headline);
    assert_int_equal(ps_json_get_i64(c->params, "size_bytes", 0), 4096);
    assert_int_equal(c->n_metrics, 1);
    assert_int_equal(c->metrics[0].unit, PS_UNIT_MB_PER_S);
    assert_int_equal(c->metrics[0].sample_stat, PS_STAT_P25); /* the bound's */
    assert_int_equal(c->metrics[0].run_stat, PS_STAT_LOWER_HALF);
    assert_int_equal(c->metrics[0].depends, PS_DEPENDS_LIBC);
    assert_true(c->metrics[0].positive);
    assert_int_equal(c->relations[0].type, PS_ORDER_AT_MOST);
    assert_int_equal(sheet->n_runs, 1);
    const struct ps_sheet_run *run = &sheet->runs[0];
    assert_string_equal(run->disturbed, "steal");
    assert_double(run->mhz_median, 2000, 0);
    assert_true(isnan(run->mhz_min));
    assert_double(run->load_all_pct, 12.5, 0);
    assert_true(isnan(run->load_busiest_pct));
    assert_int_equal(run->throttled, -1);
    assert_int_equal(run->n_series, 1);
    assert_int_equal(run->series[0].n, 3);
    assert_double(run->series[0].samples[2], 0.5, 0);
    assert_double(run->series[0].mhz[2], 2000, 0);
    assert_null(run->series[0].baseline);
    assert_int_equal(sheet->n_results, 1);
    assert_string_equal(sheet->results[0].id, "t.t/a:m");
    ps_sheet_free(sheet);
}

static void refuse(const char *more_lines, size_t line, size_t column, const char *what) {
    struct sheet_text *text = sheet_text_new("");
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error = {0, 0, ""};
    put(text, "%s", more_lines);
    put_end(text);
    assert_int_equal(ps_sheet_parse(text->data, text->length, &sheet, &error), -EINVAL);
    assert_null(sheet);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    if (!strstr(error.what, what))
        fail_msg("'%s' is not in '%s'", what, error.what);
    free(text);
}

static void test_refused(void **ignored) {
    (void)ignored;
    refuse("\n{\"type\":\"run\",]\n", 4, 15, "quotes");
    refuse("[1]\n", 3, 1, "without a type");
    refuse("{\"type\":\"sheet\",\"format\":2}\n", 3, 1, "format");
    refuse("{\"type\":\"case\",\"id\":\"t.t/a\"}\n", 3, 1, "a case without");
    refuse("{\"type\":\"case\",\"id\":\"a\",\"source\":\"l\",\"table\":\"t\",\"name\":\"n\","
           "\"status\":\"fine\"}\n",
           3, 1, "status");
    refuse("{\"type\":\"case\",\"id\":\"a\",\"source\":\"l\",\"table\":\"t\",\"name\":\"n\","
           "\"metrics\":"
           "[{\"name\":\"m\",\"unit\":\"furlong\",\"kind\":\"time\",\"bound\":\"core\"}]}\n",
           3, 1, "unit");
    refuse("{\"type\":\"case\",\"id\":\"a\",\"source\":\"l\",\"table\":\"t\",\"name\":\"n\","
           "\"metrics\":"
           "[{\"name\":\"m\",\"unit\":\"ns\",\"kind\":\"time\",\"bound\":\"auto\"}]}\n",
           3, 1, "bound");
    refuse("{\"type\":\"case\",\"id\":\"a\",\"source\":\"l\",\"table\":\"t\",\"name\":\"n\","
           "\"metrics\":"
           "[{\"name\":\"m\",\"unit\":\"ns\",\"kind\":\"derived\",\"bound\":\"core\"}]}\n",
           3, 1, "derivation");
    refuse("{\"type\":\"run\",\"case\":\"a\",\"source\":\"l\",\"metrics\":{\"m\":{\"samples\":[1,"
           "\"2\"]}}}\n",
           3, 1, "not a number");
    refuse(
        "{\"type\":\"run\",\"case\":\"a\",\"source\":\"l\",\"metrics\":{\"m\":{\"samples\":[1,2],"
        "\"mhz\":[1]}}}\n",
        3, 1, "length");
    refuse("{\"type\":\"run\",\"case\":\"a\",\"source\":\"l\",\"metrics\":{\"m\":{\"hist\":{\"sub_"
           "bits\":6,"
           "\"counts\":[[99999,1]]}}}}\n",
           3, 1, "histogram");
    refuse("{\"type\":\"run\",\"case\":\"a\",\"source\":\"l\",\"metrics\":{\"m\":{\"hist\":{\"sub_"
           "bits\":6,"
           "\"counts\":[[5,4294967295],[5,1]]}}}}\n",
           3, 1, "histogram");
    refuse("{\"type\":\"run\",\"case\":\"a\",\"source\":\"l\",\"quality\":[\"splendid\"]}\n", 3, 1,
           "quality");
}

static void test_cut(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_row(text, "a", "ns", "time", "memory", "");
    size_t whole = text->length;
    put_run(text, "a", 100, 5, 0, "");
    /* Cut at every byte of the last line: the rest is read, and results made of it. */
    size_t all = text->length;
    for (size_t length = whole + 1; length < all - 1; length++) {
        struct ps_sheet *sheet = NULL;
        struct ps_sheet_error error;
        assert_int_equal(ps_sheet_parse(text->data, length, &sheet, &error), 0);
        assert_true(sheet->truncated && sheet->incomplete);
        assert_int_equal(sheet->n_runs, 0);
        assert_int_equal(sheet->results[0].status, PS_ABORTED);
        assert_string_equal(sheet->results[0].reason,
                            "It was not measured: the sheet is incomplete.");
        ps_sheet_free(sheet);
    }
    /* Whole but for its newline. */
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error;
    assert_int_equal(ps_sheet_parse(text->data, all - 1, &sheet, &error), 0);
    assert_int_equal(sheet->n_runs, 1);
    assert_false(sheet->truncated);
    ps_sheet_free(sheet);
    /* A block of zeroes at the end, as after a loss of power. */
    memset(text->data + all, 0, 4096);
    assert_int_equal(ps_sheet_parse(text->data, all + 4096, &sheet, &error), 0);
    assert_true(sheet->truncated);
    assert_int_equal(sheet->n_runs, 1);
    ps_sheet_free(sheet);
    free(text);
}

static void test_empty(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error;
    assert_int_equal(ps_sheet_parse("", 0, &sheet, &error), -EINVAL);
    assert_int_equal(ps_sheet_parse("\n\n \n", 4, &sheet, &error), -EINVAL);
    assert_int_equal(ps_sheet_parse("{\"type", 6, &sheet, &error), -EINVAL);
    assert_non_null(strstr(error.what, "not a sheet"));
    assert_int_equal(ps_sheet_read("/nonexistent/sheet.jsonl", &sheet, &error), -ENOENT);
    assert_null(sheet);
}

/* A sheet that was ended, resumed in place and cut off again is incomplete; what is declared again
 * replaces what was declared before, in its place. */
static void test_resumed(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_case(text, "a", "", ",\"status\":\"skipped\",\"reason\":\"No budget.\"");
    put_metric(text, "m", "ns", "time", "memory", "");
    end_case(text, "");
    put_row(text, "b", "ns", "time", "memory", "");
    put_run(text, "b", 100, 5, 0, "");
    put_end(text);
    put(text, "{\"type\":\"source\",\"id\":\"linux\",\"kind\":\"linux\",\"usable_cpus\":8}\n");
    put_row(text, "a", "ns", "time", "memory", "");
    put_run(text, "a", 50, 5, 0, "");
    struct ps_sheet *sheet = parse_text(text);
    assert_true(sheet->incomplete);
    assert_int_equal(sheet->n_sources, 1);
    assert_int_equal(sheet->sources[0].usable_cpus, 8);
    assert_int_equal(sheet->n_cases, 2);
    assert_string_equal(sheet->cases[0].id, "t.t/a");
    assert_int_equal(sheet->cases[1].order, 1);
    assert_int_equal(result_of(sheet, "t.t/a:m")->status, PS_OK);
    assert_close(result_of(sheet, "t.t/a:m")->value, 50);
    assert_close(result_of(sheet, "t.t/b:m")->value, 100);
    ps_sheet_free(sheet);
}

static void test_file(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_row(text, "a", "ns", "time", "memory", "");
    for (unsigned i = 0; i < 300; i++) /* several reads, lines across their ends */
        put_run(text, "a", 100 + i, 40, 0, "");
    put_end(text);
    char path[] = "/tmp/test_sheet_read.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text->data, text->length), text->length);
    close(fd);
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error;
    int result = ps_sheet_read(path, &sheet, &error);
    unlink(path);
    assert_int_equal(result, 0);
    assert_int_equal(sheet->n_runs, 300);
    assert_double(sheet->runs[299].series[0].samples[39], 399, 0);
    assert_int_equal(sheet->results[0].n_runs, 300);
    ps_sheet_free(sheet);
    free(text);
}

static void test_memory(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    struct ps_sheet *sheet = parse_text(text);
    char *bytes = ps_sheet_alloc(sheet, 100000);
    assert_non_null(bytes);
    memset(bytes, 1, 100000);
    assert_string_equal(ps_sheet_strdup(sheet, "kept"), "kept");
    assert_null(ps_sheet_alloc(sheet, SIZE_MAX));
    ps_sheet_free(sheet);
    ps_sheet_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),  cmocka_unit_test(test_refused), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_empty),  cmocka_unit_test(test_resumed), cmocka_unit_test(test_file),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
