/* SPDX-License-Identifier: MIT
 *
 * CPU load by what is left over: a thread of the idle scheduling class on each CPU does small
 * pieces of work and counts them; load = 1 - counted / counted when idle. It sees all that takes
 * time, interrupts included, on any kernel. It keeps the CPUs out of their idle states, which
 * changes what is measured beside it (faster wake-ups, more heat), so it is a pass of its own.
 *
 * The piece of work is a chain of dependent adds, and a piece counts for as long as it took: so the
 * core's clock may change between calibration and use, and does. A piece that took far longer
 * than the fastest of the block before was interrupted, and counts as that one. What makes all
 * pieces longer alike would be taken for a slower clock; pieces are far shorter than the time
 * between interrupts, so that no others do.
 */
#include "sys/cpu_load.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"

#ifndef SCHED_IDLE
#define SCHED_IDLE 5
#endif

#define PIECE_ADDS 2000 /* 0.5 us at 4 GHz: much less than the time between interrupts */
#define PIECE_STEPS 50  /* or, with a coarse clock, this many of its steps: 2 % */
#define PIECES_PER_BLOCK 64
/* So much longer than the fastest is an interruption, which takes longer than a piece. What is less
 * comes from the other thread of the core, here or on the host, and changes as the clock does. */
#define INTERRUPTED 2
#define CALIBRATION_SLICES 10
#define SLICE_NS_MIN 20000000u /* 20 ms: 1000s of blocks */
/* A CPU whose idle class got less than half in its best slice was not idle. */
#define IDLE_SHARE_MIN 0.5

struct soak_thread {
    _Alignas(128) atomic_uint own_us; /* time that it got, wraps after 71 minutes */
    atomic_int state;                 /* 0 starting, 1 counting, or -errno */
    pthread_t thread;
    unsigned cpu;
    struct ps_soak *soak;
    double idle_share; /* of wall time, when nothing else runs */
    unsigned begin_us;
};

struct ps_soak {
    unsigned n_threads;
    unsigned n_started;
    uint64_t piece_turns;
    atomic_bool stop;
    uint64_t begin_ns;
    struct soak_thread *threads;
};

static void sleep_ns(uint64_t time_ns) {
    struct timespec left = {.tv_sec = (time_t)(time_ns / 1000000000u),
                            .tv_nsec = (long)(time_ns % 1000000000u)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR) {
    }
}

/* Each turn is ten adds, one after the other. */
static void work(uint64_t turns) {
    unsigned long x = 1, y = 1;
    __asm__ volatile("" : "+r"(x), "+r"(y));
    for (uint64_t i = 0; i < turns; i++) {
        for (unsigned j = 0; j < 10; j++) {
            x += y;
            __asm__ volatile("" : "+r"(x));
        }
    }
}

/* Musl's sched_setscheduler() is not there; and a thread by its own id is meant. */
static int enter_idle_class(void) {
    struct sched_param none = {.sched_priority = 0};
    return syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &none) < 0 ? -errno : 0;
}

static void *soak_main(void *argument) {
    struct soak_thread *self = argument;
    struct ps_soak *soak = self->soak;
    uint64_t own_ns = 0;
    int r = ps_pin_to_cpu(self->cpu);
    if (r == 0) {
        r = enter_idle_class();
    }
    atomic_store(&self->state, r < 0 ? r : 1);
    if (r < 0) {
        return NULL;
    }
    uint64_t last_ns = ps_now_raw_ns(), usual_ns = UINT64_MAX;
    while (!atomic_load_explicit(&soak->stop, memory_order_relaxed)) {
        uint64_t fastest_ns = UINT64_MAX;
        for (unsigned i = 0; i < PIECES_PER_BLOCK; i++) {
            work(soak->piece_turns);
            uint64_t now_ns = ps_now_raw_ns(), piece_ns = now_ns - last_ns;
            last_ns = now_ns;
            fastest_ns = piece_ns < fastest_ns ? piece_ns : fastest_ns;
            own_ns += piece_ns / INTERRUPTED > usual_ns ? usual_ns : piece_ns;
        }
        usual_ns = fastest_ns;
        atomic_store_explicit(&self->own_us, (unsigned)(own_ns / 1000), memory_order_relaxed);
    }
    return NULL;
}

/* Turns of a piece that is long enough for this machine's clock. */
static uint64_t choose_piece_turns(void) {
    uint64_t turns = PIECE_ADDS / 10, wanted_ns = ps_clock_step_ns() * PIECE_STEPS;
    for (unsigned i = 0; i < 10; i++) { /* 1 ms at most */
        uint64_t start_ns = ps_now_raw_ns();
        work(turns);
        if (ps_now_raw_ns() - start_ns >= wanted_ns) {
            break;
        }
        turns *= 2;
    }
    return turns;
}

static int start_threads(struct ps_soak *soak, const struct ps_cpu_set *set) {
    int cpu = ps_cpu_set_next(set, 0);
    for (unsigned i = 0; i < soak->n_threads; i++) {
        struct soak_thread *thread = &soak->threads[i];
        thread->soak = soak;
        thread->cpu = (unsigned)cpu;
        int r = pthread_create(&thread->thread, NULL, soak_main, thread);
        if (r != 0) {
            return -r;
        }
        soak->n_started++;
        cpu = ps_cpu_set_next(set, (unsigned)cpu + 1);
    }
    for (unsigned i = 0; i < soak->n_threads; i++) {
        int state;
        while ((state = atomic_load(&soak->threads[i].state)) == 0) {
            sleep_ns(1000000);
        }
        if (state < 0) {
            return state;
        }
    }
    return 0;
}

static void read_own(const struct ps_soak *soak, unsigned *own_us) {
    for (unsigned i = 0; i < soak->n_threads; i++) {
        own_us[i] = atomic_load_explicit(&soak->threads[i].own_us, memory_order_relaxed);
    }
}

/* The best of several slices is the one without others; on each CPU it may be another. */
static int calibrate(struct ps_soak *soak, uint64_t calibrate_ns) {
    uint64_t slice_ns = calibrate_ns / CALIBRATION_SLICES;
    slice_ns = slice_ns < SLICE_NS_MIN ? SLICE_NS_MIN : slice_ns;
    unsigned *before_us = calloc(2 * (size_t)soak->n_threads, sizeof *before_us);
    if (before_us == NULL) {
        return -ENOMEM;
    }
    unsigned *after_us = before_us + soak->n_threads;
    sleep_ns(slice_ns); /* the clock settles to all CPUs being busy */
    for (unsigned slice = 0; slice < CALIBRATION_SLICES; slice++) {
        uint64_t start_ns = ps_now_raw_ns();
        read_own(soak, before_us);
        sleep_ns(slice_ns);
        read_own(soak, after_us);
        double wall_us = (double)(ps_now_raw_ns() - start_ns) / 1000;
        for (unsigned i = 0; i < soak->n_threads; i++) {
            double share = (double)(after_us[i] - before_us[i]) / wall_us;
            if (share > soak->threads[i].idle_share) {
                soak->threads[i].idle_share = share;
            }
        }
    }
    free(before_us);
    for (unsigned i = 0; i < soak->n_threads; i++) {
        if (soak->threads[i].idle_share < IDLE_SHARE_MIN) {
            return -EBUSY;
        }
    }
    return 0;
}

int ps_soak_new(const struct ps_cpu_set *set, uint64_t calibrate_ns, struct ps_soak **ret_soak) {
    unsigned n_threads = ps_cpu_set_count(set);
    int r;
    if (n_threads == 0) {
        return -EINVAL;
    }
    struct ps_soak *soak = calloc(1, sizeof *soak);
    if (soak == NULL) {
        return -ENOMEM;
    }
    soak->threads = aligned_alloc(_Alignof(struct soak_thread), n_threads * sizeof *soak->threads);
    if (soak->threads == NULL) {
        r = -ENOMEM;
        goto out;
    }
    memset(soak->threads, 0, n_threads * sizeof *soak->threads);
    soak->n_threads = n_threads;
    soak->piece_turns = choose_piece_turns();
    r = start_threads(soak, set);
    if (r == 0) {
        r = calibrate(soak, calibrate_ns);
    }
    if (r < 0) {
        goto out;
    }
    *ret_soak = soak;
    soak = NULL;
out:
    ps_soak_free(soak);
    return r;
}

int ps_soak_begin(struct ps_soak *soak) {
    for (unsigned i = 0; i < soak->n_threads; i++) {
        soak->threads[i].begin_us =
            atomic_load_explicit(&soak->threads[i].own_us, memory_order_relaxed);
    }
    soak->begin_ns = ps_now_raw_ns();
    return 0;
}

int ps_soak_end(struct ps_soak *soak, double *ret_all_pct, double *ret_busiest_pct) {
    double wall_us = (double)(ps_now_raw_ns() - soak->begin_ns) / 1000, sum = 0, busiest = 0;
    if (soak->begin_ns == 0 || !(wall_us > 0)) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < soak->n_threads; i++) {
        const struct soak_thread *thread = &soak->threads[i];
        unsigned own_us =
            atomic_load_explicit(&thread->own_us, memory_order_relaxed) - thread->begin_us;
        double load = 1 - (double)own_us / wall_us / thread->idle_share;
        load = load < 0 ? 0 : load; /* idler than when it was calibrated */
        sum += load;
        busiest = load > busiest ? load : busiest;
    }
    *ret_all_pct = sum / soak->n_threads * 100;
    *ret_busiest_pct = busiest * 100;
    return 0;
}

void ps_soak_free(struct ps_soak *soak) {
    if (soak == NULL) {
        return;
    }
    atomic_store(&soak->stop, true);
    for (unsigned i = 0; i < soak->n_started; i++) {
        pthread_join(soak->threads[i].thread, NULL);
    }
    free(soak->threads);
    free(soak);
}
