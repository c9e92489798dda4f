#!/bin/bash
# SPDX-License-Identifier: MIT
# C sources are as clang-format leaves them; shell scripts pass shellcheck.
cd "${PS_SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
status=0
command -v clang-format >/dev/null || { echo "clang-format is not here"; exit 77; }
mapfile -t sources < <(find src mcu tests tools -name '*.c' -o -name '*.h')
clang-format --dry-run -Werror "${sources[@]}" 2>/tmp/format.$$ || { grep error: /tmp/format.$$ | head -20; status=1; }
rm -f /tmp/format.$$
if command -v shellcheck >/dev/null; then
    mapfile -t scripts < <(grep -rlE '^#!/bin/(ba)?sh' tools tests .ci)
    shellcheck -S warning "${scripts[@]}" || status=1
fi
[ "${#sources[@]}" -gt 50 ] || { echo "only ${#sources[@]} sources were found"; status=1; }
exit $status
