/* SPDX-License-Identifier: MIT
 *
 * The driver, and the rules that look at one row alone: a value of nothing (POSITIVE), more than
 * the hardware has or fewer cycles than the work needs (CEILING). A row below the resolution
 * carries an upper bound of its time, which can still be too small for its floor.
 */
#include "rules/rules.h"

#include <math.h>
#include <stdlib.h>

#include "rules/rule_check.h"

/* Two clock probes that agree may differ by 3 % (core/calibrate); so may cycles from the truth. */
#define CLOCK_TOLERANCE 0.03

void ps_rule_found(struct ps_rule_check *check, const struct ps_rule_finding *finding) {
    check->n_failed += finding->failed;
    check->found(check->context, finding);
}

static void check_positive(struct ps_rule_check *check, size_t i) {
    const struct ps_rule_row *row = &check->rows[i];
    bool timed = ps_unit_dimension(row->unit) != PS_DIM_NONE;
    double least = row->min < row->value ? row->min : row->value;
    if (least > 0.0 || !(timed || row->positive) || (least == 0.0 && !row->positive))
        return;
    ps_rule_found(check, &(struct ps_rule_finding){
                             .row = i,
                             .other = SIZE_MAX,
                             .rule = "positive",
                             .type = "POSITIVE",
                             .cause = "a missing or failed sample was taken for a number",
                             .expected = 0.0,
                             .got = least,
                             .failed = true});
}

static void check_ceilings(struct ps_rule_check *check, size_t i) {
    const struct ps_rule_row *row = &check->rows[i];
    struct ps_rule_finding finding = {
        .row = i, .other = SIZE_MAX, .type = "CEILING", .failed = true};
    if (row->floor_cycles > 0.0 && row->cycles < row->floor_cycles * (1.0 - CLOCK_TOLERANCE)) {
        finding.rule = "floor-cycles";
        finding.cause = "fewer cycles than any processor needs for it: the work was optimised away";
        finding.expected = row->floor_cycles;
        finding.got = row->cycles;
        ps_rule_found(check, &finding);
    }
    if (row->value > row->limit && !row->below_resolution) {
        finding.rule = "limit";
        finding.cause =
            "more than the hardware can do: a cache answered, or the limit is another's";
        finding.expected = row->limit;
        finding.got = row->value;
        ps_rule_found(check, &finding);
    }
}

size_t ps_rules_check(const struct ps_rule_row *rows, size_t n,
                      void (*found)(void *context, const struct ps_rule_finding *finding),
                      void *context) {
    struct ps_rule_check check = {.rows = rows, .n = n, .found = found, .context = context};
    if (n == 0)
        return 0;
    check.order = calloc(n, sizeof(*check.order));
    if (!check.order)
        return SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].has_value)
            continue;
        check_positive(&check, i);
        check_ceilings(&check, i);
    }
    ps_rules_check_relations(&check);
    ps_rules_check_duplicates(&check);
    free(check.order);
    return check.n_failed;
}
