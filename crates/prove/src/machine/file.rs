//! One cycle of the RTL file as gates, and the state in its registers.

use super::port_pairs::PortPairs;
use crate::aig::Lit;
use crate::bit_vector::resize;
use crate::blast::ModelBits;
use crate::engine::{Engine, Limits, Outcome};
use crate::unroll::{Fault, Gates, Leaves, Unroll, clock_of};
use alir_core::ir::ValueId;
use alir_core::ir::machine::Machine;
use alir_hdl::{Expr, NodeId, Rtl, SignalId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::model::Cells;

/// Registers of a file.
pub(super) struct FileRegisters<'a> {
    pub(super) rtl: &'a Rtl,
    /// Signals that are registers.
    pub(super) registers: Vec<SignalId>,
    /// Power-on values of the bits of all registers; `None` for a bit without one.
    pub(super) power_on: Vec<Option<bool>>,
    /// Index of the first bit of each register.
    pub(super) first: Vec<usize>,
}

/// Largest number of signals between a register and a net with the same value.
const ALIASES: usize = 16;

/// Results of one clock cycle of the file.
pub(super) struct FileCycle {
    /// Bits of each output port of the file.
    pub(super) outputs: FxHashMap<SignalId, Vec<Lit>>,
    /// Bits of all registers after the clock edge.
    pub(super) next: Vec<Lit>,
    /// Operations of blocks whose signals exist and are equal.
    pub(super) matched: FxHashSet<(usize, u32)>,
}

/// Returns the bits of a power-on value, `None` for undefined ones; `None` if it is not a constant.
fn power_on(rtl: &Rtl, node: NodeId) -> Option<Vec<Option<bool>>> {
    let width = rtl.width(node) as usize;
    match rtl.expr(node) {
        Expr::Const(value) => Some((0..width as u64).map(|bit| Some(value.bit(bit))).collect()),
        Expr::Free => Some(vec![None; width]),
        Expr::Concat(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(|&part| power_on(rtl, part)).collect();
            Some(parts?.concat())
        }
        Expr::Slice { x, lo } => Some(power_on(rtl, *x)?[*lo as usize..][..width].to_vec()),
        _ => None,
    }
}

impl<'a> FileRegisters<'a> {
    /// Collects the registers of a file.
    ///
    /// # Errors
    /// If the registers cannot be those of a machine: falling edge, asynchronous reset, or derived clocks.
    pub(super) fn new(rtl: &'a Rtl) -> Result<FileRegisters<'a>, String> {
        if clock_of(rtl)?.is_some_and(|(_, rising)| !rising) {
            return Err("registers act on the falling edge of the clock".into());
        }
        let mut file = FileRegisters { rtl, registers: Vec::new(), power_on: Vec::new(), first: Vec::new() };
        for (i, signal) in rtl.signals().iter().enumerate() {
            if signal.registers.is_empty() {
                continue;
            }
            if signal.registers.iter().any(|r| !r.resets.is_empty()) {
                return Err(format!("{} has an asynchronous reset, which machines do not have", signal.name));
            }
            if !signal.wires.is_empty() {
                return Err(format!("only some bits of {} are registers", signal.name));
            }
            let init = match signal.init {
                None => vec![None; signal.width as usize],
                Some(node) => power_on(rtl, node)
                    .ok_or_else(|| format!("the power-on value of {} is not a constant", signal.name))?,
            };
            file.first.push(file.power_on.len());
            file.registers.push(SignalId(i as u32));
            file.power_on.extend(init);
        }
        Ok(file)
    }

    /// Returns the number of bits of all registers.
    pub(super) fn bits(&self) -> usize {
        self.power_on.len()
    }

    /// Returns the register of a bit, and the position of the bit in it.
    pub(super) fn register_of(&self, bit: usize) -> (SignalId, usize) {
        let at = self.first.partition_point(|&first| first <= bit) - 1;
        (self.registers[at], bit - self.first[at])
    }

    /// Returns the name of the register of a bit.
    pub(super) fn register_name(&self, bit: usize) -> String {
        self.rtl.signal(self.register_of(bit).0).name.clone()
    }

    /// Returns the name of a register's bit.
    pub(super) fn name(&self, bit: usize) -> String {
        let (register, bit) = self.register_of(bit);
        let signal = self.rtl.signal(register);
        if signal.width == 1 { signal.name.clone() } else { format!("{}[{bit}]", signal.name) }
    }

    /// Returns the names of all registers' bits and of signals' bits that equal them, with the numbers of the bits.
    pub(super) fn nets(&self) -> Vec<(String, usize)> {
        let rtl = self.rtl;
        let first: FxHashMap<SignalId, usize> =
            self.registers.iter().copied().zip(self.first.iter().copied()).collect();
        let mut nets: Vec<(String, usize)> = (0..self.bits()).map(|bit| (self.name(bit), bit)).collect();
        for signal in rtl.signals() {
            for &(lo, node) in &signal.wires {
                // A cell's output is a port of the cell, which is its register.
                let mut source = Some(node);
                let register = (0..ALIASES).find_map(|_| {
                    let Expr::Signal(id) = rtl.expr(source?) else { return None };
                    source = match &rtl.signal(*id).wires[..] {
                        &[(0, next)] if rtl.width(next) == rtl.width(node) => Some(next),
                        _ => None,
                    };
                    first.get(id)
                });
                let Some(&first) = register else { continue };
                for i in 0..rtl.width(node) {
                    let name =
                        if signal.width == 1 { signal.name.clone() } else { format!("{}[{}]", signal.name, lo + i) };
                    nets.push((name, first + i as usize));
                }
            }
        }
        nets
    }

    /// Builds one cycle. `known` has the values of the machine's blocks in the same cycle, which signals may equal.
    ///
    /// # Errors
    /// If a signal depends on itself without a register.
    pub(super) fn step(
        &self,
        e: &mut Engine,
        machine: &Machine,
        ports: &PortPairs,
        inputs: &Cells,
        state: &[Lit],
        known: Option<&[ModelBits]>,
    ) -> Result<FileCycle, String> {
        let mut leaves = Moment {
            file: self,
            place: self.registers.iter().copied().zip(self.first.iter().copied()).collect(),
            ports,
            inputs,
            state,
            operations: known.map(|known| Operations::new(machine, known)),
            matched: FxHashSet::default(),
        };
        let rtl = self.rtl;
        let mut unroll = Unroll::new(rtl, 0);
        unroll.registers_are_leaves = true;
        let mut bits = |e: &mut Engine, leaves: &mut Moment<'_>, node| {
            unroll.word(&mut Gates { e, leaves }, node, 0).map_err(|fault| match fault {
                Fault::Loop(s) => format!("{} depends on itself without a register", rtl.signal(s).name),
                Fault::Overflow => "it cannot be expressed as gates".into(),
            })
        };
        let mut next = state.to_vec();
        for (&id, &first) in self.registers.iter().zip(&self.first) {
            for register in &rtl.signal(id).registers {
                let word = bits(e, &mut leaves, register.next)?;
                let lo = first + register.lo as usize;
                next[lo..lo + word.len()].copy_from_slice(&word);
            }
        }
        let mut outputs = FxHashMap::default();
        for &port in &rtl.outputs {
            outputs.insert(port, bits(e, &mut leaves, rtl.read(port))?.to_vec());
        }
        Ok(FileCycle { outputs, next, matched: leaves.matched })
    }
}

/// Returns a bit that the language does not define.
fn undefined(e: &mut Engine) -> Lit {
    let number = e.words.aig.inputs().len();
    e.words.aig.input(format!("undefined_{number}"))
}

/// Limits of a query that a name suggests.
const HINT: Limits = Limits { sat_steps: 0, cone: 5_000, exhaustive_leaves: 14, deep: true };

/// Operations of the machine by possible signal names: operation 17 of block `mac` is `mac_v17`.
struct Operations<'a> {
    machine: &'a Machine,
    known: &'a [ModelBits],
    blocks: FxHashMap<String, usize>,
}

impl<'a> Operations<'a> {
    fn new(machine: &'a Machine, known: &'a [ModelBits]) -> Operations<'a> {
        let blocks = machine.blocks().iter().enumerate().map(|(i, b)| (super::port_pairs::key(&b.name), i)).collect();
        Operations { machine, known, blocks }
    }

    /// Returns the operation in a name, and its bits. A name is only a hint.
    fn named(&self, name: &str) -> Option<(usize, ValueId, &'a [Lit])> {
        let lower = name.to_ascii_lowercase();
        let (block, number) = lower.rsplit_once("_v")?;
        let block = *self.blocks.get(&super::port_pairs::key(block))?;
        let id = ValueId(number.parse().ok()?);
        let model = &self.machine.blocks()[block].model;
        (id.index() < model.nodes().len()).then(|| (block, id, self.known[block].op(id)))
    }
}

struct Moment<'a> {
    file: &'a FileRegisters<'a>,
    place: FxHashMap<SignalId, usize>,
    ports: &'a PortPairs,
    inputs: &'a Cells,
    state: &'a [Lit],
    operations: Option<Operations<'a>>,
    matched: FxHashSet<(usize, u32)>,
}

impl Leaves for Moment<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, _k: u32) -> Vec<Lit> {
        let width = self.file.rtl.signal(signal).width as usize;
        match self.ports.inputs.get(&signal) {
            Some(port) => self.inputs[port.index()].iter().flat_map(|cell| cell.bits.iter().copied()).collect(),
            // A clock that is used as data can have any value.
            None => (0..width).map(|_| undefined(e)).collect(),
        }
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| undefined(e)).collect()
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        if let Some(&first) = self.place.get(&signal) {
            return self.state[first..first + bits.len()].to_vec();
        }
        let name = &self.file.rtl.signal(signal).name;
        let Some(operations) = &self.operations else { return bits };
        let Some((block, id, known)) = operations.named(name) else { return bits };
        let kif = operations.machine.blocks()[block].model.kif(id);
        let wanted = resize(known, kif.signed, bits.len());
        // Both the refutation of a wrong hint and the proof of a correct one may be expensive, so the limits are low.
        let limits = e.limits;
        e.limits = Limits { sat_steps: limits.sat_steps / 30, ..HINT };
        let equal = bits == wanted || e.equal(&bits, &wanted) == Outcome::Equal;
        e.limits = limits;
        if equal {
            self.matched.insert((block, id.0));
        }
        if equal { wanted } else { bits }
    }
}
