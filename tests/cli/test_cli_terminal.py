# SPDX-License-Identifier: MIT
"""On a terminal: colour unless NO_COLOR says otherwise, lines within its width, progress on one line."""

import os
import pty
import re
import select
import subprocess
import time

from cli_common import PERFSHEET, ROW, Directory, check, finish, run


def on_terminal(args, columns=None, **env):
    """Runs with stdout and stderr on one pseudo-terminal; what it showed."""
    leader, follower = pty.openpty()
    if columns:
        import fcntl
        import struct
        import termios
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment.update(TERM="xterm", **env)
    process = subprocess.Popen([PERFSHEET, *args], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env=environment)
    os.close(follower)
    shown = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([leader], [], [], 0.2)
        if ready:
            try:
                data = os.read(leader, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
        elif process.poll() is not None:
            break
    process.wait(timeout=10)
    os.close(leader)
    return shown.decode()


with Directory() as directory:
    path = os.path.join(directory, "s.jsonl")
    shown = on_terminal(["run", ROW, "--quick", "-o", path])
    check("\r\033[K" in shown and "round 1 of" in shown, "progress is written over")
    check("\033[1m" in shown, "colour on a terminal")
    shown = on_terminal(["report", path], NO_COLOR="1")
    check("\033" not in shown, "NO_COLOR")
    shown = on_terminal(["report", path], NO_COLOR="")
    check("\033[" in shown, "an empty NO_COLOR is none")
    shown = on_terminal(["report", path])
    check("\033[" in shown, "report on a terminal")
    check("\033" not in run("report", path).stdout, "no colour into a pipe")

    for columns in (60, 80, 130):
        plain = re.sub(r"\033\[[0-9;]*m", "", on_terminal(["report", path], columns=columns))
        lines = [line.rstrip("\r") for line in plain.split("\n")]
        # A path is for copying: it has a line of its own and is not broken.
        longest = max((line for line in lines if path not in line), key=len)
        check(len(longest) <= columns, f"{columns} columns: {len(longest)}: {longest!r}")
    check("marks:" not in run("report", path, env={"COLUMNS": "130"}).stdout, "marks are words on a wide page")

finish()
