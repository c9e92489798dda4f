/* SPDX-License-Identifier: MIT
 *
 * Samples of batches: calibrate, warm up, then time the segments in turn, with the clock probed
 * between any two pieces of work, until each has been timed for the window's length. A sample is
 * raw and gross: nothing is subtracted from it, the cost of reading the clock included, which
 * `resolution` states instead. A time that is not above zero is never a sample.
 */
#include "core/assert.h"
#include "core/calibrate.h"
#include "core/errors.h"
#include "core/measuring.h"

#define LINE_BYTES 64
/* An iteration shorter than this is an access or a few; a longer one is taken for a whole pass. */
#define LOAD_MAX_NS 1000
/* Enough at 1 us a round for any warm-up; only a clock that stands still gets here. */
#define WARM_UP_ROUNDS_MAX 65536

struct trial {
    struct ps_measuring *m;
    unsigned segment;
};

static int try_step(void *context, uint64_t n, uint64_t *ret_ns) {
    const struct trial *trial = context;
    struct ps_timing timing = {.backward = true};
    for (unsigned i = 0; i < 3 && timing.backward; i++) {
        if (ps_step(trial->m, trial->segment, false, n, &timing) < 0)
            return -PS_ECANCELED;
    }
    *ret_ns = timing.ns;
    return 0;
}

static int calibrate(struct ps_measuring *m, unsigned segment) {
    struct trial trial = {m, segment};
    return ps_calibrate_trials(m->shared->port, m->settings->sample_ns, try_step, &trial,
                               &m->n[segment], &m->trial_ns[segment]);
}

uint64_t ps_two_passes_ns(const struct ps_measuring *m, unsigned segment) {
    double iteration_ns = (double)m->trial_ns[segment] / (double)m->n[segment];
    double bytes = (double)m->shared->c->memory.bytes;
    if (bytes <= 0)
        return 0;
    double iterations = iteration_ns < LOAD_MAX_NS ? bytes / LINE_BYTES : 1;
    double two_ns = 2 * iterations * iteration_ns;
    return two_ns < 1e18 ? (uint64_t)two_ns : UINT64_C(1000000000000000000);
}

/* All segments once, and their baselines. Adds up to *elapsed_ns; last_ns is of each segment. */
static int warm_up_round(struct ps_measuring *m, uint64_t *elapsed_ns, uint64_t *last_ns) {
    const struct ps_port *port = m->shared->port;
    for (unsigned i = 0; i < m->n_segments; i++) {
        struct ps_timing timing;
        if (ps_step(m, i, false, m->n[i], &timing) < 0)
            return -PS_ECANCELED;
        *elapsed_ns += timing.ns;
        last_ns[i] = timing.ns;
        if (ps_segment_series(m, i)->baseline == NULL)
            continue;
        if (ps_step(m, i, true, m->n[i], &timing) < 0)
            return -PS_ECANCELED;
        *elapsed_ns += timing.ns;
    }
    if (port->kick != NULL)
        port->kick(port->self);
    return 0;
}

/* Calibrates and warms up. Calibrating is the same work, and so its last trials count for the time,
 * not for the rounds. */
static int warm_up(struct ps_measuring *m) {
    const struct ps_measure_settings *settings = m->settings;
    uint64_t wanted_ns = 0, elapsed_ns = 0;
    uint64_t last_ns[PS_SEGMENTS_MAX];
    for (unsigned i = 0; i < m->n_segments; i++) {
        if (calibrate(m, i) < 0)
            return -PS_ECANCELED;
        wanted_ns += ps_two_passes_ns(m, i);
        elapsed_ns += m->trial_ns[i];
    }
    if (wanted_ns < settings->warm_up_ns)
        wanted_ns = settings->warm_up_ns;
    for (unsigned round = 0; round < WARM_UP_ROUNDS_MAX; round++) {
        bool capped = settings->warm_up_cap_ns > 0 && elapsed_ns >= settings->warm_up_cap_ns;
        if ((round >= 2 && elapsed_ns >= wanted_ns) || (round >= 1 && capped))
            break;
        if (warm_up_round(m, &elapsed_ns, last_ns) < 0)
            return -PS_ECANCELED;
    }
    /* Warm, or undisturbed, the same iterations may have become too short for a sample. */
    uint64_t target_ns = ps_sample_target_ns(m->shared->port, settings->sample_ns);
    for (unsigned i = 0; i < m->n_segments; i++) {
        if (last_ns[i] < target_ns / 10 * 9 && m->n[i] < PS_ITERATIONS_MAX && calibrate(m, i) < 0)
            return -PS_ECANCELED;
    }
    return 0;
}

/* A neighbour who is on the core when the window is to begin would be in most of it. The work goes
 * on, not kept, until he has gone, for a window's length at most. */
static int wait_for_core(struct ps_measuring *m) {
    uint64_t waited_ns = 0, before_ns;
    uint64_t last_ns[PS_SEGMENTS_MAX];
    if (m->shared->port->probe_issue == NULL)
        return 0;
    while (waited_ns < m->settings->window_ns &&
           ps_core_shared(ps_probe(m).issue, m->shared->full_issue)) {
        before_ns = waited_ns;
        if (warm_up_round(m, &waited_ns, last_ns) < 0)
            return -PS_ECANCELED;
        if (waited_ns == before_ns) /* a clock that stands still measures no wait */
            break;
    }
    return 0;
}

/* ns that a timing may be recorded with; 0: none. Where nothing can have moved the clock (a segment
 * that does nothing however often, a baseline that is nothing) a step of the clock is what its time
 * is below, and `resolution` says so. */
static uint64_t recorded_ns(const struct ps_measuring *m, const struct ps_timing *timing,
                            bool may_be_nothing) {
    if (timing->ns > 0 || timing->backward)
        return timing->ns;
    return may_be_nothing ? m->shared->port->resolution_ns : 0;
}

/* What the core was like around a sample. */
static void note_core(struct ps_series *series, const struct ps_probed *before,
                      const struct ps_probed *after, const struct ps_probed *last) {
    if (series->mhz != NULL)
        series->mhz[series->n] = ps_between(before->mhz, after->mhz);
    if (series->baseline_mhz != NULL)
        series->baseline_mhz[series->n] = ps_between(after->mhz, last->mhz);
    if (series->issue != NULL)
        series->issue[series->n] =
            ps_issue_between(ps_issue_between(before->issue, after->issue), last->issue);
}

/* One sample of a segment, and of its baseline. *probed is the probe before, and then the one
 * after. */
static int take_sample(struct ps_measuring *m, unsigned segment, bool keep,
                       struct ps_probed *probed, uint64_t *ret_ns) {
    struct ps_run_shared *shared = m->shared;
    struct ps_series *series = ps_segment_series(m, segment);
    struct ps_timing timing, below = {.ns = 0};
    struct ps_probed before = *probed;
    uint64_t n = m->n[segment];

    if (ps_step(m, segment, false, n, &timing) < 0)
        return -PS_ECANCELED;
    struct ps_probed after = ps_probe(m);
    *probed = after;
    if (series->baseline != NULL) {
        if (ps_step(m, segment, true, n, &below) < 0)
            return -PS_ECANCELED;
        *probed = ps_probe(m);
    }
    if (shared->port->kick != NULL)
        shared->port->kick(shared->port->self);

    *ret_ns = recorded_ns(m, &timing, n == PS_ITERATIONS_MAX);
    uint64_t below_ns = recorded_ns(m, &below, true);
    if (!keep)
        return 0;
    if (*ret_ns == 0 || (series->baseline != NULL && below_ns == 0)) {
        shared->n_dropped++;
        *ret_ns = 0;
        return 0;
    }
    double work = (double)n * (double)m->units[segment];
    shared->n_samples++;
    shared->n_switched += timing.switched || below.switched;
    note_core(series, &before, &after, probed);
    if (series->baseline != NULL)
        series->baseline[series->n] = (double)below_ns / work;
    series->samples[series->n++] = (double)*ret_ns / work;
    return 0;
}

/* Does the latest sample count for the window? One whose core was shared does not. */
static bool counts(struct ps_measuring *m, unsigned segment) {
    const struct ps_series *series = ps_segment_series(m, segment);
    return series->issue == NULL || series->n == 0 ||
           !ps_core_shared(series->issue[series->n - 1], m->shared->full_issue);
}

/* Passes over all segments, until each has got its window or its number of samples. The window is
 * of samples that had the core to themselves; it is given up at one and a half times its length: a
 * neighbour that stays so long stays longer, and the run is better taken again later. */
static int take_samples(struct ps_measuring *m) {
    const struct ps_bench *bench = m->shared->bench;
    bool fixed = bench->passes > 0;
    unsigned dropped = fixed ? bench->passes_dropped : 0;
    unsigned passes = fixed ? dropped + bench->passes : PS_SAMPLES_MAX;
    uint64_t timed_ns[PS_SEGMENTS_MAX] = {0}, all_ns[PS_SEGMENTS_MAX] = {0};
    struct ps_probed probed = ps_probe(m);
    for (unsigned pass = 0; pass < passes; pass++) {
        bool enough = true;
        for (unsigned i = 0; i < m->n_segments; i++) {
            uint64_t ns;
            if (take_sample(m, i, pass >= dropped, &probed, &ns) < 0)
                return -PS_ECANCELED;
            timed_ns[i] += counts(m, i) ? ns : 0;
            all_ns[i] += ns;
            enough &= timed_ns[i] >= m->settings->window_ns ||
                      all_ns[i] >= m->settings->window_ns / 2 * 3;
        }
        if (enough && !fixed)
            break;
    }
    return 0;
}

/* The smallest time per unit that can be told from nothing. */
static void set_resolution(struct ps_measuring *m, unsigned segment) {
    const struct ps_port *port = m->shared->port;
    double units = (double)m->units[segment];
    double loop = 1.5 * m->shared->null_ns / units;
    double clock = (double)(port->resolution_ns + port->read_ns) / ((double)m->n[segment] * units);
    ps_segment_series(m, segment)->resolution = loop > clock ? loop : clock;
}

/* One iteration at a time, for the histogram beside the samples; at most two windows of them. */
static int take_single_events(struct ps_measuring *m, unsigned segment) {
    struct ps_run_shared *shared = m->shared;
    struct ps_series *series = ps_segment_series(m, segment);
    uint64_t timed_ns = 0;
    for (unsigned i = 0; i < m->settings->single_events; i++) {
        struct ps_timing timing;
        if (timed_ns >= 2 * m->settings->window_ns)
            break;
        if (ps_step(m, segment, false, 1, &timing) < 0)
            return -PS_ECANCELED;
        if (shared->port->kick != NULL)
            shared->port->kick(shared->port->self);
        timed_ns += timing.ns;
        if (timing.backward) {
            shared->n_dropped++;
            continue;
        }
        uint64_t read_ns = shared->port->read_ns;
        uint64_t unit_ns = (timing.ns > read_ns ? timing.ns - read_ns : 0) / m->units[segment];
        ps_histogram_add(series->histogram, unit_ns > 0 ? unit_ns : 1);
        series->n_events++;
    }
    return 0;
}

int ps_measure_batches(struct ps_measuring *m) {
    struct ps_run_shared *shared = m->shared;
    const struct ps_port *port = shared->port;
    if (shared->bench->passes > 0) {
        shared->stop = "fixed";
        for (unsigned i = 0; i < m->n_segments; i++)
            m->n[i] = 1;
    } else {
        shared->stop = "time";
        if (warm_up(m) < 0 || wait_for_core(m) < 0)
            return -PS_ECANCELED;
    }

    uint64_t before = port->now_ns(port->self);
    if (take_samples(m) < 0)
        return -PS_ECANCELED;
    uint64_t now = port->now_ns(port->self);
    shared->timed_ns = now > before ? now - before : 0;

    for (unsigned i = 0; i < m->n_segments; i++) {
        if (ps_segment_series(m, i)->n == 0)
            return ps_run_end(&m->run, PS_FAILED, 0,
                              "no sample could be timed: the clock stood still or went back");
        set_resolution(m, i);
    }
    /* A team's single step would be its barrier. */
    for (unsigned i = 0; i < m->n_segments && m->team == NULL; i++) {
        if (m->settings->single_events > 0 && take_single_events(m, i) < 0)
            return -PS_ECANCELED;
    }
    return 0;
}
