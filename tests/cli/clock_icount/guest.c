/* SPDX-License-Identifier: MIT
 *
 * Guest of test_clock_icount.sh: the product's own clock probe (src/sys/clock_speed.c, compiled as
 * it is and linked in) on a bare aarch64 machine whose time is a known function of the instructions
 * that were executed. Prints "probe_khz add_khz ratio_milli trusted" by semihosting and exits.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "sys/clock_speed.h"

void *memset(void *to, int value, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
_Noreturn void guest_main(void);

/* No MMU (so nothing may be unaligned: -mstrict-align), floating point switched on. */
__asm__(".section .text.start, \"ax\"\n"
        ".global _start\n"
        "_start:\n"
        "    mov x0, #(3 << 20)\n" /* CPACR_EL1.FPEN */
        "    msr cpacr_el1, x0\n"
        "    isb\n"
        "    ldr x0, =stack_top\n"
        "    mov sp, x0\n"
        "    b guest_main\n"
        ".bss\n"
        ".balign 16\n"
        "    .skip 16384\n"
        "stack_top:\n"
        ".text\n");

static uint64_t semihosting(uint64_t operation, uintptr_t argument) {
    register uint64_t x0 __asm__("x0") = operation;
    register uintptr_t x1 __asm__("x1") = argument;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

static void print(const char *text) {
    semihosting(0x04, (uintptr_t)text); /* SYS_WRITE0 */
}

static void print_number(uint64_t value) {
    char digits[24];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    print(digits + at);
    print(" ");
}

/* The generic timer, which QEMU drives from its virtual time. */
int clock_gettime(clockid_t clock, struct timespec *ret_now) {
    uint64_t ticks, hz;
    (void)clock;
    __asm__ volatile("isb\n mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    ret_now->tv_sec = (time_t)(ticks / hz);
    ret_now->tv_nsec = (long)(ticks % hz * 1000000000u / hz);
    return 0;
}

void *memset(void *to, int value, size_t bytes) {
    volatile unsigned char *byte = to;
    while (bytes-- > 0)
        *byte++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    volatile unsigned char *byte = to;
    const unsigned char *source = from;
    while (bytes-- > 0)
        *byte++ = *source++;
    return to;
}

_Noreturn void guest_main(void) {
    static const uint64_t exit_block[2] = {0x20026, 0}; /* application exit, 0 */
    struct ps_clock_check check;
    double mhz = ps_clock_probe_mhz();
    ps_clock_check(&check);
    print_number((uint64_t)(mhz * 1000 + 0.5));
    print_number((uint64_t)(check.add_mhz * 1000 + 0.5));
    print_number((uint64_t)(check.ratio * 1000 + 0.5));
    print_number(check.trusted);
    print("\n");
    for (;;)
        semihosting(0x18, (uintptr_t)exit_block); /* SYS_EXIT */
}
