/* SPDX-License-Identifier: MIT
 *
 * Runs to results, case by case: who failed, which clock to set core-bound rows to, and one result
 * per metric.
 */
#include "sheet/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/result_row.h"
#include "sheet/row_runs.h"
#include "stats/summary.h"

/* ---- Runs of a case ------------------------------------------------------------------------- */

struct run_index {
    const struct ps_sheet_run **runs; /* by case, in the order of the sheet */
    size_t *first;                    /* of case i; first[n_cases] is the end */
    size_t most;                      /* runs of one case */
};

static int compare_ids(unsigned sheet_a, const char *source_a, const char *id_a, unsigned sheet_b,
                       const char *source_b, const char *id_b) {
    if (sheet_a != sheet_b)
        return sheet_a < sheet_b ? -1 : 1;
    int order = strcmp(source_a, source_b);
    return order ? order : strcmp(id_a, id_b);
}

static int compare_cases(const void *a, const void *b) {
    const struct ps_sheet_case *x = *(const struct ps_sheet_case *const *)a;
    const struct ps_sheet_case *y = *(const struct ps_sheet_case *const *)b;
    return compare_ids(x->sheet, x->source, x->id, y->sheet, y->source, y->id);
}

static int compare_run_to_case(const void *key, const void *element) {
    const struct ps_sheet_run *run = key;
    const struct ps_sheet_case *c = *(const struct ps_sheet_case *const *)element;
    return compare_ids(run->sheet, run->source, run->case_id, c->sheet, c->source, c->id);
}

static void run_index_done(struct run_index *index) {
    free(index->runs);
    free(index->first);
    *index = (struct run_index){0};
}

struct entry {
    size_t c; /* index of its case */
    const struct ps_sheet_run *run;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->c != y->c)
        return x->c < y->c ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Finds the case of each run; runs of cases that were never declared say nothing without a unit and
 * are left out. Returns how many entries there are. */
static size_t find_cases(const struct ps_sheet *sheet, const struct ps_sheet_case **order,
                         struct entry *entries) {
    size_t n = 0;
    for (size_t i = 0; i < sheet->n_cases; i++)
        order[i] = &sheet->cases[i];
    qsort(order, sheet->n_cases, sizeof(*order), compare_cases);
    for (size_t i = 0; i < sheet->n_runs; i++) {
        const struct ps_sheet_run *run = &sheet->runs[i];
        const struct ps_sheet_case *const *found =
            bsearch(run, order, sheet->n_cases, sizeof(*order), compare_run_to_case);
        if (found)
            entries[n++] = (struct entry){(size_t)(*found - sheet->cases), run};
    }
    qsort(entries, n, sizeof(*entries), compare_entries);
    return n;
}

static int run_index_init(struct run_index *index, const struct ps_sheet *sheet) {
    *index = (struct run_index){.runs = calloc(sheet->n_runs + 1, sizeof(*index->runs)),
                                .first = calloc(sheet->n_cases + 1, sizeof(*index->first))};
    const struct ps_sheet_case **order = calloc(sheet->n_cases + 1, sizeof(*order));
    struct entry *entries = calloc(sheet->n_runs + 1, sizeof(*entries));
    int error = -ENOMEM;
    if (!index->runs || !index->first || !order || !entries)
        goto out;
    size_t n = find_cases(sheet, order, entries), at = 0;
    for (size_t c = 0; c < sheet->n_cases; c++) {
        index->first[c] = at;
        for (; at < n && entries[at].c == c; at++)
            index->runs[at] = entries[at].run;
        if (at - index->first[c] > index->most)
            index->most = at - index->first[c];
    }
    index->first[sheet->n_cases] = at;
    error = 0;
out:
    free(order);
    free(entries);
    if (error)
        run_index_done(index);
    return error;
}

/* ---- Clocks --------------------------------------------------------------------------------- */

/* Clocks that were found from runs, for sources that state none. */
#define CLOCKS_MAX 64

struct found_clock {
    unsigned sheet;
    const char *source;
    int cluster;
    double mhz;
};

struct clocks {
    struct found_clock found[CLOCKS_MAX];
    unsigned n;
    double *scratch; /* for as many as there are runs */
};

static const struct ps_sheet_source *source_of(const struct ps_sheet *sheet,
                                               const struct ps_sheet_case *c) {
    for (size_t i = 0; i < sheet->n_sources; i++)
        if (sheet->sources[i].sheet == c->sheet && strcmp(sheet->sources[i].id, c->source) == 0)
            return &sheet->sources[i];
    return NULL;
}

/* What the source states for the case's cluster; one cluster needs no number. 0: nothing. */
static double stated_mhz(const struct ps_sheet_source *source, const struct ps_sheet_case *c) {
    const struct ps_json *clusters = ps_json_get(source->json, "reference_mhz");
    char key[16];
    snprintf(key, sizeof(key), "%d", c->cluster >= 0 ? c->cluster : 0);
    const struct ps_json *mhz = ps_json_get(clusters, key);
    if (!mhz && clusters && clusters->type == PS_JSON_OBJECT && clusters->n == 1)
        mhz = clusters->u.first;
    return ps_json_is_number(mhz) ? ps_json_double_of(mhz) : 0.0;
}

/* The median clock of the undisturbed runs on the case's cluster. */
static double median_mhz(const struct ps_sheet *sheet, const struct run_index *index,
                         const struct ps_sheet_case *c, double *clocks) {
    size_t n = 0;
    for (size_t i = 0; i < sheet->n_cases; i++) {
        const struct ps_sheet_case *other = &sheet->cases[i];
        if (other->sheet != c->sheet || other->cluster != c->cluster ||
            strcmp(other->source, c->source) != 0)
            continue;
        for (size_t j = index->first[i]; j < index->first[i + 1]; j++)
            if (!index->runs[j]->disturbed && index->runs[j]->mhz_median > 0.0)
                clocks[n++] = index->runs[j]->mhz_median;
    }
    return n ? ps_median(clocks, n) : 0.0;
}

static double found_mhz(const struct ps_sheet *sheet, const struct run_index *index,
                        struct clocks *clocks, const struct ps_sheet_case *c) {
    for (unsigned i = 0; i < clocks->n; i++) {
        const struct found_clock *found = &clocks->found[i];
        if (found->sheet == c->sheet && found->cluster == c->cluster &&
            strcmp(found->source, c->source) == 0)
            return found->mhz;
    }
    if (clocks->n == CLOCKS_MAX)
        return 0.0;
    double mhz = median_mhz(sheet, index, c, clocks->scratch);
    clocks->found[clocks->n++] = (struct found_clock){c->sheet, c->source, c->cluster, mhz};
    return mhz;
}

static struct ps_row_clock clock_of(const struct ps_sheet *sheet, const struct run_index *index,
                                    struct clocks *clocks, const struct ps_sheet_case *c) {
    const struct ps_sheet_source *source = source_of(sheet, c);
    struct ps_row_clock clock = {0};
    if (source && source->kind && strcmp(source->kind, "mcu") == 0 && source->hz > 0.0) {
        clock.fixed_mhz = source->hz / 1e6;
        return clock;
    }
    clock.reference_mhz = source ? stated_mhz(source, c) : 0.0;
    if (!(clock.reference_mhz > 0.0))
        clock.reference_mhz = found_mhz(sheet, index, clocks, c);
    return clock;
}

/* ---- Status --------------------------------------------------------------------------------- */

static unsigned severity(enum ps_status status) {
    static const unsigned char severities[PS_N_STATUS] = {
        [PS_SKIPPED] = 1, [PS_UNSUPPORTED] = 2, [PS_DENIED] = 3, [PS_ABORTED] = 4,
        [PS_TIMEOUT] = 5, [PS_FAILED] = 6,      [PS_UNSAFE] = 7,
    };
    return severities[status];
}

/* Runs that are enough for a value when others were ended from outside. */
#define GOOD_RUNS_MIN 3
#define GOOD_RUNS_MIN_QUICK 2

static bool enough_are_good(const struct ps_sheet *sheet, const struct ps_sheet_run *const *runs,
                            size_t n) {
    const char *depth = ps_json_get_string(ps_json_get(sheet->header, "plan"), "depth", "");
    size_t good = 0, wanted = strcmp(depth, "quick") == 0 ? GOOD_RUNS_MIN_QUICK : GOOD_RUNS_MIN;
    for (size_t i = 0; i < n; i++)
        good += runs[i]->status == PS_OK && runs[i]->n_series > 0;
    return good >= wanted;
}

/* A number that sometimes fails can not be believed: the worst run's status is the case's. A run
 * that was aborted did not fail. */
static enum ps_status case_status(const struct ps_sheet *sheet, const struct ps_sheet_case *c,
                                  const struct ps_sheet_run *const *runs, size_t n,
                                  const char **ret_reason) {
    enum ps_status status = PS_OK;
    bool good = enough_are_good(sheet, runs, n);
    for (size_t i = 0; i < n; i++) {
        if (good && runs[i]->status == PS_ABORTED)
            continue;
        if (severity(runs[i]->status) <= severity(status))
            continue;
        status = runs[i]->status;
        *ret_reason = runs[i]->reason ? runs[i]->reason : "A run of it ended without a reason.";
    }
    if (n > 0)
        return status;
    if (severity(c->status) > 0) {
        *ret_reason = c->reason ? c->reason : "It was not to run.";
        return c->status;
    }
    *ret_reason = sheet->incomplete ? "It was not measured: the sheet is incomplete."
                                    : "It was not measured: the run ended before its turn.";
    return PS_ABORTED;
}

/* ---- Results -------------------------------------------------------------------------------- */

static const char *result_id(struct ps_sheet *sheet, const struct ps_sheet_case *c,
                             const struct ps_sheet_metric *metric) {
    size_t bytes = strlen(c->id) + 1 + strlen(metric->name) + 1;
    char *id = ps_sheet_alloc(sheet, bytes);
    if (id)
        snprintf(id, bytes, "%s:%s", c->id, metric->name);
    return id;
}

static int build_case(struct ps_sheet *sheet, const struct ps_sheet_case *c, struct ps_row *row,
                      const struct ps_sheet_run *const *runs, size_t n,
                      const struct ps_row_clock *clock) {
    const struct ps_sheet_source *source = source_of(sheet, c);
    const char *reason = NULL;
    enum ps_status status = case_status(sheet, c, runs, n, &reason);
    for (unsigned m = 0; m < c->n_metrics; m++) {
        struct ps_result *result = &sheet->results[sheet->n_results++];
        ps_result_init(result, c, &c->metrics[m]);
        result->id = result_id(sheet, c, &c->metrics[m]);
        if (!result->id)
            return -ENOMEM;
        result->status = status;
        result->reason = reason;
        result->quality = c->quality;
        if (source && source->emulated)
            result->quality |= PS_Q_EMULATED;
        if (status == PS_OK) {
            int error = ps_result_take(sheet, result, row, runs, n, clock);
            if (error)
                return error;
        }
    }
    return 0;
}

int ps_results_build(struct ps_sheet *sheet) {
    size_t n_results = 0;
    for (size_t i = 0; i < sheet->n_cases; i++)
        n_results += sheet->cases[i].n_metrics;
    free(sheet->results);
    sheet->n_results = 0;
    sheet->results = calloc(n_results + 1, sizeof(*sheet->results));
    struct run_index index = {0};
    struct clocks *clocks = calloc(1, sizeof(*clocks));
    struct ps_row row = {0};
    int error = -ENOMEM;
    if (!sheet->results || !clocks ||
        !(clocks->scratch = calloc(sheet->n_runs + 1, sizeof(*clocks->scratch))))
        goto out;
    error = run_index_init(&index, sheet);
    if (!error)
        error = ps_row_init(&row, index.most);
    for (size_t i = 0; i < sheet->n_cases && !error; i++) {
        const struct ps_sheet_case *c = &sheet->cases[i];
        struct ps_row_clock clock = clock_of(sheet, &index, clocks, c);
        error = build_case(sheet, c, &row, index.runs + index.first[i],
                           index.first[i + 1] - index.first[i], &clock);
    }
out:
    ps_row_done(&row);
    run_index_done(&index);
    if (clocks)
        free(clocks->scratch);
    free(clocks);
    return error;
}
