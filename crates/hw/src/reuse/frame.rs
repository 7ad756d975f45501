//! Common frame of the state machines of all plans: ports, phase counter, registers, and one block with all logic.
//!
//! The block reads the phase, the ports and every register, and computes the next value of each register. A register
//! loads in every cycle, at one phase, or in the cycles that a bit of the block enables.

use super::{Inputs, Lane};
use crate::netlist::{Options, Ports, SHARED_LOGIC};
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, MachineBuilder, Signal, SignalId, SignalKind};
use alir_core::ir::{BinaryBits, Builder, Limits, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) const BIT: Kif = Kif { signed: false, int: 1, frac: 0 };

/// Number of inputs of a LUT.
pub(super) const TABLE_INPUTS: usize = 6;

/// Number of entries of a one-bit table that fits into one LUT.
pub(super) const TABLE: usize = 1 << TABLE_INPUTS;

/// Estimated number of LUTs that compare the phase with a constant.
const PHASE_TABLES: usize = 2;

/// Load condition of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Load {
    /// Every cycle.
    Always,
    /// One phase.
    At(u32),
    /// Cycles in which this bit is 1.
    When(ValueId),
}

impl Load {
    /// Returns the phase at which the register loads; `None` if that is not a single phase.
    fn phase(self) -> Option<u32> {
        match self {
            Load::At(phase) => Some(phase),
            Load::Always | Load::When(_) => None,
        }
    }
}

/// A register.
pub(super) struct Register {
    signal: SignalId,
    /// Next value, once it is known.
    pub(super) next: Option<ValueId>,
    load: Load,
}

pub(super) fn element(signal: SignalId, k: usize) -> Access {
    Access { signal, lo: k, hi: k + 1, dynamic: None }
}

/// State machine under construction.
pub(super) struct Frame<'a> {
    pub(super) model: &'a Model,
    pub(super) options: &'a Options,
    pub(super) interval: u32,
    builder: MachineBuilder,
    names: FxHashSet<String>,
    nodes: Vec<Node>,
    pub(super) tables: Vec<Table>,
    /// Inputs of the block, with their types.
    inputs: Vec<(Access, Kif)>,
    /// Outputs of the block, with their connections.
    outputs: Vec<(Output, Connection)>,
    pub(super) registers: Vec<Register>,
    /// Data input ports: the position of each element; for beats, the one shared port.
    pub(super) ports: Vec<Access>,
    pub(super) phase: ValueId,
    phase_kif: Kif,
    reset: Option<Access>,
    enable: Option<ValueId>,
    valid_in: Option<ValueId>,
    /// Bits that are set in one phase, by phase.
    at_phase: FxHashMap<u32, ValueId>,
    /// Register values of bits that depend on the phase only, by the bit in each phase.
    patterns: FxHashMap<Vec<bool>, ValueId>,
    pattern_registers: Vec<(Vec<bool>, usize, ValueId)>,
    loads: FxHashMap<Load, Option<usize>>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(model: &'a Model, (interval, inputs): (u32, &Inputs), options: &'a Options) -> Frame<'a> {
        let bits = (32 - (interval - 1).leading_zeros()).max(1);
        let mut frame = Frame {
            model,
            options,
            interval,
            builder: MachineBuilder::default(),
            names: FxHashSet::default(),
            nodes: Vec::new(),
            tables: model.tables().to_vec(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            registers: Vec::new(),
            ports: Vec::new(),
            phase: ValueId(0),
            phase_kif: Kif { signed: false, int: bits as i32, frac: 0 },
            reset: None,
            enable: None,
            valid_in: None,
            at_phase: FxHashMap::default(),
            patterns: FxHashMap::default(),
            pattern_registers: Vec::new(),
            loads: FxHashMap::default(),
        };
        frame.input_ports(inputs);
        frame.counter();
        frame
    }

    // ---- signals ----

    pub(super) fn signal(&mut self, name: &str, kind: SignalKind, output: bool, elements: Vec<Kif>) -> SignalId {
        let mut name = name.to_owned();
        while !self.names.insert(name.to_ascii_lowercase()) {
            name.push('x');
        }
        let signal = Signal { name, kind, output, elements, reset_to: None, reset_if: None, schedule: None };
        self.builder.signal(signal)
    }

    fn input_ports(&mut self, inputs: &Inputs) {
        let (options, model) = (self.options, self.model);
        let names = &options.names;
        let control = |drawing: &mut Self, name: &str, wanted: bool| {
            wanted.then(|| element(drawing.signal(name, SignalKind::Input, false, vec![BIT]), 0))
        };
        self.reset = control(self, &names.reset, options.reset.is_some());
        let enable = control(self, &names.enable, options.enable);
        let valid = control(self, &names.valid_in, options.valid);
        self.enable = enable.map(|access| self.read(access, BIT));
        self.valid_in = valid.map(|access| self.read(access, BIT));
        if let Some(beats) = inputs.as_beats() {
            let whole = Lane { lsb: 0, width: beats.width }.kif();
            let port = self.signal(&names.inputs, SignalKind::Input, false, vec![whole]);
            self.ports.push(element(port, 0));
            return;
        }
        let kifs = model.input_kifs().to_vec();
        match options.ports {
            Ports::Packed if kifs.is_empty() => {}
            Ports::Packed => {
                let n = kifs.len();
                let port = self.signal(&names.inputs, SignalKind::Input, false, kifs);
                self.ports = (0..n).map(|k| element(port, k)).collect();
            }
            Ports::Split => {
                for (k, kif) in kifs.into_iter().enumerate() {
                    let name = format!("{}_{k}", names.input_prefix);
                    let port = self.signal(&name, SignalKind::Input, false, vec![kif]);
                    self.ports.push(element(port, 0));
                }
            }
        }
    }

    /// Adds a register and returns its index and its value. With `starts`, its power-on and reset value is zero.
    pub(super) fn register(&mut self, name: &str, kif: Kif, load: Load, starts: bool) -> (usize, ValueId) {
        self.register_from(name, kif, load, starts.then_some(0))
    }

    /// Adds a register and returns its index and its value. `first` is its power-on and reset value, if any.
    pub(super) fn register_from(&mut self, name: &str, kif: Kif, load: Load, first: Option<u64>) -> (usize, ValueId) {
        let signal = self.signal(name, SignalKind::Register, false, vec![kif]);
        if first.is_some() || self.options.reset.is_some_and(|reset| reset.data) {
            self.builder.reset_to(signal, Some(vec![BigInt::from(first.unwrap_or(0))]));
            if let Some(reset) = self.reset.clone() {
                self.builder.reset_if(signal, reset);
            }
        }
        self.registers.push(Register { signal, next: None, load });
        let shown = self.read(element(signal, 0), kif);
        (self.registers.len() - 1, shown)
    }

    // ---- operations of the block ----

    /// Returns the indices of a program's tables among those of the block; adds missing tables.
    pub(super) fn places_of_tables(&mut self, model: &Model) -> Vec<TableId> {
        let place = |table: &Table| {
            let known = self.tables.iter().position(|known| known == table);
            let at = known.unwrap_or_else(|| {
                self.tables.push(table.clone());
                self.tables.len() - 1
            });
            TableId(at as u32)
        };
        model.tables().iter().map(place).collect()
    }

    pub(super) fn op(&mut self, op: Op, interval: Interval) -> ValueId {
        let origin = self.nodes.len() as u32;
        self.nodes.push(Node { op, interval, latency: 0.0, cost: 0.0, origin });
        ValueId(origin)
    }

    pub(super) fn kif(&self, v: ValueId) -> Kif {
        self.nodes[v.index()].interval.kif()
    }

    pub(super) fn constant(&mut self, value: u64) -> ValueId {
        self.op(Op::Const { value: Code::from(value as i64) }, Interval::new(value as i64, value as i64, 0))
    }

    /// Returns the value that the block reads from `access`.
    pub(super) fn read(&mut self, access: Access, kif: Kif) -> ValueId {
        if kif.is_zero() {
            return self.constant(0);
        }
        let input = self.inputs.len() as u32;
        self.inputs.push((access, kif));
        self.op(Op::Input { input }, Interval::full(kif))
    }

    pub(super) fn and(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Binary { op: BinaryBits::And, a, b, shift: 0 }, Interval::full(BIT))
    }

    /// Returns a value converted to another type.
    pub(super) fn quantised(&mut self, x: ValueId, kif: Kif) -> ValueId {
        if self.kif(x) == kif { x } else { self.op(Op::Quantise { x, shift: 0 }, Interval::full(kif)) }
    }

    /// Returns a bit that is set in this phase.
    pub(super) fn at(&mut self, phase: u32) -> ValueId {
        if let Some(&known) = self.at_phase.get(&phase) {
            return known;
        }
        let flips = ((1u64 << self.phase_kif.width()) - 1) ^ u64::from(phase);
        let mut x = self.phase;
        if flips != 0 {
            let b = self.constant(flips);
            let op = Op::Binary { op: BinaryBits::Xor, a: x, b, shift: 0 };
            x = self.op(op, Interval::full(self.phase_kif));
        }
        let at = self.op(Op::Unary { op: UnaryBits::All, x }, Interval::full(BIT));
        self.at_phase.insert(phase, at);
        at
    }

    /// Adds the phase counter, and the port that is 1 in cycles in which a sample is accepted.
    fn counter(&mut self) {
        let kif = self.phase_kif;
        let (register, phase) = self.register("phase", kif, Load::Always, true);
        self.phase = phase;
        let one = Op::AddConst { x: phase, value: Code::from(1), shift: 0 };
        let more = self.op(one, Interval::new(1, 1i64 << kif.width(), 0));
        let interval = Interval::full(kif);
        let next = if self.interval.is_power_of_two() {
            self.op(Op::Quantise { x: more, shift: 0 }, interval)
        } else {
            let cond = self.at(self.interval - 1);
            let on_true = self.constant(0);
            self.op(Op::Mux { cond, on_true, on_false: more, shift: 0 }, interval)
        };
        self.registers[register].next = Some(next);
        let ready = self.at(0);
        let name = self.options.names.ready.clone();
        let port = self.signal(&name, SignalKind::Wire, true, vec![BIT]);
        self.gives(Output { source: Some(ready), shift: 0, neg: false }, element(port, 0));
    }

    // ---- bits by phase ----

    /// Returns the register value of a bit by phase; `None` if no such register exists.
    pub(super) fn known_by_phase(&self, ones: &[bool]) -> Option<ValueId> {
        self.patterns.get(ones).copied()
    }

    /// Returns a bit by phase from a register. The register keeps synthesis from merging the logic of the bit with its
    /// readers.
    pub(super) fn by_phase(&mut self, ones: Vec<bool>) -> ValueId {
        if ones.iter().all(|&one| one == ones[0]) {
            return self.constant(u64::from(ones[0]));
        }
        if let Some(known) = self.known_by_phase(&ones) {
            return known;
        }
        let mut phases = (0..).zip(&ones).filter(|(_, one)| **one).map(|(phase, _): (u32, _)| phase);
        let name = match (phases.next(), phases.next()) {
            (Some(phase), None) => format!("phase_is_{phase}"),
            _ => format!("at_{}", self.patterns.len()),
        };
        // At power-on and after a reset the phase is 0.
        let (register, shown) = self.register_from(&name, BIT, Load::Always, Some(u64::from(ones[0])));
        self.pattern_registers.push((ones.clone(), register, shown));
        self.patterns.insert(ones, shown);
        shown
    }

    /// Returns a bit that is set in this phase, from its own register: synthesis builds an inverter for each register
    /// whose enable is an inverted signal.
    fn now(&mut self, phase: u32) -> ValueId {
        self.by_phase((0..self.interval).map(|p| p == phase).collect())
    }

    /// Sets the next values of the registers for bits by phase. The next value is that of another register, which needs
    /// no LUT, or a function of the phase: a table, or, for many phases, toggles at the phases where the bit changes.
    fn pattern_loads(&mut self) {
        let begin_rings = self.beginnings_of_rings();
        for (ones, register, shown) in std::mem::take(&mut self.pattern_registers) {
            let n = ones.len();
            let mut earlier = ones.clone();
            earlier.rotate_left(1);
            let before = self.known_by_phase(&earlier).filter(|_| !begin_rings.contains(&ones));
            let changes = (0..n).filter(|&p| ones[p] != ones[(p + 1) % n]);
            let next = if let Some(before) = before {
                before
            } else if n.div_ceil(TABLE) <= PHASE_TABLES * changes.clone().count() {
                let entries: Vec<i32> = (0..n).map(|p| i32::from(ones[(p + 1) % n])).collect();
                let out = Interval::full(BIT);
                self.tables.push(Table { entries, out: out.clone(), hash: String::new(), inp_width: 0 });
                let table = TableId(self.tables.len() as u32 - 1);
                let x = self.phase;
                self.op(Op::Lookup { x, table, base: Code::ZERO }, out)
            } else {
                let mut next = shown;
                for p in changes {
                    let at = self.at(p as u32);
                    let op = Op::Binary { op: BinaryBits::Xor, a: next, b: at, shift: 0 };
                    next = self.op(op, Interval::full(BIT));
                }
                next
            };
            self.registers[register].next = Some(next);
        }
    }

    /// Returns one pattern of each ring: a ring is a pattern whose rotations all have registers. The register of the
    /// returned pattern loads a function of the phase, so the ring is not a loop of registers without a source.
    fn beginnings_of_rings(&self) -> FxHashSet<Vec<bool>> {
        let mut seen: FxHashSet<Vec<bool>> = FxHashSet::default();
        let mut rings = FxHashSet::default();
        for (ones, ..) in &self.pattern_registers {
            if seen.contains(ones) {
                continue;
            }
            let (mut at, mut least) = (ones.clone(), ones.clone());
            while self.patterns.contains_key(&at) && seen.insert(at.clone()) {
                least = least.min(at.clone());
                at.rotate_left(1);
            }
            // Rotations that end, or that meet an earlier pattern, are not a ring.
            if at == *ones {
                rings.insert(least);
            }
        }
        rings
    }

    pub(super) fn gives(&mut self, output: Output, dst: Access) -> usize {
        // [`Frame::finish`] replaces `src` by the element of the block's output signal.
        let src = dst.clone();
        self.outputs.push((output, Connection { src, dst, enable_if: None, alternative: None }));
        self.outputs.len() - 1
    }

    /// Connects each register after the first to the one before it.
    pub(super) fn chain(&mut self, registers: &[(usize, ValueId)]) {
        for pair in registers.windows(2) {
            self.registers[pair[1].0].next = Some(pair[0].1);
        }
    }

    // ---- results ----

    /// Adds the valid flag, stored alongside the data and shown in the first cycle of a result.
    pub(super) fn valid(&mut self, latency: u32) {
        let Some(valid_in) = self.valid_in else { return };
        let interval = self.interval;
        let mut flag = valid_in;
        // Captured with the sample, then moved once per interval.
        for k in 0..(latency - 1).div_ceil(interval) {
            let (register, shown) = self.register(&format!("valid_s{}", k + 1), BIT, Load::At(0), true);
            self.registers[register].next = Some(flag);
            flag = shown;
        }
        let now = self.at((latency - 1) % interval);
        let (register, shown) = self.register("valid_now", BIT, Load::Always, true);
        self.registers[register].next = Some(self.and(flag, now));
        let name = self.options.names.valid_out.clone();
        let port = self.signal(&name, SignalKind::Wire, true, vec![BIT]);
        self.gives(Output { source: Some(shown), shift: 0, neg: false }, element(port, 0));
    }

    /// Adds the data output ports; returns the position of each element.
    pub(super) fn output_ports(&mut self) -> Vec<Access> {
        let (model, options) = (self.model, self.options);
        let kifs: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
        match options.ports {
            Ports::Packed if kifs.is_empty() => Vec::new(),
            Ports::Packed => {
                let n = kifs.len();
                let port = self.signal(&options.names.outputs.clone(), SignalKind::Wire, true, kifs);
                (0..n).map(|k| element(port, k)).collect()
            }
            Ports::Split => {
                let name = |k| format!("{}_{k}", options.names.output_prefix);
                let port = |(k, kif)| element(self.signal(&name(k), SignalKind::Wire, true, vec![kif]), 0);
                kifs.into_iter().enumerate().map(port).collect()
            }
        }
    }

    /// Returns the index of a load condition in `enables`; adds a missing one. Returns `None` if the register loads in
    /// every cycle.
    fn load(&mut self, load: Load, enables: &mut Vec<ValueId>) -> Option<usize> {
        if let Some(&known) = self.loads.get(&load) {
            return known;
        }
        let at = match load {
            Load::Always => None,
            Load::At(phase) => Some(self.now(phase)),
            Load::When(bit) => Some(bit),
        };
        let condition = match (at, self.enable) {
            (Some(at), Some(enable)) => Some(self.and(at, enable)),
            (at, enable) => at.or(enable),
        };
        let place = condition.map(|condition| {
            enables.push(condition);
            enables.len() - 1
        });
        self.loads.insert(load, place);
        place
    }

    pub(super) fn finish(mut self) -> Machine {
        for phase in self.registers.iter().filter_map(|register| register.load.phase()).collect::<Vec<_>>() {
            self.now(phase);
        }
        self.pattern_loads();
        let block = BlockId(0);
        let registers = std::mem::take(&mut self.registers);
        let mut enables = Vec::new();
        for register in &registers {
            let place = self.load(register.load, &mut enables);
            let output = Output { source: register.next, shift: 0, neg: false };
            let at = self.gives(output, element(register.signal, 0));
            // The index of the condition; its element is known below.
            self.outputs[at].1.alternative = place.map(|place| element(register.signal, place));
        }
        let given = self.outputs.len();
        let inputs = std::mem::take(&mut self.inputs);
        let mut b = Builder::new(vec![0; inputs.len()]);
        b.limits(Limits::derived());
        for table in std::mem::take(&mut self.tables) {
            b.table(table);
        }
        for node in std::mem::take(&mut self.nodes) {
            b.push(node);
        }
        for (output, _) in &self.outputs {
            b.output(*output);
        }
        for &condition in &enables {
            b.output(Output { source: Some(condition), shift: 0, neg: false });
        }
        let model = b.finish().unwrap_or_else(|problems| panic!("the logic is valid: {:?}", problems.first()));
        let kifs: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
        let input_kifs = model.input_kifs().to_vec();
        self.builder.block(SHARED_LOGIC.into(), model);
        if !inputs.is_empty() {
            let reads = self.signal("logic_inp", SignalKind::BlockInput(block), false, input_kifs);
            for (k, (src, _)) in inputs.into_iter().enumerate() {
                let dst = element(reads, k);
                self.builder.connection(Connection { src, dst, enable_if: None, alternative: None });
            }
        }
        let gives = self.signal("logic_outp", SignalKind::BlockOutput(block), false, kifs);
        for (k, (_, mut connection)) in std::mem::take(&mut self.outputs).into_iter().enumerate() {
            connection.src = element(gives, k);
            connection.enable_if = connection.alternative.take().map(|place| element(gives, given + place.lo));
            self.builder.connection(connection);
        }
        self.builder.finish().unwrap_or_else(|problems| panic!("the machine is valid: {problems:?}"))
    }
}
