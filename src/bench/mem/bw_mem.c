/* SPDX-License-Identifier: MIT
 *
 * Memory bandwidth of one thread: nine operations over a buffer, by whole passes.
 *
 * Measured: bytes of the buffer passed over in a second. A pass counts the buffer once, whatever
 * the operation: a copy counts its source, not source and target; rd wr rdwr cp touch one word in
 * four and count all four. The four-byte operations count the whole 512-byte blocks that they walk,
 * bzero and bcopy all of the buffer. Not measured: bytes on the bus (write-allocate and write-back
 * are not counted), what vector code could reach, more than one thread.
 *
 * The operations, the counting and the five fixed sizes (10^6 bytes are "1mb") are those of the
 * bw_mem rows of vendors' LMBench tables; the code is not. Of those rows only the 16 MB ones and
 * bcopy's were published as measured: the others are means of two operations each.
 */
#include "core/bench.h"
#include "kernels/mem_ops.h"

struct operation {
    const char *name;
    uint32_t (*pass)(void *to, const void *from, size_t bytes);
    bool reads, writes; /* its sum proves the reading, the buffer the writing */
    bool two_buffers;   /* reads one and writes the other */
    unsigned word_step; /* of the words that are touched; a power of two */
    bool whole;         /* the buffer to its last byte, not whole blocks */
    uint32_t stored;    /* what is written, where it is not a copy */
};

/* The order of the published table. */
static const struct operation operations[] = {
    {"rd", psk_mem_rd, true, false, false, 4, false, 0},
    {"wr", psk_mem_wr, false, true, false, 4, false, PSK_MEM_STORED},
    {"rdwr", psk_mem_rdwr, true, true, false, 4, false, PSK_MEM_STORED},
    {"cp", psk_mem_cp, false, true, true, 4, false, 0},
    {"frd", psk_mem_frd, true, false, false, 1, false, 0},
    {"fwr", psk_mem_fwr, false, true, false, 1, false, PSK_MEM_STORED},
    {"fcp", psk_mem_fcp, false, true, true, 1, false, 0},
    {"bzero", psk_mem_bzero, false, true, false, 1, true, 0},
    {"bcopy", psk_mem_bcopy, false, true, true, 1, true, 0},
};
#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

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
        .depends = PS_DEPENDS_LIBC,
        /* A byte: 128 bytes a cycle is two full 64-byte accesses, and for the operations that touch
         * one word in four eight four-byte ones; no core does more. */
        .floor_cycles = 1.0 / 128,
    },
};

/* A size of the table: of all buffers of a case together when `from_machine`, else of each. */
struct size {
    const char *suffix;
    uint64_t bytes;
    bool from_machine;
    bool cache_resident;
    bool beyond_cache;
};

static const struct operation *operation_of(const struct ps_case *c) {
    const char *name = ps_case_text(c, "operation");
    for (size_t i = 0; i < N_OPERATIONS; i++)
        if (name != NULL && ps_text_equal(name, operations[i].name))
            return &operations[i];
    return NULL;
}

static uint64_t counted_bytes(const struct operation *operation, uint64_t size_bytes) {
    return operation->whole ? size_bytes : size_bytes - size_bytes % PSK_MEM_BLOCK_BYTES;
}

/* ---- The cases ------------------------------------------------------------------------------ */

static bool is_headline(const char *name, const struct size *size) {
    /* All at 16 MB; of the machine's sizes both readings beyond the caches, and the library's copy
     * in every level. */
    static const char *const picked[] = {
        "rd-l1half",   "rd-l2half",    "rd-4xllc",     "frd-l1half",    "frd-4xllc",  "fwr-4xllc",
        "bzero-4xllc", "bcopy-l1half", "bcopy-l2half", "bcopy-llchalf", "bcopy-4xllc"};
    if (ps_text_equal(size->suffix, "16mb") || ps_text_equal(size->suffix, "16kb"))
        return true;
    for (size_t i = 0; i < sizeof(picked) / sizeof(picked[0]); i++)
        if (ps_text_equal(picked[i], name))
            return true;
    return false;
}

static void publish(struct ps_case *c, const struct operation *operation, const struct size *size) {
    char row[PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, row, sizeof(row));
    ps_text_add(&text, "bw_mem-");
    ps_text_add(&text, operation->name);
    ps_text_add_char(&text, '-');
    ps_text_add(&text, size->suffix);
    if (operation->pass == psk_mem_bcopy || ps_text_equal(size->suffix, "16mb"))
        ps_case_publish(c, "bandwidth", "am62l", "lmbench", row, PS_COMPARABLE_YES, NULL);
    else
        ps_case_publish(c, "bandwidth", "am62l", "lmbench", row, PS_COMPARABLE_NO,
                        "the published mean mixes this operation with the next one");
}

/* Orders between operations on one size. All are declared only beyond the last cache: in a cache
 * other things than memory are the limit, and they are known not to hold. Those that set four times
 * as many single accesses beside the few need besides a memory that is slower than those accesses:
 * a server's is not. It has a large last-level cache, by which it is told. */
#define FAST_MEMORY_CACHE_BYTES (UINT64_C(4) << 20)
static const struct {
    const char *operation, *other;
    bool slow_memory_only;
    enum ps_relation_type type;
    double factor, tolerance;
    const char *cause;
} orders[] = {
    {"bzero", "wr", false, PS_ORDER_AT_LEAST, 1, 0.05,
     "the C library's memset is poor on this processor, or the runs were disturbed"},
    {"fwr", "wr", true, PS_ORDER_AT_LEAST, 1, 0.05,
     "whole lines are not gathered on their way to memory, or the runs were disturbed"},
    {"frd", "rd", true, PS_ORDER_AT_LEAST, 0.85, 0,
     "single loads are slower than the memory, or the runs were disturbed"},
    {"fcp", "cp", true, PS_ORDER_AT_LEAST, 1, 0.10,
     "single accesses are slower than the memory, or the runs were disturbed"},
    {"cp", "rd", false, PS_ORDER_AT_MOST, 1, 0.05,
     "a copy can not outrun its own reading: the runs were disturbed"},
    {"cp", "fwr", true, PS_ORDER_AT_MOST, 1, 0.05,
     "a copy of parts of lines can not outrun the writing of whole ones: the runs were disturbed"},
    {"rdwr", "rd", false, PS_ORDER_AT_MOST, 1, 0.15,
     "an update can not outrun its own reading: the runs were disturbed"},
    {"rdwr", "wr", false, PS_ORDER_AT_MOST, 1, 0.15,
     "an update can not outrun its own writing: the runs were disturbed"},
};

static void relate(struct ps_case *c, const struct ps_env *env, const struct operation *operation,
                   const struct size *size) {
    uint64_t last_level = env->cluster != NULL ? env->cluster->last_level_bytes : 0;
    bool slow_memory = last_level > 0 && last_level <= FAST_MEMORY_CACHE_BYTES;
    for (size_t i = 0; size->beyond_cache && i < sizeof(orders) / sizeof(orders[0]); i++) {
        char other[2 * PS_NAME_MAX];
        struct ps_text text;
        if (!ps_text_equal(orders[i].operation, operation->name) ||
            (orders[i].slow_memory_only && !slow_memory))
            continue;
        ps_text_init(&text, other, sizeof(other));
        ps_text_add(&text, "mem.bw_mem/");
        ps_text_add(&text, orders[i].other);
        ps_text_add_char(&text, '-');
        ps_text_add(&text, size->suffix);
        ps_text_add(&text, ":bandwidth");
        ps_case_relate(c, orders[i].type, "mem-06", "bandwidth", other, orders[i].factor,
                       orders[i].tolerance, orders[i].cause);
    }
}

/* What stands where a size does not fit; for footprints of 2^n MB. */
static const char *too_large(uint64_t footprint_bytes) {
    static const char *const reasons[] = {
        "needs 1 MB of memory, which is more than half of what is available",
        "needs 2 MB of memory, which is more than half of what is available",
        "needs 4 MB of memory, which is more than half of what is available",
        "needs 8 MB of memory, which is more than half of what is available",
        "needs 16 MB of memory, which is more than half of what is available",
        "needs 32 MB of memory, which is more than half of what is available",
    };
    size_t i = 0;
    if (footprint_bytes < 1000000)
        return "needs more memory than the board has to spare";
    while (i + 1 < sizeof(reasons) / sizeof(reasons[0]) &&
           footprint_bytes > (UINT64_C(1000000) << i))
        i++;
    return reasons[i];
}

static void add_case(const struct ps_env *env, struct ps_case_list *list,
                     const struct operation *operation, const struct size *size) {
    unsigned buffers = operation->two_buffers ? 2 : 1;
    uint64_t alignment = env->page_bytes > 0 ? env->page_bytes : PSK_MEM_BLOCK_BYTES;
    uint64_t bytes = size->bytes;
    char name[PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add(&text, operation->name);
    ps_text_add_char(&text, '-');
    ps_text_add(&text, size->suffix);
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return;
    if (size->from_machine) {
        bytes = bytes / buffers;
        bytes -= bytes % PSK_MEM_BLOCK_BYTES;
    }
    ps_case_param_text(c, "operation", operation->name);
    ps_case_param(c, "size_bytes", (int64_t)bytes);
    c->memory.bytes = buffers * ((bytes + alignment - 1) / alignment * alignment);
    c->memory.alignment_bytes = alignment;
    /* Filled once and checked twice, at some 1.6 GB/s. */
    c->predicted_ms = (unsigned)(c->memory.bytes / 1600000);
    if (is_headline(name, size))
        c->tags |= PS_TAG_HEADLINE;
    if (size->cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    relate(c, env, operation, size);
    if (size->from_machine)
        return;
    if (!ps_text_equal(size->suffix, "16kb"))
        publish(c, operation, size);
    if (buffers * bytes > env->published_cap_bytes) {
        c->status = PS_SKIPPED;
        c->reason = too_large(buffers * bytes);
    }
}

/* The published sizes, or the one that stands for them where there is less than 1 MB to use. */
static size_t fixed_sizes(const struct ps_env *env, struct size *sizes) {
    static const struct {
        const char *suffix;
        uint64_t bytes;
    } published[] = {
        {"1mb", 1000000}, {"2mb", 2000000}, {"4mb", 4000000}, {"8mb", 8000000}, {"16mb", 16000000}};
    uint64_t last_level = env->cluster != NULL ? env->cluster->last_level_bytes : 0;
    size_t n = 0;
    if (env->published_cap_bytes < 1000000) {
        sizes[n++] = (struct size){.suffix = "16kb", .bytes = 16000};
        return n;
    }
    for (; n < sizeof(published) / sizeof(published[0]); n++)
        sizes[n] = (struct size){
            .suffix = published[n].suffix,
            .bytes = published[n].bytes,
            /* Twice the last cache keeps almost none of a buffer that is walked in order. */
            .beyond_cache = last_level > 0 && published[n].bytes == 16000000 &&
                            published[n].bytes >= 2 * last_level};
    return n;
}

/* The machine's: half of each cache, and beyond them. A cache that is not known, or is the same as
 * the level before, has no row; neither has one of which half is beyond the cap. */
static size_t machine_sizes(const struct ps_env *env, struct size *sizes) {
    static const char *const suffixes[] = {"l1half", "l2half", "llchalf"};
    const struct ps_cluster *cluster = env->cluster;
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    size_t n = 0;
    if (cluster == NULL)
        return 0;
    const uint64_t caches[] = {cluster->l1d_bytes, cluster->l2_bytes, cluster->last_level_bytes};
    for (size_t i = 0; i < 3; i++) {
        uint64_t bytes = caches[i] / 2;
        if (bytes >= 2 * PSK_MEM_BLOCK_BYTES && bytes <= cap_bytes &&
            (n == 0 || bytes > sizes[n - 1].bytes))
            sizes[n++] = (struct size){.suffix = suffixes[i], .bytes = bytes, .from_machine = true};
    }
    if (cluster->last_level_bytes == 0)
        return n;
    struct size beyond = {.suffix = "4xllc", .from_machine = true};
    beyond.bytes = ps_env_beyond_cache_bytes(env, &beyond.cache_resident);
    beyond.beyond_cache = beyond.bytes / 2 >= 2 * cluster->last_level_bytes;
    if (beyond.bytes >= 2 * PSK_MEM_BLOCK_BYTES && (n == 0 || beyond.bytes > sizes[n - 1].bytes))
        sizes[n++] = beyond;
    return n;
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    struct size sizes[9];
    size_t n = fixed_sizes(env, sizes);
    struct size *from_machine = sizes + n;
    n += machine_sizes(env, from_machine);
    for (size_t i = 0; i < N_OPERATIONS; i++)
        for (size_t k = 0; k < n; k++)
            add_case(env, list, &operations[i], &sizes[k]);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    const struct operation *operation;
    uint32_t *to; /* the only buffer of an operation that has one */
    uint32_t *from;
    size_t size_bytes;
    uint32_t seed;   /* of `from`'s pattern; `to` has the next */
    uint32_t sum;    /* of all passes */
    uint64_t passes; /* so many */
};

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    const struct operation *operation = operation_of(c);
    size_t size_bytes = (size_t)ps_case_value(c, "size_bytes", 0);
    size_t alignment = (size_t)c->memory.alignment_bytes;
    if (operation == NULL || size_bytes < sizeof(uint32_t))
        return ps_run_end(run, PS_FAILED, 0, "the case names no known operation");
    uint32_t *to = ps_run_alloc(run, size_bytes, alignment);
    uint32_t *from = operation->two_buffers ? ps_run_alloc(run, size_bytes, alignment) : to;
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (to == NULL || from == NULL || state == NULL)
        return ps_run_end(run, PS_FAILED, 0,
                          "the buffers do not fit the memory that was asked for");
    *state = (struct state){operation, to, from, size_bytes, (uint32_t)ps_run_seed(run), 0, 0};
    psk_mem_fill(to, size_bytes, state->seed + (operation->two_buffers ? 1 : 0));
    if (operation->two_buffers)
        psk_mem_fill(from, size_bytes, state->seed);
    ps_run_set_state(run, state);
    return 0;
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    uint32_t (*pass)(void *, const void *, size_t) = state->operation->pass;
    uint32_t sum = state->sum;
    (void)segment;
    for (uint64_t i = 0; i < n; i++)
        sum += pass(state->to, state->from, state->size_bytes);
    state->sum = sum;
    state->passes += n;
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    const struct operation *operation = operation_of(c);
    (void)segment;
    return operation == NULL
               ? 1
               : counted_bytes(operation, (uint64_t)ps_case_value(c, "size_bytes", 0));
}

/* Sum that all passes must have come to: the first found the pattern, and so did the later ones
 * unless each stores something else in place. */
static uint32_t expected_sum(const struct state *state) {
    const struct operation *operation = state->operation;
    size_t n_words = (size_t)counted_bytes(operation, state->size_bytes) / sizeof(uint32_t);
    uint32_t pattern = 0, stored = 0;
    if (!operation->reads || state->passes == 0)
        return 0;
    for (size_t i = 0; i < n_words; i += operation->word_step) {
        pattern += psk_mem_pattern(i, state->seed);
        stored += operation->stored;
    }
    return pattern + (uint32_t)(state->passes - 1) * (operation->writes ? stored : pattern);
}

static bool contents_right(const struct state *state) {
    const struct operation *operation = state->operation;
    size_t n_words = state->size_bytes / sizeof(uint32_t);
    size_t n_walked = (size_t)counted_bytes(operation, state->size_bytes) / sizeof(uint32_t);
    uint32_t seed = state->seed + (operation->two_buffers ? 1 : 0);
    bool passed = operation->writes && state->passes > 0;
    for (size_t i = 0; i < n_words; i++) {
        uint32_t expected = psk_mem_pattern(i, seed);
        if (passed && i < n_walked && (i & (operation->word_step - 1)) == 0)
            expected = operation->two_buffers ? psk_mem_pattern(i, state->seed) : operation->stored;
        if (state->to[i] != expected)
            return false;
    }
    return true;
}

static int verify(struct ps_run *run, enum ps_verify_when when) {
    struct state *state = ps_run_state(run);
    if (when == PS_VERIFY_BEFORE)
        batch(run, 0, 1);
    if (state->sum != expected_sum(state))
        return ps_run_end(
            run, PS_FAILED, 0,
            "the sum of what was read is wrong: memory, compiler or kernel is at fault");
    if (!contents_right(state))
        return ps_run_end(
            run, PS_FAILED, 0,
            "the buffer does not hold what the passes must leave: memory, compiler or "
            "kernel is at fault");
    return 0;
}

const struct ps_bench ps_bench_mem_bw_mem = {
    .chapter = "mem",
    .table = "bw_mem",
    .title = "Memory bandwidth",
    .about =
        "Passes over a buffer by one thread. rd wr rdwr cp touch one four-byte word in four, frd "
        "fwr fcp every word, by single four-byte accesses; bzero and bcopy are the C library's "
        "memset and memmove. Every byte of the buffer counts once, copies too. 1 MB is 10^6 "
        "bytes; l1half, l2half, llchalf and 4xllc are what all buffers of a row take together.",
    .region = "whole passes over the buffer, upward, in blocks of 512 bytes",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .batch = batch,
    .units = units,
    .verify = verify,
};
