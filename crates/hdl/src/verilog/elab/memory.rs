//! Memories and arrays of nets, whose words are selected by addresses.
//!
//! A memory that only `initial` blocks write is a look-up table. Any other memory and an array of nets are one long
//! signal (or variable) with concatenated words, the lowest address in the low bits.

use super::super::ast::{Decl, DeclKind, Expr, ExprId, Item, Module, Statement, Sym};
use super::{BitPosition, Bounds, Elab, Kind, Object, Place, Process, Result, Slot, Target};
use crate::source::error;
use crate::{Binary, Compare, NodeId};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum number of words of all memories in a file, and of bits of a memory that is not a look-up table.
const MAX_WORDS: u64 = 1 << 23;
const MAX_HELD: u64 = 1 << 20;

pub(super) struct Memory {
    /// Address ranges, the outermost first, each normalised to a descending range.
    dims: Vec<Bounds>,
    /// Width of a word.
    width: u32,
    /// Words that `initial` blocks wrote.
    words: Vec<Option<BigUint>>,
    /// Undefined bits of written words, which are 0 in `words`.
    undefined: FxHashMap<usize, BigUint>,
    /// Signal or variable that stores the words, if they are not all constants.
    held: Option<Place>,
}

/// Position in one dimension: a constant distance from the lowest address (possibly outside of the memory), or a
/// computed one.
#[derive(Clone, Copy)]
pub(super) enum WordAt {
    Constant(i64),
    Dynamic(NodeId),
}

/// Word of a memory: index of the memory, bounds and sign of the word, and its addresses.
pub(super) type Word = (usize, Bounds, bool, Vec<ExprId>);

/// One dimension of an address: position, number of elements, and bits of an element.
pub(super) type Step = (WordAt, u32, u32);

/// Returns the names that a module assigns outside of `initial` blocks. Other objects of the same name count too.
pub(super) fn written(module: &Module, exprs: &[Expr]) -> FxHashSet<Sym> {
    fn target(e: ExprId, exprs: &[Expr], out: &mut FxHashSet<Sym>) {
        let mut e = e;
        loop {
            match &exprs[e as usize] {
                Expr::Name(sym) | Expr::Path(_, sym) => {
                    out.insert(*sym);
                    return;
                }
                Expr::Index(base, _) | Expr::Range(base, ..) | Expr::Part(base, ..) => e = *base,
                Expr::Concat(parts) => return parts.iter().for_each(|&p| target(p, exprs, out)),
                _ => return,
            }
        }
    }
    fn statement(s: &Statement, exprs: &[Expr], out: &mut FxHashSet<Sym>) {
        match s {
            Statement::Null | Statement::Disable(..) | Statement::ReadMemory { .. } => {}
            Statement::Block(_, _, body) => body.iter().for_each(|s| statement(s, exprs, out)),
            Statement::If(_, yes, no) => {
                statement(yes, exprs, out);
                no.iter().for_each(|s| statement(s, exprs, out));
            }
            Statement::Case { items, default, .. } => {
                items.iter().for_each(|i| statement(&i.1, exprs, out));
                default.iter().for_each(|s| statement(s, exprs, out));
            }
            Statement::Assign { target: t, .. } => target(*t, exprs, out),
            Statement::For(init, _, step, body) => {
                [init, step, body].into_iter().for_each(|s| statement(s, exprs, out))
            }
            Statement::While(_, body) | Statement::Repeat(_, body) => statement(body, exprs, out),
            Statement::Call(_, args, _) => args.iter().for_each(|&a| target(a, exprs, out)),
        }
    }
    fn item(i: &Item, exprs: &[Expr], out: &mut FxHashSet<Sym>) {
        match i {
            Item::Assign(t, ..) | Item::Gate(t, ..) => target(*t, exprs, out),
            Item::Always(_, body, _) => statement(body, exprs, out),
            Item::Task(t) => statement(&t.body, exprs, out),
            Item::Instance(i) => i.ports.iter().filter_map(|p| p.1).for_each(|e| target(e, exprs, out)),
            Item::GenBlock(_, items) => items.iter().for_each(|i| item(i, exprs, out)),
            Item::GenFor { body, .. } => item(body, exprs, out),
            Item::GenIf(_, yes, no) => {
                item(yes, exprs, out);
                no.iter().for_each(|i| item(i, exprs, out));
            }
            Item::GenCase(_, items, default) => {
                items.iter().for_each(|i| item(&i.1, exprs, out));
                default.iter().for_each(|i| item(i, exprs, out));
            }
            _ => {}
        }
    }
    let mut out = FxHashSet::default();
    module.items.iter().for_each(|i| item(i, exprs, &mut out));
    out
}

/// Item in a data file of `$readmemh` or `$readmemb`.
enum DataWord {
    /// `@1f`.
    Address(i64),
    /// A word; `None` if all of its bits are undefined.
    Value(Option<BigUint>),
}

/// Returns the items of a data file; an error has the line number and a message.
fn data_words(
    text: &str,
    hex: bool,
    width: u32,
) -> impl Iterator<Item = std::result::Result<DataWord, (usize, String)>> {
    let mut in_comment = false;
    let words = text.lines().enumerate().flat_map(move |(line, rest)| {
        let mut words = Vec::new();
        let mut rest = rest;
        loop {
            if in_comment {
                let Some(end) = rest.find("*/") else { break };
                (in_comment, rest) = (false, &rest[end + 2..]);
            }
            let end = rest.find("//").unwrap_or(rest.len()).min(rest.find("/*").unwrap_or(rest.len()));
            words.extend(rest[..end].split_whitespace().map(|word| (line + 1, word)));
            if !rest[end..].starts_with("/*") {
                break;
            }
            (in_comment, rest) = (true, &rest[end + 2..]);
        }
        words
    });
    words.map(move |(line, word)| data_word(word, hex, width).map_err(|message| (line, message)))
}

fn data_word(word: &str, hex: bool, width: u32) -> std::result::Result<DataWord, String> {
    let shown = || word.chars().take(40).collect::<String>();
    if let Some(address) = word.strip_prefix('@') {
        let address = i64::from_str_radix(&address.replace('_', ""), 16).ok().filter(|a| (0..1 << 40).contains(a));
        return address.map(DataWord::Address).ok_or(format!("{} is no address", shown()));
    }
    let digits = word.replace('_', "");
    if !digits.is_empty() && digits.bytes().all(|b| matches!(b, b'x' | b'X' | b'z' | b'Z')) {
        return Ok(DataWord::Value(None));
    }
    let radix = if hex { 16 } else { 2 };
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let value = is_number.then(|| BigUint::parse_bytes(digits.as_bytes(), radix)).flatten();
    let value =
        value.ok_or_else(|| format!("{} is no {} number", shown(), if hex { "hexadecimal" } else { "binary" }))?;
    match value.bits() <= width.into() {
        true => Ok(DataWord::Value(Some(value))),
        false => Err(format!("{} has more than the {width} bits of a word", shown())),
    }
}

impl<'a> Elab<'a> {
    /// Declares a memory or an array of nets. `local` ones belong to a function, task or block.
    pub(super) fn memory(&mut self, scope: usize, d: &Decl, bounds: Bounds, local: bool) -> Result<()> {
        let mut dims = Vec::with_capacity(d.memory.len());
        let mut words = 1u64;
        for &range in &d.memory {
            let b = self.bounds(scope, Some(range))?;
            dims.push(Bounds { msb: b.msb.max(b.lsb), lsb: b.msb.min(b.lsb), ..b });
            words = words.saturating_mul(b.width().into());
        }
        let bits = words.saturating_mul(bounds.width().into());
        self.words = self.words.saturating_add(words);
        if self.words > MAX_WORDS {
            return Err(error(self.text, d.at, "memories of more than 2^23 words"));
        }
        let variable = matches!(d.kind, DeclKind::Reg | DeclKind::Integer);
        let table = variable && !local && !self.written.contains(&d.name);
        if !table && bits > MAX_HELD {
            return Err(error(self.text, d.at, "a memory of more than 2^20 bits that is written, or array of nets"));
        }
        let held = if table {
            None
        } else if local {
            self.variables += 1;
            Some(Place::Variable(self.variables - 1))
        } else {
            Some(Place::Signal(self.new_signal(scope, d.name, bits as u32, d.at)?))
        };
        let id = self.memories.len();
        self.memories.push(Memory {
            dims,
            width: bounds.width(),
            words: vec![None; words as usize],
            undefined: FxHashMap::default(),
            held,
        });
        self.declare(scope, d.name, Object::Memory { id, bounds, signed: d.signed }, d.at)
    }

    /// Returns the memory and the addresses if an expression selects a word of a memory; `None` for other expressions.
    pub(super) fn word_of(&self, p: &Process, e: ExprId) -> Result<Option<Word>> {
        let mut addresses = Vec::new();
        let mut at = e;
        while let Expr::Index(base, index) = self.expr(at) {
            addresses.push(*index);
            at = *base;
        }
        let Some(Object::Memory { id, bounds, signed }) = self.object(p, at)? else { return Ok(None) };
        addresses.reverse();
        let dims = self.memories[id].dims.len();
        if addresses.len() < dims {
            return self.fail(e, "a memory is read and written word by word");
        }
        Ok((addresses.len() == dims).then_some((id, bounds, signed, addresses)))
    }

    /// Evaluates addresses to positions in each dimension.
    fn steps(&mut self, p: &mut Process, id: usize, addresses: &[ExprId]) -> Result<Vec<Step>> {
        let dims = self.memories[id].dims.clone();
        let mut stride: u32 = self.memories[id].words.len() as u32 * self.memories[id].width;
        let mut steps = Vec::with_capacity(dims.len());
        for (&dim, &index) in dims.iter().zip(addresses) {
            stride /= dim.width();
            let at = match self.value_int(p, index)? {
                Some(i) => WordAt::Constant(dim.position(i)),
                None => WordAt::Dynamic(self.dynamic(p, index, dim, 0)?.0),
            };
            steps.push((at, dim.width(), stride));
        }
        Ok(steps)
    }

    /// Returns the index of a word with constant addresses; `None` if an address is computed or outside.
    fn number_of(steps: &[Step], width: u32) -> Option<usize> {
        let mut bits = 0u64;
        for &(at, count, stride) in steps {
            let WordAt::Constant(i) = at else { return None };
            bits += u64::try_from(i).ok().filter(|i| *i < count.into())? * u64::from(stride);
        }
        Some((bits / u64::from(width)) as usize)
    }

    /// Reads a word of a memory.
    pub(super) fn word(&mut self, p: &mut Process, e: ExprId, id: usize, addresses: &[ExprId]) -> Result<NodeId> {
        let steps = self.steps(p, id, addresses)?;
        let width = self.memories[id].width;
        let Some(held) = self.memories[id].held else { return self.table_word(e, id, &steps) };
        let slot = match held {
            Place::Variable(v) => Slot::Variable(v),
            Place::Signal(s) => Slot::Signal(s),
            Place::Word(..) => return self.fail(e, "a memory in a memory"),
        };
        if let (Kind::Constant, Place::Signal(_)) = (p.kind, held) {
            // `initial` blocks read the words that they have written so far.
            let written = Self::number_of(&steps, width).filter(|&w| self.memories[id].words[w].is_some());
            return match written {
                Some(word) => Ok(self.known_word(id, word)),
                None => self.fail(e, "a constant is needed here"),
            };
        }
        let all = self.memories[id].words.len() as u32 * width;
        let node = match p.state.values.get(&slot) {
            Some(&node) => node,
            None => match held {
                Place::Signal(s) => {
                    if self.calls > 0 && p.kind != Kind::Edge {
                        return self.fail(
                            e,
                            "a function or task that reads a signal of its module, outside a clocked process",
                        );
                    }
                    let part = Self::number_of(&steps, width).map(|w| (w as u32 * width, (w as u32 + 1) * width));
                    let (from, to) = part.unwrap_or((0, all));
                    p.reads.push((s, from, to, e));
                    self.rtl.read(s)
                }
                _ => return Ok(self.rtl.free(width)),
            },
        };
        Ok(self.chosen(node, &steps))
    }

    /// Returns the word that the steps select.
    fn chosen(&mut self, node: NodeId, steps: &[Step]) -> NodeId {
        let Some((&(at, count, stride), rest)) = steps.split_first() else { return node };
        match at {
            WordAt::Constant(i) => match u32::try_from(i).ok().filter(|i| *i < count) {
                Some(i) => {
                    let part = self.rtl.slice(node, i * stride, stride);
                    self.chosen(part, rest)
                }
                None => {
                    let free = self.rtl.free(stride);
                    self.chosen(free, rest)
                }
            },
            WordAt::Dynamic(addr) => {
                let parts = self.rtl.split(node, stride, count);
                let words = parts.into_iter().map(|part| self.chosen(part, rest)).collect();
                self.rtl.choose(words, addr)
            }
        }
    }

    /// Reads a word of a memory that is a look-up table.
    fn table_word(&mut self, e: ExprId, id: usize, steps: &[Step]) -> Result<NodeId> {
        let Memory { words, width, .. } = &self.memories[id];
        let width = *width;
        if words.iter().all(Option::is_none) {
            return self.fail(e, "a memory that nothing fills");
        }
        if let [(WordAt::Dynamic(addr), ..)] = steps {
            // Words that were never written are undefined, so the table ends after the last written word.
            let filled = words.iter().rposition(Option::is_some).map_or(0, |i| i + 1);
            if words[..filled].iter().all(Option::is_some) {
                let entries: Vec<BigUint> = words[..filled].iter().flatten().cloned().collect();
                let undefined = &self.memories[id].undefined;
                let masks = (0..filled).map(|word| undefined.get(&word).cloned().unwrap_or_default());
                let masks = (!undefined.is_empty()).then(|| Arc::new(masks.collect::<Vec<BigUint>>()));
                let missing = self.rtl.free(width);
                let value = self.rtl.table(Arc::new(entries), *addr, missing);
                return Ok(match masks {
                    None => value,
                    Some(masks) => {
                        let (missing, free) = (self.rtl.number(0, width), self.rtl.free(width));
                        let mask = self.rtl.table(masks, *addr, missing);
                        let bits = self.rtl.binary(Binary::And, mask, free);
                        self.rtl.binary(Binary::Or, value, bits)
                    }
                });
            }
        }
        if let Some(word) = Self::number_of(steps, width) {
            return Ok(self.known_word(id, word));
        }
        if words.len() as u64 * u64::from(width) > MAX_HELD {
            return self.fail(e, "a table of more than 2^20 bits with gaps or several dimensions");
        }
        let all = self.known_words(id);
        Ok(self.chosen(all, steps))
    }

    /// Returns all words as constants, concatenated; words that were never written are undefined.
    fn known_words(&mut self, id: usize) -> NodeId {
        let nodes: Vec<NodeId> = (0..self.memories[id].words.len()).map(|word| self.known_word(id, word)).collect();
        self.rtl.concat(&nodes)
    }

    /// Returns a word as a constant; undefined if it was never written.
    fn known_word(&mut self, id: usize, word: usize) -> NodeId {
        let Memory { words, undefined, width, .. } = &self.memories[id];
        match (&words[word], undefined.get(&word)) {
            (None, _) => self.rtl.free(*width),
            (Some(value), None) => self.rtl.constant(value.clone(), *width),
            (Some(value), Some(undefined)) => self.rtl.constant_with_undefined(value, undefined, *width),
        }
    }

    /// Returns the target of an assignment to a word, or to the part of the word that `select` denotes.
    pub(super) fn word_target(
        &mut self,
        p: &mut Process,
        e: ExprId,
        (id, bounds, addresses): (usize, Bounds, &[ExprId]),
        select: Option<ExprId>,
    ) -> Result<Target> {
        let steps = self.steps(p, id, addresses)?;
        let whole = bounds.width();
        let outside = steps.iter().any(|&(at, count, _)| match at {
            WordAt::Constant(i) => !(0..i64::from(count)).contains(&i),
            WordAt::Dynamic(_) => false,
        });
        if outside {
            return self.fail(e, "an address outside the memory");
        }
        let held = self.memories[id].held;
        if p.kind == Kind::Constant && !matches!(held, Some(Place::Variable(_))) {
            let Some(word) = Self::number_of(&steps, whole).filter(|_| select.is_none()) else {
                return self.fail(e, "an initial block fills whole words at constant addresses");
            };
            let what = Place::Word(id, word as u32);
            return Ok(Target { what, width: whole, lo: Some(0), dynamic: None, whole, steps: Vec::new() });
        }
        let Some(what) = held else { return self.fail(e, "a memory that cannot be written here") };
        let (lo, dynamic, width) = match select {
            None => (Some(0), None, whole),
            Some(select) => match self.select(p, select, bounds)? {
                (BitPosition::Constant(lo), width) => match u32::try_from(lo).ok().filter(|lo| lo + width <= whole) {
                    Some(lo) => (Some(lo), None, width),
                    None => return self.fail(e, "an assignment to bits outside the vector"),
                },
                (BitPosition::Dynamic(node, negative), width) => (None, Some((node, negative)), width),
            },
        };
        // Constant addresses result in a constant bit position.
        if let (Some(word), Some(lo)) = (Self::number_of(&steps, whole), lo) {
            let all = self.memories[id].words.len() as u32 * whole;
            let lo = Some(word as u32 * whole + lo);
            return Ok(Target { what, width, lo, dynamic: None, whole: all, steps: Vec::new() });
        }
        Ok(Target { what, width, lo, dynamic, whole, steps })
    }

    /// Replaces bits of the word that the steps select with `node`; `t` is the range of these bits within the word.
    pub(super) fn rewritten(&mut self, before: NodeId, t: &Target, steps: &[Step], node: NodeId) -> NodeId {
        let Some((&(at, count, stride), rest)) = steps.split_first() else { return self.replaced(before, t, node) };
        let mut parts = Vec::with_capacity(count as usize);
        for (i, old) in (0..count).zip(self.rtl.split(before, stride, count)) {
            self.unassigned.note_part(&self.rtl, before, old);
            let hit = match at {
                WordAt::Constant(at) => self.rtl.number(u64::from(at == i64::from(i)), 1),
                WordAt::Dynamic(addr) => {
                    let width = self.rtl.width(addr);
                    if width < 32 && i >= 1 << width {
                        self.rtl.number(0, 1)
                    } else {
                        let number = self.rtl.number(i.into(), width);
                        self.rtl.compare(Compare::Equal, addr, number)
                    }
                }
            };
            let never = self.rtl.as_const(hit).is_some_and(|v| *v == BigUint::ZERO);
            let new = if never { old } else { self.rewritten(old, t, rest, node) };
            parts.push(self.rtl.mux(hit, new, old));
        }
        self.rtl.concat(&parts)
    }

    /// Stores a constant word from an `initial` block; its bits in `undefined` are undefined.
    pub(super) fn fill(&mut self, id: usize, word: u32, value: BigUint, undefined: BigUint) {
        let memory = &mut self.memories[id];
        memory.words[word as usize] = Some(value);
        memory.undefined.remove(&(word as usize));
        if undefined != BigUint::ZERO {
            memory.undefined.insert(word as usize, undefined);
        }
    }

    /// Executes `$readmemh` or `$readmemb` of an `initial` block (IEEE 1364-2005, section 17.2.9).
    pub(super) fn read_memory(&mut self, p: &mut Process, hex: bool, args: &[ExprId], at: u32) -> Result<()> {
        let task = if hex { "$readmemh" } else { "$readmemb" };
        let text = self.text;
        let fail = |message: String| Err(error(text, at, message));
        if p.kind != Kind::Constant || p.function || self.calls > 0 {
            return fail(format!("{task} outside of an initial block"));
        }
        let &[file, memory, ref range @ ..] = args else {
            return fail(format!("{task} takes a file, a memory and addresses"));
        };
        if range.len() > 2 {
            return fail(format!("{task} takes a file, a memory and addresses"));
        }
        let Some(Object::Memory { id, .. }) = self.object(p, memory)? else {
            return self.fail(memory, format!("{task} fills a memory"));
        };
        let Memory { dims, width, held, .. } = &self.memories[id];
        let (&[dim], width, held) = (&dims[..], *width, *held) else {
            return self.fail(memory, format!("{task} fills a memory of one dimension"));
        };
        if matches!(held, Some(Place::Variable(_))) {
            return self.fail(memory, format!("{task} fills a memory of the module"));
        }
        let name = self.constant(p.scope, file)?.to_bytes_be();
        let name: String = name.into_iter().filter(|&b| b != 0).map(char::from).collect();
        let addresses = range.iter().map(|&e| self.int(p.scope, e)).collect::<Result<Vec<i64>>>()?;
        let inside = |address: i64| (dim.lsb..=dim.msb).contains(&address);
        if let Some(outside) = addresses.iter().position(|&address| !inside(address)) {
            return self.fail(range[outside], "an address outside the memory");
        }
        let line = self.text.as_bytes()[..at as usize].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        let contents = (self.find)(line, &name).or_else(|message| self.fail(file, message))?;
        // Without addresses, the file starts at the lowest address.
        let start = addresses.first().copied().unwrap_or(dim.lsb);
        let end = addresses.get(1).copied().unwrap_or(dim.msb);
        let step = if end < start { -1 } else { 1 };
        let mut address = start;
        for word in data_words(&contents, hex, width) {
            self.step(file)?;
            match word.or_else(|(line, message)| self.fail(file, format!("{name}, line {line}: {message}")))? {
                DataWord::Address(to) if inside(to) => address = to,
                DataWord::Address(to) => {
                    return self.fail(file, format!("{name}: address {to:x} is outside the memory"));
                }
                // As in simulators, words after the last address are ignored.
                DataWord::Value(_) if (address - end) * step > 0 => {}
                DataWord::Value(value) => {
                    let memory = &mut self.memories[id];
                    memory.words[(address - dim.lsb) as usize] = value;
                    memory.undefined.remove(&((address - dim.lsb) as usize));
                    address += step;
                }
            }
        }
        Ok(())
    }

    /// Sets the power-on values of memories that are signals, from memory number `from` on.
    pub(super) fn initial_memories(&mut self, from: usize) {
        for id in from..self.memories.len() {
            let Memory { words, held: Some(Place::Signal(s)), .. } = &self.memories[id] else { continue };
            if words.iter().all(Option::is_none) {
                continue;
            }
            let s = *s;
            let init = self.known_words(id);
            self.rtl.signal_mut(s).init = Some(init);
        }
    }
}
