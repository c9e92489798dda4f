/* SPDX-License-Identifier: MIT
 *
 * Options that choose and make rows, turned into an environment and a plan.
 */
#include "cli/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "harness/filter.h"

#define BUDGET_MOST_S (30 * 86400u) /* a month */

const char *ps_depth_name(enum ps_depth depth) {
    static const char *const names[] = {"quick", "default", "thorough"};
    return names[depth];
}

static int read_options(const struct ps_invocation *invocation,
                        const struct ps_arguments *arguments, uint64_t seed,
                        struct ps_plan_options *options) {
    char why[200];
    uint64_t budget, threads, given_seed = 0;
    bool quick = ps_option_given(arguments, "quick"),
         thorough = ps_option_given(arguments, "thorough");
    if (quick && thorough)
        return ps_usage(invocation, "--quick and --thorough at once");
    if (ps_option_number(arguments, "budget", 1, BUDGET_MOST_S, 0, &budget, why, sizeof(why)) ||
        ps_option_number(arguments, "threads", 1, PS_CPU_MAX, 0, &threads, why, sizeof(why)) ||
        ps_option_number(arguments, "seed", 1, UINT64_MAX, 0, &given_seed, why, sizeof(why)))
        return ps_usage(invocation, "%s", why);
    for (size_t i = 0; i < arguments->n_words; i++)
        if (ps_filter_check(arguments->words[i], why, sizeof(why)))
            return ps_usage(invocation, "%s", why);
    *options = (struct ps_plan_options){
        .filters = arguments->words,
        .n_filters = arguments->n_words,
        .depth = quick      ? PS_DEPTH_QUICK
                 : thorough ? PS_DEPTH_THOROUGH
                            : PS_DEPTH_DEFAULT,
        .budget_s = (unsigned)budget,
        .seed = seed ? seed : given_seed,
        .threads = (unsigned)threads,
        .golden = ps_option_given(arguments, "golden"),
    };
    return PS_EXIT_OK;
}

static int read_board(const struct ps_arguments *arguments, struct ps_setup *setup) {
    const char *path = ps_option_value(arguments, "board-file");
    char why[200];
    if (!path)
        return PS_EXIT_OK;
    int error = ps_boardfile_read(path, &setup->board, why, sizeof(why));
    if (!error)
        return PS_EXIT_OK;
    ps_complain("board file %s: %s", path, why);
    return error == -ENOMEM ? PS_EXIT_FAILED : PS_EXIT_USAGE;
}

static int list_targets(const struct ps_arguments *arguments, struct ps_setup *setup) {
    size_t n = 0;
    setup->targets = calloc(arguments->n_given + 1, sizeof(*setup->targets));
    if (!setup->targets) {
        ps_complain("not enough memory");
        return PS_EXIT_FAILED;
    }
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, "target") == 0)
            setup->targets[n++] = arguments->given[i].value;
    return PS_EXIT_OK;
}

static int read_environment(const struct ps_invocation *invocation,
                            const struct ps_arguments *arguments, bool measure_clock,
                            struct ps_setup *setup) {
    char why[300];
    const struct ps_environment_options options = {
        .root = invocation->root,
        .cpus = ps_option_value(arguments, "cpus"),
        .board = setup->board,
        .quick = setup->options.depth == PS_DEPTH_QUICK,
        .anonymise = ps_option_given(arguments, "anonymise"),
        .measure_clock = measure_clock,
        .targets = setup->targets,
    };
    setup->environment = calloc(1, sizeof(*setup->environment));
    if (!setup->environment) {
        ps_complain("not enough memory");
        return PS_EXIT_FAILED;
    }
    why[0] = 0;
    int error = ps_environment_read(&options, setup->environment, why, sizeof(why));
    if (!error && setup->environment->clock_measured)
        ps_selftest_measure(setup->environment->clock.trusted,
                            setup->environment->clock_quality.resolution_ns,
                            &setup->environment->selftest);
    if (!error)
        return PS_EXIT_OK;
    ps_complain("%s", *why ? why : strerror(-error));
    return error == -EINVAL ? PS_EXIT_USAGE : PS_EXIT_FAILED;
}

int ps_setup_make(const struct ps_invocation *invocation, const struct ps_arguments *arguments,
                  bool measure_clock, uint64_t seed, struct ps_setup *ret_setup) {
    char why[300] = "";
    memset(ret_setup, 0, sizeof(*ret_setup));
    int code = read_options(invocation, arguments, seed, &ret_setup->options);
    if (!code)
        code = read_board(arguments, ret_setup);
    if (!code)
        code = list_targets(arguments, ret_setup);
    if (!code)
        code = read_environment(invocation, arguments, measure_clock, ret_setup);
    if (!code) {
        int error = ps_plan_make(ps_registry(), ret_setup->environment, &ret_setup->options,
                                 &ret_setup->plan, why, sizeof(why));
        if (error) {
            ps_complain("%s", *why ? why : strerror(-error));
            code = error == -EINVAL ? PS_EXIT_USAGE : PS_EXIT_FAILED;
        } else if (ret_setup->plan.warning[0]) {
            ps_tell(invocation, "note: %s", ret_setup->plan.warning);
        }
    }
    if (code)
        ps_setup_done(ret_setup);
    return code;
}

void ps_setup_done(struct ps_setup *setup) {
    ps_plan_free(&setup->plan);
    free(setup->environment);
    free(setup->targets);
    ps_boardfile_free(setup->board);
    memset(setup, 0, sizeof(*setup));
}
