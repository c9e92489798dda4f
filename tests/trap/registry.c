/* SPDX-License-Identifier: MIT
 *
 * The registry of the traps, in place of the product's.
 */
#include "bench/registry.h"

#include "core/text.h"
#include "traps.h"

static const struct ps_bench *const benches[] = {
    &trap_faults,  &trap_folded, &trap_bimodal, &trap_drifting,
    &trap_slowing, &trap_exact,  &trap_nothing,
};

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
