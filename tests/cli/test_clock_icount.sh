#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The clock probe is right within 1 % where the clock is known: qemu -icount shift=N makes every
# instruction take exactly 2^N ns of the machine's time, so that a core runs at 1000 / 2^N
# instructions a microsecond, whatever the host does. The guest is the product's own object code of
# src/sys/clock_speed.c for aarch64, on no operating system. There a multiply takes as long as an
# add, so the two chains must agree at a ratio of 1.
set -eu

for tool in qemu-system-aarch64 aarch64-linux-gnu-gcc; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: no $tool (Debian: qemu-system-arm, gcc-aarch64-linux-gnu)"
        exit 77
    fi
done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$PS_SOURCE_DIR/tests/cli/clock_icount
flags="-std=gnu11 -O2 -g -D_GNU_SOURCE -I$PS_SOURCE_DIR/src -ffunction-sections -mstrict-align
    -fno-stack-protector -fno-pie -Wall -Wextra"
# What the probe does not call (affinity, cpufreq's files) goes with --gc-sections.
aarch64-linux-gnu-gcc $flags -nostdlib -static -no-pie -Wl,--gc-sections -Wl,-Ttext=0x40080000 \
    -Wl,--build-id=none -o "$dir/guest.elf" "$here/guest.c" "$PS_SOURCE_DIR/src/sys/clock_speed.c"

failures=0
for shift in 0 1 3; do
    expected_khz=$((1000000 >> shift))
    output=$(timeout -k 1 60 qemu-system-aarch64 -M virt -cpu cortex-a53 -m 64M -nic none -display none \
        -monitor none -serial none -semihosting-config enable=on,target=native \
        -icount shift=$shift,sleep=off,align=off -kernel "$dir/guest.elf" 2>&1 </dev/null)
    read -r probe_khz add_khz ratio_milli trusted <<<"$output"
    for khz in "$probe_khz" "$add_khz"; do
        off_ppm=$(((khz - expected_khz) * 1000000 / expected_khz))
        if ((off_ppm < -10000 || off_ppm > 10000)); then
            echo "shift $shift: $khz kHz measured, $expected_khz kHz is right ($off_ppm ppm)"
            failures=1
        fi
    done
    if [ "$trusted" != 1 ] || ((ratio_milli < 970 || ratio_milli > 1030)); then
        echo "shift $shift: the chains do not agree: ratio $ratio_milli / 1000, trusted $trusted"
        failures=1
    fi
    echo "shift $shift: probe $probe_khz kHz, check $add_khz kHz, expected $expected_khz kHz," \
        "multiply / add $ratio_milli / 1000"
done
exit $failures
