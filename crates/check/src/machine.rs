//! State machines: parser for ALIRFSM JSON, and the semantics of one clock cycle, implemented from `docs/fsm.md` alone.

use crate::ValueCallback;
use crate::ensure;
use crate::graph::{Graph, Lit};
use crate::program::{MOST_BITS, Program, Type, converted, number, parsed, unpacked};
use num_bigint::BigInt;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

/// Limit on the total bits of all signals, and on the elements that connections can reach.
const MOST: usize = 1 << 24;

#[derive(Deserialize)]
struct File<'a> {
    meta: String,
    spec_version: i64,
    #[serde(borrow)]
    fsm: Parts<'a>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    logic: BTreeMap<String, &'a RawValue>,
    #[serde(borrow)]
    conns: Vec<Connected<'a>>,
}

#[derive(Deserialize)]
struct Connected<'a> {
    #[serde(borrow)]
    src: Mention<'a>,
    dst: Mention<'a>,
    enable_if: Option<Mention<'a>>,
    alt_src: Option<Mention<'a>>,
}

/// Reference to a signal: name, `true` if exposed, types, reset, value after reset, `true` if a register, schedule,
/// mode, attributes, view, index.
#[derive(Deserialize)]
#[expect(dead_code, reason = "schedule, direction and attributes change nothing")]
struct Mention<'a>(
    String,
    bool,
    Vec<(Value, i64, i64)>,
    #[serde(borrow)] Option<Box<Mention<'a>>>,
    Option<Vec<&'a RawValue>>,
    bool,
    Option<Value>,
    String,
    Option<Value>,
    (usize, usize),
    Option<(Box<Mention<'a>>, usize)>,
);

/// Category of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A port.
    Input,
    /// Driven by a connection without a clock; also the inputs of a block.
    Wire,
    /// Output of a block.
    BlockOutput,
    Register,
}

/// A named object.
#[derive(Clone, Debug)]
struct Signal {
    name: String,
    kind: Kind,
    is_output: bool,
    types: Vec<Type>,
    /// Value of a register at power-on and after its reset, by element.
    first: Option<Vec<Vec<Lit>>>,
    reset: Option<View>,
}

/// Elements `low` to `high` (exclusive) of a signal, moved by an index times a step.
#[derive(Clone, Debug, PartialEq)]
struct View {
    signal: usize,
    low: usize,
    high: usize,
    index: Option<(Box<View>, usize)>,
}

#[derive(Clone, Debug)]
struct Connection {
    from: View,
    to: View,
    enable: Option<View>,
    other: Option<View>,
}

/// Combinational part of a cycle: a connection, or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    Connection(usize),
    Block(usize),
}

/// A block, and the signals that it reads and drives.
#[derive(Clone, Debug)]
struct Block {
    program: Program,
    reads: Option<usize>,
    makes: Option<usize>,
}

/// A state machine.
#[derive(Clone, Debug)]
pub struct Machine {
    signals: Vec<Signal>,
    blocks: Vec<Block>,
    connections: Vec<Connection>,
    /// Combinational connections and blocks, each after the parts whose values it reads.
    order: Vec<Part>,
}

/// Element of a signal in one clock cycle.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Bits of the element.
    pub(crate) bits: Vec<Lit>,
    /// Literal that is 1 if all operands were defined.
    pub(crate) is_defined: Lit,
}

/// The elements of each signal.
pub(crate) type Cells = Vec<Vec<Cell>>;

fn is_set(flag: &Value) -> bool {
    flag.as_bool() == Some(true) || flag.as_i64().is_some_and(|number| number != 0)
}

/// Returns the bits of a value of this type, low bits first.
fn code(raw: &RawValue, kind: Type) -> Result<Vec<Lit>, String> {
    let (mantissa, exponent) = number(raw.get())?;
    let shift = exponent + kind.frac;
    let zeros = mantissa.trailing_zeros().map_or(i64::MAX, |zeros| zeros as i64);
    ensure(zeros >= -shift && shift < 2 * MOST_BITS, "a reset value that is not a multiple of its type's step")?;
    let code = if shift < 0 { mantissa >> shift.unsigned_abs().min(4096) } else { mantissa << shift.unsigned_abs() };
    let top = BigInt::from(1) << kind.width.saturating_sub(usize::from(kind.signed));
    let least = if kind.signed && kind.width > 0 { -top.clone() } else { BigInt::ZERO };
    ensure(least <= code && code < top, "a reset value outside of its type")?;
    Ok((0..kind.width as u64).map(|bit| Lit::constant(code.bit(bit))).collect())
}

impl Connected<'_> {
    /// Returns all mentions of the connection: its own mentions, and the resets and indices that they contain.
    fn all(&self) -> Vec<&Mention<'_>> {
        let mut all = vec![&self.src, &self.dst];
        all.extend(self.enable_if.iter().chain(&self.alt_src));
        let mut at = 0;
        while let Some(&mention) = all.get(at) {
            all.extend(mention.3.as_deref());
            all.extend(mention.10.as_ref().map(|index| &*index.0));
            at += 1;
        }
        all
    }
}

impl Machine {
    /// Returns `true` if the key `meta` of the file is that of a state machine.
    pub fn is_one(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Head {
            meta: String,
        }
        let head = unpacked(bytes).ok().and_then(|plain| serde_json::from_slice::<Head>(&plain).ok());
        head.is_some_and(|head| head.meta == "ALIRFSM")
    }

    /// Parses a machine, plain or gzip.
    ///
    /// # Errors
    /// If the file is not a valid state machine.
    pub fn read(bytes: &[u8]) -> Result<Machine, String> {
        let plain = unpacked(bytes)?;
        let file: File<'_> = serde_json::from_slice(&plain).map_err(|why| format!("not ALIRFSM JSON: {why}"))?;
        let is_known = (file.meta.as_str(), file.spec_version) == ("ALIRFSM", 4);
        ensure(is_known, "a state machine of another version")?;
        let mut out = Machine { signals: Vec::new(), blocks: Vec::new(), connections: Vec::new(), order: Vec::new() };
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mentions: Vec<&Mention<'_>> = file.fsm.conns.iter().flat_map(Connected::all).collect();
        let driven: Vec<&str> = file.fsm.conns.iter().map(|conn| conn.dst.0.as_str()).collect();
        let driven: std::collections::HashSet<&str> = driven.into_iter().collect();
        let mut blocks: HashMap<String, (bool, usize)> = HashMap::new();
        for (name, raw) in &file.fsm.logic {
            let parts: Vec<&RawValue> = parsed(raw)?;
            let program = Program::from_parts(&parts, 4).map_err(|why| format!("block {name}: {why}"))?;
            blocks.insert(format!("INTERNAL_{name}_outp"), (false, out.blocks.len()));
            blocks.insert(format!("INTERNAL_{name}_inp"), (true, out.blocks.len()));
            out.blocks.push(Block { program, reads: None, makes: None });
        }
        for mention in &mentions {
            if by_name.contains_key(mention.0.as_str()) {
                continue;
            }
            let number = out.signals.len();
            let block = blocks.get(&mention.0).copied();
            let kind = match block {
                Some((true, _)) => Kind::Wire,
                Some((false, _)) => Kind::BlockOutput,
                None if mention.5 => Kind::Register,
                None if mention.1 && !driven.contains(mention.0.as_str()) => Kind::Input,
                None => Kind::Wire,
            };
            out.signals.push(Signal::read(mention, kind).map_err(|why| format!("signal {}: {why}", mention.0))?);
            by_name.insert(&mention.0, number);
            if let Some((is_read, block)) = block {
                let block = &mut out.blocks[block];
                let ports = if is_read { block.program.inputs.len() } else { block.program.outputs().len() };
                ensure(ports == out.signals[number].types.len(), "a block with another number of ports")?;
                *if is_read { &mut block.reads } else { &mut block.makes } = Some(number);
            }
        }
        let bits: usize = out.signals.iter().flat_map(|signal| &signal.types).map(|kind| kind.width).sum();
        ensure(bits <= MOST, "more bits of signals than the limit")?;
        let view = |mention: &Mention<'_>| out.view(&by_name, mention);
        let resets: Vec<Option<View>> =
            mentions.iter().map(|mention| mention.3.as_deref().map(view).transpose()).collect::<Result<_, String>>()?;
        let mut connections = Vec::new();
        for conn in &file.fsm.conns {
            let [enable, other] =
                [&conn.enable_if, &conn.alt_src].map(|mention| mention.as_ref().map(view).transpose());
            let (enable, other) = (enable?, other?);
            connections.push(Connection { from: view(&conn.src)?, to: view(&conn.dst)?, enable, other });
        }
        let again: Vec<Signal> = mentions.iter().map(|m| Signal::read(m, Kind::Wire)).collect::<Result<_, String>>()?;
        for ((mention, reset), again) in mentions.iter().zip(resets).zip(again) {
            let signal = &mut out.signals[by_name[mention.0.as_str()]];
            let is_first = signal.reset.is_none() && reset.is_some();
            let is_same = signal.types == again.types && signal.first == again.first;
            let is_register = signal.kind == Kind::Register;
            let is_whole = reset.is_none() || !is_register || signal.first.is_some();
            let is_exposed = mention.1 == (signal.is_output || signal.kind == Kind::Input);
            ensure(
                is_same && is_whole && is_exposed,
                &format!("signal {}: two kinds, or a reset without a value", signal.name),
            )?;
            if is_first {
                signal.reset = reset;
            } else {
                ensure(signal.reset == reset, &format!("signal {}: two resets", signal.name))?;
            }
        }
        out.connections = connections;
        out.check().map(|()| out)
    }

    fn view(&self, by_name: &HashMap<&str, usize>, mention: &Mention<'_>) -> Result<View, String> {
        let signal = by_name[mention.0.as_str()];
        let (low, high) = mention.9;
        let types = &self.signals[signal].types;
        let wrong = |what: &str| format!("signal {}: {what}", mention.0);
        ensure(low < high && high <= types.len(), &wrong("a view of elements that do not exist"))?;
        let index = match &mention.10 {
            None => None,
            Some((index, step)) => {
                let index = self.view(by_name, index)?;
                let kind = self.signals[index.signal].types[index.low];
                let is_number = index.high - index.low == 1 && !kind.signed && kind.frac == 0 && index.index.is_none();
                ensure(is_number, &wrong("an index that is not a whole number"))?;
                ensure(types[low..].iter().all(|kind| *kind == types[low]), &wrong("an index over several types"))?;
                Some((Box::new(index), *step))
            }
        };
        Ok(View { signal, low, high, index })
    }

    /// Checks the rules for connections and blocks, and computes the order of evaluation.
    fn check(&mut self) -> Result<(), String> {
        let is_bit = |view: &View| {
            let kind = self.signals[view.signal].types[view.low];
            view.high - view.low == 1 && !kind.signed && kind.width == 1
        };
        let resets = self.signals.iter().filter_map(|signal| signal.reset.as_ref());
        let controls = resets.chain(self.connections.iter().filter_map(|connection| connection.enable.as_ref()));
        ensure(controls.into_iter().all(is_bit), "a reset or an enable that is not one bit")?;
        // Driver of each element.
        let mut by: Vec<Vec<Option<Part>>> = self.signals.iter().map(|signal| vec![None; signal.types.len()]).collect();
        for (number, block) in self.blocks.iter().enumerate() {
            ensure(block.reads.is_some() || block.program.inputs.is_empty(), "a block that nothing feeds")?;
            block.makes.into_iter().for_each(|signal| by[signal].fill(Some(Part::Block(number))));
        }
        let mut work = 0;
        for (number, Connection { from, to, enable, other }) in self.connections.iter().enumerate() {
            let length = to.high - to.low;
            let fits = [Some(from), other.as_ref()].into_iter().flatten().all(|view| view.high - view.low == length);
            let kind = self.signals[to.signal].kind;
            let is_clocked = kind == Kind::Register;
            let is_driven = is_clocked || kind == Kind::Wire;
            let is_latch = !is_clocked && (to.index.is_some() || (enable.is_some() && other.is_none()));
            ensure(fits && is_driven && !is_latch, "an invalid connection")?;
            let reached =
                [from, to].map(|view| if view.index.is_some() { self.signals[view.signal].types.len() } else { 1 });
            work += length * reached[0] * reached[1];
            let high = if to.index.is_some() { self.signals[to.signal].types.len() } else { to.high };
            for element in &mut by[to.signal][to.low..high] {
                ensure(element.replace(Part::Connection(number)).is_none(), "an element with two drivers")?;
            }
        }
        ensure(work <= MOST, "more elements that indices can reach than the limit")?;
        let is_whole = |(signal, by): (&Signal, &Vec<Option<Part>>)| signal.kind != Kind::Wire || !by.contains(&None);
        ensure(self.signals.iter().zip(&by).all(is_whole), "a signal that is not driven")?;
        // Parts, each with the parts that must be evaluated before it.
        let mut waiting: Vec<(Part, Vec<Part>)> = Vec::new();
        for (number, connection) in self.connections.iter().enumerate() {
            if self.signals[connection.to.signal].kind == Kind::Register {
                continue;
            }
            let mut views = vec![&connection.from];
            views.extend(connection.enable.iter().chain(&connection.other));
            let mut needed = Vec::new();
            while let Some(view) = views.pop() {
                let high = if view.index.is_some() { by[view.signal].len() } else { view.high };
                needed.extend(
                    by[view.signal][view.low..high].iter().flatten().filter(|_| self.is_combinational(view.signal)),
                );
                views.extend(view.index.as_ref().map(|index| &*index.0));
            }
            waiting.push((Part::Connection(number), needed));
        }
        for (number, block) in self.blocks.iter().enumerate() {
            let needed = block.reads.iter().flat_map(|&signal| by[signal].iter().flatten().copied()).collect();
            waiting.push((Part::Block(number), needed));
        }
        let mut readers: HashMap<Part, Vec<usize>> = HashMap::new();
        let mut open = Vec::new();
        for (at, (_, needed)) in waiting.iter_mut().enumerate() {
            needed.sort_unstable();
            needed.dedup();
            needed.iter().for_each(|part| readers.entry(*part).or_default().push(at));
            open.push(needed.len());
        }
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|&at| open[at] == 0).collect();
        while let Some(at) = ready.pop() {
            self.order.push(waiting[at].0);
            for &reader in readers.get(&waiting[at].0).map_or(&[][..], Vec::as_slice) {
                open[reader] -= 1;
                ready.extend(Some(reader).filter(|_| open[reader] == 0));
            }
        }
        ensure(self.order.len() == waiting.len(), "a combinational loop")
    }

    fn is_combinational(&self, signal: usize) -> bool {
        matches!(self.signals[signal].kind, Kind::Wire | Kind::BlockOutput)
    }

    fn places(&self, is_one: impl Fn(&Signal) -> bool) -> Vec<usize> {
        (0..self.signals.len()).filter(|&signal| is_one(&self.signals[signal])).collect()
    }

    /// Returns the input ports.
    pub(crate) fn inputs(&self) -> Vec<usize> {
        self.places(|signal| signal.kind == Kind::Input)
    }

    /// Returns the output ports.
    pub(crate) fn outputs(&self) -> Vec<usize> {
        self.places(|signal| signal.is_output)
    }

    /// Returns the number of bits of all input ports.
    pub(crate) fn input_bits(&self) -> usize {
        self.inputs().into_iter().map(|signal| self.name(signal).1).sum()
    }

    /// Returns the registers.
    pub(crate) fn registers(&self) -> Vec<usize> {
        self.places(|signal| signal.kind == Kind::Register)
    }

    /// Returns the elements of input ports, then of registers: names, numbers and widths in bits. They are the inputs
    /// of intermediate programs.
    pub fn elements(&self) -> Vec<(&str, usize, usize)> {
        let signals = self.inputs().into_iter().chain(self.registers()).map(|signal| &self.signals[signal]);
        let of = |signal: &'_ Signal| -> Vec<usize> { signal.types.iter().map(|kind| kind.width).collect() };
        let elements = signals.map(|signal| (signal.name.as_str(), of(signal)));
        elements
            .flat_map(|(name, widths)| widths.into_iter().enumerate().map(move |(at, width)| (name, at, width)))
            .collect()
    }

    /// Returns the type of an operation of program `program`; each cycle builds one program for each block.
    pub fn kind(&self, program: usize, operation: usize) -> Type {
        let blocks =
            self.order.iter().filter_map(|part| if let Part::Block(block) = part { Some(*block) } else { None });
        let block = blocks.clone().nth(program % blocks.count()).expect("a block makes the program");
        self.blocks[block].program.operations[operation].kind
    }

    /// Returns the names of the input or output ports, with the types of their elements.
    pub fn ports(&self, are_inputs: bool) -> Vec<(&str, &[Type])> {
        let ports = if are_inputs { self.inputs() } else { self.outputs() };
        let signals = ports.into_iter().map(|signal| &self.signals[signal]);
        signals.map(|signal| (signal.name.as_str(), &signal.types[..])).collect()
    }

    /// Returns the name of a signal, and its number of bits.
    pub(crate) fn name(&self, signal: usize) -> (&str, usize) {
        let Signal { name, types, .. } = &self.signals[signal];
        (name, types.iter().map(|kind| kind.width).sum())
    }

    /// Returns the power-on value of a register, or `None` if it is unknown.
    pub(crate) fn first(&self, register: usize) -> Option<Vec<Lit>> {
        self.signals[register].first.as_ref().map(|first| first.concat())
    }

    /// Returns the bits of all registers, each as register name, element and index of the bit in the element.
    pub fn state(&self) -> Vec<(&str, usize, usize)> {
        let registers = self.registers();
        let elements = registers.iter().flat_map(|&signal| {
            let Signal { name, types, .. } = &self.signals[signal];
            types.iter().enumerate().map(move |(element, kind)| (name.as_str(), element, kind.width))
        });
        elements.flat_map(|(name, element, width)| (0..width).map(move |bit| (name, element, bit))).collect()
    }

    /// Splits these bits into the elements of a signal, element 0 first.
    pub(crate) fn cells(&self, signal: usize, bits: &[Lit], is_defined: Lit) -> Vec<Cell> {
        let mut rest = bits;
        let cell = |kind: &Type| {
            let (own, others) = rest.split_at(kind.width);
            rest = others;
            Cell { bits: own.to_vec(), is_defined }
        };
        self.signals[signal].types.iter().map(cell).collect()
    }

    /// Returns the value zero for all elements of all signals.
    pub(crate) fn empty(&self) -> Cells {
        let zero = |kind: &Type| Cell { bits: vec![Lit::FALSE; kind.width], is_defined: Lit::TRUE };
        self.signals.iter().map(|signal| signal.types.iter().map(zero).collect()).collect()
    }

    /// Evaluates one cycle: computes all other values from the inputs and registers among them, and returns the
    /// register values after the clock edge. `on_value` receives the values of blocks.
    ///
    /// # Errors
    /// Errors of `on_value`.
    pub(crate) fn clock(
        &self,
        g: &mut Graph,
        values: &mut Cells,
        on_value: ValueCallback<'_>,
    ) -> Result<Cells, String> {
        for part in &self.order {
            match *part {
                Part::Connection(number) => {
                    let connection = &self.connections[number];
                    let taken = self.taken(g, values, connection);
                    values[connection.to.signal][connection.to.low..connection.to.high].clone_from_slice(&taken);
                }
                Part::Block(number) => self.block(g, values, &self.blocks[number], on_value)?,
            }
        }
        let mut next = values.clone();
        for connection in &self.connections {
            if self.signals[connection.to.signal].kind == Kind::Register {
                self.load(g, values, connection, &mut next[connection.to.signal]);
            }
        }
        for (signal, next) in self.signals.iter().zip(&mut next).filter(|(signal, _)| signal.kind == Kind::Register) {
            let Some((reset, first)) = signal.reset.as_ref().zip(signal.first.as_ref()) else { continue };
            let reset = self.seen(g, values, reset).swap_remove(0);
            for (cell, first) in next.iter_mut().zip(first) {
                let first = Cell { bits: first.clone(), is_defined: Lit::TRUE };
                *cell = chosen(g, &reset, &first, cell);
            }
        }
        Ok(next)
    }

    fn seen(&self, g: &mut Graph, values: &Cells, view: &View) -> Vec<Cell> {
        let own = &values[view.signal];
        let Some((index, step)) = &view.index else { return own[view.low..view.high].to_vec() };
        let index = self.seen(g, values, index).swap_remove(0);
        let types = &self.signals[view.signal].types;
        let element = |first: usize| {
            // An element beyond the last one reads as zero, which is defined.
            let mut found = Cell { bits: vec![Lit::FALSE; types[first].width], is_defined: Lit::TRUE };
            for (number, at) in reached(first, *step, own.len()) {
                let is_here = is_number(g, &index.bits, number, *step);
                found = either(g, is_here, &own[at], &found);
            }
            Cell { is_defined: g.and(found.is_defined, index.is_defined), ..found }
        };
        (view.low..view.high).map(element).collect()
    }

    /// Returns the values of one source of a connection, in the types of its destination.
    fn source(&self, g: &mut Graph, values: &Cells, from: &View, to: &View) -> Vec<Cell> {
        let cells = self.seen(g, values, from);
        let types = |view: &View| self.signals[view.signal].types[view.low..view.high].to_vec();
        let types = types(from).into_iter().zip(types(to));
        let of = |(cell, (from, to)): (Cell, (Type, Type))| Cell { bits: converted(&cell.bits, from, 0, to), ..cell };
        cells.into_iter().zip(types).map(of).collect()
    }

    /// Returns the value that a connection drives: its source, or its other source if the enable is 0.
    fn taken(&self, g: &mut Graph, values: &Cells, connection: &Connection) -> Vec<Cell> {
        let Connection { from, to, enable, other } = connection;
        let yes = self.source(g, values, from, to);
        let Some((enable, other)) = enable.as_ref().zip(other.as_ref()) else { return yes };
        let enable = self.seen(g, values, enable).swap_remove(0);
        let no = self.source(g, values, other, to);
        yes.iter().zip(&no).map(|(yes, no)| chosen(g, &enable, yes, no)).collect()
    }

    fn load(&self, g: &mut Graph, values: &Cells, connection: &Connection, next: &mut [Cell]) {
        let Connection { to, enable, other, .. } = connection;
        let taken = self.taken(g, values, connection);
        let always = Cell { bits: vec![Lit::TRUE], is_defined: Lit::TRUE };
        let enable = enable.as_ref().filter(|_| other.is_none());
        let enable = enable.map_or(always, |enable| self.seen(g, values, enable).swap_remove(0));
        let Some((index, step)) = &to.index else {
            for (cell, own) in next[to.low..to.high].iter_mut().zip(&taken) {
                *cell = chosen(g, &enable, own, cell);
            }
            return;
        };
        let index = self.seen(g, values, index).swap_remove(0);
        for (first, own) in (to.low..to.high).zip(&taken) {
            for (number, at) in reached(first, *step, next.len()) {
                let is_here = is_number(g, &index.bits, number, *step);
                let loaded = chosen(g, &enable, own, &next[at]);
                next[at] = either(g, is_here, &loaded, &next[at]);
            }
        }
        // If the index is undefined, the connection may write any of these elements, so each of them is undefined.
        for cell in &mut next[to.low..] {
            cell.is_defined = g.and(cell.is_defined, index.is_defined);
        }
    }

    fn block(
        &self,
        g: &mut Graph,
        values: &mut Cells,
        block: &Block,
        on_value: ValueCallback<'_>,
    ) -> Result<(), String> {
        let Block { program, reads, makes } = block;
        let (mut inputs, mut is_defined) = (Vec::new(), Lit::TRUE);
        if let Some(reads) = *reads {
            let types = self.signals[reads].types.iter().zip(&program.inputs);
            for (cell, ((from, to), &shift)) in values[reads].iter().zip(types.zip(&program.shifts)) {
                inputs.push(converted(&cell.bits, *from, shift, *to));
                is_defined = g.and(is_defined, cell.is_defined);
            }
        }
        let outputs = program.build(g, &inputs, on_value)?;
        if let Some(makes) = *makes {
            let types = program.outputs().into_iter().zip(&self.signals[makes].types);
            let cell = |(bits, (from, to)): (&Vec<Lit>, (Type, &Type))| Cell {
                bits: converted(bits, from, 0, *to),
                is_defined,
            };
            values[makes] = outputs.iter().zip(types).map(cell).collect();
        }
        Ok(())
    }
}

impl Signal {
    fn read(mention: &Mention<'_>, kind: Kind) -> Result<Signal, String> {
        let mut types = Vec::new();
        for (signed, int, frac) in &mention.2 {
            let signed = is_set(signed);
            let is_near = int.unsigned_abs().max(frac.unsigned_abs()) <= MOST_BITS as u64;
            let width = int.wrapping_add(*frac).wrapping_add(i64::from(signed));
            ensure(is_near && (0..=MOST_BITS).contains(&width), "a type beyond the limits")?;
            let kind = Type { signed, width: width as usize, frac: *frac };
            types.push(if width == 0 { Type::default() } else { kind });
        }
        let first = match &mention.4 {
            None => None,
            Some(codes) => {
                ensure(codes.len() == types.len(), "a reset with another number of elements")?;
                let codes = codes.iter().zip(&types).map(|(raw, &kind)| code(raw, kind));
                Some(codes.collect::<Result<Vec<_>, String>>()?)
            }
        };
        let is_output = mention.1 && kind != Kind::Input;
        Ok(Signal { name: mention.0.clone(), kind, is_output, types, first, reset: None })
    }
}

/// Returns the valid values of an index, each with the element that it selects.
fn reached(first: usize, step: usize, elements: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = if step == 0 { usize::from(first < elements) } else { elements.saturating_sub(first).div_ceil(step) };
    (0..count).map(move |number| (number, first + number * step))
}

/// Returns a literal that is 1 if an index equals this number; with step 0 every index selects the same element.
fn is_number(g: &mut Graph, index: &[Lit], number: usize, step: usize) -> Lit {
    if step == 0 {
        return Lit::TRUE;
    }
    if index.len() < 64 && number >> index.len() > 0 {
        return Lit::FALSE;
    }
    let bit = |i: usize| i < 64 && number >> i & 1 == 1;
    (0..index.len()).fold(Lit::TRUE, |all, i| g.and(all, index[i].flipped(!bit(i))))
}

fn either(g: &mut Graph, select: Lit, yes: &Cell, no: &Cell) -> Cell {
    let bits = yes.bits.iter().zip(&no.bits).map(|(&yes, &no)| g.mux(select, yes, no)).collect();
    Cell { bits, is_defined: g.mux(select, yes.is_defined, no.is_defined) }
}

/// Returns one of two cells; the result is undefined if the selecting cell is undefined.
fn chosen(g: &mut Graph, select: &Cell, yes: &Cell, no: &Cell) -> Cell {
    let cell = either(g, select.bits[0], yes, no);
    Cell { is_defined: g.and(cell.is_defined, select.is_defined), ..cell }
}
