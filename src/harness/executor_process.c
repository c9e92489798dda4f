/* SPDX-License-Identifier: MIT
 *
 * The executor of the product: a fresh process for every run. The job goes in on fd 3, the run
 * record comes back on fd 4. Whatever the child does (hang, crash, write nonsense, leave processes
 * behind), the row gets a record and the suite goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/child.h"
#include "harness/line.h"
#include "harness/runner.h"
#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/process.h"

/* Nothing that was predicted to take t takes 20 t; small ones get the time that a machine which
 * swaps or writes back may need. */
#define PS_DEADLINE_MIN_S 10.0
#define PS_DEADLINE_FACTOR 20.0
/* Tests of hanging rows do not want to wait that long: overrides the deadline, in seconds. */
#define PS_DEADLINE_VARIABLE "PS_DEADLINE_S"
/* How often a waiting parent looks at the signal flag, and at a child that has no pidfd. */
#define PS_POLL_MS 200
#define PS_POLL_NO_PIDFD_MS 10
#define PS_JOB_BYTES 65536
#define PS_STDERR_BYTES 256

struct process_executor {
    const struct ps_environment *environment;
    const volatile int *signal_seen;
    struct ps_cpu_set affinity; /* the parent's own, put back at the end */
    int cpu;                    /* where the parent is now, -1: anywhere */
    double deadline_s;          /* 0: by prediction */
};

/* One run in progress. */
struct conversation {
    struct ps_child child;
    int reply_fd, stderr_fd; /* our ends; -1: at their end */
    char *line;
    size_t size_bytes, length;
    bool complete; /* a newline came */
    bool more;     /* and something behind it */
    bool overflow;
    char last_words[PS_STDERR_BYTES]; /* the last line of stderr */
    size_t last_words_length;
    uint64_t deadline_ns;
};

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_pipe(int fds[2]) {
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

/* The parent sleeps while the child measures, but what it does at its ends should not fall on the
 * CPUs that are measured. */
static void step_aside(struct process_executor *self, const struct ps_plan_row *row) {
    const struct ps_cpu_set *usable = &self->environment->topology.usable;
    if (ps_cpu_set_count(usable) < 2)
        return;
    int free_cpu = -1;
    for (int cpu = ps_cpu_set_next(usable, 0); cpu >= 0 && free_cpu < 0;
         cpu = ps_cpu_set_next(usable, (unsigned)cpu + 1)) {
        bool taken = false;
        for (unsigned i = 0; i < row->n_cpus && !taken; i++)
            taken = row->cpus[i] == cpu;
        if (!taken)
            free_cpu = cpu;
    }
    if (free_cpu >= 0 && free_cpu != self->cpu && ps_pin_to_cpu((unsigned)free_cpu) == 0)
        self->cpu = free_cpu;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void read_reply(struct conversation *talk) {
    for (;;) {
        char *to = talk->line + talk->length;
        size_t room = talk->size_bytes - 1 - talk->length;
        if (room == 0) {
            talk->overflow = true;
            close_fd(&talk->reply_fd);
            return;
        }
        ssize_t n = read(talk->reply_fd, to, room);
        if (n < 0 && (errno == EINTR))
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_fd(&talk->reply_fd);
            return;
        }
        if (talk->complete) { /* read on, so that the child does not die of a closed pipe */
            talk->more = true;
            return;
        }
        char *newline = memchr(to, '\n', (size_t)n);
        talk->length += newline ? (size_t)(newline - to) : (size_t)n;
        talk->complete = newline != NULL;
        talk->more = newline && newline + 1 < to + n;
        talk->line[talk->length] = '\0';
    }
}

static void read_stderr(struct conversation *talk) {
    char text[512];
    ssize_t n;
    while ((n = read(talk->stderr_fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            size_t length = talk->last_words_length;
            if (text[i] == '\n') {
                talk->last_words_length = 0; /* kept until the next line begins */
            } else if (length + 1 < sizeof(talk->last_words)) {
                talk->last_words[length] = (text[i] >= ' ' && text[i] <= '~') ? text[i] : '?';
                talk->last_words[length + 1] = '\0';
                talk->last_words_length++;
            }
        }
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&talk->stderr_fd);
}

static bool has_exited(const struct ps_child *child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child->pid;
}

/* Until the child is gone (a partner left behind may hold the pipes open for ever), the deadline or
 * a signal. 0, -ETIMEDOUT or -EINTR. */
static int listen_to(struct process_executor *self, struct conversation *talk) {
    bool exited = false;
    while (!exited) {
        uint64_t now_ns = ps_now_ns();
        if (self->signal_seen && *self->signal_seen)
            return -EINTR;
        if (now_ns >= talk->deadline_ns)
            return -ETIMEDOUT;
        uint64_t left_ms = (talk->deadline_ns - now_ns) / 1000000 + 1;
        uint64_t step_ms = talk->child.pidfd >= 0 ? PS_POLL_MS : PS_POLL_NO_PIDFD_MS;
        struct pollfd fds[] = {{.fd = talk->reply_fd, .events = POLLIN},
                               {.fd = talk->stderr_fd, .events = POLLIN},
                               {.fd = talk->child.pidfd, .events = POLLIN}};
        if (poll(fds, 3, (int)(left_ms < step_ms ? left_ms : step_ms)) < 0 && errno != EINTR)
            return -errno;
        exited = has_exited(&talk->child); /* before the last look into the pipes */
        if (talk->reply_fd >= 0)
            read_reply(talk);
        if (talk->stderr_fd >= 0)
            read_stderr(talk);
    }
    return 0;
}

/* ---- Outcome -------------------------------------------------------------------------------- */

/* The signals that end processes in practice; musl has no sigabbrev_np(). */
static const char *signal_name(int number) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
                 {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"},
                 {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGPIPE, "SIGPIPE"},
                 {SIGHUP, "SIGHUP"},   {SIGQUIT, "SIGQUIT"}, {SIGSYS, "SIGSYS"},
                 {SIGXCPU, "SIGXCPU"}, {SIGTRAP, "SIGTRAP"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == number)
            return names[i].name;
    return "unnamed";
}

/* Signals that a program does not raise by a fault of its own: somebody, or the kernel when memory
 * runs out, ended this run, which says nothing of the row. */
static bool is_from_outside(int wait_status) {
    if (!WIFSIGNALED(wait_status))
        return false;
    int number = WTERMSIG(wait_status);
    return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP ||
           number == SIGQUIT;
}

/* Why there is no usable record, or NULL when there is one. */
static const char *fault_of(const struct conversation *talk, int wait_status, unsigned left_behind,
                            char *reason, size_t reason_bytes) {
    const char *last_words = talk->last_words[0] ? ": " : "";
    if (talk->overflow) /* and it may have died of it */
        snprintf(reason, reason_bytes, "its run record is longer than %zu MiB",
                 talk->size_bytes >> 20);
    else if (is_from_outside(wait_status))
        snprintf(reason, reason_bytes,
                 "killed by signal %d (%s) from outside; run --resume takes it again",
                 WTERMSIG(wait_status), signal_name(WTERMSIG(wait_status)));
    else if (WIFSIGNALED(wait_status))
        snprintf(reason, reason_bytes, "killed by signal %d (%s)%s%s", WTERMSIG(wait_status),
                 signal_name(WTERMSIG(wait_status)), last_words, talk->last_words);
    else if (WEXITSTATUS(wait_status) != 0 || !talk->complete)
        snprintf(reason, reason_bytes, "ended with status %d and without a run record%s%s",
                 WEXITSTATUS(wait_status), last_words, talk->last_words);
    else if (talk->more)
        snprintf(reason, reason_bytes, "wrote more than its run record");
    else if (left_behind)
        snprintf(reason, reason_bytes, "left a child process behind");
    else
        return NULL;
    return reason;
}

static int start(struct process_executor *self, const struct ps_plan_row *row,
                 const struct ps_run_identity *identity, uint64_t seed, struct conversation *talk) {
    char *argv[] = {(char[]){"perfsheet"}, (char[]){"--child"}, NULL};
    int job[2] = {-1, -1}, reply[2] = {-1, -1}, words[2] = {-1, -1};
    struct ps_line line;
    struct ps_json_writer json;
    char *text = malloc(PS_JOB_BYTES);
    int error = text ? 0 : -ENOMEM;
    if (!error) {
        ps_line_begin(&line, text, PS_JOB_BYTES, &json);
        ps_job_write(
            &json, row, identity, seed, self->environment->clock.trusted,
            self->environment->clock_quality.resolution_ns,
            self->environment->full_issue[row->c.place.cluster > 0 ? row->c.place.cluster : 0]);
        error = ps_line_end(&line, &json);
    }
    /* A socket rather than a pipe: it takes the whole job at once, before anyone reads it. */
    if (!error && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, job) < 0)
        error = -errno;
    if (!error)
        error = open_pipe(reply);
    if (!error)
        error = open_pipe(words);
    if (!error)
        error = ps_write_all(job[1], line.data, line.length);
    if (error)
        goto out;
    close_fd(&job[1]);
    error = ps_child_spawn("/proc/self/exe", argv, job[0], reply[1], words[1], &talk->child);
    if (error)
        goto out;
    talk->reply_fd = reply[0];
    talk->stderr_fd = words[0];
    reply[0] = words[0] = -1;
out:
    free(text);
    for (unsigned i = 0; i < 2; i++) {
        close_fd(&job[i]);
        close_fd(&reply[i]);
        close_fd(&words[i]);
    }
    return error;
}

static int execute(void *context, const struct ps_plan_row *row,
                   const struct ps_run_identity *identity, uint64_t seed, char *line,
                   size_t line_bytes) {
    struct process_executor *self = context;
    struct conversation talk = {
        .reply_fd = -1, .stderr_fd = -1, .line = line, .size_bytes = line_bytes};
    char reason[PS_STDERR_BYTES + 128];
    double deadline_s = row->predicted_ms / 1e3 * PS_DEADLINE_FACTOR;
    if (deadline_s < PS_DEADLINE_MIN_S)
        deadline_s = PS_DEADLINE_MIN_S;
    if (self->deadline_s > 0)
        deadline_s = self->deadline_s;

    line[0] = '\0';
    step_aside(self, row);
    int error = start(self, row, identity, seed, &talk);
    if (error)
        return error;
    talk.deadline_ns = ps_now_ns() + (uint64_t)(deadline_s * 1e9);
    int ended = listen_to(self, &talk), wait_status = 0;
    if (!ended)
        ended = ps_child_wait(&talk.child, ps_now_ns() + UINT64_C(1000000000), &wait_status);
    unsigned left_behind = ps_child_kill(&talk.child);
    close_fd(&talk.reply_fd);
    close_fd(&talk.stderr_fd);

    if (ended == -ETIMEDOUT) {
        snprintf(reason, sizeof(reason), "no answer within %.3g s", deadline_s);
        return ps_line_outcome(row, identity, PS_TIMEOUT, reason, line, line_bytes);
    }
    if (ended)
        return ended;
    if (!fault_of(&talk, wait_status, left_behind, reason, sizeof(reason)))
        return 0;
    bool from_outside = is_from_outside(wait_status) && !talk.overflow;
    if (from_outside && self->signal_seen && *self->signal_seen)
        return -EINTR; /* the same signal came to all of us */
    return ps_line_outcome(row, identity, from_outside ? PS_ABORTED : PS_FAILED, reason, line,
                           line_bytes);
}

/* ---- The executor --------------------------------------------------------------------------- */

static uint64_t now_ns(void *self) {
    (void)self;
    return ps_now_ns();
}

static void sleep_ns(void *self, uint64_t ns) {
    (void)self;
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

static void watch(void *context, const volatile int *signal_seen) {
    struct process_executor *self = context;
    self->signal_seen = signal_seen;
}

int ps_executor_process(const struct ps_environment *environment,
                        struct ps_executor *ret_executor) {
    struct process_executor *self = calloc(1, sizeof(*self));
    if (!self)
        return -ENOMEM;
    self->environment = environment;
    self->cpu = -1;
    const char *deadline = getenv(PS_DEADLINE_VARIABLE);
    if (deadline)
        self->deadline_s = strtod(deadline, NULL);
    int error = ps_affinity_get(&self->affinity);
    /* Kernels before 3.4 and qemu-user know no subreapers: a killed child's orphans then go to
     * init, and only those that are found by their group are cleared away. */
    int reaper = error ? 0 : ps_become_subreaper();
    if (reaper < 0 && reaper != -EINVAL)
        error = reaper;
    if (error) {
        free(self);
        return error;
    }
    *ret_executor = (struct ps_executor){
        .self = self, .execute = execute, .now_ns = now_ns, .sleep_ns = sleep_ns, .watch = watch};
    return 0;
}

void ps_executor_process_done(struct ps_executor *executor) {
    struct process_executor *self = executor->self;
    if (!self)
        return;
    if (self->cpu >= 0)
        (void)ps_pin_to_set(&self->affinity);
    free(self);
    executor->self = NULL;
}
