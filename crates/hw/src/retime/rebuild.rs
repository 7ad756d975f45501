//! Builds a stateful design in which some pipelines are replaced.

use super::find::Segment;
use super::join::{Joined, Source};
use super::stages::{Anchor, Part, StageRegister, Stages};
use alir_core::ir::machine::{Access, Connection, Machine, MachineBuilder, Signal, SignalId, SignalKind};
use alir_core::num::Kif;
use rustc_hash::{FxHashMap, FxHashSet};

/// A pipeline and its replacement.
pub(super) struct Replacement<'a> {
    pub(super) segment: &'a Segment,
    pub(super) joined: &'a Joined,
    pub(super) stages: Stages,
}

/// Returns the design with these pipelines replaced, or `None` if the result is not a valid design.
pub(super) fn rebuild(machine: &Machine, replacements: &[Replacement<'_>]) -> Option<Machine> {
    let mut gone_blocks = FxHashSet::default();
    let mut removed = FxHashSet::default();
    let mut sinks = FxHashSet::default();
    for Replacement { segment, .. } in replacements {
        for &(b, _) in &segment.blocks {
            let block = &machine.blocks()[b.index()];
            gone_blocks.insert(b);
            removed.extend(block.input.into_iter().chain(block.output));
        }
        removed.extend(segment.registers.iter().map(|&(r, _)| r));
        sinks.extend(segment.sinks.iter().copied());
    }
    let mut work = Work {
        machine,
        builder: MachineBuilder::default(),
        signals: vec![None; machine.signals().len()],
        carried: FxHashMap::default(),
        names: machine.signals().iter().map(|s| s.name.clone()).collect(),
    };
    // Copy the blocks and signals that are not replaced.
    let mut blocks = vec![None; machine.blocks().len()];
    for (number, block) in machine.blocks().iter().enumerate() {
        if !gone_blocks.contains(&alir_core::ir::machine::BlockId(number as u32)) {
            blocks[number] = Some(work.builder.block(block.name.clone(), block.model.clone()));
        }
        work.names.insert(block.name.clone());
    }
    for id in machine.signal_ids() {
        let signal = machine.signal(id);
        let becomes_wire = removed.contains(&id) && sinks.contains(&id);
        if removed.contains(&id) && !becomes_wire {
            continue;
        }
        let kind = match signal.kind {
            _ if becomes_wire => SignalKind::Wire,
            SignalKind::BlockInput(b) => SignalKind::BlockInput(blocks[b.index()]?),
            SignalKind::BlockOutput(b) => SignalKind::BlockOutput(blocks[b.index()]?),
            ref other => other.clone(),
        };
        let reset_to = signal.reset_to.clone().filter(|_| !becomes_wire);
        let new = work.builder.signal(Signal { kind, reset_to, reset_if: None, ..signal.clone() });
        work.signals[id.index()] = Some(new);
    }
    for id in machine.signal_ids().filter(|id| !removed.contains(id)) {
        if let (Some(new), Some(when)) = (work.signals[id.index()], &machine.signal(id).reset_if) {
            let when = work.access(when)?;
            work.builder.reset_if(new, when);
        }
    }
    let carried = |&(source, _): &(Source, Kif)| match source {
        Source::Carried(c, _) => Some(c),
        Source::Element(..) => None,
    };
    let carried: FxHashSet<usize> =
        replacements.iter().flat_map(|r| r.joined.sources.iter().filter_map(carried)).collect();
    // Connections into removed signals are part of the replacement, except those with a condition or an index, which
    // drive a wire.
    for (c, connection) in machine.connections().iter().enumerate() {
        let to = connection.dst.signal;
        if removed.contains(&to) {
            if carried.contains(&c) {
                work.carry(c)?;
            }
            continue;
        }
        let dst = work.access(&connection.dst)?;
        work.connect(connection, dst)?;
    }
    for (number, replacement) in replacements.iter().enumerate() {
        work.pipeline(number, replacement)?;
    }
    work.builder.finish().ok()
}

struct Work<'a> {
    machine: &'a Machine,
    builder: MachineBuilder,
    /// New id of each signal that is not removed.
    signals: Vec<Option<SignalId>>,
    /// Wires driven by connections with conditions or indices, by the index of the connection.
    carried: FxHashMap<usize, SignalId>,
    names: FxHashSet<String>,
}

fn element(signal: SignalId, k: usize) -> Access {
    Access { signal, lo: k, hi: k + 1, dynamic: None }
}

impl Work<'_> {
    fn access(&self, access: &Access) -> Option<Access> {
        let dynamic = match &access.dynamic {
            Some((index, mult)) => Some((Box::new(self.access(index)?), *mult)),
            None => None,
        };
        Some(Access { signal: self.signals[access.signal.index()]?, dynamic, ..access.clone() })
    }

    /// Adds a connection of the original design with another destination.
    fn connect(&mut self, connection: &Connection, dst: Access) -> Option<()> {
        let optional = |access: &Option<Access>| match access {
            Some(access) => self.access(access).map(Some),
            None => Some(None),
        };
        let (enable_if, alternative) = (optional(&connection.enable_if)?, optional(&connection.alternative)?);
        let src = self.access(&connection.src)?;
        self.builder.connection(Connection { src, dst, enable_if, alternative });
        Some(())
    }

    fn name(&mut self, wish: String) -> String {
        let numbered = (2u32..).map(|n| format!("{wish}_{n}"));
        let mut free = std::iter::once(wish.clone()).chain(numbered);
        free.find(|name| self.names.insert(name.clone())).expect("fewer names than numbers")
    }

    fn signal(&mut self, wish: String, kind: SignalKind, elements: Vec<Kif>) -> SignalId {
        let name = self.name(wish);
        let signal = Signal { name, kind, output: false, elements, reset_to: None, reset_if: None, schedule: None };
        self.builder.signal(signal)
    }

    /// Adds a wire that connection `c` drives instead of the input of a removed block.
    fn carry(&mut self, c: usize) -> Option<()> {
        let connection = &self.machine.connections()[c];
        let dst = &connection.dst;
        let to = self.machine.signal(dst.signal);
        let wire =
            self.signal(format!("{}_{}", to.name, dst.lo), SignalKind::Wire, to.elements[dst.lo..dst.hi].to_vec());
        self.carried.insert(c, wire);
        self.connect(connection, Access { signal: wire, lo: 0, hi: dst.len(), dynamic: None })
    }

    fn pipeline(&mut self, number: usize, replacement: &Replacement<'_>) -> Option<()> {
        let Replacement { segment, joined, stages } = replacement;
        let mut at: FxHashMap<Anchor, Access> = FxHashMap::default();
        for (k, (source, _)) in (0..).zip(&joined.sources) {
            let from = match *source {
                Source::Element(signal, k) => element(self.signals[signal.index()]?, k),
                Source::Carried(c, k) => element(*self.carried.get(&c)?, k),
            };
            at.insert(Anchor::Input(k), from);
        }
        let mut parts = stages.parts.iter().peekable();
        for s in 1..=segment.stages {
            while let Some(part) = parts.next_if(|part| part.stage == s) {
                let near = part.block.map_or(segment.blocks.len() - 1, |b| b as usize);
                let block = &self.machine.blocks()[segment.blocks[near].0.index()].name;
                let out = if part.block.is_none() { "_out" } else { "" };
                let outputs = self.part(&format!("{block}_s{s}{out}"), part, &mut at)?;
                if part.block.is_none() {
                    self.sinks(segment, outputs)?;
                }
            }
            let Some(held) = stages.held.get(s as usize - 1).filter(|held| !held.is_empty()) else { continue };
            let register = self.registers(&format!("pipe{number}_r{s}"), segment, held, &at)?;
            for (k, held) in held.iter().enumerate() {
                at.insert(held.anchor, element(register, k));
            }
        }
        Some(())
    }

    /// Adds a block for a part, and returns the signal of its outputs. `at` contains the current signal of each anchor,
    /// and is extended by the outputs.
    fn part(&mut self, name: &str, part: &Part, at: &mut FxHashMap<Anchor, Access>) -> Option<SignalId> {
        let program = &part.program;
        let name = self.name(name.to_owned());
        let block = self.builder.block(name.clone(), program.clone());
        if !part.inputs.is_empty() {
            let kind = SignalKind::BlockInput(block);
            let input = self.signal(format!("INTERNAL_{name}_inp"), kind, program.input_kifs().to_vec());
            for (k, anchor) in part.inputs.iter().enumerate() {
                let (src, dst) = (at.get(anchor)?.clone(), element(input, k));
                self.builder.connection(Connection { src, dst, enable_if: None, alternative: None });
            }
        }
        let types = (0..program.outputs().len()).map(|j| program.output_kif(j)).collect();
        let output = self.signal(format!("INTERNAL_{name}_outp"), SignalKind::BlockOutput(block), types);
        for (k, &anchor) in part.outputs.iter().enumerate() {
            at.insert(anchor, element(output, k));
        }
        Some(output)
    }

    /// Adds the registers after a stage.
    fn registers(
        &mut self,
        name: &str,
        segment: &Segment,
        held: &[StageRegister],
        at: &FxHashMap<Anchor, Access>,
    ) -> Option<SignalId> {
        let name = self.name(name.to_owned());
        let register = self.builder.signal(Signal {
            name,
            kind: SignalKind::Register,
            output: false,
            elements: held.iter().map(|h| h.kif).collect(),
            reset_to: held.iter().map(|h| h.first.clone()).collect(),
            reset_if: None,
            schedule: None,
        });
        if let Some(when) = &segment.controls.reset_if {
            let when = self.access(when)?;
            self.builder.reset_if(register, when);
        }
        for (k, held) in held.iter().enumerate() {
            let (src, dst) = (at.get(&held.anchor)?.clone(), element(register, k));
            let enable_if = match &segment.controls.enable_if {
                Some(enable) => Some(self.access(enable)?),
                None => None,
            };
            self.builder.connection(Connection { src, dst, enable_if, alternative: None });
        }
        Some(register)
    }

    /// Connects the outputs of the last stage to the sinks of the pipeline.
    fn sinks(&mut self, segment: &Segment, outputs: SignalId) -> Option<()> {
        let mut next = 0;
        for &sink in &segment.sinks {
            let new = self.signals[sink.index()]?;
            for k in 0..self.machine.signal(sink).elements.len() {
                let (src, dst) = (element(outputs, next), element(new, k));
                self.builder.connection(Connection { src, dst, enable_if: None, alternative: None });
                next += 1;
            }
        }
        Some(())
    }
}
