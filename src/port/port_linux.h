/* SPDX-License-Identifier: MIT
 *
 * The port of the core to Linux.
 */
#ifndef PS_PORT_PORT_LINUX_H
#define PS_PORT_PORT_LINUX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port.h"

/* Fills in *ret_port, which needs no clearing away. `clock_trusted`: the clock probe's two chains
 * agree (ps_clock_check); else the port has no probe. `resolution_ns` as measured by
 * ps_clock_quality; 0: measure it here. `full_issue` of ps_full_issue, 0 unknown. 0 or a negative
 * errno. */
int ps_port_linux_init(struct ps_port *ret_port, bool clock_trusted, uint64_t resolution_ns,
                       double full_issue);

#endif
