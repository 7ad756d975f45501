{% let proves = v.streams.is_none() -%}
#!/bin/sh
# Synthesis, placement and routing of {{ v.top }} for {{ v.yosys_part }} with yosys and nextpnr. YOSYS, NEXTPNR, {% if v.nextpnr.is_ecp5() %}ECPPACK{% else %}ICEPACK{% endif %}, NEXTPNR_FLAGS (more options)
# and SEED may be set.
#   sh scripts/{{ v.nextpnr.family }}.sh                      the block as it is: paths from and to its ports have no clock, and are in no figure
{%- if proves %}
#   MODEL=FILE sh scripts/{{ v.nextpnr.family }}.sh           the netlist is proved equal to the model, too (docs/netlist-proof.md); ALIR2HDL names the program
{%- endif %}
#   sh scripts/{{ v.nextpnr.family }}.sh between-registers    for figures: a register at each port, so that every path has a clock; no bitstream
set -eu
case "${MODEL:-}" in
{%- if proves %}
'' | /*) ;;
*) MODEL="$PWD/$MODEL" ;;
{%- else %}
'') ;;
*) echo "{{ v.nextpnr.family }}.sh: MODEL is set, and netlists of AXI4-Stream wrappers are not proved" >&2 && exit 2 ;;
{%- endif %}
esac
cd "$(dirname "$0")/.."
mkdir -p reports/yosys
case "${1:-}" in
'' | between-registers) ;;
*) echo "{{ v.nextpnr.family }}.sh: '$1' is neither nothing nor between-registers" >&2 && exit 2 ;;
esac
"${YOSYS:-yosys}" -q -l reports/yosys/yosys.log -s scripts/yosys.ys
{%- if proves %}
if [ -n "${MODEL:-}" ]; then
    "${ALIR2HDL:-alir2hdl}" prove "$MODEL" reports/yosys/{{ v.top }}_netlist.v{% if !v.stateful %} --rtl rtl/{{ v.top }}.v{% endif %} --cells {{ v.nextpnr.family }}
fi
{%- endif %}
{%- if v.nextpnr.exceeds_pins() && !v.nextpnr.is_ecp5() %}
echo "{{ v.nextpnr.family }}.sh: {{ v.nextpnr.port_bits }} bits of ports, and the package of {{ v.yosys_part }} has {{ v.nextpnr.device.pins }} pins: nextpnr cannot place them. Streams of few bits (--wrapper axis --axis-width 8) or another package can be placed" >&2
exit 1
{%- else %}
# nextpnr with the arguments that both ways have; its results are in the folder $results.
place_and_route() {
    mkdir -p "$results"
    # shellcheck disable=SC2086 # NEXTPNR_FLAGS are several words
    "${NEXTPNR:-nextpnr-{{ v.nextpnr.family }}}" {{ v.nextpnr.device.options }} --freq {{ v.nextpnr_frequency }} \
        --{{ v.nextpnr.constraints() }} constraints/clock.{{ v.nextpnr.constraints() }} --{{ v.nextpnr.constraints() }}-allow-unconstrained \
        --seed "${SEED:-1}" --timing-allow-fail --report "$results/report.json" -l "$results/nextpnr.log" -q "$@" ${NEXTPNR_FLAGS:-}
}
if [ "${1:-}" = between-registers ]; then
    # nextpnr counts these registers too; reports/yosys/stat.json is of the block alone.
    "${YOSYS:-yosys}" -q -s scripts/registered.ys
    results=reports/nextpnr_between_registers
    place_and_route --json reports/yosys/{{ v.top }}_registered.json{% if v.nextpnr.is_ecp5() %} --out-of-context{% endif %}
    exit 0
fi
results=reports/nextpnr
{%- if v.nextpnr.exceeds_pins() %}
# More ports than the package has pins: placed and routed by itself, to be used inside a larger design.
place_and_route --json reports/yosys/{{ v.top }}.json --out-of-context --write reports/nextpnr/{{ v.top }}.json
{%- else if v.nextpnr.is_ecp5() %}
place_and_route --json reports/yosys/{{ v.top }}.json --textcfg reports/nextpnr/{{ v.top }}.config
# The pins are the tool's choice: good for figures, not for a board.
if command -v "${ECPPACK:-ecppack}" >/dev/null; then
    "${ECPPACK:-ecppack}" --input reports/nextpnr/{{ v.top }}.config --bit reports/nextpnr/{{ v.top }}.bit
fi
{%- else %}
place_and_route --json reports/yosys/{{ v.top }}.json --asc reports/nextpnr/{{ v.top }}.asc
# The pins are the tool's choice: good for figures, not for a board.
if command -v "${ICEPACK:-icepack}" >/dev/null; then
    "${ICEPACK:-icepack}" reports/nextpnr/{{ v.top }}.asc reports/nextpnr/{{ v.top }}.bit
fi
{%- endif %}
{%- endif %}
