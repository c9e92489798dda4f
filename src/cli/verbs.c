/* SPDX-License-Identifier: MIT
 *
 * The table of verbs.
 */
#include "cli/verbs.h"

#include <string.h>

/* Options by which rows are chosen and made are the same for all verbs that make a plan. */
#define PLAN_OPTIONS                                                                               \
    {"quick", 0, NULL, "the headline rows only, 3 runs each: a minute overall"},                   \
        {"thorough", 0, NULL, "up to 20 runs a row"},                                              \
        {"budget", 0, "S",                                                                         \
         "seconds that the whole run may take; rows that do not fit are skipped"},                 \
        {"cpus", 0, "LIST", "run on these CPUs, \"1-3,8\", isolated or not"},                      \
        {"threads", 0, "N", "threads of the rows that use all CPUs"},                              \
        {"board-file", 0, "FILE", "what is known of the board: clocks, targets, links (INI)"}, {   \
        "target", 0, "NAME=DIR",                                                                   \
            "a directory for the rows that want files; may be given several times"                 \
    }
#define END_OF_OPTIONS                                                                             \
    { NULL, 0, NULL, NULL }

const struct ps_option ps_options_of_all[] = {
    {"root", 0, "DIR", "read /proc, /sys and /dev below DIR; benchmarks never run so"},
    {"quiet", 0, NULL, "nothing on stderr but errors"},
    {"help", 'h', NULL, "this text"},
    {"version", 0, NULL, "the version"},
    END_OF_OPTIONS,
};

static const struct ps_option run_options[] = {
    PLAN_OPTIONS,
    {"output", 'o', "FILE", "the sheet; '-' is stdout; an existing file is refused"},
    {"resume", 0, "SHEET", "finish a sheet that was cut off, in place"},
    {"all", 0, NULL, "print every row, not a screen a chapter"},
    {"strict", 0, NULL, "rows that lack a permission count as failures"},
    {"dry-run", 0, NULL, "print what would run and how long it takes, and stop"},
    {"golden", 0, NULL, "prove every kernel's answer, time nothing"},
    {"fix-clock", 0, NULL, "set the performance governor, and put the old one back"},
    {"cpu-load", 0, "soak", "one more pass that measures CPU load by an idle-priority soak"},
    {"anonymise", 0, NULL, "leave host name, paths and serial numbers out of the sheet"},
    {"seed", 0, "N", "the order of the runs"},
    END_OF_OPTIONS,
};

static const struct ps_option list_options[] = {
    PLAN_OPTIONS,
    {"format", 0, "text|json", "how to print; text when not given"},
    END_OF_OPTIONS,
};

static const struct ps_option explain_options[] = {
    {"cpus", 0, "LIST", "explain as if on these CPUs"},
    {"board-file", 0, "FILE", "what is known of the board (INI)"},
    {"target", 0, "NAME=DIR", "a directory for the rows that want files"},
    END_OF_OPTIONS,
};

static const struct ps_option report_options[] = {
    {"format", 0, "terminal|md|json", "how to print; terminal when not given"},
    {"all", 0, NULL, "print every row, not a screen a chapter"},
    {"output", 'o', "FILE", "write there instead of stdout; an existing file is refused"},
    END_OF_OPTIONS,
};

static const struct ps_option doctor_options[] = {
    {"format", 0, "text|json", "how to print; text when not given"},
    {"all", 0, NULL, "also what is good, and what the kernel does not say"},
    {"cpus", 0, "LIST", "examine these CPUs"},
    {"board-file", 0, "FILE", "hold the board file (INI) against this machine too"},
    END_OF_OPTIONS,
};

static const struct ps_option selftest_options[] = {
    {"format", 0, "text|json", "how to print; text when not given"},
    END_OF_OPTIONS,
};

static const struct ps_option ingest_options[] = {
    {"output", 'o', "FILE", "the sheet; '-' is stdout; an existing file is refused"},
    END_OF_OPTIONS,
};

const struct ps_verb ps_verbs[] = {
    {"run", "[FILTER...]", "measure this machine and print its datasheet",
     "Measures the rows that the filters select, every row when there is none, writes the sheet "
     "and prints "
     "the page. Without -o the sheet is ./<board>-<date>-<time>.jsonl, or stdout where nothing is "
     "writable.\n"
     "Each row is measured in several fresh processes, in rounds over all rows in random order. A "
     "row that "
     "cannot run here costs nothing but itself: it is listed with what to do about it. Nothing "
     "about the "
     "system is changed unless an option asks for it.",
     run_options, ps_cmd_run},
    {"list", "[FILTER...]", "the rows of this machine, and which will run",
     "One line for each row and metric: its id, and whether it will run here or why it will not.",
     list_options, ps_cmd_list},
    {"explain", "ID", "what a number means and how it is obtained",
     "ID is a table (mem.stream), a row (mem.stream/all) or a row's metric (mem.stream/all:triad). "
     "Says what is "
     "counted in which unit, what is timed, what is subtracted, how the value follows from the "
     "samples, and "
     "which published rows it stands beside.",
     explain_options, ps_cmd_explain},
    {"report", "SHEET...", "print the page of one or more sheets",
     "Several sheets become one page: sources side by side where they measured the same row, runs "
     "of the same "
     "source pooled. A sheet that was cut off is printed from the runs that it has.",
     report_options, ps_cmd_report},
    {"doctor", "", "what on this machine spoils numbers, and how to mend it",
     "Looks for what makes numbers wrong, noisy or another machine's: governor and limits of the "
     "clock, heat, quotas, others' load, swap, missing rights, a kernel that checks itself. Says "
     "what was seen, which rows it spoils, and the command that mends it. Runs none of these "
     "commands and changes nothing. Takes about two seconds; under --root nothing is measured.\n"
     "bad: numbers are spoiled; note: rows are missing, or the condition should be known; unknown: "
     "the kernel does not say, which is not held against it. Exit status: 0 nothing is bad, 3 "
     "something is, 1 the machine could not be examined, 2 usage.",
     doctor_options, ps_cmd_doctor},
    {"selftest", "", "is this machine's clock good enough to measure with",
     "Clock resolution and cost, the cycle loops, an empty loop, the start of a child process, and "
     "whether the "
     "clock is monotone across CPUs. Takes about a second.",
     selftest_options, ps_cmd_selftest},
    {"ingest", "FILE", "make a sheet of a microcontroller's serial output",
     "FILE is a recorded log or the serial line itself; '-' is stdin. Damaged frames are counted "
     "and passed "
     "over, results are made from the runs that came whole.",
     ingest_options, ps_cmd_ingest},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct ps_verb *ps_verb_find(const char *name) {
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

const struct ps_verb *ps_verb_nearest(const char *name) {
    const struct ps_verb *best = ps_verbs;
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++)
        if (ps_word_distance(name, verb->name) < ps_word_distance(name, best->name))
            best = verb;
    return best;
}
