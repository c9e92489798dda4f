/* SPDX-License-Identifier: MIT
 *
 * CPU load by the idle clock of /proc/stat. On kernels without a tick while idle (all that boards
 * run) idle time is measured exactly, while user, system, irq and softirq are samples of what ran
 * when the tick came, which a load in step with the tick falsifies without limit. So the load is
 * wall time less idle time; the sampled columns are only told beside it. Steal counts as load: the
 * CPU was not there. What the host of a container does is in here too.
 */
#include "sys/cpu_load.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/clock_speed.h"
#include "sys/root.h"

/* Below this a tick is more than 1 % of the window. */
#define TICKS_FOR_CONFIDENCE 100

/* "cpu12 user nice system idle iowait irq softirq steal ..."; older kernels end earlier. */
static void parse_ticks(const char *line, struct ps_cpu_ticks *ticks) {
    uint64_t *const columns[] = {&ticks->user,   &ticks->nice, &ticks->system,  &ticks->idle,
                                 &ticks->iowait, &ticks->irq,  &ticks->softirq, &ticks->steal};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        line += strspn(line, " ");
        if (!isdigit((unsigned char)*line)) {
            break;
        }
        char *end;
        *columns[i] = strtoull(line, &end, 10);
        line = end;
    }
    ticks->present = true;
}

/* Grows the array so that it has an entry for `cpu`. */
static int reserve(struct ps_load_snapshot *snapshot, unsigned cpu, unsigned *capacity) {
    if (cpu >= *capacity) {
        unsigned larger = *capacity == 0 ? 16 : *capacity;
        while (larger <= cpu) {
            larger *= 2;
        }
        struct ps_cpu_ticks *cpus = realloc(snapshot->cpus, larger * sizeof *cpus);
        if (cpus == NULL) {
            return -ENOMEM;
        }
        memset(cpus + *capacity, 0, (larger - *capacity) * sizeof *cpus);
        snapshot->cpus = cpus;
        *capacity = larger;
    }
    if (cpu >= snapshot->n_cpus) {
        snapshot->n_cpus = cpu + 1;
    }
    return 0;
}

static int parse_stat(const char *text, struct ps_load_snapshot *snapshot) {
    unsigned capacity = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "intr ", 5) == 0) {
            snapshot->interrupts = strtoull(line + 5, NULL, 10); /* the first number is the sum */
            continue;
        }
        if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3])) {
            continue; /* the sum of all CPUs, among others */
        }
        char *columns;
        unsigned long cpu = strtoul(line + 3, &columns, 10);
        if (cpu >= PS_CPU_MAX) {
            continue;
        }
        int r = reserve(snapshot, (unsigned)cpu, &capacity);
        if (r < 0) {
            return r;
        }
        parse_ticks(columns, &snapshot->cpus[cpu]);
    }
    return snapshot->n_cpus == 0 ? -EINVAL : 0;
}

int ps_load_snapshot(const char *root, uint64_t at_ns, struct ps_load_snapshot *ret_snapshot) {
    struct ps_load_snapshot snapshot = {.at_ns = at_ns};
    char *text;
    size_t length;
    uint64_t before_ns = ps_now_ns();
    int r = ps_read_whole(root, "/proc/stat", &text, &length);
    if (r < 0) {
        return r;
    }
    if (at_ns == 0) { /* the kernel looked at its counters somewhere in between */
        snapshot.at_ns = before_ns + (ps_now_ns() - before_ns) / 2;
    }
    r = parse_stat(text, &snapshot);
    free(text);
    if (r < 0) {
        ps_load_snapshot_done(&snapshot);
        return r;
    }
    *ret_snapshot = snapshot;
    return 0;
}

void ps_load_snapshot_done(struct ps_load_snapshot *snapshot) {
    free(snapshot->cpus);
    memset(snapshot, 0, sizeof *snapshot);
}

/* Counters of a CPU that was unplugged, or that the kernel corrected, may go backwards. */
static double forward(uint64_t before, uint64_t after) {
    return after > before ? (double)(after - before) : 0;
}

struct sums {
    unsigned n_cpus;
    double load, steal, user, system, irq, softirq; /* shares of the window, or ticks */
};

static void add_cpu(const struct ps_cpu_ticks *before, const struct ps_cpu_ticks *after,
                    unsigned cpu, double wall_ticks, struct sums *sums, struct ps_load *load) {
    /* The kernel may move time from iowait to idle; what counts is that their sum goes on. */
    double idle = (double)(int64_t)(after->idle - before->idle) +
                  (double)(int64_t)(after->iowait - before->iowait);
    if (after->idle < before->idle || after->iowait < before->iowait) {
        load->clamped = true;
    }
    idle = idle < 0 ? 0 : idle;
    double share = 1 - idle / wall_ticks;
    share = share < 0 ? 0 : share; /* by the last tick, when idle throughout */
    if (sums->n_cpus == 0 || share * 100 > load->busiest_pct) {
        load->busiest_pct = share * 100;
        load->busiest_cpu = cpu;
    }
    sums->n_cpus++;
    sums->load += share;
    sums->steal += forward(before->steal, after->steal);
    sums->user += forward(before->user, after->user) + forward(before->nice, after->nice);
    sums->system += forward(before->system, after->system);
    sums->irq += forward(before->irq, after->irq);
    sums->softirq += forward(before->softirq, after->softirq);
}

int ps_load_between(const struct ps_load_snapshot *before, const struct ps_load_snapshot *after,
                    const struct ps_cpu_set *set, unsigned user_hz, struct ps_load *ret_load) {
    struct ps_load load = {0};
    struct sums sums = {0};
    if (after->at_ns <= before->at_ns || user_hz == 0) {
        return -EINVAL;
    }
    double wall_ticks = (double)(after->at_ns - before->at_ns) * 1e-9 * user_hz;
    unsigned n_cpus = before->n_cpus < after->n_cpus ? before->n_cpus : after->n_cpus;
    for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
        if (before->cpus[cpu].present && after->cpus[cpu].present &&
            (set == NULL || ps_cpu_set_has(set, cpu))) {
            add_cpu(&before->cpus[cpu], &after->cpus[cpu], cpu, wall_ticks, &sums, &load);
        }
    }
    if (sums.n_cpus == 0) {
        return -EINVAL;
    }
    double to_pct = 100 / (wall_ticks * sums.n_cpus);
    load.all_pct = sums.load * 100 / sums.n_cpus;
    load.steal_pct = sums.steal * to_pct;
    load.user_pct = sums.user * to_pct;
    load.system_pct = sums.system * to_pct;
    load.irq_pct = sums.irq * to_pct;
    load.softirq_pct = sums.softirq * to_pct;
    load.low_confidence = wall_ticks < TICKS_FOR_CONFIDENCE;
    load.tick_sampled_irq =
        !(sums.irq + sums.softirq > 0) && after->interrupts > before->interrupts;
    *ret_load = load;
    return 0;
}
