/* SPDX-License-Identifier: MIT
 *
 * When a row may stop: the interval of its value over runs, and the marks that follow from how the
 * runs went. Pure.
 */
#ifndef PS_HARNESS_QUALITY_H
#define PS_HARNESS_QUALITY_H

#include <stdbool.h>

#include "sheet/sheet.h"

/* Half width of the 95 % interval over the run values / value; INFINITY below 3 runs. */
double ps_row_precision(const struct ps_sheet_metric *metric, const double *run_values, size_t n);
#define PS_PRECISION_WANTED 0.01

#endif
