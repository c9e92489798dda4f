/* SPDX-License-Identifier: MIT
 *
 * Cases to rows. A case is asked for once per cluster where clusters are unequal; where it runs is
 * decided here and stands in the row. Single-threaded rows run on the last usable CPU of their
 * cluster, because the first one usually serves the interrupts. What cannot be placed stays in the
 * plan with the reason.
 */
#include "harness/plan_expand.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/case_list.h"
#include "harness/filter.h"

struct expansion {
    struct ps_plan *plan;
    size_t capacity;
    const struct ps_environment *environment;
    const struct ps_plan_options *options;
    struct ps_env env; /* with the cluster that cases are being made for */
};

/* Why a table's rows cannot run, before any of them is looked at. */
struct verdict {
    enum ps_status status;
    const char *reason;
};

void *ps_plan_alloc(struct ps_plan *plan, size_t bytes) {
    struct ps_plan_block *block = calloc(1, sizeof(*block) + bytes);
    if (!block)
        return NULL;
    block->next = plan->memory;
    plan->memory = block;
    return block->data;
}

const char *ps_plan_format(struct ps_plan *plan, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    char *copy = ps_plan_alloc(plan, length + 1);
    return copy ? memcpy(copy, text, length + 1) : NULL;
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

static unsigned list_cpus(const struct ps_cpu_set *set, int *cpus) {
    unsigned n = 0;
    for (int cpu = ps_cpu_set_next(set, 0); cpu >= 0; cpu = ps_cpu_set_next(set, (unsigned)cpu + 1))
        cpus[n++] = cpu;
    return n;
}

/* Rows that are not made per cluster run in the one with the fastest cores. */
static unsigned fastest_cluster(const struct ps_topology *topology) {
    unsigned best = 0;
    for (unsigned i = 1; i < topology->n_clusters; i++) {
        const struct ps_cluster *a = &topology->clusters[i], *b = &topology->clusters[best];
        if (a->capacity > b->capacity || (a->capacity == b->capacity && a->max_khz > b->max_khz))
            best = i;
    }
    return best;
}

static const struct ps_cpu_set *cluster_set(const struct ps_topology *topology, unsigned cluster) {
    return cluster < topology->n_clusters ? &topology->cluster_cpus[cluster] : &topology->usable;
}

static int set_cpus(struct ps_plan *plan, struct ps_plan_row *row, unsigned n, const int *from,
                    unsigned n_from) {
    row->cpus = ps_plan_alloc(plan, n * sizeof(*row->cpus));
    if (!row->cpus)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        row->cpus[i] = from[i % n_from];
    row->n_cpus = n;
    return 0;
}

static int cannot(struct ps_plan_row *row, enum ps_status status, const char *reason) {
    row->status = status;
    row->reason = reason;
    return reason ? 0 : -ENOMEM;
}

/* Two CPUs, then the two in turn for every further partner. */
static int place_pair(struct expansion *x, struct ps_plan_row *row, unsigned cluster) {
    const struct ps_topology *topology = &x->environment->topology;
    int cpus[PS_CPU_MAX], pair[2];
    unsigned n = list_cpus(cluster_set(topology, cluster), cpus);

    if (row->c.place.n_given > 0) {
        row->partner = true;
        return set_cpus(x->plan, row, row->c.place.n_given, row->c.place.given,
                        row->c.place.n_given);
    }
    pair[0] = pair[1] = cpus[n - 1];
    if (row->c.place.pairing == PS_PAIR_CROSS_CPU) {
        if (n < 2)
            return cannot(row, PS_UNSUPPORTED,
                          ps_plan_format(x->plan, "needs two CPUs of one cluster, has %u", n));
        pair[1] = cpus[n - 2];
    } else if (row->c.place.pairing == PS_PAIR_CROSS_CLUSTER) {
        if (topology->n_clusters < 2)
            return cannot(row, PS_UNSUPPORTED, "needs two clusters of unequal CPUs, has 1");
        n = list_cpus(cluster_set(topology, cluster == 0 ? topology->n_clusters - 1 : 0), cpus);
        pair[1] = cpus[n - 1];
    }
    row->partner = true;
    return set_cpus(x->plan, row, PS_ROW_CPUS_MAX, pair, 2);
}

static int place_team(struct expansion *x, struct ps_plan_row *row) {
    unsigned threads = row->c.place.threads, allowed = x->env.n_cpus;
    int cpus[PS_CPU_MAX];
    unsigned n = list_cpus(&x->environment->topology.usable, cpus);

    if (threads > allowed || threads > PS_CPUS_PER_RUN_MAX)
        return cannot(
            row, PS_SKIPPED,
            ps_plan_format(x->plan,
                           "needs %u CPUs, %u can be had; --threads %u runs it all the same",
                           threads, allowed, threads));
    /* The last ones, away from the interrupts; more threads than CPUs go round. */
    unsigned skip = threads < n ? n - threads : 0;
    return set_cpus(x->plan, row, threads, cpus + skip, n - skip);
}

static int place_single(struct expansion *x, struct ps_plan_row *row, unsigned cluster) {
    int cpus[PS_CPU_MAX], cpu = row->c.place.cpu;
    if (cpu < 0) {
        unsigned n = list_cpus(cluster_set(&x->environment->topology, cluster), cpus);
        cpu = cpus[n - 1];
    }
    return set_cpus(x->plan, row, 1, &cpu, 1);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void make_id(struct ps_plan_row *row, bool show_cluster) {
    struct ps_text text;
    ps_text_init(&text, row->id, sizeof(row->id));
    ps_text_add(&text, row->bench->chapter);
    ps_text_add_char(&text, '.');
    ps_text_add(&text, row->bench->table);
    ps_text_add_char(&text, '/');
    ps_text_add(&text, row->c.name);
    if (row->c.place.target) {
        ps_text_add_char(&text, '@');
        ps_text_add(&text, row->c.place.target);
    }
    if (row->c.place.cpu >= 0) {
        ps_text_add(&text, "@cpu");
        ps_text_add_i64(&text, row->c.place.cpu);
    } else if (show_cluster) {
        ps_text_add(&text, "@cl");
        ps_text_add_i64(&text, row->c.place.cluster);
    }
    if (row->c.place.threads > 1) {
        ps_text_add(&text, "@x");
        ps_text_add_u64(&text, row->c.place.threads);
    }
}

/* A table that lists a case twice keeps the first; the second is shown as the fault it is. */
static int check_duplicate(struct ps_plan *plan, struct ps_plan_row *row) {
    unsigned copies = 0;
    for (size_t i = plan->n_rows; i-- > 0 && plan->rows[i].bench == row->bench;)
        copies += strcmp(plan->rows[i].id, row->id) == 0 ||
                  (plan->rows[i].status == PS_FAILED && plan->rows[i].reason &&
                   strcmp(plan->rows[i].reason, "duplicate id") == 0 &&
                   strncmp(plan->rows[i].id, row->id, strlen(row->id)) == 0);
    if (copies == 0)
        return 0;
    char suffix[32];
    snprintf(suffix, sizeof(suffix), "@duplicate%u", copies + 1);
    size_t length = strlen(row->id), room = sizeof(row->id) - 1 - strlen(suffix);
    memcpy(row->id + (length < room ? length : room), suffix, strlen(suffix) + 1);
    return cannot(row, PS_FAILED, "duplicate id");
}

static struct ps_plan_row *new_row(struct expansion *x) {
    if (x->plan->n_rows == x->capacity) {
        size_t capacity = x->capacity ? 2 * x->capacity : 64;
        struct ps_plan_row *rows = realloc(x->plan->rows, capacity * sizeof(*rows));
        if (!rows)
            return NULL;
        x->plan->rows = rows;
        x->capacity = capacity;
    }
    struct ps_plan_row *row = &x->plan->rows[x->plan->n_rows];
    memset(row, 0, sizeof(*row));
    return row;
}

static int check_memory(struct expansion *x, struct ps_plan_row *row) {
    uint64_t available = x->env.memory_available_bytes, need = row->c.memory.bytes;
    if (row->status != PS_OK || available == 0 || need <= available)
        return 0;
    return cannot(row, PS_SKIPPED,
                  ps_plan_format(x->plan, "needs %.0f MiB of memory, %.0f MiB are available",
                                 (double)need / 1048576, (double)available / 1048576));
}

/* One case at one place. `cluster` is an index. */
static int add_row(struct expansion *x, const struct ps_bench *bench, const struct ps_case *c,
                   unsigned cluster, bool show_cluster, const struct verdict *verdict) {
    const struct ps_environment *environment = x->environment;
    struct ps_plan_row *row = new_row(x);
    if (!row)
        return -ENOMEM;
    row->bench = bench;
    row->c = *c;
    /* Where clusters differ, a row that stays within one says which: its clock is that one's. */
    if (environment->topology.n_clusters > 1 && c->place.threads <= 1 &&
        c->place.pairing != PS_PAIR_CROSS_CLUSTER)
        row->c.place.cluster = (int)environment->topology.clusters[cluster].id;
    make_id(row, show_cluster);
    if (!ps_filter_selects(x->options->filters, x->options->n_filters, row->id, c->tags))
        return 0;

    row->status = c->status;
    row->reason = c->reason;
    if (verdict->status != PS_OK) {
        row->status = verdict->status;
        row->reason = verdict->reason;
    }
    int error = 0;
    if (c->place.pairing != PS_PAIR_NONE)
        error = row->status == PS_OK ? place_pair(x, row, cluster) : 0;
    else if (c->place.threads > 1)
        error = row->status == PS_OK ? place_team(x, row) : 0;
    else
        error = place_single(x, row, cluster);
    if (!error)
        error = check_memory(x, row);
    if (!error)
        error = check_duplicate(x->plan, row);
    if (error)
        return error;

    const struct ps_topology *topology = &environment->topology;
    if (cluster < topology->n_clusters) {
        row->reference_mhz = environment->reference_mhz[cluster];
        row->bound = ps_case_bound(c, topology->clusters[cluster].last_private_bytes);
    } else {
        row->bound = ps_case_bound(c, 0);
    }
    ps_measure_defaults(&row->settings, bench, &row->c, row->bound,
                        x->options->depth == PS_DEPTH_QUICK);
    row->settings.verify_only = x->options->golden;
    x->plan->n_rows++;
    return 0;
}

/* One case at all its places, as seen from cluster number `cluster`. */
static int add_case(struct expansion *x, const struct ps_bench *bench, const struct ps_case *c,
                    unsigned cluster, const struct verdict *verdict) {
    const struct ps_topology *topology = &x->environment->topology;
    bool unequal = topology->n_clusters > 1;
    bool single = c->place.threads <= 1;

    if (c->place.every_cpu && single && c->place.pairing == PS_PAIR_NONE) {
        int cpus[PS_CPU_MAX];
        unsigned n = list_cpus(cluster_set(topology, cluster), cpus);
        for (unsigned i = 0; i < n; i++) {
            struct ps_case placed = *c;
            placed.place.cpu = cpus[i];
            int error = add_row(x, bench, &placed, cluster, false, verdict);
            if (error)
                return error;
        }
        return 0;
    }
    if (unequal && single && c->place.every_cluster && c->place.pairing != PS_PAIR_CROSS_CLUSTER)
        return add_row(x, bench, c, cluster, true, verdict);
    /* Made once, although it was asked for in each cluster. */
    if (cluster != fastest_cluster(topology))
        return 0;
    return add_row(x, bench, c, cluster, false, verdict);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static int grow_list(struct ps_case_list *list) {
    size_t capacity = list->capacity ? 2 * list->capacity : 32;
    struct ps_case *cases = realloc(list->cases, capacity * sizeof(*cases));
    if (!cases)
        return -ENOMEM;
    list->cases = cases;
    list->capacity = capacity;
    return 0;
}

static int add_broken_table(struct expansion *x, const struct ps_bench *bench, int error) {
    struct ps_case c = {.name = "all", .place = {.cluster = -1, .cpu = -1}};
    struct verdict verdict = {
        PS_FAILED, ps_plan_format(x->plan, "its cases could not be made: %s", strerror(-error))};
    return verdict.reason ? add_row(x, bench, &c, 0, false, &verdict) : -ENOMEM;
}

static int add_table(struct expansion *x, const struct ps_bench *bench, unsigned cluster) {
    struct verdict verdict = {PS_OK, NULL};
    struct ps_case_list list = {.grow = grow_list};
    if (bench->probe)
        verdict.status = bench->probe(&x->env, &verdict.reason);
    int error = bench->cases(&x->env, &list);
    if (list.overflow) {
        error = -ENOMEM;
    } else if (error) {
        error = cluster == 0 ? add_broken_table(x, bench, error) : 0;
    } else {
        for (size_t i = 0; i < list.n && !error; i++)
            error = add_case(x, bench, &list.cases[i], cluster, &verdict);
    }
    free(list.cases);
    return error;
}

int ps_plan_expand(const struct ps_registry *registry, const struct ps_environment *environment,
                   const struct ps_plan_options *options, struct ps_plan *plan) {
    struct expansion x = {.plan = plan, .environment = environment, .options = options};
    const struct ps_topology *topology = &environment->topology;
    unsigned n_clusters = topology->n_clusters ? topology->n_clusters : 1;

    x.env = environment->env;
    x.env.quick = options->depth == PS_DEPTH_QUICK;
    x.env.n_cpus = options->threads ? options->threads : topology->n_threads;
    for (size_t i = 0; i < registry->n; i++) {
        for (unsigned cluster = 0; cluster < n_clusters; cluster++) {
            x.env.cluster = topology->n_clusters ? &topology->clusters[cluster] : NULL;
            int error = add_table(&x, registry->benches[i], cluster);
            if (error)
                return error;
        }
    }
    return 0;
}
