#!/bin/sh
# A float network is given types by samples, and a QONNX network brings its own. Results go to the first argument, or `build`.
set -eu
cd "$(dirname "$0")"
alir2hdl=${ALIR2HDL:-alir2hdl} out=${1:-build}
mkdir -p "$out"

# 1. A float network (an IR v2 graph with weights): how many bits does it need? Each count of bits gives a quantisation file.
for bits in 4 6 8 10; do
    "$alir2hdl" calibrate net.json --weights weights.safetensors --samples samples.npy --bits $bits \
        --output "$out/quant_$bits.json" --svg "$out/quant_$bits.svg" --quiet
    echo "$bits bits:"
    "$alir2hdl" run net.json --weights weights.safetensors --quant "$out/quant_$bits.json" --float --input samples.npy \
        --output "$out/y_$bits.npy" 2>&1 | sed 's/^/  /'
done

# 2. Eight bits it is. From here on the network is a model as any other; its quantisation file belongs to it.
set -- net.json --weights weights.safetensors --quant "$out/quant_8.json"
"$alir2hdl" "$@" --verilog "$out/net.v" --pipeline 4 --quiet
"$alir2hdl" verify "$@" --input samples.npy --pipeline 4 --lang verilog --sim iverilog | sed 's/ in [0-9]* cycles.*//'

# 3. A QONNX network has all its types in it. Outputs of the exact evaluation of the file lie beside it.
"$alir2hdl" info network.onnx | sed -n 1,7p
"$alir2hdl" network.onnx --verilog "$out/network.v" --pipeline 4 --quiet
"$alir2hdl" verify network.onnx --input qonnx_inputs.npy --expect qonnx_outputs.npy --pipeline 4 --lang verilog --sim iverilog |
    sed 's/ in [0-9]* cycles.*//'
