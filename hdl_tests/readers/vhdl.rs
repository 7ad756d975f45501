//! Random designs in VHDL with `numeric_std`, in the common part of VHDL-93 and VHDL-2008.

mod forms;
mod sequential;

use super::{Chance, Design};
use alir_testing::random::SplitMix;
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Logic,
    Unsigned,
    Signed,
}

use Type::{Logic, Signed, Unsigned};

impl Type {
    fn name(self) -> &'static str {
        match self {
            Logic => "std_logic_vector",
            Unsigned => "unsigned",
            Signed => "signed",
        }
    }
}

#[derive(Clone)]
struct Net {
    name: String,
    ty: Type,
    left: i64,
    right: i64,
    down: bool,
}

impl Net {
    fn width(&self) -> u32 {
        (self.left - self.right).unsigned_abs() as u32 + 1
    }

    fn low(&self) -> i64 {
        self.left.min(self.right)
    }

    fn range(&self) -> String {
        format!("{} {} {}", self.left, if self.down { "downto" } else { "to" }, self.right)
    }
}

struct Gen {
    rng: SplitMix,
    nets: Vec<Net>,
    /// Functions of an unsigned vector: name, width of the argument, width of the result.
    functions: Vec<(String, u32, u32)>,
    /// Tables: name, width of an entry.
    tables: Vec<(String, u32)>,
    decls: String,
    body: String,
    names: u32,
    /// `true` if it is VHDL-2008 that is written.
    modern: bool,
}

impl Chance for Gen {
    fn rng(&mut self) -> &mut SplitMix {
        &mut self.rng
    }

    fn names(&mut self) -> &mut u32 {
        &mut self.names
    }
}

impl Gen {
    fn one_of<T: Clone>(&mut self, list: impl Fn(&Gen) -> &Vec<T>) -> T {
        let at = self.rng.below(list(self).len() as u64) as usize;
        list(self)[at].clone()
    }

    fn width(&mut self) -> u32 {
        match self.below(8) {
            0 => 1,
            1..=5 => 2 + self.below(10) as u32,
            6 => 30 + self.below(5) as u32,
            _ => 1 + self.below(66) as u32,
        }
    }

    fn net(&mut self, stem: &str, ty: Type) -> Net {
        let name = self.name(stem);
        let top = i64::from(self.width()) - 1;
        match self.below(6) {
            0 => Net { name, ty, left: 0, right: top, down: false },
            1 => Net { name, ty, left: 2, right: top + 2, down: false },
            2 => Net { name, ty, left: top + 3, right: 3, down: true },
            _ => Net { name, ty, left: top, right: 0, down: true },
        }
    }

    fn bits(&mut self, width: u32) -> String {
        let mode = self.below(4);
        (0..width)
            .map(|_| {
                if mode == 0 {
                    '0'
                } else if mode == 1 {
                    '1'
                } else {
                    char::from(b'0' + self.below(2) as u8)
                }
            })
            .collect()
    }

    fn ty(&mut self) -> Type {
        [Logic, Unsigned, Signed][self.below(3) as usize]
    }

    /// A name of any type, or a part of it.
    fn named(&mut self) -> (String, Type, u32) {
        let net = self.one_of(|g| &g.nets);
        if self.below(3) > 0 {
            return (net.name.clone(), net.ty, net.width());
        }
        let span = u64::from(net.width());
        let (a, b) = (self.below(span) as i64, self.below(span) as i64);
        let (lo, hi) = (net.low() + a.min(b), net.low() + a.max(b));
        let part = if net.down { format!("{hi} downto {lo}") } else { format!("{lo} to {hi}") };
        (format!("{}({part})", net.name), net.ty, (hi - lo + 1) as u32)
    }

    /// A vector of a type, and its width.
    fn vector(&mut self, ty: Type, depth: u32) -> (String, u32) {
        let to = ty.name();
        if depth == 0 || self.below(8) == 0 {
            if self.below(4) == 0 {
                let width = self.width();
                return (format!("{to}'(\"{}\")", self.bits(width)), width);
            }
            let (x, own, width) = self.named();
            return (if own == ty { x } else { format!("{to}({x})") }, width);
        }
        let d = depth - 1;
        if ty == Logic {
            return match self.below(4) {
                0 => {
                    let from = if self.coin() { Unsigned } else { Signed };
                    let (x, w) = self.vector(from, d);
                    (format!("{to}({x})"), w)
                }
                1 => {
                    let ((x, a), (y, b)) = (self.vector(Logic, d), self.vector(Logic, d));
                    (format!("{to}'({x} & {y})"), a + b)
                }
                2 => {
                    let (x, w) = self.vector(Logic, d);
                    (format!("(not {x})"), w)
                }
                _ => {
                    let ((x, _), (y, _), w) = (self.vector(Unsigned, d), self.vector(Unsigned, d), self.width());
                    let op = self.pick(&["and", "or", "xor", "nand", "nor", "xnor"]);
                    (format!("({to}(resize({x}, {w})) {op} {to}(resize({y}, {w})))"), w)
                }
            };
        }
        let (x, w) = self.vector(ty, d);
        match self.below(17) {
            0 | 1 => {
                let (y, v) = self.vector(ty, d);
                let op = self.pick(&["+", "-"]);
                (format!("({x} {op} {y})"), w.max(v))
            }
            2 => {
                let (op, n) = (self.pick(&["+", "-", "*"]), self.number(ty));
                let twice = if op == "*" { 2 * w } else { w };
                let (l, r) = if self.coin() { (x, n) } else { (n, x) };
                (format!("({l} {op} {r})"), twice)
            }
            3 if w < 40 => {
                let (y, v) = self.vector(ty, d);
                (format!("({x} * {y})"), w + v)
            }
            4 | 5 => {
                // The divisor is never zero.
                let (y, v) = self.vector(ty, d.min(1));
                let v = v.max(2);
                let one = if ty == Signed { "to_signed" } else { "to_unsigned" };
                let op = self.pick(&["/", "rem", "mod"]);
                let width = if op == "/" { w } else { v };
                (format!("({x} {op} (resize({y}, {v}) or {one}(1, {v})))"), width)
            }
            6 => {
                let op = self.pick(&["/", "rem", "mod"]);
                match self.number(ty) {
                    n if n == "0" => (x, w),
                    n => (format!("({x} {op} {n})"), w),
                }
            }
            7 => {
                // GHDL's own numeric_std fails over remainders of numbers that are longer than the vector.
                let op = "/";
                let (n, one) = (self.number(ty), if ty == Signed { "to_signed" } else { "to_unsigned" });
                let v = w.max(2);
                (format!("({n} {op} (resize({x}, {v}) or {one}(1, {v})))"), v)
            }
            8 => {
                let v = self.width();
                (format!("resize({x}, {v})"), v)
            }
            9 => {
                let f = self.pick(&["shift_left", "shift_right", "rotate_left", "rotate_right"]);
                let n = self.below(u64::from(w) + 3);
                (format!("{f}({x}, {n})"), w)
            }
            10 => {
                let f = self.pick(&["shift_left", "shift_right"]);
                (format!("{f}({x}, {})", self.natural()), w)
            }
            11 => {
                let op = self.pick(&["sll", "srl", "rol", "ror"]);
                let n = self.below(u64::from(w) + 2);
                (format!("({x} {op} {n})"), w)
            }
            12 => {
                let (y, v) = self.vector(ty, d);
                (format!("{to}'({x} & {y})"), w + v)
            }
            13 => {
                let op = self.pick(&["and", "or", "xor", "nand", "nor", "xnor"]);
                let ((y, _), v) = (self.vector(ty, d), self.width());
                (format!("(resize({x}, {v}) {op} resize({y}, {v}))"), v)
            }
            14 if ty == Signed => {
                let op = self.pick(&["-", "abs "]);
                (format!("({op}{x})"), w)
            }
            15 if !self.tables.is_empty() && ty == Unsigned => {
                let (name, width) = self.one_of(|g| &g.tables);
                (format!("{name}(to_integer(resize({x}, 3)))"), width)
            }
            16 if !self.functions.is_empty() && ty == Unsigned => {
                let (name, from, to) = self.one_of(|g| &g.functions);
                (format!("{name}(resize({x}, {from}))"), to)
            }
            _ => {
                let from = if ty == Signed { Unsigned } else { Signed };
                let (y, v) = self.vector(from, d);
                (format!("{to}({y})"), v)
            }
        }
    }

    fn number(&mut self, ty: Type) -> String {
        let n = if self.below(4) == 0 { self.below(100_000) } else { self.below(9) };
        if ty == Signed && n > 0 && self.coin() { format!("integer'(-{n})") } else { n.to_string() }
    }

    fn natural(&mut self) -> String {
        let (x, _) = self.vector(Unsigned, 0);
        format!("to_integer(resize({x}, 7))")
    }

    fn exactly(&mut self, ty: Type, width: u32, depth: u32) -> String {
        match ty {
            Logic => {
                let from = if self.coin() { Unsigned } else { Signed };
                format!("std_logic_vector({})", self.exactly(from, width, depth))
            }
            _ => {
                let (x, w) = self.vector(ty, depth);
                if w == width { x } else { format!("resize({x}, {width})") }
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let ty = if self.coin() { Unsigned } else { Signed };
        let (x, w) = self.vector(ty, depth);
        let op = self.pick(&["=", "/=", "<", "<=", ">", ">="]);
        let plain = match self.below(5) {
            0 => {
                let n = self.number(ty);
                if self.coin() { format!("{x} {op} {n}") } else { format!("{n} {op} {x}") }
            }
            1 => format!("{x} {op} \"{}\"", self.bits(w)),
            2 => {
                let (y, v) = self.vector(Unsigned, 1);
                let (z, u) = self.vector(Unsigned, 1);
                format!("to_integer(resize({y}, {})) {op} to_integer(resize({z}, {}))", v.min(20), u.min(20))
            }
            3 if ty == Unsigned => format!("{x} {op} {}", self.natural()),
            _ => format!("{x} {op} {}", self.vector(ty, depth).0),
        };
        if depth > 0 && self.below(4) == 0 {
            let op = self.pick(&["and", "or", "xor"]);
            return format!("({plain}) {op} (not ({}))", self.condition(depth - 1));
        }
        plain
    }

    fn aggregate(&mut self, net: &Net) -> String {
        let inside = |g: &mut Gen| net.low() + g.below(net.width().into()) as i64;
        match self.below(3) {
            0 => format!("(others => '{}')", self.below(2)),
            1 => format!("({} => '1', others => '0')", inside(self)),
            _ => {
                let (a, b) = (inside(self), inside(self));
                let (lo, hi) = (a.min(b), a.max(b));
                let part = if net.down { format!("{hi} downto {lo}") } else { format!("{lo} to {hi}") };
                format!("({part} => '{}', others => '{}')", self.below(2), self.below(2))
            }
        }
    }

    /// Statements that give all of a target a value.
    fn statements(&mut self, net: &Net, arrow: &str, depth: u32, indent: &str) -> String {
        let (t, inner) = (&net.name, format!("{indent}  "));
        let value = |g: &mut Gen| g.exactly(net.ty, net.width(), 2);
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 => format!("{indent}{t} {arrow} {};\n", value(self)),
            1 => format!("{indent}{t} {arrow} {};\n", self.aggregate(net)),
            2 => {
                let c = self.condition(1);
                let (a, b) =
                    (self.statements(net, arrow, depth - 1, &inner), self.statements(net, arrow, depth - 1, &inner));
                let other = self.condition(1);
                let middle = self.statements(net, arrow, depth - 1, &inner);
                format!(
                    "{indent}if {c} then\n{a}{indent}elsif {other} then\n{middle}{indent}else\n{b}{indent}end if;\n"
                )
            }
            3 => {
                let (first, c) = (format!("{indent}{t} {arrow} {};\n", value(self)), self.condition(1));
                let then = self.statements(net, arrow, depth - 1, &inner);
                format!("{first}{indent}if {c} then\n{then}{indent}end if;\n")
            }
            4 => {
                let part = 1 + self.below(3) as u32;
                let selector = self.exactly(Unsigned, part, 1);
                // A case wants a selector whose length is known before it is computed.
                let mut text = format!("{indent}case to_integer({selector}) is\n");
                for k in 0..1 + self.below(1 << part) {
                    let body = self.statements(net, arrow, depth - 1, &inner);
                    let _ = write!(text, "{indent}when {k} =>\n{body}");
                }
                let body = self.statements(net, arrow, depth - 1, &inner);
                format!("{text}{indent}when others =>\n{body}{indent}end case;\n")
            }
            5 => {
                let (first, x) = (format!("{indent}{t} {arrow} {};\n", value(self)), self.nets[0].clone());
                let at = x.low() + self.below(x.width().into()) as i64;
                let range = if self.coin() { "range" } else { "reverse_range" };
                format!(
                    "{first}{indent}for i in {t}'{range} loop\n{indent}  if i mod 3 = 1 then {t}(i) {arrow} {}({at}); \
                     end if;\n{indent}end loop;\n",
                    x.name
                )
            }
            _ => {
                let first = format!("{indent}{t} {arrow} {};\n", value(self));
                let span = u64::from(net.width());
                let (a, b) = (self.below(span) as i64, self.below(span) as i64);
                let (lo, hi) = (net.low() + a.min(b), net.low() + a.max(b));
                let part = if net.down { format!("{hi} downto {lo}") } else { format!("{lo} to {hi}") };
                let value = self.exactly(net.ty, (hi - lo + 1) as u32, 1);
                format!("{first}{indent}{t}({part}) {arrow} {value};\n")
            }
        }
    }

    /// A chain through the bits of one vector, which is no loop.
    fn chain(&mut self, net: &Net) {
        let (t, w, m) = (net.name.clone(), net.width(), self.name("m"));
        let (ty, mask, data, first) =
            (net.ty.name(), self.exactly(net.ty, w, 1), self.exactly(net.ty, w, 1), self.condition(1));
        let (low, high) = (net.low(), net.low() + i64::from(w) - 1);
        let part =
            |from: i64, to: i64| if net.down { format!("{to} downto {from}") } else { format!("{from} to {to}") };
        let (below, above) = (part(low, high - 1), part(low + 1, high));
        let (op, other) = (self.pick(&["and", "or", "xor", "xnor"]), self.pick(&["and", "or", "xor"]));
        let _ = writeln!(self.decls, "  signal {m}, d{m} : {ty}({});", net.range());
        let _ = writeln!(self.body, "  {m} <= {mask};\n  d{m} <= {data};");
        let bit = format!("{t}(i) <= ({t}(i - 1) {op} {m}(i)) {other} d{m}(i);");
        let word = format!("{t}({above}) <= ({t}({below}) {op} {m}({above})) {other} d{m}({above})");
        let first = format!("{t}({low}) <= '1' when {first} else '0'");
        let text = match self.below(4) {
            0 => format!("  {word};\n  {first};\n"),
            1 => format!("  {word} when {m}({low}) = '1' else not {t}({below});\n  {first};\n"),
            2 => format!("  g{t} : for i in {} to {high} generate\n    {bit}\n  end generate;\n  {first};\n", low + 1),
            _ => format!(
                "  process ({t}, {m}, d{m})\n  begin\n    {t}({low}) <= {m}({low});\n    for i in {} to {high} \
                 loop\n      {bit}\n    end loop;\n  end process;\n",
                low + 1
            ),
        };
        self.body.push_str(&text);
    }

    fn function(&mut self) {
        let (name, from, to) = (self.name("f"), self.width(), self.width());
        let outer = std::mem::take(&mut self.nets);
        let free = self.coin();
        let x = Net { name: "x".into(), ty: Unsigned, left: i64::from(from) - 1, right: 0, down: true };
        self.nets.push(x);
        let local = self.net("v", Unsigned);
        let first = self.statements(&local, ":=", 1, "    ");
        self.nets.push(local.clone());
        let mut result = self.net("r", Unsigned);
        result = Net { left: i64::from(to) - 1, right: 0, down: true, ..result };
        let body = self.statements(&result, ":=", 2, "    ");
        let early = if self.coin() {
            let (c, v) = (self.condition(1), self.exactly(Unsigned, to, 1));
            format!("    if {c} then\n      return {v};\n    end if;\n")
        } else {
            String::new()
        };
        let kind = if free { "unsigned".to_owned() } else { format!("unsigned({} downto 0)", from - 1) };
        let _ = write!(
            self.decls,
            "  function {name}(x : {kind}) return unsigned is\n    variable {} : {}({});\n    variable {} : \
             {}({});\n  begin\n{first}{early}{body}    return {};\n  end function;\n",
            local.name,
            local.ty.name(),
            local.range(),
            result.name,
            result.ty.name(),
            result.range(),
            result.name
        );
        self.nets = outer;
        if !free {
            self.functions.push((name, from, to));
        }
    }
}

/// The design of a seed.
pub(super) fn design(seed: u64) -> Design {
    let mut g = Gen {
        rng: SplitMix::new(seed ^ 0x7668_646c),
        nets: Vec::new(),
        functions: Vec::new(),
        tables: Vec::new(),
        decls: String::new(),
        body: String::new(),
        names: 0,
        modern: seed % 2 == 1,
    };
    let name = format!("m{seed}");
    // One edge for all registers.
    let edges: &[&str] = match g.below(3) {
        0 => &["falling_edge(clk)", "clk'event and clk = '0'"],
        _ => &["rising_edge(clk)", "clk'event and clk = '1'"],
    };
    let (mut inputs, mut outputs, mut ports) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let ty = g.ty();
        let net = g.net("a", ty);
        inputs.push((net.name.clone(), net.width()));
        ports.push(format!("{} : in {}({})", net.name, net.ty.name(), net.range()));
        g.nets.push(net);
    }
    inputs.push(("clk".to_owned(), 1));
    ports.push("clk : in std_logic".to_owned());
    for _ in 0..g.below(3) {
        let ty = g.ty();
        let net = g.net("c", ty);
        let value = if g.coin() { format!("\"{}\"", g.bits(net.width())) } else { g.aggregate(&net) };
        let _ = writeln!(g.decls, "  constant {} : {}({}) := {value};", net.name, ty.name(), net.range());
        g.nets.push(net);
    }
    if g.coin() {
        let (table, width) = (g.name("t"), g.width());
        let entries: Vec<String> = (0..8).map(|_| format!("\"{}\"", g.bits(width))).collect();
        let _ = writeln!(
            g.decls,
            "  type {table}_t is array (0 to 7) of unsigned({} downto 0);\n  constant {table} : {table}_t := ({});",
            width - 1,
            entries.join(", ")
        );
        g.tables.push((table, width));
    }
    for _ in 0..g.below(3) {
        g.function();
    }
    for _ in 0..2 + g.below(4) {
        let ty = g.ty();
        let net = g.net("s", ty);
        let (t, w) = (net.name.clone(), net.width());
        let mut init = String::new();
        match g.below(8) {
            7 if w > 1 => g.chain(&net),
            0 => {
                let e = g.exactly(ty, w, 3);
                let _ = writeln!(g.body, "  {t} <= {e};");
            }
            1 => {
                let (a, c, b, d, e) =
                    (g.exactly(ty, w, 2), g.condition(2), g.exactly(ty, w, 2), g.condition(1), g.aggregate(&net));
                let _ = writeln!(g.body, "  {t} <= {a} when {c} else\n    {b} when {d} else\n    {e};");
            }
            2 => {
                let (n, x) = (1 + g.below(3) as u32, g.name("k"));
                let selector = g.exactly(Unsigned, n, 1);
                let _ = writeln!(g.decls, "  signal {x} : unsigned({} downto 0);", n - 1);
                let _ = writeln!(g.body, "  {x} <= {selector};\n  with {x} select {t} <=");
                for k in 0..1 + g.below((1 << n) - 1) {
                    let e = g.exactly(ty, w, 1);
                    let _ = writeln!(g.body, "    {e} when \"{k:0>n$b}\",", n = n as usize);
                }
                let e = g.exactly(ty, w, 1);
                let _ = writeln!(g.body, "    {e} when others;");
            }
            3 => {
                let x = g.nets[0].clone();
                let at = x.low() + g.below(x.width().into()) as i64;
                let (y, _) = g.vector(Unsigned, 0);
                let _ = writeln!(
                    g.body,
                    "  g{t} : for i in {t}'range generate\n    o{t} : if i mod 2 = 0 generate\n      {t}(i) <= \
                     {}({at});\n    end generate;\n    e{t} : if i mod 2 = 1 generate\n      {t}(i) <= '1' when {y} > \
                     i else '0';\n    end generate;\n  end generate;",
                    x.name
                );
            }
            4 => {
                // Clocked, with a variable that may keep its value.
                let v = Net { name: format!("v{t}"), ty: Unsigned, left: 5, right: 0, down: true };
                let (edge, first) = (g.pick(edges), g.bits(6));
                g.nets.push(v.clone());
                let vb = if g.coin() {
                    g.statements(&v, ":=", 1, "      ")
                } else {
                    format!("      if {} then\n        {} := {} + 1;\n      end if;\n", g.condition(1), v.name, v.name)
                };
                let sb = g.statements(&net, "<=", 2, "      ");
                g.nets.pop();
                init = format!(" := {}", g.aggregate(&net));
                let _ = write!(
                    g.body,
                    "  process (clk)\n    variable {} : unsigned(5 downto 0) := \"{first}\";\n  begin\n    if {edge} \
                     then\n{vb}{sb}    end if;\n  end process;\n",
                    v.name
                );
            }
            _ => {
                let v = g.net("v", Unsigned);
                let vb = g.statements(&v, ":=", 1, "    ");
                let reads: Vec<String> =
                    g.nets.iter().filter(|n| !n.name.starts_with('c')).map(|n| n.name.clone()).collect();
                g.nets.push(v.clone());
                let sb = g.statements(&net, "<=", 2, "    ");
                g.nets.pop();
                let _ = write!(
                    g.body,
                    "  process ({})\n    variable {} : unsigned({});\n  begin\n{vb}{sb}  end process;\n",
                    reads.join(", "),
                    v.name,
                    v.range()
                );
            }
        }
        let _ = writeln!(g.decls, "  signal {t} : {}({}){init};", ty.name(), net.range());
        g.nets.push(net);
    }
    // Types of the user; one design in two has some.
    let edge = edges[0];
    let mut packages = String::new();
    let mut entities = String::new();
    for _ in 0..g.below(2) * (1 + g.below(4)) {
        match g.below(15) {
            7 => g.loops(),
            8 => g.search(),
            9 => g.procedures(edge),
            10 if !g.decls.contains("function sum") => g.arrays(edge),
            11 => g.records(),
            12 => g.alternatives(),
            13 => entities.push_str(&g.instance(&name)),
            14 => g.standard_functions(),
            0 if !g.decls.contains("function code") => g.machine(edge),
            1 => g.integers(edge),
            2 => g.record(edge),
            3 | 4 => g.memory(edge),
            5 => g.scatter(),
            _ if packages.is_empty() => packages = g.package(&name),
            _ => {}
        }
    }
    let inside: Vec<Net> = g.nets.iter().filter(|n| n.name.starts_with('s')).cloned().collect();
    for net in inside {
        let port = format!("y{}", net.name);
        ports.push(format!("{port} : out std_logic_vector({} downto 0)", net.width() - 1));
        let _ = writeln!(g.body, "  {port} <= std_logic_vector({});", net.name);
        outputs.push((port, net.width()));
    }
    for _ in 0..3 {
        let (width, port) = (g.width(), g.name("y"));
        let e = g.exactly(Logic, width, 3);
        ports.push(format!("{port} : out std_logic_vector({} downto 0)", width - 1));
        let _ = writeln!(g.body, "  {port} <= {e};");
        outputs.push((port, width));
    }
    let text = format!(
        "{entities}{packages}library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n\nentity {name} \
         is\n  port (\n    {}\n  );\nend entity;\n\narchitecture rtl of {name} is\n{}begin\n{}end architecture;\n",
        ports.join(";\n    "),
        g.decls,
        g.body
    );
    Design { name, text, inputs, outputs }
}
