/* SPDX-License-Identifier: MIT
 *
 * A benchmark whose speed is programmed, on the fake machine.
 */
#ifndef TESTS_SIM_MEASURE_FIXTURE_H
#define TESTS_SIM_MEASURE_FIXTURE_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "core/calibrate.h"
#include "core/measure.h"
#include "port/port_fake.h"

#define MS UINT64_C(1000000)
#define FAKE_THREADS 8

static struct fixture {
    struct ps_fake fake;
    struct ps_port port;
    struct ps_run_shared shared;
    struct ps_bench bench;
    struct ps_case c;
    struct ps_measure_settings settings;
    int cpus[FAKE_THREADS];
    void *scratch;

    /* How the benchmark behaves. */
    double iteration_ns[PS_SEGMENTS_MAX]; /* of a segment */
    double thread_factor[FAKE_THREADS];   /* times that, on this thread; 0: 1 */
    double baseline_ns;
    uint64_t first_extra_ns; /* the first call of a batch is so much longer */
    unsigned fail_call;      /* this call of batch (from 1) ... */
    int fail_ret;            /* ... returns that; over all threads */
    unsigned fail_thread;

    /* What was done. */
    unsigned n_setup, n_thread_setup, n_teardown, n_verify[2], n_batch, n_baseline;
    unsigned thread_batches[FAKE_THREADS];
    uint64_t last_n, total_n;
} f;

static int fixture_setup(struct ps_run *run) {
    (void)run;
    f.n_setup++;
    return 0;
}

static int fixture_thread_setup(struct ps_run *run) {
    assert_true(ps_run_thread(run) < ps_run_threads(run));
    __atomic_fetch_add(&f.n_thread_setup, 1, __ATOMIC_RELAXED);
    return 0;
}

static void fixture_teardown(struct ps_run *run) {
    (void)run;
    f.n_teardown++;
}

static int fixture_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)run;
    f.n_verify[when]++;
    return 0;
}

static int fixture_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    unsigned thread = ps_run_thread(run);
    double factor = f.thread_factor[thread] > 0 ? f.thread_factor[thread] : 1;
    double time_ns = (double)n * f.iteration_ns[segment] * factor;
    unsigned call = ++f.thread_batches[thread];
    __atomic_fetch_add(&f.n_batch, 1, __ATOMIC_RELAXED);
    if (thread == 0) {
        f.last_n = n;
        f.total_n += n;
    }
    if (call == 1)
        time_ns += (double)f.first_extra_ns;
    ps_fake_advance(&f.fake, time_ns < 1e18 ? (uint64_t)time_ns : (uint64_t)1e18);
    return call == f.fail_call && thread == f.fail_thread ? f.fail_ret : 0;
}

__attribute__((unused)) static int fixture_baseline(struct ps_run *run, unsigned segment,
                                                    uint64_t n) {
    (void)run;
    (void)segment;
    f.n_baseline++;
    ps_fake_advance(&f.fake, (uint64_t)((double)n * f.baseline_ns));
    return 0;
}

static const struct ps_metric fixture_metrics[] = {
    {.name = "latency", .unit = PS_UNIT_NS, .kind = PS_TIME, .counts = "one turn", .method = 1},
    {.name = "second", .unit = PS_UNIT_MB_PER_S, .kind = PS_RATE, .counts = "bytes", .method = 1},
    {.name = "reading", .unit = PS_UNIT_US, .kind = PS_READING, .counts = "event", .method = 1},
    {.name = "percent",
     .unit = PS_UNIT_PERCENT,
     .kind = PS_READING,
     .counts = "share",
     .method = 1},
};

static int fixture_begin(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    ps_fake_init(&f.fake);
    f.bench = (struct ps_bench){.chapter = "sim",
                                .table = "fixture",
                                .metrics = fixture_metrics,
                                .n_metrics = 4,
                                .setup = fixture_setup,
                                .thread_setup = fixture_thread_setup,
                                .teardown = fixture_teardown,
                                .verify = fixture_verify,
                                .batch = fixture_batch};
    f.iteration_ns[0] = 100;
    for (int i = 0; i < FAKE_THREADS; i++)
        f.cpus[i] = 10 * i;
    ps_measure_defaults(&f.settings, &f.bench, &f.c, PS_BOUND_CORE, false);
    return 0;
}

static int fixture_end(void **state) {
    (void)state;
    ps_fake_done(&f.fake); /* asserts that all memory was given back */
    free(f.scratch);
    return 0;
}

/* Runs it on a port made by fixture_port(), or on a new one. The scratch is exactly as large as was
 * asked for, and nothing is known of what was in it. */
static int fixture_measure_on_port(void) {
    uint64_t bytes = ps_measure_scratch_bytes(&f.bench, &f.settings);
    free(f.scratch);
    f.scratch = malloc(bytes);
    assert_non_null(f.scratch);
    memset(f.scratch, 0x5a, bytes);
    f.shared = (struct ps_run_shared){
        .bench = &f.bench, .c = &f.c, .port = &f.port, .cpus = f.cpus, .n_cpus = FAKE_THREADS};
    int ret = ps_measure(&f.shared, &f.settings, f.scratch, bytes);
    assert_true((ret == 0) == (f.shared.status == PS_OK));
    assert_true((f.shared.reason != NULL) == (f.shared.status != PS_OK));
    return ret;
}

__attribute__((unused)) static int fixture_measure(void) {
    ps_fake_port(&f.fake, &f.port);
    return fixture_measure_on_port();
}

/* Every sample of a series, compared with what it must be. */
__attribute__((unused)) static void assert_samples(const struct ps_series *series, double expected,
                                                   double tolerance) {
    assert_true(series->n > 0);
    for (unsigned i = 0; i < series->n; i++) {
        if (!(fabs(series->samples[i] / expected - 1) <= tolerance))
            fail_msg("sample %u is %g, not %g", i, series->samples[i], expected);
    }
}

#endif
