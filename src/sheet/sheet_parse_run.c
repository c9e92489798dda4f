/* SPDX-License-Identifier: MIT
 *
 * Run records. They are the bulk of a sheet: samples go straight into arrays of doubles, and the
 * rest of the record is forgotten but for its witness.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/histogram.h"
#include "core/series.h"
#include "sheet/sheet_build.h"

static int refuse(const char **ret_what, const char *what) {
    *ret_what = what;
    return -EINVAL;
}

/* An array of `n` numbers, or any number when *n is 0. `null` is a number that was not known: 0
 * where that is allowed. */
static int take_numbers(struct ps_sheet *sheet, const struct ps_json *json, const char *key,
                        bool null_allowed, unsigned *n, const double **ret_numbers,
                        const char **ret_what) {
    const struct ps_json *list = ps_json_get(json, key);
    *ret_numbers = NULL;
    if (!list || list->type == PS_JSON_NULL)
        return 0;
    if (list->type != PS_JSON_ARRAY || (*n && list->n != *n))
        return refuse(ret_what, "arrays of one metric that differ in length");
    if (list->n > PS_SAMPLES_MAX)
        return refuse(ret_what, "more than 1000 samples in a run");
    if (list->n == 0)
        return 0;
    double *numbers = ps_sheet_alloc(sheet, list->n * sizeof(*numbers));
    if (!numbers)
        return -ENOMEM;
    size_t i = 0;
    for (const struct ps_json *item = list->u.first; item; item = item->next) {
        if (!ps_json_is_number(item) && !(null_allowed && item->type == PS_JSON_NULL))
            return refuse(ret_what, "a sample that is not a number");
        numbers[i++] = item->type == PS_JSON_NULL ? 0.0 : ps_json_double_of(item);
    }
    *n = (unsigned)list->n;
    *ret_numbers = numbers;
    return 0;
}

static int take_histogram(struct ps_sheet *sheet, const struct ps_json *json,
                          const struct ps_histogram **ret_histogram, const char **ret_what) {
    const struct ps_json *counts = ps_json_get(json, "counts");
    *ret_histogram = NULL;
    if (!json || json->type == PS_JSON_NULL)
        return 0;
    if (!counts || counts->type != PS_JSON_ARRAY ||
        ps_json_get_i64(json, "sub_bits", 0) != PS_HISTOGRAM_SUB_BITS ||
        ps_json_get_i64(json, "lo", 0) != 0)
        return refuse(ret_what, "a histogram of another make");
    struct ps_histogram *histogram = ps_sheet_alloc(sheet, sizeof(*histogram));
    if (!histogram)
        return -ENOMEM;
    ps_histogram_init(histogram);
    for (const struct ps_json *pair = counts->u.first; pair; pair = pair->next) {
        const struct ps_json *bucket =
            pair->type == PS_JSON_ARRAY && pair->n == 2 ? pair->u.first : NULL;
        const struct ps_json *count = bucket ? bucket->next : NULL;
        if (!count || bucket->type != PS_JSON_INTEGER || count->type != PS_JSON_INTEGER ||
            bucket->u.integer < 0 || bucket->u.integer >= PS_HISTOGRAM_BUCKETS ||
            count->u.integer < 0 ||
            count->u.integer > UINT32_MAX - histogram->counts[bucket->u.integer])
            return refuse(ret_what, "a histogram whose counts are not pairs of bucket and number");
        histogram->counts[bucket->u.integer] += (uint32_t)count->u.integer;
        histogram->n += (uint64_t)count->u.integer;
    }
    uint64_t over = ps_json_get_u64(json, "over", 0);
    if (over > UINT32_MAX)
        return refuse(ret_what, "a histogram with too many events beyond its end");
    histogram->over = over;
    histogram->n += over;
    histogram->min = ps_json_get_u64(json, "min", 0);
    histogram->max = ps_json_get_u64(json, "max", 0);
    *ret_histogram = histogram->n ? histogram : NULL;
    return 0;
}

static int take_series(struct ps_sheet *sheet, const struct ps_json *json,
                       struct ps_sheet_series *series, const char **ret_what) {
    unsigned n = 0;
    int error = take_numbers(sheet, json, "samples", false, &n, &series->samples, ret_what);
    series->n = n;
    if (!error && series->samples)
        error = take_numbers(sheet, json, "mhz", true, &n, &series->mhz, ret_what);
    if (!error && series->samples)
        error = take_numbers(sheet, json, "baseline", false, &n, &series->baseline, ret_what);
    if (!error && series->baseline)
        error =
            take_numbers(sheet, json, "baseline_mhz", true, &n, &series->baseline_mhz, ret_what);
    if (!error && series->samples)
        error = take_numbers(sheet, json, "issue", true, &n, &series->issue, ret_what);
    if (!error)
        error = take_histogram(sheet, ps_json_get(json, "hist"), &series->histogram, ret_what);
    if (error)
        return error;
    series->resolution = fmax(0.0, ps_json_get_double(json, "resolution", 0.0));
    series->n_events = ps_json_get_u64(json, "events", ps_json_get_u64(json, "n", series->n));
    series->metric = ps_sheet_strdup(sheet, json->key);
    return series->metric ? 0 : -ENOMEM;
}

/* A number that is not known is NAN. */
static double item_of(const struct ps_json *list, unsigned i) {
    const struct ps_json *item = list && list->type == PS_JSON_ARRAY ? list->u.first : NULL;
    while (item && i-- > 0)
        item = item->next;
    return ps_json_is_number(item) ? ps_json_double_of(item) : NAN;
}

static int take_all_series(struct ps_sheet *sheet, const struct ps_json *record,
                           struct ps_sheet_run *run, const char **ret_what) {
    const struct ps_json *metrics = ps_json_get(record, "metrics");
    if (!metrics || metrics->type != PS_JSON_OBJECT || metrics->n == 0)
        return 0;
    struct ps_sheet_series *series = ps_sheet_alloc(sheet, metrics->n * sizeof(*series));
    if (!series)
        return -ENOMEM;
    memset(series, 0, metrics->n * sizeof(*series));
    run->series = series;
    double full_issue = item_of(ps_json_get(ps_json_get(record, "witness"), "issue"), 3);
    for (const struct ps_json *item = metrics->u.first; item; item = item->next) {
        series[run->n_series].full_issue = full_issue > 0.0 ? full_issue : 0.0;
        int error = take_series(sheet, item, &series[run->n_series++], ret_what);
        if (error)
            return error;
    }
    return 0;
}

static int take_witness(struct ps_sheet *sheet, const struct ps_json *record,
                        struct ps_sheet_run *run) {
    const struct ps_json *witness = ps_json_get(record, "witness");
    const struct ps_json *mhz = ps_json_get(witness, "mhz"), *load = ps_json_get(record, "load");
    run->mhz_median = item_of(mhz, 0);
    run->mhz_min = item_of(mhz, 1);
    run->mhz_max = item_of(mhz, 2);
    run->throttled = ps_json_get_i64(witness, "throttled", -1);
    run->load_all_pct = ps_json_get_double(load, "all_pct", NAN);
    run->load_busiest_pct = ps_json_get_double(load, "busiest_pct", NAN);
    run->witness = ps_sheet_copy_json(sheet, witness);
    return witness && !run->witness ? -ENOMEM : 0;
}

int ps_sheet_take_run(struct ps_sheet *sheet, const struct ps_json *record, const char **ret_what) {
    struct ps_sheet_memory *memory = sheet->memory;
    const char *status = ps_json_get_string(record, "status", NULL);
    struct ps_sheet_run run = {.round = ps_sheet_unsigned(record, "round"),
                               .seq = ps_sheet_unsigned(record, "seq"),
                               .attempt = ps_sheet_unsigned(record, "attempt"),
                               .sheet_id = sheet->id,
                               .start_s = ps_json_get_double(record, "start_s", NAN)};
    if (!ps_sheet_take_string(sheet, record, "case", &run.case_id) ||
        !ps_sheet_take_string(sheet, record, "source", &run.source) ||
        !ps_sheet_take_string(sheet, record, "reason", &run.reason) ||
        !ps_sheet_take_string(sheet, record, "disturbed", &run.disturbed))
        return -ENOMEM;
    if (!run.case_id || !run.source)
        return refuse(ret_what, "a run without a case or a source");
    if (status && ps_status_from_name(status, &run.status) != 0)
        return refuse(ret_what, "a run whose status is not in the list");
    if (!ps_sheet_quality(record, &run.quality))
        return refuse(ret_what, "a run with an unknown quality mark");
    int error = take_witness(sheet, record, &run);
    if (!error)
        error = take_all_series(sheet, record, &run, ret_what);
    if (error)
        return error;
    struct ps_sheet_run *added =
        ps_sheet_grow((void **)&sheet->runs, sheet->n_runs, &memory->runs_max, sizeof(run));
    if (!added)
        return -ENOMEM;
    *added = run;
    sheet->n_runs++;
    return 0;
}
