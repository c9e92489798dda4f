/* SPDX-License-Identifier: MIT
 *
 * Sizes taken from the machine: how large a working set must be to lie in memory and not in a
 * cache. Four times the last-level cache leaves at most a quarter of the accesses to it.
 */
#include "core/env.h"

#define MIB (UINT64_C(1) << 20)
/* The design's caps on a working set, taken as the wish where the cache is not known. */
#define UNKNOWN_CACHE_BYTES (256 * MIB)
#define UNKNOWN_CACHE_QUICK_BYTES (64 * MIB)

uint64_t ps_env_beyond_cache_bytes(const struct ps_env *env, bool *ret_cache_resident) {
    uint64_t last_level = env->cluster != NULL ? env->cluster->last_level_bytes : 0;
    uint64_t wanted = env->quick ? UNKNOWN_CACHE_QUICK_BYTES : UNKNOWN_CACHE_BYTES;
    if (last_level > 0)
        wanted = 4 * last_level;

    uint64_t bytes = wanted;
    if (env->working_set_cap_bytes > 0 && env->working_set_cap_bytes < bytes)
        bytes = env->working_set_cap_bytes;
    if (ret_cache_resident != NULL)
        *ret_cache_resident = bytes < wanted;
    return bytes;
}
