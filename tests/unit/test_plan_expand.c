/* SPDX-License-Identifier: MIT
 *
 * Cases to rows: places, CPUs, ids, and what cannot be placed.
 */
#include "sim/harness_fixture.h"

#include "bench/registry.h"

static struct ps_case *add(struct ps_case_list *list, const char *name, enum ps_pairing pairing) {
    struct ps_case *c = ps_case_add(list, name);
    assert_non_null(c);
    c->place.pairing = pairing;
    return c;
}

static int all_kinds(const struct ps_env *env, struct ps_case_list *list) {
    add(list, "single", PS_PAIR_NONE);
    add(list, "once", PS_PAIR_NONE)->place.every_cluster = false;
    add(list, "same", PS_PAIR_SAME_CPU);
    add(list, "cross", PS_PAIR_CROSS_CPU);
    add(list, "clusters", PS_PAIR_CROSS_CLUSTER);
    add(list, "each", PS_PAIR_NONE)->place.every_cpu = true;
    struct ps_case *team = add(list, "all", PS_PAIR_NONE);
    team->place.threads = env->n_cpus;
    add(list, "eight", PS_PAIR_NONE)->place.threads = 8;
    struct ps_case *file = add(list, "file", PS_PAIR_NONE);
    file->place.target = "tmpfs";
    file->place.every_cluster = false;
    ps_case_param(add(list, "l1", PS_PAIR_NONE), "size_bytes",
                  env->cluster ? (int64_t)env->cluster->l1d_bytes : 0);
    add(list, "huge", PS_PAIR_NONE)->memory.bytes = UINT64_C(4) << 30;
    return 0;
}

static const struct ps_bench kinds = {TABLE("t", "kinds", all_kinds)};
static const struct ps_bench *const benches[] = {&kinds};

static const struct ps_plan_row *row_of(const struct ps_plan *plan, const char *id) {
    const struct ps_plan_row *row = find_row(plan, id);
    if (!row)
        fail_msg("no row %s", id);
    return row;
}

static void check_cpus(const struct ps_plan_row *row, unsigned n, int first, int second) {
    assert_int_equal(row->status, PS_OK);
    assert_int_equal(row->n_cpus, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(row->cpus[i], i % 2 ? second : first);
}

static void test_two_equal_cpus(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1};
    machine_init(&machine, 1, 2);
    plan_for(&machine, benches, 1, &options, &plan);
    check_cpus(row_of(&plan, "t.kinds/single"), 1, 1, 1);
    assert_int_equal(row_of(&plan, "t.kinds/single")->c.place.cluster, -1);
    check_cpus(row_of(&plan, "t.kinds/once"), 1, 1, 1);
    check_cpus(row_of(&plan, "t.kinds/same"), PS_ROW_CPUS_MAX, 1, 1);
    check_cpus(row_of(&plan, "t.kinds/cross"), PS_ROW_CPUS_MAX, 1, 0);
    assert_true(row_of(&plan, "t.kinds/cross")->partner);
    assert_false(row_of(&plan, "t.kinds/single")->partner);
    check_cpus(row_of(&plan, "t.kinds/each@cpu0"), 1, 0, 0);
    check_cpus(row_of(&plan, "t.kinds/each@cpu1"), 1, 1, 1);
    check_cpus(row_of(&plan, "t.kinds/all@x2"), 2, 0, 1);
    check_cpus(row_of(&plan, "t.kinds/file@tmpfs"), 1, 1, 1);
    const struct ps_plan_row *clusters = row_of(&plan, "t.kinds/clusters");
    assert_int_equal(clusters->status, PS_UNSUPPORTED);
    assert_string_equal(clusters->reason, "needs two clusters of unequal CPUs, has 1");
    const struct ps_plan_row *eight = row_of(&plan, "t.kinds/eight@x8");
    assert_int_equal(eight->status, PS_SKIPPED);
    assert_non_null(strstr(eight->reason, "needs 8 CPUs, 2 can be had"));
    assert_int_equal(row_of(&plan, "t.kinds/huge")->status, PS_SKIPPED);
    assert_string_equal(row_of(&plan, "t.kinds/huge")->reason,
                        "needs 4096 MiB of memory, 1024 MiB are available");
    assert_int_equal(plan.n_rows, 12);
    assert_string_equal(plan.warning, "");
    ps_plan_free(&plan);
    machine_done(&machine);
}

static void test_one_cpu(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1};
    machine_init(&machine, 1, 1);
    plan_for(&machine, benches, 1, &options, &plan);
    assert_int_equal(row_of(&plan, "t.kinds/cross")->status, PS_UNSUPPORTED);
    assert_string_equal(row_of(&plan, "t.kinds/cross")->reason,
                        "needs two CPUs of one cluster, has 1");
    check_cpus(row_of(&plan, "t.kinds/all"), 1, 0, 0);
    ps_plan_free(&plan);
    machine_done(&machine);
}

static void test_unequal_clusters(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1};
    machine_init(&machine, 2, 3); /* little 0-2, big 3-5 */
    machine.environment.topology.clusters[1].l1d_bytes = 65536;
    machine.environment.reference_mhz[0] = 1200;
    machine.environment.reference_mhz[1] = 2000;
    plan_for(&machine, benches, 1, &options, &plan);
    assert_null(find_row(&plan, "t.kinds/single"));
    check_cpus(row_of(&plan, "t.kinds/single@cl0"), 1, 2, 2);
    check_cpus(row_of(&plan, "t.kinds/single@cl1"), 1, 5, 5);
    assert_int_equal(row_of(&plan, "t.kinds/single@cl1")->c.place.cluster, 1);
    assert_true(row_of(&plan, "t.kinds/single@cl0")->reference_mhz == 1200);
    assert_true(row_of(&plan, "t.kinds/single@cl1")->reference_mhz == 2000);
    assert_int_equal(row_of(&plan, "t.kinds/l1@cl0")->c.params[0].value, 32768);
    assert_int_equal(row_of(&plan, "t.kinds/l1@cl1")->c.params[0].value, 65536);
    check_cpus(row_of(&plan, "t.kinds/cross@cl0"), PS_ROW_CPUS_MAX, 2, 1);
    check_cpus(row_of(&plan, "t.kinds/clusters"), PS_ROW_CPUS_MAX, 5, 2);
    check_cpus(row_of(&plan, "t.kinds/once"), 1, 5, 5); /* on the fast ones */
    assert_int_equal(row_of(&plan, "t.kinds/once")->c.place.cluster, 1);
    for (unsigned cpu = 0; cpu < 6; cpu++) {
        char id[64];
        snprintf(id, sizeof(id), "t.kinds/each@cpu%u", cpu);
        check_cpus(row_of(&plan, id), 1, (int)cpu, (int)cpu);
    }
    const struct ps_plan_row *team = row_of(&plan, "t.kinds/all@x6");
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(team->cpus[i], i);
    ps_plan_free(&plan);
    machine_done(&machine);
}

/* CPUs 2-3 usable and a quota of 1.5: two threads by default, eight when asked for, with a warning.
 */
static void test_threads_are_obeyed(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1, .threads = 8};
    machine_init(&machine, 1, 4);
    struct ps_topology *topology = &machine.environment.topology;
    ps_cpu_set_clear(&topology->usable);
    ps_cpu_set_add(&topology->usable, 2);
    ps_cpu_set_add(&topology->usable, 3);
    topology->cluster_cpus[0] = topology->usable;
    topology->n_threads = 2;
    plan_for(&machine, benches, 1, &options, &plan);
    const struct ps_plan_row *team = row_of(&plan, "t.kinds/all@x8");
    check_cpus(team, 8, 2, 3);
    assert_non_null(strstr(plan.warning, "--threads 8 is obeyed"));
    ps_plan_free(&plan);
    options.threads = 0;
    plan_for(&machine, benches, 1, &options, &plan);
    check_cpus(row_of(&plan, "t.kinds/all@x2"), 2, 2, 3);
    check_cpus(row_of(&plan, "t.kinds/single"), 1, 3, 3);
    assert_string_equal(plan.warning, "");
    ps_plan_free(&plan);
    machine_done(&machine);
}

static enum ps_status refuses(const struct ps_env *env, const char **ret_why) {
    (void)env;
    *ret_why = "needs /dev/nothing";
    return PS_DENIED;
}

static int twins(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    for (unsigned i = 0; i < 3; i++)
        ps_case_add(list, "twin");
    return 0;
}

static int broken(const struct ps_env *env, struct ps_case_list *list) {
    (void)env, (void)list;
    return -5; /* EIO */
}

static int own_status(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    struct ps_case *c = ps_case_add(list, "absent");
    c->status = PS_UNSUPPORTED;
    c->reason = "the board has none";
    return 0;
}

static void test_what_cannot_run_is_in_the_plan(void **state) {
    (void)state;
    static const struct ps_bench denied = {TABLE("t", "denied", twins), .probe = refuses};
    static const struct ps_bench doubled = {TABLE("t", "doubled", twins)};
    static const struct ps_bench faulty = {TABLE("t", "faulty", broken)};
    static const struct ps_bench absent = {TABLE("t", "absent", own_status)};
    static const struct ps_bench *const all[] = {&denied, &doubled, &faulty, &absent};
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1};
    machine_init(&machine, 2, 2);
    plan_for(&machine, all, 4, &options, &plan);
    assert_int_equal(row_of(&plan, "t.denied/twin@cl0")->status, PS_DENIED);
    assert_string_equal(row_of(&plan, "t.denied/twin@cl0")->reason, "needs /dev/nothing");
    assert_int_equal(row_of(&plan, "t.doubled/twin@cl1")->status, PS_OK);
    unsigned failed = 0;
    for (size_t i = 0; i < plan.n_rows; i++) {
        failed +=
            plan.rows[i].status == PS_FAILED && strcmp(plan.rows[i].reason, "duplicate id") == 0;
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(plan.rows[i].id, plan.rows[j].id);
    }
    assert_int_equal(failed, 8); /* two of three, in two tables, on two clusters */
    assert_int_equal(row_of(&plan, "t.faulty/all")->status, PS_FAILED);
    assert_int_equal(row_of(&plan, "t.absent/absent@cl0")->status, PS_UNSUPPORTED);
    assert_int_equal(row_of(&plan, "t.absent/absent@cl0")->runs_planned, 0);
    assert_int_equal(plan.n_run, 2);
    ps_plan_free(&plan);
    machine_done(&machine);
}

static void test_filters(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_registry registry = {benches, 1};
    const char *filters[] = {"t.kinds/s*", "!*@cl1"};
    struct ps_plan_options options = {
        .depth = PS_DEPTH_DEFAULT, .seed = 1, .filters = filters, .n_filters = 2};
    char why[200] = "";
    machine_init(&machine, 2, 2);
    plan_for(&machine, benches, 1, &options, &plan);
    assert_int_equal(plan.n_rows, 2);
    assert_non_null(find_row(&plan, "t.kinds/single@cl0"));
    assert_non_null(find_row(&plan, "t.kinds/same@cl0"));
    ps_plan_free(&plan);
    filters[0] = "t.kidns";
    options.n_filters = 1;
    assert_int_equal(
        ps_plan_make(&registry, &machine.environment, &options, &plan, why, sizeof(why)), -22);
    assert_non_null(strstr(why, "t.kidns"));
    ps_cpu_set_clear(&machine.environment.topology.usable);
    options.n_filters = 0;
    assert_int_equal(
        ps_plan_make(&registry, &machine.environment, &options, &plan, why, sizeof(why)), -22);
    assert_non_null(strstr(why, "no CPU"));
    machine_done(&machine);
}

/* The product's own tables: ids are well-formed, and every table has a row. */
static void test_product_ids(void **state) {
    (void)state;
    struct machine machine;
    struct ps_plan plan;
    struct ps_plan_options options = {.depth = PS_DEPTH_DEFAULT, .seed = 1, .budget_s = 100000};
    const struct ps_registry *registry = ps_registry();
    const struct ps_target tmpfs = {
        .name = "tmpfs", .path = "/dev/shm", .filesystem = "tmpfs", .free_bytes = 1 << 30};
    machine_init(&machine, 2, 4);
    machine.environment.env.targets = &tmpfs;
    machine.environment.env.n_targets = 1;
    plan_for(&machine, registry->benches, registry->n, &options, &plan);
    for (size_t i = 0; i < plan.n_rows; i++) {
        const char *id = plan.rows[i].id;
        bool start = true;
        for (const char *c = id; *c; c++) {
            bool separator = *c == '/' || *c == '@' ||
                             (*c == '.' && (!strchr(c, '/')) == 0 && c < strchr(id, '/'));
            if (!(strchr("abcdefghijklmnopqrstuvwxyz0123456789", *c) || separator ||
                  (!start && strchr("_.+-", *c))))
                fail_msg("%s: '%c'", id, *c);
            start = separator;
        }
        if (plan.rows[i].status != PS_OK)
            assert_non_null(plan.rows[i].reason);
        assert_false(plan.rows[i].status == PS_FAILED);
    }
    for (size_t b = 0; b < registry->n; b++) {
        unsigned rows = 0, headline = 0;
        for (size_t i = 0; i < plan.n_rows; i++) {
            rows += plan.rows[i].bench == registry->benches[b];
            headline += plan.rows[i].bench == registry->benches[b] &&
                        (plan.rows[i].c.tags & PS_TAG_HEADLINE);
        }
        if (rows == 0 || headline == 0)
            fail_msg("%s: %u rows, %u in the headline page", registry->benches[b]->table, rows,
                     headline);
    }
    ps_plan_free(&plan);
    machine_done(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_equal_cpus),
        cmocka_unit_test(test_one_cpu),
        cmocka_unit_test(test_unequal_clusters),
        cmocka_unit_test(test_threads_are_obeyed),
        cmocka_unit_test(test_what_cannot_run_is_in_the_plan),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_product_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
