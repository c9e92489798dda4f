#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_shapes.py SHEET... > tests/sim/measured_shapes.h: how run values scatter on a real machine.

Prints relative run values (run value / median of the row) of about 20 rows of all bounds as a C header, which
tests/sim/test_interval_coverage.c draws from. Runs of one row are pooled over the sheets; disturbed runs are left out, and rows
of fewer than 8. Run values are made as src/sheet/run_value.c makes them; a core-bound row's are in cycles, so that sheets
with other reference clocks can be pooled. Of each bound the rows are taken evenly over their order by scatter, the quietest
and the most scattered among them: which rows are taken does not depend on how they come out."""
import collections
import json
import statistics
import sys

RUNS_MIN, RUNS_MAX = 8, 40
ROWS_OF_BOUND = {"core": 8, "memory": 8, "wake": 5}


def quantile(values, share):
    values = sorted(values)
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (position - low) * (values[high] - values[low])


STATS = {"median": lambda v: quantile(v, 0.5), "p10": lambda v: quantile(v, 0.1), "p25": lambda v: quantile(v, 0.25),
         "min": min, "mean": statistics.fmean}


def run_value(metric, series, full_issue):
    """Of the samples net of their baseline, in cycles for a core-bound row; None where it can not be told."""
    gross, n = series["samples"], len(series["samples"])
    core = metric["bound"] == "core" and metric["kind"] != "reading"
    baseline = series.get("baseline") or [0.0] * n
    mhz = [value or 0.0 for value in series.get("mhz") or [0.0] * n]
    baseline_mhz = [value or 0.0 for value in series.get("baseline_mhz") or mhz]
    issue = [value or 0.0 for value in series.get("issue") or [0.0] * n]
    known = [not core or (m > 0 and b > 0) for m, b in zip(mhz, baseline_mhz)]
    if n == 0 or 2 * sum(known) < n or series.get("events", n) > n:
        return None
    shared = [i > 0 and full_issue > 0 and i < 0.95 * full_issue for i in issue]
    alone = sum(k and not s for k, s in zip(known, shared))
    leave_shared = alone >= 5 and alone >= n // 5
    nets = [g * m - b * bm if core else g - b
            for g, b, m, bm, k, s in zip(gross, baseline, mhz, baseline_mhz, known, shared) if k and not (leave_shared and s)]
    return STATS[metric["sample_stat"]](nets)


def collect(paths):
    rows, stats = collections.defaultdict(list), {}
    for path in paths:
        metrics = {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if record["type"] == "case":
                    metrics[record["id"]] = {m["name"]: m for m in record["metrics"] if m["kind"] != "derived"}
                if record["type"] != "run" or record["status"] != "ok" or record["disturbed"]:
                    continue
                full_issue = ((record.get("witness") or {}).get("issue") or [0] * 4)[3] or 0.0
                for name, series in record["metrics"].items():
                    metric = metrics[record["case"]].get(name)
                    value = run_value(metric, series, full_issue) if metric and series["samples"] else None
                    if value is not None:
                        row = f"{record['case']}:{name}"
                        rows[row].append(value)
                        stats[row] = (metric["bound"], metric["run_stat"])
    return rows, stats


def spaced(names, n):
    if len(names) <= n:
        return names
    return [names[round(i * (len(names) - 1) / (n - 1))] for i in range(n)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rows, stats = collect(sys.argv[1:])
    chosen = []
    for bound, n in ROWS_OF_BOUND.items():
        fit = [row for row in rows if stats[row][0] == bound and len(rows[row]) >= RUNS_MIN and min(rows[row]) > 0]
        fit.sort(key=lambda row: (statistics.stdev(rows[row]) / statistics.fmean(rows[row]), row))
        chosen += spaced(fit, n)
    print("/* SPDX-License-Identifier: MIT\n *\n * Written by tools/run_shapes.py from "
          f"{len(sys.argv) - 1} sheets of a shared machine: run values of a row over their median.\n */\n"
          "static const struct measured_shape measured_shapes[] = {")
    for row in chosen:
        values = rows[row][:RUNS_MAX]
        median = statistics.median(values)
        words = [f"{value / median:.5g}," for value in values]
        stat = {"lower-half": "PS_STAT_LOWER_HALF", "median": "PS_STAT_MEDIAN", "mean": "PS_STAT_MEAN"}[stats[row][1]]
        print(f'    {{"{row}",\n     {stat},\n     {len(values)},\n     {{')
        line = "      "
        for word in words:
            if len(line) + len(word) + 1 > 98:
                print(line.rstrip())
                line = "      "
            line += word + " "
        print(line.rstrip() + "}},")
    print("};")


if __name__ == "__main__":
    main()
