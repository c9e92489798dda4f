/* SPDX-License-Identifier: MIT
 *
 * A framed stream from a board's serial line, or a recorded log of it, to a sheet. Each line is
 * written as soon as it came whole, so that a board that hangs, or a killed ingest, leaves a sheet
 * that every reader can complete; results and the end record are made here, from the same lines.
 *
 * A board that starts again sends its declarations again: those are passed over, its runs count.
 * Another sheet in the same log ends this one.
 */
#include "harness/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/frame.h"
#include "core/json_writer.h"
#include "harness/runner.h"
#include "sheet/results.h"
#include "sheet/sheet.h"

/* The longest record is a run of a full histogram and PS_SAMPLES_MAX samples of every metric, some
 * 25 bytes a number: 12 x 1000 x 4 arrays. */
#define LINE_BYTES_MAX (2u << 20)

struct text {
    char *data;
    size_t length, capacity;
};

struct ingest {
    struct ps_output output;
    struct text sheet;    /* all lines that were written */
    struct text declared; /* "type id\n" of the declarations among them */
    const char *sheet_id; /* in sheet_id_text; NULL: no header yet */
    char sheet_id_text[128];
    bool finished;
    int err; /* the first that a callback met */
    uint64_t n_lines, n_malformed;
    bool said_finish; /* and how much it sent: */
    uint64_t said_cases, said_runs;
    uint64_t n_cases, n_runs; /* kept; runs since the board's last start */
    uint64_t planned_runs;    /* of the cases that were to run */
};

static int text_add(struct text *text, const char *data, size_t length) {
    if (length > text->capacity - text->length) {
        size_t capacity = 2 * (text->length + length) + 4096;
        char *grown = realloc(text->data, capacity);
        if (!grown)
            return -ENOMEM;
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, data, length);
    text->length += length;
    return 0;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* 1 when this declaration is new, 0 when it came before, or -ENOMEM. */
static int declare(struct ingest *ingest, const char *type, const char *id) {
    struct text key = {0};
    int err = text_add(&key, "\n", 1);
    if (err == 0)
        err = text_add(&key, type, strlen(type));
    if (err == 0)
        err = text_add(&key, " ", 1);
    if (err == 0)
        err = text_add(&key, id, strlen(id));
    if (err == 0)
        err = text_add(&key, "\n", 1);
    if (err == 0 && ingest->declared.length == 0)
        err = text_add(&ingest->declared, "\n", 1);
    if (err == 0) {
        if (memmem(ingest->declared.data, ingest->declared.length, key.data, key.length))
            err = 0;
        else if ((err = text_add(&ingest->declared, key.data + 1, key.length - 1)) == 0)
            err = 1;
    }
    free(key.data);
    return err;
}

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* What a line is to the sheet: 1 keep, 0 pass over, or a negative errno; -EBADMSG: not a record. */
static int judge(struct ingest *ingest, const struct ps_json *record) {
    const char *type = ps_json_get_string(record, "type", NULL);
    const char *id = ps_json_get_string(record, "id", NULL);
    if (!type)
        return -EBADMSG;
    if (is(type, "finish") || is(type, "end")) {
        ingest->finished = ingest->said_finish = true;
        ingest->said_cases = ps_json_get_u64(record, "cases", 0);
        ingest->said_runs = ps_json_get_u64(record, "runs", 0);
        return 0;
    }
    if (is(type, "result"))
        return 0; /* made here, from all runs */
    if (is(type, "run") || is(type, "trial")) {
        ingest->n_runs += is(type, "run");
        return 1;
    }
    if (!id)
        return -EBADMSG;
    if (is(type, "sheet")) {
        if (ingest->sheet_id && !is(ingest->sheet_id, id)) {
            ingest->finished = true;
            return 0;
        }
        if (strlen(id) >= sizeof(ingest->sheet_id_text))
            return -EBADMSG;
        memcpy(ingest->sheet_id_text, id, strlen(id) + 1);
        ingest->sheet_id = ingest->sheet_id_text;
        ingest->n_runs = 0;
    }
    int kept = declare(ingest, type, id);
    if (kept == 1 && is(type, "case")) {
        ingest->n_cases++;
        if (!ps_json_get_string(record, "status", NULL))
            ingest->planned_runs += ps_json_get_u64(record, "runs_planned", 0);
    }
    return kept;
}

/* A record that the reader would refuse must not get into the file: the whole sheet would be lost.
 */
static int check_alone(const char *line, size_t length) {
    struct ps_sheet *sheet;
    struct ps_sheet_error error;
    int err = ps_sheet_parse(line, length, &sheet, &error);
    if (err == 0)
        ps_sheet_free(sheet);
    return err == -EINVAL ? -EBADMSG : err;
}

static int take_line(struct ingest *ingest, const char *line, size_t length) {
    struct ps_json_document *document;
    const struct ps_json *root;
    struct ps_json_error error;
    int err = ps_json_parse(line, length, &document, &root, &error);
    if (err == 0) {
        err = check_alone(line, length);
        if (err == 0)
            err = judge(ingest, root);
        ps_json_document_free(document);
    } else if (err == -EINVAL) {
        err = -EBADMSG;
    }
    if (err <= 0) {
        ingest->n_malformed += err == -EBADMSG;
        return err == -EBADMSG ? 0 : err;
    }
    err = text_add(&ingest->sheet, line, length);
    if (err == 0)
        err = text_add(&ingest->sheet, "\n", 1);
    if (err == 0)
        err = ps_output_line(&ingest->output, line, length, false);
    if (err == 0)
        ingest->n_lines++;
    return err;
}

static void got_line(void *target, const char *line, size_t length) {
    struct ingest *ingest = target;
    if (ingest->err == 0 && !ingest->finished && length > 0)
        ingest->err = take_line(ingest, line, length);
}

/* ---- The end -------------------------------------------------------------------------------- */

static bool is_whole(const struct ingest *ingest) {
    return ingest->said_finish && ingest->n_cases >= ingest->said_cases &&
           ingest->n_runs >= ingest->said_runs;
}

static int add_output(void *target, const char *data, size_t length) {
    return text_add(target, data, length);
}

/* Writes the record that `json` has put into `line`, and empties it. */
static int end_line(struct ingest *ingest, struct ps_json_writer *json, struct text *line,
                    bool sync) {
    int err = ps_json_line_end(json);
    if (err == 0)
        err =
            ps_output_line(&ingest->output, line->data, line->length - 1, sync); /* its own '\n' */
    line->length = 0;
    return err;
}

static int write_results(struct ingest *ingest) {
    struct text line = {0};
    struct ps_sheet *sheet = NULL;
    struct ps_sheet_error error;
    int err = ps_sheet_parse(ingest->sheet.data, ingest->sheet.length, &sheet, &error);
    if (err < 0)
        return err == -EINVAL ? -EBADMSG : err;
    char finished[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(finished, sizeof(finished), "%Y-%m-%dT%H:%M:%SZ", &utc);

    struct ps_json_writer json;
    ps_json_init(&json, add_output, &line);
    for (size_t i = 0; i < sheet->n_results && err == 0; i++) {
        ps_record_result(&json, &sheet->results[i]);
        err = end_line(ingest, &json, &line, false);
    }
    if (err == 0) {
        int code = is_whole(ingest) ? ps_results_exit_code(sheet, false) : EXIT_FAILURE;
        ps_record_end(&json, finished, code, sheet);
        err = end_line(ingest, &json, &line, true);
    }
    free(line.data);
    ps_sheet_free(sheet);
    return err;
}

static int receive_all(struct ingest *ingest, int input_fd, struct ps_frame_receiver *receiver) {
    char piece[4096];
    while (ingest->err == 0 && !ingest->finished) {
        ssize_t n = read(input_fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        /* A terminal whose other side hung up reads as an error: the end as well. */
        if (n == 0 || (n < 0 && errno == EIO))
            break;
        if (n < 0)
            return -errno;
        ps_frame_receiver_feed(receiver, piece, (size_t)n);
    }
    return ingest->err;
}

int ps_ingest(int input_fd, int output_fd, struct ps_ingest_counts *ret_counts) {
    struct ingest ingest = {.output = {.fd = output_fd, .copy_fd = 0}};
    struct ps_frame_receiver receiver;
    char *buffer = malloc(LINE_BYTES_MAX);
    if (!buffer)
        return -ENOMEM;
    ps_frame_receiver_init(&receiver, buffer, LINE_BYTES_MAX, got_line, &ingest);
    int err = receive_all(&ingest, input_fd, &receiver);
    if (err == 0)
        err = ingest.n_lines > 0 ? write_results(&ingest) : -EBADMSG;
    *ret_counts = (struct ps_ingest_counts){
        .lines = ingest.n_lines,
        .frames = receiver.n_frames,
        .damaged = receiver.n_damaged,
        .duplicate = receiver.n_duplicate,
        .missing = receiver.n_missing,
        .lost_lines = receiver.n_lost_lines,
        .malformed = ingest.n_malformed,
        .cases = ingest.n_cases,
        .runs = ingest.n_runs,
        .said_cases = ingest.said_cases,
        .said_runs = ingest.said_finish ? ingest.said_runs : ingest.planned_runs,
        .finished = ingest.said_finish,
        .whole = is_whole(&ingest),
    };
    free(ingest.declared.data);
    free(ingest.sheet.data);
    free(buffer);
    return err;
}
