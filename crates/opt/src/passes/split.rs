//! Pass `split`: replaces a large table by a coarse table, a table of differences, and their sum.
//!
//! For a smooth function, `t[x] = coarse[x >> k] * 2^s + fine[x]` with few and small values in `fine`: both tables
//! together take fewer LUTs than the original table. S.-F. Hsiao, C.-S. Wen, Y.-H. Chen, K.-C. Huang, *Hierarchical
//! multipartite function evaluation*, IEEE Trans. Computers 66 (2017); M. Christ, L. Forget, F. de Dinechin, *Lossless
//! differential table compression for hardware function evaluation*, IEEE TCAS-II 69 (2022). The result is exact:
//! `fine` contains the remaining differences. Among all `k` and `s`, the pass tries the few with the smallest tables,
//! estimates their cost in six-input LUTs ([`luts`]), and keeps the original table unless a tenth of its LUTs is saved.
//! Running the pass again splits the new tables once more.
//!
//! The two lookups and the sum together have the delay of the original lookup.

use super::facts::Known;
use super::rewrite::{Rewrite, rebuild};
use super::tables::Reached;
use alir_core::ir::{Model, Op, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// Largest width in bits of an operand that is considered; larger tables belong into BRAM.
const MOST_BITS: u32 = 14;
/// Largest absolute number of fractional bits; beyond it, those of the coarse table might exceed the limits of a
/// program.
const MOST_FRACTIONALS: u32 = 128;
/// Largest magnitude of an entry, so that differences fit 32 bits.
const LARGEST: i32 = 1 << 29;
/// Maximum number of splits of a table that are evaluated: the work for a table is this many times its words.
const MOST_TRIED: usize = 6;
/// Fraction of a lookup's delay for its two lookups; the sum has the rest.
const LOOKUP_SHARE: f64 = 0.5;

/// Splits every table whose LUTs decrease by it; returns `None` if nothing changes.
pub(super) fn run(model: &Model, known: &mut Known) -> Option<Model> {
    let facts = known.whole(model);
    let mut splits: FxHashMap<(i128, Vec<i32>), Option<Split>> = FxHashMap::default();
    let mut pool: FxHashMap<(Vec<i32>, i32), TableId> = FxHashMap::default();
    rebuild(model, |rw, id| {
        let Op::Lookup { x, table, base } = &model.node(id).op else { return rw.keep(id) };
        if !fits(model, id, *x) {
            return rw.keep(id);
        }
        let Some(reached) = Reached::new(model, facts, *x, *table, base) else { return rw.keep(id) };
        let key = (reached.first, reached.values.clone());
        let split = splits.entry(key).or_insert_with(|| Split::best(&reached).1);
        let Some(split) = split else { return rw.keep(id) };
        let origin = Origin { model, id, x: *x, table: *table, first: reached.first };
        origin.apply(rw, &mut pool, split)
    })
}

/// Returns `true` if a lookup of `x` is worth splitting, and its replacement is within the limits of a program.
pub(super) fn fits(model: &Model, lookup: ValueId, x: ValueId) -> bool {
    let fractionals = [model.kif(x).frac, model.node(lookup).interval.frac];
    (7..=MOST_BITS).contains(&model.kif(x).width()) && fractionals.iter().all(|f| f.unsigned_abs() <= MOST_FRACTIONALS)
}

/// Returns the number of LUTs of a table, whole or split, whichever is less.
pub(super) fn cheapest(reached: &Reached) -> u32 {
    Split::best(reached).0
}

/// The two tables that replace one table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Split {
    /// Number of low bits of the operand that the coarse table does not read.
    low_bits: u32,
    /// Power of two by which the coarse table's entries are multiplied.
    shift: u32,
    /// Entries for `x >> low_bits`, from the first reachable one.
    coarse: Vec<i32>,
    /// Entries for `x`, from the first reachable one.
    fine: Vec<i32>,
}

impl Split {
    /// Returns the number of LUTs of the table, and the cheapest split if it saves a tenth of them.
    fn best(reached: &Reached) -> (u32, Option<Split>) {
        let (lo, hi) = ends(&reached.values);
        if lo < -LARGEST || hi > LARGEST {
            return (u32::MAX, None);
        }
        let mut groups = vec![Groups::new(reached)];
        let mut ways = Vec::new();
        for low_bits in 1..MOST_BITS {
            if reached.values.len() < 3 << low_bits {
                break;
            }
            let halved = groups[low_bits as usize - 1].halved();
            halved.promising(reached, bits(lo, hi), low_bits, &mut ways);
            groups.push(halved);
        }
        ways.sort_unstable();
        let whole = luts(reached.first, &reached.values, u32::MAX);
        let mut best = (whole - whole / 10, None);
        for &(_, low_bits, shift) in ways.iter().take(MOST_TRIED) {
            let split = Split::new(reached, low_bits, shift, &groups[low_bits as usize].minima);
            // Adds the sum, then the tables, until the cost exceeds that of the cheapest split so far.
            let mut cost = bits(lo, hi) - shift;
            cost += luts(reached.first >> low_bits, &split.coarse, best.0.saturating_sub(cost));
            cost += luts(reached.first, &split.fine, best.0.saturating_sub(cost));
            if cost < best.0 {
                best = (cost, Some(split));
            }
        }
        if best.1.is_some() { best } else { (whole, None) }
    }

    fn new(reached: &Reached, low_bits: u32, shift: u32, smallest: &[i32]) -> Split {
        let coarse: Vec<i32> = smallest.iter().map(|&v| v >> shift).collect();
        let first = reached.first >> low_bits;
        let fine = |(i, &v): (usize, &i32)| {
            let group = ((reached.first + i as i128) >> low_bits) - first;
            v - (coarse[group as usize] << shift)
        };
        let fine = reached.values.iter().enumerate().map(fine).collect();
        Split { low_bits, shift, coarse, fine }
    }
}

/// Ranges of the values of operands that differ only in their low bits.
struct Groups {
    /// Operand of the first group, without its low bits.
    first: i128,
    /// Smallest value of each group.
    minima: Vec<i32>,
    /// Largest value of each group.
    maxima: Vec<i32>,
}

impl Groups {
    /// Returns one group for each operand value.
    fn new(reached: &Reached) -> Groups {
        Groups { first: reached.first, minima: reached.values.clone(), maxima: reached.values.clone() }
    }

    /// Returns the groups for one more low bit.
    fn halved(&self) -> Groups {
        let pairs = |all: &[i32], pick: fn(i32, i32) -> i32| {
            let (alone, rest) = all.split_at((self.first & 1) as usize);
            let pairs = rest.chunks(2).map(|pair| pair.iter().copied().reduce(pick).expect("one or two"));
            alone.iter().copied().chain(pairs).collect()
        };
        Groups { first: self.first >> 1, minima: pairs(&self.minima, i32::min), maxima: pairs(&self.maxima, i32::max) }
    }

    /// Appends the possible splits at this bit, with their cost if no functions are shared.
    fn promising(&self, reached: &Reached, width: u32, low_bits: u32, ways: &mut Vec<(u32, u32, u32)>) {
        let address = usize::BITS - (reached.values.len() - 1).leading_zeros();
        let luts = |address: u32| 1u32 << address.saturating_sub(6);
        for shift in 0..width {
            let rest = |(&lo, &hi): (&i32, &i32)| hi - (lo >> shift << shift);
            let fine_bits = bits(0, self.minima.iter().zip(&self.maxima).map(rest).max().unwrap_or(0));
            // Otherwise both tables would contain the same columns.
            if fine_bits > shift {
                let coarse = (width - shift) * luts(address - low_bits);
                ways.push((coarse + fine_bits * luts(address) + width - shift, low_bits, shift));
            }
        }
    }
}

/// Returns the least and the greatest value, including zero.
pub(super) fn ends(values: &[i32]) -> (i32, i32) {
    values.iter().fold((0, 0), |(lo, hi), &v| (v.min(lo), v.max(hi)))
}

/// Returns the number of bits for numbers between `lo <= 0` and `hi >= 0`, with a sign bit if `lo` is negative.
pub(super) fn bits(lo: i32, hi: i32) -> u32 {
    let magnitude = 32 - (hi | !lo & -i32::from(lo < 0)).leading_zeros();
    magnitude + u32::from(lo < 0)
}

/// Returns an estimate of the number of six-input LUTs of a table whose first value is for operand `first`. Each output
/// bit is a tree of multiplexers over functions of the six low address bits; equal and complementary parts of all trees
/// are shared (as in a binary decision diagram: R. E. Bryant, IEEE Trans. Computers C-35, 1986). Operands without a
/// value read zero. Counting stops soon after `limit`.
pub(super) fn luts(first: i128, values: &[i32], limit: u32) -> u32 {
    let last = first + values.len() as i128 - 1;
    let magnitude = |v: i128| 128 - (if v < 0 { !v } else { v }).leading_zeros();
    let address = (magnitude(first).max(magnitude(last)) + u32::from(first < 0)).max(6);
    let words = 1usize << (address - 6);
    let (lo, hi) = ends(values);
    let mut by_pattern = vec![0u32; words * 64];
    for (i, &v) in values.iter().enumerate() {
        let pattern = (first + i as i128) as u64 & ((1u64 << address) - 1);
        by_pattern[pattern as usize] = v as u32;
    }
    let mut nodes = Nodes::default();
    for bit in 0..bits(lo, hi) {
        if nodes.made >= limit {
            break;
        }
        let column = |chunk: &[u32]| (0u32..).zip(chunk).fold(0, |word, (i, v)| word | u64::from(v >> bit & 1) << i);
        let leaves: Vec<u32> = by_pattern.chunks(64).map(|chunk| nodes.leaf(column(chunk))).collect();
        nodes.tree(leaves);
    }
    nodes.made
}

/// Functions that are already counted. A reference is an index times two, plus one if the function is complemented.
#[derive(Default)]
struct Nodes {
    leaves: FxHashMap<u64, u32>,
    muxes: FxHashMap<[u32; 4], u32>,
    next: u32,
    made: u32,
}

/// Truth tables of the six address bits.
const VARIABLES: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

impl Nodes {
    fn leaf(&mut self, word: u64) -> u32 {
        let turned = word & 1 == 1;
        let word = if turned { !word } else { word };
        let (next, made) = (&mut self.next, &mut self.made);
        let index = *self.leaves.entry(word).or_insert_with(|| {
            // Constants and address bits need no LUT.
            *made += u32::from(word != 0 && !VARIABLES.contains(&word));
            *next += 1;
            *next - 1
        });
        2 * index + u32::from(turned)
    }

    /// Counts the multiplexers over parts in the order of the higher address bits: four to one, while there are four
    /// parts.
    fn tree(&mut self, mut parts: Vec<u32>) {
        while parts.len() > 1 {
            let at_once = parts.len().min(4);
            parts = parts.chunks(at_once).map(|group| self.mux(group)).collect();
        }
    }

    fn mux(&mut self, group: &[u32]) -> u32 {
        if group.iter().all(|&part| part == group[0]) {
            return group[0];
        }
        let turned = group[0] & 1;
        let mut key = [u32::MAX; 4];
        for (slot, &part) in key.iter_mut().zip(group) {
            *slot = part ^ turned;
        }
        let (next, made) = (&mut self.next, &mut self.made);
        let index = *self.muxes.entry(key).or_insert_with(|| {
            *made += 1;
            *next += 1;
            *next - 1
        });
        2 * index + turned
    }
}

/// A lookup to be split.
struct Origin<'a> {
    model: &'a Model,
    id: ValueId,
    x: ValueId,
    table: TableId,
    first: i128,
}

impl Origin<'_> {
    fn apply(&self, rw: &mut Rewrite<'_>, pool: &mut FxHashMap<(Vec<i32>, i32), TableId>, split: &Split) -> ValueId {
        let node = self.model.node(self.id);
        let x = rw.typed(self.x);
        let first = self.first >> split.low_bits;
        let last = first + split.coarse.len() as i128 - 1;
        let step = self.model.kif(self.x).frac - split.low_bits as i32;
        let high = Interval::new(BigInt::from(first), BigInt::from(last), step);
        let high = rw.push(Op::Quantise { x, shift: 0 }, high, 0.0, 0.0, node.origin);
        let frac = node.interval.frac;
        let coarse = self.lookup(rw, pool, high, first, &split.coarse, frac - split.shift as i32);
        let fine = self.lookup(rw, pool, x, self.first, &split.fine, frac);
        let delay = self.model.own_delay(self.id) * (1.0 - LOOKUP_SHARE);
        rw.push(Op::Add { a: coarse, b: fine, shift: 0 }, node.interval.clone(), delay, 0.0, node.origin)
    }

    fn lookup(
        &self,
        rw: &mut Rewrite<'_>,
        pool: &mut FxHashMap<(Vec<i32>, i32), TableId>,
        x: ValueId,
        first: i128,
        values: &[i32],
        frac: i32,
    ) -> ValueId {
        let (node, old) = (self.model.node(self.id), self.model.table(self.table));
        let (lo, hi) = ends(values);
        let out = Interval::new(i64::from(lo), i64::from(hi), frac);
        let table =
            Table { entries: values.to_vec(), out: out.clone(), hash: old.hash.clone(), inp_width: old.inp_width };
        let table = *pool.entry((values.to_vec(), frac)).or_insert_with(|| rw.table(table));
        let delay = self.model.own_delay(self.id) * LOOKUP_SHARE;
        rw.push(Op::Lookup { x, table, base: Code::from(BigInt::from(first)) }, out, delay, node.cost, node.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_functions_are_counted_right() {
        assert_eq!(luts(0, &(0..64).collect::<Vec<_>>(), u32::MAX), 0, "wires");
        assert_eq!(luts(-32, &(-32..32).collect::<Vec<_>>(), u32::MAX), 0, "wires");
        assert_eq!(luts(0, &[0, 1, 1, 0], u32::MAX), 1);
        // Bit 0 takes one LUT, and bit 1 is its complement.
        let opposite: Vec<i32> = (0..64u32).map(|i| 1 + (i.count_ones() % 2) as i32).collect();
        assert_eq!(luts(0, &opposite, u32::MAX), 1);
        // Parity of eight bits: two complementary parts, and a multiplexer.
        let parity: Vec<i32> = (0..256u32).map(|i| (i.count_ones() % 2) as i32).collect();
        assert_eq!(luts(0, &parity, u32::MAX), 2);
    }

    #[test]
    fn a_smooth_table_is_split_and_both_parts_give_it_back() {
        let values: Vec<i32> =
            (-1024i32..1024).map(|x| ((f64::from(x) / 300.0).tanh() * 511.0).round() as i32).collect();
        let reached = Reached { first: -1024, values };
        let split = Split::best(&reached).1.expect("smooth");
        for (i, &v) in reached.values.iter().enumerate() {
            let group = ((i as i128 - 1024) >> split.low_bits) - (-1024 >> split.low_bits);
            assert_eq!((split.coarse[group as usize] << split.shift) + split.fine[i], v);
        }
        let parts = luts(-1024 >> split.low_bits, &split.coarse, u32::MAX) + luts(-1024, &split.fine, u32::MAX);
        assert!(10 * parts < 8 * luts(-1024, &reached.values, u32::MAX));
    }

    #[test]
    fn a_rough_table_stays_whole() {
        let mut rng = alir_core::num::SplitMix::new(1);
        let values = (0..512).map(|_| rng.below(256) as i32).collect();
        assert_eq!(Split::best(&Reached { first: 0, values }).1, None);
    }
}
