/* SPDX-License-Identifier: MIT
 *
 * What a board's file tells main.c. A board is one folder: board.c with this one function, start-up
 * code, a linker script and board.cmake.
 */
#ifndef PS_MCU_BOARD_H
#define PS_MCU_BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct ps_board {
    const char *name;   /* "qemu_mps2_an385": the sheet's board */
    const char *model;  /* for people */
    const char *source; /* who measured: the sheet's source id, "m3" */
    const char *core;   /* "cortex-m3" */
    uint32_t core_hz;
    bool emulated;

    /* The free-running counter that is the clock. */
    uint32_t (*counter)(void *self);
    unsigned counter_bits;
    uint32_t counter_hz;

    void (*put)(void *self, char c); /* to the serial line; waits for room */
    unsigned frame_copies;           /* 1 to 3: how bad the line is, when nobody answers on it */
    void (*kick)(void *self);        /* watchdog, NULL: none */
    void (*finish)(void *self, int code); /* last call; may return */
    void *self;                           /* argument of all these */

    /* Memory for the runs, and where the rest lies: a score depends on it. */
    void *arena;
    uint64_t arena_bytes;
    const char *code_in, *data_in, *stack_in, *arena_in; /* "ssram1, no wait states" */
    const char *caches;                                  /* "none", "on", "off" */
    uint32_t l1d_bytes;                                  /* 0: none */
    uint32_t line_bytes;                                 /* 0: none */
};

/* Sets the board up (clock, counter, serial line) and describes it. */
const struct ps_board *ps_board_init(void);

#endif
