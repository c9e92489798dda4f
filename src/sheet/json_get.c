/* SPDX-License-Identifier: MIT
 *
 * Looking things up in a parsed document.
 */
#include <math.h>
#include <string.h>

#include "sheet/json.h"

const struct ps_json *ps_json_get(const struct ps_json *object, const char *key) {
    if (!object || object->type != PS_JSON_OBJECT)
        return NULL;
    for (const struct ps_json *member = object->u.first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

bool ps_json_is_number(const struct ps_json *value) {
    return value && (value->type == PS_JSON_INTEGER || value->type == PS_JSON_UNSIGNED ||
                     value->type == PS_JSON_DOUBLE);
}

double ps_json_double_of(const struct ps_json *value) {
    switch (value->type) {
    case PS_JSON_INTEGER:
        return (double)value->u.integer;
    case PS_JSON_UNSIGNED:
        return (double)value->u.natural;
    case PS_JSON_DOUBLE:
        return value->u.number;
    default:
        return NAN;
    }
}

double ps_json_get_double(const struct ps_json *object, const char *key, double missing) {
    const struct ps_json *value = ps_json_get(object, key);
    return ps_json_is_number(value) ? ps_json_double_of(value) : missing;
}

int64_t ps_json_get_i64(const struct ps_json *object, const char *key, int64_t missing) {
    const struct ps_json *value = ps_json_get(object, key);
    return value && value->type == PS_JSON_INTEGER ? value->u.integer : missing;
}

uint64_t ps_json_get_u64(const struct ps_json *object, const char *key, uint64_t missing) {
    const struct ps_json *value = ps_json_get(object, key);
    if (value && value->type == PS_JSON_UNSIGNED)
        return value->u.natural;
    return value && value->type == PS_JSON_INTEGER && value->u.integer >= 0
               ? (uint64_t)value->u.integer
               : missing;
}

const char *ps_json_get_string(const struct ps_json *object, const char *key, const char *missing) {
    const struct ps_json *value = ps_json_get(object, key);
    return value && value->type == PS_JSON_STRING ? value->u.string : missing;
}

bool ps_json_get_bool(const struct ps_json *object, const char *key, bool missing) {
    const struct ps_json *value = ps_json_get(object, key);
    return value && value->type == PS_JSON_BOOL ? value->u.boolean : missing;
}
