/* SPDX-License-Identifier: MIT
 *
 * Which CPUs are there to be measured, and how much of them.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/cgroup.h"
#include "sys/cpuinfo.h"
#include "sys/emulation.h"
#include "sys/root.h"

void ps_check_quota(const struct ps_machine *machine, struct ps_finding *finding) {
    const struct ps_topology *topology = &machine->topology;
    char directory[192];
    bool v2;
    if (topology->quota_cpus <= 0) {
        if (ps_cgroup_has_cpu(machine->root))
            ps_seen(finding, PS_GOOD, "no control group limits the CPU time");
        else
            ps_seen(finding, PS_UNKNOWN,
                    "no CPU control group is mounted here: a quota from outside is not seen");
        return;
    }
    unsigned usable = ps_cpu_set_count(&topology->usable);
    if (!topology->quota_limits) {
        ps_seen(finding, PS_GOOD, "the CPU quota of %.2f covers the %u usable CPUs",
                topology->quota_cpus, usable);
        return;
    }
    ps_seen(finding, PS_BAD, "the control group may use %.2f CPUs, of %u usable ones",
            topology->quota_cpus, usable);
    ps_spoils(finding, topology->quota_cpus < 1
                           ? "every row: it is stopped in mid-sample, 100 ms at a time"
                           : "rows of several threads: they are stopped in mid-sample; fewer "
                             "threads are used");
    if (!ps_cgroup_quota_directory(machine->root, directory, sizeof(directory), &v2))
        ps_mend(finding, "sudo systemd-run --scope --slice=-.slice perfsheet run");
    else if (v2)
        ps_mend(finding, "echo max | sudo tee %s/cpu.max", directory);
    else
        ps_mend(finding, "echo -1 | sudo tee %s/cpu.cfs_quota_us", directory);
}

static bool has_file(const struct ps_machine *machine, const char *path) {
    char text[8];
    int r = ps_read_text(machine->root, path, text, sizeof(text));
    return r != -2 && r != -20; /* any answer but ENOENT and ENOTDIR, "too long" among them */
}

void ps_check_isolated(const struct ps_machine *machine, struct ps_finding *finding) {
    const struct ps_topology *topology = &machine->topology;
    char isolated[64];
    struct ps_cpu_set both = topology->isolated;
    if (!has_file(machine, "/sys/devices/system/cpu/isolated")) {
        ps_seen(finding, PS_UNKNOWN, "this kernel does not say which CPUs are isolated");
        return;
    }
    if (ps_cpu_set_count(&topology->isolated) == 0) {
        ps_seen(finding, PS_GOOD, "no CPU is isolated");
        return;
    }
    ps_cpu_list_format(&topology->isolated, isolated, sizeof(isolated));
    ps_cpu_set_and(&both, &topology->usable);
    unsigned n_both = ps_cpu_set_count(&both), n_usable = ps_cpu_set_count(&topology->usable);
    if (n_both == 0) {
        ps_seen(finding, PS_NOTE, "CPUs %s are isolated and not used: they are the quietest",
                isolated);
        ps_spoils(finding, "nothing; rows of one CPU have less spread there");
        ps_mend(finding, "perfsheet run --cpus %s", isolated);
    } else if (n_both < n_usable) {
        ps_seen(finding, PS_NOTE, "%u of the %u CPUs in use are isolated (%s), the others are not",
                n_both, n_usable, isolated);
        ps_spoils(finding, "rows of several CPUs: quiet and busy CPUs are mixed");
        ps_mend(finding, "perfsheet run --cpus %s", isolated);
    } else {
        ps_seen(finding, PS_GOOD, "every CPU in use is isolated (%s)", isolated);
    }
}

void ps_check_offline(const struct ps_machine *machine, struct ps_finding *finding) {
    const struct ps_topology *topology = &machine->topology;
    char list[64], control[32];
    struct ps_cpu_set offline;
    unsigned n = 0;
    if (!has_file(machine, "/sys/devices/system/cpu/present")) {
        ps_seen(finding, PS_UNKNOWN, "this kernel does not say which CPUs are offline");
        return;
    }
    ps_cpu_set_clear(&offline);
    for (int cpu = ps_cpu_set_next(&topology->present, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&topology->present, (unsigned)cpu + 1))
        if (!ps_cpu_set_has(&topology->online, (unsigned)cpu)) {
            ps_cpu_set_add(&offline, (unsigned)cpu);
            n++;
        }
    if (n == 0) {
        ps_seen(finding, PS_GOOD, "all %u CPUs are online", ps_cpu_set_count(&topology->present));
        return;
    }
    ps_cpu_list_format(&offline, list, sizeof(list));
    if (ps_read_text(machine->root, "/sys/devices/system/cpu/smt/control", control,
                     sizeof(control)) > 0 &&
        strcmp(control, "off") == 0) {
        ps_seen(finding, PS_NOTE, "hardware threads are switched off (CPUs %s)", list);
        ps_spoils(finding, "rows of all CPUs: they are of one thread a core");
        ps_mend(finding, "echo on | sudo tee /sys/devices/system/cpu/smt/control");
        return;
    }
    ps_seen(finding, PS_NOTE, "%u of %u CPUs are offline (%s)", n,
            ps_cpu_set_count(&topology->present), list);
    ps_spoils(finding, "rows of all CPUs: they are of fewer than the board has");
    ps_mend(finding, "echo 1 | sudo tee /sys/devices/system/cpu/cpu%d/online",
            ps_cpu_set_next(&offline, 0));
}

void ps_check_cpuset(const struct ps_machine *machine, struct ps_finding *finding) {
    const struct ps_topology *topology = &machine->topology;
    unsigned usable = ps_cpu_set_count(&topology->usable),
             online = ps_cpu_set_count(&topology->online);
    char list[64], wanted[64];
    struct ps_cpu_set rest = topology->online;
    ps_cpu_list_format(&topology->usable, list, sizeof(list));
    if (!ps_root_is_real(machine->root) && !ps_look_exists(machine, "/proc/self/status")) {
        ps_seen(finding, PS_UNKNOWN, "/proc/self/status is not there: the affinity is not known");
        return;
    }
    /* Isolated CPUs have a check of their own. */
    for (int cpu = ps_cpu_set_next(&topology->isolated, 0); cpu >= 0;
         cpu = ps_cpu_set_next(&topology->isolated, (unsigned)cpu + 1))
        rest.words[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
    struct ps_cpu_set both = rest;
    ps_cpu_set_and(&both, &topology->usable);
    if (topology->explicit_list || ps_cpu_set_count(&both) == ps_cpu_set_count(&rest)) {
        ps_seen(finding, PS_GOOD, "%u of %u online CPUs are used (%s)", usable, online, list);
        return;
    }
    ps_cpu_list_format(&rest, wanted, sizeof(wanted));
    ps_seen(finding, PS_NOTE, "%u of %u online CPUs may be used (%s): affinity or cpuset", usable,
            online, list);
    ps_spoils(finding, "rows of all CPUs: they are of fewer than the board has");
    ps_mend(finding, "perfsheet run --cpus %s   # a cpuset refuses that: leave its control group",
            wanted);
}

void ps_check_emulated(const struct ps_machine *machine, struct ps_finding *finding) {
    char flags[4096], type[64];
    const char *by = ps_emulated_by(machine->root);
    if (by) {
        ps_seen(finding, PS_BAD, "the processor is another program (%s)", by);
        ps_spoils(finding, "every row: it is of the emulator; all are marked emulated");
        ps_mend(finding, "perfsheet run   # on the board itself");
    } else if (ps_read_text(machine->root, "/sys/hypervisor/type", type, sizeof(type)) > 0 ||
               (ps_cpuinfo_value(machine->root, "flags", flags, sizeof(flags)) &&
                strstr(flags, "hypervisor"))) {
        ps_seen(finding, PS_NOTE, "this is a guest on a host that others may use too");
        ps_spoils(finding, "os rows (traps to the host), memory rows (two page tables), any row "
                           "while the host is busy");
        ps_mend(finding, "perfsheet run   # on the host or the board itself");
    } else if (ps_look_exists(machine, "/proc/cpuinfo")) {
        ps_seen(finding, PS_GOOD, "no emulator and no hypervisor shows");
    } else {
        ps_seen(finding, PS_UNKNOWN, "/proc/cpuinfo is not there");
    }
}
