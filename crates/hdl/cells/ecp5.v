// Cells of Lattice ECP5.
//
// Written from the FPGA libraries reference guide of Lattice Diamond, FPGA-TN-02204 (memory) and FPGA-TN-02205 (DSP), and for the
// cells after packing from the documentation of Project Trellis. A port `must_be_zero` says when a cell is used in a way that is not
// modelled; `unconnected_X` is the value of a port X that nothing is connected to.

module LUT2 (output Z, input A, B);
    parameter [3:0] INIT = 0;
    wire [1:0] a = {B, A};
    assign Z = INIT[a];
endmodule

module LUT4 (output Z, input A, B, C, D);
    parameter [15:0] INIT = 0;
    wire [3:0] a = {D, C, B, A};
    assign Z = INIT[a];
endmodule

module PFUMX (output Z, input ALUT, BLUT, C0);
    assign Z = C0 ? ALUT : BLUT;
endmodule

module L6MUX21 (output Z, input D0, D1, SD);
    assign Z = SD ? D1 : D0;
endmodule

module INV (output Z, input A);
    assign Z = ~A;
endmodule

module VLO (output Z);
    assign Z = 1'b0;
endmodule

module VHI (output Z);
    assign Z = 1'b1;
endmodule

// Two bits of a sum: a look-up table of four inputs makes the half sum, one of its first two inputs the carry that begins here.
module CCU2C (output S0, S1, COUT, input CIN, A0, B0, C0, D0, A1, B1, C1, D1);
    parameter [15:0] INIT0 = 0;
    parameter [15:0] INIT1 = 0;
    parameter INJECT1_0 = "YES";
    parameter INJECT1_1 = "YES";
    localparam [3:0] LOW0 = INIT0[3:0];
    localparam [3:0] LOW1 = INIT1[3:0];
    wire [3:0] a = {D0, C0, B0, A0};
    wire [3:0] b = {D1, C1, B1, A1};
    wire [1:0] al = {B0, A0};
    wire [1:0] bl = {B1, A1};
    wire half0 = INIT0[a];
    wire half1 = INIT1[b];
    wire begin0 = INJECT1_0 == "YES" ? 1'b0 : LOW0[al];
    wire begin1 = INJECT1_1 == "YES" ? 1'b0 : LOW1[bl];
    wire carry = half0 ? CIN : begin0;
    assign S0 = INJECT1_0 == "YES" ? half0 : half0 ^ CIN;
    assign S1 = INJECT1_1 == "YES" ? half1 : half1 ^ carry;
    assign COUT = half1 ? carry : begin1;
endmodule

module TRELLIS_FF (output Q, must_be_zero, input CLK, LSR, CE, DI, M);
    parameter GSR = "ENABLED";
    parameter [127:0] CEMUX = "1";
    parameter CLKMUX = "CLK";
    parameter LSRMUX = "LSR";
    parameter SRMODE = "LSR_OVER_CE";
    parameter REGSET = "RESET";
    parameter SD = "0";
    parameter [127:0] LSRMODE = "LSR";
    localparam VALUE = REGSET == "SET";
    assign must_be_zero = (CLKMUX != "CLK" && CLKMUX != "INV") || (LSRMUX != "LSR" && LSRMUX != "INV") || (SRMODE != "LSR_OVER_CE" && SRMODE != "ASYNC")
        || (REGSET != "SET" && REGSET != "RESET") || (CEMUX != "1" && CEMUX != "0" && CEMUX != "CE" && CEMUX != "INV")
        || (LSRMODE != "LSR" && (LSRMODE != "PRLD" || SRMODE == "ASYNC"));
    wire unconnected_CE = 1'b1;
    wire unconnected_LSR = 1'b0;
    wire ce = CEMUX == "1" ? 1'b1 : CEMUX == "0" ? 1'b0 : CEMUX == "INV" ? ~CE : CE;
    wire lsr = LSRMUX == "INV" ? ~LSR : LSR;
    wire value = LSRMODE == "PRLD" ? M : VALUE;
    reg q = VALUE;
    assign Q = q;
    generate
        if (SRMODE == "ASYNC" && CLKMUX == "INV" && LSRMUX == "INV") begin
            always @(negedge CLK or negedge LSR) if (!LSR) q <= VALUE; else if (ce) q <= DI;
        end else if (SRMODE == "ASYNC" && CLKMUX == "INV") begin
            always @(negedge CLK or posedge LSR) if (LSR) q <= VALUE; else if (ce) q <= DI;
        end else if (SRMODE == "ASYNC" && LSRMUX == "INV") begin
            always @(posedge CLK or negedge LSR) if (!LSR) q <= VALUE; else if (ce) q <= DI;
        end else if (SRMODE == "ASYNC") begin
            always @(posedge CLK or posedge LSR) if (LSR) q <= VALUE; else if (ce) q <= DI;
        end else if (CLKMUX == "INV") begin
            always @(negedge CLK) if (lsr) q <= value; else if (ce) q <= DI;
        end else begin
            always @(posedge CLK) if (lsr) q <= value; else if (ce) q <= DI;
        end
    endgenerate
endmodule

// A look-up table after packing, with the multiplexer that follows it and one bit of a carry chain.
module TRELLIS_COMB (output F, FCO, OFX, must_be_zero, input A, B, C, D, M, F1, FCI, FXA, FXB, WD, WAD0, WAD1, WAD2, WAD3, WRE, WCK);
    parameter MODE = "LOGIC";
    parameter [15:0] INITVAL = 0;
    parameter CCU2_INJECT1 = "YES";
    parameter A0MUX = "A";
    parameter WREMUX = "WRE";
    parameter WCKMUX = "WCK";
    // 1 where FXA or FXB is connected.
    parameter [0:0] CHOOSES_FX = 0;
    localparam [3:0] LOW = INITVAL[3:0];
    wire unconnected_A = 1'b1;
    wire unconnected_B = 1'b1;
    wire unconnected_C = 1'b1;
    wire unconnected_D = 1'b1;
    wire [3:0] a = {D, C, B, A};
    wire [1:0] al = {B, A};
    wire half = INITVAL[a];
    wire start = CCU2_INJECT1 == "YES" ? 1'b0 : LOW[al];
    assign must_be_zero = MODE != "LOGIC" && MODE != "CCU2";
    assign F = MODE == "CCU2" && CCU2_INJECT1 != "YES" ? half ^ FCI : half;
    assign FCO = half ? FCI : start;
    // The even half of a slice chooses between its table and the odd one; the odd half between two such results.
    assign OFX = CHOOSES_FX ? (M ? FXB : FXA) : (M ? F1 : half);
endmodule

// Read only: writes are not modelled. Words of 18 bits lie in 20 bits of INITVAL.
module DP16KD (output must_be_zero,
    output DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11, DOA12, DOA13, DOA14, DOA15, DOA16, DOA17, DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13, DOB14, DOB15, DOB16, DOB17,
    input DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15, DIA16, DIA17, ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13, CEA, OCEA, CLKA, WEA, RSTA, CSA0, CSA1, CSA2, DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9, DIB10, DIB11, DIB12, DIB13, DIB14, DIB15, DIB16, DIB17, ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13, CEB, OCEB, CLKB, WEB, RSTB, CSB0, CSB1, CSB2);
    parameter integer DATA_WIDTH_A = 18;
    parameter REGMODE_A = "NOREG";
    parameter CSDECODE_A = "0b000";
    parameter WRITEMODE_A = "NORMAL";
    parameter CEAMUX = "CEA";
    parameter OCEAMUX = "OCEA";
    parameter CLKAMUX = "CLKA";
    parameter WEAMUX = "WEA";
    parameter RSTAMUX = "RSTA";
    parameter CSA0MUX = "CSA0";
    parameter CSA1MUX = "CSA1";
    parameter CSA2MUX = "CSA2";
    parameter integer DATA_WIDTH_B = 18;
    parameter REGMODE_B = "NOREG";
    parameter CSDECODE_B = "0b000";
    parameter WRITEMODE_B = "NORMAL";
    parameter CEBMUX = "CEB";
    parameter OCEBMUX = "OCEB";
    parameter CLKBMUX = "CLKB";
    parameter WEBMUX = "WEB";
    parameter RSTBMUX = "RSTB";
    parameter CSB0MUX = "CSB0";
    parameter CSB1MUX = "CSB1";
    parameter CSB2MUX = "CSB2";
    parameter RESETMODE = "SYNC";
    parameter ASYNC_RESET_RELEASE = "SYNC";
    parameter GSR = "ENABLED";
    parameter integer WID = 0;
    parameter INIT_DATA = "STATIC";
    parameter [319:0] INITVAL_00 = 0;
    parameter [319:0] INITVAL_01 = 0;
    parameter [319:0] INITVAL_02 = 0;
    parameter [319:0] INITVAL_03 = 0;
    parameter [319:0] INITVAL_04 = 0;
    parameter [319:0] INITVAL_05 = 0;
    parameter [319:0] INITVAL_06 = 0;
    parameter [319:0] INITVAL_07 = 0;
    parameter [319:0] INITVAL_08 = 0;
    parameter [319:0] INITVAL_09 = 0;
    parameter [319:0] INITVAL_0A = 0;
    parameter [319:0] INITVAL_0B = 0;
    parameter [319:0] INITVAL_0C = 0;
    parameter [319:0] INITVAL_0D = 0;
    parameter [319:0] INITVAL_0E = 0;
    parameter [319:0] INITVAL_0F = 0;
    parameter [319:0] INITVAL_10 = 0;
    parameter [319:0] INITVAL_11 = 0;
    parameter [319:0] INITVAL_12 = 0;
    parameter [319:0] INITVAL_13 = 0;
    parameter [319:0] INITVAL_14 = 0;
    parameter [319:0] INITVAL_15 = 0;
    parameter [319:0] INITVAL_16 = 0;
    parameter [319:0] INITVAL_17 = 0;
    parameter [319:0] INITVAL_18 = 0;
    parameter [319:0] INITVAL_19 = 0;
    parameter [319:0] INITVAL_1A = 0;
    parameter [319:0] INITVAL_1B = 0;
    parameter [319:0] INITVAL_1C = 0;
    parameter [319:0] INITVAL_1D = 0;
    parameter [319:0] INITVAL_1E = 0;
    parameter [319:0] INITVAL_1F = 0;
    parameter [319:0] INITVAL_20 = 0;
    parameter [319:0] INITVAL_21 = 0;
    parameter [319:0] INITVAL_22 = 0;
    parameter [319:0] INITVAL_23 = 0;
    parameter [319:0] INITVAL_24 = 0;
    parameter [319:0] INITVAL_25 = 0;
    parameter [319:0] INITVAL_26 = 0;
    parameter [319:0] INITVAL_27 = 0;
    parameter [319:0] INITVAL_28 = 0;
    parameter [319:0] INITVAL_29 = 0;
    parameter [319:0] INITVAL_2A = 0;
    parameter [319:0] INITVAL_2B = 0;
    parameter [319:0] INITVAL_2C = 0;
    parameter [319:0] INITVAL_2D = 0;
    parameter [319:0] INITVAL_2E = 0;
    parameter [319:0] INITVAL_2F = 0;
    parameter [319:0] INITVAL_30 = 0;
    parameter [319:0] INITVAL_31 = 0;
    parameter [319:0] INITVAL_32 = 0;
    parameter [319:0] INITVAL_33 = 0;
    parameter [319:0] INITVAL_34 = 0;
    parameter [319:0] INITVAL_35 = 0;
    parameter [319:0] INITVAL_36 = 0;
    parameter [319:0] INITVAL_37 = 0;
    parameter [319:0] INITVAL_38 = 0;
    parameter [319:0] INITVAL_39 = 0;
    parameter [319:0] INITVAL_3A = 0;
    parameter [319:0] INITVAL_3B = 0;
    parameter [319:0] INITVAL_3C = 0;
    parameter [319:0] INITVAL_3D = 0;
    parameter [319:0] INITVAL_3E = 0;
    parameter [319:0] INITVAL_3F = 0;
    localparam [20479:0] DATA = {INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00};
    reg [17:0] words [0:1023];
    integer i;
    initial for (i = 0; i < 1024; i = i + 1) words[i] = DATA[i * 20 +: 18];
    wire unconnected_WEA = 1'b0;
    wire unconnected_RSTA = 1'b0;
    wire unconnected_CEA = 1'b1;
    wire unconnected_OCEA = 1'b1;
    wire unconnected_CSA0 = 1'b0;
    wire unconnected_CSA1 = 1'b0;
    wire unconnected_CSA2 = 1'b0;
    wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire cea = CEAMUX == "1" ? 1'b1 : CEAMUX == "0" ? 1'b0 : CEAMUX == "INV" ? ~CEA : CEA;
    wire ocea = OCEAMUX == "1" ? 1'b1 : OCEAMUX == "0" ? 1'b0 : OCEAMUX == "INV" ? ~OCEA : OCEA;
    wire rsta = RSTAMUX == "1" ? 1'b1 : RSTAMUX == "0" ? 1'b0 : RSTAMUX == "INV" ? ~RSTA : RSTA;
    wire [17:0] worda = words[ada[13:4]];
    reg [17:0] pickeda;
    // Narrow ports see 8 of the 9 bits of a byte, but for words of 9 and 18 bits.
    wire [8:0] bytea = ada[3] ? worda[17:9] : worda[8:0];
    wire [3:0] nibblea = ada[2] ? bytea[7:4] : bytea[3:0];
    wire [1:0] paira = ada[1] ? nibblea[3:2] : nibblea[1:0];
    always @* begin
        case (DATA_WIDTH_A)
            18: pickeda = worda;
            9: pickeda = {9'd0, bytea};
            4: pickeda = {14'd0, nibblea};
            2: pickeda = {16'd0, paira};
            1: pickeda = {17'd0, ada[0] ? paira[1] : paira[0]};
            default: pickeda = 18'bx;
        endcase
    end
    reg [17:0] qa = 0;
    reg [17:0] ra = 0;
    generate
        if (CLKAMUX == "INV") begin
            always @(negedge CLKA) begin
                if (cea) qa <= rsta ? 18'd0 : pickeda;
                if (ocea) ra <= rsta ? 18'd0 : qa;
            end
        end else begin
            always @(posedge CLKA) begin
                if (cea) qa <= rsta ? 18'd0 : pickeda;
                if (ocea) ra <= rsta ? 18'd0 : qa;
            end
        end
    endgenerate
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = REGMODE_A == "OUTREG" ? ra : qa;
    wire unconnected_WEB = 1'b0;
    wire unconnected_RSTB = 1'b0;
    wire unconnected_CEB = 1'b1;
    wire unconnected_OCEB = 1'b1;
    wire unconnected_CSB0 = 1'b0;
    wire unconnected_CSB1 = 1'b0;
    wire unconnected_CSB2 = 1'b0;
    wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire ceb = CEBMUX == "1" ? 1'b1 : CEBMUX == "0" ? 1'b0 : CEBMUX == "INV" ? ~CEB : CEB;
    wire oceb = OCEBMUX == "1" ? 1'b1 : OCEBMUX == "0" ? 1'b0 : OCEBMUX == "INV" ? ~OCEB : OCEB;
    wire rstb = RSTBMUX == "1" ? 1'b1 : RSTBMUX == "0" ? 1'b0 : RSTBMUX == "INV" ? ~RSTB : RSTB;
    // Which of a reset and an enable that is 0 goes first is not described.
    assign must_be_zero = (WEAMUX == "WEA" ? WEA : WEAMUX == "INV" ? ~WEA : WEAMUX == "1") | (WEBMUX == "WEB" ? WEB : WEBMUX == "INV" ? ~WEB : WEBMUX == "1")
        | CSA0 | CSA1 | CSA2 | CSB0 | CSB1 | CSB2 | CSDECODE_A != "0b000" | CSDECODE_B != "0b000"
        | (RESETMODE != "SYNC") & (rsta | rstb) | rsta & ~(cea & ocea) | rstb & ~(ceb & oceb)
        | (CEAMUX != "CEA" && CEAMUX != "INV" && CEAMUX != "0" && CEAMUX != "1") | (CEBMUX != "CEB" && CEBMUX != "INV" && CEBMUX != "0" && CEBMUX != "1") | (CLKAMUX != "CLKA" && CLKAMUX != "INV")
        | (CLKBMUX != "CLKB" && CLKBMUX != "INV") | CSA0MUX != "CSA0" | CSA1MUX != "CSA1"
        | CSA2MUX != "CSA2" | CSB0MUX != "CSB0" | CSB1MUX != "CSB1"
        | CSB2MUX != "CSB2" | (OCEAMUX != "OCEA" && OCEAMUX != "INV" && OCEAMUX != "0" && OCEAMUX != "1") | (OCEBMUX != "OCEB" && OCEBMUX != "INV" && OCEBMUX != "0" && OCEBMUX != "1")
        | (RSTAMUX != "RSTA" && RSTAMUX != "INV" && RSTAMUX != "0" && RSTAMUX != "1") | (RSTBMUX != "RSTB" && RSTBMUX != "INV" && RSTBMUX != "0" && RSTBMUX != "1") | (WEAMUX != "WEA" && WEAMUX != "INV" && WEAMUX != "0" && WEAMUX != "1")
        | (WEBMUX != "WEB" && WEBMUX != "INV" && WEBMUX != "0" && WEBMUX != "1");
    wire [17:0] wordb = words[adb[13:4]];
    reg [17:0] pickedb;
    // Narrow ports see 8 of the 9 bits of a byte, but for words of 9 and 18 bits.
    wire [8:0] byteb = adb[3] ? wordb[17:9] : wordb[8:0];
    wire [3:0] nibbleb = adb[2] ? byteb[7:4] : byteb[3:0];
    wire [1:0] pairb = adb[1] ? nibbleb[3:2] : nibbleb[1:0];
    always @* begin
        case (DATA_WIDTH_B)
            18: pickedb = wordb;
            9: pickedb = {9'd0, byteb};
            4: pickedb = {14'd0, nibbleb};
            2: pickedb = {16'd0, pairb};
            1: pickedb = {17'd0, adb[0] ? pairb[1] : pairb[0]};
            default: pickedb = 18'bx;
        endcase
    end
    reg [17:0] qb = 0;
    reg [17:0] rb = 0;
    generate
        if (CLKBMUX == "INV") begin
            always @(negedge CLKB) begin
                if (ceb) qb <= rstb ? 18'd0 : pickedb;
                if (oceb) rb <= rstb ? 18'd0 : qb;
            end
        end else begin
            always @(posedge CLKB) begin
                if (ceb) qb <= rstb ? 18'd0 : pickedb;
                if (oceb) rb <= rstb ? 18'd0 : qb;
            end
        end
    endgenerate
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = REGMODE_B == "OUTREG" ? rb : qb;
endmodule

// The product of two words of 18 bits, with registers before, inside and after it that share one clock.
module MULT18X18D (output P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35, output SIGNEDP, must_be_zero,
    output SROA0, SROA1, SROA2, SROA3, SROA4, SROA5, SROA6, SROA7, SROA8, SROA9, SROA10, SROA11, SROA12, SROA13, SROA14, SROA15, SROA16, SROA17, SROB0, SROB1, SROB2, SROB3, SROB4, SROB5, SROB6, SROB7, SROB8, SROB9, SROB10, SROB11, SROB12, SROB13, SROB14, SROB15, SROB16, SROB17,
    output ROA0, ROA1, ROA2, ROA3, ROA4, ROA5, ROA6, ROA7, ROA8, ROA9, ROA10, ROA11, ROA12, ROA13, ROA14, ROA15, ROA16, ROA17, ROB0, ROB1, ROB2, ROB3, ROB4, ROB5, ROB6, ROB7, ROB8, ROB9, ROB10, ROB11, ROB12, ROB13, ROB14, ROB15, ROB16, ROB17, ROC0, ROC1, ROC2, ROC3, ROC4, ROC5, ROC6, ROC7, ROC8, ROC9, ROC10, ROC11, ROC12, ROC13, ROC14, ROC15, ROC16, ROC17,
    input A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    input CLK0, CLK1, CLK2, CLK3, CE0, CE1, CE2, CE3, RST0, RST1, RST2, RST3,
    input SRIA0, SRIA1, SRIA2, SRIA3, SRIA4, SRIA5, SRIA6, SRIA7, SRIA8, SRIA9, SRIA10, SRIA11, SRIA12, SRIA13, SRIA14, SRIA15, SRIA16, SRIA17, SRIB0, SRIB1, SRIB2, SRIB3, SRIB4, SRIB5, SRIB6, SRIB7, SRIB8, SRIB9, SRIB10, SRIB11, SRIB12, SRIB13, SRIB14, SRIB15, SRIB16, SRIB17);
    parameter REG_INPUTA_CLK = "NONE";
    parameter REG_INPUTA_CE = "CE0";
    parameter REG_INPUTA_RST = "RST0";
    parameter REG_INPUTB_CLK = "NONE";
    parameter REG_INPUTB_CE = "CE0";
    parameter REG_INPUTB_RST = "RST0";
    parameter REG_INPUTC_CLK = "NONE";
    parameter REG_INPUTC_CE = "CE0";
    parameter REG_INPUTC_RST = "RST0";
    parameter REG_PIPELINE_CLK = "NONE";
    parameter REG_PIPELINE_CE = "CE0";
    parameter REG_PIPELINE_RST = "RST0";
    parameter REG_OUTPUT_CLK = "NONE";
    parameter REG_OUTPUT_CE = "CE0";
    parameter REG_OUTPUT_RST = "RST0";
    parameter CLK0_DIV = "ENABLED";
    parameter CLK1_DIV = "ENABLED";
    parameter CLK2_DIV = "ENABLED";
    parameter CLK3_DIV = "ENABLED";
    parameter CLK0MUX = "CLK0";
    parameter CE0MUX = "CE0";
    parameter RST0MUX = "RST0";
    parameter CLK1MUX = "CLK1";
    parameter CE1MUX = "CE1";
    parameter RST1MUX = "RST1";
    parameter CLK2MUX = "CLK2";
    parameter CE2MUX = "CE2";
    parameter RST2MUX = "RST2";
    parameter CLK3MUX = "CLK3";
    parameter CE3MUX = "CE3";
    parameter RST3MUX = "RST3";
    parameter HIGHSPEED_CLK = "NONE";
    parameter GSR = "ENABLED";
    parameter CAS_MATCH_REG = "FALSE";
    parameter SOURCEB_MODE = "B_SHIFT";
    parameter MULT_BYPASS = "DISABLED";
    parameter RESETMODE = "SYNC";
    wire unconnected_SIGNEDA = 1'b0;
    wire unconnected_SIGNEDB = 1'b0;
    wire unconnected_SOURCEA = 1'b0;
    wire unconnected_SOURCEB = 1'b0;
    wire unconnected_CE0 = 1'b1;
    wire unconnected_CE1 = 1'b1;
    wire unconnected_CE2 = 1'b1;
    wire unconnected_CE3 = 1'b1;
    wire unconnected_RST0 = 1'b0;
    wire unconnected_RST1 = 1'b0;
    wire unconnected_RST2 = 1'b0;
    wire unconnected_RST3 = 1'b0;
    localparam REGISTERS = REG_INPUTA_CLK != "NONE" || REG_INPUTB_CLK != "NONE" || REG_PIPELINE_CLK != "NONE" || REG_OUTPUT_CLK != "NONE";
    assign must_be_zero = SOURCEA | SOURCEB | MULT_BYPASS != "DISABLED" | RESETMODE != "SYNC" | HIGHSPEED_CLK != "NONE"
        | (REG_INPUTA_CLK != "NONE" & REG_INPUTA_CLK != "CLK0" & REG_INPUTA_CLK != "CLK1" & REG_INPUTA_CLK != "CLK2" & REG_INPUTA_CLK != "CLK3")
        | (REG_INPUTB_CLK != "NONE" & REG_INPUTB_CLK != "CLK0" & REG_INPUTB_CLK != "CLK1" & REG_INPUTB_CLK != "CLK2" & REG_INPUTB_CLK != "CLK3")
        | (REG_PIPELINE_CLK != "NONE" & REG_PIPELINE_CLK != "CLK0" & REG_PIPELINE_CLK != "CLK1" & REG_PIPELINE_CLK != "CLK2" & REG_PIPELINE_CLK != "CLK3")
        | (REG_OUTPUT_CLK != "NONE" & REG_OUTPUT_CLK != "CLK0" & REG_OUTPUT_CLK != "CLK1" & REG_OUTPUT_CLK != "CLK2" & REG_OUTPUT_CLK != "CLK3")
        | (CLK0MUX != "CLK0" | CE0MUX != "CE0" | RST0MUX != "RST0") & REGISTERS
        | (CLK1MUX != "CLK1" | CE1MUX != "CE1" | RST1MUX != "RST1") & REGISTERS
        | (CLK2MUX != "CLK2" | CE2MUX != "CE2" | RST2MUX != "RST2") & REGISTERS
        | (CLK3MUX != "CLK3" | CE3MUX != "CE3" | RST3MUX != "RST3") & REGISTERS;
    wire [17:0] a0 = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
    wire [17:0] b0 = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
    wire [18:0] a;
    wire ce_a = REG_INPUTA_CE == "CE0" ? CE0 : REG_INPUTA_CE == "CE1" ? CE1 : REG_INPUTA_CE == "CE2" ? CE2 : CE3;
    wire rst_a = REG_INPUTA_RST == "RST0" ? RST0 : REG_INPUTA_RST == "RST1" ? RST1 : REG_INPUTA_RST == "RST2" ? RST2 : RST3;
    generate
        if (REG_INPUTA_CLK == "CLK0") begin : a_clk0
            reg [18:0] q = 0;
            always @(posedge CLK0) if (rst_a) q <= 0; else if (ce_a) q <= {SIGNEDA & a0[17], a0};
            assign a = q;
        end
        else if (REG_INPUTA_CLK == "CLK1") begin : a_clk1
            reg [18:0] q = 0;
            always @(posedge CLK1) if (rst_a) q <= 0; else if (ce_a) q <= {SIGNEDA & a0[17], a0};
            assign a = q;
        end
        else if (REG_INPUTA_CLK == "CLK2") begin : a_clk2
            reg [18:0] q = 0;
            always @(posedge CLK2) if (rst_a) q <= 0; else if (ce_a) q <= {SIGNEDA & a0[17], a0};
            assign a = q;
        end
        else if (REG_INPUTA_CLK == "CLK3") begin : a_clk3
            reg [18:0] q = 0;
            always @(posedge CLK3) if (rst_a) q <= 0; else if (ce_a) q <= {SIGNEDA & a0[17], a0};
            assign a = q;
        end
        else begin : a_wire
            assign a = {SIGNEDA & a0[17], a0};
        end
    endgenerate
    wire [18:0] b;
    wire ce_b = REG_INPUTB_CE == "CE0" ? CE0 : REG_INPUTB_CE == "CE1" ? CE1 : REG_INPUTB_CE == "CE2" ? CE2 : CE3;
    wire rst_b = REG_INPUTB_RST == "RST0" ? RST0 : REG_INPUTB_RST == "RST1" ? RST1 : REG_INPUTB_RST == "RST2" ? RST2 : RST3;
    generate
        if (REG_INPUTB_CLK == "CLK0") begin : b_clk0
            reg [18:0] q = 0;
            always @(posedge CLK0) if (rst_b) q <= 0; else if (ce_b) q <= {SIGNEDB & b0[17], b0};
            assign b = q;
        end
        else if (REG_INPUTB_CLK == "CLK1") begin : b_clk1
            reg [18:0] q = 0;
            always @(posedge CLK1) if (rst_b) q <= 0; else if (ce_b) q <= {SIGNEDB & b0[17], b0};
            assign b = q;
        end
        else if (REG_INPUTB_CLK == "CLK2") begin : b_clk2
            reg [18:0] q = 0;
            always @(posedge CLK2) if (rst_b) q <= 0; else if (ce_b) q <= {SIGNEDB & b0[17], b0};
            assign b = q;
        end
        else if (REG_INPUTB_CLK == "CLK3") begin : b_clk3
            reg [18:0] q = 0;
            always @(posedge CLK3) if (rst_b) q <= 0; else if (ce_b) q <= {SIGNEDB & b0[17], b0};
            assign b = q;
        end
        else begin : b_wire
            assign b = {SIGNEDB & b0[17], b0};
        end
    endgenerate
    wire [35:0] product = {{17{a[18]}}, a} * {{17{b[18]}}, b};
    wire [35:0] m;
    wire ce_m = REG_PIPELINE_CE == "CE0" ? CE0 : REG_PIPELINE_CE == "CE1" ? CE1 : REG_PIPELINE_CE == "CE2" ? CE2 : CE3;
    wire rst_m = REG_PIPELINE_RST == "RST0" ? RST0 : REG_PIPELINE_RST == "RST1" ? RST1 : REG_PIPELINE_RST == "RST2" ? RST2 : RST3;
    generate
        if (REG_PIPELINE_CLK == "CLK0") begin : m_clk0
            reg [35:0] q = 0;
            always @(posedge CLK0) if (rst_m) q <= 0; else if (ce_m) q <= product;
            assign m = q;
        end
        else if (REG_PIPELINE_CLK == "CLK1") begin : m_clk1
            reg [35:0] q = 0;
            always @(posedge CLK1) if (rst_m) q <= 0; else if (ce_m) q <= product;
            assign m = q;
        end
        else if (REG_PIPELINE_CLK == "CLK2") begin : m_clk2
            reg [35:0] q = 0;
            always @(posedge CLK2) if (rst_m) q <= 0; else if (ce_m) q <= product;
            assign m = q;
        end
        else if (REG_PIPELINE_CLK == "CLK3") begin : m_clk3
            reg [35:0] q = 0;
            always @(posedge CLK3) if (rst_m) q <= 0; else if (ce_m) q <= product;
            assign m = q;
        end
        else begin : m_wire
            assign m = product;
        end
    endgenerate
    wire [35:0] p;
    wire ce_p = REG_OUTPUT_CE == "CE0" ? CE0 : REG_OUTPUT_CE == "CE1" ? CE1 : REG_OUTPUT_CE == "CE2" ? CE2 : CE3;
    wire rst_p = REG_OUTPUT_RST == "RST0" ? RST0 : REG_OUTPUT_RST == "RST1" ? RST1 : REG_OUTPUT_RST == "RST2" ? RST2 : RST3;
    generate
        if (REG_OUTPUT_CLK == "CLK0") begin : p_clk0
            reg [35:0] q = 0;
            always @(posedge CLK0) if (rst_p) q <= 0; else if (ce_p) q <= m;
            assign p = q;
        end
        else if (REG_OUTPUT_CLK == "CLK1") begin : p_clk1
            reg [35:0] q = 0;
            always @(posedge CLK1) if (rst_p) q <= 0; else if (ce_p) q <= m;
            assign p = q;
        end
        else if (REG_OUTPUT_CLK == "CLK2") begin : p_clk2
            reg [35:0] q = 0;
            always @(posedge CLK2) if (rst_p) q <= 0; else if (ce_p) q <= m;
            assign p = q;
        end
        else if (REG_OUTPUT_CLK == "CLK3") begin : p_clk3
            reg [35:0] q = 0;
            always @(posedge CLK3) if (rst_p) q <= 0; else if (ce_p) q <= m;
            assign p = q;
        end
        else begin : p_wire
            assign p = m;
        end
    endgenerate
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = p;
endmodule

// A clock buffer whose enable is not used.
module DCCA (output CLKO, must_be_zero, input CLKI, CE);
    wire unconnected_CE = 1'b1;
    assign CLKO = CLKI;
    assign must_be_zero = ~CE;
endmodule
