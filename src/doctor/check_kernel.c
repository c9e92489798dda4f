/* SPDX-License-Identifier: MIT
 *
 * What the kernel does besides the work that is timed.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor/finding.h"
#include "sys/cpu_load.h"
#include "sys/root.h"

void ps_check_mitigations(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char directory_name[] = "/sys/devices/system/cpu/vulnerabilities";
    char path[PS_PATH_BYTES], word[64], vulnerable[160] = "";
    unsigned n_mitigated = 0, n_vulnerable = 0;
    DIR *directory =
        ps_root_path(machine->root, directory_name, path, sizeof(path)) == 0 ? opendir(path) : NULL;
    if (!directory) {
        ps_seen(finding, PS_UNKNOWN, "%s: %s", directory_name, strerror(errno));
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char file[PS_PATH_BYTES], state[256];
        snprintf(file, sizeof(file), "%s/%.64s", directory_name, entry->d_name);
        if (entry->d_name[0] == '.' || ps_read_text(machine->root, file, state, sizeof(state)) <= 0)
            continue;
        n_mitigated += strncmp(state, "Mitigation", 10) == 0;
        if (strncmp(state, "Vulnerable", 10) != 0)
            continue;
        size_t length = strlen(vulnerable);
        snprintf(vulnerable + length, sizeof(vulnerable) - length, "%s%.40s",
                 n_vulnerable++ ? ", " : "", entry->d_name);
    }
    closedir(directory);
    if (ps_boot_option(machine, "mitigations=off", word, sizeof(word)) ||
        ps_boot_option(machine, "nopti", word, sizeof(word))) {
        ps_seen(finding, PS_NOTE, "mitigations of processor faults are switched off (%s)", word);
        ps_spoils(finding, "os rows: faster than on a machine in use; not to be compared with one");
        ps_mend(finding, "# take '%s' off the kernel's command line and reboot", word);
    } else if (n_vulnerable > 0) {
        ps_seen(finding, PS_NOTE, "%u mitigated, %u faults of the processor are open: %s",
                n_mitigated, n_vulnerable, vulnerable);
        ps_spoils(finding, "os rows: they change with the next kernel or microcode that closes "
                           "them");
        ps_mend(finding, "grep . %s/*   # and update microcode and kernel", directory_name);
    } else {
        ps_seen(finding, PS_GOOD, "%u faults of the processor are mitigated, none is open",
                n_mitigated);
    }
}

/* Build options that make every allocation, lock or access slower. */
static const char *const slow_options[] = {
    "CONFIG_KASAN",
    "CONFIG_KCSAN",
    "CONFIG_KMSAN",
    "CONFIG_UBSAN_TRAP",
    "CONFIG_PROVE_LOCKING",
    "CONFIG_LOCKDEP",
    "CONFIG_LOCK_STAT",
    "CONFIG_DEBUG_SPINLOCK",
    "CONFIG_DEBUG_MUTEXES",
    "CONFIG_DEBUG_VM",
    "CONFIG_DEBUG_OBJECTS",
    "CONFIG_DEBUG_KMEMLEAK",
    "CONFIG_SLUB_DEBUG_ON",
    "CONFIG_GCOV_KERNEL",
    "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "CONFIG_KCOV",
    "CONFIG_PAGE_POISONING_ON",
};

static const char *const slow_boot_options[] = {"slub_debug", "slab_debug", "debug_pagealloc=on",
                                                "page_poison=1", "kmemleak=on"};

static void found_slow(struct ps_finding *finding, const char *what, const char *mend) {
    ps_seen(finding, PS_BAD, "the kernel checks itself: %s", what);
    ps_spoils(finding, "os, network and storage rows: several times too slow");
    ps_mend(finding, "%s", mend);
}

/* Names of set options, from the text of a kernel's configuration. */
static unsigned list_slow(const char *config, char *names, size_t names_bytes) {
    unsigned n = 0;
    names[0] = 0;
    for (size_t i = 0; i < sizeof(slow_options) / sizeof(slow_options[0]); i++) {
        char line[64];
        snprintf(line, sizeof(line), "%s=y\n", slow_options[i]);
        const char *at = strstr(config, line);
        if (!at || (at > config && at[-1] != '\n'))
            continue;
        size_t length = strlen(names);
        snprintf(names + length, names_bytes - length, "%s%s", n++ ? ", " : "", slow_options[i]);
    }
    return n;
}

void ps_check_debug_kernel(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char rebuild[] = "# boot a kernel that is built without these options";
    char release[96], path[160], names[200], *config;
    size_t length;
    struct utsname name;
    for (size_t i = 0; i < sizeof(slow_boot_options) / sizeof(slow_boot_options[0]); i++)
        if (ps_boot_option(machine, slow_boot_options[i], names, sizeof(names))) {
            snprintf(path, sizeof(path), "# take '%.60s' off the kernel's command line and reboot",
                     names);
            found_slow(finding, names, path);
            return;
        }
    /* These files are there only when it was built so. */
    if (ps_look_exists(machine, "/proc/lockdep_stats")) {
        found_slow(finding, "lock checking (/proc/lockdep_stats is there)", rebuild);
        return;
    }
    if (ps_look_exists(machine, "/proc/lock_stat")) {
        found_slow(finding, "lock statistics (/proc/lock_stat is there)", rebuild);
        return;
    }
    if (ps_read_text(machine->root, "/proc/sys/kernel/osrelease", release, sizeof(release)) <= 0) {
        release[0] = 0;
        if (ps_root_is_real(machine->root) && uname(&name) == 0)
            snprintf(release, sizeof(release), "%.90s", name.release);
    }
    snprintf(path, sizeof(path), "/boot/config-%s", release);
    if (*release && ps_read_whole(machine->root, path, &config, &length) == 0) {
        /* The last newline was cut. */
        char *whole = malloc(length + 2);
        unsigned n = 0;
        if (whole) {
            memcpy(whole, config, length);
            memcpy(whole + length, "\n", 2);
            n = list_slow(whole, names, sizeof(names));
        }
        free(whole);
        free(config);
        if (n > 0)
            found_slow(finding, names, rebuild);
        else if (whole)
            ps_seen(finding, PS_GOOD, "the kernel is not built to check itself (%s)", path);
        else
            ps_seen(finding, PS_UNKNOWN, "no memory to read %s", path);
        return;
    }
    if (ps_look_exists(machine, "/proc/config.gz")) {
        ps_seen(finding, PS_UNKNOWN,
                "no sign of a debugging kernel; its configuration is only there compressed");
        ps_mend(finding,
                "zcat /proc/config.gz | grep -E "
                "'^CONFIG_(K.SAN|PROVE_LOCKING|DEBUG_(VM|OBJECTS|KMEMLEAK))=y'   # nothing: good");
        return;
    }
    ps_seen(finding, PS_UNKNOWN,
            "no sign of a debugging kernel, but its configuration is not to be found");
}

void ps_check_tracing(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char *const directories[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        char path[96], tracer[64], events[16] = "0";
        snprintf(path, sizeof(path), "%s/current_tracer", directories[i]);
        if (ps_read_text(machine->root, path, tracer, sizeof(tracer)) <= 0)
            continue;
        snprintf(path, sizeof(path), "%s/events/enable", directories[i]);
        (void)ps_read_text(machine->root, path, events, sizeof(events));
        /* "0", "1", or "X": some. */
        if (strcmp(tracer, "nop") == 0 && strcmp(events, "0") == 0) {
            ps_seen(finding, PS_GOOD, "nothing is traced");
        } else if (strcmp(tracer, "nop") != 0) {
            ps_seen(finding, PS_BAD, "the kernel traces: the tracer %s is on", tracer);
            ps_spoils(finding, "os, network and storage rows: each call is recorded");
            ps_mend(finding, "echo nop | sudo tee %s/current_tracer", directories[i]);
        } else {
            ps_seen(finding, PS_NOTE, "%s of the kernel's trace events are on",
                    strcmp(events, "1") == 0 ? "all" : "some");
            ps_spoils(finding, "os, network and storage rows, by what they record");
            ps_mend(finding, "echo 0 | sudo tee %s/events/enable", directories[i]);
        }
        return;
    }
    ps_seen(finding, PS_UNKNOWN, "no trace directory is readable (root sees it)");
}

void ps_check_load_accounting(const struct ps_machine *machine, struct ps_finding *finding) {
    struct ps_load_snapshot snapshot;
    uint64_t interrupt_ticks = 0, ticks = 0;
    int r = ps_load_snapshot(machine->root, 1, &snapshot);
    if (r < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/stat: %s", strerror(-r));
        return;
    }
    for (unsigned i = 0; i < snapshot.n_cpus; i++) {
        const struct ps_cpu_ticks *cpu = &snapshot.cpus[i];
        interrupt_ticks += cpu->irq + cpu->softirq;
        ticks += cpu->user + cpu->system + cpu->idle;
    }
    uint64_t interrupts = snapshot.interrupts;
    ps_load_snapshot_done(&snapshot);
    /* A busy minute of interrupts of which no tick saw one. */
    if (interrupt_ticks == 0 && interrupts > 100000 && ticks > 6000) {
        ps_seen(finding, PS_NOTE, "%llu interrupts, and no time accounted to them",
                (unsigned long long)interrupts);
        ps_spoils(finding, "the irq and softirq parts of CPU loads (0); the loads themselves are "
                           "taken from idle time");
        ps_mend(finding, "perfsheet run --cpu-load soak");
    } else if (interrupt_ticks == 0 && interrupts <= 100000) {
        ps_seen(finding, PS_UNKNOWN, "too few interrupts so far to tell how they are accounted");
    } else {
        ps_seen(finding, PS_GOOD, "interrupts are accounted");
    }
}

void ps_check_entropy(const struct ps_machine *machine, struct ps_finding *finding) {
    int64_t bits;
    if (!ps_look_i64(machine, "/proc/sys/kernel/random/entropy_avail", &bits, finding))
        return;
    /* Since Linux 5.18 it is 256 as soon as the generator is seeded. */
    if (bits >= 128) {
        ps_seen(finding, PS_GOOD, "the random numbers are seeded (%lld bits)", (long long)bits);
        return;
    }
    ps_seen(finding, PS_NOTE, "only %lld bits of entropy: random numbers may be waited for",
            (long long)bits);
    ps_spoils(finding, "crypto rows that make keys, the start of every TLS tool");
    ps_mend(finding, "sudo systemctl start rngd   # or haveged, or move the mouse");
}
