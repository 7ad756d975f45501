//! Blocks that `disable` leaves, registers that a reset only holds, functions that call themselves.

use super::super::Chance;
use super::Gen;
use std::fmt::Write as _;

impl Gen {
    /// Loops and blocks that `disable` leaves, as `break` and `continue` of other languages do.
    pub(super) fn disables(&mut self) {
        let (r, i, b) = (self.name("r"), self.name("i"), self.name("b"));
        let (x, y) = (self.nets[0].name.clone(), self.nets[self.nets.len() / 2].clone());
        let y = if y.memory.is_some() { x.clone() } else { y.name };
        let turns = 2 + self.below(6);
        let leave = |g: &mut Gen| {
            let (to, k) = (g.pick(&["out", "turn", "inner"]), g.below(20));
            let cond = match g.below(3) {
                0 => format!("({x} >> {i}) & 1'b1"),
                1 => format!("({y} ^ {i}) % 3 == {}", k % 3),
                _ => format!("({x} ^ {y}) % 8 > {i}"),
            };
            match g.below(3) {
                0 => format!("if ({cond}) disable {to}{b};"),
                1 => format!("if ({cond}) begin {r} = {r} + {k}; disable {to}{b}; end"),
                _ => format!("case ({i} % 3) 0: if ({cond}) disable {to}{b}; 1: {r} = {r} ^ {k}; endcase"),
            }
        };
        let (first, second, third) = (leave(self), leave(self), leave(self));
        let first = first.replace(&format!("inner{b}"), &format!("turn{b}"));
        let third = third.replace(&format!("inner{b}"), &format!("out{b}"));
        let head = match self.below(3) {
            0 => format!("for ({i} = 0; {i} < {turns}; {i} = {i} + 1)"),
            1 => format!("repeat ({turns})"),
            _ => format!("while ({i} < {turns})"),
        };
        let step = if head.starts_with("for") { String::new() } else { format!("{i} = {i} + 1;") };
        let _ = write!(
            self.text,
            "  reg [11:0] {r}; integer {i};\n  always @* begin : out{b}\n    {r} = {x};\n    {i} = 0;\n    {head} \
             begin : turn{b}\n      {step}\n      {first}\n      {r} = {r} + {i};\n      \
             begin : inner{b}\n        {second}\n        {r} = {r} + 12'd5;\n      end\n      {third}\n      {r} = \
             {r} * 3;\n    end\n    {r} = {r} ^ 12'h800;\n  end\n"
        );
        self.shown(12, &r);
    }

    /// Registers that an asynchronous reset sets, holds, or sets in part.
    pub(super) fn held(&mut self, edge: &str) {
        let (r, s, width) = (self.name("r"), self.name("r"), 2 + self.below(10));
        let (rst, bit) = (self.name("w"), self.nets[0].clone());
        let range = bit.range.map_or(String::new(), |(msb, _)| format!("[{msb}]"));
        let (a, b, first) = (self.expr(2, false), self.expr(2, false), self.below(1 << width));
        let (how, test, other) = match self.coin() {
            true => ("posedge", rst.clone(), format!("{rst} == 1'b1")),
            false => ("negedge", format!("!{rst}"), format!("~{rst}")),
        };
        let test = if self.coin() { test } else { other };
        let reset = match self.below(4) {
            0 => format!("{r} <= {first};"),
            1 => format!("begin {r} <= {first}; {s}[0] <= 1'b1; end"),
            2 => format!("begin {s}[{}:1] <= {first}; {r} <= {r}; end", width - 1),
            _ => "begin end".to_owned(),
        };
        let _ = write!(
            self.text,
            "  wire {rst} = {}{range};\n  reg [{top}:0] {r}, {s};\n  initial begin {r} = {first}; {s} = 0; end\n  \
             always @({edge} clk or {how} {rst})\n    if ({test}) {reset}\n    else begin\n      {r} <= {a};\n      \
             {s} <= {s} + ({b});\n    end\n",
            bit.name,
            top = width - 1
        );
        self.shown(width as u32, &r);
        self.shown(width as u32, &s);
    }

    /// A constant function that calls itself.
    pub(super) fn recursion(&mut self) {
        let (f, n, k) = (self.name("f"), 2 + self.below(6), 1 + self.below(3));
        let _ = write!(
            self.text,
            "  function automatic [15:0] {f}(input [15:0] n);\n    if (n < 2) {f} = n + {k};\n    else {f} = {f}(n - \
             1) * {k} + {f}(n - 2);\n  endfunction\n  localparam c{f} = {f}({n});\n"
        );
        let x = self.nets[0].name.clone();
        self.shown(16, &format!("c{f} + {x}"));
    }
}
