/* SPDX-License-Identifier: MIT
 *
 * Log-linear histogram of unsigned values with a bounded relative error: values below 2^sub_bits
 * are counted exactly, above it each octave has 2^(sub_bits-1) buckets, so a bucket's middle is
 * within 2^-sub_bits of every value in it (1.6 % at 6).
 */
#ifndef PS_CORE_HISTOGRAM_H
#define PS_CORE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define PS_HISTOGRAM_SUB_BITS 6
/* Values up to 2^40 ns, 18 minutes. */
#define PS_HISTOGRAM_BUCKETS ((40 - PS_HISTOGRAM_SUB_BITS + 2) << (PS_HISTOGRAM_SUB_BITS - 1))

struct ps_histogram {
    uint64_t n;
    uint64_t over; /* beyond the last bucket */
    uint64_t min;
    uint64_t max;
    uint32_t counts[PS_HISTOGRAM_BUCKETS];
};

void ps_histogram_init(struct ps_histogram *histogram);
void ps_histogram_add(struct ps_histogram *histogram, uint64_t value);
void ps_histogram_merge(struct ps_histogram *into, const struct ps_histogram *from);
/* Bucket index of a value and the lowest value of a bucket. */
unsigned ps_histogram_bucket(uint64_t value);
uint64_t ps_histogram_low(unsigned bucket);
/* The q-quantile (0 <= q <= 1), middle of its bucket; NaN-free: 0 with n == 0, so ask n first. */
double ps_histogram_quantile(const struct ps_histogram *histogram, double q);

#endif
