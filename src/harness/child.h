/* SPDX-License-Identifier: MIT
 *
 * The child's side: reads a job from fd 3, measures, writes one run record to fd 4.
 */
#ifndef PS_HARNESS_CHILD_H
#define PS_HARNESS_CHILD_H

#include <stddef.h>

#include "bench/registry.h"
#include "core/json_writer.h"
#include "harness/plan.h"

/* Exit code of the child process: 0 when a record was written. */
int ps_child_main(const struct ps_registry *registry);

/* identity.load_method of a run that is taken with the idle-priority soak (sys/cpu_load.h). */
#define PS_LOAD_SOAK "soak"

/* A job is one JSON line: table, case (name, params, memory, place), settings, cpus, identity,
 * seed. */
void ps_job_write(struct ps_json_writer *json, const struct ps_plan_row *row,
                  const struct ps_run_identity *identity, uint64_t seed, bool clock_trusted,
                  uint64_t resolution_ns, double full_issue);
struct ps_job {
    const struct ps_bench *bench;
    struct ps_case c;
    struct ps_run_identity identity;
    struct ps_measure_settings settings;
    int *cpus;
    unsigned n_cpus;
    bool partner, clock_trusted;
    bool soak; /* this run is for the CPU load only: its samples are left out */
    uint64_t resolution_ns;
    double full_issue;
    void *memory; /* owns the strings */
};
int ps_job_parse(const struct ps_registry *registry, const char *text, size_t length,
                 struct ps_job *ret_job);
void ps_job_free(struct ps_job *job);

#endif
