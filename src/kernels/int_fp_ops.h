/* SPDX-License-Identifier: MIT
 *
 * Chains of one arithmetic operation. In a chain every operation waits for the one before; eight
 * chains side by side show how many the core does at once.
 */
#ifndef PS_KERNELS_INT_FP_OPS_H
#define PS_KERNELS_INT_FP_OPS_H

#include <stdint.h>

#define PSK_OPS_STEPS 64u /* operations in one turn, of one chain or of all eight together */
#define PSK_OPS_CHAINS 8u

/* `x` is PSK_OPS_CHAINS values of the operation's type, which are read and written back; `k` is two
 * constants, which even and odd steps take in turn. No value may become 0 where it is a divisor. */
typedef void psk_ops_kernel(void *x, const void *k, uint64_t turns);

struct psk_ops {
    const char *name; /* "int64-add" */
    enum psk_ops_type { PSK_OPS_INT, PSK_OPS_INT64, PSK_OPS_FLOAT, PSK_OPS_DOUBLE } type;
    psk_ops_kernel *latency;    /* x[0] alone */
    psk_ops_kernel *throughput; /* all of x, PSK_OPS_STEPS / PSK_OPS_CHAINS steps each */
    psk_ops_kernel *plain;      /* x[0]: one step a turn, through memory; the proof of the others */
};

#define PSK_OPS_COUNT 16u
extern const struct psk_ops psk_ops[PSK_OPS_COUNT];

#endif
