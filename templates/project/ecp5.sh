#!/bin/sh
# Synthesis, placement and routing of {{ v.top }} for ECP5 with yosys and nextpnr. YOSYS, NEXTPNR, ECPPACK and SEED may be set.
#   sh scripts/ecp5.sh                      the block as it is: paths from and to its ports have no clock, and are in no figure
#   MODEL=FILE sh scripts/ecp5.sh           the netlist is proved equal to the model, too (docs/netlist-proof.md); ALIR2HDL names the program
#   sh scripts/ecp5.sh between-registers    for figures: a register at each port, so that every path has a clock; no bitstream
set -eu
case "${MODEL:-}" in
'' | /*) ;;
*) MODEL="$PWD/$MODEL" ;;
esac
cd "$(dirname "$0")/.."
mkdir -p reports/yosys reports/nextpnr
case "${1:-}" in
'' | between-registers) ;;
*) echo "ecp5.sh: '$1' is neither nothing nor between-registers" >&2 && exit 2 ;;
esac
"${YOSYS:-yosys}" -q -l reports/yosys/yosys.log -s scripts/yosys.ys
{%- if !v.axis && !v.stateful %}
if [ -n "${MODEL:-}" ]; then
    "${ALIR2HDL:-alir2hdl}" prove "$MODEL" reports/yosys/{{ v.top }}_netlist.v --rtl rtl/{{ v.top }}.v --cells ecp5
fi
{%- endif %}
if [ "${1:-}" = between-registers ]; then
    # nextpnr counts these registers too; reports/yosys/stat.json is of the block alone.
    "${YOSYS:-yosys}" -q -s scripts/registered.ys
    "${NEXTPNR:-nextpnr-ecp5}" {{ v.ecp5.size }} --package {{ v.ecp5.package }} --json reports/yosys/{{ v.top }}_registered.json \
        --freq {{ v.frequency }} --seed "${SEED:-1}" --timing-allow-fail --out-of-context \
        --report reports/nextpnr/report.json -l reports/nextpnr/nextpnr.log -q
    exit 0
fi
{%- if v.ecp5.out_of_context %}
# More ports than the package has pins: placed and routed by itself, to be used inside a larger design.
"${NEXTPNR:-nextpnr-ecp5}" {{ v.ecp5.size }} --package {{ v.ecp5.package }} --json reports/yosys/{{ v.top }}.json \
    --freq {{ v.frequency }} --seed "${SEED:-1}" --timing-allow-fail --out-of-context \
    --report reports/nextpnr/report.json --write reports/nextpnr/{{ v.top }}.json -l reports/nextpnr/nextpnr.log -q
{%- else %}
"${NEXTPNR:-nextpnr-ecp5}" {{ v.ecp5.size }} --package {{ v.ecp5.package }} --json reports/yosys/{{ v.top }}.json \
    --freq {{ v.frequency }} --seed "${SEED:-1}" --timing-allow-fail --lpf-allow-unconstrained \
    --report reports/nextpnr/report.json --textcfg reports/nextpnr/{{ v.top }}.config -l reports/nextpnr/nextpnr.log -q
# The pins are the tool's choice: good for figures, not for a board.
if command -v "${ECPPACK:-ecppack}" >/dev/null; then
    "${ECPPACK:-ecppack}" --input reports/nextpnr/{{ v.top }}.config --bit reports/nextpnr/{{ v.top }}.bit
fi
{%- endif %}
