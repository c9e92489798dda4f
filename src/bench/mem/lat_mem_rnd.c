/* SPDX-License-Identifier: MIT
 *
 * Memory latency: loads that depend on each other, in one random cycle over all lines of a buffer.
 *
 * Measured: time from one load to the next. Nothing can be fetched ahead, so each size shows the
 * level of the hierarchy that holds it, and with base pages the walks through the page tables too;
 * the rows with huge pages show the memory without most of them. Not measured: what prefetchers
 * make of a regular stride (that is another table), more than one miss at a time, other CPUs.
 *
 * Every line holds one pointer at its start. A sample goes on from where the last one stopped, from
 * a random line: it need not be a whole lap.
 */
#include "core/bench.h"
#include "kernels/chase_run.h"

/* Where the caches are not known this is beyond those of any board. */
#define FIXED_BYTES (UINT64_C(64) << 20)

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one load that waits for the one before",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        /* An address must be loaded before it can be used: at least a cycle. */
        .floor_cycles = 1,
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

struct size {
    const char *name;
    uint64_t bytes;
    bool cache_resident;
    bool headline;
};

#define SIZES_MAX 12

/* The sizes of the strided table that are published: the same on every board, with base pages. */
static const struct size fixed_sizes[] = {
    {.name = "512b", .bytes = 512},       {.name = "32kib", .bytes = 1 << 15},
    {.name = "64kib", .bytes = 1 << 16},  {.name = "128kib", .bytes = 1 << 17},
    {.name = "256kib", .bytes = 1 << 18}, {.name = "512kib", .bytes = 1 << 19},
    {.name = "1mib", .bytes = 1 << 20},
};
#define N_FIXED (sizeof(fixed_sizes) / sizeof(fixed_sizes[0]))

/* Keeps the sizes in order: one that is not beyond the last, or is beyond the cap, is left out. */
static size_t add_size(struct size *sizes, size_t n, uint64_t cap_bytes, struct size size) {
    if (size.bytes == 0 || size.bytes > cap_bytes || (n > 0 && size.bytes <= sizes[n - 1].bytes))
        return n;
    sizes[n] = size;
    return n + 1;
}

static size_t make_sizes(const struct ps_env *env, struct size *sizes) {
    const struct ps_cluster *cluster = env->cluster;
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    size_t n = 0;
    if (cluster != NULL) {
        static const char *const names[][3] = {
            {"l1half", "l1", "2xl1"}, {"l2half", "l2", "2xl2"}, {"llchalf", "llc", "2xllc"}};
        const uint64_t caches[] = {cluster->l1d_bytes, cluster->l2_bytes,
                                   cluster->last_level_bytes};
        for (size_t level = 0; level < 3; level++)
            for (unsigned power = 0; power < 3; power++)
                n = add_size(sizes, n, cap_bytes,
                             (struct size){.name = names[level][power],
                                           .bytes = (caches[level] << power) / 2,
                                           .headline = power == 0});
        if (cluster->last_level_bytes > 0) {
            struct size beyond = {.name = "4xllc", .headline = true};
            beyond.bytes = ps_env_beyond_cache_bytes(env, &beyond.cache_resident);
            n = add_size(sizes, n, cap_bytes, beyond);
        }
    }
    /* The same size on every board. In order it may come anywhere: put it where it belongs. */
    size_t at = n;
    while (at > 0 && sizes[at - 1].bytes >= FIXED_BYTES)
        at--;
    if (FIXED_BYTES <= cap_bytes && (at == n || sizes[at].bytes != FIXED_BYTES)) {
        for (size_t i = n; i > at; i--)
            sizes[i] = sizes[i - 1];
        sizes[at] = (struct size){.name = "64mib", .bytes = FIXED_BYTES, .headline = n == 0};
        if (cluster != NULL && cluster->last_level_bytes > 0)
            sizes[at].cache_resident = FIXED_BYTES < 4 * cluster->last_level_bytes;
        n++;
    }
    return n;
}

static void case_name(char *name, size_t bytes, const char *size, const char *pages) {
    struct ps_text text;
    ps_text_init(&text, name, bytes);
    ps_text_add(&text, size);
    ps_text_add_char(&text, '-');
    ps_text_add(&text, pages);
}

static void relate(struct ps_case *c, const char *size, const char *pages,
                   enum ps_relation_type type, double factor, double tolerance, const char *cause) {
    char name[PS_NAME_MAX], other[2 * PS_NAME_MAX];
    struct ps_text text;
    case_name(name, sizeof(name), size, pages);
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, "mem.lat_mem_rnd/");
    ps_text_add(&text, name);
    ps_text_add(&text, ":latency");
    ps_case_relate(c, type, "mem-05", "latency", other, factor, tolerance, cause);
}

/* The row, with what it is related to among those of its pages; NULL when memory ran out. */
static struct ps_case *add_case(const struct ps_env *env, struct ps_case_list *list,
                                const struct size *size, const struct size *smaller,
                                const char *base_name, bool huge) {
    const char *pages = huge ? "huge" : base_name;
    uint64_t line_bytes = 64;
    char name[PS_NAME_MAX];
    if (env->cluster != NULL && env->cluster->line_bytes >= 2 * sizeof(void *))
        line_bytes = env->cluster->line_bytes;
    uint64_t n_lines = size->bytes / line_bytes;
    case_name(name, sizeof(name), size->name, pages);
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return NULL;
    ps_case_param(c, "size_bytes", (int64_t)(n_lines * line_bytes));
    ps_case_param(c, "line_bytes", (int64_t)line_bytes);
    ps_case_param(c, "page_bytes", (int64_t)(huge ? env->huge_page_bytes : env->page_bytes));
    c->memory.pages = huge ? PS_PAGES_HUGE : PS_PAGES_BASE;
    c->memory.bytes = psk_chase_memory_bytes(n_lines, line_bytes);
    c->predicted_ms = psk_chase_predicted_ms(n_lines);
    if (size->headline && (!huge || size->bytes >= FIXED_BYTES))
        c->tags |= PS_TAG_HEADLINE;
    if (size->cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    if (smaller != NULL)
        relate(
            c, smaller->name, pages, PS_ORDER_AT_LEAST, 1, 0.10,
            "a larger buffer can not be nearer: the smaller row was disturbed, or cache sizes are "
            "reported wrongly");
    if (!huge)
        return c;
    relate(c, size->name, base_name, PS_ORDER_AT_MOST, 1, 0.10,
           "fewer page-table walks can not cost more: a run was disturbed, or the huge pages were "
           "not granted");
    if (env->huge_page_bytes == 0) {
        c->status = PS_UNSUPPORTED;
        c->reason = "the kernel has no transparent huge pages: it needs "
                    "CONFIG_TRANSPARENT_HUGEPAGE, and madvise or always in "
                    "/sys/kernel/mm/transparent_hugepage/enabled";
    }
    return c;
}

/* The largest row once more, one page after another: each page is looked up once for all of its
 * lines, so what is left is the memory's own latency, without huge pages too. */
static void add_by_page(const struct ps_env *env, struct ps_case_list *list,
                        const struct size *size, const char *base_name) {
    char name[PS_NAME_MAX];
    struct ps_text text;
    struct size whole_pages = *size;
    whole_pages.headline = false;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add(&text, size->name);
    ps_text_add(&text, "-by-page");
    whole_pages.name = name;
    whole_pages.bytes -= whole_pages.bytes % env->page_bytes;
    struct ps_case *c = add_case(env, list, &whole_pages, NULL, base_name, false);
    if (c == NULL)
        return;
    ps_case_param_text(c, "order", "by-page");
    relate(c, size->name, base_name, PS_ORDER_AT_MOST, 1, 0.10,
           "fewer page-table walks can not cost more: a run was disturbed");
}

/* What must hold of a row of the machine's sizes besides. */
static void relate_levels(struct ps_case *c, const struct size *size, bool has_l2,
                          const char *pages) {
    if (c == NULL)
        return;
    if (ps_text_equal(size->name, "l1half"))
        ps_case_relate(c, PS_WHOLE_CYCLES, "mem-05", "latency", "", 1, 0.10,
                       "a load of the first cache takes a whole number of cycles: the clock that "
                       "is assumed is not the one that ran");
    if (ps_text_equal(size->name, "4xllc") && has_l2 && !size->cache_resident)
        relate(c, "l2half", pages, PS_ORDER_AT_LEAST, 5, 0,
               "memory is never so near: cache sizes are reported wrongly, or an optimisation "
               "follows the chase");
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    struct size sizes[SIZES_MAX];
    size_t n = make_sizes(env, sizes);
    /* "4k"; a kernel with larger base pages has other rows, as their walks are others. */
    char base_name[24];
    struct ps_text text;
    ps_text_init(&text, base_name, sizeof(base_name));
    ps_text_add_u64(&text, env->page_bytes / 1024);
    ps_text_add_char(&text, 'k');
    bool has_l2 = false;
    for (unsigned huge = 0; huge < 2; huge++)
        for (size_t i = 0; i < n; i++) {
            struct ps_case *c =
                add_case(env, list, &sizes[i], i > 0 ? &sizes[i - 1] : NULL, base_name, huge == 1);
            has_l2 = has_l2 || ps_text_equal(sizes[i].name, "l2half");
            relate_levels(c, &sizes[i], has_l2, huge == 1 ? "huge" : base_name);
        }
    if (n > 0 && env->page_bytes > 0 && sizes[n - 1].bytes >= env->page_bytes)
        add_by_page(env, list, &sizes[n - 1], base_name);
    const struct size *smaller = NULL;
    for (size_t i = 0; i < N_FIXED; i++) {
        if (env->working_set_cap_bytes > 0 && fixed_sizes[i].bytes > env->working_set_cap_bytes)
            break;
        add_case(env, list, &fixed_sizes[i], smaller, base_name, false);
        smaller = &fixed_sizes[i];
    }
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    size_t line_bytes = (size_t)ps_case_value(c, "line_bytes", 0);
    size_t size_bytes = (size_t)ps_case_value(c, "size_bytes", 0);
    const struct psk_chase_plan plan = {
        .order = ps_case_text(c, "order") != NULL ? PSK_CHASE_BY_PAGE : PSK_CHASE_RANDOM,
        .n_lines = line_bytes > 0 ? size_bytes / line_bytes : 0,
        .line_bytes = line_bytes,
        .page_bytes = (size_t)ps_case_value(c, "page_bytes", 0)};
    return psk_chase_setup(run, &plan);
}

const struct ps_bench ps_bench_mem_lat_mem_rnd = {
    .chapter = "mem",
    .table = "lat_mem_rnd",
    .title = "Memory latency, random",
    .about =
        "One dependent load after another, in a random cycle over all lines of a buffer, with "
        "base pages and with huge pages. l1, l2, llc are the caches of the CPU that runs; "
        "half, 2x and 4x of them are sizes of the buffer; -by-page goes through one page after "
        "another, so that each is looked up once. No prefetcher helps: strided rows "
        "of the same size are faster by what theirs is worth.",
    .region = "dependent loads, 100 in a turn of the loop, from where the last sample stopped",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .batch = psk_chase_batch,
    .units = psk_chase_units,
    .verify = psk_chase_verify,
};
