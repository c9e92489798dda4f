/* SPDX-License-Identifier: MIT
 *
 * Between the files of this folder: one pass of ps_rules_check.
 */
#ifndef PS_RULES_RULE_CHECK_H
#define PS_RULES_RULE_CHECK_H

#include "rules/rules.h"

struct ps_rule_check {
    const struct ps_rule_row *rows;
    size_t n;
    const struct ps_rule_row **order; /* n rows, for sorting */
    void (*found)(void *context, const struct ps_rule_finding *finding);
    void *context;
    size_t n_failed;
};

void ps_rule_found(struct ps_rule_check *check, const struct ps_rule_finding *finding);
/* Relations that rows declare with other rows, or with whole numbers of cycles. */
void ps_rules_check_relations(struct ps_rule_check *check);
/* Rows that share their numbers. */
void ps_rules_check_duplicates(struct ps_rule_check *check);

#endif
