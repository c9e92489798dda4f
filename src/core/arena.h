/* SPDX-License-Identifier: MIT
 *
 * A bump allocator over one block of memory.
 */
#ifndef PS_CORE_ARENA_H
#define PS_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ps_arena {
    uint8_t *base;
    uint64_t size_bytes;
    uint64_t used_bytes;
};

void ps_arena_init(struct ps_arena *arena, void *base, uint64_t size_bytes);
/* NULL when it does not fit; alignment a power of two, 0 is 16. Contents are left as they are. */
void *ps_arena_alloc(struct ps_arena *arena, uint64_t bytes, uint64_t alignment_bytes);

#endif
