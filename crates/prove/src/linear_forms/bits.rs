//! Gates of forms, for equalities that forms leave undecided.

use super::{Atom, AtomId, FormId, LinearForms, OrOverflow, Overflow, Shape, add, mul, power};
use crate::aig::Lit;
use crate::bit_vector::{Words, resize};
use crate::engine::Engine;
use rustc_hash::FxHashMap;

/// Gates of atoms, shared by all forms.
#[derive(Default)]
pub struct Bits {
    /// Bits in two's complement, as wide as the atom's range needs.
    words: FxHashMap<AtomId, Vec<Lit>>,
    /// Gates of forms that have a known shape in addition to their terms.
    shaped: FxHashMap<FormId, Vec<Lit>>,
    /// `true` if cones are cut at wide sums too.
    cuts_sums: bool,
    /// Gates of wide sums that are operands of atoms, by their terms without the common factor.
    sums: FxHashMap<Addends, Vec<Lit>>,
}

/// Terms of a sum: atoms and factors.
type Addends = Vec<(AtomId, i128)>;

/// Number of terms from which on a sum is wide.
const WIDE: usize = 4;

/// Returns the terms of a wide sum divided by the content of all factors, with a positive first factor, and this
/// divisor. Returns `None` for other forms.
fn bare(terms: &LinearForms, f: FormId) -> Option<(Addends, i128)> {
    if terms.len(f) < WIDE {
        return None;
    }
    let first = terms.terms(f).next()?.1;
    let content = if first < 0 { -terms.content(f) } else { terms.content(f) };
    Some((terms.terms(f).map(|(a, c)| (a, c / content)).collect(), content))
}

/// Source of gates: a form or an atom.
#[derive(Clone, Copy)]
enum Part {
    Form(FormId),
    Atom(AtomId),
}

/// Returns the number of bits in two's complement that represent a range.
fn width(range: super::Range) -> u32 {
    let magnitude = (!range.0.min(-1)).max(range.1.max(0)) as u128;
    129 - magnitude.leading_zeros()
}

fn constant(value: i128, width: usize) -> Vec<Lit> {
    (0..width).map(|i| Lit::constant(value >> i.min(127) & 1 == 1)).collect()
}

/// Returns `total + factor * word`, as wide as `total`.
fn plus_multiple(w: &mut Words, mut total: Vec<Lit>, word: &[Lit], factor: i128) -> Vec<Lit> {
    let width = total.len();
    let word = resize(word, true, width);
    // Signed digits have few nonzero digits.
    let mut rest = factor;
    let mut at = 0usize;
    while rest != 0 && at < width {
        if rest & 1 == 1 {
            let digit = if rest & 3 == 3 { -1 } else { 1 };
            let (low, high) = total.split_at(at);
            let operand = &word[..width - at];
            let sum = if digit > 0 { w.add(high, operand, Lit::FALSE, false) } else { w.sub(high, operand, false) };
            total = [low, &sum].concat();
            rest -= digit;
        }
        rest >>= 1;
        at += 1;
    }
    total
}

impl Bits {
    /// Returns a map without gates. With `cuts_sums`, cones are also cut at wide sums that are operands of atoms. This
    /// helps if both sides have the sum, and hides bits if only some bits of the sum are equal.
    pub fn new(cuts_sums: bool) -> Bits {
        Bits { cuts_sums, ..Bits::default() }
    }

    /// Returns the gates of an atom; `None` if they were not built.
    pub fn atom(&self, a: AtomId) -> Option<&[Lit]> {
        self.words.get(&a).map(Vec::as_slice)
    }

    /// Returns the low `width` bits of a form.
    ///
    /// # Errors
    /// [`Overflow`] if a number does not fit.
    pub fn word(&mut self, terms: &LinearForms, e: &mut Engine, f: FormId, width: usize) -> OrOverflow<Vec<Lit>> {
        // Parts in topological order.
        let mut stack = vec![Part::Form(f)];
        while let Some(&part) = stack.last() {
            let before = stack.len();
            match part {
                Part::Form(f) if self.shaped.contains_key(&f) => {}
                Part::Form(f) => {
                    let shape = terms.shape(f);
                    match shape {
                        Some(shape) => {
                            let open = |f: &FormId| !self.is_made(terms, *f);
                            stack.extend(shape.operands().into_iter().filter(open).map(Part::Form));
                        }
                        None => stack.extend(self.open_atoms(terms, f)),
                    }
                    if stack.len() > before {
                        continue;
                    }
                    if let Some(shape) = shape {
                        let word = self.shape(terms, &mut e.words, f, shape)?;
                        self.shaped.insert(f, word);
                    }
                }
                Part::Atom(a) if self.words.contains_key(&a) => {}
                Part::Atom(a) => {
                    let (forms, atoms) = terms.parts(a);
                    stack.extend(forms.into_iter().filter(|&f| !self.is_made(terms, f)).map(Part::Form));
                    stack.extend(atoms.into_iter().filter(|a| !self.words.contains_key(a)).map(Part::Atom));
                    if stack.len() > before {
                        continue;
                    }
                    for f in terms.parts(a).0 {
                        self.cut_at_sum(terms, e, f)?;
                    }
                    let word = self.make(terms, e, a)?;
                    // Cones are cut at values of the model first.
                    if matches!(terms.atom(a), Atom::Value(_)) {
                        e.add_cut(&word);
                    }
                    self.words.insert(a, word);
                }
            }
            stack.pop();
        }
        self.sum(terms, &mut e.words, f, width)
    }

    /// Cuts cones at a wide sum that is an operand of an atom, without its constant, so that several atoms on both
    /// sides are functions of one number.
    fn cut_at_sum(&mut self, terms: &LinearForms, e: &mut Engine, f: FormId) -> OrOverflow<()> {
        if !self.cuts_sums {
            return Ok(());
        }
        let Some((sum, _)) = bare(terms, f).filter(|_| terms.shape(f).is_none()) else { return Ok(()) };
        if self.sums.contains_key(&sum) {
            return Ok(());
        }
        let mut range = (0, 0);
        for &(a, c) in &sum {
            let (low, high) = terms.atom_range(a);
            let (x, y) = (mul(low, c)?, mul(high, c)?);
            range = (add(range.0, x.min(y))?, add(range.1, x.max(y))?);
        }
        let word = self.added(&mut e.words, &sum, 0, width(range) as usize)?;
        e.add_cut(&word);
        self.sums.insert(sum, word);
        Ok(())
    }

    fn open_atoms(&self, terms: &LinearForms, f: FormId) -> Vec<Part> {
        terms.terms(f).filter(|(a, _)| !self.words.contains_key(a)).map(|(a, _)| Part::Atom(a)).collect()
    }

    /// Returns `true` if gates exist for all parts of a form.
    fn is_made(&self, terms: &LinearForms, f: FormId) -> bool {
        match terms.shape(f) {
            Some(_) => self.shaped.contains_key(&f),
            None => terms.terms(f).all(|(a, _)| self.words.contains_key(&a)),
        }
    }

    /// Returns all bits that a form's range needs, built from its bitwise structure.
    fn shape(&self, terms: &LinearForms, w: &mut Words, f: FormId, shape: &Shape) -> OrOverflow<Vec<Lit>> {
        let width = width(terms.range(f)) as usize;
        let pair = |w: &mut Words, x, y| Ok((self.sum(terms, w, x, width)?, self.sum(terms, w, y, width)?));
        Ok(match shape {
            Shape::And(x, y) => {
                let (x, y) = pair(w, *x, *y)?;
                x.iter().zip(&y).map(|(&x, &y)| w.aig.and(x, y)).collect()
            }
            Shape::Or(x, y) => {
                let (x, y) = pair(w, *x, *y)?;
                x.iter().zip(&y).map(|(&x, &y)| w.aig.or(x, y)).collect()
            }
            Shape::Xor(x, y) => {
                let (x, y) = pair(w, *x, *y)?;
                x.iter().zip(&y).map(|(&x, &y)| w.aig.xor(x, y)).collect()
            }
            Shape::Mux(c, x, y) => {
                let c = self.sum(terms, w, *c, 1)?[0];
                let (x, y) = pair(w, *x, *y)?;
                w.mux(c, &x, &y)
            }
            Shape::Cut(x, cut, signed) => {
                let word = self.sum(terms, w, *x, *cut as usize)?;
                resize(&word, *signed, width)
            }
            Shape::Fields(parts) => {
                let mut word: Vec<Lit> = Vec::new();
                for (i, &(at, part)) in parts.iter().enumerate() {
                    let end = parts.get(i + 1).map_or(width, |p| p.0 as usize);
                    word.truncate(at as usize);
                    word.extend(self.sum(terms, w, part, end.saturating_sub(at as usize))?);
                }
                word.truncate(width);
                word
            }
        })
    }

    fn sum(&self, terms: &LinearForms, w: &mut Words, f: FormId, width: usize) -> OrOverflow<Vec<Lit>> {
        if let Some(word) = self.shaped.get(&f) {
            return Ok(resize(word, true, width));
        }
        let start = terms.constant_of(f);
        if let Some((sum, content)) = bare(terms, f)
            && let Some(word) = self.sums.get(&sum)
        {
            return Ok(plus_multiple(w, constant(start, width), word, content));
        }
        let all: Addends = terms.terms(f).collect();
        self.added(w, &all, start, width)
    }

    /// Returns the low `width` bits of a sum of multiples of atoms, whose gates exist, and a constant.
    fn added(&self, w: &mut Words, sum: &[(AtomId, i128)], start: i128, width: usize) -> OrOverflow<Vec<Lit>> {
        let mut total = constant(start, width);
        for (a, c) in sum {
            total = plus_multiple(w, total, self.words.get(a).ok_or(Overflow)?, *c);
        }
        Ok(total)
    }

    /// Returns all bits that a form's range needs.
    fn whole(&self, terms: &LinearForms, w: &mut Words, f: FormId) -> OrOverflow<Vec<Lit>> {
        self.sum(terms, w, f, width(terms.range(f)) as usize)
    }

    fn make(&self, terms: &LinearForms, e: &mut Engine, a: AtomId) -> OrOverflow<Vec<Lit>> {
        let range = terms.atom_range(a);
        let width = width(range) as usize;
        let w = &mut e.words;
        Ok(match terms.atom(a) {
            Atom::Free(_) => {
                // The range contains exactly the values of a port, so their number is a power of two.
                let bits = (range.1 - range.0 + 1).trailing_zeros() as usize;
                if range.1 - range.0 + 1 != power(bits as u32)? {
                    return Err(Overflow);
                }
                let mut word: Vec<Lit> = (0..bits).map(|i| w.aig.input(format!("free{}[{i}]", a.0))).collect();
                if range.0 == 0 {
                    word.push(Lit::FALSE);
                } else if range.0 != -(range.1 + 1) {
                    return Err(Overflow);
                }
                word
            }
            Atom::Value(x) => self.sum(terms, w, *x, width)?,
            Atom::Floor(x, m) => {
                let word = self.whole(terms, w, *x)?;
                let from = (*m as usize).min(word.len() - 1);
                resize(&word[from..], true, width)
            }
            Atom::Negative(x) => {
                let word = self.whole(terms, w, *x)?;
                vec![word[word.len() - 1], Lit::FALSE]
            }
            Atom::Zero(x) => {
                let word = self.whole(terms, w, *x)?;
                vec![!w.any(&word), Lit::FALSE]
            }
            Atom::Positive(x) => {
                let word = self.whole(terms, w, *x)?;
                let keep = !word[word.len() - 1];
                let word: Vec<Lit> = word.iter().map(|&l| w.aig.and(l, keep)).collect();
                resize(&word, true, width)
            }
            Atom::If(c, x) => {
                let c = self.sum(terms, w, *c, 1)?[0];
                let word = self.whole(terms, w, *x)?;
                let word: Vec<Lit> = word.iter().map(|&l| w.aig.and(l, c)).collect();
                resize(&word, true, width)
            }
            Atom::Product(x, y) => {
                let (x, y) = (self.whole(terms, w, *x)?, self.whole(terms, w, *y)?);
                w.mul((&x, true), (&y, true), width)
            }
            Atom::Monomial(atoms) => {
                let mut word: Vec<Lit> = vec![Lit::TRUE, Lit::FALSE];
                for a in atoms.iter() {
                    let other = self.words.get(a).ok_or(Overflow)?;
                    let both = word.len() + other.len();
                    word = w.mul((&word, true), (other, true), both);
                }
                resize(&word, true, width)
            }
            Atom::And(forms) => {
                let mut out = vec![Lit::TRUE; width];
                for &f in forms.iter() {
                    let word = self.sum(terms, w, f, width)?;
                    out = out.iter().zip(&word).map(|(&x, &y)| w.aig.and(x, y)).collect();
                }
                out
            }
            Atom::Table(x, t) => {
                let (lo, hi) = terms.range(*x);
                let size = 128 - ((hi - lo) as u128).leading_zeros();
                if size > 18 {
                    return Err(Overflow);
                }
                // The address is the distance to the smallest argument.
                let word = self.whole(terms, w, *x)?;
                let wide = resize(&word, true, word.len() + 1);
                let start = constant(-lo, wide.len());
                let addr = w.add(&wide, &start, Lit::FALSE, false);
                let addr = resize(&addr, false, size as usize);
                w.table(&addr, width, |entry, bit| {
                    let index = usize::try_from(lo + entry as i128 - t.first).ok();
                    index.and_then(|i| t.values.get(i)).is_some_and(|v| v >> bit.min(127) & 1 == 1)
                })
            }
        })
    }
}
