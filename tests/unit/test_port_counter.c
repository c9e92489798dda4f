/* SPDX-License-Identifier: MIT
 *
 * The microcontroller's port: narrow counters that wrap, rates that do not divide a second,
 * counters that stand still, an arena that begins afresh; and the C library of its image.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/port_counter.h"

/* The image's own functions, by other names. */
#define memcpy min_memcpy
#define memmove min_memmove
#define memset min_memset
#define memcmp min_memcmp
#define strcpy min_strcpy
#define strcmp min_strcmp
#include "../../mcu/libc_min.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strcpy
#undef strcmp

struct fake {
    uint64_t ticks;
    uint32_t step; /* ticks per reading */
    unsigned n_kicks;
};

static uint32_t fake_read(void *self) {
    struct fake *fake = self;
    fake->ticks += fake->step;
    return (uint32_t)fake->ticks;
}

static void fake_kick(void *self) {
    ((struct fake *)self)->n_kicks++;
}

static uint64_t memory[512];

static struct ps_port_counter_board board_of(struct fake *fake, unsigned bits, uint32_t hz) {
    return (struct ps_port_counter_board){.read = fake_read,
                                          .self = fake,
                                          .bits = bits,
                                          .hz = hz,
                                          .kick = fake_kick,
                                          .memory = memory,
                                          .memory_bytes = sizeof(memory)};
}

static void test_wraps(void **state) {
    (void)state;
    const unsigned widths[] = {8, 16, 24, 32};
    for (size_t i = 0; i < 4; i++) {
        struct fake fake = {.ticks = UINT32_MAX - 5, .step = 1};
        struct ps_port_counter_board board = board_of(&fake, widths[i], 25000000);
        struct ps_port_counter port;
        assert_int_equal(ps_port_counter_init(&port, &board), 0);
        uint64_t almost_wrap = (UINT64_C(1) << widths[i]) - 2;
        for (int turn = 0; turn < 10; turn++) {
            uint64_t before = port.port.now_ns(&port);
            fake.ticks += almost_wrap;
            assert_int_equal(port.port.now_ns(&port) - before, (almost_wrap + 1) * 40);
        }
        assert_int_equal(ps_port_counter_wrap_ns(&port), (UINT64_C(1) << widths[i]) * 40);
    }
}

/* Conversion stays within a ns and 2^-31 of the truth over hours, at any rate. */
static void test_rates(void **state) {
    (void)state;
    const uint32_t rates[] = {1000,     32768,    999983,    16666667,  24000000,
                              25000000, 66666666, 180000000, 999999999, 1000000000};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct fake fake = {.step = 1};
        struct ps_port_counter_board board = board_of(&fake, 32, rates[i]);
        struct ps_port_counter port;
        assert_int_equal(ps_port_counter_init(&port, &board), 0);
        uint64_t start_ns = port.port.now_ns(&port), start_ticks = fake.ticks, now_ns = start_ns;
        for (int turn = 0; turn < 1000; turn++) {
            fake.ticks += 123456789 + (uint64_t)turn;
            uint64_t before_ns = now_ns;
            now_ns = port.port.now_ns(&port);
            assert_true(now_ns > before_ns);
        }
        double truth_ns = (double)(fake.ticks - start_ticks) * 1e9 / rates[i];
        double error_ns = (double)(now_ns - start_ns) - truth_ns;
        assert_true(error_ns <= 2 + truth_ns * 0x1p-31 && error_ns >= -2 - truth_ns * 0x1p-31);
    }
}

static void test_resolution(void **state) {
    (void)state;
    struct fake fake = {.step = 75}; /* reading takes 3 us */
    struct ps_port_counter_board board = board_of(&fake, 32, 25000000);
    struct ps_port_counter port;
    assert_int_equal(ps_port_counter_init(&port, &board), 0);
    assert_int_equal(port.port.resolution_ns, 40);
    assert_int_equal(port.port.read_ns, 3000);
    assert_null(port.port.probe_mhz); /* the clock is the board's word */
}

static void test_refused(void **state) {
    (void)state;
    struct fake still = {.step = 0};
    struct ps_port_counter port;
    struct ps_port_counter_board board = board_of(&still, 32, 25000000);
    assert_int_equal(ps_port_counter_init(&port, &board), -EIO);
    board = board_of(&still, 33, 25000000);
    assert_int_equal(ps_port_counter_init(&port, &board), -EINVAL);
    board = board_of(&still, 4, 25000000);
    assert_int_equal(ps_port_counter_init(&port, &board), -EINVAL);
    board = board_of(&still, 32, 0);
    assert_int_equal(ps_port_counter_init(&port, &board), -EINVAL);
}

static void test_arena(void **state) {
    (void)state;
    struct fake fake = {.step = 1};
    struct ps_port_counter_board board = board_of(&fake, 32, 25000000);
    struct ps_port_counter port;
    assert_int_equal(ps_port_counter_init(&port, &board), 0);
    for (int run = 0; run < 3; run++) {
        struct ps_memory request = {.bytes = 4000, .alignment_bytes = 64};
        void *mapped;
        memset(memory, 0xaa, sizeof(memory));
        ps_port_counter_begin(&port);
        assert_int_equal(port.port.map(&port, &request, 4001, &mapped), 0);
        assert_true((uintptr_t)mapped % 64 == 0);
        for (size_t i = 0; i < 4001; i++)
            assert_int_equal(((uint8_t *)mapped)[i], 0);
        assert_int_equal(port.port.map(&port, &request, 200, &mapped), -ENOMEM);
        request.pages = PS_PAGES_HUGE;
        assert_int_equal(port.port.map(&port, &request, 1, &mapped), -EOPNOTSUPP);
    }
    port.port.kick(&port);
    assert_int_equal(fake.n_kicks, 1);
}

/* Every small length and alignment, against the host's. */
static void test_libc(void **state) {
    (void)state;
    unsigned char source[64], ours[64], theirs[64];
    for (size_t i = 0; i < sizeof(source); i++)
        source[i] = (unsigned char)(i * 37 + 1);
    for (size_t to = 0; to < 8; to++) {
        for (size_t from = 0; from < 8; from++) {
            for (size_t n = 0; n < 48; n++) {
                memset(ours, 0x55, sizeof(ours));
                memset(theirs, 0x55, sizeof(theirs));
                assert_ptr_equal(min_memcpy(ours + to, source + from, n), ours + to);
                memcpy(theirs + to, source + from, n);
                assert_memory_equal(ours, theirs, sizeof(ours));

                memcpy(ours, source, sizeof(ours));
                memcpy(theirs, source, sizeof(theirs));
                min_memmove(ours + to, ours + from, n);
                memmove(theirs + to, theirs + from, n);
                assert_memory_equal(ours, theirs, sizeof(ours));

                min_memset(ours + to, (int)(n + 0x180), n);
                memset(theirs + to, (int)(n + 0x180), n);
                assert_memory_equal(ours, theirs, sizeof(ours));
                assert_true((min_memcmp(source + to, source + from, n) > 0) ==
                            (memcmp(source + to, source + from, n) > 0));
                assert_true((min_memcmp(source + to, source + from, n) == 0) ==
                            (memcmp(source + to, source + from, n) == 0));
            }
        }
    }
}

static int sign(int value) {
    return (value > 0) - (value < 0);
}

static void test_strings(void **state) {
    (void)state;
    _Alignas(8) char a[48], b[48];
    for (size_t at_a = 0; at_a < 4; at_a++) {
        for (size_t at_b = 0; at_b < 4; at_b++) {
            for (size_t length = 0; length < 40; length++) {
                memset(a, 0, sizeof(a));
                memset(b, 'z', sizeof(b));
                for (size_t i = 0; i < length; i++)
                    a[at_a + i] = (char)(0x80 + i % 100);
                assert_ptr_equal(min_strcpy(b + at_b, a + at_a), b + at_b);
                assert_memory_equal(b + at_b, a + at_a, length + 1);
                assert_int_equal(min_strcmp(a + at_a, b + at_b), 0);
                for (size_t i = 0; i < length; i++) {
                    char kept = b[at_b + i];
                    b[at_b + i] = (char)(i % 2 ? 1 : 0xff);
                    assert_int_equal(sign(min_strcmp(a + at_a, b + at_b)),
                                     sign(strcmp(a + at_a, b + at_b)));
                    b[at_b + i] = '\0';
                    assert_int_equal(sign(min_strcmp(a + at_a, b + at_b)), 1);
                    assert_int_equal(sign(min_strcmp(b + at_b, a + at_a)), -1);
                    b[at_b + i] = kept;
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wraps),      cmocka_unit_test(test_rates),
        cmocka_unit_test(test_resolution), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_arena),      cmocka_unit_test(test_libc),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
