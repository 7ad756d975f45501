//! Verilog as alir2hdl writes it.

use crate::Made;
use crate::graph::Graph;
use crate::text::{Process, Reader, Result, Text, Token, Value, WIDEST, common, number_of};
use crate::words::{all, any, negate};
use std::collections::HashMap;

impl<'a> Text<'a> {
    /// Reads the ports, and the tables, which stand behind what reads them.
    pub(crate) fn read_module(&mut self) -> Result<()> {
        let start = self.tokens.iter().position(|t| t.0 == Token::Word("module")).unwrap_or(0);
        let mut ports = Vec::new();
        let mut r = self.reader(start + 1);
        r.word()?;
        r.expect("(")?;
        loop {
            let is_input = r.eat("input");
            if !is_input {
                r.expect("output")?;
            }
            r.eat("wire");
            let (is_vector, width) = (r.is("["), r.verilog_width()?);
            ports.push((is_input, is_vector, r.word()?, width));
            if !r.eat(",") {
                break;
            }
        }
        r.expect(") ;")?;
        self.body = r.at;
        ports
            .into_iter()
            .try_for_each(|(is_input, is_vector, name, width)| self.port(is_input, is_vector, name, width))?;
        let mut r = self.reader(0);
        for start in (0..self.tokens.len()).filter(|&i| self.tokens[i].0 == Token::Word("function")) {
            r.at = start + 1;
            r.function()?;
        }
        let tables = r.tables;
        self.names.extend(tables.keys());
        self.tables = tables;
        Ok(())
    }
}

impl<'a> Reader<'_, 'a> {
    /// Nothing for one bit.
    fn verilog_width(&mut self) -> Result<usize> {
        if self.is("[") { self.width() } else { Ok(1) }
    }

    fn function(&mut self) -> Result<()> {
        self.eat("automatic");
        let width = self.verilog_width()?;
        let name = self.word()?;
        self.expect("; input")?;
        let address = self.verilog_width()?;
        let operand = self.word()?;
        self.expect("; case (")?;
        self.expect(operand)?;
        self.expect(")")?;
        let mut words = HashMap::new();
        while !self.eat("default") {
            let place = self.bits()?;
            if place.len() != address {
                return self.wrong("an address of another width");
            }
            self.expect(":")?;
            let word = self.verilog_entry(name, width)?;
            // The first of several counts.
            words.entry(number_of(&place)).or_insert(word);
        }
        self.expect(":")?;
        let other = self.verilog_entry(name, width)?;
        self.expect("endcase endfunction")?;
        self.table(name, (address, width), &words, Some(other))
    }

    /// `= word;` behind a name.
    fn verilog_entry(&mut self, name: &str, width: usize) -> Result<u64> {
        self.expect(name)?;
        self.expect("=")?;
        let word = self.entry(width)?;
        self.expect(";")?;
        Ok(word)
    }

    /// `[0:last]; initial begin name[0] = word; ... end` behind the name of a memory.
    fn memory(&mut self, name: &'a str, width: usize) -> Result<()> {
        self.expect("[")?;
        if self.number()? != 0 {
            return self.wrong("a memory that does not begin at 0");
        }
        self.expect(":")?;
        let count = self.number()?.saturating_add(1);
        self.expect("] ; initial begin")?;
        let mut words = HashMap::new();
        while !self.eat("end") {
            self.expect(name)?;
            self.expect("[")?;
            let place = self.number()? as u64;
            self.expect("] =")?;
            if words.insert(place, self.entry(width)?).is_some() {
                return self.wrong("two words at one place");
            }
            self.expect(";")?;
        }
        if !count.is_power_of_two() || words.len() != count {
            return self.wrong("a memory whose addresses are not all there");
        }
        self.table(name, (count.trailing_zeros() as usize, width), &words, None)
    }

    /// What stands in the module, up to its end.
    pub(crate) fn module(&mut self, g: &mut Graph, made: Made<'_>) -> Result<()> {
        loop {
            let start = self.at;
            match self.word()? {
                "endmodule" => return Ok(()),
                kind @ ("wire" | "reg") => {
                    let width = self.verilog_width()?;
                    let name = self.word()?;
                    if kind == "reg" && self.is("[") {
                        self.memory(name, width)?;
                        continue;
                    }
                    self.declare(name, width)?;
                    if kind == "wire" && self.eat("=") {
                        let value = self.expression(g, 0)?;
                        self.drive(g, (name, None), value, made)?;
                    }
                    self.expect(";")?;
                }
                "always" => self.always(g)?,
                // What registers hold at power-on; no statement is about that.
                "initial" => {
                    self.expect("begin")?;
                    while !self.eat("end") {
                        self.word()?;
                        self.expect("=")?;
                        self.bits()?;
                        self.expect(";")?;
                    }
                }
                "assign" => {
                    let target = self.target()?;
                    self.expect("=")?;
                    let value = self.expression(g, 0)?;
                    self.expect(";")?;
                    self.drive(g, target, value, made)?;
                }
                "function" => {
                    while !self.eat("endfunction") {
                        self.at += 1;
                    }
                }
                _ => {
                    self.at = start;
                    return self.wrong("an item that is not read here");
                }
            }
        }
    }

    /// `always @(posedge clk or negedge rst_n) begin ... end`.
    fn always(&mut self, g: &mut Graph) -> Result<()> {
        self.expect("@ ( posedge")?;
        let clock = self.word()?;
        let mut edge = None;
        if self.eat("or") {
            let is_high = self.eat("posedge");
            if !is_high {
                self.expect("negedge")?;
            }
            edge = Some((self.word()?, is_high));
        }
        self.expect(") begin")?;
        let mut process = Process { clock, reset: None, enable: None, next: Vec::new() };
        self.clocked(g, &mut process, edge.is_some())?;
        self.expect("end")?;
        let reset = process.reset.as_ref().map(|(name, (is_high, _), _)| (*name, *is_high));
        if edge.is_some() && edge != reset {
            return self.wrong("an edge of something else than the reset");
        }
        self.registers(process)
    }

    pub(crate) fn verilog_address(&mut self, g: &mut Graph) -> Result<Value> {
        if !self.eat("[") {
            return self.inner(g);
        }
        let address = self.expression(g, 0)?;
        self.expect("]")?;
        Ok(address)
    }

    /// An operand, with the operators before it.
    pub(crate) fn verilog_operand(&mut self, g: &mut Graph) -> Result<Value> {
        match self.peek() {
            Some(&Token::Sign(sign @ ("-" | "~" | "|" | "&"))) => {
                self.at += 1;
                let value = self.expression(g, 9)?;
                let bits = match sign {
                    "-" => negate(g, &value.bits),
                    "~" => value.bits.iter().map(|&bit| !bit).collect(),
                    "|" => vec![any(g, &value.bits)],
                    _ => vec![all(g, &value.bits)],
                };
                Ok(Value { signed: value.signed && ["-", "~"].contains(&sign), ..value.with(bits) })
            }
            Some(Token::Sign("{")) => self.concatenation(g),
            Some(Token::Word("$signed")) => {
                self.at += 1;
                Ok(Value { signed: true, ..self.inner(g)? })
            }
            _ => self.named(g),
        }
    }

    /// `{a, b}` or `{3{a}}`.
    fn concatenation(&mut self, g: &mut Graph) -> Result<Value> {
        self.expect("{")?;
        if let Some(&Token::Number(count)) = self.peek() {
            self.at += 1;
            let value = self.concatenation(g)?;
            self.expect("}")?;
            if count == 0 || count.saturating_mul(value.bits.len()) > WIDEST {
                return self.wrong("a repetition that is not read here");
            }
            return Ok(value.with(value.bits.repeat(count)));
        }
        let mut parts = Vec::new();
        let mut age = None;
        loop {
            let part = self.expression(g, 0)?;
            age = common(age, part.age);
            parts.push(part.bits);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Value { bits: parts.into_iter().rev().flatten().collect(), age, signed: false })
    }
}
