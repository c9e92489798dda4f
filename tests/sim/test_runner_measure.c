/* SPDX-License-Identifier: MIT
 *
 * The whole chain on the fake clock: plan, runner, the core's measuring, run records, the reader,
 * results. A unit of work takes a known time, so the values are known beforehand.
 */
#include "sim/harness_fixture.h"

#include <math.h>

#include "port/port_fake.h"
#include "sheet/results.h"

static struct ps_fake fake_machine;
static unsigned run_number;

/* 40 ns a turn; `slow` gets 5 % slower from run to run, `modes` has two speeds. */
static int fake_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    const char *name = ps_run_case(run)->name;
    static unsigned calls;
    uint64_t ns = 40 * n;
    (void)segment;
    if (strcmp(name, "slow") == 0)
        ns += ns * run_number / 200;
    if (strcmp(name, "modes") == 0 && calls++ % 2)
        ns += ns / 5;
    if (strcmp(name, "nothing") == 0)
        ns = 0;
    ps_fake_advance(&fake_machine, ns);
    return 0;
}

static int four_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    ps_case_add(list, "even");
    ps_case_add(list, "slow");
    ps_case_add(list, "modes");
    ps_case_add(list, "nothing");
    return 0;
}

static const struct ps_metric core_metric[] = {{.name = "time",
                                                .unit = PS_UNIT_NS,
                                                .kind = PS_TIME,
                                                .counts = "one unit",
                                                .better = PS_BETTER_LOWER,
                                                .positive = true,
                                                .decimals = 1,
                                                .method = 1,
                                                .bound = PS_BOUND_CORE}};

static const struct ps_bench table = {.chapter = "t",
                                      .table = "table",
                                      .title = "table",
                                      .about = "a test",
                                      .region = "the fake clock moves",
                                      .metrics = core_metric,
                                      .n_metrics = 1,
                                      .batch = fake_batch,
                                      .cases = four_cases,
                                      .no_verify = "nothing is computed"};

static int measure_on_fake(void *self, const struct ps_plan_row *row,
                           const struct ps_run_identity *identity, uint64_t seed, char *text,
                           size_t text_bytes) {
    struct ps_measure_settings settings = row->settings;
    struct ps_port port;
    struct ps_line line;
    struct ps_json_writer json;
    (void)self;
    run_number = identity->seq;
    settings.seed = seed;
    ps_fake_port(&fake_machine, &port);
    struct ps_run_shared shared = {
        .bench = row->bench, .c = &row->c, .port = &port, .cpus = row->cpus, .n_cpus = row->n_cpus};
    uint64_t scratch_bytes = ps_measure_scratch_bytes(row->bench, &settings);
    void *scratch = malloc(scratch_bytes);
    assert_non_null(scratch);
    ps_measure(&shared, &settings, scratch, scratch_bytes);
    ps_line_begin(&line, text, text_bytes, &json);
    ps_record_run(&json, identity, &shared, NULL);
    free(scratch);
    return ps_line_end(&line, &json);
}

static uint64_t fake_machine_now(void *self) {
    (void)self;
    return fake_machine.now_ns;
}

static const struct ps_result *result_of(const struct ps_sheet *sheet, const char *id) {
    for (size_t i = 0; i < sheet->n_results; i++)
        if (strcmp(sheet->results[i].id, id) == 0)
            return &sheet->results[i];
    fail_msg("no result %s", id);
    return NULL;
}

static struct ps_sheet *measure_all(bool clock_trusted) {
    static const struct ps_bench *const benches[] = {&table};
    static const double mhz[] = {2000};
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options plan_options = {.depth = PS_DEPTH_DEFAULT, .seed = 9};
    struct ps_runner_options options = {0};
    struct ps_executor executor = {.execute = measure_on_fake, .now_ns = fake_machine_now};
    char path[] = "/tmp/perfsheet-test-sheet-XXXXXX", text[65536];
    struct ps_output output = {.fd = mkstemp(path)};
    struct ps_sheet_error why = {0};
    struct ps_sheet *sheet = NULL;
    struct ps_line line;
    struct ps_json_writer json;

    assert_true(output.fd >= 0);
    ps_fake_init(&fake_machine);
    fake_machine.read_ns = 20;
    fake_machine.step_ns = 1;
    if (clock_trusted) {
        fake_machine.mhz = mhz;
        fake_machine.n_mhz = 1;
    }
    machine_init(&machine, 1, 2);
    machine.environment.clock.trusted = clock_trusted;
    machine.environment.reference_mhz[0] = 2000;
    plan_for(&machine, benches, 1, &plan_options, &plan);
    ps_line_begin(&line, text, sizeof(text), &json);
    ps_json_object_begin(&json);
    ps_json_pair_string(&json, "type", "source");
    ps_json_pair_string(&json, "id", "linux");
    ps_json_pair_string(&json, "kind", "linux");
    ps_json_key(&json, "reference_mhz");
    ps_json_object_begin(&json);
    ps_json_pair_i64(&json, "0", 2000);
    ps_json_object_end(&json);
    ps_json_object_end(&json);
    assert_int_equal(ps_json_line_end(&json), 0);
    assert_int_equal(ps_plan_write(&plan, "linux", &json), 0);
    text[--line.length] = '\0'; /* ps_output_line ends it */
    assert_int_equal(ps_output_line(&output, text, line.length, false), 0);
    assert_int_equal(ps_runner_run(&plan, &machine.environment, &executor, &output, &options), 0);
    assert_int_equal(fake_machine.mapped_bytes, 0);
    if (ps_sheet_read(path, &sheet, &why))
        fail_msg("line %zu: %s", why.line, why.what);
    close(output.fd);
    unlink(path);
    ps_plan_free(&plan);
    machine_done(&machine);
    ps_fake_done(&fake_machine);
    return sheet;
}

static unsigned runs_of(const struct ps_sheet *sheet, const char *id) {
    unsigned n = 0;
    for (size_t i = 0; i < sheet->n_runs; i++)
        n += strcmp(sheet->runs[i].case_id, id) == 0;
    return n;
}

static void test_known_times_come_out(void **state) {
    (void)state;
    struct ps_sheet *sheet = measure_all(true);
    const struct ps_result *even = result_of(sheet, "t.table/even:time");
    assert_int_equal(even->status, PS_OK);
    assert_true(fabs(even->value / 40 - 1) < 0.001);
    assert_true(fabs(even->cycles / 80 - 1) < 0.001);
    assert_int_equal(even->n_runs, 8);
    assert_int_equal(even->quality, 0);
    assert_int_equal(runs_of(sheet, "t.table/even"), 8);
    /* 20 % over the runs: the row grows to 12 runs and says that it drifts. */
    const struct ps_result *slow = result_of(sheet, "t.table/slow:time");
    assert_int_equal(runs_of(sheet, "t.table/slow"), 12);
    assert_true(slow->quality & PS_Q_DRIFTING);
    const struct ps_result *modes = result_of(sheet, "t.table/modes:time");
    assert_true(modes->quality & PS_Q_BIMODAL);
    assert_true(fabs(modes->modes[0] / 40 - 1) < 0.02 && fabs(modes->modes[1] / 48 - 1) < 0.02);
    const struct ps_result *nothing = result_of(sheet, "t.table/nothing:time");
    assert_int_equal(nothing->status, PS_OK);
    assert_true(nothing->quality & PS_Q_BELOW_RESOLUTION);
    assert_true(nothing->value > 0);
    ps_sheet_free(sheet);
}

/* With a clock that does not move, normalising changes nothing; with an unknown one the estimator
 * is another, and for work without scatter the value is the same. */
static void test_locked_clock_is_a_no_op(void **state) {
    (void)state;
    struct ps_sheet *known = measure_all(true), *unknown = measure_all(false);
    const struct ps_result *a = result_of(known, "t.table/even:time");
    const struct ps_result *b = result_of(unknown, "t.table/even:time");
    assert_true(fabs(a->value / a->raw - 1) < 1e-9);
    assert_true(fabs(a->value / b->value - 1) < 0.001);
    assert_true(isnan(b->cycles));
    ps_sheet_free(known);
    ps_sheet_free(unknown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_times_come_out),
        cmocka_unit_test(test_locked_clock_is_a_no_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
