/* SPDX-License-Identifier: MIT
 *
 * Is the processor another program?
 */
#ifndef PS_SYS_EMULATION_H
#define PS_SYS_EMULATION_H

/* "qemu-user", "qemu TCG", or NULL. Static. */
const char *ps_emulated_by(const char *root);

#endif
