/* SPDX-License-Identifier: MIT
 *
 * Frames for a noisy serial line; the format is in frame.h and docs/FORMAT.md.
 *
 * The receiver needs no line ends: a frame is whole when what was collected since its '@' ends in
 * '*' and the right checksum, so CR LF, a prompt behind it or a lost newline do not matter.
 * A control character never occurs inside a frame (JSON escapes them): it ends the attempt.
 */
#include "core/frame.h"

#include "core/text.h"

#define CRC_DIGITS 8
/* A frame that repeats one of the last so many is a duplicate; one from further back is a board
 * that started again. A sender without a way back repeats at once, one with it has a short window.
 */
#define DUPLICATE_WINDOW 32

uint32_t ps_crc32(uint32_t crc, const void *data, size_t length) {
    /* Half a byte at a time: 64 bytes of table, for a microcontroller's sake. */
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        crc = table[crc & 15] ^ (crc >> 4);
        crc = table[crc & 15] ^ (crc >> 4);
    }
    return ~crc;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void add_crc(struct ps_text *text, uint32_t crc) {
    for (int shift = 28; shift >= 0; shift -= 4)
        ps_text_add_char(text, "0123456789abcdef"[(crc >> shift) & 15]);
}

size_t ps_frame_encode(char *frame, uint32_t seq, bool more, const char *payload, size_t length) {
    struct ps_text text;
    ps_text_init(&text, frame, PS_FRAME_MAX);
    ps_text_add(&text, "@P");
    ps_text_add_u64(&text, seq);
    ps_text_add(&text, more ? ",+," : ",.,");
    for (size_t i = 0; i < length && i < PS_FRAME_PAYLOAD_MAX; i++)
        ps_text_add_char(&text, payload[i]);
    uint32_t crc = ps_crc32(0, frame + 1, text.length - 1);
    ps_text_add_char(&text, '*');
    add_crc(&text, crc);
    ps_text_add_char(&text, '\n');
    return text.length;
}

void ps_frame_sender_init(struct ps_frame_sender *sender, int (*put)(void *, const char *, size_t),
                          void *target, unsigned copies) {
    sender->put = put;
    sender->target = target;
    sender->seq = 0;
    sender->copies = copies < 1 ? 1 : copies;
    sender->fill = 0;
}

static int send_frame(struct ps_frame_sender *sender, bool more) {
    char frame[PS_FRAME_MAX];
    size_t length = ps_frame_encode(frame, sender->seq, more, sender->payload, sender->fill);
    sender->seq++;
    sender->fill = 0;
    for (unsigned i = 0; i < sender->copies; i++) {
        int err = sender->put(sender->target, frame, length);
        if (err < 0)
            return err;
    }
    return 0;
}

int ps_frame_sender_write(void *target, const char *data, size_t length) {
    struct ps_frame_sender *sender = target;
    for (size_t i = 0; i < length; i++) {
        int err = 0;
        if (data[i] == '\n') {
            err = send_frame(sender, false);
        } else {
            /* A full one waits for the next byte, which may be the line's end. */
            if (sender->fill == PS_FRAME_PAYLOAD_MAX)
                err = send_frame(sender, true);
            sender->payload[sender->fill++] = data[i];
        }
        if (err < 0)
            return err;
    }
    return 0;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

struct frame_view {
    uint32_t seq;
    bool more;
    const char *payload;
    size_t length;
};

void ps_frame_receiver_init(struct ps_frame_receiver *receiver, char *buffer, size_t buffer_bytes,
                            void (*line)(void *, const char *, size_t), void *target) {
    *receiver = (struct ps_frame_receiver){
        .line = line, .target = target, .buffer = buffer, .buffer_bytes = buffer_bytes};
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int hex_value(char c) {
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "P<seq>,<flag>,<payload>" with its checksum known to be right. */
static bool parse_body(const char *body, size_t length, struct frame_view *ret_frame) {
    uint64_t seq = 0;
    size_t i = 1;
    if (length < 1 || body[0] != 'P')
        return false;
    while (i < length && is_digit(body[i]) && seq <= UINT32_MAX)
        seq = seq * 10 + (uint64_t)(body[i++] - '0');
    if (i == 1 || seq > UINT32_MAX || length - i < 3)
        return false;
    if (body[i] != ',' || body[i + 2] != ',' || (body[i + 1] != '+' && body[i + 1] != '.'))
        return false;
    *ret_frame =
        (struct frame_view){(uint32_t)seq, body[i + 1] == '+', body + i + 3, length - i - 3};
    return ret_frame->length <= PS_FRAME_PAYLOAD_MAX;
}

/* Every line of a sheet begins so, and in the middle of a line it is rare: after a gap it says that
 * the frame before ended a line. A wrong guess is not JSON, and falls to the reader. */
static bool begins_line(const struct frame_view *frame) {
    static const char start[] = "{\"type\":";
    if (frame->length < sizeof(start) - 1)
        return false;
    for (size_t i = 0; i < sizeof(start) - 1; i++)
        if (frame->payload[i] != start[i])
            return false;
    return true;
}

/* The stream goes on at `frame`, but not from where it was; `lost`: a line is lost with it. */
static void resume(struct ps_frame_receiver *receiver, const struct frame_view *frame, bool lost) {
    bool counted = receiver->broken || receiver->overflow;
    if (lost && !counted)
        receiver->n_lost_lines++;
    receiver->fill = 0;
    receiver->overflow = false;
    receiver->broken = frame->seq != 0 && !begins_line(frame);
}

/* False: passed over, a duplicate. */
static bool take_seq(struct ps_frame_receiver *receiver, const struct frame_view *frame) {
    uint32_t ahead = frame->seq - receiver->next_seq; /* modulo 2^32, as seq counts */
    if (!receiver->started) {
        receiver->started = true;
        receiver->n_missing += frame->seq;
        resume(receiver, frame, frame->seq != 0);
    } else if (ahead >= UINT32_MAX - DUPLICATE_WINDOW + 1) {
        receiver->n_duplicate++;
        return false;
    } else if (ahead > UINT32_MAX / 2) { /* from far back: the sender started again */
        receiver->n_missing += frame->seq;
        resume(receiver, frame, receiver->fill > 0 || frame->seq != 0);
    } else if (ahead > 0) {
        receiver->n_missing += ahead;
        resume(receiver, frame, true);
    }
    receiver->next_seq = frame->seq + 1;
    return true;
}

static void take_frame(struct ps_frame_receiver *receiver, const struct frame_view *frame) {
    receiver->n_frames++;
    if (!take_seq(receiver, frame))
        return;
    if (!receiver->broken && !receiver->overflow) {
        if (frame->length > receiver->buffer_bytes - receiver->fill) {
            receiver->overflow = true;
            receiver->n_lost_lines++;
        } else {
            for (size_t i = 0; i < frame->length; i++)
                receiver->buffer[receiver->fill++] = frame->payload[i];
        }
    }
    if (frame->more)
        return;
    bool whole = !receiver->broken && !receiver->overflow;
    size_t length = receiver->fill;
    receiver->fill = 0;
    receiver->broken = receiver->overflow = false;
    if (whole)
        receiver->line(receiver->target, receiver->buffer, length);
}

/* Could what was collected, from its '@', still become a frame? */
static bool looks_like_frame(const char *data, size_t length) {
    return (length < 2 || data[1] == 'P') && (length < 3 || is_digit(data[2]));
}

/* Forgets the first '@' and goes on at the next that may begin a frame. */
static void drop_start(struct ps_frame_receiver *receiver) {
    if (receiver->frame_fill >= 3 && looks_like_frame(receiver->frame, receiver->frame_fill))
        receiver->n_damaged++;
    size_t from = 1;
    while (from < receiver->frame_fill &&
           !(receiver->frame[from] == '@' &&
             looks_like_frame(receiver->frame + from, receiver->frame_fill - from)))
        from++;
    size_t left = 0;
    while (from < receiver->frame_fill)
        receiver->frame[left++] = receiver->frame[from++];
    receiver->frame_fill = left;
    receiver->in_frame = left > 0;
}

/* Does the collected text end in "*<crc>", right for what lies between some '@' and it? */
static bool complete(struct ps_frame_receiver *receiver) {
    const char *data = receiver->frame;
    size_t length = receiver->frame_fill;
    if (length < CRC_DIGITS + 2 || data[length - CRC_DIGITS - 1] != '*')
        return false;
    size_t body_end = length - CRC_DIGITS - 1;
    uint32_t wanted = 0;
    for (size_t i = body_end + 1; i < length; i++) {
        int digit = hex_value(data[i]);
        if (digit < 0)
            return false;
        wanted = wanted << 4 | (uint32_t)digit;
    }
    for (size_t at = 0; at < body_end; at++) {
        struct frame_view frame;
        if (data[at] != '@' || ps_crc32(0, data + at + 1, body_end - at - 1) != wanted ||
            !parse_body(data + at + 1, body_end - at - 1, &frame))
            continue;
        if (at > 0)
            receiver->n_damaged++; /* one that was cut off by this one */
        take_frame(receiver, &frame);
        return true;
    }
    return false;
}

static void take_byte(struct ps_frame_receiver *receiver, char c) {
    if (!receiver->in_frame && c != '@')
        return;
    if ((unsigned char)c < 0x20) {
        while (receiver->in_frame)
            drop_start(receiver);
        return;
    }
    receiver->in_frame = true;
    receiver->frame[receiver->frame_fill++] = c;
    if (complete(receiver)) {
        receiver->frame_fill = 0;
        receiver->in_frame = false;
        return;
    }
    while (receiver->in_frame && (receiver->frame_fill == PS_FRAME_MAX ||
                                  !looks_like_frame(receiver->frame, receiver->frame_fill)))
        drop_start(receiver);
}

void ps_frame_receiver_feed(struct ps_frame_receiver *receiver, const char *data, size_t length) {
    for (size_t i = 0; i < length; i++)
        take_byte(receiver, data[i]);
}
