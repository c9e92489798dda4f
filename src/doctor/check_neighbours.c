/* SPDX-License-Identifier: MIT
 *
 * Who else uses the machine while this program sleeps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/cpu_load.h"
#include "sys/root.h"

/* What disturbs a run (docs/METHOD.md). */
#define FOREIGN_PCT_MAX 5
#define STEAL_PCT_MAX 1
#define SHARED_MAX 0.1 /* beyond, windows are extended and values left out (docs/METHOD.md) */

void ps_check_load(const struct ps_machine *machine, struct ps_finding *finding) {
    char who[96] = "";
    if (machine->foreign_pct < 0) {
        ps_seen(finding, PS_UNKNOWN, "the CPU time of others was not measured");
        return;
    }
    if (machine->foreign_pct <= FOREIGN_PCT_MAX) {
        ps_seen(finding, PS_GOOD, "others use %.1f %% of the CPUs", machine->foreign_pct);
        return;
    }
    /* Short-lived processes are in the sum and have no name. */
    double busiest_pct = machine->busiest.cpu_pct / ps_cpu_set_count(&machine->topology.online);
    bool one = machine->busiest.pid > 0 && busiest_pct > machine->foreign_pct / 2;
    if (machine->busiest.pid > 0)
        snprintf(who, sizeof(who), "; %s %s (pid %d), %.0f %% of a CPU",
                 one ? "most of it" : "the busiest is", machine->busiest.name, machine->busiest.pid,
                 machine->busiest.cpu_pct);
    ps_seen(finding, PS_BAD, "others use %.0f %% of the CPUs%s", machine->foreign_pct, who);
    ps_spoils(finding, "every row: its runs are disturbed and taken again, or it is marked "
                       "preempted");
    if (one)
        ps_mend(finding, "kill -STOP %d   # and kill -CONT %d afterwards", machine->busiest.pid,
                machine->busiest.pid);
    else
        ps_mend(finding,
                "ps -eo pcpu,pid,stat,comm --sort=-pcpu | head   # end what is not needed");
}

void ps_check_run_queue(const struct ps_machine *machine, struct ps_finding *finding) {
    char text[96];
    if (!ps_look_text(machine, "/proc/loadavg", text, sizeof(text), finding))
        return;
    char *end;
    double average = strtod(text, &end);
    unsigned cpus = ps_cpu_set_count(&machine->topology.online);
    if (end == text) {
        ps_seen(finding, PS_UNKNOWN, "/proc/loadavg holds no number");
    } else if (average > 0.5 * cpus) {
        /* A note: it is of the past minute, which the work that is being measured may have made. */
        ps_seen(finding, PS_NOTE,
                "%.1f tasks were ready to run or waited for a disk, on average "
                "over the last minute, for %u CPU%s",
                average, cpus, cpus == 1 ? "" : "s");
        ps_spoils(finding, "rows of partners and wake-ups, if it goes on");
        ps_mend(finding,
                "ps -eo pcpu,pid,stat,comm --sort=-pcpu | head   # and end what is not needed");
    } else {
        ps_seen(finding, PS_GOOD, "%.1f tasks ready to run over the last minute, for %u CPU%s",
                average, cpus, cpus == 1 ? "" : "s");
    }
}

/* Share of all CPU time since boot; negative unknown. */
static double steal_since_boot_pct(const struct ps_machine *machine) {
    struct ps_load_snapshot snapshot;
    uint64_t all = 0, steal = 0;
    if (ps_load_snapshot(machine->root, 1, &snapshot) < 0)
        return -1;
    for (unsigned i = 0; i < snapshot.n_cpus; i++) {
        const struct ps_cpu_ticks *cpu = &snapshot.cpus[i];
        if (!cpu->present)
            continue;
        steal += cpu->steal;
        all += cpu->user + cpu->nice + cpu->system + cpu->idle + cpu->iowait + cpu->irq +
               cpu->softirq + cpu->steal;
    }
    ps_load_snapshot_done(&snapshot);
    return all ? 100 * (double)steal / (double)all : -1;
}

void ps_check_steal(const struct ps_machine *machine, struct ps_finding *finding) {
    double since_boot = steal_since_boot_pct(machine);
    if (machine->steal_pct > STEAL_PCT_MAX) {
        ps_seen(finding, PS_BAD, "the host takes the CPUs away for %.1f %% of the time",
                machine->steal_pct);
        ps_spoils(finding, "every row: its runs are disturbed and taken again, or it is marked "
                           "preempted");
        ps_mend(finding, "perfsheet run   # on a host that is not overbooked");
    } else if (since_boot > STEAL_PCT_MAX) {
        ps_seen(finding, PS_NOTE,
                "%s: the host has taken the CPUs away for %.1f %% of the time "
                "since boot",
                machine->steal_pct < 0 ? "not measured now" : "not now", since_boot);
        ps_spoils(finding, "every row, when it happens again");
        ps_mend(finding, "perfsheet run   # on a host that is not overbooked");
    } else if (since_boot < 0 && machine->steal_pct < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/stat does not tell what a host takes away");
    } else {
        ps_seen(finding, PS_GOOD, "no host takes the CPUs away");
    }
}

void ps_check_core_shared(const struct ps_machine *machine, struct ps_finding *finding) {
    int64_t active = 0;
    struct ps_finding unused;
    if (machine->core_shared < 0) {
        ps_seen(finding, PS_UNKNOWN,
                "whether another hardware thread uses the core was not "
                "measured");
        return;
    }
    if (machine->core_shared <= SHARED_MAX) {
        ps_seen(finding, PS_GOOD, "the core was one's own in %.0f %% of the probes",
                100 * (1 - machine->core_shared));
        return;
    }
    ps_seen(finding, PS_BAD, "another hardware thread used the core in %.0f %% of the probes",
            100 * machine->core_shared);
    ps_spoils(finding, "cpu, os and mem rows: samples are left out, windows are longer, spread is "
                       "larger");
    if (ps_look_i64(machine, "/sys/devices/system/cpu/smt/active", &active, &unused) && active == 1)
        ps_mend(finding, "echo off | sudo tee /sys/devices/system/cpu/smt/control");
    else
        ps_mend(finding, "perfsheet run   # at another time: a neighbour on the host is busy");
}
