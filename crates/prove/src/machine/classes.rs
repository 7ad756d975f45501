//! Classes of register bits of both sides that are always equal up to complement.

use super::model::{self, Cells, SymbolicCell};
use super::port_pairs::key;
use super::search::{free_inputs, outputs};
use super::{Correspondence, MachineReport, Pair, RegisterBit, RegisterReport, renew};
use crate::aig::Lit;
use crate::engine::{Engine, Outcome};
use alir_core::ir::machine::SignalId;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Cost in ticks of one built gate.
const GATE: u64 = 2;

/// Register bits of both sides by index: first those of the machine, then those of the file.
pub(super) struct States {
    /// Register, element and bit of each bit of the machine.
    machine: Vec<(SignalId, usize, usize)>,
    total: usize,
    /// For each bit of the file: the bits of the machine that the name of its register refers to.
    hints: Vec<std::ops::Range<usize>>,
}

impl States {
    pub(super) fn new(pair: &Pair<'_>) -> States {
        let mut machine = Vec::new();
        // Registers and their elements by name.
        let mut named: FxHashMap<String, std::ops::Range<usize>> = FxHashMap::default();
        for id in model::registers(pair.machine) {
            let signal = pair.machine.signal(id);
            let first = machine.len();
            for (k, kif) in signal.elements.iter().enumerate() {
                let start = machine.len();
                machine.extend((0..kif.width() as usize).map(|b| (id, k, b)));
                named.entry(key(&format!("{}{k}", signal.name))).or_insert(start..machine.len());
            }
            named.insert(key(&signal.name), first..machine.len());
        }
        let total = machine.len() + pair.file.bits();
        let mut states = States { machine, total, hints: vec![0..0; pair.file.bits()] };
        for (&id, &first) in pair.file.registers.iter().zip(&pair.file.first) {
            let signal = pair.file.rtl.signal(id);
            let name = key(signal.name.rsplit('.').next().unwrap_or_default());
            // If a port has the name, the register may be called `name_r` or `name_reg`.
            let spelt = [Some(name.as_str()), name.strip_suffix('r'), name.strip_suffix("reg")];
            if let Some(range) = spelt.into_iter().flatten().find_map(|name| named.get(name)) {
                states.hints[first..first + signal.width as usize].fill(range.clone());
            }
        }
        states
    }

    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// Returns the number of bits of the machine; those of the file follow.
    pub(super) fn model(&self) -> usize {
        self.machine.len()
    }

    /// Returns the number of registers of both sides.
    pub(super) fn registers(&self, pair: &Pair<'_>) -> usize {
        pair.file.registers.len() + model::registers(pair.machine).count()
    }

    /// Returns the machine's registers with these bits, all defined.
    pub(super) fn cells(&self, pair: &Pair<'_>, bits: &[Lit]) -> Cells {
        let machine = pair.machine;
        let mut cells: Cells = machine
            .signals()
            .iter()
            .map(|s| s.elements.iter().map(|_| SymbolicCell { bits: Vec::new(), defined: Lit::TRUE }).collect())
            .collect();
        for (&(id, k, _), &bit) in self.machine.iter().zip(bits) {
            cells[id.index()][k].bits.push(bit);
        }
        cells
    }

    /// Returns all register bits after the clock edge, those of the machine first.
    pub(super) fn next(&self, pair: &Pair<'_>, machine: &Cells, file: &[Lit]) -> Vec<Lit> {
        let registers = model::registers(pair.machine);
        let machine = registers.flat_map(|id| &machine[id.index()]).flat_map(|cell| cell.bits.iter().copied());
        machine.chain(file.iter().copied()).collect()
    }

    /// Returns power-on values for a simulation. All undefined bits of an element start with equal values, also equal
    /// to those of the file's register of the same name and any size; `undefined` selects the values. Elements without
    /// such a register start as 0, the most likely constant after optimisation.
    pub(super) fn power_on<R: Copy + Alike>(&self, pair: &Pair<'_>, mut undefined: impl FnMut() -> R) -> Vec<R> {
        let mut of_element: FxHashMap<(SignalId, usize), R> = FxHashMap::default();
        for &(id, k, _) in &self.machine {
            of_element.entry((id, k)).or_insert(R::all(false));
        }
        for hint in &self.hints {
            for &(id, k, _) in &self.machine[hint.clone()] {
                of_element.insert((id, k), undefined());
            }
        }
        let of_bit = |bit: usize| of_element[&(self.machine[bit].0, self.machine[bit].1)];
        let machine = (0..self.model()).map(|bit| self.machine_power_on(pair, bit).map_or_else(|| of_bit(bit), R::all));
        let mut values: Vec<R> = machine.collect();
        for (&id, &first) in pair.file.registers.iter().zip(&pair.file.first) {
            let width = pair.file.rtl.signal(id).width as usize;
            for (at, init) in pair.file.power_on.iter().enumerate().skip(first).take(width) {
                let hint = &self.hints[at];
                let place = if hint.len() == width { hint.start + at - first } else { hint.start };
                values.push(match init {
                    Some(init) => R::all(*init),
                    None if hint.is_empty() => undefined(),
                    None => of_bit(place),
                });
            }
        }
        values
    }

    /// Returns the bit of the file at the same position of the register with the same name and size; `None` if there is
    /// none.
    fn twin(&self, pair: &Pair<'_>, bit: usize) -> Option<usize> {
        pair.file.registers.iter().zip(&pair.file.first).find_map(|(&id, &first)| {
            let hint = &self.hints[first];
            let same = hint.contains(&bit) && hint.len() == pair.file.rtl.signal(id).width as usize;
            same.then(|| first + bit - hint.start)
        })
    }

    /// Returns `true` if the name of the file's register with this bit contains the name of the machine's bit.
    pub(super) fn speaks_of(&self, file: usize, bit: usize) -> bool {
        self.hints[file].contains(&bit)
    }

    /// Returns the power-on value of a bit; `None` if it is undefined.
    pub(super) fn first_value(&self, pair: &Pair<'_>, bit: usize) -> Option<bool> {
        match bit.checked_sub(self.model()) {
            Some(at) => pair.file.power_on[at],
            None => self.machine_power_on(pair, bit),
        }
    }

    /// Returns the name of a bit, with its side.
    pub(super) fn name(&self, pair: &Pair<'_>, bit: usize) -> String {
        match bit.checked_sub(self.model()) {
            Some(at) => format!("file.{}", pair.file.name(at)),
            None => {
                let (id, k, b) = self.machine[bit];
                format!("machine.{}[{k}][{b}]", pair.machine.signal(id).name)
            }
        }
    }

    /// Returns the power-on value of a bit of the machine; `None` if it is undefined.
    fn machine_power_on(&self, pair: &Pair<'_>, bit: usize) -> Option<bool> {
        let (id, k, b) = self.machine[bit];
        pair.machine.signal(id).reset_to.as_ref().map(|to| to[k].bit(b as u64))
    }
}

/// Values that consist of bits.
pub(super) trait Alike {
    /// Returns the value with all bits equal to `value`.
    fn all(value: bool) -> Self;
}

impl<const N: usize> Alike for [u64; N] {
    fn all(value: bool) -> Self {
        [if value { u64::MAX } else { 0 }; N]
    }
}

/// Partition of bits into classes. The bit after the last one is the constant 0, which has a class too.
#[derive(Clone)]
pub(super) struct Partition {
    /// The class of each bit, and of the constant at the end.
    class: Vec<u32>,
    classes: u32,
    /// For each bit, `true` if it is complemented before comparisons; all `false` before the first refinement.
    phase: Vec<bool>,
    looked: bool,
}

impl Partition {
    /// Returns a partition with all bits in one class.
    pub(super) fn new(bits: usize) -> Partition {
        Partition { class: vec![0; bits + 1], classes: 1, phase: vec![false; bits + 1], looked: false }
    }

    /// Splits classes by these values; the first values determine the complements.
    pub(super) fn refine<const N: usize>(&mut self, values: &[[u64; N]]) {
        if !self.looked {
            self.looked = true;
            values.iter().zip(&mut self.phase).for_each(|(v, phase)| *phase = v[0] & 1 == 1);
        }
        let phase = self.phase.clone();
        let n = values.len();
        self.split(|bit| {
            let flip = if phase[bit] { u64::MAX } else { 0 };
            if bit == n { [0; N] } else { values[bit].map(|w| w ^ flip) }
        });
    }

    /// Splits classes by keys of their bits. Returns `true` if any class was split.
    pub(super) fn split<K: Hash + Eq>(&mut self, key: impl Fn(usize) -> K) -> bool {
        let mut numbers: FxHashMap<(u32, K), u32> = FxHashMap::default();
        for bit in 0..self.class.len() {
            let next = numbers.len() as u32;
            self.class[bit] = *numbers.entry((self.class[bit], key(bit))).or_insert(next);
        }
        let more = numbers.len() as u32 > self.classes;
        self.classes = numbers.len() as u32;
        more
    }

    /// Returns the number of classes.
    pub(super) fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the class of a bit; the bit after the last one is the constant 0.
    pub(super) fn class(&self, bit: usize) -> u32 {
        self.class[bit]
    }

    /// Returns `true` if a bit is complemented before it is compared.
    pub(super) fn phase(&self, bit: usize) -> bool {
        self.phase[bit]
    }

    /// Moves a bit to a new class.
    pub(super) fn isolate(&mut self, bit: usize) {
        self.class[bit] = self.classes;
        self.classes += 1;
    }

    /// Returns the bits of each class, without the constant.
    pub(super) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.classes as usize];
        for bit in 0..self.class.len() - 1 {
            members[self.class[bit] as usize].push(bit);
        }
        members
    }

    /// Returns the class of the constant.
    pub(super) fn constant(&self) -> u32 {
        self.class[self.class.len() - 1]
    }
}

/// Power-on value of a group of bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum First {
    Is(bool),
    /// The power-on value of this bit of the file.
    LikeFile(usize),
    /// Any value, as the class has no bit of the file.
    Free,
}

/// Classes under refinement to an invariant.
pub(super) struct Classes {
    states: States,
    partition: Partition,
    /// Bits whose next value the solver could not decide.
    undecided: Vec<usize>,
}

impl Classes {
    /// Returns the classes that simulation proposes, restricted to those that power-on values allow.
    pub(super) fn new(pair: &Pair<'_>, partition: Partition) -> Classes {
        let mut classes = Classes { states: States::new(pair), partition, undecided: Vec::new() };
        classes.start(pair);
        classes
    }

    /// Returns the partition.
    pub(super) fn into_partition(self) -> Partition {
        self.partition
    }

    /// Returns the classes that simulation proposes, restricted to those that the state after some cycles allows, for
    /// any start of registers without an initial value. `reached` are all register bits in that state.
    pub(super) fn after(pair: &Pair<'_>, partition: Partition, e: &mut Engine, reached: &[Lit]) -> Classes {
        let mut classes = Classes { states: States::new(pair), partition, undecided: Vec::new() };
        let phases = reached.iter().zip(&classes.partition.phase);
        let mut reached: Vec<Lit> = phases.map(|(l, &phase)| l.xor(phase)).collect();
        reached.push(Lit::FALSE);
        while classes.refuted(e, &reached, pair) {}
        classes
    }

    /// Splits classes whose bits have different power-on values, and fixes the undefined power-on values of the
    /// machine.
    fn start(&mut self, pair: &Pair<'_>) {
        let (states, phase) = (&self.states, &self.partition.phase);
        let n = states.len();
        let mut first = vec![First::Free; n + 1];
        first[n] = First::Is(false);
        for members in self.partition.members() {
            let Some(&any) = members.first() else { continue };
            let is_constant = self.partition.class[any] == self.partition.constant();
            let mut groups: Vec<First> = if is_constant { vec![First::Is(false)] } else { Vec::new() };
            let mut open = Vec::new();
            for &bit in &members {
                let known = match bit.checked_sub(states.model()) {
                    Some(at) => Some(pair.file.power_on[at].map_or(First::LikeFile(at), |v| First::Is(v ^ phase[bit]))),
                    None => states.machine_power_on(pair, bit).map(|v| First::Is(v ^ phase[bit])),
                };
                match known {
                    Some(known) => {
                        first[bit] = known;
                        if !groups.contains(&known) {
                            groups.push(known);
                        }
                    }
                    None => open.push(bit),
                }
            }
            for bit in open {
                // Preferred groups, best first: that of the file's bit with this name and position, of that name, of
                // the constant, of the file.
                let twin = states.twin(pair, bit);
                let in_file = |group: &First| {
                    let of_file = members.iter().filter_map(|&b| Some((b, b.checked_sub(states.model())?)));
                    let same = of_file.filter(|(b, _)| first[*b] == *group).map(|(_, at)| at);
                    let ranks = same.map(|at| match twin == Some(at) {
                        true => 4,
                        false => 1 + 2 * u8::from(states.hints[at].contains(&bit)),
                    });
                    ranks.chain((is_constant && *group == First::Is(false)).then_some(2)).max()
                };
                if let Some(best) = groups.iter().rev().max_by_key(|group| in_file(group)).copied() {
                    first[bit] = best;
                }
            }
        }
        self.partition.split(|bit| first[bit]);
    }

    /// Refines the classes until one clock edge preserves them, and compares the outputs. Returns the undecided part;
    /// with `quick`, stops at the first part that is not decided easily.
    ///
    /// # Errors
    /// If the file has a combinational loop.
    pub(super) fn settle(
        &mut self,
        pair: &Pair<'_>,
        report: &mut MachineReport,
        e: &mut Engine,
        new_engine: &dyn Fn() -> Engine,
        quick: bool,
    ) -> Result<Option<String>, String> {
        loop {
            renew(e, new_engine);
            if quick {
                e.limits.sat_steps /= 30;
            }
            report.rounds += 1;
            let (inputs, bits) = (free_inputs(e, pair), self.bits(e));
            let state = self.states.cells(pair, &bits);
            let machine = model::step(e, pair.machine, &inputs, &state);
            for (block, bits) in pair.machine.blocks().iter().zip(&machine.blocks) {
                block.model.ids().for_each(|id| e.add_cut(bits.op(id)));
            }
            let file_bits = &bits[self.states.model()..];
            let file = pair.file.step(e, pair.machine, pair.ports, &inputs, file_bits, Some(&machine.blocks))?;
            let mut next = self.states.next(pair, &machine.next, &file.next);
            next.iter_mut().zip(&self.partition.phase).for_each(|(l, &phase)| *l = l.xor(phase));
            next.push(Lit::FALSE);
            report.operations_matched = file.matched.len() as u64;
            report.gates = e.words.aig.gates();
            e.spend(GATE * e.words.aig.gates() as u64);
            let changed = self.refuted(e, &next, pair);
            report.bits = e.counts;
            if let Some(&bit) = self.undecided.first().filter(|_| quick || e.left == 0) {
                return Ok(Some(format!(
                    "what {} becomes was not decided: {}",
                    self.states.name(pair, bit),
                    e.limit_reached()
                )));
            }
            if changed {
                continue;
            }
            let open = self.outputs(e, pair, &machine, &file);
            report.bits = e.counts;
            return Ok(open);
        }
    }

    /// Returns the bits of all registers in any state that the classes allow.
    fn bits(&self, e: &mut Engine) -> Vec<Lit> {
        let partition = &self.partition;
        let mut of_class: Vec<Option<Lit>> = vec![None; partition.classes as usize];
        of_class[partition.constant() as usize] = Some(Lit::FALSE);
        (0..self.states.len())
            .map(|bit| {
                let class = &mut of_class[partition.class[bit] as usize];
                class.get_or_insert_with(|| e.words.aig.input("state")).xor(partition.phase[bit])
            })
            .collect()
    }

    /// Splits classes that one clock edge does not preserve. Returns `true` if any class was split.
    fn refuted(&mut self, e: &mut Engine, next: &[Lit], pair: &Pair<'_>) -> bool {
        e.simulate();
        if self.partition.split(|bit| e.signature(next[bit])) {
            return true;
        }
        // The first bit of each class represents it; the constant represents its own class.
        let n = self.states.len();
        let mut speaker = vec![n; self.partition.classes as usize];
        for bit in (0..n).rev() {
            speaker[self.partition.class[bit] as usize] = bit;
        }
        speaker[self.partition.constant() as usize] = n;
        let mut changed = false;
        for word in self.words(pair) {
            let pairs: Vec<(usize, usize)> =
                word.map(|bit| (bit, speaker[self.partition.class[bit] as usize])).collect();
            let open: Vec<(Lit, Lit)> =
                pairs.iter().map(|&(bit, by)| (next[bit], next[by])).filter(|(a, b)| a != b).collect();
            if open.is_empty() {
                continue;
            }
            let (a, b): (Vec<Lit>, Vec<Lit>) = pairs.iter().map(|&(bit, by)| (next[bit], next[by])).unzip();
            match e.equal(&a, &b) {
                Outcome::Equal => {}
                Outcome::Differs(pattern) => {
                    let values = e.evaluate(&pattern);
                    let seen = |l: Lit| values[l.node() as usize] != l.is_negated();
                    changed |= self.partition.split(|bit| seen(next[bit]));
                }
                Outcome::Unknown => {
                    for (bit, by) in pairs {
                        if e.equal(&[next[bit]], &[next[by]]) != Outcome::Equal {
                            self.partition.isolate(bit);
                            self.undecided.push(bit);
                            changed = true;
                        }
                    }
                }
            }
            if changed {
                // The remaining bits are compared in the next round, under weaker assumptions.
                return true;
            }
        }
        changed
    }

    /// Returns the ranges of bits that form words: elements of the machine, and registers of the file.
    fn words(&self, pair: &Pair<'_>) -> Vec<std::ops::Range<usize>> {
        let mut words: Vec<std::ops::Range<usize>> = Vec::new();
        for (bit, &(_, _, b)) in self.states.machine.iter().enumerate() {
            match words.last_mut() {
                Some(last) if b > 0 => last.end = bit + 1,
                _ => words.push(bit..bit + 1),
            }
        }
        let base = self.states.model();
        let ends = pair.file.first.iter().skip(1).copied().chain([pair.file.bits()]);
        words.extend(pair.file.first.iter().zip(ends).map(|(&lo, hi)| base + lo..base + hi));
        words
    }

    /// Compares the outputs in every state that the classes allow.
    fn outputs(
        &self,
        e: &mut Engine,
        pair: &Pair<'_>,
        machine: &model::ModelCycle,
        file: &super::file::FileCycle,
    ) -> Option<String> {
        for shown in outputs(pair, machine, file) {
            let what = match e.equal(&shown.file, &shown.machine) {
                Outcome::Equal => continue,
                Outcome::Differs(_) => "is not equal in every state that could be told apart",
                Outcome::Unknown => &format!("was not decided: {}", e.limit_reached()),
            };
            let name = &pair.machine.signal(shown.port).name;
            let mut text = format!("element {} of {name:?} {what}", shown.element);
            if let Some(&bit) = self.undecided.first() {
                text.push_str(&format!("; nor was what {} becomes", self.states.name(pair, bit)));
            }
            return Some(text);
        }
        None
    }

    /// Returns the classes with more than one bit, by the names of the bits.
    pub(super) fn correspondence(&self, pair: &Pair<'_>) -> Correspondence {
        let named = |bit: usize| {
            let name = match bit.checked_sub(self.states.model()) {
                Some(at) => {
                    let (register, bit) = pair.file.register_of(at);
                    RegisterBit::File(pair.file.rtl.signal(register).name.clone(), bit)
                }
                None => {
                    let (id, element, bit) = self.states.machine[bit];
                    RegisterBit::Machine(pair.machine.signal(id).name.clone(), element, bit)
                }
            };
            (name, self.partition.phase[bit])
        };
        let mut out = Correspondence::default();
        for (class, members) in self.partition.members().into_iter().enumerate() {
            let is_constant = class as u32 == self.partition.constant();
            let members: Vec<(RegisterBit, bool)> = members.into_iter().map(named).collect();
            match members.len() {
                _ if is_constant => out.constant = members,
                0 | 1 => {}
                _ => out.classes.push(members),
            }
        }
        out
    }

    /// Returns the report of each register of the machine.
    pub(super) fn report(&self, pair: &Pair<'_>) -> Vec<RegisterReport> {
        let members = self.partition.members();
        let mut all: Vec<RegisterReport> = Vec::new();
        let mut last = None;
        for (bit, &(id, _, _)) in self.states.machine.iter().enumerate() {
            if last != Some(id) {
                last = Some(id);
                let name = pair.machine.signal(id).name.clone();
                all.push(RegisterReport { name, ..RegisterReport::default() });
            }
            let Some(report) = all.last_mut() else { continue };
            report.bits += 1;
            let class = self.partition.class[bit];
            if class == self.partition.constant() {
                report.constant += 1;
                continue;
            }
            let base = self.states.model();
            let mut holders = members[class as usize].iter().filter_map(|&b| b.checked_sub(base)).peekable();
            if holders.peek().is_none() {
                report.absent += 1;
                continue;
            }
            report.held += 1;
            let holders: Vec<usize> = holders.collect();
            let own = holders.iter().find(|&&at| self.states.hints[at].contains(&bit)).unwrap_or(&holders[0]);
            let name = pair.file.register_name(*own);
            if !report.file.contains(&name) {
                report.file.push(name);
            }
        }
        all
    }
}
