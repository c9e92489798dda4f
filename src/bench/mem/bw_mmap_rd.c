/* SPDX-License-Identifier: MIT
 *
 * Reading a file that is in the page cache through a mapping: 10^6 bytes, all words summed.
 *
 * Measured: bytes of the file in a second, counted once, on each target's file system. mapped keeps
 * one mapping, whose pages are in the page tables before the time begins: reading memory through
 * small pages. open2close opens the file, maps it, sums, closes and unmaps in every pass, and so
 * pays for the page faults (of 16 pages each where the kernel maps around a fault, as it does by
 * default). populate is the same with all pages mapped by one call (MAP_POPULATE): the difference
 * is what the faults cost. Definition of the work: the bw_mmap_rd rows of vendors' LMBench tables
 * (size 1M, mmap_only and open2close); the code is not theirs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bench.h"
#include "kernels/mem_ops.h"
#include "sys/cached_file.h"

#define FILE_BYTES 1000000u

enum kind { MAPPED, OPEN2CLOSE, POPULATE, N_KINDS };

static const struct ps_metric metrics[] = {
    {
        .name = "bandwidth",
        .unit = PS_UNIT_MB_PER_S,
        .kind = PS_RATE,
        .counts = "file bytes, once",
        .better = PS_BETTER_HIGHER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        /* No core loads more than four words of 8 bytes a cycle. */
        .floor_cycles = 1.0 / 32,
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

static void publish(struct ps_case *c, enum kind kind) {
    if (kind == MAPPED)
        ps_case_publish(c, "bandwidth", "am62l", "lmbench", "bw_mmap_rd-mo-1mb",
                        PS_COMPARABLE_APPROX,
                        "the page does not name its file system; reading mapped pages that are in "
                        "memory hardly depends on it");
    else if (kind == OPEN2CLOSE)
        ps_case_publish(c, "bandwidth", "am62l", "lmbench", "bw_mmap_rd-o2c-1mb",
                        PS_COMPARABLE_APPROX,
                        "bound by the file system of the page, which it does not name; its numbers "
                        "suggest one over the network");
}

static void add_case(const struct ps_env *env, struct ps_case_list *list, size_t target_index,
                     enum kind kind) {
    static const char *const names[N_KINDS] = {"mapped-1mb", "open2close-1mb", "populate-1mb"};
    uint64_t last_private = env->cluster != NULL ? env->cluster->last_private_bytes : 0;
    struct ps_case *c = ps_case_add(list, names[kind]);
    if (c == NULL)
        return;
    ps_cached_file_place(c, &env->targets[target_index], FILE_BYTES);
    ps_case_param(c, "kind", kind);
    ps_case_param_text(c, "faults",
                       kind == MAPPED     ? "none"
                       : kind == POPULATE ? "none, mapped by one call"
                                          : "in the time");
    /* The file's pages are the kernel's, not in the memory request: the bound by hand. */
    c->bound = FILE_BYTES * UINT64_C(4) <= last_private * 3 ? PS_BOUND_CORE : PS_BOUND_MEMORY;
    if (kind == MAPPED)
        ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-08", "bandwidth",
                       "mem.bw_file_rd/io-1mb:bandwidth", 1, 0.2,
                       "reading pages in place can not be slower than copying them and reading the "
                       "copy: a run was disturbed");
    else
        ps_case_relate(c, PS_ORDER_AT_MOST, "mem-08", "bandwidth",
                       "mem.bw_mmap_rd/mapped-1mb:bandwidth", 1, 0.05,
                       "opening, mapping and reading can not be faster than reading: a run was "
                       "disturbed");
    /* The page has one row, of a file system that it does not name: beside it stands the target
     * that is always there. */
    if (target_index == 0) {
        publish(c, kind);
        if (kind == MAPPED)
            c->tags |= PS_TAG_HEADLINE;
    }
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    for (size_t i = 0; i < env->n_targets; i++)
        for (enum kind kind = MAPPED; kind < N_KINDS; kind++)
            add_case(env, list, i, kind);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    struct ps_cached_file file;
    enum kind kind;
    int flags;
    unsigned long sum; /* of all passes */
    uint64_t passes;
};

static int setup(struct ps_run *run) {
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return ps_run_end(run, PS_FAILED, 0, "there is no memory for its state");
    state->kind = (enum kind)ps_case_value(ps_run_case(run), "kind", MAPPED);
    state->flags = MAP_SHARED | (state->kind == POPULATE ? MAP_POPULATE : 0);
    ps_run_set_state(run, state);
    return ps_cached_file_setup(&state->file, run, FILE_BYTES);
}

static void teardown(struct ps_run *run) {
    struct state *state = ps_run_state(run);
    if (state != NULL)
        ps_cached_file_done(&state->file);
}

static int pass_opened(struct state *state) {
    int fd = open(state->file.scratch.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = 0;
    void *map = mmap(NULL, FILE_BYTES, PROT_READ, state->flags, fd, 0);
    if (map == MAP_FAILED)
        error = -errno;
    else
        state->sum += psk_mem_sum(map, FILE_BYTES);
    if (close(fd) < 0 && error == 0)
        error = -errno;
    if (map != MAP_FAILED && munmap(map, FILE_BYTES) < 0 && error == 0)
        error = -errno;
    return error;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    for (uint64_t i = 0; i < n; i++) {
        if (state->kind == MAPPED) {
            state->sum += psk_mem_sum(state->file.map, FILE_BYTES);
            continue;
        }
        int error = pass_opened(state);
        if (error < 0)
            return error;
    }
    state->passes += n;
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    (void)c;
    (void)segment;
    return FILE_BYTES;
}

/* As for the table that reads the file by read(). A file that was cut raises SIGBUS, which ends the
 * run without a number. */
static int verify(struct ps_run *run, enum ps_verify_when when) {
    struct state *state = ps_run_state(run);
    if (state->file.map == NULL)
        return ps_cached_file_prove(&state->file, run); /* says so */
    if (when == PS_VERIFY_BEFORE) {
        int error = batch(run, 0, 1);
        if (error < 0)
            return ps_run_end(run, PS_FAILED, -error, "the file can not be mapped and read");
    }
    if (state->sum != (unsigned long)state->passes * state->file.sum)
        return ps_run_end(run, PS_FAILED, 0, "what was read is not what was written");
    return ps_cached_file_prove(&state->file, run);
}

const struct ps_bench ps_bench_mem_bw_mmap_rd = {
    .chapter = "mem",
    .table = "bw_mmap_rd",
    .title = "Mapped file reading bandwidth",
    .about =
        "Sum of all words of a file of 1 MB (10^6 bytes) that is in the page cache, through a "
        "shared mapping. mapped: through one that is in the page tables already; open2close: "
        "opened, mapped, read, closed and unmapped in every pass, page faults and all; populate: "
        "the same with all pages mapped by one call. A run proves that every page of the file was "
        "in memory before and after, and that nothing was read from a medium.",
    .region = "sum of the file's words; and where the row says so open, mmap before it and close, "
              "munmap behind it",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .teardown = teardown,
    .batch = batch,
    .units = units,
    .verify = verify,
};
