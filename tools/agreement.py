#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agreement.py PERFSHEET [PAIRS]: our rows beside other tools' on this machine, taken in turn.

Each pair is one run of ours, then the other tool on the same CPU; medians over the pairs and their ratio are printed. Ours is
`raw` (no clock normalising), which is what other tools measure. One estimator on both sides: where ours is a low quantile of
short samples, so is theirs, over short invocations of the tool, since a neighbour's bursts would be in their mean alone. Run
it alone on the machine."""
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


def ours(filter_, metric_id):
    with tempfile.TemporaryDirectory() as directory:
        sheet = os.path.join(directory, "s.jsonl")
        run([perfsheet, "run", filter_, "-o", sheet])
        for line in open(sheet):
            record = json.loads(line)
            if record["type"] == "result" and record["id"] == metric_id and record["status"] in ("ok", "suspect"):
                return record["raw"] if record["raw"] is not None else record["value"]
    return None


def low(values, share):
    """The quantile that our rows of this bound have inside a run."""
    values = sorted(values)
    return statistics.quantiles(values, n=100, method="inclusive")[round(100 * share) - 1]


INVOCATIONS = 24


def perf_syscall():
    values = []
    for _ in range(INVOCATIONS):
        out = run(["taskset", "-c", str(cpu), "perf", "bench", "syscall", "basic", "-l", "100000"]).stdout
        values.append(float(re.search(r"([\d.]+) usecs/op", out)[1]))
    return low(values, 0.10)


def perf_memcpy():
    values = []
    for _ in range(INVOCATIONS):
        out = run(["taskset", "-c", str(cpu), "perf", "bench", "mem", "memcpy", "-s", "16000000B", "-l", "10", "-f", "default"]).stdout
        value, unit = re.search(r"([\d.]+) (GB|MB)/sec", out).groups()
        values.append(1 / (float(value) * (2**30 if unit == "GB" else 2**20) / 1e6))
    return 1 / low(values, 0.25)


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


checks = [
    ("null system call, us", "os.lat_syscall/null", "os.lat_syscall/null:latency", "perf bench syscall basic", perf_syscall, 0.05),
    ("copy of 16 MB, MB/s", "mem.bw_mem/bcopy-16mb", "mem.bw_mem/bcopy-16mb:bandwidth", "perf bench mem memcpy", perf_memcpy, 0.05),
    ("wake-up median, us", "os.wake_up/fifo", "os.wake_up/fifo:latency", "cyclictest -p 80", cyclictest, 0.20),
    ("STREAM triad, MB/s", "mem.stream/all", "mem.stream/all:triad", "likwid-bench stream_sse", lambda: likwid_stream(400_000_000), 0.05),
]
failed = 0
for title, filter_, metric, other, tool, bar in checks:
    if not shutil.which(other.split()[0]):
        print(f"{title:24s} {other}: not here")
        continue
    a, b = [], []
    for _ in range(pairs):
        a.append(ours(filter_, metric))
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
