// Constants of {{ v.top }} for designs that use it: `include "{{ v.top }}.vh". Elements are ranges of bits:
// PORT[`{{ v.macro_name() }}_INPUT_0].
`ifndef {{ v.macro_name() }}_VH
`define {{ v.macro_name() }}_VH
{%- if !v.stateful %}

// Clocks from a sample to its result, and from one sample to the next
`define {{ v.macro_name() }}_LATENCY {{ v.latency }}
`define {{ v.macro_name() }}_INITIATION_INTERVAL {{ v.interval }}
{%- endif %}
{%- for side in v.sides %}

// {{ side.verilog }}S: bits on the port, width, fractional bits{% if v.transfers %}, transfer in which the element begins{% endif %}
{%- for e in side.elements %}
{%- if e.width > 0 %}
{%- if !e.crosses %}
`define {{ v.macro_name() }}_{{ side.verilog }}_{{ loop.index0 }} {{ e.hi }}:{{ e.lsb }}  // {{ e.name }} on {{ e.port }}, {% if e.signed.clone() %}s{% else %}u{% endif %}{{ e.width }}.{{ e.frac_bits }}
{%- endif %}
`define {{ v.macro_name() }}_{{ side.verilog }}_{{ loop.index0 }}_WIDTH {{ e.width }}
`define {{ v.macro_name() }}_{{ side.verilog }}_{{ loop.index0 }}_FRAC_BITS ({{ e.frac_bits }})
{%- if v.transfers %}
`define {{ v.macro_name() }}_{{ side.verilog }}_{{ loop.index0 }}_LSB {{ e.lsb }}
`define {{ v.macro_name() }}_{{ side.verilog }}_{{ loop.index0 }}_TRANSFER {{ e.transfer }}
{%- endif %}
{%- endif %}
{%- endfor %}
{%- endfor %}

`endif
