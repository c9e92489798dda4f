/* SPDX-License-Identifier: MIT
 *
 * Lines to the sheet: one write a record, synced once a second. A line that could not be written
 * whole is taken back, so that what stands in the file is always a sheet.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/runner.h"
#include "sys/clock_speed.h"
#include "sys/process.h"

#define PS_SYNC_NS UINT64_C(1000000000)

/* One writev; what a short write left over (a full pipe, a signal) follows. */
static int write_line(int fd, const char *line, size_t length) {
    char newline[] = "\n";
    struct iovec pieces[2] = {{.iov_base = newline, .iov_len = 1},
                              {.iov_base = newline, .iov_len = 1}};
    memcpy(&pieces[0].iov_base, &line, sizeof(line)); /* writev() writes to none of them */
    pieces[0].iov_len = length;
    ssize_t n;
    do
        n = writev(fd, pieces, 2);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN)
        return -errno;
    size_t written = n < 0 ? 0 : (size_t)n;
    if (written < length) {
        int error = ps_write_all(fd, line + written, length - written);
        if (error)
            return error;
        written = length;
    }
    return written == length ? ps_write_all(fd, "\n", 1) : 0;
}

int ps_output_sync(struct ps_output *output) {
    if (output->error)
        return output->error;
    output->synced_ns = ps_now_ns();
    /* Pipes, sockets and some filesystems cannot be synced, which is no fault of the sheet's. */
    if (fdatasync(output->fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOSYS &&
        errno != EINTR)
        output->error = -errno;
    return output->error;
}

int ps_output_line(struct ps_output *output, const char *line, size_t length, bool sync) {
    if (output->error)
        return output->error;

    off_t before = lseek(output->fd, 0, SEEK_END); /* -1: a pipe, where nothing can be taken back */
    int error = write_line(output->fd, line, length);
    if (error && before >= 0 && ftruncate(output->fd, before) == 0)
        (void)lseek(output->fd, before, SEEK_SET);
    if (!error && output->copy_fd > 0)
        error = write_line(output->copy_fd, line, length);

    output->error = error;
    if (!error && (sync || ps_now_ns() - output->synced_ns >= PS_SYNC_NS))
        error = ps_output_sync(output);
    return error;
}
