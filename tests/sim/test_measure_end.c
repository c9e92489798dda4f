/* SPDX-License-Identifier: MIT
 *
 * How a run ends that does not go well, what memory it gets, and events.
 */
#include "sim/measure_fixture.h"

static void assert_ended(enum ps_status status, int error) {
    assert_int_equal(f.shared.status, status);
    assert_int_equal(f.shared.error, error);
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void test_batch_fails(void **state) {
    (void)state;
    f.fail_ret = -13;
    for (f.fail_call = 1; f.fail_call < 60; f.fail_call++) { /* calibrating, warming up, sampling */
        f.thread_batches[0] = 0;
        f.n_teardown = 0;
        assert_int_equal(fixture_measure(), -13);
        assert_ended(PS_FAILED, 13);
        assert_int_equal(f.thread_batches[0], f.fail_call); /* and not once more */
        assert_int_equal(f.n_teardown, 1);
        assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 0);
    }
}

static int deny(struct ps_run *run) {
    return ps_run_end(run, PS_DENIED, 1, "it needs CAP_SYS_NICE");
}

static int fail_without_words(struct ps_run *run) {
    (void)run;
    return -24;
}

/* Ends the case, twice, and forgets to say so. */
static int end_in_silence(struct ps_run *run) {
    ps_run_end(run, PS_SKIPPED, 0, "there is nothing to do");
    ps_run_end(run, PS_UNSAFE, 5, "another");
    return 0;
}

static void test_set_up_fails(void **state) {
    (void)state;
    f.bench.setup = deny;
    assert_true(fixture_measure() < 0);
    assert_ended(PS_DENIED, 1);
    assert_string_equal(f.shared.reason, "it needs CAP_SYS_NICE");
    assert_int_equal(f.n_batch, 0);
    assert_int_equal(f.n_teardown, 0); /* it had not set a state */
    f.bench.setup = fail_without_words;
    assert_int_equal(fixture_measure(), -24);
    assert_ended(PS_FAILED, 24);
    f.bench.setup = end_in_silence;
    assert_true(fixture_measure() < 0);
    assert_ended(PS_SKIPPED, 0);
    assert_string_equal(f.shared.reason, "there is nothing to do");
    f.bench.setup = NULL;
    f.bench.thread_setup = fail_without_words;
    assert_int_equal(fixture_measure(), -24);
    assert_ended(PS_FAILED, 24);
    assert_int_equal(f.n_teardown, 1);
}

static int set_state_and_fail(struct ps_run *run) {
    ps_run_set_state(run, &f);
    return -24;
}

static void test_set_up_fails_half_way(void **state) {
    (void)state;
    f.bench.setup = set_state_and_fail;
    assert_int_equal(fixture_measure(), -24);
    assert_int_equal(f.n_teardown, 1);
}

static int wrong_before(struct ps_run *run, enum ps_verify_when when) {
    (void)run;
    return when == PS_VERIFY_BEFORE ? -1 : 0;
}

static int wrong_after(struct ps_run *run, enum ps_verify_when when) {
    return when == PS_VERIFY_AFTER ? ps_run_end(run, PS_FAILED, 0, "the sum is wrong") : 0;
}

static void test_wrong_answer(void **state) {
    (void)state;
    f.bench.verify = wrong_before;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_FAILED);
    assert_string_equal(f.shared.reason, "wrong answer before it was timed");
    assert_int_equal(f.n_batch, 0);
    f.bench.verify = wrong_after;
    assert_true(fixture_measure() < 0);
    assert_ended(PS_FAILED, 0);
    assert_string_equal(f.shared.reason, "the sum is wrong");
    assert_int_equal(f.n_teardown, 2);
}

static void test_verify_only(void **state) {
    (void)state;
    f.settings.verify_only = true;
    f.bench.baseline = fixture_baseline;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.n_batch, 1);
    assert_int_equal(f.total_n, 1);
    assert_int_equal(f.n_baseline, 1);
    assert_int_equal(f.n_verify[PS_VERIFY_BEFORE], 1);
    assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 1);
    assert_int_equal(f.shared.series[0].n, 0);
    assert_null(f.shared.stop);
    f.bench.verify = wrong_after;
    assert_true(fixture_measure() < 0);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static struct {
    size_t bytes, alignment;
    uint8_t expected; /* in all of it */
    bool fits;
} want;

static int allocate(struct ps_run *run) {
    uint8_t *memory = ps_run_alloc(run, want.bytes, want.alignment);
    assert_true((memory != NULL) == want.fits);
    if (memory == NULL)
        return ps_run_end(run, PS_FAILED, 12, "it asked for too much");
    assert_int_equal((uintptr_t)memory % (want.alignment > 0 ? want.alignment : 16), 0);
    if (f.c.memory.alignment_bytes > 0)
        assert_int_equal((uintptr_t)memory % f.c.memory.alignment_bytes, 0);
    for (size_t i = 0; i < want.bytes; i++)
        assert_int_equal(memory[i], want.expected);
    memset(memory, 0xff, want.bytes);
    ps_run_set_state(run, memory);
    assert_ptr_equal(ps_run_state(run), memory);
    assert_ptr_equal(ps_run_case(run), &f.c);
    assert_int_equal(ps_run_cpu(run, 3), 30);
    assert_int_equal(ps_run_cpu(run, FAKE_THREADS), -1);
    assert_int_equal(ps_run_seed(run), f.settings.seed);
    return 0;
}

static void test_memory(void **state) {
    (void)state;
    f.bench.setup = allocate;
    f.settings.verify_only = true;
    f.settings.seed = 42;
    f.c.memory.bytes = 100000;
    want.bytes = 100000 + PS_ARENA_SLACK_BYTES;
    want.fits = true;
    assert_int_equal(fixture_measure(), 0);
    f.c.memory.alignment_bytes = 1 << 21;
    assert_int_equal(fixture_measure(), 0);
    f.c.memory.untouched = true;
    want.expected = 0xa5; /* as the machine left it */
    assert_int_equal(fixture_measure(), 0);
    f.c.memory = (struct ps_memory){.bytes = 100000};
    want.bytes = 2 * 100000;
    want.fits = false;
    assert_int_equal(fixture_measure(), -12);
}

static void test_memory_that_is_not_there(void **state) {
    (void)state;
    f.fake.memory_limit_bytes = 1 << 20;
    f.c.memory.bytes = 1 << 20;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_SKIPPED);
    f.c.memory.bytes = 1 << 19;
    assert_int_equal(fixture_measure(), 0);
    f.fake.no_huge_pages = true;
    f.c.memory.pages = PS_PAGES_HUGE;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_UNSUPPORTED);
    assert_int_equal(f.n_setup, 1);
    assert_int_equal(f.n_teardown, 1);
}

/* ---- Events --------------------------------------------------------------------------------- */

static unsigned n_to_push;

static int push(struct ps_run *run) {
    for (unsigned i = 0; i < n_to_push; i++) {
        uint64_t before = ps_run_now_ns(run);
        ps_fake_advance(&f.fake, 1000 + i);
        ps_run_event(run, 2, (double)(ps_run_now_ns(run) - before));
    }
    ps_run_event(run, 3, -12.5); /* a reading may be negative */
    ps_run_mark(run, PS_Q_LOW_CONFIDENCE);
    return 0;
}

static void become_events(unsigned wanted) {
    f.bench.batch = NULL;
    f.bench.events = push;
    f.settings.events = wanted;
    n_to_push = wanted;
}

static void test_events(void **state) {
    (void)state;
    static const double mhz[] = {1000, 2000};
    f.fake.mhz = mhz;
    f.fake.n_mhz = 2;
    become_events(500);
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[2];
    assert_int_equal(series->n, 500);
    assert_int_equal(series->n_events, 500);
    assert_null(series->histogram);
    assert_null(series->mhz);
    assert_true(series->resolution == 0);
    for (unsigned i = 0; i < 500; i++)
        assert_true(series->samples[i] == 1020 + i);
    assert_true(f.shared.series[3].n == 1 && f.shared.series[3].samples[0] == -12.5);
    assert_string_equal(f.shared.stop, "events");
    assert_int_equal(f.shared.n_samples, 501);
    assert_int_equal(f.shared.quality, PS_Q_LOW_CONFIDENCE);
    assert_true(f.shared.mhz_median == 1500);
    assert_true(f.shared.timed_ns > 500 * 1000);
    assert_int_equal(f.n_verify[PS_VERIFY_AFTER], 1);
}

static void test_more_events_than_samples(void **state) {
    (void)state;
    become_events(5000);
    assert_int_equal(fixture_measure(), 0);
    const struct ps_series *series = &f.shared.series[2];
    assert_int_equal(series->n, PS_SAMPLES_MAX);
    assert_int_equal(series->n_events, 5000);
    assert_int_equal(series->histogram->n, 5000);
    assert_int_equal(series->histogram->max, 1020 + 4999);
    assert_null(f.shared.series[3].histogram); /* not a time */
}

static int push_negative(struct ps_run *run) {
    ps_run_event(run, 2, -3);
    ps_run_event(run, 2, 3);
    return 0;
}

static int push_nothing(struct ps_run *run) {
    (void)run;
    return 0;
}

static void test_odd_events(void **state) {
    (void)state;
    become_events(10);
    f.bench.events = push_negative;
    assert_int_equal(fixture_measure(), 0);
    assert_int_equal(f.shared.series[2].n, 1);
    assert_int_equal(f.shared.n_dropped, 1);
    f.bench.events = push_nothing;
    assert_true(fixture_measure() < 0);
    assert_int_equal(f.shared.status, PS_FAILED);
    f.bench.events = fail_without_words;
    assert_int_equal(fixture_measure(), -24);
    f.settings.verify_only = true;
    assert_int_equal(fixture_measure(), 0); /* was not called */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_batch_fails),
        TEST(test_set_up_fails),
        TEST(test_set_up_fails_half_way),
        TEST(test_wrong_answer),
        TEST(test_verify_only),
        TEST(test_memory),
        TEST(test_memory_that_is_not_there),
        TEST(test_events),
        TEST(test_more_events_than_samples),
        TEST(test_odd_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
