// Cells of Intel (Altera) FPGAs.
//
// The cells of Yosys' `synth_intel_alm` (MISTRAL_*) from its documentation; those of Quartus from the user guides of the primitives and
// of the embedded blocks. A port `must_be_zero` says when a cell is used in a way that is not modelled; `unconnected_X` is the value
// of a port X that nothing is connected to.
module MISTRAL_ALUT2 (output Q, input A, B);
    parameter [3:0] LUT = 0;
    wire [1:0] a = {B, A};
    assign Q = LUT[a];
endmodule

module MISTRAL_ALUT3 (output Q, input A, B, C);
    parameter [7:0] LUT = 0;
    wire [2:0] a = {C, B, A};
    assign Q = LUT[a];
endmodule

module MISTRAL_ALUT4 (output Q, input A, B, C, D);
    parameter [15:0] LUT = 0;
    wire [3:0] a = {D, C, B, A};
    assign Q = LUT[a];
endmodule

module MISTRAL_ALUT5 (output Q, input A, B, C, D, E);
    parameter [31:0] LUT = 0;
    wire [4:0] a = {E, D, C, B, A};
    assign Q = LUT[a];
endmodule

module MISTRAL_ALUT6 (output Q, input A, B, C, D, E, F);
    parameter [63:0] LUT = 0;
    wire [5:0] a = {F, E, D, C, B, A};
    assign Q = LUT[a];
endmodule

module MISTRAL_NOT (output Q, input A);
    assign Q = ~A;
endmodule

module MISTRAL_BUF (output Q, input A);
    assign Q = A;
endmodule

module MISTRAL_IB (output O, input PAD);
    assign O = PAD;
endmodule

module MISTRAL_OB (output PAD, input I);
    assign PAD = I;
endmodule

module MISTRAL_CLKBUF (output Q, input A);
    assign Q = A;
endmodule

// One bit of a sum: of one look-up table and the complement of the other.
module MISTRAL_ALUT_ARITH (output SO, CO, input A, B, C, D0, D1, CI);
    parameter [15:0] LUT0 = 0;
    parameter [15:0] LUT1 = 0;
    wire [3:0] at0 = {D0, C, B, A};
    wire [3:0] at1 = {D1, C, B, A};
    wire x = LUT0[at0];
    wire y = ~LUT1[at1];
    wire half = x ^ y;
    assign SO = half ^ CI;
    assign CO = half ? CI : x;
endmodule

module MISTRAL_FF (output Q, input DATAIN, CLK, ACLR, ENA, SCLR, SLOAD, SDATA);
    wire unconnected_ACLR = 1'b1;
    wire unconnected_ENA = 1'b1;
    wire unconnected_SCLR = 1'b0;
    wire unconnected_SLOAD = 1'b0;
    reg q = 1'b0;
    assign Q = q;
    always @(posedge CLK or negedge ACLR)
        if (!ACLR) q <= 1'b0;
        else if (ENA) q <= SCLR ? 1'b0 : SLOAD ? SDATA : DATAIN;
endmodule

module MISTRAL_MUL9X9 (output [17:0] Y, input [8:0] A, input [8:0] B);
    parameter integer A_SIGNED = 1;
    parameter integer B_SIGNED = 1;
    wire sa = A_SIGNED != 0 & A[8];
    wire sb = B_SIGNED != 0 & B[8];
    assign Y = {{9{sa}}, A} * {{9{sb}}, B};
endmodule

module MISTRAL_MUL18X18 (output [35:0] Y, input [17:0] A, input [17:0] B);
    parameter integer A_SIGNED = 1;
    parameter integer B_SIGNED = 1;
    wire sa = A_SIGNED != 0 & A[17];
    wire sb = B_SIGNED != 0 & B[17];
    assign Y = {{18{sa}}, A} * {{18{sb}}, B};
endmodule

module MISTRAL_MUL27X27 (output [53:0] Y, input [26:0] A, input [26:0] B);
    parameter integer A_SIGNED = 1;
    parameter integer B_SIGNED = 1;
    wire sa = A_SIGNED != 0 & A[26];
    wire sb = B_SIGNED != 0 & B[26];
    assign Y = {{27{sa}}, A} * {{27{sb}}, B};
endmodule

// Read only: writes are not modelled. The write enable of the block is low active.
module MISTRAL_MLAB (output B1DATA, must_be_zero, input [4:0] A1ADDR, input A1DATA, A1EN, CLK1, input [4:0] B1ADDR);
    parameter [31:0] INIT = 0;
    assign must_be_zero = A1EN;
    assign B1DATA = INIT[B1ADDR];
endmodule

module MISTRAL_M10K (B1DATA, must_be_zero, CLK1, A1ADDR, A1DATA, A1EN, B1ADDR, B1EN);
    parameter integer CFG_ABITS = 10;
    parameter integer CFG_DBITS = 10;
    parameter [10239:0] INIT = 0;
    output [CFG_DBITS-1:0] B1DATA;
    output must_be_zero;
    input CLK1, A1EN, B1EN;
    input [CFG_ABITS-1:0] A1ADDR, B1ADDR;
    input [CFG_DBITS-1:0] A1DATA;
    assign must_be_zero = ~A1EN;
    reg [CFG_DBITS-1:0] words [0:(1 << CFG_ABITS)-1];
    integer i;
    initial for (i = 0; i < (1 << CFG_ABITS); i = i + 1) words[i] = INIT[i * CFG_DBITS +: CFG_DBITS];
    reg [CFG_DBITS-1:0] q;
    assign B1DATA = q;
    always @(posedge CLK1) if (B1EN) q <= words[B1ADDR];
endmodule

module cyclonev_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "cyclonev_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module arriav_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "arriav_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module stratixv_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "stratixv_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module arriaii_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "arriaii_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module cyclone10gx_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "cyclone10gx_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module twentynm_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "twentynm_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module fourteennm_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "fourteennm_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

module tennm_lcell_comb (output combout, sumout, cout, shareout, must_be_zero, input dataa, datab, datac, datad, datae, dataf, datag, cin, sharein);
    parameter [63:0] lut_mask = 0;
    parameter shared_arith = "off";
    parameter extended_lut = "off";
    parameter dont_touch = "off";
    parameter lpm_type = "tennm_lcell_comb";
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_datae = 1'b1;
    wire unconnected_dataf = 1'b1;
    wire unconnected_datag = 1'b1;
    wire unconnected_cin = 1'b0;
    wire unconnected_sharein = 1'b0;
    localparam [15:0] F0 = lut_mask[15:0];
    localparam [15:0] F1 = lut_mask[31:16];
    localparam [15:0] F2 = lut_mask[47:32];
    localparam [15:0] F3 = lut_mask[63:48];
    wire is_extended = extended_lut == "on";
    wire is_shared = shared_arith == "on";
    wire [3:0] at = {datad, datac, datab, dataa};
    wire [3:0] atg = {datad, datag, datab, dataa};
    wire [3:0] atf = {dataf, datac, datab, dataa};
    wire f0 = F0[at];
    wire f1 = is_extended ? F1[atg] : F1[at];
    wire f2 = F2[at];
    wire f3 = is_extended ? F3[atg] : F3[at];
    wire f2f = F2[atf];
    assign must_be_zero = 1'b0;
    // A table of six inputs; extended, seven inputs in two of them: E chooses the table, G replaces C.
    assign combout = is_extended ? (datae ? (dataf ? f3 : f1) : (dataf ? f2 : f0)) : (dataf ? (datae ? f3 : f2) : (datae ? f1 : f0));
    wire y = is_shared ? sharein : ~f2f;
    wire half = f0 ^ y;
    assign sumout = half ^ cin;
    assign cout = half ? cin : f0;
    assign shareout = f2;
endmodule

// A look-up table of four inputs with a carry.
module cyclone10lp_lcell_comb (output combout, cout, input dataa, datab, datac, datad, cin);
    parameter [15:0] lut_mask = 0;
    parameter sum_lutc_input = "datac";
    parameter dont_touch = "off";
    parameter lpm_type = "cyclone10lp_lcell_comb";
    localparam [7:0] LOW = lut_mask[7:0];
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_cin = 1'b0;
    wire c = sum_lutc_input == "cin" ? cin : datac;
    wire [3:0] at = {datad, c, datab, dataa};
    wire [2:0] low = {cin, datab, dataa};
    assign combout = lut_mask[at];
    assign cout = LOW[low];
endmodule

// A look-up table of four inputs with a carry.
module cycloneive_lcell_comb (output combout, cout, input dataa, datab, datac, datad, cin);
    parameter [15:0] lut_mask = 0;
    parameter sum_lutc_input = "datac";
    parameter dont_touch = "off";
    parameter lpm_type = "cycloneive_lcell_comb";
    localparam [7:0] LOW = lut_mask[7:0];
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_cin = 1'b0;
    wire c = sum_lutc_input == "cin" ? cin : datac;
    wire [3:0] at = {datad, c, datab, dataa};
    wire [2:0] low = {cin, datab, dataa};
    assign combout = lut_mask[at];
    assign cout = LOW[low];
endmodule

// A look-up table of four inputs with a carry.
module cycloneiv_lcell_comb (output combout, cout, input dataa, datab, datac, datad, cin);
    parameter [15:0] lut_mask = 0;
    parameter sum_lutc_input = "datac";
    parameter dont_touch = "off";
    parameter lpm_type = "cycloneiv_lcell_comb";
    localparam [7:0] LOW = lut_mask[7:0];
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_cin = 1'b0;
    wire c = sum_lutc_input == "cin" ? cin : datac;
    wire [3:0] at = {datad, c, datab, dataa};
    wire [2:0] low = {cin, datab, dataa};
    assign combout = lut_mask[at];
    assign cout = LOW[low];
endmodule

// A look-up table of four inputs with a carry.
module fiftyfivenm_lcell_comb (output combout, cout, input dataa, datab, datac, datad, cin);
    parameter [15:0] lut_mask = 0;
    parameter sum_lutc_input = "datac";
    parameter dont_touch = "off";
    parameter lpm_type = "fiftyfivenm_lcell_comb";
    localparam [7:0] LOW = lut_mask[7:0];
    wire unconnected_dataa = 1'b1;
    wire unconnected_datab = 1'b1;
    wire unconnected_datac = 1'b1;
    wire unconnected_datad = 1'b1;
    wire unconnected_cin = 1'b0;
    wire c = sum_lutc_input == "cin" ? cin : datac;
    wire [3:0] at = {datad, c, datab, dataa};
    wire [2:0] low = {cin, datab, dataa};
    assign combout = lut_mask[at];
    assign cout = LOW[low];
endmodule

// A register: asynchronous clear (low), then clock enable, synchronous clear, synchronous load, data.
module dffeas (output q, must_be_zero, input d, clk, clrn, prn, ena, asdata, aload, sclr, sload, devclrn, devpor);
    parameter power_up = "low";
    parameter is_wysiwyg = "false";
    parameter dont_touch = "false";
    parameter x_on_violation = "on";
    parameter lpm_type = "dffeas";
    wire unconnected_clrn = 1'b1;
    wire unconnected_prn = 1'b1;
    wire unconnected_ena = 1'b1;
    wire unconnected_aload = 1'b0;
    wire unconnected_asdata = 1'b1;
    wire unconnected_sclr = 1'b0;
    wire unconnected_sload = 1'b0;
    wire unconnected_devclrn = 1'b1;
    wire unconnected_devpor = 1'b1;
    assign must_be_zero = aload | ~prn | ~devclrn | ~devpor;
    reg r = power_up == "high";
    assign q = r;
    always @(posedge clk or negedge clrn)
        if (!clrn) r <= 1'b0;
        else if (ena) r <= sclr ? 1'b0 : sload ? asdata : d;
endmodule

module \NOT (output OUT, input IN);
    assign OUT = ~IN;
endmodule

module cyclonev_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "cyclonev_io_ibuf";
    assign o = i;
endmodule

module cyclonev_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter differential_mode = "false";
    parameter lpm_type = "cyclonev_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false" | differential_mode != "false";
    assign o = i;
endmodule

module cyclonev_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "cyclonev_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module arriav_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "arriav_io_ibuf";
    assign o = i;
endmodule

module arriav_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter differential_mode = "false";
    parameter lpm_type = "arriav_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false" | differential_mode != "false";
    assign o = i;
endmodule

module arriav_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "arriav_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module cyclone10gx_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "cyclone10gx_io_ibuf";
    assign o = i;
endmodule

module cyclone10gx_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "cyclone10gx_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module cyclone10gx_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "cyclone10gx_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module tennm_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "tennm_io_ibuf";
    assign o = i;
endmodule

module tennm_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "tennm_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module tennm_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "tennm_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module twentynm_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "twentynm_io_ibuf";
    assign o = i;
endmodule

module twentynm_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "twentynm_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module twentynm_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "twentynm_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module stratixv_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "stratixv_io_ibuf";
    assign o = i;
endmodule

module stratixv_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "stratixv_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module stratixv_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "stratixv_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module fourteennm_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "fourteennm_io_ibuf";
    assign o = i;
endmodule

module fourteennm_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "fourteennm_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module fourteennm_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "fourteennm_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module cycloneive_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "cycloneive_io_ibuf";
    assign o = i;
endmodule

module cycloneive_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "cycloneive_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module cycloneive_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "cycloneive_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule

module fiftyfivenm_io_ibuf (output o, input i, ibar, dynamicterminationcontrol);
    parameter bus_hold = "false";
    parameter simulate_z_as = "z";
    parameter differential_mode = "false";
    parameter lpm_type = "fiftyfivenm_io_ibuf";
    assign o = i;
endmodule

module fiftyfivenm_io_obuf (output o, obar, must_be_zero, input i, oe, dynamicterminationcontrol, parallelterminationcontrol, seriesterminationcontrol, devoe);
    parameter bus_hold = "false";
    parameter open_drain_output = "false";
    parameter shift_series_termination_control = "false";
    parameter lpm_type = "fiftyfivenm_io_obuf";
    wire unconnected_oe = 1'b1;
    assign must_be_zero = ~oe | open_drain_output != "false";
    assign o = i;
endmodule

module fiftyfivenm_clkena (output outclk, enaout, must_be_zero, input inclk, ena);
    parameter clock_type = "Auto";
    parameter ena_register_mode = "always enabled";
    parameter ena_register_power_up = "high";
    parameter disable_mode = "low";
    parameter test_syn = "high";
    parameter lpm_type = "fiftyfivenm_clkena";
    wire unconnected_ena = 1'b1;
    assign must_be_zero = ~ena;
    assign outclk = inclk;
endmodule
