/* SPDX-License-Identifier: MIT
 *
 * The four loops of STREAM (J. D. McCalpin's definition): plain C over doubles, and the compiler
 * may do with them what it can. How they are compiled is fixed in variants.cmake.
 */
#ifndef PS_KERNELS_STREAM_OPS_H
#define PS_KERNELS_STREAM_OPS_H

#include <stddef.h>

#define PSK_STREAM_SCALAR 3.0

void psk_stream_copy(double *restrict c, const double *restrict a, size_t n);  /* c = a */
void psk_stream_scale(double *restrict b, const double *restrict c, size_t n); /* b = q c */
void psk_stream_add(double *restrict c, const double *restrict a, const double *restrict b,
                    size_t n); /* c = a + b */
void psk_stream_triad(double *restrict a, const double *restrict b, const double *restrict c,
                      size_t n); /* a = b + q c */

#endif
