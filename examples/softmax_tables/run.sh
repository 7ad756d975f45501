#!/bin/sh
# Softmax of five scores by tables: what the tables become in hardware. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build} model=softmax.json.gz
mkdir -p "$out"

# 1. Five scores a row; five probabilities, in steps of 1/256.
printf '1, 2, 3, 4, 5\n0, 0, 0, 0, 0\n-8, 7.9, 0, 0, 7\n' | "$alir2hdl" run "$model" --input - --output -

# 2. Tables may become logic or block memory. A memory needs a register behind it, so this asks for a pipeline.
for style in logic block lut; do
    echo "--rom-style $style:"
    "$alir2hdl" info "$model" --pipeline 4 --device xcvu13p --rom-style $style | grep -E '^(LUT|FF|DSP|BRAM) '
    "$alir2hdl" "$model" --verilog "$out/softmax_$style.v" --pipeline 4 --device xcvu13p --rom-style $style --quiet
    "$alir2hdl" prove "$model" "$out/softmax_$style.v" | sed -n '1s/ ([0-9.]* s)//p'
done

# 3. Simulated against the model with random scores.
"$alir2hdl" verify "$model" --pipeline 4 --device xcvu13p --rom-style block --vectors 1000 --lang verilog --sim iverilog | sed 's/ in [0-9]* cycles.*//'
