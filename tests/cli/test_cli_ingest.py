# SPDX-License-Identifier: MIT
"""ingest: a stream that was cut is said to be, and a failed one leaves no file."""

import os
import zlib

from cli_common import Directory, check, check_whole_sheet, finish, run

HEAD = ['{"type":"sheet","format":1,"id":"x","started":null,"board":{"id":"b"}}',
        '{"type":"source","id":"m3","kind":"mcu","hz":25000000}',
        '{"type":"case","id":"t.t/a","source":"m3","table":"t.t","name":"a","params":{},"place":{},"runs_planned":3,'
        '"metrics":[{"name":"m","unit":"ns","kind":"time","bound":"memory","better":"lower","method":1,"decimals":1}]}']
RUN = '{"type":"run","case":"t.t/a","source":"m3","round":%d,"seq":%d,"metrics":{"m":{"n":1,"samples":[5]}}}'
FINISH = '{"type":"finish","cases":1,"runs":3}'


def frames(lines):
    out, seq = "", 0
    for line in lines:
        while line:
            piece, line = line[:48], line[48:]
            payload = f"P{seq},{'+' if line else '.'},{piece}"
            out += f"@{payload}*{zlib.crc32(payload.encode()):08x}\n"
            seq += 1
    return out


with Directory() as directory:
    for name, lines, code, wanted in (
            ("whole", HEAD + [RUN % (i, i) for i in (1, 2, 3)] + [FINISH], 0, ""),
            ("cut", HEAD + [RUN % (1, 1)], 1, "the stream ended early: 1 of 3 runs"),
            ("lost", HEAD + [RUN % (1, 1), FINISH], 1, "1 of 3 runs"),
            ("empty", HEAD + [FINISH], 1, "0 of 3 runs"),
            ("nothing", [], 1, "no whole line")):
        log, sheet = os.path.join(directory, name + ".log"), os.path.join(directory, name + ".jsonl")
        with open(log, "w", encoding="utf-8") as file:
            file.write(frames(lines))
        result = run("ingest", log, "-o", sheet, "--quiet")
        check(result.returncode == code, f"{name}: exit {result.returncode} {result.stderr}")
        check(wanted in result.stderr and bool(wanted) == bool(result.stderr), f"{name}: {result.stderr}")
        check(os.path.exists(sheet) == (name != "nothing"), f"{name}: the file")
        if name != "nothing":
            with open(sheet, encoding="utf-8") as file:
                rows = check_whole_sheet(file.read(), name)
            check(rows[-1]["exit"] == code, f"{name}: end {rows[-1]}")
            if name == "empty":
                check(rows[-2]["status"] == "aborted", f"{name}: {rows[-2]}")

finish()
