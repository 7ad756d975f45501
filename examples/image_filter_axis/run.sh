#!/bin/sh
# An edge filter as an AXI4-Stream module, fed with an image through random gaps. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build}
mkdir -p "$out"
cp image.pgm "$out"

# 1. The filter with AXI4-Stream ports, three stages, proved as it is written (the pipeline inside the wrapper).
"$alir2hdl" sobel.llvlirs --verilog "$out/sobel.v" --top sobel --pipeline 3 --wrapper axis --packing 8 --prove --quiet

# 2. A small testbench with random gaps on both sides.
iverilog -g2001 -Wall -o "$out/tb.vvp" "$out/sobel.v" tb.v
(cd "$out" && vvp -n tb.vvp)

# 3. What the kernel itself makes of the same windows: one row of nine pixels a window. Bytes come out as signed numbers.
awk 'NR == 2 { w = $1; h = $2 } NR > 3 { for (i = 1; i <= NF; i++) p[n++] = $i }
     END { for (y = 1; y < h - 1; y++) for (x = 1; x < w - 1; x++) { row = ""
               for (k = 0; k < 9; k++) row = row (k ? "," : "") p[(y + int(k / 3) - 1) * w + x + k % 3 - 1]
               print row } }' image.pgm >"$out/windows.csv"
"$alir2hdl" run sobel.llvlirs --input "$out/windows.csv" --output - | awk '{ print ($1 < 0 ? $1 + 256 : $1) }' >"$out/expected_edges.txt"
cmp "$out/edges.txt" "$out/expected_edges.txt" && echo "every pixel is what the kernel says"

# 4. The edges, as text.
awk '{ printf "%s", substr(" .:-=+*#%@", 1 + int($1 * 9 / 255), 1) } NR % 38 == 0 { print "" }' "$out/edges.txt" | sed 's/ *$//'
