/* SPDX-License-Identifier: MIT
 *
 * Assertions that need no libc and stay on in release builds. Never inside a timed loop.
 */
#ifndef PS_CORE_ASSERT_H
#define PS_CORE_ASSERT_H

/* Traps: the parent sees the signal, a debugger sees `what`. */
_Noreturn void ps_assert_failed(const char *what);

#define PS_ASSERT(condition) ((condition) ? (void)0 : ps_assert_failed(#condition))

#endif
