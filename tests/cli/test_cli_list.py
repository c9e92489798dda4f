# SPDX-License-Identifier: MIT
"""list, explain, selftest and --dry-run: what is said of rows before they are measured."""

import json
import os
import re

from cli_common import Directory, check, finish, run

ID = re.compile(r"^[a-z0-9][a-z0-9_.+-]*\.[a-z0-9][a-z0-9_.+-]*/[a-z0-9][a-z0-9_.+-]*(@[a-z0-9][a-z0-9_.+-]*)*"
                r":[a-z0-9][a-z0-9_.+-]*$")
BETTER = {"lower", "higher", "neither"}
COMPARABLE = {"yes", "approx", "scaling", "no"}
STATUS = {"unsupported", "skipped", "denied", "unsafe", "failed"}

listed = run("list", "--format", "json")
check(listed.returncode == 0 and listed.stderr == "", f"list: {listed.returncode} {listed.stderr}")
rows = json.loads(listed.stdout)
check(isinstance(rows, list) and len(rows) > 20, "list is an array of rows")
check(len({row["id"] for row in rows}) == len(rows), "ids are unique")
for row in rows:
    check(ID.match(row["id"]), f"id {row['id']}")
    check(row["better"] in BETTER, f"{row['id']}: better {row['better']}")
    check(isinstance(row["unit"], str) and row["unit"], f"{row['id']}: unit")
    check(isinstance(row["will_run"], bool), f"{row['id']}: will_run")
    if row["will_run"]:
        check(row["reason"] is None, f"{row['id']}: a reason although it will run")
    else:
        check(isinstance(row["reason"], str) and len(row["reason"]) > 4, f"{row['id']}: no reason")
        check(row["status"] in STATUS, f"{row['id']}: status {row['status']}")
    check(isinstance(row["published"], list), f"{row['id']}: published")
    for published in row["published"]:
        check(published["page"] and published["table"] and published["row"], f"{row['id']}: {published}")
        check(published["comparable"] in COMPARABLE, f"{row['id']}: {published}")
        check((published["why"] is None) == (published["comparable"] == "yes") or published["why"],
              f"{row['id']}: not comparable, and no word why")
check(any(row["published"] for row in rows), "some row stands beside a published one")

text = run("list").stdout.splitlines()
check([line.split()[0] for line in text] == [row["id"] for row in rows], "text and json list the same rows")
check(all("will run" in line or ":" in line.split(None, 1)[1] for line in text), "text says why not")

# Filters, as run has them.
stream = json.loads(run("list", "mem.stream", "--format=json").stdout)
check(stream and all(row["id"].startswith("mem.stream/") for row in stream), "list mem.stream")
check(not any(row["id"].startswith("mem.") for row in json.loads(run("list", "!mem", "--format=json").stdout)),
      "list !mem")
quick = json.loads(run("list", "--quick", "--format", "json").stdout)
check(sum(row["will_run"] for row in quick) < sum(row["will_run"] for row in rows),
      "--quick leaves rows out, with a reason")

# explain knows every table, every row, every metric.
for table in sorted({row["id"].split("/")[0] for row in rows}):
    explained = run("explain", table)
    check(explained.returncode == 0 and explained.stdout.startswith(table), f"explain {table}")
    for word in ("what", "timed", "proof", "source", "metric", "counts", "value"):
        check(re.search(rf"^{word}\s+\S", explained.stdout, re.M), f"explain {table}: no '{word}'")
for row in rows[::7]:
    explained = run("explain", row["id"])
    case, metric = row["id"].split(":")
    check(explained.returncode == 0, f"explain {row['id']}: {explained.stderr}")
    check(f"\n{case}\n" in explained.stdout, f"explain {row['id']}: the row")
    check(re.search(rf"^metric\s+{re.escape(metric)}, in {re.escape(row['unit'])};", explained.stdout, re.M),
          f"explain {row['id']}: its unit")
    for published in row["published"]:
        words = " ".join(explained.stdout.split())
        check(f'row "{published["row"]}"' in words and f"comparable {published['comparable']}" in words,
              f"explain {row['id']}: published {published['row']}")

# selftest.
selftest = run("selftest", "--format", "json")
found = json.loads(selftest.stdout)
check(selftest.returncode in (0, 1), f"selftest: {selftest.returncode}")
check(found["resolution_ns"] >= 1, "selftest: resolution")
check(found["null_loop_ns"] > 0, "selftest: null loop")
check(isinstance(found["monotone"], bool) and isinstance(found["chains_agree"], bool), "selftest: booleans")
check((found["clock_mhz"] is None) != found["chains_agree"], "selftest: a clock exactly where the chains agree")
check(found["child_ms"] > 0, "selftest: child")
for label in ("clock step", "clock read", "clock order", "empty loop", "core clock", "child process"):
    check(re.search(rf"^{label}\s+\S", run("selftest").stdout, re.M), f"selftest: {label}")

# --dry-run measures nothing and writes nothing; under --root too.
with Directory() as directory:
    dry = run("run", "--dry-run", "mem", cwd=directory)
    check(dry.returncode == 0 and os.listdir(directory) == [], "dry-run leaves no file")
    check(re.search(r"rows would run, in about \d+ s; plan [0-9a-f]{16}$", dry.stdout.strip()), dry.stdout[-200:])
    again = run("run", "--dry-run", "mem", "--seed", "7", cwd=directory)
    check(again.stdout == dry.stdout, "the plan and its hash do not depend on the seed")

    # Two CPUs of 40 MB: the machine of the fake root, not this one.
    for path, content in {
        "proc/meminfo": "MemTotal: 2147483648 kB\nMemAvailable: 40960 kB\n",
        "proc/self/status": "Cpus_allowed_list:\t0-1\n",
        "proc/cpuinfo": "".join(f"processor : {cpu}\nmodel name : Fake Core\n\n" for cpu in (0, 1)),
        "sys/devices/system/cpu/possible": "0-1\n",
        "sys/devices/system/cpu/present": "0-1\n",
        "sys/devices/system/cpu/online": "0-1\n",
    }.items():
        os.makedirs(os.path.dirname(os.path.join(directory, path)), exist_ok=True)
        with open(os.path.join(directory, path), "w", encoding="ascii") as file:
            file.write(content)
    listed = run("--root", directory, "list", "mem", "--format", "json")
    check(listed.returncode == 0, f"list under --root: {listed.stderr}")
    fake = {row["id"]: row for row in json.loads(listed.stdout)}
    big = fake.get("mem.bw_mem/bcopy-16mb:bandwidth")
    check(big is not None and not big["will_run"] and "needs" in big["reason"],
          f"a published size beyond half the memory is skipped with what it needs: {big}")
    dry = run("--root", directory, "run", "--dry-run", "mem")
    check(dry.returncode == 0, f"dry-run under --root: {dry.stderr}")
    os.remove(os.path.join(directory, "proc/meminfo"))
    broken = run("--root", directory, "list")
    check(broken.returncode == 1 and "/proc/meminfo" in broken.stderr, "a root without /proc/meminfo")

finish()
