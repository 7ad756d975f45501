//! Processes: clock edges, resets, registers, and the detection of latches.

use super::super::syntax::{Class, Decl, Expr, Kind, Statement, Waits};
use super::{Bounds, Data, Elab, Kept, Named, Result, Run, Slot, State, StoredValue, Type, TypeOf, Value};
use crate::source::error;
use crate::{NodeId, SignalId};
use rustc_hash::FxHashSet;

impl<'a> Elab<'a> {
    pub(super) fn process(
        &mut self,
        scope: usize,
        waits: &'a Waits,
        decls: &'a [Decl],
        body: &'a [Statement],
        at: u32,
    ) -> Result<()> {
        let inner = self.scope(Some(scope), self.scopes[scope].path.clone());
        self.locals(inner, decls, &mut State::new(), true)?;
        let new = |clocked: bool| Run::new(inner, clocked);
        if let (Waits::Inside, [Statement::Wait(cond), rest @ ..]) = (waits, body) {
            let Some((clock, rising, enable)) = self.edge(inner, cond)? else {
                return self.fail(cond.at, "the only supported wait is for a clock edge");
            };
            let mut run = new(true);
            self.enabled(&mut run, enable, rest, at)?;
            self.registers(run.state, Vec::new(), clock, rising, at)?;
            self.kept.clear();
            return Ok(());
        }
        if matches!(waits, Waits::Inside) {
            return self.fail(at, "a process without a sensitivity list or wait");
        }
        // if rst = '1' then ... elsif rising_edge(clk) then ... end if;
        let mut edge = None;
        if let [Statement::If(branches, otherwise)] = body {
            for (i, (cond, _)) in branches.iter().enumerate() {
                if let Some((clock, rising, rest)) = self.edge(inner, cond)? {
                    edge = Some((i, clock, rising, rest));
                    if i + 1 != branches.len() || !otherwise.is_empty() {
                        return self.fail(cond.at, "a clocked process must end after the branch of the clock edge");
                    }
                }
            }
            if let Some((i, clock, rising, enable)) = edge {
                let mut resets = Vec::new();
                self.reads = vec![(clock, at)];
                for (cond, body) in &branches[..i] {
                    let mut run = new(true);
                    let node = self.condition(&mut run, cond)?;
                    let asked = std::mem::take(&mut self.reads);
                    self.statements(&mut run, body)?;
                    self.reads = asked;
                    resets.push((node, run.state));
                }
                self.check_waits(inner, waits)?;
                let mut run = new(true);
                self.enabled(&mut run, enable, &branches[i].1, at)?;
                self.registers(run.state, resets, clock, rising, at)?;
                self.kept.clear();
                return Ok(());
            }
        }
        let mut run = new(false);
        self.reads.clear();
        self.statements(&mut run, body)?;
        self.check_waits(inner, waits)?;
        for (slot, data) in run.state {
            let (Slot::Signal(id), StoredValue::Node(node)) = (slot, data) else { continue };
            self.combinational(id, node, at)?;
        }
        Ok(())
    }

    /// Returns an error if the sensitivity list lacks a signal that the process reads.
    pub(super) fn check_waits(&mut self, scope: usize, waits: &'a Waits) -> Result<()> {
        let reads = std::mem::take(&mut self.reads);
        let Waits::List(list) = waits else { return Ok(()) };
        let mut run = self.constant_run(scope);
        for e in list {
            // Only a plain name makes the process sensitive to all bits of the signal.
            if let Kind::Name(_) = e.kind {
                self.value(&mut run, e, None)?;
            }
        }
        let listed: FxHashSet<SignalId> = std::mem::take(&mut self.reads).into_iter().map(|r| r.0).collect();
        match reads.iter().find(|r| !listed.contains(&r.0)) {
            None => Ok(()),
            Some(&(id, at)) => {
                let name = self.rtl.signal(id).name.clone();
                self.fail(at, format!("{name} is read, but not in the sensitivity list of the process"))
            }
        }
    }

    /// Executes statements at a clock edge, under the condition that is combined with the edge.
    pub(super) fn enabled(
        &mut self,
        run: &mut Run<'a>,
        enable: Option<&'a Expr>,
        body: &'a [Statement],
        at: u32,
    ) -> Result<()> {
        let Some(enable) = enable else { return self.statements(run, body) };
        let cond = self.condition(run, enable)?;
        let before = run.state.clone();
        self.statements(run, body)?;
        let after = std::mem::replace(&mut run.state, before);
        self.merge(run, cond, after, at)
    }

    /// Returns the register of a variable that the process reads before assigning it.
    pub(super) fn kept(&mut self, slot: u32) -> Option<SignalId> {
        let kept = self.kept.get(&slot)?;
        if kept.register.is_some() {
            return kept.register;
        }
        let (name, width, at, init) = (kept.name.clone(), kept.width, kept.at, kept.init);
        let id = self.rtl.add_signal(name, width, at);
        self.rtl.signal_mut(id).init = init;
        if let Some(kept) = self.kept.get_mut(&slot) {
            kept.register = Some(id);
        }
        Some(id)
    }

    /// Detects a clock edge: `rising_edge(clk)`, or `clk'event and clk = '1'`, either with a further condition after
    /// `and`.
    pub(super) fn edge(&mut self, scope: usize, cond: &'a Expr) -> Result<Option<(SignalId, bool, Option<&'a Expr>)>> {
        let signal = |s: &Self, e: &'a Expr| match &e.kind {
            Kind::Name(n) => match s.find(scope, n) {
                Some(Named::Signal { id, ty: Type::Bit, .. }) => Ok(*id),
                _ => Err(error(s.text, e.at, "a clock is a signal of one bit")),
            },
            _ => Err(error(s.text, e.at, "a clock is a signal by its name")),
        };
        match &cond.kind {
            Kind::Call(f, args) => match (&f.kind, &args[..]) {
                (Kind::Name(n), [arg]) if n == "rising_edge" || n == "falling_edge" => {
                    Ok(Some((signal(self, &arg.value)?, n == "rising_edge", None)))
                }
                _ => Ok(None),
            },
            Kind::Binary("and", a, b) => {
                if let Kind::Attribute(base, name) = &a.kind
                    && name == "event"
                {
                    let Kind::Binary("=", c, level) = &b.kind else {
                        return self.fail(b.at, "'event must be combined with the level of the clock");
                    };
                    let (id, same) = (signal(self, base)?, signal(self, c)?);
                    return match level.kind {
                        Kind::Bit(bit) if id == same && matches!(bit, '0' | '1') => Ok(Some((id, bit == '1', None))),
                        _ => self.fail(b.at, "'event must be combined with the level of the clock"),
                    };
                }
                match self.edge(scope, a)? {
                    Some((id, rising, None)) => Ok(Some((id, rising, Some(b)))),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// Elaborates the declarations of a function or process. Variables of a process keep their values between
    /// activations.
    pub(super) fn locals(&mut self, scope: usize, decls: &'a [Decl], state: &mut State, keep: bool) -> Result<()> {
        for d in decls {
            let Decl::Object(o) = d else {
                self.decls(scope, std::slice::from_ref(d))?;
                continue;
            };
            if o.class != Class::Variable {
                self.decls(scope, std::slice::from_ref(d))?;
                continue;
            }
            let TypeOf::Whole(ty, bounds) = self.type_of(scope, &o.ty)? else {
                return self.fail(o.at, "a variable needs a range");
            };
            let slot = self.variables;
            self.variables += 1;
            let first = match &o.value {
                Some(value) => Some(self.constant(scope, value, &TypeOf::Whole(ty.clone(), bounds))?),
                None => None,
            };
            let width = self.small_enough(&ty, bounds, o.at)?;
            if ty == Type::Integer {
                self.ranges.insert(slot, bounds);
            }
            match first {
                first if keep => {
                    let init = match first {
                        Some(v) => Some(self.encoded(&v, bounds, o.at)?),
                        None => self.first_of_signal(o, &ty, bounds),
                    };
                    let path = &self.scopes[scope].path;
                    let dot = if path.is_empty() { "" } else { "." };
                    let name = format!("{path}{dot}{}", o.name);
                    self.kept.insert(slot, Kept { name, width, at: o.at, init, register: None });
                }
                Some(v) => {
                    state.insert(Slot::Variable(slot), self.data2(&v, bounds, o.at)?);
                }
                None => {
                    if let Some(node) = self.first_of_signal(o, &ty, bounds) {
                        state.insert(Slot::Variable(slot), StoredValue::Node(node));
                    }
                }
            }
            self.declare(scope, &o.name, Named::Variable { slot, ty, bounds }, o.at)?;
        }
        Ok(())
    }

    /// Returns the stored form of a value. Constant integers are stored as numbers.
    pub(super) fn data2(&mut self, v: &Value, bounds: Option<Bounds>, at: u32) -> Result<StoredValue> {
        match &v.data {
            Data::Real(x) => return Ok(StoredValue::Real(*x)),
            Data::Text(text) => return Ok(StoredValue::Text(text.clone())),
            _ => {}
        }
        let node = self.encoded(v, bounds, at)?;
        match v.data {
            Data::Int(i) => Ok(StoredValue::Int(i)),
            _ => Ok(StoredValue::Node(node)),
        }
    }

    /// Returns the value stored in a slot, as bits.
    pub(super) fn slot_bits(&mut self, slot: Slot, data: &StoredValue, at: u32) -> Result<NodeId> {
        match (data, slot) {
            (StoredValue::Node(n), _) => Ok(*n),
            (StoredValue::Real(_) | StoredValue::Text(_), _) => {
                self.fail(at, "a real number, string or line that depends on a condition that is not constant")
            }
            (StoredValue::Int(i), Slot::Variable(v)) => {
                let bounds = self.ranges.get(&v).copied().flatten();
                let v = Value { ty: Type::Integer, data: Data::Int(*i), bounds: None };
                self.encoded(&v, bounds, at)
            }
            (StoredValue::Int(_), Slot::Signal(_) | Slot::Flag(_)) => {
                self.fail(at, "an integer that is not kept as bits")
            }
        }
    }

    pub(super) fn registers(
        &mut self,
        state: State,
        resets: Vec<(NodeId, State)>,
        clock: SignalId,
        rising: bool,
        at: u32,
    ) -> Result<()> {
        let mut slots: Vec<Slot> = state.keys().copied().collect();
        slots.extend(resets.iter().flat_map(|(_, s)| s.keys().copied()));
        slots.extend(self.kept.iter().filter(|(_, k)| k.register.is_some()).map(|(slot, _)| Slot::Variable(*slot)));
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            let id = match slot {
                Slot::Flag(_) => continue,
                Slot::Signal(id) => id,
                Slot::Variable(v) => match self.kept.get(&v).and_then(|k| k.register) {
                    Some(id) => id,
                    None => continue,
                },
            };
            let hold = self.rtl.read(id);
            let of = |e: &mut Self, s: &State| match s.get(&slot) {
                Some(data) => e.slot_bits(slot, data, at),
                None => Ok(hold),
            };
            let next = of(self, &state)?;
            let mut values: Vec<(NodeId, NodeId)> = Vec::with_capacity(resets.len());
            for (c, s) in &resets {
                values.push((*c, of(self, s)?));
            }
            let resets = values;
            if resets.iter().any(|&(_, v)| !self.rtl.constant_or_held(v, hold)) {
                let name = self.rtl.signal(id).name.clone();
                return self.fail(at, format!("the asynchronous reset value of {name} is not constant"));
            }
            self.rtl.add_registers(id, next, (clock, rising), &resets, matches!(slot, Slot::Variable(_)));
        }
        Ok(())
    }

    /// Drives a signal that a process without a clock assigns; a path without an assignment would be a latch.
    pub(super) fn combinational(&mut self, id: SignalId, node: NodeId, at: u32) -> Result<()> {
        for (lo, part) in self.unassigned.assigned_parts(&self.rtl, node) {
            if self.unassigned.reached_from(&self.rtl, part) {
                let message = format!("{} is not assigned on every path: a latch", self.rtl.signal(id).name);
                return self.fail(at, message);
            }
            self.rtl.signal_mut(id).wires.push((lo, part));
        }
        Ok(())
    }
}
