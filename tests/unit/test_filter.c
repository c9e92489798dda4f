/* SPDX-License-Identifier: MIT
 *
 * Filters: what each form selects, and which are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/bench.h"
#include "harness/filter.h"

static bool selects(const char *a, const char *b, const char *id, unsigned tags) {
    const char *filters[] = {a, b};
    return ps_filter_selects(filters, (a != NULL) + (b != NULL), id, tags);
}

static const struct {
    const char *filter, *id;
    bool selected;
} single[] = {
    {"mem", "mem.stream/all@x2", true},
    {"mem", "memory.stream/all", false},
    {"mem", "os.mem/all", false},
    {"mem.stream", "mem.stream/all@x2", true},
    {"mem.stream", "mem.streams/all", false},
    {"mem.str", "mem.stream/all", false},
    {"mem.stream/all", "mem.stream/all", true},
    {"mem.stream/all", "mem.stream/all@x2", true},
    {"mem.stream/all", "mem.stream/all2", false},
    {"mem.stream/all@x2", "mem.stream/all@x2", true},
    {"mem.stream/all@x2", "mem.stream/all", false},
    {"mem.bw_mem/rd-*", "mem.bw_mem/rd-1mb", true},
    {"mem.bw_mem/rd-*", "mem.bw_mem/wr-1mb", false},
    {"*/fifo", "os.wake_up/fifo@cl1", true},
    {"*@cl1", "os.wake_up/fifo@cl1", true},
    {"*@cl1*", "os.wake_up/fifo@cl1@x2", true},
    {"*@cl1", "os.wake_up/fifo", false},
    {"mem.*", "mem.stream/all", true},
    {"*", "a.b/c", true},
    {"?em", "mem.stream/all", false},
    {"mem.bw_mem/rd-[12]mb", "mem.bw_mem/rd-2mb", true},
    {"mem.bw_mem/rd-[12]mb", "mem.bw_mem/rd-4mb", false},
    {"mem.bw_mem/rd-[!12]mb", "mem.bw_mem/rd-4mb", true},
    {"mem.bw_mem/rd-[0-9]mb", "mem.bw_mem/rd-4mb", true},
    {"mem.bw_mem/rd-?mb", "mem.bw_mem/rd-16mb", false},
    {"!mem", "os.lat_sig/install", true},
    {"!mem", "mem.stream/all", false},
};

static void test_single(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
        if (selects(single[i].filter, NULL, single[i].id, 0) != single[i].selected)
            fail_msg("'%s' against '%s'", single[i].filter, single[i].id);
    }
}

static void test_several(void **state) {
    (void)state;
    assert_true(ps_filter_selects(NULL, 0, "mem.stream/all", 0));
    assert_true(selects("mem", "os", "os.lat_sig/install", 0));
    assert_false(selects("mem", "!mem.stream", "mem.stream/all", 0));
    assert_false(selects("!mem.stream", "mem", "mem.stream/all", 0));
    assert_true(selects("mem", "!mem.stream", "mem.bw_mem/rd-1mb", 0));
    assert_false(selects("mem", "!mem.stream", "os.lat_sig/install", 0));
}

static void test_tags(void **state) {
    (void)state;
    assert_true(selects("tag:headline", NULL, "mem.stream/all", PS_TAG_HEADLINE));
    assert_false(selects("tag:headline", NULL, "mem.stream/all", 0));
    assert_false(selects("!tag:headline", NULL, "mem.stream/all", PS_TAG_HEADLINE));
    assert_true(selects("!tag:headline", NULL, "mem.stream/all", 0));
    assert_false(selects("tag:other", NULL, "mem.stream/all", ~0u));
}

/* A pattern that a backtracking matcher takes exponential time for. */
static void test_many_stars(void **state) {
    (void)state;
    char id[200] = "mem.stream/";
    memset(id + 11, 'a', 150);
    assert_false(selects("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", NULL, id, 0));
    assert_true(selects("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a", NULL, id, 0));
}

static const struct {
    const char *filter, *why; /* why NULL: fine */
} checked[] = {
    {"mem", NULL},
    {"mem.stream/all@x2", NULL},
    {"!mem.bw_mem/rd-[0-9]*", NULL},
    {"tag:headline", NULL},
    {"!tag:headline", NULL},
    {"", "'' selects nothing: an empty filter"},
    {"!", "'!' selects nothing: an empty filter"},
    {"tag:head", "'tag:head': the only tag is tag:headline"},
    {"mem.stream/all:triad", "'mem.stream/all:triad': a filter selects rows with all their "
                             "metrics; leave out the ':' and what follows"},
    {"MEM", "'MEM': ids are in lower case"},
    {"mem stream", "a filter with byte 0x20, which no id has"},
    {"mem,os", "'mem,os': no id has a ','"},
    {"mem.bw_mem/rd-[12", "'mem.bw_mem/rd-[12': '[' without ']'"},
    {"m\xc3\xa9m", "a filter with byte 0xc3, which no id has"},
};

static void test_check(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
        char why[200] = "";
        assert_int_equal(ps_filter_check(checked[i].filter, why, sizeof(why)),
                         checked[i].why ? -EINVAL : 0);
        assert_string_equal(why, checked[i].why ? checked[i].why : "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single), cmocka_unit_test(test_several),
        cmocka_unit_test(test_tags),   cmocka_unit_test(test_many_stars),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
