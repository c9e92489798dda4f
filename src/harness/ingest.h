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
    uint64_t cases, runs;           /* that came whole, runs since the board's last start */
    uint64_t said_cases, said_runs; /* of the finish record; without one, runs that were planned */
    bool finished;                  /* there was a finish record ... */
    bool whole;                     /* ... and everything that it counts came */
};

/* Reads `input_fd` to its end (or until the sheet's end record) and writes the sheet: the lines
 * that came whole, then results and an end record made here. 0 or -errno; -EBADMSG when nothing
 * came. */
int ps_ingest(int input_fd, int output_fd, struct ps_ingest_counts *ret_counts);

#endif
