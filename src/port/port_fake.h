/* SPDX-License-Identifier: MIT
 *
 * A machine that is not there, for tests: its clock moves only when told to, its team runs in
 * simulated parallel time and is deterministic. Set it up, make a port of it, and let benchmarks
 * advance it.
 */
#ifndef PS_PORT_PORT_FAKE_H
#define PS_PORT_PORT_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/counter.h"
#include "core/port.h"

#define PS_FAKE_THREADS_MAX 16

struct ps_fake_thread {
    pthread_t thread;
    pthread_cond_t turn;
    uint64_t now_ns; /* each thread has got to a time of its own */
    bool active;
    bool waiting; /* in relax(): will go on when somebody else has done something */
};

struct ps_fake {
    /* To be set between ps_fake_init and ps_fake_port; what is 0 is not there. */
    uint64_t step_ns;      /* the clock is seen to move in such steps */
    unsigned counter_bits; /* it is a counter of ns so wide, which the port widens; one thread */
    uint64_t read_ns;      /* reading it takes so long */
    uint64_t backward_at_ns, backward_by_ns; /* it steps back once, at this time */
    bool stopped;                            /* it stands still */
    const double *mhz; /* what the probes see, one after the other; the last again and again */
    unsigned n_mhz;
    const double *issue; /* adds per cycle, likewise */
    unsigned n_issue;
    double full_issue;
    uint64_t switch_every_ns; /* involuntary switches */
    uint64_t start_delay_ns[PS_FAKE_THREADS_MAX];
    uint64_t memory_limit_bytes; /* map fails beyond */
    bool no_huge_pages;
    int team_error; /* negative: what team returns, without running anybody */

    /* To be read. */
    uint64_t now_ns;   /* outside a team; true time, without step and wrap */
    unsigned n_probes; /* taken */
    unsigned n_issue_probes;
    unsigned n_kicks;
    uint64_t mapped_bytes; /* and not unmapped */

    /* Its own. */
    struct ps_counter counter;
    pthread_mutex_t lock;
    struct ps_fake_thread threads[PS_FAKE_THREADS_MAX];
    unsigned n_threads; /* 0 outside a team */
    unsigned running;   /* whose turn it is */
};

void ps_fake_init(struct ps_fake *fake);
void ps_fake_done(struct ps_fake *fake);
void ps_fake_port(struct ps_fake *fake, struct ps_port *ret_port);

/* The calling thread works for so long. */
void ps_fake_advance(struct ps_fake *fake, uint64_t time_ns);

#endif
