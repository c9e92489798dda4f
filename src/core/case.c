/* SPDX-License-Identifier: MIT
 *
 * Making cases: what cases() calls at plan time.
 */
#include "core/assert.h"
#include "core/bench.h"
#include "core/case_list.h"

/* A name that does not fit is a mistake in the table, never data. */
static void copy_name(char *to, size_t size_bytes, const char *from) {
    struct ps_text text;
    ps_text_init(&text, to, size_bytes);
    ps_text_add(&text, from);
    PS_ASSERT(!text.cut);
}

struct ps_case *ps_case_add(struct ps_case_list *list, const char *name) {
    if (list->n == list->capacity && (list->grow == NULL || list->grow(list) < 0)) {
        list->overflow = true;
        return NULL;
    }
    PS_ASSERT(list->n < list->capacity);
    struct ps_case *c = &list->cases[list->n++];
    *c = (struct ps_case){.place = {.every_cluster = true, .cluster = -1, .cpu = -1}};
    copy_name(c->name, sizeof(c->name), name);
    return c;
}

static struct ps_param *add_param(struct ps_case *c, const char *name) {
    PS_ASSERT(c->n_params < PS_PARAMS_MAX);
    struct ps_param *param = &c->params[c->n_params++];
    param->name = name;
    return param;
}

void ps_case_param(struct ps_case *c, const char *name, int64_t value) {
    if (c == NULL)
        return;
    add_param(c, name)->value = value;
}

void ps_case_param_text(struct ps_case *c, const char *name, const char *text) {
    if (c == NULL)
        return;
    PS_ASSERT(text != NULL);
    add_param(c, name)->text = text;
}

void ps_case_publish(struct ps_case *c, const char *metric, const char *page, const char *table,
                     const char *row, enum ps_comparable comparable, const char *why) {
    if (c == NULL)
        return;
    PS_ASSERT(c->n_published < PS_PUBLISHED_MAX);
    PS_ASSERT(comparable == PS_COMPARABLE_YES || why != NULL);
    struct ps_published *published = &c->published[c->n_published++];
    *published = (struct ps_published){.metric = metric,
                                       .page = page,
                                       .table = table,
                                       .column = "result", /* what most pages call their one */
                                       .nth = 1,
                                       .comparable = comparable,
                                       .why = why};
    copy_name(published->row, sizeof(published->row), row);
}

void ps_case_relate(struct ps_case *c, enum ps_relation_type type, const char *rule,
                    const char *metric, const char *other, double factor, double tolerance,
                    const char *cause) {
    if (c == NULL)
        return;
    PS_ASSERT(c->n_relations < PS_RELATIONS_MAX);
    struct ps_relation *relation = &c->relations[c->n_relations++];
    *relation = (struct ps_relation){.type = type,
                                     .rule = rule,
                                     .metric = metric,
                                     .factor = factor,
                                     .tolerance = tolerance,
                                     .cause = cause};
    copy_name(relation->other, sizeof(relation->other), other != NULL ? other : "");
}

static const struct ps_param *find_param(const struct ps_case *c, const char *name) {
    for (unsigned i = 0; i < c->n_params; i++) {
        if (ps_text_equal(c->params[i].name, name))
            return &c->params[i];
    }
    return NULL;
}

int64_t ps_case_value(const struct ps_case *c, const char *name, int64_t missing) {
    const struct ps_param *param = find_param(c, name);
    return param != NULL && param->text == NULL ? param->value : missing;
}

const char *ps_case_text(const struct ps_case *c, const char *name) {
    const struct ps_param *param = find_param(c, name);
    return param != NULL ? param->text : NULL;
}
