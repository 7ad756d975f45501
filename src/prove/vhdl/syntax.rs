//! VHDL's tokens and syntax tree.

use crate::diag::Diagnostic;
use crate::prove::verilog::place;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Nesting of expressions and statements.
const MAX_DEPTH: u32 = 3000;

pub(super) fn error(text: &str, at: u32, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0903", place(text, at), message)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// Lower case, as the language does not tell cases apart.
    Name(String),
    Int(i64),
    /// `'0'`.
    Bit(char),
    /// `"0101"`, and `x"0f"` already in bits.
    Text(String),
    Punct(&'static str),
    End,
}

const PUNCT: [&str; 31] = [
    "?/=", "?<=", "?>=", "?=", "?<", "?>", "??", "?", "=>", "**", ":=", "/=", ">=", "<=", "<>", "(", ")", ",", ";",
    ":", "&", "'", "+", "-", "*", "/", "=", "<", ">", "|", ".",
];

/// Tokens with their places, and the comments before the first.
type Tokens = (Vec<(Token, u32)>, Vec<String>);

fn tokens(text: &str) -> Result<Tokens> {
    let b = text.as_bytes();
    let mut out: Vec<(Token, u32)> = Vec::new();
    let mut head = Vec::new();
    let mut i = 0;
    while i < b.len() {
        let start = i as u32;
        if b[i].is_ascii_whitespace() {
            i += 1;
        } else if b[i..].starts_with(b"--") {
            let end = b[i..].iter().position(|&c| c == b'\n').map_or(b.len(), |n| i + n);
            if out.is_empty() {
                head.push(text[i + 2..end].trim().to_owned());
            }
            i = end;
        } else if let Some((bits, end)) = sized_bits(text, i)? {
            out.push((Token::Text(bits), start));
            i = end;
        } else if b[i].is_ascii_alphabetic() {
            let end = b[i..].iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').map_or(b.len(), |n| i + n);
            out.push((Token::Name(text[i..end].to_ascii_lowercase()), start));
            i = end;
        } else if b[i] == b'\\' {
            let end = text[i + 1..].find('\\').ok_or_else(|| error(text, start, "a name that never ends"))? + i + 1;
            out.push((Token::Name(text[i..=end].to_owned()), start));
            i = end + 1;
        } else if b[i..].starts_with(b"/*") {
            let end = text[i + 2..].find("*/").ok_or_else(|| error(text, start, "a comment that never ends"))?;
            i += end + 4;
        } else if b[i].is_ascii_digit() {
            let (value, end) = integer(text, i)?;
            out.push((Token::Int(value), start));
            i = end;
        } else if b[i] == b'"' {
            let (bits, end) = string(text, i)?;
            out.push((Token::Text(bits), start));
            i = end;
        } else if b[i] == b'\'' && b.get(i + 2) == Some(&b'\'') && tick_is_literal(&out) {
            out.push((Token::Bit(b[i + 1] as char), start));
            i += 3;
        } else if let Some(p) = PUNCT.iter().find(|p| b[i..].starts_with(p.as_bytes())) {
            out.push((Token::Punct(p), start));
            i += p.len();
        } else {
            let c = text[i..].chars().next().unwrap_or(' ');
            return Err(error(text, start, format!("unexpected character {c:?}")));
        }
    }
    out.push((Token::End, b.len() as u32));
    Ok((out, head))
}

/// After a name or a bracket a tick is an attribute or a qualification, else a character.
fn tick_is_literal(before: &[(Token, u32)]) -> bool {
    match before.last() {
        Some((Token::Name(n), _)) => KEYWORDS.contains(&n.as_str()),
        Some((Token::Punct(")"), _)) => false,
        _ => true,
    }
}

/// Digits of one bit string: longer ones are refused.
const MAX_DIGITS: usize = 1 << 22;

/// `x"0f"`, `12ux"f"`, `b"01"`, `8d"200"`: the bits of a bit string literal, and where it ends; nothing for other text.
fn sized_bits(text: &str, at: usize) -> Result<Option<(String, usize)>> {
    let b = text.as_bytes();
    let digits = b[at..].iter().position(|c| !c.is_ascii_digit() && *c != b'_').unwrap_or(0);
    if digits > 0 && !b[at].is_ascii_digit() {
        return Ok(None);
    }
    let letters = b[at + digits..].iter().take(3).position(|c| !c.is_ascii_alphabetic()).unwrap_or(3);
    let quote = at + digits + letters;
    if b.get(quote) != Some(&b'"') {
        return Ok(None);
    }
    let base = text[at + digits..quote].to_ascii_lowercase();
    let (signed, base) = match base.strip_prefix(['u', 's']) {
        Some(rest) => (base.starts_with('s'), rest.to_owned()),
        None => (false, base),
    };
    let each = match base.as_str() {
        "b" => 1,
        "o" => 3,
        "x" => 4,
        "d" if !signed && digits > 0 => 0,
        _ => return Ok(None),
    };
    let fail = |message: &str| Err(error(text, at as u32, message));
    let (body, end) = string(text, quote)?;
    let mut bits = String::new();
    if body.len() > MAX_DIGITS {
        return fail("a literal of more than 2^22 digits");
    }
    if each == 0 {
        let number: String = body.chars().filter(|&c| c != '_').collect();
        let value = match number.parse::<num_bigint::BigUint>() {
            Ok(v) if number.len() <= 10_000 => v,
            _ => return fail("a decimal literal of up to 10,000 digits is expected"),
        };
        bits = value.to_str_radix(2);
        bits = if bits == "0" { String::new() } else { bits };
    } else {
        for c in body.chars().filter(|&c| c != '_') {
            match c.to_digit(1 << each) {
                Some(d) => bits.push_str(&format!("{d:0each$b}")),
                // Other values of std_logic stand for as many of them.
                None if matches!(c.to_ascii_uppercase(), 'U' | 'X' | 'Z' | 'W' | 'L' | 'H' | '-') => {
                    bits.extend(std::iter::repeat_n(c.to_ascii_uppercase(), each));
                }
                None => return fail("a digit outside the base of this literal"),
            }
        }
    }
    if digits > 0 {
        let size = text[at..at + digits].replace('_', "").parse::<usize>().ok().filter(|n| *n <= 1 << 24);
        let Some(size) = size else { return fail("a size up to 2^24") };
        let fill = if signed { bits.chars().next().unwrap_or('0') } else { '0' };
        if bits.len() > size {
            // What is left out has to be fill, and of a signed number the sign has to stay.
            let cut = bits.len() - size;
            let kept = if signed { bits.as_bytes().get(cut) } else { None };
            if bits[..cut].chars().any(|c| c != fill) || kept.is_some_and(|&k| char::from(k) != fill) {
                return fail("a literal that does not fit its size");
            }
            bits.drain(..cut);
        } else {
            bits.insert_str(0, &fill.to_string().repeat(size - bits.len()));
        }
    }
    Ok(Some((bits, end)))
}

fn string(text: &str, at: usize) -> Result<(String, usize)> {
    let end = text[at + 1..].find(['"', '\n']).filter(|&n| text.as_bytes()[at + 1 + n] == b'"');
    let end = end.ok_or_else(|| error(text, at as u32, "a string that never ends"))? + at + 1;
    Ok((text[at + 1..end].to_owned(), end + 1))
}

fn integer(text: &str, at: usize) -> Result<(i64, usize)> {
    let b = text.as_bytes();
    let digits = |from: usize| {
        b[from..].iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').map_or(b.len(), |n| from + n)
    };
    let plain = b[at..].iter().position(|c| !c.is_ascii_digit() && *c != b'_').map_or(b.len(), |n| at + n);
    let clean = |s: &str| s.replace('_', "");
    let bad = || error(text, at as u32, "a number that is not a plain integer");
    if b.get(plain) == Some(&b'#') {
        let base: u32 = clean(&text[at..plain]).parse().map_err(|_| bad())?;
        let end = digits(plain + 1);
        if !(2..=16).contains(&base) || b.get(end) != Some(&b'#') {
            return Err(bad());
        }
        let value = i64::from_str_radix(&clean(&text[plain + 1..end]), base).map_err(|_| bad())?;
        return Ok((value, end + 1));
    }
    if b.get(plain).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'.') {
        return Err(bad());
    }
    Ok((clean(&text[at..plain]).parse().map_err(|_| bad())?, plain))
}

const KEYWORDS: &[&str] = &[
    "abs",
    "alias",
    "record",
    "all",
    "and",
    "architecture",
    "array",
    "attribute",
    "begin",
    "block",
    "case",
    "component",
    "constant",
    "downto",
    "else",
    "elsif",
    "end",
    "entity",
    "for",
    "function",
    "generate",
    "generic",
    "if",
    "impure",
    "in",
    "inout",
    "is",
    "library",
    "loop",
    "map",
    "mod",
    "nand",
    "next",
    "nor",
    "not",
    "null",
    "of",
    "open",
    "or",
    "others",
    "out",
    "package",
    "port",
    "process",
    "pure",
    "range",
    "rem",
    "report",
    "return",
    "rol",
    "ror",
    "select",
    "severity",
    "signal",
    "sla",
    "sll",
    "sra",
    "srl",
    "subtype",
    "then",
    "to",
    "type",
    "use",
    "variable",
    "wait",
    "until",
    "when",
    "while",
    "with",
    "xnor",
    "xor",
    "assert",
    "exit",
    "procedure",
    "configuration",
];

/// Operators that a file may give its own meaning.
const OPERATORS: [&str; 28] = [
    "and", "or", "xor", "nand", "nor", "xnor", "not", "abs", "=", "/=", "<", "<=", ">", ">=", "+", "-", "*", "/",
    "mod", "rem", "**", "&", "sll", "srl", "sla", "sra", "rol", "ror",
];

/// An expression with its place.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) at: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Int(i64),
    Bit(char),
    Text(String),
    Name(String),
    /// `f(x)`, `v(3)`, `v(7 downto 0)`, `unsigned(x)`: which one only the names tell.
    Call(Box<Expr>, Vec<Arg>),
    /// `v'length`.
    Attribute(Box<Expr>, String),
    /// `r.field`, `work.pack.name`: which one only the names tell.
    Field(Box<Expr>, String),
    /// `unsigned'(x)`.
    Qualified(TypeName, Vec<Arg>),
    /// `(others => '0')`, `(a, b)`; one positional element is a bracketed expression.
    Aggregate(Vec<Arg>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `7 downto 0`; true for downto.
    Range(Box<Expr>, Box<Expr>, bool),
    Open,
}

/// `x`, or `choice | choice => x`; no choices and `others` are told apart.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) choices: Vec<Expr>,
    pub(super) others: bool,
    pub(super) value: Expr,
}

#[derive(Clone, Debug)]
pub(super) struct TypeName {
    pub(super) name: String,
    /// The package that it is in, if it says so.
    pub(super) package: Option<String>,
    pub(super) range: Option<Box<Expr>>,
    pub(super) at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Signal,
    Constant,
    Variable,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) class: Class,
    pub(super) name: String,
    pub(super) ty: TypeName,
    pub(super) value: Option<Expr>,
    pub(super) at: u32,
    /// For ports and parameters: whether it is an output.
    pub(super) output: bool,
    /// For parameters: whether it goes in, too.
    pub(super) both: bool,
    /// For parameters: whether it says that it is a signal.
    pub(super) signal: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Decl {
    Object(Object),
    /// `type t is array (0 to 7) of element`; without a range where each object has its own.
    Array {
        name: String,
        range: Option<Expr>,
        /// Further dimensions.
        more: Vec<Expr>,
        element: TypeName,
    },
    /// `type t is (a, b)`.
    Enum {
        name: String,
        literals: Vec<(String, u32)>,
        at: u32,
    },
    /// `type t is record ... end record`.
    Record {
        name: String,
        fields: Vec<Object>,
        at: u32,
    },
    /// `alias a : t is x`.
    Alias {
        name: String,
        ty: Option<TypeName>,
        of: Expr,
        at: u32,
    },
    /// `use work.p.all`.
    Use(Use),
    Subtype {
        name: String,
        ty: TypeName,
    },
    Function(Function),
    Procedure(Procedure),
    Component(Entity),
    /// `for all : c use entity work.e`: the component's name, the entity's, and where.
    Binding(String, String, u32),
}

/// A package of the file, what is used of it (nothing for all), and where.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) package: String,
    pub(super) name: Option<String>,
    pub(super) at: u32,
}

/// A package, or the body of one.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) body: bool,
    pub(super) uses: Vec<Use>,
    pub(super) decls: Vec<Decl>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) params: Vec<Object>,
    pub(super) result: TypeName,
    pub(super) decls: Vec<Decl>,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub(super) name: String,
    pub(super) params: Vec<Object>,
    pub(super) decls: Vec<Decl>,
    pub(super) body: Vec<Statement>,
    pub(super) at: u32,
}

/// Choices with what they stand for; true for `others`.
pub(super) type Choice<T> = (Vec<Expr>, bool, T);

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Null,
    /// Target, waveform (values under conditions, the last without), whether it is a signal assignment.
    Assign {
        target: Expr,
        values: Vec<(Expr, Option<Expr>)>,
        signal: bool,
        at: u32,
    },
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// `case`, or `case?`, which compares with `-` as anything.
    Case {
        selector: Expr,
        items: Vec<Choice<Vec<Statement>>>,
        matching: bool,
    },
    For {
        label: String,
        var: String,
        range: Expr,
        body: Vec<Statement>,
    },
    /// `while c loop`, or `loop`.
    While {
        label: String,
        cond: Option<Expr>,
        body: Vec<Statement>,
        at: u32,
    },
    /// `exit` (true) or `next`, of a loop by its label, under a condition.
    Leave {
        exit: bool,
        label: Option<String>,
        cond: Option<Expr>,
        at: u32,
    },
    /// A procedure with its arguments.
    Call(Expr),
    /// With a value, or from a procedure.
    Return(Option<Expr>, u32),
    /// `wait until ...`
    Wait(Expr),
}

#[derive(Clone, Debug)]
pub(super) enum Concurrent {
    Assign {
        target: Expr,
        values: Vec<(Expr, Option<Expr>)>,
        at: u32,
    },
    Select {
        selector: Expr,
        target: Expr,
        items: Vec<Choice<Expr>>,
        matching: bool,
        at: u32,
    },
    Process {
        waits: Waits,
        decls: Vec<Decl>,
        body: Vec<Statement>,
        at: u32,
    },
    Instance(Instance),
    For {
        label: String,
        var: String,
        range: Expr,
        decls: Vec<Decl>,
        body: Vec<Concurrent>,
    },
    /// `if ... elsif ... else generate`: each condition with its block.
    If {
        label: String,
        branches: Vec<(Option<Expr>, Block)>,
    },
    /// `case x generate`.
    Case {
        label: String,
        selector: Expr,
        items: Vec<Choice<Block>>,
    },
}

/// The inside of a generate statement: its own label, declarations, statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) label: String,
    pub(super) decls: Vec<Decl>,
    pub(super) body: Vec<Concurrent>,
}

/// What a process waits for.
#[derive(Clone, Debug)]
pub(super) enum Waits {
    /// `process (all)`.
    All,
    List(Vec<Expr>),
    /// No list: it waits by a statement.
    Inside,
}

#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) label: String,
    pub(super) entity: String,
    pub(super) architecture: Option<String>,
    /// Whether it is of an entity rather than of a component.
    pub(super) direct: bool,
    pub(super) generics: Vec<Arg>,
    pub(super) ports: Vec<Arg>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) name: String,
    /// As written.
    pub(super) shown: String,
    pub(super) generics: Vec<Object>,
    pub(super) ports: Vec<Object>,
    pub(super) uses: Vec<Use>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Architecture {
    pub(super) name: String,
    pub(super) entity: String,
    pub(super) uses: Vec<Use>,
    pub(super) decls: Vec<Decl>,
    pub(super) body: Vec<Concurrent>,
}

#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) entities: Vec<Entity>,
    pub(super) architectures: Vec<Architecture>,
    pub(super) packages: Vec<Package>,
    /// Configurations: of an entity the architecture, and where.
    pub(super) configurations: Vec<(String, String, u32)>,
    pub(super) head: Vec<String>,
}

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
    // A context clause is for the unit that follows it.
    let mut uses = Vec::new();
    loop {
        match p.peek() {
            Token::End => return Ok(file),
            Token::Name(n) if n == "library" => p.skip_to_semicolon(),
            Token::Name(n) if n == "use" => p.context(&mut uses)?,
            Token::Name(n) if n == "entity" => file.entities.push(p.entity(std::mem::take(&mut uses))?),
            Token::Name(n) if n == "architecture" => {
                file.architectures.push(p.architecture(std::mem::take(&mut uses))?);
            }
            Token::Name(n) if n == "configuration" => {
                uses.clear();
                file.configurations.push(p.configuration()?);
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

    /// A use clause: other packages than these declare operators of other meaning.
    fn context(&mut self, uses: &mut Vec<Use>) -> Result<()> {
        self.expect("use")?;
        loop {
            let at = self.offset();
            let mut parts = vec![self.name()?];
            while self.accept(".") {
                parts.push(if self.accept("all") { "all".to_owned() } else { self.name()? });
            }
            let known = match &parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["ieee", package, ..] => matches!(*package, "std_logic_1164" | "numeric_std" | "math_real"),
                ["std", ..] => true,
                ["work", package, name] => {
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
        // The sign stands before the first term of a sum.
        let sign = if level == 3 { ["+", "-"].into_iter().find(|s| self.accept(s)) } else { None };
        let mut left = self.binary(level + 1)?;
        if let Some(sign) = sign {
            left = Expr { at, kind: Kind::Unary(sign, Box::new(left)) };
        }
        let mut links = 0;
        let mut last: Option<&str> = None;
        while let Some(op) = LEVELS[level].iter().copied().find(|op| self.is(op)) {
            // Different logical operators need brackets, and relations do not chain.
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
        // Reductions of VHDL-2008.
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

    /// After an opening bracket: arguments, choices and ranges up to the closing one.
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

    /// `a, b : in unsigned(7 downto 0) := x` for ports, generics and parameters.
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

    /// `configuration c of e is for a end for; end;`: a choice of an architecture, with nothing about what is inside.
    fn configuration(&mut self) -> Result<(String, String, u32)> {
        let at = self.offset();
        self.expect("configuration")?;
        self.name()?;
        self.expect("of")?;
        let entity = self.name()?;
        self.expect("is")?;
        self.expect("for")?;
        let architecture = self.name()?;
        if !self.is("end") {
            return self.fail("a configuration of what is inside an architecture: instances of entities say that");
        }
        self.expect("end")?;
        self.expect("for")?;
        self.expect(";")?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok((entity, architecture, at))
    }

    /// `package p is ... end package`, and its body.
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
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Entity { name, shown, generics, ports, uses, at })
    }

    /// Generics and ports of an entity or component.
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
                    "function" | "pure" => {
                        self.accept("pure");
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
                    "for" => {
                        let at = self.offset();
                        self.at += 1;
                        if !self.accept("all") {
                            return self.fail("a configuration of single instances: for all, or instances of entities");
                        }
                        self.expect(":")?;
                        let component = self.name()?;
                        self.expect("use")?;
                        self.expect("entity")?;
                        let mut entity = self.name()?;
                        while self.accept(".") {
                            entity = self.name()?;
                        }
                        self.expect(";")?;
                        if self.accept("end") {
                            self.expect("for")?;
                            self.expect(";")?;
                        }
                        out.push(Decl::Binding(component, entity, at));
                        continue;
                    }
                    "component" => {
                        let at = self.offset();
                        self.at += 1;
                        let name = self.name()?;
                        self.accept("is");
                        let (generics, ports) = self.header()?;
                        self.expect("end")?;
                        self.skip_to_semicolon();
                        let uses = Vec::new();
                        out.push(Decl::Component(Entity { shown: name.clone(), name, generics, ports, uses, at }));
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
            // Without a mode these are no parameters.
            out.extend(objects.into_iter().map(|o| Decl::Object(Object { class, ..o })));
        }
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
        // `natural range <>`, or a range of an index type.
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
            // An operator is called by its symbol in quotes.
            Token::Text(op) => {
                let op = op.to_ascii_lowercase();
                let known = OPERATORS.contains(&op.as_str());
                if !known {
                    return self.fail(format!("{op} is not an operator"));
                }
                self.at += 1;
                format!("\"{op}\"")
            }
            _ => self.name()?,
        };
        let params = if self.is("(") { self.interfaces(Class::Constant)? } else { Vec::new() };
        self.expect("return")?;
        let result = self.type_name()?;
        if self.accept(";") {
            // A declaration; the body comes later.
            return Ok(None);
        }
        self.expect("is")?;
        let decls = self.decls()?;
        self.expect("begin")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Some(Function { name, params, result, decls, body }))
    }

    fn procedure(&mut self) -> Result<Option<Procedure>> {
        let at = self.offset();
        let name = self.name()?;
        let params = if self.is("(") { self.interfaces(Class::Variable)? } else { Vec::new() };
        if self.accept(";") {
            return Ok(None);
        }
        self.expect("is")?;
        let decls = self.decls()?;
        self.expect("begin")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok(Some(Procedure { name, params, decls, body, at }))
    }

    // ---- Concurrent statements

    fn concurrents(&mut self) -> Result<Vec<Concurrent>> {
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

    fn concurrent(&mut self) -> Result<Concurrent> {
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
            // It changes nothing.
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

    fn generated(&mut self) -> Result<(Vec<Decl>, Vec<Concurrent>)> {
        let decls = self.decls()?;
        self.accept("begin");
        let body = self.concurrents()?;
        self.expect("end")?;
        self.skip_to_semicolon();
        Ok((decls, body))
    }

    /// The label of an alternative of a generate statement.
    fn own_label(&mut self) -> Result<String> {
        if !matches!((self.peek(), self.after(1)), (Token::Name(_), Token::Punct(":"))) {
            return Ok(String::new());
        }
        let label = self.name()?;
        self.expect(":")?;
        Ok(label)
    }

    /// The inside of an alternative, up to the next one or the end of all.
    fn alternative(&mut self, label: String) -> Result<Block> {
        let decls = self.decls()?;
        self.accept("begin");
        let mut body = Vec::new();
        loop {
            if ["elsif", "else", "when"].iter().any(|w| self.is(w)) {
                break;
            }
            if self.is("end") {
                // `end;` or `end label;` closes the alternative alone, `end generate` all of them.
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

    /// `with x select y`, or `select?`, after `with`.
    fn selection(&mut self) -> Result<(Expr, bool, Expr)> {
        let selector = self.expr()?;
        self.expect("select")?;
        let matching = self.accept("?");
        Ok((selector, matching, self.target()?))
    }

    /// `a when x, b when others;`
    fn selected(&mut self) -> Result<Vec<Choice<Expr>>> {
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

    fn target(&mut self) -> Result<Expr> {
        if self.is("(") { self.primary() } else { self.named() }
    }

    fn waveform(&mut self) -> Result<Vec<(Expr, Option<Expr>)>> {
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

    fn choices(&mut self) -> Result<(Vec<Expr>, bool)> {
        if self.accept("others") {
            return Ok((Vec::new(), true));
        }
        let mut all = vec![self.range_or_expr()?];
        while self.accept("|") {
            all.push(self.range_or_expr()?);
        }
        Ok((all, false))
    }

    fn process(&mut self, at: u32) -> Result<Concurrent> {
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

    fn statements(&mut self) -> Result<Vec<Statement>> {
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

    fn statement(&mut self) -> Result<Statement> {
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
            // The same as a case of assignments.
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
                return self.fail("the only wait is that until a clock edge");
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

    fn loop_body(&mut self) -> Result<Vec<Statement>> {
        self.expect("loop")?;
        let body = self.statements()?;
        self.expect("end")?;
        self.expect("loop")?;
        self.skip_to_semicolon();
        Ok(body)
    }
}
