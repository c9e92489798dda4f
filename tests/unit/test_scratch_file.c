/* SPDX-License-Identifier: MIT
 *
 * A scratch file is gone after it is done with, and after its maker was killed at any moment; where
 * there is no room nothing is written.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/process.h"
#include "sys/scratch_file.h"

static char directory[] = "/tmp/perfsheet-test-XXXXXX";

static unsigned count_entries(const char *path) {
    unsigned n = 0;
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        n++;
    closedir(stream);
    return n - 2; /* . and .. */
}

static void test_is_gone_when_done(void **unused) {
    struct ps_scratch_file file = {0};
    struct stat info;
    (void)unused;
    unsigned n_fds = count_entries("/proc/self/fd");
    ps_scratch_file_done(&file);
    assert_int_equal(ps_scratch_file_init(&file, directory, 1000, 0), 0);
    assert_int_equal(stat(file.path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(write(file.fd, "abc", 3), 3);
    ps_scratch_file_done(&file);
    ps_scratch_file_done(&file);
    assert_int_equal(count_entries(directory), 0);
    assert_int_equal(count_entries("/proc/self/fd"), n_fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_two_at_a_time(void **unused) {
    struct ps_scratch_file a, b;
    (void)unused;
    assert_int_equal(ps_scratch_file_init(&a, directory, 0, 0), 0);
    assert_int_equal(ps_scratch_file_init(&b, directory, 0, 0), 0);
    assert_int_equal(count_entries(directory), 2);
    ps_scratch_file_done(&a);
    assert_int_equal(access(b.path, F_OK), 0);
    ps_scratch_file_done(&b);
    assert_int_equal(count_entries(directory), 0);
}

/* Kills the maker, and all its process group, some time after its start; later every process that
 * it left has ended and the directory is empty. */
static void kill_maker(unsigned delay_us, int signal_number) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t maker = fork();
    assert_true(maker >= 0);
    if (maker == 0) {
        struct ps_scratch_file file;
        setpgid(0, 0);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        while (ps_scratch_file_init(&file, directory, 0, 0) == 0 && write(file.fd, "x", 1) == 1)
            ps_scratch_file_done(&file);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    usleep(delay_us);
    kill(-maker, signal_number);
    close(ready[1]);
    /* The end of the pipe: nobody who was forked has it open, the cleaner neither. */
    assert_int_equal(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    while (waitpid(-1, NULL, 0) > 0) /* we are the reaper of what the maker left */
        ;
    assert_int_equal(count_entries(directory), 0);
}

static void test_is_gone_when_the_maker_is_killed(void **unused) {
    (void)unused;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    for (unsigned i = 0; i < 100; i++)
        kill_maker(i * 37, i % 4 == 0 ? SIGTERM : SIGKILL);
}

/* As the runner does it: the maker's group, then at once whatever it has left. */
static void test_is_gone_when_the_runner_clears_away(void **unused) {
    char program[] = "maker", *arguments[] = {program, directory, NULL};
    (void)unused;
    for (unsigned i = 0; i < 50; i++) {
        struct ps_child maker;
        int job[2], reply[2];
        char byte;
        assert_int_equal(pipe2(job, O_CLOEXEC), 0);
        assert_int_equal(pipe2(reply, O_CLOEXEC), 0);
        assert_int_equal(ps_child_spawn("/proc/self/exe", arguments, job[0], reply[1], -1, &maker),
                         0);
        close(reply[1]);
        assert_int_equal(read(reply[0], &byte, 1), 1);
        ps_child_kill(&maker);
        assert_int_equal(count_entries(directory), 0);
        close(job[0]);
        close(job[1]);
        close(reply[0]);
    }
}

/* The last of a chain of only children. */
static pid_t last_descendant(pid_t pid) {
    for (;;) {
        char path[64];
        int child = 0;
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
        FILE *file = fopen(path, "r");
        if (!file)
            return pid;
        int n = fscanf(file, "%d", &child);
        fclose(file);
        if (n != 1)
            return pid;
        pid = child;
    }
}

static void *wake_later(void *pid) {
    usleep(400000);
    kill(*(const pid_t *)pid, SIGCONT);
    return NULL;
}

/* The machine is busy: the cleaner gets its turn late. */
static void test_is_gone_though_the_cleaner_is_late(void **unused) {
    char program[] = "maker", *arguments[] = {program, directory, NULL};
    struct ps_child maker;
    pthread_t thread;
    int reply[2];
    char byte;
    (void)unused;
    assert_int_equal(pipe2(reply, O_CLOEXEC), 0);
    assert_int_equal(ps_child_spawn("/proc/self/exe", arguments, reply[0], reply[1], -1, &maker),
                     0);
    close(reply[1]);
    assert_int_equal(read(reply[0], &byte, 1), 1);
    pid_t cleaner = last_descendant(maker.pid);
    assert_int_not_equal(cleaner, maker.pid);
    kill(cleaner, SIGSTOP);
    assert_int_equal(pthread_create(&thread, NULL, wake_later, &cleaner), 0);
    ps_child_kill(&maker);
    assert_int_equal(count_entries(directory), 0);
    pthread_join(thread, NULL);
    close(reply[0]);
}

static void test_no_room(void **unused) {
    struct ps_scratch_file file;
    (void)unused;
    assert_int_equal(ps_scratch_file_init(&file, directory, 1000, UINT64_C(1) << 60), -ENOSPC);
    assert_int_equal(count_entries(directory), 0);
    ps_scratch_file_done(&file);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_no_directory(void **unused) {
    struct ps_scratch_file file;
    char path[1024];
    (void)unused;
    assert_int_equal(ps_scratch_file_init(&file, "/nonexistent", 0, 0), -ENOENT);
    assert_int_equal(ps_scratch_file_init(&file, "/proc", 0, 0), -ENOENT);
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(ps_scratch_file_init(&file, path, 0, 0), -ENAMETOOLONG);
    ps_scratch_file_done(&file);
    if (geteuid() != 0) {
        assert_int_equal(chmod(directory, 0500), 0);
        assert_int_equal(ps_scratch_file_init(&file, directory, 0, 0), -EACCES);
        assert_int_equal(chmod(directory, 0700), 0);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int make_directory(void **unused) {
    (void)unused;
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **unused) {
    (void)unused;
    return rmdir(directory);
}

/* The maker of the test above, in a process of its own. */
static int make_and_wait(const char *path) {
    struct ps_scratch_file file;
    if (ps_scratch_file_init(&file, path, 0, 0) < 0 || write(4, "x", 1) != 1)
        return 1;
    pause();
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[0], "maker") == 0)
        return make_and_wait(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_gone_when_done),
        cmocka_unit_test(test_two_at_a_time),
        cmocka_unit_test(test_is_gone_when_the_maker_is_killed),
        cmocka_unit_test(test_is_gone_when_the_runner_clears_away),
        cmocka_unit_test(test_is_gone_though_the_cleaner_is_late),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_no_directory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
