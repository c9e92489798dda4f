/* SPDX-License-Identifier: MIT
 *
 * A run of one pointer chase, for the tables that differ in nothing but its order and its lines.
 */
#ifndef PS_KERNELS_CHASE_RUN_H
#define PS_KERNELS_CHASE_RUN_H

#include "core/bench.h"

enum psk_chase_order {
    PSK_CHASE_RANDOM,
    PSK_CHASE_FORWARD, /* line_bytes is the stride */
    PSK_CHASE_BY_PAGE, /* random in each page, which come in random order */
};

struct psk_chase_plan {
    enum psk_chase_order order;
    size_t n_lines, line_bytes;
    size_t page_bytes; /* BY_PAGE only; n_lines is a multiple of its lines */
};

/* What the case's memory request must hold for n_lines of line_bytes: the lines, and a bit for each
 * (the proof's marks). */
uint64_t psk_chase_memory_bytes(uint64_t n_lines, uint64_t line_bytes);
/* Set-up of one run takes so long, beyond touching the memory. */
unsigned psk_chase_predicted_ms(uint64_t n_lines);

/* The callbacks of a table. setup builds the chase and sets the run's state. An iteration of batch
 * is units() loads, from where the last batch stopped: a sample need not be a whole lap. */
int psk_chase_setup(struct ps_run *run, const struct psk_chase_plan *plan);
int psk_chase_batch(struct ps_run *run, unsigned segment, uint64_t n);
uint64_t psk_chase_units(const struct ps_case *c, unsigned segment);
int psk_chase_verify(struct ps_run *run, enum ps_verify_when when);

#endif
