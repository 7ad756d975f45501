//! State machine of a bit-serial plan.

use super::super::Inputs;
use super::super::frame::{BIT, Frame, Load};
use super::plan::{bounded, sum_from};
use super::{Graph, Kind, Plan, Read, Stream, highest, lowest};
use crate::netlist::Options;
use alir_core::ir::machine::Machine;
use alir_core::ir::{BinaryBits, Model, Op, Output, TableId, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Builds the state machine of a plan, with the ports of the program. The reset is synchronous and active high.
///
/// # Panics
/// If the plan does not belong to the graph, the graph not to the program, or an input arrives after the cycle in which
/// it is captured.
pub fn machine(model: &Model, graph: &Graph, plan: &Plan, options: &Options) -> Machine {
    let mut frame = Frame::new(model, (plan.interval, &Inputs::Captured), options);
    let mut words = vec![None; model.n_inputs()];
    for (node, _) in graph.nodes.iter().zip(&plan.streams).filter(|(_, stream)| stream.is_some()) {
        if let Kind::Port(e) = node.kind {
            let e = e as usize;
            let port = frame.ports[e].clone();
            let mut shown = frame.read(port, node.kif);
            assert!(plan.arrivals[e] <= 1, "the ports show a sample, or what captured it");
            if plan.arrivals[e] == 1 {
                let (register, captured) = frame.register(&format!("captured_{e}"), node.kif, Load::At(0), false);
                frame.registers[register].next = Some(shown);
                shown = captured;
            }
            words[e] = Some(shown);
        }
    }
    let tables = frame.places_of_tables(model);
    let results = draw(&mut frame, (graph, &tables), plan, &words);
    frame.valid(plan.latency);
    outputs(&mut frame, (graph, plan), &results);
    frame.finish()
}

/// Builds the bit-serial parts. `inputs` are the values of the input registers; `tables` are the indices of the
/// program's tables among those of the block. Returns the results in the cycle before the plan's latency; `None` for
/// the constant zero.
///
/// The plan has one tick for each bit. With a digit of `d` bits, a cycle has `d` ticks, and *lane* `j` of the logic
/// performs tick `j` of the cycle. For a register that loads in every tick, lane 0 reads the register, and each other
/// lane reads the value that the previous lane loads.
pub(in crate::reuse) fn draw(
    frame: &mut Frame<'_>,
    (graph, tables): (&Graph, &[TableId]),
    plan: &Plan,
    inputs: &[Option<ValueId>],
) -> Vec<Option<ValueId>> {
    let count = graph.nodes.len();
    let mut drawing = Drawing {
        frame,
        graph,
        tables,
        plan,
        inputs,
        digit: plan.digit as i32,
        ticks: (plan.interval * plan.digit) as i32,
        streams: vec![None; count],
        shown: vec![Vec::new(); count],
        chains: vec![Vec::new(); count],
        carries: vec![None; count],
        wholes: vec![None; count],
        phase_bits: Vec::new(),
        flags: Vec::new(),
        flag_of: FxHashMap::default(),
        words: FxHashMap::default(),
    };
    drawing.registers();
    for lane in 0..drawing.digit {
        let mut next = Vec::with_capacity(count);
        for id in 0..count {
            next.push(plan.streams[id].map(|stream| drawing.node(id, stream, lane)));
        }
        for (id, bit) in next.into_iter().enumerate() {
            if let (Some(bit), Some(stream)) = (bit, plan.streams[id]) {
                drawing.takes(id, stream, bit, lane);
            }
        }
    }
    for id in 0..count {
        drawing.whole_node(id);
    }
    let results = drawing.results();
    drawing.loads();
    results
}

/// Adds the result registers and the output ports.
fn outputs(frame: &mut Frame<'_>, (graph, plan): (&Graph, &Plan), results: &[Option<ValueId>]) {
    let model = frame.model;
    let ports = frame.output_ports();
    let at = (plan.settled() - 1) % plan.interval;
    for (j, port) in ports.into_iter().enumerate() {
        let (Some((_, kif)), Some(result)) = (graph.outputs[j], results[j]) else {
            frame.gives(Output { source: None, shift: 0, neg: false }, port);
            continue;
        };
        let shift = model.outputs()[j].shift;
        let interval = model.output_intervals()[j].scaled(-shift);
        let (register, held) = frame.register(&format!("result_{j}"), kif, Load::At(at), false);
        frame.registers[register].next = Some(result);
        let mut shown = frame.op(Op::Quantise { x: held, shift: 0 }, interval.clone());
        if plan.registered_outputs {
            let kif = frame.kif(shown);
            let (register, held) = frame.register(&format!("shown_{j}"), kif, Load::Always, false);
            frame.registers[register].next = Some(shown);
            shown = frame.op(Op::Quantise { x: held, shift: 0 }, interval);
        }
        frame.gives(Output { source: Some(shown), shift, neg: false }, port);
    }
}

/// Register that stores the highest bit of a value from a tick on.
struct Flag {
    register: usize,
    shown: ValueId,
    tick: i32,
    from: Kept,
}

/// Source of a stored bit.
#[derive(Clone, Copy)]
enum Kept {
    /// A stream.
    Stream(usize),
    /// An earlier register.
    Flag(usize),
}

struct Drawing<'a, 'm> {
    frame: &'a mut Frame<'m>,
    graph: &'a Graph,
    /// Indices of the program's tables among those of the block.
    tables: &'a [TableId],
    plan: &'a Plan,
    /// Values of the registers that store the inputs.
    inputs: &'a [Option<ValueId>],
    /// Number of ticks per cycle (`digit`) and per interval (`ticks`).
    digit: i32,
    ticks: i32,
    /// Register of each stream.
    streams: Vec<Option<usize>>,
    /// Bits of each stream in the lanes so far.
    shown: Vec<Vec<ValueId>>,
    /// Delay registers after each stream, one per tick, and their values in lane 0.
    chains: Vec<Vec<(usize, ValueId)>>,
    /// Register of each carry, and the value of the carry in the current lane.
    carries: Vec<Option<(usize, ValueId)>>,
    /// Registers of values that are read bit by bit.
    wholes: Vec<Option<(usize, ValueId)>>,
    phase_bits: Vec<ValueId>,
    flags: Vec<Flag>,
    /// Flags by bit and load tick.
    flag_of: FxHashMap<(usize, i32, i32), usize>,
    /// Collected words by read, delay, first weight and last weight.
    words: FxHashMap<(Read, i32, i32, i32), ValueId>,
}

impl Drawing<'_, '_> {
    // ---- bits ----

    fn op2(&mut self, op: BinaryBits, a: ValueId, b: ValueId) -> ValueId {
        self.frame.op(Op::Binary { op, a, b, shift: 0 }, Interval::full(BIT))
    }

    fn not(&mut self, x: ValueId) -> ValueId {
        // The constant 0 has no bits.
        if self.frame.kif(x).is_zero() {
            return self.frame.constant(1);
        }
        self.frame.op(Op::Unary { op: UnaryBits::Not, x }, Interval::full(BIT))
    }

    fn choice(&mut self, cond: ValueId, on_true: ValueId, on_false: ValueId) -> ValueId {
        if on_true == on_false {
            return on_true;
        }
        self.frame.op(Op::Mux { cond, on_true, on_false, shift: 0 }, Interval::full(BIT))
    }

    /// Returns the phase of a tick's cycle.
    fn phase_of(&self, tick: i32) -> u32 {
        tick.div_euclid(self.digit).rem_euclid(self.plan.interval as i32) as u32
    }

    /// Returns the lane of a tick in its cycle.
    fn lane_of(&self, tick: i32) -> i32 {
        tick.rem_euclid(self.digit)
    }

    /// Returns `true` for each phase with one of these ticks in this lane.
    fn phases(&self, ticks: impl IntoIterator<Item = i32>, lane: i32) -> Vec<bool> {
        let mut ones = vec![false; self.plan.interval as usize];
        for tick in ticks {
            if self.lane_of(tick) == lane {
                ones[self.phase_of(tick) as usize] = true;
            }
        }
        ones
    }

    /// Returns a bit of a lane that is 1 in the phases of some ticks of a sample.
    fn in_ticks(&mut self, ticks: impl IntoIterator<Item = i32>, lane: i32) -> ValueId {
        self.pattern(self.phases(ticks, lane))
    }

    /// Returns an enable for the only lane, always from a register of its own: synthesis builds an inverter for each
    /// register whose enable is inverted.
    fn enable(&mut self, ticks: impl IntoIterator<Item = i32>) -> ValueId {
        self.frame.by_phase(self.phases(ticks, 0))
    }

    /// Returns a bit by phase; reuses the complement of an existing bit if possible.
    fn pattern(&mut self, ones: Vec<bool>) -> ValueId {
        let turned: Vec<bool> = ones.iter().map(|one| !one).collect();
        match self.frame.known_by_phase(&turned) {
            Some(known) if self.frame.known_by_phase(&ones).is_none() => self.not(known),
            _ => self.frame.by_phase(ones),
        }
    }

    /// Returns a stream `delay` ticks later, in a lane.
    fn tap(&mut self, node: usize, delay: i32, lane: i32) -> ValueId {
        assert!(delay >= 0, "nothing is read before it is there");
        if delay <= lane {
            return self.shown[node][(lane - delay) as usize];
        }
        let behind = (delay - lane) as usize;
        while self.chains[node].len() < behind {
            let name = format!("{}_d{}", self.name(node), self.chains[node].len() + 1);
            let register = self.frame.register(&name, BIT, Load::Always, false);
            self.chains[node].push(register);
        }
        self.chains[node][behind - 1].1
    }

    fn name(&self, node: usize) -> String {
        match self.graph.nodes[node].kind {
            Kind::Port(e) => format!("stream_{e}"),
            _ => format!("v{}", self.graph.nodes[node].origin),
        }
    }

    /// Returns the stream that is read, with the weights below and above which it is zero.
    fn source(&self, read: Read) -> Option<(Read, i32, Option<i32>)> {
        bounded(self.graph, |node| self.plan.streams[node].is_some(), read)
    }

    fn time(&self, node: usize) -> i32 {
        self.plan.streams[node].map_or(0, |s| s.time)
    }

    /// Returns `true` if these weights of a read are zero by its type, or by those of its operands, so that no stream
    /// is needed.
    fn is_zero(&self, mut read: Read, (mut low, mut high): (i32, i32)) -> bool {
        loop {
            let node = &self.graph.nodes[read.node];
            low = low.max(lowest(node.kif) + read.shift);
            if !node.kif.signed {
                high = high.min(highest(node.kif) + read.shift);
            }
            match &node.kind {
                _ if low > high => return true,
                Kind::Quantised(x) if self.plan.streams[read.node].is_none() => {
                    read = Read { node: x.node, shift: x.shift + read.shift };
                }
                _ => return false,
            }
        }
    }

    /// Returns a read as a stream with this time, of which only these weights are relevant; inserts zeros around it.
    fn bits(&mut self, read: Read, time: i32, (low, high): (i32, i32), lane: i32) -> ValueId {
        if self.is_zero(read, (low, high)) {
            return self.frame.constant(0);
        }
        if let Some((x, first, last)) = self.source(read) {
            let bit = self.tap(x.node, time + x.shift - self.time(x.node), lane);
            if low >= first && last.is_none_or(|last| high <= last) {
                return bit;
            }
            let weights = low.max(first)..=last.map_or(high, |last| high.min(last));
            let shown = self.in_ticks(weights.map(|w| time + w), lane);
            return self.op2(BinaryBits::And, bit, shown);
        }
        let (code, lowest) = self.constant(read);
        let set = (low..=high).filter(|w| i64::from(*w) >= i64::from(lowest) && code.bit((w - lowest) as u64));
        let ticks: Vec<i32> = set.map(|w| time + w).collect();
        self.in_ticks(ticks, lane)
    }

    /// Returns the raw integer value of a constant, and the weight of its lowest bit.
    fn constant(&self, read: Read) -> (BigInt, i32) {
        match &self.graph.nodes[read.node].kind {
            Kind::Constant { code, low } => (code.clone(), low + read.shift),
            _ => unreachable!("what is no constant has a stream"),
        }
    }

    // ---- streams ----

    /// Returns the ticks in which a stream loads its own bits; `None` if the stream loads in every tick. In all other
    /// ticks the stream keeps its bit, which is a copy of the sign.
    fn taken(&self, id: usize, Stream { time, high }: Stream) -> Option<Vec<i32>> {
        let node = &self.graph.nodes[id];
        let top = highest(node.kif);
        let selected = matches!(node.kind, Kind::Port(_) | Kind::Whole { .. });
        (node.kif.signed && high > top && !selected).then(|| (lowest(node.kif)..=top).map(|w| time - 1 + w).collect())
    }

    /// Creates the registers of streams, of carries, and of values that are read bit by bit.
    fn registers(&mut self) {
        for (id, node) in self.graph.nodes.iter().enumerate() {
            let Some(stream) = self.plan.streams[id] else { continue };
            let load = match self.taken(id, stream) {
                Some(ticks) if self.digit == 1 => Load::When(self.enable(ticks)),
                _ => Load::Always,
            };
            let name = self.name(id);
            let (register, shown) = self.frame.register(&name, BIT, load, false);
            self.streams[id] = Some(register);
            self.shown[id].push(shown);
            match &node.kind {
                Kind::Sum { .. } => {
                    self.carries[id] = Some(self.frame.register(&format!("{name}_carry"), BIT, Load::Always, false));
                }
                Kind::Whole { .. } => {
                    let at = self.computed(id, stream).rem_euclid(self.plan.interval as i32) as u32;
                    self.wholes[id] =
                        Some(self.frame.register(&format!("{name}_whole"), node.kif, Load::At(at), false));
                }
                _ => {}
            }
        }
    }

    /// Returns the cycle in which a word-parallel node is computed.
    fn computed(&self, id: usize, stream: Stream) -> i32 {
        (stream.time - 1 + lowest(self.graph.nodes[id].kif)).div_euclid(self.digit) - 1
    }

    /// Returns the next bit of a stream in a lane.
    fn node(&mut self, id: usize, stream: Stream, lane: i32) -> ValueId {
        let graph = self.graph;
        let node = &graph.nodes[id];
        let Stream { time, high } = stream;
        let (from, top) = (lowest(node.kif), highest(node.kif));
        let to = high.min(top);
        let before = time - 1;
        match &node.kind {
            Kind::Constant { .. } => unreachable!("a constant has no stream"),
            Kind::Port(e) => {
                let shown = self.inputs[*e as usize].expect("it is held");
                self.selected(shown, node.kif, stream, lane)
            }
            Kind::Whole { .. } => {
                let shown = self.wholes[id].expect("it has a register").1;
                self.selected(shown, node.kif, stream, lane)
            }
            Kind::Quantised(x) => self.bits(*x, before, (from, to), lane),
            Kind::Sum { a, b, minus } => {
                let first = sum_from(graph, a.as_ref(), b).min(from);
                self.sum((id, before, lane), (a.as_ref(), b, *minus), (first, to))
            }
            Kind::Relu(x) => {
                let negative = self.flag(*x, before + from, before + to, lane);
                let positive = self.not(negative);
                let x = self.bits(*x, before, (from, to), lane);
                self.op2(BinaryBits::And, x, positive)
            }
            Kind::Choice { by, one, zero } => {
                let one = self.bits(*one, before, (from, to), lane);
                let zero = self.bits(*zero, before, (from, to), lane);
                let by = self.flag(*by, before + from, before + to, lane);
                self.choice(by, one, zero)
            }
        }
    }

    /// Loads a bit into a stream in a lane; the next lane reads it.
    fn takes(&mut self, id: usize, stream: Stream, bit: ValueId, lane: i32) {
        let shown = self.shown[id][lane as usize];
        let bit = match self.taken(id, stream) {
            Some(ticks) if self.digit > 1 => {
                let taken = self.in_ticks(ticks, lane);
                self.choice(taken, bit, shown)
            }
            _ => bit,
        };
        if lane + 1 < self.digit {
            self.shown[id].push(bit);
        } else if let Some(register) = self.streams[id] {
            self.frame.registers[register].next = Some(bit);
        }
    }

    /// Appends a full adder and returns its sum bit. The carry register contains the initial carry in the first tick.
    fn sum(
        &mut self,
        (id, time, lane): (usize, i32, i32),
        (a, b, minus): (Option<&Read>, &Read, bool),
        (low, high): (i32, i32),
    ) -> ValueId {
        use BinaryBits::{And, Or, Xor};
        let (register, carry) = self.carries[id].expect("a sum has a carry");
        let a = a.map(|a| self.bits(*a, time, (low, high), lane));
        let b = self.bits(*b, time, (low, high), lane);
        // A difference is `a + !b + 1`, so its carry begins with 1, as in the adders that a proof builds for the
        // program.
        let b = if minus { self.not(b) } else { b };
        let (sum, mut next) = match a {
            Some(a) => {
                let differ = self.op2(Xor, a, b);
                let sum = self.op2(Xor, differ, carry);
                let made = self.op2(And, a, b);
                let kept = self.op2(And, differ, carry);
                (sum, self.op2(Or, made, kept))
            }
            None => (self.op2(Xor, b, carry), self.op2(And, b, carry)),
        };
        let last = time + low - 1;
        if self.lane_of(last) == lane {
            let begins = self.in_ticks([last], lane);
            next = if minus {
                self.op2(Or, next, begins)
            } else {
                let goes_on = self.not(begins);
                self.op2(And, next, goes_on)
            };
        }
        if lane + 1 < self.digit {
            self.carries[id] = Some((register, next));
        } else {
            self.frame.registers[register].next = Some(next);
        }
        sum
    }

    /// Returns the highest bit of a read in a lane, stored from tick `first` to tick `last`.
    fn flag(&mut self, read: Read, first: i32, last: i32, lane: i32) -> ValueId {
        let top = highest(self.graph.nodes[read.node].kif) + read.shift;
        if self.is_zero(read, (top, top)) {
            return self.frame.constant(0);
        }
        let Some((x, ..)) = self.source(read) else {
            let (code, lowest) = self.constant(read);
            let set = top >= lowest && code.bit((top - lowest) as u64);
            return self.frame.constant(u64::from(set));
        };
        let mut tick = self.time(x.node) - x.shift + top;
        let mut from = Kept::Stream(x.node);
        loop {
            let key = (x.node, top - x.shift, tick);
            let flag = match self.flag_of.get(&key) {
                Some(&known) => known,
                None => {
                    let name = format!("{}_top", self.name(x.node));
                    let at = self.phase_of(tick);
                    let (register, shown) = self.frame.register(&name, BIT, Load::At(at), false);
                    self.flags.push(Flag { register, shown, tick, from });
                    self.flag_of.insert(key, self.flags.len() - 1);
                    self.flags.len() - 1
                }
            };
            if last <= tick + self.ticks {
                return self.seen(Kept::Flag(flag), lane);
            }
            from = Kept::Flag(flag);
            tick = (tick + self.ticks).min(first - 1);
        }
    }

    /// Returns a stored bit in a lane; a bit that loads in the current cycle is read from its source.
    fn seen(&mut self, from: Kept, lane: i32) -> ValueId {
        match from {
            Kept::Stream(node) => self.tap(node, 0, lane),
            Kept::Flag(flag) => {
                let Flag { shown, tick, from, .. } = self.flags[flag];
                let own = self.lane_of(tick);
                if lane <= own {
                    return shown;
                }
                // A bit that is loaded in this cycle is read directly.
                let bit = self.seen(from, own);
                let taken = self.in_ticks([tick], own);
                self.choice(taken, bit, shown)
            }
        }
    }

    /// Sets the next values of registers that were unknown when the registers were created.
    fn loads(&mut self) {
        for flag in 0..self.flags.len() {
            let Flag { register, tick, from, .. } = self.flags[flag];
            let bit = self.seen(from, self.lane_of(tick));
            self.frame.registers[register].next = Some(bit);
        }
        for node in 0..self.chains.len() {
            for k in 0..self.chains[node].len() {
                // In the previous cycle, the bit had `digit` ticks less delay.
                let behind = k as i32 + 1 - self.digit;
                let bit = match behind {
                    1.. => self.chains[node][behind as usize - 1].1,
                    _ => self.shown[node][-behind as usize],
                };
                let register = self.chains[node][k].0;
                self.frame.registers[register].next = Some(bit);
            }
        }
    }

    // ---- whole values ----

    /// Computes a node that operates on whole values.
    fn whole_node(&mut self, id: usize) {
        let graph = self.graph;
        let (Some(stream), Kind::Whole { op, operands, interval }) = (self.plan.streams[id], &graph.nodes[id].kind)
        else {
            return;
        };
        let clock = self.computed(id, stream);
        let mut values = Vec::with_capacity(operands.len());
        for (x, interval) in operands {
            values.push(self.whole(*x, interval, clock));
        }
        let mut op = op.clone();
        op.map_operands(|v| values[v.index()]);
        if let Op::Lookup { table, .. } = &mut op {
            *table = self.tables[table.0 as usize];
        }
        let result = self.frame.op(op, interval.clone());
        let register = self.wholes[id].expect("it has a register").0;
        self.frame.registers[register].next = Some(result);
    }

    /// Returns the whole value of a read in a cycle.
    fn whole(&mut self, read: Read, interval: &Interval, clock: i32) -> ValueId {
        let kif = interval.kif();
        if kif.is_zero() {
            return self.frame.op(Op::Const { value: Code::ZERO }, interval.clone());
        }
        let (low, high) = (lowest(kif), highest(kif));
        if self.is_zero(read, (low, high)) {
            let zero = self.frame.constant(0);
            return self.frame.op(Op::Quantise { x: zero, shift: 0 }, interval.clone());
        }
        let Some((x, first, last)) = self.source(read) else {
            let (code, lowest) = self.constant(read);
            let (code, frac) = if lowest >= low { (code << (lowest - low), -low) } else { (code, -lowest) };
            let x = self.frame.op(Op::Const { value: code.clone().into() }, Interval::new(code.clone(), code, frac));
            return self.frame.op(Op::Quantise { x, shift: 0 }, interval.clone());
        };
        // Zeros around the stream's bits are not collected: some of them would precede the sample.
        let (low, high) = (low.max(first), last.map_or(high, |last| high.min(last)));
        let own = self.time(x.node) - x.shift;
        let delay = (self.digit * clock - self.ticks - low - own).max(0);
        let key = (read, delay, low, high);
        let word = match self.words.get(&key) {
            Some(&known) => known,
            None => {
                let word = match self.digit {
                    1 => self.shifted_in(read, own + delay, (low, high)),
                    _ => self.collected(read, own + delay, (low, high)),
                };
                self.words.insert(key, word);
                word
            }
        };
        self.frame.op(Op::Quantise { x: word, shift: low }, interval.clone())
    }

    /// Returns a register into which the bits of a stream with this time are shifted.
    fn shifted_in(&mut self, read: Read, time: i32, (low, high): (i32, i32)) -> ValueId {
        let width = high - low + 1;
        let bit = self.bits(read, time, (low, high), 0);
        let when = self.enable((low..=high).map(|w| time + w));
        let kif = Kif { signed: false, int: width, frac: 0 };
        let name = format!("{}_word", self.name(read.node));
        let (register, word) = self.frame.register(&name, kif, Load::When(when), false);
        let next = if width == 1 {
            bit
        } else {
            let rest =
                self.frame.op(Op::Quantise { x: word, shift: -1 }, Interval::full(Kif { int: width - 1, ..kif }));
            self.frame.op(Op::Binary { op: BinaryBits::Or, a: rest, b: bit, shift: width - 1 }, Interval::full(kif))
        };
        self.frame.registers[register].next = Some(next);
        word
    }

    /// Returns registers that collect the bits of a stream with this time, one register for the bits of each cycle.
    fn collected(&mut self, read: Read, time: i32, (low, high): (i32, i32)) -> ValueId {
        let name = format!("{}_word", self.name(read.node));
        let mut word: Option<ValueId> = None;
        let mut at = low;
        while at <= high {
            let clock = (time + at).div_euclid(self.digit);
            let last = high.min(self.digit * (clock + 1) - 1 - time);
            let kif = Kif { signed: false, int: last - at + 1, frac: 0 };
            let phase = self.phase_of(time + at);
            let (register, shown) = self.frame.register(&format!("{name}_{}", at - low), kif, Load::At(phase), false);
            let mut bits: Option<ValueId> = None;
            for w in at..=last {
                let bit = self.bits(read, time, (w, w), self.lane_of(time + w));
                bits = Some(self.above(bits, bit, w - at, w - at + 1));
            }
            self.frame.registers[register].next = bits;
            word = Some(self.above(word, shown, at - low, last - low + 1));
            at = last + 1;
        }
        word.expect("a value has bits")
    }

    /// Places `width` bits above others, from position `from` on.
    fn above(&mut self, below: Option<ValueId>, bits: ValueId, from: i32, width: i32) -> ValueId {
        let Some(below) = below else { return bits };
        let op = Op::Binary { op: BinaryBits::Or, a: below, b: bits, shift: from };
        self.frame.op(op, Interval::full(Kif { signed: false, int: width, frac: 0 }))
    }

    /// Returns the bit of a value that a phase selects, in a lane of the tick before the stream has it.
    fn selected(&mut self, value: ValueId, kif: Kif, Stream { time, high }: Stream, lane: i32) -> ValueId {
        let (from, top) = (lowest(kif), highest(kif));
        let mut entries: Vec<Option<ValueId>> = vec![None; (self.plan.interval as usize).next_power_of_two()];
        let last = if kif.signed { high } else { high.min(top) };
        for w in (from..=last).filter(|w| self.lane_of(time - 1 + w) == lane).collect::<Vec<i32>>() {
            let shift = -w.min(top);
            let bit = self.frame.op(Op::Quantise { x: value, shift }, Interval::full(BIT));
            entries[self.phase_of(time - 1 + w) as usize] = Some(bit);
        }
        let mut level = 0;
        while entries.len() > 1 {
            let by = self.phase_bit(level);
            level += 1;
            let pairs: Vec<[Option<ValueId>; 2]> = entries.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
            entries = Vec::with_capacity(pairs.len());
            for [zero, one] in pairs {
                entries.push(match (zero, one) {
                    (Some(zero), Some(one)) => Some(self.choice(by, one, zero)),
                    (one, other) => one.or(other),
                });
            }
        }
        // A lane without bits may show any value.
        entries[0].unwrap_or_else(|| self.frame.constant(0))
    }

    fn phase_bit(&mut self, level: usize) -> ValueId {
        while self.phase_bits.len() <= level {
            let shift = -(self.phase_bits.len() as i32);
            let x = self.frame.phase;
            let bit = self.frame.op(Op::Quantise { x, shift }, Interval::full(BIT));
            self.phase_bits.push(bit);
        }
        self.phase_bits[level]
    }

    // ---- results ----

    /// Returns the results, all bits of each in the cycle before the latency.
    fn results(&mut self) -> Vec<Option<ValueId>> {
        let clock = self.plan.settled() as i32 - 1;
        let graph = self.graph;
        let whole = |output: &Option<(Read, Kif)>| {
            let (read, kif) = (*output)?;
            Some(self.whole(read, &Interval::full(kif), clock))
        };
        graph.outputs.iter().map(whole).collect()
    }
}
