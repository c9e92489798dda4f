/* SPDX-License-Identifier: MIT
 *
 * How checks say what they found, and the checks themselves for the table of doctor.c.
 */
#ifndef PS_DOCTOR_FINDING_H
#define PS_DOCTOR_FINDING_H

#include "doctor/doctor.h"

/* Each sets the verdict and one text; what is said before stays. */
void ps_seen(struct ps_finding *finding, enum ps_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ps_spoils(struct ps_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps_mend(struct ps_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A file with a number: true and the value, or false and PS_UNKNOWN with the file's name and what
 * is wrong with it. */
bool ps_look_i64(const struct ps_machine *machine, const char *path, int64_t *ret_value,
                 struct ps_finding *finding);
/* The same for a short text. */
bool ps_look_text(const struct ps_machine *machine, const char *path, char *text, size_t text_bytes,
                  struct ps_finding *finding);
/* Is there such a file or directory below the root? */
bool ps_look_exists(const struct ps_machine *machine, const char *path);
/* The word in brackets of "always [madvise] never"; false when there is none. */
bool ps_chosen_word(const char *text, char *word, size_t word_bytes);
/* A word of the kernel's command line: "mitigations=off", or the beginning of one ("slub_debug").
 */
bool ps_boot_option(const struct ps_machine *machine, const char *option, char *value,
                    size_t value_bytes);
/* Has the process capability number `bit` (capabilities(7)) in its effective set? 1, 0, or a
 * negative errno where the kernel does not say. */
int ps_has_capability(const struct ps_machine *machine, unsigned bit);

/* check_clock.c */
void ps_check_governor(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_clock_limit(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_clock(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_boost(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_clock_source(const struct ps_machine *machine, struct ps_finding *finding);
/* check_heat.c */
void ps_check_throttling(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_heat(const struct ps_machine *machine, struct ps_finding *finding);
/* check_cpus.c */
void ps_check_quota(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_isolated(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_offline(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_cpuset(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_emulated(const struct ps_machine *machine, struct ps_finding *finding);
/* check_neighbours.c */
void ps_check_steal(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_load(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_run_queue(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_core_shared(const struct ps_machine *machine, struct ps_finding *finding);
/* check_memory.c */
void ps_check_memory(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_huge_pages(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_swap(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_layout(const struct ps_machine *machine, struct ps_finding *finding);
/* check_rights.c */
void ps_check_realtime(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_realtime_limit(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_memory_lock(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_perf(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_pmu(const struct ps_machine *machine, struct ps_finding *finding);
/* check_kernel.c */
void ps_check_mitigations(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_debug_kernel(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_tracing(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_load_accounting(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_entropy(const struct ps_machine *machine, struct ps_finding *finding);
/* check_directory.c */
void ps_check_directory(const struct ps_machine *machine, struct ps_finding *finding);
void ps_check_root_filesystem(const struct ps_machine *machine, struct ps_finding *finding);

/* check_board.c. Returns how many lines it contradicted. */
unsigned ps_examine_board(const struct ps_machine *machine,
                          void (*say)(void *context, const char *name,
                                      const struct ps_finding *finding),
                          void *context);

/* busiest.c: CPU time of all processes but this one. */
struct ps_process_times {
    struct ps_process_time {
        int pid;
        uint64_t ticks;
        char name[32];
    } * items;
    size_t n;
};
/* 0, or a negative errno. */
int ps_process_times_read(const char *root, int but_pid, struct ps_process_times *ret_times);
void ps_process_times_done(struct ps_process_times *times);
/* The process that used most ticks in between, kernel threads included; 0 ticks and pid 0 when none
 * used any. */
struct ps_process_time ps_process_busiest(const struct ps_process_times *before,
                                          const struct ps_process_times *after);

#endif
