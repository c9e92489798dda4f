/* SPDX-License-Identifier: MIT
 *
 * Log-linear histogram. With S = sub_bits: values below 2^S have a bucket each. A value of bit
 * length L > S loses its lowest L - S bits, so a bucket is w = 2^(L-S) wide and starts at 2^(S-1) x
 * w or above; its middle is at most w/2 from any value in it, hence within 2^-S of it.
 */
#include "core/histogram.h"

#include "core/assert.h"

#define HALF (1u << (PS_HISTOGRAM_SUB_BITS - 1)) /* buckets in an octave */

void ps_histogram_init(struct ps_histogram *histogram) {
    *histogram = (struct ps_histogram){.min = UINT64_MAX};
}

/* Bits that a bucket of this value drops. */
static unsigned shift_of(uint64_t value) {
    unsigned length = value == 0 ? 0 : 64u - (unsigned)__builtin_clzll(value);
    return length > PS_HISTOGRAM_SUB_BITS ? length - PS_HISTOGRAM_SUB_BITS : 0;
}

unsigned ps_histogram_bucket(uint64_t value) {
    unsigned shift = shift_of(value);
    return shift * HALF + (unsigned)(value >> shift);
}

static unsigned shift_of_bucket(unsigned bucket) {
    return bucket < 2 * HALF ? 0 : bucket / HALF - 1;
}

uint64_t ps_histogram_low(unsigned bucket) {
    unsigned shift = shift_of_bucket(bucket);
    return (uint64_t)(bucket - shift * HALF) << shift;
}

void ps_histogram_add(struct ps_histogram *histogram, uint64_t value) {
    unsigned bucket = ps_histogram_bucket(value);
    histogram->n++;
    if (bucket < PS_HISTOGRAM_BUCKETS)
        histogram->counts[bucket]++;
    else
        histogram->over++;
    if (value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
}

void ps_histogram_merge(struct ps_histogram *into, const struct ps_histogram *from) {
    into->n += from->n;
    into->over += from->over;
    for (unsigned i = 0; i < PS_HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

/* The smallest value at or below which at least q x n values lie. */
double ps_histogram_quantile(const struct ps_histogram *histogram, double q) {
    PS_ASSERT(q >= 0 && q <= 1);
    if (histogram->n == 0)
        return 0;
    double wanted = q * (double)histogram->n;
    uint64_t seen = 0;
    for (unsigned i = 0; i < PS_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (histogram->counts[i] == 0 || (double)seen < wanted)
            continue;
        uint64_t width = UINT64_C(1) << shift_of_bucket(i);
        double middle = (double)ps_histogram_low(i) + (double)(width - 1) / 2;
        /* The extremes are known exactly. */
        if (middle < (double)histogram->min)
            return (double)histogram->min;
        return middle > (double)histogram->max ? (double)histogram->max : middle;
    }
    return (double)histogram->max;
}
