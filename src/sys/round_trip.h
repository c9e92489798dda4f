/* SPDX-License-Identifier: MIT
 *
 * Round trips of one byte between the caller and a server process, over two pipes, a pair of UNIX
 * stream sockets, or TCP on the loopback interface; and the callbacks of the tables made of them.
 */
#ifndef PS_SYS_ROUND_TRIP_H
#define PS_SYS_ROUND_TRIP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/bench.h"
#include "sys/partner.h"

enum ps_round_trip_kind { PS_ROUND_TRIP_PIPE, PS_ROUND_TRIP_UNIX, PS_ROUND_TRIP_TCP };

struct ps_round_trip_report {
    uint64_t voluntary, involuntary; /* context switches so far */
    int cpu;                         /* that it runs on */
};

struct ps_round_trip {
    int in, out;           /* the caller's ends; one descriptor where they are a socket */
    int peer_in, peer_out; /* the server's, until it has them */
    int listener;          /* of TCP: the server accepts from it */
    struct ps_partner server;
    struct ps_round_trip_report *reports; /* the caller's, the server's; in shared memory */
    struct sigaction pipe_before;
    bool pipe_ignored;
};

/* Starts the server, pinned to server_cpu (-1: not), and connects to it. SIGPIPE is ignored until
 * _stop. 0, or a negative errno with nothing left behind. */
int ps_round_trip_start(struct ps_round_trip *trip, enum ps_round_trip_kind kind, int server_cpu);
/* n times a byte there and the server's answer, the byte plus one, back. 0, -EPIPE when the server
 * is gone, -EBADMSG when its answer is wrong, or another negative errno. */
int ps_round_trip_go(const struct ps_round_trip *trip, uint64_t n);
/* One round trip that has trip->reports filled in. Returns as above. */
int ps_round_trip_collect(const struct ps_round_trip *trip);
/* Does nothing for one that is stopped. */
void ps_round_trip_stop(struct ps_round_trip *trip);

/* A table's rows: both processes on one CPU, on two of one cluster, on two of unequal clusters. */
void ps_round_trip_cases(const struct ps_env *env, struct ps_case_list *list,
                         void (*finish)(struct ps_case *c));
/* "<table>/<place of c>:latency" of the same place is not slower than c, within 10 %. */
void ps_round_trip_relate(struct ps_case *c, const char *table, const char *cause);
int ps_round_trip_setup(struct ps_run *run, enum ps_round_trip_kind kind);
void ps_round_trip_teardown(struct ps_run *run);
int ps_round_trip_batch(struct ps_run *run, unsigned segment, uint64_t n);
int ps_round_trip_verify(struct ps_run *run, enum ps_verify_when when);

#endif
