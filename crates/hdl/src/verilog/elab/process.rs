//! Elaboration of processes: `initial` and `always`, registers with clocks and asynchronous resets, rejection of
//! latches.

use super::super::ast::{Events, Expr, ExprId, Op, Statement, Sym, Unary};
use super::{Elab, Kind, Object, Process, Result, Slot};
use crate::source::error;
use crate::{NodeId, SignalId};
use num_bigint::BigUint;

impl<'a> Elab<'a> {
    /// Elaborates an `initial` block: power-on values.
    pub(super) fn initial(&mut self, scope: usize, body: &'a Statement, at: u32) -> Result<()> {
        let mut p = Process::new(scope, Kind::Constant);
        self.run(&mut p, body)?;
        for (slot, node) in p.state.values {
            match slot {
                Slot::Signal(id) | Slot::Next(id) => {
                    if self.rtl.as_const(node).is_none() {
                        return Err(error(self.text, at, "initial values are constants"));
                    }
                    self.rtl.signal_mut(id).init = Some(node);
                }
                Slot::Variable(_) | Slot::Flag(_) => {}
            }
        }
        Ok(())
    }

    /// Elaborates an `always` block.
    pub(super) fn always(&mut self, scope: usize, events: &Events, body: &'a Statement, at: u32) -> Result<()> {
        match events {
            Events::Edges(edges) => self.clocked(scope, edges, body, at),
            _ => self.combinational(scope, events, body, at),
        }
    }

    /// Elaborates an `always` block that is sensitive to levels.
    fn combinational(&mut self, scope: usize, events: &Events, body: &'a Statement, at: u32) -> Result<()> {
        let mut p = Process::new(scope, Kind::Level);
        self.run(&mut p, body)?;
        if p.reads.is_empty() {
            let message = "a process that reads nothing never runs: what it assigns stays undefined";
            return Err(error(self.text, at, message).with_help("assign constants with assign, or in an initial block"));
        }
        self.check_waits(scope, events, &p)?;
        for (slot, node) in p.state.values {
            let (Slot::Signal(id) | Slot::Next(id)) = slot else { continue };
            let parts = self.unassigned.assigned_parts(&self.rtl, node);
            if self.unassigned.contains(node) || parts.iter().any(|p| self.unassigned.reached_from(&self.rtl, p.1)) {
                // The latch is an error only if an output depends on the signal; `check_processes` decides that.
                self.latches.push((id, at));
            }
            self.rtl.signal_mut(id).wires.extend(parts);
        }
        Ok(())
    }

    /// Elaborates an `always` block that is sensitive to edges.
    fn clocked(&mut self, scope: usize, edges: &[(Sym, bool)], body: &'a Statement, at: u32) -> Result<()> {
        let mut edges = edges.to_vec();
        let mut body = body;
        let mut resets: Vec<(NodeId, &'a Statement)> = Vec::new();
        // Each edge except that of the clock belongs to an asynchronous reset, which an outer `if` tests.
        while edges.len() > 1 {
            while let Statement::Block(_, decls, inner) = body {
                let ([], [only]) = (&decls[..], &inner[..]) else { break };
                body = only;
            }
            let Statement::If(cond, yes, Some(no)) = body else {
                return Err(error(self.text, at, "a process with several edges starts with if (reset) ... else"));
            };
            let Some((sym, high)) = self.level(*cond) else {
                return self.fail(*cond, "an asynchronous reset is tested by its name or its negation");
            };
            let Some(hit) = edges.iter().position(|&e| e == (sym, high)) else {
                return self
                    .fail(*cond, "this condition is not among the edges of the process, or has the other polarity");
            };
            edges.remove(hit);
            if let Some(Object::Signal { bounds, .. }) = self.find(scope, sym)
                && bounds.width() != 1
            {
                return self.fail(*cond, "an asynchronous reset of more than one bit");
            }
            let cond = self.rhs(scope, *cond, 1)?;
            resets.push((cond, yes));
            body = no;
        }
        let (clock, rising) = edges[0];
        let Some(&Object::Signal { id: clock, .. }) = self.find(scope, clock) else {
            return Err(error(self.text, at, format!("no signal is called {}", self.name(clock))));
        };
        if self.rtl.signal(clock).width != 1 {
            return Err(error(self.text, at, "a clock of more than one bit"));
        }
        let mut p = Process::new(scope, Kind::Edge);
        self.run(&mut p, body)?;
        let mut values = Vec::new();
        for (cond, body) in resets {
            let mut r = Process::new(scope, Kind::Edge);
            self.run(&mut r, body)?;
            p.reads.append(&mut r.reads);
            values.push((cond, r.state));
        }
        // A signal that is read here must not be assigned with `=` in another clocked process, as the order of both is
        // undefined.
        self.sampled.extend(p.reads.iter().map(|r| (r.0, at, r.3)));
        let assigned = p.state.values.keys().chain(values.iter().flat_map(|(_, s)| s.values.keys()));
        let assigned: Vec<SignalId> =
            assigned.filter_map(|s| if let Slot::Signal(id) = s { Some(*id) } else { None }).collect();
        self.immediate.extend(assigned.into_iter().map(|id| (id, at)));
        let mut slots: Vec<Slot> = p.state.values.keys().copied().collect();
        slots.extend(values.iter().flat_map(|(_, s)| s.values.keys().copied()));
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            let (Slot::Signal(id) | Slot::Next(id)) = slot else { continue };
            let hold = self.rtl.read(id);
            for (_, s) in &values {
                if let Some(&value) = s.values.get(&slot)
                    && !self.rtl.constant_or_held(value, hold)
                {
                    let message =
                        format!("the asynchronous reset value of {} is not constant", self.rtl.signal(id).name);
                    return Err(error(self.text, at, message));
                }
            }
            let next = p.state.values.get(&slot).copied().unwrap_or(hold);
            let resets: Vec<(NodeId, NodeId)> =
                values.iter().map(|(cond, s)| (*cond, s.values.get(&slot).copied().unwrap_or(hold))).collect();
            self.rtl.add_registers(id, next, (clock, rising), &resets, false);
        }
        Ok(())
    }

    /// Checks that the event list of a level-sensitive process contains all signals that the process reads. Also checks
    /// that the process reads no signal before it assigns the signal, as such a read would return the previous value.
    pub(super) fn check_waits(&mut self, scope: usize, events: &Events, p: &Process) -> Result<()> {
        let mut waits = rustc_hash::FxHashSet::default();
        if let Events::Levels(list) = events {
            for &e in list {
                let mut names = Process::new(scope, Kind::Edge);
                self.self_determined(&mut names, e)?;
                // Only a name without a select makes the process sensitive to all bits of the signal.
                let whole = names.reads.iter().filter(|_| matches!(self.expr(e), Expr::Name(_)));
                waits.extend(whole.map(|r| r.0));
            }
        }
        for &(id, lo, end, e) in &p.reads {
            let name = &self.rtl.signal(id).name;
            if matches!(events, Events::Levels(_)) && !waits.contains(&id) {
                return self.fail(e, format!("{name} is read, but not in the event list of the process"));
            }
            let Some(&node) = p.state.values.get(&Slot::Signal(id)) else { continue };
            let assigned = self.unassigned.assigned_parts(&self.rtl, node);
            if assigned.iter().any(|&(at, part)| at < end && lo < at + self.rtl.width(part)) {
                return self.fail(e, format!("{name} is read before this process assigns it"));
            }
        }
        Ok(())
    }

    /// Checks the processes of the whole design: rejects latches that an output depends on, and races between clocked
    /// processes. Variables that no output depends on become the constant zero.
    ///
    /// # Errors
    /// A latch or a race.
    pub(super) fn check_processes(&mut self) -> Result<()> {
        let mut live = vec![false; self.rtl.signals().len()];
        let mut seen = vec![false; self.rtl.len()];
        let mut stack: Vec<NodeId> = self.rtl.outputs.iter().map(|&s| self.rtl.read(s)).collect();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            if let crate::Expr::Signal(id) = self.rtl.expr(node) {
                live[id.0 as usize] = true;
                let signal = self.rtl.signal(*id);
                stack.extend(signal.wires.iter().map(|w| w.1));
                for r in &signal.registers {
                    stack.extend([r.next, self.rtl.read(r.clock)]);
                    stack.extend(r.resets.iter().flat_map(|&(cond, value)| [cond, value]));
                }
            } else {
                crate::operands(self.rtl.expr(node), &mut |&n| stack.push(n));
            }
        }
        for (id, at) in std::mem::take(&mut self.latches) {
            if live[id.0 as usize] {
                let message = format!("{} is not assigned on every path: a latch", self.rtl.signal(id).name);
                return Err(error(self.text, at, message));
            }
            self.integers.push(id);
        }
        for id in std::mem::take(&mut self.integers) {
            if !live[id.0 as usize] {
                let zero = self.rtl.number(0, self.rtl.signal(id).width);
                let signal = self.rtl.signal_mut(id);
                signal.wires.clear();
                signal.registers.clear();
                signal.init = Some(zero);
            }
        }
        for (id, process) in std::mem::take(&mut self.immediate) {
            let other = self.sampled.iter().find(|(read, by, _)| *read == id && *by != process);
            if let Some(&(_, _, e)) = other {
                let name = &self.rtl.signal(id).name;
                return self.fail(e, format!("{name} is assigned with = in another clocked process: a race"));
            }
        }
        Ok(())
    }

    /// Returns the name and the tested level of a condition such as `x`, `!x`, `~x` or `x == 1'b0`; otherwise `None`.
    pub(super) fn level(&self, e: ExprId) -> Option<(Sym, bool)> {
        match self.expr(e) {
            Expr::Name(sym) => Some((*sym, true)),
            Expr::Unary(Unary::LogicNot | Unary::Not, x) => self.level(*x).map(|(s, high)| (s, !high)),
            Expr::Binary(Op::Equal, x, v) => match self.expr(*v) {
                Expr::Number { value, unknown, .. } if *unknown == BigUint::ZERO => {
                    let one = *value == BigUint::from(1u32);
                    (one || *value == BigUint::ZERO).then(|| self.level(*x).map(|(s, high)| (s, high == one)))?
                }
                _ => None,
            },
            _ => None,
        }
    }
}
