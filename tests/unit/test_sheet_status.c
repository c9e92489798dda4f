/* SPDX-License-Identifier: MIT
 *
 * What is said of a row: its status and reason, its marks, the rules, and the exit code.
 */
#include "unit/sheet_text.h"

static bool marked(const struct ps_result *result, enum ps_quality mark) {
    return (result->quality & (uint32_t)mark) != 0;
}

static struct sheet_text *one_row(void) {
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":2000}");
    put_row(text, "a", "ns", "time", "core", "");
    return text;
}

static void test_failures(void **ignored) {
    (void)ignored;
    static const struct {
        const char *run;
        enum ps_status status;
        int exit_code, strict;
    } cases[] = {
        {",\"status\":\"failed\",\"reason\":\"Wrong answer.\"", PS_FAILED, 1, 1},
        {",\"status\":\"timeout\",\"reason\":\"r\"", PS_TIMEOUT, 1, 1},
        {",\"status\":\"aborted\",\"reason\":\"r\"", PS_ABORTED, 1, 1},
        {",\"status\":\"unsafe\",\"reason\":\"r\"", PS_UNSAFE, 4, 4},
        {",\"status\":\"denied\",\"reason\":\"r\"", PS_DENIED, 5, 1},
        {",\"status\":\"unsupported\",\"reason\":\"r\"", PS_UNSUPPORTED, 5, 5},
        {",\"status\":\"skipped\"", PS_SKIPPED, 5, 5},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sheet_text *text = one_row();
        /* Five good runs do not make up for a bad one, but three do for one that was aborted. */
        for (unsigned j = 0; j < (cases[i].status == PS_ABORTED ? 2 : 5); j++)
            put_run(text, "a", 100, 5, 2000, "");
        put(text, "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\"%s}\n", cases[i].run);
        put_end(text);
        struct ps_sheet *sheet = parse_text(text);
        const struct ps_result *result = &sheet->results[0];
        assert_int_equal(result->status, cases[i].status);
        assert_non_null(result->reason);
        assert_true(isnan(result->value) && isnan(result->min) && isnan(result->ci95[0]));
        assert_int_equal(result->n_runs, 0);
        assert_int_equal(ps_results_exit_code(sheet, false), cases[i].exit_code);
        assert_int_equal(ps_results_exit_code(sheet, true), cases[i].strict);
        ps_sheet_free(sheet);
    }
    struct sheet_text *text = one_row();
    put(text,
        "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"status\":\"aborted\"}\n");
    put(text, "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"status\":\"failed\","
              "\"reason\":\"Wrong answer.\"}\n");
    put(text,
        "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"status\":\"timeout\"}\n");
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(sheet->results[0].status, PS_FAILED); /* the worst, with its reason */
    assert_string_equal(sheet->results[0].reason, "Wrong answer.");
    ps_sheet_free(sheet);
}

static void test_aborted_beside_good_runs(void **ignored) {
    (void)ignored;
    struct sheet_text *text = one_row();
    put(text, "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"status\":\"aborted\","
              "\"metrics\":{\"m\":{\"n\":1,\"samples\":[1]}}}\n");
    for (unsigned j = 0; j < 3; j++)
        put_run(text, "a", 100, 5, 2000, "");
    put_end(text);
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(sheet->results[0].status, PS_OK);
    assert_int_equal(sheet->results[0].n_runs, 3);
    assert_int_equal(ps_results_exit_code(sheet, true), 0);
    ps_sheet_free(sheet);
}

/* The header says how many cases there are; an end record behind fewer is no end. */
static void test_missing_cases(void **ignored) {
    (void)ignored;
    for (unsigned cases = 1; cases <= 2; cases++) {
        struct sheet_text *text = calloc(1, sizeof(*text));
        assert_non_null(text);
        put(text, "{\"type\":\"sheet\",\"format\":1,\"id\":\"s\",\"plan\":{\"cases\":%u}}\n",
            cases);
        put_row(text, "a", "ns", "time", "memory", "");
        put_end(text);
        struct ps_sheet *sheet = parse_text(text);
        assert_int_equal(sheet->incomplete, cases == 2);
        ps_sheet_free(sheet);
    }
}

static void test_not_measured(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_case(text, "a", "", ",\"status\":\"skipped\",\"reason\":\"Not in the quick datasheet.\"");
    put_metric(text, "m", "ns", "time", "core", "");
    end_case(text, "");
    put_row(text, "b", "ns", "time", "core", "");
    put_row(text, "c", "ns", "time", "core", "");
    put(text, "{\"type\":\"run\",\"case\":\"t.t/"
              "c\",\"source\":\"linux\",\"status\":\"ok\",\"metrics\":{}}\n");
    put_row(text, "d", "ns", "time", "core", "");
    put(text,
        "{\"type\":\"run\",\"case\":\"t.t/d\",\"source\":\"linux\",\"metrics\":{\"m\":{\"n\":0,"
        "\"samples\":[]}}}\n");
    put_end(text);
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(result_of(sheet, "t.t/a:m")->status, PS_SKIPPED);
    assert_string_equal(result_of(sheet, "t.t/a:m")->reason, "Not in the quick datasheet.");
    assert_int_equal(result_of(sheet, "t.t/b:m")->status, PS_ABORTED);
    assert_int_equal(result_of(sheet, "t.t/c:m")->status, PS_SKIPPED); /* --golden: only proved */
    assert_int_equal(result_of(sheet, "t.t/d:m")->status, PS_FAILED);  /* no samples */
    for (size_t i = 0; i < sheet->n_results; i++)
        assert_non_null(sheet->results[i].reason);
    ps_sheet_free(sheet);
}

static void test_disturbed(void **ignored) {
    (void)ignored;
    struct sheet_text *text = one_row();
    for (unsigned i = 0; i < 3; i++)
        put_run(text, "a", 100, 5, 2000, "");
    put_run(text, "a", 300, 5, 2000, ",\"disturbed\":\"run-queue delay 12 %\"");
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(sheet->results[0].n_runs, 3);
    assert_int_equal(sheet->results[0].n_disturbed, 1);
    assert_close(sheet->results[0].max, 100);
    assert_false(marked(&sheet->results[0], PS_Q_PREEMPTED));
    ps_sheet_free(sheet);

    text = one_row(); /* fewer than three undisturbed: all */
    for (unsigned i = 0; i < 2; i++)
        put_run(text, "a", 100, 5, 2000, "");
    put_run(text, "a", 300, 5, 2000, ",\"disturbed\":\"steal\"");
    sheet = parse_text(text);
    assert_int_equal(sheet->results[0].n_runs, 3);
    assert_int_equal(sheet->results[0].n_disturbed, 0);
    assert_true(marked(&sheet->results[0], PS_Q_PREEMPTED));
    ps_sheet_free(sheet);

    text = one_row(); /* three are left, but most were disturbed */
    for (unsigned i = 0; i < 7; i++)
        put_run(text, "a", 100, 5, 2000, i < 3 ? "" : ",\"disturbed\":\"steal\"");
    sheet = parse_text(text);
    assert_int_equal(sheet->results[0].n_runs, 3);
    assert_true(marked(&sheet->results[0], PS_Q_PREEMPTED));
    ps_sheet_free(sheet);

    text = one_row(); /* two runs and neither disturbed: not preempted, only few */
    for (unsigned i = 0; i < 2; i++)
        put_run(text, "a", 100, 5, 2000, "");
    sheet = parse_text(text);
    assert_false(marked(&sheet->results[0], PS_Q_PREEMPTED));
    assert_true(marked(&sheet->results[0], PS_Q_PRECISION_NOT_REACHED));
    assert_true(isnan(sheet->results[0].ci95[0]));
    ps_sheet_free(sheet);
}

static void test_marks(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"emulated\":true");
    put_case(text, "a", "", ",\"x\":0");
    put_metric(text, "m", "ns", "time", "memory", "");
    end_case(text, "");
    for (unsigned i = 0; i < 8; i++)
        put_run(text, "a", 100 + 10 * i, 20, 0, i ? "" : ",\"x\":1");
    put_end(text);
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = &sheet->results[0];
    assert_true(marked(result, PS_Q_EMULATED));
    assert_true(marked(result, PS_Q_NOISY));
    assert_true(marked(result, PS_Q_DRIFTING));
    assert_true(marked(result, PS_Q_PRECISION_NOT_REACHED));
    assert_false(marked(result, PS_Q_CLOCK_CHANGED));
    assert_false(marked(result, PS_Q_BIMODAL));
    ps_sheet_free(sheet);

    text = one_row();
    for (unsigned i = 0; i < 8; i++) {
        begin_run(text, "a", 2000, "");
        put(text, "\"m\":{\"samples\":[");
        for (unsigned j = 0; j < 40; j++)
            put(text, "%s%.6g", j ? "," : "", (j % 10 < 3 ? 112 : 100) + 0.01 * (j % 7));
        put(text, "],");
        put_array(text, "mhz", 2000, 40);
        put(text, "}}}\n");
    }
    sheet = parse_text(text);
    result = &sheet->results[0];
    assert_true(marked(result, PS_Q_BIMODAL));
    assert_double(result->modes[0], 100.03, 0.02);
    assert_double(result->modes[1], 112.03, 0.02);
    assert_false(marked(result, PS_Q_NOISY));
    ps_sheet_free(sheet);
}

/* Marks that the plan and the run knew. */
static void test_given_marks(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put(text,
        "{\"type\":\"case\",\"id\":\"t.t/a\",\"source\":\"linux\",\"table\":\"t.t\",\"name\":\"a\","
        "\"quality\":[\"cache-resident\"],\"metrics\":[{\"name\":\"m\",\"unit\":\"ns\",\"kind\":"
        "\"time\",\"bound\":\"wake\"}]}\n");
    for (unsigned i = 0; i < 3; i++)
        put(text,
            "{\"type\":\"run\",\"case\":\"t.t/"
            "a\",\"source\":\"linux\",\"quality\":[\"low-confidence\"],"
            "\"witness\":{\"throttled\":%u},\"metrics\":{\"m\":{\"samples\":[5,5]}}}\n",
            i);
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = &sheet->results[0];
    assert_true(marked(result, PS_Q_CACHE_RESIDENT));
    assert_true(marked(result, PS_Q_LOW_CONFIDENCE));
    assert_true(marked(result, PS_Q_THROTTLED));
    assert_true(marked(result, PS_Q_PRECISION_NOT_REACHED)); /* wake-bound, 3 runs of 8 */
    ps_sheet_free(sheet);
}

/* 1400 to 900 MHz in mid-run: flagged, the samples kept, the fall told. */
static void test_throttled(void **ignored) {
    (void)ignored;
    struct sheet_text *text = one_row();
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 1400, "");
        put(text, "\"m\":{\"samples\":[");
        for (unsigned j = 0; j < 40; j++)
            put(text, "%s%.15g", j ? "," : "", 140e3 / (j < 20 ? 1400 : 900));
        put(text, "],\"mhz\":[");
        for (unsigned j = 0; j < 40; j++)
            put(text, "%s%u", j ? "," : "", j < 20 ? 1400 : 900);
        put(text, "]}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = &sheet->results[0];
    assert_int_equal(result->status, PS_OK);
    assert_true(marked(result, PS_Q_THROTTLED));
    assert_true(marked(result, PS_Q_CLOCK_CHANGED));
    assert_string_equal(result->reason, "The clock fell from 1400 to 900 MHz within a run.");
    assert_int_equal(sheet->runs[0].series[0].n, 40);
    assert_close(result->cycles, 140); /* normalised, the value is not hurt */
    assert_false(marked(result, PS_Q_BIMODAL));
    ps_sheet_free(sheet);
}

static void test_below_resolution(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000}");
    put_case(text, "a", "", "");
    put_metric(text, "m", "ns", "time", "core", ",\"sample_stat\":\"median\"");
    end_case(text, "");
    put_row(text, "b", "MB/s", "rate", "memory", "");
    put_case(text, "c", "", "");
    put_metric(text, "m", "ns", "time", "core", ",\"sample_stat\":\"median\"");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 1000, ""); /* overhead 60, body 50 */
        put(text,
            "\"m\":{\"samples\":[50,50.5,49.5],\"mhz\":[1000,1000,1000],\"baseline\":[60,60,60],"
            "\"resolution\":0.5}}}\n");
        begin_run(text, "b", 0, "");
        put(text, "\"m\":{\"samples\":[0.0001,0.0001],\"resolution\":0.001}}}\n");
        begin_run(text, "c", 1000,
                  ""); /* net 1, but it scatters by 10: 3 standard errors are more */
        put(text, "\"m\":{\"samples\":[90,101,112,101],\"mhz\":[1000,1000,1000,1000],"
                  "\"baseline\":[100,100,100,100],\"resolution\":0.5}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = result_of(sheet, "t.t/a:m");
    assert_int_equal(result->status, PS_OK);
    assert_true(marked(result, PS_Q_BELOW_RESOLUTION));
    double error = 1.2533 * 1.4826 * 0.5 / sqrt(3); /* MAD 0.5 of three */
    assert_close(result->value, 3 * error);
    assert_close(result->cycles, 3 * error);
    assert_true(isnan(result->min) && isnan(result->mean) && isnan(result->raw));
    assert_true(isnan(result->ci95[0]));
    assert_close(result->gross, 50);
    assert_close(result->baseline, 60);
    assert_non_null(result->reason);
    result = result_of(sheet, "t.t/b:m");
    assert_true(marked(result, PS_Q_BELOW_RESOLUTION));
    assert_close(result->value, 1e6); /* MB/s: faster than what 0.001 ns a byte would be */
    result = result_of(sheet, "t.t/c:m");
    assert_true(marked(result, PS_Q_BELOW_RESOLUTION));
    assert_true(result->value > 1);
    assert_int_equal(ps_results_exit_code(sheet, false), 0);
    ps_sheet_free(sheet);
}

/* ---- Rules ---------------------------------------------------------------------------------- */

static struct ps_sheet *ordered(double tcp_ns) {
    struct sheet_text *text = sheet_text_new("");
    put_row(text, "tcp", "us", "time", "memory",
            "{\"type\":\"at-least\",\"rule\":\"os-03\",\"metric\":\"m\",\"other\":\"t.t/"
            "pipe:m\",\"factor\":1,"
            "\"tolerance\":0.1,\"cause\":\"No server "
            "answered.\"},{\"type\":\"near\",\"rule\":\"os-99\","
            "\"metric\":\"m\",\"other\":\"t.t/none:m\",\"tolerance\":0.1,\"cause\":\"c\"}");
    put_row(text, "pipe", "us", "time", "memory", "");
    for (unsigned i = 0; i < 3; i++) {
        put_run(text, "tcp", tcp_ns + i, 3, 0, "");
        put_run(text, "pipe", 20930 + 2 * i, 3, 0, "");
    }
    put_end(text);
    return parse_text(text);
}

static void test_rules(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = ordered(860);
    const struct ps_result *tcp = result_of(sheet, "t.t/tcp:m"),
                           *pipe = result_of(sheet, "t.t/pipe:m");
    assert_int_equal(tcp->status, PS_SUSPECT); /* nobody knows which of the two is wrong */
    assert_int_equal(pipe->status, PS_SUSPECT);
    assert_close(tcp->value, 0.8605); /* the number stands */
    assert_string_equal(tcp->reason, "No server answered.");
    assert_int_equal(tcp->n_rules, 2);
    assert_string_equal(tcp->rules[0].id, "os-03");
    assert_string_equal(tcp->rules[0].type, "ORDER");
    assert_string_equal(tcp->rules[0].other, "t.t/pipe:m");
    assert_true(tcp->rules[0].failed);
    assert_string_equal(tcp->rules[1].other, "t.t/none:m"); /* not checked, and listed */
    assert_false(tcp->rules[1].failed);
    assert_int_equal(pipe->n_rules, 1);
    assert_string_equal(pipe->rules[0].other, "t.t/tcp:m");
    assert_int_equal(ps_results_exit_code(sheet, false), 3);
    ps_sheet_free(sheet);

    sheet = ordered(29000);
    assert_int_equal(result_of(sheet, "t.t/tcp:m")->status, PS_OK);
    assert_int_equal(result_of(sheet, "t.t/pipe:m")->n_rules, 0);
    assert_int_equal(ps_results_exit_code(sheet, false), 0);
    ps_sheet_free(sheet);
}

static void test_scaling(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"usable_cpus\":4");
    put_row(text, "one", "1/s", "rate", "memory", "");
    put_case(text, "many", "\"threads\":16", "");
    put_metric(text, "m", "1/s", "rate", "memory", "");
    end_case(text, "{\"type\":\"scaling\",\"rule\":\"cpu-02\",\"metric\":\"m\",\"other\":\"t.t/"
                   "one:m\",\"factor\":1,"
                   "\"tolerance\":0.1,\"cause\":\"It exceeds the cores.\"}");
    for (unsigned i = 0; i < 3; i++) {
        put_run(text, "one", 1e7, 3, 0, "");
        put_run(text, "many", 1e9 / 1600, 3, 0, "");
    }
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(result_of(sheet, "t.t/many:m")->status, PS_SUSPECT);
    assert_string_equal(result_of(sheet, "t.t/many:m")->reason, "It exceeds the cores.");
    assert_close(result_of(sheet, "t.t/many:m")->rules[0].expected, 440);
    assert_int_equal(result_of(sheet, "t.t/one:m")->status, PS_OK);
    ps_sheet_free(sheet);
}

static void test_optimised_away(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000}");
    put_case(text, "a", "", "");
    put_metric(text, "m", "ns", "time", "core", ",\"floor_cycles\":25");
    put_metric(text, "n", "MB/s", "rate", "memory", ",\"floor_cycles\":0.125");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 1000, "");
        put(text,
            "\"m\":{\"samples\":[0.3,0.3],\"mhz\":[1000,1000]},\"n\":{\"samples\":[0.1,0.1]}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    assert_int_equal(result_of(sheet, "t.t/a:m")->status, PS_SUSPECT);
    assert_string_equal(result_of(sheet, "t.t/a:m")->rules[0].type, "CEILING");
    /* Memory-bound, 0.1 ns a byte at the clock that its runs had. */
    assert_int_equal(result_of(sheet, "t.t/a:n")->status, PS_SUSPECT);
    assert_close(result_of(sheet, "t.t/a:n")->rules[0].got, 0.1);
    ps_sheet_free(sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),         cmocka_unit_test(test_aborted_beside_good_runs),
        cmocka_unit_test(test_missing_cases),    cmocka_unit_test(test_not_measured),
        cmocka_unit_test(test_disturbed),        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_given_marks),      cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_below_resolution), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_scaling),          cmocka_unit_test(test_optimised_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
