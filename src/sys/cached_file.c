/* SPDX-License-Identifier: MIT
 *
 * mincore(2) tells of a mapping which of its pages are in the page cache, whether they were touched
 * or not. Since Linux 5.2 it tells the truth only to who may write the file, as this process may;
 * to others it calls all pages cached.
 */
#include "sys/cached_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Left free beside the file: nobody's board is filled up by a benchmark. */
#define RESERVE_BYTES 64000000u
#define FILL_WORDS 1024u
#define PAGES_AT_ONCE 1024u

static const char no_room[] =
    "the file system has less free than the file and 64 MB that are left alone: free some, or name "
    "another --target";

static int write_all(int fd, const void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(fd, (const char *)data + done, bytes - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        done += (size_t)written;
    }
    return 0;
}

/* Numbers in which all bits change, and none repeats within a file. */
static int fill(struct ps_cached_file *file, uint64_t seed) {
    unsigned long words[FILL_WORDS];
    uint64_t value = seed;
    for (size_t left = file->size_bytes / sizeof(words[0]); left > 0;) {
        size_t n = left < FILL_WORDS ? left : FILL_WORDS;
        for (size_t i = 0; i < n; i++) {
            value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            words[i] = (unsigned long)(value >> 16);
            file->sum += words[i];
        }
        int error = write_all(file->scratch.fd, words, n * sizeof(words[0]));
        if (error < 0)
            return error;
        left -= n;
    }
    /* Or the kernel writes it to the medium while it is read. */
    return fsync(file->scratch.fd) < 0 && errno != EINVAL ? -errno : 0;
}

static uint64_t medium_reads(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_inblock : 0;
}

int ps_cached_file_init(struct ps_cached_file *file, const char *directory, size_t size_bytes,
                        uint64_t reserve_bytes, uint64_t seed) {
    memset(file, 0, sizeof(*file));
    file->scratch.fd = file->scratch.alive_fd = -1;
    if (size_bytes == 0 || size_bytes % sizeof(unsigned long) != 0)
        return -EINVAL;
    int error = ps_scratch_file_init(&file->scratch, directory, size_bytes, reserve_bytes);
    if (error < 0)
        return error;
    file->size_bytes = size_bytes;
    error = fill(file, seed);
    if (error < 0)
        return error;
    void *map = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, file->scratch.fd, 0);
    if (map == MAP_FAILED) {
        /* Not an error of the file: who only read()s it may do without the proof. */
        error = errno == ENODEV ? 0 : -errno;
        map = NULL;
    }
    file->map = map;
    file->medium_reads = medium_reads();
    return error;
}

int ps_cached_file_check(const struct ps_cached_file *file, size_t *ret_missing_pages) {
    unsigned char pages[PAGES_AT_ONCE];
    long page = sysconf(_SC_PAGESIZE);
    size_t page_bytes = page > 0 ? (size_t)page : 4096, missing = 0;
    *ret_missing_pages = 0;
    if (file->map == NULL)
        return -ENODEV;
    for (size_t at = 0; at < file->size_bytes; at += PAGES_AT_ONCE * page_bytes) {
        size_t left = file->size_bytes - at;
        size_t bytes = left < PAGES_AT_ONCE * page_bytes ? left : PAGES_AT_ONCE * page_bytes;
        if (mincore((char *)file->map + at, bytes, pages) < 0)
            return -errno;
        for (size_t i = 0; i < (bytes + page_bytes - 1) / page_bytes; i++)
            missing += (pages[i] & 1) == 0;
    }
    *ret_missing_pages = missing;
    return missing > 0 || medium_reads() != file->medium_reads ? -ENODATA : 0;
}

void ps_cached_file_done(struct ps_cached_file *file) {
    if (file->map != NULL)
        munmap(file->map, file->size_bytes);
    file->map = NULL;
    ps_scratch_file_done(&file->scratch);
}

/* ---- For the tables -------------------------------------------------------------------------- */

bool ps_cached_file_place(struct ps_case *c, const struct ps_target *target, size_t size_bytes) {
    c->place.target = target->name;
    ps_case_param(c, "size_bytes", (int64_t)size_bytes);
    ps_case_param_text(c, "filesystem",
                       target->filesystem != NULL ? target->filesystem : "unknown");
    /* Whatever the file system is, and whether it could read past the cache or not. */
    ps_case_param_text(c, "access", "buffered, from the page cache");
    c->predicted_ms = 5; /* the file is written, and synced */
    if (target->path == NULL) {
        c->status = PS_SKIPPED;
        c->reason = target->why != NULL ? target->why : "the target has no writable directory";
        return false;
    }
    ps_case_param_text(c, "directory", target->path);
    if (target->free_bytes > 0 && target->free_bytes < size_bytes + RESERVE_BYTES) {
        c->status = PS_SKIPPED;
        c->reason = no_room;
    }
    return true;
}

int ps_cached_file_setup(struct ps_cached_file *file, struct ps_run *run, size_t size_bytes) {
    const char *directory = ps_case_text(ps_run_case(run), "directory");
    if (directory == NULL)
        return ps_run_end(run, PS_FAILED, 0, "the case has no directory");
    int error = ps_cached_file_init(file, directory, size_bytes, RESERVE_BYTES, ps_run_seed(run));
    switch (-error) {
    case 0:
        return 0;
    case ENOSPC:
    case EDQUOT:
        return ps_run_end(run, PS_SKIPPED, -error, no_room);
    case EACCES:
    case EPERM:
    case EROFS:
        return ps_run_end(run, PS_DENIED, -error,
                          "no file may be made in the target's directory: name another --target");
    default:
        return ps_run_end(run, PS_FAILED, -error, "the file could not be written");
    }
}

int ps_cached_file_prove(const struct ps_cached_file *file, struct ps_run *run) {
    size_t missing;
    int error = ps_cached_file_check(file, &missing);
    if (error == -ENODATA)
        return ps_run_end(run, PS_FAILED, 0,
                          missing > 0 ? "pages of the file are not in the page cache: free some "
                                        "memory, or name a --target whose file system caches"
                                      : "the file was read from its medium while it was timed: "
                                        "free some memory");
    if (error == -ENODEV)
        return ps_run_end(run, PS_UNSUPPORTED, -error,
                          "the target's file system can not map a file, and so nothing can prove "
                          "that it is in the page cache: name another --target");
    if (error < 0)
        return ps_run_end(run, PS_FAILED, -error,
                          "the kernel does not tell what is in the page cache");
    return 0;
}
