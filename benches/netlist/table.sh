#!/usr/bin/env bash
# Proofs of netlists: models through our writer, Yosys and `prove`, as rows of a Markdown table.
#
#   benches/netlist/table.sh ALIR2HDL YOSYS MODEL...
#
# Each model is written with -O1 and -O2, combinational and in 3 stages, and synthesised for each family of FAMILIES. A row holds the
# verdict, the user CPU seconds of the proof, and the number of cells. TIMEOUT (seconds) limits each proof.
set -u
alir2hdl=$1 yosys=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
families=${FAMILIES:-xilinx ecp5 ice40 gowin intel_alm}
declare -A flow=(
    [xilinx]="synth_xilinx -flatten -noiopad" [xcup]="synth_xilinx -family xcup -flatten -noiopad" [ecp5]="synth_ecp5"
    [ice40]="synth_ice40" [gowin]="synth_gowin -noiopads" [intel_alm]="synth_intel_alm -noiopad"
)
declare -A verdict=([0]=proved [1]=differs [5]=undecided [2]=refused [124]=timeout)
for model in "$@"; do
    name=$(basename "${model%/model.json.gz}" .json.gz)
    for level in ${LEVELS:-1 2}; do
        for stages in ${STAGES:-0 3}; do
            pipeline=()
            [ "$stages" = 0 ] || pipeline=(--pipeline "$stages")
            "$alir2hdl" "$model" "-O$level" "${pipeline[@]}" --top dut --verilog "$dir/out.v" > "$dir/log" 2>&1 || continue
            for family in $families; do
                timeout "${SYNTH_TIMEOUT:-300}" "$yosys" -q -p "read_verilog $dir/out.v; ${flow[$family]} -top dut; write_verilog -noattr $dir/net.v" \
                    > "$dir/log" 2>&1 || { echo "| $name | -O$level | $stages | $family | synthesis failed | | |"; continue; }
                cells=$(grep -cE '^  [A-Z_]+[A-Za-z0-9_]* (#\(|[\\_A-Za-z])' "$dir/net.v")
                TIMEFORMAT=%U
                { time timeout "${TIMEOUT:-60}" "$alir2hdl" prove "$model" "$dir/net.v" --top dut --rtl "$dir/out.v" --work "${WORK:-1000000000}" > "$dir/said" 2>&1; echo $? > "$dir/code"; } 2> "$dir/seconds"
                code=$(cat "$dir/code")
                echo "| $name | -O$level | $stages | $family | ${verdict[$code]:-$code} | $(tail -1 "$dir/seconds") | $cells |"
                [ -z "${KEEP:-}" ] || [ "$code" = 0 ] || cp "$dir/net.v" "$KEEP/$name.$level.$stages.$family.v"
                [ "$code" != 2 ] || head -3 "$dir/said"
            done
        done
    done
done
