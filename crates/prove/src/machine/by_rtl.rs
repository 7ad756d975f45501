//! Comparison of a netlist with RTL that behaves as the machine.
//!
//! Both designs become gates of one clock cycle, whose leaves are inputs and classes of register bits that are always
//! equal. Simulation of both from power-on proposes the classes, and induction confirms them, as in [`super::classes`].
//! The gates are compared as those of pipelines ([`crate::netlist`]): synthesis keeps most values of the RTL.
//!
//! The RTL is a hint. The theorem about the machine follows if the RTL itself was proved to behave as the machine.

use super::classes::Partition;
use super::file::FileRegisters;
use super::port_pairs::{self, PortPairs};
use super::search::{Runs, WORDS, cycles, free_inputs, one_cycle, random};
use super::{MachineRequest, Pair};
use crate::aig::Lit;
use crate::engine::{Counts, Engine};
use crate::netlist::{Leaves, Pins, Side, SideGates, Sweep};
use crate::sat::Embedded;
use crate::unroll::{Fault, Unroll};
use alir_core::ir::machine::{Machine, SignalId};
use alir_core::num::SplitMix;
use alir_hdl::Rtl;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// Largest number of refinements of the classes.
const ROUNDS: u32 = 40;

/// Statistics of a proof.
pub struct RtlComparison {
    /// Number of refinements of the classes of equal bits.
    pub rounds: u32,
    /// Number of bits proved by each method.
    pub bits: Counts,
    /// Number of gates for one cycle of both designs together.
    pub gates: usize,
    /// Number of register bits of the netlist.
    pub register_bits: u64,
}

/// Proves that a netlist behaves as RTL in every cycle from power-on, as far as the outputs of `machine`.
///
/// # Errors
/// The reason why there is no proof. The netlist may still behave as the RTL.
pub fn compare_with_rtl(
    machine: &Machine,
    netlist: &Rtl,
    rtl: &Rtl,
    request: &MachineRequest,
) -> Result<RtlComparison, String> {
    let side = |rtl| Ok::<_, String>((FileRegisters::new(rtl)?, port_pairs::find(machine, rtl)?));
    let sides = Sides { machine, sides: [side(rtl)?, side(netlist)?] };
    let mut partition = sides.simulated()?;
    sides.confirm(&mut partition, request)
}

/// Power-on value of a bit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Is(bool),
    /// Any value, regardless of those of other bits.
    Any(usize),
}

/// Bits of registers and outputs at the end of one clock cycle.
struct Cycle {
    next: Vec<Lit>,
    outputs: FxHashMap<alir_hdl::SignalId, Vec<Lit>>,
}

/// RTL and netlist. Register bits are numbered, those of the RTL first.
struct Sides<'a> {
    machine: &'a Machine,
    sides: [(FileRegisters<'a>, PortPairs); 2],
}

impl Sides<'_> {
    /// Returns the numbers of the register bits of a side.
    fn bits(&self, side: usize) -> Range<usize> {
        let rtl = self.sides[0].0.bits();
        if side == 0 { 0..rtl } else { rtl..rtl + self.sides[1].0.bits() }
    }

    /// Returns the power-on values of all register bits.
    fn power_on(&self) -> Vec<Option<bool>> {
        self.sides.iter().flat_map(|(file, _)| file.power_on.iter().copied()).collect()
    }

    /// Returns bits of the RTL and of the netlist with the same name.
    fn named_alike(&self) -> Vec<(usize, usize)> {
        let [rtl, netlist] = self.sides.each_ref().map(|(file, _)| file);
        let of_rtl: FxHashMap<String, usize> = (0..rtl.bits()).map(|bit| (rtl.name(bit), bit)).collect();
        let nets = netlist.nets().into_iter();
        nets.filter_map(|(name, bit)| Some((*of_rtl.get(&name)?, rtl.bits() + bit))).collect()
    }

    /// Simulates both designs with equal inputs from power-on. Returns the classes of register bits that were equal.
    fn simulated(&self) -> Result<Partition, String> {
        let mut e = Engine::new(Box::new(Embedded));
        let pairs = self.sides.each_ref().map(|(file, ports)| Pair { machine: self.machine, file, ports });
        let inputs = free_inputs(&mut e, &pairs[0]);
        let n_inputs = e.words.aig.inputs().len();
        let first = self.power_on();
        let bits: Vec<Lit> = first.iter().map(|_| e.words.aig.input("state")).collect();
        let mut next = Vec::new();
        for (side, pair) in pairs.iter().enumerate() {
            let state = &bits[self.bits(side)];
            next.extend(pair.file.step(&mut e, self.machine, pair.ports, &inputs, state, None)?.next);
        }
        let mut rng = SplitMix::new(0x6e65_746c_6973_7431);
        // Bits of the RTL without a power-on value start like bits of the same name, the others all alike: as 0 if all
        // bits of the netlist have a power-on value, which most registers of devices have.
        let is_defined = first[self.bits(1)].iter().all(Option::is_some);
        let free: Runs = std::array::from_fn(|_| if is_defined { 0 } else { rng.word() });
        let run = |value: Option<bool>| value.map_or(free, |value| [0u64.wrapping_sub(value.into()); WORDS]);
        let mut values: Vec<Runs> = first.iter().map(|&value| run(value)).collect();
        for (rtl, netlist) in self.named_alike() {
            if first[rtl].is_none() {
                values[rtl] = run(first[netlist]);
            }
        }
        let styles: Vec<Runs> = (0..n_inputs).map(|_| std::array::from_fn(|_| rng.word() % 8)).collect();
        let mut partition = Partition::new(first.len());
        // Bits that start as something else may become alike within some cycles.
        let cycles = cycles(&e.words.aig);
        let registers: usize = pairs.iter().map(|pair| pair.file.registers.len()).sum();
        let is_any = first[self.bits(0)].iter().any(Option::is_none);
        let begin = if is_any { (2 + registers).min(cycles / 2) } else { 0 };
        for cycle in 0..cycles {
            if cycle >= begin {
                partition.refine(&values);
            }
            let applied: Vec<Runs> = styles.iter().map(|style| random(&mut rng, style)).collect();
            let sim = one_cycle(&e.words.aig, [&applied, &values, &[]], &mut rng);
            values = next.iter().map(|&lit| sim.value(lit)).collect();
        }
        self.pair_by_name(&mut partition);
        Ok(partition)
    }

    /// Pairs bits of the netlist that may start with any value with bits of the RTL in the same class, by the names of
    /// nets: such bits are equal to those of the RTL from power-on, but not to one another.
    fn pair_by_name(&self, partition: &mut Partition) {
        let first = self.power_on();
        let mut any: FxHashMap<u32, usize> = FxHashMap::default();
        for bit in self.bits(1).filter(|&bit| first[bit].is_none()) {
            *any.entry(partition.class(bit)).or_default() += 1;
        }
        let mut pair: FxHashMap<usize, usize> = FxHashMap::default();
        for (rtl, netlist) in self.named_alike() {
            let class = partition.class(netlist);
            if class == partition.class(rtl) && any.get(&class).is_some_and(|&count| count > 1) {
                pair.entry(netlist).or_insert(rtl);
            }
        }
        let paired: FxHashSet<usize> = pair.values().copied().collect();
        partition.split(|bit| pair.get(&bit).copied().or_else(|| paired.get(&bit).copied()));
    }

    /// Splits the classes until power-on values allow them and a clock cycle preserves them, then compares the outputs.
    fn confirm(&self, partition: &mut Partition, request: &MachineRequest) -> Result<RtlComparison, String> {
        let first = self.power_on();
        let mut spent = 0;
        for rounds in 0..ROUNDS {
            let (mut sweep, state) = self.leaves(partition, request, spent);
            let [rtl, netlist] = self.cycles(&mut sweep, &state)?;
            let next = [&rtl.next[..], &netlist.next].concat();
            let mut wrong = FxHashSet::default();
            for (class, members) in partition.members().into_iter().enumerate() {
                let is_constant = class as u32 == partition.constant();
                // What all bits of the class become, and how they start. The RTL was proved for each power-on value
                // of bits that have none, so these bits may start like the others.
                let mut to = is_constant.then_some(Lit::FALSE);
                let mut start = is_constant.then_some(First::Is(false));
                for bit in members {
                    let phase = partition.phase(bit);
                    let own = match first[bit] {
                        Some(value) => Some(First::Is(value ^ phase)),
                        None if self.bits(0).contains(&bit) => None,
                        None => Some(First::Any(bit)),
                    };
                    let becomes = next[bit].xor(phase);
                    let starts_alike = own.is_none_or(|own| *start.get_or_insert(own) == own);
                    if !starts_alike || !sweep.are_equal(&[becomes], &[*to.get_or_insert(becomes)]) {
                        wrong.insert(bit);
                    }
                }
            }
            if wrong.is_empty() {
                for port in self.machine.outputs() {
                    let [of_rtl, of_netlist] = self.sides.each_ref().map(|(_, ports)| ports.outputs.get(&port));
                    let (Some(of_rtl), Some(of_netlist)) = (of_rtl, of_netlist) else { continue };
                    if !sweep.are_equal(&netlist.outputs[of_netlist], &rtl.outputs[of_rtl]) {
                        let name = &self.machine.signal(port).name;
                        return Err(format!("output {name:?} was not proved equal to that of the RTL"));
                    }
                }
                return Ok(RtlComparison {
                    rounds,
                    bits: sweep.counts,
                    gates: sweep.gates(),
                    register_bits: self.bits(1).len() as u64,
                });
            }
            spent += sweep.spent();
            if spent >= request.work {
                break;
            }
            partition.split(|bit| wrong.contains(&bit));
        }
        Err("the registers were not proved equal to those of the RTL".to_owned())
    }

    /// Returns a graph with inputs, and the literals of all register bits: one input for each class.
    fn leaves(&self, partition: &Partition, request: &MachineRequest, spent: u64) -> (Sweep, Vec<Lit>) {
        let elements = self.machine.inputs().flat_map(|port| &self.machine.signal(port).elements);
        let mut widths: Vec<usize> = elements.map(|kif| kif.width() as usize).collect();
        let n_elements = widths.len();
        widths.resize(n_elements + partition.classes(), 1);
        let sweep = Sweep::new(&widths, request.limits, request.work.saturating_sub(spent));
        let sweep = sweep.with_progress(request.progress.clone(), spent);
        let class = |bit: usize| match partition.class(bit) {
            class if class == partition.constant() => Lit::FALSE,
            class => sweep.inputs[n_elements + class as usize][0],
        };
        let state = (0..self.bits(1).end).map(|bit| class(bit).xor(partition.phase(bit))).collect();
        (sweep, state)
    }

    /// Builds one clock cycle of the RTL, then of the netlist.
    fn cycles(&self, sweep: &mut Sweep, state: &[Lit]) -> Result<[Cycle; 2], String> {
        let mut inputs: FxHashMap<SignalId, Vec<Lit>> = FxHashMap::default();
        let mut elements = sweep.inputs.iter();
        for port in self.machine.inputs() {
            let own = elements.by_ref().take(self.machine.signal(port).elements.len());
            inputs.insert(port, own.flatten().copied().collect());
        }
        let cycle = |sweep: &mut Sweep, side: usize| {
            let (file, ports) = &self.sides[side];
            let mut leaves: FxHashMap<alir_hdl::SignalId, Vec<Lit>> =
                ports.inputs.iter().map(|(&own, port)| (own, inputs[port].clone())).collect();
            let state = &state[self.bits(side)];
            for (&register, &first) in file.registers.iter().zip(&file.first) {
                let width = file.rtl.signal(register).width as usize;
                leaves.insert(register, state[first..first + width].to_vec());
            }
            one_cycle_of(sweep, file, &leaves, state)
        };
        let rtl = cycle(sweep, 0)?;
        sweep.begin_netlist();
        Ok([rtl, cycle(sweep, 1)?])
    }
}

/// Builds one clock cycle of a design over leaves, which are bits of its inputs and registers.
fn one_cycle_of(
    sweep: &mut Sweep,
    file: &FileRegisters<'_>,
    leaves: &FxHashMap<alir_hdl::SignalId, Vec<Lit>>,
    state: &[Lit],
) -> Result<Cycle, String> {
    let rtl = file.rtl;
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, 0);
    unroll.registers_are_leaves = true;
    let mut pins = Pins::default();
    let mut gates = SideGates::new(sweep, Side { rtl, leaves: Leaves::Cycle(leaves) }, &mut pins);
    let mut word = |node| {
        unroll.word(&mut gates, node, 0).map_err(|fault| match fault {
            Fault::Loop(s) => format!("{} depends on itself without a register", rtl.signal(s).name),
            Fault::Overflow => "the budget does not suffice for its gates".to_owned(),
        })
    };
    let mut next = state.to_vec();
    for (&id, &first) in file.registers.iter().zip(&file.first) {
        for register in &rtl.signal(id).registers {
            let bits = word(register.next)?;
            next[first + register.lo as usize..][..bits.len()].copy_from_slice(&bits);
        }
    }
    let mut outputs = FxHashMap::default();
    for &port in &rtl.outputs {
        outputs.insert(port, word(rtl.read(port))?.to_vec());
    }
    Ok(Cycle { next, outputs })
}
