#!/bin/sh
# Synthesis, placement and routing of {{ v.top }} for ECP5 with yosys and nextpnr. YOSYS, NEXTPNR, ECPPACK and SEED may be set.
set -eu
cd "$(dirname "$0")/.."
mkdir -p reports/yosys reports/nextpnr
"${YOSYS:-yosys}" -q -l reports/yosys/yosys.log -s scripts/yosys.ys
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
