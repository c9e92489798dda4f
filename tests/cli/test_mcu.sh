#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The microcontroller, end to end: the Cortex-M3 image is built, runs in QEMU, and its serial line
# becomes a sheet whose rows stand beside Linux's, marked as emulated.
#
# -icount shift=6: every instruction takes 64 ns of the machine's time, 1.6 cycles at 25 MHz, which is
# about what a Cortex-M3 needs. With a fixed shift time is a function of the instructions alone, so
# that two runs are the same to the bit on any host and under any load; shift=auto would follow the
# host's clock. sleep=off: idle time is skipped, not waited for.
set -eu

for tool in arm-none-eabi-gcc qemu-system-arm cmake; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: no $tool (Debian: gcc-arm-none-eabi, qemu-system-arm, cmake)"
        exit 77
    fi
done

image=$PS_BUILD_DIR/mcu/perfsheet-mcu-qemu_mps2_an385.elf
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cmake -S "$PS_SOURCE_DIR/mcu" -B "$PS_BUILD_DIR/mcu" \
    -DCMAKE_TOOLCHAIN_FILE="$PS_SOURCE_DIR/mcu/toolchain-arm-none-eabi.cmake" >"$dir/build.log" 2>&1 &&
    cmake --build "$PS_BUILD_DIR/mcu" >>"$dir/build.log" 2>&1 || { cat "$dir/build.log"; exit 1; }
arm-none-eabi-size "$image"

run_board() {
    timeout -k 1 120 qemu-system-arm -M mps2-an385 -display none -monitor none -serial stdio \
        -semihosting-config enable=on,target=native -icount shift=6,sleep=off,align=off \
        -kernel "$image" </dev/null
}

run_board >"$dir/serial"
"$PERFSHEET" ingest - -o "$dir/sheet.jsonl" <"$dir/serial"

python3 - "$dir/sheet.jsonl" <<'PYTHON'
import json, sys

records = [json.loads(line) for line in open(sys.argv[1])]
by_type = {}
for record in records:
    by_type.setdefault(record["type"], []).append(record)
assert [r["type"] for r in records].count("sheet") == 1 and records[0]["type"] == "sheet"
assert records[-1]["type"] == "end" and records[-1]["exit"] == 0, records[-1]
source, = by_type["source"]
assert source["kind"] == "mcu" and source["id"] != "linux" and source["hz"] == 25000000, source
assert source["placement"]["code"] and source["placement"]["arena"], source

results = {r["id"]: r for r in by_type["result"]}
for row in ("mem.bw_mem/rd-1mb:bandwidth", "mem.bw_mem/bcopy-1mb:bandwidth",
            "cpu.dhrystone/strict:dhrystone_per_second", "cpu.dhrystone/vendor:dhrystone_per_second",
            "cpu.dhrystone/strict:dmips", "cpu.dhrystone/strict:dmips_per_mhz",
            "cpu.dhrystone/strict:cpu_clock"):
    result = results[row]
    assert result["status"] == "ok", result
    assert result["source"] == source["id"], result
    assert "emulated" in result["quality"], result
    assert result["value"] > 0, result
    assert result["n_runs"] == 3, result

passes = results["cpu.dhrystone/strict:dhrystone_per_second"]["value"]
dmips = results["cpu.dhrystone/strict:dmips"]["value"]
per_mhz = results["cpu.dhrystone/strict:dmips_per_mhz"]["value"]
clock = results["cpu.dhrystone/strict:cpu_clock"]["value"]
assert clock == 25, clock
assert abs(dmips / (passes / 1757) - 1) < 1e-9, (dmips, passes)
assert abs(per_mhz / (dmips / clock) - 1) < 1e-9, (per_mhz, dmips)

# What does not fit is said, with what it needs.
skipped = [r for r in by_type["result"] if r["status"] == "skipped"]
assert skipped and all(r["value"] is None and r["reason"] for r in skipped)
assert any(r["id"] == "mem.bw_mem/rd-16mb:bandwidth" for r in skipped)
assert all(r["status"] in ("ok", "skipped") for r in by_type["result"]), \
    [(r["id"], r["status"], r["reason"]) for r in by_type["result"]
     if r["status"] not in ("ok", "skipped")]
print(len(by_type["result"]), "results,", len(skipped), "skipped; strict", round(per_mhz, 3), "DMIPS/MHz")
PYTHON

# The same lines over a bad line: every frame twice, kernel messages in between and a byte lost.
python3 - "$dir/serial" "$dir/noisy" <<'PYTHON'
import sys

frames = open(sys.argv[1], "rb").read().splitlines(keepends=True)
out = bytearray(b"U-Boot 2023.01\r\n=> bootm\r\n")
for i, frame in enumerate(frames):
    if i % 50 == 7:
        out += frame[:20] + b"[   12.3456] eth0: link is up @P1\r\n" + frame[20:]
    elif i % 50 == 9:
        out += frame[:30] + frame[31:]
    else:
        out += frame.replace(b"\n", b"\r\n")
    out += frame
open(sys.argv[2], "wb").write(out)
PYTHON
"$PERFSHEET" ingest "$dir/noisy" -o "$dir/noisy.jsonl"
grep '"type":"result"' "$dir/sheet.jsonl" >"$dir/expected"
grep '"type":"result"' "$dir/noisy.jsonl" >"$dir/got"
cmp "$dir/expected" "$dir/got"

# Determinism, which makes the image a regression test.
run_board >"$dir/again"
cmp "$dir/serial" "$dir/again"
echo "the records of two runs are the same to the bit"
