/* SPDX-License-Identifier: MIT
 *
 * ORDER, NEAR, SCALING and WHOLE_CYCLES. The other row of a relation is named without places: it is
 * the one of the same source and place, with the same number of threads where there is one (for
 * SCALING: with the fewest). A row below the resolution has no value to compare.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule_check.h"

static int compare_keys(const struct ps_rule_row *row, const char *source, const char *key) {
    int order = strcmp(row->source, source);
    return order ? order : strcmp(row->key, key);
}

static int compare_rows(const void *a, const void *b) {
    const struct ps_rule_row *x = *(const struct ps_rule_row *const *)a;
    const struct ps_rule_row *y = *(const struct ps_rule_row *const *)b;
    int order = compare_keys(x, y->source, y->key);
    if (order)
        return order;
    if (x->threads != y->threads)
        return x->threads < y->threads ? -1 : 1;
    return (x > y) - (x < y); /* as they were */
}

/* First place in the order at or behind (source, key). */
static size_t lower_bound(const struct ps_rule_check *check, const char *source, const char *key) {
    size_t low = 0, high = check->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(check->order[middle], source, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool usable(const struct ps_rule_row *row) {
    return row->has_value && !row->below_resolution;
}

static bool comparable_place(const struct ps_rule_row *row, const struct ps_rule_row *other) {
    return strcmp(row->place, other->place) == 0 || (row->threads > 1 && row->place[0] == '\0');
}

/* Judges `row` against `other`: what was expected, and whether it holds. */
static bool holds(const struct ps_rule_row *row, const struct ps_rule_row *other,
                  const struct ps_rule_relation *relation, double *ret_expected) {
    double base = other->value * (relation->factor > 0.0 ? relation->factor : 1.0);
    double tolerance = relation->tolerance, threads = row->threads ? row->threads : 1;
    if (row->usable_cpus && threads > row->usable_cpus)
        threads = row->usable_cpus;
    switch (relation->type) {
    case PS_ORDER_AT_LEAST:
        *ret_expected = base * (1.0 - tolerance);
        return row->value >= *ret_expected;
    case PS_ORDER_AT_MOST:
        *ret_expected = base * (1.0 + tolerance);
        return row->value <= *ret_expected;
    case PS_SCALING:
        if (ps_unit_dimension(row->unit) == PS_DIM_TIME) {
            *ret_expected = base / (threads * (1.0 + tolerance));
            return row->value >= *ret_expected;
        }
        *ret_expected = base * threads * (1.0 + tolerance);
        return row->value <= *ret_expected;
    case PS_NEAR:
        *ret_expected = base;
        return fabs(row->value - base) <= tolerance * fabs(base);
    case PS_WHOLE_CYCLES:
        break;
    }
    return true;
}

static const char *type_name(enum ps_relation_type type) {
    switch (type) {
    case PS_SCALING:
        return "SCALING";
    case PS_NEAR:
        return "NEAR";
    case PS_WHOLE_CYCLES:
        return "WHOLE_CYCLES";
    case PS_ORDER_AT_LEAST:
    case PS_ORDER_AT_MOST:
        break;
    }
    return "ORDER";
}

static void check_whole_cycles(struct ps_rule_check *check, const struct ps_rule_row *row,
                               const struct ps_rule_relation *relation,
                               struct ps_rule_finding *finding) {
    double whole = fmax(1.0, round(row->cycles));
    finding->expected = whole;
    finding->got = row->cycles;
    finding->failed = fabs(row->cycles - whole) > relation->tolerance;
    if (finding->failed || !isfinite(row->cycles))
        ps_rule_found(check, finding);
}

static bool faster(const struct ps_rule_row *a, const struct ps_rule_row *b) {
    bool time = ps_unit_dimension(a->unit) == PS_DIM_TIME;
    return time ? a->value < b->value : a->value > b->value;
}

/* The row that a relation is about, usable or, when there is no such, without a value; NULL: none.
 * `anywhere`: no row of the same place is there, so one that has no place will do (a system call
 * that needs no file, for one on a file of some target). Rows of one key are in the order of their
 * threads. SCALING takes the fastest of those with the fewest: on unequal cores that one sets the
 * bound. */
static const struct ps_rule_row *find_other_at(const struct ps_rule_check *check,
                                               const struct ps_rule_row *row,
                                               const struct ps_rule_relation *relation,
                                               bool anywhere) {
    const struct ps_rule_row *best = NULL;
    bool scaling = relation->type == PS_SCALING;
    for (size_t at = lower_bound(check, row->source, relation->other); at < check->n; at++) {
        const struct ps_rule_row *other = check->order[at];
        if (compare_keys(other, row->source, relation->other) != 0)
            break;
        if (other == row || !(anywhere ? other->place[0] == '\0' : comparable_place(row, other)))
            continue;
        bool better = !best || (usable(other) && !usable(best));
        if (!better && usable(other) && scaling)
            better = other->threads == best->threads && faster(other, best);
        else if (!better && usable(other))
            better = other->threads == row->threads && best->threads != row->threads;
        if (better)
            best = other;
    }
    return best;
}

static const struct ps_rule_row *find_other(const struct ps_rule_check *check,
                                            const struct ps_rule_row *row,
                                            const struct ps_rule_relation *relation) {
    const struct ps_rule_row *other = find_other_at(check, row, relation, false);
    return other ? other : find_other_at(check, row, relation, true);
}

static void check_relation(struct ps_rule_check *check, const struct ps_rule_row *row,
                           const struct ps_rule_relation *relation) {
    struct ps_rule_finding finding = {.row = (size_t)(row - check->rows),
                                      .other = SIZE_MAX,
                                      .other_key = relation->other,
                                      .rule = relation->rule,
                                      .type = type_name(relation->type),
                                      .cause = relation->cause,
                                      .expected = NAN,
                                      .got = row->value};
    if (relation->type == PS_WHOLE_CYCLES) {
        check_whole_cycles(check, row, relation, &finding);
        return;
    }
    const struct ps_rule_row *other = find_other(check, row, relation);
    bool checked = other && usable(other);
    if (other)
        finding.other = (size_t)(other - check->rows);
    if (checked)
        finding.failed = !holds(row, other, relation, &finding.expected);
    if (finding.failed || !checked)
        ps_rule_found(check, &finding);
}

void ps_rules_check_relations(struct ps_rule_check *check) {
    for (size_t i = 0; i < check->n; i++)
        check->order[i] = &check->rows[i];
    qsort(check->order, check->n, sizeof(*check->order), compare_rows);
    for (size_t i = 0; i < check->n; i++) {
        const struct ps_rule_row *row = &check->rows[i];
        for (unsigned r = 0; usable(row) && r < row->n_relations; r++)
            check_relation(check, row, &row->relations[r]);
    }
}
