#!/bin/sh
# CRC-32 of a text in hardware: the kernel of ../llvlir, proved, simulated and run. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build} kernel=../llvlir/crc32.llvlirs
mkdir -p "$out"

# 1. The CRC of "123456789", a byte at a time, by the interpreter that defines the language. Numbers are two's complement.
crc=-1
for byte in 49 50 51 52 53 54 55 56 57; do
    crc=$(echo "$crc,$byte" | "$alir2hdl" run "$kernel" --input - --output -)
done
printf 'CRC-32 of 123456789: %08x\n' $(((~crc) & 0xffffffff))

# 2. Hardware in both languages: one clock for a byte. What is written is proved first.
"$alir2hdl" "$kernel" --verilog "$out/crc32.v" --vhdl "$out/crc32.vhd" --pipeline 1 --prove --quiet

# 3. The proof once more, from the files: parities need no SAT solver.
for file in crc32.v crc32.vhd; do
    "$alir2hdl" prove "$kernel" "$out/$file" | sed -n '1s/ ([0-9.]* s)//p'
done

# 4. A wrong tap is found at once. The exit code of a difference is 1.
sed 's/edb88320/edb88321/' "$kernel" | sed 's/0xedb88320/0xedb88321/' >"$out/wrong.llvlirs"
status=0
"$alir2hdl" prove "$out/wrong.llvlirs" "$out/crc32.v" >"$out/wrong.txt" 2>&1 || status=$?
echo "with another polynomial: exit code $status"
