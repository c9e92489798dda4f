/* SPDX-License-Identifier: MIT
 *
 * The records of a measuring program: case, run and table, with the keys of docs/FORMAT.md in its
 * order. What is automatic in a declaration is settled here, so that a reader needs no rules of
 * ours.
 */
#include "core/record.h"

#include "core/assert.h"

#define DIGITS 12       /* of numbers */
#define ISSUE_DIGITS 4  /* of adds per cycle: 0.1 % is below what they tell */
#define SAMPLE_DIGITS 9 /* of samples, of which there are many: a part in 10^9 */

/* What a metric's declaration comes to in a case. */
struct resolved {
    enum ps_bound bound;
    enum ps_stat sample_stat, run_stat;
};

static struct resolved bound_stats(enum ps_bound bound) {
    switch (bound) {
    case PS_BOUND_CORE:
        return (struct resolved){bound, PS_STAT_P10, PS_STAT_LOWER_HALF};
    case PS_BOUND_WAKE:
        return (struct resolved){bound, PS_STAT_MEDIAN, PS_STAT_MEDIAN};
    case PS_BOUND_MEMORY:
        return (struct resolved){bound, PS_STAT_P25, PS_STAT_LOWER_HALF};
    case PS_BOUND_DEVICE:
        return (struct resolved){bound, PS_STAT_MEAN, PS_STAT_MEAN};
    case PS_BOUND_AUTO:
        break;
    }
    ps_assert_failed("a case's bound is settled before it is written");
}

/* A derived metric is computed from the value of another, and so has that one's estimator. */
static const struct ps_metric *measured_metric(const struct ps_bench *bench,
                                               const struct ps_metric *metric) {
    for (unsigned i = 0; i < bench->n_metrics && metric->kind == PS_DERIVED; i++) {
        for (unsigned j = 0; j < bench->n_metrics; j++) {
            if (ps_text_equal(bench->metrics[j].name, metric->from)) {
                metric = &bench->metrics[j];
                break;
            }
        }
    }
    PS_ASSERT(metric->kind !=
              PS_DERIVED); /* `from` names a metric of the table, without a circle */
    return metric;
}

static struct resolved resolve(const struct ps_bench *bench, const struct ps_metric *metric,
                               const struct ps_case *c, enum ps_bound case_bound) {
    metric = measured_metric(bench, metric);
    struct resolved resolved =
        bound_stats(metric->bound != PS_BOUND_AUTO ? metric->bound : case_bound);
    if (metric->kind == PS_READING) /* readings are not slowed down by anybody: no low estimator */
        resolved.sample_stat = resolved.run_stat = PS_STAT_MEDIAN;
    else if (ps_case_has_baseline(bench, c))
        resolved.sample_stat = PS_STAT_MEDIAN; /* of differences, which err to both sides */
    if (metric->sample_stat != PS_STAT_AUTO)
        resolved.sample_stat = metric->sample_stat;
    if (metric->run_stat != PS_STAT_AUTO)
        resolved.run_stat = metric->run_stat;
    return resolved;
}

static void write_quality(struct ps_json_writer *json, uint32_t quality) {
    ps_json_key(json, "quality");
    ps_json_array_begin(json);
    for (unsigned bit = 0; bit < PS_N_QUALITY; bit++) {
        if ((quality >> bit & 1) != 0)
            ps_json_string(json, ps_quality_name(bit));
    }
    ps_json_array_end(json);
}

/* null where the value is not known, which is anything below 0. */
static void number_or_null(struct ps_json_writer *json, double value) {
    if (value >= 0)
        ps_json_double(json, value, DIGITS);
    else
        ps_json_null(json);
}

static void pair_number_or_null(struct ps_json_writer *json, const char *key, double value) {
    ps_json_key(json, key);
    number_or_null(json, value);
}

static void pair_i64_or_null(struct ps_json_writer *json, const char *key, int64_t value) {
    ps_json_key(json, key);
    if (value >= 0)
        ps_json_i64(json, value);
    else
        ps_json_null(json);
}

/* 0 is not a length of time, a floor or a clock: it means that there is none. */
static double none_if_zero(double value) {
    return value > 0 ? value : -1;
}

/* "chapter.table" into the key `key`. */
static void pair_table_id(struct ps_json_writer *json, const char *key,
                          const struct ps_bench *bench) {
    char id[2 * PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, id, sizeof(id));
    ps_text_add(&text, bench->chapter);
    ps_text_add_char(&text, '.');
    ps_text_add(&text, bench->table);
    PS_ASSERT(!text.cut);
    ps_json_pair_string(json, key, id);
}

static void write_params(struct ps_json_writer *json, const struct ps_case *c) {
    ps_json_key(json, "params");
    ps_json_object_begin(json);
    for (unsigned i = 0; i < c->n_params; i++) {
        if (c->params[i].text != NULL)
            ps_json_pair_string(json, c->params[i].name, c->params[i].text);
        else
            ps_json_pair_i64(json, c->params[i].name, c->params[i].value);
    }
    ps_json_object_end(json);
}

static void write_place(struct ps_json_writer *json, const struct ps_place *place) {
    ps_json_key(json, "place");
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "threads", place->threads > 0 ? place->threads : 1);
    pair_i64_or_null(json, "cluster", place->cluster);
    pair_i64_or_null(json, "cpu", place->cpu);
    ps_json_key(json, "cpus"); /* which others is known only when a run has got them */
    if (place->cpu >= 0) {
        ps_json_array_begin(json);
        ps_json_i64(json, place->cpu);
        ps_json_array_end(json);
    } else {
        ps_json_null(json);
    }
    ps_json_pair_string(json, "pairing",
                        place->pairing != PS_PAIR_NONE ? ps_pairing_name(place->pairing) : NULL);
    ps_json_pair_string(json, "target", place->target);
    ps_json_object_end(json);
}

static void write_metric(struct ps_json_writer *json, const struct ps_bench *bench,
                         const struct ps_metric *metric, const struct ps_case *c,
                         enum ps_bound bound) {
    struct resolved resolved = resolve(bench, metric, c, bound);
    bool derived = metric->kind == PS_DERIVED;
    ps_json_object_begin(json);
    ps_json_pair_string(json, "name", metric->name);
    ps_json_pair_string(json, "unit", ps_unit_name(metric->unit));
    ps_json_pair_string(json, "kind", ps_metric_kind_name(metric->kind));
    ps_json_pair_string(json, "counts", metric->counts);
    ps_json_pair_string(json, "better", ps_better_name(metric->better));
    ps_json_pair_string(json, "bound", ps_bound_name(resolved.bound));
    ps_json_pair_string(json, "sample_stat", ps_stat_name(resolved.sample_stat));
    ps_json_pair_string(json, "run_stat", ps_stat_name(resolved.run_stat));
    ps_json_pair_bool(json, "positive", metric->positive);
    ps_json_pair_u64(json, "decimals", metric->decimals);
    ps_json_pair_u64(json, "method", metric->method);
    ps_json_pair_string(json, "depends",
                        metric->depends != PS_DEPENDS_NOTHING ? ps_depends_name(metric->depends)
                                                              : NULL);
    pair_number_or_null(json, "floor_cycles", none_if_zero(metric->floor_cycles));
    ps_json_pair_string(json, "derivation",
                        derived ? ps_derivation_name(metric->derivation) : NULL);
    ps_json_pair_string(json, "from", derived ? metric->from : NULL);
    pair_number_or_null(json, "factor", derived ? none_if_zero(metric->factor) : -1);
    ps_json_object_end(json);
}

static void write_relation(struct ps_json_writer *json, const struct ps_relation *relation) {
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", ps_relation_name(relation->type));
    ps_json_pair_string(json, "rule", relation->rule);
    ps_json_pair_string(json, "metric", relation->metric);
    ps_json_pair_string(json, "other", relation->other[0] != '\0' ? relation->other : NULL);
    ps_json_pair_double(json, "factor", relation->factor > 0 ? relation->factor : 1, DIGITS);
    ps_json_pair_double(json, "tolerance", relation->tolerance, DIGITS);
    ps_json_pair_string(json, "cause", relation->cause);
    ps_json_object_end(json);
}

void ps_record_published(struct ps_json_writer *json, const char *metric, const char *page,
                         const char *table, const char *row, const char *column, unsigned nth,
                         enum ps_comparable comparable, const char *why) {
    ps_json_object_begin(json);
    if (metric != NULL)
        ps_json_pair_string(json, "metric", metric);
    ps_json_pair_string(json, "page", page);
    ps_json_pair_string(json, "table", table);
    ps_json_pair_string(json, "row", row);
    ps_json_pair_string(json, "column", column);
    ps_json_pair_u64(json, "nth", nth);
    ps_json_pair_string(json, "comparable", ps_comparable_name(comparable));
    ps_json_pair_string(json, "why", why);
    ps_json_object_end(json);
}

void ps_record_case(struct ps_json_writer *json, const struct ps_bench *bench,
                    const struct ps_case *c, const char *id, const char *source,
                    enum ps_bound bound, unsigned runs_planned, enum ps_status status,
                    const char *reason) {
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "case");
    ps_json_pair_string(json, "id", id);
    ps_json_pair_string(json, "source", source);
    pair_table_id(json, "table", bench);
    ps_json_pair_string(json, "name", c->name);
    write_params(json, c);
    write_place(json, &c->place);
    ps_json_key(json, "memory");
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "bytes", c->memory.bytes);
    ps_json_pair_string(json, "pages", ps_pages_name(c->memory.pages));
    ps_json_object_end(json);
    ps_json_pair_string(json, "bound", ps_bound_name(bound));
    ps_json_pair_bool(json, "headline", (c->tags & PS_TAG_HEADLINE) != 0);
    ps_json_pair_u64(json, "runs_planned", runs_planned);
    ps_json_pair_string(json, "status", status != PS_OK ? ps_status_name(status) : NULL);
    ps_json_pair_string(json, "reason", status != PS_OK ? reason : NULL);
    write_quality(json, c->quality);
    ps_json_pair_string(json, "alias_of", c->alias_of);

    ps_json_key(json, "metrics");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < bench->n_metrics; i++)
        write_metric(json, bench, &bench->metrics[i], c, bound);
    ps_json_array_end(json);
    ps_json_key(json, "relations");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < c->n_relations; i++)
        write_relation(json, &c->relations[i]);
    ps_json_array_end(json);
    ps_json_key(json, "published");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < c->n_published; i++)
        ps_record_published(json, c->published[i].metric, c->published[i].page,
                            c->published[i].table, c->published[i].row, c->published[i].column,
                            c->published[i].nth, c->published[i].comparable, c->published[i].why);
    ps_json_array_end(json);
    ps_json_object_end(json);
}

static void pair_array(struct ps_json_writer *json, const char *key, const double *values,
                       unsigned n) {
    if (values == NULL)
        return;
    ps_json_key(json, key);
    ps_json_array_begin(json);
    for (unsigned i = 0; i < n; i++)
        ps_json_double(json, values[i], SAMPLE_DIGITS);
    ps_json_array_end(json);
}

static void write_histogram(struct ps_json_writer *json, const struct ps_histogram *histogram) {
    ps_json_key(json, "hist");
    ps_json_object_begin(json);
    ps_json_pair_string(json, "unit", "ns");
    ps_json_pair_u64(json, "lo", 0);
    ps_json_pair_u64(json, "sub_bits", PS_HISTOGRAM_SUB_BITS);
    ps_json_key(json, "counts");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < PS_HISTOGRAM_BUCKETS; i++) {
        if (histogram->counts[i] == 0)
            continue;
        ps_json_array_begin(json);
        ps_json_u64(json, i);
        ps_json_u64(json, histogram->counts[i]);
        ps_json_array_end(json);
    }
    ps_json_array_end(json);
    ps_json_pair_u64(json, "under", 0); /* the lowest bucket is that of 0 */
    ps_json_pair_u64(json, "over", histogram->over);
    ps_json_pair_u64(json, "min", histogram->min);
    ps_json_pair_u64(json, "max", histogram->max);
    ps_json_object_end(json);
}

static void write_series(struct ps_json_writer *json, const struct ps_series *series) {
    ps_json_object_begin(json);
    ps_json_pair_u64(json, "n", series->n);
    pair_array(json, "samples", series->samples, series->n);
    pair_array(json, "mhz", series->mhz, series->n);
    pair_array(json, "baseline", series->baseline, series->n);
    pair_array(json, "baseline_mhz", series->baseline_mhz, series->n);
    if (series->issue != NULL && series->n > 0) {
        ps_json_key(json, "issue");
        ps_json_array_begin(json);
        for (unsigned i = 0; i < series->n; i++)
            ps_json_double(json, series->issue[i], ISSUE_DIGITS);
        ps_json_array_end(json);
    }
    if (series->resolution > 0)
        ps_json_pair_double(json, "resolution", series->resolution, DIGITS);
    if (series->n_events > series->n)
        ps_json_pair_u64(json, "events", series->n_events);
    if (series->histogram != NULL && series->histogram->n > 0)
        write_histogram(json, series->histogram);
    ps_json_object_end(json);
}

static void write_witness(struct ps_json_writer *json, const struct ps_run_shared *shared,
                          const struct ps_witness_numbers *witness) {
    static const struct ps_witness_numbers unknown = {-1, -1, -1, -1, -1, -1, -1};
    if (witness == NULL)
        witness = &unknown;
    ps_json_key(json, "witness");
    ps_json_object_begin(json);
    ps_json_key(json, "mhz");
    ps_json_array_begin(json);
    number_or_null(json, none_if_zero(shared->mhz_median));
    number_or_null(json, none_if_zero(shared->mhz_min));
    number_or_null(json, none_if_zero(shared->mhz_max));
    ps_json_array_end(json);
    ps_json_key(json, "issue");
    ps_json_array_begin(json);
    number_or_null(json, none_if_zero(shared->issue_median));
    number_or_null(json, none_if_zero(shared->issue_min));
    number_or_null(json, none_if_zero(shared->issue_max));
    number_or_null(json, none_if_zero(shared->full_issue));
    ps_json_array_end(json);
    ps_json_key(json, "temp_c");
    ps_json_array_begin(json);
    number_or_null(json, witness->temp_before_c);
    number_or_null(json, witness->temp_after_c);
    ps_json_array_end(json);
    pair_number_or_null(json, "queue_pct", witness->queue_pct);
    pair_number_or_null(json, "steal_pct", witness->steal_pct);
    pair_number_or_null(json, "foreign_pct", witness->foreign_pct);
    pair_i64_or_null(json, "nivcsw", witness->nivcsw);
    pair_i64_or_null(json, "throttled", witness->throttled);
    ps_json_pair_u64(json, "samples", shared->n_samples);
    if (shared->port != NULL && shared->port->switches != NULL)
        ps_json_pair_u64(json, "switched", shared->n_switched);
    else
        pair_i64_or_null(json, "switched", -1);
    ps_json_pair_u64(json, "dropped", shared->n_dropped);
    ps_json_pair_u64(json, "shared", shared->n_shared);
    ps_json_object_end(json);
}

/* The reason, with the number of the error behind it. */
static void pair_reason(struct ps_json_writer *json, const struct ps_run_shared *shared) {
    char buffer[512];
    struct ps_text text;
    /* Other reasons say all that there is to say, and what to do about it. */
    if (shared->status != PS_FAILED || shared->reason == NULL || shared->error == 0) {
        ps_json_pair_string(json, "reason", shared->status != PS_OK ? shared->reason : NULL);
        return;
    }
    ps_text_init(&text, buffer, sizeof(buffer));
    ps_text_add(&text, shared->reason);
    ps_text_add(&text, " (errno ");
    ps_text_add_i64(&text, shared->error);
    ps_text_add_char(&text, ')');
    ps_json_pair_string(json, "reason", buffer);
}

static void write_load(struct ps_json_writer *json, const struct ps_run_identity *identity) {
    ps_json_key(json, "load");
    if (identity->load_method == NULL ||
        (identity->load_all_pct < 0 && identity->load_busiest_pct < 0)) {
        ps_json_null(json);
        return;
    }
    ps_json_object_begin(json);
    pair_number_or_null(json, "all_pct", identity->load_all_pct);
    pair_number_or_null(json, "busiest_pct", identity->load_busiest_pct);
    ps_json_pair_string(json, "method", identity->load_method);
    ps_json_object_end(json);
}

void ps_record_run(struct ps_json_writer *json, const struct ps_run_identity *identity,
                   const struct ps_run_shared *shared, const struct ps_witness_numbers *witness) {
    const struct ps_bench *bench = shared->bench;
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "run");
    ps_json_pair_string(json, "case", identity->id);
    ps_json_pair_string(json, "source", identity->source);
    ps_json_pair_u64(json, "round", identity->round);
    ps_json_pair_u64(json, "seq", identity->seq);
    ps_json_pair_u64(json, "attempt", identity->attempt);
    ps_json_pair_double(json, "start_s", identity->start_s, DIGITS);
    ps_json_key(json, "place");
    ps_json_object_begin(json);
    ps_json_key(json, "cpus");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < shared->n_cpus; i++) {
        if (shared->cpus[i] >= 0)
            ps_json_i64(json, shared->cpus[i]);
    }
    ps_json_array_end(json);
    ps_json_pair_string(json, "pages", identity->pages);
    ps_json_object_end(json);
    ps_json_pair_string(json, "status", ps_status_name(shared->status));
    pair_reason(json, shared);
    write_quality(json, shared->quality);
    write_witness(json, shared, witness);
    ps_json_pair_string(json, "disturbed", identity->disturbed);
    ps_json_pair_string(json, "stop", shared->stop);
    pair_number_or_null(json, "null_ns", none_if_zero(shared->null_ns));
    pair_i64_or_null(json, "timed_ns", shared->timed_ns > 0 ? (int64_t)shared->timed_ns : -1);
    write_load(json, identity);
    ps_json_key(json, "metrics");
    ps_json_object_begin(json);
    for (unsigned i = 0; i < bench->n_metrics; i++) {
        const struct ps_series *series = &shared->series[i];
        if (series->n == 0 && series->n_events == 0)
            continue;
        ps_json_key(json, bench->metrics[i].name);
        write_series(json, series);
    }
    ps_json_object_end(json);
    ps_json_object_end(json);
}

static void write_plots(struct ps_json_writer *json, const struct ps_bench *bench) {
    static const char *const kinds[] = {[PS_PLOT_LINE] = "line",
                                        [PS_PLOT_CURVE] = "curve",
                                        [PS_PLOT_MATRIX] = "matrix",
                                        [PS_PLOT_HISTOGRAM] = "histogram"};
    ps_json_key(json, "plots");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < bench->n_plots; i++) {
        const struct ps_plot *plot = &bench->plots[i];
        ps_json_object_begin(json);
        ps_json_pair_string(json, "kind", kinds[plot->kind]);
        ps_json_pair_string(json, "title", plot->title);
        ps_json_pair_string(json, "x", plot->x);
        ps_json_pair_string(json, "y", plot->y);
        ps_json_pair_string(json, "value", plot->value);
        ps_json_pair_string(json, "series", plot->series);
        ps_json_object_end(json);
    }
    ps_json_array_end(json);
}

void ps_record_table(struct ps_json_writer *json, const struct ps_bench *bench) {
    ps_json_object_begin(json);
    ps_json_pair_string(json, "type", "table");
    pair_table_id(json, "id", bench);
    ps_json_pair_string(json, "title", bench->title);
    ps_json_pair_string(json, "about", bench->about);
    ps_json_key(json, "facts");
    ps_json_array_begin(json);
    ps_json_array_end(json);
    ps_json_key(json, "columns");
    ps_json_array_begin(json);
    for (unsigned i = 0; i < bench->n_metrics; i++)
        ps_json_string(json, bench->metrics[i].name);
    ps_json_array_end(json);
    if (bench->n_plots > 0)
        write_plots(json, bench);
    ps_json_object_end(json);
}
