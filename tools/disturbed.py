#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""disturbed.py PERFSHEET HOG [FILTER...]: what a hog on the CPU of the measurement does to the rows.

Three invocations in turn: clean, hog 5 ms on and 15 off, clean; then hog all the time. Prints the shift of each core-bound row
(cycles) against the mean of the clean ones, how many rows were marked and how many runs were replaced. Run it alone."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

perfsheet, hog, filters = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]


def invocation(directory, name, on_off=None):
    sheet = os.path.join(directory, name + ".jsonl")
    noise = []
    if on_off:
        noise = [subprocess.Popen([hog, str(cpu), str(on_off[0]), str(on_off[1]), "580"]) for cpu in [max(os.sched_getaffinity(0))]]
    subprocess.run([perfsheet, "run", *filters, "--quiet", "-o", sheet], stdout=subprocess.DEVNULL)
    for process in noise:
        process.kill()
        process.wait()
    rows, runs, replaced, planned = {}, 0, 0, {}
    for line in open(sheet):
        record = json.loads(line)
        if record["type"] == "result" and record["status"] in ("ok", "suspect") and record["derived_from"] is None:
            rows[record["id"]] = record
        elif record["type"] == "run":
            runs += 1
            replaced += record["attempt"] > 1
        elif record["type"] == "case":
            planned[record["id"]] = record["runs_planned"]
    return rows, runs, replaced, planned


def level(record):
    return record["cycles"] if record["bound"] == "core" and record.get("cycles") else record["value"]


with tempfile.TemporaryDirectory() as directory:
    before, _, _, _ = invocation(directory, "a")
    part, runs, replaced, planned = invocation(directory, "b", (5000, 15000))
    after, _, _, _ = invocation(directory, "c")
    full, full_runs, full_replaced, _ = invocation(directory, "d", (1000000, 0))

for title, rows in (("5 ms on, 15 off", part), ("all the time", full)):
    shifts, marked, silent = [], 0, []
    for name, record in rows.items():
        if name not in before or name not in after or "below-resolution" in record["quality"] + before[name]["quality"] + after[name]["quality"]:
            continue
        clean = (level(before[name]) + level(after[name])) / 2
        shift = 100 * (level(record) / clean - 1)
        mark = {"preempted", "noisy", "bimodal"} & set(record["quality"])
        marked += bool(mark)
        if record["bound"] == "core":
            shifts.append((abs(shift), name, mark))
        if abs(shift) > 5 and not mark:
            silent.append((shift, name))
    shifts.sort()
    values = [s for s, _, _ in shifts]
    print(f"hog {title}: {len(values)} core rows, |shift| median {statistics.median(values):.2f} %, 90th percentile {values[int(0.9 * (len(values) - 1))]:.2f} %, worst {values[-1]:.2f} % ({shifts[-1][1]}); {marked} of {len(rows)} rows marked")
    for shift, name in silent:
        print(f"    not marked: {shift:+.1f} % {name}")
print(f"runs {runs}, replacements {replaced} (cap: half of {sum(planned.values())} = {sum(planned.values()) // 2}); with the hog all the time {full_runs}, {full_replaced}")
