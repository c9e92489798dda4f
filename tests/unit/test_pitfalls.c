/* SPDX-License-Identifier: MIT
 *
 * Faults that other tools and published pages have (docs/PITFALLS.md names a test for each); here
 * those that no other test has: a faulty page, had we measured it, is refused by the product's own
 * tables and rules, and its clean rows are not.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/registry.h"
#include "core/case_list.h"
#include "doctor/finding.h"
#include "kernels/stream_ops.h"
#include "rules/rules.h"

#define MIB (UINT64_C(1) << 20)
#define CASES_MAX 512
#define ROWS_MAX 256

/* ---- The published page, as if it had been measured here ------------------------------------- */

/* A board like the page's: no caches beyond 512 KiB, so that the orders of memory rows hold. */
static const struct ps_cluster board_cluster = {.n_cpus = 2,
                                                .l1d_bytes = 32768,
                                                .l2_bytes = 524288,
                                                .last_private_bytes = 32768,
                                                .last_level_bytes = 524288,
                                                .line_bytes = 64};
static const struct ps_target targets[] = {{"tmpfs", "/tmp", "tmpfs", NULL, 1000000000}};
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
                                    .n_targets = 1};

/* Of the AM62L's page; value, min, max in the unit of our row. */
static const struct page_row {
    const char *row;
    double value, min, max;
} page[] = {
    {"lat_syscall-null", 0.43, 0.42, 0.45},
    {"lat_syscall-read", 0.80, 0.79, 0.81},
    {"lat_syscall-fstat", 2.04, 1.98, 2.14},
    {"lat_pipe", 20.93, 19.12, 22.71},
    {"lat_tcp", 0.86, 0.85, 0.88},
    {"lat_proc-fork", 1237.11, 1157.00, 1332.25},
    {"lat_proc-exec", 1409.70, 1292.00, 1534.00},
    {"lat_sig-catch", 6.33, 6.21, 6.44},
    {"lat_sig-install", 0.68, 0.68, 0.69},
    {"bw_mem-rd-16mb", 1417.48, 1261.73, 1562.96},
    {"bw_mem-wr-16mb", 798.46, 704.88, 893.70},
    {"bw_mem-rdwr-16mb", 766.54, 664.45, 848.45},
    {"bw_mem-frd-16mb", 1383.14, 1185.71, 1554.30},
    {"bw_mem-fwr-16mb", 2450.64, 2128.23, 2741.60},
    {"bw_mem-fcp-16mb", 789.51, 710.89, 859.48},
    {"bw_mem-bzero-16mb", 2440.52, 2120.33, 2726.65},
    {"bw_mem-bcopy-16mb", 787.31, 709.72, 858.42},
    {"bw_mem-rd-1mb", 1023.01, 540.83, 1553.87},
    {"bw_mem-wr-1mb", 636.29, 540.83, 745.16},
    {"bw_mem-rdwr-1mb", 549.09, 392.77, 745.16},
    {"bw_mem-cp-1mb", 1534.09, 392.77, 2938.48},
    {"bw_mem-fwr-1mb", 1974.95, 1220.15, 2938.48},
    {"bw_mem-frd-1mb", 1109.00, 782.47, 1463.86},
    {"bw_mem-fcp-1mb", 1657.73, 782.47, 2727.27},
    {"bw_mem-bzero-1mb", 1625.79, 707.84, 2727.27},
    {"bw_mem-bcopy-1mb", 809.45, 707.84, 922.17},
};
#define N_PAGE (sizeof(page) / sizeof(page[0]))

static struct ps_case cases[CASES_MAX];
static struct ps_case_list list = {.cases = cases, .capacity = CASES_MAX};
static struct ps_rule_row rows[ROWS_MAX];
static struct ps_rule_relation relations[ROWS_MAX][PS_RELATIONS_MAX];
static char keys[ROWS_MAX][4 * PS_NAME_MAX], tables[ROWS_MAX][2 * PS_NAME_MAX];
static const char *rows_page[ROWS_MAX];
static size_t n_rows;

static void add_row(const struct ps_bench *bench, const struct ps_case *c,
                    const struct ps_metric *metric, const struct page_row *published) {
    assert_in_range(n_rows, 0, ROWS_MAX - 1);
    struct ps_rule_row *row = &rows[n_rows];
    snprintf(tables[n_rows], sizeof(tables[0]), "%s.%s", bench->chapter, bench->table);
    snprintf(keys[n_rows], sizeof(keys[0]), "%s.%s/%s:%s", bench->chapter, bench->table, c->name,
             metric->name);
    *row = (struct ps_rule_row){.id = keys[n_rows],
                                .key = keys[n_rows],
                                .table = tables[n_rows],
                                .source = "linux",
                                .has_value = true,
                                .positive = metric->positive,
                                .threads = 1,
                                .place = "",
                                .value = published->value,
                                .min = published->min,
                                .max = published->max,
                                .unit = metric->unit,
                                .cycles = NAN,
                                .limit = NAN,
                                .relations = relations[n_rows]};
    for (unsigned i = 0; i < c->n_relations; i++)
        if (strcmp(c->relations[i].metric, metric->name) == 0)
            relations[n_rows][row->n_relations++] = (struct ps_rule_relation){
                c->relations[i].type,  c->relations[i].rule,   c->relations[i].other,
                c->relations[i].cause, c->relations[i].factor, c->relations[i].tolerance};
    rows_page[n_rows++] = published->row;
}

/* Rows of ours that stand beside one of the page, with its numbers. */
static void take_over(const struct ps_bench *bench, const struct ps_case *c) {
    for (unsigned m = 0; m < bench->n_metrics; m++)
        for (unsigned p = 0; p < c->n_published; p++)
            for (size_t i = 0; i < N_PAGE; i++)
                if (strcmp(c->published[p].page, "am62l") == 0 &&
                    strcmp(c->published[p].row, page[i].row) == 0 &&
                    strcmp(c->published[p].metric, bench->metrics[m].name) == 0)
                    add_row(bench, c, &bench->metrics[m], &page[i]);
}

static void make_page(void) {
    const struct ps_registry *registry = ps_registry();
    n_rows = list.n = 0;
    for (size_t b = 0; b < registry->n; b++) {
        size_t from = list.n;
        if (registry->benches[b]->cases)
            assert_int_equal(registry->benches[b]->cases(&board, &list), 0);
        assert_false(list.overflow);
        for (size_t i = from; i < list.n; i++)
            take_over(registry->benches[b], &cases[i]);
    }
}

static char refused[8192];
static bool by_rule[ROWS_MAX];

static void note_finding(void *context, const struct ps_rule_finding *finding) {
    (void)context;
    if (!finding->failed)
        return;
    size_t length = strlen(refused);
    snprintf(refused + length, sizeof(refused) - length, "%s %s %s\n", rows_page[finding->row],
             finding->type, finding->other == SIZE_MAX ? "-" : rows_page[finding->other]);
    by_rule[finding->row] = true;
    if (finding->other != SIZE_MAX && strcmp(finding->type, "DUPLICATE") == 0)
        by_rule[finding->other] = true;
}

static bool page_row_is_refused(const char *name) {
    for (size_t i = 0; i < n_rows; i++)
        if (strcmp(rows_page[i], name) == 0)
            return by_rule[i];
    fail_msg("no row of ours stands beside %s", name);
    return false;
}

static void test_published_faults_are_refused(void **state) {
    (void)state;
    /* Two operations averaged into one row, seen by extremes that they share; a round trip that is
     * faster than a pipe's, as no server ran; exec as fast as fork, as nothing was executed. */
    static const char *const wrong[] = {
        "lat_tcp",       "lat_proc-exec",  "bw_mem-rd-1mb",  "bw_mem-wr-1mb",  "bw_mem-rdwr-1mb",
        "bw_mem-cp-1mb", "bw_mem-fwr-1mb", "bw_mem-frd-1mb", "bw_mem-fcp-1mb", "bw_mem-bzero-1mb",
    };
    static const char *const right[] = {
        "lat_syscall-null",  "lat_syscall-read", "lat_syscall-fstat", "lat_pipe",
        "lat_proc-fork",     "lat_sig-catch",    "lat_sig-install",   "bw_mem-rd-16mb",
        "bw_mem-wr-16mb",    "bw_mem-rdwr-16mb", "bw_mem-frd-16mb",   "bw_mem-fwr-16mb",
        "bw_mem-bzero-16mb", "bw_mem-fcp-16mb",  "bw_mem-bcopy-16mb",
    };
    make_page();
    assert_true(n_rows >= N_PAGE);
    refused[0] = 0;
    memset(by_rule, 0, sizeof(by_rule));
    assert_true(ps_rules_check(rows, n_rows, note_finding, NULL) > 0);
    /* By either of two rules, as either of the other rows may be missing. */
    assert_non_null(strstr(refused, "lat_tcp ORDER lat_pipe\n"));
    assert_non_null(strstr(refused, "lat_tcp ORDER lat_syscall-null\n"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!page_row_is_refused(wrong[i]))
            fail_msg("%s is believed; refused are\n%s", wrong[i], refused);
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        if (page_row_is_refused(right[i]))
            fail_msg("%s is refused:\n%s", right[i], refused);
}

/* With the server and the program there, and each row of one operation, the same page stands. */
static void test_mended_page_is_believed(void **state) {
    (void)state;
    static const struct page_row mended[] = {
        {"lat_tcp", 60, 55, 66},
        {"lat_proc-exec", 4400, 4100, 4800},
        {"bw_mem-rd-1mb", 1409, 1250, 1553.87},
        {"bw_mem-wr-1mb", 637, 540.83, 730},
        {"bw_mem-rdwr-1mb", 635, 560, 745.16},
        {"bw_mem-cp-1mb", 463, 392.77, 520},
        {"bw_mem-fwr-1mb", 2605, 2200, 2938.48},
        {"bw_mem-frd-1mb", 1345, 1220.15, 1463.86},
        {"bw_mem-fcp-1mb", 873, 782.47, 960},
        {"bw_mem-bzero-1mb", 2442, 2100, 2727.27},
    };
    make_page();
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < sizeof(mended) / sizeof(mended[0]); k++)
            if (strcmp(rows_page[i], mended[k].row) == 0) {
                rows[i].value = mended[k].value;
                rows[i].min = mended[k].min;
                rows[i].max = mended[k].max;
            }
    refused[0] = 0;
    ps_rules_check(rows, n_rows, note_finding, NULL);
    assert_string_equal(refused, "");
}

/* ---- Definitions of the product's tables ----------------------------------------------------- */

/* A loop that the compiler removed is only found by a row that says how fast it could be at most:
 * every row of memory and processor does. */
static void test_loops_have_a_floor(void **state) {
    (void)state;
    const struct ps_registry *registry = ps_registry();
    unsigned n = 0;
    for (size_t b = 0; b < registry->n; b++) {
        const struct ps_bench *bench = registry->benches[b];
        bool loops = strcmp(bench->chapter, "mem") == 0 || strcmp(bench->chapter, "cpu") == 0;
        for (unsigned m = 0; loops && m < bench->n_metrics; m++) {
            const struct ps_metric *metric = &bench->metrics[m];
            /* What is left of a difference may be nothing. */
            if ((metric->kind == PS_TIME || metric->kind == PS_RATE) && !bench->baseline &&
                !(metric->floor_cycles > 0))
                fail_msg("%s.%s:%s has no floor_cycles", bench->chapter, bench->table,
                         metric->name);
            n++;
        }
    }
    assert_true(n > 8);
}

/* "MB/s" of a copy counted once beside one counted twice, and a unit left out: every metric says
 * what it counts, no time or rate may be 0, and the two ways of counting a copy have two wordings.
 */
static void test_metrics_say_what_they_count(void **state) {
    (void)state;
    const struct ps_registry *registry = ps_registry();
    const char *stream = NULL, *library = NULL;
    for (size_t b = 0; b < registry->n; b++) {
        const struct ps_bench *bench = registry->benches[b];
        for (unsigned m = 0; m < bench->n_metrics; m++) {
            const struct ps_metric *metric = &bench->metrics[m];
            assert_true(metric->counts != NULL && metric->counts[0] != '\0');
            assert_true(metric->method >= 1);
            if ((metric->kind == PS_TIME || metric->kind == PS_RATE) && !bench->baseline &&
                !metric->positive)
                fail_msg("%s.%s:%s may be 0", bench->chapter, bench->table, metric->name);
            if (strcmp(bench->table, "stream") == 0 && strcmp(metric->name, "copy") == 0)
                stream = metric->counts;
            if (strcmp(bench->table, "bw_mem") == 0)
                library = metric->counts;
        }
    }
    assert_non_null(stream);
    assert_non_null(library);
    assert_string_not_equal(stream, library);
}

/* Eleven passes neither overflow nor sink to subnormal numbers, which are many times slower. */
static void test_arithmetic_stays_normal(void **state) {
    (void)state;
    enum { N = 64, PASSES = 11 };
    static double a[N], b[N], c[N];
    for (size_t i = 0; i < N; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    for (unsigned pass = 0; pass < PASSES; pass++) {
        psk_stream_copy(c, a, N);
        psk_stream_scale(b, c, N);
        psk_stream_add(c, a, b, N);
        psk_stream_triad(a, b, c, N);
    }
    for (size_t i = 0; i < N; i++)
        assert_true(isnormal(a[i]) && isnormal(b[i]) && isnormal(c[i]));
}

/* Options with which a compiler may change results, or look into a kernel from its caller. */
static void test_no_kernel_is_built_loosely(void **state) {
    (void)state;
    static const char *const loose[] = {
        "-Ofast", "-ffast-math",       "-funsafe-math-optimizations", "-fassociative-math",
        "-flto",  "-ffinite-math-only"};
    const char *directory = getenv("PS_BUILD_DIR");
    char path[512];
    size_t n_kernels = 0, line_bytes = 0;
    char *line = NULL;
    snprintf(path, sizeof(path), "%s/compile_commands.json", directory ? directory : ".");
    FILE *file = fopen(path, "r");
    if (!file)
        skip();
    while (getline(&line, &line_bytes, file) > 0) {
        if (!strstr(line, "\"command\"") || !strstr(line, "/src/kernels/"))
            continue;
        n_kernels++;
        for (size_t i = 0; i < sizeof(loose) / sizeof(loose[0]); i++) {
            const char *at = strstr(line, loose[i]);
            size_t length = strlen(loose[i]);
            if (at && (isspace((unsigned char)at[length]) || at[length] == '='))
                fail_msg("%s: %s", loose[i], line);
        }
    }
    free(line);
    fclose(file);
    assert_true(n_kernels >= 5);
}

/* ---- An orphan that spins on ------------------------------------------------------------------
 */

/* One forgotten process of another benchmark halves what its CPU does: it is found by name. */
static void test_orphan_is_found_by_name(void **state) {
    (void)state;
    struct ps_process_times before = {0}, after = {0};
    int ready[2], go[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        clock_t end;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "lat_orphan");
        (void)!write(ready[1], "x", 1);
        (void)!read(go[0], &byte, 1);
        /* Its own CPU time, however busy the machine is. */
        for (end = clock() + CLOCKS_PER_SEC / 2; clock() < end;)
            ;
        (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(ps_process_times_read("", (int)getpid(), &before), 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(ps_process_times_read("", (int)getpid(), &after), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    /* Others may be busier here; what the orphan used is known all the same. */
    uint64_t ticks = 0;
    const char *name = "";
    for (size_t i = 0; i < after.n; i++)
        if (after.items[i].pid == (int)child) {
            struct ps_process_times one = {&after.items[i], 1};
            ticks = ps_process_busiest(&before, &one).ticks;
            name = after.items[i].name;
        }
    assert_string_equal(name, "lat_orphan");
    /* Half a second, a tick more or less at either end. */
    assert_in_range(ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK), 400, 700);
    ps_process_times_done(&before);
    ps_process_times_done(&after);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_faults_are_refused),
        cmocka_unit_test(test_mended_page_is_believed),
        cmocka_unit_test(test_loops_have_a_floor),
        cmocka_unit_test(test_metrics_say_what_they_count),
        cmocka_unit_test(test_arithmetic_stays_normal),
        cmocka_unit_test(test_no_kernel_is_built_loosely),
        cmocka_unit_test(test_orphan_is_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
