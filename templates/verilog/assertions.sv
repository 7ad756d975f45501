
`ifndef SYNTHESIS
`ifndef __ICARUS__
// {{ v.about }}
module {{ v.name }} (
{%- for port in v.ports %}
    input wire {{ port.data_type }}{{ port.name }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
{%- if let Some(reset) = v.reset %}
{%- if v.events == "posedge clock" %}
    wire in_reset = {{ reset }};
{%- else %}
    // A register, as Verilator warns of a reset that is read both synchronously and asynchronously
    logic in_reset;
    initial in_reset = 1'b0;
    always @({{ v.events }}) begin
        if ({{ reset }}) in_reset <= 1'b1;
        else in_reset <= 1'b0;
    end
{%- endif %}
{%- endif %}
{%- if let Some(filled) = v.filled %}
    // Clocks since the start{% if v.reset.is_some() %} or the reset{% endif %}, until the pipeline is filled
    int unsigned clocks;
    initial clocks = 0;
    always @({{ v.events }}) begin
{%- if let Some(reset) = v.reset %}
        if ({{ reset }}) clocks <= 0;
        else if ({{ v.enable }} && clocks < {{ filled }}) clocks <= clocks + 1;
{%- else %}
        if ({{ v.enable }} && clocks < {{ filled }}) clocks <= clocks + 1;
{%- endif %}
    end
{%- endif %}
{%- if let Some(latency) = v.valid_latency %}

    // The valid flag of the inputs, {{ latency }} clocks later
    logic [{{ latency }}:1] flags;
    initial flags = '0;
    always @({{ v.events }}) begin
{%- if let Some(reset) = v.reset %}
        if ({{ reset }}) flags <= '0;
        else if ({{ v.enable }}) flags <= {{ v.next_flags() }};
{%- else %}
        if ({{ v.enable }}) flags <= {{ v.next_flags() }};
{%- endif %}
    end
    valid_follows: assert property (@(posedge clock) disable iff ({{ v.in_reset() }})
        {{ v.is_filled() }} |-> valid_out == flags[{{ latency }}])
        else $error("valid_out is not valid_in of {{ latency }} clocks before");
{%- endif %}
{%- for stream in v.streams %}

    // {{ stream.port }}: waiting data stay unchanged
    logic {{ stream.side }}_waits;
    logic [{{ stream.hi }}:0] {{ stream.side }}_last;
    initial {{ stream.side }}_waits = 1'b0;
    always @(posedge clock) begin
        {{ stream.side }}_waits <= !{{ v.in_reset() }} && {{ stream.side }}_valid && !{{ stream.side }}_ready;
        {{ stream.side }}_last <= {{ stream.payload }};
    end
    {{ stream.side }}_valid_stays: assert property (@(posedge clock) disable iff ({{ v.in_reset() }})
        {{ stream.side }}_waits |-> {{ stream.side }}_valid)
        else $error("{{ stream.port }}_tvalid falls before {{ stream.port }}_tready");
    {{ stream.side }}_data_stay: assert property (@(posedge clock) disable iff ({{ v.in_reset() }})
        {{ stream.side }}_waits |-> {{ stream.payload }} == {{ stream.side }}_last)
        else $error("{{ stream.port }}: data change before {{ stream.port }}_tready");
{%- endfor %}
{%- if !v.ranges.is_empty() %}

    // Ranges of raw integer values
{%- for range in v.ranges %}
    {{ range.port }}_range: assert property (@(posedge clock) disable iff ({{ v.in_reset() }})
        {{ range.when }} |-> {{ range.condition }})
        else $error("{{ range.text }} is %0d", {{ range.port }});
{%- endfor %}
{%- endif %}
endmodule

bind {{ v.top }} {{ v.name }} u_{{ v.name }} (
{%- for port in v.ports %}
    .{{ port.name }}({{ port.actual }}){% if !loop.last %},{% endif %}
{%- endfor %}
);
`endif
`endif
