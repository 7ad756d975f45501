// Rows of LLVLIR as one writes them by hand: the plain operator, or the usual loop.
module add(input [31:0] a, b, output [31:0] y); assign y = a + b; endmodule
module sub(input [31:0] a, b, output [31:0] y); assign y = a - b; endmodule
module srl(input [31:0] a, b, output [31:0] y); assign y = a >> b; endmodule
module sll(input [31:0] a, b, output [31:0] y); assign y = a << b; endmodule
module sra(input signed [31:0] a, input [31:0] b, output [31:0] y); assign y = a >>> b; endmodule
module rol(input [31:0] a, b, output [31:0] y); assign y = (a << b[4:0]) | (a >> (6'd32 - {1'b0, b[4:0]})); endmodule
module ror(input [31:0] a, b, output [31:0] y); assign y = (a >> b[4:0]) | (a << (6'd32 - {1'b0, b[4:0]})); endmodule
module min(input signed [31:0] a, b, output [31:0] y); assign y = a < b ? a : b; endmodule
module max(input signed [31:0] a, b, output [31:0] y); assign y = a > b ? a : b; endmodule
module minu(input [31:0] a, b, output [31:0] y); assign y = a < b ? a : b; endmodule
module maxu(input [31:0] a, b, output [31:0] y); assign y = a > b ? a : b; endmodule
module cmps_lt(input signed [31:0] a, b, output [31:0] y); assign y = {31'd0, a < b}; endmodule
module mul(input [31:0] a, b, output [31:0] y); assign y = a * b; endmodule
module mulh(input signed [31:0] a, b, output [31:0] y);
    wire signed [63:0] p = a * b;
    assign y = p[63:32];
endmodule
module mulhu(input [31:0] a, b, output [31:0] y);
    wire [63:0] p = a * b;
    assign y = p[63:32];
endmodule
module popc(input [31:0] a, output reg [31:0] y);
    integer i;
    always @* begin
        y = 0;
        for (i = 0; i < 32; i = i + 1) y = y + a[i];
    end
endmodule
module clz(input [31:0] a, output reg [31:0] y);
    integer i;
    always @* begin
        y = 32;
        for (i = 0; i < 32; i = i + 1) if (a[i]) y = 31 - i;
    end
endmodule
module ctz(input [31:0] a, output reg [31:0] y);
    integer i;
    always @* begin
        y = 32;
        for (i = 31; i >= 0; i = i - 1) if (a[i]) y = i;
    end
endmodule
module divu_16(input [15:0] a, b, output [15:0] y); assign y = b == 0 ? 16'hffff : a / b; endmodule
module remu_16(input [15:0] a, b, output [15:0] y); assign y = b == 0 ? a : a % b; endmodule
