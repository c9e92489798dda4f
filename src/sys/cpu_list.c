/* SPDX-License-Identifier: MIT
 *
 * CPU sets and the kernel's list syntax (Documentation/core-api/cpu-lists in words: ranges,
 * commas, and "first-last:used/group").
 */
#include "sys/cpu_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ps_cpu_set_clear(struct ps_cpu_set *set) {
    memset(set, 0, sizeof *set);
}

void ps_cpu_set_add(struct ps_cpu_set *set, unsigned cpu) {
    if (cpu < PS_CPU_MAX) {
        set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
    }
}

bool ps_cpu_set_has(const struct ps_cpu_set *set, unsigned cpu) {
    return cpu < PS_CPU_MAX && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

unsigned ps_cpu_set_count(const struct ps_cpu_set *set) {
    unsigned count = 0;
    for (unsigned i = 0; i < PS_CPU_MAX / 64; i++) {
        count += (unsigned)__builtin_popcountll(set->words[i]);
    }
    return count;
}

int ps_cpu_set_next(const struct ps_cpu_set *set, unsigned from) {
    if (from >= PS_CPU_MAX) {
        return -1;
    }
    uint64_t word = set->words[from / 64] & ~UINT64_C(0) << (from % 64);
    for (unsigned i = from / 64;;) {
        if (word != 0) {
            return (int)(i * 64 + (unsigned)__builtin_ctzll(word));
        }
        if (++i == PS_CPU_MAX / 64) {
            return -1;
        }
        word = set->words[i];
    }
}

void ps_cpu_set_and(struct ps_cpu_set *into, const struct ps_cpu_set *other) {
    for (unsigned i = 0; i < PS_CPU_MAX / 64; i++) {
        into->words[i] &= other->words[i];
    }
}

/* A decimal number below PS_CPU_MAX at *text, which is moved behind it. */
static bool take_number(const char **text, unsigned *ret_number) {
    unsigned number = 0;
    const char *at = *text;
    if (*at < '0' || *at > '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (unsigned)(*at - '0');
        if (number >= PS_CPU_MAX) {
            return false;
        }
    }
    *text = at;
    *ret_number = number;
    return true;
}

static bool take_char(const char **text, char c) {
    if (**text != c) {
        return false;
    }
    (*text)++;
    return true;
}

/* One item: "3", "0-7" or "0-7:2/4". */
static bool take_item(const char **text, struct ps_cpu_set *set) {
    unsigned first, last, used = 1, group = 1;
    if (!take_number(text, &first)) {
        return false;
    }
    last = first;
    if (take_char(text, '-')) {
        if (!take_number(text, &last) || last < first) {
            return false;
        }
        if (take_char(text, ':') && (!take_number(text, &used) || !take_char(text, '/') ||
                                     !take_number(text, &group) || used == 0 || used > group)) {
            return false;
        }
    }
    for (unsigned cpu = first; cpu <= last; cpu++) {
        if ((cpu - first) % group < used) {
            ps_cpu_set_add(set, cpu);
        }
    }
    return true;
}

int ps_cpu_list_parse(const char *text, struct ps_cpu_set *ret_set) {
    struct ps_cpu_set set;
    ps_cpu_set_clear(&set);
    if (*text != '\0') {
        do {
            if (!take_item(&text, &set)) {
                return -EINVAL;
            }
        } while (take_char(&text, ','));
        if (*text != '\0') {
            return -EINVAL;
        }
    }
    *ret_set = set;
    return 0;
}

void ps_cpu_list_format(const struct ps_cpu_set *set, char *text, size_t size_bytes) {
    static const char cut[] = "...";
    size_t length = 0, cut_at = 0; /* behind the last item that leaves room for the mark */
    if (size_bytes == 0) {
        return;
    }
    text[0] = '\0';
    for (int first = ps_cpu_set_next(set, 0); first >= 0;) {
        int last = first, next;
        while ((next = ps_cpu_set_next(set, (unsigned)last + 1)) == last + 1) {
            last = next;
        }
        char item[16];
        int n = last > first
                    ? snprintf(item, sizeof item, "%s%d-%d", length ? "," : "", first, last)
                    : snprintf(item, sizeof item, "%s%d", length ? "," : "", first);
        if (n < 0 || length + (size_t)n + 1 > size_bytes) {
            bool marked = size_bytes - cut_at >= sizeof cut;
            memcpy(text + cut_at, marked ? cut : "", marked ? sizeof cut : 1);
            return;
        }
        memcpy(text + length, item, (size_t)n + 1);
        length += (size_t)n;
        if (size_bytes - length >= sizeof cut) {
            cut_at = length;
        }
        first = next;
    }
}
