/* SPDX-License-Identifier: MIT
 *
 * The child: pins itself, looks at the machine before and after, lets the core measure in between,
 * and says what came of it in one line. It writes no file and prints nothing; a crash of a
 * benchmark costs this run only.
 */
#include "harness/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "port/port_linux.h"
#include "sys/affinity.h"
#include "sys/cpu_load.h"
#include "sys/process.h"
#include "sys/topology.h"
#include "sys/witness.h"

#define PS_JOB_FD 3
#define PS_REPLY_FD 4
#define PS_JOB_BYTES_MAX 65536
#define PS_REPLY_BUFFER_BYTES 65536
/* Ten slices of 20 ms or more, of which the best counts. */
#define PS_SOAK_CALIBRATE_NS UINT64_C(300000000)

/* Collects small pieces of the record into writes of a pipe's size. */
struct reply {
    char data[PS_REPLY_BUFFER_BYTES];
    size_t length;
};

static int flush(struct reply *reply) {
    int error = ps_write_all(PS_REPLY_FD, reply->data, reply->length);
    reply->length = 0;
    return error;
}

static int reply_write(void *target, const char *data, size_t length) {
    struct reply *reply = target;
    if (length > sizeof(reply->data) - reply->length) {
        int error = flush(reply);
        if (error)
            return error;
    }
    if (length > sizeof(reply->data))
        return ps_write_all(PS_REPLY_FD, data, length);
    memcpy(reply->data + reply->length, data, length);
    reply->length += length;
    return 0;
}

/* The whole job, to the end of the input. Its length or a negative errno. */
static ssize_t read_job(char *text, size_t size_bytes) {
    size_t length = 0;
    for (;;) {
        if (length == size_bytes)
            return -EFBIG;
        ssize_t n = read(PS_JOB_FD, text + length, size_bytes - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return (ssize_t)length;
        length += (size_t)n;
    }
}

static void set_of_job(const struct ps_job *job, struct ps_cpu_set *ret_set) {
    ps_cpu_set_clear(ret_set);
    for (unsigned i = 0; i < job->n_cpus; i++)
        ps_cpu_set_add(ret_set, (unsigned)job->cpus[i]);
}

/* True, and the run aborted, when one of its CPUs is gone. */
static bool lost_a_cpu(struct ps_run_shared *shared, const struct ps_cpu_set *set, char *reason,
                       size_t reason_bytes) {
    for (int cpu = ps_cpu_set_next(set, 0); cpu >= 0;
         cpu = ps_cpu_set_next(set, (unsigned)cpu + 1)) {
        if (ps_cpu_online("", (unsigned)cpu))
            continue;
        snprintf(reason, reason_bytes, "cpu %d is offline", cpu);
        shared->status = PS_ABORTED;
        shared->error = 0;
        shared->reason = reason;
        return true;
    }
    return false;
}

static void fail(struct ps_run_shared *shared, int error, const char *reason) {
    if (shared->status != PS_OK)
        return; /* the first fault is the cause */
    shared->status = PS_FAILED;
    shared->error = error;
    shared->reason = reason;
}

static const char *granted_pages(const struct ps_run_shared *shared) {
    if (shared->status != PS_OK || shared->c->memory.bytes == 0 ||
        shared->c->memory.pages == PS_PAGES_ANY)
        return NULL;
    return ps_pages_name(shared->c->memory.pages);
}

/* The run of a --cpu-load pass: threads of idle priority count on every CPU that this process may
 * use. Such a run has a load and no samples. */
static void measure_load(struct ps_job *job, struct ps_run_shared *shared, void *scratch,
                         uint64_t scratch_bytes) {
    struct ps_soak *soak = NULL;
    struct ps_cpu_set all;
    double all_pct, busiest_pct;
    memset(&all, 0xff, sizeof(all));
    bool soaked = ps_pin_to_set(&all) == 0 && ps_affinity_get(&all) == 0 &&
                  ps_soak_new(&all, PS_SOAK_CALIBRATE_NS, &soak) == 0;
    if (ps_pin_to_cpu((unsigned)job->cpus[0]) < 0)
        soaked = false;
    soaked = soaked && ps_soak_begin(soak) == 0;
    ps_measure(shared, &job->settings, scratch, scratch_bytes);
    if (soaked && ps_soak_end(soak, &all_pct, &busiest_pct) == 0) {
        job->identity.load_all_pct = all_pct;
        job->identity.load_busiest_pct = busiest_pct;
        job->identity.load_method = PS_LOAD_SOAK;
    }
    if (soak)
        ps_soak_free(soak);
    for (unsigned i = 0; i < job->bench->n_metrics; i++)
        shared->series[i] = (struct ps_series){.n = 0};
}

static void measure(struct ps_job *job, struct ps_run_shared *shared,
                    struct ps_witness_numbers *ret_numbers) {
    size_t scratch_bytes = (size_t)ps_measure_scratch_bytes(job->bench, &job->settings);
    /* Populated: its pages are not to be faulted in between samples. */
    void *scratch = mmap(NULL, scratch_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct ps_witness before, after;
    struct ps_cpu_set set;
    if (scratch == MAP_FAILED) {
        fail(shared, ENOMEM, "not enough memory for its samples");
        return;
    }
    set_of_job(job, &set);
    int fds_before = ps_count_fds();
    ps_witness_read("", &set, &before);
    if (job->soak)
        measure_load(job, shared, scratch, scratch_bytes);
    else
        ps_measure(shared, &job->settings, scratch, scratch_bytes);
    ps_witness_read("", &set, &after);
    ps_witness_between(&before, &after, (unsigned)sysconf(_SC_CLK_TCK), ret_numbers);
    int fds_after = ps_count_fds();

    if (ps_has_children())
        fail(shared, 0, "left a child process behind");
    if (fds_before >= 0 && fds_after > fds_before)
        fail(shared, 0, "leaked a file descriptor");
    /* scratch holds the samples: it lives until the record is written, and ends with the process.
     */
}

/* Too few samples had the core to themselves to stand for the run (ps_series_nets uses those
 * alone). */
static bool mostly_shared(const struct ps_run_shared *shared) {
    return shared->n_shared > 0 &&
           !ps_enough_unshared(shared->n_samples - shared->n_shared, shared->n_samples);
}

static int reply_with(struct ps_job *job, const struct ps_run_shared *shared,
                      const struct ps_witness_numbers *numbers) {
    static struct reply reply;
    struct ps_json_writer json;
    if (shared->status == PS_OK && !job->soak)
        job->identity.disturbed =
            ps_witness_disturbed(numbers, job->partner, shared->n_samples, shared->n_switched);
    if (!job->identity.disturbed && mostly_shared(shared))
        job->identity.disturbed =
            "another hardware thread of its core was busy for most of the samples";
    job->identity.pages = granted_pages(shared);
    ps_json_init(&json, reply_write, &reply);
    ps_record_run(&json, &job->identity, shared, numbers);
    int error = ps_json_line_end(&json);
    return error ? error : flush(&reply);
}

static int run_job(struct ps_job *job) {
    struct ps_port port;
    struct ps_run_shared shared = {
        .bench = job->bench, .c = &job->c, .cpus = job->cpus, .n_cpus = job->n_cpus, .port = &port};
    struct ps_witness_numbers numbers = {-1, -1, -1, -1, -1, -1, -1};
    struct ps_cpu_set set;
    char reason[64];

    int error = ps_pin_to_cpu((unsigned)job->cpus[0]);
    int port_error =
        ps_port_linux_init(&port, job->clock_trusted, job->resolution_ns, job->full_issue);
    if (error)
        fail(&shared, -error, "it could not be pinned to its CPU");
    else if (port_error)
        fail(&shared, -port_error, "its clock cannot be read");
    else
        measure(job, &shared, &numbers);
    /* The kernel moves what ran on a CPU that goes away: what was measured then says nothing. */
    set_of_job(job, &set);
    lost_a_cpu(&shared, &set, reason, sizeof(reason));
    return reply_with(job, &shared, &numbers);
}

int ps_child_main(const struct ps_registry *registry) {
    static char text[PS_JOB_BYTES_MAX];
    struct rlimit no_core = {0, 0};
    struct ps_job job;

    setrlimit(RLIMIT_CORE, &no_core); /* a crash is a row's status, not a file */
    /* Processes that a benchmark starts must not hold the reply open. */
    fcntl(PS_REPLY_FD, F_SETFD, FD_CLOEXEC);
    ssize_t length = read_job(text, sizeof(text));
    close(PS_JOB_FD);
    int error = length < 0 ? (int)length : ps_job_parse(registry, text, (size_t)length, &job);
    if (!error) {
        error = run_job(&job);
        ps_job_free(&job);
    }
    if (error)
        fprintf(stderr, "perfsheet --child: %s\n", strerror(-error));
    return error ? 1 : 0;
}
