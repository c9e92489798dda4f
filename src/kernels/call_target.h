/* SPDX-License-Identifier: MIT
 *
 * The callee of the procedure call row.
 */
#ifndef PS_KERNELS_CALL_TARGET_H
#define PS_KERNELS_CALL_TARGET_H

#include <stdint.h>

/* Adds its argument to a total that lives in memory. */
void psk_call_target(int value);
/* The total so far, modulo 2^32. */
uint32_t psk_call_target_total(void);

#endif
