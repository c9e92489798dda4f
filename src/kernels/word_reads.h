/* SPDX-License-Identifier: MIT
 *
 * Reads that wait for each other from memory whose contents are not ours to choose.
 */
#ifndef PS_KERNELS_WORD_READS_H
#define PS_KERNELS_WORD_READS_H

#include <stddef.h>
#include <stdint.h>

#define PSK_WORD_READS 8192u /* of one pass */

/* A pass: PSK_WORD_READS reads of 32 bits from n_words (a power of two) words, each `step` (odd)
 * words on from the last, round and round; from word `at`. The address of each is made with what
 * the last one returned (of which nothing is left in it), so that no core can have two at a time.
 * Returns the word where the next pass goes on. */
uint32_t psk_word_reads(const uint32_t *words, uint32_t n_words, uint32_t step, uint32_t at);

#endif
