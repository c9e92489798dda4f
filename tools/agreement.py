#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agreement.py PERFSHEET [PAIRS]: our rows beside other tools' on this machine, taken in turn.

Each pair is one run of ours, then the other tool on the same CPU; medians over the pairs and their ratio are printed. The other
tools print one mean over all of their passes, bursts of neighbours included. So ours is the mean of the samples of each run
here (the median over runs), as the clock measured them, not the row's own estimate, which leaves such bursts out. Sizes and
page kinds are ours on both sides, and a tool runs for as long as one of our windows, so that its first cold passes weigh
little. Run it alone on the machine."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

perfsheet = os.path.abspath(sys.argv[1])
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
cpu = max(os.sched_getaffinity(0))


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def records_of(filter_):
    with tempfile.TemporaryDirectory() as directory:
        sheet = os.path.join(directory, "s.jsonl")
        run(["taskset", "-c", str(cpu), perfsheet, "run", filter_, "-o", sheet])
        return [json.loads(line) for line in open(sheet)]


def our_mean(case, metric):
    """Of each run the mean of its samples, in ns per operation or byte; the median of the runs."""
    runs = [r["metrics"][metric]["samples"] for r in records_of(case) if r["type"] == "run" and metric in (r.get("metrics") or {})]
    means = [statistics.mean(samples) for samples in runs if samples]
    return statistics.median(means) if means else None


def our_value(case, metric):
    for r in records_of(case):
        if r["type"] == "result" and r["id"] == f"{case}:{metric}" and r["status"] in ("ok", "suspect"):
            return r["raw"] if r["raw"] is not None else r["value"]
    return None


def per_ns(mean):
    """MB/s of 10^6 bytes from ns per byte."""
    return None if mean is None else 1000 / mean


INVOCATIONS = 5


def perf_syscall():
    values = []
    for _ in range(INVOCATIONS):
        out = run(["taskset", "-c", str(cpu), "perf", "bench", "syscall", "basic", "-l", "500000"]).stdout
        values.append(1000 * float(re.search(r"([\d.]+) usecs/op", out)[1]))
    return statistics.median(values)


def perf_memcpy():
    values = []
    for _ in range(INVOCATIONS):
        out = run(["taskset", "-c", str(cpu), "perf", "bench", "mem", "memcpy", "-s", "16000000B", "-l", "200", "-f", "default"]).stdout
        value, unit = re.search(r"([\d.]+) (GB|MB)/sec", out).groups()
        values.append(float(value) * (2**30 if unit == "GB" else 2**20) / 1e6)
    return statistics.median(values)


def cyclictest():
    out = run(["cyclictest", "-q", "-m", "-p", "80", "-i", "1000", "-l", "3000", "-a", str(cpu), "-t", "1", "--default-system", "-h", "2000"]).stdout
    counts = [(int(a), int(b)) for a, b in re.findall(r"^(\d{6}) (\d+)", out, re.M)]
    total, seen = sum(n for _, n in counts), 0
    for bucket, n in counts:
        if seen + n >= total / 2:
            return bucket + (total / 2 - seen) / n
        seen += n
    return None


def likwid_stream(bytes_):
    out = run(["likwid-bench", "-t", "stream_sse", "-i", "10", "-W", f"N:{bytes_ // 1000}kB:1:1:{cpu}"]).stdout
    if "MByte/s" not in out:
        out = run(["taskset", "-c", str(cpu), "likwid-bench", "-t", "stream_sse", "-i", "10", "-w", f"N:{bytes_ // 1000}kB:1"]).stdout
    match = re.search(r"MByte/s:\s+([\d.]+)", out)
    return float(match[1]) if match else None


def stress_ng_stream():
    out = run(["taskset", "-c", str(cpu), "stress-ng", "--stream", "1", "-t", "2", "--metrics-brief"])
    match = re.search(r"memory rate: ([\d.]+) MB read/sec, ([\d.]+) MB write/sec", out.stdout + out.stderr)
    return float(match[1]) + float(match[2]) if match else None


STREAM_BYTES = 240_000_000  # three arrays of ten million doubles: the default size of our row

checks = [
    ("null system call, ns", lambda: our_mean("os.lat_syscall/null", "latency"), "perf bench syscall basic", perf_syscall, 0.05),
    ("copy of 16 MB, MB/s", lambda: per_ns(our_mean("mem.bw_mem/bcopy-16mb", "bandwidth")), "perf bench mem memcpy", perf_memcpy, 0.05),
    ("wake-up median, us", lambda: our_value("os.wake_up/fifo", "latency"), "cyclictest -p 80", cyclictest, 0.20),
    ("STREAM triad, MB/s", lambda: per_ns(our_mean("mem.stream/all", "triad")), "likwid-bench stream_sse", lambda: likwid_stream(STREAM_BYTES), 0.05),
]
failed = 0
for title, ours, other, tool, bar in checks:
    if not shutil.which(other.split()[0]):
        print(f"{title:24s} {other}: not here")
        continue
    a, b = [], []
    for _ in range(pairs):
        a.append(ours())
        b.append(tool())
    if None in a or None in b:
        print(f"{title:24s} {other}: no number: ours {a} theirs {b}")
        failed += 1
        continue
    ratios = [x / y for x, y in zip(a, b)]
    ratio = statistics.median(ratios)
    failed += abs(ratio - 1) > bar
    print(f"{title:24s} ours {statistics.median(a):10.4f}   {other} {statistics.median(b):10.4f}   ratio {ratio:.3f} (min {min(ratios):.3f}, max {max(ratios):.3f})   bar {bar:.0%}   {'ok' if abs(ratio - 1) <= bar else 'OUTSIDE'}")
sys.exit(1 if failed else 0)
