/* SPDX-License-Identifier: MIT
 *
 * Arena, narrow counters, sizes beyond the caches, assertions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/assert.h"
#include "core/counter.h"
#include "core/env.h"

static void test_arena(void **state) {
    (void)state;
    _Alignas(64) static uint8_t block[1024];
    struct ps_arena arena;
    ps_arena_init(&arena, block + 1, 1000);
    uint8_t *a = ps_arena_alloc(&arena, 1, 0);
    assert_ptr_equal(a, block + 16);
    uint8_t *b = ps_arena_alloc(&arena, 100, 64);
    assert_ptr_equal(b, block + 64);
    assert_null(ps_arena_alloc(&arena, 1000, 0));
    assert_null(ps_arena_alloc(&arena, UINT64_MAX, 0));
    assert_null(ps_arena_alloc(&arena, UINT64_MAX - 8, 1));
    assert_ptr_equal(ps_arena_alloc(&arena, 1001 - 164, 1), block + 164);
    assert_null(ps_arena_alloc(&arena, 1, 1));
    assert_non_null(ps_arena_alloc(&arena, 0, 1));
    ps_arena_init(&arena, NULL, 1000);
    assert_null(ps_arena_alloc(&arena, 0, 1));
}

static void test_counter_wraps(void **state) {
    (void)state;
    assert_int_equal(ps_counter_delta(5, 0xfffffffb, 32), 10);
    assert_int_equal(ps_counter_delta(0, 0xffffff, 24), 1);
    assert_int_equal(ps_counter_delta(7, 7, 32), 0);
    assert_true(ps_counter_delta(1, 2, 64) == UINT64_MAX);

    struct ps_counter counter;
    uint64_t time = 0xfffff000, first = time;
    ps_counter_init(&counter, 32, time);
    for (unsigned i = 0; i < 20; i++) { /* 20 steps of 3 s of ns: 14 wraps */
        time += 3000000000u;
        assert_int_equal(ps_counter_widen(&counter, time & 0xffffffff), time - first);
    }
}

static void test_ticks_to_ns(void **state) {
    (void)state;
    assert_int_equal(ps_counter_ns(25000000, 25000000), 1000000000);
    assert_int_equal(ps_counter_ns(3, 24000000), 125);
    assert_int_equal(ps_counter_ns(UINT64_C(25000000) * 86400 * 365, 25000000),
                     UINT64_C(86400) * 365 * 1000000000);
    assert_int_equal(ps_counter_ns(1, UINT64_C(1) << 34), 0);
}

static void test_beyond_cache(void **state) {
    (void)state;
    const uint64_t mib = 1 << 20;
    struct ps_cluster cluster = {.last_level_bytes = 32 * mib};
    struct ps_env env = {.cluster = &cluster, .working_set_cap_bytes = 256 * mib};
    bool resident = true;
    assert_int_equal(ps_env_beyond_cache_bytes(&env, &resident), 128 * mib);
    assert_false(resident);
    env.working_set_cap_bytes = 64 * mib;
    assert_int_equal(ps_env_beyond_cache_bytes(&env, &resident), 64 * mib);
    assert_true(resident);
    cluster.last_level_bytes = 0; /* unknown: as far as the design goes */
    assert_int_equal(ps_env_beyond_cache_bytes(&env, &resident), 64 * mib);
    assert_true(resident);
    env.quick = true;
    assert_int_equal(ps_env_beyond_cache_bytes(&env, &resident), 64 * mib);
    assert_false(resident);
    env.cluster = NULL;
    env.working_set_cap_bytes = 0;
    env.quick = false;
    assert_int_equal(ps_env_beyond_cache_bytes(&env, NULL), 256 * mib);
}

static void test_assertion_traps(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
        struct ps_arena arena;
        ps_arena_init(&arena, &arena, sizeof(arena));
        ps_arena_alloc(&arena, 1, 3); /* no power of two */
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP ||
                WTERMSIG(status) == SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),           cmocka_unit_test(test_counter_wraps),
        cmocka_unit_test(test_ticks_to_ns),     cmocka_unit_test(test_beyond_cache),
        cmocka_unit_test(test_assertion_traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
