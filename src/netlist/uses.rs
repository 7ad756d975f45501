//! Which bits the hardware of a program can be asked to hold, seen on its draft: what the scheduler minimises.
//!
//! A draft's nets and the demand for their bits are the same whatever the schedule; only registers differ. So the
//! readers of every bit can be told before there is a schedule, and register bits counted on [`Uses`] are those of
//! the netlist, bit for bit.

use super::builder::{Draft, Owner};
use super::cell::{Cell, NetId, Piece, Wiring};
use super::demand::{Demand, Select, for_each_part};
use super::lower::{Drafted, draft};
use super::options::Fabric;
use super::wiring::part;
use crate::ir::{Model, ValueId};
use crate::schedule::{Reader, Root, Schedule, Uses, UsesBuilder};

/// The bits of a program that can be held, and who reads them, if multiplications are left to the synthesiser.
pub fn uses(model: &Model) -> Uses {
    uses_with(model, Fabric::default())
}

/// The bits of a program that can be held, and who reads them.
pub fn uses_with(model: &Model, fabric: Fabric) -> Uses {
    let fabric = fabric.by_operation();
    let Drafted { draft, outputs } = draft(model, &Schedule::combinational(model.nodes().len()), fabric);
    let demand = Demand::of(&draft, &outputs, 1);
    let mut walk = Walk { draft: &draft, demand: &demand, uses: UsesBuilder::default(), owner: None };
    for (index, net) in draft.nets.iter().enumerate() {
        let id = NetId(index as u32);
        if demand.is_alive(id, net.width) {
            walk.cell(id);
        }
    }
    walk.owner = None;
    for &output in &outputs {
        walk.read(output, Select::Low(output.width()), Reader::Port);
    }
    let Walk { uses, .. } = walk;
    uses.finish(draft.nets.len(), |net| root(&draft, NetId(net)))
}

/// Who makes a net that is no alias.
fn root(draft: &Draft, id: NetId) -> Root {
    let net = &draft.nets[id.index()];
    match (net.cell, net.owner) {
        // An operation that is the whole of an input gives the input's net its name, but the port makes the bits.
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
    /// Who makes the net whose operands are being read: what it reads of itself crosses nothing.
    owner: Option<Root>,
}

impl Walk<'_> {
    fn cell(&mut self, id: NetId) {
        let net = &self.draft.nets[id.index()];
        let made = root(self.draft, id);
        let reader = match made {
            Root::Op(v) => Reader::Op(v),
            Root::Negation(j) => Reader::Negation(j),
            Root::Input(_) => return,
        };
        self.owner = Some(made);
        let mask = Select::Of(id);
        // Carries need every bit below the highest one that is demanded.
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
            Cell::Add { a, b } | Cell::Sub { a, b } | Cell::Mul { a, b, signed: _ } => {
                self.read(a, low, reader);
                self.read(b, low, reader);
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
            // An alias is made of nets that are no aliases.
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
