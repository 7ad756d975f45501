//! VHDL as alir2hdl writes it: nets are `unsigned`, ports `std_logic` and `std_logic_vector`.
//!
//! An element of a vector is read as a vector of one bit, and a name as it is spelt; in two spellings it is refused.

use crate::Made;
use crate::graph::Graph;
use crate::text::{Operator, Process, Reader, Result, Text, Token, Value, WIDEST};
use crate::words::{any, negate, resize};
use std::collections::HashMap;

/// Names that have a meaning here: nothing may be declared with one of them.
const TAKEN: [&str; 14] = [
    "ieee",
    "std_logic",
    "std_logic_vector",
    "unsigned",
    "signed",
    "resize",
    "to_integer",
    "to_01",
    "rising_edge",
    "rtl",
    "string",
    "boolean",
    "work",
    "std",
];

const HEAD: &str = "library ieee ; use ieee . std_logic_1164 . all ; use ieee . numeric_std . all ; entity";

impl<'a> Text<'a> {
    /// Reads the ports.
    pub(crate) fn read_entity(&mut self) -> Result<()> {
        self.names.extend(TAKEN);
        let mut ports = Vec::new();
        let mut r = self.reader(0);
        r.expect(HEAD)?;
        let entity = r.word()?;
        r.expect("is")?;
        if r.eat("port") {
            r.expect("(")?;
            loop {
                let name = r.word()?;
                r.expect(":")?;
                let is_input = r.eat("in");
                if !is_input {
                    r.expect("out")?;
                }
                let is_vector = !r.eat("std_logic");
                let width = if is_vector { r.vector("std_logic_vector")? } else { 1 };
                ports.push((is_input, is_vector, name, width));
                if !r.eat(";") {
                    break;
                }
            }
            r.expect(") ;")?;
        }
        r.expect("end entity")?;
        r.expect(entity)?;
        r.expect("; architecture rtl of")?;
        r.expect(entity)?;
        r.expect("is")?;
        self.body = r.at;
        self.names.insert(entity);
        ports.into_iter().try_for_each(|(is_input, is_vector, name, width)| self.port(is_input, is_vector, name, width))
    }
}

impl<'a> Reader<'_, 'a> {
    /// `unsigned(7 downto 0)`.
    fn vector(&mut self, kind: &str) -> Result<usize> {
        self.expect(kind)?;
        self.width()
    }

    /// Declarations and statements, up to the end.
    pub(crate) fn architecture(&mut self, g: &mut Graph, made: Made<'_>) -> Result<()> {
        let mut arrays = HashMap::new();
        while !self.eat("begin") {
            match self.word()? {
                "attribute" => {
                    while !self.eat(";") && self.at < self.text.tokens.len() {
                        self.at += 1;
                    }
                }
                "signal" => {
                    let name = self.word()?;
                    self.expect(":")?;
                    let width = self.vector("unsigned")?;
                    // What it holds at power-on; no statement is about that.
                    if self.eat(":=") {
                        self.bits()?;
                    }
                    self.expect(";")?;
                    self.declare(name, width)?;
                }
                "type" => {
                    let name = self.word()?;
                    self.new_name(name)?;
                    self.expect("is array (")?;
                    if self.number()? != 0 {
                        return self.wrong("an array that does not begin at 0");
                    }
                    self.expect("to")?;
                    let count = self.number()?.saturating_add(1);
                    self.expect(") of")?;
                    arrays.insert(name, (count, self.vector("std_logic_vector")?));
                    self.expect(";")?;
                }
                "constant" => {
                    let name = self.word()?;
                    self.expect(":")?;
                    let Some(&(count, width)) = arrays.get(self.word()?) else {
                        return self.wrong("a constant of a type that is not read here");
                    };
                    self.expect(":= (")?;
                    let mut words = HashMap::from([(0, self.entry(width)?)]);
                    while self.eat(",") {
                        words.insert(words.len() as u64, self.entry(width)?);
                    }
                    self.expect(") ;")?;
                    if !count.is_power_of_two() || words.len() != count {
                        return self.wrong("a table whose addresses are not all there");
                    }
                    self.table(name, (count.trailing_zeros() as usize, width), &words, None)?;
                }
                _ => {
                    self.at -= 1;
                    return self.wrong("a declaration that is not read here");
                }
            }
        }
        while !self.eat("end") {
            if self.eat("process") {
                self.process(g)?;
                continue;
            }
            let target = self.target()?;
            self.expect("<=")?;
            let value = self.conditional(g)?;
            self.expect(";")?;
            self.drive(g, target, value, made)?;
        }
        self.expect("architecture rtl ;")
    }

    /// `a`, or `a when condition else b`.
    fn conditional(&mut self, g: &mut Graph) -> Result<Value> {
        let yes = self.expression(g, 0)?;
        if !self.eat("when") {
            return Ok(yes);
        }
        let left = self.expression(g, 0)?;
        let condition = if self.eat("<") {
            let right = self.expression(g, 0)?;
            self.combined(g, Operator::Less, &left, &right)?
        } else {
            let is_equal = self.eat("=");
            if !is_equal {
                self.expect("/=")?;
            }
            let right = self.expression(g, 0)?;
            let different = self.combined(g, Operator::Xor, &left, &right)?;
            different.with(vec![any(g, &different.bits).flipped(is_equal)])
        };
        self.expect("else")?;
        let no = self.expression(g, 0)?;
        self.choice(g, condition, &yes, &no)
    }

    /// `process (clk, rst_n) begin ... end process;`
    fn process(&mut self, g: &mut Graph) -> Result<()> {
        self.expect("(")?;
        let mut listed = vec![self.word()?];
        while self.eat(",") {
            listed.push(self.word()?);
        }
        self.expect(") begin if")?;
        let mut reset = None;
        if !self.is("rising_edge") {
            let (name, level) = self.condition()?;
            reset = Some((name, (level, true), self.statements(g)?));
            self.expect("elsif")?;
        }
        let sensitive = reset.as_ref().map(|reset| reset.0);
        self.expect("rising_edge (")?;
        let mut process = Process { clock: self.word()?, reset, enable: None, next: Vec::new() };
        self.expect(") then")?;
        self.clocked(g, &mut process, false)?;
        self.expect("end if ; end process ;")?;
        if listed[0] != process.clock || listed.get(1).copied() != sensitive || listed.len() > 2 {
            return self.wrong("a process that does not wait for its clock and reset alone");
        }
        self.registers(process)
    }

    /// `(to_integer(to_01(a)))` behind the name of a table.
    pub(crate) fn vhdl_address(&mut self, g: &mut Graph) -> Result<Value> {
        self.expect("( to_integer (")?;
        let address = if self.eat("to_01") { self.inner(g) } else { self.expression(g, 0) }?;
        self.expect(") )")?;
        Ok(address)
    }

    /// An operand, with what converts it.
    pub(crate) fn vhdl_operand(&mut self, g: &mut Graph, least: u32) -> Result<Value> {
        match self.peek() {
            // Zero has the width of what is taken from it.
            Some(Token::Number(0)) if least == 0 => {
                self.at += 1;
                self.expect("-")?;
                let value = self.expression(g, 8)?;
                Ok(value.with(negate(g, &value.bits)))
            }
            Some(Token::Word("not")) => {
                self.at += 1;
                let value = self.expression(g, 9)?;
                Ok(value.with(value.bits.iter().map(|&bit| !bit).collect()))
            }
            Some(Token::Word("resize")) => {
                self.at += 1;
                self.expect("(")?;
                let value = self.expression(g, 0)?;
                self.expect(",")?;
                let width = self.number()?;
                self.expect(")")?;
                if value.signed || width == 0 || width > WIDEST {
                    return self.wrong("a change of width that is not read here");
                }
                Ok(value.with(resize(&value.bits, false, width)))
            }
            Some(&Token::Word(kind @ ("unsigned" | "signed" | "std_logic_vector"))) => {
                self.at += 1;
                let value = if self.eat("'") { self.qualified(g) } else { self.inner(g) }?;
                Ok(Value { signed: kind == "signed", ..value })
            }
            _ => self.named(g),
        }
    }

    /// `(2 downto 0 => a(0))`, `(0 => a)`, `("01" & "1")` behind a type.
    fn qualified(&mut self, g: &mut Graph) -> Result<Value> {
        let Some(&Token::Number(high)) = self.text.tokens.get(self.at + 1).map(|t| &t.0) else { return self.inner(g) };
        self.at += 2;
        if high > 0 || !self.is("=>") {
            self.expect("downto")?;
            if self.number()? != 0 {
                return self.wrong("an aggregate that is not read here");
            }
        }
        self.expect("=>")?;
        let value = self.expression(g, 0)?;
        self.expect(")")?;
        if value.bits.len() != 1 || high >= WIDEST {
            return self.wrong("an aggregate that is not read here");
        }
        Ok(value.with(value.bits.repeat(high + 1)))
    }
}
