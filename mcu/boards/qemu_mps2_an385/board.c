/* SPDX-License-Identifier: MIT
 *
 * Arm MPS2 with the AN385 image (Cortex-M3 at 25 MHz), as QEMU's mps2-an385 has it: a CMSDK timer
 * as the clock, CMSDK UART0 for the results, semihosting to end the emulator. Addresses: Arm DAI
 * 0385, registers: the Cortex-M System Design Kit's reference manual (DDI 0479).
 *
 * QEMU models neither caches nor wait states, and its DWT cycle counter stands still: hence the
 * timer. Time there is QEMU's virtual time; with -icount it counts instructions.
 */
#include "board.h"

#define SYSTEM_HZ 25000000u

struct cmsdk_timer {
    volatile uint32_t control, value, reload, interrupt;
};
#define TIMER0 ((struct cmsdk_timer *)0x40000000u)
#define TIMER_ENABLE 1u

struct cmsdk_uart {
    volatile uint32_t data, state, control, interrupt, baud_divider;
};
#define UART0 ((struct cmsdk_uart *)0x40004000u)
#define UART_TX_FULL 1u
#define UART_TX_ENABLE 1u
#define UART_BAUD 115200u

/* In PSRAM: linker script. */
extern char ps_arena_start[], ps_arena_end[];

/* Counts down from 2^32 - 1; its complement counts up. */
static uint32_t timer_read(void *self) {
    (void)self;
    return ~TIMER0->value;
}

static void uart_put(void *self, char c) {
    (void)self;
    while (UART0->state & UART_TX_FULL)
        continue;
    UART0->data = (unsigned char)c;
}

/* Semihosting's SYS_EXIT: application exit, or a run-time error. Needs QEMU's -semihosting; without
 * it, or a debugger, the breakpoint is a fault, and the board stops there. */
static void finish(void *self, int code) {
    (void)self;
    register uint32_t operation __asm__("r0") = 0x18;
    register uint32_t reason __asm__("r1") = code == 0 ? 0x20026 : 0x20023;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason) : "memory");
}

const struct ps_board *ps_board_init(void) {
    static struct ps_board board = {
        .name = "qemu_mps2_an385",
        .model = "Arm MPS2, AN385 (QEMU)",
        .source = "m3",
        .core = "cortex-m3",
        .core_hz = SYSTEM_HZ,
        .emulated = true,
        .counter = timer_read,
        .counter_bits = 32,
        .counter_hz = SYSTEM_HZ,
        .put = uart_put,
        .frame_copies = 1, /* QEMU's line loses nothing */
        .finish = finish,
        .code_in = "ssram1",
        .data_in = "ssram23",
        .stack_in = "ssram23",
        .arena_in = "psram",
        .caches = "none",
    };
    TIMER0->control = 0;
    TIMER0->reload = UINT32_MAX;
    TIMER0->value = UINT32_MAX;
    TIMER0->control = TIMER_ENABLE;
    UART0->baud_divider = SYSTEM_HZ / UART_BAUD;
    UART0->control = UART_TX_ENABLE;
    board.arena = ps_arena_start;
    board.arena_bytes = (uint64_t)(uintptr_t)ps_arena_end - (uint64_t)(uintptr_t)ps_arena_start;
    return &board;
}
