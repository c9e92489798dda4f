/* SPDX-License-Identifier: MIT
 *
 * Does the board file speak of this machine? Clusters, clocks, directories, interfaces, sensors and
 * consoles that it names are looked for; what only a person can know (wires, endpoints, commands)
 * is not judged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/finding.h"
#include "sys/root.h"

#define CLOCK_DIFFERS 0.03
#define SPOILS_SECTION "the rows that want it (unsupported, or of something else)"

struct teller {
    void (*say)(void *, const char *, const struct ps_finding *);
    void *context;
    unsigned n_wrong, n_sections;
};

static void wrong(struct teller *teller, const struct ps_finding *finding) {
    teller->say(teller->context, "board-file", finding);
    teller->n_wrong++;
}

static void look_at_clusters(const struct ps_machine *machine, struct teller *teller) {
    const char *name;
    for (size_t i = 0; (name = ps_boardfile_section(machine->board, "cluster", i)); i++) {
        struct ps_finding finding = {0};
        char section[48];
        unsigned long id = strtoul(name, NULL, 10);
        unsigned at = 0;
        while (at < machine->topology.n_clusters && machine->topology.clusters[at].id != id)
            at++;
        teller->n_sections++;
        if (at == machine->topology.n_clusters) {
            ps_seen(&finding, PS_BAD, "[cluster %.20s]: this machine has the clusters 0 to %u",
                    name, machine->topology.n_clusters - 1);
            ps_spoils(&finding, "core rows: their reference clock is not the one that was meant");
            ps_mend(&finding,
                    "perfsheet run --dry-run --board-file FILE   # after taking the section out");
            wrong(teller, &finding);
            continue;
        }
        snprintf(section, sizeof(section), "cluster %.20s", name);
        const char *text = ps_boardfile_value(machine->board, section, "reference_mhz");
        double stated = text ? strtod(text, NULL) : 0, measured = machine->measured_mhz[at];
        if (stated > 0 && measured > 0 && fabs(measured / stated - 1) > CLOCK_DIFFERS) {
            ps_seen(&finding, PS_BAD,
                    "[%s]: reference_mhz is %.0f, measured are %.0f MHz (%+.0f "
                    "%%)",
                    section, stated, measured, 100 * (measured / stated - 1));
            ps_spoils(&finding, "core rows: published as if the clock were %.0f MHz", stated);
            ps_mend(&finding, "reference_mhz = %.0f   # in [%s], unless the clock is held down",
                    measured, section);
            wrong(teller, &finding);
        }
    }
}

enum kind { A_DIRECTORY, A_DEVICE, AN_INTERFACE };

/* Each section of the kind: the value of `key` names something that is there. */
static void look_for(const struct ps_machine *machine, struct teller *teller, const char *kind,
                     const char *key, enum kind wanted) {
    static const char *const words[] = {"directory", "file", "network interface"};
    const char *name;
    for (size_t i = 0; (name = ps_boardfile_section(machine->board, kind, i)); i++) {
        char section[96], path[PS_PATH_BYTES], full[PS_PATH_BYTES];
        struct stat status;
        snprintf(section, sizeof(section), "%s%s%.64s", kind, *name ? " " : "", name);
        const char *value = ps_boardfile_value(machine->board, section, key);
        teller->n_sections++;
        if (!value)
            continue;
        int length = snprintf(path, sizeof(path), "%s%s",
                              wanted == AN_INTERFACE ? "/sys/class/net/" : "", value);
        bool there = length > 0 && (size_t)length < sizeof(path) &&
                     ps_root_path(machine->root, path, full, sizeof(full)) == 0 &&
                     stat(full, &status) == 0 && (wanted != A_DIRECTORY || S_ISDIR(status.st_mode));
        if (there || (wanted == A_DEVICE && value[0] != '/')) /* a name that means something else */
            continue;
        struct ps_finding finding = {0};
        ps_seen(&finding, PS_BAD, "[%s]: %s = %.80s, but there is no such %s here", section, key,
                value, words[wanted]);
        ps_spoils(&finding, SPOILS_SECTION);
        ps_mend(&finding, wanted == AN_INTERFACE ? "ls /sys/class/net   # for the right name"
                          : wanted == A_DIRECTORY
                              ? "mount | grep '^/dev'   # and mount it there, or name another"
                              : "ls /dev /sys/class/hwmon/*   # for the right path");
        wrong(teller, &finding);
    }
}

unsigned ps_examine_board(const struct ps_machine *machine,
                          void (*say)(void *context, const char *name,
                                      const struct ps_finding *finding),
                          void *context) {
    struct teller teller = {say, context, 0, 0};
    struct ps_finding finding = {0};
    if (!machine->board)
        return 0;
    look_at_clusters(machine, &teller);
    look_for(machine, &teller, "target", "path", A_DIRECTORY);
    look_for(machine, &teller, "link", "interface", AN_INTERFACE);
    look_for(machine, &teller, "rail", "sensor", A_DEVICE);
    look_for(machine, &teller, "console", "device", A_DEVICE);
    if (teller.n_wrong == 0) {
        ps_seen(&finding, PS_GOOD, "what the board file names is here (%u section%s looked for)",
                teller.n_sections, teller.n_sections == 1 ? "" : "s");
        say(context, "board-file", &finding);
    }
    return teller.n_wrong;
}
