/* SPDX-License-Identifier: MIT
 *
 * Which rows a command line selects. A filter without '@' is held against the id with and without
 * its places: "mem.stream/all" means that case wherever it runs.
 */
#include "harness/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/bench.h"

static const struct {
    const char *name;
    unsigned tag;
} tags_known[] = {{"headline", PS_TAG_HEADLINE}};

/* A set such as [0-9ab] or [!x]; *ret_end is behind it. False also when it is not closed. */
static bool set_matches(const char *set, char c, const char **ret_end) {
    const char *p = set + 1;
    bool negated = *p == '!' || *p == '^', found = false;
    if (negated)
        p++;
    for (const char *first = p; *p && (*p != ']' || p == first); p++) {
        if (p[1] == '-' && p[2] && p[2] != ']') {
            found |= p[0] <= c && c <= p[2];
            p += 2;
        } else {
            found |= *p == c;
        }
    }
    *ret_end = *p ? p + 1 : p;
    return *p && found != negated;
}

/* A '*' spans everything, '/' and '@' too. Backtracks to the last '*' only, so the time is at most
 * pattern x text. The text is text[0 .. length - 1]. */
static bool glob_matches(const char *pattern, const char *text, size_t length) {
    const char *star = NULL;
    size_t at = 0, star_at = 0;
    while (at < length) {
        const char *next = pattern + 1;
        bool matched = false;
        if (*pattern == '*') {
            star = pattern++;
            star_at = at;
            continue;
        }
        if (*pattern == '[')
            matched = set_matches(pattern, text[at], &next);
        else
            matched = *pattern == '?' || (*pattern && *pattern == text[at]);
        if (matched) {
            pattern = next;
            at++;
        } else if (star) {
            pattern = star + 1;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool tag_of(const char *name, unsigned *ret_tag) {
    for (size_t i = 0; i < sizeof(tags_known) / sizeof(tags_known[0]); i++)
        if (strcmp(tags_known[i].name, name) == 0) {
            *ret_tag = tags_known[i].tag;
            return true;
        }
    return false;
}

/* One filter without its '!'. */
static bool matches(const char *filter, const char *id, unsigned tags) {
    if (strncmp(filter, "tag:", 4) == 0) {
        unsigned tag;
        return tag_of(filter + 4, &tag) && (tags & tag);
    }
    if (!strpbrk(filter, "*?[/@")) {
        /* "mem" is a chapter, "mem.stream" a table: the whole of what stands before '.' or '/'. */
        size_t length = strcspn(id, strchr(filter, '.') ? "/" : "./");
        return strlen(filter) == length && memcmp(filter, id, length) == 0;
    }
    if (glob_matches(filter, id, strlen(id)))
        return true;
    return !strchr(filter, '@') && glob_matches(filter, id, strcspn(id, "@"));
}

int ps_filter_check(const char *filter, char *ret_why, size_t why_bytes) {
    const char *text = *filter == '!' ? filter + 1 : filter;
    unsigned tag;
    if (!*text) {
        snprintf(ret_why, why_bytes, "'%s' selects nothing: an empty filter", filter);
        return -EINVAL;
    }
    if (strncmp(text, "tag:", 4) == 0) {
        if (tag_of(text + 4, &tag))
            return 0;
        snprintf(ret_why, why_bytes, "'%.80s': the only tag is tag:headline", filter);
        return -EINVAL;
    }
    if (strchr(text, ':')) {
        snprintf(ret_why, why_bytes,
                 "'%.80s': a filter selects rows with all their metrics; leave out the ':' and "
                 "what follows",
                 filter);
        return -EINVAL;
    }
    size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.+-/@*?[]!^");
    if (text[good]) {
        unsigned char c = (unsigned char)text[good];
        if (c >= 'A' && c <= 'Z')
            snprintf(ret_why, why_bytes, "'%.80s': ids are in lower case", filter);
        else if (c > ' ' && c < 0x7f)
            snprintf(ret_why, why_bytes, "'%.80s': no id has a '%c'", filter, c);
        else
            snprintf(ret_why, why_bytes, "a filter with byte 0x%02x, which no id has", c);
        return -EINVAL;
    }
    const char *open = strchr(text, '[');
    if (open && !strchr(open + 1, ']')) {
        snprintf(ret_why, why_bytes, "'%.80s': '[' without ']'", filter);
        return -EINVAL;
    }
    return 0;
}

bool ps_filter_selects(const char *const *filters, size_t n, const char *id, unsigned tags) {
    bool any_positive = false, selected = false;
    for (size_t i = 0; i < n; i++) {
        bool subtract = filters[i][0] == '!';
        if (subtract && matches(filters[i] + 1, id, tags))
            return false;
        if (!subtract) {
            any_positive = true;
            selected = selected || matches(filters[i], id, tags);
        }
    }
    return selected || !any_positive;
}
