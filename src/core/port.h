/* SPDX-License-Identifier: MIT
 *
 * What the core needs of the platform. port_linux, port_fake and one port per microcontroller
 * family fill it in; no global state, everything through `self`.
 */
#ifndef PS_CORE_PORT_H
#define PS_CORE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bench.h"

struct ps_port {
    void *self;
    /* Clock of batches; never steps. A port with a narrow counter widens it with the mask. */
    uint64_t (*now_ns)(void *self);
    /* Clock of events, comparable with absolute sleeps and kernel stamps. */
    uint64_t (*now_event_ns)(void *self);
    uint64_t resolution_ns; /* smallest step of now_ns that was seen, at least 1 */
    uint64_t read_ns;       /* cost of reading it */
    /* Core clock of the calling thread right now, MHz; 0 unknown. NULL: the port has no probe. */
    double (*probe_mhz)(void *self);
    /* Independent adds per us that the calling thread gets done right now; 0 unknown. It falls when
     * another hardware thread of the same core is busy, which neither a chain of dependent adds nor
     * the run queue shows. NULL: the port has no probe. */
    double (*probe_issue)(void *self);
    double full_issue; /* adds per cycle when the core is its own; 0 unknown */
    /* Involuntary context switches of the calling thread so far. NULL: cannot be told. */
    uint64_t (*switches)(void *self);
    /* Fresh memory, prefaulted unless request->untouched. 0, -ENOMEM, or -EOPNOTSUPP when the page
     * kind was not granted. */
    int (*map)(void *self, const struct ps_memory *request, uint64_t bytes, void **ret_memory);
    void (*unmap)(void *self, void *memory, uint64_t bytes);
    /* What map returns is zeroed. False: the core does it. */
    bool map_zeroes;
    /* Runs function(argument, i) for i in 0..n-1, each on CPU number cpus[i], 0 in the calling
     * thread; returns when all have returned. NULL or -ENOSYS: no teams here. */
    int (*team)(void *self, unsigned n, const int *cpus,
                void (*function)(void *argument, unsigned i), void *argument);
    /* While waiting at a barrier. NULL: nothing. */
    void (*relax)(void *self);
    /* Called between samples (watchdogs). NULL: nothing. */
    void (*kick)(void *self);
};

#endif
