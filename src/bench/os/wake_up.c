/* SPDX-License-Identifier: MIT
 *
 * How late a thread wakes up from a timed sleep: the difference between the time for which it asked
 * to be woken and the time that it reads first thing after waking, both on CLOCK_MONOTONIC. These
 * are the semantics of cyclictest: absolute sleeps on a fixed schedule of one millisecond, one
 * thread, pinned; a wake-up so late that whole periods went by is one event, with its latency in
 * full, and the schedule goes on at the first period still to come.
 *
 * `fifo` is a SCHED_FIFO thread of priority 80 with all memory locked, what a control loop would
 * be. `other` is a thread of the normal class with the kernel's default timer slack, by which the
 * kernel may let a sleep end late on purpose. Idle states are left as they are:
 * /dev/cpu_dma_latency is not held open, as nothing about the system is changed.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "core/bench.h"
#include "sys/realtime.h"

#define INTERVAL_US 1000
#define PRIORITY 80
/* Wake-ups before the first that counts: caches, timer code and clock have settled in 10 ms. */
#define SETTLING_EVENTS 10
#define NS_PER_S 1000000000u

struct wake_state {
    struct ps_scheduling before, wanted;
    long slack_before_ns;
    bool locked;
};

#define REMEDY                                                                                     \
    ": run as root, or, as root, setcap cap_sys_nice,cap_ipc_lock+ep on the perfsheet program, "   \
    "or "                                                                                          \
    "for your shell: sudo prlimit --rtprio=99 --memlock=unlimited --pid $$"

static const char no_fifo[] = "needs the right to SCHED_FIFO" REMEDY;
static const char no_lock[] = "needs the right to lock its memory" REMEDY;

/* So that the plan says it, and not the first run. A right may still be lost on the way there. */
static const char *missing_right(void) {
    if (ps_realtime_allowed(PRIORITY) == -EPERM)
        return no_fifo;
    return ps_memory_lock_allowed() < 0 ? no_lock : NULL;
}

static int wake_cases(const struct ps_env *env, struct ps_case_list *list) {
    (void)env;
    static const struct {
        const char *name, *policy;
        int priority, slack_ns;
    } kinds[] = {
        {"fifo", "SCHED_FIFO", PRIORITY, 0},
        {"other", "SCHED_OTHER", 0, PS_TIMER_SLACK_DEFAULT_NS},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct ps_case *c = ps_case_add(list, kinds[i].name);
        if (c == NULL)
            continue;
        c->bound = PS_BOUND_WAKE;
        c->tags = PS_TAG_HEADLINE;
        ps_case_param_text(c, "policy", kinds[i].policy);
        ps_case_param(c, "priority", kinds[i].priority);
        ps_case_param(c, "interval_us", INTERVAL_US);
        ps_case_param(c, "timer_slack_ns", kinds[i].slack_ns);
        ps_case_param_text(c, "memory", kinds[i].priority > 0 ? "locked" : "not locked");
        ps_case_param_text(c, "cpu_dma_latency", "not held");
        c->reason = kinds[i].priority > 0 ? missing_right() : NULL;
        c->status = c->reason != NULL ? PS_DENIED : PS_OK;
    }
    return 0;
}

static int enter_realtime(struct ps_run *run, struct wake_state *state) {
    int r = ps_memory_lock();
    if (r < 0)
        return ps_run_end(run, PS_DENIED, -r, no_lock);
    state->locked = true;
    r = ps_scheduling_set(&state->wanted);
    if (r < 0)
        return ps_run_end(run, PS_DENIED, -r, no_fifo);
    return 0;
}

static void wake_teardown(struct ps_run *run) {
    struct wake_state *state = ps_run_state(run);
    if (state == NULL)
        return;
    /* Back to the class the thread came from needs no right. */
    (void)ps_scheduling_set(&state->before);
    (void)ps_timer_slack_set((unsigned long)state->slack_before_ns);
    if (state->locked)
        ps_memory_unlock();
    ps_run_set_state(run, NULL);
}

static int wake_setup(struct ps_run *run) {
    const struct ps_case *c = ps_run_case(run);
    struct wake_state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return -ENOMEM;
    int priority = (int)ps_case_value(c, "priority", 0);
    state->wanted.policy = priority > 0 ? SCHED_FIFO : SCHED_OTHER;
    state->wanted.priority = priority;
    int r = ps_scheduling_get(&state->before);
    if (r < 0)
        return r;
    state->slack_before_ns = ps_timer_slack_get();
    if (state->slack_before_ns < 0)
        return (int)state->slack_before_ns;
    ps_run_set_state(run, state);
    ps_stack_prefault();
    if (priority > 0) {
        r = enter_realtime(run, state);
    } else {
        r = ps_scheduling_set(&state->wanted);
        if (r == 0)
            r = ps_timer_slack_set((unsigned long)ps_case_value(c, "timer_slack_ns", 0));
    }
    if (r < 0)
        wake_teardown(run);
    return r;
}

/* The events prove themselves (none is early, all are there); what must be proved is that they were
 * taken in the class that the row says. */
static int wake_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)when;
    const struct wake_state *state = ps_run_state(run);
    struct ps_scheduling now;
    int r = ps_scheduling_get(&now);
    if (r < 0)
        return r;
    if (now.policy != state->wanted.policy || now.priority != state->wanted.priority)
        return ps_run_end(run, PS_FAILED, 0,
                          "the thread is not in the scheduling class that the row names: something "
                          "else on this system changes priorities");
    if (now.policy == SCHED_OTHER &&
        ps_timer_slack_get() != ps_case_value(ps_run_case(run), "timer_slack_ns", 0))
        return ps_run_end(run, PS_FAILED, 0, "the thread's timer slack is not what the row names");
    return 0;
}

static int sleep_until(uint64_t target_ns) {
    struct timespec until = {
        .tv_sec = (time_t)(target_ns / NS_PER_S),
        .tv_nsec = (long)(target_ns % NS_PER_S),
    };
    int error;
    do {
        error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    } while (error == EINTR);
    return -error;
}

static int wake_events(struct ps_run *run) {
    const uint64_t interval_ns =
        (uint64_t)ps_case_value(ps_run_case(run), "interval_us", INTERVAL_US) * 1000;
    const unsigned wanted = ps_run_events_wanted(run);
    uint64_t target_ns = ps_run_now_ns(run) + interval_ns;
    for (unsigned i = 0; i < SETTLING_EVENTS + wanted; i++) {
        int r = sleep_until(target_ns);
        uint64_t now_ns = ps_run_now_ns(run);
        if (r < 0)
            return r;
        if (now_ns < target_ns)
            return ps_run_end(run, PS_FAILED, 0,
                              "a sleep ended before its time: the kernel's timers and its clock "
                              "disagree");
        uint64_t late_ns = now_ns - target_ns;
        if (i >= SETTLING_EVENTS)
            ps_run_event(run, 0, (double)late_ns);
        target_ns += (late_ns / interval_ns + 1) * interval_ns;
    }
    return 0;
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_READING,
        .counts = "time from the programmed end of a sleep to the thread's first clock reading",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 2,
        .method = 1,
        .bound = PS_BOUND_WAKE,
        .sample_stat = PS_STAT_MEDIAN,
        .run_stat = PS_STAT_MEDIAN,
    },
};

const struct ps_bench ps_bench_os_wake_up = {
    .chapter = "os",
    .table = "wake_up",
    .title = "Timer wake-up latency",
    .about = "How late a pinned thread wakes from an absolute sleep, once a millisecond, as "
             "cyclictest measures it, with the system's idle states left as they are. The value is "
             "the median; the quantiles beside it are over all events.",
    .region = "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME) and one reading of that clock; the "
              "latency is the reading minus the programmed time",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = wake_cases,
    .setup = wake_setup,
    .teardown = wake_teardown,
    .events = wake_events,
    .events_per_run = 500,
    .events_per_run_quick = 160,
    .verify = wake_verify,
};
