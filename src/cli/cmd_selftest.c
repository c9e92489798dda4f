/* SPDX-License-Identifier: MIT
 *
 * selftest: whether the clock and the harness are good enough here to measure with: the clock's
 * step, cost and order, the two cycle loops, an empty loop, and what a child process costs to
 * start.
 */
#include "cli/verbs.h"

#include <string.h>

#include "harness/selftest.h"
#include "sys/clock_speed.h"

/* 1 ms samples need at least 1000 steps of the clock. */
#define STEP_WANTED_NS 1000

struct findings {
    struct ps_clock_quality quality;
    struct ps_clock_check check;
    struct ps_selftest costs;
};

static void measure(struct findings *findings) {
    ps_clock_quality(&findings->quality);
    ps_clock_check(&findings->check);
    ps_selftest_measure(findings->check.trusted, findings->quality.resolution_ns, &findings->costs);
}

static void print_json(const struct findings *findings) {
    struct ps_json_writer json;
    ps_json_to_stream(&json, stdout);
    ps_json_object_begin(&json);
    ps_json_pair_u64(&json, "resolution_ns", findings->quality.resolution_ns);
    ps_json_pair_u64(&json, "read_ns", findings->quality.read_ns);
    ps_json_pair_bool(&json, "monotone", findings->quality.monotone);
    ps_json_pair_double(&json, "null_loop_ns", findings->costs.null_loop_ns, 4);
    ps_json_pair_bool(&json, "chains_agree", findings->check.trusted);
    ps_json_pair_double(&json, "multiply_ratio", findings->check.ratio, 4);
    ps_json_key(&json, "clock_mhz");
    if (findings->check.trusted)
        ps_json_double(&json, findings->check.add_mhz, 6);
    else
        ps_json_null(&json);
    ps_json_key(&json, "child_ms");
    if (findings->costs.child_error)
        ps_json_null(&json);
    else
        ps_json_double(&json, findings->costs.child_ms, 4);
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
    printf("%-18s %.3f ns\n", "empty loop", findings->costs.null_loop_ns);
    if (findings->check.trusted)
        printf("%-18s %.0f MHz; a multiplication takes %.2f additions\n", "core clock",
               findings->check.add_mhz, findings->check.ratio);
    else
        printf("%-18s unknown: a multiplication takes %.2f additions, which is no whole number; "
               "times are not "
               "normalised\n",
               "core clock", findings->check.ratio);
    if (findings->costs.child_error)
        printf("%-18s FAILED: %s\n", "child process", strerror(-findings->costs.child_error));
    else
        printf("%-18s %.2f ms\n", "child process", findings->costs.child_ms);
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
    bool good = findings.quality.monotone && !findings.costs.child_error &&
                findings.quality.resolution_ns > 0;
    return ps_finish_stdout(good ? PS_EXIT_OK : PS_EXIT_FAILED);
}
