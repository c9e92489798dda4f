# SPDX-License-Identifier: MIT
"""Signals: the sheet is closed, and the program dies of the signal that came."""

import os
import signal
import subprocess

from cli_common import PERFSHEET, Directory, check, check_whole_sheet, finish, wait_for

# Enough rows to be in the middle of when the signal comes.
ROWS = ["os.lat_syscall", "os.lat_sig", "os.lat_proc"]


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def start(path, **options):
    return subprocess.Popen([PERFSHEET, "run", *ROWS, "-o", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    with Directory() as directory:
        path = os.path.join(directory, "sheet.jsonl")
        process = start(path)
        check(wait_for(lambda: '"type":"run"' in text_of(path)), f"{number.name}: no run within 30 s")
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        check(process.returncode == -number, f"{number.name}: ended with {process.returncode}: {err[-200:]}")
        lines = check_whole_sheet(text_of(path), number.name)
        statuses = {line["status"] for line in lines if line["type"] == "result"}
        check("ok" in statuses, f"{number.name}: no finished row is kept: {statuses}")
        check(lines and lines[-1]["exit"] == 128 + number, f"{number.name}: exit {lines[-1:]}")
        check(" run os." in out, f"{number.name}: the page is printed")
        check("cut off" not in out, f"{number.name}: the sheet is whole")

        # What is missing can be finished.
        if number == signal.SIGINT:
            resumed = subprocess.Popen([PERFSHEET, "run", "--resume", path, "--quiet"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            out, err = resumed.communicate(timeout=120)
            check(resumed.returncode in (0, 3), f"resume: {resumed.returncode} {err}")
            lines = check_whole_sheet(text_of(path), "resumed")
            bad = [line["id"] for line in lines if line["type"] == "result" and line["status"] == "aborted"]
            check(not bad, f"resumed, still aborted: {bad}")

# A child that somebody kills costs a run, not its row; a sheet that is deleted meanwhile is missed.
with Directory() as directory:
    path = os.path.join(directory, "sheet.jsonl")
    process = subprocess.Popen([PERFSHEET, "run", "os.lat_syscall/null", "--quick", "-o", path, "--quiet"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    wait_for(lambda: text_of(path).count('"type":"case"') and text_of(children).split())
    victim = text_of(children).split()
    if victim:
        os.kill(int(victim[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    lines = check_whole_sheet(text_of(path), "a killed child")
    aborted = [line["reason"] for line in lines if line["type"] == "run" and line["status"] == "aborted"]
    check(len(aborted) == 1 and "signal 9" in aborted[0] and "--resume" in aborted[0], f"a killed child: {aborted}")
    check(process.returncode in (0, 3), f"a killed child: {process.returncode} {err}")
with Directory() as directory:
    path = os.path.join(directory, "sheet.jsonl")
    process = start(path)
    wait_for(lambda: '"type":"run"' in text_of(path))
    os.unlink(path)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    check("is gone" in err and "sheet: " not in out, f"a deleted sheet: {err[-300:]}")

# A signal that was ignored at the start stays ignored (nohup).
with Directory() as directory:
    path = os.path.join(directory, "sheet.jsonl")
    process = subprocess.Popen(["sh", "-c", f"trap '' HUP; exec '{PERFSHEET}' run os.lat_syscall/null --quick -o '{path}'"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: '"type":"case"' in text_of(path))
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    check(process.returncode in (0, 3), f"nohup: {process.returncode}")
    check_whole_sheet(text_of(path), "nohup")

# To a pipe as well: one complete document.
process = subprocess.Popen([PERFSHEET, "run", *ROWS, "-o", "-", "--quiet"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
collected = []
for line in process.stdout:
    collected.append(line)
    if '"type":"run"' in line[:20]:
        process.send_signal(signal.SIGTERM)
        break
rest, err = process.communicate(timeout=30)
check(process.returncode == -signal.SIGTERM, f"pipe: {process.returncode} {err}")
check_whole_sheet("".join(collected) + rest, "pipe")

finish()
