/* SPDX-License-Identifier: MIT
 *
 * A machine, tables and an executor that exist only in memory, for the tests of plan and runner.
 */
#ifndef PS_TESTS_HARNESS_FIXTURE_H
#define PS_TESTS_HARNESS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/case_list.h"
#include "core/record.h"
#include "harness/line.h"
#include "harness/runner.h"

#define FIXTURE __attribute__((unused)) static

/* ---- The machine ---------------------------------------------------------------------------- */

struct machine {
    struct ps_environment environment;
    char root[64];
};

FIXTURE void write_file(const char *root, const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* `clusters` of `cpus_each` CPUs, numbered in a row; capacities 400, 800 ... */
FIXTURE void machine_init(struct machine *machine, unsigned clusters, unsigned cpus_each) {
    memset(machine, 0, sizeof(*machine));
    strcpy(machine->root, "/tmp/perfsheet-test-XXXXXX");
    assert_non_null(mkdtemp(machine->root));
    struct ps_environment *environment = &machine->environment;
    struct ps_topology *topology = &environment->topology;
    environment->root = machine->root;
    topology->n_clusters = clusters;
    topology->n_threads = clusters * cpus_each;
    for (unsigned i = 0; i < clusters; i++) {
        topology->clusters[i] = (struct ps_cluster){.id = i,
                                                    .n_cpus = cpus_each,
                                                    .first_cpu = i * cpus_each,
                                                    .capacity = 400 * (i + 1),
                                                    .l1d_bytes = 32768,
                                                    .l2_bytes = 1 << 20,
                                                    .last_private_bytes = 1 << 20,
                                                    .last_level_bytes = 8 << 20,
                                                    .line_bytes = 64};
        for (unsigned c = 0; c < cpus_each; c++) {
            ps_cpu_set_add(&topology->cluster_cpus[i], i * cpus_each + c);
            ps_cpu_set_add(&topology->usable, i * cpus_each + c);
        }
    }
    topology->online = topology->possible = topology->present = topology->allowed =
        topology->usable;
    environment->env = (struct ps_env){.clusters = topology->clusters,
                                       .cluster = topology->clusters,
                                       .n_clusters = clusters,
                                       .n_cpus = topology->n_threads,
                                       .page_bytes = 4096,
                                       .memory_available_bytes = UINT64_C(1) << 30,
                                       .working_set_cap_bytes = 256 << 20,
                                       .published_cap_bytes = 512 << 20};
    char online[32];
    ps_cpu_list_format(&topology->online, online, sizeof(online));
    write_file(machine->root, "/sys/devices/system/cpu/online", online);
}

FIXTURE void machine_done(struct machine *machine) {
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", machine->root);
    assert_int_equal(system(command), 0);
}

/* ---- Tables --------------------------------------------------------------------------------- */

FIXTURE int nothing_batch(struct ps_run *run, unsigned segment, uint64_t n) {
    (void)run, (void)segment, (void)n;
    return 0;
}

static const struct ps_metric time_metric[] = {{.name = "time",
                                                .unit = PS_UNIT_NS,
                                                .kind = PS_TIME,
                                                .counts = "one unit",
                                                .better = PS_BETTER_LOWER,
                                                .positive = true,
                                                .decimals = 1,
                                                .method = 1,
                                                .bound = PS_BOUND_MEMORY}};

#define TABLE(chapter_, table_, cases_)                                                            \
    .chapter = chapter_, .table = table_, .title = table_, .about = "a test", .region = "nothing", \
    .metrics = time_metric, .n_metrics = 1, .batch = nothing_batch, .cases = cases_,               \
    .no_verify = "nothing is computed"

FIXTURE void plan_for(const struct machine *machine, const struct ps_bench *const *benches,
                      size_t n, const struct ps_plan_options *options, struct ps_plan *ret_plan) {
    struct ps_registry registry = {benches, n};
    char why[200] = "";
    int error = ps_plan_make(&registry, &machine->environment, options, ret_plan, why, sizeof(why));
    if (error)
        fail_msg("plan: %d %s", error, why);
}

FIXTURE const struct ps_plan_row *find_row(const struct ps_plan *plan, const char *id) {
    for (size_t i = 0; i < plan->n_rows; i++)
        if (strcmp(plan->rows[i].id, id) == 0)
            return &plan->rows[i];
    return NULL;
}

/* ---- The executor --------------------------------------------------------------------------- */

#define TAKEN_MAX 4096

struct taken {
    const struct ps_plan_row *row;
    unsigned round, seq, attempt;
    uint64_t seed;
    bool for_load;
};

struct behaviour {
    enum ps_status status;
    const char *reason, *disturbed;
    double value;
    const char *raw_line; /* written instead of a record */
    int error;            /* returned */
};

struct fake_executor {
    uint64_t now_ns;
    void (*behave)(struct fake_executor *fake, const struct taken *taken,
                   struct behaviour *behaviour);
    struct taken taken[TAKEN_MAX];
    size_t n_taken;
    uint64_t slept_ns;
    void *context;
};

FIXTURE int fake_execute(void *self, const struct ps_plan_row *row,
                         const struct ps_run_identity *identity, uint64_t seed, char *line,
                         size_t line_bytes) {
    struct fake_executor *fake = self;
    assert_true(fake->n_taken < TAKEN_MAX);
    struct taken *taken = &fake->taken[fake->n_taken++];
    *taken = (struct taken){row,           identity->round,
                            identity->seq, identity->attempt,
                            seed,          identity->load_method != NULL};
    struct behaviour behaviour = {.status = PS_OK, .value = 100};
    if (fake->behave)
        fake->behave(fake, taken, &behaviour);
    fake->now_ns += (uint64_t)row->predicted_ms * 1000000;
    if (behaviour.error)
        return behaviour.error;
    if (behaviour.raw_line) {
        snprintf(line, line_bytes, "%s", behaviour.raw_line);
        return 0;
    }
    double samples[10];
    for (unsigned i = 0; i < 10; i++)
        samples[i] = behaviour.value;
    struct ps_run_shared shared = {.bench = row->bench,
                                   .c = &row->c,
                                   .cpus = row->cpus,
                                   .n_cpus = row->n_cpus,
                                   .threads = 1,
                                   .status = behaviour.status,
                                   .reason = behaviour.reason,
                                   .stop = "time"};
    shared.series[0] = (struct ps_series){.n = 10, .capacity = 10, .samples = samples};
    struct ps_run_identity full = *identity;
    full.disturbed = behaviour.disturbed;
    struct ps_line out;
    struct ps_json_writer json;
    ps_line_begin(&out, line, line_bytes, &json);
    ps_record_run(&json, &full, &shared, NULL);
    return ps_line_end(&out, &json);
}

FIXTURE uint64_t fake_now(void *self) {
    return ((struct fake_executor *)self)->now_ns;
}

FIXTURE void fake_sleep(void *self, uint64_t ns) {
    ((struct fake_executor *)self)->now_ns += ns;
    ((struct fake_executor *)self)->slept_ns += ns;
}

/* Runs the plan into a temporary file and returns the runner's result; *ret_text is the file's. */
FIXTURE int run_plan(const struct machine *machine, const struct ps_plan *plan,
                     struct fake_executor *fake, const struct ps_runner_options *options,
                     char **ret_text) {
    char path[] = "/tmp/perfsheet-test-sheet-XXXXXX";
    struct ps_executor executor = {
        .self = fake, .execute = fake_execute, .now_ns = fake_now, .sleep_ns = fake_sleep};
    struct ps_output output = {.fd = mkstemp(path)};
    assert_true(output.fd >= 0);
    unlink(path);
    int result = ps_runner_run(plan, &machine->environment, &executor, &output, options);
    off_t length = lseek(output.fd, 0, SEEK_END);
    char *text = malloc((size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(pread(output.fd, text, (size_t)length, 0), length);
    text[length] = '\0';
    close(output.fd);
    if (ret_text)
        *ret_text = text;
    else
        free(text);
    return result;
}

FIXTURE unsigned count_runs(const struct fake_executor *fake, const char *id) {
    unsigned n = 0;
    for (size_t i = 0; i < fake->n_taken; i++)
        n += strcmp(fake->taken[i].row->id, id) == 0;
    return n;
}

#endif
