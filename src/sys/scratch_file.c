/* SPDX-License-Identifier: MIT
 *
 * The cleaner is started before the file is made, and is told by a pipe: its end without a word
 * means that the maker died, a byte that there is nothing to remove. Both may remove the same file.
 */
#include "sys/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each is worth the millisecond or so that killing and adopting a process takes. */
#define GENERATIONS 4

static void close_range_of(unsigned first, unsigned last) {
    if (first > last)
        return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    struct rlimit limit;
    /* Before Linux 5.9: one by one; nobody opens more than this here. */
    unsigned end = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end)
        end = (unsigned)limit.rlim_cur;
    for (unsigned fd = first; fd <= last && fd < end; fd++)
        close((int)fd);
}

/* A pipe or a file of the maker that stayed open here would keep others waiting for its end. */
static void close_all_but(unsigned a, unsigned b) {
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    if (low > 0)
        close_range_of(0, low - 1);
    close_range_of(low + 1, high - 1);
    close_range_of(high + 1, ~0u);
}

static ssize_t receive(int fd, char *ret_word) {
    ssize_t length;
    do
        length = recv(fd, ret_word, 1, 0);
    while (length < 0 && errno == EINTR);
    return length;
}

/* Goes on in a child of a child. Who kills the maker, and then at once the children that it has
 * left, comes generation by generation, and only after the time that the cleaner needs. Where it
 * can not fork, it goes on as it is. */
static void become_distant(int directory_fd, int maker_fd) {
    for (unsigned generation = 0; generation < GENERATIONS; generation++) {
        pid_t pid = fork();
        if (pid < 0)
            return;
        if (pid > 0) {
            close(directory_fd);
            close(maker_fd);
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
            _exit(0);
        }
    }
}

static _Noreturn void clean_up(int directory_fd, int maker_fd, const char *name) {
    char word;
    ssize_t length;
    setsid();
    prctl(PR_SET_NAME, "ps-cleaner");
    close_all_but((unsigned)directory_fd, (unsigned)maker_fd);
    become_distant(directory_fd, maker_fd);
    if (send(maker_fd, "", 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    length = receive(maker_fd, &word);
    if (length <= 0)
        unlinkat(directory_fd, name, 0);
    _exit(0);
}

/* The maker is done: no need to remove anything. */
static void dismiss(struct ps_scratch_file *file) {
    ssize_t written;
    do
        written = send(file->alive_fd, "", 1, MSG_NOSIGNAL);
    while (written < 0 && errno == EINTR);
    close(file->alive_fd);
    while (waitpid(file->cleaner, NULL, 0) < 0 && errno == EINTR)
        ;
    file->cleaner = 0;
    file->alive_fd = -1;
}

static int start_cleaner(struct ps_scratch_file *file, int directory_fd, const char *name) {
    int ends[2];
    char word;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        clean_up(directory_fd, ends[0], name);
    int error = -errno;
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return error;
    }
    file->cleaner = pid;
    file->alive_fd = ends[1];
    if (receive(file->alive_fd, &word) == 1)
        return 0;
    dismiss(file); /* somebody has killed it */
    return -EIO;
}

static int check_room(int directory_fd, uint64_t needed_bytes) {
    struct statvfs info;
    if (fstatvfs(directory_fd, &info) < 0)
        return -errno;
    /* A tmpfs without a limit has no blocks at all. */
    if (info.f_blocks > 0 && (uint64_t)info.f_bavail * info.f_frsize < needed_bytes)
        return -ENOSPC;
    return 0;
}

/* Hidden, and of no one else's: the process's number and 64 random bits. */
static void make_name(char *name, size_t size_bytes) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    snprintf(name, size_bytes, ".perfsheet-%ld-%016llx", (long)getpid(),
             (unsigned long long)number);
}

int ps_scratch_file_init(struct ps_scratch_file *file, const char *directory, uint64_t size_bytes,
                         uint64_t reserve_bytes) {
    char name[64];
    int error;
    memset(file, 0, sizeof(*file));
    file->fd = file->alive_fd = -1;
    make_name(name, sizeof(name));
    int length = snprintf(file->path, sizeof(file->path), "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof(file->path))
        return -ENAMETOOLONG;
    int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return -errno;
    error = check_room(directory_fd, size_bytes + reserve_bytes);
    if (error < 0)
        goto out;
    error = start_cleaner(file, directory_fd, name);
    if (error < 0)
        goto out;
    file->fd = openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0) {
        error = -errno;
        dismiss(file);
    }
out:
    close(directory_fd);
    return error;
}

void ps_scratch_file_done(struct ps_scratch_file *file) {
    if (file->cleaner == 0)
        return;
    close(file->fd);
    file->fd = -1;
    unlink(file->path);
    dismiss(file);
}
