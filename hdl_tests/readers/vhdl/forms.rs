//! Types of the user: enumerations, integers, records, arrays, packages, aliases.

use super::super::Chance;
use super::Type::{Signed, Unsigned};
use super::{Gen, Net};
use std::fmt::Write as _;

impl Gen {
    /// Returns a new unsigned signal that shows a signal of another type.
    pub(super) fn shown(&mut self, width: u32, value: &str) {
        let name = self.name("s");
        let _ = writeln!(self.decls, "  signal {name} : unsigned({} downto 0);", width - 1);
        let _ = writeln!(self.body, "  {name} <= {value};");
        self.nets.push(Net { name, ty: Unsigned, left: i64::from(width) - 1, right: 0, down: true });
    }

    /// An index from 0 up to `top` at most.
    pub(super) fn index(&mut self, top: u64) -> String {
        let (x, _) = self.vector(Unsigned, 0);
        match self.below(3) {
            0 => self.below(top + 1).to_string(),
            _ => format!("to_integer(resize({x}, 6)) mod {}", top + 1),
        }
    }

    /// A machine of states, with its next state from a process or a choice.
    pub(super) fn machine(&mut self, edge: &str) {
        let (t, s) = (self.name("t"), self.name("q"));
        let n = 2 + self.below(4);
        let states: Vec<String> = (0..n).map(|i| format!("{t}_{i}")).collect();
        let _ = writeln!(self.decls, "  type {t} is ({});\n  signal {s}, n{s} : {t};", states.join(", "));
        let mut cases = String::new();
        for state in &states {
            let (c, a, b) = (self.condition(1), self.below(n), self.below(n));
            let _ = write!(
                cases,
                "      when {state} =>\n        if {c} then n{s} <= {}; else n{s} <= {}; end if;\n",
                states[a as usize], states[b as usize]
            );
        }
        if self.coin() {
            cases = cases.replacen(&format!("when {} =>", states[n as usize - 1]), "when others =>", 1);
        }
        let reads: Vec<String> =
            self.nets.iter().filter(|n| !n.name.starts_with('c')).map(|n| n.name.clone()).collect();
        let _ = write!(
            self.body,
            "  process ({s}, {})\n  begin\n    case {s} is\n{cases}    end case;\n  end process;\n  process (clk)\n  \
             begin\n    if {edge} then\n      {s} <= n{s};\n    end if;\n  end process;\n",
            reads.join(", ")
        );
        let _ = writeln!(
            self.decls,
            "  function code(x : {t}) return unsigned is\n  begin\n    if x > {t}_0 and x /= {t}'right then\n      \
             return to_unsigned(2, 3);\n    end if;\n    return to_unsigned(1, 3);\n  end function;"
        );
        self.shown(3, &format!("code({s})"));
        let state = &states[self.below(n) as usize];
        self.shown(3, &format!("to_unsigned(5, 3) when {s} = {state} else to_unsigned(3, 3)"));
    }

    /// A counter within a range, and a count of bits.
    pub(super) fn integers(&mut self, edge: &str) {
        let (c, low, top) = (self.name("q"), self.below(3) as i64 - 1, 3 + self.below(12) as i64);
        let step = 1 + self.below(3) as i64;
        let cond = self.condition(1);
        let _ = writeln!(self.decls, "  signal {c} : integer range {low} to {top} := {};", low + 1);
        let _ = write!(
            self.body,
            "  process (clk)\n  begin\n    if {edge} then\n      if {cond} then\n        if {c} + {step} > {top} \
             then\n          {c} <= {low};\n        else\n          {c} <= {c} + {step};\n        end if;\n      end \
             if;\n    end if;\n  end process;\n"
        );
        self.shown(6, &format!("unsigned(to_signed({c} * 2 - 1, 6))"));
        let (k, x) = (self.name("q"), self.nets[0].clone());
        let reads = x.name.clone();
        let _ = writeln!(self.decls, "  signal {k} : natural range 0 to {};", x.width());
        let _ = write!(
            self.body,
            "  process ({reads})\n    variable n : natural range 0 to {};\n  begin\n    n := 0;\n    for i in \
             {reads}'range loop\n      if {reads}(i) = '1' then\n        n := n + 1;\n      end if;\n    end \
             loop;\n    {k} <= n;\n  end process;\n",
            x.width()
        );
        let m = 1 + self.below(5);
        self.shown(8, &format!("to_unsigned(({k} * 3) mod {m} + {k} / {m}, 8)"));
        let (y, w) = self.vector(Signed, 0);
        if w < 30 {
            self.shown(9, &format!("unsigned(to_signed((to_integer({y}) rem 7) - {k} mod 5, 9))"));
        }
    }

    /// A record with fields of several types, and aliases of parts.
    pub(super) fn record(&mut self, edge: &str) {
        let (t, r) = (self.name("t"), self.name("q"));
        let (a, b) = (1 + self.below(9) as u32, 1 + self.below(9) as u32);
        let _ = writeln!(
            self.decls,
            "  type {t} is record\n    x : unsigned({} downto 0);\n    y : signed({} downto 0);\n    z : \
             std_logic;\n    n : natural range 0 to 7;\n  end record;\n  \
             signal {r} : {t} := (x => (others => '0'), y => (others => '1'), z => '0', n => 3);\n  signal c{r} : \
             {t};\n  alias l{r} : unsigned({} downto 0) is {r}.x;",
            a - 1,
            b - 1,
            a - 1
        );
        let (x, y, z) = (self.exactly(Unsigned, a, 2), self.exactly(Signed, b, 2), self.condition(1));
        let index = self.index(7);
        let _ = write!(
            self.body,
            "  c{r}.x <= {x};\n  c{r}.y <= {y};\n  c{r}.z <= '1' when {z} else '0';\n  c{r}.n <= {index};\n  \
             process (clk)\n  begin\n    if {edge} then\n      {r} <= c{r};\n      if c{r}.z = '1' then\n        \
             {r}.x <= {r}.x + 1;\n        {r}.n <= 7 - c{r}.n;\n      end if;\n    end if;\n  end process;\n"
        );
        self.shown(a + 3, &format!("l{r} & to_unsigned({r}.n, 3)"));
        self.shown(b + 1, &format!("unsigned(({r}.y) & {r}.z)"));
    }

    /// An array of vectors, written and read at computed indices.
    pub(super) fn memory(&mut self, edge: &str) {
        let (t, m, w, top) = (self.name("t"), self.name("q"), 1 + self.below(9) as u32, self.below(9));
        let (low, range) = match self.below(3) {
            0 => (0, format!("0 to {top}")),
            1 => (0, format!("{top} downto 0")),
            _ => (2, format!("2 to {}", top + 2)),
        };
        let open = self.coin();
        let index = if open { "natural range <>".to_owned() } else { range.clone() };
        let of = if open { format!("{t}({range})") } else { t.clone() };
        let first = self.bits(w);
        let _ = writeln!(
            self.decls,
            "  type {t} is array ({index}) of unsigned({} downto 0);\n  signal {m} : {of} := (others => \"{first}\");",
            w - 1
        );
        let at = |g: &mut Gen| format!("{m}({} + {low})", g.index(top));
        let (target, value, cond, other) = (at(self), self.exactly(Unsigned, w, 2), self.condition(1), at(self));
        let bit = self.below(w.into());
        let _ = write!(
            self.body,
            "  process (clk)\n  begin\n    if {edge} then\n      if {cond} then\n        {target} <= {value};\n      \
             end if;\n      {other}({bit}) <= '1';\n    end if;\n  end process;\n"
        );
        let read = at(self);
        self.shown(w, &read);
        self.shown(w, &format!("{m}({m}'low) xor {m}({m}'right)"));
    }

    /// A vector whose bits are written at computed places.
    pub(super) fn scatter(&mut self) {
        let (v, top) = (self.name("q"), 1 + self.below(9));
        let range = if self.coin() { format!("{top} downto 0") } else { format!("0 to {top}") };
        let _ = writeln!(self.decls, "  signal {v} : unsigned({range});");
        let (value, i, j, b) =
            (self.exactly(Unsigned, top as u32 + 1, 1), self.index(top), self.index(top), self.condition(1));
        let reads: Vec<String> =
            self.nets.iter().filter(|n| !n.name.starts_with('c')).map(|n| n.name.clone()).collect();
        let _ = write!(
            self.body,
            "  process ({})\n    variable t : unsigned({range});\n  begin\n    t := {value};\n    t({i}) := '0';\n    \
             if {b} then\n      t({j}) := not t({i});\n    end if;\n    {v} <= t;\n  end process;\n",
            reads.join(", ")
        );
        let k = self.index(top);
        self.shown(top as u32 + 2, &format!("{v}({k}) & {v}"));
    }

    /// A package with a type, a constant and functions of one name, whose text is given back.
    pub(super) fn package(&mut self, design: &str) -> String {
        let p = self.name(&format!("{design}_p"));
        let (w, c) = (2 + self.below(9) as u32, self.below(4));
        let (x, y) = (self.exactly(Unsigned, w, 1), self.exactly(Signed, w, 1));
        self.shown(w, &format!("mix({x}) + {p}_c"));
        self.shown(w + 1, &format!("unsigned(work.{p}.mix({y})) & to_unsigned(work.{p}.{p}_n, 1)"));
        let pattern: String = (0..w).map(|_| ['0', '1', '-'][self.below(3) as usize]).collect();
        let z = self.exactly(Unsigned, w, 1);
        let n = self.name("w");
        let _ = writeln!(self.decls, "  signal {n} : {p}_t;");
        let _ = writeln!(self.body, "  {n} <= {z};");
        self.shown(2, &format!("\"10\" when std_match({n}, \"{pattern}\") else \"01\""));
        format!(
            "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n\npackage {p} is\n  subtype \
             {p}_t is unsigned({} downto 0);\n  \
             constant {p}_c : natural := {c};\n  constant {p}_n : natural;\n  function mix(x : unsigned) return \
             unsigned;\n  function mix(x : signed) return signed;\nend package;\n\n\
             package body {p} is\n  constant {p}_n : natural := {};\n  function mix(x : unsigned) return unsigned \
             is\n  begin\n    return (x sll 1) xor x;\n  end function;\n  \
             function mix(x : signed) return signed is\n  begin\n    return x - 3;\n  end function;\nend package \
             body;\n\nuse work.{p}.all;\n",
            w - 1,
            c % 2
        )
    }
}
