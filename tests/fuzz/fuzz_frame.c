/* SPDX-License-Identifier: MIT
 *
 * Frame receiver: anything on the wire (no crash, no overrun, counts that add up), and the input as
 * a line sent through the codec with noise between the frames (comes out as it went in).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/frame.h"

struct sink {
    struct ps_frame_receiver receiver;
    char buffer[4096];
    const char *expected;
    size_t expected_length;
    size_t n_lines, n_bytes;
};

static void got_line(void *target, const char *line, size_t length) {
    struct sink *sink = target;
    if (length > sizeof(sink->buffer))
        abort();
    if (sink->expected &&
        (length != sink->expected_length || memcmp(line, sink->expected, length) != 0))
        abort();
    sink->n_lines++;
    sink->n_bytes += length;
}

static int put(void *target, const char *frame, size_t length) {
    struct sink *sink = target;
    ps_frame_receiver_feed(&sink->receiver, frame, length);
    ps_frame_receiver_feed(&sink->receiver, "[ 1.0] noise @P12\r\n@", 20);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    static struct sink sink;
    memset(&sink, 0, sizeof(sink));
    ps_frame_receiver_init(&sink.receiver, sink.buffer, 64, got_line, &sink);
    size_t piece = (size_t)(data[0] & 15) + 1;
    for (size_t at = 0; at < size; at += piece)
        ps_frame_receiver_feed(&sink.receiver, (const char *)data + at,
                               size - at < piece ? size - at : piece);
    if (sink.n_lines > sink.receiver.n_frames || sink.n_bytes > size)
        abort();

    /* As a line: everything that a JSON line can hold, that is, no control characters. */
    static char line[4096];
    size_t length = 0;
    for (size_t i = 0; i < size && length + 1 < sizeof(line); i++)
        if (data[i] >= 0x20)
            line[length++] = (char)data[i];
    memset(&sink, 0, sizeof(sink));
    sink.expected = line;
    sink.expected_length = length;
    ps_frame_receiver_init(&sink.receiver, sink.buffer, sizeof(sink.buffer), got_line, &sink);
    struct ps_frame_sender sender;
    ps_frame_sender_init(&sender, put, &sink, 1 + data[0] % 3u);
    if (ps_frame_sender_write(&sender, line, length) != 0 ||
        ps_frame_sender_write(&sender, "\n", 1) != 0 || sink.n_lines != 1)
        abort();
    return 0;
}
