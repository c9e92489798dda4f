/* SPDX-License-Identifier: MIT
 *
 * report: sheets in, a page out.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"

/* Reads all of them into the first. 0 or an exit code after a complaint. */
static int read_sheets(const struct ps_arguments *arguments, struct ps_sheet **sheets) {
    for (size_t i = 0; i < arguments->n_words; i++) {
        const char *path = arguments->words[i];
        struct ps_sheet_error where = {0};
        int error = ps_sheet_read(path, &sheets[i], &where);
        if (error == -EINVAL) {
            ps_complain("%s:%zu:%zu: %s", path, where.line, where.column, where.what);
            return PS_EXIT_FAILED;
        }
        if (!error && i > 0) {
            size_t before = sheets[0]->n_repeated;
            error = ps_sheet_merge(sheets[0], sheets[i]);
            size_t repeated = sheets[0]->n_repeated - before;
            if (repeated > 0)
                ps_complain("%s: %zu of its %zu runs are in a sheet before it: they count once",
                            path, repeated, sheets[i]->n_runs);
        }
        if (error) {
            ps_complain("%s: %s", path, strerror(-error));
            return PS_EXIT_FAILED;
        }
    }
    return PS_EXIT_OK;
}

static int open_output(const struct ps_invocation *invocation, FILE **ret_stream) {
    const char *path = ps_option_value(&invocation->arguments, "output");
    *ret_stream = stdout;
    if (!path || strcmp(path, "-") == 0)
        return PS_EXIT_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return ps_usage(invocation, "%s exists; it is not overwritten", path);
    *ret_stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (*ret_stream)
        return PS_EXIT_OK;
    ps_complain("%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return PS_EXIT_FAILED;
}

static int print(const struct ps_sheet *sheet, const char *format,
                 const struct ps_report_options *options, FILE *stream) {
    if (strcmp(format, "md") == 0)
        return ps_report_md(sheet, stream);
    if (strcmp(format, "json") == 0)
        return ps_report_json(sheet, stream);
    return ps_report_terminal(sheet, options, stream);
}

int ps_cmd_report(struct ps_invocation *invocation) {
    const struct ps_arguments *arguments = &invocation->arguments;
    const char *format = ps_option_value(arguments, "format");
    FILE *stream = NULL;
    if (!format)
        format = "terminal";
    if (arguments->n_words == 0)
        return ps_usage(invocation, "no sheet was named");
    if (strcmp(format, "terminal") != 0 && strcmp(format, "md") != 0 && strcmp(format, "json") != 0)
        return ps_usage(invocation, "--format is terminal, md or json, not '%.40s'", format);
    struct ps_sheet **sheets = calloc(arguments->n_words, sizeof(struct ps_sheet *));
    if (!sheets) {
        ps_complain("not enough memory");
        return PS_EXIT_FAILED;
    }
    int code = read_sheets(arguments, sheets);
    if (!code)
        code = open_output(invocation, &stream);
    if (!code) {
        const struct ps_report_options options = {
            .all = ps_option_given(arguments, "all"),
            .colour = ps_stream_colour(stream),
            .width = ps_stream_width(stream),
            .path = arguments->n_words == 1 && strcmp(arguments->words[0], "-") != 0
                        ? arguments->words[0]
                        : NULL,
            .program = invocation->program,
        };
        int error = print(sheets[0], format, &options, stream);
        if (error) {
            ps_complain("%s", strerror(-error));
            code = PS_EXIT_FAILED;
        }
    }
    if (stream && stream != stdout && fclose(stream) != 0) {
        ps_complain("cannot write: %s", strerror(errno));
        code = PS_EXIT_FAILED;
    }
    /* The first points into those that were merged into it, so it goes first. */
    for (size_t i = 0; i < arguments->n_words; i++)
        ps_sheet_free(sheets[i]);
    free(sheets);
    return ps_finish_stdout(code);
}
