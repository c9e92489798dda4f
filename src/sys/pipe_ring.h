/* SPDX-License-Identifier: MIT
 *
 * A ring of pinned processes joined by pipes, around which a 4-byte token goes. On each visit a
 * process reads the token, sums its private array, and writes the token on. Process 0 is the
 * caller.
 */
#ifndef PS_SYS_PIPE_RING_H
#define PS_SYS_PIPE_RING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/partner.h"

#define PS_PIPE_RING_MAX 8

struct ps_pipe_ring;

struct ps_pipe_ring_member {
    struct ps_pipe_ring *ring;
    unsigned index;
    int cpu;     /* that it is to run on; -1: any */
    int in, out; /* its ends of the pipes */
    const uint64_t *array;
    uint64_t sum; /* that the array must have */
};

struct ps_pipe_ring_report {
    uint64_t voluntary, involuntary; /* context switches so far */
    int cpu;                         /* that it runs on */
};

struct ps_pipe_ring {
    unsigned processes;
    size_t words; /* of an array */
    int pipes[PS_PIPE_RING_MAX + 1]
             [2]; /* [i] leads to process i; the one after the last to nobody */
    struct ps_pipe_ring_member members[PS_PIPE_RING_MAX];
    struct ps_partner partners[PS_PIPE_RING_MAX];
    struct ps_pipe_ring_report *reports; /* one a process, in shared memory */
    struct sigaction pipe_before;
    bool pipe_ignored;
};

/* Starts processes 1 .. processes - 1, pinned to cpus[i]; the caller is pinned already. `array` of
 * `words` words (a multiple of 8; 0 and NULL: none) is the caller's own, filled from `seed`; the
 * others map theirs. SIGPIPE is ignored until _stop, so that a ring that breaks says so by -EPIPE.
 * 0, or a negative errno with nothing left behind. */
int ps_pipe_ring_start(struct ps_pipe_ring *ring, unsigned processes, const int *cpus,
                       uint64_t *array, size_t words, uint64_t seed);
/* Sends the token around n times. 0, -EPIPE when a process died, -EBADMSG when the token did not
 * pass through all of them or the caller's array did not add up, or another negative errno. */
int ps_pipe_ring_rounds(struct ps_pipe_ring *ring, uint64_t n);
/* What a hop costs without a switch: n times the token through a pipe and back to the caller, and
 * the sum of the caller's array. Returns as above. */
int ps_pipe_ring_alone(struct ps_pipe_ring *ring, uint64_t n);
/* Sends the token around once to have ring->reports filled in. Returns as above. */
int ps_pipe_ring_collect(struct ps_pipe_ring *ring);
void ps_pipe_ring_stop(struct ps_pipe_ring *ring);

#endif
