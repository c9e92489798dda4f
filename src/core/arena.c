/* SPDX-License-Identifier: MIT
 *
 * A bump allocator. Nothing is freed: a run's memory goes with its mapping.
 */
#include "core/arena.h"

#include "core/assert.h"

#define DEFAULT_ALIGNMENT_BYTES 16 /* of any scalar, and of a 128-bit vector */

void ps_arena_init(struct ps_arena *arena, void *base, uint64_t size_bytes) {
    arena->base = base;
    arena->size_bytes = base != NULL ? size_bytes : 0;
    arena->used_bytes = 0;
}

void *ps_arena_alloc(struct ps_arena *arena, uint64_t bytes, uint64_t alignment_bytes) {
    uint64_t alignment = alignment_bytes > 0 ? alignment_bytes : DEFAULT_ALIGNMENT_BYTES;
    PS_ASSERT((alignment & (alignment - 1)) == 0);
    if (arena->base == NULL)
        return NULL;
    /* In 64 bits, so that nothing wraps where pointers are narrower. */
    uint64_t start = (uint64_t)(uintptr_t)arena->base + arena->used_bytes;
    uint64_t padding = (0 - start) & (alignment - 1);
    uint64_t left = arena->size_bytes - arena->used_bytes;
    if (padding > left || bytes > left - padding)
        return NULL;
    void *memory = arena->base + (size_t)(arena->used_bytes + padding);
    arena->used_bytes += padding + bytes;
    return memory;
}
