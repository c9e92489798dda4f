/* SPDX-License-Identifier: MIT
 *
 * Caches as processors tell them: an Intel server, an AMD server, and AMD ones whose hypervisor
 * leaves the newer leaves empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/cache_cpuid.h"

#define KIB UINT64_C(1024)

/* EBX: ways, partitions and bytes of a line, each less one. */
#define WAYS_OF_LINES(ways, line) ((uint32_t)((ways)-1) << 22 | ((line)-1))
#define DATA(level, sharers) (1u | (level) << 5 | (uint32_t)((sharers)-1) << 14)
#define INSTRUCTIONS(level) (2u | (level) << 5)
#define UNIFIED(level, sharers) (3u | (level) << 5 | (uint32_t)((sharers)-1) << 14)

/* 48 KiB of 12 ways, 2 MiB of 16 ways, 30 MiB of 15 ways by 32 threads; as leaf 4 and 0x8000001d.
 */
static struct ps_cpuid_registers three_levels(uint32_t subleaf) {
    static const struct ps_cpuid_registers levels[] = {
        {.eax = DATA(1, 2), .ebx = WAYS_OF_LINES(12, 64), .ecx = 63},
        {.eax = INSTRUCTIONS(1), .ebx = WAYS_OF_LINES(8, 64), .ecx = 63},
        {.eax = UNIFIED(2, 2), .ebx = WAYS_OF_LINES(16, 64), .ecx = 2047},
        {.eax = UNIFIED(3, 32), .ebx = WAYS_OF_LINES(15, 64), .ecx = 32767},
    };
    const struct ps_cpuid_registers none = {0};
    return subleaf < sizeof levels / sizeof levels[0] ? levels[subleaf] : none;
}

static struct ps_cpuid_registers intel(uint32_t leaf, uint32_t subleaf) {
    struct ps_cpuid_registers r = {0};
    if (leaf == 0)
        r = (struct ps_cpuid_registers){.eax = 0x1f, .ebx = 0x756e6547};
    else if (leaf == 0x80000000)
        r.eax = 0x80000008;
    else if (leaf == 4)
        r = three_levels(subleaf);
    else if (leaf == 0x80000006)
        r.ecx = 0x01006040; /* Intel answers this one, with its L2 */
    return r;
}

static struct ps_cpuid_registers amd(uint32_t leaf, uint32_t subleaf) {
    struct ps_cpuid_registers r = {0};
    if (leaf == 0)
        r = (struct ps_cpuid_registers){.eax = 0x10, .ebx = 0x68747541};
    else if (leaf == 0x80000000)
        r.eax = 0x80000028;
    else if (leaf == 0x8000001d)
        r = three_levels(subleaf);
    return r;
}

static struct ps_cpuid_registers amd_guest(uint32_t leaf, uint32_t subleaf) {
    (void)subleaf;
    struct ps_cpuid_registers r = {0};
    if (leaf == 0)
        r = (struct ps_cpuid_registers){.eax = 0x10, .ebx = 0x68747541};
    else if (leaf == 0x80000000)
        r.eax = 0x80000028;
    else if (leaf == 0x80000005)
        r.ecx = 0x300c0140;
    else if (leaf == 0x80000006)
        r = (struct ps_cpuid_registers){.ecx = 0x04006140, .edx = 0x0fe08140};
    return r;
}

/* A hypervisor that ends the extended leaves before the caches'; what lies beyond is nonsense. */
static struct ps_cpuid_registers amd_cut(uint32_t leaf, uint32_t subleaf) {
    if (leaf == 0x80000000)
        return (struct ps_cpuid_registers){.eax = 0x80000004};
    if (leaf > 0x80000004)
        return (struct ps_cpuid_registers){0x12345678, 0x12345678, 0x12345678, 0x12345678};
    return amd_guest(leaf, subleaf);
}

static struct ps_cpuid_registers other_guest(uint32_t leaf, uint32_t subleaf) {
    return leaf == 0 ? (struct ps_cpuid_registers){.eax = 0x10, .ebx = 0x746e6543}
                     : amd_guest(leaf, subleaf);
}

static void check_three_levels(ps_cpuid_fn *cpuid) {
    struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX];
    assert_int_equal(ps_cpuid_caches(cpuid, caches), 3);
    assert_int_equal(caches[0].level, 1);
    assert_int_equal(caches[0].size_bytes, 48 * KIB);
    assert_int_equal(caches[0].line_bytes, 64);
    assert_int_equal(caches[0].sharers, 2);
    assert_int_equal(caches[1].level, 2);
    assert_int_equal(caches[1].size_bytes, 2048 * KIB);
    assert_int_equal(caches[2].level, 3);
    assert_int_equal(caches[2].size_bytes, 30720 * KIB);
    assert_int_equal(caches[2].sharers, 32);
}

static void test_deterministic_leaves(void **state) {
    (void)state;
    check_three_levels(intel);
    check_three_levels(amd);
}

static void test_older_leaves(void **state) {
    (void)state;
    struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX];
    assert_int_equal(ps_cpuid_caches(amd_guest, caches), 2);
    assert_int_equal(caches[0].level, 1);
    assert_int_equal(caches[0].size_bytes, 48 * KIB);
    assert_int_equal(caches[0].line_bytes, 64);
    assert_int_equal(caches[1].level, 2);
    assert_int_equal(caches[1].size_bytes, 1024 * KIB);
    assert_int_equal(caches[1].line_bytes, 64);
}

static void test_nothing_told(void **state) {
    (void)state;
    struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX];
    assert_int_equal(ps_cpuid_caches(amd_cut, caches), 0);
    assert_int_equal(ps_cpuid_caches(other_guest, caches), 0);
}

/* Whatever this processor is, what it tells is in order and makes sense. */
static void test_here(void **state) {
    (void)state;
    struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX];
    ps_cpuid_fn *cpuid = ps_cpuid_here();
    if (cpuid == NULL)
        skip();
    unsigned n = ps_cpuid_caches(cpuid, caches);
    for (unsigned i = 0; i < n; i++) {
        assert_in_range(caches[i].level, 1, 4);
        assert_in_range(caches[i].size_bytes, 4 * KIB, KIB * KIB * KIB);
        assert_in_range(caches[i].line_bytes, 16, 256);
        if (i > 0)
            assert_true(caches[i].size_bytes > caches[i - 1].size_bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deterministic_leaves),
        cmocka_unit_test(test_older_leaves),
        cmocka_unit_test(test_nothing_told),
        cmocka_unit_test(test_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
