/* SPDX-License-Identifier: MIT
 *
 * Sattolo's algorithm (Information Processing Letters 22, 1986) makes a permutation that is one
 * cycle, each such with equal probability; run on the pointers where they lie it needs no second
 * array.
 */
#include "kernels/pointer_chase.h"

/* Lines fetched ahead of their swap: more than any core has misses in flight. */
#define AHEAD 32u

/* Marsaglia's xorshift64* (Vigna 2016): state never 0. */
static uint32_t random_u32(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (uint32_t)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 32);
}

/* 0 .. bound - 1; the bias of bound / 2^32 does not matter here. */
static size_t random_below(uint64_t *state, size_t bound) {
    return (size_t)(((uint64_t)random_u32(state) * bound) >> 32);
}

static void **line_at(void *memory, size_t line, size_t line_bytes) {
    return (void **)(void *)((char *)memory + line * line_bytes);
}

void psk_chase_build(void *memory, size_t n_lines, size_t line_bytes, uint64_t seed) {
    uint64_t state = (seed ^ UINT64_C(0x9E3779B97F4A7C15)) | 1;
    for (size_t i = 0; i < n_lines; i++) {
        void **line = line_at(memory, i, line_bytes);
        *line = line;
    }
    /* From the last line down, swap with a random one below. The partners do not depend on the
     * swaps: they are drawn and fetched some ahead, which takes the misses of a large build
     * together. */
    size_t i = n_lines - 1;
    while (i > 0) {
        void **partner[AHEAD];
        size_t n = i < AHEAD ? i : AHEAD;
        for (size_t k = 0; k < n; k++) {
            partner[k] = line_at(memory, random_below(&state, i - k), line_bytes);
            __builtin_prefetch(partner[k], 1);
        }
        for (size_t k = 0; k < n; k++) {
            void **line = line_at(memory, i - k, line_bytes);
            void *next = *line;
            *line = *partner[k];
            *partner[k] = next;
        }
        i -= n;
    }
}

#define LOAD p = *(void **)p;
#define TEN_LOADS LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD

void *psk_chase_walk(void *start, uint64_t turns) {
    void *p = start;
    for (; turns > 0; turns--) {
        TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS TEN_LOADS
            TEN_LOADS
    }
    return p;
}

bool psk_chase_is_permutation(const void *memory, size_t n_lines, size_t line_bytes,
                              uint8_t *marks) {
    for (size_t i = 0; i < (n_lines + 7) / 8; i++)
        marks[i] = 0;
    for (size_t i = 0; i < n_lines; i++) {
        const void *const *line =
            (const void *const *)(const void *)((const char *)memory + i * line_bytes);
        uintptr_t offset = (uintptr_t)*line - (uintptr_t)memory;
        size_t next = offset / line_bytes;
        uint8_t bit = (uint8_t)(1u << (next % 8));
        if (next >= n_lines || offset % line_bytes != 0 || (marks[next / 8] & bit) != 0)
            return false;
        marks[next / 8] |= bit;
    }
    return true;
}

const void *psk_chase_follow(const void *start, uint64_t steps) {
    const void *p = start;
    for (; steps > 0; steps--)
        p = *(const void *const *)p;
    return p;
}

uint64_t psk_chase_lap(const void *start, uint64_t limit) {
    const void *p = start;
    for (uint64_t steps = 1; steps <= limit; steps++) {
        p = *(const void *const *)p;
        if (p == start)
            return steps;
    }
    return 0;
}
