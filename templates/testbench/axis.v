// Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules.
// A line of beats_in.txt: tdata, tlast, tuser; of beats_out.txt also the first line of the sample's inputs, and how many
// those are; hexadecimal. The last line is "end". The files are in the folder VECTORS: a parameter, or +VECTORS=... for
// the simulator.

module {{ v.name }};
    parameter [8 * 1024 - 1:0] VECTORS = ".";
    // Beats of the files.
    parameter ROWS_IN = {{ v.rows_in }};
    parameter ROWS = {{ v.rows_out }};

    reg clk, aresetn;
    reg [{{ v.in_width - 1 }}:0] in_data, next_data;
    reg in_valid, in_last, next_last, out_ready;
    reg [{{ v.user_hi }}:0] {% if v.user_width > 0 %}in_user, {% endif %}next_user;
    wire in_ready, out_valid, out_last;
    wire [{{ v.out_width - 1 }}:0] out_data;
{%- if v.user_width > 0 %}
    wire [{{ v.user_hi }}:0] out_user;
{%- endif %}
    reg [{{ v.out_width - 1 }}:0] expected_data;
    reg expected_last;
    reg [{{ v.user_hi }}:0] expected_user;
    reg [31:0] first, count;
    reg [8 * 1024 - 1:0] folder;
    reg [8 * 3 - 1:0] end_mark;
    reg broken;
    integer again, entering, leaving, k;
    integer in_file, out_file, fields, pass, cycle, start, length, sent, received, mismatches, idle, in_pace, out_pace;
    // For Verilator nothing uses an argument of $random or $fscanf.
    // verilator lint_off UNUSED
    integer seed;
    // verilator lint_on UNUSED
    reg more, due, offering, waiting, taken, counts, stalled, unstalled, stop;

    {{ v.top }} dut (
        .{{ v.names.clock }}(clk), .{{ v.names.reset }}(aresetn),
        .{{ v.names.input }}_tdata(in_data), .{{ v.names.input }}_tvalid(in_valid), .{{ v.names.input }}_tready(in_ready), .{{ v.names.input }}_tlast(in_last),
{%- if v.user_width > 0 %}
        .{{ v.names.input }}_tuser(in_user), .{{ v.names.output }}_tuser(out_user),
{%- endif %}
        .{{ v.names.output }}_tdata(out_data), .{{ v.names.output }}_tvalid(out_valid), .{{ v.names.output }}_tready(out_ready), .{{ v.names.output }}_tlast(out_last)
    );

    task read_in;
        begin
            more = entering < ROWS_IN && !broken;
            if (more) begin
                fields = $fscanf(in_file, "%h %h %h", next_data, next_last, next_user);
                entering = entering + 1;
                if (fields != 3) begin
                    $display("FAIL %0s/beats_in.txt ends or is not legible at row %0d of %0d", folder, entering - 1, ROWS_IN);
                    broken = 1'b1;
                end
            end else if (!broken) begin
                end_mark = 0;
                fields = $fscanf(in_file, "%s", end_mark);
                if (end_mark != "end") begin
                    $display("FAIL %0s/beats_in.txt does not end after %0d rows", folder, ROWS_IN);
                    broken = 1'b1;
                end
            end
        end
    endtask

    task read_out;
        begin
            due = leaving < ROWS && !broken;
            if (due) begin
                fields = $fscanf(out_file, "%h %h %h %h %h", expected_data, expected_last, expected_user, first, count);
                leaving = leaving + 1;
                if (fields != 5) begin
                    $display("FAIL %0s/beats_out.txt ends or is not legible at row %0d of %0d", folder, leaving - 1, ROWS);
                    broken = 1'b1;
                end
            end else if (!broken) begin
                end_mark = 0;
                fields = $fscanf(out_file, "%s", end_mark);
                if (end_mark != "end") begin
                    $display("FAIL %0s/beats_out.txt does not end after %0d rows", folder, ROWS);
                    broken = 1'b1;
                end
            end
        end
    endtask

    task fail;
        input [8 * 40 - 1:0] what;
        begin
            mismatches = mismatches + 1;
            if (mismatches <= 20) $display("WRONG %0d %0s (output beat %0d)", cycle, what, received);
        end
    endtask

    // What is wrong with the beat, by name, and what was applied.
    task show;
        reg [{{ v.in_width - 1 }}:0] data;
        // verilator lint_off UNUSED
        reg [{{ v.user_hi }}:0] user;
        reg last;
        // verilator lint_on UNUSED
        begin
            if (mismatches <= 20) begin
                $display("  row %0d: expected tdata %h tlast %b{% if v.user_width > 0 %} tuser %h{% endif %}, found tdata %h tlast %b{% if v.user_width > 0 %} tuser %h{% endif %}", received,
                    expected_data, expected_last, {% if v.user_width > 0 %}expected_user, {% endif %}out_data, out_last{% if v.user_width > 0 %}, out_user{% endif %});
                case (received % {{ v.pieces.len() }})
{%- for pieces in v.pieces %}
                    {{ loop.index0 }}: begin
{%- for e in pieces %}
                        if (out_data[{{ e.hi }}:{{ e.lo }}] !== expected_data[{{ e.hi }}:{{ e.lo }}])
                            $display("  row %0d: {{ e.name }}: expected %0d, found %0d", received, {{ e.verilog("expected_data") }}, {{ e.verilog("out_data") }});
{%- endfor %}
                    end
{%- endfor %}
                    default: ;
                endcase
                $write("  row %0d: inputs of sample %0d, beats from %0d:", received, received / {{ v.pieces.len() }}, first);
                again = $fopen({folder, "/beats_in.txt"}, "r");
                for (k = 0; k < first + count; k = k + 1) begin
                    fields = $fscanf(again, "%h %h %h", data, last, user);
                    if (k >= first) $write(" %h", data);
                end
                $fclose(again);
                $display("");
            end
        end
    endtask

    task tick;
        begin
            clk = 1'b1;
            #1 clk = 1'b0;
            cycle = cycle + 1;
        end
    endtask

    task choose_pace;
        begin
            case ({$random(seed)} % 5)
                0: begin in_pace = 100; out_pace = 100; end
                1: begin in_pace = 100; out_pace = 30; end
                2: begin in_pace = 30; out_pace = 100; end
                3: begin in_pace = 80; out_pace = 70; end
                default: begin in_pace = 95; out_pace = 15; end
            endcase
        end
    endtask

    initial begin
        cycle = 0;
        mismatches = 0;
        received = 0;
        broken = 1'b0;
        seed = {{ v.seed }};
        if ($value$plusargs("VECTORS=%s", folder) == 0) folder = VECTORS;
        choose_pace;
        // A reset interrupts each pass but the last, which counts.
        for (pass = 0; pass <= {{ v.resets }} && !broken; pass = pass + 1) begin
            counts = pass == {{ v.resets }};
            in_file = $fopen({folder, "/beats_in.txt"}, "r");
            out_file = $fopen({folder, "/beats_out.txt"}, "r");
            if (in_file == 0 || out_file == 0) begin
                $display("FAIL cannot open %0s/beats_in.txt and %0s/beats_out.txt", folder, folder);
                broken = 1'b1;
            end
            entering = 0;
            leaving = 0;
            read_in;
            read_out;
            clk = 1'b0;
            aresetn = 1'b0;
            in_valid = 1'b0;
            out_ready = 1'b0;
            offering = 1'b0;
            waiting = 1'b0;
            received = 0;
            sent = 0;
            repeat (pass == 0 ? 3 : 1) begin
                #1 tick;
                if (out_valid !== 1'b0) fail("{{ v.names.output }}_tvalid in reset");
            end
            aresetn = 1'b1;
            start = cycle;
            idle = 0;
            // The reset comes after the end of a packet; with a full FIFO, for which nothing reads; inside a sample;
            // anywhere.
            stop = 1'b0;
            stalled = pass % 4 == 1 && !counts;
            length = stalled ? {{ v.prelude }} : 1 + {$random(seed)} % {{ v.prelude }};
            while (!broken && idle < {{ v.drain }} && !stop) begin
                unstalled = counts && sent < {{ v.beats }};
                if (cycle % 64 == 0) choose_pace;
                if (more && ({$random(seed)} % 100 < in_pace || stalled || unstalled)) offering = 1'b1;
                in_valid = offering;
                in_data = next_data;
                in_last = next_last;
{%- if v.user_width > 0 %}
                in_user = next_user;
{%- endif %}
                out_ready = ({$random(seed)} % 100 < out_pace || unstalled) && !stalled;
                #1;
                if (waiting && out_valid !== 1'b1) fail("a beat was withdrawn");
                waiting = out_valid && !out_ready;
                if (out_valid !== 1'b0) begin
                    if (!due) fail("a beat too many");
                    else if (out_valid !== 1'b1 || out_data !== expected_data || out_last !== expected_last{% if v.user_width > 0 %} || out_user !== expected_user{% endif %})
                    begin
                        fail("not the beat that is due");
                        show;
                    end
                    if (due && out_ready) begin
                        received = received + 1;
                        read_out;
                    end
                end
                taken = offering && in_ready;
                tick;
                if (taken) begin
                    offering = 1'b0;
                    sent = sent + 1;
                    read_in;
{%- if v.full_rate %}
                    if (unstalled && sent == {{ v.beats }} && cycle - start > {{ v.samples }} * {{ v.interval }} + {{ v.start }})
                        fail("not at full rate");
{%- endif %}
                end
                stop = !counts && cycle - start >= length && (pass % 2 == 1 || (taken && (in_last || pass % 4 == 2)));
                idle = due || more ? 0 : idle + 1;
                if (cycle - start > {{ v.limit }}) begin
                    fail("no end in sight");
                    idle = {{ v.drain }};
                    pass = {{ v.resets }};
                end
            end
            if (in_file != 0) $fclose(in_file);
            if (out_file != 0) $fclose(out_file);
        end
        if (!broken) $display("STREAM %0d %0d", received, mismatches);
        if (mismatches > 0) $display("FAIL %0d differences in %0d rows", mismatches, received);
        else if (!broken && received != ROWS) $display("FAIL %0d of %0d rows were seen", received, ROWS);
        if (!broken && mismatches == 0 && received == ROWS) begin
            $display("PASS %0d rows", received);
            $finish(0);
        end
        // A failing exit of the simulator: each has its own way.
`ifdef __ICARUS__
        else $finish_and_return(1);
`else
        else $stop;
`endif
    end

`ifdef VCD
    initial begin
        $dumpfile("wave.vcd");
        $dumpvars;
    end
`endif
endmodule
