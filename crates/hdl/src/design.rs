//! Elaborated design of a Verilog or VHDL file: signals and their drivers, as words with explicit widths.
//!
//! The front ends resolve everything that is implicit in their language (widths, signs, extension, precedence,
//! hierarchy); here every operand has the width that its operation requires. Constants are folded while expressions are
//! built, so that constant expressions of a language need no evaluator of their own. A value that a language leaves
//! undefined (a word past the end of a memory, an `x` literal) is [`Expr::Free`]: a proof must hold for any value of
//! it.

use alir_core::diag::{Diagnostic, Place};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Index of an expression in an [`Rtl`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of a signal in an [`Rtl`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalId(pub u32);

/// Operation on two words of equal width; the result has the same width.
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

/// Comparison of two words of equal width; the result has one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Compare {
    Equal,
    Less,
    SignedLess,
}

/// Reduction of a word to one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Reduce {
    All,
    Any,
    Parity,
}

/// Shift of a word by an unsigned number.
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
    /// Value of a signal.
    Signal(SignalId),
    /// Undefined value, which may be any value.
    Free,
    /// Bits from `lo` on.
    Slice {
        /// The word.
        x: NodeId,
        /// Lowest bit.
        lo: u32,
    },
    /// Concatenated parts, low bits first.
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
        /// `true` for sign extension, `false` for zero extension.
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
    /// Multiplexer `if .0 { .1 } else { .2 }`; the condition has one bit.
    Mux(NodeId, NodeId, NodeId),
    /// Entry of table `.0` at address `.1`; `.2` for addresses past the end of the table.
    Table(Arc<Vec<BigUint>>, NodeId, NodeId),
}

/// Register for bits of a signal: clock, next value and asynchronous resets.
#[derive(Clone, Debug)]
pub struct Register {
    /// Lowest driven bit of the signal.
    pub lo: u32,
    /// Next value.
    pub next: NodeId,
    /// The clock.
    pub clock: SignalId,
    /// `true` for the rising clock edge, `false` for the falling one.
    pub rising: bool,
    /// Asynchronous resets as (condition, value), highest priority first.
    pub resets: Vec<(NodeId, NodeId)>,
}

/// A named word: a port, net or variable.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Hierarchical name: instances and own name, separated by dots.
    pub name: String,
    /// Number of bits.
    pub width: u32,
    /// Byte offset of the declaration.
    pub at: u32,
    /// `true` for an input of the top module.
    pub input: bool,
    /// Drivers without register, as (lowest bit, value).
    pub wires: Vec<(u32, NodeId)>,
    /// Drivers with register.
    pub registers: Vec<Register>,
    /// Power-on value.
    pub init: Option<NodeId>,
}

/// A flattened design.
#[derive(Clone, Debug, Default)]
pub struct Rtl {
    /// Shared by the copies of a design with other names.
    exprs: Arc<Vec<Expr>>,
    widths: Arc<Vec<u32>>,
    signals: Vec<Signal>,
    signal_nodes: Vec<NodeId>,
    small: FxHashMap<(u32, u64), NodeId>,
    /// Cost of the expressions, in the unit of [`Rtl::work`].
    work: u64,
    /// Number of parts of concatenations that slices visited.
    visited_parts: u64,
    /// Name of the top module.
    pub top: String,
    /// Input ports of the top module, in order.
    pub inputs: Vec<SignalId>,
    /// Output ports of the top module, in order.
    pub outputs: Vec<SignalId>,
    /// Comments before the first module.
    pub head: Vec<String>,
    /// Comments on signals by the name of the signal, without its instances; see [`Rtl::remark`].
    pub(super) remarks: FxHashMap<String, String>,
}

/// Largest supported width of a word in bits, far above that of any supported design.
pub const MAX_WIDTH: u32 = 1 << 24;

/// Largest supported [`Rtl::work`], which corresponds to some seconds of time and some GiB of memory.
pub const MAX_WORK: u64 = 1 << 30;

/// Returns the word of `width` ones.
fn mask(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// Returns the byte offset of a signal's own name in its hierarchical name.
fn own_name_offset(name: &str) -> usize {
    name.rfind('.').map_or(0, |dot| dot + 1)
}

impl Rtl {
    /// Creates an empty design: name of the top module, and comments before the first module.
    pub fn new(top: String, head: Vec<String>) -> Rtl {
        Rtl { top, head, ..Rtl::default() }
    }

    /// Returns the comment at the end of the first line with a comment that drives a signal of this name; instances in
    /// the name are ignored.
    pub fn remark(&self, name: &str) -> Option<&str> {
        self.remarks.get(&name[own_name_offset(name)..]).map(String::as_str)
    }

    /// Returns a copy in which internal signals are renamed by `name`, which receives and returns names without
    /// instances.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Rtl {
        let mut out = self.clone();
        let mut remarks = FxHashMap::default();
        for signal in out.internal() {
            let own = own_name_offset(&signal.name);
            let new = name(&signal.name[own..]);
            if let Some(remark) = self.remark(&signal.name) {
                remarks.entry(new.clone()).or_insert_with(|| remark.to_owned());
            }
            signal.name.replace_range(own.., &new);
        }
        out.remarks = remarks;
        out
    }

    /// Returns a copy in which internal signals have the names and remarks that `annotation` returns for their names,
    /// all without instances. A signal for which `annotation` returns `None` is unchanged.
    pub fn annotated(&self, annotation: impl Fn(&str) -> Option<(String, String)>) -> Rtl {
        let mut out = self.clone();
        let mut remarks = std::mem::take(&mut out.remarks);
        for signal in out.internal() {
            let own = own_name_offset(&signal.name);
            if let Some((name, remark)) = annotation(&signal.name[own..]) {
                signal.name.replace_range(own.., &name);
                remarks.insert(name, remark);
            }
        }
        out.remarks = remarks;
        out
    }

    /// Returns the internal signals, which are not ports.
    fn internal(&mut self) -> impl Iterator<Item = &mut Signal> {
        let mut is_port = vec![false; self.signals.len()];
        self.inputs.iter().chain(&self.outputs).for_each(|port| is_port[port.0 as usize] = true);
        self.signals.iter_mut().zip(is_port).filter(|(_, is_port)| !is_port).map(|(signal, _)| signal)
    }

    /// Returns an expression.
    pub fn expr(&self, id: NodeId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// Returns the width of an expression in bits.
    pub fn width(&self, id: NodeId) -> u32 {
        self.widths[id.0 as usize]
    }

    /// Returns the number of expressions.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Returns `true` if there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// Returns all signals.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Returns a signal.
    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.0 as usize]
    }

    /// Returns a signal, to add drivers.
    pub fn signal_mut(&mut self, id: SignalId) -> &mut Signal {
        &mut self.signals[id.0 as usize]
    }

    /// Returns the cost of the expressions built so far: 32 for each expression, 1 for every two bytes of its contents,
    /// and 1 for each 64-bit word that was computed. A front end stops if the cost exceeds [`MAX_WORK`].
    pub fn work(&self) -> u64 {
        self.work + self.visited_parts
    }

    /// Appends an expression and counts its cost.
    fn push(&mut self, expr: Expr, width: u32) -> NodeId {
        self.work += match &expr {
            // Stored as a big integer.
            Expr::Const(_) => 32 + u64::from(width) / 16,
            Expr::Concat(parts) => 32 + parts.len() as u64,
            _ => 32,
        };
        Arc::make_mut(&mut self.exprs).push(expr);
        Arc::make_mut(&mut self.widths).push(width);
        NodeId(self.exprs.len() as u32 - 1)
    }

    /// Adds a signal without drivers; `at` is the byte offset of its declaration.
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

    /// Returns the value of a signal.
    pub fn read(&self, id: SignalId) -> NodeId {
        self.signal_nodes[id.0 as usize]
    }

    /// Builds a constant from the low `width` bits of `value`.
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

    /// Builds a constant from the low `width` bits of a 64-bit value.
    pub fn number(&mut self, value: u64, width: u32) -> NodeId {
        self.constant(BigUint::from(value), width)
    }

    /// Builds an undefined value, independent of all others.
    pub fn free(&mut self, width: u32) -> NodeId {
        self.push(Expr::Free, width)
    }

    /// Builds a constant in which the bits set in `undefined` are undefined.
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

    /// Returns the value and the set of undefined bits of an expression of constants and undefined values, otherwise
    /// `None`.
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

    /// Returns the input of the top module to which a signal is connected by wires only; `None` if there is none.
    pub fn input_alias(&self, mut signal: SignalId) -> Option<SignalId> {
        for _ in 0..100 {
            let s = self.signal(signal);
            if s.input {
                return Some(signal);
            }
            let [(0, node)] = s.wires[..] else { return None };
            match self.expr(node) {
                Expr::Signal(next) => signal = *next,
                _ => return None,
            }
        }
        None
    }

    /// Returns the value of a constant expression; `None` for others.
    pub fn as_const(&self, id: NodeId) -> Option<&BigUint> {
        match self.expr(id) {
            Expr::Const(v) => Some(v),
            _ => None,
        }
    }

    /// Builds the slice of bits `lo .. lo + width`.
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
                // The slice contains bits of the word and of its extension, or only copies of the sign.
                let kept = if signed { lo.min(from.saturating_sub(1)) } else { lo.min(from) };
                let low = self.slice(x, kept, from - kept);
                if self.width(low) == 0 { self.number(0, width) } else { self.resize(low, width, signed) }
            }
            Expr::Concat(parts) => {
                // Only parts that overlap the slice are sliced.
                let parts = parts.clone();
                let (mut at, mut kept) = (0, Vec::new());
                for &part in parts.iter() {
                    let end = at + self.width(part);
                    let (from, to) = (at.max(lo), end.min(lo + width));
                    self.visited_parts += 1;
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

    /// Splits a word into `count` slices of `stride` bits each, the lowest first; faster than [`Rtl::slice`] for each.
    pub fn split(&mut self, x: NodeId, stride: u32, count: u32) -> Vec<NodeId> {
        assert!(stride.checked_mul(count).is_some_and(|all| all <= self.width(x)), "pieces within their operand");
        let Expr::Concat(parts) = self.expr(x) else {
            return (0..count).map(|i| self.slice(x, i * stride, stride)).collect();
        };
        let parts = parts.clone();
        let mut pieces = Vec::with_capacity(count as usize);
        // Index of the part that contains the start of the next piece, and lowest bit of this part.
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

    /// Builds the concatenation of parts, low bits first; parts without bits are dropped.
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

    /// Builds the concatenation of `count` copies of `x`.
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

    /// Truncates or extends `x` to `width` bits; sign extension if `signed`.
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

    /// Builds the complement.
    pub fn not(&mut self, x: NodeId) -> NodeId {
        let width = self.width(x);
        match self.as_const(x).cloned() {
            Some(v) => self.constant(mask(width) ^ v, width),
            None => self.push(Expr::Not(x), width),
        }
    }

    /// Builds an arithmetic or bitwise operation.
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

    /// Builds a comparison.
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

    /// Builds a reduction to one bit.
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

    /// Builds a shift; the result has the width of `x`.
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

    /// Builds a multiplexer: `yes` if the bit `cond` is set, otherwise `no`.
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

    /// Builds the read of a table at an address; `missing` for addresses past its end.
    pub fn table(&mut self, entries: Arc<Vec<BigUint>>, addr: NodeId, missing: NodeId) -> NodeId {
        let width = self.width(missing);
        if let Some(v) = self.as_const(addr) {
            let found = usize::try_from(v).ok().and_then(|i| entries.get(i)).cloned();
            return found.map_or(missing, |e| self.constant(e, width));
        }
        self.push(Expr::Table(entries, addr, missing), width)
    }

    /// Converts a selection among constants to a table. `choices` are (condition, constant); the first choice with a
    /// true condition applies, otherwise `default`. Returns `None` if there are too few choices, or if not all
    /// conditions compare one narrow value with constants.
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
                        // A table for a wide value with few choices would be too large.
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

    /// Builds the selection of the word at an address; undefined for addresses past the last word.
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
        // Unless every address has a word, an address may be past the end.
        if reach < 64 && count >= 1 << reach {
            return word;
        }
        let limit = self.number(count, reach);
        let inside = self.compare(Compare::Less, addr, limit);
        self.mux(inside, word, free)
    }

    /// Builds the concatenation of parts, low bits first; a part that is a concatenation is replaced with its parts.
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

    /// Drives signals without drivers with undefined values. Netlists and cells may contain such signals if nothing
    /// reads them.
    pub(super) fn free_undriven(&mut self) {
        for i in 0..self.signals.len() {
            let signal = &self.signals[i];
            if !signal.input && signal.wires.is_empty() && signal.registers.is_empty() && signal.init.is_none() {
                let value = self.free(signal.width);
                self.signals[i].wires.push((0, value));
            }
        }
    }

    /// Checks that every bit of every signal that is read has exactly one driver. If only some bits of a signal have a
    /// driver, as in netlists, the other bits become undefined. `place` converts a byte offset to a position.
    ///
    /// # Errors
    /// `E0904` for the first signal with two drivers of one bit, or for the first signal that is read and has no
    /// driver.
    pub fn complete_drivers(&mut self, place: impl Fn(u32) -> Place) -> Result<(), Diagnostic> {
        let mut read = vec![false; self.signals.len()];
        for expr in self.exprs.iter() {
            // Each signal has a node; a signal counts as read only if its node is an operand.
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
        // A driver that is itself the node of a signal (an alias) has no operands.
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
            // A signal without a driver keeps its initial value.
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
