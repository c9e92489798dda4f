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

/* Sattolo's swaps over n lines that hold something each: from the last line down, with a random one
 * below. The partners do not depend on the swaps: they are drawn and fetched some ahead, which
 * takes the misses of a large build together. */
static void swap_down(void *memory, size_t n_lines, size_t line_bytes, uint64_t *state) {
    size_t i = n_lines - 1;
    while (i > 0) {
        void **partner[AHEAD];
        size_t n = i < AHEAD ? i : AHEAD;
        for (size_t k = 0; k < n; k++) {
            partner[k] = line_at(memory, random_below(state, i - k), line_bytes);
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

static uint64_t first_state(uint64_t seed) {
    return (seed ^ UINT64_C(0x9E3779B97F4A7C15)) | 1;
}

/* Every line to itself. */
static void point_home(void *memory, size_t n_lines, size_t line_bytes) {
    for (size_t i = 0; i < n_lines; i++) {
        void **line = line_at(memory, i, line_bytes);
        *line = line;
    }
}

void psk_chase_build(void *memory, size_t n_lines, size_t line_bytes, uint64_t seed) {
    uint64_t state = first_state(seed);
    point_home(memory, n_lines, line_bytes);
    swap_down(memory, n_lines, line_bytes, &state);
}

void psk_chase_build_forward(void *memory, size_t n_lines, size_t stride_bytes) {
    for (size_t i = 0; i < n_lines; i++)
        *line_at(memory, i, stride_bytes) =
            line_at(memory, i + 1 < n_lines ? i + 1 : 0, stride_bytes);
}

void psk_chase_build_by_page(void *memory, size_t n_pages, size_t page_bytes, size_t line_bytes,
                             uint64_t seed) {
    uint64_t state = first_state(seed);
    size_t n_lines = page_bytes / line_bytes;
    for (size_t page = 0; page < n_pages; page++) {
        char *lines = (char *)memory + page * page_bytes;
        point_home(lines, n_lines, line_bytes);
        swap_down(lines, n_lines, line_bytes, &state);
    }
    /* Each page is a cycle now, and its first line holds where it goes on. The same swaps over
     * these make one cycle of all: a page is left by its first line only, when it has been gone
     * round. */
    swap_down(memory, n_pages, page_bytes, &state);
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
