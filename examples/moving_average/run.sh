#!/bin/sh
# A design with registers of its own: the mean of the last eight samples. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build} design=moving_average.json
mkdir -p "$out"

# 1. The design: ports, registers, what they start with.
"$alir2hdl" check "$design"
"$alir2hdl" info "$design" | sed -n '/^port/,/^together/p'

# 2. What it does: a step with a ripple of eight samples on it. The ripple goes, the step becomes a ramp of eight clocks; while `ce`
#    is low the mean stays, and the reset clears it. One row a clock, the value just before the edge.
"$alir2hdl" run "$design" --input samples --output "$out/y.csv"
awk '{ n = int($1 / 2 + 0.5); bar = ""; while (n-- > 0) bar = bar "#"; printf "%2d %7.3f %s\n", NR - 1, $1, bar }' "$out/y.csv" | sed 's/ *$//'

# 3. Verilog and VHDL, proved for every input in every clock from power-on.
"$alir2hdl" "$design" --verilog "$out/moving_average.v" --vhdl "$out/moving_average.vhd" --quiet
for file in moving_average.v moving_average.vhd; do
    "$alir2hdl" prove "$design" "$out/$file" | sed -n '1s/ ([0-9.]* s)//p'
done

# 4. The same samples in a simulator.
"$alir2hdl" verify "$design" --input samples --lang verilog --sim iverilog | sed 's/ in [0-9]* cycles.*//'
