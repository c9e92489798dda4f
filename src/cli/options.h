/* SPDX-License-Identifier: MIT
 *
 * Command lines: long options with one '-' letter for some, "--name value" and "--name=value",
 * words and options in any order, "--" ends the options. No abbreviations: a script must not change
 * its meaning when an option is added.
 */
#ifndef PS_CLI_OPTIONS_H
#define PS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_option {
    const char *name;     /* without its dashes; NULL ends a list */
    char letter;          /* 0: none */
    const char *argument; /* "FILE", "DIR", "text|json" ...; NULL: a switch */
    const char *help;     /* a line */
};

struct ps_given {
    const struct ps_option *option;
    const char *value; /* NULL: a switch */
};

struct ps_arguments {
    struct ps_given *given; /* in the order of the command line */
    size_t n_given;
    const char **words; /* NULL after the last */
    size_t n_words;
};

/* Room for argc arguments. 0 or -ENOMEM. */
int ps_arguments_init(struct ps_arguments *arguments, int argc);
void ps_arguments_done(struct ps_arguments *arguments);

/* Adds argv[from ..] to the arguments. Options are those of the NULL-terminated array of lists.
 * `one_word`: stops behind the first word. Returns the index of what was not read, or -EINVAL with
 * a sentence that names the nearest option. */
int ps_arguments_parse(struct ps_arguments *arguments, const struct ps_option *const *lists,
                       int argc, char *const *argv, int from, bool one_word, char *ret_why,
                       size_t why_bytes);

bool ps_option_given(const struct ps_arguments *arguments, const char *name);
/* The last value given, or NULL. */
const char *ps_option_value(const struct ps_arguments *arguments, const char *name);
/* A whole number from `low` to `high`; `missing` when it is not given. 0, or -EINVAL with a
 * sentence. */
int ps_option_number(const struct ps_arguments *arguments, const char *name, uint64_t low,
                     uint64_t high, uint64_t missing, uint64_t *ret_value, char *ret_why,
                     size_t why_bytes);

/* Letters to insert, drop, change or swap to make one word of the other. */
unsigned ps_word_distance(const char *a, const char *b);

#endif
