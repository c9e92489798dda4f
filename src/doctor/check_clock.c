/* SPDX-License-Identifier: MIT
 *
 * The core's clock: may it move, is it held down, is it what the kernel says it is; and the clock
 * that time is read from.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/clock_speed.h"

/* As docs/METHOD.md has it: further apart, and the measured clock is news. */
#define CLOCK_DIFFERS 0.03

#define GOVERNOR_FILES "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"

/* Governors under which an idle moment lowers the clock, so that the next sample begins slow. */
static bool governor_moves(const char *governor) {
    static const char *const moving[] = {"powersave", "conservative", "ondemand", "schedutil",
                                         "interactive"};
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
        if (strcmp(governor, moving[i]) == 0)
            return true;
    return false;
}

void ps_check_governor(const struct ps_machine *machine, struct ps_finding *finding) {
    char fixed[128] = "";
    for (unsigned i = 0; i < machine->topology.n_clusters; i++) {
        unsigned cpu = machine->topology.clusters[i].first_cpu;
        struct ps_cpufreq cpufreq;
        ps_cpufreq_read(machine->root, cpu, &cpufreq);
        if (strcmp(cpufreq.governor, "none") == 0)
            continue;
        if (governor_moves(cpufreq.governor)) {
            ps_seen(finding, PS_BAD, "cpu %u has the governor %s, which lowers the clock when idle",
                    cpu, cpufreq.governor);
            ps_spoils(finding, "mem and cpu rows (spread), os rows that sleep or wait (too slow)");
            ps_mend(finding, "echo performance | sudo tee %s   # or: perfsheet run --fix-clock",
                    GOVERNOR_FILES);
            return;
        }
        size_t length = strlen(fixed);
        snprintf(fixed + length, sizeof(fixed) - length, "%scpu %u %s", length ? ", " : "", cpu,
                 cpufreq.governor);
    }
    if (*fixed)
        ps_seen(finding, PS_GOOD, "governor: %s", fixed);
    else
        ps_seen(finding, PS_UNKNOWN,
                "there is no cpufreq: the clock is fixed, or firmware or a host sets it");
}

void ps_check_clock_limit(const struct ps_machine *machine, struct ps_finding *finding) {
    bool known = false;
    for (unsigned i = 0; i < machine->topology.n_clusters; i++) {
        unsigned cpu = machine->topology.clusters[i].first_cpu;
        struct ps_cpufreq cpufreq;
        ps_cpufreq_read(machine->root, cpu, &cpufreq);
        if (!cpufreq.policy_max_khz || !cpufreq.hardware_max_khz)
            continue;
        known = true;
        if (cpufreq.policy_max_khz < cpufreq.hardware_max_khz) {
            ps_seen(finding, PS_BAD, "cpu %u is limited to %.0f of %.0f MHz", cpu,
                    cpufreq.policy_max_khz / 1000.0, cpufreq.hardware_max_khz / 1000.0);
            ps_spoils(finding, "every row: the board is slower than it could be");
            ps_mend(finding,
                    "echo %u | sudo tee /sys/devices/system/cpu/cpu%u/cpufreq/scaling_max_freq",
                    cpufreq.hardware_max_khz, cpu);
            return;
        }
    }
    if (known)
        ps_seen(finding, PS_GOOD, "the clock may go up to the hardware's maximum");
    else
        ps_seen(finding, PS_UNKNOWN, "there is no cpufreq that states the limits of the clock");
}

/* What the kernel says of cluster i when busy, MHz; 0: nothing. */
static double reported_mhz(const struct ps_machine *machine, unsigned i) {
    struct ps_cpufreq cpufreq;
    ps_cpufreq_read(machine->root, machine->topology.clusters[i].first_cpu, &cpufreq);
    unsigned khz = machine->busy_khz[i]     ? machine->busy_khz[i]
                   : cpufreq.policy_max_khz ? cpufreq.policy_max_khz
                                            : cpufreq.hardware_max_khz;
    return khz / 1000.0;
}

void ps_check_clock(const struct ps_machine *machine, struct ps_finding *finding) {
    char clocks[160] = "";
    if (machine->clock_measured && !machine->chains_agree) {
        ps_seen(finding, PS_BAD,
                "the two cycle loops disagree: the core's clock cannot be measured");
        ps_spoils(finding, "cpu rows per MHz and in cycles (missing); core rows take raw times");
        ps_mend(finding, "perfsheet selftest   # again, when the machine is quiet");
        return;
    }
    for (unsigned i = 0; i < machine->topology.n_clusters; i++) {
        unsigned id = machine->topology.clusters[i].id;
        double measured = machine->measured_mhz[i], reported = reported_mhz(machine, i);
        if (!(measured > 0))
            continue;
        if (reported > 0 && fabs(measured / reported - 1) > CLOCK_DIFFERS) {
            ps_seen(finding, PS_BAD, "cluster %u: %.0f MHz measured, %.0f MHz reported (%+.0f %%)",
                    id, measured, reported, 100 * (measured / reported - 1));
            ps_spoils(finding, "figures per MHz of every tool that believes the report; here the "
                               "measured clock is used");
            ps_mend(finding,
                    "printf '[cluster %u]\\nreference_mhz = %.0f\\n' >> board.ini; perfsheet run "
                    "--board-file board.ini",
                    id, measured);
            return;
        }
        size_t length = strlen(clocks);
        if (length < sizeof(clocks) - 1)
            snprintf(clocks + length, sizeof(clocks) - length,
                     reported > 0 ? "%scluster %u %.0f MHz, as reported"
                                  : "%scluster %u %.0f MHz; no report to hold it against",
                     length ? ", " : "", id, measured);
    }
    if (*clocks)
        ps_seen(finding, PS_GOOD, "%s", clocks);
    else
        ps_seen(finding, PS_UNKNOWN, "the clock was not measured");
}

void ps_check_boost(const struct ps_machine *machine, struct ps_finding *finding) {
    static const struct {
        const char *path;
        int64_t off;
    } switches[] = {{"/sys/devices/system/cpu/intel_pstate/no_turbo", 1},
                    {"/sys/devices/system/cpu/cpufreq/boost", 0}};
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        int64_t value;
        if (!ps_look_i64(machine, switches[i].path, &value, finding))
            continue;
        if (value == switches[i].off) {
            ps_seen(finding, PS_GOOD, "boost clocks are off");
            return;
        }
        ps_seen(finding, PS_NOTE,
                "boost clocks are on: the clock depends on heat and on how many "
                "cores are busy");
        ps_spoils(finding, "rows of all CPUs beside rows of one (they scale by less)");
        ps_mend(finding, "echo %d | sudo tee %s", (int)switches[i].off, switches[i].path);
        return;
    }
    ps_seen(finding, PS_UNKNOWN, "there is no switch for boost clocks");
}

#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/"

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    }
    return false;
}

void ps_check_clock_source(const struct ps_machine *machine, struct ps_finding *finding) {
    /* Those that are read over a bus or count ticks: a microsecond and more a read. */
    static const char *const slow[] = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"};
    static const char *const fast[] = {"tsc", "kvm-clock", "arch_sys_counter", "riscv_clocksource"};
    char source[64], available[256] = "";
    if (!ps_look_text(machine, CLOCK_SOURCES "current_clocksource", source, sizeof(source),
                      finding))
        return;
    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
        if (strcmp(source, slow[i]) != 0)
            continue;
        struct ps_finding unused;
        const char *better = NULL;
        if (ps_look_text(machine, CLOCK_SOURCES "available_clocksource", available,
                         sizeof(available), &unused))
            for (size_t j = 0; j < sizeof(fast) / sizeof(fast[0]) && !better; j++)
                if (has_word(available, fast[j]))
                    better = fast[j];
        ps_seen(finding, PS_BAD, "time is read from %s, which takes a microsecond or more%s",
                source, better ? "" : "; there is no faster one");
        ps_spoils(finding, "os.lat_syscall clock rows, os.wake_up, every row of single events");
        if (better)
            ps_mend(finding, "echo %s | sudo tee " CLOCK_SOURCES "current_clocksource", better);
        return;
    }
    ps_seen(finding, PS_GOOD, "time is read from %s", source);
}
