/* SPDX-License-Identifier: MIT
 *
 * The guard: a process of its own session that knows what was there before each change. It learns
 * of a change before it is made, waits for the end of its socket, and puts everything back unless
 * it was told that this has been done. What neither of the two lived to do is in the journal.
 */
#include "harness/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/journal.h"

struct change {
    char path[PS_JOURNAL_PATH_MAX], old_value[PS_JOURNAL_VALUE_MAX];
};

struct changes {
    struct change *items;
    size_t n, capacity;
};

struct ps_guard {
    char journal_path[PS_JOURNAL_PATH_MAX];
    int journal_fd, socket_fd;
    pid_t pid;
    struct changes changes;
};

static int remember(struct changes *changes, const struct change *change) {
    if (changes->n == changes->capacity) {
        size_t capacity = changes->capacity ? 2 * changes->capacity : 16;
        struct change *items = realloc(changes->items, capacity * sizeof(*items));
        if (!items)
            return -ENOMEM;
        changes->items = items;
        changes->capacity = capacity;
    }
    changes->items[changes->n++] = *change;
    return 0;
}

/* Last change first. True when nothing is left that a later attempt could restore. */
static bool restore(const struct changes *changes, void (*say)(void *, const char *),
                    void *context) {
    bool done = true;
    for (size_t i = changes->n; i-- > 0;) {
        const struct change *change = &changes->items[i];
        char text[PS_JOURNAL_PATH_MAX + PS_JOURNAL_VALUE_MAX + 128];
        int error = ps_journal_write_value(change->path, change->old_value);
        if (!error)
            continue;
        done = done && error == -ENOENT;
        snprintf(text, sizeof(text), "could not set %s back to '%s': %s", change->path,
                 change->old_value, strerror(-error));
        if (say)
            say(context, text);
    }
    return done;
}

/* ---- The guard process ---------------------------------------------------------------------- */

/* Every fd but the two that are needed: the sheet's, a terminal's or a pipe's reader must not wait
 * for the guard. */
static void close_others(int a, int b) {
    long max = sysconf(_SC_OPEN_MAX);
    if (max < 0 || max > 65536)
        max = 65536;
    for (int fd = 0; fd < max; fd++)
        if (fd != a && fd != b)
            close(fd);
}

static void guard_main(const char *journal_path, int socket_fd, int journal_fd) {
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
    struct changes changes = {0};
    struct change change;

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_NAME, "perfsheet-guard");
    close_others(socket_fd, journal_fd);
    /* From here on no signal to the program's group reaches it. */
    if (chdir("/") < 0 || send(socket_fd, "R", 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    for (;;) {
        ssize_t n = recv(socket_fd, &change, sizeof(change), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 1) /* put back by the program itself, which also removed the journal */
            _exit(0);
        if (n != (ssize_t)sizeof(change))
            break;
        /* A change that cannot be remembered is in the journal, which then stays. */
        if (remember(&changes, &change) < 0)
            _exit(1);
    }
    if (restore(&changes, NULL, NULL))
        ps_journal_remove(journal_path);
    _exit(0);
}

/* ---- The program's side --------------------------------------------------------------------- */

static int wait_until_ready(int socket_fd) {
    char ready;
    ssize_t n;
    do
        n = recv(socket_fd, &ready, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1 ? 0 : n < 0 ? -errno : -ECHILD;
}

int ps_guard_start(const char *journal_path, struct ps_guard **ret_guard) {
    int sockets[2] = {-1, -1};
    struct ps_guard *guard = calloc(1, sizeof(*guard));
    if (!guard)
        return -ENOMEM;
    guard->journal_fd = -1;
    int error = 0;
    if (!journal_path)
        error = ps_journal_path(true, guard->journal_path, sizeof(guard->journal_path));
    else if (snprintf(guard->journal_path, sizeof(guard->journal_path), "%s", journal_path) >=
             (int)sizeof(guard->journal_path))
        error = -ENAMETOOLONG;
    if (!error)
        error = ps_journal_create(guard->journal_path, &guard->journal_fd);
    if (error)
        goto out;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
        error = -errno;
        goto out;
    }
    guard->pid = fork();
    if (guard->pid < 0) {
        error = -errno;
        goto out;
    }
    if (guard->pid == 0)
        guard_main(guard->journal_path, sockets[1], guard->journal_fd);
    close(sockets[1]); /* so that a guard that died is an end of file */
    sockets[1] = -1;
    error = wait_until_ready(sockets[0]);
    if (error)
        goto out;
    guard->socket_fd = sockets[0];
    sockets[0] = -1;
    *ret_guard = guard;
    guard = NULL;
out:
    for (unsigned i = 0; i < 2; i++)
        if (sockets[i] >= 0)
            close(sockets[i]);
    if (guard) {
        if (guard->pid > 0) /* its socket has ended */
            waitpid(guard->pid, NULL, 0);
        if (guard->journal_fd >= 0) {
            ps_journal_remove(guard->journal_path);
            close(guard->journal_fd);
        }
        free(guard);
    }
    return error;
}

int ps_guard_set(struct ps_guard *guard, const char *path, const char *value) {
    struct change change = {0};
    if (snprintf(change.path, sizeof(change.path), "%s", path) >= (int)sizeof(change.path))
        return -ENAMETOOLONG;
    int error = ps_journal_read_value(path, change.old_value, sizeof(change.old_value));
    if (error || strcmp(change.old_value, value) == 0)
        return error;
    error = ps_journal_add(guard->journal_fd, path, change.old_value);
    if (!error)
        error = remember(&guard->changes, &change);
    if (!error && send(guard->socket_fd, &change, sizeof(change), MSG_NOSIGNAL) < 0)
        error = -errno;
    return error ? error : ps_journal_write_value(path, value);
}

int ps_guard_finish(struct ps_guard *guard, void (*say)(void *, const char *), void *context) {
    if (!guard)
        return 0;
    bool done = restore(&guard->changes, say, context);
    /* The guard goes without a word from us when it is to try again what we could not do. */
    if (done) {
        ps_journal_remove(guard->journal_path);
        (void)send(guard->socket_fd, "F", 1, MSG_NOSIGNAL);
    }
    close(guard->socket_fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(guard->journal_fd);
    free(guard->changes.items);
    free(guard);
    return done ? 0 : -EIO;
}
