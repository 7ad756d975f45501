// The modules under test side by side, driven by bench.cpp.
module {{ name }} (
    input wire clk
{%- for lane in lanes %},
    input wire [{{ lane.stimulus_hi }}:0] stimulus_{{ lane.index }},
    output wire [{{ lane.response_hi }}:0] actual_{{ lane.index }}
{%- endfor %}
);
{%- for lane in lanes %}
    {{ lane.top }} dut_{{ lane.index }} (
{%- for c in lane.connections %}
        .{{ c.port }}({{ c.signal }}){% if !loop.last %},{% endif %}
{%- endfor %}
    );
{%- endfor %}
endmodule
