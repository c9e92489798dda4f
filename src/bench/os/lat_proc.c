/* SPDX-License-Identifier: MIT
 *
 * Procedure calls and processes.
 *
 * `proccall` is one call of a tiny external function (kernels/call_target.c). `fork` is fork, a
 * child that ends at once with _exit, and waitpid; `vfork` the same with vfork. `exec` is fork, a
 * real execve of a real dynamically linked program, and waitpid; `spawn` the same through
 * posix_spawn. The program is perfsheet itself, told to end with a given code as the first thing
 * that it does.
 *
 * Every exit status is checked against the code that was asked for, so that an execve that fails is
 * a failure and never a number: published tables exist whose exec row is the time of a failed one.
 * The parent is the measuring process with a few MiB resident; fork costs more from a larger one.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/bench.h"
#include "kernels/call_target.h"

extern char **environ;

/* Neither 0 nor 1 nor 127, which a program that failed for some other reason would return. */
#define EXIT_CODE 37
#define EXIT_CODE_TEXT "37"
#define EXIT_NOT_EXECUTED 127
#define SELF "/proc/self/exe"

static char arg_name[] = "perfsheet", arg_option[] = "--exit-code", arg_code[] = EXIT_CODE_TEXT;
static char *const exec_argv[] = {arg_name, arg_option, arg_code, NULL};

/* 0, a negative errno, or -EBADMSG when the child did not end with the code that it was told. */
__attribute__((always_inline)) static inline int reap(pid_t pid) {
    int status;
    pid_t got;
    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    if (got != pid)
        return got < 0 ? -errno : -ECHILD;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE ? 0 : -EBADMSG;
}

__attribute__((noinline)) static int loop_proccall(uint64_t n) {
    uint32_t before = psk_call_target_total();
    for (uint64_t i = 0; i < n; i++)
        psk_call_target(1);
    return psk_call_target_total() - before == (uint32_t)n ? 0 : -EBADMSG;
}

__attribute__((noinline)) static int loop_fork(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return -errno;
        if (pid == 0)
            _exit(EXIT_CODE);
        int r = reap(pid);
        if (r < 0)
            return r;
    }
    return 0;
}

__attribute__((noinline)) static int loop_vfork(uint64_t n) {
    for (volatile uint64_t left = n; left > 0; left--) {
        /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): it is what is measured. */
        pid_t pid = vfork();
        if (pid < 0)
            return -errno;
        if (pid == 0)
            _exit(EXIT_CODE);
        int r = reap(pid);
        if (r < 0)
            return r;
    }
    return 0;
}

__attribute__((noinline)) static int loop_exec(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return -errno;
        if (pid == 0) {
            execve(SELF, exec_argv, environ);
            _exit(EXIT_NOT_EXECUTED);
        }
        int r = reap(pid);
        if (r < 0)
            return r;
    }
    return 0;
}

__attribute__((noinline)) static int loop_spawn(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        pid_t pid;
        int error = posix_spawn(&pid, SELF, NULL, NULL, exec_argv, environ);
        if (error != 0)
            return -error;
        int r = reap(pid);
        if (r < 0)
            return r;
    }
    return 0;
}

struct proc_kind {
    const char *name;
    int (*loop)(uint64_t n);
    unsigned tags;
    const char *program; /* that is executed, as a parameter */
};

static const struct proc_kind kinds[] = {
    {"proccall", loop_proccall, PS_TAG_HEADLINE, NULL},
    {"fork", loop_fork, PS_TAG_HEADLINE, NULL},
    {"exec", loop_exec, PS_TAG_HEADLINE, "perfsheet --exit-code " EXIT_CODE_TEXT},
    {"vfork", loop_vfork, 0, NULL},
    {"spawn", loop_spawn, 0, "perfsheet --exit-code " EXIT_CODE_TEXT},
};

static const struct proc_kind *find_kind(const struct ps_case *c) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ps_text_equal(kinds[i].name, c->name))
            return &kinds[i];
    return NULL;
}

static void relate_and_publish(struct ps_case *c) {
    const char *name = c->name;
    if (ps_text_equal(name, "proccall")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_proc-proccall", PS_COMPARABLE_YES,
                        NULL);
        ps_case_publish(c, "latency", "am62l", "lmbench", "procedure_call", PS_COMPARABLE_YES,
                        NULL);
    } else if (ps_text_equal(name, "fork")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_proc-fork", PS_COMPARABLE_APPROX,
                        "the vendor's child runs its exit handlers, ours does not");
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-04", "latency", "os.lat_syscall/null:latency", 20,
                       0, "the child was not made or not waited for");
    } else if (ps_text_equal(name, "exec")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_proc-exec", PS_COMPARABLE_NO,
                        "the vendor's program was not installed: its value is fork and a failed "
                        "execve");
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-04", "latency", "os.lat_proc/fork:latency", 1.5, 0,
                       "the program was not executed");
    } else if (ps_text_equal(name, "vfork")) {
        ps_case_relate(c, PS_ORDER_AT_MOST, "os-04", "latency", "os.lat_proc/fork:latency", 1, 0.05,
                       "vfork copies page tables here: it is fork by another name");
    }
}

static int proc_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct ps_case *c = ps_case_add(list, kinds[i].name);
        if (c == NULL)
            continue;
        c->bound = PS_BOUND_CORE;
        c->tags = kinds[i].tags;
        if (kinds[i].program != NULL)
            ps_case_param_text(c, "program", kinds[i].program);
        relate_and_publish(c);
    }
    return 0;
}

static int proc_setup(struct ps_run *run) {
    const struct proc_kind *kind = find_kind(ps_run_case(run));
    struct sigaction *before = ps_run_alloc(run, sizeof(*before), 0);
    if (kind == NULL)
        return -EINVAL;
    if (before == NULL)
        return -ENOMEM;
    /* A shell may have us ignore SIGCHLD; children would then vanish before they are waited for. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (sigaction(SIGCHLD, &action, before) != 0)
        return -errno;
    ps_run_set_state(run, before);
    return 0;
}

static void proc_teardown(struct ps_run *run) {
    const struct sigaction *before = ps_run_state(run);
    if (before != NULL)
        sigaction(SIGCHLD, before, NULL);
    ps_run_set_state(run, NULL);
}

static int proc_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    const struct proc_kind *kind = find_kind(ps_run_case(run));
    int r = kind->loop(n);
    if (r == -EBADMSG && kind->program != NULL)
        return ps_run_end(run, PS_FAILED, 0,
                          "the program that was executed did not end with the code that it was "
                          "told: is /proc mounted, and is this perfsheet itself?");
    if (r == -EBADMSG)
        return ps_run_end(run, PS_FAILED, 0, "the callee or the child did not do what it was told");
    return r;
}

/* The loops check every answer; this proves it before anything is timed, and after. */
static int proc_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)when;
    return proc_batch(run, 0, 1);
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_TIME,
        .counts = "one call; one child made, ended and waited for",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 5, /* proccall is a few ns */
        .method = 1,
        .depends = PS_DEPENDS_LIBC,
        /* A call, an addition in memory and a return that depend on the ones before. */
        .floor_cycles = 1,
    },
};

const struct ps_bench ps_bench_os_lat_proc = {
    .chapter = "os",
    .table = "lat_proc",
    .title = "Procedure call, process creation and program start",
    .about =
        "A call of an external function; fork or vfork with a child that ends at once; fork and "
        "execve, or posix_spawn, of a real dynamically linked program. The exit status of "
        "every child is checked.",
    .region = "the call; or the child's making (fork, vfork, fork + execve, posix_spawn), its "
              "_exit, and waitpid",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = proc_cases,
    .setup = proc_setup,
    .teardown = proc_teardown,
    .batch = proc_batch,
    .verify = proc_verify,
};
