/* SPDX-License-Identifier: MIT
 *
 * TCP connections: each is accepted by the server, or refused by nobody; only socket, connect and
 * close are in the time; a dead server, or one where there should be none, is never a number.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/run.h"
#include "sys/affinity.h"
#include "sys/process.h"

extern const struct ps_bench ps_bench_os_lat_connect;
static const struct ps_bench *const bench = &ps_bench_os_lat_connect;

#define N_EVENTS 40
enum { ACCEPTED, REFUSED };

static struct ps_env env;
static struct ps_case cases[4];
static struct ps_case_list list;
static _Alignas(4096) unsigned char arena[1 << 17];
static double values[64];
static int cpus[1];
static struct ps_run_shared shared;
static struct ps_run run = {.shared = &shared};

/* The time before each of the four readings of an event is a digit of its own, so that the sum
 * tells which of them were counted. */
static uint64_t clock_ns;
static unsigned n_readings;

static uint64_t fake_now_ns(void *self) {
    static const uint64_t steps[4] = {1000, 1, 10, 100};
    (void)self;
    clock_ns += steps[n_readings++ % 4];
    return clock_ns;
}

static struct ps_port port = {.resolution_ns = 1, .now_event_ns = fake_now_ns};

static void list_cases(void) {
    list = (struct ps_case_list){.cases = cases, .capacity = 4};
    assert_int_equal(bench->cases(&env, &list), 0);
    assert_int_equal(list.n, 2);
}

static int begin(unsigned which) {
    list_cases();
    memset(&shared, 0, sizeof(shared));
    shared.bench = bench;
    shared.c = &cases[which];
    shared.port = &port;
    shared.cpus = cpus;
    shared.n_cpus = 1;
    shared.events_wanted = N_EVENTS;
    ps_arena_init(&shared.arena, arena, sizeof(arena));
    shared.series[0].samples = values;
    shared.series[0].capacity = sizeof(values) / sizeof(values[0]);
    n_readings = 0;
    return bench->setup(&run);
}

static void test_connections_are_counted(void **state) {
    (void)state;
    int fds = ps_count_fds();
    for (unsigned which = ACCEPTED; which <= REFUSED; which++) {
        assert_int_equal(begin(which), 0);
        assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
        assert_int_equal(bench->events(&run), 0);
        assert_int_equal(bench->verify(&run, PS_VERIFY_AFTER), 0);
        bench->teardown(&run);
        assert_int_equal(shared.series[0].n_events, N_EVENTS);
        for (unsigned i = 0; i < N_EVENTS; i++)
            assert_true(values[i] == 1 + 100); /* socket and connect; close; no wait */
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    assert_int_equal(ps_count_fds(), fds);
}

static pid_t only_child(void) {
    siginfo_t info;
    for (pid_t pid = getpid() + 1; pid < getpid() + 100000; pid++)
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            return pid;
    return 0;
}

static void test_dead_server_is_no_number(void **state) {
    (void)state;
    assert_int_equal(begin(ACCEPTED), 0);
    assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
    pid_t server = only_child();
    if (server == 0)
        skip();
    siginfo_t info;
    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)server, &info, WEXITED | WNOWAIT), 0);
    assert_true(bench->events(&run) < 0);
    assert_int_equal(shared.series[0].n_events, 0);
    assert_int_equal(shared.status, PS_FAILED);
    assert_non_null(shared.reason);
    bench->teardown(&run);
}

/* Somebody else's connection shifts the server's count. */
static void test_count_of_connections_is_proved(void **state) {
    (void)state;
    assert_int_equal(begin(ACCEPTED), 0);
    assert_int_equal(bench->verify(&run, PS_VERIFY_BEFORE), 0);
    struct sockaddr_in address;
    unsigned char byte = 0;
    memcpy(&address, shared.state, sizeof(address)); /* the state's first member */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    assert_int_equal(byte, 2);
    close(fd);
    assert_true(bench->verify(&run, PS_VERIFY_AFTER) < 0);
    assert_int_equal(shared.status, PS_FAILED);
    bench->teardown(&run);
}

/* The bound port is the highest descriptor: it is the last that set-up opened. */
static int last_fd(void) {
    int fd = dup(0);
    close(fd);
    return fd - 1;
}

static void test_listener_where_none_should_be_is_no_number(void **state) {
    (void)state;
    assert_int_equal(begin(REFUSED), 0);
    assert_int_equal(listen(last_fd(), 8), 0);
    assert_true(bench->events(&run) < 0);
    assert_int_equal(shared.series[0].n_events, 0);
    assert_int_equal(shared.status, PS_FAILED);
    bench->teardown(&run);
}

static void on_alarm(int signal_number) {
    (void)signal_number;
}

static void test_signals_interrupt_nothing(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = on_alarm}, before; /* no SA_RESTART */
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, &before);
    for (unsigned which = ACCEPTED; which <= REFUSED; which++) {
        assert_int_equal(begin(which), 0);
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        int r = 0;
        for (int i = 0; r == 0 && i < 500; i++)
            r = bench->verify(&run, PS_VERIFY_AFTER);
        setitimer(ITIMER_REAL, &never, NULL);
        assert_int_equal(r, 0);
        bench->teardown(&run);
    }
    sigaction(SIGALRM, &before, NULL);
}

static void test_published_rows_and_relations(void **state) {
    (void)state;
    static const char *const rows[] = {"lat_connect", "tcp_ip_connection_cost_to_localhost"};
    list_cases();
    for (unsigned which = ACCEPTED; which <= REFUSED; which++) {
        assert_int_equal(cases[which].n_published, 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_string_equal(cases[which].published[i].row, rows[i]);
            assert_int_equal(cases[which].published[i].comparable,
                             which == REFUSED ? PS_COMPARABLE_APPROX : PS_COMPARABLE_NO);
            assert_non_null(cases[which].published[i].why);
        }
        assert_int_equal(cases[which].n_relations, which == REFUSED ? 1 : 2);
        assert_true(cases[which].relations[0].factor == (which == REFUSED ? 3 : 10));
    }
}

static int set_up(void **state) {
    (void)state;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return -1;
    while (!CPU_ISSET(cpus[0], &set))
        cpus[0]++;
    return ps_pin_to_cpu((unsigned)cpus[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_are_counted),
        cmocka_unit_test(test_dead_server_is_no_number),
        cmocka_unit_test(test_count_of_connections_is_proved),
        cmocka_unit_test(test_listener_where_none_should_be_is_no_number),
        cmocka_unit_test(test_signals_interrupt_nothing),
        cmocka_unit_test(test_published_rows_and_relations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
