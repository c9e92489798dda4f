/* SPDX-License-Identifier: MIT
 *
 * The numbers of results: estimators per bound, units, clocks, baselines, derived metrics.
 */
#include "unit/sheet_text.h"

#include "stats/interval.h"
#include "stats/summary.h"

/* Samples at a clock that moved between the runs, and half way in one. */
static struct ps_sheet *core_sheet(const char *source, unsigned clocked) {
    struct sheet_text *text = sheet_text_new(source);
    put_case(text, "a", "", "");
    put_metric(text, "m", "us", "time", "core", "");
    end_case(text, "");
    put_run(text, "a", 1000, 5, 2000, ""); /* 2000 cycles each */
    put_run(text, "a", 2000, 5, clocked > 1 ? 1000 : 0, "");
    put_run(text, "a", 1250, 5, clocked > 2 ? 1600 : 0, "");
    put_end(text);
    return parse_text(text);
}

static void test_core(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = core_sheet(",\"reference_mhz\":{\"0\":2000}", 3);
    const struct ps_result *result = &sheet->results[0];
    assert_int_equal(result->status, PS_OK);
    assert_close(result->value, 1.0); /* us at 2000 MHz */
    assert_close(result->cycles, 2000);
    assert_close(result->min, 1.0);
    assert_close(result->max, 1.0);
    assert_close(result->raw, 1.125); /* the two fastest of 1, 2, 1.25 us, as they were */
    assert_close(result->mhz, 1600);
    assert_close(result->best, 1.0);
    assert_close(result->mean, 1.0);
    assert_close(result->median, 1.0);
    assert_double(result->cv, 0, 1e-12);
    assert_int_equal(result->n_runs, 3);
    assert_int_equal(result->metric->sample_stat, PS_STAT_P10);
    assert_int_equal(result->metric->run_stat, PS_STAT_LOWER_HALF);
    ps_sheet_free(sheet);
}

/* No reference in the sheet: the median clock of its runs. */
static void test_reference_from_runs(void **ignored) {
    (void)ignored;
    static const char *const sources[] = {"", ",\"reference_mhz\":null",
                                          ",\"reference_mhz\":{\"0\":null}"};
    for (unsigned i = 0; i < 3; i++) {
        struct ps_sheet *sheet = core_sheet(sources[i], 3);
        assert_close(sheet->results[0].value, 1.25); /* 2000 cycles at 1600 MHz */
        assert_close(sheet->results[0].cycles, 2000);
        ps_sheet_free(sheet);
    }
}

/* One run of three without a clock: the two others stand for the row. */
static void test_one_clock_unknown(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = core_sheet(",\"reference_mhz\":{\"0\":2000}", 2);
    assert_close(sheet->results[0].value, 1.0);
    assert_close(sheet->results[0].cycles, 2000);
    assert_int_equal(sheet->results[0].n_runs, 2);
    ps_sheet_free(sheet);
}

/* Most without a clock: all of the row by the estimator that does without. */
static void test_clock_unknown(void **ignored) {
    (void)ignored;
    struct ps_sheet *sheet = core_sheet(",\"reference_mhz\":{\"0\":2000}", 1);
    const struct ps_result *result = &sheet->results[0];
    assert_close(result->value, 1.125); /* mean of the two fastest of 1, 2, 1.25 us */
    assert_close(result->raw, 1.125);
    assert_true(isnan(result->cycles));
    assert_int_equal(result->metric->sample_stat, PS_STAT_P25);
    assert_int_equal(result->metric->run_stat, PS_STAT_LOWER_HALF);
    assert_int_equal(result->metric->bound, PS_BOUND_CORE);
    assert_int_equal(sheet->cases[0].metrics[0].sample_stat, PS_STAT_P10); /* as declared */
    ps_sheet_free(sheet);
}

/* A clock that is locked makes normalising a no-op. */
static void test_locked_clock(void **ignored) {
    (void)ignored;
    for (unsigned with_clock = 0; with_clock < 2; with_clock++) {
        struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1200}");
        put_row(text, "a", "ns", "time", "core", "");
        for (unsigned i = 0; i < 4; i++)
            put_run(text, "a", 100 + i, 7, 1200, "");
        struct ps_sheet *sheet = parse_text(text);
        assert_close(sheet->results[0].value, 100.5);
        assert_close(sheet->results[0].raw, 100.5);
        assert_close(sheet->results[0].cycles, 120.6);
        ps_sheet_free(sheet);
    }
}

static void test_clusters(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000,\"1\":2000}");
    put_case(text, "a", "\"cluster\":1", "");
    put_metric(text, "m", "ns", "time", "core", "");
    end_case(text, "");
    put_case(text, "b", "\"cluster\":null", "");
    put_metric(text, "m", "ns", "time", "core", "");
    end_case(text, "");
    put_run(text, "a", 100, 5, 1000, "");
    put_run(text, "b", 100, 5, 1000, "");
    struct ps_sheet *sheet = parse_text(text);
    assert_close(result_of(sheet, "t.t/a:m")->value, 50);
    assert_close(result_of(sheet, "t.t/b:m")->value, 100);
    ps_sheet_free(sheet);
}

/* A microcontroller's clock is its source's. */
static void test_microcontroller(void **ignored) {
    (void)ignored;
    struct sheet_text *text = calloc(1, sizeof(*text));
    assert_non_null(text);
    put(text, "{\"type\":\"source\",\"id\":\"linux\",\"kind\":\"mcu\",\"hz\":25000000}\n");
    put_case(text, "a", "", "");
    put_metric(text, "m", "ns", "time", "core", "");
    put_metric(text, "mhz", "MHz", "derived", "core", ",\"derivation\":\"clock\",\"from\":\"m\"");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++)
        put_run(text, "a", 400, 5, 0, "");
    struct ps_sheet *sheet = parse_text(text);
    assert_close(result_of(sheet, "t.t/a:m")->value, 400);
    assert_close(result_of(sheet, "t.t/a:m")->cycles, 10);
    assert_int_equal(result_of(sheet, "t.t/a:m")->metric->run_stat, PS_STAT_LOWER_HALF);
    assert_close(result_of(sheet, "t.t/a:mhz")->value, 25);
    ps_sheet_free(sheet);
}

/* Bandwidth: 25th percentile of time per byte, lower half of the runs, inverted last. */
static void test_memory_rate(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":2000}");
    put_row(text, "a", "MB/s", "rate", "memory", "");
    for (unsigned i = 0; i < 4; i++)
        put_run(text, "a", 0.5 + 0.1 * i, 5, 1000, "");
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = &sheet->results[0];
    assert_close(result->value, 1e3 / 0.55);
    assert_close(result->raw, result->value);
    assert_true(isnan(result->cycles));
    assert_close(result->min, 1e3 / 0.8); /* the slowest run */
    assert_close(result->max, 1e3 / 0.5);
    assert_close(result->best, 1e3 / 0.5);
    assert_close(result->mean, 1e3 / 0.65);
    assert_close(result->median, 1e3 / 0.65);
    double low, high;
    const double runs[] = {0.5, 0.6, 0.7, 0.8};
    assert_true(ps_interval95(PS_STAT_LOWER_HALF, runs, 4, &low, &high));
    assert_close(result->ci95[0], 1e3 / high);
    assert_close(result->ci95[1], 1e3 / low);
    ps_sheet_free(sheet);
}

static void test_wake_and_device(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_case(text, "a", "", "");
    put_metric(text, "w", "us", "time", "wake", "");
    put_metric(text, "d", "1/s", "rate", "device", "");
    put_metric(text, "s", "MB/s", "rate", "memory",
               ",\"sample_stat\":\"min\",\"run_stat\":\"median\"");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 0, "");
        put(text, "\"w\":{\"samples\":[%u,9000,%u]},", 5000 + i * 100, 7000 + i * 100);
        put(text, "\"d\":{\"samples\":[%u,%u]},", 100 + i * 100, 300 + i * 100);
        put(text, "\"s\":{\"samples\":[2,%u,3]}}}\n", i);
    }
    struct ps_sheet *sheet = parse_text(text);
    assert_close(result_of(sheet, "t.t/a:w")->value, 7.1);
    assert_close(result_of(sheet, "t.t/a:d")->value, 1e9 / 300); /* mean of means 200, 300, 400 */
    assert_close(result_of(sheet, "t.t/a:s")->value, 1e3 / 1);   /* minima 0, 1, 2: their median */
    assert_true(result_of(sheet, "t.t/a:s")->quality & PS_Q_LOW_CONFIDENCE); /* one took no time */
    assert_true(isnan(result_of(sheet, "t.t/a:s")->max));
    ps_sheet_free(sheet);
}

/* Each sample less its own baseline, each at its own clock. */
static void test_baseline(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000}");
    put_case(text, "a", "", "");
    put_metric(text, "m", "ns", "time", "core", ",\"sample_stat\":\"median\"");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 1000, "");
        put(text, "\"m\":{\"samples\":[100,50,101],\"mhz\":[1000,2000,1000],"
                  "\"baseline\":[40,80,41],\"baseline_mhz\":[1000,500,1000],\"resolution\":1}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = &sheet->results[0];
    assert_close(result->value, 60);
    assert_close(result->gross, 100);
    assert_close(result->baseline, 40);
    assert_close(result->raw, 60); /* of 60, -30, 60 */
    ps_sheet_free(sheet);
}

/* Samples whose core was shared, or whose clock is unknown, are left out alone. */
static void test_shared_core(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000}");
    put_row(text, "a", "ns", "time", "core", "");
    for (unsigned i = 0; i < 3; i++) {
        put(text,
            "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"round\":%u,"
            "\"witness\":{\"mhz\":[1000,1000,1000],\"issue\":[4,2,4,4]},\"metrics\":"
            "{\"m\":{\"samples\":[10,10,10,10,10,5,5,5,5,5,5,20],"
            "\"mhz\":[1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,0],"
            "\"issue\":[4,4,4,4,4,2,2,2,2,2,2,4]}}}\n",
            i + 1);
    }
    struct ps_sheet *sheet = parse_text(text);
    assert_close(sheet->results[0].value, 10);
    assert_close(sheet->results[0].cycles, 10);
    assert_close(sheet->results[0].raw, 10); /* of five at 10 and one at 20 */
    ps_sheet_free(sheet);
}

/* Too few had the core to themselves: all of them count. */
static void test_core_always_shared(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1000}");
    put_row(text, "a", "ns", "time", "core", "");
    for (unsigned i = 0; i < 3; i++)
        put(text,
            "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"round\":%u,"
            "\"witness\":{\"mhz\":[1000,1000,1000],\"issue\":[2,2,4,4]},\"metrics\":"
            "{\"m\":{\"samples\":[90,90,90,90,10,10,10,10,10,10],"
            "\"mhz\":[1000,1000,1000,1000,1000,1000,1000,1000,1000,1000],"
            "\"issue\":[4,4,4,4,2,2,2,2,2,2]}}}\n",
            i + 1);
    struct ps_sheet *sheet = parse_text(text);
    assert_close(sheet->results[0].value, 10);
    ps_sheet_free(sheet);
}

static void test_readings(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_case(text, "a", "", "");
    put_metric(text, "t", "us", "reading", "wake", "");
    put_metric(text, "w", "W", "reading", "device", "");
    put_metric(text, "c", "degC", "reading", "device", "");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 0, "");
        put(text, "\"t\":{\"samples\":[");
        for (unsigned j = 1; j <= 100; j++)
            put(text, "%s%u", j > 1 ? "," : "", j * 1000 + i);
        put(text, "]},\"w\":{\"samples\":[1.5,2.5]},\"c\":{\"samples\":[-%u]}}}\n", i);
    }
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = result_of(sheet, "t.t/a:t");
    assert_close(result->value, 50.501);
    assert_true(result->has_quantiles);
    assert_close(result->quantiles[0], 50.501);
    assert_close(result->quantiles[5], 100.002);
    assert_false(isnan(result->quantiles[2])); /* 3 of 300 events beyond p99 */
    assert_true(isnan(result->quantiles[3]));  /* none beyond p99.9 */
    assert_close(result_of(sheet, "t.t/a:w")->value, 2.0);
    assert_close(result_of(sheet, "t.t/a:c")->value, -1.0); /* a temperature may be negative */
    assert_true(isnan(result_of(sheet, "t.t/a:c")->gross));
    ps_sheet_free(sheet);
}

/* Events beyond the samples that are kept are in the histogram only. */
static void test_histogram(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_case(text, "a", "", "");
    put_metric(text, "t", "ns", "reading", "wake", "");
    put_metric(text, "b", "ns", "time", "wake", "");
    end_case(text, "");
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 0, "");
        put(text, "\"t\":{\"n\":2,\"samples\":[50,51],\"events\":10000,\"hist\":{\"unit\":\"ns\","
                  "\"lo\":0,"
                  "\"sub_bits\":6,\"counts\":[[10,9980],[20,19]],\"over\":1,\"min\":10,\"max\":"
                  "9999999}},");
        put(text, "\"b\":{\"samples\":[70,71,72],\"hist\":{\"sub_bits\":6,\"counts\":[[30,1000]],"
                  "\"min\":30,\"max\":30}}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    const struct ps_result *result = result_of(sheet, "t.t/a:t");
    assert_close(result->value, 10);
    assert_close(result->quantiles[0], 10);
    assert_close(result->quantiles[3], 20); /* 60 of 30000 lie beyond 10 */
    assert_close(result->quantiles[4], 20); /* p99.99: three beyond */
    assert_close(result->quantiles[5], 9999999);
    result = result_of(sheet, "t.t/a:b"); /* a batch: its value is of the samples */
    assert_close(result->value, 71);
    assert_true(result->has_quantiles);
    assert_close(result->quantiles[2], 30);
    ps_sheet_free(sheet);
}

static void put_dhrystone(struct sheet_text *text) {
    put_case(text, "a", "", "");
    put_metric(text, "rate", "1/s", "rate", "core", "");
    put_metric(text, "dmips", "DMIPS", "derived", "core",
               ",\"derivation\":\"scale\",\"from\":\"rate\",\"factor\":0.0005691519635742743");
    put_metric(text, "per_mhz", "DMIPS/MHz", "derived", "core",
               ",\"derivation\":\"per-mhz\",\"from\":\"rate\",\"factor\":0.0005691519635742743");
    put_metric(text, "mhz", "MHz", "derived", "core",
               ",\"derivation\":\"clock\",\"from\":\"rate\"");
    put_metric(text, "lost", "1/s", "derived", "core",
               ",\"derivation\":\"scale\",\"from\":\"nothing\",\"factor\":2");
    end_case(text, "");
}

static void test_derived(void **ignored) {
    (void)ignored;
    for (unsigned sampled = 0; sampled < 2; sampled++) {
        struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":2000}");
        put_dhrystone(text);
        for (unsigned i = 0; i < 3; i++) { /* 500 cycles a pass at 1000, 1250 and 2000 MHz */
            double mhz = i == 0 ? 1000 : i == 1 ? 1250 : 2000;
            begin_run(text, "a", mhz, "");
            put(text, "\"rate\":{");
            put_array(text, "samples", 500e3 / mhz, 5);
            if (sampled) {
                put(text, ",");
                put_array(text, "mhz", mhz, 5);
            }
            put(text, "}}}\n");
        }
        struct ps_sheet *sheet = parse_text(text);
        /* With a clock for each sample: 4 M passes a second at 2000 MHz. Without: the two fastest
         * of the raw runs, 250 and 400 ns. */
        double rate = sampled ? 4e6 : 1e9 / 325;
        assert_close(result_of(sheet, "t.t/a:rate")->value, rate);
        assert_close(result_of(sheet, "t.t/a:dmips")->value, rate / 1757);
        assert_close(result_of(sheet, "t.t/a:per_mhz")->value, 2000.0 / 1757); /* by either way */
        assert_close(result_of(sheet, "t.t/a:mhz")->value, 1250);
        assert_true(isnan(result_of(sheet, "t.t/a:dmips")->cycles));
        assert_int_equal(result_of(sheet, "t.t/a:lost")->status, PS_FAILED);
        assert_non_null(result_of(sheet, "t.t/a:lost")->reason);
        ps_sheet_free(sheet);
    }
}

static void test_derived_without_clock(void **ignored) {
    (void)ignored;
    struct sheet_text *text = sheet_text_new("");
    put_dhrystone(text);
    for (unsigned i = 0; i < 3; i++) {
        begin_run(text, "a", 0, "");
        put(text, "\"rate\":{\"samples\":[400,400]}}}\n");
    }
    struct ps_sheet *sheet = parse_text(text);
    assert_close(result_of(sheet, "t.t/a:dmips")->value, 2.5e6 / 1757);
    assert_int_equal(result_of(sheet, "t.t/a:per_mhz")->status, PS_UNSUPPORTED);
    assert_int_equal(result_of(sheet, "t.t/a:mhz")->status, PS_UNSUPPORTED);
    assert_string_equal(result_of(sheet, "t.t/a:mhz")->reason, "The clock could not be measured.");
    assert_true(isnan(result_of(sheet, "t.t/a:mhz")->value));
    ps_sheet_free(sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_reference_from_runs),
        cmocka_unit_test(test_one_clock_unknown),
        cmocka_unit_test(test_clock_unknown),
        cmocka_unit_test(test_locked_clock),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_microcontroller),
        cmocka_unit_test(test_memory_rate),
        cmocka_unit_test(test_wake_and_device),
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_shared_core),
        cmocka_unit_test(test_core_always_shared),
        cmocka_unit_test(test_readings),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_derived_without_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
