/* SPDX-License-Identifier: MIT
 *
 * A machine made file by file, and a check on it. Include behind cmocka.h.
 */
#ifndef PS_TESTS_UNIT_DOCTOR_FIXTURE_H
#define PS_TESTS_UNIT_DOCTOR_FIXTURE_H

#include "doctor/doctor.h"
#include "unit/fake_root.h"

static struct fake_root root;
static struct ps_machine machine;
static struct ps_finding found;

static inline int doctor_set_up(void **state) {
    (void)state;
    fake_root_init(&root);
    fake_file(&root, "0-1\n", "/sys/devices/system/cpu/online");
    return 0;
}

static inline int doctor_tear_down(void **state) {
    (void)state;
    fake_root_done(&root);
    return 0;
}

/* Reads the machine anew; to be called once its CPUs are made. */
static inline void describe(const char *cpus, const struct ps_boardfile *board) {
    char why[300] = "";
    if (ps_machine_describe(root.path, cpus, board, &machine, why, sizeof(why)))
        fail_msg("%s", why);
}

/* A check that is not good says so in a sentence; what is noted or bad says what it spoils and what
 * mends it; what is good or unknown spoils nothing. */
static inline void expect_found(const char *name, enum ps_verdict verdict, const char *seen,
                                const char *mend) {
    assert_true(ps_check_run(&machine, name, &found));
    if (found.verdict != verdict)
        fail_msg("%s: %s instead of %s: %s", name, ps_verdict_name(found.verdict),
                 ps_verdict_name(verdict), found.seen);
    if (!strstr(found.seen, seen))
        fail_msg("%s: '%s' is not in '%s'", name, seen, found.seen);
    if (verdict >= PS_NOTE ? !found.spoils[0] || !found.mend[0] : found.spoils[0] != 0)
        fail_msg("%s: %s, spoils '%s', mend '%s'", name, ps_verdict_name(verdict), found.spoils,
                 found.mend);
    if (mend && !strstr(found.mend, mend))
        fail_msg("%s: '%s' is not in '%s'", name, mend, found.mend);
}

#define DOCTOR_TEST(name) cmocka_unit_test_setup_teardown(name, doctor_set_up, doctor_tear_down)

#endif
