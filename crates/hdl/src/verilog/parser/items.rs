//! Parser for modules and their items: assignments, processes, generate blocks, gates, and instances.

use super::super::ast::{Events, Expr, Instance, Item, Module, Op, Port, Unary};
use super::super::lexer::Kind;
use super::{Parser, Result};
use crate::source::error;

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Result<Module> {
        let at = self.offset();
        self.expect("module")?;
        let name = self.name()?;
        let mut module = Module { name, header: Vec::new(), ports: Vec::new(), items: Vec::new(), at };
        if self.accept("#") {
            self.expect("(")?;
            while !self.accept(")") {
                self.accept("parameter");
                for param in self.params(false, true)? {
                    module.items.push(Item::Param(param));
                }
                if self.peek() != ")" {
                    self.expect(",")?;
                }
            }
        }
        if self.accept("(") && !self.accept(")") {
            if matches!(self.peek(), "input" | "output" | "inout") {
                self.ansi_ports(&mut module)?;
            } else {
                loop {
                    let port = self.name()?;
                    module.header.push(port);
                    if !self.accept(",") {
                        break;
                    }
                }
            }
            self.expect(")")?;
        }
        self.expect(";")?;
        while !self.accept("endmodule") {
            self.item(&mut module)?;
        }
        Ok(module)
    }

    /// Parses an item of a module; ports that the body declares are added to the module.
    fn item(&mut self, module: &mut Module) -> Result<()> {
        if matches!(self.peek(), "input" | "output" | "inout") && self.peek_kind() == Kind::Name {
            let (direction, kind, signed, range) = self.port_head(false)?;
            loop {
                let at = self.offset();
                let name = self.name()?;
                module.ports.push(Port { direction, kind, signed, range, name, value: None, at });
                if !self.accept(",") {
                    return self.expect(";");
                }
            }
        }
        self.items(&mut module.items)
    }

    /// Parses a statement of a module or generate block, which may add several items.
    fn items(&mut self, out: &mut Vec<Item>) -> Result<()> {
        self.nested(|p| p.items_here(out))
    }

    fn items_here(&mut self, out: &mut Vec<Item>) -> Result<()> {
        let at = self.offset();
        if self.peek_kind() == Kind::Punct && self.accept(";") {
            return Ok(());
        }
        if self.peek_kind() != Kind::Name {
            return self.unexpected("a module item");
        }
        if let Some(kind) = self.decl_kind() {
            self.at += 1;
            out.extend(self.decls(kind)?.into_iter().map(Item::Decl));
            return Ok(());
        }
        match self.peek() {
            word @ ("parameter" | "localparam") => {
                self.at += 1;
                out.extend(self.params(word == "localparam", false)?.into_iter().map(Item::Param));
                self.expect(";")
            }
            "assign" => {
                self.at += 1;
                loop {
                    let at = self.offset();
                    let target = self.target()?;
                    self.expect("=")?;
                    let value = self.expr()?;
                    out.push(Item::Assign(target, value, at));
                    if !self.accept(",") {
                        return self.expect(";");
                    }
                }
            }
            "always_comb" => {
                self.at += 1;
                let body = self.statement()?;
                out.push(Item::Always(Events::Combinational, body, at));
                Ok(())
            }
            "always" | "always_ff" => {
                self.at += 1;
                let events = self.events()?;
                let body = self.statement()?;
                out.push(Item::Always(events, body, at));
                Ok(())
            }
            "initial" => {
                self.at += 1;
                let body = self.statement()?;
                out.push(Item::Initial(body, at));
                Ok(())
            }
            "function" => {
                self.at += 1;
                let function = self.function(at)?;
                out.push(Item::Function(Box::new(function)));
                Ok(())
            }
            "task" => {
                self.at += 1;
                let task = self.task(at)?;
                out.push(Item::Task(Box::new(task)));
                Ok(())
            }
            "wand" | "wor" | "triand" | "trior" => {
                let message = format!("{}: wired nets are not read", self.peek());
                Err(error(self.text, at, message).with_help("drive the net once, or read the file by --via yosys"))
            }
            "defparam" => Err(error(self.text, at, "defparam is not read")
                .with_help("override parameters where the module is instantiated, or read the file by --via yosys")),
            // Delays and timing checks do not affect values.
            "specify" => {
                while self.peek() != "endspecify" || self.peek_kind() != Kind::Name {
                    if self.peek_kind() == Kind::End {
                        return self.unexpected("endspecify");
                    }
                    self.at += 1;
                }
                self.at += 1;
                Ok(())
            }
            "generate" => {
                self.at += 1;
                while !self.accept("endgenerate") {
                    self.items(out)?;
                }
                Ok(())
            }
            "and" | "nand" | "or" | "nor" | "xor" | "xnor" | "buf" | "not" => self.gates(out),
            "begin" | "for" | "if" | "case" => {
                let item = self.generate()?;
                out.push(item);
                Ok(())
            }
            _ => self.instances(out),
        }
    }

    fn generate(&mut self) -> Result<Item> {
        self.nested(|p| {
            if p.accept(";") {
                return Ok(Item::Nothing);
            }
            if p.accept("begin") {
                let name = if p.accept(":") { Some(p.name()?) } else { None };
                let mut items = Vec::new();
                while !p.accept("end") {
                    p.items(&mut items)?;
                }
                return Ok(Item::GenBlock(name, items));
            }
            if p.accept("for") {
                p.expect("(")?;
                let var = p.name()?;
                p.expect("=")?;
                let init = p.expr()?;
                p.expect(";")?;
                let cond = p.expr()?;
                p.expect(";")?;
                let step_var = p.name()?;
                p.expect("=")?;
                let step = p.expr()?;
                p.expect(")")?;
                let body = Box::new(p.generate()?);
                return Ok(Item::GenFor { var, init, cond, step_var, step, body });
            }
            if p.accept("if") {
                p.expect("(")?;
                let cond = p.expr()?;
                p.expect(")")?;
                let yes = Box::new(p.generate()?);
                let no = if p.accept("else") { Some(Box::new(p.generate()?)) } else { None };
                return Ok(Item::GenIf(cond, yes, no));
            }
            if p.accept("case") {
                p.expect("(")?;
                let selector = p.expr()?;
                p.expect(")")?;
                let (mut items, mut default) = (Vec::new(), None);
                while !p.accept("endcase") {
                    if p.accept("default") {
                        p.accept(":");
                        default = Some(Box::new(p.generate()?));
                    } else {
                        let labels = p.list(":")?;
                        items.push((labels, p.generate()?));
                    }
                }
                return Ok(Item::GenCase(selector, items, default));
            }
            let mut items = Vec::new();
            p.items(&mut items)?;
            Ok(Item::GenBlock(None, items))
        })
    }

    /// Parses gates: an output and its inputs, or for `buf` and `not` several outputs and their input.
    fn gates(&mut self, out: &mut Vec<Item>) -> Result<()> {
        let word = self.peek();
        let (op, negate) = match word {
            "and" | "nand" => (Some(Op::And), word == "nand"),
            "or" | "nor" => (Some(Op::Or), word == "nor"),
            "xor" | "xnor" => (Some(Op::Xor), word == "xnor"),
            _ => (None, word == "not"),
        };
        self.at += 1;
        loop {
            let at = self.offset();
            if self.peek_kind() == Kind::Name {
                self.name()?;
            }
            // Strengths, delays and arrays of gates are not supported.
            self.expect("(")?;
            let ends = self.list(")")?;
            let (targets, inputs) = match op {
                Some(_) => ends.split_at(1),
                None => ends.split_at(ends.len() - 1),
            };
            let Some((&first, rest)) = inputs.split_first().filter(|_| !targets.is_empty()) else {
                return Err(error(self.text, at, "a gate has an output and inputs"));
            };
            let mut value = first;
            for &input in rest {
                value = self.push(Expr::Binary(op.unwrap_or(Op::And), value, input), at)?;
            }
            if negate {
                value = self.push(Expr::Unary(Unary::Not, value), at)?;
            }
            out.extend(targets.iter().map(|&target| Item::Gate(target, inputs.to_vec(), value, at)));
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }

    fn instances(&mut self, out: &mut Vec<Item>) -> Result<()> {
        let module = match self.name() {
            Ok(module) => module,
            Err(_) => return self.fail(format!("{} is not supported", self.peek())),
        };
        let mut params = Vec::new();
        if self.accept("#") {
            self.expect("(")?;
            loop {
                if self.accept(".") {
                    let name = self.name()?;
                    self.expect("(")?;
                    params.push((Some(name), self.expr()?));
                    self.expect(")")?;
                } else {
                    params.push((None, self.expr()?));
                }
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        loop {
            let at = self.offset();
            let name = self.name()?;
            let range = self.range()?;
            self.expect("(")?;
            let mut ports = Vec::new();
            while !self.accept(")") {
                if self.accept(".") {
                    let port = self.name()?;
                    self.expect("(")?;
                    let value = if self.peek() == ")" { None } else { Some(self.expr()?) };
                    self.expect(")")?;
                    ports.push((Some(port), value));
                } else if self.peek() == "," {
                    ports.push((None, None));
                } else {
                    ports.push((None, Some(self.expr()?)));
                }
                if self.peek() != ")" {
                    self.expect(",")?;
                }
            }
            out.push(Item::Instance(Instance { module, name, range, params: params.clone(), ports, at }));
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }
}
