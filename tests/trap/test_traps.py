#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs benchmarks that lie and checks that each is found out: status, marks and reason by row."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# A crash is to be one, in a build with a sanitizer too.
os.environ.setdefault("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0")

trap = pathlib.Path(os.environ["PS_BUILD_DIR"]) / "tests/trap/perfsheet_trap"
if not trap.exists():
    sys.exit(77)
faults = []


def check(condition, text):
    if not condition:
        faults.append(text)


def processes(program):
    """Processes of a program that are still there."""
    found = []
    for directory in pathlib.Path("/proc").iterdir():
        try:
            if directory.name.isdigit() and os.readlink(directory / "exe") == str(program):
                found.append(int(directory.name))
        except OSError:
            pass
    return found


def run(*filters):
    """Runs the traps: exit code, results by id, run records, all records."""
    with tempfile.TemporaryDirectory() as directory:
        sheet = pathlib.Path(directory) / "sheet.jsonl"
        environment = dict(os.environ, PS_DEADLINE_S="2", PS_TRAP_START=str(time.monotonic()))
        done = subprocess.run([trap, "run", *filters, "-o", sheet, "--quiet"], env=environment, cwd=directory,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=280)
        if not sheet.exists():
            sys.exit(f"no sheet: {done.stderr}")
        records = [json.loads(line, parse_constant=lambda word: faults.append(f"{word} in the sheet"))
                   for line in sheet.read_text().splitlines()]
        left = [entry.name for entry in pathlib.Path(directory).iterdir() if entry != sheet]
    check(sum(r["type"] == "end" for r in records) == 1 and records[-1]["type"] == "end", "not one end record, last")
    check(records[-1].get("exit") == done.returncode, f"exit code {done.returncode}, in the sheet {records[-1].get('exit')}")
    check(not left, f"left behind in its directory: {left}")
    check(not processes(trap.resolve()), "processes were left behind")
    results = {r["id"]: r for r in records if r["type"] == "result"}
    return done.returncode, results, [r for r in records if r["type"] == "run"], records


started = time.monotonic()
code, results, runs, records = run()
check(code == 1, f"exit code {code}, wanted 1")

# What each fault must be called: status, a piece of the reason.
FAULTS = {
    "crash": ("failed", "killed by signal 11 (SIGSEGV)"),
    "abort": ("failed", "killed by signal 6 (SIGABRT): last words"),
    "exit": ("failed", "ended with status 0 and without a run record"),
    "garbage": ("failed", "wrote more than its run record"),
    "flood": ("failed", "longer than"),
    "fd-leak": ("failed", "leaked a file descriptor"),
    "child-leak": ("failed", "left a child process behind"),
    "daemon": ("failed", "left a child process behind"),
    "set-up": ("failed", "its set-up failed"),
    "denied": ("denied", "needs a right that nobody has"),
    "hang": ("timeout", "no answer within 2 s"),
    "stop": ("timeout", "no answer within 2 s"),
    "syscall": ("failed", "errno 9"),
    "wrong-after": ("failed", "not the one that was computed by hand"),
    "wrong-before": ("failed", "does not even start right"),
}
for name, (status, reason) in FAULTS.items():
    row = results.get(f"trap.faults/{name}:time")
    if row is None:
        faults.append(f"{name}: no result")
        continue
    check(row["status"] == status, f"{name}: {row['status']}, wanted {status} ({row['reason']})")
    check(reason in (row["reason"] or ""), f"{name}: reason '{row['reason']}'")
    check(row["value"] is None, f"{name}: has a value")
    ran = [r for r in runs if r["case"] == f"trap.faults/{name}"]
    check(len(ran) == 1, f"{name}: {len(ran)} runs, wanted 1")


unchecked = []


def row(name, quiet):
    """A row that is to have a number. `quiet`: one that others disturbed is taken again, by itself."""
    found = results.get(f"trap.{name}:time")
    for _ in range(4):
        if found is None:
            faults.append(f"{name}: no result")
            sys.exit("\n".join(faults))
        if not quiet or "preempted" not in found["quality"]:
            break
        found = run(f"trap.{name}")[1].get(f"trap.{name}:time")
    else:
        print(f"{name}: the machine is too busy for this row")
        unchecked.append(name)
        return None
    return found


def expect(name, test, what, quiet=True):
    found = row(name, quiet)
    if found is not None:
        check(found["status"] == "ok" and test(found),
              f"{name}: {what}; it is {found['status']} {found['value']} {found['quality']} {found['reason']}")


expect("faults/honest", lambda r: r["value"] > 0 and r["n_runs"] + r["n_disturbed"] >= 8, "a number of 8 runs", quiet=False)
expect("bimodal/one", lambda r: "bimodal" in r["quality"] and 1.7 < max(r["modes"]) / min(r["modes"]) < 2.3,
       "two modes, one twice the other")
expect("drifting/one", lambda r: "drifting" in r["quality"], "drifting")
expect("exact/one", lambda r: 970 < r["value"] < 1030, "1000 us within 3 %")
for name in ("nothing/returns", "nothing/null-loop"):
    expect(name, lambda r: "below-resolution" in r["quality"] and r["value"] > 0, "below-resolution, with a bound",
           quiet=False)

# The clock halves in mid-run.
if results["trap.slowing/one:time"]["cycles"] is not None:
    expect("slowing/one", lambda r: "clock-changed" in r["quality"] or "throttled" in r["quality"], "clock-changed")

trusted = any(r["type"] == "sheet" and r["env"]["clock"]["chains_agree"] for r in records)
folded = row("folded/one", quiet=False)
if trusted:
    check(folded["status"] == "suspect", f"folded: {folded['status']}, cycles {folded['cycles']}")
    check(any(rule["failed"] for rule in folded["rules"]), "folded: no broken rule")

if faults:
    sys.exit("\n".join(faults))
seconds = time.monotonic() - started
if unchecked:  # a check that did not happen is not one that passed
    print(f"{len(results)} rows, {len(runs)} runs in {seconds:.0f} s: not checked on this busy machine: {', '.join(unchecked)}")
    sys.exit(77)
print(f"{len(results)} rows, {len(runs)} runs in {seconds:.0f} s: all were found out")
