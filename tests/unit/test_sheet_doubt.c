/* SPDX-License-Identifier: MIT
 *
 * What must not be claimed of a row: that its clock fell when it was only not known, or the core
 * shared; that a part of a time is longer than the whole.
 */
#include "unit/sheet_text.h"

#define SAMPLES 40

/* A row of three runs with that clock beside each sample, and issue[] where it is not 0. */
static const struct ps_result *with_clock(const double mhz[SAMPLES], const double issue[SAMPLES],
                                          struct ps_sheet **ret_sheet) {
    struct sheet_text *text = sheet_text_new(",\"reference_mhz\":{\"0\":1400}");
    put_row(text, "a", "ns", "time", "core", "");
    for (unsigned i = 0; i < 3; i++) {
        put(text, "{\"type\":\"run\",\"case\":\"t.t/a\",\"source\":\"linux\",\"witness\":{\"mhz\":"
                  "[1400,null,null],\"issue\":[4,4,4,4],\"throttled\":null},\"metrics\":{\"m\":{");
        put_array(text, "samples", 100, SAMPLES);
        put(text, ",\"mhz\":[");
        for (unsigned j = 0; j < SAMPLES; j++)
            put(text, "%s%.9g", j ? "," : "", mhz[j]);
        put(text, "],\"issue\":[");
        for (unsigned j = 0; j < SAMPLES; j++)
            put(text, "%s%.9g", j ? "," : "", issue ? issue[j] : 4);
        put(text, "]}}}\n");
    }
    put_end(text);
    *ret_sheet = parse_text(text);
    return &(*ret_sheet)->results[0];
}

static bool is_throttled(const double mhz[SAMPLES], const double issue[SAMPLES]) {
    struct ps_sheet *sheet;
    bool throttled = (with_clock(mhz, issue, &sheet)->quality & PS_Q_THROTTLED) != 0;
    ps_sheet_free(sheet);
    return throttled;
}

static void fill(double mhz[SAMPLES], double first_half, double second_half) {
    for (unsigned i = 0; i < SAMPLES; i++)
        mhz[i] = i < SAMPLES / 2 ? first_half : second_half;
}

/* Interrupted probes are 0: in an even quarter half of them halve its median. */
static void test_unknown_probes(void **ignored) {
    (void)ignored;
    double mhz[SAMPLES];
    fill(mhz, 1400, 1400);
    for (unsigned i = SAMPLES - 5; i < SAMPLES; i++)
        mhz[i] = 0;
    assert_false(is_throttled(mhz, NULL)); /* half of the last quarter: its median was 700 */
    for (unsigned i = SAMPLES - 10; i < SAMPLES; i++)
        mhz[i] = 0;
    assert_false(is_throttled(mhz, NULL)); /* nothing is known of the end */

    fill(mhz, 1400, 900);
    for (unsigned i = 0; i < 5; i++)
        mhz[2 * i] = mhz[SAMPLES - 1 - 2 * i] = 0;
    assert_true(is_throttled(mhz, NULL)); /* what is known tells of the fall */
    for (unsigned i = 0; i < 9; i++)
        mhz[i] = 0;
    assert_false(is_throttled(mhz, NULL)); /* one probe is no first quarter */
}

static void test_shared_core(void **ignored) {
    (void)ignored;
    double mhz[SAMPLES], issue[SAMPLES];
    fill(mhz, 1400, 1400);
    fill(issue, 4, 4);
    for (unsigned i = SAMPLES - 7; i < SAMPLES; i++) {
        mhz[i] = 1100;
        issue[i] = 2.5;
    }
    assert_false(is_throttled(mhz, issue)); /* slow beside a neighbour only */
    fill(issue, 4, 4);
    assert_true(is_throttled(mhz, issue));
}

/* Baseline and gross scatter far more than they differ: the bound is the gross at most. */
static void test_bound_within_gross(void **ignored) {
    (void)ignored;
    static const char *const units[][3] = {{"us", "time"}, {"1/s", "rate"}};
    for (unsigned u = 0; u < 2; u++) {
        struct sheet_text *text = sheet_text_new("");
        put_row(text, "a", units[u][0], units[u][1], "memory", "");
        for (unsigned i = 0; i < 3; i++) {
            begin_run(text, "a", 0, "");
            put(text, "\"m\":{\"samples\":[3600,3647,9000,3640,3700],"
                      "\"baseline\":[3500,9000,1000,7000,200],\"resolution\":1}}}\n");
        }
        put_end(text);
        struct ps_sheet *sheet = parse_text(text);
        const struct ps_result *result = &sheet->results[0];
        assert_true((result->quality & PS_Q_BELOW_RESOLUTION) != 0);
        assert_true(isfinite(result->gross));
        assert_close(result->value, result->gross);
        ps_sheet_free(sheet);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_probes),
        cmocka_unit_test(test_shared_core),
        cmocka_unit_test(test_bound_within_gross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
