/* SPDX-License-Identifier: MIT
 *
 * The inside of a run, for core/, the ports and the harness. Benchmarks see bench.h only.
 */
#ifndef PS_CORE_RUN_H
#define PS_CORE_RUN_H

#include "core/arena.h"
#include "core/bench.h"
#include "core/port.h"
#include "core/series.h"

#define PS_CPUS_PER_RUN_MAX 1024
#define PS_ARENA_SLACK_BYTES 65536

/* What all threads of a run share. */
struct ps_run_shared {
    const struct ps_bench *bench;
    const struct ps_case *c;
    const struct ps_port *port;
    struct ps_arena arena;
    void *state;
    const int *cpus; /* assigned CPU numbers */
    unsigned n_cpus;
    unsigned threads;
    unsigned events_wanted;
    uint64_t seed;
    struct ps_series series[PS_METRICS_MAX];

    enum ps_status status;
    int error; /* positive errno, 0 none */
    const char *reason;
    uint32_t quality;

    /* Summary of the run's witness that the core can see by itself. */
    double mhz_median, mhz_min, mhz_max;       /* 0 unknown */
    double issue_median, issue_min, issue_max; /* adds per cycle; 0 unknown */
    double full_issue;                         /* what they are held against; 0 unknown */
    unsigned n_shared;                         /* samples whose core was shared */
    unsigned n_samples;                        /* timed samples taken */
    unsigned n_switched;                       /* of those, with an involuntary switch inside */
    unsigned n_dropped; /* samples dropped because the clock went backwards */
    double null_ns;     /* one turn of the empty loop */
    const char *stop;   /* "fixed", "time" or "events" */
    uint64_t timed_ns;  /* length of the timed window */

    /* Atomic; the threads of a team share them. */
    unsigned ended;      /* status, error and reason are somebody's */
    unsigned arena_lock; /* taken */
};

struct ps_run {
    struct ps_run_shared *shared;
    unsigned thread;
};

/* Somebody, on whatever thread, has ended the case. */
bool ps_run_ended(const struct ps_run *run);
/* What a callback returned: a negative value ends the case as failed, unless the callback did that
 * itself. 0, or a negative value when the case is over. */
int ps_run_check(struct ps_run *run, int ret, const char *reason);

#endif
