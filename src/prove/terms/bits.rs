//! Gates of forms: what forms leave open is decided on them.

use super::{Atom, AtomId, Beyond, Fit, FormId, Terms, power};
use crate::prove::aig::Lit;
use crate::prove::engine::Engine;
use crate::prove::word::{Words, resize};
use rustc_hash::FxHashMap;

/// Gates of atoms, shared by all forms.
#[derive(Default)]
pub struct Bits {
    /// Two's complement, as wide as the atom's range needs.
    words: FxHashMap<AtomId, Vec<Lit>>,
}

/// Bits of two's complement that hold a range.
fn width(range: super::Range) -> u32 {
    let magnitude = (!range.0.min(-1)).max(range.1.max(0)) as u128;
    129 - magnitude.leading_zeros()
}

fn constant(value: i128, width: usize) -> Vec<Lit> {
    (0..width).map(|i| Lit::constant(value >> i.min(127) & 1 == 1)).collect()
}

impl Bits {
    /// Gates that some atoms have already.
    pub fn atom(&self, a: AtomId) -> Option<&[Lit]> {
        self.words.get(&a).map(Vec::as_slice)
    }

    /// The low `width` bits of a form.
    ///
    /// # Errors
    /// [`Beyond`] where a number does not fit.
    pub fn word(&mut self, terms: &Terms, e: &mut Engine, f: FormId, width: usize) -> Fit<Vec<Lit>> {
        for a in terms.needed(&[f], |a| self.words.contains_key(&a)) {
            let word = self.make(terms, e, a)?;
            // Cones are cut at values of the model first.
            if matches!(terms.atom(a), Atom::Value(_)) {
                e.add_cut(&word);
            }
            self.words.insert(a, word);
        }
        self.sum(terms, &mut e.words, f, width)
    }

    fn sum(&self, terms: &Terms, w: &mut Words, f: FormId, width: usize) -> Fit<Vec<Lit>> {
        let mut total = constant(terms.constant_of(f), width);
        for (a, c) in terms.terms(f) {
            let word = self.words.get(&a).ok_or(Beyond)?;
            let word = resize(word, true, width);
            // Signed digits: few ones.
            let mut rest = c;
            let mut at = 0usize;
            while rest != 0 && at < width {
                if rest & 1 == 1 {
                    let digit = if rest & 3 == 3 { -1 } else { 1 };
                    let (low, high) = total.split_at(at);
                    let operand = &word[..width - at];
                    let sum =
                        if digit > 0 { w.add(high, operand, Lit::FALSE, false) } else { w.sub(high, operand, false) };
                    total = [low, &sum].concat();
                    rest -= digit;
                }
                rest >>= 1;
                at += 1;
            }
        }
        Ok(total)
    }

    /// All bits of a form that its range needs.
    fn whole(&self, terms: &Terms, w: &mut Words, f: FormId) -> Fit<Vec<Lit>> {
        self.sum(terms, w, f, width(terms.range(f)) as usize)
    }

    fn make(&self, terms: &Terms, e: &mut Engine, a: AtomId) -> Fit<Vec<Lit>> {
        let range = terms.atom_range(a);
        let width = width(range) as usize;
        let w = &mut e.words;
        Ok(match terms.atom(a) {
            Atom::Free(_) => {
                // Exactly the values of a port: its width is a power of two of them.
                let bits = (range.1 - range.0 + 1).trailing_zeros() as usize;
                if range.1 - range.0 + 1 != power(bits as u32)? {
                    return Err(Beyond);
                }
                let mut word: Vec<Lit> = (0..bits).map(|i| w.aig.input(format!("free{}[{i}]", a.0))).collect();
                if range.0 == 0 {
                    word.push(Lit::FALSE);
                } else if range.0 != -(range.1 + 1) {
                    return Err(Beyond);
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
                    let other = self.words.get(a).ok_or(Beyond)?;
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
                    return Err(Beyond);
                }
                // The address counts from the smallest argument.
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
