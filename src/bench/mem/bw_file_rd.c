/* SPDX-License-Identifier: MIT
 *
 * Reading a file that is in the page cache: 10^6 bytes, by read() in chunks of 64 KiB, each chunk
 * summed after it was read.
 *
 * Measured: bytes of the file in a second, counted once, on each target's file system. io begins
 * with lseek() to the start; open2close has open() and close() in every pass besides, so that it
 * shows what the file system asks for an open. Not measured: the medium (nothing is read from it),
 * mapping the file (another table). Definition of the work: the bw_file_rd rows of vendors' LMBench
 * tables (size 1M, io and o2c); the code is not theirs.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/bench.h"
#include "kernels/mem_ops.h"
#include "sys/cached_file.h"

#define FILE_BYTES 1000000u
#define CHUNK_BYTES 65536u

static const struct ps_metric metrics[] = {
    {
        .name = "bandwidth",
        .unit = PS_UNIT_MB_PER_S,
        .kind = PS_RATE,
        .counts = "file bytes, once",
        .better = PS_BETTER_HIGHER,
        .positive = true,
        .decimals = 2,
        .method = 2,
        /* A byte: copied by the kernel and loaded by the sum, a word at a time; no core loads more
         * than four words of 8 bytes a cycle. */
        .floor_cycles = 1.0 / 32,
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

static void add_case(const struct ps_env *env, struct ps_case_list *list, size_t target_index,
                     bool reopen) {
    const struct ps_target *target = &env->targets[target_index];
    uint64_t last_private = env->cluster != NULL ? env->cluster->last_private_bytes : 0;
    struct ps_case *c = ps_case_add(list, reopen ? "open2close-1mb" : "io-1mb");
    if (c == NULL)
        return;
    ps_cached_file_place(c, target, FILE_BYTES);
    ps_case_param(c, "chunk_bytes", CHUNK_BYTES);
    ps_case_param(c, "reopen", reopen ? 1 : 0);
    c->memory.bytes = CHUNK_BYTES;
    /* The file's pages are the kernel's, not in the memory request: the bound by hand. */
    c->bound = (FILE_BYTES + CHUNK_BYTES) * UINT64_C(4) <= last_private * 3 ? PS_BOUND_CORE
                                                                            : PS_BOUND_MEMORY;
    if (target_index == 0 && !reopen)
        c->tags |= PS_TAG_HEADLINE;
    if (!reopen)
        ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-08", "bandwidth",
                       "mem.bw_file_rd/open2close-1mb:bandwidth", 1, 0.05,
                       "reading can not be slower than opening and reading: a run was disturbed");
    /* The page has one row, of a file system that it does not name: beside it stands the target
     * that is always there. */
    if (target_index == 0)
        ps_case_publish(c, "bandwidth", "am62l", "lmbench",
                        reopen ? "bw_file_rd-o2c-1mb" : "bw_file_rd-io-1mb", PS_COMPARABLE_APPROX,
                        reopen
                            ? "bound by the file system of the page, which it does not name; its "
                              "numbers suggest one over the network"
                            : "the page does not name its file system; reading from the page cache "
                              "hardly depends on it");
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    for (size_t i = 0; i < env->n_targets; i++) {
        add_case(env, list, i, false);
        add_case(env, list, i, true);
    }
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    struct ps_cached_file file;
    void *chunk;
    unsigned long sum; /* of all passes */
    uint64_t passes;
    bool reopen;
};

static int setup(struct ps_run *run) {
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    void *chunk = ps_run_alloc(run, CHUNK_BYTES, 4096);
    if (state == NULL || chunk == NULL)
        return ps_run_end(run, PS_FAILED, 0, "the chunk does not fit the memory asked for");
    state->chunk = chunk;
    state->reopen = ps_case_value(ps_run_case(run), "reopen", 0) != 0;
    ps_run_set_state(run, state);
    return ps_cached_file_setup(&state->file, run, FILE_BYTES);
}

static void teardown(struct ps_run *run) {
    struct state *state = ps_run_state(run);
    if (state != NULL)
        ps_cached_file_done(&state->file);
}

/* Reads to the expected end; a file that ends early is an error, not a faster pass. */
static int read_through(struct state *state, int fd) {
    for (size_t left = FILE_BYTES; left > 0;) {
        ssize_t length = read(fd, state->chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES);
        if (length < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (length == 0)
            return -EIO;
        state->sum += psk_mem_sum(state->chunk, (size_t)length);
        left -= (size_t)length;
    }
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    for (uint64_t i = 0; i < n; i++) {
        int fd = state->file.scratch.fd;
        if (state->reopen) {
            fd = open(state->file.scratch.path, O_RDONLY | O_CLOEXEC);
            if (fd < 0)
                return -errno;
        } else if (lseek(fd, 0, SEEK_SET) != 0) {
            return -errno;
        }
        int error = read_through(state, fd);
        if (state->reopen && close(fd) < 0 && error == 0)
            error = -errno;
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

/* The sum of all that was read is that of what was written, once for each pass; and all of it came
 * from the page cache. */
static int verify(struct ps_run *run, enum ps_verify_when when) {
    struct state *state = ps_run_state(run);
    if (when == PS_VERIFY_BEFORE) {
        int error = batch(run, 0, 1);
        if (error < 0)
            return ps_run_end(run, PS_FAILED, -error, "the file can not be read back");
    }
    if (state->sum != (unsigned long)state->passes * state->file.sum)
        return ps_run_end(run, PS_FAILED, 0, "what was read is not what was written");
    return ps_cached_file_prove(&state->file, run);
}

const struct ps_bench ps_bench_mem_bw_file_rd = {
    .chapter = "mem",
    .table = "bw_file_rd",
    .title = "File reading bandwidth",
    .about =
        "read() of a file of 1 MB (10^6 bytes) that is in the page cache, in chunks of 64 KiB, "
        "each summed. io opens it once, open2close for every pass. The target's file system "
        "matters for the opening; its medium does not: a run proves that every page of the file "
        "was in memory before and after, and that nothing was read from a medium.",
    .region = "to the start of the file (or open), reads and sums to its end (and close)",
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
