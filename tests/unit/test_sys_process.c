/* SPDX-License-Identifier: MIT
 *
 * Child processes and partners: what they inherit, deadlines, and that nothing is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/partner.h"
#include "sys/process.h"
#include "unit/fake_root.h"

static uint64_t in_ms(unsigned ms) {
    return ps_now_ns() + (uint64_t)ms * 1000000;
}

static int spawn_shell(const char *script, int job_fd, int reply_fd, struct ps_child *child) {
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    return ps_child_spawn("/bin/sh", argv, job_fd, reply_fd, -1, child);
}

/* Runs the script and gives what it wrote to fd 4. */
static int run_shell(const char *script, const char *job, char *reply, size_t reply_bytes) {
    int job_pipe[2], reply_pipe[2], status = -1;
    struct ps_child child;
    assert_int_equal(pipe2(job_pipe, O_CLOEXEC), 0);
    assert_int_equal(pipe2(reply_pipe, O_CLOEXEC), 0);
    assert_int_equal(ps_write_all(job_pipe[1], job, strlen(job)), 0);
    assert_int_equal(spawn_shell(script, job_pipe[0], reply_pipe[1], &child), 0);
    close(job_pipe[0]), close(job_pipe[1]), close(reply_pipe[1]);
    size_t length = 0;
    ssize_t n;
    while (length < reply_bytes - 1 &&
           (n = read(reply_pipe[0], reply + length, reply_bytes - 1 - length)) > 0) {
        length += (size_t)n;
    }
    reply[length] = '\0';
    close(reply_pipe[0]);
    assert_int_equal(ps_child_wait(&child, in_ms(10000), &status), 0);
    assert_int_equal(ps_child_kill(&child), 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_fds(void **state) {
    char reply[512];
    (void)state;
    int extra = open("/dev/zero", O_RDONLY); /* not close-on-exec: must go all the same */
    int low = fcntl(extra, F_DUPFD, 20);
    assert_int_equal(run_shell("read x <&3; echo got $x >&4; exit 7", "job\n", reply, sizeof reply),
                     7);
    assert_string_equal(reply, "got job\n");
    run_shell("exec ls /proc/self/fd >&4", "", reply, sizeof reply);
    assert_string_equal(reply, "0\n1\n2\n3\n4\n5\n"); /* the last is the directory */
    run_shell("exec readlink /proc/self/fd/0 >&4", "", reply, sizeof reply);
    assert_string_equal(reply, "/dev/null\n");
    close(extra);
    close(low);
}

static void test_signals_are_reset(void **state) {
    char reply[512];
    sigset_t set, before;
    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(SIGPIPE, SIG_IGN);
    run_shell("grep -E '^Sig(Blk|Ign)' /proc/$$/status | tr -d '\\t\\n' >&4", "", reply,
              sizeof reply);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    unsigned long long blocked = 1, ignored = 1;
    assert_int_equal(sscanf(reply, "SigBlk:%llxSigIgn:%llx", &blocked, &ignored), 2);
    assert_int_equal(blocked, 0);
    /* 32 and 33 are libc's own; it lets nobody change them, and whoever started us may ignore them.
     */
    assert_int_equal(ignored & ~(3ull << 31), 0);
}

static void test_exec_fails(void **state) {
    char *argv[] = {(char *)"x", NULL};
    struct ps_child child = {.pid = 0};
    (void)state;
    assert_int_equal(ps_child_spawn("/no/such/program", argv, -1, -1, -1, &child), -ENOENT);
    assert_int_equal(child.pid, 0);
    assert_int_equal(ps_child_spawn("/proc/self/status", argv, -1, -1, -1, &child), -EACCES);
    assert_false(ps_has_children());
}

static void test_deadline(void **state) {
    struct ps_child child;
    int status = 0;
    (void)state;
    int fds = ps_count_fds();
    assert_int_equal(spawn_shell("sleep 1000", -1, -1, &child), 0);
    assert_true(ps_has_children());
    pid_t pid = child.pid;
    assert_int_equal(getpgid(pid), pid);
    assert_int_equal(ps_child_wait(&child, in_ms(20), &status), -ETIMEDOUT);
    int pidfd = child.pidfd;
    child.pidfd = -1; /* as on kernels without */
    assert_int_equal(ps_child_wait(&child, in_ms(20), &status), -ETIMEDOUT);
    child.pidfd = pidfd;
    assert_int_equal(ps_child_kill(&child), 0);
    assert_int_equal(child.pid, 0);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(ps_child_kill(&child), 0);
    assert_int_equal(ps_child_wait(&child, in_ms(1), &status), -ECHILD);
    assert_false(ps_has_children());
    assert_int_equal(ps_count_fds(), fds);
}

static void test_status(void **state) {
    struct ps_child child;
    int status = 0;
    (void)state;
    assert_int_equal(spawn_shell("kill -SEGV $$", -1, -1, &child), 0);
    assert_int_equal(ps_child_wait(&child, in_ms(10000), &status), 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_int_equal(ps_child_kill(&child), 0);
    assert_int_equal(spawn_shell("exit 3", -1, -1, &child), 0);
    close(child.pidfd);
    child.pidfd = -1;
    assert_int_equal(ps_child_wait(&child, in_ms(10000), &status), 0);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(ps_child_kill(&child), 0);
}

/* Processes that were left are killed and counted, in the group and out of it; others stay. */
static void test_left_behind(void **state) {
    struct ps_child child;
    int status;
    (void)state;
    assert_int_equal(ps_become_subreaper(), 0);
    pid_t sibling = fork();
    if (sibling == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(spawn_shell("sleep 1000 & sleep 1000 & exit 0", -1, -1, &child), 0);
    assert_int_equal(ps_child_wait(&child, in_ms(10000), &status), 0);
    assert_int_equal(ps_child_kill(&child), 2);
    if (system("command -v setsid >/dev/null") == 0) {
        char ready;
        int reply[2];
        assert_int_equal(pipe2(reply, O_CLOEXEC), 0);
        assert_int_equal(
            spawn_shell("setsid sh -c 'sleep 1000 & sleep 1000 & echo >&4; wait' & exit 0", -1,
                        reply[1], &child),
            0);
        assert_int_equal(read(reply[0], &ready, 1), 1);
        close(reply[0]), close(reply[1]);
        assert_int_equal(ps_child_wait(&child, in_ms(10000), &status), 0);
        assert_int_equal(ps_child_kill(&child), 3); /* the shell, and its two when they are ours */
    }
    assert_int_equal(waitpid(sibling, &status, WNOHANG), 0); /* alive */
    kill(sibling, SIGKILL);
    assert_int_equal(waitpid(sibling, NULL, 0), sibling);
    assert_false(ps_has_children());
}

/* A child does not outlive its parent. */
static void test_dies_with_parent(void **state) {
    int pipe_fds[2];
    pid_t grandchild = 0;
    (void)state;
    assert_int_equal(ps_become_subreaper(), 0);
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t middle = fork();
    if (middle == 0) {
        struct ps_child child;
        if (spawn_shell("exec sleep 1000", -1, -1, &child) == 0) {
            ps_write_all(pipe_fds[1], &child.pid, sizeof child.pid);
        }
        raise(SIGKILL);
    }
    assert_int_equal(read(pipe_fds[0], &grandchild, sizeof grandchild), sizeof grandchild);
    close(pipe_fds[0]), close(pipe_fds[1]);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    int status;
    assert_int_equal(waitpid(grandchild, &status, 0), grandchild); /* we are its reaper */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_false(ps_has_children());
}

/* ---- Partners ------------------------------------------------------------------------------- */

static int answer(void *argument) {
    return *(int *)argument;
}

static int hang(void *argument) {
    (void)argument;
    while (getpid() > 0) {
        pause();
    }
    return 0;
}

static int crash(void *argument) {
    (void)argument;
    raise(SIGKILL);
    return 0;
}

static int where(void *argument) {
    struct ps_cpu_set set;
    return ps_affinity_get(&set) == 0 && ps_cpu_set_count(&set) == 1 &&
                   ps_cpu_set_has(&set, (unsigned)*(int *)argument)
               ? 42
               : 1;
}

static void test_partner(void **state) {
    struct ps_partner partner;
    struct ps_cpu_set allowed;
    int value = 200;
    (void)state;
    assert_int_equal(ps_partner_start(&partner, -1, answer, &value), 0);
    assert_int_equal(ps_partner_stop(&partner, 10000), 200);
    assert_int_equal(partner.pid, 0);
    assert_int_equal(ps_partner_stop(&partner, 10000), 0);
    assert_int_equal(ps_partner_start(&partner, -1, hang, NULL), 0);
    assert_int_equal(ps_partner_stop(&partner, 10), -ETIMEDOUT);
    assert_int_equal(ps_partner_start(&partner, -1, crash, NULL), 0);
    assert_int_equal(ps_partner_stop(&partner, 10000), -EIO);
    assert_int_equal(ps_partner_start(&partner, PS_CPU_MAX - 1, answer, &value), -EINVAL);
    assert_int_equal(partner.pid, 0);
    assert_int_equal(ps_affinity_get(&allowed), 0);
    value = ps_cpu_set_next(&allowed, 0);
    assert_int_equal(ps_partner_start(&partner, value, where, &value), 0);
    assert_int_equal(ps_partner_stop(&partner, 10000), 42);
    assert_int_equal(ps_partner_start(&partner, -1, hang, NULL), 0);
    ps_partner_kill(&partner);
    ps_partner_kill(&partner);
    assert_false(ps_has_children());
}

static void test_write_all(void **state) {
    enum { BYTES = 300000 }; /* more than a pipe holds */
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    char *data = malloc(BYTES);
    memset(data, 'x', BYTES);
    pid_t reader = fork();
    if (reader == 0) {
        size_t got = 0;
        char buffer[4096];
        close(fds[1]);
        fcntl(fds[0], F_SETFL, 0);
        for (ssize_t n; (n = read(fds[0], buffer, sizeof buffer)) > 0;) {
            got += (size_t)n;
        }
        _exit(got == BYTES ? 0 : 1);
    }
    assert_int_equal(ps_write_all(fds[1], data, BYTES), 0);
    close(fds[1]);
    int status;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    close(fds[0]);
    free(data);
    assert_int_equal(ps_write_all(-1, "x", 1), -EBADF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fds),
        cmocka_unit_test(test_signals_are_reset),
        cmocka_unit_test(test_exec_fails),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_dies_with_parent),
        cmocka_unit_test(test_partner),
        cmocka_unit_test(test_write_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
