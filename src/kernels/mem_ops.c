/* SPDX-License-Identifier: MIT
 *
 * Passes over memory; the work per block is what the bandwidth rows of vendors' LMBench tables are
 * made of, written anew.
 *
 * The accesses are volatile: each stands in the code exactly once, in its own width. The sums are
 * not, and go to four accumulators in turn, so that loads and not a chain of adds are the limit.
 */
#include "kernels/mem_ops.h"

#include "core/keep.h"

/* Part of every freestanding C environment; <string.h> is not. */
void *memset(void *to, int value, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);

#define WORDS_PER_BLOCK (PSK_MEM_BLOCK_BYTES / sizeof(uint32_t))

/* STEP(word, lane) for words `apart` words from each other; lanes go round. */
#define FOUR(STEP, word, apart)                                                                    \
    STEP((word), 0)                                                                                \
    STEP((word) + (apart), 1) STEP((word) + 2 * (apart), 2) STEP((word) + 3 * (apart), 3)
#define SIXTEEN(STEP, word, apart)                                                                 \
    FOUR(STEP, (word), (apart))                                                                    \
    FOUR(STEP, (word) + 4 * (apart), (apart))                                                      \
    FOUR(STEP, (word) + 8 * (apart), (apart))                                                      \
    FOUR(STEP, (word) + 12 * (apart), (apart))
/* The two ways through a block of 128 words. */
#define EVERY_FOURTH_WORD(STEP) SIXTEEN(STEP, 0, 4) SIXTEEN(STEP, 64, 4)
#define EVERY_WORD(STEP)                                                                           \
    SIXTEEN(STEP, 0, 1)                                                                            \
    SIXTEEN(STEP, 16, 1)                                                                           \
    SIXTEEN(STEP, 32, 1)                                                                           \
    SIXTEEN(STEP, 48, 1)                                                                           \
    SIXTEEN(STEP, 64, 1)                                                                           \
    SIXTEEN(STEP, 80, 1)                                                                           \
    SIXTEEN(STEP, 96, 1)                                                                           \
    SIXTEEN(STEP, 112, 1)

/* Adds in the order written: the compiler may not gather the loads of a block into one tree of
 * adds, which does not fit its registers and goes through the stack. No instruction. */
#define ADD(lane, value)                                                                           \
    sum##lane += (value);                                                                          \
    __asm__("" : "+r"(sum##lane));

#define LOAD(word, lane) ADD(lane, source[word])
#define STORE(word, lane) target[word] = PSK_MEM_STORED;
#define LOAD_STORE(word, lane)                                                                     \
    ADD(lane, target[word])                                                                        \
    target[word] = PSK_MEM_STORED;
#define COPY(word, lane) target[word] = source[word];

#define PASS_READ(name, WAY)                                                                       \
    uint32_t name(void *to, const void *from, size_t bytes) {                                      \
        const volatile uint32_t *source = from;                                                    \
        uint32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;                                           \
        (void)to;                                                                                  \
        for (size_t block = bytes / PSK_MEM_BLOCK_BYTES; block > 0; block--) {                     \
            WAY(LOAD)                                                                              \
            source += WORDS_PER_BLOCK;                                                             \
        }                                                                                          \
        return sum0 + sum1 + sum2 + sum3;                                                          \
    }
#define PASS_WRITE(name, WAY)                                                                      \
    uint32_t name(void *to, const void *from, size_t bytes) {                                      \
        volatile uint32_t *target = to;                                                            \
        (void)from;                                                                                \
        for (size_t block = bytes / PSK_MEM_BLOCK_BYTES; block > 0; block--) {                     \
            WAY(STORE)                                                                             \
            target += WORDS_PER_BLOCK;                                                             \
        }                                                                                          \
        return 0;                                                                                  \
    }
#define PASS_COPY(name, WAY)                                                                       \
    uint32_t name(void *to, const void *from, size_t bytes) {                                      \
        const volatile uint32_t *source = from;                                                    \
        volatile uint32_t *target = to;                                                            \
        for (size_t block = bytes / PSK_MEM_BLOCK_BYTES; block > 0; block--) {                     \
            WAY(COPY)                                                                              \
            source += WORDS_PER_BLOCK;                                                             \
            target += WORDS_PER_BLOCK;                                                             \
        }                                                                                          \
        return 0;                                                                                  \
    }

PASS_READ(psk_mem_rd, EVERY_FOURTH_WORD)
PASS_READ(psk_mem_frd, EVERY_WORD)
PASS_WRITE(psk_mem_wr, EVERY_FOURTH_WORD)
PASS_WRITE(psk_mem_fwr, EVERY_WORD)
PASS_COPY(psk_mem_cp, EVERY_FOURTH_WORD)
PASS_COPY(psk_mem_fcp, EVERY_WORD)

uint32_t psk_mem_rdwr(void *to, const void *from, size_t bytes) {
    volatile uint32_t *target = to;
    uint32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    (void)from;
    for (size_t block = bytes / PSK_MEM_BLOCK_BYTES; block > 0; block--) {
        EVERY_FOURTH_WORD(LOAD_STORE)
        target += WORDS_PER_BLOCK;
    }
    return sum0 + sum1 + sum2 + sum3;
}

uint32_t psk_mem_bzero(void *to, const void *from, size_t bytes) {
    void *(*fill)(void *, int, size_t) = memset;
    (void)from;
    PS_LAUNDER(fill);
    PS_KEEP(fill(to, 0, bytes));
    return 0;
}

uint32_t psk_mem_bcopy(void *to, const void *from, size_t bytes) {
    void *(*copy)(void *, const void *, size_t) = memmove;
    PS_LAUNDER(copy);
    PS_KEEP(copy(to, from, bytes));
    return 0;
}

unsigned long psk_mem_sum(const void *from, size_t bytes) {
    const volatile unsigned long *source = from;
    size_t n_words = bytes / sizeof(*source);
    unsigned long sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (; n_words >= 16; n_words -= 16) {
        SIXTEEN(LOAD, 0, 1)
        source += 16;
    }
    for (; n_words > 0; n_words--)
        sum0 += *source++;
    return sum0 + sum1 + sum2 + sum3;
}

void psk_mem_fill(void *to, size_t bytes, uint32_t seed) {
    uint32_t *words = to;
    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        words[i] = psk_mem_pattern(i, seed);
}
