/* SPDX-License-Identifier: MIT
 *
 * Reads files of /proc and /sys, of this machine or of a directory that stands for one.
 */
#include "sys/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Files beyond 2 GiB on 32-bit machines as well: everywhere, or offsets do not agree. */
_Static_assert(sizeof(off_t) == 8, "built without _FILE_OFFSET_BITS=64");

bool ps_root_is_real(const char *root) {
    return root == NULL || root[0] == '\0';
}

int ps_root_path(const char *root, const char *path, char *text, size_t size_bytes) {
    int length = snprintf(text, size_bytes, "%s%s", root == NULL ? "" : root, path);
    return length < 0 || (size_t)length >= size_bytes ? -ENAMETOOLONG : 0;
}

static int open_below(const char *root, const char *path) {
    char full[PS_PATH_BYTES];
    int r = ps_root_path(root, path, full, sizeof full);
    if (r < 0) {
        return r;
    }
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Reads until the end or until the buffer is full. Bytes or -errno. */
static ssize_t read_fully(int fd, char *data, size_t size_bytes) {
    size_t length = 0;
    while (length < size_bytes) {
        ssize_t n = read(fd, data + length, size_bytes - length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        if (n == 0) {
            break;
        }
        length += (size_t)n;
    }
    return (ssize_t)length;
}

static size_t cut_newlines(char *text, size_t length) {
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    text[length] = '\0';
    return length;
}

int ps_read_text(const char *root, const char *path, char *text, size_t size_bytes) {
    if (size_bytes == 0) {
        return -EFBIG;
    }
    int fd = open_below(root, path);
    if (fd < 0) {
        return fd;
    }
    ssize_t length = read_fully(fd, text, size_bytes);
    close(fd);
    if (length < 0) {
        return (int)length;
    }
    if ((size_t)length >= size_bytes) {
        return -EFBIG;
    }
    return (int)cut_newlines(text, (size_t)length);
}

int ps_read_whole(const char *root, const char *path, char **ret_text, size_t *ret_length) {
    /* /proc files have no size. One read that holds everything is one snapshot of the kernel's; so
     * the buffer starts at what all but very large machines need. */
    size_t size_bytes = 32768, length = 0;
    int fd = open_below(root, path), r = 0;
    if (fd < 0) {
        return fd;
    }
    char *text = malloc(size_bytes);
    while (text != NULL) {
        ssize_t n = read_fully(fd, text + length, size_bytes - length);
        if (n < 0) {
            r = (int)n;
            goto out;
        }
        length += (size_t)n;
        if (length < size_bytes) {
            break;
        }
        size_bytes *= 2;
        char *larger = realloc(text, size_bytes);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    if (text == NULL) {
        r = -ENOMEM;
        goto out;
    }
    *ret_length = cut_newlines(text, length);
    *ret_text = text;
    text = NULL;
out:
    free(text);
    close(fd);
    return r;
}

int ps_read_i64(const char *root, const char *path, int64_t *ret_value) {
    char text[64], *end;
    int length = ps_read_text(root, path, text, sizeof text);
    if (length < 0) {
        return length;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text) {
        return -EINVAL;
    }
    while (*end == ' ' || *end == '\t' || *end == '\n') {
        end++;
    }
    if (*end != '\0') {
        return -EINVAL;
    }
    *ret_value = (int64_t)value;
    return 0;
}

bool ps_text_key_u64(const char *text, const char *key, uint64_t *ret_value) {
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0) {
            continue;
        }
        const char *at = line + length;
        if (*at != ' ' && *at != '\t' && *at != ':') {
            continue; /* only the beginning of a longer key */
        }
        at += strspn(at, ": \t");
        if (*at < '0' || *at > '9') {
            return false;
        }
        *ret_value = strtoull(at, NULL, 10);
        return true;
    }
    return false;
}
