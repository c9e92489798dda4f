# SPDX-License-Identifier: MIT
"""run and report: what goes to stdout, to stderr and into the sheet, and with which exit code."""

import json
import os
import re
import subprocess

from cli_common import PERFSHEET, ROW, Directory, as_nobody, check, check_whole_sheet, finish, records, run


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


with Directory() as directory:
    # The default name has board, date and time; the page is on stdout, talk on stderr.
    first = run("run", ROW, "--quick", cwd=directory)
    check(first.returncode in (0, 3), f"run: {first.returncode} {first.stderr}")
    names = os.listdir(directory)
    check(len(names) == 1 and re.match(r"^[a-z0-9-]+-\d{8}-\d{6}\.jsonl$", names[0]), f"default name: {names}")
    check(re.search(r"1 rows?, \d+ runs each: about \d+ s", first.stderr), f"prediction: {first.stderr}")
    for wanted in ("board ", "kernel ", "governor ", "again: ", "plan:  ", f"sheet: ./{names[0]}",
                   "null ", "us "):
        check(wanted in first.stdout, f"page: {wanted!r}")
    check("\033" not in first.stdout + first.stderr, "no escape sequence without a terminal")
    lines = check_whole_sheet(read(directory, names[0]), "default run")
    check(lines[0]["plan"]["args"] == [ROW, "--quick"], f"args: {lines[0]['plan']['args']}")
    check(lines[-1]["exit"] == first.returncode, "the end record has the exit code")
    again = re.sub(r"\s*\\\n\s*", " ", first.stdout)
    check(f"again: {PERFSHEET} run os.lat_syscall/null --quick\n" in again, "replay command")
    check((first.stdout + first.stderr).count(names[0]) == 1, "says once where the sheet is")

    # -o: named, refused when it exists, not touched then.
    path = os.path.join(directory, "named.jsonl")
    named = run("run", ROW, "--quick", "-o", path, "--quiet")
    check(named.returncode in (0, 3) and named.stderr == "", f"--quiet: {named.stderr}")
    check(os.path.exists(path), "-o makes the file")
    before = read(path)
    refused = run("run", ROW, "--quick", "-o", path)
    check(refused.returncode == 2 and "exists" in refused.stderr and refused.stdout == "", "-o refuses a file")
    check(read(path) == before, "-o leaves the file alone")
    nowhere = run("run", ROW, "--quick", "-o", os.path.join(directory, "no", "dir.jsonl"))
    check(nowhere.returncode == 1 and "No such file" in nowhere.stderr, "-o into no directory")

    # -o -: JSON lines and nothing else on stdout, the page on stderr.
    piped = run("run", ROW, "--quick", "-o", "-", cwd=directory)
    check(piped.returncode in (0, 3), f"-o -: {piped.returncode}")
    check_whole_sheet(piped.stdout, "-o -")
    check("again: " in piped.stderr, "-o -: the page is on stderr")
    quiet = run("run", ROW, "--quick", "-o", "-", "--quiet", cwd=directory)
    check_whole_sheet(quiet.stdout, "-o - --quiet")
    check(quiet.stderr == "", f"-o - --quiet: {quiet.stderr[:80]}")
    check(len(os.listdir(directory)) == 2, "-o - leaves no file")

    # A reader that goes away is no disaster.
    head = subprocess.run(f"'{PERFSHEET}' run {ROW} --quick -o - | head -c 10", shell=True, capture_output=True,
                          text=True, timeout=60)
    check("Broken pipe" not in head.stderr and "perfsheet:" not in head.stderr, f"SIGPIPE: {head.stderr[-200:]}")
    head = subprocess.run(f"'{PERFSHEET}' list | head -1; exit ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
                          capture_output=True, text=True, timeout=60)
    check(head.returncode == 0 and head.stderr == "", f"list | head: {head.returncode} {head.stderr}")
    full = subprocess.run(f"'{PERFSHEET}' list > /dev/full", shell=True, capture_output=True, text=True, timeout=60)
    check(full.returncode == 1 and "No space" in full.stderr, f"/dev/full: {full.returncode} {full.stderr}")

    # The page of the sheet is the page of the run; json and md.
    page = run("report", path)
    check(page.returncode == 0 and page.stdout.splitlines()[-1] == f"sheet: {path}", "report")
    results = json.loads(run("report", path, "--format", "json").stdout)
    check(results == [line for line in records(before) if line["type"] == "result"], "report json = result records")
    md = run("report", path, "--format", "md").stdout
    check(md.startswith("# Performance datasheet") and "\n## os\n" in md, "report md")
    rows = [line for line in md.splitlines() if line.startswith("| null |")]
    check(len(rows) == 1 and rows[0].count("|") == 7, f"report md: {rows}")
    out = os.path.join(directory, "page.md")
    check(run("report", path, "--format", "md", "-o", out).returncode == 0 and read(out) == md, "report -o")
    check(run("report", path, "-o", out).returncode == 2, "report -o refuses a file")
    check(run("report", os.path.join(directory, "none.jsonl")).returncode == 1, "report of no file")
    stdin = run("report", "-", "--format", "json", stdin=open(path, encoding="utf-8"))
    check(json.loads(stdin.stdout) == results, "report of stdin")

    # Two sheets of one plan pool their runs.
    both = json.loads(run("report", path, os.path.join(directory, names[0]), "--format", "json").stdout)
    check(len(both) == 1 and both[0]["n_runs"] + both[0]["n_disturbed"] >= 6, f"pooled: {len(both)}")

    # A sheet that was cut off: in its results, in a run, in the middle of a line.
    text = before
    runs = [i for i, line in enumerate(text.splitlines()) if '"type":"run"' in line[:20]]
    cut = os.path.join(directory, "cut.jsonl")
    whole = text.splitlines(keepends=True)
    for keep, tail, n in ((runs[-1] + 1, "", len(runs)), (runs[-1], whole[runs[-1]][:50], len(runs) - 1)):
        with open(cut, "w", encoding="utf-8") as file:
            file.write("".join(whole[:keep]) + tail)
        page = run("report", cut)
        check(page.returncode == 0, f"cut: {page.returncode} {page.stderr}")
        check(f"this sheet was cut off: rebuilt from {n} run" in page.stdout, f"cut: {page.stdout[:80]!r}")
    rebuilt = json.loads(run("report", cut, "--format", "json").stdout)
    check(rebuilt[0]["value"] is not None and rebuilt[0]["n_runs"] <= len(runs) - 1, "results are rebuilt")

    # --resume finishes it in place; another plan is refused.
    other = run("run", "os.lat_syscall/read", "--quick", "--resume", cut)
    check(other.returncode == 1 and "another plan" in other.stderr, f"resume of another plan: {other.stderr}")
    resumed = run("run", "--resume", cut)
    check(resumed.returncode in (0, 3), f"resume: {resumed.returncode} {resumed.stderr}")
    lines = check_whole_sheet(read(cut), "resumed")
    n_runs = len([line for line in lines if line["type"] == "run"])
    check(n_runs >= len(runs), f"resume: {n_runs} runs of {len(runs)}")
    check(read(cut).startswith("".join(whole[:runs[-1]])), "resume keeps what was there")
    # Of another machine or program: refused, with what differs.
    for key, value, what in (("hostname", "elsewhere", "host name"), ("model", "Other", "board model"),
                             ("arch", "pdp11", "architecture"), ("version", "9.9", "version"),
                             ("commit", "0", "commit"), ("core", "Other", "CPU model")):
        foreign = os.path.join(directory, "foreign.jsonl")
        with open(foreign, "w", encoding="utf-8") as file:
            file.write(re.sub(f'"{key}":"[^"]*"', f'"{key}":"{value}"', before))
        result = run("run", "--resume", foreign)
        check(result.returncode == 2 and what in result.stderr, f"another {what}: {result.stderr}")
    # Cut among its declarations: they are completed.
    part = os.path.join(directory, "part.jsonl")
    for keep in (1, 2, 3):
        with open(part, "w", encoding="utf-8") as file:
            file.write("".join(whole[:keep]) + whole[keep][:40])
        result = run("run", "--resume", part, "--strict", "--quiet")
        check(result.returncode in (0, 3), f"cut in its plan: {result.returncode} {result.stderr}")
        kinds = [line["type"] for line in check_whole_sheet(read(part), f"cut in its plan, {keep}")]
        check([kinds.count(kind) for kind in ("source", "table", "case")] == [1, 1, 1], f"declared: {kinds}")
    result = run("run", "--resume", part, "--seed", "5")
    check(result.returncode == 2 and "--seed" in result.stderr, f"another seed: {result.stderr}")
    broken = os.path.join(directory, "broken.jsonl")
    with open(broken, "w", encoding="utf-8") as file:
        file.write(whole[0] + "{not json}\n" + whole[1])
    bad = run("report", broken)
    check(bad.returncode == 1 and re.search(r"broken\.jsonl:2:\d+: ", bad.stderr), f"broken: {bad.stderr}")

    # Anonymous: no host name, no path.
    target = os.path.join(directory, "secret-dir")
    os.mkdir(target)
    hidden = run("run", ROW, "--quick", "--anonymise", "--target", f"x={target}", "-o", "-", "--quiet")
    check("secret-dir" not in hidden.stdout, "--anonymise: no paths")
    check(json.loads(hidden.stdout.splitlines()[0])["env"]["hostname"] is None, "--anonymise: no host name")

    # --golden proves and times nothing.
    golden = run("run", "os.lat_syscall", "--golden", cwd=directory)
    check(golden.returncode == 0 and f"{ROW} ok\n" in golden.stdout, f"--golden: {golden.stdout} {golden.stderr}")

    # Nothing can run: exit 5.
    cpus = run("run", "os.lat_ctx/*-cross-cluster", "--quick", "-o", "-", "--quiet")
    if all(json.loads(line)["status"] == "unsupported" for line in cpus.stdout.splitlines()
           if '"type":"result"' in line[:20]):
        check(cpus.returncode == 5, f"nothing ran: exit {cpus.returncode}")
        check_whole_sheet(cpus.stdout, "nothing ran")

    # Unusual surroundings: no stdin, no stdout, no HOME, another locale.
    closed = subprocess.run(f"'{PERFSHEET}' run {ROW} --quick -o closed.jsonl <&- >&-", shell=True, cwd=directory,
                            capture_output=True, text=True, timeout=60,
                            env={**{key: value for key, value in os.environ.items() if key != "HOME"},
                                 "LC_ALL": "de_DE.UTF-8"})
    check(closed.returncode == 1 and "Bad file descriptor" in closed.stderr,
          f"closed stdin and stdout: {closed.returncode} {closed.stderr}")
    for words in (["run", ROW, "--quick", "-o", "-"], ["list"], ["report", path], ["--help"]):
        closed = subprocess.run(f"'{PERFSHEET}' {' '.join(words)} >&-", shell=True, capture_output=True, text=True,
                                cwd=directory, timeout=60)
        check(closed.returncode == 1 and "Bad file descriptor" in closed.stderr, f"{words} to a closed stdout")
    check_whole_sheet(read(directory, "closed.jsonl"), "closed stdin and stdout")

# Nothing is writable: the sheet goes to stdout, and rows that need no file have numbers.
with Directory() as directory:
    os.chmod(directory, 0o555)
    if os.geteuid() != 0 or os.access(PERFSHEET, os.X_OK):
        result = run("run", ROW, "--quick", cwd=directory, env={"HOME": "/nonexistent"}, **as_nobody())
        if "Permission denied" in result.stderr and result.returncode > 5:
            print("the program cannot be run as nobody from here")
        else:
            check(result.returncode in (0, 3), f"read-only directory: {result.returncode} {result.stderr[-300:]}")
            lines = check_whole_sheet(result.stdout, "read-only directory")
            check(any(line["type"] == "result" and line["value"] for line in lines), "read-only directory: a number")
            check("the sheet goes to stdout" in result.stderr or "it goes to stdout" in result.stderr,
                  "read-only directory: says so")
            check(os.listdir(directory) == [], "read-only directory: no file")

finish()
