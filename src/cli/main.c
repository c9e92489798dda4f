/* SPDX-License-Identifier: MIT
 *
 * The program: finds the verb, reads its options, runs it. Three words are for the program itself
 * and not in the help: --child (a run, its job on fd 3), --exit-code N (a process that does
 * nothing, for measuring what a process costs), and --man and --completion for packagers.
 *
 * setlocale() is never called: numbers have a '.' everywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/help.h"
#include "harness/child.h"
#include "harness/environment.h"

/* A file opened as fd 0, 1 or 2 would be taken for a standard stream. What takes the place of one
 * that was closed can be read, to nothing, but not written: output that nobody gets is an error. */
static void open_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", O_RDONLY);
}

static int print_version(void) {
    printf("perfsheet %s (%s)\n", ps_tool_version(), ps_tool_commit());
    return ps_finish_stdout(PS_EXIT_OK);
}

static int run_verb(struct ps_invocation *invocation, int argc, char **argv) {
    static const struct ps_option *const before_verb[] = {ps_options_of_all, NULL};
    char why[200];
    int at = ps_arguments_parse(&invocation->arguments, before_verb, argc, argv, 1, true, why,
                                sizeof(why));
    if (at < 0)
        return ps_usage(invocation, "%s", why);
    const char *word = invocation->arguments.words[0];
    if (word) {
        invocation->verb = ps_verb_find(word);
        if (!invocation->verb)
            return ps_usage(invocation, "unknown verb '%.60s'; the nearest is '%s'", word,
                            ps_verb_nearest(word)->name);
        const struct ps_option *const lists[] = {invocation->verb->options, ps_options_of_all,
                                                 NULL};
        invocation->arguments.words[0] = NULL;
        invocation->arguments.n_words = 0;
        if (ps_arguments_parse(&invocation->arguments, lists, argc, argv, at, false, why,
                               sizeof(why)) < 0)
            return ps_usage(invocation, "%s", why);
    }
    if (ps_option_given(&invocation->arguments, "help")) {
        ps_help(stdout, invocation->verb);
        return ps_finish_stdout(PS_EXIT_OK);
    }
    if (ps_option_given(&invocation->arguments, "version"))
        return print_version();
    if (!invocation->verb)
        return ps_usage(invocation,
                        "no verb; 'perfsheet run --quick' measures this machine in a minute");

    const char *root = ps_option_value(&invocation->arguments, "root");
    invocation->root = root ? root : "";
    struct stat status;
    if (root && stat(root, &status) == 0 && !S_ISDIR(status.st_mode))
        return ps_usage(invocation, "--root %s is not a directory", root);
    if (root && access(root, R_OK | X_OK) < 0)
        return ps_usage(invocation, "--root %s: %s", root, strerror(errno));
    invocation->quiet = ps_option_given(&invocation->arguments, "quiet");
    return invocation->verb->run(invocation);
}

int main(int argc, char **argv) {
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(first, "--exit-code") == 0)
        return argc == 3 ? (int)strtoul(argv[2], NULL, 10) : PS_EXIT_USAGE;
    if (strcmp(first, "--child") == 0) {
        /* The parent ignores it; a benchmark starts as any process does. */
        signal(SIGPIPE, SIG_DFL);
        return ps_child_main(ps_registry());
    }
    open_standard_streams();
    /* A reader that goes away is an error of a write, so that the sheet can still be closed. */
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && strcmp(first, "--man") == 0) {
        ps_man_page(stdout);
        return ps_finish_stdout(PS_EXIT_OK);
    }
    if (argc == 2 && strcmp(first, "--completion") == 0) {
        ps_completion(stdout);
        return ps_finish_stdout(PS_EXIT_OK);
    }
    struct ps_invocation invocation = {.root = "", .program = argc > 0 ? argv[0] : NULL};
    if (ps_arguments_init(&invocation.arguments, argc) < 0) {
        ps_complain("not enough memory");
        return PS_EXIT_FAILED;
    }
    int code = run_verb(&invocation, argc, argv);
    ps_arguments_done(&invocation.arguments);
    return code;
}
