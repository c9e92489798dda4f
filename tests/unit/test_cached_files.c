/* SPDX-License-Identifier: MIT
 *
 * The tables that read a file of the page cache, by read() and by a mapping: what one pass does
 * (bytes, chunks, page faults), that interrupted and short reads change nothing, that errors end
 * the case, and that a file which is not in the page cache is found out. The file system is a tmpfs
 * and the build's own; neither is asked whether it can read past the cache, and the rows say so.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "sys/cached_file.h"

extern const struct ps_bench ps_bench_mem_bw_file_rd, ps_bench_mem_bw_mmap_rd;

static struct ps_case cases[16];
static struct ps_case_list list;
static char medium[512], memory[] = "/dev/shm/perfsheet-test-XXXXXX";
static const struct ps_cluster cluster = {.n_cpus = 1, .last_private_bytes = 32768};
static struct ps_target targets[] = {{"tmpfs", memory, "tmpfs", NULL, 1000000000},
                                     {"disk", medium, "ext4", NULL, 1000000000}};
static const struct ps_env env = {.cluster = &cluster,
                                  .clusters = &cluster,
                                  .n_clusters = 1,
                                  .n_cpus = 1,
                                  .page_bytes = 4096,
                                  .targets = targets,
                                  .n_targets = 2};

/* ---- read(), as the kernel might do it ------------------------------------------------------- */

static struct {
    bool counts;
    unsigned calls, full_chunks, interruptions;
    uint64_t bytes;
    size_t at_most; /* 0: what is asked for */
    int error;      /* of the next call */
} reads;

ssize_t read(int fd, void *buffer, size_t bytes) {
    if (!reads.counts)
        return syscall(SYS_read, fd, buffer, bytes);
    reads.calls++;
    if (reads.error != 0) {
        errno = reads.error;
        return -1;
    }
    if (reads.interruptions > 0) {
        reads.interruptions--;
        errno = EINTR;
        return -1;
    }
    if (reads.at_most > 0 && bytes > reads.at_most)
        bytes = reads.at_most;
    ssize_t length = syscall(SYS_read, fd, buffer, bytes);
    reads.full_chunks += length == 65536;
    reads.bytes += length > 0 ? (uint64_t)length : 0;
    return length;
}

static struct {
    unsigned calls, populated;
    size_t bytes;
} maps;

void *mmap(void *address, size_t bytes, int rights, int flags, int fd, off_t offset) {
    if ((flags & MAP_ANONYMOUS) == 0) {
        maps.calls++;
        maps.populated += (flags & MAP_POPULATE) != 0;
        maps.bytes += bytes;
    }
#ifdef SYS_mmap2
    return (void *)syscall(SYS_mmap2, address, bytes, rights, flags, fd, (long)(offset >> 12));
#else
    return (void *)syscall(SYS_mmap, address, bytes, rights, flags, fd, offset);
#endif
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static const struct ps_port port = {.resolution_ns = 1};
static struct ps_run_shared shared;
static struct ps_run run = {.shared = &shared};
static void *arena;

static int begin(const struct ps_bench *bench, const char *name, const char *target) {
    const struct ps_case *c = NULL;
    list = (struct ps_case_list){.cases = cases, .capacity = 16};
    assert_int_equal(bench->cases(&env, &list), 0);
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(cases[i].name, name) == 0 && strcmp(cases[i].place.target, target) == 0)
            c = &cases[i];
    assert_non_null(c);
    uint64_t bytes = c->memory.bytes + PS_ARENA_SLACK_BYTES;
    shared =
        (struct ps_run_shared){.bench = bench, .c = c, .port = &port, .threads = 1, .seed = 77};
    assert_int_equal(posix_memalign(&arena, 65536, bytes), 0);
    memset(arena, 0, bytes);
    ps_arena_init(&shared.arena, arena, bytes);
    memset(&reads, 0, sizeof(reads));
    return bench->setup(&run);
}

static void end(void) {
    reads.counts = false;
    shared.bench->teardown(&run);
    free(arena);
}

static long faults(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static const char *const file_rows[] = {"io-1mb", "open2close-1mb"};
static const char *const mapped_rows[] = {"mapped-1mb", "open2close-1mb", "populate-1mb"};

static void test_rows_state_how_they_read(void **unused) {
    static const struct ps_bench *const benches[] = {&ps_bench_mem_bw_file_rd,
                                                     &ps_bench_mem_bw_mmap_rd};
    (void)unused;
    for (size_t b = 0; b < 2; b++) {
        unsigned published = 0, headline = 0;
        list = (struct ps_case_list){.cases = cases, .capacity = 16};
        assert_int_equal(benches[b]->cases(&env, &list), 0);
        assert_int_equal(list.n, b == 0 ? 4 : 6);
        for (size_t i = 0; i < list.n; i++) {
            const struct ps_case *c = &cases[i];
            assert_int_equal(c->status, PS_OK);
            assert_string_equal(ps_case_text(c, "access"), "buffered, from the page cache");
            assert_string_equal(ps_case_text(c, "filesystem"),
                                strcmp(c->place.target, "tmpfs") == 0 ? "tmpfs" : "ext4");
            assert_int_equal(benches[b]->units(c, 0), 1000000);
            assert_int_equal(ps_case_value(c, "size_bytes", 0), 1000000);
            published += c->n_published;
            headline += (c->tags & PS_TAG_HEADLINE) != 0;
        }
        assert_int_equal(published, 2);
        assert_int_equal(headline, 1);
    }
}

static void test_every_row_proves_its_answer(void **unused) {
    (void)unused;
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < 5; i++) {
            const struct ps_bench *bench =
                i < 2 ? &ps_bench_mem_bw_file_rd : &ps_bench_mem_bw_mmap_rd;
            int error = begin(bench, i < 2 ? file_rows[i] : mapped_rows[i - 2], targets[t].name);
            if (error == 0)
                error = bench->verify(&run, PS_VERIFY_BEFORE);
            if (error == 0)
                error = bench->batch(&run, 0, 3);
            if (error == 0)
                error = bench->verify(&run, PS_VERIFY_AFTER);
            if (error != 0)
                fail_msg("%s: %s", shared.c->name, shared.reason);
            end();
        }
}

static void test_a_pass_reads_a_million_bytes_in_chunks(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(begin(&ps_bench_mem_bw_file_rd, file_rows[i], "tmpfs"), 0);
        reads.counts = true;
        assert_int_equal(ps_bench_mem_bw_file_rd.batch(&run, 0, 2), 0);
        assert_int_equal(reads.bytes, 2 * 1000000);
        assert_int_equal(reads.calls, 2 * 16);
        assert_int_equal(reads.full_chunks, 2 * 15);
        end();
    }
}

static void test_short_and_interrupted_reads_change_nothing(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(begin(&ps_bench_mem_bw_file_rd, file_rows[i], "tmpfs"), 0);
        reads.counts = true;
        reads.at_most = 40000;
        reads.interruptions = 3;
        assert_int_equal(ps_bench_mem_bw_file_rd.batch(&run, 0, 2), 0);
        assert_int_equal(reads.bytes, 2 * 1000000);
        assert_int_equal(reads.calls, 2 * 25 + 3);
        assert_int_equal(ps_bench_mem_bw_file_rd.verify(&run, PS_VERIFY_AFTER), 0);
        reads.error = EIO;
        assert_int_equal(ps_bench_mem_bw_file_rd.batch(&run, 0, 1), -EIO);
        end();
    }
}

/* Passes through a new mapping fault, those through an old one do not. The kernel counts the pages
 * that MAP_POPULATE maps as faults, too. */
static void test_faults_are_where_the_rows_say(void **unused) {
    static const unsigned new_maps[] = {0, 20, 20}, populated[] = {0, 0, 20};
    long per_row[3];
    (void)unused;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(begin(&ps_bench_mem_bw_mmap_rd, mapped_rows[i], "disk"), 0);
        assert_int_equal(ps_bench_mem_bw_mmap_rd.verify(&run, PS_VERIFY_BEFORE), 0);
        memset(&maps, 0, sizeof(maps));
        long before = faults();
        assert_int_equal(ps_bench_mem_bw_mmap_rd.batch(&run, 0, 20), 0);
        per_row[i] = faults() - before;
        assert_int_equal(maps.calls, new_maps[i]);
        assert_int_equal(maps.populated, populated[i]);
        assert_int_equal(maps.bytes, new_maps[i] * 1000000);
        end();
    }
    assert_true(per_row[0] < 5);
    assert_true(per_row[1] >= 20);
}

static void test_a_file_that_has_gone_ends_the_row(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const struct ps_bench *bench = i == 0 ? &ps_bench_mem_bw_file_rd : &ps_bench_mem_bw_mmap_rd;
        char command[128];
        assert_int_equal(begin(bench, "open2close-1mb", "tmpfs"), 0);
        snprintf(command, sizeof(command), "rm %s/.perfsheet-*", memory);
        assert_int_equal(system(command), 0);
        assert_int_equal(bench->batch(&run, 0, 1), -ENOENT);
        end();
    }
}

/* ---- The proof ------------------------------------------------------------------------------- */

/* Drops the file from the page cache; false where that can not be done (a tmpfs). */
static bool drop(const struct ps_cached_file *file) {
    unsigned char page = 1;
    assert_int_equal(fsync(file->scratch.fd), 0);
    assert_int_equal(posix_fadvise(file->scratch.fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(mincore(file->map, 1, &page), 0);
    return (page & 1) == 0;
}

static void test_pages_that_are_not_cached_are_counted(void **unused) {
    struct ps_cached_file file;
    char word;
    size_t missing = 99;
    (void)unused;
    assert_int_equal(ps_cached_file_init(&file, medium, 8 << 20, 0, 5), 0);
    assert_int_equal(ps_cached_file_check(&file, &missing), 0);
    assert_int_equal(missing, 0);
    if (!drop(&file)) {
        ps_cached_file_done(&file);
        print_message("the build is on a file system that can not be dropped from the cache\n");
        skip();
    }
    assert_int_equal(ps_cached_file_check(&file, &missing), -ENODATA);
    assert_in_range(missing, 1000, 2048);
    /* One page of the last thousand, and with it what the kernel reads ahead, but not all. */
    assert_int_equal(pread(file.scratch.fd, &word, 1, (8 << 20) - 1), 1);
    size_t before = missing;
    assert_int_equal(ps_cached_file_check(&file, &missing), -ENODATA);
    assert_in_range(missing, 1, before - 1);
    ps_cached_file_done(&file);
}

static void test_rows_of_a_file_that_is_not_cached_have_no_number(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const struct ps_bench *bench = i == 0 ? &ps_bench_mem_bw_file_rd : &ps_bench_mem_bw_mmap_rd;
        assert_int_equal(begin(bench, i == 0 ? "io-1mb" : "open2close-1mb", "disk"), 0);
        assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
        /* Both states begin with the file. A mapping that was touched holds its pages. */
        const struct ps_cached_file *file = ps_run_state(&run);
        struct rusage usage, later;
        assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
        if (!drop(file)) {
            end();
            skip();
        }
        assert_true(bench->verify(&run, PS_VERIFY_AFTER) < 0);
        assert_int_equal(shared.status, PS_FAILED);
        assert_non_null(strstr(shared.reason, "page cache"));
        /* Read again, all pages are there, but they came from the medium. */
        shared.status = PS_OK;
        shared.ended = 0;
        assert_int_equal(bench->batch(&run, 0, 1), 0);
        assert_int_equal(getrusage(RUSAGE_SELF, &later), 0);
        if (later.ru_inblock != usage.ru_inblock) {
            assert_true(bench->verify(&run, PS_VERIFY_AFTER) < 0);
            assert_non_null(strstr(shared.reason, "medium"));
        }
        end();
    }
}

static int make_directories(void **unused) {
    const char *build = getenv("PS_BUILD_DIR");
    (void)unused;
    snprintf(medium, sizeof(medium), "%s/perfsheet-test-XXXXXX",
             build != NULL ? build : "/var/tmp");
    return mkdtemp(memory) == NULL || mkdtemp(medium) == NULL;
}

/* Fails when a row has left a file. */
static int remove_directories(void **unused) {
    (void)unused;
    int first = rmdir(memory);
    return rmdir(medium) != 0 || first != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_state_how_they_read),
        cmocka_unit_test(test_every_row_proves_its_answer),
        cmocka_unit_test(test_a_pass_reads_a_million_bytes_in_chunks),
        cmocka_unit_test(test_short_and_interrupted_reads_change_nothing),
        cmocka_unit_test(test_faults_are_where_the_rows_say),
        cmocka_unit_test(test_a_file_that_has_gone_ends_the_row),
        cmocka_unit_test(test_pages_that_are_not_cached_are_counted),
        cmocka_unit_test(test_rows_of_a_file_that_is_not_cached_have_no_number),
    };
    return cmocka_run_group_tests(tests, make_directories, remove_directories);
}
