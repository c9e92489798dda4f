/* SPDX-License-Identifier: MIT
 *
 * The callbacks that the tables of round trips share. The server's answers prove that it was there;
 * both processes report the CPU that they ran on; on one CPU the kernel's count of switches must
 * agree with two a round trip.
 */
#include <errno.h>
#include <string.h>

#include "sys/round_trip.h"

#define SWITCHES_SLACK 0.05
#define SWITCHES_SLACK_MIN 16.0 /* what the proof itself adds to few round trips */

struct trip_state {
    struct ps_round_trip trip;
    int cpus[2];
    bool same_cpu;
    uint64_t n, n_before;
    struct ps_round_trip_report before[2];
};

static const char *place_name(enum ps_pairing pairing) {
    return pairing == PS_PAIR_SAME_CPU    ? "same-cpu"
           : pairing == PS_PAIR_CROSS_CPU ? "cross-cpu"
                                          : "cross-cluster";
}

void ps_round_trip_relate(struct ps_case *c, const char *table, const char *cause) {
    char other[2 * PS_NAME_MAX];
    struct ps_text text;
    ps_text_init(&text, other, sizeof(other));
    ps_text_add(&text, table);
    ps_text_add_char(&text, '/');
    ps_text_add(&text, place_name(c->place.pairing));
    ps_text_add(&text, ":latency");
    ps_case_relate(c, PS_ORDER_AT_LEAST, "os-02", "latency", other, 1, 0.1, cause);
}

void ps_round_trip_cases(const struct ps_env *env, struct ps_case_list *list,
                         void (*finish)(struct ps_case *c)) {
    static const enum ps_pairing pairings[] = {PS_PAIR_SAME_CPU, PS_PAIR_CROSS_CPU,
                                               PS_PAIR_CROSS_CLUSTER};
    for (size_t i = 0; i < sizeof(pairings) / sizeof(pairings[0]); i++) {
        struct ps_case *c = ps_case_add(list, place_name(pairings[i]));
        if (c == NULL)
            continue;
        c->place.pairing = pairings[i];
        c->bound = pairings[i] == PS_PAIR_SAME_CPU ? PS_BOUND_CORE : PS_BOUND_WAKE;
        ps_case_param(c, "message_bytes", 1);
        if (pairings[i] == PS_PAIR_CROSS_CPU && env->cluster != NULL && env->cluster->n_cpus < 2) {
            c->status = PS_UNSUPPORTED;
            c->reason = "needs two usable CPUs of one kind";
        } else if (pairings[i] == PS_PAIR_CROSS_CLUSTER && env->n_clusters < 2) {
            c->status = PS_UNSUPPORTED;
            c->reason = "needs CPUs of two kinds; all usable CPUs here are alike";
        }
        ps_case_relate(c, PS_ORDER_AT_LEAST, "os-03", "latency", "os.lat_syscall/null:latency", 4,
                       0, "four system calls at least make a round trip: some of them failed");
        finish(c);
    }
}

int ps_round_trip_setup(struct ps_run *run, enum ps_round_trip_kind kind) {
    struct trip_state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return -ENOMEM;
    memset(state, 0, sizeof(*state));
    state->same_cpu = ps_run_case(run)->place.pairing == PS_PAIR_SAME_CPU;
    state->cpus[0] = ps_run_cpu(run, 0);
    state->cpus[1] = ps_run_cpu(run, state->same_cpu ? 0 : 1);
    if (state->cpus[0] < 0 || state->cpus[1] < 0)
        return ps_run_end(run, PS_FAILED, 0, "the plan named no CPU for the server");
    int r = ps_round_trip_start(&state->trip, kind, state->cpus[1]);
    if (r == -ENOSYS || r == -EAFNOSUPPORT || r == -EPROTONOSUPPORT)
        return ps_run_end(run, PS_UNSUPPORTED, r,
                          "this kernel, or a sandbox around this program, has no such channel");
    if (r == -EADDRNOTAVAIL || r == -ENETUNREACH)
        return ps_run_end(run, PS_UNSUPPORTED, r,
                          "needs the loopback interface: ip link set lo up");
    if (r == -EACCES || r == -EPERM)
        return ps_run_end(run, PS_DENIED, r, "sockets are forbidden here: a sandbox or a firewall");
    if (r == 0)
        ps_run_set_state(run, state);
    return r;
}

void ps_round_trip_teardown(struct ps_run *run) {
    struct trip_state *state = ps_run_state(run);
    if (state != NULL)
        ps_round_trip_stop(&state->trip);
    ps_run_set_state(run, NULL);
}

static int trip_end(struct ps_run *run, int r) {
    if (r == -EPIPE)
        return ps_run_end(run, PS_FAILED, EPIPE, "the server process died");
    if (r == -EBADMSG)
        return ps_run_end(run, PS_FAILED, 0, "the server's answer is wrong");
    return r;
}

int ps_round_trip_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct trip_state *state = ps_run_state(run);
    state->n += n;
    return trip_end(run, ps_round_trip_go(&state->trip, n));
}

static bool switches_agree(const struct trip_state *state) {
    double wanted = 2.0 * (double)(state->n - state->n_before), waits = 0, switches = 0;
    double slack = wanted * SWITCHES_SLACK + SWITCHES_SLACK_MIN;
    for (unsigned i = 0; i < 2; i++) {
        const struct ps_round_trip_report *now = &state->trip.reports[i], *was = &state->before[i];
        double waited = (double)(now->voluntary - was->voluntary);
        waits += waited;
        switches += waited + (double)(now->involuntary - was->involuntary);
    }
    return switches >= wanted - slack && waits <= wanted + slack;
}

int ps_round_trip_verify(struct ps_run *run, enum ps_verify_when when) {
    struct trip_state *state = ps_run_state(run);
    int r = ps_round_trip_collect(&state->trip);
    if (r < 0)
        return trip_end(run, r);
    for (unsigned i = 0; i < 2; i++)
        if (state->trip.reports[i].cpu != state->cpus[i])
            return ps_run_end(run, PS_FAILED, 0,
                              "a process did not run on the CPU that the row names");
    if (when == PS_VERIFY_AFTER && state->same_cpu && !switches_agree(state))
        return ps_run_end(run, PS_FAILED, 0,
                          "not switching: the kernel's count of context switches differs from two "
                          "a round trip by over 5 %");
    if (when == PS_VERIFY_AFTER)
        return 0;
    memcpy(state->before, state->trip.reports, sizeof(state->before));
    state->n_before = state->n;
    return ps_round_trip_batch(run, 0, 1);
}
