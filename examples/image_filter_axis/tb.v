// Streams the windows of image.pgm through the filter with random gaps on both sides and writes what comes out, one value a line.
// Run in the folder of results: the image and the output lie there.
module tb;
    localparam MOST = 1 << 16;
    reg aclk = 0, aresetn = 0;
    always #5 aclk = !aclk;

    reg [71:0] s_tdata = 0;
    reg s_tvalid = 0, s_tlast = 0, m_tready = 0;
    wire s_tready, m_tvalid, m_tlast;
    wire [7:0] m_tdata;
    sobel dut (
        .aclk(aclk), .aresetn(aresetn),
        .s_axis_tdata(s_tdata), .s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready), .s_axis_tlast(s_tlast), .s_axis_tuser(1'b0),
        .m_axis_tdata(m_tdata), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready), .m_axis_tlast(m_tlast), .m_axis_tuser()
    );

    reg [7:0] pixel [0:MOST-1];
    integer width, height, most, image, out, k, read;
    integer x = 1, y = 1, results = 0, waits = 0, clocks = 0, seed = 1;
    reg more = 1;

    // Element 0 lies in the low byte.
    function [71:0] window(input integer x, input integer y);
        integer dx, dy;
        for (dy = 0; dy < 3; dy = dy + 1)
            for (dx = 0; dx < 3; dx = dx + 1)
                window[8 * (3 * dy + dx) +: 8] = pixel[(y + dy - 1) * width + x + dx - 1];
    endfunction

    initial begin
        image = $fopen("image.pgm", "r");
        read = $fscanf(image, "P2 %d %d %d", width, height, most);
        if (read != 3 || width * height > MOST) begin $display("no image"); $finish; end
        for (k = 0; k < width * height; k = k + 1) read = $fscanf(image, "%d", pixel[k]);
        out = $fopen("edges.txt", "w");
        repeat (4) @(posedge aclk);
        aresetn <= 1;
    end

    always @(posedge aclk) if (aresetn) begin
        clocks = clocks + 1;
        // The sender: a beat that waits stays as it is; else a new one comes in two of three clocks.
        if (s_tvalid && s_tready) s_tvalid <= 0;
        if ((!s_tvalid || s_tready) && more && $unsigned($random(seed)) % 3 != 0) begin
            s_tdata <= window(x, y);
            s_tvalid <= 1;
            s_tlast <= x == width - 2;
            x = x + 1;
            if (x == width - 1) begin x = 1; y = y + 1; end
            if (y == height - 1) more = 0;
        end
        // The receiver takes a beat in one of two clocks.
        m_tready <= $random(seed);
        if (m_tvalid && !m_tready) waits = waits + 1;
        if (m_tvalid && m_tready) begin
            $fwrite(out, "%0d\n", m_tdata);
            results = results + 1;
            if (m_tlast != (results % (width - 2) == 0)) begin $display("FAIL: tlast at result %0d", results); $finish; end
            if (results == (width - 2) * (height - 2)) begin
                $display("%0d windows in %0d clocks; results had to wait in %0d of them", results, clocks, waits);
                $fclose(out);
                $finish;
            end
        end
        if (clocks > 100000) begin $display("FAIL: %0d results after %0d clocks", results, clocks); $finish; end
    end
endmodule
