//! Parser for the Verilog subset that alir2hdl generates.

use crate::ValueCallback;
use crate::graph::Graph;
use crate::lexer::Token;
use crate::text::{Module, Process, Reader, Result, Value, WIDEST, common, number_of};
use crate::words::resize;
use std::collections::HashMap;

impl<'a> Reader<'_, 'a> {
    /// Parses the ports of a module.
    pub(crate) fn head(&mut self) -> Result<Module<'a>> {
        let name = self.within("module", Self::word, "")?;
        let port = |r: &mut Self| {
            let is_input = r.either("input", "output")?;
            let _ = r.eat("wire") || (!is_input && r.eat("reg"));
            r.eat("logic");
            let (signed, is_vector, width) = (r.eat("signed"), r.is("["), r.verilog_width()?);
            Ok((is_input, is_vector, r.word()?, width, signed))
        };
        let ports = self.within("(", |r| if r.is(")") { Ok(Vec::new()) } else { r.list(",", port) }, ") ;")?;
        Ok(Module { name, ports, body: self.at, ..Module::default() })
    }

    /// Parses an optional `[n-1:0]`; without a range the width is 1.
    fn verilog_width(&mut self) -> Result<usize> {
        if self.is("[") { self.width() } else { Ok(1) }
    }

    fn function(&mut self) -> Result<()> {
        self.eat("automatic");
        self.eat("logic");
        let width = self.verilog_width()?;
        let name = self.word()?;
        let address = self.within("; input", Self::verilog_width, "")?;
        let operand = self.within("", Self::word, "; case (")?;
        self.expect(&format!("{operand} )"))?;
        let word = |r: &mut Self| r.within(&format!("{name} ="), |r| r.entry(width), ";");
        let mut words = HashMap::new();
        while !self.eat("default") {
            let place = self.bits()?;
            self.sure(place.len() == address, "an address of another width")?;
            // The first of several equal labels has priority, as in a simulator.
            words.entry(number_of(&place) as usize).or_insert(self.within(":", word, "")?);
        }
        let other = self.within(":", word, "endcase endfunction")?;
        // An address that is too wide for a machine word results in a count of 0, which is invalid.
        let count = 1usize.checked_shl(address as u32).unwrap_or(0);
        self.table(name, (count, width), &words, Some(other))
    }

    /// Parses `[0:last]; initial begin name[0] = word; ... end` after the name of a memory, with one or several blocks.
    fn memory(&mut self, name: &'a str, width: usize) -> Result<()> {
        let last = self.within("[ 0 :", Self::number, "] ;")?;
        let mut words = HashMap::new();
        while self.eat("initial") {
            self.expect("begin")?;
            while !self.eat("end") {
                let place = self.within(&format!("{name} ["), Self::number, "] =")?;
                let is_new = words.insert(place, self.within("", |r| r.entry(width), ";")?).is_none();
                self.sure(is_new, "two words at one address")?;
            }
        }
        self.table(name, (last.saturating_add(1), width), &words, None)
    }

    /// Parses the items of a module, up to its end.
    pub(crate) fn module(&mut self, g: &mut Graph, on_value: ValueCallback<'_>) -> Result<()> {
        // Functions of tables follow the code that calls them, so they are parsed first.
        let body = self.at;
        while self.skip("function") {
            self.function()?;
        }
        self.at = body;
        loop {
            match self.word()? {
                "endmodule" => return Ok(()),
                kind @ ("wire" | "reg" | "logic") => {
                    if kind == "wire" {
                        self.eat("logic");
                    }
                    let (signed, width) = (self.eat("signed"), self.verilog_width()?);
                    let name = self.word()?;
                    if kind != "wire" && self.is("[") {
                        self.memory(name, width)?;
                        continue;
                    }
                    let net = self.declare(name, width)?;
                    self.nets[net].signed = signed;
                    if kind == "wire" && self.eat("=") {
                        self.drive(g, (net, None), on_value)?;
                    }
                    self.expect(";")?;
                }
                "localparam" => {
                    let width = if self.eat("int") { 32 } else { self.width()? };
                    let name = self.word()?;
                    let value = self.within("=", Self::number, ";")?;
                    let net = self.declare(name, width)?;
                    let bits = (0..width).map(|bit| bit < 64 && value >> bit & 1 == 1);
                    self.set((net, None), &Value::constant(bits, false))?;
                }
                "always" | "always_ff" => self.always(g)?,
                // Power-on values of registers.
                "initial" => {
                    self.expect("begin")?;
                    while !self.eat("end") {
                        let net = self.known()?;
                        let first = self.within("=", Self::bits, ";")?;
                        let is_one = self.nets[net].first.replace(first).is_none();
                        self.sure(is_one, "two power-on values")?;
                    }
                }
                "assign" => {
                    let target = self.within("", Self::target, "=")?;
                    self.drive(g, target, on_value)?;
                    self.expect(";")?;
                }
                "function" => _ = self.skip("endfunction"),
                other => {
                    self.word()?;
                    self.instance(g, other, on_value)?;
                }
            }
        }
    }

    /// Parses `always @(posedge clk or negedge rst_n) begin ... end`.
    fn always(&mut self, g: &mut Graph) -> Result<()> {
        let clock = self.within("@ ( posedge", Self::known, "")?;
        let mut process = Process { clock, ..Process::default() };
        let edge = match self.eat("or") {
            true => Some((self.either("posedge", "negedge")?, self.known()?)),
            false => None,
        };
        self.within(") begin", |r| r.clocked(g, &mut process, edge.is_some()), "end")?;
        let reset = process.reset.as_ref().map(|(name, (is_high, _), _)| (*is_high, *name));
        self.sure(edge.is_none() || edge == reset, "an edge of a signal other than the reset")?;
        self.registers(process)
    }

    /// Parses `12'(a)`: resizes `a`, and keeps its signedness.
    pub(crate) fn cast(&mut self, g: &mut Graph) -> Result<Value> {
        let width = self.within("", Self::number, "' (")?;
        self.sure((1..=WIDEST).contains(&width), "a cast to an unsupported width")?;
        let value = self.within("", |r| r.expression(g, 0), ")")?;
        Ok(value.with(resize(&value.bits, value.signed, width)))
    }

    /// Parses `{a, b}`, `{3{a}}`, `$signed(a)`, or a name.
    pub(crate) fn joined(&mut self, g: &mut Graph) -> Result<Value> {
        for (function, signed) in [("$signed", true), ("$unsigned", false)] {
            if self.eat(function) {
                return Ok(Value { signed, ..self.inner(g)? });
            }
        }
        if !self.eat("{") {
            return self.named(g);
        }
        if let Some(&Token::Number(count)) = self.peek() {
            self.at += 1;
            self.sure(self.is("{"), "expected the operand of a repetition")?;
            let value = self.within("", |r| r.expression(g, 9), "}")?;
            return self.repeated(&value, count);
        }
        let parts = self.within("", |r| r.list(",", |r| r.expression(g, 0)), "}")?;
        let age = parts.iter().fold(None, |age, part| common(age, part.age));
        Ok(Value {
            bits: parts.into_iter().rev().flat_map(|part| part.bits).collect(),
            age,
            signed: false,
            is_string: false,
        })
    }
}
