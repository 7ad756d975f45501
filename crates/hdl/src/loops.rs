//! Removal of false combinational loops: words that depend on themselves, although none of their bits do.
//!
//! A chain through the bits of one vector (`c[i + 1] = c[i] & x[i]`) is no loop, although the vector depends on itself
//! as a word. [`untangle`] finds such words as strongly connected components, in which registers are not followed. It
//! splits the words into pieces at the bounds of driven and read parts, and rewrites them so that no word depends on
//! itself. A loop through single bits is an error. Dependencies are followed bit by bit through slices, concatenations,
//! bitwise operations and multiplexers. Arithmetic, comparisons and shifts depend on all bits of their operands, as in
//! both languages one undefined bit makes the whole result undefined.

use super::design::{Binary, Expr, NodeId, Rtl, SignalId, operands};
use alir_core::diag::{Diagnostic, Place};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Maximum number of parts that are followed, and of bits into which words are split if pieces are too coarse.
const MAX_PARTS: usize = 1 << 20;
const MAX_BITS: u64 = 1 << 20;

/// Bits of an expression: the expression, the lowest bit, and the number of bits.
type Part = (NodeId, u32, u32);

/// Rewrites words that depend on themselves as words, but not bit by bit.
///
/// # Errors
/// `E0904` with the name of a signal that depends on itself without a register; `E0903` if following the bits takes too
/// long. `place` converts a byte offset to a position.
pub(super) fn untangle(rtl: &mut Rtl, place: impl Fn(u32) -> Place) -> Result<(), Diagnostic> {
    let tangled = components(rtl);
    let signals: Vec<SignalId> =
        (0..rtl.signals().len() as u32).map(SignalId).filter(|&s| tangled[rtl.read(s).0 as usize]).collect();
    let Some(&first) = signals.first() else { return Ok(()) };
    let mut tangle = Tangle::new(rtl, tangled, &signals);
    let fault = |rtl: &Rtl, s: SignalId, fault: Fault| {
        let signal = rtl.signal(s);
        match fault {
            Fault::Loop(through) => {
                let mut names: Vec<&str> = Vec::new();
                for &other in through.iter().filter(|&&o| o != s) {
                    let name = rtl.signal(other).name.as_str();
                    if !names.contains(&name) && names.len() < 4 {
                        names.push(name);
                    }
                }
                let by = if names.is_empty() { String::new() } else { format!(" (through {})", names.join(", ")) };
                Diagnostic::error(
                    "E0904",
                    place(signal.at),
                    format!("{} depends on itself without a register{by}", signal.name),
                )
                .with_help(
                    "a combinational loop has no value that could be proved: break it, or put a register into it",
                )
            }
            Fault::Large => Diagnostic::error(
                "E0903",
                place(signal.at),
                format!("{} depends on itself as a word, and following its bits takes too long", signal.name),
            )
            .with_help("drive the bits or words of the chain as signals of their own"),
        }
    };
    tangle.cut(&signals).map_err(|f| fault(tangle.rtl, first, f))?;
    let order = match tangle.order(&signals) {
        Err((_, Fault::Loop(_))) => {
            // Pieces may be too coarse, so repeat the check with single bits.
            tangle.cut_to_bits(&signals).map_err(|f| fault(tangle.rtl, first, f))?;
            tangle.order(&signals)
        }
        other => other,
    };
    let order = order.map_err(|(s, f)| fault(tangle.rtl, s, f))?;
    tangle.rewrite(&signals, &order);
    Ok(())
}

/// Visits the expressions on which an expression depends combinationally.
fn needs(rtl: &Rtl, node: NodeId, visit: &mut dyn FnMut(NodeId)) {
    match rtl.expr(node) {
        Expr::Signal(s) => {
            let signal = rtl.signal(*s);
            if !signal.input {
                signal.wires.iter().for_each(|w| visit(w.1));
                // Reset values are constants or bits of the register itself, so only the conditions are visited.
                signal.registers.iter().flat_map(|r| &r.resets).for_each(|r| visit(r.0));
            }
        }
        expr => operands(expr, &mut |&n| visit(n)),
    }
}

/// Returns for each expression `true` if it is on a cycle (R. Tarjan, "Depth-first search and linear graph algorithms",
/// 1972, without recursion).
fn components(rtl: &Rtl) -> Vec<bool> {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; rtl.len()];
    let mut low = vec![0u32; rtl.len()];
    let mut open = vec![false; rtl.len()];
    let mut tangled = vec![false; rtl.len()];
    let mut members: Vec<u32> = Vec::new();
    let mut next = 0u32;
    // Stack frames: an expression, and the start of its unvisited operands in `todo`.
    let mut frames: Vec<(u32, usize)> = Vec::new();
    let mut todo: Vec<u32> = Vec::new();
    for root in 0..rtl.len() as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                (index[node as usize], low[node as usize]) = (next, next);
                next += 1;
                open[node as usize] = true;
                members.push(node);
                frames.push((node, todo.len()));
                needs(rtl, NodeId(node), &mut |n| {
                    todo.push(n.0);
                    tangled[node as usize] |= n.0 == node;
                });
            }
            let Some(&(node, base)) = frames.last() else { break };
            if todo.len() > base {
                let Some(child) = todo.pop() else { break };
                if index[child as usize] == NEW {
                    enter = Some(child);
                } else if open[child as usize] {
                    low[node as usize] = low[node as usize].min(index[child as usize]);
                }
                continue;
            }
            frames.pop();
            if let Some(&(above, _)) = frames.last() {
                low[above as usize] = low[above as usize].min(low[node as usize]);
            }
            if low[node as usize] == index[node as usize] {
                let alone = members.last() == Some(&node);
                while let Some(member) = members.pop() {
                    open[member as usize] = false;
                    tangled[member as usize] |= !alone;
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
    tangled
}

enum Fault {
    /// Signals on the loop.
    Loop(Vec<SignalId>),
    Large,
}

struct Tangle<'a> {
    rtl: &'a mut Rtl,
    /// Expressions on a cycle.
    tangled: Vec<bool>,
    /// Bit positions at which signals on cycles are split into pieces, including both ends.
    cuts: FxHashMap<SignalId, BTreeSet<u32>>,
    /// Drivers of the signals with lowest bit and end, sorted by lowest bit.
    drivers: FxHashMap<SignalId, Vec<(u32, u32, Driver)>>,
    /// End bits of the parts of concatenations on cycles.
    ends: FxHashMap<NodeId, Vec<u32>>,
}

/// Driver of a piece of a signal.
#[derive(Clone, Copy)]
enum Driver {
    /// Bits of an expression from this bit on.
    Wire(NodeId, u32),
    /// Index of the register.
    Register(usize),
    Nothing,
}

impl<'a> Tangle<'a> {
    fn new(rtl: &'a mut Rtl, tangled: Vec<bool>, signals: &[SignalId]) -> Tangle<'a> {
        let mut ends = FxHashMap::default();
        for node in (0..rtl.len() as u32).map(NodeId).filter(|n| tangled[n.0 as usize]) {
            if let Expr::Concat(parts) = rtl.expr(node) {
                let mut end = 0;
                let sum = |p: &NodeId| {
                    end += rtl.width(*p);
                    end
                };
                ends.insert(node, parts.iter().map(sum).collect());
            }
        }
        let drivers = signals.iter().map(|&s| {
            let signal = rtl.signal(s);
            let wires = signal.wires.iter().map(|&(lo, n)| (lo, lo + rtl.width(n), Driver::Wire(n, 0)));
            let registers = signal.registers.iter().enumerate();
            let registers = registers.map(|(i, r)| (r.lo, r.lo + rtl.width(r.next), Driver::Register(i)));
            let mut all: Vec<(u32, u32, Driver)> = wires.chain(registers).collect();
            all.sort_by_key(|d| d.0);
            (s, all)
        });
        let drivers = drivers.collect();
        Tangle { rtl, tangled, cuts: FxHashMap::default(), drivers, ends }
    }

    fn is_tangled(&self, node: NodeId) -> bool {
        self.tangled.get(node.0 as usize).is_some_and(|&t| t)
    }

    /// Returns the driver of a bit of a signal.
    fn driver(&self, s: SignalId, at: u32) -> Driver {
        let Some(all) = self.drivers.get(&s) else { return Driver::Nothing };
        match all[..all.partition_point(|d| d.0 <= at)].last() {
            Some(&(from, end, Driver::Wire(node, _))) if at < end => Driver::Wire(node, at - from),
            Some(&(_, end, driver)) if at < end => driver,
            _ => Driver::Nothing,
        }
    }

    /// Returns the pieces of a signal that overlap a range, as lowest bit and width.
    fn pieces(&self, s: SignalId, lo: u32, width: u32) -> Vec<(u32, u32)> {
        let Some(cuts) = self.cuts.get(&s) else { return Vec::new() };
        let mut at = cuts.range(..=lo).next_back().copied().unwrap_or(0);
        let mut out = Vec::new();
        for &end in cuts.range(lo + 1..) {
            out.push((at, end - at));
            at = end;
            if end >= lo + width {
                break;
            }
        }
        out
    }

    /// Collects the parts on which a part of an expression depends.
    fn below(&self, (node, lo, width): Part, out: &mut Vec<Part>) {
        let rtl = &*self.rtl;
        let whole = |n: &NodeId| (*n, 0, rtl.width(*n));
        let zeros_or_ones = |n: &NodeId| {
            let value = rtl.as_const(*n)?;
            if width == 1 {
                return Some(value.bit(lo.into()));
            }
            let bits = (value >> lo) & ((BigUint::from(1u32) << width) - 1u32);
            let ones = bits.count_ones();
            if ones == 0 || ones == u64::from(width) { Some(ones > 0) } else { None }
        };
        match rtl.expr(node) {
            Expr::Const(_) | Expr::Free => {}
            Expr::Signal(s) => {
                let pieces = self.pieces(*s, lo, width);
                if pieces[..] != [(lo, width)] {
                    out.extend(pieces.into_iter().map(|(lo, width)| (node, lo, width)));
                    return;
                }
                match self.driver(*s, lo) {
                    Driver::Wire(value, from) => out.push((value, from, width)),
                    Driver::Register(i) => out.extend(rtl.signal(*s).registers[i].resets.iter().map(|r| whole(&r.0))),
                    Driver::Nothing => {}
                }
            }
            Expr::Slice { x, lo: from } => out.push((*x, from + lo, width)),
            Expr::Concat(parts) => {
                let Some(ends) = self.ends.get(&node) else { return };
                let first = ends.partition_point(|&end| end <= lo);
                for (&part, &end) in parts.iter().zip(ends).skip(first) {
                    let at = end - rtl.width(part);
                    if at >= lo + width {
                        break;
                    }
                    let (from, to) = (at.max(lo), end.min(lo + width));
                    out.push((part, from - at, to - from));
                }
            }
            Expr::Repeat { x } => {
                let own = rtl.width(*x);
                let one = lo % own + width <= own;
                out.push(if one { (*x, lo % own, width) } else { whole(x) });
            }
            Expr::Extend { x, signed } => {
                let own = rtl.width(*x);
                if lo < own {
                    out.push((*x, lo, width.min(own - lo)));
                }
                if *signed && lo + width > own {
                    out.push((*x, own - 1, 1));
                }
            }
            Expr::Not(x) => out.push((*x, lo, width)),
            Expr::Binary(op @ (Binary::And | Binary::Or | Binary::Xor), a, b) => {
                // A constant mask removes the dependency on the bits that it hides.
                let hides = |n: &NodeId| match op {
                    Binary::And => zeros_or_ones(n) == Some(false),
                    Binary::Or => zeros_or_ones(n) == Some(true),
                    _ => false,
                };
                if !hides(a) && !hides(b) {
                    out.extend([(*a, lo, width), (*b, lo, width)]);
                }
            }
            Expr::Mux(c, yes, no) => out.extend([(*c, 0, 1), (*yes, lo, width), (*no, lo, width)]),
            expr => match (lo, width) == (0, rtl.width(node)) {
                true => operands(expr, &mut |n| out.push(whole(n))),
                false => out.push(whole(&node)),
            },
        }
    }

    /// Splits signals at the bounds of the parts that are driven or read, also of the parts that these depend on.
    fn cut(&mut self, signals: &[SignalId]) -> Result<(), Fault> {
        let mut todo: Vec<Part> = Vec::new();
        for &s in signals {
            let signal = self.rtl.signal(s);
            let wires = signal.wires.iter().flat_map(|&(lo, n)| [lo, lo + self.rtl.width(n)]);
            let registers = signal.registers.iter().flat_map(|r| [r.lo, r.lo + self.rtl.width(r.next)]);
            let cuts: BTreeSet<u32> = wires.chain(registers).chain([0, signal.width]).collect();
            self.cuts.insert(s, cuts);
        }
        for &s in signals {
            let node = self.rtl.read(s);
            let pieces = self.pieces(s, 0, self.rtl.signal(s).width);
            todo.extend(pieces.into_iter().map(|(lo, width)| (node, lo, width)));
        }
        let mut seen: FxHashSet<Part> = FxHashSet::default();
        let mut below = Vec::new();
        while let Some(part) = todo.pop() {
            let (node, lo, width) = part;
            if !self.is_tangled(node) || !seen.insert(part) {
                continue;
            }
            if seen.len() > MAX_PARTS {
                return Err(Fault::Large);
            }
            if let Expr::Signal(s) = *self.rtl.expr(node) {
                for at in [lo, lo + width] {
                    // Registers are not split.
                    let inside = !matches!(self.driver(s, at), Driver::Register(_));
                    if inside && self.cuts.get_mut(&s).is_some_and(|c| c.insert(at)) {
                        let around = self.pieces(s, at - 1, 2);
                        todo.extend(around.into_iter().map(|(lo, width)| (node, lo, width)));
                    }
                }
            }
            below.clear();
            self.below(part, &mut below);
            todo.append(&mut below);
        }
        Ok(())
    }

    /// Splits signals into bits, except for registers.
    fn cut_to_bits(&mut self, signals: &[SignalId]) -> Result<(), Fault> {
        let total: u64 = signals.iter().map(|&s| u64::from(self.rtl.signal(s).width)).sum();
        if total > MAX_BITS {
            return Err(Fault::Large);
        }
        for &s in signals {
            let wires = &self.rtl.signal(s).wires;
            let bits: Vec<u32> = wires.iter().flat_map(|&(lo, n)| lo..lo + self.rtl.width(n)).collect();
            if let Some(cuts) = self.cuts.get_mut(&s) {
                cuts.extend(bits);
            }
        }
        Ok(())
    }

    /// Returns all parts on which the pieces of the signals depend, operands first.
    fn order(&self, signals: &[SignalId]) -> Result<Vec<Part>, (SignalId, Fault)> {
        // `false`: the part is on the path from the root; `true`: it is in the order.
        let mut done: FxHashMap<Part, bool> = FxHashMap::default();
        let mut order = Vec::new();
        let mut way = Vec::new();
        let mut todo: Vec<Part> = Vec::new();
        for &s in signals {
            todo.push((self.rtl.read(s), 0, self.rtl.signal(s).width));
            while let Some(&part) = todo.last() {
                match done.get(&part) {
                    None if self.is_tangled(part.0) => {
                        done.insert(part, false);
                        way.push(part);
                        if done.len() > MAX_PARTS {
                            return Err((s, Fault::Large));
                        }
                        let from = todo.len();
                        self.below(part, &mut todo);
                        if let Some(again) = todo[from..].iter().find(|p| done.get(*p) == Some(&false)) {
                            return Err(self.looped(s, &way, *again));
                        }
                    }
                    Some(false) => {
                        done.insert(part, true);
                        order.push(part);
                        way.pop();
                        todo.pop();
                    }
                    _ => {
                        todo.pop();
                    }
                }
            }
        }
        Ok(order)
    }

    /// Returns the signals of the loop that begins at `again` on the path `way`, and the signal to report.
    fn looped(&self, s: SignalId, way: &[Part], again: Part) -> (SignalId, Fault) {
        let around = way.iter().skip_while(|p| **p != again);
        let mut through: Vec<SignalId> =
            around.filter_map(|p| if let Expr::Signal(s) = self.rtl.expr(p.0) { Some(*s) } else { None }).collect();
        through.dedup();
        // Report the signal that is declared first, independent of the start of the search.
        let named = through.iter().min_by_key(|s| self.rtl.signal(**s).at).copied();
        (named.unwrap_or(s), Fault::Loop(through))
    }

    /// Rebuilds all parts, and drives the signals with them.
    fn rewrite(&mut self, signals: &[SignalId], order: &[Part]) {
        let mut made: FxHashMap<Part, NodeId> = FxHashMap::default();
        let mut wires: FxHashMap<SignalId, Vec<NodeId>> = FxHashMap::default();
        let mut below = Vec::new();
        for &part in order {
            let (node, lo, width) = part;
            below.clear();
            self.below(part, &mut below);
            let parts: Vec<NodeId> = below
                .iter()
                .map(|p| match made.get(p) {
                    Some(&known) => known,
                    None => self.rtl.slice(p.0, p.1, p.2),
                })
                .collect();
            let new = match *self.rtl.expr(node) {
                Expr::Signal(s) => self.signal(s, (lo, width), &parts, &mut wires),
                _ => self.expression(part, &parts),
            };
            made.insert(part, new);
        }
        for &s in signals {
            if let Some(driven) = wires.remove(&s) {
                let word = self.join(&driven);
                let signal = self.rtl.signal_mut(s);
                signal.wires = vec![(0, word)];
                signal.registers.clear();
            }
        }
    }

    /// Builds a piece or a range of a signal; `parts` are the drivers of the piece, or the pieces that the range
    /// overlaps.
    fn signal(
        &mut self,
        s: SignalId,
        (lo, width): (u32, u32),
        parts: &[NodeId],
        wires: &mut FxHashMap<SignalId, Vec<NodeId>>,
    ) -> NodeId {
        let pieces = self.pieces(s, lo, width);
        let all = self.rtl.signal(s).width;
        if pieces[..] != [(lo, width)] {
            let word = self.join(parts);
            if (lo, width) == (0, all) {
                // Every signal is requested as a whole after its pieces.
                wires.insert(s, parts.to_vec());
            }
            let from = pieces.first().map_or(0, |p| p.0);
            return self.rtl.slice(word, lo - from, width);
        }
        let whole = (lo, width) == (0, all);
        match self.driver(s, lo) {
            Driver::Wire(..) if whole => {
                wires.insert(s, parts.to_vec());
                self.rtl.read(s)
            }
            Driver::Wire(..) => parts[0],
            Driver::Register(i) => {
                let conds = parts.iter().copied();
                let mut register = self.rtl.signal(s).registers[i].clone();
                register.resets.iter_mut().zip(conds).for_each(|(r, cond)| r.0 = cond);
                if whole {
                    self.rtl.signal_mut(s).registers[i] = register;
                    return self.rtl.read(s);
                }
                // The register becomes a separate signal, so that wires in the same word may read it.
                let signal = self.rtl.signal(s);
                let (name, at, init) = (format!("{}[{}:{lo}]", signal.name, lo + width - 1), signal.at, signal.init);
                let own = self.rtl.add_signal(name, width, at);
                let init = init.map(|n| self.rtl.slice(n, lo, width));
                let held = self.rtl.read(own);
                for reset in &mut register.resets {
                    if self.rtl.as_const(reset.1).is_none() {
                        reset.1 = self.held(reset.1, s, lo, held);
                    }
                }
                register.lo = 0;
                let signal = self.rtl.signal_mut(own);
                signal.init = init;
                signal.registers.push(register);
                self.rtl.read(own)
            }
            Driver::Nothing => match self.rtl.signal(s).init {
                Some(init) => self.rtl.slice(init, lo, width),
                None => self.rtl.free(width),
            },
        }
    }

    /// Rebuilds a reset value, which consists of constants and bits of the register itself, with `own` as the register.
    fn held(&mut self, value: NodeId, s: SignalId, base: u32, own: NodeId) -> NodeId {
        let old = self.rtl.read(s);
        let width = self.rtl.width(value);
        match self.rtl.expr(value).clone() {
            Expr::Slice { x, lo } if x == old => self.rtl.slice(own, lo - base, width),
            Expr::Concat(parts) => {
                let parts: Vec<NodeId> = parts.iter().map(|&p| self.held(p, s, base, own)).collect();
                self.rtl.concat(&parts)
            }
            _ => value,
        }
    }

    /// Rebuilds a part of an expression with new operands.
    fn expression(&mut self, (node, lo, width): Part, parts: &[NodeId]) -> NodeId {
        let full = self.rtl.width(node);
        match self.rtl.expr(node).clone() {
            Expr::Const(_) | Expr::Free | Expr::Signal(_) => self.rtl.slice(node, lo, width),
            Expr::Slice { .. } => parts[0],
            Expr::Concat(_) => self.join(parts),
            Expr::Repeat { x } => {
                let own = self.rtl.width(x);
                if lo % own + width <= own {
                    return parts[0];
                }
                let all = self.rtl.repeat(parts[0], (lo % own + width).div_ceil(own));
                self.rtl.slice(all, lo % own, width)
            }
            Expr::Extend { x, signed } => {
                let own = self.rtl.width(x);
                match (lo < own, parts) {
                    (true, &[low, ..]) => {
                        let short = self.rtl.width(low);
                        if short == width {
                            return low;
                        }
                        // The part extends down to at most the sign bit, so it is extended like the whole operand.
                        self.rtl.resize(low, width, signed)
                    }
                    (false, &[sign]) => self.rtl.repeat(sign, width),
                    _ => self.rtl.number(0, width),
                }
            }
            Expr::Not(_) => self.rtl.not(parts[0]),
            Expr::Binary(op @ (Binary::And | Binary::Or | Binary::Xor), ..) => match parts {
                &[a, b] => self.rtl.binary(op, a, b),
                // A mask hides all bits of the part.
                _ if op == Binary::And => self.rtl.number(0, width),
                _ => self.rtl.constant((BigUint::from(1u32) << width) - 1u32, width),
            },
            Expr::Mux(..) => self.rtl.mux(parts[0], parts[1], parts[2]),
            _ if (lo, width) != (0, full) => self.rtl.slice(parts[0], lo, width),
            Expr::Binary(op, ..) => self.rtl.binary(op, parts[0], parts[1]),
            Expr::Compare(op, ..) => self.rtl.compare(op, parts[0], parts[1]),
            Expr::Reduce(op, _) => self.rtl.reduce(op, parts[0]),
            Expr::Shift(op, ..) => self.rtl.shift(op, parts[0], parts[1]),
            Expr::Table(entries, ..) => self.rtl.table(entries, parts[0], parts[1]),
        }
    }

    /// Concatenates parts; adjacent slices of one word are merged into one slice.
    fn join(&mut self, parts: &[NodeId]) -> NodeId {
        let mut out: Vec<NodeId> = Vec::with_capacity(parts.len());
        // Adjacent slices that are being merged: word, lowest bit, end.
        let mut run: Option<(NodeId, u32, u32)> = None;
        for &part in parts {
            let width = self.rtl.width(part);
            let (x, lo) = match self.rtl.expr(part) {
                Expr::Slice { x, lo } => (*x, *lo),
                _ => (part, 0),
            };
            run = match run {
                Some((word, from, to)) if word == x && to == lo => Some((word, from, lo + width)),
                other => {
                    out.extend(other.map(|(word, from, to)| self.rtl.slice(word, from, to - from)));
                    Some((x, lo, lo + width))
                }
            };
        }
        out.extend(run.map(|(word, from, to)| self.rtl.slice(word, from, to - from)));
        self.rtl.concat(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Language, read};
    use super::*;

    fn said(language: Language, text: &str) -> String {
        match read(language, text, None) {
            Ok(rtl) => {
                assert!(!components(&rtl).contains(&true), "a word still depends on itself: {text}");
                String::new()
            }
            Err(e) => e.to_string(),
        }
    }

    fn verilog(body: &str) -> String {
        let head = "module m(input clk, input rst, input [7:0] a, input [7:0] b, output [7:0] y);\n";
        said(Language::Verilog, &format!("{head}{body}\nendmodule\n"))
    }

    fn vhdl(body: &str) -> String {
        said(
            Language::Vhdl,
            &format!(
                "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
                 entity m is port (clk, rst : in std_logic; a, b : in unsigned(7 downto 0); y : out unsigned(7 downto \
                 0));\n\
                 end entity;\narchitecture r of m is\n{body}\nend architecture;\n"
            ),
        )
    }

    #[test]
    fn chains_through_the_bits_of_words_are_no_loops() {
        for body in [
            "wire [8:0] c; assign c[0] = rst; assign y = c[8:1];\n\
             genvar g; generate for (g = 0; g < 8; g = g + 1) begin : t assign c[g + 1] = c[g] & a[g] | b[g]; end \
             endgenerate",
            "wire [8:0] c; assign c = {c[7:0] & a ^ b, rst}; assign y = c[8:1];",
            "wire [8:0] c; assign c[8:1] = a[0] ? ~c[7:0] : {8{c[0]}}; assign c[0] = rst; assign y = c[8:1];",
            "wire [15:0] c; assign c[7:0] = a; assign c[15:8] = c[7:0] + b; assign y = c[15:8];",
            "wire [15:0] c; assign c = {c[7:0] * b, a}; assign y = c[15:8] >> c[2:0];",
            // A mask hides the bits that would form a loop.
            "wire [7:0] c; assign c = (c << 1 & 8'haa) | (a & 8'h55); assign y = c;",
            "wire [3:0] p, q; assign p = {q[2:0], rst}; assign q = p & a[3:0]; assign y = {p, q};",
            "reg [8:0] c; always @* begin c[8:1] <= c[7:0] & a; c[0] <= rst; end assign y = c[8:1];",
            "wire signed [3:0] c; wire signed [7:0] d = c; assign c = {d[2:0] & a[2:0], rst}; assign y = d;",
            "wire [5:0] c; assign c = {{2{c[1:0]}}, a[1:0]}; assign y = c;",
            "wire [5:0] c; assign c[4:1] = {2{c[1:0]}}; assign {c[5], c[0]} = a; assign y = c;",
            // Registers break loops, also if wires drive other bits of the same word.
            "reg [7:0] c; always @(posedge clk) c <= c + a; assign y = c;",
            "wire [7:0] n; reg [7:0] c; assign n = c ^ a; always @(posedge clk) c <= n; assign y = n;",
            "reg [3:0] c; always @(posedge clk) c[1:0] <= c[3:2]; always @* c[3:2] = c[1:0] ^ a[1:0]; assign y = c;",
            // Only one bit of the register depends on the other.
            "reg [1:0] c; wire d = c[0]; always @(posedge clk) c[0] <= a[0];\n\
             always @(posedge clk or posedge d) if (d) c[1] <= 1'b0; else c[1] <= a[1]; assign y = c;",
        ] {
            assert_eq!(verilog(body), "", "{body}");
        }
        for body in [
            "signal c : unsigned(8 downto 0);\nbegin c(0) <= rst; y <= c(8 downto 1);\n\
             t : for g in 0 to 7 generate c(g + 1) <= (c(g) and a(g)) or b(g); end generate;",
            "signal c : unsigned(8 downto 0);\nbegin y <= c(8 downto 1);\n\
             process (a, c, rst) begin c(0) <= rst; for g in 0 to 7 loop c(g + 1) <= c(g) and a(g); end loop; end \
             process;",
            "signal c : unsigned(15 downto 0);\nbegin c <= (c(7 downto 0) + b) & a; y <= c(15 downto 8);",
            "signal c : unsigned(8 downto 0);\nbegin c(8 downto 1) <= c(7 downto 0) and a when rst = '1' else b; c(0) \
             <= rst;\n\
             y <= c(8 downto 1);",
        ] {
            assert_eq!(vhdl(body), "", "{body}");
        }
    }

    #[test]
    fn loops_are_refused_with_their_names() {
        for (body, name) in [
            ("wire c; assign c = c; assign y = c;", "c depends"),
            ("wire [7:0] c; assign c = (c | ~c) & a; assign y = c;", "c depends"),
            (
                "wire p, q; assign p = q & a[0]; assign q = p | b[0]; assign y = q;",
                "p depends on itself without a register (through q)",
            ),
            // No output depends on the loop.
            ("wire p, q; assign p = ~q; assign q = p; assign y = a;", "p depends"),
            ("wire [7:0] c; assign c = {c[6:0], c[7]} & a; assign y = c;", "c depends"),
            // Arithmetic depends on all bits of its operands: one undefined bit makes the result undefined.
            ("wire [7:0] c; assign c = {c[6:0] + a[6:0], b[0]}; assign y = c;", "c depends"),
            (
                "wire [1:0] p, q; and g (p[0], q[0], a[0]); or h (q[0], p[0], b[0]); assign {p[1], q[1]} = a; assign \
                 y = p;",
                "p depends",
            ),
            ("reg [7:0] c; always @* c <= c & a; assign y = c;", "c depends"),
            ("reg c, d; always @* c = d; always @* d = c & a[0]; assign y = d;", "c depends"),
            (
                "genvar g; wire [3:0] r; generate for (g = 0; g < 4; g = g + 1) begin : t assign r[g] = ~r[(g + 1) % \
                 4]; end endgenerate assign y = r;",
                "r depends",
            ),
            // A counter whose asynchronous reset depends on its own value.
            (
                "reg [3:0] c; wire z = c == 4'd9; always @(posedge clk or posedge z) if (z) c <= 0; else c <= c + 1; \
                 assign y = c;",
                "c depends",
            ),
        ] {
            let said = verilog(body);
            assert!(said.contains(name) && said.contains("line") && said.contains("E0904"), "{said:?}\n{body}");
        }
        for (body, name) in [
            (
                "signal p, q : std_logic;\nbegin p <= q and a(0); q <= p or b(0); y <= a;",
                "p depends on itself without a register (through q)",
            ),
            ("signal c : unsigned(7 downto 0);\nbegin c <= c(6 downto 0) & c(7); y <= c;", "c depends"),
            (
                "signal c : unsigned(7 downto 0);\nbegin process (all) begin c <= c and a; end process; y <= c;",
                "c depends",
            ),
        ] {
            let said = vhdl(body);
            assert!(said.contains(name) && said.contains("line") && said.contains("E0904"), "{said:?}\n{body}");
        }
    }

    #[test]
    fn long_chains_are_followed() {
        let chain = |n: u32| {
            format!(
                "module m(input clk, input [{n}:0] a, output [{n}:0] y);\nwire [{n}:0] c; assign c = {{c[{}:0] & \
                 a[{n}:1], a[0]}};\n\
                 assign y = c;\nendmodule\n",
                n - 1
            )
        };
        assert_eq!(said(Language::Verilog, &chain(20_000)), "");
        let long = said(Language::Verilog, &chain(900_000));
        assert!(long.contains("E0903") && long.contains("takes too long"), "{long}");
    }
}
