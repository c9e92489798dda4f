/* SPDX-License-Identifier: MIT
 *
 * What a core's widest accesses reach: bandwidth of one thread in each level.
 *
 * Measured: bytes of the buffer passed over in a second by loads, fills and copies of one stated
 * width, by stores past the caches, and by the instructions that fill or copy a whole range. A byte
 * counts once, in a copy too. Not measured: what compiled code gets (mem.stream, mem.bw_mem), bytes
 * on the bus, more than one thread.
 */
#include "core/bench.h"
#include "kernels/limit_ops.h"
#include "kernels/mem_ops.h"

static const struct ps_metric metrics[] = {
    {
        .name = "bandwidth",
        .unit = PS_UNIT_MB_PER_S,
        .kind = PS_RATE,
        .counts = "buffer bytes, once",
        .better = PS_BETTER_HIGHER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        /* A byte: two full 64-byte accesses a cycle are 128, which these rows may really reach;
         * twice that no core does. */
        .floor_cycles = 1.0 / 256,
    },
};

struct size {
    const char *suffix;
    uint64_t bytes; /* of all buffers together */
    bool cache_resident;
    bool beyond_cache;
};

static const struct psk_limit_op *op_of(const struct ps_case *c) {
    const char *name = ps_case_text(c, "operation");
    size_t n = 0;
    const struct psk_limit_op *ops = psk_limit_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (name != NULL && ps_text_equal(name, ops[i].name))
            return &ops[i];
    return NULL;
}

/* ---- The cases ------------------------------------------------------------------------------ */

static enum ps_status probe(const struct ps_env *env, const char **ret_why) {
    size_t n = 0;
    (void)env;
    if (psk_limit_ops(&n) != NULL && n > 0)
        return PS_OK;
    *ret_why = "this build knows no vector registers here; mem.bw_mem has the scalar accesses";
    return PS_UNSUPPORTED;
}

static bool is_supported(const struct psk_limit_op *op) {
    return op->supported();
}

/* The rows that say something: past the caches and by whole ranges where a buffer is not in the
 * first level, 16 bytes and the widest in memory, which is slower than the widths between. */
static bool has_row(const struct psk_limit_op *op, const struct size *size, unsigned widest_bytes) {
    bool past_caches = ps_text_equal(op->name, "fill-nt") || ps_text_equal(op->name, "copy-nt");
    if (size->beyond_cache)
        return op->width_bytes <= 16 || op->width_bytes == widest_bytes;
    if (past_caches)
        return false;
    return op->width_bytes > 0 || !ps_text_equal(size->suffix, "l1half");
}

static void name_row(char *name, const char *prefix, const char *op, const char *suffix,
                     const char *metric) {
    struct ps_text text;
    ps_text_init(&text, name, 2 * PS_NAME_MAX);
    ps_text_add(&text, prefix);
    ps_text_add(&text, op);
    ps_text_add_char(&text, '-');
    ps_text_add(&text, suffix);
    ps_text_add(&text, metric);
}

static void add_case(const struct ps_env *env, struct ps_case_list *list,
                     const struct psk_limit_op *op, const struct size *size) {
    unsigned buffers = op->kind == PSK_LIMIT_COPY ? 2 : 1;
    uint64_t alignment = env->page_bytes > 0 ? env->page_bytes : PSK_LIMIT_BLOCK_BYTES;
    uint64_t bytes = size->bytes / buffers;
    char name[2 * PS_NAME_MAX];
    name_row(name, "", op->name, size->suffix, "");
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return;
    bytes -= bytes % PSK_LIMIT_BLOCK_BYTES;
    ps_case_param_text(c, "operation", op->name);
    ps_case_param(c, "size_bytes", (int64_t)bytes);
    if (op->width_bytes > 0)
        ps_case_param(c, "width_bytes", op->width_bytes);
    c->memory.bytes = buffers * ((bytes + alignment - 1) / alignment * alignment);
    c->memory.alignment_bytes = alignment;
    /* Filled once and checked twice, at some 1.6 GB/s. */
    c->predicted_ms = (unsigned)(c->memory.bytes / 1600000);
    if (size->cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    if (!is_supported(op)) {
        c->status = PS_UNSUPPORTED;
        c->reason = op->missing;
        return;
    }
    if (ps_text_equal(name, "load-16-l1half") || ps_text_equal(name, "load-pair-l1half"))
        c->tags |= PS_TAG_HEADLINE;
    if (size->beyond_cache &&
        (ps_text_equal(op->name, "copy-16") || ps_text_equal(op->name, "copy-pair"))) {
        name_row(name, "mem.limit/", ps_text_equal(op->name, "copy-16") ? "load-16" : "load-pair",
                 size->suffix, ":bandwidth");
        ps_case_relate(c, PS_ORDER_AT_MOST, "mem-06", "bandwidth", name, 1, 0.05,
                       "a copy can not outrun its own reading: the runs were disturbed");
    }
}

/* Half of the first two caches, and beyond all. A cache that is not known, or that is the same as
 * the one before, has no row. */
static size_t sizes_of(const struct ps_env *env, struct size *sizes) {
    static const char *const suffixes[] = {"l1half", "l2half"};
    const struct ps_cluster *cluster = env->cluster;
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    size_t n = 0;
    if (cluster == NULL)
        return 0;
    const uint64_t caches[] = {cluster->l1d_bytes, cluster->l2_bytes};
    for (size_t i = 0; i < 2; i++) {
        uint64_t bytes = caches[i] / 2;
        if (bytes >= 2 * (uint64_t)PSK_LIMIT_BLOCK_BYTES && bytes <= cap_bytes &&
            (n == 0 || bytes > sizes[n - 1].bytes))
            sizes[n++] = (struct size){.suffix = suffixes[i], .bytes = bytes};
    }
    if (cluster->last_level_bytes == 0)
        return n;
    struct size beyond = {.suffix = "4xllc", .beyond_cache = true};
    beyond.bytes = ps_env_beyond_cache_bytes(env, &beyond.cache_resident);
    if (beyond.bytes >= 2 * (uint64_t)PSK_LIMIT_BLOCK_BYTES &&
        (n == 0 || beyond.bytes > sizes[n - 1].bytes))
        sizes[n++] = beyond;
    return n;
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    struct size sizes[3];
    size_t n_sizes = sizes_of(env, sizes), n_ops = 0;
    const struct psk_limit_op *ops = psk_limit_ops(&n_ops);
    unsigned widest_bytes = 0;
    for (size_t i = 0; i < n_ops; i++)
        if (is_supported(&ops[i]) && ops[i].width_bytes > widest_bytes)
            widest_bytes = ops[i].width_bytes;
    for (size_t i = 0; i < n_ops; i++)
        for (size_t k = 0; k < n_sizes; k++)
            if (has_row(&ops[i], &sizes[k], widest_bytes))
                add_case(env, list, &ops[i], &sizes[k]);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    const struct psk_limit_op *op;
    uint32_t *to; /* the only buffer of an operation that has one */
    uint32_t *from;
    size_t size_bytes;
    uint32_t seed;   /* of `from`'s pattern; a copy's `to` has the next */
    uint32_t sum;    /* of all passes */
    uint64_t passes; /* so many */
};

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    const struct psk_limit_op *op = op_of(c);
    size_t size_bytes = (size_t)ps_case_value(c, "size_bytes", 0);
    size_t alignment = (size_t)c->memory.alignment_bytes;
    if (op == NULL || size_bytes < PSK_LIMIT_BLOCK_BYTES)
        return ps_run_end(run, PS_FAILED, 0, "the case names no known operation");
    bool copies = op->kind == PSK_LIMIT_COPY;
    uint32_t *to = ps_run_alloc(run, size_bytes, alignment);
    uint32_t *from = copies ? ps_run_alloc(run, size_bytes, alignment) : to;
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (to == NULL || from == NULL || state == NULL)
        return ps_run_end(run, PS_FAILED, 0,
                          "the buffers do not fit the memory that was asked for");
    *state = (struct state){op, to, from, size_bytes, (uint32_t)ps_run_seed(run), 0, 0};
    psk_mem_fill(to, size_bytes, state->seed + (copies ? 1 : 0));
    if (copies)
        psk_mem_fill(from, size_bytes, state->seed);
    ps_run_set_state(run, state);
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    uint32_t (*pass)(void *, const void *, size_t) = state->op->pass;
    uint32_t sum = state->sum;
    (void)segment;
    for (uint64_t i = 0; i < n; i++)
        sum += pass(state->to, state->from, state->size_bytes);
    state->sum = sum;
    state->passes += n;
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    (void)segment;
    return (uint64_t)ps_case_value(c, "size_bytes", 1);
}

/* The buffer word by word, and what all loads together must have come to. */
static int verify(struct ps_run *run, enum ps_verify_when when) {
    struct state *state = ps_run_state(run);
    uint32_t sum = 0;
    if (when == PS_VERIFY_BEFORE)
        batch(run, 0, 1);
    for (size_t i = 0; i < state->size_bytes / sizeof(uint32_t); i++) {
        /* After a copy `to` is what `from` was filled with. */
        uint32_t pattern = psk_mem_pattern(i, state->seed);
        uint32_t expected = state->op->kind == PSK_LIMIT_FILL ? state->op->stored : pattern;
        sum ^= pattern;
        if (state->to[i] != expected)
            return ps_run_end(
                run, PS_FAILED, 0,
                "the buffer does not hold what the passes must leave: memory or kernel is at "
                "fault");
    }
    if (state->op->kind == PSK_LIMIT_LOAD && state->sum != sum * (uint32_t)state->passes)
        return ps_run_end(run, PS_FAILED, 0,
                          "the sum of what was read is wrong: memory or kernel is at fault");
    return 0;
}

const struct ps_bench ps_bench_mem_limit = {
    .chapter = "mem",
    .table = "limit",
    .title = "Memory bandwidth by the widest accesses",
    .about =
        "Passes over a buffer by one thread, in assembly or vectors of a stated width in bytes "
        "(pair: two 16-byte registers at once). nt stores past the caches; rep and zva are the "
        "processor's own instructions for a range. Every byte counts once, copies too. l1half, "
        "l2half and 4xllc are what all buffers of a row take together.",
    .region = "whole passes over the buffer, upward, in blocks of 512 bytes",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .order = PS_INTERLEAVED,
    .probe = probe,
    .cases = cases,
    .setup = setup,
    .batch = batch,
    .units = units,
    .verify = verify,
};
