//! Candidates for the bits of a value that a signal contains, from sampled inputs; each candidate must be proved.

use super::linear_forms::samples::{LANES, Lanes};
use alir_core::num::Kif;
use rustc_hash::FxHashMap;

/// Largest number of candidates for one signal, and of values for one column.
const KEPT: usize = 6;
/// Largest number of runs of bits in one signal.
const MAX_RUNS: usize = 6;

/// Largest bit position in a comment.
const MAX_PLACE: u32 = 120;

/// Run of bits: first position in the signal, first position in the value, and number of bits.
pub(super) type BitRun = (u32, u32, u32);

/// Returns one bit of a number under all assignments.
fn column(lanes: &Lanes, bit: u32) -> u64 {
    const { assert!(LANES == 64) };
    lanes.iter().enumerate().fold(0, |all, (i, v)| all | ((v >> bit.min(127)) as u64 & 1) << i)
}

fn is_constant(column: u64) -> bool {
    column == 0 || column == u64::MAX
}

/// Map from columns to the bits of values that have this column.
#[derive(Default)]
pub(super) struct Columns(FxHashMap<u64, Vec<(u32, u32)>>);

impl Columns {
    /// Adds the low `width` bits of the value with index `number`.
    pub(super) fn add(&mut self, number: u32, width: u32, lanes: &Lanes) {
        for bit in 0..width.min(120) {
            let key = column(lanes, bit);
            if !is_constant(key) {
                let known = self.0.entry(key).or_default();
                if known.len() < KEPT {
                    known.push((number, bit));
                }
            }
        }
    }

    /// Returns values whose bits a signal of `width` bits may contain: their indices, and the first bit if it is a
    /// single run.
    pub(super) fn guesses(&self, shown: &Lanes, width: u32) -> Vec<(u32, Option<u32>)> {
        // Searches by the bit that the fewest values have.
        let known = |bit| self.0.get(&column(shown, bit)).map(|found| (bit, found));
        let found = (0..width.min(120)).filter_map(known).min_by_key(|(_, found)| found.len());
        let Some((bit, found)) = found else { return Vec::new() };
        found.iter().map(|&(number, from)| (number, from.checked_sub(bit))).collect()
    }
}

/// Returns the smallest number of runs of a value of `whole` bits that give the `width` bits of a signal, in ascending
/// order. Bits above the value are copies of its sign. Returns `None` if there are no such runs.
pub(super) fn runs(shown: &Lanes, width: u32, value: &Lanes, whole: u32) -> Option<Vec<BitRun>> {
    let columns: Vec<u64> = (0..whole + width).map(|bit| column(value, bit)).collect();
    let top = if value.iter().any(|v| *v < 0) { whole.saturating_sub(1) } else { whole };
    let sign = (top, column(value, top));
    let mut out: Vec<BitRun> = Vec::new();
    let mut next = 0u32;
    for at in 0..width {
        let key = column(shown, at);
        // If all remaining bits are copies of the sign, they are matched with the sign, not with a bit of equal
        // samples.
        if columns.get(next as usize) != Some(&key) && (at..width).all(|bit| column(shown, bit) == sign.1) {
            out.push((at, sign.0, width - at));
            break;
        }
        let rest = columns.get(next as usize..)?;
        let skipped = rest.iter().position(|&c| c == key)? as u32;
        let from = next + skipped;
        if skipped == 0
            && let Some(run) = out.last_mut()
        {
            run.2 += 1;
        } else if out.len() == MAX_RUNS {
            return None;
        } else {
            out.push((at, from, 1));
        }
        next = from + 1;
    }
    Some(out)
}

/// Like [`runs`], but the signal's top bit is the sign of the value. If the value is seldom large, samples do not
/// distinguish the sign from the bits below it; optimisation often keeps the sign and drops those bits.
pub(super) fn runs_and_sign(shown: &Lanes, width: u32, value: &Lanes, whole: u32) -> Option<Vec<BitRun>> {
    let (below, top) = (width.checked_sub(1).filter(|&w| w > 0)?, whole.checked_sub(1)?);
    if column(shown, below) != column(value, top) {
        return None;
    }
    let mut out = runs(shown, below, value, top)?;
    out.push((below, top, 1));
    Some(out)
}

/// Returns the zero bits between runs of a value: the first position and the end position of each gap in the value.
pub(super) fn gaps(runs: &[BitRun], value: &Lanes) -> Vec<(u32, u32)> {
    let between = runs.windows(2).map(|w| (w[0].1 + w[0].2, w[1].1));
    between.filter(|&(lo, hi)| lo < hi && (lo..hi).all(|bit| column(value, bit) == 0)).collect()
}

/// Returns the runs of bits of a value of type `of` that a comment states for a signal of `width` bits. Comments of
/// generated files have the form `relu v29, bits 2:0, 3 of u4.-1 [0, 30]`: the type determines the position of the
/// lowest bit in the value, and the bits of the type are listed. Versions before 0.3 write `relu v29, u4.-1 [0, 30],
/// only bits 2:0, 3`. Returns `None` for other comments.
pub(super) fn remarked_runs(remark: &str, of: Kif, width: u32) -> Option<Vec<BitRun>> {
    if remark.starts_with("part of ") {
        return None;
    }
    let (place, before, frac) = remark.match_indices(", ").find_map(|(at, _)| {
        let rest = &remark[at + 2..];
        let part = rest.strip_prefix("bit").and_then(|rest| rest.split_once(" of "));
        let (before, rest) = part.map_or((None, rest), |(list, rest)| (Some(list), rest));
        let word = rest.split([' ', ',']).next()?;
        let digits = word.strip_prefix(['s', 'u'])?;
        let (size, frac) = digits.split_once('.')?;
        size.parse::<u32>().ok()?;
        Some((at + 2, before, frac.parse::<i32>().ok()?))
    })?;
    let lowest = u32::try_from(of.frac.checked_sub(frac)?).ok().filter(|&lowest| lowest < MAX_PLACE)?;
    let only = before.or_else(|| Some(remark[place..].split_once(", only bit")?.1));
    let only = only.map(|list| list.strip_prefix('s').unwrap_or(list));
    let Some(only) = only else { return Some(vec![(0, lowest, width)]) };
    let mut kept: Vec<(u32, u32)> = Vec::new();
    for run in only.split(',') {
        let (high, low) = run.trim().split_once(':').unwrap_or((run.trim(), run.trim()));
        let (low, high) = (low.parse::<u32>().ok()?, high.parse::<u32>().ok()?);
        kept.push((low, high.checked_sub(low).filter(|_| high < MAX_PLACE)? + 1));
    }
    kept.sort_unstable();
    let mut runs: Vec<BitRun> = Vec::new();
    let mut at = 0;
    for (low, count) in kept {
        let from = lowest + low;
        if runs.last().is_some_and(|&(_, before, count)| before + count > from) {
            return None;
        }
        runs.push((at, from, count));
        at += count;
    }
    (at == width).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits_are_found_by_their_columns() {
        let mut rng = alir_core::num::SplitMix::new(6);
        let value: Lanes = std::array::from_fn(|_| i128::from(rng.word() as u16 as i16));
        // Bit 0, bits 2 to 8, bits 12 to 15 with two copies of the sign.
        let shown = value.map(|v| v & 1 | (v >> 2 & 127) << 1 | (v >> 12 & 63) << 8);
        assert_eq!(runs(&shown, 14, &value, 16), Some(vec![(0, 0, 1), (1, 2, 7), (8, 12, 6)]));
        assert_eq!(gaps(&[(0, 0, 1), (1, 2, 7), (8, 12, 6)], &value.map(|v| v & !(7 << 9))), [(9, 12)]);
        let other = shown.map(|v| v ^ 1 << 3);
        assert_eq!(runs(&other, 14, &value, 16), None);
        // A sign is not matched with the bit below it, although all samples are equal.
        let small = value.map(|v| v >> 2);
        let shown = small.map(|v| v & 7 | (v >> 14 & 1) << 3);
        assert_eq!(runs(&shown, 4, &small, 16), Some(vec![(0, 0, 3), (3, 15, 1)]));
        // For a small number the run is found if the top bit is assumed to be the sign.
        let small = value.map(|v| v >> 4);
        let shown = small.map(|v| v & 7 | (v >> 15 & 1) << 3);
        assert_eq!(runs_and_sign(&shown, 4, &small, 16), Some(vec![(0, 0, 3), (3, 15, 1)]));
        assert_eq!(runs_and_sign(&shown.map(|v| v ^ 8), 4, &small, 16), None);
        let mut columns = Columns::default();
        columns.add(5, 16, &value);
        let part = value.map(|v| v >> 3 & 255);
        assert_eq!(columns.guesses(&part, 8), [(5, Some(3))]);
        assert_eq!(columns.guesses(&other.map(|_| 7), 8), []);
    }

    #[test]
    fn remarks_say_which_bits_are_kept() {
        let of = Kif { signed: true, int: 6, frac: 10 };
        let said = |remark: &str, width| remarked_runs(remark, of, width);
        assert_eq!(said("relu v9, s6.-1 [-64, 62], only bits 3:0, 5", 5), Some(vec![(0, 11, 4), (4, 16, 1)]));
        assert_eq!(said("relu v9, bits 3:0, 5 of s6.-1 [-64, 62]", 5), Some(vec![(0, 11, 4), (4, 16, 1)]));
        assert_eq!(said("sum v1 + v2*2^-1, bit 8 of s9.8 [-2, 1]", 1), Some(vec![(0, 10, 1)]));
        assert_eq!(said("add v1 + v2*2^-1, s9.8 [-2, 1], only bit 8", 1), Some(vec![(0, 10, 1)]));
        assert_eq!(said("sub v1 - v2, u7.10 [0, 1]", 7), Some(vec![(0, 0, 7)]));
        let useless = [
            "part of add v1 + v2, s6.4 [0, 1]",
            "bits 4:1 of v9",
            "relu v9, s6.11 [0, 1]",
            "relu v9, s6.-99999999999 [0, 1]",
            "relu v9, s6.-2147483648 [0, 1]",
            "relu v9, s6.4 [0, 1], only bits 3:0, 2",
            "relu v9, s6.4 [0, 1], only bits 0:3",
            "relu v9, s6.4 [0, 1], only bits 4294967295:0",
            "relu v9, s6.4 [0, 1], only bits",
            "relu v9, bits 3:0, 2 of s6.4 [0, 1]",
            "relu v9, bits  of s6.4 [0, 1]",
            ", s6.4, only bits ,:, ",
        ];
        for remark in useless {
            assert_eq!(said(remark, 4), None, "{remark}");
        }
    }
}
