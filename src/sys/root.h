/* SPDX-License-Identifier: MIT
 *
 * Where /proc, /sys and /dev are read from. Tests replace the root; benchmarks never run under one.
 */
#ifndef PS_SYS_ROOT_H
#define PS_SYS_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_PATH_BYTES 1024 /* of a path below a root, root and NUL included */

/* Every probe takes a `root`: "" for this machine, else a directory in front of "/proc/...". */
bool ps_root_is_real(const char *root);

/* root + path. 0 or -ENAMETOOLONG. */
int ps_root_path(const char *root, const char *path, char *text, size_t size_bytes);

/* Reads a small file (whole, NUL-terminated, trailing newline cut) below root. Bytes read, or a
 * negative errno; -EFBIG when it does not fit. */
int ps_read_text(const char *root, const char *path, char *text, size_t size_bytes);
/* The same for a file of any size (/proc/stat of a big machine). The caller frees *ret_text. */
int ps_read_whole(const char *root, const char *path, char **ret_text, size_t *ret_length);
/* A decimal number in a file. 0 or a negative errno (-EINVAL: not a number). */
int ps_read_i64(const char *root, const char *path, int64_t *ret_value);
/* The number behind a key at the start of a line ("nr_throttled 3", "MemTotal:  12 kB"). */
bool ps_text_key_u64(const char *text, const char *key, uint64_t *ret_value);

#endif
