/* SPDX-License-Identifier: MIT
 *
 * Chunks that grow up to 64 KiB: a sheet of a few cases costs little, a large one few calls. A
 * piece that does not fit an ordinary chunk gets one of its own.
 */
#include "sheet/memory_pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_BYTES_MAX 65536
#define ALIGNMENT 8 /* of doubles, pointers and 64-bit integers */

struct ps_memory_chunk {
    struct ps_memory_chunk *next;
    size_t size_bytes, used_bytes;
    _Alignas(ALIGNMENT) unsigned char data[];
};

void ps_memory_pool_init(struct ps_memory_pool *pool, size_t first_bytes) {
    *pool = (struct ps_memory_pool){.chunk_bytes = first_bytes < CHUNK_BYTES_MAX ? first_bytes
                                                                                 : CHUNK_BYTES_MAX};
}

void ps_memory_pool_done(struct ps_memory_pool *pool) {
    while (pool->chunks) {
        struct ps_memory_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
}

static struct ps_memory_chunk *chunk_new(size_t bytes) {
    if (bytes > SIZE_MAX - sizeof(struct ps_memory_chunk))
        return NULL;
    struct ps_memory_chunk *chunk = malloc(sizeof(*chunk) + bytes);
    if (chunk) {
        chunk->size_bytes = bytes;
        chunk->used_bytes = 0;
    }
    return chunk;
}

void *ps_memory_pool_alloc(struct ps_memory_pool *pool, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct ps_memory_chunk *chunk = pool->chunks;
    if (!chunk || bytes > chunk->size_bytes - chunk->used_bytes) {
        bool own = bytes > pool->chunk_bytes / 4;
        struct ps_memory_chunk *made = chunk_new(own ? bytes : pool->chunk_bytes);
        if (!made)
            return NULL;
        if (own && chunk) { /* behind the newest, whose rest stays in use */
            made->next = chunk->next;
            chunk->next = made;
        } else {
            made->next = chunk;
            pool->chunks = made;
            if (!own && pool->chunk_bytes < CHUNK_BYTES_MAX)
                pool->chunk_bytes *= 2;
        }
        chunk = made;
    }
    void *piece = chunk->data + chunk->used_bytes;
    chunk->used_bytes += bytes;
    return piece;
}
