//! Symbolic execution of sequential statements; branches are merged with multiplexers.

use super::super::syntax::{Choice, Expr, Kind, Statement};
use super::types::storage;
use super::{
    Bounds, Data, Elab, Expect, MAX_ITERATIONS, MAX_OPEN_TURNS, Named, Place, Result, Run, Slot, State, StoredValue,
    Type, TypeOf, Value, width_of,
};
use crate::paths::touched;
use crate::{Binary, Compare, MAX_WORK, NodeId};
use num_bigint::BigUint;
use std::sync::Arc;

/// Path on which a loop was exited: condition, state, and result of the function.
type Exited = (NodeId, State, Option<(Type, Option<Bounds>, Option<NodeId>, NodeId)>);

impl<'a> Elab<'a> {
    pub(super) fn statements(&mut self, run: &mut Run<'a>, body: &'a [Statement]) -> Result<()> {
        for (i, s) in body.iter().enumerate() {
            self.statement(run, s)?;
            if let Some((_, _, _, open)) = &run.result
                && self.rtl.as_const(*open).is_some_and(|v| *v == BigUint::ZERO)
            {
                return Ok(());
            }
            let exited = self.exited(run);
            match self.rtl.as_const(exited).map(|v| *v != BigUint::ZERO) {
                Some(false) => {}
                Some(true) => return Ok(()),
                // The following statements run only on the paths that have not exited.
                None if i + 1 < body.len() => {
                    return self.unless(run, exited, |s, run| s.statements(run, &body[i + 1..]));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Returns one bit that is set if an iteration, a loop or a procedure has been exited.
    fn exited(&mut self, run: &Run<'a>) -> NodeId {
        let flags = run.state.range(..Slot::Variable(0));
        let raised = flags.filter_map(|(slot, data)| match (slot, data) {
            (Slot::Flag(flag), StoredValue::Node(set)) if run.leaving.contains(flag) => Some(*set),
            _ => None,
        });
        self.rtl.any_set(raised)
    }

    /// Clears the exit flags, for the paths that have not exited.
    fn clear_exits(&mut self, run: &mut Run<'a>) {
        let Run { state, leaving, .. } = run;
        state.retain(|slot, _| !matches!(slot, Slot::Flag(f) if leaving.contains(f)));
    }

    /// Executes `inside` on the paths on which a condition is false, and merges the states.
    fn unless(
        &mut self,
        run: &mut Run<'a>,
        cond: NodeId,
        inside: impl FnOnce(&mut Self, &mut Run<'a>) -> Result<()>,
    ) -> Result<()> {
        let (state, result) = (run.state.clone(), run.result.clone());
        let not = self.rtl.not(cond);
        if let Some((_, _, _, open)) = &mut run.result {
            *open = self.rtl.binary(Binary::And, *open, not);
        }
        self.clear_exits(run);
        inside(self, run)?;
        let (done, done_result) =
            (std::mem::replace(&mut run.state, state), std::mem::replace(&mut run.result, result));
        self.join_results(run, not, done_result, 0)?;
        self.merge(run, not, done, 0)
    }

    /// Allocates a flag, which is not set.
    pub(super) fn flag(&mut self) -> u32 {
        self.variables += 1;
        self.variables - 1
    }

    /// Removes the exited paths from the state and stores them until the end of the loop. Counters on the remaining
    /// paths thus stay constant.
    fn park_exited(&mut self, run: &mut Run<'a>, next: u32, parked: &mut Vec<Exited>) {
        let skipped = run.state.remove(&Slot::Flag(next));
        let exited = self.exited(run);
        if let Some(skipped) = skipped {
            run.state.insert(Slot::Flag(next), skipped);
        }
        if self.rtl.as_const(exited).is_some() {
            return;
        }
        let mut result = run.result.clone();
        if let Some((_, _, _, open)) = &mut result {
            *open = self.rtl.binary(Binary::And, *open, exited);
        }
        parked.push((exited, run.state.clone(), result));
        let skipped = run.state.remove(&Slot::Flag(next));
        self.clear_exits(run);
        if let Some(skipped) = skipped {
            run.state.insert(Slot::Flag(next), skipped);
        }
    }

    /// Executes an iteration of a loop on the paths that have not exited. Returns `true` if all paths have exited.
    fn iteration(
        &mut self,
        run: &mut Run<'a>,
        (exit, next): (u32, u32),
        body: &'a [Statement],
        parked: &mut Vec<Exited>,
        at: u32,
    ) -> Result<bool> {
        self.turn(at)?;
        run.state.remove(&Slot::Flag(next));
        self.park_exited(run, next, parked);
        let known = |s: &Self, n: NodeId| s.rtl.as_const(n).map(|v| *v != BigUint::ZERO);
        let exited = self.exited(run);
        if known(self, exited) == Some(true) {
            return Ok(true);
        }
        let mut returned = false;
        for (i, s) in body.iter().enumerate() {
            self.statement(run, s)?;
            returned = run.result.as_ref().is_some_and(|r| known(self, r.3) == Some(false));
            self.park_exited(run, next, parked);
            let exited = self.exited(run);
            match known(self, exited) {
                _ if returned => break,
                Some(false) => {}
                Some(true) => break,
                None => {
                    self.unless(run, exited, |s, run| s.statements(run, &body[i + 1..]))?;
                    break;
                }
            }
        }
        let left = match run.state.get(&Slot::Flag(exit)) {
            Some(&StoredValue::Node(n)) => known(self, n) == Some(true),
            _ => false,
        };
        Ok(left || returned)
    }

    /// Executes a loop. Afterwards the exited paths are merged with the path that ran to the end.
    fn looped(
        &mut self,
        run: &mut Run<'a>,
        label: &'a str,
        at: u32,
        inside: impl FnOnce(&mut Self, &mut Run<'a>, (u32, u32), &mut Vec<Exited>) -> Result<()>,
    ) -> Result<()> {
        let flags = (self.flag(), self.flag());
        run.loops.push((label, flags.0, flags.1));
        run.leaving.extend([flags.0, flags.1]);
        let mut parked = Vec::new();
        inside(self, run, flags, &mut parked)?;
        for (cond, state, result) in parked.into_iter().rev() {
            self.join_results(run, cond, result, at)?;
            self.merge(run, cond, state, at)?;
        }
        run.loops.pop();
        run.leaving.truncate(run.leaving.len() - 2);
        for flag in [flags.0, flags.1] {
            run.state.remove(&Slot::Flag(flag));
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, run: &mut Run<'a>, s: &'a Statement) -> Result<()> {
        self.turn(0)?;
        match s {
            Statement::Null => Ok(()),
            Statement::Assign { target, values, signal, at } => self.assign(run, target, values, *signal, *at),
            Statement::If(branches, otherwise) => {
                let [(cond, body), rest @ ..] = &branches[..] else { return self.statements(run, otherwise) };
                self.branches(run, (cond, body), rest, otherwise)
            }
            Statement::Case { selector, items, matching } => self.case(run, selector, items, *matching),
            Statement::Call(call) => self.procedure(run, call),
            Statement::For { label, var, range, body } => {
                let b = self.bounds_in(run, range)?;
                self.looped(run, label, range.at, |s, run, flags, parked| {
                    let (outer, scopes) = (run.scope, s.scopes.len());
                    for k in 0..i64::from(b.len()) {
                        let i = if b.down { b.left - k } else { b.left + k };
                        run.scope = s.scope(Some(outer), s.scopes[outer].path.clone());
                        let v = Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
                        s.declare(run.scope, var, Named::Constant(v), range.at)?;
                        let left = s.iteration(run, flags, body, parked, range.at)?;
                        run.scope = outer;
                        s.scopes.truncate(scopes);
                        if left {
                            break;
                        }
                    }
                    Ok(())
                })
            }
            Statement::While { label, cond, body, at } => self.looped(run, label, *at, |s, run, flags, parked| {
                loop {
                    if let Some(cond) = cond {
                        let go = s.condition(run, cond)?;
                        let stop = s.rtl.not(go);
                        s.leave(run, flags.0, stop);
                    }
                    if s.iteration(run, flags, body, parked, *at)? {
                        return Ok(());
                    }
                    // Any of these iterations may be the last one.
                    if parked.len() > MAX_OPEN_TURNS {
                        return s.fail(*at, "a loop whose end is not constant");
                    }
                }
            }),
            Statement::Leave { exit, label, cond, at } => {
                let found = match label {
                    Some(l) => run.loops.iter().rev().find(|x| x.0 == l),
                    None => run.loops.last(),
                };
                let Some(&(_, of_exit, of_next)) = found else {
                    return self.fail(*at, "exit or next outside a loop, or of a loop that is not around it");
                };
                let hit = match cond {
                    Some(cond) => self.condition(run, cond)?,
                    None => self.rtl.number(1, 1),
                };
                // A flag of an outer loop also ends the inner loops, as all flags of enclosing loops are checked.
                self.leave(run, if *exit { of_exit } else { of_next }, hit);
                Ok(())
            }
            Statement::Wait(e) => self.fail(e.at, "a wait that is not the first statement of a process without a list"),
            Statement::Return(None, at) => {
                let Some(flag) = run.returned else { return self.fail(*at, "return without a value") };
                let yes = self.rtl.number(1, 1);
                run.state.insert(Slot::Flag(flag), StoredValue::Node(yes));
                Ok(())
            }
            Statement::Return(Some(e), _) => {
                let Some((ty, bounds, so_far, open)) = run.result.clone() else {
                    return self.fail(e.at, "return outside a function");
                };
                // A result type without bits is unconstrained: the returned value determines its length.
                let of = match &ty {
                    Type::Vector(v, 0) => TypeOf::Unconstrained(*v),
                    Type::Array(a) if a.bounds.len() == 0 => TypeOf::Open(a.element.clone(), a.inner),
                    other => TypeOf::Whole(other.clone(), bounds),
                };
                let v = self.argument(run, e, &of)?;
                let node = self.encoded(&v, bounds, e.at)?;
                let merged = match so_far {
                    None => node,
                    Some(old) => {
                        if self.rtl.width(old) != self.rtl.width(node) {
                            return self.fail(e.at, "results of different widths");
                        }
                        self.rtl.mux(open, node, old)
                    }
                };
                let closed = self.rtl.number(0, 1);
                run.result = Some((v.ty, bounds, Some(merged), closed));
                Ok(())
            }
        }
    }

    /// Sets a flag if a condition is true.
    fn leave(&mut self, run: &mut Run<'a>, flag: u32, hit: NodeId) {
        let node = match run.state.get(&Slot::Flag(flag)) {
            Some(&StoredValue::Node(set)) => self.rtl.any_set([set, hit]),
            _ => hit,
        };
        if self.rtl.as_const(node).is_none_or(|v| *v != BigUint::ZERO) {
            run.state.insert(Slot::Flag(flag), StoredValue::Node(node));
        }
    }

    pub(super) fn branches(
        &mut self,
        run: &mut Run<'a>,
        first: (&'a Expr, &'a [Statement]),
        rest: &'a [(Expr, Vec<Statement>)],
        otherwise: &'a [Statement],
    ) -> Result<()> {
        let cond = self.condition(run, first.0)?;
        let known = self.rtl.as_const(cond).map(|v| *v != BigUint::ZERO);
        if known == Some(true) {
            return self.statements(run, first.1);
        }
        if known == Some(false) {
            return match rest {
                [(c, b), more @ ..] => self.branches(run, (c, b), more, otherwise),
                [] => self.statements(run, otherwise),
            };
        }
        let (state, result) = (run.state.clone(), run.result.clone());
        if let Some((_, _, _, open)) = &mut run.result {
            *open = self.rtl.binary(Binary::And, *open, cond);
        }
        self.statements(run, first.1)?;
        let (yes, yes_result) = (std::mem::replace(&mut run.state, state), std::mem::replace(&mut run.result, result));
        match rest {
            [(c, b), more @ ..] => self.branches(run, (c, b), more, otherwise)?,
            [] => self.statements(run, otherwise)?,
        }
        self.join_results(run, cond, yes_result, first.0.at)?;
        self.merge(run, cond, yes, first.0.at)
    }

    /// Merges the function results of two branches.
    pub(super) fn join_results(
        &mut self,
        run: &mut Run<'a>,
        cond: NodeId,
        yes: Option<(Type, Option<Bounds>, Option<NodeId>, NodeId)>,
        at: u32,
    ) -> Result<()> {
        let (Some(yes), Some(no)) = (yes, run.result.clone()) else { return Ok(()) };
        let not = self.rtl.not(cond);
        // The `open` condition of the true branch already includes the branch condition; that of the other branch does
        // not.
        let no_open = self.rtl.binary(Binary::And, no.3, not);
        let open = self.rtl.binary(Binary::Or, yes.3, no_open);
        let value = match (yes.2, no.2) {
            (Some(a), Some(b)) if self.rtl.width(a) != self.rtl.width(b) => {
                return self.fail(at, "results of different widths");
            }
            (Some(a), Some(b)) => Some(self.rtl.mux(cond, a, b)),
            (Some(a), None) => Some(a),
            (_, b) => b,
        };
        let ty = if yes.2.is_some() { yes.0 } else { no.0 };
        run.result = Some((ty, no.1, value, open));
        Ok(())
    }

    pub(super) fn merge(&mut self, run: &mut Run<'a>, cond: NodeId, yes: State, at: u32) -> Result<()> {
        for slot in touched(&yes, &run.state) {
            let (a, b) = (yes.get(&slot).cloned(), run.state.get(&slot).cloned());
            if a == b {
                continue;
            }
            let bits = |s: &mut Self, d: &Option<StoredValue>| match d {
                Some(d) => s.slot_bits(slot, d, at).map(Some),
                None => Ok(None),
            };
            let (a, b) = (bits(self, &a)?, bits(self, &b)?);
            let Some(width) = a.or(b).map(|n| self.rtl.width(n)) else { continue };
            let a = a.unwrap_or_else(|| self.before(run.clocked, slot, width));
            let b = b.unwrap_or_else(|| self.before(run.clocked, slot, width));
            let merged = self.rtl.mux_by_parts(cond, a, b, &mut self.unassigned);
            run.state.insert(slot, StoredValue::Node(merged));
        }
        Ok(())
    }

    pub(super) fn before(&mut self, clocked: bool, slot: Slot, width: u32) -> NodeId {
        match slot {
            Slot::Flag(_) => self.rtl.number(0, 1),
            Slot::Signal(id) if clocked => self.rtl.read(id),
            Slot::Variable(v) if clocked && self.kept.contains_key(&v) => match self.kept(v) {
                Some(id) => self.rtl.read(id),
                None => self.rtl.free(width),
            },
            _ => self.unassigned.fresh(&mut self.rtl, width),
        }
    }

    pub(super) fn case(
        &mut self,
        run: &mut Run<'a>,
        selector: &'a Expr,
        items: &'a [Choice<Vec<Statement>>],
        matching: bool,
    ) -> Result<()> {
        let s = self.value(run, selector, None)?;
        self.covered(items.iter().map(|(choices, others, _)| (&choices[..], *others)), &s, selector.at)?;
        if !matching && self.case_table(run, &s, items)? {
            return Ok(());
        }
        let (before, before_result) = (run.state.clone(), run.result.clone());
        let mut done = Vec::new();
        for (choices, others, body) in items {
            let hit = if *others { self.rtl.number(1, 1) } else { self.choose(run, &s, choices, matching)? };
            run.state = before.clone();
            run.result.clone_from(&before_result);
            if let Some((_, _, _, open)) = &mut run.result {
                *open = self.rtl.binary(Binary::And, *open, hit);
            }
            self.statements(run, body)?;
            done.push((hit, std::mem::take(&mut run.state), run.result.take()));
        }
        // The choices cover every value, so the last one needs no comparison.
        let Some((_, state, result)) = done.pop() else { return self.fail(selector.at, "a case without choices") };
        run.state = state;
        run.result = result;
        if self.join_as_tables(run, &done) {
            return Ok(());
        }
        for (hit, state, result) in done.into_iter().rev() {
            self.join_results(run, hit, result, selector.at)?;
            self.merge(run, hit, state, selector.at)?;
        }
        Ok(())
    }

    /// Merges branches that assign only constants, with look-up tables. Returns `false` and changes nothing in other
    /// cases.
    fn join_as_tables(&mut self, run: &mut Run<'a>, branches: &[Exited]) -> bool {
        if run.result.is_some() || branches.iter().any(|(_, _, result)| result.is_some()) {
            return false;
        }
        let Some((_, first, _)) = branches.first() else { return false };
        let slots: Vec<Slot> = touched(first, &run.state).into_iter().collect();
        let mut joined = Vec::new();
        for slot in slots {
            let node = |state: &State| match state.get(&slot) {
                Some(StoredValue::Node(node)) => Some(*node),
                _ => None,
            };
            let same = |state: &State| state.get(&slot) == run.state.get(&slot);
            if branches.iter().all(|(_, state, _)| same(state)) {
                continue;
            }
            let choices = branches.iter().map(|(hit, state, _)| Some((*hit, node(state)?))).collect::<Option<Vec<_>>>();
            let Some((choices, default)) = choices.zip(node(&run.state)) else { return false };
            let Some(table) = self.rtl.table_of_choices(&choices, default) else { return false };
            joined.push((slot, table));
        }
        // Every slot must be assigned by the first or the last branch.
        let known = |state: &State| state.keys().all(|slot| first.contains_key(slot) || run.state.contains_key(slot));
        if !branches.iter().all(|(_, state, _)| known(state)) {
            return false;
        }
        run.state.extend(joined.into_iter().map(|(slot, table)| (slot, StoredValue::Node(table))));
        true
    }

    /// Returns an error if choices do not cover all values. `std_logic` has nine values, so it needs `others`, as the
    /// last choice.
    pub(super) fn covered<'e>(
        &self,
        items: impl Iterator<Item = (&'e [Expr], bool)>,
        s: &Value,
        at: u32,
    ) -> Result<()> {
        let items: Vec<(&[Expr], bool)> = items.collect();
        let named = |what: &str| items.iter().flat_map(|i| i.0).any(|c| matches!(&c.kind, Kind::Name(n) if n == what));
        let Some((last, before)) = items.split_last() else { return self.fail(at, "a case without choices") };
        if before.iter().any(|i| i.1) {
            return self.fail(at, "choices after others");
        }
        if last.1 || (named("true") && named("false")) {
            return Ok(());
        }
        if let Type::Enum(e) = &s.ty {
            let mut names: Vec<&str> = Vec::new();
            for choice in items.iter().flat_map(|i| i.0) {
                match &choice.kind {
                    Kind::Name(n) | Kind::Field(_, n) => names.push(n),
                    _ => return self.fail(at, "choices of an enumeration are its literals"),
                }
            }
            names.sort_unstable();
            names.dedup();
            if names.len() as u32 == e.literals {
                return Ok(());
            }
        }
        self.fail(at, "choices that do not cover every value: others is missing")
    }

    /// Converts a case statement of a function to a look-up table if it returns a string literal for every value.
    pub(super) fn case_table(
        &mut self,
        run: &mut Run<'a>,
        s: &Value,
        items: &'a [Choice<Vec<Statement>>],
    ) -> Result<bool> {
        let (Some((ty, bounds, None, open)), Type::Vector(_, width), Data::Node(node)) =
            (run.result.clone(), &s.ty, &s.data)
        else {
            return Ok(false);
        };
        let (width, node) = (*width, *node);
        if items.len() < 8 || width > 24 || self.rtl.as_const(open).is_none_or(|v| *v == BigUint::ZERO) {
            return Ok(false);
        }
        let expected = match &ty {
            Type::Vector(v, 0) => Expect::Vector(*v),
            other => Expect::Exactly(other.clone()),
        };
        let mut entries: Vec<Option<BigUint>> = vec![None; 1 << width];
        let mut default = None;
        let mut out = None;
        for (choices, others, body) in items {
            let [Statement::Return(Some(e), _)] = &body[..] else { return Ok(false) };
            if !matches!(e.kind, Kind::Text(_)) {
                return Ok(false);
            }
            let v = self.value(run, e, Some(&expected))?;
            let Some(value) = self.node(&v).and_then(|n| self.rtl.as_const(n).cloned()) else { return Ok(false) };
            if *out.get_or_insert(v.ty.clone()) != v.ty {
                return self.fail(e.at, "results of different widths");
            }
            if *others {
                default = Some(value.clone());
            }
            for choice in choices {
                let Kind::Text(_) = choice.kind else { return Ok(false) };
                let c = self.typed(run, choice, &s.ty)?;
                let Some(at) = self.rtl.as_const(c).and_then(|v| usize::try_from(v).ok()) else { return Ok(false) };
                entries[at] = Some(value.clone());
            }
        }
        let (Some(out), true) = (out, default.is_some() || entries.iter().all(Option::is_some)) else {
            return Ok(false);
        };
        let entries = entries.into_iter().map(|e| e.or_else(|| default.clone()).unwrap_or_default()).collect();
        let zero = self.rtl.number(0, width_of(&out).unwrap_or(0));
        let table = self.rtl.table(Arc::new(entries), node, zero);
        let closed = self.rtl.number(0, 1);
        run.result = Some((out, bounds, Some(table), closed));
        Ok(true)
    }

    /// Returns one bit that is set if a selector has one of the choices as its value.
    pub(super) fn choose(
        &mut self,
        run: &mut Run<'a>,
        s: &Value,
        choices: &'a [Expr],
        matching: bool,
    ) -> Result<NodeId> {
        let mut hit = self.rtl.number(0, 1);
        for c in choices {
            let this = match (&c.kind, &s.data) {
                (Kind::Range(..), _) => {
                    let b = self.bounds_in(run, c)?;
                    let (lo, hi) = if b.down { (b.right, b.left) } else { (b.left, b.right) };
                    let mut any = self.rtl.number(0, 1);
                    for v in lo..=hi {
                        self.turn(c.at)?;
                        let one = self.equals_int(s, v, c.at)?;
                        any = self.rtl.binary(Binary::Or, any, one);
                    }
                    any
                }
                (Kind::Name(_), Data::Int(_) | Data::Natural(_) | Data::Whole(_))
                    if matches!(
                        self.range(run, c),
                        Ok(b) if b.len() > 0
                    ) =>
                {
                    let b = self.bounds_in(run, c)?;
                    let mut any = self.rtl.number(0, 1);
                    for v in b.left.min(b.right)..=b.left.max(b.right) {
                        self.turn(c.at)?;
                        let one = self.equals_int(s, v, c.at)?;
                        any = self.rtl.binary(Binary::Or, any, one);
                    }
                    any
                }
                (_, Data::Int(_) | Data::Natural(_) | Data::Whole(_)) => {
                    let v = self.int(run, c)?;
                    self.equals_int(s, v, c.at)?
                }
                (Kind::Text(pattern), Data::Node(own)) if matching => self.pattern(*own, pattern, c.at)?,
                _ => {
                    let node = self.typed(run, c, &s.ty)?;
                    let Some(own) = self.node(s) else { return self.fail(c.at, "a choice of another type") };
                    self.rtl.compare(Compare::Equal, own, node)
                }
            };
            hit = self.rtl.binary(Binary::Or, hit, this);
        }
        Ok(hit)
    }

    pub(super) fn equals_int(&mut self, s: &Value, v: i64, at: u32) -> Result<NodeId> {
        match &s.data {
            Data::Int(i) => Ok(self.rtl.number(u64::from(*i == v), 1)),
            Data::Natural(n) => {
                let width = self.rtl.width(*n);
                if v < 0 || (width < 63 && v >= 1 << width) {
                    return Ok(self.rtl.number(0, 1));
                }
                let c = self.rtl.number(v as u64, width);
                Ok(self.rtl.compare(Compare::Equal, *n, c))
            }
            Data::Whole(n) => {
                let wide = self.rtl.width(*n).max(40);
                let (x, c) = (self.rtl.resize(*n, wide, true), self.integer(v, wide));
                Ok(self.rtl.compare(Compare::Equal, x, c))
            }
            _ => self.fail(at, "an integer is expected here"),
        }
    }

    /// Counts a statement, a loop iteration or a call, and checks the limits of elaboration.
    pub(super) fn turn(&mut self, at: u32) -> Result<()> {
        self.iterations += 1;
        if self.iterations > MAX_ITERATIONS {
            return self.fail(at, "more than 2,000,000 statements or loop iterations");
        }
        if self.rtl.work() > MAX_WORK {
            return self.fail(at, "constants or expressions beyond the limits: too many, or too wide");
        }
        Ok(())
    }
    pub(super) fn assign(
        &mut self,
        run: &mut Run<'a>,
        target: &'a Expr,
        values: &'a [(Expr, Option<Expr>)],
        signal: bool,
        at: u32,
    ) -> Result<()> {
        let p = self.place(run, target)?;
        if signal != matches!(p.slot, Slot::Signal(_)) {
            return self.fail(at, "signals are assigned with <=, variables with :=");
        }
        if let (Type::Integer, Slot::Variable(_), [(value, None)], []) = (&p.ty, p.slot, values, &p.steps[..])
            && p.whole == storage(&p.ty, p.bounds)
        {
            // Constant integers are stored as numbers.
            let v = self.value(run, value, Some(&Expect::Exactly(Type::Integer)))?;
            self.same(at, &Type::Integer, &v.ty)?;
            let data = self.data2(&v, p.bounds, at)?;
            run.state.insert(p.slot, data);
            return Ok(());
        }
        if let (Type::Real | Type::Text | Type::Line, Slot::Variable(_), [(value, None)]) = (&p.ty, p.slot, values) {
            let v = self.value(run, value, Some(&Expect::Exactly(p.ty.clone())))?;
            self.same(at, &p.ty, &v.ty)?;
            let data = self.data2(&v, None, at)?;
            run.state.insert(p.slot, data);
            return Ok(());
        }
        let old = self.slot_value(run, &p, at)?;
        let width = storage(&p.ty, p.bounds);
        let held = if p.steps.is_empty() {
            let held = self.rtl.slice(old, p.lo, width);
            if self.unassigned.contains(old) {
                self.unassigned.note_part(&self.rtl, old, held);
            }
            held
        } else {
            self.chosen(old, 0, &p.steps, &p, width)
        };
        let node = self.waveform(run, values, (&p.ty, p.bounds), at, Some(held))?;
        self.put(run, &p, old, node);
        Ok(())
    }

    /// Returns the value of the whole slot of a place.
    fn slot_value(&mut self, run: &Run<'a>, p: &Place, at: u32) -> Result<NodeId> {
        match run.state.get(&p.slot).cloned() {
            Some(data) => self.slot_bits(p.slot, &data, at),
            None => Ok(self.before(run.clocked, p.slot, p.whole)),
        }
    }

    /// Stores bits at a place; `old` is the value of the whole slot.
    fn put(&mut self, run: &mut Run<'a>, p: &Place, old: NodeId, node: NodeId) {
        let new = if p.steps.is_empty() {
            let width = self.rtl.width(node);
            let (low, high) = (self.rtl.slice(old, 0, p.lo), self.rtl.slice(old, p.lo + width, p.whole - p.lo - width));
            for part in [low, high] {
                self.unassigned.note_part(&self.rtl, old, part);
            }
            self.rtl.join(&[low, node, high])
        } else {
            self.rewritten(old, 0, &p.steps, p, node)
        };
        run.state.insert(p.slot, StoredValue::Node(new));
    }

    /// Assigns a value to a place.
    pub(super) fn give(&mut self, run: &mut Run<'a>, p: &Place, v: &Value, at: u32) -> Result<()> {
        self.same(at, &p.ty, &v.ty)?;
        if let (Type::Real, Slot::Variable(_)) = (&p.ty, p.slot) {
            let data = self.data2(v, None, at)?;
            run.state.insert(p.slot, data);
            return Ok(());
        }
        if let (Type::Integer, Slot::Variable(_), []) = (&p.ty, p.slot, &p.steps[..])
            && p.whole == storage(&p.ty, p.bounds)
        {
            let data = self.data2(v, p.bounds, at)?;
            run.state.insert(p.slot, data);
            return Ok(());
        }
        let node = self.encoded(v, p.bounds, at)?;
        let old = self.slot_value(run, p, at)?;
        self.put(run, p, old, node);
        Ok(())
    }
}
