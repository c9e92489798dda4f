# SPDX-License-Identifier: MIT
"""doctor: what is said of this machine and of described ones, and the exit code."""

import json
import os

from cli_common import Directory, as_nobody, check, finish, run

VERDICTS = {"good", "unknown", "note", "bad"}


def findings(result, what):
    check(result.stderr == "", f"{what}: stderr {result.stderr[:200]}")
    rows = json.loads(result.stdout)
    for row in rows:
        check(set(row) == {"check", "verdict", "seen", "spoils", "mend"}, f"{what}: keys {sorted(row)}")
        check(row["verdict"] in VERDICTS and row["seen"], f"{what}: {row}")
        check((row["spoils"] is not None) == (row["verdict"] in ("note", "bad")), f"{what}: spoils of {row}")
    check(result.returncode == (3 if any(row["verdict"] == "bad" for row in rows) else 0),
          f"{what}: exit {result.returncode}")
    return rows


# This machine, as whoever runs the test and as an ordinary user.
here = findings(run("doctor", "--format", "json"), "this machine")
check(len(here) >= 20 and len({row["check"] for row in here}) == len(here), "every check once")
with Directory() as directory:
    nobody = findings(run("doctor", "--format", "json", cwd=directory, **as_nobody()), "an ordinary user")
    check([row["check"] for row in nobody] == [row["check"] for row in here], "the same checks without rights")
    check(os.listdir(directory) == [], "doctor leaves nothing behind")

text = run("doctor", "--all")
check(text.returncode in (0, 3) and text.stderr == "", f"text: {text.returncode} {text.stderr}")
for row in here:
    check(any(line[8:].startswith(row["check"] + " ") for line in text.stdout.splitlines()), f"--all tells {row['check']}")
short = run("doctor").stdout
check(not any(line.startswith(("good ", "unknown ")) for line in short.splitlines()), "without --all only what matters")
check("--all shows all" in short.splitlines()[-1], "the last line counts")

# A described machine: what spoils it is found, nothing of this one is in it.
with Directory() as directory:
    def put(path, content):
        os.makedirs(os.path.join(directory, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(directory, path), "w", encoding="ascii") as file:
            file.write(content)

    check(run("--root", directory, "doctor").returncode == 1, "a root without any CPU cannot be examined")
    put("sys/devices/system/cpu/online", "0-1\n")
    rows = findings(run("--root", directory, "doctor", "--format", "json"), "bare root")
    check({row["verdict"] for row in rows} == {"unknown"}, "nothing is held against a bare root")
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand\n")
    put("board.ini", "[link a]\ninterface = eth9\n")
    bad = run("doctor", "--root", directory, "--format", "json", "--board-file", os.path.join(directory, "board.ini"))
    rows = findings(bad, "described machine")
    check({row["check"] for row in rows if row["verdict"] == "bad"} == {"governor", "board-file"}, f"bad: {rows}")
    page = run("--root", directory, "doctor", env={"COLUMNS": "60"}).stdout
    check(all(len(line) <= 60 for line in page.splitlines() if " mend " not in line), "lines wrap at the terminal's width")
    check("mend   echo performance | sudo tee /sys" in page, "the command is in one piece")
    put("board.ini", "[nonsense]\n")
    for words, wanted in [(["--board-file", os.path.join(directory, "board.ini")], "line 1"), (["--format", "xml"], "--format"),
                          (["word"], "takes no words"), (["--cpus", "9"], "CPU 9")]:
        result = run("--root", directory, "doctor", *words)
        check(result.returncode == 2 and wanted in result.stderr and result.stdout == "", f"{words}: {result}")

finish()
