/* SPDX-License-Identifier: MIT
 *
 * Port for a microcontroller: clock from a counter, memory from one block. Nothing here knows a
 * register; the board's file does.
 */
#include "port/port_counter.h"

#include "core/counter.h"
#include "core/errors.h"

#define NS_PER_S UINT64_C(1000000000)
/* Reads without a step after which the counter is taken to stand still: at the slowest rate that is
 * accepted a step is 1 ms, and no core reads it in less than 2 ns. */
#define READS_MAX 1000000
#define STEPS 64

static uint64_t now_ns(void *self) {
    struct ps_port_counter *port = self;
    uint32_t reading = port->board.read(port->board.self);
    uint64_t ticks = ps_counter_delta(reading, port->last, port->board.bits);
    port->last = reading;
    /* Below 2^32 x 2^32: both factors are 32 bits wide, and the fraction is less than 2^shift. */
    uint64_t scaled = ticks * port->multiplier + port->fraction;
    port->ns += scaled >> port->shift;
    port->fraction = scaled & ((UINT64_C(1) << port->shift) - 1);
    return port->ns;
}

static int map(void *self, const struct ps_memory *request, uint64_t bytes, void **ret_memory) {
    struct ps_port_counter *port = self;
    if (request->pages == PS_PAGES_HUGE)
        return -PS_EOPNOTSUPP;
    uint64_t *memory = ps_arena_alloc(&port->arena, bytes, request->alignment_bytes);
    if (!memory)
        return -PS_ENOMEM;
    *ret_memory = memory;
    if (request->untouched)
        return 0;
    /* Alignment is 16 at least, and what lies behind the last whole word is zeroed byte by byte. */
    for (uint64_t i = 0; i < bytes / sizeof(*memory); i++)
        memory[i] = 0;
    for (uint64_t i = bytes / sizeof(*memory) * sizeof(*memory); i < bytes; i++)
        ((uint8_t *)memory)[i] = 0;
    return 0;
}

/* All of it goes when the next run begins. */
static void unmap(void *self, void *memory, uint64_t bytes) {
    (void)self;
    (void)memory;
    (void)bytes;
}

static void kick(void *self) {
    struct ps_port_counter *port = self;
    (void)now_ns(port); /* keeps count over a wrap */
    if (port->board.kick)
        port->board.kick(port->board.self);
}

/* Largest multiplier that 32 bits hold: its rounding is below 2^-31 of the time. */
static void set_rate(struct ps_port_counter *port, uint32_t hz) {
    port->shift = 0;
    while (port->shift < 31 && (NS_PER_S << (port->shift + 1)) / hz < UINT32_MAX)
        port->shift++;
    port->multiplier = (uint32_t)(((NS_PER_S << port->shift) + hz / 2) / hz);
}

/* Step: the smallest difference of two readings that differ. Cost: of one reading, on the mean. */
static int measure_clock(struct ps_port_counter *port) {
    uint64_t before = now_ns(port), start = before, step = UINT64_MAX;
    unsigned reads = 0, steps = 0;
    while (steps < STEPS) {
        uint64_t after = now_ns(port);
        if (++reads >= READS_MAX && steps == 0)
            return -PS_EIO;
        if (after == before)
            continue;
        step = after - before < step ? after - before : step;
        before = after;
        steps++;
    }
    /* Where every reading is a step the step is the reading's cost, and the counter's own step, one
     * tick, is finer. */
    uint64_t tick_ns = (port->multiplier + (UINT64_C(1) << port->shift) - 1) >> port->shift;
    port->port.resolution_ns = reads > STEPS + 1 ? step : tick_ns;
    port->port.read_ns = (before - start + reads / 2) / reads;
    return 0;
}

int ps_port_counter_init(struct ps_port_counter *port, const struct ps_port_counter_board *board) {
    if (board->bits < 8 || board->bits > 32 || board->hz < 1000 || board->hz > NS_PER_S)
        return -PS_EINVAL;
    *port = (struct ps_port_counter){
        .board = *board,
        .port = {.self = port,
                 .now_ns = now_ns,
                 .now_event_ns = now_ns,
                 .map = map,
                 .map_zeroes = true,
                 .unmap = unmap,
                 .kick = kick},
    };
    set_rate(port, board->hz);
    port->last = board->read(board->self);
    ps_port_counter_begin(port);
    return measure_clock(port);
}

struct ps_arena *ps_port_counter_begin(struct ps_port_counter *port) {
    ps_arena_init(&port->arena, port->board.memory, port->board.memory_bytes);
    return &port->arena;
}

uint64_t ps_port_counter_wrap_ns(const struct ps_port_counter *port) {
    return ((UINT64_C(1) << port->board.bits) * port->multiplier) >> port->shift;
}
