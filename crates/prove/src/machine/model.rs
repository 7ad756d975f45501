//! One cycle of a machine as gates, built from `docs/fsm.md`, connection by connection.

use crate::aig::Lit;
use crate::bit_vector::Words;
use crate::blast::{ModelBits, blast, constant_bits, converted};
use crate::engine::Engine;
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use alir_core::num::Kif;

/// Gates of one element in one cycle.
#[derive(Clone, Debug)]
pub(super) struct SymbolicCell {
    /// Bits of the element, as wide as its type.
    pub(super) bits: Vec<Lit>,
    /// Literal that is 1 if all operands are defined.
    pub(super) defined: Lit,
}

/// Elements of each signal of the machine; empty for signals without values here.
pub(super) type Cells = Vec<Vec<SymbolicCell>>;

/// Results of one clock cycle of the machine.
pub(super) struct ModelCycle {
    /// Values of all signals before the clock edge.
    pub(super) values: Cells,
    /// Values of the registers after the clock edge; empty for other signals.
    pub(super) next: Cells,
    /// Gates of the operations of each block.
    pub(super) blocks: Vec<ModelBits>,
}

/// Returns the registers of a machine.
pub(super) fn registers(machine: &Machine) -> impl Iterator<Item = SignalId> + '_ {
    machine.signal_ids().filter(|&s| machine.signal(s).kind == SignalKind::Register)
}

/// Returns the state at power-on: reset values, and undefined zeros for registers without a reset value.
pub(super) fn power_on(machine: &Machine) -> Cells {
    let cell = |signal: SignalId, k: usize, kif: &Kif| match &machine.signal(signal).reset_to {
        Some(to) => SymbolicCell { bits: constant_bits(&to[k], kif.width() as usize), defined: Lit::TRUE },
        None => SymbolicCell { bits: vec![Lit::FALSE; kif.width() as usize], defined: Lit::FALSE },
    };
    machine
        .signal_ids()
        .map(|id| match machine.signal(id).kind {
            SignalKind::Register => {
                machine.signal(id).elements.iter().enumerate().map(|(k, kif)| cell(id, k, kif)).collect()
            }
            _ => Vec::new(),
        })
        .collect()
}

/// Builds one cycle from given inputs and registers; other signals in `state` are ignored.
pub(super) fn step(e: &mut Engine, machine: &Machine, inputs: &Cells, state: &Cells) -> ModelCycle {
    let values = machine
        .signal_ids()
        .map(|id| match machine.signal(id).kind {
            SignalKind::Input => inputs[id.index()].clone(),
            SignalKind::Register => state[id.index()].clone(),
            _ => machine.signal(id).elements.iter().map(zero).collect(),
        })
        .collect();
    let mut cycle = Cycle { w: &mut e.words, machine, values, blocks: Vec::new() };
    cycle.blocks.resize_with(machine.blocks().len(), ModelBits::default);
    for &settle in machine.order() {
        match settle {
            Settle::Connection(c) => {
                let connection = &machine.connections()[c];
                let taken = cycle.chosen(connection);
                let dst = &connection.dst;
                cycle.values[dst.signal.index()][dst.lo..dst.hi].clone_from_slice(&taken);
            }
            Settle::Block(b) => cycle.block(b),
        }
    }
    let next = cycle.clocked();
    let Cycle { values, blocks, .. } = cycle;
    ModelCycle { values, next, blocks }
}

/// Returns the value of an element without a driver: a defined zero.
fn zero(kif: &Kif) -> SymbolicCell {
    SymbolicCell { bits: vec![Lit::FALSE; kif.width() as usize], defined: Lit::TRUE }
}

struct Cycle<'a> {
    w: &'a mut Words,
    machine: &'a Machine,
    values: Cells,
    blocks: Vec<ModelBits>,
}

impl Cycle<'_> {
    /// Returns a literal that is 1 if an index has this value; constant 0 for a value that the index cannot have.
    fn is(&mut self, index: &[Lit], value: usize) -> Lit {
        if index.len() < usize::BITS as usize && value >> index.len() != 0 {
            return Lit::FALSE;
        }
        let wanted: Vec<Lit> =
            (0..index.len()).map(|i| Lit::constant(i < usize::BITS as usize && value >> i & 1 == 1)).collect();
        self.w.equal(index, &wanted)
    }

    fn read(&mut self, access: &Access) -> Vec<SymbolicCell> {
        let Some((index, mult)) = &access.dynamic else {
            return self.values[access.signal.index()][access.lo..access.hi].to_vec();
        };
        let index = self.read(index).swap_remove(0);
        let elements = self.values[access.signal.index()].clone();
        let types = self.machine.types(access).to_vec();
        (access.lo..access.hi)
            .zip(types)
            .map(|(first, kif)| {
                // An index beyond the end gives zero, which is defined.
                let mut found = zero(&kif);
                for (i, at) in reached(first, *mult, elements.len()) {
                    // With a step of zero every index selects the same element.
                    let here = if *mult == 0 { Lit::TRUE } else { self.is(&index.bits, i) };
                    found = self.mux(here, &elements[at], &found);
                }
                SymbolicCell { defined: self.w.aig.and(found.defined, index.defined), ..found }
            })
            .collect()
    }

    fn mux(&mut self, sel: Lit, yes: &SymbolicCell, no: &SymbolicCell) -> SymbolicCell {
        let bits = self.w.mux(sel, &yes.bits, &no.bits);
        let defined = self.w.mux(sel, &[yes.defined], &[no.defined])[0];
        SymbolicCell { bits, defined }
    }

    /// Returns the values of an access, converted to the types of another access.
    fn converted(&mut self, from: &Access, to: &Access) -> Vec<SymbolicCell> {
        let cells = self.read(from);
        let types: Vec<(Kif, Kif)> =
            self.machine.types(from).iter().copied().zip(self.machine.types(to).iter().copied()).collect();
        let each = cells.into_iter().zip(types);
        each.map(|(c, (from, to))| SymbolicCell { bits: converted(&c.bits, from, 0, to), defined: c.defined }).collect()
    }

    /// Returns the values that a connection transfers, according to its enable. The caller handles registers without an
    /// alternative, which keep their value.
    fn chosen(&mut self, connection: &Connection) -> Vec<SymbolicCell> {
        let Connection { src, dst, enable_if, alternative } = connection;
        let taken = self.converted(src, dst);
        let (Some(enable), Some(alternative)) = (enable_if, alternative) else { return taken };
        let enable = self.read(enable).swap_remove(0);
        let other = self.converted(alternative, dst);
        taken
            .iter()
            .zip(&other)
            .map(|(yes, no)| {
                let cell = self.mux(enable.bits[0], yes, no);
                SymbolicCell { defined: self.w.aig.and(cell.defined, enable.defined), ..cell }
            })
            .collect()
    }

    fn block(&mut self, id: BlockId) {
        let machine = self.machine;
        let block = &machine.blocks()[id.index()];
        let model = &block.model;
        let cells: Vec<SymbolicCell> = block.input.map_or_else(Vec::new, |s| self.values[s.index()].clone());
        let types: &[Kif] = block.input.map_or(&[], |s| &machine.signal(s).elements);
        let mut inputs = Vec::with_capacity(cells.len());
        let mut defined = Lit::TRUE;
        for ((cell, &from), (&port, &shift)) in
            cells.iter().zip(types).zip(model.input_kifs().iter().zip(model.inp_shifts()))
        {
            inputs.push(converted(&cell.bits, from, i64::from(shift), port));
            defined = self.w.aig.and(defined, cell.defined);
        }
        let bits = blast(self.w, model, &inputs);
        if let Some(output) = block.output {
            let types = &machine.signal(output).elements;
            let results = bits.outputs.iter().enumerate().zip(types);
            self.values[output.index()] = results
                .map(|((j, word), &to)| SymbolicCell { bits: converted(word, model.output_kif(j), 0, to), defined })
                .collect();
        }
        self.blocks[id.index()] = bits;
    }

    /// Returns the registers after the clock edge: loaded or unchanged, then reset.
    fn clocked(&mut self) -> Cells {
        let machine = self.machine;
        let mut next: Cells = machine
            .signal_ids()
            .map(|id| match machine.signal(id).kind {
                SignalKind::Register => self.values[id.index()].clone(),
                _ => Vec::new(),
            })
            .collect();
        for connection in machine.connections() {
            let dst = &connection.dst;
            if machine.signal(dst.signal).kind == SignalKind::Register {
                self.load(connection, &mut next[dst.signal.index()]);
            }
        }
        for id in registers(machine) {
            let signal = machine.signal(id);
            let (Some(when), Some(to)) = (&signal.reset_if, &signal.reset_to) else { continue };
            let when = self.read(when).swap_remove(0);
            for ((cell, code), kif) in next[id.index()].iter_mut().zip(to).zip(&signal.elements) {
                let reset = SymbolicCell { bits: constant_bits(code, kif.width() as usize), defined: Lit::TRUE };
                let chosen = self.mux(when.bits[0], &reset, cell);
                *cell = SymbolicCell { defined: self.w.aig.and(chosen.defined, when.defined), ..chosen };
            }
        }
        next
    }

    fn load(&mut self, connection: &Connection, elements: &mut [SymbolicCell]) {
        let dst = &connection.dst;
        let taken = self.chosen(connection);
        let always = SymbolicCell { bits: vec![Lit::TRUE], defined: Lit::TRUE };
        let enable = connection.enable_if.as_ref().map_or(always, |e| self.read(e).swap_remove(0));
        // With an alternative, the register loads in both cases.
        let loads = if connection.alternative.is_some() { Lit::TRUE } else { enable.bits[0] };
        let index = dst.dynamic.as_ref().map(|(index, mult)| (self.read(index).swap_remove(0), *mult));
        for (first, cell) in (dst.lo..dst.hi).zip(&taken) {
            let Some((index, mult)) = &index else {
                elements[first] = self.loaded(Lit::TRUE, loads, enable.defined, cell, &elements[first]);
                continue;
            };
            for (i, at) in reached(first, *mult, elements.len()) {
                let here = if *mult == 0 { Lit::TRUE } else { self.is(&index.bits, i) };
                elements[at] = self.loaded(here, loads, enable.defined, cell, &elements[at]);
            }
        }
        // An undefined index makes all elements undefined that it could select.
        if let Some((index, _)) = &index {
            for element in &mut elements[dst.lo..] {
                element.defined = self.w.aig.and(element.defined, index.defined);
            }
        }
    }

    fn loaded(&mut self, here: Lit, loads: Lit, sure: Lit, new: &SymbolicCell, old: &SymbolicCell) -> SymbolicCell {
        let cell = self.mux(loads, new, old);
        let cell = SymbolicCell { defined: self.w.aig.and(cell.defined, sure), ..cell };
        self.mux(here, &cell, old)
    }
}

/// Returns the indices that select an element, each with the element.
pub(super) fn reached(first: usize, mult: usize, elements: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = match mult {
        0 => usize::from(first < elements),
        _ => elements.saturating_sub(first).div_ceil(mult),
    };
    (0..last).map(move |i| (i, first + i * mult))
}
