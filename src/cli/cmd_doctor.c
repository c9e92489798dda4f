/* SPDX-License-Identifier: MIT
 *
 * doctor: what on this machine spoils numbers, and the command that mends it. Runs none of them.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "harness/boardfile.h"

#define WINDOW_MS 1000
#define NAME_WIDTH 16

struct output {
    bool json, all, colour;
    unsigned width, n[PS_N_VERDICT];
};

static void paint(const struct output *output, const char *code, const char *text) {
    if (output->colour && *code)
        printf("\033[%sm%s\033[0m", code, text);
    else
        fputs(text, stdout);
}

/* Words from column `indent` on, wrapped at the width. */
static void print_words(const struct output *output, const char *text, unsigned indent) {
    unsigned at = indent;
    for (bool first = true; *text; first = false) {
        unsigned length = (unsigned)strcspn(text, " ");
        if (!first && at + 1 + length > output->width) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, length, stdout);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_line(const struct output *output, const char *label, const char *text) {
    if (!*text)
        return;
    printf("%*s", NAME_WIDTH + 9, "");
    paint(output, "2", label);
    print_words(output, text, NAME_WIDTH + 9 + (unsigned)strlen(label));
}

static void say_text(struct output *output, const char *name, const struct ps_finding *finding) {
    static const char *const codes[PS_N_VERDICT] = {"32", "2", "33", "31"};
    char word[16], padded[NAME_WIDTH + 2];
    if (!output->all && finding->verdict < PS_NOTE)
        return;
    snprintf(word, sizeof(word), "%-8s", ps_verdict_name(finding->verdict));
    snprintf(padded, sizeof(padded), "%-*s ", NAME_WIDTH, name);
    paint(output, codes[finding->verdict], word);
    fputs(padded, stdout);
    print_words(output, finding->seen, NAME_WIDTH + 9);
    print_line(output, "spoils ", finding->spoils);
    /* In one piece: it is there to be copied. */
    if (*finding->mend) {
        printf("%*s", NAME_WIDTH + 9, "");
        paint(output, "2", "mend   ");
        printf("%s\n", finding->mend);
    }
}

static void say_json(const struct output *output, const char *name,
                     const struct ps_finding *finding) {
    struct ps_json_writer json;
    bool first = true;
    for (int i = 0; i < PS_N_VERDICT; i++)
        first = first && output->n[i] == 0;
    fputs(first ? "\n" : ",\n", stdout);
    ps_json_to_stream(&json, stdout);
    ps_json_object_begin(&json);
    ps_json_pair_string(&json, "check", name);
    ps_json_pair_string(&json, "verdict", ps_verdict_name(finding->verdict));
    ps_json_pair_string(&json, "seen", finding->seen);
    ps_json_pair_string(&json, "spoils", *finding->spoils ? finding->spoils : NULL);
    ps_json_pair_string(&json, "mend", *finding->mend ? finding->mend : NULL);
    ps_json_object_end(&json);
}

static void say(void *context, const char *name, const struct ps_finding *finding) {
    struct output *output = context;
    if (output->json)
        say_json(output, name, finding);
    else
        say_text(output, name, finding);
    output->n[finding->verdict]++;
}

static int read_board(const struct ps_invocation *invocation, struct ps_boardfile **ret_board) {
    const char *path = ps_option_value(&invocation->arguments, "board-file");
    char why[200];
    int error = path ? ps_boardfile_read(path, ret_board, why, sizeof(why)) : 0;
    if (!error)
        return PS_EXIT_OK;
    ps_complain("board file %s: %s", path, why);
    return error == -ENOMEM ? PS_EXIT_FAILED : PS_EXIT_USAGE;
}

static int examine(struct ps_invocation *invocation, const struct ps_boardfile *board,
                   struct ps_machine *machine) {
    const char *format = ps_option_value(&invocation->arguments, "format");
    struct output output = {
        .json = format && strcmp(format, "json") == 0,
        .all = ps_option_given(&invocation->arguments, "all"),
        .colour = ps_stream_colour(stdout),
        .width = ps_stream_width(stdout),
    };
    char why[300] = "";
    int error = ps_machine_read(invocation->root, ps_option_value(&invocation->arguments, "cpus"),
                                board, WINDOW_MS, machine, why, sizeof(why));
    if (error) {
        ps_complain("%s", *why ? why : strerror(-error));
        return error == -EINVAL ? PS_EXIT_USAGE : PS_EXIT_FAILED;
    }
    if (output.json)
        putchar('[');
    unsigned n_bad = ps_doctor_examine(machine, say, &output);
    if (output.json)
        fputs("\n]\n", stdout);
    else
        printf("%s%u bad, %u to note, %u unknown, %u good%s\n",
               output.n[PS_BAD] + output.n[PS_NOTE] > 0 || output.all ? "\n" : "", output.n[PS_BAD],
               output.n[PS_NOTE], output.n[PS_UNKNOWN], output.n[PS_GOOD],
               output.all ? "" : "; --all shows all");
    return ps_finish_stdout(n_bad > 0 ? PS_EXIT_SUSPECT : PS_EXIT_OK);
}

int ps_cmd_doctor(struct ps_invocation *invocation) {
    const char *format = ps_option_value(&invocation->arguments, "format");
    struct ps_boardfile *board = NULL;
    if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return ps_usage(invocation, "--format is text or json, not '%.40s'", format);
    if (invocation->arguments.n_words > 0)
        return ps_usage(invocation, "doctor takes no words, not '%.40s'",
                        invocation->arguments.words[0]);
    int code = read_board(invocation, &board);
    if (code)
        return code;
    struct ps_machine *machine = calloc(1, sizeof(*machine));
    if (machine) {
        code = examine(invocation, board, machine);
    } else {
        ps_complain("not enough memory");
        code = PS_EXIT_FAILED;
    }
    free(machine);
    ps_boardfile_free(board);
    return code;
}
