/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a board file: refused with a sentence that names the line, or a board whose sections
 * can all be asked for.
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "harness/boardfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const kinds[] = {"board", "memory", "cluster", "target",  "endpoint", "link",
                                        "wire",  "rail",   "mode",    "console", "power"};
    struct ps_boardfile *board = NULL;
    char why[200] = "";
    int error = ps_boardfile_parse((const char *)data, size, &board, why, sizeof(why));
    if (error) {
        assert(error == -ENOMEM || (error == -EINVAL && strncmp(why, "line ", 5) == 0));
        assert(!board);
        return 0;
    }
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        const char *name;
        for (size_t i = 0; (name = ps_boardfile_section(board, kinds[kind], i)); i++) {
            char section[128];
            snprintf(section, sizeof(section), "%s%s%s", kinds[kind], *name ? " " : "", name);
            const char *value = ps_boardfile_value(board, section, "path");
            assert(!value || *value);
        }
    }
    ps_boardfile_free(board);
    return 0;
}
