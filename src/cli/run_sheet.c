/* SPDX-License-Identifier: MIT
 *
 * The sheet of a run. What goes to a pipe cannot be read back, so that it is kept beside it in
 * memory that belongs to no process's resident set.
 */
#include "cli/run_sheet.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sheet/results.h"
#include "sys/process.h"

#define BOARD_NAME_MAX 40
#define SAME_SECOND_MAX 100 /* sheets of one board begun in one second */

/* ---- Opening --------------------------------------------------------------------------------- */

/* "TI AM62L EVM (rev. B)" to "ti-am62l-evm-rev-b". */
static void board_name(const struct ps_environment *environment, char *name, size_t name_bytes) {
    const char *text = environment->model[0] ? environment->model : environment->hostname;
    size_t length = 0;
    for (; *text && length + 1 < name_bytes; text++) {
        unsigned char c = (unsigned char)*text;
        if (isalnum(c) && c < 0x80)
            name[length++] = (char)tolower(c);
        else if (length > 0 && name[length - 1] != '-')
            name[length++] = '-';
    }
    while (length > 0 && name[length - 1] == '-')
        length--;
    name[length] = 0;
    if (length == 0)
        snprintf(name, name_bytes, "board");
}

static int keep_copy(struct ps_run_sheet *sheet) {
    int fd = memfd_create("perfsheet", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    sheet->output.copy_fd = fd;
    return 0;
}

static int open_stdout(struct ps_run_sheet *sheet) {
    sheet->output.fd = STDOUT_FILENO;
    sheet->path[0] = 0;
    sheet->to_stdout = true;
    int error = keep_copy(sheet);
    if (error) {
        ps_complain("cannot keep a copy of the sheet: %s", strerror(-error));
        return PS_EXIT_FAILED;
    }
    return PS_EXIT_OK;
}

static int open_default(const struct ps_invocation *invocation,
                        const struct ps_environment *environment, struct ps_run_sheet *sheet) {
    char board[BOARD_NAME_MAX], stamp[32] = "undated";
    time_t now = time(NULL);
    struct tm tm;
    board_name(environment, board, sizeof(board));
    if (localtime_r(&now, &tm))
        strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
    int fd = -1;
    errno = EEXIST;
    for (unsigned i = 1; fd < 0 && errno == EEXIST && i <= SAME_SECOND_MAX; i++) {
        char more[16] = "";
        if (i > 1)
            snprintf(more, sizeof(more), "-%u", i);
        snprintf(sheet->path, sizeof(sheet->path), "./%s-%s%s.jsonl", board, stamp, more);
        fd = open(sheet->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0) {
        ps_tell(invocation,
                "no sheet can be written here (%s): it goes to stdout, the page to stderr",
                strerror(errno));
        return open_stdout(sheet);
    }
    sheet->output.fd = fd;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    return PS_EXIT_OK;
}

static int open_named(const struct ps_invocation *invocation, const char *name,
                      struct ps_run_sheet *sheet) {
    struct stat status;
    snprintf(sheet->path, sizeof(sheet->path), "%s", name);
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        sheet->output.fd = fd;
        (void)flock(fd, LOCK_EX | LOCK_NB);
        return PS_EXIT_OK;
    }
    if (errno != EEXIST) {
        ps_complain("%s: %s", name, strerror(errno));
        return PS_EXIT_FAILED;
    }
    /* A pipe or a device loses nothing by being written to. */
    if (stat(name, &status) < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
        S_ISBLK(status.st_mode))
        return ps_usage(invocation, "%s exists; it is not overwritten", name);
    fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int error = fd < 0 ? -errno : keep_copy(sheet);
    sheet->output.fd = fd;
    if (error) {
        ps_complain("%s: %s", name, strerror(-error));
        return PS_EXIT_FAILED;
    }
    return PS_EXIT_OK;
}

int ps_run_sheet_open(const struct ps_invocation *invocation,
                      const struct ps_environment *environment, const char *name,
                      struct ps_run_sheet *ret_sheet) {
    memset(ret_sheet, 0, sizeof(*ret_sheet));
    ret_sheet->output.fd = -1;
    if (name && strcmp(name, "-") == 0)
        return open_stdout(ret_sheet);
    return name ? open_named(invocation, name, ret_sheet)
                : open_default(invocation, environment, ret_sheet);
}

/* Bytes up to the first record that is made of runs, or the last newline. */
static int length_of_runs(int fd, off_t *ret_length) {
    char *line = NULL;
    size_t line_bytes = 0;
    ssize_t n;
    off_t length = 0;
    int error = 0;
    int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    FILE *file = own_fd < 0 ? NULL : fdopen(own_fd, "r");
    if (!file) {
        error = -errno;
        if (own_fd >= 0)
            close(own_fd);
        return error;
    }
    rewind(file);
    while (!error && (n = getline(&line, &line_bytes, file)) > 0 && line[n - 1] == '\n') {
        struct ps_json_document *document = NULL;
        const struct ps_json *root;
        struct ps_json_error where;
        error = ps_json_parse(line, (size_t)n - 1, &document, &root, &where);
        if (error == -EINVAL) { /* the reader has let it pass: the last one, of lost blocks */
            error = 0;
            break;
        }
        if (error)
            break;
        const char *type = ps_json_get_string(root, "type", "");
        bool made_of_runs = strcmp(type, "result") == 0 || strcmp(type, "end") == 0;
        ps_json_document_free(document);
        if (made_of_runs)
            break;
        length += n;
    }
    free(line);
    fclose(file);
    if (!error)
        *ret_length = length;
    return error;
}

int ps_run_sheet_lock(const char *path, struct ps_run_sheet *ret_sheet) {
    int error = 0;
    memset(ret_sheet, 0, sizeof(*ret_sheet));
    snprintf(ret_sheet->path, sizeof(ret_sheet->path), "%s", path);
    ret_sheet->output.fd = open(path, O_RDWR | O_CLOEXEC);
    if (ret_sheet->output.fd < 0)
        error = -errno;
    else if (flock(ret_sheet->output.fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        error = -EBUSY;
    if (!error)
        return PS_EXIT_OK;
    ps_complain("%s: %s", path,
                error == -EBUSY ? "another perfsheet is writing it" : strerror(-error));
    return PS_EXIT_FAILED;
}

void ps_run_sheet_done(struct ps_run_sheet *sheet) {
    if (sheet->output.fd > STDERR_FILENO)
        close(sheet->output.fd);
    if (sheet->output.copy_fd > 0)
        close(sheet->output.copy_fd);
    sheet->output.fd = -1;
    sheet->output.copy_fd = 0;
}

bool ps_run_sheet_gone(const struct ps_run_sheet *sheet) {
    struct stat status;
    return sheet->path[0] && fstat(sheet->output.fd, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_nlink == 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Bytes of a JSON writer, passed on a line at a time. */
struct lines {
    struct ps_output *output;
    char *data;
    size_t length, room;
};

static int put_lines(void *target, const char *data, size_t length) {
    struct lines *lines = target;
    if (lines->room - lines->length < length) {
        size_t room = lines->room ? lines->room : 4096;
        while (room - lines->length < length)
            room *= 2;
        char *grown = realloc(lines->data, room);
        if (!grown)
            return -ENOMEM;
        lines->data = grown;
        lines->room = room;
    }
    memcpy(lines->data + lines->length, data, length);
    lines->length += length;
    if (length == 0 || data[length - 1] != '\n')
        return 0;
    size_t whole = lines->length - 1;
    lines->length = 0;
    return ps_output_line(lines->output, lines->data, whole, false);
}

int ps_run_sheet_begin(struct ps_run_sheet *sheet, const struct ps_setup *setup,
                       const char *const *args, size_t n_args) {
    struct lines lines = {.output = &sheet->output};
    struct ps_json_writer json;
    const struct ps_plan *plan = &setup->plan;
    const struct ps_sheet_plan stated = {
        .hash = plan->hash,
        .depth = ps_depth_name(plan->depth),
        .args = args,
        .n_args = n_args,
        .seed = plan->seed,
        .predicted_s = plan->predicted_s,
        .n_cases = plan->n_rows,
    };
    ps_json_init(&json, put_lines, &lines);
    ps_environment_write_header(setup->environment, &stated, &json);
    int error = ps_json_line_end(&json);
    if (!error) {
        ps_environment_write_source(setup->environment, &json);
        error = ps_json_line_end(&json);
    }
    if (!error)
        error = ps_plan_write(plan, "linux", &json);
    if (!error)
        error = ps_output_sync(&sheet->output);
    free(lines.data);
    return error;
}

/* A sheet that was cut off among its declarations lacks rows that its plan has. */
static int write_missing(struct ps_run_sheet *sheet, const struct ps_setup *setup,
                         const struct ps_sheet *done) {
    struct lines lines = {.output = &sheet->output};
    struct ps_json_writer json;
    int error = 0;
    ps_json_init(&json, put_lines, &lines);
    if (done->n_sources == 0) {
        ps_environment_write_source(setup->environment, &json);
        error = ps_json_line_end(&json);
    }
    if (!error)
        error = ps_plan_write_missing(&setup->plan, "linux", done, &json);
    if (!error)
        error = ps_output_sync(&sheet->output);
    free(lines.data);
    return error;
}

int ps_run_sheet_continue(struct ps_run_sheet *sheet, const struct ps_setup *setup,
                          const struct ps_sheet *done) {
    off_t length = 0;
    int error = length_of_runs(sheet->output.fd, &length);
    if (!error && ftruncate(sheet->output.fd, length) < 0)
        error = -errno;
    if (!error)
        error = write_missing(sheet, setup, done);
    if (!error)
        return PS_EXIT_OK;
    ps_complain("%s: %s", sheet->path, strerror(-error));
    return PS_EXIT_FAILED;
}

int ps_run_sheet_read(struct ps_run_sheet *sheet, struct ps_sheet **ret_content,
                      struct ps_sheet_error *ret_error) {
    char path[64];
    int fd = sheet->output.copy_fd > 0 ? sheet->output.copy_fd : sheet->output.fd;
    /* By the descriptor: the name may be gone, or another file's by now. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return ps_sheet_read(path, ret_content, ret_error);
}

int ps_run_sheet_end(struct ps_run_sheet *sheet, const struct ps_sheet *content, int exit_code) {
    struct lines lines = {.output = &sheet->output};
    struct ps_json_writer json;
    char finished[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    int error = 0;
    if (gmtime_r(&now, &tm))
        strftime(finished, sizeof(finished), "%Y-%m-%dT%H:%M:%SZ", &tm);
    ps_json_init(&json, put_lines, &lines);
    for (size_t i = 0; i < content->n_results && !error; i++) {
        ps_record_result(&json, &content->results[i]);
        error = ps_json_line_end(&json);
    }
    if (!error) {
        ps_record_end(&json, finished, exit_code, content);
        error = ps_json_line_end(&json);
    }
    if (!error)
        error = ps_output_sync(&sheet->output);
    free(lines.data);
    return error;
}
