//! A cycle-accurate evaluator of netlists of any width.
//!
//! The evaluator implements the documented semantics of each cell and shares no code with lowering: a difference from
//! the reference interpreter is a bug of lowering, and a difference from a simulator is a bug of the code generator.
//! Registers without a power-on value start as 0 (as X in a simulator). A two-valued evaluator cannot represent X, so
//! tests flush a pipeline before they compare.
//!
//! Nets of at most 64 bits whose operands are no wider are evaluated in machine words, all others as [`BigUint`]. Tests
//! compare the two.

use super::cell::{Cell, Direction, Element, Net, NetId, Netlist, Piece, PortId, Wiring};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive, Zero};

/// Evaluator of a netlist, cycle by cycle.
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    netlist: &'a Netlist,
    /// Values of all nets in 64-bit words; each net begins a new word.
    words: Vec<u64>,
    /// First word of each net.
    base: Vec<u32>,
    /// Values of the input ports, by port.
    ports: Vec<BigUint>,
    /// Next values of the registers, in order.
    next: Vec<u64>,
    /// `true` if all nets are computed as [`BigUint`].
    plain: bool,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator at power-on: every input is 0, every register has its power-on value or 0.
    pub fn new(netlist: &'a Netlist) -> Evaluator<'a> {
        Evaluator::at_power_on(netlist, false)
    }

    /// Like [`Evaluator::new`], but without the fast path; the reference for tests of the fast path.
    pub fn plain(netlist: &'a Netlist) -> Evaluator<'a> {
        Evaluator::at_power_on(netlist, true)
    }

    fn at_power_on(netlist: &'a Netlist, plain: bool) -> Evaluator<'a> {
        let mut base = Vec::with_capacity(netlist.nets().len());
        let mut total = 0u32;
        for net in netlist.nets() {
            base.push(total);
            total += net.width.div_ceil(64);
        }
        let mut evaluator = Evaluator {
            netlist,
            words: vec![0; total as usize],
            base,
            ports: vec![BigUint::ZERO; netlist.ports().len()],
            next: Vec::new(),
            plain,
        };
        for (index, net) in netlist.nets().iter().enumerate() {
            if let Cell::Register { init: Some(init), .. } = net.cell {
                let value = evaluator.big(init);
                evaluator.store(index, &value);
            }
        }
        evaluator.reset();
        evaluator.settle();
        evaluator
    }

    /// Returns the netlist that is evaluated.
    pub fn netlist(&self) -> &'a Netlist {
        self.netlist
    }

    /// Sets an input port.
    ///
    /// # Panics
    /// If no such input exists, or if the value is wider than the port.
    pub fn set_port(&mut self, name: &str, value: &BigUint) {
        let port = self.port(name, Direction::In);
        let width = self.netlist.ports()[port].width;
        assert!(value.bits() <= u64::from(width), "{value} does not fit the {width} bits of {name}");
        self.ports[port] = value.clone();
    }

    /// Sets the input elements to raw integer values.
    ///
    /// # Panics
    /// If the number of values differs from the number of input elements.
    pub fn set_inputs(&mut self, codes: &[BigInt]) {
        let elements = &self.netlist.interface.inputs;
        assert_eq!(codes.len(), elements.len(), "one code for each input element");
        for (element, code) in elements.iter().zip(codes) {
            if element.width == 0 {
                continue;
            }
            let port = self.port(&element.port, Direction::In);
            let value = &mut self.ports[port];
            for bit in 0..u64::from(element.width) {
                value.set_bit(u64::from(element.lsb) + bit, code.bit(bit));
            }
        }
    }

    /// Returns the value of an output port, after [`Evaluator::settle`].
    ///
    /// # Panics
    /// If no such output exists.
    pub fn get_port(&self, name: &str) -> BigUint {
        let port = &self.netlist.ports()[self.port(name, Direction::Out)];
        self.big(port.driver.expect("an output port is driven"))
    }

    /// Returns the raw integer values of the output elements, after [`Evaluator::settle`].
    pub fn outputs(&self) -> Vec<BigInt> {
        let mut shown: Option<(&str, BigUint)> = None;
        let mut codes = Vec::with_capacity(self.netlist.interface.outputs.len());
        for element in &self.netlist.interface.outputs {
            if element.width > 0 && shown.as_ref().is_none_or(|(port, _)| *port != element.port) {
                shown = Some((&element.port, self.get_port(&element.port)));
            }
            codes.push(match &shown {
                Some((_, value)) if element.width > 0 => code(value, element),
                _ => BigInt::ZERO,
            });
        }
        codes
    }

    /// Returns the value of a net.
    pub fn value(&self, net: NetId) -> BigUint {
        let width = self.netlist.net(net).width;
        self.slice(net, 0, width)
    }

    /// Computes every net from the current values of ports and registers.
    pub fn settle(&mut self) {
        let netlist = self.netlist;
        for (index, net) in netlist.nets().iter().enumerate() {
            if matches!(net.cell, Cell::Register { .. }) {
                continue;
            }
            match (self.plain, self.fast(net)) {
                (false, Some(value)) => self.words[self.base[index] as usize] = value & ones(net.width),
                _ => {
                    let value = self.exact(net);
                    self.store(index, &value);
                }
            }
        }
        // An asynchronous reset changes registers immediately, so the nets are computed again.
        if self.reset() {
            self.settle();
        }
    }

    /// Evaluates one rising edge of the clock, and all nets before and after it.
    pub fn tick(&mut self) {
        self.settle();
        let netlist = self.netlist;
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        for (index, net) in netlist.nets().iter().enumerate() {
            let Cell::Register { d, enable, reset, init: _ } = net.cell else { continue };
            let resets = reset.is_some_and(|r| self.big(r.when).is_one() == r.active_high);
            let holds = enable.is_some_and(|e| self.big(e).is_zero());
            let words = net.width.div_ceil(64);
            let value = match reset {
                Some(reset) if resets => self.big(reset.value),
                _ if holds => self.value(NetId(index as u32)),
                _ if net.width <= 64 => {
                    next.push(self.small(d));
                    continue;
                }
                _ => self.big(d),
            };
            let digits = value.to_u64_digits();
            next.extend((0..words as usize).map(|w| digits.get(w).copied().unwrap_or(0)));
        }
        let mut at = 0;
        for (index, net) in netlist.nets().iter().enumerate() {
            if matches!(net.cell, Cell::Register { .. }) {
                let (base, words) = (self.base[index] as usize, net.width.div_ceil(64) as usize);
                self.words[base..base + words].copy_from_slice(&next[at..at + words]);
                at += words;
            }
        }
        self.next = next;
        self.settle();
    }

    /// Applies inputs as raw integer values, evaluates one clock edge if the module has a clock, and returns the
    /// outputs. With a latency of `n` cycles, the `n`-th call returns the result of these inputs; this call is the
    /// first. With latency 0, this call returns the result.
    ///
    /// # Panics
    /// If the number of values differs from the number of input elements.
    pub fn clock(&mut self, codes: &[BigInt]) -> Vec<BigInt> {
        self.set_inputs(codes);
        if self.netlist.interface.clock.is_some() {
            self.tick()
        } else {
            self.settle()
        }
        self.outputs()
    }

    /// Applies the asynchronous resets. Returns `true` if a register changed.
    fn reset(&mut self) -> bool {
        let netlist = self.netlist;
        let mut changed = false;
        for (index, net) in netlist.nets().iter().enumerate() {
            let Cell::Register { reset: Some(reset), .. } = net.cell else { continue };
            if reset.asynchronous && self.big(reset.when).is_one() == reset.active_high {
                let value = self.big(reset.value);
                changed |= self.value(NetId(index as u32)) != value;
                self.store(index, &value);
            }
        }
        changed
    }

    fn port(&self, name: &str, direction: Direction) -> usize {
        let found = self.netlist.ports().iter().position(|p| p.name == name && p.direction == direction);
        found.unwrap_or_else(|| panic!("no port {name}"))
    }

    fn store(&mut self, index: usize, value: &BigUint) {
        let (base, width) = (self.base[index] as usize, self.netlist.nets()[index].width);
        let words = &mut self.words[base..base + width.div_ceil(64) as usize];
        words.fill(0);
        words.iter_mut().zip(value.iter_u64_digits()).for_each(|(w, d)| *w = d);
        if !width.is_multiple_of(64) {
            let last = words.len() - 1;
            words[last] &= ones(width % 64);
        }
    }

    /// Returns bits of a net.
    fn slice(&self, net: NetId, lo: u32, width: u32) -> BigUint {
        let base = self.base[net.index()] as usize;
        let words = &self.words[base..base + self.netlist.net(net).width.div_ceil(64) as usize];
        let digits: Vec<u32> = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
        (BigUint::new(digits) >> lo) & ((BigUint::one() << width) - 1u32)
    }

    /// Returns the value of an operand.
    fn big(&self, wiring: Wiring) -> BigUint {
        if wiring.width() <= 64 && !self.plain {
            return BigUint::from(self.small(wiring));
        }
        let mut value = BigUint::ZERO;
        let mut at = 0;
        for &piece in self.netlist.pieces(wiring) {
            let bits = match piece {
                Piece::Bits { net, lo, width } => self.slice(net, lo, width),
                Piece::Repeat { net, bit, count } => self.slice(net, bit, 1) * ((BigUint::one() << count) - 1u32),
                Piece::Const { one, width } => ((BigUint::one() << width) - 1u32) * u32::from(one),
            };
            value |= bits << at;
            at += piece.width();
        }
        value
    }

    /// Returns the value of an operand of at most 64 bits.
    fn small(&self, wiring: Wiring) -> u64 {
        let mut value = 0;
        let mut at = 0;
        for &piece in self.netlist.pieces(wiring) {
            let bits = match piece {
                Piece::Bits { net, lo, width } => {
                    let word = (self.base[net.index()] + lo / 64) as usize;
                    let low = self.words[word] >> (lo % 64);
                    // High bits of a slice that crosses a word boundary.
                    let high = match lo % 64 + width > 64 {
                        true => self.words[word + 1] << (64 - lo % 64),
                        false => 0,
                    };
                    (low | high) & ones(width)
                }
                Piece::Repeat { net, bit, count } => {
                    let word = self.words[(self.base[net.index()] + bit / 64) as usize];
                    if word >> (bit % 64) & 1 == 1 { ones(count) } else { 0 }
                }
                Piece::Const { one, width } => u64::from(one) * ones(width),
            };
            value |= bits << at;
            at += piece.width();
        }
        value
    }

    /// Computes a net in machine words, before truncation to its width; `None` if it needs more than 64 bits.
    fn fast(&self, net: &Net) -> Option<u64> {
        if net.width > 64 {
            return None;
        }
        let narrow = |x: Wiring| (x.width() <= 64).then(|| self.small(x));
        Some(match net.cell {
            Cell::Input { .. } | Cell::Register { .. } => return None,
            Cell::Alias { x } => narrow(x)?,
            Cell::Add { a, b } => narrow(a)?.wrapping_add(narrow(b)?),
            Cell::Sub { a, b } => narrow(a)?.wrapping_sub(narrow(b)?),
            Cell::Three { a, b, c, minus } => {
                let signed = |x: u64, minus: bool| if minus { x.wrapping_neg() } else { x };
                let (b, c) = (signed(narrow(b)?, minus[0]), signed(narrow(c)?, minus[1]));
                narrow(a)?.wrapping_add(b).wrapping_add(c)
            }
            Cell::Neg { a } => narrow(a)?.wrapping_neg(),
            Cell::Mul { a, b, signed } => {
                let extend = |x: Wiring| {
                    narrow(x).map(|v| match signed {
                        true => (v << (64 - x.width())) as i64 >> (64 - x.width()),
                        false => v as i64,
                    })
                };
                extend(a)?.wrapping_mul(extend(b)?) as u64
            }
            Cell::Less { a, b, signed } => {
                // With an inverted sign bit, two's complement has the order of unsigned numbers.
                let turn = if signed { 1u64 << (a.width() - 1).min(63) } else { 0 };
                u64::from((narrow(a)? ^ turn) < (narrow(b)? ^ turn))
            }
            Cell::Mux { sel, on_true, on_false } => match narrow(sel)? {
                0 => narrow(on_false)?,
                _ => narrow(on_true)?,
            },
            Cell::Not { a } => !narrow(a)?,
            Cell::And { a, b } => narrow(a)? & narrow(b)?,
            Cell::Or { a, b } => narrow(a)? | narrow(b)?,
            Cell::Xor { a, b } => narrow(a)? ^ narrow(b)?,
            Cell::ReduceOr { a } => u64::from(narrow(a)? != 0),
            Cell::ReduceAnd { a } => u64::from(narrow(a)? == ones(a.width())),
            Cell::Rom { rom, addr } => {
                let words = &self.netlist.roms()[rom.0 as usize].words;
                usize::try_from(narrow(addr)?).ok().and_then(|i| words.get(i)).copied().unwrap_or(0)
            }
        })
    }

    /// Computes a net exactly, before truncation to its width.
    fn exact(&self, net: &Net) -> BigUint {
        let modulus = || BigUint::one() << net.width;
        match net.cell {
            Cell::Input { port: PortId(port), lo } => &self.ports[port as usize] >> lo,
            Cell::Alias { x } => self.big(x),
            Cell::Add { a, b } => self.big(a) + self.big(b),
            Cell::Sub { a, b } => self.big(a) + modulus() - self.big(b),
            Cell::Three { a, b, c, minus } => {
                let signed = |x: Wiring, minus: bool| if minus { modulus() - self.big(x) } else { self.big(x) };
                self.big(a) + signed(b, minus[0]) + signed(c, minus[1])
            }
            Cell::Neg { a } => modulus() - self.big(a),
            Cell::Mul { a, b, signed } => {
                let extend = |x: Wiring| {
                    let value = BigInt::from(self.big(x));
                    let negative = signed && value.bit(u64::from(x.width()) - 1);
                    if negative { value - (BigInt::one() << x.width()) } else { value }
                };
                // Reduced modulo `2^width`, which makes a negative product positive.
                let product = extend(a) * extend(b);
                let modulus = BigInt::from(modulus());
                let low = ((product % &modulus) + &modulus) % &modulus;
                low.to_biguint().expect("the remainder is not negative")
            }
            Cell::Less { a, b, signed } => {
                let turn = if signed { BigUint::one() << (a.width() - 1) } else { BigUint::ZERO };
                BigUint::from(u8::from((self.big(a) ^ &turn) < (self.big(b) ^ &turn)))
            }
            Cell::Mux { sel, on_true, on_false } => {
                if self.big(sel).is_one() {
                    self.big(on_true)
                } else {
                    self.big(on_false)
                }
            }
            Cell::Not { a } => self.big(a) ^ (modulus() - 1u32),
            Cell::And { a, b } => self.big(a) & self.big(b),
            Cell::Or { a, b } => self.big(a) | self.big(b),
            Cell::Xor { a, b } => self.big(a) ^ self.big(b),
            Cell::ReduceOr { a } => BigUint::from(u8::from(!self.big(a).is_zero())),
            Cell::ReduceAnd { a } => BigUint::from(u8::from(self.big(a) + 1u32 == BigUint::one() << a.width())),
            Cell::Rom { rom, addr } => {
                let words = &self.netlist.roms()[rom.0 as usize].words;
                let word = self.big(addr).to_usize().and_then(|i| words.get(i)).copied();
                BigUint::from(word.unwrap_or(0))
            }
            Cell::Register { .. } => unreachable!("registers are not computed"),
        }
    }
}

fn ones(width: u32) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

/// Returns the raw integer value of an element on a port.
fn code(port: &BigUint, element: &Element) -> BigInt {
    let bits = (port >> element.lsb) & ((BigUint::one() << element.width) - 1u32);
    let code = BigInt::from(bits);
    if element.signed && code.bit(u64::from(element.width) - 1) {
        code - (BigInt::one() << element.width)
    } else {
        code
    }
}
