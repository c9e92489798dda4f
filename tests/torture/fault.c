/* SPDX-License-Identifier: MIT
 *
 * Preloaded into perfsheet, makes one of its calls fail:
 *
 *   PS_FAULT_KIND  alloc  malloc, calloc, realloc, aligned ones, anonymous mmap: ENOMEM. What libc
 *                         allocates for itself (fopen, opendir, getline, strdup) is among it.
 *                  open   open, openat, opendir, fopen, socketpair, pipe2, memfd_create: EMFILE
 *                  write  write, pwrite, writev: ENOSPC; fsync, fdatasync: EIO
 *                  full   the same calls; half of the write is done, and every later one of that
 *                         file fails: a disk that fills up
 *                  fork   fork: EAGAIN (vfork and posix_spawn, of lat_proc alone, are let be)
 *   PS_FAULT_AT    which call of the kind, from 1
 *   PS_FAULT_MARK  a file that is made when the fault fires, with the calls that led to it; while
 *                  it is there, no fault fires
 *   PS_FAULT_IN    parent (default), or child: the processes that perfsheet starts with --child
 *
 * stdio writes from inside libc, where nothing can be preloaded: /dev/full is for that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES_MAX 24
#define NO_FILE (-1)

/* glibc's own, which need no dlsym() (that allocates). */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;
static long fault_at;
static pid_t armed_pid; /* 0: nothing fails here; forked children are not the process */
static const char *mark;
static char kind;
static atomic_int full_fd = NO_FILE;

__attribute__((constructor)) static void arm(void) {
    const char *word = getenv("PS_FAULT_KIND"), *at = getenv("PS_FAULT_AT");
    const char *in = getenv("PS_FAULT_IN");
    char line[4096] = "";
    void *frames[FRAMES_MAX];
    mark = getenv("PS_FAULT_MARK");
    if (!word || !at || !mark)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    /* Of the programs that are started in a run, only perfsheet itself and its --child count. */
    const char *first = length > 0 ? line + strlen(line) + 1 : line;
    const char *name = strrchr(line, '/');
    name = name ? name + 1 : line;
    bool child = strcmp(first, "--child") == 0;
    if (strncmp(name, "perfsheet", 9) != 0 || strcmp(first, "--exit-code") == 0 ||
        child != (in && strcmp(in, "child") == 0))
        return;
    backtrace(frames, FRAMES_MAX); /* loads what it needs now, not in a malloc() */
    /* full and fork begin with one letter: 'F' is a disk. */
    kind = strcmp(word, "full") == 0 ? 'F' : word[0];
    fault_at = strtol(at, NULL, 10);
    atomic_store(&calls, 0);
    armed_pid = getpid();
}

/* Whether this call of the kind is the one; the mark is there then. */
static bool fires(char of_kind) {
    void *frames[FRAMES_MAX];
    if (kind != of_kind || armed_pid == 0 || atomic_fetch_add(&calls, 1) + 1 != fault_at ||
        getpid() != armed_pid)
        return false;
    int fd =
        (int)syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    kind = of_kind == 'F' ? 'F' : 0;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), fd);
    syscall(SYS_close, fd);
    return true;
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool no_memory(void) {
    if (!fires('a'))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return no_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    return no_memory() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return no_memory() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size) {
    void *memory = fires('a') ? NULL : __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *ret = memory;
    return 0;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_ANONYMOUS) && no_memory())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    return mmap(at, length, protection, flags, fd, offset);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static bool no_descriptor(void) {
    if (!fires('o'))
        return false;
    errno = EMFILE;
    return true;
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    if (no_descriptor())
        return -1;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define MODE_OF(flags, mode)                                                                       \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        if ((flags) & (O_CREAT | O_TMPFILE))                                                       \
            mode = va_arg(arguments, mode_t);                                                      \
        va_end(arguments);                                                                         \
    } while (0)

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(directory, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *) = next("fopen");
    return no_descriptor() ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    return fopen(path, mode);
}

/* <dirent.h> is left out: its prototype is of DIR, and this needs none of it. */
void *opendir(const char *path) {
    void *(*real)(const char *) = next("opendir");
    return no_descriptor() ? NULL : real(path);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    return no_descriptor() ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}

int pipe2(int ends[2], int flags) {
    return no_descriptor() ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int memfd_create(const char *name, unsigned flags) {
    return no_descriptor() ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

/* ---- Writes ---------------------------------------------------------------------------------- */

/* Bytes of this write that are let through, or -1: all. */
static ssize_t allowance(int fd, size_t length) {
    if (fires('w'))
        return 0;
    if (fd == atomic_load(&full_fd))
        return 0;
    if (atomic_load(&full_fd) == NO_FILE && fires('F')) {
        atomic_store(&full_fd, fd);
        return (ssize_t)(length / 2);
    }
    return -1;
}

static ssize_t no_space(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t write(int fd, const void *data, size_t length) {
    ssize_t allowed = allowance(fd, length);
    if (allowed == 0)
        return no_space();
    return syscall(SYS_write, fd, data, allowed > 0 ? (size_t)allowed : length);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    ssize_t allowed = allowance(fd, length);
    if (allowed == 0)
        return no_space();
    return syscall(SYS_pwrite64, fd, data, allowed > 0 ? (size_t)allowed : length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    return pwrite(fd, data, length, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int n) {
    ssize_t allowed = n > 0 ? allowance(fd, pieces[0].iov_len) : -1;
    if (allowed == 0)
        return no_space();
    if (allowed > 0)
        return syscall(SYS_write, fd, pieces[0].iov_base, allowed);
    return syscall(SYS_writev, fd, pieces, n);
}

int fsync(int fd) {
    if (fires('w')) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    if (fires('w')) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---- Processes ------------------------------------------------------------------------------- */

pid_t fork(void) {
    pid_t (*real)(void) = (pid_t(*)(void))next("fork");
    if (fires('f')) {
        errno = EAGAIN;
        return -1;
    }
    return real();
}
