//! Bits of a program that pipeline registers may store, with their readers, derived from the draft. The scheduler
//! minimises these register bits.
//!
//! The nets of a draft and the demand for their bits do not depend on the schedule; only registers do. Therefore the
//! readers of every bit are known before scheduling, and the number of register bits counted on [`Uses`] equals that of
//! the netlist exactly.

use super::builder::{Draft, Owner};
use super::cell::{Cell, NetId, Piece, Wiring};
use super::demand::{Demand, Select, for_each_part};
use super::lower::{Drafted, draft};
use super::options::{BlockRegisters, Fabric};
use super::wiring::part;
use alir_core::ir::{Model, ValueId};
use alir_opt::schedule::{Edge, Reader, Root, Schedule, Uses, UsesBuilder};

/// Returns the bits of a program that registers may store, and their readers, for the default fabric.
pub fn uses(model: &Model) -> Uses {
    uses_with(model, Fabric::default())
}

/// Returns the bits of a program that registers may store, and their readers.
pub fn uses_with(model: &Model, fabric: Fabric) -> Uses {
    uses_with_blocks(model, fabric, None)
}

/// Returns the bits of a program that registers may store, their readers, and the positions of internal DSP registers
/// that can store them.
pub fn uses_with_blocks(model: &Model, fabric: Fabric, blocks: Option<BlockRegisters>) -> Uses {
    let fabric = fabric.by_operation();
    let Drafted { draft, outputs } = draft(model, &Schedule::combinational(model.nodes().len()), fabric);
    let demand = Demand::new(&draft, &outputs, 1);
    let all = account(&draft, &demand, &outputs, Edges::default());
    match blocks {
        None => all,
        Some(blocks) => {
            let outside = account(&draft, &demand, &outputs, Edges::new(&draft, &demand, blocks));
            if outside.edges().is_empty() { all } else { all.and_blocks(outside, WEIGHT) }
        }
    }
}

/// Weight of a register bit in the fabric, relative to one that a DSP can absorb.
const WEIGHT: u32 = 4;

/// Returns the bits that registers outside of DSPs may store; `edges` are the boundaries of the DSPs.
fn account(draft: &Draft, demand: &Demand, outputs: &[Wiring], mut edges: Edges) -> Uses {
    let mut walk = Walk { draft, demand, uses: UsesBuilder::default(), owner: None, edges: &mut edges };
    for (index, net) in draft.nets.iter().enumerate() {
        let id = NetId(index as u32);
        if demand.is_alive(id, net.width) {
            walk.cell(id);
        }
    }
    walk.owner = None;
    for &output in outputs {
        walk.read(output, Select::Low(output.width()), Reader::Port);
    }
    let Walk { uses, .. } = walk;
    let Edges { all, products, blocks: _ } = edges;
    uses.finish(draft.nets.len(), all, |net| match products.get(net as usize) {
        Some(Some(edge)) => Root::Edge(*edge),
        _ => root(draft, NetId(net)),
    })
}

/// Boundaries of DSPs: positions at which factors enter and products leave them.
#[derive(Default)]
struct Edges {
    blocks: Option<BlockRegisters>,
    all: Vec<Edge>,
    /// For each net, the index of its edge if it is a product that the DSP can register; otherwise `None`.
    products: Vec<Option<u32>>,
}

impl Edges {
    /// Returns the edges of products: one for every net that one DSP computes and that no other net of its operation
    /// reads.
    fn new(draft: &Draft, demand: &Demand, blocks: BlockRegisters) -> Edges {
        let mut edges = Edges { blocks: Some(blocks), all: Vec::new(), products: vec![None; draft.nets.len()] };
        let mut within = vec![false; draft.nets.len()];
        for net in &draft.nets {
            if !matches!(net.cell, Cell::Alias { .. }) {
                net.cell.for_each_operand(|wiring| {
                    for_each_net(draft, wiring, |read| {
                        within[read.index()] |= draft.nets[read.index()].owner == net.owner;
                    });
                });
            }
        }
        for (index, net) in draft.nets.iter().enumerate() {
            if blocks.behind > 0
                && !within[index]
                && demand.is_alive(NetId(index as u32), net.width)
                && let Some((op, true)) = edges.multiplication(draft, demand, NetId(index as u32))
            {
                edges.products[index] = Some(edges.all.len() as u32);
                edges.all.push(Edge { op, from: 0, to: blocks.behind as i32 });
            }
        }
        edges
    }

    /// Returns the operation of a net that DSPs compute, and `true` if one DSP suffices; `None` for other nets.
    fn multiplication(&self, draft: &Draft, demand: &Demand, id: NetId) -> Option<(ValueId, bool)> {
        let blocks = self.blocks?;
        let net = draft.nets[id.index()];
        let Cell::Mul { a, b, signed } = net.cell else { return None };
        let demanded = |factor: Wiring| factor.width().min(demand.top(id, net.width));
        match root(draft, id) {
            Root::Op(op) if blocks.multiply(demanded(a), demanded(b)) => {
                Some((op, blocks.hold(demanded(a), demanded(b), signed)))
            }
            _ => None,
        }
    }

    /// Returns the edge that reads a factor of a net that DSPs compute. Returns `None` if the multiplication itself
    /// reads the factor in its stage: if its own operation computes bits of the factor, or if several nets, one of them
    /// a product with an edge, provide the factor.
    fn factor(&mut self, draft: &Draft, demand: &Demand, id: NetId, factor: Wiring) -> Option<Reader> {
        let (op, _) = self.multiplication(draft, demand, id)?;
        let before = self.blocks.map_or(0, |blocks| blocks.before);
        let (mut first, mut several, mut product, mut own) = (None, false, false, false);
        for_each_net(draft, factor, |net| {
            several |= *first.get_or_insert(net) != net;
            product |= self.products[net.index()].is_some();
            own |= draft.nets[net.index()].owner == draft.nets[id.index()].owner;
        });
        if before == 0 || own || (several && product) {
            return None;
        }
        let edge = self.all.len() as u32;
        self.all.push(Edge { op, from: -(before as i32), to: 0 });
        Some(Reader::Edge(edge))
    }
}

/// Calls `f` with every net that is not an alias and drives bits of a wiring.
fn for_each_net(draft: &Draft, wiring: Wiring, mut f: impl FnMut(NetId)) {
    let mut bits = |piece| {
        if let Piece::Bits { net, .. } | Piece::Repeat { net, .. } = piece {
            f(net);
        }
    };
    for &piece in draft.pool.pieces(wiring) {
        match piece.net().map(|net| (net, draft.nets[net.index()].cell)) {
            // An alias refers only to nets that are not aliases.
            Some((_, Cell::Alias { x })) => {
                let (lo, width) = match piece {
                    Piece::Bits { lo, width, .. } => (lo, width),
                    Piece::Repeat { bit, .. } => (bit, 1),
                    Piece::Const { .. } => continue,
                };
                for_each_part(draft, x, lo, width, &mut bits);
            }
            _ => bits(piece),
        }
    }
}

/// Returns the origin of a net that is not an alias, without the registers of DSPs.
fn root(draft: &Draft, id: NetId) -> Root {
    let net = &draft.nets[id.index()];
    match (net.cell, net.owner) {
        // An operation that reads a whole input owns the input's net, but the port drives the bits.
        (Cell::Input { port, lo: _ }, _) => Root::Input(port.0),
        (_, Owner::Input(i)) => Root::Input(i),
        (_, Owner::Op(v)) => Root::Op(ValueId(v)),
        (_, Owner::Output(j)) => Root::Negation(j),
        (_, Owner::Object(_)) => unreachable!("a program has no named elements"),
    }
}

struct Walk<'a> {
    draft: &'a Draft,
    demand: &'a Demand,
    uses: UsesBuilder,
    /// Origin of the net whose operands are being read. A read of bits with an equal origin crosses no stage boundary.
    owner: Option<Root>,
    edges: &'a mut Edges,
}

impl Walk<'_> {
    fn cell(&mut self, id: NetId) {
        let net = &self.draft.nets[id.index()];
        let made = root(self.draft, id);
        let reader = match made {
            Root::Op(v) => Reader::Op(v),
            Root::Negation(j) => Reader::Negation(j),
            Root::Input(_) | Root::Edge(_) => return,
        };
        self.owner = Some(made);
        let mask = Select::Of(id);
        // Carries need every bit below the highest demanded bit.
        let low = Select::Low(self.demand.top(id, net.width));
        match net.cell {
            Cell::Input { .. } | Cell::Alias { .. } => {}
            Cell::Not { a } => self.read(a, mask, reader),
            Cell::And { a, b } | Cell::Or { a, b } | Cell::Xor { a, b } => {
                self.read(a, mask, reader);
                self.read(b, mask, reader);
            }
            Cell::Mux { sel, on_true, on_false } => {
                self.read(sel, Select::Low(1), reader);
                self.read(on_true, mask, reader);
                self.read(on_false, mask, reader);
            }
            Cell::Neg { a } => self.read(a, low, reader),
            Cell::Add { a, b } | Cell::Sub { a, b } => {
                self.read(a, low, reader);
                self.read(b, low, reader);
            }
            Cell::Mul { a, b, signed: _ } => {
                for factor in [a, b] {
                    let reader = self.edges.factor(self.draft, self.demand, id, factor).unwrap_or(reader);
                    self.read(factor, low, reader);
                }
            }
            Cell::Three { a, b, c, minus: _ } => [a, b, c].into_iter().for_each(|x| self.read(x, low, reader)),
            Cell::ReduceOr { a } | Cell::ReduceAnd { a } => self.read(a, Select::Low(a.width()), reader),
            Cell::Less { a, b, signed: _ } => {
                self.read(a, Select::Low(a.width()), reader);
                self.read(b, Select::Low(b.width()), reader);
            }
            Cell::Rom { rom: _, addr } => self.read(addr, Select::Low(addr.width()), reader),
            Cell::Register { .. } => unreachable!("a program has no registers"),
        }
    }

    fn read(&mut self, wiring: Wiring, select: Select, reader: Reader) {
        let mut offset = 0;
        for &piece in self.draft.pool.pieces(wiring) {
            let begin = offset;
            offset += piece.width();
            let mut from = begin;
            while let Some((start, stop)) = self.demand.run(select, from, offset) {
                self.piece(part(piece, start - begin, stop - start), reader);
                from = stop;
            }
        }
    }

    fn piece(&mut self, piece: Piece, reader: Reader) {
        let (net, lo, width) = match piece {
            Piece::Bits { net, lo, width } => (net, lo, width),
            Piece::Repeat { net, bit, .. } => (net, bit, 1),
            Piece::Const { .. } => return,
        };
        let draft = self.draft;
        match draft.nets[net.index()].cell {
            // An alias refers only to nets that are not aliases.
            Cell::Alias { x } => for_each_part(draft, x, lo, width, |piece| match piece {
                Piece::Bits { net, lo, width } => self.bits(net, lo, width, reader),
                Piece::Repeat { net, bit, .. } => self.bits(net, bit, 1, reader),
                Piece::Const { .. } => {}
            }),
            _ => self.bits(net, lo, width, reader),
        }
    }

    fn bits(&mut self, net: NetId, lo: u32, width: u32, reader: Reader) {
        if self.owner != Some(root(self.draft, net)) {
            self.uses.read(net.0, lo, width, reader);
        }
    }
}
