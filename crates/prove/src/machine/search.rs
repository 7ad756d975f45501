//! Simulation and bounded unrolling of both sides from power-on. Simulation with random inputs finds differences and
//! proposes equal bits; unrolling over the first cycles finds rare differences.

use super::classes::{Partition, States};
use super::model::{self, Cells, SymbolicCell};
use super::{CounterexampleTrace, Pair};
use crate::aig::{Aig, Gate, Lit, Simulation};
use crate::engine::{Engine, Outcome};
use alir_core::ir::machine::{SignalId, SignalKind};
use alir_core::num::SplitMix;
use alir_interp::LookupMiss;
use alir_interp::machine::Simulation as Golden;
use num_bigint::BigInt;

/// Number of 64-bit words of parallel simulation runs.
pub(super) const WORDS: usize = 8;

/// Values of a bit in all simulation runs.
pub(super) type Runs = [u64; WORDS];

/// Result of simulation.
pub(super) enum Simulated {
    /// A difference.
    Differs(Box<CounterexampleTrace>),
    /// Classes of register bits that were equal in all cycles.
    Classes(Partition),
}

/// Result of the search through the first cycles.
pub(super) enum Bounded {
    /// A difference.
    Differs(Box<CounterexampleTrace>),
    /// No difference in this number of cycles.
    EqualFor(u32),
}

/// Adds free inputs for the machine's input ports.
pub(super) fn free_inputs(e: &mut Engine, pair: &Pair<'_>) -> Cells {
    let cell = |e: &mut Engine, name: &str, k: usize, width: u32| {
        // An index makes the names unique across cycles.
        let bit = |b| {
            let number = e.words.aig.inputs().len();
            e.words.aig.input(format!("{name}[{k}][{b}]_{number}"))
        };
        SymbolicCell { bits: (0..width).map(bit).collect(), defined: Lit::TRUE }
    };
    let machine = pair.machine;
    let all = machine.signals().iter().map(|signal| match signal.kind {
        SignalKind::Input => {
            let name = plain(&signal.name);
            let types = signal.elements.iter().enumerate();
            types.map(|(k, kif)| cell(e, &name, k, kif.width())).collect()
        }
        _ => Vec::new(),
    });
    all.collect()
}

/// Returns a name in a form that other provers accept: printable characters without spaces.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect()
}

/// Output element that both sides have.
pub(super) struct ComparedOutput {
    pub(super) port: SignalId,
    pub(super) element: usize,
    pub(super) machine: Vec<Lit>,
    pub(super) defined: Lit,
    pub(super) file: Vec<Lit>,
}

/// Returns all output elements with bits.
pub(super) fn outputs(
    pair: &Pair<'_>,
    model: &model::ModelCycle,
    file: &super::file::FileCycle,
) -> Vec<ComparedOutput> {
    let mut all = Vec::new();
    for port in pair.machine.outputs() {
        let Some(there) = pair.ports.outputs.get(&port) else { continue };
        let word = &file.outputs[there];
        let mut lo = 0;
        for (element, cell) in model.values[port.index()].iter().enumerate() {
            let width = cell.bits.len();
            if width > 0 {
                let (machine, file) = (cell.bits.clone(), word[lo..lo + width].to_vec());
                all.push(ComparedOutput { port, element, machine, defined: cell.defined, file });
            }
            lo += width;
        }
    }
    all
}

/// Simulates both sides in parallel from power-on.
///
/// # Errors
/// If the file has a combinational loop.
pub(super) fn simulate(pair: &Pair<'_>, e: &mut Engine) -> Result<Simulated, String> {
    let states = States::new(pair);
    // One cycle from any state, with flags for elements that may be undefined.
    let inputs = free_inputs(e, pair);
    let n_inputs = e.words.aig.inputs().len();
    let bits: Vec<Lit> = (0..states.len()).map(|_| e.words.aig.input("state")).collect();
    let mut flags = Vec::new();
    let mut state = states.cells(pair, &bits);
    for id in model::registers(pair.machine) {
        if pair.machine.signal(id).reset_to.is_none() {
            for cell in &mut state[id.index()] {
                cell.defined = e.words.aig.input("defined");
                flags.push(cell.defined);
            }
        }
    }
    let machine = model::step(e, pair.machine, &inputs, &state);
    let file = pair.file.step(e, pair.machine, pair.ports, &inputs, &bits[states.model()..], None)?;
    let shown = outputs(pair, &machine, &file);
    let next = states.next(pair, &machine.next, &file.next);
    let next_flags: Vec<Lit> = model::registers(pair.machine)
        .filter(|&id| pair.machine.signal(id).reset_to.is_none())
        .flat_map(|id| machine.next[id.index()].iter().map(|cell| cell.defined))
        .collect();

    let mut rng = SplitMix::new(0x6d61_6368_696e_6531);
    let mut values: Vec<Runs> = states.power_on(pair, || std::array::from_fn(|_| rng.word()));
    let mut defined: Vec<Runs> = vec![[0; WORDS]; flags.len()];
    let styles: Vec<Runs> = (0..n_inputs).map(|_| std::array::from_fn(|_| rng.word() % 8)).collect();
    let cycles = cycles(&e.words.aig);
    let warm = (2 + states.registers(pair)).min(cycles / 2);
    let mut partition = Partition::new(states.len());
    let mut history: Vec<Vec<Runs>> = Vec::new();
    for cycle in 0..cycles {
        if cycle >= warm {
            partition.refine(&values);
        }
        let applied: Vec<Runs> = styles.iter().map(|style| random(&mut rng, style)).collect();
        let sim = one_cycle(&e.words.aig, [&applied, &values, &defined], &mut rng);
        history.push(applied);
        if let Some((at, run)) = difference(&shown, &sim) {
            let see = |lits: &[Lit]| -> Vec<bool> { lits.iter().map(|&l| seen(&sim.value(l), run)).collect() };
            let found = see(&shown[at].file);
            let rows: Vec<Vec<bool>> =
                history.iter().map(|row| row.iter().map(|bit| seen(bit, run)).collect()).collect();
            if let Some(c) = confirmed(pair, &rows, &shown[at], &found) {
                return Ok(Simulated::Differs(Box::new(c)));
            }
        }
        values = next.iter().map(|&l| sim.value(l)).collect();
        defined = next_flags.iter().map(|&l| sim.value(l)).collect();
    }
    Ok(Simulated::Classes(partition))
}

/// Returns the number of cycles that are simulated.
pub(super) fn cycles(aig: &Aig) -> usize {
    (400_000_000 / (aig.len() * WORDS).max(1)).clamp(24, 512)
}

/// Simulates one cycle of all runs. `parts` are the values of the graph's inputs in the order of their creation; inputs
/// created later have random values.
pub(super) fn one_cycle(aig: &Aig, parts: [&[Runs]; 3], rng: &mut SplitMix) -> Simulation<WORDS> {
    let mut known = parts.into_iter().flatten();
    let mut sim = Simulation::<WORDS>::default();
    sim.extend(aig, |gate| match gate {
        Gate::Input(_) => known.next().copied().unwrap_or_else(|| std::array::from_fn(|_| rng.word())),
        _ => [0; WORDS],
    });
    sim
}

/// Returns the counterexample for these bits on the input ports, cycle by cycle from power-on; `None` if they cause no
/// difference.
pub(super) fn replayed(pair: &Pair<'_>, e: &mut Engine, rows: &[Vec<bool>]) -> Option<CounterexampleTrace> {
    let states = States::new(pair);
    let inputs = free_inputs(e, pair);
    let bits: Vec<Lit> = (0..states.len()).map(|_| e.words.aig.input("state")).collect();
    let state = states.cells(pair, &bits);
    let machine = model::step(e, pair.machine, &inputs, &state);
    let file = pair.file.step(e, pair.machine, pair.ports, &inputs, &bits[states.model()..], None).ok()?;
    let shown = outputs(pair, &machine, &file);
    let next = states.next(pair, &machine.next, &file.next);
    let mut held: Vec<bool> = (0..states.len()).map(|bit| states.first_value(pair, bit).unwrap_or(false)).collect();
    for cycle in 0..rows.len() {
        let mut pattern = rows[cycle].clone();
        pattern.extend(&held);
        pattern.resize(e.words.aig.inputs().len(), false);
        let values = e.evaluate(&pattern);
        let see = |l: &Lit| values[l.node() as usize] != l.is_negated();
        for s in &shown {
            let found: Vec<bool> = s.file.iter().map(see).collect();
            if s.machine.iter().map(see).ne(found.iter().copied())
                && let Some(c) = confirmed(pair, &rows[..=cycle], s, &found)
            {
                return Some(c);
            }
        }
        held = next.iter().map(see).collect();
    }
    None
}

/// Builds the graph of [`super::product`].
pub(super) fn product(pair: &Pair<'_>, e: &mut Engine) -> Result<(), String> {
    let states = States::new(pair);
    let inputs = free_inputs(e, pair);
    let bits: Vec<Lit> = (0..states.len())
        .map(|bit| {
            // As the machine defines it: an element without a power-on value starts as 0, and undefined.
            let init = states.first_value(pair, bit).or((bit < states.model()).then_some(false));
            e.words.aig.latch(plain(&states.name(pair, bit)), init)
        })
        .collect();
    let mut state = states.cells(pair, &bits);
    let mut open: Vec<(SignalId, usize)> = Vec::new();
    for id in model::registers(pair.machine).filter(|&id| pair.machine.signal(id).reset_to.is_none()) {
        for (k, cell) in state[id.index()].iter_mut().enumerate() {
            cell.defined = e
                .words
                .aig
                .latch(format!("machine.{}[{k}].defined", plain(&pair.machine.signal(id).name)), Some(false));
            open.push((id, k));
        }
    }
    let machine = model::step(e, pair.machine, &inputs, &state);
    let file = pair.file.step(e, pair.machine, pair.ports, &inputs, &bits[states.model()..], None)?;
    let next = states.next(pair, &machine.next, &file.next);
    let flags = open.iter().map(|&(id, k)| machine.next[id.index()][k].defined);
    let next: Vec<Lit> = next.into_iter().chain(flags).collect();
    next.into_iter().enumerate().for_each(|(number, next)| e.words.aig.set_next(number, next));
    let mut differs = Lit::FALSE;
    for shown in outputs(pair, &machine, &file) {
        let same = e.words.equal(&shown.machine, &shown.file);
        let wrong = e.words.aig.and(!same, shown.defined);
        differs = e.words.aig.or(differs, wrong);
    }
    e.words.aig.output(differs, "differs");
    Ok(())
}

fn seen(runs: &Runs, run: usize) -> bool {
    runs[run / 64] >> (run % 64) & 1 == 1
}

/// Returns random values of an input bit, mostly 0 or mostly 1 in some of the words: a reset that is active half of the
/// time would hide most of a machine's behaviour.
pub(super) fn random(rng: &mut SplitMix, style: &Runs) -> Runs {
    std::array::from_fn(|i| match style[i] {
        0 => rng.word() & rng.word() & rng.word(),
        1 => rng.word() & rng.word() & rng.word() & rng.word() & rng.word() & rng.word(),
        2 => rng.word() | rng.word() | rng.word(),
        3 => rng.word() | rng.word() | rng.word() | rng.word() | rng.word() | rng.word(),
        _ => rng.word(),
    })
}

/// Returns the first output element that differs where it is defined, and the run with the difference; `None` if there
/// is none.
fn difference(shown: &[ComparedOutput], sim: &Simulation<WORDS>) -> Option<(usize, usize)> {
    shown.iter().enumerate().find_map(|(at, s)| {
        let defined = sim.value(s.defined);
        s.machine.iter().zip(&s.file).find_map(|(&a, &b)| {
            let (a, b) = (sim.value(a), sim.value(b));
            let word = (0..WORDS).find(|&i| (a[i] ^ b[i]) & defined[i] != 0)?;
            Some((at, word * 64 + ((a[word] ^ b[word]) & defined[word]).trailing_zeros() as usize))
        })
    })
}

/// Returns the counterexample if the reference simulator confirms it. `rows` are the bits on the input ports, cycle by
/// cycle.
fn confirmed(
    pair: &Pair<'_>,
    rows: &[Vec<bool>],
    shown: &ComparedOutput,
    found: &[bool],
) -> Option<CounterexampleTrace> {
    let machine = pair.machine;
    let number = |bits: &[bool], kif| {
        let mut raw = BigInt::ZERO;
        bits.iter().enumerate().for_each(|(i, &bit)| raw.set_bit(i as u64, bit));
        alir_core::num::wrap(&raw, kif)
    };
    let mut sim = Golden::new(machine, LookupMiss::Zero);
    let mut inputs = Vec::new();
    for (cycle, row) in rows.iter().enumerate() {
        if cycle > 0 {
            sim.clock();
        }
        let mut row = row.as_slice();
        let mut all = Vec::new();
        for port in machine.inputs() {
            let codes = machine.signal(port).elements.iter().map(|&kif| {
                let (own, rest) = row.split_at(kif.width() as usize);
                row = rest;
                number(own, kif)
            });
            let codes: Vec<BigInt> = codes.collect();
            sim.apply(port, &codes);
            all.extend(codes);
        }
        sim.settle().ok()?;
        inputs.push(all);
    }
    let cell = &sim.values(shown.port)[shown.element];
    let signal = machine.signal(shown.port);
    let found = number(found, signal.elements[shown.element]);
    (cell.defined && cell.code != found).then(|| CounterexampleTrace {
        cycle: rows.len() - 1,
        inputs,
        output: signal.name.clone(),
        element: shown.element,
        expected: cell.code.clone(),
        found,
    })
}

/// Largest number of gates up to which cycles are unrolled.
const MOST_GATES: usize = 3_000_000;

/// Unrolling of both sides from power-on, cycle by cycle.
pub(super) struct Unrolling<'a> {
    pair: Pair<'a>,
    machine: Cells,
    file: Vec<Lit>,
    applied: Vec<Cells>,
}

/// Outcome of one more cycle.
enum More {
    Differs(Box<CounterexampleTrace>),
    Equal,
    /// A query was undecided.
    Open,
}

impl<'a> Unrolling<'a> {
    /// Returns the unrolling at power-on.
    pub(super) fn new(pair: &Pair<'a>, e: &mut Engine) -> Unrolling<'a> {
        let first = pair.file.power_on.iter().map(|init| match init {
            Some(value) => Lit::constant(*value),
            None => e.words.aig.input("power_on"),
        });
        let file = first.collect();
        Unrolling { pair: *pair, machine: model::power_on(pair.machine), file, applied: Vec::new() }
    }

    /// Returns all register bits; `None` while a register of the machine is undefined.
    pub(super) fn state(&self, states: &States) -> Option<Vec<Lit>> {
        let mut cells = model::registers(self.pair.machine).flat_map(|id| &self.machine[id.index()]);
        cells.all(|cell| cell.defined == Lit::TRUE).then(|| states.next(&self.pair, &self.machine, &self.file))
    }

    /// Unrolls one cycle: compares the outputs, then applies the clock edge.
    fn advance(&mut self, e: &mut Engine) -> Result<More, String> {
        let pair = self.pair;
        let inputs = free_inputs(e, &pair);
        let machine = model::step(e, pair.machine, &inputs, &self.machine);
        let file = pair.file.step(e, pair.machine, pair.ports, &inputs, &self.file, Some(&machine.blocks))?;
        self.applied.push(inputs);
        let mut more = More::Equal;
        for shown in outputs(&pair, &machine, &file) {
            let mut masked =
                |word: &[Lit]| -> Vec<Lit> { word.iter().map(|&l| e.words.aig.and(l, shown.defined)).collect() };
            let (a, b) = (masked(&shown.machine), masked(&shown.file));
            match e.equal(&a, &b) {
                Outcome::Equal => {}
                Outcome::Unknown => more = More::Open,
                Outcome::Differs(pattern) => match self.counterexample(e, &pattern, &shown) {
                    Some(c) => return Ok(More::Differs(Box::new(c))),
                    None => more = More::Open,
                },
            }
        }
        self.machine = machine.next;
        self.file = file.next;
        Ok(more)
    }

    fn counterexample(&self, e: &Engine, pattern: &[bool], shown: &ComparedOutput) -> Option<CounterexampleTrace> {
        let values = e.evaluate(pattern);
        let see = |l: &Lit| values[l.node() as usize] != l.is_negated();
        let bits = |cells: &Cells| -> Vec<bool> {
            let inputs = self.pair.machine.inputs();
            inputs.flat_map(|id| &cells[id.index()]).flat_map(|cell| cell.bits.iter().map(see)).collect()
        };
        let rows: Vec<Vec<bool>> = self.applied.iter().map(bits).collect();
        let found: Vec<bool> = shown.file.iter().map(see).collect();
        confirmed(&self.pair, &rows, shown, &found)
    }
}

/// Searches for a difference in the first `depth` cycles, for every input.
///
/// # Errors
/// If the file has a combinational loop.
pub(super) fn bounded(pair: &Pair<'_>, e: &mut Engine, depth: u32) -> Result<Bounded, String> {
    let mut unrolling = Unrolling::new(pair, e);
    // Number of cycles in which every query was decided.
    let mut sure = depth;
    for cycle in 0..depth {
        if e.words.aig.gates() > MOST_GATES {
            sure = sure.min(cycle);
            break;
        }
        match unrolling.advance(e)? {
            More::Differs(c) => return Ok(Bounded::Differs(c)),
            More::Equal => {}
            More::Open => sure = sure.min(cycle),
        }
    }
    Ok(Bounded::EqualFor(sure))
}

/// Returns all register bits in the first cycle in which every register of the machine is defined for all inputs, and
/// the number of that cycle. The outputs are equal in all cycles before it. Returns `None` if there is no such cycle
/// within a limit, or a query is undecided.
///
/// # Errors
/// If the file has a combinational loop.
pub(super) fn defined(pair: &Pair<'_>, e: &mut Engine) -> Result<Option<(usize, Vec<Lit>)>, String> {
    let states = States::new(pair);
    let mut unrolling = Unrolling::new(pair, e);
    for cycles in 0..states.registers(pair) {
        if let Some(bits) = unrolling.state(&states) {
            return Ok(Some((cycles, bits)));
        }
        if e.words.aig.gates() > MOST_GATES || !matches!(unrolling.advance(e)?, More::Equal) {
            break;
        }
    }
    Ok(None)
}
