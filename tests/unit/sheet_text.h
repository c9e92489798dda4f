/* SPDX-License-Identifier: MIT
 *
 * Sheets as text for the tests of the reader and of results: a growing buffer, and the records in
 * their shortest form.
 */
#ifndef PS_TESTS_UNIT_SHEET_TEXT_H
#define PS_TESTS_UNIT_SHEET_TEXT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/doubles.h"

#include "sheet/results.h"

struct sheet_text {
    char data[1 << 20];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static inline void put(struct sheet_text *text,
                                                             const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(text->data + text->length, sizeof(text->data) - text->length, format, arguments);
    va_end(arguments);
    assert_true(written >= 0 && (size_t)written < sizeof(text->data) - text->length);
    text->length += (size_t)written;
}

/* Header and a source; `more` is e.g. ",\"reference_mhz\":{\"0\":2000}". */
static inline struct sheet_text *sheet_text_new(const char *more) {
    struct sheet_text *text = calloc(1, sizeof(*text));
    assert_non_null(text);
    put(text,
        "{\"type\":\"sheet\",\"format\":1,\"id\":\"s\",\"started\":\"2026-01-31T09:30:00Z\"}\n");
    put(text, "{\"type\":\"source\",\"id\":\"linux\",\"kind\":\"linux\"%s}\n", more);
    return text;
}

/* A case of table t.t with the metrics as given: "name unit kind bound[ more JSON]" one by one
 * through put_metric between put_case and end_case. `more` is more of the case's members. */
static inline void put_case(struct sheet_text *text, const char *name, const char *place,
                            const char *more) {
    put(text,
        "{\"type\":\"case\",\"id\":\"t.t/%s\",\"source\":\"linux\",\"table\":\"t.t\",\"name\":"
        "\"%s\",\"params\":{\"size_bytes\":4096},\"place\":{%s},\"runs_planned\":3,\"quality\":[]%"
        "s,"
        "\"metrics\":[",
        name, name, place, more);
}

static inline void put_metric(struct sheet_text *text, const char *name, const char *unit,
                              const char *kind, const char *bound, const char *more) {
    put(text,
        "%s{\"name\":\"%s\",\"unit\":\"%s\",\"kind\":\"%s\",\"counts\":\"one\",\"better\":"
        "\"%s\",\"bound\":\"%s\",\"decimals\":2,\"method\":1%s}",
        text->data[text->length - 1] == '[' ? "" : ",", name, unit, kind,
        strcmp(kind, "rate") == 0 ? "higher" : "lower", bound, more);
}

static inline void end_case(struct sheet_text *text, const char *relations) {
    put(text, "],\"relations\":[%s],\"published\":[]}\n", relations);
}

/* A whole case of one metric. */
static inline void put_row(struct sheet_text *text, const char *name, const char *unit,
                           const char *kind, const char *bound, const char *relations) {
    put_case(text, name, "", "");
    put_metric(text, "m", unit, kind, bound, "");
    end_case(text, relations);
}

/* The beginning of a run up to its metrics, which the caller puts, and closes by "}}\n". */
static inline void begin_run(struct sheet_text *text, const char *name, double mhz,
                             const char *more) {
    char clock[32] = "null";
    if (mhz > 0)
        snprintf(clock, sizeof(clock), "%.6g", mhz);
    put(text,
        "{\"type\":\"run\",\"case\":\"t.t/%s\",\"source\":\"linux\",\"round\":1,\"seq\":1,"
        "\"attempt\":1,\"start_s\":0.5,\"status\":\"ok\",\"quality\":[],\"witness\":{\"mhz\":[%s,"
        "null,null],\"throttled\":null}%s,\"metrics\":{",
        name, clock, more);
}

/* n equal numbers under a key. */
static inline void put_array(struct sheet_text *text, const char *key, double value, unsigned n) {
    put(text, "\"%s\":[", key);
    for (unsigned i = 0; i < n; i++)
        put(text, "%s%.12g", i ? "," : "", value);
    put(text, "]");
}

/* A run of metric "m": n equal samples, at a clock when mhz is not 0. */
static inline void put_run(struct sheet_text *text, const char *name, double sample, unsigned n,
                           double mhz, const char *more) {
    begin_run(text, name, mhz, more);
    put(text, "\"m\":{\"n\":%u,", n);
    put_array(text, "samples", sample, n);
    if (mhz > 0) {
        put(text, ",");
        put_array(text, "mhz", mhz, n);
    }
    put(text, "}}}\n");
}

static inline void put_end(struct sheet_text *text) {
    put(text,
        "{\"type\":\"end\",\"finished\":\"2026-01-31T09:31:00Z\",\"exit\":0,\"counts\":{}}\n");
}

/* Parses and frees the text. */
static inline struct ps_sheet *parse_text(struct sheet_text *text) {
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error = {0};
    int result = ps_sheet_parse(text->data, text->length, &sheet, &error);
    if (result)
        fail_msg("%d, line %zu, column %zu: %s", result, error.line, error.column, error.what);
    free(text);
    return sheet;
}

static inline const struct ps_result *result_of(const struct ps_sheet *sheet, const char *id) {
    for (size_t i = 0; i < sheet->n_results; i++)
        if (strcmp(sheet->results[i].id, id) == 0)
            return &sheet->results[i];
    fail_msg("no result %s", id);
    return NULL;
}

/* Equal to 9 digits. */
static inline void assert_close(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-9 * fabs(expected) + 1e-300))
        fail_msg("%.12g instead of %.12g", got, expected);
}

#endif
