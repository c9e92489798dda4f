/* SPDX-License-Identifier: MIT */
#include "sys/cache_cpuid.h"

#include <stddef.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define LEAF_VENDOR 0u
#define LEAF_CACHES_INTEL 4u
#define LEAF_EXTENDED 0x80000000u
#define LEAF_L1_AMD 0x80000005u
#define LEAF_L2_AMD 0x80000006u
#define LEAF_CACHES_AMD 0x8000001du

#define KIB UINT64_C(1024)

/* The answer for a leaf above the highest one is another leaf's, so the highest is asked first. */
static unsigned deterministic_caches(ps_cpuid_fn *cpuid, uint32_t leaf,
                                     struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX]) {
    enum { NO_MORE = 0, INSTRUCTIONS = 2 };
    unsigned n = 0;
    if (cpuid(leaf & LEAF_EXTENDED, 0).eax < leaf)
        return 0;
    for (uint32_t subleaf = 0; subleaf < 16 && n < PS_CPUID_CACHES_MAX; subleaf++) {
        struct ps_cpuid_registers r = cpuid(leaf, subleaf);
        uint32_t type = r.eax & 0x1f;
        if (type == NO_MORE)
            break;
        if (type == INSTRUCTIONS)
            continue;
        uint64_t line_bytes = (r.ebx & 0xfff) + 1;
        uint64_t partitions = ((r.ebx >> 12) & 0x3ff) + 1;
        uint64_t ways = ((r.ebx >> 22) & 0x3ff) + 1;
        caches[n++] = (struct ps_cpuid_cache){
            .level = (r.eax >> 5) & 7,
            .size_bytes = line_bytes * partitions * ways * ((uint64_t)r.ecx + 1),
            .line_bytes = (unsigned)line_bytes,
            .sharers = ((r.eax >> 14) & 0xfff) + 1,
        };
    }
    return n;
}

static unsigned amd_caches(ps_cpuid_fn *cpuid, struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX]) {
    unsigned n = 0;
    /* Others answer these leaves too, some with other meanings. "AuthenticAMD", "HygonGenuine" */
    uint32_t vendor = cpuid(LEAF_VENDOR, 0).ebx;
    if ((vendor != 0x68747541 && vendor != 0x6f677948) || cpuid(LEAF_EXTENDED, 0).eax < LEAF_L2_AMD)
        return 0;
    uint32_t l1 = cpuid(LEAF_L1_AMD, 0).ecx, l2 = cpuid(LEAF_L2_AMD, 0).ecx;
    if (l1 >> 24 != 0)
        caches[n++] = (struct ps_cpuid_cache){
            .level = 1, .size_bytes = (l1 >> 24) * KIB, .line_bytes = l1 & 0xff, .sharers = 1};
    if (l2 >> 16 != 0)
        caches[n++] = (struct ps_cpuid_cache){
            .level = 2, .size_bytes = (l2 >> 16) * KIB, .line_bytes = l2 & 0xff, .sharers = 1};
    return n;
}

unsigned ps_cpuid_caches(ps_cpuid_fn *cpuid, struct ps_cpuid_cache caches[PS_CPUID_CACHES_MAX]) {
    unsigned n = deterministic_caches(cpuid, LEAF_CACHES_INTEL, caches);
    if (n == 0)
        n = deterministic_caches(cpuid, LEAF_CACHES_AMD, caches);
    return n > 0 ? n : amd_caches(cpuid, caches);
}

#if defined(__x86_64__) || defined(__i386__)
static struct ps_cpuid_registers cpuid_here(uint32_t leaf, uint32_t subleaf) {
    struct ps_cpuid_registers r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
}

ps_cpuid_fn *ps_cpuid_here(void) {
    return cpuid_here;
}
#else
ps_cpuid_fn *ps_cpuid_here(void) {
    return NULL;
}
#endif
