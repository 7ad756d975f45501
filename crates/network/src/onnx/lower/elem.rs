//! Element of a tensor: an integer of the program with its unit, offset and clamps, or a constant.

use super::atoms::Atoms;
use crate::exact::Rational;
use num_bigint::BigInt;
use num_integer::Integer;

/// Value of an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Elem {
    /// A constant.
    Constant(Rational),
    /// A computed value.
    Wire(Wire),
}

/// Computed value `min(max(atom * unit + offset, low), high)`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wire {
    /// Index of the integer.
    pub(super) atom: u32,
    /// Unit; not zero, may be negative.
    pub(super) unit: Rational,
    pub(super) offset: Rational,
    pub(super) low: Option<Rational>,
    /// Upper clamp, not below `low`.
    pub(super) high: Option<Rational>,
}

impl Elem {
    /// Returns `atom * unit + offset`; a constant if the atom has only one value.
    pub(super) fn new(atoms: &Atoms, atom: u32, unit: Rational, offset: Rational) -> Elem {
        let (low, high) = atoms.range(atom);
        if low == high {
            return Elem::Constant(&(&Rational::from(low.clone()) * &unit) + &offset);
        }
        let (atom, zeros) = atoms.bare(atom);
        Elem::Wire(Wire { atom, unit: unit.shifted(zeros), offset, low: None, high: None })
    }

    /// Returns `x * factor + summand`.
    pub(super) fn affine(&self, factor: &Rational, summand: &Rational) -> Elem {
        let map = |x: &Rational| &(x * factor) + summand;
        match self {
            Elem::Constant(value) => Elem::Constant(map(value)),
            Elem::Wire(_) if factor.is_zero() => Elem::Constant(summand.clone()),
            Elem::Wire(wire) => {
                let (low, high) = (wire.low.as_ref().map(map), wire.high.as_ref().map(map));
                let (low, high) = if factor.is_negative() { (high, low) } else { (low, high) };
                let (unit, offset) = (&wire.unit * factor, map(&wire.offset));
                Elem::Wire(Wire { atom: wire.atom, unit, offset, low, high })
            }
        }
    }

    /// Returns `min(max(x, low), high)`.
    pub(super) fn clip(&self, low: Option<&Rational>, high: Option<&Rational>) -> Elem {
        let bounded = |x: &Rational| {
            let x = low.map_or(x, |low| x.max(low));
            high.map_or(x, |high| x.min(high)).clone()
        };
        match self {
            Elem::Constant(value) => Elem::Constant(bounded(value)),
            Elem::Wire(wire) => {
                let mut wire = wire.clone();
                // The existing clamps are values, too: the new clamps apply to them.
                wire.low = match (&wire.low, low, high) {
                    (Some(own), ..) => Some(bounded(own)),
                    (None, Some(low), high) => Some(high.map_or(low, |high| low.min(high)).clone()),
                    (None, None, _) => None,
                };
                wire.high = match (&wire.high, high) {
                    (Some(own), _) => Some(bounded(own)),
                    (None, high) => high.cloned(),
                };
                Elem::Wire(wire)
            }
        }
    }

    /// Returns the element without its clamps.
    pub(super) fn unclamped(&self) -> Elem {
        match self {
            Elem::Constant(_) => self.clone(),
            Elem::Wire(wire) => Elem::Wire(Wire { low: None, high: None, ..wire.clone() }),
        }
    }

    /// Returns the value at the integer zero.
    pub(super) fn offset(&self) -> Rational {
        match self {
            Elem::Constant(value) => value.clone(),
            Elem::Wire(wire) => wire.offset.clone(),
        }
    }
}

/// Returns the greatest positive number of which both are integer multiples; zero if both are zero.
pub(super) fn common_unit(a: &Rational, b: &Rational) -> Rational {
    if a.is_zero() || a == b {
        return b.abs();
    }
    if b.is_zero() {
        return a.abs();
    }
    // gcd(n/d, m/e) = gcd(n, m) / lcm(d, e) for reduced fractions.
    let num = a.numerator().gcd(&b.numerator());
    let den = a.denominator().lcm(&b.denominator());
    Rational::new(num, &den).expect("denominators are not zero")
}

/// Returns a quotient that is known to be an integer.
pub(super) fn whole_quotient(a: &Rational, b: &Rational) -> BigInt {
    let quotient = a.checked_div(b).expect("units are not zero");
    debug_assert!(quotient.is_integer(), "{a} is not a multiple of {b}");
    quotient.numerator()
}
