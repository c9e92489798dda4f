/* SPDX-License-Identifier: MIT
 *
 * Passes over memory by the widest accesses that a processor has.
 *
 * Accesses are volatile or assembly: each stands in the code once, in its own width. Loads go to
 * four accumulators in turn, so that no chain of operations is the limit; by exclusive or, which
 * every vector set has in its full width.
 */
#include "kernels/limit_ops.h"

#define BLOCKS(bytes) ((bytes) / PSK_LIMIT_BLOCK_BYTES)

/* STEP(access, lane) for the accesses of a block: 8, 16 or 32 of them. */
#define STEPS_4(STEP, at) STEP((at), 0) STEP((at) + 1, 1) STEP((at) + 2, 2) STEP((at) + 3, 3)
#define STEPS_8(STEP, at) STEPS_4(STEP, at) STEPS_4(STEP, (at) + 4)
#define STEPS_16(STEP, at) STEPS_8(STEP, at) STEPS_8(STEP, (at) + 8)
#define STEPS_32(STEP, at) STEPS_16(STEP, at) STEPS_16(STEP, (at) + 16)

/* The empty assembly keeps the order, so that a block's loads need no more than their registers. */
#define LOAD(at, lane)                                                                             \
    sum##lane ^= source[at];                                                                       \
    __asm__("" : "+" VECTOR_REGISTER(sum##lane));
#define FILL(at, lane) target[at] = value;
#define COPY(at, lane) target[at] = source[at];

/* load_W, fill_W and copy_W of `width` bytes, `n` a block, for processors with TARGET's
 * instructions. */
/* TARGET is an attribute and no expression. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define PASSES(width, n, TARGET)                                                                   \
    typedef uint32_t vector_##width __attribute__((vector_size(width), may_alias));                \
    TARGET static uint32_t load_##width(void *to, const void *from, size_t bytes) {                \
        const volatile vector_##width *source = from;                                              \
        vector_##width sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};                             \
        uint32_t sum = 0;                                                                          \
        (void)to;                                                                                  \
        for (size_t block = BLOCKS(bytes); block > 0; block--, source += (n)) {                    \
            STEPS_##n(LOAD, 0)                                                                     \
        }                                                                                          \
        sum0 ^= sum1 ^ sum2 ^ sum3;                                                                \
        for (unsigned i = 0; i < (width) / sizeof(uint32_t); i++)                                  \
            sum ^= sum0[i];                                                                        \
        return sum;                                                                                \
    }                                                                                              \
    TARGET static uint32_t fill_##width(void *to, const void *from, size_t bytes) {                \
        volatile vector_##width *target = to;                                                      \
        const vector_##width value = (vector_##width){0} + PSK_LIMIT_STORED;                       \
        (void)from;                                                                                \
        for (size_t block = BLOCKS(bytes); block > 0; block--, target += (n)) {                    \
            STEPS_##n(FILL, 0)                                                                     \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    TARGET static uint32_t copy_##width(void *to, const void *from, size_t bytes) {                \
        const volatile vector_##width *source = from;                                              \
        volatile vector_##width *target = to;                                                      \
        for (size_t block = BLOCKS(bytes); block > 0; block--, source += (n), target += (n)) {     \
            STEPS_##n(COPY, 0)                                                                     \
        }                                                                                          \
        return 0;                                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#if defined(__x86_64__) || defined(__i386__)

#define VECTOR_REGISTER "x"
PASSES(16, 32, __attribute__((target("sse2"))))
PASSES(32, 16, __attribute__((target("avx"))))
PASSES(64, 8, __attribute__((target("avx512f"))))

/* Stores past the caches; done when the fence is. */
#define STREAM(at, lane) __asm__ volatile("movntdq %1, %0" : "=m"(target[at]) : "x"(value));
#define STREAM_COPY(at, lane)                                                                      \
    __asm__ volatile("movntdq %1, %0" : "=m"(target[at]) : "x"(source[at]));

__attribute__((target("sse2"))) static uint32_t fill_stream(void *to, const void *from,
                                                            size_t bytes) {
    vector_16 *target = to;
    const vector_16 value = (vector_16){0} + PSK_LIMIT_STORED;
    (void)from;
    for (size_t block = BLOCKS(bytes); block > 0; block--, target += 32) {
        STEPS_32(STREAM, 0)
    }
    __asm__ volatile("sfence" ::: "memory");
    return 0;
}

__attribute__((target("sse2"))) static uint32_t copy_stream(void *to, const void *from,
                                                            size_t bytes) {
    const volatile vector_16 *source = from;
    vector_16 *target = to;
    for (size_t block = BLOCKS(bytes); block > 0; block--, source += 32, target += 32) {
        STEPS_32(STREAM_COPY, 0)
    }
    __asm__ volatile("sfence" ::: "memory");
    return 0;
}

static uint32_t fill_rep(void *to, const void *from, size_t bytes) {
    size_t n = bytes - bytes % PSK_LIMIT_BLOCK_BYTES;
    (void)from;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(PSK_LIMIT_STORED & 0xff) : "memory");
    return 0;
}

static uint32_t copy_rep(void *to, const void *from, size_t bytes) {
    size_t n = bytes - bytes % PSK_LIMIT_BLOCK_BYTES;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    return 0;
}

static bool has_sse2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") != 0;
}
/* These two are true only when the kernel saves the registers, too. */
static bool has_avx(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx") != 0;
}
static bool has_avx512(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") != 0;
}
static bool every(void) {
    return true;
}

#define NO_SSE2 "this processor has no SSE2"
#define NO_AVX "this processor, or its kernel, has no AVX"
#define NO_AVX512 "this processor, or its kernel, has no AVX-512"
static const struct psk_limit_op ops[] = {
    {"load-16", PSK_LIMIT_LOAD, 16, 0, has_sse2, NO_SSE2, load_16},
    {"load-32", PSK_LIMIT_LOAD, 32, 0, has_avx, NO_AVX, load_32},
    {"load-64", PSK_LIMIT_LOAD, 64, 0, has_avx512, NO_AVX512, load_64},
    {"fill-16", PSK_LIMIT_FILL, 16, PSK_LIMIT_STORED, has_sse2, NO_SSE2, fill_16},
    {"fill-32", PSK_LIMIT_FILL, 32, PSK_LIMIT_STORED, has_avx, NO_AVX, fill_32},
    {"fill-64", PSK_LIMIT_FILL, 64, PSK_LIMIT_STORED, has_avx512, NO_AVX512, fill_64},
    {"fill-nt", PSK_LIMIT_FILL, 0, PSK_LIMIT_STORED, has_sse2, NO_SSE2, fill_stream},
    {"fill-rep", PSK_LIMIT_FILL, 0, PSK_LIMIT_STORED, every, NULL, fill_rep},
    {"copy-16", PSK_LIMIT_COPY, 16, 0, has_sse2, NO_SSE2, copy_16},
    {"copy-32", PSK_LIMIT_COPY, 32, 0, has_avx, NO_AVX, copy_32},
    {"copy-64", PSK_LIMIT_COPY, 64, 0, has_avx512, NO_AVX512, copy_64},
    {"copy-nt", PSK_LIMIT_COPY, 0, 0, has_sse2, NO_SSE2, copy_stream},
    {"copy-rep", PSK_LIMIT_COPY, 0, 0, every, NULL, copy_rep},
};
#define N_OPS (sizeof(ops) / sizeof(ops[0]))

#elif defined(__aarch64__)

/* Pairs of 16-byte registers, one instruction each: compilers do not always make the pairs. */
typedef uint32_t vector_16 __attribute__((vector_size(16), may_alias));
#define LOAD_PAIR(at, lane)                                                                        \
    __asm__ volatile("ldp %q0, %q1, [%2, %3]"                                                      \
                     : "=w"(low), "=w"(high)                                                       \
                     : "r"(source), "i"((at)*32)                                                   \
                     : "memory");                                                                  \
    sum##lane ^= low ^ high;
#define STORE_PAIR(mnemonic, at)                                                                   \
    __asm__ volatile(mnemonic " %q1, %q2, [%0, %3]"                                                \
                     :                                                                             \
                     : "r"(target), "w"(low), "w"(high), "i"((at)*32)                              \
                     : "memory");
#define FILL_PAIR(at, lane) STORE_PAIR("stp", at)
#define STREAM_PAIR(at, lane) STORE_PAIR("stnp", at)
#define COPY_PAIR(at, lane)                                                                        \
    __asm__ volatile("ldp %q0, %q1, [%2, %3]"                                                      \
                     : "=w"(low), "=w"(high)                                                       \
                     : "r"(source), "i"((at)*32)                                                   \
                     : "memory");                                                                  \
    STORE_PAIR("stp", at)

static uint32_t load_pair(void *to, const void *from, size_t bytes) {
    const char *source = from;
    vector_16 sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0}, low, high;
    (void)to;
    for (size_t block = BLOCKS(bytes); block > 0; block--, source += PSK_LIMIT_BLOCK_BYTES) {
        STEPS_16(LOAD_PAIR, 0)
    }
    sum0 ^= sum1 ^ sum2 ^ sum3;
    return sum0[0] ^ sum0[1] ^ sum0[2] ^ sum0[3];
}

static uint32_t fill_pair(void *to, const void *from, size_t bytes) {
    char *target = to;
    const vector_16 low = (vector_16){0} + PSK_LIMIT_STORED, high = low;
    (void)from;
    for (size_t block = BLOCKS(bytes); block > 0; block--, target += PSK_LIMIT_BLOCK_BYTES) {
        STEPS_16(FILL_PAIR, 0)
    }
    return 0;
}

static uint32_t fill_stream(void *to, const void *from, size_t bytes) {
    char *target = to;
    const vector_16 low = (vector_16){0} + PSK_LIMIT_STORED, high = low;
    (void)from;
    for (size_t block = BLOCKS(bytes); block > 0; block--, target += PSK_LIMIT_BLOCK_BYTES) {
        STEPS_16(STREAM_PAIR, 0)
    }
    return 0;
}

static uint32_t copy_pair(void *to, const void *from, size_t bytes) {
    const char *source = from;
    char *target = to;
    vector_16 low, high;
    for (size_t block = BLOCKS(bytes); block > 0;
         block--, source += PSK_LIMIT_BLOCK_BYTES, target += PSK_LIMIT_BLOCK_BYTES) {
        STEPS_16(COPY_PAIR, 0)
    }
    return 0;
}

/* Bytes that DC ZVA clears at once; 0 where it is forbidden. */
static size_t zva_bytes(void) {
    uint64_t id;
    __asm__("mrs %0, dczid_el0" : "=r"(id));
    return (id & 16) != 0 ? 0 : (size_t)4 << (id & 15);
}

static uint32_t fill_zva(void *to, const void *from, size_t bytes) {
    char *target = to;
    size_t step = zva_bytes();
    (void)from;
    if (step == 0)
        return 0;
    for (char *end = target + BLOCKS(bytes) * PSK_LIMIT_BLOCK_BYTES; target < end; target += step)
        __asm__ volatile("dc zva, %0" : : "r"(target) : "memory");
    return 0;
}

static bool every(void) {
    return true;
}
static bool has_zva(void) {
    return zva_bytes() > 0 && zva_bytes() <= PSK_LIMIT_BLOCK_BYTES;
}

static const struct psk_limit_op ops[] = {
    {"load-pair", PSK_LIMIT_LOAD, 32, 0, every, NULL, load_pair},
    {"fill-pair", PSK_LIMIT_FILL, 32, PSK_LIMIT_STORED, every, NULL, fill_pair},
    {"fill-nt", PSK_LIMIT_FILL, 0, PSK_LIMIT_STORED, every, NULL, fill_stream},
    {"fill-zva", PSK_LIMIT_FILL, 0, 0, has_zva, "the system forbids DC ZVA here", fill_zva},
    {"copy-pair", PSK_LIMIT_COPY, 32, 0, every, NULL, copy_pair},
};
#define N_OPS (sizeof(ops) / sizeof(ops[0]))

#elif defined(__ARM_NEON) || defined(__ALTIVEC__)

#if defined(__ARM_NEON)
#define VECTOR_REGISTER "w"
#else
#define VECTOR_REGISTER "v"
#endif
PASSES(16, 32, )

static bool every(void) {
    return true;
}

static const struct psk_limit_op ops[] = {
    {"load-16", PSK_LIMIT_LOAD, 16, 0, every, NULL, load_16},
    {"fill-16", PSK_LIMIT_FILL, 16, PSK_LIMIT_STORED, every, NULL, fill_16},
    {"copy-16", PSK_LIMIT_COPY, 16, 0, every, NULL, copy_16},
};
#define N_OPS (sizeof(ops) / sizeof(ops[0]))

#endif

const struct psk_limit_op *psk_limit_ops(size_t *ret_n) {
#ifdef N_OPS
    *ret_n = N_OPS;
    return ops;
#else
    *ret_n = 0;
    return NULL;
#endif
}
