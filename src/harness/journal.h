/* SPDX-License-Identifier: MIT
 *
 * The journal of changes to the user's machine: what was there before, who changed it. A record is
 * on the disk before the change is made.
 */
#ifndef PS_HARNESS_JOURNAL_H
#define PS_HARNESS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PS_JOURNAL_PATH_MAX 512
#define PS_JOURNAL_VALUE_MAX 256

/* Where the journal lives when nobody says: /run for root, else $XDG_RUNTIME_DIR, else a directory
 * of the user's own below /tmp, made when `create`. 0 or a negative errno. */
int ps_journal_path(bool create, char *ret_path, size_t size_bytes);

/* Creates the journal and locks it; the lock lasts as long as the fd is open in any process. 0 and
 * *ret_fd, -EEXIST when one is there already, or a negative errno. */
int ps_journal_create(const char *path, int *ret_fd);
/* Appends a record and syncs it. 0 or a negative errno. */
int ps_journal_add(int fd, const char *path, const char *old_value);

/* Removes the journal, and its directory where that was made for it. */
void ps_journal_remove(const char *path);

/* Writes `value` into the file at `path`, which must exist. 0 or a negative errno. */
int ps_journal_write_value(const char *path, const char *value);
/* The file's first line. 0 or a negative errno; -EFBIG when it is longer than a value may be. */
int ps_journal_read_value(const char *path, char *ret_value, size_t size_bytes);

#endif
