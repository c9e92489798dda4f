# SPDX-License-Identifier: MIT
"""Pages of several sources, of suspect rows, of rows without a right; exit codes that follow from rows."""

import json
import os
import re

from cli_common import Directory, as_nobody, check, check_whole_sheet, finish, records, run

ROWS = ["os.lat_syscall/null", "os.lat_syscall/read"]


def lines_of(objects):
    return "".join(json.dumps(line) + "\n" for line in objects)


with Directory() as directory:
    path = os.path.join(directory, "linux.jsonl")
    made = run("run", *ROWS, "--quick", "-o", path, "--quiet")
    check(made.returncode in (0, 3), f"run: {made.returncode} {made.stderr}")
    with open(path, encoding="utf-8") as file:
        sheet = records(file.read())
    declared = [line for line in sheet if line["type"] not in ("result", "end")]

    # The same rows of another core: side by side, each in its own column.
    other = json.loads(json.dumps(declared))
    for line in other:
        if line["type"] == "source":
            line.update(id="r5f0-0", kind="mcu", core="cortex-r5", hz=800e6)
        elif "source" in line:
            line["source"] = "r5f0-0"
        if line["type"] == "run":
            for metric in line["metrics"].values():
                metric["samples"] = [10 * sample for sample in metric["samples"]]
    second = os.path.join(directory, "r5.jsonl")
    with open(second, "w", encoding="utf-8") as file:
        file.write(lines_of(other))
    page = run("report", path, second)
    check(page.returncode == 0, f"merge: {page.stderr}")
    heading = [line.split() for line in page.stdout.splitlines() if "row, unit" in line]
    check(heading == [["row,", "unit", "linux", "r5f0-0"]], f"a column a source: {heading}")
    row = [line.split() for line in page.stdout.splitlines() if line.strip().startswith("null, us")]
    numbers = [float(word) for word in row[0] if re.fullmatch(r"[\d.]+", word)] if row else []
    check(len(numbers) == 2 and 5 < numbers[1] / numbers[0] < 20, f"both values stand in the row: {row}")
    check("source     r5f0-0: mcu, cortex-r5, 800 MHz" in page.stdout, "the other source is described")
    md = run("report", path, second, "--format", "md").stdout
    check("| row | unit | linux | r5f0-0 |" in md, "md: a column a source")
    merged = json.loads(run("report", path, second, "--format", "json").stdout)
    check(sorted((r["id"], r["source"]) for r in merged) ==
          sorted((r["id"], s) for r in sheet if r["type"] == "result" for s in ("linux", "r5f0-0")),
          "json: results of both")

    # Rows that only one of them has: under that source's name.
    only = [line for line in other if line["type"] not in ("case", "run") or
            "read" in line.get("id", "") + line.get("case", "")]
    with open(second, "w", encoding="utf-8") as file:
        file.write(lines_of(only))
    linux_null = os.path.join(directory, "null.jsonl")
    with open(linux_null, "w", encoding="utf-8") as file:
        file.write(lines_of([line for line in declared if line["type"] not in ("case", "run") or
                             "null" in line.get("id", "") + line.get("case", "")]))
    page = run("report", linux_null, second).stdout
    at = [page.find(text) for text in ("source: linux", "  null ", "source: r5f0-0", "  read ")]
    check(-1 not in at and at == sorted(at), f"rows stand under their source: {at}")

    # A rule that does not hold: the row is suspect and says why.
    suspect = json.loads(json.dumps(declared))
    for line in suspect:
        if line["type"] == "case" and line["id"] == ROWS[0]:
            line["relations"] = [{"type": "at-least", "rule": "test-01", "metric": line["metrics"][0]["name"],
                                  "other": ROWS[1] + ":" + line["metrics"][0]["name"], "factor": 1000.0,
                                  "tolerance": 0.1, "cause": "this test"}]
    path = os.path.join(directory, "suspect.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines_of(suspect))
    page = run("report", path).stdout
    check(re.search(r"null .*SUSPECT", page), "a suspect row is marked")
    words = " ".join(page.split())
    check(re.search(r"rule test-01: expected [\d.]+, got [\d.]+, against os\.lat_syscall/read:\w+; likely this test",
                    words), f"its rule: {words[-900:]}")
    check(re.search(r"[12] suspect,", page), "suspect rows are counted")
    check("rule test-01" in run("report", path, "--format", "md").stdout, "md: the rule")

    # A status for every row that has no number, grouped by what helps.
    for line in suspect:
        if line["type"] == "case":
            line.update(status="denied", reason="needs the right of CAP_X: run as root", runs_planned=0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines_of([line for line in suspect if line["type"] != "run"]))
    page = run("report", path).stdout
    check("denied, 2 rows: needs the right of CAP_X: run as root" in page, "grouped by remedy")
    check(f"{ROWS[0]}, {ROWS[1]}" in page, "the rows of the group")

    # The same sheet twice: its runs count once, in one file it is refused.
    path = os.path.join(directory, "linux.jsonl")
    once, twice = run("report", path, "--format", "json"), run("report", path, path, "--format", "json")
    check(once.stdout == twice.stdout and "they count once" in twice.stderr, f"twice: {twice.stderr}")
    check("count once" in run("report", path, path, "--format", "md").stdout, "md: twice")
    double = os.path.join(directory, "double.jsonl")
    with open(path, encoding="utf-8") as file, open(double, "w", encoding="utf-8") as out:
        out.write(2 * file.read())
    refused = run("report", double)
    check(refused.returncode == 1 and "another sheet begins here" in refused.stderr, f"cat S S: {refused.stderr}")

    # A disk that is full.
    full = run("run", *ROWS, "--quick", "-o", "/dev/full")
    check(full.returncode == 1 and "No space left" in full.stderr, f"disk full: {full.returncode} {full.stderr}")

    # A row that is denied costs only itself; --strict counts it.
    words = ["run", "os.wake_up/fifo", ROWS[0], "--quick", "-o", "-", "--quiet"]
    plain = run(*words, **as_nobody())
    lines = check_whole_sheet(plain.stdout, "as an ordinary user")
    status = {line["id"]: line["status"] for line in lines if line["type"] == "result"}
    if "denied" in status.values():
        check(plain.returncode in (0, 3), f"denied does not matter: {plain.returncode}")
        check(run(*words, "--strict", **as_nobody()).returncode == 1, "--strict: denied is a failure")
        reason = [line["reason"] for line in lines if line["type"] == "result" and line["status"] == "denied"][0]
        check(reason and len(reason.split()) > 3, f"the remedy: {reason}")

finish()
