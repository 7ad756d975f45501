//! Register bits of a schedule.

use super::graph::{Graph, NONE};
use super::uses::Uses;

/// Stands for the output port among readers: behind the last stage.
pub(super) const PORT: u32 = u32::MAX;

/// The classes of root bits, in terms of vertices.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    /// Vertex that makes the bits of each class.
    pub(super) root: Vec<u32>,
    /// Bits of each class.
    pub(super) bits: Vec<u32>,
    start: Vec<u32>,
    readers: Vec<u32>,
}

impl Cost {
    /// The classes of `uses`; readers in no stage of their own cannot be.
    pub(super) fn new(graph: &Graph, uses: &Uses) -> Cost {
        let classes = uses.classes();
        let mut cost = Cost::default();
        cost.start.push(0);
        for class in classes {
            let root = graph.of_root(class.root);
            debug_assert!(root != NONE, "bits are made by what has a stage");
            let from = cost.readers.len();
            for &reader in uses.readers(class) {
                let vertex = graph.of_reader(reader).unwrap_or(PORT);
                if cost.readers.last() != Some(&vertex) || cost.readers.len() == from {
                    cost.readers.push(vertex);
                }
            }
            // Held to the end anyway: nobody else matters.
            if cost.readers[from..].contains(&PORT) {
                cost.readers.truncate(from);
                cost.readers.push(PORT);
            }
            cost.root.push(root);
            cost.bits.push(class.bits);
            cost.start.push(cost.readers.len() as u32);
        }
        cost
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.root.len()
    }

    /// Readers of a class.
    pub(super) fn readers(&self, class: usize) -> &[u32] {
        &self.readers[self.start[class] as usize..self.start[class + 1] as usize]
    }

    /// Register bits of a schedule of `stages` stages, without input registers.
    pub(super) fn bits(&self, stage: &[u32], stages: u32) -> u64 {
        let mut bits = 0;
        for class in 0..self.len() {
            let at = |v: u32| if v == PORT { stages + 1 } else { stage[v as usize] };
            let last = self.readers(class).iter().map(|&v| at(v)).max().unwrap_or(0);
            let held = last.saturating_sub(stage[self.root[class] as usize]);
            bits += u64::from(held) * u64::from(self.bits[class]);
        }
        bits
    }

    /// What the last boundary holds whatever the schedule: the outputs.
    pub(super) fn trivial_bound(&self) -> u64 {
        let shown = (0..self.len()).filter(|&c| self.readers(c).first() == Some(&PORT));
        shown.map(|c| u64::from(self.bits[c])).sum()
    }
}
