/* SPDX-License-Identifier: MIT
 *
 * The error numbers that the freestanding layers return (negative). They are Linux's, which x86,
 * Arm and RISC-V share, so that hosted code may compare them with <errno.h>.
 */
#ifndef PS_CORE_ERRORS_H
#define PS_CORE_ERRORS_H

enum {
    PS_EIO = 5,
    PS_ENOMEM = 12,
    PS_EINVAL = 22,
    PS_ENOSYS = 38,
    PS_EOPNOTSUPP = 95,
    PS_ECANCELED = 125,
};

#endif
