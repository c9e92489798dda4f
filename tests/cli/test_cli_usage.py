# SPDX-License-Identifier: MIT
"""Help, usage errors, man page and completion: all made from one table, and all true."""

import os
import re
import shutil
import subprocess
import tempfile

from cli_common import PERFSHEET, ROW, VERBS, check, finish, run

# Help, of the program and of every verb, on stdout.
top = run("--help")
check(top.returncode == 0 and not top.stderr, "--help")
for verb in VERBS:
    check(re.search(rf"^  {verb}\s+\S", top.stdout, re.M), f"--help names {verb}")
    for words in ([verb, "--help"], ["--help", verb], [verb, "-h"]):
        result = run(*words)
        check(result.returncode == 0 and not result.stderr, f"{words}: {result.returncode} {result.stderr}")
        check(result.stdout.startswith(f"usage: perfsheet {verb} "), f"{words}: {result.stdout[:40]!r}")
        check("--root DIR" in result.stdout, f"{words} names the options of all verbs")
        check(all(len(line) <= 80 for line in result.stdout.splitlines()), f"{words}: a line over 80 columns")

# Every option that run has.
help_of_run = run("run", "--help").stdout
for option in ("--quick --thorough --budget --output --cpus --threads --board-file --target --resume --cpu-load "
               "--fix-clock --golden --dry-run --strict --all --anonymise --seed --quiet").split():
    check(re.search(rf"{option}\b", help_of_run), f"run --help names {option}")

version = run("--version")
check(version.returncode == 0 and re.match(r"perfsheet \d+\.\d+\.\d+ \(.+\)\n$", version.stdout), version.stdout)

# Usage errors: exit 2, nothing on stdout, the nearest word named.
for words, wanted in [
    ([], "no verb"),
    (["rn"], "unknown verb 'rn'; the nearest is 'run'"),
    (["reprot"], "the nearest is 'report'"),
    (["run", "--quik"], "unknown option '--quik'; the nearest is '--quick'"),
    (["run", "--ouptut=x"], "the nearest is '--output'"),
    (["list", "--formt", "json"], "the nearest is '--format'"),
    (["--qiet", "run"], "the nearest is '--quiet'"),
    (["run", "-x"], "unknown option '-x'"),
    (["run", "--quick=1"], "--quick takes no value"),
    (["run", "--budget"], "--budget wants a value"),
    (["run", "--output="], "--output wants a value"),
    (["list", "--root", "/etc/passwd"], "not a directory"),
    (["run", "--budget", "0"], "--budget wants a whole number"),
    (["run", "--budget", "-1"], "--budget wants a whole number"),
    (["run", "--budget", "1e3"], "--budget wants a whole number"),
    (["run", "--seed", "99999999999999999999999"], "--seed wants a whole number"),
    (["run", "--quick", "--thorough"], "at once"),
    (["run", "--cpu-load", "tick"], "--cpu-load is soak"),
    (["run", "--resume", "x", "-o", "y"], "--resume"),
    (["run", "mem.stream/all:triad"], "leave out the ':'"),
    (["run", "nosuchchapter"], "nosuchchapter"),
    (["run", "--dry-run", "--cpus", "3-1"], "3-1"),
    (["run", "--dry-run", "--target", "NO=/tmp"], "target 'NO'"),
    (["run", "--board-file", "/nonexistent"], "/nonexistent"),
    (["list", "--format", "xml"], "--format is text or json"),
    (["report"], "no sheet"),
    (["report", "--format", "pdf", "x"], "--format"),
    (["explain"], "one ID"),
    (["explain", "mem.strem"], "the nearest table is 'mem.stream'"),
    (["explain", "mem.stream/all:trad"], "no table and no row"),
    (["selftest", "word"], "takes no words"),
    (["ingest", "x"], "-o"),
    (["--root", "/nonexistent", "list"], "/nonexistent"),
    (["--root", "/tmp", "run", ROW], "benchmarks never run under --root"),
]:
    result = run(*words)
    check(result.returncode == 2, f"{words}: exit {result.returncode}")
    check(wanted in result.stderr, f"{words}: {wanted!r} is not in {result.stderr!r}")
    check(result.stdout == "", f"{words}: stdout {result.stdout[:60]!r}")

# "--" ends the options.
check("no id has a" in run("run", "--", "--x").stderr or run("run", "--", "--x").returncode == 2, "-- --x is a filter")

# The program that does nothing.
for code in (0, 7, 255):
    check(run("--exit-code", str(code)).returncode == code, f"--exit-code {code}")

# The man page names every verb and option, and a formatter finds no fault in it.
man = run("--man").stdout
for verb in VERBS:
    check(f"PERFSHEET {verb}".upper() in man.upper(), f"man page: {verb}")
for option in set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", help_of_run, re.M)):
    check("\\-\\-" + option.replace("-", "\\-") in man, f"man page: --{option}")
with tempfile.NamedTemporaryFile("w", suffix=".1") as page:
    page.write(man)
    page.flush()
    if shutil.which("man"):
        env = dict(os.environ, MANWIDTH="80", LC_ALL="C", MAN_KEEP_FORMATTING="")
        shown = subprocess.run(["man", "--warnings", "-l", page.name], capture_output=True, text=True, env=env,
                               stdin=subprocess.DEVNULL, timeout=60)
        if shown.returncode == 0:
            check("EXIT STATUS" in shown.stdout, "man -l shows the page")
            check(shown.stderr.strip() == "", f"man --warnings: {shown.stderr[:300]}")
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "error", page.name], capture_output=True, text=True)
        check(lint.returncode == 0, f"mandoc: {lint.stdout[:300]}")

# The completion completes verbs, options, their values.
completion = run("--completion").stdout


def complete(*words):
    script = completion + f"""
COMP_WORDS=({' '.join("'" + word + "'" for word in words)})
COMP_CWORD={len(words) - 1}
_perfsheet
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=30)


if shutil.which("bash"):
    reply = complete("perfsheet", "")
    check(reply.stderr == "", f"completion: {reply.stderr[:200]}")
    check(set(VERBS) <= set(reply.stdout.split()), f"completion of verbs: {reply.stdout.split()}")
    check(complete("perfsheet", "re").stdout.split() == ["report"], "completion of 're'")
    check(complete("perfsheet", "run", "--qui").stdout.split() == ["--quick", "--quiet"], "completion of --qui")
    check(complete("perfsheet", "report", "--format", "").stdout.split() == ["terminal", "md", "json"],
          "completion of --format")
    check(complete("perfsheet", "run", "--cpu-load", "").stdout.split() == ["soak"], "completion of --cpu-load")
    check("--resume" not in complete("perfsheet", "list", "--").stdout, "list has no --resume")

check(os.access(PERFSHEET, os.X_OK), "the program is there")
finish()
