/* SPDX-License-Identifier: MIT
 *
 * Physical addresses that are not the kernel's memory (on-chip SRAM, a peripheral's registers),
 * mapped without caches and for reading only.
 */
#ifndef PS_SYS_PHYSICAL_MEMORY_H
#define PS_SYS_PHYSICAL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct ps_physical_memory {
    void *map; /* NULL: none */
    size_t map_bytes;
    const uint32_t *words; /* at the base that was asked for */
};

/* Maps `bytes` from physical address `base` (both multiples of 4) by root + /dev/mem and reads each
 * word once. Refuses (PS_UNSAFE) what overlaps the kernel's memory by root + /proc/iomem, or where
 * that does not tell: an address must not be mapped in two ways. A range that answers with a bus
 * error is PS_UNSUPPORTED. Anything but PS_OK comes with a static sentence and an errno (0: none);
 * the map is then empty. Not for threads: it replaces the handlers of SIGBUS and SIGSEGV while it
 * reads. */
enum ps_status ps_physical_map(const char *root, uint64_t base, uint64_t bytes,
                               struct ps_physical_memory *ret_memory, int *ret_error,
                               const char **ret_why);
void ps_physical_unmap(struct ps_physical_memory *memory);

#endif
