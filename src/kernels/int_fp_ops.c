/* SPDX-License-Identifier: MIT
 *
 * After every step the value is unknown to the compiler but stays in its register: steps can be
 * neither folded nor gathered, and nothing is added to the chain. The operations are those of the
 * rows of vendors' LMBench tables, written anew.
 */
#include "kernels/int_fp_ops.h"

#define HIDE_INT(x) __asm__ volatile("" : "+r"(x))
#if defined(__x86_64__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+x"(x))
#define HIDE_DOUBLE(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+w"(x))
#define HIDE_DOUBLE(x) __asm__ volatile("" : "+w"(x))
#elif defined(__arm__) && defined(__ARM_FP)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+t"(x))
#define HIDE_DOUBLE(x) __asm__ volatile("" : "+w"(x))
#elif defined(__riscv_flen) && __riscv_flen >= 64
#define HIDE_FLOAT(x) __asm__ volatile("" : "+f"(x))
#define HIDE_DOUBLE(x) __asm__ volatile("" : "+f"(x))
#else /* floating point in integer registers, or in software */
#define HIDE_FLOAT(x) __asm__ volatile("" : "+r"(x))
#define HIDE_DOUBLE(x) __asm__ volatile("" : "+r"(x))
#endif

/* s / x leads from x to s / x and back: every step is a real division, and no other operation is
 * in the chain. A remainder has no such cycle: it falls, so an addition lifts it again, and the
 * table takes the time of one off. */
#define ADD(T, x, k) ((T)((x) + (k)))
#define XOR(T, x, k) ((T)((x) ^ (k)))
#define MUL(T, x, k) ((T)((x) * (k)))
#define DIV(T, x, k) ((T)((k) / (x)))
/* Lifted to a quarter of the type's range, so that the quotient is as wide as the division's. */
#define MOD(T, x, k) ((T)((x) % (k) + ((T)1 << (8 * sizeof(T) - 2))))

#define TWICE(S) S S
#define EIGHT(S) TWICE(TWICE(TWICE(S)))

#define STEP(T, HIDE, OP, x, k)                                                                    \
    (x) = OP(T, x, k);                                                                             \
    HIDE(x);
#define PAIR(T, HIDE, OP, x) STEP(T, HIDE, OP, x, even) STEP(T, HIDE, OP, x, odd)
#define ROUND(T, HIDE, OP, k)                                                                      \
    STEP(T, HIDE, OP, a, k)                                                                        \
    STEP(T, HIDE, OP, b, k)                                                                        \
    STEP(T, HIDE, OP, c, k)                                                                        \
    STEP(T, HIDE, OP, d, k)                                                                        \
    STEP(T, HIDE, OP, e, k) STEP(T, HIDE, OP, f, k) STEP(T, HIDE, OP, g, k) STEP(T, HIDE, OP, h, k)

/* T is a type, which takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define KERNELS(name, T, HIDE, OP)                                                                 \
    static void name##_latency(void *values, const void *constants, uint64_t turns) {              \
        T *x = values, a = x[0], even = ((const T *)constants)[0],                                 \
          odd = ((const T *)constants)[1];                                                         \
        HIDE(even);                                                                                \
        HIDE(odd);                                                                                 \
        for (; turns > 0; turns--) {                                                               \
            EIGHT(TWICE(TWICE(PAIR(T, HIDE, OP, a))))                                              \
        }                                                                                          \
        x[0] = a;                                                                                  \
    }                                                                                              \
    static void name##_throughput(void *values, const void *constants, uint64_t turns) {           \
        T *x = values, even = ((const T *)constants)[0], odd = ((const T *)constants)[1];          \
        T a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];          \
        HIDE(even);                                                                                \
        HIDE(odd);                                                                                 \
        for (; turns > 0; turns--) {                                                               \
            TWICE(TWICE(ROUND(T, HIDE, OP, even) ROUND(T, HIDE, OP, odd)))                         \
        }                                                                                          \
        x[0] = a, x[1] = b, x[2] = c, x[3] = d, x[4] = e, x[5] = f, x[6] = g, x[7] = h;            \
    }                                                                                              \
    static void name##_plain(void *values, const void *constants, uint64_t turns) {                \
        volatile T *x = values;                                                                    \
        const T *k = constants;                                                                    \
        for (uint64_t i = 0; i < turns; i++) {                                                     \
            T before = x[0];                                                                       \
            x[0] = OP(T, before, k[i % 2]);                                                        \
        }                                                                                          \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

KERNELS(int_add, uint32_t, HIDE_INT, ADD)
KERNELS(int_bit, uint32_t, HIDE_INT, XOR)
KERNELS(int_mul, uint32_t, HIDE_INT, MUL)
KERNELS(int_div, int32_t, HIDE_INT, DIV)
KERNELS(int_mod, int32_t, HIDE_INT, MOD)
KERNELS(int64_add, uint64_t, HIDE_INT, ADD)
KERNELS(int64_bit, uint64_t, HIDE_INT, XOR)
KERNELS(int64_mul, uint64_t, HIDE_INT, MUL)
KERNELS(int64_div, int64_t, HIDE_INT, DIV)
KERNELS(int64_mod, int64_t, HIDE_INT, MOD)
KERNELS(float_add, float, HIDE_FLOAT, ADD)
KERNELS(float_mul, float, HIDE_FLOAT, MUL)
KERNELS(float_div, float, HIDE_FLOAT, DIV)
KERNELS(double_add, double, HIDE_DOUBLE, ADD)
KERNELS(double_mul, double, HIDE_DOUBLE, MUL)
KERNELS(double_div, double, HIDE_DOUBLE, DIV)

#define ENTRY(text, type, name)                                                                    \
    { text, type, name##_latency, name##_throughput, name##_plain }

const struct psk_ops psk_ops[PSK_OPS_COUNT] = {
    ENTRY("int-add", PSK_OPS_INT, int_add),
    ENTRY("int-bit", PSK_OPS_INT, int_bit),
    ENTRY("int-mul", PSK_OPS_INT, int_mul),
    ENTRY("int-div", PSK_OPS_INT, int_div),
    ENTRY("int-mod", PSK_OPS_INT, int_mod),
    ENTRY("int64-add", PSK_OPS_INT64, int64_add),
    ENTRY("int64-bit", PSK_OPS_INT64, int64_bit),
    ENTRY("int64-mul", PSK_OPS_INT64, int64_mul),
    ENTRY("int64-div", PSK_OPS_INT64, int64_div),
    ENTRY("int64-mod", PSK_OPS_INT64, int64_mod),
    ENTRY("float-add", PSK_OPS_FLOAT, float_add),
    ENTRY("float-mul", PSK_OPS_FLOAT, float_mul),
    ENTRY("float-div", PSK_OPS_FLOAT, float_div),
    ENTRY("double-add", PSK_OPS_DOUBLE, double_add),
    ENTRY("double-mul", PSK_OPS_DOUBLE, double_mul),
    ENTRY("double-div", PSK_OPS_DOUBLE, double_div),
};
