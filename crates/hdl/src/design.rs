//! Elaborated design of a Verilog or VHDL file: signals, and what drives them, as words with explicit widths.
//!
//! The readers resolve everything that their language leaves implicit (widths, signs, extension, precedence,
//! hierarchy); here every operand has the width that its operation says. Constants fold while expressions are built, so
//! that constant expressions of a language need no evaluator of their own. What a language leaves undefined (an
//! address past a memory's end, an `x` literal) is a [`Expr::Free`] value: a proof must hold whatever it is.

use alir_core::diag::{Diagnostic, Place};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalId(pub u32);

/// Two-operand operations on words of one width, result of that width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    /// Unsigned quotient; all ones for a divisor of zero.
    Div,
    /// Unsigned remainder; the dividend for a divisor of zero.
    Rem,
}

/// Comparisons of words of one width, one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Compare {
    Equal,
    Less,
    SignedLess,
}

/// Reductions to one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Reduce {
    All,
    Any,
    Parity,
}

/// Shifts by a word read as an unsigned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Shift {
    Left,
    Right,
    SignedRight,
}

/// Kind and operands of an expression. Its width is stored separately.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Const(Arc<BigUint>),
    /// A signal's value.
    Signal(SignalId),
    /// Something undefined: any value.
    Free,
    /// Bits from `lo` on.
    Slice {
        /// The word.
        x: NodeId,
        /// Lowest bit.
        lo: u32,
    },
    /// Parts side by side, low bits first.
    Concat(Arc<[NodeId]>),
    /// Copies of the same bits, concatenated.
    Repeat {
        /// The bits.
        x: NodeId,
    },
    /// Extension to a larger width.
    Extend {
        /// The word.
        x: NodeId,
        /// By its sign rather than by zeros.
        signed: bool,
    },
    /// Complement.
    Not(NodeId),
    /// Arithmetic and bitwise operations.
    Binary(Binary, NodeId, NodeId),
    /// Comparisons.
    Compare(Compare, NodeId, NodeId),
    /// Reductions.
    Reduce(Reduce, NodeId),
    /// Shifts.
    Shift(Shift, NodeId, NodeId),
    /// `if .0 { .1 } else { .2 }`, condition of one bit.
    Mux(NodeId, NodeId, NodeId),
    /// Entry of a table; entries that the table lacks are the third operand.
    Table(Arc<Vec<BigUint>>, NodeId, NodeId),
}

/// Register for bits of a signal: clock, next value and asynchronous resets.
#[derive(Clone, Debug)]
pub struct Register {
    /// Lowest bit of the signal.
    pub lo: u32,
    /// Next value.
    pub next: NodeId,
    /// The clock.
    pub clock: SignalId,
    /// `true` for the rising clock edge, `false` for the falling one.
    pub rising: bool,
    /// Asynchronous resets, the strongest first: condition and value.
    pub resets: Vec<(NodeId, NodeId)>,
}

/// A named word.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Its name, with the instances it is in, separated by dots.
    pub name: String,
    /// Number of bits.
    pub width: u32,
    /// Where it is declared, as a byte offset.
    pub at: u32,
    /// `true` for an input of the top module.
    pub input: bool,
    /// Wires that drive it, as (lowest bit, value).
    pub wires: Vec<(u32, NodeId)>,
    /// Registers that drive it.
    pub registers: Vec<Register>,
    /// Power-on value.
    pub init: Option<NodeId>,
}

/// A whole design, flattened.
#[derive(Clone, Debug, Default)]
pub struct Rtl {
    exprs: Vec<Expr>,
    widths: Vec<u32>,
    signals: Vec<Signal>,
    signal_nodes: Vec<NodeId>,
    small: FxHashMap<(u32, u64), NodeId>,
    /// Cost of the expressions, in the unit of [`Rtl::work`].
    work: u64,
    /// Parts of concatenations that were looked at.
    looked: u64,
    /// Name of the top module.
    pub top: String,
    /// Input ports of the top module, in order.
    pub inputs: Vec<SignalId>,
    /// Output ports of the top module, in order.
    pub outputs: Vec<SignalId>,
    /// Comments before the first module.
    pub head: Vec<String>,
    /// Comments on signals, by the name of the signal; see [`Rtl::remark`].
    pub(super) remarks: FxHashMap<String, String>,
}

/// Widths beyond this are refused: nothing that we prove comes near.
pub const MAX_WIDTH: u32 = 1 << 24;

/// [`Rtl::work`] beyond this is refused: some seconds, and some GiB.
pub const MAX_WORK: u64 = 1 << 30;

fn mask(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// Returns the byte offset of a signal's own name, after that of its instance.
fn own_name(name: &str) -> usize {
    name.rfind('.').map_or(0, |dot| dot + 1)
}

impl Rtl {
    /// An empty design of this name, from a file that begins with these comments.
    pub fn new(top: String, head: Vec<String>) -> Rtl {
        Rtl { top, head, ..Rtl::default() }
    }

    /// The comment at the end of a line that drives a signal of this name, without its instance: the first, if there
    /// are several.
    pub fn remark(&self, name: &str) -> Option<&str> {
        self.remarks.get(&name[own_name(name)..]).map(String::as_str)
    }

    /// A copy in which the signals that are no ports have other names, without the instance that they are in: what
    /// `name` makes of theirs.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Rtl {
        let mut out = self.clone();
        let mut remarks = FxHashMap::default();
        for signal in out.internal() {
            let own = own_name(&signal.name);
            let new = name(&signal.name[own..]);
            if let Some(remark) = self.remark(&signal.name) {
                remarks.entry(new.clone()).or_insert_with(|| remark.to_owned());
            }
            signal.name.replace_range(own.., &new);
        }
        out.remarks = remarks;
        out
    }

    /// Returns a copy in which internal signals have the names and remarks that `of` returns for their names, both
    /// without the instance that they are in. A signal for which `of` returns `None` stays as it is.
    pub fn annotated(&self, of: impl Fn(&str) -> Option<(String, String)>) -> Rtl {
        let mut out = self.clone();
        let mut remarks = std::mem::take(&mut out.remarks);
        for signal in out.internal() {
            let own = own_name(&signal.name);
            if let Some((name, remark)) = of(&signal.name[own..]) {
                signal.name.replace_range(own.., &name);
                remarks.insert(name, remark);
            }
        }
        out.remarks = remarks;
        out
    }

    /// The signals that are no ports.
    fn internal(&mut self) -> impl Iterator<Item = &mut Signal> {
        let mut is_port = vec![false; self.signals.len()];
        self.inputs.iter().chain(&self.outputs).for_each(|port| is_port[port.0 as usize] = true);
        self.signals.iter_mut().zip(is_port).filter(|(_, is_port)| !is_port).map(|(signal, _)| signal)
    }

    /// An expression.
    pub fn expr(&self, id: NodeId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// Its width.
    pub fn width(&self, id: NodeId) -> u32 {
        self.widths[id.0 as usize]
    }

    /// Number of expressions.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Returns `true` if there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// All signals.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// One signal.
    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.0 as usize]
    }

    /// One signal, to add drivers.
    pub fn signal_mut(&mut self, id: SignalId) -> &mut Signal {
        &mut self.signals[id.0 as usize]
    }

    /// Returns the cost of the expressions that were built so far: 32 for each, one for two bytes that it keeps and for
    /// each word of 64 bits that was computed. A front end stops where this passes [`MAX_WORK`].
    pub fn work(&self) -> u64 {
        self.work + self.looked
    }

    fn push(&mut self, expr: Expr, width: u32) -> NodeId {
        self.work += match &expr {
            // Kept as a number of its own.
            Expr::Const(_) => 32 + u64::from(width) / 16,
            Expr::Concat(parts) => 32 + parts.len() as u64,
            _ => 32,
        };
        self.exprs.push(expr);
        self.widths.push(width);
        NodeId(self.exprs.len() as u32 - 1)
    }

    /// A new signal.
    pub fn add_signal(&mut self, name: String, width: u32, at: u32) -> SignalId {
        let id = SignalId(self.signals.len() as u32);
        let node = self.push(Expr::Signal(id), width);
        self.signal_nodes.push(node);
        self.signals.push(Signal {
            name,
            width,
            at,
            input: false,
            wires: Vec::new(),
            registers: Vec::new(),
            init: None,
        });
        id
    }

    /// A signal's value.
    pub fn read(&self, id: SignalId) -> NodeId {
        self.signal_nodes[id.0 as usize]
    }

    /// A constant, reduced to `width` bits.
    pub fn constant(&mut self, value: BigUint, width: u32) -> NodeId {
        let value = if value.bits() > u64::from(width) { value & mask(width) } else { value };
        if let Ok(small) = u64::try_from(&value) {
            if let Some(&known) = self.small.get(&(width, small)) {
                return known;
            }
            let id = self.push(Expr::Const(Arc::new(value)), width);
            self.small.insert((width, small), id);
            return id;
        }
        self.push(Expr::Const(Arc::new(value)), width)
    }

    /// A small constant.
    pub fn number(&mut self, value: u64, width: u32) -> NodeId {
        self.constant(BigUint::from(value), width)
    }

    /// An undefined value, another one at each call.
    pub fn free(&mut self, width: u32) -> NodeId {
        self.push(Expr::Free, width)
    }

    /// A constant whose bits in `undefined` may be anything.
    pub(crate) fn constant_with_undefined(&mut self, value: &BigUint, undefined: &BigUint, width: u32) -> NodeId {
        let (mut parts, mut lo) = (Vec::new(), 0);
        while lo < width {
            let is_undefined = undefined.bit(lo.into());
            let end = (lo..width).find(|&i| undefined.bit(i.into()) != is_undefined).unwrap_or(width);
            parts.push(match is_undefined {
                true => self.free(end - lo),
                false => self.constant(value >> lo, end - lo),
            });
            lo = end;
        }
        self.concat(&parts)
    }

    /// Value and undefined bits of an expression that consists of constants and undefined values.
    pub(crate) fn as_const_with_undefined(&self, id: NodeId) -> Option<(BigUint, BigUint)> {
        match self.expr(id) {
            Expr::Const(v) => Some((BigUint::clone(v), BigUint::ZERO)),
            Expr::Free => Some((BigUint::ZERO, (BigUint::from(1u32) << self.width(id)) - 1u32)),
            Expr::Extend { x, signed: false } => self.as_const_with_undefined(*x),
            Expr::Concat(parts) => {
                let (mut value, mut undefined, mut lo) = (BigUint::ZERO, BigUint::ZERO, 0);
                for &part in parts.iter() {
                    let (part_value, part_undefined) = self.as_const_with_undefined(part)?;
                    value |= part_value << lo;
                    undefined |= part_undefined << lo;
                    lo += self.width(part);
                }
                Some((value, undefined))
            }
            _ => None,
        }
    }

    /// The constant that an expression is, if it is one.
    pub fn as_const(&self, id: NodeId) -> Option<&BigUint> {
        match self.expr(id) {
            Expr::Const(v) => Some(v),
            _ => None,
        }
    }

    /// Bits `lo .. lo + width`.
    pub fn slice(&mut self, x: NodeId, lo: u32, width: u32) -> NodeId {
        assert!(lo + width <= self.width(x), "a slice within its operand");
        if lo == 0 && width == self.width(x) {
            return x;
        }
        match self.expr(x) {
            Expr::Const(v) => {
                let v = &**v >> lo;
                self.constant(v, width)
            }
            &Expr::Slice { x, lo: below } => self.slice(x, lo + below, width),
            Expr::Free => self.free(width),
            &Expr::Extend { x, signed } => {
                let from = self.width(x);
                if lo + width <= from {
                    return self.slice(x, lo, width);
                }
                // Bits and what extends them, or only copies of the sign.
                let kept = if signed { lo.min(from.saturating_sub(1)) } else { lo.min(from) };
                let low = self.slice(x, kept, from - kept);
                if self.width(low) == 0 { self.number(0, width) } else { self.resize(low, width, signed) }
            }
            Expr::Concat(parts) => {
                // Only parts that the slice touches; exact hits need no slice.
                let parts = parts.clone();
                let (mut at, mut kept) = (0, Vec::new());
                for &part in parts.iter() {
                    let end = at + self.width(part);
                    let (from, to) = (at.max(lo), end.min(lo + width));
                    self.looked += 1;
                    if from < to {
                        kept.push(self.slice(part, from - at, to - from));
                    }
                    at = end;
                    if at >= lo + width {
                        break;
                    }
                }
                self.concat(&kept)
            }
            _ => self.push(Expr::Slice { x, lo }, width),
        }
    }

    /// `count` pieces of `stride` bits each, the lowest first: what [`Rtl::slice`] gives for each, in one go.
    pub fn split(&mut self, x: NodeId, stride: u32, count: u32) -> Vec<NodeId> {
        assert!(stride.checked_mul(count).is_some_and(|all| all <= self.width(x)), "pieces within their operand");
        let Expr::Concat(parts) = self.expr(x) else {
            return (0..count).map(|i| self.slice(x, i * stride, stride)).collect();
        };
        let parts = parts.clone();
        let mut pieces = Vec::with_capacity(count as usize);
        // The part that the next piece begins in, and where that part begins.
        let (mut next, mut begin) = (0, 0);
        for i in 0..count {
            let (lo, hi) = (i * stride, (i + 1) * stride);
            let mut kept = Vec::new();
            while let Some(&part) = parts.get(next) {
                let end = begin + self.width(part);
                let (from, to) = (begin.max(lo), end.min(hi));
                if from < to {
                    kept.push(self.slice(part, from - begin, to - from));
                }
                if end > hi {
                    break;
                }
                (begin, next) = (end, next + 1);
            }
            pieces.push(self.concat(&kept));
        }
        pieces
    }

    /// Parts side by side, low bits first; parts without bits are left out.
    pub fn concat(&mut self, parts: &[NodeId]) -> NodeId {
        let parts: Vec<NodeId> = parts.iter().copied().filter(|&p| self.width(p) > 0).collect();
        match parts[..] {
            [] => self.number(0, 0),
            [one] => one,
            _ => {
                let width = parts.iter().map(|&p| self.width(p)).sum();
                if parts.iter().all(|&p| self.as_const(p).is_some()) {
                    let mut words = vec![0u64; width as usize / 64 + 2];
                    let mut at = 0u32;
                    for &part in &parts {
                        let (word, bit) = (at as usize / 64, at % 64);
                        let digits = self.as_const(part).into_iter().flat_map(BigUint::iter_u64_digits);
                        for (i, digit) in digits.enumerate() {
                            words[word + i] |= digit << bit;
                            if bit > 0 {
                                words[word + i + 1] |= digit >> (64 - bit);
                            }
                        }
                        at += self.width(part);
                    }
                    let halves = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
                    return self.constant(BigUint::new(halves), width);
                }
                self.push(Expr::Concat(parts.into()), width)
            }
        }
    }

    /// `x`, `count` times.
    pub fn repeat(&mut self, x: NodeId, count: u32) -> NodeId {
        let width = self.width(x);
        if count == 1 {
            return x;
        }
        if let Some(v) = self.as_const(x).cloned() {
            if v == BigUint::ZERO {
                return self.number(0, width * count);
            }
            if v == mask(width) {
                return self.constant(mask(width * count), width * count);
            }
            let all = (0..count).fold(BigUint::ZERO, |acc, _| (acc << width) | &v);
            return self.constant(all, width * count);
        }
        self.push(Expr::Repeat { x }, width * count)
    }

    /// `x` cut or extended to `width` bits.
    pub fn resize(&mut self, x: NodeId, width: u32, signed: bool) -> NodeId {
        let from = self.width(x);
        if width <= from {
            return self.slice(x, 0, width);
        }
        if let Some(v) = self.as_const(x).cloned() {
            let negative = signed && from > 0 && v.bit(u64::from(from) - 1);
            let v = if negative { v | (mask(width - from) << from) } else { v };
            return self.constant(v, width);
        }
        self.push(Expr::Extend { x, signed }, width)
    }

    /// Complement.
    pub fn not(&mut self, x: NodeId) -> NodeId {
        let width = self.width(x);
        match self.as_const(x).cloned() {
            Some(v) => self.constant(mask(width) ^ v, width),
            None => self.push(Expr::Not(x), width),
        }
    }

    /// An arithmetic or bitwise operation.
    pub fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "operands of one width");
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let words = u64::from(width) / 64 + 1;
            let cost = match op {
                Binary::Mul | Binary::Div | Binary::Rem => words.saturating_mul(words.isqrt()),
                _ => words,
            };
            let value = match op {
                Binary::And => x & y,
                Binary::Or => x | y,
                Binary::Xor => x ^ y,
                Binary::Add => x + y,
                Binary::Sub => x + (BigUint::from(1u32) << width) - y,
                Binary::Mul => x * y,
                Binary::Div if *y == BigUint::ZERO => mask(width),
                Binary::Div => x / y,
                Binary::Rem if *y == BigUint::ZERO => x.clone(),
                Binary::Rem => x % y,
            };
            self.work += cost;
            return self.constant(value, width);
        }
        self.push(Expr::Binary(op, a, b), width)
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, a: NodeId, b: NodeId) -> NodeId {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "operands of one width");
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let flip = |v: &BigUint| if width > 0 { v ^ (BigUint::from(1u32) << (width - 1)) } else { v.clone() };
            let result = match op {
                Compare::Equal => x == y,
                Compare::Less => x < y,
                Compare::SignedLess => flip(x) < flip(y),
            };
            return self.number(u64::from(result), 1);
        }
        self.push(Expr::Compare(op, a, b), 1)
    }

    /// A reduction.
    pub fn reduce(&mut self, op: Reduce, x: NodeId) -> NodeId {
        if let Some(v) = self.as_const(x) {
            let result = match op {
                Reduce::All => *v == mask(self.width(x)),
                Reduce::Any => *v != BigUint::ZERO,
                Reduce::Parity => v.count_ones() % 2 == 1,
            };
            return self.number(u64::from(result), 1);
        }
        if self.width(x) == 1 {
            return x;
        }
        self.push(Expr::Reduce(op, x), 1)
    }

    /// A shift.
    pub fn shift(&mut self, op: Shift, x: NodeId, by: NodeId) -> NodeId {
        let width = self.width(x);
        if let Some(by) = self.as_const(by) {
            let by = u32::try_from(by).unwrap_or(u32::MAX).min(width);
            let kept = width - by;
            return match op {
                Shift::Left => {
                    let (low, zeros) = (self.slice(x, 0, kept), self.number(0, by));
                    self.concat(&[zeros, low])
                }
                Shift::Right | Shift::SignedRight => {
                    if kept == 0 && op == Shift::SignedRight && width > 0 {
                        let sign = self.slice(x, width - 1, 1);
                        return self.resize(sign, width, true);
                    }
                    let high = self.slice(x, by, kept);
                    self.resize(high, width, op == Shift::SignedRight)
                }
            };
        }
        self.push(Expr::Shift(op, x, by), width)
    }

    /// A choice; `cond` has one bit.
    pub fn mux(&mut self, cond: NodeId, yes: NodeId, no: NodeId) -> NodeId {
        if yes == no {
            return yes;
        }
        match self.as_const(cond) {
            Some(v) if *v == BigUint::ZERO => no,
            Some(_) => yes,
            None => self.push(Expr::Mux(cond, yes, no), self.width(yes)),
        }
    }

    /// An entry of a table; `missing` for addresses past its end.
    pub fn table(&mut self, entries: Arc<Vec<BigUint>>, addr: NodeId, missing: NodeId) -> NodeId {
        let width = self.width(missing);
        if let Some(v) = self.as_const(addr) {
            let found = usize::try_from(v).ok().and_then(|i| entries.get(i)).cloned();
            return found.map_or(missing, |e| self.constant(e, width));
        }
        self.push(Expr::Table(entries, addr, missing), width)
    }

    /// Choice by a narrow value as a table: constants under conditions that compare one value with constants, the first
    /// that holds, and otherwise `default`. `None` if the choices are few, or of another form.
    pub(crate) fn table_of_choices(&mut self, choices: &[(NodeId, NodeId)], default: NodeId) -> Option<NodeId> {
        const FEWEST: usize = 8;
        if choices.len() < FEWEST {
            return None;
        }
        let (mut selector, mut entries): (Option<NodeId>, Vec<Option<BigUint>>) = (None, Vec::new());
        for &(hit, value) in choices {
            let value = self.as_const(value)?.clone();
            let mut open = vec![hit];
            while let Some(hit) = open.pop() {
                match *self.expr(hit) {
                    Expr::Binary(Binary::Or, a, b) => open.extend([a, b]),
                    Expr::Compare(Compare::Equal, a, label) => {
                        let label = usize::try_from(self.as_const(label)?).ok()?;
                        if *selector.get_or_insert(a) != a {
                            return None;
                        }
                        let width = self.width(a);
                        // A sparse choice of a wide value stays as it is.
                        if width > 24 || 1 << width > choices.len().saturating_mul(64) {
                            return None;
                        }
                        entries.resize(1 << width, None);
                        entries[label].get_or_insert_with(|| value.clone());
                    }
                    Expr::Const(ref never) if **never == BigUint::ZERO => {}
                    _ => return None,
                }
            }
        }
        let selector = selector?;
        let fill = self.as_const(default).cloned();
        let filled = entries.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let gaps: Vec<BigUint> = entries[..filled].iter().map(|e| BigUint::from(u8::from(e.is_none()))).collect();
        let has_gaps = fill.is_none() && entries[..filled].iter().any(Option::is_none);
        let fill_value = fill.unwrap_or_default();
        let words = entries.into_iter().take(filled).map(|e| e.unwrap_or_else(|| fill_value.clone())).collect();
        let table = self.table(Arc::new(words), selector, default);
        if !has_gaps {
            return Some(table);
        }
        let inside = self.number(0, 1);
        let is_gap = self.table(Arc::new(gaps), selector, inside);
        Some(self.mux(is_gap, default, table))
    }

    /// The word of an address; any value for addresses past the last one.
    pub fn choose(&mut self, words: Vec<NodeId>, addr: NodeId) -> NodeId {
        let width = words.first().map_or(0, |&w| self.width(w));
        let (count, reach) = (words.len() as u64, self.width(addr));
        let free = self.free(width);
        let mut level = words;
        let mut bit = 0;
        while level.len() > 1 && bit < reach {
            let cond = self.slice(addr, bit, 1);
            level = level
                .chunks(2)
                .map(|pair| match *pair {
                    [low, high] => self.mux(cond, high, low),
                    [low] => low,
                    _ => free,
                })
                .collect();
            bit += 1;
        }
        let Some(&word) = level.first() else { return free };
        // Where the last words have no neighbour, or bits of the address were not looked at, it may be past the end.
        if reach < 64 && count >= 1 << reach {
            return word;
        }
        let limit = self.number(count, reach);
        let inside = self.compare(Compare::Less, addr, limit);
        self.mux(inside, word, free)
    }

    /// Parts side by side, low bits first, where parts of parts become parts.
    pub fn join(&mut self, parts: &[NodeId]) -> NodeId {
        let mut all = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.expr(part) {
                Expr::Concat(inner) => all.extend(inner.iter().copied()),
                _ => all.push(part),
            }
        }
        self.concat(&all)
    }

    /// Drives signals without drivers by undefined values, as netlists and cells leave what nothing depends on.
    pub(super) fn free_undriven(&mut self) {
        for i in 0..self.signals.len() {
            let signal = &self.signals[i];
            if !signal.input && signal.wires.is_empty() && signal.registers.is_empty() && signal.init.is_none() {
                let value = self.free(signal.width);
                self.signals[i].wires.push((0, value));
            }
        }
    }

    /// Ensures that every bit of every signal that is read has exactly one driver. Bits of a word without a driver, as
    /// synthesis leaves them, become undefined.
    ///
    /// # Errors
    /// `E0904` naming the first signal whose bits have two drivers, or that is read and has none at all; `place` gives
    /// the position of a byte offset.
    pub fn complete_drivers(&mut self, place: impl Fn(u32) -> Place) -> Result<(), Diagnostic> {
        let mut read = vec![false; self.signals.len()];
        for expr in &self.exprs {
            // Signal nodes exist for all signals; only those that are operands matter.
            let mut mark = |n: &NodeId| {
                if let Expr::Signal(s) = self.expr(*n) {
                    read[s.0 as usize] = true;
                }
            };
            operands(expr, &mut mark);
        }
        for &s in &self.outputs {
            read[s.0 as usize] = true;
        }
        // Another name for a signal has no operand.
        let values =
            self.signals.iter().flat_map(|s| s.wires.iter().map(|w| w.1).chain(s.registers.iter().map(|r| r.next)));
        for value in values {
            if let Expr::Signal(s) = self.expr(value) {
                read[s.0 as usize] = true;
            }
        }
        let mut gaps = Vec::new();
        for (i, signal) in self.signals.iter().enumerate() {
            let wires = signal.wires.iter().map(|&(lo, n)| (lo, lo + self.width(n)));
            let registers = signal.registers.iter().map(|r| (r.lo, r.lo + self.width(r.next)));
            let mut spans: Vec<(u32, u32)> = wires.chain(registers).collect();
            if signal.input {
                spans.push((0, signal.width));
            }
            spans.sort_unstable();
            let fault = |what: &str| {
                let message = format!("{} {what}", signal.name);
                Err(Diagnostic::error("E0904", place(signal.at), message))
            };
            if spans.windows(2).any(|w| w[1].0 < w[0].1) {
                return fault("has two drivers for the same bits");
            }
            let covered: u32 = spans.iter().map(|s| s.1 - s.0).sum();
            // What nothing drives keeps its initial value.
            if covered == signal.width || !read[i] || signal.init.is_some() {
                continue;
            }
            if covered == 0 {
                return fault("is read, but nothing drives it");
            }
            let ends = std::iter::once(0).chain(spans.iter().map(|s| s.1));
            let starts = spans.iter().map(|s| s.0).chain([signal.width]);
            gaps.extend(ends.zip(starts).filter(|(a, b)| a < b).map(|(a, b)| (i, a, b - a)));
        }
        for (i, lo, width) in gaps {
            let undefined = self.free(width);
            self.signals[i].wires.push((lo, undefined));
        }
        Ok(())
    }
}

/// Calls `visit` for each operand of an expression.
pub fn operands(expr: &Expr, visit: &mut dyn FnMut(&NodeId)) {
    match expr {
        Expr::Const(_) | Expr::Signal(_) | Expr::Free => {}
        Expr::Slice { x, lo: _ } | Expr::Repeat { x } | Expr::Extend { x, signed: _ } | Expr::Not(x) => visit(x),
        Expr::Reduce(_, x) => visit(x),
        Expr::Concat(parts) => parts.iter().for_each(visit),
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) | Expr::Shift(_, a, b) | Expr::Table(_, a, b) => {
            visit(a);
            visit(b);
        }
        Expr::Mux(c, a, b) => {
            visit(c);
            visit(a);
            visit(b);
        }
    }
}
