//! Parser for the VHDL subset that alir2hdl generates: nets are `unsigned`, ports `std_logic` and `std_logic_vector`.
//!
//! The parser reads an element of a vector as a vector of one bit. A name has one spelling; a file with two spellings
//! of a name is refused.

use crate::ValueCallback;
use crate::graph::Graph;
use crate::lexer::Token;
use crate::text::{Module, Name, Process, Reader, Result, Value, WIDEST};
use crate::words::{any, resize};

/// Predefined names, which a file must not declare.
const TAKEN: &str = "ieee std_logic std_logic_vector unsigned signed resize shift_left to_integer to_01 rising_edge \
                     rtl string boolean \
                     work std";

const HEAD: &str = "library ieee ; use ieee . std_logic_1164 . all ; use ieee . numeric_std . all ; entity";

impl<'a> Reader<'_, 'a> {
    /// Parses the ports of a module.
    pub(crate) fn entity(&mut self) -> Result<Module<'a>> {
        let entity = self.within(HEAD, Self::word, "is")?;
        let names = TAKEN.split(' ').chain([entity]).map(|name| (name, Name::Taken)).collect();
        let port = |r: &mut Self| {
            let name = r.within("", Self::word, ":")?;
            let is_input = r.either("in", "out")?;
            let (is_vector, signed) = (!r.eat("std_logic"), r.is("signed"));
            let kind = ["signed", "unsigned"].into_iter().find(|kind| r.is(kind)).unwrap_or("std_logic_vector");
            Ok((is_input, is_vector, name, if is_vector { r.vector(kind)? } else { 1 }, signed))
        };
        let ports = if self.eat("port") { self.within("(", |r| r.list(";", port), ") ;")? } else { Vec::new() };
        // Attributes of ports do not affect values.
        while self.eat("attribute") && self.skip(";") {}
        self.expect(&format!("end entity {entity} ; architecture rtl of {entity} is"))?;
        Ok(Module { name: entity, ports, names, body: self.at, ..Module::default() })
    }

    /// Parses the width of a vector type such as `unsigned(7 downto 0)`.
    fn vector(&mut self, kind: &str) -> Result<usize> {
        self.within(kind, Self::width, "")
    }

    /// Parses declarations and statements, up to the end of the architecture.
    pub(crate) fn architecture(&mut self, g: &mut Graph, on_value: ValueCallback<'_>) -> Result<()> {
        while !self.eat("begin") {
            match self.word()? {
                "attribute" => _ = self.skip(";"),
                "signal" => {
                    let name = self.within("", Self::word, ":")?;
                    let signed = self.is("signed");
                    let kind = if signed { "signed" } else { "unsigned" };
                    let width = if self.eat("std_logic") { 1 } else { self.vector(kind)? };
                    let net = self.declare(name, width)?;
                    self.nets[net].signed = signed;
                    // Power-on value.
                    if self.eat(":=") {
                        self.nets[net].first = Some(self.bits()?);
                    }
                    self.expect(";")?;
                }
                "type" => {
                    let name = self.word()?;
                    let last = self.within("is array ( 0 to", Self::number, ") of")?;
                    let width = self.within("", |r| r.vector("std_logic_vector"), ";")?;
                    self.name(name, Name::Array((last.saturating_add(1), width)))?;
                }
                "constant" => {
                    let name = self.within("", Self::word, ":")?;
                    if self.is("unsigned") {
                        let width = self.vector("unsigned")?;
                        let bits = self.within(":=", Self::bits, ";")?;
                        let net = self.declare(name, width)?;
                        self.set((net, None), &Value::constant(bits, true))?;
                        continue;
                    }
                    let kind = self.word()?;
                    let Some(&Name::Array(size)) = self.names().get(kind) else {
                        return self.wrong("a constant of a type that is not read here");
                    };
                    let words = self.within(":= (", |r| r.list(",", |r| r.entry(size.1)), ") ;")?;
                    let words = words.into_iter().enumerate().collect();
                    self.table(name, size, &words, None)?;
                }
                other => return self.wrong(&format!("{other} begins nothing that is read here")),
            }
        }
        while !self.eat("end") {
            if self.eat("process") {
                self.process(g)?;
                continue;
            }
            self.word()?;
            if self.eat(":") {
                let module = self.within("entity work .", Self::word, "port map")?;
                self.instance(g, module, on_value)?;
                continue;
            }
            self.at -= 1;
            let target = self.within("", Self::target, "<=")?;
            self.drive(g, target, on_value)?;
            self.expect(";")?;
        }
        self.expect("architecture rtl ;")
    }

    /// Parses `a`, or `a when condition else b`.
    pub(crate) fn conditional(&mut self, g: &mut Graph) -> Result<Value> {
        let yes = self.expression(g, 0)?;
        if !self.eat("when") {
            return Ok(yes);
        }
        let left = self.expression(g, 0)?;
        let condition = if self.eat("<") {
            let right = self.expression(g, 0)?;
            self.combined(g, '<', &left, &right)?
        } else {
            let is_equal = self.either("=", "/=")?;
            let right = self.expression(g, 0)?;
            let different = self.combined(g, '^', &left, &right)?;
            different.with(vec![any(g, &different.bits).flipped(is_equal)])
        };
        let no = self.within("else", |r| r.expression(g, 0), "")?;
        self.choice(g, condition, &yes, &no)
    }

    /// Parses `process (clk, rst_n) begin ... end process;`.
    fn process(&mut self, g: &mut Graph) -> Result<()> {
        let listed = self.within("(", |r| r.list(",", Self::known), ") begin if")?;
        let mut process = Process::default();
        if !self.is("rising_edge") {
            let (net, level) = self.condition()?;
            process.reset = Some((net, (level, true), self.within("", |r| r.statements(g), "elsif")?));
        }
        process.clock = self.within("rising_edge (", Self::known, ") then")?;
        let sensitive: Vec<usize> = [process.clock].into_iter().chain(process.reset.as_ref().map(|r| r.0)).collect();
        self.sure(listed == sensitive, "a process that does not wait for its clock and reset alone")?;
        self.clocked(g, &mut process, false)?;
        self.expect("end if ; end process ;")?;
        self.registers(process)
    }

    /// Parses a type conversion, a function that needs no gates (`resize`, `shift_left`, `to_01`), or a name.
    pub(crate) fn converted(&mut self, g: &mut Graph) -> Result<Value> {
        if self.eat("resize") {
            let value = self.within("(", |r| r.expression(g, 0), ",")?;
            let width = self.within("", Self::number, ")")?;
            // `resize` of a signed value to fewer bits keeps the sign instead of the top remaining bit, so it is not
            // supported.
            let is_read = (1..=WIDEST).contains(&width) && (!value.signed || width >= value.bits.len());
            self.sure(is_read, "a change of width that is not read here")?;
            return Ok(value.with(resize(&value.bits, value.signed, width)));
        }
        if self.eat("shift_left") {
            let value = self.within("(", |r| r.expression(g, 0), ",")?;
            let count = self.within("", Self::number, ")")?;
            return Ok(value.shifted(count));
        }
        let Some(&Token::Word(kind @ ("unsigned" | "signed" | "std_logic_vector" | "to_01"))) = self.peek() else {
            return self.named(g);
        };
        self.at += 1;
        let value = if self.eat("'") { self.qualified(g) } else { self.inner(g) }?;
        Ok(Value { signed: kind == "signed" || (kind == "to_01" && value.signed), is_string: false, ..value })
    }

    /// Parses an operand after a type: `(2 downto 0 => a(0))`, `(0 => a)`, `("01" & "1")`.
    fn qualified(&mut self, g: &mut Graph) -> Result<Value> {
        self.expect("(")?;
        let Some(&Token::Number(high)) = self.peek() else { return self.within("", |r| r.expression(g, 0), ")") };
        self.at += 1;
        if high > 0 || !self.is("=>") {
            self.expect("downto 0")?;
        }
        let value = self.within("=>", |r| r.expression(g, 0), ")")?;
        self.sure(value.bits.len() == 1, "an aggregate that is not read here")?;
        self.repeated(&value, high.saturating_add(1))
    }
}
