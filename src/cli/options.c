/* SPDX-License-Identifier: MIT
 *
 * The option parser, and the distance by which a mistyped word finds the one that was meant.
 */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 40 /* no option or verb is longer; what is, is cut for comparing */

int ps_arguments_init(struct ps_arguments *arguments, int argc) {
    size_t room = (size_t)(argc > 0 ? argc : 0) + 1;
    memset(arguments, 0, sizeof(*arguments));
    arguments->given = calloc(room, sizeof(*arguments->given));
    arguments->words = calloc(room, sizeof(*arguments->words));
    if (arguments->given && arguments->words)
        return 0;
    ps_arguments_done(arguments);
    return -ENOMEM;
}

void ps_arguments_done(struct ps_arguments *arguments) {
    free(arguments->given);
    free(arguments->words);
    memset(arguments, 0, sizeof(*arguments));
}

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

unsigned ps_word_distance(const char *a, const char *b) {
    unsigned rows[3][WORD_MAX + 1];
    unsigned n = (unsigned)strnlen(a, WORD_MAX), m = (unsigned)strnlen(b, WORD_MAX);
    for (unsigned j = 0; j <= m; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

static const struct ps_option *find_long(const struct ps_option *const *lists, const char *name,
                                         size_t length) {
    for (; *lists; lists++)
        for (const struct ps_option *option = *lists; option->name; option++)
            if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
                return option;
    return NULL;
}

static const struct ps_option *find_letter(const struct ps_option *const *lists, char letter) {
    for (; *lists; lists++)
        for (const struct ps_option *option = *lists; option->name; option++)
            if (option->letter == letter)
                return option;
    return NULL;
}

static const char *nearest_option(const struct ps_option *const *lists, const char *name) {
    const char *best = NULL;
    unsigned best_distance = 0;
    for (; *lists; lists++)
        for (const struct ps_option *option = *lists; option->name; option++) {
            unsigned distance = ps_word_distance(name, option->name);
            if (!best || distance < best_distance) {
                best = option->name;
                best_distance = distance;
            }
        }
    return best;
}

static int unknown_option(const struct ps_option *const *lists, const char *given, char *why,
                          size_t why_bytes) {
    char name[WORD_MAX + 1];
    const char *bare = given + strspn(given, "-");
    snprintf(name, sizeof(name), "%.*s", (int)least((unsigned)strcspn(bare, "="), WORD_MAX), bare);
    const char *nearest = nearest_option(lists, name);
    if (nearest)
        snprintf(why, why_bytes, "unknown option '%.*s'; the nearest is '--%s'",
                 (int)strcspn(given, "="), given, nearest);
    else
        snprintf(why, why_bytes, "unknown option '%.60s': there are none here", given);
    return -EINVAL;
}

/* argv[at] is an option. Returns the index behind it and its value. */
static int parse_option(struct ps_arguments *arguments, const struct ps_option *const *lists,
                        int argc, char *const *argv, int at, char *why, size_t why_bytes) {
    const char *text = argv[at], *value = NULL;
    const struct ps_option *option;
    if (text[1] == '-') {
        size_t length = strcspn(text + 2, "=");
        option = find_long(lists, text + 2, length);
        if (text[2 + length])
            value = text + 2 + length + 1;
    } else {
        option = find_letter(lists, text[1]);
        if (option && text[2]) { /* -oFILE */
            if (!option->argument)
                option = NULL;
            else
                value = text + 2;
        }
    }
    if (!option)
        return unknown_option(lists, text, why, why_bytes);
    if (value && !option->argument) {
        snprintf(why, why_bytes, "--%s takes no value", option->name);
        return -EINVAL;
    }
    at++;
    if (option->argument && !value) {
        if (at >= argc) {
            snprintf(why, why_bytes, "--%s wants a value: %s", option->name, option->argument);
            return -EINVAL;
        }
        value = argv[at++];
    }
    if (value && !*value) {
        snprintf(why, why_bytes, "--%s wants a value, not nothing: %s", option->name,
                 option->argument);
        return -EINVAL;
    }
    arguments->given[arguments->n_given++] = (struct ps_given){option, value};
    return at;
}

int ps_arguments_parse(struct ps_arguments *arguments, const struct ps_option *const *lists,
                       int argc, char *const *argv, int from, bool one_word, char *ret_why,
                       size_t why_bytes) {
    bool options_end = false;
    for (int at = from; at < argc;) {
        const char *text = argv[at];
        if (!options_end && strcmp(text, "--") == 0) {
            options_end = true;
            at++;
        } else if (!options_end && text[0] == '-' && text[1]) {
            at = parse_option(arguments, lists, argc, argv, at, ret_why, why_bytes);
            if (at < 0)
                return at;
        } else {
            arguments->words[arguments->n_words++] = text;
            at++;
            if (one_word)
                return at;
        }
    }
    return argc;
}

bool ps_option_given(const struct ps_arguments *arguments, const char *name) {
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            return true;
    return false;
}

const char *ps_option_value(const struct ps_arguments *arguments, const char *name) {
    const char *value = NULL;
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            value = arguments->given[i].value;
    return value;
}

int ps_option_number(const struct ps_arguments *arguments, const char *name, uint64_t low,
                     uint64_t high, uint64_t missing, uint64_t *ret_value, char *ret_why,
                     size_t why_bytes) {
    const char *text = ps_option_value(arguments, name);
    if (!text) {
        *ret_value = missing;
        return 0;
    }
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    /* strtoull takes blanks and signs, a number here has neither. */
    if (*text < '0' || *text > '9' || *end || errno || value < low || value > high) {
        snprintf(ret_why, why_bytes, "--%s wants a whole number from %llu to %llu, not '%.40s'",
                 name, (unsigned long long)low, (unsigned long long)high, text);
        return -EINVAL;
    }
    *ret_value = value;
    return 0;
}
