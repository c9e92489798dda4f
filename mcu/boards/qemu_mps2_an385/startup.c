/* SPDX-License-Identifier: MIT
 *
 * Cortex-M3 start: vector table, .data and .bss, then main. No interrupt is ever enabled, so that
 * nothing disturbs a timed region; any exception is a fault.
 */
#include <stdint.h>

#include "board.h"

int main(void);
_Noreturn void ps_reset(void);
_Noreturn void ps_fault(void);

extern uint32_t ps_data_start[], ps_data_end[], ps_bss_start[], ps_bss_end[];
extern const uint32_t ps_data_image[];
extern uint32_t ps_stack_top[];

#define EXCEPTIONS 16 /* of the core; the board's interrupts stay off */

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[EXCEPTIONS] = {
    [0] = (uintptr_t)ps_stack_top,
    [1] = (uintptr_t)ps_reset,
    [2 ... EXCEPTIONS - 1] = (uintptr_t)ps_fault,
};

_Noreturn void ps_reset(void) {
    for (uint32_t i = 0; ps_data_start + i < ps_data_end; i++)
        ps_data_start[i] = ps_data_image[i];
    for (uint32_t *word = ps_bss_start; word < ps_bss_end; word++)
        *word = 0;
    const struct ps_board *board = ps_board_init();
    int code = main();
    board->finish(board->self, code);
    for (;;)
        continue;
}

/* A bus fault, a failed assertion (an undefined instruction), a stack that ran over ... */
_Noreturn void ps_fault(void) {
    static const char text[] = "\r\nperfsheet: the processor took a fault; the sheet ends here\r\n";
    static volatile int faulted;
    const struct ps_board *board = ps_board_init();
    if (!faulted) {
        faulted = 1;
        for (const char *c = text; *c; c++)
            board->put(board->self, *c);
        board->finish(board->self, 1);
    }
    for (;;)
        continue;
}
