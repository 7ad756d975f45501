//! The carry of sums and the borrow of differences, which programs ask for by comparing.
//!
//! LLVLIR has no carry out: `cmps ltu` of a sum with one of its terms gives it, and the same of two values is the
//! borrow of their difference. Taken as it is written, that is a comparator in addition to the adder. Where both exist,
//! the adder is built one bit wider, of natural numbers, and the bit above the result is the answer.

use super::{Lowering, Operand};
use crate::program::{File, Operation, Program};
use crate::rows::{Lane, Meaning};
use alir_core::ir::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The sums and differences of integers whose carry is used, and those sums that exist so far.
pub(super) struct Carries {
    /// Numbers of results.
    asked: FxHashSet<u32>,
    /// By the number of the result: the sum of natural numbers, and its terms.
    sums: FxHashMap<u32, (ValueId, [u32; 2])>,
}

/// Returns the lane of an operation of two integers, and the numbers of both.
fn pair(program: &Program, op: &Operation) -> Option<(Lane, [u32; 2])> {
    let Meaning::Lanes(lane) = op.row().meaning else { return None };
    let args = program.args(op);
    match (op.row().operands(), lane) {
        (b"rr", Lane::Add | Lane::Sub) => Some((lane, [args[0].value(), args[1].value()])),
        (b"crr", Lane::Compare) => {
            let [a, b] = [args[1].value(), args[2].value()];
            // Below and not below as they are; above and not above with the operands exchanged.
            match args[0].comparison() {
                10 | 13 => Some((lane, [a, b])),
                11 | 12 => Some((lane, [b, a])),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Carries {
    pub(super) fn new(program: &Program) -> Carries {
        let pairs = || program.ops().iter().filter_map(|op| Some((op, pair(program, op)?)));
        let compared: FxHashSet<[u32; 2]> =
            pairs().filter(|(_, (lane, _))| *lane == Lane::Compare).map(|(_, (_, both))| both).collect();
        let mut asked = FxHashSet::default();
        if compared.is_empty() {
            return Carries { asked, sums: FxHashMap::default() };
        }
        for (op, (lane, both)) in pairs() {
            let Some((File::R, result)) = op.result() else { continue };
            let is_asked = match lane {
                Lane::Add => both.iter().any(|term| compared.contains(&[result, *term])),
                Lane::Sub => compared.contains(&both),
                _ => false,
            };
            if is_asked {
                asked.insert(result);
            }
        }
        Carries { asked, sums: FxHashMap::default() }
    }
}

impl Lowering<'_> {
    /// A sum or difference: of natural numbers, if somebody asks for its carry.
    pub(super) fn carrying(&mut self, op: &Operation, lane: Lane, width: u32, operands: &mut [Operand]) -> ValueId {
        let program = self.program;
        let asked = op.result().filter(|(_, result)| self.carries.asked.contains(result)).zip(pair(program, op));
        let Some(((_, result), (_, terms))) = asked else { return self.lane(lane, width, 0, operands) };
        for operand in &mut *operands {
            operand.v = self.logic.unsigned(operand.v, width);
        }
        if lane == Lane::Add {
            let sum = self.logic.add(operands[0].v, operands[1].v);
            self.carries.sums.insert(result, (sum, terms));
            return self.logic.within(sum, width);
        }
        self.lane(lane, width, 0, operands)
    }

    /// A comparison that is the carry of a sum, or that there is none.
    pub(super) fn carry(&mut self, op: &Operation, width: u32) -> Option<ValueId> {
        let program = self.program;
        let (_, [sum, term]) = pair(program, op)?;
        let (exact, terms) = *self.carries.sums.get(&sum)?;
        if !terms.contains(&term) {
            return None;
        }
        let carry = self.logic.bit(exact, width);
        let is_below = matches!(program.args(op)[0].comparison(), 10 | 12);
        Some(if is_below { carry } else { self.logic.inverted(carry) })
    }
}
