/* SPDX-License-Identifier: MIT
 *
 * Memory latency at a constant stride: loads that depend on each other, from each line to the one
 * 128 bytes on, round and round a buffer.
 *
 * Measured: time from one load to the next, as the lat_mem_rd rows of vendors' LMBench tables have
 * it; the stride and the seven published sizes are theirs, the code is not. Those rows are named by
 * fractions of 2^20 bytes: "sz31k" is 0.03125 of it, 32 KiB. Not measured: what memory takes when
 * nothing is fetched ahead. A constant stride is what prefetchers are made for, and beyond the
 * caches these rows are several times faster than mem.lat_mem_rnd.
 *
 * That the loop has 100 load instructions belongs to the definition, as in the published rows: some
 * prefetchers tell strides apart by the instruction that loads. One load in a short loop was seen
 * three times as fast in the second cache as a hundred in turn.
 */
#include "core/bench.h"
#include "kernels/chase_run.h"

#define STRIDE_BYTES 128u
#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

/* Beyond the last private cache runs differ by so much: it depends on which physical pages a buffer
 * got, and on where prefetchers stop. */
#define FAR_SPREAD 0.20

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one load that waits for the one before, 128 bytes further on",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        /* An address must be loaded before it can be used: at least a cycle. */
        .floor_cycles = 1,
    },
};

static const struct ps_plot plots[] = {
    {
        .kind = PS_PLOT_LINE,
        .title = "Latency of strided loads by size",
        .x = "size_bytes",
        .y = "latency",
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

struct size {
    const char *name;
    uint64_t bytes;
    const char *published; /* the vendor's row of this size, or NULL */
    const char *alias;     /* his other name for it */
};

/* The seven published sizes, and of the others enough for a line. */
static const struct size sizes[] = {
    {"512b", 512, "lat_mem_rd-stride128-sz50", NULL},
    {"16kib", 16 * KIB, NULL, NULL},
    {"32kib", 32 * KIB, "lat_mem_rd-stride128-sz31k", NULL},
    {"64kib", 64 * KIB, "lat_mem_rd-stride128-sz62k", NULL},
    {"128kib", 128 * KIB, "lat_mem_rd-stride128-sz125k", NULL},
    {"256kib", 256 * KIB, "lat_mem_rd-stride128-sz250k", NULL},
    {"512kib", 512 * KIB, "lat_mem_rd-stride128-sz500k", "latency_for_0.50_mb_block_size"},
    {"1mib", 1 * MIB, "lat_mem_rd-stride128-sz1000k", "latency_for_1.00_mb_block_size"},
    {"4mib", 4 * MIB, NULL, NULL},
    {"16mib", 16 * MIB, NULL, NULL},
    {"64mib", 64 * MIB, NULL, NULL},
};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void publish(struct ps_case *c, const struct size *size) {
    if (size->published != NULL)
        ps_case_publish(c, "latency", "am62l", "lmbench", size->published, PS_COMPARABLE_YES, NULL);
    if (size->alias == NULL)
        return;
    /* The published mean of the 1 MiB alias is 4/9 of the row's that it repeats, its minimum 0. */
    if (size->bytes == 1 * MIB)
        ps_case_publish(c, "latency", "am62l", "lmbench", size->alias, PS_COMPARABLE_NO,
                        "the published mean counts zeros that are no measurements");
    else
        ps_case_publish(c, "latency", "am62l", "lmbench", size->alias, PS_COMPARABLE_YES, NULL);
}

/* "mem.lat_mem_rd/512kib:latency" */
static void relate(struct ps_case *c, enum ps_relation_type type, const char *rule,
                   const char *table, const char *name, double tolerance, const char *cause) {
    char other[2 * PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, table);
    ps_text_add_char(&text, '/');
    ps_text_add(&text, name);
    ps_text_add(&text, ":latency");
    ps_case_relate(c, type, rule, "latency", other, 1, tolerance, cause);
}

static bool is_far(const struct ps_env *env, uint64_t bytes) {
    return env->cluster != NULL && env->cluster->last_private_bytes > 0 &&
           bytes > env->cluster->last_private_bytes;
}

static struct ps_case *add_case(const struct ps_env *env, struct ps_case_list *list,
                                const struct size *size, const struct size *smaller) {
    uint64_t n_lines = size->bytes / STRIDE_BYTES;
    struct ps_case *c = ps_case_add(list, size->name);
    if (c == NULL)
        return NULL;
    ps_case_param(c, "size_bytes", (int64_t)(n_lines * STRIDE_BYTES));
    ps_case_param(c, "stride_bytes", STRIDE_BYTES);
    ps_case_param(c, "page_bytes", (int64_t)env->page_bytes);
    c->memory.pages = PS_PAGES_BASE;
    c->memory.bytes = psk_chase_memory_bytes(n_lines, STRIDE_BYTES);
    c->predicted_ms = psk_chase_predicted_ms(n_lines);
    publish(c, size);
    if (is_far(env, size->bytes))
        c->quality |= PS_Q_NOISY;
    if (smaller != NULL)
        relate(c, PS_ORDER_AT_LEAST, "mem-05", "mem.lat_mem_rd", smaller->name,
               is_far(env, size->bytes) ? FAR_SPREAD : 0.10,
               "a larger buffer can not be nearer: the smaller row was disturbed");
    return c;
}

/* The random rows of the same size and pages: "1mib-4k". */
static void relate_random(const struct ps_env *env, struct ps_case *c, const struct size *size) {
    char name[PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add(&text, size->name);
    ps_text_add_char(&text, '-');
    ps_text_add_u64(&text, env->page_bytes / 1024);
    ps_text_add_char(&text, 'k');
    relate(c, PS_ORDER_AT_MOST, "mem-05", "mem.lat_mem_rnd", name,
           is_far(env, size->bytes) ? FAR_SPREAD : 0.10,
           "a stride can not be slower than a random order: the runs were disturbed");
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    const struct size *smaller = NULL;
    for (size_t i = 0; i < N_SIZES; i++) {
        const struct size *size = &sizes[i];
        if (size->published == NULL && size->bytes > cap_bytes)
            continue;
        struct ps_case *c = add_case(env, list, size, smaller);
        smaller = size;
        if (c == NULL)
            continue;
        if (size->published != NULL && env->published_cap_bytes > 0 &&
            c->memory.bytes > env->published_cap_bytes) {
            c->status = PS_SKIPPED;
            c->reason = "needs more memory than half of what is available";
        }
        if (size->published != NULL || size->bytes == 64 * MIB)
            relate_random(env, c, size);
        if (i == 0)
            ps_case_relate(c, PS_WHOLE_CYCLES, "mem-05", "latency", "", 1, 0.10,
                           "a load of the first cache takes a whole number of cycles: the clock "
                           "that is assumed is not the one that ran");
        if (size->bytes == 1 * MIB)
            c->tags |= PS_TAG_HEADLINE;
    }
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    const struct psk_chase_plan plan = {.order = PSK_CHASE_FORWARD,
                                        .n_lines = (size_t)ps_case_value(c, "size_bytes", 0) /
                                                   STRIDE_BYTES,
                                        .line_bytes = STRIDE_BYTES};
    return psk_chase_setup(run, &plan);
}

const struct ps_bench ps_bench_mem_lat_mem_rd = {
    .chapter = "mem",
    .table = "lat_mem_rd",
    .title = "Memory latency, stride 128",
    .about = "One dependent load after another, each 128 bytes beyond the last, round a buffer, "
             "with base pages. Prefetchers follow such a stride: beyond the caches this is not the "
             "latency of memory, for which see lat_mem_rnd. The loop has 100 load "
             "instructions, as the published one; with fewer, prefetchers may do better. Rows "
             "beyond the last private cache differ by up to 20 % from run to run.",
    .region = "dependent loads, 100 in a turn of the loop, from where the last sample stopped",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .plots = plots,
    .n_plots = sizeof(plots) / sizeof(plots[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .batch = psk_chase_batch,
    .units = psk_chase_units,
    .verify = psk_chase_verify,
};
