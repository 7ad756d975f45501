// Cells of AMD (Xilinx) FPGAs: 7 series, UltraScale and UltraScale+.
//
// Written from the vendor's libraries guides (UG953, UG974), UG473 (block RAM), UG479 and UG579 (DSP slices). Outputs that
// are not modelled are undriven, that is, undefined; a cell that is used in a way that is not modelled shows `x` or has a
// port `must_be_zero`, whose value the reader requires to be constant 0.
module LUT1 (output O, input I0);
    parameter [1:0] INIT = 0;
    wire [0:0] a = {I0};
    assign O = INIT[a];
endmodule

module LUT2 (output O, input I0, I1);
    parameter [3:0] INIT = 0;
    wire [1:0] a = {I1, I0};
    assign O = INIT[a];
endmodule

module LUT3 (output O, input I0, I1, I2);
    parameter [7:0] INIT = 0;
    wire [2:0] a = {I2, I1, I0};
    assign O = INIT[a];
endmodule

module LUT4 (output O, input I0, I1, I2, I3);
    parameter [15:0] INIT = 0;
    wire [3:0] a = {I3, I2, I1, I0};
    assign O = INIT[a];
endmodule

module LUT5 (output O, input I0, I1, I2, I3, I4);
    parameter [31:0] INIT = 0;
    wire [4:0] a = {I4, I3, I2, I1, I0};
    assign O = INIT[a];
endmodule

module LUT6 (output O, input I0, I1, I2, I3, I4, I5);
    parameter [63:0] INIT = 0;
    wire [5:0] a = {I5, I4, I3, I2, I1, I0};
    assign O = INIT[a];
endmodule

module LUT6_2 (output O5, output O6, input I0, I1, I2, I3, I4, I5);
    parameter [63:0] INIT = 0;
    localparam [31:0] LOW = INIT[31:0];
    wire [5:0] a = {I5, I4, I3, I2, I1, I0};
    wire [4:0] b = {I4, I3, I2, I1, I0};
    assign O6 = INIT[a];
    assign O5 = LOW[b];
endmodule

module MUXF5 (output O, input I0, I1, S);
    assign O = S ? I1 : I0;
endmodule

module MUXF6 (output O, input I0, I1, S);
    assign O = S ? I1 : I0;
endmodule

module MUXF7 (output O, input I0, I1, S);
    assign O = S ? I1 : I0;
endmodule

module MUXF8 (output O, input I0, I1, S);
    assign O = S ? I1 : I0;
endmodule

module MUXF9 (output O, input I0, I1, S);
    assign O = S ? I1 : I0;
endmodule

module MUXCY (output O, input CI, DI, S);
    assign O = S ? CI : DI;
endmodule

module XORCY (output O, input CI, LI);
    assign O = CI ^ LI;
endmodule

// Either CI or CYINIT is used; the other one is 0.
module CARRY4 (output [3:0] CO, output [3:0] O, input CI, CYINIT, input [3:0] DI, S);
    wire c = CI | CYINIT;
    wire c0 = S[0] ? c : DI[0];
    wire c1 = S[1] ? c0 : DI[1];
    wire c2 = S[2] ? c1 : DI[2];
    wire c3 = S[3] ? c2 : DI[3];
    assign CO = {c3, c2, c1, c0};
    assign O = S ^ {c2, c1, c0, c};
endmodule

module CARRY8 (output [7:0] CO, output [7:0] O, input CI, CI_TOP, input [7:0] DI, S);
    parameter CARRY_TYPE = "SINGLE_CY8";
    wire c0 = S[0] ? CI : DI[0];
    wire c1 = S[1] ? c0 : DI[1];
    wire c2 = S[2] ? c1 : DI[2];
    wire c3 = S[3] ? c2 : DI[3];
    wire t;
    generate
        if (CARRY_TYPE == "DUAL_CY4") assign t = CI_TOP;
        else assign t = c3;
    endgenerate
    wire c4 = S[4] ? t : DI[4];
    wire c5 = S[5] ? c4 : DI[5];
    wire c6 = S[6] ? c5 : DI[6];
    wire c7 = S[7] ? c6 : DI[7];
    assign CO = {c7, c6, c5, c4, c3, c2, c1, c0};
    assign O = S ^ {c6, c5, c4, t, c2, c1, c0, CI};
endmodule

module GND (output G);
    assign G = 1'b0;
endmodule

module VCC (output P);
    assign P = 1'b1;
endmodule

module INV (output O, input I);
    assign O = ~I;
endmodule

module BUF (output O, input I);
    assign O = I;
endmodule

module BUFG (output O, input I);
    assign O = I;
endmodule

module BUFGP (output O, input I);
    assign O = I;
endmodule

module BUFH (output O, input I);
    assign O = I;
endmodule

module IBUF (output O, input I);
    parameter CAPACITANCE = "DONT_CARE";
    parameter CCIO_EN = "TRUE";
    parameter IBUF_DELAY_VALUE = "0";
    parameter IBUF_LOW_PWR = "TRUE";
    parameter IFD_DELAY_VALUE = "AUTO";
    parameter IOSTANDARD = "DEFAULT";
    assign O = I;
endmodule

module IBUFG (output O, input I);
    parameter CAPACITANCE = "DONT_CARE";
    parameter IBUF_DELAY_VALUE = "0";
    parameter IBUF_LOW_PWR = "TRUE";
    parameter IOSTANDARD = "DEFAULT";
    assign O = I;
endmodule

module OBUF (output O, input I);
    parameter CAPACITANCE = "DONT_CARE";
    parameter DRIVE = 12;
    parameter IOSTANDARD = "DEFAULT";
    parameter SLEW = "SLOW";
    assign O = I;
endmodule

// A buffer of a pad and its control, as UltraScale has them.
module INBUF (output O, input OSC_EN, PAD, VREF, input [3:0] OSC);
    parameter IBUF_LOW_PWR = "TRUE";
    parameter ISTANDARD = "UNUSED";
    parameter SIM_INPUT_BUFFER_OFFSET = 0;
    assign O = PAD;
endmodule

module IBUFCTRL (output O, input I, IBUFDISABLE, INTERMDISABLE, T);
    parameter ISTANDARD = "UNUSED";
    parameter USE_IBUFDISABLE = "FALSE";
    assign O = I;
endmodule

// A clock buffer whose enable is tied high.
module BUFGCE (output O, must_be_zero, input CE, I);
    parameter CE_TYPE = "SYNC";
    parameter [0:0] IS_CE_INVERTED = 1'b0;
    parameter [0:0] IS_I_INVERTED = 1'b0;
    parameter SIM_DEVICE = "7SERIES";
    parameter STARTUP_SYNC = "FALSE";
    assign must_be_zero = ~(CE ^ IS_CE_INVERTED) | IS_I_INVERTED;
    assign O = I;
endmodule

module FDRE (output Q, input C, CE, D, R);
    parameter [0:0] INIT = 1'b0;
    parameter [0:0] IS_C_INVERTED = 1'b0;
    parameter [0:0] IS_D_INVERTED = 1'b0;
    parameter [0:0] IS_R_INVERTED = 1'b0;
    parameter [0:0] IS_CE_INVERTED = 1'b0;
    reg q = INIT;
    assign Q = q;
    wire d = IS_D_INVERTED ? ~D : D;
    wire ce = IS_CE_INVERTED ? ~CE : CE;
    wire r = IS_R_INVERTED ? ~R : R;
    generate
        if (IS_C_INVERTED) begin
            always @(negedge C) if (r) q <= 1'b0; else if (ce) q <= d;
        end else begin
            always @(posedge C) if (r) q <= 1'b0; else if (ce) q <= d;
        end
    endgenerate
endmodule

module FDSE (output Q, input C, CE, D, S);
    parameter [0:0] INIT = 1'b1;
    parameter [0:0] IS_C_INVERTED = 1'b0;
    parameter [0:0] IS_D_INVERTED = 1'b0;
    parameter [0:0] IS_S_INVERTED = 1'b0;
    parameter [0:0] IS_CE_INVERTED = 1'b0;
    reg q = INIT;
    assign Q = q;
    wire d = IS_D_INVERTED ? ~D : D;
    wire ce = IS_CE_INVERTED ? ~CE : CE;
    wire r = IS_S_INVERTED ? ~S : S;
    generate
        if (IS_C_INVERTED) begin
            always @(negedge C) if (r) q <= 1'b1; else if (ce) q <= d;
        end else begin
            always @(posedge C) if (r) q <= 1'b1; else if (ce) q <= d;
        end
    endgenerate
endmodule

module FDCE (output Q, input C, CE, D, CLR);
    parameter [0:0] INIT = 1'b0;
    parameter [0:0] IS_C_INVERTED = 1'b0;
    parameter [0:0] IS_D_INVERTED = 1'b0;
    parameter [0:0] IS_CLR_INVERTED = 1'b0;
    parameter [0:0] IS_CE_INVERTED = 1'b0;
    reg q = INIT;
    assign Q = q;
    wire d = IS_D_INVERTED ? ~D : D;
    wire ce = IS_CE_INVERTED ? ~CE : CE;
    generate
        if (!IS_C_INVERTED && !IS_CLR_INVERTED) begin
            always @(posedge C or posedge CLR) if (CLR) q <= 1'b0; else if (ce) q <= d;
        end
        else if (!IS_C_INVERTED && IS_CLR_INVERTED) begin
            always @(posedge C or negedge CLR) if (!CLR) q <= 1'b0; else if (ce) q <= d;
        end
        else if (IS_C_INVERTED && !IS_CLR_INVERTED) begin
            always @(negedge C or posedge CLR) if (CLR) q <= 1'b0; else if (ce) q <= d;
        end
        else if (IS_C_INVERTED && IS_CLR_INVERTED) begin
            always @(negedge C or negedge CLR) if (!CLR) q <= 1'b0; else if (ce) q <= d;
        end
    endgenerate
endmodule

module FDPE (output Q, input C, CE, D, PRE);
    parameter [0:0] INIT = 1'b1;
    parameter [0:0] IS_C_INVERTED = 1'b0;
    parameter [0:0] IS_D_INVERTED = 1'b0;
    parameter [0:0] IS_PRE_INVERTED = 1'b0;
    parameter [0:0] IS_CE_INVERTED = 1'b0;
    reg q = INIT;
    assign Q = q;
    wire d = IS_D_INVERTED ? ~D : D;
    wire ce = IS_CE_INVERTED ? ~CE : CE;
    generate
        if (!IS_C_INVERTED && !IS_PRE_INVERTED) begin
            always @(posedge C or posedge PRE) if (PRE) q <= 1'b1; else if (ce) q <= d;
        end
        else if (!IS_C_INVERTED && IS_PRE_INVERTED) begin
            always @(posedge C or negedge PRE) if (!PRE) q <= 1'b1; else if (ce) q <= d;
        end
        else if (IS_C_INVERTED && !IS_PRE_INVERTED) begin
            always @(negedge C or posedge PRE) if (PRE) q <= 1'b1; else if (ce) q <= d;
        end
        else if (IS_C_INVERTED && IS_PRE_INVERTED) begin
            always @(negedge C or negedge PRE) if (!PRE) q <= 1'b1; else if (ce) q <= d;
        end
    endgenerate
endmodule

module SRL16E (output Q, input A0, A1, A2, A3, CE, CLK, D);
    parameter [15:0] INIT = 0;
    parameter [0:0] IS_CLK_INVERTED = 1'b0;
    wire [3:0] a = {A3, A2, A1, A0};
    wire [16:0] t;
    assign t[0] = D;
    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : stage
            reg r = INIT[i];
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (CE) r <= t[i];
            end else begin
                always @(posedge CLK) if (CE) r <= t[i];
            end
            assign t[i + 1] = r;
        end
    endgenerate
    wire [15:0] taps = t[16:1];
    assign Q = taps[a];

endmodule

module SRLC16E (output Q, output Q15, input A0, A1, A2, A3, CE, CLK, D);
    parameter [15:0] INIT = 0;
    parameter [0:0] IS_CLK_INVERTED = 1'b0;
    wire [3:0] a = {A3, A2, A1, A0};
    wire [16:0] t;
    assign t[0] = D;
    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : stage
            reg r = INIT[i];
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (CE) r <= t[i];
            end else begin
                always @(posedge CLK) if (CE) r <= t[i];
            end
            assign t[i + 1] = r;
        end
    endgenerate
    wire [15:0] taps = t[16:1];
    assign Q = taps[a];
    assign Q15 = t[16];
endmodule

module SRLC32E (output Q, output Q31, input [4:0] A, input CE, CLK, D);
    parameter [31:0] INIT = 0;
    parameter [0:0] IS_CLK_INVERTED = 1'b0;
    wire [4:0] a = A;
    wire [32:0] t;
    assign t[0] = D;
    genvar i;
    generate
        for (i = 0; i < 32; i = i + 1) begin : stage
            reg r = INIT[i];
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (CE) r <= t[i];
            end else begin
                always @(posedge CLK) if (CE) r <= t[i];
            end
            assign t[i + 1] = r;
        end
    endgenerate
    wire [31:0] taps = t[32:1];
    assign Q = taps[a];
    assign Q31 = t[32];
endmodule

// Read only: writes are not modelled.
module RAM32M (output [1:0] DOA, output [1:0] DOB, output [1:0] DOC, output [1:0] DOD, output must_be_zero,
    input [4:0] ADDRA, ADDRB, ADDRC, ADDRD, input [1:0] DIA, DIB, DIC, DID, input WCLK, WE);
    parameter [63:0] INIT_A = 0;
    parameter [63:0] INIT_B = 0;
    parameter [63:0] INIT_C = 0;
    parameter [63:0] INIT_D = 0;
    parameter [0:0] IS_WCLK_INVERTED = 1'b0;
    assign must_be_zero = WE;
    wire [5:0] a = {ADDRA, 1'b0};
    assign DOA = INIT_A[a +: 2];
    wire [5:0] b = {ADDRB, 1'b0};
    assign DOB = INIT_B[b +: 2];
    wire [5:0] c = {ADDRC, 1'b0};
    assign DOC = INIT_C[c +: 2];
    wire [5:0] d = {ADDRD, 1'b0};
    assign DOD = INIT_D[d +: 2];
endmodule

// Read only: writes are not modelled.
module RAM64M (output DOA, DOB, DOC, DOD, output must_be_zero,
    input [5:0] ADDRA, ADDRB, ADDRC, ADDRD, input DIA, DIB, DIC, DID, input WCLK, WE);
    parameter [63:0] INIT_A = 0;
    parameter [63:0] INIT_B = 0;
    parameter [63:0] INIT_C = 0;
    parameter [63:0] INIT_D = 0;
    parameter [0:0] IS_WCLK_INVERTED = 1'b0;
    assign must_be_zero = WE;
    assign DOA = INIT_A[ADDRA];
    assign DOB = INIT_B[ADDRB];
    assign DOC = INIT_C[ADDRC];
    assign DOD = INIT_D[ADDRD];
endmodule

// Read only, in true dual port mode or with the read port of simple dual port mode: writes are not modelled.
module RAMB18E1 (
    output [15:0] DOADO,
    output [1:0] DOPADOP,
    output [15:0] DOBDO,
    output [1:0] DOPBDOP,
    output must_be_zero,
    input [13:0] ADDRARDADDR, ADDRBWRADDR,
    input CLKARDCLK, ENARDEN, RSTRAMARSTRAM, RSTREGARSTREG, REGCEAREGCE, CLKBWRCLK, ENBWREN, RSTRAMB, RSTREGB, REGCEB,
    input [1:0] WEA,
    input [3:0] WEBWE,
    input [15:0] DIADI, DIBDI,
    input [1:0] DIPADIP, DIPBDIP);
    parameter integer DOA_REG = 0;
    parameter integer DOB_REG = 0;
    parameter integer READ_WIDTH_A = 0;
    parameter integer READ_WIDTH_B = 0;
    parameter integer WRITE_WIDTH_A = 0;
    parameter integer WRITE_WIDTH_B = 0;
    parameter [17:0] INIT_A = 0;
    parameter [17:0] INIT_B = 0;
    parameter [17:0] SRVAL_A = 0;
    parameter [17:0] SRVAL_B = 0;
    parameter RAM_MODE = "TDP";
    parameter WRITE_MODE_A = "WRITE_FIRST";
    parameter WRITE_MODE_B = "WRITE_FIRST";
    parameter RSTREG_PRIORITY_A = "RSTREG";
    parameter RSTREG_PRIORITY_B = "RSTREG";
    parameter SIM_DEVICE = "7SERIES";
    parameter SIM_COLLISION_CHECK = "ALL";
    parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
    parameter INIT_FILE = "NONE";
    parameter RAM_EXTENSION_A = "NONE";
    parameter RAM_EXTENSION_B = "NONE";
    parameter EN_ECC_READ = "FALSE";
    parameter EN_ECC_WRITE = "FALSE";
    parameter CASCADE_ORDER_A = "NONE";
    parameter CASCADE_ORDER_B = "NONE";
    parameter CLOCK_DOMAINS = "INDEPENDENT";
    parameter ENADDRENA = "FALSE";
    parameter ENADDRENB = "FALSE";
    parameter RDADDRCHANGEA = "FALSE";
    parameter RDADDRCHANGEB = "FALSE";
    parameter SLEEP_ASYNC = "FALSE";
    parameter EN_ECC_PIPE = "FALSE";
    parameter [0:0] IS_CLKARDCLK_INVERTED = 1'b0;
    parameter [0:0] IS_CLKBWRCLK_INVERTED = 1'b0;
    parameter [0:0] IS_ENARDEN_INVERTED = 1'b0;
    parameter [0:0] IS_ENBWREN_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMB_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGARSTREG_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGB_INVERTED = 1'b0;
    parameter [255:0] INIT_00 = 0;
    parameter [255:0] INIT_01 = 0;
    parameter [255:0] INIT_02 = 0;
    parameter [255:0] INIT_03 = 0;
    parameter [255:0] INIT_04 = 0;
    parameter [255:0] INIT_05 = 0;
    parameter [255:0] INIT_06 = 0;
    parameter [255:0] INIT_07 = 0;
    parameter [255:0] INIT_08 = 0;
    parameter [255:0] INIT_09 = 0;
    parameter [255:0] INIT_0A = 0;
    parameter [255:0] INIT_0B = 0;
    parameter [255:0] INIT_0C = 0;
    parameter [255:0] INIT_0D = 0;
    parameter [255:0] INIT_0E = 0;
    parameter [255:0] INIT_0F = 0;
    parameter [255:0] INIT_10 = 0;
    parameter [255:0] INIT_11 = 0;
    parameter [255:0] INIT_12 = 0;
    parameter [255:0] INIT_13 = 0;
    parameter [255:0] INIT_14 = 0;
    parameter [255:0] INIT_15 = 0;
    parameter [255:0] INIT_16 = 0;
    parameter [255:0] INIT_17 = 0;
    parameter [255:0] INIT_18 = 0;
    parameter [255:0] INIT_19 = 0;
    parameter [255:0] INIT_1A = 0;
    parameter [255:0] INIT_1B = 0;
    parameter [255:0] INIT_1C = 0;
    parameter [255:0] INIT_1D = 0;
    parameter [255:0] INIT_1E = 0;
    parameter [255:0] INIT_1F = 0;
    parameter [255:0] INIT_20 = 0;
    parameter [255:0] INIT_21 = 0;
    parameter [255:0] INIT_22 = 0;
    parameter [255:0] INIT_23 = 0;
    parameter [255:0] INIT_24 = 0;
    parameter [255:0] INIT_25 = 0;
    parameter [255:0] INIT_26 = 0;
    parameter [255:0] INIT_27 = 0;
    parameter [255:0] INIT_28 = 0;
    parameter [255:0] INIT_29 = 0;
    parameter [255:0] INIT_2A = 0;
    parameter [255:0] INIT_2B = 0;
    parameter [255:0] INIT_2C = 0;
    parameter [255:0] INIT_2D = 0;
    parameter [255:0] INIT_2E = 0;
    parameter [255:0] INIT_2F = 0;
    parameter [255:0] INIT_30 = 0;
    parameter [255:0] INIT_31 = 0;
    parameter [255:0] INIT_32 = 0;
    parameter [255:0] INIT_33 = 0;
    parameter [255:0] INIT_34 = 0;
    parameter [255:0] INIT_35 = 0;
    parameter [255:0] INIT_36 = 0;
    parameter [255:0] INIT_37 = 0;
    parameter [255:0] INIT_38 = 0;
    parameter [255:0] INIT_39 = 0;
    parameter [255:0] INIT_3A = 0;
    parameter [255:0] INIT_3B = 0;
    parameter [255:0] INIT_3C = 0;
    parameter [255:0] INIT_3D = 0;
    parameter [255:0] INIT_3E = 0;
    parameter [255:0] INIT_3F = 0;
    parameter [255:0] INITP_00 = 0;
    parameter [255:0] INITP_01 = 0;
    parameter [255:0] INITP_02 = 0;
    parameter [255:0] INITP_03 = 0;
    parameter [255:0] INITP_04 = 0;
    parameter [255:0] INITP_05 = 0;
    parameter [255:0] INITP_06 = 0;
    parameter [255:0] INITP_07 = 0;
    localparam [16383:0] DATA = {INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00};
    localparam [2047:0] PARITY = {INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00};
    localparam BAD = RAM_MODE != "TDP" && RAM_MODE != "SDP" || EN_ECC_READ != "FALSE" || EN_ECC_WRITE != "FALSE" || CASCADE_ORDER_A != "NONE" || CASCADE_ORDER_B != "NONE" || ENADDRENA != "FALSE" || ENADDRENB != "FALSE" || RDADDRCHANGEA != "FALSE" || RDADDRCHANGEB != "FALSE" || RAM_EXTENSION_A != "NONE" || RAM_EXTENSION_B != "NONE" || INIT_FILE != "NONE";
    wire [13:0] address_a = ADDRARDADDR[13:0];
    wire en_a = IS_ENARDEN_INVERTED ? ~ENARDEN : ENARDEN;
    wire rst_a = IS_RSTRAMARSTRAM_INVERTED ? ~RSTRAMARSTRAM : RSTRAMARSTRAM;
    wire rstreg_a = IS_RSTREGARSTREG_INVERTED ? ~RSTREGARSTREG : RSTREGARSTREG;
    wire [13:0] address_b = ADDRBWRADDR[13:0];
    wire en_b = IS_ENBWREN_INVERTED ? ~ENBWREN : ENBWREN;
    wire rst_b = IS_RSTRAMB_INVERTED ? ~RSTRAMB : RSTRAMB;
    wire rstreg_b = IS_RSTREGB_INVERTED ? ~RSTREGB : RSTREGB;
    assign must_be_zero = BAD | (WRITE_WIDTH_A != 0) & |WEA & en_a | (WRITE_WIDTH_B != 0) & |WEBWE & en_b;
    wire [15:0] data_a;
    wire [1:0] parity_a;
    generate
        if (READ_WIDTH_A == 1) begin : width_a_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_a = words[address_a[13:0]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 2) begin : width_a_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_a = words[address_a[13:1]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 4) begin : width_a_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_a = words[address_a[13:2]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 9) begin : width_a_9
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_a = words[address_a[13:3]];
            reg [0:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_a = marks[address_a[13:3]];
        end
        else if (READ_WIDTH_A == 18) begin : width_a_18
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_a = words[address_a[13:4]];
            reg [1:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_a = marks[address_a[13:4]];
        end
        else begin : width_a_other
            assign data_a = 16'bx;
            assign parity_a = 2'bx;
        end
    endgenerate
    wire [15:0] data_b;
    wire [1:0] parity_b;
    generate
        if (READ_WIDTH_B == 1) begin : width_b_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_b = words[address_b[13:0]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 2) begin : width_b_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_b = words[address_b[13:1]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 4) begin : width_b_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_b = words[address_b[13:2]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 9) begin : width_b_9
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_b = words[address_b[13:3]];
            reg [0:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_b = marks[address_b[13:3]];
        end
        else if (READ_WIDTH_B == 18) begin : width_b_18
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_b = words[address_b[13:4]];
            reg [1:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_b = marks[address_b[13:4]];
        end
        else begin : width_b_other
            assign data_b = 16'bx;
            assign parity_b = 2'bx;
        end
    endgenerate
    reg [15:0] q_a = INIT_A[15:0];
    reg [1:0] p_a = INIT_A[17:16];
    reg [15:0] q2_a = INIT_A[15:0];
    reg [1:0] p2_a = INIT_A[17:16];
    wire take_a = REGCEAREGCE;
    wire clear_a = rstreg_a & (RSTREG_PRIORITY_A == "RSTREG" || REGCEAREGCE);
    generate
        if (IS_CLKARDCLK_INVERTED) begin
            always @(negedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[15:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[17:16] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[15:0];
                    p2_a <= SRVAL_A[17:16];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end else begin
            always @(posedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[15:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[17:16] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[15:0];
                    p2_a <= SRVAL_A[17:16];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end
        if (DOA_REG) begin
            assign DOADO = q2_a;
            assign DOPADOP = p2_a;
        end else begin
            assign DOADO = q_a;
            assign DOPADOP = p_a;
        end
    endgenerate
    reg [15:0] q_b = INIT_B[15:0];
    reg [1:0] p_b = INIT_B[17:16];
    reg [15:0] q2_b = INIT_B[15:0];
    reg [1:0] p2_b = INIT_B[17:16];
    wire take_b = REGCEB;
    wire clear_b = rstreg_b & (RSTREG_PRIORITY_B == "RSTREG" || REGCEB);
    generate
        if (IS_CLKBWRCLK_INVERTED) begin
            always @(negedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[15:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[17:16] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[15:0];
                    p2_b <= SRVAL_B[17:16];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end else begin
            always @(posedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[15:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[17:16] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[15:0];
                    p2_b <= SRVAL_B[17:16];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end
        if (DOB_REG) begin
            assign DOBDO = q2_b;
            assign DOPBDOP = p2_b;
        end else begin
            assign DOBDO = q_b;
            assign DOPBDOP = p_b;
        end
    endgenerate
endmodule

// Read only, in true dual port mode or with the read port of simple dual port mode: writes are not modelled.
module RAMB36E1 (
    output [31:0] DOADO,
    output [3:0] DOPADOP,
    output [31:0] DOBDO,
    output [3:0] DOPBDOP,
    output must_be_zero,
    input [15:0] ADDRARDADDR, ADDRBWRADDR,
    input CLKARDCLK, ENARDEN, RSTRAMARSTRAM, RSTREGARSTREG, REGCEAREGCE, CLKBWRCLK, ENBWREN, RSTRAMB, RSTREGB, REGCEB,
    input [3:0] WEA,
    input [7:0] WEBWE,
    input [31:0] DIADI, DIBDI,
    input [3:0] DIPADIP, DIPBDIP,
    input CASCADEINA, CASCADEINB, INJECTDBITERR, INJECTSBITERR);
    parameter integer DOA_REG = 0;
    parameter integer DOB_REG = 0;
    parameter integer READ_WIDTH_A = 0;
    parameter integer READ_WIDTH_B = 0;
    parameter integer WRITE_WIDTH_A = 0;
    parameter integer WRITE_WIDTH_B = 0;
    parameter [35:0] INIT_A = 0;
    parameter [35:0] INIT_B = 0;
    parameter [35:0] SRVAL_A = 0;
    parameter [35:0] SRVAL_B = 0;
    parameter RAM_MODE = "TDP";
    parameter WRITE_MODE_A = "WRITE_FIRST";
    parameter WRITE_MODE_B = "WRITE_FIRST";
    parameter RSTREG_PRIORITY_A = "RSTREG";
    parameter RSTREG_PRIORITY_B = "RSTREG";
    parameter SIM_DEVICE = "7SERIES";
    parameter SIM_COLLISION_CHECK = "ALL";
    parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
    parameter INIT_FILE = "NONE";
    parameter RAM_EXTENSION_A = "NONE";
    parameter RAM_EXTENSION_B = "NONE";
    parameter EN_ECC_READ = "FALSE";
    parameter EN_ECC_WRITE = "FALSE";
    parameter CASCADE_ORDER_A = "NONE";
    parameter CASCADE_ORDER_B = "NONE";
    parameter CLOCK_DOMAINS = "INDEPENDENT";
    parameter ENADDRENA = "FALSE";
    parameter ENADDRENB = "FALSE";
    parameter RDADDRCHANGEA = "FALSE";
    parameter RDADDRCHANGEB = "FALSE";
    parameter SLEEP_ASYNC = "FALSE";
    parameter EN_ECC_PIPE = "FALSE";
    parameter [0:0] IS_CLKARDCLK_INVERTED = 1'b0;
    parameter [0:0] IS_CLKBWRCLK_INVERTED = 1'b0;
    parameter [0:0] IS_ENARDEN_INVERTED = 1'b0;
    parameter [0:0] IS_ENBWREN_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMB_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGARSTREG_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGB_INVERTED = 1'b0;
    parameter [255:0] INIT_00 = 0;
    parameter [255:0] INIT_01 = 0;
    parameter [255:0] INIT_02 = 0;
    parameter [255:0] INIT_03 = 0;
    parameter [255:0] INIT_04 = 0;
    parameter [255:0] INIT_05 = 0;
    parameter [255:0] INIT_06 = 0;
    parameter [255:0] INIT_07 = 0;
    parameter [255:0] INIT_08 = 0;
    parameter [255:0] INIT_09 = 0;
    parameter [255:0] INIT_0A = 0;
    parameter [255:0] INIT_0B = 0;
    parameter [255:0] INIT_0C = 0;
    parameter [255:0] INIT_0D = 0;
    parameter [255:0] INIT_0E = 0;
    parameter [255:0] INIT_0F = 0;
    parameter [255:0] INIT_10 = 0;
    parameter [255:0] INIT_11 = 0;
    parameter [255:0] INIT_12 = 0;
    parameter [255:0] INIT_13 = 0;
    parameter [255:0] INIT_14 = 0;
    parameter [255:0] INIT_15 = 0;
    parameter [255:0] INIT_16 = 0;
    parameter [255:0] INIT_17 = 0;
    parameter [255:0] INIT_18 = 0;
    parameter [255:0] INIT_19 = 0;
    parameter [255:0] INIT_1A = 0;
    parameter [255:0] INIT_1B = 0;
    parameter [255:0] INIT_1C = 0;
    parameter [255:0] INIT_1D = 0;
    parameter [255:0] INIT_1E = 0;
    parameter [255:0] INIT_1F = 0;
    parameter [255:0] INIT_20 = 0;
    parameter [255:0] INIT_21 = 0;
    parameter [255:0] INIT_22 = 0;
    parameter [255:0] INIT_23 = 0;
    parameter [255:0] INIT_24 = 0;
    parameter [255:0] INIT_25 = 0;
    parameter [255:0] INIT_26 = 0;
    parameter [255:0] INIT_27 = 0;
    parameter [255:0] INIT_28 = 0;
    parameter [255:0] INIT_29 = 0;
    parameter [255:0] INIT_2A = 0;
    parameter [255:0] INIT_2B = 0;
    parameter [255:0] INIT_2C = 0;
    parameter [255:0] INIT_2D = 0;
    parameter [255:0] INIT_2E = 0;
    parameter [255:0] INIT_2F = 0;
    parameter [255:0] INIT_30 = 0;
    parameter [255:0] INIT_31 = 0;
    parameter [255:0] INIT_32 = 0;
    parameter [255:0] INIT_33 = 0;
    parameter [255:0] INIT_34 = 0;
    parameter [255:0] INIT_35 = 0;
    parameter [255:0] INIT_36 = 0;
    parameter [255:0] INIT_37 = 0;
    parameter [255:0] INIT_38 = 0;
    parameter [255:0] INIT_39 = 0;
    parameter [255:0] INIT_3A = 0;
    parameter [255:0] INIT_3B = 0;
    parameter [255:0] INIT_3C = 0;
    parameter [255:0] INIT_3D = 0;
    parameter [255:0] INIT_3E = 0;
    parameter [255:0] INIT_3F = 0;
    parameter [255:0] INIT_40 = 0;
    parameter [255:0] INIT_41 = 0;
    parameter [255:0] INIT_42 = 0;
    parameter [255:0] INIT_43 = 0;
    parameter [255:0] INIT_44 = 0;
    parameter [255:0] INIT_45 = 0;
    parameter [255:0] INIT_46 = 0;
    parameter [255:0] INIT_47 = 0;
    parameter [255:0] INIT_48 = 0;
    parameter [255:0] INIT_49 = 0;
    parameter [255:0] INIT_4A = 0;
    parameter [255:0] INIT_4B = 0;
    parameter [255:0] INIT_4C = 0;
    parameter [255:0] INIT_4D = 0;
    parameter [255:0] INIT_4E = 0;
    parameter [255:0] INIT_4F = 0;
    parameter [255:0] INIT_50 = 0;
    parameter [255:0] INIT_51 = 0;
    parameter [255:0] INIT_52 = 0;
    parameter [255:0] INIT_53 = 0;
    parameter [255:0] INIT_54 = 0;
    parameter [255:0] INIT_55 = 0;
    parameter [255:0] INIT_56 = 0;
    parameter [255:0] INIT_57 = 0;
    parameter [255:0] INIT_58 = 0;
    parameter [255:0] INIT_59 = 0;
    parameter [255:0] INIT_5A = 0;
    parameter [255:0] INIT_5B = 0;
    parameter [255:0] INIT_5C = 0;
    parameter [255:0] INIT_5D = 0;
    parameter [255:0] INIT_5E = 0;
    parameter [255:0] INIT_5F = 0;
    parameter [255:0] INIT_60 = 0;
    parameter [255:0] INIT_61 = 0;
    parameter [255:0] INIT_62 = 0;
    parameter [255:0] INIT_63 = 0;
    parameter [255:0] INIT_64 = 0;
    parameter [255:0] INIT_65 = 0;
    parameter [255:0] INIT_66 = 0;
    parameter [255:0] INIT_67 = 0;
    parameter [255:0] INIT_68 = 0;
    parameter [255:0] INIT_69 = 0;
    parameter [255:0] INIT_6A = 0;
    parameter [255:0] INIT_6B = 0;
    parameter [255:0] INIT_6C = 0;
    parameter [255:0] INIT_6D = 0;
    parameter [255:0] INIT_6E = 0;
    parameter [255:0] INIT_6F = 0;
    parameter [255:0] INIT_70 = 0;
    parameter [255:0] INIT_71 = 0;
    parameter [255:0] INIT_72 = 0;
    parameter [255:0] INIT_73 = 0;
    parameter [255:0] INIT_74 = 0;
    parameter [255:0] INIT_75 = 0;
    parameter [255:0] INIT_76 = 0;
    parameter [255:0] INIT_77 = 0;
    parameter [255:0] INIT_78 = 0;
    parameter [255:0] INIT_79 = 0;
    parameter [255:0] INIT_7A = 0;
    parameter [255:0] INIT_7B = 0;
    parameter [255:0] INIT_7C = 0;
    parameter [255:0] INIT_7D = 0;
    parameter [255:0] INIT_7E = 0;
    parameter [255:0] INIT_7F = 0;
    parameter [255:0] INITP_00 = 0;
    parameter [255:0] INITP_01 = 0;
    parameter [255:0] INITP_02 = 0;
    parameter [255:0] INITP_03 = 0;
    parameter [255:0] INITP_04 = 0;
    parameter [255:0] INITP_05 = 0;
    parameter [255:0] INITP_06 = 0;
    parameter [255:0] INITP_07 = 0;
    parameter [255:0] INITP_08 = 0;
    parameter [255:0] INITP_09 = 0;
    parameter [255:0] INITP_0A = 0;
    parameter [255:0] INITP_0B = 0;
    parameter [255:0] INITP_0C = 0;
    parameter [255:0] INITP_0D = 0;
    parameter [255:0] INITP_0E = 0;
    parameter [255:0] INITP_0F = 0;
    localparam [32767:0] DATA = {INIT_7F, INIT_7E, INIT_7D, INIT_7C, INIT_7B, INIT_7A, INIT_79, INIT_78, INIT_77, INIT_76, INIT_75, INIT_74, INIT_73, INIT_72, INIT_71, INIT_70, INIT_6F, INIT_6E, INIT_6D, INIT_6C, INIT_6B, INIT_6A, INIT_69, INIT_68, INIT_67, INIT_66, INIT_65, INIT_64, INIT_63, INIT_62, INIT_61, INIT_60, INIT_5F, INIT_5E, INIT_5D, INIT_5C, INIT_5B, INIT_5A, INIT_59, INIT_58, INIT_57, INIT_56, INIT_55, INIT_54, INIT_53, INIT_52, INIT_51, INIT_50, INIT_4F, INIT_4E, INIT_4D, INIT_4C, INIT_4B, INIT_4A, INIT_49, INIT_48, INIT_47, INIT_46, INIT_45, INIT_44, INIT_43, INIT_42, INIT_41, INIT_40, INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00};
    localparam [4095:0] PARITY = {INITP_0F, INITP_0E, INITP_0D, INITP_0C, INITP_0B, INITP_0A, INITP_09, INITP_08, INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00};
    localparam BAD = RAM_MODE != "TDP" && RAM_MODE != "SDP" || EN_ECC_READ != "FALSE" || EN_ECC_WRITE != "FALSE" || CASCADE_ORDER_A != "NONE" || CASCADE_ORDER_B != "NONE" || ENADDRENA != "FALSE" || ENADDRENB != "FALSE" || RDADDRCHANGEA != "FALSE" || RDADDRCHANGEB != "FALSE" || RAM_EXTENSION_A != "NONE" || RAM_EXTENSION_B != "NONE" || INIT_FILE != "NONE";
    wire [14:0] address_a = ADDRARDADDR[14:0];
    wire en_a = IS_ENARDEN_INVERTED ? ~ENARDEN : ENARDEN;
    wire rst_a = IS_RSTRAMARSTRAM_INVERTED ? ~RSTRAMARSTRAM : RSTRAMARSTRAM;
    wire rstreg_a = IS_RSTREGARSTREG_INVERTED ? ~RSTREGARSTREG : RSTREGARSTREG;
    wire [14:0] address_b = ADDRBWRADDR[14:0];
    wire en_b = IS_ENBWREN_INVERTED ? ~ENBWREN : ENBWREN;
    wire rst_b = IS_RSTRAMB_INVERTED ? ~RSTRAMB : RSTRAMB;
    wire rstreg_b = IS_RSTREGB_INVERTED ? ~RSTREGB : RSTREGB;
    assign must_be_zero = BAD | (WRITE_WIDTH_A != 0) & |WEA & en_a | (WRITE_WIDTH_B != 0) & |WEBWE & en_b;
    wire [31:0] data_a;
    wire [3:0] parity_a;
    generate
        if (READ_WIDTH_A == 1) begin : width_a_1
            reg [0:0] words [0:32767];
            integer i;
            initial for (i = 0; i < 32768; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_a = words[address_a[14:0]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 2) begin : width_a_2
            reg [1:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_a = words[address_a[14:1]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 4) begin : width_a_4
            reg [3:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_a = words[address_a[14:2]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 9) begin : width_a_9
            reg [7:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_a = words[address_a[14:3]];
            reg [0:0] marks [0:4095];
            integer j;
            initial for (j = 0; j < 4096; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_a = marks[address_a[14:3]];
        end
        else if (READ_WIDTH_A == 18) begin : width_a_18
            reg [15:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_a = words[address_a[14:4]];
            reg [1:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_a = marks[address_a[14:4]];
        end
        else if (READ_WIDTH_A == 36) begin : width_a_36
            reg [31:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign data_a = words[address_a[14:5]];
            reg [3:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 4 +: 4];
            assign parity_a = marks[address_a[14:5]];
        end
        else begin : width_a_other
            assign data_a = 32'bx;
            assign parity_a = 4'bx;
        end
    endgenerate
    wire [31:0] data_b;
    wire [3:0] parity_b;
    generate
        if (READ_WIDTH_B == 1) begin : width_b_1
            reg [0:0] words [0:32767];
            integer i;
            initial for (i = 0; i < 32768; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_b = words[address_b[14:0]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 2) begin : width_b_2
            reg [1:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_b = words[address_b[14:1]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 4) begin : width_b_4
            reg [3:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_b = words[address_b[14:2]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 9) begin : width_b_9
            reg [7:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_b = words[address_b[14:3]];
            reg [0:0] marks [0:4095];
            integer j;
            initial for (j = 0; j < 4096; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_b = marks[address_b[14:3]];
        end
        else if (READ_WIDTH_B == 18) begin : width_b_18
            reg [15:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_b = words[address_b[14:4]];
            reg [1:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_b = marks[address_b[14:4]];
        end
        else if (READ_WIDTH_B == 36) begin : width_b_36
            reg [31:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign data_b = words[address_b[14:5]];
            reg [3:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 4 +: 4];
            assign parity_b = marks[address_b[14:5]];
        end
        else begin : width_b_other
            assign data_b = 32'bx;
            assign parity_b = 4'bx;
        end
    endgenerate
    reg [31:0] q_a = INIT_A[31:0];
    reg [3:0] p_a = INIT_A[35:32];
    reg [31:0] q2_a = INIT_A[31:0];
    reg [3:0] p2_a = INIT_A[35:32];
    wire take_a = REGCEAREGCE;
    wire clear_a = rstreg_a & (RSTREG_PRIORITY_A == "RSTREG" || REGCEAREGCE);
    generate
        if (IS_CLKARDCLK_INVERTED) begin
            always @(negedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[31:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[35:32] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[31:0];
                    p2_a <= SRVAL_A[35:32];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end else begin
            always @(posedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[31:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[35:32] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[31:0];
                    p2_a <= SRVAL_A[35:32];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end
        if (DOA_REG) begin
            assign DOADO = q2_a;
            assign DOPADOP = p2_a;
        end else begin
            assign DOADO = q_a;
            assign DOPADOP = p_a;
        end
    endgenerate
    reg [31:0] q_b = INIT_B[31:0];
    reg [3:0] p_b = INIT_B[35:32];
    reg [31:0] q2_b = INIT_B[31:0];
    reg [3:0] p2_b = INIT_B[35:32];
    wire take_b = REGCEB;
    wire clear_b = rstreg_b & (RSTREG_PRIORITY_B == "RSTREG" || REGCEB);
    generate
        if (IS_CLKBWRCLK_INVERTED) begin
            always @(negedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[31:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[35:32] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[31:0];
                    p2_b <= SRVAL_B[35:32];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end else begin
            always @(posedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[31:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[35:32] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[31:0];
                    p2_b <= SRVAL_B[35:32];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end
        if (DOB_REG) begin
            assign DOBDO = q2_b;
            assign DOPBDOP = p2_b;
        end else begin
            assign DOBDO = q_b;
            assign DOPBDOP = p_b;
        end
    endgenerate
endmodule

// Read only, in true dual port mode or with the read port of simple dual port mode: writes are not modelled.
module RAMB18E2 (
    output [15:0] DOUTADOUT,
    output [1:0] DOUTPADOUTP,
    output [15:0] DOUTBDOUT,
    output [1:0] DOUTPBDOUTP,
    output must_be_zero,
    input [13:0] ADDRARDADDR, ADDRBWRADDR,
    input CLKARDCLK, ENARDEN, RSTRAMARSTRAM, RSTREGARSTREG, REGCEAREGCE, CLKBWRCLK, ENBWREN, RSTRAMB, RSTREGB, REGCEB,
    input [1:0] WEA,
    input [3:0] WEBWE,
    input [15:0] DINADIN, DINBDIN,
    input [1:0] DINPADINP, DINPBDINP,
    input ADDRENA, ADDRENB, CASDIMUXA, CASDIMUXB, CASDOMUXA, CASDOMUXB, CASDOMUXEN_A, CASDOMUXEN_B, CASOREGIMUXA, CASOREGIMUXB, CASOREGIMUXEN_A, CASOREGIMUXEN_B, SLEEP);
    parameter integer DOA_REG = 0;
    parameter integer DOB_REG = 0;
    parameter integer READ_WIDTH_A = 0;
    parameter integer READ_WIDTH_B = 0;
    parameter integer WRITE_WIDTH_A = 0;
    parameter integer WRITE_WIDTH_B = 0;
    parameter [17:0] INIT_A = 0;
    parameter [17:0] INIT_B = 0;
    parameter [17:0] SRVAL_A = 0;
    parameter [17:0] SRVAL_B = 0;
    parameter RAM_MODE = "TDP";
    parameter WRITE_MODE_A = "WRITE_FIRST";
    parameter WRITE_MODE_B = "WRITE_FIRST";
    parameter RSTREG_PRIORITY_A = "RSTREG";
    parameter RSTREG_PRIORITY_B = "RSTREG";
    parameter SIM_DEVICE = "7SERIES";
    parameter SIM_COLLISION_CHECK = "ALL";
    parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
    parameter INIT_FILE = "NONE";
    parameter RAM_EXTENSION_A = "NONE";
    parameter RAM_EXTENSION_B = "NONE";
    parameter EN_ECC_READ = "FALSE";
    parameter EN_ECC_WRITE = "FALSE";
    parameter CASCADE_ORDER_A = "NONE";
    parameter CASCADE_ORDER_B = "NONE";
    parameter CLOCK_DOMAINS = "INDEPENDENT";
    parameter ENADDRENA = "FALSE";
    parameter ENADDRENB = "FALSE";
    parameter RDADDRCHANGEA = "FALSE";
    parameter RDADDRCHANGEB = "FALSE";
    parameter SLEEP_ASYNC = "FALSE";
    parameter EN_ECC_PIPE = "FALSE";
    parameter [0:0] IS_CLKARDCLK_INVERTED = 1'b0;
    parameter [0:0] IS_CLKBWRCLK_INVERTED = 1'b0;
    parameter [0:0] IS_ENARDEN_INVERTED = 1'b0;
    parameter [0:0] IS_ENBWREN_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMB_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGARSTREG_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGB_INVERTED = 1'b0;
    parameter [255:0] INIT_00 = 0;
    parameter [255:0] INIT_01 = 0;
    parameter [255:0] INIT_02 = 0;
    parameter [255:0] INIT_03 = 0;
    parameter [255:0] INIT_04 = 0;
    parameter [255:0] INIT_05 = 0;
    parameter [255:0] INIT_06 = 0;
    parameter [255:0] INIT_07 = 0;
    parameter [255:0] INIT_08 = 0;
    parameter [255:0] INIT_09 = 0;
    parameter [255:0] INIT_0A = 0;
    parameter [255:0] INIT_0B = 0;
    parameter [255:0] INIT_0C = 0;
    parameter [255:0] INIT_0D = 0;
    parameter [255:0] INIT_0E = 0;
    parameter [255:0] INIT_0F = 0;
    parameter [255:0] INIT_10 = 0;
    parameter [255:0] INIT_11 = 0;
    parameter [255:0] INIT_12 = 0;
    parameter [255:0] INIT_13 = 0;
    parameter [255:0] INIT_14 = 0;
    parameter [255:0] INIT_15 = 0;
    parameter [255:0] INIT_16 = 0;
    parameter [255:0] INIT_17 = 0;
    parameter [255:0] INIT_18 = 0;
    parameter [255:0] INIT_19 = 0;
    parameter [255:0] INIT_1A = 0;
    parameter [255:0] INIT_1B = 0;
    parameter [255:0] INIT_1C = 0;
    parameter [255:0] INIT_1D = 0;
    parameter [255:0] INIT_1E = 0;
    parameter [255:0] INIT_1F = 0;
    parameter [255:0] INIT_20 = 0;
    parameter [255:0] INIT_21 = 0;
    parameter [255:0] INIT_22 = 0;
    parameter [255:0] INIT_23 = 0;
    parameter [255:0] INIT_24 = 0;
    parameter [255:0] INIT_25 = 0;
    parameter [255:0] INIT_26 = 0;
    parameter [255:0] INIT_27 = 0;
    parameter [255:0] INIT_28 = 0;
    parameter [255:0] INIT_29 = 0;
    parameter [255:0] INIT_2A = 0;
    parameter [255:0] INIT_2B = 0;
    parameter [255:0] INIT_2C = 0;
    parameter [255:0] INIT_2D = 0;
    parameter [255:0] INIT_2E = 0;
    parameter [255:0] INIT_2F = 0;
    parameter [255:0] INIT_30 = 0;
    parameter [255:0] INIT_31 = 0;
    parameter [255:0] INIT_32 = 0;
    parameter [255:0] INIT_33 = 0;
    parameter [255:0] INIT_34 = 0;
    parameter [255:0] INIT_35 = 0;
    parameter [255:0] INIT_36 = 0;
    parameter [255:0] INIT_37 = 0;
    parameter [255:0] INIT_38 = 0;
    parameter [255:0] INIT_39 = 0;
    parameter [255:0] INIT_3A = 0;
    parameter [255:0] INIT_3B = 0;
    parameter [255:0] INIT_3C = 0;
    parameter [255:0] INIT_3D = 0;
    parameter [255:0] INIT_3E = 0;
    parameter [255:0] INIT_3F = 0;
    parameter [255:0] INITP_00 = 0;
    parameter [255:0] INITP_01 = 0;
    parameter [255:0] INITP_02 = 0;
    parameter [255:0] INITP_03 = 0;
    parameter [255:0] INITP_04 = 0;
    parameter [255:0] INITP_05 = 0;
    parameter [255:0] INITP_06 = 0;
    parameter [255:0] INITP_07 = 0;
    localparam [16383:0] DATA = {INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00};
    localparam [2047:0] PARITY = {INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00};
    localparam BAD = RAM_MODE != "TDP" && RAM_MODE != "SDP" || EN_ECC_READ != "FALSE" || EN_ECC_WRITE != "FALSE" || CASCADE_ORDER_A != "NONE" || CASCADE_ORDER_B != "NONE" || ENADDRENA != "FALSE" || ENADDRENB != "FALSE" || RDADDRCHANGEA != "FALSE" || RDADDRCHANGEB != "FALSE" || RAM_EXTENSION_A != "NONE" || RAM_EXTENSION_B != "NONE" || INIT_FILE != "NONE";
    wire [13:0] address_a = ADDRARDADDR[13:0];
    wire en_a = IS_ENARDEN_INVERTED ? ~ENARDEN : ENARDEN;
    wire rst_a = IS_RSTRAMARSTRAM_INVERTED ? ~RSTRAMARSTRAM : RSTRAMARSTRAM;
    wire rstreg_a = IS_RSTREGARSTREG_INVERTED ? ~RSTREGARSTREG : RSTREGARSTREG;
    wire [13:0] address_b = ADDRBWRADDR[13:0];
    wire en_b = IS_ENBWREN_INVERTED ? ~ENBWREN : ENBWREN;
    wire rst_b = IS_RSTRAMB_INVERTED ? ~RSTRAMB : RSTRAMB;
    wire rstreg_b = IS_RSTREGB_INVERTED ? ~RSTREGB : RSTREGB;
    assign must_be_zero = BAD | (WRITE_WIDTH_A != 0) & |WEA & en_a | (WRITE_WIDTH_B != 0) & |WEBWE & en_b | SLEEP;
    wire [15:0] data_a;
    wire [1:0] parity_a;
    generate
        if (READ_WIDTH_A == 1) begin : width_a_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_a = words[address_a[13:0]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 2) begin : width_a_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_a = words[address_a[13:1]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 4) begin : width_a_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_a = words[address_a[13:2]];
            assign parity_a = 2'bx;
        end
        else if (READ_WIDTH_A == 9) begin : width_a_9
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_a = words[address_a[13:3]];
            reg [0:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_a = marks[address_a[13:3]];
        end
        else if (READ_WIDTH_A == 18) begin : width_a_18
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_a = words[address_a[13:4]];
            reg [1:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_a = marks[address_a[13:4]];
        end
        else begin : width_a_other
            assign data_a = 16'bx;
            assign parity_a = 2'bx;
        end
    endgenerate
    wire [15:0] data_b;
    wire [1:0] parity_b;
    generate
        if (READ_WIDTH_B == 1) begin : width_b_1
            reg [0:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_b = words[address_b[13:0]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 2) begin : width_b_2
            reg [1:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_b = words[address_b[13:1]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 4) begin : width_b_4
            reg [3:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_b = words[address_b[13:2]];
            assign parity_b = 2'bx;
        end
        else if (READ_WIDTH_B == 9) begin : width_b_9
            reg [7:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_b = words[address_b[13:3]];
            reg [0:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_b = marks[address_b[13:3]];
        end
        else if (READ_WIDTH_B == 18) begin : width_b_18
            reg [15:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_b = words[address_b[13:4]];
            reg [1:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_b = marks[address_b[13:4]];
        end
        else begin : width_b_other
            assign data_b = 16'bx;
            assign parity_b = 2'bx;
        end
    endgenerate
    reg [15:0] q_a = INIT_A[15:0];
    reg [1:0] p_a = INIT_A[17:16];
    reg [15:0] q2_a = INIT_A[15:0];
    reg [1:0] p2_a = INIT_A[17:16];
    wire take_a = REGCEAREGCE;
    wire clear_a = rstreg_a & (RSTREG_PRIORITY_A == "RSTREG" || REGCEAREGCE);
    generate
        if (IS_CLKARDCLK_INVERTED) begin
            always @(negedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[15:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[17:16] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[15:0];
                    p2_a <= SRVAL_A[17:16];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end else begin
            always @(posedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[15:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[17:16] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[15:0];
                    p2_a <= SRVAL_A[17:16];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end
        if (DOA_REG) begin
            assign DOUTADOUT = q2_a;
            assign DOUTPADOUTP = p2_a;
        end else begin
            assign DOUTADOUT = q_a;
            assign DOUTPADOUTP = p_a;
        end
    endgenerate
    reg [15:0] q_b = INIT_B[15:0];
    reg [1:0] p_b = INIT_B[17:16];
    reg [15:0] q2_b = INIT_B[15:0];
    reg [1:0] p2_b = INIT_B[17:16];
    wire take_b = REGCEB;
    wire clear_b = rstreg_b & (RSTREG_PRIORITY_B == "RSTREG" || REGCEB);
    generate
        if (IS_CLKBWRCLK_INVERTED) begin
            always @(negedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[15:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[17:16] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[15:0];
                    p2_b <= SRVAL_B[17:16];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end else begin
            always @(posedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[15:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[17:16] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[15:0];
                    p2_b <= SRVAL_B[17:16];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end
        if (DOB_REG) begin
            assign DOUTBDOUT = q2_b;
            assign DOUTPBDOUTP = p2_b;
        end else begin
            assign DOUTBDOUT = q_b;
            assign DOUTPBDOUTP = p_b;
        end
    endgenerate
endmodule

// Read only, in true dual port mode or with the read port of simple dual port mode: writes are not modelled.
module RAMB36E2 (
    output [31:0] DOUTADOUT,
    output [3:0] DOUTPADOUTP,
    output [31:0] DOUTBDOUT,
    output [3:0] DOUTPBDOUTP,
    output must_be_zero,
    input [14:0] ADDRARDADDR, ADDRBWRADDR,
    input CLKARDCLK, ENARDEN, RSTRAMARSTRAM, RSTREGARSTREG, REGCEAREGCE, CLKBWRCLK, ENBWREN, RSTRAMB, RSTREGB, REGCEB,
    input [3:0] WEA,
    input [7:0] WEBWE,
    input [31:0] DINADIN, DINBDIN,
    input [3:0] DINPADINP, DINPBDINP,
    input ADDRENA, ADDRENB, CASDIMUXA, CASDIMUXB, CASDOMUXA, CASDOMUXB, CASDOMUXEN_A, CASDOMUXEN_B, CASOREGIMUXA, CASOREGIMUXB, CASOREGIMUXEN_A, CASOREGIMUXEN_B, SLEEP, CASINDBITERR, CASINSBITERR, ECCPIPECE, INJECTDBITERR, INJECTSBITERR);
    parameter integer DOA_REG = 0;
    parameter integer DOB_REG = 0;
    parameter integer READ_WIDTH_A = 0;
    parameter integer READ_WIDTH_B = 0;
    parameter integer WRITE_WIDTH_A = 0;
    parameter integer WRITE_WIDTH_B = 0;
    parameter [35:0] INIT_A = 0;
    parameter [35:0] INIT_B = 0;
    parameter [35:0] SRVAL_A = 0;
    parameter [35:0] SRVAL_B = 0;
    parameter RAM_MODE = "TDP";
    parameter WRITE_MODE_A = "WRITE_FIRST";
    parameter WRITE_MODE_B = "WRITE_FIRST";
    parameter RSTREG_PRIORITY_A = "RSTREG";
    parameter RSTREG_PRIORITY_B = "RSTREG";
    parameter SIM_DEVICE = "7SERIES";
    parameter SIM_COLLISION_CHECK = "ALL";
    parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
    parameter INIT_FILE = "NONE";
    parameter RAM_EXTENSION_A = "NONE";
    parameter RAM_EXTENSION_B = "NONE";
    parameter EN_ECC_READ = "FALSE";
    parameter EN_ECC_WRITE = "FALSE";
    parameter CASCADE_ORDER_A = "NONE";
    parameter CASCADE_ORDER_B = "NONE";
    parameter CLOCK_DOMAINS = "INDEPENDENT";
    parameter ENADDRENA = "FALSE";
    parameter ENADDRENB = "FALSE";
    parameter RDADDRCHANGEA = "FALSE";
    parameter RDADDRCHANGEB = "FALSE";
    parameter SLEEP_ASYNC = "FALSE";
    parameter EN_ECC_PIPE = "FALSE";
    parameter [0:0] IS_CLKARDCLK_INVERTED = 1'b0;
    parameter [0:0] IS_CLKBWRCLK_INVERTED = 1'b0;
    parameter [0:0] IS_ENARDEN_INVERTED = 1'b0;
    parameter [0:0] IS_ENBWREN_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 1'b0;
    parameter [0:0] IS_RSTRAMB_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGARSTREG_INVERTED = 1'b0;
    parameter [0:0] IS_RSTREGB_INVERTED = 1'b0;
    parameter [255:0] INIT_00 = 0;
    parameter [255:0] INIT_01 = 0;
    parameter [255:0] INIT_02 = 0;
    parameter [255:0] INIT_03 = 0;
    parameter [255:0] INIT_04 = 0;
    parameter [255:0] INIT_05 = 0;
    parameter [255:0] INIT_06 = 0;
    parameter [255:0] INIT_07 = 0;
    parameter [255:0] INIT_08 = 0;
    parameter [255:0] INIT_09 = 0;
    parameter [255:0] INIT_0A = 0;
    parameter [255:0] INIT_0B = 0;
    parameter [255:0] INIT_0C = 0;
    parameter [255:0] INIT_0D = 0;
    parameter [255:0] INIT_0E = 0;
    parameter [255:0] INIT_0F = 0;
    parameter [255:0] INIT_10 = 0;
    parameter [255:0] INIT_11 = 0;
    parameter [255:0] INIT_12 = 0;
    parameter [255:0] INIT_13 = 0;
    parameter [255:0] INIT_14 = 0;
    parameter [255:0] INIT_15 = 0;
    parameter [255:0] INIT_16 = 0;
    parameter [255:0] INIT_17 = 0;
    parameter [255:0] INIT_18 = 0;
    parameter [255:0] INIT_19 = 0;
    parameter [255:0] INIT_1A = 0;
    parameter [255:0] INIT_1B = 0;
    parameter [255:0] INIT_1C = 0;
    parameter [255:0] INIT_1D = 0;
    parameter [255:0] INIT_1E = 0;
    parameter [255:0] INIT_1F = 0;
    parameter [255:0] INIT_20 = 0;
    parameter [255:0] INIT_21 = 0;
    parameter [255:0] INIT_22 = 0;
    parameter [255:0] INIT_23 = 0;
    parameter [255:0] INIT_24 = 0;
    parameter [255:0] INIT_25 = 0;
    parameter [255:0] INIT_26 = 0;
    parameter [255:0] INIT_27 = 0;
    parameter [255:0] INIT_28 = 0;
    parameter [255:0] INIT_29 = 0;
    parameter [255:0] INIT_2A = 0;
    parameter [255:0] INIT_2B = 0;
    parameter [255:0] INIT_2C = 0;
    parameter [255:0] INIT_2D = 0;
    parameter [255:0] INIT_2E = 0;
    parameter [255:0] INIT_2F = 0;
    parameter [255:0] INIT_30 = 0;
    parameter [255:0] INIT_31 = 0;
    parameter [255:0] INIT_32 = 0;
    parameter [255:0] INIT_33 = 0;
    parameter [255:0] INIT_34 = 0;
    parameter [255:0] INIT_35 = 0;
    parameter [255:0] INIT_36 = 0;
    parameter [255:0] INIT_37 = 0;
    parameter [255:0] INIT_38 = 0;
    parameter [255:0] INIT_39 = 0;
    parameter [255:0] INIT_3A = 0;
    parameter [255:0] INIT_3B = 0;
    parameter [255:0] INIT_3C = 0;
    parameter [255:0] INIT_3D = 0;
    parameter [255:0] INIT_3E = 0;
    parameter [255:0] INIT_3F = 0;
    parameter [255:0] INIT_40 = 0;
    parameter [255:0] INIT_41 = 0;
    parameter [255:0] INIT_42 = 0;
    parameter [255:0] INIT_43 = 0;
    parameter [255:0] INIT_44 = 0;
    parameter [255:0] INIT_45 = 0;
    parameter [255:0] INIT_46 = 0;
    parameter [255:0] INIT_47 = 0;
    parameter [255:0] INIT_48 = 0;
    parameter [255:0] INIT_49 = 0;
    parameter [255:0] INIT_4A = 0;
    parameter [255:0] INIT_4B = 0;
    parameter [255:0] INIT_4C = 0;
    parameter [255:0] INIT_4D = 0;
    parameter [255:0] INIT_4E = 0;
    parameter [255:0] INIT_4F = 0;
    parameter [255:0] INIT_50 = 0;
    parameter [255:0] INIT_51 = 0;
    parameter [255:0] INIT_52 = 0;
    parameter [255:0] INIT_53 = 0;
    parameter [255:0] INIT_54 = 0;
    parameter [255:0] INIT_55 = 0;
    parameter [255:0] INIT_56 = 0;
    parameter [255:0] INIT_57 = 0;
    parameter [255:0] INIT_58 = 0;
    parameter [255:0] INIT_59 = 0;
    parameter [255:0] INIT_5A = 0;
    parameter [255:0] INIT_5B = 0;
    parameter [255:0] INIT_5C = 0;
    parameter [255:0] INIT_5D = 0;
    parameter [255:0] INIT_5E = 0;
    parameter [255:0] INIT_5F = 0;
    parameter [255:0] INIT_60 = 0;
    parameter [255:0] INIT_61 = 0;
    parameter [255:0] INIT_62 = 0;
    parameter [255:0] INIT_63 = 0;
    parameter [255:0] INIT_64 = 0;
    parameter [255:0] INIT_65 = 0;
    parameter [255:0] INIT_66 = 0;
    parameter [255:0] INIT_67 = 0;
    parameter [255:0] INIT_68 = 0;
    parameter [255:0] INIT_69 = 0;
    parameter [255:0] INIT_6A = 0;
    parameter [255:0] INIT_6B = 0;
    parameter [255:0] INIT_6C = 0;
    parameter [255:0] INIT_6D = 0;
    parameter [255:0] INIT_6E = 0;
    parameter [255:0] INIT_6F = 0;
    parameter [255:0] INIT_70 = 0;
    parameter [255:0] INIT_71 = 0;
    parameter [255:0] INIT_72 = 0;
    parameter [255:0] INIT_73 = 0;
    parameter [255:0] INIT_74 = 0;
    parameter [255:0] INIT_75 = 0;
    parameter [255:0] INIT_76 = 0;
    parameter [255:0] INIT_77 = 0;
    parameter [255:0] INIT_78 = 0;
    parameter [255:0] INIT_79 = 0;
    parameter [255:0] INIT_7A = 0;
    parameter [255:0] INIT_7B = 0;
    parameter [255:0] INIT_7C = 0;
    parameter [255:0] INIT_7D = 0;
    parameter [255:0] INIT_7E = 0;
    parameter [255:0] INIT_7F = 0;
    parameter [255:0] INITP_00 = 0;
    parameter [255:0] INITP_01 = 0;
    parameter [255:0] INITP_02 = 0;
    parameter [255:0] INITP_03 = 0;
    parameter [255:0] INITP_04 = 0;
    parameter [255:0] INITP_05 = 0;
    parameter [255:0] INITP_06 = 0;
    parameter [255:0] INITP_07 = 0;
    parameter [255:0] INITP_08 = 0;
    parameter [255:0] INITP_09 = 0;
    parameter [255:0] INITP_0A = 0;
    parameter [255:0] INITP_0B = 0;
    parameter [255:0] INITP_0C = 0;
    parameter [255:0] INITP_0D = 0;
    parameter [255:0] INITP_0E = 0;
    parameter [255:0] INITP_0F = 0;
    localparam [32767:0] DATA = {INIT_7F, INIT_7E, INIT_7D, INIT_7C, INIT_7B, INIT_7A, INIT_79, INIT_78, INIT_77, INIT_76, INIT_75, INIT_74, INIT_73, INIT_72, INIT_71, INIT_70, INIT_6F, INIT_6E, INIT_6D, INIT_6C, INIT_6B, INIT_6A, INIT_69, INIT_68, INIT_67, INIT_66, INIT_65, INIT_64, INIT_63, INIT_62, INIT_61, INIT_60, INIT_5F, INIT_5E, INIT_5D, INIT_5C, INIT_5B, INIT_5A, INIT_59, INIT_58, INIT_57, INIT_56, INIT_55, INIT_54, INIT_53, INIT_52, INIT_51, INIT_50, INIT_4F, INIT_4E, INIT_4D, INIT_4C, INIT_4B, INIT_4A, INIT_49, INIT_48, INIT_47, INIT_46, INIT_45, INIT_44, INIT_43, INIT_42, INIT_41, INIT_40, INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00};
    localparam [4095:0] PARITY = {INITP_0F, INITP_0E, INITP_0D, INITP_0C, INITP_0B, INITP_0A, INITP_09, INITP_08, INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00};
    localparam BAD = RAM_MODE != "TDP" && RAM_MODE != "SDP" || EN_ECC_READ != "FALSE" || EN_ECC_WRITE != "FALSE" || CASCADE_ORDER_A != "NONE" || CASCADE_ORDER_B != "NONE" || ENADDRENA != "FALSE" || ENADDRENB != "FALSE" || RDADDRCHANGEA != "FALSE" || RDADDRCHANGEB != "FALSE" || RAM_EXTENSION_A != "NONE" || RAM_EXTENSION_B != "NONE" || INIT_FILE != "NONE";
    wire [14:0] address_a = ADDRARDADDR[14:0];
    wire en_a = IS_ENARDEN_INVERTED ? ~ENARDEN : ENARDEN;
    wire rst_a = IS_RSTRAMARSTRAM_INVERTED ? ~RSTRAMARSTRAM : RSTRAMARSTRAM;
    wire rstreg_a = IS_RSTREGARSTREG_INVERTED ? ~RSTREGARSTREG : RSTREGARSTREG;
    wire [14:0] address_b = ADDRBWRADDR[14:0];
    wire en_b = IS_ENBWREN_INVERTED ? ~ENBWREN : ENBWREN;
    wire rst_b = IS_RSTRAMB_INVERTED ? ~RSTRAMB : RSTRAMB;
    wire rstreg_b = IS_RSTREGB_INVERTED ? ~RSTREGB : RSTREGB;
    assign must_be_zero = BAD | (WRITE_WIDTH_A != 0) & |WEA & en_a | (WRITE_WIDTH_B != 0) & |WEBWE & en_b | SLEEP;
    wire [31:0] data_a;
    wire [3:0] parity_a;
    generate
        if (READ_WIDTH_A == 1) begin : width_a_1
            reg [0:0] words [0:32767];
            integer i;
            initial for (i = 0; i < 32768; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_a = words[address_a[14:0]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 2) begin : width_a_2
            reg [1:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_a = words[address_a[14:1]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 4) begin : width_a_4
            reg [3:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_a = words[address_a[14:2]];
            assign parity_a = 4'bx;
        end
        else if (READ_WIDTH_A == 9) begin : width_a_9
            reg [7:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_a = words[address_a[14:3]];
            reg [0:0] marks [0:4095];
            integer j;
            initial for (j = 0; j < 4096; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_a = marks[address_a[14:3]];
        end
        else if (READ_WIDTH_A == 18) begin : width_a_18
            reg [15:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_a = words[address_a[14:4]];
            reg [1:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_a = marks[address_a[14:4]];
        end
        else if (READ_WIDTH_A == 36) begin : width_a_36
            reg [31:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign data_a = words[address_a[14:5]];
            reg [3:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 4 +: 4];
            assign parity_a = marks[address_a[14:5]];
        end
        else begin : width_a_other
            assign data_a = 32'bx;
            assign parity_a = 4'bx;
        end
    endgenerate
    wire [31:0] data_b;
    wire [3:0] parity_b;
    generate
        if (READ_WIDTH_B == 1) begin : width_b_1
            reg [0:0] words [0:32767];
            integer i;
            initial for (i = 0; i < 32768; i = i + 1) words[i] = DATA[i * 1 +: 1];
            assign data_b = words[address_b[14:0]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 2) begin : width_b_2
            reg [1:0] words [0:16383];
            integer i;
            initial for (i = 0; i < 16384; i = i + 1) words[i] = DATA[i * 2 +: 2];
            assign data_b = words[address_b[14:1]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 4) begin : width_b_4
            reg [3:0] words [0:8191];
            integer i;
            initial for (i = 0; i < 8192; i = i + 1) words[i] = DATA[i * 4 +: 4];
            assign data_b = words[address_b[14:2]];
            assign parity_b = 4'bx;
        end
        else if (READ_WIDTH_B == 9) begin : width_b_9
            reg [7:0] words [0:4095];
            integer i;
            initial for (i = 0; i < 4096; i = i + 1) words[i] = DATA[i * 8 +: 8];
            assign data_b = words[address_b[14:3]];
            reg [0:0] marks [0:4095];
            integer j;
            initial for (j = 0; j < 4096; j = j + 1) marks[j] = PARITY[j * 1 +: 1];
            assign parity_b = marks[address_b[14:3]];
        end
        else if (READ_WIDTH_B == 18) begin : width_b_18
            reg [15:0] words [0:2047];
            integer i;
            initial for (i = 0; i < 2048; i = i + 1) words[i] = DATA[i * 16 +: 16];
            assign data_b = words[address_b[14:4]];
            reg [1:0] marks [0:2047];
            integer j;
            initial for (j = 0; j < 2048; j = j + 1) marks[j] = PARITY[j * 2 +: 2];
            assign parity_b = marks[address_b[14:4]];
        end
        else if (READ_WIDTH_B == 36) begin : width_b_36
            reg [31:0] words [0:1023];
            integer i;
            initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 32 +: 32];
            assign data_b = words[address_b[14:5]];
            reg [3:0] marks [0:1023];
            integer j;
            initial for (j = 0; j < 1024; j = j + 1) marks[j] = PARITY[j * 4 +: 4];
            assign parity_b = marks[address_b[14:5]];
        end
        else begin : width_b_other
            assign data_b = 32'bx;
            assign parity_b = 4'bx;
        end
    endgenerate
    reg [31:0] q_a = INIT_A[31:0];
    reg [3:0] p_a = INIT_A[35:32];
    reg [31:0] q2_a = INIT_A[31:0];
    reg [3:0] p2_a = INIT_A[35:32];
    wire take_a = REGCEAREGCE;
    wire clear_a = rstreg_a & (RSTREG_PRIORITY_A == "RSTREG" || REGCEAREGCE);
    generate
        if (IS_CLKARDCLK_INVERTED) begin
            always @(negedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[31:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[35:32] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[31:0];
                    p2_a <= SRVAL_A[35:32];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end else begin
            always @(posedge CLKARDCLK) begin
                if (en_a) begin
                    q_a <= rst_a ? SRVAL_A[31:0] : data_a;
                    p_a <= rst_a ? SRVAL_A[35:32] : parity_a;
                end
                if (clear_a) begin
                    q2_a <= SRVAL_A[31:0];
                    p2_a <= SRVAL_A[35:32];
                end else if (take_a) begin
                    q2_a <= q_a;
                    p2_a <= p_a;
                end
            end
        end
        if (DOA_REG) begin
            assign DOUTADOUT = q2_a;
            assign DOUTPADOUTP = p2_a;
        end else begin
            assign DOUTADOUT = q_a;
            assign DOUTPADOUTP = p_a;
        end
    endgenerate
    reg [31:0] q_b = INIT_B[31:0];
    reg [3:0] p_b = INIT_B[35:32];
    reg [31:0] q2_b = INIT_B[31:0];
    reg [3:0] p2_b = INIT_B[35:32];
    wire take_b = REGCEB;
    wire clear_b = rstreg_b & (RSTREG_PRIORITY_B == "RSTREG" || REGCEB);
    generate
        if (IS_CLKBWRCLK_INVERTED) begin
            always @(negedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[31:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[35:32] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[31:0];
                    p2_b <= SRVAL_B[35:32];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end else begin
            always @(posedge CLKBWRCLK) begin
                if (en_b) begin
                    q_b <= rst_b ? SRVAL_B[31:0] : data_b;
                    p_b <= rst_b ? SRVAL_B[35:32] : parity_b;
                end
                if (clear_b) begin
                    q2_b <= SRVAL_B[31:0];
                    p2_b <= SRVAL_B[35:32];
                end else if (take_b) begin
                    q2_b <= q_b;
                    p2_b <= p_b;
                end
            end
        end
        if (DOB_REG) begin
            assign DOUTBDOUT = q2_b;
            assign DOUTPBDOUTP = p2_b;
        end else begin
            assign DOUTBDOUT = q_b;
            assign DOUTPBDOUTP = p_b;
        end
    endgenerate
endmodule

// Multiplier, adders and registers in every use without SIMD, pattern detection, logic functions and carry inputs from
// cascades. Modes that are not modelled give undefined results.
module DSP48E1 (output [47:0] P, output [47:0] PCOUT, output [29:0] ACOUT, output [17:0] BCOUT, output [3:0] CARRYOUT,
    output CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW,
    input CLK, input [29:0] A, input [17:0] B, input [47:0] C, input [24:0] D, input CARRYIN, input [29:0] ACIN, input [17:0] BCIN,
    input [47:0] PCIN, input CARRYCASCIN, MULTSIGNIN, input [2:0] CARRYINSEL, input [3:0] ALUMODE, input [4:0] INMODE,
    input [6:0] OPMODE, input CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
    input RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP);
    parameter integer ACASCREG = 1;
    parameter integer ADREG = 1;
    parameter integer ALUMODEREG = 1;
    parameter integer AREG = 1;
    parameter integer BCASCREG = 1;
    parameter integer BREG = 1;
    parameter integer CARRYINREG = 1;
    parameter integer CARRYINSELREG = 1;
    parameter integer CREG = 1;
    parameter integer DREG = 1;
    parameter integer INMODEREG = 1;
    parameter integer MREG = 1;
    parameter integer OPMODEREG = 1;
    parameter integer PREG = 1;
    parameter A_INPUT = "DIRECT";
    parameter B_INPUT = "DIRECT";
    parameter USE_MULT = "MULTIPLY";
    parameter USE_SIMD = "ONE48";
    parameter USE_PATTERN_DETECT = "NO_PATDET";
    parameter AUTORESET_PATDET = "NO_RESET";
    parameter SEL_MASK = "MASK";
    parameter SEL_PATTERN = "PATTERN";
    parameter USE_DPORT = "FALSE";
    parameter [47:0] MASK = 48'h3fffffffffff;
    parameter [47:0] PATTERN = 48'h0;
    parameter [3:0] IS_ALUMODE_INVERTED = 0;
    parameter [0:0] IS_CARRYIN_INVERTED = 0;
    parameter [0:0] IS_CLK_INVERTED = 0;
    parameter [4:0] IS_INMODE_INVERTED = 0;
    parameter [6:0] IS_OPMODE_INVERTED = 0;
    wire [29:0] a0;
    wire [17:0] b0;
    generate
        if (A_INPUT == "CASCADE") assign a0 = ACIN;
        else assign a0 = A;
        if (B_INPUT == "CASCADE") assign b0 = BCIN;
        else assign b0 = B;
    endgenerate
    wire [29:0] a1;
    generate
        if (AREG == 2) begin : reg_a1
            reg [29:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTA) q <= 0; else if (CEA1) q <= a0;
            end else begin
                always @(posedge CLK) if (RSTA) q <= 0; else if (CEA1) q <= a0;
            end
            assign a1 = q;
        end else begin : no_a1
            assign a1 = a0;
        end
    endgenerate
    wire [29:0] a2;
    generate
        if (AREG != 0) begin : reg_a2
            reg [29:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTA) q <= 0; else if (CEA2) q <= a1;
            end else begin
                always @(posedge CLK) if (RSTA) q <= 0; else if (CEA2) q <= a1;
            end
            assign a2 = q;
        end else begin : no_a2
            assign a2 = a1;
        end
    endgenerate
    wire [17:0] b1;
    generate
        if (BREG == 2) begin : reg_b1
            reg [17:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTB) q <= 0; else if (CEB1) q <= b0;
            end else begin
                always @(posedge CLK) if (RSTB) q <= 0; else if (CEB1) q <= b0;
            end
            assign b1 = q;
        end else begin : no_b1
            assign b1 = b0;
        end
    endgenerate
    wire [17:0] b2;
    generate
        if (BREG != 0) begin : reg_b2
            reg [17:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTB) q <= 0; else if (CEB2) q <= b1;
            end else begin
                always @(posedge CLK) if (RSTB) q <= 0; else if (CEB2) q <= b1;
            end
            assign b2 = q;
        end else begin : no_b2
            assign b2 = b1;
        end
    endgenerate
    wire [47:0] c;
    generate
        if (CREG != 0) begin : reg_c
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTC) q <= 0; else if (CEC) q <= C;
            end else begin
                always @(posedge CLK) if (RSTC) q <= 0; else if (CEC) q <= C;
            end
            assign c = q;
        end else begin : no_c
            assign c = C;
        end
    endgenerate
    wire [24:0] d;
    generate
        if (DREG != 0) begin : reg_d
            reg [24:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTD) q <= 0; else if (CED) q <= D;
            end else begin
                always @(posedge CLK) if (RSTD) q <= 0; else if (CED) q <= D;
            end
            assign d = q;
        end else begin : no_d
            assign d = D;
        end
    endgenerate
    wire [4:0] inmode0 = INMODE ^ IS_INMODE_INVERTED;
    wire [6:0] opmode0 = OPMODE ^ IS_OPMODE_INVERTED;
    wire [3:0] alumode0 = ALUMODE ^ IS_ALUMODE_INVERTED;
    wire carryin0 = IS_CARRYIN_INVERTED ? ~CARRYIN : CARRYIN;
    wire [4:0] inmode;
    generate
        if (INMODEREG != 0) begin : reg_inmode
            reg [4:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTINMODE) q <= 0; else if (CEINMODE) q <= inmode0;
            end else begin
                always @(posedge CLK) if (RSTINMODE) q <= 0; else if (CEINMODE) q <= inmode0;
            end
            assign inmode = q;
        end else begin : no_inmode
            assign inmode = inmode0;
        end
    endgenerate
    wire [6:0] opmode;
    generate
        if (OPMODEREG != 0) begin : reg_opmode
            reg [6:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTCTRL) q <= 0; else if (CECTRL) q <= opmode0;
            end else begin
                always @(posedge CLK) if (RSTCTRL) q <= 0; else if (CECTRL) q <= opmode0;
            end
            assign opmode = q;
        end else begin : no_opmode
            assign opmode = opmode0;
        end
    endgenerate
    wire [3:0] alumode;
    generate
        if (ALUMODEREG != 0) begin : reg_alumode
            reg [3:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTALUMODE) q <= 0; else if (CEALUMODE) q <= alumode0;
            end else begin
                always @(posedge CLK) if (RSTALUMODE) q <= 0; else if (CEALUMODE) q <= alumode0;
            end
            assign alumode = q;
        end else begin : no_alumode
            assign alumode = alumode0;
        end
    endgenerate
    wire [2:0] carryinsel;
    generate
        if (CARRYINSELREG != 0) begin : reg_carryinsel
            reg [2:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTCTRL) q <= 0; else if (CECTRL) q <= CARRYINSEL;
            end else begin
                always @(posedge CLK) if (RSTCTRL) q <= 0; else if (CECTRL) q <= CARRYINSEL;
            end
            assign carryinsel = q;
        end else begin : no_carryinsel
            assign carryinsel = CARRYINSEL;
        end
    endgenerate
    wire [0:0] carryin;
    generate
        if (CARRYINREG != 0) begin : reg_carryin
            reg [0:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTALLCARRYIN) q <= 0; else if (CECARRYIN) q <= carryin0;
            end else begin
                always @(posedge CLK) if (RSTALLCARRYIN) q <= 0; else if (CECARRYIN) q <= carryin0;
            end
            assign carryin = q;
        end else begin : no_carryin
            assign carryin = carryin0;
        end
    endgenerate
    generate
        if (ACASCREG == AREG) assign ACOUT = a2;
        else assign ACOUT = a1;
        if (BCASCREG == BREG) assign BCOUT = b2;
        else assign BCOUT = b1;
    endgenerate
    // A1 is chosen where two registers are used; with one register A1 and A2 are the same.
    wire [24:0] ai = inmode[1] ? 25'd0 : inmode[0] ? a1[24:0] : a2[24:0];
    wire [17:0] bi = inmode[4] ? b1 : b2;
    wire [24:0] di = inmode[2] ? d : 25'd0;
    wire [24:0] sum = inmode[3] ? di - ai : di + ai;
    wire [24:0] ad;
    generate
        if (ADREG != 0) begin : reg_ad
            reg [24:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTD) q <= 0; else if (CEAD) q <= sum;
            end else begin
                always @(posedge CLK) if (RSTD) q <= 0; else if (CEAD) q <= sum;
            end
            assign ad = q;
        end else begin : no_ad
            assign ad = sum;
        end
    endgenerate
    wire [24:0] ma;
    generate
        if (USE_DPORT == "TRUE") assign ma = ad;
        else assign ma = ai;
    endgenerate
    wire [17:0] mb = bi;
    wire [47:0] product = {{23{ma[24]}}, ma} * {{30{mb[17]}}, mb};
    wire [47:0] m;
    generate
        if (MREG != 0) begin : reg_m
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTM) q <= 0; else if (CEM) q <= product;
            end else begin
                always @(posedge CLK) if (RSTM) q <= 0; else if (CEM) q <= product;
            end
            assign m = q;
        end else begin : no_m
            assign m = product;
        end
    endgenerate
    wire is_plain = USE_SIMD == "ONE48" && carryinsel == 3'd0;
    wire [47:0] p;
    reg [47:0] x, y, z;
    always @* begin
        case (opmode[1:0])
            2'b00: x = 48'd0;
            2'b01: x = m;
            2'b10: x = p;
            default: x = {a2, b2};
        endcase
        // The two parts of a product come through X and Y: with X as the product Y is nothing more.
        case (opmode[3:2])
            2'b00: y = opmode[1:0] == 2'b01 ? 48'bx : 48'd0;
            2'b01: y = opmode[1:0] == 2'b01 ? 48'd0 : 48'bx;
            2'b10: y = {48{1'b1}};
            default: y = opmode[1:0] == 2'b01 ? 48'bx : c;
        endcase
        case (opmode[6:4])
            3'b000: z = 48'd0;
            3'b001: z = PCIN;
            3'b010: z = p;
            3'b011: z = c;
            3'b101: z = {{17{PCIN[47]}}, PCIN[47:17]};
            3'b110: z = {{17{p[47]}}, p[47:17]};
            default: z = 48'bx;
        endcase
    end
    wire [47:0] xy = x + y + {47'd0, carryin};
    reg [47:0] alu;
    always @* begin
        case (alumode)
            4'b0000: alu = z + xy;
            4'b0001: alu = xy + ~z;
            4'b0010: alu = ~(z + xy);
            4'b0011: alu = z - xy;
            default: alu = 48'bx;
        endcase
        if (!is_plain) alu = 48'bx;
    end
    wire [47:0] p_out;
    generate
        if (PREG != 0) begin : reg_p_out
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if (RSTP) q <= 0; else if (CEP) q <= alu;
            end else begin
                always @(posedge CLK) if (RSTP) q <= 0; else if (CEP) q <= alu;
            end
            assign p_out = q;
        end else begin : no_p_out
            assign p_out = alu;
        end
    endgenerate
    generate
        // Without the register P cannot be an operand.
        if (PREG != 0) assign p = p_out;
        else assign p = 48'bx;
    endgenerate
    assign P = p_out;
    assign PCOUT = p_out;
endmodule

// Multiplier, adders and registers in every use without SIMD, pattern detection, logic functions and carry inputs from
// cascades. Modes that are not modelled give undefined results.
module DSP48E2 (output [47:0] P, output [47:0] PCOUT, output [29:0] ACOUT, output [17:0] BCOUT, output [3:0] CARRYOUT,
    output CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW, output [7:0] XOROUT,
    input CLK, input [29:0] A, input [17:0] B, input [47:0] C, input [26:0] D, input CARRYIN, input [29:0] ACIN, input [17:0] BCIN,
    input [47:0] PCIN, input CARRYCASCIN, MULTSIGNIN, input [2:0] CARRYINSEL, input [3:0] ALUMODE, input [4:0] INMODE,
    input [8:0] OPMODE, input CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
    input RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP);
    parameter integer ACASCREG = 1;
    parameter integer ADREG = 1;
    parameter integer ALUMODEREG = 1;
    parameter integer AREG = 1;
    parameter integer BCASCREG = 1;
    parameter integer BREG = 1;
    parameter integer CARRYINREG = 1;
    parameter integer CARRYINSELREG = 1;
    parameter integer CREG = 1;
    parameter integer DREG = 1;
    parameter integer INMODEREG = 1;
    parameter integer MREG = 1;
    parameter integer OPMODEREG = 1;
    parameter integer PREG = 1;
    parameter A_INPUT = "DIRECT";
    parameter B_INPUT = "DIRECT";
    parameter USE_MULT = "MULTIPLY";
    parameter USE_SIMD = "ONE48";
    parameter USE_PATTERN_DETECT = "NO_PATDET";
    parameter AUTORESET_PATDET = "NO_RESET";
    parameter SEL_MASK = "MASK";
    parameter SEL_PATTERN = "PATTERN";
    parameter AMULTSEL = "A";
    parameter BMULTSEL = "B";
    parameter PREADDINSEL = "A";
    parameter USE_WIDEXOR = "FALSE";
    parameter XORSIMD = "XOR24_48_96";
    parameter AUTORESET_PRIORITY = "RESET";
    parameter [47:0] MASK = 48'h3fffffffffff;
    parameter [47:0] PATTERN = 48'h0;
    parameter [47:0] RND = 48'h0;
    parameter [3:0] IS_ALUMODE_INVERTED = 0;
    parameter [0:0] IS_CARRYIN_INVERTED = 0;
    parameter [0:0] IS_CLK_INVERTED = 0;
    parameter [4:0] IS_INMODE_INVERTED = 0;
    parameter [8:0] IS_OPMODE_INVERTED = 0;
    parameter [0:0] IS_RSTA_INVERTED = 0;
    parameter [0:0] IS_RSTALLCARRYIN_INVERTED = 0;
    parameter [0:0] IS_RSTALUMODE_INVERTED = 0;
    parameter [0:0] IS_RSTB_INVERTED = 0;
    parameter [0:0] IS_RSTC_INVERTED = 0;
    parameter [0:0] IS_RSTCTRL_INVERTED = 0;
    parameter [0:0] IS_RSTD_INVERTED = 0;
    parameter [0:0] IS_RSTINMODE_INVERTED = 0;
    parameter [0:0] IS_RSTM_INVERTED = 0;
    parameter [0:0] IS_RSTP_INVERTED = 0;
    wire [29:0] a0;
    wire [17:0] b0;
    generate
        if (A_INPUT == "CASCADE") assign a0 = ACIN;
        else assign a0 = A;
        if (B_INPUT == "CASCADE") assign b0 = BCIN;
        else assign b0 = B;
    endgenerate
    wire [29:0] a1;
    generate
        if (AREG == 2) begin : reg_a1
            reg [29:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTA_INVERTED ? ~RSTA : RSTA)) q <= 0; else if (CEA1) q <= a0;
            end else begin
                always @(posedge CLK) if ((IS_RSTA_INVERTED ? ~RSTA : RSTA)) q <= 0; else if (CEA1) q <= a0;
            end
            assign a1 = q;
        end else begin : no_a1
            assign a1 = a0;
        end
    endgenerate
    wire [29:0] a2;
    generate
        if (AREG != 0) begin : reg_a2
            reg [29:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTA_INVERTED ? ~RSTA : RSTA)) q <= 0; else if (CEA2) q <= a1;
            end else begin
                always @(posedge CLK) if ((IS_RSTA_INVERTED ? ~RSTA : RSTA)) q <= 0; else if (CEA2) q <= a1;
            end
            assign a2 = q;
        end else begin : no_a2
            assign a2 = a1;
        end
    endgenerate
    wire [17:0] b1;
    generate
        if (BREG == 2) begin : reg_b1
            reg [17:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTB_INVERTED ? ~RSTB : RSTB)) q <= 0; else if (CEB1) q <= b0;
            end else begin
                always @(posedge CLK) if ((IS_RSTB_INVERTED ? ~RSTB : RSTB)) q <= 0; else if (CEB1) q <= b0;
            end
            assign b1 = q;
        end else begin : no_b1
            assign b1 = b0;
        end
    endgenerate
    wire [17:0] b2;
    generate
        if (BREG != 0) begin : reg_b2
            reg [17:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTB_INVERTED ? ~RSTB : RSTB)) q <= 0; else if (CEB2) q <= b1;
            end else begin
                always @(posedge CLK) if ((IS_RSTB_INVERTED ? ~RSTB : RSTB)) q <= 0; else if (CEB2) q <= b1;
            end
            assign b2 = q;
        end else begin : no_b2
            assign b2 = b1;
        end
    endgenerate
    wire [47:0] c;
    generate
        if (CREG != 0) begin : reg_c
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTC_INVERTED ? ~RSTC : RSTC)) q <= 0; else if (CEC) q <= C;
            end else begin
                always @(posedge CLK) if ((IS_RSTC_INVERTED ? ~RSTC : RSTC)) q <= 0; else if (CEC) q <= C;
            end
            assign c = q;
        end else begin : no_c
            assign c = C;
        end
    endgenerate
    wire [26:0] d;
    generate
        if (DREG != 0) begin : reg_d
            reg [26:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTD_INVERTED ? ~RSTD : RSTD)) q <= 0; else if (CED) q <= D;
            end else begin
                always @(posedge CLK) if ((IS_RSTD_INVERTED ? ~RSTD : RSTD)) q <= 0; else if (CED) q <= D;
            end
            assign d = q;
        end else begin : no_d
            assign d = D;
        end
    endgenerate
    wire [4:0] inmode0 = INMODE ^ IS_INMODE_INVERTED;
    wire [8:0] opmode0 = OPMODE ^ IS_OPMODE_INVERTED;
    wire [3:0] alumode0 = ALUMODE ^ IS_ALUMODE_INVERTED;
    wire carryin0 = IS_CARRYIN_INVERTED ? ~CARRYIN : CARRYIN;
    wire [4:0] inmode;
    generate
        if (INMODEREG != 0) begin : reg_inmode
            reg [4:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTINMODE_INVERTED ? ~RSTINMODE : RSTINMODE)) q <= 0; else if (CEINMODE) q <= inmode0;
            end else begin
                always @(posedge CLK) if ((IS_RSTINMODE_INVERTED ? ~RSTINMODE : RSTINMODE)) q <= 0; else if (CEINMODE) q <= inmode0;
            end
            assign inmode = q;
        end else begin : no_inmode
            assign inmode = inmode0;
        end
    endgenerate
    wire [8:0] opmode;
    generate
        if (OPMODEREG != 0) begin : reg_opmode
            reg [8:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTCTRL_INVERTED ? ~RSTCTRL : RSTCTRL)) q <= 0; else if (CECTRL) q <= opmode0;
            end else begin
                always @(posedge CLK) if ((IS_RSTCTRL_INVERTED ? ~RSTCTRL : RSTCTRL)) q <= 0; else if (CECTRL) q <= opmode0;
            end
            assign opmode = q;
        end else begin : no_opmode
            assign opmode = opmode0;
        end
    endgenerate
    wire [3:0] alumode;
    generate
        if (ALUMODEREG != 0) begin : reg_alumode
            reg [3:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTALUMODE_INVERTED ? ~RSTALUMODE : RSTALUMODE)) q <= 0; else if (CEALUMODE) q <= alumode0;
            end else begin
                always @(posedge CLK) if ((IS_RSTALUMODE_INVERTED ? ~RSTALUMODE : RSTALUMODE)) q <= 0; else if (CEALUMODE) q <= alumode0;
            end
            assign alumode = q;
        end else begin : no_alumode
            assign alumode = alumode0;
        end
    endgenerate
    wire [2:0] carryinsel;
    generate
        if (CARRYINSELREG != 0) begin : reg_carryinsel
            reg [2:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTCTRL_INVERTED ? ~RSTCTRL : RSTCTRL)) q <= 0; else if (CECTRL) q <= CARRYINSEL;
            end else begin
                always @(posedge CLK) if ((IS_RSTCTRL_INVERTED ? ~RSTCTRL : RSTCTRL)) q <= 0; else if (CECTRL) q <= CARRYINSEL;
            end
            assign carryinsel = q;
        end else begin : no_carryinsel
            assign carryinsel = CARRYINSEL;
        end
    endgenerate
    wire [0:0] carryin;
    generate
        if (CARRYINREG != 0) begin : reg_carryin
            reg [0:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTALLCARRYIN_INVERTED ? ~RSTALLCARRYIN : RSTALLCARRYIN)) q <= 0; else if (CECARRYIN) q <= carryin0;
            end else begin
                always @(posedge CLK) if ((IS_RSTALLCARRYIN_INVERTED ? ~RSTALLCARRYIN : RSTALLCARRYIN)) q <= 0; else if (CECARRYIN) q <= carryin0;
            end
            assign carryin = q;
        end else begin : no_carryin
            assign carryin = carryin0;
        end
    endgenerate
    generate
        if (ACASCREG == AREG) assign ACOUT = a2;
        else assign ACOUT = a1;
        if (BCASCREG == BREG) assign BCOUT = b2;
        else assign BCOUT = b1;
    endgenerate
    wire [26:0] ai = inmode[1] ? 27'd0 : inmode[0] ? a1[26:0] : a2[26:0];
    wire [17:0] bi = inmode[4] ? b1 : b2;
    wire [17:0] bp = inmode[1] ? 18'd0 : bi;
    wire [26:0] di = inmode[2] ? d : 27'd0;
    wire [26:0] pre;
    generate
        if (PREADDINSEL == "B") assign pre = {{9{bp[17]}}, bp};
        else assign pre = ai;
    endgenerate
    wire [26:0] sum = inmode[3] ? di - pre : di + pre;
    wire [26:0] ad;
    generate
        if (ADREG != 0) begin : reg_ad
            reg [26:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTD_INVERTED ? ~RSTD : RSTD)) q <= 0; else if (CEAD) q <= sum;
            end else begin
                always @(posedge CLK) if ((IS_RSTD_INVERTED ? ~RSTD : RSTD)) q <= 0; else if (CEAD) q <= sum;
            end
            assign ad = q;
        end else begin : no_ad
            assign ad = sum;
        end
    endgenerate
    wire [26:0] ma;
    wire [17:0] mb;
    generate
        if (AMULTSEL == "AD") assign ma = ad;
        else if (PREADDINSEL == "B") assign ma = inmode[0] ? a1[26:0] : a2[26:0];
        else assign ma = ai;
        if (BMULTSEL == "AD") assign mb = ad[17:0];
        else if (PREADDINSEL == "B") assign mb = bp;
        else assign mb = bi;
    endgenerate
    wire [47:0] product = {{21{ma[26]}}, ma} * {{30{mb[17]}}, mb};
    wire [47:0] m;
    generate
        if (MREG != 0) begin : reg_m
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTM_INVERTED ? ~RSTM : RSTM)) q <= 0; else if (CEM) q <= product;
            end else begin
                always @(posedge CLK) if ((IS_RSTM_INVERTED ? ~RSTM : RSTM)) q <= 0; else if (CEM) q <= product;
            end
            assign m = q;
        end else begin : no_m
            assign m = product;
        end
    endgenerate
    wire is_plain = USE_SIMD == "ONE48" && carryinsel == 3'd0;
    wire [47:0] p;
    reg [47:0] x, y, z, w;
    always @* begin
        case (opmode[1:0])
            2'b00: x = 48'd0;
            2'b01: x = m;
            2'b10: x = p;
            default: x = {a2, b2};
        endcase
        // The two parts of a product come through X and Y: with X as the product Y is nothing more.
        case (opmode[3:2])
            2'b00: y = opmode[1:0] == 2'b01 ? 48'bx : 48'd0;
            2'b01: y = opmode[1:0] == 2'b01 ? 48'd0 : 48'bx;
            2'b10: y = {48{1'b1}};
            default: y = opmode[1:0] == 2'b01 ? 48'bx : c;
        endcase
        case (opmode[6:4])
            3'b000: z = 48'd0;
            3'b001: z = PCIN;
            3'b010: z = p;
            3'b011: z = c;
            3'b101: z = {{17{PCIN[47]}}, PCIN[47:17]};
            3'b110: z = {{17{p[47]}}, p[47:17]};
            default: z = 48'bx;
        endcase
        case (opmode[8:7])
            2'b00: w = 48'd0;
            2'b01: w = p;
            2'b10: w = RND;
            default: w = c;
        endcase
    end
    wire [47:0] xy = x + y + w + {47'd0, carryin};
    reg [47:0] alu;
    always @* begin
        case (alumode)
            4'b0000: alu = z + xy;
            4'b0001: alu = xy + ~z;
            4'b0010: alu = ~(z + xy);
            4'b0011: alu = z - xy;
            default: alu = 48'bx;
        endcase
        if (!is_plain) alu = 48'bx;
    end
    wire [47:0] p_out;
    generate
        if (PREG != 0) begin : reg_p_out
            reg [47:0] q = 0;
            if (IS_CLK_INVERTED) begin
                always @(negedge CLK) if ((IS_RSTP_INVERTED ? ~RSTP : RSTP)) q <= 0; else if (CEP) q <= alu;
            end else begin
                always @(posedge CLK) if ((IS_RSTP_INVERTED ? ~RSTP : RSTP)) q <= 0; else if (CEP) q <= alu;
            end
            assign p_out = q;
        end else begin : no_p_out
            assign p_out = alu;
        end
    endgenerate
    generate
        // Without the register P cannot be an operand.
        if (PREG != 0) assign p = p_out;
        else assign p = 48'bx;
    endgenerate
    assign P = p_out;
    assign PCOUT = p_out;
endmodule
