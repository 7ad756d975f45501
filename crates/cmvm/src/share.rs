//! Sharing of two-term sums, greedily by weight.
//!
//! The rows are sums of signed, shifted digits of values. A *pattern* is two digits at a fixed distance. One shared sum
//! replaces all occurrences of the two digits and saves an adder in each place but one (R. I. Hartley, IEEE TCAS-II 43,
//! 1996). The most profitable pattern is shared until no pattern occurs twice.
//!
//! For speed, the digits of one value in one row are two machine words of bit positions, so that a shift and an `and`
//! find the places of a pattern in a row. Counts in the queue are upper bounds: once both values of a pattern exist,
//! its count can only fall. A pattern at the front of the queue is counted again, and queued again if its count has
//! fallen.

use super::rows::Deadline;
use super::values::{Coefficient, Part, Values};
use num_traits::{PrimInt, Unsigned};

/// A set of digit positions.
pub(crate) trait Mask: PrimInt + Unsigned + Send + Sync + std::fmt::Debug + 'static {}

impl Mask for u64 {}
impl Mask for u128 {}

/// Returns `mask * 2^by`.
#[inline]
fn moved<M: Mask>(mask: M, by: i32) -> M {
    if by >= 0 { mask << by as usize } else { mask >> (-by) as usize }
}

/// The digits of one value in one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<M> {
    pub(crate) value: u32,
    pub(crate) plus: M,
    pub(crate) minus: M,
}

impl<M: Mask> Cell<M> {
    fn is_empty(&self) -> bool {
        (self.plus | self.minus) == M::zero()
    }
}

/// Place of a value's digits: a row, and the index of a cell in that row.
#[derive(Clone, Copy, Debug)]
struct Place {
    row: u32,
    cell: u32,
}

/// Two digits: one digit of `a`, and one digit of `b` that is `shift` positions higher and, if `differ`, has the other
/// sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pattern {
    a: u32,
    b: u32,
    shift: i16,
    differ: bool,
    /// Upper bound of the number of places of the pattern.
    count: u32,
    weight: u32,
}

/// Weights for the choice between patterns; integers, so that the choice is equal on all computers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternWeights {
    /// Weight of a saved adder.
    pub(crate) base: i32,
    /// Weight of each bit position that both operands have.
    pub(crate) overlap: i32,
    /// Weight of each bit position that only one operand has.
    pub(crate) spread: i32,
    /// Discount of a pattern's number of places, in sixteenths of a place; 16 by default, because the first place saves
    /// no adder.
    pub(crate) discount: i32,
    /// Seed of random changes of the weights; 0 for no changes.
    pub(crate) seed: u64,
    /// Size of the random changes, in parts of 256.
    pub(crate) noise: u32,
}

impl Default for PatternWeights {
    fn default() -> PatternWeights {
        PatternWeights { base: 16, overlap: 16, spread: 0, discount: 16, seed: 0, noise: 0 }
    }
}

/// Buckets of patterns by priority.
struct Queue {
    buckets: Vec<Vec<Pattern>>,
    top: usize,
}

const BUCKETS: usize = 1 << 12;

impl Queue {
    fn push(&mut self, priority: usize, pattern: Pattern) {
        if priority >= self.buckets.len() {
            self.buckets.resize_with(priority + 1, Vec::new);
        }
        self.buckets[priority].push(pattern);
        self.top = self.top.max(priority);
    }

    fn pop(&mut self) -> Option<(usize, Pattern)> {
        loop {
            if let Some(pattern) = self.buckets.get_mut(self.top)?.pop() {
                return Some((self.top, pattern));
            }
            self.top = self.top.checked_sub(1)?;
        }
    }
}

/// State of the sharing: rows of digits and the queue of patterns.
pub(crate) struct Sharing<'a, C, M> {
    pub(crate) values: &'a mut Values<C>,
    pub(crate) rows: &'a mut Vec<Vec<Cell<M>>>,
    /// Deadline of each row; `None` if no row has a deadline.
    pub(crate) deadlines: Option<&'a [Deadline]>,
    pub(crate) weights: PatternWeights,
    places: Vec<Vec<Place>>,
    queue: Queue,
    counter: Counter,
    /// Number of work steps so far.
    work: u64,
}

/// Counter of small keys: a hash table with open addressing, cleared through the list of its used slots.
struct Counter {
    slots: Vec<u64>,
    touched: Vec<u32>,
}

impl Counter {
    const COUNT_BITS: u32 = 20;

    fn add(&mut self, key: u64) {
        if 2 * (self.touched.len() + 1) > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if *slot == 0 {
                *slot = (key << Self::COUNT_BITS) | 1;
                self.touched.push(at as u32);
                return;
            }
            if *slot >> Self::COUNT_BITS == key {
                if *slot & ((1 << Self::COUNT_BITS) - 1) != (1 << Self::COUNT_BITS) - 1 {
                    *slot += 1;
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for at in &mut self.touched {
            let slot = old[*at as usize];
            let mut to = ((slot >> Self::COUNT_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (size - 1);
            while self.slots[to] != 0 {
                to = (to + 1) & (size - 1);
            }
            self.slots[to] = slot;
            *at = to as u32;
        }
    }
}

const SHIFT_OFFSET: i32 = 128;

impl<'a, C: Coefficient, M: Mask> Sharing<'a, C, M> {
    pub(crate) fn new(
        values: &'a mut Values<C>,
        rows: &'a mut Vec<Vec<Cell<M>>>,
        deadlines: Option<&'a [Deadline]>,
        weights: PatternWeights,
    ) -> Sharing<'a, C, M> {
        let mut places: Vec<Vec<Place>> = vec![Vec::new(); values.len()];
        for (r, row) in rows.iter().enumerate() {
            for (c, cell) in row.iter().enumerate() {
                places[cell.value as usize].push(Place { row: r as u32, cell: c as u32 });
            }
        }
        Sharing {
            values,
            rows,
            deadlines,
            weights,
            places,
            queue: Queue { buckets: Vec::new(), top: 0 },
            counter: Counter { slots: vec![0; 1024], touched: Vec::new() },
            work: 0,
        }
    }

    /// Shares sums until no pattern occurs twice; returns the number of work steps.
    pub(crate) fn run(&mut self) -> u64 {
        for value in 0..self.values.len() as u32 {
            self.enter(value);
        }
        let mut found: Vec<(Place, Place, M, M)> = Vec::new();
        while let Some((priority, mut pattern)) = self.queue.pop() {
            self.work += 4 + (self.places[pattern.a as usize].len() + self.places[pattern.b as usize].len()) as u64;
            let count = self.count(&pattern, &mut found).min(pattern.count);
            if count < 2 {
                continue;
            }
            if count < pattern.count {
                pattern.count = count;
                let now = self.priority(&pattern);
                if now < priority {
                    self.queue.push(now, pattern);
                    continue;
                }
            }
            if self.deadlines.is_some() {
                self.work += 64 * found.len() as u64;
                let in_time = self.keep_in_time(&pattern, &mut found);
                if in_time < pattern.count {
                    pattern.count = in_time;
                    if in_time >= 2 {
                        self.queue.push(self.priority(&pattern), pattern);
                    }
                    continue;
                }
            }
            self.take(&pattern, &found);
        }
        for row in self.rows.iter_mut() {
            row.retain(|cell| !cell.is_empty());
        }
        self.work
    }

    fn weight(&self, a: u32, b: u32, shift: i32) -> u32 {
        let (x, y) = (self.values.span(a), self.values.span(b).shifted(shift));
        let overlap = (x.top.min(y.top) - x.low.max(y.low)).max(0);
        let union = x.top.max(y.top) - x.low.min(y.low);
        let weights = &self.weights;
        let mut weight = weights.base + weights.overlap * overlap + weights.spread * (union - overlap);
        if weights.noise > 0 {
            let key = u64::from(a) << 40 ^ u64::from(b) << 12 ^ (shift + SHIFT_OFFSET) as u64;
            let random = (mixed(key ^ weights.seed) >> 40) as i64 & 0xff;
            weight += (i64::from(weight) * (random - 128) * i64::from(weights.noise) / (128 * 256)) as i32;
        }
        weight.max(1) as u32
    }

    fn priority(&self, pattern: &Pattern) -> usize {
        let saved = (16 * pattern.count).saturating_sub(self.weights.discount as u32);
        let product = (u64::from(saved) * u64::from(pattern.weight)) >> 6;
        // Buckets are exact for small priorities; for larger priorities, there are 256 buckets per factor of two.
        if product < BUCKETS as u64 {
            product as usize
        } else {
            let log = 63 - product.leading_zeros();
            let fine = (product >> (log - 8)) as usize & 0xff;
            BUCKETS + (log as usize - BUCKETS.trailing_zeros() as usize) * 256 + fine
        }
    }

    /// Queues each pattern that combines this value with itself or an earlier value, and that occurs at least twice.
    fn enter(&mut self, value: u32) {
        let mut counter = std::mem::replace(&mut self.counter, Counter { slots: Vec::new(), touched: Vec::new() });
        for place in &self.places[value as usize] {
            let row = &self.rows[place.row as usize];
            let own = row[place.cell as usize];
            if own.is_empty() {
                continue;
            }
            self.work += u64::from(own.plus.count_ones() + own.minus.count_ones()) * u64::from(place.cell);
            for cell in &row[..place.cell as usize] {
                let base = u64::from(cell.value) << 9;
                let mut digits = own.plus | own.minus;
                while digits != M::zero() {
                    let p = digits.trailing_zeros() as i32;
                    digits = digits & (digits - M::one());
                    let is_minus = own.minus >> p as usize & M::one() != M::zero();
                    let (same, other) = if is_minus { (cell.minus, cell.plus) } else { (cell.plus, cell.minus) };
                    for (mut set, differ) in [(same, 0), (other, 1)] {
                        while set != M::zero() {
                            let q = set.trailing_zeros() as i32;
                            set = set & (set - M::one());
                            counter.add(base | ((p - q + SHIFT_OFFSET) as u64) << 1 | differ);
                        }
                    }
                }
            }
            // Pairs of two digits of the value itself.
            let base = u64::from(value) << 9;
            let mut digits = own.plus | own.minus;
            while digits != M::zero() {
                let p = digits.trailing_zeros() as i32;
                digits = digits & (digits - M::one());
                let is_minus = own.minus >> p as usize & M::one() != M::zero();
                let mut higher = digits;
                while higher != M::zero() {
                    let q = higher.trailing_zeros() as i32;
                    higher = higher & (higher - M::one());
                    let differ = u64::from((own.minus >> q as usize & M::one() != M::zero()) != is_minus);
                    counter.add(base | ((q - p + SHIFT_OFFSET) as u64) << 1 | differ);
                }
            }
        }
        for at in counter.touched.drain(..) {
            let slot = std::mem::take(&mut counter.slots[at as usize]);
            let count = (slot & ((1 << Counter::COUNT_BITS) - 1)) as u32;
            if count < 2 {
                continue;
            }
            let key = slot >> Counter::COUNT_BITS;
            let (a, shift, differ) = ((key >> 9) as u32, (key >> 1 & 0xff) as i32 - SHIFT_OFFSET, key & 1 == 1);
            let weight = self.weight(a, value, shift);
            let pattern = Pattern { a, b: value, shift: shift as i16, differ, count, weight };
            let priority = self.priority(&pattern);
            self.queue.push(priority, pattern);
        }
        self.counter = counter;
    }

    /// Finds the current places of a pattern: the cells of `a` and `b` in a row, and the positions of positive and of
    /// negative digits of `a`. Returns the number of places.
    fn count(&self, pattern: &Pattern, found: &mut Vec<(Place, Place, M, M)>) -> u32 {
        found.clear();
        let (of_a, of_b) = (&self.places[pattern.a as usize], &self.places[pattern.b as usize]);
        let shift = i32::from(pattern.shift);
        let mut total = 0;
        if pattern.a == pattern.b {
            for &place in of_a {
                let cell = &self.rows[place.row as usize][place.cell as usize];
                let (plus, minus) = own_pairs(cell, shift, pattern.differ);
                let n = (plus | minus).count_ones();
                if n > 0 {
                    total += n;
                    found.push((place, place, plus, minus));
                }
            }
            return total;
        }
        let (mut i, mut j) = (0, 0);
        while let (Some(x), Some(y)) = (of_a.get(i), of_b.get(j)) {
            if x.row < y.row {
                i += 1;
            } else if y.row < x.row {
                j += 1;
            } else {
                let row = &self.rows[x.row as usize];
                let (a, b) = (&row[x.cell as usize], &row[y.cell as usize]);
                let (with_plus, with_minus) = if pattern.differ { (b.minus, b.plus) } else { (b.plus, b.minus) };
                let plus = a.plus & moved(with_plus, -shift);
                let minus = a.minus & moved(with_minus, -shift);
                let n = (plus | minus).count_ones();
                if n > 0 {
                    total += n;
                    found.push((*x, *y, plus, minus));
                }
                (i, j) = (i + 1, j + 1);
            }
        }
        total
    }

    /// Drops the places whose rows would miss their deadlines; returns the number of remaining places.
    fn keep_in_time(&self, pattern: &Pattern, found: &mut Vec<(Place, Place, M, M)>) -> u32 {
        let Some(deadlines) = self.deadlines else { return pattern.count };
        let (x, y) = parts(pattern);
        let (_, delay) = super::cost::adder(self.values.placed(x), self.values.placed(y));
        let ticks = self.values.ticks(x.value).max(self.values.ticks(y.value)) + delay;
        let (a, b) = (self.values.placed(x), self.values.placed(y));
        let span = super::cost::Span { low: a.low.min(b.low), top: a.top.max(b.top) + 1 };
        let lowered = i32::from(pattern.shift).min(0);
        let mut total = 0;
        found.retain_mut(|(in_a, in_b, plus, minus)| {
            let row = &self.rows[in_a.row as usize];
            let deadline = &deadlines[in_a.row as usize];
            // Removes the highest place of the row until the row meets its deadline.
            loop {
                let both = *plus | *minus;
                if both == M::zero() {
                    return false;
                }
                let without = |index: usize, cell: &Cell<M>| {
                    let mut gone = M::zero();
                    if index == in_a.cell as usize {
                        gone = gone | both;
                    }
                    if index == in_b.cell as usize {
                        gone = gone | moved(both, i32::from(pattern.shift));
                    }
                    (cell.plus | cell.minus) & !gone
                };
                let digits = row.iter().enumerate().map(|(index, cell)| (cell.value, without(index, cell)));
                if deadline.is_met(self.values, digits, (ticks, span, moved(both, lowered))) {
                    total += both.count_ones();
                    return true;
                }
                let highest = M::one() << (M::zero().leading_zeros() - 1 - both.leading_zeros()) as usize;
                (*plus, *minus) = (*plus & !highest, *minus & !highest);
            }
        });
        total
    }

    /// Creates the sum of a pattern, and replaces the digits in all its places.
    fn take(&mut self, pattern: &Pattern, found: &[(Place, Place, M, M)]) {
        let (x, y) = parts(pattern);
        let (made, turned) = self.values.push(x, y, pattern.differ);
        let shift = i32::from(pattern.shift);
        let lowered = shift.min(0);
        self.places.push(Vec::with_capacity(found.len()));
        for &(in_a, in_b, plus, minus) in found {
            let row = &mut self.rows[in_a.row as usize];
            let a = &mut row[in_a.cell as usize];
            (a.plus, a.minus) = (a.plus & !plus, a.minus & !minus);
            let b = &mut row[in_b.cell as usize];
            let (gone_with_plus, gone_with_minus) = (moved(plus, shift), moved(minus, shift));
            if pattern.differ {
                (b.minus, b.plus) = (b.minus & !gone_with_plus, b.plus & !gone_with_minus);
            } else {
                (b.plus, b.minus) = (b.plus & !gone_with_plus, b.minus & !gone_with_minus);
            }
            let (plus, minus) = (moved(plus, lowered), moved(minus, lowered));
            let (plus, minus) = if turned { (minus, plus) } else { (plus, minus) };
            self.places[made as usize].push(Place { row: in_a.row, cell: row.len() as u32 });
            row.push(Cell { value: made, plus, minus });
        }
        for value in [pattern.a, pattern.b] {
            let rows = &self.rows;
            self.places[value as usize].retain(|p| !rows[p.row as usize][p.cell as usize].is_empty());
        }
        self.enter(made);
    }
}

/// Returns the two operands of a pattern's sum, shifted so that the lower one has shift 0.
fn parts(pattern: &Pattern) -> (Part, Part) {
    let shift = i32::from(pattern.shift);
    (Part { value: pattern.a, shift: (-shift).max(0) as u32 }, Part { value: pattern.b, shift: shift.max(0) as u32 })
}

/// Returns disjoint pairs of digits of one cell, as two sets of lower positions: the pairs whose lower digit is
/// positive, and the pairs whose lower digit is negative.
fn own_pairs<M: Mask>(cell: &Cell<M>, shift: i32, differ: bool) -> (M, M) {
    let (with_plus, with_minus) = if differ { (cell.minus, cell.plus) } else { (cell.plus, cell.minus) };
    let mut plus = cell.plus & moved(with_plus, -shift);
    let mut minus = cell.minus & moved(with_minus, -shift);
    let mut left = plus | minus;
    let mut used = M::zero();
    while left != M::zero() {
        let lowest = left & (!left + M::one());
        left = left & !lowest;
        if used & lowest != M::zero() {
            (plus, minus) = (plus & !lowest, minus & !lowest);
        } else {
            used = used | lowest | moved(lowest, shift);
        }
    }
    (plus, minus)
}

/// Returns a pseudo-random number (splitmix64).
pub(crate) fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
