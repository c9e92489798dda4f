/* SPDX-License-Identifier: MIT
 *
 * Keeping the compiler honest: values that it must compute, and values that it must not know.
 * These compile to no instruction.
 */
#ifndef PS_CORE_KEEP_H
#define PS_CORE_KEEP_H

#include <stddef.h>

/* The value must exist, and all memory that others can reach must be up to date. */
#define PS_KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")
/* The same for a float or double, through memory on every architecture. */
#define PS_KEEP_FP(value) __asm__ volatile("" : : "m"(value) : "memory")
/* The variable gets an unknown value (which is the one it had). */
#define PS_LAUNDER(variable) __asm__ volatile("" : "+r"(variable) : : "memory")
/* Memory behind the pointer may have been read and written. */
#define PS_CLOBBER(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

#endif
