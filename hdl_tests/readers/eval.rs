//! The value of what a reader made of a text, by the definition of its operations alone.

use alir_testing::random::SplitMix;
use alir2hdl::rtl::{Binary, Compare, Expr, NodeId, Reduce, Rtl, Shift, SignalId};
use num_bigint::{BigInt, BigUint};
use std::collections::HashMap;

/// Reading of undefined values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undefined {
    Zeros,
    Ones,
    Random(u64),
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

fn signed(v: &BigUint, width: u32) -> BigInt {
    let v = BigInt::from(v.clone());
    if width > 0 && v.bit(u64::from(width) - 1) { v - (BigInt::from(1) << width) } else { v }
}

fn wrapped(v: BigInt, width: u32) -> BigUint {
    let full = BigInt::from(1) << width;
    let v: BigInt = ((v % &full) + &full) % &full;
    v.to_biguint().expect("a remainder is not negative")
}

/// A design that is run clock by clock.
pub(super) struct Run<'a> {
    rtl: &'a Rtl,
    undefined: Undefined,
    rng: SplitMix,
    /// Values of registers, by signal and lowest bit.
    state: HashMap<(SignalId, u32), BigUint>,
    inputs: HashMap<SignalId, BigUint>,
    known: HashMap<NodeId, BigUint>,
}

impl<'a> Run<'a> {
    /// A design at power-on.
    pub(super) fn new(rtl: &'a Rtl, undefined: Undefined) -> Run<'a> {
        let seed = if let Undefined::Random(seed) = undefined { seed } else { 0 };
        let none = HashMap::new();
        let mut run = Run {
            rtl,
            undefined,
            rng: SplitMix::new(seed),
            state: none,
            inputs: HashMap::new(),
            known: HashMap::new(),
        };
        for (i, signal) in rtl.signals().iter().enumerate() {
            for register in &signal.registers {
                let width = rtl.width(register.next);
                let value = match signal.init {
                    Some(init) => (run.value(init) >> register.lo) & ones(width),
                    None => run.undefined(width),
                };
                run.state.insert((SignalId(i as u32), register.lo), value);
            }
        }
        run
    }

    fn undefined(&mut self, width: u32) -> BigUint {
        match self.undefined {
            Undefined::Zeros => BigUint::ZERO,
            Undefined::Ones => ones(width),
            Undefined::Random(_) => self.rng.bits(width).to_biguint().expect("not negative"),
        }
    }

    /// New values at the inputs, in the order of the ports.
    pub(super) fn set(&mut self, values: &[BigUint]) {
        self.known.clear();
        self.inputs = self.rtl.inputs.iter().copied().zip(values.iter().cloned()).collect();
        let rtl = self.rtl;
        let registers = rtl.signals().iter().enumerate();
        for (id, register) in registers.flat_map(|(i, s)| s.registers.iter().map(move |r| (SignalId(i as u32), r))) {
            let hit = register.resets.iter().find(|(cond, _)| self.value(*cond) != BigUint::ZERO);
            if let Some(&(_, value)) = hit {
                let value = self.value(value);
                self.state.insert((id, register.lo), value);
            }
        }
        self.known.clear();
    }

    /// A clock edge at which every register takes its next value, or that of its reset.
    pub(super) fn edge(&mut self) {
        let mut next = Vec::new();
        for (i, signal) in self.rtl.signals().iter().enumerate() {
            for register in &signal.registers {
                let hit = register.resets.iter().find(|(cond, _)| self.value(*cond) != BigUint::ZERO);
                let value = hit.map_or(register.next, |r| r.1);
                next.push(((SignalId(i as u32), register.lo), self.value(value)));
            }
        }
        self.state.extend(next);
        self.known.clear();
    }

    /// The value of a port.
    pub(super) fn port(&mut self, id: SignalId) -> BigUint {
        self.value(self.rtl.read(id))
    }

    fn signal(&mut self, id: SignalId) -> BigUint {
        let signal = self.rtl.signal(id);
        if signal.input {
            return self.inputs.get(&id).cloned().unwrap_or_default() & ones(signal.width);
        }
        let driven: u32 = signal.wires.iter().map(|w| self.rtl.width(w.1)).sum::<u32>()
            + signal.registers.iter().map(|r| self.rtl.width(r.next)).sum::<u32>();
        let mut all = BigUint::ZERO;
        if driven < signal.width {
            all = match signal.init {
                Some(init) => self.value(init),
                None => self.undefined(signal.width),
            };
        }
        let mut put = |lo: u32, width: u32, value: BigUint| {
            let field = ones(width) << lo;
            all = (&all - (&all & &field)) | (value << lo);
        };
        for &(lo, node) in &signal.wires {
            put(lo, self.rtl.width(node), self.value(node));
        }
        for register in &signal.registers {
            put(register.lo, self.rtl.width(register.next), self.state[&(id, register.lo)].clone());
        }
        all
    }

    fn value(&mut self, node: NodeId) -> BigUint {
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        let rtl = self.rtl;
        let width = rtl.width(node);
        let value = match rtl.expr(node) {
            Expr::Const(v) => (**v).clone(),
            Expr::Signal(id) => self.signal(*id),
            Expr::Free => self.undefined(width),
            Expr::Slice { x, lo } => (self.value(*x) >> *lo) & ones(width),
            Expr::Concat(parts) => {
                parts.iter().rev().fold(BigUint::ZERO, |high, &part| (high << rtl.width(part)) | self.value(part))
            }
            Expr::Repeat { x } => {
                let (from, x) = (rtl.width(*x), self.value(*x));
                (0..width / from).fold(BigUint::ZERO, |high, _| (high << from) | &x)
            }
            Expr::Extend { x, signed: false } => self.value(*x),
            Expr::Extend { x, signed: true } => wrapped(signed(&self.value(*x), rtl.width(*x)), width),
            Expr::Not(x) => ones(width) - self.value(*x),
            Expr::Binary(op, a, b) => {
                let (x, y) = (self.value(*a), self.value(*b));
                match op {
                    Binary::And => x & y,
                    Binary::Or => x | y,
                    Binary::Xor => x ^ y,
                    Binary::Add => (x + y) & ones(width),
                    Binary::Sub => wrapped(BigInt::from(x) - BigInt::from(y), width),
                    Binary::Mul => (x * y) & ones(width),
                    Binary::Div => {
                        if y == BigUint::ZERO {
                            ones(width)
                        } else {
                            x / y
                        }
                    }
                    Binary::Rem => {
                        if y == BigUint::ZERO {
                            x
                        } else {
                            x % y
                        }
                    }
                }
            }
            Expr::Compare(op, a, b) => {
                let (from, x, y) = (rtl.width(*a), self.value(*a), self.value(*b));
                BigUint::from(match op {
                    Compare::Equal => x == y,
                    Compare::Less => x < y,
                    Compare::SignedLess => signed(&x, from) < signed(&y, from),
                } as u32)
            }
            Expr::Reduce(op, x) => {
                let (from, x) = (rtl.width(*x), self.value(*x));
                BigUint::from(match op {
                    Reduce::All => x == ones(from),
                    Reduce::Any => x != BigUint::ZERO,
                    Reduce::Parity => x.count_ones() % 2 == 1,
                } as u32)
            }
            Expr::Shift(op, x, by) => {
                let (x, by) = (self.value(*x), self.value(*by));
                let by = u32::try_from(by).unwrap_or(width).min(width);
                match op {
                    Shift::Left => (x << by) & ones(width),
                    Shift::Right => x >> by,
                    Shift::SignedRight => wrapped(signed(&x, width) >> by, width),
                }
            }
            Expr::Mux(c, yes, no) => {
                let chosen = if self.value(*c) == BigUint::ZERO { no } else { yes };
                self.value(*chosen)
            }
            Expr::Table(entries, addr, missing) => {
                let at = usize::try_from(self.value(*addr)).ok();
                match at.and_then(|at| entries.get(at)) {
                    Some(entry) => entry.clone(),
                    None => self.value(*missing),
                }
            }
        };
        self.known.insert(node, value.clone());
        value
    }
}
