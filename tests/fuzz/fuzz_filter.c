/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a filter: a check that passes them must leave a filter that can be used, and an id
 * must select itself.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/bench.h"
#include "harness/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char why[160];
    char *filter = malloc(size + 1);
    if (!filter || (size > 0 && memchr(data, 0, size)))
        goto out;
    if (size > 0)
        memcpy(filter, data, size);
    filter[size] = 0;
    bool good = ps_filter_check(filter, why, sizeof(why)) == 0;
    const char *filters[] = {filter};
    (void)ps_filter_selects(filters, 1, "mem.bw_mem/rd-1mb@emmc@cl1@x2", PS_TAG_HEADLINE);
    (void)ps_filter_selects(filters, 1, filter, 0);
    if (good && filter[0] != '!' && !strpbrk(filter, "*?[:") && strpbrk(filter, "/@"))
        assert(ps_filter_selects(filters, 1, filter, 0));
    if (good) {
        /* What one selects, its negation does not. */
        char *negated = malloc(size + 2);
        if (negated && filter[0] != '!') {
            negated[0] = '!';
            memcpy(negated + 1, filter, size + 1);
            const char *other[] = {negated};
            const char *id = "mem.bw_mem/rd-1mb@emmc@cl1@x2";
            assert(ps_filter_selects(filters, 1, id, 1) != ps_filter_selects(other, 1, id, 1));
        }
        free(negated);
    }
out:
    free(filter);
    return 0;
}
