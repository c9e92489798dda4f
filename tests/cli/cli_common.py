# SPDX-License-Identifier: MIT
"""What the command-line tests share: running the program, reading sheets, a small checker."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PERFSHEET = os.environ.get("PERFSHEET")
if not PERFSHEET:
    print("PERFSHEET is not set")
    sys.exit(77)

VERBS = ["run", "list", "explain", "report", "doctor", "selftest", "ingest"]
# A row that is there on every machine and takes a fraction of a second.
ROW = "os.lat_syscall/null"

failures = 0


def check(condition, what):
    """Counts and prints; the test goes on, so that one run shows all that is wrong."""
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}")


def finish():
    print(f"{failures} failed")
    sys.exit(1 if failures else 0)


def run(*args, **options):
    """Runs perfsheet; text in and out, 120 s at most."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    env = dict(os.environ)
    env.pop("COLUMNS", None)
    env.update(options.pop("env", {}))
    return subprocess.run([PERFSHEET, *args], text=True, timeout=120, env=env, **options)


def records(text):
    """Every line of a sheet as an object; a line that is no JSON fails the test."""
    result = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            result.append(json.loads(line, parse_constant=lambda word: check(False, f"{word} in line {number}")))
        except ValueError as error:
            check(False, f"line {number} is no JSON: {error}: {line[:80]}")
    return result


def check_whole_sheet(text, what):
    """One complete document: header first, one end last, results for every case and metric."""
    lines = records(text)
    if not lines:
        check(False, f"{what}: the sheet is empty")
        return []
    kinds = [line["type"] for line in lines]
    check(kinds[0] == "sheet", f"{what}: begins with {kinds[0]}")
    check(kinds.count("sheet") == 1, f"{what}: {kinds.count('sheet')} headers")
    check(kinds.count("end") == 1 and kinds[-1] == "end", f"{what}: does not end with one end record")
    wanted = sum(len(line["metrics"]) for line in lines if line["type"] == "case")
    check(kinds.count("result") == wanted, f"{what}: {kinds.count('result')} results of {wanted}")
    order = [kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind]
    last_case = max(i for i, kind in enumerate(kinds) if kind == "case")
    first_run = next((i for i, kind in enumerate(kinds) if kind == "run"), len(kinds))
    check(last_case < first_run, f"{what}: a case behind a run: {order}")
    check(text.endswith("\n"), f"{what}: no newline at the end")
    return lines


class Directory:
    """A fresh directory that other users may enter."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="perfsheet-cli-")
        os.chmod(self.path, 0o777)
        return self.path

    def __exit__(self, *_):
        os.chmod(self.path, 0o777)
        shutil.rmtree(self.path, ignore_errors=True)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def as_nobody():
    """Options for subprocess: an ordinary user without a home, where we are root."""
    if os.geteuid() != 0:
        return {}
    return {"user": 65534, "group": 65534, "extra_groups": []}
