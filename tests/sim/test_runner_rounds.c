/* SPDX-License-Identifier: MIT
 *
 * Order, replacements and the stop rule of the runner, on a fake clock.
 */
#include "sim/harness_fixture.h"

static int three_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    ps_case_add(list, "a");
    ps_case_add(list, "b");
    ps_case_add(list, "c");
    return 0;
}

static const struct ps_bench first = {TABLE("t", "first", three_cases)};
static const struct ps_bench listed = {TABLE("t", "listed", three_cases), .order = PS_AS_LISTED};
static const struct ps_bench last = {TABLE("t", "last", three_cases)};
static const struct ps_bench *const benches[] = {&first, &listed, &last};

struct setting {
    struct machine machine;
    struct ps_plan plan;
    struct fake_executor fake;
};

static struct setting *setting_new(enum ps_depth depth, size_t n_benches, uint64_t seed) {
    struct setting *setting = calloc(1, sizeof(*setting));
    assert_non_null(setting);
    machine_init(&setting->machine, 1, 2);
    struct ps_plan_options options = {.depth = depth, .seed = seed, .budget_s = 100000};
    plan_for(&setting->machine, benches, n_benches, &options, &setting->plan);
    return setting;
}

static void setting_free(struct setting *setting) {
    ps_plan_free(&setting->plan);
    machine_done(&setting->machine);
    free(setting);
}

static void test_quiet_rows_take_planned_runs(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
    struct ps_runner_options options = {0};
    assert_int_equal(run_plan(&s->machine, &s->plan, &s->fake, &options, NULL), 0);
    assert_int_equal(s->fake.n_taken, 3 * 8);
    /* Each round has each row once, all with attempt 1, seq without a gap. */
    for (size_t i = 0; i < s->fake.n_taken; i++) {
        assert_int_equal(s->fake.taken[i].round, i / 3 + 1);
        assert_int_equal(s->fake.taken[i].attempt, 1);
        assert_int_equal(s->fake.taken[i].seq, i);
    }
    for (unsigned round = 0; round < 8; round++)
        for (unsigned i = 0; i < 3; i++)
            for (unsigned j = i + 1; j < 3; j++)
                assert_ptr_not_equal(s->fake.taken[3 * round + i].row,
                                     s->fake.taken[3 * round + j].row);
    setting_free(s);
}

static void test_order_is_shuffled_and_seeded(void **state) {
    (void)state;
    struct setting *a = setting_new(PS_DEPTH_THOROUGH, 3, 7),
                   *b = setting_new(PS_DEPTH_THOROUGH, 3, 7);
    struct setting *c = setting_new(PS_DEPTH_THOROUGH, 3, 8);
    struct ps_runner_options options = {0};
    run_plan(&a->machine, &a->plan, &a->fake, &options, NULL);
    run_plan(&b->machine, &b->plan, &b->fake, &options, NULL);
    run_plan(&c->machine, &c->plan, &c->fake, &options, NULL);
    unsigned same_seed = 0, other_seed = 0, next_round = 0, same_inputs = 0;
    assert_int_equal(a->fake.n_taken, 9 * 12);
    for (size_t i = 0; i < a->fake.n_taken; i++) {
        same_seed += strcmp(a->fake.taken[i].row->id, b->fake.taken[i].row->id) == 0;
        other_seed += strcmp(a->fake.taken[i].row->id, c->fake.taken[i].row->id) == 0;
        next_round += strcmp(a->fake.taken[i].row->id, a->fake.taken[(i + 9) % 108].row->id) == 0;
        for (size_t j = 0; j < i; j++)
            same_inputs += a->fake.taken[i].seed == a->fake.taken[j].seed;
    }
    assert_int_equal(same_seed, 108);
    assert_true(other_seed < 60);
    assert_true(next_round < 60);
    assert_int_equal(same_inputs, 0);
    assert_string_equal(a->plan.hash, c->plan.hash);
    setting_free(a);
    setting_free(b);
    setting_free(c);
}

static void test_listed_tables_stay_together(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_THOROUGH, 3, 3);
    struct ps_runner_options options = {0};
    bool at[9] = {false};
    run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
    for (size_t i = 0; i < s->fake.n_taken; i++) {
        if (strcmp(s->fake.taken[i].row->id, "t.listed/a") != 0)
            continue;
        assert_string_equal(s->fake.taken[i + 1].row->id, "t.listed/b");
        assert_string_equal(s->fake.taken[i + 2].row->id, "t.listed/c");
        at[i % 9] = true;
    }
    unsigned places = 0; /* the block moves */
    for (unsigned i = 0; i < 9; i++)
        places += at[i];
    assert_true(places > 2);
    setting_free(s);
}

/* Scatter by 10 %: the interval never comes within 1 %. */
static void noisy(struct fake_executor *fake, const struct taken *taken,
                  struct behaviour *behaviour) {
    (void)fake;
    if (strcmp(taken->row->c.name, "a") == 0)
        behaviour->value = 100 + 10 * (taken->round % 3);
}

static void test_noisy_rows_grow(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
    struct ps_runner_options options = {0};
    s->fake.behave = noisy;
    run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
    assert_int_equal(count_runs(&s->fake, "t.first/a"), 12);
    assert_int_equal(count_runs(&s->fake, "t.first/b"), 8);
    setting_free(s);
}

static void disturbed_once(struct fake_executor *fake, const struct taken *taken,
                           struct behaviour *behaviour) {
    (void)fake;
    if (strcmp(taken->row->c.name, "b") == 0 && taken->round == 2 && taken->attempt == 1) {
        behaviour->disturbed = "run-queue delay 20 % of the run";
        behaviour->value = 900;
    }
}

static void test_disturbed_run_is_replaced_at_the_end_of_the_next_round(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
    struct ps_runner_options options = {0};
    s->fake.behave = disturbed_once;
    run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
    assert_int_equal(count_runs(&s->fake, "t.first/b"), 9);
    assert_int_equal(s->fake.n_taken, 25);
    const struct taken *replacement = &s->fake.taken[9]; /* rounds 1 to 3, then it */
    assert_string_equal(replacement->row->id, "t.first/b");
    assert_int_equal(replacement->round, 3);
    assert_int_equal(replacement->attempt, 2);
    assert_int_equal(s->fake.taken[8].round, 3);
    assert_int_equal(s->fake.taken[10].round, 4);
    setting_free(s);
}

static void always_disturbed(struct fake_executor *fake, const struct taken *taken,
                             struct behaviour *behaviour) {
    (void)fake;
    behaviour->value = 100 + 13 * (taken->seq % 7);
    if (strcmp(taken->row->c.name, "c") == 0)
        behaviour->disturbed = "steal 10 % of the run";
}

static void test_replacements_are_capped(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
    struct setting *quick = setting_new(PS_DEPTH_QUICK, 1, 1);
    struct ps_runner_options options = {0};
    s->fake.behave = always_disturbed;
    run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
    assert_int_equal(count_runs(&s->fake, "t.first/c"), 8 + 4); /* no growth: more would not help */
    assert_int_equal(count_runs(&s->fake, "t.first/a"), 12);
    setting_free(s);
    assert_int_equal(quick->plan.n_run, 0); /* none is in the headline page */
    assert_string_equal(quick->plan.rows[0].reason, "quick: not in the headline page");
    setting_free(quick);
}

static unsigned asked, asked_disturbed, asked_runs;
static bool answer;

static bool ask(void *context, unsigned n_disturbed, unsigned n_runs) {
    (void)context;
    asked++;
    asked_disturbed = n_disturbed;
    asked_runs = n_runs;
    return answer;
}

static void first_round_busy(struct fake_executor *fake, const struct taken *taken,
                             struct behaviour *behaviour) {
    if (taken->round == 1 && fake->slept_ns == 0 && strcmp(taken->row->c.name, "a") != 0)
        behaviour->disturbed = "run-queue delay 50 % of the run";
}

static void test_busy_first_round_is_said_once(void **state) {
    (void)state;
    for (unsigned wait = 0; wait < 2; wait++) {
        struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
        struct ps_runner_options options = {.disturbed = ask};
        asked = 0;
        answer = wait != 0;
        s->fake.behave = first_round_busy;
        run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
        assert_int_equal(asked, 1);
        assert_int_equal(asked_disturbed, 2);
        assert_int_equal(asked_runs, 3);
        assert_int_equal(s->fake.slept_ns, wait ? UINT64_C(30000000000) : 0);
        assert_int_equal(count_runs(&s->fake, "t.first/a"), 8);
        assert_int_equal(count_runs(&s->fake, "t.first/b"), 9);
        unsigned replacements = 0;
        for (size_t i = 0; i < s->fake.n_taken; i++)
            replacements += s->fake.taken[i].attempt > 1;
        assert_int_equal(replacements, wait ? 0 : 2);
        setting_free(s);
    }
}

static void test_load_pass_is_one_more_run(void **state) {
    (void)state;
    struct setting *s = setting_new(PS_DEPTH_DEFAULT, 1, 1);
    struct ps_runner_options options = {.soak = true};
    run_plan(&s->machine, &s->plan, &s->fake, &options, NULL);
    assert_int_equal(s->fake.n_taken, 3 * 9);
    for (size_t i = 0; i < s->fake.n_taken; i++)
        assert_int_equal(s->fake.taken[i].for_load, i >= 3 * 8);
    setting_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet_rows_take_planned_runs),
        cmocka_unit_test(test_order_is_shuffled_and_seeded),
        cmocka_unit_test(test_listed_tables_stay_together),
        cmocka_unit_test(test_noisy_rows_grow),
        cmocka_unit_test(test_disturbed_run_is_replaced_at_the_end_of_the_next_round),
        cmocka_unit_test(test_replacements_are_capped),
        cmocka_unit_test(test_busy_first_round_is_said_once),
        cmocka_unit_test(test_load_pass_is_one_more_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
