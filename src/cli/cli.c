/* SPDX-License-Identifier: MIT
 *
 * Messages and streams of the command line.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/verbs.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_LEAST 40 /* narrower than a name and its value: lines may wrap then */
#define COLUMNS_MOST 200

void ps_complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("perfsheet: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void ps_tell(const struct ps_invocation *invocation, const char *format, ...) {
    if (invocation->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void ps_tell_note(void *invocation, const char *note) {
    ps_tell(invocation, "note: %s", note);
}

int ps_usage(const struct ps_invocation *invocation, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("perfsheet: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (invocation->verb)
        fprintf(stderr, "\nTry 'perfsheet %s --help'.\n", invocation->verb->name);
    else
        fputs("\nTry 'perfsheet --help'.\n", stderr);
    return PS_EXIT_USAGE;
}

static int write_stream(void *target, const char *data, size_t length) {
    return fwrite(data, 1, length, target) == length ? 0 : errno ? -errno : -EIO;
}

void ps_json_to_stream(struct ps_json_writer *json, FILE *stream) {
    ps_json_init(json, write_stream, stream);
}

int ps_finish_stdout(int code) {
    errno = 0;
    bool bad = fflush(stdout) != 0;
    int error = errno;
    bad = ferror(stdout) || bad;
    if (!bad)
        return code;
    struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
    /* An earlier write failed, and what it was has been forgotten. */
    if (error == 0 && poll(&reader, 1, 0) == 1 && reader.revents & POLLERR)
        error = EPIPE;
    if (error != EPIPE)
        ps_complain("cannot write to stdout%s%s", error ? ": " : "", error ? strerror(error) : "");
    return error == EPIPE ? code : PS_EXIT_FAILED;
}

unsigned ps_stream_width(FILE *stream) {
    const char *text = getenv("COLUMNS");
    struct winsize size = {0};
    unsigned long columns = text && *text >= '0' && *text <= '9' ? strtoul(text, NULL, 10) : 0;
    if (columns == 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0)
        return COLUMNS_DEFAULT;
    if (columns < COLUMNS_LEAST)
        return COLUMNS_LEAST;
    return columns > COLUMNS_MOST ? COLUMNS_MOST : (unsigned)columns;
}

bool ps_stream_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_colour && *no_colour) || !isatty(fileno(stream)))
        return false;
    return terminal && *terminal && strcmp(terminal, "dumb") != 0;
}
