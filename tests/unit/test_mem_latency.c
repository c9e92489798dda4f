/* SPDX-License-Identifier: MIT
 *
 * The latency tables: the order of the addresses that a chase takes, the vendor's rows and the
 * sizes that stand behind their names, and that every case runs and proves its answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "kernels/chase_run.h"
#include "kernels/pointer_chase.h"

extern const struct ps_bench ps_bench_mem_lat_mem_rd, ps_bench_mem_lat_mem_rnd, ps_bench_mem_mlp,
    ps_bench_mem_tlb;

#define CASES_MAX 128
#define MIB (UINT64_C(1) << 20)

static struct ps_case cases[CASES_MAX];
static struct ps_case_list list;
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
                                    .huge_page_bytes = 2 * MIB,
                                    .memory_available_bytes = 2000000000,
                                    .working_set_cap_bytes = 256 * MIB,
                                    .published_cap_bytes = 1000000000};

static void make(const struct ps_bench *bench, const struct ps_env *env) {
    list = (struct ps_case_list){.cases = cases, .capacity = CASES_MAX};
    assert_int_equal(bench->cases(env, &list), 0);
    assert_false(list.overflow);
}

static const struct ps_case *find(const char *name) {
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

static const struct ps_relation *relation_to(const struct ps_case *c, const char *other) {
    for (unsigned r = 0; c != NULL && r < c->n_relations; r++)
        if (strcmp(c->relations[r].other, other) == 0)
            return &c->relations[r];
    return NULL;
}

/* ---- The order of addresses ------------------------------------------------------------------ */

static void test_forward_goes_by_the_stride(void **unused) {
    enum { N = 37, STRIDE = 128 };
    char *lines = aligned_alloc(64, N * STRIDE), *at = lines;
    (void)unused;
    memset(lines, 0xa5, N * STRIDE);
    psk_chase_build_forward(lines, N, STRIDE);
    for (size_t i = 1; i < N; i++) {
        char *next = *(char **)(void *)at;
        assert_ptr_equal(next, at + STRIDE);
        at = next;
    }
    assert_ptr_equal(*(char **)(void *)at, lines);
    assert_int_equal(psk_chase_lap(lines, N), N);
    psk_chase_build_forward(lines, 1, STRIDE);
    assert_int_equal(psk_chase_lap(lines, N), 1);
    free(lines);
}

static void test_by_page_stays_in_a_page(void **unused) {
    enum { PAGES = 33, PAGE = 4096, LINE = 64, PER_PAGE = PAGE / LINE, N = PAGES * PER_PAGE };
    char *lines = aligned_alloc(PAGE, PAGES * PAGE);
    uint8_t marks[(N + 7) / 8];
    (void)unused;
    for (uint64_t seed = 0; seed < 3; seed++) {
        psk_chase_build_by_page(lines, PAGES, PAGE, LINE, seed);
        assert_true(psk_chase_is_permutation(lines, N, LINE, marks));
        assert_int_equal(psk_chase_lap(lines, N), N);
        /* One lap changes the page as often as there are pages, and in no regular order; within a
         * page the next line is hardly ever the one behind. */
        size_t n_changes = 0, n_to_next_page = 0, n_to_next_line = 0;
        const char *at = lines;
        for (size_t i = 0; i < N; i++) {
            const char *next = *(const char *const *)(const void *)at;
            size_t from = (size_t)(at - lines) / PAGE, to = (size_t)(next - lines) / PAGE;
            n_changes += from != to;
            n_to_next_page += to == from + 1;
            n_to_next_line += next == at + LINE;
            at = next;
        }
        assert_int_equal(n_changes, PAGES);
        assert_true(n_to_next_page < PAGES / 3);
        assert_true(n_to_next_line < N / 16);
    }
    free(lines);
}

/* ---- The vendor's rows ----------------------------------------------------------------------- */

/* The names of the rows are fractions of 2^20 bytes, in thousandths: "31k" is 32 KiB. */
static void test_published_sizes(void **unused) {
    static const struct {
        const char *name, *row;
        int64_t bytes;
    } rows[] = {
        {"512b", "lat_mem_rd-stride128-sz50", 512},
        {"32kib", "lat_mem_rd-stride128-sz31k", 32768},
        {"64kib", "lat_mem_rd-stride128-sz62k", 65536},
        {"128kib", "lat_mem_rd-stride128-sz125k", 131072},
        {"256kib", "lat_mem_rd-stride128-sz250k", 262144},
        {"512kib", "lat_mem_rd-stride128-sz500k", 524288},
        {"1mib", "lat_mem_rd-stride128-sz1000k", 1048576},
    };
    unsigned n_published = 0, n_headline = 0, n_no = 0;
    (void)unused;
    make(&ps_bench_mem_lat_mem_rd, &board);
    assert_int_equal(list.n, 11);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct ps_case *c = find(rows[i].name);
        assert_non_null(c);
        assert_int_equal(ps_case_value(c, "size_bytes", 0), rows[i].bytes);
        assert_int_equal(ps_case_value(c, "stride_bytes", 0), 128);
        assert_int_equal(c->memory.pages, PS_PAGES_BASE);
        assert_string_equal(c->published[0].row, rows[i].row);
        assert_string_equal(c->published[0].page, "am62l");
        assert_string_equal(c->published[0].table, "lmbench");
        assert_int_equal(c->published[0].comparable, PS_COMPARABLE_YES);
    }
    for (size_t i = 0; i < list.n; i++) {
        n_headline += (cases[i].tags & PS_TAG_HEADLINE) != 0;
        n_published += cases[i].n_published;
        for (unsigned k = 0; k < cases[i].n_published; k++) {
            const struct ps_published *published = &cases[i].published[k];
            n_no += published->comparable == PS_COMPARABLE_NO;
            assert_true((published->comparable == PS_COMPARABLE_YES) == (published->why == NULL));
        }
    }
    assert_int_equal(n_headline, 1);
    assert_int_equal(n_published, 9);
    assert_int_equal(n_no, 1);
    assert_string_equal(find("512kib")->published[1].row, "latency_for_0.50_mb_block_size");
    assert_string_equal(find("1mib")->published[1].row, "latency_for_1.00_mb_block_size");
    assert_int_equal(find("1mib")->published[1].comparable, PS_COMPARABLE_NO);
}

static void test_strided_marks_and_relations(void **unused) {
    struct ps_env env = board;
    (void)unused;
    make(&ps_bench_mem_lat_mem_rd, &board);
    assert_int_equal(find("32kib")->quality, 0);
    assert_int_equal(find("64kib")->quality, PS_Q_NOISY);
    assert_int_equal(find("64mib")->quality, PS_Q_NOISY);
    assert_int_equal(relation_to(find("512b"), "")->type, PS_WHOLE_CYCLES);
    const struct ps_relation *relation = relation_to(find("16kib"), "mem.lat_mem_rd/512b:latency");
    assert_int_equal(relation->type, PS_ORDER_AT_LEAST);
    assert_true(relation->tolerance < 0.11);
    assert_true(relation_to(find("1mib"), "mem.lat_mem_rd/512kib:latency")->tolerance > 0.19);
    assert_int_equal(relation_to(find("1mib"), "mem.lat_mem_rnd/1mib-4k:latency")->type,
                     PS_ORDER_AT_MOST);
    /* The rows that are named in the other table are there. */
    for (size_t i = 0; i < list.n; i++)
        for (unsigned r = 0; r < cases[i].n_relations; r++) {
            static const char random[] = "mem.lat_mem_rnd/";
            char name[2 * PS_NAME_MAX];
            struct ps_case strided = cases[i];
            if (strncmp(strided.relations[r].other, random, strlen(random)) != 0)
                continue;
            snprintf(name, sizeof(name), "%s", strided.relations[r].other + strlen(random));
            *strchr(name, ':') = '\0';
            make(&ps_bench_mem_lat_mem_rnd, &board);
            assert_non_null(find(name));
            make(&ps_bench_mem_lat_mem_rd, &board);
        }
    /* Caches unknown: no mark. Little memory: fewer sizes, and published ones with a reason. */
    env.cluster = NULL;
    env.working_set_cap_bytes = 1 * MIB;
    env.published_cap_bytes = 600000;
    make(&ps_bench_mem_lat_mem_rd, &env);
    assert_int_equal(list.n, 8);
    for (size_t i = 0; i < list.n; i++)
        assert_int_equal(cases[i].quality, 0);
    assert_int_equal(find("512kib")->status, PS_OK);
    assert_int_equal(find("1mib")->status, PS_SKIPPED);
    assert_non_null(find("1mib")->reason);
}

static void test_random_levels_and_pages(void **unused) {
    (void)unused;
    make(&ps_bench_mem_lat_mem_rnd, &board);
    assert_int_equal(relation_to(find("l1half-4k"), "")->type, PS_WHOLE_CYCLES);
    const struct ps_relation *relation =
        relation_to(find("4xllc-4k"), "mem.lat_mem_rnd/l2half-4k:latency");
    assert_int_equal(relation->type, PS_ORDER_AT_LEAST);
    assert_true(relation->factor > 4.9 && relation->factor < 5.1);
    const struct ps_case *by_page = find("64mib-by-page-4k");
    assert_non_null(by_page);
    assert_string_equal(ps_case_text(by_page, "order"), "by-page");
    assert_int_equal(by_page->tags, 0);
    assert_int_equal(relation_to(by_page, "mem.lat_mem_rnd/64mib-4k:latency")->type,
                     PS_ORDER_AT_MOST);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static const struct ps_port port = {.resolution_ns = 1};

struct drive {
    struct ps_run_shared shared;
    struct ps_run run;
    void *memory;
};

static int start(struct drive *drive, const struct ps_bench *bench, const struct ps_case *c) {
    uint64_t bytes = c->memory.bytes + PS_ARENA_SLACK_BYTES;
    memset(drive, 0, sizeof(*drive));
    drive->shared.bench = bench;
    drive->shared.c = c;
    drive->shared.port = &port;
    drive->shared.threads = 1;
    drive->shared.seed = UINT64_C(0x123456789abcdef);
    assert_int_equal(posix_memalign(&drive->memory, 65536, bytes), 0);
    memset(drive->memory, 0xa5, bytes);
    ps_arena_init(&drive->shared.arena, drive->memory, bytes);
    drive->run = (struct ps_run){&drive->shared, 0};
    return bench->setup(&drive->run);
}

static void run_all(const struct ps_bench *bench) {
    make(bench, &board);
    for (size_t i = 0; i < list.n; i++) {
        struct drive drive;
        if (cases[i].status != PS_OK || cases[i].memory.bytes > 8 * MIB)
            continue;
        assert_int_equal(bench->units(&cases[i], 0), PSK_CHASE_LOADS);
        assert_int_equal(start(&drive, bench, &cases[i]), 0);
        assert_int_equal(bench->verify(&drive.run, PS_VERIFY_BEFORE), 0);
        assert_int_equal(bench->batch(&drive.run, 0, 3), 0);
        assert_int_equal(bench->verify(&drive.run, PS_VERIFY_AFTER), 0);
        /* A word of the cycle is changed: the loads go astray, and that is seen. */
        void **line = drive.memory;
        *line = (char *)drive.memory + 8;
        assert_true(bench->verify(&drive.run, PS_VERIFY_BEFORE) < 0);
        assert_int_equal(drive.shared.status, PS_FAILED);
        assert_non_null(drive.shared.reason);
        free(drive.memory);
    }
}

static void test_every_case_proves_its_answer(void **unused) {
    (void)unused;
    run_all(&ps_bench_mem_lat_mem_rd);
    run_all(&ps_bench_mem_lat_mem_rnd);
}

/* The strided table goes by 128 bytes and the by-page row page by page, in the memory of a run. */
static void test_tables_build_their_order(void **unused) {
    struct drive drive;
    size_t n_changes = 0;
    (void)unused;
    make(&ps_bench_mem_lat_mem_rd, &board);
    assert_int_equal(start(&drive, &ps_bench_mem_lat_mem_rd, find("64kib")), 0);
    for (size_t i = 0; i + 1 < 65536 / 128; i++) {
        char *line = (char *)drive.memory + i * 128;
        assert_ptr_equal(*(char **)(void *)line, line + 128);
    }
    assert_ptr_equal(*(char **)(void *)((char *)drive.memory + 65536 - 128), drive.memory);
    free(drive.memory);

    make(&ps_bench_mem_lat_mem_rnd, &board);
    struct ps_case by_page = *find("64mib-by-page-4k");
    by_page.params[0].value = 1 << 20; /* as good in a small one */
    assert_string_equal(by_page.params[0].name, "size_bytes");
    assert_int_equal(start(&drive, &ps_bench_mem_lat_mem_rnd, &by_page), 0);
    for (size_t i = 0; i < (1 << 20) / 64; i++) {
        size_t at = i * 64;
        char *next = *(char **)(void *)((char *)drive.memory + at);
        n_changes += (size_t)(next - (char *)drive.memory) / 4096 != at / 4096;
    }
    assert_int_equal(n_changes, 256);
    free(drive.memory);
}

/* ---- Several chases, and one over pages --------------------------------------------------------
 */

/* Each of n chases makes ten steps in a turn and none gets another's end. */
static void test_many_chases_each_make_their_steps(void **unused) {
    static const unsigned numbers[] = {PSK_CHASES_NUMBERS};
    enum { N = 1009 };
    static char lines[PSK_CHASES_MAX][N * 64] __attribute__((aligned(64)));
    (void)unused;
    for (unsigned i = 0; i < PSK_CHASES_MAX; i++)
        psk_chase_build(lines[i], N, 64, i + 1);
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        for (uint64_t turns = 0; turns < 5; turns++) {
            void *at[PSK_CHASES_MAX + 1];
            for (unsigned i = 0; i < PSK_CHASES_MAX; i++)
                at[i] = lines[i] + 64 * i;
            at[PSK_CHASES_MAX] = NULL;
            assert_true(psk_chase_walk_many(at, numbers[k], turns));
            for (unsigned i = 0; i < PSK_CHASES_MAX; i++)
                assert_ptr_equal(at[i], i < numbers[k]
                                            ? psk_chase_follow(lines[i] + 64 * i, turns * 10)
                                            : lines[i] + 64 * i);
            assert_null(at[PSK_CHASES_MAX]);
        }
    void *none[PSK_CHASES_MAX] = {NULL};
    assert_false(psk_chase_walk_many(none, 3, 1));
    assert_false(psk_chase_walk_many(none, 0, 1));
    assert_false(psk_chase_walk_many(none, 17, 1));
}

static void test_parallelism_counts_the_loads_of_all_chases(void **unused) {
    struct ps_env env = board;
    (void)unused;
    make(&ps_bench_mem_mlp, &board);
    assert_int_equal(list.n, 6);
    for (size_t i = 0; i < list.n; i++) {
        struct drive drive;
        uint64_t n = (uint64_t)ps_case_value(&cases[i], "chases", 0);
        assert_int_equal(ps_bench_mem_mlp.units(&cases[i], 0), 10 * n);
        assert_in_range(ps_case_value(&cases[i], "size_bytes", 0), 2 * MIB - 64 * 16, 2 * MIB);
        if (n > 1) {
            const struct ps_relation *relation = &cases[i].relations[0];
            assert_int_equal(relation->type, PS_ORDER_AT_LEAST);
            assert_string_equal(relation->other, "mem.mlp/chases-1:latency");
            assert_true(relation->factor * (double)n > 0.99 && relation->factor * (double)n < 1.01);
        }
        assert_int_equal(start(&drive, &ps_bench_mem_mlp, &cases[i]), 0);
        assert_int_equal(ps_bench_mem_mlp.verify(&drive.run, PS_VERIFY_BEFORE), 0);
        assert_int_equal(ps_bench_mem_mlp.batch(&drive.run, 0, 7), 0);
        assert_int_equal(ps_bench_mem_mlp.verify(&drive.run, PS_VERIFY_AFTER), 0);
        /* One chase that has stood still is seen, whichever it is. */
        struct psk_chase *last = (struct psk_chase *)ps_run_state(&drive.run) + (n - 1);
        last->at = last->start;
        assert_true(ps_bench_mem_mlp.verify(&drive.run, PS_VERIFY_AFTER) < 0);
        free(drive.memory);
    }
    env.huge_page_bytes = 0;
    make(&ps_bench_mem_mlp, &env);
    assert_int_equal(cases[0].memory.pages, PS_PAGES_BASE);
    assert_int_equal(ps_case_value(&cases[0], "page_bytes", 0), 4096);
}

/* One line a page, another place in each; the baseline has as many lines side by side. */
static void test_translation_takes_one_line_of_each_page(void **unused) {
    struct ps_env env = board;
    struct drive drive;
    (void)unused;
    make(&ps_bench_mem_tlb, &board);
    assert_int_equal(list.n, 11 + 3);
    const struct ps_case *c = find("256-4k");
    assert_int_equal(start(&drive, &ps_bench_mem_tlb, c), 0);
    const struct psk_chase *chases = ps_run_state(&drive.run);
    const struct psk_chase *apart = &chases[0], *together = &chases[1];
    uint8_t pages[300] = {0}, offsets[64] = {0};
    uintptr_t first = (uintptr_t)apart->lines / 4096;
    const char *at = apart->start;
    for (unsigned i = 0; i < 256; i++) {
        assert_in_range((uintptr_t)at / 4096 - first, 0, 299);
        assert_int_equal(pages[(uintptr_t)at / 4096 - first]++, 0);
        offsets[(uintptr_t)at % 4096 / 64]++;
        at = *(const char *const *)(const void *)at;
    }
    assert_ptr_equal(at, apart->start);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(offsets[i], 4);
    assert_int_equal(psk_chase_lap(together->start, 1000), 256);
    assert_true(together->lines + 256 * 64 <= (char *)drive.memory + c->memory.bytes + 65536);
    assert_int_equal(together->line_bytes, 64);
    assert_int_equal(ps_bench_mem_tlb.verify(&drive.run, PS_VERIFY_BEFORE), 0);
    assert_int_equal(ps_bench_mem_tlb.batch(&drive.run, 0, 3), 0);
    assert_int_equal(together->done, 0);
    assert_int_equal(ps_bench_mem_tlb.baseline(&drive.run, 0, 3), 0);
    assert_int_equal(apart->done, 300);
    assert_int_equal(together->done, 300);
    assert_int_equal(ps_bench_mem_tlb.verify(&drive.run, PS_VERIFY_AFTER), 0);
    free(drive.memory);
    /* Without huge pages none of theirs; with little memory few. */
    env.huge_page_bytes = 0;
    env.working_set_cap_bytes = 2 * MIB;
    make(&ps_bench_mem_tlb, &env);
    assert_int_equal(list.n, 5);
    assert_null(find("512-4k"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_goes_by_the_stride),
        cmocka_unit_test(test_by_page_stays_in_a_page),
        cmocka_unit_test(test_published_sizes),
        cmocka_unit_test(test_strided_marks_and_relations),
        cmocka_unit_test(test_random_levels_and_pages),
        cmocka_unit_test(test_every_case_proves_its_answer),
        cmocka_unit_test(test_tables_build_their_order),
        cmocka_unit_test(test_many_chases_each_make_their_steps),
        cmocka_unit_test(test_parallelism_counts_the_loads_of_all_chases),
        cmocka_unit_test(test_translation_takes_one_line_of_each_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
