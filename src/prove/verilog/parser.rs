//! Verilog-2001 syntax: the synthesizable part. What is not in it is refused with its place.

use super::ast::{
    Decl, DeclKind, Direction, Events, Expr, ExprId, File, Function, Instance, Item, Module, Op, Param, Port, Range,
    Statement, Sym, Task, Unary,
};
use super::lexer::{self, Kind, Token, error};
use crate::diag::Diagnostic;
use rustc_hash::FxHashMap;

/// Brackets, operators and statements may nest this deep; no file of a tool comes near.
const MAX_DEPTH: u32 = 3000;

type Result<T> = std::result::Result<T, Diagnostic>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    file: File,
    /// Nesting of each expression in the arena.
    height: Vec<u32>,
    symbols: FxHashMap<&'a str, Sym>,
}

const KEYWORDS: &[&str] = &[
    "always",
    "and",
    "assign",
    "begin",
    "buf",
    "case",
    "casex",
    "casez",
    "deassign",
    "default",
    "defparam",
    "disable",
    "else",
    "end",
    "endcase",
    "endfunction",
    "endgenerate",
    "endmodule",
    "endtask",
    "event",
    "for",
    "force",
    "forever",
    "fork",
    "function",
    "generate",
    "genvar",
    "if",
    "initial",
    "inout",
    "input",
    "integer",
    "join",
    "localparam",
    "module",
    "nand",
    "negedge",
    "nor",
    "not",
    "or",
    "output",
    "parameter",
    "posedge",
    "real",
    "reg",
    "release",
    "repeat",
    "signed",
    "specify",
    "supply0",
    "supply1",
    "task",
    "time",
    "tri",
    "tri0",
    "tri1",
    "triand",
    "trior",
    "trireg",
    "primitive",
    "wait",
    "wand",
    "while",
    "wire",
    "wor",
    "xnor",
    "xor",
];

/// Parses a whole file.
pub(super) fn parse(text: &str) -> Result<File> {
    let (tokens, head, implicit) = lexer::tokens(text)?;
    let mut p = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
        file: File { head, implicit, ..File::default() },
        height: Vec::new(),
        symbols: FxHashMap::default(),
    };
    for keyword in KEYWORDS {
        p.intern(keyword);
    }
    while p.peek_kind() != Kind::End {
        if p.peek() == "primitive" {
            let help = "a module with a case statement says the same";
            return p.fail("user-defined primitives are not supported").map_err(|e| e.with_help(help));
        }
        let module = p.module()?;
        p.file.modules.push(module);
    }
    Ok(p.file)
}

/// Binding strength and meaning of a binary operator.
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

impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek_kind(&self) -> Kind {
        self.token().kind
    }

    fn text_of(&self, t: Token) -> &'a str {
        &self.text[t.start as usize..t.end as usize]
    }

    fn peek(&self) -> &'a str {
        // Strings and numbers are never taken for punctuation: they start with a quote or digit.
        self.text_of(self.token())
    }

    fn offset(&self) -> u32 {
        self.token().start
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, self.offset(), message))
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T> {
        let found = if self.peek_kind() == Kind::End { "the end of the file" } else { self.peek() };
        self.fail(format!("expected {expected}, found {found}"))
    }

    fn accept(&mut self, what: &str) -> bool {
        let hit = matches!(self.peek_kind(), Kind::Punct | Kind::Name) && self.peek() == what;
        self.at += usize::from(hit);
        hit
    }

    fn expect(&mut self, what: &str) -> Result<()> {
        if self.accept(what) { Ok(()) } else { self.unexpected(what) }
    }

    fn intern(&mut self, name: &'a str) -> Sym {
        let next = self.file.names.len() as Sym;
        let sym = *self.symbols.entry(name).or_insert(next);
        if sym == next {
            self.file.names.push(name.to_owned());
        }
        sym
    }

    fn name(&mut self) -> Result<Sym> {
        if self.peek_kind() != Kind::Name {
            return self.unexpected("a name");
        }
        let sym = self.intern(self.peek());
        // Keywords were interned first; an escaped name may be spelt like one.
        let escaped = self.text.as_bytes().get((self.offset() as usize).wrapping_sub(1)) == Some(&b'\\');
        if (sym as usize) < KEYWORDS.len() && !escaped {
            return self.unexpected("a name");
        }
        self.at += 1;
        Ok(sym)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("nested more than {MAX_DEPTH} deep"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    // ---- Expressions

    fn push(&mut self, expr: Expr, at: u32) -> Result<ExprId> {
        let of = |e: &ExprId| self.height[*e as usize];
        let below = match &expr {
            Expr::Number { .. } | Expr::Name(_) => 0,
            Expr::Index(a, b) | Expr::Repeat(a, b) | Expr::Binary(_, a, b) => of(a).max(of(b)),
            Expr::Range(a, b, c) | Expr::Part(a, b, c, _) | Expr::Cond(a, b, c) => of(a).max(of(b)).max(of(c)),
            Expr::Unary(_, a) => of(a),
            Expr::Concat(all) | Expr::Call(_, all) | Expr::System(_, all) => all.iter().map(of).max().unwrap_or(0),
            Expr::Path(path, _) => path.iter().filter_map(|p| p.1.as_ref()).map(of).max().unwrap_or(0),
        };
        // Long chains such as a + b + c + ... lean to the left without nesting in the parser.
        if below >= 10 * MAX_DEPTH {
            return Err(error(self.text, at, format!("an expression of more than {} levels", 10 * MAX_DEPTH)));
        }
        self.height.push(below + 1);
        self.file.exprs.push(expr);
        self.file.at.push(at);
        Ok(self.file.exprs.len() as ExprId - 1)
    }

    fn expr(&mut self) -> Result<ExprId> {
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

    fn list(&mut self, end: &str) -> Result<Vec<ExprId>> {
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
                self.push(Expr::Number { value, unknown, open, width, signed, sized }, at)
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

    /// After a name: a path through generate blocks, and selects.
    fn selects(&mut self, name: Sym, name_at: u32) -> Result<ExprId> {
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

    /// `.` or `[index].` after a name of a path.
    #[expect(clippy::option_option, reason = "a step without index is a step")]
    fn step_of_path(&mut self) -> Result<Option<Option<ExprId>>> {
        if self.peek_kind() == Kind::Punct && self.accept(".") {
            return Ok(Some(None));
        }
        if self.peek_kind() != Kind::Punct || self.peek() != "[" {
            return Ok(None);
        }
        // Only the bracket's end tells an index of a path from a select.
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

    // ---- Declarations

    fn range(&mut self) -> Result<Range> {
        if !self.accept("[") {
            return Ok(None);
        }
        let msb = self.expr()?;
        self.expect(":")?;
        let lsb = self.expr()?;
        self.expect("]")?;
        Ok(Some((msb, lsb)))
    }

    fn params(&mut self, local: bool, list: bool) -> Result<Vec<Param>> {
        let mut signed = self.accept("signed");
        let range = self.range()?;
        let integer = range.is_none() && self.accept("integer");
        signed |= integer;
        let mut all = Vec::new();
        loop {
            let name = self.name()?;
            self.expect("=")?;
            let value = self.expr()?;
            all.push(Param { name, local, signed, integer, range, value });
            // In a header the comma may start the next `parameter`.
            let more = self.peek() == "," && !(list && self.text_of(self.tokens[self.at + 1]) == "parameter");
            if !more {
                return Ok(all);
            }
            self.at += 1;
        }
    }

    /// After `wire`, `reg`, `integer` or `genvar`: declarations up to the semicolon.
    fn decls(&mut self, kind: DeclKind) -> Result<Vec<Decl>> {
        let word = self.text_of(self.tokens[self.at - 1]);
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
            let wired = match word {
                "wand" | "triand" => Some(Op::And),
                "wor" | "trior" => Some(Op::Or),
                _ => None,
            };
            if wired.is_some() && !memory.is_empty() {
                return Err(error(self.text, at, "an array of wired nets"));
            }
            all.push(Decl { kind, signed, range, name, memory, value, wired, at });
            if !self.accept(",") {
                self.expect(";")?;
                return Ok(all);
            }
        }
    }

    /// All zeros, or all ones of any width.
    fn constant_bits(&mut self, ones: bool, at: u32) -> Result<ExprId> {
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

    fn decl_kind(&self) -> Option<DeclKind> {
        if self.peek_kind() != Kind::Name {
            return None;
        }
        Some(match self.peek() {
            "wire" | "tri" | "wand" | "triand" | "wor" | "trior" | "supply0" | "supply1" => DeclKind::Wire,
            "reg" => DeclKind::Reg,
            "integer" => DeclKind::Integer,
            "genvar" => DeclKind::Genvar,
            _ => return None,
        })
    }

    fn module(&mut self) -> Result<Module> {
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

    /// `input signed [7:0]` and the like; arguments of tasks may be `inout`.
    fn port_head(&mut self, both: bool) -> Result<(Direction, DeclKind, bool, Range)> {
        let direction = match self.peek() {
            "input" => Direction::In,
            "output" => Direction::Out,
            "inout" if both => Direction::Both,
            _ => return self.fail("ports are input or output"),
        };
        self.at += 1;
        let _ = self.accept("wire") || self.accept("reg");
        let integer = self.accept("integer");
        let signed = self.accept("signed") || integer;
        let kind = if integer { DeclKind::Integer } else { DeclKind::Reg };
        Ok((direction, kind, signed, self.range()?))
    }

    fn ansi_ports(&mut self, module: &mut Module) -> Result<()> {
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

    /// One module item; ports declared in the body go to the module.
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

    /// One item of a module or generate block, which may make several.
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
            "always" => {
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
            "defparam" => {
                self.at += 1;
                loop {
                    let at = self.offset();
                    let mut path = Vec::new();
                    let mut name = self.name()?;
                    while let Some(index) = self.step_of_path()? {
                        path.push((name, index));
                        name = self.name()?;
                    }
                    self.expect("=")?;
                    out.push(Item::Defparam(path, name, self.expr()?, at));
                    if !self.accept(",") {
                        return self.expect(";");
                    }
                }
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

    /// Gates: an output and its inputs, or for `buf` and `not` several outputs and their input.
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
            // Strengths, delays and arrays of gates end here.
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

    fn function(&mut self, at: u32) -> Result<Function> {
        let automatic = self.accept("automatic");
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

    fn task(&mut self, at: u32) -> Result<Task> {
        self.accept("automatic");
        let name = self.name()?;
        let (args, locals, params) = self.callable()?;
        let body = if self.peek() == "endtask" { Statement::Null } else { self.statement()? };
        self.expect("endtask")?;
        Ok(Task { name, args, locals, params, body, at })
    }

    /// After the name of a function or task: arguments, declarations and constants.
    #[expect(clippy::type_complexity, reason = "three lists, taken apart at once")]
    fn callable(&mut self) -> Result<(Vec<(Direction, Decl)>, Vec<Decl>, Vec<Param>)> {
        let (mut args, mut locals, mut params) = (Vec::new(), Vec::new(), Vec::new());
        if self.accept("(") && !self.accept(")") {
            let (mut direction, mut kind, mut signed, mut range) = self.port_head(true)?;
            loop {
                let at = self.offset();
                let name = self.name()?;
                args.push((
                    direction,
                    Decl { kind, signed, range, name, memory: Vec::new(), value: None, wired: None, at },
                ));
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
                    args.push((
                        direction,
                        Decl { kind, signed, range, name, memory: Vec::new(), value: None, wired: None, at },
                    ));
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

    // ---- Statements

    fn events(&mut self) -> Result<Events> {
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

    /// What can be assigned to: a name with selects, or a concatenation of such.
    fn target(&mut self) -> Result<ExprId> {
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
            // Shorter than a clock's period, it changes nothing (IEEE 1364.1, section 7.5).
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

    fn statement(&mut self) -> Result<Statement> {
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
            // What it shows changes nothing.
            self.at += 1;
            if self.accept("(") && !self.accept(")") {
                self.list(")")?;
            }
            self.expect(";")?;
            return Ok(Statement::Null);
        }
        if self.peek_kind() == Kind::System {
            return self.fail(format!("{} is not supported", self.peek()));
        }
        // A task by its name alone, or with arguments.
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
