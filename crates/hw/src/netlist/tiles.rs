//! Multiplication in the DSPs of a device: a product of factors that are too wide for a DSP is a sum of partial
//! products that each fit one DSP.
//!
//! A DSP multiplies two's complement numbers, so the lower parts of a factor, which are unsigned, have one bit less
//! (AMD UG579, "Wide multiply"). Each partial product is a separate cell, so a DSP can absorb a register after the
//! product.

use super::arith::Fixed;
use super::builder::Draft;
use super::options::Fabric;

/// Returns the widths of a factor's parts, lowest first, for a DSP whose factor has `block` bits.
fn parts(width: u32, signed: bool, block: u32) -> Vec<u32> {
    let last = if signed { block } else { block - 1 };
    let (mut left, mut parts) = (width, Vec::new());
    while left > last {
        parts.push(block - 1);
        left -= block - 1;
    }
    parts.push(left);
    parts
}

impl Draft {
    /// Returns `a * b * 2^at`, correct at all positions below `top`, as a sum of partial products. `block` is the
    /// widths of a DSP's factors, the longer first. Returns `None` if one DSP is enough. Both factors must have
    /// position 0.
    pub(super) fn tiles(&mut self, a: Fixed, b: Fixed, at: i64, top: i64, block: (u32, u32)) -> Option<Fixed> {
        let split = |longer: Fixed, shorter: Fixed| {
            let of = |x: Fixed, bits| parts(x.bits.width, x.signed, bits);
            (of(longer, block.0), of(shorter, block.1))
        };
        let (one, other) = (split(a, b), split(b, a));
        let number = |(x, y): &(Vec<u32>, Vec<u32>)| x.len() * y.len();
        let (a, b, parts) = if number(&other) < number(&one) { (b, a, other) } else { (a, b, one) };
        if number(&parts) == 1 {
            return None;
        }
        let mut total = Fixed::ZERO;
        let mut low_a = 0;
        for &width_a in &parts.0 {
            let part_a = self.part(a, low_a, width_a);
            low_a += width_a;
            let mut low_b = 0;
            for &width_b in &parts.1 {
                let part_b = self.part(b, low_b, width_b);
                low_b += width_b;
                let shifted = Fixed { at: part_b.at + at, ..part_b };
                let tile = self.product(part_a, shifted, top, Fabric::default());
                total = self.sum(total, tile, false, top);
            }
        }
        Some(total)
    }

    /// Returns bits of a number; signed if the number is signed and the bits include its highest bit.
    fn part(&mut self, x: Fixed, low: u32, width: u32) -> Fixed {
        let bits = self.pool.slice(x.bits, low, width);
        Fixed { bits, at: x.at + i64::from(low), signed: x.signed && low + width == x.bits.width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fill_blocks_of_two_s_complement() {
        assert_eq!(parts(18, true, 18), [18]);
        assert_eq!(parts(18, false, 18), [17, 1]);
        assert_eq!(parts(36, true, 18), [17, 17, 2]);
        assert_eq!(parts(35, true, 18), [17, 18]);
        assert_eq!(parts(1, false, 18), [1]);
    }
}
