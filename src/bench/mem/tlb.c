/* SPDX-License-Identifier: MIT
 *
 * Translation of addresses: what a load takes longer because its page was not looked up lately.
 *
 * Measured: a random chase over n pages, one line in each, less a random chase over as many lines
 * that lie side by side. Both have the same lines in the caches; what differs is how many pages
 * they are on. Up to the reach of a translation look-aside buffer the difference is nothing (and
 * printed as an upper bound); its steps are the reach of each level, its height the cost of a
 * look-up in the next one or of a walk through the page tables. Not measured: pages that are not
 * there (that is os.lat_pagefault), walks by several cores. In a guest a walk is through two sets
 * of tables.
 *
 * The line of each page is one further on than that of the page before, so that they do not all
 * fall into one set of the first cache; one page in so many as it has lines is thereby left out.
 */
#include "core/bench.h"
#include "kernels/chase_run.h"

static const struct ps_metric metrics[] = {
    {
        .name = "translation",
        .unit = PS_UNIT_NS,
        .kind = PS_TIME,
        .counts = "one load of a page's only line, less one of lines side by side",
        .better = PS_BETTER_LOWER,
        .positive = false,
        .decimals = 2,
        .method = 1,
    },
};

static const struct ps_plot plots[] = {
    {
        .kind = PS_PLOT_LINE,
        .title = "Time of address translation by pages in use",
        .x = "pages",
        .y = "translation",
        .series = "page_bytes",
    },
};

/* ---- The cases ------------------------------------------------------------------------------ */

/* First-level buffers have 10 to 100 entries, second-level ones 500 to 4000. */
static const unsigned base_numbers[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768};
static const unsigned huge_numbers[] = {8, 32, 96};

static uint64_t line_bytes_of(const struct ps_env *env) {
    bool known = env->cluster != NULL && env->cluster->line_bytes >= 2 * sizeof(void *);
    return known ? env->cluster->line_bytes : 64;
}

static void add_case(const struct ps_env *env, struct ps_case_list *list, unsigned n_pages,
                     uint64_t page_bytes, const char *page_name) {
    uint64_t line_bytes = line_bytes_of(env), step_bytes = page_bytes + line_bytes;
    uint64_t cap_bytes = env->working_set_cap_bytes > 0 ? env->working_set_cap_bytes : UINT64_MAX;
    char name[PS_NAME_MAX];
    struct ps_text text;
    if (n_pages * step_bytes > cap_bytes)
        return;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add_u64(&text, n_pages);
    ps_text_add_char(&text, '-');
    ps_text_add(&text, page_name);
    struct ps_case *c = ps_case_add(list, name);
    if (c == NULL)
        return;
    ps_case_param(c, "pages", n_pages);
    ps_case_param(c, "page_bytes", (int64_t)page_bytes);
    ps_case_param(c, "line_bytes", (int64_t)line_bytes);
    c->memory.pages = page_bytes > env->page_bytes ? PS_PAGES_HUGE : PS_PAGES_BASE;
    c->memory.bytes =
        psk_chase_memory_bytes(n_pages, step_bytes) + psk_chase_memory_bytes(n_pages, line_bytes);
    if (n_pages == 8192)
        c->tags |= PS_TAG_HEADLINE;
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    char name[24];
    struct ps_text text;
    ps_text_init(&text, name, sizeof(name));
    ps_text_add_u64(&text, env->page_bytes / 1024);
    ps_text_add_char(&text, 'k');
    for (size_t i = 0; i < sizeof(base_numbers) / sizeof(base_numbers[0]); i++)
        add_case(env, list, base_numbers[i], env->page_bytes, name);
    for (size_t i = 0; env->huge_page_bytes > 0 && i < sizeof(huge_numbers) / sizeof(unsigned); i++)
        add_case(env, list, huge_numbers[i], env->huge_page_bytes, "huge");
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

struct state {
    struct psk_chase apart, together;
};

static int setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    size_t n_pages = (size_t)ps_case_value(c, "pages", 0);
    size_t line_bytes = (size_t)ps_case_value(c, "line_bytes", 0);
    size_t page_bytes = (size_t)ps_case_value(c, "page_bytes", 0);
    const struct psk_chase_plan apart = {
        .order = PSK_CHASE_RANDOM, .n_lines = n_pages, .line_bytes = page_bytes + line_bytes};
    const struct psk_chase_plan together = {
        .order = PSK_CHASE_RANDOM, .n_lines = n_pages, .line_bytes = line_bytes};
    struct state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return ps_run_end(run, PS_FAILED, 0, "there is no memory for its state");
    ps_run_set_state(run, state);
    int r = psk_chase_make(run, &apart, 0, &state->apart);
    return r < 0 ? r : psk_chase_make(run, &together, 1, &state->together);
}

static int batch(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    psk_chase_go_on(&state->apart, n);
    return 0;
}

static int baseline(struct ps_run *run, unsigned segment, uint64_t n) {
    struct state *state = ps_run_state(run);
    (void)segment;
    psk_chase_go_on(&state->together, n);
    return 0;
}

static int verify(struct ps_run *run, enum ps_verify_when when) {
    const struct state *state = ps_run_state(run);
    int r = psk_chase_prove(run, &state->apart, when);
    return r < 0 ? r : psk_chase_prove(run, &state->together, when);
}

const struct ps_bench ps_bench_mem_tlb = {
    .chapter = "mem",
    .table = "tlb",
    .title = "Address translation",
    .about = "What a load takes longer because it is on another of so many pages: a random chase "
             "over one line of each page, less one over as many lines side by side. Rows below the "
             "reach of the look-aside buffers are upper bounds; steps show their sizes and what a "
             "look-up in the next one, or a walk through the page tables, costs.",
    .region =
        "dependent loads, 100 in a turn of the loop; the baseline is the same loop over lines "
        "side by side",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .plots = plots,
    .n_plots = sizeof(plots) / sizeof(plots[0]),
    .order = PS_INTERLEAVED,
    .cases = cases,
    .setup = setup,
    .batch = batch,
    .baseline = baseline,
    .units = psk_chase_units,
    .verify = verify,
};
