//! Bits that registers can store: their origins and their readers.
//!
//! Registers store bits, not values: most operations pass some bits of an operand through unchanged (a quantisation
//! passes all its bits, an addition the bits below the other operand), sign extension repeats one bit, and many bits
//! are constant. So the cost of a schedule is counted in *root bits*: bits that a gate generates or an input port
//! provides, traced through all wiring to the gates that read them. Root bits with equal origin and equal readers form
//! a [`Class`]; all bits of a class cross the same boundaries.
//!
//! Bits of a root without readers are in no class. Operations on which no output depends read nothing.
//!
//! DSPs have internal registers before their factors and after their product, and bits stored there need no flip-flops.
//! A second set of classes ([`Uses::and_blocks`]) counts the bits outside of DSPs: its bits leave or enter a DSP at an
//! [`Edge`], which may be some stages after the product or before the multiplication.
//!
//! This module only groups bits by their readers. The hardware determines which bits are generated and read
//! (`netlist::uses`); [`Uses::whole_values`] is a simple model for comparison and for tests.

use super::goal::Goal;
use alir_core::ir::{Model, Op, ValueId};

/// Origin of root bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// An input port element.
    Input(u32),
    /// An operation.
    Op(ValueId),
    /// The negation before an output element.
    Negation(u32),
    /// A DSP, at this [`Edge`] after its product.
    Edge(u32),
}

/// Reader of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reader {
    /// An operation, in its stage.
    Op(ValueId),
    /// The negation before an output element, in the last stage.
    Negation(u32),
    /// The output port, after the last register.
    Port,
    /// A DSP, at this [`Edge`] before one of its factors.
    Edge(u32),
}

/// Edge of a DSP, at which bits enter or leave. Its stage is `from` to `to` relative to the stage of the
/// multiplication; the registers of the DSP limit the distance. `from` is 0 for a product, and `to` is 0 for a factor.
/// A product leaves no later than the first reader of any of its bits, and a factor enters no earlier than all of its
/// bits are available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The multiplication of the DSP.
    pub op: ValueId,
    /// Earliest stage, relative to that of the multiplication.
    pub from: i32,
    /// Latest stage, relative to that of the multiplication.
    pub to: i32,
}

/// Root bits with the same origin and the same readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Origin of the bits.
    pub root: Root,
    /// Number of bits.
    pub bits: u32,
    readers: (u32, u32),
}

/// All bits that registers may store, by class.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    classes: Vec<Class>,
    readers: Vec<Reader>,
    edges: Vec<Edge>,
    /// Number of classes of the first set (without DSP registers), which come first.
    plain: usize,
    /// Weight of a bit outside of DSPs; a bit inside counts 1.
    weight: u32,
    /// Number of input bits with a reader.
    input_bits: u64,
    /// Number of bits that output ports read.
    output_bits: u64,
}

impl Uses {
    /// Returns the classes of the first set (without DSP registers) by root, followed by the classes of the second set
    /// (bits outside of DSPs).
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Returns the classes of the first set (without DSP registers).
    pub fn all_bits(&self) -> &[Class] {
        &self.classes[..self.plain]
    }

    /// Returns the weight of a bit outside of DSPs; a bit inside counts 1.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Appends the classes of the bits `outside` of DSPs as second set. A bit outside counts `weight`, a bit inside
    /// counts 1 (not 0, as synthesis may implement a product in logic). Each class of the second set counts `weight -
    /// 1` times its bits, because the first set contains these bits, too.
    pub fn and_blocks(mut self, outside: Uses, weight: u32) -> Uses {
        let shift = self.readers.len() as u32;
        self.weight = weight;
        self.readers.extend(outside.readers);
        self.classes.extend(outside.classes.into_iter().map(|class| Class {
            bits: class.bits * (weight - 1),
            readers: (class.readers.0 + shift, class.readers.1 + shift),
            ..class
        }));
        self.edges = outside.edges;
        self
    }

    /// Returns the readers of a class, ascending.
    pub fn readers(&self, class: &Class) -> &[Reader] {
        &self.readers[class.readers.0 as usize..class.readers.1 as usize]
    }

    /// Returns the edges of DSPs, to which roots and readers of the second set refer by index.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the number of bits of input registers: the input bits with a reader.
    pub fn input_bits(&self) -> u64 {
        self.input_bits
    }

    /// Returns the number of bits in the registers that the goal requires before the first and after the last stage.
    pub(super) fn edge_bits(&self, goal: &Goal) -> u64 {
        let inputs = if goal.register_inputs { self.input_bits } else { 0 };
        inputs + if goal.register_outputs { self.output_bits } else { 0 }
    }

    /// Returns a simple model: each operation is a root, and each reader reads all bits of its operands.
    pub fn whole_values(model: &Model) -> Uses {
        let live = live(model);
        let mut reads = UsesBuilder::default();
        let n = model.nodes().len() as u32;
        for id in model.ids().filter(|id| live[id.index()]) {
            if let Op::Input { input } = model.node(id).op {
                let width = model.input_kifs()[input as usize].width();
                reads.read(n + input, 0, width, Reader::Op(id));
            }
            model.node(id).op.for_each_operand(|v| {
                if !matches!(model.node(v).op, Op::Const { .. }) {
                    reads.read(v.0, 0, model.kif(v).width(), Reader::Op(id));
                }
            });
        }
        for (j, out) in model.outputs().iter().enumerate() {
            let Some(v) = out.source else { continue };
            if matches!(model.node(v).op, Op::Const { .. }) {
                continue;
            }
            let root = n + model.n_inputs() as u32 + j as u32;
            if out.neg {
                reads.read(v.0, 0, model.kif(v).width(), Reader::Negation(j as u32));
                reads.read(root, 0, model.output_kif(j).width(), Reader::Port);
            } else {
                reads.read(v.0, 0, model.kif(v).width(), Reader::Port);
            }
        }
        finish(reads, model)
    }
}

/// Returns `true` for each operation on which an output depends.
pub(super) fn live(model: &Model) -> Vec<bool> {
    let mut live = vec![false; model.nodes().len()];
    for v in model.outputs().iter().filter_map(|o| o.source) {
        live[v.index()] = true;
    }
    for id in model.ids().rev() {
        if live[id.index()] {
            model.node(id).op.for_each_operand(|v| live[v.index()] = true);
        }
    }
    live
}

/// Returns the classes; the numbers of roots count operations, then inputs, then outputs.
fn finish(reads: UsesBuilder, model: &Model) -> Uses {
    let (n, inputs) = (model.nodes().len() as u32, model.n_inputs() as u32);
    reads.finish((n + inputs) as usize + model.outputs().len(), Vec::new(), |r| match r {
        r if r < n => Root::Op(ValueId(r)),
        r if r < n + inputs => Root::Input(r - n),
        r => Root::Negation(r - n - inputs),
    })
}

/// A read of bits `lo .. lo + width` of a root by a reader.
#[derive(Clone, Copy, Debug)]
struct Read {
    lo: u32,
    width: u32,
    reader: Reader,
}

/// Builder of classes: collects the readers of bits, and groups the bits.
///
/// A root number (a net or an operation, as the caller chooses) and a position identify a bit.
#[derive(Clone, Debug, Default)]
pub struct UsesBuilder {
    roots: Vec<u32>,
    reads: Vec<Read>,
}

impl UsesBuilder {
    /// Records that `reader` reads bits `lo .. lo + width` of the root with number `maker`.
    pub fn read(&mut self, maker: u32, lo: u32, width: u32, reader: Reader) {
        if width > 0 {
            self.roots.push(maker);
            self.reads.push(Read { lo, width, reader });
        }
    }

    /// Returns the classes. The numbers of roots are less than `makers`; `root` maps these numbers to roots, and
    /// `edges` are the edges of DSPs.
    pub fn finish(self, makers: usize, edges: Vec<Edge>, root: impl Fn(u32) -> Root) -> Uses {
        let roots = makers;
        // Counting sort by root.
        let mut start = vec![0u32; roots + 1];
        for &r in &self.roots {
            start[r as usize + 1] += 1;
        }
        for i in 0..roots {
            start[i + 1] += start[i];
        }
        let mut sorted = vec![Read { lo: 0, width: 0, reader: Reader::Port }; self.reads.len()];
        let mut next = start.clone();
        for (&r, &read) in self.roots.iter().zip(&self.reads) {
            sorted[next[r as usize] as usize] = read;
            next[r as usize] += 1;
        }
        let mut uses = Uses { edges, weight: 1, ..Uses::default() };
        let mut split = Split::default();
        for r in 0..roots as u32 {
            let reads = &sorted[start[r as usize] as usize..start[r as usize + 1] as usize];
            if reads.is_empty() {
                continue;
            }
            split.classes(root(r), reads, &mut uses);
        }
        uses.plain = uses.classes.len();
        uses.input_bits =
            uses.classes.iter().filter(|c| matches!(c.root, Root::Input(_))).map(|c| u64::from(c.bits)).sum();
        let shown = uses.classes.iter().filter(|c| uses.readers(c).contains(&Reader::Port));
        uses.output_bits = shown.map(|c| u64::from(c.bits)).sum();
        uses
    }
}

/// Scratch memory for splitting a root's bits into classes.
#[derive(Default)]
struct Split {
    cuts: Vec<u32>,
    set: Vec<Reader>,
}

impl Split {
    fn classes(&mut self, root: Root, reads: &[Read], uses: &mut Uses) {
        let (lo, width) = (reads[0].lo, reads[0].width);
        if reads.iter().all(|r| (r.lo, r.width) == (lo, width)) {
            // Fast path for the most common case: all readers read the same bits.
            self.set.clear();
            self.set.extend(reads.iter().map(|r| r.reader));
            self.count_each_once();
            return self.class(root, width, uses);
        }
        self.cuts.clear();
        self.cuts.extend(reads.iter().flat_map(|r| [r.lo, r.lo + r.width]));
        self.cuts.sort_unstable();
        self.cuts.dedup();
        let first = uses.classes.len();
        for i in 1..self.cuts.len() {
            let (lo, hi) = (self.cuts[i - 1], self.cuts[i]);
            self.set.clear();
            self.set.extend(reads.iter().filter(|r| r.lo <= lo && hi <= r.lo + r.width).map(|r| r.reader));
            if self.set.is_empty() {
                continue;
            }
            self.count_each_once();
            self.set.sort_unstable();
            self.set.dedup();
            let known = uses.classes[first..].iter().position(|c| uses.readers(c) == self.set);
            match known {
                Some(k) => uses.classes[first + k].bits += hi - lo,
                None => self.class(root, hi - lo, uses),
            }
        }
    }

    fn count_each_once(&mut self) {
        self.set.sort_unstable();
        self.set.dedup();
    }

    /// Appends a class with the readers in `set`.
    fn class(&self, root: Root, bits: u32, uses: &mut Uses) {
        let start = uses.readers.len() as u32;
        uses.readers.extend_from_slice(&self.set);
        let readers = (start, uses.readers.len() as u32);
        uses.classes.push(Class { root, bits, readers });
    }
}
