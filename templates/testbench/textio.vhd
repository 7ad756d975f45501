  -- The next hexadecimal number of the line, with as many digits as the vector needs.
  procedure read_hex(source : inout line; value : out std_logic_vector) is
    constant digits : natural := (value'length + 3) / 4;
    variable padded : std_logic_vector(4 * digits - 1 downto 0);
    variable nibble : std_logic_vector(3 downto 0);
    variable c : character;
  begin
    loop
      read(source, c);
      exit when c /= ' ';
    end loop;
    for k in digits - 1 downto 0 loop
      case c is
        when '0' => nibble := "0000";
        when '1' => nibble := "0001";
        when '2' => nibble := "0010";
        when '3' => nibble := "0011";
        when '4' => nibble := "0100";
        when '5' => nibble := "0101";
        when '6' => nibble := "0110";
        when '7' => nibble := "0111";
        when '8' => nibble := "1000";
        when '9' => nibble := "1001";
        when 'a' => nibble := "1010";
        when 'b' => nibble := "1011";
        when 'c' => nibble := "1100";
        when 'd' => nibble := "1101";
        when 'e' => nibble := "1110";
        when 'f' => nibble := "1111";
        when others => nibble := "XXXX";
      end case;
      padded(4 * k + 3 downto 4 * k) := nibble;
      if k > 0 then
        read(source, c);
      end if;
    end loop;
    value := padded(value'length - 1 downto 0);
  end procedure;

  procedure print(text : in string) is
    variable l : line;
  begin
    write(l, text);
    writeline(output, l);
  end procedure;
