/* SPDX-License-Identifier: MIT
 *
 * How checks say what they found, and how they look.
 */
#include "doctor/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/root.h"

void ps_seen(struct ps_finding *finding, enum ps_verdict verdict, const char *format, ...) {
    va_list arguments;
    finding->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(finding->seen, sizeof(finding->seen), format, arguments);
    va_end(arguments);
}

void ps_spoils(struct ps_finding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->spoils, sizeof(finding->spoils), format, arguments);
    va_end(arguments);
}

void ps_mend(struct ps_finding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->mend, sizeof(finding->mend), format, arguments);
    va_end(arguments);
}

bool ps_look_i64(const struct ps_machine *machine, const char *path, int64_t *ret_value,
                 struct ps_finding *finding) {
    int r = ps_read_i64(machine->root, path, ret_value);
    if (r == -EINVAL)
        ps_seen(finding, PS_UNKNOWN, "%s holds no number", path);
    else if (r < 0)
        ps_seen(finding, PS_UNKNOWN, "%s: %s", path, strerror(-r));
    return r == 0;
}

bool ps_look_text(const struct ps_machine *machine, const char *path, char *text, size_t text_bytes,
                  struct ps_finding *finding) {
    int r = ps_read_text(machine->root, path, text, text_bytes);
    if (r < 0)
        ps_seen(finding, PS_UNKNOWN, "%s: %s", path, strerror(-r));
    return r >= 0;
}

bool ps_look_exists(const struct ps_machine *machine, const char *path) {
    char full[PS_PATH_BYTES];
    struct stat status;
    return ps_root_path(machine->root, path, full, sizeof(full)) == 0 && stat(full, &status) == 0;
}

bool ps_chosen_word(const char *text, char *word, size_t word_bytes) {
    const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return false;
    snprintf(word, word_bytes, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

bool ps_boot_option(const struct ps_machine *machine, const char *option, char *value,
                    size_t value_bytes) {
    char *text;
    size_t length = strlen(option), text_length;
    bool found = false;
    if (ps_read_whole(machine->root, "/proc/cmdline", &text, &text_length) < 0)
        return false;
    for (const char *word = text; *word && !found; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        size_t word_length = strcspn(word, " \n");
        /* The option alone, or with a value. */
        found = word_length >= length && strncmp(word, option, length) == 0 &&
                (word_length == length || word[length] == '=');
        if (found)
            snprintf(value, value_bytes, "%.*s", (int)word_length, word);
    }
    free(text);
    return found;
}

int ps_has_capability(const struct ps_machine *machine, unsigned bit) {
    static const char key[] = "\nCapEff:";
    char *text;
    size_t length;
    int r = ps_read_whole(machine->root, "/proc/self/status", &text, &length);
    if (r < 0)
        return r;
    const char *at = strstr(text, key);
    r = -ENOENT;
    if (at)
        r = (int)(strtoull(at + strlen(key), NULL, 16) >> bit & 1);
    free(text);
    return r;
}
