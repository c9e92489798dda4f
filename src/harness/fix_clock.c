/* SPDX-License-Identifier: MIT
 *
 * Sets scaling_governor. CPUs of one policy share the file; setting it twice changes nothing. A
 * governor cannot hold a clock that firmware or heat takes away: the clock is probed all the same.
 */
#include "harness/fix_clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/journal.h"

static const char governor[] = "performance";

int ps_fix_clock(struct ps_guard *guard, const char *root, const struct ps_cpu_set *cpus,
                 unsigned *ret_changed, char *ret_why, size_t why_bytes) {
    unsigned changed = 0;
    for (int cpu = ps_cpu_set_next(cpus, 0); cpu >= 0;
         cpu = ps_cpu_set_next(cpus, (unsigned)cpu + 1)) {
        char path[PS_JOURNAL_PATH_MAX], value[PS_JOURNAL_VALUE_MAX];
        if (snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
                     root, cpu) >= (int)sizeof(path))
            return -ENAMETOOLONG;
        int error = ps_guard_set(guard, path, governor);
        if (!error)
            error = ps_journal_read_value(path, value, sizeof(value));
        if (!error && strcmp(value, governor) != 0)
            error = -EIO;
        if (error == -ENOENT)
            snprintf(ret_why, why_bytes,
                     "cpu %d has no cpufreq: its clock cannot be fixed from here", cpu);
        else if (error == -EACCES || error == -EPERM)
            snprintf(ret_why, why_bytes, "only root may fix the clock: run it with sudo");
        else if (error)
            snprintf(ret_why, why_bytes, "%s did not take '%s': %s", path, governor,
                     strerror(-error));
        if (error)
            return error;
        changed++;
    }
    *ret_changed = changed;
    return 0;
}
