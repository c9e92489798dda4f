/* SPDX-License-Identifier: MIT
 *
 * Memory: is there enough, does it stay in place, which pages and addresses does a process get.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"
#include "sys/root.h"

#define MIB (UINT64_C(1) << 20)
#define CAP_BYTES (256 * MIB)     /* largest working set of rows whose size the machine decides */
#define LEAST_BYTES (64 * MIB)    /* two copies of 16 MB, twice: half of it may be used */
#define ADDR_NO_RANDOMIZE 0x40000 /* personality(2) */

void ps_check_memory(const struct ps_machine *machine, struct ps_finding *finding) {
    uint64_t total, available, cache = 0, beyond;
    int r = ps_memory_read(machine->root, &total, &available);
    if (r < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/meminfo: %s", strerror(-r));
        return;
    }
    for (unsigned i = 0; i < machine->topology.n_clusters; i++)
        if (machine->topology.clusters[i].last_level_bytes > cache)
            cache = machine->topology.clusters[i].last_level_bytes;
    beyond = 4 * cache < CAP_BYTES ? 4 * cache : CAP_BYTES;
    unsigned long long available_mib = available / MIB, total_mib = total / MIB;
    if (available < LEAST_BYTES) {
        ps_seen(finding, PS_BAD, "%llu of %llu MiB of memory are available", available_mib,
                total_mib);
        ps_spoils(finding, "mem rows of the published sizes (skipped), every row near the limit");
        ps_mend(finding, "ps -eo rss,pid,comm --sort=-rss | head   # and end what is not needed");
    } else if (available / 4 < beyond) {
        ps_seen(finding, PS_NOTE,
                "%llu of %llu MiB of memory are available, less than four times a set that is "
                "beyond the caches (%llu MiB)",
                available_mib, total_mib, (unsigned long long)(beyond / MIB));
        ps_spoils(finding, "mem rows beyond the caches: smaller sets, marked cache-resident");
        ps_mend(finding, "ps -eo rss,pid,comm --sort=-rss | head   # and end what is not needed");
    } else {
        ps_seen(finding, PS_GOOD, "%llu of %llu MiB of memory are available", available_mib,
                total_mib);
    }
}

void ps_check_huge_pages(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    char text[64], word[16];
    if (!ps_look_text(machine, path, text, sizeof(text), finding))
        return;
    if (!ps_chosen_word(text, word, sizeof(word))) {
        ps_seen(finding, PS_UNKNOWN, "%s is not understood", path);
    } else if (strcmp(word, "never") == 0) {
        ps_seen(finding, PS_NOTE, "transparent huge pages are switched off");
        ps_spoils(finding, "mem rows on huge pages (unsupported)");
        ps_mend(finding, "echo madvise | sudo tee %s", path);
    } else if (strcmp(word, "always") == 0) {
        ps_seen(finding, PS_NOTE, "every process gets huge pages, asked for or not");
        ps_spoils(finding, "nothing here: rows ask for the pages that they name; other tools' "
                           "memory figures are on huge pages");
        ps_mend(finding, "echo madvise | sudo tee %s", path);
    } else {
        ps_seen(finding, PS_GOOD, "huge pages are given to those who ask (%s)", word);
    }
}

void ps_check_swap(const struct ps_machine *machine, struct ps_finding *finding) {
    char *text;
    size_t length;
    uint64_t total_kib, free_kib;
    int r = ps_read_whole(machine->root, "/proc/meminfo", &text, &length);
    if (r < 0) {
        ps_seen(finding, PS_UNKNOWN, "/proc/meminfo: %s", strerror(-r));
        return;
    }
    bool known = ps_text_key_u64(text, "SwapTotal", &total_kib) &&
                 ps_text_key_u64(text, "SwapFree", &free_kib) && free_kib <= total_kib;
    free(text);
    uint64_t used_kib = known ? total_kib - free_kib : 0;
    if (machine->swapped_pages > 0) {
        ps_seen(finding, PS_BAD, "pages are being swapped: %.0f in the last second",
                machine->swapped_pages);
        ps_spoils(finding, "every row: its memory may be on the disk");
        ps_mend(finding, "sudo swapoff -a   # with enough memory for all that runs");
    } else if (!known) {
        ps_seen(finding, PS_UNKNOWN, "/proc/meminfo does not tell about swap");
    } else if (used_kib >= 1024 && used_kib > total_kib / 20) {
        ps_seen(finding, PS_NOTE, "%llu of %llu MiB of swap are used",
                (unsigned long long)(used_kib / 1024), (unsigned long long)(total_kib / 1024));
        ps_spoils(finding, "memory and file rows, while pages come back");
        ps_mend(finding, "sudo swapoff -a && sudo swapon -a");
    } else {
        ps_seen(finding, PS_GOOD, total_kib ? "swap is not in use" : "there is no swap");
    }
}

void ps_check_layout(const struct ps_machine *machine, struct ps_finding *finding) {
    static const char path[] = "/proc/sys/kernel/randomize_va_space";
    char text[32];
    int64_t level;
    static const char spoiled[] =
        "every row: all runs get one address layout, so their interval misses that scatter";
    if (ps_read_text(machine->root, "/proc/self/personality", text, sizeof(text)) > 0 &&
        strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE) {
        ps_seen(finding, PS_NOTE, "this process has its address layout fixed (setarch -R?)");
        ps_spoils(finding, "%s", spoiled);
        ps_mend(finding, "perfsheet run   # from a shell that was not started by setarch -R");
        return;
    }
    if (!ps_look_i64(machine, path, &level, finding))
        return;
    if (level >= 2) {
        ps_seen(finding, PS_GOOD, "every run gets an address layout of its own");
        return;
    }
    ps_seen(finding, PS_NOTE, "address layouts are %s", level == 1 ? "half fixed" : "fixed");
    ps_spoils(finding, "%s", spoiled);
    ps_mend(finding, "sudo sysctl kernel.randomize_va_space=2");
}
