/* SPDX-License-Identifier: MIT
 *
 * The core's clock, from how long a chain of dependent instructions takes.
 *
 * The add chain is register + register: recent cores fold "add constant" and address arithmetic
 * while renaming, so that such chains run at several a cycle and tell nothing. Its latency is one
 * cycle on every core that runs Linux; the multiply chain checks that. Multiplies are 32 bits wide:
 * some cores take a fraction of a pass more for 64.
 *
 * A probe is the time of a long chain less that of a short one, so that reading the clock and
 * calling cancel. What is not measured: a clock that changes within the 12 us.
 */
#include "sys/clock_speed.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sys/affinity.h"
#include "sys/root.h"

/* One turn of the loop has 400 dependent instructions, so that the loop's own two or three are 0.5
 * % even where every instruction takes equally long (an emulator that counts instructions). */
#define TURN_INSTRUCTIONS 400
#define LONG_TURNS 40 /* x 400 = 16 000 */
#define TAKES 3       /* of each length a probe; one may be interrupted without harm */
/* Chains are made longer where the clock's steps are coarse, so that a step is at most 1 %. */
#define STEPS_PER_CHAIN 100
#define TURNS_MAX 4000 /* 1 ms at 1.6 GHz */

/* A step seen that is no longer than this is the cost of a read (20 to 30 ns), not a step. */
#define READ_NS_MAX 30
/* No other take as near to the fastest as this: that one may have been disturbed too. */
#define DISTURBED 1.05

#define CHECK_PAIRS 9

/* Text, which parentheses would make something else. */
#define REPEAT_5(x) x x x x x
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define REPEAT_400(x) REPEAT_5(REPEAT_5(REPEAT_5(x x x) x))

_Static_assert(5 * (5 * (5 * 3 + 1)) == TURN_INSTRUCTIONS, "REPEAT_400 repeats 400 times");

#if defined(__x86_64__) || defined(__i386__)
#define ADD_TEXT "add %k1, %k0\n\t"
#define MULTIPLY_TEXT "imul %k1, %k0\n\t"
#elif defined(__aarch64__)
#define ADD_TEXT "add %w0, %w0, %w1\n\t"
#define MULTIPLY_TEXT "mul %w0, %w0, %w1\n\t"
#elif defined(__arm__)
#define ADD_TEXT "add %0, %0, %1\n\t"
#define MULTIPLY_TEXT "mul %0, %0, %1\n\t"
#elif defined(__riscv) && __riscv_xlen == 64
#define ADD_TEXT "addw %0, %0, %1\n\t"
#define MULTIPLY_TEXT "mulw %0, %0, %1\n\t"
#endif

#ifdef ADD_TEXT
#define CHAIN_OF(text, x, y) __asm__ volatile(REPEAT_400(text) : "+&r"(x) : "r"(y) : "cc")
#define ADD_400(x, y) CHAIN_OF(ADD_TEXT, x, y)
#define MULTIPLY_400(x, y) CHAIN_OF(MULTIPLY_TEXT, x, y)
#else
/* The compiler can not look through the empty statements, so each operation stands by itself. */
#define STEP(x, expression)                                                                        \
    x = (expression);                                                                              \
    __asm__ volatile("" : "+r"(x));
#define ADD_400(x, y) REPEAT_400(STEP(x, x + y))
#define MULTIPLY_400(x, y) REPEAT_400(STEP(x, x *y))
#endif

enum chain { CHAIN_ADD, CHAIN_MULTIPLY };

uint64_t ps_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ps_now_raw_ns(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC_RAW, &now) != 0) { /* some sandboxes have none */
        return ps_now_ns();
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t time_chain_ns(enum chain chain, unsigned turns) {
    /* Odd and unknown to the compiler: no operand is 0 or 1, which some multipliers finish early.
     */
    uint32_t x = 0x9e3779b1u, y = 0x85ebca6bu;
    __asm__ volatile("" : "+r"(x), "+r"(y));
    uint64_t start_ns = ps_now_raw_ns();
    if (chain == CHAIN_ADD) {
        for (unsigned i = 0; i < turns; i++) {
            ADD_400(x, y);
        }
    } else {
        for (unsigned i = 0; i < turns; i++) {
            MULTIPLY_400(x, y);
        }
    }
    /* Reading the clock does not wait for x on its own account. */
    __asm__ volatile("" : : "r"(x) : "memory");
    return ps_now_raw_ns() - start_ns;
}

uint64_t ps_clock_step_ns(void) {
    uint64_t step_ns = UINT64_MAX;
    for (unsigned i = 0; i < 32; i++) {
        uint64_t before_ns = ps_now_raw_ns(), after_ns;
        unsigned tries = 0;
        do {
            after_ns = ps_now_raw_ns();
        } while (after_ns == before_ns && ++tries < 1000000);
        if (after_ns > before_ns && after_ns - before_ns < step_ns) {
            step_ns = after_ns - before_ns;
        }
    }
    return step_ns == UINT64_MAX ? 0 : step_ns;
}

/* What the machine's clock demands of the chains; found once. */
struct clock_fit {
    unsigned turns;   /* of a long chain: a step of the clock is at most 1 % of it */
    unsigned step_ns; /* 0: too fine to matter */
};

static struct clock_fit clock_fit(void) {
    static atomic_uint known_turns, known_step_ns;
    struct clock_fit fit;
    fit.turns = atomic_load_explicit(&known_turns, memory_order_acquire);
    if (fit.turns != 0) {
        fit.step_ns = atomic_load_explicit(&known_step_ns, memory_order_relaxed);
        return fit;
    }
    uint64_t step_ns = ps_clock_step_ns();
    fit.turns = LONG_TURNS;
    fit.step_ns = step_ns <= READ_NS_MAX ? 0 : (unsigned)step_ns;
    while (fit.turns < TURNS_MAX &&
           time_chain_ns(CHAIN_ADD, fit.turns) < (uint64_t)fit.step_ns * STEPS_PER_CHAIN) {
        fit.turns += fit.turns / 4;
    }
    atomic_store_explicit(&known_step_ns, fit.step_ns, memory_order_relaxed);
    atomic_store_explicit(&known_turns, fit.turns, memory_order_release);
    return fit;
}

static uint64_t fastest_of(const uint64_t *takes_ns) {
    uint64_t fastest_ns = takes_ns[0];
    for (unsigned i = 1; i < TAKES; i++) {
        fastest_ns = takes_ns[i] < fastest_ns ? takes_ns[i] : fastest_ns;
    }
    return fastest_ns;
}

static bool disturbed(const uint64_t *takes_ns) {
    double limit_ns = (double)fastest_of(takes_ns) * DISTURBED;
    unsigned near = 0;
    for (unsigned i = 0; i < TAKES; i++) {
        near += (double)takes_ns[i] <= limit_ns;
    }
    return near < 2;
}

/* The fastest; with a coarse clock the mean of those within a step of it, which unlike the minimum
 * has no bias: an interrupt costs more than a step. */
static double undisturbed_ns(const uint64_t *takes_ns, unsigned step_ns) {
    uint64_t fastest_ns = fastest_of(takes_ns), sum_ns = 0, n = 0;
    for (unsigned i = 0; i < TAKES; i++) {
        if (takes_ns[i] <= fastest_ns + step_ns) {
            sum_ns += takes_ns[i];
            n++;
        }
    }
    return (double)sum_ns / (double)n;
}

/* Time of one instruction of the chain, 0 when it could not be told. */
static double time_instruction_ns(enum chain chain) {
    uint64_t long_ns[TAKES], short_ns[TAKES];
    struct clock_fit fit = clock_fit();
    for (unsigned i = 0; i < TAKES; i++) {
        short_ns[i] = time_chain_ns(chain, 1);
        long_ns[i] = time_chain_ns(chain, fit.turns + 1);
    }
    double chain_ns = undisturbed_ns(long_ns, fit.step_ns) - undisturbed_ns(short_ns, fit.step_ns);
    if (disturbed(long_ns) || !(chain_ns > 0)) {
        return 0;
    }
    return chain_ns / ((double)fit.turns * TURN_INSTRUCTIONS);
}

double ps_clock_probe_mhz(void) {
    double add_ns = time_instruction_ns(CHAIN_ADD);
    if (add_ns <= 0) { /* once more: an interruption is over in microseconds */
        add_ns = time_instruction_ns(CHAIN_ADD);
    }
    return add_ns > 0 ? 1000 / add_ns : 0;
}

/* Six chains: more than most cores add in a cycle, and registers enough on all. */
#define ISSUE_CHAINS 6
#define ISSUE_TURNS 40
#define ISSUE_PER_TURN (ISSUE_CHAINS * 50)

#if defined(__x86_64__) || defined(__i386__)
#define ISSUE_TEXT                                                                                 \
    "add %k6, %k0\n\tadd %k6, %k1\n\tadd %k6, %k2\n\tadd %k6, %k3\n\tadd %k6, %k4\n\tadd %k6, "    \
    "%k5\n\t"
#elif defined(__aarch64__)
#define ISSUE_TEXT                                                                                 \
    "add %w0, %w0, %w6\n\tadd %w1, %w1, %w6\n\tadd %w2, %w2, %w6\n\tadd %w3, %w3, %w6\n\t"         \
    "add %w4, %w4, %w6\n\tadd %w5, %w5, %w6\n\t"
#elif defined(__arm__)
#define ISSUE_TEXT                                                                                 \
    "add %0, %0, %6\n\tadd %1, %1, %6\n\tadd %2, %2, %6\n\tadd %3, %3, %6\n\tadd %4, %4, %6\n\t"   \
    "add %5, %5, %6\n\t"
#elif defined(__riscv) && __riscv_xlen == 64
#define ISSUE_TEXT                                                                                 \
    "addw %0, %0, %6\n\taddw %1, %1, %6\n\taddw %2, %2, %6\n\taddw %3, %3, %6\n\t"                 \
    "addw %4, %4, %6\n\taddw %5, %5, %6\n\t"
#endif

#ifdef ISSUE_TEXT
#define REPEAT_50(x) REPEAT_5(REPEAT_5(x x))
__attribute__((noinline)) static uint64_t time_issue_ns(unsigned turns) {
    uint32_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, y = 0x85ebca6bu;
    __asm__ volatile("" : "+r"(y));
    uint64_t start_ns = ps_now_raw_ns();
    for (unsigned i = 0; i < turns; i++) {
        __asm__ volatile(REPEAT_50(ISSUE_TEXT)
                         : "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d), "+&r"(e), "+&r"(f)
                         : "r"(y)
                         : "cc");
    }
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
    __asm__ volatile("" : : "r"(d), "r"(e), "r"(f) : "memory");
    return ps_now_raw_ns() - start_ns;
}
#endif

double ps_issue_probe_per_us(void) {
#ifdef ISSUE_TEXT
    uint64_t takes_ns[TAKES];
    struct clock_fit fit = clock_fit();
    /* Where the clock's steps are coarse the chains are longer in proportion. */
    unsigned turns = ISSUE_TURNS * (fit.turns / LONG_TURNS);
    for (unsigned i = 0; i < TAKES; i++) {
        takes_ns[i] = time_issue_ns(turns);
    }
    /* The middle one of three: the fastest would be the gap between a neighbour's bursts. */
    uint64_t low_ns = takes_ns[0] < takes_ns[1] ? takes_ns[0] : takes_ns[1];
    uint64_t high_ns = takes_ns[0] < takes_ns[1] ? takes_ns[1] : takes_ns[0];
    uint64_t middle_ns = takes_ns[2] < low_ns    ? low_ns
                         : takes_ns[2] > high_ns ? high_ns
                                                 : takes_ns[2];
    return middle_ns > 0 ? 1000.0 * turns * ISSUE_PER_TURN / (double)middle_ns : 0;
#else
    return 0;
#endif
}

static double median(double *values, unsigned n) {
    for (unsigned i = 1; i < n; i++) { /* a handful */
        double value = values[i];
        unsigned j = i;
        for (; j > 0 && values[j - 1] > value; j--) {
            values[j] = values[j - 1];
        }
        values[j] = value;
    }
    return n == 0 ? 0 : n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void ps_clock_check(struct ps_clock_check *ret_check) {
    double mhz[CHECK_PAIRS], ratios[CHECK_PAIRS];
    unsigned n = 0;
    for (unsigned i = 0; i < CHECK_PAIRS; i++) {
        double add_ns = time_instruction_ns(CHAIN_ADD);
        double multiply_ns = time_instruction_ns(CHAIN_MULTIPLY);
        if (add_ns > 0 && multiply_ns > 0) {
            mhz[n] = 1000 / add_ns;
            ratios[n++] = multiply_ns / add_ns;
        }
    }
    memset(ret_check, 0, sizeof *ret_check);
    if (n < (CHECK_PAIRS + 1) / 2) {
        return;
    }
    ret_check->add_mhz = median(mhz, n);
    ret_check->ratio = median(ratios, n);
    double whole = round(ret_check->ratio);
    if (whole >= 1 && whole <= 5 && fabs(ret_check->ratio - whole) <= 0.03 * whole) {
        ret_check->trusted = true;
        ret_check->multiply_cycles = (unsigned)whole;
    }
}

double ps_full_issue(uint64_t for_ns) {
    enum { PROBES = 256 };
    double issues[PROBES];
    unsigned n = 0;
    uint64_t stop_ns = ps_now_ns() + for_ns;
    while (n < PROBES && ps_now_ns() < stop_ns) {
        double mhz = ps_clock_probe_mhz(), per_us = ps_issue_probe_per_us();
        if (mhz > 0 && per_us > 0) {
            issues[n++] = per_us / mhz;
        }
    }
    if (n == 0) {
        return 0;
    }
    (void)median(issues, n); /* sorts */
    return issues[(n - 1) * 95 / 100];
}

/* Mean cost of a read, best of several batches. */
static uint64_t read_cost_ns(void) {
    enum { READS = 1000, BATCHES = 5 };
    uint64_t best_ns = UINT64_MAX;
    for (unsigned i = 0; i < BATCHES; i++) {
        uint64_t start_ns = ps_now_raw_ns(), now_ns = start_ns;
        for (unsigned j = 0; j < READS; j++) {
            now_ns = ps_now_raw_ns();
        }
        best_ns = now_ns - start_ns < best_ns ? now_ns - start_ns : best_ns;
    }
    return (best_ns + READS / 2) / READS;
}

/* Two rounds over the CPUs; each reading must not lie before the one before it. */
static bool monotone_across_cpus(void) {
    struct ps_cpu_set allowed;
    uint64_t last_ns = 0;
    bool monotone = true;
    if (ps_affinity_get(&allowed) < 0) {
        return true; /* no hopping here: the threads do not hop either */
    }
    for (unsigned round = 0; round < 2; round++) {
        for (int cpu = ps_cpu_set_next(&allowed, 0); cpu >= 0;
             cpu = ps_cpu_set_next(&allowed, (unsigned)cpu + 1)) {
            if (ps_pin_to_cpu((unsigned)cpu) < 0) {
                continue;
            }
            for (unsigned i = 0; i < 100; i++) {
                uint64_t now_ns = ps_now_raw_ns();
                monotone = monotone && now_ns >= last_ns;
                last_ns = now_ns;
            }
        }
    }
    ps_pin_to_set(&allowed);
    return monotone;
}

void ps_clock_quality(struct ps_clock_quality *ret_quality) {
    ret_quality->resolution_ns = ps_clock_step_ns();
    ret_quality->read_ns = read_cost_ns();
    ret_quality->monotone = monotone_across_cpus();
}

static unsigned read_khz(const char *root, unsigned cpu, const char *name) {
    char path[128];
    int64_t khz;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, name);
    return ps_read_i64(root, path, &khz) < 0 || khz < 0 || khz > UINT32_MAX ? 0 : (unsigned)khz;
}

void ps_cpufreq_read(const char *root, unsigned cpu, struct ps_cpufreq *ret_cpufreq) {
    char path[128];
    ret_cpufreq->current_khz = read_khz(root, cpu, "scaling_cur_freq");
    ret_cpufreq->hardware_max_khz = read_khz(root, cpu, "cpuinfo_max_freq");
    ret_cpufreq->policy_max_khz = read_khz(root, cpu, "scaling_max_freq");
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
    if (ps_read_text(root, path, ret_cpufreq->governor, sizeof ret_cpufreq->governor) <= 0) {
        memcpy(ret_cpufreq->governor, "none", sizeof "none");
    }
}
