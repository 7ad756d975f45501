//! Counter of numbers outside of the types of their inputs.

use super::{Number, Port, Values};
use alir_core::diag::{Diagnostic, Place};
use alir_core::num::Kif;
use num_bigint::Sign;

/// Counter of the numbers in a file that are outside of the range of their input, and therefore wrap.
pub(super) struct WrapCount {
    columns: Vec<Column>,
    /// Port of a stateful design that reads the file; `None` for the inputs of a program.
    port: Option<String>,
    numbers: u64,
    outside: u64,
    first: Option<First>,
}

/// Range `low <= x < high` of an input; both bounds are zero or a power of two in magnitude, and therefore exact.
struct Column {
    kif: Kif,
    low: f64,
    high: f64,
    /// Exponent of `high` as a power of two.
    power: i64,
}

/// First number that wraps.
struct First {
    sample: u64,
    input: usize,
    number: String,
}

impl WrapCount {
    pub(super) fn new(ports: &[Port], name: Option<&str>) -> WrapCount {
        let column = |port: &Port| {
            // A type without bits belongs to an unused input, which accepts any number.
            let power = i64::from(port.kif.width()) - i64::from(port.kif.signed) - port.frac;
            let high = 2f64.powi(power.clamp(-1100, 1100) as i32);
            let (low, high) = match (port.kif.is_zero(), port.kif.signed) {
                (true, _) => (f64::NEG_INFINITY, f64::INFINITY),
                (false, true) => (-high, high),
                (false, false) => (0.0, high),
            };
            Column { kif: port.kif, low, high, power }
        };
        let columns = ports.iter().map(column).collect();
        WrapCount { columns, port: name.map(str::to_owned), numbers: 0, outside: 0, first: None }
    }

    /// Counts a block of rows; `first` is the index of its first sample.
    pub(super) fn count(&mut self, block: &Values, first: u64) {
        self.numbers += block.len() as u64;
        let outside = match block {
            Values::Reals(v) => {
                let row = |row: &[f64]| row.iter().zip(&self.columns).filter(|(x, column)| !column.has(**x)).count();
                v.chunks_exact(self.columns.len().max(1)).map(row).sum()
            }
            _ => (0..block.len()).filter(|&at| !self.column(at).has_number(&block.number(at))).count(),
        };
        if outside > 0 && self.first.is_none() {
            let at = (0..block.len()).find(|&at| !self.column(at).has_number(&block.number(at)));
            self.first = at.map(|at| First {
                sample: first + (at / self.columns.len()) as u64,
                input: at % self.columns.len(),
                number: block.number(at).to_string(),
            });
        }
        self.outside += outside as u64;
    }

    fn column(&self, index: usize) -> &Column {
        &self.columns[index % self.columns.len()]
    }

    /// Removes and returns the note about the numbers so far; `None` if no number wraps.
    pub(super) fn take_note(&mut self) -> Option<Diagnostic> {
        let First { sample, input, number } = self.first.take()?;
        let Column { kif, low, high, .. } = self.columns[input];
        let (outside, numbers) = (self.outside, self.numbers);
        let (what, place) = match &self.port {
            None => ("input numbers".to_owned(), format!("in sample {sample}, input {input},")),
            Some(name) => {
                (format!("numbers of port {name}"), format!("in port {name}, cycle {sample}, element {input},"))
            }
        };
        let message = format!(
            "{outside} of {numbers} {what} lie outside of the types of their inputs and wrap; the first is {number} \
             {place} whose type {kif} takes {low} to below {high}"
        );
        let note = Diagnostic::note("N0704", Place::Whole, message);
        Some(note.with_help("the hardware wraps them alike; scale or clip the samples if that is not meant"))
    }
}

impl Column {
    fn has(&self, x: f64) -> bool {
        self.low <= x && x < self.high
    }

    /// Like [`Column::has`], for any number; NaN and infinities are reported elsewhere.
    fn has_number(&self, number: &Number) -> bool {
        if let Number::Float(x) = number {
            return self.has(*x);
        }
        let Some((num, den)) = number.to_fraction() else { return true };
        if self.kif.is_zero() {
            return true;
        }
        if num.sign() == Sign::Minus && !self.kif.signed {
            return false;
        }
        let shift = self.power.unsigned_abs();
        let (num, den) = if self.power >= 0 { (num, den << shift) } else { (num << shift, den) };
        if num.sign() == Sign::Minus { -num <= den } else { num < den }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn port(signed: bool, width: i32, frac: i32) -> Port {
        Port { kif: Kif { signed, int: width - i32::from(signed) - frac, frac }, frac: frac.into() }
    }

    #[test]
    fn numbers_outside_are_counted_with_the_first() {
        let mut count = WrapCount::new(&[port(true, 4, 1), port(false, 3, 0)], None);
        count.count(&Values::Reals(vec![3.5, 0.0, -4.0, 7.9]), 0);
        assert_eq!(count.take_note(), None);
        count.count(&Values::Reals(vec![4.0, -0.1, -4.1, 8.0]), 2);
        let note = count.take_note().unwrap();
        assert_eq!(
            note.message,
            "4 of 8 input numbers lie outside of the types of their inputs and wrap; the first is 4 in sample 2, \
             input 0, \
             whose type s4.1 takes -4 to below 4"
        );
        let mut count = WrapCount::new(&[port(true, 4, 1), port(false, 3, 0)], Some("x0"));
        count.count(&Values::Reals(vec![0.0, 8.0]), 5);
        let message = count.take_note().unwrap().message;
        assert!(
            message.contains("numbers of port x0 lie") && message.contains("8 in port x0, cycle 5, element 1, whose")
        );
        // An input without bits is unused, and accepts any number.
        let mut count = WrapCount::new(&[port(false, 0, 0)], None);
        count.count(&Values::Reals(vec![1e9]), 0);
        assert_eq!(count.take_note(), None);
    }

    #[test]
    fn decimals_and_integers_are_compared_exactly() {
        let just_below: Number = Number::parse("7.99999999999999999999999999999").unwrap();
        let unsigned = &WrapCount::new(&[port(false, 3, 0)], None).columns[0];
        assert!(unsigned.has_number(&just_below));
        assert!(!unsigned.has_number(&Number::parse("8.00000000000000000000000000001").unwrap()));
        assert!(!unsigned.has_number(&Number::parse("-0.00000000000000000000000000001").unwrap()));
        let wide = &WrapCount::new(&[port(true, 64, 0)], None).columns[0];
        assert!(wide.has_number(&Number::parse("9223372036854775807").unwrap()));
        assert!(!wide.has_number(&Number::parse("9223372036854775808").unwrap()));
        assert!(wide.has_number(&Number::parse("-9223372036854775808").unwrap()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Checks that a number is inside exactly if a type with more high bits gives the same code.
        #[test]
        fn inside_is_where_nothing_wraps(
            signed: bool,
            width in 1i32..70,
            frac in -9i32..70,
            bits: i64,
            down in -70i32..70,
        ) {
            let own = port(signed, width, frac);
            let wide = port(true, 500, frac);
            let x = bits as f64 * 2f64.powi(-down);
            let column = &WrapCount::new(&[own], None).columns[0];
            let same = own.code_of_real(x) == wide.code_of_real(x);
            prop_assert_eq!(column.has(x), same);
            let text = Number::parse(&format!("{x}")).unwrap();
            prop_assert_eq!(column.has_number(&text), same);
        }
    }

    #[test]
    fn shifts_of_inputs_count() {
        // A code of four bits with the value code / 2^(1 + 3).
        let shifted = Port { kif: port(false, 4, 1).kif, frac: 4 };
        let column = &WrapCount::new(&[shifted], None).columns[0];
        assert!(column.has(0.9375) && !column.has(1.0));
    }
}
