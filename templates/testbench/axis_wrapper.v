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
        .aclk(clk), .aresetn(aresetn),
        .s_axis_tdata(in_data), .s_axis_tvalid(in_valid), .s_axis_tready(in_ready), .s_axis_tlast(in_last),
{%- if v.user_width > 0 %}
        .s_axis_tuser(in_user), .m_axis_tuser(out_user),
{%- endif %}
        .m_axis_tdata(out_data), .m_axis_tvalid(out_valid), .m_axis_tready(out_ready), .m_axis_tlast(out_last)
    );
{%- if v.user_width == 0 %}
    assign out_user = 1'b0;
{%- endif %}
endmodule
