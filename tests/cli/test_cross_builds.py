# SPDX-License-Identifier: MIT
"""The presets aarch64, armhf and riscv64 build without a warning; under qemu-user every kernel proves its answer, and a handful of
rows run, marked as emulated. The kernel starts the foreign programs (perfsheet starts itself again for each run), so qemu is
registered as their interpreter, in namespaces of the test's own: the machine's registrations are not touched."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["PS_SOURCE_DIR"]
BUILD = os.environ["PS_BUILD_DIR"]

# preset: compiler, qemu, ELF class, machine
ARCHES = {
    "aarch64": ("aarch64-linux-gnu", "qemu-aarch64", 2, 183),
    "armhf": ("arm-linux-gnueabihf", "qemu-arm", 1, 40),
    "riscv64": ("riscv64-linux-gnu", "qemu-riscv64", 2, 243),
}
ROWS = ["mem.bw_mem/*-16mb", "mem.lat_mem_rnd", "os.lat_syscall/null", "os.lat_ctx/2-0k-*", "cpu.dhrystone"]
# What a translated program cannot have is not wrong; everything that runs must be right.
FINE = {"ok", "unsupported", "denied", "skipped", "suspect"}


def escaped(values):
    return "".join(f"\\x{value:02x}" for value in values)


def registration(name, qemu, elf_class, machine):
    """The line for binfmt_misc: class, byte order and machine decide; kind is executable or position-independent (2, 3)."""
    magic = [0x7F, ord("E"), ord("L"), ord("F"), elf_class, 1, 1] + [0] * 9 + [2, 0, machine, 0]
    mask = [0xFF] * 7 + [0] + [0xFF] * 8 + [0xFE, 0xFF, 0xFF, 0xFF]
    return f":{name}:M::{escaped(magic)}:{escaped(mask)}:{qemu}:F"


def inside(script, timeout, prefix):
    """Runs a script as root of user and mount namespaces of its own. Without the right to make them: exit code 77."""
    environment = dict(os.environ, QEMU_LD_PREFIX=prefix)
    return subprocess.run(["unshare", "-Urm", "bash", "-c", script], capture_output=True, text=True, timeout=timeout,
                          env=environment, stdin=subprocess.DEVNULL)


def check(preset):
    triple, qemu, elf_class, machine = ARCHES[preset]
    tools = [f"{triple}-gcc", qemu, "unshare"]
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        return None, f"not here: {' '.join(missing)}"
    directory = os.path.join(BUILD, f"cross-{preset}")
    for command in (["cmake", "--preset", preset, "-S", SOURCE, "-B", directory], ["cmake", "--build", directory, "-j", str(os.cpu_count())]):
        built = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE)
        if built.returncode:
            return False, f"{' '.join(command)}:\n{built.stdout[-3000:]}{built.stderr[-1000:]}"
    program = os.path.join(directory, "perfsheet")
    register = (f"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf '%s' '{registration(preset, shutil.which(qemu), elf_class, machine)}' "
                "> /proc/sys/fs/binfmt_misc/register || exit 77\n")
    prefix = f"/usr/{triple}"

    golden = inside(f"{register} exec {program} run --golden", 500, prefix)
    if golden.returncode == 77:
        return None, f"no binfmt_misc in a namespace of our own: {golden.stderr.strip()[-200:]}"
    outcomes = [line.split(":")[0].split()[1] for line in golden.stdout.splitlines() if " " in line]
    proved = outcomes.count("ok")
    wrong = [line for line in golden.stdout.splitlines() if line.split(":")[0].split()[-1] not in FINE]
    if golden.returncode or wrong or proved < 20:
        return False, f"--golden: exit {golden.returncode}, {proved} proved, wrong: {wrong[:8]} {golden.stderr[-500:]}"

    with tempfile.TemporaryDirectory() as scratch:
        sheet = os.path.join(scratch, "s.jsonl")
        quoted = " ".join(f"'{row}'" for row in ROWS)
        ran = inside(f"{register} exec {program} run {quoted} --quick -o {sheet}", 500, prefix)
        records = [json.loads(line) for line in open(sheet)] if os.path.exists(sheet) else []
    source = [r for r in records if r["type"] == "source"]
    results = [r for r in records if r["type"] == "result"]
    wrong = [f"{r['id']} {r['status']}: {r.get('reason')}" for r in results if r["status"] not in FINE]
    numbers = [r for r in results if r["status"] in ("ok", "suspect")]
    unmarked = [r["id"] for r in numbers if "emulated" not in r["quality"]]
    if not source or source[0].get("emulated") is not True:
        return False, f"the source is not called emulated: {source} {ran.stderr[-500:]}"
    if wrong or unmarked or len(numbers) < 5:
        return False, f"{len(numbers)} numbers, wrong: {wrong[:8]}, not marked: {unmarked[:8]} {ran.stderr[-500:]}"
    return True, f"{proved} rows proved, {len(numbers)} numbers, all marked emulated"


failed, tried = False, 0
for arch in ARCHES:
    right, what = check(arch)
    print(f"{arch}: {'skipped: ' if right is None else '' if right else 'WRONG: '}{what}", flush=True)
    tried += right is not None
    failed |= right is False
sys.exit(1 if failed else 0 if tried else 77)
