//! Parser and code generator of the text format. The generator uses the canonical spelling.
//!
//! Each line has one item and is parsed separately. Columns in messages count characters.

use super::fault::{Fault, Field, Problem, Reason};
use super::hints;
use super::program::{
    Arg, Builder, File, IntType, Limits, Params, PortType, Program, check_mask_lanes, check_width, comparison_name,
    refused,
};
use super::rows::{ROWS, Row, rows_of};
use alir_core::diag::Place;
use num_bigint::BigInt;
use std::fmt::Write as _;

/// Header of the text format, after blank lines and comments.
const HEADER: &str = "llvlir";

/// Largest number of digits of a number; longer numbers are outside of every range.
const MAX_DIGITS: usize = 400;

/// Parses a program in text format.
///
/// # Errors
/// Returns the first problem of the file.
pub fn read(text: &[u8], limits: Limits) -> Result<Program, Problem> {
    let mut reader = Reader { builder: Builder::new(limits), limits, state: State::Header };
    let mut tokens = Vec::new();
    let mut args = Vec::new();
    let mut lines = 0;
    for line in text.split(|byte| *byte == b'\n') {
        lines += 1;
        tokens.clear();
        lex(line, &mut tokens).and_then(|()| reader.line(&tokens, &mut args)).map_err(|stop| stop.at(lines, line))?;
    }
    let end = |reason, message: &str| {
        let place = Place::Line { line: lines, column: 1 };
        Problem { reason, place, message: message.to_owned(), help: None, excerpt: None }
    };
    match reader.state {
        State::Header => {
            let problem = end(Reason::Syntax, "the file has no header");
            Err(Problem { help: Some(format!("a text starts with `{HEADER} 0`")), ..problem })
        }
        _ => reader.builder.finish().map_err(|fault| end(fault.reason, &fault.message)),
    }
}

/// Returns `true` if the bytes begin like the text format: with its header, a comment or an item. No other supported
/// format begins like this; a file that begins with an item is then reported as a file without a header.
pub fn is_text(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let Some(line) = first else { return false };
    let starts = |with: &str| line.starts_with(with.as_bytes());
    let is_register =
        |text: &[u8]| matches!(text, [b'%', b'0'..=b'9', ..] | [b'%', b'x' | b'm' | b'a', b'0'..=b'9', ..]);
    let is_input = line.strip_prefix(b"in ").is_some_and(|text| is_register(text.trim_ascii_start()));
    line[0] == b';' || starts(HEADER) || is_register(line) || is_input || starts("out \"")
}

/// A problem at byte `at` of a line.
struct Stop {
    reason: Reason,
    at: usize,
    message: String,
    help: Option<String>,
}

type Checked<T> = Result<T, Box<Stop>>;

impl Stop {
    fn new(reason: Reason, at: usize, message: impl Into<String>) -> Box<Stop> {
        Box::new(Stop { reason, at, message: message.into(), help: None })
    }

    fn syntax(at: usize, message: impl Into<String>) -> Box<Stop> {
        Stop::new(Reason::Syntax, at, message)
    }

    fn fault(fault: Fault, at: usize) -> Box<Stop> {
        // A delta of the byte format corresponds to a register in the text format.
        let reason = if fault.reason == Reason::Delta { Reason::Register } else { fault.reason };
        Box::new(Stop { help: fault.help, ..*Stop::new(reason, at, fault.message) })
    }

    fn at(self, line_number: u64, line: &[u8]) -> Problem {
        let before = String::from_utf8_lossy(&line[..self.at.min(line.len())]);
        let column = before.chars().count();
        Problem {
            reason: self.reason,
            place: Place::Line { line: line_number, column: column as u64 + 1 },
            message: self.message,
            help: self.help,
            excerpt: Some(excerpt(line_number, &String::from_utf8_lossy(line), column)),
        }
    }
}

/// Returns the line with its number, and a caret below a column; for a long line, the part around the column.
fn excerpt(line_number: u64, line: &str, column: usize) -> String {
    let from = column.saturating_sub(60);
    let part: String = line.chars().skip(from).take(100).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let number = line_number.to_string();
    let gutter = " ".repeat(number.len());
    format!("  {number} | {}\n  {gutter} | {}^", part.trim_end(), " ".repeat(column - from))
}

/// Kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Register(File, u64),
    Word(&'a str),
    Number(&'a str),
    Text(Vec<u8>),
    Data(Vec<u8>),
    Mark(u8),
}

#[derive(Clone, Debug)]
struct Token<'a> {
    kind: Kind<'a>,
    /// Range of bytes in the line: first, and one after the last.
    from: usize,
    to: usize,
}

/// Splits a line into tokens.
fn lex<'a>(line: &'a [u8], tokens: &mut Vec<Token<'a>>) -> Checked<()> {
    match std::str::from_utf8(line) {
        Ok(line) => lex_text(line, tokens),
        Err(error) => {
            let valid = std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default();
            let at = match lex_text(valid, &mut Vec::new()) {
                Err(stop) => stop.at,
                Ok(()) => error.valid_up_to(),
            };
            Err(Stop::syntax(at, "the text is not UTF-8"))
        }
    }
}

fn lex_text<'a>(line: &'a str, tokens: &mut Vec<Token<'a>>) -> Checked<()> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        let run = |from: usize, more: fn(&u8) -> bool| {
            from + bytes[from..].iter().position(|b| !more(b)).unwrap_or(bytes.len() - from)
        };
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        let kind = match bytes[at] {
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b';' => return Ok(()),
            mark @ (b',' | b'=' | b':') => {
                at += 1;
                Kind::Mark(mark)
            }
            b'%' => {
                at = run(at + 1, |b| b.is_ascii_alphanumeric());
                register(&line[from + 1..at], from)?
            }
            b'h' if bytes.get(at + 1) == Some(&b'"') => {
                let end = bytes[at + 2..].iter().position(|b| *b == b'"');
                let end = at + 2 + end.ok_or_else(|| Stop::syntax(from, "data without its closing quote"))?;
                at = end + 1;
                Kind::Data(
                    hex_bytes(&bytes[from + 2..end])
                        .ok_or_else(|| Stop::syntax(from, "data are pairs of hexadecimal digits"))?,
                )
            }
            b'"' => {
                let (text, end) = string(bytes, at).map_err(|message| Stop::syntax(from, message))?;
                at = end;
                Kind::Text(text)
            }
            b'-' | b'0'..=b'9' => {
                at = run(at + 1, |b| b.is_ascii_alphanumeric() || *b == b'_');
                let number = &line[from..at];
                if !is_number(number) {
                    let help = "decimal digits without leading zeros, or 0x and hexadecimal digits";
                    let stop = Stop::syntax(from, "not a number");
                    return Err(Box::new(Stop { help: Some(help.into()), ..*stop }));
                }
                Kind::Number(number)
            }
            b if b.is_ascii_alphabetic() => {
                at = run(at, is_word);
                Kind::Word(&line[from..at])
            }
            _ => {
                let strange = line[at..].chars().next().unwrap_or_default();
                return Err(Stop::syntax(from, format!("{strange:?} has no meaning here")));
            }
        };
        tokens.push(Token { kind, from, to: at });
    }
    Ok(())
}

/// Parses the name of a register, without `%`.
fn register<'a>(name: &str, from: usize) -> Checked<Kind<'a>> {
    let (file, digits) = match name.as_bytes().first() {
        Some(b'x') => (File::X, &name[1..]),
        Some(b'm') => (File::M, &name[1..]),
        Some(b'a') => (File::A, &name[1..]),
        _ => (File::R, name),
    };
    let value = digits_value(digits).ok_or_else(|| {
        let help = "%0 is an integer, %x0 a vector, %m0 a mask, %a0 an address; numbers have no leading zeros";
        Box::new(Stop { help: Some(help.into()), ..*Stop::syntax(from, "not a register") })
    })?;
    Ok(Kind::Register(file, value))
}

/// Returns the number that decimal digits represent, or `u64::MAX` beyond 64 bits; `None` for leading zeros or other
/// characters.
fn digits_value(digits: &str) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_plain || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match digits.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => digits_value(digits).is_some(),
    }
}

/// Returns the value of a number; `None` if it is outside of every range.
fn number_value(text: &str) -> Option<BigInt> {
    if let Ok(small) = text.parse::<i64>() {
        return Some(small.into());
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(hex) => (16, hex.trim_start_matches('0')),
        None => (10, digits),
    };
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let value = if digits.is_empty() { BigInt::ZERO } else { BigInt::parse_bytes(digits.as_bytes(), radix)? };
    Some(if negative { -value } else { value })
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn hex_bytes(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?)).collect()
}

/// Parses the string that starts with the quote at `at`; returns it with the index of the byte after it.
fn string(bytes: &[u8], at: usize) -> Result<(Vec<u8>, usize), &'static str> {
    let mut text = Vec::new();
    let mut at = at + 1;
    loop {
        match bytes.get(at) {
            None => return Err("a string without its closing quote"),
            Some(b'"') => return Ok((text, at + 1)),
            Some(b'\\') => {
                let escaped = match bytes.get(at + 1) {
                    Some(&quote @ (b'"' | b'\\')) => Some((quote, 2)),
                    Some(b'x') => {
                        let digit = |k: usize| bytes.get(at + k).and_then(|b| hex_digit(*b));
                        digit(2).zip(digit(3)).map(|(high, low)| (high << 4 | low, 4))
                    }
                    _ => None,
                };
                let (byte, len) =
                    escaped.ok_or("an unknown escape in a string: \\\", \\\\ and \\x with two digits are known")?;
                text.push(byte);
                at += len;
            }
            Some(&byte) if byte < 0x20 || byte == 0x7f => {
                return Err("a control character in a string: write it as \\x and two digits");
            }
            Some(&byte) => {
                text.push(byte);
                at += 1;
            }
        }
    }
}

/// Section of the file; sections occur in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Header,
    Inputs,
    Operations,
    Outputs,
}

/// Parser of a file.
struct Reader {
    builder: Builder,
    limits: Limits,
    state: State,
}

/// Tokens of a line, and the index of the next token.
struct Line<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
}

impl<'t, 'a> Line<'t, 'a> {
    fn peek(&self) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at)
    }

    /// Returns the index of the byte after the last token.
    fn end(&self) -> usize {
        self.tokens.last().map_or(0, |token| token.to)
    }

    fn next(&mut self, wanted: &str) -> Checked<&'t Token<'a>> {
        let token = self
            .peek()
            .ok_or_else(|| Stop::syntax(self.end(), format!("the line ends too early: {wanted} is missing")))?;
        self.at += 1;
        Ok(token)
    }

    fn mark(&mut self, mark: u8) -> Checked<()> {
        let wanted = format!("`{}`", char::from(mark));
        let token = self.next(&wanted)?;
        if token.kind == Kind::Mark(mark) { Ok(()) } else { Err(expected(token, &wanted)) }
    }

    fn text(&mut self) -> Checked<(&'t [u8], usize)> {
        let token = self.next("a name in quotes")?;
        match &token.kind {
            Kind::Text(text) => Ok((text, token.from)),
            _ => Err(expected(token, "a name in quotes")),
        }
    }

    fn register(&mut self) -> Checked<(File, u64, usize)> {
        let token = self.next("a register")?;
        match token.kind {
            Kind::Register(file, value) => Ok((file, value, token.from)),
            _ => Err(expected(token, "a register")),
        }
    }

    fn done(&self) -> Checked<()> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(Stop::syntax(token.from, "the line should end here")),
        }
    }
}

/// Returns the problem of an unexpected token.
fn expected(token: &Token<'_>, wanted: &str) -> Box<Stop> {
    Stop::syntax(token.from, format!("expected {wanted}"))
}

impl Reader {
    fn line(&mut self, tokens: &[Token<'_>], args: &mut Vec<Arg>) -> Checked<()> {
        let Some(first) = tokens.first() else { return Ok(()) };
        let mut line = Line { tokens, at: 0 };
        let keyword = match first.kind {
            Kind::Word(word) => word,
            _ => "",
        };
        if self.state == State::Header {
            return self.header(&mut line, keyword);
        }
        let (state, message) = match keyword {
            "in" => (State::Inputs, "inputs come before operations and outputs"),
            "out" => (State::Outputs, ""),
            _ => (State::Operations, "operations come before outputs"),
        };
        if self.state > state {
            return Err(Stop::syntax(first.from, message));
        }
        self.state = state;
        match state {
            State::Inputs => self.input(&mut line),
            State::Outputs => self.output(&mut line),
            _ => self.operation(&mut line, args),
        }
    }

    fn header(&mut self, line: &mut Line<'_, '_>, keyword: &str) -> Checked<()> {
        let first = line.next("the header")?;
        if keyword != HEADER {
            let stop = Stop::syntax(first.from, "the file does not start with its header");
            return Err(Box::new(Stop { help: Some(format!("a text starts with `{HEADER} 0`")), ..*stop }));
        }
        let token = line.next("the edition")?;
        match token.kind {
            Kind::Number("0") => {}
            Kind::Number("1") => {
                let message = "edition 1, the later llvlir.md of 2022 and 2023, is not supported";
                return Err(Stop::new(Reason::Edition, token.from, message));
            }
            Kind::Number(_) => return Err(Stop::new(Reason::Edition, token.from, "this edition is not known")),
            _ => return Err(expected(token, "the edition")),
        }
        line.done()?;
        self.state = State::Inputs;
        Ok(())
    }

    fn input(&mut self, line: &mut Line<'_, '_>) -> Checked<()> {
        line.at = 1;
        let (file, value, at) = line.register()?;
        let (name, name_at) = line.text()?;
        line.mark(b':')?;
        let token = line.next("a type")?;
        let Kind::Word(word) = token.kind else { return Err(expected(token, "a type")) };
        let ty = port_type(word, token.from)?;
        line.done()?;
        if ty.file() != file {
            let message = format!("values of type {ty} are in registers {}0, {0}1, ...", ty.file().prefix());
            return Err(Stop::new(Reason::Register, at, message));
        }
        self.check_next(file, value, at)?;
        self.builder.input(name, ty).map_err(|fault| {
            let at = if fault.field == Field::Name { name_at } else { token.from };
            Stop::fault(fault, at)
        })
    }

    /// Checks that a written register has the next free number of its file.
    fn check_next(&self, file: File, value: u64, at: usize) -> Checked<()> {
        let next = self.builder.count(file) as u64;
        if value == next {
            return Ok(());
        }
        Err(Stop::new(Reason::Number, at, format!("the next register is {}{next}", file.prefix())))
    }

    fn output(&mut self, line: &mut Line<'_, '_>) -> Checked<()> {
        line.at = 1;
        let (name, name_at) = line.text()?;
        line.mark(b'=')?;
        let (file, value, at) = line.register()?;
        line.done()?;
        if file == File::A {
            return Err(Stop::new(Reason::Register, at, "an address cannot be an output"));
        }
        let value = self.existing(file, value, at)?;
        self.builder.output(name, file, value).map_err(|fault| {
            let at = if fault.field == Field::Name { name_at } else { at };
            Stop::fault(fault, at)
        })
    }

    /// Checks that a register that is read has been written.
    fn existing(&self, file: File, value: u64, at: usize) -> Checked<u32> {
        if value < self.builder.count(file) as u64 {
            return Ok(value as u32);
        }
        let message = format!("no value {}{value} is defined before", file.prefix());
        Err(Stop::new(Reason::Register, at, message))
    }

    fn operation(&mut self, line: &mut Line<'_, '_>, args: &mut Vec<Arg>) -> Checked<()> {
        let result = match line.tokens[0].kind {
            Kind::Register(file, value) => {
                line.at = 1;
                line.mark(b'=')?;
                Some((file, value))
            }
            _ => None,
        };
        let start = line.tokens[0].from;
        let token = line.next("an operation")?;
        let Kind::Word(word) = token.kind else { return Err(expected(token, "an operation")) };
        let code = lookup(word, token.from)?;
        let row = &ROWS[usize::from(code)];
        if row.is_refused() {
            return Err(Stop::fault(refused(row), token.from));
        }
        if self.builder.operations() as u64 >= self.limits.max_ops {
            let message = format!("more operations than the limit of {}", self.limits.max_ops);
            let stop = Stop::new(Reason::OpLimit, start, message);
            return Err(Box::new(Stop { help: Some("raise --max-ops".into()), ..*stop }));
        }
        self.check_result(row, result, start, token.from)?;
        let mut params_at = [0; 4];
        let params = params(row, word, token.from, &mut params_at)?;
        let mut operands_at = [0; 5];
        args.clear();
        for (k, letter) in row.operands().iter().enumerate() {
            if k > 0 || line.peek().is_none() {
                match line.peek().map(|token| &token.kind) {
                    None => {
                        return Err(helped(
                            Stop::new(Reason::Count, line.end(), needs(row)),
                            hints::for_missing(row, k),
                        ));
                    }
                    Some(Kind::Mark(b',')) => line.at += 1,
                    Some(_) => return Err(expected(&line.tokens[line.at], "`,`")),
                }
            }
            let operand = line.next("an operand")?;
            operands_at[k] = operand.from;
            args.push(self.operand(row, k, *letter, operand)?);
        }
        match line.peek() {
            Some(token) if token.kind == Kind::Mark(b',') => {
                return Err(Stop::new(Reason::Count, token.from, needs(row)));
            }
            _ => line.done()?,
        }
        self.builder.operation(code, params, args).map_err(|fault| {
            let at = match fault.field {
                Field::Param(k) => params_at[k],
                Field::Operand(k) => operands_at[k],
                Field::Row | Field::Name | Field::Value => token.from,
            };
            Stop::fault(fault, at)
        })
    }

    /// Checks that an operation has a result if and only if its row has one, in the right register.
    fn check_result(&self, row: &Row, result: Option<(File, u64)>, at: usize, word_at: usize) -> Checked<()> {
        match (File::from_letter(row.result()), result) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(Stop::syntax(at, format!("{} has no result", row.title()))),
            (Some(file), None) => {
                let next = self.builder.count(file);
                Err(Stop::syntax(word_at, format!("the result is missing: {}{next} = {} ...", file.prefix(), row.name)))
            }
            (Some(file), Some((written, _))) if file != written => {
                let message = format!("the result of {} is a register {}", row.title(), file.prefix());
                Err(Stop::new(Reason::Register, at, message))
            }
            (Some(file), Some((_, value))) => self.check_next(file, value, at),
        }
    }

    fn operand(&self, row: &Row, k: usize, letter: u8, token: &Token<'_>) -> Checked<Arg> {
        let at = token.from;
        if matches!(token.kind, Kind::Mark(_)) {
            return Err(expected(token, "an operand"));
        }
        if let Some(file) = File::from_letter(letter) {
            return match token.kind {
                Kind::Register(written, value) if written == file => self.existing(file, value, at).map(Arg::Value),
                Kind::Register(..) => {
                    let message = format!("{} takes a register {} here", row.title(), file.prefix());
                    Err(Stop::new(Reason::Register, at, message))
                }
                Kind::Number(_) => Err(helped(expected(token, "a register"), hints::for_number(row, k))),
                _ => Err(expected(token, "a register")),
            };
        }
        match (letter, &token.kind) {
            (b'i', Kind::Number(number)) => match number_value(number) {
                Some(value) => Ok(Arg::imm(&value)),
                None => {
                    Err(Stop::new(Reason::Imm, at, "an immediate with this number of digits is outside of every range"))
                }
            },
            (b'i', Kind::Register(..)) => Err(helped(expected(token, "a number"), hints::for_register(row, k))),
            (b'i', _) => Err(expected(token, "a number")),
            (b'c', Kind::Word(word)) => match (0..=15).find(|code| comparison_name(*code) == Some(word)) {
                Some(code) => Ok(Arg::Cmp(code)),
                None => {
                    let help = "fa, eq, lt, le, gt, ge, ne, tr, ltu, leu, gtu, geu";
                    let stop = Stop::new(Reason::Cmp, at, format!("no comparison is called {}", shown(word)));
                    Err(Box::new(Stop { help: Some(help.into()), ..*stop }))
                }
            },
            (b'c', _) => Err(expected(token, "a comparison")),
            (b'o', Kind::Number(number)) => {
                let order = number_value(number).and_then(|value| u8::try_from(&value).ok());
                let above = || Stop::new(Reason::Order, at, "a memory order is 0 to 15");
                order.map(Arg::Order).ok_or_else(above)
            }
            (b'o', _) => Err(expected(token, "a memory order")),
            (b'b', Kind::Data(data)) => Ok(Arg::bytes(data)),
            (b'b', _) => Err(expected(token, "data, h\"...\",")),
            (_, Kind::Text(text)) => Ok(Arg::bytes(text)),
            _ => Err(expected(token, "a string")),
        }
    }
}

fn helped(mut stop: Box<Stop>, help: Option<String>) -> Box<Stop> {
    stop.help = help;
    stop
}

/// Returns a message that lists the operands of a row.
fn needs(row: &Row) -> String {
    let kinds: Vec<&str> = row.operands().iter().map(|letter| hints::kind(*letter)).collect();
    let count = kinds.len();
    format!("{} takes {count} operand{}: {}", row.title(), if count == 1 { "" } else { "s" }, kinds.join(", "))
}

/// Shortens a word for a message.
fn shown(word: &str) -> String {
    const MOST: usize = 40;
    if word.len() <= MOST { word.to_owned() } else { format!("{}...", &word[..MOST]) }
}

/// Returns the row of a word such as `add.i8`: the row whose name and parameters fit.
fn lookup(word: &str, at: usize) -> Checked<u16> {
    let mut candidates: (&[u16], &str) = (&[], "");
    let ends = word.match_indices('.').map(|(end, _)| end).chain([word.len()]);
    for end in ends.take(3) {
        let rows = rows_of(&word[..end]);
        if !rows.is_empty() {
            candidates = (rows, &word[end..]);
        }
    }
    let (rows, rest) = candidates;
    let found = rows.iter().find(|code| has_shape(ROWS[usize::from(**code)].suffix, rest));
    found.copied().ok_or_else(|| {
        if rows.is_empty() {
            let stop = Stop::new(Reason::Op, at, format!("there is no operation {}", shown(word)));
            return helped(stop, hints::for_word(word));
        }
        let stop = Stop::new(Reason::Op, at, format!("the parameters of {} fit no operation", shown(word)));
        helped(stop, Some(hints::spellings(rows)))
    })
}

/// Returns `true` if the parameters in `rest`, each after a dot, have the kinds that the letters of `suffix` require.
fn has_shape(suffix: &str, rest: &str) -> bool {
    let mut params = rest.split('.').skip(1);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = |letter: u8, param: &str| match letter {
        b'I' => param.strip_prefix("iv").or(param.strip_prefix('i')).is_some_and(is_digits),
        b'F' => param.starts_with('f'),
        b'V' => param.strip_prefix('v').is_some_and(is_digits),
        b'L' => matches!(param, "local" | "global"),
        b'N' => is_digits(param),
        letter => param.len() == 1 && param.as_bytes()[0] == letter.to_ascii_lowercase(),
    };
    suffix.bytes().all(|letter| params.next().is_some_and(|param| fits(letter, param))) && params.next().is_none()
}

/// Parses the parameters of a word that fits the row; `places` receives the location of each parameter.
fn params(row: &Row, word: &str, word_at: usize, places: &mut [usize; 4]) -> Checked<Params> {
    let mut params = Params::NONE;
    let mut types = 0;
    let mut at = row.name.len() + 1;
    for (k, letter) in row.suffix.bytes().enumerate() {
        let param = word[at..].split('.').next().unwrap_or_default();
        let place = word_at + at;
        places[k] = place;
        at += param.len() + 1;
        match letter {
            b'I' => {
                params.types[types] = int_type(param, place)?;
                types += 1;
            }
            b'V' => params.lanes = vector_lanes(param, place)?,
            b'L' => params.scope = u8::from(param == "global"),
            b'N' => params.number = digits_value(param).ok_or_else(|| leading_zero(place))?,
            _ => {}
        }
    }
    Ok(params)
}

fn leading_zero(at: usize) -> Box<Stop> {
    Stop::syntax(at, "digits have no leading zeros")
}

fn int_type(param: &str, at: usize) -> Checked<IntType> {
    let (coded, digits) = match param.strip_prefix("iv") {
        Some(digits) => (false, digits),
        None => (true, param.strip_prefix('i').unwrap_or_default()),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Stop::syntax(at, "expected an integer type"));
    }
    let width = digits_value(digits).ok_or_else(|| leading_zero(at))?;
    if coded {
        return match IntType::CODED.iter().find(|coded| u64::from(**coded) == width) {
            Some(width) => Ok(IntType { width: *width, coded }),
            None => {
                let stop = Stop::new(Reason::Type, at, format!("there is no type {param}"));
                let help = format!("i1, i8, i16, i32, i64 and i128 exist, other widths are written iv{width}");
                Err(Box::new(Stop { help: Some(help), ..*stop }))
            }
        };
    }
    check_width(width, Field::Row).map_err(|fault| Stop::fault(fault, at))?;
    Ok(IntType { width: width as u16, coded })
}

fn vector_lanes(param: &str, at: usize) -> Checked<u16> {
    let digits = param.strip_prefix('v').unwrap_or_default();
    match digits_value(digits).ok_or_else(|| leading_zero(at))? {
        lanes @ (2 | 4 | 8 | 16 | 32 | 64 | 128) => Ok(lanes as u16),
        other => {
            let message = format!("{other} lanes; 2, 4, 8, 16, 32, 64 and 128 are possible");
            Err(Stop::new(Reason::Lanes, at, message))
        }
    }
}

fn port_type(word: &str, at: usize) -> Checked<PortType> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(digits) = word.strip_prefix('m').filter(|digits| is_digits(digits)) {
        let lanes = digits_value(digits).ok_or_else(|| leading_zero(at))?;
        check_mask_lanes(lanes, Field::Row).map_err(|fault| Stop::fault(fault, at))?;
        return Ok(PortType::M(lanes as u16));
    }
    if let Some((lanes, ty)) = word.split_once('.')
        && lanes.strip_prefix('v').is_some_and(is_digits)
    {
        let count = vector_lanes(lanes, at)?;
        return Ok(PortType::X(count, int_type(ty, at + lanes.len() + 1)?));
    }
    if word.starts_with('i') {
        return Ok(PortType::R(int_type(word, at)?));
    }
    let stop = Stop::syntax(at, "expected a type");
    Err(Box::new(Stop { help: Some("such as i32, iv12, v4.i8 or m4".into()), ..*stop }))
}

/// Returns a program in text format, in the canonical spelling.
pub fn write(program: &Program) -> String {
    let mut out = format!("{HEADER} 0\n");
    let mut counts = [0u32; 4];
    for input in program.inputs() {
        let file = input.ty.file();
        let number = counts[file as usize];
        counts[file as usize] += 1;
        put(&mut out, format_args!("in {}{number} ", file.prefix()));
        put_string(&mut out, input.name.as_bytes());
        put(&mut out, format_args!(": {}\n", input.ty));
    }
    for op in program.ops() {
        put_operation(&mut out, program, op);
        out.push('\n');
    }
    for output in program.outputs() {
        out.push_str("out ");
        put_string(&mut out, output.name.as_bytes());
        put(&mut out, format_args!(" = {}{}\n", output.file.prefix(), output.value));
    }
    out
}

/// Returns one operation in the canonical spelling.
pub fn operation(program: &Program, op: &super::program::Operation) -> String {
    let mut out = String::new();
    put_operation(&mut out, program, op);
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).unwrap_or_else(|_| unreachable!("writing to a string does not fail"));
}

fn put_operation(out: &mut String, program: &Program, op: &super::program::Operation) {
    let row = op.row();
    if let Some((file, value)) = op.result() {
        put(out, format_args!("{}{value} = ", file.prefix()));
    }
    out.push_str(row.name);
    let params = op.params();
    let mut types = params.types.iter();
    for letter in row.suffix.bytes() {
        out.push('.');
        match letter {
            b'I' => put(out, format_args!("{}", types.next().unwrap_or(&params.types[0]))),
            b'V' => put(out, format_args!("v{}", params.lanes)),
            b'L' => out.push_str(if params.scope == 1 { "global" } else { "local" }),
            b'N' => put(out, format_args!("{}", params.number)),
            other => out.push(char::from(other.to_ascii_lowercase())),
        }
    }
    for (k, (letter, arg)) in row.operands().iter().zip(program.args(op)).enumerate() {
        out.push_str(if k == 0 { " " } else { ", " });
        match arg {
            Arg::Value(value) => {
                let prefix = File::from_letter(*letter).map_or("%", File::prefix);
                put(out, format_args!("{prefix}{value}"));
            }
            Arg::Imm(value) => put(out, format_args!("{value}")),
            Arg::Wide(value) => put(out, format_args!("{value}")),
            Arg::Cmp(code) => out.push_str(comparison_name(*code).unwrap_or_default()),
            Arg::Order(order) => put(out, format_args!("{order}")),
            Arg::Bytes(bytes) if *letter == b'b' => {
                out.push_str("h\"");
                bytes.iter().for_each(|byte| put(out, format_args!("{byte:02x}")));
                out.push('"');
            }
            Arg::Bytes(bytes) => put_string(out, bytes),
        }
    }
}

fn put_string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => put(out, format_args!("\\x{byte:02x}")),
        }
    }
    out.push('"');
}
