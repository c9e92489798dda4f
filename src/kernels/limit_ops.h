/* SPDX-License-Identifier: MIT
 *
 * Passes over memory by the widest accesses that a processor has, each in one stated width.
 *
 * They go upward in blocks of 512 bytes; what is left over at the end is not touched. Which of them
 * can run is found at run time, by the processor's own word: a build for a plain processor has all.
 */
#ifndef PS_KERNELS_LIMIT_OPS_H
#define PS_KERNELS_LIMIT_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PSK_LIMIT_BLOCK_BYTES 512u
/* A word of what fills store: four equal bytes, as an instruction that stores bytes needs it. */
#define PSK_LIMIT_STORED 0x5a5a5a5au

enum psk_limit_kind { PSK_LIMIT_LOAD, PSK_LIMIT_FILL, PSK_LIMIT_COPY };

struct psk_limit_op {
    const char *name;
    enum psk_limit_kind kind;
    unsigned width_bytes; /* of one access; 0: the processor's choice */
    uint32_t stored;      /* by a fill, in each word */
    bool (*supported)(void);
    const char *missing; /* what to say when it is not */
    /* Buffers are aligned to 512 bytes and do not overlap; a load has no `to`, a fill no `from`.
     * Returns the exclusive or of all words loaded for a load, else 0. */
    uint32_t (*pass)(void *to, const void *from, size_t bytes);
};

/* Those that this architecture has, supported here or not; none where the compiler was given no
 * vector registers. */
const struct psk_limit_op *psk_limit_ops(size_t *ret_n);

#endif
