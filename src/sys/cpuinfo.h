/* SPDX-License-Identifier: MIT
 *
 * What /proc/cpuinfo says of the first CPU.
 */
#ifndef PS_SYS_CPUINFO_H
#define PS_SYS_CPUINFO_H

#include <stdbool.h>
#include <stddef.h>

/* The first line "key : value"; ASCII, runs of blanks made one. False when there is none. */
bool ps_cpuinfo_value(const char *root, const char *key, char *value, size_t value_bytes);
/* Copies printable ASCII, runs of blanks made one: firmware pads its names with anything. */
void ps_copy_printable(char *to, size_t to_bytes, const char *from);

#endif
