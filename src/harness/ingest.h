/* SPDX-License-Identifier: MIT
 *
 * A framed stream from a board's serial line, or a recorded log of it, to a sheet.
 */
#ifndef PS_HARNESS_INGEST_H
#define PS_HARNESS_INGEST_H

#include <stdbool.h>
#include <stdint.h>

struct ps_ingest_counts {
    uint64_t lines, frames, damaged, duplicate, missing, lost_lines, malformed;
};

/* Reads `input_fd` to its end (or until the sheet's end record) and writes the sheet: the lines
 * that came whole, then results and an end record made here. 0 or -errno; -EBADMSG when nothing
 * came. */
int ps_ingest(int input_fd, int output_fd, struct ps_ingest_counts *ret_counts);

#endif
