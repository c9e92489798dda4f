#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every test that docs/PITFALLS.md names is there, and each fault of its tables names one."""
import os
import pathlib
import re
import sys

root = pathlib.Path(os.environ.get("PS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
faults = []
n_tests = 0
for number, line in enumerate((root / "docs/PITFALLS.md").read_text().splitlines(), 1):
    if not line.startswith("|") or line.startswith(("|---", "| fault ")):
        continue
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) == 2:  # of a table that is not there yet
        continue
    named = re.findall(r"`(tests/[\w/.]+)`([^;]*)", cells[-1])
    if len(cells) != 3 or not named:
        faults.append(f"line {number}: names no test")
    for path, functions in named:
        if not (root / path).exists():
            faults.append(f"line {number}: no such file: {path}")
            continue
        text = (root / path).read_text()
        names = re.findall(r"test_\w+", functions)
        n_tests += len(names) or 1
        if path.endswith(".c") and not names:
            faults.append(f"line {number}: names no test of {path}")
        for name in names:
            # Defined, and in the list that main() runs.
            if len(re.findall(rf"\b{name}\b", text)) < 2:
                faults.append(f"line {number}: {path} does not run {name}")
if n_tests < 30:
    faults.append(f"only {n_tests} tests are named")
print("\n".join(faults) if faults else f"{n_tests} tests keep the pitfalls out")
sys.exit(1 if faults else 0)
