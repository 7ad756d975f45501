//! Pipelines inside stateful designs, for any position of their registers.
//!
//! Registers that load whenever their common enable is active, and do not depend on themselves, are pipelines: their
//! value is a function of earlier inputs. After retiming, no register bit of one side need equal a bit of the other, so
//! induction over register bits has no invariant. Therefore these registers are not compared (C. E. Leiserson, J. B.
//! Saxe, "Retiming synchronous circuitry", Algorithmica 6, 1991, applied to the proof). Both sides are written as
//! combinational functions of ports and of the other registers, the *core*, each at an earlier load of the pipelines,
//! and these functions are compared value by value as programs are ([`crate::equiv`]).
//!
//! This is an induction over clock cycles. It assumes that corresponding bits of core registers were equal in all
//! cycles so far. It proves for the present cycle that outputs are equal, that enable and reset of the pipelines are
//! equal, and that core registers are equal after the clock edge. The state of the pipelines needs no assumption, but a
//! complete case distinction: since power-on, or since the last reset, they have loaded 0, 1, 2, ... times, until all
//! initial values have been shifted out. Enable and reset are equal on both sides in every cycle, so that both sides
//! are always in the same case.

mod cut_file;
mod graph;
mod program;

use super::classes::{Classes, Partition};
use super::{Correspondence, CounterexampleTrace, MachineReport, Pair, model, renew, search};
use crate::engine::Engine;
use crate::equiv::{self, Comparison, ComparisonOutcome};
use alir_core::ir::Model;
use alir_core::ir::machine::{Access, Connection, Machine, SignalId, SignalKind};
use cut_file::{Core, CutFile};
use num_bigint::BigInt;
use program::FlowQuestion;
use rustc_hash::FxHashMap;

/// Maximum depth of pipelines that are analysed.
const MOST_LOADS: u32 = 64;
/// Largest number of controls whose pipelines are tried together, after the pipelines of each single control.
const CONTROLS: usize = 3;
/// Largest number of refinements of the correspondence of core registers.
const ROUNDS: usize = 24;

/// Origin of the initial values of pipeline registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    PowerOn,
    Reset,
}

/// Number of loads of pipeline registers since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Case {
    start: Start,
    loads: u32,
}

/// Origin of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
enum Bit {
    /// Bit of an input port of the machine: port and position.
    Port(SignalId, u32),
    /// Class of register bits.
    State(u32),
}

/// Common reset and enable of pipeline registers, each a bit and a flag for active low.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
struct Control {
    reset: Option<(Bit, bool)>,
    enable: Option<(Bit, bool)>,
}

/// Pipelines of the machine under one control.
pub(super) struct Pipes {
    control: Control,
    /// For each signal, `true` if it is a register of these pipelines.
    piped: Vec<bool>,
    reset: Option<Access>,
    enable: Option<Access>,
    /// Length of the longest chain of these registers.
    depth: u32,
    bits: u32,
}

/// Reason why a proof is undecided, and a difference if one was found.
pub(super) struct Open {
    pub(super) reason: String,
    pub(super) shown: Option<Box<CounterexampleTrace>>,
}

/// Proves that both sides are equal; otherwise returns the undecided part, and a difference if one was found.
pub(super) fn prove(
    pair: &Pair<'_>,
    partition: &Partition,
    pipes: &[Pipes],
    report: &mut MachineReport,
    e: &mut Engine,
    new: &dyn Fn() -> Engine,
) -> Result<(), Open> {
    let mut open = None;
    for pipes in pipes.iter().take(CONTROLS) {
        let mut attempt = Attempt { pair, pipes, partition: partition.clone(), depth: 0, shown: None };
        match attempt.run(report, e, new) {
            None => return Ok(()),
            Some(reason) if attempt.shown.is_some() => return Err(Open { reason, shown: attempt.shown.map(Box::new) }),
            Some(reason) => open = open.or(Some(reason)),
        }
    }
    Err(Open { reason: open.unwrap_or_else(|| "there are no pipelines".into()), shown: None })
}

/// Returns the bit that a condition of the machine reads, with `true` if the condition is the complement of that bit.
/// Returns `None` if the condition is computed.
fn traced(
    pair: &Pair<'_>,
    partition: &Partition,
    (core, driven): (&Core, &[Vec<usize>]),
    access: &Access,
) -> Option<(Bit, bool)> {
    let machine = pair.machine;
    let (mut signal, mut element) = (access.signal, access.lo);
    if access.dynamic.is_some() {
        return None;
    }
    for _ in 0..machine.signals().len() {
        let s = machine.signal(signal);
        match s.kind {
            SignalKind::Input => {
                let bit: u32 = s.elements[..element].iter().map(|kif| kif.width()).sum();
                return Some((Bit::Port(signal, bit), false));
            }
            SignalKind::Register => {
                let bit = core.first_bit(signal, element)?;
                return Some((Bit::State(partition.class(bit)), partition.phase(bit)));
            }
            _ => {}
        }
        let drivers = driven[signal.index()].iter().map(|&c| &machine.connections()[c]);
        let mut drivers = drivers.filter(|c| c.dst.dynamic.is_some() || (c.dst.lo..c.dst.hi).contains(&element));
        let connection = drivers.next()?;
        let (src, dst) = (&connection.src, &connection.dst);
        if drivers.next().is_some() || connection.enable_if.is_some() || src.dynamic.is_some() || dst.dynamic.is_some()
        {
            return None;
        }
        let from = src.lo + element - dst.lo;
        if machine.signal(src.signal).elements[from] != s.elements[element] {
            return None;
        }
        (signal, element) = (src.signal, from);
    }
    None
}

/// Returns the pipelines of the machine, ordered by the number of bits without an equal register bit in the file,
/// largest first.
pub(super) fn pipes(pair: &Pair<'_>, partition: &Partition) -> Vec<Pipes> {
    let machine = pair.machine;
    let (core, driven) = (Core::new(pair), program::driven(machine));
    let mut groups: FxHashMap<Control, Pipes> = FxHashMap::default();
    for id in model::registers(machine) {
        let signal = machine.signal(id);
        let loads: Vec<&Connection> = driven[id.index()].iter().map(|&c| &machine.connections()[c]).collect();
        let Some(first) = loads.first() else { continue };
        let enable = |c: &Connection| c.enable_if.clone().filter(|_| c.alternative.is_none());
        let with = enable(first);
        let whole: usize = loads.iter().map(|c| c.dst.len()).sum();
        if whole != signal.elements.len() || loads.iter().any(|c| c.dst.dynamic.is_some() || enable(c) != with) {
            continue;
        }
        let trace = |access: &Option<Access>| match access {
            None => Some(None),
            Some(access) => traced(pair, partition, (&core, &driven), access).map(Some),
        };
        let (Some(reset), Some(enable)) = (trace(&signal.reset_if), trace(&with)) else { continue };
        let control = Control { reset, enable };
        let group = groups.entry(control).or_insert_with(|| Pipes {
            control,
            piped: vec![false; machine.signals().len()],
            reset: signal.reset_if.clone(),
            enable: with,
            depth: 0,
            bits: 0,
        });
        group.piped[id.index()] = true;
    }
    let mut found: Vec<Pipes> = groups.into_values().collect();
    for pipes in &mut found {
        let cyclic = graph::on_cycles(vertices(machine), |v, out| {
            successors(machine, (&pipes.piped, &driven), v, &mut |w, _| out.push(w));
        });
        for (piped, cyclic) in pipes.piped.iter_mut().zip(cyclic) {
            *piped &= !cyclic;
        }
        pipes.depth = graph::longest(vertices(machine), |v, out| {
            successors(machine, (&pipes.piped, &driven), v, &mut |w, steps| out.push((w, steps)));
        });
        pipes.bits = core.alone(partition, &pipes.piped);
    }
    found.retain(|pipes| pipes.depth > 0);
    found.sort_by_key(|pipes| (std::cmp::Reverse(pipes.bits), pipes.control));
    found
}

/// An element of a signal by its name and number, and its age in cycles.
pub(super) type PastElement = (String, usize, u32);

/// Unrolls a machine over all loads of its pipelines into a program. The outputs of the program are those of the
/// machine, and the next values of other registers. With `has_pipes`, registers that load in each cycle and do not
/// depend on themselves are pipelines; otherwise each register is an input. Also returns the signal elements that are
/// the inputs of the program. Returns `None` if the machine cannot be written as a program.
pub(super) fn unrolled(machine: &Machine, has_pipes: bool) -> Option<(Model, Vec<PastElement>)> {
    let driven = program::driven(machine);
    let mut piped = vec![false; machine.signals().len()];
    for id in model::registers(machine).filter(|_| has_pipes) {
        let loads = driven[id.index()].iter().map(|&c| &machine.connections()[c]);
        let is_free = |c: &Connection| c.dst.dynamic.is_none() && (c.enable_if.is_none() || c.alternative.is_some());
        let whole: usize = loads.clone().map(|c| c.dst.len()).sum();
        piped[id.index()] = whole == machine.signal(id).elements.len() && loads.clone().all(is_free);
    }
    let cyclic = graph::on_cycles(vertices(machine), |v, out| {
        successors(machine, (&piped, &driven), v, &mut |w, _| out.push(w));
    });
    piped.iter_mut().zip(cyclic).for_each(|(piped, cyclic)| *piped &= !cyclic);
    let elements = |id: SignalId| {
        let elements = machine.signal(id).elements.iter().enumerate();
        elements.filter(|(_, kif)| !kif.is_zero()).map(move |(element, kif)| (id, element, kif.width()))
    };
    let outputs = machine.outputs().flat_map(elements).map(|(id, element, _)| FlowQuestion::Output(id, element));
    let others = model::registers(machine).filter(|id| !piped[id.index()]).flat_map(elements);
    let next = others.map(|(register, element, width)| FlowQuestion::Next { register, element, lo: 0, width });
    let asked: Vec<FlowQuestion> = outputs.chain(next).collect();
    let case = Case { start: Start::PowerOn, loads: u32::MAX };
    let made = program::program(machine, &piped, case, &|_, _| program::Shape::Whole, &asked).ok()?;
    let feed = |feed: &program::Feed| (machine.signal(feed.signal).name.clone(), feed.element, feed.back);
    Some((made.model, made.feeds.iter().map(feed).collect()))
}

/// Returns the number of signals and blocks.
fn vertices(machine: &Machine) -> usize {
    machine.signals().len() + machine.blocks().len()
}

/// Visits the operands of a signal or block in the same cycle, or for a pipeline register in the previous one.
fn successors(
    machine: &Machine,
    (piped, driven): (&[bool], &[Vec<usize>]),
    v: usize,
    visit: &mut dyn FnMut(usize, u32),
) {
    let signals = machine.signals().len();
    if v >= signals {
        if let Some(input) = machine.blocks()[v - signals].input {
            visit(input.index(), 0);
        }
        return;
    }
    let id = SignalId(v as u32);
    let steps = match machine.signal(id).kind {
        SignalKind::Input => return,
        SignalKind::BlockOutput(b) => return visit(signals + b.index(), 0),
        SignalKind::Register if !piped[v] => return,
        SignalKind::Register => 1,
        _ => 0,
    };
    for c in driven[v].iter().map(|&c| &machine.connections()[c]) {
        let condition = c.enable_if.as_ref().filter(|_| c.alternative.is_some());
        for access in [Some(&c.src), c.alternative.as_ref(), condition].into_iter().flatten() {
            program::each(access, &mut |s| visit(s.index(), steps));
        }
    }
}

/// Proof attempt with the pipelines of one control.
struct Attempt<'a> {
    pair: &'a Pair<'a>,
    pipes: &'a Pipes,
    partition: Partition,
    /// Length of the longest chain of pipeline registers on either side.
    depth: u32,
    /// Counterexample from power-on.
    shown: Option<CounterexampleTrace>,
}

impl Attempt<'_> {
    /// Runs the proof; returns the reason if it is undecided.
    fn run(&mut self, report: &mut MachineReport, e: &mut Engine, new: &dyn Fn() -> Engine) -> Option<String> {
        let pair = self.pair;
        let core = Core::new(pair);
        let found = cut_file::piped(pair, &self.partition, &core, self.pipes);
        let depth = found.depth.max(self.pipes.depth);
        if depth > MOST_LOADS {
            return Some(format!("a pipeline is {depth} registers deep"));
        }
        self.depth = depth;
        core.forget_pipes(&mut self.partition, pair, self.pipes, &found);
        self.partition = Classes::new(pair, std::mem::replace(&mut self.partition, Partition::new(0))).into_partition();
        let mut cases = vec![Case { start: Start::PowerOn, loads: u32::MAX }];
        for loads in 0..depth {
            cases.push(Case { start: Start::PowerOn, loads });
            if self.pipes.control.reset.is_some() {
                cases.push(Case { start: Start::Reset, loads });
            }
        }
        'rounds: for _ in 0..ROUNDS {
            report.rounds += 1;
            core.one_sided(&mut self.partition);
            let design = CutFile::new(pair, &self.partition, &core, self.pipes, &found);
            for &case in &cases {
                match self.case(&core, &design, case, report, e, new) {
                    Ok(()) => {}
                    Err((Some(at), reason)) => {
                        // Register bits need not correspond: their classes are split, and the comparison starts again.
                        let bits = &design.compared[at].bits;
                        if bits.is_empty() {
                            return Some(reason);
                        }
                        bits.iter().for_each(|&bit| self.partition.isolate(bit));
                        continue 'rounds;
                    }
                    Err((None, reason)) => return Some(reason),
                }
            }
            report.notes.push(self.note(&found, depth));
            let classes = Classes::new(pair, self.partition.clone());
            report.registers = classes.report(pair);
            // Registers with an enable may keep their value for any number of cycles.
            if self.pipes.enable.is_none() {
                report.correspondence = Some(Correspondence { depth: depth as usize, ..classes.correspondence(pair) });
            }
            for register in &mut report.registers {
                let mut piped = model::registers(pair.machine).filter(|id| self.pipes.piped[id.index()]);
                if piped.any(|id| pair.machine.signal(id).name == register.name) {
                    register.piped = std::mem::take(&mut register.absent);
                }
            }
            return None;
        }
        Some("the registers outside of pipelines do not correspond".into())
    }

    fn pipes_bits(&self) -> u64 {
        let machine = self.pair.machine;
        let piped = model::registers(machine).filter(|id| self.pipes.piped[id.index()]);
        piped.flat_map(|id| &machine.signal(id).elements).map(|kif| u64::from(kif.width())).sum()
    }

    fn note(&self, found: &cut_file::Piped, depth: u32) -> String {
        let bits: u32 = found.registers.keys().map(|&s| self.pair.file.rtl.signal(s).width).sum();
        format!(
            "pipelines of {} register bits, {bits} in the file, up to {depth} loads deep: compared as functions of \
             what enters them",
            self.pipes_bits()
        )
    }

    /// Compares all signals in one case. An error contains the failed comparison and the reason.
    fn case(
        &mut self,
        core: &Core,
        design: &CutFile,
        case: Case,
        report: &mut MachineReport,
        e: &mut Engine,
        new: &dyn Fn() -> Engine,
    ) -> Result<(), (Option<usize>, String)> {
        let machine = self.pair.machine;
        let asked: Vec<FlowQuestion> = design.compared.iter().map(|c| c.asked.clone()).collect();
        let shape = |signal: SignalId, element: usize| core.shape(&self.partition, self.pair, signal, element);
        let program = program::program(machine, &self.pipes.piped, case, &shape, &asked).map_err(|why| (None, why))?;
        // Index of the comparison for each output of the program.
        let mut outputs = Vec::new();
        for (at, (compared, &defined)) in design.compared.iter().zip(&program.defined).enumerate() {
            match (defined, &compared.asked) {
                (true, _) => outputs.push(at),
                // Undefined outputs of the machine are not compared.
                (false, FlowQuestion::Output(..)) => {}
                (false, _) => {
                    return Err((
                        Some(at),
                        format!("{} is not defined in the first cycles", self.name(&compared.asked)),
                    ));
                }
            }
        }
        let (rtl, ports) = design.instance(self.pair, &program, case, &outputs);
        let counts = e.counts;
        renew(e, new);
        e.counts = counts;
        let outcome = equiv::compare_at(&program.model, &rtl, &ports, e);
        report.bits = e.counts;
        report.gates = e.words.aig.gates();
        report.operations_matched = report.operations_matched.max(outcome.matched);
        match outcome.found {
            ComparisonOutcome::Equal => Ok(()),
            ComparisonOutcome::Differs(j) => {
                let at = outputs[j];
                if let FlowQuestion::Output(..) = design.compared[at].asked
                    && case.start == Start::PowerOn
                {
                    let rows = self.rows(&program.feeds, &outcome, case);
                    self.shown = search::replayed(self.pair, &mut new(), &rows);
                }
                let what = self.name(&design.compared[at].asked);
                Err((Some(at), format!("{what} is not equal in every state that could be told apart")))
            }
            ComparisonOutcome::Open(j, why) => {
                let what = j.map_or_else(|| "the file".to_owned(), |j| self.name(&design.compared[outputs[j]].asked));
                Err((None, format!("{what} was not decided: {why}")))
            }
        }
    }

    /// Returns inputs from power-on, as bits, after which the pipelines have loaded as often as a comparison requires,
    /// or until all initial values have been shifted out. The state of the core is not set; it is irrelevant in most
    /// designs.
    fn rows(&self, feeds: &[program::Feed], seen: &Comparison, case: Case) -> Vec<Vec<bool>> {
        let machine = self.pair.machine;
        let last = case.loads.min(self.depth);
        let mut first: FxHashMap<SignalId, usize> = FxHashMap::default();
        let mut width = 0;
        for port in machine.inputs() {
            first.insert(port, width);
            width += machine.signal(port).elements.iter().map(|kif| kif.width() as usize).sum::<usize>();
        }
        let mut rows = vec![vec![false; width]; last as usize + 1];
        let Control { reset, enable } = self.pipes.control;
        for (condition, acts) in [(reset, false), (enable, true)] {
            if let Some((Bit::Port(port, bit), inverted)) = condition {
                rows.iter_mut().for_each(|row| row[first[&port] + bit as usize] = acts != inverted);
            }
        }
        let moment = |(back, values): &(u32, Vec<BigInt>)| {
            let feeds = feeds.iter().map(|f| program::Feed { back: *back, ..*f });
            feeds.zip(values.clone()).collect::<Vec<_>>()
        };
        let others = seen.others.iter().flat_map(moment);
        for (feed, value) in others.chain(feeds.iter().copied().zip(seen.inputs.clone())) {
            let Some(&start) = first.get(&feed.signal).filter(|_| feed.back <= last) else { continue };
            let elements = &machine.signal(feed.signal).elements;
            let before: u32 = elements[..feed.element].iter().map(|kif| kif.width()).sum();
            let row = &mut rows[(last - feed.back) as usize];
            for b in 0..elements[feed.element].width() {
                row[start + (before + b) as usize] = value.bit(u64::from(b));
            }
        }
        // The condition of an earlier load was true, so its port has the active value.
        if let Some((Bit::Port(port, bit), inverted)) = enable {
            rows.iter_mut().rev().skip(1).for_each(|row| row[first[&port] + bit as usize] = !inverted);
        }
        rows
    }

    /// Returns a readable name of a question.
    fn name(&self, asked: &FlowQuestion) -> String {
        let name = |id: &SignalId| &self.pair.machine.signal(*id).name;
        match asked {
            FlowQuestion::Output(port, element) => format!("element {element} of {:?}", name(port)),
            FlowQuestion::Condition(access) => {
                format!("when {:?} enables or resets the pipelines", name(&access.signal))
            }
            FlowQuestion::Next { register, element, .. } => {
                format!("what element {element} of {:?} becomes", name(register))
            }
            FlowQuestion::Number(..) => "a register of the file that seemed constant".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    // Tests of the programs against the reference simulator, and of false obligations, which must not be proved.
    use super::super::file::FileRegisters;
    use super::super::search::{self, Simulated};
    use super::super::{Pair, Verdict, guarded, port_pairs};
    use super::program::{FlowQuestion, Shape, program};
    use super::*;
    use crate::sat::Embedded;
    use alir_core::num::SplitMix;
    use alir_hdl::Rtl;
    use alir_hdl::{Language, read};
    use alir_hw::netlist::lower_machine;
    use alir_hw::retime::{Slack, retime};
    use alir_interp::machine::Simulation;
    use alir_interp::{LookupMiss, golden};
    use alir_opt::passes;
    use alir_testing::random::machine::{MachineRecipe, stimulus};
    use num_bigint::BigInt;

    fn machine(seed: u64) -> Machine {
        MachineRecipe::seeded(4 + seed as usize % 12, seed).build()
    }

    /// Returns the RTL of a machine with its registers retimed, and `true` if any register was moved.
    fn moved(machine: &Machine, seed: u64) -> (String, bool) {
        let optimise = |model: &alir_core::ir::Model| passes::run(model, passes::pipeline((seed % 3) as u8)).0;
        let slack = if seed.is_multiple_of(2) { Slack::Registers } else { Slack::Delay };
        let retimed = retime(&machine.clone().with_blocks(optimise), slack, &optimise);
        let netlist = lower_machine(&retimed.machine, "machine");
        let text = alir_hw::emit::text(&netlist, alir_hw::emit::Language::Verilog, &alir_hw::emit::Options::default());
        (text, retimed.pipelines.iter().any(|p| p.moved))
    }

    fn engine() -> Engine {
        Engine::new(Box::new(Embedded))
    }

    fn blank() -> MachineReport {
        MachineReport {
            verdict: Verdict::Proved,
            registers: Vec::new(),
            register_bits: 0,
            register_bits_in_machine: 0,
            operations_matched: 0,
            rounds: 0,
            bits: crate::engine::Counts::default(),
            gates: 0,
            correspondence: None,
            notes: Vec::new(),
        }
    }

    /// Returns the undecided part of a proof, for any proposed correspondence; `None` if it is proved.
    fn open(machine: &Machine, rtl: &Rtl, partition: impl Fn(&Pair<'_>) -> Option<Partition>) -> Option<String> {
        let (ports, file) = match (port_pairs::find(machine, rtl), FileRegisters::new(rtl)) {
            (Ok(ports), Ok(file)) => (ports, file),
            _ => return Some("no ports".into()),
        };
        let pair = Pair { machine, file: &file, ports: &ports };
        let Some(partition) = partition(&pair) else { return Some("no correspondence".into()) };
        let pipes = pipes(&pair, &partition);
        prove(&pair, &partition, &pipes, &mut blank(), &mut engine(), &engine).err().map(|open| open.reason)
    }

    /// Returns `true` if the proof by definedness of registers is undecided.
    fn guarded_open(machine: &Machine, rtl: &Rtl) -> bool {
        let (Ok(ports), Ok(file)) = (port_pairs::find(machine, rtl), FileRegisters::new(rtl)) else { return true };
        let pair = Pair { machine, file: &file, ports: &ports };
        !matches!(guarded::prove(&pair, &mut blank(), &mut engine(), &engine), Ok(None))
    }

    /// Returns the correspondence that simulation proposes; `None` if it finds a difference.
    fn simulated(machine: &Machine, rtl: &Rtl) -> Option<Partition> {
        let (ports, file) = (port_pairs::find(machine, rtl).ok()?, FileRegisters::new(rtl).ok()?);
        match search::simulate(&Pair { machine, file: &file, ports: &ports }, &mut engine()) {
            Ok(Simulated::Classes(partition)) => Some(partition),
            _ => None,
        }
    }

    #[test]
    fn programs_of_pipelines_agree_with_the_golden_simulator() {
        let (mut compared, mut early) = (0, 0);
        for seed in 0..150 {
            let machine = machine(seed);
            let (text, _) = moved(&machine, 0);
            let rtl = read(Language::Verilog, &text, None).unwrap();
            let (ports, file) = (port_pairs::find(&machine, &rtl).unwrap(), FileRegisters::new(&rtl).unwrap());
            let pair = Pair { machine: &machine, file: &file, ports: &ports };
            let partition = Partition::new(Core::new(&pair).bits());
            let always = |p: &Pipes| p.control.reset.is_none() && p.control.enable.is_none();
            let Some(pipes) = pipes(&pair, &partition).into_iter().find(always) else { continue };
            let mut asked: Vec<FlowQuestion> = Vec::new();
            for port in machine.outputs() {
                asked.extend((0..machine.signal(port).elements.len()).map(|k| FlowQuestion::Output(port, k)));
            }
            for id in model::registers(&machine).filter(|id| !pipes.piped[id.index()]) {
                for (element, kif) in machine.signal(id).elements.iter().enumerate().filter(|(_, kif)| !kif.is_zero()) {
                    asked.push(FlowQuestion::Next { register: id, element, lo: 0, width: kif.width() });
                }
            }
            // Computes the signals in every cycle, then compares the programs' results for earlier values.
            let mut rng = SplitMix::new(seed);
            let mut sim = Simulation::new(&machine, LookupMiss::Zero);
            let mut history: Vec<Vec<Vec<alir_interp::machine::ElementValue>>> = Vec::new();
            for _ in 0..pipes.depth + 6 {
                for port in machine.inputs() {
                    let codes = stimulus(&machine, port, &mut rng);
                    sim.apply(port, &codes);
                }
                sim.settle().unwrap();
                history.push(machine.signal_ids().map(|id| sim.values(id).to_vec()).collect());
                sim.clock();
            }
            for now in 0..history.len() - 1 {
                let loads = if (now as u32) < pipes.depth { now as u32 } else { u32::MAX };
                let case = Case { start: Start::PowerOn, loads };
                for question in &asked {
                    let asked = std::slice::from_ref(question);
                    let Ok(made) = program(&machine, &pipes.piped, case, &|_, _| Shape::Whole, asked) else { continue };
                    let expected = match question {
                        FlowQuestion::Output(port, k) => &history[now][port.index()][*k],
                        FlowQuestion::Next { register, element, .. } => &history[now + 1][register.index()][*element],
                        _ => unreachable!("only these are asked"),
                    };
                    let leaf = |f: &program::Feed| &history[now - f.back as usize][f.signal.index()][f.element];
                    if !made.defined[0] {
                        assert!(!expected.defined, "seed {seed}, cycle {now}: {question:?}");
                        continue;
                    }
                    if !expected.defined || made.feeds.iter().any(|f| !leaf(f).defined) {
                        continue;
                    }
                    let inputs: Vec<BigInt> = made.feeds.iter().map(|f| leaf(f).code.clone()).collect();
                    let found = golden(&made.model, &inputs, LookupMiss::Zero).unwrap();
                    assert_eq!(found[0], expected.code, "seed {seed}, cycle {now}: {question:?}");
                    compared += 1;
                    early += usize::from(loads < u32::MAX);
                }
            }
        }
        eprintln!("{compared} values, {early} of the first cycles");
        assert!(compared >= 1_000 && early >= 100, "{compared} values, {early} of the first cycles");
    }

    /// Returns the register and the value that a line of RTL loads; `None` for other lines.
    fn loads(line: &str) -> Option<(&str, &str)> {
        let (register, value) = line.trim().strip_suffix(';')?.split_once(" <= ")?;
        (!value.contains(['<', '\''])).then_some((register, value))
    }

    /// Returns the RTL with one small change: an additional register on a path, the value of another register, or
    /// another operator, digit or index.
    fn changed(text: &str, registers: bool, rng: &mut SplitMix) -> Option<String> {
        let lines: Vec<&str> = text.lines().collect();
        let fits =
            |l: &str| if registers { loads(l).is_some() } else { l.contains('=') && !l.trim_start().starts_with("//") };
        let places: Vec<usize> = (0..lines.len()).filter(|&i| fits(lines[i])).collect();
        let at = *places.get(rng.below(places.len().max(1) as u64) as usize)?;
        let line = lines[at];
        let mut changed: Vec<String> = lines.iter().map(|&l| l.to_owned()).collect();
        if registers {
            let (register, value) = loads(line)?;
            let named = |l: &str| l.trim_start().starts_with("reg") && l.contains(&format!(" {register};"));
            let declared = lines.iter().position(|l| named(l))?;
            let others: Vec<&str> = places.iter().filter_map(|&i| loads(lines[i])).map(|(_, v)| v).collect();
            let other = others[rng.below(others.len() as u64) as usize];
            if other == value || rng.below(2) == 0 {
                changed[declared] = format!("{}\n{}", lines[declared], lines[declared].replace(register, "one_more"));
                changed[at] = format!("one_more <= {value};\n{register} <= one_more;");
            } else {
                changed[at] = format!("{register} <= {other};");
            }
            return Some(changed.join("\n"));
        }
        let from = line.find('=')?;
        let bytes = line.as_bytes();
        let spots: Vec<usize> = (from..line.len()).filter(|&i| b"+-01234[&|^".contains(&bytes[i])).collect();
        let spot = *spots.get(rng.below(spots.len().max(1) as u64) as usize)?;
        let mut bytes = bytes.to_vec();
        bytes[spot] = match bytes[spot] {
            b'+' => b'-',
            b'-' => b'+',
            b'0' => b'1',
            b'1' => b'0',
            b'2' => b'1',
            b'3' => b'2',
            b'4' => b'3',
            b'&' => b'|',
            b'|' => b'^',
            b'^' => b'&',
            _ => return None,
        };
        changed[at] = String::from_utf8(bytes).ok()?;
        Some(changed.join("\n"))
    }

    #[test]
    fn no_false_statement_is_proved() {
        no_false_statement(0..40);
    }

    /// Second half of the test above, so that both halves run in parallel.
    #[test]
    fn no_false_statement_of_more_machines_is_proved() {
        no_false_statement(40..80);
    }

    fn no_false_statement(seeds: std::ops::Range<u64>) {
        let (mut good, mut guarded, mut bad, mut layouts) = (0, 0, 0, 0);
        for seed in seeds {
            let machine = machine(seed);
            let (text, moved) = moved(&machine, seed);
            if !moved {
                continue;
            }
            let rtl = read(Language::Verilog, &text, None).unwrap();
            let Some(partition) = simulated(&machine, &rtl) else { panic!("seed {seed}") };
            guarded += usize::from(!guarded_open(&machine, &rtl));
            good += usize::from(open(&machine, &rtl, |_| Some(partition.clone())).is_none());
            let mut rng = SplitMix::new(seed);
            for registers in [true, false, true, false] {
                let Some(text) = changed(&text, registers, &mut rng) else { continue };
                let Ok(other) = read(Language::Verilog, &text, None) else { continue };
                let bits = |rtl: &Rtl| FileRegisters::new(rtl).map_or(0, |file| file.bits());
                if simulated(&machine, &other).is_some() || bits(&other) == 0 {
                    continue;
                }
                // RTL that differs in simulation is not proved with any correspondence.
                let same = bits(&other) == bits(&rtl);
                let one = |pair: &Pair<'_>| Some(Partition::new(Core::new(pair).bits()));
                let found = open(&machine, &other, one);
                assert!(found.is_some(), "seed {seed}\n{text}");
                assert!(guarded_open(&machine, &other), "seed {seed}\n{text}");
                if same {
                    assert!(open(&machine, &other, |_| Some(partition.clone())).is_some(), "seed {seed}\n{text}");
                }
                bad += 1;
                layouts += usize::from(!same);
            }
        }
        eprintln!("{good} proved, {guarded} otherwise, {bad} not, {layouts} of them with other registers");
        assert!(
            good >= 5 && guarded >= 8 && bad >= 7 && layouts >= 3,
            "{good} proved, {bad} not, {layouts} with other registers"
        );
    }
}
