/* SPDX-License-Identifier: MIT
 *
 * explain: what a table, a row or a metric of it means, from the very declarations that the harness
 * measures by.
 */
#include "cli/setup.h"
#include "cli/verbs.h"

#include <string.h>

#define LABEL_WIDTH 11

static unsigned width;

static void say(const char *label, const char *text) {
    unsigned at = LABEL_WIDTH;
    printf("%-*s", LABEL_WIDTH, label);
    for (const char *word = text; *word;) {
        unsigned length = (unsigned)strcspn(word, " ");
        if (at > LABEL_WIDTH && at + 1 + length > width) {
            printf("\n%*s", LABEL_WIDTH, "");
            at = LABEL_WIDTH;
        } else if (at > LABEL_WIDTH) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, word);
        at += length;
        word += length;
        word += strspn(word, " ");
    }
    putchar('\n');
}

/* Of a bound: what it is for, what is taken of the samples of a run, and what over runs. */
struct estimator {
    const char *bound, *samples, *runs, *more;
};

static struct estimator estimator_of(enum ps_bound bound) {
    switch (bound) {
    case PS_BOUND_CORE:
        return (struct estimator){
            "the core",
            "10th percentile of the samples, each divided by the clock probed beside it and set to "
            "the cluster's reference clock (net values: median)",
            "mean of the faster half", " (no clock known: as bound by memory)"};
    case PS_BOUND_MEMORY:
        return (struct estimator){"memory", "25th percentile of the samples' times",
                                  "mean of the faster half", ""};
    case PS_BOUND_WAKE:
        return (struct estimator){"wake-ups", "median of samples of 10 ms", "median", ""};
    case PS_BOUND_DEVICE:
        return (struct estimator){"a device", "mean of the samples", "mean", ""};
    case PS_BOUND_AUTO:
        break;
    }
    return (struct estimator){"core or memory, by the footprint against the last private cache",
                              "as that has it", "as that has it", ""};
}

/* Only what holds: a metric's own statistic stands in the place of its bound's. */
static void explain_timed(const struct ps_metric *metric, enum ps_bound bound) {
    static const char *const stats[] = {
        [PS_STAT_MEDIAN] = "median",       [PS_STAT_P25] = "25th percentile",
        [PS_STAT_P10] = "10th percentile", [PS_STAT_MIN] = "fastest",
        [PS_STAT_MEAN] = "mean",           [PS_STAT_LOWER_HALF] = "mean of the faster half",
    };
    char text[400], samples[80];
    struct estimator estimator = estimator_of(bound);
    bool own_samples = metric->sample_stat != PS_STAT_AUTO;
    bool own_runs = metric->run_stat != PS_STAT_AUTO;
    if (own_samples) {
        snprintf(samples, sizeof(samples), "%s of the samples", stats[metric->sample_stat]);
        estimator.samples = samples;
    }
    if (own_runs)
        estimator.runs = stats[metric->run_stat];
    snprintf(text, sizeof(text), "bound by %s; in a run: %s; over runs: %s%s", estimator.bound,
             estimator.samples, estimator.runs, own_samples && own_runs ? "" : estimator.more);
    say("value", text);
}

static bool counts_bytes(enum ps_unit unit) {
    return unit == PS_UNIT_MB_PER_S || unit == PS_UNIT_KB_PER_S || unit == PS_UNIT_MIB_PER_S;
}

/* A floor of a byte or a flop is a part of a cycle: said the other way round. */
static void explain_floor(const struct ps_metric *metric) {
    static const char after[] = "cannot have been done: suspect";
    char text[200];
    if (metric->floor_cycles >= 1)
        snprintf(text, sizeof(text), "work in less than %.3g cycles %s", metric->floor_cycles,
                 after);
    else
        snprintf(text, sizeof(text), "work in less than 1 cycle per %.0f %s %s",
                 1 / metric->floor_cycles, counts_bytes(metric->unit) ? "bytes" : "units", after);
    say("floor", text);
}

static void explain_estimator(const struct ps_metric *metric, enum ps_bound bound) {
    char text[400];
    if (metric->kind == PS_DERIVED) {
        if (metric->derivation == PS_DERIVE_CLOCK)
            snprintf(text, sizeof(text), "the clock measured while '%s' ran", metric->from);
        else
            snprintf(text, sizeof(text), "'%s' x %.6g%s", metric->from, metric->factor,
                     metric->derivation == PS_DERIVE_PER_MHZ ? " / each run's own clock in MHz"
                                                             : "");
        say("value", text);
        return;
    }
    if (metric->kind == PS_READING)
        say("value", "median of a run's events; median over runs");
    else
        explain_timed(metric, bound);
}

static void explain_metric(const struct ps_metric *metric, enum ps_bound bound) {
    char text[400];
    static const char *const better[] = {"lower is better", "higher is better",
                                         "neither is better"};
    snprintf(text, sizeof(text), "%s, in %s; %s; %s", metric->name, ps_unit_name(metric->unit),
             ps_metric_kind_name(metric->kind), better[metric->better]);
    say("metric", text);
    if (metric->counts)
        say("counts", metric->counts);
    explain_estimator(metric, metric->bound != PS_BOUND_AUTO ? metric->bound : bound);
    if (metric->floor_cycles > 0)
        explain_floor(metric);
    if (metric->depends != PS_DEPENDS_NOTHING)
        say("depends on", ps_depends_name(metric->depends));
    if (metric->method > 1) {
        snprintf(text, sizeof(text), "version %u; numbers of other versions are not compared",
                 metric->method);
        say("method", text);
    }
}

static void explain_table(const struct ps_bench *bench) {
    char text[400];
    snprintf(text, sizeof(text), "%s.%s", bench->chapter, bench->table);
    puts(text);
    say("what", bench->title);
    if (bench->about)
        say("", bench->about);
    if (bench->region)
        say("timed", bench->region);
    if (bench->baseline)
        say("baseline", "timed in turn with it and subtracted; a rest below three times its error "
                        "is told as an "
                        "upper bound");
    if (bench->events) {
        snprintf(text, sizeof(text),
                 "%u events a run (%u in the quick datasheet); quantiles are over all events",
                 bench->events_per_run, bench->events_per_run_quick);
        say("events", text);
    }
    if (bench->passes > 0) {
        snprintf(text, sizeof(text), "%u timed, after %u that are dropped", bench->passes,
                 bench->passes_dropped);
        say("passes", text);
    }
    say("proof",
        bench->verify ? "the answer is checked before and after the time" : bench->no_verify);
    snprintf(text, sizeof(text), "src/bench/%s/%s.c", bench->chapter, bench->table);
    say("source", text);
}

static void explain_params(const struct ps_case *c) {
    char text[400] = "";
    size_t length = 0;
    for (unsigned i = 0; i < c->n_params && length < sizeof(text); i++)
        length += (size_t)(c->params[i].text
                               ? snprintf(text + length, sizeof(text) - length, "%s%s = %s",
                                          i ? ", " : "", c->params[i].name, c->params[i].text)
                               : snprintf(text + length, sizeof(text) - length, "%s%s = %lld",
                                          i ? ", " : "", c->params[i].name,
                                          (long long)c->params[i].value));
    if (length > 0)
        say("params", text);
    if (c->memory.bytes > 0) {
        snprintf(text, sizeof(text), "%llu bytes, %s pages%s", (unsigned long long)c->memory.bytes,
                 ps_pages_name(c->memory.pages), c->memory.untouched ? ", not touched before" : "");
        say("memory", text);
    }
}

static void explain_units(const struct ps_plan_row *row) {
    char text[160];
    if (!row->bench->units)
        return;
    for (unsigned s = 0; s < (row->bench->segments ? row->bench->n_segments : 1); s++) {
        snprintf(text, sizeof(text), "one iteration%s%s is %llu units; the time is divided by it",
                 row->bench->segments ? " of " : "",
                 row->bench->segments ? row->bench->segments[s].name : "",
                 (unsigned long long)row->bench->units(&row->c, s));
        say(s == 0 ? "divisor" : "", text);
    }
}

static void explain_published(const struct ps_case *c, const char *metric) {
    char text[500];
    for (unsigned i = 0; i < c->n_published; i++) {
        const struct ps_published *published = &c->published[i];
        if (metric && strcmp(published->metric, metric) != 0)
            continue;
        snprintf(text, sizeof(text), "%s, table \"%s\", row \"%s\"%s%s%s: comparable %s%s%s",
                 published->page, published->table, published->row,
                 published->column ? ", column \"" : "", published->column ? published->column : "",
                 published->column ? "\"" : "", ps_comparable_name(published->comparable),
                 published->why ? ": " : "", published->why ? published->why : "");
        say("published", text);
    }
}

static void explain_row(const struct ps_plan_row *row, const char *metric) {
    char text[300];
    putchar('\n');
    puts(row->id);
    explain_params(&row->c);
    explain_units(row);
    snprintf(text, sizeof(text), "%s%s%s",
             row->status == PS_OK ? "will run" : ps_status_name(row->status),
             row->status != PS_OK && row->reason ? ": " : "",
             row->status != PS_OK && row->reason ? row->reason : "");
    say("here", text);
    for (unsigned i = 0; i < row->bench->n_metrics; i++)
        if (!metric || strcmp(row->bench->metrics[i].name, metric) == 0)
            explain_metric(&row->bench->metrics[i], row->bound);
    explain_published(&row->c, metric);
}

/* A row answers to its id with and without its places. */
static bool row_is(const char *id, const char *wanted) {
    size_t length = strlen(wanted);
    return strncmp(id, wanted, length) == 0 && (!id[length] || id[length] == '@');
}

static int not_found(const char *id) {
    const struct ps_registry *registry = ps_registry();
    char name[2 * PS_NAME_MAX + 2], nearest[2 * PS_NAME_MAX + 2] = "";
    for (size_t i = 0; i < registry->n; i++) {
        snprintf(name, sizeof(name), "%s.%s", registry->benches[i]->chapter,
                 registry->benches[i]->table);
        if (!*nearest || ps_word_distance(id, name) < ps_word_distance(id, nearest))
            memcpy(nearest, name, sizeof(name));
    }
    ps_complain("there is no table and no row '%.100s'; the nearest table is '%s' ('perfsheet "
                "list' names all rows)",
                id, nearest);
    return PS_EXIT_USAGE;
}

int ps_cmd_explain(struct ps_invocation *invocation) {
    struct ps_arguments *arguments = &invocation->arguments;
    char id[PS_ID_MAX], table[2 * PS_NAME_MAX];
    if (arguments->n_words != 1)
        return ps_usage(invocation, "explain wants one ID: a table, a row or a metric of a row");
    snprintf(id, sizeof(id), "%s", arguments->words[0]);
    char *metric = strchr(id, ':');
    if (metric)
        *metric++ = 0;
    snprintf(table, sizeof(table), "%.*s", (int)strcspn(id, "/"), id);
    const struct ps_bench *bench = ps_registry_find(ps_registry(), table);
    if (!bench)
        return not_found(arguments->words[0]);

    /* The plan of that table alone: its cases are made for this machine. */
    const char *filter[] = {table, NULL};
    struct ps_arguments planned = *arguments;
    struct ps_setup setup;
    planned.words = filter;
    planned.n_words = 1;
    int code = ps_setup_make(invocation, &planned, false, 0, &setup);
    if (code)
        return code;
    bool is_table = !strchr(id, '/'), found = is_table;
    width = ps_stream_width(stdout);
    for (size_t i = 0; i < setup.plan.n_rows && !found; i++)
        found = row_is(setup.plan.rows[i].id, id);
    bool metric_found = !metric;
    for (unsigned i = 0; i < bench->n_metrics && !metric_found; i++)
        metric_found = strcmp(bench->metrics[i].name, metric) == 0;
    if (!found || !metric_found) {
        code = not_found(arguments->words[0]);
    } else {
        explain_table(bench);
        if (is_table)
            for (unsigned i = 0; i < bench->n_metrics; i++)
                if (!metric || strcmp(bench->metrics[i].name, metric) == 0)
                    explain_metric(&bench->metrics[i], PS_BOUND_AUTO);
        for (size_t i = 0; i < setup.plan.n_rows; i++)
            if (!is_table && row_is(setup.plan.rows[i].id, id))
                explain_row(&setup.plan.rows[i], metric);
        if (is_table)
            printf("\n%zu row%s; 'perfsheet list %s' names %s\n", setup.plan.n_rows,
                   setup.plan.n_rows == 1 ? "" : "s", table,
                   setup.plan.n_rows == 1 ? "it" : "them");
    }
    ps_setup_done(&setup);
    return ps_finish_stdout(code);
}
