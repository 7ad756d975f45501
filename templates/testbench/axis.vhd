-- Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules.
-- A line of beats_in.txt: tdata, tlast, tuser; of beats_out.txt also the first line of the sample's inputs, and how many
-- those are; hexadecimal. The last line is "end". The files are in the folder that the generic `vectors` names.
library ieee;
use ieee.std_logic_1164.all;
use ieee.math_real.all;
use std.textio.all;

entity {{ v.name }} is
    generic (vectors : string := ".");
    -- Set after the last row, for a bench around this one.
    port (done : out boolean := false);
end entity;

architecture simulation of {{ v.name }} is

{% include "testbench/textio.vhd" %}

    signal clk, aresetn, in_valid, out_ready : std_logic := '0';
    signal in_ready, out_valid, out_last : std_logic;
    signal in_last : std_logic := '0';
    signal in_data : std_logic_vector({{ v.in_width - 1 }} downto 0) := (others => '0');
    signal out_data : std_logic_vector({{ v.out_width - 1 }} downto 0);
{%- if v.user_width > 0 %}
    signal in_user : std_logic_vector({{ v.user_hi }} downto 0) := (others => '0');
    signal out_user : std_logic_vector({{ v.user_hi }} downto 0);
{%- endif %}

begin
    dut : entity work.{{ v.top }} port map (
        {{ v.names.clock }} => clk, {{ v.names.reset }} => aresetn,
        {{ v.names.input }}_tdata => in_data, {{ v.names.input }}_tvalid => in_valid, {{ v.names.input }}_tready => in_ready, {{ v.names.input }}_tlast => in_last,
{%- if v.user_width > 0 %}
        {{ v.names.input }}_tuser => in_user, {{ v.names.output }}_tuser => out_user,
{%- endif %}
        {{ v.names.output }}_tdata => out_data, {{ v.names.output }}_tvalid => out_valid, {{ v.names.output }}_tready => out_ready, {{ v.names.output }}_tlast => out_last
    );

    process
        -- Beats of the files.
        constant rows_in : natural := {{ v.rows_in }};
        constant rows : natural := {{ v.rows_out }};
        constant path_in : string := vectors & "/beats_in.txt";
        constant path_out : string := vectors & "/beats_out.txt";
        file in_file, out_file, again : text;
        variable status : file_open_status;
        variable first, count : std_logic_vector(31 downto 0);
        variable entering, leaving : natural := 0;
        variable broken, lost, good : boolean := false;
        variable source : line;
        variable next_data : std_logic_vector({{ v.in_width - 1 }} downto 0);
        variable next_user, expected_user : std_logic_vector({{ v.user_hi }} downto 0);
        variable expected_data : std_logic_vector({{ v.out_width - 1 }} downto 0);
        variable next_last, expected_last : std_logic_vector(0 downto 0);
        variable more, due, offering, waiting, taken, ready, counts, stalled, unstalled, stop : boolean;
        variable cycle, start, length, sent, received, mismatches, idle : natural := 0;
        variable in_pace, out_pace : real := 1.0;
        variable seed_1 : positive := {{ v.seed }} + 1;
        variable seed_2 : positive := 4711;
        variable drawn : real;

        procedure give_up(why : in string) is
        begin
            print("FAIL " & why);
            broken := true;
        end procedure;

        procedure read_in is
        begin
            more := entering < rows_in and not broken;
            if more then
                good := not endfile(in_file);
                if good then
                    readline(in_file, source);
                    read_hex(source, next_data, good);
                    read_hex(source, next_last, good);
                    read_hex(source, next_user, good);
                end if;
                if not good then
                    give_up(path_in & " ends or is not legible at row " & integer'image(entering) & " of " & integer'image(rows_in));
                end if;
                entering := entering + 1;
            elsif not broken then
                if not at_end(in_file) then
                    give_up(path_in & " does not end after " & integer'image(rows_in) & " rows");
                end if;
            end if;
        end procedure;

        procedure read_out is
        begin
            due := leaving < rows and not broken;
            if due then
                good := not endfile(out_file);
                if good then
                    readline(out_file, source);
                    read_hex(source, expected_data, good);
                    read_hex(source, expected_last, good);
                    read_hex(source, expected_user, good);
                    read_hex(source, first, good);
                    read_hex(source, count, good);
                end if;
                if not good then
                    give_up(path_out & " ends or is not legible at row " & integer'image(leaving) & " of " & integer'image(rows));
                end if;
                leaving := leaving + 1;
            elsif not broken then
                if not at_end(out_file) then
                    give_up(path_out & " does not end after " & integer'image(rows) & " rows");
                end if;
            end if;
        end procedure;

        procedure fail(what : in string) is
        begin
            mismatches := mismatches + 1;
            if mismatches <= 20 then
                print("WRONG " & integer'image(cycle) & " " & what & " (output beat " & integer'image(received) & ")");
            end if;
        end procedure;

        -- What is wrong with the beat, by name, and what was applied.
        procedure show is
            variable said : line;
            variable data : std_logic_vector({{ v.in_width - 1 }} downto 0);
            variable here : boolean := true;
        begin
            if mismatches <= 20 then
                print("  row " & integer'image(received) & ": expected tdata " & to_binary(expected_data) & " tlast " & to_binary(expected_last){% if v.user_width > 0 %} &
                    " tuser " & to_binary(expected_user){% endif %});
                print("  row " & integer'image(received) & ":    found tdata " & to_binary(out_data) & " tlast " & std_logic'image(out_last){% if v.user_width > 0 %} &
                    " tuser " & to_binary(out_user){% endif %});
{%- for pieces in v.pieces %}
{%- if !pieces.is_empty() %}
                if received mod {{ v.pieces.len() }} = {{ loop.index0 }} then
{%- for e in pieces %}
                    if out_data({{ e.hi }} downto {{ e.lo }}) /= expected_data({{ e.hi }} downto {{ e.lo }}) then
                        print("  row " & integer'image(received) & ": {{ e.name }}: expected " & to_decimal(expected_data({{ e.hi }} downto {{ e.lo }}), {{ e.signed }}) &
                            ", found " & to_decimal(out_data({{ e.hi }} downto {{ e.lo }}), {{ e.signed }}));
                    end if;
{%- endfor %}
                end if;
{%- endif %}
{%- endfor %}
                write(said, "  row " & integer'image(received) & ": inputs of sample " & integer'image(received / {{ v.pieces.len() }}) &
                    ", beats from " & integer'image(to_natural(first)) & ":");
                file_open(again, path_in, read_mode);
                for k in 0 to to_natural(first) + to_natural(count) - 1 loop
                    if not endfile(again) then
                        readline(again, source);
                        read_hex(source, data, here);
                        if k >= to_natural(first) then
                            write(said, " " & to_binary(data));
                        end if;
                    end if;
                end loop;
                file_close(again);
                writeline(output, said);
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
        -- A reset interrupts each pass but the last, which counts.
        for pass in 0 to {{ v.resets }} loop
            exit when broken or lost;
            counts := pass = {{ v.resets }};
            file_open(status, in_file, path_in, read_mode);
            if status /= open_ok then
                give_up("cannot open " & path_in);
                exit;
            end if;
            file_open(status, out_file, path_out, read_mode);
            if status /= open_ok then
                give_up("cannot open " & path_out);
                exit;
            end if;
            entering := 0;
            leaving := 0;
            read_in;
            read_out;
            aresetn <= '0';
            in_valid <= '0';
            out_ready <= '0';
            offering := false;
            waiting := false;
            received := 0;
            sent := 0;
            for i in 0 to 2 loop
                exit when i > 0 and pass > 0;
                clk <= '0';
                wait for 1 ns;
                clk <= '1';
                wait for 1 ns;
                if out_valid /= '0' then
                    fail("{{ v.names.output }}_tvalid in reset");
                end if;
                cycle := cycle + 1;
            end loop;
            aresetn <= '1';
            start := cycle;
            idle := 0;
            -- The reset comes after the end of a packet; with a full FIFO, for which nothing reads; inside a sample;
            -- anywhere.
            stop := false;
            stalled := pass mod 4 = 1 and not counts;
            length := {{ v.prelude }};
            if not stalled then
                uniform(seed_1, seed_2, drawn);
                length := 1 + integer(floor(drawn * {{ v.prelude }}.0));
            end if;
            while not broken and idle < {{ v.drain }} and not stop loop
                unstalled := counts and sent < {{ v.beats }};
                if cycle mod 64 = 0 then
                    choose_pace;
                end if;
                uniform(seed_1, seed_2, drawn);
                if more and (drawn < in_pace or stalled or unstalled) then
                    offering := true;
                end if;
                uniform(seed_1, seed_2, drawn);
                ready := (drawn < out_pace or unstalled) and not stalled;
                in_valid <= '0';
                if offering then
                    in_valid <= '1';
                end if;
                in_data <= next_data;
                in_last <= next_last(0);
{%- if v.user_width > 0 %}
                in_user <= next_user;
{%- endif %}
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
                    elsif out_valid /= '1' or out_data /= expected_data or out_last /= expected_last(0){% if v.user_width > 0 %} or out_user /= expected_user{% endif %} then
                        fail("not the beat that is due");
                        show;
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
                    sent := sent + 1;
                    read_in;
{%- if v.full_rate %}
                    if unstalled and sent = {{ v.beats }} and cycle - start > {{ v.samples }} * {{ v.interval }} + {{ v.start }} then
                        fail("not at full rate");
                    end if;
{%- endif %}
                end if;
                stop := not counts and cycle - start >= length and
                    (pass mod 2 = 1 or (taken and (in_last = '1' or pass mod 4 = 2)));
                if due or more then
                    idle := 0;
                else
                    idle := idle + 1;
                end if;
                if cycle - start > {{ v.limit }} then
                    fail("no end in sight");
                    idle := {{ v.drain }};
                    lost := true;
                end if;
            end loop;
            file_close(in_file);
            file_close(out_file);
        end loop;
        if not broken then
            print("STREAM " & integer'image(received) & " " & integer'image(mismatches));
        end if;
        if mismatches > 0 then
            print("FAIL " & integer'image(mismatches) & " differences in " & integer'image(received) & " rows");
        elsif not broken and received /= rows then
            print("FAIL " & integer'image(received) & " of " & integer'image(rows) & " rows were seen");
        elsif not broken then
            print("PASS " & integer'image(received) & " rows");
        end if;
        assert mismatches = 0 and received = rows and not broken report "FAIL" severity failure;
        done <= true;
        wait;
    end process;
end architecture;
