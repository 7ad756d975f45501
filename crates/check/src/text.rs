//! Common structure of the Verilog and VHDL files that alir2hdl generates for models. A module consists of wires,
//! registers of one clock, look-up tables, and instances of modules that are defined earlier in the file. Gates are
//! built in the order of the file.
//!
//! These files contain no implicit extension, truncation or change of signedness: operands have the width of their
//! context, and everything else is refused. A signal that is used before its driver is refused, too, which excludes
//! combinational loops. Only registers in a simulation cycle by cycle (`clocks`) are an exception.

use crate::clocks::{Clocks, Given, InputTiming, SampleTiming, Statement};
use crate::graph::{Graph, Lit};
use crate::lexer::{Token, tokens};
use crate::words::{add, all, any, choose, less, multiply, negate, resize, subtract, table};
use crate::{ValueCallback, ensure};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Deepest nesting of an expression.
const DEEPEST: usize = 200;
/// Most bits of a signal.
pub(crate) const WIDEST: usize = 1 << 20;
/// Age of a value that depends on inputs of different cycles. A net may have this age (for lint tools), an output may
/// not.
const MIXED: u32 = u32::MAX;
/// Most bits of all signals together.
const MOST_BITS: usize = 1 << 26;
/// Most address bits of a table, and bits of its words.
const MOST_ADDRESS: u32 = 18;
const MOST_WORD: usize = 64;

/// Binary operators: spelling, operation, precedence.
const OF_VERILOG: [(&str, char, u32); 9] = [
    ("?", '?', 1),
    ("|", '|', 2),
    ("^", '^', 3),
    ("&", '&', 4),
    ("<", '<', 5),
    ("<<<", 'l', 6),
    ("+", '+', 7),
    ("-", '-', 7),
    ("*", '*', 8),
];
/// The operation `,` concatenates: the left operand provides the high bits.
const OF_VHDL: [(&str, char, u32); 7] =
    [("or", '|', 2), ("xor", '^', 2), ("and", '&', 2), ("+", '+', 7), ("-", '-', 7), ("&", ',', 7), ("*", '*', 8)];

/// RTL file: its tokens, and the ports of its modules.
#[derive(Default)]
pub struct Text<'a> {
    tokens: Vec<(Token<'a>, u32)>,
    pub(crate) is_vhdl: bool,
    /// Modules in the order of the file.
    pub(crate) modules: Vec<Module<'a>>,
    /// Index of the top module: the last module, unless another one is requested.
    whole: usize,
}

/// A module.
#[derive(Default)]
pub(crate) struct Module<'a> {
    pub(crate) name: &'a str,
    pub(crate) ports: Vec<Port<'a>>,
    /// Names that exist before the body begins.
    pub(crate) names: HashMap<&'a str, Name>,
    /// Token index of the first item; `end` is the token index of the module's end.
    pub(crate) body: usize,
    pub(crate) end: usize,
}

/// A port: `true` for an input, `true` for a vector, name, width, `true` if signed.
pub(crate) type Port<'a> = (bool, bool, &'a str, usize, bool);

/// Meaning of a name.
#[derive(Clone)]
pub(crate) enum Name {
    /// A reserved name without a value.
    Taken,
    /// An array type of VHDL.
    Array(Size),
    Table(Rc<Table>),
    Net(usize),
}

/// Signal or port of any module.
#[derive(Default)]
pub(crate) struct Net<'a> {
    pub(crate) name: &'a str,
    pub(crate) bits: Vec<Lit>,
    /// `true` if the language treats the signal as signed.
    pub(crate) signed: bool,
    age: Option<u32>,
    /// `true` for each bit that has a driver; `open` is the number of bits without a driver.
    driven: Vec<bool>,
    pub(crate) open: usize,
    /// `true` for a one-bit input of the top module.
    pub(crate) is_control: bool,
    /// `true` for an output, whose bits may be driven separately.
    pub(crate) is_output: bool,
    /// Power-on value of a register.
    pub(crate) first: Option<Vec<bool>>,
    /// `true` if the net was read before its driver. Only registers may be, in a simulation cycle by cycle.
    pub(crate) is_ahead: bool,
    /// Value of `Clocks::now` at the last change of the net.
    pub(crate) changed: u64,
}

/// Size of a table: number of words, and bits per word.
type Size = (usize, usize);

/// Words of a table by their addresses.
type Words = HashMap<usize, u64>;

/// Look-up table with a word for each address.
pub(crate) struct Table {
    address: usize,
    width: usize,
    words: Vec<u64>,
}

/// Value of an expression: bits, age (number of clock edges since the inputs on which they depend; `None` for
/// constants), and signedness.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) bits: Vec<Lit>,
    pub(crate) age: Option<u32>,
    pub(crate) signed: bool,
    /// `true` for a value that consists of VHDL strings only; its type is that of the context.
    pub(crate) is_string: bool,
}

impl Value {
    /// Returns the value of a literal.
    pub(crate) fn constant(bits: impl IntoIterator<Item = bool>, is_string: bool) -> Value {
        Value { bits: bits.into_iter().map(Lit::constant).collect(), age: None, signed: false, is_string }
    }

    /// Returns a value of the same age with other bits.
    pub(crate) fn with(&self, bits: Vec<Lit>) -> Value {
        Value { bits, ..*self }
    }

    /// Returns the bits shifted left by `count` places, with zeros in the low bits.
    pub(crate) fn shifted(&self, count: usize) -> Value {
        let count = count.min(self.bits.len());
        self.with([&vec![Lit::FALSE; count], &self.bits[..self.bits.len() - count]].concat())
    }
}

/// Role of an input of one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role {
    Clock,
    Reset,
    Enable,
    Valid,
}

/// Usual names of control ports, which cannot be data. Names of active-low resets end in `n`.
const USUAL: [(Role, &[&str]); 4] = [
    (Role::Clock, &["clk", "ap_clk", "clock"]),
    (Role::Reset, &["rst", "reset", "ap_rst", "areset", "rst_n", "reset_n", "aresetn", "ap_rst_n"]),
    (Role::Enable, &["ce", "en", "enable", "clk_en", "ap_ce"]),
    (Role::Valid, &["valid_in", "in_valid", "ap_start"]),
];

/// Bit range after a name, the highest bit first; `None` if the name has no range.
type Range = Option<(usize, usize)>;

/// Assignments: the net, the token index of the right side, the value.
pub(crate) type Statements = Vec<(usize, usize, Value)>;

/// Active level of a control input, and `true` if it is asynchronous.
pub(crate) type Level = (bool, bool);

/// Clocked process: its registers, and the conditions under which they load. Inputs and conditions are indices of nets.
#[derive(Default)]
pub(crate) struct Process {
    pub(crate) clock: usize,
    /// Reset: its net, its level, and the values of the registers after the reset.
    pub(crate) reset: Option<(usize, Level, Statements)>,
    /// Enable: its net, and its active level.
    pub(crate) enable: Option<(usize, bool)>,
    pub(crate) next: Statements,
    /// Index of the scope in which names of the process are resolved.
    pub(crate) scope: usize,
}

pub(crate) type Result<T> = std::result::Result<T, String>;

/// Returns the unsigned number with these bits, low bit first.
pub(crate) fn number_of(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, &bit| n << 1 | u64::from(bit))
}

pub(crate) struct Reader<'t, 'a> {
    text: &'t Text<'a>,
    pub(crate) at: usize,
    /// Token index of the end of the module that is parsed.
    end: usize,
    /// Names of each scope, with one scope per instance; `scope` is the index of the current scope.
    scopes: Vec<HashMap<&'a str, Name>>,
    pub(crate) scope: usize,
    pub(crate) nets: Vec<Net<'a>>,
    pub(crate) seen: Seen<'a>,
    /// State of a simulation cycle by cycle; `None` if the file is not simulated.
    pub(crate) clocks: Option<Clocks>,
}

/// Ports of the top module, as indices of nets.
#[derive(Default)]
pub(crate) struct Open {
    /// Input vectors; `out` has the output vectors.
    pub(crate) into: Vec<usize>,
    pub(crate) out: Vec<usize>,
    /// Outputs that are not vectors.
    pub(crate) single: Vec<usize>,
}

/// State of a parser.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    depth: usize,
    /// Number of bits of all signals so far; `count` is the number of signals that were driven so far.
    bits: usize,
    pub(crate) count: usize,
    /// Index of the module that is parsed.
    module: usize,
    /// The valid flag of the inputs.
    flag: Option<Lit>,
    pub(crate) roles: HashMap<Role, (&'a str, Level)>,
    /// `true` if all registers wait for the enable, `false` if none does; `None` before the first register.
    is_enabled: Option<bool>,
}

/// Gates of the top module.
pub struct Built {
    /// Bits of each output element.
    pub outputs: Vec<Vec<Lit>>,
    /// Valid flag of the inputs, and valid flag of the outputs; the two must be equal.
    pub flags: Option<(Lit, Lit)>,
    /// Text of the theorem: the number of clock cycles from input to output, and the cycles for which it holds.
    pub statement: String,
}

/// Returns the port of each element, and its lowest bit there: one common port, or a port for each element with its
/// index at the end of the name.
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
    /// Parses the ports of all modules of a file.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate.
    pub fn read(source: &'a str) -> Result<Text<'a>> {
        let is_vhdl = source.lines().any(|line| line.trim() == "library ieee;");
        let mut text = Text { tokens: tokens(source, is_vhdl)?, is_vhdl, ..Text::default() };
        let (mut r, mut modules) = (Reader::new(&text), Vec::<Module<'a>>::new());
        let mut known = HashSet::new();
        while modules.is_empty() || r.at < text.tokens.len() {
            let mut module = if is_vhdl { r.entity() } else { r.head() }?;
            r.sure(known.insert(module.name), "two modules with one name")?;
            for &(_, _, name, ..) in &module.ports {
                let is_new = module.names.insert(name, Name::Taken).is_none();
                r.sure(is_new, &format!("{name}: a port with a name that is taken"))?;
            }
            while is_vhdl && r.skip("end") && !r.is("architecture") {}
            let is_ended = r.skip(if is_vhdl { "architecture" } else { "endmodule" });
            r.sure(is_ended, "a module without its end")?;
            r.expect(if is_vhdl { "rtl ;" } else { "" })?;
            module.end = r.at;
            modules.push(module);
        }
        (text.whole, text.modules) = (modules.len() - 1, modules);
        Ok(text)
    }

    /// Parses the file with one of its modules as the top module.
    ///
    /// # Errors
    /// If no other module than the last one has that name.
    pub fn elaborate(mut self, name: &str) -> Result<Text<'a>> {
        let place = self.modules.iter().position(|module| module.name == name);
        self.whole = place.filter(|&at| at != self.whole).ok_or("no module has that name, or the last one")?;
        Ok(self)
    }

    /// Returns the name of the top module.
    pub fn name(&self) -> &'a str {
        self.modules[self.whole].name
    }

    /// Returns the name of the top module if it is not the last one.
    pub(crate) fn inner(&self) -> Option<&'a str> {
        Some(self.name()).filter(|_| self.whole + 1 < self.modules.len())
    }

    /// Returns a parser of the top module, positioned before its body.
    pub(crate) fn open(&self) -> Result<(Reader<'_, 'a>, Open)> {
        let mut r = Reader::new(self);
        let whole = self.modules.get(self.whole).ok_or("a text without a module")?;
        (r.at, r.end, r.seen.module) = (whole.body, whole.end, self.whole);
        r.scopes[0].clone_from(&whole.names);
        let mut ports = Open::default();
        for &(is_input, is_vector, name, width, signed) in &whole.ports {
            let net = r.net(name, width)?;
            let age = is_input.then_some(0);
            let (driven, open) = (vec![is_input; width], if is_input { 0 } else { width });
            let is_control = is_input && !is_vector;
            r.nets[net] =
                Net { signed, is_control, is_output: !is_input, age, driven, open, ..std::mem::take(&mut r.nets[net]) };
            r.scopes[0].insert(name, Name::Net(net));
            match (is_input, is_vector) {
                (true, true) => ports.into.push(net),
                (false, true) => ports.out.push(net),
                (false, false) => ports.single.push(net),
                (true, false) => {}
            }
        }
        Ok((r, ports))
    }

    /// Builds the gates for the elements of inputs, and of outputs with these widths. `on_value` receives each signal
    /// once its bits are built.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate, or widths that do not match; errors of `on_value`.
    pub fn build(
        &self,
        g: &mut Graph,
        inputs: &[Vec<Lit>],
        widths: &[usize],
        sample_timing: Option<&SampleTiming>,
        on_value: ValueCallback<'_>,
    ) -> Result<Built> {
        let (mut r, Open { into, out, single }) = self.open()?;
        let ports = |r: &Reader<'_, 'a>, nets: &[usize]| -> Vec<(&str, usize)> {
            nets.iter().map(|&net| (r.nets[net].name, r.nets[net].bits.len())).collect()
        };
        let given = match sample_timing.map(|sample_timing| (sample_timing, &sample_timing.input_timing)) {
            Some((sample_timing, InputTiming::Beats(beats))) => {
                let &[port] = &into[..] else { return r.wrong("inputs in beats on several ports") };
                sample_timing.in_beats(beats, inputs, (port, r.nets[port].bits.len()))?
            }
            when => {
                let own: Vec<usize> = inputs.iter().map(Vec::len).collect();
                let mut bits: Given = into.iter().map(|&net| (net, vec![Lit::FALSE; r.nets[net].bits.len()])).collect();
                for (element, (port, low)) in inputs.iter().zip(places(&ports(&r, &into), &own)?) {
                    if !element.is_empty() {
                        bits[port].1[low..low + element.len()].copy_from_slice(element);
                    }
                }
                let count = when.filter(|when| *when.1 == InputTiming::Held).map_or(1, |when| when.0.interval);
                vec![bits; count]
            }
        };
        let places = places(&ports(&r, &out), widths)?;
        let element = |r: &Reader<'_, 'a>| -> Vec<Vec<Lit>> {
            let bits = |(&width, &(port, low)): (&usize, &(usize, usize))| match width {
                0 => Vec::new(),
                _ => r.nets[out[port]].bits[low..low + width].to_vec(),
            };
            widths.iter().zip(&places).map(bits).collect()
        };
        if let Some(sample_timing) = sample_timing {
            return r.simulate(g, (&given, &single), &element, sample_timing, on_value);
        }
        given.into_iter().flatten().for_each(|(net, bits)| r.nets[net].bits = bits);
        r.body(g, on_value)?;
        let mut age = None;
        for &net in out.iter().chain(&single) {
            age = common(age, r.nets[net].age);
            r.sure(r.nets[net].open == 0, "a bit of the output has no driver")?;
        }
        r.sure(age != Some(MIXED), "outputs of different clocks")?;
        let flags = r.seen.flag.zip(single.first().map(|&net| r.nets[net].bits[0]));
        let fits = single.len() < 2 && flags.is_some() == (r.seen.flag.is_some() || single.len() == 1);
        ensure(fits, "a valid flag is missing, or an output is neither a vector nor a flag")?;
        let clocks = match age.unwrap_or(0) {
            0 => "combinational".to_owned(),
            age => format!("after {age} clocks"),
        };
        Ok(Built { outputs: element(&r), flags, statement: r.statement(clocks, "") })
    }
}

impl<'t, 'a> Reader<'t, 'a> {
    fn new(text: &'t Text<'a>) -> Reader<'t, 'a> {
        Reader {
            text,
            at: 0,
            end: text.tokens.len(),
            scopes: vec![HashMap::new()],
            scope: 0,
            nets: Vec::new(),
            seen: Seen::default(),
            clocks: None,
        }
    }

    /// Returns the theorem: the outputs equal those of the model after `clocks` clock cycles.
    pub(crate) fn statement(&self, mut clocks: String, otherwise: &str) -> String {
        if let Some((name, _)) = self.seen.roles.get(&Role::Enable) {
            clocks += &format!(" in which {name} is 1");
        }
        match self.seen.roles.get(&Role::Reset) {
            Some((name, (high, _))) => clocks += &format!(" since {name} was last {}", u8::from(*high)),
            None => clocks += otherwise,
        }
        clocks + ", for every input"
    }

    /// Parses the items of the module.
    pub(crate) fn body(&mut self, g: &mut Graph, on_value: ValueCallback<'_>) -> Result<()> {
        if self.text.is_vhdl { self.architecture(g, on_value) } else { self.module(g, on_value) }?;
        self.sure(self.at == self.end, "something behind the module")
    }

    /// Parses an instance of another module, from its instance name on.
    pub(crate) fn instance(&mut self, g: &mut Graph, name: &str, on_value: ValueCallback<'_>) -> Result<()> {
        let text = self.text;
        let before = text.modules[..self.seen.module].iter().position(|module| module.name == name);
        let Some(number) = before else { return self.wrong(&format!("{name} begins nothing that is read here")) };
        let module = &text.modules[number];
        let ports: HashMap<&str, &Port<'a>> = module.ports.iter().map(|port| (port.2, port)).collect();
        let mut names = module.names.clone();
        let mut connection = |r: &mut Self| {
            let (ahead, between, behind) = if text.is_vhdl { ("", "=>", "") } else { (".", "(", ")") };
            let name = r.within(ahead, Self::word, between)?;
            let Some(&&(is_input, _, _, width, signed)) = ports.get(name) else {
                return r.wrong("a port that does not exist");
            };
            let net = r.connected(g, is_input, (width, signed), on_value)?;
            let is_new = matches!(names.insert(name, Name::Net(net)), Some(Name::Taken));
            r.sure(is_new, "a port that is connected twice")?;
            r.expect(behind).map(|()| (is_input, net))
        };
        let nets = self.within("(", |r| r.list(",", &mut connection), ") ;")?;
        self.seen.bits += module.end - module.body;
        self.seen.depth += 1;
        let is_read = nets.len() == ports.len() && self.seen.bits <= MOST_BITS && self.seen.depth <= DEEPEST;
        self.sure(is_read, "a port that is not connected, or more instances than are read here")?;
        self.scopes.push(names);
        let outer = (self.at, self.end, self.scope, self.seen.module);
        (self.at, self.end, self.scope, self.seen.module) = (module.body, module.end, self.scopes.len() - 1, number);
        self.body(g, on_value)?;
        (self.at, self.end, self.scope, self.seen.module) = outer;
        self.seen.depth -= 1;
        let is_open = |&(is_input, net): &(bool, usize)| !is_input && self.nets[net].open > 0;
        self.sure(!nets.iter().any(is_open), "an output of an instance without a driver")
    }

    /// Returns the net that is connected to a port: an existing one, or a new one for an expression.
    fn connected(
        &mut self,
        g: &mut Graph,
        is_input: bool,
        (width, signed): (usize, bool),
        on_value: ValueCallback<'_>,
    ) -> Result<usize> {
        let is_alone = matches!(self.text.tokens.get(self.at + 1), Some((Token::Sign("," | ")"), _)));
        // Verilog connects nets of either signedness; other conversions are expressions in this subset.
        let is_verilog_input = is_input && !self.text.is_vhdl;
        if let (true, Some(&Token::Word(name))) = (is_alone, self.peek())
            && let Some(&Name::Net(net)) = self.names().get(name)
            && !(is_verilog_input && self.nets[net].signed != signed)
        {
            self.at += 1;
            let is_fresh = self.nets[net].open == width;
            self.sure(
                (self.nets[net].bits.len(), self.nets[net].signed) == (width, signed) && (is_input || is_fresh),
                "a port of another width or sign, or driven twice",
            )?;
            self.nets[net].is_output |= !is_input;
            if is_input {
                self.reading(net)?;
            }
            return Ok(net);
        }
        self.sure(is_input, "an output that no net is connected to")?;
        let net = self.net("", width)?;
        self.nets[net].signed = signed;
        self.drive(g, (net, None), on_value).map(|()| net)
    }

    /// Returns the names of the current scope.
    pub(crate) fn names(&mut self) -> &mut HashMap<&'a str, Name> {
        &mut self.scopes[self.scope]
    }

    pub(crate) fn peek(&self) -> Option<&Token<'a>> {
        self.text.tokens.get(self.at).map(|t| &t.0)
    }

    pub(crate) fn wrong<T>(&self, what: &str) -> Result<T> {
        let line = self.text.tokens.get(self.at).or(self.text.tokens.last()).map_or(0, |t| t.1);
        Err(format!("line {line}: {what}"))
    }

    pub(crate) fn sure(&self, holds: bool, otherwise: &str) -> Result<()> {
        if holds { Ok(()) } else { self.wrong(otherwise) }
    }

    pub(crate) fn is(&self, what: &str) -> bool {
        match self.peek() {
            Some(Token::Word(own) | Token::Sign(own)) => *own == what,
            Some(Token::Number(own)) => what.parse() == Ok(*own),
            _ => false,
        }
    }

    /// Consumes the token `what` if it is next, and returns `true` in this case.
    pub(crate) fn eat(&mut self, what: &str) -> bool {
        let is = self.is(what);
        self.at += usize::from(is);
        is
    }

    /// Consumes a sequence of tokens, given with blanks between them.
    pub(crate) fn expect(&mut self, what: &str) -> Result<()> {
        what.split_ascii_whitespace()
            .try_for_each(|one| if self.eat(one) { Ok(()) } else { self.wrong(&format!("expected {one:?}")) })
    }

    /// Consumes one of two words; returns `true` for the first.
    pub(crate) fn either(&mut self, yes: &str, no: &str) -> Result<bool> {
        if self.eat(yes) { Ok(true) } else { self.expect(no).map(|()| false) }
    }

    /// Skips all tokens up to and including this one; returns `false` if it does not occur.
    pub(crate) fn skip(&mut self, last: &str) -> bool {
        while self.at < self.end && !self.is(last) {
            self.at += 1;
        }
        self.eat(last)
    }

    /// Parses an item with the tokens before and after it.
    pub(crate) fn within<T, F: FnOnce(&mut Self) -> Result<T>>(
        &mut self,
        open: &str,
        read: F,
        close: &str,
    ) -> Result<T> {
        self.expect(open)?;
        let out = read(self)?;
        self.expect(close).map(|()| out)
    }

    /// Parses one or more items with a separator.
    pub(crate) fn list<T>(&mut self, between: &str, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut out = vec![read(self)?];
        while self.eat(between) {
            out.push(read(self)?);
        }
        Ok(out)
    }

    pub(crate) fn word(&mut self) -> Result<&'a str> {
        let Some(&Token::Word(word)) = self.peek() else { return self.wrong("expected a name") };
        self.at += 1;
        Ok(word)
    }

    pub(crate) fn number(&mut self) -> Result<usize> {
        let Some(&Token::Number(number)) = self.peek() else { return self.wrong("expected a number") };
        self.at += 1;
        Ok(number)
    }

    pub(crate) fn bits(&mut self) -> Result<Vec<bool>> {
        let Some(Token::Bits(bits)) = self.peek().cloned() else { return self.wrong("expected a constant") };
        self.at += 1;
        Ok(bits)
    }

    /// Returns the three tokens of a bit range: opening bracket, separator, closing bracket.
    fn brackets(&self) -> [&'static str; 3] {
        if self.text.is_vhdl { ["(", "downto", ")"] } else { ["[", ":", "]"] }
    }

    /// Parses an optional range: `[high:low]` or `[bit]`, `(high downto low)` or `(bit)`.
    fn range(&mut self) -> Result<Range> {
        let [open, between, close] = self.brackets();
        if !self.eat(open) {
            return Ok(None);
        }
        let high = self.number()?;
        let low = if self.eat(between) { self.number()? } else { high };
        self.expect(close)?;
        self.sure(low <= high && high < WIDEST, "a range beyond the limit")?;
        Ok(Some((high, low)))
    }

    /// Parses the width of a declaration: a range down to 0.
    pub(crate) fn width(&mut self) -> Result<usize> {
        let [open, between, close] = self.brackets();
        let high = self.within(open, Self::number, &format!("{between} 0 {close}"))?;
        self.sure(high < WIDEST, "a range beyond the limit")?;
        Ok(high + 1)
    }

    /// Declares a name.
    pub(crate) fn name(&mut self, name: &'a str, meaning: Name) -> Result<()> {
        let is_new = self.names().insert(name, meaning).is_none();
        self.sure(is_new, &format!("{name} is declared twice"))
    }

    /// Creates a net.
    fn net(&mut self, name: &'a str, width: usize) -> Result<usize> {
        self.seen.bits += width;
        self.sure(self.seen.bits <= MOST_BITS, "more bits of signals than the limit")?;
        let bits = vec![Lit::UNKNOWN; width];
        self.nets.push(Net { name, bits, driven: vec![false; width], open: width, ..Net::default() });
        Ok(self.nets.len() - 1)
    }

    pub(crate) fn declare(&mut self, name: &'a str, width: usize) -> Result<usize> {
        let net = self.net(name, width)?;
        self.name(name, Name::Net(net)).map(|()| net)
    }

    /// Parses the name of a net.
    pub(crate) fn known(&mut self) -> Result<usize> {
        let name = self.word()?;
        match self.names().get(name) {
            Some(&Name::Net(net)) => Ok(net),
            _ => self.wrong(&format!("{name} is no signal that is declared above")),
        }
    }

    /// Drives bits of a net with a value.
    pub(crate) fn set(&mut self, (net, range): (usize, Range), value: &Value) -> Result<()> {
        let slot = &mut self.nets[net];
        let (high, low) = range.unwrap_or((slot.bits.len() - 1, 0));
        let is_free = high < slot.bits.len() && !slot.driven[low..=high].contains(&true);
        // In VHDL a string has the type of its target, and any other value must have the signedness of the target.
        let is_typed = !self.text.is_vhdl || value.is_string || value.signed == slot.signed;
        if !is_free || !is_typed || value.bits.len() != high - low + 1 {
            let (name, width) = (slot.name, value.bits.len());
            return self.wrong(&format!(
                "{name}: two drivers, or bits or a type that do not fit the {width} bits of their driver"
            ));
        }
        slot.bits[low..=high].copy_from_slice(&value.bits);
        slot.driven[low..=high].fill(true);
        slot.open -= value.bits.len();
        slot.age = common(slot.age, value.age);
        Ok(())
    }

    /// Parses the right side of a statement.
    pub(crate) fn source(&mut self, g: &mut Graph) -> Result<Value> {
        if self.text.is_vhdl { self.conditional(g) } else { self.expression(g, 0) }
    }

    /// Parses a value, and drives a net or bits of an output with it.
    pub(crate) fn drive(
        &mut self,
        g: &mut Graph,
        (net, range): (usize, Range),
        on_value: ValueCallback<'_>,
    ) -> Result<()> {
        let at = self.at;
        if let Some(clocks) = &mut self.clocks {
            clocks.reads.clear();
        }
        let value = self.source(g)?;
        self.sure(!self.nets[net].is_ahead, "a signal that is used above its driver")?;
        self.set((net, range), &value)?;
        if let Some(clocks) = &mut self.clocks {
            let (low, reads) = (range.map_or(0, |range| range.1), std::mem::take(&mut clocks.reads));
            clocks.statements.push(Statement { scope: self.scope, at, net, low, reads, done: 0 });
        }
        self.seen.count += 1;
        on_value(g, self.seen.count - 1, Some(&value.bits))
    }

    /// Parses a name with an optional range of bits.
    pub(crate) fn target(&mut self) -> Result<(usize, Range)> {
        Ok((self.known()?, self.range()?))
    }

    /// Assigns a role to a one-bit input, which may have no other role.
    pub(crate) fn role(&mut self, role: Role, net: usize, level: Level) -> Result<()> {
        let name = self.nets[net].name;
        let lower = name.to_ascii_lowercase();
        let usual = USUAL.iter().find(|(_, names)| names.contains(&lower.as_str()));
        let fits =
            usual.is_none_or(|(usual, _)| *usual == role && (role != Role::Reset || level.0 != lower.ends_with('n')));
        let own = *self.seen.roles.entry(role).or_insert((name, level)) == (name, level);
        let alone = self.seen.roles.iter().all(|(other, (taken, _))| *other == role || *taken != name);
        let otherwise = format!("{name} as {role:?}: no input of one bit, or it is for something else");
        self.sure(self.nets[net].is_control && fits && own && alone, &otherwise)
    }

    /// Parses the assignments `a <= b; ...` up to `end`, `else` or `elsif`.
    pub(crate) fn statements(&mut self, g: &mut Graph) -> Result<Statements> {
        let mut out = Vec::new();
        while !["end", "else", "elsif"].iter().any(|word| self.is(word)) {
            let net = self.within("", Self::known, "<=")?;
            let at = self.at;
            out.push((net, at, self.within("", |r| r.source(g), ";")?));
        }
        Ok(out)
    }

    /// Parses the assignments to registers after their clock edge: unconditional, under an enable, while the reset is
    /// inactive.
    pub(crate) fn clocked(&mut self, g: &mut Graph, process: &mut Process, at_once: bool) -> Result<()> {
        if !self.eat("if") {
            process.next = self.statements(g)?;
            return Ok(());
        }
        process.enable = Some(self.condition()?);
        process.next = self.branch(g)?;
        if process.reset.is_none() && (self.is("else") || self.is("elsif")) {
            let cleared = std::mem::take(&mut process.next);
            process.reset = process.enable.take().map(|(name, level)| (name, (level, at_once), cleared));
            if self.either("elsif", "else")? || self.eat("if") {
                process.enable = Some(self.condition()?);
            }
            process.next = self.branch(g)?;
        }
        self.expect(if self.text.is_vhdl { "end if ;" } else { "" })
    }

    /// Parses a condition on the level of a one-bit net: `(!rst_n)`, or `rst_n = '0' then`.
    pub(crate) fn condition(&mut self) -> Result<(usize, bool)> {
        let ((net, range), is_high) = if self.text.is_vhdl {
            let target = self.target()?;
            let bits = self.within("=", Self::bits, "then")?;
            self.sure(bits.len() == 1, "a level of several bits")?;
            (target, bits[0])
        } else {
            self.within("(", |r| Ok((!r.eat("!"), r.target()?)), ")").map(|(is_high, target)| (target, is_high))?
        };
        let is_one = self.nets[net].bits.len() == 1 && matches!(range, None | Some((0, 0)));
        self.sure(is_one, "a condition of several bits").map(|()| (net, is_high))
    }

    fn branch(&mut self, g: &mut Graph) -> Result<Statements> {
        let [begin, end] = if self.text.is_vhdl { [""; 2] } else { ["begin", "end"] };
        self.within(begin, |r| r.statements(g), end)
    }

    /// Drives the registers of a process after the whole process is parsed, because registers read each other's old
    /// values.
    pub(crate) fn registers(&mut self, mut process: Process) -> Result<()> {
        process.scope = self.scope;
        self.role(Role::Clock, process.clock, (true, true))?;
        let is_simulated = self.clocks.is_some();
        let is_machine = self.clocks.as_ref().is_some_and(|clocks| clocks.is_machine);
        if let Some((net, level, values)) = &process.reset {
            if is_machine {
                self.sure(!level.1, "a reset that does not wait for the clock")?;
            } else {
                self.role(Role::Reset, *net, *level)?;
            }
            let cleared: HashSet<usize> = values.iter().map(|value| value.0).collect();
            let is_constant = |(net, _, value): &(usize, usize, Value)| {
                let is_read = |&bit: &Lit| bit == Lit::FALSE || (bit == Lit::TRUE && is_simulated);
                self.nets[*net].bits.len() == value.bits.len() && value.bits.iter().all(is_read)
            };
            let taken: HashSet<usize> = process.next.iter().map(|value| value.0).collect();
            let is_reset = cleared == taken && cleared.len() == values.len() && values.iter().all(is_constant);
            self.sure(is_reset, "a reset that does not clear what it should")?;
        }
        if !is_simulated {
            if let Some((net, is_high)) = process.enable {
                self.role(Role::Enable, net, (is_high, false))?;
            }
            let is_enabled = process.enable.is_some();
            let is_of_all = *self.seen.is_enabled.get_or_insert(is_enabled) == is_enabled;
            let is_high = process.enable.is_none_or(|enable| enable.1);
            self.sure(is_of_all && is_high, "a clock enable that is not that of all registers")?;
        }
        process.next.iter().try_for_each(|(net, _, value)| {
            let age = value.age.map(|age| age.saturating_add(1));
            self.set((*net, None), &Value { age, ..value.clone() })
        })?;
        if let Some(clocks) = &mut self.clocks {
            clocks.processes.push(process);
        }
        Ok(())
    }

    /// Parses an expression in parentheses.
    pub(crate) fn inner(&mut self, g: &mut Graph) -> Result<Value> {
        self.within("(", |r| r.expression(g, 0), ")")
    }

    fn operator(&self) -> Option<(char, u32)> {
        let (Token::Word(own) | Token::Sign(own)) = self.peek()? else { return None };
        let all = if self.text.is_vhdl { &OF_VHDL[..] } else { &OF_VERILOG };
        all.iter().find(|operator| operator.0 == *own).map(|&(_, operator, strength)| (operator, strength))
    }

    /// Parses an expression of operators with a precedence of at least `least`; if `least` is 9 or more, a single
    /// operand.
    pub(crate) fn expression(&mut self, g: &mut Graph, least: u32) -> Result<Value> {
        self.seen.depth += 1;
        self.sure(self.seen.depth <= DEEPEST, "an expression too deep")?;
        let mut left = self.operand(g, least)?;
        while let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength >= least) {
            self.at += 1;
            left = if operator == '?' {
                let yes = self.within("", |r| r.expression(g, 1), ":")?;
                let no = self.expression(g, 1)?;
                self.choice(g, left, &yes, &no)?
            } else if operator == 'l' {
                left.shifted(self.number()?)
            } else {
                let right = self.expression(g, strength + 1)?;
                self.combined(g, operator, &left, &right)?
            };
        }
        self.seen.depth -= 1;
        Ok(left)
    }

    /// Parses an operand with its prefix operators.
    fn operand(&mut self, g: &mut Graph, least: u32) -> Result<Value> {
        let is_vhdl = self.text.is_vhdl;
        let (sign, strength) = match self.peek() {
            Some(Token::Bits(_)) => {
                return Ok(Value::constant(self.bits()?, is_vhdl));
            }
            Some(Token::Sign("(")) => return self.inner(g),
            Some(Token::Number(_)) if !is_vhdl => return self.cast(g),
            // Zero has the width of the subtrahend.
            Some(Token::Number(0)) if is_vhdl && least == 0 => ("0 -", 8),
            Some(Token::Sign("-")) if is_vhdl && least == 0 => ("-", 8),
            Some(Token::Word("not")) if is_vhdl => ("not", 9),
            Some(&Token::Sign(sign @ ("-" | "~" | "|" | "&"))) if !is_vhdl => (sign, 9),
            _ => return if is_vhdl { self.converted(g) } else { self.joined(g) },
        };
        let value = self.within(sign, |r| r.expression(g, strength), "")?;
        let bits = match sign {
            "-" | "0 -" => negate(g, &value.bits),
            "|" => vec![any(g, &value.bits)],
            "&" => vec![all(g, &value.bits)],
            _ => value.bits.iter().map(|&bit| !bit).collect(),
        };
        Ok(Value { signed: value.signed && !["|", "&"].contains(&sign), ..value.with(bits) })
    }

    /// Returns the bits of a value, repeated `count` times.
    pub(crate) fn repeated(&self, value: &Value, count: usize) -> Result<Value> {
        let fits = (1..=WIDEST).contains(&count.saturating_mul(value.bits.len()));
        self.sure(fits, "a repetition that is too wide")?;
        Ok(Value { signed: false, is_string: false, ..value.with(value.bits.repeat(count)) })
    }

    pub(crate) fn choice(&self, g: &mut Graph, select: Value, yes: &Value, no: &Value) -> Result<Value> {
        let fits = select.bits.len() == 1 && yes.bits.len() == no.bits.len();
        self.sure(fits, "a choice of other widths")?;
        let age = common(common(select.age, yes.age), no.age);
        let bits = choose(g, select.bits[0], &yes.bits, &no.bits);
        let signs = signs(yes, no);
        self.sure(signs[0] == signs[1] || !self.text.is_vhdl, "a choice of a signed and an unsigned value")?;
        Ok(Value { bits, age, signed: signs == [true; 2], is_string: yes.is_string && no.is_string })
    }

    pub(crate) fn combined(&self, g: &mut Graph, operator: char, left: &Value, right: &Value) -> Result<Value> {
        let (a, b) = (&left.bits, &right.bits);
        // A product is modulo the common width in Verilog, and exact in VHDL.
        let is_exact = operator == '*' && self.text.is_vhdl;
        if a.len() != b.len() && operator != ',' && !is_exact {
            return self.wrong(&format!("operands of {} and {} bits", a.len(), b.len()));
        }
        let signs = signs(left, right);
        let is_clear = signs[0] == signs[1] || (!self.text.is_vhdl && operator != '<');
        self.sure(is_clear, "a signed operand beside another one")?;
        let pairs = a.iter().copied().zip(b.iter().copied());
        let bits = match operator {
            '|' => pairs.map(|(x, y)| g.or(x, y)).collect(),
            '^' => pairs.map(|(x, y)| g.xor(x, y)).collect(),
            '&' => pairs.map(|(x, y)| g.and(x, y)).collect(),
            '+' => add(g, a, b, Lit::FALSE),
            '-' => subtract(g, a, b),
            '<' => vec![less(g, a, b, signs[0])],
            ',' => [&b[..], &a[..]].concat(),
            _ => {
                let width = if is_exact { a.len() + b.len() } else { a.len() };
                multiply(g, &resize(a, signs[0], width), &resize(b, signs[0], width))
            }
        };
        let signed = signs == [true; 2] && operator != '<';
        let is_string = left.is_string && right.is_string;
        Ok(Value { bits, age: common(left.age, right.age), signed, is_string })
    }

    /// Parses a signal or an input by name, bits of it, or a look-up in a table.
    pub(crate) fn named(&mut self, g: &mut Graph) -> Result<Value> {
        let name = self.word()?;
        let is_memory = self.is("[");
        let [open, close] = match self.text.is_vhdl {
            true => ["( to_integer (", ") )"],
            false if is_memory => ["[", "]"],
            false => ["(", ")"],
        };
        if let Some(Name::Table(words)) = self.names().get(name) {
            let words = Rc::clone(words);
            let address = self.within(open, |r| r.expression(g, 0), close)?;
            let fits = address.bits.len() == words.address && !address.signed;
            self.sure(fits, "an address of another width, or with a sign")?;
            let bits = table(g, &address.bits, words.width, |i, bit| words.words[i] >> bit & 1 == 1);
            return Ok(Value { signed: false, is_string: false, ..address.with(bits) });
        }
        let Some(&Name::Net(net)) = self.names().get(name) else {
            return self.wrong(&format!("{name} is no signal that is declared above"));
        };
        if self.nets[net].is_control && self.clocks.is_none() {
            self.role(Role::Valid, net, (true, false))?;
            self.nets[net].bits = vec![*self.seen.flag.get_or_insert_with(|| g.input())];
        }
        self.reading(net)?;
        // A bit of a constant vector, selected by an expression.
        let behind = self.text.tokens.get(self.at + 1).map(|token| &token.0);
        let is_chosen = match self.text.is_vhdl {
            true => self.is("(") && behind == Some(&Token::Word("to_integer")),
            false => is_memory && !matches!(behind, Some(Token::Number(_))),
        };
        if is_chosen {
            let address = self.within(open, |r| r.expression(g, 0), close)?;
            let bits = self.nets[net].bits.clone();
            let is_table = bits.iter().all(|bit| bit.node() == 0) && bits.len().is_power_of_two();
            let fits = is_table && bits.len().trailing_zeros() as usize == address.bits.len() && !address.signed;
            self.sure(fits, "bits that are chosen, and are not all constants, or not as many as the address can say")?;
            return Ok(address.with(table(g, &address.bits, 1, |i, _| bits[i] == Lit::TRUE)));
        }
        let range = self.range()?;
        let Net { bits, age, signed, .. } = &self.nets[net];
        let (high, low) = range.unwrap_or((bits.len() - 1, 0));
        self.sure(high < bits.len(), "bits that are not there")?;
        // Selected bits are unsigned in Verilog; in VHDL they have the signedness of the whole signal.
        let signed = *signed && (range.is_none() || self.text.is_vhdl);
        Ok(Value { bits: bits[low..=high].to_vec(), age: *age, signed, is_string: false })
    }

    /// Checks that the parser may read a net here.
    fn reading(&mut self, net: usize) -> Result<()> {
        let Net { name, open, age, .. } = self.nets[net];
        if let Some(clocks) = &mut self.clocks {
            if clocks.is_first {
                clocks.reads.push(net);
                self.nets[net].is_ahead |= open > 0;
            }
            return Ok(());
        }
        self.sure(open == 0, &format!("{name} is used before it is driven"))?;
        self.sure(age != Some(MIXED), "values of different clocks meet")
    }

    /// Adds a table with this number of words; `other` is the word of missing entries.
    pub(crate) fn table(&mut self, name: &'a str, size: Size, words: &Words, other: Option<u64>) -> Result<()> {
        let (count, width) = size;
        let is_read = count.is_power_of_two() && count <= 1 << MOST_ADDRESS && width <= MOST_WORD;
        self.sure(is_read, "a table of an unsupported size")?;
        let all: Option<Vec<u64>> = (0..count).map(|i| words.get(&i).copied().or(other)).collect();
        let Some(all) = all.filter(|_| words.len() <= count) else {
            return self.wrong("a table without some of its words, or with too many");
        };
        self.name(name, Name::Table(Rc::new(Table { address: count.trailing_zeros() as usize, width, words: all })))
    }

    /// Parses a constant of this width as a number; its width is limited to that of a table's word.
    pub(crate) fn entry(&mut self, width: usize) -> Result<u64> {
        let word = self.bits()?;
        self.sure(word.len() == width && width <= MOST_WORD, "a word of another width")?;
        Ok(number_of(&word))
    }
}

/// Returns the signedness of two operands; a string has that of the other operand.
fn signs(left: &Value, right: &Value) -> [bool; 2] {
    match (left.is_string, right.is_string) {
        (true, _) => [right.signed; 2],
        (_, true) => [left.signed; 2],
        _ => [left.signed, right.signed],
    }
}

/// Returns the age of a function of values with these ages.
pub(crate) fn common(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Some(MIXED),
        (a, b) => a.or(b),
    }
}
