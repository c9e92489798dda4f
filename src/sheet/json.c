/* SPDX-License-Identifier: MIT
 *
 * Recursive descent over one line, depth bounded, linear in its length: values go into a memory
 * pool as they are met. Reading the values of a parsed document is in json_get.c.
 *
 * Numbers. Up to 19 digits are taken as a 64-bit integer. A mantissa below 2^53 with a power of ten
 * of at most 22 is exact in a double, and so is one product or quotient of the two but for its
 * own rounding, which is the right one. All others go to strtod, which is correctly rounded; it
 * would look for another decimal point in another locale, but the program never calls setlocale.
 */
#include "sheet/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/json_string.h"
#include "sheet/memory_pool.h"

#define DEPTH_MAX 16
/* Duplicate keys are found by comparing all pairs, so their number must be bounded; the largest
 * objects of a sheet have some 60. */
#define MEMBERS_MAX 512

struct ps_json_document {
    struct ps_memory_pool pool;
};

struct parser {
    const char *at, *end;
    struct ps_memory_pool *pool;
    const char *what; /* the error; NULL with -ENOMEM */
    const char *where;
};

static int fail(struct parser *p, const char *where, const char *what) {
    p->where = where;
    p->what = what;
    return -EINVAL;
}

static void skip_space(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool take(struct parser *p, char c) {
    if (p->at >= p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_digit(const struct parser *p) {
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

/* ---- Numbers -------------------------------------------------------------------------------- */

struct digits {
    uint64_t mantissa;
    bool overflow; /* of the mantissa */
    long exponent; /* of ten, of its last digit */
};

static void add_digit(struct digits *digits, char c) {
    unsigned digit = (unsigned)(c - '0');
    if (digits->mantissa >= UINT64_MAX / 10 &&
        (digits->mantissa > UINT64_MAX / 10 || digit > UINT64_MAX % 10))
        digits->overflow = true;
    else
        digits->mantissa = digits->mantissa * 10 + digit;
}

static int scan_number(struct parser *p, struct digits *digits, bool *ret_integer) {
    const char *first = p->at;
    if (!is_digit(p))
        return fail(p, p->at, "a value is expected");
    while (is_digit(p))
        add_digit(digits, *p->at++);
    if (*first == '0' && p->at - first > 1)
        return fail(p, first, "a number with a leading zero");
    *ret_integer = true;
    if (take(p, '.')) {
        *ret_integer = false;
        if (!is_digit(p))
            return fail(p, p->at, "a digit is expected behind the point");
        while (is_digit(p)) {
            add_digit(digits, *p->at++);
            digits->exponent--;
        }
    }
    if (take(p, 'e') || take(p, 'E')) {
        *ret_integer = false;
        bool minus = take(p, '-');
        if (!minus)
            take(p, '+');
        if (!is_digit(p))
            return fail(p, p->at, "a digit is expected in the exponent");
        long exponent = 0;
        while (is_digit(p)) {
            if (exponent < 100000) /* far beyond any double, far from overflow */
                exponent = exponent * 10 + (*p->at - '0');
            p->at++;
        }
        digits->exponent += minus ? -exponent : exponent;
    }
    return 0;
}

static int slow_double(struct parser *p, const char *first, double *ret_value) {
    size_t length = (size_t)(p->at - first);
    char buffer[64], *copy = buffer;
    if (length >= sizeof(buffer))
        copy = ps_memory_pool_alloc(p->pool, length + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, first, length);
    copy[length] = '\0';
    *ret_value = strtod(copy, NULL);
    return isfinite(*ret_value) ? 0 : fail(p, first, "a number out of range");
}

static int parse_number(struct parser *p, struct ps_json *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *first = p->at;
    bool minus = take(p, '-'), integer;
    struct digits digits = {0};
    int error = scan_number(p, &digits, &integer);
    if (error)
        return error;
    if (integer && !digits.overflow) {
        if (digits.mantissa <= (uint64_t)INT64_MAX + minus) {
            value->type = PS_JSON_INTEGER;
            value->u.integer = minus ? (int64_t)(0 - digits.mantissa) : (int64_t)digits.mantissa;
            return 0;
        }
        if (!minus) {
            value->type = PS_JSON_UNSIGNED;
            value->u.natural = digits.mantissa;
            return 0;
        }
    }
    value->type = PS_JSON_DOUBLE;
    if (digits.overflow || digits.mantissa >> 53 || digits.exponent < -22 || digits.exponent > 22)
        return slow_double(p, first, &value->u.number);
    double number = (double)digits.mantissa;
    number =
        digits.exponent < 0 ? number / powers[-digits.exponent] : number * powers[digits.exponent];
    value->u.number = minus ? -number : number;
    return 0;
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* At the opening quote. */
static int parse_string(struct parser *p, const char **ret_string, size_t *ret_length) {
    const char *first = p->at, *quote = first + 1;
    while (quote < p->end && *quote != '"')
        quote += *quote == '\\' && p->end - quote > 1 ? 2 : 1;
    if (quote >= p->end)
        return fail(p, first, "a string without an end");
    char *string = ps_memory_pool_alloc(p->pool, (size_t)(quote - first));
    if (!string)
        return -ENOMEM;
    size_t length = ps_json_unescape(first + 1, quote, string, &p->where, &p->what);
    if (length == (size_t)-1)
        return -EINVAL;
    p->at = quote + 1;
    *ret_string = string;
    *ret_length = length;
    return 0;
}

/* ---- Values --------------------------------------------------------------------------------- */

static int parse_value(struct parser *p, struct ps_json *value, unsigned depth);

static struct ps_json *append(struct parser *p, struct ps_json *parent, struct ps_json **tail) {
    struct ps_json *item = ps_memory_pool_alloc(p->pool, sizeof(*item));
    if (!item)
        return NULL;
    *item = (struct ps_json){.type = PS_JSON_NULL};
    if (*tail)
        (*tail)->next = item;
    else
        parent->u.first = item;
    *tail = item;
    parent->n++;
    return item;
}

static int parse_array(struct parser *p, struct ps_json *array, unsigned depth) {
    struct ps_json *tail = NULL;
    p->at++;
    *array = (struct ps_json){.type = PS_JSON_ARRAY, .key = array->key};
    skip_space(p);
    if (take(p, ']'))
        return 0;
    for (;;) {
        struct ps_json *item = append(p, array, &tail);
        int error = item ? parse_value(p, item, depth + 1) : -ENOMEM;
        if (error)
            return error;
        skip_space(p);
        if (take(p, ']'))
            return 0;
        if (!take(p, ','))
            return fail(p, p->at, "',' or ']' is expected");
    }
}

static int parse_key(struct parser *p, const struct ps_json *object, struct ps_json *member) {
    size_t length;
    skip_space(p);
    const char *first = p->at;
    if (p->at >= p->end || *p->at != '"')
        return fail(p, p->at, "a key in quotes is expected");
    int error = parse_string(p, &member->key, &length);
    if (error)
        return error;
    for (const struct ps_json *other = object->u.first; other != member; other = other->next)
        if (strcmp(other->key, member->key) == 0)
            return fail(p, first, "a key that was there before");
    skip_space(p);
    return take(p, ':') ? 0 : fail(p, p->at, "':' is expected");
}

static int parse_object(struct parser *p, struct ps_json *object, unsigned depth) {
    struct ps_json *tail = NULL;
    p->at++;
    *object = (struct ps_json){.type = PS_JSON_OBJECT, .key = object->key};
    skip_space(p);
    if (take(p, '}'))
        return 0;
    for (;;) {
        if (object->n >= MEMBERS_MAX)
            return fail(p, p->at, "an object with more than 512 keys");
        struct ps_json *member = append(p, object, &tail);
        int error = member ? parse_key(p, object, member) : -ENOMEM;
        if (!error)
            error = parse_value(p, member, depth + 1);
        if (error)
            return error;
        skip_space(p);
        if (take(p, '}'))
            return 0;
        if (!take(p, ','))
            return fail(p, p->at, "',' or '}' is expected");
    }
}

static int parse_word(struct parser *p, struct ps_json *value) {
    static const struct {
        const char *text;
        size_t length;
        enum ps_json_type type;
    } words[] = {{"null", 4, PS_JSON_NULL}, {"true", 4, PS_JSON_BOOL}, {"false", 5, PS_JSON_BOOL}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((size_t)(p->end - p->at) < words[i].length ||
            memcmp(p->at, words[i].text, words[i].length) != 0)
            continue;
        value->type = words[i].type;
        value->u.boolean = words[i].text[0] == 't';
        p->at += words[i].length;
        return 0;
    }
    return fail(p, p->at, "a value is expected");
}

static int parse_value(struct parser *p, struct ps_json *value, unsigned depth) {
    skip_space(p);
    char c = p->at < p->end ? *p->at : '\0';
    if ((c == '[' || c == '{') && depth >= DEPTH_MAX)
        return fail(p, p->at, "nested deeper than 16");
    switch (c) {
    case '{':
        return parse_object(p, value, depth);
    case '[':
        return parse_array(p, value, depth);
    case '"':
        value->type = PS_JSON_STRING;
        return parse_string(p, &value->u.string, &value->n);
    case 't':
    case 'f':
    case 'n':
        return parse_word(p, value);
    default:
        return parse_number(p, value);
    }
}

int ps_json_parse(const char *text, size_t length, struct ps_json_document **ret_document,
                  const struct ps_json **ret_root, struct ps_json_error *ret_error) {
    struct ps_json_document *document = malloc(sizeof(*document));
    if (!document)
        return -ENOMEM;
    /* Short lines fit the first chunk: a number of 12 characters becomes a node of 40 bytes. */
    ps_memory_pool_init(&document->pool, 1024 + (length < 16384 ? length : 16384) * 4);
    struct parser p = {.at = text, .end = text + length, .pool = &document->pool};
    struct ps_json *root = ps_memory_pool_alloc(&document->pool, sizeof(*root));
    int error = -ENOMEM;
    if (!root)
        goto out;
    *root = (struct ps_json){.type = PS_JSON_NULL};
    error = parse_value(&p, root, 0);
    if (error)
        goto out;
    skip_space(&p);
    if (p.at < p.end) {
        error = fail(&p, p.at, "text behind the value");
        goto out;
    }
    *ret_document = document;
    *ret_root = root;
out:
    if (error) {
        if (error == -EINVAL)
            *ret_error =
                (struct ps_json_error){.column = (size_t)(p.where - text) + 1, .what = p.what};
        ps_json_document_free(document);
    }
    return error;
}

void ps_json_document_free(struct ps_json_document *document) {
    if (!document)
        return;
    ps_memory_pool_done(&document->pool);
    free(document);
}
