/* SPDX-License-Identifier: MIT
 *
 * DUPLICATE: two rows of one table that measure different things do not have the same extreme to
 * the last digit. In published sheets that came from a log whose sections were cut wrongly. Numbers
 * with fewer than 5 significant digits meet by chance, and so do readings with few possible values
 * (clocks, per cent, counts). Rows without any scatter come from a counter that repeats exactly, as
 * on a microcontroller: two of those may well agree.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule_check.h"

#define DIGITS_MIN 5
/* The sheet carries 12 digits. */
#define SAME 1e-11

static bool same(double a, double b) {
    return fabs(a - b) <= SAME * fabs(a);
}

/* Significant digits of the 12 that the sheet carries, trailing zeroes dropped. */
static unsigned digits_of(double value) {
    char text[40];
    snprintf(text, sizeof(text), "%.11e", value);
    unsigned digits = 0, zeroes = 0;
    for (const char *c = text; *c && *c != 'e'; c++) {
        if (*c < '0' || *c > '9')
            continue;
        digits++;
        zeroes = *c == '0' ? zeroes + 1 : 0;
    }
    return digits - zeroes;
}

static bool takes_part(const struct ps_rule_row *row) {
    return row->has_value && !row->below_resolution && row->unit != PS_UNIT_MHZ &&
           row->unit != PS_UNIT_PERCENT && row->unit != PS_UNIT_COUNT && row->min < row->max;
}

/* Does `alias` name this row, with or without its places and its metric? */
static bool names(const char *alias, const struct ps_rule_row *row) {
    if (!alias)
        return false;
    size_t length = strlen(alias);
    return strcmp(alias, row->id) == 0 || strcmp(alias, row->key) == 0 ||
           (strncmp(alias, row->id, length) == 0 && row->id[length] == ':') ||
           (strncmp(alias, row->key, length) == 0 && row->key[length] == ':');
}

static bool aliases(const struct ps_rule_row *a, const struct ps_rule_row *b) {
    return names(a->alias_of, b) || names(b->alias_of, a) ||
           (a->alias_of && b->alias_of && strcmp(a->alias_of, b->alias_of) == 0);
}

static int compare_groups(const struct ps_rule_row *a, const struct ps_rule_row *b) {
    int order = strcmp(a->source, b->source);
    if (order == 0)
        order = strcmp(a->table, b->table);
    if (order == 0)
        order = strcmp(a->place, b->place);
    if (order == 0)
        order = (a->unit > b->unit) - (a->unit < b->unit);
    return order;
}

static int compare_by(const void *a, const void *b, bool by_max) {
    const struct ps_rule_row *x = *(const struct ps_rule_row *const *)a;
    const struct ps_rule_row *y = *(const struct ps_rule_row *const *)b;
    int order = compare_groups(x, y);
    if (order)
        return order;
    double left = by_max ? x->max : x->min, right = by_max ? y->max : y->min;
    order = (left > right) - (left < right);
    return order ? order : (x > y) - (x < y);
}

static int compare_minima(const void *a, const void *b) {
    return compare_by(a, b, false);
}

static int compare_maxima(const void *a, const void *b) {
    return compare_by(a, b, true);
}

static void report(struct ps_rule_check *check, const struct ps_rule_row *a,
                   const struct ps_rule_row *b, double expected, double got) {
    ps_rule_found(check, &(struct ps_rule_finding){
                             .row = (size_t)(b - check->rows),
                             .other = (size_t)(a - check->rows),
                             .rule = "duplicate",
                             .type = "DUPLICATE",
                             .cause = "two rows share their numbers to the last digit: one of them "
                                      "is the other's",
                             .expected = expected,
                             .got = got,
                             .failed = true});
}

/* Neighbours in an order by an extreme. Those that share the minimum are reported once, by it. */
static void check_neighbours(struct ps_rule_check *check, size_t n, bool by_max) {
    for (size_t i = 1; i < n; i++) {
        const struct ps_rule_row *a = check->order[i - 1], *b = check->order[i];
        if (compare_groups(a, b) != 0 || aliases(a, b))
            continue;
        bool minima = same(a->min, b->min), maxima = same(a->max, b->max);
        bool all = minima && maxima && same(a->value, b->value);
        bool exact_minima = minima && digits_of(a->min) >= DIGITS_MIN;
        bool exact_value = all && digits_of(a->value) >= DIGITS_MIN;
        bool exact_maxima = maxima && digits_of(a->max) >= DIGITS_MIN;
        if (by_max && exact_maxima && !exact_minima && !exact_value)
            report(check, a, b, a->max, b->max);
        else if (!by_max && exact_minima)
            report(check, a, b, a->min, b->min);
        else if (!by_max && exact_value)
            report(check, a, b, a->value, b->value);
    }
}

void ps_rules_check_duplicates(struct ps_rule_check *check) {
    size_t n = 0;
    for (size_t i = 0; i < check->n; i++)
        if (takes_part(&check->rows[i]))
            check->order[n++] = &check->rows[i];
    qsort(check->order, n, sizeof(*check->order), compare_minima);
    check_neighbours(check, n, false);
    qsort(check->order, n, sizeof(*check->order), compare_maxima);
    check_neighbours(check, n, true);
}
