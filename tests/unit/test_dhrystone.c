/* SPDX-License-Identifier: MIT
 *
 * Dhrystone's known answer, of both builds, and that a wrong one is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/registry.h"
#include "core/case_list.h"
#include "kernels/dhrystone.h"

static const struct psk_dhrystone_variant *const variants[] = {&psk_dhrystone_strict,
                                                               &psk_dhrystone_vendor};

static void test_known_answer(void **state) {
    (void)state;
    const int passes[] = {1, 2, 3, 100, 12345};
    for (size_t v = 0; v < 2; v++) {
        for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
            struct psk_dhrystone d;
            variants[v]->init(&d);
            assert_false(variants[v]->right(&d, 0)); /* nothing was done yet */
            variants[v]->run(&d, passes[i]);
            assert_int_equal(d.i1, 5);
            assert_int_equal(d.i2, 13);
            assert_int_equal(d.i3, 7);
            assert_int_equal(d.ident, PSK_IDENT_2);
            assert_int_equal(d.global.discriminant, PSK_IDENT_1);
            assert_int_equal(d.global.variant.first.ident, PSK_IDENT_3);
            assert_int_equal(d.global.variant.first.number, 17);
            assert_int_equal(d.next.variant.first.ident, PSK_IDENT_2);
            assert_int_equal(d.next.variant.first.number, 18);
            assert_ptr_equal(d.global.next, &d.next);
            assert_true(variants[v]->right(&d, passes[i]));
            assert_false(variants[v]->right(&d, passes[i] - 1));
            assert_false(variants[v]->right(&d, passes[i] + 1));
        }
    }
}

static void test_passes_add_up(void **state) {
    (void)state;
    for (size_t v = 0; v < 2; v++) {
        struct psk_dhrystone d;
        variants[v]->init(&d);
        for (int i = 1; i <= 10; i++) {
            variants[v]->run(&d, i);
            assert_true(variants[v]->right(&d, i * (i + 1) / 2));
        }
    }
}

/* The strings' lengths, order and first difference, on which the work depends. */
static void test_strings(void **state) {
    (void)state;
    struct psk_dhrystone d;
    variants[0]->init(&d);
    variants[0]->run(&d, 1);
    assert_int_equal(strlen(d.s1), 30);
    assert_int_equal(strlen(d.s2), 30);
    assert_int_equal(strlen(d.global.variant.first.string), 30);
    assert_memory_equal(d.s1, d.s2, 19);
    assert_int_equal(d.s1[19], '1');
    assert_int_equal(d.s2[19], '2');
    assert_true(d.s1[2] != d.s2[3]);
}

static void test_wrong_answers(void **state) {
    (void)state;
    for (size_t v = 0; v < 2; v++) {
        struct psk_dhrystone good, bad;
        variants[v]->init(&good);
        variants[v]->run(&good, 10);
        assert_true(variants[v]->right(&good, 10));
        int *const numbers[] = {&bad.i1, &bad.i2, &bad.i3, &good.global.variant.first.number,
                                &good.next.variant.first.number};
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
            bool in_good = i >= 3; /* the records are told by their address */
            bad = good;
            int before = *numbers[i];
            *numbers[i] = before + 1;
            assert_false(variants[v]->right(in_good ? &good : &bad, 10));
            *numbers[i] = before;
        }
        good.s2[29] = 'x';
        assert_false(variants[v]->right(&good, 10));
    }
}

static void test_variants_differ(void **state) {
    (void)state;
    assert_non_null(strstr(psk_dhrystone_strict.flags, "-O2"));
    assert_non_null(strstr(psk_dhrystone_strict.flags, "-fno-inline"));
    assert_non_null(strstr(psk_dhrystone_vendor.flags, "-O3"));
    assert_null(strstr(psk_dhrystone_vendor.flags, "-fno-inline"));
    /* They have their own globals: a run of one does not disturb the other. */
    struct psk_dhrystone strict, vendor;
    psk_dhrystone_strict.init(&strict);
    psk_dhrystone_vendor.init(&vendor);
    psk_dhrystone_strict.run(&strict, 5);
    psk_dhrystone_vendor.run(&vendor, 7);
    assert_true(psk_dhrystone_strict.right(&strict, 5));
    assert_true(psk_dhrystone_vendor.right(&vendor, 7));
}

static void test_table(void **state) {
    (void)state;
    const struct ps_bench *bench = ps_registry_find(ps_registry(), "cpu.dhrystone");
    assert_non_null(bench);
    struct ps_case cases[3];
    struct ps_case_list list = {.cases = cases, .capacity = 3};
    struct ps_env env = {.n_cpus = 1};
    assert_int_equal(bench->cases(&env, &list), 0);
    assert_int_equal(list.n, 2);
    assert_false(list.overflow);
    assert_string_equal(cases[0].name, "strict");
    assert_string_equal(cases[1].name, "vendor");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cases[i].n_published, 3);
        assert_true(cases[i].tags & PS_TAG_HEADLINE);
        assert_string_equal(ps_case_text(&cases[i], "build"), cases[i].name);
    }
    assert_int_equal(cases[1].n_relations, 1);
    assert_string_equal(cases[1].relations[0].other, "cpu.dhrystone/strict:dhrystone_per_second");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answer),    cmocka_unit_test(test_passes_add_up),
        cmocka_unit_test(test_strings),         cmocka_unit_test(test_wrong_answers),
        cmocka_unit_test(test_variants_differ), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
