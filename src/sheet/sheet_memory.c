/* SPDX-License-Identifier: MIT
 *
 * A sheet's memory, and what its parsers share.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/sheet_build.h"

struct ps_sheet *ps_sheet_new(void) {
    struct ps_sheet *sheet = calloc(1, sizeof(*sheet));
    struct ps_sheet_memory *memory = calloc(1, sizeof(*memory));
    if (!sheet || !memory) {
        free(sheet);
        free(memory);
        return NULL;
    }
    ps_memory_pool_init(&memory->pool, 8192);
    sheet->memory = memory;
    return sheet;
}

void ps_sheet_free(struct ps_sheet *sheet) {
    if (!sheet)
        return;
    struct ps_sheet_memory *memory = sheet->memory;
    ps_memory_pool_done(&memory->pool);
    free(memory);
    free(sheet->sources);
    free(sheet->tables);
    free(sheet->cases);
    free(sheet->runs);
    free(sheet->results);
    free(sheet);
}

void *ps_sheet_alloc(struct ps_sheet *sheet, size_t bytes) {
    struct ps_sheet_memory *memory = sheet->memory;
    return ps_memory_pool_alloc(&memory->pool, bytes);
}

/* A sheet may come from anybody, and its strings go to terminals and into pages: C0, C1 (in UTF-8
 * 0xc2 0x80 to 0xc2 0x9f) and DEL are replaced. The reader has refused what is not UTF-8. */
static void copy_printable(char *out, const char *in) {
    for (; *in; in++) {
        unsigned char byte = (unsigned char)*in, next = (unsigned char)in[1];
        if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            *out++ = '?';
            in++;
        } else if (byte == '\n' || byte == '\t' || byte == '\r') {
            *out++ = ' ';
        } else {
            *out++ = byte < 0x20 || byte == 0x7f ? '?' : *in;
        }
    }
    *out = '\0';
}

const char *ps_sheet_strdup(struct ps_sheet *sheet, const char *string) {
    char *copy = ps_sheet_alloc(sheet, strlen(string) + 1);
    if (copy)
        copy_printable(copy, string);
    return copy;
}

void *ps_sheet_grow(void **array, size_t n, size_t *n_max, size_t element_bytes) {
    if (n == *n_max) {
        size_t wanted = n ? 2 * n : 4;
        void *grown = reallocarray(*array, wanted, element_bytes);
        if (!grown)
            return NULL;
        *array = grown;
        *n_max = wanted;
    }
    void *element = (char *)*array + n * element_bytes;
    return memset(element, 0, element_bytes);
}

static bool copy_value(struct ps_sheet *sheet, struct ps_json *copy, const struct ps_json *value) {
    *copy = *value;
    copy->next = NULL;
    if (value->key && !(copy->key = ps_sheet_strdup(sheet, value->key)))
        return false;
    if (value->type == PS_JSON_STRING)
        return (copy->u.string = ps_sheet_strdup(sheet, value->u.string)) != NULL;
    if (value->type != PS_JSON_ARRAY && value->type != PS_JSON_OBJECT)
        return true;
    copy->u.first = NULL;
    struct ps_json **link = &copy->u.first;
    for (const struct ps_json *item = value->u.first; item; item = item->next) {
        struct ps_json *made = ps_sheet_alloc(sheet, sizeof(*made));
        if (!made || !copy_value(sheet, made, item)) /* at most 16 deep: the reader's bound */
            return false;
        *link = made;
        link = &made->next;
    }
    return true;
}

const struct ps_json *ps_sheet_copy_json(struct ps_sheet *sheet, const struct ps_json *value) {
    struct ps_json *copy = value ? ps_sheet_alloc(sheet, sizeof(*copy)) : NULL;
    return copy && copy_value(sheet, copy, value) ? copy : NULL;
}

unsigned ps_sheet_word(const struct ps_json *object, const char *key, const char *(*name)(unsigned),
                       unsigned n, unsigned missing) {
    const struct ps_json *value = ps_json_get(object, key);
    if (!value || value->type == PS_JSON_NULL)
        return missing;
    unsigned i = 0;
    while (i < n && (value->type != PS_JSON_STRING || strcmp(value->u.string, name(i)) != 0))
        i++;
    return i;
}

bool ps_sheet_quality(const struct ps_json *object, uint32_t *ret_quality) {
    const struct ps_json *list = ps_json_get(object, "quality");
    uint32_t quality = 0;
    bool known = true;
    if (list && list->type == PS_JSON_ARRAY) {
        for (const struct ps_json *item = list->u.first; item && known; item = item->next) {
            unsigned bit = 0;
            known = item->type == PS_JSON_STRING && ps_quality_from_name(item->u.string, &bit) == 0;
            quality |= known ? UINT32_C(1) << bit : 0;
        }
    }
    *ret_quality = quality;
    return known;
}

bool ps_sheet_take_string(struct ps_sheet *sheet, const struct ps_json *object, const char *key,
                          const char **ret_string) {
    const char *string = ps_json_get_string(object, key, NULL);
    *ret_string = string ? ps_sheet_strdup(sheet, string) : NULL;
    return !string || *ret_string;
}

unsigned ps_sheet_unsigned(const struct ps_json *object, const char *key) {
    int64_t value = ps_json_get_i64(object, key, 0);
    return value > 0 && value <= UINT_MAX ? (unsigned)value : 0;
}
