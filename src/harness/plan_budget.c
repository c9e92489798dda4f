/* SPDX-License-Identifier: MIT
 *
 * Runs and seconds. The numbers of runs are the design's: 3 in quick, 8 growing to 12 by default,
 * 12 growing to 20 in thorough; 5 where the footprint is over 32 MiB. A row that does not fit the
 * budget is dropped whole: rows outside the headline page first, and of these the last listed
 * first.
 */
#include "harness/plan_budget.h"

#include <errno.h>
#include <string.h>

#include "harness/plan_expand.h"

#define PS_MIB (UINT64_C(1) << 20)
#define PS_BIG_FOOTPRINT_BYTES (32 * PS_MIB)
#define PS_GOLDEN_RUNS 1

/* What a run costs beyond warm-up and window: fork, exec and the dynamic loader, witnesses, and the
 * calibration of the sample length. Measured over the product's tables, as all figures here. */
#define PS_RUN_OVERHEAD_MS 7.0
/* The clock is probed after each 1 ms sample: 12 us. */
#define PS_PROBE_FACTOR 1.015
/* Iterations of a baseline are those of its sample, and it is less work. */
#define PS_BASELINE_FACTOR 1.4
/* First touch of fresh pages, and the warm-up's passes over them. */
#define PS_TOUCH_BYTES_PER_MS (PS_MIB * 1.0)
/* Wake-ups: finding how many make 10 ms, and single ones for the histogram. */
#define PS_WAKE_CALIBRATE_MS 20.0
#define PS_WAKE_EVENT_MS 0.1
/* An event of a table that does not say how long its events take. */
#define PS_EVENT_MS 1.0
/* Start: environment and clock checks; end: results. */
#define PS_FIXED_S 1.0
/* Share of the room between planned and most runs that rows use on average, and replacements. */
#define PS_GROWTH_SHARE 0.4
#define PS_REPLACEMENT_FACTOR 1.10
/* Where a neighbour is on the core for a share of the time, windows wait for him, grow by what he
 * spoils, and runs are replaced: so much longer for each share. Measured on machines whose cores
 * were shared for 0 to 90 % of the time. */
#define PS_SHARED_FACTOR 0.7

#define PS_QUICK_S 60.0
#define PS_CHAPTER_S 600.0

static double quick_chapter_s(const char *chapter) {
    return strcmp(chapter, "crypto") == 0 ? 8.0 : 12.0;
}

static void set_runs(struct ps_plan_row *row, enum ps_depth depth, bool golden) {
    static const struct {
        unsigned planned, max;
    } runs[] = {
        [PS_DEPTH_QUICK] = {3, 3}, [PS_DEPTH_DEFAULT] = {8, 12}, [PS_DEPTH_THOROUGH] = {12, 20}};

    row->runs_planned = runs[depth].planned;
    row->runs_max = runs[depth].max;
    if (row->c.memory.bytes > PS_BIG_FOOTPRINT_BYTES && depth != PS_DEPTH_QUICK)
        row->runs_planned = row->runs_max = 5;
    if (golden)
        row->runs_planned = row->runs_max = PS_GOLDEN_RUNS;
}

/* Time of a batch table's samples: each segment fills the window, unless the number of passes is
 * fixed; then the case says in predicted_ms what they take. */
static double batch_ms(const struct ps_plan_row *row) {
    const struct ps_bench *bench = row->bench;
    unsigned segments = bench->n_segments ? bench->n_segments : 1;
    double window_ms = bench->passes ? 0 : (double)row->settings.window_ns / 1e6 * PS_PROBE_FACTOR;
    double ms = (double)row->settings.warm_up_ns / 1e6 +
                segments * window_ms * (bench->baseline ? PS_BASELINE_FACTOR : 1);
    if (row->bound == PS_BOUND_WAKE)
        ms += PS_WAKE_CALIBRATE_MS + row->settings.single_events * PS_WAKE_EVENT_MS;
    return ms;
}

static void predict(struct ps_plan_row *row) {
    double ms = PS_RUN_OVERHEAD_MS + row->c.predicted_ms;
    if (!row->c.memory.untouched)
        ms += (double)row->c.memory.bytes / PS_TOUCH_BYTES_PER_MS;
    if (!row->settings.verify_only && row->bench->batch)
        ms += batch_ms(row);
    else if (!row->settings.verify_only && row->c.predicted_ms == 0)
        ms += row->settings.events * PS_EVENT_MS;
    row->predicted_ms = (unsigned)(ms + 0.5);
}

double ps_plan_expected_runs(const struct ps_plan_row *row) {
    double growth = PS_GROWTH_SHARE * (row->runs_max - row->runs_planned);
    return (row->runs_planned + growth) * (row->settings.verify_only ? 1 : PS_REPLACEMENT_FACTOR);
}

static double row_s(const struct ps_plan_row *row) {
    return row->status == PS_OK ? ps_plan_expected_runs(row) * row->predicted_ms / 1e3 : 0;
}

static bool in_chapter(const struct ps_plan_row *row, const char *chapter) {
    return !chapter || strcmp(row->bench->chapter, chapter) == 0;
}

static double sum_s(const struct ps_plan *plan, const char *chapter) {
    double sum = 0;
    for (size_t i = 0; i < plan->n_rows; i++)
        if (in_chapter(&plan->rows[i], chapter))
            sum += row_s(&plan->rows[i]);
    return sum;
}

/* Drops rows of a chapter (NULL: of all) until the rest takes at most limit_s. */
static int drop(struct ps_plan *plan, const char *chapter, double limit_s) {
    double sum = sum_s(plan, chapter);
    if (sum <= limit_s)
        return 0;
    const char *reason =
        chapter
            ? ps_plan_format(plan,
                             "budget: the %.0f s of chapter %s are used up; --budget sets another",
                             limit_s, chapter)
            : ps_plan_format(plan, "budget: the %.0f s are used up; --budget sets another",
                             limit_s);
    if (!reason)
        return -ENOMEM;
    for (int headline = 0; headline <= 1; headline++) {
        for (size_t i = plan->n_rows; i-- > 0 && sum > limit_s;) {
            struct ps_plan_row *row = &plan->rows[i];
            if (row->status != PS_OK || !in_chapter(row, chapter) ||
                ((row->c.tags & PS_TAG_HEADLINE) != 0) != headline)
                continue;
            sum -= row_s(row);
            row->status = PS_SKIPPED;
            row->reason = reason;
            row->runs_planned = row->runs_max = 0;
        }
    }
    return 0;
}

static int drop_by_chapter(struct ps_plan *plan, bool quick) {
    for (size_t i = 0; i < plan->n_rows; i++) {
        const char *chapter = plan->rows[i].bench->chapter;
        bool first = i == 0 || strcmp(plan->rows[i - 1].bench->chapter, chapter) != 0;
        int error =
            first ? drop(plan, chapter, quick ? quick_chapter_s(chapter) : PS_CHAPTER_S) : 0;
        if (error)
            return error;
    }
    return 0;
}

int ps_plan_budget(const struct ps_plan_options *options, double core_shared,
                   struct ps_plan *plan) {
    bool quick = options->depth == PS_DEPTH_QUICK;
    for (size_t i = 0; i < plan->n_rows; i++) {
        struct ps_plan_row *row = &plan->rows[i];
        if (row->status == PS_OK && quick && !(row->c.tags & PS_TAG_HEADLINE)) {
            row->status = PS_SKIPPED;
            row->reason = "quick: not in the headline page";
        }
        if (row->status != PS_OK)
            continue;
        set_runs(row, options->depth, options->golden);
        predict(row);
    }

    int error = 0;
    if (options->budget_s == 0)
        error = drop_by_chapter(plan, quick);
    if (!error && options->budget_s)
        error = drop(plan, NULL, (double)options->budget_s - PS_FIXED_S);
    else if (!error && quick)
        error = drop(plan, NULL, PS_QUICK_S - PS_FIXED_S);
    if (error)
        return error;

    plan->n_run = 0;
    for (size_t i = 0; i < plan->n_rows; i++)
        plan->n_run += plan->rows[i].status == PS_OK;
    double slower = options->golden ? 1 : 1 + PS_SHARED_FACTOR * core_shared;
    plan->predicted_s = plan->n_run ? sum_s(plan, NULL) * slower + PS_FIXED_S : 0;
    if (options->budget_s && plan->predicted_s > options->budget_s)
        plan->predicted_s = options->budget_s;
    return 0;
}
