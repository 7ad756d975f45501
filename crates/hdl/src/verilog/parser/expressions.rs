//! Parser for expressions: operators by precedence, numbers, and names with paths and selects.

use super::super::ast::{Expr, ExprId, Op, Range, Sym, Unary};
use super::super::lexer::{self, Kind};
use super::{MAX_DEPTH, Parser, Result};
use crate::source::error;

/// Returns precedence and operation of a binary operator.
fn binary(op: &str) -> Option<(u32, Op)> {
    Some(match op {
        "**" => (12, Op::Power),
        "*" => (11, Op::Mul),
        "/" => (11, Op::Div),
        "%" => (11, Op::Mod),
        "+" => (10, Op::Add),
        "-" => (10, Op::Sub),
        "<<" => (9, Op::Shl),
        ">>" => (9, Op::Shr),
        "<<<" => (9, Op::Sshl),
        ">>>" => (9, Op::Sshr),
        "<" => (8, Op::Less),
        "<=" => (8, Op::LessEqual),
        ">" => (8, Op::Greater),
        ">=" => (8, Op::GreaterEqual),
        "==" => (7, Op::Equal),
        "!=" => (7, Op::NotEqual),
        "===" => (7, Op::CaseEqual),
        "!==" => (7, Op::CaseNotEqual),
        "&" => (6, Op::And),
        "^" => (5, Op::Xor),
        "~^" | "^~" => (5, Op::Xnor),
        "|" => (4, Op::Or),
        "&&" => (3, Op::LogicAnd),
        "||" => (2, Op::LogicOr),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn push(&mut self, expr: Expr, at: u32) -> Result<ExprId> {
        let of = |e: &ExprId| self.height[*e as usize];
        let below = match &expr {
            Expr::Number { .. } | Expr::Name(_) => 0,
            Expr::Index(a, b) | Expr::Repeat(a, b) | Expr::Binary(_, a, b) | Expr::Cast(a, b) => of(a).max(of(b)),
            Expr::Range(a, b, c) | Expr::Part(a, b, c, _) | Expr::Cond(a, b, c) => of(a).max(of(b)).max(of(c)),
            Expr::Unary(_, a) => of(a),
            Expr::Concat(all) | Expr::Call(_, all) | Expr::System(_, all) => all.iter().map(of).max().unwrap_or(0),
            Expr::Path(path, _) => path.iter().filter_map(|p| p.1.as_ref()).map(of).max().unwrap_or(0),
        };
        // Long chains such as a + b + c + ... are deep trees, but the parser does not recurse over them.
        if below >= 10 * MAX_DEPTH {
            return Err(error(self.text, at, format!("an expression of more than {} levels", 10 * MAX_DEPTH)));
        }
        self.height.push(below + 1);
        self.file.exprs.push(expr);
        self.file.at.push(at);
        Ok(self.file.exprs.len() as ExprId - 1)
    }

    pub(super) fn expr(&mut self) -> Result<ExprId> {
        self.nested(|p| {
            let at = p.offset();
            let cond = p.binary_expr(2)?;
            if !p.accept("?") {
                return Ok(cond);
            }
            let yes = p.expr()?;
            p.expect(":")?;
            let no = p.expr()?;
            p.push(Expr::Cond(cond, yes, no), at)
        })
    }

    fn binary_expr(&mut self, strength: u32) -> Result<ExprId> {
        let at = self.offset();
        let mut left = self.unary_expr()?;
        while self.peek_kind() == Kind::Punct {
            let Some((own, op)) = binary(self.peek()).filter(|(own, _)| *own >= strength) else { break };
            self.at += 1;
            let right = self.nested(|p| p.binary_expr(own + 1))?;
            left = self.push(Expr::Binary(op, left, right), at)?;
        }
        Ok(left)
    }

    fn unary_expr(&mut self) -> Result<ExprId> {
        let at = self.offset();
        let op = match (self.peek_kind(), self.peek()) {
            (Kind::Punct, "+") => Unary::Plus,
            (Kind::Punct, "-") => Unary::Minus,
            (Kind::Punct, "!") => Unary::LogicNot,
            (Kind::Punct, "~") => Unary::Not,
            (Kind::Punct, "&") => Unary::And,
            (Kind::Punct, "~&") => Unary::Nand,
            (Kind::Punct, "|") => Unary::Or,
            (Kind::Punct, "~|") => Unary::Nor,
            (Kind::Punct, "^") => Unary::Xor,
            (Kind::Punct, "~^" | "^~") => Unary::Xnor,
            _ => return self.primary(),
        };
        self.at += 1;
        let x = self.nested(Self::unary_expr)?;
        self.push(Expr::Unary(op, x), at)
    }

    pub(super) fn list(&mut self, end: &str) -> Result<Vec<ExprId>> {
        let mut all = vec![self.expr()?];
        while self.accept(",") {
            all.push(self.expr()?);
        }
        self.expect(end)?;
        Ok(all)
    }

    fn primary(&mut self) -> Result<ExprId> {
        let at = self.offset();
        match (self.peek_kind(), self.peek()) {
            (Kind::Decimal | Kind::Based, text) => {
                let n = lexer::parse_number(text).map_err(|m| error(self.text, at, m))?;
                self.at += 1;
                let lexer::Number { value, unknown, open, width, signed, sized } = n;
                let number = self.push(Expr::Number { value, unknown, open, width, signed, sized }, at)?;
                if self.peek_kind() != Kind::Punct || !self.accept("'") {
                    return Ok(number);
                }
                self.expect("(")?;
                let inner = self.expr()?;
                self.expect(")")?;
                self.push(Expr::Cast(number, inner), at)
            }
            (Kind::Text, text) => {
                let (value, width) = lexer::parse_text(text).map_err(|m| error(self.text, at, m))?;
                self.at += 1;
                let none = num_bigint::BigUint::ZERO;
                let number =
                    Expr::Number { value, unknown: none.clone(), open: none, width, signed: false, sized: true };
                self.push(number, at)
            }
            (Kind::System, text) => {
                self.at += 1;
                let name = self.intern(text);
                self.expect("(")?;
                let args = self.list(")")?;
                self.push(Expr::System(name, args), at)
            }
            (Kind::Punct, "(") => {
                self.at += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            (Kind::Punct, "{") => self.nested(Self::concatenation),
            (Kind::Name, _) => {
                let name = self.name()?;
                if self.accept("(") {
                    let args = self.list(")")?;
                    return self.push(Expr::Call(name, args), at);
                }
                self.selects(name, at)
            }
            _ => self.unexpected("an expression"),
        }
    }

    fn concatenation(&mut self) -> Result<ExprId> {
        let at = self.offset();
        self.expect("{")?;
        let first = self.expr()?;
        if self.peek() == "{" {
            let inner = self.concatenation()?;
            self.expect("}")?;
            return self.push(Expr::Repeat(first, inner), at);
        }
        let mut all = vec![first];
        while self.accept(",") {
            all.push(self.expr()?);
        }
        self.expect("}")?;
        self.push(Expr::Concat(all), at)
    }

    /// Parses what may follow a name: a path through generate blocks, and selects.
    pub(super) fn selects(&mut self, name: Sym, name_at: u32) -> Result<ExprId> {
        let mut path = Vec::new();
        let mut name = name;
        while let Some(index) = self.step_of_path()? {
            path.push((name, index));
            name = self.name()?;
        }
        let mut base = match path.is_empty() {
            true => self.push(Expr::Name(name), name_at)?,
            false => self.push(Expr::Path(path, name), name_at)?,
        };
        let at = self.offset();
        while self.accept("[") {
            let first = self.expr()?;
            base = if self.accept(":") {
                let second = self.expr()?;
                self.push(Expr::Range(base, first, second), at)?
            } else if self.accept("+:") {
                let width = self.expr()?;
                self.push(Expr::Part(base, first, width, true), at)?
            } else if self.accept("-:") {
                let width = self.expr()?;
                self.push(Expr::Part(base, first, width, false), at)?
            } else {
                self.push(Expr::Index(base, first), at)?
            };
            self.expect("]")?;
        }
        Ok(base)
    }

    /// Parses `.` or `[index].` after a name of a path; returns `None` for other tokens.
    #[expect(clippy::option_option, reason = "a step without index is a step")]
    pub(super) fn step_of_path(&mut self) -> Result<Option<Option<ExprId>>> {
        if self.peek_kind() == Kind::Punct && self.accept(".") {
            return Ok(Some(None));
        }
        if self.peek_kind() != Kind::Punct || self.peek() != "[" {
            return Ok(None);
        }
        // An index of a path differs from a select only by the dot after its bracket.
        let (mut depth, mut ahead) = (0u32, self.at);
        loop {
            match (self.tokens[ahead].kind, self.text_of(self.tokens[ahead])) {
                (Kind::End, _) => return Ok(None),
                (Kind::Punct, "[") => depth += 1,
                (Kind::Punct, "]") => depth -= 1,
                _ => {}
            }
            ahead += 1;
            if depth == 0 {
                break;
            }
            if ahead > self.at + 1000 {
                return Ok(None);
            }
        }
        if (self.tokens[ahead].kind, self.text_of(self.tokens[ahead])) != (Kind::Punct, ".") {
            return Ok(None);
        }
        self.expect("[")?;
        let index = self.expr()?;
        self.expect("]")?;
        self.expect(".")?;
        Ok(Some(Some(index)))
    }

    pub(super) fn range(&mut self) -> Result<Range> {
        if !self.accept("[") {
            return Ok(None);
        }
        let msb = self.expr()?;
        self.expect(":")?;
        let lsb = self.expr()?;
        self.expect("]")?;
        Ok(Some((msb, lsb)))
    }

    /// Builds a constant with all bits zero, or all bits one in any width.
    pub(super) fn constant_bits(&mut self, ones: bool, at: u32) -> Result<ExprId> {
        let none = num_bigint::BigUint::ZERO;
        let number = Expr::Number {
            value: none.clone(),
            unknown: none.clone(),
            open: none,
            width: 1,
            signed: false,
            sized: true,
        };
        let zero = self.push(number, at)?;
        if ones { self.push(Expr::Unary(Unary::Not, zero), at) } else { Ok(zero) }
    }
}
