// Instantiation template of {{ v.top }} for Verilog and SystemVerilog.
{%- for port in v.ports %}
    wire {% if let Some(hi) = port.hi %}[{{ hi }}:0] {% endif %}{{ port.name }};
{%- endfor %}

    {{ v.top }} u_{{ v.top }} (
{%- for port in v.ports %}
        .{{ port.name }}({{ port.name }}){% if !loop.last %},{% endif %}
{%- endfor %}
    );
