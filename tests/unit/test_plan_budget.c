/* SPDX-License-Identifier: MIT
 *
 * Numbers of runs by depth, predicted times, what is dropped to fit a budget, and the plan's hash.
 */
#include "sim/harness_fixture.h"

static int sixty_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    for (unsigned i = 0; i < 60; i++) {
        char name[16];
        snprintf(name, sizeof(name), "c%02u", i);
        struct ps_case *c = ps_case_add(list, name);
        if (c && i % 2 == 0)
            c->tags = PS_TAG_HEADLINE;
        if (c && i >= 50)
            c->memory.bytes = UINT64_C(64) << 20;
        if (c)
            c->predicted_ms = 500;
    }
    return 0;
}

static int one_case(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    struct ps_case *c = ps_case_add(list, "one");
    if (c) {
        c->tags = PS_TAG_HEADLINE;
        ps_case_param(c, "size_bytes", 4096);
    }
    return 0;
}

static const struct ps_bench many = {TABLE("a", "many", sixty_cases)};
static const struct ps_bench one = {TABLE("crypto", "one", one_case)};
static const struct ps_bench *const benches[] = {&many, &one};

struct result {
    struct machine machine;
    struct ps_plan plan;
};

static struct result *make(enum ps_depth depth, unsigned budget_s, bool golden) {
    struct result *result = calloc(1, sizeof(*result));
    struct ps_plan_options options = {
        .depth = depth, .seed = 1, .budget_s = budget_s, .golden = golden};
    assert_non_null(result);
    machine_init(&result->machine, 1, 2);
    plan_for(&result->machine, benches, 2, &options, &result->plan);
    return result;
}

static void release(struct result *result) {
    ps_plan_free(&result->plan);
    machine_done(&result->machine);
    free(result);
}

static void check_runs(const struct ps_plan *plan, const char *id, unsigned planned, unsigned max) {
    const struct ps_plan_row *row = find_row(plan, id);
    assert_non_null(row);
    assert_int_equal(row->runs_planned, planned);
    assert_int_equal(row->runs_max, max);
}

static void test_runs_by_depth(void **state) {
    (void)state;
    struct result *r = make(PS_DEPTH_QUICK, 100000, false);
    check_runs(&r->plan, "a.many/c00", 3, 3);
    check_runs(&r->plan, "a.many/c50", 3, 3);
    check_runs(&r->plan, "a.many/c01", 0, 0);
    assert_int_equal(find_row(&r->plan, "a.many/c01")->status, PS_SKIPPED);
    release(r);
    r = make(PS_DEPTH_DEFAULT, 100000, false);
    check_runs(&r->plan, "a.many/c01", 8, 12);
    check_runs(&r->plan, "a.many/c51", 5, 5);
    assert_true(find_row(&r->plan, "a.many/c51")->predicted_ms >
                find_row(&r->plan, "a.many/c01")->predicted_ms);
    assert_true(find_row(&r->plan, "a.many/c01")->predicted_ms > 600);
    release(r);
    r = make(PS_DEPTH_THOROUGH, 100000, false);
    check_runs(&r->plan, "a.many/c01", 12, 20);
    release(r);
    r = make(PS_DEPTH_DEFAULT, 100000, true);
    check_runs(&r->plan, "a.many/c01", 1, 1);
    assert_true(find_row(&r->plan, "a.many/c01")->settings.verify_only);
    release(r);
}

static double seconds(const struct ps_plan *plan, const char *chapter) {
    double sum = 0;
    for (size_t i = 0; i < plan->n_rows; i++)
        if (plan->rows[i].status == PS_OK && strcmp(plan->rows[i].bench->chapter, chapter) == 0)
            sum += plan->rows[i].runs_planned * plan->rows[i].predicted_ms / 1e3;
    return sum;
}

static void test_quick_chapter_seconds(void **state) {
    (void)state;
    struct result *r = make(PS_DEPTH_QUICK, 0, false);
    assert_true(seconds(&r->plan, "a") <= 12);
    assert_true(seconds(&r->plan, "a") > 8);
    assert_true(r->plan.predicted_s < 60);
    /* Headline rows last listed first; the other chapter has its own seconds. */
    assert_int_equal(find_row(&r->plan, "a.many/c00")->status, PS_OK);
    assert_int_equal(find_row(&r->plan, "a.many/c58")->status, PS_SKIPPED);
    assert_memory_equal(find_row(&r->plan, "a.many/c58")->reason, "budget: ", 8);
    assert_int_equal(find_row(&r->plan, "crypto.one/one")->status, PS_OK);
    release(r);
}

static void test_budget_drops_whole_cases(void **state) {
    (void)state;
    struct result *r = make(PS_DEPTH_DEFAULT, 250, false);
    bool dropped = false;
    unsigned kept = 0;
    assert_true(r->plan.predicted_s <= 250);
    for (size_t i = 0; i < r->plan.n_rows; i++) {
        const struct ps_plan_row *row = &r->plan.rows[i];
        if (row->c.tags & PS_TAG_HEADLINE) {
            assert_int_equal(row->status, PS_OK); /* they fit, so none of them goes */
        } else if (row->status == PS_OK) {
            assert_false(dropped); /* the last listed go first */
            assert_true(row->runs_planned >= 3);
            kept++;
        } else {
            dropped = true;
            assert_memory_equal(row->reason, "budget: ", 8);
        }
    }
    assert_true(dropped && kept > 0);
    release(r);
}

static void test_nothing_fits(void **state) {
    (void)state;
    struct result *r = make(PS_DEPTH_DEFAULT, 1, false);
    assert_int_equal(r->plan.n_run, 0);
    assert_true(r->plan.predicted_s == 0);
    release(r);
}

/* A neighbour on the core lengthens what is shown, and changes nothing of the plan. */
static void test_shared_core_takes_longer(void **state) {
    (void)state;
    struct result *alone = make(PS_DEPTH_QUICK, 0, false);
    struct machine machine;
    struct ps_plan busy;
    struct ps_plan_options options = {.depth = PS_DEPTH_QUICK, .seed = 1};
    machine_init(&machine, 1, 2);
    machine.environment.core_shared = 0.5;
    plan_for(&machine, benches, 2, &options, &busy);
    assert_true(busy.predicted_s > 1.2 * alone->plan.predicted_s);
    assert_int_equal(busy.n_run, alone->plan.n_run);
    assert_string_equal(busy.hash, alone->plan.hash);
    ps_plan_free(&busy);
    options.budget_s = 30;
    plan_for(&machine, benches, 2, &options, &busy);
    assert_true(busy.predicted_s <= 30);
    ps_plan_free(&busy);
    machine_done(&machine);
    release(alone);
}

static void hash_of(const struct ps_bench *bench, enum ps_depth depth, uint64_t seed,
                    char *ret_hash) {
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = depth, .seed = seed};
    machine_init(&machine, 1, 2);
    plan_for(&machine, &bench, 1, &options, &plan);
    assert_int_equal(strlen(plan.hash), 16);
    strcpy(ret_hash, plan.hash);
    ps_plan_free(&plan);
    machine_done(&machine);
}

static void test_hash(void **state) {
    (void)state;
    struct ps_metric metric = time_metric[0];
    struct ps_bench changed = one;
    char base[17], other[17];
    hash_of(&one, PS_DEPTH_DEFAULT, 1, base);
    hash_of(&one, PS_DEPTH_DEFAULT, 2, other);
    assert_string_equal(base, other);
    hash_of(&one, PS_DEPTH_QUICK, 1, other);
    assert_string_not_equal(base, other);
    metric.method = 2;
    changed.metrics = &metric;
    hash_of(&changed, PS_DEPTH_DEFAULT, 1, other);
    assert_string_not_equal(base, other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_by_depth),
        cmocka_unit_test(test_quick_chapter_seconds),
        cmocka_unit_test(test_budget_drops_whole_cases),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_shared_core_takes_longer),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
