//! Program of a machine over several cycles: its present outputs as functions of earlier inputs of its pipelines.
//!
//! The program is built from `docs/fsm.md` like [`super::super::model`], connection by connection, but with operations
//! instead of gates.

use super::super::model::{reached, registers};
use super::Case;
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, Table, TableId, UnaryBits, ValueId};
use alir_core::num::{Code, Interval, Kif};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};

/// Question about the present cycle, answered by an output of the program.
#[derive(Clone, Debug)]
pub(super) enum FlowQuestion {
    /// Element of an output port.
    Output(SignalId, usize),
    /// Condition of a connection or register.
    Condition(Access),
    /// Bits of a register's element after the clock edge: `width` bits from `lo` on.
    Next { register: SignalId, element: usize, lo: u32, width: u32 },
    /// Constant, and its width in bits.
    Number(BigInt, u32),
}

/// Possible values of an element of a core register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Any raw integer value of its type.
    Whole,
    /// Free low bits (their number), extended by the sign (`true`) or by zeros.
    Low(u32, bool),
    /// Always this raw integer value.
    Is(BigInt),
}

impl Shape {
    /// Returns the number of free bits.
    pub(super) fn width(&self, kif: Kif) -> u32 {
        match self {
            Shape::Whole => kif.width(),
            Shape::Low(width, _) => *width,
            Shape::Is(_) => 0,
        }
    }
}

/// Input of the program: an element of a port or core register, some cycles ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Feed {
    pub(super) signal: SignalId,
    pub(super) element: usize,
    pub(super) back: u32,
}

/// Program with an output for each question with a defined answer.
pub(super) struct AnswerProgram {
    pub(super) model: Model,
    /// Inputs of the program. If an element of a signal in a cycle is an input, all elements of the signal in that
    /// cycle are.
    pub(super) feeds: Vec<Feed>,
    /// For each question, `true` if the machine defines the answer.
    pub(super) defined: Vec<bool>,
    /// Value of each operation of a block; `None` if the operation occurs several times.
    pub(super) operations: FxHashMap<(BlockId, ValueId), Option<ValueId>>,
}

/// Definedness of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Defined,
    Undefined,
    /// Defined for some inputs only.
    Mixed,
}

impl State {
    /// Returns the state of a value that needs both operands: defined if both are.
    fn and(self, other: State) -> State {
        match (self, other) {
            (State::Undefined, _) | (_, State::Undefined) => State::Undefined,
            (State::Defined, State::Defined) => State::Defined,
            _ => State::Mixed,
        }
    }

    /// Returns the state of a value that is one of the operands.
    fn or(self, other: State) -> State {
        if self == other { self } else { State::Mixed }
    }
}

#[derive(Clone, Copy, Debug)]
struct Value {
    id: ValueId,
    kif: Kif,
    state: State,
}

/// Largest number of operations of a program.
const MOST_OPERATIONS: usize = 2_000_000;

/// Builds the program for some questions.
///
/// # Errors
/// The reason why there is no program: it would be too large, or an answer is defined for some inputs only.
pub(super) fn program(
    machine: &Machine,
    piped: &[bool],
    case: Case,
    shape: &dyn Fn(SignalId, usize) -> Shape,
    asked: &[FlowQuestion],
) -> Result<AnswerProgram, String> {
    let mut maker = Maker {
        machine,
        piped,
        case,
        shape,
        driven: driven(machine),
        needed: Vec::new(),
        nodes: Vec::new(),
        tables: Vec::new(),
        first_table: FxHashMap::default(),
        feeds: Vec::new(),
        operations: FxHashMap::default(),
        now: FxHashMap::default(),
        zero: None,
    };
    maker.mark(asked);
    maker.run()?;
    let mut outputs = Vec::new();
    let mut defined = Vec::new();
    for question in asked {
        let value = maker.answer(question);
        if value.state == State::Mixed {
            return Err("whether an output is defined depends on inputs".into());
        }
        defined.push(value.state == State::Defined);
        if value.state == State::Defined {
            outputs.push(Output { source: Some(value.id), shift: 0, neg: false });
        }
    }
    let Maker { nodes, tables, feeds, operations, .. } = maker;
    let mut builder = Builder::new(vec![0; feeds.len()]);
    builder.limits(Limits::derived()).reserve(nodes.len());
    nodes.into_iter().for_each(|node| {
        builder.push(node);
    });
    tables.into_iter().for_each(|table| {
        builder.table(table);
    });
    outputs.into_iter().for_each(|output| {
        builder.output(output);
    });
    let model = builder.finish().map_err(|_| "it is no program".to_owned())?;
    Ok(AnswerProgram { model, feeds, defined, operations })
}

struct Maker<'a> {
    machine: &'a Machine,
    piped: &'a [bool],
    case: Case,
    shape: &'a dyn Fn(SignalId, usize) -> Shape,
    /// Connections that drive each signal, by index.
    driven: Vec<Vec<usize>>,
    /// Signals that are needed in each cycle.
    needed: Vec<FxHashSet<SignalId>>,
    nodes: Vec<Node>,
    tables: Vec<Table>,
    first_table: FxHashMap<BlockId, u32>,
    feeds: Vec<Feed>,
    operations: FxHashMap<(BlockId, ValueId), Option<ValueId>>,
    /// Values in the cycle that is being computed.
    now: FxHashMap<SignalId, Vec<Value>>,
    zero: Option<ValueId>,
}

/// Returns the indices of the connections that drive each signal.
pub(super) fn driven(machine: &Machine) -> Vec<Vec<usize>> {
    let mut driven = vec![Vec::new(); machine.signals().len()];
    for (c, connection) in machine.connections().iter().enumerate() {
        driven[connection.dst.signal.index()].push(c);
    }
    driven
}

/// Visits the signal of an access and the signals of its dynamic indices.
pub(super) fn each(access: &Access, visit: &mut dyn FnMut(SignalId)) {
    let mut next = Some(access);
    while let Some(access) = next {
        visit(access.signal);
        next = access.dynamic.as_ref().map(|(index, _)| &**index);
    }
}

impl Maker<'_> {
    /// Determines the signals that are needed in each cycle.
    fn mark(&mut self, asked: &[FlowQuestion]) {
        let machine = self.machine;
        let mut open: Vec<(SignalId, u32)> = Vec::new();
        for question in asked {
            match question {
                FlowQuestion::Output(port, _) => open.push((*port, 0)),
                FlowQuestion::Condition(access) => each(access, &mut |s| open.push((s, 0))),
                FlowQuestion::Next { register, .. } => {
                    open.push((*register, 0));
                    for &c in &self.driven[register.index()] {
                        let connection = &machine.connections()[c];
                        self.reads(connection, true, &mut |s| open.push((s, 0)));
                    }
                    if let Some(when) = &machine.signal(*register).reset_if {
                        each(when, &mut |s| open.push((s, 0)));
                    }
                }
                FlowQuestion::Number(..) => {}
            }
        }
        while let Some((signal, k)) = open.pop() {
            if self.needed.len() <= k as usize {
                self.needed.resize_with(k as usize + 1, FxHashSet::default);
            }
            if !self.needed[k as usize].insert(signal) {
                continue;
            }
            let at = match machine.signal(signal).kind {
                SignalKind::Input => continue,
                SignalKind::Register if !self.piped[signal.index()] || k >= self.case.loads => continue,
                SignalKind::Register => k + 1,
                SignalKind::BlockOutput(b) => {
                    open.extend(machine.blocks()[b.index()].input.map(|s| (s, k)));
                    continue;
                }
                _ => k,
            };
            for &c in &self.driven[signal.index()] {
                let connection = &machine.connections()[c];
                self.reads(connection, connection.alternative.is_some(), &mut |s| open.push((s, at)));
            }
        }
    }

    /// Visits the signals that a connection reads, with or without its condition.
    fn reads(&self, connection: &Connection, condition: bool, visit: &mut dyn FnMut(SignalId)) {
        let condition = connection.enable_if.as_ref().filter(|_| condition);
        for access in [Some(&connection.src), connection.alternative.as_ref(), condition].into_iter().flatten() {
            each(access, visit);
        }
        if let Some((index, _)) = &connection.dst.dynamic {
            each(index, visit);
        }
    }

    /// Computes all cycles, the earliest first.
    fn run(&mut self) -> Result<(), String> {
        let machine = self.machine;
        let mut loaded: FxHashMap<SignalId, Vec<Value>> = FxHashMap::default();
        for k in (0..self.needed.len()).rev() {
            let mut needed: Vec<SignalId> = self.needed[k].iter().copied().collect();
            needed.sort_unstable();
            self.now.clear();
            for &id in &needed {
                let signal = machine.signal(id);
                let values = match signal.kind {
                    SignalKind::Register if self.piped[id.index()] => match loaded.remove(&id) {
                        Some(values) => values,
                        None => self.started(id),
                    },
                    SignalKind::Input | SignalKind::Register => self.leaves(id, k as u32),
                    _ => vec![self.nothing(); signal.elements.len()],
                };
                self.now.insert(id, values);
            }
            for &settle in machine.order() {
                match settle {
                    Settle::Connection(c) => {
                        let connection = &machine.connections()[c];
                        let dst = &connection.dst;
                        if self.needed[k].contains(&dst.signal) {
                            let taken = self.chosen(connection);
                            if let Some(values) = self.now.get_mut(&dst.signal) {
                                values[dst.lo..dst.hi].copy_from_slice(&taken);
                            }
                        }
                    }
                    Settle::Block(b) => {
                        let output = machine.blocks()[b.index()].output;
                        if output.is_some_and(|s| self.needed[k].contains(&s)) {
                            self.block(b);
                        }
                    }
                }
                if self.nodes.len() > MOST_OPERATIONS {
                    return Err("it takes too many operations".into());
                }
            }
            if k > 0 {
                loaded.clear();
                for id in registers(machine) {
                    if self.piped[id.index()] && self.needed[k - 1].contains(&id) && (k as u32) <= self.case.loads {
                        let mut values = vec![self.nothing(); machine.signal(id).elements.len()];
                        for c in self.driven[id.index()].clone() {
                            let connection = &machine.connections()[c];
                            let taken = self.chosen(connection);
                            values[connection.dst.lo..connection.dst.hi].copy_from_slice(&taken);
                        }
                        loaded.insert(id, values);
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, op: Op, interval: Interval) -> ValueId {
        let origin = self.nodes.len() as u32;
        self.nodes.push(Node { op, interval, latency: 0.0, cost: 0.0, origin });
        ValueId(origin)
    }

    /// Returns a defined zero without bits.
    fn nothing(&mut self) -> Value {
        let id = match self.zero {
            Some(id) => id,
            None => self.push(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0)),
        };
        self.zero = Some(id);
        Value { id, kif: Kif::ZERO, state: State::Defined }
    }

    fn number(&mut self, code: &BigInt, kif: Kif) -> Value {
        if kif.is_zero() {
            return self.nothing();
        }
        let id = self.push(Op::Const { value: Code::from(code.clone()) }, Interval::full(kif));
        Value { id, kif, state: State::Defined }
    }

    /// Returns the initial value of a pipeline register, by element.
    fn started(&mut self, id: SignalId) -> Vec<Value> {
        let signal = self.machine.signal(id);
        let value = |maker: &mut Self, (k, &kif): (usize, &Kif)| match &signal.reset_to {
            Some(to) => maker.number(&to[k], kif),
            None => Value { state: State::Undefined, ..maker.number(&BigInt::ZERO, kif) },
        };
        signal.elements.iter().enumerate().map(|element| value(self, element)).collect()
    }

    /// Returns the values of ports and core registers some cycles ago.
    fn leaves(&mut self, id: SignalId, back: u32) -> Vec<Value> {
        let signal = self.machine.signal(id);
        let is_register = signal.kind == SignalKind::Register;
        let mut values = Vec::new();
        for (element, &kif) in signal.elements.iter().enumerate() {
            let shape = if is_register { (self.shape)(id, element) } else { Shape::Whole };
            let own = match shape {
                _ if kif.is_zero() => Kif::ZERO,
                Shape::Whole => kif,
                Shape::Low(width, signed) => {
                    Kif { signed, int: width as i32 - i32::from(signed) - kif.frac, frac: kif.frac }
                }
                Shape::Is(code) => {
                    values.push(self.number(&code, kif));
                    continue;
                }
            };
            if own.is_zero() {
                values.push(self.number(&BigInt::ZERO, kif));
                continue;
            }
            let input = self.feeds.len() as u32;
            self.feeds.push(Feed { signal: id, element, back });
            let leaf = self.push(Op::Input { input }, Interval::full(own));
            let leaf = Value { id: leaf, kif: own, state: State::Defined };
            values.push(self.converted(leaf, 0, kif));
        }
        values
    }

    /// Returns a value times `2^shift`, wrapped to another type.
    fn converted(&mut self, x: Value, shift: i32, to: Kif) -> Value {
        if to.is_zero() {
            return Value { state: x.state, ..self.nothing() };
        }
        if shift == 0 && x.kif == to {
            return x;
        }
        let id = self.push(Op::Quantise { x: x.id, shift }, Interval::full(to));
        Value { id, kif: to, state: x.state }
    }

    /// Returns `if cond { yes } else { no }`, with both values in the same type.
    fn mux(&mut self, cond: Value, yes: Value, no: Value, kif: Kif) -> Value {
        let state = cond.state.and(yes.state.or(no.state));
        if yes.id == no.id {
            return Value { state, ..yes };
        }
        if kif.is_zero() {
            return Value { state, ..self.nothing() };
        }
        let op = Op::Mux { cond: cond.id, on_true: yes.id, on_false: no.id, shift: 0 };
        Value { id: self.push(op, Interval::full(kif)), kif, state }
    }

    /// Returns `yes` if the index has this value, otherwise `no`.
    fn at_index(&mut self, index: Value, value: usize, (yes, no): (Value, Value), kif: Kif) -> Value {
        let width = index.kif.width();
        if width < usize::BITS && value >> width != 0 {
            return no;
        }
        if width == 0 {
            return yes;
        }
        let away = BigInt::from(value);
        let shifted = if value == 0 {
            index.id
        } else {
            let range = Interval::full(index.kif);
            let moved = Interval::new(
                Code::from(range.min.to_big() - &away),
                Code::from(range.max.to_big() - &away),
                index.kif.frac,
            );
            self.push(Op::AddConst { x: index.id, value: Code::from(-away), shift: index.kif.frac }, moved)
        };
        let other = self.push(Op::Unary { op: UnaryBits::Any, x: shifted }, Interval::new(0, 1, 0));
        // The definedness of the index is checked once for all of its values.
        let other = Value { id: other, kif: Kif { signed: false, int: 1, frac: 0 }, state: State::Defined };
        self.mux(other, no, yes, kif)
    }

    fn read(&mut self, access: &Access) -> Vec<Value> {
        let values = self.now.get(&access.signal).cloned().unwrap_or_default();
        let Some((index, mult)) = &access.dynamic else { return values[access.lo..access.hi].to_vec() };
        let index = self.read(index)[0];
        let types = self.machine.types(access);
        let mut out = Vec::new();
        for (first, kif) in (access.lo..access.hi).zip(types.iter().copied()) {
            let mut found = self.number(&BigInt::ZERO, kif);
            for (i, at) in reached(first, *mult, values.len()) {
                let there = self.converted(values[at], 0, kif);
                found = if *mult == 0 { there } else { self.at_index(index, i, (there, found), kif) };
            }
            out.push(Value { state: found.state.and(index.state), ..found });
        }
        out
    }

    /// Returns the values of an access, converted to the types of another access.
    fn carried(&mut self, from: &Access, to: &Access) -> Vec<Value> {
        let values = self.read(from);
        let types = self.machine.types(to);
        values.into_iter().zip(types).map(|(x, &to)| self.converted(x, 0, to)).collect()
    }

    /// Returns the values that a connection transfers, according to its enable; the source if there is no alternative.
    fn chosen(&mut self, connection: &Connection) -> Vec<Value> {
        let Connection { src, dst, enable_if, alternative } = connection;
        let taken = self.carried(src, dst);
        let (Some(enable), Some(alternative)) = (enable_if, alternative) else { return taken };
        let enable = self.read(enable)[0];
        let other = self.carried(alternative, dst);
        let types = self.machine.types(dst);
        taken.iter().zip(&other).zip(types).map(|((&yes, &no), &kif)| self.mux(enable, yes, no, kif)).collect()
    }

    fn block(&mut self, id: BlockId) {
        let machine = self.machine;
        let block = &machine.blocks()[id.index()];
        let model = &block.model;
        let cells = block.input.map_or_else(Vec::new, |s| self.now.get(&s).cloned().unwrap_or_default());
        let mut state = State::Defined;
        let mut feeds = Vec::with_capacity(cells.len());
        for (cell, (&port, &shift)) in cells.into_iter().zip(model.input_kifs().iter().zip(model.inp_shifts())) {
            state = state.and(cell.state);
            feeds.push(self.converted(cell, shift, port));
        }
        let first_table = *self.first_table.entry(id).or_insert_with(|| {
            let first = self.tables.len() as u32;
            self.tables.extend_from_slice(model.tables());
            first
        });
        let mut map: Vec<ValueId> = Vec::with_capacity(model.nodes().len());
        for value in model.ids() {
            let node = model.node(value);
            let mut op = node.op.clone();
            op.map_operands(|v| map[v.index()]);
            let made = match op {
                Op::Input { input } => {
                    let x = feeds[input as usize];
                    match model.kif(value) == x.kif {
                        true => x.id,
                        false => self.push(Op::Quantise { x: x.id, shift: 0 }, node.interval.clone()),
                    }
                }
                Op::Lookup { x, table, base } => {
                    let table = TableId(table.0 + first_table);
                    self.push(Op::Lookup { x, table, base }, node.interval.clone())
                }
                op => self.push(op, node.interval.clone()),
            };
            self.operations.entry((id, value)).and_modify(|at| *at = None).or_insert(Some(made));
            map.push(made);
        }
        let Some(output) = block.output else { return };
        let mut values = Vec::new();
        for (j, out) in model.outputs().iter().enumerate() {
            let shown = match out.source {
                None => self.nothing(),
                Some(v) => {
                    let (mut id, mut kif) = (map[v.index()], model.kif(v));
                    if out.neg {
                        let negated = Interval::full(kif).negated();
                        kif = negated.kif();
                        id = self.push(Op::Neg { x: id }, negated);
                    }
                    self.converted(Value { id, kif, state }, out.shift, model.output_kif(j))
                }
            };
            let value = self.converted(shown, 0, machine.signal(output).elements[j]);
            values.push(Value { state, ..value });
        }
        self.now.insert(output, values);
    }

    /// Returns an element of a register after the clock edge: loaded or unchanged, then reset.
    fn next(&mut self, id: SignalId, element: usize) -> Value {
        let machine = self.machine;
        let signal = machine.signal(id);
        let kif = signal.elements[element];
        let mut value = self.now[&id][element];
        for c in self.driven[id.index()].clone() {
            let connection = &machine.connections()[c];
            value = self.load(connection, element, value, kif);
        }
        if let (Some(when), Some(to)) = (&signal.reset_if, &signal.reset_to) {
            let when = self.read(when)[0];
            let reset = self.number(&to[element], kif);
            value = self.mux(when, reset, value, kif);
        }
        value
    }

    fn load(&mut self, connection: &Connection, element: usize, old: Value, kif: Kif) -> Value {
        let dst = &connection.dst;
        let elements = self.machine.signal(dst.signal).elements.len();
        let taken = self.chosen(connection);
        let enable = connection.enable_if.as_ref().map(|e| self.read(e)[0]);
        let index = dst.dynamic.as_ref().map(|(index, mult)| (self.read(index)[0], *mult));
        let mut value = old;
        for (first, &new) in (dst.lo..dst.hi).zip(&taken) {
            let places: Vec<(usize, usize)> = match &index {
                None => vec![(0, first)],
                Some((_, mult)) => reached(first, *mult, elements).collect(),
            };
            for (i, _) in places.into_iter().filter(|&(_, at)| at == element) {
                let new = self.converted(new, 0, kif);
                let mut loaded = match enable {
                    Some(enable) if connection.alternative.is_none() => self.mux(enable, new, value, kif),
                    _ => new,
                };
                if let Some(enable) = enable {
                    loaded.state = loaded.state.and(enable.state);
                }
                value = match index {
                    Some((index, mult)) if mult != 0 => self.at_index(index, i, (loaded, value), kif),
                    _ => loaded,
                };
            }
        }
        if let Some((index, _)) = index
            && element >= dst.lo
        {
            value.state = value.state.and(index.state);
        }
        value
    }

    fn answer(&mut self, question: &FlowQuestion) -> Value {
        match question {
            FlowQuestion::Output(port, element) => {
                let kif = self.machine.signal(*port).elements[*element];
                self.converted(self.now[port][*element], 0, kif)
            }
            FlowQuestion::Condition(access) => {
                let bit = Kif { signed: false, int: 1, frac: 0 };
                let cond = self.read(access)[0];
                let (yes, no) = (self.number(&BigInt::from(1), bit), self.number(&BigInt::ZERO, bit));
                self.mux(cond, yes, no, bit)
            }
            FlowQuestion::Next { register, element, lo, width } => {
                let next = self.next(*register, *element);
                let kif = next.kif;
                if *lo == 0 && *width == kif.width() {
                    return next;
                }
                let part = kif.frac - *lo as i32;
                self.converted(next, 0, Kif { signed: false, int: *width as i32 - part, frac: part })
            }
            FlowQuestion::Number(value, width) => {
                self.number(value, Kif { signed: false, int: *width as i32, frac: 0 })
            }
        }
    }
}
