/* SPDX-License-Identifier: MIT
 *
 * The tables of chapter mem: which cases they make on which machine, and that every case runs and
 * proves its answer, and finds one that was spoilt.
 */
#include <errno.h>
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

extern const struct ps_bench ps_bench_mem_bw_mem, ps_bench_mem_lat_mem_rnd, ps_bench_mem_stream,
    ps_bench_mem_bw_file_rd;

#define CASES_MAX 128
#define MIB (UINT64_C(1) << 20)

static struct ps_case cases[CASES_MAX];
static struct ps_case_list list;
static char directory[] = "/tmp/perfsheet-test-XXXXXX";

/* A board: 32 KiB, 512 KiB, no third level, 2 GB. */
static const struct ps_cluster board_cluster = {.n_cpus = 2,
                                                .l1d_bytes = 32768,
                                                .l2_bytes = 524288,
                                                .last_private_bytes = 32768,
                                                .last_level_bytes = 524288,
                                                .line_bytes = 64};
static const struct ps_target targets[] = {
    {"tmpfs", directory, "tmpfs", NULL, 1000000000},
    {"emmc", NULL, NULL, "the directory is on a read-only file system", 0},
    {"full", directory, "ext4", NULL, 10000000},
};
static const struct ps_env board = {.cluster = &board_cluster,
                                    .clusters = &board_cluster,
                                    .n_clusters = 1,
                                    .n_cpus = 2,
                                    .page_bytes = 4096,
                                    .huge_page_bytes = 2 * MIB,
                                    .memory_available_bytes = 2000000000,
                                    .working_set_cap_bytes = 256 * MIB,
                                    .published_cap_bytes = 1000000000,
                                    .targets = targets,
                                    .n_targets = 3};

static void make(const struct ps_bench *bench, const struct ps_env *env) {
    list = (struct ps_case_list){.cases = cases, .capacity = CASES_MAX};
    assert_int_equal(bench->cases(env, &list), 0);
    assert_false(list.overflow);
}

static struct ps_case *find(const char *name, unsigned threads) {
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(cases[i].name, name) == 0 && cases[i].place.threads == threads)
            return &cases[i];
    return NULL;
}

/* What must hold of any list: names are parts of ids and differ, relations name rows of the table
 * and metrics that are there, a status comes with a reason. */
static void check_list(const struct ps_bench *bench) {
    for (size_t i = 0; i < list.n; i++) {
        const struct ps_case *c = &cases[i];
        assert_int_equal(strspn(c->name, "abcdefghijklmnopqrstuvwxyz0123456789_.+-"),
                         strlen(c->name));
        assert_true((c->status == PS_OK) == (c->reason == NULL));
        for (size_t k = 0; k < i; k++)
            assert_false(strcmp(c->name, cases[k].name) == 0 &&
                         c->place.threads == cases[k].place.threads &&
                         c->place.target == cases[k].place.target);
        for (unsigned r = 0; r < c->n_relations; r++) {
            /* Of another table: that the row exists is what its own test proves. */
            char own[2 * PS_NAME_MAX];
            snprintf(own, sizeof(own), "%s.%s/", bench->chapter, bench->table);
            bool found = strncmp(c->relations[r].other, own, strlen(own)) != 0;
            for (size_t k = 0; k < list.n; k++)
                for (unsigned m = 0; m < bench->n_metrics; m++) {
                    char id[2 * PS_NAME_MAX];
                    int length = snprintf(id, sizeof(id), "%s.%s/%s:%s", bench->chapter,
                                          bench->table, cases[k].name, bench->metrics[m].name);
                    assert_in_range(length, 1, sizeof(id) - 1);
                    found = found || strcmp(id, c->relations[r].other) == 0;
                }
            if (!found)
                print_error("%s: no row %s\n", c->name, c->relations[r].other);
            assert_true(found);
        }
    }
}

static void test_bandwidth_on_a_board(void **unused) {
    unsigned n_yes = 0, n_no = 0, n_headline = 0;
    (void)unused;
    make(&ps_bench_mem_bw_mem, &board);
    check_list(&ps_bench_mem_bw_mem);
    /* Nine operations: five published sizes, l1half, l2half and 4xllc (there is no third level). */
    assert_int_equal(list.n, 9 * 8);
    for (size_t i = 0; i < list.n; i++) {
        n_headline += (cases[i].tags & PS_TAG_HEADLINE) != 0;
        for (unsigned k = 0; k < cases[i].n_published; k++) {
            n_yes += cases[i].published[k].comparable == PS_COMPARABLE_YES;
            n_no += cases[i].published[k].comparable == PS_COMPARABLE_NO;
        }
    }
    /* Of 45 rows the nine of 16 MB and bcopy's other four are what they say. */
    assert_int_equal(n_yes, 13);
    assert_int_equal(n_no, 32);
    assert_in_range(n_headline, 15, 25);
    const struct ps_case *c = find("fcp-16mb", 0);
    assert_int_equal(ps_case_value(c, "size_bytes", 0), 16000000);
    assert_in_range(c->memory.bytes, 32000000, 32000000 + 2 * 4096);
    assert_int_equal(c->n_relations, 1);
    assert_string_equal(c->published[0].row, "bw_mem-fcp-16mb");
    /* Both buffers together are half of the first cache. */
    assert_int_equal(ps_case_value(find("rd-l1half", 0), "size_bytes", 0), 16384);
    assert_int_equal(ps_case_value(find("cp-l1half", 0), "size_bytes", 0), 8192);
    assert_int_equal(ps_case_value(find("cp-4xllc", 0), "size_bytes", 0), 1 * MIB);
    /* Counted: whole blocks, or all. */
    assert_int_equal(ps_bench_mem_bw_mem.units(find("rd-1mb", 0), 0), 999936);
    assert_int_equal(ps_bench_mem_bw_mem.units(find("bcopy-1mb", 0), 0), 1000000);
}

static void test_bandwidth_orders_only_beyond_the_caches(void **unused) {
    struct ps_cluster server = board_cluster;
    struct ps_env env = board;
    (void)unused;
    make(&ps_bench_mem_bw_mem, &board);
    assert_int_equal(find("cp-16mb", 0)->n_relations, 2);
    assert_int_equal(find("fwr-16mb", 0)->n_relations, 1);
    assert_int_equal(find("cp-1mb", 0)->n_relations, 0);
    assert_int_equal(find("cp-l1half", 0)->n_relations, 0);
    server.last_level_bytes = 32 * MIB;
    env.cluster = &server;
    make(&ps_bench_mem_bw_mem, &env);
    check_list(&ps_bench_mem_bw_mem);
    for (size_t i = 0; i < list.n; i++)
        if (strstr(cases[i].name, "16mb") || strstr(cases[i].name, "llchalf"))
            assert_int_equal(cases[i].n_relations, 0);
    /* A server's single accesses are slower than its memory. */
    assert_int_equal(find("fwr-4xllc", 0)->n_relations, 0);
    assert_int_equal(find("bzero-4xllc", 0)->n_relations, 1);
    assert_int_equal(find("rdwr-4xllc", 0)->n_relations, 2);
}

static void test_bandwidth_where_memory_is_short(void **unused) {
    struct ps_env env = board;
    (void)unused;
    env.memory_available_bytes = 6000000;
    env.working_set_cap_bytes = 1500000;
    env.published_cap_bytes = 3000000;
    make(&ps_bench_mem_bw_mem, &env);
    check_list(&ps_bench_mem_bw_mem);
    assert_int_equal(find("rd-2mb", 0)->status, PS_OK);
    assert_int_equal(find("cp-1mb", 0)->status, PS_OK);
    assert_int_equal(find("cp-2mb", 0)->status, PS_SKIPPED);
    assert_non_null(strstr(find("cp-2mb", 0)->reason, " 4 MB"));
    assert_non_null(strstr(find("cp-16mb", 0)->reason, " 32 MB"));
    assert_non_null(strstr(find("rd-4mb", 0)->reason, " 4 MB"));
    assert_true(find("rd-4xllc", 0)->quality & PS_Q_CACHE_RESIDENT);
    assert_true(find("rd-4xllc", 0)->memory.bytes <= 1500000 + 4096);
}

static void test_bandwidth_on_a_microcontroller(void **unused) {
    const struct ps_env env = {.n_cpus = 1,
                               .memory_available_bytes = 1 * MIB,
                               .working_set_cap_bytes = 1 * MIB,
                               .published_cap_bytes = 512 * 1024};
    (void)unused;
    make(&ps_bench_mem_bw_mem, &env);
    check_list(&ps_bench_mem_bw_mem);
    assert_int_equal(list.n, 9);
    for (size_t i = 0; i < list.n; i++) {
        assert_non_null(strstr(cases[i].name, "-16kb"));
        assert_int_equal(ps_case_value(&cases[i], "size_bytes", 0), 16000);
        assert_int_equal(cases[i].status, PS_OK);
        assert_int_equal(cases[i].n_published, 0);
        assert_true(cases[i].memory.bytes <= 33000);
    }
}

static void test_latency_sizes(void **unused) {
    struct ps_cluster cluster = board_cluster;
    struct ps_env env = board;
    (void)unused;
    make(&ps_bench_mem_lat_mem_rnd, &board);
    check_list(&ps_bench_mem_lat_mem_rnd);
    /* l1half l1 2xl1 l2half l2 2xl2 4xllc 64mib: the last level is the second. */
    /* Then the largest by pages, and the seven published sizes of the strided table. */
    assert_int_equal(list.n, 2 * 8 + 1 + 7);
    assert_null(find("llc-4k", 0));
    assert_int_equal(ps_case_value(find("4xllc-huge", 0), "size_bytes", 0), 2 * MIB);
    assert_int_equal(find("l1half-4k", 0)->memory.pages, PS_PAGES_BASE);
    assert_int_equal(find("l1half-huge", 0)->memory.pages, PS_PAGES_HUGE);
    for (size_t i = 1; i < 8; i++)
        assert_true(cases[i].memory.bytes > cases[i - 1].memory.bytes);
    /* Quick, large caches: nothing beyond the cap, which is where 4xllc and 64mib meet. */
    cluster.last_level_bytes = 32 * MIB;
    env.cluster = &cluster;
    env.quick = true;
    env.working_set_cap_bytes = 64 * MIB;
    make(&ps_bench_mem_lat_mem_rnd, &env);
    check_list(&ps_bench_mem_lat_mem_rnd);
    for (size_t i = 0; i < list.n; i++)
        assert_true(ps_case_value(&cases[i], "size_bytes", 0) <= (int64_t)(64 * MIB));
    assert_non_null(find("2xllc-4k", 0));
    assert_null(find("64mib-4k", 0));
    /* Nothing known of the caches; large base pages; no huge ones. */
    env = board;
    env.cluster = NULL;
    env.page_bytes = 65536;
    env.huge_page_bytes = 0;
    make(&ps_bench_mem_lat_mem_rnd, &env);
    check_list(&ps_bench_mem_lat_mem_rnd);
    assert_int_equal(list.n, 2 + 1 + 7);
    assert_int_equal(find("64mib-64k", 0)->status, PS_OK);
    assert_int_equal(find("64mib-huge", 0)->status, PS_UNSUPPORTED);
}

static void test_stream_sizes(void **unused) {
    struct ps_cluster cluster = board_cluster;
    struct ps_env env = board;
    (void)unused;
    make(&ps_bench_mem_stream, &board);
    check_list(&ps_bench_mem_stream);
    assert_int_equal(list.n, 2);
    assert_int_equal(ps_case_value(find("all", 1), "elements", 0), 10000000);
    assert_int_equal(ps_case_value(find("all", 1), "bytes", 0), 240000000);
    assert_int_equal(find("all", 1)->n_published, 4);
    assert_int_equal(find("all", 2)->n_published, 0);
    assert_int_equal(find("all", 2)->n_relations, 6);
    /* Besides add to triad and scale to copy: bcopy is 0.6 to 1.8 of half of copy. */
    const struct ps_relation *relations = find("all", 1)->relations;
    assert_int_equal(find("all", 1)->n_relations, 4);
    assert_string_equal(relations[2].other, "mem.bw_mem/bcopy-16mb:bandwidth");
    assert_int_equal(relations[2].type, PS_ORDER_AT_LEAST);
    assert_true(relations[2].factor > 1.11 && relations[2].factor < 1.12);
    assert_int_equal(relations[3].type, PS_ORDER_AT_MOST);
    assert_true(relations[3].factor > 3.33 && relations[3].factor < 3.34);
    assert_int_equal(find("all", 1)->quality, 0);
    /* A cap below STREAM's own size does not hold it back, */
    env.working_set_cap_bytes = 100 * MIB;
    make(&ps_bench_mem_stream, &env);
    assert_int_equal(ps_case_value(find("all", 1), "elements", 0), 10000000);
    /* unless the run is quick, or memory short. */
    env.quick = true;
    make(&ps_bench_mem_stream, &env);
    assert_in_range(ps_case_value(find("all", 1), "bytes", 0), 99 * MIB, 100 * MIB);
    env.quick = false;
    env.published_cap_bytes = 200000000;
    make(&ps_bench_mem_stream, &env);
    assert_in_range(ps_case_value(find("all", 1), "bytes", 0), 99 * MIB, 100 * MIB);
    /* Large caches want more, and the cap is a cap. */
    env = board;
    env.n_cpus = 6;
    cluster.last_level_bytes = 64 * MIB;
    env.cluster = &cluster;
    make(&ps_bench_mem_stream, &env);
    check_list(&ps_bench_mem_stream);
    assert_int_equal(list.n, 4); /* 1 2 4 6 */
    assert_non_null(find("all", 6));
    assert_in_range(ps_case_value(find("all", 6), "bytes", 0), 255 * MIB, 256 * MIB);
    assert_true(find("all", 6)->quality & PS_Q_CACHE_RESIDENT);
    assert_int_equal(find("all", 1)->n_relations, 2);
}

static void test_file_targets(void **unused) {
    (void)unused;
    make(&ps_bench_mem_bw_file_rd, &board);
    check_list(&ps_bench_mem_bw_file_rd);
    assert_int_equal(list.n, 6);
    assert_int_equal(cases[0].status, PS_OK);
    assert_string_equal(ps_case_text(&cases[0], "directory"), directory);
    assert_int_equal(cases[0].bound, PS_BOUND_MEMORY);
    assert_int_equal(cases[2].status, PS_SKIPPED);
    assert_string_equal(cases[2].reason, targets[1].why);
    assert_int_equal(cases[4].status, PS_SKIPPED);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static const struct ps_port port = {.resolution_ns = 1};

struct drive {
    struct ps_run_shared shared;
    struct ps_run runs[4];
    void *memory;
};

static int start(struct drive *drive, const struct ps_bench *bench, const struct ps_case *c) {
    uint64_t bytes = c->memory.bytes + PS_ARENA_SLACK_BYTES;
    memset(drive, 0, sizeof(*drive));
    drive->shared.bench = bench;
    drive->shared.c = c;
    drive->shared.port = &port;
    drive->shared.threads = c->place.threads > 1 ? c->place.threads : 1;
    drive->shared.seed = UINT64_C(0x123456789abcdef);
    assert_int_equal(posix_memalign(&drive->memory, 65536, bytes), 0);
    memset(drive->memory, 0xa5, bytes);
    ps_arena_init(&drive->shared.arena, drive->memory, bytes);
    for (unsigned i = 0; i < drive->shared.threads; i++)
        drive->runs[i] = (struct ps_run){&drive->shared, i};
    int error = bench->setup(&drive->runs[0]);
    for (unsigned i = 0; error == 0 && bench->thread_setup != NULL && i < drive->shared.threads;
         i++)
        error = bench->thread_setup(&drive->runs[i]);
    return error;
}

static void work(struct drive *drive, uint64_t n) {
    const struct ps_bench *bench = drive->shared.bench;
    for (uint64_t pass = 0; pass < n; pass++)
        for (unsigned segment = 0; segment < (bench->n_segments ? bench->n_segments : 1); segment++)
            for (unsigned i = 0; i < drive->shared.threads; i++)
                assert_int_equal(bench->batch(&drive->runs[i], segment, 1), 0);
}

static void stop(struct drive *drive) {
    if (drive->shared.bench->teardown != NULL)
        drive->shared.bench->teardown(&drive->runs[0]);
    free(drive->memory);
}

static void run_all(const struct ps_bench *bench, const struct ps_env *env, uint64_t bytes_max) {
    make(bench, env);
    for (size_t i = 0; i < list.n; i++) {
        struct drive drive;
        if (cases[i].status != PS_OK || cases[i].memory.bytes > bytes_max)
            continue;
        assert_true(bench->units(&cases[i], 0) > 0);
        assert_int_equal(start(&drive, bench, &cases[i]), 0);
        assert_int_equal(bench->verify(&drive.runs[0], PS_VERIFY_BEFORE), 0);
        work(&drive, 3);
        assert_int_equal(bench->verify(&drive.runs[0], PS_VERIFY_AFTER), 0);
        assert_int_equal(drive.shared.status, PS_OK);
        stop(&drive);
    }
}

static void test_every_case_proves_its_answer(void **unused) {
    struct ps_env small = board;
    (void)unused;
    small.working_set_cap_bytes = 8 * MIB; /* STREAM: a third of a million elements */
    small.quick = true;
    run_all(&ps_bench_mem_bw_mem, &board, 64 * MIB);
    run_all(&ps_bench_mem_lat_mem_rnd, &board, 8 * MIB);
    run_all(&ps_bench_mem_stream, &small, 16 * MIB);
    run_all(&ps_bench_mem_bw_file_rd, &board, 16 * MIB);
}

/* Flips one bit of the buffer after some work: the proof must not hold. */
static void spoil(const struct ps_bench *bench, const struct ps_case *c, uint64_t offset) {
    struct drive drive;
    assert_non_null(c);
    assert_int_equal(start(&drive, bench, c), 0);
    assert_int_equal(bench->verify(&drive.runs[0], PS_VERIFY_BEFORE), 0);
    work(&drive, 1);
    ((uint8_t *)drive.memory)[offset] ^= 0x40;
    work(&drive, 1);
    assert_true(bench->verify(&drive.runs[0], PS_VERIFY_AFTER) < 0);
    assert_int_equal(drive.shared.status, PS_FAILED);
    assert_non_null(drive.shared.reason);
    stop(&drive);
}

static void test_wrong_answers_are_found(void **unused) {
    struct ps_env small = board;
    (void)unused;
    make(&ps_bench_mem_bw_mem, &board);
    spoil(&ps_bench_mem_bw_mem, find("rd-1mb", 0), 16);
    spoil(&ps_bench_mem_bw_mem, find("frd-1mb", 0), 999000);
    spoil(&ps_bench_mem_bw_mem, find("wr-1mb", 0), 4);       /* a word that is not to be written */
    spoil(&ps_bench_mem_bw_mem, find("rdwr-1mb", 0), 32);    /* a word that is read */
    spoil(&ps_bench_mem_bw_mem, find("fwr-1mb", 0), 999999); /* behind the last whole block */
    spoil(&ps_bench_mem_bw_mem, find("cp-1mb", 0), 8);
    spoil(&ps_bench_mem_bw_mem, find("bcopy-1mb", 0), 1003520 + 777); /* of the source */
    small.working_set_cap_bytes = 8 * MIB;
    small.quick = true;
    make(&ps_bench_mem_stream, &small);
    spoil(&ps_bench_mem_stream, find("all", 2), 65536 + 6); /* an exponent in the first array */
}

static void test_stream_without_one_loop_is_found(void **unused) {
    struct ps_env small = board;
    struct drive drive;
    (void)unused;
    small.working_set_cap_bytes = 8 * MIB;
    small.quick = true;
    make(&ps_bench_mem_stream, &small);
    assert_int_equal(start(&drive, &ps_bench_mem_stream, find("all", 1)), 0);
    work(&drive, 2);
    assert_int_equal(ps_bench_mem_stream.batch(&drive.runs[0], 0, 1), 0);
    assert_true(ps_bench_mem_stream.verify(&drive.runs[0], PS_VERIFY_AFTER) < 0);
    stop(&drive);
}

static void test_file_that_is_cut_ends_the_case(void **unused) {
    struct drive drive;
    char command[128];
    (void)unused;
    make(&ps_bench_mem_bw_file_rd, &board);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(start(&drive, &ps_bench_mem_bw_file_rd, &cases[i]), 0);
        snprintf(command, sizeof(command), "truncate -s 500000 %s/.perfsheet-*", directory);
        assert_int_equal(system(command), 0);
        assert_int_equal(ps_bench_mem_bw_file_rd.batch(&drive.runs[0], 0, 1), -EIO);
        stop(&drive);
    }
}

static int make_directory(void **unused) {
    (void)unused;
    return mkdtemp(directory) == NULL;
}

/* Fails when a case has left a file. */
static int remove_directory(void **unused) {
    (void)unused;
    return remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandwidth_on_a_board),
        cmocka_unit_test(test_bandwidth_orders_only_beyond_the_caches),
        cmocka_unit_test(test_bandwidth_where_memory_is_short),
        cmocka_unit_test(test_bandwidth_on_a_microcontroller),
        cmocka_unit_test(test_latency_sizes),
        cmocka_unit_test(test_stream_sizes),
        cmocka_unit_test(test_file_targets),
        cmocka_unit_test(test_every_case_proves_its_answer),
        cmocka_unit_test(test_wrong_answers_are_found),
        cmocka_unit_test(test_stream_without_one_loop_is_found),
        cmocka_unit_test(test_file_that_is_cut_ends_the_case),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
