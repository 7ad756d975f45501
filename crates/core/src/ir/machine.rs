//! Stateful designs: combinational programs, registers, and the connections between them.
//!
//! A [`Machine`] is the content of an `ALIRFSM` file (`docs/fsm.md`): named signals of one or more fixed-point
//! elements, some of them ports, some registers; blocks, each a [`Model`]; and connections that copy elements from one
//! signal to another, in every cycle or at the clock edge. Like a model, a machine that exists is valid: only
//! [`MachineBuilder::finish`] creates one, after it has ordered all combinational connections and blocks.

use super::Model;
use crate::num::Kif;
use num_bigint::BigInt;
use std::fmt;

/// Index of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalId(pub u32);

/// Index of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl SignalId {
    /// Returns the index for subscripts.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// Returns the index for subscripts.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// An input port.
    Input,
    /// An internal wire.
    Wire,
    /// An input of a block.
    BlockInput(BlockId),
    /// An output of a block.
    BlockOutput(BlockId),
    /// A register clocked by the rising edge.
    Register,
}

/// A named object of the design.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Name in the file.
    pub name: String,
    /// Kind of the signal.
    pub kind: SignalKind,
    /// `true` if the signal is also an output port; always `false` for inputs.
    pub output: bool,
    /// Types of the elements.
    pub elements: Vec<Kif>,
    /// Raw integer values of a register at power-on and after reset, one for each element.
    pub reset_to: Option<Vec<BigInt>>,
    /// One-bit element that resets the register while it is 1.
    pub reset_if: Option<Access>,
    /// Modulo schedule (toggles and period), which documents the cycles in which the signal is valid.
    pub schedule: Option<(Vec<i64>, i64)>,
}

/// A view of a signal: elements `lo .. hi`, optionally moved by a run-time index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The signal.
    pub signal: SignalId,
    /// First element.
    pub lo: usize,
    /// One past the last element.
    pub hi: usize,
    /// Index (one element), and the number of elements by which the view moves when the index increases by one.
    pub dynamic: Option<(Box<Access>, usize)>,
}

impl Access {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.hi - self.lo
    }

    /// Returns `true` if the view has no element.
    pub fn is_empty(&self) -> bool {
        self.lo == self.hi
    }
}

/// A connection that drives `dst` with `src`: combinationally, or at each clock edge if `dst` is a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Source of the values.
    pub src: Access,
    /// Destination; the values are converted to its types.
    pub dst: Access,
    /// Enable, a one-bit element. While it is 0, `alternative` drives the destination; without `alternative`, a
    /// register keeps its value.
    pub enable_if: Option<Access>,
    /// Source of the values while the enable is 0.
    pub alternative: Option<Access>,
}

/// Step of the combinational evaluation of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// A connection to a signal that is not a register.
    Connection(usize),
    /// A block, from its inputs to its outputs.
    Block(BlockId),
}

/// A combinational program inside a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Name in the file.
    pub name: String,
    /// Program of the block.
    pub model: Model,
    /// Signal that the block reads.
    pub input: Option<SignalId>,
    /// Signal that the block drives.
    pub output: Option<SignalId>,
}

/// A valid stateful design.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    signals: Vec<Signal>,
    blocks: Vec<Block>,
    connections: Vec<Connection>,
    order: Vec<Settle>,
}

impl Machine {
    /// Returns all signals.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Returns the signal with this id.
    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.index()]
    }

    /// Returns the types of the elements of a view. With a run-time index, all elements that the view can reach have
    /// these types.
    pub fn types(&self, view: &Access) -> &[Kif] {
        &self.signal(view.signal).elements[view.lo..view.hi]
    }

    /// Returns the ids of all signals.
    pub fn signal_ids(&self) -> impl Iterator<Item = SignalId> + use<> {
        (0..self.signals.len() as u32).map(SignalId)
    }

    /// Returns all blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns all connections.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// Returns an order in which combinational connections and blocks can be evaluated from inputs and registers.
    pub fn order(&self) -> &[Settle] {
        &self.order
    }

    /// Returns the input ports, in the order of the file.
    pub fn inputs(&self) -> impl Iterator<Item = SignalId> + '_ {
        self.signal_ids().filter(|&s| self.signal(s).kind == SignalKind::Input)
    }

    /// Returns the output ports, in the order of the file.
    pub fn outputs(&self) -> impl Iterator<Item = SignalId> + '_ {
        self.signal_ids().filter(|&s| self.signal(s).output)
    }

    /// Returns the number of bits of all registers as the file declares them.
    pub fn register_bits(&self) -> u64 {
        let registers = self.signals.iter().filter(|s| s.kind == SignalKind::Register);
        registers.flat_map(|s| &s.elements).map(|k| u64::from(k.width())).sum()
    }

    /// Returns the machine with each block's program replaced; ports of the programs must stay the same.
    ///
    /// # Panics
    /// If a replacement has other port types than the block it replaces.
    #[must_use]
    pub fn with_blocks(mut self, mut replace: impl FnMut(&Model) -> Model) -> Machine {
        for block in &mut self.blocks {
            let new = replace(&block.model);
            assert_eq!(new.input_kifs(), block.model.input_kifs(), "block {} keeps its ports", block.name);
            assert_eq!(new.output_intervals(), block.model.output_intervals(), "block {} keeps its ports", block.name);
            block.model = new;
        }
        self
    }
}

/// Violation of a rule of stateful designs, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineProblem {
    /// Stable code, `E04xx`.
    pub code: &'static str,
    /// Place: a signal, connection or block of the design.
    pub site: MachineSite,
    /// Message of the problem.
    pub message: String,
    /// Suggested correction.
    pub help: &'static str,
}

/// A part of a stateful design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineSite {
    /// The design as a whole.
    Whole,
    /// A signal, by name.
    Signal(String),
    /// A connection, by index.
    Connection(usize),
    /// A block, by name.
    Block(String),
}

impl fmt::Display for MachineSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineSite::Whole => f.write_str("fsm"),
            MachineSite::Signal(name) => write!(f, "signal {name:?}"),
            MachineSite::Connection(i) => write!(f, "fsm.conns[{i}]"),
            MachineSite::Block(name) => write!(f, "fsm.logic[{name:?}]"),
        }
    }
}

/// Collects the parts of a machine; [`MachineBuilder::finish`] checks them.
#[derive(Clone, Debug, Default)]
pub struct MachineBuilder {
    signals: Vec<Signal>,
    blocks: Vec<Block>,
    connections: Vec<Connection>,
}

impl MachineBuilder {
    /// Appends a block; its input and output signals are appended later.
    pub fn block(&mut self, name: String, model: Model) -> BlockId {
        self.blocks.push(Block { name, model, input: None, output: None });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Appends a signal.
    pub fn signal(&mut self, signal: Signal) -> SignalId {
        self.signals.push(signal);
        SignalId(self.signals.len() as u32 - 1)
    }

    /// Appends a connection.
    pub fn connection(&mut self, connection: Connection) {
        self.connections.push(connection);
    }

    /// Returns the signals so far.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Sets the reset condition of a register.
    pub fn reset_if(&mut self, register: SignalId, when: Access) {
        self.signals[register.index()].reset_if = Some(when);
    }

    /// Sets the power-on and reset value of a register.
    pub fn reset_to(&mut self, register: SignalId, to: Option<Vec<BigInt>>) {
        self.signals[register.index()].reset_to = to;
    }

    /// Checks the parts and returns the machine.
    ///
    /// # Errors
    /// All violated rules. Drivers of elements are only checked if signals and connections are valid, and the order of
    /// evaluation only if all other rules hold.
    pub fn finish(mut self) -> Result<Machine, Vec<MachineProblem>> {
        let mut problems = Vec::new();
        self.attach_blocks(&mut problems);
        let driver = {
            let mut checker = Checker { design: &self, problems: &mut problems };
            checker.signals();
            checker.connections();
            if checker.problems.is_empty() { Some(checker.drivers()) } else { None }
        };
        let Some(drivers) = driver.filter(|_| problems.is_empty()) else { return Err(problems) };
        match order(&self, &drivers) {
            Ok(order) => {
                Ok(Machine { signals: self.signals, blocks: self.blocks, connections: self.connections, order })
            }
            Err(problem) => Err(vec![problem]),
        }
    }

    fn attach_blocks(&mut self, problems: &mut Vec<MachineProblem>) {
        for (index, signal) in self.signals.iter().enumerate() {
            let id = SignalId(index as u32);
            let (block, input) = match signal.kind {
                SignalKind::BlockInput(b) => (b, true),
                SignalKind::BlockOutput(b) => (b, false),
                _ => continue,
            };
            let block = &mut self.blocks[block.index()];
            let (slot, ports) = if input {
                (&mut block.input, block.model.n_inputs())
            } else {
                (&mut block.output, block.model.outputs().len())
            };
            *slot = Some(id);
            if signal.elements.len() != ports {
                problems.push(MachineProblem {
                    code: "E0401",
                    site: MachineSite::Signal(signal.name.clone()),
                    message: format!("{} elements for the {ports} of block {:?}", signal.elements.len(), block.name),
                    help: "the signal of a block has one element for each element of its port",
                });
            }
        }
        for block in &self.blocks {
            if block.input.is_none() && block.model.n_inputs() > 0 {
                problems.push(MachineProblem {
                    code: "E0402",
                    site: MachineSite::Block(block.name.clone()),
                    message: "no signal feeds the block".into(),
                    help: "connect something to INTERNAL_<block>_inp",
                });
            }
        }
    }
}

struct Checker<'a> {
    design: &'a MachineBuilder,
    problems: &'a mut Vec<MachineProblem>,
}

/// Connections that drive the elements of signals; outputs of blocks are driven by no connection.
struct Drivers {
    /// Index of the driving connection for each signal and element; `None` without a connection.
    by: Vec<Vec<Option<usize>>>,
}

impl Checker<'_> {
    fn report(&mut self, code: &'static str, site: MachineSite, message: String, help: &'static str) {
        self.problems.push(MachineProblem { code, site, message, help });
    }

    fn kif(&self, access: &Access) -> Option<Kif> {
        self.design.signals.get(access.signal.index())?.elements.get(access.lo).copied()
    }

    fn signals(&mut self) {
        let mut names = std::collections::BTreeSet::new();
        for signal in &self.design.signals {
            let site = || MachineSite::Signal(signal.name.clone());
            if !names.insert(&signal.name) {
                self.report("E0403", site(), "two signals have this name".into(), "give each signal its own name");
            }
            if let Some(to) = &signal.reset_to {
                if to.len() != signal.elements.len() {
                    let message = format!("{} reset values for {} elements", to.len(), signal.elements.len());
                    self.report("E0404", site(), message, "give one value for each element");
                }
                for (k, (value, kif)) in to.iter().zip(&signal.elements).enumerate() {
                    if !kif.holds(value) {
                        let message = format!("reset value of element {k} does not fit its type {kif}");
                        self.report("E0404", site(), message, "a reset value is a value of the element's type");
                    }
                }
            }
            if let Some(when) = &signal.reset_if {
                self.access(when, &site());
                self.one_bit(when, &site(), "reset");
                if signal.kind == SignalKind::Register && signal.reset_to.is_none() {
                    let help = "give rst_to together with rst_if";
                    self.report("E0405", site(), "a reset condition without a reset value".into(), help);
                }
            }
        }
    }

    fn access(&mut self, access: &Access, site: &MachineSite) {
        let signal = &self.design.signals[access.signal.index()];
        let n = signal.elements.len();
        if access.lo >= access.hi || access.hi > n {
            let message = format!("view [{}, {}) of {:?}, which has {n} elements", access.lo, access.hi, signal.name);
            self.report("E0406", site.clone(), message, "a view is a non-empty half-open range of the elements");
        }
        if let Some((index, _)) = &access.dynamic {
            self.access(index, site);
            let fits = self.kif(index).is_some_and(|k| !k.signed && (k.frac == 0 || k.is_zero()));
            if index.hi.checked_sub(index.lo) != Some(1) || !fits || index.dynamic.is_some() {
                let message = format!("the index of {:?} is not one unsigned whole number", signal.name);
                self.report(
                    "E0407",
                    site.clone(),
                    message,
                    "an index is one element of an unsigned type without fraction",
                );
            }
            let elements = &signal.elements;
            let view = elements.get(access.lo..access.hi).unwrap_or_default();
            let reached = elements.get(access.lo..).unwrap_or_default();
            let uniform = view.iter().chain(reached).all(|k| Some(k) == view.first());
            if !uniform {
                let message = format!("{:?} is indexed, but its elements differ in type", signal.name);
                self.report("E0415", site.clone(), message, "elements that an index can reach have one type");
            }
        }
    }

    fn one_bit(&mut self, access: &Access, site: &MachineSite, what: &str) {
        let fits = self.kif(access).is_some_and(|k| !k.signed && k.width() == 1);
        if access.hi.checked_sub(access.lo) != Some(1) || !fits {
            let message = format!("the {what} is not one bit");
            self.report("E0408", site.clone(), message, "use one element that is one unsigned bit");
        }
    }

    fn connections(&mut self) {
        for (i, connection) in self.design.connections.iter().enumerate() {
            let site = MachineSite::Connection(i);
            let Connection { src, dst, enable_if, alternative } = connection;
            for access in [Some(src), Some(dst), enable_if.as_ref(), alternative.as_ref()].into_iter().flatten() {
                self.access(access, &site);
            }
            for access in [Some(src), alternative.as_ref()].into_iter().flatten() {
                if access.hi.wrapping_sub(access.lo) != dst.hi.wrapping_sub(dst.lo) {
                    let message = "source and destination have different numbers of elements".to_owned();
                    self.report("E0409", site.clone(), message, "connect views of the same length");
                }
            }
            if let Some(enable) = enable_if {
                self.one_bit(enable, &site, "enable");
            }
            let target = &self.design.signals[dst.signal.index()];
            match target.kind {
                SignalKind::Register => {}
                SignalKind::Input | SignalKind::BlockOutput(_) => {
                    let message = format!("{:?} cannot be driven", target.name);
                    self.report(
                        "E0410",
                        site.clone(),
                        message,
                        "drive wires, registers, block inputs and output ports",
                    );
                }
                SignalKind::Wire | SignalKind::BlockInput(_) => {
                    if enable_if.is_some() && alternative.is_none() {
                        let message = format!("{:?} would be a latch: it keeps its value without a clock", target.name);
                        self.report("E0411", site.clone(), message, "give alt_src, or make the destination a register");
                    }
                    if dst.dynamic.is_some() {
                        let message = format!("{:?} is written by index without a clock", target.name);
                        self.report("E0411", site.clone(), message, "only registers can be written by index");
                    }
                }
            }
        }
    }

    fn drivers(&mut self) -> Drivers {
        let design = self.design;
        let mut by: Vec<Vec<Option<usize>>> = design.signals.iter().map(|s| vec![None; s.elements.len()]).collect();
        for (i, connection) in design.connections.iter().enumerate() {
            let dst = &connection.dst;
            let elements = &mut by[dst.signal.index()];
            // A write with a run-time index may reach any element from the start of the view on.
            let range = if dst.dynamic.is_some() { dst.lo..elements.len() } else { dst.lo..dst.hi };
            let taken = range.clone().find_map(|e| elements[e].map(|other| (e, other)));
            if let Some((element, other)) = taken {
                let name = &design.signals[dst.signal.index()].name;
                let message = format!("element {element} of {name:?} is already driven by connection {other}");
                self.report("E0412", MachineSite::Connection(i), message, "drive each element once");
                continue;
            }
            elements[range].fill(Some(i));
        }
        for (signal, drivers) in design.signals.iter().zip(&by) {
            let needs = matches!(signal.kind, SignalKind::Wire | SignalKind::BlockInput(_));
            if let Some(element) = drivers.iter().position(Option::is_none).filter(|_| needs) {
                let message = format!("nothing drives element {element}");
                let help = "connect every element of wires, block inputs and outputs";
                self.report("E0413", MachineSite::Signal(signal.name.clone()), message, help);
            }
        }
        Drivers { by }
    }
}

/// Orders combinational connections and blocks by Kahn's algorithm.
fn order(design: &MachineBuilder, drivers: &Drivers) -> Result<Vec<Settle>, MachineProblem> {
    let n_conns = design.connections.len();
    let nodes = n_conns + design.blocks.len();
    let clocked = |c: usize| design.signals[design.connections[c].dst.signal.index()].kind == SignalKind::Register;
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    let mut waits = vec![0u32; nodes];
    let mut depend = |from: usize, to: usize| {
        readers[from].push(to as u32);
        waits[to] += 1;
    };
    let sources = |access: &Access, found: &mut Vec<usize>| {
        let mut stack = vec![access];
        while let Some(access) = stack.pop() {
            let elements = &drivers.by[access.signal.index()];
            let range = if access.dynamic.is_some() { access.lo..elements.len() } else { access.lo..access.hi };
            match design.signals[access.signal.index()].kind {
                SignalKind::BlockOutput(b) => found.push(n_conns + b.index()),
                SignalKind::Wire | SignalKind::BlockInput(_) => found.extend(elements[range].iter().flatten()),
                SignalKind::Input | SignalKind::Register => {}
            }
            stack.extend(access.dynamic.iter().map(|(index, _)| &**index));
        }
        found.sort_unstable();
        found.dedup();
    };
    for (c, connection) in design.connections.iter().enumerate().filter(|&(c, _)| !clocked(c)) {
        let mut found = Vec::new();
        let Connection { src, dst: _, enable_if, alternative } = connection;
        for access in [Some(src), enable_if.as_ref(), alternative.as_ref()].into_iter().flatten() {
            sources(access, &mut found);
        }
        found.into_iter().for_each(|from| depend(from, c));
    }
    for (b, block) in design.blocks.iter().enumerate() {
        let Some(input) = block.input else { continue };
        let mut found: Vec<usize> = drivers.by[input.index()].iter().flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().for_each(|from| depend(from, n_conns + b));
    }
    let mut ready: std::collections::BinaryHeap<_> =
        (0..nodes).filter(|&k| waits[k] == 0).map(std::cmp::Reverse).collect();
    let mut order = Vec::with_capacity(nodes);
    let mut done = 0;
    while let Some(std::cmp::Reverse(node)) = ready.pop() {
        done += 1;
        if node >= n_conns {
            order.push(Settle::Block(BlockId((node - n_conns) as u32)));
        } else if !clocked(node) {
            order.push(Settle::Connection(node));
        }
        for &to in &readers[node] {
            waits[to as usize] -= 1;
            if waits[to as usize] == 0 {
                ready.push(std::cmp::Reverse(to as usize));
            }
        }
    }
    if done < nodes {
        let stuck = (0..n_conns).find(|&c| waits[c] > 0);
        let site = stuck.map_or(MachineSite::Whole, MachineSite::Connection);
        return Err(MachineProblem {
            code: "E0414",
            site,
            message: "this connection is part of a combinational loop".into(),
            help: "insert a register into the loop; every output of a block depends on all of its inputs",
        });
    }
    Ok(order)
}
