-- Self-checking testbench. Each lane applies the rows of its file to one entity, a row every clock, and compares the
-- outputs. A row: stimulus, flags (1: compare data, 2: compare the valid flag, 4: the next number is valid), the row
-- whose inputs these outputs belong to, expected response and, where a lane has such, the bits to compare; hexadecimal.
-- The last line is "end". The files are in the folder that the generic `vectors` names.
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;

entity {{ name }} is
    generic (vectors : string := ".");
    -- Set after the last row, for a bench around this one.
    port (done : out boolean := false);
end entity;

architecture simulation of {{ name }} is

{% include "testbench/textio.vhd" %}
{% for lane in lanes %}
    signal done_{{ lane.index }}, broken_{{ lane.index }} : boolean := false;
    signal rows_{{ lane.index }}, mismatches_{{ lane.index }} : natural := 0;
{%- endfor %}

begin
{% for lane in lanes %}
    lane_{{ lane.index }} : block
        signal clk : std_logic := '0';
        signal stimulus : std_logic_vector({{ lane.stimulus_hi }} downto 0) := (others => '0');
        signal actual : std_logic_vector({{ lane.response_hi }} downto 0);
    begin
        dut : entity work.{{ lane.top }}{% if !lane.connections.is_empty() %} port map (
{%- for c in lane.connections %}
            {{ c.port }} => {{ c.signal }}{% if !loop.last %},{% endif %}
{%- endfor %}
        ){% endif %};

        process
            -- Rows of the file, and rows that compare data.
            constant count : natural := {{ lane.rows }};
            constant count_compared : natural := {{ lane.compared }};
            constant path : string := vectors & "/{{ lane.file }}";
            file rows, again : text;
            variable status : file_open_status;
            variable source : line;
            variable applied : std_logic_vector({{ lane.stimulus_hi }} downto 0);
            variable flags : std_logic_vector(3 downto 0);
            variable entered : std_logic_vector(31 downto 0);
            variable expected : std_logic_vector({{ lane.response_hi }} downto 0);
{%- if lane.masked %}
            variable defined : std_logic_vector({{ lane.response_hi }} downto 0);
{%- endif %}
            variable row, mismatches, compared, wanted : natural := 0;
            variable good, broken : boolean := false;

            procedure read_row(file from : text) is
            begin
                good := not endfile(from);
                if good then
                    readline(from, source);
                    read_hex(source, applied, good);
                    read_hex(source, flags, good);
                    read_hex(source, entered, good);
                    read_hex(source, expected, good);
{%- if lane.masked %}
                    read_hex(source, defined, good);
{%- endif %}
                end if;
            end procedure;

            -- Prints the outputs of this row that differ, and its inputs.
            procedure show is
                variable said : line;
            begin
{%- if lane.has_valid %}
                if flags(1) = '1' and actual(0) /= expected(0) then
                    print("  row " & integer'image(row) & ": the valid flag: expected " & to_binary(expected(0 downto 0)) &
                        ", found " & to_binary(actual(0 downto 0)));
                end if;
{%- endif %}
{%- if !lane.outputs.is_empty() %}
                if flags(0) = '1' then
{%- for e in lane.outputs %}
                    if {% if lane.masked %}(actual({{ e.hi }} downto {{ e.lo }}) and defined({{ e.hi }} downto {{ e.lo }})) /= (expected({{ e.hi }} downto {{ e.lo }}) and defined({{ e.hi }} downto {{ e.lo }})){% else %}actual({{ e.hi }} downto {{ e.lo }}) /= expected({{ e.hi }} downto {{ e.lo }}){% endif %} then
                        print("  row " & integer'image(row) & ": {{ e.name }}: expected " & to_decimal(expected({{ e.hi }} downto {{ e.lo }}), {{ e.signed }}) &
                            ", found " & to_decimal(actual({{ e.hi }} downto {{ e.lo }}), {{ e.signed }}) & " (" & to_binary(actual({{ e.hi }} downto {{ e.lo }})) & ")");
                    end if;
{%- endfor %}
                end if;
{%- endif %}
                if flags(2) = '1' then
                    wanted := to_natural(entered);
                    file_open(again, path, read_mode);
                    for k in 0 to wanted loop
                        read_row(again);
                    end loop;
                    file_close(again);
                    write(said, "  row " & integer'image(row) & ": inputs of row " & integer'image(wanted) & ":");
{%- for e in lane.inputs %}
                    write(said, " {{ e.name }} = " & to_decimal(applied({{ e.hi }} downto {{ e.lo }}), {{ e.signed }}){% if !loop.last %} & ","{% endif %});
{%- endfor %}
                    writeline(output, said);
                end if;
            end procedure;
        begin
            file_open(status, rows, path, read_mode);
            if status /= open_ok then
                print("FAIL cannot open " & path);
                broken := true;
            end if;
            while row < count and not broken loop
                read_row(rows);
                if not good then
                    print("FAIL " & path & " ends or is not legible at row " & integer'image(row) & " of " & integer'image(count));
                    broken := true;
                else
                    stimulus <= applied;
                    clk <= '0';
                    wait for 1 ns;
                    if flags(0) = '1' then
                        compared := compared + 1;
                    end if;
                    if {% match lane.data %}{% when Some with (d) %}(flags(0) = '1' and {% if lane.masked %}(actual{{ d }} and defined{{ d }}) /= (expected{{ d }} and defined{{ d }}){% else %}actual{{ d }} /= expected{{ d }}{% endif %}){% when None %}false{% endmatch %}
                          {%- if lane.has_valid %} or (flags(1) = '1' and actual(0) /= expected(0)){% endif %} then
                        mismatches := mismatches + 1;
                        if mismatches <= {{ shown }} then
                            print("MISMATCH {{ lane.index }} " & integer'image(row) & " " & to_binary(actual));
                            show;
                        end if;
                    end if;
                    clk <= '1';
                    wait for 1 ns;
                    row := row + 1;
                end if;
            end loop;
            if not broken then
                if not at_end(rows) then
                    print("FAIL " & path & " does not end after " & integer'image(count) & " rows");
                    broken := true;
                elsif compared /= count_compared then
                    print("FAIL " & path & ": " & integer'image(compared) & " rows compare data, not " &
                        integer'image(count_compared));
                    broken := true;
                else
                    print("DONE {{ lane.index }} " & integer'image(row) & " " & integer'image(mismatches));
                end if;
            end if;
            rows_{{ lane.index }} <= row;
            mismatches_{{ lane.index }} <= mismatches;
            broken_{{ lane.index }} <= broken;
            done_{{ lane.index }} <= true;
            wait;
        end process;
    end block;
{% endfor %}
    verdict : process
        variable rows, mismatches : natural := 0;
        variable broken : boolean := false;
    begin
{%- for lane in lanes %}
        if not done_{{ lane.index }} then
            wait until done_{{ lane.index }};
        end if;
        rows := rows + rows_{{ lane.index }};
        mismatches := mismatches + mismatches_{{ lane.index }};
        broken := broken or broken_{{ lane.index }};
{%- endfor %}
        if mismatches > 0 then
            print("FAIL " & integer'image(mismatches) & " of " & integer'image(rows) & " rows differ");
        elsif not broken then
            print("PASS " & integer'image(rows) & " rows");
        end if;
        assert mismatches = 0 and not broken report "FAIL" severity failure;
        done <= true;
        wait;
    end process;
end architecture;
