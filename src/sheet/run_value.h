/* SPDX-License-Identifier: MIT
 *
 * The samples of one metric in one run, as values (ps_run_value itself is in sheet/results.h).
 */
#ifndef PS_SHEET_RUN_VALUE_H
#define PS_SHEET_RUN_VALUE_H

#include "sheet/sheet.h"

/* Is there a clock for at least half of the samples, and their baselines? */
bool ps_series_has_clock(const struct ps_sheet_series *series);

/* Was a neighbour on the same core while sample `i` was taken? */
bool ps_series_shared(const struct ps_sheet_series *series, unsigned i);

/* Samples less baseline into nets[PS_SAMPLES_MAX], without those whose clock is unknown (when
 * normalised) or, where enough others are left, whose core was shared; returns how many. */
unsigned ps_series_nets(const struct ps_sheet_series *series, bool normalised, double reference_mhz,
                        double *nets);

/* Like ps_run_value, of the gross samples or of the baseline alone. */
double ps_run_part(const struct ps_sheet_metric *metric, const struct ps_sheet_series *series,
                   bool baseline, bool normalised, double reference_mhz);

#endif
