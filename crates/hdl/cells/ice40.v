// Cells of Lattice iCE40.
//
// Written from the iCE technology library (version 3.0) and TN1295 (DSP), and for the cells after packing from the documentation of
// Project IceStorm. A port `must_be_zero` says when a cell is used in a way that is not modelled; `unconnected_X` is the value of a
// port X that nothing is connected to.

module SB_LUT4 (output O, input I0, I1, I2, I3);
    parameter [15:0] LUT_INIT = 0;
    wire unconnected_I0 = 1'b0;
    wire unconnected_I1 = 1'b0;
    wire unconnected_I2 = 1'b0;
    wire unconnected_I3 = 1'b0;
    wire [3:0] a = {I3, I2, I1, I0};
    assign O = LUT_INIT[a];
endmodule

// The carry of a sum, in the form of Intel's and AMD's chains.
module SB_CARRY (output CO, input I0, I1, CI);
    wire unconnected_I0 = 1'b0;
    wire unconnected_I1 = 1'b0;
    wire unconnected_CI = 1'b0;
    assign CO = I0 ^ I1 ? CI : I0;
endmodule

module SB_GB (output GLOBAL_BUFFER_OUTPUT, input USER_SIGNAL_TO_GLOBAL_BUFFER);
    assign GLOBAL_BUFFER_OUTPUT = USER_SIGNAL_TO_GLOBAL_BUFFER;
endmodule

module SB_DFF (output Q, input C, D);
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) q <= D;
endmodule

module SB_DFFSR (output Q, input C, R, D);
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) if (R) q <= 1'b0; else q <= D;
endmodule

module SB_DFFR (output Q, input C, R, D);
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C or posedge R) if (R) q <= 1'b0; else q <= D;
endmodule

module SB_DFFSS (output Q, input C, S, D);
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) if (S) q <= 1'b1; else q <= D;
endmodule

module SB_DFFS (output Q, input C, S, D);
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C or posedge S) if (S) q <= 1'b1; else q <= D;
endmodule

module SB_DFFE (output Q, input C, E, D);
    wire unconnected_E = 1'b1;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) if (E) q <= D;
endmodule

module SB_DFFESR (output Q, input C, E, R, D);
    wire unconnected_E = 1'b1;
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) if (E) begin if (R) q <= 1'b0; else q <= D; end
endmodule

module SB_DFFER (output Q, input C, E, R, D);
    wire unconnected_E = 1'b1;
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C or posedge R) if (R) q <= 1'b0; else if (E) q <= D;
endmodule

module SB_DFFESS (output Q, input C, E, S, D);
    wire unconnected_E = 1'b1;
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C) if (E) begin if (S) q <= 1'b1; else q <= D; end
endmodule

module SB_DFFES (output Q, input C, E, S, D);
    wire unconnected_E = 1'b1;
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge C or posedge S) if (S) q <= 1'b1; else if (E) q <= D;
endmodule

module SB_DFFN (output Q, input C, D);
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) q <= D;
endmodule

module SB_DFFNSR (output Q, input C, R, D);
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) if (R) q <= 1'b0; else q <= D;
endmodule

module SB_DFFNR (output Q, input C, R, D);
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C or posedge R) if (R) q <= 1'b0; else q <= D;
endmodule

module SB_DFFNSS (output Q, input C, S, D);
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) if (S) q <= 1'b1; else q <= D;
endmodule

module SB_DFFNS (output Q, input C, S, D);
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C or posedge S) if (S) q <= 1'b1; else q <= D;
endmodule

module SB_DFFNE (output Q, input C, E, D);
    wire unconnected_E = 1'b1;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) if (E) q <= D;
endmodule

module SB_DFFNESR (output Q, input C, E, R, D);
    wire unconnected_E = 1'b1;
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) if (E) begin if (R) q <= 1'b0; else q <= D; end
endmodule

module SB_DFFNER (output Q, input C, E, R, D);
    wire unconnected_E = 1'b1;
    wire unconnected_R = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C or posedge R) if (R) q <= 1'b0; else if (E) q <= D;
endmodule

module SB_DFFNESS (output Q, input C, E, S, D);
    wire unconnected_E = 1'b1;
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C) if (E) begin if (S) q <= 1'b1; else q <= D; end
endmodule

module SB_DFFNES (output Q, input C, E, S, D);
    wire unconnected_E = 1'b1;
    wire unconnected_S = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(negedge C or posedge S) if (S) q <= 1'b1; else if (E) q <= D;
endmodule

// A logic cell after packing.
module ICESTORM_LC (output LO, O, COUT, input I0, I1, I2, I3, CIN, CLK, CEN, SR);
    parameter [15:0] LUT_INIT = 0;
    parameter [0:0] NEG_CLK = 0;
    parameter [0:0] CARRY_ENABLE = 0;
    parameter [0:0] DFF_ENABLE = 0;
    parameter [0:0] SET_NORESET = 0;
    parameter [0:0] ASYNC_SR = 0;
    parameter [0:0] CIN_CONST = 0;
    parameter [0:0] CIN_SET = 0;
    wire unconnected_I0 = 1'b0;
    wire unconnected_I1 = 1'b0;
    wire unconnected_I2 = 1'b0;
    wire unconnected_I3 = 1'b0;
    wire unconnected_CIN = 1'b0;
    wire unconnected_CEN = 1'b1;
    wire unconnected_SR = 1'b0;
    wire [3:0] a = {I3, I2, I1, I0};
    wire d = LUT_INIT[a];
    wire carry = CIN_CONST ? CIN_SET : CIN;
    assign LO = d;
    assign COUT = I1 ^ I2 ? carry : I1;
    generate
        if (!DFF_ENABLE) begin : none
            assign O = d;
        end else begin : register
            reg q = 1'b0;
            if (ASYNC_SR && NEG_CLK) begin
                always @(negedge CLK or posedge SR) if (SR) q <= SET_NORESET; else if (CEN) q <= d;
            end else if (ASYNC_SR) begin
                always @(posedge CLK or posedge SR) if (SR) q <= SET_NORESET; else if (CEN) q <= d;
            end else if (NEG_CLK) begin
                always @(negedge CLK) if (CEN) q <= SR ? SET_NORESET : d;
            end else begin
                always @(posedge CLK) if (CEN) q <= SR ? SET_NORESET : d;
            end
            assign O = q;
        end
    endgenerate
endmodule

// BRAM is used as ROM: writes are not modelled.
module SB_RAM40_4K (output [15:0] RDATA, output must_be_zero, input RCLK, RCLKE, RE, input [10:0] RADDR, input WCLK, WCLKE, WE,
    input [10:0] WADDR, input [15:0] MASK, WDATA);
    parameter integer READ_MODE = 0;
    parameter integer WRITE_MODE = 0;
    parameter [255:0] INIT_0 = 0;
    parameter [255:0] INIT_1 = 0;
    parameter [255:0] INIT_2 = 0;
    parameter [255:0] INIT_3 = 0;
    parameter [255:0] INIT_4 = 0;
    parameter [255:0] INIT_5 = 0;
    parameter [255:0] INIT_6 = 0;
    parameter [255:0] INIT_7 = 0;
    parameter [255:0] INIT_8 = 0;
    parameter [255:0] INIT_9 = 0;
    parameter [255:0] INIT_A = 0;
    parameter [255:0] INIT_B = 0;
    parameter [255:0] INIT_C = 0;
    parameter [255:0] INIT_D = 0;
    parameter [255:0] INIT_E = 0;
    parameter [255:0] INIT_F = 0;
    wire unconnected_RCLKE = 1'b1;
    wire unconnected_RE = 1'b0;
    wire unconnected_WE = 1'b0;
    wire unconnected_WCLKE = 1'b1;
    localparam [4095:0] DATA = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8, INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
    reg [15:0] words [0:255];
    integer i;
    initial for (i = 0; i < 256; i = i + 1) words[i] = DATA[i * 16 +: 16];
    assign must_be_zero = WE & WCLKE;
    wire [10:0] at = RADDR;
    wire [15:0] word = words[at[7:0]];
    // A narrow word is every second, fourth or eighth bit, from the one that the upper address bits name; its bits are seen in the
    // middle of those that they come from.
    wire [7:0] m1 = at[8] ? {word[15], word[13], word[11], word[9], word[7], word[5], word[3], word[1]} : {word[14], word[12], word[10], word[8], word[6], word[4], word[2], word[0]};
    wire [3:0] m2 = at[9] ? {at[8] ? word[15] : word[14], at[8] ? word[11] : word[10], at[8] ? word[7] : word[6], at[8] ? word[3] : word[2]}
        : {at[8] ? word[13] : word[12], at[8] ? word[9] : word[8], at[8] ? word[5] : word[4], at[8] ? word[1] : word[0]};
    wire [7:0] high = word[15:8];
    wire [7:0] low = word[7:0];
    wire [2:0] which = at[10:8];
    wire [15:0] picked;
    generate
        if (READ_MODE == 0) assign picked = word;
        else if (READ_MODE == 1) assign picked = {1'b0, m1[7], 1'b0, m1[6], 1'b0, m1[5], 1'b0, m1[4], 1'b0, m1[3], 1'b0, m1[2], 1'b0, m1[1], 1'b0, m1[0]};
        else if (READ_MODE == 2) assign picked = {2'b0, m2[3], 3'b0, m2[2], 3'b0, m2[1], 3'b0, m2[0], 1'b0};
        else assign picked = {4'b0, high[which], 7'b0, low[which], 3'b0};
    endgenerate
    reg [15:0] q;
    assign RDATA = q;
    always @(posedge RCLK) if (RE & RCLKE) q <= picked;
endmodule

module SB_RAM40_4KNR (output [15:0] RDATA, output must_be_zero, input RCLKN, RCLKE, RE, input [10:0] RADDR, input WCLK, WCLKE, WE,
    input [10:0] WADDR, input [15:0] MASK, WDATA);
    parameter integer READ_MODE = 0;
    parameter integer WRITE_MODE = 0;
    parameter [255:0] INIT_0 = 0;
    parameter [255:0] INIT_1 = 0;
    parameter [255:0] INIT_2 = 0;
    parameter [255:0] INIT_3 = 0;
    parameter [255:0] INIT_4 = 0;
    parameter [255:0] INIT_5 = 0;
    parameter [255:0] INIT_6 = 0;
    parameter [255:0] INIT_7 = 0;
    parameter [255:0] INIT_8 = 0;
    parameter [255:0] INIT_9 = 0;
    parameter [255:0] INIT_A = 0;
    parameter [255:0] INIT_B = 0;
    parameter [255:0] INIT_C = 0;
    parameter [255:0] INIT_D = 0;
    parameter [255:0] INIT_E = 0;
    parameter [255:0] INIT_F = 0;
    wire unconnected_RCLKE = 1'b1;
    wire unconnected_RE = 1'b0;
    wire unconnected_WE = 1'b0;
    wire unconnected_WCLKE = 1'b1;
    localparam [4095:0] DATA = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8, INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
    reg [15:0] words [0:255];
    integer i;
    initial for (i = 0; i < 256; i = i + 1) words[i] = DATA[i * 16 +: 16];
    assign must_be_zero = WE & WCLKE;
    wire [10:0] at = RADDR;
    wire [15:0] word = words[at[7:0]];
    // A narrow word is every second, fourth or eighth bit, from the one that the upper address bits name; its bits are seen in the
    // middle of those that they come from.
    wire [7:0] m1 = at[8] ? {word[15], word[13], word[11], word[9], word[7], word[5], word[3], word[1]} : {word[14], word[12], word[10], word[8], word[6], word[4], word[2], word[0]};
    wire [3:0] m2 = at[9] ? {at[8] ? word[15] : word[14], at[8] ? word[11] : word[10], at[8] ? word[7] : word[6], at[8] ? word[3] : word[2]}
        : {at[8] ? word[13] : word[12], at[8] ? word[9] : word[8], at[8] ? word[5] : word[4], at[8] ? word[1] : word[0]};
    wire [7:0] high = word[15:8];
    wire [7:0] low = word[7:0];
    wire [2:0] which = at[10:8];
    wire [15:0] picked;
    generate
        if (READ_MODE == 0) assign picked = word;
        else if (READ_MODE == 1) assign picked = {1'b0, m1[7], 1'b0, m1[6], 1'b0, m1[5], 1'b0, m1[4], 1'b0, m1[3], 1'b0, m1[2], 1'b0, m1[1], 1'b0, m1[0]};
        else if (READ_MODE == 2) assign picked = {2'b0, m2[3], 3'b0, m2[2], 3'b0, m2[1], 3'b0, m2[0], 1'b0};
        else assign picked = {4'b0, high[which], 7'b0, low[which], 3'b0};
    endgenerate
    reg [15:0] q;
    assign RDATA = q;
    always @(negedge RCLKN) if (RE & RCLKE) q <= picked;
endmodule

module SB_RAM40_4KNW (output [15:0] RDATA, output must_be_zero, input RCLK, RCLKE, RE, input [10:0] RADDR, input WCLKN, WCLKE, WE,
    input [10:0] WADDR, input [15:0] MASK, WDATA);
    parameter integer READ_MODE = 0;
    parameter integer WRITE_MODE = 0;
    parameter [255:0] INIT_0 = 0;
    parameter [255:0] INIT_1 = 0;
    parameter [255:0] INIT_2 = 0;
    parameter [255:0] INIT_3 = 0;
    parameter [255:0] INIT_4 = 0;
    parameter [255:0] INIT_5 = 0;
    parameter [255:0] INIT_6 = 0;
    parameter [255:0] INIT_7 = 0;
    parameter [255:0] INIT_8 = 0;
    parameter [255:0] INIT_9 = 0;
    parameter [255:0] INIT_A = 0;
    parameter [255:0] INIT_B = 0;
    parameter [255:0] INIT_C = 0;
    parameter [255:0] INIT_D = 0;
    parameter [255:0] INIT_E = 0;
    parameter [255:0] INIT_F = 0;
    wire unconnected_RCLKE = 1'b1;
    wire unconnected_RE = 1'b0;
    wire unconnected_WE = 1'b0;
    wire unconnected_WCLKE = 1'b1;
    localparam [4095:0] DATA = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8, INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
    reg [15:0] words [0:255];
    integer i;
    initial for (i = 0; i < 256; i = i + 1) words[i] = DATA[i * 16 +: 16];
    assign must_be_zero = WE & WCLKE;
    wire [10:0] at = RADDR;
    wire [15:0] word = words[at[7:0]];
    // A narrow word is every second, fourth or eighth bit, from the one that the upper address bits name; its bits are seen in the
    // middle of those that they come from.
    wire [7:0] m1 = at[8] ? {word[15], word[13], word[11], word[9], word[7], word[5], word[3], word[1]} : {word[14], word[12], word[10], word[8], word[6], word[4], word[2], word[0]};
    wire [3:0] m2 = at[9] ? {at[8] ? word[15] : word[14], at[8] ? word[11] : word[10], at[8] ? word[7] : word[6], at[8] ? word[3] : word[2]}
        : {at[8] ? word[13] : word[12], at[8] ? word[9] : word[8], at[8] ? word[5] : word[4], at[8] ? word[1] : word[0]};
    wire [7:0] high = word[15:8];
    wire [7:0] low = word[7:0];
    wire [2:0] which = at[10:8];
    wire [15:0] picked;
    generate
        if (READ_MODE == 0) assign picked = word;
        else if (READ_MODE == 1) assign picked = {1'b0, m1[7], 1'b0, m1[6], 1'b0, m1[5], 1'b0, m1[4], 1'b0, m1[3], 1'b0, m1[2], 1'b0, m1[1], 1'b0, m1[0]};
        else if (READ_MODE == 2) assign picked = {2'b0, m2[3], 3'b0, m2[2], 3'b0, m2[1], 3'b0, m2[0], 1'b0};
        else assign picked = {4'b0, high[which], 7'b0, low[which], 3'b0};
    endgenerate
    reg [15:0] q;
    assign RDATA = q;
    always @(posedge RCLK) if (RE & RCLKE) q <= picked;
endmodule

module SB_RAM40_4KNRNW (output [15:0] RDATA, output must_be_zero, input RCLKN, RCLKE, RE, input [10:0] RADDR, input WCLKN, WCLKE, WE,
    input [10:0] WADDR, input [15:0] MASK, WDATA);
    parameter integer READ_MODE = 0;
    parameter integer WRITE_MODE = 0;
    parameter [255:0] INIT_0 = 0;
    parameter [255:0] INIT_1 = 0;
    parameter [255:0] INIT_2 = 0;
    parameter [255:0] INIT_3 = 0;
    parameter [255:0] INIT_4 = 0;
    parameter [255:0] INIT_5 = 0;
    parameter [255:0] INIT_6 = 0;
    parameter [255:0] INIT_7 = 0;
    parameter [255:0] INIT_8 = 0;
    parameter [255:0] INIT_9 = 0;
    parameter [255:0] INIT_A = 0;
    parameter [255:0] INIT_B = 0;
    parameter [255:0] INIT_C = 0;
    parameter [255:0] INIT_D = 0;
    parameter [255:0] INIT_E = 0;
    parameter [255:0] INIT_F = 0;
    wire unconnected_RCLKE = 1'b1;
    wire unconnected_RE = 1'b0;
    wire unconnected_WE = 1'b0;
    wire unconnected_WCLKE = 1'b1;
    localparam [4095:0] DATA = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8, INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
    reg [15:0] words [0:255];
    integer i;
    initial for (i = 0; i < 256; i = i + 1) words[i] = DATA[i * 16 +: 16];
    assign must_be_zero = WE & WCLKE;
    wire [10:0] at = RADDR;
    wire [15:0] word = words[at[7:0]];
    // A narrow word is every second, fourth or eighth bit, from the one that the upper address bits name; its bits are seen in the
    // middle of those that they come from.
    wire [7:0] m1 = at[8] ? {word[15], word[13], word[11], word[9], word[7], word[5], word[3], word[1]} : {word[14], word[12], word[10], word[8], word[6], word[4], word[2], word[0]};
    wire [3:0] m2 = at[9] ? {at[8] ? word[15] : word[14], at[8] ? word[11] : word[10], at[8] ? word[7] : word[6], at[8] ? word[3] : word[2]}
        : {at[8] ? word[13] : word[12], at[8] ? word[9] : word[8], at[8] ? word[5] : word[4], at[8] ? word[1] : word[0]};
    wire [7:0] high = word[15:8];
    wire [7:0] low = word[7:0];
    wire [2:0] which = at[10:8];
    wire [15:0] picked;
    generate
        if (READ_MODE == 0) assign picked = word;
        else if (READ_MODE == 1) assign picked = {1'b0, m1[7], 1'b0, m1[6], 1'b0, m1[5], 1'b0, m1[4], 1'b0, m1[3], 1'b0, m1[2], 1'b0, m1[1], 1'b0, m1[0]};
        else if (READ_MODE == 2) assign picked = {2'b0, m2[3], 3'b0, m2[2], 3'b0, m2[1], 3'b0, m2[0], 1'b0};
        else assign picked = {4'b0, high[which], 7'b0, low[which], 3'b0};
    endgenerate
    reg [15:0] q;
    assign RDATA = q;
    always @(negedge RCLKN) if (RE & RCLKE) q <= picked;
endmodule

module ICESTORM_RAM (output RDATA_0, RDATA_1, RDATA_2, RDATA_3, RDATA_4, RDATA_5, RDATA_6, RDATA_7, RDATA_8, RDATA_9, RDATA_10, RDATA_11, RDATA_12, RDATA_13, RDATA_14, RDATA_15, must_be_zero,
    input RCLK, RCLKE, RE, RADDR_0, RADDR_1, RADDR_2, RADDR_3, RADDR_4, RADDR_5, RADDR_6, RADDR_7, RADDR_8, RADDR_9, RADDR_10,
    input WCLK, WCLKE, WE, WADDR_0, WADDR_1, WADDR_2, WADDR_3, WADDR_4, WADDR_5, WADDR_6, WADDR_7, WADDR_8, WADDR_9, WADDR_10,
    input MASK_0, MASK_1, MASK_2, MASK_3, MASK_4, MASK_5, MASK_6, MASK_7, MASK_8, MASK_9, MASK_10, MASK_11, MASK_12, MASK_13, MASK_14, MASK_15, WDATA_0, WDATA_1, WDATA_2, WDATA_3, WDATA_4, WDATA_5, WDATA_6, WDATA_7, WDATA_8, WDATA_9, WDATA_10, WDATA_11, WDATA_12, WDATA_13, WDATA_14, WDATA_15);
    parameter [0:0] NEG_CLK_R = 0;
    parameter [0:0] NEG_CLK_W = 0;
    wire unconnected_RADDR_0 = 1'b0;
    wire unconnected_RADDR_1 = 1'b0;
    wire unconnected_RADDR_2 = 1'b0;
    wire unconnected_RADDR_3 = 1'b0;
    wire unconnected_RADDR_4 = 1'b0;
    wire unconnected_RADDR_5 = 1'b0;
    wire unconnected_RADDR_6 = 1'b0;
    wire unconnected_RADDR_7 = 1'b0;
    wire unconnected_RADDR_8 = 1'b0;
    wire unconnected_RADDR_9 = 1'b0;
    wire unconnected_RADDR_10 = 1'b0;
    parameter integer READ_MODE = 0;
    parameter integer WRITE_MODE = 0;
    parameter [255:0] INIT_0 = 0;
    parameter [255:0] INIT_1 = 0;
    parameter [255:0] INIT_2 = 0;
    parameter [255:0] INIT_3 = 0;
    parameter [255:0] INIT_4 = 0;
    parameter [255:0] INIT_5 = 0;
    parameter [255:0] INIT_6 = 0;
    parameter [255:0] INIT_7 = 0;
    parameter [255:0] INIT_8 = 0;
    parameter [255:0] INIT_9 = 0;
    parameter [255:0] INIT_A = 0;
    parameter [255:0] INIT_B = 0;
    parameter [255:0] INIT_C = 0;
    parameter [255:0] INIT_D = 0;
    parameter [255:0] INIT_E = 0;
    parameter [255:0] INIT_F = 0;
    wire unconnected_RCLKE = 1'b1;
    wire unconnected_RE = 1'b0;
    wire unconnected_WE = 1'b0;
    wire unconnected_WCLKE = 1'b1;
    localparam [4095:0] DATA = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8, INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
    reg [15:0] words [0:255];
    integer i;
    initial for (i = 0; i < 256; i = i + 1) words[i] = DATA[i * 16 +: 16];
    assign must_be_zero = WE & WCLKE;
    wire [10:0] at = {RADDR_10, RADDR_9, RADDR_8, RADDR_7, RADDR_6, RADDR_5, RADDR_4, RADDR_3, RADDR_2, RADDR_1, RADDR_0};
    wire [15:0] word = words[at[7:0]];
    // A narrow word is every second, fourth or eighth bit, from the one that the upper address bits name; its bits are seen in the
    // middle of those that they come from.
    wire [7:0] m1 = at[8] ? {word[15], word[13], word[11], word[9], word[7], word[5], word[3], word[1]} : {word[14], word[12], word[10], word[8], word[6], word[4], word[2], word[0]};
    wire [3:0] m2 = at[9] ? {at[8] ? word[15] : word[14], at[8] ? word[11] : word[10], at[8] ? word[7] : word[6], at[8] ? word[3] : word[2]}
        : {at[8] ? word[13] : word[12], at[8] ? word[9] : word[8], at[8] ? word[5] : word[4], at[8] ? word[1] : word[0]};
    wire [7:0] high = word[15:8];
    wire [7:0] low = word[7:0];
    wire [2:0] which = at[10:8];
    wire [15:0] picked;
    generate
        if (READ_MODE == 0) assign picked = word;
        else if (READ_MODE == 1) assign picked = {1'b0, m1[7], 1'b0, m1[6], 1'b0, m1[5], 1'b0, m1[4], 1'b0, m1[3], 1'b0, m1[2], 1'b0, m1[1], 1'b0, m1[0]};
        else if (READ_MODE == 2) assign picked = {2'b0, m2[3], 3'b0, m2[2], 3'b0, m2[1], 3'b0, m2[0], 1'b0};
        else assign picked = {4'b0, high[which], 7'b0, low[which], 3'b0};
    endgenerate
    reg [15:0] q;
    assign {RDATA_15, RDATA_14, RDATA_13, RDATA_12, RDATA_11, RDATA_10, RDATA_9, RDATA_8, RDATA_7, RDATA_6, RDATA_5, RDATA_4, RDATA_3, RDATA_2, RDATA_1, RDATA_0} = q;
    generate
        if (NEG_CLK_R) begin
            always @(negedge RCLK) if (RE & RCLKE) q <= picked;
        end else begin
            always @(posedge RCLK) if (RE & RCLKE) q <= picked;
        end
    endgenerate
endmodule

// The product of two words of 16 bits; adders and halves of 8 bits are not modelled.
module SB_MAC16 (output [31:0] O, output CO, ACCUMCO, SIGNEXTOUT, must_be_zero, input CLK, CE, input [15:0] A, B, C, D,
    input AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT, ADDSUBTOP, ADDSUBBOT, OHOLDTOP, OHOLDBOT,
    input CI, ACCUMCI, SIGNEXTIN);
    parameter [0:0] NEG_TRIGGER = 0;
    parameter [0:0] C_REG = 0;
    parameter [0:0] A_REG = 0;
    parameter [0:0] B_REG = 0;
    parameter [0:0] D_REG = 0;
    parameter [0:0] TOP_8x8_MULT_REG = 0;
    parameter [0:0] BOT_8x8_MULT_REG = 0;
    parameter [0:0] PIPELINE_16x16_MULT_REG1 = 0;
    parameter [0:0] PIPELINE_16x16_MULT_REG2 = 0;
    parameter [1:0] TOPOUTPUT_SELECT = 0;
    parameter [1:0] TOPADDSUB_LOWERINPUT = 0;
    parameter [0:0] TOPADDSUB_UPPERINPUT = 0;
    parameter [1:0] TOPADDSUB_CARRYSELECT = 0;
    parameter [1:0] BOTOUTPUT_SELECT = 0;
    parameter [1:0] BOTADDSUB_LOWERINPUT = 0;
    parameter [0:0] BOTADDSUB_UPPERINPUT = 0;
    parameter [1:0] BOTADDSUB_CARRYSELECT = 0;
    parameter [0:0] MODE_8x8 = 0;
    parameter [0:0] A_SIGNED = 0;
    parameter [0:0] B_SIGNED = 0;
    wire unconnected_CE = 1'b1;
    wire unconnected_AHOLD = 1'b0;
    wire unconnected_BHOLD = 1'b0;
    wire unconnected_IRSTTOP = 1'b0;
    wire unconnected_IRSTBOT = 1'b0;
    wire unconnected_CHOLD = 1'b0;
    wire unconnected_DHOLD = 1'b0;
    wire unconnected_ORSTTOP = 1'b0;
    wire unconnected_ORSTBOT = 1'b0;
    wire unconnected_OLOADTOP = 1'b0;
    wire unconnected_OLOADBOT = 1'b0;
    wire unconnected_ADDSUBTOP = 1'b0;
    wire unconnected_ADDSUBBOT = 1'b0;
    wire unconnected_OHOLDTOP = 1'b0;
    wire unconnected_OHOLDBOT = 1'b0;
    wire [15:0] unconnected_C = 16'h0000;
    wire [15:0] unconnected_D = 16'h0000;
    wire unconnected_CI = 1'b0;
    // Outputs of the adders, combinational or of their registers.
    localparam TOP_ADDS = ~TOPOUTPUT_SELECT[1];
    localparam BOT_ADDS = ~BOTOUTPUT_SELECT[1] | (TOP_ADDS & TOPADDSUB_CARRYSELECT[1]);
    assign must_be_zero = TOPOUTPUT_SELECT == 2'b10 | BOTOUTPUT_SELECT == 2'b10 | NEG_TRIGGER | MODE_8x8
        | (TOP_ADDS & TOPADDSUB_LOWERINPUT[0]) | (BOT_ADDS & (BOTADDSUB_LOWERINPUT[0] | BOTADDSUB_CARRYSELECT == 2'b10))
        | TOP_8x8_MULT_REG != PIPELINE_16x16_MULT_REG1 | BOT_8x8_MULT_REG != PIPELINE_16x16_MULT_REG1;
    wire [15:0] a, b;
    generate
        if (A_REG) begin : reg_a
            reg [15:0] q = 0;
            always @(posedge CLK or posedge IRSTTOP) if (IRSTTOP) q <= 0; else if (CE & ~AHOLD) q <= A;
            assign a = q;
        end else begin : no_a
            assign a = A;
        end
        if (B_REG) begin : reg_b
            reg [15:0] q = 0;
            always @(posedge CLK or posedge IRSTBOT) if (IRSTBOT) q <= 0; else if (CE & ~BHOLD) q <= B;
            assign b = q;
        end else begin : no_b
            assign b = B;
        end
    endgenerate
    wire [31:0] product = {{16{A_SIGNED & a[15]}}, a} * {{16{B_SIGNED & b[15]}}, b};
    wire [31:0] m, h;
    generate
        // The partial products of the first level have resets of their own halves; both are used together.
        if (PIPELINE_16x16_MULT_REG1) begin : reg_m
            reg [31:0] q = 0;
            always @(posedge CLK or posedge IRSTBOT) if (IRSTBOT) q <= 0; else if (CE) q <= product;
            assign m = q;
        end else begin : no_m
            assign m = product;
        end
        if (PIPELINE_16x16_MULT_REG2) begin : reg_h
            reg [31:0] q = 0;
            always @(posedge CLK or posedge IRSTBOT) if (IRSTBOT) q <= 0; else if (CE) q <= m;
            assign h = q;
        end else begin : no_h
            assign h = m;
        end
    endgenerate
    wire [15:0] c, d, top, bot;
    generate
        if (C_REG) begin : reg_c
            reg [15:0] q = 0;
            always @(posedge CLK or posedge IRSTTOP) if (IRSTTOP) q <= 0; else if (CE & ~CHOLD) q <= C;
            assign c = q;
        end else begin : no_c
            assign c = C;
        end
        if (D_REG) begin : reg_d
            reg [15:0] q = 0;
            always @(posedge CLK or posedge IRSTBOT) if (IRSTBOT) q <= 0; else if (CE & ~DHOLD) q <= D;
            assign d = q;
        end else begin : no_d
            assign d = D;
        end
    endgenerate
    // A difference is the complement of a sum with a complement.
    reg [15:0] top_q = 0, bot_q = 0;
    wire bot_in = BOTADDSUB_CARRYSELECT == 2'b00 ? 1'b0 : BOTADDSUB_CARRYSELECT == 2'b01 ? 1'b1 : CI;
    wire [15:0] bot_lower = BOTADDSUB_LOWERINPUT[1] ? h[15:0] : b;
    wire [15:0] bot_upper = BOTADDSUB_UPPERINPUT ? d : bot_q;
    wire [16:0] bot_sum = {1'b0, bot_lower} + {1'b0, bot_upper ^ {16{ADDSUBBOT}}} + {16'h0000, bot_in};
    assign bot = OLOADBOT ? d : bot_sum[15:0] ^ {16{ADDSUBBOT}};
    wire top_in = TOPADDSUB_CARRYSELECT == 2'b00 ? 1'b0 : TOPADDSUB_CARRYSELECT == 2'b01 ? 1'b1
        : bot_sum[16] ^ (TOPADDSUB_CARRYSELECT[0] & ADDSUBBOT);
    wire [15:0] top_lower = TOPADDSUB_LOWERINPUT[1] ? h[31:16] : a;
    wire [15:0] top_upper = TOPADDSUB_UPPERINPUT ? c : top_q;
    wire [16:0] top_sum = {1'b0, top_lower} + {1'b0, top_upper ^ {16{ADDSUBTOP}}} + {16'h0000, top_in};
    assign top = OLOADTOP ? c : top_sum[15:0] ^ {16{ADDSUBTOP}};
    always @(posedge CLK or posedge ORSTTOP) if (ORSTTOP) top_q <= 0; else if (CE & ~OHOLDTOP) top_q <= top;
    always @(posedge CLK or posedge ORSTBOT) if (ORSTBOT) bot_q <= 0; else if (CE & ~OHOLDBOT) bot_q <= bot;
    assign O[31:16] = TOPOUTPUT_SELECT == 2'b00 ? top : TOPOUTPUT_SELECT == 2'b01 ? top_q : h[31:16];
    assign O[15:0] = BOTOUTPUT_SELECT == 2'b00 ? bot : BOTOUTPUT_SELECT == 2'b01 ? bot_q : h[15:0];
    assign ACCUMCO = top_sum[16];
    assign CO = top_sum[16] ^ ADDSUBTOP;
endmodule

module ICESTORM_DSP (output O_0, O_1, O_2, O_3, O_4, O_5, O_6, O_7, O_8, O_9, O_10, O_11, O_12, O_13, O_14, O_15, O_16, O_17, O_18, O_19, O_20, O_21, O_22, O_23, O_24, O_25, O_26, O_27, O_28, O_29, O_30, O_31, CO, ACCUMCO, SIGNEXTOUT, must_be_zero,
    input CLK, CE, A_0, A_1, A_2, A_3, A_4, A_5, A_6, A_7, A_8, A_9, A_10, A_11, A_12, A_13, A_14, A_15, B_0, B_1, B_2, B_3, B_4, B_5, B_6, B_7, B_8, B_9, B_10, B_11, B_12, B_13, B_14, B_15, C_0, C_1, C_2, C_3, C_4, C_5, C_6, C_7, C_8, C_9, C_10, C_11, C_12, C_13, C_14, C_15, D_0, D_1, D_2, D_3, D_4, D_5, D_6, D_7, D_8, D_9, D_10, D_11, D_12, D_13, D_14, D_15,
    input AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT, ADDSUBTOP, ADDSUBBOT, OHOLDTOP, OHOLDBOT,
    input CI, ACCUMCI, SIGNEXTIN);
    parameter [0:0] NEG_TRIGGER = 0;
    parameter [0:0] C_REG = 0;
    parameter [0:0] A_REG = 0;
    parameter [0:0] B_REG = 0;
    parameter [0:0] D_REG = 0;
    parameter [0:0] TOP_8x8_MULT_REG = 0;
    parameter [0:0] BOT_8x8_MULT_REG = 0;
    parameter [0:0] PIPELINE_16x16_MULT_REG1 = 0;
    parameter [0:0] PIPELINE_16x16_MULT_REG2 = 0;
    parameter [1:0] TOPOUTPUT_SELECT = 0;
    parameter [1:0] TOPADDSUB_LOWERINPUT = 0;
    parameter [0:0] TOPADDSUB_UPPERINPUT = 0;
    parameter [1:0] TOPADDSUB_CARRYSELECT = 0;
    parameter [1:0] BOTOUTPUT_SELECT = 0;
    parameter [1:0] BOTADDSUB_LOWERINPUT = 0;
    parameter [0:0] BOTADDSUB_UPPERINPUT = 0;
    parameter [1:0] BOTADDSUB_CARRYSELECT = 0;
    parameter [0:0] MODE_8x8 = 0;
    parameter [0:0] A_SIGNED = 0;
    parameter [0:0] B_SIGNED = 0;
    wire unconnected_CE = 1'b1;
    wire unconnected_AHOLD = 1'b0;
    wire unconnected_BHOLD = 1'b0;
    wire unconnected_IRSTTOP = 1'b0;
    wire unconnected_IRSTBOT = 1'b0;
    wire unconnected_CHOLD = 1'b0;
    wire unconnected_DHOLD = 1'b0;
    wire unconnected_ORSTTOP = 1'b0;
    wire unconnected_ORSTBOT = 1'b0;
    wire unconnected_OLOADTOP = 1'b0;
    wire unconnected_OLOADBOT = 1'b0;
    wire unconnected_ADDSUBTOP = 1'b0;
    wire unconnected_ADDSUBBOT = 1'b0;
    wire unconnected_OHOLDTOP = 1'b0;
    wire unconnected_OHOLDBOT = 1'b0;
    wire unconnected_CI = 1'b0;
    wire unconnected_C_0 = 1'b0;
    wire unconnected_C_1 = 1'b0;
    wire unconnected_C_2 = 1'b0;
    wire unconnected_C_3 = 1'b0;
    wire unconnected_C_4 = 1'b0;
    wire unconnected_C_5 = 1'b0;
    wire unconnected_C_6 = 1'b0;
    wire unconnected_C_7 = 1'b0;
    wire unconnected_C_8 = 1'b0;
    wire unconnected_C_9 = 1'b0;
    wire unconnected_C_10 = 1'b0;
    wire unconnected_C_11 = 1'b0;
    wire unconnected_C_12 = 1'b0;
    wire unconnected_C_13 = 1'b0;
    wire unconnected_C_14 = 1'b0;
    wire unconnected_C_15 = 1'b0;
    wire unconnected_D_0 = 1'b0;
    wire unconnected_D_1 = 1'b0;
    wire unconnected_D_2 = 1'b0;
    wire unconnected_D_3 = 1'b0;
    wire unconnected_D_4 = 1'b0;
    wire unconnected_D_5 = 1'b0;
    wire unconnected_D_6 = 1'b0;
    wire unconnected_D_7 = 1'b0;
    wire unconnected_D_8 = 1'b0;
    wire unconnected_D_9 = 1'b0;
    wire unconnected_D_10 = 1'b0;
    wire unconnected_D_11 = 1'b0;
    wire unconnected_D_12 = 1'b0;
    wire unconnected_D_13 = 1'b0;
    wire unconnected_D_14 = 1'b0;
    wire unconnected_D_15 = 1'b0;
    SB_MAC16 #(
        .NEG_TRIGGER(NEG_TRIGGER),
        .C_REG(C_REG),
        .A_REG(A_REG),
        .B_REG(B_REG),
        .D_REG(D_REG),
        .TOP_8x8_MULT_REG(TOP_8x8_MULT_REG),
        .BOT_8x8_MULT_REG(BOT_8x8_MULT_REG),
        .PIPELINE_16x16_MULT_REG1(PIPELINE_16x16_MULT_REG1),
        .PIPELINE_16x16_MULT_REG2(PIPELINE_16x16_MULT_REG2),
        .TOPOUTPUT_SELECT(TOPOUTPUT_SELECT),
        .TOPADDSUB_LOWERINPUT(TOPADDSUB_LOWERINPUT),
        .TOPADDSUB_UPPERINPUT(TOPADDSUB_UPPERINPUT),
        .TOPADDSUB_CARRYSELECT(TOPADDSUB_CARRYSELECT),
        .BOTOUTPUT_SELECT(BOTOUTPUT_SELECT),
        .BOTADDSUB_LOWERINPUT(BOTADDSUB_LOWERINPUT),
        .BOTADDSUB_UPPERINPUT(BOTADDSUB_UPPERINPUT),
        .BOTADDSUB_CARRYSELECT(BOTADDSUB_CARRYSELECT),
        .MODE_8x8(MODE_8x8),
        .A_SIGNED(A_SIGNED),
        .B_SIGNED(B_SIGNED)
    ) mac (
        .A({A_15, A_14, A_13, A_12, A_11, A_10, A_9, A_8, A_7, A_6, A_5, A_4, A_3, A_2, A_1, A_0}),
        .B({B_15, B_14, B_13, B_12, B_11, B_10, B_9, B_8, B_7, B_6, B_5, B_4, B_3, B_2, B_1, B_0}),
        .C({C_15, C_14, C_13, C_12, C_11, C_10, C_9, C_8, C_7, C_6, C_5, C_4, C_3, C_2, C_1, C_0}),
        .D({D_15, D_14, D_13, D_12, D_11, D_10, D_9, D_8, D_7, D_6, D_5, D_4, D_3, D_2, D_1, D_0}),
        .O({O_31, O_30, O_29, O_28, O_27, O_26, O_25, O_24, O_23, O_22, O_21, O_20, O_19, O_18, O_17, O_16, O_15, O_14, O_13, O_12, O_11, O_10, O_9, O_8, O_7, O_6, O_5, O_4, O_3, O_2, O_1, O_0}),
        .CLK(CLK),
        .CE(CE),
        .AHOLD(AHOLD),
        .BHOLD(BHOLD),
        .CHOLD(CHOLD),
        .DHOLD(DHOLD),
        .IRSTTOP(IRSTTOP),
        .IRSTBOT(IRSTBOT),
        .ORSTTOP(ORSTTOP),
        .ORSTBOT(ORSTBOT),
        .OLOADTOP(OLOADTOP),
        .OLOADBOT(OLOADBOT),
        .ADDSUBTOP(ADDSUBTOP),
        .ADDSUBBOT(ADDSUBBOT),
        .OHOLDTOP(OHOLDTOP),
        .OHOLDBOT(OHOLDBOT),
        .CI(CI),
        .ACCUMCI(ACCUMCI),
        .SIGNEXTIN(SIGNEXTIN),
        .CO(CO),
        .ACCUMCO(ACCUMCO),
        .SIGNEXTOUT(SIGNEXTOUT),
        .must_be_zero(must_be_zero)
    );
endmodule
