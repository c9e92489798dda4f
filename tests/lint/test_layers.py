#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks #include lines against the layer table of docs/ARCHITECTURE.md, file names against the
name rules, and each header on its own."""
import collections
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(os.environ.get("PS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
faults = []

# ---- the table -----------------------------------------------------------------------------------
allowed = {}
for line in (root / "docs/ARCHITECTURE.md").read_text().splitlines():
    match = re.match(r"\| *([a-z]+) *\| *([a-z0-9_/., ]+?) *\|$", line)
    if match and match[1] != "layer":
        allowed[match[1]] = [item.strip() for item in match[2].split(",")]
if len(allowed) < 10:
    sys.exit("docs/ARCHITECTURE.md: the layer table was not found")

FREESTANDING = {"stddef.h", "stdint.h", "stdbool.h", "stdatomic.h", "float.h", "limits.h", "stdalign.h", "stdnoreturn.h", "stdarg.h"}


def core_tables():
    text = (root / "src/bench/registry.def").read_text()
    return {f"{c}/{t}" for c, t, s in re.findall(r"^PS_BENCH\((\w+), *(\w+), *(\w+)\)", text, re.M) if s == "CORE"}


def may_include(path, layer, target):
    entries = allowed[layer]
    if layer == "bench" and f"{path.parent.name}/{path.stem}" in core_tables():
        entries = ["core", "kernels"]
    for entry in entries:
        if target == entry or target.startswith(entry + "/"):
            return True
    return False


sources = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h"))
for path in sources:
    relative = path.relative_to(root / "src")
    layer = relative.parts[0]
    if layer not in allowed:
        faults.append(f"src/{relative}: folder '{layer}' is not in the layer table")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match:
            continue
        kind, target = match[1], match[2]
        if kind == '"':
            if target.endswith(".def"):
                continue
            if not may_include(path, layer, target):
                faults.append(f"src/{relative}:{number}: {layer} may not include {target}")
            if not (root / "src" / target).exists():
                faults.append(f"src/{relative}:{number}: no such header: {target}")
        elif layer in ("core", "kernels") and "hosted" not in relative.parts and target not in FREESTANDING:
            faults.append(f"src/{relative}:{number}: {layer} is freestanding: <{target}> is hosted")

# ---- names, sizes, ifdefs ------------------------------------------------------------------------
seen = collections.defaultdict(list)
for path in sources:
    seen[path.name].append(path)
for name, paths in seen.items():
    if len(paths) > 1:
        faults.append(f"file names are unique in the tree: {name}: {', '.join(str(p.relative_to(root)) for p in paths)}")
for path in sources:
    relative = path.relative_to(root)
    text = path.read_text()
    if not text.startswith("/* SPDX-License-Identifier: MIT"):
        faults.append(f"{relative}: the first line names the licence")
    lines = text.count("\n")
    if lines > 480:
        faults.append(f"{relative}: {lines} lines; files are about 400 at most")
    if relative.parts[1] in ("bench", "report", "harness") and path.name not in ("registry.c",):
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(r"\s*#\s*(ifdef|if)\b", line):
                faults.append(f"{relative}:{number}: no conditional compilation in {relative.parts[1]}/")
    if path.suffix == ".c" and relative.parts[1] == "bench" and len(relative.parts) == 4:
        symbol = f"ps_bench_{path.parent.name}_{path.stem}"
        if symbol not in text:
            faults.append(f"{relative}: does not define {symbol}")
for c, t, _ in re.findall(r"^PS_BENCH\((\w+), *(\w+), *(\w+)\)", (root / "src/bench/registry.def").read_text(), re.M):
    if not (root / f"src/bench/{c}/{t}.c").exists():
        faults.append(f"registry.def: src/bench/{c}/{t}.c is not there")

# ---- each header compiles alone ------------------------------------------------------------------
for path in sources:
    if path.suffix != ".h":
        continue
    result = subprocess.run(
        [os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", f"-I{root}/src", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c", str(path)],
        capture_output=True, text=True)
    if result.returncode:
        faults.append(f"{path.relative_to(root)}: does not compile alone:\n{result.stderr.splitlines()[0]}")

print("\n".join(faults) if faults else f"{len(sources)} files: layers, names and headers are in order")
sys.exit(1 if faults else 0)
