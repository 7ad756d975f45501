// Two generated blocks in a design of one's own: the jet tagger, and the mean of its first score over the last eight samples.
`default_nettype none

module two_blocks (
    input  wire clk,
    input  wire rst,
    input  wire valid_in,
    input  wire [110:0] sample,
    output reg  valid_out,
    output wire [10:0] mean
);
    wire scored;
    wire [62:0] scores;
    tagger u_tagger (
        .clk(clk),
        .valid_in(valid_in),
        .model_inp(sample),
        .valid_out(scored),
        .model_out(scores)
    );

    // The first score is s13.5 (bits 12:0): its integer part is what the mean takes, when there is one.
    moving_average u_moving_average (
        .clk(clk),
        .rst(rst),
        .x(scores[12:5]),
        .ce(scored),
        .y(mean)
    );

    always @(posedge clk) valid_out <= scored;
endmodule

`default_nettype wire
