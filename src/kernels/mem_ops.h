/* SPDX-License-Identifier: MIT
 *
 * One pass over memory, for each of the nine operations of the bandwidth table, and the sum that
 * the file-reading table takes of what it has read.
 *
 * The walked operations go upward in blocks of 512 bytes; what is left over at the end is not
 * touched. rd wr rdwr cp make 32 four-byte accesses a block, 16 bytes apart; frd fwr fcp make 128.
 * Every access is one load or store of four bytes on every compiler (tests/asm counts them): a row
 * says the same thing of two boards only when neither compiler has made vectors of it.
 */
#ifndef PS_KERNELS_MEM_OPS_H
#define PS_KERNELS_MEM_OPS_H

#include <stddef.h>
#include <stdint.h>

#define PSK_MEM_BLOCK_BYTES 512u
/* What wr, rdwr and fwr store. */
#define PSK_MEM_STORED 1u

/* Buffers are aligned to 4 bytes; `from` may be NULL where the operation has one buffer, and so may
 * `to` where it only reads. Returns the sum of what was loaded for rd, frd and rdwr, else 0. */
uint32_t psk_mem_rd(void *to, const void *from, size_t bytes);
uint32_t psk_mem_wr(void *to, const void *from, size_t bytes);
uint32_t psk_mem_rdwr(void *to, const void *from, size_t bytes);
uint32_t psk_mem_cp(void *to, const void *from, size_t bytes);
uint32_t psk_mem_frd(void *to, const void *from, size_t bytes);
uint32_t psk_mem_fwr(void *to, const void *from, size_t bytes);
uint32_t psk_mem_fcp(void *to, const void *from, size_t bytes);
/* The C library's memset to zero and memmove, whole buffer, by a pointer that the compiler does not
 * know: it can not put code of its own in their place. */
uint32_t psk_mem_bzero(void *to, const void *from, size_t bytes);
uint32_t psk_mem_bcopy(void *to, const void *from, size_t bytes);

/* Sum of the machine words (the size of a long) in a buffer aligned to one; a last part of a word
 * is left out. One load a word. */
unsigned long psk_mem_sum(const void *from, size_t bytes);

/* Word number `index` of the pattern with which buffers are filled, to prove answers by. */
static inline uint32_t psk_mem_pattern(size_t index, uint32_t seed) {
    /* 2654435761 is the prime next to 2^32 / golden ratio: neighbours differ in many bits. */
    return (uint32_t)index * 2654435761u + seed;
}
/* Fills whole words. */
void psk_mem_fill(void *to, size_t bytes, uint32_t seed);

#endif
