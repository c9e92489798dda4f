/* SPDX-License-Identifier: MIT
 *
 * Signals and protection faults.
 *
 * `install` is one sigaction that sets a handler and fetches the old one. `catch` is what a signal
 * to oneself costs beyond the system call that sends it: n times tgkill of this thread with a
 * handler that returns, minus n times tgkill with signal 0. (kill would do for a process of one
 * thread; it may deliver to any thread of a larger one.) `fault` is a store to a page without
 * access, SIGSEGV, a handler that returns, and the same store again, so it faults until it has done
 * so n times and the handler jumps out: the gross cost of a fault caught. `prot` is the part of it
 * that is not signal delivery: fault minus net catch. As catch is itself a difference, the two
 * halves are timed as (n faults + n sends of signal 0) minus (n signals sent and caught), in which
 * the sending cancels.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/bench.h"

struct sig_state;

struct sig_kind {
    const char *name;
    int (*loop)(struct sig_state *state, uint64_t n);
    int (*baseline)(struct sig_state *state, uint64_t n); /* NULL: nothing is subtracted */
    unsigned tags;
};

struct sig_state {
    const struct sig_kind *kind;
    void *page; /* no access */
    size_t page_bytes;
    pid_t pid;
    long tid;
    bool hooked;
    struct sigaction usr1_before, segv_before;
    struct sigaction on_usr1, old; /* what install sets and fetches */
};

/* What the handlers share with the loops. A handler gets no pointer of ours, hence the globals;
 * there is one signal loop in a process. */
static volatile uint64_t signals_caught;
static volatile uint64_t faults_left, faults_caught;
static void *volatile fault_address; /* of the last fault, when on_fault_info is installed */
static sigjmp_buf faults_done;

static void on_signal(int signal_number) {
    (void)signal_number;
    signals_caught = signals_caught + 1;
}

static void on_fault(int signal_number) {
    if (faults_left == 0) {
        /* Not ours: the next try of whatever failed shall end the process. */
        signal(signal_number, SIG_DFL);
        return;
    }
    faults_caught = faults_caught + 1;
    faults_left = faults_left - 1;
    if (faults_left == 0)
        siglongjmp(faults_done, 1);
}

static void on_fault_info(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    fault_address = info->si_addr;
    on_fault(signal_number);
}

__attribute__((always_inline)) static inline int send_signal(const struct sig_state *state,
                                                             int signal_number) {
    return syscall(SYS_tgkill, state->pid, state->tid, signal_number) == 0 ? 0 : -errno;
}

__attribute__((noinline)) static int loop_install(struct sig_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (sigaction(SIGUSR1, &state->on_usr1, &state->old) != 0)
            return -errno;
    return state->old.sa_handler == on_signal || n == 0 ? 0 : -EBADMSG;
}

__attribute__((noinline)) static int loop_catch(struct sig_state *state, uint64_t n) {
    signals_caught = 0;
    for (uint64_t i = 0; i < n; i++) {
        int r = send_signal(state, SIGUSR1);
        if (r < 0)
            return r;
    }
    return signals_caught == n ? 0 : -EBADMSG;
}

__attribute__((noinline)) static int loop_send(struct sig_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        int r = send_signal(state, 0);
        if (r < 0)
            return r;
    }
    return 0;
}

/* One store, which does not complete until the handler leaves by the jump. */
__attribute__((noinline)) static int loop_fault(struct sig_state *state, uint64_t n) {
    if (n == 0)
        return 0;
    faults_caught = 0;
    faults_left = n;
    if (sigsetjmp(faults_done, 1) == 0) {
        *(volatile char *)state->page = 1;
        faults_left = 0; /* the page let itself be written */
        return -EBADMSG;
    }
    return faults_caught == n ? 0 : -EBADMSG;
}

__attribute__((noinline)) static int loop_prot(struct sig_state *state, uint64_t n) {
    int r = loop_send(state, n);
    return r < 0 ? r : loop_fault(state, n);
}

static const struct sig_kind kinds[] = {
    {"install", loop_install, NULL, PS_TAG_HEADLINE},
    {"catch", loop_catch, loop_send, PS_TAG_HEADLINE},
    {"prot", loop_prot, loop_catch, PS_TAG_HEADLINE},
    {"fault", loop_fault, NULL, 0},
};

static void relate_and_publish(struct ps_case *c) {
    const char *null = "os.lat_syscall/null:latency", *name = c->name;
    if (ps_text_equal(name, "install")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_sig-install", PS_COMPARABLE_YES,
                        NULL);
        ps_case_publish(c, "latency", "am62l", "lmbench", "signal_handler_latency",
                        PS_COMPARABLE_YES, NULL);
        ps_case_relate(c, PS_ORDER_AT_MOST, "os-09", "latency", "os.lat_sig/catch:latency", 1, 0.05,
                       "signals were sent but not delivered");
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-09", "latency", null, 1, 0.05,
                       "sigaction did not reach the kernel");
    } else if (ps_text_equal(name, "catch")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_sig-catch", PS_COMPARABLE_YES, NULL);
        ps_case_publish(c, "latency", "am62l", "lmbench", "signal_handler_overhead",
                        PS_COMPARABLE_YES, NULL);
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-09", "latency", null, 2, 0.05,
                       "signals were sent but not delivered");
    } else if (ps_text_equal(name, "prot")) {
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_sig-prot", PS_COMPARABLE_APPROX,
                        "the vendor's page is a read-only file mapping, ours an anonymous page "
                        "without access");
    } else {
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-09", "latency", "os.lat_sig/catch:latency", 1,
                       0.05, "the store did not fault each time");
    }
}

static int sig_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct ps_case *c = ps_case_add(list, kinds[i].name);
        if (c == NULL)
            continue;
        c->bound = PS_BOUND_CORE;
        c->tags = kinds[i].tags;
        relate_and_publish(c);
    }
    return 0;
}

static const struct sig_kind *find_kind(const struct ps_case *c) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ps_text_equal(kinds[i].name, c->name))
            return &kinds[i];
    return NULL;
}

static bool sig_has_baseline(const struct ps_case *c) {
    const struct sig_kind *kind = find_kind(c);
    return kind != NULL && kind->baseline != NULL;
}

static void sig_teardown(struct ps_run *run) {
    struct sig_state *state = ps_run_state(run);
    if (state == NULL)
        return;
    if (state->hooked) {
        sigaction(SIGUSR1, &state->usr1_before, NULL);
        sigaction(SIGSEGV, &state->segv_before, NULL);
    }
    if (state->page != NULL)
        munmap(state->page, state->page_bytes);
    ps_run_set_state(run, NULL);
}

static int hook_signals(struct sig_state *state) {
    struct sigaction on_segv = {.sa_handler = on_fault};
    state->on_usr1.sa_handler = on_signal;
    if (sigaction(SIGUSR1, &state->on_usr1, &state->usr1_before) != 0 ||
        sigaction(SIGSEGV, &on_segv, &state->segv_before) != 0)
        return -errno;
    state->hooked = true;
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR1);
    sigaddset(&ours, SIGSEGV);
    return -pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

static int sig_setup(struct ps_run *run) {
    struct sig_state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return -ENOMEM;
    memset(state, 0, sizeof(*state));
    state->kind = find_kind(ps_run_case(run));
    if (state->kind == NULL)
        return -EINVAL;
    state->pid = getpid();
    state->tid = syscall(SYS_gettid);
    state->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, state->page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -errno;
    state->page = page;
    ps_run_set_state(run, state);
    int r = hook_signals(state);
    if (r < 0)
        sig_teardown(run);
    return r;
}

static int sig_end(struct ps_run *run, int r) {
    if (r == -EBADMSG)
        return ps_run_end(run, PS_FAILED, 0,
                          "not every signal or fault reached its handler: a debugger or a tracer "
                          "may be taking them");
    return r;
}

static int sig_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct sig_state *state = ps_run_state(run);
    return sig_end(run, state->kind->loop(state, n));
}

static int sig_baseline(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct sig_state *state = ps_run_state(run);
    return state->kind->baseline == NULL ? 0 : sig_end(run, state->kind->baseline(state, n));
}

/* Signals arrive one for one, and the fault is the one that we mean: at our page. */
static int sig_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)when;
    struct sig_state *state = ps_run_state(run);
    int r = loop_catch(state, 3);
    if (r == 0) {
        struct sigaction with_info = {.sa_sigaction = on_fault_info, .sa_flags = SA_SIGINFO};
        struct sigaction before;
        if (sigaction(SIGSEGV, &with_info, &before) != 0)
            return -errno;
        fault_address = NULL;
        r = loop_fault(state, 3);
        sigaction(SIGSEGV, &before, NULL);
        if (r == 0 && fault_address != state->page)
            r = -EBADMSG;
    }
    return sig_end(run, r);
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_TIME,
        .counts = "one call, catch or fault as the row says",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
        .depends = PS_DEPENDS_LIBC,
    },
};

const struct ps_bench ps_bench_os_lat_sig = {
    .chapter = "os",
    .table = "lat_sig",
    .title = "Signals and protection faults",
    .about = "install: one sigaction. catch: delivery of a signal to a handler and the return from "
             "it, net of the system call that sends it. fault: a store to a page without access, "
             "its SIGSEGV caught, in full. prot: the same net of catch.",
    .region = "n times sigaction; tgkill to the own thread with a handler that returns (minus "
              "tgkill with signal 0); or a store that faults n times",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = sig_cases,
    .setup = sig_setup,
    .teardown = sig_teardown,
    .batch = sig_batch,
    .baseline = sig_baseline,
    .has_baseline = sig_has_baseline,
    .verify = sig_verify,
};
