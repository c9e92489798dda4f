/* SPDX-License-Identifier: MIT
 *
 * One line a change: {"owner","start","path","value"}, a '*' and the CRC-32 of the object in 8 hex
 * digits. `start` is the owner's start time in ticks since boot, which tells it from a later
 * process of the same number. A line that was cut short belongs to a change that was never made.
 */
#include "harness/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/frame.h"
#include "harness/guard.h"
#include "harness/line.h"
#include "sheet/json.h"
#include "sys/process.h"
#include "sys/root.h"

#define PS_JOURNAL_BYTES_MAX (1 << 20)
#define PS_JOURNAL_LINE_BYTES 2048
/* A guard that is restoring needs milliseconds; wait this long before leaving it the field. */
#define PS_JOURNAL_WAIT_STEPS 40
#define PS_JOURNAL_WAIT_STEP_NS 50000000L

struct entry {
    char path[PS_JOURNAL_PATH_MAX], value[PS_JOURNAL_VALUE_MAX];
    pid_t owner;
    int64_t start;
};

/* ---- Where ---------------------------------------------------------------------------------- */

static bool is_own_directory(const char *path, bool private) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (!private || (status.st_mode & 077) == 0);
}

int ps_journal_path(bool create, char *ret_path, size_t size_bytes) {
    char directory[PS_JOURNAL_PATH_MAX / 2];
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (geteuid() == 0 && is_own_directory("/run", false)) {
        snprintf(directory, sizeof(directory), "/run");
    } else if (geteuid() != 0 && runtime && runtime[0] == '/' && is_own_directory(runtime, true)) {
        if (snprintf(directory, sizeof(directory), "%s", runtime) >= (int)sizeof(directory))
            return -ENAMETOOLONG;
    } else {
        snprintf(directory, sizeof(directory), "/tmp/perfsheet-%u", (unsigned)geteuid());
        if (create && mkdir(directory, 0700) < 0 && errno != EEXIST)
            return -errno;
        if (create && !is_own_directory(directory, true))
            return -EPERM; /* somebody else's, or open to others */
    }
    if (snprintf(ret_path, size_bytes, "%s/perfsheet.journal", directory) >= (int)size_bytes)
        return -ENAMETOOLONG;
    return 0;
}

void ps_journal_remove(const char *path) {
    char directory[PS_JOURNAL_PATH_MAX];
    unlink(path);
    snprintf(directory, sizeof(directory), "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash && strncmp(directory, "/tmp/perfsheet-", strlen("/tmp/perfsheet-")) == 0) {
        *slash = '\0';
        rmdir(directory);
    }
}

/* ---- Values --------------------------------------------------------------------------------- */

int ps_journal_read_value(const char *path, char *ret_value, size_t size_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, ret_value, size_bytes);
    int error = n < 0 ? -errno : 0;
    close(fd);
    if (error)
        return error;
    if ((size_t)n == size_bytes)
        return -EFBIG;
    ret_value[n] = '\0';
    ret_value[strcspn(ret_value, "\n")] = '\0';
    return 0;
}

int ps_journal_write_value(const char *path, const char *value) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* One write: a file of sysfs takes each as a new value. */
    ssize_t n = write(fd, value, strlen(value));
    int error = n < 0 ? -errno : (size_t)n < strlen(value) ? -EIO : 0;
    if (close(fd) < 0 && !error)
        error = -errno;
    return error;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Start time of a process, field 22 of its stat; -1: no such process. */
static int64_t start_time(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (ps_read_text("", path, text, sizeof(text)) <= 0)
        return -1;
    const char *field = strrchr(text, ')'); /* the name may hold anything, the rest holds no ')' */
    for (unsigned i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoll(field, NULL, 10) : -1;
}

int ps_journal_create(const char *path, int *ret_fd) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(fd); /* another program found it the moment it was made */
        return -EEXIST;
    }
    *ret_fd = fd;
    return 0;
}

int ps_journal_add(int fd, const char *path, const char *old_value) {
    char text[PS_JOURNAL_LINE_BYTES];
    struct ps_line line;
    struct ps_json_writer json;
    ps_line_begin(&line, text, sizeof(text) - 16, &json); /* room for the CRC */
    ps_json_object_begin(&json);
    ps_json_pair_i64(&json, "owner", getpid());
    ps_json_pair_i64(&json, "start", start_time(getpid()));
    ps_json_pair_string(&json, "path", path);
    ps_json_pair_string(&json, "value", old_value);
    ps_json_object_end(&json);
    int error = ps_line_end(&line, &json);
    if (error)
        return error;
    snprintf(text + line.length, 16, "*%08x\n", ps_crc32(0, text, line.length));
    error = ps_write_all(fd, text, strlen(text));
    if (!error && fsync(fd) < 0 && errno != EINVAL)
        error = -errno;
    return error;
}

/* ---- Recovery ------------------------------------------------------------------------------- */

/* One line without its newline. */
static bool parse_entry(const char *line, size_t length, struct entry *ret_entry) {
    char crc[9];
    struct ps_json_document *document;
    const struct ps_json *root;
    struct ps_json_error why;
    if (length < 10 || line[length - 9] != '*')
        return false;
    snprintf(crc, sizeof(crc), "%08x", ps_crc32(0, line, length - 9));
    if (memcmp(crc, line + length - 8, 8) != 0 ||
        ps_json_parse(line, length - 9, &document, &root, &why) != 0)
        return false;
    const char *path = ps_json_get_string(root, "path", "");
    const char *value = ps_json_get_string(root, "value", "");
    bool ok = path[0] == '/' &&
              snprintf(ret_entry->path, sizeof(ret_entry->path), "%s", path) <
                  (int)sizeof(ret_entry->path) &&
              snprintf(ret_entry->value, sizeof(ret_entry->value), "%s", value) <
                  (int)sizeof(ret_entry->value);
    ret_entry->owner = (pid_t)ps_json_get_i64(root, "owner", 0);
    ret_entry->start = ps_json_get_i64(root, "start", -1);
    ps_json_document_free(document);
    return ok;
}

static void tell(void (*say)(void *, const char *), void *context, const struct entry *entry,
                 int error) {
    char text[PS_JOURNAL_LINE_BYTES];
    if (!say)
        return;
    if (error)
        snprintf(text, sizeof(text), "could not set %s back to '%s': %s", entry->path, entry->value,
                 strerror(-error));
    else
        snprintf(text, sizeof(text),
                 "set %s back to '%s', which process %d had changed before it died", entry->path,
                 entry->value, (int)entry->owner);
    say(context, text);
}

/* Waits until nobody holds the journal. False: its owner or guard lives. */
static bool lock(int fd) {
    for (unsigned i = 0; i < PS_JOURNAL_WAIT_STEPS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true;
        struct timespec step = {.tv_nsec = PS_JOURNAL_WAIT_STEP_NS};
        nanosleep(&step, NULL);
    }
    return false;
}

/* Restores the lines of text[] from the last to the first. Returns how many; *ret_keep: some could
 * not be restored and should be tried again. A living owner ends it with -EBUSY. */
static int restore_backwards(char *text, size_t length, void (*say)(void *, const char *),
                             void *context, bool *ret_keep) {
    int restored = 0;
    while (length > 0) {
        size_t end = length;
        while (length > 0 && text[length - 1] != '\n')
            length--;
        struct entry entry;
        if (parse_entry(text + length, end - length, &entry)) {
            if (entry.start >= 0 && start_time(entry.owner) == entry.start)
                return -EBUSY;
            int error = ps_journal_write_value(entry.path, entry.value);
            restored += error == 0;
            if (error && error != -ENOENT)
                *ret_keep = true;
            tell(say, context, &entry, error);
        }
        if (length > 0)
            length--; /* the newline before it */
    }
    return restored;
}

int ps_journal_recover(const char *journal_path, void (*say)(void *, const char *), void *context) {
    char path[PS_JOURNAL_PATH_MAX];
    char *text = NULL;
    struct stat status;
    bool keep = false;
    int fd = -1, result = journal_path ? 0 : ps_journal_path(false, path, sizeof(path));
    if (result)
        return result;
    if (journal_path && snprintf(path, sizeof(path), "%s", journal_path) >= (int)sizeof(path))
        return -ENAMETOOLONG;

    fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!lock(fd))
        goto out;
    if (fstat(fd, &status) < 0) {
        result = -errno;
        goto out;
    }
    if (status.st_nlink == 0) /* its guard finished while we waited */
        goto out;
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        status.st_size > PS_JOURNAL_BYTES_MAX) {
        result = -EPERM;
        goto out;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text) {
        result = -ENOMEM;
        goto out;
    }
    ssize_t n = pread(fd, text, (size_t)status.st_size, 0);
    result = n < 0 ? -errno : restore_backwards(text, (size_t)n, say, context, &keep);
    if (result == -EBUSY)
        result = 0;
    else if (result >= 0 && !keep)
        ps_journal_remove(path);
out:
    free(text);
    close(fd);
    return result;
}
