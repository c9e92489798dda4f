/* SPDX-License-Identifier: MIT
 *
 * The core's clock, measured by a chain of dependent register-register adds (one a cycle on every
 * core we know), checked against a chain of multiplies, whose latency is a whole number of cycles.
 */
#ifndef PS_SYS_CLOCK_SPEED_H
#define PS_SYS_CLOCK_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/* One probe: minimum of 3 chains of 16 000 adds, MHz; 12 us at 4 GHz. Clocks with steps of more
 * than 1 % of such a chain get longer ones. 0: disturbed throughout, unknown. */
double ps_clock_probe_mhz(void);

/* Independent adds per us, six chains of them, median of three takes of 12 000 (1 us each at 4
 * GHz): divided by the clock it is what the calling thread gets of its core. 0: could not be told.
 */
double ps_issue_probe_per_us(void);

/* Adds per cycle on a core of one's own: the 95th percentile of probes over `for_ns` on the calling
 * thread; 0 unknown. A core that was shared all the time reads low; runs that see more say so. */
double ps_full_issue(uint64_t for_ns);

struct ps_clock_check {
    bool trusted;             /* ratio within 3 % of a whole number from 1 to 5 */
    double add_mhz;           /* by the add chain */
    double ratio;             /* multiply time / add time, per instruction */
    unsigned multiply_cycles; /* the whole number, 0 when not trusted */
};
/* Takes several of each, in turn, on the calling thread. */
void ps_clock_check(struct ps_clock_check *ret_check);

/* CLOCK_MONOTONIC_RAW in ns; CLOCK_MONOTONIC in ns. */
uint64_t ps_now_raw_ns(void);
uint64_t ps_now_ns(void);
/* Smallest step of CLOCK_MONOTONIC_RAW that is seen, which is the cost of a read where that is
 * more; 0 when it stands still. */
uint64_t ps_clock_step_ns(void);

struct ps_clock_quality {
    uint64_t resolution_ns; /* smallest step seen */
    uint64_t read_ns;
    bool monotone; /* across all usable CPUs */
};
/* Measures CLOCK_MONOTONIC_RAW; hops over the CPUs that the caller may use. */
void ps_clock_quality(struct ps_clock_quality *ret_quality);

/* What cpufreq says, kHz, 0 unknown: scaling_cur_freq, cpuinfo_max_freq, scaling_max_freq; governor
 * "none" where there is no cpufreq. */
struct ps_cpufreq {
    unsigned current_khz, hardware_max_khz, policy_max_khz;
    char governor[32];
};
void ps_cpufreq_read(const char *root, unsigned cpu, struct ps_cpufreq *ret_cpufreq);

#endif
