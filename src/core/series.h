/* SPDX-License-Identifier: MIT
 *
 * The samples of one metric in one run.
 */
#ifndef PS_CORE_SERIES_H
#define PS_CORE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"

#define PS_SAMPLES_MAX 1000

struct ps_series {
    unsigned n;
    unsigned capacity;
    double *samples;  /* raw base units: ns per unit of work, gross; or what was pushed */
    double *baseline; /* ns per unit, timed beside samples[i]; NULL: none */
    double *mhz;      /* mean of the probes on either side of samples[i]; 0 unknown; NULL: none */
    double *baseline_mhz;
    double *issue; /* adds per cycle, the lowest of the probes around samples[i]; NULL: none */
    /* Smallest time per unit that this run could tell from nothing: 1.5 x the empty loop, and the
     * clock's own step over a sample. 0 for readings. */
    double resolution;
    struct ps_histogram *histogram; /* of single events, ns; NULL: none */
    uint64_t n_events;              /* pushed in all, when more than the samples kept */
};

/* Whether a sample's core was shared with another busy hardware thread: adds per cycle more than 5
 * % below what they are on a core of one's own (a busy neighbour takes 10 to 50 %). False when
 * either is unknown. */
bool ps_core_shared(double issue, double full_issue);

/* Whether so many of n samples are enough to stand for all: five, and a fifth of them. */
bool ps_enough_unshared(unsigned unshared, unsigned n);

/* Pushes a value; beyond the capacity only the histogram (when there is one) and n_events grow. */
void ps_series_push(struct ps_series *series, double value);

#endif
