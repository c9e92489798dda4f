/* SPDX-License-Identifier: MIT
 *
 * Sanity rules: typed relations between rows. Rules read declared relations and numbers, never
 * names.
 */
#ifndef PS_RULES_RULES_H
#define PS_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bench.h"

/* A row as the rules see it; the caller (sheet's reader, harness) fills it from its results. */
struct ps_rule_row {
    const char *id;  /* with places and :metric */
    const char *key; /* "table/case:metric" without places, what `other` names */
    const char *table;
    const char *source;
    const char *alias_of; /* NULL or an id */
    bool has_value;
    bool positive;
    bool below_resolution;
    unsigned threads;     /* of the place; 1 for one */
    unsigned usable_cpus; /* of the source; 0 unknown */
    const char *place; /* all places but threads, as one text, "" none: rows are compared within */
    double value, min, max; /* in the metric's unit */
    enum ps_unit unit;
    double cycles;       /* per unit, NAN unknown */
    double floor_cycles; /* 0: none */
    double limit;        /* a ceiling in the metric's unit, NAN: none */
    const struct ps_rule_relation {
        enum ps_relation_type type;
        const char *rule, *other, *cause;
        double factor, tolerance;
    } * relations;
    unsigned n_relations;
};

struct ps_rule_finding {
    size_t row;            /* index of the suspect row */
    size_t other;          /* index, or SIZE_MAX */
    const char *other_key; /* as the relation names it; NULL: no relation */
    const char *rule;      /* its id */
    const char
        *type; /* "ORDER", "SCALING", "POSITIVE", "CEILING", "DUPLICATE", "NEAR", "WHOLE_CYCLES" */
    const char *cause;
    double expected, got;
    bool failed; /* false: not checked, for lack of the other row or of a source of the limit */
};

/* Checks all rows; calls `found` for each rule that is broken or could not be checked. Only rows of
 * one source and one place are compared (a team's row without a place also with single rows at
 * any). Returns how many failed, SIZE_MAX on memory shortage. Limits, floors and zeroes come first,
 * then relations, then duplicates, each in the order of the rows. */
size_t ps_rules_check(const struct ps_rule_row *rows, size_t n,
                      void (*found)(void *context, const struct ps_rule_finding *finding),
                      void *context);

#endif
