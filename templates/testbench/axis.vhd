-- Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules.
-- A line of the files: tdata, tlast, tuser; hexadecimal.
library ieee;
use ieee.std_logic_1164.all;
use ieee.math_real.all;
use std.textio.all;

entity {{ v.name }} is
end entity;

architecture simulation of {{ v.name }} is

{% include "testbench/textio.vhd" %}

  signal clk, aresetn, in_valid, out_ready : std_logic := '0';
  signal in_ready, out_valid, out_last : std_logic;
  signal in_last : std_logic := '0';
  signal in_data : std_logic_vector({{ v.in_width - 1 }} downto 0) := (others => '0');
  signal out_data : std_logic_vector({{ v.out_width - 1 }} downto 0);
  signal in_user : std_logic_vector({{ v.user_hi }} downto 0) := (others => '0');
  signal out_user : std_logic_vector({{ v.user_hi }} downto 0) := (others => '0');

begin
  dut : entity work.{{ v.top }} port map (
    aclk => clk, aresetn => aresetn,
    s_axis_tdata => in_data, s_axis_tvalid => in_valid, s_axis_tready => in_ready, s_axis_tlast => in_last,
{%- if v.user_width > 0 %}
    s_axis_tuser => in_user, m_axis_tuser => out_user,
{%- endif %}
    m_axis_tdata => out_data, m_axis_tvalid => out_valid, m_axis_tready => out_ready, m_axis_tlast => out_last
  );

  process
    file in_file, out_file : text;
    variable source : line;
    variable next_data : std_logic_vector({{ v.in_width - 1 }} downto 0);
    variable next_user, due_user : std_logic_vector({{ v.user_hi }} downto 0);
    variable due_data : std_logic_vector({{ v.out_width - 1 }} downto 0);
    variable next_last, due_last : std_logic_vector(0 downto 0);
    variable more, due, offering, waiting, taken, ready : boolean;
    variable cycle, start, received, wrong, idle : natural := 0;
    variable in_pace, out_pace : real := 1.0;
    variable seed_1 : positive := {{ v.seed }} + 1;
    variable seed_2 : positive := 4711;
    variable drawn : real;

    procedure read_in is
    begin
      more := not endfile(in_file);
      if more then
        readline(in_file, source);
        read_hex(source, next_data);
        read_hex(source, next_last);
        read_hex(source, next_user);
      end if;
    end procedure;

    procedure read_out is
    begin
      due := not endfile(out_file);
      if due then
        readline(out_file, source);
        read_hex(source, due_data);
        read_hex(source, due_last);
        read_hex(source, due_user);
      end if;
    end procedure;

    procedure fail(what : in string) is
    begin
      wrong := wrong + 1;
      if wrong <= 20 then
        print("WRONG " & integer'image(cycle) & " " & what & " (output beat " & integer'image(received) & ")");
      end if;
    end procedure;

    procedure choose_pace is
    begin
      uniform(seed_1, seed_2, drawn);
      if drawn < 0.2 then
        in_pace := 1.0;
        out_pace := 1.0;
      elsif drawn < 0.4 then
        in_pace := 1.0;
        out_pace := 0.3;
      elsif drawn < 0.6 then
        in_pace := 0.3;
        out_pace := 1.0;
      elsif drawn < 0.8 then
        in_pace := 0.8;
        out_pace := 0.7;
      else
        in_pace := 0.95;
        out_pace := 0.15;
      end if;
    end procedure;
  begin
    for pass in 0 to 1 loop
      file_open(in_file, "beats_in.txt", read_mode);
      file_open(out_file, "beats_out.txt", read_mode);
      read_in;
      read_out;
      aresetn <= '0';
      in_valid <= '0';
      out_ready <= '0';
      offering := false;
      waiting := false;
      received := 0;
      for i in 1 to 3 - 2 * pass loop
        clk <= '0';
        wait for 1 ns;
        clk <= '1';
        wait for 1 ns;
        if out_valid /= '0' then
          fail("m_axis_tvalid in reset");
        end if;
        cycle := cycle + 1;
      end loop;
      aresetn <= '1';
      start := cycle;
      idle := 0;
      while idle < {{ v.drain }} and (pass = 1 or cycle - start < {{ v.prelude }}) loop
        if cycle mod 64 = 0 then
          choose_pace;
        end if;
        uniform(seed_1, seed_2, drawn);
        if more and drawn < in_pace then
          offering := true;
        end if;
        uniform(seed_1, seed_2, drawn);
        ready := drawn < out_pace;
        in_valid <= '0';
        if offering then
          in_valid <= '1';
        end if;
        in_data <= next_data;
        in_last <= next_last(0);
        in_user <= next_user;
        out_ready <= '0';
        if ready then
          out_ready <= '1';
        end if;
        clk <= '0';
        wait for 1 ns;
        if waiting and out_valid /= '1' then
          fail("a beat was withdrawn");
        end if;
        waiting := out_valid = '1' and not ready;
        if out_valid /= '0' then
          if not due then
            fail("a beat too many");
          elsif out_valid /= '1' or out_data /= due_data or out_last /= due_last(0){% if v.user_width > 0 %} or out_user /= due_user{% endif %} then
            fail("not the beat that is due");
          end if;
          if due and ready then
            received := received + 1;
            read_out;
          end if;
        end if;
        taken := offering and in_ready = '1';
        clk <= '1';
        wait for 1 ns;
        cycle := cycle + 1;
        if taken then
          offering := false;
          read_in;
        end if;
        if due or more then
          idle := 0;
        else
          idle := idle + 1;
        end if;
        if cycle - start > {{ v.limit }} then
          fail("no end in sight");
          idle := {{ v.drain }};
        end if;
      end loop;
      file_close(in_file);
      file_close(out_file);
    end loop;
    print("STREAM " & integer'image(received) & " " & integer'image(wrong));
    wait;
  end process;
end architecture;
