-- Self-checking testbench. Each lane applies the rows of its file to one entity, a row every clock, and compares what
-- comes out. A row: stimulus, flags (1: compare data, 2: compare the valid flag), expected response and, where a lane
-- has such, the bits to compare; hexadecimal.
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;

entity {{ name }} is
end entity;

architecture simulation of {{ name }} is

{% include "testbench/textio.vhd" %}

  -- A digit for each bit, x for one that is not known.
  function to_binary(value : std_logic_vector) return string is
    constant digits : natural := value'length;
    variable text : string(1 to digits) := (others => 'x');
  begin
    for i in digits - 1 downto 0 loop
      if value(i) = '1' then
        text(digits - i) := '1';
      elsif value(i) = '0' then
        text(digits - i) := '0';
      end if;
    end loop;
    return text;
  end function;

begin
{% for lane in lanes %}
  lane_{{ lane.index }} : block
    signal clk : std_logic := '0';
    signal stimulus : std_logic_vector({{ lane.stimulus_hi }} downto 0) := (others => '0');
    signal response : std_logic_vector({{ lane.response_hi }} downto 0);
  begin
    dut : entity work.{{ lane.top }}{% if !lane.connections.is_empty() %} port map (
{%- for c in lane.connections %}
      {{ c.port }} => {{ c.signal }}{% if !loop.last %},{% endif %}
{%- endfor %}
    ){% endif %};

    process
      file rows : text open read_mode is "{{ lane.file }}";
      variable source : line;
      variable applied : std_logic_vector({{ lane.stimulus_hi }} downto 0);
      variable flags : std_logic_vector(3 downto 0);
      variable expected : std_logic_vector({{ lane.response_hi }} downto 0);
{%- if lane.masked %}
      variable defined : std_logic_vector({{ lane.response_hi }} downto 0);
{%- endif %}
      variable row, wrong : natural := 0;
    begin
      while not endfile(rows) loop
        readline(rows, source);
        read_hex(source, applied);
        read_hex(source, flags);
        read_hex(source, expected);
{%- if lane.masked %}
        read_hex(source, defined);
{%- endif %}
        stimulus <= applied;
        clk <= '0';
        wait for 1 ns;
        if {% match lane.data %}{% when Some with (d) %}(flags(0) = '1' and {% if lane.masked %}(response{{ d }} and defined{{ d }}) /= (expected{{ d }} and defined{{ d }}){% else %}response{{ d }} /= expected{{ d }}{% endif %}){% when None %}false{% endmatch %}
           {%- if lane.has_valid %} or (flags(1) = '1' and response(0) /= expected(0)){% endif %} then
          wrong := wrong + 1;
          if wrong <= {{ shown }} then
            print("MISMATCH {{ lane.index }} " & integer'image(row) & " " & to_binary(response));
          end if;
        end if;
        clk <= '1';
        wait for 1 ns;
        row := row + 1;
      end loop;
      print("DONE {{ lane.index }} " & integer'image(row) & " " & integer'image(wrong));
      wait;
    end process;
  end block;
{% endfor %}
end architecture;
