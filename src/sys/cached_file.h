/* SPDX-License-Identifier: MIT
 *
 * A scratch file that is in the page cache, and the proof of it: what is read from it comes from
 * memory and not from a medium.
 */
#ifndef PS_SYS_CACHED_FILE_H
#define PS_SYS_CACHED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/bench.h"
#include "sys/scratch_file.h"

struct ps_cached_file {
    struct ps_scratch_file scratch;
    void *map; /* of the whole file, shared and read-only; never touched here */
    size_t size_bytes;
    unsigned long sum;     /* of its words of the size of a long, modulo their width */
    uint64_t medium_reads; /* of this process before the file was read; blocks of 512 bytes */
};

/* Makes a file of size_bytes (a multiple of sizeof(long)) in `directory`, fills it with numbers
 * made of `seed`, and has it written to the medium. `reserve_bytes` of the file system are left to
 * others. 0, -ENOSPC or -EDQUOT where there is no room, or another negative errno; after an error
 * ps_cached_file_done is to be called all the same. */
int ps_cached_file_init(struct ps_cached_file *file, const char *directory, size_t size_bytes,
                        uint64_t reserve_bytes, uint64_t seed);
/* Is every page of the file in the page cache (mincore), and has this process read nothing from a
 * medium since ps_cached_file_init (ru_inblock, where the kernel counts it)? Returns 0; -ENODATA
 * with the number of pages that are missing (0: they are there again, but were read in between); or
 * the negative errno of a kernel that can not tell (-ENODEV: this file system maps no files). */
int ps_cached_file_check(const struct ps_cached_file *file, size_t *ret_missing_pages);
/* Removes the file. Does nothing for one that is zeroed or done. */
void ps_cached_file_done(struct ps_cached_file *file);

/* ---- For the tables that read such files ----------------------------------------------------- */

/* The params that say where the file is and how it is read, and the status of a case that has no
 * room or no directory there. False when there is no such directory. */
bool ps_cached_file_place(struct ps_case *c, const struct ps_target *target, size_t size_bytes);
/* ps_cached_file_init in the case's directory; ends the run with a sentence when that fails. */
int ps_cached_file_setup(struct ps_cached_file *file, struct ps_run *run, size_t size_bytes);
/* ps_cached_file_check; ends the run with a sentence when the file is not in the page cache. */
int ps_cached_file_prove(const struct ps_cached_file *file, struct ps_run *run);

#endif
