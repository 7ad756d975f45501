// Cells of Yosys itself: gates, look-up tables and registers, as `synth` leaves them and `synth_* -vpr` does. The names state the
// active levels of clock, enable and reset (P or N) and the reset value, as the manual of Yosys describes ("Gate-level cells").

module \$lut #(parameter WIDTH = 1, parameter LUT = 2'h0) (output Y, input [WIDTH-1:0] A);
    assign Y = LUT >> A;
endmodule

module \$_BUF_ (output Y, input A);
    assign Y = A;
endmodule

module \$_NOT_ (output Y, input A);
    assign Y = ~A;
endmodule

module \$_AND_ (output Y, input A, B);
    assign Y = A & B;
endmodule

module \$_NAND_ (output Y, input A, B);
    assign Y = ~(A & B);
endmodule

module \$_OR_ (output Y, input A, B);
    assign Y = A | B;
endmodule

module \$_NOR_ (output Y, input A, B);
    assign Y = ~(A | B);
endmodule

module \$_XOR_ (output Y, input A, B);
    assign Y = A ^ B;
endmodule

module \$_XNOR_ (output Y, input A, B);
    assign Y = ~(A ^ B);
endmodule

module \$_ANDNOT_ (output Y, input A, B);
    assign Y = A & ~B;
endmodule

module \$_ORNOT_ (output Y, input A, B);
    assign Y = A | ~B;
endmodule

module \$_MUX_ (output Y, input A, B, S);
    assign Y = S ? B : A;
endmodule

module \$_NMUX_ (output Y, input A, B, S);
    assign Y = ~(S ? B : A);
endmodule

module \$_AOI3_ (output Y, input A, B, C);
    assign Y = ~((A & B) | C);
endmodule

module \$_OAI3_ (output Y, input A, B, C);
    assign Y = ~((A | B) & C);
endmodule

module \$_AOI4_ (output Y, input A, B, C, D);
    assign Y = ~((A & B) | (C & D));
endmodule

module \$_OAI4_ (output Y, input A, B, C, D);
    assign Y = ~((A | B) & (C | D));
endmodule

module \$_MUX4_ (output Y, input A, B, C, D, S, T);
    assign Y = T ? (S ? D : C) : (S ? B : A);
endmodule

module \$_DFF_P_ (output reg Q, input C, D);
    always @(posedge C) Q <= D;
endmodule

module \$_DFFE_PP_ (output reg Q, input C, D, E);
    always @(posedge C) if (E) Q <= D;
endmodule

module \$_DFFE_PN_ (output reg Q, input C, D, E);
    always @(posedge C) if (~E) Q <= D;
endmodule

module \$_DFF_PP0_ (output reg Q, input C, D, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_SDFF_PP0_ (output reg Q, input C, D, R);
    always @(posedge C) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_PP0P_ (output reg Q, input C, D, E, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFE_PP0P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFCE_PP0P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (E) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_PP0N_ (output reg Q, input C, D, E, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFE_PP0N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_PP0N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~E) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFF_PP1_ (output reg Q, input C, D, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_SDFF_PP1_ (output reg Q, input C, D, R);
    always @(posedge C) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_PP1P_ (output reg Q, input C, D, E, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFE_PP1P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFCE_PP1P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (E) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_PP1N_ (output reg Q, input C, D, E, R);
    always @(posedge C or posedge R) if (R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFE_PP1N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_PP1N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~E) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFF_PN0_ (output reg Q, input C, D, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_SDFF_PN0_ (output reg Q, input C, D, R);
    always @(posedge C) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_PN0P_ (output reg Q, input C, D, E, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFE_PN0P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFCE_PN0P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (E) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_PN0N_ (output reg Q, input C, D, E, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFE_PN0N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_PN0N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~E) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFF_PN1_ (output reg Q, input C, D, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_SDFF_PN1_ (output reg Q, input C, D, R);
    always @(posedge C) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_PN1P_ (output reg Q, input C, D, E, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFE_PN1P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFCE_PN1P_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (E) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_PN1N_ (output reg Q, input C, D, E, R);
    always @(posedge C or negedge R) if (~R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFE_PN1N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_PN1N_ (output reg Q, input C, D, E, R);
    always @(posedge C) if (~E) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFF_N_ (output reg Q, input C, D);
    always @(negedge C) Q <= D;
endmodule

module \$_DFFE_NP_ (output reg Q, input C, D, E);
    always @(negedge C) if (E) Q <= D;
endmodule

module \$_DFFE_NN_ (output reg Q, input C, D, E);
    always @(negedge C) if (~E) Q <= D;
endmodule

module \$_DFF_NP0_ (output reg Q, input C, D, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_SDFF_NP0_ (output reg Q, input C, D, R);
    always @(negedge C) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_NP0P_ (output reg Q, input C, D, E, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFE_NP0P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFCE_NP0P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (E) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_NP0N_ (output reg Q, input C, D, E, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFE_NP0N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_NP0N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~E) if (R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFF_NP1_ (output reg Q, input C, D, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_SDFF_NP1_ (output reg Q, input C, D, R);
    always @(negedge C) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_NP1P_ (output reg Q, input C, D, E, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFE_NP1P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFCE_NP1P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (E) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_NP1N_ (output reg Q, input C, D, E, R);
    always @(negedge C or posedge R) if (R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFE_NP1N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_NP1N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~E) if (R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFF_NN0_ (output reg Q, input C, D, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_SDFF_NN0_ (output reg Q, input C, D, R);
    always @(negedge C) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_NN0P_ (output reg Q, input C, D, E, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFE_NN0P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~R) Q <= 1'b0; else if (E) Q <= D;
endmodule

module \$_SDFFCE_NN0P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (E) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFFE_NN0N_ (output reg Q, input C, D, E, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFE_NN0N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~R) Q <= 1'b0; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_NN0N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~E) if (~R) Q <= 1'b0; else Q <= D;
endmodule

module \$_DFF_NN1_ (output reg Q, input C, D, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_SDFF_NN1_ (output reg Q, input C, D, R);
    always @(negedge C) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_NN1P_ (output reg Q, input C, D, E, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFE_NN1P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~R) Q <= 1'b1; else if (E) Q <= D;
endmodule

module \$_SDFFCE_NN1P_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (E) if (~R) Q <= 1'b1; else Q <= D;
endmodule

module \$_DFFE_NN1N_ (output reg Q, input C, D, E, R);
    always @(negedge C or negedge R) if (~R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFE_NN1N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~R) Q <= 1'b1; else if (~E) Q <= D;
endmodule

module \$_SDFFCE_NN1N_ (output reg Q, input C, D, E, R);
    always @(negedge C) if (~E) if (~R) Q <= 1'b1; else Q <= D;
endmodule
