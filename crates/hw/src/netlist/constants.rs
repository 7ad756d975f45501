//! Rewriting of constant summands for fewer inverters.
//!
//! For a constant bit, the select of a carry chain is the other operand's bit or its complement, without a LUT. `x + c`
//! complements the bits of `x` at the set bits of `c`. `x - (-c)` has the same value; it adds `!(-c) = c - 1` and a
//! carry into the lowest bit. If `c` is odd, this needs one complement less. Yosys builds an inverter for each
//! complement.

use super::cell::{Cell, Netlist, Piece, Wiring};
use super::wiring::Pool;

/// Maximum width of an adder that becomes LUTs, not a carry chain, in bits.
const NARROW: u32 = 2;

/// Replaces sums with odd constants by differences.
pub(super) fn as_differences(netlist: &mut Netlist) {
    let mut pool = Pool::from_pieces(std::mem::take(&mut netlist.pieces));
    for net in netlist.nets.iter_mut().filter(|net| net.width > NARROW) {
        let Cell::Add { a, b } = net.cell else { continue };
        let (x, c) = match (pool.is_const(a), pool.is_const(b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => continue,
        };
        if is_odd(&pool, c) {
            let negative = -pool.const_value(c, false);
            pool.open();
            pool.push_int(&negative, net.width);
            net.cell = Cell::Sub { a: x, b: pool.close() };
        }
    }
    netlist.pieces = pool.into_pieces();
}

fn is_odd(pool: &Pool, c: Wiring) -> bool {
    matches!(pool.pieces(c).first(), Some(Piece::Const { one: true, .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{Evaluator, Fabric, Options, lower};
    use alir_core::ir::draw_inputs;
    use alir_core::num::SplitMix;
    use alir_opt::schedule::{self, Schedule};

    /// Random programs compute equal values with and without differences, at any number of stages, and no sum has an
    /// odd constant afterwards.
    #[test]
    fn differences_are_the_same_numbers() {
        let mut changed = 0;
        for seed in 0..400 {
            let model = alir_testing::random::model(seed);
            let schedule = match seed % 2 {
                0 => Schedule::combinational(model.nodes().len()),
                _ => schedule::random(&model, 3, false, seed),
            };
            let with = |differences| {
                let fabric = Fabric { differences, ..Fabric::default() };
                lower(&model, &schedule, &Options { fabric, ..Options::default() })
            };
            let (plain, written) = (with(false), with(true));
            assert_eq!(written.check(), Ok(()), "seed {seed}");
            let mut one = Evaluator::new(&plain);
            let mut other = Evaluator::new(&written);
            let mut rng = SplitMix::new(seed);
            for _ in 0..12 {
                let codes = draw_inputs(&model, &mut rng);
                assert_eq!(one.clock(&codes), other.clock(&codes), "seed {seed}, {codes:?}");
            }
            for (before, after) in plain.nets().iter().zip(written.nets()) {
                changed += usize::from(before.cell != after.cell && matches!(after.cell, Cell::Sub { .. }));
                if let (Cell::Add { a, b }, true) = (after.cell, after.width > NARROW) {
                    let odd = |x: Wiring| {
                        let pieces = written.pieces(x);
                        let constant = pieces.iter().all(|p| matches!(p, Piece::Const { .. }));
                        constant && matches!(pieces[0], Piece::Const { one: true, .. })
                    };
                    assert!(odd(a) == odd(b), "seed {seed}: an odd constant is added");
                }
            }
        }
        assert!(changed > 20, "only {changed} sums changed");
    }
}
