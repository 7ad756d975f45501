//! Tests of language constructs against the values that the standards define, and tests with hostile files.

use super::Expr;
use super::Language;
use super::tests::{refused, said, value};

const HEAD: &str = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n";

/// Returns the result of a VHDL function with these preceding declarations, local declarations and body.
fn vhdl(decls: &str, locals: &str, body: &str) -> Option<u64> {
    let text = format!(
        "{HEAD}entity m is port (y : out unsigned(7 downto 0)); end entity;\narchitecture r of m is\n{decls}\n\
         function f return unsigned is\n{locals}\nbegin\n{body}\nend function;\nbegin y <= resize(f, 8);\nend \
         architecture;\n"
    );
    value(Language::Vhdl, &text)
}

#[test]
fn loops_of_vhdl_are_left_where_they_say() {
    let n = "variable n : integer := 0;";
    for (body, want) in [
        ("for i in 0 to 9 loop exit when i = 4; n := n + i; end loop;", 6),
        ("for i in 9 downto 0 loop next when i mod 2 = 0; n := n + i; end loop;", 25),
        ("a : for i in 0 to 3 loop b : for j in 0 to 3 loop next a when j = i; n := n + 1; end loop; end loop;", 6),
        (
            "a : for i in 0 to 3 loop for j in 0 to 3 loop if i + j = 4 then exit a; end if; n := n + 1; end loop; \
             end loop;",
            7,
        ),
        ("while n < 20 loop n := n + 7; end loop;", 21),
        ("loop n := n + 3; exit when n > 10; end loop;", 12),
        ("for i in 3 to 1 loop n := 9; end loop;", 0),
        ("for i in 0 to 9 loop if i = 5 then return to_unsigned(i, 4); end if; n := n + 1; end loop; n := 99;", 5),
    ] {
        assert_eq!(vhdl("", n, &format!("{body}\nreturn to_unsigned(n, 8);")), Some(want), "{body}");
    }
}

#[test]
fn procedures_of_vhdl_give_back_what_they_say() {
    let decls = "procedure p(a : in natural; b : inout natural; c : out natural; d : in natural := 3) is\n\
                 begin b := b + a; if d = 4 then c := 1; return; end if; c := b * d; end procedure;\n\
                 procedure p(a : inout unsigned) is begin a := a + 1; end procedure;";
    let locals = "variable n : natural := 2; variable k : natural; variable u : unsigned(7 downto 0) := x\"05\";\n\
                  procedure twice is begin n := n * 2; end procedure;";
    for (body, want) in [
        ("p(5, n, k);", 7 * 16 + 21),
        ("p(5, n, k, 4);", 7 * 16 + 1),
        ("p(c => k, d => 1, b => n, a => 0); twice;", 4 * 16 + 2),
        ("k := 0; p(u); p(u); n := to_integer(u);", 7 * 16),
    ] {
        assert_eq!(vhdl(decls, locals, &format!("{body}\nreturn to_unsigned(n * 16 + k, 8);")), Some(want), "{body}");
    }
}

#[test]
fn arrays_of_vhdl_have_parts_and_dimensions() {
    let decls = "type v is array (natural range <>) of natural range 0 to 99;\n\
                 type d is array (0 to 1, 2 to 4) of natural range 0 to 99;\n\
                 constant c : d := ((1, 2, 3), (4, 5, 6));\n\
                 function sum(x : v) return natural is variable n : natural := 0; begin\n\
                 for i in x'range loop n := n + x(i) * (i + 1); end loop; return n; end function;\n\
                 function tail(x : v) return v is begin return x(1 to x'high); end function;";
    let locals = "variable a : v(0 to 3) := (1, 2, 3, 4); variable m : d := c;";
    for (body, want) in [
        ("return to_unsigned(sum(a(1 to 2)), 8);", 4 + 9),
        ("a(1 to 3) := a(0 to 2); return to_unsigned(sum(a), 8);", 1 + 2 + 6 + 12),
        ("return to_unsigned(sum(tail(a)), 8);", 4 + 9 + 16),
        ("return to_unsigned(c(1, 3) * 10 + c'length(2) + c'low(2), 8);", 55),
        ("m(0, 4) := 9; m(1, 2) := m(0, 4) + 1; return to_unsigned(m(1, 2) * 10 + m(0, 2), 8);", 101),
        ("a := (a'range => 7); return to_unsigned(a(3) + d'length(1), 8);", 9),
    ] {
        assert_eq!(vhdl(decls, locals, body), Some(want), "{body}");
    }
}

#[test]
fn functions_of_numeric_std_are_those_of_the_package() {
    let locals = "constant u : unsigned(5 downto 0) := \"011010\"; constant s : signed(5 downto 0) := \"100110\";\n\
                  constant r : unsigned(2 to 7) := \"011010\"; variable n : integer;";
    for (value, want) in [
        ("resize(s, 8)", 0xe6),
        ("resize(s, 3)", 0b110),
        ("resize(u, s)", 0b01_1010),
        ("to_unsigned(77, u)", 13),
        ("shift_right(s, 2)", 0b11_1001),
        ("shift_left(s, 1)", 0b00_1100),
        ("rotate_left(u, 4)", 0b10_0110),
        ("rotate_right(s, 1)", 0b01_0011),
        ("u sll 2", 0b10_1000),
        ("u sll integer'(-2)", 0b00_0110),
        ("s srl 1", 0b01_0011),
        ("s srl integer'(-1)", 0b00_1100),
        ("s sra 1", 0b11_0011),
        ("s sla integer'(-1)", 0b11_0011),
        ("u sra integer'(-1)", 0b11_0100),
        ("u rol integer'(-1)", 0b00_1101),
        ("u ror 1", 0b00_1101),
        ("abs s", 26),
        ("-s", 26),
        ("s + '1'", 39),
        ("'1' + u", 27),
        ("s - '1'", 37),
        ("u and '0'", 0),
        ("'1' xor u", 0b10_0101),
        ("maximum(u, 70)", 26),
        ("minimum(s, \"000001\")", 0b10_0110),
        ("minimum(3, u)", 3),
        ("maximum(s, integer'(-1))", 0b11_1111),
        ("to_unsigned(find_leftmost(u, '1'), 8)", 4),
        ("to_unsigned(find_rightmost(u, '1'), 8)", 1),
        ("to_unsigned(find_leftmost(r, '1'), 8)", 3),
        ("to_unsigned(find_rightmost(r, '0'), 8)", 7),
        ("to_unsigned(find_leftmost(u and '0', '1') + 1, 8)", 0),
        ("to_unsigned(minimum(3, 5) * maximum(2, 4), 8)", 12),
        ("to_01(u)", 26),
        ("unsigned'(\"\" & (u ?= \"01-0-0\") & (u ?/= \"1-----\") & (s ?< 0) & (u ?>= 27) & (u ?= 26))", 0b11101),
        ("unsigned'(\"\" & (and u) & (or u) & (xor u) & (nor u))", 0b0110),
        ("unsigned'(\"\" & (90 ?= u) & (u ?< 91) & (-38 ?/= s))", 0b111),
        ("u mod 7", 5),
        ("u rem \"0100\"", 2),
        ("s mod 7", 2),
        ("s rem 7", 0b11_1011),
        ("s / 5", 0b11_1011),
        ("100 / u", 3),
        ("unsigned'(12ux\"f\") + 8d\"10\" + 6sb\"1\" + \"0\"", 88),
    ] {
        let text = format!(
            "{HEAD}entity m is port (y : out std_logic_vector(7 downto 0)); end entity;\narchitecture r of m is\n\
             {}\nfunction g(x : unsigned) return std_logic_vector is begin return std_logic_vector(resize(x, 8)); end \
             function;\n\
             function g(x : signed) return std_logic_vector is begin return std_logic_vector(resize(unsigned(x), 8)); \
             end function;\n\
             begin y <= g({value});\nend architecture;\n",
            locals.replace("variable n : integer;", "")
        );
        assert_eq!(super::tests::value(Language::Vhdl, &text), Some(want), "{value}");
    }
}

#[test]
fn choices_of_vhdl_2008_are_read() {
    let decls = "type c is record re, im : integer range -99 to 99; end record; type e is (p, q, r);";
    let locals = "variable a : c := (1, 2); variable b : c := (im => 5, re => 7); variable u : unsigned(3 downto 0) \
                  := \"0110\";\n\
                  variable n : unsigned(7 downto 0);";
    for (body, want) in [
        ("a := (a.re + b.re, a.im - b.im); return to_unsigned(a.re * 10 - a.im, 8);", 83),
        ("with u select n := x\"01\" when \"0101\" | \"0110\", x\"02\" when others; return n;", 1),
        ("with u select? n := x\"01\" when \"1---\", x\"04\" when \"01--\", x\"02\" when others; return n;", 4),
        (
            "case? u is when \"1---\" => n := x\"01\"; when \"-11-\" => n := x\"05\"; when others => n := x\"09\"; \
             end case?; return n;",
            5,
        ),
        ("n := x\"03\" when u(0) = '1' else x\"0b\"; return n;", 11),
        ("return to_unsigned(e'pos(e'succ(q)) * 16 + e'pos(e'val(1)) + e'pos(e'right), 8);", 35),
        ("if ?? u(1) then return x\"01\"; end if; return x\"02\";", 1),
    ] {
        assert_eq!(vhdl(decls, locals, body), Some(want), "{body}");
    }
    let e = "entity s is generic (n : natural); port (x, z : in unsigned(3 downto 0); c : in std_logic := '1'; y : \
             out unsigned(3 downto 0));\n\
             end entity;\narchitecture r of s is begin g : case n generate when 0 => y <= x; when 1 | 2 => y <= z;\n\
             when others => y <= z(1 downto 0) & x(3 downto 2); end generate; end architecture;\n";
    for (n, want) in [(0, 9), (2, 6), (3, 10)] {
        let text = format!(
            "{HEAD}{e}{HEAD}entity m is port (y : out std_logic_vector(3 downto 0)); end entity;\narchitecture r of m \
             is\n\
             component s is generic (n : natural); port (x, z : in unsigned(3 downto 0); c : in std_logic := '1'; y : \
             out unsigned(3 downto 0)); end component;\n\
             begin u : s generic map ({n}) port map (unsigned'(\"1001\"), z(0) => '0', z(3 downto 1) => \"011\", \
             std_logic_vector(y) => y);\n\
             end architecture;\n"
        );
        assert_eq!(super::tests::value(Language::Vhdl, &text), Some(want), "{text}");
    }
}

#[test]
fn vhdl_outside_the_subset_is_refused_by_name() {
    let head = format!(
        "{HEAD}entity m is port (clk, rst : in std_logic; a, b : in unsigned(3 downto 0); y : out unsigned(3 downto \
         0));\n\
         end entity;\narchitecture r of m is\n"
    );
    let process = |body: &str| format!("begin process (all) variable n : integer; begin {body} end process;");
    for (body, why) in [
        (process("n := to_integer(a); while n > 0 loop n := n - 1; end loop; y <= b;"), "whose end is not constant"),
        (process("loop n := 1; end loop;"), "2,000,000"),
        (process("exit; y <= a;"), "exit or next outside a loop"),
        (process("for i in 0 to 1 loop exit k; end loop; y <= a;"), "not around it"),
        (process("q(a); y <= a;"), "no procedure has this name"),
        ("procedure p(x : in unsigned) is begin end procedure;\nbegin process (all) begin p(a, b); y <= a; end \
          process;".to_owned(), "as many arguments"),
        ("procedure p(variable x : out unsigned) is begin x := a; end procedure;\nbegin process (all) begin p(y); end \
          process;".to_owned(), "a variable is expected"),
        ("begin y <= to_unsigned(to_string(a), 4);".to_owned(), "to_string"),
        ("begin y <= resize(a, n => 4);".to_owned(), "by name"),
        ("alias c is d; alias d is c;\nbegin y <= c;".to_owned(), "an alias of itself"),
        ("constant c : unsigned(3 downto 0) := 3b\"1111\";\nbegin y <= a;".to_owned(), "does not fit its size"),
        ("begin y <= a ?= b;".to_owned(), "is expected here"),
        ("type t is array (0 to 3) of std_logic; signal s : t;\nbegin s(2 to 5) <= (others => '0'); y <= \
          a;".to_owned(), "outside the array"),
    ] {
        refused(Language::Vhdl, &head, "\nend architecture;\n", &[(&body, why)]);
    }
    let ended = "begin y <= a;\nend architecture;\n";
    let said = said(Language::Vhdl, &format!("{head}{ended}configuration k of m is for q end for; end;"));
    assert!(said.contains("configurations are not read"), "{said}");
}

/// Files that would take excessive time, memory or stack without limits; each of them is rejected. One of them reaches
/// the limit of iterations, which takes seconds in an unoptimised build.
#[test]
fn hostile_vhdl_is_refused() {
    let head = format!(
        "{HEAD}entity m is port (a : in unsigned(7 downto 0); y : out unsigned(7 downto 0)); end entity;\n\
         architecture r of m is\n"
    );
    let many = |n: usize, what: &str| what.repeat(n);
    let files = [
        format!("begin y <= {}a{};", many(50_000, "("), many(50_000, ")")),
        format!("begin y <= {}a;", many(50_000, "not ")),
        format!("begin y <= a{};", many(50_000, "(0)")),
        format!("begin {} y <= a; {}", many(20_000, "g : if true generate begin "), many(20_000, "end generate;")),
        "begin process (all) begin for i in 0 to 16777215 loop null; end loop; y <= a; end process;".to_owned(),
        "signal s : unsigned(2147483647 downto 0);\nbegin y <= a;".to_owned(),
        format!("constant c : integer := {};\nbegin y <= a;", many(100_000, "9")),
        format!("constant c : std_logic_vector := x\"{}\";\nbegin y <= a;", many(5_000_000, "F")),
        "alias b : unsigned(7 downto 0) is b;\nbegin y <= b;".to_owned(),
        format!("type t is ({}z);\nbegin y <= a;", (0..100_000).map(|i| format!("e{i},")).collect::<String>()),
        format!(
            "type t is record {} end record;\nbegin y <= a;",
            (0..10_000).map(|i| format!("e{i} : std_logic;")).collect::<String>()
        ),
        "constant c : string := \"abc".to_owned(),
        "/* abc".to_owned(),
        "signal é : std_logic;\nbegin y <= a;".to_owned(),
    ];
    for file in files {
        let said = said(Language::Vhdl, &format!("{head}{file}\nend architecture;\n"));
        assert!(said.contains("E0903") && said.contains("line"), "{said:?}: {:.300}", file);
    }
}

/// Declarations of an entity are visible in its architectures, which may hide them; attributes of ports are ignored.
#[test]
fn declarations_of_entities_hold_in_architectures() {
    for (hidden, want) in [("", 5), ("constant c : integer := 9;", 9)] {
        let text = format!(
            "{HEAD}entity m is port (y : out unsigned(7 downto 0));\nattribute x_info : string;\n\
             attribute x_info of y : signal is \"data; end\";\nconstant c : integer := 5;\n\
             end entity m;\narchitecture r of m is {hidden} begin y <= to_unsigned(c, 8); end architecture;\n"
        );
        assert_eq!(value(Language::Vhdl, &text), Some(want));
    }
}

#[test]
fn texts_of_other_alphabets_are_read() {
    let text = format!(
        "{HEAD}-- caf\u{e9}\nentity m is port (a : in std_logic; y : out std_logic); end;\narchitecture r of m is \
         begin y <= a; end;"
    );
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    assert_eq!(super::decoded(latin), Ok(text.clone()));
    assert_eq!(super::decoded(text.clone().into_bytes()), Ok(text.clone()));
    assert_eq!(said(Language::Vhdl, &text), "");
}

/// Returns the constant output of a module with this body.
fn verilog(body: &str) -> Option<u64> {
    value(Language::Verilog, &format!("module m(output [7:0] y);\n{body}\nendmodule\n"))
}

#[test]
fn blocks_of_verilog_are_left_by_disable() {
    let function =
        |body: &str| format!("function [7:0] f(input [7:0] x); integer i; {body} endfunction assign y = f(8'h34);");
    for (body, want) in [
        ("begin : b f = 1; if (x[2]) disable b; f = 2; end", 1),
        ("begin f = 0; for (i = 0; i < 8; i = i + 1) begin : next if (!x[i]) disable next; f = f + i; end end", 11),
        (
            "begin f = 0; begin : all for (i = 0; i < 8; i = i + 1) begin f = f + 1; if (x[i]) disable all; end end \
             end",
            3,
        ),
        (
            "begin f = 0; i = 0; begin : all while (i < 100) begin i = i + 1; if (i == 7) disable all; f = i; end end \
             end",
            6,
        ),
        ("begin f = 0; begin : all repeat (9) begin f = f + 2; if (f == x[3:0]) disable all; end end end", 4),
    ] {
        assert_eq!(verilog(&function(body)), Some(want), "{body}");
    }
}

#[test]
fn functions_of_verilog_call_themselves_where_they_are_automatic() {
    let automatic =
        "function automatic [7:0] f(input [7:0] n); f = n == 0 ? 1 : n * f(n - 1); endfunction assign y = f(8'd5);";
    assert_eq!(verilog(automatic), Some(120));
    let fixed = automatic.replace("automatic ", "");
    let said = said(Language::Verilog, &format!("module m(output [7:0] y);\n{fixed}\nendmodule\n"));
    assert!(said.contains("is not automatic"), "{said}");
}

#[test]
fn verilog_outside_the_subset_is_refused_by_name() {
    let head = "module m(input clk, input rst, input [3:0] a, input [3:0] b, output reg [3:0] y);\n";
    for (body, why) in [
        ("always @* begin y = a; disable k; end", "not a block or task around this"),
        (
            "task t; begin : k disable k; end endtask always @* begin : j y = a; t; disable t; end",
            "not a block or task around this",
        ),
        ("always @(posedge clk) y <= #1 a;", ""),
        ("always @(posedge clk) y <= #(1:2:3) a;", "a delay that is a number"),
        ("always @* y = #1 a;", "delays inside assignments"),
        ("tri0 [3:0] n; assign n = a; always @* y = n;", "tri0"),
        (
            "reg [3:0] n [0:3]; initial $readmemh(\"x.hex\", n); always @* y = n[a[1:0]];",
            "the file x.hex is not read here",
        ),
        ("wand [3:0] n; always @* y = a;", "wand: wired nets are not read"),
        ("defparam u.K = 1; always @* y = a;", "defparam is not read"),
        ("always @(posedge clk) fork y <= a; join", "fork"),
        ("always @(posedge clk) force y = a;", "force"),
        ("wire w = a[0]; always @* y = w[0];", "declared without a range"),
        ("always @* begin y = a; y[1] = clk[1]; end", "declared without a range"),
        ("reg w; always @* begin w[0] = a[0]; y = w; end", "declared without a range"),
        ("function f(input [3:0] v); f[0] = v[0]; endfunction always @* y = f(a);", "declared without a range"),
        ("reg w [0:3]; always @(posedge clk) begin w[a[1:0]] <= b[0]; y <= w[1][0]; end", "declared without a range"),
    ] {
        refused(Language::Verilog, head, "\nendmodule\n", &[(body, why)]);
    }
    let said = said(Language::Verilog, "primitive p(output y, input a); table 0 : 1; 1 : 0; endtable endprimitive\n");
    assert!(said.contains("user-defined primitives"), "{said}");
}

/// A reset that keeps the value of some bits becomes a clock enable for these bits.
#[test]
fn resets_that_hold_are_enables() {
    let verilog = "module m(input clk, input rst, input [3:0] a, output reg [3:0] y, output reg z);\n\
                   always @(posedge clk or posedge rst) if (rst) y[1:0] <= 2'd2; else begin y <= a; z <= a[0]; end\n\
                   endmodule\n";
    let vhdl = format!(
        "{HEAD}entity m is port (clk, rst : in std_logic; a : in unsigned(3 downto 0); y : out unsigned(3 downto 0); \
         z : out std_logic);\n\
         end entity;\narchitecture r of m is begin\nprocess (clk, rst) begin if rst = '1' then y(1 downto 0) \
         <= \"10\"; elsif rising_edge(clk) then\n\
         y <= a; z <= a(0); end if; end process;\nend architecture;\n"
    );
    for (language, text) in [(Language::Verilog, verilog), (Language::Vhdl, &vhdl)] {
        let rtl = super::read(language, text, None).unwrap_or_else(|e| panic!("{e}"));
        let mut found: Vec<(u32, u32, usize, bool)> = Vec::new();
        for register in rtl.outputs.iter().flat_map(|&o| &rtl.signal(o).registers) {
            let enabled = matches!(rtl.expr(register.next), Expr::Mux(..));
            found.push((register.lo, rtl.width(register.next), register.resets.len(), enabled));
        }
        assert_eq!(found, [(0, 2, 1, false), (2, 2, 0, true), (0, 1, 0, true)], "{language:?}");
    }
}

/// Like [`hostile_vhdl_is_refused`], in Verilog.
#[test]
fn hostile_verilog_is_refused() {
    let head = "module m(input clk, input [7:0] a, output reg [7:0] y);\ninteger i;\n";
    let many = |n: usize, what: &str| what.repeat(n);
    let files = [
        format!("always @* y = {}a{};", many(50_000, "("), many(50_000, ")")),
        format!("always @* y = {}a;", many(50_000, "~")),
        format!("always @* {} y = a; {}", many(50_000, "begin "), many(50_000, "end ")),
        "always @* begin y = a; for (i = 0; i >= 0; i = i * 1) y = y; end".to_owned(),
        "reg [7:0] m [0:2000000000]; always @(posedge clk) begin m[a] <= a; y <= m[a]; end".to_owned(),
        "wire [2000000000:0] w = a; always @* y = w;".to_owned(),
        "function automatic [7:0] f(input [7:0] x); f = f(x); endfunction always @* y = f(a);".to_owned(),
        "m u(clk, a, y);".to_owned(),
        "always @* y = \"abc".to_owned(),
        "(* x = 1 assign y = a;".to_owned(),
        "`define A `A\nalways @* y = `A;".to_owned(),
        "wire \u{e9} = a[0]; always @* y = a;".to_owned(),
    ];
    for file in files {
        let text = format!(
            "{head}{file}\nendmodule\nmodule top(input clk, input [7:0] a, output [7:0] y); m u(clk, a, y); endmodule\n"
        );
        let said = said(Language::Verilog, &text);
        assert!(said.contains("E0903") && said.contains("line"), "{said:?}: {file:.300}");
    }
}
