/* SPDX-License-Identifier: MIT
 *
 * The fake machine. A team is real threads of which one runs at a time: the one whose own clock is
 * furthest behind, so that what a thread does is seen by the others in the order of time. A thread
 * that waits for another (relax) is put just behind the slowest one that does not wait.
 */
#include "port/port_fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/assert.h"

#define START_NS UINT64_C(1000000000)
#define RELAX_NS 50
#define ALIGNMENT_BYTES 4096

void ps_fake_init(struct ps_fake *fake) {
    *fake = (struct ps_fake){.step_ns = 1, .read_ns = 20, .now_ns = START_NS};
    pthread_mutex_init(&fake->lock, NULL);
}

void ps_fake_done(struct ps_fake *fake) {
    PS_ASSERT(fake->mapped_bytes == 0);
    pthread_mutex_destroy(&fake->lock);
}

/* The calling thread's; the lock is held. */
static uint64_t *clock_of_caller(struct ps_fake *fake) {
    return fake->n_threads > 0 ? &fake->threads[fake->running].now_ns : &fake->now_ns;
}

/* Whose turn it is: of the active ones the one furthest behind. n_threads: nobody's. */
static unsigned next_thread(const struct ps_fake *fake) {
    unsigned next = fake->n_threads;
    for (unsigned i = 0; i < fake->n_threads; i++) {
        const struct ps_fake_thread *thread = &fake->threads[i];
        if (thread->active &&
            (next == fake->n_threads || thread->now_ns < fake->threads[next].now_ns))
            next = i;
    }
    return next;
}

/* Lets others go first that are behind. The lock is held; the caller is the one running. */
static void take_turns(struct ps_fake *fake) {
    if (fake->n_threads == 0)
        return;
    unsigned self = fake->running;
    unsigned next = next_thread(fake);
    if (next == self)
        return;
    fake->running = next;
    pthread_cond_signal(&fake->threads[next].turn);
    while (fake->running != self)
        pthread_cond_wait(&fake->threads[self].turn, &fake->lock);
}

void ps_fake_advance(struct ps_fake *fake, uint64_t time_ns) {
    pthread_mutex_lock(&fake->lock);
    if (fake->n_threads > 0)
        fake->threads[fake->running].waiting = false;
    *clock_of_caller(fake) += time_ns;
    take_turns(fake);
    pthread_mutex_unlock(&fake->lock);
}

static uint64_t fake_now_ns(void *self) {
    struct ps_fake *fake = self;
    pthread_mutex_lock(&fake->lock);
    if (fake->n_threads > 0)
        fake->threads[fake->running].waiting = false;
    uint64_t *clock = clock_of_caller(fake);
    *clock += fake->read_ns;
    uint64_t now_ns = fake->stopped ? START_NS : *clock;
    if (fake->backward_by_ns > 0 && now_ns >= fake->backward_at_ns)
        now_ns -= fake->backward_by_ns;
    now_ns -= now_ns % fake->step_ns;
    if (fake->counter_bits > 0) /* the hardware has only these bits */
        now_ns =
            ps_counter_widen(&fake->counter, now_ns & ((UINT64_C(1) << fake->counter_bits) - 1));
    pthread_mutex_unlock(&fake->lock);
    return now_ns;
}

static double fake_probe_mhz(void *self) {
    struct ps_fake *fake = self;
    unsigned i = fake->n_probes < fake->n_mhz ? fake->n_probes : fake->n_mhz - 1;
    fake->n_probes++;
    return fake->mhz[i];
}

static double fake_probe_issue(void *self) {
    struct ps_fake *fake = self;
    unsigned i = fake->n_issue_probes < fake->n_issue ? fake->n_issue_probes : fake->n_issue - 1;
    unsigned clock = fake->n_probes - 1 < fake->n_mhz ? fake->n_probes - 1 : fake->n_mhz - 1;
    fake->n_issue_probes++;
    return fake->issue[i] * fake->mhz[clock];
}

static uint64_t fake_switches(void *self) {
    struct ps_fake *fake = self;
    pthread_mutex_lock(&fake->lock);
    uint64_t switches = *clock_of_caller(fake) / fake->switch_every_ns;
    pthread_mutex_unlock(&fake->lock);
    return switches;
}

static int fake_map(void *self, const struct ps_memory *request, uint64_t bytes,
                    void **ret_memory) {
    struct ps_fake *fake = self;
    if (request->pages == PS_PAGES_HUGE && fake->no_huge_pages)
        return -EOPNOTSUPP;
    if (fake->memory_limit_bytes > 0 && fake->mapped_bytes + bytes > fake->memory_limit_bytes)
        return -ENOMEM;
    uint64_t rounded = (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    void *memory = aligned_alloc(ALIGNMENT_BYTES, (size_t)rounded);
    if (memory == NULL)
        return -ENOMEM;
    memset(memory, 0xa5, (size_t)rounded); /* as on a machine without an MMU: used before */
    fake->mapped_bytes += bytes;
    *ret_memory = memory;
    return 0;
}

static void fake_unmap(void *self, void *memory, uint64_t bytes) {
    struct ps_fake *fake = self;
    PS_ASSERT(bytes <= fake->mapped_bytes);
    fake->mapped_bytes -= bytes;
    free(memory);
}

static void fake_relax(void *self) {
    struct ps_fake *fake = self;
    pthread_mutex_lock(&fake->lock);
    uint64_t *clock = clock_of_caller(fake);
    uint64_t busy_ns = UINT64_MAX; /* where the slowest that does not wait has got to */
    if (fake->n_threads > 0) {
        fake->threads[fake->running].waiting = true;
        for (unsigned i = 0; i < fake->n_threads; i++) {
            const struct ps_fake_thread *thread = &fake->threads[i];
            if (thread->active && !thread->waiting && thread->now_ns < busy_ns)
                busy_ns = thread->now_ns;
        }
    }
    *clock = busy_ns != UINT64_MAX && busy_ns > *clock ? busy_ns + RELAX_NS : *clock + RELAX_NS;
    take_turns(fake);
    pthread_mutex_unlock(&fake->lock);
}

static void fake_kick(void *self) {
    struct ps_fake *fake = self;
    fake->n_kicks++;
}

/* ---- Teams ---------------------------------------------------------------------------------- */

struct start {
    struct ps_fake *fake;
    unsigned i;
    void (*function)(void *argument, unsigned i);
    void *argument;
};

static void *run_thread(void *argument) {
    struct start *start = argument;
    struct ps_fake *fake = start->fake;
    struct ps_fake_thread *self = &fake->threads[start->i];
    pthread_mutex_lock(&fake->lock);
    while (fake->running != start->i)
        pthread_cond_wait(&self->turn, &fake->lock);
    pthread_mutex_unlock(&fake->lock);

    start->function(start->argument, start->i);

    pthread_mutex_lock(&fake->lock);
    self->active = false;
    fake->running = next_thread(fake);
    if (fake->running < fake->n_threads)
        pthread_cond_signal(&fake->threads[fake->running].turn);
    pthread_mutex_unlock(&fake->lock);
    return NULL;
}

static int fake_team(void *self, unsigned n, const int *cpus,
                     void (*function)(void *argument, unsigned i), void *argument) {
    struct ps_fake *fake = self;
    struct start starts[PS_FAKE_THREADS_MAX];
    (void)cpus;
    if (fake->team_error < 0)
        return fake->team_error;
    PS_ASSERT(n >= 1 && n <= PS_FAKE_THREADS_MAX && fake->n_threads == 0);
    for (unsigned i = 0; i < n; i++) {
        starts[i] = (struct start){fake, i, function, argument};
        fake->threads[i] = (struct ps_fake_thread){.now_ns = fake->now_ns + fake->start_delay_ns[i],
                                                   .active = true};
        pthread_cond_init(&fake->threads[i].turn, NULL);
    }
    pthread_mutex_lock(&fake->lock);
    fake->n_threads = n;
    fake->running = next_thread(fake);
    pthread_mutex_unlock(&fake->lock);
    for (unsigned i = 1; i < n; i++) {
        int error = pthread_create(&fake->threads[i].thread, NULL, run_thread, &starts[i]);
        PS_ASSERT(error == 0);
    }
    run_thread(&starts[0]);
    for (unsigned i = 1; i < n; i++)
        pthread_join(fake->threads[i].thread, NULL);
    for (unsigned i = 0; i < n; i++) {
        if (fake->threads[i].now_ns > fake->now_ns)
            fake->now_ns = fake->threads[i].now_ns;
        pthread_cond_destroy(&fake->threads[i].turn);
    }
    fake->n_threads = 0;
    return 0;
}

void ps_fake_port(struct ps_fake *fake, struct ps_port *ret_port) {
    PS_ASSERT(fake->step_ns > 0 && fake->counter_bits < 64);
    if (fake->counter_bits > 0) {
        uint64_t mask = (UINT64_C(1) << fake->counter_bits) - 1;
        ps_counter_init(&fake->counter, fake->counter_bits, fake->now_ns & mask);
    }
    *ret_port = (struct ps_port){
        .self = fake,
        .now_ns = fake_now_ns,
        .now_event_ns = fake_now_ns,
        .resolution_ns = fake->step_ns,
        .read_ns = fake->read_ns,
        .probe_mhz = fake->n_mhz > 0 ? fake_probe_mhz : NULL,
        .probe_issue = fake->n_mhz > 0 && fake->n_issue > 0 ? fake_probe_issue : NULL,
        .full_issue = fake->full_issue,
        .switches = fake->switch_every_ns > 0 ? fake_switches : NULL,
        .map = fake_map,
        .unmap = fake_unmap,
        .team = fake_team,
        .relax = fake_relax,
        .kick = fake_kick,
    };
}
