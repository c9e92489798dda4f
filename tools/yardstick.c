/* SPDX-License-Identifier: MIT
 *
 * yardstick [FILTER...]: the same rows by the plain method that benchmarks of this kind have used
 * for decades: one process a row, rows one after another, iterations sized to a 10 ms interval,
 * eleven intervals, the median, wall time only, no clock probe, no witness, no repeat. Prints
 * "id:metric ns_per_unit" a row. It is what our spread is held against, not a product.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/registry.h"
#include "core/measure.h"
#include "harness/environment.h"
#include "harness/plan.h"
#include "port/port_linux.h"
#include "stats/summary.h"
#include "sys/affinity.h"

#define INTERVAL_NS 10000000u
#define INTERVALS 11u

static int measure_row(const struct ps_plan_row *row) {
    struct ps_port port;
    if (ps_pin_to_cpu((unsigned)row->cpus[0]) || ps_port_linux_init(&port, false, 1, 0))
        return 1;
    port.probe_mhz = NULL;
    struct ps_measure_settings settings = row->settings;
    settings.warm_up_ns = 0;
    settings.sample_ns = INTERVAL_NS;
    settings.window_ns = (uint64_t)INTERVALS * INTERVAL_NS;
    settings.single_events = 0;
    settings.seed = 1;
    struct ps_run_shared shared;
    memset(&shared, 0, sizeof(shared));
    shared.bench = row->bench;
    shared.c = &row->c;
    shared.port = &port;
    shared.cpus = row->cpus;
    shared.n_cpus = row->n_cpus;
    uint64_t bytes = ps_measure_scratch_bytes(row->bench, &settings);
    void *scratch = calloc(1, bytes);
    if (!scratch || ps_measure(&shared, &settings, scratch, bytes))
        return 1;
    for (unsigned m = 0; m < row->bench->n_metrics; m++) {
        const struct ps_series *series = &shared.series[m];
        if (series->n == 0)
            continue;
        double net[PS_SAMPLES_MAX];
        unsigned n = series->n < INTERVALS ? series->n : INTERVALS;
        for (unsigned i = 0; i < n; i++)
            net[i] = series->samples[i] - (series->baseline ? series->baseline[i] : 0);
        printf("%s:%s %.6g\n", row->id, row->bench->metrics[m].name, ps_median(net, n));
    }
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv) {
    static struct ps_environment environment;
    if (argc == 3 && strcmp(argv[1], "--exit-code") == 0) /* os.lat_proc starts its own program */
        return atoi(argv[2]);
    struct ps_environment_options options = {.root = "", .measure_clock = false};
    char why[256];
    if (ps_environment_read(&options, &environment, why, sizeof(why))) {
        fprintf(stderr, "yardstick: %s\n", why);
        return 1;
    }
    struct ps_plan_options plan_options = {.filters = (const char *const *)(argv + 1),
                                           .n_filters = (size_t)(argc - 1),
                                           .depth = PS_DEPTH_DEFAULT,
                                           .seed = 1};
    struct ps_plan plan;
    if (ps_plan_make(ps_registry(), &environment, &plan_options, &plan, why, sizeof(why))) {
        fprintf(stderr, "yardstick: %s\n", why);
        return 1;
    }
    for (size_t i = 0; i < plan.n_rows; i++) {
        if (plan.rows[i].status != PS_OK)
            continue;
        pid_t pid = fork();
        if (pid == 0)
            _exit(measure_row(&plan.rows[i]));
        int status;
        waitpid(pid, &status, 0);
    }
    ps_plan_free(&plan);
    return 0;
}
