/* SPDX-License-Identifier: MIT
 *
 * A job: what a child must know to take one run. The child makes no plan and reads no environment;
 * case, CPUs, lengths and seed are the parent's. Integers of 64 bits go as signed ones.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/child.h"
#include "sheet/json.h"

static void write_case(struct ps_json_writer *json, const struct ps_case *c) {
    ps_json_key(json, "case");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "name", c->name);
    ps_json_key(json, "params");
    ps_json_object_begin(json);
    for (unsigned i = 0; i < c->n_params; i++) {
        if (c->params[i].text)
            ps_json_pair_string(json, c->params[i].name, c->params[i].text);
        else
            ps_json_pair_i64(json, c->params[i].name, c->params[i].value);
    }
    ps_json_object_end(json);
    ps_json_pair_i64(json, "threads", c->place.threads);
    ps_json_pair_i64(json, "pairing", c->place.pairing);
    ps_json_pair_string(json, "target", c->place.target);
    ps_json_pair_i64(json, "cluster", c->place.cluster);
    ps_json_pair_i64(json, "cpu", c->place.cpu);
    ps_json_pair_i64(json, "bytes", (int64_t)c->memory.bytes);
    ps_json_pair_i64(json, "alignment_bytes", (int64_t)c->memory.alignment_bytes);
    ps_json_pair_i64(json, "pages", c->memory.pages);
    ps_json_pair_bool(json, "untouched", c->memory.untouched);
    ps_json_pair_i64(json, "bound", c->bound);
    ps_json_pair_i64(json, "tags", c->tags);
    ps_json_pair_i64(json, "quality", c->quality);
    ps_json_object_end(json);
}

static void write_settings(struct ps_json_writer *json,
                           const struct ps_measure_settings *settings) {
    ps_json_key(json, "settings");
    ps_json_object_begin(json);
    ps_json_pair_i64(json, "warm_up_ns", (int64_t)settings->warm_up_ns);
    ps_json_pair_i64(json, "warm_up_cap_ns", (int64_t)settings->warm_up_cap_ns);
    ps_json_pair_i64(json, "sample_ns", (int64_t)settings->sample_ns);
    ps_json_pair_i64(json, "window_ns", (int64_t)settings->window_ns);
    ps_json_pair_i64(json, "single_events", settings->single_events);
    ps_json_pair_i64(json, "events", settings->events);
    ps_json_pair_bool(json, "verify_only", settings->verify_only);
    ps_json_object_end(json);
}

void ps_job_write(struct ps_json_writer *json, const struct ps_plan_row *row,
                  const struct ps_run_identity *identity, uint64_t seed, bool clock_trusted,
                  uint64_t resolution_ns, double full_issue) {
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "job");
    ps_json_pair_string(json, "chapter", row->bench->chapter);
    ps_json_pair_string(json, "table", row->bench->table);
    write_case(json, &row->c);
    write_settings(json, &row->settings);
    ps_json_key(json, "cpus");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < row->n_cpus; i++)
        ps_json_i64(json, row->cpus[i]);
    ps_json_array_end(json);
    ps_json_pair_bool(json, "partner", row->partner);
    ps_json_pair_string(json, "id", identity->id);
    ps_json_pair_string(json, "source", identity->source);
    ps_json_pair_i64(json, "round", identity->round);
    ps_json_pair_i64(json, "seq", identity->seq);
    ps_json_pair_i64(json, "attempt", identity->attempt);
    ps_json_pair_double(json, "start_s", identity->start_s, 17);
    ps_json_pair_i64(json, "seed", (int64_t)seed);
    ps_json_pair_bool(json, "clock_trusted", clock_trusted);
    ps_json_pair_string(json, "load", identity->load_method);
    ps_json_pair_i64(json, "resolution_ns", (int64_t)resolution_ns);
    ps_json_pair_double(json, "full_issue", full_issue, 4);
    ps_json_object_end(json);
}

/* A number that must be there and fit. */
static bool get_number(const struct ps_json *object, const char *key, int64_t low, int64_t high,
                       int64_t *ret_value) {
    const struct ps_json *value = ps_json_get(object, key);
    if (!value || value->type != PS_JSON_INTEGER || value->u.integer < low ||
        value->u.integer > high)
        return false;
    *ret_value = value->u.integer;
    return true;
}

static bool get_unsigned(const struct ps_json *object, const char *key, unsigned *ret_value) {
    int64_t value = 0;
    bool ok = get_number(object, key, 0, UINT_MAX, &value);
    *ret_value = (unsigned)value;
    return ok;
}

static bool get_u64(const struct ps_json *object, const char *key, uint64_t *ret_value) {
    int64_t value = 0;
    bool ok = get_number(object, key, INT64_MIN, INT64_MAX, &value);
    *ret_value = (uint64_t)value;
    return ok;
}

static bool parse_case(const struct ps_json *object, struct ps_case *c) {
    const char *name = ps_json_get_string(object, "name", NULL);
    unsigned pairing, pages, bound, quality;
    int64_t cluster = -1, cpu = -1;
    if (!name || snprintf(c->name, sizeof(c->name), "%s", name) >= (int)sizeof(c->name))
        return false;
    const struct ps_json *params = ps_json_get(object, "params");
    if (!params || params->type != PS_JSON_OBJECT || params->n > PS_PARAMS_MAX)
        return false;
    for (const struct ps_json *param = params->u.first; param; param = param->next) {
        struct ps_param *to = &c->params[c->n_params++];
        to->name = param->key;
        if (param->type == PS_JSON_STRING)
            to->text = param->u.string;
        else if (param->type == PS_JSON_INTEGER)
            to->value = param->u.integer;
        else
            return false;
    }
    c->place.target = ps_json_get_string(object, "target", NULL);
    bool ok = get_unsigned(object, "threads", &c->place.threads) &&
              get_unsigned(object, "pairing", &pairing) && pairing <= PS_PAIR_CROSS_CLUSTER &&
              get_number(object, "cluster", -1, INT_MAX, &cluster) &&
              get_number(object, "cpu", -1, INT_MAX, &cpu) &&
              get_u64(object, "bytes", &c->memory.bytes) &&
              get_u64(object, "alignment_bytes", &c->memory.alignment_bytes) &&
              get_unsigned(object, "pages", &pages) && pages <= PS_PAGES_HUGE &&
              get_unsigned(object, "bound", &bound) && bound <= PS_BOUND_DEVICE &&
              get_unsigned(object, "tags", &c->tags) && get_unsigned(object, "quality", &quality);
    if (!ok)
        return false;
    c->place.pairing = (enum ps_pairing)pairing;
    c->place.cluster = (int)cluster;
    c->place.cpu = (int)cpu;
    c->memory.pages = (enum ps_pages)pages;
    c->memory.untouched = ps_json_get_bool(object, "untouched", false);
    c->bound = (enum ps_bound)bound;
    c->quality = quality;
    return true;
}

static bool parse_settings(const struct ps_json *object, struct ps_measure_settings *settings) {
    settings->verify_only = ps_json_get_bool(object, "verify_only", false);
    return get_u64(object, "warm_up_ns", &settings->warm_up_ns) &&
           get_u64(object, "warm_up_cap_ns", &settings->warm_up_cap_ns) &&
           get_u64(object, "sample_ns", &settings->sample_ns) &&
           get_u64(object, "window_ns", &settings->window_ns) &&
           get_unsigned(object, "single_events", &settings->single_events) &&
           get_unsigned(object, "events", &settings->events);
}

static bool parse_identity(const struct ps_json *root, struct ps_run_identity *identity) {
    identity->id = ps_json_get_string(root, "id", NULL);
    identity->source = ps_json_get_string(root, "source", NULL);
    identity->start_s = ps_json_get_double(root, "start_s", 0);
    identity->load_all_pct = identity->load_busiest_pct = -1;
    return identity->id && identity->source && get_unsigned(root, "round", &identity->round) &&
           get_unsigned(root, "seq", &identity->seq) &&
           get_unsigned(root, "attempt", &identity->attempt);
}

/* 0, -EINVAL or -ENOMEM. */
static int parse_cpus(const struct ps_json *array, struct ps_job *job) {
    if (!array || array->type != PS_JSON_ARRAY || array->n == 0 || array->n > PS_CPUS_PER_RUN_MAX)
        return -EINVAL;
    job->cpus = calloc(array->n, sizeof(*job->cpus));
    if (!job->cpus)
        return -ENOMEM;
    for (const struct ps_json *item = array->u.first; item; item = item->next) {
        if (item->type != PS_JSON_INTEGER || item->u.integer < 0 || item->u.integer >= PS_CPU_MAX)
            return -EINVAL;
        job->cpus[job->n_cpus++] = (int)item->u.integer;
    }
    return 0;
}

static const struct ps_bench *find(const struct ps_registry *registry, const struct ps_json *root) {
    const char *chapter = ps_json_get_string(root, "chapter", "");
    const char *table = ps_json_get_string(root, "table", "");
    for (size_t i = 0; i < registry->n; i++)
        if (strcmp(registry->benches[i]->chapter, chapter) == 0 &&
            strcmp(registry->benches[i]->table, table) == 0)
            return registry->benches[i];
    return NULL;
}

int ps_job_parse(const struct ps_registry *registry, const char *text, size_t length,
                 struct ps_job *ret_job) {
    struct ps_json_document *document;
    const struct ps_json *root;
    struct ps_json_error why;
    struct ps_job job = {0};

    int error = ps_json_parse(text, length, &document, &root, &why);
    if (error)
        return error;
    job.memory = document;
    job.bench = find(registry, root);
    job.partner = ps_json_get_bool(root, "partner", false);
    job.clock_trusted = ps_json_get_bool(root, "clock_trusted", false);
    job.full_issue = ps_json_get_double(root, "full_issue", 0);
    job.soak = strcmp(ps_json_get_string(root, "load", ""), PS_LOAD_SOAK) == 0;
    if (!job.bench || !parse_case(ps_json_get(root, "case"), &job.c) ||
        !parse_settings(ps_json_get(root, "settings"), &job.settings) ||
        !parse_identity(root, &job.identity) || !get_u64(root, "seed", &job.settings.seed) ||
        !get_u64(root, "resolution_ns", &job.resolution_ns))
        error = -EINVAL;
    else
        error = parse_cpus(ps_json_get(root, "cpus"), &job);
    if (error) {
        ps_job_free(&job);
        return error;
    }
    *ret_job = job;
    return 0;
}

void ps_job_free(struct ps_job *job) {
    free(job->cpus);
    ps_json_document_free(job->memory);
    memset(job, 0, sizeof(*job));
}
