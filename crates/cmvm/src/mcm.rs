//! Multiplication of one input by many constants: a search over adder graphs.
//!
//! The graph grows from 1 by odd numbers `|2^a u ± 2^b v|`. A constant at distance one (one more adder) is appended
//! first; without such a constant, the number that reduces the distance of the most constants to one. This is the
//! heuristic Hcub, with distances up to 2, of Y. Voronenko and M. Püschel, *Multiplierless multiple constant
//! multiplication* (ACM TALG 3, 2007). Ties are broken at random; the search grows many graphs, and keeps the best.

use super::share::mixed;
use rustc_hash::{FxHashMap, FxHashSet};

/// An odd number in the graph, and the adder that computes it: `value = |a * 2^ups[0] ± b * 2^ups[1]| / 2^down`, where
/// `a` and `b` are the operands. Exactly one of the three shifts is not zero; for the number 1, all are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fundamental {
    /// Odd, positive number.
    pub(crate) value: u64,
    /// Indices of the two operands; both 0 for the number 1 itself.
    pub(crate) parts: [usize; 2],
    /// Left shifts of the operands.
    pub(crate) ups: [u32; 2],
    /// `true` if the second operand is subtracted from the first, or, with `turned`, the first from the second.
    pub(crate) subtract: bool,
    /// `true` if the difference was negative.
    pub(crate) turned: bool,
    /// Right shift of the result.
    pub(crate) down: u32,
}

/// Largest supported width of a constant, in bits.
pub(crate) const MOST_BITS: u32 = 40;

/// Depth of a fundamental in the graph.
type Depth = u32;

/// Grows a graph that contains all targets (odd, above 1) with at most `most` adders; `None` if it needs more. The
/// result depends only on the arguments. Adds the number of work steps to `steps`.
pub(crate) fn grow(targets: &[u64], seed: u64, most: usize, steps: &mut u64) -> Option<Vec<Fundamental>> {
    let one = Fundamental { value: 1, parts: [0, 0], ups: [0, 0], subtract: false, turned: false, down: 0 };
    let mut graph = Graph { made: vec![one], depths: vec![0], reach: FxHashMap::default(), bound: 0, bits: 0 };
    let largest = targets.iter().copied().max().unwrap_or(1);
    graph.bits = 66 - largest.leading_zeros();
    graph.bound = 1 << graph.bits;
    graph.extend(0, steps);
    let mut left: Vec<u64> = targets.to_vec();
    let mut turn = 0u64;
    while !left.is_empty() {
        if graph.made.len() + left.len() > most + 1 {
            return None;
        }
        // Targets at distance one.
        let near: Vec<u64> = left.iter().copied().filter(|t| graph.reach.contains_key(t)).collect();
        turn += 1;
        let next = match near.is_empty() {
            false => near[(mixed(seed ^ turn << 20) % near.len() as u64) as usize],
            true => graph.best_successor(&left, seed ^ turn << 20, steps)?,
        };
        graph.take(next, steps);
        left.retain(|&t| t != next);
    }
    Some(graph.made)
}

struct Graph {
    made: Vec<Fundamental>,
    depths: Vec<Depth>,
    /// Values that one more adder can compute, each with its adder.
    reach: FxHashMap<u64, Fundamental>,
    /// Exclusive upper bound of values.
    bound: u64,
    bits: u32,
}

impl Graph {
    fn take(&mut self, value: u64, steps: &mut u64) {
        let fundamental = self.reach[&value];
        let depth = 1 + fundamental.parts.map(|p| self.depths[p]).into_iter().max().unwrap_or(0);
        self.made.push(fundamental);
        self.depths.push(depth);
        self.reach.remove(&value);
        self.extend(self.made.len() - 1, steps);
    }

    /// Adds the values that one adder can compute from fundamental `last` and each earlier one to `reach`.
    fn extend(&mut self, last: usize, steps: &mut u64) {
        for other in 0..=last {
            let (u, v) = (self.made[last].value, self.made[other].value);
            *steps += u64::from(4 * self.bits);
            for up in 0..self.bits {
                let ways = if up == 0 { &[[0, 0]][..] } else { &[[up, 0], [0, up]][..] };
                for &ups in ways {
                    let (x, y) = (u << ups[0].min(63), v << ups[1].min(63));
                    if x >= self.bound || y >= self.bound {
                        continue;
                    }
                    for subtract in [false, true] {
                        let sum = if subtract { x.abs_diff(y) } else { x + y };
                        if sum == 0 {
                            continue;
                        }
                        let down = sum.trailing_zeros();
                        let value = sum >> down;
                        if value >= self.bound || value == 1 || self.made.iter().any(|f| f.value == value) {
                            continue;
                        }
                        let turned = subtract && x < y;
                        let way = Fundamental { value, parts: [last, other], ups, subtract, turned, down };
                        self.reach.entry(value).or_insert(way);
                    }
                }
            }
        }
    }

    /// Returns the successor that reduces the distance of the most targets to one; if no successor does, the successor
    /// after which the fewest digits remain.
    fn best_successor(&self, left: &[u64], seed: u64, steps: &mut u64) -> Option<u64> {
        let mut gains: FxHashMap<u64, u32> = FxHashMap::default();
        for &target in left {
            let mut seen: FxHashSet<u64> = FxHashSet::default();
            let mut note = |value: u64| {
                let odd = value >> value.trailing_zeros();
                if value != 0 && odd != target && self.reach.contains_key(&odd) && seen.insert(odd) {
                    *gains.entry(odd).or_insert(0) += 1;
                }
            };
            *steps += u64::from(self.bits) * self.made.len() as u64 * 6;
            for f in &self.made {
                for up in 0..self.bits {
                    let r = f.value << up.min(63);
                    if r < 2 * self.bound {
                        note(r.abs_diff(target));
                        note(r + target);
                    }
                    let t = target << up.min(63);
                    if t < 2 * self.bound {
                        note(t.abs_diff(f.value));
                        note(t + f.value);
                    }
                }
            }
            for up in 1..self.bits {
                for factor in [(1u64 << up) + 1, (1 << up) - 1] {
                    if factor > 1 && target.is_multiple_of(factor) {
                        note(target / factor);
                    }
                }
            }
        }
        if !gains.is_empty() {
            // Every fifth seed accepts other successors than the best one, so that restarts differ.
            let loose = u32::from(mixed(seed).is_multiple_of(5));
            let most = gains.values().copied().max().unwrap_or(0).saturating_sub(loose).max(1);
            return gains.into_iter().filter(|g| g.1 >= most).map(|(v, _)| (mixed(v ^ seed), v)).min().map(|(_, v)| v);
        }
        // No target is near: selects the successor with which some target has the fewest remaining digits.
        let digits = |v: u64| (v ^ (3 * v)).count_ones();
        *steps += 8 * (self.reach.len() * left.len()) as u64;
        let far = |value: u64| -> u32 {
            let nearest = |t: u64| {
                let ups =
                    (0..8).flat_map(|up| [(value << up).abs_diff(t), (value << up) + t, (t << up).abs_diff(value)]);
                ups.map(digits).min().unwrap_or(u32::MAX)
            };
            left.iter().map(|&t| nearest(t)).min().unwrap_or(u32::MAX)
        };
        self.reach.keys().map(|&v| (far(v), mixed(v ^ seed), v)).min().map(|(_, _, v)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fundamental_equals_its_expression() {
        let targets = [139, 283, 815, 2047, 19];
        for seed in 0..20 {
            let mut steps = 0;
            let graph = grow(&targets, seed, 40, &mut steps).unwrap();
            for (n, f) in graph.iter().enumerate().skip(1) {
                assert!(f.parts.iter().all(|&p| p < n));
                let [x, y] = [0, 1].map(|k| graph[f.parts[k]].value << f.ups[k]);
                let sum = if f.subtract { x.abs_diff(y) } else { x + y };
                assert_eq!((sum >> f.down, f.turned), (f.value, f.subtract && x < y));
            }
            assert!(targets.iter().all(|t| graph.iter().any(|f| f.value == *t)));
            assert!(steps > 0);
        }
    }
}
