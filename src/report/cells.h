/* SPDX-License-Identifier: MIT
 *
 * One result as the texts of a table's cells, the same in every format that people read.
 */
#ifndef PS_REPORT_CELLS_H
#define PS_REPORT_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "sheet/sheet.h"

#define PS_CELL_MAX 128

/* Has it a number that may be printed? */
bool ps_cell_has_number(const struct ps_result *result);

/* With that many decimals, and with more where a value above zero would read 0. "-" for NAN. */
void ps_cell_number(double value, unsigned decimals, char *text, size_t size_bytes);
/* "1409.32", "< 0.25" (below-resolution), or the status: "denied". */
void ps_cell_value(const struct ps_result *result, char *text, size_t size_bytes);
/* "(min 1401.10, max 1420.55)"; "" when both are the value at the shown precision, or unknown. */
void ps_cell_range(const struct ps_result *result, char *text, size_t size_bytes);
/* Both: "1409.32 (min 1401.10, max 1420.55)". */
void ps_cell(const struct ps_result *result, char *text, size_t size_bytes);
/* Half the 95 % interval in per cent of the value, "0.42"; "-" where there is none. */
void ps_cell_spread(const struct ps_result *result, char *text, size_t size_bytes);
/* Runs used, and "+2" that were disturbed and left out. */
void ps_cell_runs(const struct ps_result *result, char *text, size_t size_bytes);
/* "suspect, noisy, bimodal"; "" for none. */
void ps_cell_marks(const struct ps_result *result, char *text, size_t size_bytes);
/* The same in letters, "SUSPECT NB", for pages that are too narrow for words. */
void ps_cell_letters(const struct ps_result *result, char *text, size_t size_bytes);
/* "N=noisy, B=bimodal" of the marks in `quality`; "" for none. */
void ps_cell_legend(uint32_t quality, char *text, size_t size_bytes);
/* What the mark of that bit means, for a legend. */
const char *ps_cell_meaning(unsigned bit);
/* The id without its table, with the size of a working set that was capped, and without its metric
 * where `metric` is false. */
void ps_cell_name(const struct ps_result *result, bool metric, char *text, size_t size_bytes);

/* 24.1 GiB, 512 KiB, 64 B. */
void ps_cell_bytes(double bytes, char *text, size_t size_bytes);

#endif
