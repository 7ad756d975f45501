//! Parser for declarations: parameters, nets and variables, ports, functions and tasks.

use super::super::ast::{Decl, DeclKind, Direction, Function, Module, Param, Port, Range, Statement, Task};
use super::super::lexer::Kind;
use super::{Parser, Result};
use crate::source::error;

impl Parser<'_> {
    pub(super) fn params(&mut self, local: bool, list: bool) -> Result<Vec<Param>> {
        let mut signed = self.accept("signed");
        let range = self.range()?;
        let is_int = range.is_none() && self.is_type("int") && self.accept("int");
        let is_unsigned = is_int && self.accept("unsigned");
        let integer = is_int || (range.is_none() && self.accept("integer"));
        signed |= integer && !is_unsigned;
        let mut all = Vec::new();
        loop {
            let name = self.name()?;
            self.expect("=")?;
            let value = self.expr()?;
            all.push(Param { name, local, signed, integer, range, value });
            // In a header the next `parameter` may follow the comma.
            let more = self.peek() == "," && !(list && self.text_of(self.tokens[self.at + 1]) == "parameter");
            if !more {
                return Ok(all);
            }
            self.at += 1;
        }
    }

    /// Parses declarations after `wire`, `reg`, `integer` or `genvar`, up to the semicolon.
    pub(super) fn decls(&mut self, kind: DeclKind) -> Result<Vec<Decl>> {
        let word = self.text_of(self.tokens[self.at - 1]);
        if word == "wire" {
            self.data_type();
        }
        let signed = self.accept("signed") || kind == DeclKind::Integer;
        let range = self.range()?;
        let mut all = Vec::new();
        loop {
            let at = self.offset();
            let name = self.name()?;
            let mut memory = Vec::new();
            while let Some(range) = self.range()? {
                memory.push(range);
            }
            let value = match word {
                "supply0" | "supply1" => Some(self.constant_bits(word == "supply1", at)?),
                _ if self.accept("=") => Some(self.expr()?),
                _ => None,
            };
            all.push(Decl { kind, signed, range, name, memory, value, at });
            if !self.accept(",") {
                self.expect(";")?;
                return Ok(all);
            }
        }
    }

    pub(super) fn decl_kind(&self) -> Option<DeclKind> {
        if self.peek_kind() != Kind::Name {
            return None;
        }
        Some(match self.peek() {
            "wire" | "tri" | "supply0" | "supply1" => DeclKind::Wire,
            "reg" => DeclKind::Reg,
            "integer" => DeclKind::Integer,
            "genvar" => DeclKind::Genvar,
            "logic" if self.is_type("logic") => DeclKind::Reg,
            _ => return None,
        })
    }

    /// Returns `true` if a keyword of SystemVerilog is used as a type. In Verilog-2001 it may be a name.
    fn is_type(&self, word: &str) -> bool {
        let next = self.tokens.get(self.at + 1);
        self.peek_kind() == Kind::Name
            && self.peek() == word
            && next.is_some_and(|&token| token.kind == Kind::Name || self.text_of(token) == "[")
    }

    /// Skips `logic` if it is used as a type.
    fn data_type(&mut self) {
        if self.is_type("logic") {
            self.at += 1;
        }
    }

    /// Parses the beginning of a port declaration, such as `input signed [7:0]`; `inout` only if `both`.
    pub(super) fn port_head(&mut self, both: bool) -> Result<(Direction, DeclKind, bool, Range)> {
        let direction = match self.peek() {
            "input" => Direction::In,
            "output" => Direction::Out,
            "inout" if both => Direction::Both,
            _ => return self.fail("ports are input or output"),
        };
        self.at += 1;
        let _ = self.accept("wire") || self.accept("reg");
        self.data_type();
        let integer = self.accept("integer");
        let signed = self.accept("signed") || integer;
        let kind = if integer { DeclKind::Integer } else { DeclKind::Reg };
        Ok((direction, kind, signed, self.range()?))
    }

    pub(super) fn ansi_ports(&mut self, module: &mut Module) -> Result<()> {
        let (mut direction, mut kind, mut signed, mut range) = self.port_head(false)?;
        loop {
            let at = self.offset();
            let name = self.name()?;
            let value = if self.accept("=") { Some(self.expr()?) } else { None };
            module.header.push(name);
            module.ports.push(Port { direction, kind, signed, range, name, value, at });
            if !self.accept(",") {
                return Ok(());
            }
            if matches!(self.peek(), "input" | "output" | "inout") {
                (direction, kind, signed, range) = self.port_head(false)?;
            }
        }
    }

    pub(super) fn function(&mut self, at: u32) -> Result<Function> {
        let automatic = self.accept("automatic");
        self.data_type();
        let mut signed = self.accept("signed");
        let integer = self.accept("integer");
        signed |= integer;
        let range = self.range()?;
        let name = self.name()?;
        let (args, locals, params) = self.callable()?;
        let body = self.statement()?;
        self.expect("endfunction")?;
        if args.is_empty() || args.iter().any(|a| a.0 != Direction::In) {
            return Err(error(self.text, at, "a function has at least one input, and no outputs"));
        }
        let inputs = args.into_iter().map(|a| a.1).collect();
        Ok(Function { name, automatic, signed, integer, range, inputs, locals, params, body, at })
    }

    pub(super) fn task(&mut self, at: u32) -> Result<Task> {
        self.accept("automatic");
        let name = self.name()?;
        let (args, locals, params) = self.callable()?;
        let body = if self.peek() == "endtask" { Statement::Null } else { self.statement()? };
        self.expect("endtask")?;
        Ok(Task { name, args, locals, params, body, at })
    }

    /// Parses arguments, declarations and parameters after the name of a function or task.
    #[expect(clippy::type_complexity, reason = "three lists, taken apart at once")]
    fn callable(&mut self) -> Result<(Vec<(Direction, Decl)>, Vec<Decl>, Vec<Param>)> {
        let (mut args, mut locals, mut params) = (Vec::new(), Vec::new(), Vec::new());
        if self.accept("(") && !self.accept(")") {
            let (mut direction, mut kind, mut signed, mut range) = self.port_head(true)?;
            loop {
                let at = self.offset();
                let name = self.name()?;
                args.push((direction, Decl { kind, signed, range, name, memory: Vec::new(), value: None, at }));
                if !self.accept(",") {
                    break;
                }
                if matches!(self.peek(), "input" | "output" | "inout") {
                    (direction, kind, signed, range) = self.port_head(true)?;
                }
            }
            self.expect(")")?;
        }
        self.expect(";")?;
        loop {
            if matches!(self.peek(), "input" | "output" | "inout") {
                let (direction, kind, signed, range) = self.port_head(true)?;
                loop {
                    let at = self.offset();
                    let name = self.name()?;
                    args.push((direction, Decl { kind, signed, range, name, memory: Vec::new(), value: None, at }));
                    if !self.accept(",") {
                        break;
                    }
                }
                self.expect(";")?;
            } else if let Some(kind) = self.decl_kind() {
                self.at += 1;
                locals.extend(self.decls(kind)?);
            } else if matches!(self.peek(), "parameter" | "localparam") {
                self.at += 1;
                params.extend(self.params(true, false)?);
                self.expect(";")?;
            } else {
                break;
            }
        }
        Ok((args, locals, params))
    }
}
