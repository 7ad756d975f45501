//! Numbers in columns: LEB128, signed ones zigzag.

use alir_core::num::Code;
use num_bigint::{BigInt, BigUint, Sign};

/// A column being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(super) fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63).cast_unsigned());
    }

    /// An integer of any size: the groups of its zigzag form, which are those of [`Writer::signed`] where it fits.
    pub(super) fn big(&mut self, value: &BigInt) {
        let mut bits = value.magnitude() << 1u32;
        if value.sign() == Sign::Minus {
            bits -= 1u32;
        }
        let groups = bits.to_radix_le(128);
        let last = groups.len() - 1;
        self.0.extend(groups.iter().enumerate().map(|(k, group)| if k < last { group | 0x80 } else { *group }));
    }

    pub(super) fn code(&mut self, code: &Code) {
        match code.to_i64() {
            Some(small) => self.signed(small),
            None => self.big(&code.to_big()),
        }
    }
}

/// Error in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// It has no more bytes.
    Ends,
    /// A number of more bits than anything here has, or with groups that say nothing.
    Number,
}

/// A column being read.
#[derive(Clone, Debug)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    pos: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, pos: 0 }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> Result<u8, Bad> {
        let byte = *self.bytes.get(self.pos).ok_or(Bad::Ends)?;
        self.pos += 1;
        Ok(byte)
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'b [u8], Bad> {
        let taken = self.bytes[self.pos..].get(..n).ok_or(Bad::Ends)?;
        self.pos += n;
        Ok(taken)
    }

    #[inline(always)]
    pub(super) fn number(&mut self) -> Result<u64, Bad> {
        let byte = self.byte()?;
        if byte < 0x80 { Ok(u64::from(byte)) } else { self.long_number(byte) }
    }

    /// The number that starts with this byte.
    fn long_number(&mut self, byte: u8) -> Result<u64, Bad> {
        let (mut value, mut shift) = (u64::from(byte & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            let group = u64::from(byte & 0x7f);
            if shift == 63 && group > 1 || shift > 63 {
                return Err(Bad::Number);
            }
            value |= group << shift;
            if byte < 0x80 {
                return if byte == 0 { Err(Bad::Number) } else { Ok(value) };
            }
            shift += 7;
        }
    }

    #[inline(always)]
    pub(super) fn signed(&mut self) -> Result<i64, Bad> {
        let bits = self.number()?;
        Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }

    /// An integer of at most `max_bits` bits.
    #[inline]
    pub(super) fn code(&mut self, max_bits: u32) -> Result<Code, Bad> {
        let groups = 1 + self.bytes[self.pos..].iter().position(|b| *b < 0x80).ok_or(Bad::Ends)?;
        if groups <= 9 {
            return Ok(Code::from(self.signed()?));
        }
        if groups > max_bits as usize / 7 + 2 {
            return Err(Bad::Number);
        }
        let bytes: Vec<u8> = self.take(groups)?.iter().map(|b| b & 0x7f).collect();
        if bytes.last() == Some(&0) {
            return Err(Bad::Number);
        }
        let bits = BigUint::from_radix_le(&bytes, 128).ok_or(Bad::Number)?;
        let magnitude = BigInt::from(&bits >> 1u32);
        Ok(Code::from(if bits.bit(0) { -magnitude - 1 } else { magnitude }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut writer = Writer::default();
        let signed = [0, -1, 1, 63, 64, -64, -65, i64::MAX, i64::MIN];
        signed.iter().for_each(|&v| writer.signed(v));
        writer.number(u64::MAX);
        let bigs: Vec<BigInt> = (0..300).map(|k| (BigInt::from(3) << k) * if k % 2 == 0 { 1 } else { -1 }).collect();
        bigs.iter().for_each(|v| writer.big(v));
        bigs.iter().for_each(|v| writer.code(&Code::from(v.clone())));
        let mut reader = Reader::new(&writer.0);
        signed.iter().for_each(|&v| assert_eq!(reader.signed(), Ok(v)));
        assert_eq!(reader.number(), Ok(u64::MAX));
        bigs.iter().chain(&bigs).for_each(|v| assert_eq!(reader.code(400), Ok(Code::from(v.clone()))));
        assert_eq!((reader.left(), reader.byte()), (0, Err(Bad::Ends)));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let of = |bytes: &[u8]| Reader::new(bytes).number();
        assert_eq!(of(&[]), Err(Bad::Ends));
        assert_eq!(of(&[0x80]), Err(Bad::Ends));
        assert_eq!(of(&[0x80, 0]), Err(Bad::Number), "a group that says nothing");
        assert_eq!(of(&[0xff; 11]), Err(Bad::Number));
        assert_eq!(of(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]), Err(Bad::Number), "65 bits");
        let wide = [vec![0x81; 40], vec![1]].concat();
        assert_eq!(Reader::new(&wide).code(100), Err(Bad::Number));
        assert!(Reader::new(&wide).code(300).is_ok());
    }
}
