//! VHDL parser: expressions and declarations.

mod ast;
mod lexer;
mod statements;

pub(super) use ast::{
    Architecture, Arg, Block, Choice, Class, Concurrent, Decl, Entity, Expr, File, Function, Instance, Kind, Object,
    Package, Procedure, Statement, TypeName, Use, Waits,
};

use crate::source::error;
use alir_core::diag::Diagnostic;
use lexer::{KEYWORDS, Token, tokens};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Maximum nesting depth of expressions and statements.
const MAX_DEPTH: u32 = 3000;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, u32)>,
    at: usize,
    depth: u32,
}

pub(super) fn parse(text: &str) -> Result<File> {
    let (tokens, head) = tokens(text)?;
    let mut p = Parser { text, tokens, at: 0, depth: 0 };
    let mut file = File { head, ..File::default() };
    // A context clause applies to the following unit.
    let mut uses = Vec::new();
    loop {
        match p.peek() {
            Token::End => return Ok(file),
            Token::Name(n) if n == "library" => p.library(&mut file.libraries)?,
            Token::Name(n) if n == "use" => p.context(&mut uses)?,
            Token::Name(n) if n == "entity" => file.entities.push(p.entity(std::mem::take(&mut uses))?),
            Token::Name(n) if n == "architecture" => {
                file.architectures.push(p.architecture(std::mem::take(&mut uses))?);
            }
            Token::Name(n) if n == "configuration" => {
                return p.fail("configurations are not read: instances of entities need none");
            }
            Token::Name(n) if n == "package" => file.packages.push(p.package(std::mem::take(&mut uses))?),
            _ => return p.unexpected("library, use, package, entity or architecture"),
        }
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn after(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].0
    }

    fn offset(&self) -> u32 {
        self.tokens[self.at].1
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, self.offset(), message))
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T> {
        let found = match self.peek() {
            Token::Name(n) => n.clone(),
            Token::Int(n) => n.to_string(),
            Token::Real(x) => x.to_string(),
            Token::Bit(c) => format!("'{c}'"),
            Token::Text(t) => format!("\"{t}\""),
            Token::Punct(p) => (*p).to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        self.fail(format!("expected {expected}, found {found}"))
    }

    fn is(&self, what: &str) -> bool {
        match self.peek() {
            Token::Name(n) => n == what,
            Token::Punct(p) => *p == what,
            _ => false,
        }
    }

    fn accept(&mut self, what: &str) -> bool {
        let hit = self.is(what);
        self.at += usize::from(hit);
        hit
    }

    fn expect(&mut self, what: &str) -> Result<()> {
        if self.accept(what) { Ok(()) } else { self.unexpected(what) }
    }

    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Token::Name(n) if !KEYWORDS.contains(&n.as_str()) => {
                let n = n.clone();
                self.at += 1;
                Ok(n)
            }
            _ => self.unexpected("a name"),
        }
    }

    /// Parses a library clause.
    fn library(&mut self, libraries: &mut Vec<String>) -> Result<()> {
        self.expect("library")?;
        loop {
            let name = self.name()?;
            if !matches!(&*name, "ieee" | "std") && !libraries.contains(&name) {
                libraries.push(name);
            }
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }

    /// Parses a use clause. Unknown packages of `ieee` are errors, as they may declare operators with other semantics.
    fn context(&mut self, uses: &mut Vec<Use>) -> Result<()> {
        self.expect("use")?;
        loop {
            let at = self.offset();
            let mut parts = vec![self.name()?];
            while self.accept(".") {
                parts.push(if self.accept("all") { "all".to_owned() } else { self.name()? });
            }
            let known = match &parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["ieee", package, ..] => {
                    matches!(
                        *package,
                        "std_logic_1164" | "numeric_std" | "math_real" | "std_logic_misc" | "std_logic_textio"
                    )
                }
                ["std", ..] => true,
                // All units of user libraries are in the files.
                [library, package, name] if *library != "ieee" => {
                    let name = Some((*name).to_owned()).filter(|n| n != "all");
                    uses.push(Use { package: (*package).to_owned(), name, at });
                    true
                }
                _ => false,
            };
            if !known {
                let help =
                    "packages that are read: ieee.std_logic_1164, ieee.numeric_std, and those of the file as work.NAME";
                return self
                    .fail(format!("the package {} is not supported", parts.join(".")))
                    .map_err(|e| e.with_help(help));
            }
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }

    fn skip_to_semicolon(&mut self) {
        while !self.is(";") && *self.peek() != Token::End {
            self.at += 1;
        }
        self.at += usize::from(self.is(";"));
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

    // ---- Expressions: logical, relational, shift, adding, sign, multiplying, highest

    fn expr(&mut self) -> Result<Expr> {
        self.nested(|p| p.binary(0))
    }

    fn binary(&mut self, level: usize) -> Result<Expr> {
        const LEVELS: [&[&str]; 5] = [
            &["and", "or", "xor", "nand", "nor", "xnor"],
            &["=", "/=", "<", "<=", ">", ">=", "?=", "?/=", "?<", "?<=", "?>", "?>="],
            &["sll", "srl", "sla", "sra", "rol", "ror"],
            &["+", "-", "&"],
            &["*", "/", "mod", "rem"],
        ];
        if level == LEVELS.len() {
            return self.factor();
        }
        let at = self.offset();
        // A sign applies to the first term of a sum.
        let sign = if level == 3 { ["+", "-"].into_iter().find(|s| self.accept(s)) } else { None };
        let mut left = self.binary(level + 1)?;
        if let Some(sign) = sign {
            left = Expr { at, kind: Kind::Unary(sign, Box::new(left)) };
        }
        let mut links = 0;
        let mut last: Option<&str> = None;
        while let Some(op) = LEVELS[level].iter().copied().find(|op| self.is(op)) {
            // Different logical operators need brackets, and relational operators cannot be chained.
            if (level == 0 && last.is_some_and(|l| l != op || matches!(op, "nand" | "nor")))
                || ((level == 1 || level == 2) && last.is_some())
            {
                return self.fail("operators that cannot follow one another without brackets");
            }
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expr { at, kind: Kind::Binary(op, Box::new(left), Box::new(right)) };
            last = Some(op);
            links += 1;
            if links > MAX_DEPTH {
                return self.fail(format!("more than {MAX_DEPTH} operators in a row"));
            }
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr> {
        let at = self.offset();
        for op in ["not", "abs", "??"] {
            if self.accept(op) {
                let x = self.nested(Self::primary)?;
                return Ok(Expr { at, kind: Kind::Unary(op, Box::new(x)) });
            }
        }
        // Reduction operators of VHDL-2008.
        for op in ["and", "or", "xor", "nand", "nor", "xnor"] {
            if self.accept(op) {
                let x = self.nested(Self::primary)?;
                let op = match op {
                    "and" => "reduce and",
                    "or" => "reduce or",
                    "xor" => "reduce xor",
                    "nand" => "reduce nand",
                    "nor" => "reduce nor",
                    _ => "reduce xnor",
                };
                return Ok(Expr { at, kind: Kind::Unary(op, Box::new(x)) });
            }
        }
        let base = self.primary()?;
        if self.accept("**") {
            let exponent = self.primary()?;
            return Ok(Expr { at, kind: Kind::Binary("**", Box::new(base), Box::new(exponent)) });
        }
        Ok(base)
    }

    fn primary(&mut self) -> Result<Expr> {
        let at = self.offset();
        let kind = match self.peek().clone() {
            Token::Int(v) => Kind::Int(v),
            Token::Real(x) => Kind::Real(x),
            Token::Bit(c) => Kind::Bit(c),
            Token::Text(t) => Kind::Text(t),
            Token::Punct("(") => {
                self.at += 1;
                let mut args = self.args()?;
                if let [one] = &mut args[..]
                    && one.choices.is_empty()
                    && !one.others
                {
                    return Ok(args.remove(0).value);
                }
                return Ok(Expr { at, kind: Kind::Aggregate(args) });
            }
            Token::Name(n) if n == "open" => Kind::Open,
            Token::Name(_) => return self.named(),
            _ => return self.unexpected("an expression"),
        };
        self.at += 1;
        Ok(Expr { at, kind })
    }

    fn named(&mut self) -> Result<Expr> {
        let at = self.offset();
        let name = self.name()?;
        let mut e = Expr { at, kind: Kind::Name(name) };
        let mut links = 0;
        loop {
            links += 1;
            if links > MAX_DEPTH {
                return self.fail(format!("more than {MAX_DEPTH} selections in a row"));
            }
            if self.accept(".") {
                let field = self.name()?;
                e = Expr { at, kind: Kind::Field(Box::new(e), field) };
            } else if self.accept("(") {
                let args = self.args()?;
                e = Expr { at, kind: Kind::Call(Box::new(e), args) };
            } else if self.is("'") {
                self.at += 1;
                if self.accept("(") {
                    let (Kind::Name(ty) | Kind::Field(_, ty)) = e.kind else {
                        return self.fail("a qualification needs a type's name");
                    };
                    let ty = TypeName { name: ty, package: None, range: None, at };
                    let args = self.args()?;
                    e = Expr { at, kind: Kind::Qualified(ty, args) };
                } else {
                    let attribute = match self.peek() {
                        Token::Name(n) => n.clone(),
                        _ => return self.unexpected("an attribute"),
                    };
                    self.at += 1;
                    e = Expr { at, kind: Kind::Attribute(Box::new(e), attribute) };
                }
            } else {
                return Ok(e);
            }
        }
    }

    fn range_or_expr(&mut self) -> Result<Expr> {
        let at = self.offset();
        let left = self.expr()?;
        for (word, down) in [("downto", true), ("to", false)] {
            if self.accept(word) {
                let right = self.expr()?;
                return Ok(Expr { at, kind: Kind::Range(Box::new(left), Box::new(right), down) });
            }
        }
        Ok(left)
    }

    /// Parses arguments, choices and ranges up to the closing bracket; the opening one is already parsed.
    fn args(&mut self) -> Result<Vec<Arg>> {
        self.nested(|p| {
            let mut all = Vec::new();
            loop {
                if p.accept("others") {
                    p.expect("=>")?;
                    all.push(Arg { choices: Vec::new(), others: true, value: p.expr()? });
                } else {
                    let first = p.range_or_expr()?;
                    let mut choices = vec![first];
                    while p.accept("|") {
                        choices.push(p.range_or_expr()?);
                    }
                    if p.accept("=>") {
                        let value = p.expr()?;
                        all.push(Arg { choices, others: false, value });
                    } else {
                        let Some(value) = choices.pop().filter(|_| choices.is_empty()) else {
                            return p.unexpected("=>");
                        };
                        all.push(Arg { choices, others: false, value });
                    }
                }
                if !p.accept(",") {
                    p.expect(")")?;
                    return Ok(all);
                }
            }
        })
    }

    // ---- Declarations

    fn type_name(&mut self) -> Result<TypeName> {
        let at = self.offset();
        let mut name = self.name()?;
        let mut package = None;
        while self.accept(".") {
            package = Some(std::mem::replace(&mut name, self.name()?));
        }
        let range = if self.accept("(") {
            let range = self.range_or_expr()?;
            self.expect(")")?;
            Some(Box::new(range))
        } else if self.accept("range") {
            Some(Box::new(self.range_or_expr()?))
        } else {
            None
        };
        Ok(TypeName { name, package, range, at })
    }

    /// Parses `a, b : in unsigned(7 downto 0) := x` of ports, generics or parameters.
    fn interface(&mut self, class: Class, out: &mut Vec<Object>) -> Result<()> {
        let signal = self.accept("signal");
        let variable = !signal && !self.accept("constant") && self.accept("variable");
        let mut names = vec![(self.offset(), self.name()?)];
        while self.accept(",") {
            names.push((self.offset(), self.name()?));
        }
        self.expect(":")?;
        let both = class == Class::Variable && self.accept("inout");
        let output = both || self.accept("out");
        if !output && self.is("inout") {
            return self.fail("ports are in or out");
        }
        let _ = !output && self.accept("in");
        let class = if class == Class::Variable && !output && !variable { Class::Constant } else { class };
        let ty = self.type_name()?;
        let value = if self.accept(":=") { Some(self.expr()?) } else { None };
        for (at, name) in names {
            out.push(Object { class, name, ty: ty.clone(), value: value.clone(), at, output, both, signal });
        }
        Ok(())
    }

    fn interfaces(&mut self, class: Class) -> Result<Vec<Object>> {
        let mut all = Vec::new();
        self.expect("(")?;
        loop {
            self.interface(class, &mut all)?;
            if !self.accept(";") {
                self.expect(")")?;
                return Ok(all);
            }
        }
    }

    /// Parses `package p is ... end package`, or a package body.
    fn package(&mut self, uses: Vec<Use>) -> Result<Package> {
        let at = self.offset();
        self.expect("package")?;
        let body = matches!(self.peek(), Token::Name(n) if n == "body");
        self.at += usize::from(body);
        let name = self.name()?;
        self.expect("is")?;
        let decls = self.decls()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Package { name, body, uses, decls, at })
    }

    fn entity(&mut self, uses: Vec<Use>) -> Result<Entity> {
        let at = self.offset();
        self.expect("entity")?;
        let shown_at = self.offset() as usize;
        let name = self.name()?;
        let shown = self.text.get(shown_at..shown_at + name.len()).unwrap_or(&name).to_owned();
        self.expect("is")?;
        let (generics, ports) = self.header()?;
        let decls = self.decls()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Entity { name, shown, generics, ports, decls, uses, at })
    }

    /// Parses generics and ports of an entity or component.
    fn header(&mut self) -> Result<(Vec<Object>, Vec<Object>)> {
        let (mut generics, mut ports) = (Vec::new(), Vec::new());
        if self.accept("generic") {
            generics = self.interfaces(Class::Constant)?;
            self.expect(";")?;
        }
        if self.accept("port") {
            ports = self.interfaces(Class::Signal)?;
            self.expect(";")?;
        }
        Ok((generics, ports))
    }

    fn architecture(&mut self, uses: Vec<Use>) -> Result<Architecture> {
        self.expect("architecture")?;
        let name = self.name()?;
        self.expect("of")?;
        let entity = self.name()?;
        self.expect("is")?;
        let decls = self.decls()?;
        self.expect("begin")?;
        let body = self.concurrents()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Architecture { name, entity, uses, decls, body })
    }

    fn decls(&mut self) -> Result<Vec<Decl>> {
        let mut out = Vec::new();
        loop {
            let class = match self.peek() {
                Token::Name(n) => match n.as_str() {
                    "signal" => Class::Signal,
                    "constant" => Class::Constant,
                    "variable" => Class::Variable,
                    "use" => {
                        let mut uses = Vec::new();
                        self.context(&mut uses)?;
                        out.extend(uses.into_iter().map(Decl::Use));
                        continue;
                    }
                    "alias" => {
                        let at = self.offset();
                        self.at += 1;
                        let name = self.name()?;
                        let ty = if self.accept(":") { Some(self.type_name()?) } else { None };
                        self.expect("is")?;
                        let of = self.expr()?;
                        self.expect(";")?;
                        out.push(Decl::Alias { name, ty, of, at });
                        continue;
                    }
                    "attribute" => {
                        self.skip_to_semicolon();
                        continue;
                    }
                    "type" => {
                        out.push(self.type_decl()?);
                        continue;
                    }
                    "subtype" => {
                        self.at += 1;
                        let name = self.name()?;
                        self.expect("is")?;
                        let ty = self.type_name()?;
                        self.expect(";")?;
                        out.push(Decl::Subtype { name, ty });
                        continue;
                    }
                    "file" => {
                        out.push(self.file_decl()?);
                        continue;
                    }
                    "function" | "pure" | "impure" => {
                        let _ = self.accept("pure") || self.accept("impure");
                        self.at += 1;
                        if let Some(f) = self.function()? {
                            out.push(Decl::Function(f));
                        }
                        continue;
                    }
                    "procedure" => {
                        self.at += 1;
                        if let Some(p) = self.procedure()? {
                            out.push(Decl::Procedure(p));
                        }
                        continue;
                    }
                    "for" => return self.fail("configurations are not read: instances of entities need none"),
                    "component" => {
                        let at = self.offset();
                        self.at += 1;
                        let name = self.name()?;
                        self.accept("is");
                        let (generics, ports) = self.header()?;
                        self.expect("end")?;
                        self.skip_to_semicolon();
                        let uses = Vec::new();
                        out.push(Decl::Component(Entity {
                            shown: name.clone(),
                            name,
                            generics,
                            ports,
                            decls: Vec::new(),
                            uses,
                            at,
                        }));
                        continue;
                    }
                    _ => return Ok(out),
                },
                _ => return Ok(out),
            };
            self.at += 1;
            let mut objects = Vec::new();
            self.interface(class, &mut objects)?;
            self.expect(";")?;
            // Objects of a declarative part have no mode, so their class is set here.
            out.extend(objects.into_iter().map(|o| Decl::Object(Object { class, ..o })));
        }
    }

    fn file_decl(&mut self) -> Result<Decl> {
        let at = self.offset();
        self.expect("file")?;
        let name = self.name()?;
        self.expect(":")?;
        let ty = self.type_name()?;
        if ty.name != "text" {
            return self.fail("files are of the type text");
        }
        let mut path = None;
        if matches!(self.peek(), Token::Name(n) if n == "open") {
            self.at += 1;
            if self.name()? != "read_mode" {
                return self.fail("files are only read");
            }
        }
        if self.accept("is") {
            // File mode of VHDL-87.
            self.accept("in");
            path = Some(self.expr()?);
        }
        self.expect(";")?;
        Ok(Decl::File { name, path, at })
    }

    fn type_decl(&mut self) -> Result<Decl> {
        let at = self.offset();
        self.expect("type")?;
        let name = self.name()?;
        self.expect("is")?;
        if self.accept("(") {
            let mut literals = Vec::new();
            loop {
                literals.push((self.name()?, self.offset()));
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")")?;
            self.expect(";")?;
            return Ok(Decl::Enum { name, literals, at });
        }
        if self.accept("record") {
            let mut fields = Vec::new();
            while !self.accept("end") {
                self.interface(Class::Constant, &mut fields)?;
                self.expect(";")?;
            }
            self.expect("record")?;
            self.skip_to_semicolon();
            return Ok(Decl::Record { name, fields, at });
        }
        if self.accept("range") {
            let range = Some(Box::new(self.range_or_expr()?));
            self.expect(";")?;
            let ty = TypeName { name: "integer".to_owned(), package: None, range, at };
            return Ok(Decl::Subtype { name, ty });
        }
        if !self.is("array") {
            return self.unexpected("an enumeration, a record, a range or an array");
        }
        self.expect("array")?;
        self.expect("(")?;
        let range = self.range_or_expr()?;
        // Index range: `natural range <>`, or the range of an index type.
        let range = if self.accept("range") {
            if self.accept("<>") { None } else { Some(self.range_or_expr()?) }
        } else {
            Some(range)
        };
        let mut more = Vec::new();
        while self.accept(",") {
            let range = self.range_or_expr()?;
            let range = if self.accept("range") { self.range_or_expr()? } else { range };
            more.push(range);
        }
        if range.is_none() && !more.is_empty() {
            return self.fail("an array of several dimensions without ranges");
        }
        self.expect(")")?;
        self.expect("of")?;
        let element = self.type_name()?;
        self.expect(";")?;
        Ok(Decl::Array { name, range, more, element })
    }

    fn function(&mut self) -> Result<Option<Function>> {
        let name = match self.peek().clone() {
            Token::Text(op) => {
                return self.fail(format!("a function for the operator {op:?}: operators of the user are not read"));
            }
            _ => self.name()?,
        };
        let params = if self.is("(") { self.interfaces(Class::Constant)? } else { Vec::new() };
        self.expect("return")?;
        let result = self.type_name()?;
        if self.accept(";") {
            // Declaration without body; the body follows later.
            return Ok(None);
        }
        let (decls, body) = self.subprogram_body()?;
        Ok(Some(Function { name, params, result, decls, body }))
    }

    /// Parses the declarations and statements after `is`, to the end of the subprogram.
    fn subprogram_body(&mut self) -> Result<(Vec<Decl>, Vec<Statement>)> {
        self.expect("is")?;
        let decls = self.decls()?;
        self.expect("begin")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok((decls, body))
    }

    fn procedure(&mut self) -> Result<Option<Procedure>> {
        let at = self.offset();
        let name = self.name()?;
        let params = if self.is("(") { self.interfaces(Class::Variable)? } else { Vec::new() };
        if self.accept(";") {
            return Ok(None);
        }
        let (decls, body) = self.subprogram_body()?;
        Ok(Some(Procedure { name, params, decls, body, at }))
    }
}
