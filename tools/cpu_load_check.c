/* SPDX-License-Identifier: MIT
 *
 * Checks both CPU load meters against loads of a known duty cycle on one CPU: a thread that is busy
 * for a part of each period and sleeps for the rest. `plain` periods are in no relation to the tick
 * of the kernel; `tick` periods are whole ticks, of 250 Hz and 100 Hz kernels, and start 0.1 ms
 * after one, so that a meter that samples at the tick sees the same every time. What is true is the
 * CPU time of the thread itself; so the machine must have nothing else to do.
 *
 *     cpu_load_check [seconds a cell [CPU]]
 *
 * Exit status 1 when idle-delta is off by more than 3 points or the soak by more than 5.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/cpu_load.h"

#define IDLE_DELTA_POINTS 3
#define SOAK_POINTS 5
#define CALIBRATE_NS 1000000000u
#define SETTLE_NS 100000000u

struct duty_load {
    unsigned cpu;
    uint64_t period_ns, busy_ns, phase_ns;
    atomic_bool stop;
    pthread_t thread;
};

struct mode {
    const char *name;
    uint64_t period_ns;
    bool locked;
};

static void sleep_until(uint64_t at_ns) {
    struct timespec at = {.tv_sec = (time_t)(at_ns / 1000000000u),
                          .tv_nsec = (long)(at_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
}

static void *load_main(void *argument) {
    struct duty_load *load = argument;
    ps_pin_to_cpu(load->cpu);
    /* The kernel's ticks are at multiples of their length on this clock. */
    uint64_t start_ns = (ps_now_ns() / load->period_ns + 1) * load->period_ns + load->phase_ns;
    while (!atomic_load(&load->stop)) {
        sleep_until(start_ns);
        while (ps_now_ns() < start_ns + load->busy_ns) {
        }
        do {
            start_ns += load->period_ns;
        } while (start_ns < ps_now_ns());
    }
    return NULL;
}

static double thread_cpu_s(pthread_t thread) {
    clockid_t clock;
    struct timespec time = {0};
    if (pthread_getcpuclockid(thread, &clock) == 0) {
        clock_gettime(clock, &time);
    }
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int measure_idle_delta(const struct ps_cpu_set *set, uint64_t window_ns,
                              struct ps_load *load) {
    struct ps_load_snapshot before, after;
    int r = ps_load_snapshot("", 0, &before);
    if (r < 0) {
        return r;
    }
    sleep_until(ps_now_ns() + window_ns);
    r = ps_load_snapshot("", 0, &after);
    if (r == 0) {
        r = ps_load_between(&before, &after, set, (unsigned)sysconf(_SC_CLK_TCK), load);
        ps_load_snapshot_done(&after);
    }
    ps_load_snapshot_done(&before);
    return r;
}

/* One cell with one meter; *ret_true_pct is the thread's own time. */
static int measure(const struct mode *mode, double duty, unsigned cpu, uint64_t window_ns,
                   struct ps_soak *soak, double *ret_true_pct, double *ret_pct,
                   double *ret_ticks_pct) {
    struct duty_load load = {.cpu = cpu,
                             .period_ns = mode->period_ns,
                             .busy_ns = (uint64_t)((double)mode->period_ns * duty),
                             .phase_ns = mode->locked ? 100000 : 0};
    struct ps_cpu_set set;
    struct ps_load by_idle = {0};
    double busiest_pct;
    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, cpu);
    int r = -pthread_create(&load.thread, NULL, load_main, &load);
    if (r < 0) {
        return r;
    }
    sleep_until(ps_now_ns() + SETTLE_NS);
    double before_s = thread_cpu_s(load.thread);
    uint64_t before_ns = ps_now_ns();
    if (soak == NULL) {
        r = measure_idle_delta(&set, window_ns, &by_idle);
        *ret_pct = by_idle.all_pct;
        *ret_ticks_pct = by_idle.user_pct + by_idle.system_pct;
    } else {
        ps_soak_begin(soak);
        sleep_until(ps_now_ns() + window_ns);
        r = ps_soak_end(soak, ret_pct, &busiest_pct);
    }
    double wall_s = (double)(ps_now_ns() - before_ns) * 1e-9;
    *ret_true_pct = (thread_cpu_s(load.thread) - before_s) / wall_s * 100;
    atomic_store(&load.stop, true);
    pthread_join(load.thread, NULL);
    return r;
}

static const struct mode modes[] = {
    {"plain", 7300000, false}, {"tick 250 Hz", 4000000, true}, {"tick 100 Hz", 10000000, true}};
static const int duties[] = {5, 25, 50, 75, 95};
enum { N_MODES = 3, N_DUTIES = 5 };

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 2, worst_idle = 0, worst_soak = 0;
    double true_pct[2][N_MODES][N_DUTIES], pct[2][N_MODES][N_DUTIES], ticks_pct[N_MODES][N_DUTIES];
    uint64_t window_ns = (uint64_t)(seconds * 1e9);
    struct ps_soak *soak = NULL;
    struct ps_cpu_set set;
    int cpu = argc > 2 ? atoi(argv[2]) : -1, r = ps_affinity_get(&set);
    for (int next = cpu < 0 ? 0 : -1; next >= 0; next = ps_cpu_set_next(&set, (unsigned)next + 1)) {
        cpu = ps_cpu_set_has(&set, (unsigned)next) ? next : cpu; /* the last */
    }
    if (r < 0 || cpu < 0 || !(seconds > 0)) {
        fprintf(stderr, "usage: cpu_load_check [seconds a cell [CPU]]\n");
        return 2;
    }
    ps_cpu_set_clear(&set);
    ps_cpu_set_add(&set, (unsigned)cpu);
    for (unsigned meter = 0; meter < 2 && r == 0; meter++) { /* never both at once */
        if (meter == 1) {
            r = ps_soak_new(&set, CALIBRATE_NS, &soak);
        }
        for (unsigned i = 0; i < N_MODES * N_DUTIES && r == 0; i++) {
            unsigned m = i / N_DUTIES, d = i % N_DUTIES;
            r = measure(&modes[m], duties[d] / 100.0, (unsigned)cpu, window_ns, soak,
                        &true_pct[meter][m][d], &pct[meter][m][d], &ticks_pct[m][d]);
        }
    }
    ps_soak_free(soak);
    if (r < 0) {
        fprintf(stderr, "cpu_load_check: %s%s\n", strerror(-r),
                r == -EBUSY ? "; the CPU must have nothing to do" : "");
        return 2;
    }
    printf("%-12s %5s | %6s %10s %6s %9s | %6s %6s %6s\n", "load", "duty", "true", "idle-delta",
           "error", "by ticks", "true", "soak", "error");
    for (unsigned i = 0; i < N_MODES * N_DUTIES; i++) {
        unsigned m = i / N_DUTIES, d = i % N_DUTIES;
        double idle_error = pct[0][m][d] - true_pct[0][m][d];
        double soak_error = pct[1][m][d] - true_pct[1][m][d];
        printf("%-12s %4d%% | %6.2f %10.2f %+6.2f %9.2f | %6.2f %6.2f %+6.2f\n", modes[m].name,
               duties[d], true_pct[0][m][d], pct[0][m][d], idle_error, ticks_pct[m][d],
               true_pct[1][m][d], pct[1][m][d], soak_error);
        worst_idle = fmax(worst_idle, fabs(idle_error));
        worst_soak = fmax(worst_soak, fabs(soak_error));
    }
    printf("worst: idle-delta %.2f points (bar %d), soak %.2f points (bar %d)\n", worst_idle,
           IDLE_DELTA_POINTS, worst_soak, SOAK_POINTS);
    return worst_idle > IDLE_DELTA_POINTS || worst_soak > SOAK_POINTS;
}
