/* SPDX-License-Identifier: MIT
 *
 * ingest: the framed serial output of a board, recorded or live, to a sheet.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/ingest.h"

static void tell_counts(const struct ps_invocation *invocation,
                        const struct ps_ingest_counts *counts) {
    ps_tell(invocation, "%llu lines from %llu frames", (unsigned long long)counts->lines,
            (unsigned long long)counts->frames);
    if (counts->damaged + counts->missing + counts->lost_lines + counts->malformed > 0)
        ps_tell(invocation, "%llu frames damaged, %llu missing, %llu lines lost, %llu malformed",
                (unsigned long long)counts->damaged, (unsigned long long)counts->missing,
                (unsigned long long)counts->lost_lines, (unsigned long long)counts->malformed);
}

/* A row whose runs did not come is aborted in the sheet; why, only the stream could say. */
static int judge_end(const char *input, const struct ps_ingest_counts *counts) {
    if (counts->whole)
        return PS_EXIT_OK;
    if (!counts->finished && counts->runs >= counts->said_runs)
        ps_complain("%s: the stream ended without its finish record: more may have been sent",
                    input);
    else if (!counts->finished)
        ps_complain("%s: the stream ended early: %llu of %llu runs", input,
                    (unsigned long long)counts->runs, (unsigned long long)counts->said_runs);
    else
        ps_complain("%s: lines were lost: %llu of %llu cases, %llu of %llu runs", input,
                    (unsigned long long)counts->cases, (unsigned long long)counts->said_cases,
                    (unsigned long long)counts->runs, (unsigned long long)counts->said_runs);
    return PS_EXIT_FAILED;
}

static void remove_empty(const char *path, int fd) {
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        (void)unlink(path);
}

int ps_cmd_ingest(struct ps_invocation *invocation) {
    const struct ps_arguments *arguments = &invocation->arguments;
    const char *output = ps_option_value(arguments, "output");
    if (arguments->n_words != 1)
        return ps_usage(invocation, "ingest wants one FILE, or '-'");
    if (!output)
        return ps_usage(invocation, "ingest wants -o FILE for the sheet, or -o -");
    const char *input = arguments->words[0];
    int code = PS_EXIT_FAILED;
    int output_fd = STDOUT_FILENO;
    int input_fd =
        strcmp(input, "-") == 0 ? STDIN_FILENO : open(input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input_fd < 0) {
        ps_complain("%s: %s", input, strerror(errno));
        return PS_EXIT_FAILED;
    }
    if (strcmp(output, "-") != 0)
        output_fd = open(output, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output_fd < 0) {
        code = errno == EEXIST ? ps_usage(invocation, "%s exists; it is not overwritten", output)
                               : PS_EXIT_FAILED;
        if (code == PS_EXIT_FAILED)
            ps_complain("%s: %s", output, strerror(errno));
        goto out;
    }
    struct ps_ingest_counts counts = {0};
    int error = ps_ingest(input_fd, output_fd, &counts);
    tell_counts(invocation, &counts);
    if (error == -EBADMSG)
        ps_complain("%s: no whole line of a sheet in it", input);
    else if (error && error != -EPIPE)
        ps_complain("%s: %s", input, strerror(-error));
    if (!error)
        code = judge_end(input, &counts);
    else if (output_fd > STDOUT_FILENO)
        remove_empty(output, output_fd);
out:
    if (input_fd > STDIN_FILENO)
        close(input_fd);
    if (output_fd > STDOUT_FILENO && close(output_fd) < 0 && code == PS_EXIT_OK) {
        ps_complain("%s: %s", output, strerror(errno));
        code = PS_EXIT_FAILED;
    }
    return code;
}
