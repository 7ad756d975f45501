//! Conversion of a netlist to an elaborated design, cell by cell with the semantics that [`Cell`] documents, for proofs
//! before code generation.

use super::{Cell, Direction, NetId, Netlist, Piece, Wiring};
use alir_hdl::{Binary, Compare, NodeId, Reduce, Register, Rtl, SignalId};
use num_bigint::BigUint;
use std::sync::Arc;

struct Writer<'a> {
    netlist: &'a Netlist,
    rtl: Rtl,
    /// Signal of each net.
    nets: Vec<SignalId>,
}

/// Returns the netlist as an elaborated design, with a signal for each net.
pub fn rtl(netlist: &Netlist) -> Rtl {
    // Contents of the header comment.
    let interface = &netlist.interface;
    let mut head = vec![format!("latency: {}", interface.latency)];
    head.extend(
        (interface.initiation_interval > 1).then(|| format!("initiation interval: {}", interface.initiation_interval)),
    );
    let mut w = Writer { netlist, rtl: Rtl::new(netlist.interface.top.clone(), head), nets: Vec::new() };
    let ports: Vec<SignalId> =
        netlist.ports().iter().map(|port| w.rtl.add_signal(port.name.clone(), port.width, 0)).collect();
    for i in 0..netlist.nets().len() as u32 {
        let id = NetId(i);
        let signal = w.rtl.add_signal(netlist.name(id).to_owned(), netlist.net(id).width, 0);
        w.nets.push(signal);
    }
    let clock = netlist.interface.clock.as_ref();
    let clock = clock.and_then(|name| netlist.ports().iter().position(|p| p.name == *name)).map(|i| ports[i]);
    for (i, net) in netlist.nets().iter().enumerate() {
        let signal = w.nets[i];
        if let Cell::Register { d, enable, reset, init } = net.cell {
            let mut next = w.bits(d);
            if let Some(enable) = enable {
                let (enable, held) = (w.bits(enable), w.rtl.read(signal));
                next = w.rtl.mux(enable, next, held);
            }
            let mut resets = Vec::new();
            if let Some(reset) = reset {
                let (when, value) = (w.bits(reset.when), w.bits(reset.value));
                let when = if reset.active_high { when } else { w.rtl.not(when) };
                if reset.asynchronous {
                    resets.push((when, value));
                } else {
                    next = w.rtl.mux(when, value, next);
                }
            }
            let init = init.map(|init| w.bits(init));
            // A netlist without a clock port has no registers; [`Netlist::check`] checks this rule.
            if let Some(clock) = clock {
                let made = w.rtl.signal_mut(signal);
                made.registers.push(Register { lo: 0, next, clock, rising: true, resets });
                made.init = init;
            }
            continue;
        }
        let value = w.cell(net.cell, net.width, &ports);
        w.rtl.signal_mut(signal).wires.push((0, value));
    }
    for (port, &signal) in netlist.ports().iter().zip(&ports) {
        match port.direction {
            Direction::In => {
                w.rtl.signal_mut(signal).input = true;
                w.rtl.inputs.push(signal);
            }
            Direction::Out => {
                let driver = port.driver.map(|driver| w.bits(driver));
                w.rtl.signal_mut(signal).wires.extend(driver.map(|node| (0, node)));
                w.rtl.outputs.push(signal);
            }
        }
    }
    w.rtl
}

impl Writer<'_> {
    fn bits(&mut self, wiring: Wiring) -> NodeId {
        let netlist = self.netlist;
        let parts: Vec<NodeId> = netlist
            .pieces(wiring)
            .iter()
            .map(|&piece| match piece {
                Piece::Bits { net, lo, width } => {
                    let word = self.rtl.read(self.nets[net.index()]);
                    self.rtl.slice(word, lo, width)
                }
                Piece::Repeat { net, bit, count } => {
                    let word = self.rtl.read(self.nets[net.index()]);
                    let bit = self.rtl.slice(word, bit, 1);
                    self.rtl.repeat(bit, count)
                }
                Piece::Const { one, width } => {
                    let bit = self.rtl.number(u64::from(one), 1);
                    self.rtl.repeat(bit, width)
                }
            })
            .collect();
        self.rtl.concat(&parts)
    }

    fn two(&mut self, op: Binary, a: Wiring, b: Wiring) -> NodeId {
        let (a, b) = (self.bits(a), self.bits(b));
        self.rtl.binary(op, a, b)
    }

    fn cell(&mut self, cell: Cell, width: u32, ports: &[SignalId]) -> NodeId {
        match cell {
            Cell::Input { port, lo } => {
                let word = self.rtl.read(ports[port.0 as usize]);
                self.rtl.slice(word, lo, width)
            }
            Cell::Alias { x } => self.bits(x),
            Cell::Add { a, b } => self.two(Binary::Add, a, b),
            Cell::Sub { a, b } => self.two(Binary::Sub, a, b),
            Cell::Three { a, b, c, minus } => {
                let op = |minus: bool| if minus { Binary::Sub } else { Binary::Add };
                let first = self.two(op(minus[0]), a, b);
                let c = self.bits(c);
                self.rtl.binary(op(minus[1]), first, c)
            }
            Cell::Neg { a } => {
                let (zero, a) = (self.rtl.number(0, width), self.bits(a));
                self.rtl.binary(Binary::Sub, zero, a)
            }
            Cell::Mul { a, b, signed } => {
                let both = a.width() + b.width();
                let (a, b) = (self.bits(a), self.bits(b));
                let (a, b) = (self.rtl.resize(a, both, signed), self.rtl.resize(b, both, signed));
                let product = self.rtl.binary(Binary::Mul, a, b);
                self.rtl.slice(product, 0, width)
            }
            Cell::Less { a, b, signed } => {
                let (a, b) = (self.bits(a), self.bits(b));
                self.rtl.compare(if signed { Compare::SignedLess } else { Compare::Less }, a, b)
            }
            Cell::Mux { sel, on_true, on_false } => {
                let (sel, yes, no) = (self.bits(sel), self.bits(on_true), self.bits(on_false));
                self.rtl.mux(sel, yes, no)
            }
            Cell::Not { a } => {
                let a = self.bits(a);
                self.rtl.not(a)
            }
            Cell::And { a, b } => self.two(Binary::And, a, b),
            Cell::Or { a, b } => self.two(Binary::Or, a, b),
            Cell::Xor { a, b } => self.two(Binary::Xor, a, b),
            Cell::ReduceOr { a } => {
                let a = self.bits(a);
                self.rtl.reduce(Reduce::Any, a)
            }
            Cell::ReduceAnd { a } => {
                let a = self.bits(a);
                self.rtl.reduce(Reduce::All, a)
            }
            Cell::Rom { rom, addr } => {
                let words = &self.netlist.roms()[rom.0 as usize].words;
                let words: Vec<BigUint> = words.iter().map(|&w| BigUint::from(w)).collect();
                let (addr, zero) = (self.bits(addr), self.rtl.number(0, width));
                self.rtl.table(Arc::new(words), addr, zero)
            }
            // The caller builds registers, because it has the register's signal.
            Cell::Register { .. } => self.rtl.free(width),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{Options, ResetOptions, lower};
    use alir_prove::equiv::{Request, Verdict, prove};
    use alir_prove::sat::Embedded;

    #[test]
    fn netlists_of_random_programs_are_the_programs_and_not_their_neighbours() {
        let mut differ = 0;
        for seed in 0..40 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 14, seed).build();
            let (built, _) = alir_opt::passes::run(&model, alir_opt::passes::pipeline((seed % 3) as u8));
            let stages = (seed / 3 % 4) as u32;
            let schedule = match stages {
                0 => alir_opt::schedule::Schedule::combinational(built.nodes().len()),
                n => alir_opt::schedule::random(&built, n, false, seed),
            };
            let reset = ResetOptions { asynchronous: seed % 2 == 0, active_high: true, data: true };
            let controlled = stages > 0 && seed % 5 < 3;
            let options = Options {
                valid: controlled,
                enable: controlled,
                reset: controlled.then_some(reset),
                ..Options::default()
            };
            let netlist = lower(&built, &schedule, &options);
            let mut rtl = rtl(&netlist);
            let request = Request { latency: Some(netlist.interface.latency), ..Request::default() };
            let verdict_of = |rtl: &Rtl| prove(&model, rtl, &request, Box::new(Embedded)).0.verdict;
            assert_eq!(verdict_of(&rtl), Verdict::Proved, "seed {seed}");
            // Invert one bit of the outputs.
            let Some(&port) = rtl.outputs.iter().find(|s| rtl.signal(**s).name == "model_out") else { continue };
            let (_, word) = rtl.signal(port).wires[0];
            let (width, one) = (rtl.width(word), BigUint::from(1u32));
            let flip = rtl.constant(one << (seed as u32 % width), width);
            let changed = rtl.binary(Binary::Xor, word, flip);
            rtl.signal_mut(port).wires[0].1 = changed;
            assert!(matches!(verdict_of(&rtl), Verdict::Differs { .. }), "seed {seed}");
            differ += 1;
        }
        assert!(differ > 30, "only {differ} could be changed");
    }

    #[test]
    fn products_in_parts_are_the_products() {
        use crate::netlist::{Fabric, Multipliers};
        use alir_core::ir::{Builder, Op, Output};
        use alir_core::num::Interval;

        let mut rng = alir_core::num::SplitMix::new(5);
        let mut cut = 0;
        for seed in 0..60 {
            let mut below = |n: u64| rng.below(n) as u32;
            let is_square = seed % 3 == 0;
            let mut builder = Builder::new(vec![0, 0]);
            let types = [(); 2].map(|()| {
                let width = if is_square { 6 + below(12) } else { 2 + below(44) };
                Interval::from_width(below(2) == 1, width, 0)
            });
            let [x, y] = [0, 1].map(|input| builder.op(Op::Input { input }, types[input as usize].clone()));
            let y = if is_square { x } else { y };
            let (a, b) = (types[0].kif(), types[usize::from(!is_square)].kif());
            let whole = a.width() + b.width();
            let product = builder.op(Op::Mul { a: x, b: y }, Interval::from_width(a.signed || b.signed, whole, 0));
            // The kept low bits of the product may wrap.
            let kept = match below(3) {
                0 => builder.op(
                    Op::Quantise { x: product, shift: 0 },
                    Interval::from_width(below(2) == 1, 4 + below(u64::from(whole) - 3), 0),
                ),
                _ => product,
            };
            builder.output(Output { source: Some(kept), shift: 0, neg: false });
            let model = builder.finish().expect("a product");
            let names = ["products", "polarity", "demand", "simplify", "ranges", "cse", "dce"];
            let (built, _) = alir_opt::passes::run(&model, &names);
            cut += usize::from(built.nodes().len() > model.nodes().len());
            let fabric = Fabric {
                multipliers: Multipliers::Rows,
                table_inputs: if below(2) == 1 { 4 } else { 6 },
                ..Fabric::default()
            };
            let options = Options { fabric, ..Options::default() };
            let netlist = lower(&built, &alir_opt::schedule::random(&built, 3, false, seed), &options);
            let request = Request { latency: Some(netlist.interface.latency), ..Request::default() };
            let verdict_of = |rtl: &Rtl| prove(&model, rtl, &request, Box::new(Embedded)).0.verdict;
            let mut rtl = rtl(&netlist);
            assert_eq!(verdict_of(&rtl), Verdict::Proved, "seed {seed}: {a:?} times {b:?}");
            // Add the bit below the top twice: only some inputs show the difference.
            let port = rtl.outputs[0];
            let (_, word) = rtl.signal(port).wires[0];
            let width = rtl.width(word);
            let mask = rtl.constant(BigUint::from(1u32) << (width - 2), width);
            let bit = rtl.binary(Binary::And, word, mask);
            let changed = rtl.binary(Binary::Add, word, bit);
            rtl.signal_mut(port).wires[0].1 = changed;
            assert!(matches!(verdict_of(&rtl), Verdict::Differs { .. }), "seed {seed}");
        }
        assert!(cut > 20, "only {cut} were cut");
    }
}
