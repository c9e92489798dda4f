/* SPDX-License-Identifier: MIT
 *
 * A file with a name, for benchmarks that open it by name, which is gone when its maker is: a
 * cleaner process in a session of its own waits for the maker's end, by whatever signal, and
 * removes the file. Killing the maker's process group does not reach it.
 */
#ifndef PS_SYS_SCRATCH_FILE_H
#define PS_SYS_SCRATCH_FILE_H

#include <stdint.h>
#include <sys/types.h>

#define PS_SCRATCH_PATH_MAX 512

struct ps_scratch_file {
    char path[PS_SCRATCH_PATH_MAX];
    int fd;        /* open for reading and writing; -1 none */
    int alive_fd;  /* the cleaner reads its other end */
    pid_t cleaner; /* 0: there is no file */
};

/* An empty file in `directory`. -ENOSPC, and nothing written, where the file system has less room
 * for this user than size_bytes + reserve_bytes; or another negative errno. */
int ps_scratch_file_init(struct ps_scratch_file *file, const char *directory, uint64_t size_bytes,
                         uint64_t reserve_bytes);
/* Removes the file and waits for the cleaner. Does nothing for one that is zeroed or done. */
void ps_scratch_file_done(struct ps_scratch_file *file);

#endif
