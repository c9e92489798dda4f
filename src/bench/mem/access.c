/* SPDX-License-Identifier: MIT
 *
 * Critical memory access latency: one read that nothing can go on without, from the CPU to each
 * memory of the system.
 *
 * Measured: time of a blocking read. memory-cached is the kernel's own memory through the caches,
 * by a random chase over 16 times the last of them: any board has that row. The other rows are the
 * board file's [endpoint NAME] sections (on-chip SRAM, a peripheral's registers), read without
 * caches through /dev/mem: 32-bit reads, 8192 a pass over at most 32 KiB, each address made of what
 * the read before returned. Nothing is ever written, only what the board file names is read, and
 * never what the kernel says is its memory. Not measured: what other cores (R5F, M4F, a DSP) see.
 */
#include "core/bench.h"
#include "kernels/chase_run.h"
#include "kernels/pointer_chase.h"
#include "kernels/word_reads.h"
#include "sys/physical_memory.h"

#define SPAN_BYTES UINT64_C(32768)
#define ENDPOINTS_MAX 32u

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one read that waits for the one before",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        .floor_cycles = 1,
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

/* No memory beyond the last cache is nearer than the second. */
static void relate_l2(const struct ps_env *env, struct ps_case *c) {
    const struct ps_cluster *cluster = env->cluster;
    char other[2 * PS_NAME_MAX];
    struct ps_text text;
    if (cluster == NULL || cluster->l2_bytes / 2 <= 2 * cluster->l1d_bytes)
        return;
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, "mem.lat_mem_rnd/l2half-");
    ps_text_add_u64(&text, env->page_bytes / 1024);
    ps_text_add(&text, "k:latency");
    ps_case_relate(c, PS_ORDER_AT_LEAST, "mem-17", "latency", other, 1, 0.05,
                   "no memory is nearer than the second cache: what was read was in a cache");
}

static void add_memory(const struct ps_env *env, struct ps_case_list *list) {
    bool huge = env->huge_page_bytes > 0, cache_resident = false;
    uint64_t line_bytes = 64, bytes = ps_env_beyond_cache_bytes(env, &cache_resident);
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    if (env->cluster != NULL && env->cluster->line_bytes >= 2 * sizeof(void *))
        line_bytes = env->cluster->line_bytes;
    if (env->cluster != NULL && env->cluster->last_level_bytes > 0) {
        uint64_t wish = 16 * env->cluster->last_level_bytes;
        bytes = wish < cap_bytes ? wish : cap_bytes;
    }
    uint64_t n_lines = bytes / line_bytes;
    struct ps_case *c = ps_case_add(list, "memory-cached");
    if (c == NULL)
        return;
    ps_case_param_text(c, "attribute", "cached");
    ps_case_param(c, "size_bytes", (int64_t)(n_lines * line_bytes));
    ps_case_param(c, "line_bytes", (int64_t)line_bytes);
    ps_case_param(c, "page_bytes", (int64_t)(huge ? env->huge_page_bytes : env->page_bytes));
    c->memory.pages = huge ? PS_PAGES_HUGE : PS_PAGES_BASE;
    c->memory.bytes = psk_chase_memory_bytes(n_lines, line_bytes);
    c->bound = PS_BOUND_MEMORY;
    c->predicted_ms = psk_chase_predicted_ms(n_lines);
    c->tags |= PS_TAG_HEADLINE;
    if (cache_resident)
        c->quality |= PS_Q_CACHE_RESIDENT;
    relate_l2(env, c);
}

/* A number as the board file has it, decimal or 0x..., which its reader has checked; false where
 * there is none, or it is beyond what a parameter holds. */
static bool parse_number(const char *text, uint64_t *ret_value) {
    uint64_t base = 10, value = 0;
    if (text == NULL)
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    for (; *text != '\0'; text++) {
        uint64_t digit = 99;
        if (*text >= '0' && *text <= '9')
            digit = (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            digit = (uint64_t)(*text - 'a') + 10;
        else if (*text >= 'A' && *text <= 'F')
            digit = (uint64_t)(*text - 'A') + 10;
        if (digit >= base || value > ((uint64_t)INT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *ret_value = value;
    return true;
}

static void refuse(struct ps_case *c, const char *reason) {
    c->status = PS_UNSUPPORTED;
    c->reason = reason;
}

static void add_endpoint(const struct ps_env *env, struct ps_case_list *list, const char *name) {
    char section[PS_NAME_MAX + 16], id[PS_NAME_MAX];
    struct ps_text text;
    uint64_t base = 0, length = 0, words = 1;
    ps_text_init(&text, section, sizeof(section));
    ps_text_add(&text, "endpoint ");
    ps_text_add(&text, name);
    ps_text_init(&text, id, sizeof(id));
    ps_text_add(&text, "endpoint-");
    ps_text_add(&text, name);
    struct ps_case *c = ps_case_add(list, id);
    if (c == NULL)
        return;
    const char *attribute = env->board_value(env, section, "attribute");
    bool numbers = parse_number(env->board_value(env, section, "base"), &base) &&
                   parse_number(env->board_value(env, section, "length"), &length);
    /* Whole words, as many as a power of two, of at most the span. */
    while (2 * words * sizeof(uint32_t) <= length && 2 * words * sizeof(uint32_t) <= SPAN_BYTES)
        words *= 2;
    ps_case_param_text(c, "attribute", "uncached");
    ps_case_param(c, "base_address", (int64_t)base);
    ps_case_param(c, "size_bytes", (int64_t)(words * sizeof(uint32_t)));
    c->bound = PS_BOUND_MEMORY;
    c->memory.bytes = 4096; /* its state */
    if (!numbers)
        refuse(c, "the board file gives the endpoint no base and length below 2^63");
    else if (length < sizeof(uint32_t) || base % sizeof(uint32_t) != 0)
        refuse(c, "the endpoint needs a base that is a multiple of 4, and 4 bytes at least");
    else if (attribute != NULL && !ps_text_equal(attribute, "uncached") &&
             !ps_text_equal(attribute, "device"))
        refuse(c, "endpoints are read without caches: attribute must be uncached or device");
    relate_l2(env, c);
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    add_memory(env, list);
    if (env->board_section == NULL || env->board_value == NULL)
        return 0;
    for (size_t i = 0; i < ENDPOINTS_MAX; i++) {
        const char *name = env->board_section(env, "endpoint", i);
        if (name == NULL)
            break;
        add_endpoint(env, list, name);
    }
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    bool cached;
    struct psk_chase chase;
    struct ps_physical_memory memory;
    uint32_t n_words, step, at;
    uint64_t passes;
};

static int setup_endpoint(struct ps_run *run, struct state *state) {
    const struct ps_case *c = ps_run_case(run);
    uint64_t bytes = (uint64_t)ps_case_value(c, "size_bytes", 0);
    int error = 0;
    const char *why = NULL;
    enum ps_status status = ps_physical_map("", (uint64_t)ps_case_value(c, "base_address", 0),
                                            bytes, &state->memory, &error, &why);
    if (status != PS_OK)
        return ps_run_end(run, status, error, why);
    state->n_words = (uint32_t)(bytes / sizeof(uint32_t));
    /* Some way round, and odd: all words come before one comes again. */
    state->step = (uint32_t)(((uint64_t)state->n_words * 5 / 8) | 1);
    return 0;
}

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    int64_t line_bytes = ps_case_value(c, "line_bytes", 0);
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return ps_run_end(run, PS_FAILED, 0, "there is no memory for its state");
    *state = (struct state){.cached = line_bytes > 0};
    ps_run_set_state(run, state);
    if (!state->cached)
        return setup_endpoint(run, state);
    const struct psk_chase_plan plan = {
        .order = PSK_CHASE_RANDOM,
        .n_lines = (size_t)(ps_case_value(c, "size_bytes", 0) / line_bytes),
        .line_bytes = (size_t)line_bytes};
    return psk_chase_make(run, &plan, 0, &state->chase);
}

static void teardown(struct ps_run *run) {
    struct state *state = ps_run_state(run);
    if (state != NULL)
        ps_physical_unmap(&state->memory);
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    if (state->cached) {
        psk_chase_go_on(&state->chase, n);
        return 0;
    }
    for (uint64_t pass = 0; pass < n; pass++)
        state->at = psk_word_reads(state->memory.words, state->n_words, state->step, state->at);
    state->passes += n;
    return 0;
}

static uint64_t units(const struct ps_case *c, unsigned segment) {
    (void)segment;
    return ps_case_value(c, "line_bytes", 0) > 0 ? PSK_CHASE_LOADS : PSK_WORD_READS;
}

static int verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    if (state->cached)
        return psk_chase_prove(run, &state->chase, when);
    /* What the words hold is nobody's to know; that each was read in its turn shows in where the
     * next one is. */
    uint32_t reads = (uint32_t)(state->passes * PSK_WORD_READS);
    return state->at == (reads * state->step & (state->n_words - 1))
               ? 0
               : ps_run_end(run, PS_FAILED, 0, "the reads did not go round the endpoint's words");
}

const struct ps_bench ps_bench_mem_access = {
    .chapter = "mem",
    .table = "access",
    .title = "Critical memory access latency",
    .about =
        "One blocking read from this CPU to each memory: the kernel's through the caches, by a "
        "random chase over 16 times the last of them, and the board file's [endpoint NAME] "
        "sections without caches, by 32-bit reads of at most 32 KiB.",
    .region = "dependent loads: 100 in a turn of the chase, 8192 in a pass over an endpoint",
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
