//! Parser for the synthesizable subset of Verilog-2001. Constructs outside of the subset are rejected with their
//! position.

mod declarations;
mod expressions;
mod items;
mod statements;

use super::ast::{File, Sym};
use super::lexer::{self, Kind, Token};
use crate::source::error;
use alir_core::diag::Diagnostic;
use rustc_hash::FxHashMap;

/// Maximum nesting depth of brackets, operators and statements, far above that of generated files.
const MAX_DEPTH: u32 = 3000;

type Result<T> = std::result::Result<T, Diagnostic>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    file: File,
    /// Nesting depth of each expression in the arena.
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
        // Strings and numbers are never punctuation, as they start with a quote or digit.
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
        // Keywords were interned first. An escaped name may have the same spelling as a keyword.
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
}
