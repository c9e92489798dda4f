/* SPDX-License-Identifier: MIT
 *
 * Linux under the core: clocks, clock probe, memory of a given page kind, and threads pinned to
 * given CPUs. It has no state of its own: what unmap must know lies in front of the memory.
 */
#include "port/port_linux.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/affinity.h"
#include "sys/clock_speed.h"
#include "sys/root.h"
#include "sys/witness.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Page sizes up to this are rounded up to, so that all of a small arena is on huge pages. With 64
 * KiB base pages they are 512 MiB, and only memory that is as large gets any. */
#define HUGE_BYTES_ROUNDED_MAX (UINT64_C(32) << 20)
/* Of the part that can be on huge pages. The rest may be a page that could not be had. */
#define HUGE_SHARE_MIN 0.9

/* Turns of the barrier between two offers of the CPU to others. */
#define SPINS 64
#define TEAM_STACK_BYTES ((size_t)1 << 20)

/* In the page before the memory. */
struct mapping {
    void *start;
    size_t length_bytes;
};

static uint64_t now(void *self) {
    (void)self;
    return ps_now_raw_ns();
}

static uint64_t now_event(void *self) {
    (void)self;
    return ps_now_ns();
}

static double probe(void *self) {
    (void)self;
    return ps_clock_probe_mhz();
}

static double probe_issue(void *self) {
    (void)self;
    return ps_issue_probe_per_us();
}

static uint64_t switches(void *self) {
    struct rusage usage;
    (void)self;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

static void relax(void *self) {
    static _Thread_local unsigned spins;
    (void)self;
    if (++spins % SPINS == 0) {
        sched_yield();
    }
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
    __asm__ volatile("yield");
#endif
}

/* ---- Memory --------------------------------------------------------------------------------- */

static uint64_t huge_page_bytes(void) {
    int64_t bytes;
    int r = ps_read_i64("", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes);
    return r < 0 || bytes <= 0 || (bytes & (bytes - 1)) != 0 ? 0 : (uint64_t)bytes;
}

/* Bytes on huge pages in all mappings that touch the memory. Such a mapping is ours alone: it has a
 * page of ours before it, and its neighbours are not marked for huge pages. */
static uint64_t granted_huge_bytes(const void *memory, uint64_t bytes) {
    uintptr_t first = (uintptr_t)memory, end = first + (uintptr_t)bytes;
    uint64_t sum_bytes = 0, kib;
    bool inside = false;
    char *text, *next;
    size_t length;
    if (ps_read_whole("", "/proc/self/smaps", &text, &length) < 0) {
        return 0;
    }
    for (char *line = text; line != NULL; line = next) {
        char *dash;
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        uint64_t from = strtoull(line, &dash, 16); /* "7f00-7f10 rw-p ..." */
        if (dash != line && *dash == '-') {
            uint64_t to = strtoull(dash + 1, NULL, 16);
            inside = from < end && to > first;
        } else if (inside && ps_text_key_u64(line, "AnonHugePages", &kib)) {
            sum_bytes += kib * 1024;
        }
    }
    free(text);
    return sum_bytes;
}

static bool is_on_huge_pages(void *memory, uint64_t bytes, uint64_t huge_bytes) {
    uint64_t whole_bytes = bytes - bytes % huge_bytes;
    double wanted_bytes = HUGE_SHARE_MIN * (double)whole_bytes;
    if ((double)granted_huge_bytes(memory, bytes) >= wanted_bytes) {
        return true;
    }
    /* Free memory was in pieces: the kernel may move others together. */
    return madvise(memory, (size_t)bytes, MADV_COLLAPSE) == 0 &&
           (double)granted_huge_bytes(memory, bytes) >= wanted_bytes;
}

static void prefault(void *memory, size_t bytes, size_t page_bytes) {
    for (size_t at = 0; at < bytes; at += page_bytes) {
        ((volatile char *)memory)[at] = 0;
    }
}

static int map(void *self, const struct ps_memory *request, uint64_t bytes, void **ret_memory) {
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), alignment = request->alignment_bytes;
    uint64_t huge_bytes = request->pages == PS_PAGES_HUGE ? huge_page_bytes() : 0;
    uint64_t length = bytes == 0 ? page_bytes : bytes, granule = page_bytes;
    (void)self;
    if (request->pages == PS_PAGES_HUGE) {
        if (huge_bytes == 0 || (huge_bytes > HUGE_BYTES_ROUNDED_MAX && huge_bytes > length)) {
            return -EOPNOTSUPP;
        }
        alignment = alignment < huge_bytes ? huge_bytes : alignment;
        granule = huge_bytes <= HUGE_BYTES_ROUNDED_MAX ? huge_bytes : page_bytes;
    }
    alignment = alignment < page_bytes ? page_bytes : alignment;
    if (length > SIZE_MAX / 4 || alignment > SIZE_MAX / 4) {
        return -ENOMEM;
    }
    length = (length + granule - 1) / granule * granule;

    /* A page for the note, and room to move to the alignment. */
    size_t total = (size_t)(length + alignment + page_bytes);
    char *start = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return -ENOMEM;
    }
    uintptr_t aligned = ((uintptr_t)start + (size_t)page_bytes + (size_t)alignment - 1) /
                        (size_t)alignment * (size_t)alignment;
    char *memory = start + (aligned - (uintptr_t)start);
    struct mapping *note = (void *)(memory - page_bytes);
    int r = 0;
    if (huge_bytes > 0) {
        r = madvise(memory, (size_t)length, MADV_HUGEPAGE) < 0 ? -EOPNOTSUPP : 0;
    } else if (request->pages == PS_PAGES_BASE) {
        madvise(memory, (size_t)length, MADV_NOHUGEPAGE); /* a kernel that has none refuses: fine */
    }
    if (r == 0 && !request->untouched) {
        prefault(memory, (size_t)length, (size_t)page_bytes);
        if (huge_bytes > 0 && !is_on_huge_pages(memory, length, huge_bytes)) {
            r = -EOPNOTSUPP;
        }
    }
    if (r < 0) {
        munmap(start, total);
        return r;
    }
    note->start = start;
    note->length_bytes = total;
    *ret_memory = memory;
    return 0;
}

static void unmap(void *self, void *memory, uint64_t bytes) {
    (void)self;
    (void)bytes;
    if (memory != NULL) {
        struct mapping note =
            *(struct mapping *)(void *)((char *)memory - (size_t)sysconf(_SC_PAGESIZE));
        munmap(note.start, note.length_bytes);
    }
}

/* ---- Teams ---------------------------------------------------------------------------------- */

struct team {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_placed; /* threads that tried to get to their CPU */
    int error;         /* the first that did not: nobody works then */
    bool decided;
    void (*function)(void *argument, unsigned i);
    void *argument;
};

struct member {
    struct team *team;
    pthread_t thread;
    unsigned i;
    int cpu;
};

static void *member_main(void *argument) {
    struct member *self = argument;
    struct team *team = self->team;
    int r = self->cpu < 0 ? 0 : ps_pin_to_cpu((unsigned)self->cpu);
    pthread_mutex_lock(&team->lock);
    team->n_placed++;
    if (r < 0 && team->error == 0) {
        team->error = r;
    }
    pthread_cond_broadcast(&team->changed);
    while (!team->decided) {
        pthread_cond_wait(&team->changed, &team->lock);
    }
    r = team->error;
    pthread_mutex_unlock(&team->lock);
    if (r == 0) {
        team->function(team->argument, self->i);
        ps_witness_thread_done();
    }
    return NULL;
}

/* Creates members 1 to n - 1. How many there are then; a failure is in team->error. */
static unsigned start_members(struct team *team, struct member *members, unsigned n,
                              const int *cpus) {
    pthread_attr_t attributes;
    unsigned started = 1;
    int r = pthread_attr_init(&attributes);
    if (r != 0) {
        team->error = -r;
        return started;
    }
    pthread_attr_setstacksize(&attributes, TEAM_STACK_BYTES); /* musl's own is small */
    for (unsigned i = 1; i < n && r == 0; i++) {
        members[i] = (struct member){.team = team, .i = i, .cpu = cpus == NULL ? -1 : cpus[i]};
        r = pthread_create(&members[i].thread, &attributes, member_main, &members[i]);
        started += r == 0;
    }
    pthread_attr_destroy(&attributes);
    if (r != 0) {
        pthread_mutex_lock(&team->lock);
        team->error = -r;
        pthread_mutex_unlock(&team->lock);
    }
    return started;
}

static int run_team(void *self, unsigned n, const int *cpus,
                    void (*function)(void *argument, unsigned i), void *argument) {
    struct team team = {.function = function, .argument = argument};
    (void)self;
    if (n == 0) {
        return -EINVAL;
    }
    struct member *members = calloc(n, sizeof *members);
    if (members == NULL) {
        return -ENOMEM;
    }
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.changed, NULL);
    int r = cpus == NULL || cpus[0] < 0 ? 0 : ps_pin_to_cpu((unsigned)cpus[0]);
    unsigned started = 1;
    if (r == 0) {
        started = start_members(&team, members, n, cpus);
    }
    /* Nobody starts to work before all are in their places: the function may have a barrier. */
    pthread_mutex_lock(&team.lock);
    while (team.n_placed < started - 1) {
        pthread_cond_wait(&team.changed, &team.lock);
    }
    r = r < 0 ? r : team.error;
    team.decided = true;
    pthread_cond_broadcast(&team.changed);
    pthread_mutex_unlock(&team.lock);
    if (r == 0) {
        function(argument, 0);
    }
    for (unsigned i = 1; i < started; i++) {
        pthread_join(members[i].thread, NULL);
    }
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
    free(members);
    return r;
}

int ps_port_linux_init(struct ps_port *ret_port, bool clock_trusted, uint64_t resolution_ns,
                       double full_issue) {
    /* Cost of a read: the least of a few, which is all that a short-lived process should spend. */
    uint64_t read_ns = UINT64_MAX;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t start_ns = ps_now_raw_ns(), end_ns = start_ns;
        for (unsigned j = 0; j < 8; j++) {
            end_ns = ps_now_raw_ns();
        }
        read_ns = (end_ns - start_ns) / 8 < read_ns ? (end_ns - start_ns) / 8 : read_ns;
    }
    if (resolution_ns == 0) {
        resolution_ns = ps_clock_step_ns();
    }
    *ret_port = (struct ps_port){.now_ns = now,
                                 .now_event_ns = now_event,
                                 .resolution_ns = resolution_ns > 0 ? resolution_ns : 1,
                                 .read_ns = read_ns,
                                 .probe_mhz = clock_trusted ? probe : NULL,
                                 .probe_issue = clock_trusted ? probe_issue : NULL,
                                 .full_issue = full_issue,
                                 .switches = switches,
                                 .map = map,
                                 .map_zeroes = true,
                                 .unmap = unmap,
                                 .team = run_team,
                                 .relax = relax};
    return 0;
}
