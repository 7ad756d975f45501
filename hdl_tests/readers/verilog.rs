//! Random designs in Verilog-2001.

mod forms;
mod more;

use super::{Chance, Design};
use alir_testing::random::SplitMix;
use std::fmt::Write as _;

/// Names that an expression may use.
#[derive(Clone)]
struct Net {
    name: String,
    width: u32,
    signed: bool,
    /// Bounds, if it is a vector.
    range: Option<(i64, i64)>,
    memory: Option<(i64, i64)>,
}

struct Gen {
    rng: SplitMix,
    nets: Vec<Net>,
    /// Functions: name and number of arguments.
    functions: Vec<(String, usize)>,
    text: String,
    names: u32,
    /// The variable that loops count.
    counter: String,
    /// `true` if nothing undefined comes up. In designs where it does, nothing asks whether it is: `if`, `case` and
    /// `===` make known values of unknown ones, each simulator and synthesis in its own way.
    clean: bool,
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
    fn width(&mut self) -> u32 {
        match self.below(8) {
            0 => 1,
            1..=5 => 1 + self.below(12) as u32,
            6 => 28 + self.below(8) as u32,
            _ => 1 + self.below(70) as u32,
        }
    }

    /// A range of a width, in any form; none for a scalar.
    fn range(&mut self, width: u32) -> Option<(i64, i64)> {
        let top = i64::from(width) - 1;
        match self.below(8) {
            0 if width == 1 => None,
            0 => Some((0, top)),
            1 => Some((top + 3, 3)),
            2 => Some((2, top + 2)),
            3 => Some((top - 2, -2)),
            _ => Some((top, 0)),
        }
    }

    fn range_text(range: Option<(i64, i64)>) -> String {
        range.map_or(String::new(), |(m, l)| format!("[{m}:{l}]"))
    }

    /// Declares what a kind of net says, signed or not.
    fn declared(&mut self, kind: &str, stem: &str, width: u32) -> (String, Net) {
        let range = self.range(width);
        let name = self.name(stem);
        let sign = if self.coin() { "signed " } else { "" };
        let text = format!("{kind} {sign}{} {name}", Gen::range_text(range));
        (text, Net { name, width, range, memory: None, signed: !sign.is_empty() })
    }

    fn literal(&mut self, sized: bool) -> String {
        let width = self.width();
        let sign = if self.coin() { "s" } else { "" };
        let value = u128::from(self.rng.word()) & ((1u128 << width.min(64)) - 1);
        match self.below(if sized { 5 } else { 9 }) {
            0 => format!("{width}'{sign}h{value:x}"),
            1 => format!("{width}'{sign}b{value:b}"),
            2 => format!("{width}'{sign}d{value}"),
            3 => format!("{width} '{sign}o {value:o}"),
            4 => format!("{width}'{}h{value:_>1x}", sign.to_uppercase()),
            5 => format!("'h{:x}", value & 0xffff_ffff),
            6 => format!("{}", value & 0x7fff_ffff),
            _ => format!("{}", self.below(9)),
        }
    }

    /// A select of a net, or the net itself.
    fn named(&mut self) -> String {
        let at = self.below(self.nets.len() as u64) as usize;
        let net = self.nets[at].clone();
        let mut base = net.name.clone();
        if let Some((low, high)) = net.memory {
            let index = self.index(low, high);
            base = format!("{base}[{index}]");
        }
        let Some((msb, lsb)) = net.range else { return base };
        // In processes Icarus 11 drops the select of all of a signed bit, and with it that selects are unsigned.
        if self.below(3) > 0 || (net.signed && net.width == 1) {
            return base;
        }
        self.select(&base, net.width, (msb, lsb))
    }

    /// An index that is not constant: Icarus 11 fails over many that are constant and outside.
    fn index(&mut self, low: i64, high: i64) -> String {
        let (x, n) = (self.nets[0].name.clone(), self.below(12));
        let inside = format!("$signed({{1'b0, {x}}} % {}) + ({low})", high - low + 1);
        match self.below(8) {
            _ if self.clean => inside,
            0 => format!("{x} + {n}"),
            1 => format!("{x} % {}", n + 1),
            2 => format!("$signed({{1'b0, {x}}}) - {n}"),
            3 => format!("$signed({x})"),
            4 => format!("{x} > {n} ? {n} : {x}"),
            5 => x,
            _ => inside,
        }
    }

    /// A bit or part of a vector, at constant or computed places.
    fn select(&mut self, base: &str, width: u32, (msb, lsb): (i64, i64)) -> String {
        let down = msb >= lsb;
        let (low, high) = (msb.min(lsb), msb.max(lsb));
        let inside = |g: &mut Gen| low + g.below((high - low + 1) as u64) as i64;
        match self.below(6) {
            0 => format!("{base}[{}]", inside(self)),
            1 => {
                let index = self.index(low, high);
                format!("{base}[{index}]")
            }
            2 => {
                let (a, b) = (inside(self), inside(self));
                let (a, b) = (a.max(b), a.min(b));
                if down { format!("{base}[{a}:{b}]") } else { format!("{base}[{b}:{a}]") }
            }
            3 => {
                let (a, b) = (inside(self), inside(self));
                let (a, b) = (a.max(b), a.min(b));
                let n = a - b + 1;
                if self.coin() { format!("{base}[{b} +: {n}]") } else { format!("{base}[{a} -: {n}]") }
            }
            _ => {
                let part = 1 + self.below(width.into());
                let sign = self.pick(&["+", "-"]);
                let reach = part as i64 - 1;
                let (low, high) = if sign == "+" { (low, high - reach) } else { (low + reach, high) };
                let index = self.index(low, high);
                format!("{base}[{index} {sign}: {part}]")
            }
        }
    }

    fn bracketed(&mut self, depth: u32, sized: bool) -> String {
        let e = self.expr(depth, sized);
        if self.below(3) == 0 { e } else { format!("({e})") }
    }

    /// An expression. A sized one has no part without size, as concatenations want it.
    fn expr(&mut self, depth: u32, sized: bool) -> String {
        if depth == 0 {
            return if self.below(4) == 0 { self.literal(sized) } else { self.named() };
        }
        let d = depth - 1;
        match self.below(20) {
            0 => self.literal(sized),
            1 | 2 => self.named(),
            3 => {
                let op = self.pick(&["+", "-", "!", "~", "&", "~&", "|", "~|", "^", "~^", "^~"]);
                let x = self.expr(d, sized);
                format!("{op} ({x})")
            }
            4 => {
                let op = self.pick(&["-", "~", "&", "|", "^"]);
                let x = self.named();
                format!("{op}{x}")
            }
            5 | 6 => {
                let (mut c, a, b) = (self.bracketed(d, false), self.bracketed(d, sized), self.bracketed(d, sized));
                // Under a constant condition Icarus 11 forgets that the function it calls is signed.
                if !self.functions.is_empty() {
                    c = format!("({} ^ ({c}))", self.nets[0].name);
                }
                if self.coin() { format!("({c} ? {a} : {b})") } else { format!("{c} ? {a} : {b}") }
            }
            7 => {
                let n = 1 + self.below(3);
                let parts: Vec<String> = (0..n).map(|_| self.expr(d.min(1), true)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            8 => {
                let x = self.expr(d.min(1), true);
                format!("{{{}{{{x}}}}}", 1 + self.below(3))
            }
            9 | 10 => {
                let f = self.pick(&["$signed", "$unsigned"]);
                let x = self.expr(d, true);
                format!("{f}({x})")
            }
            11 => {
                // Icarus 11 cuts powers to what a floating-point number holds.
                let (x, n) = (self.nets[0].name.clone(), self.below(5));
                match self.below(3) {
                    0 => format!("({x} ** 3'd{n})"),
                    1 => format!("($signed({x}) ** {n})"),
                    _ => format!("({x} ** {n})"),
                }
            }
            12 | 13 => {
                let op = self.pick(&["<<", ">>", "<<<", ">>>"]);
                let x = self.bracketed(d, sized);
                let by = match self.below(3) {
                    0 => self.below(80).to_string(),
                    1 => self.named(),
                    _ => format!("({})", self.expr(d.min(1), false)),
                };
                format!("{x} {op} {by}")
            }
            14 if !self.functions.is_empty() => {
                let at = self.below(self.functions.len() as u64) as usize;
                let (name, n) = self.functions[at].clone();
                let args: Vec<String> = (0..n).map(|_| self.expr(d.min(1), false)).collect();
                format!("{name}({})", args.join(", "))
            }
            15 => {
                let op = self.pick(&["/", "%"]);
                // Icarus 11 divides words of more than 64 bits wrongly: the context must not widen these.
                let short: Vec<String> =
                    self.nets.iter().filter(|n| n.width <= 64 && n.memory.is_none()).map(|n| n.name.clone()).collect();
                if short.is_empty() {
                    return self.literal(true);
                }
                let mut one = || short[self.rng.below(short.len() as u64) as usize].clone();
                let (a, b) = (one(), one());
                let quotient = if self.clean { format!("{a} {op} ({b} | 2'sd1)") } else { format!("{a} {op} {b}") };
                let outer = self.pick(&["", "$signed"]);
                format!("{outer}({{{quotient}}})")
            }
            _ => {
                const ALL: [&str; 20] = [
                    "+", "-", "*", "+", "-", "&", "|", "^", "~^", "^~", "<", "<=", ">", ">=", "==", "!=", "&&", "||",
                    "===", "!==",
                ];
                let op = self.pick(if self.clean { &ALL } else { &ALL[..18] });
                let (a, b) = (self.bracketed(d, sized), self.bracketed(d, sized));
                format!("{a} {op} {b}")
            }
        }
    }

    /// Statements that assign all of a variable, in any of the forms.
    fn statements(&mut self, target: &Net, arrow: &str, depth: u32, indent: &str) -> String {
        let t = &target.name;
        let e = |g: &mut Gen| g.expr(2, false);
        match self.below(if depth == 0 || !self.clean { 2 } else { 8 }) {
            0 | 1 => format!("{indent}{t} {arrow} {};\n", e(self)),
            2 => {
                let c = e(self);
                let inner = format!("{indent}  ");
                let (a, b) = (
                    self.statements(target, arrow, depth - 1, &inner),
                    self.statements(target, arrow, depth - 1, &inner),
                );
                format!("{indent}if ({c}) begin\n{a}{indent}end else begin\n{b}{indent}end\n")
            }
            3 => {
                let first = format!("{indent}{t} {arrow} {};\n", e(self));
                let c = e(self);
                let then = self.statements(target, arrow, depth - 1, &format!("{indent}  "));
                format!("{first}{indent}if ({c})\n{indent}begin\n{then}{indent}end\n")
            }
            4 | 5 => {
                let word = self.pick(&["case", "casez", "casex"]);
                // Icarus 11 extends a signed selector by its sign beside unsigned labels, now and then, and one that is
                // not a name by zeros: all signed or none, and names.
                let names: Vec<String> = self.nets.iter().filter(|n| n.signed).map(|n| n.name.clone()).collect();
                let signed = !names.is_empty() && self.below(3) == 0;
                let selector = match signed {
                    true => names[self.below(names.len() as u64) as usize].clone(),
                    false => format!("{{{}, {}}}", self.expr(1, true), self.named()),
                };
                let mut text = format!("{indent}{word} ({selector})\n");
                let inner = format!("{indent}  ");
                for _ in 0..1 + self.below(4) {
                    let n = 1 + self.below(2);
                    let labels: Vec<String> = (0..n).map(|_| self.label(word, signed)).collect();
                    let body = self.statements(target, arrow, depth - 1, &inner);
                    let _ = write!(text, "{indent}{}: begin\n{body}{indent}end\n", labels.join(", "));
                }
                let colon = self.pick(&[":", ""]);
                let body = self.statements(target, arrow, depth - 1, &inner);
                format!("{text}{indent}default{colon} begin\n{body}{indent}end\n{indent}endcase\n")
            }
            6 => match target.range {
                Some(range) if target.width > 1 => {
                    // Another value for a part of it.
                    let first = format!("{indent}{t} {arrow} {};\n", e(self));
                    let part = self.select(t, target.width, range);
                    format!("{first}{indent}{part} {arrow} {};\n", e(self))
                }
                _ => format!("{indent}{t} {arrow} {};\n", e(self)),
            },
            _ => {
                let Some((msb, lsb)) = target.range else { return format!("{indent}{t} {arrow} {};\n", e(self)) };
                let (low, high) = (msb.min(lsb), msb.max(lsb));
                let (i, x, y, k) = (self.counter.clone(), self.named(), self.named(), self.below(3));
                format!(
                    "{indent}for ({i} = {low}; {i} <= {high}; {i} = {i} + 1)\n\
                     {indent}  if ({i} % 3 == {k}) {t}[{i}] {arrow} ^(({x}) >> ({i} - ({low})));\n\
                     {indent}  else {t}[{i}] {arrow} {y};\n"
                )
            }
        }
    }

    fn label(&mut self, word: &str, signed: bool) -> String {
        let width = 1 + self.below(6) as u32;
        let marks: &[u8] = match word {
            "case" => b"01",
            "casez" => b"01?z",
            _ => b"01?xz",
        };
        let digits: String = (0..width).map(|_| char::from(marks[self.below(marks.len() as u64) as usize])).collect();
        let sign = if signed || self.below(4) == 0 { "s" } else { "" };
        match self.below(4) {
            // Beside labels without size Icarus 11 extends a signed selector by zeros.
            0 if !signed => self.below(9).to_string(),
            _ => format!("{width}'{sign}b{digits}"),
        }
    }

    /// A chain through the bits of one vector, which is no loop.
    fn chain(&mut self, width: u32) {
        let (c, m, d) = (self.name("c"), self.name("m"), self.name("d"));
        let (mask, data, first, top) = (self.expr(2, false), self.expr(2, false), self.named(), width - 1);
        let _ = writeln!(self.text, "  wire [{top}:0] {m} = {mask}, {d} = {data};");
        let (op, other) = (self.pick(&["&", "|", "^", "~^"]), self.pick(&["&", "|", "^"]));
        let below = format!("{c}[{}:0]", top - 1);
        let wire = format!("  wire [{top}:0] {c};\n");
        let text = match self.below(4) {
            0 => format!("{wire}  assign {c} = {{({below} {op} {m}[{top}:1]) {other} {d}[{top}:1], ^({first})}};\n"),
            1 => format!(
                "{wire}  assign {c}[{top}:1] = {m}[0] ? ~{below} : {below} {op} {d}[{top}:1];\n  assign {c}[0] = \
                 ^({first});\n"
            ),
            2 => format!(
                "{wire}  genvar g{c};\n  generate for (g{c} = {top}; g{c} > 0; g{c} = g{c} - 1) begin : b{c}\n    \
                 assign {c}[g{c}] = {c}[g{c} - 1] {op} {m}[g{c}] {other} {d}[g{c}];\n  end endgenerate\n  assign \
                 {c}[0] = ^({first});\n"
            ),
            _ => format!(
                "  reg [{top}:0] {c};\n  always @* begin\n    {c}[{top}:1] <= ({below} {op} {m}[{top}:1]) {other} \
                 {d}[{top}:1];\n    \
                 {c}[0] <= ^({first});\n  end\n"
            ),
        };
        self.text.push_str(&text);
        self.nets.push(Net { name: c, width, range: Some((top.into(), 0)), memory: None, signed: false });
    }

    fn function(&mut self) {
        let name = self.name("f");
        let n = 1 + self.below(2) as usize;
        let width = self.width();
        let range = self.range(width);
        let sign = if self.coin() { "signed " } else { "" };
        let outer = std::mem::take(&mut self.nets);
        let mut inputs = Vec::new();
        for _ in 0..n {
            if self.below(5) == 0 {
                let name = self.name("n");
                inputs.push(format!("input integer {name}"));
                self.nets.push(Net { name, width: 32, range: Some((31, 0)), memory: None, signed: false });
            } else {
                let width = self.width();
                let (text, net) = self.declared("input", "x", width);
                inputs.push(text);
                self.nets.push(net);
            }
        }
        let ansi = self.coin();
        let head = if ansi {
            format!("function {sign}{} {name} ({});\n", Gen::range_text(range), inputs.join(", "))
        } else {
            format!("function {sign}{} {name};\n{};\n", Gen::range_text(range), inputs.join(";\n"))
        };
        let width_local = self.width();
        let (decl, local) = self.declared("reg", "v", width_local);
        self.counter = "i".to_owned();
        let first = self.statements(&local, "=", 1, "    ");
        self.nets.push(local);
        let result = Net { name: name.clone(), width, range, memory: None, signed: false };
        let body = self.statements(&result, "=", 2, "    ");
        let _ = write!(self.text, "  {head}  integer i;\n  {decl};\n  begin\n{first}{body}  end\n  endfunction\n");
        self.nets = outer;
        self.functions.push((name, n));
    }
}

/// The design of a seed.
pub(super) fn design(seed: u64) -> Design {
    let mut g = Gen {
        rng: SplitMix::new(seed),
        nets: Vec::new(),
        functions: Vec::new(),
        text: String::new(),
        names: 0,
        counter: String::new(),
        clean: true,
    };
    g.clean = g.below(5) > 0;
    let name = format!("m{seed}");
    let clocked = g.below(3) == 0;
    let edge = g.pick(&["posedge", "posedge", "negedge"]);
    let (mut inputs, mut outputs, mut ports) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..4 {
        // The first one is what indexes are made of; Icarus cuts those to 32 bits.
        let width = if i == 0 { 1 + g.below(12) as u32 } else { g.width() };
        let (text, net) = g.declared("input", "a", width);
        if i == 3 && clocked {
            inputs.push(("clk".to_owned(), 1));
            ports.push("input clk".to_owned());
            continue;
        }
        inputs.push((net.name.clone(), width));
        ports.push(text);
        g.nets.push(net);
    }
    // Constants.
    for _ in 0..g.below(4) {
        let word = g.pick(&["localparam", "parameter"]);
        let name = g.name("P");
        // What takes its size from its value has to have one, to stand in concatenations; Icarus widens sums there.
        let form = g.below(4);
        let value = g.literal(true);
        let width = g.width();
        let range = g.range(width);
        let (head, net_range) = match form {
            0 => (String::new(), None),
            1 => ("integer ".to_owned(), Some((31, 0))),
            2 => (format!("signed {}", Gen::range_text(range)), range),
            _ => (Gen::range_text(range), range),
        };
        let value = if net_range.is_some() && g.coin() { format!("{value} + {}", g.literal(false)) } else { value };
        let _ = writeln!(g.text, "  {word} {head} {name} = {value};");
        let width = net_range.map_or(1, |(m, l)| (m - l).unsigned_abs() as u32 + 1);
        g.nets.push(Net { name, width, range: net_range, memory: None, signed: false });
    }
    for _ in 0..g.below(3) {
        g.function();
    }
    // A table.
    let mut after = String::new();
    // Other modules.
    let mut others = String::new();
    if g.below(3) == 0 {
        let width = g.width();
        let range = g.range(width);
        let depth = 1 + g.below(12) as i64;
        let low = if g.below(3) == 0 { 2 } else { 0 };
        let name = g.name("rom");
        let sign = if g.coin() { "signed " } else { "" };
        let bounds = if g.coin() { (low, low + depth - 1) } else { (low + depth - 1, low) };
        let _ = writeln!(g.text, "  reg {sign}{} {name} [{}:{}];", Gen::range_text(range), bounds.0, bounds.1);
        after.push_str("  initial begin\n");
        for i in low..low + depth {
            let _ = writeln!(after, "    {name}[{i}] = {};", g.literal(false));
        }
        after.push_str("  end\n");
        g.nets.push(Net { name, width, range, memory: Some((low, low + depth - 1)), signed: false });
    }
    g.text.push_str(&after);
    // Nets, each of those before it.
    for _ in 0..2 + g.below(4) {
        let width = g.width();
        match g.below(17) {
            14 => g.disables(),
            16 if clocked => g.held(edge),
            15 => g.recursion(),
            6 => g.chain(width + 1),
            7 if clocked => g.memory(edge),
            8 => g.scratch(),
            9 => g.net_array(),
            10 => {
                let edge = Some(edge).filter(|_| clocked && g.coin());
                g.task(edge);
            }
            11 => others.push_str(&g.instances(&name)),
            12 => g.paths(),
            13 => g.odds(seed),
            0 | 1 => {
                let (decl, net) = g.declared("wire", "w", width);
                let e = g.expr(3, false);
                if g.coin() {
                    let _ = writeln!(g.text, "  {decl} = {e};");
                } else {
                    let _ = writeln!(g.text, "  {decl};\n  assign {} = {e};", net.name);
                }
                g.nets.push(net);
            }
            2 => {
                // One assignment to several, low and high parts apart.
                let other = g.width();
                let ((a, net_a), (b, net_b)) = (g.declared("wire", "w", width), g.declared("wire", "w", other));
                let e = g.expr(3, false);
                let _ = writeln!(g.text, "  {a}; {b};\n  assign {{{}, {}}} = {e};", net_a.name, net_b.name);
                g.nets.extend([net_a, net_b]);
            }
            3 => {
                // A loop of generate.
                let name = g.name("w");
                let sign = if g.coin() { "signed " } else { "" };
                let _ = writeln!(g.text, "  wire {sign}[{}:0] {name};\n  genvar g{name};", width - 1);
                let x = g.named();
                let y = g.named();
                let _ = writeln!(
                    g.text,
                    "  generate for (g{name} = 0; g{name} < {width}; g{name} = g{name} + 1) begin : b{name}\n    \
                     if (g{name} % 2 == 1) assign {name}[g{name}] = ^(({x}) >> g{name});\n    \
                     else begin\n      wire t = {y} > g{name};\n      assign {name}[g{name}] = t;\n    end\n  end \
                     endgenerate"
                );
                g.nets.push(Net { name, width, range: Some((i64::from(width) - 1, 0)), memory: None, signed: false });
            }
            4 if clocked => {
                let (decl, net) = g.declared("reg", "r", width);
                let (edge, init, i) = (edge, g.literal(false), g.name("i"));
                g.counter.clone_from(&i);
                let body = g.statements(&net, "<=", 2, "    ");
                let _ = write!(
                    g.text,
                    "  {decl}; integer {i};\n  initial {} = {init};\n  always @({edge} clk) begin\n{body}  end\n",
                    net.name
                );
                g.nets.push(net);
            }
            _ => {
                let (decl, net) = g.declared("reg", "r", width);
                let i = g.name("i");
                g.counter.clone_from(&i);
                let body = g.statements(&net, "=", 3, "    ");
                let events = g.pick(&["@*", "@(*)", "@ ( * )"]);
                // A body that reads nothing never runs.
                let first = format!("    {} = {};\n", net.name, g.nets[0].name);
                let _ = write!(g.text, "  {decl}; integer {i};\n  always {events} begin\n{first}{body}  end\n");
                g.nets.push(net);
            }
        }
    }
    for _ in 0..2 {
        let width = g.width();
        let name = g.name("y");
        let e = g.expr(3, false);
        let sign = if g.coin() { "signed " } else { "" };
        ports.push(format!("output {sign}[{}:0] {name}", width - 1));
        let _ = writeln!(g.text, "  assign {name} = {e};");
        outputs.push((name, width));
    }
    // All that is inside, so that a difference shows where it begins.
    let inside: Vec<Net> = g.nets.iter().filter(|n| n.memory.is_none() && !n.name.starts_with('a')).cloned().collect();
    let mut seen = Vec::new();
    for net in inside {
        let (name, width) = (format!("y{}", net.name), net.width + 3);
        ports.push(format!("output [{}:0] {name}", width - 1));
        let _ = writeln!(g.text, "  assign {name} = {};", net.name);
        seen.push((name, width));
    }
    ports.rotate_left(inputs.len() + outputs.len());
    seen.extend(outputs);
    let outputs = seen;
    let text = format!("{others}module {name} (\n  {}\n);\n{}endmodule\n", ports.join(",\n  "), g.text);
    Design { name, text, inputs, outputs }
}
