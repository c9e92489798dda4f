# SPDX-License-Identifier: MIT
"""Every kernel of every table proves its answer, with the deterministic inputs of --golden; nothing is timed."""

import os
import re
import subprocess
import sys

PERFSHEET = os.environ.get("PERFSHEET")
if not PERFSHEET:
    print("PERFSHEET is not set")
    sys.exit(77)

# What cannot run here is not wrong; everything else must be right.
FINE = {"ok", "unsupported", "denied", "skipped"}


def golden():
    result = subprocess.run([PERFSHEET, "run", "--golden"], capture_output=True, text=True, timeout=500,
                            stdin=subprocess.DEVNULL)
    outcome = {}
    for line in result.stdout.splitlines():
        match = re.fullmatch(r"(\S+) ([a-z]+)(?:: (.+))?", line)
        if not match:
            sys.exit(f"not an outcome: {line!r}")
        outcome[match.group(1)] = (match.group(2), match.group(3))
    return result, outcome


first, rows = golden()
listed = subprocess.run([PERFSHEET, "list"], capture_output=True, text=True, timeout=60)
wanted = {line.split()[0].rsplit(":", 1)[0] for line in listed.stdout.splitlines()}
wrong = [f"{row} {status}: {reason}" for row, (status, reason) in rows.items() if status not in FINE]
silent = [row for row, (status, reason) in rows.items() if status != "ok" and not reason]
proved = sum(status == "ok" for status, _ in rows.values())

print(f"{proved} of {len(rows)} rows proved their answers")
failed = False
for what, found in (("wrong", wrong), ("no reason", silent), ("not tried", sorted(wanted - set(rows)))):
    for row in found:
        print(f"{what}: {row}")
        failed = True
if first.returncode != (1 if wrong else 0):
    print(f"exit {first.returncode}: {first.stderr[-300:]}")
    failed = True
if proved < 20:
    print("hardly anything was proved")
    failed = True
sys.exit(1 if failed else 0)
