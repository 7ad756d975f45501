//! Finds the pipelines in a stateful design: which blocks and registers they contain.
//!
//! Blocks and registers get *labels*, which count cycles: the label of a register is one above the label of the signals
//! that it loads, and equal to the label of the blocks that read it. A register without consistent labels is not moved;
//! this happens in loops and where paths with different numbers of registers meet. A pipeline is partitioned wherever a
//! signal enters or leaves it; the registers at this boundary are not moved.

use alir_core::ir::machine::{Access, BlockId, Machine, Settle, SignalId, SignalKind};
use std::collections::BTreeSet;

/// Reset, enable and presence of power-on values, common to all registers of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegisterControls {
    pub(super) reset_if: Option<Access>,
    pub(super) enable_if: Option<Access>,
    /// `true` if the registers have power-on values.
    pub(super) starts: bool,
}

/// A pipeline whose sources all enter the first stage and whose results all leave the last stage.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Number of stages, at least 2, with registers only between them.
    pub(super) stages: u32,
    /// Blocks with their stages, numbered from 1, in an order in which they can be computed.
    pub(super) blocks: Vec<(BlockId, u32)>,
    /// Registers of the pipeline, each with its boundary: boundary `n` is after stage `n`.
    pub(super) registers: Vec<(SignalId, u32)>,
    /// Block outputs and registers that are read outside the pipeline.
    pub(super) sinks: Vec<SignalId>,
    /// Reset and enable of the registers.
    pub(super) controls: RegisterControls,
}

/// Returns for each element of each signal the index of the connection that drives it; `None` if no connection without
/// a dynamic index does.
pub(super) fn drivers(machine: &Machine) -> Vec<Vec<Option<usize>>> {
    let mut by: Vec<Vec<Option<usize>>> = machine.signals().iter().map(|s| vec![None; s.elements.len()]).collect();
    for (c, connection) in machine.connections().iter().enumerate().filter(|(_, c)| c.dst.dynamic.is_none()) {
        by[connection.dst.signal.index()][connection.dst.lo..connection.dst.hi].fill(Some(c));
    }
    by
}

/// Returns `true` if a connection only copies elements; the copy may be combinational or at a clock edge.
pub(super) fn is_plain(machine: &Machine, c: usize) -> bool {
    let connection = &machine.connections()[c];
    connection.enable_if.is_none()
        && connection.alternative.is_none()
        && connection.src.dynamic.is_none()
        && connection.dst.dynamic.is_none()
}

/// Returns all pipelines with at least two stages and at least one block.
pub(super) fn segments(machine: &Machine) -> Vec<Segment> {
    let mut finder = Finder::new(machine);
    finder.blocks();
    for register in machine.signal_ids() {
        finder.register(register);
    }
    finder.segments()
}

struct Finder<'a> {
    machine: &'a Machine,
    /// `true` for each signal that must be preserved: ports, and signals that are read as a condition, as an index, by
    /// index, by a wire or by a port.
    visible: Vec<bool>,
    /// Connections that copy each signal into a register or a block input.
    readers: Vec<Vec<usize>>,
    /// Connections that drive each signal.
    loads: Vec<Vec<usize>>,
    /// Node of each signal that may be in a pipeline; input and output of a block share a node.
    node: Vec<Option<usize>>,
    labels: Labels,
    /// Registers that may move.
    movable: Vec<bool>,
}

impl<'a> Finder<'a> {
    fn new(machine: &'a Machine) -> Finder<'a> {
        let n = machine.signals().len();
        let mut finder = Finder {
            machine,
            visible: machine.signals().iter().map(|s| s.output).collect(),
            readers: vec![Vec::new(); n],
            loads: vec![Vec::new(); n],
            node: vec![None; n],
            labels: Labels::default(),
            movable: vec![false; n],
        };
        for signal in machine.signals() {
            finder.show(signal.reset_if.as_ref());
        }
        for (c, connection) in machine.connections().iter().enumerate() {
            finder.loads[connection.dst.signal.index()].push(c);
            finder.show(connection.enable_if.as_ref());
            finder.show(connection.alternative.as_ref());
            finder.show(connection.dst.dynamic.as_ref().map(|(index, _)| &**index));
            let to = &machine.signal(connection.dst.signal).kind;
            let carried = match to {
                SignalKind::Register => connection.src.dynamic.is_none(),
                SignalKind::BlockInput(_) => is_plain(machine, c),
                _ => false,
            };
            if carried {
                finder.readers[connection.src.signal.index()].push(c);
            } else {
                finder.show(Some(&connection.src));
            }
        }
        finder
    }

    fn show(&mut self, access: Option<&Access>) {
        let mut next = access;
        while let Some(access) = next {
            self.visible[access.signal.index()] = true;
            next = access.dynamic.as_ref().map(|(index, _)| &**index);
        }
    }

    /// Creates the nodes of blocks. Blocks that are connected without a register have the same label.
    fn blocks(&mut self) {
        let machine = self.machine;
        for block in machine.blocks() {
            let (Some(input), Some(output)) = (block.input, block.output) else { continue };
            if self.visible[input.index()] || !self.readers[input.index()].is_empty() {
                continue;
            }
            let node = self.labels.node();
            self.node[input.index()] = Some(node);
            self.node[output.index()] = Some(node);
        }
        for (c, connection) in machine.connections().iter().enumerate() {
            let into_block = matches!(machine.signal(connection.dst.signal).kind, SignalKind::BlockInput(_));
            let ends = self.node[connection.src.signal.index()].zip(self.node[connection.dst.signal.index()]);
            if let Some((from, to)) = ends.filter(|_| into_block && is_plain(machine, c)) {
                self.labels.tie(from, to, 0);
            }
        }
    }

    /// Creates the node of a register if the register may move and consistent labels exist.
    fn register(&mut self, id: SignalId) {
        let machine = self.machine;
        let signal = machine.signal(id);
        let loads = &self.loads[id.index()];
        let connections = || loads.iter().map(|&c| &machine.connections()[c]);
        let driven: usize = connections().map(|c| c.dst.len()).sum();
        let Some(&first) = loads.first() else { return };
        let enable_if = machine.connections()[first].enable_if.clone();
        let plain = connections().all(|c| {
            let from = &machine.signal(c.src.signal).kind;
            let simple = c.dst.dynamic.is_none() && c.src.dynamic.is_none() && c.alternative.is_none();
            simple && c.enable_if == enable_if && *from != SignalKind::Input && c.src.signal != id
        });
        let whole = driven == signal.elements.len();
        if signal.kind != SignalKind::Register || self.visible[id.index()] || !plain || !whole {
            return;
        }
        let starts = signal.reset_to.is_some();
        let controls = RegisterControls { reset_if: signal.reset_if.clone(), enable_if, starts };
        // Neighbours of the register, each with the difference of its label to that of the register.
        let taking_part = |signal: SignalId, finder: &Self| {
            let is_register = machine.signal(signal).kind == SignalKind::Register;
            finder.node[signal.index()].filter(|_| !is_register || finder.movable[signal.index()])
        };
        let before = connections().filter_map(|c| Some((taking_part(c.src.signal, self)?, -1)));
        let behind = self.readers[id.index()].iter().filter_map(|&c| {
            let to = machine.connections()[c].dst.signal;
            let is_register = machine.signal(to).kind == SignalKind::Register;
            Some((taking_part(to, self)?, i64::from(is_register)))
        });
        let neighbours: Vec<(usize, i64)> = before.chain(behind).collect();
        if self.labels.allow(&neighbours, &controls) {
            let node = self.labels.node();
            self.labels.set_controls(node, controls);
            neighbours.into_iter().for_each(|(other, above)| self.labels.tie(node, other, above));
            self.node[id.index()] = Some(node);
            self.movable[id.index()] = true;
        }
    }

    /// Returns `true` if both ends of a connection are in pipelines.
    fn is_inside(&self, c: usize) -> bool {
        let connection = &self.machine.connections()[c];
        let (from, to) = (connection.src.signal, connection.dst.signal);
        let takes_part = |s: SignalId| match self.machine.signal(s).kind {
            SignalKind::Register => self.movable[s.index()],
            _ => self.node[s.index()].is_some(),
        };
        let carried = match self.machine.signal(to).kind {
            SignalKind::Register => true,
            _ => is_plain(self.machine, c),
        };
        takes_part(from) && takes_part(to) && carried
    }

    /// Returns the registers that may move according to their labels.
    fn movable(&self) -> Vec<SignalId> {
        self.machine.signal_ids().filter(|id| self.movable[id.index()]).collect()
    }

    fn label(&mut self, signal: SignalId) -> Option<(usize, i64)> {
        let node = self.node[signal.index()]?;
        Some(self.labels.find(node))
    }

    fn segments(mut self) -> Vec<Segment> {
        let machine = self.machine;
        // Boundaries whose registers are not moved: component, and label of these registers.
        let mut cuts: BTreeSet<(usize, i64)> = BTreeSet::new();
        let mut sinks: Vec<(usize, i64, SignalId)> = Vec::new();
        let mut sources: Vec<(usize, i64)> = Vec::new();
        for id in machine.signal_ids() {
            let Some((component, label)) = self.label(id) else { continue };
            let kind = &machine.signal(id).kind;
            if !matches!(kind, SignalKind::BlockOutput(_)) {
                let entered = label - i64::from(*kind == SignalKind::Register);
                if self.loads[id.index()].iter().any(|&c| !self.is_inside(c)) {
                    sources.push((component, entered));
                    cuts.insert((component, entered));
                }
            }
            if !matches!(kind, SignalKind::BlockInput(_))
                && (self.visible[id.index()] || self.readers[id.index()].iter().any(|&c| !self.is_inside(c)))
            {
                sinks.push((component, label, id));
                cuts.insert((component, label + 1));
            }
        }
        // Registers at such a boundary become sources of one pipeline and sinks of another, which requires no further
        // boundary.
        for id in self.movable() {
            let Some(place) = self.label(id).filter(|place| cuts.contains(place)) else { continue };
            let (component, label) = place;
            sources.push(place);
            for &c in &self.loads[id.index()].clone() {
                let from = machine.connections()[c].src.signal;
                if self.label(from).is_some() {
                    sinks.push((component, label - 1, from));
                }
            }
        }
        sinks.sort_unstable();
        sinks.dedup();
        let ends: BTreeSet<(usize, i64)> = sinks.iter().map(|&(component, label, _)| (component, label)).collect();
        ends.into_iter().filter_map(|end| self.segment(end, &cuts, &sources, &sinks)).collect()
    }

    /// Returns the pipeline that ends at label `last` of a component, or `None` if there is none with two stages.
    fn segment(
        &mut self,
        (component, last): (usize, i64),
        cuts: &BTreeSet<(usize, i64)>,
        sources: &[(usize, i64)],
        sinks: &[(usize, i64, SignalId)],
    ) -> Option<Segment> {
        let machine = self.machine;
        let first = cuts.range((component, i64::MIN)..=(component, last)).next_back().map(|&(_, label)| label)?;
        if first == last || !sources.contains(&(component, first)) {
            return None;
        }
        let stages = u32::try_from(last - first + 1).ok()?;
        let mut blocks = Vec::new();
        for &step in machine.order() {
            let Settle::Block(b) = step else { continue };
            let Some((of, label)) = machine.blocks()[b.index()].output.and_then(|s| self.label(s)) else { continue };
            if of == component && (first..=last).contains(&label) {
                blocks.push((b, (label - first + 1) as u32));
            }
        }
        blocks.sort_by_key(|&(_, stage)| stage);
        let mut registers = Vec::new();
        for id in self.movable() {
            let Some((of, label)) = self.label(id) else { continue };
            if of == component && first < label && label <= last {
                registers.push((id, (label - first) as u32));
            }
        }
        registers.sort_by_key(|&(id, boundary)| (boundary, id));
        let controls = self.labels.controls(component)?;
        let sinks = sinks.iter().filter(|&&(of, label, _)| (of, label) == (component, last)).map(|&(_, _, s)| s);
        let segment = Segment { stages, blocks, registers, sinks: sinks.collect(), controls };
        (!segment.blocks.is_empty() && !segment.registers.is_empty()).then_some(segment)
    }
}

/// Labels of nodes, up to a constant for each component: a union-find forest with label differences.
#[derive(Default)]
struct Labels {
    /// Parent of each node, and the label of the node minus that of the parent.
    parent: Vec<(usize, i64)>,
    /// Controls of the registers in the component of each root, or `None` if it has no registers.
    controls: Vec<Option<RegisterControls>>,
}

impl Labels {
    fn node(&mut self) -> usize {
        let node = self.parent.len();
        self.parent.push((node, 0));
        self.controls.push(None);
        node
    }

    /// Returns the root of a node's component, and the label of the node relative to the root.
    fn find(&mut self, node: usize) -> (usize, i64) {
        let (mut root, mut label) = (node, 0);
        while self.parent[root].0 != root {
            label += self.parent[root].1;
            root = self.parent[root].0;
        }
        // Path compression.
        let (mut at, mut left) = (node, label);
        while self.parent[at].0 != root && at != root {
            let (next, above) = self.parent[at];
            self.parent[at] = (root, left);
            left -= above;
            at = next;
        }
        (root, label)
    }

    fn controls(&self, root: usize) -> Option<RegisterControls> {
        self.controls[root].clone()
    }

    fn set_controls(&mut self, root: usize, controls: RegisterControls) {
        self.controls[root] = Some(controls);
    }

    /// Returns `true` if a node with these controls may be added. `neighbours` are other nodes, each with the
    /// difference of its label to that of the new node.
    fn allow(&mut self, neighbours: &[(usize, i64)], controls: &RegisterControls) -> bool {
        let mut own: std::collections::BTreeMap<usize, i64> = std::collections::BTreeMap::new();
        neighbours.iter().all(|&(other, above)| {
            let (root, label) = self.find(other);
            let fits = self.controls[root].as_ref().is_none_or(|known| known == controls);
            fits && *own.entry(root).or_insert(label - above) == label - above
        })
    }

    /// Merges the components of `a` and `b`, so that the label of `b` is `above` more than that of `a`. Has no effect
    /// if both are in one component already.
    fn tie(&mut self, a: usize, b: usize, above: i64) {
        let ((root_a, label_a), (root_b, label_b)) = (self.find(a), self.find(b));
        if root_a != root_b {
            self.parent[root_b] = (root_a, label_a + above - label_b);
            if self.controls[root_a].is_none() {
                self.controls[root_a] = self.controls[root_b].take();
            }
        }
    }
}
