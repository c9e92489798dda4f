/* SPDX-License-Identifier: MIT
 *
 * One result from the runs of its case.
 */
#ifndef PS_SHEET_RESULT_ROW_H
#define PS_SHEET_RESULT_ROW_H

#include "sheet/row_runs.h"

/* Everything that follows from the declaration; numbers are NAN. */
void ps_result_init(struct ps_result *result, const struct ps_sheet_case *c,
                    const struct ps_sheet_metric *metric);

/* Fills the numbers and marks of an ok result from the n runs of its case, or gives it the status
 * and reason of having none. `row` is scratch. 0 or -ENOMEM. */
int ps_result_take(struct ps_sheet *sheet, struct ps_result *result, struct ps_row *row,
                   const struct ps_sheet_run *const *runs, size_t n,
                   const struct ps_row_clock *clock);

#endif
