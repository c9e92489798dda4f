/* SPDX-License-Identifier: MIT
 *
 * /dev/mem opened with O_SYNC maps what is not memory as device or uncached memory. The kernel lets
 * root have it where CONFIG_DEVMEM is set, and of busy ranges only without CONFIG_IO_STRICT_DEVMEM.
 */
#include "sys/physical_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/root.h"

/* ---- Whose addresses they are ---------------------------------------------------------------- */

enum owner { OWNER_KERNEL, OWNER_OTHER, OWNER_UNKNOWN };

/* "  00001000-0009fbff : System RAM": indented where it is a part of another. To others than root
 * all addresses are 0. */
static bool is_memory(const char *line, uint64_t *ret_from, uint64_t *ret_to) {
    static const char name[] = " : System RAM";
    char *end = NULL;
    *ret_from = strtoull(line, &end, 16);
    if (*end != '-')
        return false;
    *ret_to = strtoull(end + 1, &end, 16);
    return *ret_to > 0 && strncmp(end, name, strlen(name)) == 0;
}

static enum owner owner_of(const char *root, uint64_t first, uint64_t last) {
    char *text = NULL;
    size_t length = 0;
    enum owner owner = OWNER_UNKNOWN;
    if (ps_read_whole(root, "/proc/iomem", &text, &length) < 0)
        return OWNER_UNKNOWN;
    for (const char *line = text; line != NULL && owner != OWNER_KERNEL;) {
        uint64_t from, to;
        if (is_memory(line, &from, &to))
            owner = from <= last && to >= first ? OWNER_KERNEL : OWNER_OTHER;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    free(text);
    return owner;
}

/* ---- Whether they answer --------------------------------------------------------------------- */

static sigjmp_buf no_answer;

static void on_fault(int signal) {
    (void)signal;
    siglongjmp(no_answer, 1);
}

static bool answers(const uint32_t *words, size_t n) {
    struct sigaction action = {.sa_handler = on_fault}, before_bus, before_segv;
    volatile bool right = false;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &before_bus) < 0)
        return false;
    if (sigaction(SIGSEGV, &action, &before_segv) == 0) {
        if (sigsetjmp(no_answer, 1) == 0) {
            for (size_t i = 0; i < n; i++)
                (void)((const volatile uint32_t *)words)[i];
            right = true;
        }
        sigaction(SIGSEGV, &before_segv, NULL);
    }
    sigaction(SIGBUS, &before_bus, NULL);
    return right;
}

/* ---- The map --------------------------------------------------------------------------------- */

static enum ps_status why_not_opened(int error, const char **ret_why) {
    if (error == EACCES || error == EPERM) {
        *ret_why = "needs to open /dev/mem: run as root";
        return PS_DENIED;
    }
    *ret_why = "there is no /dev/mem: it needs a kernel with CONFIG_DEVMEM";
    return PS_UNSUPPORTED;
}

static enum ps_status map_words(int fd, uint64_t base, size_t bytes,
                                struct ps_physical_memory *memory, int *ret_error,
                                const char **ret_why) {
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = base - base % page_bytes;
    size_t before = (size_t)(base - start);
    size_t length = (size_t)((before + bytes + page_bytes - 1) / page_bytes * page_bytes);
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)start);
    if (map == MAP_FAILED) {
        *ret_error = errno;
        *ret_why = "the kernel does not map this range: CONFIG_STRICT_DEVMEM, "
                   "CONFIG_IO_STRICT_DEVMEM or lockdown keeps it, or it is beyond its addresses";
        return *ret_error == EPERM || *ret_error == EACCES ? PS_DENIED : PS_UNSUPPORTED;
    }
    memory->map = map;
    memory->map_bytes = length;
    memory->words = (const void *)((const char *)map + before);
    if (answers(memory->words, bytes / sizeof(uint32_t)))
        return PS_OK;
    ps_physical_unmap(memory);
    *ret_why = "the range does not answer: it is behind a firewall, or without clock or power";
    return PS_UNSUPPORTED;
}

enum ps_status ps_physical_map(const char *root, uint64_t base, uint64_t bytes,
                               struct ps_physical_memory *ret_memory, int *ret_error,
                               const char **ret_why) {
    char path[PS_PATH_BYTES];
    *ret_memory = (struct ps_physical_memory){0};
    *ret_error = 0;
    *ret_why = NULL;
    if (bytes < sizeof(uint32_t) || base % sizeof(uint32_t) != 0 || bytes % sizeof(uint32_t) != 0 ||
        bytes > SIZE_MAX / 4 || base > (uint64_t)INT64_MAX - bytes ||
        ps_root_path(root, "/dev/mem", path, sizeof(path))) {
        *ret_why = "base and length must be multiples of 4, and below 2^63";
        return PS_UNSUPPORTED;
    }
    int fd;
    do
        fd = open(path, O_RDONLY | O_SYNC | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        *ret_error = errno;
        return why_not_opened(*ret_error, ret_why);
    }
    enum ps_status status = PS_UNSAFE;
    switch (owner_of(root, base, base + bytes - 1)) {
    case OWNER_KERNEL:
        *ret_why = "the range is the kernel's memory, which must not be mapped without caches";
        break;
    case OWNER_UNKNOWN:
        *ret_why = "/proc/iomem does not tell which addresses are the kernel's memory";
        break;
    case OWNER_OTHER:
        status = map_words(fd, base, (size_t)bytes, ret_memory, ret_error, ret_why);
        break;
    }
    close(fd);
    return status;
}

void ps_physical_unmap(struct ps_physical_memory *memory) {
    if (memory->map != NULL)
        munmap(memory->map, memory->map_bytes);
    *memory = (struct ps_physical_memory){0};
}
