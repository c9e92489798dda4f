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

/* The chases' places are variables of their own, so that as many as can be are registers; what does
 * not fit is on the stack, which takes cycles where a miss takes hundreds. */
#define ON(i) p##i = *(void **)p##i;
#define ON_1 ON(0)
#define ON_2 ON_1 ON(1)
#define ON_4 ON_2 ON(2) ON(3)
#define ON_8 ON_4 ON(4) ON(5) ON(6) ON(7)
#define ON_12 ON_8 ON(8) ON(9) ON(10) ON(11)
#define ON_16 ON_12 ON(12) ON(13) ON(14) ON(15)
#define TEN(step) step step step step step step step step step step

#define WALK(n)                                                                                    \
    __attribute__((noinline)) static void walk_##n(void **at, uint64_t turns) {                    \
        void *p0 = at[0 % (n)], *p1 = at[1 % (n)], *p2 = at[2 % (n)], *p3 = at[3 % (n)];           \
        void *p4 = at[4 % (n)], *p5 = at[5 % (n)], *p6 = at[6 % (n)], *p7 = at[7 % (n)];           \
        void *p8 = at[8 % (n)], *p9 = at[9 % (n)], *p10 = at[10 % (n)], *p11 = at[11 % (n)];       \
        void *p12 = at[12 % (n)], *p13 = at[13 % (n)], *p14 = at[14 % (n)], *p15 = at[15 % (n)];   \
        for (; turns > 0; turns--) {                                                               \
            TEN(ON_##n)                                                                            \
        }                                                                                          \
        void *const ends[] = {                                                                     \
            p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15};                 \
        for (unsigned i = 0; i < (n); i++)                                                         \
            at[i] = ends[i];                                                                       \
    }
WALK(1)
WALK(2)
WALK(4)
WALK(8)
WALK(12)
WALK(16)

bool psk_chase_walk_many(void **at, unsigned n, uint64_t turns) {
    switch (n) {
    case 1:
        walk_1(at, turns);
        return true;
    case 2:
        walk_2(at, turns);
        return true;
    case 4:
        walk_4(at, turns);
        return true;
    case 8:
        walk_8(at, turns);
        return true;
    case 12:
        walk_12(at, turns);
        return true;
    case 16:
        walk_16(at, turns);
        return true;
    default:
        return false;
    }
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
