/* SPDX-License-Identifier: MIT
 *
 * The Linux port: memory of each page kind, teams on their CPUs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/port_linux.h"
#include "sys/affinity.h"
#include "sys/root.h"

static struct ps_port port;

static int set_up(void **state) {
    (void)state;
    return ps_port_linux_init(&port, true, 0, 0);
}

static void test_init(void **state) {
    struct ps_port other;
    (void)state;
    assert_true(port.resolution_ns >= 1);
    assert_non_null(port.probe_mhz);
    uint64_t before_ns = port.now_ns(port.self);
    assert_true(port.now_ns(port.self) >= before_ns);
    assert_true(port.now_event_ns(port.self) > 0);
    uint64_t switches = port.switches(port.self);
    port.relax(port.self);
    assert_true(port.switches(port.self) >= switches);
    assert_int_equal(ps_port_linux_init(&other, false, 40, 0), 0);
    assert_null(other.probe_mhz);
    assert_int_equal(other.resolution_ns, 40);
}

static size_t resident_pages(void *memory, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page, count = 0;
    unsigned char *vector = malloc(n);
    assert_int_equal(mincore(memory, bytes, vector), 0);
    for (size_t i = 0; i < n; i++) {
        count += vector[i] & 1;
    }
    free(vector);
    return count;
}

static void test_map(void **state) {
    static const uint64_t alignments[] = {0, 64, 4096, 1 << 16, 1 << 21};
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 100 * page + 5;
    (void)state;
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        struct ps_memory request = {.alignment_bytes = alignments[i], .pages = PS_PAGES_BASE};
        unsigned char *memory;
        assert_int_equal(port.map(port.self, &request, bytes, (void **)&memory), 0);
        assert_int_equal((uintptr_t)memory % page, 0);
        assert_true(alignments[i] == 0 || (uintptr_t)memory % alignments[i] == 0);
        assert_int_equal(resident_pages(memory, bytes), 101);
        for (size_t at = 0; at < bytes; at++) {
            assert_int_equal(memory[at], 0);
        }
        memset(memory, 0xff, bytes);
        port.unmap(port.self, memory, bytes);
        assert_int_equal(msync(memory, page, MS_ASYNC), -1); /* no longer there */
        assert_int_equal(errno, ENOMEM);
    }
    struct ps_memory request = {.untouched = true};
    void *memory;
    assert_int_equal(port.map(port.self, &request, bytes, &memory), 0);
    assert_int_equal(resident_pages(memory, bytes), 0);
    port.unmap(port.self, memory, bytes);
    assert_int_equal(port.map(port.self, &request, UINT64_MAX - 5, &memory), -ENOMEM);
    assert_int_equal(port.map(port.self, &request, (uint64_t)SIZE_MAX / 8, &memory), -ENOMEM);
    port.unmap(port.self, NULL, 0);
}

/* AnonHugePages of the mapping that the address is in, in bytes. */
static uint64_t huge_bytes_at(void *address) {
    char *text;
    size_t length;
    uint64_t kib = 0;
    assert_int_equal(ps_read_whole("", "/proc/self/smaps", &text, &length), 0);
    for (char *line = text; line != NULL; line = strchr(line + 1, '\n')) {
        char *end;
        line += *line == '\n';
        unsigned long from = strtoul(line, &end, 16);
        if (end != line && *end == '-' && from <= (unsigned long)address &&
            strtoul(end + 1, NULL, 16) > (unsigned long)address) {
            assert_true(ps_text_key_u64(line, "AnonHugePages", &kib));
            break;
        }
    }
    free(text);
    return kib * 1024;
}

static void test_huge(void **state) {
    struct ps_memory request = {.pages = PS_PAGES_HUGE};
    enum { BYTES = (8 << 20) + 65536 };
    char *memory;
    (void)state;
    int r = port.map(port.self, &request, BYTES, (void **)&memory);
    if (r == -EOPNOTSUPP) {
        skip(); /* this kernel has none, or none to give */
    }
    assert_int_equal(r, 0);
    assert_int_equal((uintptr_t)memory % (1 << 20), 0);
    assert_true(huge_bytes_at(memory) >= 7 << 20);
    memset(memory, 1, BYTES);
    port.unmap(port.self, memory, BYTES);
    request.pages = PS_PAGES_BASE;
    assert_int_equal(port.map(port.self, &request, BYTES, (void **)&memory), 0);
    assert_int_equal(huge_bytes_at(memory), 0);
    port.unmap(port.self, memory, BYTES);
}

/* ---- Teams ---------------------------------------------------------------------------------- */

struct roll_call {
    atomic_uint arrived;
    unsigned n;
    bool on_its_cpu[8];
    const int *cpus;
    pid_t caller;
};

/* All must be there at once: the barrier that the core's teams have. */
static void report(void *argument, unsigned i) {
    struct roll_call *roll = argument;
    struct ps_cpu_set set;
    roll->on_its_cpu[i] = ps_affinity_get(&set) == 0 && ps_cpu_set_count(&set) == 1 &&
                          ps_cpu_set_has(&set, (unsigned)roll->cpus[i]);
    if (i == 0) {
        roll->caller = gettid();
    }
    atomic_fetch_add(&roll->arrived, 1);
    while (atomic_load(&roll->arrived) < roll->n) {
        port.relax(port.self);
    }
}

static void test_team(void **state) {
    struct ps_cpu_set allowed;
    int cpus[4];
    (void)state;
    assert_int_equal(ps_affinity_get(&allowed), 0);
    for (int i = 0, cpu = -1; i < 4; i++) { /* more members than CPUs: they share */
        cpu = ps_cpu_set_next(&allowed, (unsigned)(cpu + 1));
        cpu = cpu < 0 ? ps_cpu_set_next(&allowed, 0) : cpu;
        cpus[i] = cpu;
    }
    for (unsigned n = 1; n <= 4; n++) {
        struct roll_call roll = {.n = n, .cpus = cpus};
        assert_int_equal(port.team(port.self, n, cpus, report, &roll), 0);
        assert_int_equal(roll.arrived, n);
        assert_int_equal(roll.caller, gettid());
        for (unsigned i = 0; i < n; i++) {
            assert_true(roll.on_its_cpu[i]);
        }
    }
    /* One has no place: nobody works, nobody hangs. */
    struct roll_call roll = {.n = 4, .cpus = cpus};
    cpus[2] = PS_CPU_MAX - 1;
    assert_int_equal(port.team(port.self, 4, cpus, report, &roll), -EINVAL);
    assert_int_equal(roll.arrived, 0);
    cpus[0] = PS_CPU_MAX - 1;
    assert_int_equal(port.team(port.self, 2, cpus, report, &roll), -EINVAL);
    assert_int_equal(port.team(port.self, 0, cpus, report, &roll), -EINVAL);
    assert_int_equal(roll.arrived, 0);
    ps_pin_to_set(&allowed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_init), cmocka_unit_test(test_map),
                                       cmocka_unit_test(test_huge), cmocka_unit_test(test_team)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
