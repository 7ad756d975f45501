//! Shifts and rotations by variable counts: a multiplexer for each bit of the count.

use super::{Lowering, Operand};
use crate::rows::Direction;
use alir_core::ir::ValueId;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Returns the number of bits that represent all numbers below `n`.
fn index_bits(n: u32) -> u32 {
    u32::BITS - (n - 1).leading_zeros()
}

impl Lowering<'_> {
    /// Shifts a bit pattern of `width` bits by a count of any size, which is not reduced modulo the width.
    pub(super) fn shifted(&mut self, v: ValueId, width: u32, count: Operand, direction: Direction) -> ValueId {
        let mut v = match direction {
            Direction::RightSigned => self.logic.signed(v, width),
            _ => self.logic.unsigned(v, width),
        };
        let count_v = self.logic.unsigned(count.v, count.width);
        if let Some(places) = self.logic.known(count_v) {
            return self.shifted_by(v, width, places.to_u32().unwrap_or(width).min(width), direction);
        }
        let fill = match direction {
            Direction::RightSigned => self.logic.shifted_right(v, width - 1),
            _ => self.logic.zero(),
        };
        let bits = index_bits(width);
        for k in 0..bits.min(count.width) {
            let bit = self.logic.bit(count_v, k);
            let moved = self.shifted_by(v, width, 1 << k, direction);
            v = self.logic.mux(bit, moved, v);
        }
        if count.width > bits {
            let above = self.logic.shifted_right(count_v, bits);
            let beyond = self.logic.any(above);
            v = self.logic.mux(beyond, fill, v);
        }
        v
    }

    fn shifted_by(&mut self, v: ValueId, width: u32, places: u32, direction: Direction) -> ValueId {
        match direction {
            Direction::Left if places >= width => self.logic.zero(),
            Direction::Left => {
                let kept = self.logic.unsigned(v, width - places);
                self.logic.shifted_left(kept, places)
            }
            Direction::Right | Direction::RightSigned => self.logic.shifted_right(v, places),
        }
    }

    /// Rotates a bit pattern by a count of any size, modulo the width.
    pub(super) fn rotated(&mut self, v: ValueId, width: u32, count: Operand, direction: Direction) -> ValueId {
        let v = self.logic.unsigned(v, width);
        let left = |places: u32| if direction == Direction::Left { places } else { width - places };
        let count_v = self.logic.unsigned(count.v, count.width);
        if let Some(places) = self.logic.known(count_v) {
            let places = (places % width).to_u32().unwrap_or_default();
            return self.logic.rotated(v, width, left(places));
        }
        let (count, bits) = self.reduced(count_v, count.width, width);
        let mut v = v;
        for k in 0..bits {
            // 2^k modulo the width, without computing 2^k.
            let places = (0..k).fold(1 % width, |power, _| power * 2 % width);
            let bit = self.logic.bit(count, k);
            let moved = self.logic.rotated(v, width, left(places));
            v = self.logic.mux(bit, moved, v);
        }
        v
    }

    /// Returns a smaller count that is congruent modulo `width`, and its number of bits.
    fn reduced(&mut self, count: ValueId, count_width: u32, width: u32) -> (ValueId, u32) {
        let bits = index_bits(width);
        if width.is_power_of_two() {
            let kept = bits.min(count_width);
            return (self.logic.unsigned(count, kept), kept);
        }
        let (mut count, mut has) = (count, count_width);
        loop {
            // Sum of the low bits, and of the weight of each higher bit modulo the width.
            let most: u64 = (1u64 << bits) - 1 + u64::from(has.saturating_sub(bits)) * u64::from(width - 1);
            let needs = u64::BITS - most.leading_zeros();
            if needs + 1 >= has {
                return (count, has);
            }
            let mut terms = vec![self.logic.slice(count, 0, bits)];
            let mut worth = (0..bits).fold(1 % width, |power, _| power * 2 % width);
            for k in bits..has {
                let bit = self.logic.bit(count, k);
                let factor = self.logic.constant(worth);
                terms.push(self.logic.mul(bit, factor));
                worth = worth * 2 % width;
            }
            count = self.logic.sum(&terms);
            has = needs;
        }
    }

    /// Shifts or rotates lanes by a variable number of places.
    pub(super) fn shifted_lanes(
        &mut self,
        a: &[ValueId],
        count: ValueId,
        width: u32,
        (towards_zero, round): (bool, bool),
    ) -> Box<[ValueId]> {
        let n = a.len();
        let zero = self.logic.zero();
        let mut lanes: Vec<ValueId> = a.iter().map(|v| self.logic.signed(*v, width)).collect();
        let bits = index_bits(n as u32);
        for k in 0..bits.min(width) {
            let bit = self.logic.bit(count, k);
            let places = 1usize << k;
            let from = |lane: usize| match (towards_zero, round) {
                (true, true) => Some((lane + places) % n),
                (false, true) => Some((lane + n - places) % n),
                (true, false) => Some(lane + places).filter(|from| *from < n),
                (false, false) => lane.checked_sub(places),
            };
            lanes = (0..n)
                .map(|lane| {
                    let moved = from(lane).map_or(zero, |from| lanes[from]);
                    self.logic.mux(bit, moved, lanes[lane])
                })
                .collect();
        }
        if !round && width > bits {
            let above = self.logic.shifted_right(count, bits);
            let beyond = self.logic.any(above);
            lanes = lanes.iter().map(|lane| self.logic.mux(beyond, zero, *lane)).collect();
        }
        lanes.into()
    }

    /// Returns lane `index` (unsigned), or 0 if this lane does not exist.
    pub(super) fn lane_at(&mut self, lanes: &[ValueId], index: ValueId, width: u32) -> ValueId {
        let zero = self.logic.zero();
        let bits = index_bits(lanes.len() as u32);
        let mut level: Vec<ValueId> = lanes.iter().map(|v| self.logic.signed(*v, width)).collect();
        for k in 0..bits {
            let bit = self.logic.bit(index, k);
            level = level.chunks(2).map(|pair| self.logic.mux(bit, pair[pair.len() - 1], pair[0])).collect();
        }
        if self.logic.range(index).1 < BigInt::from(lanes.len()) {
            return level[0];
        }
        let above = self.logic.shifted_right(index, bits);
        let beyond = self.logic.any(above);
        self.logic.mux(beyond, zero, level[0])
    }
}
