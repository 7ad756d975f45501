//! Carries of sums and borrows of differences that a program computes by comparisons.
//!
//! LLVLIR has no carry output: `cmps ltu` of a sum and one of its terms is its carry, and `cmps ltu` of two values is
//! the borrow of their difference. A direct implementation would need a comparator in addition to the adder. If a
//! program has both operations, the lowering builds an unsigned adder that is one bit wider; its top bit is the result
//! of the comparison.

use super::{Lowering, Operand};
use crate::program::{File, Operation, Program};
use crate::rows::{Lane, Meaning};
use alir_core::ir::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Sums and differences whose carry is used, and those that are already built.
pub(super) struct Carries {
    /// Result numbers of the sums and differences whose carry is used.
    used: FxHashSet<u32>,
    /// Wide sum and its terms, by result number.
    sums: FxHashMap<u32, (ValueId, [u32; 2])>,
}

/// Returns the kind of an operation on two integers, and the numbers of both operands; `None` for other operations.
fn pair(program: &Program, op: &Operation) -> Option<(Lane, [u32; 2])> {
    let Meaning::Lanes(lane) = op.row().meaning else { return None };
    let args = program.args(op);
    match (op.row().operands(), lane) {
        (b"rr", Lane::Add | Lane::Sub) => Some((lane, [args[0].value(), args[1].value()])),
        (b"crr", Lane::Compare) => {
            let [a, b] = [args[1].value(), args[2].value()];
            // "Above" and "not above" are "below" and "not below" with exchanged operands.
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
        let mut used = FxHashSet::default();
        if compared.is_empty() {
            return Carries { used, sums: FxHashMap::default() };
        }
        for (op, (lane, both)) in pairs() {
            let Some((File::R, result)) = op.result() else { continue };
            let is_asked = match lane {
                Lane::Add => both.iter().any(|term| compared.contains(&[result, *term])),
                Lane::Sub => compared.contains(&both),
                _ => false,
            };
            if is_asked {
                used.insert(result);
            }
        }
        Carries { used, sums: FxHashMap::default() }
    }
}

impl Lowering<'_> {
    /// Returns the `width` low bits of a sum or difference. If its carry is used, the operands are unsigned, and an
    /// exact sum is recorded for [`Lowering::carry`].
    pub(super) fn carrying(&mut self, op: &Operation, lane: Lane, width: u32, operands: &mut [Operand]) -> ValueId {
        let program = self.program;
        let used = op.result().filter(|(_, result)| self.carries.used.contains(result)).zip(pair(program, op));
        let Some(((_, result), (_, terms))) = used else { return self.lane(lane, width, 0, operands) };
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

    /// Returns a comparison as the carry of a sum, or as its complement; `None` for other comparisons.
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
