/* SPDX-License-Identifier: MIT
 *
 * All tables of this build, in the datasheet's order. Built from registry.def.
 */
#ifndef PS_BENCH_REGISTRY_H
#define PS_BENCH_REGISTRY_H

#include <stddef.h>

#include "core/bench.h"

struct ps_registry {
    const struct ps_bench *const *benches;
    size_t n;
};

/* The product's registry. Tests link another. */
const struct ps_registry *ps_registry(void);
/* By "chapter.table", or NULL. */
const struct ps_bench *ps_registry_find(const struct ps_registry *registry, const char *table_id);

#endif
