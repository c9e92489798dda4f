/* SPDX-License-Identifier: MIT
 *
 * The core to core table: which pairs it makes of how many CPUs, what is divided by, and that a
 * line passed between two processes has been passed as often as was asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "kernels/line_pass.h"

extern const struct ps_bench ps_bench_mem_core_to_core;

static const struct ps_bench *const bench = &ps_bench_mem_core_to_core;
static struct ps_case cases[64];
static struct ps_case_list list;
static int usable[200];
static const struct ps_cluster cluster = {.n_cpus = 2};

static size_t make(unsigned n, unsigned n_cpus, bool quick) {
    struct ps_env env = {.cluster = &cluster,
                         .clusters = &cluster,
                         .n_clusters = 1,
                         .n_cpus = n_cpus,
                         .usable_cpus = usable,
                         .n_usable_cpus = n,
                         .quick = quick};
    list = (struct ps_case_list){.cases = cases, .capacity = 64};
    for (int i = 0; i < 200; i++)
        usable[i] = 10 + i;
    assert_int_equal(bench->cases(&env, &list), 0);
    assert_false(list.overflow);
    return list.n;
}

static void test_pairs(void **unused) {
    (void)unused;
    assert_int_equal(make(1, 1, false), 1);
    assert_int_equal(cases[0].status, PS_UNSUPPORTED);
    assert_int_equal(make(4, 1, false), 1); /* a quota of one CPU: both would share it */
    assert_int_equal(cases[0].status, PS_UNSUPPORTED);
    assert_int_equal(make(2, 2, true), 1);
    assert_int_equal(make(2, 2, false), 2);
    assert_string_equal(cases[0].name, "cpu10-cpu11");
    assert_string_equal(cases[1].name, "cpu11-cpu10");
    assert_string_equal(cases[0].relations[0].other, "mem.core_to_core/cpu11-cpu10:latency");
    assert_int_equal(cases[1].place.n_given, 2);
    assert_int_equal(cases[1].place.given[0], 11);
    assert_int_equal(cases[1].place.given[1], 10);
    assert_int_equal(make(3, 3, false), 6);
    assert_int_equal(make(4, 4, false), 6);
    assert_int_equal(cases[0].n_relations, 0);
    assert_int_equal(make(200, 200, true), 1);
    assert_string_equal(cases[0].name, "cpu10-cpu209");
    assert_int_equal(make(200, 200, false), 15);
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(cases[i].name, cases[k].name);
    assert_int_equal(bench->units(&cases[0], 0), 2);
}

static void test_the_line_is_passed_as_often_as_asked(void **unused) {
    static const struct ps_port port = {.resolution_ns = 1};
    static int cpus[2] = {-1, -1};
    static _Alignas(4096) char arena[PS_ARENA_SLACK_BYTES];
    (void)unused;
    make(2, 2, false);
    struct ps_run_shared shared = {
        .bench = bench, .c = &cases[0], .port = &port, .cpus = cpus, .n_cpus = 2, .threads = 1};
    struct ps_run run = {.shared = &shared};
    ps_arena_init(&shared.arena, arena, sizeof(arena));
    assert_int_equal(bench->setup(&run), 0);
    assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
    assert_int_equal(bench->batch(&run, 0, 37), 0);
    /* The state begins with the line: each trip is a pass of either side. */
    struct psk_line *const *line = ps_run_state(&run);
    assert_in_range(__atomic_load_n(&(*line)->turn, __ATOMIC_ACQUIRE), 2 * 137 - 1, 2 * 137);
    assert_int_equal(bench->verify(&run, PS_VERIFY_AFTER), 0);
    __atomic_fetch_add(&(*line)->turn, 4, __ATOMIC_ACQ_REL);
    assert_true(bench->verify(&run, PS_VERIFY_AFTER) < 0);
    assert_int_equal(shared.status, PS_FAILED);
    bench->teardown(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_the_line_is_passed_as_often_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
