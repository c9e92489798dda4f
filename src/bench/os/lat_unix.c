/* SPDX-License-Identifier: MIT
 *
 * The round trip of one byte between two processes over a pair of UNIX stream sockets: two writes,
 * two reads and two wake-ups. Both processes are pinned, and the row says where: on one CPU, or on
 * two. Every read and write is checked, and the server's answer is the byte plus one: nothing but a
 * live server makes it.
 */
#include "sys/round_trip.h"

static void finish(struct ps_case *c) {
    static const char why[] =
        "the vendor's processes were not pinned: its value mixes one CPU with two";
    ps_round_trip_relate(c, "os.lat_pipe", "a socket does more than a pipe: a run was disturbed");
    if (c->place.pairing != PS_PAIR_SAME_CPU)
        return;
    c->tags = PS_TAG_HEADLINE;
    ps_case_publish(c, "latency", "am62l", "lmbench", "lat_unix", PS_COMPARABLE_APPROX, why);
    ps_case_publish(c, "latency", "am62l", "lmbench", "af_unix_sock_stream_latency",
                    PS_COMPARABLE_APPROX, why);
}

static int cases(const struct ps_env *env, struct ps_case_list *list) {
    ps_round_trip_cases(env, list, finish);
    return 0;
}

static int setup(struct ps_run *run) {
    return ps_round_trip_setup(run, PS_ROUND_TRIP_UNIX);
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_TIME,
        .counts = "one round trip of one byte",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
        /* Two writes and two reads, each into the kernel and back. */
        .floor_cycles = 80,
    },
};

const struct ps_bench ps_bench_os_lat_unix = {
    .chapter = "os",
    .table = "lat_unix",
    .title = "UNIX socket latency",
    .about = "One byte to another process over a pair of UNIX stream sockets and one back, counted "
             "once. Where the two "
             "processes run is in the row's name.",
    .region = "n times write of a byte, read of the answer; the server reads, adds one, writes",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = cases,
    .setup = setup,
    .teardown = ps_round_trip_teardown,
    .batch = ps_round_trip_batch,
    .verify = ps_round_trip_verify,
};
