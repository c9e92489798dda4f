/* SPDX-License-Identifier: MIT
 *
 * The server holds its own ends and no other, so that the death of either side breaks the line.
 */
#include "sys/round_trip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define STOP_TIMEOUT_MS 1000
#define N_REPORTS 2

/* Asks for a report; what is answered is its successor, 0. */
#define BYTE_REPORT 0xffu

static void fill_report(struct ps_round_trip_report *report) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        memset(&usage, 0, sizeof(usage));
    report->voluntary = (uint64_t)usage.ru_nvcsw;
    report->involuntary = (uint64_t)usage.ru_nivcsw;
    report->cpu = sched_getcpu();
}

/* 0 once the byte is through, or a negative errno; -EPIPE for every way of having no other side. */
__attribute__((always_inline)) static inline int put(int fd, const unsigned char *byte) {
    for (;;) {
        ssize_t moved = write(fd, byte, 1);
        if (moved == 1)
            return 0;
        if (moved == 0)
            return -EIO;
        if (errno != EINTR)
            return errno == ECONNRESET ? -EPIPE : -errno;
    }
}

__attribute__((always_inline)) static inline int get(int fd, unsigned char *ret_byte) {
    for (;;) {
        ssize_t moved = read(fd, ret_byte, 1);
        if (moved == 1)
            return 0;
        if (moved == 0)
            return -EPIPE;
        if (errno != EINTR)
            return errno == ECONNRESET ? -EPIPE : -errno;
    }
}

__attribute__((noinline)) static int loop_client(int in, int out, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        unsigned char asked = (unsigned char)(i & 0x7f), answer = 0xa5;
        int r = put(out, &asked);
        if (r == 0)
            r = get(in, &answer);
        if (r < 0)
            return r;
        if (answer != asked + 1)
            return -EBADMSG;
    }
    return 0;
}

__attribute__((noinline)) static int loop_server(int in, int out,
                                                 struct ps_round_trip_report *report) {
    for (;;) {
        unsigned char byte;
        int r = get(in, &byte);
        if (r == -EPIPE)
            return 0; /* the end of the run */
        if (r == 0 && byte == BYTE_REPORT)
            fill_report(report);
        byte++;
        if (r == 0)
            r = put(out, &byte);
        if (r < 0)
            return -r;
    }
}

static void close_end(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(int *in, int *out) {
    if (*out != *in)
        close_end(out);
    *out = -1;
    close_end(in);
}

static int server_main(void *argument) {
    struct ps_round_trip *trip = argument;
    if (trip->listener >= 0) {
        int fd;
        do {
            fd = accept4(trip->listener, NULL, NULL, SOCK_CLOEXEC);
        } while (fd < 0 && errno == EINTR);
        if (fd < 0)
            return errno;
        close_end(&trip->listener);
        trip->peer_in = trip->peer_out = fd;
    } else {
        close_ends(&trip->in, &trip->out);
    }
    return loop_server(trip->peer_in, trip->peer_out, &trip->reports[1]);
}

static int make_pipes(struct ps_round_trip *trip) {
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) != 0)
        return -errno;
    trip->peer_in = there[0];
    trip->out = there[1];
    if (pipe2(back, O_CLOEXEC) != 0)
        return -errno;
    trip->in = back[0];
    trip->peer_out = back[1];
    return 0;
}

static int make_pair(struct ps_round_trip *trip) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    trip->in = trip->out = ends[0];
    trip->peer_in = trip->peer_out = ends[1];
    return 0;
}

static int make_listener(struct ps_round_trip *trip, struct sockaddr_in *ret_address) {
    socklen_t length = sizeof(*ret_address);
    *ret_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    trip->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (trip->listener < 0 ||
        bind(trip->listener, (struct sockaddr *)ret_address, sizeof(*ret_address)) != 0 ||
        listen(trip->listener, 1) != 0 ||
        getsockname(trip->listener, (struct sockaddr *)ret_address, &length) != 0)
        return -errno;
    return 0;
}

/* With a reset at the end instead of minutes in TIME_WAIT, and never out of this machine. */
static int connect_to(struct ps_round_trip *trip, const struct sockaddr_in *address) {
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    trip->in = trip->out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (trip->in < 0 || setsockopt(trip->in, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) != 0 ||
        connect(trip->in, (const struct sockaddr *)address, sizeof(*address)) != 0)
        return -errno;
    return 0;
}

int ps_round_trip_start(struct ps_round_trip *trip, enum ps_round_trip_kind kind, int server_cpu) {
    struct sockaddr_in address;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    memset(trip, 0, sizeof(*trip));
    trip->in = trip->out = trip->peer_in = trip->peer_out = trip->listener = -1;
    void *reports = mmap(NULL, sizeof(*trip->reports) * N_REPORTS, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED)
        return -errno;
    trip->reports = reports;
    int r = sigaction(SIGPIPE, &ignore, &trip->pipe_before) != 0 ? -errno : 0;
    trip->pipe_ignored = r == 0;
    if (r == 0)
        r = kind == PS_ROUND_TRIP_PIPE   ? make_pipes(trip)
            : kind == PS_ROUND_TRIP_UNIX ? make_pair(trip)
                                         : make_listener(trip, &address);
    if (r == 0)
        r = ps_partner_start(&trip->server, server_cpu, server_main, trip);
    close_ends(&trip->peer_in, &trip->peer_out);
    close_end(&trip->listener);
    if (r == 0 && kind == PS_ROUND_TRIP_TCP)
        r = connect_to(trip, &address);
    if (r < 0)
        ps_round_trip_stop(trip);
    return r;
}

void ps_round_trip_stop(struct ps_round_trip *trip) {
    if (trip->reports == NULL)
        return;
    close_ends(&trip->in, &trip->out);
    close_ends(&trip->peer_in, &trip->peer_out);
    close_end(&trip->listener);
    (void)ps_partner_stop(&trip->server, STOP_TIMEOUT_MS);
    if (trip->pipe_ignored)
        sigaction(SIGPIPE, &trip->pipe_before, NULL);
    munmap(trip->reports, sizeof(*trip->reports) * N_REPORTS);
    memset(trip, 0, sizeof(*trip));
}

int ps_round_trip_go(const struct ps_round_trip *trip, uint64_t n) {
    return loop_client(trip->in, trip->out, n);
}

int ps_round_trip_collect(const struct ps_round_trip *trip) {
    unsigned char byte = BYTE_REPORT;
    int r = put(trip->out, &byte);
    if (r == 0)
        r = get(trip->in, &byte);
    if (r < 0)
        return r;
    fill_report(&trip->reports[0]);
    return byte == 0 ? 0 : -EBADMSG;
}
