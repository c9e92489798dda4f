/* SPDX-License-Identifier: MIT
 *
 * The board file: what a person knows of a board and a program cannot find out. Sections and keys
 * are those of docs/FORMAT.md and no others; a value is checked for its kind here, whether it is
 * true of this machine is not.
 */
#include "harness/boardfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A board file is written by hand; 1 MiB is far beyond any, and keeps a wrong path (a disk image)
 * from being read to its end. */
#define FILE_BYTES_MAX (1u << 20)

enum value_kind {
    VALUE_TEXT,
    VALUE_COUNT,   /* 1, 32, 1600 */
    VALUE_NUMBER,  /* above zero, a fraction allowed */
    VALUE_ADDRESS, /* decimal or 0x... */
    VALUE_YES_NO,
};

struct key_rule {
    const char *section, *key;
    enum value_kind kind;
};

enum name_kind { NAME_NONE, NAME_WORD, NAME_NUMBER };

struct section_rule {
    const char *section;
    enum name_kind name;
};

static const struct section_rule section_rules[] = {
    {"board", NAME_NONE},   {"memory", NAME_NONE},   {"cluster", NAME_NUMBER},
    {"target", NAME_WORD},  {"endpoint", NAME_WORD}, {"link", NAME_WORD},
    {"wire", NAME_WORD},    {"rail", NAME_WORD},     {"mode", NAME_WORD},
    {"console", NAME_NONE}, {"power", NAME_NONE},
};

static const struct key_rule key_rules[] = {
    {"board", "id", VALUE_TEXT},
    {"board", "model", VALUE_TEXT},
    {"board", "revision", VALUE_TEXT},
    {"memory", "mts", VALUE_COUNT},
    {"memory", "bus_bits", VALUE_COUNT},
    {"memory", "ecc", VALUE_YES_NO},
    {"cluster", "reference_mhz", VALUE_NUMBER},
    {"cluster", "name", VALUE_TEXT},
    {"target", "path", VALUE_TEXT},
    {"endpoint", "base", VALUE_ADDRESS},
    {"endpoint", "length", VALUE_ADDRESS},
    {"endpoint", "attribute", VALUE_TEXT},
    {"link", "interface", VALUE_TEXT},
    {"link", "peer", VALUE_TEXT},
    {"wire", "from", VALUE_TEXT},
    {"wire", "to", VALUE_TEXT},
    {"rail", "sensor", VALUE_TEXT},
    {"mode", "command", VALUE_TEXT},
    {"console", "device", VALUE_TEXT},
    {"console", "baud", VALUE_COUNT},
    {"power", "on", VALUE_TEXT},
    {"power", "off", VALUE_TEXT},
};

#define N_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

struct entry {
    const char *key, *value; /* key NULL: a section's first entry, its header */
    const char *kind, *name; /* of the section; name "" where it has none */
};

struct ps_boardfile {
    char *text;
    struct entry *entries;
    size_t n, capacity;
};

struct parser {
    struct ps_boardfile *board;
    unsigned line;
    const char *kind, *name; /* of the open section; NULL before the first */
    char *why;
    size_t why_bytes;
};

static int refuse(struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(struct parser *parser, const char *format, ...) {
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    snprintf(parser->why, parser->why_bytes, "line %u: %s", parser->line, what);
    return -EINVAL;
}

static int add_entry(struct ps_boardfile *board, const struct entry *entry) {
    if (board->n == board->capacity) {
        size_t capacity = board->capacity ? 2 * board->capacity : 32;
        struct entry *entries = reallocarray(board->entries, capacity, sizeof(*entries));
        if (!entries)
            return -ENOMEM;
        board->entries = entries;
        board->capacity = capacity;
    }
    board->entries[board->n++] = *entry;
    return 0;
}

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = 0;
    return text;
}

/* A part of an id, docs/FORMAT.md: the name appears in ids as a place. */
static bool is_name(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length < 64 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.+-") == length &&
           !strchr("_.+-", text[0]);
}

static bool is_number(const char *text, const char *digits) {
    return *text && strspn(text, digits) == strlen(text);
}

static bool value_fits(enum value_kind kind, const char *value) {
    char *end;
    errno = 0;
    switch (kind) {
    case VALUE_TEXT:
        return true;
    case VALUE_COUNT:
        return is_number(value, "0123456789") && strlen(value) < 10 && strtoul(value, NULL, 10) > 0;
    case VALUE_NUMBER:
        return is_number(value, "0123456789.") && strtod(value, &end) > 0 && !*end && !errno;
    case VALUE_ADDRESS:
        if (strncmp(value, "0x", 2) == 0)
            return is_number(value + 2, "0123456789abcdefABCDEF") &&
                   (strtoull(value + 2, &end, 16), !errno);
        return is_number(value, "0123456789") && (strtoull(value, &end, 10), !errno);
    case VALUE_YES_NO:
        return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
    }
    return false;
}

static const char *const value_kind_words[] = {
    "a text",    "a whole number above 0", "a number above 0", "a number, decimal or 0x...",
    "yes or no",
};

static int parse_section(struct parser *parser, char *line) {
    size_t length = strlen(line);
    if (line[length - 1] != ']')
        return refuse(parser, "a section must end with ']'");
    line[length - 1] = 0;
    char *kind = trim(line + 1);
    char *name = kind + strcspn(kind, " \t");
    if (*name) {
        *name++ = 0;
        name = trim(name);
    }
    const struct section_rule *rule = NULL;
    for (size_t i = 0; i < N_ITEMS(section_rules); i++)
        if (strcmp(section_rules[i].section, kind) == 0)
            rule = &section_rules[i];
    if (!rule)
        return refuse(parser, "unknown section [%.40s]", kind);
    if (rule->name == NAME_NONE && *name)
        return refuse(parser, "[%s] takes no name", kind);
    if (rule->name != NAME_NONE && !*name)
        return refuse(parser, "[%s NAME] needs a name", kind);
    if (rule->name == NAME_WORD && !is_name(name))
        return refuse(parser, "'%.40s' is no name: lower-case letters, digits and _.+-", name);
    if (rule->name == NAME_NUMBER && (!is_number(name, "0123456789") || strlen(name) > 4))
        return refuse(parser, "[%s N] needs a number", kind);
    const struct ps_boardfile *board = parser->board;
    for (size_t i = 0; i < board->n; i++)
        if (!board->entries[i].key && strcmp(board->entries[i].kind, kind) == 0 &&
            strcmp(board->entries[i].name, name) == 0)
            return refuse(parser, "section [%s%s%.40s] is there twice", kind, *name ? " " : "",
                          name);
    parser->kind = rule->section;
    parser->name = name;
    return add_entry(parser->board, &(struct entry){NULL, NULL, parser->kind, parser->name});
}

static int parse_pair(struct parser *parser, char *line) {
    char *equals = strchr(line, '=');
    if (!equals)
        return refuse(parser, "neither '[section]' nor 'key = value'");
    *equals = 0;
    char *key = trim(line), *value = trim(equals + 1);
    if (!parser->kind)
        return refuse(parser, "'%.40s' stands before the first section", key);
    const struct key_rule *rule = NULL;
    for (size_t i = 0; i < N_ITEMS(key_rules); i++)
        if (strcmp(key_rules[i].section, parser->kind) == 0 && strcmp(key_rules[i].key, key) == 0)
            rule = &key_rules[i];
    if (!rule)
        return refuse(parser, "unknown key '%.40s' in [%s]", key, parser->kind);
    if (!*value)
        return refuse(parser, "'%s' has no value", key);
    if (!value_fits(rule->kind, value))
        return refuse(parser, "'%s' must be %s, not '%.40s'", key, value_kind_words[rule->kind],
                      value);
    struct ps_boardfile *board = parser->board;
    for (size_t i = board->n; i-- > 0 && board->entries[i].key;)
        if (strcmp(board->entries[i].key, key) == 0)
            return refuse(parser, "'%s' is there twice in [%s]", key, parser->kind);
    return add_entry(board, &(struct entry){rule->key, value, parser->kind, parser->name});
}

static int parse_lines(struct parser *parser, char *text, size_t length) {
    char *end = text + length;
    for (char *line = text, *next; line < end; line = next) {
        parser->line++;
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *stop = newline ? newline : end;
        next = newline ? newline + 1 : end;
        if (stop > line && stop[-1] == '\r')
            stop--;
        *stop = 0;
        for (const char *c = line; c < stop; c++)
            if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
                return refuse(parser, "a control character");
        line = trim(line);
        int error = 0;
        if (*line == '[')
            error = parse_section(parser, line);
        else if (*line && *line != '#' && *line != ';')
            error = parse_pair(parser, line);
        if (error)
            return error;
    }
    return 0;
}

int ps_boardfile_parse(const char *text, size_t length, struct ps_boardfile **ret_board,
                       char *ret_why, size_t why_bytes) {
    struct ps_boardfile *board = calloc(1, sizeof(*board));
    if (board)
        board->text = malloc(length + 1);
    if (!board || !board->text) {
        snprintf(ret_why, why_bytes, "not enough memory");
        ps_boardfile_free(board);
        return -ENOMEM;
    }
    if (length > 0)
        memcpy(board->text, text, length);
    struct parser parser = {.board = board, .why = ret_why, .why_bytes = why_bytes};
    int error = parse_lines(&parser, board->text, length);
    if (error == -ENOMEM)
        snprintf(ret_why, why_bytes, "not enough memory");
    if (error) {
        ps_boardfile_free(board);
        return error;
    }
    *ret_board = board;
    return 0;
}

int ps_boardfile_read(const char *path, struct ps_boardfile **ret_board, char *ret_why,
                      size_t why_bytes) {
    int error = 0;
    char *text = NULL;
    size_t length = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        error = -errno;
        goto out;
    }
    text = malloc(FILE_BYTES_MAX + 1);
    if (!text) {
        error = -ENOMEM;
        goto out;
    }
    errno = 0;
    length = fread(text, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        error = errno ? -errno : -EIO;
    else if (length > FILE_BYTES_MAX)
        error = -EFBIG;
out:
    if (error)
        snprintf(ret_why, why_bytes, "%s", strerror(-error));
    else
        error = ps_boardfile_parse(text, length, ret_board, ret_why, why_bytes);
    if (file)
        fclose(file);
    free(text);
    return error;
}

void ps_boardfile_free(struct ps_boardfile *board) {
    if (!board)
        return;
    free(board->entries);
    free(board->text);
    free(board);
}

const char *ps_boardfile_value(const struct ps_boardfile *board, const char *section,
                               const char *key) {
    if (!board)
        return NULL;
    for (size_t i = 0; i < board->n; i++) {
        const struct entry *entry = &board->entries[i];
        size_t kind_length = strlen(entry->kind);
        if (!entry->key || strcmp(entry->key, key) != 0 ||
            strncmp(section, entry->kind, kind_length) != 0)
            continue;
        const char *rest = section + kind_length;
        if (*entry->name ? *rest == ' ' && strcmp(rest + 1, entry->name) == 0 : !*rest)
            return entry->value;
    }
    return NULL;
}

const char *ps_boardfile_section(const struct ps_boardfile *board, const char *kind, size_t nth) {
    for (size_t i = 0; board && i < board->n; i++)
        if (!board->entries[i].key && strcmp(board->entries[i].kind, kind) == 0 && nth-- == 0)
            return board->entries[i].name;
    return NULL;
}
