/* SPDX-License-Identifier: MIT
 *
 * Runs to results: a pure function of the records in the sheet.
 */
#ifndef PS_SHEET_RESULTS_H
#define PS_SHEET_RESULTS_H

#include "sheet/sheet.h"

/* Builds sheet->results from cases and runs, one per case and metric, in the order of the cases;
 * rules are not applied yet. 0 or -ENOMEM. */
int ps_results_build(struct ps_sheet *sheet);

/* Applies the rules to sheet->results: broken ones make rows suspect, those that could not be
 * checked are only listed. ps_sheet_read, _parse and _merge have done both. 0 or -ENOMEM. */
int ps_results_judge(struct ps_sheet *sheet);

/* The value of one run for one metric: raw (`normalised` false), or each sample divided by its own
 * clock and set to reference_mhz. ns per unit; net of the baseline. NAN when there is nothing. */
double ps_run_value(const struct ps_sheet_metric *metric, const struct ps_sheet_series *series,
                    bool normalised, double reference_mhz);

/* Writes {"type":"result",...} and {"type":"end",...}. */
void ps_record_result(struct ps_json_writer *json, const struct ps_result *result);
void ps_record_end(struct ps_json_writer *json, const char *finished, int exit_code,
                   const struct ps_sheet *sheet);

/* Exit code of a set of results: 0, 1, 3, 4 or 5 (docs/FORMAT.md). */
int ps_results_exit_code(const struct ps_sheet *sheet, bool strict);

#endif
