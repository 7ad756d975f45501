// Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules.
// A line of the files: tdata, tlast, tuser; hexadecimal.
`timescale 1ns / 1ps

module {{ v.name }};
  reg clk, aresetn;
  reg [{{ v.in_width - 1 }}:0] in_data, next_data;
  reg in_valid, in_last, next_last, out_ready;
  reg [{{ v.user_hi }}:0] in_user, next_user;
  wire in_ready, out_valid, out_last;
  wire [{{ v.out_width - 1 }}:0] out_data;
  wire [{{ v.user_hi }}:0] out_user;
  reg [{{ v.out_width - 1 }}:0] due_data;
  reg due_last;
  reg [{{ v.user_hi }}:0] due_user;
  integer in_file, out_file, fields, pass, cycle, start, received, wrong, idle, seed, in_pace, out_pace;
  reg more, due, offering, waiting, taken;

  {{ v.top }} dut (
    .aclk(clk), .aresetn(aresetn),
    .s_axis_tdata(in_data), .s_axis_tvalid(in_valid), .s_axis_tready(in_ready), .s_axis_tlast(in_last),
{%- if v.user_width > 0 %}
    .s_axis_tuser(in_user), .m_axis_tuser(out_user),
{%- endif %}
    .m_axis_tdata(out_data), .m_axis_tvalid(out_valid), .m_axis_tready(out_ready), .m_axis_tlast(out_last)
  );
{%- if v.user_width == 0 %}
  assign out_user = 1'b0;
{%- endif %}

  task read_in;
    begin
      fields = $fscanf(in_file, "%h %h %h", next_data, next_last, next_user);
      more = fields == 3;
    end
  endtask

  task read_out;
    begin
      fields = $fscanf(out_file, "%h %h %h", due_data, due_last, due_user);
      due = fields == 3;
    end
  endtask

  task fail;
    input [8 * 40 - 1:0] what;
    begin
      wrong = wrong + 1;
      if (wrong <= 20) $display("WRONG %0d %0s (output beat %0d)", cycle, what, received);
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
    wrong = 0;
    received = 0;
    seed = {{ v.seed }};
    choose_pace;
    for (pass = 0; pass < 2; pass = pass + 1) begin
      in_file = $fopen("beats_in.txt", "r");
      out_file = $fopen("beats_out.txt", "r");
      read_in;
      read_out;
      clk = 1'b0;
      aresetn = 1'b0;
      in_valid = 1'b0;
      out_ready = 1'b0;
      offering = 1'b0;
      waiting = 1'b0;
      received = 0;
      repeat (3 - 2 * pass) begin
        #1 tick;
        if (out_valid !== 1'b0) fail("m_axis_tvalid in reset");
      end
      aresetn = 1'b1;
      start = cycle;
      idle = 0;
      while (idle < {{ v.drain }} && (pass == 1 || cycle - start < {{ v.prelude }})) begin
        if (cycle % 64 == 0) choose_pace;
        if (more && {$random(seed)} % 100 < in_pace) offering = 1'b1;
        in_valid = offering;
        in_data = next_data;
        in_last = next_last;
        in_user = next_user;
        out_ready = {$random(seed)} % 100 < out_pace;
        #1;
        if (waiting && out_valid !== 1'b1) fail("a beat was withdrawn");
        waiting = out_valid && !out_ready;
        if (out_valid !== 1'b0) begin
          if (!due) fail("a beat too many");
          else if (out_valid !== 1'b1 || out_data !== due_data || out_last !== due_last{% if v.user_width > 0 %} || out_user !== due_user{% endif %})
            fail("not the beat that is due");
          if (due && out_ready) begin
            received = received + 1;
            read_out;
          end
        end
        taken = offering && in_ready;
        tick;
        if (taken) begin
          offering = 1'b0;
          read_in;
        end
        idle = due || more ? 0 : idle + 1;
        if (cycle - start > {{ v.limit }}) begin
          fail("no end in sight");
          idle = {{ v.drain }};
        end
      end
      $fclose(in_file);
      $fclose(out_file);
    end
    $display("STREAM %0d %0d", received, wrong);
    $finish;
  end
endmodule
