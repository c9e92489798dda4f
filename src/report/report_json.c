/* SPDX-License-Identifier: MIT
 *
 * The results as one JSON array, each element a result record of the sheet.
 */
#include <errno.h>

#include "report/report.h"
#include "sheet/results.h"

static int write_stream(void *target, const char *data, size_t length) {
    return fwrite(data, 1, length, target) == length ? 0 : -EIO;
}

int ps_report_json(const struct ps_sheet *sheet, FILE *stream) {
    struct ps_json_writer json;
    fputs("[", stream);
    for (size_t i = 0; i < sheet->n_results; i++) {
        /* A writer of its own for each: a record a line, so that line tools can read it too. */
        fputs(i == 0 ? "\n" : ",\n", stream);
        ps_json_init(&json, write_stream, stream);
        ps_record_result(&json, &sheet->results[i]);
    }
    fputs("\n]\n", stream);
    return 0;
}
