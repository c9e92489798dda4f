#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes each allocation, open, write and fork of a command fail in turn (fault.c says how). Nothing crashes or
hangs, what failed says so, what is written can be read, and nothing is left behind.

PS_LONG=1 takes every call; otherwise the first ones, and then ever fewer, evenly among commands and kinds.
PS_FAULT_ONLY="run alloc 17" repeats one."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

program = pathlib.Path(os.environ["PERFSHEET"]).resolve()
library = pathlib.Path(os.environ.get("PS_BUILD_DIR", program.parent)) / "tests/torture/libps_fault.so"
long = os.environ.get("PS_LONG") == "1"
only = os.environ.get("PS_FAULT_ONLY", "").split()

WORKERS = 2
HANG_S = 30
BUDGET_S = 100  # of all commands together, unless PS_LONG
DENSE = 60      # calls that are all taken when a command is fast
EXITS = {0, 1, 2, 3, 5}
ROWS = ["os.lat_syscall/null", "mem.bw_mem/rd-1mb"]
KINDS = ["alloc", "open", "write", "full", "fork"]

faults = collections.OrderedDict()  # a fault that shows at many calls is one
lock = threading.Lock()


def usable():
    """The preload library and a sanitizer's runtime want to be first, both."""
    if not library.exists():
        return f"{library} is not there"
    if b"__asan_init" in program.read_bytes() or b"__tsan_init" in program.read_bytes():
        return "a sanitizer has its own malloc"
    if os.environ.get("LD_PRELOAD"):
        return "LD_PRELOAD is in use"
    return None


def fault(where, what, detail="", mark=None):
    if mark and (where.split(" #")[0], what) not in faults:
        detail += "\n" + addresses(mark)
    with lock:
        faults.setdefault((where.split(" #")[0], what), []).append((where, detail))


def parse(line):
    def refuse(word):
        raise ValueError(f"{word} is no number")
    return json.loads(line, parse_constant=refuse)


def processes_of(mark):
    """Those whose environment has this call's mark."""
    wanted = f"PS_FAULT_MARK={mark}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                if ") Z " not in (entry / "stat").read_text():
                    found.append(int(entry.name))
        except OSError:
            pass
    return found


def traces():
    """Shared memory, scratch files and journals; other tests' own directories are theirs."""
    places = [pathlib.Path(p) for p in ("/tmp", "/dev/shm", "/run", "/var/tmp")]
    return {str(f) for p in places if p.is_dir() for f in p.iterdir() if re.search(r"perfsheet[.-]?(?!cli)", f.name)}


def check_sheet(where, sheet):
    """Whatever is there is a sheet, with numbers that are some; report takes it. Statuses of its rows."""
    statuses = set()
    data = sheet.read_bytes()
    for number, line in enumerate(data.split(b"\n")[:-1], 1):  # behind the last newline: cut off
        try:
            record = parse(line)
        except ValueError as error:
            fault(where, f"a line that is no record: {error}", f"line {number}: {line[:100]}")
            continue
        statuses.add(record.get("status", "ok") if record.get("type") in ("run", "result") else "ok")
        if record.get("type") == "result" and record["status"] in ("ok", "suspect") and not record["value"]:
            fault(where, f"a row with value {record['value']!r}", record["id"])
        if record.get("type") == "run" and record.get("status", "ok") == "ok":
            for name, metric in record["metrics"].items():
                if "hist" not in metric and (not metric.get("samples") or min(metric["samples"]) <= 0):
                    fault(where, "a run that is ok with samples that are none", f"{record['case']}:{name}")
    if data:
        done = subprocess.run([program, "report", "--format", "json", sheet], capture_output=True, timeout=HANG_S)
        try:
            parse(done.stdout)
        except ValueError:
            fault(where, "report refuses the sheet", done.stderr.decode(errors="replace"))
    return statuses


class Command:
    def __init__(self, name, words, exact, output=None, page=False):
        self.name, self.words, self.output = name, words, output
        self.page = page    # writes one to "page"
        self.exact = exact  # the same every time: success is the same bytes
        self.reference = None

    def run(self, directory, kind=None, at=0, where="parent"):
        """The process's end, its streams, and whether the fault fired."""
        mark = directory / "mark"
        env = dict(os.environ, TMPDIR=str(directory), HOME=str(directory), XDG_RUNTIME_DIR=str(directory),
                   PS_DEADLINE_S="5")
        if kind:
            env.update(LD_PRELOAD=str(library), PS_FAULT_KIND=kind, PS_FAULT_AT=str(at), PS_FAULT_MARK=str(mark),
                       PS_FAULT_IN=where)
        words = [word.replace("{dir}", str(directory)) for word in self.words]
        with open(directory / "stdout", "wb") as out, open(directory / "stderr", "wb") as err:
            process = subprocess.Popen([program, *words], cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err)
            try:
                code = process.wait(timeout=HANG_S)
            except subprocess.TimeoutExpired:
                code = None
                process.kill()
                process.wait()
        return (code, (directory / "stdout").read_bytes(), (directory / "stderr").read_text(errors="replace"),
                mark.read_text() if mark.exists() else None)


def one(command, kind, at, where_in="parent"):
    """Whether the fault fired."""
    where = f"{command.name} {kind}{'' if where_in == 'parent' else ' in child'} #{at}"
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ps-faults-"))
    try:
        code, out, err, mark = command.run(directory, kind, at, where_in)
        detail = f"exit {code}: {err.strip()[-300:]}"
        if code is None:
            fault(where, f"no end within {HANG_S} s", detail, mark)
        elif code < 0:
            fault(where, f"died of {signal.Signals(-code).name}", detail, mark)
        elif code not in EXITS:
            fault(where, f"exit {code}", detail, mark)
        left = processes_of(directory / "mark")
        for _ in range(50):
            if not left:
                break
            time.sleep(0.02)
            left = processes_of(directory / "mark")
        for pid in left:
            fault(where, "left a process", f"{pid} {detail}", mark)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        statuses = set()
        sheet = directory / command.output if command.output else None
        if sheet and sheet.exists():
            statuses = check_sheet(where, sheet)
            if code == 0 and command.exact and without_time(sheet.read_bytes()) != command.reference[1]:
                fault(where, "exit 0 and another sheet", detail, mark)
        elif sheet and code == 0:
            fault(where, "exit 0 and no sheet", detail, mark)
        steady = command.exact or (command.name == "list" and kind != "open")
        if code == 0 and mark and steady and out != command.reference[0]:
            fault(where, "exit 0 and another page", detail, mark)
        if code and code > 0 and not re.search(r"^perfsheet: .*\w{2}", err, re.M) and statuses <= {"ok"} \
                and b"FAILED" not in out:
            fault(where, f"exit {code} and not a word why", detail, mark)
        expected = {"mark", "stdout", "stderr", command.output, "page" if command.page else None}
        names = {f.name for f in directory.iterdir()} - expected
        if names:
            fault(where, f"left {', '.join(sorted(names))}", detail, mark)
        return mark is not None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def addresses(mark):
    """The calls that led to the fault, as functions of the program."""
    places = re.findall(rf"{re.escape(str(program))}\(\S*?\+?(0x[0-9a-f]+)\)|perfsheet\(\+(0x[0-9a-f]+)\)", mark)
    places = [hex(int(a or b, 16) - 1) for a, b in places]
    if not places or not shutil.which("addr2line"):
        return mark
    done = subprocess.run(["addr2line", "-fse", program, *places], stdout=subprocess.PIPE, text=True)
    lines = done.stdout.split("\n")
    return "    " + " < ".join(f"{f} ({p})" for f, p in zip(lines[::2], lines[1::2]) if f != "??")


def sweep(command, kind, where_in, seconds):
    """Until no fault fires. Slow commands get every second call, every third ... within their time. How many."""
    begin, n, at, step = time.monotonic(), 0, 1, 1
    while True:
        took = time.monotonic()
        if not one(command, kind, at, where_in):
            return n, at - 1 if step == 1 else at
        n += 1
        took = time.monotonic() - took
        used = time.monotonic() - begin
        if not long and (at >= DENSE or used > seconds):
            step = max(step + 1, int(at * (0.1 if used < seconds else 0.4)))
        at += step


def frames(lines):
    """As a board sends them (docs/FORMAT.md)."""
    seq = 0
    for line in lines:
        data = line.encode()
        for begin in range(0, len(data), 48):
            flag = b"+" if begin + 48 < len(data) else b"."
            body = b"P%d,%s,%s" % (seq, flag, data[begin:begin + 48])
            yield b"@%s*%08x\n" % (body, zlib.crc32(body))
            seq += 1


def without_time(data):
    return re.sub(rb'"finished":"[^"]*"', b"", data)


def commands(directory):
    sheet, serial = directory / "sheet.jsonl", directory / "serial"
    done = subprocess.run([program, "run", *ROWS, "--quick", "-o", sheet, "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        print(f"the command without a fault: exit {done.returncode}: {done.stderr}")
        sys.exit(1)
    lines = [line for line in sheet.read_text().splitlines() if parse(line)["type"] not in ("result", "end")]
    counts = {kind: sum(parse(line)["type"] == kind for line in lines) for kind in ("case", "run")}
    lines.append(json.dumps({"type": "finish", "cases": counts["case"], "runs": counts["run"]}))
    serial.write_bytes(b"".join(frames(lines)))
    return [
        Command("run", ["run", *ROWS, "--quick", "-o", "{dir}/out.jsonl"], False, "out.jsonl"),
        Command("run-pipe", ["run", ROWS[0], "--quick", "-o", "-"], False, "stdout"),
        *(Command(f"report-{format}", ["report", str(sheet), "--format", format], True)
          for format in ("terminal", "md", "json")),
        Command("report-file", ["report", str(sheet), "-o", "{dir}/page"], True, page=True),
        Command("list", ["list", "--format", "json"], False),
        Command("ingest", ["ingest", str(serial), "-o", "{dir}/in.jsonl"], True, "in.jsonl"),
        Command("explain", ["explain", ROWS[0]], True),
        Command("selftest", ["selftest"], False),
    ]


def take_references(all_commands):
    for command in all_commands:
        with tempfile.TemporaryDirectory(prefix="ps-faults-") as directory:
            directory = pathlib.Path(directory)
            code, out, err, _ = command.run(directory)
            sheet = directory / command.output if command.output else None
            command.reference = (out, without_time(sheet.read_bytes()) if sheet and sheet.exists() else b"")
            if code not in (0, 3):
                fault(f"{command.name} #0", f"exit {code} without a fault", err)


def full_stdout(command):
    """stdio's own writes."""
    with tempfile.TemporaryDirectory(prefix="ps-faults-") as directory, open("/dev/full", "wb") as full:
        words = [word.replace("{dir}", directory) for word in command.words]
        done = subprocess.run([program, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG_S,
                              env=dict(os.environ, PS_DEADLINE_S="5"), cwd=directory)
        if command.reference[0] and (done.returncode != 1 or "No space left" not in done.stderr):
            fault(f"{command.name} stdout #1", "a full stdout is not said",
                  f"exit {done.returncode}: {done.stderr[-200:]}")


def main():
    reason = usable()
    if reason:
        print(f"skipped: {reason}")
        return 77
    before = traces()
    with tempfile.TemporaryDirectory(prefix="ps-faults-") as directory:
        all_commands = commands(pathlib.Path(directory))
        take_references(all_commands)
        if only:
            command = next(c for c in all_commands if c.name == only[0])
            where = "child" if "child" in only else "parent"
            print("fired" if one(command, only[1], int(only[-1]), where) else "did not fire")
            jobs = []
        else:
            jobs = [(command, kind, "parent") for command in all_commands for kind in KINDS]
            jobs += [(all_commands[0], kind, "child") for kind in KINDS]
        # Runs are slow, and get most of the time.
        slow = sum(command.name.startswith("run") for command, _, _ in jobs)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            def take(job):
                command, kind, where = job
                share = 0.75 / slow if command.name.startswith("run") else 0.25 / (len(jobs) - slow)
                seconds = BUDGET_S * WORKERS * share
                return job, sweep(command, kind, where, seconds)
            for (command, kind, where), (n, last) in pool.map(take, jobs):
                print(f"{command.name:16} {kind:6} {where:7} {n:5} calls failed, up to number {last}", flush=True)
        for command in all_commands:
            if not only:
                full_stdout(command)
    left = traces() - before
    if left:
        print(f"note: new beside the test, perhaps another's: {sorted(left)}")
    for (where, what), found in faults.items():
        numbers = " ".join(w.split("#")[-1] for w, _ in found)
        print(f"FAILED: {where}: {what}; at {numbers}\n  {found[0][1]}")
    print(f"{len(faults)} kinds of fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
