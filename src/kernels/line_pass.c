/* SPDX-License-Identifier: MIT
 *
 * Both sides ask for the line by compare-and-exchange, so that it comes with the right to write it,
 * once a pass; a look by a load would make it come twice.
 */
#include "kernels/line_pass.h"

#include <stdbool.h>

#define LOOKS_MAX (UINT32_C(1) << 30)

static inline bool exchange(uint32_t *word, uint32_t from, uint32_t to) {
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

uint64_t psk_line_lead(struct psk_line *line, uint32_t turn, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint32_t looks = 0;
        while (!exchange(&line->turn, turn, turn + 1))
            if (++looks == LOOKS_MAX)
                return i;
        turn += 2;
    }
    return n;
}

void psk_line_follow(struct psk_line *line, uint32_t turn, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        while (!exchange(&line->turn, turn, turn + 1)) {
        }
        turn += 2;
    }
}
