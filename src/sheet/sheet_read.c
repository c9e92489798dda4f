/* SPDX-License-Identifier: MIT
 *
 * A sheet from its lines, one at a time: a line's document is dropped as soon as its record was
 * taken, so that memory goes with what was measured, not with the length of the file.
 *
 * A file holds one sheet. It may have records of several starts of the program (a run that was
 * resumed in place, under the same header): the last declaration of a case holds, and an end record
 * only ends what stands before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sheet/results.h"
#include "sheet/sheet_build.h"

#define READ_BYTES 65536
/* A run of 12 metrics with 1000 samples in 4 arrays of 20 characters each has 1 MB. */
#define LINE_BYTES_MAX (64u << 20)

struct reader {
    struct ps_sheet *sheet;
    struct ps_sheet_error *error;
    size_t line;      /* number of the one being read, from 1 */
    size_t n_records; /* in all lines before */
};

static int refuse(struct reader *reader, size_t column, const char *what) {
    reader->error->line = reader->line;
    reader->error->column = column;
    snprintf(reader->error->what, sizeof(reader->error->what), "%s", what);
    return -EINVAL;
}

static int take_header(struct reader *reader, const struct ps_json *record) {
    struct ps_sheet *sheet = reader->sheet;
    if (ps_json_get_i64(record, "format", -1) != PS_SHEET_FORMAT)
        return refuse(reader, 1,
                      "a sheet of another format than 1: it needs another version of the program");
    if (sheet->header) /* runs of one would be taken for runs of the other */
        return refuse(reader, 1,
                      "another sheet begins here: a file holds one, and report takes "
                      "several files");
    sheet->header = ps_sheet_copy_json(sheet, record);
    if (!sheet->header || !ps_sheet_take_string(sheet, record, "id", &sheet->id) ||
        !ps_sheet_take_string(sheet, record, "started", &sheet->started))
        return -ENOMEM;
    return 0;
}

static int take_record(struct reader *reader, const struct ps_json *record) {
    struct ps_sheet *sheet = reader->sheet;
    const char *type = ps_json_get_string(record, "type", NULL), *what = NULL;
    int error = 0;
    if (!type)
        return refuse(reader, 1, "a record without a type");
    if (strcmp(type, "sheet") == 0)
        return take_header(reader, record);
    if (strcmp(type, "source") == 0) {
        error = ps_sheet_take_source(sheet, record, &what);
    } else if (strcmp(type, "table") == 0) {
        error = ps_sheet_take_table(sheet, record, &what);
    } else if (strcmp(type, "case") == 0) {
        error = ps_sheet_take_case(sheet, record, &what);
    } else if (strcmp(type, "run") == 0) {
        error = ps_sheet_take_run(sheet, record, &what);
        sheet->end = NULL;
    } else if (strcmp(type, "end") == 0) {
        sheet->end = ps_sheet_copy_json(sheet, record);
        error = sheet->end ? 0 : -ENOMEM;
    }
    /* Results follow from runs and are made anew; types that are not known are passed over. */
    return error == -EINVAL ? refuse(reader, 1, what) : error;
}

static bool is_blank(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* One line without its newline. `cut`: the file ends in it. */
static int take_line(struct reader *reader, const char *line, size_t length, bool cut) {
    struct ps_json_document *document = NULL;
    const struct ps_json *record;
    struct ps_json_error why;
    reader->line++;
    if (is_blank(line, length))
        return 0;
    int error = ps_json_parse(line, length, &document, &record, &why);
    if (error == -EINVAL && (cut || line[0] == '\0')) {
        /* A file system that lost power leaves zeroes where a block was not written. */
        reader->sheet->truncated = true;
        return 0;
    }
    if (error)
        return error == -EINVAL ? refuse(reader, why.column, why.what) : error;
    if (reader->sheet->truncated)
        error = refuse(reader, 1, "a line behind one that was cut");
    else
        error = take_record(reader, record);
    reader->n_records++;
    ps_json_document_free(document);
    return error;
}

/* ---- The end of reading --------------------------------------------------------------------- */

static int compare_cases(const void *a, const void *b) {
    const struct ps_sheet_case *x = *(const struct ps_sheet_case *const *)a;
    const struct ps_sheet_case *y = *(const struct ps_sheet_case *const *)b;
    int order = strcmp(x->source, y->source);
    if (order == 0)
        order = strcmp(x->id, y->id);
    return order ? order : (x > y) - (x < y);
}

/* A case that was declared again keeps its first place, with what was said last. */
static int drop_repeated_cases(struct ps_sheet *sheet) {
    if (sheet->n_cases < 2)
        return 0;
    struct ps_sheet_case **order = calloc(sheet->n_cases, sizeof(*order));
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < sheet->n_cases; i++)
        order[i] = &sheet->cases[i];
    qsort(order, sheet->n_cases, sizeof(*order), compare_cases);
    size_t first = 0;
    for (size_t i = 1; i < sheet->n_cases; i++) {
        if (strcmp(order[i]->id, order[first]->id) != 0 ||
            strcmp(order[i]->source, order[first]->source) != 0) {
            first = i;
            continue;
        }
        *order[first] = *order[i];
        order[i]->id = NULL;
    }
    free(order);
    size_t kept = 0;
    for (size_t i = 0; i < sheet->n_cases; i++) {
        if (!sheet->cases[i].id)
            continue;
        sheet->cases[kept] = sheet->cases[i];
        sheet->cases[kept].order = (unsigned)kept;
        kept++;
    }
    sheet->n_cases = kept;
    return 0;
}

static double first_reference_mhz(const struct ps_sheet *sheet) {
    for (size_t i = 0; i < sheet->n_sources; i++) {
        const struct ps_json *clusters = ps_json_get(sheet->sources[i].json, "reference_mhz");
        if (strcmp(sheet->sources[i].id, "linux") != 0 || !clusters ||
            clusters->type != PS_JSON_OBJECT || !ps_json_is_number(clusters->u.first))
            continue;
        return ps_json_double_of(clusters->u.first);
    }
    return NAN;
}

static int finish(struct reader *reader) {
    struct ps_sheet *sheet = reader->sheet;
    if (reader->n_records == 0) {
        reader->line = 1;
        return refuse(reader, 1, "no record is in it: not a sheet");
    }
    sheet->reference_mhz = first_reference_mhz(sheet);
    for (size_t i = 0; i < sheet->n_sources; i++) {
        struct ps_sheet_source *source = &sheet->sources[i];
        source->board = ps_json_get(sheet->header, "board");
        source->started = sheet->started;
        source->depth = ps_json_get_string(ps_json_get(sheet->header, "plan"), "depth", NULL);
    }
    int error = drop_repeated_cases(sheet);
    /* Rows that were never declared leave no trace but their number. */
    sheet->incomplete =
        !sheet->end ||
        sheet->n_cases < ps_json_get_u64(ps_json_get(sheet->header, "plan"), "cases", 0);
    if (!error)
        error = ps_results_build(sheet);
    return error ? error : ps_results_judge(sheet);
}

static int finish_or_free(struct reader *reader, int error, struct ps_sheet **ret_sheet) {
    if (!error)
        error = finish(reader);
    if (error)
        ps_sheet_free(reader->sheet);
    else
        *ret_sheet = reader->sheet;
    return error;
}

int ps_sheet_parse(const char *text, size_t length, struct ps_sheet **ret_sheet,
                   struct ps_sheet_error *ret_error) {
    struct reader reader = {.sheet = ps_sheet_new(), .error = ret_error};
    if (!reader.sheet)
        return -ENOMEM;
    const char *end = text + length;
    int error = 0;
    while (text < end && !error) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        error = take_line(&reader, text, (size_t)(stop - text), !newline);
        text = newline ? newline + 1 : end;
    }
    return finish_or_free(&reader, error, ret_sheet);
}

/* ---- Files ---------------------------------------------------------------------------------- */

struct buffer {
    char *data;
    size_t length, capacity;
};

/* Takes the whole lines in the buffer and moves the rest to its beginning. */
static int take_lines(struct reader *reader, struct buffer *buffer, size_t searched) {
    size_t start = 0;
    for (;;) {
        size_t from = searched > start ? searched : start;
        const char *newline = memchr(buffer->data + from, '\n', buffer->length - from);
        if (!newline)
            break;
        size_t stop = (size_t)(newline - buffer->data);
        int error = take_line(reader, buffer->data + start, stop - start, false);
        if (error)
            return error;
        start = stop + 1;
    }
    memmove(buffer->data, buffer->data + start, buffer->length - start);
    buffer->length -= start;
    return 0;
}

static int read_lines(struct reader *reader, int fd, struct buffer *buffer) {
    for (;;) {
        if (buffer->capacity - buffer->length < READ_BYTES) {
            size_t capacity = 2 * buffer->capacity + READ_BYTES;
            char *grown = realloc(buffer->data, capacity);
            if (!grown)
                return -ENOMEM;
            buffer->data = grown;
            buffer->capacity = capacity;
        }
        ssize_t got = read(fd, buffer->data + buffer->length, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        size_t searched = buffer->length;
        buffer->length += (size_t)got;
        int error = take_lines(reader, buffer, searched);
        if (error)
            return error;
        if (buffer->length > LINE_BYTES_MAX) {
            reader->line++;
            return refuse(reader, LINE_BYTES_MAX, "a line longer than 64 MiB");
        }
    }
    return buffer->length ? take_line(reader, buffer->data, buffer->length, true) : 0;
}

int ps_sheet_read(const char *path, struct ps_sheet **ret_sheet, struct ps_sheet_error *ret_error) {
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct buffer buffer = {0};
    struct reader reader = {.sheet = ps_sheet_new(), .error = ret_error};
    int error = -ENOMEM;
    if (reader.sheet) {
        error = read_lines(&reader, fd, &buffer);
        free(buffer.data);
        error = finish_or_free(&reader, error, ret_sheet);
    }
    if (!standard_input)
        close(fd);
    return error;
}
