/* SPDX-License-Identifier: MIT
 *
 * Declarations: source, table and case records. Words of the closed lists must be known; what a
 * metric says of its estimator must be settled.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/record.h"
#include "sheet/sheet_build.h"

/* They are looked up one by one. */
#define SOURCES_MAX 256
#define TABLES_MAX 4096
#define LIST_MAX 4096 /* metrics, relations, published rows of one case */

/* The closed lists of docs/FORMAT.md are the enumerators of core/record.h. */
static const char *bound_name(unsigned i) {
    return ps_bound_name((enum ps_bound)i);
}
static const char *stat_name(unsigned i) {
    return ps_stat_name((enum ps_stat)i);
}
static const char *kind_name(unsigned i) {
    return ps_metric_kind_name((enum ps_metric_kind)i);
}
static const char *derivation_name(unsigned i) {
    return ps_derivation_name((enum ps_derivation)i);
}
static const char *better_name(unsigned i) {
    return ps_better_name((enum ps_better)i);
}
static const char *depends_name(unsigned i) {
    return ps_depends_name((enum ps_depends)i);
}
static const char *comparable_name(unsigned i) {
    return ps_comparable_name((enum ps_comparable)i);
}
static const char *relation_name(unsigned i) {
    return ps_relation_name((enum ps_relation_type)i);
}
static const char *unit_name(unsigned i) {
    return ps_unit_name((enum ps_unit)i);
}

static int refuse(const char **ret_what, const char *what) {
    *ret_what = what;
    return -EINVAL;
}

int ps_sheet_take_source(struct ps_sheet *sheet, const struct ps_json *record,
                         const char **ret_what) {
    struct ps_sheet_memory *memory = sheet->memory;
    const char *id = ps_json_get_string(record, "id", NULL);
    if (!id)
        return refuse(ret_what, "a source without an id");
    struct ps_sheet_source *source = NULL;
    for (size_t i = 0; i < sheet->n_sources && !source; i++)
        if (strcmp(sheet->sources[i].id, id) == 0)
            source =
                &sheet->sources[i]; /* said again, by a run that was resumed: the later holds */
    if (!source && sheet->n_sources == SOURCES_MAX)
        return refuse(ret_what, "more than 256 sources");
    if (!source) {
        source = ps_sheet_grow((void **)&sheet->sources, sheet->n_sources, &memory->sources_max,
                               sizeof(*source));
        if (!source)
            return -ENOMEM;
        sheet->n_sources++;
    }
    source->json = ps_sheet_copy_json(sheet, record);
    source->id = ps_sheet_strdup(sheet, id);
    if (!source->json || !source->id ||
        !ps_sheet_take_string(sheet, record, "kind", &source->kind)) {
        sheet->n_sources = 0; /* half a source is none */
        return -ENOMEM;
    }
    source->hz = ps_json_get_double(record, "hz", NAN);
    source->usable_cpus = ps_sheet_unsigned(record, "usable_cpus");
    source->emulated = ps_json_get_bool(record, "emulated", false);
    return 0;
}

int ps_sheet_take_table(struct ps_sheet *sheet, const struct ps_json *record,
                        const char **ret_what) {
    struct ps_sheet_memory *memory = sheet->memory;
    const char *id = ps_json_get_string(record, "id", NULL);
    if (!id)
        return refuse(ret_what, "a table without an id");
    for (size_t i = 0; i < sheet->n_tables; i++)
        if (strcmp(sheet->tables[i].id, id) == 0)
            return 0;
    if (sheet->n_tables == TABLES_MAX)
        return refuse(ret_what, "more than 4096 tables");
    struct ps_sheet_table *table = ps_sheet_grow((void **)&sheet->tables, sheet->n_tables,
                                                 &memory->tables_max, sizeof(*table));
    if (!table)
        return -ENOMEM;
    table->id = ps_sheet_strdup(sheet, id);
    table->json = ps_sheet_copy_json(sheet, record);
    if (!table->id || !table->json ||
        !ps_sheet_take_string(sheet, record, "title", &table->title) ||
        !ps_sheet_take_string(sheet, record, "about", &table->about))
        return -ENOMEM;
    sheet->n_tables++;
    return 0;
}

/* ---- Parts of a case ------------------------------------------------------------------------ */

static void bound_stats(enum ps_bound bound, unsigned *sample_stat, unsigned *run_stat) {
    bool core = bound == PS_BOUND_CORE, memory = bound == PS_BOUND_MEMORY;
    bool mean = bound == PS_BOUND_DEVICE;
    if (*sample_stat == PS_STAT_AUTO)
        *sample_stat = core     ? PS_STAT_P10
                       : memory ? PS_STAT_P25
                       : mean   ? PS_STAT_MEAN
                                : PS_STAT_MEDIAN;
    if (*run_stat == PS_STAT_AUTO)
        *run_stat = core || memory ? PS_STAT_LOWER_HALF : mean ? PS_STAT_MEAN : PS_STAT_MEDIAN;
}

static int take_metric(struct ps_sheet *sheet, const struct ps_json *json,
                       struct ps_sheet_metric *metric, const char **ret_what) {
    unsigned unit = ps_sheet_word(json, "unit", unit_name, PS_N_UNIT, PS_N_UNIT);
    unsigned kind = ps_sheet_word(json, "kind", kind_name, PS_DERIVED + 1, PS_DERIVED + 1);
    unsigned better =
        ps_sheet_word(json, "better", better_name, PS_BETTER_NEITHER + 1, PS_BETTER_NEITHER);
    unsigned bound = ps_sheet_word(json, "bound", bound_name, PS_BOUND_DEVICE + 1, PS_BOUND_AUTO);
    unsigned sample_stat =
        ps_sheet_word(json, "sample_stat", stat_name, PS_STAT_LOWER_HALF + 1, PS_STAT_AUTO);
    unsigned run_stat =
        ps_sheet_word(json, "run_stat", stat_name, PS_STAT_LOWER_HALF + 1, PS_STAT_AUTO);
    unsigned derivation =
        ps_sheet_word(json, "derivation", derivation_name, PS_DERIVE_CLOCK + 1, PS_DERIVE_NONE);
    unsigned depends =
        ps_sheet_word(json, "depends", depends_name, PS_DEPENDS_COMPILER + 1, PS_DEPENDS_NOTHING);
    if (unit == PS_N_UNIT)
        return refuse(ret_what, "a metric whose unit is not in the list");
    if (kind > PS_DERIVED)
        return refuse(ret_what, "a metric whose kind is not in the list");
    if (better > PS_BETTER_NEITHER || depends > PS_DEPENDS_COMPILER || derivation > PS_DERIVE_CLOCK)
        return refuse(ret_what, "a metric whose better, depends or derivation is not in the list");
    if (bound == PS_BOUND_AUTO || bound > PS_BOUND_DEVICE)
        return refuse(ret_what, "a metric whose bound is not in the list");
    if (sample_stat > PS_STAT_LOWER_HALF || run_stat > PS_STAT_LOWER_HALF)
        return refuse(ret_what, "a metric whose statistic is not in the list");
    bound_stats((enum ps_bound)bound, &sample_stat, &run_stat);
    if (kind == PS_DERIVED && derivation == PS_DERIVE_NONE)
        return refuse(ret_what, "a derived metric without a derivation");
    *metric = (struct ps_sheet_metric){
        .unit = (enum ps_unit)unit,
        .kind = (enum ps_metric_kind)kind,
        .better = (enum ps_better)better,
        .bound = (enum ps_bound)bound,
        .sample_stat = (enum ps_stat)sample_stat,
        .run_stat = (enum ps_stat)run_stat,
        .derivation = (enum ps_derivation)derivation,
        .depends = (enum ps_depends)depends,
        .factor = ps_json_get_double(json, "factor", 1.0),
        .floor_cycles = ps_json_get_double(json, "floor_cycles", 0.0),
        .positive = ps_json_get_bool(json, "positive", false),
        .decimals = ps_sheet_unsigned(json, "decimals"),
        .method = ps_sheet_unsigned(json, "method"),
    };
    if (!ps_sheet_take_string(sheet, json, "name", &metric->name) ||
        !ps_sheet_take_string(sheet, json, "counts", &metric->counts) ||
        !ps_sheet_take_string(sheet, json, "from", &metric->from))
        return -ENOMEM;
    return metric->name ? 0 : refuse(ret_what, "a metric without a name");
}

static int take_relation(struct ps_sheet *sheet, const struct ps_json *json,
                         struct ps_sheet_relation *relation, const char **ret_what) {
    unsigned type =
        ps_sheet_word(json, "type", relation_name, PS_WHOLE_CYCLES + 1, PS_WHOLE_CYCLES + 1);
    if (type > PS_WHOLE_CYCLES)
        return refuse(ret_what, "a relation whose type is not in the list");
    *relation = (struct ps_sheet_relation){
        .type = (enum ps_relation_type)type,
        .factor = ps_json_get_double(json, "factor", 1.0),
        .tolerance = ps_json_get_double(json, "tolerance", 0.0),
    };
    if (!ps_sheet_take_string(sheet, json, "rule", &relation->rule) ||
        !ps_sheet_take_string(sheet, json, "metric", &relation->metric) ||
        !ps_sheet_take_string(sheet, json, "other", &relation->other) ||
        !ps_sheet_take_string(sheet, json, "cause", &relation->cause))
        return -ENOMEM;
    if (!relation->rule || !relation->metric)
        return refuse(ret_what, "a relation without a rule or a metric");
    return 0;
}

static int take_published(struct ps_sheet *sheet, const struct ps_json *json,
                          struct ps_sheet_published *published, const char **ret_what) {
    unsigned comparable = ps_sheet_word(json, "comparable", comparable_name, PS_COMPARABLE_NO + 1,
                                        PS_COMPARABLE_NO + 1);
    if (comparable > PS_COMPARABLE_NO)
        return refuse(ret_what, "a published row whose comparable is not in the list");
    *published = (struct ps_sheet_published){.nth = ps_sheet_unsigned(json, "nth"),
                                             .comparable = (enum ps_comparable)comparable};
    if (!ps_sheet_take_string(sheet, json, "metric", &published->metric) ||
        !ps_sheet_take_string(sheet, json, "page", &published->page) ||
        !ps_sheet_take_string(sheet, json, "table", &published->table) ||
        !ps_sheet_take_string(sheet, json, "row", &published->row) ||
        !ps_sheet_take_string(sheet, json, "column", &published->column) ||
        !ps_sheet_take_string(sheet, json, "why", &published->why))
        return -ENOMEM;
    if (!published->metric || !published->page)
        return refuse(ret_what, "a published row without a metric or a page");
    return 0;
}

/* Items of the list under `key`; 0 when there is none, or when no case of ours could be so long. */
static unsigned list_of(const struct ps_json *record, const char *key,
                        const struct ps_json **ret_first) {
    const struct ps_json *list = ps_json_get(record, key);
    bool usable = list && list->type == PS_JSON_ARRAY && list->n <= LIST_MAX;
    *ret_first = usable ? list->u.first : NULL;
    return usable ? (unsigned)list->n : 0;
}

static int take_lists(struct ps_sheet *sheet, const struct ps_json *record, struct ps_sheet_case *c,
                      const char **ret_what) {
    const struct ps_json *item;
    int error = 0;
    c->n_metrics = list_of(record, "metrics", &item);
    struct ps_sheet_metric *metrics = ps_sheet_alloc(sheet, c->n_metrics * sizeof(*metrics));
    for (unsigned i = 0; metrics && !error && i < c->n_metrics; i++, item = item->next)
        error = take_metric(sheet, item, &metrics[i], ret_what);
    if (error)
        return error;
    c->n_relations = list_of(record, "relations", &item);
    struct ps_sheet_relation *relations =
        ps_sheet_alloc(sheet, c->n_relations * sizeof(*relations));
    for (unsigned i = 0; relations && !error && i < c->n_relations; i++, item = item->next)
        error = take_relation(sheet, item, &relations[i], ret_what);
    if (error)
        return error;
    c->n_published = list_of(record, "published", &item);
    struct ps_sheet_published *published =
        ps_sheet_alloc(sheet, c->n_published * sizeof(*published));
    for (unsigned i = 0; published && !error && i < c->n_published; i++, item = item->next)
        error = take_published(sheet, item, &published[i], ret_what);
    c->metrics = metrics;
    c->relations = relations;
    c->published = published;
    return error ? error : metrics && relations && published ? 0 : -ENOMEM;
}

static int take_place(struct ps_sheet *sheet, const struct ps_json *record,
                      struct ps_sheet_case *c) {
    const struct ps_json *params = ps_json_get(record, "params"),
                         *place = ps_json_get(record, "place");
    c->params = ps_sheet_copy_json(sheet, params);
    c->place = ps_sheet_copy_json(sheet, place);
    if ((params && !c->params) || (place && !c->place) ||
        !ps_sheet_take_string(sheet, place, "target", &c->target))
        return -ENOMEM;
    c->threads = ps_sheet_unsigned(place, "threads");
    if (c->threads == 0)
        c->threads = 1;
    int64_t cluster = ps_json_get_i64(place, "cluster", -1);
    c->cluster = cluster >= 0 && cluster <= INT_MAX ? (int)cluster : -1;
    return 0;
}

int ps_sheet_take_case(struct ps_sheet *sheet, const struct ps_json *record,
                       const char **ret_what) {
    struct ps_sheet_memory *memory = sheet->memory;
    const char *status = ps_json_get_string(record, "status", NULL);
    struct ps_sheet_case c = {.runs_planned = ps_sheet_unsigned(record, "runs_planned"),
                              .headline = ps_json_get_bool(record, "headline", false),
                              .order = (unsigned)sheet->n_cases};
    if (!ps_sheet_take_string(sheet, record, "id", &c.id) ||
        !ps_sheet_take_string(sheet, record, "source", &c.source) ||
        !ps_sheet_take_string(sheet, record, "table", &c.table) ||
        !ps_sheet_take_string(sheet, record, "name", &c.name) ||
        !ps_sheet_take_string(sheet, record, "reason", &c.reason) ||
        !ps_sheet_take_string(sheet, record, "alias_of", &c.alias_of))
        return -ENOMEM;
    if (!c.id || !c.source || !c.table || !c.name)
        return refuse(ret_what, "a case without an id, a source, a table or a name");
    if (status && ps_status_from_name(status, &c.status) != 0)
        return refuse(ret_what, "a case whose status is not in the list");
    if (!ps_sheet_quality(record, &c.quality))
        return refuse(ret_what, "a case with an unknown quality mark");
    int error = take_place(sheet, record, &c);
    if (!error)
        error = take_lists(sheet, record, &c, ret_what);
    if (error)
        return error;
    struct ps_sheet_case *added =
        ps_sheet_grow((void **)&sheet->cases, sheet->n_cases, &memory->cases_max, sizeof(c));
    if (!added)
        return -ENOMEM;
    *added = c;
    sheet->n_cases++;
    return 0;
}
