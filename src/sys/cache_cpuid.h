/* SPDX-License-Identifier: MIT
 *
 * Data caches as an x86 processor itself tells them. For kernels that show none: a guest whose
 * hypervisor hides how caches are shared has no /sys/devices/system/cpu/cpuN/cache.
 */
#ifndef PS_SYS_CACHE_CPUID_H
#define PS_SYS_CACHE_CPUID_H

#include <stdint.h>

#define PS_CPUID_CACHES_MAX 8

struct ps_cpuid_registers {
    uint32_t eax, ebx, ecx, edx;
};

/* What CPUID answers to a leaf (EAX) and subleaf (ECX). */
typedef struct ps_cpuid_registers ps_cpuid_fn(uint32_t leaf, uint32_t subleaf);

struct ps_cpuid_cache {
    unsigned level;
    uint64_t size_bytes;
    unsigned line_bytes;
    unsigned sharers; /* hardware threads that share it, at most; 1 or 2 are one core's */
};

/* The data and unified caches of one processor, lowest level first; the number of them, 0 when it
 * does not say. Reads the deterministic cache leaves (4, Intel; 0x8000001d, AMD), else AMD's older
 * 0x80000005 and 0x80000006, of which the third level is left out: there it is the sum over the
 * whole package, of which a core reaches an unknown part. (Intel SDM volume 2A, CPUID; AMD APM
 * volume 3, appendix E.) */
unsigned ps_cpuid_caches(ps_cpuid_fn *cpuid, struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX]);

/* CPUID of the processor that this runs on; NULL where there is no such instruction. */
ps_cpuid_fn *ps_cpuid_here(void);

#endif
