// The wrapper under test, driven by bench.cpp.
module {{ v.name }} (
    input wire clk,
    input wire aresetn,
    input wire [{{ v.in_width - 1 }}:0] in_data,
    input wire in_valid,
    output wire in_ready,
    input wire in_last,
    input wire [{{ v.user_hi }}:0] in_user,
    output wire [{{ v.out_width - 1 }}:0] out_data,
    output wire out_valid,
    input wire out_ready,
    output wire out_last,
    output wire [{{ v.user_hi }}:0] out_user
);
    {{ v.top }} dut (
        .{{ v.names.clock }}(clk), .{{ v.names.reset }}(aresetn),
        .{{ v.names.input }}_tdata(in_data), .{{ v.names.input }}_tvalid(in_valid), .{{ v.names.input }}_tready(in_ready), .{{ v.names.input }}_tlast(in_last),
{%- if v.user_width > 0 %}
        .{{ v.names.input }}_tuser(in_user), .{{ v.names.output }}_tuser(out_user),
{%- endif %}
        .{{ v.names.output }}_tdata(out_data), .{{ v.names.output }}_tvalid(out_valid), .{{ v.names.output }}_tready(out_ready), .{{ v.names.output }}_tlast(out_last)
    );
{%- if v.user_width == 0 %}
    assign out_user = 1'b0;
{%- endif %}
endmodule
