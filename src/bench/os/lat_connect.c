/* SPDX-License-Identifier: MIT
 *
 * What a TCP connection over the loopback interface costs the side that asks for it: `accepted` by
 * a live server on the same CPU, and `refused` by a port that is bound but not listened at.
 *
 * Timed are socket and connect, and the closing. Between the two, outside the time, the client
 * waits for a byte from the server: it never outruns accept(), so that no SYN is dropped from a
 * full queue and sent again a second later, and the byte, the number of the connection, proves that
 * this server accepted this connection. The client closes with a reset (SO_LINGER 0): no port stays
 * in TIME_WAIT. The server holds a connection until it has accepted the next one, and so is not
 * woken by a closing that is being timed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/bench.h"
#include "sys/partner.h"

#define SETTLING_EVENTS 10
#define BACKLOG 16
#define PREDICTED_MS 50 /* of a run, at 100 us a connection */

struct connect_state {
    struct sockaddr_in address;
    int port_fd; /* listens, until the server alone has it; or is only bound */
    struct ps_partner server;
    bool refused;
    unsigned char n; /* connections accepted so far, modulo 256 */
    int cpu;
};

static int connect_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    static const char no_server[] =
        "the vendor ran no server: its value is the time of a refused connection";
    static const char refused_too[] =
        "refused as well, as the vendor ran no server; its region has a setsockopt and a failing "
        "close more, it is not pinned, and it is a mean";
    for (unsigned i = 0; i < 2; i++) {
        bool refused = i == 1;
        struct ps_case *c = ps_case_add(list, refused ? "refused" : "accepted");
        if (c == NULL)
            continue;
        c->bound = PS_BOUND_WAKE;
        c->predicted_ms = PREDICTED_MS;
        c->place.pairing = PS_PAIR_SAME_CPU;
        c->tags = refused ? 0 : PS_TAG_HEADLINE;
        ps_case_param_text(c, "server", refused ? "none" : "on the client's CPU");
        /* A refusal is little more than its three system calls where each of them is dear. */
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-03", "latency", "os.lat_syscall/null:latency",
                       refused ? 3 : 10, 0,
                       "a connection is more than three system calls: some of them failed");
        if (!refused)
            ps_case_relate(c, PS_ORDER_AT_LEAST, "os-03", "latency",
                           "os.lat_connect/refused:latency", 1, 0.1,
                           "a connection costs more than its refusal: a run was disturbed");
        enum ps_comparable comparable = refused ? PS_COMPARABLE_APPROX : PS_COMPARABLE_NO;
        const char *why = refused ? refused_too : no_server;
        ps_case_publish(c, "latency", "am62l", "lmbench", "lat_connect", comparable, why);
        ps_case_publish(c, "latency", "am62l", "lmbench", "tcp_ip_connection_cost_to_localhost",
                        comparable, why);
    }
    return 0;
}

static int server_main(void *argument) {
    const struct connect_state *state = argument;
    unsigned char n = 0;
    int before = -1;
    for (;;) {
        int fd = accept4(state->port_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return errno;
        if (before >= 0)
            close(before);
        before = fd;
        n++;
        ssize_t sent;
        do {
            sent = send(fd, &n, 1, MSG_NOSIGNAL);
        } while (sent < 0 && errno == EINTR);
        if (sent != 1)
            return sent < 0 ? errno : EIO;
    }
}

static int make_port(struct connect_state *state) {
    socklen_t length = sizeof(state->address);
    struct sockaddr *address = (struct sockaddr *)&state->address;
    state->address.sin_family = AF_INET;
    state->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    state->port_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (state->port_fd < 0 || bind(state->port_fd, address, length) != 0 ||
        (!state->refused && listen(state->port_fd, BACKLOG) != 0) ||
        getsockname(state->port_fd, address, &length) != 0)
        return -errno;
    return 0;
}

static void connect_teardown(struct ps_run *run) {
    struct connect_state *state = ps_run_state(run);
    if (state == NULL)
        return;
    ps_partner_kill(&state->server);
    if (state->port_fd >= 0)
        close(state->port_fd);
    ps_run_set_state(run, NULL);
}

static int connect_setup(struct ps_run *run) {
    struct connect_state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return -ENOMEM;
    memset(state, 0, sizeof(*state));
    state->refused = strcmp(ps_run_case(run)->name, "refused") == 0;
    state->cpu = ps_run_cpu(run, 0);
    state->port_fd = -1;
    ps_run_set_state(run, state);
    int r = make_port(state);
    if (r == 0 && !state->refused) {
        r = ps_partner_start(&state->server, state->cpu, server_main, state);
        if (r == 0) {
            close(state->port_fd); /* so that the port dies with the server */
            state->port_fd = -1;
        }
    }
    if (r < 0)
        connect_teardown(run);
    if (r == -ENOSYS || r == -EAFNOSUPPORT || r == -EPROTONOSUPPORT)
        return ps_run_end(run, PS_UNSUPPORTED, -r,
                          "this kernel, or a sandbox around this program, has no TCP");
    if (r == -EADDRNOTAVAIL || r == -ENETUNREACH)
        return ps_run_end(run, PS_UNSUPPORTED, -r,
                          "needs the loopback interface: ip link set lo up");
    if (r == -EACCES || r == -EPERM)
        return ps_run_end(run, PS_DENIED, -r,
                          "sockets are forbidden here: a sandbox or a firewall");
    return r;
}

/* A connect() that a signal interrupted goes on by itself. */
static int await_connect(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    int error = 0, r;
    socklen_t length = sizeof(error);
    do {
        r = poll(&poll_fd, 1, -1);
    } while (r < 0 && errno == EINTR);
    if (r < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        return -errno;
    return -error;
}

static int await_byte(int fd, unsigned char *ret_byte) {
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    ssize_t n;
    if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) != 0)
        return -errno;
    do {
        n = recv(fd, ret_byte, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? 0 : n == 0 ? -EPIPE : -errno;
}

static int connect_failed(struct ps_run *run, const struct connect_state *state, int r) {
    if (state->refused && r == 0)
        return ps_run_end(run, PS_FAILED, 0, "a port at which nobody listens took a connection");
    if (!state->refused && (r == -ECONNREFUSED || r == -ECONNRESET || r == -EPIPE))
        return ps_run_end(run, PS_FAILED, -r, "the server process died");
    return r;
}

/* One connection and its end. Sets *ret_ns to the time of socket, connect and close alone. */
static int connect_once(struct ps_run *run, uint64_t *ret_ns) {
    struct connect_state *state = ps_run_state(run);
    unsigned char byte = 0;
    uint64_t start_ns = ps_run_now_ns(run);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int r = connect(fd, (const struct sockaddr *)&state->address, sizeof(state->address)) == 0
                ? 0
                : -errno;
    if (r == -EINTR)
        r = await_connect(fd);
    uint64_t connected_ns = ps_run_now_ns(run);
    bool wanted = r == (state->refused ? -ECONNREFUSED : 0);
    if (wanted && !state->refused) {
        r = await_byte(fd, &byte);
        wanted = r == 0;
    }
    uint64_t closing_ns = ps_run_now_ns(run);
    int closed = close(fd) == 0 ? 0 : -errno;
    *ret_ns = connected_ns - start_ns + ps_run_now_ns(run) - closing_ns;
    if (!wanted)
        return connect_failed(run, state, r);
    if (closed < 0 && closed != -EINTR)
        return closed;
    if (!state->refused && byte != ++state->n)
        return ps_run_end(run, PS_FAILED, 0,
                          "the server's count of connections is not the client's");
    return 0;
}

static int connect_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)when;
    const struct connect_state *state = ps_run_state(run);
    uint64_t ns;
    if (state->cpu >= 0 && sched_getcpu() != state->cpu)
        return ps_run_end(run, PS_FAILED, 0,
                          "the client does not run on the CPU that the row names");
    return connect_once(run, &ns);
}

static int connect_events(struct ps_run *run) {
    const unsigned wanted = ps_run_events_wanted(run);
    for (unsigned i = 0; i < SETTLING_EVENTS + wanted; i++) {
        uint64_t ns;
        int r = connect_once(run, &ns);
        if (r < 0)
            return r;
        if (i >= SETTLING_EVENTS)
            ps_run_event(run, 0, (double)ns);
    }
    return 0;
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_READING,
        .counts = "one connection: socket, connect and close",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        .bound = PS_BOUND_WAKE,
        .sample_stat = PS_STAT_MEDIAN,
        .run_stat = PS_STAT_MEDIAN,
    },
};

const struct ps_bench ps_bench_os_lat_connect = {
    .chapter = "os",
    .table = "lat_connect",
    .title = "TCP connection cost, loopback",
    .about = "A TCP connection over the loopback interface, accepted by a server on the same CPU, "
             "or refused by a port without a listener. The value is the median of single "
             "connections; the server's part after the handshake is not in it.",
    .region = "socket and connect, then close with a reset; the wait for the server's byte between "
              "them is not timed",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = connect_cases,
    .setup = connect_setup,
    .teardown = connect_teardown,
    .events = connect_events,
    .events_per_run = 500,
    .events_per_run_quick = 160,
    .verify = connect_verify,
};
