/* SPDX-License-Identifier: MIT
 *
 * Result and end records: their keys in the order of docs/FORMAT.md, numbers or null, never nan.
 */
#include "unit/sheet_text.h"

struct output {
    char data[65536];
    size_t length;
};

static int take(void *target, const char *data, size_t length) {
    struct output *output = target;
    assert_true(output->length + length < sizeof(output->data));
    memcpy(output->data + output->length, data, length);
    output->length += length;
    return 0;
}

static struct output output;

static void begin(struct ps_json_writer *json) {
    memset(&output, 0, sizeof(output));
    ps_json_init(json, take, &output);
}

static void assert_keys(const struct ps_json *record, const char *keys) {
    char got[2048] = "";
    for (const struct ps_json *item = record->u.first; item; item = item->next) {
        strcat(got, item->key);
        strcat(got, item->next ? " " : "");
    }
    assert_string_equal(got, keys);
}

static const char result_keys[] =
    "type id source params place unit counts better method kind sample_stat run_stat bound status "
    "reason "
    "quality value mean min max raw cycles median mad cv ci95 best modes quantiles mhz load n_runs "
    "n_disturbed gross baseline limit requested granted role of order alias_of derived_from "
    "decimals "
    "positive depends origin printed text relations published rules";

static struct ps_sheet *sample_sheet(void) {
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":2000}");
    put_case(text, "a", "\"threads\":1,\"target\":\"emmc\"", ",\"x\":[1]");
    put_metric(text, "m", "us", "time", "core", ",\"depends\":\"compiler\",\"positive\":true");
    put(text,
        "],\"relations\":[{\"type\":\"at-most\",\"rule\":\"r\",\"metric\":\"m\",\"other\":\"t.t/"
        "b:m\","
        "\"factor\":1,\"tolerance\":0.05,\"cause\":\"c\"}],\"published\":[{\"metric\":\"m\","
        "\"page\":"
        "\"am62l\",\"table\":\"lmbench\",\"row\":\"lat (us)\",\"column\":\"result\",\"nth\":1,"
        "\"comparable\":\"approx\",\"why\":\"w\"},{\"metric\":\"other\",\"page\":\"p\","
        "\"comparable\":"
        "\"no\"}]}\n");
    put_row(text, "b", "us", "time", "core", "");
    for (unsigned i = 0; i < 3; i++) {
        put_run(text, "a", 1000 + i, 5, 2000, ",\"load\":{\"all_pct\":50,\"busiest_pct\":null}");
        put_run(text, "b", 100 + i, 5, 2000, "");
    }
    put(text, "{\"type\":\"run\",\"case\":\"t.t/"
              "b\",\"source\":\"linux\",\"status\":\"timeout\",\"reason\":"
              "\"It took longer than \\\"60 s\\\".\"}\n");
    return parse_text(text);
}

static void test_result(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = sample_sheet();
    struct ps_json_writer json;
    struct ps_json_document *document;
    const struct ps_json *record;
    struct ps_json_error error;
    begin(&json);
    ps_record_result(&json, result_of(sheet, "t.t/a:m"));
    assert_int_equal(ps_json_parse(output.data, output.length, &document, &record, &error), 0);
    assert_keys(record, result_keys);
    assert_string_equal(ps_json_get_string(record, "status", ""), "ok");
    assert_string_equal(ps_json_get_string(record, "depends", ""), "compiler");
    assert_string_equal(ps_json_get_string(record, "origin", ""), "measured");
    assert_double(ps_json_get_double(record, "value", NAN), 1.0005, 1e-12);
    assert_double(ps_json_get_double(record, "cycles", NAN), 2001, 1e-9);
    assert_int_equal(ps_json_get_i64(record, "n_runs", 0), 3);
    assert_int_equal(ps_json_get(record, "ci95")->n, 2);
    assert_int_equal(ps_json_get(record, "modes")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(record, "gross")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(record, "limit")->type, PS_JSON_NULL);
    assert_double(ps_json_get_double(ps_json_get(record, "load"), "all_pct", NAN), 50, 0);
    assert_string_equal(ps_json_get_string(ps_json_get(record, "place"), "target", ""), "emmc");
    assert_int_equal(ps_json_get_i64(ps_json_get(record, "params"), "size_bytes", 0), 4096);
    assert_int_equal(ps_json_get(record, "published")->n, 1); /* of this metric only */
    const struct ps_json *relation = ps_json_get(record, "relations")->u.first;
    assert_string_equal(ps_json_get_string(relation, "type", ""), "at-most");
    const struct ps_json *rule = ps_json_get(record, "rules")->u.first;
    assert_keys(rule, "rule type other expected got failed cause");
    assert_false(ps_json_get_bool(rule, "failed", true)); /* the other row has no number */
    assert_int_equal(ps_json_get(rule, "expected")->type, PS_JSON_NULL);
    ps_json_document_free(document);

    begin(&json);
    ps_record_result(&json, result_of(sheet, "t.t/b:m"));
    assert_int_equal(ps_json_parse(output.data, output.length, &document, &record, &error), 0);
    assert_keys(record, result_keys);
    assert_string_equal(ps_json_get_string(record, "status", ""), "timeout");
    assert_string_equal(ps_json_get_string(record, "reason", ""), "It took longer than \"60 s\".");
    assert_int_equal(ps_json_get(record, "value")->type, PS_JSON_NULL);
    assert_int_equal(ps_json_get(record, "ci95")->type, PS_JSON_NULL);
    assert_null(strstr(output.data, "nan"));
    ps_json_document_free(document);
    ps_sheet_free(sheet);
}

static void test_end(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = sample_sheet();
    struct ps_json_writer json;
    begin(&json);
    ps_record_end(&json, "2026-01-31T09:31:00Z", ps_results_exit_code(sheet, false), sheet);
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_string_equal(
        output.data,
        "{\"type\":\"end\",\"finished\":\"2026-01-31T09:31:00Z\",\"exit\":1,\"counts\":{\"ok\":1,"
        "\"suspect\":0,\"unsupported\":0,\"skipped\":0,\"denied\":0,\"unsafe\":0,\"failed\":0,"
        "\"timeout\":1,\"aborted\":0}}\n");
    ps_sheet_free(sheet);
}

/* Numbers at the edge of what a double holds become null, not infinite. */
static void test_extremes(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":2000}");
    put_row(text, "a", "us", "time", "core", "");
    put_row(text, "b", "MB/s", "rate", "memory", "");
    put_row(text, "c", "us", "reading", "device", "");
    for (unsigned i = 0; i < 3; i++) {
        put_run(text, "a", 1e308, 3, 1e308, "");
        put_run(text, "b", i == 1 ? 1e-310 : 1e308, 3, 0, "");
        put_run(text, "c", i == 1 ? -1e308 : 1e308, 3, 0, "");
    }
    struct ps_sheet *sheet = parse_text(text);
    for (size_t i = 0; i < sheet->n_results; i++) {
        struct ps_json_writer json;
        struct ps_json_document *document;
        const struct ps_json *record;
        struct ps_json_error error;
        begin(&json);
        ps_record_result(&json, &sheet->results[i]);
        assert_int_equal(ps_json_parse(output.data, output.length, &document, &record, &error), 0);
        ps_json_document_free(document);
        assert_null(strstr(output.data, "inf"));
        const struct ps_result *result = &sheet->results[i];
        assert_true(result->status != PS_OK || isfinite(result->value));
        assert_true(result->status == PS_OK || result->reason);
    }
    ps_sheet_free(sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
