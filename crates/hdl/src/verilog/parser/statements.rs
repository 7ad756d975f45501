//! Parser for statements of processes, functions and tasks.

use super::super::ast::{Events, Expr, ExprId, Statement};
use super::super::lexer::Kind;
use super::{Parser, Result};

impl Parser<'_> {
    pub(super) fn events(&mut self) -> Result<Events> {
        self.expect("@")?;
        if self.accept("*") {
            return Ok(Events::Combinational);
        }
        self.expect("(")?;
        if self.accept("*") {
            self.expect(")")?;
            return Ok(Events::Combinational);
        }
        let (mut edges, mut levels) = (Vec::new(), Vec::new());
        loop {
            let rising = self.accept("posedge");
            if rising || self.accept("negedge") {
                edges.push((self.name()?, rising));
            } else {
                levels.push(self.expr()?);
            }
            if !(self.accept("or") || self.accept(",")) {
                break;
            }
        }
        self.expect(")")?;
        match (edges.is_empty(), levels.is_empty()) {
            (true, _) => Ok(Events::Levels(levels)),
            (false, true) => Ok(Events::Edges(edges)),
            (false, false) => self.fail("edges and levels in one event list"),
        }
    }

    /// Parses the target of an assignment: a name with selects, or a concatenation of such.
    pub(super) fn target(&mut self) -> Result<ExprId> {
        self.nested(|p| {
            let at = p.offset();
            if p.accept("{") {
                let mut all = vec![p.target()?];
                while p.accept(",") {
                    all.push(p.target()?);
                }
                p.expect("}")?;
                return p.push(Expr::Concat(all), at);
            }
            let name = p.name()?;
            p.selects(name, at)
        })
    }

    fn assignment(&mut self) -> Result<Statement> {
        let at = self.offset();
        let target = self.target()?;
        let blocking = self.accept("=");
        if !blocking {
            self.expect("<=")?;
        }
        if self.peek() == "@" || (blocking && self.peek() == "#") {
            return self.fail("delays inside assignments are not supported");
        }
        if self.accept("#") {
            // A delay that is shorter than the clock period does not affect values (IEEE 1364.1, section 7.5).
            match self.peek_kind() {
                Kind::Decimal => self.at += 1,
                _ => return self.fail("a delay that is a number is expected"),
            }
            if self.accept(".") {
                return self.fail("a delay that is a plain number is expected");
            }
        }
        let value = self.expr()?;
        Ok(Statement::Assign { target, value, blocking, at })
    }

    pub(super) fn statement(&mut self) -> Result<Statement> {
        self.nested(Self::statement_here)
    }

    fn statement_here(&mut self) -> Result<Statement> {
        if self.accept(";") {
            return Ok(Statement::Null);
        }
        if self.accept("begin") {
            let (mut decls, mut body) = (Vec::new(), Vec::new());
            let name = if self.accept(":") { Some(self.name()?) } else { None };
            while let Some(kind) = self.decl_kind() {
                self.at += 1;
                decls.extend(self.decls(kind)?);
            }
            while !self.accept("end") {
                body.push(self.statement()?);
            }
            return Ok(Statement::Block(name, decls, body));
        }
        if self.accept("disable") {
            let at = self.offset();
            let name = self.name()?;
            self.expect(";")?;
            return Ok(Statement::Disable(name, at));
        }
        if self.accept("if") {
            self.expect("(")?;
            let cond = self.expr()?;
            self.expect(")")?;
            let yes = Box::new(self.statement()?);
            let no = if self.accept("else") { Some(Box::new(self.statement()?)) } else { None };
            return Ok(Statement::If(cond, yes, no));
        }
        for (word, wild, x_wild) in [("case", false, false), ("casez", true, false), ("casex", true, true)] {
            if self.peek_kind() == Kind::Name && self.accept(word) {
                return self.case(wild, x_wild);
            }
        }
        if self.accept("for") {
            self.expect("(")?;
            let init = Box::new(self.assignment()?);
            self.expect(";")?;
            let cond = self.expr()?;
            self.expect(";")?;
            let step = Box::new(self.assignment()?);
            self.expect(")")?;
            let body = Box::new(self.statement()?);
            return Ok(Statement::For(init, cond, step, body));
        }
        for (word, is_while) in [("while", true), ("repeat", false)] {
            if self.peek_kind() == Kind::Name && self.accept(word) {
                self.expect("(")?;
                let cond = self.expr()?;
                self.expect(")")?;
                let body = Box::new(self.statement()?);
                return Ok(if is_while { Statement::While(cond, body) } else { Statement::Repeat(cond, body) });
            }
        }
        if self.peek_kind() == Kind::System && matches!(self.peek(), "$display" | "$write" | "$strobe" | "$monitor") {
            // System tasks that print do not affect values.
            self.at += 1;
            if self.accept("(") && !self.accept(")") {
                self.list(")")?;
            }
            self.expect(";")?;
            return Ok(Statement::Null);
        }
        if self.peek_kind() == Kind::System && matches!(self.peek(), "$readmemh" | "$readmemb") {
            let (at, hex) = (self.offset(), self.peek() == "$readmemh");
            self.at += 1;
            self.expect("(")?;
            let args = self.list(")")?;
            self.expect(";")?;
            return Ok(Statement::ReadMemory { hex, args, at });
        }
        if self.peek_kind() == Kind::System {
            return self.fail(format!("{} is not supported", self.peek()));
        }
        // Task call with or without arguments.
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        if self.peek_kind() == Kind::Name && next.kind == Kind::Punct && matches!(self.text_of(next), "(" | ";") {
            let at = self.offset();
            let name = self.name()?;
            let args = if self.accept("(") { self.list(")")? } else { Vec::new() };
            self.expect(";")?;
            return Ok(Statement::Call(name, args, at));
        }
        let statement = self.assignment()?;
        self.expect(";")?;
        Ok(statement)
    }

    fn case(&mut self, wild: bool, x_wild: bool) -> Result<Statement> {
        self.expect("(")?;
        let selector = self.expr()?;
        self.expect(")")?;
        let (mut items, mut default) = (Vec::new(), None);
        while !self.accept("endcase") {
            if self.accept("default") {
                self.accept(":");
                if default.is_some() {
                    return self.fail("a second default");
                }
                default = Some(Box::new(self.statement()?));
            } else {
                let labels = self.list(":")?;
                items.push((labels, self.statement()?));
            }
        }
        Ok(Statement::Case { wild, x_wild, selector, items, default })
    }
}
