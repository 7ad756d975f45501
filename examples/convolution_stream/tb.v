// Pixels of one patch after the other, one in every clock, without a gap; scores are written as they leave.
`timescale 1ns / 1ps

module tb;
    localparam PATCHES = 6, PIXELS = 144, SCORES = 10;
    reg aclk = 0, aresetn = 0;
    always #5 aclk = !aclk;

    reg [7:0] pixels [0:PATCHES*PIXELS-1];
    integer sent = 0, received = 0, clocks = 0, first = 0, waited = 0, file;
    reg [7:0] low;
    wire s_tready, m_tvalid;
    wire [7:0] m_tdata;
    wire signed [15:0] score = {m_tdata, low};

    // The stream does not end with the last patch: the first one comes again.
    conv dut (
        .aclk(aclk), .aresetn(aresetn),
        .s_axis_tdata(pixels[sent % (PATCHES * PIXELS)]), .s_axis_tvalid(aresetn), .s_axis_tready(s_tready),
        .s_axis_tlast(1'b0), .s_axis_tuser(1'b0),
        .m_axis_tdata(m_tdata), .m_axis_tvalid(m_tvalid), .m_axis_tready(1'b1), .m_axis_tlast(), .m_axis_tuser()
    );

    initial begin
        $readmemh("pixels.hex", pixels);
        file = $fopen("scores.csv", "w");
        repeat (4) @(posedge aclk);
        aresetn <= 1;
    end

    always @(posedge aclk) if (aresetn) begin
        clocks <= clocks + 1;
        if (s_tready) sent <= sent + 1;
        // From the second patch on nobody has to wait for the core's first slot.
        if (s_tready && sent == PIXELS) first <= clocks;
        if (!s_tready && sent > PIXELS) waited <= waited + 1;
        if (s_tready && sent == 5 * PIXELS)
            $display("four patches took %0d clocks, in %0d of them the sender had to wait", clocks - first, waited);
        if (m_tvalid) begin
            low <= m_tdata;
            if (received % 2 == 1)
                $fwrite(file, "%0d%s", score, (received / 2) % SCORES == SCORES - 1 ? "\n" : ",");
            received <= received + 1;
            if (received == 2 * SCORES * PATCHES - 1) begin
                $fclose(file);
                $finish;
            end
        end
    end
endmodule
