/* SPDX-License-Identifier: MIT
 *
 * The widest accesses: what each pass reads and leaves, to the word, and what the table makes of
 * them: which rows, that each proves its answer, and that a spoilt buffer is found.
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
#include "kernels/limit_ops.h"

extern const struct ps_bench ps_bench_mem_limit;

#define MIB (UINT64_C(1) << 20)
#define BLOCK_WORDS (PSK_LIMIT_BLOCK_BYTES / sizeof(uint32_t))
#define N_BLOCKS 5
/* Three words behind the last whole block, and a block of guards on each side. */
#define N_WORDS (N_BLOCKS * BLOCK_WORDS + 3)
#define N_ALL (BLOCK_WORDS + N_WORDS + BLOCK_WORDS)

static uint32_t source_all[N_ALL] __attribute__((aligned(4096)));
static uint32_t target_all[N_ALL] __attribute__((aligned(4096)));
static uint32_t *const source = source_all + BLOCK_WORDS;
static uint32_t *const target = target_all + BLOCK_WORDS;

static uint32_t source_word(size_t i) {
    return (uint32_t)(i + 1) * 0x01000193u ^ 0x811c9dc5u;
}
static uint32_t target_word(size_t i) {
    return ~(uint32_t)i;
}

static void refill(void) {
    for (size_t i = 0; i < N_ALL; i++) {
        source_all[i] = source_word(i);
        target_all[i] = target_word(i);
    }
}

static void check_load(const struct psk_limit_op *op) {
    uint32_t sum = 0;
    for (size_t i = 0; i < N_BLOCKS * BLOCK_WORDS; i++)
        sum ^= source[i];
    assert_int_equal(op->pass(NULL, source, N_WORDS * sizeof(uint32_t)), sum);
    /* Each word is read once: a bit of it is a bit of the sum; none behind the blocks or before. */
    for (size_t i = 0; i < N_ALL; i++) {
        bool walked = i >= BLOCK_WORDS && i < BLOCK_WORDS + N_BLOCKS * BLOCK_WORDS;
        uint32_t bit = UINT32_C(1) << i % 32;
        source_all[i] ^= bit;
        assert_int_equal(op->pass(NULL, source, N_WORDS * sizeof(uint32_t)),
                         walked ? sum ^ bit : sum);
        source_all[i] ^= bit;
    }
}

static void check_store(const struct psk_limit_op *op) {
    bool fills = op->kind == PSK_LIMIT_FILL;
    assert_int_equal(op->pass(target, fills ? NULL : source, N_WORDS * sizeof(uint32_t)), 0);
    for (size_t i = 0; i < N_ALL; i++) {
        bool walked = i >= BLOCK_WORDS && i < BLOCK_WORDS + N_BLOCKS * BLOCK_WORDS;
        uint32_t stored = fills ? op->stored : source_word(i);
        assert_int_equal(target_all[i], walked ? stored : target_word(i));
        assert_int_equal(source_all[i], source_word(i));
    }
}

static void test_every_pass_reads_and_leaves_what_it_says(void **unused) {
    size_t n = 0;
    const struct psk_limit_op *ops = psk_limit_ops(&n);
    (void)unused;
    for (size_t i = 0; i < n; i++) {
        if (!ops[i].supported()) {
            assert_non_null(ops[i].missing);
            print_message("%s: %s\n", ops[i].name, ops[i].missing);
            continue;
        }
        refill();
        if (ops[i].kind == PSK_LIMIT_LOAD)
            check_load(&ops[i]);
        else
            check_store(&ops[i]);
    }
#if defined(__x86_64__) || defined(__aarch64__)
    assert_in_range(n, 5, 13);
#endif
}

static void test_less_than_a_block_is_not_touched(void **unused) {
    size_t n = 0;
    const struct psk_limit_op *ops = psk_limit_ops(&n);
    (void)unused;
    refill();
    for (size_t i = 0; i < n; i++)
        if (ops[i].supported())
            assert_int_equal(ops[i].pass(target, source, PSK_LIMIT_BLOCK_BYTES - 1), 0);
    for (size_t i = 0; i < N_ALL; i++)
        assert_int_equal(target_all[i], target_word(i));
}

/* ---- The table ------------------------------------------------------------------------------ */

#define CASES_MAX 64
static struct ps_case cases[CASES_MAX];
static struct ps_case_list list;
static const struct ps_port port = {.resolution_ns = 1};
static const struct ps_cluster cluster = {.n_cpus = 2,
                                          .l1d_bytes = 32768,
                                          .l2_bytes = 524288,
                                          .last_private_bytes = 32768,
                                          .last_level_bytes = 524288,
                                          .line_bytes = 64};
static const struct ps_env board = {.cluster = &cluster,
                                    .clusters = &cluster,
                                    .n_clusters = 1,
                                    .n_cpus = 2,
                                    .page_bytes = 4096,
                                    .memory_available_bytes = 2000000000,
                                    .working_set_cap_bytes = 256 * MIB,
                                    .published_cap_bytes = 1000000000};

static bool make(const struct ps_env *env) {
    const char *why = NULL;
    list = (struct ps_case_list){.cases = cases, .capacity = CASES_MAX};
    if (ps_bench_mem_limit.probe(env, &why) != PS_OK) {
        assert_non_null(why);
        return false;
    }
    assert_int_equal(ps_bench_mem_limit.cases(env, &list), 0);
    assert_false(list.overflow);
    return true;
}

static void test_rows(void **unused) {
    struct ps_env env = board;
    unsigned n_headline = 0;
    (void)unused;
    if (!make(&board))
        return;
    assert_in_range(list.n, 9, 30);
    for (size_t i = 0; i < list.n; i++) {
        const struct ps_case *c = &cases[i];
        uint64_t size_bytes = (uint64_t)ps_case_value(c, "size_bytes", 0);
        assert_true((c->status == PS_OK) == (c->reason == NULL));
        assert_int_equal(size_bytes % PSK_LIMIT_BLOCK_BYTES, 0);
        assert_int_equal(ps_bench_mem_limit.units(c, 0), size_bytes);
        /* A copy's two buffers are half each: its row is in the level that it names. */
        bool copies = strncmp(c->name, "copy", 4) == 0;
        if (strstr(c->name, "-l1half") != NULL)
            assert_int_equal(size_bytes, copies ? 8192 : 16384);
        if (strstr(c->name, "-l2half") != NULL)
            assert_int_equal(size_bytes, copies ? 131072 : 262144);
        assert_true(c->memory.bytes >= size_bytes * (copies ? 2 : 1));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(c->name, cases[k].name);
        n_headline += (c->tags & PS_TAG_HEADLINE) != 0;
        for (unsigned r = 0; r < c->n_relations; r++) {
            char other[2 * PS_NAME_MAX] = "";
            bool found = false;
            for (size_t k = 0; k < list.n; k++) {
                strcpy(other, "mem.limit/");
                strcat(other, cases[k].name);
                strcat(other, ":bandwidth");
                found = found || strcmp(other, c->relations[r].other) == 0;
            }
            assert_true(found);
        }
    }
    assert_true(n_headline <= 1);
    /* Nothing known of the caches: no row rather than a guess. */
    env.cluster = NULL;
    make(&env);
    assert_int_equal(list.n, 0);
}

struct drive {
    struct ps_run_shared shared;
    struct ps_run run;
    void *memory;
};

static void start(struct drive *drive, const struct ps_case *c) {
    uint64_t bytes = c->memory.bytes + PS_ARENA_SLACK_BYTES;
    memset(drive, 0, sizeof(*drive));
    drive->shared.bench = &ps_bench_mem_limit;
    drive->shared.c = c;
    drive->shared.port = &port;
    drive->shared.threads = 1;
    drive->shared.seed = UINT64_C(0x123456789abcdef);
    assert_int_equal(posix_memalign(&drive->memory, 65536, bytes), 0);
    memset(drive->memory, 0xa5, bytes);
    ps_arena_init(&drive->shared.arena, drive->memory, bytes);
    drive->run = (struct ps_run){&drive->shared, 0};
    assert_int_equal(ps_bench_mem_limit.setup(&drive->run), 0);
    assert_int_equal(ps_bench_mem_limit.verify(&drive->run, PS_VERIFY_BEFORE), 0);
}

static void test_every_case_proves_its_answer(void **unused) {
    (void)unused;
    make(&board);
    for (size_t i = 0; i < list.n; i++) {
        struct drive drive;
        if (cases[i].status != PS_OK)
            continue;
        start(&drive, &cases[i]);
        assert_int_equal(ps_bench_mem_limit.batch(&drive.run, 0, 3), 0);
        assert_int_equal(ps_bench_mem_limit.verify(&drive.run, PS_VERIFY_AFTER), 0);
        free(drive.memory);
        /* One bit of the last word of the (first) buffer is wrong at the end. */
        start(&drive, &cases[i]);
        uint8_t *last =
            (uint8_t *)drive.memory + (size_t)ps_case_value(&cases[i], "size_bytes", 0) - 1;
        assert_int_equal(ps_bench_mem_limit.batch(&drive.run, 0, 1), 0);
        *last ^= 0x40;
        assert_true(ps_bench_mem_limit.verify(&drive.run, PS_VERIFY_AFTER) < 0);
        assert_int_equal(drive.shared.status, PS_FAILED);
        assert_non_null(drive.shared.reason);
        *last ^= 0x40;
        free(drive.memory);
    }
}

/* A bit that flips while a load reads and is right again at the end: only the sum tells. */
static void test_a_wrong_load_is_found_by_its_sum(void **unused) {
    (void)unused;
    make(&board);
    for (size_t i = 0; i < list.n; i++) {
        struct drive drive;
        if (cases[i].status != PS_OK || strncmp(cases[i].name, "load", 4) != 0)
            continue;
        start(&drive, &cases[i]);
        ((uint8_t *)drive.memory)[777] ^= 0x40;
        assert_int_equal(ps_bench_mem_limit.batch(&drive.run, 0, 1), 0);
        ((uint8_t *)drive.memory)[777] ^= 0x40;
        assert_true(ps_bench_mem_limit.verify(&drive.run, PS_VERIFY_AFTER) < 0);
        free(drive.memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pass_reads_and_leaves_what_it_says),
        cmocka_unit_test(test_less_than_a_block_is_not_touched),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_every_case_proves_its_answer),
        cmocka_unit_test(test_a_wrong_load_is_found_by_its_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
