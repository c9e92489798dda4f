#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the arithmetic kernels for every architecture of the program and counts the operation's
instruction in each: PSK_OPS_STEPS of them in a turn, no more than a loop counter beside them. An
architecture whose compiler is not installed is left out.

Then the same of kernels whose steps the compiler may fold: a check that lets them pass counts
nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE_DIR = os.environ.get(
    "PS_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KERNELS = os.path.join(SOURCE_DIR, "src", "kernels", "int_fp_ops.c")
STEPS = 64
BESIDE = 12  # prologue, loop counter, addresses
LEVELS = ("-O2", "-O3")
# Prefix of the tools; the instruction of each operation, where there is one.
ARCHITECTURES = {
    "x86-64": ("x86_64-linux-gnu-", {
        "add": r"add[lq]?|lea", "bit": r"xor[lq]?", "mul": r"imul[lq]?", "div": r"idiv[lq]?",
        "mod": r"idiv[lq]?", "float": "{}ss", "double": "{}sd"}),
    "aarch64": ("aarch64-linux-gnu-", {
        "add": "add", "bit": "eor", "mul": "mul", "div": "sdiv", "mod": "sdiv", "float": "f{}",
        "double": "f{}"}),
    "arm": ("arm-linux-gnueabihf-", {
        "add": "adds?(\\.w)?|adcs?(\\.w)?", "bit": "eors?(\\.w)?", "float": "v{}\\.f32",
        "double": "v{}\\.f64"}),
    "riscv": ("riscv64-linux-gnu-", {
        "add": "(c\\.)?addw?", "bit": "(c\\.)?xor", "mul": "mulw?", "div": "divw?", "mod": "remw?",
        "float": "f{}\\.s", "double": "f{}\\.d"}),
}


def compiled(tools, level, text, directory):
    source, result = os.path.join(directory, "ops.c"), os.path.join(directory, "ops.o")
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    subprocess.run([tools + "gcc", "-std=c11", level, "-I", os.path.join(SOURCE_DIR, "src"), "-c",
                    source, "-o", result], check=True)
    return result


def mnemonics(tools, path):
    """{function: [mnemonic]}"""
    text = subprocess.run([tools + "objdump", "-d", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    functions, name = {}, None
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        if head and not head.group(1).startswith("L"):
            name = head.group(1)
            functions[name] = []
        elif name and "\t" in line:
            functions[name].append(line.split("\t")[1].split()[0])
    return functions


def faults_of(architecture, path):
    tools, instructions = ARCHITECTURES[architecture]
    functions = mnemonics(tools, path)
    faults, seen = [], 0
    for kind in ("int", "int64", "float", "double"):
        for operation in ("add", "bit", "mul", "div", "mod"):
            for what in ("latency", "throughput"):
                name = f"{kind}_{operation}_{what}"
                pattern = instructions.get(kind, instructions.get(operation))
                if pattern is None or name not in functions:
                    continue
                words = 2 if architecture == "arm" and kind == "int64" else 1
                count = sum(bool(re.fullmatch(pattern.format(operation), word))
                            for word in functions[name])
                seen += 1
                if not STEPS * words <= count <= STEPS * words + BESIDE:
                    faults.append(f"{architecture} {name}: {count} instead of {STEPS * words}")
    if seen < 16:
        faults.append(f"{architecture}: only {seen} kernels found")
    return faults


def main():
    with open(KERNELS, encoding="utf-8") as source:
        text = source.read()
    folded = text.replace('__asm__ volatile("" : "+r"(x))', "(void)(x)")
    halved = text.replace("TWICE(TWICE(PAIR(T, HIDE, OP, a)))", "TWICE(PAIR(T, HIDE, OP, a))")
    assert text not in (folded, halved)
    faults, done = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for architecture, (tools, _) in ARCHITECTURES.items():
            if shutil.which(tools + "gcc") is None or shutil.which(tools + "objdump") is None:
                continue
            done += 1
            for level in LEVELS:
                faults += faults_of(architecture, compiled(tools, level, text, directory))
                for changed in (folded, halved):
                    if not faults_of(architecture, compiled(tools, level, changed, directory)):
                        faults.append(f"{architecture} {level}: a changed kernel passes")
    print("\n".join(faults) or f"{done} architectures")
    if not done:
        sys.exit(77)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
