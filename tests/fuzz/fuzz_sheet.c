/* SPDX-License-Identifier: MIT
 *
 * The sheet reader, all the way to results, rules and merging: no crash, a position with every
 * refusal, and of every result that it has either a finite number or a reason, and can be written
 * as JSON that the reader takes.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/results.h"

struct output {
    char data[1 << 18];
    size_t length;
};

static int take(void *target, const char *data, size_t length) {
    struct output *output = target;
    if (length > sizeof(output->data) - output->length)
        return -ENOSPC;
    memcpy(output->data + output->length, data, length);
    output->length += length;
    return 0;
}

static void check_line(struct ps_json_writer *json, struct output *output) {
    struct ps_json_document *document;
    const struct ps_json *root;
    struct ps_json_error error;
    int written = ps_json_line_end(json);
    if (written == -ENOSPC)
        return;
    if (written || ps_json_parse(output->data, output->length, &document, &root, &error) != 0)
        abort();
    ps_json_document_free(document);
}

static void check_result(const struct ps_result *result) {
    static struct output output;
    struct ps_json_writer json;
    bool numbered = result->status == PS_OK || result->status == PS_SUSPECT;
    if (numbered && !isfinite(result->value))
        abort();
    if (!numbered && (!result->reason || isfinite(result->value)))
        abort();
    bool timed = result->metric->kind == PS_TIME || result->metric->kind == PS_RATE;
    if (numbered && timed && (result->value < 0.0 || result->min < 0.0))
        abort();
    output.length = 0;
    ps_json_init(&json, take, &output);
    ps_record_result(&json, result);
    check_line(&json, &output);
}

static struct ps_sheet *parse(const uint8_t *data, size_t size) {
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error = {0, 0, ""};
    int result = ps_sheet_parse((const char *)data, size, &sheet, &error);
    if (result == -EINVAL && (error.line == 0 || error.column == 0 || !error.what[0]))
        abort();
    return result == 0 ? sheet : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ps_sheet *sheet = parse(data, size);
    if (!sheet)
        return 0;
    for (size_t i = 0; i < sheet->n_results; i++)
        check_result(&sheet->results[i]);
    int code = ps_results_exit_code(sheet, size & 1);
    if (code != 0 && code != 1 && code != 3 && code != 4 && code != 5)
        abort();
    struct ps_sheet *again = parse(data, size);
    size_t n_runs = sheet->n_runs;
    if (!again || ps_sheet_merge(sheet, again) != 0)
        abort();
    if (sheet->n_runs < n_runs || sheet->n_results < again->n_results)
        abort();
    for (size_t i = 0; i < sheet->n_results; i++)
        check_result(&sheet->results[i]);
    ps_sheet_free(sheet);
    ps_sheet_free(again);
    return 0;
}
