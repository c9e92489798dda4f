/* SPDX-License-Identifier: MIT
 *
 * A cache line that two CPUs pass to and fro, by compare-and-exchange on the one word in it.
 */
#ifndef PS_KERNELS_LINE_PASS_H
#define PS_KERNELS_LINE_PASS_H

#include <stdint.h>

/* Two lines, as many processors fetch the neighbour too. */
struct psk_line {
    _Alignas(128) uint32_t turn; /* even: the first CPU's, odd: the second's */
};

/* n round trips from the even value `turn`: passes the line and waits until it is back. Returns how
 * many were made: fewer where no answer came in 2^30 looks. */
uint64_t psk_line_lead(struct psk_line *line, uint32_t turn, uint64_t n);
/* The other side, n times from the odd value `turn`, without a limit. */
void psk_line_follow(struct psk_line *line, uint32_t turn, uint64_t n);

#endif
