//! Values of forms for many assignments of the free atoms at once.

use super::{Atom, AtomId, FormId, LinearForms};
use alir_core::num::SplitMix;
use rustc_hash::FxHashMap;

/// Number of assignments that are evaluated at once.
pub const LANES: usize = 64;

/// Cost in ticks of one term under all assignments.
pub const TERM: u64 = 10;

/// Values of a number for all assignments.
pub type Lanes = [i128; LANES];

/// Atom that is a function of another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// 1 if the value is negative, otherwise 0.
    Sign,
    /// 1 if the value is not negative, otherwise 0.
    Opposite,
    /// Bits from this position up if the value is positive, otherwise 0.
    Above(u32),
}

impl Derived {
    fn apply(self, v: i128) -> i128 {
        match self {
            Derived::Sign => i128::from(v < 0),
            Derived::Opposite => i128::from(v >= 0),
            Derived::Above(m) => v.max(0) >> m.min(127),
        }
    }
}

/// Values of atoms, computed on demand. Arithmetic wraps at 128 bits, which forms within their ranges never exceed.
#[derive(Default)]
pub struct Samples {
    values: FxHashMap<AtomId, Box<Lanes>>,
    /// Ticks that `take_work` has not returned yet.
    work: u64,
}

impl Samples {
    /// Returns random assignments. In the first three assignments all values are nearest to zero, smallest, and
    /// largest, respectively.
    pub fn random(terms: &LinearForms, seed: u64) -> Samples {
        let mut out = Samples::default();
        let mut rng = SplitMix::new(seed);
        for (i, atom) in terms.atoms.iter().enumerate() {
            if !matches!(atom, Atom::Free(_)) {
                continue;
            }
            let (lo, hi) = terms.atom_ranges[i];
            let span = (hi - lo) as u128;
            let lanes = std::array::from_fn(|lane| {
                let bits = u128::from(rng.word()) << 64 | u128::from(rng.word());
                match lane {
                    0 => 0i128.clamp(lo, hi),
                    1 => lo,
                    2 => hi,
                    // Bounds of the range are likely to cause wrapping.
                    3..12 if bits & 3 == 0 => lo,
                    3..12 if bits & 3 == 1 => hi,
                    _ if span == u128::MAX => bits as i128,
                    _ => lo + (bits % (span + 1)) as i128,
                }
            });
            out.values.insert(AtomId(i as u32), Box::new(lanes));
        }
        out
    }

    /// Returns the same assignment in all lanes. Free atoms for which `value` returns `None` are nearest to zero.
    pub fn single(terms: &LinearForms, value: impl Fn(AtomId) -> Option<i128>) -> Samples {
        let mut out = Samples::default();
        for (i, atom) in terms.atoms.iter().enumerate() {
            if matches!(atom, Atom::Free(_)) {
                let id = AtomId(i as u32);
                let (lo, hi) = terms.atom_ranges[i];
                out.values.insert(id, Box::new([value(id).unwrap_or(0).clamp(lo, hi); LANES]));
            }
        }
        out
    }

    /// Assigns values to atoms. Only the assigned atoms, and atoms that depend only on assigned atoms, can be
    /// evaluated.
    pub(super) fn assigned(values: impl Iterator<Item = (AtomId, Lanes)>) -> Samples {
        Samples { values: values.map(|(a, lanes)| (a, Box::new(lanes))).collect(), work: 0 }
    }

    /// Returns an assignment of the free atoms by their index and the lane.
    #[cfg(test)]
    pub fn given(terms: &LinearForms, value: impl Fn(usize, usize) -> i128) -> Samples {
        let free = (0..terms.atoms.len() as u32).map(AtomId).filter(|&a| matches!(terms.atom(a), Atom::Free(_)));
        let values = free.enumerate().map(|(i, a)| (a, Box::new(std::array::from_fn(|lane| value(i, lane)))));
        Samples { values: values.collect(), work: 0 }
    }

    /// Assigns consecutive values, starting with `first`, to one atom (named or free), and the corresponding values to
    /// the atoms that are functions of this atom. Only forms that depend on no other atoms are meaningful then.
    pub fn consecutive(terms: &LinearForms, atom: AtomId, derived: &[(AtomId, Derived)], first: i128) -> Samples {
        let (lo, hi) = terms.atom_range(atom);
        let lanes: Lanes = std::array::from_fn(|lane| (first + lane as i128).clamp(lo, hi));
        let mut values = FxHashMap::from_iter([(atom, Box::new(lanes))]);
        for &(a, function) in derived {
            values.insert(a, Box::new(lanes.map(|v| function.apply(v))));
        }
        Samples { values, work: 0 }
    }

    fn sum(&self, terms: &LinearForms, f: FormId) -> Lanes {
        let mut out = [terms.constant_of(f); LANES];
        for (a, c) in terms.terms(f) {
            let Some(values) = self.values.get(&a) else { continue };
            for (o, v) in out.iter_mut().zip(values.iter()) {
                *o = o.wrapping_add(c.wrapping_mul(*v));
            }
        }
        out
    }

    /// Returns the values of a form.
    pub fn lanes(&mut self, terms: &LinearForms, f: FormId) -> Lanes {
        self.work += TERM * (terms.len(f) as u64 + 1);
        for a in terms.needed(&[f], |a| self.values.contains_key(&a)) {
            let (forms, atoms) = terms.parts(a);
            let inside = forms.iter().map(|&x| terms.len(x)).sum::<usize>() + atoms.len() + 1;
            self.work += TERM * inside as u64;
            let value = self.atom(terms, a);
            self.values.insert(a, Box::new(value));
        }
        self.sum(terms, f)
    }

    /// Returns the ticks spent since the last call.
    pub fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    fn atom(&self, terms: &LinearForms, a: AtomId) -> Lanes {
        match terms.atom(a) {
            // A free atom that was created after the random assignment.
            Atom::Free(_) => {
                let (lo, hi) = terms.atom_range(a);
                let mut rng = SplitMix::new(u64::from(a.0));
                let span = ((hi - lo) as u128).min(u128::MAX - 1);
                std::array::from_fn(|_| lo + (u128::from(rng.word()) % (span + 1)) as i128)
            }
            Atom::Value(x) => self.sum(terms, *x),
            Atom::Floor(x, m) => self.sum(terms, *x).map(|v| v >> m),
            Atom::Negative(x) => self.sum(terms, *x).map(|v| i128::from(v < 0)),
            Atom::Zero(x) => self.sum(terms, *x).map(|v| i128::from(v == 0)),
            Atom::Positive(x) => self.sum(terms, *x).map(|v| v.max(0)),
            Atom::If(x, y) | Atom::Product(x, y) => {
                let (x, y) = (self.sum(terms, *x), self.sum(terms, *y));
                std::array::from_fn(|i| x[i].wrapping_mul(y[i]))
            }
            Atom::Monomial(atoms) => {
                let mut out = [1i128; LANES];
                for a in atoms.iter() {
                    if let Some(v) = self.values.get(a) {
                        out.iter_mut().zip(v.iter()).for_each(|(o, v)| *o = o.wrapping_mul(*v));
                    }
                }
                out
            }
            Atom::And(forms) => {
                let mut out = [-1i128; LANES];
                for &f in forms.iter() {
                    let v = self.sum(terms, f);
                    out.iter_mut().zip(v).for_each(|(o, v)| *o &= v);
                }
                out
            }
            Atom::Table(x, t) => self.sum(terms, *x).map(|v| {
                let index = usize::try_from(v - t.first).ok();
                index.and_then(|i| t.values.get(i)).copied().unwrap_or(0)
            }),
        }
    }
}
