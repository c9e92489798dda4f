/* SPDX-License-Identifier: MIT
 *
 * What goes wrong while the runner runs: rows fail and the suite goes on, CPUs vanish, the budget
 * or the disk is full, a signal comes, and a second invocation finishes what the first began.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "sheet/sheet.h"
#include "sim/harness_fixture.h"

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    static const char *const names[] = {"a", "b", "c", "d"};
    for (unsigned i = 0; i < 4; i++) {
        struct ps_case *c = ps_case_add(list, names[i]);
        if (c && i == 3) {
            c->place.threads = 4;
            c->place.every_cluster = false;
        }
    }
    return 0;
}

static const struct ps_bench table = {TABLE("t", "table", cases)};
static const struct ps_bench *const benches[] = {&table};

struct setting {
    struct machine machine;
    struct ps_plan plan;
    struct fake_executor fake;
};

static struct setting *setting_new(void) {
    struct setting *setting = calloc(1, sizeof(*setting));
    assert_non_null(setting);
    machine_init(&setting->machine, 1, 4);
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 5, .budget_s = 100000};
    plan_for(&setting->machine, benches, 1, &options, &setting->plan);
    return setting;
}

static void setting_free(struct setting *setting) {
    ps_plan_free(&setting->plan);
    machine_done(&setting->machine);
    free(setting);
}

/* The sheet of a plan's case records and the run lines. */
static struct ps_sheet *sheet_of(const struct ps_plan *plan, const char *runs) {
    size_t size = strlen(runs) + 65536;
    char *text = malloc(size);
    struct ps_line line;
    struct ps_json_writer json;
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error why = {0};
    assert_non_null(text);
    ps_line_begin(&line, text, size, &json);
    assert_int_equal(ps_plan_write(plan, "linux", &json), 0);
    strcpy(text + line.length, runs);
    if (ps_sheet_parse(text, strlen(text), &sheet, &why))
        fail_msg("line %zu: %s", why.line, why.what);
    free(text);
    return sheet;
}

static const struct ps_sheet_run *last_run(const struct ps_sheet *sheet, const char *id) {
    const struct ps_sheet_run *found = NULL;
    for (size_t i = 0; i < sheet->n_runs; i++)
        if (strcmp(sheet->runs[i].case_id, id) == 0)
            found = &sheet->runs[i];
    return found;
}

static void one_fails(struct fake_executor *fake, const struct taken *taken,
                      struct behaviour *behaviour) {
    (void)fake;
    if (strcmp(taken->row->c.name, "a") == 0) {
        behaviour->status = PS_FAILED;
        behaviour->reason = "a wrong answer";
    }
    if (strcmp(taken->row->c.name, "b") == 0)
        behaviour->raw_line = "{\"type\":\"run\",\"case\":\"somebody else's\"";
}

static void test_failing_rows_end_alone(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {0};
    char *text;
    s->fake.behave = one_fails;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, &text), 0);
    assert_int_equal(count_runs(&s->fake, "t.table/a"), 1);
    assert_int_equal(count_runs(&s->fake, "t.table/b"), 1);
    assert_int_equal(count_runs(&s->fake, "t.table/c"), 8);
    struct ps_sheet *sheet = sheet_of(&s->plan, text);
    assert_int_equal(last_run(sheet, "t.table/a")->status, PS_FAILED);
    assert_string_equal(last_run(sheet, "t.table/b")->reason, "what it wrote is not a run record");
    ps_sheet_free(sheet);
    free(text);
    setting_free(s);
}

static void killed_once(struct fake_executor *fake, const struct taken *taken,
                        struct behaviour *behaviour) {
    (void)fake;
    if (strcmp(taken->row->c.name, "a") == 0 && taken->round == 2 && taken->attempt == 1)
        behaviour->status = PS_ABORTED;
    if (strcmp(taken->row->c.name, "b") == 0 && taken->round >= 2)
        behaviour->status = PS_ABORTED;
}

/* Once is replaced, twice ends the row; a second invocation completes it and takes no more. */
static void test_aborted_runs_are_taken_again(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {0};
    char *text;
    s->fake.behave = killed_once;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, &text), 0);
    assert_int_equal(count_runs(&s->fake, "t.table/a"), 9);
    assert_int_equal(count_runs(&s->fake, "t.table/b"), 3);
    struct ps_sheet *sheet = sheet_of(&s->plan, text);
    struct fake_executor *second = calloc(1, sizeof(*second));
    assert_non_null(second);
    options = (struct ps_runner_options){.done = sheet};
    assert_int_equal(run_plan(&s->machine, &s->plan, second, &options, NULL), 0);
    assert_int_equal(count_runs(second, "t.table/a"), 0);
    assert_int_equal(count_runs(second, "t.table/b"), 7);
    ps_sheet_free(sheet);
    free(second);
    free(text);
    setting_free(s);
}

static void cpu_vanishes(struct fake_executor *fake, const struct taken *taken,
                         struct behaviour *behaviour) {
    (void)behaviour;
    if (taken->round == 2 && fake->n_taken % 4 == 0)
        write_file(fake->context, "/sys/devices/system/cpu/online", "0,2-3\n");
}

static void test_offline_cpu_aborts_its_rows_only(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {0};
    char *text;
    s->fake.behave = cpu_vanishes;
    s->fake.context = s->machine.root;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, &text), 0);
    struct ps_sheet *sheet = sheet_of(&s->plan, text);
    /* Single-threaded rows run on CPU 3, the team needs CPU 1. */
    assert_int_equal(count_runs(&s->fake, "t.table/d@x4"), 2);
    assert_int_equal(last_run(sheet, "t.table/d@x4")->status, PS_ABORTED);
    assert_string_equal(last_run(sheet, "t.table/d@x4")->reason, "cpu 1 is offline");
    assert_int_equal(count_runs(&s->fake, "t.table/a"), 8);
    ps_sheet_free(sheet);
    free(text);
    setting_free(s);
}

static void very_noisy(struct fake_executor *fake, const struct taken *taken,
                       struct behaviour *behaviour) {
    (void)fake;
    behaviour->value = 100 + 20 * (taken->round % 2);
}

static void test_budget_ends_the_run(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {.budget_s = 1.0};
    s->fake.behave = very_noisy;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, NULL), 0);
    assert_true(s->fake.now_ns <= 1000000000);
    assert_true(s->fake.now_ns + s->plan.rows[0].predicted_ms * UINT64_C(1000000) > 1000000000);
    setting_free(s);
}

static volatile int signal_seen;

static void signal_comes(struct fake_executor *fake, const struct taken *taken,
                         struct behaviour *behaviour) {
    (void)taken, (void)behaviour;
    if (fake->n_taken == 6)
        signal_seen = SIGINT;
}

static void test_signal_keeps_what_was_measured(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {.signal_seen = &signal_seen};
    char *text;
    signal_seen = 0;
    s->fake.behave = signal_comes;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, &text), -EINTR);
    assert_int_equal(s->fake.n_taken, 6);
    struct ps_sheet *sheet = sheet_of(&s->plan, text);
    assert_int_equal(sheet->n_runs, 6);
    assert_true(sheet->incomplete);
    ps_sheet_free(sheet);
    free(text);
    setting_free(s);
}

static void test_resume_takes_the_missing_runs(void **state) {
    (void)state;
    struct setting *whole = setting_new(), *cut = setting_new();
    struct ps_runner_options options = {0};
    char *text, *begun, *rest;
    assert_int_equal(run_plan(&whole->machine, &whole->plan, &whole->fake, &options, &text), 0);

    options.signal_seen = &signal_seen;
    signal_seen = 0;
    cut->fake.behave = signal_comes;
    assert_int_equal(run_plan(&cut->machine, &cut->plan, &cut->fake, &options, &begun), -EINTR);
    struct ps_sheet *sheet = sheet_of(&cut->plan, begun);

    struct fake_executor *second = calloc(1, sizeof(*second));
    options = (struct ps_runner_options){.done = sheet};
    assert_int_equal(run_plan(&cut->machine, &cut->plan, second, &options, &rest), 0);
    assert_int_equal(cut->fake.n_taken + second->n_taken, whole->fake.n_taken);
    assert_int_equal(second->taken[0].seq, 6);
    assert_int_equal(second->taken[0].round, 2);
    for (size_t i = 0; i < second->n_taken; i++)
        for (size_t j = 0; j < cut->fake.n_taken; j++)
            assert_false(second->taken[i].row == cut->fake.taken[j].row &&
                         second->taken[i].round == cut->fake.taken[j].round);
    /* The same inputs as in one go. */
    unsigned found = 0;
    for (size_t i = 0; i < second->n_taken; i++)
        for (size_t j = 0; j < whole->fake.n_taken; j++)
            found += second->taken[i].seed == whole->fake.taken[j].seed;
    assert_int_equal(found, second->n_taken);
    ps_sheet_free(sheet);
    free(second);
    free(text);
    free(begun);
    free(rest);
    setting_free(whole);
    setting_free(cut);
}

static void no_processes(struct fake_executor *fake, const struct taken *taken,
                         struct behaviour *behaviour) {
    (void)taken;
    if (fake->n_taken == 3)
        behaviour->error = -EAGAIN;
}

static void test_executor_error_ends_the_run(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {0};
    s->fake.behave = no_processes;
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, NULL), -EAGAIN);
    assert_int_equal(s->fake.n_taken, 3);
    setting_free(s);
}

/* A file size limit stands for the full disk: a write comes up short, the next one fails. */
static void test_full_disk_leaves_whole_lines(void **state) {
    (void)state;
    struct setting *s = setting_new();
    struct ps_runner_options options = {0};
    struct rlimit limit, small;
    char *text;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 5000, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int result = run_plan(&s->machine, &s->plan, &s->fake, &options, &text);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(result, -EFBIG);
    assert_true(strlen(text) > 0 && strlen(text) < 5000);
    assert_int_equal(text[strlen(text) - 1], '\n');
    struct ps_sheet *sheet = sheet_of(&s->plan, text);
    assert_int_equal(sheet->n_runs + 1, s->fake.n_taken);
    assert_false(sheet->truncated);
    ps_sheet_free(sheet);
    free(text);
    setting_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_rows_end_alone),
        cmocka_unit_test(test_aborted_runs_are_taken_again),
        cmocka_unit_test(test_offline_cpu_aborts_its_rows_only),
        cmocka_unit_test(test_budget_ends_the_run),
        cmocka_unit_test(test_signal_keeps_what_was_measured),
        cmocka_unit_test(test_resume_takes_the_missing_runs),
        cmocka_unit_test(test_executor_error_ends_the_run),
        cmocka_unit_test(test_full_disk_leaves_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
