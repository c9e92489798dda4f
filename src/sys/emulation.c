/* SPDX-License-Identifier: MIT
 *
 * A processor that is another program tells times that say nothing of hardware. A virtual machine
 * on real silicon is not emulated: only what an emulator alone does counts here, so that a QEMU
 * machine with KVM passes. An emulator that poses as one particular core is not found out.
 */
#include "sys/emulation.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "sys/cpuinfo.h"
#include "sys/root.h"

/* Boards of which nobody has the silicon any more, or ever had: QEMU's own. */
static const char *const emulated_boards[] = {"arm,versatilepb", "riscv-virtio,qemu"};

static const char *by_the_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    /* Leaf 1, bit 31: there is a hypervisor. Its signature is "TCGTCGTCGTCG" of QEMU's emulator. */
    if (__get_cpuid(1, &a, &b, &c, &d) && (c >> 31)) {
        __cpuid(0x40000000, a, b, c, d);
        if (b == 0x54474354 && c == 0x43544743 && d == 0x47435447)
            return "qemu TCG";
    }
#else
    char vendor[64];
    /* A foreign program sees the /proc of an x86 kernel. */
    if (ps_cpuinfo_value("", "vendor_id", vendor, sizeof(vendor)) &&
        (strcmp(vendor, "GenuineIntel") == 0 || strcmp(vendor, "AuthenticAMD") == 0))
        return "qemu-user";
#endif
    return NULL;
}

const char *ps_emulated_by(const char *root) {
    char text[PATH_MAX], path[PATH_MAX];
    /* qemu-user answers for /proc/self/exe itself, but not for the thread's. */
    snprintf(path, sizeof(path), "%s/proc/thread-self/exe", root);
    ssize_t length = readlink(path, text, sizeof(text) - 1);
    if (length > 0) {
        text[length] = 0;
        const char *base = strrchr(text, '/');
        if (strncmp(base ? base + 1 : text, "qemu-", 5) == 0)
            return "qemu-user";
    }
    /* QEMU's "max" processor has no implementer's code; no silicon and no KVM guest has 0. */
    if (ps_cpuinfo_value(root, "CPU implementer", text, sizeof(text)) && strcmp(text, "0x00") == 0)
        return "qemu TCG";
    int n = ps_read_text(root, "/proc/device-tree/compatible", text, sizeof(text));
    for (const char *word = text; n > 0 && word < text + n; word += strlen(word) + 1)
        for (size_t i = 0; i < sizeof(emulated_boards) / sizeof(emulated_boards[0]); i++)
            if (strcmp(word, emulated_boards[i]) == 0)
                return "qemu TCG";
    return *root ? NULL : by_the_processor();
}
