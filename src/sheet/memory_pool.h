/* SPDX-License-Identifier: MIT
 *
 * Memory that is given back all at once: the nodes of a JSON document, the contents of a sheet.
 */
#ifndef PS_SHEET_MEMORY_POOL_H
#define PS_SHEET_MEMORY_POOL_H

#include <stddef.h>

struct ps_memory_chunk;

struct ps_memory_pool {
    struct ps_memory_chunk *chunks; /* newest first */
    size_t chunk_bytes;             /* of the next ordinary chunk */
};

/* Chunks of first_bytes, then twice as large each time, up to 64 KiB. */
void ps_memory_pool_init(struct ps_memory_pool *pool, size_t first_bytes);
void ps_memory_pool_done(struct ps_memory_pool *pool);
/* Aligned for any of our types, not zeroed; NULL on memory shortage. */
void *ps_memory_pool_alloc(struct ps_memory_pool *pool, size_t bytes);

#endif
