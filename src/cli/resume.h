/* SPDX-License-Identifier: MIT
 *
 * May this sheet be finished here?
 */
#ifndef PS_CLI_RESUME_H
#define PS_CLI_RESUME_H

#include "cli/setup.h"
#include "sheet/sheet.h"

/* Runs of two machines, or of two programs, are no one row's: the sheet's header against what it
 * would be here. An exit code; not 0 after a complaint that names what differs. */
int ps_resume_check(const struct ps_sheet *done, const struct ps_environment *environment,
                    const char *path);

#endif
