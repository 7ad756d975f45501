#!/bin/sh
# Two convolutions and a dense layer that take one pixel a clock: everything that is equal shares hardware. Results go to
# the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build}
mkdir -p "$out"

# 1. What a patch of 12 x 12 pixels every 144 clocks takes, and what one every clock would.
"$alir2hdl" info conv.json.gz --ii 144 | sed -n '3p;5p' | cut -c1-51

# 2. The hardware with AXI4-Stream ports a pixel wide: pixels go into the core as they come. It is proved as it is written (the
#    core inside the wrapper).
"$alir2hdl" conv.json.gz --ii 144 --verilog "$out/conv.v" --top conv --wrapper axis --axis-width 8 --ii-input beats \
    --prove --quiet
grep -h "inputs come" "$out/conv.v" | cut -c4-

# 3. Patches of the picture: six bits a pixel, patch after patch, to the testbench and to the interpreter.
awk 'NR == 2 { w = $1 } NR > 3 { for (i = 1; i <= NF; i++) p[n++] = int($i / 4) }
     END { for (y = 0; y < 2; y++) for (x = 0; x < 3; x++) { row = ""
               for (k = 0; k < 144; k++) row = row (k ? "," : "") p[(12 * y + int(k / 12)) * w + 12 * x + k % 12] / 32
               print row } }' image.pgm >"$out/patches.csv"
awk -F, '{ for (i = 1; i <= NF; i++) printf "%02x\n", $i * 32 }' "$out/patches.csv" >"$out/pixels.hex"
iverilog -g2001 -Wall -Wno-timescale -o "$out/tb.vvp" "$out/conv.v" tb.v
(cd "$out" && vvp -n tb.vvp)

# 4. The same patches through the interpreter that defines what the model means.
"$alir2hdl" run conv.json.gz --input "$out/patches.csv" --output - |
    awk -F, '{ row = ""; for (i = 1; i <= NF; i++) row = row (i > 1 ? "," : "") $i * 8; print row }' >"$out/expected.csv"
cmp "$out/scores.csv" "$out/expected.csv" && echo "all scores of six patches are what the model says"
