#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills one process of a run at random moments: the child, or the program. What was measured is
reported, a resumed sheet is complete, and nothing is left behind."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

program = pathlib.Path(os.environ["PERFSHEET"]).resolve()
rounds = int(os.environ.get("PS_KILLS", "12"))
seed = int(os.environ.get("PS_KILL_SEED", str(int(time.time()))))
chance = random.Random(seed)
ROWS = ["os.lat_syscall"]
faults = []


def check(condition, text):
    if not condition:
        faults.append(text)


def our_processes():
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(program):
                found.append((int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")))
        except OSError:
            pass
    return found


def traces():
    """Places where something could be left: shared memory, scratch files, journals."""
    places = [pathlib.Path(p) for p in ("/tmp", "/dev/shm", "/run", "/var/tmp")]
    return {str(f) for p in places if p.is_dir() for f in p.iterdir() if "perfsheet" in f.name}


def children_of(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def read(sheet):
    records = []
    for line in sheet.read_bytes().split(b"\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            pass  # the last line may be cut
    return records


def reported(sheet):
    done = subprocess.run([program, "report", "--format", "json", sheet], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        rows = json.loads(done.stdout)
    except ValueError:
        faults.append(f"report of {sheet.name} is no JSON: {done.stderr[-300:]}")
        return {}
    return {r["id"].rsplit(":", 1)[0]: r for r in rows}


def kill_once(sheet, victim, delay):
    process = subprocess.Popen([program, "run", *ROWS, "-o", sheet, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(delay)
    if victim == "child":
        for _ in range(200):
            children = children_of(process.pid)
            if children:
                try:
                    os.kill(chance.choice(children), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                break
            time.sleep(0.001)
    else:
        process.send_signal(victim)
    try:
        process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        faults.append(f"hangs after {victim} at {delay:.3f} s")
    return process.returncode


def check_sheet(sheet, victim, code, where):
    records = read(sheet)
    ran = {r["case"] for r in records if r["type"] == "run" and r["status"] == "ok"}
    failed = [r for r in records if r["type"] == "run" and r["status"] != "ok"]
    rows = reported(sheet) if any(r["type"] == "case" for r in records) else {}
    for case in ran:
        if case in {r["case"] for r in failed}:
            continue
        check(case in rows and rows[case]["value"] is not None, f"{where}: {case} ran and is not printed")
    if victim == "child":
        check(code in (0, 1, 3), f"{where}: exit code {code}")
        check(records[-1]["type"] == "end", f"{where}: no end record")
        for run in failed:
            check("SIGKILL" in run["reason"] and run["status"] == "aborted", f"{where}: {run['status']} {run['reason']}")
    else:
        check(code == -victim, f"{where}: exit code {code}, wanted to die of signal {victim}")
        if victim != signal.SIGKILL and records:
            check(records[-1]["type"] == "end", f"{where}: no end record after a signal that can be caught")
    return records


def resume(sheet, where):
    done = subprocess.run([program, "run", "--resume", sheet, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=280)
    check(done.returncode in (0, 3), f"{where}: resume ended with {done.returncode}: {done.stderr[-300:]}")
    records = read(sheet)
    check(records[-1]["type"] == "end" and sum(r["type"] == "end" for r in records) == 1, f"{where}: not one end record after --resume")
    planned = {r["id"]: r["runs_planned"] for r in records if r["type"] == "case" and r["status"] is None}
    for case, wanted in planned.items():
        runs = [r for r in records if r["type"] == "run" and r["case"] == case]
        check(len(runs) >= wanted, f"{where}: {case} has {len(runs)} of {wanted} runs")
        keys = [(r["round"], r["attempt"]) for r in runs]
        check(len(keys) == len(set(keys)), f"{where}: {case} was measured twice in one round: {sorted(keys)}")
    seqs = [r["seq"] for r in records if r["type"] == "run"]
    check(len(seqs) == len(set(seqs)), f"{where}: a seq occurs twice")


before = traces()
if our_processes():
    print("another perfsheet is running")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="ps-kill-") as directory:
    for i in range(rounds):
        victim = chance.choice([signal.SIGKILL, "child", signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        delay = chance.uniform(0.0, 4.0)
        where = f"seed {seed}, kill {i} ({victim} at {delay:.3f} s)"
        sheet = pathlib.Path(directory) / f"{i}.jsonl"
        code = kill_once(sheet, victim, delay)
        time.sleep(0.05)
        check(not our_processes(), f"{where}: processes are left: {our_processes()}")
        if not sheet.exists() or not sheet.stat().st_size:
            check(delay < 2.5, f"{where}: no sheet")
            continue
        records = check_sheet(sheet, victim, code, where)
        if victim != "child" and any(r["type"] == "run" for r in records):
            resume(sheet, where)
check(traces() == before, f"left behind: {traces() - before}")
print("\n".join(faults) if faults else f"{rounds} kills (seed {seed}): nothing was lost and nothing left behind")
sys.exit(1 if faults else 0)
