//! Verilog as alir2hdl writes it for programs: one module of wires, registers that take a value at every clock, tables as
//! functions. Gates are made while the text is read, in its order.
//!
//! What the language standard would extend, truncate or take as signed does not occur there: operands are as wide as
//! what they are for, and everything else is refused. A signal that is used above its driver is refused too, so nothing
//! here can depend on itself.

use crate::Made;
use crate::graph::{Graph, Lit};
use crate::words::{add, all, any, choose, less, multiply, negate, subtract, table};
use std::collections::HashMap;

/// Deepest nesting of an expression.
const DEEPEST: usize = 200;
/// Most bits of a signal.
const WIDEST: usize = 1 << 20;
/// The age of what values of different clocks make: it may be named, for the eyes of a lint tool, and not be used.
const MIXED: u32 = u32::MAX;
/// Most bits of all signals together.
const MOST_BITS: usize = 1 << 26;
/// Most address bits of a table.
const MOST_ADDRESS: usize = 18;

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// A constant with a size: bits, low ones first.
    Bits(Vec<bool>),
    Number(usize),
    Sign(&'a str),
}

/// A text with what is known before it is built.
pub struct Text<'a> {
    tokens: Vec<(Token<'a>, u32)>,
    tables: HashMap<&'a str, Table>,
    /// Name and width of the input and of the output that hold all elements; of the clock the name.
    input: Option<(&'a str, usize)>,
    output: Option<(&'a str, usize)>,
    clock: Option<&'a str>,
    /// Where the items begin.
    body: usize,
}

struct Table {
    address: usize,
    width: usize,
    words: HashMap<usize, Vec<bool>>,
    other: Vec<bool>,
}

/// Bits of an expression, and how many clocks ago the inputs were that they are functions of; nothing for constants.
type Value = (Vec<Lit>, Option<u32>);

type Result<T> = std::result::Result<T, String>;

fn tokens(text: &str) -> Result<Vec<(Token<'_>, u32)>> {
    let mut out = Vec::new();
    for (line, whole) in (1..).zip(text.lines()) {
        let mut rest = whole.split("//").next().unwrap_or("").trim_start();
        if rest.starts_with('`') {
            if rest.starts_with("`default_nettype") || rest.starts_with("`timescale") {
                continue;
            }
            return Err(format!("line {line}: a directive that is not read here"));
        }
        while let Some(first) = rest.chars().next() {
            let length = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (token, taken) = if first.is_ascii_digit() {
                let digits = length(|c| c.is_ascii_digit());
                let size: usize = rest[..digits].parse().map_err(|_| format!("line {line}: a number too large"))?;
                match rest[digits..].strip_prefix('\'') {
                    Some(based) => {
                        let end = based.find(|c| !word(c)).unwrap_or(based.len());
                        let bits = constant(size, &based[..end]).map_err(|why| format!("line {line}: {why}"))?;
                        (Token::Bits(bits), digits + 1 + end)
                    }
                    None => (Token::Number(size), digits),
                }
            } else if first.is_ascii_alphabetic() || first == '_' || first == '$' {
                let end = 1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1);
                (Token::Word(&rest[..end]), end)
            } else {
                let two = ["<=", "==", "!=", ">=", "<<", ">>", "(*", "*)"].into_iter().find(|t| rest.starts_with(*t));
                let end = two.map_or(first.len_utf8(), str::len);
                (Token::Sign(&rest[..end]), end)
            };
            out.push((token, line));
            rest = rest[taken..].trim_start();
        }
    }
    Ok(out)
}

/// A constant of `size` bits, from its base on.
fn constant(size: usize, based: &str) -> Result<Vec<bool>> {
    if size == 0 || size > WIDEST {
        return Err("a constant of that size".into());
    }
    let (base, digits) = based.split_at(based.len().min(1));
    let per_digit = match base {
        "b" => 1,
        "h" => 4,
        "d" => {
            let value: u128 = digits.parse().map_err(|_| "a decimal constant that is not read here")?;
            let bits: Vec<bool> = (0..size).map(|i| i < 128 && value >> i & 1 == 1).collect();
            return if size < 128 && value >> size != 0 {
                Err("a constant too large for its size".into())
            } else {
                Ok(bits)
            };
        }
        _ => return Err("a constant of another base".into()),
    };
    let mut bits = Vec::new();
    for digit in digits.chars().rev().filter(|c| *c != '_') {
        let value = digit.to_digit(1 << per_digit).ok_or("a digit that is none")?;
        bits.extend((0..per_digit).map(|i| value >> i & 1 == 1));
    }
    if digits.is_empty() || bits.iter().skip(size).any(|&bit| bit) {
        return Err("a constant that does not fit its size".into());
    }
    bits.resize(size, false);
    Ok(bits)
}

struct Reader<'t, 'a> {
    text: &'t Text<'a>,
    at: usize,
    depth: usize,
    /// Bits of all signals so far.
    bits: usize,
    signals: HashMap<&'a str, Value>,
    /// Widths of declared registers.
    registers: HashMap<&'a str, usize>,
    output: Vec<Option<Lit>>,
    age: Option<u32>,
}

/// The module, built.
pub struct Built {
    /// Bits of the output.
    pub output: Vec<Lit>,
    /// Clocks from input to output.
    pub latency: u32,
}

impl<'a> Text<'a> {
    /// Reads the ports and tables of a text.
    ///
    /// # Errors
    /// What is not as alir2hdl writes it.
    pub fn read(source: &'a str) -> Result<Text<'a>> {
        let tokens = tokens(source)?;
        if tokens.iter().filter(|t| t.0 == Token::Word("module")).count() != 1 {
            return Err("the text has more than one module, or none".into());
        }
        let mut text = Text { tokens, tables: HashMap::new(), input: None, output: None, clock: None, body: 0 };
        text.ports()?;
        text.tables()?;
        Ok(text)
    }

    /// Bits of the input and of the output.
    pub fn widths(&self) -> (usize, usize) {
        (self.input.map_or(0, |p| p.1), self.output.map_or(0, |p| p.1))
    }

    fn reader(&self, at: usize) -> Reader<'_, 'a> {
        Reader {
            text: self,
            at,
            depth: 0,
            bits: 0,
            signals: HashMap::new(),
            registers: HashMap::new(),
            output: vec![None; self.widths().1],
            age: None,
        }
    }

    fn ports(&mut self) -> Result<()> {
        let start = self.tokens.iter().position(|t| t.0 == Token::Word("module")).unwrap_or(0);
        let (mut input, mut output, mut clock) = (None, None, None);
        let mut r = self.reader(start + 1);
        r.word()?;
        r.expect("(")?;
        loop {
            let direction = r.word()?;
            if r.is_word("wire") {
                r.at += 1;
            }
            let is_vector = r.is_sign("[");
            let width = r.width()?;
            let name = r.word()?;
            let place = match (direction, is_vector) {
                ("input", true) => &mut input,
                ("output", true) => &mut output,
                ("input", false) if clock.is_none() => {
                    clock = Some(name);
                    &mut None
                }
                _ => return r.wrong("a port that is not read here"),
            };
            if place.replace((name, width)).is_some() && is_vector {
                return r.wrong("more than one vector of inputs or outputs");
            }
            if r.is_sign(",") {
                r.at += 1;
            } else {
                break;
            }
        }
        r.expect(")")?;
        r.expect(";")?;
        let body = r.at;
        (self.input, self.output, self.clock, self.body) = (input, output, clock, body);
        Ok(())
    }

    fn tables(&mut self) -> Result<()> {
        let starts: Vec<usize> =
            (0..self.tokens.len()).filter(|&i| self.tokens[i].0 == Token::Word("function")).collect();
        let mut tables = HashMap::new();
        for start in starts {
            let mut r = self.reader(start + 1);
            let (name, table) = r.table()?;
            if tables.insert(name, table).is_some() {
                return r.wrong("two tables of one name");
            }
        }
        self.tables = tables;
        Ok(())
    }

    /// Makes the gates. `made` is told each signal when its bits are there.
    ///
    /// # Errors
    /// What is not as alir2hdl writes it; those of `made`.
    pub fn build(&self, g: &mut Graph, input: &[Lit], made: Made<'_>) -> Result<Built> {
        let mut r = self.reader(self.body);
        if let Some((name, _)) = self.input {
            r.signals.insert(name, (input.to_vec(), Some(0)));
        }
        r.items(g, made)?;
        let output: Option<Vec<Lit>> = r.output.iter().copied().collect();
        let output = output.ok_or("a bit of the output has no driver")?;
        Ok(Built { output, latency: r.age.unwrap_or(0) })
    }
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.text.tokens.get(self.at).map(|t| &t.0)
    }

    fn wrong<T>(&self, what: &str) -> Result<T> {
        let line = self.text.tokens.get(self.at.min(self.text.tokens.len().saturating_sub(1))).map_or(0, |t| t.1);
        Err(format!("line {line}: {what}"))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if *w == word)
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if !self.is_sign(sign) && !self.is_word(sign) {
            return self.wrong(&format!("expected {sign:?}"));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> Result<&'a str> {
        let Some(Token::Word(word)) = self.peek() else { return self.wrong("expected a name") };
        let word = *word;
        self.at += 1;
        Ok(word)
    }

    fn number(&mut self) -> Result<usize> {
        let Some(&Token::Number(number)) = self.peek() else { return self.wrong("expected a number") };
        self.at += 1;
        Ok(number)
    }

    fn bits(&mut self) -> Result<Vec<bool>> {
        let Some(Token::Bits(bits)) = self.peek() else { return self.wrong("expected a constant with its size") };
        let bits = bits.clone();
        self.at += 1;
        Ok(bits)
    }

    /// `[high:0]`, or nothing for one bit.
    fn width(&mut self) -> Result<usize> {
        if !self.is_sign("[") {
            return Ok(1);
        }
        self.at += 1;
        let high = self.number()?;
        self.expect(":")?;
        if self.number()? != 0 || high >= WIDEST {
            return self.wrong("a range that is not read here");
        }
        self.expect("]")?;
        Ok(high + 1)
    }

    fn table(&mut self) -> Result<(&'a str, Table)> {
        if self.is_word("automatic") {
            self.at += 1;
        }
        let width = self.width()?;
        let name = self.word()?;
        self.expect(";")?;
        self.expect("input")?;
        let address = self.width()?;
        let operand = self.word()?;
        self.expect(";")?;
        self.expect("case")?;
        self.expect("(")?;
        self.expect(operand)?;
        self.expect(")")?;
        let mut table = Table { address, width, words: HashMap::new(), other: Vec::new() };
        if address > MOST_ADDRESS || width > 64 {
            return self.wrong("a table with more addresses or wider words than are read here");
        }
        while !self.is_word("default") {
            let mut places = vec![self.bits()?];
            while self.is_sign(",") {
                self.at += 1;
                places.push(self.bits()?);
            }
            self.expect(":")?;
            let word = self.entry(name, width)?;
            for place in places {
                if place.len() != address {
                    return self.wrong("an address of another width");
                }
                let index = place.iter().rev().fold(0, |n, &bit| n << 1 | usize::from(bit));
                // The first of several counts.
                table.words.entry(index).or_insert_with(|| word.clone());
            }
        }
        self.at += 1;
        self.expect(":")?;
        table.other = self.entry(name, width)?;
        self.expect("endcase")?;
        self.expect("endfunction")?;
        Ok((name, table))
    }

    fn entry(&mut self, name: &str, width: usize) -> Result<Vec<bool>> {
        self.expect(name)?;
        self.expect("=")?;
        let word = self.bits()?;
        if word.len() != width {
            return self.wrong("a word of another width");
        }
        self.expect(";")?;
        Ok(word)
    }

    fn items(&mut self, g: &mut Graph, made: Made<'_>) -> Result<()> {
        let mut count = 0;
        loop {
            let start = self.at;
            if self.is_sign("(*") {
                while !self.is_sign("*)") {
                    if self.peek().is_none() {
                        return self.wrong("an attribute that never ends");
                    }
                    self.at += 1;
                }
                self.at += 1;
                continue;
            }
            match self.word()? {
                "endmodule" => break,
                "wire" => {
                    let width = self.width()?;
                    let name = self.word()?;
                    self.expect("=")?;
                    let value = self.expression(g, 0)?;
                    self.expect(";")?;
                    self.define(name, width, value)?;
                    made(g, count, &self.signals[name].0)?;
                    count += 1;
                }
                "reg" => {
                    let width = self.width()?;
                    let name = self.word()?;
                    self.expect(";")?;
                    if self.registers.insert(name, width).is_some() {
                        return self.wrong("a register that is declared twice");
                    }
                }
                "always" => self.clocked(g)?,
                "assign" => self.assignment(g)?,
                "function" => {
                    while !self.is_word("endfunction") {
                        self.at += 1;
                    }
                    self.at += 1;
                }
                _ => {
                    self.at = start;
                    return self.wrong("an item that is not read here");
                }
            }
        }
        match self.at == self.text.tokens.len() {
            true => Ok(()),
            false => self.wrong("something behind the module"),
        }
    }

    fn define(&mut self, name: &'a str, width: usize, value: Value) -> Result<()> {
        if value.0.len() != width {
            return self.wrong(&format!("{name} has {width} bits, its driver {}", value.0.len()));
        }
        self.bits += width;
        if self.bits > MOST_BITS {
            return self.wrong("more bits of signals than are read here");
        }
        let is_port = [self.text.output.map(|p| p.0), self.text.clock].contains(&Some(name));
        if is_port || self.signals.insert(name, value).is_some() {
            return self.wrong(&format!("{name} has two drivers"));
        }
        Ok(())
    }

    /// `always @(posedge clk) begin a <= b; ... end`: each register takes its value at every clock.
    fn clocked(&mut self, g: &mut Graph) -> Result<()> {
        for sign in ["@", "(", "posedge"] {
            self.expect(sign)?;
        }
        let Some(clock) = self.text.clock else { return self.wrong("a clock that is no input") };
        for sign in [clock, ")", "begin"] {
            self.expect(sign)?;
        }
        // Registers of one block see one another as they were: none of them is there before its end.
        let mut new = Vec::new();
        while !self.is_word("end") {
            let name = self.word()?;
            let Some(width) = self.registers.remove(name) else {
                return self.wrong("something else than a register that takes a value at every clock");
            };
            self.expect("<=")?;
            let (bits, age) = self.expression(g, 0)?;
            self.expect(";")?;
            new.push((name, width, (bits, age.map(|age| age.saturating_add(1)))));
        }
        self.at += 1;
        new.into_iter().try_for_each(|(name, width, value)| self.define(name, width, value))
    }

    fn assignment(&mut self, g: &mut Graph) -> Result<()> {
        let name = self.word()?;
        let Some((_, width)) = self.text.output.filter(|port| port.0 == name) else {
            return self.wrong("an assignment to something else than the output");
        };
        let (high, low) = if self.is_sign("[") { self.range()? } else { (width - 1, 0) };
        self.expect("=")?;
        let (bits, age) = self.expression(g, 0)?;
        self.expect(";")?;
        if high < low || high >= width || bits.len() != high - low + 1 {
            return self.wrong("bits of the output that do not fit their driver");
        }
        self.age = self.same_age(self.age, age);
        if self.age == Some(MIXED) {
            return self.wrong("outputs of different clocks");
        }
        for (slot, bit) in self.output[low..=high].iter_mut().zip(bits) {
            if slot.replace(bit).is_some() {
                return self.wrong("a bit of the output with two drivers");
            }
        }
        Ok(())
    }

    /// `[high:low]` or `[bit]`.
    fn range(&mut self) -> Result<(usize, usize)> {
        self.expect("[")?;
        let high = self.number()?;
        let low = if self.is_sign(":") {
            self.at += 1;
            self.number()?
        } else {
            high
        };
        self.expect("]")?;
        Ok((high, low))
    }

    fn same_age(&self, a: Option<u32>, b: Option<u32>) -> Option<u32> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(MIXED),
            (a, b) => a.or(b),
        }
    }

    /// Whether these tokens are `$signed(...)` as a whole; nothing if it stands somewhere within.
    fn signed(&self, start: usize, end: usize) -> Option<bool> {
        let tokens = &self.text.tokens[start..end];
        let is_word = |t: &(Token<'_>, u32)| t.0 == Token::Word("$signed");
        match tokens.iter().filter(|t| is_word(t)).count() {
            0 => Some(false),
            1 if tokens.first().is_some_and(is_word) => {
                let mut depth = 0;
                let closing = tokens.iter().position(|t| {
                    depth += i32::from(t.0 == Token::Sign("(")) - i32::from(t.0 == Token::Sign(")"));
                    t.0 == Token::Sign(")") && depth == 0
                });
                (closing == Some(tokens.len() - 1)).then_some(true)
            }
            _ => None,
        }
    }

    /// An expression whose operators bind at least as strongly as `least`.
    fn expression(&mut self, g: &mut Graph, least: u32) -> Result<Value> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.wrong("an expression too deep");
        }
        let start = self.at;
        let mut left = self.unary(g)?;
        while let Some(&Token::Sign(sign)) = self.peek() {
            let strength = match sign {
                "?" => 1,
                "|" => 2,
                "^" => 3,
                "&" => 4,
                "==" | "!=" => 5,
                "<" | ">" | "<=" | ">=" => 6,
                "+" | "-" => 7,
                "*" => 8,
                _ => break,
            };
            if strength < least || (strength == 1 && least > 1) {
                break;
            }
            let operator = self.at;
            self.at += 1;
            if sign == "?" {
                let yes = self.expression(g, 1)?;
                self.expect(":")?;
                let no = self.expression(g, 1)?;
                if left.0.len() != 1 || yes.0.len() != no.0.len() {
                    return self.wrong("a choice of other widths");
                }
                let age = self.same_age(left.1, yes.1);
                left = (choose(g, left.0[0], &yes.0, &no.0), self.same_age(age, no.1));
                continue;
            }
            let right = self.expression(g, strength + 1)?;
            if left.0.len() != right.0.len() {
                return self.wrong(&format!("operands of {} and {} bits", left.0.len(), right.0.len()));
            }
            let age = self.same_age(left.1, right.1);
            let (a, b) = (&left.0, &right.0);
            let pairs = a.iter().copied().zip(b.iter().copied());
            let bits = match sign {
                "|" => pairs.map(|(x, y)| g.or(x, y)).collect(),
                "^" => pairs.map(|(x, y)| g.xor(x, y)).collect(),
                "&" => pairs.map(|(x, y)| g.and(x, y)).collect(),
                "+" => add(g, a, b, Lit::FALSE),
                "-" => subtract(g, a, b),
                "*" => multiply(g, a, b),
                "<" | ">" | "<=" | ">=" => {
                    // Signed if both sides are wholly: then the top bits weigh the other way round.
                    let sides = [self.signed(start, operator), self.signed(operator + 1, self.at)];
                    let is_signed = match sides {
                        [Some(a), Some(b)] if a == b => a,
                        _ => return self.wrong("a comparison of signed and other numbers"),
                    };
                    let (low, high) = if sign.starts_with('<') == (sign.len() == 1) { (a, b) } else { (b, a) };
                    vec![less(g, low, high, is_signed).flipped(sign.len() == 2)]
                }
                _ => {
                    let different: Vec<Lit> = pairs.map(|(x, y)| g.xor(x, y)).collect();
                    vec![any(g, &different).flipped(sign == "==")]
                }
            };
            left = (bits, age);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self, g: &mut Graph) -> Result<Value> {
        let Some(Token::Sign(sign)) = self.peek() else { return self.primary(g) };
        let sign = *sign;
        if !["-", "~", "|", "&", "^"].contains(&sign) {
            return self.primary(g);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.wrong("an expression too deep");
        }
        self.at += 1;
        let (bits, age) = self.unary(g)?;
        self.depth -= 1;
        let bits = match sign {
            "-" => negate(g, &bits),
            "~" => bits.iter().map(|&bit| !bit).collect(),
            "|" => vec![any(g, &bits)],
            "&" => vec![all(g, &bits)],
            _ => vec![bits.iter().fold(Lit::FALSE, |sum, &bit| g.xor(sum, bit))],
        };
        Ok((bits, age))
    }

    fn primary(&mut self, g: &mut Graph) -> Result<Value> {
        match self.peek() {
            Some(Token::Bits(_)) => Ok((self.bits()?.into_iter().map(Lit::constant).collect(), None)),
            Some(Token::Sign("(")) => {
                self.at += 1;
                let value = self.expression(g, 0)?;
                self.expect(")")?;
                Ok(value)
            }
            Some(Token::Sign("{")) => self.concatenation(g),
            Some(Token::Word("$signed")) => {
                // Only where both operands of a product of their own width have it: there it changes nothing.
                self.at += 1;
                self.expect("(")?;
                let value = self.expression(g, 0)?;
                self.expect(")")?;
                Ok(value)
            }
            Some(Token::Word(name)) => {
                let name = *name;
                self.at += 1;
                if let Some(words) = self.text.tables.get(name) {
                    self.expect("(")?;
                    let (address, age) = self.expression(g, 0)?;
                    self.expect(")")?;
                    if address.len() != words.address {
                        return self.wrong("an address of another width");
                    }
                    let bits =
                        table(g, &address, words.width, |i, bit| words.words.get(&i).unwrap_or(&words.other)[bit]);
                    return Ok((bits, age));
                }
                let Some((bits, age)) = self.signals.get(name).cloned() else {
                    return self.wrong(&format!("{name} is used before it is driven"));
                };
                if age == Some(MIXED) {
                    return self.wrong("values of different clocks meet");
                }
                if !self.is_sign("[") {
                    return Ok((bits, age));
                }
                let (high, low) = self.range()?;
                if high < low || high >= bits.len() {
                    return self.wrong("bits that are not there");
                }
                Ok((bits[low..=high].to_vec(), age))
            }
            _ => self.wrong("an expression that is not read here"),
        }
    }

    /// `{a, b}` or `{3{a}}`.
    fn concatenation(&mut self, g: &mut Graph) -> Result<Value> {
        self.expect("{")?;
        if let Some(&Token::Number(count)) = self.peek() {
            self.at += 1;
            let (bits, age) = self.concatenation(g)?;
            self.expect("}")?;
            if count == 0 || count.saturating_mul(bits.len()) > WIDEST {
                return self.wrong("a repetition that is not read here");
            }
            return Ok((bits.repeat(count), age));
        }
        let mut parts = Vec::new();
        let mut age = None;
        loop {
            let (bits, own) = self.expression(g, 0)?;
            age = self.same_age(age, own);
            parts.push(bits);
            if !self.is_sign(",") {
                break;
            }
            self.at += 1;
        }
        self.expect("}")?;
        Ok((parts.into_iter().rev().flatten().collect(), age))
    }
}
