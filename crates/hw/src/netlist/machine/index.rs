//! Reads and writes of elements by a run-time index.
//!
//! An indexed view is a barrel shifter of elements: each bit of the index shifts by a power of two times the
//! multiplier. A view of one of `n` elements needs `n - 1` multiplexers; a view of many elements needs `log n`
//! multiplexers for each of its elements. Elements beyond the end read as zero.

use super::super::arith::Bitwise;
use super::super::cell::Wiring;
use super::super::wiring::EMPTY;
use super::draw::Lowering;
use num_bigint::BigInt;

/// Returns the number of relevant index bits for `reach` elements: the width of the largest index that selects an
/// element.
fn useful_bits(reach: usize, mult: usize) -> u32 {
    let largest = (reach - 1) / mult;
    usize::BITS - largest.leading_zeros()
}

impl Lowering<'_> {
    /// Returns one bit of an index; 0 above its top.
    fn index_bit(&mut self, index: Wiring, bit: u32) -> Wiring {
        if bit < index.width() { self.draft.pool.slice(index, bit, 1) } else { self.code(&BigInt::ZERO, 1) }
    }

    /// Returns a bit that is set if an index has a bit set at or above `from`.
    fn beyond(&mut self, index: Wiring, from: u32) -> Wiring {
        if from >= index.width() {
            return self.code(&BigInt::ZERO, 1);
        }
        let high = self.draft.pool.slice(index, from, index.width() - from);
        self.draft.any(high)
    }

    /// Returns the `len` elements at distance `index * mult` from the first of `reached`.
    pub(super) fn at_index(&mut self, reached: &[Wiring], len: usize, index: Wiring, mult: usize) -> Vec<Wiring> {
        if mult == 0 || index.width() == 0 {
            return reached[..len].to_vec();
        }
        let zero = self.code(&BigInt::ZERO, reached[0].width());
        let bits = useful_bits(reached.len(), mult);
        let mut shown = reached.to_vec();
        for bit in (0..bits.min(index.width())).rev() {
            let sel = self.index_bit(index, bit);
            let step = mult << bit;
            // Largest distance by which the remaining, lower bits of the index move the view.
            let later = mult.saturating_mul((1 << bit) - 1);
            let wanted = shown.len().min(len.saturating_add(later));
            shown = (0..wanted)
                .map(|place| match place % mult < len {
                    true => {
                        let moved = shown.get(place + step).copied().unwrap_or(zero);
                        self.select(sel, moved, shown[place])
                    }
                    // No index selects this element.
                    false => EMPTY,
                })
                .collect();
        }
        let beyond = self.beyond(index, bits);
        shown.into_iter().take(len).map(|bits| self.select(beyond, zero, bits)).collect()
    }
}

/// Data and conditions of an indexed write, for each element from the start of the view on.
pub(super) enum Hits {
    /// Each element has at most one index that writes it.
    Apart {
        index: Wiring,
        complement: Wiring,
        mult: usize,
        sources: Vec<Wiring>,
        /// Comparison of the index with each value; `None` for values not requested so far.
        known: Vec<Option<Wiring>>,
    },
    /// Shifted view: the bits of each element, and the condition that it is written.
    Moved(Vec<(Wiring, Wiring)>),
}

impl Hits {
    /// Returns the write of `sources` at `index * mult` into `reach` elements.
    pub(super) fn new(
        lowering: &mut Lowering<'_>,
        index: Wiring,
        mult: usize,
        sources: Vec<Wiring>,
        reach: usize,
    ) -> Hits {
        if sources.len() <= mult {
            let complement = lowering.draft.complement(index);
            return Hits::Apart { index, complement, mult, sources, known: vec![None; (reach - 1) / mult + 1] };
        }
        let (no, yes) = (lowering.code(&BigInt::ZERO, 1), lowering.code(&BigInt::from(1), 1));
        let zero = lowering.code(&BigInt::ZERO, sources[0].width());
        let mut moved: Vec<(Wiring, Wiring)> = sources.into_iter().map(|bits| (bits, yes)).collect();
        moved.resize(reach, (zero, no));
        let bits = useful_bits(reach, mult);
        for bit in 0..bits.min(index.width()) {
            let sel = lowering.index_bit(index, bit);
            let step = mult << bit;
            moved = (0..reach)
                .map(|place| {
                    let (bits, valid) = moved[place];
                    let (other, other_valid) = place.checked_sub(step).map_or((zero, no), |from| moved[from]);
                    (lowering.select(sel, other, bits), lowering.select(sel, other_valid, valid))
                })
                .collect();
        }
        let beyond = lowering.beyond(index, bits);
        let inside = lowering.draft.complement(beyond);
        for (_, valid) in &mut moved {
            *valid = lowering.draft.bitwise(Bitwise::And, *valid, inside);
        }
        Hits::Moved(moved)
    }

    /// Returns the data written to the element at this distance from the first, and the condition of the write.
    pub(super) fn get(&mut self, lowering: &mut Lowering<'_>, place: usize) -> (Wiring, Wiring) {
        match self {
            Hits::Moved(moved) => moved[place],
            Hits::Apart { index, complement, mult, sources, known } => {
                let value = place / *mult;
                let hit = match known[value] {
                    Some(hit) => hit,
                    None => *known[value].insert(equals(lowering, *index, *complement, value)),
                };
                (sources[place % *mult], hit)
            }
        }
    }
}

/// Returns a bit that is set if an index has this value.
fn equals(lowering: &mut Lowering<'_>, index: Wiring, complement: Wiring, value: usize) -> Wiring {
    let needed = usize::BITS - value.leading_zeros();
    if needed > index.width() {
        return lowering.code(&BigInt::ZERO, 1);
    }
    if index.width() == 0 {
        return lowering.code(&BigInt::from(1), 1);
    }
    lowering.draft.pool.open();
    for bit in 0..index.width() {
        let one = bit < usize::BITS && value >> bit & 1 == 1;
        lowering.draft.pool.push_slice(if one { index } else { complement }, bit, 1);
    }
    let all = lowering.draft.pool.close();
    lowering.draft.all(all)
}
