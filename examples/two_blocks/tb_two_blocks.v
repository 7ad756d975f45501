// Samples with gaps between them; the expected mean is that of the model's scores, which are in the file of rows.
`timescale 1ns / 1ps

module tb_two_blocks;
    parameter ROWS = 200;

    reg clk = 0;
    always #5 clk = ~clk;

    reg [110:0] samples [0:ROWS - 1];
    reg signed [7:0] scores [0:ROWS - 1];

    reg rst = 1;
    reg valid_in = 0;
    reg [110:0] sample = 0;
    wire valid_out;
    wire signed [10:0] mean;
    two_blocks dut (
        .clk(clk),
        .rst(rst),
        .valid_in(valid_in),
        .sample(sample),
        .valid_out(valid_out),
        .mean(mean)
    );

    integer file, fields, row, given, compared, mismatches, k;
    reg [111:0] inputs;
    reg [31:0] ignored_0, ignored_1;
    reg [63:0] outputs;
    reg signed [10:0] expected;

    initial begin
        file = $fopen("rows.txt", "r");
        for (row = 0; row < ROWS; row = row + 1) begin
            fields = $fscanf(file, "%h %h %h %h", inputs, ignored_0, ignored_1, outputs);
            samples[row] = inputs[110:0];
            scores[row] = outputs[12:5];
        end
        given = 0;
        compared = 0;
        mismatches = 0;
        repeat (2) @(negedge clk);
        rst = 0;
        while (compared < ROWS) begin
            // Two samples, then a clock without one.
            valid_in = given < ROWS && $time / 10 % 3 != 0;
            sample = valid_in ? samples[given] : {111{1'b1}};
            given = given + valid_in;
            @(negedge clk);
            if (valid_out) begin
                expected = 0;
                for (k = compared; k >= 0 && k > compared - 8; k = k - 1) expected = expected + scores[k];
                if (mean !== expected) begin
                    mismatches = mismatches + 1;
                    $display("mismatch in row %0d: expected %0d, actual %0d", compared, expected, mean);
                end
                compared = compared + 1;
            end
        end
        $display("%0d means compared, %0d mismatches, latency of the tagger %0d", compared, mismatches, dut.u_tagger.LATENCY);
        $finish;
    end
endmodule
