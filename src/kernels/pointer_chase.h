/* SPDX-License-Identifier: MIT
 *
 * A chase: memory lines that hold, each in its first word, the address of another; together one
 * cycle over all of them. Each load waits for the one before. A random cycle no prefetcher can
 * follow; one that goes forward by a stride every prefetcher can.
 */
#ifndef PS_KERNELS_POINTER_CHASE_H
#define PS_KERNELS_POINTER_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PSK_CHASE_LOADS 100u /* in one turn of the timed loop */

/* Makes the cycle over n_lines lines (1 to 2^32 - 1) of line_bytes (a multiple of a pointer's
 * size). */
void psk_chase_build(void *memory, size_t n_lines, size_t line_bytes, uint64_t seed);

/* The cycle from each line to the next in memory, from the last to the first; n_lines 1 or more,
 * stride_bytes from line to line. */
void psk_chase_build_forward(void *memory, size_t n_lines, size_t stride_bytes);
/* A random cycle over all lines that goes through one page after another: the pages in random
 * order, the lines of each in random order. A page is looked up once a visit of all of its lines.
 */
void psk_chase_build_by_page(void *memory, size_t n_pages, size_t page_bytes, size_t line_bytes,
                             uint64_t seed);

/* Follows PSK_CHASE_LOADS pointers, `turns` times; returns the line it has come to. */
void *psk_chase_walk(void *start, uint64_t turns);

/* Several chases at a time, none of which waits for another: PSK_CHASES_STEPS loads of each in
 * every turn. at[i] is where chase i begins, and then where it has come to. n is one of
 * PSK_CHASES_NUMBERS; false when it is not, and nothing was done. */
#define PSK_CHASES_STEPS 10u
#define PSK_CHASES_MAX 16u
#define PSK_CHASES_NUMBERS 1, 2, 4, 8, 12, 16
bool psk_chase_walk_many(void **at, unsigned n, uint64_t turns);

/* Does every line have exactly one predecessor, and point to the start of a line? `marks` is
 * (n_lines + 7) / 8 bytes of scratch. Goes through memory in order. */
bool psk_chase_is_permutation(const void *memory, size_t n_lines, size_t line_bytes,
                              uint8_t *marks);
/* The line that `steps` loads lead to. */
const void *psk_chase_follow(const void *start, uint64_t steps);
/* Loads until the start is reached again; 0 when that takes more than `limit`. */
uint64_t psk_chase_lap(const void *start, uint64_t limit);

#endif
