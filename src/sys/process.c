/* SPDX-License-Identifier: MIT
 *
 * Starting, waiting for and clearing away child processes. Between fork and exec only calls are
 * made that are safe there (no malloc, no stdio), since the parent may have threads.
 */
#include "sys/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/clock_speed.h"
#include "sys/root.h"

/* The same numbers on all architectures; older libc headers lack them. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_RANGE_SET_CLOEXEC (1u << 2)

#define JOB_FD 3
#define REPLY_FD 4
#define FIRST_FREE_FD 5
/* Where the descriptors wait while 0 to 4 are filled. */
#define PARKING_FD 10
/* Without /proc, descriptors are closed up to here at most. */
#define FDS_MAX 65536
/* Killed processes are gone in milliseconds unless a device holds them. */
#define REAP_NS 2000000000u
/* Before they are killed, what cleans up after a dead process (sys/scratch_file.h) has so long: on
 * a busy machine it may wait that long for its turn, and what it has not removed stays for ever. */
#define GRACE_NS 1500000000u

struct linux_dirent64_head { /* what getdents64 fills in */
    uint64_t inode;
    int64_t offset;
    unsigned short length_bytes;
    unsigned char type;
    char name[];
};

/* ---- In the child, before exec -------------------------------------------------------------- */

static void mark_close_on_exec(int fd) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Marks all descriptors from `first` on. close_range() is of Linux 5.9, its flag of 5.11. */
static void mark_all_close_on_exec(int first) {
    if (syscall(SYS_close_range, (unsigned)first, ~0u, CLOSE_RANGE_SET_CLOEXEC) == 0) {
        return;
    }
    _Alignas(struct linux_dirent64_head) char entries[4096];
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long length;
    if (directory < 0) {
        struct rlimit limit = {.rlim_cur = FDS_MAX};
        getrlimit(RLIMIT_NOFILE, &limit);
        for (int fd = first; fd < FDS_MAX && (rlim_t)fd < limit.rlim_cur; fd++) {
            mark_close_on_exec(fd);
        }
        return;
    }
    while ((length = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
        for (long at = 0; at < length;) {
            const struct linux_dirent64_head *entry = (const void *)(entries + at);
            int fd = 0;
            for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) {
                fd = fd * 10 + (*c - '0');
            }
            if (fd >= first) {
                mark_close_on_exec(fd);
            }
            at += entry->length_bytes;
        }
    }
    close(directory);
}

static void reset_signals(void) {
    struct sigaction action;
    sigset_t none;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &action, NULL); /* ignored ones too: they would stay so */
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Gives descriptors their numbers. -1 stands for /dev/null at 0 to 2 and for nothing above. */
static int place_fds(int job_fd, int reply_fd, int stderr_fd) {
    int wanted[FIRST_FREE_FD] = {-1, -1, stderr_fd, job_fd, reply_fd};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0) { /* a root without devices: reads end at once there too */
        null_fd = memfd_create("null", MFD_CLOEXEC);
    }
    if (null_fd < 0) {
        return -errno;
    }
    for (int i = 0; i < FIRST_FREE_FD; i++) {
        int from = wanted[i] >= 0 ? wanted[i] : i < JOB_FD ? null_fd : -1;
        /* Copied out of the way first, so that no placing overwrites what is still wanted. */
        wanted[i] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, PARKING_FD);
        if (from >= 0 && wanted[i] < 0) {
            return -errno;
        }
    }
    for (int i = 0; i < FIRST_FREE_FD; i++) {
        if (wanted[i] < 0) {
            close(i);
        } else if (dup2(wanted[i], i) < 0) {
            return -errno;
        }
    }
    return 0;
}

static _Noreturn void become(const char *path, char *const argv[], int job_fd, int reply_fd,
                             int stderr_fd, int error_fd, pid_t parent) {
    int r;
    setpgid(0, 0);
    reset_signals();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent) {
        _exit(127); /* the parent died before the signal was asked for */
    }
    int parked_fd = fcntl(error_fd, F_DUPFD_CLOEXEC, PARKING_FD);
    if (parked_fd < 0) {
        r = -errno;
    } else {
        error_fd = parked_fd;
        r = place_fds(job_fd, reply_fd, stderr_fd);
    }
    if (r == 0) {
        mark_all_close_on_exec(FIRST_FREE_FD);
        execv(path, argv);
        r = -errno;
    }
    ps_write_all(error_fd, &r, sizeof r);
    _exit(127);
}

/* ---- Whose children are there --------------------------------------------------------------- */

typedef void child_function(pid_t pid, void *argument);

/* Calls for each child in /proc/self/task/<thread>/children. False where the kernel has no such
 * file (it is optional). */
static bool visit_children_files(child_function *function, void *argument) {
    DIR *tasks = opendir("/proc/self/task");
    bool found = false;
    if (tasks == NULL) {
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[320], *text, *end;
        size_t length;
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
        if (ps_read_whole("", path, &text, &length) < 0) {
            continue;
        }
        found = true;
        for (char *at = text;; at = end) {
            long pid = strtol(at, &end, 10);
            if (end == at) {
                break;
            }
            function((pid_t)pid, argument);
        }
        free(text);
    }
    closedir(tasks);
    return found;
}

/* The same from the parent's id in every process's stat: "pid (any name) state ppid". */
static void visit_all_processes(child_function *function, void *argument) {
    DIR *processes = opendir("/proc");
    if (processes == NULL) {
        return;
    }
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[320], text[1024];
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        if (ps_read_text("", path, text, sizeof text) <= 0) {
            continue;
        }
        const char *after_name = strrchr(text, ')');
        if (after_name != NULL && strlen(after_name) > 4 &&
            strtol(after_name + 4, NULL, 10) == (long)getpid()) {
            function((pid_t)strtol(entry->d_name, NULL, 10), argument);
        }
    }
    closedir(processes);
}

static void visit_children(child_function *function, void *argument) {
    if (!visit_children_files(function, argument)) {
        visit_all_processes(function, argument);
    }
}

static void remember_sibling(pid_t pid, void *argument) {
    struct ps_child *child = argument;
    if (child->n_siblings < PS_CHILD_SIBLINGS_MAX) {
        child->siblings[child->n_siblings] = pid;
    }
    child->n_siblings++;
}

struct leftovers {
    const struct ps_child *child;
    unsigned reaped;
    unsigned seen; /* in one pass */
    uint64_t kill_at_ns;
};

static void clear_away(pid_t pid, void *argument) {
    struct leftovers *left = argument;
    for (unsigned i = 0; i < left->child->n_siblings; i++) {
        if (left->child->siblings[i] == pid) {
            return;
        }
    }
    left->seen++;
    if (ps_now_ns() >= left->kill_at_ns) {
        kill(pid, SIGKILL);
    }
    left->reaped += waitpid(pid, NULL, WNOHANG | __WALL) == pid;
}

/* ---- Public --------------------------------------------------------------------------------- */

/* Reads the child's error, or the end that a successful exec makes. */
static int read_exec_result(int fd) {
    int error = 0;
    ssize_t n;
    do {
        n = read(fd, &error, sizeof error);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof error ? error : 0;
}

int ps_child_spawn(const char *path, char *const argv[], int job_fd, int reply_fd, int stderr_fd,
                   struct ps_child *ret_child) {
    struct ps_child child = {.pidfd = -1};
    sigset_t all, before;
    int error_pipe[2], r;
    pid_t parent = getpid();
    visit_children(remember_sibling, &child);
    if (pipe2(error_pipe, O_CLOEXEC) < 0) {
        return -errno;
    }
    /* No handler of ours may run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child.pid = fork();
    if (child.pid == 0) {
        become(path, argv, job_fd, reply_fd, stderr_fd, error_pipe[1], parent);
    }
    r = child.pid < 0 ? -errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(error_pipe[1]);
    if (r == 0) {
        setpgid(child.pid, child.pid); /* whoever is first: the group is there when we return */
        r = read_exec_result(error_pipe[0]);
        if (r < 0) {
            waitpid(child.pid, NULL, 0);
        }
    }
    close(error_pipe[0]);
    if (r < 0) {
        return r;
    }
    child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0); /* close-on-exec by nature */
    if (child.pidfd < 0) {
        child.pidfd = -1;
    }
    *ret_child = child;
    return 0;
}

/* Until something may have happened to the child or the deadline came. */
static void sleep_for_child(int pidfd, uint64_t left_ns, uint64_t *nap_ns) {
    if (pidfd >= 0) {
        struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
        struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000u),
                                .tv_nsec = (long)(left_ns % 1000000000u)};
        if (ppoll(&poll_fd, 1, &left, NULL) >= 0 || errno == EINTR) {
            return;
        }
    }
    struct timespec nap = {.tv_nsec = (long)(*nap_ns < left_ns ? *nap_ns : left_ns)};
    nanosleep(&nap, NULL);
    *nap_ns = *nap_ns < 5000000 ? *nap_ns * 2 : *nap_ns;
}

/* As waitpid() tells it. */
static int wait_status(const siginfo_t *info) {
    switch (info->si_code) {
    case CLD_EXITED:
        return (info->si_status & 0xff) << 8;
    case CLD_DUMPED:
        return info->si_status | 0x80;
    default:
        return info->si_status;
    }
}

int ps_child_wait(struct ps_child *child, uint64_t deadline_ns, int *ret_wait_status) {
    uint64_t nap_ns = 100000; /* 0.1 ms, then longer */
    if (child->pid <= 0) {
        return -ECHILD;
    }
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
            if (errno != EINTR) {
                return -errno;
            }
        } else if (info.si_pid == child->pid) {
            *ret_wait_status = wait_status(&info);
            return 0;
        }
        uint64_t now_ns = ps_now_ns();
        if (now_ns >= deadline_ns) {
            return -ETIMEDOUT;
        }
        sleep_for_child(child->pidfd, deadline_ns - now_ns, &nap_ns);
    }
}

unsigned ps_child_kill(struct ps_child *child) {
    struct leftovers left = {.child = child, .kill_at_ns = ps_now_ns() + GRACE_NS};
    unsigned empty = 0;
    uint64_t deadline_ns = ps_now_ns() + REAP_NS;
    int status;
    if (child->pid <= 0) {
        return 0;
    }
    kill(-child->pid, SIGKILL);
    if (ps_child_wait(child, deadline_ns, &status) == 0) {
        waitpid(child->pid, NULL, 0);
    }
    /* The children of what is killed here become ours in turn: until there are none. A process that
     * had more children of its own than were remembered does not guess which to kill. */
    while (child->n_siblings <= PS_CHILD_SIBLINGS_MAX) {
        left.seen = 0;
        visit_children(clear_away, &left);
        /* The kernel's list may pass over a child while another one ends: twice empty is empty. */
        empty = left.seen == 0 ? empty + 1 : 0;
        if (empty == 2 || ps_now_ns() >= deadline_ns) {
            break;
        }
        struct timespec nap = {.tv_nsec = 1000000};
        nanosleep(&nap, NULL);
    }
    if (child->pidfd >= 0) {
        close(child->pidfd);
    }
    memset(child, 0, sizeof *child);
    child->pidfd = -1;
    return left.reaped + left.seen;
}

int ps_become_subreaper(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int ps_count_fds(void) {
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    if (fds == NULL) {
        return -errno;
    }
    for (const struct dirent *entry; (entry = readdir(fds)) != NULL;) {
        count += isdigit((unsigned char)entry->d_name[0]) != 0;
    }
    closedir(fds);
    return count - 1; /* the directory's own */
}

bool ps_has_children(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int ps_write_all(int fd, const void *data, size_t length) {
    const char *at = data;
    while (length > 0) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
            poll(&poll_fd, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        at += n;
        length -= (size_t)n;
    }
    return 0;
}
