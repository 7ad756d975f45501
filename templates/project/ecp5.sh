#!/bin/sh
# Synthesis, placement and routing of {{ v.top }} for ECP5 with yosys and nextpnr. YOSYS, NEXTPNR and SEED may be set.
set -eu
cd "$(dirname "$0")/.."
mkdir -p reports/yosys reports/nextpnr
"${YOSYS:-yosys}" -q -l reports/yosys/yosys.log -s scripts/yosys.ys
"${NEXTPNR:-nextpnr-ecp5}" {{ v.ecp5.size }} --package {{ v.ecp5.package }} --json reports/yosys/{{ v.top }}.json \
    --freq {{ v.frequency }} --seed "${SEED:-1}" --lpf-allow-unconstrained --timing-allow-fail \
{%- if v.ecp5.out_of_context %}
    --out-of-context \
{%- endif %}
    --report reports/nextpnr/report.json --textcfg reports/nextpnr/{{ v.top }}.config -l reports/nextpnr/nextpnr.log -q
