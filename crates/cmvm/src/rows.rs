//! Cheap adder trees for the remaining digits of a row, within the row's deadline.
//!
//! [`Deadline::plan`] decides if a set of digits can be added up in time, and returns a tree that meets the deadline.
//! Merging the two earliest values first is optimal if all adders have equal delays (M. C. Golumbic, IEEE TC-25, 1976).
//! Here the delay of an adder depends on its width, so the tree is good but may be suboptimal, and several variants are
//! tried.

use super::cost::{self, Span};
use super::share::{Cell, Mask};
use super::values::{Coefficient, Part, Values};

/// Deadline of a row, and bounds on the bit positions of its partial sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// Time at which the sum of the row must be ready, in ticks of the delay model.
    pub(crate) limit: u32,
    /// All bits of partial sums are below this position.
    pub(crate) top: i32,
    /// Lowest bit position of partial sums.
    pub(crate) low: i32,
}

/// A summand: its arrival time in ticks, and its bit positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) ticks: u32,
    pub(crate) span: Span,
}

/// The value 1 of Kraft sums, as a fixed-point number with 40 fractional bits. A binary tree with leaves at depths `d`
/// exists if the sum of `2^-d` is at most 1.
const WHOLE: u64 = 1 << 40;

impl Deadline {
    /// Returns the delay in ticks of the widest adder that the row can need.
    pub(crate) fn longest_adder(&self) -> u32 {
        cost::adder_in_place(Span { low: self.low, top: self.top }, Span { low: self.low, top: self.top }).1
    }

    /// Returns the deadline with time for `levels` further levels of adders.
    pub(crate) fn earlier_by(self, levels: u32) -> Deadline {
        Deadline { limit: self.limit.saturating_sub(levels * self.longest_adder()), ..self }
    }

    /// Returns the term in the Kraft sum of a value that arrives at `ticks`, if every adder takes `longest` ticks.
    fn share(&self, ticks: u32, longest: u32) -> u64 {
        match self.limit.checked_sub(ticks) {
            Some(left) => WHOLE >> (left / longest).min(40),
            None => 2 * WHOLE,
        }
    }

    /// Returns `true` if the digits can be added up in time, together with digits at the positions `more` of a new
    /// value with the given arrival time and span.
    pub(crate) fn is_met<C: Coefficient, M: Mask>(
        &self,
        values: &Values<C>,
        digits: impl Iterator<Item = (u32, M)> + Clone,
        (ticks, span, more): (u32, Span, M),
    ) -> bool {
        let longest = self.longest_adder();
        let mut sum = u64::from(more.count_ones()) * self.share(ticks, longest);
        for (value, set) in digits.clone() {
            if set != M::zero() {
                sum = sum.saturating_add(u64::from(set.count_ones()) * self.share(values.ticks(value), longest));
            }
        }
        if sum <= WHOLE {
            return true;
        }
        let mut items = Vec::with_capacity(64);
        // `span` is relative to the lower operand's position; each set bit of `set` is one position of the value.
        let mut place = |ticks: u32, span: Span, mut set: M| {
            while set != M::zero() {
                items.push(Item { ticks, span: span.shifted(set.trailing_zeros() as i32) });
                set = set & (set - M::one());
            }
        };
        place(ticks, span, more);
        for (value, set) in digits {
            place(values.ticks(value), values.span(value), set);
        }
        self.plan(&items).is_some()
    }

    /// Returns the pairs to merge, in order, so that all items are added up in time; `None` if no variant meets the
    /// deadline. Numbers below `items.len()` are items, larger numbers are earlier merges.
    pub(crate) fn plan(&self, items: &[Item]) -> Option<Vec<(u32, u32)>> {
        [Policy::Near, Policy::Strict, Policy::Uniform].into_iter().find_map(|policy| {
            let (ticks, plan) = self.earliest(items, policy);
            (ticks <= self.limit).then_some(plan)
        })
    }

    /// Returns the earliest time in ticks at which a variant has added up all items.
    pub(crate) fn least(&self, items: &[Item]) -> u32 {
        let policies = [Policy::Near, Policy::Strict, Policy::Uniform];
        policies.into_iter().map(|policy| self.earliest(items, policy).0).min().unwrap_or(0)
    }

    /// Returns the sum of two items as an item.
    fn merged(&self, a: Item, b: Item) -> Item {
        // One more bit even if the operands do not overlap: a negative lower value borrows from the higher value.
        let top = (a.span.top.max(b.span.top) + 1).min(self.top);
        Item {
            ticks: a.ticks.max(b.ticks) + cost::adder(a.span, b.span).1,
            span: Span { low: a.span.low.min(b.span.low), top },
        }
    }

    /// Returns the time in ticks at which a variant has added up all items, and its merges as in [`Deadline::plan`].
    fn earliest(&self, items: &[Item], policy: Policy) -> (u32, Vec<(u32, u32)>) {
        let longest = self.longest_adder();
        // Entries (key, number, item), sorted by descending key, so that `pop` returns the earliest.
        let order = |x: &(u32, u32, Item), y: &(u32, u32, Item)| {
            let key = |&(key, number, item): &(u32, u32, Item)| (key, item.span.low, item.span.top, number);
            key(y).cmp(&key(x))
        };
        let mut waiting: Vec<(u32, u32, Item)> =
            items.iter().enumerate().map(|(n, &item)| (item.ticks, n as u32, item)).collect();
        waiting.sort_unstable_by(order);
        let mut plan = Vec::with_capacity(items.len());
        while let Some((key, number, item)) = waiting.pop() {
            if waiting.is_empty() {
                return (item.ticks, plan);
            }
            let near = if matches!(policy, Policy::Near) { 6 } else { 1 };
            let candidates = waiting.len().saturating_sub(near)..waiting.len();
            let at = candidates.rev().min_by_key(|&at| self.merged(item, waiting[at].2).ticks).expect("there is one");
            let (other_key, other, with) = waiting.remove(at);
            let sum = self.merged(item, with);
            let key = if matches!(policy, Policy::Uniform) { key.max(other_key) + longest } else { sum.ticks };
            let entry = (key, (items.len() + plan.len()) as u32, sum);
            plan.push((number, other));
            let at = waiting.partition_point(|x| order(x, &entry).is_lt());
            waiting.insert(at, entry);
        }
        (0, plan)
    }
}

/// Rule for the two values that are merged next.
#[derive(Clone, Copy, Debug)]
enum Policy {
    /// The earliest value, and the one of the next six values with which the sum is ready first.
    Near,
    /// The two earliest values.
    Strict,
    /// The two values that would be earliest if every adder were as slow as the slowest adder.
    Uniform,
}

/// A signed, shifted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) value: u32,
    pub(crate) shift: u32,
    pub(crate) minus: bool,
}

/// Returns the digits of a row, ordered by value and position.
pub(crate) fn digits_of<M: Mask>(row: &[Cell<M>]) -> Vec<Digit> {
    let mut digits = Vec::new();
    for cell in row {
        let mut set = cell.plus | cell.minus;
        while set != M::zero() {
            let shift = set.trailing_zeros();
            set = set & (set - M::one());
            let minus = cell.minus >> shift as usize & M::one() != M::zero();
            digits.push(Digit { value: cell.value, shift, minus });
        }
    }
    digits
}

/// An adder tree in construction: adds up digits, the cheapest pair first.
pub(crate) struct Tree<'a, C> {
    values: &'a mut Values<C>,
    /// Digits by number: items first, then merges; `None` once merged.
    digits: Vec<Option<Digit>>,
}

impl<'a, C: Coefficient> Tree<'a, C> {
    /// Adds up all digits, and returns their sum; `None` if there are no digits.
    ///
    /// # Errors
    /// If no tree that meets the deadline is found.
    pub(crate) fn build(
        values: &'a mut Values<C>,
        digits: &[Digit],
        deadline: Option<Deadline>,
    ) -> Result<Option<Digit>, ()> {
        let mut tree = Tree { values, digits: digits.iter().copied().map(Some).collect() };
        match deadline {
            None => tree.merge_cheapest(None),
            Some(deadline) => {
                let items: Vec<Item> = digits.iter().map(|&d| tree.item(d)).collect();
                let plan = deadline.plan(&items).ok_or(())?;
                tree.merge_cheapest(Some((deadline, plan)));
            }
        }
        Ok(tree.digits.pop().flatten())
    }

    /// Adds up all digits in the order of a plan, and returns their sum; `None` if there are no digits.
    pub(crate) fn follow(values: &'a mut Values<C>, digits: &[Digit], plan: &[(u32, u32)]) -> Option<Digit> {
        let mut tree = Tree { values, digits: digits.iter().copied().map(Some).collect() };
        for &(a, b) in plan {
            tree.merge(a as usize, b as usize);
        }
        tree.digits.pop().flatten()
    }

    fn item(&self, digit: Digit) -> Item {
        let part = Part { value: digit.value, shift: digit.shift };
        Item { ticks: self.values.ticks(digit.value), span: self.values.placed(part) }
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (x, y) = (self.digits[a].take().expect("not merged yet"), self.digits[b].take().expect("not merged yet"));
        let low = x.shift.min(y.shift);
        let part = |d: Digit| Part { value: d.value, shift: d.shift - low };
        let (made, turned) = self.values.push(part(x), part(y), x.minus != y.minus);
        self.digits.push(Some(Digit { value: made, shift: low, minus: x.minus ^ turned }));
    }

    /// Merges the cheapest pair until one digit remains. With a deadline and a plan that meets the deadline, tries the
    /// eight cheapest pairs and merges the first after which the deadline can still be met, or else follows the plan.
    fn merge_cheapest(&mut self, mut within: Option<(Deadline, Vec<(u32, u32)>)>) {
        // Each unmerged number with its best partner among the numbers before it in the list.
        let mut alive: Vec<Leaf> = Vec::with_capacity(self.digits.len());
        for number in 0..self.digits.len() {
            let leaf = self.leaf(number, &alive);
            alive.push(leaf);
        }
        let mut followed = 0;
        while alive.len() > 1 {
            let best = |alive: &[Leaf]| (1..alive.len()).min_by_key(|&at| alive[at].key).expect("there are two");
            let mut at = best(&alive);
            let mut pair = (alive[at].partner, alive[at].number);
            if let Some((deadline, plan)) = &mut within {
                let mut candidates: Vec<usize> = (1..alive.len()).collect();
                candidates.sort_by_key(|&at| alive[at].key);
                let mut accepted = None;
                for &candidate in candidates.iter().take(8) {
                    let (a, b) = (alive[candidate].partner, alive[candidate].number);
                    if let Some(rest) = self.plan_after(&alive, (a, b), deadline) {
                        accepted = Some((candidate, rest));
                        break;
                    }
                }
                match accepted {
                    Some((candidate, rest)) => {
                        at = candidate;
                        pair = (alive[at].partner, alive[at].number);
                        *plan = rest;
                        followed = 0;
                    }
                    None => {
                        let (a, b) = plan[followed];
                        followed += 1;
                        pair = (a as usize, b as usize);
                    }
                }
            }
            self.merge(pair.0, pair.1);
            alive.retain(|leaf| leaf.number != pair.0 && leaf.number != pair.1);
            // Choose a new partner for each number whose partner was merged.
            for at in 0..alive.len() {
                if alive[at].partner == pair.0 || alive[at].partner == pair.1 {
                    let number = alive[at].number;
                    alive[at] = self.leaf(number, &alive[..at]);
                }
            }
            let leaf = self.leaf(self.digits.len() - 1, &alive);
            alive.push(leaf);
        }
    }

    /// Returns the plan for the values after merging `pair`, in numbers of this tree; `None` if the deadline would be
    /// missed.
    fn plan_after(&self, alive: &[Leaf], pair: (usize, usize), deadline: &Deadline) -> Option<Vec<(u32, u32)>> {
        let item = |number: usize| self.item(self.digits[number].expect("alive"));
        let mut numbers: Vec<u32> =
            alive.iter().map(|leaf| leaf.number).filter(|&n| n != pair.0 && n != pair.1).map(|n| n as u32).collect();
        let mut items: Vec<Item> = numbers.iter().map(|&n| item(n as usize)).collect();
        items.push(deadline.merged(item(pair.0), item(pair.1)));
        numbers.push(self.digits.len() as u32);
        let plan = deadline.plan(&items)?;
        let next = self.digits.len() as u32 + 1;
        let number =
            |n: u32| if (n as usize) < numbers.len() { numbers[n as usize] } else { next + n - numbers.len() as u32 };
        Some(plan.into_iter().map(|(a, b)| (number(a), number(b))).collect())
    }

    /// Returns a number as a leaf, with its best partner among `others`.
    fn leaf(&self, number: usize, others: &[Leaf]) -> Leaf {
        let digit = self.digits[number].expect("alive");
        let own = self.item(digit);
        let part = |d: Digit| Part { value: d.value, shift: d.shift };
        let mut best = Leaf { number, item: own, partner: usize::MAX, key: (u32::MAX, u32::MAX) };
        for other in others {
            let with = self.digits[other.number].expect("alive");
            let cost = self.values.least_price(part(digit), part(with), digit.minus != with.minus);
            let (_, delay) = cost::adder(own.span, other.item.span);
            let key = (cost, own.ticks.max(other.item.ticks) + delay);
            if key < best.key {
                (best.key, best.partner) = (key, other.number);
            }
        }
        best
    }
}

/// A number of a tree that is not yet merged.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    number: usize,
    item: Item,
    /// Number with which the sum is cheapest; `usize::MAX` if no other number exists.
    partner: usize,
    /// Cost of that sum in adder bits, and its arrival time in ticks.
    key: (u32, u32),
}
