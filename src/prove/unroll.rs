//! A design's signals as gates, over time.
//!
//! `k` counts clock edges back from the moment at which outputs are seen: a register's value at `k` is what its input
//! was at `k + 1`. In a feed-forward pipeline that ends at the inputs, and a path with one register too few or too many
//! ends at the inputs of another moment, so that balance and latency need no rule of their own. Work is on an explicit
//! stack: chains of a million adders are normal.

use super::aig::Lit;
use super::engine::Engine;
use super::rtl::{Binary, Compare, Expr, NodeId, Reduce, Rtl, Shift, SignalId};
use super::word::{Words, resize};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What the user of an unrolling decides.
pub trait Leaves {
    /// Bits of an input port.
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit>;
    /// Bits of an undefined value, or of a register's state before the time that is looked at.
    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit>;
    /// A signal's bits are known: what shall be used for them from now on.
    fn signal(&mut self, e: &mut Engine, signal: SignalId, k: u32, bits: Vec<Lit>) -> Vec<Lit>;
}

/// Why there are no gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The signal depends on itself without a register.
    Loop(SignalId),
}

/// The unrolling of one design.
pub struct Unroll<'a> {
    rtl: &'a Rtl,
    /// Registers are followed this far back.
    pub max_k: u32,
    /// For each expression: the moment it was first computed for, and where its bits start.
    first: Vec<(u32, u32)>,
    /// Registers show an undefined state instead of being followed; [`Leaves::signal`] says which.
    pub registers_are_leaves: bool,
    more: FxHashMap<(NodeId, u32), u32>,
    pool: Vec<Lit>,
}

const NEVER: u32 = u32::MAX;

enum Next {
    Ready(Vec<Lit>),
    Needs(Vec<(NodeId, u32)>),
}

impl<'a> Unroll<'a> {
    /// Nothing computed yet.
    pub fn new(rtl: &'a Rtl, max_k: u32) -> Unroll<'a> {
        Unroll {
            rtl,
            max_k,
            registers_are_leaves: false,
            first: vec![(NEVER, 0); rtl.len()],
            more: FxHashMap::default(),
            pool: Vec::new(),
        }
    }

    fn known(&self, node: NodeId, k: u32) -> Option<&[Lit]> {
        let (first_k, start) = self.first[node.0 as usize];
        let start = if first_k == k { start } else { *self.more.get(&(node, k))? };
        Some(&self.pool[start as usize..start as usize + self.rtl.width(node) as usize])
    }

    fn store(&mut self, node: NodeId, k: u32, bits: &[Lit]) {
        assert_eq!(bits.len(), self.rtl.width(node) as usize, "bits of {:?}", self.rtl.expr(node));
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(bits);
        let first = &mut self.first[node.0 as usize];
        if first.0 == NEVER {
            *first = (k, start);
        } else {
            self.more.insert((node, k), start);
        }
    }

    /// The bits of an expression at moment `k`.
    ///
    /// # Errors
    /// [`Fault::Loop`] for a combinational loop.
    pub fn bits(&mut self, e: &mut Engine, leaves: &mut dyn Leaves, root: NodeId, k: u32) -> Result<Vec<Lit>, Fault> {
        // Entered nodes are on the path from the root; meeting one again is a loop.
        let mut entered: rustc_hash::FxHashSet<(NodeId, u32)> = Default::default();
        let mut stack = vec![(root, k)];
        while let Some(&(node, k)) = stack.last() {
            if self.known(node, k).is_some() {
                entered.remove(&(node, k));
                stack.pop();
                continue;
            }
            match self.advance(e, leaves, node, k) {
                Next::Ready(bits) => {
                    self.store(node, k, &bits);
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
        Ok(self.known(root, k).map(<[Lit]>::to_vec).unwrap_or_default())
    }

    /// A signal on the path to name a loop by.
    fn signal_of(&self, stack: &[(NodeId, u32)], at: (NodeId, u32)) -> SignalId {
        let named = std::iter::once(&at).chain(stack.iter().rev()).find_map(|(n, _)| match self.rtl.expr(*n) {
            Expr::Signal(s) => Some(*s),
            _ => None,
        });
        named.unwrap_or(SignalId(0))
    }

    fn advance(&mut self, e: &mut Engine, leaves: &mut dyn Leaves, node: NodeId, k: u32) -> Next {
        let rtl = self.rtl;
        let width = rtl.width(node) as usize;
        let expr = rtl.expr(node);
        if let Expr::Signal(signal) = expr {
            return self.signal(e, leaves, *signal, k);
        }
        // A condition that is constant here makes the other branch irrelevant, which is how a register that holds
        // without enable stops being a loop over time.
        if let Expr::Mux(c, yes, no) = expr {
            let Some(c) = self.known(*c, k) else { return Next::Needs(vec![(*c, k)]) };
            let c = c[0];
            if let Some(value) = c.as_const() {
                let chosen = if value { *yes } else { *no };
                return match self.known(chosen, k) {
                    Some(bits) => Next::Ready(bits.to_vec()),
                    None => Next::Needs(vec![(chosen, k)]),
                };
            }
            let missing: Vec<_> =
                [*yes, *no].into_iter().filter(|&n| self.known(n, k).is_none()).map(|n| (n, k)).collect();
            if !missing.is_empty() {
                return Next::Needs(missing);
            }
            let (yes, no) = (self.known(*yes, k).unwrap_or(&[]), self.known(*no, k).unwrap_or(&[]));
            return Next::Ready(e.words.mux(c, yes, no));
        }
        let mut missing = Vec::new();
        super::rtl::operands(expr, &mut |&n| {
            if self.known(n, k).is_none() {
                missing.push((n, k));
            }
        });
        if !missing.is_empty() {
            return Next::Needs(missing);
        }
        let of = |n: &NodeId| self.known(*n, k).unwrap_or(&[]);
        if matches!(expr, Expr::Free) {
            return Next::Ready(leaves.unknown(e, width as u32));
        }
        let w = &mut e.words;
        Next::Ready(match expr {
            Expr::Const(v) => (0..width).map(|i| Lit::constant(v.bit(i as u64))).collect(),
            Expr::Signal(_) | Expr::Mux(..) | Expr::Free => Vec::new(),
            Expr::Slice { x, lo } => of(x)[*lo as usize..*lo as usize + width].to_vec(),
            Expr::Concat(parts) => parts.iter().flat_map(|p| of(p).iter().copied()).collect(),
            Expr::Repeat { x } => of(x).iter().copied().cycle().take(width).collect(),
            Expr::Extend { x, signed } => resize(of(x), *signed, width),
            Expr::Not(x) => of(x).iter().map(|&l| !l).collect(),
            Expr::Binary(op, a, b) => binary(w, *op, of(a), of(b)),
            Expr::Compare(op, a, b) => vec![match op {
                Compare::Equal => w.equal(of(a), of(b)),
                Compare::Less => w.less(of(a), of(b), false),
                Compare::SignedLess => w.less(of(a), of(b), true),
            }],
            Expr::Reduce(op, x) => vec![match op {
                Reduce::All => w.all(of(x)),
                Reduce::Any => w.any(of(x)),
                Reduce::Parity => w.parity(of(x)),
            }],
            Expr::Shift(op, x, by) => {
                let x = of(x);
                let fill = if *op == Shift::SignedRight { x[width - 1] } else { Lit::FALSE };
                w.shift(x, of(by), *op == Shift::Left, fill)
            }
            Expr::Table(entries, addr, missing) => table(w, entries, of(addr), of(missing)),
        })
    }

    fn signal(&mut self, e: &mut Engine, leaves: &mut dyn Leaves, id: SignalId, k: u32) -> Next {
        let signal = self.rtl.signal(id);
        if signal.input {
            let bits = leaves.input(e, id, k);
            return Next::Ready(bits);
        }
        if self.registers_are_leaves && !signal.registers.is_empty() {
            let bits = vec![Lit::FALSE; signal.width as usize];
            return Next::Ready(leaves.signal(e, id, k, bits));
        }
        let mut missing = Vec::new();
        let mut bits: Vec<Option<Lit>> = vec![None; signal.width as usize];
        for &(lo, node) in &signal.wires {
            match self.known(node, k) {
                Some(known) => known.iter().enumerate().for_each(|(i, &l)| bits[lo as usize + i] = Some(l)),
                None => missing.push((node, k)),
            }
        }
        for register in &signal.registers {
            let width = self.rtl.width(register.next);
            // The strongest reset that is known to hold, or none of them, decides; mixtures become muxes.
            let mut held: Vec<(Lit, NodeId)> = Vec::new();
            let (mut open, mut certain) = (false, false);
            for &(cond, value) in &register.resets {
                match self.known(cond, k).map(|c| c[0]) {
                    None => {
                        missing.push((cond, k));
                        open = true;
                        break;
                    }
                    Some(Lit::FALSE) => {}
                    Some(c) => {
                        held.push((c, value));
                        certain = c == Lit::TRUE;
                        if certain {
                            break;
                        }
                    }
                }
            }
            if open {
                continue;
            }
            let mut word: Option<Vec<Lit>> = None;
            if !certain {
                if k >= self.max_k {
                    word = Some(leaves.unknown(e, width));
                } else {
                    match self.known(register.next, k + 1) {
                        Some(next) => word = Some(next.to_vec()),
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
                let value = self.known(value, k).unwrap_or(&[]).to_vec();
                word = Some(match word {
                    Some(rest) => e.words.mux(c, &value, &rest),
                    None => value,
                });
            }
            for (i, l) in word.unwrap_or_default().into_iter().enumerate() {
                bits[register.lo as usize + i] = Some(l);
            }
        }
        if !missing.is_empty() {
            return Next::Needs(missing);
        }
        // Bits without driver keep their initial value; the readers refuse those that have none and are read.
        let init = signal.init.and_then(|n| self.rtl.as_const(n));
        let bits: Vec<Lit> = bits
            .into_iter()
            .enumerate()
            .map(|(i, l)| match (l, init) {
                (Some(l), _) => l,
                (None, Some(v)) => Lit::constant(v.bit(i as u64)),
                (None, None) => leaves.unknown(e, 1)[0],
            })
            .collect();
        Next::Ready(leaves.signal(e, id, k, bits))
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

/// Address bits that are constants fall away in the muxes; high bits beyond the table ask for `missing`.
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

/// The clock of all registers that the outputs depend on: the input port behind it and its edge; none without
/// registers, an error text where they differ or a clock is computed.
pub fn clock_of(rtl: &Rtl) -> Result<Option<(SignalId, bool)>, String> {
    let mut found: Option<(SignalId, bool)> = None;
    for signal in rtl.signals() {
        for register in &signal.registers {
            let Some(root) = alias(rtl, register.clock) else {
                return Err(format!("the clock of {} is not an input of the top module", signal.name));
            };
            match found {
                None => found = Some((root, register.rising)),
                Some(same) if same == (root, register.rising) => {}
                Some(_) => return Err(format!("{} has another clock or edge than other registers", signal.name)),
            }
        }
    }
    Ok(found)
}

/// The top module's input that a signal is another name for.
pub fn alias(rtl: &Rtl, mut signal: SignalId) -> Option<SignalId> {
    for _ in 0..100 {
        let s = rtl.signal(signal);
        if s.input {
            return Some(signal);
        }
        let [(0, node)] = s.wires[..] else { return None };
        match rtl.expr(node) {
            Expr::Signal(next) => signal = *next,
            _ => return None,
        }
    }
    None
}

/// Registers on a path from an input to the outputs: the largest number over the paths that a search meets, each
/// expression looked at once. In a balanced design all paths agree.
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
            super::rtl::operands(rtl.expr(node), &mut |&n| stack.push((n, k)));
        }
    }
    deepest
}
