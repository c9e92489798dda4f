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

/* One chase of a run. */
struct psk_chase {
    char *lines;
    size_t n_lines, line_bytes;
    uint8_t *marks; /* the proof's */
    void *start;    /* a random line */
    void *at;       /* where the last batch stopped */
    uint64_t done;  /* loads since the start */
};

/* What the case's memory request must hold for n_lines of line_bytes: the lines, and a bit for each
 * (the proof's marks), with room to align both. */
uint64_t psk_chase_memory_bytes(uint64_t n_lines, uint64_t line_bytes);
/* Set-up of one run takes so long, beyond touching the memory. */
unsigned psk_chase_predicted_ms(uint64_t n_lines);

/* Takes memory from the run and builds the chase; chases of one run differ by `salt`. 0, or the run
 * has ended. */
int psk_chase_make(struct ps_run *run, const struct psk_chase_plan *plan, uint64_t salt,
                   struct psk_chase *ret_chase);
/* PSK_CHASE_LOADS loads, n times, from where the chase is. */
void psk_chase_go_on(struct psk_chase *chase, uint64_t n);
/* Before: it is one cycle. After: the loads have led to where as many loads lead. 0, or the run has
 * ended. */
int psk_chase_prove(struct ps_run *run, const struct psk_chase *chase, enum ps_verify_when when);

/* The callbacks of a table whose run is one chase. setup sets the run's state. An iteration of
 * batch is units() loads: a sample need not be a whole lap. */
int psk_chase_setup(struct ps_run *run, const struct psk_chase_plan *plan);
int psk_chase_batch(struct ps_run *run, unsigned segment, uint64_t n);
uint64_t psk_chase_units(const struct ps_case *c, unsigned segment);
int psk_chase_verify(struct ps_run *run, enum ps_verify_when when);

#endif
