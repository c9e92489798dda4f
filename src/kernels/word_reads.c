/* SPDX-License-Identifier: MIT
 *
 * The zero that keeps nothing of a value comes from where the compiler can not see it, else it
 * would take the dependence away with it.
 */
#include "kernels/word_reads.h"

#include "core/keep.h"

#define TURN 8u /* reads in one turn of the loop */

uint32_t psk_word_reads(const uint32_t *words, uint32_t n_words, uint32_t step, uint32_t at) {
    const volatile uint32_t *from = words;
    uint32_t nothing = 0, last = n_words - 1;
    PS_LAUNDER(nothing);
    for (unsigned turn = 0; turn < PSK_WORD_READS / TURN; turn++) {
#define READ at = ((at + step) & last) + (from[at] & nothing);
        READ READ READ READ READ READ READ READ
#undef READ
    }
    return at;
}
