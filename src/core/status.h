/* SPDX-License-Identifier: MIT
 *
 * What can be said of a row: one status, any number of quality marks. The words are the sheet's.
 */
#ifndef PS_CORE_STATUS_H
#define PS_CORE_STATUS_H

#include <stdint.h>

/* Only OK and SUSPECT carry a number; every other status has a one-sentence reason. */
enum ps_status {
    PS_OK,
    PS_SUSPECT,     /* a sanity rule failed; the number stands, marked */
    PS_UNSUPPORTED, /* hardware, kernel or library lacks it */
    PS_SKIPPED,     /* not selected, no budget, does not fit */
    PS_DENIED,      /* a permission is missing; the reason names the remedy */
    PS_UNSAFE,      /* refused, to protect data */
    PS_FAILED,      /* ran, wrong answer or error */
    PS_TIMEOUT,
    PS_ABORTED,
    PS_N_STATUS
};

/* Bits of ps_quality. */
enum ps_quality {
    PS_Q_NOISY = 1 << 0,
    PS_Q_BIMODAL = 1 << 1,
    PS_Q_DRIFTING = 1 << 2,
    PS_Q_CLOCK_CHANGED = 1 << 3,
    PS_Q_THROTTLED = 1 << 4,
    PS_Q_PREEMPTED = 1 << 5,
    PS_Q_EMULATED = 1 << 6,
    PS_Q_CACHE_RESIDENT = 1 << 7,
    PS_Q_BELOW_RESOLUTION = 1 << 8,
    PS_Q_LOW_CONFIDENCE = 1 << 9,
    PS_Q_PRECISION_NOT_REACHED = 1 << 10,
    PS_N_QUALITY = 11
};

/* "ok", "suspect" ...; never NULL. */
const char *ps_status_name(enum ps_status status);
/* Name of bit number `bit` (0 .. PS_N_QUALITY - 1), as in the sheet: "below-resolution". */
const char *ps_quality_name(unsigned bit);
/* 0 and *ret_status, or -22 (EINVAL) for an unknown word. */
int ps_status_from_name(const char *name, enum ps_status *ret_status);
int ps_quality_from_name(const char *name, unsigned *ret_bit);

#endif
