#!/bin/sh
# Two generated blocks in one design, simulated in Verilog and in SystemVerilog. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build} tagger=../jet_mlp.json.gz average=../moving_average/moving_average.json
mkdir -p "$out"

# 1. Samples of the tagger with its scores in the same row, as the bench of a project without a pipeline has them.
"$alir2hdl" project "$tagger" --output "$out/project" --flow yosys --pipeline 0 --vectors 400 --quiet >/dev/null
cp "$out/project/tb/rows_0.txt" "$out/rows.txt"

# 2. Each language: both blocks are proved, then the whole is simulated.
for language in v sv; do
    case $language in
        v) option=--verilog generation=2001 ;;
        sv) option=--systemverilog generation=2012 ;;
    esac
    "$alir2hdl" "$tagger" $option "$out/tagger.$language" --pipeline 3 --valid --prove --quiet
    "$alir2hdl" "$average" $option "$out/moving_average.$language" --prove --quiet
    iverilog -g$generation -Wall -Wno-timescale -s tb_two_blocks -o "$out/two_blocks_$language.vvp" \
        tb_two_blocks.v two_blocks.v "$out/tagger.$language" "$out/moving_average.$language"
    printf '%s: ' "$language"
    (cd "$out" && vvp -n "two_blocks_$language.vvp" | grep -v '\$finish')
done
