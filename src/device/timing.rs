//! When each bit is there: static timing over the cover, with every carry chain bit by bit.

use super::cover::Cover;
use super::gates::{BlockKind, FIRST, Gate, Gates, Lit};
use super::technology::Technology;
use serde::Serialize;

/// What a path goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Look-up tables, those in front of chains aside.
    pub tables: u32,
    /// Carry chains.
    pub chains: u32,
    /// Carry bits that it runs along.
    pub carry_bits: u32,
    /// Multiplier blocks.
    pub multipliers: u32,
}

/// A time in nanoseconds behind the clock edge, register aside, and the path that takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: f32,
    pub(super) path: Path,
}

impl Arrival {
    fn later(self, other: Arrival) -> Arrival {
        if other.at > self.at { other } else { self }
    }

    fn plus(self, time: f64, path: impl FnOnce(&mut Path)) -> Arrival {
        let mut later = Arrival { at: self.at + time as f32, ..self };
        path(&mut later.path);
        later
    }
}

/// Part of a chain's time that passes before the first carry.
const BEFORE_CARRY: f64 = 0.5;

/// Levels of adders in a product of logic.
fn product_levels(shorter: u32) -> u32 {
    u32::BITS - shorter.saturating_sub(1).leading_zeros()
}

/// The arrival of every gate's output. `wires`: how much longer wires are than in a small design; `inputs`: when input ports
/// are there, in nanoseconds.
pub(super) fn arrivals(gates: &Gates, cover: &Cover, technology: &Technology, wires: f64, inputs: f64) -> Vec<Arrival> {
    let mut outside = vec![false; gates.gates.len()];
    gates.inputs.iter().for_each(|x| outside[x.gate()] = true);
    let times = &technology.times;
    let (table, chain) = (times.table * wires, times.chain * wires);
    let mut at: Vec<Arrival> = Vec::with_capacity(gates.gates.len());
    let mut carry = vec![Arrival::default(); gates.gates.len()];
    let mut blocks: Vec<Option<Arrival>> = vec![None; gates.blocks.len()];
    for (index, gate) in gates.gates.iter().enumerate() {
        let of = |at: &[Arrival], x: Lit| at[x.gate()];
        let arrival = match *gate {
            Gate::Source if outside[index] => Arrival::default().plus(inputs, |_| {}),
            Gate::Source => Arrival::default(),
            Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => {
                let leaves = cover.cut(index).map_or(&[][..], |cut| cut.leaves());
                let latest = leaves.iter().fold(Arrival::default(), |latest, &leaf| latest.later(at[leaf as usize]));
                latest.plus(table, |path| path.tables += 1)
            }
            Gate::Carry { a, b, before, own_table: _ } => {
                // The table in front of a chain belongs to the chain's time.
                let in_front = technology.table_before_carry && gates.gates[a.gate()].is_logic();
                let select = match in_front {
                    true => of(&at, a).plus(-table, |path| path.tables -= 1),
                    false => of(&at, a),
                };
                let enters = select.later(of(&at, b)).plus(BEFORE_CARRY * chain, |path| path.chains += 1);
                let rippled = if before == FIRST { Arrival::default() } else { carry[before as usize] };
                let here = rippled.later(enters);
                carry[index] = here.plus(times.carry, |path| path.carry_bits += 1);
                here.plus((1.0 - BEFORE_CARRY) * chain, |_| {})
            }
            Gate::Block(block) => *blocks[block as usize].get_or_insert_with(|| {
                let block = &gates.blocks[block as usize];
                let latest = block.inputs.iter().fold(Arrival::default(), |latest, &x| latest.later(of(&at, x)));
                match block.kind {
                    BlockKind::Dsp(..) => latest.plus(times.multiplier * wires, |path| path.multipliers += 1),
                    BlockKind::SoftProduct(longer, shorter) => {
                        let levels = product_levels(shorter);
                        latest.plus(f64::from(levels) * table + chain + f64::from(longer) * times.carry, |path| {
                            path.tables += levels;
                            path.chains += 1;
                            path.carry_bits += longer;
                        })
                    }
                    BlockKind::Memory | BlockKind::SumOfThree => latest,
                    BlockKind::Piece | BlockKind::CarryOfThree => latest.plus(table, |path| path.tables += 1),
                    BlockKind::Table(address, _) => {
                        let levels = 1 + address.saturating_sub(technology.table_inputs).div_ceil(2);
                        latest.plus(f64::from(levels) * table, |path| path.tables += levels)
                    }
                }
            }),
        };
        at.push(arrival);
    }
    at
}

/// The latest of some bits.
pub(super) fn latest(arrivals: &[Arrival], bits: impl IntoIterator<Item = Lit>) -> Arrival {
    bits.into_iter().fold(Arrival::default(), |latest, x| latest.later(arrivals[x.gate()]))
}
