/* SPDX-License-Identifier: MIT
 *
 * Port for a microcontroller without an operating system: its time is a free-running counter, its
 * memory one block that every run starts afresh. Its core's clock is constant and known: no probe.
 */
#ifndef PS_PORT_PORT_COUNTER_H
#define PS_PORT_PORT_COUNTER_H

#include <stdint.h>

#include "core/arena.h"
#include "core/port.h"

struct ps_port_counter_board {
    uint32_t (*read)(void *self); /* counts up; bits beyond `bits` are passed over */
    void *self;
    unsigned bits;            /* 8 to 32 */
    uint32_t hz;              /* of the counter, 1 kHz to 1 GHz */
    void (*kick)(void *self); /* feeds the watchdog; NULL: there is none */
    void *memory;             /* for runs */
    uint64_t memory_bytes;
};

struct ps_port_counter {
    struct ps_port port; /* what ps_measure gets */
    struct ps_port_counter_board board;
    struct ps_arena arena;
    /* Ticks to ns by a multiplication: reading the clock stands inside the timed region, and a
     * 64-bit division takes a small core some hundred cycles. */
    uint32_t multiplier; /* ns per tick x 2^shift */
    unsigned shift;
    uint32_t last;     /* as read */
    uint64_t fraction; /* of a ns, x 2^shift */
    uint64_t ns;       /* since init */
};

/* 0; -EINVAL for a width or rate out of range; -EIO when the counter stands still. Measures the
 * counter's step and reading cost. The port must not move afterwards. */
int ps_port_counter_init(struct ps_port_counter *port, const struct ps_port_counter_board *board);
/* A new run: the arena is empty. Returns it, for what must live beside the run's memory. */
struct ps_arena *ps_port_counter_begin(struct ps_port_counter *port);
/* Time after which the counter is back where it was: the clock must be read more often. */
uint64_t ps_port_counter_wrap_ns(const struct ps_port_counter *port);

#endif
