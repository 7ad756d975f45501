#!/bin/sh
# From the jet tagger's file to a Vivado project that is proved and simulated. The folder of results is the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build} model=../jet_mlp.json.gz
mkdir -p "$out"

# 1. Is the file sound?
"$alir2hdl" check "$model"

# 2. What does each further stage buy on this device? A table on the screen, a picture in sweep.svg.
"$alir2hdl" info "$model" --device xcvu13p --sweep=8 --svg "$out/sweep.svg" | sed -n '/^stages /,$p'

# 3. The project: the fewest stages that meet 200 MHz on the part.
"$alir2hdl" project "$model" --output "$out/vivado" --flow vivado --part xcvu13p-flga2577-2-e --pipeline auto --clock-period 5 --quiet
find "$out/vivado" -type f | sed "s|^$out/||" | LC_ALL=C sort

# 4. Does the text in it compute the model, for every input? (The time that it took is left out here.)
"$alir2hdl" prove "$model" "$out/vivado/rtl/jet_mlp.v" | sed -n '1s/ ([0-9.]* s)//p'
"$alir2hdl" prove "$model" "$out/vivado/rtl/jet_mlp.vhd" | sed -n '1s/ ([0-9.]* s)//p'

# 5. And in a simulator, through the project's own testbench?
make -s -C "$out/vivado/sim" iverilog | grep PASS
