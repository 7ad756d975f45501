//! Unrolling of a design's signals over time.
//!
//! `k` counts clock edges back from the cycle in which outputs are observed: the value of a register at `k` is that of
//! its input at `k + 1`. In a feed-forward pipeline the recursion ends at the inputs, and a path with one register too
//! few or too many ends at the inputs of another cycle, so that balance and latency need no separate rule. The
//! recursion uses an explicit stack, as chains of a million adders are normal.

use super::aig::Lit;
use super::bit_vector::{Words, constant, resize};
use super::engine::Engine;
use alir_hdl::{Binary, Compare, Expr, NodeId, Reduce, Rtl, Shift, SignalId, operands};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Representation of words: gates, or forms.
pub trait Domain {
    /// Type of a word, cheap to clone.
    type Word: Clone;

    /// Returns the value of a one-bit word if it is constant.
    fn truth(&self, x: &Self::Word) -> Option<bool>;
    /// Returns a constant.
    ///
    /// # Errors
    /// [`Fault::Overflow`], here and below, if the domain cannot represent the result.
    fn constant(&mut self, value: &BigUint, width: u32) -> WordResult<Self>;
    /// Returns bits `lo .. lo + width`.
    fn slice(&mut self, x: &Self::Word, lo: u32, width: u32) -> WordResult<Self>;
    /// Concatenates words, low bits first, given with their widths.
    fn concat(&mut self, parts: &[(Self::Word, u32)]) -> WordResult<Self>;
    /// Truncates or extends a word of `from` bits to `width` bits.
    fn extend(&mut self, x: &Self::Word, from: u32, signed: bool, width: u32) -> WordResult<Self>;
    /// Repeats a word of `from` bits `count` times.
    fn repeat(&mut self, x: &Self::Word, from: u32, count: u32) -> WordResult<Self>;
    /// Returns the complement.
    fn not(&mut self, x: &Self::Word, width: u32) -> WordResult<Self>;
    /// Returns the result of an operation; operands and result have `width` bits.
    fn binary(&mut self, op: Binary, a: &Self::Word, b: &Self::Word, width: u32) -> WordResult<Self>;
    /// Returns the result of a comparison of operands of `width` bits.
    fn compare(&mut self, op: Compare, a: &Self::Word, b: &Self::Word, width: u32) -> WordResult<Self>;
    /// Returns the reduction of an operand of `width` bits.
    fn reduce(&mut self, op: Reduce, x: &Self::Word, width: u32) -> WordResult<Self>;
    /// Returns `x` of `width` bits, shifted by a word of `by_width` bits.
    fn shift(&mut self, op: Shift, x: &Self::Word, by: (&Self::Word, u32), width: u32) -> WordResult<Self>;
    /// Returns an entry of `width` bits of a table.
    fn table(
        &mut self,
        entries: &Arc<Vec<BigUint>>,
        addr: (&Self::Word, u32),
        missing: &Self::Word,
        width: u32,
    ) -> WordResult<Self>;
    /// Returns `if cond { yes } else { no }`.
    fn mux(&mut self, cond: &Self::Word, yes: &Self::Word, no: &Self::Word, width: u32) -> WordResult<Self>;
    /// Returns the word of an input port.
    fn input(&mut self, signal: SignalId, k: u32) -> WordResult<Self>;
    /// Returns an undefined word.
    fn unknown(&mut self, width: u32) -> WordResult<Self>;
    /// Returns `width` bits, from `lo` on, of a register's state before the unrolled time.
    fn before(&mut self, _signal: SignalId, _lo: u32, width: u32) -> WordResult<Self> {
        self.unknown(width)
    }
    /// Returns the word of a signal that is known without its operands; `None` for other signals.
    fn known(&mut self, _signal: SignalId, _k: u32) -> Option<WordResult<Self>> {
        None
    }
    /// Receives the word of a signal; returns the word that replaces it.
    fn signal(&mut self, signal: SignalId, k: u32, word: Self::Word) -> WordResult<Self>;
}

/// A word or a fault.
pub type WordResult<D> = Result<<D as Domain>::Word, Fault>;

/// Reason for a missing word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The signal depends on itself without a register.
    Loop(SignalId),
    /// The domain cannot represent the word.
    Overflow,
}

/// The unrolling of one design.
pub struct Unroll<'a, W> {
    rtl: &'a Rtl,
    /// Largest number of cycles back for which registers are followed.
    pub max_k: u32,
    /// `true` if registers are leaves with an undefined state, which [`Domain::signal`] may replace.
    pub registers_are_leaves: bool,
    /// For each expression: the first cycle `k` for which it was computed, and its word in that cycle.
    first: Vec<Option<(u32, W)>>,
    more: FxHashMap<(NodeId, u32), W>,
    /// Expressions with an entry in `first`.
    computed: Vec<NodeId>,
}

enum Next<W> {
    Ready(W),
    Needs(Vec<(NodeId, u32)>),
}

impl<'a, W: Clone> Unroll<'a, W> {
    /// Returns an unrolling without computed words.
    pub fn new(rtl: &'a Rtl, max_k: u32) -> Unroll<'a, W> {
        let first = vec![None; rtl.len()];
        Unroll { rtl, max_k, registers_are_leaves: false, first, more: FxHashMap::default(), computed: Vec::new() }
    }

    /// Removes all computed words, in time proportional to their number.
    pub fn clear(&mut self) {
        self.computed.drain(..).for_each(|node| self.first[node.0 as usize] = None);
        self.more.clear();
    }

    fn known(&self, node: NodeId, k: u32) -> Option<&W> {
        match &self.first[node.0 as usize] {
            Some((at, word)) if *at == k => Some(word),
            Some(_) => self.more.get(&(node, k)),
            None => None,
        }
    }

    fn store(&mut self, node: NodeId, k: u32, word: W) {
        let first = &mut self.first[node.0 as usize];
        if first.is_none() {
            *first = Some((k, word));
            self.computed.push(node);
        } else {
            self.more.insert((node, k), word);
        }
    }

    /// Returns the word of an expression in cycle `k`.
    ///
    /// # Errors
    /// [`Fault::Loop`] for a combinational loop; the errors of the domain.
    pub fn word<D: Domain<Word = W>>(&mut self, d: &mut D, root: NodeId, k: u32) -> Result<W, Fault> {
        // Entered nodes are on the path from the root; entering one again means a loop.
        let mut entered: rustc_hash::FxHashSet<(NodeId, u32)> = Default::default();
        let mut stack = vec![(root, k)];
        while let Some(&(node, k)) = stack.last() {
            if self.known(node, k).is_some() {
                entered.remove(&(node, k));
                stack.pop();
                continue;
            }
            match self.advance(d, node, k)? {
                Next::Ready(word) => {
                    self.store(node, k, word);
                    entered.remove(&(node, k));
                    stack.pop();
                }
                Next::Needs(operands) => {
                    entered.insert((node, k));
                    for operand in operands {
                        if entered.contains(&operand) {
                            return Err(Fault::Loop(self.signal_of(&stack, operand)));
                        }
                        stack.push(operand);
                    }
                }
            }
        }
        self.known(root, k).cloned().ok_or(Fault::Overflow)
    }

    /// Returns a signal on the path, for the error message about a loop.
    fn signal_of(&self, stack: &[(NodeId, u32)], at: (NodeId, u32)) -> SignalId {
        let named = std::iter::once(&at).chain(stack.iter().rev()).find_map(|(n, _)| match self.rtl.expr(*n) {
            Expr::Signal(s) => Some(*s),
            _ => None,
        });
        named.unwrap_or(SignalId(0))
    }

    /// Returns `true` if an expression is a signal that is known without its operands.
    fn is_given<D: Domain<Word = W>>(&self, d: &mut D, node: NodeId, k: u32) -> bool {
        match self.rtl.expr(node) {
            Expr::Signal(signal) => d.known(*signal, k).is_some(),
            Expr::Not(x) => matches!(self.rtl.expr(*x), Expr::Signal(signal) if d.known(*signal, k).is_some()),
            _ => false,
        }
    }

    fn advance<D: Domain<Word = W>>(&self, d: &mut D, node: NodeId, k: u32) -> Result<Next<W>, Fault> {
        let rtl = self.rtl;
        let width = rtl.width(node);
        let expr = rtl.expr(node);
        if let Expr::Signal(signal) = expr {
            return self.signal(d, *signal, k);
        }
        // A constant condition makes the other branch irrelevant, so that a register that keeps its value without an
        // enable is not a loop over time.
        if let Expr::Mux(c, yes, no) = expr {
            let Some(c) = self.known(*c, k) else { return Ok(Next::Needs(vec![(*c, k)])) };
            if let Some(value) = d.truth(c) {
                let chosen = if value { *yes } else { *no };
                return Ok(match self.known(chosen, k) {
                    Some(word) => Next::Ready(word.clone()),
                    None => Next::Needs(vec![(chosen, k)]),
                });
            }
            let (Some(yes), Some(no)) = (self.known(*yes, k), self.known(*no, k)) else {
                let open = [*yes, *no].into_iter().filter(|&n| self.known(n, k).is_none());
                return Ok(Next::Needs(open.map(|n| (n, k)).collect()));
            };
            return d.mux(c, yes, no, width).map(Next::Ready);
        }
        // A 0 in a conjunction of bits and a 1 in a disjunction also make the other operand irrelevant; in this way
        // conditions on the phase block earlier values.
        if let Expr::Binary(op @ (Binary::And | Binary::Or), a, b) = expr
            && width == 1
        {
            let decides = |d: &D, word: &W| d.truth(word) == Some(*op == Binary::Or);
            for n in [a, b] {
                if let Some(word) = self.known(*n, k)
                    && decides(d, word)
                {
                    return Ok(Next::Ready(word.clone()));
                }
            }
            // Known words are tried first.
            for n in [a, b] {
                if self.known(*n, k).is_none() && self.is_given(d, *n, k) {
                    return Ok(Next::Needs(vec![(*n, k)]));
                }
            }
            for n in [b, a] {
                if self.known(*n, k).is_none() {
                    return Ok(Next::Needs(vec![(*n, k)]));
                }
            }
        }
        let mut missing = Vec::new();
        alir_hdl::operands(expr, &mut |&n| {
            if self.known(n, k).is_none() {
                missing.push((n, k));
            }
        });
        if !missing.is_empty() {
            return Ok(Next::Needs(missing));
        }
        let of = |n: &NodeId| self.known(*n, k).ok_or(Fault::Overflow);
        let made = match expr {
            Expr::Const(v) => d.constant(v, width),
            Expr::Free => d.unknown(width),
            Expr::Signal(_) | Expr::Mux(..) => Err(Fault::Overflow),
            Expr::Slice { x, lo } => d.slice(of(x)?, *lo, width),
            Expr::Concat(parts) => self.concat(d, parts, k),
            Expr::Repeat { x } => {
                let from = rtl.width(*x);
                d.repeat(of(x)?, from, width / from.max(1))
            }
            Expr::Extend { x, signed } => d.extend(of(x)?, rtl.width(*x), *signed, width),
            Expr::Not(x) => d.not(of(x)?, width),
            Expr::Binary(op, a, b) => d.binary(*op, of(a)?, of(b)?, width),
            Expr::Compare(op, a, b) => d.compare(*op, of(a)?, of(b)?, rtl.width(*a)),
            Expr::Reduce(op, x) => d.reduce(*op, of(x)?, rtl.width(*x)),
            Expr::Shift(op, x, by) => d.shift(*op, of(x)?, (of(by)?, rtl.width(*by)), width),
            Expr::Table(entries, addr, none) => d.table(entries, (of(addr)?, rtl.width(*addr)), of(none)?, width),
        };
        made.map(Next::Ready)
    }

    /// Concatenates parts. A part with copies of its own top bit above it is a sign extension.
    fn concat<D: Domain<Word = W>>(&self, d: &mut D, parts: &[NodeId], k: u32) -> WordResult<D> {
        let rtl = self.rtl;
        // The vector from which a part is taken, and the bit after the part's highest one.
        let top = |n: NodeId| match rtl.expr(n) {
            Expr::Slice { x, lo } => (*x, lo + rtl.width(n)),
            _ => (n, rtl.width(n)),
        };
        let mut words: Vec<(W, u32)> = Vec::with_capacity(parts.len());
        let mut at = 0;
        while at < parts.len() {
            let part = parts[at];
            let width = rtl.width(part);
            let mut copies = 0;
            while let Some(&next) = parts.get(at + 1) {
                let bit = match rtl.expr(next) {
                    Expr::Repeat { x } => *x,
                    _ => next,
                };
                if rtl.width(bit) != 1 || top(bit) != top(part) {
                    break;
                }
                copies += rtl.width(next);
                at += 1;
            }
            let word = self.known(part, k).ok_or(Fault::Overflow)?;
            let word = if copies > 0 { d.extend(word, width, true, width + copies)? } else { word.clone() };
            words.push((word, width + copies));
            at += 1;
        }
        if words.len() == 1 {
            return words.pop().map(|w| w.0).ok_or(Fault::Overflow);
        }
        d.concat(&words)
    }

    fn signal<D: Domain<Word = W>>(&self, d: &mut D, id: SignalId, k: u32) -> Result<Next<W>, Fault> {
        let signal = self.rtl.signal(id);
        if signal.input {
            return d.input(id, k).map(Next::Ready);
        }
        if let Some(word) = d.known(id, k) {
            return word.map(Next::Ready);
        }
        if self.registers_are_leaves && !signal.registers.is_empty() {
            let word = d.constant(&BigUint::ZERO, signal.width)?;
            return d.signal(id, k, word).map(Next::Ready);
        }
        let mut missing = Vec::new();
        let mut pieces: Vec<(u32, W, u32)> = Vec::new();
        for &(lo, node) in &signal.wires {
            match self.known(node, k) {
                Some(known) => pieces.push((lo, known.clone(), self.rtl.width(node))),
                None => missing.push((node, k)),
            }
        }
        for register in &signal.registers {
            let width = self.rtl.width(register.next);
            // The reset of highest priority that is certainly active decides; resets that may be active become
            // multiplexers.
            let mut held: Vec<(&W, NodeId)> = Vec::new();
            let (mut open, mut certain) = (false, false);
            for &(cond, value) in &register.resets {
                let Some(c) = self.known(cond, k) else {
                    missing.push((cond, k));
                    open = true;
                    break;
                };
                if d.truth(c) == Some(false) {
                    continue;
                }
                held.push((c, value));
                certain = d.truth(c) == Some(true);
                if certain {
                    break;
                }
            }
            if open {
                continue;
            }
            let mut word: Option<W> = None;
            if !certain {
                if k >= self.max_k {
                    word = Some(d.before(id, register.lo, width)?);
                } else {
                    match self.known(register.next, k + 1) {
                        Some(next) => word = Some(next.clone()),
                        None => missing.push((register.next, k + 1)),
                    }
                }
            }
            let mut ready = word.is_some() || certain;
            for &(_, value) in &held {
                if self.known(value, k).is_none() {
                    missing.push((value, k));
                    ready = false;
                }
            }
            if !ready {
                continue;
            }
            for &(c, value) in held.iter().rev() {
                let Some(value) = self.known(value, k) else { continue };
                word = Some(match word {
                    Some(rest) => d.mux(c, value, &rest, width)?,
                    None => value.clone(),
                });
            }
            if let Some(word) = word {
                pieces.push((register.lo, word, width));
            }
        }
        if !missing.is_empty() {
            return Ok(Next::Needs(missing));
        }
        // Bits without a driver keep their initial value; the front ends reject bits that are read and have neither.
        pieces.sort_by_key(|p| p.0);
        let init = signal.init.and_then(|n| self.rtl.as_const(n));
        let mut words: Vec<(W, u32)> = Vec::with_capacity(pieces.len());
        let mut at = 0;
        for (lo, word, width) in pieces.into_iter().map(Some).chain([None]).map(|p| match p {
            Some((lo, word, width)) => (lo, Some(word), width),
            None => (signal.width, None, 0),
        }) {
            if lo > at {
                let gap = lo - at;
                words.push((
                    match init {
                        Some(v) => d.constant(&((v >> at) & ((BigUint::from(1u32) << gap) - 1u32)), gap)?,
                        None => d.unknown(gap)?,
                    },
                    gap,
                ));
            }
            if let Some(word) = word {
                words.push((word, width));
                at = lo + width;
            }
        }
        let word = match &words[..] {
            [one] => one.0.clone(),
            _ => d.concat(&words)?,
        };
        d.signal(id, k, word).map(Next::Ready)
    }
}

/// Callbacks that define the leaves of an unrolling to gates.
pub trait Leaves {
    /// Returns the bits of an input port.
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit>;
    /// Returns undefined bits.
    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        e.words.free("undefined", width)
    }
    /// Returns `width` bits, from `lo` on, of a register's state before the unrolled time.
    fn before(&mut self, e: &mut Engine, _signal: SignalId, _lo: u32, width: u32) -> Vec<Lit> {
        self.unknown(e, width)
    }
    /// Returns the bits of a signal that is known without its operands; `None` for other signals.
    fn known(&mut self, _e: &mut Engine, _signal: SignalId, _k: u32) -> Option<Vec<Lit>> {
        None
    }
    /// Receives the bits of a signal; returns the bits that replace them.
    fn signal(&mut self, _e: &mut Engine, _signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        bits
    }
}

/// Words of gates.
pub struct Gates<'a, L> {
    /// The graph.
    pub e: &'a mut Engine,
    /// Callbacks for inputs and named signals.
    pub leaves: &'a mut L,
}

impl<L: Leaves> Domain for Gates<'_, L> {
    type Word = Arc<[Lit]>;

    fn truth(&self, x: &Arc<[Lit]>) -> Option<bool> {
        x.first().and_then(|l| l.as_const())
    }

    fn constant(&mut self, value: &BigUint, width: u32) -> WordResult<Self> {
        Ok(constant(value, width).into())
    }

    fn slice(&mut self, x: &Arc<[Lit]>, lo: u32, width: u32) -> WordResult<Self> {
        Ok(x[lo as usize..(lo + width) as usize].into())
    }

    fn concat(&mut self, parts: &[(Arc<[Lit]>, u32)]) -> WordResult<Self> {
        Ok(parts.iter().flat_map(|p| p.0.iter().copied()).collect())
    }

    fn extend(&mut self, x: &Arc<[Lit]>, _from: u32, signed: bool, width: u32) -> WordResult<Self> {
        Ok(resize(x, signed, width as usize).into())
    }

    fn repeat(&mut self, x: &Arc<[Lit]>, _from: u32, count: u32) -> WordResult<Self> {
        Ok(x.iter().copied().cycle().take(x.len() * count as usize).collect())
    }

    fn not(&mut self, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(x.iter().map(|&l| !l).collect())
    }

    fn binary(&mut self, op: Binary, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(binary(&mut self.e.words, op, a, b).into())
    }

    fn compare(&mut self, op: Compare, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let w = &mut self.e.words;
        let bit = match op {
            Compare::Equal => w.equal(a, b),
            Compare::Less => w.less(a, b, false),
            Compare::SignedLess => w.less(a, b, true),
        };
        Ok([bit].into())
    }

    fn reduce(&mut self, op: Reduce, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let w = &mut self.e.words;
        let bit = match op {
            Reduce::All => w.all(x),
            Reduce::Any => w.any(x),
            Reduce::Parity => w.parity(x),
        };
        Ok([bit].into())
    }

    fn shift(&mut self, op: Shift, x: &Arc<[Lit]>, by: (&Arc<[Lit]>, u32), _width: u32) -> WordResult<Self> {
        let fill = if op == Shift::SignedRight { x.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
        Ok(self.e.words.shift(x, by.0, op == Shift::Left, fill).into())
    }

    fn table(
        &mut self,
        entries: &Arc<Vec<BigUint>>,
        addr: (&Arc<[Lit]>, u32),
        missing: &Arc<[Lit]>,
        _width: u32,
    ) -> WordResult<Self> {
        Ok(table(&mut self.e.words, entries, addr.0, missing).into())
    }

    fn mux(&mut self, cond: &Arc<[Lit]>, yes: &Arc<[Lit]>, no: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(self.e.words.mux(cond[0], yes, no).into())
    }

    fn input(&mut self, signal: SignalId, k: u32) -> WordResult<Self> {
        Ok(self.leaves.input(self.e, signal, k).into())
    }

    fn unknown(&mut self, width: u32) -> WordResult<Self> {
        Ok(self.leaves.unknown(self.e, width).into())
    }

    fn before(&mut self, signal: SignalId, lo: u32, width: u32) -> WordResult<Self> {
        Ok(self.leaves.before(self.e, signal, lo, width).into())
    }

    fn known(&mut self, signal: SignalId, k: u32) -> Option<WordResult<Self>> {
        self.leaves.known(self.e, signal, k).map(|bits| Ok(bits.into()))
    }

    fn signal(&mut self, signal: SignalId, k: u32, word: Arc<[Lit]>) -> WordResult<Self> {
        Ok(self.leaves.signal(self.e, signal, k, word.to_vec()).into())
    }
}

fn binary(w: &mut Words, op: Binary, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    match op {
        Binary::And => a.iter().zip(b).map(|(&x, &y)| w.aig.and(x, y)).collect(),
        Binary::Or => a.iter().zip(b).map(|(&x, &y)| w.aig.or(x, y)).collect(),
        Binary::Xor => a.iter().zip(b).map(|(&x, &y)| w.aig.xor(x, y)).collect(),
        Binary::Add => w.add(a, b, Lit::FALSE, false),
        Binary::Sub => w.sub(a, b, false),
        Binary::Mul => w.mul((a, true), (b, true), a.len()),
        Binary::Div => w.divide(a, b).0,
        Binary::Rem => w.divide(a, b).1,
    }
}

/// Returns an entry of a table. Constant address bits need no multiplexers; high address bits beyond the table select
/// `missing`.
fn table(w: &mut Words, entries: &Arc<Vec<BigUint>>, addr: &[Lit], missing: &[Lit]) -> Vec<Lit> {
    let needed = (usize::BITS - entries.len().saturating_sub(1).leading_zeros()) as usize;
    let low = resize(addr, false, needed.min(addr.len()));
    let word = w.table(&low, missing.len(), |i, bit| entries.get(i).is_some_and(|e| e.bit(bit as u64)));
    let beyond_high = w.any(&addr[low.len()..]);
    let full = entries.len() >= 1 << low.len();
    let beyond_low = if full {
        Lit::FALSE
    } else {
        let limit: Vec<Lit> = (0..low.len()).map(|i| Lit::constant(entries.len() >> i & 1 == 1)).collect();
        !w.less(&low, &limit, false)
    };
    let beyond = w.aig.or(beyond_high, beyond_low);
    w.mux(beyond, missing, &word)
}

/// Returns the signals that an output depends on, also through registers, in ascending order.
pub(super) fn live_signals(rtl: &Rtl) -> Vec<SignalId> {
    (0..).map(SignalId).zip(bits_read(rtl)).filter_map(|(id, bits)| bits.is_some().then_some(id)).collect()
}

/// Returns the bits of each signal that an output depends on, also through registers; `None` for a signal that no
/// output depends on.
pub(super) fn bits_read(rtl: &Rtl) -> Vec<Option<Vec<bool>>> {
    let mut bits: Vec<Option<Vec<bool>>> = vec![None; rtl.signals().len()];
    let mut seen = vec![false; rtl.len()];
    let mut stack: Vec<NodeId> = rtl.outputs.iter().map(|&s| rtl.read(s)).collect();
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[node.0 as usize], true) {
            continue;
        }
        let (whole, lo) = match rtl.expr(node) {
            Expr::Slice { x, lo } => (*x, *lo),
            _ => (node, 0),
        };
        let Expr::Signal(s) = rtl.expr(whole) else {
            operands(rtl.expr(node), &mut |&n| stack.push(n));
            continue;
        };
        let signal = rtl.signal(*s);
        let known = &mut bits[s.0 as usize];
        if known.is_none() {
            stack.extend(signal.wires.iter().map(|w| w.1));
            for register in &signal.registers {
                stack.push(register.next);
                stack.extend(register.resets.iter().flat_map(|&(cond, value)| [cond, value]));
            }
        }
        let all = known.get_or_insert_with(|| vec![false; signal.width as usize]);
        all[lo as usize..][..rtl.width(node) as usize].fill(true);
    }
    bits
}

/// Returns the clock of all registers that the outputs depend on: its input port and its edge. Returns `None` without
/// registers, and an error message if clocks differ or a clock is computed.
pub fn clock_of(rtl: &Rtl) -> Result<Option<(SignalId, bool)>, String> {
    let mut found: Option<(SignalId, bool)> = None;
    let mut first = "";
    for signal in live_signals(rtl).into_iter().map(|id| rtl.signal(id)) {
        for register in &signal.registers {
            let Some(root) = rtl.input_alias(register.clock) else {
                return Err(format!("the clock of {} is not an input of the top module", signal.name));
            };
            match found {
                None => (found, first) = (Some((root, register.rising)), &signal.name),
                Some(same) if same == (root, register.rising) => {}
                Some((clock, rising)) => {
                    let edge = |clock: SignalId, rising: bool| {
                        format!("the {} edge of {}", if rising { "rising" } else { "falling" }, rtl.signal(clock).name)
                    };
                    return Err(format!(
                        "registers have different clocks: {first} has {}, {} has {}",
                        edge(clock, rising),
                        signal.name,
                        edge(root, register.rising)
                    ));
                }
            }
        }
    }
    Ok(found)
}

/// Returns the largest number of registers on the paths from inputs to outputs, by a search that visits each expression
/// once. In a balanced design all paths have this number.
pub fn depth(rtl: &Rtl, ignore: &[SignalId]) -> u32 {
    let mut seen = vec![false; rtl.len()];
    let mut deepest = 0;
    let mut stack: Vec<(NodeId, u32)> = rtl.outputs.iter().map(|&s| (rtl.read(s), 0)).collect();
    while let Some((node, k)) = stack.pop() {
        if std::mem::replace(&mut seen[node.0 as usize], true) {
            continue;
        }
        if let Expr::Signal(id) = rtl.expr(node) {
            let signal = rtl.signal(*id);
            if signal.input && !ignore.contains(id) {
                deepest = deepest.max(k);
            }
            stack.extend(signal.wires.iter().map(|&(_, n)| (n, k)));
            stack.extend(signal.registers.iter().map(|r| (r.next, k + 1)));
        } else {
            alir_hdl::operands(rtl.expr(node), &mut |&n| stack.push((n, k)));
        }
    }
    deepest
}
