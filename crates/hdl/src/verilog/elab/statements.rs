//! Symbolic execution of statements; branches are merged with multiplexers.

use super::super::ast::{Decl, DeclKind, Expr, ExprId, Statement};
use super::{Bounds, Elab, Kind, MAX_ITERATIONS, Object, Process, Result, Slot, State};
use crate::paths::touched;
use crate::source::error;
use crate::{Binary, Compare, NodeId};
use num_bigint::BigUint;
use std::sync::Arc;

impl<'a> Elab<'a> {
    pub(super) fn local(&mut self, scope: usize, d: &Decl) -> Result<u32> {
        let bounds = if d.kind == DeclKind::Integer { Bounds::from_width(32) } else { self.bounds(scope, d.range)? };
        if !d.memory.is_empty() {
            self.memory(scope, d, bounds, true)?;
            return Ok(0);
        }
        let id = self.variables;
        self.variables += 1;
        self.scopes[scope].names.insert(d.name, Object::Variable { id, bounds, signed: d.signed });
        Ok(id)
    }

    pub(super) fn step(&mut self, e: ExprId) -> Result<()> {
        self.budget(e)?;
        self.iterations += 1;
        if self.iterations > MAX_ITERATIONS {
            return self.fail(e, "more than 2,000,000 loop iterations");
        }
        Ok(())
    }

    pub(super) fn run(&mut self, p: &mut Process, s: &'a Statement) -> Result<()> {
        match s {
            Statement::Null => Ok(()),
            Statement::Block(name, decls, body) => {
                let (outer, scopes) = (p.scope, self.scopes.len());
                if !decls.is_empty() {
                    let path = self.scopes[outer].path.clone();
                    p.scope = self.scope(Some(outer), path);
                    for d in decls {
                        self.local(p.scope, d)?;
                    }
                }
                let flag = name.map(|name| (name, self.flag()));
                p.named.extend(flag);
                self.run_all(p, body)?;
                if let Some((_, flag)) = flag {
                    p.named.pop();
                    p.state.values.remove(&Slot::Flag(flag));
                }
                p.scope = outer;
                self.scopes.truncate(scopes);
                Ok(())
            }
            Statement::Disable(name, at) => {
                let Some(&(_, flag)) = p.named.iter().rev().find(|n| n.0 == *name) else {
                    let message = format!("{} is not a block or task around this", self.name(*name));
                    return Err(error(self.text, *at, message));
                };
                let yes = self.rtl.number(1, 1);
                p.state.values.insert(Slot::Flag(flag), yes);
                Ok(())
            }
            Statement::If(cond, yes, no) => {
                let cond = self.truth(p, *cond)?;
                if let Some(v) = self.rtl.as_const(cond) {
                    return match (*v != BigUint::ZERO, no) {
                        (true, _) => self.run(p, yes),
                        (false, Some(no)) => self.run(p, no),
                        (false, None) => Ok(()),
                    };
                }
                let before = p.state.clone();
                self.run(p, yes)?;
                let after_yes = std::mem::replace(&mut p.state, before);
                if let Some(no) = no {
                    self.run(p, no)?;
                }
                self.merge(p, cond, after_yes);
                Ok(())
            }
            Statement::Case { wild, x_wild, selector, items, default } => {
                self.case(p, (*wild, *x_wild), *selector, items, default.as_deref())
            }
            Statement::Assign { target, value, blocking, at } => self.assign(p, *target, *value, *blocking, *at),
            Statement::For(init, cond, step, body) => {
                self.run(p, init)?;
                self.looped(p, *cond, |s, p| {
                    s.run(p, body)?;
                    Ok(Some(&**step))
                })
            }
            Statement::While(cond, body) => self.looped(p, *cond, |s, p| {
                s.run(p, body)?;
                Ok(None)
            }),
            Statement::Call(name, args, at) => self.task(p, *name, args, *at),
            Statement::ReadMemory { hex, args, at } => self.read_memory(p, *hex, args, *at),
            Statement::Repeat(count, body) => {
                let times = self.int(p.scope, *count)?;
                let mut parked = Vec::new();
                for _ in 0..times {
                    self.step(*count)?;
                    self.run(p, body)?;
                    if self.park_exited(p, &mut parked) {
                        break;
                    }
                }
                self.rejoin(p, parked);
                Ok(())
            }
        }
    }

    /// Executes a loop: `turn` executes its body and returns the step statement, if there is one.
    fn looped(
        &mut self,
        p: &mut Process,
        cond: ExprId,
        turn: impl Fn(&mut Self, &mut Process) -> Result<Option<&'a Statement>>,
    ) -> Result<()> {
        let mut parked = Vec::new();
        loop {
            self.step(cond)?;
            let go = self.truth(p, cond)?;
            match self.rtl.as_const(go) {
                None => return self.fail(cond, "a loop whose end is not constant"),
                Some(v) if *v == BigUint::ZERO => break,
                Some(_) => {}
            }
            let step = turn(self, p)?;
            if self.park_exited(p, &mut parked) {
                break;
            }
            if let Some(step) = step {
                self.run(p, step)?;
            }
        }
        self.rejoin(p, parked);
        Ok(())
    }

    // ---- Exits by `disable`

    /// Allocates a flag, which is not set.
    pub(super) fn flag(&mut self) -> u32 {
        self.variables += 1;
        self.variables - 1
    }

    /// Returns one bit that is set if a block or task that is being executed has been exited.
    fn exited(&mut self, p: &Process) -> NodeId {
        let flags = p.state.values.range(..Slot::Variable(0));
        let raised = flags.filter_map(|(slot, &set)| match slot {
            Slot::Flag(flag) if p.named.iter().any(|n| n.1 == *flag) => Some(set),
            _ => None,
        });
        self.rtl.any_set(raised)
    }

    /// Clears the exit flags, for the paths that have not exited.
    fn clear_exits(p: &mut Process) {
        let Process { state, named, .. } = p;
        state.values.retain(|slot, _| !matches!(slot, Slot::Flag(f) if named.iter().any(|n| n.1 == *f)));
    }

    /// Executes statements. The statements after a `disable` run only on the paths that have not exited.
    fn run_all(&mut self, p: &mut Process, body: &'a [Statement]) -> Result<()> {
        for (i, s) in body.iter().enumerate() {
            self.run(p, s)?;
            let exited = self.exited(p);
            match self.rtl.as_const(exited) {
                Some(v) if *v == BigUint::ZERO => {}
                Some(_) => return Ok(()),
                None => {
                    let left = p.state.clone();
                    Self::clear_exits(p);
                    self.run_all(p, &body[i + 1..])?;
                    self.merge(p, exited, left);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Removes the exited paths from the state and stores them until the end of the loop. Counters on the remaining
    /// paths thus stay constant. Returns `true` if all paths have exited.
    fn park_exited(&mut self, p: &mut Process, parked: &mut Vec<(NodeId, State)>) -> bool {
        let exited = self.exited(p);
        match self.rtl.as_const(exited) {
            Some(v) => *v != BigUint::ZERO,
            None => {
                parked.push((exited, p.state.clone()));
                Self::clear_exits(p);
                false
            }
        }
    }

    fn rejoin(&mut self, p: &mut Process, parked: Vec<(NodeId, State)>) {
        for (exited, state) in parked.into_iter().rev() {
            self.merge(p, exited, state);
        }
    }

    /// Merges the current state with `yes`, the state if `cond` holds.
    pub(super) fn merge(&mut self, p: &mut Process, cond: NodeId, yes: State) {
        for slot in touched(&yes.values, &p.state.values) {
            let a = yes.values.get(&slot).copied();
            let b = p.state.values.get(&slot).copied();
            let (a, b) = match (a, b) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a, self.before(p, slot, self.rtl.width(a))),
                (None, Some(b)) => (self.before(p, slot, self.rtl.width(b)), b),
                (None, None) => continue,
            };
            let node = self.rtl.mux_by_parts(cond, a, b, &mut self.unassigned);
            p.state.values.insert(slot, node);
        }
    }

    /// Returns the value of a slot before it is assigned.
    pub(super) fn before(&mut self, p: &Process, slot: Slot, width: u32) -> NodeId {
        match slot {
            Slot::Flag(_) => self.rtl.number(0, 1),
            Slot::Signal(id) | Slot::Next(id) if p.kind != Kind::Level => self.rtl.read(id),
            _ => self.unassigned.fresh(&mut self.rtl, width),
        }
    }

    pub(super) fn case(
        &mut self,
        p: &mut Process,
        wild: (bool, bool),
        selector: ExprId,
        items: &'a [(Vec<ExprId>, Statement)],
        default: Option<&'a Statement>,
    ) -> Result<()> {
        // All expressions are extended to the width of the widest one; they are signed only if all of them are signed.
        let (mut width, mut signed) = self.ty(p, selector)?;
        for &label in items.iter().flat_map(|(labels, _)| labels) {
            let (w, s) = self.ty(p, label)?;
            width = width.max(w);
            signed &= s;
        }
        let value = self.eval(p, selector, width, signed)?;
        if let Some(done) = self.case_table(p, value, width, signed, items, default)? {
            return Ok(done);
        }
        // The first matching label has priority. Branches run on copies of the state, which are merged from the last to
        // the first.
        let before = p.state.clone();
        let mut branches = Vec::new();
        let mut decided = false;
        for (labels, body) in items {
            let mut hit = None;
            for &label in labels {
                let this = self.label(p, value, label, (width, signed), wild)?;
                hit = Some(hit.map_or(this, |before| self.rtl.binary(Binary::Or, before, this)));
            }
            let hit = hit.unwrap_or_else(|| self.rtl.number(0, 1));
            let constant = self.rtl.as_const(hit).map(|v| *v != BigUint::ZERO);
            if constant == Some(false) {
                continue;
            }
            p.state = before.clone();
            self.run(p, body)?;
            branches.push((hit, std::mem::take(&mut p.state)));
            if constant == Some(true) {
                decided = true;
                break;
            }
        }
        p.state = before;
        if let (false, Some(default)) = (decided, default) {
            self.run(p, default)?;
        }
        if !decided && default.is_none() && self.covers(&branches, width) {
            // In a full case without default, the last branch becomes the default.
            if let Some((_, last)) = branches.pop() {
                p.state = last;
            }
        }
        if decided && let Some((_, last)) = branches.pop() {
            p.state = last;
        }
        for (hit, state) in branches.into_iter().rev() {
            self.merge(p, hit, state);
        }
        Ok(())
    }

    /// Returns `true` if the branches of a case compare with every value of a narrow selector.
    pub(super) fn covers(&self, branches: &[(NodeId, State)], width: u32) -> bool {
        use crate::Expr as R;
        if width > 20 {
            return false;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open: Vec<NodeId> = branches.iter().map(|branch| branch.0).collect();
        while let Some(hit) = open.pop() {
            match self.rtl.expr(hit) {
                R::Compare(Compare::Equal, _, label) => seen.extend(self.rtl.as_const(*label).cloned()),
                R::Binary(Binary::Or, a, b) => open.extend([*a, *b]),
                _ => {}
            }
        }
        seen.len() == 1 << width
    }

    pub(super) fn label(
        &mut self,
        p: &mut Process,
        value: NodeId,
        label: ExprId,
        ty: (u32, bool),
        wild: (bool, bool),
    ) -> Result<NodeId> {
        let (width, signed) = ty;
        if let Expr::Number { value: bits, unknown, open, width: own, signed: own_signed, sized } = self.expr(label)
            && *unknown != BigUint::ZERO
        {
            if !wild.0 || (!wild.1 && open != unknown) {
                return self.fail(label, "a label with x outside casex, or with z outside casez and casex");
            }
            // A label is extended by its top bit if it is signed, or if this bit is x or z and the label has no size.
            let mut unknown = self.rtl.constant(unknown.clone(), *own);
            let top = self.rtl.slice(unknown, own - 1, 1);
            let marked = self.rtl.as_const(top).is_some_and(|t| *t != BigUint::ZERO);
            unknown = self.rtl.resize(unknown, width, marked && (!sized || (signed && *own_signed)));
            let want = self.rtl.constant(bits.clone(), *own);
            let want = self.rtl.resize(want, width, signed);
            let care = self.rtl.not(unknown);
            let (seen, want) = (self.rtl.binary(Binary::And, value, care), self.rtl.binary(Binary::And, want, care));
            return Ok(self.rtl.compare(Compare::Equal, seen, want));
        }
        let label = self.eval(p, label, width, signed)?;
        Ok(self.rtl.compare(Compare::Equal, value, label))
    }

    /// Converts a case statement to a look-up table if all of its branches assign constants to one target.
    pub(super) fn case_table(
        &mut self,
        p: &mut Process,
        value: NodeId,
        width: u32,
        signed: bool,
        items: &'a [(Vec<ExprId>, Statement)],
        default: Option<&'a Statement>,
    ) -> Result<Option<()>> {
        let (Some(Statement::Assign { target, blocking, at, .. }), true, true) =
            (items.first().map(|i| &i.1), width <= 24 && items.len() > 8, self.rtl.as_const(value).is_none())
        else {
            return Ok(None);
        };
        let Expr::Name(name) = self.expr(*target) else { return Ok(None) };
        let of = |e: &Self, s: &Statement| match s {
            Statement::Assign { target, value, blocking: b, .. } if b == blocking => {
                match (e.expr(*target), e.expr(*value)) {
                    (Expr::Name(n), Expr::Number { unknown, .. }) if n == name && *unknown == BigUint::ZERO => {
                        Some(*value)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let out_width = self.target_width(p, *target)?;
        let missing = match default {
            None => None,
            Some(d) => match of(self, d) {
                Some(v) => Some(self.assigned(p, v, out_width)?),
                // A default that is not constant has no effect if every value has its own label.
                None => None,
            },
        };
        let mut entries: Vec<Option<BigUint>> = vec![None; 1 << width];
        for (labels, body) in items {
            let Some(v) = of(self, body) else { return Ok(None) };
            let node = self.assigned(p, v, out_width)?;
            let Some(entry) = self.rtl.as_const(node).cloned() else { return Ok(None) };
            for &label in labels {
                let Expr::Number { unknown, .. } = self.expr(label) else { return Ok(None) };
                if *unknown != BigUint::ZERO {
                    return Ok(None);
                }
                let node = self.eval(p, label, width, signed)?;
                let Some(at) = self.rtl.as_const(node).and_then(|v| usize::try_from(v).ok()) else { return Ok(None) };
                entries[at].get_or_insert_with(|| entry.clone());
            }
        }
        let fill = match missing {
            Some(m) => self.rtl.as_const(m).cloned(),
            None => None,
        };
        if entries.iter().any(Option::is_none) && fill.is_none() {
            return Ok(None);
        }
        let entries = entries.into_iter().map(|e| e.or_else(|| fill.clone()).unwrap_or_default()).collect();
        let none = self.rtl.number(0, out_width);
        let node = self.rtl.table(Arc::new(entries), value, none);
        for (place, node) in self.places(p, *target, node)? {
            self.store(p, place, node, *blocking, *at)?;
        }
        Ok(Some(()))
    }
}
