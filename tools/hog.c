/* SPDX-License-Identifier: MIT
 *
 * hog CPU ON_US OFF_US SECONDS: uses a CPU for ON_US of every ON_US + OFF_US, to disturb a
 * measurement on purpose. OFF_US 0: all the time. Ends by itself.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_us(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: hog CPU ON_US OFF_US SECONDS\n");
        return 2;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)strtoul(argv[1], NULL, 10), &set);
    if (sched_setaffinity(0, sizeof(set), &set)) {
        perror("hog: sched_setaffinity");
        return 1;
    }
    uint64_t on_us = strtoull(argv[2], NULL, 10), off_us = strtoull(argv[3], NULL, 10);
    uint64_t end = now_us() + strtoull(argv[4], NULL, 10) * 1000000u;
    while (now_us() < end) {
        uint64_t until = now_us() + on_us;
        while (now_us() < until)
            ;
        if (off_us) {
            struct timespec rest = {(time_t)(off_us / 1000000u), (long)(off_us % 1000000u) * 1000};
            nanosleep(&rest, NULL);
        }
    }
    return 0;
}
