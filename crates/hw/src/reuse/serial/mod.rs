//! Bit-serial hardware: every value is a stream of bits, the lowest first, one bit or a few a clock.
//!
//! ```text
//! Model ─ graph ─► Graph ─ plan ─► Plan ─ check ─► machine ─► Machine
//! ```
//!
//! The *time* of a stream is the tick in which its bit of weight 2^0 is shown, so that the bit of weight 2^w is shown
//! `w` ticks later: a shift is another time and takes no hardware. A clock has one tick, or several where `K` is
//! smaller than the widest value has bits. Both are counted from the clock whose rising edge accepts a sample, and clock
//! `t` has the phase `t mod K`. A value without end in both directions, zeros below its lowest bit and copies of the sign
//! above its highest one, is its *expansion*: a stream shows it from the lowest bit to some weight, as many bits at most
//! as there are ticks in `K` clocks; zeros below, and above a value without a sign, are put in by who reads them. A sum
//! is a full adder and a register for its carry; what needs the sign of a value first (a ReLU, a choice) reads the value
//! that much later; products, tables and what counts bits collect their operands, are computed at one phase, and shown
//! bit by bit again.
//!
//! | file | what |
//! |---|---|
//! | `graph` | a program as operations on streams |
//! | `plan` | which weights each stream shows, and when |
//! | `check` | the independent judge of a plan |
//! | `machine` | a plan as a state machine |
//! | `figures` | what a plan takes |

mod check;
mod figures;
mod graph;
mod machine;
mod plan;

pub use check::check;
pub(super) use figures::tables;
pub use figures::{Figures, clocks};
pub use graph::{Graph, graph, sums_of_two};
pub(super) use machine::draw;
pub use machine::machine;
pub use plan::plan;
pub(super) use plan::quick_plan;

use alir_core::ir::{Model, Op};
use alir_core::num::{Interval, Kif};
use num_bigint::BigInt;
use std::fmt;

/// What an operation reads: weight `w` is the node's weight `w - shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The node.
    pub node: usize,
    /// By which power of two it is scaled.
    pub shift: i32,
}

/// What a node computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An element of the input port.
    Port(u32),
    /// `code * 2^low`.
    Constant {
        /// The code.
        code: BigInt,
        /// The weight of its lowest bit.
        low: i32,
    },
    /// `a ± b`, or `-b`.
    Sum {
        /// The first operand, zero if there is none.
        a: Option<Read>,
        /// The second operand.
        b: Read,
        /// Whether it is subtracted.
        minus: bool,
    },
    /// The larger of the operand and zero.
    Relu(Read),
    /// One of two, by the highest bit of a third.
    Choice {
        /// The third.
        by: Read,
        /// Taken where the bit is 1.
        one: Read,
        /// Taken where it is 0.
        zero: Read,
    },
    /// The operand in another type.
    Quantised(Read),
    /// An operation of the program on whole values.
    Whole {
        /// The operation; its operands count from 0 on.
        op: Op,
        /// The operands and their intervals.
        operands: Vec<(Read, Interval)>,
        /// The interval of the result.
        interval: Interval,
    },
}

/// An operation on streams. The result is wrapped to its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it computes.
    pub kind: Kind,
    /// The type of the result, with bits.
    pub kif: Kif,
    /// Its place in the program's file.
    pub origin: u32,
}

impl Kind {
    /// All that is read.
    pub fn reads(&self) -> Vec<Read> {
        match self {
            Kind::Port(_) | Kind::Constant { .. } => Vec::new(),
            Kind::Sum { a, b, .. } => a.iter().copied().chain([*b]).collect(),
            Kind::Relu(x) | Kind::Quantised(x) => vec![*x],
            Kind::Choice { by, one, zero } => vec![*by, *one, *zero],
            Kind::Whole { operands, .. } => operands.iter().map(|o| o.0).collect(),
        }
    }
}

/// The weight of the lowest bit of a type with bits.
pub fn lowest(kif: Kif) -> i32 {
    -kif.frac
}

/// The weight of the highest bit of a type with bits.
pub fn highest(kif: Kif) -> i32 {
    kif.int - 1 + i32::from(kif.signed)
}

/// What a stream shows: its value's expansion from the lowest bit of its type up to the weight `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The tick in which the bit of weight 0 is shown; where there is none, that in which it would be.
    pub time: i32,
    /// The last weight.
    pub high: i32,
}

/// Most bits a clock: with more, what is left of the adders takes as much as all of them.
pub const MAX_DIGIT: u32 = 8;

/// When which stream shows what.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A sample every so many clocks.
    pub interval: u32,
    /// Bits a clock: the ticks of each.
    pub digit: u32,
    /// Clocks from the edge that accepts a sample to its result.
    pub latency: u32,
    /// For each input element the first clock in which it is shown, by a register or, of the clock that accepts a sample, by
    /// the port itself: it stays for [`Plan::interval`] clocks.
    pub arrivals: Vec<u32>,
    /// The stream of each node; none for a constant, and for what shows the bits of its operand as they are.
    pub streams: Vec<Option<Stream>>,
    /// Whether a plain register more is between every result and its port: the last clock of the latency.
    pub registered_outputs: bool,
}

impl Plan {
    /// Clocks from the edge that accepts a sample to its result, registers at the ports aside.
    pub fn settled(&self) -> u32 {
        self.latency - u32::from(self.registered_outputs)
    }

    /// All of it so many intervals later.
    pub(in crate::reuse) fn delay(&mut self, intervals: u32) {
        let clocks = intervals * self.interval;
        self.latency += clocks;
        self.arrivals.iter_mut().for_each(|clock| *clock += clocks);
        let ticks = (clocks * self.digit) as i32;
        self.streams.iter_mut().flatten().for_each(|stream| stream.time += ticks);
    }

    /// The same with a register more at each output port.
    #[must_use]
    pub fn with_registered_outputs(self) -> Plan {
        Plan { latency: self.latency + u32::from(!self.registered_outputs), registered_outputs: true, ..self }
    }
}

/// Percentage of a program's estimated logic that goes through bit by bit: all but what is computed on whole values.
pub fn shared(model: &Model) -> f64 {
    let (mut all, mut whole) = (0.0, 0.0);
    for id in model.ids() {
        let area = super::blocks::operation_area(model, id);
        all += area;
        if matches!(model.node(id).op, Op::Mul { .. } | Op::Lookup { .. } | Op::Unary { .. } | Op::Binary { .. }) {
            whole += area;
        }
    }
    if all > 0.0 { 100.0 * (all - whole) / all } else { 0.0 }
}

/// Why a program has no bit-serial plan at an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A stream has more bits than go through: the smallest interval that is enough.
    NeedsInterval(u32),
    /// Something in the program has no form on streams.
    Operation(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NeedsInterval(k) => write!(f, "the widest value takes {k} clocks"),
            Refusal::Operation(what) => f.write_str(what),
        }
    }
}

/// Random programs: judged, simulated against the golden interpreter and proved; plans with mistakes.
#[cfg(test)]
mod tests {
    use super::super::tests::{compared, held};
    use super::*;
    use alir_flow::compile::{Engine, Spec};
    use alir_interp::{LookupMiss, golden};
    use alir_core::ir::draw_inputs;
    use crate::netlist::{AtPorts, Options, lower_reused};
    use alir_core::num::SplitMix;
    use alir_testing::random::{Gene, Profile, Recipe};
    use proptest::prelude::*;

    /// The smallest interval at which a graph has a plan.
    fn from(graph: &Graph) -> u32 {
        match planned(graph, 2) {
            Ok(_) => 2,
            Err(Refusal::NeedsInterval(interval)) => interval,
            Err(other) => panic!("{other}"),
        }
    }

    /// A plan of a graph whose inputs are accepted at once: captured or, at an odd interval, held.
    fn planned(graph: &Graph, interval: u32) -> Result<Plan, Refusal> {
        plan(graph, interval, &graph.arrivals(interval % 2 == 1))
    }

    /// Whether the hardware of a plan computes what the golden interpreter says.
    fn computes(model: &Model, program: &Model, (graph, plan): (&Graph, &Plan), seed: u64) -> Result<(), String> {
        let options = Options { ready: true, ..Options::default() };
        let machine = machine(program, graph, plan, &options);
        let input_hold = if plan.arrivals.contains(&0) { plan.interval } else { 1 };
        let netlist = lower_reused(&machine, &options, (plan.interval, plan.latency), AtPorts::Whole(input_hold));
        assert!(netlist.check().is_ok(), "{:?}", netlist.check());
        let mut spec = Spec::default();
        spec.pipeline.interval = Some(plan.interval);
        compared(model, &spec, &netlist, seed)
    }

    #[test]
    fn random_programs_go_through_bit_by_bit_and_are_proved() {
        let mut made = 0;
        let seeds = alir_prove::seeds(0..24);
        let count = seeds.end - seeds.start;
        for seed in seeds {
            let model = Recipe::seeded(Profile::TINY, 14, seed).build();
            let least = from(&graph(&sums_of_two(&model))) + 1;
            let interval = least + [0, 1, 2, 5, 11, 30, 64][(seed % 7) as usize];
            made += u64::from(held(&model, interval, Engine::Serial, seed));
        }
        assert!(made >= count / 2, "only {made} of {count}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        /// At the smallest interval and others: the judge agrees, and so does the golden interpreter.
        #[test]
        fn plans_are_judged_right_and_compute_the_program(
            genes in proptest::collection::vec(any::<Gene>(), 1..24), which in 0..Profile::ALL.len(), more in 0u32..40, seed: u64,
        ) {
            let model = Recipe::new(Profile::ALL[which].1, genes).build();
            let program = sums_of_two(&model);
            let graph = graph(&program);
            let least = from(&graph);
            if least > 2 {
                prop_assert!(planned(&graph, least - 1).is_err());
            }
            // Of the widest only what does not take long.
            if least <= 600 {
                let plan = planned(&graph, least + more).expect("a plan");
                prop_assert_eq!(check(&graph, &plan), Ok(()));
                // What is constant takes no clock, and is no matter of plans.
                if plan.streams.iter().any(Option::is_some) {
                    prop_assert_eq!(computes(&model, &program, (&graph, &plan), seed), Ok(()));
                }
            }
        }

        /// Sums of two are the sum of many.
        #[test]
        fn sums_of_two_are_the_program(
            genes in proptest::collection::vec(any::<Gene>(), 1..40), which in 0..Profile::ALL.len(), seed: u64,
        ) {
            let model = Recipe::new(Profile::ALL[which].1, genes).build();
            let split = sums_of_two(&model);
            let mut rng = SplitMix::new(seed);
            for _ in 0..8 {
                let codes = draw_inputs(&model, &mut rng);
                let outputs = |m: &Model| golden(m, &codes, LookupMiss::Zero).expect("outputs");
                prop_assert_eq!(outputs(&model), outputs(&split));
            }
        }
    }

    /// A mistake is refused, or it is none: then the hardware is right all the same. How many were refused of each kind,
    /// and how many were none.
    fn mistakes(seeds: std::ops::Range<u64>) -> ([u32; 9], u32) {
        let (mut harmless, mut refused) = (0, [0; 9]);
        for seed in seeds {
            let model = Recipe::seeded(Profile::TINY, 12, seed).build();
            let program = sums_of_two(&model);
            let graph = graph(&program);
            let good = planned(&graph, from(&graph) + (seed % 5) as u32).expect("a plan");
            let with: Vec<usize> = (0..good.streams.len()).filter(|&id| good.streams[id].is_some()).collect();
            if with.is_empty() {
                continue;
            }
            let mut rng = SplitMix::new(seed);
            for _ in 0..14 {
                let mut bad = good.clone();
                let id = with[rng.below(with.len() as u64) as usize];
                let kind = rng.below(9) as usize;
                let stream = bad.streams[id].as_mut().expect("a stream");
                match kind {
                    0 => stream.time -= 1 + rng.below(3) as i32,
                    1 => stream.time += 1 + rng.below(3) as i32,
                    2 => stream.high -= 1,
                    3 => bad.latency = bad.latency.saturating_sub(1 + rng.below(3) as u32),
                    4 => bad.interval -= 1,
                    5 => bad.digit -= 1,
                    6 => bad.streams[id] = None,
                    // All of them earlier or later.
                    7 => {
                        let by = rng.below(9) as i32 - 4;
                        bad.streams.iter_mut().flatten().for_each(|stream| stream.time += by);
                    }
                    // Longer streams, up to all that the interval has room for.
                    _ => stream.high += 1 + rng.below(8) as i32,
                }
                if check(&graph, &bad).is_err() {
                    refused[kind] += 1;
                } else {
                    harmless += 1;
                    let found = computes(&model, &program, (&graph, &bad), seed);
                    assert_eq!(found, Ok(()), "seed {seed}, mistake {kind}: {bad:?}");
                }
            }
        }
        (refused, harmless)
    }

    #[test]
    fn the_judge_accepts_no_plan_that_computes_something_else() {
        let (refused, harmless) = mistakes(alir_prove::seeds(0..60));
        let all: u32 = refused.iter().sum();
        assert!(all > 300 && refused.iter().all(|&n| n > 0), "{refused:?} refused, {harmless} harmless");
    }

    #[test]
    #[ignore = "long: 28,000 corrupted plans; minutes"]
    fn the_judge_accepts_no_plan_of_thousands_that_computes_something_else() {
        let (refused, harmless) = mistakes(alir_prove::seeds(1000..3000));
        println!("{refused:?} refused, {harmless} harmless");
        assert!(refused.iter().all(|&n| n > 50), "{refused:?} refused, {harmless} harmless");
    }
}
