#!/bin/sh
# A transformer for jets, from its training to Verilog in an AXI4-Stream wrapper. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build}
mkdir -p "$out"

# 1. Train it: a graph (IR v2), weights, samples.
python3 make_model.py "$out"
set -- "$out/net.json" --weights "$out/weights" --tokens 4
"$alir2hdl" info "$out/net.json" --tokens 4 | sed -n 1,2p

# 2. Types for every buffer and every value inside of the attention and the norm, from samples of the training.
for bits in 6 8 10; do
    "$alir2hdl" calibrate "$@" --samples "$out/train.npy" --bits $bits --output "$out/quant_$bits.json" --quiet
    echo "$bits bits:"
    "$alir2hdl" run "$@" --quant "$out/quant_$bits.json" --input "$out/test.npy" --output "$out/y_$bits.npy" --float |
        grep -E "output|logits|probability" | sed 's/^/  /'
    python3 accuracy.py "$out/y_$bits.npy" "$out/test_labels.json" | sed 's/^/  /'
done

# 3. Eight bits: hardware of six stages with an AXI4-Stream wrapper, simulated with a few jets.
set -- "$@" --quant "$out/quant_8.json"
"$alir2hdl" "$@" --verilog "$out/tagger.v" --pipeline 6 --wrapper axis --quiet
"$alir2hdl" verify "$@" --input "$out/few.npy" --pipeline 6 --lang verilog --sim iverilog | sed 's/ in [0-9]* cycles.*//'
