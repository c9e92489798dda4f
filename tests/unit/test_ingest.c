/* SPDX-License-Identifier: MIT
 *
 * From a board's serial line to a sheet: clean, noisy, cut off, started twice, and of no use at
 * all.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/frame.h"
#include "core/json_writer.h"
#include "core/record.h"
#include "harness/ingest.h"
#include "sheet/sheet.h"

#define HEADER(id)                                                                                 \
    "{\"type\":\"sheet\",\"format\":1,\"id\":\"" id                                                \
    "\",\"started\":null,\"board\":{\"id\":\"b\"},"                                                \
    "\"tool\":{\"version\":\"0\"},\"env\":{}}\n"
#define SOURCE                                                                                     \
    "{\"type\":\"source\",\"id\":\"m3\",\"kind\":\"mcu\",\"core\":\"cortex-m3\",\"hz\":25000000,"  \
    "\"counter_bits\":32,\"usable_cpus\":1,\"reference_mhz\":{\"0\":25},\"emulated\":true}\n"
#define FINISH "{\"type\":\"finish\",\"cases\":1,\"runs\":3}\n"
#define ROW "unit.ingest/one"

static const struct ps_metric metric = {.name = "time",
                                        .unit = PS_UNIT_NS,
                                        .kind = PS_TIME,
                                        .counts = "one",
                                        .better = PS_BETTER_LOWER,
                                        .positive = true,
                                        .decimals = 1,
                                        .method = 1,
                                        .bound = PS_BOUND_MEMORY};
static const struct ps_bench bench = {.chapter = "unit",
                                      .table = "ingest",
                                      .title = "Ingest",
                                      .about = "A test.",
                                      .metrics = &metric,
                                      .n_metrics = 1};

/* A serial line being recorded: noise goes straight to it, lines go through the codec. */
struct wire {
    char data[65536];
    size_t length;
    struct ps_frame_sender sender;
    struct ps_json_writer json;
    const char *noise; /* after every frame */
};

static void noise(struct wire *wire, const char *text) {
    assert_true(wire->length + strlen(text) < sizeof(wire->data));
    memcpy(wire->data + wire->length, text, strlen(text));
    wire->length += strlen(text);
}

static int put(void *target, const char *frame, size_t length) {
    struct wire *wire = target;
    assert_true(wire->length + length < sizeof(wire->data));
    memcpy(wire->data + wire->length, frame, length);
    wire->length += length;
    noise(wire, wire->noise);
    return 0;
}

static struct wire *wire_new(unsigned copies, const char *between) {
    struct wire *wire = calloc(1, sizeof(*wire));
    assert_non_null(wire);
    wire->noise = between;
    ps_frame_sender_init(&wire->sender, put, wire, copies);
    ps_json_init(&wire->json, ps_frame_sender_write, &wire->sender);
    return wire;
}

static void send_text(struct wire *wire, const char *text) {
    assert_int_equal(ps_frame_sender_write(&wire->sender, text, strlen(text)), 0);
}

static void declare(struct wire *wire) {
    struct ps_case c = {.name = "one", .place = {.cluster = 0, .cpu = -1}};
    ps_record_table(&wire->json, &bench);
    ps_json_line_end(&wire->json);
    ps_record_case(&wire->json, &bench, &c, ROW, "m3", PS_BOUND_MEMORY, 3, PS_OK, NULL);
    ps_json_line_end(&wire->json);
}

static void send_run(struct wire *wire, unsigned round, double value) {
    double samples[20];
    for (size_t i = 0; i < 20; i++)
        samples[i] = value;
    struct ps_case c = {.name = "one"};
    struct ps_run_shared shared = {
        .bench = &bench,
        .c = &c,
        .series = {{.n = 20, .capacity = 20, .samples = samples, .resolution = 0.01}},
        .n_samples = 20,
        .stop = "time",
        .timed_ns = 20000000,
        .threads = 1};
    struct ps_run_identity identity = {.id = ROW,
                                       .source = "m3",
                                       .round = round,
                                       .seq = round,
                                       .attempt = 1,
                                       .start_s = round,
                                       .load_all_pct = -1,
                                       .load_busiest_pct = -1};
    ps_record_run(&wire->json, &identity, &shared, NULL);
    ps_json_line_end(&wire->json);
}

static void send_all(struct wire *wire) {
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    for (unsigned round = 1; round <= 3; round++)
        send_run(wire, round, 10 + round);
}

/* Feeds the recording to ps_ingest and reads back the sheet that it wrote. */
static int ingest(const struct wire *wire, struct ps_sheet **ret_sheet, char **ret_text,
                  struct ps_ingest_counts *ret_counts) {
    FILE *input = tmpfile(), *output = tmpfile();
    assert_non_null(input);
    assert_non_null(output);
    assert_int_equal(fwrite(wire->data, 1, wire->length, input), wire->length);
    rewind(input);
    int err = ps_ingest(fileno(input), fileno(output), ret_counts);
    long length = lseek(fileno(output), 0, SEEK_END);
    assert_true(length >= 0);
    char *text = calloc(1, (size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(output), text, (size_t)length, 0), length);
    if (err == 0) {
        struct ps_sheet_error error;
        if (ps_sheet_parse(text, (size_t)length, ret_sheet, &error) != 0)
            fail_msg("line %zu: %s", error.line, error.what);
    }
    *ret_text = text;
    fclose(input);
    fclose(output);
    return err;
}

static unsigned count(const char *text, const char *what) {
    unsigned n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

/* One whole document with one good row of n_runs runs. */
static void check(const struct wire *wire, unsigned n_runs, double value,
                  struct ps_ingest_counts *ret_counts) {
    struct ps_sheet *sheet;
    char *text;
    assert_int_equal(ingest(wire, &sheet, &text, ret_counts), 0);
    assert_false(sheet->incomplete);
    assert_false(sheet->truncated);
    assert_non_null(sheet->header);
    assert_non_null(sheet->end);
    assert_int_equal(sheet->n_results, 1);
    assert_string_equal(sheet->results[0].id, ROW ":time");
    assert_string_equal(sheet->results[0].source, "m3");
    assert_int_equal(sheet->results[0].status, PS_OK);
    assert_int_equal(sheet->results[0].n_runs, n_runs);
    assert_true(sheet->results[0].value == value);
    assert_int_equal(count(text, "\"type\":\"sheet\""), 1);
    assert_int_equal(count(text, "\"type\":\"result\""), 1);
    assert_int_equal(count(text, "\"type\":\"end\""), 1);
    assert_int_equal(count(text, "\"type\":\"finish\""), 0);
    assert_int_equal(ret_counts->lines, count(text, "\n") - 2);
    free(text);
    ps_sheet_free(sheet);
}

static void test_clean(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_all(wire);
    send_text(wire, FINISH);
    noise(wire, "@P"); /* what comes later is not read */
    check(wire, 3, 11.5, &counts);
    assert_int_equal(counts.lines, 7);
    assert_true(counts.whole);
    assert_int_equal(counts.damaged + counts.duplicate + counts.missing + counts.malformed, 0);
    free(wire);
}

static void test_noise(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(2, "[    1.000000] random: crng init done @P7,+\r\n=> ");
    noise(wire, "U-Boot SPL 2023.04\r\n");
    send_all(wire);
    send_text(wire, FINISH);
    wire->data[wire->sender.seq] = '?';
    check(wire, 3, 11.5, &counts);
    assert_int_equal(counts.lost_lines, 0);
    assert_true(counts.duplicate > 0);
    free(wire);
}

/* The board hangs after its second run: no finish, half a line. */
static void test_cut_off(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    send_run(wire, 1, 12);
    send_run(wire, 2, 12);
    size_t whole = wire->length;
    send_run(wire, 3, 12);
    wire->length = whole + 200;
    check(wire, 2, 12, &counts);
    assert_false(counts.finished || counts.whole);
    assert_int_equal(counts.runs, 2);
    assert_int_equal(counts.said_runs, 3);
    free(wire);
}

static void test_lost_run(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    send_run(wire, 1, 12);
    size_t lost = wire->length + 100;
    send_run(wire, 2, 13);
    send_run(wire, 3, 12);
    send_text(wire, FINISH);
    wire->data[lost] ^= 4;
    check(wire, 2, 12, &counts);
    assert_int_equal(counts.lost_lines, 1);
    assert_true(counts.finished && !counts.whole);
    assert_int_equal(counts.missing, 1);
    free(wire);
}

/* Whole frames, but not records: passed over and counted, and the sheet stays readable. */
static void test_malformed(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    send_text(wire, "not JSON\n[1,2]\n{\"type\":7}\n{\"type\":\"case\"}\n{\"type\":\"run\"}\n");
    send_run(wire, 1, 12);
    send_run(wire, 2, 12);
    send_run(wire, 3, 12);
    check(wire, 3, 12, &counts);
    assert_int_equal(counts.malformed, 5);
    free(wire);
}

/* The watchdog bit: everything from the start again, with the same declarations. */
static void test_started_twice(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    send_run(wire, 1, 12);
    assert_true(wire->sender.seq > 32); /* else the second start is taken for a repetition */
    wire->sender.seq = 0;
    send_text(wire, HEADER("x") SOURCE);
    declare(wire);
    for (unsigned round = 1; round <= 3; round++)
        send_run(wire, round, 12);
    send_text(wire, FINISH);
    check(wire, 4, 12, &counts);
    assert_true(counts.whole);
    free(wire);
}

/* Another image's sheet in the same log is not mixed in. */
static void test_two_sheets(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_all(wire);
    send_text(wire, HEADER("y") SOURCE);
    send_run(wire, 4, 1);
    check(wire, 3, 11.5, &counts);
    free(wire);
}

static void test_results_are_made_here(void **state) {
    (void)state;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    send_all(wire);
    send_text(wire, "{\"type\":\"result\",\"id\":\"" ROW ":time\",\"value\":1}\n"
                    "{\"type\":\"end\",\"finished\":\"x\",\"exit\":0,\"counts\":{}}\n");
    check(wire, 3, 11.5, &counts);
    free(wire);
}

static void test_nothing(void **state) {
    (void)state;
    struct ps_sheet *sheet;
    char *text;
    struct ps_ingest_counts counts;
    struct wire *wire = wire_new(1, "");
    assert_int_equal(ingest(wire, &sheet, &text, &counts), -EBADMSG);
    free(text);
    noise(wire, "Welcome to minicom\r\nlogin: @P1,+,{*00000000\n");
    assert_int_equal(ingest(wire, &sheet, &text, &counts), -EBADMSG);
    assert_int_equal(counts.lines, 0);
    assert_int_equal(counts.damaged, 1);
    assert_int_equal(strlen(text), 0);
    free(text);
    free(wire);
}

static void test_full_disk(void **state) {
    (void)state;
    struct wire *wire = wire_new(1, "");
    struct ps_ingest_counts counts;
    int full = open("/dev/full", O_WRONLY), input[2];
    if (full < 0)
        skip();
    send_all(wire);
    assert_int_equal(pipe(input), 0);
    assert_int_equal(write(input[1], wire->data, wire->length), wire->length);
    close(input[1]);
    assert_int_equal(ps_ingest(input[0], full, &counts), -ENOSPC);
    assert_int_equal(counts.lines, 0);
    close(input[0]);
    close(full);
    assert_int_equal(ps_ingest(-1, 1, &counts), -EBADF);
    free(wire);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),      cmocka_unit_test(test_noise),
        cmocka_unit_test(test_cut_off),    cmocka_unit_test(test_lost_run),
        cmocka_unit_test(test_malformed),  cmocka_unit_test(test_started_twice),
        cmocka_unit_test(test_two_sheets), cmocka_unit_test(test_results_are_made_here),
        cmocka_unit_test(test_nothing),    cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
