//! Forms that stand at the level of a module: memories, arrays of nets, tasks, instances, generate blocks, macros.

use super::super::Chance;
use super::{Gen, Net};
use std::fmt::Write as _;

impl Gen {
    /// A wire that shows an expression.
    pub(super) fn shown(&mut self, width: u32, value: &str) {
        let (decl, net) = self.declared("wire", "w", width);
        let _ = writeln!(self.text, "  {decl} = {value};");
        self.nets.push(net);
    }

    /// A memory that a process writes, at addresses that are not constant.
    pub(super) fn memory(&mut self, edge: &str) {
        let (name, k, width) = (self.name("m"), self.name("k"), 1 + self.below(20) as u32);
        let (range, low) = (self.range(width), [0, 0, 2, -1][self.below(4) as usize]);
        let high = low + self.below(9) as i64;
        let sign = if self.coin() { "signed " } else { "" };
        let bounds = if self.coin() { (low, high) } else { (high, low) };
        let second = if self.below(4) == 0 { Some(self.below(3) as i64) } else { None };
        let more = second.map_or(String::new(), |top| format!(" [0:{top}]"));
        let _ = writeln!(
            self.text,
            "  reg {sign}{} {name} [{}:{}]{more}; integer {k}, j{k};",
            Gen::range_text(range),
            bounds.0,
            bounds.1
        );
        let (a, b) = (self.below(1000), self.below(1000));
        let _ = write!(self.text, "  initial for ({k} = {low}; {k} <= {high}; {k} = {k} + 1)\n    ");
        let _ = match second {
            None => writeln!(self.text, "{name}[{k}] = {k} * {a} + {b};"),
            Some(top) => writeln!(
                self.text,
                "for (j{k} = 0; j{k} <= {top}; j{k} = j{k} + 1) {name}[{k}][j{k}] = {k} * {a} + j{k} + {b};"
            ),
        };
        // Icarus 11 adds up addresses in several dimensions before it looks whether they are inside.
        let word = |g: &mut Gen| match second {
            None => format!("{name}[{}]", g.index(low, high)),
            Some(top) => {
                let x = g.nets[0].name.clone();
                let last = match g.coin() {
                    true => g.below(top as u64 + 1).to_string(),
                    false => format!("{{1'b0, {x}}} % {}", top + 1),
                };
                format!("{name}[$signed({{1'b0, {x}}} % {}) + ({low})][{last}]", high - low + 1)
            }
        };
        let (target, value) = (word(self), self.expr(2, false));
        let mut body = format!("{target} <= {value};");
        if self.clean && self.coin() {
            body = format!("if ({}) {body}", self.expr(1, false));
        }
        if let Some(range) = range.filter(|_| self.coin()) {
            // A part of another word.
            let base = word(self);
            let (part, value) = (self.select(&base, width, range), self.expr(1, false));
            let _ = write!(body, "\n    {part} <= {value};");
        }
        let _ = writeln!(self.text, "  always @({edge} clk) begin\n    {body}\n  end");
        let read = word(self);
        self.shown(width + 2, &read);
        if second.is_none() {
            self.nets.push(Net { name, width, range, memory: Some((low, high)), signed: !sign.is_empty() });
        }
    }

    /// An array that a process without clock fills and reads.
    pub(super) fn scratch(&mut self) {
        let (t, i, width, top) = (self.name("t"), self.name("i"), 1 + self.below(12) as u32, 1 + self.below(6));
        let (decl, net) = self.declared("reg", "r", width + 1);
        let (e, f, at, from) =
            (self.expr(2, false), self.expr(1, false), self.index(0, top as i64), self.index(0, top as i64));
        let _ = write!(
            self.text,
            "  reg [{}:0] {t} [0:{top}]; {decl}; integer {i};\n  always @* begin\n    for ({i} = 0; {i} <= {top}; {i} \
             = {i} + 1) {t}[{i}] = ({e}) ^ {i};\n    \
             {t}[{at}] = {f};\n    {} = {t}[{from}];\n  end\n",
            width - 1,
            net.name
        );
        self.nets.push(net);
    }

    /// An array of nets, each made of the one before.
    pub(super) fn net_array(&mut self) {
        let (n, g, width, top) = (self.name("n"), self.name("g"), 1 + self.below(12) as u32, 1 + self.below(5));
        let (first, e) = (self.expr(2, false), self.expr(1, false));
        let (op, sign) = (self.pick(&["+", "-", "^", "*"]), self.pick(&["", "signed "]));
        let down = if self.coin() { format!("[0:{top}]") } else { format!("[{top}:0]") };
        let _ = write!(
            self.text,
            "  wire {sign}[{}:0] {n} {down}; genvar {g};\n  assign {n}[0] = {first};\n  \
             generate for ({g} = 1; {g} <= {top}; {g} = {g} + 1) begin : b{n}\n    assign {n}[{g}] = {n}[{g} - 1] \
             {op} ({e});\n  end endgenerate\n",
            width - 1
        );
        let read = format!("{n}[{}]", self.index(0, top as i64));
        self.shown(width, &read);
        self.shown(width + 1, &format!("{n}[{top}]"));
    }

    /// A task with arguments in every direction.
    pub(super) fn task(&mut self, edge: Option<&str>) {
        let (name, out, both) = (self.name("t"), self.width(), self.width());
        let outer = std::mem::take(&mut self.nets);
        let (mut args, width) = (Vec::new(), self.width());
        let (text, net) = self.declared("input", "x", width);
        args.push(text);
        self.nets.push(net);
        let (text, shared) = self.declared("inout", "z", both);
        args.push(text);
        self.nets.push(shared.clone());
        let (text, result) = self.declared("output", "o", out);
        args.push(text);
        self.counter = "i".to_owned();
        let body = self.statements(&result, "=", 2, "    ") + &self.statements(&shared, "=", 1, "    ");
        self.nets = outer;
        let head = if self.coin() {
            format!("{name} ({});", args.join(", "))
        } else {
            format!("{name};\n  {};", args.join(";\n  "))
        };
        let _ = write!(self.text, "  task {head}\n  integer i;\n  begin\n{body}  end\n  endtask\n");
        let ((p, net_p), (q, net_q)) = (self.declared("reg", "r", out + 1), self.declared("reg", "r", both));
        let (e, f) = (self.expr(2, false), self.expr(1, false));
        // A body that reads nothing never runs.
        let call = format!(
            "    {} = {};\n    {} = {f};\n    {name}({e}, {}, {});\n",
            net_q.name, self.nets[0].name, net_q.name, net_q.name, net_p.name
        );
        match edge {
            None => {
                let _ = write!(self.text, "  {p}; {q};\n  always @* begin\n{call}  end\n");
                self.nets.extend([net_p, net_q]);
            }
            Some(edge) => {
                let (decl, net) = self.declared("reg", "r", both + 2);
                let _ = write!(
                    self.text,
                    "  {p}; {q}; {decl};\n  initial {} = 0;\n  always @({edge} clk) begin\n{call}    {} <= {} ^ \
                     {};\n  end\n",
                    net.name, net.name, net_p.name, net_q.name
                );
                self.nets.push(net);
            }
        }
    }

    /// Instances of another module, whose text is given back, one or several side by side.
    pub(super) fn instances(&mut self, design: &str) -> String {
        let (name, u) = (self.name(&format!("{design}_s")), self.name("u"));
        let (a, b, k) = (1 + self.below(9) as u32, 1 + self.below(9) as u32, 1 + self.below(9) as u32);
        let (sx, sk, op) = (self.pick(&["", "signed "]), self.pick(&["", "signed "]), self.pick(&["+", "*", "^", "-"]));
        let module = format!(
            "module {name} #(parameter {sk}[{}:0] K = {}) (input {sx}[{}:0] x, output [{}:0] y);\n  assign y = x {op} \
             K;\nendmodule\n",
            k - 1,
            self.literal(true),
            a - 1,
            b - 1
        );
        let (e, value) = (self.expr(2, false), self.literal(true));
        let count = 1 + self.below(4) as u32;
        let wide = if self.coin() { a * count } else { a };
        let y = self.name("w");
        let (from, to) = if self.coin() { (count + 2, 3) } else { (0, count - 1) };
        let _ = write!(self.text, "  wire [{}:0] x{u} = {e};\n  wire [{}:0] {y};\n", wide - 1, b * count - 1);
        let _ = match (count, self.below(3)) {
            (1, 0) => writeln!(self.text, "  {name} #({value}) {u} (.x(x{u}), .y({y}));"),
            (1, _) => writeln!(self.text, "  {name} #(.K({value})) {u} (x{u}, {y});"),
            (_, 0) => writeln!(self.text, "  {name} {u} [{}:{to}] (x{u}, {y});", if from > to { from } else { 0 }),
            _ => writeln!(
                self.text,
                "  {name} #({value}) {u} [{}:{to}] (.y({y}), .x(x{u}));",
                if from > to { from } else { 0 }
            ),
        };
        let range = Some((i64::from(b * count) - 1, 0));
        self.nets.push(Net { name: y, width: b * count, range, memory: None, signed: false });
        module
    }

    /// Nets of generate blocks by their paths.
    pub(super) fn paths(&mut self) {
        let (b, g, width, turns) = (self.name("b"), self.name("g"), 1 + self.below(12) as u32, 1 + self.below(5));
        let (e, first) = (self.expr(2, false), self.named());
        let _ = write!(
            self.text,
            "  genvar {g};\n  generate for ({g} = 0; {g} < {turns}; {g} = {g} + 1) begin : {b}\n    wire [{top}:0] t \
             = ({e}) >> {g};\n    wire [{top}:0] s;\n    \
             if ({g} == 0) begin : first\n      wire [{top}:0] z = {first};\n      assign s = t + z;\n    end else \
             begin\n      assign s = t + {b}[{g} - 1].s;\n    end\n  end endgenerate\n",
            top = width - 1
        );
        let (last, bit) = (turns - 1, self.below(width.into()));
        self.shown(width, &format!("{b}[{last}].s ^ {b}[0].first.z[{bit}:0]"));
    }

    /// Powers, strings, constant nets, and nets that only their use declares.
    pub(super) fn odds(&mut self, seed: u64) {
        match self.below(5) {
            0 => {
                let short: Vec<Net> =
                    self.nets.iter().filter(|n| n.width <= 36 && n.memory.is_none()).cloned().collect();
                let one = |g: &mut Gen| {
                    short.get(g.below(short.len() as u64) as usize).map_or("2'd3".to_owned(), |n| n.name.clone())
                };
                let (x, y) = (one(self), one(self));
                // Icarus 11 takes -1 to a negative power for 0 where the base was extended; Verilator as the standard.
                let y = format!("$unsigned({y})");
                let width = 1 + self.below(36) as u32;
                self.shown(width, &format!("{x} ** {y}"));
            }
            1 => {
                let (text, e) = (self.pick(&["a", "xyz", "Hello", " "]), self.expr(1, false));
                let width = self.width();
                self.shown(width, &format!("\"{text}\" ^ ({e})"));
            }
            2 => {
                let (s, kind, width) = (self.name("s"), self.pick(&["supply0", "supply1"]), self.width());
                let _ = writeln!(self.text, "  {kind} [{}:0] {s};", width - 1);
                self.nets.push(Net {
                    name: s,
                    width,
                    range: Some((i64::from(width) - 1, 0)),
                    memory: None,
                    signed: false,
                });
            }
            3 => {
                let (q, e, n) = (self.name("q"), self.expr(2, false), self.name("v"));
                let _ = write!(self.text, "  assign {q} = {e};\n  not g{n} ({n}, {q});\n");
                for name in [q, n] {
                    self.nets.push(Net { name, width: 1, range: None, memory: None, signed: false });
                }
            }
            _ => {
                let (m, x, y) = (format!("M{seed}_{}", self.name("")), self.named(), self.named());
                let (kind, defined, width) = (self.pick(&["ifdef", "ifndef"]), self.coin(), self.width());
                let _ = write!(
                    self.text,
                    "{}  `define F{m}(a, b) ((a) + \\\n    (b)) // twice\n  `{kind} {m}\n  `define W{m} `F{m}({x}, \
                     {{{x}, {y}}})\n  `elsif F{m}\n  \
                     `define W{m} `F{m}({y}, {x})\n  `else\n  nonsense\n  `endif\n",
                    if defined { format!("  `define {m}\n") } else { String::new() }
                );
                self.shown(width, &format!("`W{m}"));
            }
        }
    }
}
