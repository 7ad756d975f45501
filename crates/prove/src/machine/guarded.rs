//! Register correspondence that holds while the machine's registers are defined.
//!
//! A register without a power-on value, or one that loads from such a register, may have any value until its enable is
//! active, so that no bit of the file need equal it in every cycle. A weaker property is sufficient: whenever the
//! machine's element is defined, the file's bit equals the machine's bit. Each element has a flag for its definedness,
//! which `docs/fsm.md` propagates with the values. The correspondence "if the flag is set, the bits are equal" is
//! proposed by simulation, where all flags are set, and proved by induction like other correspondences.
//!
//! The value of an undefined element affects no flag and no defined value, as a choice by an undefined condition is
//! itself undefined. So the proof may assume the value that the file has.

use super::classes::States;
use super::model::{self, Cells};
use super::search::{Runs, WORDS, free_inputs, one_cycle, outputs, random};
use super::{MachineReport, Pair, renew};
use crate::aig::Lit;
use crate::engine::{Engine, Outcome};
use alir_core::ir::machine::SignalId;
use alir_core::num::SplitMix;

/// Largest number of candidate pairs of bits.
const MOST_PAIRS: usize = 4_000_000;
/// Largest number of elements of the machine with which a bit of the file is assumed equal while they are defined.
const OWNERS: usize = 4;

/// Source of the value of a bit of the file while a flag is set.
#[derive(Clone, Copy)]
enum Source {
    /// Bit of the file before it.
    File(usize),
    /// Literal of a bit of the machine.
    Machine(Lit),
}

/// Proposed correspondence between bits of the machine and bits of the file, guarded by flags of the machine's
/// elements.
struct Guarded {
    states: States,
    /// Elements with bits of the machine's registers, each with its register.
    elements: Vec<(SignalId, usize)>,
    /// For each bit of the machine: the index of its element.
    element: Vec<usize>,
    /// For each bit of the machine: bits of the file that it may equal while it is defined, with `true` for the
    /// complement; the last one is the current candidate.
    twins: Vec<Vec<(usize, bool)>>,
    /// For each bit of the file: bits of the machine that it may equal, with `true` for the complement.
    owners: Vec<Vec<(usize, bool)>>,
    /// For each bit of the machine: its constant value while it is defined, if it is constant.
    constant: Vec<Option<bool>>,
    /// For each bit of the file: its constant value, if it is constant.
    fixed: Vec<Option<bool>>,
    /// For each flag: its constant value, if it is constant.
    flags: Vec<Option<bool>>,
}

/// State of both sides after one cycle from any state that satisfies the correspondence.
struct Cycle {
    machine: Vec<Lit>,
    flags: Vec<Lit>,
    file: Vec<Lit>,
}

/// Proves that both sides are equal wherever the machine is defined. Returns the undecided part.
///
/// # Errors
/// If the file has a combinational loop.
pub(super) fn prove(
    pair: &Pair<'_>,
    report: &mut MachineReport,
    e: &mut Engine,
    new: &dyn Fn() -> Engine,
) -> Result<Option<String>, String> {
    let Some(mut guarded) = propose(pair, &mut new())? else {
        return Ok(Some("there are too many registers without a first value".into()));
    };
    guarded.start(pair);
    loop {
        renew(e, new);
        report.rounds += 1;
        let inputs = free_inputs(e, pair);
        let (state, file) = guarded.state(pair, e);
        let machine = model::step(e, pair.machine, &inputs, &state);
        for (block, bits) in pair.machine.blocks().iter().zip(&machine.blocks) {
            block.model.ids().for_each(|id| e.add_cut(bits.op(id)));
        }
        let step = pair.file.step(e, pair.machine, pair.ports, &inputs, &file, Some(&machine.blocks))?;
        e.spend(2 * e.words.aig.gates() as u64);
        let cycle = guarded.after(pair, &machine.next, &step.next);
        if guarded.refuted(e, &cycle) {
            if e.left == 0 {
                return Ok(Some(e.limit_reached()));
            }
            continue;
        }
        report.bits = e.counts;
        report.gates = e.words.aig.gates();
        report.operations_matched = step.matched.len() as u64;
        for shown in outputs(pair, &machine, &step) {
            let mut masked =
                |word: &[Lit]| -> Vec<Lit> { word.iter().map(|&l| e.words.aig.and(l, shown.defined)).collect() };
            let (a, b) = (masked(&shown.machine), masked(&shown.file));
            if e.equal(&a, &b) != Outcome::Equal {
                let name = &pair.machine.signal(shown.port).name;
                return Ok(Some(format!(
                    "element {} of {name:?}, where it is defined, is not shown to be equal",
                    shown.element
                )));
            }
        }
        return Ok(None);
    }
}

/// Proposes from simulation the pairs of bits that were equal whenever the machine's bit was defined. Returns `None` if
/// there are too many.
fn propose(pair: &Pair<'_>, e: &mut Engine) -> Result<Option<Guarded>, String> {
    let states = States::new(pair);
    let (mut elements, mut element) = (Vec::new(), Vec::new());
    for id in model::registers(pair.machine) {
        for (k, kif) in pair.machine.signal(id).elements.iter().enumerate().filter(|(_, kif)| !kif.is_zero()) {
            element.extend((0..kif.width()).map(|_| elements.len()));
            elements.push((id, k));
        }
    }
    let inputs = free_inputs(e, pair);
    let n_inputs = e.words.aig.inputs().len();
    let bits: Vec<Lit> = (0..states.len()).map(|_| e.words.aig.input("state")).collect();
    let flags: Vec<Lit> = elements.iter().map(|_| e.words.aig.input("defined")).collect();
    let mut state = states.cells(pair, &bits);
    elements.iter().zip(&flags).for_each(|(&(id, k), &flag)| state[id.index()][k].defined = flag);
    let machine = model::step(e, pair.machine, &inputs, &state);
    let file = pair.file.step(e, pair.machine, pair.ports, &inputs, &bits[states.model()..], None)?;
    let next = states.next(pair, &machine.next, &file.next);
    let next_flags: Vec<Lit> = elements.iter().map(|&(id, k)| machine.next[id.index()][k].defined).collect();

    let (model, total) = (states.model(), states.len());
    if model * (total - model) > MOST_PAIRS {
        return Ok(None);
    }
    let mut rng = SplitMix::new(0x6775_6172_6465_6431);
    let mut values: Vec<Runs> = states.power_on(pair, || std::array::from_fn(|_| rng.word()));
    let all = |set: bool| -> Runs { [if set { u64::MAX } else { 0 }; WORDS] };
    let starts = |&(id, _): &(SignalId, usize)| all(pair.machine.signal(id).reset_to.is_some());
    let mut defined: Vec<Runs> = elements.iter().map(starts).collect();
    // For each flag, `true` while it may never be set, and `true` while it may always be set.
    let mut settled = vec![[true; 2]; elements.len()];
    let whole = || (0..total - model).flat_map(|f| [(f, false), (f, true)]).collect();
    let mut twins: Vec<Vec<(usize, bool)>> = (0..model).map(|_| whole()).collect();
    // For each bit, `true` while it may always be 0, and `true` while it may always be 1; for the machine's bits, while
    // they are defined.
    let mut constants = vec![[true; 2]; total];
    let styles: Vec<Runs> = (0..n_inputs).map(|_| std::array::from_fn(|_| rng.word() % 8)).collect();
    let cycles = (400_000_000 / (e.words.aig.len() * WORDS).max(1)).clamp(24, 256);
    for _ in 0..cycles {
        for ([never, always], flags) in settled.iter_mut().zip(&defined) {
            *never &= *flags == all(false);
            *always &= *flags == all(true);
        }
        for bit in 0..total {
            let flags = if bit < model { defined[element[bit]] } else { all(true) };
            if flags == all(false) {
                continue;
            }
            let differs = |other: &Runs, inverted: bool| {
                let flip = if inverted { u64::MAX } else { 0 };
                (0..WORDS).any(|i| (values[bit][i] ^ other[i] ^ flip) & flags[i] != 0)
            };
            let [zero, one] = &mut constants[bit];
            *zero &= !differs(&all(false), false);
            *one &= !differs(&all(true), false);
            if bit < model {
                twins[bit].retain(|&(f, inverted)| !differs(&values[model + f], inverted));
            }
        }
        let applied: Vec<Runs> = styles.iter().map(|style| random(&mut rng, style)).collect();
        let sim = one_cycle(&e.words.aig, [&applied, &values, &defined], &mut rng);
        values = next.iter().map(|&l| sim.value(l)).collect();
        defined = next_flags.iter().map(|&l| sim.value(l)).collect();
    }
    // The last entry of a list is tried first: the bit in the register with the same name, then the earliest bit.
    let mut owners: Vec<Vec<(usize, bool)>> = vec![Vec::new(); total - model];
    for (bit, twins) in twins.iter_mut().enumerate().rev() {
        twins.sort_by_key(|&(f, inverted)| (states.speaks_of(f, bit), !inverted, std::cmp::Reverse(f)));
        // Bits that are never defined match everything.
        if !settled[element[bit]][0] {
            twins.iter().for_each(|&(f, inverted)| owners[f].push((bit, inverted)));
        }
    }
    let constant = |[zero, one]: [bool; 2]| if zero { Some(false) } else { one.then_some(true) };
    Ok(Some(Guarded {
        elements,
        element,
        twins,
        owners,
        constant: constants[..model].iter().copied().map(constant).collect(),
        fixed: constants[model..].iter().copied().map(constant).collect(),
        flags: settled.into_iter().map(constant).collect(),
        states,
    }))
}

/// Proof obligation for the state after the cycle: if `when` is 1, both literals are equal.
struct Claim {
    what: What,
    when: Lit,
    pair: (Lit, Lit),
}

/// Assumption that is dropped if the obligation does not hold.
#[derive(Clone, Copy)]
enum What {
    Twin(usize),
    /// Bit of the file and bit of the machine.
    Owner(usize, usize),
    Constant(usize),
    Fixed(usize),
    Flag(usize),
}

impl Guarded {
    /// Removes assumptions that do not hold at power-on.
    fn start(&mut self, pair: &Pair<'_>) {
        let model = self.states.model();
        let first = |bit: usize| self.states.first_value(pair, bit);
        let mut lost = Vec::new();
        for bit in 0..model {
            // Without a power-on value the machine's bit is undefined, so nothing is required.
            let Some(value) = first(bit) else { continue };
            if self.constant[bit].is_some_and(|c| c != value) {
                lost.push(What::Constant(bit));
            }
            self.twins[bit].retain(|&(f, inverted)| first(model + f) == Some(value != inverted));
        }
        for f in 0..self.fixed.len() {
            let value = first(model + f);
            if self.fixed[f].is_some_and(|c| value != Some(c)) {
                lost.push(What::Fixed(f));
            }
            self.owners[f].retain(|&(m, inverted)| first(m).is_none_or(|v| value == Some(v != inverted)));
        }
        for (element, (id, _)) in self.elements.iter().enumerate() {
            let is_set = pair.machine.signal(*id).reset_to.is_some();
            if self.flags[element].is_some_and(|c| c != is_set) {
                lost.push(What::Flag(element));
            }
        }
        lost.into_iter().for_each(|what| self.lose(what));
    }

    /// Removes an assumption; the next candidate replaces it.
    fn lose(&mut self, what: What) {
        match what {
            What::Twin(bit) => drop(self.twins[bit].pop()),
            What::Owner(f, m) => self.owners[f].retain(|owner| owner.0 != m),
            What::Constant(bit) => self.constant[bit] = None,
            What::Fixed(f) => self.fixed[f] = None,
            What::Flag(element) => self.flags[element] = None,
        }
    }

    /// Returns the bit of the file that a bit of the machine is assumed to equal; `None` if there is none or the bit is
    /// constant.
    fn twin(&self, bit: usize) -> Option<(usize, bool)> {
        self.twins[bit].last().copied().filter(|_| self.constant[bit].is_none())
    }

    /// Returns the machine bits that define a bit of the file while their flags are set, one for each element. Returns
    /// none if the bit of the file is constant.
    fn active_owners(&self, f: usize) -> Vec<(usize, bool)> {
        let mut active: Vec<(usize, bool)> = Vec::new();
        if self.fixed[f].is_some() {
            return active;
        }
        for &(m, inverted) in self.owners[f].iter().rev() {
            let is_other = self.twin(m).is_none_or(|(first, _)| first != f);
            if is_other && active.iter().all(|&(other, _)| self.element[other] != self.element[m]) {
                active.push((m, inverted));
                if active.len() == OWNERS {
                    break;
                }
            }
        }
        active
    }

    /// Returns any state that satisfies the correspondence.
    fn state(&self, pair: &Pair<'_>, e: &mut Engine) -> (Cells, Vec<Lit>) {
        let flags: Vec<Lit> =
            self.flags.iter().map(|c| c.map_or_else(|| e.words.aig.input("state"), Lit::constant)).collect();
        // Literals of machine bits that have no twin.
        let own: Vec<Option<Lit>> = (0..self.twins.len())
            .map(|bit| match (self.constant[bit], self.twin(bit)) {
                (Some(c), _) => Some(Lit::constant(c)),
                (None, None) => Some(e.words.aig.input("state")),
                (None, Some(_)) => None,
            })
            .collect();
        // For each bit of the file: flags, and its value while one of them is set, with `true` for the complement.
        let mut guards: Vec<Vec<(Lit, Source, bool)>> = vec![Vec::new(); self.fixed.len()];
        for f in 0..self.fixed.len() {
            for (m, inverted) in self.active_owners(f) {
                let flag = flags[self.element[m]];
                match (own[m], self.twin(m)) {
                    (Some(bit), _) => guards[f].push((flag, Source::Machine(bit), inverted)),
                    (None, Some((t, other))) => match self.fixed[t] {
                        Some(c) => guards[f].push((flag, Source::Machine(Lit::constant(c)), inverted != other)),
                        None => guards[f.max(t)].push((flag, Source::File(f.min(t)), inverted != other)),
                    },
                    (None, None) => unreachable!("a machine bit is a bit of the file or has its own literal"),
                }
            }
        }
        let mut file: Vec<Lit> = Vec::with_capacity(self.fixed.len());
        for (constant, guards) in self.fixed.iter().zip(guards) {
            let mut bit = constant.map_or_else(|| e.words.aig.input("state"), Lit::constant);
            for (flag, source, inverted) in guards {
                let value = match source {
                    Source::File(earlier) => file[earlier],
                    Source::Machine(literal) => literal,
                };
                bit = e.words.mux(flag, &[value.xor(inverted)], &[bit])[0];
            }
            file.push(bit);
        }
        let twin = |bit: usize| self.twin(bit).map_or(Lit::FALSE, |(f, inverted)| file[f].xor(inverted));
        let machine: Vec<Lit> = own.iter().enumerate().map(|(bit, own)| own.unwrap_or_else(|| twin(bit))).collect();
        let mut state = self.states.cells(pair, &machine);
        self.elements.iter().zip(&flags).for_each(|(&(id, k), &flag)| state[id.index()][k].defined = flag);
        (state, file)
    }

    /// Returns the state of both sides after the cycle.
    fn after(&self, pair: &Pair<'_>, machine: &Cells, file: &[Lit]) -> Cycle {
        let mut all = self.states.next(pair, machine, file);
        let file = all.split_off(self.states.model());
        let flags = self.elements.iter().map(|&(id, k)| machine[id.index()][k].defined).collect();
        Cycle { machine: all, flags, file }
    }

    /// Removes assumptions that the cycle does not preserve. Returns `true` if any was removed.
    fn refuted(&mut self, e: &mut Engine, cycle: &Cycle) -> bool {
        let mut claims = Vec::new();
        for (bit, &next) in cycle.machine.iter().enumerate() {
            let when = cycle.flags[self.element[bit]];
            if let Some((f, inverted)) = self.twin(bit) {
                claims.push(Claim { what: What::Twin(bit), when, pair: (next, cycle.file[f].xor(inverted)) });
            }
            if let Some(c) = self.constant[bit] {
                claims.push(Claim { what: What::Constant(bit), when, pair: (next, Lit::constant(c)) });
            }
        }
        for (f, &next) in cycle.file.iter().enumerate() {
            for (m, inverted) in self.active_owners(f) {
                let when = cycle.flags[self.element[m]];
                claims.push(Claim { what: What::Owner(f, m), when, pair: (next, cycle.machine[m].xor(inverted)) });
            }
            if let Some(c) = self.fixed[f] {
                claims.push(Claim { what: What::Fixed(f), when: Lit::TRUE, pair: (next, Lit::constant(c)) });
            }
        }
        for (element, &flag) in cycle.flags.iter().enumerate() {
            if let Some(c) = self.flags[element] {
                claims.push(Claim { what: What::Flag(element), when: Lit::TRUE, pair: (flag, Lit::constant(c)) });
            }
        }
        let claims: Vec<(What, Lit, Lit)> = claims
            .into_iter()
            .map(|c| (c.what, e.words.aig.and(c.pair.0, c.when), e.words.aig.and(c.pair.1, c.when)))
            .filter(|(_, a, b)| a != b)
            .collect();
        e.simulate();
        let mut lost: Vec<What> =
            claims.iter().filter(|(_, a, b)| e.signature(*a) != e.signature(*b)).map(|c| c.0).collect();
        if lost.is_empty() {
            for &(what, a, b) in &claims {
                match e.equal(&[a], &[b]) {
                    Outcome::Equal => continue,
                    Outcome::Unknown => lost.push(what),
                    Outcome::Differs(pattern) => {
                        let values = e.evaluate(&pattern);
                        let seen = |l: Lit| values[l.node() as usize] != l.is_negated();
                        lost.extend(claims.iter().filter(|c| seen(c.1) != seen(c.2)).map(|c| c.0));
                    }
                }
                break;
            }
        }
        lost.iter().for_each(|&what| self.lose(what));
        !lost.is_empty()
    }
}
