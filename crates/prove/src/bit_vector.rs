//! Arithmetic on words of literals, low bits first, such that equal arithmetic gives equal gates.
//!
//! Adders are ripple-carry adders from the low end, so that a narrower sum of the same operands is a prefix of a wider
//! one. Products take their operands without redundant sign bits and in a fixed order. Every adder is recorded: `out =
//! a + b + carry` modulo its width. From these records [`super::affine`] proves sums equal that were associated
//! differently.

use super::aig::{Aig, Lit};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// Recorded adder: `out = a + b + carry`, modulo `2^width` or exactly.
#[derive(Clone, Debug)]
pub struct Adder {
    /// Result bits.
    pub out: Vec<Lit>,
    /// First operand, as wide as the result.
    pub a: Vec<Lit>,
    /// Second operand, as wide as the result.
    pub b: Vec<Lit>,
    /// Carry in.
    pub carry: Lit,
    /// `true` if the equation holds for the words read as two's complement, without modulus.
    pub exact: bool,
}

/// And-inverter graph with arithmetic on words.
#[derive(Default)]
pub struct Words {
    /// Graph of all gates.
    pub aig: Aig,
    adders: Vec<Adder>,
    /// For each node that is a result bit of an adder: the adder and the bit position.
    adder_of: FxHashMap<u32, (u32, u32)>,
}

/// Returns the bit that extends a word upwards.
pub fn extension(x: &[Lit], signed: bool) -> Lit {
    if signed { x.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE }
}

/// Returns the low `width` bits of a number.
pub fn constant(value: &BigUint, width: u32) -> Vec<Lit> {
    (0..u64::from(width)).map(|i| Lit::constant(value.bit(i))).collect()
}

/// Returns `x` truncated or extended to `width` bits.
pub fn resize(x: &[Lit], signed: bool, width: usize) -> Vec<Lit> {
    let fill = extension(x, signed);
    (0..width).map(|i| x.get(i).copied().unwrap_or(fill)).collect()
}

/// Returns a two's complement word without redundant copies of its sign.
fn trimmed(x: &[Lit]) -> &[Lit] {
    let mut len = x.len();
    while len >= 2 && x[len - 1] == x[len - 2] {
        len -= 1;
    }
    if len == 1 && x[0] == Lit::FALSE { &[] } else { &x[..len] }
}

impl Words {
    /// Returns an empty graph.
    pub fn new() -> Words {
        Words { aig: Aig::new(), ..Words::default() }
    }

    /// Returns a word of new inputs that share a name.
    pub fn free(&mut self, name: &str, width: u32) -> Vec<Lit> {
        (0..width).map(|_| self.aig.input(name)).collect()
    }

    /// Returns the adder that computes a node, and the position of the result bit; `None` for other nodes.
    pub fn adder_of(&self, node: u32) -> Option<(&Adder, usize)> {
        self.adder_of.get(&node).map(|&(adder, bit)| (&self.adders[adder as usize], bit as usize))
    }

    /// Builds `a + b + carry` modulo `2^width`, for operands of that width. `exact` asserts that the sum does not
    /// overflow in two's complement.
    pub fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit, exact: bool) -> Vec<Lit> {
        assert_eq!(a.len(), b.len(), "operands of one width");
        let g = &mut self.aig;
        let mut c = carry;
        let mut out = Vec::with_capacity(a.len());
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let half = g.xor(x, y);
            out.push(g.xor(half, c));
            if i + 1 < a.len() {
                let (both, through) = (g.and(x, y), g.and(half, c));
                c = g.or(both, through);
            }
        }
        self.remember(&out, a, b, carry, exact);
        out
    }

    fn remember(&mut self, out: &[Lit], a: &[Lit], b: &[Lit], carry: Lit, exact: bool) {
        let spare = |x: &[Lit]| x.len() >= 2 && x[x.len() - 1] == x[x.len() - 2];
        // Two operands with an unused sign bit each cannot overflow.
        let exact = exact || (spare(a) && spare(b));
        let index = self.adders.len() as u32;
        let mut new = false;
        for (bit, lit) in out.iter().enumerate() {
            // Constant bits and bits of an operand give no information.
            if lit.node() == 0 || lit.node() == a[bit].node() || lit.node() == b[bit].node() {
                continue;
            }
            let better = match self.adder_of.get(&lit.node()) {
                None => true,
                // If a node occurs twice in one result, its lower position is recorded.
                Some(&(known, _)) if known == index => false,
                Some(&(known, at)) => {
                    let old = &self.adders[known as usize];
                    at as usize == bit && !old.exact && (exact || old.out.len() < out.len())
                }
            };
            if better {
                self.adder_of.insert(lit.node(), (index, bit as u32));
                new = true;
            }
        }
        if new {
            self.adders.push(Adder { out: out.to_vec(), a: a.to_vec(), b: b.to_vec(), carry, exact });
        }
    }

    /// Builds `a - b` modulo `2^width`, for operands of that width.
    pub fn sub(&mut self, a: &[Lit], b: &[Lit], exact: bool) -> Vec<Lit> {
        let inverted: Vec<Lit> = b.iter().map(|&l| !l).collect();
        self.add(a, &inverted, Lit::TRUE, exact)
    }

    /// Builds `-a` modulo `2^width`.
    pub fn neg(&mut self, a: &[Lit]) -> Vec<Lit> {
        let zero = vec![Lit::FALSE; a.len()];
        self.sub(&zero, a, false)
    }

    /// Builds the low `width` bits of the product of two words, each signed or unsigned.
    pub fn mul(&mut self, a: (&[Lit], bool), b: (&[Lit], bool), width: usize) -> Vec<Lit> {
        let as_signed = |(x, signed): (&[Lit], bool)| {
            let wide = resize(x, signed, x.len() + 1);
            let mut kept = trimmed(&wide).to_vec();
            // Bits above the result are irrelevant, and so a truncated operand needs no row for the sign.
            if kept.len() > width {
                kept.truncate(width);
                return (kept, false);
            }
            if kept.last() == Some(&Lit::FALSE) {
                kept.pop();
                return (kept, false);
            }
            (kept, true)
        };
        let (a, b) = (as_signed(a), as_signed(b));
        let signed_square = (a == b && a.1 && !a.0.is_empty()).then_some(a.0.len());
        // A fixed order of the operands; the shorter one selects the rows.
        let ((rows, rows_signed), (x, x_signed)) = if (a.0.len(), &a.0) <= (b.0.len(), &b.0) { (a, b) } else { (b, a) };
        let x = resize(&x, x_signed, width);
        let mut sum = vec![Lit::FALSE; width];
        for (j, &select) in rows.iter().enumerate() {
            let row: Vec<Lit> = x[..width - j].iter().map(|&l| self.aig.and(l, select)).collect();
            let high = if rows_signed && j + 1 == rows.len() {
                self.sub(&sum[j..], &row, false)
            } else {
                self.add(&sum[j..], &row, Lit::FALSE, false)
            };
            sum[j..].copy_from_slice(&high);
        }
        // The square of -2^(n-1), the greatest, sets bit 2n - 2; the last row does not show that those above are clear.
        if let Some(n) = signed_square {
            sum.iter_mut().skip(2 * n - 1).for_each(|bit| *bit = Lit::FALSE);
        }
        sum
    }

    /// Builds `if sel { yes } else { no }` for words of the same width.
    pub fn mux(&mut self, sel: Lit, yes: &[Lit], no: &[Lit]) -> Vec<Lit> {
        yes.iter().zip(no).map(|(&y, &n)| self.aig.mux(sel, y, n)).collect()
    }

    /// Returns a literal that is 1 if every bit is set; 1 for no bits.
    pub fn all(&mut self, x: &[Lit]) -> Lit {
        x.iter().fold(Lit::TRUE, |acc, &l| self.aig.and(acc, l))
    }

    /// Returns a literal that is 1 if any bit is set.
    pub fn any(&mut self, x: &[Lit]) -> Lit {
        x.iter().fold(Lit::FALSE, |acc, &l| self.aig.or(acc, l))
    }

    /// Returns a literal that is 1 if the number of set bits is odd.
    pub fn parity(&mut self, x: &[Lit]) -> Lit {
        x.iter().fold(Lit::FALSE, |acc, &l| self.aig.xor(acc, l))
    }

    /// Returns a literal that is 1 if two words of one width are equal.
    pub fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let differ: Vec<Lit> = a.iter().zip(b).map(|(&x, &y)| self.aig.xor(x, y)).collect();
        !self.any(&differ)
    }

    /// Returns a literal that is 1 if `a < b`, for words of one width, both signed or both unsigned.
    pub fn less(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let mut below = Lit::FALSE;
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let (x, y) = if signed && i + 1 == a.len() { (y, x) } else { (x, y) };
            let differ = self.aig.xor(x, y);
            below = self.aig.mux(differ, y, below);
        }
        below
    }

    /// Builds `x` shifted by a distance given as a word: left (towards high bits) or right, filled with `fill`.
    pub fn shift(&mut self, x: &[Lit], by: &[Lit], left: bool, fill: Lit) -> Vec<Lit> {
        let mut word = x.to_vec();
        for (k, &sel) in by.iter().enumerate() {
            let step = 1usize.checked_shl(k as u32).filter(|&s| k < 40 && s < x.len());
            let moved: Vec<Lit> = (0..x.len())
                .map(|i| {
                    let from = step.and_then(|s| if left { i.checked_sub(s) } else { i.checked_add(s) });
                    from.and_then(|f| word.get(f)).copied().unwrap_or(fill)
                })
                .collect();
            word = self.mux(sel, &moved, &word);
        }
        word
    }

    /// Builds quotient and remainder of unsigned words of the same width; division by zero gives all ones and the
    /// dividend.
    pub fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let width = a.len();
        let divisor = resize(b, false, width + 1);
        let mut rest = vec![Lit::FALSE; width + 1];
        let mut quotient = vec![Lit::FALSE; width];
        for i in (0..width).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let less = self.less(&rest, &divisor, false);
            let reduced = self.sub(&rest, &divisor, false);
            rest = self.mux(less, &rest, &reduced);
            quotient[i] = !less;
        }
        rest.truncate(width);
        (quotient, rest)
    }

    /// Builds entry `addr` of a table of `2^addr.len()` entries of `width` bits; `bit(entry, i)` is bit `i` of an
    /// entry. The address bits select from low to high, so that equal functions of equal addresses are equal literals.
    pub fn table(&mut self, addr: &[Lit], width: usize, bit: impl Fn(usize, usize) -> bool) -> Vec<Lit> {
        let mut out = Vec::with_capacity(width);
        let mut level = Vec::new();
        for i in 0..width {
            level.clear();
            level.extend((0..1usize << addr.len()).map(|entry| Lit::constant(bit(entry, i))));
            let mut len = level.len();
            for &select in addr {
                len /= 2;
                for k in 0..len {
                    level[k] = self.aig.mux(select, level[2 * k + 1], level[2 * k]);
                }
            }
            out.push(level[0]);
        }
        out
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::aig::{Gate, Simulation, VARIABLES};

    /// Adds `n` input bits.
    pub(crate) fn inputs(w: &mut Words, n: usize) -> Vec<Lit> {
        (0..n).map(|i| w.aig.input(format!("x[{i}]"))).collect()
    }

    /// Returns the unsigned value of `word` for each of the first 64 assignments of at most 6 inputs; input 0 is the
    /// lowest bit.
    pub(crate) fn truth(w: &Words, word: &[Lit]) -> Vec<u64> {
        let mut sim = Simulation::<1>::default();
        sim.extend(&w.aig, |gate| match gate {
            Gate::Input(n) => [VARIABLES[n as usize]],
            _ => [0],
        });
        (0..64).map(|t| word.iter().enumerate().map(|(i, &l)| (sim.value(l)[0] >> t & 1) << i).sum()).collect()
    }

    fn sext(v: u64, bits: u32) -> i64 {
        (v as i64) << (64 - bits) >> (64 - bits)
    }

    #[test]
    fn arithmetic_is_that_of_integers() {
        let mut w = Words::new();
        let x = inputs(&mut w, 6);
        let (a, b) = (&x[..3], &x[3..]);
        let (sa, sb) = (resize(a, true, 7), resize(b, true, 7));
        let sum = w.add(&sa, &sb, Lit::FALSE, true);
        let diff = w.sub(&sa, &sb, true);
        let product = w.mul((a, true), (b, true), 6);
        let mixed = w.mul((a, true), (b, false), 6);
        let plain = w.mul((a, false), (b, false), 4);
        let square = w.mul((a, true), (&sa, true), 7);
        assert_eq!(square[5..], [Lit::FALSE; 2]);
        let less = [w.less(a, b, true), w.less(a, b, false), w.equal(a, b)];
        let (quotient, rest) = w.divide(a, b);
        let left = w.shift(&resize(a, false, 7), b, true, Lit::FALSE);
        let right = w.shift(a, b, false, a[2]);
        let table = w.table(&x, 6, |entry, bit| (entry * entry) >> bit & 1 == 1);
        let words =
            [&sum, &diff, &product, &mixed, &plain, &square, &less.to_vec(), &quotient, &rest, &left, &right, &table];
        let seen = words.map(|word| truth(&w, word));
        for t in 0..64u64 {
            let (ua, ub) = (t & 7, t >> 3);
            let (ia, ib) = (sext(ua, 3), sext(ub, 3));
            let expected = [
                (ia + ib) as u64 & 127,
                (ia - ib) as u64 & 127,
                (ia * ib) as u64 & 63,
                (ia * ub as i64) as u64 & 63,
                (ua * ub) & 15,
                (ia * ia) as u64,
                u64::from(ia < ib) | u64::from(ua < ub) << 1 | u64::from(ua == ub) << 2,
                ua.checked_div(ub).unwrap_or(7),
                ua.checked_rem(ub).unwrap_or(ua),
                (ua << ub) & 127,
                (ia >> ub) as u64 & 7,
                (t * t) & 63,
            ];
            for (i, want) in expected.into_iter().enumerate() {
                assert_eq!(seen[i][t as usize], want, "result {i} of {ua} and {ub}");
            }
        }
    }

    #[test]
    fn products_of_equal_operands_are_equal_literals() {
        let mut w = Words::new();
        let x = inputs(&mut w, 6);
        let (a, b) = (&x[..3], &x[3..]);
        let direct = w.mul((a, true), (b, false), 6);
        let wide = w.mul((&resize(b, false, 9), true), (&resize(a, true, 8), true), 6);
        assert_eq!(direct, wide);
        assert_eq!(w.mul((a, true), (b, false), 3), direct[..3]);
        assert_eq!(w.mul((&[], true), (&[], true), 2), [Lit::FALSE; 2]);
    }
}
