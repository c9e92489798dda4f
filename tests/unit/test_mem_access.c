/* SPDX-License-Identifier: MIT
 *
 * Latency of a system's memories: which rows a board file makes, that reads wait for each other and
 * go round all words, and that physical addresses are refused unless they are surely nobody's
 * memory. /dev/mem is a file below a fake root.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "harness/boardfile.h"
#include "kernels/word_reads.h"
#include "sys/physical_memory.h"
#include "unit/fake_root.h"

extern const struct ps_bench ps_bench_mem_access;

#define MIB (UINT64_C(1) << 20)

static struct ps_case cases[64];
static struct ps_case_list list;
static const struct ps_cluster cluster = {.n_cpus = 1,
                                          .l1d_bytes = 32768,
                                          .l2_bytes = 524288,
                                          .last_private_bytes = 32768,
                                          .last_level_bytes = 524288,
                                          .line_bytes = 64};
static struct ps_env env = {.cluster = &cluster,
                            .clusters = &cluster,
                            .n_clusters = 1,
                            .n_cpus = 1,
                            .page_bytes = 4096,
                            .huge_page_bytes = 2 * MIB,
                            .working_set_cap_bytes = 256 * MIB};

static const char *value(const struct ps_env *of, const char *section, const char *key) {
    return ps_boardfile_value(of->board, section, key);
}

static const char *section(const struct ps_env *of, const char *kind, size_t nth) {
    return ps_boardfile_section(of->board, kind, nth);
}

static void make(const struct ps_env *of) {
    list = (struct ps_case_list){.cases = cases, .capacity = 64};
    assert_int_equal(ps_bench_mem_access.cases(of, &list), 0);
    assert_false(list.overflow);
}

static const struct ps_case *find(const char *name) {
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

static void test_rows_without_a_board_file(void **unused) {
    struct ps_env small = env;
    (void)unused;
    make(&env);
    assert_int_equal(list.n, 1);
    assert_string_equal(cases[0].name, "memory-cached");
    assert_int_equal(ps_case_value(&cases[0], "size_bytes", 0), 8 * MIB); /* 16 x the last cache */
    assert_int_equal(cases[0].memory.pages, PS_PAGES_HUGE);
    assert_int_equal(cases[0].quality, 0);
    assert_string_equal(cases[0].relations[0].other, "mem.lat_mem_rnd/l2half-4k:latency");
    small.working_set_cap_bytes = 1 * MIB;
    small.huge_page_bytes = 0;
    make(&small);
    assert_int_equal(ps_case_value(&cases[0], "size_bytes", 0), 1 * MIB);
    assert_int_equal(cases[0].quality, PS_Q_CACHE_RESIDENT);
    assert_int_equal(cases[0].memory.pages, PS_PAGES_BASE);
}

static void test_rows_of_a_board_file(void **unused) {
    static const char text[] = "[endpoint ocsram]\nbase = 0x70000000\nlength = 65536\n"
                               "[endpoint odd]\nbase = 0x43000014\nlength = 0x1c\n"
                               "attribute = device\n"
                               "[endpoint cached]\nbase = 4096\nlength = 64\nattribute = cached\n"
                               "[endpoint high]\nbase = 0xffffffffffffffff\nlength = 64\n"
                               "[endpoint crooked]\nbase = 2\nlength = 64\n"
                               "[endpoint short]\nbase = 4\nlength = 3\n"
                               "[endpoint empty]\n";
    struct ps_boardfile *board = NULL;
    char why[200];
    struct ps_env with_board = env;
    (void)unused;
    assert_int_equal(ps_boardfile_parse(text, strlen(text), &board, why, sizeof(why)), 0);
    with_board.board = board;
    with_board.board_value = value;
    with_board.board_section = section;
    make(&with_board);
    assert_int_equal(list.n, 1 + 7);
    const struct ps_case *c = find("endpoint-ocsram");
    assert_int_equal(c->status, PS_OK);
    assert_int_equal(ps_case_value(c, "base_address", 0), 0x70000000);
    assert_int_equal(ps_case_value(c, "size_bytes", 0), 32768);
    assert_int_equal(ps_bench_mem_access.units(c, 0), 8192);
    assert_int_equal(c->bound, PS_BOUND_MEMORY);
    c = find("endpoint-odd"); /* 28 bytes are seven words: four of them */
    assert_int_equal(c->status, PS_OK);
    assert_int_equal(ps_case_value(c, "base_address", 0), 0x43000014);
    assert_int_equal(ps_case_value(c, "size_bytes", 0), 16);
    static const char *const refused[] = {"endpoint-cached", "endpoint-high", "endpoint-crooked",
                                          "endpoint-short", "endpoint-empty"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(find(refused[i])->status, PS_UNSUPPORTED);
        assert_non_null(find(refused[i])->reason);
    }
    ps_boardfile_free(board);
}

/* ---- The reads ------------------------------------------------------------------------------- */

static void test_reads_go_round_all_words(void **unused) {
    static uint32_t words[8192];
    (void)unused;
    memset(words, 0xa5, sizeof(words)); /* what they hold must not matter */
    for (uint32_t n = 1; n <= 8192; n *= 2) {
        uint32_t step = (uint32_t)((uint64_t)n * 5 / 8) | 1, at = 0;
        static uint8_t seen[8192];
        memset(seen, 0, sizeof(seen));
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(seen[at]++, 0);
            at = (at + step) & (n - 1);
        }
        assert_int_equal(psk_word_reads(words, n, step, 0), 8192u * step & (n - 1));
        assert_int_equal(psk_word_reads(words, n, step, n - 1), (n - 1 + 8192u * step) & (n - 1));
    }
}

/* ---- Physical addresses ---------------------------------------------------------------------- */

#define IOMEM                                                                                      \
    "00000000-00000fff : Reserved\n"                                                               \
    "00002000-00003fff : System RAM\n"                                                             \
    "  00002000-000021ff : Kernel code\n"                                                          \
    "00008000-0000ffff : bus\n"                                                                    \
    "  0000a000-0000afff : System RAM (hot)\n"

static enum ps_status map(const char *root, uint64_t base, uint64_t bytes) {
    struct ps_physical_memory memory;
    int error = -1;
    const char *why = "";
    enum ps_status status = ps_physical_map(root, base, bytes, &memory, &error, &why);
    assert_true((status == PS_OK) == (memory.map != NULL));
    assert_true((status == PS_OK) == (why == NULL));
    assert_true(error >= 0);
    ps_physical_unmap(&memory);
    return status;
}

static void test_addresses_of_others_only(void **unused) {
    struct fake_root root;
    char path[200];
    (void)unused;
    fake_root_init(&root);
    assert_int_equal(map(root.path, 0x1000, 64), PS_UNSUPPORTED); /* no /dev/mem */
    fake_file(&root, "", "/dev/mem");
    snprintf(path, sizeof(path), "%s/dev/mem", root.path);
    assert_int_equal(truncate(path, 0x9000), 0);
    assert_int_equal(map(root.path, 0x1000, 64), PS_UNSAFE); /* no /proc/iomem */
    fake_file(&root, "00000000-00000000 : System RAM\n00000000-00000000 : bus\n", "/proc/iomem");
    assert_int_equal(map(root.path, 0x1000, 64), PS_UNSAFE); /* not for everyone's eyes */
    fake_file(&root, IOMEM, "/proc/iomem");
    assert_int_equal(map(root.path, 0x1000, 0x1000), PS_OK);
    assert_int_equal(map(root.path, 0x1ffc, 4), PS_OK);
    assert_int_equal(map(root.path, 0x4000, 0x1000), PS_OK);
    assert_int_equal(map(root.path, 0x1ffc, 8), PS_UNSAFE); /* its last word */
    assert_int_equal(map(root.path, 0x3ffc, 8), PS_UNSAFE);
    assert_int_equal(map(root.path, 0x2000, 4), PS_UNSAFE);
    assert_int_equal(map(root.path, 0x1000, 0x8000), PS_UNSAFE); /* all around it */
    assert_int_equal(map(root.path, 0xa010, 16), PS_UNSAFE);     /* a part of something */
    assert_int_equal(map(root.path, 0x1002, 4), PS_UNSUPPORTED);
    assert_int_equal(map(root.path, 0x1000, 0), PS_UNSUPPORTED);
    assert_int_equal(map(root.path, UINT64_MAX - 3, 4), PS_UNSUPPORTED);
    fake_root_done(&root);
}

static void test_words_are_those_of_the_address(void **unused) {
    struct fake_root root;
    struct ps_physical_memory memory;
    char path[200];
    int error;
    const char *why;
    const uint32_t mark = 0x12345678;
    (void)unused;
    fake_root_init(&root);
    fake_file(&root, "", "/dev/mem");
    fake_file(&root, IOMEM, "/proc/iomem");
    snprintf(path, sizeof(path), "%s/dev/mem", root.path);
    assert_int_equal(truncate(path, 0x6000), 0);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0x5014, SEEK_SET), 0);
    assert_int_equal(fwrite(&mark, sizeof(mark), 1, file), 1);
    fclose(file);
    assert_int_equal(ps_physical_map(root.path, 0x5014, 16, &memory, &error, &why), PS_OK);
    assert_int_equal(memory.words[0], mark);
    assert_int_equal(memory.words[1], 0);
    ps_physical_unmap(&memory);
    ps_physical_unmap(&memory); /* again: nothing */
    /* Beyond the end a read is a bus error: a reason, and the handlers are as before. */
    struct sigaction mine = {.sa_handler = SIG_IGN}, bus, segv, after;
    sigaction(SIGBUS, &mine, &bus);
    sigaction(SIGSEGV, &mine, &segv);
    assert_int_equal(map(root.path, 0x7000, 64), PS_UNSUPPORTED);
    sigaction(SIGBUS, &bus, &after);
    assert_true(after.sa_handler == SIG_IGN);
    sigaction(SIGSEGV, &segv, &after);
    assert_true(after.sa_handler == SIG_IGN);
    fake_root_done(&root);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static const struct ps_port port = {.resolution_ns = 1};

static void test_memory_row_proves_its_answer(void **unused) {
    struct ps_run_shared shared = {.bench = &ps_bench_mem_access, .port = &port, .threads = 1};
    void *memory = NULL;
    (void)unused;
    make(&env);
    uint64_t bytes = cases[0].memory.bytes + PS_ARENA_SLACK_BYTES;
    shared.c = &cases[0];
    shared.seed = 12345;
    assert_int_equal(posix_memalign(&memory, 65536, bytes), 0);
    ps_arena_init(&shared.arena, memory, bytes);
    struct ps_run run = {&shared, 0};
    assert_int_equal(ps_bench_mem_access.units(&cases[0], 0), 100);
    assert_int_equal(ps_bench_mem_access.setup(&run), 0);
    assert_int_equal(ps_bench_mem_access.verify(&run, PS_VERIFY_BEFORE), 0);
    assert_int_equal(ps_bench_mem_access.batch(&run, 0, 3), 0);
    assert_int_equal(ps_bench_mem_access.verify(&run, PS_VERIFY_AFTER), 0);
    ps_bench_mem_access.teardown(&run);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_without_a_board_file),
        cmocka_unit_test(test_rows_of_a_board_file),
        cmocka_unit_test(test_reads_go_round_all_words),
        cmocka_unit_test(test_addresses_of_others_only),
        cmocka_unit_test(test_words_are_those_of_the_address),
        cmocka_unit_test(test_memory_row_proves_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
