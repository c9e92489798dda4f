/* SPDX-License-Identifier: MIT
 *
 * Frames for a noisy serial line: "@P<seq>,<flags>,<at most 48 payload bytes>*<crc32>\n". The
 * payload is a piece of a JSON line; flag '+' says that the line goes on in the next frame, '.'
 * that it ends. seq is decimal and counts frames, crc32 (zlib's polynomial) is 8 hex digits over
 * all between '@' and '*'. Bytes outside frames are somebody else's and are passed over.
 */
#ifndef PS_CORE_FRAME_H
#define PS_CORE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_FRAME_PAYLOAD_MAX 48
#define PS_FRAME_MAX 96 /* a whole frame with its newline */

/* CRC-32 as in zlib; start with 0. */
uint32_t ps_crc32(uint32_t crc, const void *data, size_t length);

/* Encodes one frame into frame[PS_FRAME_MAX]; returns its length. length <= PS_FRAME_PAYLOAD_MAX.
 */
size_t ps_frame_encode(char *frame, uint32_t seq, bool more, const char *payload, size_t length);

/* A sender that cuts a byte stream of JSON lines into frames. `put` gets whole frames; `copies` is
 * how often each is sent where nobody answers (1 to 3). Fits struct ps_json_writer's `write`. */
struct ps_frame_sender {
    int (*put)(void *target, const char *frame, size_t length);
    void *target;
    uint32_t seq;
    unsigned copies;
    size_t fill;
    char payload[PS_FRAME_PAYLOAD_MAX];
};
void ps_frame_sender_init(struct ps_frame_sender *sender, int (*put)(void *, const char *, size_t),
                          void *target, unsigned copies);
int ps_frame_sender_write(void *sender, const char *data, size_t length);

/* A receiver: feed it bytes in any pieces; it calls `line` with each complete JSON line (no
 * newline), in order. A frame that is damaged is counted; a duplicate is accepted once; when a seq
 * is missing, the line it belonged to is lost and counted, and the next one starts clean. */
struct ps_frame_receiver {
    void (*line)(void *target, const char *line, size_t length);
    void *target;
    char *buffer; /* of the caller: a JSON line's length at most */
    size_t buffer_bytes, fill;
    bool overflow, broken; /* the line now being put together cannot be whole */
    bool started;
    uint32_t next_seq;
    char frame[PS_FRAME_MAX];
    size_t frame_fill;
    bool in_frame;
    uint64_t n_frames, n_damaged, n_duplicate, n_missing, n_lost_lines;
};
void ps_frame_receiver_init(struct ps_frame_receiver *receiver, char *buffer, size_t buffer_bytes,
                            void (*line)(void *, const char *, size_t), void *target);
void ps_frame_receiver_feed(struct ps_frame_receiver *receiver, const char *data, size_t length);

#endif
