/* SPDX-License-Identifier: MIT
 *
 * The tables of chapter os, driven by hand: every case runs and proves its answer, and every case
 * whose object is broken on purpose (a device closed, a file gone, a signal blocked, a page
 * writable, a process killed, the wrong program executed) ends without a number.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "kernels/call_target.h"
#include "sys/affinity.h"
#include "sys/pipe_ring.h"
#include "sys/process.h"
#include "sys/realtime.h"

extern const struct ps_bench ps_bench_os_lat_syscall, ps_bench_os_lat_sig, ps_bench_os_lat_ctx,
    ps_bench_os_lat_proc, ps_bench_os_wake_up;

#define CASES_MAX 32
#define EVENTS_MAX 64
#define ARENA_BYTES (2 << 20)

/* lat_proc executes /proc/self/exe, which is this test; main() then does as this says. */
#define EXIT_VARIABLE "PS_TEST_EXIT"

static char directory[64];
static int cpus[PS_PIPE_RING_MAX];
static struct ps_target target = {.name = "tmpfs", .path = directory, .filesystem = "tmpfs"};
static struct ps_cluster cluster = {.n_cpus = 2, .last_private_bytes = 1 << 20};
static struct ps_env env = {
    .cluster = &cluster,
    .clusters = &cluster,
    .n_clusters = 1,
    .n_cpus = 2,
    .page_bytes = 4096,
    .targets = &target,
    .n_targets = 1,
};

static struct ps_case cases[CASES_MAX];
static struct ps_case_list list;
static void *arena;
static double events[EVENTS_MAX];
static int64_t clock_offset_ns;

static uint64_t now_event_ns(void *self) {
    (void)self;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec + clock_offset_ns);
}

static struct ps_port port = {.now_event_ns = now_event_ns, .resolution_ns = 1};
static struct ps_run_shared shared;
static struct ps_run run = {.shared = &shared};

static const struct ps_case *find_case(const struct ps_bench *bench, const char *name) {
    list = (struct ps_case_list){.cases = cases, .capacity = CASES_MAX};
    assert_int_equal(bench->cases(&env, &list), 0);
    assert_false(list.overflow);
    for (size_t i = 0; i < list.n; i++)
        if (name != NULL && strcmp(cases[i].name, name) == 0)
            return &cases[i];
    assert_null(name);
    return NULL;
}

static int begin_case(const struct ps_bench *bench, const struct ps_case *c) {
    memset(&shared, 0, sizeof(shared));
    memset(arena, 0, ARENA_BYTES);
    shared.bench = bench;
    shared.c = c;
    shared.port = &port;
    shared.cpus = cpus;
    shared.n_cpus = PS_PIPE_RING_MAX;
    shared.threads = 1;
    shared.seed = 1234567;
    shared.events_wanted = 20;
    shared.series[0].samples = events;
    shared.series[0].capacity = EVENTS_MAX;
    ps_arena_init(&shared.arena, arena, c->memory.bytes + PS_ARENA_SLACK_BYTES);
    return bench->setup(&run);
}

static int begin(const struct ps_bench *bench, const char *name) {
    return begin_case(bench, find_case(bench, name));
}

static void finish(void) {
    if (shared.bench->teardown != NULL)
        shared.bench->teardown(&run);
    int status;
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static int count_files(const char *path) {
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int n = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL; n++)
        n -= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    return n;
}

/* Each batch case in full: several sizes of batch, the baseline where there is one. */
static void run_whole_table(const struct ps_bench *bench) {
    find_case(bench, NULL);
    size_t n_cases = list.n;
    assert_true(n_cases > 0);
    for (size_t i = 0; i < n_cases; i++) {
        const struct ps_case *c = &cases[i];
        if (c->status != PS_OK || c->place.pairing == PS_PAIR_CROSS_CLUSTER)
            continue;
        if (c->place.pairing == PS_PAIR_CROSS_CPU && cpus[0] == cpus[1])
            continue;
        if (begin_case(bench, c) != 0)
            fail_msg("%s: set-up: %s", c->name, shared.reason == NULL ? "?" : shared.reason);
        assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
        bool baseline =
            bench->baseline != NULL && (bench->has_baseline == NULL || bench->has_baseline(c));
        static const uint64_t sizes[] = {1, 2, 30};
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            int r = bench->batch(&run, 0, sizes[k]);
            if (r != 0)
                fail_msg("%s: %d: %s", c->name, r, shared.reason == NULL ? "?" : shared.reason);
            if (baseline)
                assert_int_equal(bench->baseline(&run, 0, sizes[k]), 0);
        }
        int r = bench->verify(&run, PS_VERIFY_AFTER);
        if (r != 0)
            fail_msg("%s: %s", c->name, shared.reason == NULL ? "?" : shared.reason);
        assert_int_equal(shared.status, PS_OK);
        finish();
    }
}

static void test_every_case_runs(void **state) {
    (void)state;
    int fds = ps_count_fds();
    setenv(EXIT_VARIABLE, "as told", 1);
    run_whole_table(&ps_bench_os_lat_syscall);
    run_whole_table(&ps_bench_os_lat_sig);
    run_whole_table(&ps_bench_os_lat_ctx);
    run_whole_table(&ps_bench_os_lat_proc);
    unsetenv(EXIT_VARIABLE);
    assert_int_equal(ps_count_fds(), fds);
    assert_int_equal(count_files(directory), 0);
}

static void assert_failed_with_reason(int r) {
    assert_true(r < 0);
    assert_int_equal(shared.status, PS_FAILED);
    assert_non_null(shared.reason);
}

/* ---- lat_proc ------------------------------------------------------------------------------- */

static void test_exec_of_the_wrong_program_is_no_number(void **state) {
    (void)state;
    static const char *const names[] = {"exec", "spawn"};
    for (size_t i = 0; i < 2; i++) {
        unsetenv(
            EXIT_VARIABLE); /* this program knows nothing of --exit-code then, and ends with 0 */
        assert_int_equal(begin(&ps_bench_os_lat_proc, names[i]), 0);
        assert_failed_with_reason(ps_bench_os_lat_proc.verify(&run, PS_VERIFY_BEFORE));
        assert_failed_with_reason(ps_bench_os_lat_proc.batch(&run, 0, 2));
        finish();
        setenv(EXIT_VARIABLE, "by a signal", 1);
        assert_int_equal(begin(&ps_bench_os_lat_proc, names[i]), 0);
        assert_failed_with_reason(ps_bench_os_lat_proc.batch(&run, 0, 1));
        finish();
    }
    unsetenv(EXIT_VARIABLE);
}

static void test_fork_that_is_refused_says_so(void **state) {
    (void)state;
    if (geteuid() == 0)
        skip(); /* root is not held to the limit */
    struct rlimit before, none = {0, 0};
    assert_int_equal(getrlimit(RLIMIT_NPROC, &before), 0);
    none.rlim_max = before.rlim_max;
    assert_int_equal(begin(&ps_bench_os_lat_proc, "fork"), 0);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
    int r = ps_bench_os_lat_proc.batch(&run, 0, 1);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &before), 0);
    assert_int_equal(r, -EAGAIN);
    finish();
}

static void test_ignored_children_are_still_waited_for(void **state) {
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(begin(&ps_bench_os_lat_proc, "fork"), 0);
    assert_int_equal(ps_bench_os_lat_proc.batch(&run, 0, 2), 0);
    finish();
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    assert_true(now.sa_handler == SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

static void test_call_target_adds(void **state) {
    (void)state;
    uint32_t before = psk_call_target_total();
    psk_call_target(5);
    psk_call_target(-2);
    assert_int_equal(psk_call_target_total() - before, 3);
}

/* ---- lat_syscall ---------------------------------------------------------------------------- */

static void test_syscalls_that_fail_are_no_number(void **state) {
    (void)state;
    static const char *const names[] = {"read", "write", "fstat"};
    for (size_t i = 0; i < 3; i++) {
        int lowest = dup(0);
        close(lowest);
        assert_int_equal(begin(&ps_bench_os_lat_syscall, names[i]), 0);
        assert_int_equal(ps_bench_os_lat_syscall.batch(&run, 0, 3), 0);
        for (int fd = lowest; fd < lowest + 8; fd++)
            close(fd);
        assert_int_equal(ps_bench_os_lat_syscall.batch(&run, 0, 3), -EBADF);
        assert_true(ps_bench_os_lat_syscall.verify(&run, PS_VERIFY_AFTER) < 0);
        assert_int_equal(chdir("/"), 0);
        finish();
    }
}

static void test_file_that_goes_away_is_no_number(void **state) {
    (void)state;
    static const char *const names[] = {"stat", "open"};
    for (size_t i = 0; i < 2; i++) {
        char command[128];
        assert_int_equal(begin(&ps_bench_os_lat_syscall, names[i]), 0);
        assert_int_equal(ps_bench_os_lat_syscall.batch(&run, 0, 3), 0);
        assert_int_equal(count_files(directory), 1);
        snprintf(command, sizeof(command), "rm -f %s/.perfsheet-*", directory);
        assert_int_equal(system(command), 0);
        assert_int_equal(ps_bench_os_lat_syscall.batch(&run, 0, 3), -ENOENT);
        assert_true(ps_bench_os_lat_syscall.verify(&run, PS_VERIFY_AFTER) < 0);
        finish();
    }
}

static void test_target_that_is_not_there_is_a_reason(void **state) {
    (void)state;
    target.path = NULL;
    target.why = "no such directory";
    const struct ps_case *c = find_case(&ps_bench_os_lat_syscall, "stat");
    assert_int_not_equal(c->status, PS_OK);
    assert_string_equal(c->reason, "no such directory");
    target.path = directory;
    assert_int_equal(find_case(&ps_bench_os_lat_syscall, "open")->status, PS_OK);
    env.n_targets = 0;
    find_case(&ps_bench_os_lat_syscall, NULL);
    assert_int_equal(list.n, 3);
    assert_int_equal(find_case(&ps_bench_os_lat_syscall, "null")->status, PS_OK);
    env.n_targets = 1;
}

/* ---- lat_sig -------------------------------------------------------------------------------- */

static void test_signal_that_is_not_delivered_is_no_number(void **state) {
    (void)state;
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    assert_int_equal(begin(&ps_bench_os_lat_sig, "catch"), 0);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    assert_failed_with_reason(ps_bench_os_lat_sig.batch(&run, 0, 4));
    assert_failed_with_reason(ps_bench_os_lat_sig.verify(&run, PS_VERIFY_AFTER));
    sigprocmask(SIG_UNBLOCK, &usr1, NULL);
    finish();
}

static void make_writable(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number;
    (void)context;
    mprotect((void *)info->si_addr, 1, PROT_READ | PROT_WRITE);
}

static void test_store_that_does_not_fault_is_no_number(void **state) {
    (void)state;
    static const char *const names[] = {"prot", "fault"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(begin(&ps_bench_os_lat_sig, names[i]), 0);
        struct sigaction action = {.sa_sigaction = make_writable, .sa_flags = SA_SIGINFO}, before;
        sigaction(SIGSEGV, &action, &before);
        assert_failed_with_reason(ps_bench_os_lat_sig.batch(&run, 0, 4));
        sigaction(SIGSEGV, &before, NULL);
        assert_failed_with_reason(ps_bench_os_lat_sig.verify(&run, PS_VERIFY_AFTER));
        finish();
    }
}

static void test_foreign_fault_still_kills(void **state) {
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL); /* not cmocka's, which longjmps */
        if (begin(&ps_bench_os_lat_sig, "fault") != 0 || ps_bench_os_lat_sig.batch(&run, 0, 3) != 0)
            _exit(1);
        volatile char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *nowhere = 1;
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2));
}

static void test_which_signal_rows_have_a_baseline(void **state) {
    (void)state;
    const struct ps_bench *bench = &ps_bench_os_lat_sig;
    assert_false(bench->has_baseline(find_case(bench, "install")));
    assert_false(bench->has_baseline(find_case(bench, "fault")));
    assert_true(bench->has_baseline(find_case(bench, "catch")));
    assert_true(bench->has_baseline(find_case(bench, "prot")));
}

/* ---- lat_ctx -------------------------------------------------------------------------------- */

static void test_dead_process_breaks_the_ring(void **state) {
    (void)state;
    int same[3] = {cpus[0], cpus[0], cpus[0]};
    uint64_t array[64];
    for (unsigned victim = 1; victim < 3; victim++) {
        struct ps_pipe_ring ring;
        assert_int_equal(ps_pipe_ring_start(&ring, 3, same, array, 64, 7), 0);
        assert_int_equal(ps_pipe_ring_rounds(&ring, 10), 0);
        assert_int_equal(ps_pipe_ring_collect(&ring), 0);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(ring.reports[i].cpu, cpus[0]);
        kill(ring.partners[victim].pid, SIGKILL);
        assert_int_equal(ps_pipe_ring_rounds(&ring, 1000000), -EPIPE);
        ps_pipe_ring_stop(&ring);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
}

static void test_sums_are_checked(void **state) {
    (void)state;
    int same[2] = {cpus[0], cpus[0]};
    uint64_t array[64];
    struct ps_pipe_ring ring;
    assert_int_equal(ps_pipe_ring_start(&ring, 2, same, array, 64, 7), 0);
    assert_int_equal(ps_pipe_ring_rounds(&ring, 2), 0);
    assert_int_equal(ps_pipe_ring_alone(&ring, 2), 0);
    array[63] ^= UINT64_C(1) << 63;
    assert_int_equal(ps_pipe_ring_rounds(&ring, 2), -EBADMSG);
    assert_int_equal(ps_pipe_ring_alone(&ring, 2), -EBADMSG);
    ps_pipe_ring_stop(&ring);
    ps_pipe_ring_stop(&ring); /* a second time does nothing */
}

static void test_ring_of_one_or_of_too_many_is_refused(void **state) {
    (void)state;
    struct ps_pipe_ring ring;
    assert_int_equal(ps_pipe_ring_start(&ring, 1, cpus, NULL, 0, 0), -EINVAL);
    assert_int_equal(ps_pipe_ring_start(&ring, PS_PIPE_RING_MAX + 1, cpus, NULL, 0, 0), -EINVAL);
    assert_int_equal(ps_pipe_ring_start(&ring, 2, cpus, NULL, 4, 0), -EINVAL);
}

static void test_switches_that_are_no_hops_are_no_number(void **state) {
    (void)state;
    assert_int_equal(begin(&ps_bench_os_lat_ctx, "2-0k-same-cpu"), 0);
    assert_int_equal(ps_bench_os_lat_ctx.verify(&run, PS_VERIFY_BEFORE), 0);
    assert_int_equal(ps_bench_os_lat_ctx.batch(&run, 0, 100), 0);
    struct timespec moment = {0, 1000};
    for (int i = 0; i < 400; i++)
        nanosleep(&moment, NULL);
    assert_failed_with_reason(ps_bench_os_lat_ctx.verify(&run, PS_VERIFY_AFTER));
    assert_non_null(strstr(shared.reason, "not switching"));
    finish();
}

static void test_wrong_place_is_no_number(void **state) {
    (void)state;
    if (cpus[0] == cpus[1])
        skip();
    assert_int_equal(begin(&ps_bench_os_lat_ctx, "4-0k-same-cpu"), 0);
    assert_int_equal(ps_pin_to_cpu((unsigned)cpus[1]), 0);
    assert_failed_with_reason(ps_bench_os_lat_ctx.verify(&run, PS_VERIFY_BEFORE));
    assert_int_equal(ps_pin_to_cpu((unsigned)cpus[0]), 0);
    finish();
    /* No CPU in the plan for the second process. */
    const struct ps_case *c = find_case(&ps_bench_os_lat_ctx, "2-0k-cross-cpu");
    int saved = cpus[1];
    cpus[1] = -1;
    assert_failed_with_reason(begin_case(&ps_bench_os_lat_ctx, c));
    cpus[1] = saved;
    finish();
}

static void test_rings_know_their_bound(void **state) {
    (void)state;
    const struct ps_bench *bench = &ps_bench_os_lat_ctx;
    /* The private cache is 1 MiB here: 2 x 256 KiB fits in three quarters of it, 4 x 256 not. */
    assert_int_equal(find_case(bench, "2-256k-same-cpu")->bound, PS_BOUND_CORE);
    assert_int_equal(find_case(bench, "4-256k-same-cpu")->bound, PS_BOUND_MEMORY);
    assert_int_equal(find_case(bench, "2-0k-cross-cpu")->bound, PS_BOUND_WAKE);
    assert_int_equal(find_case(bench, "2-0k-cross-cluster")->status, PS_UNSUPPORTED);
    assert_int_equal(bench->units(find_case(bench, "8-16k-same-cpu"), 0), 8);
    cluster.last_private_bytes = 0;
    cluster.n_cpus = 1;
    assert_int_equal(find_case(bench, "2-0k-same-cpu")->bound, PS_BOUND_CORE);
    assert_int_equal(find_case(bench, "2-128k-same-cpu")->bound, PS_BOUND_MEMORY);
    assert_int_equal(find_case(bench, "2-0k-cross-cpu")->status, PS_UNSUPPORTED);
    cluster.last_private_bytes = 1 << 20;
    cluster.n_cpus = 2;
}

/* ---- wake_up -------------------------------------------------------------------------------- */

static int run_wake_up(const char *name) {
    const struct ps_bench *bench = &ps_bench_os_wake_up;
    int r = begin(bench, name);
    if (r == 0)
        r = bench->verify(&run, PS_VERIFY_BEFORE);
    if (r == 0)
        r = bench->events(&run);
    if (r == 0)
        r = bench->verify(&run, PS_VERIFY_AFTER);
    bench->teardown(&run);
    return r;
}

static void test_wake_ups_are_counted(void **state) {
    (void)state;
    struct ps_scheduling before, after;
    assert_int_equal(ps_scheduling_get(&before), 0);
    long slack = ps_timer_slack_get();
    assert_int_equal(run_wake_up("other"), 0);
    assert_int_equal(shared.series[0].n, 20);
    for (unsigned i = 0; i < 20; i++)
        assert_true(events[i] > 0);
    int r = run_wake_up("fifo");
    if (r == 0) {
        assert_int_equal(shared.series[0].n, 20);
    } else {
        assert_int_equal(shared.status, PS_DENIED);
        assert_non_null(strstr(shared.reason, "setcap"));
        assert_int_equal(shared.series[0].n, 0);
    }
    assert_int_equal(ps_scheduling_get(&after), 0);
    assert_int_equal(after.policy, before.policy);
    assert_int_equal(after.priority, before.priority);
    assert_int_equal(ps_timer_slack_get(), slack);
}

static void test_early_wake_up_is_no_number(void **state) {
    (void)state;
    clock_offset_ns = -5000000; /* a clock behind the one that the sleep goes by */
    assert_failed_with_reason(run_wake_up("other"));
    clock_offset_ns = 0;
    assert_int_equal(shared.series[0].n, 0);
}

static void test_class_that_changes_is_no_number(void **state) {
    (void)state;
    assert_int_equal(begin(&ps_bench_os_wake_up, "other"), 0);
    assert_int_equal(ps_bench_os_wake_up.verify(&run, PS_VERIFY_BEFORE), 0);
    assert_int_equal(ps_timer_slack_set(1), 0);
    assert_failed_with_reason(ps_bench_os_wake_up.verify(&run, PS_VERIFY_AFTER));
    shared.status = PS_OK;
    shared.ended = 0;
    struct ps_scheduling batch = {.policy = SCHED_BATCH, .priority = 0};
    assert_int_equal(ps_scheduling_set(&batch), 0);
    assert_failed_with_reason(ps_bench_os_wake_up.verify(&run, PS_VERIFY_AFTER));
    ps_bench_os_wake_up.teardown(&run);
}

static void test_fifo_without_the_right_is_denied(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip(); /* test_wake_ups_are_counted has seen it */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_RTPRIO, &none);
        if (setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        const struct ps_case *c = find_case(&ps_bench_os_wake_up, "fifo");
        bool planned = c->status == PS_DENIED && strstr(c->reason, "prlimit") != NULL &&
                       find_case(&ps_bench_os_wake_up, "other")->status == PS_OK;
        int r = run_wake_up("fifo");
        bool as_it_should = planned && r < 0 && shared.status == PS_DENIED && shared.error > 0 &&
                            strstr(shared.reason, "setcap") != NULL && shared.series[0].n == 0;
        _exit(as_it_should ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* ---- What stands beside the vendor's page ---------------------------------------------------- */

static void test_published_rows_have_one_row_of_ours_each(void **state) {
    (void)state;
    static const char *const rows[] = {
        "lat_ctx-2-128k",          "lat_ctx-2-256k",    "lat_ctx-4-128k",
        "lat_ctx-4-256k",          "lat_proc-exec",     "lat_proc-fork",
        "lat_proc-proccall",       "procedure_call",    "lat_sig-catch",
        "lat_sig-install",         "lat_sig-prot",      "signal_handler_latency",
        "signal_handler_overhead", "lat_syscall-fstat", "lat_syscall-null",
        "lat_syscall-open",        "lat_syscall-read",  "lat_syscall-stat",
        "lat_syscall-write",
    };
    static const struct ps_bench *const benches[] = {&ps_bench_os_lat_syscall, &ps_bench_os_lat_sig,
                                                     &ps_bench_os_lat_ctx, &ps_bench_os_lat_proc};
    unsigned found[sizeof(rows) / sizeof(rows[0])] = {0}, total = 0;
    for (size_t b = 0; b < 4; b++) {
        find_case(benches[b], NULL);
        for (size_t i = 0; i < list.n; i++)
            for (unsigned k = 0; k < cases[i].n_published; k++, total++) {
                const struct ps_published *p = &cases[i].published[k];
                assert_string_equal(p->metric, "latency");
                assert_true((p->why == NULL) == (p->comparable == PS_COMPARABLE_YES));
                for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
                    found[j] += strcmp(rows[j], p->row) == 0;
            }
    }
    for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
        if (found[j] != 1)
            fail_msg("%s: %u rows", rows[j], found[j]);
    assert_int_equal(total, sizeof(rows) / sizeof(rows[0]));
}

/* ---- */

static int set_up(void **state) {
    (void)state;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return -1;
    int first = -1, second = -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &set))
            continue;
        if (first < 0)
            first = i;
        else if (second < 0)
            second = i;
    }
    for (size_t i = 0; i < PS_PIPE_RING_MAX; i++)
        cpus[i] = i == 1 && second >= 0 ? second : first;
    arena = aligned_alloc(4096, ARENA_BYTES);
    strcpy(directory, "/dev/shm/perfsheet-test-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        strcpy(directory, "/tmp/perfsheet-test-XXXXXX");
        if (mkdtemp(directory) == NULL)
            return -1;
    }
    return arena == NULL ? -1 : ps_pin_to_cpu((unsigned)first);
}

static int tear_down(void **state) {
    (void)state;
    free(arena);
    return rmdir(directory);
}

int main(int argc, char **argv) {
    if (argc > 1) { /* executed by lat_proc */
        const char *what = getenv(EXIT_VARIABLE);
        if (what == NULL)
            return 0;
        if (strcmp(what, "as told") != 0)
            raise(SIGKILL);
        return argc == 3 && strcmp(argv[1], "--exit-code") == 0 ? atoi(argv[2]) : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_runs),
        cmocka_unit_test(test_exec_of_the_wrong_program_is_no_number),
        cmocka_unit_test(test_fork_that_is_refused_says_so),
        cmocka_unit_test(test_ignored_children_are_still_waited_for),
        cmocka_unit_test(test_call_target_adds),
        cmocka_unit_test(test_syscalls_that_fail_are_no_number),
        cmocka_unit_test(test_file_that_goes_away_is_no_number),
        cmocka_unit_test(test_target_that_is_not_there_is_a_reason),
        cmocka_unit_test(test_signal_that_is_not_delivered_is_no_number),
        cmocka_unit_test(test_store_that_does_not_fault_is_no_number),
        cmocka_unit_test(test_foreign_fault_still_kills),
        cmocka_unit_test(test_which_signal_rows_have_a_baseline),
        cmocka_unit_test(test_dead_process_breaks_the_ring),
        cmocka_unit_test(test_sums_are_checked),
        cmocka_unit_test(test_ring_of_one_or_of_too_many_is_refused),
        cmocka_unit_test(test_switches_that_are_no_hops_are_no_number),
        cmocka_unit_test(test_wrong_place_is_no_number),
        cmocka_unit_test(test_rings_know_their_bound),
        cmocka_unit_test(test_wake_ups_are_counted),
        cmocka_unit_test(test_early_wake_up_is_no_number),
        cmocka_unit_test(test_class_that_changes_is_no_number),
        cmocka_unit_test(test_fifo_without_the_right_is_denied),
        cmocka_unit_test(test_published_rows_have_one_row_of_ours_each),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
