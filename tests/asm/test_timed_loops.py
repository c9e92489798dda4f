#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Disassembles every timed function (timed_loops.txt) and checks that it does what its table says.

Loads and stores of the loop, and the functions called, are checked with every compiler and
architecture; the hash of the instructions only with a compiler that hashes.txt knows. A hash that
changes while the metric's method does not is a failure: old and new numbers would be compared.

  test_timed_loops.py            check the build in PS_BUILD_DIR
  test_timed_loops.py --update   record hashes of functions that are new or whose method was raised;
                                 --same-method: also of others (the change can not be measured)
"""
import collections
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE_DIR = os.environ.get("PS_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD_DIR = os.environ.get("PS_BUILD_DIR", os.path.join(SOURCE_DIR, "build", "release"))
HASHES = os.path.join(HERE, "hashes.txt")
SKIP = 77

Entry = collections.namedtuple(
    "Entry", "table metric method target source function step loads stores calls")
Instruction = collections.namedtuple("Instruction", "address mnemonic operands symbol")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


# ---- The lists ------------------------------------------------------------------------------


def read_entries(path):
    entries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 9 or ":" not in words[3]:
                sys.exit(f"{path}:{number}: not nine columns, or an object without ':'")
            target, source = words[3].split(":")
            counts = [None if word == "-" else int(word) for word in words[5:8]]
            calls = [] if words[8] == "-" else words[8].split(",")
            entries.append(Entry(words[0], words[1], int(words[2]), target, source, words[4],
                                 *counts, calls))
    return entries


def key_of(entry):
    return f"{entry.table} {entry.target}:{entry.source} {entry.function}"


def read_hashes():
    """{compiler: {key: (method, hash)}}"""
    hashes, section = {}, None
    if not os.path.exists(HASHES):
        return hashes
    with open(HASHES, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("[") and line.endswith("]"):
                section = hashes.setdefault(line[1:-1], {})
            elif line and not line.startswith("#"):
                table, object_name, function, method, digest = line.split()
                section[f"{table} {object_name} {function}"] = (int(method), digest)
    return hashes


def write_hashes(hashes):
    with open(HASHES, "w", encoding="utf-8") as out:
        out.write("# Instructions of the timed functions, by architecture | compiler | flags; written by\n"
                  "# test_timed_loops.py --update. Columns: table, object, function, method, hash.\n")
        for compiler in sorted(hashes):
            out.write(f"\n[{compiler}]\n")
            for key in sorted(hashes[compiler]):
                method, digest = hashes[compiler][key]
                out.write(f"{key} {method} {digest}\n")


# ---- The build ------------------------------------------------------------------------------


def read_cache():
    cache = {}
    path = os.path.join(BUILD_DIR, "CMakeCache.txt")
    if not os.path.exists(path):
        skip(f"no build in {BUILD_DIR}")
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            match = re.match(r"([A-Za-z_0-9]+):[A-Z]+=(.*)$", line)
            if match:
                cache[match.group(1)] = match.group(2)
    return cache


def flags_of_build():
    """What decides the instructions, from the command that compiled a kernel."""
    path = os.path.join(BUILD_DIR, "compile_commands.json")
    if not os.path.exists(path):
        return "unknown flags"
    with open(path, encoding="utf-8") as commands:
        for command in json.load(commands):
            if command["file"].endswith("/kernels/mem_ops.c"):
                return " ".join(word for word in shlex.split(command["command"])
                                if re.match(r"-(O|f|m|std)", word))
    return "unknown flags"


def first_line(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[0]


def gnu_objdump(cache):
    """LLVM's writes otherwise; where the build has found that one, the machine's own may do."""
    for program in (cache.get("CMAKE_OBJDUMP"), shutil.which("objdump")):
        if program and os.path.exists(shutil.which(program) or program) and \
                "GNU" in first_line(program, "--version"):
            return program
    skip("no GNU objdump")


def architecture_of(objdump, path):
    text = subprocess.run([objdump, "-f", path], check=True, capture_output=True, text=True).stdout
    name = re.search(r"architecture: ([^,\s]+)", text).group(1)
    if name == "i386:x86-64":
        return "x86-64"
    if name == "aarch64":
        return "aarch64"
    if name.startswith("arm"):
        return "arm"
    if name.startswith("riscv"):
        return "riscv"
    return name


# ---- Disassembly ----------------------------------------------------------------------------


def disassemble(objdump, path):
    """{function: [Instruction]}; `symbol` is what a relocation names, or a direct branch's target."""
    text = subprocess.run([objdump, "-dr", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    functions, current = {}, None
    for line in text.split("\n"):
        header = re.match(r"[0-9a-f]+ <([^>]+)>:$", line)
        relocation = re.match(r"\s+[0-9a-f]+: (R_\w+)\s+(\S+)", line)
        instruction = re.match(r"\s+([0-9a-f]+):\s+(.*)$", line)
        if header:
            current = functions.setdefault(header.group(1), [])
        elif relocation and current:
            current[-1] = current[-1]._replace(
                symbol=re.sub(r"[-+]0x[0-9a-f]+$", "", relocation.group(2)))
        elif instruction and current is not None:
            body = re.split(r"\s+(?:#|@|//|;)\s", instruction.group(2))[0].strip()
            mnemonic, _, operands = body.replace("\t", " ").partition(" ")
            while mnemonic in ("bnd", "notrack", "rep", "lock", "cs", "data16", "ds"):
                prefix, (mnemonic, _, operands) = mnemonic, operands.strip().partition(" ")
                if prefix in ("rep", "lock"):
                    mnemonic = f"{prefix}-{mnemonic}"
            target = re.search(r"<([^>+]+)(?:\+0x[0-9a-f]+)?>$", operands)
            current.append(Instruction(int(instruction.group(1), 16), mnemonic, operands.strip(),
                                       target.group(1) if target else None))
    for code in functions.values():
        while code and re.match(r"nop|xchg$|udf|int3", code[-1].mnemonic) or \
                code and code[-1].mnemonic == "cs":
            code.pop()
    return functions


def base_name(symbol):
    symbol = re.sub(r"@(plt|PLT|GOT.*)$", "", symbol)
    return re.sub(r"\.(constprop|isra|part|cold|lto_priv)(\.\d+)*.*$", "", symbol)


def find_function(functions, name):
    found = [symbol for symbol in functions
             if base_name(symbol) == name and ".cold" not in symbol]
    return found[0] if found else None


BRANCHES = {
    "x86-64": (r"call", r"j\w+"),
    "aarch64": (r"blr?$", r"(b(\.\w+)?|cbn?z|tbn?z|br)$"),
    "arm": (r"blx?$", r"(b(?!l|ic|fc|fi|kpt|x)(\w\w)?(\.[nw])?|cbn?z|bx)$"),
    "riscv": (r"jalr?$|call$", r"(b\w+|j|jr|tail)$"),
}


def is_indirect(architecture, instruction):
    if architecture == "x86-64":
        return instruction.operands.startswith("*") and instruction.symbol is None
    return instruction.symbol is None and "<" not in instruction.operands


def calls_of(architecture, functions, name, seen=None):
    """What a function calls; static functions of its object are gone into."""
    call, jump = BRANCHES[architecture]
    seen = seen if seen is not None else []
    seen.append(name)
    calls = set()
    for instruction in functions[name]:
        is_call = re.match(call, instruction.mnemonic)
        is_jump = not is_call and re.match(jump, instruction.mnemonic)
        if not is_call and not is_jump:
            continue
        symbol = instruction.symbol
        if symbol is not None and base_name(symbol) == base_name(name):
            continue
        if symbol is not None and symbol in functions and symbol in LOCAL[id(functions)]:
            if symbol not in seen:
                calls |= calls_of(architecture, functions, symbol, seen)
        elif symbol is not None and not symbol.startswith((".text", ".L")):
            if base_name(symbol) != "__stack_chk_fail":
                calls.add(base_name(symbol))
        elif is_call and is_indirect(architecture, instruction):
            calls.add("*")
        elif is_jump and architecture == "x86-64" and instruction.operands.startswith("*%"):
            calls.add("*")
    return calls


LOCAL = {}  # of each disassembly: its static functions


def static_functions(path, nm):
    text = subprocess.run([nm, path], check=True, capture_output=True, text=True).stdout
    return {words[2] for words in (line.split() for line in text.split("\n"))
            if len(words) == 3 and words[1] == "t"}


# ---- Loads and stores -----------------------------------------------------------------------


def accesses_x86(mnemonic, operands):
    if re.match(r"lea|nop|prefetch|call|j|endbr|push|pop|ret", mnemonic):
        return 0, 0
    parts = re.findall(r"(?:[^,(]|\([^)]*\))+", operands)
    memory = [index for index, part in enumerate(parts)
              if "(" in part and "%rsp" not in part]
    if not memory:
        return 0, 0
    if memory[-1] != len(parts) - 1 or re.match(r"cmp|test|bt$", mnemonic):
        return 1, 0
    if re.match(r"v?mov|set", mnemonic):
        return 0, 1
    return (1, 1)


def accesses_risc(architecture, mnemonic, operands):
    stack = {"aarch64": r"\[sp", "arm": r"\[(sp|pc)|^sp", "riscv": r"\(sp\)"}[architecture]
    if re.search(stack, operands):
        return 0, 0
    if architecture == "riscv":
        return (int(bool(re.match(r"(l[bhwd]u?|fl[wd]|c\.l[wd])$", mnemonic))),
                int(bool(re.match(r"(s[bhwd]|fs[wd]|c\.s[wd])$", mnemonic))))
    if re.match(r"(ld|st)m", mnemonic):
        n = len(re.findall(r"\b(r\d+|ip|lr|fp|sl|pc)\b", operands.partition("{")[2]))
    else:
        n = 2 if re.match(r"(ldp|stp|ldrd|strd)", mnemonic) else 1
    if re.match(r"ld", mnemonic):
        return n, 0
    return (0, n) if re.match(r"st", mnemonic) else (0, 0)


def accesses(architecture, instruction):
    if architecture == "x86-64":
        return accesses_x86(instruction.mnemonic, instruction.operands)
    return accesses_risc(architecture, instruction.mnemonic, instruction.operands)


def innermost_loops(architecture, code):
    jump = BRANCHES[architecture][1]
    first, last = code[0].address, code[-1].address
    loops = []
    for instruction in code:
        target = re.search(r"\b([0-9a-f]+) <", instruction.operands)
        if re.match(jump, instruction.mnemonic) and target:
            address = int(target.group(1), 16)
            if first <= address <= instruction.address <= last:
                loops.append((address, instruction.address))
    return [loop for loop in loops
            if not any(other != loop and other[0] >= loop[0] and other[1] <= loop[1]
                       for other in loops)]


def busiest_loop(architecture, code):
    best = None
    for begin, end in innermost_loops(architecture, code):
        body = [instruction for instruction in code if begin <= instruction.address <= end]
        counts = [accesses(architecture, instruction) for instruction in body]
        loads, stores = sum(c[0] for c in counts), sum(c[1] for c in counts)
        if best is None or loads + stores > best[1] + best[2]:
            best = (body, loads, stores)
    return best


def goes_on_by(body, step):
    """Does some instruction of the loop add the step to (or take its negative from) a register?"""
    wrapped = (-step) % (1 << 64)
    wanted = {f"${step:#x}", f"${wrapped:#x}", f"$-{step:#x}", f"#{step}", f"#{step:#x}",
              str(step), f"{step:#x}"}
    for instruction in body:
        if re.match(r"(add|sub|lea|ldr|str)", instruction.mnemonic):
            words = set(re.split(r"[,\s\[\]]+", instruction.operands))
            lea = re.match(rf"{step:#x}\(", instruction.operands)
            if words & wanted or (instruction.mnemonic.startswith("lea") and lea):
                return True
    return False


# ---- Hash -----------------------------------------------------------------------------------


def normalised(name, code):
    """Instructions without addresses: only what changes the work changes the text."""
    lines = []
    for instruction in code:
        operands = instruction.operands
        target = re.search(r"\b[0-9a-f]+ <([^>+]+)(\+0x[0-9a-f]+)?>", operands)
        if target:
            inside = target.group(1) == name
            text = f"<{target.group(2) or ''}>" if inside else f"<{base_name(target.group(1))}>"
            operands = operands[:target.start()] + text + operands[target.end():]
        symbol = instruction.symbol
        if symbol == name or symbol is None:
            symbol = ""
        lines.append(f"{instruction.mnemonic} {operands} {base_name(symbol)}".strip())
    return "\n".join(lines)


def digest_of(architecture, functions, name):
    seen = []
    calls_of(architecture, functions, name, seen)
    text = "\n".join(normalised(function, functions[function]) for function in seen)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---- Checks ---------------------------------------------------------------------------------


def check_calls(entry, calls):
    wanted = [set(call.split("|")) for call in entry.calls if not call.endswith("?")]
    allowed = {call.rstrip("?") for call in entry.calls}.union(*wanted)
    problems = [f"calls {call}, which is not among its calls" for call in sorted(calls - allowed)]
    problems += [f"does not call {'|'.join(sorted(names))}"
                 for names in wanted if not names & calls]
    return problems


def check_loop(entry, architecture, code):
    if entry.loads is None and entry.stores is None and entry.step is None:
        return []
    loop = busiest_loop(architecture, code)
    if loop is None:
        return ["has no loop"]
    body, loads, stores = loop
    problems = []
    if entry.loads is not None and loads != entry.loads:
        problems.append(f"loop has {loads} loads, not {entry.loads}")
    if entry.stores is not None and stores != entry.stores:
        problems.append(f"loop has {stores} stores, not {entry.stores}")
    if entry.step is not None and not goes_on_by(body, entry.step):
        problems.append(f"loop does not go on by {entry.step} bytes")
    return problems


def methods_in_source(table):
    chapter, name = table.split(".")
    path = os.path.join(SOURCE_DIR, "src", "bench", chapter, f"{name}.c")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as source:
        return {int(number) for number in re.findall(r"\.method = (\d+)", source.read())}


def check_hash(entry, digest, known):
    if known is None:
        return "has no hash: run --update"
    method, recorded = known
    if recorded == digest and method == entry.method:
        return None
    if method != entry.method:
        return "has another method than when its hash was recorded: run --update"
    return (f"is not what it was under method {method}: raise the method in {entry.table} and in "
            "timed_loops.txt, then run --update (--same-method where nothing can be measured)")


def registered_tables():
    path = os.path.join(SOURCE_DIR, "src", "bench", "registry.def")
    with open(path, encoding="utf-8") as lines:
        return [f"{chapter}.{table}" for chapter, table in
                re.findall(r"^PS_BENCH\((\w+), (\w+),", lines.read(), re.M)]


def main():
    update = "--update" in sys.argv
    cache = read_cache()
    if cache.get("PS_SANITIZE"):
        skip("a sanitizer's build has other instructions")
    if cache.get("CMAKE_BUILD_TYPE", "Release") not in ("", "Release"):
        skip(f"a {cache['CMAKE_BUILD_TYPE']} build is not what is measured")
    objdump = gnu_objdump(cache)
    nm = cache.get("CMAKE_NM") or "nm"
    all_hashes, recorded, compiler = read_hashes(), None, None
    disassemblies, problems, updated = {}, [], 0

    entries = read_entries(os.path.join(HERE, "timed_loops.txt"))
    for entry in entries:
        where = f"{entry.table} {entry.function}"
        path = os.path.join(BUILD_DIR, "CMakeFiles", f"{entry.target}.dir", "src",
                            f"{entry.source}.o")
        if not os.path.exists(path):
            problems.append(f"{where}: no object {path}")
            continue
        if path not in disassemblies:
            disassemblies[path] = disassemble(objdump, path)
            LOCAL[id(disassemblies[path])] = static_functions(path, nm)
        functions = disassemblies[path]
        architecture = architecture_of(objdump, path)
        if architecture not in BRANCHES:
            skip(f"nothing known of {architecture} instructions")
        if compiler is None:
            # gcc names itself as it was called: cc, gcc, gcc-12.
            version = re.sub(r"^\S*(cc|gcc)\S* \(", "gcc (",
                             first_line(cache["CMAKE_C_COMPILER"], "--version"))
            compiler = f"{architecture} | {version} | {flags_of_build()}"
            recorded = all_hashes.get(compiler)
        name = find_function(functions, entry.function)
        if name is None:
            problems.append(f"{where}: no such function in {path}")
            continue
        methods = methods_in_source(entry.table)
        if methods and entry.method not in methods:
            problems.append(f"{where}: method is {entry.method} here and "
                            f"{sorted(methods)} in the table's source")
        found = check_calls(entry, calls_of(architecture, functions, name))
        found += check_loop(entry, architecture, functions[name])
        problems += [f"{where}: {problem}" for problem in found]

        digest = digest_of(architecture, functions, name)
        known = (recorded or {}).get(key_of(entry))
        if update:
            if known is None or known[0] != entry.method or "--same-method" in sys.argv:
                updated += known != (entry.method, digest)
                recorded = all_hashes.setdefault(compiler, {})
                recorded[key_of(entry)] = (entry.method, digest)
                known = recorded[key_of(entry)]
        if recorded is not None:
            problem = check_hash(entry, digest, known)
            if problem:
                problems.append(f"{where}: {problem}")

    if recorded is None:
        print(f"hashes not checked: none are recorded for {compiler}")
    elif set(recorded) - {key_of(entry) for entry in entries}:
        gone = set(recorded) - {key_of(entry) for entry in entries}
        if update:
            for key in gone:
                del recorded[key]
        else:
            problems += [f"{key}: has a hash but no line in timed_loops.txt: run --update"
                         for key in sorted(gone)]
    if update:
        write_hashes(all_hashes)
        print(f"{updated} hashes written")
    for table in registered_tables():
        if table not in {entry.table for entry in entries}:
            print(f"note: {table} has no line in timed_loops.txt: its timed loop is not looked at")
    for problem in problems:
        print(problem)
    print(f"{len(entries)} timed functions, {len(problems)} problems")
    return 1 if problems or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
