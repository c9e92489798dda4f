/* SPDX-License-Identifier: MIT
 *
 * run: plan, measure, write the sheet, print the page.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/resume.h"
#include "cli/run_sheet.h"
#include "cli/run_watch.h"
#include "cli/setup.h"
#include "cli/verify.h"
#include "harness/fix_clock.h"
#include "report/report.h"
#include "sheet/results.h"

#define QUICK_BUDGET_S 60.0

struct run {
    struct ps_invocation *invocation;
    const struct ps_arguments *arguments; /* own ones, or those of the sheet that is resumed */
    struct ps_arguments stored;
    char **stored_words; /* its strings */
    size_t n_stored_words;
    struct ps_sheet *done; /* --resume */
    struct ps_setup setup;
    struct ps_guard *guard;
    struct ps_run_sheet sheet;
    bool printed; /* the page, which says where the sheet is */
};

/* ---- Arguments in the sheet ------------------------------------------------------------------ */

/* Options that are kept in the sheet; `private` ones name places on this machine and are left out
 * of an anonymous sheet; `plans` ones make other rows or other runs of them. */
static const struct {
    const char *name;
    bool private, plans;
} kept_options[] = {
    {"quick", false, true},     {"thorough", false, true},  {"budget", false, true},
    {"cpus", false, true},      {"threads", false, true},   {"seed", false, false},
    {"board-file", true, true}, {"target", true, true},     {"fix-clock", false, false},
    {"strict", false, false},   {"cpu-load", false, false},
};

static bool is_kept(const char *name, bool anonymise) {
    for (size_t i = 0; i < sizeof(kept_options) / sizeof(kept_options[0]); i++)
        if (strcmp(kept_options[i].name, name) == 0)
            return !(anonymise && kept_options[i].private);
    return false;
}

static bool plans(const char *name) {
    for (size_t i = 0; i < sizeof(kept_options) / sizeof(kept_options[0]); i++)
        if (strcmp(kept_options[i].name, name) == 0)
            return kept_options[i].plans;
    return false;
}

/* On this command line or on the one that the sheet was begun with. */
static bool is_given(const struct run *run, const char *name) {
    return ps_option_given(run->arguments, name) ||
           ps_option_given(&run->invocation->arguments, name);
}

/* The words for plan.args. Free each "--name=value" and the array. */
static char **kept_args(const struct ps_arguments *arguments, size_t *ret_n) {
    bool anonymise = ps_option_given(arguments, "anonymise");
    char **args = calloc(arguments->n_words + arguments->n_given + 1, sizeof(*args));
    size_t n = 0;
    for (size_t i = 0; args && i < arguments->n_words; i++)
        args[n++] = strdup(arguments->words[i]);
    for (size_t i = 0; args && i < arguments->n_given; i++) {
        const struct ps_given *given = &arguments->given[i];
        if (!is_kept(given->option->name, anonymise))
            continue;
        if (asprintf(&args[n], "--%s%s%s", given->option->name, given->value ? "=" : "",
                     given->value ? given->value : "") < 0)
            args[n] = NULL;
        n++;
    }
    *ret_n = n;
    return args;
}

static void free_args(char **args, size_t n) {
    for (size_t i = 0; args && i < n; i++)
        free(args[i]);
    free(args);
}

/* Arguments of the sheet's plan, unless this command line says how to plan. */
static int stored_arguments(struct run *run) {
    const struct ps_arguments *own = &run->invocation->arguments;
    const struct ps_json *args = ps_json_get(ps_json_get(run->done->header, "plan"), "args");
    const struct ps_option *const lists[] = {run->invocation->verb->options, NULL};
    char why[200];
    bool says = own->n_words > 0;
    for (size_t i = 0; i < own->n_given; i++)
        says = says || plans(own->given[i].option->name);
    run->arguments = own;
    if (says || !args || args->type != PS_JSON_ARRAY)
        return PS_EXIT_OK;
    run->stored_words = calloc(args->n + 1, sizeof(char *));
    if (!run->stored_words || ps_arguments_init(&run->stored, (int)args->n) < 0) {
        ps_complain("not enough memory");
        return PS_EXIT_FAILED;
    }
    for (const struct ps_json *word = args->u.first; word; word = word->next)
        if (word->type == PS_JSON_STRING &&
            !(run->stored_words[run->n_stored_words++] = strdup(word->u.string))) {
            ps_complain("not enough memory");
            return PS_EXIT_FAILED;
        }
    int at = ps_arguments_parse(&run->stored, lists, (int)run->n_stored_words, run->stored_words, 0,
                                false, why, sizeof(why));
    if (at < 0) {
        ps_complain("the sheet's own arguments are not understood: %s", why);
        return PS_EXIT_FAILED;
    }
    run->arguments = &run->stored;
    return PS_EXIT_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static uint64_t stored_seed(const struct run *run) {
    return ps_json_get_u64(ps_json_get(run->done->header, "plan"), "seed", 0);
}

static int check_seed(const struct run *run, const char *path) {
    uint64_t seed = stored_seed(run), own;
    char why[200];
    if (ps_option_number(&run->invocation->arguments, "seed", 1, UINT64_MAX, seed, &own, why,
                         sizeof(why)))
        return ps_usage(run->invocation, "%s", why);
    if (own == seed)
        return PS_EXIT_OK;
    return ps_usage(run->invocation, "%s was begun with --seed %llu, and is finished with it", path,
                    (unsigned long long)seed);
}

/* `lock`: it is to be written; nobody else does from here on. */
static int read_done(struct run *run, const char *path, bool lock) {
    struct ps_sheet_error where = {0};
    if (lock) {
        int code = ps_run_sheet_lock(path, &run->sheet);
        if (code)
            return code;
    }
    int error = lock ? ps_run_sheet_read(&run->sheet, &run->done, &where)
                     : ps_sheet_read(path, &run->done, &where);
    if (error == -EINVAL)
        ps_complain("%s:%zu:%zu: %s", path, where.line, where.column, where.what);
    else if (error)
        ps_complain("%s: %s", path, strerror(-error));
    else if (!run->done->header)
        ps_complain("%s has no header: it cannot be resumed", path);
    else
        return stored_arguments(run);
    return PS_EXIT_FAILED;
}

static int check_done(const struct run *run, const char *path) {
    const char *hash = ps_json_get_string(ps_json_get(run->done->header, "plan"), "hash", "");
    int code = ps_resume_check(run->done, run->setup.environment, path);
    if (code || strcmp(hash, run->setup.plan.hash) == 0)
        return code;
    ps_complain(
        "%s was measured by another plan (%s, here %s): other rows, methods or settings. It "
        "can be finished only with the same arguments, where the same rows can run.",
        path, hash, run->setup.plan.hash);
    return PS_EXIT_FAILED;
}

static int fix_clock(struct run *run) {
    char why[200] = "";
    unsigned n = 0;
    struct ps_cpu_set cpus;
    struct ps_topology *topology = calloc(1, sizeof(*topology));
    int error = topology ? ps_topology_read("", ps_option_value(run->arguments, "cpus"), topology,
                                            why, sizeof(why))
                         : -ENOMEM;
    if (!error) {
        cpus = topology->usable;
        error = ps_guard_start(NULL, &run->guard);
        if (error == -EEXIST)
            snprintf(why, sizeof(why), "another perfsheet that fixes the clock is running");
    }
    if (!error)
        error = ps_fix_clock(run->guard, "", &cpus, &n, why, sizeof(why));
    free(topology);
    if (!error) {
        ps_tell(run->invocation, "governor performance on %u CPU%s until the end", n,
                n == 1 ? "" : "s");
        return PS_EXIT_OK;
    }
    ps_complain("--fix-clock: %s", *why ? why : strerror(-error));
    return PS_EXIT_FAILED;
}

static void tell_plan(const struct run *run) {
    const struct ps_plan *plan = &run->setup.plan;
    unsigned least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct ps_plan_row *row = &plan->rows[i];
        if (row->status != PS_OK)
            continue;
        least = row->runs_planned < least ? row->runs_planned : least;
        most = row->runs_planned > most ? row->runs_planned : most;
    }
    if (plan->n_run == 0)
        ps_tell(run->invocation, "no selected row can run here");
    else if (least == most)
        ps_tell(run->invocation, "%zu rows, %u runs each: about %.0f s", plan->n_run, least,
                plan->predicted_s);
    else
        ps_tell(run->invocation, "%zu rows, %u to %u runs each: about %.0f s", plan->n_run, least,
                most, plan->predicted_s);
}

static int open_sheet(struct run *run, const char *resume) {
    int code, error = 0;
    if (resume) {
        code = check_done(run, resume);
        return code ? code : ps_run_sheet_continue(&run->sheet, &run->setup, run->done);
    }
    code = ps_run_sheet_open(run->invocation, run->setup.environment,
                             ps_option_value(&run->invocation->arguments, "output"), &run->sheet);
    if (code)
        return code;
    size_t n;
    char **args = kept_args(run->arguments, &n);
    if (!args)
        error = -ENOMEM;
    else
        error = ps_run_sheet_begin(&run->sheet, &run->setup, (const char *const *)args, n);
    free_args(args, n);
    if (!error)
        return PS_EXIT_OK;
    if (error != -EPIPE)
        ps_complain("cannot write the sheet: %s", strerror(-error));
    return PS_EXIT_FAILED;
}

static int measure(struct run *run) {
    struct ps_watch watch;
    struct ps_executor executor;
    bool quick = run->setup.plan.depth == PS_DEPTH_QUICK;
    ps_watch_init(&watch, run->invocation);
    const struct ps_runner_options options = {
        .budget_s = run->setup.options.budget_s ? run->setup.options.budget_s
                    : quick                     ? QUICK_BUDGET_S
                                                : 0,
        .to_stdout = run->sheet.to_stdout,
        .soak = is_given(run, "cpu-load"),
        .progress = ps_watch_progress,
        .disturbed = ps_watch_disturbed,
        .context = &watch,
        .signal_seen = &ps_signal_seen,
        .done = run->done,
    };
    int error = ps_executor_process(run->setup.environment, &executor);
    if (error)
        return error;
    error = ps_runner_run(&run->setup.plan, run->setup.environment, &executor, &run->sheet.output,
                          &options);
    ps_executor_process_done(&executor);
    ps_watch_done(&watch);
    return error;
}

static void print_page(struct run *run, const struct ps_sheet *content) {
    FILE *stream = run->sheet.to_stdout ? stderr : stdout;
    if (run->sheet.to_stdout && run->invocation->quiet)
        return;
    const struct ps_report_options options = {
        /* Who asked for rows by name wants to see them. */
        .all = run->arguments->n_words > 0 || ps_option_given(&run->invocation->arguments, "all"),
        .colour = ps_stream_colour(stream),
        .width = ps_stream_width(stream),
        .path = run->sheet.path[0] ? run->sheet.path : NULL,
        .program = run->invocation->program,
    };
    if (ps_report_terminal(content, &options, stream) < 0)
        ps_complain("not enough memory for the page");
    else
        run->printed = true;
}

/* From runs to results, to the sheet's end and the page. `error` is how the measuring ended. */
static int close_sheet(struct run *run, int error) {
    struct ps_sheet *content = NULL;
    struct ps_sheet_error where = {0};
    int code;
    if (error && error != -EINTR && error != -EPIPE)
        ps_complain("the measurement ended early: %s%s", strerror(-error),
                    error == -ENOSPC ? "; what was measured until then follows" : "");
    int read_error = ps_run_sheet_read(&run->sheet, &content, &where);
    if (read_error) {
        ps_complain("cannot read the sheet back: line %zu: %s", where.line,
                    read_error == -EINVAL ? where.what : strerror(-read_error));
        return PS_EXIT_FAILED;
    }
    code = ps_results_exit_code(content, is_given(run, "strict"));
    if (error && error != -EINTR)
        code = PS_EXIT_FAILED;
    int end_error =
        ps_run_sheet_end(&run->sheet, content, ps_signal_seen ? 128 + ps_signal_seen : code);
    if (!end_error) {
        content->incomplete = content->n_cases < run->setup.plan.n_rows;
        content->truncated = false;
    }
    if (end_error && !error && end_error != -EPIPE)
        ps_complain("cannot write the sheet's end: %s", strerror(-end_error));
    bool gone = ps_run_sheet_gone(&run->sheet);
    if (gone) {
        ps_complain("%s is gone: it was deleted while it was being written. What was measured is "
                    "in no file; the page follows",
                    run->sheet.path);
        run->sheet.path[0] = 0;
    }
    if (end_error || gone)
        code = PS_EXIT_FAILED;
    if (error != -EPIPE && end_error != -EPIPE)
        print_page(run, content);
    ps_sheet_free(content);
    return code;
}

static int run_plan(struct run *run, const char *resume) {
    int code = open_sheet(run, resume);
    if (code)
        return code;
    tell_plan(run);
    ps_environment_notes(run->setup.environment, ps_tell_note, run->invocation);
    if (resume)
        ps_tell(run->invocation, "%zu runs are there already", run->done->n_runs);
    code = close_sheet(run, measure(run));
    if (run->sheet.path[0] && !run->printed)
        ps_tell(run->invocation, "the sheet is %s", run->sheet.path);
    return code;
}

static int prepare_and_run(struct run *run, const char *resume) {
    struct ps_invocation *invocation = run->invocation;
    const struct ps_arguments *own = &invocation->arguments;
    bool dry = ps_option_given(own, "dry-run"), golden = ps_option_given(own, "golden");
    uint64_t seed = 0;
    int code;
    if (resume) {
        code = read_done(run, resume, !dry && !golden);
        if (!code)
            code = check_seed(run, resume);
        if (code)
            return code;
        seed = stored_seed(run);
    }
    if (!dry) {
        (void)ps_journal_recover(NULL, ps_tell_note, invocation);
        ps_signals_watch();
    }
    if (!dry && !golden && is_given(run, "fix-clock")) {
        code = fix_clock(run);
        if (code)
            return code;
    }
    code = ps_setup_make(invocation, run->arguments, !dry && !golden, seed, &run->setup);
    if (code)
        return code;
    if (dry)
        return ps_print_plan(&run->setup);
    if (golden)
        return ps_verify_all(invocation, &run->setup);
    return run_plan(run, resume);
}

int ps_cmd_run(struct ps_invocation *invocation) {
    struct run run = {
        .invocation = invocation, .arguments = &invocation->arguments, .sheet.output.fd = -1};
    const char *resume = ps_option_value(&invocation->arguments, "resume");
    const char *load = ps_option_value(&invocation->arguments, "cpu-load");
    if (*invocation->root && !ps_option_given(&invocation->arguments, "dry-run"))
        return ps_usage(invocation, "benchmarks never run under --root; --dry-run shows the plan");
    if (resume && ps_option_given(&invocation->arguments, "output"))
        return ps_usage(invocation, "--resume writes into the sheet itself; -o has no place there");
    if (load && strcmp(load, "soak") != 0)
        return ps_usage(invocation, "--cpu-load is soak, not '%.40s'", load);
    int code = prepare_and_run(&run, resume);
    if (run.guard)
        (void)ps_guard_finish(run.guard, ps_tell_note, invocation);
    ps_run_sheet_done(&run.sheet);
    ps_setup_done(&run.setup);
    ps_sheet_free(run.done);
    ps_arguments_done(&run.stored);
    free_args(run.stored_words, run.n_stored_words);
    code = ps_finish_stdout(code);
    ps_signals_die();
    return code;
}
