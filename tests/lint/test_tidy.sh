#!/bin/bash
# SPDX-License-Identifier: MIT
# clang-tidy over the product's sources, with the checks of .clang-tidy.
cd "${PS_SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
command -v clang-tidy >/dev/null || { echo "clang-tidy is not here"; exit 77; }
build=${PS_BUILD_DIR:-build/test-gcc}
[ -f "$build/compile_commands.json" ] || { echo "$build has no compile_commands.json"; exit 1; }
# What clang does not know of gcc's flags is not a finding.
mkdir -p "$build/tidy"
sed -E 's/ -fno-ipa-(cp|sra)//g' "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
find src -name '*.c' -print0 | xargs -0 -P "$(nproc)" -n 1 clang-tidy -p "$build/tidy" --quiet 2>/dev/null >"$build/tidy.log"
found=$(grep -cE '(warning|error):' "$build/tidy.log")
grep -E '(warning|error):' "$build/tidy.log" | head -40
echo "clang-tidy: $found findings"
[ "$found" -eq 0 ]
