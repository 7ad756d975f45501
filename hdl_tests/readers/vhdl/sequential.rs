//! Loops that are left, procedures, parts of arrays, operators of the user, generate statements, conversions in port
//! maps, and the functions of `numeric_std` that the expressions do not use.

use super::super::Chance;
use super::Type::{Logic, Signed, Unsigned};
use super::{Gen, Net};
use std::fmt::Write as _;

impl Gen {
    fn reads(&self) -> String {
        let names: Vec<&str> = self.nets.iter().filter(|n| !n.name.starts_with('c')).map(|n| n.name.as_str()).collect();
        names.join(", ")
    }

    /// An unsigned signal of exactly this width, counted down to 0.
    fn plain(&mut self, width: u32) -> String {
        let (name, value) = (self.name("w"), self.exactly(Unsigned, width, 1));
        let _ = writeln!(self.decls, "  signal {name} : unsigned({} downto 0);", width - 1);
        let _ = writeln!(self.body, "  {name} <= {value};");
        name
    }

    /// Loops that are left, or whose turns are cut short, by `exit` and `next`.
    pub(super) fn loops(&mut self) {
        let (w, u) = (2 + self.below(6) as u32, 2 + self.below(5) as u32);
        let (x, y) = (self.plain(w), self.plain(u));
        let (v, n) = (self.name("q"), self.name("n"));
        let leave = |g: &mut Gen, label: &str, i: &str| {
            let what = g.pick(&["exit", "next"]);
            let label = if g.coin() { label } else { "" };
            match g.below(3) {
                0 => format!("{what} {label} when {x}({i} mod {w}) = '1';"),
                1 => format!("if {y}({i} mod {u}) = '0' and {v} < 40 then {v} := {v} + 3; {what} {label}; end if;"),
                _ => format!("{what} {label} when {x} > {i} and {y}(0) = '{}';", g.below(2)),
            }
        };
        let (a, b, d) = (leave(self, "l1", "i"), leave(self, "l1", "j"), leave(self, "l2", "j"));
        let step = 1 + self.below(3);
        let inner = match self.below(3) {
            0 => format!(
                "l2 : for j in {} downto 0 loop\n        {b}\n        {v} := {v} + 1;\n        {d}\n        {v} := \
                 {v} xor \"00000101\";\n      end loop;",
                self.below(4)
            ),
            1 => format!(
                "{n} := 0;\n      l2 : while {n} < {} loop\n        {n} := {n} + {step};\n        {}\n        {v} := \
                 {v} + {n};\n      end loop;",
                2 + self.below(5),
                d.replace('j', &n)
            ),
            _ => format!(
                "{n} := 0;\n      l2 : loop\n        {n} := {n} + 1;\n        exit when {n} = {};\n        \
                 {}\n        {v} := {v} + {n};\n      end loop;",
                2 + self.below(4),
                d.replace('j', &n)
            ),
        };
        let last = 1 + self.below(5);
        let _ = writeln!(self.decls, "  signal r{v} : unsigned(7 downto 0);");
        let _ = write!(
            self.body,
            "  process ({x}, {y})\n    variable {v} : unsigned(7 downto 0);\n    variable {n} : integer range 0 to \
             63;\n  begin\n    {v} := \"00000000\";\n    {n} := 0;\n    l1 : for i in 0 to {last} loop\n      \
             {a}\n      {v} := {v} + 2;\n      {inner}\n      {v} := {v} + i;\n    end loop;\n    r{v} <= {v};\n  end \
             process;\n"
        );
        self.shown(8, &format!("r{v}"));
    }

    /// A function that returns from within a loop.
    pub(super) fn search(&mut self) {
        let (f, w) = (self.name("f"), 2 + self.below(7) as u32);
        let x = self.plain(w);
        let range = self.pick(&["x'range", "x'reverse_range"]);
        let _ = writeln!(
            self.decls,
            "  function {f}(x : unsigned; b : std_logic := '1') return natural is\n    variable n : natural range 0 \
             to 99 := 0;\n  begin\n    for i in {range} loop\n      if x(i) = b then\n        return n;\n      end \
             if;\n      n := n + 1;\n    end loop;\n    return n + 7;\n  end function;"
        );
        self.shown(6, &format!("to_unsigned({f}({x}) + {f}({x}, '0'), 6)"));
        let y = self.plain(w);
        self.shown(6, &format!("to_unsigned({f}(b => '0', x => {y}), 6)"));
    }

    /// Procedures: with results, with a return in the middle, that drive signals.
    pub(super) fn procedures(&mut self, edge: &str) {
        let (p, w) = (self.name("p"), 2 + self.below(7) as u32);
        let (x, y) = (self.plain(w), self.plain(w));
        let (op, other) = (self.pick(&["+", "-", "xor"]), self.pick(&["+", "and", "or"]));
        let _ = writeln!(
            self.decls,
            "  procedure {p}(a, b : in unsigned; variable z : out unsigned; variable n : inout integer; how : in \
             boolean := false) is\n    variable t : unsigned(a'length - 1 downto 0);\n  begin\n    t := a {op} \
             b;\n    n := n + 1;\n    if how then\n      z := t {other} b;\n      return;\n    end if;\n    n := n * \
             2;\n    z := t;\n  end procedure;\n  \
             procedure d{p}(signal s : out unsigned; a : in unsigned; signal k : in unsigned) is\n  begin\n    for i \
             in a'range loop\n      if k(0) = '1' then\n        s <= a + i;\n        exit;\n      end if;\n      s <= \
             k;\n    end loop;\n  end procedure;"
        );
        let (v, c) = (self.name("q"), self.condition(1));
        let _ = writeln!(
            self.decls,
            "  signal r{v}, e{v} : unsigned({} downto 0) := (others => '0');\n  signal k{v} : natural range 0 to 63;",
            w - 1
        );
        let reads = self.reads();
        let _ = write!(
            self.body,
            "  process ({x}, {y}, {reads})\n    variable {v} : unsigned({top} downto 0);\n    variable n : integer \
             range 0 to 63;\n    procedure twice is\n    begin\n      {v} := {v} + {v};\n    end procedure;\n  \
             begin\n    n := 1;\n    {p}({x}, {y}, {v}, n);\n    if {c} then\n      {p}(b => {v}, a => {x}, n => n, z \
             => {v}, how => {y}(0) = '1');\n      twice;\n    end if;\n    r{v} <= {v};\n    k{v} <= n;\n  end \
             process;\n  \
             process (clk)\n  begin\n    if {edge} then\n      d{p}(e{v}, {x}, {y});\n    end if;\n  end process;\n",
            top = w - 1
        );
        self.shown(w, &format!("r{v} + e{v}"));
        self.shown(6, &format!("to_unsigned(k{v}, 6)"));
    }

    /// Parts of arrays, and arrays of two dimensions.
    pub(super) fn arrays(&mut self, edge: &str) {
        let (t, m, w) = (self.name("t"), self.name("q"), 1 + self.below(5) as u32);
        let (x, y) = (self.plain(w), self.plain(w));
        let len = 2 + self.below(4);
        let _ = writeln!(
            self.decls,
            "  type {t} is array (natural range <>) of unsigned({} downto 0);\n  signal {m}, c{m} : {t}(0 to {len}) \
             := (others => (others => '0'));\n  \
             function sum(v : {t}) return unsigned is\n    variable n : unsigned({} downto 0) := (others => '0');\n  \
             begin\n    for i in v'range loop\n      n := n + v(i);\n    end loop;\n    return n + v'length + \
             v'low;\n  end function;",
            w - 1,
            w - 1
        );
        let (from, by) = (self.below(len), 1 + self.below(2));
        let to = (from + by).min(len);
        let _ = write!(
            self.body,
            "  c{m} <= (0 => {x}, {len} => {y}, others => {x} xor {y});\n  process (clk)\n  begin\n    if {edge} \
             then\n      {m}(1 to {len}) <= {m}(0 to {});\n      {m}(0) <= {x};\n      if {y}(0) = '1' then\n        \
             {m}({from} to {to}) <= c{m}({} to {});\n      end if;\n    end if;\n  end process;\n",
            len - 1,
            len - (to - from),
            len
        );
        self.shown(w, &format!("sum({m}({from} to {to})) + sum(c{m})"));
        let (d, e) = (1 + self.below(3), 1 + self.below(3));
        let (lo, bits) = (self.below(3), self.below(w.into()));
        let k = self.index(d);
        let j = self.index(e);
        let _ = writeln!(
            self.decls,
            "  type d{t} is array (0 to {d}, {lo} to {}) of unsigned({} downto 0);\n  signal d{m} : d{t} := (others \
             => (others => (others => '0')));",
            lo + e,
            w - 1
        );
        let _ = write!(
            self.body,
            "  process (clk)\n  begin\n    if {edge} then\n      d{m}({k}, {j} + {lo}) <= {x};\n      d{m}({d}, \
             {lo})({bits}) <= {y}(0);\n    end if;\n  end process;\n"
        );
        let (k, j) = (self.index(d), self.index(e));
        self.shown(w, &format!("d{m}({k}, {j} + {lo}) + d{m}'length(2) + d{m}'low(2)"));
    }

    /// Functions of records, and attributes of types.
    pub(super) fn records(&mut self) {
        let (t, q) = (self.name("t"), self.name("q"));
        let w = 1 + self.below(6) as u32;
        let (x, y) = (self.plain(w), self.plain(w));
        let _ = writeln!(
            self.decls,
            "  type {t} is record\n    re, im : unsigned({top} downto 0);\n  end record;\n  function add_{t}(l, r : \
             {t}) return {t} is\n  begin\n    return (re => l.re + r.re, im => l.im - r.im);\n  end function;\n  \
             function times_{t}(l : {t}; r : natural) return {t} is\n  begin\n    return (resize(l.re * r, {w}), l.im \
             + r);\n  end function;\n  function swap_{t}(l : {t}) return {t} is\n  begin\n    return (l.im, l.re);\n  \
             end function;\n  signal {q}, p{q}, s{q} : {t};",
            top = w - 1
        );
        let k = self.below(5);
        let _ = writeln!(
            self.body,
            "  {q} <= ({x}, {y});\n  p{q} <= (im => {x}, re => not {y});\n  s{q} <= add_{t}(swap_{t}(add_{t}({q}, \
             times_{t}(p{q}, {k}))), {q});"
        );
        self.shown(2 * w, &format!("s{q}.re & s{q}.im"));
        let (e, n) = (self.name("t"), 2 + self.below(4));
        let literals: Vec<String> = (0..n).map(|i| format!("{e}_{i}")).collect();
        let _ = writeln!(self.decls, "  type {e} is ({});\n  signal {e}s : {e};", literals.join(", "));
        let k = self.index(n - 1);
        let _ = writeln!(self.body, "  {e}s <= {e}'val({k});");
        self.shown(4, &format!("to_unsigned({e}'pos({e}s) + {e}'pos({e}'pred({e}'right)), 4)"));
        self.shown(2, &format!("\"10\" when {e}s < {e}'succ({e}'left) or {e}s = {e}_{} else \"01\"", n - 1));
    }

    /// Generate statements with alternatives.
    pub(super) fn alternatives(&mut self) {
        let (g, s, n) = (self.name("g"), self.name("s"), self.below(4));
        let w = self.width();
        let values: Vec<String> = (0..4).map(|_| self.exactly(Unsigned, w, 2)).collect();
        let _ = writeln!(self.decls, "  constant n{g} : natural := {n};\n  signal {s} : unsigned({} downto 0);", w - 1);
        let text = match (self.modern, self.coin()) {
            (false, _) => format!(
                "  {g} : if n{g} = 1 generate\n    {s} <= {};\n  end generate;\n  e{g} : if not (n{g} = 1) \
                 generate\n    signal t : unsigned({} downto 0);\n  begin\n    t <= {};\n    {s} <= t;\n  end \
                 generate;\n",
                values[0],
                w - 1,
                values[1]
            ),
            (true, true) => format!(
                "  {g} : if n{g} = 0 generate\n    {s} <= {};\n  elsif n{g} = 1 generate\n    signal t : unsigned({} \
                 downto 0);\n  begin\n    t <= {};\n    {s} <= t;\n  else generate\n    {s} <= {};\n  end generate;\n",
                values[0],
                w - 1,
                values[1],
                values[2]
            ),
            (true, false) => format!(
                "  {g} : case n{g} generate\n    when 0 =>\n      {s} <= {};\n    when 1 | 2 =>\n      signal t : \
                 unsigned({} downto 0);\n    begin\n      t <= {};\n      {s} <= t;\n    end;\n    when others \
                 =>\n      {s} <= {};\n  end generate;\n",
                values[0],
                w - 1,
                values[1],
                values[2]
            ),
        };
        self.body.push_str(&text);
        self.nets.push(Net { name: s, ty: Unsigned, left: i64::from(w) - 1, right: 0, down: true });
    }

    /// An instance whose ports are connected by conversions, in parts, or not at all. Its entity is given back.
    pub(super) fn instance(&mut self, design: &str) -> String {
        let e = self.name(&format!("{design}_e"));
        let w = 2 + self.below(6) as u32;
        let (x, q) = (self.name("w"), self.name("q"));
        let (lo, hi, value) = (self.condition(1), self.exactly(Unsigned, w - 1, 1), self.exactly(Logic, w, 1));
        let op = self.pick(&["+", "-", "and"]);
        let _ = writeln!(
            self.decls,
            "  signal {x} : std_logic_vector({top} downto 0);\n  signal {q} : std_logic_vector(0 to {top});\n  signal \
             p{q} : signed({top} downto 0);\n  signal l{q} : std_logic;\n  signal h{q} : unsigned({below} downto 0);",
            top = w - 1,
            below = w - 2
        );
        let part = format!("z({} downto 1)", w - 1);
        let _ = writeln!(
            self.body,
            "  {x} <= {value};\n  l{q} <= '1' when {lo} else '0';\n  h{q} <= {hi};\n  u{e} : entity work.{e} generic \
             map (n => {w}) port map (x => unsigned({x}), {part} => h{q}, z(0) => l{q}, std_logic_vector(y) => {q}, k \
             => p{q}, o => open);"
        );
        self.shown(w, &format!("unsigned({q}) + unsigned(p{q})"));
        format!(
            "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n\nentity {e} is\n  generic (n : \
             natural);\n  port (x, z : in unsigned(n - 1 downto 0); c : in std_logic := '1'; y : out unsigned(n - 1 \
             downto 0); k : out signed(n - 1 downto 0); o : out std_logic);\nend entity;\n\narchitecture rtl of {e} \
             is\nbegin\n  y <= x {op} z when c = '1' else x;\n  k <= signed(x) - signed(z);\n  o <= x(0);\nend \
             architecture;\n\n"
        )
    }

    /// Functions of `numeric_std` that the expressions do not use.
    pub(super) fn standard_functions(&mut self) {
        let w = 1 + self.below(9) as u32;
        let (x, y, z) = (self.plain(w), self.plain(w), self.plain(3));
        let signed = self.name("w");
        let value = self.exactly(Signed, w, 1);
        let _ = writeln!(self.decls, "  signal {signed} : signed({} downto 0);", w - 1);
        let _ = writeln!(self.body, "  {signed} <= {value};");
        for _ in 0..2 + self.below(3) {
            let op = self.pick(&["sll", "srl", "rol", "ror"]);
            let f = self.pick(&["shift_left", "shift_right", "rotate_left", "rotate_right"]);
            let n = self.below(7) as i64 - 3;
            let old = match self.below(7) {
                0 => format!("{x} {op} (to_integer({z}) - 3)"),
                1 => format!("unsigned({signed} {op} (to_integer(signed({z}))))"),
                2 => format!("{f}({x}, to_integer({z}))"),
                3 => format!("unsigned({f}({signed}, to_integer({y}(0 downto 0)) + {}))", self.below(4)),
                4 => format!("{x} {op} integer'({n})"),
                5 => format!("to_01({x}) xor to_01({y}, '1')"),
                _ => format!("unsigned({signed} {op} integer'({n}))"),
            };
            self.shown(w, &old);
        }
        if !self.modern {
            return;
        }
        for _ in 0..2 + self.below(4) {
            let (f, n) = (self.pick(&["maximum", "minimum"]), self.below(9));
            let (op, logic) = (
                self.pick(&["?=", "?/=", "?<", "?<=", "?>", "?>="]),
                self.pick(&["and", "or", "xor", "nand", "nor", "xnor"]),
            );
            let sum = self.pick(&["+", "-"]);
            let pattern: String = (0..w).map(|_| ['0', '1', '-'][self.below(3) as usize]).collect();
            let (width, value) = match self.below(15) {
                0 => (w, format!("{f}({x}, {y})")),
                1 => (w, format!("unsigned({f}({signed}, signed({y})))")),
                2 => (6, format!("to_unsigned({f}(to_integer({z}), {n}), 6)")),
                3 => (2, format!("\"\" & ({x} {op} {y}) & (signed({x}) {op} {signed})")),
                4 => (w, format!("{x} {logic} {y}(0)")),
                5 => (w, format!("{z}(0) {logic} {x}")),
                6 => (w, format!("{x} {sum} {z}(1)")),
                7 => (w, format!("unsigned({z}(1) + {signed})")),
                8 => {
                    (5, format!("to_unsigned({}({x}, {z}(0)) + 1, 5)", self.pick(&["find_leftmost", "find_rightmost"])))
                }
                9 => (w, format!("unsigned({signed} {} (to_integer({z}) - 3))", self.pick(&["sra", "sla"]))),
                10 => (w, format!("{x} {} (to_integer({z}) - 3)", self.pick(&["sra", "sla"]))),
                11 => (2, format!("\"\" & ({x} ?= \"{pattern}\") & (\"{pattern}\" ?/= {y})")),
                12 => (w, format!("{f}({x}, {n}) + {f}({n}, {y})")),
                13 => (2, format!("\"\" & ({x} ?= {z}) & ({n} {op} {y})")),
                _ => (1 + w, format!("(or {x}) & resize({z}, {y})")),
            };
            self.shown(width, &value);
        }
    }
}
