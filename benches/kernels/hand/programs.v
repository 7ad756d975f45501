// The real programs of tests/data/llvlir as one writes them by hand: loops and plain operators.
module crc32_byte(input [31:0] crc, input [7:0] data, output reg [31:0] y);
    integer i;
    always @* begin
        y = crc ^ {24'd0, data};
        for (i = 0; i < 8; i = i + 1) y = y[0] ? (y >> 1) ^ 32'hedb88320 : y >> 1;
    end
endmodule

module normalise(input signed [31:0] x, output [31:0] bits, output [7:0] shift);
    wire sign = x < 0;
    wire [31:0] magnitude = sign ? -x : x;
    reg [5:0] zeros;
    integer i;
    always @* begin
        zeros = 32;
        for (i = 0; i < 32; i = i + 1) if (magnitude[i]) zeros = 31 - i;
    end
    wire [31:0] left = magnitude << zeros;
    wire up = left[7] & (left[6:0] != 0 | left[8]);
    wire [7:0] exponent = 8'd157 - zeros;
    wire [30:0] value = {exponent, 23'd0} + left[31:8] + up;
    assign bits = x == 0 ? 32'd0 : {sign, value};
    assign shift = {2'd0, zeros};
endmodule

module gray_bcd(input [15:0] x, input [15:0] gray, output [15:0] to_gray, output [15:0] from_gray, output [19:0] bcd);
    assign to_gray = x ^ (x >> 1);
    reg [15:0] binary;
    reg [35:0] shifted;
    integer i, d;
    always @* begin
        binary[15] = gray[15];
        for (i = 14; i >= 0; i = i - 1) binary[i] = binary[i + 1] ^ gray[i];
        shifted = {20'd0, x};
        for (i = 0; i < 16; i = i + 1) begin
            for (d = 0; d < 5; d = d + 1)
                if (shifted[16 + 4 * d +: 4] > 4) shifted[16 + 4 * d +: 4] = shifted[16 + 4 * d +: 4] + 3;
            shifted = shifted << 1;
        end
    end
    assign from_gray = binary;
    assign bcd = shifted[35:16];
endmodule

module siphash(input [63:0] a0, a1, a2, a3, m, output [63:0] y0, y1, y2, y3);
    reg [63:0] v0, v1, v2, v3;
    integer i;
    always @* begin
        v0 = a0; v1 = a1; v2 = a2; v3 = a3 ^ m;
        for (i = 0; i < 2; i = i + 1) begin
            v0 = v0 + v1; v1 = {v1[50:0], v1[63:51]} ^ v0; v0 = {v0[31:0], v0[63:32]};
            v2 = v2 + v3; v3 = {v3[47:0], v3[63:48]} ^ v2;
            v0 = v0 + v3; v3 = {v3[42:0], v3[63:43]} ^ v0;
            v2 = v2 + v1; v1 = {v1[46:0], v1[63:47]} ^ v2; v2 = {v2[31:0], v2[63:32]};
        end
        v0 = v0 ^ m;
    end
    assign y0 = v0, y1 = v1, y2 = v2, y3 = v3;
endmodule

module cordic(input signed [17:0] x0, y0, input signed [15:0] angle, output [17:0] x, y, output [15:0] rest);
    reg signed [17:0] cx, cy, sx, sy;
    reg signed [15:0] z, step;
    integer i;
    always @* begin
        cx = x0; cy = y0; z = angle;
        for (i = 0; i < 8; i = i + 1) begin
            case (i)
                0: step = 8192; 1: step = 4836; 2: step = 2555; 3: step = 1297;
                4: step = 651; 5: step = 326; 6: step = 163; default: step = 81;
            endcase
            sx = cx >>> i; sy = cy >>> i;
            if (z < 0) begin cx = cx + sy; cy = cy - sx; z = z + step; end
            else begin cx = cx - sy; cy = cy + sx; z = z - step; end
        end
    end
    assign x = cx, y = cy, rest = z;
endmodule

module dct8(input signed [15:0] x0, x1, x2, x3, x4, x5, x6, x7, output [15:0] y0, y1, y2, y3, y4, y5, y6, y7);
    wire signed [31:0] a = x0 + x7, b = x1 + x6, c = x2 + x5, d = x3 + x4;
    wire signed [31:0] e = x0 - x7, f = x1 - x6, g = x2 - x5, h = x3 - x4;
    wire signed [31:0] p = a + d, q = b + c, r = a - d, s = b - c;
    function signed [15:0] rounded(input signed [31:0] v);
        reg signed [31:0] moved;
        begin
            moved = (v + 256) >>> 9;
            rounded = moved[15:0];
        end
    endfunction
    assign y0 = rounded((p + q) * 64), y4 = rounded((p - q) * 64);
    assign y2 = rounded(r * 83 + s * 36), y6 = rounded(r * 36 - s * 83);
    assign y1 = rounded(e * 89 + f * 75 + g * 50 + h * 18);
    assign y3 = rounded(e * 75 - f * 18 - g * 89 - h * 50);
    assign y5 = rounded(e * 50 - f * 89 + g * 18 + h * 75);
    assign y7 = rounded(e * 18 - f * 50 + g * 75 - h * 89);
endmodule

module ordered(input [20:0] a, b, output [20:0] low, high);
    wire less = a < b;
    assign low = less ? a : b, high = less ? b : a;
endmodule

module popcount_sort(input [127:0] x, output [127:0] y);
    function [20:0] key(input [15:0] value);
        integer b;
        reg [4:0] ones;
        begin
            ones = 0;
            for (b = 0; b < 16; b = b + 1) ones = ones + value[b];
            key = {ones, value};
        end
    endfunction
    wire [20:0] k0 = key(x[0 +: 16]);
    wire [20:0] k1 = key(x[16 +: 16]);
    wire [20:0] k2 = key(x[32 +: 16]);
    wire [20:0] k3 = key(x[48 +: 16]);
    wire [20:0] k4 = key(x[64 +: 16]);
    wire [20:0] k5 = key(x[80 +: 16]);
    wire [20:0] k6 = key(x[96 +: 16]);
    wire [20:0] k7 = key(x[112 +: 16]);
    wire [20:0] l0, h0;
    ordered c0(k0, k1, l0, h0);
    wire [20:0] l1, h1;
    ordered c1(k2, k3, l1, h1);
    wire [20:0] l2, h2;
    ordered c2(k4, k5, l2, h2);
    wire [20:0] l3, h3;
    ordered c3(k6, k7, l3, h3);
    wire [20:0] l4, h4;
    ordered c4(l0, l1, l4, h4);
    wire [20:0] l5, h5;
    ordered c5(h0, h1, l5, h5);
    wire [20:0] l6, h6;
    ordered c6(l2, l3, l6, h6);
    wire [20:0] l7, h7;
    ordered c7(h2, h3, l7, h7);
    wire [20:0] l8, h8;
    ordered c8(l5, h4, l8, h8);
    wire [20:0] l9, h9;
    ordered c9(l7, h6, l9, h9);
    wire [20:0] l10, h10;
    ordered c10(l4, l6, l10, h10);
    wire [20:0] l11, h11;
    ordered c11(h5, h7, l11, h11);
    wire [20:0] l12, h12;
    ordered c12(l8, l9, l12, h12);
    wire [20:0] l13, h13;
    ordered c13(h8, h9, l13, h13);
    wire [20:0] l14, h14;
    ordered c14(l12, h10, l14, h14);
    wire [20:0] l15, h15;
    ordered c15(l11, h13, l15, h15);
    wire [20:0] l16, h16;
    ordered c16(l13, h14, l16, h16);
    wire [20:0] l17, h17;
    ordered c17(l15, h12, l17, h17);
    wire [20:0] l18, h18;
    ordered c18(l17, h16, l18, h18);
    assign y = {h11[15:0], h15[15:0], h17[15:0], h18[15:0], l18[15:0], l16[15:0], l14[15:0], l10[15:0]};
endmodule
