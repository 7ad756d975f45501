//! Proof that a form is zero for all values of a few other values, by splitting their ranges into boxes.
//!
//! A box gives each of these values an interval. On a box every atom is a linear form of the values plus a number
//! between two bounds. The bounds are equal if a condition has one outcome, a choice takes one side, and a floor is
//! constant. A box on which the form is not proved zero is halved; on the smallest box, with a single number for each
//! value, all atoms are exact. So a piecewise linear function of many bits, such as a rounding with saturation or a
//! search among thresholds, takes as many boxes as it has pieces.

use super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Range, Table, add, mul};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range as Span;
use std::rc::Rc;
use std::sync::Arc;

/// Largest number of values of a box.
const VALUES: usize = 4;
/// Number of random points that are tried before any box. Values that depend on other values get impossible numbers
/// there, so that a form that is not zero for free values is usually nonzero at some point.
const POINTS: u64 = 24;
/// Largest number of names that are replaced by their definitions to find the values; largest number of values at a
/// time, and of those that are wider than one bit.
const STEPS: usize = 4_000;
const MAX_SPOKEN: usize = 1_000;
const MAX_WIDE: usize = 20;
/// Largest number of table entries examined for one argument.
const ENTRIES: i128 = 256;

/// Linear function on a box: `sum of slopes * values + d`, with `d` from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    slopes: [i128; VALUES],
    low: i128,
    high: i128,
}

impl Part {
    fn between(low: i128, high: i128) -> Part {
        Part { slopes: [0; VALUES], low, high }
    }

    fn constant(value: i128) -> Part {
        Part::between(value, value)
    }

    fn as_const(&self) -> Option<i128> {
        (self.low == self.high && self.slopes == [0; VALUES]).then_some(self.low)
    }

    /// Returns `true` if the function is exact on the whole box.
    fn is_exact(&self) -> bool {
        self.low == self.high
    }

    fn plus(&self, factor: i128, other: &Part) -> OrOverflow<Part> {
        let mut out = *self;
        for (slope, more) in out.slopes.iter_mut().zip(&other.slopes) {
            if *more != 0 {
                *slope = add(*slope, mul(factor, *more)?)?;
            }
        }
        let (a, b) = (mul(factor, other.low)?, mul(factor, other.high)?);
        out.low = add(out.low, a.min(b))?;
        out.high = add(out.high, a.max(b))?;
        Ok(out)
    }

    /// Returns the bounds of the function on a box.
    fn range(&self, on: &Bounds) -> OrOverflow<Range> {
        let mut out = (self.low, self.high);
        for (&slope, &(lo, hi)) in self.slopes.iter().zip(on) {
            if slope != 0 {
                let (a, b) = (mul(slope, lo)?, mul(slope, hi)?);
                out = (add(out.0, a.min(b))?, add(out.1, a.max(b))?);
            }
        }
        Ok(out)
    }

    /// Substitutes the values that are constant on a box.
    fn settled(mut self, on: &Bounds) -> OrOverflow<Part> {
        for (slope, &(lo, hi)) in self.slopes.iter_mut().zip(on) {
            if lo == hi && *slope != 0 {
                let fixed = mul(*slope, lo)?;
                *slope = 0;
                self.low = add(self.low, fixed)?;
                self.high = add(self.high, fixed)?;
            }
        }
        Ok(self)
    }

    /// Replaces the function by its remainder modulo `2^m`, and returns the quotient.
    fn take_multiple(&mut self, m: u32) -> OrOverflow<Part> {
        let size = super::power(m)?;
        let out = Part { slopes: self.slopes.map(|slope| slope >> m), low: self.low >> m, high: self.low >> m };
        for slope in &mut self.slopes {
            *slope = slope.rem_euclid(size);
        }
        self.low = self.low.rem_euclid(size);
        self.high = self.low;
        Ok(out)
    }

    /// Returns the only value on which the function depends; `None` if there are none or several.
    fn only_value(&self) -> Option<usize> {
        let mut values = (0..VALUES).filter(|&i| self.slopes[i] != 0);
        values.next().filter(|_| values.next().is_none())
    }
}

/// A box: an interval for each value.
type Bounds = [Range; VALUES];

/// Function that an atom applies to its sums.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Kind {
    Floor(u32),
    Negative,
    Zero,
    Positive,
    Product,
    And(Range),
    Table(Arc<Table>, Range),
}

impl Kind {
    /// Returns the linear function of the atom on a box, from those of its sums.
    fn rounded(&self, parts: &[Part], on: &Bounds) -> OrOverflow<Part> {
        let truth = |yes: bool| Part::constant(i128::from(yes));
        let x = &parts[0];
        Ok(match self {
            Kind::Floor(m) => {
                let size = super::power(*m)?;
                if x.slopes.iter().all(|slope| slope % size == 0) {
                    Part { slopes: x.slopes.map(|slope| slope >> m), low: x.low >> m, high: x.high >> m }
                } else {
                    let (lo, hi) = x.range(on)?;
                    Part::between(lo >> m, hi >> m)
                }
            }
            Kind::Negative => match x.range(on)? {
                (0.., _) => truth(false),
                (_, ..0) => truth(true),
                _ => Part::between(0, 1),
            },
            Kind::Zero => match x.range(on)? {
                (0, 0) => truth(true),
                (lo, hi) if lo > 0 || hi < 0 => truth(false),
                // The line passes zero between two integers.
                _ if x.is_exact() && x.only_value().is_some_and(|i| x.low % x.slopes[i] != 0) => truth(false),
                _ => Part::between(0, 1),
            },
            Kind::Positive => match x.range(on)? {
                (0.., _) => *x,
                (_, ..=0) => Part::constant(0),
                (_, hi) => Part::between(0, hi),
            },
            Kind::Product => {
                let mut out = Part::constant(1);
                for x in parts {
                    out = product(&out, x, on)?;
                }
                out
            }
            Kind::And(bounds) => {
                let mut both = Some(-1);
                let mut bounds = *bounds;
                for part in parts {
                    both = both.zip(part.as_const()).map(|(x, y)| x & y);
                    let (lo, hi) = part.range(on)?;
                    if lo >= 0 {
                        bounds = (bounds.0.max(0), bounds.1.min(hi));
                    }
                }
                both.map_or(Part::between(bounds.0, bounds.1), Part::constant)
            }
            Kind::Table(table, whole) => {
                let (lo, hi) = x.range(on)?;
                let entry = |v: i128| {
                    let index = usize::try_from(v - table.first).ok();
                    index.and_then(|i| table.values.get(i)).copied().unwrap_or(0)
                };
                if hi - lo < ENTRIES {
                    let ends = (lo..=hi).map(entry).fold((i128::MAX, i128::MIN), |e, v| (e.0.min(v), e.1.max(v)));
                    Part::between(ends.0, ends.1)
                } else {
                    Part::between(whole.0, whole.1)
                }
            }
        })
    }

    /// Returns the number of table entries that the atom needs.
    fn entries(&self, x: &Part, on: &Bounds) -> u64 {
        match (self, x.range(on)) {
            (Kind::Table(..), Ok((lo, hi))) if hi - lo < ENTRIES => (hi - lo) as u64 / 8,
            _ => 0,
        }
    }

    /// Returns the last number of a value before the atom changes, for an argument that depends only on this value.
    fn step(&self, line: &Part, value: usize, (lo, hi): Range) -> Option<i128> {
        let (slope, start) = (line.slopes[value], line.low);
        // Last number before the line reaches a height.
        let before = |height: i128| {
            let rest = height.checked_sub(start)?;
            Some(if slope > 0 { -(-rest).div_euclid(slope) - 1 } else { (-rest).div_euclid(-slope) })
        };
        let at = match self {
            Kind::Negative | Kind::Positive => before(0)?,
            Kind::Zero => {
                let at = before(0)?;
                if at < lo { at + 1 } else { at }
            }
            Kind::Floor(m) => {
                let middle = lo + (hi - lo) / 2;
                let height = slope.checked_mul(middle)?.checked_add(start)?;
                let below = (height >> m) << m;
                let at = before(below)?;
                if (lo..hi).contains(&at) { at } else { before(below.checked_add(1 << m)?)? }
            }
            _ => return None,
        };
        (lo..hi).contains(&at).then_some(at)
    }
}

fn product(x: &Part, y: &Part, on: &Bounds) -> OrOverflow<Part> {
    let zero = Part::constant(0);
    match (x.as_const(), y.as_const()) {
        (Some(x), _) => zero.plus(x, y),
        (_, Some(y)) => zero.plus(y, x),
        _ => {
            let (x, y) = (x.range(on)?, y.range(on)?);
            let ends = [mul(x.0, y.0)?, mul(x.0, y.1)?, mul(x.1, y.0)?, mul(x.1, y.1)?];
            let low = ends.into_iter().fold(i128::MAX, i128::min);
            Ok(Part::between(low, ends.into_iter().fold(i128::MIN, i128::max)))
        }
    }
}

/// Sum on a box: its exact part, and multiples of atoms that are not exact: a span of [`Pieces::terms`].
#[derive(Clone)]
struct Sum {
    known: Part,
    terms: Span<usize>,
}

struct Node {
    kind: Kind,
    sums: Span<usize>,
}

/// A form on a box, with all atoms that are not exact there, in topological order. Atoms that are exact on a box are
/// exact on its parts, so that parts have fewer atoms.
struct Pieces {
    nodes: Vec<Node>,
    /// Operands of the atoms.
    sums: Vec<Sum>,
    terms: Vec<(u32, i128)>,
    form: Sum,
}

impl Pieces {
    /// Returns the form over some values; `None` if the form also depends on others.
    fn above(t: &LinearForms, d: FormId, values: &Values) -> OrOverflow<Option<Pieces>> {
        let atoms = t.needed(&[d], |a| values.contains(a));
        if atoms.iter().any(|&a| matches!(t.atom(a), Atom::Free(_))) {
            return Ok(None);
        }
        let place: FxHashMap<AtomId, u32> = atoms.iter().enumerate().map(|(i, &a)| (a, i as u32)).collect();
        let nothing = Sum { known: Part::constant(0), terms: 0..0 };
        let mut out = Pieces { nodes: Vec::new(), sums: Vec::new(), terms: Vec::new(), form: nothing };
        for &a in &atoms {
            let begin = out.sums.len();
            let (forms, factors) = t.parts(a);
            for f in forms {
                let sum = out.sum(t, f, values, &place)?;
                out.sums.push(sum);
            }
            for b in factors {
                let known = Part { slopes: values.slopes(b, 1), ..Part::constant(0) };
                let start = out.terms.len();
                out.terms.extend(place.get(&b).map(|&i| (i, 1)));
                out.sums.push(Sum { known, terms: start..out.terms.len() });
            }
            let kind = match t.atom(a) {
                Atom::Free(_) => return Ok(None),
                // A name equals its definition.
                Atom::Value(_) => Kind::Floor(0),
                Atom::Floor(_, m) => Kind::Floor(*m),
                Atom::Negative(_) => Kind::Negative,
                Atom::Zero(_) => Kind::Zero,
                Atom::Positive(_) => Kind::Positive,
                Atom::If(..) | Atom::Product(..) | Atom::Monomial(_) => Kind::Product,
                Atom::And(_) => Kind::And(t.atom_range(a)),
                Atom::Table(_, table) => Kind::Table(table.clone(), t.atom_range(a)),
            };
            out.nodes.push(Node { kind, sums: begin..out.sums.len() });
        }
        out.form = out.sum(t, d, values, &place)?;
        Ok(Some(out))
    }

    fn sum(&mut self, t: &LinearForms, f: FormId, values: &Values, place: &FxHashMap<AtomId, u32>) -> OrOverflow<Sum> {
        let mut known = Part::constant(t.constant_of(f));
        let start = self.terms.len();
        for (a, factor) in t.terms(f) {
            match place.get(&a) {
                Some(&i) => self.terms.push((i, factor)),
                None => known = known.plus(1, &Part { slopes: values.slopes(a, factor), ..Part::constant(0) })?,
            }
        }
        Ok(Sum { known, terms: start..self.terms.len() })
    }

    /// Returns the ticks for one evaluation of all pieces.
    fn price(&self) -> u64 {
        (self.nodes.len() + self.sums.len() + self.terms.len() + 4) as u64
    }

    /// Returns a sum on a box from its atoms on that box.
    fn total(&self, sum: &Sum, on: &Bounds, parts: &[Part]) -> OrOverflow<Part> {
        let mut out = sum.known.settled(on)?;
        for &(i, factor) in &self.terms[sum.terms.clone()] {
            out = out.plus(factor, &parts[i as usize])?;
        }
        Ok(out)
    }

    /// Evaluates the form on a box, and its atoms and sums in `look`. Also returns the cost of the examined table
    /// entries.
    fn on(&self, on: &Bounds, look: &mut Look) -> OrOverflow<(Part, u64)> {
        look.atoms.clear();
        look.sums.clear();
        let mut entries = 0;
        for node in &self.nodes {
            let begin = look.sums.len();
            for sum in &self.sums[node.sums.clone()] {
                let part = self.total(sum, on, &look.atoms)?;
                look.sums.push(part);
            }
            let parts = &look.sums[begin..];
            entries += node.kind.entries(&parts[0], on);
            let part = node.kind.rounded(parts, on)?;
            look.atoms.push(part);
        }
        Ok((self.total(&self.form, on, &look.atoms)?, entries))
    }

    /// Returns `true` if a product has two factors that are not constant on the box.
    fn multiplies(&self, look: &Look) -> bool {
        let is_line = |part: &&Part| part.is_exact() && part.slopes != [0; VALUES];
        let products = self.nodes.iter().filter(|node| matches!(node.kind, Kind::Product));
        products.map(|node| &look.sums[node.sums.clone()]).any(|parts| parts.iter().filter(is_line).count() > 1)
    }

    /// Restricts the form to a box, on which `look` has its atoms and sums.
    fn within(&self, on: &Bounds, look: &Look) -> OrOverflow<Pieces> {
        // Marks the necessary atoms: the operands of exact atoms are not needed.
        let mut matters = vec![false; self.nodes.len()];
        let mark = |matters: &mut Vec<bool>, sum: &Sum| {
            for &(i, _) in &self.terms[sum.terms.clone()] {
                matters[i as usize] |= !look.atoms[i as usize].is_exact();
            }
        };
        mark(&mut matters, &self.form);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if matters[i] {
                for sum in &self.sums[node.sums.clone()] {
                    mark(&mut matters, sum);
                }
            }
        }
        // For each atom, its index in the new form, and the difference to that atom.
        let mut place: Vec<(u32, Part)> = vec![(0, Part::constant(0)); self.nodes.len()];
        let mut out = Pieces {
            nodes: Vec::new(),
            sums: Vec::new(),
            terms: Vec::new(),
            form: Sum { known: Part::constant(0), terms: 0..0 },
        };
        let mut same: FxHashMap<(Kind, Part), u32> = FxHashMap::default();
        for (i, node) in self.nodes.iter().enumerate().filter(|(i, _)| matters[*i]) {
            let begin = out.sums.len();
            for sum in &self.sums[node.sums.clone()] {
                let sum = self.rest(sum, on, look, &place, &mut out.terms)?;
                out.sums.push(sum);
            }
            let at = out.nodes.len() as u32;
            place[i] = (at, Part::constant(0));
            // Atoms of equal arguments are merged, and also floors whose arguments differ by multiples of the divisor.
            if let [sum] = &mut out.sums[begin..]
                && sum.terms.is_empty()
                && matches!(node.kind, Kind::Floor(_) | Kind::Negative | Kind::Zero | Kind::Positive)
            {
                if let Kind::Floor(m) = node.kind {
                    place[i].1 = sum.known.take_multiple(m)?;
                }
                if let Some(&known) = same.get(&(node.kind.clone(), sum.known)) {
                    place[i].0 = known;
                    out.sums.truncate(begin);
                    continue;
                }
                same.insert((node.kind.clone(), sum.known), at);
            }
            out.nodes.push(Node { kind: node.kind.clone(), sums: begin..out.sums.len() });
        }
        out.form = self.rest(&self.form, on, look, &place, &mut out.terms)?;
        Ok(out)
    }

    /// Returns a sum on a box: the exact part, and the remaining atoms by their new indices.
    fn rest(
        &self,
        sum: &Sum,
        on: &Bounds,
        look: &Look,
        place: &[(u32, Part)],
        terms: &mut Vec<(u32, i128)>,
    ) -> OrOverflow<Sum> {
        let (mut known, start) = (sum.known.settled(on)?, terms.len());
        for &(i, factor) in &self.terms[sum.terms.clone()] {
            let part = &look.atoms[i as usize];
            if part.is_exact() {
                known = known.plus(factor, part)?;
                continue;
            }
            let (at, more) = &place[i as usize];
            known = known.plus(factor, more)?;
            match terms[start..].iter().position(|t| t.0 == *at) {
                Some(there) => {
                    let total = add(terms[start + there].1, factor)?;
                    terms[start + there].1 = total;
                    if total == 0 {
                        terms.swap_remove(start + there);
                    }
                }
                None => terms.push((*at, factor)),
            }
        }
        Ok(Sum { known, terms: start..terms.len() })
    }

    /// Returns a value to split, and the last number of its lower half: the last number before an atom changes, if that
    /// is known.
    fn cut(&self, on: &Bounds) -> Option<(usize, i128)> {
        // The middle one of the atoms with exact operands, so that both halves have the same number of changes.
        let ready = |node: &&Node| self.sums[node.sums.clone()].iter().all(|sum| sum.terms.is_empty());
        let nodes: Vec<&Node> = self.nodes.iter().filter(ready).collect();
        if let Some(node) = nodes.get(nodes.len() / 2) {
            let argument = &self.sums[node.sums.start].known;
            if let Some(i) = argument.only_value()
                && node.sums.len() == 1
                && let Some(at) = node.kind.step(argument, i, on[i])
            {
                return Some((i, at));
            }
            let weight = |i: usize| {
                let slopes = self.sums[node.sums.clone()].iter().map(|sum| sum.known.slopes[i].unsigned_abs());
                slopes.fold(0, u128::saturating_add).saturating_mul((on[i].1 - on[i].0) as u128)
            };
            let heaviest = (0..VALUES).max_by_key(|&i| weight(i)).filter(|&i| weight(i) > 0);
            if let Some(i) = heaviest {
                return Some((i, middle(on[i])));
            }
        }
        let widest = (0..VALUES).max_by_key(|&i| on[i].1 - on[i].0)?;
        (on[widest].0 < on[widest].1).then(|| (widest, middle(on[widest])))
    }
}

fn middle((lo, hi): Range) -> i128 {
    lo + (hi - lo) / 2
}

/// Values of atoms and of their sums on a box.
#[derive(Default)]
struct Look {
    atoms: Vec<Part>,
    sums: Vec<Part>,
}

/// Values of the boxes, in order.
struct Values(Vec<AtomId>);

impl Values {
    fn contains(&self, a: AtomId) -> bool {
        self.0.contains(&a)
    }

    fn slopes(&self, a: AtomId, factor: i128) -> [i128; VALUES] {
        let mut out = [0; VALUES];
        if let Some(i) = self.0.iter().position(|&b| b == a) {
            out[i] = factor;
        }
        out
    }
}

impl LinearForms {
    /// Returns `true` if a form is proved zero modulo `2^width` over a few names or inputs that determine it. Names are
    /// replaced by their definitions, the newest first, until such values are found. `false` does not prove that the
    /// form is nonzero. Takes at most about `units` ticks.
    ///
    /// # Errors
    /// [`Overflow`] if numbers grow too large.
    pub(super) fn is_zero_by_splitting(&mut self, d: FormId, width: u32, units: u64) -> OrOverflow<bool> {
        // A product of two numbers is linear only on the smallest boxes, so these queries would only cost time.
        if self.multiplies_values(d) {
            return Ok(false);
        }
        let mut values = self.spoken(d)?;
        let most = self.work().saturating_add(units);
        for _ in 0..STEPS {
            if values.len() <= VALUES && self.on_boxes(d, width, &values, most)? {
                return Ok(true);
            }
            let names = values.iter().copied().filter(|&a| matches!(self.atom(a), Atom::Value(_)));
            let Some(newest) = names.max() else { return Ok(false) };
            let Atom::Value(x) = *self.atom(newest) else { return Ok(false) };
            if self.multiplies_values(x) {
                return Ok(false);
            }
            values.remove(&newest);
            values.extend(self.spoken(x)?);
            self.charge(values.len() as u64);
            let wide = values.iter().filter(|&&a| self.atom_range(a) != (0, 1)).count();
            if values.len() > MAX_SPOKEN || wide > MAX_WIDE || self.work() > most || self.is_spent() {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Like [`LinearForms::is_zero_by_splitting`] for the given values; stops after `most` ticks.
    fn on_boxes(&mut self, d: FormId, width: u32, values: &FxHashSet<AtomId>, most: u64) -> OrOverflow<bool> {
        let mut values: Vec<AtomId> = values.iter().copied().collect();
        values.sort_unstable();
        let mut whole: Bounds = [(0, 0); VALUES];
        for (range, &a) in whole.iter_mut().zip(&values) {
            *range = self.atom_range(a);
        }
        let Some(pieces) = Pieces::above(self, d, &Values(values))? else { return Ok(false) };
        let modulus = super::power(width)?;
        let mut look = Look::default();
        let mut rng = alir_core::num::SplitMix::new(0x62_6f_78);
        for _ in 0..POINTS {
            let point = whole.map(|(lo, hi)| {
                let at = lo + (u128::from(rng.word()) % ((hi - lo) as u128 + 1)) as i128;
                (at, at)
            });
            self.charge(pieces.price());
            let (found, _) = pieces.on(&point, &mut look)?;
            if found.as_const().is_none_or(|v| v % modulus != 0) {
                return Ok(false);
            }
        }
        // Products of values are linear only on the smallest boxes.
        pieces.on(&whole, &mut look)?;
        if pieces.multiplies(&look) {
            return Ok(false);
        }
        let mut open = vec![(whole, Rc::new(pieces))];
        while let Some((on, pieces)) = open.pop() {
            let (found, entries) = pieces.on(&on, &mut look)?;
            self.charge(pieces.price() + entries);
            if self.work() > most || self.is_spent() {
                return Ok(false);
            }
            let same = found.slopes.iter().all(|slope| slope % modulus == 0);
            if found.is_exact() && found.low % modulus == 0 && same {
                continue;
            }
            let (lo, hi) = found.range(&on)?;
            // No multiple of the modulus lies between the bounds.
            let none = lo.div_euclid(modulus) == hi.div_euclid(modulus) && lo.rem_euclid(modulus) != 0;
            if none || found.is_exact() {
                return Ok(false);
            }
            let pieces = Rc::new(pieces.within(&on, &look)?);
            // Equal atoms may have cancelled.
            if pieces.form.terms.is_empty() {
                open.push((on, pieces));
                continue;
            }
            let Some((value, at)) = pieces.cut(&on) else { return Ok(false) };
            let (lo, hi) = on[value];
            for half in [(at + 1, hi), (lo, at)] {
                let mut part = on;
                part[value] = half;
                open.push((part, pieces.clone()));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Budget in ticks of one query in the first round of a proof.
    const WORK: u64 = 100_000;

    fn equal(t: &mut LinearForms, f: FormId, g: FormId) -> bool {
        let d = t.sub(f, g).unwrap();
        t.is_zero_by_splitting(d, 20, WORK).unwrap()
    }

    /// Returns a number of 25 bits.
    fn wide() -> (LinearForms, FormId) {
        let mut t = LinearForms::default();
        let x = t.free((-(1 << 24), (1 << 24) - 1)).unwrap();
        (t, x)
    }

    #[test]
    fn the_larger_of_two_is_one_value_and_what_it_is_beyond_the_other() {
        let mut t = LinearForms::default();
        let [x, y] = [(); 2].map(|()| t.free((-60, 60)).unwrap());
        let d = t.sub(x, y).unwrap();
        let less = t.negative(d).unwrap();
        let chosen = t.mux(less, y, x).unwrap();
        let more = t.positive(d).unwrap();
        let sum = t.add(y, more).unwrap();
        assert!(equal(&mut t, chosen, sum));
        assert!(!equal(&mut t, chosen, x));
    }

    /// Returns the number of thresholds that are at most `x`.
    fn passed(t: &mut LinearForms, x: FormId, thresholds: impl Iterator<Item = i128>) -> FormId {
        let mut count = t.constant(0);
        for threshold in thresholds {
            let room = t.offset(x, -threshold).unwrap();
            let below = t.negative(room).unwrap();
            count = t.linear(count, -1, below).and_then(|c| t.offset(c, 1)).unwrap();
        }
        count
    }

    /// Returns `min(max(x, 0), most)`.
    fn within(t: &mut LinearForms, x: FormId, most: i128) -> FormId {
        let above = t.positive(x).unwrap();
        let room = t.offset(above, -most).unwrap();
        let fits = t.negative(room).unwrap();
        let top = t.constant(most);
        t.mux(fits, above, top).unwrap()
    }

    #[test]
    fn a_product_with_a_constant_counts_thresholds() {
        let (mut t, x) = wide();
        // Steps of about 1024.6.
        let product = t.scale(x, 2).and_then(|p| t.scale(p, 67_075_177)).and_then(|p| t.floor(p, 37)).unwrap();
        let by_product = within(&mut t, product, 4);
        let steps = |i: i128| ((1i128 << 36) * i + 67_075_176) / 67_075_177;
        let by_thresholds = passed(&mut t, x, (1..=4).map(steps));
        assert!(equal(&mut t, by_product, by_thresholds));
        // One of the thresholds differs.
        let wrong = passed(&mut t, x, (1..=4).map(|i| steps(i) + i128::from(i == 3)));
        assert!(!equal(&mut t, by_product, wrong));
    }

    #[test]
    fn halves_go_to_even_numbers_in_two_ways() {
        let (mut t, x) = wide();
        // floor((x + 2^14 - 1 + odd) / 2^15) with the lowest integer bit `odd`; and rounded up, minus one if that
        // rounded an odd half.
        let whole = t.floor(x, 15).unwrap();
        let odd = |t: &mut LinearForms, y: FormId| {
            let half = t.floor(y, 1).unwrap();
            t.linear(y, -2, half).unwrap()
        };
        let bit = odd(&mut t, whole);
        let moved = t.add(x, bit).and_then(|m| t.offset(m, (1 << 14) - 1)).unwrap();
        let first = t.floor(moved, 15).unwrap();
        let up = t.offset(x, 1 << 14).unwrap();
        let count = t.floor(up, 15).unwrap();
        let rest = t.linear(up, -(1 << 15), count).unwrap();
        let tie = t.zero(rest).unwrap();
        let last = odd(&mut t, count);
        let less = t.times(tie, last).unwrap();
        let second = t.sub(count, less).unwrap();
        let (first, second) = (within(&mut t, first, 100), within(&mut t, second, 100));
        assert!(equal(&mut t, first, second));
        let wrong = within(&mut t, count, 100);
        assert!(!equal(&mut t, first, wrong));
    }
}
