//! Register bits of a schedule.
//!
//! An edge of a DSP has a label, as each vertex has its stage; edges are numbered after the vertices. A bit is kept
//! from the label of the vertex or edge that generates it to the largest label among its readers.

use super::graph::{Graph, NONE};
use super::uses::{Reader, Root, Uses};

/// The output port as a reader: after the last stage.
pub(super) const PORT: u32 = u32::MAX;

/// An edge of a DSP: its label relative to the label of a vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Vertex of the multiplication.
    pub(super) vertex: u32,
    /// Smallest difference of the edge's label and the vertex's label.
    pub(super) from: i32,
    /// Largest difference of the edge's label and the vertex's label.
    pub(super) to: i32,
}

impl Span {
    /// Returns an inequality `label[v] - label[u] >= gain` as `(u, v, gain)`: the edge, whose label is `edge`, is not
    /// too early or, if `is_latest`, not too late.
    pub(super) fn inequality(&self, edge: u32, is_latest: bool) -> (u32, u32, i32) {
        match is_latest {
            false => (self.vertex, edge, self.from),
            true => (edge, self.vertex, -self.to),
        }
    }
}

/// Classes of root bits in terms of labels: the stages of vertices, followed by the stages of edges of DSPs.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    /// Edges of DSPs.
    pub(super) edges: Vec<Span>,
    /// Class, root and reader for each class with an edge as root or reader: the reader is not before the root. Port
    /// readers are omitted.
    pub(super) beside_edges: Vec<(u32, u32, u32)>,
    /// Edges of DSPs whose bits a port reads.
    shown: Vec<u32>,
    /// Number of vertices.
    vertices: u32,
    /// Number of classes of the first set (all bits), and weight of a bit outside of DSPs.
    plain: usize,
    pub(super) weight: u64,
    /// Label of the root of each class.
    pub(super) root: Vec<u32>,
    /// Number of bits of each class.
    pub(super) bits: Vec<u32>,
    start: Vec<u32>,
    readers: Vec<u32>,
}

impl Cost {
    /// Builds the classes of `uses` with labels for roots and readers.
    pub(super) fn new(graph: &Graph, uses: &Uses) -> Cost {
        let classes = uses.classes();
        let mut cost = Cost {
            vertices: graph.len() as u32,
            plain: uses.all_bits().len(),
            weight: u64::from(uses.weight()),
            ..Cost::default()
        };
        cost.edges =
            uses.edges().iter().map(|e| Span { vertex: graph.vertex[e.op.index()], from: e.from, to: e.to }).collect();
        cost.start.push(0);
        for (index, class) in (0..).zip(classes) {
            let root = graph.root_node(class.root);
            debug_assert!(root != NONE, "bits are made by what has a stage");
            let from = cost.readers.len();
            for &reader in uses.readers(class) {
                let vertex = graph.reader_node(reader).unwrap_or(PORT);
                match (class.root, reader) {
                    (Root::Edge(edge), Reader::Port) => cost.shown.push(edge),
                    (_, Reader::Port) => {}
                    (Root::Edge(_), _) | (_, Reader::Edge(_)) => cost.beside_edges.push((index, root, vertex)),
                    _ => {}
                }
                if cost.readers.last() != Some(&vertex) || cost.readers.len() == from {
                    cost.readers.push(vertex);
                }
            }
            // The port requires these bits up to the last boundary, so other readers do not matter.
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

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.root.len()
    }

    /// Returns the readers of a class.
    pub(super) fn readers(&self, class: usize) -> &[u32] {
        &self.readers[self.start[class] as usize..self.start[class + 1] as usize]
    }

    /// Returns the weighted register bits of a schedule of `stages` stages, without input registers: 1 for each bit
    /// within DSPs, the weight for each other bit.
    pub(super) fn bits(&self, stage: &[u32], stages: u32) -> u64 {
        self.held(0..self.len(), stage, &self.places(stage, stages), stages)
    }

    /// Returns the number of all register bits, and of those within DSPs.
    pub(super) fn all_and_within(&self, stage: &[u32], stages: u32) -> (u64, u64) {
        let all = self.held(0..self.plain, stage, &[], stages);
        let within = match self.weight {
            1 => 0,
            weight => {
                all - self.held(self.plain..self.len(), stage, &self.places(stage, stages), stages) / (weight - 1)
            }
        };
        (all, within)
    }

    /// Returns the best label of each edge in a schedule: a product leaves its DSP as late as its readers allow, and a
    /// factor enters as soon as it is computed. A factor that is composed of several values has no product among them,
    /// so the choices of two edges never depend on each other.
    fn places(&self, stage: &[u32], stages: u32) -> Vec<u32> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        let own = |edge: &Span| stage[edge.vertex as usize];
        let mut place: Vec<u32> = self.edges.iter().map(|edge| own(edge).saturating_add_signed(edge.to)).collect();
        for &edge in &self.shown {
            place[edge as usize] = place[edge as usize].min(stages + 1);
        }
        let at = |label: u32, place: &[u32]| match label.checked_sub(self.vertices) {
            Some(edge) => place[edge as usize],
            None => stage[label as usize],
        };
        for &(_, root, reader) in &self.beside_edges {
            if let Some(edge) = root.checked_sub(self.vertices) {
                place[edge as usize] = place[edge as usize].min(at(reader, &place));
            }
        }
        let mut earliest: Vec<u32> = self.edges.iter().map(|edge| own(edge).saturating_add_signed(edge.from)).collect();
        for &(_, root, reader) in &self.beside_edges {
            if let Some(edge) = reader.checked_sub(self.vertices) {
                earliest[edge as usize] = earliest[edge as usize].max(at(root, &place));
            }
        }
        for (edge, (place, earliest)) in self.edges.iter().zip(place.iter_mut().zip(earliest)) {
            if edge.from < 0 {
                *place = earliest;
            }
        }
        place
    }

    fn held(&self, classes: std::ops::Range<usize>, stage: &[u32], place: &[u32], stages: u32) -> u64 {
        let at = |label: u32| match label.checked_sub(self.vertices) {
            _ if label == PORT => stages + 1,
            Some(edge) => place[edge as usize],
            None => stage[label as usize],
        };
        let held = |class: usize| {
            let last = self.readers(class).iter().map(|&label| at(label)).max().unwrap_or(0);
            u64::from(last.saturating_sub(at(self.root[class]))) * u64::from(self.bits[class])
        };
        classes.map(held).sum()
    }

    /// Returns the earliest and latest values of all labels, given those of the vertices.
    pub(super) fn windows(&self, early: &[u32], late: &[u32], stages: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut first, mut last) = (early.to_vec(), late.to_vec());
        for edge in &self.edges {
            first.push(early[edge.vertex as usize].saturating_add_signed(edge.from).max(1));
            last.push(late[edge.vertex as usize].saturating_add_signed(edge.to));
        }
        for &edge in &self.shown {
            let last = &mut last[(self.vertices + edge) as usize];
            *last = (*last).min(stages + 1);
        }
        for &(_, root, reader) in &self.beside_edges {
            let (root, reader) = (root as usize, reader as usize);
            last[root] = last[root].min(last[reader]);
            first[reader] = first[reader].max(first[root]);
        }
        (first, last)
    }

    /// Returns the register bits of the last boundary, which every schedule has: the output bits.
    pub(super) fn trivial_bound(&self) -> u64 {
        let is_shown = |&c: &usize| self.readers(c).first() == Some(&PORT) && self.root[c] < self.vertices;
        let shown = (0..self.len()).filter(is_shown);
        shown.map(|c| u64::from(self.bits[c])).sum()
    }
}
