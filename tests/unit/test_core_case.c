/* SPDX-License-Identifier: MIT
 *
 * Cases: the list that grows or does not, parameters, the bound that a footprint gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/case_list.h"
#include "core/measure.h"

static void test_add(void **state) {
    (void)state;
    struct ps_case cases[2];
    struct ps_case_list list = {.cases = cases, .capacity = 2};
    struct ps_case *c = ps_case_add(&list, "rd-1mb");
    assert_non_null(c);
    assert_string_equal(c->name, "rd-1mb");
    assert_int_equal(c->place.cluster, -1);
    assert_int_equal(c->place.cpu, -1);
    assert_true(c->place.every_cluster);
    assert_int_equal(c->status, PS_OK);
    assert_non_null(ps_case_add(&list, "second"));
    assert_false(list.overflow);
    c = ps_case_add(&list, "third");
    assert_null(c);
    assert_true(list.overflow);
    assert_int_equal(list.n, 2);
    /* A case that is not there takes everything in silence. */
    ps_case_param(c, "size_bytes", 1);
    ps_case_param_text(c, "op", "rd");
    ps_case_publish(c, "bandwidth", "page", "table", "row", PS_COMPARABLE_YES, NULL);
    ps_case_relate(c, PS_NEAR, "mem-01", "bandwidth", "mem.x/y:z", 1, 0.1, "cause");
}

static int grow_by_one(struct ps_case_list *list) {
    if (list->capacity == 3)
        return -12;
    void *more = realloc(list->cases, (list->capacity + 1) * sizeof(*list->cases));
    assert_non_null(more);
    list->cases = more;
    list->capacity++;
    return 0;
}

static void test_grow(void **state) {
    (void)state;
    struct ps_case_list list = {.grow = grow_by_one};
    assert_non_null(ps_case_add(&list, "a"));
    assert_non_null(ps_case_add(&list, "b"));
    assert_non_null(ps_case_add(&list, "c"));
    assert_null(ps_case_add(&list, "d"));
    assert_true(list.overflow);
    assert_string_equal(list.cases[0].name, "a");
    assert_string_equal(list.cases[2].name, "c");
    free(list.cases);
}

static void test_params(void **state) {
    (void)state;
    struct ps_case one;
    struct ps_case_list list = {.cases = &one, .capacity = 1};
    struct ps_case *c = ps_case_add(&list, "x");
    ps_case_param(c, "size_bytes", INT64_C(3) << 40);
    ps_case_param_text(c, "op", "fcp");
    ps_case_publish(c, "bandwidth", "am62l", "lmbench", "fcp", PS_COMPARABLE_APPROX, "other clock");
    ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-02", "bandwidth", "mem.bw_mem/cp:bandwidth", 0, 0.15,
                   "?");
    assert_true(ps_case_value(c, "size_bytes", -1) == INT64_C(3) << 40);
    assert_int_equal(ps_case_value(c, "stride_bytes", 128), 128);
    assert_int_equal(ps_case_value(c, "op", 5), 5);
    assert_string_equal(ps_case_text(c, "op"), "fcp");
    assert_null(ps_case_text(c, "size_bytes"));
    assert_null(ps_case_text(c, "nothing"));
    assert_int_equal(c->published[0].nth, 1);
    assert_string_equal(c->published[0].row, "fcp");
    assert_string_equal(c->relations[0].other, "mem.bw_mem/cp:bandwidth");
}

static void test_bound(void **state) {
    (void)state;
    struct ps_case c = {.memory.bytes = 0};
    assert_int_equal(ps_case_bound(&c, 0), PS_BOUND_CORE);
    c.memory.bytes = 768;
    assert_int_equal(ps_case_bound(&c, 1024), PS_BOUND_CORE);
    c.memory.bytes = 769;
    assert_int_equal(ps_case_bound(&c, 1024), PS_BOUND_MEMORY);
    assert_int_equal(ps_case_bound(&c, 0), PS_BOUND_MEMORY);
    c.memory.bytes = UINT64_MAX;
    assert_int_equal(ps_case_bound(&c, UINT64_MAX), PS_BOUND_MEMORY);
    c.bound = PS_BOUND_DEVICE;
    assert_int_equal(ps_case_bound(&c, 1024), PS_BOUND_DEVICE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
