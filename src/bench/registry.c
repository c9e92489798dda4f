/* SPDX-License-Identifier: MIT */
#include "bench/registry.h"

#include "core/text.h"

/* A microcontroller's build leaves out the tables that need Linux. */
#define PS_SCOPE_CORE(chapter, table) PS_BENCH_USE(chapter, table)
#ifdef PS_CORE_ONLY
#define PS_SCOPE_LINUX(chapter, table)
#else
#define PS_SCOPE_LINUX(chapter, table) PS_BENCH_USE(chapter, table)
#endif
#define PS_BENCH(chapter, table, scope) PS_SCOPE_##scope(chapter, table)

#define PS_BENCH_USE(chapter, table) extern const struct ps_bench ps_bench_##chapter##_##table;
#include "bench/registry.def"
#undef PS_BENCH_USE

#define PS_BENCH_USE(chapter, table) &ps_bench_##chapter##_##table,
static const struct ps_bench *const benches[] = {
#include "bench/registry.def"
};
#undef PS_BENCH_USE

const struct ps_registry *ps_registry(void) {
    static const struct ps_registry registry = {benches, sizeof(benches) / sizeof(benches[0])};
    return &registry;
}

const struct ps_bench *ps_registry_find(const struct ps_registry *registry, const char *table_id) {
    for (size_t i = 0; i < registry->n; i++) {
        char id[2 * PS_NAME_MAX];
        struct ps_text text;
        ps_text_init(&text, id, sizeof(id));
        ps_text_add(&text, registry->benches[i]->chapter);
        ps_text_add_char(&text, '.');
        ps_text_add(&text, registry->benches[i]->table);
        if (ps_text_equal(id, table_id))
            return registry->benches[i];
    }
    return NULL;
}
