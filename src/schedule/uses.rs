//! Which bits exist, who makes them and who reads them: what a register can be asked to hold.
//!
//! A value is a run of bits, but a register need not hold the value: most operations pass some bits of an operand
//! through unchanged (a quantisation passes nothing else, an addition those below the other operand), sign extension
//! repeats one bit, and constants are everywhere. So the cost of a schedule is counted on *root bits*, bits made by
//! a gate or brought by an input port, each followed through all wiring to the gates that read it. Root bits that are
//! read by the same gates form a [`Class`]; all its bits cross the same boundaries.
//!
//! Bits of a root that nobody reads are in no class. Operations that no output depends on read nothing.

use crate::ir::{BinaryBits, Model, Op, UnaryBits, ValueId};
use crate::num::Kif;
use num_bigint::BigInt;

/// Who makes root bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// An input port element.
    Input(u32),
    /// An operation.
    Op(ValueId),
    /// The negation in front of an output element.
    Negation(u32),
}

/// Who reads bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reader {
    /// An operation, in its stage.
    Op(ValueId),
    /// The negation in front of an output element, in the last stage.
    Negation(u32),
    /// The output port, behind the last register.
    Port,
}

/// Root bits with the same maker and the same readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Who makes them.
    pub root: Root,
    /// How many.
    pub bits: u32,
    readers: (u32, u32),
}

/// All bits worth holding, by class.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    classes: Vec<Class>,
    readers: Vec<Reader>,
    /// Input bits that anybody reads.
    input_bits: u64,
}

impl Uses {
    /// The classes, by root.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The readers of a class, ascending.
    pub fn readers(&self, class: &Class) -> &[Reader] {
        &self.readers[class.readers.0 as usize..class.readers.1 as usize]
    }

    /// Bits of input registers, where inputs are registered: the input bits that anybody reads.
    pub fn input_bits(&self) -> u64 {
        self.input_bits
    }

    /// The bits of a program as the netlist holds them.
    pub fn of(model: &Model) -> Uses {
        let live = live(model);
        let mut trace = Trace::new(model);
        for id in model.ids() {
            trace.operation(model, id, live[id.index()]);
        }
        for (j, out) in model.outputs().iter().enumerate() {
            trace.output(model, j, out.source, out.neg);
        }
        trace.into_uses(model)
    }

    /// The plain view as a reference: whole values, each operation a root, each operand read with all its bits.
    pub fn whole_values(model: &Model) -> Uses {
        let live = live(model);
        let mut reads = Reads::default();
        let n = model.nodes().len() as u32;
        for id in model.ids().filter(|id| live[id.index()]) {
            if let Op::Input { input } = model.node(id).op {
                let width = model.input_kifs()[input as usize].width();
                reads.push(n + input, 0, width, Reader::Op(id));
            }
            model.node(id).op.for_each_operand(|v| {
                if !matches!(model.node(v).op, Op::Const { .. }) {
                    reads.push(v.0, 0, model.kif(v).width(), Reader::Op(id));
                }
            });
        }
        for (j, out) in model.outputs().iter().enumerate() {
            let Some(v) = out.source else { continue };
            if matches!(model.node(v).op, Op::Const { .. }) {
                continue;
            }
            let root = n + model.n_inputs() as u32 + j as u32;
            if out.neg {
                reads.push(v.0, 0, model.kif(v).width(), Reader::Negation(j as u32));
                reads.push(root, 0, model.output_kif(j).width(), Reader::Port);
            } else {
                reads.push(v.0, 0, model.kif(v).width(), Reader::Port);
            }
        }
        reads.into_uses(model)
    }
}

/// Which operations an output depends on.
pub(super) fn live(model: &Model) -> Vec<bool> {
    let mut live = vec![false; model.nodes().len()];
    for v in model.outputs().iter().filter_map(|o| o.source) {
        live[v.index()] = true;
    }
    for id in model.ids().rev() {
        if live[id.index()] {
            model.node(id).op.for_each_operand(|v| live[v.index()] = true);
        }
    }
    live
}

/// A constant run's root.
const CONSTANT: u32 = u32::MAX;

/// A run of bits that come from one root: operation, then input, then negation, numbered through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    root: u32,
    /// Lowest root bit; for a constant run its bit.
    lo: u32,
    width: u32,
    /// Whether bit `lo` is repeated rather than a slice taken.
    repeat: bool,
}

/// An exact number: runs, low end first, the position of the lowest bit, and how it goes on above.
#[derive(Clone, Copy, Debug)]
struct Number {
    start: usize,
    len: usize,
    width: u32,
    at: i64,
    signed: bool,
}

impl Number {
    fn top(self) -> i64 {
        self.at + i64::from(self.width)
    }
}

/// The forward walk: runs of every value.
struct Trace {
    pool: Vec<Run>,
    /// Runs of each operation's value: start and length in the pool.
    values: Vec<(u32, u32)>,
    reads: Reads,
}

impl Trace {
    fn new(model: &Model) -> Trace {
        Trace { pool: Vec::new(), values: Vec::with_capacity(model.nodes().len()), reads: Reads::default() }
    }

    fn push(&mut self, from: usize, run: Run) {
        if run.width == 0 {
            return;
        }
        if let Some(last) = self.pool[from..].last_mut() {
            let same = last.root == run.root;
            if same && run.root == CONSTANT && last.lo == run.lo {
                last.width += run.width;
                return;
            }
            if same && run.root != CONSTANT && !last.repeat && !run.repeat && last.lo + last.width == run.lo {
                last.width += run.width;
                return;
            }
        }
        self.pool.push(run);
    }

    fn push_constant(&mut self, from: usize, one: bool, width: u32) {
        self.push(from, Run { root: CONSTANT, lo: u32::from(one), width, repeat: true });
    }

    fn push_int(&mut self, from: usize, value: &BigInt, width: u32) {
        let mut at = 0;
        while at < width {
            let one = value.bit(u64::from(at));
            let mut end = at + 1;
            while end < width && value.bit(u64::from(end)) == one {
                end += 1;
            }
            self.push_constant(from, one, end - at);
            at = end;
        }
    }

    /// Appends bits `lo .. lo + width` of a number that goes on for ever in both directions.
    fn push_window(&mut self, from: usize, x: Number, lo: i64, width: u32) {
        let end = lo + i64::from(width);
        if x.width == 0 {
            self.push_constant(from, false, width);
            return;
        }
        self.push_constant(from, false, (x.at.min(end) - lo).clamp(0, i64::from(width)) as u32);
        let (first, last) = (lo.max(x.at), end.min(x.top()));
        if first < last {
            self.push_slice(from, x, (first - x.at) as u32, (last - first) as u32);
        }
        let above = (end - lo.max(x.top())).max(0) as u32;
        if above > 0 {
            let top = self.pool[x.start + x.len - 1];
            let sign = match (x.signed, top.root == CONSTANT || top.repeat) {
                (false, _) => Run { root: CONSTANT, lo: 0, width: above, repeat: true },
                (true, true) => Run { width: above, ..top },
                (true, false) => Run { lo: top.lo + top.width - 1, width: above, repeat: true, ..top },
            };
            self.push(from, sign);
        }
    }

    /// Appends bits `lo .. lo + width` of a number's own bits.
    fn push_slice(&mut self, from: usize, x: Number, lo: u32, width: u32) {
        let (mut skip, mut left) = (lo, width);
        for i in x.start..x.start + x.len {
            let run = self.pool[i];
            if left == 0 {
                break;
            }
            if skip >= run.width {
                skip -= run.width;
                continue;
            }
            let take = left.min(run.width - skip);
            let lo = if run.repeat { run.lo } else { run.lo + skip };
            self.push(from, Run { lo, width: take, ..run });
            (skip, left) = (0, left - take);
        }
    }

    /// A value as a number in the frame of a result whose lowest bit has `frac` fractional bits.
    fn number(&self, model: &Model, v: ValueId, shift: i32, frac: i64) -> Number {
        let (start, len) = self.values[v.index()];
        let kif = model.kif(v);
        let at = frac - (i64::from(kif.frac) - i64::from(shift));
        Number { start: start as usize, len: len as usize, width: kif.width(), at, signed: kif.signed }
    }

    /// The same number without constant zeros at either end, and without bits at or above `top`.
    fn trimmed(&mut self, x: Number, top: i64) -> Number {
        let mut x = x;
        if x.at >= top {
            return Number { width: 0, len: 0, ..x };
        }
        if x.top() > top {
            let from = self.pool.len();
            let width = (top - x.at) as u32;
            self.push_slice(from, x, 0, width);
            x = Number { start: from, len: self.pool.len() - from, width, signed: false, ..x };
        }
        let zero = |run: Run| run.root == CONSTANT && run.lo == 0;
        while x.len > 0 && zero(self.pool[x.start]) {
            let width = self.pool[x.start].width;
            x = Number { start: x.start + 1, len: x.len - 1, width: x.width - width, at: x.at + i64::from(width), ..x };
        }
        if x.len > 0 && zero(self.pool[x.start + x.len - 1]) {
            let width = self.pool[x.start + x.len - 1].width;
            x = Number { len: x.len - 1, width: x.width - width, signed: false, ..x };
        }
        x
    }

    fn is_constant(&self, x: Number) -> bool {
        self.pool[x.start..x.start + x.len].iter().all(|r| r.root == CONSTANT)
    }

    fn read_all(&mut self, x: Number, reader: Reader) {
        self.read(x, x.at, x.width, reader);
    }

    /// Notes that `reader` reads bits `lo .. lo + width` of a number, and with them its sign where it goes on above.
    fn read(&mut self, x: Number, lo: i64, width: u32, reader: Reader) {
        if width == 0 {
            return;
        }
        let from = self.pool.len();
        self.push_window(from, x, lo, width);
        for i in from..self.pool.len() {
            let run = self.pool[i];
            if run.root != CONSTANT {
                self.reads.push(run.root, run.lo, if run.repeat { 1 } else { run.width }, reader);
            }
        }
        self.pool.truncate(from);
    }

    fn operation(&mut self, model: &Model, id: ValueId, live: bool) {
        let kif = model.kif(id);
        let scratch = self.pool.len();
        if !live || kif.is_zero() {
            self.values.push((scratch as u32, 0));
            return;
        }
        let result = self.result(model, id, kif);
        let from = self.pool.len();
        self.push_window(from, result, 0, kif.width());
        // What was written on the way there is scratch.
        let len = self.pool.len() - from;
        self.pool.copy_within(from.., scratch);
        self.pool.truncate(scratch + len);
        self.values.push((scratch as u32, len as u32));
    }

    /// Bits made by the operation itself, `width` of them from position `at`.
    fn made(&mut self, id: ValueId, at: i64, width: u32, signed: bool) -> Number {
        let start = self.pool.len();
        self.pool.push(Run { root: id.0, lo: 0, width, repeat: false });
        Number { start, len: 1, width, at, signed }
    }

    /// The operation's result in its own frame, before the window of its type is taken; notes what it reads.
    fn result(&mut self, model: &Model, id: ValueId, kif: Kif) -> Number {
        let frac = i64::from(kif.frac);
        let width = kif.width();
        let top = i64::from(width);
        let me = Reader::Op(id);
        match &model.node(id).op {
            Op::Input { input } => {
                let port = model.input_kifs()[*input as usize];
                let start = self.pool.len();
                let root = model.nodes().len() as u32 + input;
                self.pool.push(Run { root, lo: 0, width: port.width(), repeat: false });
                let at = frac - i64::from(port.frac);
                Number { start, len: usize::from(port.width() > 0), width: port.width(), at, signed: port.signed }
            }
            Op::Const { value } => self.constant(&value.to_big(), 0),
            Op::Quantise { x, shift } => self.number(model, *x, *shift, frac),
            Op::Neg { x } => {
                let x = self.number(model, *x, 0, frac);
                self.sum(Number { width: 0, len: 0, ..x }, x, true, top, id)
            }
            Op::Add { a, b, shift } => {
                let (a, b) = (self.number(model, *a, 0, frac), self.number(model, *b, *shift, frac));
                self.sum(a, b, false, top, id)
            }
            Op::Sub { a, b, shift } => {
                let (a, b) = (self.number(model, *a, 0, frac), self.number(model, *b, *shift, frac));
                self.sum(a, b, true, top, id)
            }
            Op::AddConst { x, value, shift } => {
                let constant = self.constant(&value.to_big(), frac - i64::from(*shift));
                let x = self.number(model, *x, 0, frac);
                self.sum(x, constant, false, top, id)
            }
            Op::Sum { terms } => {
                if let [term] = &**terms
                    && !term.neg
                {
                    return self.number(model, term.value, term.shift, frac);
                }
                for t in terms {
                    let x = self.number(model, t.value, t.shift, frac);
                    let x = self.trimmed(x, top);
                    self.read_all(x, me);
                }
                self.made(id, 0, width, kif.signed)
            }
            Op::Relu { x } => {
                let x = self.number(model, *x, 0, frac);
                if !x.signed {
                    return x;
                }
                // The sign masks the bits that the result shows.
                self.read(x, x.top() - 1, 1, me);
                let shown = (x.top() - 1).clamp(0, top) as u32;
                self.read(x, 0, shown, me);
                self.made(id, 0, shown, false)
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                let c = self.number(model, *cond, 0, frac);
                let (a, b) = (self.number(model, *on_true, 0, frac), self.number(model, *on_false, *shift, frac));
                if c.width == 0 {
                    return b;
                }
                self.read(c, c.top() - 1, 1, me);
                self.bitwise(a, b, width, kif.signed, id)
            }
            Op::Mul { a, b } => {
                let (a, b) = (self.number(model, *a, 0, 0), self.number(model, *b, 0, 0));
                if a.width == 0 || b.width == 0 {
                    return Number { width: 0, len: 0, ..a };
                }
                self.read_all(a, me);
                self.read_all(b, me);
                self.made(id, 0, width, kif.signed)
            }
            Op::Lookup { x, .. } => {
                let x = self.number(model, *x, 0, 0);
                self.read_all(x, me);
                self.made(id, 0, width, kif.signed)
            }
            Op::Unary { op, x } => {
                let x = self.number(model, *x, 0, 0);
                self.read_all(x, me);
                match op {
                    UnaryBits::Not => self.made(id, 0, width, kif.signed),
                    UnaryBits::Any | UnaryBits::All => self.made(id, 0, 1, false),
                }
            }
            Op::Binary { op: BinaryBits::And | BinaryBits::Or | BinaryBits::Xor, a, b, shift } => {
                let (a, b) = (self.number(model, *a, 0, frac), self.number(model, *b, *shift, frac));
                self.bitwise(a, b, width, kif.signed, id)
            }
        }
    }

    fn constant(&mut self, value: &BigInt, at: i64) -> Number {
        let negative = *value < BigInt::ZERO;
        let width = value.bits() as u32 + u32::from(negative);
        let start = self.pool.len();
        self.push_int(start, value, width);
        Number { start, len: self.pool.len() - start, width, at, signed: negative }
    }

    fn bitwise(&mut self, a: Number, b: Number, width: u32, signed: bool, id: ValueId) -> Number {
        self.read(a, 0, width, Reader::Op(id));
        self.read(b, 0, width, Reader::Op(id));
        self.made(id, 0, width, signed)
    }

    /// `a ± b` below `top`: low bits that one operand alone reaches pass through, the others are made.
    fn sum(&mut self, a: Number, b: Number, minus: bool, top: i64, id: ValueId) -> Number {
        let (a, b) = (self.trimmed(a, top), self.trimmed(b, top));
        if b.width == 0 {
            return a;
        }
        if a.width == 0 && !minus {
            return b;
        }
        if self.is_constant(a) && self.is_constant(b) {
            // The value of a constant costs nothing; which one it is does not matter here.
            return self.constant(&BigInt::ZERO, 0);
        }
        let start = if minus || a.width == 0 { b.at } else { a.at.max(b.at) };
        let (lower, other) = if minus || a.at <= b.at { (a, b) } else { (b, a) };
        let apart = lower.width == 0 || (!lower.signed && lower.top() <= start);
        let upper = if apart && !minus {
            other
        } else {
            let above = |x: Number, signed: bool| x.top() + i64::from(signed && !x.signed);
            let exact = if apart {
                other.top() + 1
            } else {
                match (a.signed || b.signed, minus) {
                    (false, false) => a.top().max(b.top()) + 1,
                    (false, true) => above(a, true).max(above(b, true)),
                    (true, _) => above(a, true).max(above(b, true)) + 1,
                }
            };
            let signed = minus || a.signed || b.signed;
            let end = exact.min(top);
            let width = (end - start) as u32;
            for x in [a, b] {
                let shown = (x.top().min(end) - start.max(x.at)).max(0) as u32;
                self.read(x, start.max(x.at), shown, Reader::Op(id));
            }
            self.made(id, start, width, signed && end == exact)
        };
        if lower.width == 0 || lower.at >= start {
            return upper;
        }
        let from = self.pool.len();
        self.push_window(from, lower, lower.at, (start - lower.at) as u32);
        self.push_slice(from, upper, 0, upper.width);
        let width = (start - lower.at) as u32 + upper.width;
        Number { start: from, len: self.pool.len() - from, width, at: lower.at, signed: upper.signed }
    }

    fn output(&mut self, model: &Model, j: usize, source: Option<ValueId>, neg: bool) {
        let port = model.output_kif(j);
        let Some(v) = source.filter(|_| !port.is_zero()) else { return };
        let x = self.number(model, v, model.outputs()[j].shift, i64::from(port.frac));
        let x = self.trimmed(x, i64::from(port.width()));
        if neg && !self.is_constant(x) {
            self.read_all(x, Reader::Negation(j as u32));
            let root = model.nodes().len() as u32 + model.n_inputs() as u32 + j as u32;
            let at = x.at.max(0);
            self.reads.push(root, 0, (i64::from(port.width()) - at).max(0) as u32, Reader::Port);
        } else if !neg {
            self.read(x, 0, port.width(), Reader::Port);
        }
    }

    fn into_uses(self, model: &Model) -> Uses {
        self.reads.into_uses(model)
    }
}

/// One reader of bits `lo .. lo + width` of a root.
#[derive(Clone, Copy, Debug)]
struct Read {
    lo: u32,
    width: u32,
    reader: Reader,
}

/// All reads, in the order in which they were seen: ascending readers for each root.
#[derive(Default)]
struct Reads {
    roots: Vec<u32>,
    reads: Vec<Read>,
}

impl Reads {
    fn push(&mut self, root: u32, lo: u32, width: u32, reader: Reader) {
        if width > 0 {
            self.roots.push(root);
            self.reads.push(Read { lo, width, reader });
        }
    }

    fn into_uses(self, model: &Model) -> Uses {
        let (n, inputs) = (model.nodes().len() as u32, model.n_inputs() as u32);
        let roots = n as usize + inputs as usize + model.outputs().len();
        // Counting sort by root.
        let mut start = vec![0u32; roots + 1];
        for &r in &self.roots {
            start[r as usize + 1] += 1;
        }
        for i in 0..roots {
            start[i + 1] += start[i];
        }
        let mut sorted = vec![Read { lo: 0, width: 0, reader: Reader::Port }; self.reads.len()];
        let mut next = start.clone();
        for (&r, &read) in self.roots.iter().zip(&self.reads) {
            sorted[next[r as usize] as usize] = read;
            next[r as usize] += 1;
        }
        let mut uses = Uses::default();
        let mut split = Split::default();
        for r in 0..roots as u32 {
            let reads = &sorted[start[r as usize] as usize..start[r as usize + 1] as usize];
            if reads.is_empty() {
                continue;
            }
            let root = match r {
                r if r < n => Root::Op(ValueId(r)),
                r if r < n + inputs => Root::Input(r - n),
                r => Root::Negation(r - n - inputs),
            };
            split.classes(root, reads, &mut uses);
        }
        uses.input_bits =
            uses.classes.iter().filter(|c| matches!(c.root, Root::Input(_))).map(|c| u64::from(c.bits)).sum();
        uses
    }
}

/// Scratch for splitting a root's bits into classes.
#[derive(Default)]
struct Split {
    cuts: Vec<u32>,
    set: Vec<Reader>,
}

impl Split {
    fn classes(&mut self, root: Root, reads: &[Read], uses: &mut Uses) {
        self.cuts.clear();
        self.cuts.extend(reads.iter().flat_map(|r| [r.lo, r.lo + r.width]));
        self.cuts.sort_unstable();
        self.cuts.dedup();
        let first = uses.classes.len();
        for i in 1..self.cuts.len() {
            let (lo, hi) = (self.cuts[i - 1], self.cuts[i]);
            self.set.clear();
            self.set.extend(reads.iter().filter(|r| r.lo <= lo && hi <= r.lo + r.width).map(|r| r.reader));
            if self.set.is_empty() {
                continue;
            }
            self.set.sort_unstable();
            self.set.dedup();
            let known = uses.classes[first..].iter().position(|c| uses.readers(c) == self.set);
            match known {
                Some(k) => uses.classes[first + k].bits += hi - lo,
                None => {
                    let start = uses.readers.len() as u32;
                    uses.readers.extend_from_slice(&self.set);
                    let readers = (start, uses.readers.len() as u32);
                    uses.classes.push(Class { root, bits: hi - lo, readers });
                }
            }
        }
    }
}
