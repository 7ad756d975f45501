// Self-checking testbench. Each lane applies the rows of its file to one module, a row every clock, and compares the
// outputs. A row: stimulus, flags (1: compare data, 2: compare the valid flag, 4: the next number is valid), the row
// whose inputs these outputs belong to, expected response and, where a lane has such, the bits to compare; hexadecimal.
// The last line is "end". The files are in the folder VECTORS: a parameter, or +VECTORS=... for the simulator.
{% for lane in lanes %}
module {{ name }}_{{ lane.index }};
    parameter [8 * 1024 - 1:0] VECTORS = ".";
    // Rows of the file, and rows that compare data.
    parameter ROWS = {{ lane.rows }};
    parameter COMPARED = {{ lane.compared }};

    reg clk;
    // An asynchronous reset is among its bits.
    // verilator lint_off SYNCASYNCNET
    reg [{{ lane.stimulus_hi }}:0] stimulus;
    // verilator lint_on SYNCASYNCNET
    reg [{{ lane.stimulus_hi }}:0] next;
    wire [{{ lane.response_hi }}:0] actual;
    reg [{{ lane.response_hi }}:0] expected;
{%- if lane.masked %}
    // The valid flag is always defined.
    // verilator lint_off UNUSED
    reg [{{ lane.response_hi }}:0] defined;
    // verilator lint_on UNUSED
{%- endif %}
    // Not all benches compare data and a valid flag.
    // verilator lint_off UNUSED
    reg [2:0] flags;
    // verilator lint_on UNUSED
    reg [31:0] entered, wanted;
    reg [8 * 1024 - 1:0] folder;
    reg [8 * 3 - 1:0] last;
    integer file, again, fields, row, mismatches, compared;
    reg done, broken;

    {{ lane.top }} dut (
{%- for c in lane.connections %}
        .{{ c.port }}({{ c.signal }}){% if !loop.last %},{% endif %}
{%- endfor %}
    );

    // Prints the outputs of this row that differ, and its inputs.
    task show;
        begin
{%- if lane.has_valid %}
            if (flags[1] && actual[0] !== expected[0])
                $display("  row %0d: the valid flag: expected %b, found %b", row, expected[0], actual[0]);
{%- endif %}
            if (flags[0]) begin
{%- for e in lane.outputs %}
                if ({% if lane.masked %}((actual[{{ e.hi }}:{{ e.lo }}] ^ expected[{{ e.hi }}:{{ e.lo }}]) & defined[{{ e.hi }}:{{ e.lo }}]) !== 0{% else %}actual[{{ e.hi }}:{{ e.lo }}] !== expected[{{ e.hi }}:{{ e.lo }}]{% endif %})
                    $display("  row %0d: {{ e.name }}: expected %0d, found %0d (%b)", row, {{ e.verilog("expected") }}, {{ e.verilog("actual") }}, actual[{{ e.hi }}:{{ e.lo }}]);
{%- endfor %}
            end
            if (flags[2]) begin
                wanted = entered;
                again = $fopen({folder, "/{{ lane.file }}"}, "r");
                for (fields = 0; fields <= wanted; fields = fields + 1)
                    if ({{ lane.scan("again") }} != {{ lane.fields() }}) fields = wanted;
                $fclose(again);
                $write("  row %0d: inputs of row %0d:", row, wanted);
{%- for e in lane.inputs %}
                $write(" {{ e.name }} = %0d{% if !loop.last %},{% endif %}", {{ e.verilog("next") }});
{%- endfor %}
                $display("");
            end
        end
    endtask

    initial begin
        clk = 1'b0;
        row = 0;
        mismatches = 0;
        compared = 0;
        done = 1'b0;
        broken = 1'b0;
        if ($value$plusargs("VECTORS=%s", folder) == 0) folder = VECTORS;
        file = $fopen({folder, "/{{ lane.file }}"}, "r");
        if (file == 0) begin
            $display("FAIL cannot open %0s/{{ lane.file }}", folder);
            broken = 1'b1;
        end
        while (row < ROWS && !broken) begin
            fields = {{ lane.scan("file") }};
            if (fields != {{ lane.fields() }}) begin
                $display("FAIL %0s/{{ lane.file }} ends or is not legible at row %0d of %0d", folder, row, ROWS);
                broken = 1'b1;
            end else begin
                stimulus = next;
                #1;
                if (flags[0]) compared = compared + 1;
                if ({% match lane.data %}{% when Some with (d) %}(flags[0] && {% if lane.masked %}((actual{{ d }} ^ expected{{ d }}) & defined{{ d }}) !== 0{% else %}actual{{ d }} !== expected{{ d }}{% endif %}){% when None %}1'b0{% endmatch %}
                        {%- if lane.has_valid %} || (flags[1] && actual[0] !== expected[0]){% endif %}) begin
                    mismatches = mismatches + 1;
                    if (mismatches <= {{ shown }}) begin
                        $display("MISMATCH {{ lane.index }} %0d %b", row, actual);
                        show;
                    end
                end
                clk = 1'b1;
                #1 clk = 1'b0;
                row = row + 1;
            end
        end
        if (!broken) begin
            last = 0;
            fields = $fscanf(file, "%s", last);
            if (last != "end") begin
                $display("FAIL %0s/{{ lane.file }} does not end after %0d rows", folder, ROWS);
                broken = 1'b1;
            end else if (compared != COMPARED) begin
                $display("FAIL %0s/{{ lane.file }}: %0d rows compare data, not %0d", folder, compared, COMPARED);
                broken = 1'b1;
            end
        end
        if (file != 0) $fclose(file);
        if (!broken) $display("DONE {{ lane.index }} %0d %0d", row, mismatches);
        done = 1'b1;
    end
endmodule
{% endfor %}
module {{ name }};
    parameter [8 * 1024 - 1:0] VECTORS = ".";

    integer rows, mismatches;
    reg broken;
{% for lane in lanes %}
    {{ name }}_{{ lane.index }} #(.VECTORS(VECTORS)) lane_{{ lane.index }} ();
{%- endfor %}

    initial begin
        rows = 0;
        mismatches = 0;
        broken = 1'b0;
{%- for lane in lanes %}
        wait (lane_{{ lane.index }}.done === 1'b1);
        rows = rows + lane_{{ lane.index }}.row;
        mismatches = mismatches + lane_{{ lane.index }}.mismatches;
        broken = broken | lane_{{ lane.index }}.broken;
{%- endfor %}
        if (mismatches > 0) $display("FAIL %0d of %0d rows differ", mismatches, rows);
        if (!broken && mismatches == 0) begin
            $display("PASS %0d rows", rows);
            $finish(0);
        end
        // A nonzero exit code: the system task depends on the simulator.
`ifdef __ICARUS__
        else $finish_and_return(1);
`else
        else $stop;
`endif
    end
{% if !vcd %}
`ifdef VCD
{%- endif %}
    initial begin
        $dumpfile("wave.vcd");
        $dumpvars;
    end
{%- if !vcd %}
`endif
{%- endif %}
endmodule
