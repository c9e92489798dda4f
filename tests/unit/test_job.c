/* SPDX-License-Identifier: MIT
 *
 * A job survives the way to the child whole; a damaged one is refused.
 */
#include "sim/harness_fixture.h"

#include "harness/child.h"

static int one_case(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    struct ps_case *c = ps_case_add(list, "copy-1mb");
    assert_non_null(c);
    ps_case_param(c, "size_bytes", INT64_C(9007199254740993)); /* no double holds it */
    ps_case_param_text(c, "mode", "\"quoted\"\n");
    c->memory = (struct ps_memory){.bytes = UINT64_C(5) << 32,
                                   .alignment_bytes = 1 << 21,
                                   .pages = PS_PAGES_HUGE,
                                   .untouched = true};
    c->place.pairing = PS_PAIR_CROSS_CPU;
    c->place.target = "tmpfs";
    c->tags = PS_TAG_HEADLINE;
    c->quality = PS_Q_CACHE_RESIDENT;
    return 0;
}

static const struct ps_bench other = {TABLE("t", "other", one_case)};
static const struct ps_bench table = {TABLE("t", "table", one_case)};
static const struct ps_bench *const benches[] = {&other, &table};
static const struct ps_registry registry = {benches, 2};

static size_t write_job(char *text, size_t size_bytes) {
    static int cpus[] = {7, 4095, 7};
    struct ps_plan_row row = {.bench = &table, .cpus = cpus, .n_cpus = 3, .partner = true};
    struct ps_case_list list = {.cases = &row.c, .capacity = 1};
    assert_int_equal(one_case(NULL, &list), 0);
    row.settings = (struct ps_measure_settings){.warm_up_ns = 25000000,
                                                .warm_up_cap_ns = 250000000,
                                                .sample_ns = 1000000,
                                                .window_ns = 75000000,
                                                .single_events = 3,
                                                .events = 500,
                                                .verify_only = true};
    struct ps_run_identity identity = {.id = "t.table/copy-1mb@tmpfs",
                                       .source = "linux",
                                       .round = 3,
                                       .seq = 417,
                                       .attempt = 2,
                                       .start_s = 212.4};
    struct ps_line line;
    struct ps_json_writer json;
    ps_line_begin(&line, text, size_bytes, &json);
    ps_job_write(&json, &row, &identity, UINT64_C(0xfedcba9876543210), true, 41, 3.9);
    assert_int_equal(ps_line_end(&line, &json), 0);
    return line.length;
}

static void test_round_trip(void **state) {
    (void)state;
    char text[8192];
    struct ps_job job;
    size_t length = write_job(text, sizeof(text));
    assert_int_equal(ps_job_parse(&registry, text, length, &job), 0);
    assert_ptr_equal(job.bench, &table);
    assert_string_equal(job.c.name, "copy-1mb");
    assert_int_equal(ps_case_value(&job.c, "size_bytes", 0), INT64_C(9007199254740993));
    assert_string_equal(ps_case_text(&job.c, "mode"), "\"quoted\"\n");
    assert_true(job.c.memory.bytes == UINT64_C(5) << 32 && job.c.memory.untouched);
    assert_int_equal(job.c.memory.pages, PS_PAGES_HUGE);
    assert_int_equal(job.c.memory.alignment_bytes, 1 << 21);
    assert_int_equal(job.c.place.pairing, PS_PAIR_CROSS_CPU);
    assert_int_equal(job.c.place.cluster, -1);
    assert_string_equal(job.c.place.target, "tmpfs");
    assert_int_equal(job.c.quality, PS_Q_CACHE_RESIDENT);
    assert_true(job.settings.seed == UINT64_C(0xfedcba9876543210));
    assert_int_equal(job.settings.window_ns, 75000000);
    assert_int_equal(job.settings.events, 500);
    assert_true(job.settings.verify_only && job.partner && job.clock_trusted);
    assert_int_equal(job.resolution_ns, 41);
    assert_int_equal(job.n_cpus, 3);
    assert_int_equal(job.cpus[1], 4095);
    assert_string_equal(job.identity.id, "t.table/copy-1mb@tmpfs");
    assert_int_equal(job.identity.seq, 417);
    assert_int_equal(job.identity.attempt, 2);
    assert_true(job.identity.start_s == 212.4);
    ps_job_free(&job);
}

static void test_cut_jobs_are_refused(void **state) {
    (void)state;
    char text[8192];
    struct ps_job job;
    size_t length = write_job(text, sizeof(text));
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(ps_job_parse(&registry, text, cut, &job), -22);
    char *cpu = strstr(text, "4095");
    assert_non_null(cpu);
    memcpy(cpu, "4096", 4);
    assert_int_equal(ps_job_parse(&registry, text, length, &job), -22);
    memcpy(cpu, "null", 4);
    assert_int_equal(ps_job_parse(&registry, text, length, &job), -22);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_cut_jobs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
