/* SPDX-License-Identifier: MIT
 *
 * The checks in the order in which they are told: what spoils most first.
 */
#include "doctor/doctor.h"

#include <string.h>

#include "doctor/finding.h"

const struct ps_check ps_checks[] = {
    {"emulated", ps_check_emulated},
    /* The clock. */
    {"governor", ps_check_governor},
    {"clock-limit", ps_check_clock_limit},
    {"clock", ps_check_clock},
    {"boost", ps_check_boost},
    {"throttling", ps_check_throttling},
    {"heat", ps_check_heat},
    {"clock-source", ps_check_clock_source},
    /* Who else is there. */
    {"load", ps_check_load},
    {"run-queue", ps_check_run_queue},
    {"steal", ps_check_steal},
    {"core-shared", ps_check_core_shared},
    /* What may be used. */
    {"quota", ps_check_quota},
    {"cpuset", ps_check_cpuset},
    {"offline", ps_check_offline},
    {"isolated", ps_check_isolated},
    {"memory", ps_check_memory},
    {"swap", ps_check_swap},
    {"huge-pages", ps_check_huge_pages},
    {"address-layout", ps_check_layout},
    {"directory", ps_check_directory},
    {"root-filesystem", ps_check_root_filesystem},
    /* Rights. */
    {"realtime", ps_check_realtime},
    {"realtime-limit", ps_check_realtime_limit},
    {"memory-lock", ps_check_memory_lock},
    {"perf", ps_check_perf},
    {"pmu", ps_check_pmu},
    /* The kernel. */
    {"mitigations", ps_check_mitigations},
    {"debug-kernel", ps_check_debug_kernel},
    {"tracing", ps_check_tracing},
    {"load-accounting", ps_check_load_accounting},
    {"entropy", ps_check_entropy},
    {NULL, NULL},
};

static void run_check(const struct ps_check *check, const struct ps_machine *machine,
                      struct ps_finding *ret_finding) {
    memset(ret_finding, 0, sizeof(*ret_finding));
    ret_finding->verdict = PS_UNKNOWN; /* until the check says better */
    check->run(machine, ret_finding);
}

bool ps_check_run(const struct ps_machine *machine, const char *name,
                  struct ps_finding *ret_finding) {
    for (const struct ps_check *check = ps_checks; check->name; check++)
        if (strcmp(check->name, name) == 0) {
            run_check(check, machine, ret_finding);
            return true;
        }
    return false;
}

unsigned ps_doctor_examine(const struct ps_machine *machine,
                           void (*say)(void *context, const char *name,
                                       const struct ps_finding *finding),
                           void *context) {
    unsigned n_bad = 0;
    struct ps_finding finding;
    for (const struct ps_check *check = ps_checks; check->name; check++) {
        run_check(check, machine, &finding);
        n_bad += finding.verdict == PS_BAD;
        say(context, check->name, &finding);
    }
    return n_bad + ps_examine_board(machine, say, context);
}

const char *ps_verdict_name(enum ps_verdict verdict) {
    static const char *const names[PS_N_VERDICT] = {"good", "unknown", "note", "bad"};
    return names[verdict];
}
