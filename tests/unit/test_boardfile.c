/* SPDX-License-Identifier: MIT
 *
 * The board file: what it holds, and that everything it may not hold is refused with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/boardfile.h"

static const char whole[] = "# a board\r\n"
                            "[board]\n"
                            "id = am62l-evm\n"
                            "  model=AM62L EVM = rev \n"
                            "; another comment\n"
                            "\n"
                            "[memory]\n"
                            "mts = 1600\n"
                            "ecc = no\n"
                            "[cluster 0]\n"
                            "reference_mhz = 1250.5\n"
                            "[target emmc]\n"
                            "path = /mnt/emmc\n"
                            "[ target  nand ]\n"
                            "path = /mnt/nand dir\n"
                            "[endpoint ocsram]\n"
                            "base = 0x70000000\n"
                            "length = 65536\n"
                            "[console]\n"
                            "baud = 115200";

static void test_whole(void **state) {
    (void)state;
    struct ps_boardfile *board = NULL;
    char why[200] = "";
    assert_int_equal(ps_boardfile_parse(whole, sizeof(whole) - 1, &board, why, sizeof(why)), 0);
    assert_string_equal(ps_boardfile_value(board, "board", "id"), "am62l-evm");
    assert_string_equal(ps_boardfile_value(board, "board", "model"), "AM62L EVM = rev");
    assert_string_equal(ps_boardfile_value(board, "cluster 0", "reference_mhz"), "1250.5");
    assert_string_equal(ps_boardfile_value(board, "target nand", "path"), "/mnt/nand dir");
    assert_string_equal(ps_boardfile_value(board, "console", "baud"), "115200");
    assert_null(ps_boardfile_value(board, "target", "path"));
    assert_null(ps_boardfile_value(board, "target emm", "path"));
    assert_null(ps_boardfile_value(board, "target emmcx", "path"));
    assert_null(ps_boardfile_value(board, "board", "revision"));
    assert_null(ps_boardfile_value(NULL, "board", "id"));
    assert_string_equal(ps_boardfile_section(board, "target", 0), "emmc");
    assert_string_equal(ps_boardfile_section(board, "target", 1), "nand");
    assert_null(ps_boardfile_section(board, "target", 2));
    assert_string_equal(ps_boardfile_section(board, "memory", 0), "");
    assert_null(ps_boardfile_section(NULL, "target", 0));
    ps_boardfile_free(board);
}

static void test_empty(void **state) {
    (void)state;
    struct ps_boardfile *board = NULL;
    char why[200];
    assert_int_equal(ps_boardfile_parse("", 0, &board, why, sizeof(why)), 0);
    assert_null(ps_boardfile_section(board, "board", 0));
    ps_boardfile_free(board);
}

static const struct {
    const char *text, *why;
} refused[] = {
    {"[board]\nx = 1\n", "line 2: unknown key 'x' in [board]"},
    {"[boards]\n", "line 1: unknown section [boards]"},
    {"id = 1\n", "line 1: 'id' stands before the first section"},
    {"\n[board\n", "line 2: a section must end with ']'"},
    {"[board evm]\n", "line 1: [board] takes no name"},
    {"[target]\n", "line 1: [target NAME] needs a name"},
    {"[target NAND]\n", "line 1: 'NAND' is no name: lower-case letters, digits and _.+-"},
    {"[cluster a]\n", "line 1: [cluster N] needs a number"},
    {"[board]\nid\n", "line 2: neither '[section]' nor 'key = value'"},
    {"[board]\nid =\n", "line 2: 'id' has no value"},
    {"[board]\nid = a\nid = b\n", "line 3: 'id' is there twice in [board]"},
    {"[board]\n[board]\n", "line 2: section [board] is there twice"},
    {"[target a]\n[target a]\n", "line 2: section [target a] is there twice"},
    {"[memory]\nmts = fast\n", "line 2: 'mts' must be a whole number above 0, not 'fast'"},
    {"[memory]\nmts = 0\n", "line 2: 'mts' must be a whole number above 0, not '0'"},
    {"[memory]\necc = maybe\n", "line 2: 'ecc' must be yes or no, not 'maybe'"},
    {"[cluster 0]\nreference_mhz = nan\n",
     "line 2: 'reference_mhz' must be a number above 0, not 'nan'"},
    {"[cluster 0]\nreference_mhz = 1,2\n",
     "line 2: 'reference_mhz' must be a number above 0, not '1,2'"},
    {"[endpoint a]\nbase = 0x\n", "line 2: 'base' must be a number, decimal or 0x..., not '0x'"},
    {"[board]\nid = a\001b\n", "line 2: a control character"},
};

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct ps_boardfile *board = NULL;
        char why[200] = "";
        assert_int_equal(
            ps_boardfile_parse(refused[i].text, strlen(refused[i].text), &board, why, sizeof(why)),
            -EINVAL);
        assert_string_equal(why, refused[i].why);
        assert_null(board);
    }
}

static void test_nul_byte(void **state) {
    (void)state;
    struct ps_boardfile *board = NULL;
    char why[200] = "";
    assert_int_equal(ps_boardfile_parse("[board]\nid = a\0b\n", 17, &board, why, sizeof(why)),
                     -EINVAL);
    assert_string_equal(why, "line 2: a control character");
}

static void test_files(void **state) {
    (void)state;
    struct ps_boardfile *board = NULL;
    char why[200] = "", path[] = "/tmp/perfsheet-board-XXXXXX";
    assert_int_equal(ps_boardfile_read("/nonexistent/board", &board, why, sizeof(why)), -ENOENT);
    assert_string_equal(why, "No such file or directory");
    assert_int_equal(ps_boardfile_read("/", &board, why, sizeof(why)), -EISDIR);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, whole, sizeof(whole) - 1), sizeof(whole) - 1);
    close(fd);
    assert_int_equal(ps_boardfile_read(path, &board, why, sizeof(why)), 0);
    assert_string_equal(ps_boardfile_value(board, "memory", "mts"), "1600");
    ps_boardfile_free(board);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),   cmocka_unit_test(test_empty),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_nul_byte),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
