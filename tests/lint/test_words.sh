#!/bin/bash
# SPDX-License-Identifier: MIT
# The product's files hold no unfinished marks, and each script is executable text.
cd "${PS_SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
status=0
marks='TO''DO|FIX''ME|XX''X|HA''CK'
if grep -rnE "$marks" src mcu tools docs README.md; then
    echo "unfinished marks"
    status=1
fi
for script in tools/*; do
    case $script in *.c | *.md | *.txt | *.py) continue ;; esac
    [ -d "$script" ] || [ -x "$script" ] || { echo "$script is not executable"; status=1; }
done
exit $status
