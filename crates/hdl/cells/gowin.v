// Cells of Gowin FPGAs.
//
// Written from SUG283 (primitives), SUG285 (BSRAM) and SUG287 (DSP). A port `must_be_zero` says when a cell is used in a way
// that is not modelled.
module LUT1 (output F, input I0);
    parameter [1:0] INIT = 0;
    wire [0:0] a = {I0};
    assign F = INIT[a];
endmodule

module LUT2 (output F, input I0, I1);
    parameter [3:0] INIT = 0;
    wire [1:0] a = {I1, I0};
    assign F = INIT[a];
endmodule

module LUT3 (output F, input I0, I1, I2);
    parameter [7:0] INIT = 0;
    wire [2:0] a = {I2, I1, I0};
    assign F = INIT[a];
endmodule

module LUT4 (output F, input I0, I1, I2, I3);
    parameter [15:0] INIT = 0;
    wire [3:0] a = {I3, I2, I1, I0};
    assign F = INIT[a];
endmodule

module MUX2 (output O, input I0, I1, S0);
    assign O = S0 ? I1 : I0;
endmodule

module MUX2_LUT5 (output O, input I0, I1, S0);
    assign O = S0 ? I1 : I0;
endmodule

module MUX2_LUT6 (output O, input I0, I1, S0);
    assign O = S0 ? I1 : I0;
endmodule

module MUX2_LUT7 (output O, input I0, I1, S0);
    assign O = S0 ? I1 : I0;
endmodule

module MUX2_LUT8 (output O, input I0, I1, S0);
    assign O = S0 ? I1 : I0;
endmodule

module INV (output O, input I);
    assign O = ~I;
endmodule

module VCC (output V);
    assign V = 1'b1;
endmodule

module GND (output G);
    assign G = 1'b0;
endmodule

module IBUF (output O, input I);
    assign O = I;
endmodule

module OBUF (output O, input I);
    assign O = I;
endmodule

module BUFG (output O, input I);
    assign O = I;
endmodule

// The global reset of simulations, and its net.
module GSR (input GSRI);
endmodule

// One bit of a sum, a difference, a comparison, a counter or a product.
module ALU (output SUM, COUT, input I0, I1, I3, CIN);
    parameter integer ALU_MODE = 0;
    reg half, start;
    always @* begin
        case (ALU_MODE)
            0: begin half = I0 ^ I1; start = I0; end
            1: begin half = I0 ^ ~I1; start = I0; end
            2: begin half = I3 ? I0 ^ I1 : I0 ^ ~I1; start = I0; end
            3: begin half = I0 ^ ~I1; start = 1'b1; end
            4: begin half = I0 ^ ~I1; start = I0; end
            5: begin half = ~I0 ^ I1; start = I1; end
            6: begin half = I0; start = 1'b0; end
            7: begin half = ~I0; start = 1'b1; end
            8: begin half = I3 ? I0 : ~I0; start = I0; end
            9: begin half = I0 & I1; start = I0 & I1; end
            default: begin half = 1'bx; start = 1'bx; end
        endcase
    end
    assign SUM = half ^ CIN;
    assign COUT = half ? CIN : start;
endmodule

module DFF (output Q, input D, CLK);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) q <= D;
endmodule

module DFFE (output Q, input D, CLK, CE);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) if (CE) q <= D;
endmodule

module DFFS (output Q, input D, CLK, SET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) if (SET) q <= 1'b1; else q <= D;
endmodule

module DFFSE (output Q, input D, CLK, CE, SET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) if (SET) q <= 1'b1; else if (CE) q <= D;
endmodule

module DFFR (output Q, input D, CLK, RESET);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) if (RESET) q <= 1'b0; else q <= D;
endmodule

module DFFRE (output Q, input D, CLK, CE, RESET);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK) if (RESET) q <= 1'b0; else if (CE) q <= D;
endmodule

module DFFP (output Q, input D, CLK, PRESET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK or posedge PRESET) if (PRESET) q <= 1'b1; else q <= D;
endmodule

module DFFPE (output Q, input D, CLK, CE, PRESET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK or posedge PRESET) if (PRESET) q <= 1'b1; else if (CE) q <= D;
endmodule

module DFFC (output Q, input D, CLK, CLEAR);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK or posedge CLEAR) if (CLEAR) q <= 1'b0; else q <= D;
endmodule

module DFFCE (output Q, input D, CLK, CE, CLEAR);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(posedge CLK or posedge CLEAR) if (CLEAR) q <= 1'b0; else if (CE) q <= D;
endmodule

module DFFN (output Q, input D, CLK);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) q <= D;
endmodule

module DFFNE (output Q, input D, CLK, CE);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) if (CE) q <= D;
endmodule

module DFFNS (output Q, input D, CLK, SET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) if (SET) q <= 1'b1; else q <= D;
endmodule

module DFFNSE (output Q, input D, CLK, CE, SET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) if (SET) q <= 1'b1; else if (CE) q <= D;
endmodule

module DFFNR (output Q, input D, CLK, RESET);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) if (RESET) q <= 1'b0; else q <= D;
endmodule

module DFFNRE (output Q, input D, CLK, CE, RESET);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK) if (RESET) q <= 1'b0; else if (CE) q <= D;
endmodule

module DFFNP (output Q, input D, CLK, PRESET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK or posedge PRESET) if (PRESET) q <= 1'b1; else q <= D;
endmodule

module DFFNPE (output Q, input D, CLK, CE, PRESET);
    parameter [0:0] INIT = 1'b1;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK or posedge PRESET) if (PRESET) q <= 1'b1; else if (CE) q <= D;
endmodule

module DFFNC (output Q, input D, CLK, CLEAR);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK or posedge CLEAR) if (CLEAR) q <= 1'b0; else q <= D;
endmodule

module DFFNCE (output Q, input D, CLK, CE, CLEAR);
    parameter [0:0] INIT = 1'b0;
    reg q = INIT;
    assign Q = q;
    always @(negedge CLK or posedge CLEAR) if (CLEAR) q <= 1'b0; else if (CE) q <= D;
endmodule

// A ROM.
module pROM (output [31:0] DO, output must_be_zero, input CLK, CE, OCE, RESET, input [13:0] AD);
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH = 32;
    parameter RESET_MODE = "SYNC";
    parameter [255:0] INIT_RAM_00 = 0;
    parameter [255:0] INIT_RAM_01 = 0;
    parameter [255:0] INIT_RAM_02 = 0;
    parameter [255:0] INIT_RAM_03 = 0;
    parameter [255:0] INIT_RAM_04 = 0;
    parameter [255:0] INIT_RAM_05 = 0;
    parameter [255:0] INIT_RAM_06 = 0;
    parameter [255:0] INIT_RAM_07 = 0;
    parameter [255:0] INIT_RAM_08 = 0;
    parameter [255:0] INIT_RAM_09 = 0;
    parameter [255:0] INIT_RAM_0A = 0;
    parameter [255:0] INIT_RAM_0B = 0;
    parameter [255:0] INIT_RAM_0C = 0;
    parameter [255:0] INIT_RAM_0D = 0;
    parameter [255:0] INIT_RAM_0E = 0;
    parameter [255:0] INIT_RAM_0F = 0;
    parameter [255:0] INIT_RAM_10 = 0;
    parameter [255:0] INIT_RAM_11 = 0;
    parameter [255:0] INIT_RAM_12 = 0;
    parameter [255:0] INIT_RAM_13 = 0;
    parameter [255:0] INIT_RAM_14 = 0;
    parameter [255:0] INIT_RAM_15 = 0;
    parameter [255:0] INIT_RAM_16 = 0;
    parameter [255:0] INIT_RAM_17 = 0;
    parameter [255:0] INIT_RAM_18 = 0;
    parameter [255:0] INIT_RAM_19 = 0;
    parameter [255:0] INIT_RAM_1A = 0;
    parameter [255:0] INIT_RAM_1B = 0;
    parameter [255:0] INIT_RAM_1C = 0;
    parameter [255:0] INIT_RAM_1D = 0;
    parameter [255:0] INIT_RAM_1E = 0;
    parameter [255:0] INIT_RAM_1F = 0;
    parameter [255:0] INIT_RAM_20 = 0;
    parameter [255:0] INIT_RAM_21 = 0;
    parameter [255:0] INIT_RAM_22 = 0;
    parameter [255:0] INIT_RAM_23 = 0;
    parameter [255:0] INIT_RAM_24 = 0;
    parameter [255:0] INIT_RAM_25 = 0;
    parameter [255:0] INIT_RAM_26 = 0;
    parameter [255:0] INIT_RAM_27 = 0;
    parameter [255:0] INIT_RAM_28 = 0;
    parameter [255:0] INIT_RAM_29 = 0;
    parameter [255:0] INIT_RAM_2A = 0;
    parameter [255:0] INIT_RAM_2B = 0;
    parameter [255:0] INIT_RAM_2C = 0;
    parameter [255:0] INIT_RAM_2D = 0;
    parameter [255:0] INIT_RAM_2E = 0;
    parameter [255:0] INIT_RAM_2F = 0;
    parameter [255:0] INIT_RAM_30 = 0;
    parameter [255:0] INIT_RAM_31 = 0;
    parameter [255:0] INIT_RAM_32 = 0;
    parameter [255:0] INIT_RAM_33 = 0;
    parameter [255:0] INIT_RAM_34 = 0;
    parameter [255:0] INIT_RAM_35 = 0;
    parameter [255:0] INIT_RAM_36 = 0;
    parameter [255:0] INIT_RAM_37 = 0;
    parameter [255:0] INIT_RAM_38 = 0;
    parameter [255:0] INIT_RAM_39 = 0;
    parameter [255:0] INIT_RAM_3A = 0;
    parameter [255:0] INIT_RAM_3B = 0;
    parameter [255:0] INIT_RAM_3C = 0;
    parameter [255:0] INIT_RAM_3D = 0;
    parameter [255:0] INIT_RAM_3E = 0;
    parameter [255:0] INIT_RAM_3F = 0;
    localparam [16383:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    assign must_be_zero = (RESET_MODE != "SYNC") & RESET;
    wire [31:0] word;
    generate
        if (BIT_WIDTH == 32) begin : width_32
            reg [31:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign word = words[AD[13:5]];
        end
        else if (BIT_WIDTH == 16) begin : width_16
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign word = words[AD[13:4]];
        end
        else if (BIT_WIDTH == 8) begin : width_8
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign word = words[AD[13:3]];
        end
        else if (BIT_WIDTH == 4) begin : width_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign word = words[AD[13:2]];
        end
        else if (BIT_WIDTH == 2) begin : width_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign word = words[AD[13:1]];
        end
        else if (BIT_WIDTH == 1) begin : width_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign word = words[AD[13:0]];
        end
        else begin : other
            assign word = 32'bx;
        end
    endgenerate
    reg [31:0] q = 0;
    reg [31:0] r = 0;
    always @(posedge CLK) begin
        if (RESET) q <= 0; else if (CE) q <= word;
        if (RESET) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

// A memory of one port that nothing writes.
module SP (output [31:0] DO, output must_be_zero, input [31:0] DI, input [2:0] BLKSEL, input [13:0] AD, input WRE, CLK, CE, OCE, RESET);
    parameter [1:0] WRITE_MODE = 0;
    parameter [2:0] BLK_SEL = 0;
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH = 32;
    parameter RESET_MODE = "SYNC";
    parameter [255:0] INIT_RAM_00 = 0;
    parameter [255:0] INIT_RAM_01 = 0;
    parameter [255:0] INIT_RAM_02 = 0;
    parameter [255:0] INIT_RAM_03 = 0;
    parameter [255:0] INIT_RAM_04 = 0;
    parameter [255:0] INIT_RAM_05 = 0;
    parameter [255:0] INIT_RAM_06 = 0;
    parameter [255:0] INIT_RAM_07 = 0;
    parameter [255:0] INIT_RAM_08 = 0;
    parameter [255:0] INIT_RAM_09 = 0;
    parameter [255:0] INIT_RAM_0A = 0;
    parameter [255:0] INIT_RAM_0B = 0;
    parameter [255:0] INIT_RAM_0C = 0;
    parameter [255:0] INIT_RAM_0D = 0;
    parameter [255:0] INIT_RAM_0E = 0;
    parameter [255:0] INIT_RAM_0F = 0;
    parameter [255:0] INIT_RAM_10 = 0;
    parameter [255:0] INIT_RAM_11 = 0;
    parameter [255:0] INIT_RAM_12 = 0;
    parameter [255:0] INIT_RAM_13 = 0;
    parameter [255:0] INIT_RAM_14 = 0;
    parameter [255:0] INIT_RAM_15 = 0;
    parameter [255:0] INIT_RAM_16 = 0;
    parameter [255:0] INIT_RAM_17 = 0;
    parameter [255:0] INIT_RAM_18 = 0;
    parameter [255:0] INIT_RAM_19 = 0;
    parameter [255:0] INIT_RAM_1A = 0;
    parameter [255:0] INIT_RAM_1B = 0;
    parameter [255:0] INIT_RAM_1C = 0;
    parameter [255:0] INIT_RAM_1D = 0;
    parameter [255:0] INIT_RAM_1E = 0;
    parameter [255:0] INIT_RAM_1F = 0;
    parameter [255:0] INIT_RAM_20 = 0;
    parameter [255:0] INIT_RAM_21 = 0;
    parameter [255:0] INIT_RAM_22 = 0;
    parameter [255:0] INIT_RAM_23 = 0;
    parameter [255:0] INIT_RAM_24 = 0;
    parameter [255:0] INIT_RAM_25 = 0;
    parameter [255:0] INIT_RAM_26 = 0;
    parameter [255:0] INIT_RAM_27 = 0;
    parameter [255:0] INIT_RAM_28 = 0;
    parameter [255:0] INIT_RAM_29 = 0;
    parameter [255:0] INIT_RAM_2A = 0;
    parameter [255:0] INIT_RAM_2B = 0;
    parameter [255:0] INIT_RAM_2C = 0;
    parameter [255:0] INIT_RAM_2D = 0;
    parameter [255:0] INIT_RAM_2E = 0;
    parameter [255:0] INIT_RAM_2F = 0;
    parameter [255:0] INIT_RAM_30 = 0;
    parameter [255:0] INIT_RAM_31 = 0;
    parameter [255:0] INIT_RAM_32 = 0;
    parameter [255:0] INIT_RAM_33 = 0;
    parameter [255:0] INIT_RAM_34 = 0;
    parameter [255:0] INIT_RAM_35 = 0;
    parameter [255:0] INIT_RAM_36 = 0;
    parameter [255:0] INIT_RAM_37 = 0;
    parameter [255:0] INIT_RAM_38 = 0;
    parameter [255:0] INIT_RAM_39 = 0;
    parameter [255:0] INIT_RAM_3A = 0;
    parameter [255:0] INIT_RAM_3B = 0;
    parameter [255:0] INIT_RAM_3C = 0;
    parameter [255:0] INIT_RAM_3D = 0;
    parameter [255:0] INIT_RAM_3E = 0;
    parameter [255:0] INIT_RAM_3F = 0;
    localparam [16383:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    assign must_be_zero = (RESET_MODE != "SYNC") & RESET | WRE & CE | |(BLKSEL ^ BLK_SEL);
    wire [31:0] word;
    generate
        if (BIT_WIDTH == 32) begin : width_32
            reg [31:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign word = words[AD[13:5]];
        end
        else if (BIT_WIDTH == 16) begin : width_16
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign word = words[AD[13:4]];
        end
        else if (BIT_WIDTH == 8) begin : width_8
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign word = words[AD[13:3]];
        end
        else if (BIT_WIDTH == 4) begin : width_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign word = words[AD[13:2]];
        end
        else if (BIT_WIDTH == 2) begin : width_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign word = words[AD[13:1]];
        end
        else if (BIT_WIDTH == 1) begin : width_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign word = words[AD[13:0]];
        end
        else begin : other
            assign word = 32'bx;
        end
    endgenerate
    reg [31:0] q = 0;
    reg [31:0] r = 0;
    always @(posedge CLK) begin
        if (RESET) q <= 0; else if (CE) q <= word;
        if (RESET) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

// A ROM.
module pROMX9 (output [35:0] DO, output must_be_zero, input CLK, CE, OCE, RESET, input [13:0] AD);
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH = 36;
    parameter RESET_MODE = "SYNC";
    parameter [287:0] INIT_RAM_00 = 0;
    parameter [287:0] INIT_RAM_01 = 0;
    parameter [287:0] INIT_RAM_02 = 0;
    parameter [287:0] INIT_RAM_03 = 0;
    parameter [287:0] INIT_RAM_04 = 0;
    parameter [287:0] INIT_RAM_05 = 0;
    parameter [287:0] INIT_RAM_06 = 0;
    parameter [287:0] INIT_RAM_07 = 0;
    parameter [287:0] INIT_RAM_08 = 0;
    parameter [287:0] INIT_RAM_09 = 0;
    parameter [287:0] INIT_RAM_0A = 0;
    parameter [287:0] INIT_RAM_0B = 0;
    parameter [287:0] INIT_RAM_0C = 0;
    parameter [287:0] INIT_RAM_0D = 0;
    parameter [287:0] INIT_RAM_0E = 0;
    parameter [287:0] INIT_RAM_0F = 0;
    parameter [287:0] INIT_RAM_10 = 0;
    parameter [287:0] INIT_RAM_11 = 0;
    parameter [287:0] INIT_RAM_12 = 0;
    parameter [287:0] INIT_RAM_13 = 0;
    parameter [287:0] INIT_RAM_14 = 0;
    parameter [287:0] INIT_RAM_15 = 0;
    parameter [287:0] INIT_RAM_16 = 0;
    parameter [287:0] INIT_RAM_17 = 0;
    parameter [287:0] INIT_RAM_18 = 0;
    parameter [287:0] INIT_RAM_19 = 0;
    parameter [287:0] INIT_RAM_1A = 0;
    parameter [287:0] INIT_RAM_1B = 0;
    parameter [287:0] INIT_RAM_1C = 0;
    parameter [287:0] INIT_RAM_1D = 0;
    parameter [287:0] INIT_RAM_1E = 0;
    parameter [287:0] INIT_RAM_1F = 0;
    parameter [287:0] INIT_RAM_20 = 0;
    parameter [287:0] INIT_RAM_21 = 0;
    parameter [287:0] INIT_RAM_22 = 0;
    parameter [287:0] INIT_RAM_23 = 0;
    parameter [287:0] INIT_RAM_24 = 0;
    parameter [287:0] INIT_RAM_25 = 0;
    parameter [287:0] INIT_RAM_26 = 0;
    parameter [287:0] INIT_RAM_27 = 0;
    parameter [287:0] INIT_RAM_28 = 0;
    parameter [287:0] INIT_RAM_29 = 0;
    parameter [287:0] INIT_RAM_2A = 0;
    parameter [287:0] INIT_RAM_2B = 0;
    parameter [287:0] INIT_RAM_2C = 0;
    parameter [287:0] INIT_RAM_2D = 0;
    parameter [287:0] INIT_RAM_2E = 0;
    parameter [287:0] INIT_RAM_2F = 0;
    parameter [287:0] INIT_RAM_30 = 0;
    parameter [287:0] INIT_RAM_31 = 0;
    parameter [287:0] INIT_RAM_32 = 0;
    parameter [287:0] INIT_RAM_33 = 0;
    parameter [287:0] INIT_RAM_34 = 0;
    parameter [287:0] INIT_RAM_35 = 0;
    parameter [287:0] INIT_RAM_36 = 0;
    parameter [287:0] INIT_RAM_37 = 0;
    parameter [287:0] INIT_RAM_38 = 0;
    parameter [287:0] INIT_RAM_39 = 0;
    parameter [287:0] INIT_RAM_3A = 0;
    parameter [287:0] INIT_RAM_3B = 0;
    parameter [287:0] INIT_RAM_3C = 0;
    parameter [287:0] INIT_RAM_3D = 0;
    parameter [287:0] INIT_RAM_3E = 0;
    parameter [287:0] INIT_RAM_3F = 0;
    localparam [18431:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    assign must_be_zero = (RESET_MODE != "SYNC") & RESET;
    wire [35:0] word;
    generate
        if (BIT_WIDTH == 36) begin : width_36
            reg [35:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 36 +: 36];
            assign word = words[AD[13:5]];
        end
        else if (BIT_WIDTH == 18) begin : width_18
            reg [17:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 18 +: 18];
            assign word = words[AD[13:4]];
        end
        else if (BIT_WIDTH == 9) begin : width_9
            reg [8:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 9 +: 9];
            assign word = words[AD[13:3]];
        end
        else begin : other
            assign word = 36'bx;
        end
    endgenerate
    reg [35:0] q = 0;
    reg [35:0] r = 0;
    always @(posedge CLK) begin
        if (RESET) q <= 0; else if (CE) q <= word;
        if (RESET) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

// A memory of one port that nothing writes.
module SPX9 (output [35:0] DO, output must_be_zero, input [35:0] DI, input [2:0] BLKSEL, input [13:0] AD, input WRE, CLK, CE, OCE, RESET);
    parameter [1:0] WRITE_MODE = 0;
    parameter [2:0] BLK_SEL = 0;
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH = 36;
    parameter RESET_MODE = "SYNC";
    parameter [287:0] INIT_RAM_00 = 0;
    parameter [287:0] INIT_RAM_01 = 0;
    parameter [287:0] INIT_RAM_02 = 0;
    parameter [287:0] INIT_RAM_03 = 0;
    parameter [287:0] INIT_RAM_04 = 0;
    parameter [287:0] INIT_RAM_05 = 0;
    parameter [287:0] INIT_RAM_06 = 0;
    parameter [287:0] INIT_RAM_07 = 0;
    parameter [287:0] INIT_RAM_08 = 0;
    parameter [287:0] INIT_RAM_09 = 0;
    parameter [287:0] INIT_RAM_0A = 0;
    parameter [287:0] INIT_RAM_0B = 0;
    parameter [287:0] INIT_RAM_0C = 0;
    parameter [287:0] INIT_RAM_0D = 0;
    parameter [287:0] INIT_RAM_0E = 0;
    parameter [287:0] INIT_RAM_0F = 0;
    parameter [287:0] INIT_RAM_10 = 0;
    parameter [287:0] INIT_RAM_11 = 0;
    parameter [287:0] INIT_RAM_12 = 0;
    parameter [287:0] INIT_RAM_13 = 0;
    parameter [287:0] INIT_RAM_14 = 0;
    parameter [287:0] INIT_RAM_15 = 0;
    parameter [287:0] INIT_RAM_16 = 0;
    parameter [287:0] INIT_RAM_17 = 0;
    parameter [287:0] INIT_RAM_18 = 0;
    parameter [287:0] INIT_RAM_19 = 0;
    parameter [287:0] INIT_RAM_1A = 0;
    parameter [287:0] INIT_RAM_1B = 0;
    parameter [287:0] INIT_RAM_1C = 0;
    parameter [287:0] INIT_RAM_1D = 0;
    parameter [287:0] INIT_RAM_1E = 0;
    parameter [287:0] INIT_RAM_1F = 0;
    parameter [287:0] INIT_RAM_20 = 0;
    parameter [287:0] INIT_RAM_21 = 0;
    parameter [287:0] INIT_RAM_22 = 0;
    parameter [287:0] INIT_RAM_23 = 0;
    parameter [287:0] INIT_RAM_24 = 0;
    parameter [287:0] INIT_RAM_25 = 0;
    parameter [287:0] INIT_RAM_26 = 0;
    parameter [287:0] INIT_RAM_27 = 0;
    parameter [287:0] INIT_RAM_28 = 0;
    parameter [287:0] INIT_RAM_29 = 0;
    parameter [287:0] INIT_RAM_2A = 0;
    parameter [287:0] INIT_RAM_2B = 0;
    parameter [287:0] INIT_RAM_2C = 0;
    parameter [287:0] INIT_RAM_2D = 0;
    parameter [287:0] INIT_RAM_2E = 0;
    parameter [287:0] INIT_RAM_2F = 0;
    parameter [287:0] INIT_RAM_30 = 0;
    parameter [287:0] INIT_RAM_31 = 0;
    parameter [287:0] INIT_RAM_32 = 0;
    parameter [287:0] INIT_RAM_33 = 0;
    parameter [287:0] INIT_RAM_34 = 0;
    parameter [287:0] INIT_RAM_35 = 0;
    parameter [287:0] INIT_RAM_36 = 0;
    parameter [287:0] INIT_RAM_37 = 0;
    parameter [287:0] INIT_RAM_38 = 0;
    parameter [287:0] INIT_RAM_39 = 0;
    parameter [287:0] INIT_RAM_3A = 0;
    parameter [287:0] INIT_RAM_3B = 0;
    parameter [287:0] INIT_RAM_3C = 0;
    parameter [287:0] INIT_RAM_3D = 0;
    parameter [287:0] INIT_RAM_3E = 0;
    parameter [287:0] INIT_RAM_3F = 0;
    localparam [18431:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    assign must_be_zero = (RESET_MODE != "SYNC") & RESET | WRE & CE | |(BLKSEL ^ BLK_SEL);
    wire [35:0] word;
    generate
        if (BIT_WIDTH == 36) begin : width_36
            reg [35:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 36 +: 36];
            assign word = words[AD[13:5]];
        end
        else if (BIT_WIDTH == 18) begin : width_18
            reg [17:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 18 +: 18];
            assign word = words[AD[13:4]];
        end
        else if (BIT_WIDTH == 9) begin : width_9
            reg [8:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 9 +: 9];
            assign word = words[AD[13:3]];
        end
        else begin : other
            assign word = 36'bx;
        end
    endgenerate
    reg [35:0] q = 0;
    reg [35:0] r = 0;
    always @(posedge CLK) begin
        if (RESET) q <= 0; else if (CE) q <= word;
        if (RESET) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

// Read only: writes are not modelled.
module SDPB (output [31:0] DO, output must_be_zero, input [31:0] DI, input [2:0] BLKSELA, BLKSELB, input [13:0] ADA, ADB, input CLKA, CEA, RESETA, CLKB, CEB, OCE, RESETB, RESET, WREA, WREB);
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH_0 = 32;
    parameter integer BIT_WIDTH_1 = 32;
    parameter [2:0] BLK_SEL_0 = 0;
    parameter [2:0] BLK_SEL_1 = 0;
    parameter RESET_MODE = "SYNC";
    parameter [255:0] INIT_RAM_00 = 0;
    parameter [255:0] INIT_RAM_01 = 0;
    parameter [255:0] INIT_RAM_02 = 0;
    parameter [255:0] INIT_RAM_03 = 0;
    parameter [255:0] INIT_RAM_04 = 0;
    parameter [255:0] INIT_RAM_05 = 0;
    parameter [255:0] INIT_RAM_06 = 0;
    parameter [255:0] INIT_RAM_07 = 0;
    parameter [255:0] INIT_RAM_08 = 0;
    parameter [255:0] INIT_RAM_09 = 0;
    parameter [255:0] INIT_RAM_0A = 0;
    parameter [255:0] INIT_RAM_0B = 0;
    parameter [255:0] INIT_RAM_0C = 0;
    parameter [255:0] INIT_RAM_0D = 0;
    parameter [255:0] INIT_RAM_0E = 0;
    parameter [255:0] INIT_RAM_0F = 0;
    parameter [255:0] INIT_RAM_10 = 0;
    parameter [255:0] INIT_RAM_11 = 0;
    parameter [255:0] INIT_RAM_12 = 0;
    parameter [255:0] INIT_RAM_13 = 0;
    parameter [255:0] INIT_RAM_14 = 0;
    parameter [255:0] INIT_RAM_15 = 0;
    parameter [255:0] INIT_RAM_16 = 0;
    parameter [255:0] INIT_RAM_17 = 0;
    parameter [255:0] INIT_RAM_18 = 0;
    parameter [255:0] INIT_RAM_19 = 0;
    parameter [255:0] INIT_RAM_1A = 0;
    parameter [255:0] INIT_RAM_1B = 0;
    parameter [255:0] INIT_RAM_1C = 0;
    parameter [255:0] INIT_RAM_1D = 0;
    parameter [255:0] INIT_RAM_1E = 0;
    parameter [255:0] INIT_RAM_1F = 0;
    parameter [255:0] INIT_RAM_20 = 0;
    parameter [255:0] INIT_RAM_21 = 0;
    parameter [255:0] INIT_RAM_22 = 0;
    parameter [255:0] INIT_RAM_23 = 0;
    parameter [255:0] INIT_RAM_24 = 0;
    parameter [255:0] INIT_RAM_25 = 0;
    parameter [255:0] INIT_RAM_26 = 0;
    parameter [255:0] INIT_RAM_27 = 0;
    parameter [255:0] INIT_RAM_28 = 0;
    parameter [255:0] INIT_RAM_29 = 0;
    parameter [255:0] INIT_RAM_2A = 0;
    parameter [255:0] INIT_RAM_2B = 0;
    parameter [255:0] INIT_RAM_2C = 0;
    parameter [255:0] INIT_RAM_2D = 0;
    parameter [255:0] INIT_RAM_2E = 0;
    parameter [255:0] INIT_RAM_2F = 0;
    parameter [255:0] INIT_RAM_30 = 0;
    parameter [255:0] INIT_RAM_31 = 0;
    parameter [255:0] INIT_RAM_32 = 0;
    parameter [255:0] INIT_RAM_33 = 0;
    parameter [255:0] INIT_RAM_34 = 0;
    parameter [255:0] INIT_RAM_35 = 0;
    parameter [255:0] INIT_RAM_36 = 0;
    parameter [255:0] INIT_RAM_37 = 0;
    parameter [255:0] INIT_RAM_38 = 0;
    parameter [255:0] INIT_RAM_39 = 0;
    parameter [255:0] INIT_RAM_3A = 0;
    parameter [255:0] INIT_RAM_3B = 0;
    parameter [255:0] INIT_RAM_3C = 0;
    parameter [255:0] INIT_RAM_3D = 0;
    parameter [255:0] INIT_RAM_3E = 0;
    parameter [255:0] INIT_RAM_3F = 0;
    localparam [16383:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    wire unconnected_WREA = 1'b1;
    wire unconnected_WREB = 1'b0;
    wire unconnected_RESET = 1'b0;
    wire unconnected_RESETB = 1'b0;
    assign must_be_zero = CEA & WREA | RESET_MODE != "SYNC" | WREB | |(BLKSELB ^ BLK_SEL_1) | RESET;
    wire [31:0] word;
    generate
        if (BIT_WIDTH_1 == 32) begin : width_32
            reg [31:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign word = words[ADB[13:5]];
        end
        else if (BIT_WIDTH_1 == 16) begin : width_16
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign word = words[ADB[13:4]];
        end
        else if (BIT_WIDTH_1 == 8) begin : width_8
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign word = words[ADB[13:3]];
        end
        else if (BIT_WIDTH_1 == 4) begin : width_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign word = words[ADB[13:2]];
        end
        else if (BIT_WIDTH_1 == 2) begin : width_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign word = words[ADB[13:1]];
        end
        else if (BIT_WIDTH_1 == 1) begin : width_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign word = words[ADB[13:0]];
        end
        else begin : other
            assign word = 32'bx;
        end
    endgenerate
    reg [31:0] q = 0;
    reg [31:0] r = 0;
    always @(posedge CLKB) begin
        if (RESETB) q <= 0; else if (CEB) q <= word;
        if (RESETB) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

// Read only: writes are not modelled.
module SDPX9B (output [35:0] DO, output must_be_zero, input [35:0] DI, input [2:0] BLKSELA, BLKSELB, input [13:0] ADA, ADB, input CLKA, CEA, RESETA, CLKB, CEB, OCE, RESETB, RESET, WREA, WREB);
    parameter [0:0] READ_MODE = 0;
    parameter integer BIT_WIDTH_0 = 36;
    parameter integer BIT_WIDTH_1 = 36;
    parameter [2:0] BLK_SEL_0 = 0;
    parameter [2:0] BLK_SEL_1 = 0;
    parameter RESET_MODE = "SYNC";
    parameter [287:0] INIT_RAM_00 = 0;
    parameter [287:0] INIT_RAM_01 = 0;
    parameter [287:0] INIT_RAM_02 = 0;
    parameter [287:0] INIT_RAM_03 = 0;
    parameter [287:0] INIT_RAM_04 = 0;
    parameter [287:0] INIT_RAM_05 = 0;
    parameter [287:0] INIT_RAM_06 = 0;
    parameter [287:0] INIT_RAM_07 = 0;
    parameter [287:0] INIT_RAM_08 = 0;
    parameter [287:0] INIT_RAM_09 = 0;
    parameter [287:0] INIT_RAM_0A = 0;
    parameter [287:0] INIT_RAM_0B = 0;
    parameter [287:0] INIT_RAM_0C = 0;
    parameter [287:0] INIT_RAM_0D = 0;
    parameter [287:0] INIT_RAM_0E = 0;
    parameter [287:0] INIT_RAM_0F = 0;
    parameter [287:0] INIT_RAM_10 = 0;
    parameter [287:0] INIT_RAM_11 = 0;
    parameter [287:0] INIT_RAM_12 = 0;
    parameter [287:0] INIT_RAM_13 = 0;
    parameter [287:0] INIT_RAM_14 = 0;
    parameter [287:0] INIT_RAM_15 = 0;
    parameter [287:0] INIT_RAM_16 = 0;
    parameter [287:0] INIT_RAM_17 = 0;
    parameter [287:0] INIT_RAM_18 = 0;
    parameter [287:0] INIT_RAM_19 = 0;
    parameter [287:0] INIT_RAM_1A = 0;
    parameter [287:0] INIT_RAM_1B = 0;
    parameter [287:0] INIT_RAM_1C = 0;
    parameter [287:0] INIT_RAM_1D = 0;
    parameter [287:0] INIT_RAM_1E = 0;
    parameter [287:0] INIT_RAM_1F = 0;
    parameter [287:0] INIT_RAM_20 = 0;
    parameter [287:0] INIT_RAM_21 = 0;
    parameter [287:0] INIT_RAM_22 = 0;
    parameter [287:0] INIT_RAM_23 = 0;
    parameter [287:0] INIT_RAM_24 = 0;
    parameter [287:0] INIT_RAM_25 = 0;
    parameter [287:0] INIT_RAM_26 = 0;
    parameter [287:0] INIT_RAM_27 = 0;
    parameter [287:0] INIT_RAM_28 = 0;
    parameter [287:0] INIT_RAM_29 = 0;
    parameter [287:0] INIT_RAM_2A = 0;
    parameter [287:0] INIT_RAM_2B = 0;
    parameter [287:0] INIT_RAM_2C = 0;
    parameter [287:0] INIT_RAM_2D = 0;
    parameter [287:0] INIT_RAM_2E = 0;
    parameter [287:0] INIT_RAM_2F = 0;
    parameter [287:0] INIT_RAM_30 = 0;
    parameter [287:0] INIT_RAM_31 = 0;
    parameter [287:0] INIT_RAM_32 = 0;
    parameter [287:0] INIT_RAM_33 = 0;
    parameter [287:0] INIT_RAM_34 = 0;
    parameter [287:0] INIT_RAM_35 = 0;
    parameter [287:0] INIT_RAM_36 = 0;
    parameter [287:0] INIT_RAM_37 = 0;
    parameter [287:0] INIT_RAM_38 = 0;
    parameter [287:0] INIT_RAM_39 = 0;
    parameter [287:0] INIT_RAM_3A = 0;
    parameter [287:0] INIT_RAM_3B = 0;
    parameter [287:0] INIT_RAM_3C = 0;
    parameter [287:0] INIT_RAM_3D = 0;
    parameter [287:0] INIT_RAM_3E = 0;
    parameter [287:0] INIT_RAM_3F = 0;
    localparam [18431:0] DATA = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};
    wire unconnected_WREA = 1'b1;
    wire unconnected_WREB = 1'b0;
    wire unconnected_RESET = 1'b0;
    wire unconnected_RESETB = 1'b0;
    assign must_be_zero = CEA & WREA | RESET_MODE != "SYNC" | WREB | |(BLKSELB ^ BLK_SEL_1) | RESET;
    wire [35:0] word;
    generate
        if (BIT_WIDTH_1 == 36) begin : width_36
            reg [35:0] words [0:511];
            integer i;
            initial for (i = 0; i < 512; i = i + 1) words[i] = DATA[i * 36 +: 36];
            assign word = words[ADB[13:5]];
        end
        else if (BIT_WIDTH_1 == 18) begin : width_18
            reg [17:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 18 +: 18];
            assign word = words[ADB[13:4]];
        end
        else if (BIT_WIDTH_1 == 9) begin : width_9
            reg [8:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 9 +: 9];
            assign word = words[ADB[13:3]];
        end
        else begin : other
            assign word = 36'bx;
        end
    endgenerate
    reg [35:0] q = 0;
    reg [35:0] r = 0;
    always @(posedge CLKB) begin
        if (RESETB) q <= 0; else if (CEB) q <= word;
        if (RESETB) r <= 0; else if (OCE) r <= q;
    end
    assign DO = READ_MODE ? r : q;
endmodule

module MULT9X9 (output [17:0] DOUT, output [8:0] SOA, SOB, output must_be_zero, input [8:0] A, B, SIA, SIB, input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET);
    parameter [0:0] AREG = 0;
    parameter [0:0] BREG = 0;
    parameter [0:0] OUT_REG = 0;
    parameter [0:0] PIPE_REG = 0;
    parameter [0:0] ASIGN_REG = 0;
    parameter [0:0] BSIGN_REG = 0;
    parameter [0:0] SOA_REG = 0;
    parameter MULT_RESET_MODE = "SYNC";
    wire unconnected_ASEL = 1'b0;
    wire unconnected_BSEL = 1'b0;
    wire unconnected_CE = 1'b1;
    wire unconnected_RESET = 1'b0;
    assign must_be_zero = ASEL | BSEL | MULT_RESET_MODE != "SYNC" & (AREG | BREG | OUT_REG | PIPE_REG | ASIGN_REG | BSIGN_REG);
    reg [8:0] ar = 0;
    reg [8:0] br = 0;
    reg as = 0;
    reg bs = 0;
    wire [8:0] a = AREG ? ar : A;
    wire [8:0] b = BREG ? br : B;
    wire sa = ASIGN_REG ? as : ASIGN;
    wire sb = BSIGN_REG ? bs : BSIGN;
    wire [17:0] product = {{9{sa & a[8]}}, a} * {{9{sb & b[8]}}, b};
    reg [17:0] mr = 0;
    wire [17:0] m = PIPE_REG ? mr : product;
    reg [17:0] pr = 0;
    assign DOUT = OUT_REG ? pr : m;
    always @(posedge CLK) begin
        if (RESET) begin
            ar <= 0;
            br <= 0;
            as <= 0;
            bs <= 0;
            mr <= 0;
            pr <= 0;
        end else if (CE) begin
            ar <= A;
            br <= B;
            as <= ASIGN;
            bs <= BSIGN;
            mr <= product;
            pr <= m;
        end
    end
endmodule

module MULT18X18 (output [35:0] DOUT, output [17:0] SOA, SOB, output must_be_zero, input [17:0] A, B, SIA, SIB, input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET);
    parameter [0:0] AREG = 0;
    parameter [0:0] BREG = 0;
    parameter [0:0] OUT_REG = 0;
    parameter [0:0] PIPE_REG = 0;
    parameter [0:0] ASIGN_REG = 0;
    parameter [0:0] BSIGN_REG = 0;
    parameter [0:0] SOA_REG = 0;
    parameter MULT_RESET_MODE = "SYNC";
    wire unconnected_ASEL = 1'b0;
    wire unconnected_BSEL = 1'b0;
    wire unconnected_CE = 1'b1;
    wire unconnected_RESET = 1'b0;
    assign must_be_zero = ASEL | BSEL | MULT_RESET_MODE != "SYNC" & (AREG | BREG | OUT_REG | PIPE_REG | ASIGN_REG | BSIGN_REG);
    reg [17:0] ar = 0;
    reg [17:0] br = 0;
    reg as = 0;
    reg bs = 0;
    wire [17:0] a = AREG ? ar : A;
    wire [17:0] b = BREG ? br : B;
    wire sa = ASIGN_REG ? as : ASIGN;
    wire sb = BSIGN_REG ? bs : BSIGN;
    wire [35:0] product = {{18{sa & a[17]}}, a} * {{18{sb & b[17]}}, b};
    reg [35:0] mr = 0;
    wire [35:0] m = PIPE_REG ? mr : product;
    reg [35:0] pr = 0;
    assign DOUT = OUT_REG ? pr : m;
    always @(posedge CLK) begin
        if (RESET) begin
            ar <= 0;
            br <= 0;
            as <= 0;
            bs <= 0;
            mr <= 0;
            pr <= 0;
        end else if (CE) begin
            ar <= A;
            br <= B;
            as <= ASIGN;
            bs <= BSIGN;
            mr <= product;
            pr <= m;
        end
    end
endmodule
