/* SPDX-License-Identifier: MIT
 *
 * Keys differ from architecture to architecture ("model name", "Model", "uarch"), so the caller
 * asks for one.
 */
#include "sys/cpuinfo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* More than any kernel prints of one CPU; what follows is the next CPU's. */
#define FIRST_CPU_BYTES 8192

void ps_copy_printable(char *to, size_t to_bytes, const char *from) {
    size_t length = 0;
    for (; *from && length + 1 < to_bytes; from++) {
        unsigned char c = (unsigned char)*from;
        if (c >= ' ' && c < 0x7f && !(c == ' ' && (length == 0 || to[length - 1] == ' ')))
            to[length++] = (char)c;
    }
    while (length > 0 && to[length - 1] == ' ')
        length--;
    to[length] = 0;
}

bool ps_cpuinfo_value(const char *root, const char *key, char *value, size_t value_bytes) {
    char path[PATH_MAX], text[FIRST_CPU_BYTES];
    snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    size_t key_length = strlen(key);
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        if (strncmp(line, key, key_length) != 0)
            continue;
        const char *colon = line + key_length + strspn(line + key_length, " \t");
        if (*colon != ':')
            continue;
        ps_copy_printable(value, value_bytes, colon + 1);
        return true;
    }
    return false;
}
