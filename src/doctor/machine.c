/* SPDX-License-Identifier: MIT
 *
 * What the checks need besides files: the clock, what others did while this program slept, and
 * which rights it has, each tried and put back at once.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "doctor/finding.h"
#include "harness/environment.h"
#include "sys/realtime.h"
#include "sys/root.h"
#include "sys/witness.h"

#define REALTIME_PRIORITY 80 /* that the real-time rows ask for, or more */

/* Pages swapped in and out since boot; negative unknown. */
static double swapped_pages(const char *root) {
    char *text;
    size_t length;
    uint64_t in, out;
    if (ps_read_whole(root, "/proc/vmstat", &text, &length) < 0)
        return -1;
    bool known = ps_text_key_u64(text, "pswpin", &in) && ps_text_key_u64(text, "pswpout", &out);
    free(text);
    return known ? (double)in + (double)out : -1;
}

/* Counts the instructions of this process for a moment: the least that a counter beside a row
 * would do. 0 or a negative errno. */
static int try_perf(void) {
    struct perf_event_attr attribute = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attribute),
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attribute, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

static void sleep_ms(unsigned ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static void watch(struct ps_machine *machine, unsigned window_ms) {
    struct ps_witness before, after;
    struct ps_witness_numbers numbers;
    struct ps_process_times first = {0}, last = {0};
    long user_hz = sysconf(_SC_CLK_TCK);
    int pid = (int)getpid();
    bool named = ps_process_times_read("", pid, &first) == 0;
    double swapped = swapped_pages("");
    ps_witness_read("", &machine->topology.online, &before);
    sleep_ms(window_ms);
    ps_witness_read("", &machine->topology.online, &after);
    ps_witness_between(&before, &after, user_hz > 0 ? (unsigned)user_hz : 100, &numbers);
    machine->steal_pct = numbers.steal_pct;
    machine->foreign_pct = numbers.foreign_pct;
    machine->throttled = numbers.throttled;
    double swapped_after = swapped_pages("");
    machine->swapped_pages = swapped < 0 || swapped_after < 0 ? -1 : swapped_after - swapped;
    named = named && ps_process_times_read("", pid, &last) == 0;
    double window_s = (double)(after.at_ns - before.at_ns) * 1e-9;
    if (named && window_s > 0 && user_hz > 0) {
        struct ps_process_time busiest = ps_process_busiest(&first, &last);
        machine->busiest.pid = busiest.pid;
        machine->busiest.cpu_pct = (double)busiest.ticks / (double)user_hz / window_s * 100;
        memcpy(machine->busiest.name, busiest.name, sizeof(machine->busiest.name));
    }
    ps_process_times_done(&first);
    ps_process_times_done(&last);
}

static void nothing_measured(const char *root, const struct ps_boardfile *board,
                             struct ps_machine *machine) {
    memset(machine, 0, sizeof(*machine));
    machine->root = root;
    machine->board = board;
    machine->core_shared = machine->steal_pct = machine->foreign_pct = machine->swapped_pages = -1;
    machine->throttled = -1;
    machine->realtime = machine->memory_lock = machine->perf = PS_NOT_TRIED;
}

int ps_machine_describe(const char *root, const char *cpus, const struct ps_boardfile *board,
                        struct ps_machine *ret_machine, char *ret_why, size_t why_bytes) {
    nothing_measured(root, board, ret_machine);
    return ps_topology_read(root, cpus, &ret_machine->topology, ret_why, why_bytes);
}

/* The clocks, as a run would find them. */
static int measure_clocks(const char *cpus, struct ps_machine *machine, char *ret_why,
                          size_t why_bytes) {
    const struct ps_environment_options options = {
        .root = "", .cpus = cpus, .board = machine->board, .measure_clock = true};
    struct ps_environment *environment = calloc(1, sizeof(*environment));
    int error =
        environment ? ps_environment_read(&options, environment, ret_why, why_bytes) : -ENOMEM;
    if (!error) {
        machine->clock_measured = environment->clock_measured;
        machine->chains_agree = environment->clock.trusted;
        machine->core_shared = environment->clock.trusted ? environment->core_shared : -1;
        for (unsigned i = 0; i < environment->topology.n_clusters; i++) {
            machine->measured_mhz[i] = environment->measured_mhz[i];
            machine->busy_khz[i] = environment->cpufreq[i].current_khz;
        }
    }
    free(environment);
    return error;
}

int ps_machine_read(const char *root, const char *cpus, const struct ps_boardfile *board,
                    unsigned window_ms, struct ps_machine *ret_machine, char *ret_why,
                    size_t why_bytes) {
    int error = ps_machine_describe(root, cpus, board, ret_machine, ret_why, why_bytes);
    if (error || !ps_root_is_real(root))
        return error;
    /* The quiet window comes first: what the probes do would be part of it. */
    watch(ret_machine, window_ms);
    error = measure_clocks(cpus, ret_machine, ret_why, why_bytes);
    if (error)
        return error;
    ret_machine->realtime = ps_realtime_allowed(REALTIME_PRIORITY);
    ret_machine->memory_lock = ps_memory_lock_allowed();
    ret_machine->perf = try_perf();
    if (!getcwd(ret_machine->directory, sizeof(ret_machine->directory)))
        ret_machine->directory[0] = 0;
    return 0;
}
