#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spread.py SHEET... [--yardstick FILE...] [--rows]: how much each row's value moves over invocations.

Prints the coefficient of variation of `value` per row over the sheets (core-bound rows in cycles, as compare judges
them), then the median and the 90th percentile over rows, for all rows, rows on one CPU and rows on two. An invocation in which
over a third of the runs were disturbed is left out, and said. A yardstick file has lines "id ns_per_unit": the same rows by
a plain method (median of 11 samples in one process, no clock probe), see tools/yardstick.c."""
import argparse
import collections
import json
import statistics

parser = argparse.ArgumentParser()
parser.add_argument("sheets", nargs="+")
parser.add_argument("--yardstick", nargs="*", default=[])
parser.add_argument("--all", action="store_true", help="count disturbed invocations too")
parser.add_argument("--rows", action="store_true", help="print every row")
arguments = parser.parse_args()


def cv(values):
    mean = statistics.fmean(values)
    return 100 * statistics.stdev(values) / mean if len(values) > 1 and mean else None


def percentile(values, share):
    values = sorted(values)
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


rows, two_cpu, quality = collections.defaultdict(list), set(), collections.defaultdict(set)
used = 0
for path in arguments.sheets:
    disturbed = runs = 0
    values = {}
    for line in open(path):
        record = json.loads(line)
        if record["type"] == "run":
            runs += 1
            disturbed += record.get("disturbed") is not None
        elif record["type"] == "result" and record["status"] in ("ok", "suspect") and record["derived_from"] is None:
            if "below-resolution" in record["quality"]:
                continue
            core = record["bound"] == "core" and record.get("cycles") is not None
            values[record["id"]] = record["cycles"] if core else record["value"]
            place = record["place"]
            if place.get("threads", 1) > 1 or place.get("pairing") in ("cross-cpu", "cross-cluster") or len(set(place.get("cpus") or [0])) > 1:
                two_cpu.add(record["id"])
            quality[record["id"]] |= set(record["quality"])
    if runs and disturbed > runs / 3 and not arguments.all:
        print(f"{path}: left out: {disturbed} of {runs} runs were disturbed")
        continue
    print(f"{path}: {len(values)} rows, {disturbed} of {runs} runs disturbed")
    used += 1
    for name, value in values.items():
        rows[name].append(value)

yard = collections.defaultdict(list)
for path in arguments.yardstick:
    for line in open(path):
        name, value = line.split()[:2]
        yard[name].append(float(value))

spread = {name: cv(values) for name, values in rows.items() if len(values) == used and used > 1}
if arguments.rows:
    for name, value in sorted(spread.items(), key=lambda item: item[1]):
        plain = cv(yard[name]) if len(yard.get(name, [])) > 1 else None
        print(f"{value:7.2f} %  {f'{plain:7.2f} %' if plain is not None else '         '}  {name}  {' '.join(sorted(quality[name]))}")


def line(title, values):
    if values:
        print(f"{title:28s} {len(values):4d} rows   median {statistics.median(values):6.2f} %   90th percentile {percentile(values, 0.9):6.2f} %   worst {max(values):6.2f} %")


print(f"spread over {used} invocations")
line("all", list(spread.values()))
line("one CPU", [value for name, value in spread.items() if name not in two_cpu])
line("two CPUs", [value for name, value in spread.items() if name in two_cpu])
both = {name: cv(values) for name, values in yard.items() if name in spread and len(values) > 1}
line("plain yardstick, same rows", list(both.values()))
line("ours on the yardstick's rows", [spread[name] for name in both])
