//! Functions and tasks.

use super::super::ast::{Direction, ExprId, Sym};
use super::{Bounds, Elab, MAX_CALLS, MAX_ITERATIONS, Object, Process, Result, Slot, State};
use crate::NodeId;
use crate::source::error;
use std::collections::BTreeMap;

impl<'a> Elab<'a> {
    pub(super) fn call(&mut self, p: &mut Process, e: ExprId, sym: Sym, args: &[ExprId]) -> Result<NodeId> {
        let Some(f) = self.function(p.scope, sym) else {
            return self.fail(e, format!("no function is called {}", self.name(sym)));
        };
        if !f.automatic && self.active.contains(&sym) {
            return self.fail(e, format!("{} calls itself and is not automatic", self.name(sym)));
        }
        if args.len() != f.inputs.len() {
            return self.fail(e, format!("{} takes {} arguments", self.name(sym), f.inputs.len()));
        }
        self.step(e)?;
        let scopes = self.scopes.len();
        let scope = self.inside(p.scope, sym);
        for param in &f.params {
            self.param(scope, param, None)?;
        }
        // A function sees the assignments of its caller up to the call.
        let signals = |s: &State| -> BTreeMap<Slot, NodeId> {
            let seen = s.values.iter().filter(|(slot, _)| !matches!(slot, Slot::Variable(_) | Slot::Flag(_)));
            seen.map(|(slot, node)| (*slot, *node)).collect()
        };
        let outside = signals(&p.state);
        let mut inner = Process::new(scope, p.kind);
        inner.state.values.clone_from(&outside);
        for (d, &arg) in f.inputs.iter().zip(args) {
            let id = self.local(scope, d)?;
            let width = match self.scopes[scope].names.get(&d.name) {
                Some(Object::Variable { bounds, .. }) => bounds.width(),
                _ => 1,
            };
            let node = self.assigned(p, arg, width)?;
            inner.state.values.insert(Slot::Variable(id), node);
        }
        let bounds = if f.integer { Bounds::from_width(32) } else { self.bounds(scope, f.range)? };
        let result = self.variables;
        self.variables += 1;
        self.scopes[scope].names.insert(f.name, Object::Variable { id: result, bounds, signed: f.signed });
        for d in &f.locals {
            self.local(scope, d)?;
        }
        inner.function = true;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return self.fail(e, "calls of functions and tasks nested more than 64 deep");
        }
        self.active.push(sym);
        self.run(&mut inner, &f.body)?;
        self.active.pop();
        self.calls -= 1;
        self.scopes.truncate(scopes);
        if signals(&inner.state) != outside {
            return self.fail(e, format!("{} assigns to a signal of its module", self.name(sym)));
        }
        p.reads.append(&mut inner.reads);
        // A result that no path assigns is undefined.
        match inner.state.values.get(&Slot::Variable(result)) {
            Some(&node) => Ok(node),
            None => Ok(self.rtl.free(bounds.width())),
        }
    }
    /// Creates the scope of a call, within the scope in which the function or task is declared.
    pub(super) fn inside(&mut self, from: usize, sym: Sym) -> usize {
        let mut home = from;
        while !matches!(self.scopes[home].names.get(&sym), Some(Object::Function(_) | Object::Task(_))) {
            match self.scopes[home].parent {
                Some(parent) => home = parent,
                None => break,
            }
        }
        let path = self.scopes[home].path.clone();
        self.scope(Some(home), path)
    }

    /// Executes a task call: its arguments are assigned, its body runs in the process, and its results are assigned to
    /// the outputs.
    pub(super) fn task(&mut self, p: &mut Process, sym: Sym, args: &[ExprId], at: u32) -> Result<()> {
        let fail = |s: &Self, message: String| Err(error(s.text, at, message));
        let Some(Object::Task(t)) = self.find(p.scope, sym).copied() else {
            return fail(self, format!("no task is called {}", self.name(sym)));
        };
        if p.function {
            return fail(self, "a function that calls a task".to_owned());
        }
        if args.len() != t.args.len() {
            return fail(self, format!("{} takes {} arguments", self.name(sym), t.args.len()));
        }
        let (outer, scopes) = (p.scope, self.scopes.len());
        let scope = self.inside(outer, sym);
        for param in &t.params {
            self.param(scope, param, None)?;
        }
        let mut formals = Vec::with_capacity(args.len());
        for ((direction, d), &arg) in t.args.iter().zip(args) {
            let id = self.local(scope, d)?;
            let Some(&Object::Variable { bounds, signed, .. }) = self.scopes[scope].names.get(&d.name) else {
                continue;
            };
            if *direction != Direction::Out {
                let node = self.assigned(p, arg, bounds.width())?;
                p.state.values.insert(Slot::Variable(id), node);
            }
            formals.push((*direction, id, bounds.width(), signed, arg));
        }
        for d in &t.locals {
            self.local(scope, d)?;
        }
        self.calls += 1;
        self.iterations += 1;
        if self.calls > MAX_CALLS || self.iterations > MAX_ITERATIONS {
            return fail(self, "calls of tasks nested more than 64 deep, or more than 2,000,000 calls".to_owned());
        }
        p.scope = scope;
        let flag = self.flag();
        let named = std::mem::replace(&mut p.named, vec![(sym, flag)]);
        self.run(p, &t.body)?;
        p.named = named;
        p.state.values.remove(&Slot::Flag(flag));
        p.scope = outer;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        for (direction, id, width, signed, arg) in formals {
            if direction == Direction::In {
                continue;
            }
            // A result that the task did not assign is undefined.
            let node = match p.state.values.get(&Slot::Variable(id)) {
                Some(&node) => node,
                None => self.rtl.free(width),
            };
            let node = self.rtl.resize(node, self.target_width(p, arg)?, signed);
            for (place, node) in self.places(p, arg, node)? {
                self.store(p, place, node, true, at)?;
            }
        }
        Ok(())
    }
}
