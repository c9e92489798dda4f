/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a list of CPUs: what is accepted is a set that survives being written and read
 * again, what is refused leaves the set alone, and a text that is cut says so.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cpu_list.h"

/* The longest list is two CPUs of every three: "4092-4093,", ten bytes for three numbers. */
#define WHOLE_BYTES (PS_CPU_MAX / 3 * 10 + 16)
#define CUT_BYTES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct ps_cpu_set *a, const struct ps_cpu_set *b) {
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* The members by the iterator are those by the question, and as many as counted. */
static void check_members(const struct ps_cpu_set *set) {
    unsigned n = 0;
    for (int cpu = ps_cpu_set_next(set, 0); cpu >= 0;
         cpu = ps_cpu_set_next(set, (unsigned)cpu + 1)) {
        assert(ps_cpu_set_has(set, (unsigned)cpu));
        n++;
    }
    assert(n == ps_cpu_set_count(set));
}

static void check_formats(const struct ps_cpu_set *set) {
    static char whole[WHOLE_BYTES];
    struct ps_cpu_set again;
    ps_cpu_list_format(set, whole, sizeof(whole));
    assert(!strstr(whole, "..."));
    assert(ps_cpu_list_parse(whole, &again) == 0 && same(set, &again));
    size_t length = strlen(whole);
    for (size_t room = 0; room <= CUT_BYTES_MAX; room++) {
        char *text = malloc(room + 1); /* on the heap, where a byte too many is seen */
        if (!text)
            return;
        text[room] = '#';
        ps_cpu_list_format(set, text, room);
        assert(text[room] == '#');
        if (room > 0) {
            size_t cut = strlen(text);
            assert(cut < room);
            /* Complete when it fits, and never passed off as complete when it does not. */
            assert((length < room) == (strcmp(text, whole) == 0));
            if (length >= room && room > 3)
                assert(cut >= 3 && strcmp(text + cut - 3, "...") == 0);
        }
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ps_cpu_set set, untouched;
    char *text = malloc(size + 1);
    if (!text || (size > 0 && memchr(data, 0, size)))
        goto out;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    memset(&set, 0xa5, sizeof(set));
    untouched = set;
    if (ps_cpu_list_parse(text, &set) != 0) {
        assert(same(&set, &untouched));
        goto out;
    }
    check_members(&set);
    check_formats(&set);
out:
    free(text);
    return 0;
}
