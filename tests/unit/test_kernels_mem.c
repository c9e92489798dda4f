/* SPDX-License-Identifier: MIT
 *
 * The memory kernels' answers: every operation against a plain loop, at sizes with and without a
 * last part of a block, with guards around the buffers; the chase is one cycle; STREAM's loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/mem_ops.h"
#include "kernels/pointer_chase.h"
#include "kernels/stream_ops.h"

#define GUARD 16 /* words on either side */
#define WORDS_MAX 4096

enum effect { NOTHING, STORED, COPIED, ZEROED };

static const struct {
    uint32_t (*pass)(void *, const void *, size_t);
    enum effect effect;
    bool sums;
    size_t step;
    bool whole;
} operations[] = {
    {psk_mem_rd, NOTHING, true, 4, false},   {psk_mem_wr, STORED, false, 4, false},
    {psk_mem_rdwr, STORED, true, 4, false},  {psk_mem_cp, COPIED, false, 4, false},
    {psk_mem_frd, NOTHING, true, 1, false},  {psk_mem_fwr, STORED, false, 1, false},
    {psk_mem_fcp, COPIED, false, 1, false},  {psk_mem_bzero, ZEROED, false, 1, true},
    {psk_mem_bcopy, COPIED, false, 1, true},
};

static void check_operation(size_t index, size_t n_words) {
    static uint32_t to[WORDS_MAX + 2 * GUARD], from[WORDS_MAX + 2 * GUARD];
    static uint32_t expected[WORDS_MAX + 2 * GUARD];
    size_t n_all = n_words + 2 * GUARD;
    size_t n_walked = operations[index].whole ? n_words : n_words - n_words % 128;
    uint32_t sum = 0;
    bool one_buffer = operations[index].effect != COPIED;
    psk_mem_fill(to, n_all * 4, 7);
    psk_mem_fill(from, n_all * 4, 1234);
    memcpy(expected, to, n_all * 4);
    for (size_t i = GUARD; i < GUARD + n_walked; i += operations[index].step) {
        sum += operations[index].sums ? to[i] : 0;
        switch (operations[index].effect) {
        case NOTHING:
            break;
        case STORED:
            expected[i] = PSK_MEM_STORED;
            break;
        case COPIED:
            expected[i] = from[i];
            break;
        case ZEROED:
            expected[i] = 0;
            break;
        }
    }
    uint32_t got =
        operations[index].pass(to + GUARD, one_buffer ? to + GUARD : from + GUARD, n_words * 4);
    assert_int_equal(got, sum);
    assert_memory_equal(to, expected, n_all * 4);
    for (size_t i = 0; i < n_all; i++)
        assert_int_equal(from[i], psk_mem_pattern(i, 1234));
}

static void test_operations(void **unused) {
    static const size_t sizes[] = {0, 1, 127, 128, 129, 255, 256, 1000, 1024, 4000, WORDS_MAX};
    (void)unused;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
            check_operation(i, sizes[k]);
}

static void test_library_operations_to_the_byte(void **unused) {
    char to[64], from[64];
    (void)unused;
    memset(from, 'f', sizeof(from));
    for (size_t bytes = 0; bytes < 40; bytes++) {
        memset(to, 't', sizeof(to));
        psk_mem_bcopy(to, from, bytes);
        for (size_t i = 0; i < sizeof(to); i++)
            assert_int_equal(to[i], i < bytes ? 'f' : 't');
        psk_mem_bzero(to, NULL, bytes);
        for (size_t i = 0; i < sizeof(to); i++)
            assert_int_equal(to[i], i < bytes ? 0 : 't');
    }
}

static void test_sum(void **unused) {
    static unsigned long words[200];
    (void)unused;
    psk_mem_fill(words, sizeof(words), 99);
    for (size_t bytes = 0; bytes <= sizeof(words); bytes += 4) {
        unsigned long sum = 0;
        for (size_t i = 0; i < bytes / sizeof(long); i++)
            sum += words[i];
        assert_true(psk_mem_sum(words, bytes) == sum);
    }
}

static void test_pattern_has_no_runs(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 100000; i++)
        assert_int_not_equal(psk_mem_pattern(i, 5), psk_mem_pattern(i + 1, 5));
}

/* ---- The chase ------------------------------------------------------------------------------ */

static char *new_lines(size_t n, size_t line_bytes) {
    char *lines = aligned_alloc(64, (n * line_bytes + 63) / 64 * 64);
    assert_non_null(lines);
    return lines;
}

static void test_chase_is_one_cycle(void **unused) {
    static const size_t sizes[] = {1, 2, 3, 5, 31, 32, 33, 34, 64, 65, 1000, 4096, 70001};
    (void)unused;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (size_t line_bytes = 32; line_bytes <= 128; line_bytes *= 2) {
            size_t n = sizes[k];
            char *lines = new_lines(n, line_bytes);
            uint8_t *marks = malloc((n + 7) / 8);
            for (uint64_t seed = 0; seed < 3; seed++) {
                psk_chase_build(lines, n, line_bytes, seed);
                assert_true(psk_chase_is_permutation(lines, n, line_bytes, marks));
                assert_true(psk_chase_lap(lines, n) == n);
                assert_true(psk_chase_lap(lines, n - 1) == 0);
            }
            free(marks);
            free(lines);
        }
    }
}

static void test_chase_walk_takes_its_loads(void **unused) {
    enum { N = 1009 }; /* a prime: no number of turns up to it comes back to the start */
    char *lines = new_lines(N, 64);
    (void)unused;
    psk_chase_build(lines, N, 64, 3);
    for (uint64_t turns = 0; turns < 30; turns++)
        assert_ptr_equal(psk_chase_walk(lines, turns),
                         psk_chase_follow(lines, turns * PSK_CHASE_LOADS));
    assert_ptr_not_equal(psk_chase_walk(lines, 1), lines);
    assert_ptr_equal(psk_chase_walk(lines, N), lines);
    free(lines);
}

static void test_chase_is_random(void **unused) {
    enum { N = 10000 };
    char *lines = new_lines(N, 64), *others = new_lines(N, 64);
    size_t n_near = 0, n_same = 0;
    (void)unused;
    psk_chase_build(lines, N, 64, 1);
    psk_chase_build(others, N, 64, 2);
    for (size_t i = 0; i < N; i++) {
        ptrdiff_t next = (*(char **)(void *)(lines + i * 64) - lines) / 64;
        ptrdiff_t other = (*(char **)(void *)(others + i * 64) - others) / 64;
        ptrdiff_t distance = next - (ptrdiff_t)i;
        n_near += distance >= -50 && distance <= 50;
        n_same += next == other;
    }
    /* 1 % of all lines are that near: 100 expected, standard deviation 10. */
    assert_in_range(n_near, 50, 150);
    assert_in_range(n_same, 0, 10); /* 1 expected */
    free(lines);
    free(others);
}

static void test_chase_faults_are_seen(void **unused) {
    enum { N = 100 };
    char *lines = new_lines(N, 64);
    uint8_t marks[(N + 7) / 8];
    void **tenth = (void **)(void *)(lines + 10 * 64), *right;
    (void)unused;
    psk_chase_build(lines, N, 64, 1);
    right = *tenth;
    *tenth = *(void **)(void *)(lines + 11 * 64); /* two lines to one */
    assert_false(psk_chase_is_permutation(lines, N, 64, marks));
    *tenth = (char *)right + 8; /* not the start of a line */
    assert_false(psk_chase_is_permutation(lines, N, 64, marks));
    *tenth = lines + N * 64; /* outside */
    assert_false(psk_chase_is_permutation(lines, N, 64, marks));
    *tenth = lines - 64;
    assert_false(psk_chase_is_permutation(lines, N, 64, marks));
    *tenth = right;
    assert_true(psk_chase_is_permutation(lines, N, 64, marks));
    /* Two cycles are a permutation; the lap tells. */
    void **eleventh = (void **)(void *)(lines + 11 * 64);
    *tenth = *eleventh;
    *eleventh = right;
    assert_true(psk_chase_is_permutation(lines, N, 64, marks));
    assert_true(psk_chase_lap(lines, N) < N);
    free(lines);
}

/* ---- STREAM --------------------------------------------------------------------------------- */

static void test_stream(void **unused) {
    enum { MAX = 1003 };
    static double a[MAX + 1], b[MAX + 1], c[MAX + 1];
    static const size_t sizes[] = {0, 1, 2, 3, 7, 16, 17, 1000, MAX};
    (void)unused;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        size_t n = sizes[k];
        for (size_t i = 0; i <= MAX; i++) {
            a[i] = 1 + (double)i;
            b[i] = 2;
            c[i] = -1;
        }
        psk_stream_copy(c, a, n);
        psk_stream_scale(b, c, n);
        psk_stream_add(c, a, b, n);
        psk_stream_triad(a, b, c, n);
        for (size_t i = 0; i <= MAX; i++) {
            double start = 1 + (double)i;
            /* b = 3 a, c = a + 3 a, a = 3 a + 3 (4 a): small whole numbers, exact in a double. */
            assert_true(b[i] == (i < n ? 3 * start : 2));
            assert_true(c[i] == (i < n ? 4 * start : -1));
            assert_true(a[i] == (i < n ? 15 * start : start));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_library_operations_to_the_byte),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_pattern_has_no_runs),
        cmocka_unit_test(test_chase_is_one_cycle),
        cmocka_unit_test(test_chase_walk_takes_its_loads),
        cmocka_unit_test(test_chase_is_random),
        cmocka_unit_test(test_chase_faults_are_seen),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
