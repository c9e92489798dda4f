/* SPDX-License-Identifier: MIT
 *
 * --help, the man page and bash's completion, all from the table of verbs, so that none can lag
 * behind what the parser takes.
 */
#include "cli/help.h"

#include <string.h>

#include "harness/environment.h"

#define HELP_WIDTH 80
#define HELP_COLUMN 26 /* where an option's text begins; the longest option fits before it */

static const struct {
    int code;
    const char *meaning;
} exit_codes[] = {
    {0, "some row has a number and none is suspect, failed, timed out, aborted or unsafe"},
    {1, "a row failed, timed out or was aborted (with --strict: or was denied)"},
    {2, "the command line is wrong"},
    {3, "a row is suspect: a sanity rule does not hold (doctor: something spoils numbers)"},
    {4, "something was refused, to protect data"},
    {5, "no selected row got a number"},
};

static const char filters[] =
    "A FILTER is a chapter (mem), a table (mem.stream), a pattern over ids without their metric "
    "(mem.bw_mem/rd-*), or tag:headline; !FILTER takes rows away. Quote what the shell would "
    "expand.";

/* Words from column `at`, wrapped to begin at `indent`. */
static void print_wrapped(FILE *stream, const char *text, unsigned indent, unsigned at) {
    while (*text) {
        unsigned length = (unsigned)strcspn(text, " \n");
        if (at + length > HELP_WIDTH && at > indent) {
            fprintf(stream, "\n%*s", (int)indent, "");
            at = indent;
        }
        fwrite(text, 1, length, stream);
        at += length;
        text += length;
        if (*text == '\n') {
            fprintf(stream, "\n%*s", (int)indent, "");
            at = indent;
            text++;
        } else if (*text == ' ') {
            text++;
            if (at + 1 + strcspn(text, " \n") <= HELP_WIDTH) {
                fputc(' ', stream);
                at++;
            } else {
                fprintf(stream, "\n%*s", (int)indent, "");
                at = indent;
            }
        }
    }
    fputc('\n', stream);
}

static void print_options(FILE *stream, const struct ps_option *options) {
    for (const struct ps_option *option = options; option->name; option++) {
        int at = option->letter ? fprintf(stream, "  -%c, --%s", option->letter, option->name)
                                : fprintf(stream, "  --%s", option->name);
        if (option->argument)
            at += fprintf(stream, " %s", option->argument);
        if (at + 2 > HELP_COLUMN) {
            fputc('\n', stream);
            at = 0;
        }
        fprintf(stream, "%*s", HELP_COLUMN - at, "");
        print_wrapped(stream, option->help, HELP_COLUMN, HELP_COLUMN);
    }
}

void ps_help(FILE *stream, const struct ps_verb *verb) {
    if (verb) {
        int indent = fprintf(stream, "usage: perfsheet %s ", verb->name);
        (void)indent;
        fprintf(stream, "%s%s[OPTION...]\n\n", verb->words, *verb->words ? " " : "");
        print_wrapped(stream, verb->about, 0, 0);
        if (strstr(verb->words, "FILTER")) {
            fputc('\n', stream);
            print_wrapped(stream, filters, 0, 0);
        }
        fputs("\nOptions:\n", stream);
        print_options(stream, verb->options);
        print_options(stream, ps_options_of_all);
        return;
    }
    fputs("usage: perfsheet VERB [ARGUMENT...] [OPTION...]\n\n"
          "Measures a board and prints its performance datasheet.\n\nVerbs:\n",
          stream);
    for (verb = ps_verbs; verb->name; verb++)
        fprintf(stream, "  %-10s %s\n", verb->name, verb->summary);
    fputs("\nOptions of every verb:\n", stream);
    print_options(stream, ps_options_of_all);
    fputs("\nExit status:\n", stream);
    for (size_t i = 0; i < sizeof(exit_codes) / sizeof(exit_codes[0]); i++) {
        fprintf(stream, "  %d  ", exit_codes[i].code);
        print_wrapped(stream, exit_codes[i].meaning, 5, 5);
    }
    fputs("\nFor packagers:\n"
          "  perfsheet --man         the man page, in roff\n"
          "  perfsheet --completion  what bash completes after perfsheet\n"
          "\nBegin with: perfsheet run --quick\n",
          stream);
}

/* ---- Man page -------------------------------------------------------------------------------- */

/* Text for roff: '-' as it is typed, no line that begins with a control character. */
static void roff(FILE *stream, const char *text) {
    bool line_begins = true;
    for (; *text; text++) {
        if (line_begins && (*text == '.' || *text == '\''))
            fputs("\\&", stream);
        line_begins = *text == '\n';
        if (*text == '\n')
            fputs("\n.PP\n", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else if (*text == '\\')
            fputs("\\e", stream);
        else
            fputc(*text, stream);
    }
    fputc('\n', stream);
}

static void roff_options(FILE *stream, const struct ps_option *options) {
    for (const struct ps_option *option = options; option->name; option++) {
        fputs(".TP\n", stream);
        if (option->letter)
            fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", stream);
        for (const char *c = option->name; *c; c++)
            fputs(*c == '-' ? "\\-" : (char[]){*c, 0}, stream);
        fputs("\\fR", stream);
        if (option->argument)
            fprintf(stream, " \\fI%s\\fR", option->argument);
        fputc('\n', stream);
        roff(stream, option->help);
    }
}

void ps_man_page(FILE *stream) {
    fprintf(stream,
            ".\\\" Made by 'perfsheet --man' from the program's own table of verbs.\n"
            ".TH PERFSHEET 1 \"\" \"perfsheet %s\" \"User Commands\"\n",
            ps_tool_version());
    fputs(".SH NAME\nperfsheet \\- measure a board and print its performance datasheet\n.SH "
          "SYNOPSIS\n",
          stream);
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++)
        fprintf(stream, "%s.B perfsheet %s\n%s%s[\\fIOPTION\\fR...]\n",
                verb == ps_verbs ? "" : ".br\n", verb->name, verb->words, *verb->words ? " " : "");
    fputs(".SH DESCRIPTION\n", stream);
    roff(stream, "perfsheet measures what a silicon vendor publishes of a board: memory, operating "
                 "system, processor. Each "
                 "number comes with its spread, its conditions and a verdict on whether it can be "
                 "believed.");
    fputs(".PP\n", stream);
    roff(stream, filters);
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++) {
        fprintf(stream, ".SH \"PERFSHEET %s%s%s\"\n", verb->name, *verb->words ? " " : "",
                verb->words);
        roff(stream, verb->about);
        roff_options(stream, verb->options);
    }
    fputs(".SH OPTIONS OF EVERY VERB\n", stream);
    roff_options(stream, ps_options_of_all);
    fputs(".SH EXIT STATUS\n", stream);
    for (size_t i = 0; i < sizeof(exit_codes) / sizeof(exit_codes[0]); i++) {
        fprintf(stream, ".TP\n%d\n", exit_codes[i].code);
        roff(stream, exit_codes[i].meaning);
    }
    fputs(".PP\n", stream); /* no part of the last status */
    roff(stream, "On SIGINT, SIGTERM and SIGHUP the sheet is closed and the program dies of the "
                 "same signal.");
    fputs(".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colours when set\n.TP\nCOLUMNS\nwidth of the page\n"
          ".SH EXAMPLES\n.nf\n",
          stream);
    fputs("perfsheet run \\-\\-quick\n"
          "perfsheet run mem \\-\\-cpus 2\\-3 \\-o mem.jsonl\n"
          "perfsheet run \\-o \\- | ssh host tee board.jsonl\n"
          "perfsheet report board.jsonl \\-\\-all\n"
          ".fi\n",
          stream);
}

/* ---- Completion ------------------------------------------------------------------------------ */

/* A case label for each option that wants a value, with how to complete it. */
static void complete_values(FILE *stream, const struct ps_option *options) {
    for (const struct ps_option *option = options; option->name; option++) {
        if (!option->argument)
            continue;
        char choices[80];
        snprintf(choices, sizeof(choices), "%s", option->argument);
        for (char *c = choices; *c; c++)
            if (*c == '|')
                *c = ' ';
        const char *how =
            strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "SHEET") == 0 ? "-f"
            : strstr(option->argument, "DIR")                                               ? "-d"
            : strchr("abcdefghijklmnopqrstuvwxyz", option->argument[0])                     ? "-W"
                                                                                            : "";
        fprintf(stream, "        --%s", option->name);
        if (option->letter)
            fprintf(stream, "|-%c", option->letter);
        fputs(") ", stream);
        if (strcmp(how, "-W") == 0)
            fprintf(stream, "COMPREPLY=($(compgen -W '%s' -- \"$current\")); ", choices);
        else if (*how)
            fprintf(stream, "COMPREPLY=($(compgen %s -- \"$current\")); ", how);
        fputs("return ;;\n", stream);
    }
}

static void option_words(FILE *stream, const struct ps_option *options) {
    for (const struct ps_option *option = options; option->name; option++)
        fprintf(stream, " --%s", option->name);
}

void ps_completion(FILE *stream) {
    fputs("# Made by 'perfsheet --completion' from the program's own table of verbs.\n"
          "_perfsheet() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb= "
          "word\n"
          "    COMPREPLY=()\n"
          "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "        case $word in\n        ",
          stream);
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++)
        fprintf(stream, "%s%s", verb == ps_verbs ? "" : "|", verb->name);
    fputs(") verb=$word; break ;;\n        esac\n    done\n    case $verb:$previous in\n        "
          "*:--root) "
          "COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n    esac\n    case $verb in\n",
          stream);
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++) {
        fprintf(stream, "    %s)\n        case $previous in\n", verb->name);
        complete_values(stream, verb->options);
        fputs("        *) ;;\n        esac\n        if [[ $current == -* ]]; then\n            "
              "COMPREPLY=($(compgen -W '",
              stream);
        option_words(stream, verb->options);
        option_words(stream, ps_options_of_all);
        fputs("' -- \"$current\"))\n", stream);
        if (strstr(verb->words, "SHEET") || strstr(verb->words, "FILE"))
            fputs("        else\n            COMPREPLY=($(compgen -f -- \"$current\"))\n", stream);
        fputs("        fi ;;\n", stream);
    }
    fputs("    *) COMPREPLY=($(compgen -W '", stream);
    for (const struct ps_verb *verb = ps_verbs; verb->name; verb++)
        fprintf(stream, " %s", verb->name);
    option_words(stream, ps_options_of_all);
    fputs("' -- \"$current\")) ;;\n    esac\n}\ncomplete -o filenames -F _perfsheet perfsheet\n",
          stream);
}
