/* SPDX-License-Identifier: MIT
 *
 * Frames on a serial line: what a kernel, a shell and a bad cable do to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/frame.h"

#define LINE_1                                                                                     \
    "{\"type\":\"sheet\",\"format\":1,\"id\":\"a line that needs more than one frame to go "       \
    "over\"}"
#define LINE_2 "{\"type\":\"run\",\"case\":\"mem.stream/all@x2\"}"
#define LINE_3 "{\"type\":\"run\",\"n\":3}"

struct log { /* what is on the wire, and what came of it */
    char wire[16384];
    size_t wire_length;
    size_t frame_at[64], n_frames; /* where each frame begins */
    char lines[16][512];
    size_t n_lines;
    char buffer[512];
    struct ps_frame_receiver receiver;
};

static int put(void *target, const char *frame, size_t length) {
    struct log *log = target;
    assert_true(length <= PS_FRAME_MAX && log->wire_length + length < sizeof(log->wire));
    log->frame_at[log->n_frames++] = log->wire_length;
    memcpy(log->wire + log->wire_length, frame, length);
    log->wire_length += length;
    return 0;
}

static void got_line(void *target, const char *line, size_t length) {
    struct log *log = target;
    assert_true(log->n_lines < 16 && length < sizeof(log->lines[0]));
    memcpy(log->lines[log->n_lines], line, length);
    log->lines[log->n_lines++][length] = '\0';
}

static struct log *log_new(unsigned copies, const char *text) {
    struct log *log = calloc(1, sizeof(*log));
    assert_non_null(log);
    struct ps_frame_sender sender;
    ps_frame_sender_init(&sender, put, log, copies);
    assert_int_equal(ps_frame_sender_write(&sender, text, strlen(text)), 0);
    ps_frame_receiver_init(&log->receiver, log->buffer, sizeof(log->buffer), got_line, log);
    return log;
}

static void receive(struct log *log, const char *data, size_t length) {
    ps_frame_receiver_feed(&log->receiver, data, length);
}

static void receive_text(struct log *log, const char *text) {
    receive(log, text, strlen(text));
}

/* Frames first .. last - 1 as they were sent. */
static void receive_frames(struct log *log, size_t first, size_t last) {
    size_t end = last < log->n_frames ? log->frame_at[last] : log->wire_length;
    receive(log, log->wire + log->frame_at[first], end - log->frame_at[first]);
}

static void test_crc(void **state) {
    (void)state;
    assert_int_equal(ps_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(ps_crc32(ps_crc32(0, "12345", 5), "6789", 4), 0xcbf43926);
    assert_int_equal(ps_crc32(0, "", 0), 0);
}

static void test_format(void **state) {
    (void)state;
    char frame[PS_FRAME_MAX], expected[PS_FRAME_MAX];
    size_t length = ps_frame_encode(frame, 7, true, "{\"a\":1,", 7);
    snprintf(expected, sizeof(expected), "@P7,+,{\"a\":1,*%08x\n",
             ps_crc32(0, "P7,+,{\"a\":1,", 12));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(frame, expected, length);
    char full[PS_FRAME_PAYLOAD_MAX];
    memset(full, 'x', sizeof(full));
    assert_true(ps_frame_encode(frame, UINT32_MAX, false, full, sizeof(full)) <= PS_FRAME_MAX);
}

static void test_clean(void **state) {
    (void)state;
    struct log *log = log_new(1, LINE_1 "\n" LINE_2 "\n" LINE_3 "\n");
    for (size_t i = 0; i < log->wire_length; i++) /* byte by byte */
        receive(log, log->wire + i, 1);
    assert_int_equal(log->n_lines, 3);
    assert_string_equal(log->lines[0], LINE_1);
    assert_string_equal(log->lines[1], LINE_2);
    assert_string_equal(log->lines[2], LINE_3);
    assert_int_equal(log->receiver.n_frames, log->n_frames);
    assert_int_equal(log->receiver.n_damaged + log->receiver.n_missing + log->receiver.n_lost_lines,
                     0);
    free(log);
}

/* A line of exactly one frame must not end in an empty one. */
static void test_exact_frame(void **state) {
    (void)state;
    char line[2 * PS_FRAME_PAYLOAD_MAX + 2];
    for (size_t length = PS_FRAME_PAYLOAD_MAX - 1; length <= 2 * PS_FRAME_PAYLOAD_MAX; length++) {
        memset(line, 'x', length);
        line[length] = '\n';
        line[length + 1] = '\0';
        struct log *log = log_new(1, line);
        assert_int_equal(log->n_frames, (length + PS_FRAME_PAYLOAD_MAX - 1) / PS_FRAME_PAYLOAD_MAX);
        receive_frames(log, 0, log->n_frames);
        assert_int_equal(log->n_lines, 1);
        line[length] = '\0';
        assert_string_equal(log->lines[0], line);
        free(log);
    }
}

static void test_crlf_and_prompts(void **state) {
    (void)state;
    struct log *log = log_new(1, LINE_1 "\n" LINE_2 "\n");
    receive_text(log, "U-Boot 2023.01\r\n=> go 0\r\n");
    for (size_t i = 0; i < log->n_frames; i++) {
        size_t end = i + 1 < log->n_frames ? log->frame_at[i + 1] : log->wire_length;
        receive(log, log->wire + log->frame_at[i], end - log->frame_at[i] - 1);
        receive_text(log, "\r\n");
        receive_text(log, i % 2 ? "login: root@board:~# => " : "@Prompt@P@@P1x");
    }
    assert_int_equal(log->n_lines, 2);
    assert_string_equal(log->lines[0], LINE_1);
    assert_string_equal(log->lines[1], LINE_2);
    assert_int_equal(log->receiver.n_lost_lines, 0);
    free(log);
}

/* The kernel prints a line in the middle of a frame; the second copy is whole. */
static void test_kernel_line(void **state) {
    (void)state;
    struct log *log = log_new(2, LINE_1 "\n" LINE_3 "\n");
    receive(log, log->wire, log->frame_at[2] + 20);
    receive_text(log, "[   12.345678] usb 1-1: new high-speed USB device @Port 2\r\n");
    receive(log, log->wire + log->frame_at[2] + 20, log->wire_length - log->frame_at[2] - 20);
    assert_int_equal(log->n_lines, 2);
    assert_string_equal(log->lines[0], LINE_1);
    assert_string_equal(log->lines[1], LINE_3);
    assert_int_equal(log->receiver.n_damaged, 1);
    assert_int_equal(log->receiver.n_duplicate, log->n_frames / 2 - 1);
    assert_int_equal(log->receiver.n_missing, 0);
    free(log);
}

/* Without a second copy the line is lost, counted, and the next one is clean. */
static void test_lost_byte(void **state) {
    (void)state;
    struct log *whole = log_new(1, LINE_1 "\n" LINE_2 "\n" LINE_3 "\n");
    size_t first_of_2 = 2, n_frames = whole->n_frames;
    size_t line_1_bytes = whole->frame_at[first_of_2];
    for (size_t lost = 0; lost < line_1_bytes; lost++) {
        struct log *log = log_new(1, LINE_1 "\n" LINE_2 "\n" LINE_3 "\n");
        receive(log, log->wire, lost);
        receive(log, log->wire + lost + 1, log->wire_length - lost - 1);
        bool newline = log->wire[lost] == '\n'; /* not needed */
        assert_int_equal(log->n_lines, newline ? 3 : 2);
        assert_string_equal(log->lines[log->n_lines - 2], LINE_2);
        assert_string_equal(log->lines[log->n_lines - 1], LINE_3);
        assert_int_equal(log->receiver.n_missing, newline ? 0 : 1);
        assert_int_equal(log->receiver.n_lost_lines, newline ? 0 : 1);
        assert_int_equal(log->receiver.n_frames, newline ? n_frames : n_frames - 1);
        free(log);
    }
    free(whole);
}

static void test_changed_byte(void **state) {
    (void)state;
    struct log *whole = log_new(2, LINE_1 "\n" LINE_3 "\n");
    for (size_t at = 0; at < whole->wire_length; at++) {
        for (int change = 1; change < 256; change = change * 2 + 1) {
            struct log *log = log_new(2, LINE_1 "\n" LINE_3 "\n");
            log->wire[at] = (char)(log->wire[at] ^ change);
            receive(log, log->wire, log->wire_length);
            assert_int_equal(log->n_lines, 2);
            assert_string_equal(log->lines[0], LINE_1);
            assert_string_equal(log->lines[1], LINE_3);
            free(log);
        }
    }
    free(whole);
}

static void test_duplicates(void **state) {
    (void)state;
    struct log *log = log_new(3, LINE_1 "\n" LINE_2 "\n");
    receive_frames(log, 0, log->n_frames);
    receive_frames(log, log->n_frames - 5, log->n_frames); /* resent once more, late */
    assert_int_equal(log->n_lines, 2);
    assert_int_equal(log->receiver.n_duplicate, log->n_frames / 3 * 2 + 5);
    assert_int_equal(log->receiver.n_lost_lines + log->receiver.n_missing, 0);
    free(log);
}

/* The log begins in the middle of a line. */
static void test_late_start(void **state) {
    (void)state;
    struct log *log = log_new(1, LINE_1 "\n" LINE_2 "\n");
    receive_frames(log, 1, log->n_frames);
    assert_int_equal(log->n_lines, 1);
    assert_string_equal(log->lines[0], LINE_2);
    assert_int_equal(log->receiver.n_missing, 1);
    assert_int_equal(log->receiver.n_lost_lines, 1);
    free(log);
}

/* The board starts again in the middle of a line, far into its numbering. */
static void test_restart(void **state) {
    (void)state;
    struct log *log = log_new(1, LINE_1 "\n");
    char frame[PS_FRAME_MAX];
    for (uint32_t seq = 0; seq < 100; seq++)
        receive(log, frame, ps_frame_encode(frame, seq, seq % 10 != 9, "abc", 3));
    assert_int_equal(log->n_lines, 10);
    receive(log, frame, ps_frame_encode(frame, 100, true, "cut", 3));
    receive_frames(log, 0, log->n_frames);
    assert_int_equal(log->n_lines, 11);
    assert_string_equal(log->lines[10], LINE_1);
    assert_int_equal(log->receiver.n_lost_lines, 1);
    free(log);
}

static void test_seq_wraps(void **state) {
    (void)state;
    struct log *log = log_new(1, "");
    char frame[PS_FRAME_MAX];
    receive(log, frame, ps_frame_encode(frame, UINT32_MAX - 1, false, "{\"type\":1}", 10));
    receive(log, frame, ps_frame_encode(frame, UINT32_MAX, false, "b", 1));
    receive(log, frame, ps_frame_encode(frame, 0, false, "c", 1));
    receive(log, frame, ps_frame_encode(frame, UINT32_MAX, false, "b", 1));
    receive(log, frame, ps_frame_encode(frame, 1, false, "d", 1));
    assert_int_equal(log->n_lines, 4);
    assert_string_equal(log->lines[3], "d");
    assert_int_equal(log->receiver.n_duplicate, 1);
    free(log);
}

static void test_long_line(void **state) {
    (void)state;
    char line[1026];
    memset(line, 'x', 1024);
    line[1024] = '\n';
    line[1025] = '\0';
    struct log *log = log_new(1, line);
    receive_frames(log, 0, log->n_frames);
    char frame[PS_FRAME_MAX];
    receive(log, frame,
            ps_frame_encode(frame, (uint32_t)log->n_frames, false, LINE_3, strlen(LINE_3)));
    assert_int_equal(log->n_lines, 1);
    assert_string_equal(log->lines[0], LINE_3);
    assert_int_equal(log->receiver.n_lost_lines, 1);
    free(log);
}

static int put_fails(void *target, const char *frame, size_t length) {
    (void)target;
    (void)frame;
    (void)length;
    return -5;
}

static void test_put_error(void **state) {
    (void)state;
    struct ps_frame_sender sender;
    ps_frame_sender_init(&sender, put_fails, NULL, 3);
    assert_int_equal(ps_frame_sender_write(&sender, "a\n", 2), -5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_exact_frame),
        cmocka_unit_test(test_crlf_and_prompts),
        cmocka_unit_test(test_kernel_line),
        cmocka_unit_test(test_lost_byte),
        cmocka_unit_test(test_changed_byte),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_late_start),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_seq_wraps),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_put_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
