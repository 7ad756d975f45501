// {{ v.top }} with a register of {{ v.nextpnr.title }} at each port: for timing, not for use (a handshake would come a clock late).
{%- let timed = v.timed() %}
module {{ v.top }}_registered (
    input wire {{ timed.clock }}
{%- for p in timed.ports %},
    {% if p.port.input %}input{% else %}output{% endif %} wire {% if let Some(hi) = p.port.hi %}[{{ hi }}:0] {% endif %}{{ p.port.name }}
{%- endfor %}
);
{%- for p in timed.ports %}
    wire {% if let Some(hi) = p.port.hi %}[{{ hi }}:0] {% endif %}{{ p.inner }};
{%- if v.nextpnr.is_ecp5() %}
    TRELLIS_FF #(.GSR("DISABLED"), .CEMUX("1"), .CLKMUX("CLK"), .LSRMUX("LSR"), .REGSET("RESET"))
        {{ p.inner }}_r {% if let Some(hi) = p.port.hi %}[{{ hi }}:0] {% endif %}(.CLK({{ timed.clock }}), .LSR(1'b0),
        {%- if p.port.input %} .DI({{ p.port.name }}), .Q({{ p.inner }})
        {%- else %} .DI({{ p.inner }}), .Q({{ p.port.name }})
        {%- endif %});
{%- else %}
    SB_DFF {{ p.inner }}_r {% if let Some(hi) = p.port.hi %}[{{ hi }}:0] {% endif %}(.C({{ timed.clock }}),
        {%- if p.port.input %} .D({{ p.port.name }}), .Q({{ p.inner }})
        {%- else %} .D({{ p.inner }}), .Q({{ p.port.name }})
        {%- endif %});
{%- endif %}
{%- endfor %}
    {{ v.top }} {{ timed.block }} (
{%- if v.clock.is_some() %}.{{ timed.clock }}({{ timed.clock }}){% if !timed.ports.is_empty() %}, {% endif %}{% endif %}
{%- for p in timed.ports %}.{{ p.port.name }}({{ p.inner }}){% if !loop.last %}, {% endif %}{% endfor %});
endmodule
