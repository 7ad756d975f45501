//! Parser of structural Verilog: modules that consist of nets, instances, and assignments of nets to nets.
//!
//! Netlists have millions of instances, so names are slices of the source, and bits of nets are numbers in shared
//! pools. The source of a module with any other construct (a process, an operator, a parameter) is stored; the Verilog
//! front end reads it if it is instantiated.

use crate::source::error;
use crate::verilog::Number;
use alir_core::diag::Diagnostic;
use rustc_hash::FxHashMap;
use std::ops::Range;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Bit of a net within one module, or a constant.
pub(super) type Bit = u32;
/// Constant 0.
pub(super) const ZERO: Bit = 0;
/// Constant 1.
pub(super) const ONE: Bit = 1;
/// Undefined value (`x` or `z`).
pub(super) const UNDEFINED: Bit = 2;
/// First bit of a net.
pub(super) const FIRST: Bit = 3;

/// Maximum number of bits of a net, and of all nets of a module.
const MAX_WIDTH: i64 = 1 << 20;
const MAX_BITS: usize = 1 << 23;

/// Name: index into [`Netlist::names`].
pub(super) type Name = u32;

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Input,
    Output,
    Inout,
}

/// Declared net: its bounds and its first bit (of the lowest index position).
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) name: Name,
    msb: i64,
    lsb: i64,
    pub(super) is_vector: bool,
    is_signed: bool,
    pub(super) first: Bit,
    pub(super) at: u32,
}

impl Net {
    pub(super) fn width(&self) -> u32 {
        (self.msb - self.lsb).unsigned_abs() as u32 + 1
    }

    /// Returns the bit with an index, or `None` if the index is outside of the bounds.
    fn bit(&self, index: i64) -> Option<Bit> {
        let position = if self.msb >= self.lsb { index - self.lsb } else { self.lsb - index };
        (0..i64::from(self.width())).contains(&position).then(|| self.first + position as u32)
    }

    /// Returns the index of the bit at a position, counted from the low end.
    pub(super) fn index(&self, position: u32) -> i64 {
        if self.msb >= self.lsb { self.lsb + i64::from(position) } else { self.lsb - i64::from(position) }
    }
}

/// Connection of a port.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Name of the port; `None` for a connection by position.
    pub(super) port: Option<Name>,
    /// Bits in [`Module::bits`], the lowest first.
    pub(super) bits: Range<u32>,
    /// Value of the higher bits if the port is wider than the connection.
    pub(super) fill: Bit,
}

/// Instance of a module or cell.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) kind: Name,
    pub(super) name: Name,
    pub(super) at: u32,
    /// Parameters in [`Module::params`].
    pub(super) params: Range<u32>,
    /// Connections in [`Module::connections`].
    pub(super) connections: Range<u32>,
}

/// Parameter of an instance: its name (`None` if it is given by position) and the text of its value.
pub(super) type Param<'t> = (Option<Name>, &'t str);

/// Module of nets and instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Module<'t> {
    pub(super) at: u32,
    /// Ports in the order of the header: index of the net, and direction.
    pub(super) ports: Vec<(usize, Direction)>,
    pub(super) nets: Vec<Net>,
    pub(super) instances: Vec<Instance>,
    pub(super) connections: Vec<Connection>,
    pub(super) bits: Vec<Bit>,
    pub(super) params: Vec<Param<'t>>,
    /// Continuous assignments: target, source, and `true` for the complement.
    pub(super) assigns: Vec<(Bit, Bit, bool)>,
    /// Values of bits without drivers (`tri0`, `tri1`).
    pub(super) pulls: Vec<(Bit, bool)>,
    /// Number of bits, including the constants.
    pub(super) count: Bit,
}

/// Structural or behavioural module of a file.
#[derive(Clone, Debug)]
pub(super) enum Entry<'t> {
    Structural(Module<'t>),
    /// Source of a module with behaviour, names of the modules that it instantiates with parameters or ports, and the
    /// error that occurred when it was read as a netlist.
    Behavioural {
        text: &'t str,
        instantiated: Vec<&'t str>,
        reason: Diagnostic,
    },
}

/// Parsed file.
#[derive(Debug, Default)]
pub(super) struct Netlist<'t> {
    pub(super) names: Vec<&'t str>,
    pub(super) modules: FxHashMap<Name, Entry<'t>>,
    /// Names of the modules in the order of the file.
    pub(super) order: Vec<Name>,
    /// Comments before the first module.
    pub(super) head: Vec<String>,
}

/// Parses a file.
///
/// # Errors
/// `E0903` if `text` is not a sequence of modules.
pub(super) fn parse(text: &str) -> Result<Netlist<'_>> {
    let mut p = Parser {
        text,
        at: 0,
        token: "",
        start: 0,
        escaped: false,
        out: Netlist::default(),
        known: FxHashMap::default(),
    };
    p.head();
    p.next()?;
    while !p.token.is_empty() {
        if p.token == "primitive" {
            p.skip_past("endprimitive")?;
            continue;
        }
        if !matches!(p.token, "module" | "macromodule") || p.escaped {
            return Err(p.unexpected("module"));
        }
        p.module()?;
    }
    Ok(p.out)
}

/// Token for [`Parser::skip_module`].
#[derive(Clone, Copy)]
enum Token<'t> {
    /// End of a statement or of a header.
    End,
    Name(&'t str),
    Other,
}

struct Parser<'t> {
    text: &'t str,
    /// Byte offset of the end of the current token.
    at: usize,
    token: &'t str,
    start: usize,
    escaped: bool,
    out: Netlist<'t>,
    known: FxHashMap<&'t str, Name>,
}

/// Bits of an expression, the lowest first.
type Bits = Vec<Bit>;

/// Left and right bound of a vector; `None` for a scalar.
type Bounds = Option<(i64, i64)>;

/// Compiler directives that have no effect in a module of nets and instances.
const DIRECTIVES: [&str; 12] = [
    "timescale",
    "default_nettype",
    "celldefine",
    "endcelldefine",
    "resetall",
    "pragma",
    "line",
    "begin_keywords",
    "end_keywords",
    "suppress_faults",
    "enable_portfaults",
    "nosuppress_faults",
];

impl<'t> Parser<'t> {
    fn fail(&self, message: impl Into<String>) -> Diagnostic {
        error(self.text, self.start as u32, message)
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = if self.token.is_empty() { "the end of the file" } else { self.token };
        self.fail(format!("expected {expected}, found {found}"))
    }

    /// Stores the comments before the first token.
    fn head(&mut self) {
        let mut rest = self.text;
        loop {
            rest = rest.trim_start();
            if let Some(line) = rest.strip_prefix("//") {
                let end = line.find('\n').unwrap_or(line.len());
                self.out.head.push(line[..end].trim().to_owned());
                rest = &line[end..];
            } else if let Some((comment, after)) = rest.strip_prefix("/*").and_then(|inner| inner.split_once("*/")) {
                self.out.head.extend(comment.lines().map(|l| l.trim().trim_start_matches('*').trim().to_owned()));
                rest = after;
            } else {
                return;
            }
        }
    }

    /// Advances to the next token. An empty token marks the end of the file.
    fn next(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            match &bytes[at..] {
                [] => break,
                [b, ..] if b.is_ascii_whitespace() => at += 1,
                // Modules that a vendor encrypted are skipped. Their instances become cells that no library has.
                [b'`', ..] if self.text[at..].starts_with("`pragma protect begin_protected") => {
                    const END: &str = "`pragma protect end_protected";
                    let end = self.text[at..].find(END);
                    at += END.len() + end.ok_or_else(|| error(self.text, at as u32, "encryption that never ends"))?;
                }
                [b'`', ..] => {
                    let word = &self.text[at + 1..];
                    let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
                    if !DIRECTIVES.contains(&&word[..end]) && !word.starts_with("delay_mode_") {
                        let message = format!("`{} is no directive that a netlist can have", &word[..end]);
                        return Err(error(self.text, at as u32, message));
                    }
                    at += word.find('\n').map_or(word.len() + 1, |end| end + 1);
                }
                [b'/', b'/', ..] => at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at),
                [b'/', b'*', ..] => {
                    let end = self.text[at + 2..].find("*/");
                    at += 4 + end.ok_or_else(|| error(self.text, at as u32, "a comment that never ends"))?;
                }
                // `@(*)` is an event and not an attribute; it occurs in no structural module.
                [b'(', b'*', after, ..] if *after != b')' => {
                    let end = self.text[at + 2..].find("*)");
                    at += 4 + end.ok_or_else(|| error(self.text, at as u32, "an attribute that never ends"))?;
                }
                _ => break,
            }
        }
        self.start = at;
        self.escaped = false;
        let Some(&first) = bytes.get(at) else {
            (self.at, self.token) = (at, "");
            return Ok(());
        };
        let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
        let end = match first {
            b'\\' => {
                let end = at + bytes[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - at);
                self.escaped = true;
                (self.at, self.token) = (end, &self.text[at + 1..end]);
                if self.token.is_empty() {
                    return Err(self.fail("an escaped name without characters"));
                }
                return Ok(());
            }
            b'"' => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                if end >= bytes.len() {
                    return Err(error(self.text, at as u32, "a string that never ends"));
                }
                end + 1
            }
            b if b.is_ascii_digit() || b == b'\'' => {
                let mut end = at;
                while end < bytes.len() && (is_word(bytes[end]) || matches!(bytes[end], b'\'' | b'?')) {
                    end += 1;
                }
                end.max(at + 1)
            }
            b if is_word(b) => at + bytes[at..].iter().position(|&b| !is_word(b)).unwrap_or(bytes.len() - at),
            _ => at + self.text[at..].chars().next().map_or(1, char::len_utf8),
        };
        (self.at, self.token) = (end, &self.text[at..end]);
        Ok(())
    }

    fn accept(&mut self, what: &str) -> Result<bool> {
        let hit = self.token == what && !self.escaped;
        if hit {
            self.next()?;
        }
        Ok(hit)
    }

    fn expect(&mut self, what: &str) -> Result<()> {
        if self.accept(what)? { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn skip_past(&mut self, what: &str) -> Result<()> {
        while !self.accept(what)? {
            if self.token.is_empty() {
                return Err(self.unexpected(what));
            }
            self.next()?;
        }
        Ok(())
    }

    /// Skips the rest of a behavioural module. Returns the names of the modules that it instantiates with parameters or
    /// ports.
    fn skip_module(&mut self) -> Result<Vec<&'t str>> {
        let mut found = Vec::new();
        // Last three tokens: an instance follows the end of a statement.
        let (mut before, mut kind, mut name) = (Token::Other, Token::Other, Token::Other);
        while !self.accept("endmodule")? {
            let token = match self.token {
                _ if self.escaped => Token::Name(self.token),
                "" => return Err(self.unexpected("endmodule")),
                ";" | ")" | "begin" | "end" | "endgenerate" | "endspecify" | "endfunction" | "endtask" => Token::End,
                word if self.is_name() => Token::Name(word),
                _ => Token::Other,
            };
            match (before, kind, name, self.token) {
                (Token::End, Token::Name(kind), Token::Name(_), "(") => found.push(kind),
                (_, Token::End, Token::Name(kind), "#") => found.push(kind),
                _ => {}
            }
            (before, kind, name) = (kind, name, token);
            self.next()?;
        }
        Ok(found)
    }

    fn is_name(&self) -> bool {
        let first = self.token.as_bytes().first();
        self.escaped || first.is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_' || b == b'$')
    }

    fn name(&mut self) -> Result<Name> {
        if !self.is_name() {
            return Err(self.unexpected("a name"));
        }
        let name = self.intern(self.token);
        self.next()?;
        Ok(name)
    }

    fn intern(&mut self, text: &'t str) -> Name {
        let next = self.out.names.len() as Name;
        let name = *self.known.entry(text).or_insert(next);
        if name == next {
            self.out.names.push(text);
        }
        name
    }

    fn integer(&mut self) -> Result<i64> {
        let negative = self.accept("-")?;
        let value: i64 = self.token.parse().map_err(|_| self.unexpected("an integer"))?;
        if value >= 1 << 30 {
            return Err(self.fail("an index beyond 2^30"));
        }
        self.next()?;
        Ok(if negative { -value } else { value })
    }

    fn range(&mut self) -> Result<Bounds> {
        if !self.accept("[")? {
            return Ok(None);
        }
        let msb = self.integer()?;
        self.expect(":")?;
        let lsb = self.integer()?;
        self.expect("]")?;
        if (msb - lsb).abs() >= MAX_WIDTH {
            return Err(self.fail("a vector of more than 2^20 bits"));
        }
        Ok(Some((msb, lsb)))
    }

    fn module(&mut self) -> Result<()> {
        let (start, from) = (self.start, self.at);
        self.next()?;
        let name = self.name()?;
        let at = start as u32;
        let mut body = Body {
            module: Module { at, count: FIRST, ..Module::default() },
            nets: FxHashMap::default(),
            directions: FxHashMap::default(),
            header: Vec::new(),
        };
        let entry = match self.structural(&mut body) {
            Ok(()) => Entry::Structural(body.module),
            Err(reason) => {
                // Parse the module again from its header to its end.
                self.at = from;
                self.next()?;
                let instantiated = self.skip_module()?;
                let end = if self.token.is_empty() { self.text.len() } else { self.start };
                Entry::Behavioural { text: &self.text[start..end], instantiated, reason }
            }
        };
        if self.out.modules.insert(name, entry).is_some() {
            return Err(error(self.text, at, format!("a second module {}", self.out.names[name as usize])));
        }
        self.out.order.push(name);
        Ok(())
    }

    fn structural(&mut self, b: &mut Body<'t>) -> Result<()> {
        if self.accept("(")? {
            let mut declared: Option<(Direction, bool, Bounds)> = None;
            while !self.accept(")")? {
                if let Some(direction) = self.direction()? {
                    let is_signed = self.net_words()?;
                    declared = Some((direction, is_signed, self.range()?));
                }
                let at = self.start as u32;
                let port = self.name()?;
                if let Some((direction, is_signed, range)) = declared {
                    b.declare(port, range, is_signed, at).map_err(|m| self.fail(m))?;
                    b.directions.insert(port, direction);
                }
                b.header.push(port);
                if self.token != ")" {
                    self.expect(",")?;
                }
            }
        }
        self.expect(";")?;
        while !self.accept("endmodule")? {
            self.item(b)?;
        }
        for port in std::mem::take(&mut b.header) {
            let (Some(&net), Some(&direction)) = (b.nets.get(&port), b.directions.get(&port)) else {
                return Err(self.fail(format!("port {} has no direction", self.out.names[port as usize])));
            };
            b.module.ports.push((net, direction));
        }
        Ok(())
    }

    fn direction(&mut self) -> Result<Option<Direction>> {
        let direction = match self.token {
            _ if self.escaped => return Ok(None),
            "input" => Direction::Input,
            "output" => Direction::Output,
            "inout" => Direction::Inout,
            _ => return Ok(None),
        };
        self.next()?;
        Ok(Some(direction))
    }

    /// Parses the words of a declaration before its range. Returns `true` for a signed net.
    fn net_words(&mut self) -> Result<bool> {
        let mut is_signed = false;
        while !self.escaped && matches!(self.token, "wire" | "tri" | "signed" | "scalared" | "vectored") {
            is_signed |= self.token == "signed";
            self.next()?;
        }
        Ok(is_signed)
    }

    fn item(&mut self, b: &mut Body<'t>) -> Result<()> {
        if self.accept(";")? {
            return Ok(());
        }
        if let Some(direction) = self.direction()? {
            let is_signed = self.net_words()?;
            let range = self.range()?;
            loop {
                let at = self.start as u32;
                let name = self.name()?;
                b.declare(name, range, is_signed, at).map_err(|m| self.fail(m))?;
                b.directions.insert(name, direction);
                if !self.accept(",")? {
                    return self.expect(";");
                }
            }
        }
        let word = if self.escaped { "" } else { self.token };
        match word {
            "wire" | "tri" | "tri0" | "tri1" | "supply0" | "supply1" => {
                self.next()?;
                let is_signed = self.net_words()?;
                self.nets(b, word, is_signed)
            }
            "assign" => {
                self.next()?;
                loop {
                    let (target, _) = self.bits(b)?;
                    self.expect("=")?;
                    if !self.look_up(b, &target)? {
                        let value = self.bits(b)?;
                        self.assign(b, &target, value)?;
                    }
                    if !self.accept(",")? {
                        return self.expect(";");
                    }
                }
            }
            "defparam" => {
                self.next()?;
                loop {
                    let (instance, _) = (self.name()?, self.expect(".")?);
                    let (param, _) = (self.name()?, self.expect("=")?);
                    let value = self.value()?;
                    self.defparam(b, instance, param, value)?;
                    if !self.accept(",")? {
                        return self.expect(";");
                    }
                }
            }
            "specify" => self.skip_past("endspecify"),
            // Delays of timing simulations are skipped.
            "initial" => {
                self.next()?;
                if self.accept("begin")? && self.token == "$sdf_annotate" {
                    return self.skip_past("end");
                }
                Err(self.fail("initial in a netlist"))
            }
            "always" | "reg" | "parameter" | "localparam" | "function" | "task" | "generate" | "integer" | "genvar"
            | "real" | "event" | "time" | "and" | "or" | "xor" | "nand" | "nor" | "xnor" | "not" | "buf" | "if"
            | "for" | "case" | "begin" | "wand" | "wor" | "logic" | "always_comb" | "always_ff" | "trireg"
            | "triand" | "trior" => Err(self.fail(format!("{word} in a netlist"))),
            _ => self.instances(b),
        }
    }

    fn nets(&mut self, b: &mut Body<'t>, word: &str, is_signed: bool) -> Result<()> {
        let range = self.range()?;
        loop {
            let at = self.start as u32;
            let name = self.name()?;
            let net = b.declare(name, range, is_signed, at).map_err(|m| self.fail(m))?;
            let (first, width) = (b.module.nets[net].first, b.module.nets[net].width());
            let all: Bits = (first..first + width).collect();
            match word {
                "supply0" | "supply1" => {
                    let level = if word == "supply1" { ONE } else { ZERO };
                    b.module.assigns.extend(all.iter().map(|&bit| (bit, level, false)));
                }
                "tri0" | "tri1" => b.module.pulls.extend(all.iter().map(|&bit| (bit, word == "tri1"))),
                _ => {}
            }
            if self.accept("=")? {
                let value = self.bits(b)?;
                self.assign(b, &all, value)?;
            }
            if !self.accept(",")? {
                return self.expect(";");
            }
        }
    }

    /// Parses `TABLE >> {a, b}`, a look-up table in the output of Yosys, as an instance of its cell. Returns `false`
    /// for other values.
    fn look_up(&mut self, b: &mut Body<'t>, target: &[Bit]) -> Result<bool> {
        const WIDTHS: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let (&[bit], Some(first)) = (target, self.token.bytes().next()) else { return Ok(false) };
        let (table, at, end) = (self.token, self.start as u32, self.at);
        if bit < FIRST || !first.is_ascii_digit() || !self.text[end..].trim_start().starts_with(">>") {
            return Ok(false);
        }
        let number = Number::parse(table).map_err(|m| self.fail(m))?;
        self.next()?;
        let is_shift = self.accept(">")? && self.accept(">")? && self.token != ">";
        if !is_shift {
            return Err(self.fail("a shift in a netlist"));
        }
        let (address, _) = self.bits(b)?;
        let is_table = address.len() <= WIDTHS.len() && number.width == 1 << address.len();
        let Some(width) = WIDTHS.get(address.len().wrapping_sub(1)).filter(|_| is_table) else {
            return Err(self.fail("a shift in a netlist"));
        };
        let names = ["$lut", "LUT", "WIDTH", "A", "Y"].map(|name| self.intern(name));
        let net = b.module.nets.partition_point(|net| net.first <= bit).checked_sub(1);
        let name = net.map_or(names[0], |net| b.module.nets[net].name);
        let m = &mut b.module;
        let (params, connections, bits) = (m.params.len() as u32, m.connections.len() as u32, m.bits.len() as u32);
        m.params.extend([(Some(names[1]), table), (Some(names[2]), width)]);
        m.bits.extend(address);
        let middle = m.bits.len() as u32;
        m.bits.push(bit);
        m.connections.push(Connection { port: Some(names[3]), bits: bits..middle, fill: ZERO });
        m.connections.push(Connection { port: Some(names[4]), bits: middle..middle + 1, fill: ZERO });
        let (params, connections) = (params..params + 2, connections..connections + 2);
        m.instances.push(Instance { kind: names[0], name, at, params, connections });
        Ok(true)
    }

    /// Assigns a value to bits. A value with fewer bits is extended.
    fn assign(&mut self, b: &mut Body<'t>, target: &[Bit], (value, fill): (Bits, Bit)) -> Result<()> {
        for (i, &bit) in target.iter().enumerate() {
            if bit < FIRST {
                return Err(self.fail("a constant cannot be assigned to"));
            }
            b.module.assigns.push((bit, value.get(i).copied().unwrap_or(fill), false));
        }
        Ok(())
    }

    /// Parses the value of a parameter and returns its text.
    fn value(&mut self) -> Result<&'t str> {
        let start = self.start;
        if self.token == "-" {
            self.next()?;
        }
        let first = self.token.as_bytes().first().copied().unwrap_or(b';');
        if !(first.is_ascii_digit() || matches!(first, b'"' | b'\'')) {
            return Err(self.unexpected("the value of a parameter"));
        }
        let mut end = self.at;
        self.next()?;
        // `64 'hff`: size and base are separate tokens.
        if self.token.starts_with('\'') {
            end = self.at;
            self.next()?;
        }
        // Real numbers occur in parameters of clock generators.
        if self.token == "." {
            self.next()?;
            end = self.at;
            self.next()?;
        }
        Ok(&self.text[start..end])
    }

    fn defparam(&mut self, b: &mut Body<'t>, instance: Name, param: Name, value: &'t str) -> Result<()> {
        // The instance is nearly always the last one.
        let Some(found) = b.module.instances.iter_mut().rev().find(|i| i.name == instance) else {
            return Err(
                self.fail(format!("defparam of {}, which is no instance above", self.out.names[instance as usize]))
            );
        };
        let params = &mut b.module.params;
        let own = &params[found.params.start as usize..found.params.end as usize];
        // Replace the parameter if the instance already has it.
        if found.params.end != params.len() as u32 || own.iter().any(|(name, _)| *name == Some(param)) {
            let from = params.len() as u32;
            let kept: Vec<_> = own.iter().filter(|(name, _)| *name != Some(param)).copied().collect();
            params.extend(kept);
            found.params = from..params.len() as u32;
        }
        params.push((Some(param), value));
        found.params.end += 1;
        Ok(())
    }

    fn instances(&mut self, b: &mut Body<'t>) -> Result<()> {
        let kind = self.name()?;
        let from = b.module.params.len() as u32;
        if self.accept("#")? {
            self.expect("(")?;
            while !self.accept(")")? {
                let name = if self.accept(".")? {
                    let name = self.name()?;
                    self.expect("(")?;
                    Some(name)
                } else {
                    None
                };
                let value = self.value()?;
                b.module.params.push((name, value));
                if name.is_some() {
                    self.expect(")")?;
                }
                if self.token != ")" {
                    self.expect(",")?;
                }
            }
        }
        let params = from..b.module.params.len() as u32;
        loop {
            let at = self.start as u32;
            let name = self.name()?;
            self.expect("(")?;
            let first = b.module.connections.len() as u32;
            while !self.accept(")")? {
                let port = if self.accept(".")? { Some(self.name()?) } else { None };
                let start = b.module.bits.len() as u32;
                let is_empty = if port.is_some() {
                    self.expect("(")?;
                    self.token == ")" && !self.escaped
                } else {
                    matches!(self.token, "," | ")") && !self.escaped
                };
                let mut fill = ZERO;
                if !is_empty {
                    let (bits, above) = self.bits(b)?;
                    b.module.bits.extend(bits);
                    fill = above;
                }
                if port.is_some() {
                    self.expect(")")?;
                }
                b.module.connections.push(Connection { port, bits: start..b.module.bits.len() as u32, fill });
                if self.token != ")" {
                    self.expect(",")?;
                }
            }
            let connections = first..b.module.connections.len() as u32;
            b.module.instances.push(Instance { kind, name, at, params: params.clone(), connections });
            if !self.accept(",")? {
                return self.expect(";");
            }
        }
    }

    /// Parses nets, constants and concatenations, which `~` and `!` may complement. Returns the bits, the lowest first,
    /// and the bit that extends them in an assignment to a wider net. `~` complements the extension too.
    fn bits(&mut self, b: &mut Body<'t>) -> Result<(Bits, Bit)> {
        let mut out = Bits::new();
        let fill = self.expression(b, &mut out, 0)?;
        if matches!(self.token, "&" | "|" | "^" | "?" | "+" | "-" | "*" | "<" | ">" | "!" | "~") && !self.escaped {
            return Err(self.fail("an operator in a netlist"));
        }
        Ok((out, fill))
    }

    fn expression(&mut self, b: &mut Body<'t>, out: &mut Bits, depth: u32) -> Result<Bit> {
        if depth > 100 || out.len() > MAX_BITS {
            return Err(self.fail("an expression that is nested too deep, or too wide"));
        }
        if self.is_name() {
            return self.net(b, out);
        }
        match self.token {
            "{" => {
                self.next()?;
                let mut parts: Vec<Bits> = Vec::new();
                loop {
                    // `{n{...}}`
                    let is_count = !self.escaped && self.token.bytes().all(|c| c.is_ascii_digit());
                    if is_count && !self.token.is_empty() {
                        let count = self.integer()?;
                        if self.token != "{" {
                            return Err(self.unexpected("{"));
                        }
                        let mut part = Bits::new();
                        self.expression(b, &mut part, depth + 1)?;
                        let all = (count as usize).saturating_mul(part.len());
                        if count < 1 || all > MAX_BITS {
                            return Err(self.fail("a repetition without bits, or of too many"));
                        }
                        parts.push(part.repeat(count as usize));
                    } else {
                        let mut part = Bits::new();
                        self.expression(b, &mut part, depth + 1)?;
                        parts.push(part);
                    }
                    if !self.accept(",")? {
                        break;
                    }
                }
                self.expect("}")?;
                parts.iter().rev().for_each(|part| out.extend(part));
                Ok(ZERO)
            }
            "~" | "!" => {
                let is_logical = self.token == "!";
                self.next()?;
                let mut inner = Bits::new();
                let above = self.expression(b, &mut inner, depth + 1)?;
                if is_logical && inner.len() != 1 {
                    return Err(self.fail("! of more than one bit in a netlist"));
                }
                for bit in inner {
                    out.push(self.complement(b, bit)?);
                }
                match (is_logical, above, out.last()) {
                    (true, ..) => Ok(ZERO),
                    (false, ZERO | ONE | UNDEFINED, _) => self.complement(b, above),
                    // A signed net is extended by its sign bit: after the complement this is the highest bit.
                    (false, _, last) => Ok(last.copied().unwrap_or(ZERO)),
                }
            }
            "(" => {
                self.next()?;
                let fill = self.expression(b, out, depth + 1)?;
                self.expect(")")?;
                Ok(fill)
            }
            _ => self.number(out),
        }
    }

    fn complement(&self, b: &mut Body<'t>, bit: Bit) -> Result<Bit> {
        Ok(match bit {
            ZERO => ONE,
            ONE => ZERO,
            UNDEFINED => UNDEFINED,
            _ => {
                let own = b.fresh(1).map_err(|m| self.fail(m))?;
                b.module.assigns.push((own, bit, true));
                own
            }
        })
    }

    /// Parses a number and returns the bit that extends it.
    fn number(&mut self, out: &mut Bits) -> Result<Bit> {
        let mut is_signed = false;
        match self.token {
            "1'b0" | "1'h0" | "1'd0" => out.push(ZERO),
            "1'b1" | "1'h1" | "1'd1" => out.push(ONE),
            text if text.bytes().next().is_some_and(|c| c.is_ascii_digit() || c == b'\'') => {
                let number = Number::parse(text).map_err(|m| self.fail(m))?;
                out.extend((0..u64::from(number.width)).map(|bit| match number.unknown.bit(bit) {
                    true => UNDEFINED,
                    false => Bit::from(number.value.bit(bit)),
                }));
                // A number whose highest digit is undefined is extended by undefined bits.
                is_signed = number.signed || out.last() == Some(&UNDEFINED);
            }
            _ => return Err(self.unexpected("a net or a constant")),
        }
        self.next()?;
        Ok(out.last().copied().filter(|_| is_signed).unwrap_or(ZERO))
    }

    /// Parses a net, a bit or a part of one, and returns the bit that extends it: the sign of a signed net, otherwise
    /// 0.
    fn net(&mut self, b: &mut Body<'t>, out: &mut Bits) -> Result<Bit> {
        let at = self.start as u32;
        let name = self.name()?;
        let net = match b.nets.get(&name) {
            Some(&net) => net,
            // An undeclared name is an implicit net of one bit.
            None => b.declare(name, None, false, at).map_err(|m| self.fail(m))?,
        };
        let (first, width, is_signed) =
            (b.module.nets[net].first, b.module.nets[net].width(), b.module.nets[net].is_signed);
        if self.token == "." && !self.escaped {
            return Err(self.fail("a path through the hierarchy in a netlist"));
        }
        if !self.accept("[")? {
            out.extend(first..first + width);
            return Ok(if is_signed { first + width - 1 } else { ZERO });
        }
        let high = self.integer()?;
        let low = if self.accept(":")? { self.integer()? } else { high };
        self.expect("]")?;
        let net = &b.module.nets[net];
        let (Some(high), Some(low)) = (net.bit(high), net.bit(low)) else {
            return Err(error(self.text, at, format!("a bit outside of {}", self.out.names[name as usize])));
        };
        if high < low {
            return Err(error(self.text, at, "a part select with bounds in the opposite order of the vector's"));
        }
        out.extend(low..=high);
        Ok(ZERO)
    }
}

/// Module during parsing, with its nets and port directions by name.
struct Body<'t> {
    module: Module<'t>,
    nets: FxHashMap<Name, usize>,
    directions: FxHashMap<Name, Direction>,
    header: Vec<Name>,
}

impl Body<'_> {
    fn fresh(&mut self, width: u32) -> std::result::Result<Bit, String> {
        let first = self.module.count;
        if first as usize + width as usize > MAX_BITS {
            return Err("a module with more than 2^23 bits".to_owned());
        }
        self.module.count += width;
        Ok(first)
    }

    /// Declares a net and returns its index. A second declaration with the same range (`output y; wire y;`) returns the
    /// existing net.
    fn declare(&mut self, name: Name, range: Bounds, is_signed: bool, at: u32) -> std::result::Result<usize, String> {
        let (msb, lsb) = range.unwrap_or((0, 0));
        if let Some(&known) = self.nets.get(&name) {
            let net = &mut self.module.nets[known];
            net.is_signed |= is_signed;
            if (net.msb, net.lsb) != (msb, lsb) {
                return Err("a net that was declared with another range, or used before its declaration".to_owned());
            }
            return Ok(known);
        }
        let mut net = Net { name, msb, lsb, is_vector: range.is_some(), is_signed, first: 0, at };
        net.first = self.fresh(net.width())?;
        self.module.nets.push(net);
        self.nets.insert(name, self.module.nets.len() - 1);
        Ok(self.module.nets.len() - 1)
    }
}
