// Self-checking testbench. Each lane applies the rows of its file to one module, a row every clock, and compares what
// comes out. A row: stimulus, flags (1: compare data, 2: compare the valid flag), expected response and, where a lane
// has such, the bits to compare; hexadecimal.
`timescale 1ns / 1ps
{% for lane in lanes %}
module {{ name }}_{{ lane.index }};
  reg clk;
  reg [{{ lane.stimulus_hi }}:0] stimulus;
  reg [{{ lane.stimulus_hi }}:0] next;
  wire [{{ lane.response_hi }}:0] response;
  reg [{{ lane.response_hi }}:0] expected;
{%- if lane.masked %}
  reg [{{ lane.response_hi }}:0] defined;
{%- endif %}
  reg [3:0] flags;
  integer file, fields, row, wrong;

  {{ lane.top }} dut (
{%- for c in lane.connections %}
    .{{ c.port }}({{ c.signal }}){% if !loop.last %},{% endif %}
{%- endfor %}
  );

  initial begin
    clk = 1'b0;
    row = 0;
    wrong = 0;
    file = $fopen("{{ lane.file }}", "r");
    fields = {{ lane.scan() }};
    while (fields == {{ lane.fields() }}) begin
      stimulus = next;
      #1;
      if ({% match lane.data %}{% when Some with (d) %}(flags[0] && {% if lane.masked %}((response{{ d }} ^ expected{{ d }}) & defined{{ d }}) !== 0{% else %}response{{ d }} !== expected{{ d }}{% endif %}){% when None %}1'b0{% endmatch %}
          {%- if lane.has_valid %} || (flags[1] && response[0] !== expected[0]){% endif %}) begin
        wrong = wrong + 1;
        if (wrong <= {{ shown }}) $display("MISMATCH {{ lane.index }} %0d %b", row, response);
      end
      clk = 1'b1;
      #1 clk = 1'b0;
      row = row + 1;
      fields = {{ lane.scan() }};
    end
    $fclose(file);
    $display("DONE {{ lane.index }} %0d %0d", row, wrong);
  end
endmodule
{% endfor %}
module {{ name }};
{%- for lane in lanes %}
  {{ name }}_{{ lane.index }} lane_{{ lane.index }} ();
{%- endfor %}
{%- if vcd %}

  initial begin
    $dumpfile("wave.vcd");
    $dumpvars;
  end
{%- endif %}
endmodule
