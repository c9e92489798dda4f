/* SPDX-License-Identifier: MIT
 *
 * Simple system calls. `null` is getppid, entered by syscall(2) itself, which does nothing in the
 * kernel but read a number; `read` is one byte of /dev/zero, `write` one byte to /dev/null; `stat`,
 * `fstat` and `open` are the C library's functions on a small file in a target directory, `open`
 * being the pair of open for reading and close, counted once. The process works in that directory,
 * so that stat and open look up a path of one component.
 *
 * The last three depend on the file system, which is part of the row; on NFS, open is a question to
 * the server. Some C libraries make fstat out of the call that looks up paths, with an empty path;
 * what is measured is what a program gets. Every return value is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/bench.h"
#include "sys/scratch_file.h"

/* So much, so that the answers of stat can be recognised. */
#define FILE_BYTES 4096
#define RESERVE_BYTES (1 << 20) /* of the target's space that are left to others */
#define MEMORY_DEVICES 1        /* major number of /dev/null and /dev/zero */

struct syscall_state;

struct syscall_kind {
    const char *name;
    int (*loop)(struct syscall_state *state, uint64_t n);
    const char *device; /* read from or written to; NULL: none */
    unsigned device_minor;
    bool wants_file;
    unsigned tags;
};

struct syscall_state {
    const struct syscall_kind *kind;
    int fd;             /* of the device or the file */
    int came_from_fd;   /* the working directory before the run; -1: unchanged */
    const char *name;   /* of the file, in the working directory */
    struct stat answer; /* the last one */
    unsigned char byte;
    struct ps_scratch_file file;
};

__attribute__((noinline)) static int loop_null(struct syscall_state *state, uint64_t n) {
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        if (syscall(SYS_getppid) < 0)
            return -errno;
    return 0;
}

__attribute__((noinline)) static int loop_read(struct syscall_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        ssize_t moved = read(state->fd, &state->byte, 1);
        if (moved != 1)
            return moved < 0 ? -errno : -EIO;
    }
    return 0;
}

__attribute__((noinline)) static int loop_write(struct syscall_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        ssize_t moved = write(state->fd, &state->byte, 1);
        if (moved != 1)
            return moved < 0 ? -errno : -EIO;
    }
    return 0;
}

__attribute__((noinline)) static int loop_stat(struct syscall_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (stat(state->name, &state->answer) != 0)
            return -errno;
    return 0;
}

__attribute__((noinline)) static int loop_fstat(struct syscall_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (fstat(state->fd, &state->answer) != 0)
            return -errno;
    return 0;
}

__attribute__((noinline)) static int loop_open(struct syscall_state *state, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        int fd = open(state->name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || close(fd) != 0)
            return -errno;
    }
    return 0;
}

/* ---- Cases ---------------------------------------------------------------------------------- */

static const struct syscall_kind kinds[] = {
    {"null", loop_null, NULL, 0, false, PS_TAG_HEADLINE},
    {"read", loop_read, "/dev/zero", 5, false, PS_TAG_HEADLINE},
    {"write", loop_write, "/dev/null", 3, false, PS_TAG_HEADLINE},
    {"stat", loop_stat, NULL, 0, true, PS_TAG_HEADLINE},
    {"fstat", loop_fstat, NULL, 0, true, PS_TAG_HEADLINE},
    {"open", loop_open, NULL, 0, true, PS_TAG_HEADLINE},
};

static const struct syscall_kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ps_text_equal(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static void relate(struct ps_case *c) {
    static const char not_entered[] = "the call did not reach the kernel, or a run was disturbed";
    static const struct {
        const char *name, *smaller;
    } orders[] = {
        {"read", "os.lat_syscall/null:latency"},  {"write", "os.lat_syscall/null:latency"},
        {"fstat", "os.lat_syscall/null:latency"}, {"stat", "os.lat_syscall/fstat:latency"},
        {"open", "os.lat_syscall/stat:latency"},
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        if (ps_text_equal(orders[i].name, c->name))
            ps_case_relate(c, PS_ORDER_AT_LEAST, "os-01", "latency", orders[i].smaller, 1, 0.05,
                           not_entered);
}

static void publish(struct ps_case *c) {
    static const char elsewhere[] = "the page does not name its file system; the path is looked up "
                                    "there";
    static const struct {
        const char *name, *row;
        enum ps_comparable comparable;
        const char *why;
    } rows[] = {
        {"null", "lat_syscall-null", PS_COMPARABLE_YES, NULL},
        {"read", "lat_syscall-read", PS_COMPARABLE_YES, NULL},
        {"write", "lat_syscall-write", PS_COMPARABLE_YES, NULL},
        {"stat", "lat_syscall-stat", PS_COMPARABLE_APPROX, elsewhere},
        {"fstat", "lat_syscall-fstat", PS_COMPARABLE_APPROX,
         "depends on how the C library makes fstat, which the page does not say"},
        {"open", "lat_syscall-open", PS_COMPARABLE_NO,
         "bound by the file system of the page, which it does not name; its number suggests one "
         "over the network"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (ps_text_equal(rows[i].name, c->name))
            ps_case_publish(c, "latency", "am62l", "lmbench", rows[i].row, rows[i].comparable,
                            rows[i].why);
}

static struct ps_case *add_case(struct ps_case_list *list, const struct syscall_kind *kind) {
    struct ps_case *c = ps_case_add(list, kind->name);
    if (c == NULL)
        return NULL;
    c->bound = PS_BOUND_CORE;
    relate(c);
    return c;
}

static void add_file_case(struct ps_case_list *list, const struct syscall_kind *kind,
                          const struct ps_target *target, bool first) {
    struct ps_case *c = add_case(list, kind);
    if (c == NULL)
        return;
    c->place.target = target->name;
    ps_case_param(c, "path_components", 1);
    ps_case_param_text(c, "filesystem",
                       target->filesystem != NULL ? target->filesystem : "unknown");
    /* The page has one row of each: beside it stands the target that is always there. */
    if (first) {
        c->tags = kind->tags;
        publish(c);
    }
    if (target->path != NULL) {
        ps_case_param_text(c, "directory", target->path);
    } else {
        c->status = PS_SKIPPED;
        c->reason = target->why != NULL ? target->why : "the target has no writable directory";
    }
}

static int syscall_cases(const struct ps_env *env, struct ps_case_list *list) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].wants_file) {
            for (size_t t = 0; t < env->n_targets; t++)
                add_file_case(list, &kinds[i], &env->targets[t], t == 0);
            continue;
        }
        struct ps_case *c = add_case(list, &kinds[i]);
        if (c == NULL)
            continue;
        c->tags = kinds[i].tags;
        publish(c);
        if (kinds[i].device != NULL)
            ps_case_param_text(c, "device", kinds[i].device);
    }
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

static void syscall_teardown(struct ps_run *run) {
    struct syscall_state *state = ps_run_state(run);
    if (state == NULL)
        return;
    if (state->came_from_fd >= 0) {
        if (fchdir(state->came_from_fd) != 0) {
            /* Gone, or no longer ours to enter; nothing after this has a relative path. */
        }
        close(state->came_from_fd);
    }
    if (state->kind->device != NULL && state->fd >= 0)
        close(state->fd);
    ps_scratch_file_done(&state->file);
    ps_run_set_state(run, NULL);
}

/* In a sandbox these names may be anything. */
static int open_device(struct ps_run *run, struct syscall_state *state) {
    struct stat is;
    state->fd = open(state->kind->device, O_RDWR | O_CLOEXEC);
    if (state->fd < 0)
        return ps_run_end(run, errno == ENOENT ? PS_UNSUPPORTED : PS_DENIED, errno,
                          "needs /dev/null and /dev/zero, readable and writable by everybody");
    if (fstat(state->fd, &is) != 0)
        return -errno;
    if (!S_ISCHR(is.st_mode) || is.st_rdev != makedev(MEMORY_DEVICES, state->kind->device_minor))
        return ps_run_end(run, PS_UNSUPPORTED, 0,
                          "/dev/null or /dev/zero is not the device of that name here");
    return 0;
}

static int make_file(struct ps_run *run, struct syscall_state *state) {
    const char *directory = ps_case_text(ps_run_case(run), "directory");
    if (directory == NULL)
        return -ENOENT;
    int r = ps_scratch_file_init(&state->file, directory, FILE_BYTES, RESERVE_BYTES);
    if (r == -ENOSPC)
        return ps_run_end(run, PS_SKIPPED, ENOSPC, "needs 2 MB free in the target's directory");
    if (r < 0)
        return r;
    state->fd = state->file.fd;
    state->name = strrchr(state->file.path, '/') + 1;
    state->came_from_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (ftruncate(state->fd, FILE_BYTES) != 0 || state->came_from_fd < 0 || chdir(directory) != 0)
        return -errno;
    return 0;
}

static int syscall_setup(struct ps_run *run) {
    struct syscall_state *state = ps_run_alloc(run, sizeof(*state), 0);
    if (state == NULL)
        return -ENOMEM;
    memset(state, 0, sizeof(*state));
    state->fd = state->came_from_fd = -1;
    state->kind = find_kind(ps_run_case(run)->name);
    if (state->kind == NULL)
        return -EINVAL;
    ps_run_set_state(run, state);
    int r = 0;
    if (state->kind->device != NULL)
        r = open_device(run, state);
    else if (state->kind->wants_file)
        r = make_file(run, state);
    if (r < 0)
        syscall_teardown(run);
    return r;
}

static int syscall_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)segment;
    struct syscall_state *state = ps_run_state(run);
    return state->kind->loop(state, n);
}

/* The call once more, and its answer against what is known in another way. */
static int syscall_verify(struct ps_run *run, enum ps_verify_when when) {
    (void)when;
    struct syscall_state *state = ps_run_state(run);
    const struct syscall_kind *kind = state->kind;
    bool right = true;
    state->byte = 0xa5;
    memset(&state->answer, 0, sizeof(state->answer));
    int r = kind->loop(state, 1);
    if (r < 0)
        return r;
    if (kind->loop == loop_null) {
        right = syscall(SYS_getppid) == getppid();
    } else if (kind->loop == loop_read) {
        right = state->byte == 0;
    } else if (kind->loop == loop_stat || kind->loop == loop_fstat) {
        right = state->answer.st_size == FILE_BYTES && S_ISREG(state->answer.st_mode);
    } else if (kind->loop == loop_open) {
        struct stat by_name, by_fd;
        right = stat(state->name, &by_name) == 0 && fstat(state->fd, &by_fd) == 0 &&
                by_name.st_ino == by_fd.st_ino && by_name.st_size == FILE_BYTES;
    }
    return right ? 0 : ps_run_end(run, PS_FAILED, 0, "the system call's answer is wrong");
}

static const struct ps_metric metrics[] = {
    {
        .name = "latency",
        .unit = PS_UNIT_US,
        .kind = PS_TIME,
        .counts = "one call; open and close together",
        .better = PS_BETTER_LOWER,
        .positive = true,
        .decimals = 3,
        .method = 1,
        .depends = PS_DEPENDS_LIBC,
        /* Into the kernel and back: two changes of privilege, each of which empties the pipeline.
         */
        .floor_cycles = 20,
    },
};

const struct ps_bench ps_bench_os_lat_syscall = {
    .chapter = "os",
    .table = "lat_syscall",
    .title = "System calls",
    .about = "null: getppid. read: a byte of /dev/zero. write: a byte to /dev/null. stat, fstat, "
             "open (with close) of a small file in the working directory, on the file system that "
             "the row names. The kernel's mitigations move all of them.",
    .region = "n times the system call, its return value checked",
    .metrics = metrics,
    .n_metrics = sizeof(metrics) / sizeof(metrics[0]),
    .cases = syscall_cases,
    .setup = syscall_setup,
    .teardown = syscall_teardown,
    .batch = syscall_batch,
    .verify = syscall_verify,
};
