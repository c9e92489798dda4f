/* SPDX-License-Identifier: MIT
 *
 * The end of a failed assertion. The text is kept in a variable that a debugger or a core dump can
 * show; there is nowhere to print it on a microcontroller, and a benchmark's child has no stdout.
 */
#include "core/assert.h"

static const char *volatile failed_assertion;

_Noreturn void ps_assert_failed(const char *what) {
    failed_assertion = what;
    (void)failed_assertion;
    __builtin_trap();
}
