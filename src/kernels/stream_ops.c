/* SPDX-License-Identifier: MIT
 *
 * Compiled with -O3, and with the transformation off that would make a library call of the copy
 * loop: the row is to say what loads and stores do, bw_mem's bcopy says what the library does.
 */
#include "kernels/stream_ops.h"

void psk_stream_copy(double *restrict c, const double *restrict a, size_t n) {
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

void psk_stream_scale(double *restrict b, const double *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++)
        b[i] = PSK_STREAM_SCALAR * c[i];
}

void psk_stream_add(double *restrict c, const double *restrict a, const double *restrict b,
                    size_t n) {
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

void psk_stream_triad(double *restrict a, const double *restrict b, const double *restrict c,
                      size_t n) {
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + PSK_STREAM_SCALAR * c[i];
}
