//! The RTL file over several cycles: its pipeline registers are unrolled; all other registers (core registers)
//! correspond to those of the machine.

use super::super::Pair;
use super::super::classes::Partition;
use super::super::model;
use super::super::port_pairs::key;
use super::program::{AnswerProgram, FlowQuestion, Shape};
use super::{Bit, Case, Control, Pipes, Start, graph};
use crate::port_roles::{Moments, PortRoles};
use alir_core::ir::ValueId;
use alir_core::ir::machine::{BlockId, SignalId, SignalKind};
use alir_core::num::wrap;
use alir_hdl::{self, Expr, NodeId, Rtl};
use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

/// Register bits by index: those of the machine by element, then those of the file, as in
/// [`super::super::classes::States`].
pub(super) struct Core {
    /// First bit of each element, for each signal of the machine; empty for signals that are not registers.
    first: Vec<Vec<usize>>,
    /// Number of bits of the machine.
    model: usize,
    /// Number of all bits.
    total: usize,
    /// Register, element and position of each bit of the machine.
    of: Vec<(SignalId, usize, u32)>,
    /// First bit of each register of the file.
    file: FxHashMap<alir_hdl::SignalId, usize>,
}

impl Core {
    pub(super) fn new(pair: &Pair<'_>) -> Core {
        let machine = pair.machine;
        let first = vec![Vec::new(); machine.signals().len()];
        let mut core = Core { first, model: 0, total: 0, of: Vec::new(), file: FxHashMap::default() };
        for id in model::registers(machine) {
            for (k, kif) in machine.signal(id).elements.iter().enumerate() {
                core.first[id.index()].push(core.of.len());
                core.of.extend((0..kif.width()).map(|b| (id, k, b)));
            }
        }
        core.model = core.of.len();
        core.total = core.model + pair.file.bits();
        let firsts = pair.file.first.iter().map(|first| core.model + first);
        core.file = pair.file.registers.iter().copied().zip(firsts).collect();
        core
    }

    /// Returns the number of bits of both sides.
    #[cfg(test)]
    pub(super) fn bits(&self) -> usize {
        self.total
    }

    /// Returns the index of an element's lowest bit; `None` if the element is not in a register or has no bits.
    pub(super) fn first_bit(&self, signal: SignalId, element: usize) -> Option<usize> {
        let first = *self.first[signal.index()].get(element)?;
        (self.of.get(first)?.1 == element && self.of[first].0 == signal).then_some(first)
    }

    /// Returns the number of bits of the machine's registers in `piped` that no register bit of the file equals.
    pub(super) fn alone(&self, partition: &Partition, piped: &[bool]) -> u32 {
        let mut held = vec![false; partition.classes()];
        held[partition.class(self.total) as usize] = true;
        (self.model..self.total).for_each(|bit| held[partition.class(bit) as usize] = true);
        let alone = |&bit: &usize| piped[self.of[bit].0.index()] && !held[partition.class(bit) as usize];
        (0..self.model).filter(alone).count() as u32
    }

    /// Removes the pipeline registers from the correspondence.
    pub(super) fn forget_pipes(&self, partition: &mut Partition, pair: &Pair<'_>, pipes: &Pipes, found: &Piped) {
        for bit in 0..self.model {
            if pipes.piped[self.of[bit].0.index()] {
                partition.isolate(bit);
            }
        }
        for (&id, &first) in pair.file.registers.iter().zip(&pair.file.first) {
            if found.registers.contains_key(&id) {
                let width = pair.file.rtl.signal(id).width as usize;
                (0..width).for_each(|b| partition.isolate(self.model + first + b));
            }
        }
    }

    /// Splits classes with bits of one side only, whose preservation is not compared.
    pub(super) fn one_sided(&self, partition: &mut Partition) {
        let mut sides = vec![(false, false); partition.classes()];
        for bit in 0..self.total {
            let side = &mut sides[partition.class(bit) as usize];
            if bit < self.model { side.0 = true } else { side.1 = true }
        }
        let constant = partition.class(self.total);
        for bit in 0..self.total {
            let class = partition.class(bit);
            if class != constant && sides.get(class as usize).is_some_and(|&(machine, file)| !machine || !file) {
                partition.isolate(bit);
            }
        }
    }

    /// Returns the first bit of the machine in each class.
    fn owners(&self, partition: &Partition) -> Vec<Option<usize>> {
        let mut owners = vec![None; partition.classes()];
        for bit in (0..self.model).rev() {
            owners[partition.class(bit) as usize] = Some(bit);
        }
        owners
    }

    /// Returns the possible values of an element of a core register, as far as a type can express them.
    pub(super) fn shape(&self, partition: &Partition, pair: &Pair<'_>, signal: SignalId, element: usize) -> Shape {
        let kif = pair.machine.signal(signal).elements[element];
        let width = kif.width() as usize;
        let Some(first) = self.first_bit(signal, element) else { return Shape::Whole };
        let constant = partition.class(self.total);
        let class = |b: usize| partition.class(first + b);
        let phase = |b: usize| partition.phase(first + b);
        let same = |b: usize, other: usize| class(b) == class(other) && phase(b) == phase(other);
        if (0..width).all(|b| class(b) == constant) {
            let mut code = BigInt::ZERO;
            (0..width).for_each(|b| code.set_bit(b as u64, phase(b)));
            return Shape::Is(wrap(&code, kif));
        }
        // Top bits that equal the bit below them, or are zero.
        let copies = (1..width).rev().take_while(|&b| same(b, b - 1)).count();
        if copies > 0 && class(width - 1) != constant {
            return Shape::Low((width - copies) as u32, true);
        }
        let zeros = (0..width).rev().take_while(|&b| class(b) == constant && !phase(b)).count();
        if zeros > 0 { Shape::Low((width - zeros) as u32, false) } else { Shape::Whole }
    }
}

/// Pipelines of the file.
pub(super) struct Piped {
    /// Registers of the pipelines.
    pub(super) registers: FxHashMap<alir_hdl::SignalId, Register>,
    /// Length of the longest chain of pipeline registers.
    pub(super) depth: u32,
}

/// A register of a pipeline.
pub(super) struct Register {
    /// Next value of each piece of the register.
    data: Vec<NodeId>,
    /// Value after a reset.
    reset: Option<BigUint>,
    /// Conditions that are assumed to be the machine's reset and enable, with `true` if active low.
    resets: Vec<(NodeId, bool)>,
    enables: Vec<(NodeId, bool)>,
}

/// Returns the register bit or port bit from which a bit of the file comes, and `true` if it is inverted.
fn traced(pair: &Pair<'_>, partition: &Partition, core: &Core, mut node: NodeId) -> Option<(Bit, bool)> {
    let rtl = pair.file.rtl;
    let (mut at, mut inverted) = (0, false);
    for _ in 0..rtl.len() {
        match rtl.expr(node) {
            Expr::Slice { x, lo } => (node, at) = (*x, at + lo),
            Expr::Not(x) => (node, inverted) = (*x, !inverted),
            Expr::Signal(s) => {
                let signal = rtl.signal(*s);
                if signal.input {
                    return pair.ports.inputs.get(s).map(|&port| (Bit::Port(port, at), inverted));
                }
                if !signal.registers.is_empty() {
                    let bit = core.file.get(s)? + at as usize;
                    return Some((Bit::State(partition.class(bit)), inverted != partition.phase(bit)));
                }
                let wire = signal.wires.iter().find(|(lo, n)| (*lo..lo + rtl.width(*n)).contains(&at))?;
                (node, at) = (wire.1, at - wire.0);
            }
            Expr::Concat(parts) => {
                let mut found = None;
                let mut lo = 0;
                for &part in parts.iter() {
                    if (lo..lo + rtl.width(part)).contains(&at) {
                        found = Some((part, at - lo));
                    }
                    lo += rtl.width(part);
                }
                (node, at) = found?;
            }
            _ => return None,
        }
    }
    None
}

/// Returns the pipelines of the file with the same control as those of the machine.
pub(super) fn piped(pair: &Pair<'_>, partition: &Partition, core: &Core, pipes: &Pipes) -> Piped {
    let rtl = pair.file.rtl;
    let mut found = Piped { registers: FxHashMap::default(), depth: 0 };
    for &id in &pair.file.registers {
        if let Some(register) = register(pair, partition, core, pipes.control, id) {
            found.registers.insert(id, register);
        }
    }
    let cyclic = graph::on_cycles(rtl.len(), |v, out| {
        successors(rtl, &found, NodeId(v as u32), &mut |w, _| out.push(w.0 as usize));
    });
    found.registers.retain(|&id, _| !cyclic[rtl.read(id).0 as usize]);
    found.depth = graph::longest(rtl.len(), |v, out| {
        successors(rtl, &found, NodeId(v as u32), &mut |w, steps| out.push((w.0 as usize, steps)));
    });
    found
}

/// Visits the operands of an expression in the same cycle, or those of a pipeline register in the previous cycle.
fn successors(rtl: &Rtl, found: &Piped, node: NodeId, visit: &mut dyn FnMut(NodeId, u32)) {
    let Expr::Signal(id) = rtl.expr(node) else {
        return alir_hdl::operands(rtl.expr(node), &mut |&n| visit(n, 0));
    };
    if let Some(register) = found.registers.get(id) {
        return register.data.iter().for_each(|&n| visit(n, 1));
    }
    let signal = rtl.signal(*id);
    if signal.registers.is_empty() {
        signal.wires.iter().for_each(|&(_, n)| visit(n, 0));
    }
}

/// Returns a register as a pipeline register; `None` if it has another control.
fn register(
    pair: &Pair<'_>,
    partition: &Partition,
    core: &Core,
    control: Control,
    id: alir_hdl::SignalId,
) -> Option<Register> {
    let rtl = pair.file.rtl;
    let signal = rtl.signal(id);
    let whole: u32 = signal.registers.iter().map(|r| rtl.width(r.next)).sum();
    if whole != signal.width {
        return None;
    }
    let mut found = Register { data: Vec::new(), reset: None, resets: Vec::new(), enables: Vec::new() };
    let mut reset = BigUint::ZERO;
    for piece in &signal.registers {
        let mut next = piece.next;
        if let Some(when) = control.reset {
            let (cond, yes, no) = chosen(pair, partition, core, next, when)?;
            reset |= rtl.as_const(yes)? << piece.lo;
            found.resets.push(cond);
            next = no;
        }
        if let Some(when) = control.enable {
            let (cond, yes, no) = chosen(pair, partition, core, next, when)?;
            if !shows(rtl, no, id, piece.lo, rtl.width(piece.next)) {
                return None;
            }
            found.enables.push(cond);
            next = yes;
        }
        found.data.push(next);
    }
    found.reset = control.reset.map(|_| reset);
    Some(found)
}

/// Returns the parts of a multiplexer: the condition, `true` if it is active low, the value if active, and the other
/// value.
fn chosen(
    pair: &Pair<'_>,
    partition: &Partition,
    core: &Core,
    node: NodeId,
    when: (Bit, bool),
) -> Option<((NodeId, bool), NodeId, NodeId)> {
    let Expr::Mux(cond, yes, no) = pair.file.rtl.expr(node) else { return None };
    let (bit, inverted) = traced(pair, partition, core, *cond)?;
    if bit != when.0 {
        return None;
    }
    Some(if inverted == when.1 { ((*cond, false), *yes, *no) } else { ((*cond, true), *no, *yes) })
}

/// Returns `true` if an expression is a register's bits without change.
fn shows(rtl: &Rtl, node: NodeId, id: alir_hdl::SignalId, lo: u32, width: u32) -> bool {
    let own = rtl.read(id);
    match rtl.expr(node) {
        Expr::Signal(s) => *s == id && lo == 0 && rtl.signal(id).width == width,
        Expr::Slice { x, lo: from } => *x == own && *from == lo,
        _ => false,
    }
}

/// A comparison: a query about the machine, and a signal of the design that must equal its result.
pub(super) struct Compared {
    pub(super) asked: FlowQuestion,
    signal: alir_hdl::SignalId,
    /// Register bits that correspond if the comparison holds.
    pub(super) bits: Vec<usize>,
}

/// The RTL file with core registers as inputs, and a signal for each comparison.
pub(super) struct CutFile<'a> {
    rtl: Rtl,
    core: &'a Core,
    found: &'a Piped,
    /// Input for each element of a core register.
    shown: FxHashMap<(SignalId, usize), alir_hdl::SignalId>,
    pub(super) compared: Vec<Compared>,
}

struct Maker<'a> {
    pair: &'a Pair<'a>,
    partition: &'a Partition,
    core: &'a Core,
    pipes: &'a Pipes,
    owners: Vec<Option<usize>>,
    rtl: Rtl,
    shown: FxHashMap<(SignalId, usize), alir_hdl::SignalId>,
    compared: Vec<Compared>,
}

impl<'a> CutFile<'a> {
    pub(super) fn new(
        pair: &Pair<'_>,
        partition: &Partition,
        core: &'a Core,
        pipes: &Pipes,
        found: &'a Piped,
    ) -> CutFile<'a> {
        let owners = core.owners(partition);
        let (rtl, shown) = (pair.file.rtl.clone(), FxHashMap::default());
        let mut maker = Maker { pair, partition, core, pipes, owners, rtl, shown, compared: Vec::new() };
        maker.registers(found);
        maker.outputs();
        maker.conditions(found);
        maker.next(found);
        let Maker { rtl, shown, compared, .. } = maker;
        CutFile { rtl, core, found, shown, compared }
    }

    /// Returns the design for one case and its ports. Signals that may equal an operation of the program are named
    /// after it.
    pub(super) fn instance(
        &self,
        pair: &Pair<'_>,
        program: &AnswerProgram,
        case: Case,
        outputs: &[usize],
    ) -> (Rtl, PortRoles) {
        let mut rtl = self.rtl.clone();
        let blocks: FxHashMap<String, BlockId> =
            (0..).zip(pair.machine.blocks()).map(|(i, b)| (key(&b.name), BlockId(i))).collect();
        for id in (0..rtl.signals().len() as u32).map(alir_hdl::SignalId) {
            let signal = rtl.signal_mut(id);
            let hint = operation(&signal.name, &blocks).and_then(|op| program.operations.get(&op).copied().flatten());
            signal.name = match hint {
                Some(value) => format!("v{}", value.0),
                None => format!("file_{}", signal.name.replace('.', "_")),
            };
        }
        let mut moments =
            Moments { back: program.feeds.iter().map(|f| f.back).collect(), depth: case.loads, ..Moments::default() };
        for (&id, register) in &self.found.registers {
            let known = match case.start {
                Start::Reset => register.reset.clone(),
                Start::PowerOn => {
                    let first = self.core.file[&id] - self.core.model;
                    let bits = &pair.file.power_on[first..first + rtl.signal(id).width as usize];
                    let bits: Option<Vec<bool>> = bits.iter().copied().collect();
                    bits.map(|bits| {
                        let mut value = BigUint::ZERO;
                        bits.iter().enumerate().for_each(|(i, &bit)| value.set_bit(i as u64, bit));
                        value
                    })
                }
            };
            moments.before.extend(known.map(|value| (id, value)));
        }
        let there: FxHashMap<SignalId, alir_hdl::SignalId> = pair.ports.inputs.iter().map(|(&f, &m)| (m, f)).collect();
        let place = |feed: &super::program::Feed| {
            let signal = pair.machine.signal(feed.signal);
            if signal.kind == SignalKind::Register {
                return self.shown.get(&(feed.signal, feed.element)).map(|&port| (port, 0));
            }
            let lo = signal.elements[..feed.element].iter().map(|kif| kif.width()).sum();
            there.get(&feed.signal).map(|&port| (port, lo))
        };
        let ports = PortRoles {
            inputs: program.feeds.iter().map(place).collect(),
            outputs: outputs.iter().map(|&at| Some((self.compared[at].signal, 0))).collect(),
            clock: None,
            reset: None,
            reset_low: false,
            enable: None,
            valid: None,
            ready: None,
            phases: None,
            beats: Vec::new(),
            hold: 1,
            moments: Some(moments),
        };
        (rtl, ports)
    }
}

/// Returns the operation in a name: operation 17 of block `mac` is `mac_v17`, or `mac_s2_v17` in the module of a stage.
fn operation(name: &str, blocks: &FxHashMap<String, BlockId>) -> Option<(BlockId, ValueId)> {
    let lower = name.rsplit('.').next()?.to_ascii_lowercase();
    let (block, number) = lower.rsplit_once("_v")?;
    let number = number.parse().ok()?;
    let whole = blocks.get(&key(block));
    let of_stage = || {
        let (name, stage) = block.rsplit_once("_s")?;
        stage.bytes().all(|b| b.is_ascii_digit()).then(|| blocks.get(&key(name)))?
    };
    Some((*whole.or_else(of_stage)?, ValueId(number)))
}

/// A bit of the file: of a node, or a constant.
#[derive(Clone, Copy)]
enum Piece {
    Of(NodeId, u32, bool),
    Constant(bool),
}

impl Maker<'_> {
    /// Makes pipeline registers load in every cycle, and replaces all other registers with inputs, constants, or free
    /// values.
    fn registers(&mut self, found: &Piped) {
        let file = self.pair.file;
        for (&id, &first) in file.registers.iter().zip(&file.first) {
            if let Some(register) = found.registers.get(&id) {
                for (piece, &data) in self.rtl.signal_mut(id).registers.iter_mut().zip(&register.data) {
                    piece.next = data;
                }
                continue;
            }
            let width = self.rtl.signal(id).width as usize;
            let pieces: Vec<Piece> = (0..width).map(|b| self.leaf(self.core.model + first + b)).collect();
            let word = self.joined(&pieces);
            let signal = self.rtl.signal_mut(id);
            signal.registers.clear();
            signal.init = None;
            signal.wires = vec![(0, word)];
        }
    }

    /// Returns the value of a core register's bit of the file: the machine's bit, a constant, or a free input.
    fn leaf(&mut self, bit: usize) -> Piece {
        let class = self.partition.class(bit);
        let phase = self.partition.phase(bit);
        if class == self.partition.class(self.core.total) {
            return Piece::Constant(phase);
        }
        let Some(owner) = self.owners[class as usize] else { return Piece::Of(self.rtl.free(1), 0, false) };
        let (register, element, b) = self.core.of[owner];
        let shape = self.core.shape(self.partition, self.pair, register, element);
        let width = shape.width(self.pair.machine.signal(register).elements[element]);
        if b >= width {
            return Piece::Of(self.rtl.free(1), 0, false);
        }
        let signal = match self.shown.get(&(register, element)) {
            Some(&known) => known,
            None => {
                let new = self.rtl.add_signal(format!("core_{}_{element}", register.0), width, 0);
                self.rtl.signal_mut(new).input = true;
                self.shown.insert((register, element), new);
                new
            }
        };
        Piece::Of(self.rtl.read(signal), b, phase != self.partition.phase(owner))
    }

    /// Concatenates bits; consecutive bits of one node become one slice.
    fn joined(&mut self, pieces: &[Piece]) -> NodeId {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < pieces.len() {
            let mut end = at + 1;
            match pieces[at] {
                Piece::Constant(value) => parts.push(self.rtl.number(u64::from(value), 1)),
                Piece::Of(node, lo, inverted) => {
                    while let Some(&Piece::Of(n, b, i)) = pieces.get(end) {
                        if (n, b, i) != (node, lo + (end - at) as u32, inverted) {
                            break;
                        }
                        end += 1;
                    }
                    let part = self.rtl.slice(node, lo, (end - at) as u32);
                    parts.push(if inverted { self.rtl.not(part) } else { part });
                }
            }
            at = end;
        }
        self.rtl.concat(&parts)
    }

    fn compare(&mut self, asked: FlowQuestion, node: NodeId, bits: Vec<usize>) {
        let width = self.rtl.width(node);
        let signal = self.rtl.add_signal(format!("compared_{}", self.compared.len()), width, 0);
        self.rtl.signal_mut(signal).wires.push((0, node));
        self.compared.push(Compared { asked, signal, bits });
    }

    fn outputs(&mut self) {
        for port in self.pair.machine.outputs() {
            let Some(&there) = self.pair.ports.outputs.get(&port) else { continue };
            let mut lo = 0;
            for (element, kif) in self.pair.machine.signal(port).elements.iter().enumerate() {
                let width = kif.width();
                if width > 0 {
                    let whole = self.rtl.read(there);
                    let node = self.rtl.slice(whole, lo, width);
                    self.compare(FlowQuestion::Output(port, element), node, Vec::new());
                }
                lo += width;
            }
        }
    }

    /// Adds comparisons of all conditions that are assumed to be the machine's reset or enable.
    fn conditions(&mut self, found: &Piped) {
        let pipes = self.pipes;
        for (access, resets) in [(&pipes.reset, true), (&pipes.enable, false)] {
            let Some(access) = access else { continue };
            let all = found.registers.values().flat_map(|r| if resets { &r.resets } else { &r.enables });
            let mut all: Vec<(NodeId, bool)> = all.copied().collect();
            all.sort_unstable();
            all.dedup();
            for (node, inverted) in all {
                let node = if inverted { self.rtl.not(node) } else { node };
                self.compare(FlowQuestion::Condition(access.clone()), node, Vec::new());
            }
        }
    }

    /// Adds comparisons of the core registers after the clock edge.
    fn next(&mut self, found: &Piped) {
        let file = self.pair.file;
        let base = self.core.model;
        // Next value of each bit of the file's core registers.
        let mut becomes: FxHashMap<usize, (NodeId, u32)> = FxHashMap::default();
        for (&id, &first) in file.registers.iter().zip(&file.first) {
            if found.registers.contains_key(&id) {
                continue;
            }
            let own = self.rtl.read(id);
            let width = file.rtl.signal(id).width;
            for b in 0..width {
                becomes.insert(base + first + b as usize, (own, b));
            }
            for piece in &file.rtl.signal(id).registers {
                for b in 0..file.rtl.width(piece.next) {
                    becomes.insert(base + first + (piece.lo + b) as usize, (piece.next, b));
                }
            }
        }
        let mut holders: Vec<Vec<usize>> = vec![Vec::new(); self.partition.classes()];
        for bit in base..self.core.total {
            if becomes.contains_key(&bit) {
                holders[self.partition.class(bit) as usize].push(bit);
            }
        }
        let constant = self.partition.class(self.core.total);
        let mut used = vec![false; self.core.total];
        for id in model::registers(self.pair.machine).filter(|id| !self.pipes.piped[id.index()]) {
            for (element, kif) in self.pair.machine.signal(id).elements.iter().enumerate() {
                let Some(first) = self.core.first_bit(id, element) else { continue };
                self.element((id, element, first, kif.width()), &holders, &becomes, constant, &mut used);
            }
        }
        // Compares the bits of the file that are not compared yet: constants, and further bits of the same class.
        let mut at = base;
        while at < self.core.total {
            let Some(&(node, lo)) = becomes.get(&at).filter(|_| !used[at]) else {
                at += 1;
                continue;
            };
            let class = self.partition.class(at);
            if class == constant {
                let mut end = at + 1;
                let mut value = BigInt::from(u8::from(self.partition.phase(at)));
                while end < self.core.total
                    && !used[end]
                    && self.partition.class(end) == constant
                    && becomes.get(&end) == Some(&(node, lo + (end - at) as u32))
                {
                    value.set_bit((end - at) as u64, self.partition.phase(end));
                    end += 1;
                }
                let width = (end - at) as u32;
                let word = self.rtl.slice(node, lo, width);
                self.compare(FlowQuestion::Number(value, width), word, (at..end).collect());
                at = end;
                continue;
            }
            if let Some(owner) = self.owners[class as usize] {
                let (register, element, b) = self.core.of[owner];
                let inverted = self.partition.phase(at) != self.partition.phase(owner);
                let bit = self.joined(&[Piece::Of(node, lo, inverted)]);
                self.compare(FlowQuestion::Next { register, element, lo: b, width: 1 }, bit, vec![at, owner]);
            }
            at += 1;
        }
    }

    /// Adds the comparison of an element of a core register of the machine.
    fn element(
        &mut self,
        (register, element, first, width): (SignalId, usize, usize, u32),
        holders: &[Vec<usize>],
        becomes: &FxHashMap<usize, (NodeId, u32)>,
        constant: u32,
        used: &mut [bool],
    ) {
        // Next value of each bit, from a bit of the file. Consecutive bits of the file are preferred, as they form one
        // slice.
        let mut pieces: Vec<Option<(Piece, Option<usize>)>> = Vec::new();
        for bit in first..first + width as usize {
            let (class, phase) = (self.partition.class(bit), self.partition.phase(bit));
            if class == constant {
                pieces.push(Some((Piece::Constant(phase), None)));
                continue;
            }
            let after = pieces.last().copied().flatten().and_then(|(_, held)| held).map(|held| held + 1);
            let all = &holders[class as usize];
            let held = after.filter(|next| all.contains(next)).or(all.first().copied());
            pieces.push(held.map(|held| {
                // The other bits of the class are compared with its first bit.
                used[held] |= self.owners[class as usize] == Some(bit);
                let (node, lo) = becomes[&held];
                (Piece::Of(node, lo, self.partition.phase(held) != phase), Some(held))
            }));
        }
        let mut at = 0;
        while at < pieces.len() {
            let end = at + pieces[at..].iter().take_while(|p| p.is_some()).count();
            if end == at {
                at += 1;
                continue;
            }
            let run: Vec<Piece> = pieces[at..end].iter().flatten().map(|p| p.0).collect();
            let node = self.sign_extended(&run);
            let mut bits: Vec<usize> = pieces[at..end].iter().flatten().filter_map(|p| p.1).collect();
            bits.extend(first + at..first + end);
            let asked = FlowQuestion::Next { register, element, lo: at as u32, width: (end - at) as u32 };
            self.compare(asked, node, bits);
            at = end;
        }
    }

    /// Concatenates bits; equal bits at the top become a sign extension.
    fn sign_extended(&mut self, pieces: &[Piece]) -> NodeId {
        let same = |a: &Piece, b: &Piece| match (a, b) {
            (Piece::Of(n, i, x), Piece::Of(m, j, y)) => (n, i, x) == (m, j, y),
            _ => false,
        };
        let copies = (1..pieces.len()).rev().take_while(|&i| same(&pieces[i], &pieces[i - 1])).count();
        let low = self.joined(&pieces[..pieces.len() - copies]);
        if copies == 0 { low } else { self.rtl.resize(low, pieces.len() as u32, true) }
    }
}
