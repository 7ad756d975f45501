    -- The next hexadecimal number of the line, with as many digits as the vector needs; good stays true if it is there.
    procedure read_hex(source : inout line; value : out std_logic_vector; good : inout boolean) is
        constant digits : natural := (value'length + 3) / 4;
        variable padded : std_logic_vector(4 * digits - 1 downto 0) := (others => 'X');
        variable nibble : std_logic_vector(3 downto 0);
        variable c : character;
        variable there : boolean;
    begin
        loop
            read(source, c, there);
            exit when not there or c /= ' ';
        end loop;
        for k in digits - 1 downto 0 loop
            if there then
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
                    when others => nibble := "XXXX"; there := false;
                end case;
                padded(4 * k + 3 downto 4 * k) := nibble;
                if k > 0 and there then
                    read(source, c, there);
                end if;
            end if;
        end loop;
        good := good and there;
        value := padded(value'length - 1 downto 0);
    end procedure;

    -- Whether the next line is the file's last, "end".
    impure function at_end(file from : text) return boolean is
        variable source : line;
        variable c : character;
        variable there : boolean;
        constant last : string := "end";
    begin
        if endfile(from) then
            return false;
        end if;
        readline(from, source);
        for k in last'range loop
            read(source, c, there);
            if not there or c /= last(k) then
                return false;
            end if;
        end loop;
        return true;
    end function;

    procedure print(text : in string) is
        variable l : line;
    begin
        write(l, text);
        writeline(output, l);
    end procedure;

    -- A digit for each bit, x for one that is not known.
    function to_binary(value : std_logic_vector) return string is
        constant bits : std_logic_vector(value'length - 1 downto 0) := value;
        variable text : string(1 to value'length) := (others => 'x');
    begin
        for i in bits'range loop
            if bits(i) = '1' then
                text(bits'length - i) := '1';
            elsif bits(i) = '0' then
                text(bits'length - i) := '0';
            end if;
        end loop;
        return text;
    end function;

    -- The number, in decimal, of bits of which all are known.
    function to_decimal(value : std_logic_vector; is_signed : boolean) return string is
        constant bits : std_logic_vector(value'length - 1 downto 0) := value;
        -- A third of a digit a bit, and the sign.
        constant digits : positive := value'length / 3 + 2;
        type decimal is array (digits - 1 downto 0) of natural range 0 to 19;
        variable number : decimal := (others => 0);
        variable text : string(1 to digits + 1);
        variable negative : boolean;
        variable carry, first : natural;
    begin
        negative := is_signed and bits(bits'high) = '1';
        for i in bits'range loop
            if bits(i) /= '0' and bits(i) /= '1' then
                return "unknown";
            end if;
            -- Twice the number and a bit; of a negative number its complement.
            carry := 0;
            if (bits(i) = '1') /= negative then
                carry := 1;
            end if;
            for k in 0 to digits - 1 loop
                number(k) := 2 * number(k) + carry;
                carry := number(k) / 10;
                number(k) := number(k) mod 10;
            end loop;
        end loop;
        if negative then
            carry := 1;
            for k in 0 to digits - 1 loop
                number(k) := number(k) + carry;
                carry := number(k) / 10;
                number(k) := number(k) mod 10;
            end loop;
        end if;
        first := digits + 1;
        for k in 0 to digits - 1 loop
            text(digits + 1 - k) := character'val(character'pos('0') + number(k));
            if number(k) /= 0 then
                first := digits + 1 - k;
            end if;
        end loop;
        if negative then
            first := first - 1;
            text(first) := '-';
        end if;
        return text(first to digits + 1);
    end function;

    function to_natural(value : std_logic_vector) return natural is
        constant bits : std_logic_vector(value'length - 1 downto 0) := value;
        variable number : natural := 0;
    begin
        for i in bits'high downto 0 loop
            number := 2 * (number mod 2**30);
            if bits(i) = '1' then
                number := number + 1;
            end if;
        end loop;
        return number;
    end function;
