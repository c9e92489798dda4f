/* SPDX-License-Identifier: MIT
 *
 * What was changed is put back: by the program, by the guard when the program is killed, from the
 * journal when both are. On a made-up /sys.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "sim/harness_fixture.h"

#include "harness/fix_clock.h"
#include "harness/guard.h"
#include "harness/journal.h"

#define GOVERNOR "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor"

struct setting {
    struct machine machine;
    char journal[128];
};

static struct setting setting;

static int set_up(void **state) {
    (void)state;
    machine_init(&setting.machine, 1, 3);
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        char path[128];
        snprintf(path, sizeof(path), GOVERNOR, cpu);
        write_file(setting.machine.root, path, cpu == 2 ? "powersave\n" : "schedutil\n");
    }
    snprintf(setting.journal, sizeof(setting.journal), "%s/journal", setting.machine.root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    machine_done(&setting.machine);
    return 0;
}

static void governor_path(unsigned cpu, char *path, size_t size) {
    snprintf(path, size, "%s" GOVERNOR, setting.machine.root, cpu);
}

static bool governors_are(const char *first, const char *last) {
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        char path[256], value[64];
        governor_path(cpu, path, sizeof(path));
        if (ps_journal_read_value(path, value, sizeof(value)) != 0 ||
            strcmp(value, cpu == 2 ? last : first) != 0)
            return false;
    }
    return true;
}

static bool journal_exists(void) {
    return access(setting.journal, F_OK) == 0;
}

/* Waits up to 5 s for what other processes do. */
static bool eventually(bool (*condition)(void)) {
    for (unsigned i = 0; i < 500 && !condition(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return condition();
}

static bool is_restored(void) {
    return governors_are("schedutil", "powersave") && !journal_exists();
}

static void fix(struct ps_guard **ret_guard) {
    char why[200] = "";
    unsigned changed = 0;
    if (ps_guard_start(setting.journal, ret_guard) != 0 ||
        ps_fix_clock(*ret_guard, setting.machine.root, &setting.machine.environment.topology.usable,
                     &changed, why, sizeof(why)) != 0 ||
        changed != 3)
        fail_msg("%s", why);
}

static void test_normal_end(void **state) {
    (void)state;
    struct ps_guard *guard, *second;
    fix(&guard);
    assert_true(governors_are("performance", "performance"));
    assert_true(journal_exists());
    assert_int_equal(ps_guard_start(setting.journal, &second), -EEXIST);
    assert_int_equal(ps_guard_finish(guard, NULL, NULL), 0);
    assert_true(is_restored());
}

/* The program: fixes the clock, says the pid of its guard, and waits to be killed. */
static pid_t start_program(pid_t *ret_guard_pid) {
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ps_guard *guard;
        char path[64], text[64] = "";
        setpgid(0, 0);
        fix(&guard);
        /* Its only child is the guard. */
        snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
        FILE *file = fopen(path, "r");
        pid_t child = file && fgets(text, sizeof(text), file) ? atoi(text) : 0;
        if (write(pipe_fds[1], &child, sizeof(child)) != sizeof(child))
            _exit(1);
        for (;;)
            pause();
    }
    close(pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], ret_guard_pid, sizeof(*ret_guard_pid)),
                     sizeof(*ret_guard_pid));
    close(pipe_fds[0]);
    assert_true(governors_are("performance", "performance"));
    return pid;
}

static void test_killed_program(void **state) {
    (void)state;
    pid_t guard, program = start_program(&guard);
    kill(-program, SIGINT); /* a terminal's; the program here has no handler */
    waitpid(program, NULL, 0);
    assert_true(eventually(is_restored));
    program = start_program(&guard);
    kill(-program, SIGKILL); /* the whole group */
    waitpid(program, NULL, 0);
    assert_true(eventually(is_restored));
}

static unsigned n_said;
static char said[4096];

static void say(void *context, const char *text) {
    (void)context;
    n_said++;
    strncat(said, text, sizeof(said) - strlen(said) - 1);
}

static void test_both_killed(void **state) {
    (void)state;
    pid_t guard, program = start_program(&guard);
    if (guard == 0) { /* a kernel without the children file */
        kill(program, SIGKILL);
        waitpid(program, NULL, 0);
        skip();
    }
    /* While they live the journal is theirs. */
    n_said = 0;
    said[0] = '\0';
    assert_int_equal(ps_journal_recover(setting.journal, say, NULL), 0);
    assert_true(governors_are("performance", "performance"));
    kill(guard, SIGKILL);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    assert_true(governors_are("performance", "performance"));
    assert_true(journal_exists());
    assert_int_equal(ps_journal_recover(setting.journal, say, NULL), 3);
    assert_int_equal(n_said, 3);
    assert_non_null(strstr(said, "schedutil"));
    assert_true(is_restored());
    assert_int_equal(ps_journal_recover(setting.journal, say, NULL), 0);
}

static void test_cut_and_damaged_journals(void **state) {
    (void)state;
    char path[256], text[4096];
    int fd;
    governor_path(0, path, sizeof(path));
    assert_int_equal(ps_journal_create(setting.journal, &fd), 0);
    assert_int_equal(ps_journal_add(fd, path, "ondemand"), 0);
    assert_int_equal(ps_journal_add(fd, path, "conservative"), 0);
    close(fd);
    FILE *file = fopen(setting.journal, "r");
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    /* As if its owner had died: another start time, so the CRC is wrong, and the line is passed
     * over. */
    char *start = strstr(text, "\"start\":");
    assert_non_null(start);
    start[8] = start[8] == '9' ? '8' : '9';
    text[length - 20] = '\0'; /* and the last line cut short */
    unlink(setting.journal);
    write_file("", setting.journal, text);
    assert_int_equal(chmod(setting.journal, 0600), 0);
    assert_int_equal(ps_journal_recover(setting.journal, NULL, NULL), 0);
    assert_true(governors_are("schedutil", "powersave"));
    assert_false(journal_exists());
}

static void test_no_symlink_is_followed(void **state) {
    (void)state;
    char target[160];
    struct ps_guard *guard;
    snprintf(target, sizeof(target), "%s/victim", setting.machine.root);
    write_file("", target, "precious");
    assert_int_equal(symlink(target, setting.journal), 0);
    assert_int_equal(ps_guard_start(setting.journal, &guard), -EEXIST);
    assert_int_equal(ps_journal_recover(setting.journal, NULL, NULL), -ELOOP);
    unlink(setting.journal);
}

static void test_what_cannot_be_changed(void **state) {
    (void)state;
    struct ps_guard *guard;
    char path[256], why[200];
    unsigned changed;
    assert_int_equal(ps_guard_start(setting.journal, &guard), 0);
    snprintf(path, sizeof(path), "%s/sys/nothing", setting.machine.root);
    assert_int_equal(ps_guard_set(guard, path, "1"), -ENOENT);
    struct ps_cpu_set cpus = {{0}};
    ps_cpu_set_add(&cpus, 9);
    assert_int_equal(ps_fix_clock(guard, setting.machine.root, &cpus, &changed, why, sizeof(why)),
                     -ENOENT);
    assert_string_equal(why, "cpu 9 has no cpufreq: its clock cannot be fixed from here");
    assert_int_equal(ps_guard_finish(guard, NULL, NULL), 0);
    assert_false(journal_exists());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_normal_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_both_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_and_damaged_journals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_symlink_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_changed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
