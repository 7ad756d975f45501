//! What texts as alir2hdl writes them for programs have in common in Verilog and VHDL: one module of wires, registers
//! of one clock, tables. Gates are made while the text is read, in its order.
//!
//! What the language standards would extend, truncate or take as signed does not occur there: operands are as wide as
//! what they are for, and everything else is refused. A signal that is used above its driver is refused too, so nothing
//! here can depend on itself.

use crate::Made;
use crate::graph::{Graph, Lit};
use crate::words::{add, choose, less, multiply, resize, subtract, table};
use num_bigint::BigUint;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Deepest nesting of an expression.
const DEEPEST: usize = 200;
/// Most bits of a signal.
pub(crate) const WIDEST: usize = 1 << 20;
/// The age of what values of different clocks make: it may be named, for the eyes of a lint tool, and not be used.
const MIXED: u32 = u32::MAX;
/// Most bits of all signals together.
const MOST_BITS: usize = 1 << 26;
/// Most address bits of a table, and bits of its words.
const MOST_ADDRESS: usize = 18;
const MOST_WORD: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    /// A constant with a size: bits, low ones first.
    Bits(Vec<bool>),
    Number(usize),
    Sign(&'a str),
}

/// A text with what is known before it is built.
pub struct Text<'a> {
    pub(crate) tokens: Vec<(Token<'a>, u32)>,
    pub(crate) is_vhdl: bool,
    /// Names that are taken before the body begins.
    pub(crate) names: HashSet<&'a str>,
    /// Tables that stand behind what reads them.
    pub(crate) tables: HashMap<&'a str, Rc<Table>>,
    ports: Ports<'a>,
    /// Where the items begin.
    pub(crate) body: usize,
}

/// Names and widths.
#[derive(Default)]
struct Ports<'a> {
    inputs: Vec<(&'a str, usize)>,
    outputs: Vec<(&'a str, usize)>,
    /// Inputs of one bit that are no vectors.
    controls: Vec<&'a str>,
    /// An output that is no vector.
    valid: Option<&'a str>,
}

/// The words of all addresses.
pub(crate) struct Table {
    pub(crate) address: usize,
    pub(crate) width: usize,
    pub(crate) words: Vec<u64>,
}

/// Bits of an expression, how many clocks ago the inputs were that they are functions of (nothing for constants), and
/// whether the language takes it as signed.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) bits: Vec<Lit>,
    pub(crate) age: Option<u32>,
    pub(crate) signed: bool,
}

impl Value {
    /// Other bits of the same clock.
    pub(crate) fn with(&self, bits: Vec<Lit>) -> Value {
        Value { bits, ..*self }
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Operator {
    Or,
    Xor,
    And,
    Less,
    Add,
    Sub,
    Mul,
    /// The left one above the right one.
    Join,
    Choose,
}

/// What an input of one bit is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role {
    Clock,
    Reset,
    Enable,
    Valid,
}

/// Names that can be nothing else. Those of resets that act when low end in `n`.
const USUAL: [(Role, &[&str]); 4] = [
    (Role::Clock, &["clk", "ap_clk", "clock"]),
    (Role::Reset, &["rst", "reset", "ap_rst", "areset", "rst_n", "reset_n", "aresetn", "ap_rst_n"]),
    (Role::Enable, &["ce", "en", "enable", "clk_en", "ap_ce"]),
    (Role::Valid, &["valid_in", "in_valid", "ap_start"]),
];

/// Words of a table by their addresses.
pub(crate) type Words = HashMap<u64, u64>;

/// Bits of a name, the highest first.
type Range = Option<(usize, usize)>;

/// Values for names.
pub(crate) type Statements<'a> = Vec<(&'a str, Value)>;

/// A level of an input, and whether it acts without the clock.
type Level = (bool, bool);

/// Registers, and when they take their values.
pub(crate) struct Process<'a> {
    pub(crate) clock: &'a str,
    /// The reset, its level, whether it waits for no clock, and what registers are then.
    pub(crate) reset: Option<(&'a str, Level, Statements<'a>)>,
    /// The enable, and its level.
    pub(crate) enable: Option<(&'a str, bool)>,
    pub(crate) next: Statements<'a>,
}

pub(crate) type Result<T> = std::result::Result<T, String>;

fn tokens(text: &str, is_vhdl: bool) -> Result<Vec<(Token<'_>, u32)>> {
    let mut out = Vec::new();
    let mut spellings: HashMap<String, &str> = HashMap::new();
    let signs: &[&str] = match is_vhdl {
        true => &["<=", ":=", "=>", "/=", ">=", "**", "<>"],
        false => &["<=", "==", "!=", ">=", "<<", ">>", "(*", "*)"],
    };
    let mut is_attribute = false;
    for (line, whole) in (1..).zip(text.lines()) {
        let wrong = |why: &str| format!("line {line}: {why}");
        let mut rest = whole.trim_start();
        if ["`default_nettype none", "`default_nettype wire"].contains(&rest.trim_end()) && !is_vhdl {
            continue;
        }
        while let Some(first) = rest.chars().next().filter(|_| !rest.starts_with(if is_vhdl { "--" } else { "//" })) {
            let length = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_bit = |c: char| c == '0' || c == '1';
            let (token, taken) = if first.is_ascii_digit() {
                let digits = length(|c| c.is_ascii_digit());
                let size: usize = rest[..digits].parse().map_err(|_| wrong("a number too large"))?;
                match rest[digits..].strip_prefix('\'').filter(|_| !is_vhdl) {
                    Some(based) => {
                        let end = based.find(|c| !word(c)).unwrap_or(based.len());
                        (Token::Bits(constant(size, &based[..end]).map_err(|why| wrong(&why))?), digits + 1 + end)
                    }
                    None => (Token::Number(size), digits),
                }
            } else if word(first) || first == '$' {
                let end = 1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1);
                if is_vhdl && *spellings.entry(rest[..end].to_ascii_lowercase()).or_insert(&rest[..end]) != &rest[..end]
                {
                    return Err(wrong("a name in two spellings"));
                }
                (Token::Word(&rest[..end]), end)
            } else if first == '"' {
                let end = 1 + rest[1..].find('"').ok_or_else(|| wrong("a string without its end"))?;
                let is_bits = is_vhdl && end > 1 && rest[1..end].chars().all(is_bit);
                let bits = rest[1..end].chars().rev().map(|c| c == '1');
                (if is_bits { Token::Bits(bits.collect()) } else { Token::Sign(&rest[..=end]) }, end + 1)
            } else if is_vhdl && (rest.starts_with("'0'") || rest.starts_with("'1'")) {
                (Token::Bits(vec![rest.starts_with("'1'")]), 3)
            } else {
                let two = signs.iter().find(|t| rest.starts_with(**t));
                let end = two.map_or(first.len_utf8(), |t| t.len());
                (Token::Sign(&rest[..end]), end)
            };
            // Attributes say nothing about values.
            let (opens, closes) = (token == Token::Sign("(*"), token == Token::Sign("*)"));
            if is_attribute && (opens || token == Token::Sign(";")) {
                return Err(wrong("an attribute that never ends"));
            }
            if !is_attribute && !opens {
                out.push((token, line));
            }
            is_attribute = opens || (is_attribute && !closes);
            rest = rest[taken..].trim_start();
        }
    }
    Ok(out)
}

/// A constant of Verilog of `size` bits, from its base on.
fn constant(size: usize, based: &str) -> Result<Vec<bool>> {
    let (base, digits) = based.split_at(based.len().min(1));
    let radix = [("b", 2), ("d", 10), ("h", 16)].into_iter().find(|known| known.0 == base);
    let (_, radix) = radix.ok_or("a constant of another base")?;
    let value = BigUint::parse_bytes(digits.as_bytes(), radix).ok_or("a constant without a value")?;
    if size == 0 || size > WIDEST || value.bits() > size as u64 {
        return Err("a constant that does not fit its size".into());
    }
    Ok((0..size as u64).map(|i| value.bit(i)).collect())
}

/// The number of these bits.
pub(crate) fn number_of(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, &bit| n << 1 | u64::from(bit))
}

pub(crate) struct Reader<'t, 'a> {
    pub(crate) text: &'t Text<'a>,
    pub(crate) at: usize,
    depth: usize,
    /// Bits of all signals so far, and how many were driven.
    bits: usize,
    count: usize,
    names: HashSet<&'a str>,
    pub(crate) tables: HashMap<&'a str, Rc<Table>>,
    signals: HashMap<&'a str, Value>,
    /// Widths of what is declared and has no driver yet.
    declared: HashMap<&'a str, usize>,
    outputs: Vec<Vec<Option<Lit>>>,
    /// The valid flags of inputs and outputs.
    flags: (Option<Lit>, Option<Lit>),
    age: Option<u32>,
    roles: HashMap<Role, (&'a str, Level)>,
    /// Whether registers wait for the enable: all of them or none.
    is_enabled: Option<bool>,
}

/// The module, built.
pub struct Built {
    /// Bits of each output element.
    pub outputs: Vec<Vec<Lit>>,
    /// The valid flag of the inputs and that of the outputs, which is to be the same.
    pub flags: Option<(Lit, Lit)>,
    /// What a proof says of it: clocks from input to output, which clocks count.
    pub statement: String,
}

/// The port of each element, and its lowest bit there: one port for all, or each its own by the number at the end of its
/// name.
fn places(ports: &[(&str, usize)], widths: &[usize]) -> Result<Vec<(usize, usize)>> {
    let total: usize = widths.iter().sum();
    if ports.len() == 1 && ports[0].1 == total {
        let below = |i: usize| widths[..i].iter().sum();
        return Ok((0..widths.len()).map(|i| (0, below(i))).collect());
    }
    let number = |name: &str| name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok();
    let of = |i: usize| ports.iter().position(|port| number(port.0) == Some(i) && port.1 == widths[i]);
    let found: Vec<Option<usize>> = (0..widths.len()).map(|i| if widths[i] == 0 { None } else { of(i) }).collect();
    let own: HashSet<usize> = found.iter().flatten().copied().collect();
    let needed = widths.iter().filter(|&&width| width > 0).count();
    if own.len() != needed || needed != ports.len() {
        return Err(format!("ports of the text do not fit the {total} bits of the model's ports"));
    }
    Ok(found.into_iter().map(|port| (port.unwrap_or(0), 0)).collect())
}

impl<'a> Text<'a> {
    /// Reads the ports and tables of a text.
    ///
    /// # Errors
    /// What is not as alir2hdl writes it.
    pub fn read(source: &'a str) -> Result<Text<'a>> {
        let is_vhdl = source.lines().any(|line| line.trim() == "library ieee;");
        let tokens = tokens(source, is_vhdl)?;
        let module = Token::Word(if is_vhdl { "architecture" } else { "module" });
        if tokens.iter().filter(|t| t.0 == module).count() != if is_vhdl { 2 } else { 1 } {
            return Err("the text has more than one module, or none".into());
        }
        let (names, tables) = (HashSet::new(), HashMap::new());
        let mut text = Text { tokens, is_vhdl, names, tables, ports: Ports::default(), body: 0 };
        if is_vhdl { text.read_entity() } else { text.read_module() }?;
        Ok(text)
    }

    /// Adds a port.
    pub(crate) fn port(&mut self, is_input: bool, is_vector: bool, name: &'a str, width: usize) -> Result<()> {
        if !self.names.insert(name) {
            return Err(format!("two ports with the name {name}"));
        }
        match (is_input, is_vector) {
            (true, true) => self.ports.inputs.push((name, width)),
            (false, true) => self.ports.outputs.push((name, width)),
            (true, false) => self.ports.controls.push(name),
            (false, false) if self.ports.valid.is_none() => self.ports.valid = Some(name),
            _ => return Err(format!("{name}: a port that is not read here")),
        }
        Ok(())
    }

    pub(crate) fn reader(&self, at: usize) -> Reader<'_, 'a> {
        Reader {
            text: self,
            at,
            depth: 0,
            bits: 0,
            count: 0,
            names: self.names.clone(),
            tables: self.tables.clone(),
            signals: HashMap::new(),
            declared: HashMap::new(),
            outputs: self.ports.outputs.iter().map(|port| vec![None; port.1]).collect(),
            flags: (None, None),
            age: None,
            roles: HashMap::new(),
            is_enabled: None,
        }
    }

    /// Makes the gates, for elements of inputs, and of outputs with these widths. `made` is told each signal when its bits
    /// are there.
    ///
    /// # Errors
    /// What is not as alir2hdl writes it, or does not fit the widths; those of `made`.
    pub fn build(&self, g: &mut Graph, inputs: &[Vec<Lit>], widths: &[usize], made: Made<'_>) -> Result<Built> {
        let mut r = self.reader(self.body);
        let own: Vec<usize> = inputs.iter().map(Vec::len).collect();
        let mut bits: Vec<Vec<Lit>> = self.ports.inputs.iter().map(|port| vec![Lit::FALSE; port.1]).collect();
        for (element, (port, low)) in inputs.iter().zip(places(&self.ports.inputs, &own)?) {
            if !element.is_empty() {
                bits[port][low..low + element.len()].copy_from_slice(element);
            }
        }
        for (port, bits) in self.ports.inputs.iter().zip(bits) {
            r.signals.insert(port.0, Value { bits, age: Some(0), signed: false });
        }
        let places = places(&self.ports.outputs, widths)?;
        if self.is_vhdl { r.architecture(g, made) } else { r.module(g, made) }?;
        if r.at != self.tokens.len() {
            return r.wrong("something behind the module");
        }
        let element = |(&width, (port, low)): (&usize, (usize, usize))| match width {
            0 => Some(Vec::new()),
            _ => r.outputs[port][low..low + width].iter().copied().collect(),
        };
        let outputs: Option<Vec<Vec<Lit>>> = widths.iter().zip(places).map(element).collect();
        let outputs = outputs.ok_or("a bit of the output has no driver")?;
        let flags = match r.flags {
            (Some(of_inputs), Some(of_outputs)) => Some((of_inputs, of_outputs)),
            (None, None) if self.ports.valid.is_none() => None,
            _ => return Err("one of two valid flags is missing".into()),
        };
        Ok(Built { outputs, flags, statement: r.statement() })
    }
}

impl<'a> Reader<'_, 'a> {
    /// What is proved.
    fn statement(&self) -> String {
        let mut out = match self.age.unwrap_or(0) {
            0 => "combinational".to_owned(),
            age => format!("after {age} clocks"),
        };
        if let Some((name, _)) = self.roles.get(&Role::Enable) {
            out += &format!(" in which {name} is 1");
        }
        if let Some((name, (high, _))) = self.roles.get(&Role::Reset) {
            out += &format!(" since {name} was last {}", u8::from(*high));
        }
        out + ", for every input"
    }

    pub(crate) fn peek(&self) -> Option<&Token<'a>> {
        self.text.tokens.get(self.at).map(|t| &t.0)
    }

    pub(crate) fn wrong<T>(&self, what: &str) -> Result<T> {
        let line = self.text.tokens.get(self.at.min(self.text.tokens.len().saturating_sub(1))).map_or(0, |t| t.1);
        Err(format!("line {line}: {what}"))
    }

    pub(crate) fn is(&self, what: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w) | Token::Sign(w)) if *w == what)
    }

    /// Goes over a word or sign if it is there.
    pub(crate) fn eat(&mut self, what: &str) -> bool {
        let is = self.is(what);
        self.at += usize::from(is);
        is
    }

    /// Goes over words and signs, between blanks.
    pub(crate) fn expect(&mut self, what: &str) -> Result<()> {
        what.split(' ')
            .try_for_each(|one| if self.eat(one) { Ok(()) } else { self.wrong(&format!("expected {one:?}")) })
    }

    pub(crate) fn word(&mut self) -> Result<&'a str> {
        let Some(Token::Word(word)) = self.peek() else { return self.wrong("expected a name") };
        let word = *word;
        self.at += 1;
        Ok(word)
    }

    pub(crate) fn number(&mut self) -> Result<usize> {
        let Some(&Token::Number(number)) = self.peek() else { return self.wrong("expected a number") };
        self.at += 1;
        Ok(number)
    }

    pub(crate) fn bits(&mut self) -> Result<Vec<bool>> {
        let Some(Token::Bits(bits)) = self.peek() else { return self.wrong("expected a constant with its size") };
        let bits = bits.clone();
        self.at += 1;
        Ok(bits)
    }

    /// What stands around the numbers of bits.
    fn brackets(&self) -> [&'static str; 3] {
        if self.text.is_vhdl { ["(", "downto", ")"] } else { ["[", ":", "]"] }
    }

    /// `[high:low]` or `[bit]`, `(high downto low)` or `(bit)`.
    fn range(&mut self) -> Result<(usize, usize)> {
        let [open, between, close] = self.brackets();
        self.expect(open)?;
        let high = self.number()?;
        let low = if self.eat(between) { self.number()? } else { high };
        self.expect(close)?;
        if high < low || high >= WIDEST { self.wrong("a range that is not read here") } else { Ok((high, low)) }
    }

    /// The width of a declaration, as a range down to 0.
    pub(crate) fn width(&mut self) -> Result<usize> {
        match (self.range()?, self.text.tokens[self.at - 3].0 == Token::Sign(self.brackets()[0])) {
            ((high, 0), false) => Ok(high + 1),
            _ => self.wrong("a range that is not read here"),
        }
    }

    /// A name that is not there yet.
    pub(crate) fn new_name(&mut self, name: &'a str) -> Result<&'a str> {
        if self.names.insert(name) { Ok(name) } else { self.wrong(&format!("{name} is declared twice")) }
    }

    pub(crate) fn declare(&mut self, name: &'a str, width: usize) -> Result<()> {
        self.bits += width;
        if self.bits > MOST_BITS {
            return self.wrong("more bits of signals than are read here");
        }
        self.new_name(name)?;
        self.declared.insert(name, width);
        Ok(())
    }

    pub(crate) fn define(&mut self, name: &'a str, value: Value) -> Result<()> {
        let Some(width) = self.declared.remove(name) else {
            return self.wrong(&format!("{name} has two drivers, or is declared nowhere above"));
        };
        if value.bits.len() != width {
            return self.wrong(&format!("{name} has {width} bits, its driver {}", value.bits.len()));
        }
        self.signals.insert(name, Value { signed: false, ..value });
        Ok(())
    }

    /// Drives a signal, or bits of an output.
    pub(crate) fn drive(
        &mut self,
        g: &mut Graph,
        target: (&'a str, Range),
        value: Value,
        made: Made<'_>,
    ) -> Result<()> {
        let (name, range) = target;
        let ports = &self.text.ports;
        let output = ports.outputs.iter().position(|port| port.0 == name);
        if output.is_none() && ports.valid != Some(name) {
            if range.is_some() {
                return self.wrong("bits of something else than an output are driven");
            }
            self.define(name, value)?;
            self.count += 1;
            return made(g, self.count - 1, &self.signals[name].bits);
        }
        self.age = common(self.age, value.age);
        if self.age == Some(MIXED) {
            return self.wrong("outputs of different clocks");
        }
        let mut flag = [self.flags.1];
        let slots = output.map_or(&mut flag[..], |port| &mut self.outputs[port][..]);
        let (high, low) = range.unwrap_or((slots.len() - 1, 0));
        let fits = high < slots.len() && value.bits.len() == high - low + 1;
        if !fits || slots[low..=high].iter().any(Option::is_some) {
            return self.wrong("bits of the output that do not fit their driver, or have two");
        }
        slots[low..=high].iter_mut().zip(value.bits).for_each(|(slot, bit)| *slot = Some(bit));
        self.flags.1 = flag[0];
        Ok(())
    }

    /// `name`, and the bits of it that an assignment is to.
    pub(crate) fn target(&mut self) -> Result<(&'a str, Range)> {
        let name = self.word()?;
        let has_range = self.is(self.brackets()[0]);
        Ok((name, if has_range { Some(self.range()?) } else { None }))
    }

    /// That an input of one bit is for this, and for nothing else.
    fn role(&mut self, role: Role, name: &'a str, level: Level) -> Result<()> {
        let lower = name.to_ascii_lowercase();
        let usual = USUAL.iter().find(|(_, names)| names.contains(&lower.as_str()));
        let fits =
            usual.is_none_or(|(usual, _)| *usual == role && (role != Role::Reset || level.0 != lower.ends_with('n')));
        let own = *self.roles.entry(role).or_insert((name, level)) == (name, level);
        let alone = self.roles.iter().all(|(other, (taken, _))| *other == role || *taken != name);
        if self.text.ports.controls.contains(&name) && fits && own && alone {
            return Ok(());
        }
        self.wrong(&format!("{name} as {role:?}: no input of one bit, or it is for something else"))
    }

    /// `a <= b; ...` up to where registers have their values.
    pub(crate) fn statements(&mut self, g: &mut Graph) -> Result<Statements<'a>> {
        let mut out = Vec::new();
        while !["end", "else", "elsif"].iter().any(|word| self.is(word)) {
            let name = self.word()?;
            self.expect("<=")?;
            out.push((name, self.expression(g, 0)?));
            self.expect(";")?;
        }
        Ok(out)
    }

    /// What registers take behind their clock: in any case, if they are enabled, where they are not reset.
    pub(crate) fn clocked(&mut self, g: &mut Graph, process: &mut Process<'a>, at_once: bool) -> Result<()> {
        if !self.eat("if") {
            process.next = self.statements(g)?;
            return Ok(());
        }
        let condition = self.condition()?;
        let values = self.branch(g)?;
        if process.reset.is_none() && (self.is("else") || self.is("elsif")) {
            process.reset = Some((condition.0, (condition.1, at_once), values));
            let is_enabled = self.eat("elsif") || {
                self.expect("else")?;
                self.eat("if")
            };
            process.enable = if is_enabled { Some(self.condition()?) } else { None };
            process.next = self.branch(g)?;
        } else {
            (process.enable, process.next) = (Some(condition), values);
        }
        if self.text.is_vhdl { self.expect("end if ;") } else { Ok(()) }
    }

    /// `(!rst_n)`, `rst_n = '0' then`: a level of an input.
    pub(crate) fn condition(&mut self) -> Result<(&'a str, bool)> {
        if self.text.is_vhdl {
            let name = self.word()?;
            self.expect("=")?;
            let bits = self.bits()?;
            self.expect("then")?;
            return if let [level] = bits[..] { Ok((name, level)) } else { self.wrong("a level of several bits") };
        }
        self.expect("(")?;
        let is_high = !self.eat("!");
        let name = self.word()?;
        self.expect(")")?;
        Ok((name, is_high))
    }

    fn branch(&mut self, g: &mut Graph) -> Result<Statements<'a>> {
        if self.text.is_vhdl {
            return self.statements(g);
        }
        self.expect("begin")?;
        let values = self.statements(g)?;
        self.expect("end")?;
        Ok(values)
    }

    /// Registers see one another as they were: none of those of a process is there before its end.
    pub(crate) fn registers(&mut self, process: Process<'a>) -> Result<()> {
        self.role(Role::Clock, process.clock, (true, true))?;
        if let Some((name, level, values)) = &process.reset {
            self.role(Role::Reset, name, *level)?;
            let cleared: HashSet<&str> = values.iter().map(|value| value.0).collect();
            let is_zero = |(name, value): &(&str, Value)| {
                self.declared.get(name) == Some(&value.bits.len()) && value.bits.iter().all(|&bit| bit == Lit::FALSE)
            };
            let taken: HashSet<&str> = process.next.iter().map(|value| value.0).collect();
            if cleared != taken || !values.iter().all(is_zero) {
                return self.wrong("a reset that does not clear what it should");
            }
        }
        if let Some((name, is_high)) = process.enable {
            self.role(Role::Enable, name, (is_high, false))?;
        }
        let is_enabled = process.enable.is_some();
        if process.enable.is_some_and(|(_, is_high)| !is_high)
            || *self.is_enabled.get_or_insert(is_enabled) != is_enabled
        {
            return self.wrong("a clock enable that is not that of all registers");
        }
        process.next.into_iter().try_for_each(|(name, value)| {
            let age = value.age.map(|age| age.saturating_add(1));
            self.define(name, Value { age, ..value })
        })
    }

    /// An expression in brackets.
    pub(crate) fn inner(&mut self, g: &mut Graph) -> Result<Value> {
        self.expect("(")?;
        let value = self.expression(g, 0)?;
        self.expect(")")?;
        Ok(value)
    }

    fn operator(&self) -> Option<(Operator, u32)> {
        Some(match (self.peek()?, self.text.is_vhdl) {
            (Token::Sign("?"), false) => (Operator::Choose, 1),
            (Token::Sign("|"), false) | (Token::Word("or"), true) => (Operator::Or, 2),
            (Token::Word("xor"), true) => (Operator::Xor, 2),
            (Token::Word("and"), true) => (Operator::And, 2),
            (Token::Sign("^"), false) => (Operator::Xor, 3),
            (Token::Sign("&"), false) => (Operator::And, 4),
            (Token::Sign("<"), false) => (Operator::Less, 6),
            (Token::Sign("+"), _) => (Operator::Add, 7),
            (Token::Sign("-"), _) => (Operator::Sub, 7),
            (Token::Sign("&"), true) => (Operator::Join, 7),
            (Token::Sign("*"), _) => (Operator::Mul, 8),
            _ => return None,
        })
    }

    /// An expression whose operators bind at least as strongly as `least`; from 9 on without any.
    pub(crate) fn expression(&mut self, g: &mut Graph, least: u32) -> Result<Value> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.wrong("an expression too deep");
        }
        let mut left = match self.peek() {
            Some(Token::Bits(_)) => {
                let bits = self.bits()?.into_iter().map(Lit::constant).collect();
                Value { bits, age: None, signed: false }
            }
            Some(Token::Sign("(")) => self.inner(g)?,
            _ if self.text.is_vhdl => self.vhdl_operand(g, least)?,
            _ => self.verilog_operand(g)?,
        };
        while let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength >= least) {
            self.at += 1;
            left = if operator == Operator::Choose {
                let yes = self.expression(g, 1)?;
                self.expect(":")?;
                let no = self.expression(g, 1)?;
                self.choice(g, left, &yes, &no)?
            } else {
                let right = self.expression(g, strength + 1)?;
                self.combined(g, operator, &left, &right)?
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    pub(crate) fn choice(&self, g: &mut Graph, select: Value, yes: &Value, no: &Value) -> Result<Value> {
        if select.bits.len() != 1 || yes.bits.len() != no.bits.len() {
            return self.wrong("a choice of other widths");
        }
        let age = common(common(select.age, yes.age), no.age);
        let bits = choose(g, select.bits[0], &yes.bits, &no.bits);
        Ok(Value { bits, age, signed: yes.signed && no.signed })
    }

    pub(crate) fn combined(&self, g: &mut Graph, operator: Operator, left: &Value, right: &Value) -> Result<Value> {
        let (a, b) = (&left.bits, &right.bits);
        let is_product_of_vhdl = operator == Operator::Mul && self.text.is_vhdl;
        if a.len() != b.len() && operator != Operator::Join && !is_product_of_vhdl {
            return self.wrong(&format!("operands of {} and {} bits", a.len(), b.len()));
        }
        if left.signed != right.signed && (self.text.is_vhdl || operator == Operator::Less) {
            return self.wrong("a signed operand beside another one");
        }
        let pairs = a.iter().copied().zip(b.iter().copied());
        let bits = match operator {
            Operator::Or => pairs.map(|(x, y)| g.or(x, y)).collect(),
            Operator::Xor => pairs.map(|(x, y)| g.xor(x, y)).collect(),
            Operator::And => pairs.map(|(x, y)| g.and(x, y)).collect(),
            Operator::Add => add(g, a, b, Lit::FALSE),
            Operator::Sub => subtract(g, a, b),
            Operator::Less => vec![less(g, a, b, left.signed)],
            Operator::Join => [&b[..], &a[..]].concat(),
            _ => {
                // In Verilog modulo the width of both, in VHDL exact.
                let width = if is_product_of_vhdl { a.len() + b.len() } else { a.len() };
                multiply(g, &resize(a, left.signed, width), &resize(b, left.signed, width))
            }
        };
        let signed = left.signed && right.signed && operator != Operator::Less;
        Ok(Value { bits, age: common(left.age, right.age), signed })
    }

    /// A signal or an input by its name, or bits of it; the word of a table.
    pub(crate) fn named(&mut self, g: &mut Graph) -> Result<Value> {
        let name = self.word()?;
        if let Some(words) = self.tables.get(name).cloned() {
            let address = if self.text.is_vhdl { self.vhdl_address(g) } else { self.verilog_address(g) }?;
            if address.bits.len() != words.address {
                return self.wrong("an address of another width");
            }
            let bits = table(g, &address.bits, words.width, |i, bit| words.words[i] >> bit & 1 == 1);
            return Ok(Value { signed: false, ..address.with(bits) });
        }
        if self.text.ports.controls.contains(&name) {
            self.role(Role::Valid, name, (true, false))?;
            let flag = *self.flags.0.get_or_insert_with(|| g.input(None));
            return Ok(Value { bits: vec![flag], age: Some(0), signed: false });
        }
        let Some(value) = self.signals.get(name) else {
            return self.wrong(&format!("{name} is used before it is driven"));
        };
        if value.age == Some(MIXED) {
            return self.wrong("values of different clocks meet");
        }
        if !self.is(self.brackets()[0]) {
            return Ok(value.clone());
        }
        let (high, low) = self.range()?;
        let value = &self.signals[name];
        if high >= value.bits.len() {
            return self.wrong("bits that are not there");
        }
        Ok(value.with(value.bits[low..=high].to_vec()))
    }

    /// A table with these words; `other` where there is none.
    pub(crate) fn table(
        &mut self,
        name: &'a str,
        size: (usize, usize),
        words: &Words,
        other: Option<u64>,
    ) -> Result<()> {
        let (address, width) = size;
        if address > MOST_ADDRESS || width > MOST_WORD {
            return self.wrong("a table with more addresses or wider words than are read here");
        }
        let all: Option<Vec<u64>> = (0..1u64 << address).map(|i| words.get(&i).copied().or(other)).collect();
        let Some(words) = all else { return self.wrong("a table without some of its words") };
        self.new_name(name)?;
        self.tables.insert(name, Rc::new(Table { address, width, words }));
        Ok(())
    }

    /// A constant of this width as a number; nothing wider than a table's word.
    pub(crate) fn entry(&mut self, width: usize) -> Result<u64> {
        let word = self.bits()?;
        if word.len() == width && width <= MOST_WORD {
            Ok(number_of(&word))
        } else {
            self.wrong("a word of another width")
        }
    }
}

/// The age of what values of these ages make.
pub(crate) fn common(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Some(MIXED),
        (a, b) => a.or(b),
    }
}
