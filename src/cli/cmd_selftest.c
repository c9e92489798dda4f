/* SPDX-License-Identifier: MIT
 *
 * selftest: whether the clock and the harness are good enough here to measure with: the clock's
 * step, cost and order, the two cycle loops, an empty loop, and what a child process costs to
 * start.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "core/calibrate.h"
#include "port/port_linux.h"
#include "stats/summary.h"
#include "sys/clock_speed.h"
#include "sys/process.h"

/* A child takes about a millisecond on a desktop and ten on a slow board. */
#define CHILDREN 11
#define CHILD_DEADLINE_NS UINT64_C(5000000000)
/* 1 ms samples need at least 1000 steps of the clock. */
#define STEP_WANTED_NS 1000

struct findings {
    struct ps_clock_quality quality;
    struct ps_clock_check check;
    double null_loop_ns, child_ms;
    int child_error; /* negative errno */
};

static int start_child(double *ret_ms) {
    char *argv[] = {(char[]){"perfsheet"}, (char[]){"--exit-code"}, (char[]){"0"}, NULL};
    struct ps_child child;
    int status = 0;
    uint64_t begin_ns = ps_now_ns();
    int error = ps_child_spawn("/proc/self/exe", argv, -1, -1, -1, &child);
    if (error)
        return error;
    error = ps_child_wait(&child, begin_ns + CHILD_DEADLINE_NS, &status);
    uint64_t end_ns = ps_now_ns();
    ps_child_kill(&child);
    if (!error && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        error = -ECHILD;
    *ret_ms = (double)(end_ns - begin_ns) / 1e6;
    return error;
}

static void measure(struct findings *findings) {
    struct ps_port port;
    double children_ms[CHILDREN];
    memset(findings, 0, sizeof(*findings));
    ps_clock_quality(&findings->quality);
    ps_clock_check(&findings->check);
    if (ps_port_linux_init(&port, findings->check.trusted, findings->quality.resolution_ns, 0) == 0)
        findings->null_loop_ns = ps_null_loop_ns(&port);
    for (size_t i = 0; i < CHILDREN && !findings->child_error; i++)
        findings->child_error = start_child(&children_ms[i]);
    if (!findings->child_error)
        findings->child_ms = ps_median(children_ms, CHILDREN);
}

static void print_json(const struct findings *findings) {
    struct ps_json_writer json;
    ps_json_to_stream(&json, stdout);
    ps_json_object_begin(&json);
    ps_json_pair_u64(&json, "resolution_ns", findings->quality.resolution_ns);
    ps_json_pair_u64(&json, "read_ns", findings->quality.read_ns);
    ps_json_pair_bool(&json, "monotone", findings->quality.monotone);
    ps_json_pair_double(&json, "null_loop_ns", findings->null_loop_ns, 4);
    ps_json_pair_bool(&json, "chains_agree", findings->check.trusted);
    ps_json_pair_double(&json, "multiply_ratio", findings->check.ratio, 4);
    ps_json_key(&json, "clock_mhz");
    if (findings->check.trusted)
        ps_json_double(&json, findings->check.add_mhz, 6);
    else
        ps_json_null(&json);
    ps_json_key(&json, "child_ms");
    if (findings->child_error)
        ps_json_null(&json);
    else
        ps_json_double(&json, findings->child_ms, 4);
    ps_json_object_end(&json);
    ps_json_line_end(&json);
}

static void print_text(const struct findings *findings) {
    const struct ps_clock_quality *quality = &findings->quality;
    printf("%-18s %llu ns%s\n", "clock step", (unsigned long long)quality->resolution_ns,
           quality->resolution_ns > STEP_WANTED_NS ? "; coarse, samples are made longer" : "");
    printf("%-18s %llu ns\n", "clock read", (unsigned long long)quality->read_ns);
    printf("%-18s %s\n", "clock order",
           quality->monotone ? "monotone across CPUs" : "NOT MONOTONE across CPUs");
    printf("%-18s %.3f ns\n", "empty loop", findings->null_loop_ns);
    if (findings->check.trusted)
        printf("%-18s %.0f MHz; a multiplication takes %.2f additions\n", "core clock",
               findings->check.add_mhz, findings->check.ratio);
    else
        printf("%-18s unknown: a multiplication takes %.2f additions, which is no whole number; "
               "times are not "
               "normalised\n",
               "core clock", findings->check.ratio);
    if (findings->child_error)
        printf("%-18s FAILED: %s\n", "child process", strerror(-findings->child_error));
    else
        printf("%-18s %.2f ms\n", "child process", findings->child_ms);
}

int ps_cmd_selftest(struct ps_invocation *invocation) {
    const char *format = ps_option_value(&invocation->arguments, "format");
    struct findings findings;
    if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return ps_usage(invocation, "--format is text or json, not '%.40s'", format);
    if (invocation->arguments.n_words > 0)
        return ps_usage(invocation, "selftest takes no words, not '%.40s'",
                        invocation->arguments.words[0]);
    measure(&findings);
    if (format && strcmp(format, "json") == 0)
        print_json(&findings);
    else
        print_text(&findings);
    bool good =
        findings.quality.monotone && !findings.child_error && findings.quality.resolution_ns > 0;
    return ps_finish_stdout(good ? PS_EXIT_OK : PS_EXIT_FAILED);
}
