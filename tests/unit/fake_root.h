/* SPDX-License-Identifier: MIT
 *
 * A directory that stands for "/", made file by file and removed at the end.
 */
#ifndef PS_TESTS_FAKE_ROOT_H
#define PS_TESTS_FAKE_ROOT_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_root {
    char path[128];
};

static inline void fake_root_init(struct fake_root *root) {
    const char *tmp = getenv("TMPDIR");
    snprintf(root->path, sizeof root->path, "%.90s/ps_root_XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(root->path) == NULL) {
        abort();
    }
}

static inline int fake_root_remove(const char *path, const struct stat *s, int type,
                                   struct FTW *f) {
    (void)s, (void)type, (void)f;
    return remove(path);
}

static inline void fake_root_done(struct fake_root *root) {
    nftw(root->path, fake_root_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes `text` to root + the path that is printed from format; makes the directories. */
__attribute__((format(printf, 3, 4))) static inline void
fake_file(const struct fake_root *root, const char *text, const char *format, ...) {
    char path[512];
    va_list arguments;
    size_t length = strlen(root->path);
    memcpy(path, root->path, length);
    va_start(arguments, format);
    vsnprintf(path + length, sizeof path - length, format, arguments);
    va_end(arguments);
    for (char *slash = path + length + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        abort();
    }
}

#endif
