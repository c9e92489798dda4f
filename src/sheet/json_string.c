/* SPDX-License-Identifier: MIT
 *
 * Escapes and UTF-8. An escape is never shorter than what it stands for, so the text's own length
 * bounds the result.
 */
#include "sheet/json_string.h"

#include "core/text.h"

#include <stdbool.h>
#include <string.h>

struct scan {
    const char *at, *quote;
    char *out;
    const char *where, *what; /* the error */
};

static bool fail(struct scan *s, const char *where, const char *what) {
    s->where = where;
    s->what = what;
    return false;
}

static bool hex4(struct scan *s, unsigned *ret_unit) {
    unsigned unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = s->at < s->quote ? *s->at : '\0';
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (unsigned)((c | 0x20) - 'a') + 10;
        else
            return fail(s, s->at, "four hex digits are expected");
        unit = unit << 4 | digit;
        s->at++;
    }
    *ret_unit = unit;
    return true;
}

static char *put_utf8(char *out, unsigned point) {
    if (point < 0x80) {
        *out++ = (char)point;
    } else if (point < 0x800) {
        *out++ = (char)(0xc0 | point >> 6);
        *out++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *out++ = (char)(0xe0 | point >> 12);
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    } else {
        *out++ = (char)(0xf0 | point >> 18);
        *out++ = (char)(0x80 | (point >> 12 & 0x3f));
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    }
    return out;
}

static bool take_unicode(struct scan *s, const char *first) {
    unsigned point, low;
    if (!hex4(s, &point))
        return false;
    if (point == 0)
        return fail(s, first, "U+0000 in a string");
    if (point >= 0xdc00 && point <= 0xdfff)
        return fail(s, first, "half a surrogate pair");
    if (point >= 0xd800 && point <= 0xdbff) {
        if (s->quote - s->at < 2 || s->at[0] != '\\' || s->at[1] != 'u')
            return fail(s, first, "half a surrogate pair");
        s->at += 2;
        if (!hex4(s, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(s, first, "half a surrogate pair");
        point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
    }
    s->out = put_utf8(s->out, point);
    return true;
}

/* At a backslash; the caller found the closing quote, so something is behind it. */
static bool take_escape(struct scan *s) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *first = s->at;
    char c = s->at[1];
    s->at += 2;
    if (c == 'u')
        return take_unicode(s, first);
    const char *found = c ? strchr(names, c) : NULL;
    if (!found)
        return fail(s, first + 1, "an unknown escape");
    *s->out++ = values[found - names];
    return true;
}

static bool take_character(struct scan *s) {
    if (*s->at == '\\')
        return take_escape(s);
    if ((unsigned char)*s->at < 0x20)
        return fail(s, s->at, "a control character in a string");
    size_t length = ps_utf8_length(s->at, (size_t)(s->quote - s->at));
    if (length == 0)
        return fail(s, s->at, "a string that is not UTF-8");
    memcpy(s->out, s->at, length);
    s->out += length;
    s->at += length;
    return true;
}

size_t ps_json_unescape(const char *from, const char *quote, char *out, const char **ret_where,
                        const char **ret_what) {
    struct scan s = {.at = from, .quote = quote, .out = out};
    while (s.at < quote) {
        if (*s.at >= 0x20 && *s.at < 0x7f && *s.at != '\\') { /* nearly all of them */
            *s.out++ = *s.at++;
            continue;
        }
        if (!take_character(&s)) {
            *ret_where = s.where;
            *ret_what = s.what;
            return (size_t)-1;
        }
    }
    *s.out = '\0';
    return (size_t)(s.out - out);
}
