#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the bandwidth kernels for every architecture of the program and counts in the
disassembly what a 512-byte block costs: as many loads and stores as timed_loops.txt says of
mem.bw_mem, each of four bytes. An architecture whose compiler is not installed is left out.

Then the same of kernels that were changed on purpose (an access lost, an access twice as wide): a
check that lets one of these pass counts nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import test_timed_loops as loops

KERNELS = os.path.join(loops.SOURCE_DIR, "src", "kernels", "mem_ops.c")
LEVELS = ("-O2", "-O3")
# Prefix of the tools, and what an access of four bytes to memory looks like.
ARCHITECTURES = {
    "x86-64": ("x86_64-linux-gnu-", r"(mov|add)l? .*(%e[a-z]{2}|%r\d+d)\b|(mov|add)l \$"),
    "aarch64": ("aarch64-linux-gnu-", r"(ldr|str|ldur|stur) w"),
    "arm": ("arm-linux-gnueabihf-", r"(ldr|str)(\.w)? "),
    "riscv": ("riscv64-linux-gnu-", r"(c\.)?(lw|sw) "),
}
# RISC-V leaves its branches to the linker, and each target is a symbol at which the disassembly
# would begin another function: linked, the branches are resolved and those symbols dropped.
FLAGS = {"riscv64-linux-gnu-": ("-fPIC", "-shared", "-nostdlib", "-Wl,--discard-all")}
MUTATIONS = {
    "a block of half the accesses": ("SIXTEEN(STEP, 0, 4) SIXTEEN(STEP, 64, 4)", "SIXTEEN(STEP, 0, 4)"),
    "a copy that loads twice": ("target[word] = source[word];",
                                "target[word] = source[word] + source[word];"),
    "accesses of two bytes": ("const volatile uint32_t *source", "const volatile uint16_t *source"),
}


def compiled(tools, level, text, directory):
    source, result = os.path.join(directory, "mem_ops.c"), os.path.join(directory, "mem_ops.o")
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    subprocess.run([tools + "gcc", "-std=c11", "-ffreestanding", level, "-I",
                    os.path.join(loops.SOURCE_DIR, "src"), *FLAGS.get(tools, ("-c",)), source,
                    "-o", result], check=True)
    return result


def faults_of(architecture, path, entries):
    """What is not as the list says, one sentence each."""
    tools, four_bytes = ARCHITECTURES[architecture]
    functions = loops.disassemble(tools + "objdump", path)
    loops.LOCAL[id(functions)] = loops.static_functions(path, tools + "nm")
    faults = []
    for entry in entries:
        name = loops.find_function(functions, entry.function)
        if name is None:
            faults.append(f"{entry.function}: not in the object")
            continue
        calls = loops.calls_of(architecture, functions, name)
        if calls != set(entry.calls):
            faults.append(f"{entry.function}: calls {sorted(calls)}, not {entry.calls}")
        if entry.loads is None:
            continue
        found = loops.busiest_loop(architecture, functions[name])
        if found is None:
            faults.append(f"{entry.function}: no loop")
            continue
        body, loads, stores = found
        if (loads, stores) != (entry.loads, entry.stores):
            faults.append(f"{entry.function}: {loads} loads and {stores} stores a block, "
                          f"not {entry.loads} and {entry.stores}")
        for instruction in body:
            text = f"{instruction.mnemonic} {instruction.operands}"
            if any(loops.accesses(architecture, instruction)) and not re.match(four_bytes, text):
                faults.append(f"{entry.function}: '{text}' is not an access of four bytes")
                break
    return faults


def main():
    entries = [entry for entry in loops.read_entries(os.path.join(loops.HERE, "timed_loops.txt"))
               if entry.table == "mem.bw_mem" and entry.source == "kernels/mem_ops.c"]
    assert len(entries) == 9, f"nine operations, {len(entries)} in the list"
    with open(KERNELS, encoding="utf-8") as source:
        text = source.read()
    failed, checked = False, []
    with tempfile.TemporaryDirectory() as directory:
        for architecture, (tools, _) in ARCHITECTURES.items():
            if not all(shutil.which(tools + tool) for tool in ("gcc", "objdump", "nm")):
                print(f"{architecture}: left out, no {tools}gcc")
                continue
            checked.append(architecture)
            for level in LEVELS:
                for fault in faults_of(architecture, compiled(tools, level, text, directory),
                                       entries):
                    print(f"FAIL {architecture} {level}: {fault}")
                    failed = True
            for what, (old, new) in MUTATIONS.items():
                assert old in text, f"mem_ops.c has changed: no '{old}' to replace"
                path = compiled(tools, "-O2", text.replace(old, new), directory)
                if not faults_of(architecture, path, entries):
                    print(f"FAIL {architecture}: {what} passes the check")
                    failed = True
    if not checked:
        loops.skip("no compiler of any architecture")
    print(f"checked: {', '.join(checked)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
