/* SPDX-License-Identifier: MIT
 *
 * The records, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/case_list.h"
#include "core/record.h"

struct sink {
    char data[16384];
    size_t length;
};

static int sink_write(void *target, const char *data, size_t length) {
    struct sink *sink = target;
    assert_true(sink->length + length < sizeof(sink->data));
    memcpy(sink->data + sink->length, data, length);
    sink->length += length;
    sink->data[sink->length] = '\0';
    return 0;
}

static struct sink sink;
static struct ps_json_writer json;

static int begin(void **state) {
    (void)state;
    sink.length = 0;
    ps_json_init(&json, sink_write, &sink);
    return 0;
}

static void assert_line(const char *expected) {
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_string_equal(sink.data, expected);
}

static const struct ps_metric metrics[] = {
    {.name = "bandwidth",
     .unit = PS_UNIT_MB_PER_S,
     .kind = PS_RATE,
     .counts = "bytes read, once",
     .better = PS_BETTER_HIGHER,
     .positive = true,
     .decimals = 2,
     .method = 3,
     .depends = PS_DEPENDS_COMPILER,
     .floor_cycles = 0.03125},
    {.name = "wake",
     .unit = PS_UNIT_US,
     .kind = PS_READING,
     .counts = "one wake-up",
     .method = 1,
     .bound = PS_BOUND_WAKE},
    {.name = "score",
     .unit = PS_UNIT_DMIPS_PER_MHZ,
     .kind = PS_DERIVED,
     .counts = "the same",
     .better = PS_BETTER_HIGHER,
     .decimals = 1,
     .method = 1,
     .derivation = PS_DERIVE_PER_MHZ,
     .from = "bandwidth",
     .factor = 2},
};

static const struct ps_bench bench = {.chapter = "mem",
                                      .table = "bw_mem",
                                      .title = "Memory bandwidth",
                                      .about = "How fast.",
                                      .metrics = metrics,
                                      .n_metrics = 3};

static void test_table(void **state) {
    (void)state;
    ps_record_table(&json, &bench);
    assert_line(
        "{\"type\":\"table\",\"id\":\"mem.bw_mem\",\"title\":\"Memory bandwidth\",\"about\":"
        "\"How fast.\",\"facts\":[],\"columns\":[\"bandwidth\",\"wake\",\"score\"]}\n");
}

static void test_case(void **state) {
    (void)state;
    struct ps_case one;
    struct ps_case_list list = {.cases = &one, .capacity = 1};
    struct ps_case *c = ps_case_add(&list, "rd-16mb");
    ps_case_param(c, "size_bytes", 16000000);
    ps_case_param_text(c, "op", "rd");
    ps_case_publish(c, "bandwidth", "am62l", "lmbench", "bw_mem-rd-16mb", PS_COMPARABLE_APPROX,
                    "why");
    ps_case_relate(c, PS_ORDER_AT_MOST, "mem-02", "bandwidth", "mem.bw_mem/frd-16mb:bandwidth", 0,
                   0.15, "a cause");
    ps_case_relate(c, PS_WHOLE_CYCLES, "mem-03", "wake", "", 1, 0.1, "another");
    c->place.threads = 2;
    c->place.cluster = 1;
    c->place.cpu = 6;
    c->place.pairing = PS_PAIR_CROSS_CPU;
    c->memory.bytes = 16000000;
    c->memory.pages = PS_PAGES_BASE;
    c->tags = PS_TAG_HEADLINE;
    c->quality = PS_Q_CACHE_RESIDENT | PS_Q_NOISY;
    ps_record_case(&json, &bench, c, "mem.bw_mem/rd-16mb@x2", "linux", PS_BOUND_MEMORY, 8, PS_OK,
                   NULL);
    assert_line(
        "{\"type\":\"case\",\"id\":\"mem.bw_mem/rd-16mb@x2\",\"source\":\"linux\",\"table\":"
        "\"mem.bw_mem\",\"name\":\"rd-16mb\",\"params\":{\"size_bytes\":16000000,\"op\":\"rd\"},"
        "\"place\":{\"threads\":2,\"cluster\":1,\"cpu\":6,\"cpus\":[6],\"pairing\":\"cross-cpu\","
        "\"target\":null},\"memory\":{\"bytes\":16000000,\"pages\":\"base\"},\"bound\":\"memory\","
        "\"headline\":true,\"runs_planned\":8,\"status\":null,\"reason\":null,\"quality\":["
        "\"noisy\","
        "\"cache-resident\"],\"alias_of\":null,\"metrics\":["
        "{\"name\":\"bandwidth\",\"unit\":\"MB/s\",\"kind\":\"rate\",\"counts\":\"bytes read, "
        "once\","
        "\"better\":\"higher\",\"bound\":\"memory\",\"sample_stat\":\"p25\",\"run_stat\":"
        "\"lower-half\",\"positive\":true,\"decimals\":2,\"method\":3,\"depends\":\"compiler\","
        "\"floor_cycles\":0.03125,\"derivation\":null,\"from\":null,\"factor\":null},"
        "{\"name\":\"wake\",\"unit\":\"us\",\"kind\":\"reading\",\"counts\":\"one wake-up\","
        "\"better\":\"lower\",\"bound\":\"wake\",\"sample_stat\":\"median\",\"run_stat\":"
        "\"median\","
        "\"positive\":false,\"decimals\":0,\"method\":1,\"depends\":null,\"floor_cycles\":null,"
        "\"derivation\":null,\"from\":null,\"factor\":null},"
        "{\"name\":\"score\",\"unit\":\"DMIPS/MHz\",\"kind\":\"derived\",\"counts\":\"the same\","
        "\"better\":\"higher\",\"bound\":\"memory\",\"sample_stat\":\"p25\",\"run_stat\":"
        "\"lower-half\",\"positive\":false,\"decimals\":1,\"method\":1,\"depends\":null,"
        "\"floor_cycles\":null,\"derivation\":\"per-mhz\",\"from\":\"bandwidth\",\"factor\":2}],"
        "\"relations\":[{\"type\":\"at-most\",\"rule\":\"mem-02\",\"metric\":\"bandwidth\","
        "\"other\":"
        "\"mem.bw_mem/frd-16mb:bandwidth\",\"factor\":1,\"tolerance\":0.15,\"cause\":\"a cause\"},"
        "{\"type\":\"whole-cycles\",\"rule\":\"mem-03\",\"metric\":\"wake\",\"other\":null,"
        "\"factor\":1,"
        "\"tolerance\":0.1,\"cause\":\"another\"}],\"published\":[{\"metric\":\"bandwidth\","
        "\"page\":"
        "\"am62l\",\"table\":\"lmbench\",\"row\":\"bw_mem-rd-16mb\",\"column\":\"result\",\"nth\":"
        "1,"
        "\"comparable\":\"approx\",\"why\":\"why\"}]}\n");
}

static void test_case_that_will_not_run(void **state) {
    (void)state;
    struct ps_case one;
    struct ps_case_list list = {.cases = &one, .capacity = 1};
    struct ps_case *c = ps_case_add(&list, "x");
    c->alias_of = "os.lat_syscall/null:latency";
    ps_record_case(&json, &bench, c, "mem.bw_mem/x", "linux", PS_BOUND_CORE, 0, PS_SKIPPED,
                   "no budget");
    assert_non_null(strstr(sink.data, "\"place\":{\"threads\":1,\"cluster\":null,\"cpu\":null,"
                                      "\"cpus\":null,\"pairing\":null,\"target\":null}"));
    assert_non_null(strstr(sink.data, "\"status\":\"skipped\",\"reason\":\"no budget\""));
    assert_non_null(strstr(sink.data, "\"alias_of\":\"os.lat_syscall/null:latency\""));
}

/* The estimator in force, for every bound and for what overrides it. */
static void test_estimators(void **state) {
    (void)state;
    static const char *const expected[] = {
        [PS_BOUND_CORE] = "\"bound\":\"core\",\"sample_stat\":\"p10\",\"run_stat\":\"lower-half\"",
        [PS_BOUND_MEMORY] =
            "\"bound\":\"memory\",\"sample_stat\":\"p25\",\"run_stat\":\"lower-half\"",
        [PS_BOUND_WAKE] = "\"bound\":\"wake\",\"sample_stat\":\"median\",\"run_stat\":\"median\"",
        [PS_BOUND_DEVICE] = "\"bound\":\"device\",\"sample_stat\":\"mean\",\"run_stat\":\"mean\""};
    struct ps_metric metric = metrics[0];
    struct ps_bench one = {.chapter = "a", .table = "b", .metrics = &metric, .n_metrics = 1};
    struct ps_case c = {.name = "c"};
    for (unsigned bound = PS_BOUND_CORE; bound <= PS_BOUND_DEVICE; bound++) {
        begin(NULL);
        ps_record_case(&json, &one, &c, "a.b/c", "linux", (enum ps_bound)bound, 8, PS_OK, NULL);
        assert_non_null(strstr(sink.data, expected[bound]));
        assert_null(strstr(sink.data, "auto"));
        begin(NULL); /* a reading has no low estimator */
        metric.kind = PS_READING;
        ps_record_case(&json, &one, &c, "a.b/c", "linux", (enum ps_bound)bound, 8, PS_OK, NULL);
        assert_non_null(strstr(sink.data, "\"sample_stat\":\"median\",\"run_stat\":\"median\""));
        metric.kind = PS_RATE;
    }
    metric.sample_stat = PS_STAT_MIN; /* STREAM's */
    metric.run_stat = PS_STAT_MEDIAN;
    begin(NULL);
    ps_record_case(&json, &one, &c, "a.b/c", "linux", PS_BOUND_MEMORY, 8, PS_OK, NULL);
    assert_non_null(strstr(sink.data, "\"sample_stat\":\"min\",\"run_stat\":\"median\""));
}

static struct ps_histogram histogram;

static void test_run(void **state) {
    (void)state;
    static double samples[] = {0.123456789012, 2}, mhz[] = {3599.5, 0}, baseline[] = {0.5, 0.25};
    static double events[] = {12000};
    static const int cpus[] = {4, 1023, -1};
    double issue[] = {3.9, 2};
    const struct ps_port port = {.switches = NULL};
    struct ps_run_shared shared = {.bench = &bench,
                                   .port = &port,
                                   .cpus = cpus,
                                   .n_cpus = 3,
                                   .quality = PS_Q_BIMODAL,
                                   .mhz_median = 3599.5,
                                   .mhz_min = 3400,
                                   .mhz_max = 3600,
                                   .n_samples = 2,
                                   .issue_median = 3.9,
                                   .issue_min = 2,
                                   .issue_max = 4,
                                   .full_issue = 3.9,
                                   .n_dropped = 1,
                                   .n_shared = 1,
                                   .null_ns = 0.25,
                                   .stop = "time",
                                   .timed_ns = 75000000};
    shared.series[0] = (struct ps_series){.n = 2,
                                          .samples = samples,
                                          .mhz = mhz,
                                          .baseline = baseline,
                                          .baseline_mhz = mhz,
                                          .issue = issue,
                                          .resolution = 0.375};
    ps_histogram_init(&histogram);
    ps_histogram_add(&histogram, 3);
    ps_histogram_add(&histogram, 12000);
    ps_histogram_add(&histogram, UINT64_C(1) << 41);
    shared.series[1] =
        (struct ps_series){.n = 1, .samples = events, .histogram = &histogram, .n_events = 3};
    const struct ps_run_identity identity = {.id = "mem.bw_mem/rd-16mb@x2",
                                             .source = "linux",
                                             .round = 3,
                                             .seq = 417,
                                             .attempt = 1,
                                             .start_s = 212.4,
                                             .pages = "huge",
                                             .load_all_pct = 50.5,
                                             .load_busiest_pct = -1,
                                             .load_method = "idle-delta"};
    const struct ps_witness_numbers witness = {.temp_before_c = 41.5,
                                               .temp_after_c = -1,
                                               .queue_pct = 0.5,
                                               .steal_pct = 0,
                                               .foreign_pct = -1,
                                               .nivcsw = 3,
                                               .throttled = -1};
    ps_record_run(&json, &identity, &shared, &witness);
    assert_line(
        "{\"type\":\"run\",\"case\":\"mem.bw_mem/rd-16mb@x2\",\"source\":\"linux\",\"round\":3,"
        "\"seq\":417,\"attempt\":1,\"start_s\":212.4,\"place\":{\"cpus\":[4,1023],\"pages\":"
        "\"huge\"},"
        "\"status\":\"ok\",\"reason\":null,\"quality\":[\"bimodal\"],\"witness\":{\"mhz\":[3599.5,"
        "3400,"
        "3600],\"issue\":[3.9,2,4,3.9],\"temp_c\":[41.5,null],\"queue_pct\":0.5,\"steal_pct\":0,"
        "\"foreign_pct\":null,"
        "\"nivcsw\":3,\"throttled\":null,\"samples\":2,\"switched\":null,\"dropped\":1,\"shared\":"
        "1},"
        "\"disturbed\":null,\"stop\":\"time\",\"null_ns\":0.25,\"timed_ns\":75000000,\"load\":{"
        "\"all_pct\":50.5,\"busiest_pct\":null,\"method\":\"idle-delta\"},\"metrics\":{"
        "\"bandwidth\":{"
        "\"n\":2,\"samples\":[0.123456789,2],\"mhz\":[3599.5,0],\"baseline\":[0.5,0.25],"
        "\"baseline_mhz\":[3599.5,0],\"issue\":[3.9,2],\"resolution\":0.375},\"wake\":{\"n\":1,"
        "\"samples\":[12000],"
        "\"events\":3,\"hist\":{\"unit\":\"ns\",\"lo\":0,\"sub_bits\":6,\"counts\":[[3,1],[302,1]],"
        "\"under\":0,\"over\":1,\"min\":3,\"max\":2199023255552}}}}\n");
    assert_int_equal(ps_histogram_bucket(12000), 302);
}

/* What a harness writes for a child that died: nothing is known but that. */
static void test_run_that_failed(void **state) {
    (void)state;
    struct ps_run_shared shared = {
        .bench = &bench, .status = PS_FAILED, .error = 13, .reason = "an operation failed"};
    const struct ps_run_identity identity = {.id = "mem.bw_mem/x",
                                             .source = "linux",
                                             .disturbed = "steal",
                                             .load_all_pct = -1,
                                             .load_busiest_pct = -1};
    ps_record_run(&json, &identity, &shared, NULL);
    assert_line(
        "{\"type\":\"run\",\"case\":\"mem.bw_mem/x\",\"source\":\"linux\",\"round\":0,\"seq\":0,"
        "\"attempt\":0,\"start_s\":0,\"place\":{\"cpus\":[],\"pages\":null},\"status\":\"failed\","
        "\"reason\":\"an operation failed (errno "
        "13)\",\"quality\":[],\"witness\":{\"mhz\":[null,null,"
        "null],\"issue\":[null,null,null,null],\"temp_c\":[null,null],\"queue_pct\":null,\"steal_"
        "pct\":null,\"foreign_pct\":null,"
        "\"nivcsw\":null,\"throttled\":null,\"samples\":0,\"switched\":null,\"dropped\":0,"
        "\"shared\":0},"
        "\"disturbed\":\"steal\",\"stop\":null,\"null_ns\":null,\"timed_ns\":null,\"load\":null,"
        "\"metrics\":{}}\n");
    /* A remedy is not made clearer by a number. */
    assert_int_equal(begin(NULL), 0);
    shared.status = PS_DENIED;
    ps_record_run(&json, &identity, &shared, NULL);
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_null(strstr(sink.data, "errno"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_table, begin),
        cmocka_unit_test_setup(test_case, begin),
        cmocka_unit_test_setup(test_case_that_will_not_run, begin),
        cmocka_unit_test_setup(test_estimators, begin),
        cmocka_unit_test_setup(test_run, begin),
        cmocka_unit_test_setup(test_run_that_failed, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
