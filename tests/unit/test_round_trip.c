/* SPDX-License-Identifier: MIT
 *
 * Round trips over pipe, UNIX socket and TCP: they survive a storm of signals, and a server that
 * is dead, answers wrong, or whose channel the kernel does not have, is never a number.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "sys/affinity.h"
#include "sys/process.h"
#include "sys/round_trip.h"

extern const struct ps_bench ps_bench_os_lat_pipe, ps_bench_os_lat_unix, ps_bench_os_lat_tcp;
static const struct ps_bench *const benches[] = {&ps_bench_os_lat_pipe, &ps_bench_os_lat_unix,
                                                 &ps_bench_os_lat_tcp};

static struct ps_cluster cluster = {.n_cpus = 2};
static struct ps_env env = {.cluster = &cluster, .clusters = &cluster, .n_clusters = 1};
static struct ps_case cases[8];
static struct ps_case_list list;
static _Alignas(4096) unsigned char arena[1 << 17];
static int cpus[2];
static struct ps_port port = {.resolution_ns = 1};
static struct ps_run_shared shared;
static struct ps_run run = {.shared = &shared};

static void list_cases(const struct ps_bench *bench) {
    list = (struct ps_case_list){.cases = cases, .capacity = 8};
    assert_int_equal(bench->cases(&env, &list), 0);
    assert_int_equal(list.n, 3);
}

static int begin(const struct ps_bench *bench) {
    list_cases(bench);
    memset(&shared, 0, sizeof(shared));
    shared.bench = bench;
    shared.c = &cases[0]; /* on one CPU */
    shared.port = &port;
    shared.cpus = cpus;
    shared.n_cpus = 2;
    ps_arena_init(&shared.arena, arena, sizeof(arena));
    return bench->setup(&run);
}

static void test_round_trips_are_made(void **state) {
    (void)state;
    int fds = ps_count_fds();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(begin(benches[i]), 0);
        assert_int_equal(benches[i]->verify(&run, PS_VERIFY_BEFORE), 0);
        assert_int_equal(benches[i]->batch(&run, 0, 300), 0);
        assert_int_equal(benches[i]->verify(&run, PS_VERIFY_AFTER), 0);
        benches[i]->teardown(&run);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    assert_int_equal(ps_count_fds(), fds);
}

static void test_dead_server_is_no_number(void **state) {
    (void)state;
    for (int kind = PS_ROUND_TRIP_PIPE; kind <= PS_ROUND_TRIP_TCP; kind++) {
        struct ps_round_trip trip;
        assert_int_equal(ps_round_trip_start(&trip, kind, cpus[0]), 0);
        assert_int_equal(ps_round_trip_go(&trip, 10), 0);
        kill(trip.server.pid, SIGKILL);
        assert_int_equal(ps_round_trip_go(&trip, 1000000), -EPIPE);
        ps_round_trip_stop(&trip);
        ps_round_trip_stop(&trip);
    }
}

/* A line that leads back to the caller answers each byte with the byte itself. */
static void test_answer_of_no_server_is_no_number(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct ps_round_trip trip = {.in = ends[0], .out = ends[1]};
    assert_int_equal(ps_round_trip_go(&trip, 3), -EBADMSG);
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal_number) {
    (void)signal_number;
    alarms++;
}

static void test_signals_interrupt_nothing(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = on_alarm}, before; /* no SA_RESTART */
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, &before);
    for (int kind = PS_ROUND_TRIP_PIPE; kind <= PS_ROUND_TRIP_TCP; kind++) {
        struct ps_round_trip trip;
        assert_int_equal(ps_round_trip_start(&trip, kind, cpus[0]), 0);
        alarms = 0;
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        int r = 0;
        while (r == 0 && alarms < 200)
            r = ps_round_trip_go(&trip, 20);
        setitimer(ITIMER_REAL, &never, NULL);
        assert_int_equal(r, 0);
        ps_round_trip_stop(&trip);
    }
    sigaction(SIGALRM, &before, NULL);
}

#ifdef SYS_socket
static void refuse(unsigned number, unsigned error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

static int in_sandbox(const struct ps_bench *bench, unsigned number, unsigned error,
                      enum ps_status wanted) {
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        refuse(number, error);
        bool right = begin(bench) < 0 && shared.status == wanted && shared.error == (int)error &&
                     shared.reason != NULL;
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void test_what_the_kernel_has_not_is_said(void **state) {
    (void)state;
    int status = in_sandbox(&ps_bench_os_lat_tcp, SYS_socket, ENOSYS, PS_UNSUPPORTED);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
    assert_int_equal(in_sandbox(&ps_bench_os_lat_unix, SYS_socketpair, EPERM, PS_DENIED), 0);
    assert_int_equal(in_sandbox(&ps_bench_os_lat_pipe, SYS_pipe2, ENOSYS, PS_UNSUPPORTED), 0);
}
#endif

static void test_wrong_place_is_no_number(void **state) {
    (void)state;
    if (cpus[0] == cpus[1])
        skip();
    assert_int_equal(begin(&ps_bench_os_lat_tcp), 0);
    assert_int_equal(ps_pin_to_cpu((unsigned)cpus[1]), 0);
    assert_true(ps_bench_os_lat_tcp.verify(&run, PS_VERIFY_BEFORE) < 0);
    assert_int_equal(shared.status, PS_FAILED);
    assert_int_equal(ps_pin_to_cpu((unsigned)cpus[0]), 0);
    ps_bench_os_lat_tcp.teardown(&run);
}

static void test_published_rows(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"lat_pipe", "pipe_latency"},
                                          {"lat_unix", "af_unix_sock_stream_latency"},
                                          {"lat_tcp", "tcp_latency_using_localhost"}};
    for (size_t i = 0; i < 3; i++) {
        list_cases(benches[i]);
        assert_int_equal(cases[0].n_published, 2);
        assert_int_equal(cases[1].n_published, 0);
        for (size_t k = 0; k < 2; k++) {
            assert_string_equal(cases[0].published[k].row, rows[i][k]);
            assert_int_equal(cases[0].published[k].comparable,
                             i == 2 ? PS_COMPARABLE_NO : PS_COMPARABLE_APPROX);
        }
        assert_null(benches[i]->units); /* a whole round trip */
    }
}

static int set_up(void **state) {
    (void)state;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return -1;
    cpus[0] = cpus[1] = -1;
    for (int i = 0; i < CPU_SETSIZE && cpus[1] < 0; i++)
        if (CPU_ISSET(i, &set))
            cpus[cpus[0] >= 0] = i;
    if (cpus[1] < 0)
        cpus[1] = cpus[0];
    return ps_pin_to_cpu((unsigned)cpus[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips_are_made),
        cmocka_unit_test(test_dead_server_is_no_number),
        cmocka_unit_test(test_answer_of_no_server_is_no_number),
        cmocka_unit_test(test_signals_interrupt_nothing),
#ifdef SYS_socket
        cmocka_unit_test(test_what_the_kernel_has_not_is_said),
#endif
        cmocka_unit_test(test_wrong_place_is_no_number),
        cmocka_unit_test(test_published_rows),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
