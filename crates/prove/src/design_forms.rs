//! Words of a design as linear forms.

use super::linear_forms::polynomial::Logic;
use super::linear_forms::{FormId, LinearForms, Overflow, Range, Shape, power};
use super::unroll::Fault;
use alir_hdl::{Binary, Compare, Reduce, Shift};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// A word: a form modulo `2^width`, or a concatenation of forms.
#[derive(Clone, Debug)]
pub enum Word {
    /// The low bits of a form.
    One(FormId),
    /// Lowest bit position and form of each part, the lowest part first, and the width of the word.
    Many(Arc<[(u32, FormId)]>, u32),
}

/// Largest number of parts that are joined to one form immediately.
const JOINED: usize = 6;
/// Maximum width in bits of words that are joined immediately. Wider words are usually ports, whose parts are read one
/// by one.
const JOINED_BITS: u32 = 40;
/// Largest width of a shift distance for which a shifted constant becomes a table.
const MAX_DISTANCE: u32 = 10;
/// Largest width of words that are joined when arithmetic needs them.
const MAX_JOINED: u32 = 118;

type FormResult = Result<Word, Fault>;

impl From<Overflow> for Fault {
    fn from(_: Overflow) -> Fault {
        Fault::Overflow
    }
}

/// Operations of [`super::unroll::Domain`] that are independent of the design.
pub struct Arithmetic<'t>(pub &'t mut LinearForms);

impl Arithmetic<'_> {
    /// Returns a word as one form.
    pub fn form(&mut self, x: &Word) -> Result<FormId, Fault> {
        let Word::Many(parts, width) = x else {
            let Word::One(f) = x else { return Err(Fault::Overflow) };
            return Ok(*f);
        };
        if *width > MAX_JOINED {
            return Err(Fault::Overflow);
        }
        let mut total = self.0.constant(0);
        for (i, &(start, part)) in parts.iter().enumerate() {
            // The top part is not truncated, as bits beyond the word are irrelevant.
            let part = match parts.get(i + 1) {
                Some(&(end, _)) => self.0.value(part, end - start, false)?,
                None => part,
            };
            total = self.0.linear(total, power(start)?, part)?;
        }
        self.0.set_shape(total, Shape::Fields(parts.clone()));
        Ok(total)
    }

    /// Returns a constant of `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn constant(&mut self, value: &BigUint, width: u32) -> FormResult {
        if let Some(v) = value.to_i128().filter(|v| v >> 118 == 0) {
            return Ok(Word::One(self.0.constant(v)));
        }
        let mut parts = Vec::new();
        let mut at = 0;
        while at < width {
            let piece = (value >> at) & BigUint::from(u64::MAX);
            let piece = self.0.constant(piece.to_i128().unwrap_or(0));
            parts.push((at, piece));
            at += 64;
        }
        Ok(Word::Many(parts.into(), width))
    }

    /// Returns bits `lo .. lo + width`.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn slice(&mut self, x: &Word, lo: u32, width: u32) -> FormResult {
        match x {
            Word::One(f) => Ok(Word::One(self.0.floor(*f, lo)?)),
            Word::Many(parts, _) => {
                let first = parts.partition_point(|p| p.0 <= lo) - 1;
                let mut kept: Vec<(u32, FormId)> = Vec::new();
                for &(start, part) in parts.iter().skip(first) {
                    if start >= lo + width {
                        break;
                    }
                    let from = start.max(lo);
                    let piece = if from > start { self.0.floor(part, from - start)? } else { part };
                    kept.push((from - lo, piece));
                }
                match kept[..] {
                    [(_, one)] => Ok(Word::One(one)),
                    _ => self.settled(Word::Many(kept.into(), width)),
                }
            }
        }
    }

    fn settled(&mut self, word: Word) -> FormResult {
        match &word {
            Word::Many(parts, width) if parts.len() <= JOINED && *width <= JOINED_BITS => {
                Ok(Word::One(self.form(&word)?))
            }
            _ => Ok(word),
        }
    }

    /// Concatenates words, low bits first.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn concat(&mut self, words: &[(Word, u32)]) -> FormResult {
        let mut parts: Vec<(u32, FormId)> = Vec::new();
        let mut at = 0;
        for (word, width) in words {
            match word {
                Word::One(f) => parts.push((at, *f)),
                Word::Many(more, _) => parts.extend(more.iter().map(|p| (at + p.0, p.1))),
            }
            at += width;
        }
        match parts[..] {
            [(_, one)] => Ok(Word::One(one)),
            _ => self.settled(Word::Many(parts.into(), at)),
        }
    }

    /// Truncates or extends a word of `from` bits to `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn extend(&mut self, x: &Word, from: u32, signed: bool, width: u32) -> FormResult {
        if width <= from {
            return self.slice(x, 0, width);
        }
        if from == 1 && signed {
            return self.repeat(x, 1, width);
        }
        if let Word::Many(parts, _) = x
            && let Some(&(start, last)) = parts.last()
        {
            let last = self.0.value(last, from - start, signed)?;
            let mut parts = parts.to_vec();
            parts.pop();
            parts.push((start, last));
            return self.settled(Word::Many(parts.into(), width));
        }
        let f = self.form(x)?;
        Ok(Word::One(self.0.value(f, from, signed)?))
    }

    /// Repeats a word of `from` bits `count` times.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn repeat(&mut self, x: &Word, from: u32, count: u32) -> FormResult {
        if from == 1 {
            // A word of all ones is -1.
            let f = self.form(x)?;
            let bit = self.0.value(f, 1, false)?;
            return Ok(Word::One(self.0.scale(bit, -1)?));
        }
        let words = vec![(x.clone(), from); count as usize];
        self.concat(&words)
    }

    /// Returns the complement: `-x - 1`.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn not(&mut self, x: &Word) -> FormResult {
        let f = self.form(x)?;
        let minus = self.0.scale(f, -1)?;
        Ok(Word::One(self.0.offset(minus, -1)?))
    }

    /// Returns the result of an arithmetic or bitwise operation on words of `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn binary(&mut self, op: Binary, a: &Word, b: &Word, width: u32) -> FormResult {
        let (x, y) = (self.form(a)?, self.form(b)?);
        let t = &mut *self.0;
        Ok(Word::One(match op {
            Binary::Add => t.add(x, y)?,
            Binary::Sub => t.sub(x, y)?,
            Binary::Mul => t.times(x, y)?,
            // For one bit, the operands are the numbers 0 and 1.
            Binary::And | Binary::Or | Binary::Xor => {
                let (x, y) = if width == 1 {
                    (t.value(x, 1, false)?, t.value(y, 1, false)?)
                } else {
                    (t.as_known(x, width)?, t.as_known(y, width)?)
                };
                // An operand may be a condition repeated over all bits.
                let [x, y] = match [t.range(x), t.range(y)] {
                    [(-1, 0), _] => [x, t.as_selected(y, width)?],
                    [_, (-1, 0)] => [t.as_selected(x, width)?, y],
                    _ => [x, y],
                };
                let both = t.and(&[x, y])?;
                for number in [t.range(x), t.range(y)].into_iter().filter(|r| r.0 >= 0) {
                    t.narrow(both, (0, number.1));
                }
                let sum = t.add(x, y)?;
                let out = match op {
                    Binary::And => both,
                    Binary::Or => t.sub(sum, both)?,
                    _ => t.linear(sum, -2, both)?,
                };
                t.narrow(out, bitwise_range(t.range(x), t.range(y))?);
                t.set_shape(
                    out,
                    match op {
                        Binary::And => Shape::And(x, y),
                        Binary::Or => Shape::Or(x, y),
                        _ => Shape::Xor(x, y),
                    },
                );
                if width == 1 {
                    t.tell_logic(
                        out,
                        match op {
                            Binary::And => Logic::And(x, y),
                            Binary::Or => Logic::Or(x, y),
                            _ => Logic::Xor(x, y),
                        },
                    );
                }
                out
            }
            Binary::Div | Binary::Rem => return Err(Fault::Overflow),
        }))
    }

    /// Returns the result of a comparison of words of `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn compare(&mut self, op: Compare, a: &Word, b: &Word, width: u32) -> FormResult {
        let (x, y) = (self.form(a)?, self.form(b)?);
        let t = &mut *self.0;
        Ok(Word::One(match op {
            Compare::Equal => {
                let d = t.sub(x, y)?;
                self.is_zero(d, width)?
            }
            Compare::Less | Compare::SignedLess => {
                let signed = op == Compare::SignedLess;
                let (x, y) = (t.value(x, width, signed)?, t.value(y, width, signed)?);
                let d = t.sub(x, y)?;
                t.negative(d)?
            }
        }))
    }

    /// Returns the form that is 1 if the low `width` bits are zero, otherwise 0.
    fn is_zero(&mut self, f: FormId, width: u32) -> Result<FormId, Fault> {
        let t = &mut *self.0;
        let size = power(width)?;
        let (lo, hi) = t.range(f);
        // If the range is within one modulus to either side of zero, only 0 is a multiple of the modulus.
        let f = if lo > -size && hi < size { f } else { t.value(f, width, true)? };
        Ok(t.zero(f)?)
    }

    /// Returns the reduction of a word of `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn reduce(&mut self, op: Reduce, x: &Word, width: u32) -> FormResult {
        if let Word::Many(parts, whole) = x
            && op != Reduce::Parity
        {
            // The reduction requires all parts to be zero, or all ones.
            let mut all = self.0.constant(1);
            for (i, &(start, part)) in parts.iter().enumerate() {
                let end = parts.get(i + 1).map_or(*whole, |p| p.0);
                let part = if op == Reduce::All { self.0.offset(part, 1)? } else { part };
                let zero = self.is_zero(part, end - start)?;
                all = self.0.times(all, zero)?;
            }
            return Ok(Word::One(if op == Reduce::Any { self.0.complement(all)? } else { all }));
        }
        let f = self.form(x)?;
        Ok(Word::One(match op {
            Reduce::Any => {
                let none = self.is_zero(f, width)?;
                self.0.complement(none)?
            }
            Reduce::All => {
                let f = self.0.offset(f, 1)?;
                self.is_zero(f, width)?
            }
            Reduce::Parity => {
                // Parity is the sum of the bits modulo 2.
                let mut sum = self.0.constant(0);
                for i in 0..width {
                    let bit = self.0.floor(f, i)?;
                    let bit = self.0.value(bit, 1, false)?;
                    sum = self.0.add(sum, bit)?;
                }
                sum
            }
        }))
    }

    /// Returns `x` of `width` bits shifted by a word: a choice for each bit of the distance.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn shift(&mut self, op: Shift, x: &Word, by: (&Word, u32), width: u32) -> FormResult {
        let (mut f, by_form) = (self.form(x)?, self.form(by.0)?);
        let t = &mut *self.0;
        if op != Shift::Left {
            f = t.value(f, width, op == Shift::SignedRight)?;
        }
        // A constant with other terms above it, such as an indexed table of bits: the shifted constant is a function of
        // the distance.
        let zeros = t.terms(f).map(|(_, c)| c.trailing_zeros()).min().unwrap_or(127);
        let constant = t.constant_of(f);
        let fits = zeros >= 127 || (0..1i128 << zeros).contains(&constant);
        if op == Shift::Right && by.1 <= MAX_DISTANCE && constant >= 0 && fits && (1u32 << by.1) - 1 <= zeros {
            let distance = t.value(by_form, by.1, false)?;
            let mut out = t.table(distance, |v| Ok(constant >> v.min(127)))?;
            if t.len(f) > 0 {
                let above = t.offset(f, -constant)?;
                let above = t.floor(above, zeros)?;
                let weight = t.table(distance, |v| power(zeros - v as u32))?;
                let above = t.times(above, weight)?;
                out = t.add(out, above)?;
            }
            return Ok(Word::One(out));
        }
        for i in 0..by.1 {
            let bit = t.floor(by_form, i)?;
            let bit = t.value(bit, 1, false)?;
            let step = 1u32.checked_shl(i).filter(|s| *s < width).unwrap_or(width);
            let moved = if op == Shift::Left {
                if step == width { t.constant(0) } else { t.scale(f, power(step)?)? }
            } else {
                t.floor(f, step)?
            };
            f = t.mux(bit, moved, f)?;
        }
        Ok(Word::One(f))
    }

    /// Returns an entry of a table, or `missing`.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn table(&mut self, entries: &[BigUint], addr: (&Word, u32), missing: &Word) -> FormResult {
        let (f, missing) = (self.form(addr.0)?, self.form(missing)?);
        let t = &mut *self.0;
        let size = power(addr.1)?;
        let (lo, hi) = t.range(f);
        let f = if hi - lo < size { f } else { t.value(f, addr.1, true)? };
        let (lo, hi) = t.range(f);
        if hi - lo >= 1 << 20 {
            return Err(Fault::Overflow);
        }
        let outside = (lo..=hi).find(|v| usize::try_from(v.rem_euclid(size)).map_or(true, |i| i >= entries.len()));
        let other = match (outside, t.as_const(missing)) {
            (None, _) => 0,
            (Some(_), Some(v)) => v,
            (Some(_), None) => return Err(Fault::Overflow),
        };
        let found = t.table(f, |v| {
            let entry = usize::try_from(v.rem_euclid(size)).ok().and_then(|i| entries.get(i));
            match entry {
                Some(e) => e.to_i128().filter(|e| e >> 118 == 0).ok_or(Overflow),
                None => Ok(other),
            }
        })?;
        Ok(Word::One(found))
    }

    /// Returns `if cond { yes } else { no }` for words of `width` bits.
    ///
    /// # Errors
    /// [`Fault::Overflow`] if numbers or forms grow too large.
    pub fn mux(&mut self, cond: &Word, yes: &Word, no: &Word, width: u32) -> FormResult {
        let cond = self.form(cond)?;
        let cond = self.0.value(cond, 1, false)?;
        let (yes, no) = (self.form(yes)?, self.form(no)?);
        let (mut yes, mut no) = (self.0.as_known(yes, width)?, self.0.as_known(no, width)?);
        if width > 1 && self.0.as_const(no) == Some(0) {
            yes = self.0.as_selected(yes, width)?;
        } else if width > 1 && self.0.as_const(yes) == Some(0) {
            no = self.0.as_selected(no, width)?;
        }
        let out = self.0.mux(cond, yes, no)?;
        let is_bit = |t: &LinearForms, f| matches!(t.range(f), (0.., ..=1));
        if is_bit(self.0, yes) && is_bit(self.0, no) {
            self.0.tell_logic(out, Logic::Mux(cond, yes, no));
        }
        Ok(Word::One(out))
    }
}

/// Returns bounds that hold for any bitwise function of two numbers within the given bounds, if the function maps zeros
/// to zero. The bounds are as wide as the wider operand.
fn bitwise_range(x: Range, y: Range) -> Result<Range, Fault> {
    let all = [x.0, x.1, y.0, y.1].into_iter().fold(0, |bits, v| bits | (v ^ v >> 127));
    let size = power(128 - all.leading_zeros())?;
    Ok((if x.0.min(y.0) < 0 { -size } else { 0 }, size - 1))
}
