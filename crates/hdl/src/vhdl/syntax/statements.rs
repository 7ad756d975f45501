//! Parser for concurrent and sequential statements.

use super::ast::{Block, Choice, Concurrent, Decl, Expr, Instance, Statement, Waits};
use super::lexer::Token;
use super::{Parser, Result};

impl Parser<'_> {
    pub(super) fn concurrents(&mut self) -> Result<Vec<Concurrent>> {
        let mut out = Vec::new();
        while !self.is("end") {
            if *self.peek() == Token::End {
                return self.unexpected("end");
            }
            let one = self.nested(Self::concurrent)?;
            out.push(one);
        }
        Ok(out)
    }

    pub(super) fn concurrent(&mut self) -> Result<Concurrent> {
        let at = self.offset();
        let mut label = String::new();
        if matches!(self.after(1), Token::Punct(":")) {
            label = self.name()?;
            self.expect(":")?;
        }
        if self.is("process") {
            return self.process(at);
        }
        if self.accept("with") {
            let (selector, matching, target) = self.selection()?;
            self.expect("<=")?;
            let items = self.selected()?;
            return Ok(Concurrent::Select { selector, target, items, matching, at });
        }
        if self.accept("for") {
            let var = self.name()?;
            self.expect("in")?;
            let range = self.range_or_expr()?;
            self.expect("generate")?;
            let (decls, body) = self.generated()?;
            return Ok(Concurrent::For { label, var, range, decls, body });
        }
        if self.accept("if") {
            let mut branches = Vec::new();
            loop {
                let own = self.own_label()?;
                let cond = Some(self.expr()?);
                self.expect("generate")?;
                branches.push((cond, self.alternative(own)?));
                if !self.accept("elsif") {
                    break;
                }
            }
            if self.accept("else") {
                let own = self.own_label()?;
                self.expect("generate")?;
                branches.push((None, self.alternative(own)?));
            }
            self.expect("end")?;
            self.skip_to_semicolon();
            return Ok(Concurrent::If { label, branches });
        }
        if self.accept("case") {
            let selector = self.expr()?;
            self.expect("generate")?;
            let mut items = Vec::new();
            while self.accept("when") {
                let own = self.own_label()?;
                let (choices, others) = self.choices()?;
                self.expect("=>")?;
                items.push((choices, others, self.alternative(own)?));
            }
            self.expect("end")?;
            self.skip_to_semicolon();
            return Ok(Concurrent::Case { label, selector, items });
        }
        if matches!(self.peek(), Token::Name(n) if n == "block") {
            self.at += 1;
            self.accept("is");
            let (decls, body) = self.generated()?;
            return Ok(Concurrent::If { label, branches: vec![(None, Block { label: String::new(), decls, body })] });
        }
        if self.is("assert") {
            // Assertions do not affect the hardware.
            self.skip_to_semicolon();
            return Ok(Concurrent::If { label, branches: Vec::new() });
        }
        let direct = self.accept("entity");
        let component = self.accept("component");
        let instance = direct
            || component
            || (!label.is_empty() && matches!(self.after(1), Token::Name(n) if n == "port" || n == "generic"));
        if instance {
            let mut entity = self.name()?;
            while self.accept(".") {
                entity = self.name()?;
            }
            let mut architecture = None;
            if self.accept("(") {
                architecture = Some(self.name()?);
                self.expect(")")?;
            }
            let (mut generics, mut ports) = (Vec::new(), Vec::new());
            for (word, list) in [("generic", &mut generics), ("port", &mut ports)] {
                if self.accept(word) {
                    self.expect("map")?;
                    self.expect("(")?;
                    *list = self.args()?;
                }
            }
            self.expect(";")?;
            return Ok(Concurrent::Instance(Instance { label, entity, architecture, direct, generics, ports, at }));
        }
        let target = self.target()?;
        self.expect("<=")?;
        let values = self.waveform()?;
        Ok(Concurrent::Assign { target, values, at })
    }

    pub(super) fn generated(&mut self) -> Result<(Vec<Decl>, Vec<Concurrent>)> {
        let decls = self.decls()?;
        self.accept("begin");
        let body = self.concurrents()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok((decls, body))
    }

    /// Parses the optional label of a statement or of an alternative of a generate statement; empty if it is missing.
    pub(super) fn own_label(&mut self) -> Result<String> {
        if !matches!((self.peek(), self.after(1)), (Token::Name(_), Token::Punct(":"))) {
            return Ok(String::new());
        }
        let label = self.name()?;
        self.expect(":")?;
        Ok(label)
    }

    /// Parses the body of an alternative, up to the next alternative or the end of the statement.
    pub(super) fn alternative(&mut self, label: String) -> Result<Block> {
        let decls = self.decls()?;
        self.accept("begin");
        let mut body = Vec::new();
        loop {
            if ["elsif", "else", "when"].iter().any(|w| self.is(w)) {
                break;
            }
            if self.is("end") {
                // `end;` or `end label;` closes only the alternative, `end generate` all alternatives.
                match (self.after(1), self.after(2)) {
                    (Token::Punct(";"), _) => self.at += 2,
                    (Token::Name(n), Token::Punct(";")) if *n != "generate" => self.at += 3,
                    _ => {}
                }
                break;
            }
            if *self.peek() == Token::End {
                return self.unexpected("end");
            }
            body.push(self.nested(Self::concurrent)?);
        }
        Ok(Block { label, decls, body })
    }

    /// Parses `x select y` or `x select? y` after `with`.
    pub(super) fn selection(&mut self) -> Result<(Expr, bool, Expr)> {
        let selector = self.expr()?;
        self.expect("select")?;
        let matching = self.accept("?");
        Ok((selector, matching, self.target()?))
    }

    /// Parses `a when x, b when others;`.
    pub(super) fn selected(&mut self) -> Result<Vec<Choice<Expr>>> {
        let mut items = Vec::new();
        loop {
            let value = self.expr()?;
            self.expect("when")?;
            let (choices, others) = self.choices()?;
            items.push((choices, others, value));
            if !self.accept(",") {
                self.expect(";")?;
                return Ok(items);
            }
        }
    }

    pub(super) fn target(&mut self) -> Result<Expr> {
        if self.is("(") { self.primary() } else { self.named() }
    }

    pub(super) fn waveform(&mut self) -> Result<Vec<(Expr, Option<Expr>)>> {
        let mut all = Vec::new();
        loop {
            let value = self.expr()?;
            if matches!(self.peek(), Token::Name(n) if n == "after") {
                return self.fail("delays are not supported");
            }
            let cond = if self.accept("when") { Some(self.expr()?) } else { None };
            let last = cond.is_none();
            all.push((value, cond));
            if last || !self.accept("else") {
                self.expect(";")?;
                return Ok(all);
            }
        }
    }

    pub(super) fn choices(&mut self) -> Result<(Vec<Expr>, bool)> {
        if self.accept("others") {
            return Ok((Vec::new(), true));
        }
        let mut all = vec![self.range_or_expr()?];
        while self.accept("|") {
            all.push(self.range_or_expr()?);
        }
        Ok((all, false))
    }

    pub(super) fn process(&mut self, at: u32) -> Result<Concurrent> {
        self.expect("process")?;
        let mut waits = Waits::Inside;
        if self.accept("(") {
            if self.accept("all") {
                self.expect(")")?;
                waits = Waits::All;
            } else {
                waits = Waits::List(self.args()?.into_iter().map(|a| a.value).collect());
            }
        }
        self.accept("is");
        let decls = self.decls()?;
        self.expect("begin")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Concurrent::Process { waits, decls, body, at })
    }

    // ---- Sequential statements

    pub(super) fn statements(&mut self) -> Result<Vec<Statement>> {
        let mut out = Vec::new();
        while !["end", "else", "elsif", "when"].iter().any(|w| self.is(w)) {
            if *self.peek() == Token::End {
                return self.unexpected("end");
            }
            let one = self.nested(Self::statement)?;
            out.push(one);
        }
        Ok(out)
    }

    pub(super) fn statement(&mut self) -> Result<Statement> {
        let label = self.own_label()?;
        if self.is("assert") || self.is("report") {
            self.skip_to_semicolon();
            return Ok(Statement::Null);
        }
        if self.accept("null") {
            self.expect(";")?;
            return Ok(Statement::Null);
        }
        if self.accept("if") {
            let mut branches = Vec::new();
            loop {
                let cond = self.expr()?;
                self.expect("then")?;
                branches.push((cond, self.statements()?));
                if !self.accept("elsif") {
                    break;
                }
            }
            let otherwise = if self.accept("else") { self.statements()? } else { Vec::new() };
            self.expect("end")?;
            self.expect("if")?;
            self.skip_to_semicolon();
            return Ok(Statement::If(branches, otherwise));
        }
        if self.accept("case") {
            let matching = self.accept("?");
            let selector = self.expr()?;
            self.expect("is")?;
            let mut items = Vec::new();
            while self.accept("when") {
                let (choices, others) = self.choices()?;
                self.expect("=>")?;
                items.push((choices, others, self.statements()?));
            }
            self.expect("end")?;
            self.expect("case")?;
            self.skip_to_semicolon();
            return Ok(Statement::Case { selector, items, matching });
        }
        if self.accept("for") {
            let var = self.name()?;
            self.expect("in")?;
            let range = self.range_or_expr()?;
            let body = self.loop_body()?;
            return Ok(Statement::For { label, var, range, body });
        }
        if self.is("while") || self.is("loop") {
            let at = self.offset();
            let cond = if self.accept("while") { Some(self.expr()?) } else { None };
            let body = self.loop_body()?;
            return Ok(Statement::While { label, cond, body, at });
        }
        if self.is("exit") || self.is("next") {
            let at = self.offset();
            let exit = self.is("exit");
            self.at += 1;
            let label = if self.is("when") || self.is(";") { None } else { Some(self.name()?) };
            let cond = if self.accept("when") { Some(self.expr()?) } else { None };
            self.expect(";")?;
            return Ok(Statement::Leave { exit, label, cond, at });
        }
        if self.accept("with") {
            let at = self.offset();
            let (selector, matching, target) = self.selection()?;
            let signal = self.accept("<=");
            if !signal {
                self.expect(":=")?;
            }
            // Equivalent to a case statement of assignments.
            let items = self.selected()?.into_iter();
            let items = items
                .map(|(choices, others, value)| {
                    let (target, values) = (target.clone(), vec![(value, None)]);
                    (choices, others, vec![Statement::Assign { target, values, signal, at }])
                })
                .collect();
            return Ok(Statement::Case { selector, items, matching });
        }
        if self.accept("wait") {
            if !self.accept("until") {
                return self.fail("the only supported wait is for a clock edge");
            }
            let cond = self.expr()?;
            self.expect(";")?;
            return Ok(Statement::Wait(cond));
        }
        if self.is("return") {
            let at = self.offset();
            self.at += 1;
            let value = if self.is(";") { None } else { Some(self.expr()?) };
            self.expect(";")?;
            return Ok(Statement::Return(value, at));
        }
        let at = self.offset();
        let target = self.target()?;
        if self.accept(";") {
            return Ok(Statement::Call(target));
        }
        let signal = if self.accept("<=") {
            true
        } else {
            self.expect(":=")?;
            false
        };
        let values = self.waveform()?;
        Ok(Statement::Assign { target, values, signal, at })
    }

    pub(super) fn loop_body(&mut self) -> Result<Vec<Statement>> {
        self.expect("loop")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.expect("loop")?;
        self.skip_to_semicolon();
        Ok(body)
    }
}
