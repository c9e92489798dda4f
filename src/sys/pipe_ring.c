/* SPDX-License-Identifier: MIT
 *
 * A ring of pinned processes joined by pipes. Each process holds its own two pipe ends and no
 * other, so that the death of one, for whatever reason, breaks the pipes of its neighbours and ends
 * them all.
 */
#include "sys/pipe_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/keep.h"

#define STOP_TIMEOUT_MS 1000

/* A token counts the processes that passed it on; with this bit it asks them for a report instead.
 */
#define TOKEN_REPORT 0x80000000u

/* Volatile, so that every word is loaded, one at a time, whatever the compiler can do. */
__attribute__((always_inline)) static inline uint64_t sum_words(const uint64_t *array, size_t n) {
    const volatile uint64_t *words = array;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i += 8) {
        sum += words[i];
        sum += words[i + 1];
        sum += words[i + 2];
        sum += words[i + 3];
        sum += words[i + 4];
        sum += words[i + 5];
        sum += words[i + 6];
        sum += words[i + 7];
    }
    return sum;
}

/* What a read or write of a token that did not move 4 bytes means: the other end died, or errno. */
__attribute__((always_inline)) static inline int token_error(ssize_t moved) {
    return moved < 0 ? -errno : moved == 0 ? -EPIPE : -EIO;
}

static void fill_report(const struct ps_pipe_ring_member *self) {
    struct ps_pipe_ring_report *report = &self->ring->reports[self->index];
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        memset(&usage, 0, sizeof(usage));
    report->voluntary = (uint64_t)usage.ru_nvcsw;
    report->involuntary = (uint64_t)usage.ru_nivcsw;
    report->cpu = sched_getcpu();
}

/* n rounds, seen from process 0. */
__attribute__((noinline)) static int loop_ring(const struct ps_pipe_ring_member *self,
                                               uint32_t token_back, size_t words, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint32_t token = 0;
        ssize_t moved = write(self->out, &token, sizeof(token));
        if (moved != (ssize_t)sizeof(token))
            return token_error(moved);
        moved = read(self->in, &token, sizeof(token));
        if (moved != (ssize_t)sizeof(token))
            return token_error(moved);
        if (token != token_back || sum_words(self->array, words) != self->sum)
            return -EBADMSG;
    }
    return 0;
}

/* n tokens through the pipe `ends` without leaving this process. */
__attribute__((noinline)) static int loop_alone(const struct ps_pipe_ring_member *self,
                                                const int ends[2], size_t words, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint32_t token = 0;
        ssize_t moved = write(ends[1], &token, sizeof(token));
        if (moved != (ssize_t)sizeof(token))
            return token_error(moved);
        moved = read(ends[0], &token, sizeof(token));
        if (moved != (ssize_t)sizeof(token))
            return token_error(moved);
        if (token != 0 || sum_words(self->array, words) != self->sum)
            return -EBADMSG;
    }
    return 0;
}

/* The other processes' part, until the pipe ends. */
__attribute__((noinline)) static int loop_member(const struct ps_pipe_ring_member *self,
                                                 size_t words) {
    for (;;) {
        uint32_t token;
        ssize_t moved = read(self->in, &token, sizeof(token));
        if (moved == 0)
            return 0; /* the end of the run */
        if (moved != (ssize_t)sizeof(token))
            return -token_error(moved);
        if ((token & TOKEN_REPORT) != 0)
            fill_report(self);
        else if (sum_words(self->array, words) != self->sum)
            return EBADMSG;
        token++;
        moved = write(self->out, &token, sizeof(token));
        if (moved != (ssize_t)sizeof(token))
            return -token_error(moved);
    }
}

static void close_end(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Every process holds its own two ends and no other, so that the death of one ends all. */
static void keep_own_ends(struct ps_pipe_ring *ring, unsigned index) {
    unsigned next = (index + 1) % ring->processes;
    for (unsigned i = 0; i < ring->processes; i++) {
        if (i != index)
            close_end(&ring->pipes[i][0]);
        if (i != next)
            close_end(&ring->pipes[i][1]);
    }
    ring->members[index].in = ring->pipes[index][0];
    ring->members[index].out = ring->pipes[next][1];
}

static uint64_t fill_array(uint64_t *array, size_t words, uint64_t seed) {
    uint64_t sum = 0, value = seed | 1;
    for (size_t i = 0; i < words; i++) {
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        array[i] = value;
        sum += value;
    }
    return sum;
}

/* A partner's whole life. Its array is mapped here: private pages that it touched first. */
static int member_main(void *argument) {
    struct ps_pipe_ring_member *self = argument;
    struct ps_pipe_ring *ring = self->ring;
    keep_own_ends(ring, self->index);
    close_end(&ring->pipes[ring->processes][0]);
    close_end(&ring->pipes[ring->processes][1]);
    if (ring->words > 0) {
        void *array = mmap(NULL, ring->words * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (array == MAP_FAILED)
            return ENOMEM;
        self->sum = fill_array(array, ring->words, self->index);
        self->array = array;
        PS_LAUNDER(self->array);
    }
    return loop_member(self, ring->words);
}

static int make_pipes(struct ps_pipe_ring *ring) {
    for (unsigned i = 0; i <= ring->processes; i++)
        if (pipe2(ring->pipes[i], O_CLOEXEC) != 0)
            return -errno;
    return 0;
}

static int start_members(struct ps_pipe_ring *ring) {
    for (unsigned i = 1; i < ring->processes; i++) {
        int r = ps_partner_start(&ring->partners[i], ring->members[i].cpu, member_main,
                                 &ring->members[i]);
        if (r < 0)
            return r;
    }
    keep_own_ends(ring, 0);
    return 0;
}

int ps_pipe_ring_start(struct ps_pipe_ring *ring, unsigned processes, const int *cpus,
                       uint64_t *array, size_t words, uint64_t seed) {
    if (processes < 2 || processes > PS_PIPE_RING_MAX || words % 8 != 0)
        return -EINVAL;
    memset(ring, 0, sizeof(*ring));
    memset(ring->pipes, -1, sizeof(ring->pipes));
    ring->processes = processes;
    ring->words = words;
    for (unsigned i = 0; i < processes; i++)
        ring->members[i] = (struct ps_pipe_ring_member){.ring = ring, .index = i, .cpu = cpus[i]};
    ring->members[0].sum = fill_array(array, words, seed);
    ring->members[0].array = array;
    PS_LAUNDER(ring->members[0].array);

    void *reports = mmap(NULL, sizeof(ring->reports[0]) * PS_PIPE_RING_MAX, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED)
        return -errno;
    ring->reports = reports;
    int r = 0;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGPIPE, &ignore, &ring->pipe_before) != 0) {
        r = -errno;
        goto out;
    }
    ring->pipe_ignored = true;
    r = make_pipes(ring);
    if (r == 0)
        r = start_members(ring);
out:
    if (r < 0)
        ps_pipe_ring_stop(ring);
    return r;
}

void ps_pipe_ring_stop(struct ps_pipe_ring *ring) {
    for (unsigned i = 0; i <= ring->processes; i++) {
        close_end(&ring->pipes[i][0]);
        close_end(&ring->pipes[i][1]);
    }
    for (unsigned i = 1; i < ring->processes; i++)
        (void)ps_partner_stop(&ring->partners[i], STOP_TIMEOUT_MS);
    if (ring->pipe_ignored)
        sigaction(SIGPIPE, &ring->pipe_before, NULL);
    if (ring->reports != NULL)
        munmap(ring->reports, sizeof(ring->reports[0]) * PS_PIPE_RING_MAX);
    memset(ring, 0, sizeof(*ring));
}

int ps_pipe_ring_rounds(struct ps_pipe_ring *ring, uint64_t n) {
    return loop_ring(&ring->members[0], ring->processes - 1, ring->words, n);
}

int ps_pipe_ring_alone(struct ps_pipe_ring *ring, uint64_t n) {
    return loop_alone(&ring->members[0], ring->pipes[ring->processes], ring->words, n);
}

int ps_pipe_ring_collect(struct ps_pipe_ring *ring) {
    struct ps_pipe_ring_member *self = &ring->members[0];
    uint32_t token = TOKEN_REPORT;
    ssize_t moved = write(self->out, &token, sizeof(token));
    if (moved == (ssize_t)sizeof(token))
        moved = read(self->in, &token, sizeof(token));
    if (moved != (ssize_t)sizeof(token))
        return token_error(moved);
    fill_report(self);
    return token == TOKEN_REPORT + ring->processes - 1 ? 0 : -EBADMSG;
}
