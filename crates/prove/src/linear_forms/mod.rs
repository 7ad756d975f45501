//! Words as integers: linear forms over atoms, constructed so that equal arithmetic has equal forms.
//!
//! A form is `constant + sum of coefficient * atom`, exact, in integers. An atom is an input, or a nonlinear operation:
//! a floor division by a power of two, a comparison with zero, a product, a choice, a bitwise and, a look-up table.
//! Forms and atoms are hash-consed, so that equal values of both sides of a proof have the same index.
//!
//! A word of `n` bits represents a form modulo `2^n`. All wiring is arithmetic: the bits from `m` up are `floor(x /
//! 2^m)`, the low `m` bits are `x - 2^m floor(x / 2^m)`, and a sign extension is the identity if the form's range fits.
//! Nested floors are merged, and multiples of the divisor are moved out of a floor, so that a sum whose low bits are
//! computed separately has the form of the plain sum.
//!
//! [`rules`] contains the operations, [`model`] the semantics of the model, [`samples`] values for assignments of the
//! inputs, [`bits`] gates for the remaining atoms. Each rule is an identity over the integers for every value within
//! the ranges of the atoms. Ranges are proved bounds, never claims of a file. If a number exceeds 127 bits, the
//! comparison of forms fails ([`Overflow`]), and gates are compared instead.

pub mod bits;
mod boxes;
#[cfg(test)]
mod check;
mod local;
pub mod model;
pub mod polynomial;
pub mod rules;
pub mod samples;
mod unfold;

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Arc;

/// Error: a number does not fit 127 bits, or a form exceeds its size limit, so that forms cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// A result, or [`Overflow`].
pub type OrOverflow<T> = Result<T, Overflow>;

/// Set of rules for the construction of forms. No set is stronger than all others: an equality that few rules prove may
/// be undecided with more rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleSet {
    /// Sums, signs and floors. The lowest bit of a number is a separate atom, as in the selection of multiplier rows.
    #[default]
    Rows,
    /// Gives every operation a name, sums included, so that each operation is compared over its own operands.
    Local,
    /// Like [`RuleSet::All`], but the name of a look-up table is an ordinary number whose bits are bits, so that
    /// products of these bits are recognised. In the other sets the bits of a table are tables of the same argument.
    Bits,
    /// All rules: numbers before wrapping have names, words are expressed by the values whose bits they contain, and
    /// functions of a bit are compared in both cases.
    All,
}

impl RuleSet {
    /// Returns `true` if wrapped numbers, signs and bits of words are expressed by names.
    pub fn has_names(self) -> bool {
        matches!(self, RuleSet::Bits | RuleSet::All)
    }

    /// Returns `true` if the lowest bit of a number is an atom of its own.
    fn has_rows(self) -> bool {
        self != RuleSet::Local
    }
}

/// A linear form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub u32);

/// An atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub u32);

/// Nonlinear part of a form, or a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A free value with a range of its own; its index is arbitrary.
    Free(u32),
    /// Named value of the model that is not linear in other named values and inputs. Rules treat it as opaque, so that
    /// each operation is compared separately.
    Value(FormId),
    /// `floor(x / 2^m)`, from `x` and `m`.
    Floor(FormId, u32),
    /// 1 if the form is negative, otherwise 0.
    Negative(FormId),
    /// 1 if the form is zero, otherwise 0.
    Zero(FormId),
    /// The form if it is positive, otherwise 0.
    Positive(FormId),
    /// The first form, which is 0 or 1, times the second.
    If(FormId, FormId),
    /// A product of at least two atoms, in order.
    Monomial(Arc<[AtomId]>),
    /// A product of forms too large to be multiplied out.
    Product(FormId, FormId),
    /// Bitwise and of forms in two's complement of unlimited width.
    And(Arc<[FormId]>),
    /// A look-up table of a form: entry `i` is the value for `first + i`.
    Table(FormId, Arc<Table>),
}

/// Bitwise structure of a form over other forms.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Bitwise and.
    And(FormId, FormId),
    /// Bitwise or.
    Or(FormId, FormId),
    /// Bitwise exclusive or.
    Xor(FormId, FormId),
    /// The second form if the first, a condition, is 1, otherwise the third.
    Mux(FormId, FormId, FormId),
    /// The low bits of a form as a number: their count, and `true` for a signed number.
    Cut(FormId, u32, bool),
    /// Concatenated forms, each with its lowest bit position; all but the top one end where the next one begins.
    Fields(Arc<[(u32, FormId)]>),
}

impl Shape {
    /// Returns the forms on which the structure depends.
    pub(super) fn operands(&self) -> Vec<FormId> {
        match self {
            Shape::And(x, y) | Shape::Or(x, y) | Shape::Xor(x, y) => vec![*x, *y],
            Shape::Mux(c, x, y) => vec![*c, *x, *y],
            Shape::Cut(x, ..) => vec![*x],
            Shape::Fields(parts) => parts.iter().map(|p| p.1).collect(),
        }
    }
}

/// Values of a function for consecutive arguments, the first of them `first`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The argument of entry 0.
    pub first: i128,
    /// Values of the function.
    pub values: Vec<i128>,
}

/// Inclusive lower and upper bound.
pub type Range = (i128, i128);

struct FormData {
    start: u32,
    len: u32,
    constant: i128,
    range: Range,
}

/// Largest number of terms of one form.
const MAX_FORM: usize = 1 << 14;
/// Largest number of terms of all forms.
const MAX_TERMS: usize = 60_000_000;
/// Default budget of all forms, in ticks.
const MAX_WORK: u64 = 4_000_000_000;

/// Largest number of terms of a form that is a run of bits of a value.
const MAX_CUT: usize = 3;
/// Largest number of terms of a named form that is analysed for wrapping.
const MAX_UNWRAPPED: usize = 16;

/// Maximum nesting of sign queries, as rules that undo one another would recur forever.
const MAX_ASKED: usize = 64;

/// All forms and atoms.
#[derive(Default)]
pub struct LinearForms {
    forms: Vec<FormData>,
    term_atoms: Vec<AtomId>,
    term_factors: Vec<i128>,
    form_of: FxHashMap<u64, FormId>,
    atoms: Vec<Atom>,
    atom_ranges: Vec<Range>,
    atom_of: FxHashMap<Atom, AtomId>,
    floors: FxHashMap<(FormId, u32), FormId>,
    negatives: FxHashMap<FormId, FormId>,
    /// For each form that is the positive part of another one: the other form.
    rectified: FxHashMap<FormId, FormId>,
    /// Forms whose signs are being computed, outermost first.
    asked: Vec<FormId>,
    /// For each choice between floors: the equal floor of a choice.
    aliases: FxHashMap<FormId, FormId>,
    /// Forms whose choices were analysed.
    aliased: rustc_hash::FxHashSet<FormId>,
    tables: u32,
    /// Floors `floor((y + 2^(m-1)) / 2^m)`, which are rounded to the nearest.
    rounded: rustc_hash::FxHashSet<AtomId>,
    /// For some rounded floors: `floor(y / 2^m)` and `floor(y / 2^(m-1))`.
    halves: FxHashMap<AtomId, (FormId, FormId)>,
    /// Nesting depth of splits of values at a bit.
    within_splits: u32,
    /// Nesting depth of the computation of `halves`.
    within_halves: u32,
    /// Form that a name denotes instead of its original atom; see [`LinearForms::named`].
    solved: FxHashMap<AtomId, FormId>,
    /// Named floors by reduced operand and shift, with the shift from which on the name is not useful because other
    /// atoms replace the missing part.
    shifted: FxHashMap<(FormId, u32), u32>,
    /// Names of forms.
    names: FxHashMap<FormId, FormId>,
    /// For each number whose low bits equal those of a form over names: the number of these bits, and that form.
    low_bits: FxHashMap<FormId, (u32, FormId)>,
    /// Shifts of the floors in `shifted`, each once.
    shifts: Vec<u32>,
    /// Nesting depth of expressing floors by names.
    within_names: u32,
    rules: RuleSet,
    /// Expansions of the names of sums over values that are not sums.
    expansions: FxHashMap<AtomId, FormId>,
    /// Such sums without constant and common factor, of either sign, with their name, its factor and its constant.
    summed: FxHashMap<FormId, (FormId, i128, i128)>,
    /// `true` while names are expanded; no name is introduced then.
    taking_apart: bool,
    /// Bitwise structure of forms, if it determines more of their bits than their terms do.
    shapes: FxHashMap<FormId, Shape>,
    /// Forms whose factorisation was already tried.
    factored: rustc_hash::FxHashSet<FormId>,
    /// Products that equal truncated forms; see [`LinearForms::product_within`].
    products: FxHashMap<(FormId, u32, Range), Option<FormId>>,
    /// Definitions of bits by logic functions of other bits.
    logic: FxHashMap<FormId, polynomial::Logic>,
    /// Ticks spent: visited terms and similar steps.
    work: u64,
    /// Maximum of `work`; [`MAX_WORK`] if `None`.
    most: Option<u64>,
}

/// Parts of a form under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// Terms in ascending order of atoms, without zero factors.
    pub(super) terms: Vec<(AtomId, i128)>,
    pub(super) constant: i128,
}

pub(super) fn mul(a: i128, b: i128) -> OrOverflow<i128> {
    a.checked_mul(b).filter(|v| v.unsigned_abs() >> 126 == 0).ok_or(Overflow)
}

pub(super) fn add(a: i128, b: i128) -> OrOverflow<i128> {
    a.checked_add(b).filter(|v| v.unsigned_abs() >> 126 == 0).ok_or(Overflow)
}

/// Returns `2^n`.
pub fn power(n: u32) -> OrOverflow<i128> {
    if n < 126 { Ok(1 << n) } else { Err(Overflow) }
}

impl LinearForms {
    /// Returns an empty set of forms with these rules.
    pub fn with(rules: RuleSet) -> LinearForms {
        LinearForms { rules, ..LinearForms::default() }
    }

    /// Returns the rules.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// Expands the names of sums in a form, down to values that are not sums. The range of the form becomes that of the
    /// expansion if it is narrower.
    pub(super) fn expanded(&mut self, f: FormId) -> OrOverflow<FormId> {
        if !self.terms(f).any(|(a, _)| self.expansions.contains_key(&a)) {
            return Ok(f);
        }
        let Sum { terms, constant } = self.sum_of(f);
        let mut out = self.constant(constant);
        for (a, factor) in terms {
            let part = match self.expansions.get(&a) {
                Some(&known) => known,
                None => self.single(a)?,
            };
            out = self.linear(out, factor, part)?;
        }
        self.narrow(f, self.range(out));
        Ok(out)
    }

    /// Returns the bounds of a form.
    pub fn range(&self, f: FormId) -> Range {
        self.forms[f.0 as usize].range
    }

    /// Intersects the range of a form with proved bounds.
    pub fn narrow(&mut self, f: FormId, to: Range) {
        let r = &mut self.forms[f.0 as usize].range;
        let new = (r.0.max(to.0), r.1.min(to.1));
        if new.0 <= new.1 {
            *r = new;
        }
    }

    /// Returns the bounds of an atom.
    pub fn atom_range(&self, a: AtomId) -> Range {
        self.atom_ranges[a.0 as usize]
    }

    /// Returns an atom.
    pub fn atom(&self, a: AtomId) -> &Atom {
        &self.atoms[a.0 as usize]
    }

    /// Returns the constant part of a form.
    pub fn constant_of(&self, f: FormId) -> i128 {
        self.forms[f.0 as usize].constant
    }

    /// Returns the number of terms without the constant.
    pub fn len(&self, f: FormId) -> usize {
        self.forms[f.0 as usize].len as usize
    }

    /// Returns the ticks spent so far: the number of visited terms, and other work of equal cost. The number is the
    /// same on every computer.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Adds the ticks of work on forms outside of this type.
    pub fn charge(&mut self, units: u64) {
        self.work += units;
    }

    /// Sets the budget in ticks; no form is created after that many ticks.
    pub fn set_most(&mut self, units: u64) {
        self.most = Some(units);
    }

    /// Runs a function with a budget of `units` ticks; new forms fail after that.
    pub fn within<T>(&mut self, units: u64, run: impl FnOnce(&mut LinearForms) -> T) -> T {
        let before = self.most;
        let all = before.unwrap_or(MAX_WORK);
        self.most = Some(all.min(self.work.saturating_add(units)));
        let out = run(self);
        self.most = before;
        out
    }

    /// Returns `true` if the budget is exhausted.
    pub fn is_spent(&self) -> bool {
        self.work > self.most.unwrap_or(MAX_WORK)
    }

    /// Returns `true` if no forms exist.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Returns the terms of a form, in ascending order of atoms.
    pub fn terms(&self, f: FormId) -> impl ExactSizeIterator<Item = (AtomId, i128)> + '_ {
        let d = &self.forms[f.0 as usize];
        let span = d.start as usize..(d.start + d.len) as usize;
        self.term_atoms[span.clone()].iter().copied().zip(self.term_factors[span].iter().copied())
    }

    /// Returns the value of a constant form; `None` for other forms.
    pub fn as_const(&self, f: FormId) -> Option<i128> {
        let d = &self.forms[f.0 as usize];
        if d.len == 0 { Some(d.constant) } else { (d.range.0 == d.range.1).then_some(d.range.0) }
    }

    pub(super) fn sum_of(&self, f: FormId) -> Sum {
        Sum { terms: self.terms(f).collect(), constant: self.constant_of(f) }
    }

    /// Returns the form with these parts, or its hash if it does not exist.
    fn find(&self, sum: &Sum) -> Result<FormId, u64> {
        let mut hasher = FxHasher::default();
        hasher.write_i128(sum.constant);
        for &(a, c) in &sum.terms {
            hasher.write_u32(a.0);
            hasher.write_i128(c);
        }
        let mut key = hasher.finish();
        while let Some(&known) = self.form_of.get(&key) {
            let same = self.constant_of(known) == sum.constant
                && self.len(known) == sum.terms.len()
                && self.terms(known).eq(sum.terms.iter().copied());
            if same {
                return Ok(known);
            }
            key = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
        }
        Err(key)
    }

    /// Returns the form with these parts, created if necessary.
    pub(super) fn form(&mut self, sum: &Sum) -> OrOverflow<FormId> {
        self.work += sum.terms.len() as u64 + 1;
        let key = match self.find(sum) {
            Ok(known) => return Ok(known),
            Err(key) => key,
        };
        // Constants are created even if the budget is exhausted.
        let full = self.is_spent() || self.term_atoms.len() > MAX_TERMS;
        if !sum.terms.is_empty() && (full || sum.terms.len() > MAX_FORM) {
            return Err(Overflow);
        }
        let mut range = (sum.constant, sum.constant);
        for &(a, c) in &sum.terms {
            let (lo, hi) = self.atom_range(a);
            let (x, y) = (mul(lo, c)?, mul(hi, c)?);
            range = (add(range.0, x.min(y))?, add(range.1, x.max(y))?);
        }
        let id = FormId(self.forms.len() as u32);
        let start = u32::try_from(self.term_atoms.len()).map_err(|_| Overflow)?;
        self.term_atoms.extend(sum.terms.iter().map(|t| t.0));
        self.term_factors.extend(sum.terms.iter().map(|t| t.1));
        self.forms.push(FormData { start, len: sum.terms.len() as u32, constant: sum.constant, range });
        self.form_of.insert(key, id);
        Ok(id)
    }

    /// Returns the index of an atom, which is created if necessary. `range` narrows the range of its value.
    pub(super) fn intern(&mut self, atom: Atom, range: Range) -> AtomId {
        if let Some(&known) = self.atom_of.get(&atom) {
            let r = &mut self.atom_ranges[known.0 as usize];
            *r = (r.0.max(range.0), r.1.min(range.1));
            return known;
        }
        let id = AtomId(self.atoms.len() as u32);
        self.tables += u32::from(matches!(atom, Atom::Table(..)));
        self.atoms.push(atom.clone());
        self.atom_ranges.push(range);
        self.atom_of.insert(atom, id);
        id
    }

    /// Returns a new free value.
    pub fn free(&mut self, range: Range) -> OrOverflow<FormId> {
        let atom = self.intern(Atom::Free(self.atoms.len() as u32), range);
        self.single(atom)
    }

    /// Records the construction of a form from older forms, so that no form is defined by itself.
    pub fn set_shape(&mut self, f: FormId, shape: Shape) {
        if self.len(f) + usize::from(self.constant_of(f) != 0) > 1 && shape.operands().iter().all(|&x| x < f) {
            self.shapes.entry(f).or_insert(shape);
        }
    }

    /// Returns the bitwise structure of a form, if it is known.
    pub fn shape(&self, f: FormId) -> Option<&Shape> {
        self.shapes.get(&f)
    }

    /// Returns the form of one atom.
    pub(super) fn single(&mut self, atom: AtomId) -> OrOverflow<FormId> {
        self.form(&Sum { terms: vec![(atom, 1)], constant: 0 })
    }

    /// Returns the form of a constant.
    pub fn constant(&mut self, value: i128) -> FormId {
        self.form(&Sum { terms: Vec::new(), constant: value }).unwrap_or(FormId(0))
    }

    /// Returns the name of a value of the model, or the form itself if it is linear in named values and inputs.
    pub(super) fn named(&mut self, f: FormId) -> OrOverflow<FormId> {
        let linear = self.terms(f).all(|(a, _)| matches!(self.atom(a), Atom::Free(_) | Atom::Value(_)));
        if linear && (self.rules != RuleSet::Local || self.len(f) < 2) {
            return Ok(f);
        }
        // A multiple of a form gets a multiple of the form's name.
        let content = self.content(f);
        if content > 1 {
            let part = self.divided(f, content)?;
            let name = self.named(part)?;
            let out = self.scale(name, content)?;
            return self.offset(out, self.constant_of(f).rem_euclid(content));
        }
        if linear {
            return self.named_sum(f);
        }
        let atom = self.intern(Atom::Value(f), self.range(f));
        let name = self.single(atom)?;
        self.names.insert(f, name);
        if self.rules.has_names()
            && let Some((whole, bits)) = self.before_wrapping(f)?
        {
            self.record_low_bits(whole, bits, name);
        }
        self.solve(f, name)?;
        Ok(name)
    }

    /// Returns the name of a sum of names: that of an equal sum, or of a sum of which it is a multiple. The order of
    /// the terms is irrelevant.
    fn named_sum(&mut self, f: FormId) -> OrOverflow<FormId> {
        let whole = self.expanded(f)?;
        let constant = self.constant_of(whole);
        let plain = self.offset(whole, -constant)?;
        let sign = if self.terms(plain).last().is_some_and(|(_, c)| c < 0) { -1 } else { 1 };
        let factor = mul(self.content(plain), sign)?;
        if factor == 0 {
            return Ok(whole);
        }
        let turned = self.scale(plain, sign)?;
        let key = self.divided(turned, factor.abs())?;
        if let Some(&(name, of_name, offset)) = self.summed.get(&key)
            && factor % of_name == 0
        {
            let times = factor / of_name;
            let out = self.scale(name, times)?;
            return self.offset(out, add(constant, -mul(times, offset)?)?);
        }
        let atom = self.intern(Atom::Value(f), self.range(f));
        let name = self.single(atom)?;
        self.names.insert(f, name);
        self.expansions.insert(atom, whole);
        self.summed.insert(key, (name, factor, constant));
        Ok(name)
    }

    /// Returns `x` and `k` for a form that is the low `k` bits of `x`: `x - 2^k floor(x / 2^k)`, or the signed variant.
    fn before_wrapping(&mut self, f: FormId) -> OrOverflow<Option<(FormId, u32)>> {
        let cuts: Vec<(AtomId, i128, FormId, u32)> = self
            .terms(f)
            .filter_map(|(a, c)| match *self.atom(a) {
                Atom::Floor(y, k) if k > 0 && k < 120 && c == -(1 << k) => Some((a, c, y, k)),
                _ => None,
            })
            .collect();
        for (a, c, y, k) in cuts {
            let turns = self.single(a)?;
            let whole = self.linear(f, -c, turns)?;
            let moved = self.sub(y, whole)?;
            if self.len(moved) == 0 && [0, 1 << (k - 1)].contains(&self.constant_of(moved)) {
                return Ok(Some((whole, k)));
            }
        }
        Ok(None)
    }

    /// Records that the low `width` bits of a form equal those of `same`, a form over names.
    pub fn record_low_bits(&mut self, f: FormId, width: u32, same: FormId) {
        self.low_bits.entry(f).or_insert((width, same));
    }

    /// Returns the recorded form over names with the same low `width` bits, otherwise the form itself.
    pub fn bits_by_name(&mut self, f: FormId, width: u32) -> OrOverflow<FormId> {
        if let Some(&(bits, same)) = self.low_bits.get(&f) {
            return Ok(if width <= bits { same } else { f });
        }
        if let Some((a, 1)) = self.only(f)
            && let Atom::Floor(x, from) = *self.atom(a)
            && self.constant_of(f) == 0
            && let Some(&(bits, same)) = self.low_bits.get(&x)
            && from + width <= bits
        {
            return self.floor(same, from);
        }
        Ok(f)
    }

    /// Returns the name of a number that wraps at `2^w` or beyond, modulo `2^w`: `x` for `x + 2^k y`. Returns `None`
    /// for other forms.
    pub(super) fn unwrapped(&mut self, f: FormId, w: u32) -> OrOverflow<Option<FormId>> {
        if self.taking_apart || !self.rules.has_names() {
            return Ok(None);
        }
        let Some((a, 1)) = self.only(f) else { return Ok(None) };
        let Atom::Value(x) = *self.atom(a) else { return Ok(None) };
        if self.len(x) > MAX_UNWRAPPED {
            return Ok(None);
        }
        let plain = self.reduced(x, w)?;
        if self.len(plain) == self.len(x) {
            return Ok(None);
        }
        let out = self.offset(plain, self.constant_of(f))?;
        self.reduced(out, w).map(Some)
    }

    /// Returns the value of the model (unsigned or signed) with the low `width` bits of a named number, if the number
    /// is not such a word itself and such a value exists; otherwise the form itself. So a word has the same form in all
    /// uses.
    pub fn as_known(&mut self, f: FormId, width: u32) -> OrOverflow<FormId> {
        let is_name = |t: &LinearForms, f| {
            t.only(f).is_some_and(|(a, c)| c == 1 && matches!(t.atom(a), Atom::Value(_))) && t.constant_of(f) == 0
        };
        if width >= 64 || (self.range(f).0 >= 0 && self.range(f).1 >> width == 0) {
            return Ok(f);
        }
        let same = self.bits_by_name(f, width)?;
        if same != f || !self.rules.has_names() || !is_name(self, f) {
            return Ok(same);
        }
        for signed in [false, true] {
            let word = self.value(f, width, signed)?;
            if is_name(self, word) {
                return Ok(word);
            }
        }
        Ok(f)
    }

    /// Returns the number of the low `width` bits of a value that a condition selects, which is the factor of the
    /// condition.
    pub fn as_selected(&mut self, f: FormId, width: u32) -> OrOverflow<FormId> {
        let is_value = |a| matches!(self.atom(a), Atom::Free(_) | Atom::Value(_) | Atom::Floor(..));
        let plain = self.constant_of(f) == 0 && self.only(f).is_some_and(|(a, c)| c == 1 && is_value(a));
        let (lo, hi) = self.range(f);
        if !plain || width >= 64 || (lo >= -(1 << (width - 1)) && hi >> width == 0) {
            return Ok(f);
        }
        self.value(f, width, false)
    }

    /// Returns the name of a form, or the form itself if it has no name.
    pub(super) fn name_for(&self, f: FormId) -> FormId {
        if self.taking_apart || !self.rules.has_names() { f } else { self.names.get(&f).copied().unwrap_or(f) }
    }

    /// Replaces an atom of `f` in all later forms by its definition: `f = c a + rest` with `c` 1 or -1 defines `a` as
    /// `c (name - rest)`. Then every computation of the value, under any name, has the same form, and bits that the
    /// model extracts from a number equal those in any other sum. If all atoms of `f` are floors, as with extracted
    /// bits, the lowest one is replaced.
    fn solve(&mut self, f: FormId, name: FormId) -> OrOverflow<()> {
        let open: Vec<(AtomId, i128)> =
            self.terms(f).filter(|(a, _)| !matches!(self.atom(*a), Atom::Free(_) | Atom::Value(_))).collect();
        let (atom, factor, end) = match open[..] {
            [(atom, factor)] => (atom, factor, u32::MAX),
            _ => {
                let mut floors = Vec::new();
                for &(a, c) in &open {
                    match self.atom(a) {
                        Atom::Floor(_, m) => floors.push((*m, a, c)),
                        Atom::Negative(_) => {}
                        _ => return Ok(()),
                    }
                }
                floors.sort_unstable();
                let Some(&(low, atom, factor)) = floors.first() else { return Ok(()) };
                let others = open.iter().filter(|t| t.0 != atom).map(|t| t.1.trailing_zeros());
                (atom, factor, low + others.min().unwrap_or(0) + 1)
            }
        };
        if factor.abs() != 1 || self.solved.contains_key(&atom) {
            return Ok(());
        }
        let part = self.single(atom)?;
        let rest = self.linear(f, -factor, part)?;
        let d = self.sub(name, rest)?;
        let stands = self.scale(d, factor)?;
        self.narrow(stands, self.atom_range(atom));
        self.solved.insert(atom, stands);
        if let Atom::Floor(x, m) = *self.atom(atom) {
            self.shifted.insert((x, m), end);
            if let Err(at) = self.shifts.binary_search(&m) {
                self.shifts.insert(at, m);
            }
        }
        // Forms with the replaced atom must be computed again.
        self.floors.clear();
        self.negatives.clear();
        self.halves.clear();
        Ok(())
    }

    /// Returns `true` if the floor of a name at this bit is expressed by other floors, as recorded by
    /// [`LinearForms::gap`].
    pub fn knows_gap(&mut self, name: FormId, lo: u32) -> OrOverflow<bool> {
        let low = self.floor(name, lo)?;
        Ok(!self.terms(low).any(|(a, _)| matches!(self.atom(a), Atom::Floor(x, k) if (*x, *k) == (name, lo))))
    }

    /// Records that bits `lo .. hi` of a named value are proved to be zero: `floor(x / 2^m)` for `m` in this range is
    /// `2^(hi - m) floor(x / 2^hi)`.
    pub fn gap(&mut self, name: FormId, lo: u32, hi: u32) -> OrOverflow<()> {
        let high = self.floor(name, hi)?;
        for m in lo..hi {
            let low = self.floor(name, m)?;
            let above = self.scale(high, power(hi - m)?)?;
            if let Some((atom, 1)) = self.only(low)
                && self.constant_of(low) == 0
                && matches!(self.atom(atom), Atom::Floor(x, k) if (*x, *k) == (name, m))
                && !self.solved.contains_key(&atom)
            {
                self.narrow(above, self.atom_range(atom));
                self.solved.insert(atom, above);
            }
        }
        self.floors.clear();
        self.negatives.clear();
        self.halves.clear();
        Ok(())
    }

    /// Returns the form of a new atom, or the replacement of the atom.
    pub(super) fn made(&mut self, atom: AtomId) -> OrOverflow<FormId> {
        match self.solved.get(&atom) {
            Some(&stands) if !self.taking_apart => Ok(stands),
            _ => self.single(atom),
        }
    }

    /// Replaces the atoms of a form that were eliminated after the construction of the form.
    pub(super) fn renewed(&mut self, f: FormId) -> OrOverflow<FormId> {
        if self.taking_apart || !self.terms(f).any(|(a, _)| self.solved.contains_key(&a)) {
            return Ok(f);
        }
        let Sum { terms, constant } = self.sum_of(f);
        let mut out = self.constant(constant);
        for (a, factor) in terms {
            let part = self.made(a)?;
            out = self.linear(out, factor, part)?;
        }
        self.narrow(out, self.range(f));
        Ok(out)
    }

    /// Returns `true` if a form is a sum of inputs and names, or bits or the sign of a value.
    pub fn is_sum_of_names(&self, f: FormId) -> bool {
        let plain = |a: AtomId| matches!(self.atom(a), Atom::Free(_) | Atom::Value(_));
        let few = self.len(f) <= MAX_CUT;
        self.terms(f).all(|(a, _)| match self.atom(a) {
            Atom::Floor(x, _) | Atom::Negative(x) => few && self.terms(*x).all(|t| plain(t.0)),
            _ => plain(a),
        })
    }

    /// Returns `true` if a form is an input or a name, possibly negated or plus a constant, so that its bits are known.
    pub fn is_renamed(&self, f: FormId) -> bool {
        let plain = |a| matches!(self.atom(a), Atom::Free(_) | Atom::Value(_));
        self.only(f).is_some_and(|(a, factor)| factor.abs() == 1 && plain(a))
    }

    /// Returns `true` if a form has products of two inputs or names with more than two values each.
    pub(super) fn multiplies_values(&self, f: FormId) -> bool {
        let is_number = |a: AtomId| {
            let (lo, hi) = self.atom_range(a);
            hi - lo > 1 && matches!(self.atom(a), Atom::Free(_) | Atom::Value(_))
        };
        let has_number = |f: FormId| self.terms(f).any(|t| is_number(t.0));
        self.terms(f).any(|(a, _)| match self.atom(a) {
            Atom::Product(x, y) => has_number(*x) && has_number(*y),
            Atom::Monomial(factors) => factors.iter().filter(|&&a| is_number(a)).count() > 1,
            _ => false,
        })
    }

    /// Returns `true` if a form has products of numbers that are not single bits.
    pub fn multiplies(&self, f: FormId) -> bool {
        let is_bit = |a: &AtomId| self.atom_range(*a) == (0, 1);
        self.terms(f).any(|(a, _)| match self.atom(a) {
            Atom::Product(..) => true,
            Atom::Monomial(factors) => factors.iter().filter(|&a| !is_bit(a)).count() > 1,
            _ => false,
        })
    }

    /// Returns the atom that a name represents; returns any other atom unchanged.
    pub(super) fn behind(&self, a: AtomId) -> &Atom {
        match self.atom(a) {
            Atom::Value(x) => match self.terms(*x).next() {
                Some((inner, 1)) if self.len(*x) == 1 && self.constant_of(*x) == 0 => self.atom(inner),
                _ => self.atom(a),
            },
            atom => atom,
        }
    }

    /// Runs a function without the introduction of names.
    pub(super) fn apart<T>(&mut self, run: impl FnOnce(&mut LinearForms) -> T) -> T {
        let before = self.taking_apart;
        let mut kept = None;
        if !before {
            kept = Some((std::mem::take(&mut self.floors), std::mem::take(&mut self.negatives)));
        }
        self.taking_apart = true;
        let out = run(self);
        self.taking_apart = before;
        if let Some((floors, negatives)) = kept {
            (self.floors, self.negatives) = (floors, negatives);
        }
        out
    }

    /// Replaces a named value, or a multiple of one, by its definition; returns any other form unchanged.
    pub fn meaning(&mut self, f: FormId) -> FormId {
        let Some((a, factor)) = self.only(f) else { return f };
        let Atom::Value(x) = *self.atom(a) else { return f };
        let constant = self.constant_of(f);
        self.scale(x, factor).and_then(|m| self.offset(m, constant)).unwrap_or(f)
    }

    /// Returns the forms on which an atom depends, in order, and the atoms of a monomial.
    pub(super) fn parts(&self, a: AtomId) -> (Vec<FormId>, Vec<AtomId>) {
        match self.atom(a) {
            Atom::Free(_) => (vec![], vec![]),
            Atom::Value(x)
            | Atom::Floor(x, _)
            | Atom::Negative(x)
            | Atom::Zero(x)
            | Atom::Positive(x)
            | Atom::Table(x, _) => (vec![*x], vec![]),
            Atom::If(x, y) | Atom::Product(x, y) => (vec![*x, *y], vec![]),
            Atom::Monomial(atoms) => (vec![], atoms.to_vec()),
            Atom::And(forms) => (forms.to_vec(), vec![]),
        }
    }

    /// Returns the atoms on which some forms depend, except those for which `done` is `true`, in topological order.
    pub(super) fn needed(&self, forms: &[FormId], done: impl Fn(AtomId) -> bool) -> Vec<AtomId> {
        let mut seen: rustc_hash::FxHashSet<AtomId> = Default::default();
        let mut stack: Vec<AtomId> = forms.iter().flat_map(|&f| self.terms(f).map(|t| t.0)).collect();
        while let Some(a) = stack.pop() {
            if done(a) || !seen.insert(a) {
                continue;
            }
            let (forms, atoms) = self.parts(a);
            stack.extend(atoms);
            stack.extend(forms.iter().flat_map(|&f| self.terms(f).map(|t| t.0)));
        }
        // An atom is created after all atoms on which it depends.
        let mut order: Vec<AtomId> = seen.into_iter().collect();
        order.sort_unstable();
        order
    }
}
