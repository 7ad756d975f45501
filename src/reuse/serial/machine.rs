//! A bit-serial plan as a state machine.

use super::plan::{bounded, sum_from};
use super::super::frame::{BIT, Frame, Load};
use super::{Graph, Kind, Plan, Read, Stream, highest, lowest};
use crate::ir::machine::Machine;
use crate::ir::{BinaryBits, Model, Op, Output, Table, TableId, UnaryBits, ValueId};
use crate::netlist::Options;
use crate::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Up to so many phases a bit that depends on the phase is read from a table; above, it changes at certain phases.
const TABLE_PHASES: u32 = 64;

/// The machine of a plan, with the ports of the program that are asked for. Its reset is active high and on the clock's
/// edge.
///
/// # Panics
/// If the plan is none of the graph's, or the graph none of the program's.
pub fn machine(model: &Model, graph: &Graph, plan: &Plan, options: &Options) -> Machine {
    let mut drawing = Drawing {
        frame: Frame::new(model, plan.interval, options),
        graph,
        plan,
        chains: vec![Vec::new(); graph.nodes.len()],
        patterns: FxHashMap::default(),
        phase_bits: Vec::new(),
        flags: FxHashMap::default(),
        words: FxHashMap::default(),
    };
    drawing.streams();
    for id in 0..graph.nodes.len() {
        if let Some(stream) = plan.streams[id] {
            drawing.node(id, stream);
        }
    }
    drawing.frame.valid(plan.latency);
    drawing.outputs();
    drawing.frame.finish()
}

struct Drawing<'a> {
    frame: Frame<'a>,
    graph: &'a Graph,
    plan: &'a Plan,
    /// For each stream its register and those behind it: where they are, and what they show.
    chains: Vec<Vec<(usize, ValueId)>>,
    /// Bits by phase.
    patterns: FxHashMap<Vec<bool>, ValueId>,
    phase_bits: Vec<ValueId>,
    /// Highest bits that are kept: of which bit, loaded in which clock.
    flags: FxHashMap<(usize, i32, i32), ValueId>,
    /// Values that are collected: what is read, which delay, from which weight to which.
    words: FxHashMap<(Read, i32, i32, i32), ValueId>,
}

impl Drawing<'_> {
    // ---- bits ----

    fn op2(&mut self, op: BinaryBits, a: ValueId, b: ValueId) -> ValueId {
        self.frame.op(Op::Binary { op, a, b, shift: 0 }, Interval::full(BIT))
    }

    fn not(&mut self, x: ValueId) -> ValueId {
        self.frame.op(Op::Unary { op: UnaryBits::Not, x }, Interval::full(BIT))
    }

    fn choice(&mut self, cond: ValueId, on_true: ValueId, on_false: ValueId) -> ValueId {
        if on_true == on_false {
            return on_true;
        }
        self.frame.op(Op::Mux { cond, on_true, on_false, shift: 0 }, Interval::full(BIT))
    }

    fn phase_of(&self, clock: i32) -> u32 {
        clock.rem_euclid(self.plan.interval as i32) as u32
    }

    /// A bit that is 1 in some clocks of a sample and, as far as others share their phases, in those.
    fn in_clocks(&mut self, clocks: impl IntoIterator<Item = i32>) -> ValueId {
        let mut ones = vec![false; self.plan.interval as usize];
        for clock in clocks {
            ones[self.phase_of(clock) as usize] = true;
        }
        self.pattern(ones)
    }

    /// A bit by phase, from a register.
    fn pattern(&mut self, ones: Vec<bool>) -> ValueId {
        if let Some(&known) = self.patterns.get(&ones) {
            return known;
        }
        let shown = if ones.iter().all(|&one| one == ones[0]) {
            self.frame.constant(u64::from(ones[0]))
        } else {
            // At power-on and after a reset, where the phase is 0, registers are zero.
            let turned = ones[0];
            let name = format!("at_{}", self.patterns.len());
            let (register, shown) = self.frame.register(&name, BIT, Load::Always, true);
            let n = ones.len();
            let next = if self.plan.interval <= TABLE_PHASES {
                let entries: Vec<i32> = (0..n).map(|p| i32::from(ones[(p + 1) % n] != turned)).collect();
                let out = Interval::full(BIT);
                self.frame.tables.push(Table { entries, out: out.clone(), hash: String::new(), inp_width: 0 });
                let table = TableId(self.frame.tables.len() as u32 - 1);
                let x = self.frame.phase;
                self.frame.op(Op::Lookup { x, table, base: Code::ZERO }, out)
            } else {
                let mut next = shown;
                for p in 0..n {
                    if ones[p] != ones[(p + 1) % n] {
                        let at = self.frame.at(p as u32);
                        next = self.op2(BinaryBits::Xor, next, at);
                    }
                }
                next
            };
            self.frame.registers[register].next = Some(next);
            if turned { self.not(shown) } else { shown }
        };
        self.patterns.insert(ones, shown);
        shown
    }

    /// A stream so many clocks later.
    fn tap(&mut self, node: usize, delay: i32) -> ValueId {
        let delay = usize::try_from(delay).expect("nothing is read before it is there");
        while self.chains[node].len() <= delay {
            let at = self.chains[node].len();
            let name = format!("{}_d{at}", self.name(node));
            let before = self.chains[node][at - 1].1;
            let (register, shown) = self.frame.register(&name, BIT, Load::Always, false);
            self.frame.registers[register].next = Some(before);
            self.chains[node].push((register, shown));
        }
        self.chains[node][delay].1
    }

    fn name(&self, node: usize) -> String {
        match self.graph.nodes[node].kind {
            Kind::Port(e) => format!("stream_{e}"),
            _ => format!("v{}", self.graph.nodes[node].origin),
        }
    }

    /// The stream that is read, and the weights below and above which there are zeros.
    fn source(&self, read: Read) -> Option<(Read, i32, Option<i32>)> {
        bounded(self.graph, |node| self.plan.streams[node].is_some(), read)
    }

    fn time(&self, node: usize) -> i32 {
        self.plan.streams[node].map_or(0, |s| s.time)
    }

    /// What is read as a stream of this time, of which these weights matter; zeros around it are put in.
    fn bits(&mut self, read: Read, time: i32, low: i32, high: i32) -> ValueId {
        if let Some((x, first, last)) = self.source(read) {
            let bit = self.tap(x.node, time + x.shift - self.time(x.node));
            if low >= first && last.is_none_or(|last| high <= last) {
                return bit;
            }
            let weights = low.max(first)..=last.map_or(high, |last| high.min(last));
            let shown = self.in_clocks(weights.map(|w| time + w));
            return self.op2(BinaryBits::And, bit, shown);
        }
        let (code, lowest) = self.constant(read);
        let set = (low..=high).filter(|w| i64::from(*w) >= i64::from(lowest) && code.bit((w - lowest) as u64));
        let clocks: Vec<i32> = set.map(|w| time + w).collect();
        self.in_clocks(clocks)
    }

    /// The code that a constant has, and the weight of its lowest bit.
    fn constant(&self, read: Read) -> (BigInt, i32) {
        match &self.graph.nodes[read.node].kind {
            Kind::Constant { code, low } => (code.clone(), low + read.shift),
            _ => unreachable!("what is no constant has a stream"),
        }
    }

    // ---- streams ----

    /// The register of every stream. One that shows copies of its sign holds it.
    fn streams(&mut self) {
        for (id, node) in self.graph.nodes.iter().enumerate() {
            let Some(Stream { time, high }) = self.plan.streams[id] else { continue };
            let top = highest(node.kif);
            let selected = matches!(node.kind, Kind::Port(_) | Kind::Whole { .. });
            let load = if node.kif.signed && high > top && !selected {
                let bit = self.in_clocks((lowest(node.kif)..=top).map(|w| time - 1 + w));
                Load::When(bit)
            } else {
                Load::Always
            };
            let name = self.name(id);
            let register = self.frame.register(&name, BIT, load, false);
            self.chains[id].push(register);
        }
    }

    /// What a stream's register takes.
    fn node(&mut self, id: usize, stream: Stream) {
        let node = &self.graph.nodes[id];
        let Stream { time, high } = stream;
        let (from, top) = (lowest(node.kif), highest(node.kif));
        let to = high.min(top);
        let before = time - 1;
        let bit = match &node.kind {
            Kind::Constant { .. } => unreachable!("a constant has no stream"),
            Kind::Port(e) => {
                let name = format!("captured_{e}");
                let (register, captured) = self.frame.register(&name, node.kif, Load::At(0), false);
                let port = self.frame.ports[*e as usize].clone();
                let value = self.frame.read(port, node.kif);
                self.frame.registers[register].next = Some(value);
                self.selected(captured, node.kif, stream)
            }
            Kind::Quantised(x) => self.bits(*x, before, from, to),
            Kind::Sum { a, b, minus } => {
                let first = sum_from(self.graph, a.as_ref(), b);
                self.sum((id, before), (a.as_ref(), b, *minus), (first, to))
            }
            Kind::Relu(x) => {
                let negative = self.flag(*x, before + from, before + to);
                let positive = self.not(negative);
                let x = self.bits(*x, before, from, to);
                self.op2(BinaryBits::And, x, positive)
            }
            Kind::Choice { by, one, zero } => {
                let one = self.bits(*one, before, from, to);
                let zero = self.bits(*zero, before, from, to);
                let by = self.flag(*by, before + from, before + to);
                self.choice(by, one, zero)
            }
            Kind::Whole { op, operands, interval } => {
                let load = time + from - 2;
                let mut values = Vec::with_capacity(operands.len());
                for (x, interval) in operands {
                    values.push(self.whole(*x, interval, load));
                }
                let mut op = op.clone();
                op.map_operands(|v| values[v.index()]);
                let result = self.frame.op(op, interval.clone());
                let name = format!("{}_whole", self.name(id));
                let at = self.phase_of(load);
                let (register, shown) = self.frame.register(&name, node.kif, Load::At(at), false);
                self.frame.registers[register].next = Some(result);
                self.selected(shown, node.kif, stream)
            }
        };
        let register = self.chains[id][0].0;
        self.frame.registers[register].next = Some(bit);
    }

    /// A full adder, its carry in a register that is zero in the first clock.
    fn sum(
        &mut self,
        (id, time): (usize, i32),
        (a, b, minus): (Option<&Read>, &Read, bool),
        (low, high): (i32, i32),
    ) -> ValueId {
        use BinaryBits::{And, Or, Xor};
        let name = format!("{}_carry", self.name(id));
        let (register, carry) = self.frame.register(&name, BIT, Load::Always, false);
        let a = a.map(|a| self.bits(*a, time, low, high));
        let b = self.bits(*b, time, low, high);
        let (sum, next) = match (a, minus) {
            (Some(a), _) => {
                let differ = self.op2(Xor, a, b);
                let sum = self.op2(Xor, differ, carry);
                let (mine, passed) = if minus {
                    (self.not(a), self.not(differ))
                } else {
                    (a, differ)
                };
                let made = self.op2(And, mine, b);
                let kept = self.op2(And, passed, carry);
                (sum, self.op2(Or, made, kept))
            }
            (None, true) => (self.op2(Xor, b, carry), self.op2(Or, b, carry)),
            (None, false) => unreachable!("a sum of one is no sum"),
        };
        let mut ones = vec![true; self.plan.interval as usize];
        ones[self.phase_of(time + low - 1) as usize] = false;
        let goes_on = self.pattern(ones);
        let next = self.op2(And, next, goes_on);
        self.frame.registers[register].next = Some(next);
        sum
    }

    /// The highest bit of what is read, kept from one clock to another.
    fn flag(&mut self, read: Read, first: i32, last: i32) -> ValueId {
        let interval = self.plan.interval as i32;
        let top = highest(self.graph.nodes[read.node].kif) + read.shift;
        let Some((x, first_bit, last_bit)) = self.source(read) else {
            let (code, lowest) = self.constant(read);
            let set = top >= lowest && code.bit((top - lowest) as u64);
            return self.frame.constant(u64::from(set));
        };
        if top < first_bit || last_bit.is_some_and(|last_bit| top > last_bit) {
            return self.frame.constant(0);
        }
        let mut load = self.time(x.node) - x.shift + top;
        let mut shown = self.tap(x.node, 0);
        loop {
            let key = (x.node, top - x.shift, load);
            shown = match self.flags.get(&key) {
                Some(&known) => known,
                None => {
                    let name = format!("{}_top", self.name(x.node));
                    let at = self.phase_of(load);
                    let (register, kept) = self.frame.register(&name, BIT, Load::At(at), false);
                    self.frame.registers[register].next = Some(shown);
                    self.flags.insert(key, kept);
                    kept
                }
            };
            if last <= load + interval {
                return shown;
            }
            load = (load + interval).min(first - 1);
        }
    }

    // ---- whole values ----

    /// The value that is read, collected before the end of a clock.
    fn whole(&mut self, read: Read, interval: &Interval, load: i32) -> ValueId {
        let kif = interval.kif();
        if kif.is_zero() {
            return self.frame.op(Op::Const { value: Code::ZERO }, interval.clone());
        }
        let (low, high) = (lowest(kif), highest(kif));
        let width = kif.width();
        let Some((x, ..)) = self.source(read) else {
            let (code, lowest) = self.constant(read);
            let (code, frac) = if lowest >= low { (code << (lowest - low), -low) } else { (code, -lowest) };
            let x = self.frame.op(Op::Const { value: code.clone().into() }, Interval::new(code.clone(), code, frac));
            return self.frame.op(Op::Quantise { x, shift: 0 }, interval.clone());
        };
        let own = self.time(x.node) - x.shift;
        let delay = (load - self.plan.interval as i32 - low - own).max(0);
        let key = (read, delay, low, high);
        let word = match self.words.get(&key) {
            Some(&known) => known,
            None => {
                let time = own + delay;
                let bit = self.bits(read, time, low, high);
                let when = self.in_clocks((low..=high).map(|w| time + w));
                let kif = Kif { signed: false, int: width as i32, frac: 0 };
                let name = format!("{}_word", self.name(x.node));
                let (register, word) = self.frame.register(&name, kif, Load::When(when), false);
                let next = if width == 1 {
                    bit
                } else {
                    let less = Kif { int: width as i32 - 1, ..kif };
                    let rest = self.frame.op(Op::Quantise { x: word, shift: -1 }, Interval::full(less));
                    let shift = width as i32 - 1;
                    self.frame.op(Op::Binary { op: BinaryBits::Or, a: rest, b: bit, shift }, Interval::full(kif))
                };
                self.frame.registers[register].next = Some(next);
                self.words.insert(key, word);
                word
            }
        };
        self.frame.op(Op::Quantise { x: word, shift: low }, interval.clone())
    }

    /// The bit of a value that a phase selects, in the clock before the stream shows it.
    fn selected(&mut self, value: ValueId, kif: Kif, Stream { time, high, .. }: Stream) -> ValueId {
        let (from, top) = (lowest(kif), highest(kif));
        let mut entries: Vec<Option<ValueId>> = vec![None; (self.plan.interval as usize).next_power_of_two()];
        let last = if kif.signed { high } else { high.min(top) };
        let mut bit = None;
        for w in from..=last {
            if w <= top {
                bit = Some(self.frame.op(Op::Quantise { x: value, shift: -w }, Interval::full(BIT)));
            }
            entries[self.phase_of(time - 1 + w) as usize] = bit;
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
        entries[0].expect("a value has bits")
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

    fn outputs(&mut self) {
        let model = self.frame.model;
        let ports = self.frame.output_ports();
        let load = self.plan.latency as i32 - 1;
        let at = self.phase_of(load);
        for (j, port) in ports.into_iter().enumerate() {
            let Some((read, kif)) = self.graph.outputs[j] else {
                self.frame.gives(Output { source: None, shift: 0, neg: false }, port);
                continue;
            };
            let shift = model.outputs()[j].shift;
            let interval = model.output_intervals()[j].scaled(-shift);
            let x = self.whole(read, &Interval::full(kif), load);
            let (register, held) = self.frame.register(&format!("result_{j}"), kif, Load::At(at), false);
            self.frame.registers[register].next = Some(x);
            let shown = self.frame.op(Op::Quantise { x: held, shift: 0 }, interval);
            self.frame.gives(Output { source: Some(shown), shift, neg: false }, port);
        }
    }
}
