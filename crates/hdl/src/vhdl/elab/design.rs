//! Concurrent statements: assignments, generate statements, instances.

use super::super::syntax::{Arg, Block, Concurrent, Entity, Expr, Instance, Kind, Object};
use super::{Bounds, Data, Elab, Named, Result, Run, Slot, Type, Value};
use crate::NodeId;
use crate::source::error;
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

impl<'a> Elab<'a> {
    pub(super) fn concurrents(&mut self, scope: usize, body: &'a [Concurrent]) -> Result<()> {
        for c in body {
            self.turn(0)?;
            match c {
                Concurrent::Assign { target, values, at } => {
                    let mut run = self.constant_run(scope);
                    let (ty, bounds) = self.target_type(&mut run, target)?;
                    let node = self.waveform(&mut run, values, (&ty, bounds), *at, None)?;
                    self.drive(&mut run, target, node)?;
                }
                Concurrent::Select { selector, target, items, matching, at } => {
                    let mut run = self.constant_run(scope);
                    let (ty, bounds) = self.target_type(&mut run, target)?;
                    let s = self.value(&mut run, selector, None)?;
                    self.covered(items.iter().map(|(choices, others, _)| (&choices[..], *others)), &s, selector.at)?;
                    let mut nodes = Vec::new();
                    for (choices, others, value) in items {
                        let v = self.kept_as(&mut run, value, &ty, bounds)?;
                        nodes.push((self.choose(&mut run, &s, choices, *matching)?, *others, v));
                    }
                    let Some(&(_, _, mut node)) = nodes.last() else {
                        return self.fail(*at, "a selection without choices");
                    };
                    if let Some(o) = nodes.iter().find(|n| n.1) {
                        node = o.2;
                    }
                    let choices: Vec<_> = nodes.iter().filter(|n| !n.1).map(|n| (n.0, n.2)).collect();
                    if let Some(table) = self.rtl.table_of_choices(&choices, node) {
                        self.drive(&mut run, target, table)?;
                        continue;
                    }
                    for &(hit, others, v) in nodes.iter().rev() {
                        if !others {
                            node = self.rtl.mux(hit, v, node);
                        }
                    }
                    self.drive(&mut run, target, node)?;
                }
                Concurrent::Process { waits, decls, body, at } => self.process(scope, waits, decls, body, *at)?,
                Concurrent::Instance(i) => self.instance(scope, i)?,
                Concurrent::For { label, var, range, decls, body } => {
                    let b = self.bounds(scope, range)?;
                    let (path, scopes) = (self.below(scope, label), self.scopes.len());
                    for k in 0..i64::from(b.len()) {
                        self.turn(range.at)?;
                        let i = if b.down { b.left - k } else { b.left + k };
                        let inner = self.scope(Some(scope), format!("{path}({i})"));
                        let v = Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
                        self.declare(inner, var, Named::Constant(v), range.at)?;
                        self.decls(inner, decls)?;
                        self.concurrents(inner, body)?;
                        self.scopes.truncate(scopes);
                    }
                }
                Concurrent::If { label, branches } => {
                    let mut run = self.constant_run(scope);
                    for (cond, block) in branches {
                        let holds = match cond {
                            None => true,
                            Some(cond) => {
                                let node = self.condition(&mut run, cond)?;
                                match self.rtl.as_const(node) {
                                    None => return self.fail(cond.at, "a constant is needed here"),
                                    Some(v) => *v != BigUint::ZERO,
                                }
                            }
                        };
                        if holds {
                            self.block(scope, label, block)?;
                            break;
                        }
                    }
                }
                Concurrent::Case { label, selector, items } => {
                    let mut run = self.constant_run(scope);
                    let s = self.value(&mut run, selector, None)?;
                    self.covered(items.iter().map(|(choices, others, _)| (&choices[..], *others)), &s, selector.at)?;
                    for (choices, others, block) in items {
                        let hit = self.choose(&mut run, &s, choices, false)?;
                        let Some(hit) = self.rtl.as_const(hit).map(|v| *v != BigUint::ZERO) else {
                            return self.fail(selector.at, "a constant is needed here");
                        };
                        if hit || *others {
                            self.block(scope, label, block)?;
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the path of a scope with a label appended.
    fn below(&self, scope: usize, label: &str) -> String {
        let path = &self.scopes[scope].path;
        if path.is_empty() { label.to_owned() } else { format!("{path}.{label}") }
    }

    /// Elaborates the contents of a generate alternative.
    fn block(&mut self, scope: usize, label: &str, block: &'a Block) -> Result<()> {
        let (path, scopes) = (self.below(scope, label), self.scopes.len());
        let path = if block.label.is_empty() { path } else { format!("{path}.{}", block.label) };
        let inner = self.scope(Some(scope), path);
        self.decls(inner, &block.decls)?;
        self.concurrents(inner, &block.body)?;
        self.scopes.truncate(scopes);
        Ok(())
    }

    pub(super) fn instance(&mut self, scope: usize, i: &'a Instance) -> Result<()> {
        let Instance { label, entity, architecture, direct, generics, ports, at } = i;
        let at = *at;
        let Some(found) = self.file.entities.iter().find(|e| e.name == *entity) else {
            return self.fail(at, format!("no entity is called {entity}"));
        };
        // For a component, its declaration determines the order and the defaults of the ports.
        let face: &'a Entity = match (direct, self.find(scope, entity)) {
            (true, _) => found,
            (false, Some(Named::Component(c))) => c,
            (false, _) => return self.fail(at, format!("no component is called {entity}")),
        };
        let formal = |s: &Self, arg: &Arg, i: usize, list: &[Object]| match &arg.choices[..] {
            [] => list
                .get(i)
                .map(|o| o.name.clone())
                .ok_or_else(|| error(s.text, arg.value.at, "more connections than ports")),
            [Expr { kind: Kind::Name(n), .. }] => Ok(n.clone()),
            [other, ..] => Err(error(s.text, other.at, "a port is connected by its name as a whole")),
        };
        let mut values: Vec<(String, Value)> = Vec::new();
        for (i, arg) in generics.iter().enumerate() {
            let name = formal(self, arg, i, &face.generics)?;
            let Some(g) = found.generics.iter().find(|g| g.name == name) else {
                return self.fail(arg.value.at, format!("{entity} has no generic {name}"));
            };
            let ty = self.type_of(scope, &g.ty)?;
            values.push((name, self.constant(scope, &arg.value, &ty)?));
        }
        if !direct {
            for g in face.generics.iter().filter(|g| !values.iter().any(|(n, _)| *n == g.name)).collect::<Vec<_>>() {
                if let Some(default) = &g.value {
                    let ty = self.type_of(scope, &g.ty)?;
                    values.push((g.name.clone(), self.constant(scope, default, &ty)?));
                }
            }
        }
        let outer = &self.scopes[scope].path;
        let path = if outer.is_empty() { label.clone() } else { format!("{outer}.{label}") };
        let inner = self.entity(found, architecture.as_deref(), path, values, false)?;
        let mut seen = FxHashSet::default();
        let by_name: FxHashMap<&str, &Object> = found.ports.iter().map(|p| (p.name.as_str(), p)).collect();
        for (i, arg) in ports.iter().enumerate() {
            let (name, part) = match &arg.choices[..] {
                [formal @ Expr { kind: Kind::Call(base, args), .. }] => match (&base.kind, &args[..]) {
                    // `port(3 downto 0) => x`, or a conversion `unsigned(port) => x`.
                    (Kind::Name(n), _) if by_name.contains_key(n.as_str()) => (n.clone(), Some(formal)),
                    (_, [Arg { value: Expr { kind: Kind::Name(n), .. }, .. }]) => (n.clone(), Some(formal)),
                    _ => return self.fail(formal.at, "a port is connected by its name, a part or a conversion of it"),
                },
                [formal @ Expr { kind: Kind::Field(base, _), .. }] => match &base.kind {
                    Kind::Name(n) => (n.clone(), Some(formal)),
                    _ => return self.fail(formal.at, "a port is connected by its name, a part or a conversion of it"),
                },
                _ => (formal(self, arg, i, &face.ports)?, None),
            };
            let (Some(port), Some(Named::Signal { id, ty, bounds })) =
                (by_name.get(name.as_str()), self.scopes[inner].names.get(&name).cloned())
            else {
                return self.fail(arg.value.at, format!("{entity} has no port {name}"));
            };
            let whole = part
                .is_none_or(|p| matches!(&p.kind, Kind::Call(b, _) if matches!(&b.kind, Kind::Name(n) if *n != name)));
            if !seen.insert(name) && whole {
                return self.fail(arg.value.at, "a port that is connected twice");
            }
            let mut run = self.constant_run(scope);
            if matches!(arg.value.kind, Kind::Open) {
                continue;
            }
            let mut within = self.constant_run(inner);
            if port.output {
                let v = match part {
                    // Part or conversion of an output port, evaluated in the scope of the instance.
                    Some(part) => {
                        let reads = self.reads.len();
                        let v = self.value(&mut within, part, None)?;
                        self.reads.truncate(reads);
                        v
                    }
                    None => {
                        let node = self.rtl.read(id);
                        Value { ty, data: Data::Node(node), bounds }
                    }
                };
                let (outer, _) = self.target_type(&mut run, &arg.value)?;
                self.same(arg.value.at, &outer, &v.ty)?;
                let node = self.encoded(&v, bounds, arg.value.at)?;
                self.drive(&mut run, &arg.value, node)?;
            } else {
                let (lo, ty, bounds) = match part {
                    Some(part) if whole => {
                        return self.fail(part.at, "a conversion of an input's name: convert what is connected");
                    }
                    Some(part) => {
                        let place = self.place(&mut within, part)?;
                        if !place.steps.is_empty() {
                            return self.fail(part.at, "a part at a place that is not constant");
                        }
                        (place.lo, place.ty, place.bounds)
                    }
                    None => (0, ty, bounds),
                };
                let node = self.kept_as(&mut run, &arg.value, &ty, bounds)?;
                self.rtl.signal_mut(id).wires.push((lo, node));
            }
        }
        for port in &found.ports {
            if port.output || seen.contains(&port.name) {
                continue;
            }
            // An unconnected input gets its default value; without one it is an error.
            let Some(Named::Signal { id, ty, bounds }) = self.scopes[inner].names.get(&port.name).cloned() else {
                continue;
            };
            let Some(default) = &port.value else {
                return self.fail(at, format!("input {} is not connected", port.name));
            };
            let mut within = self.constant_run(inner);
            let node = self.kept_as(&mut within, default, &ty, bounds)?;
            self.rtl.signal_mut(id).wires.push((0, node));
        }
        Ok(())
    }

    /// Evaluates values with conditions. If the last value has a condition too, the bits keep `hold`.
    pub(super) fn waveform(
        &mut self,
        run: &mut Run<'a>,
        values: &'a [(Expr, Option<Expr>)],
        (ty, bounds): (&Type, Option<Bounds>),
        at: u32,
        hold: Option<NodeId>,
    ) -> Result<NodeId> {
        let mut parts = Vec::new();
        for (value, cond) in values {
            let node = self.kept_as(run, value, ty, bounds)?;
            let cond = match cond {
                Some(c) => Some(self.condition(run, c)?),
                None => None,
            };
            parts.push((node, cond));
        }
        let mut node = match (parts.last(), hold) {
            (Some(&(node, None)), _) => {
                parts.pop();
                node
            }
            (_, Some(hold)) => hold,
            _ => return self.fail(at, "an assignment that does not say what happens otherwise: a latch"),
        };
        for (value, cond) in parts.into_iter().rev() {
            if let Some(cond) = cond {
                node = self.rtl.mux(cond, value, node);
            }
        }
        Ok(node)
    }

    pub(super) fn drive(&mut self, run: &mut Run<'a>, target: &'a Expr, node: NodeId) -> Result<()> {
        let place = self.place(run, target)?;
        let (Slot::Signal(id), true) = (place.slot, place.steps.is_empty()) else {
            return self.fail(target.at, "a signal is expected here, at a constant place");
        };
        self.rtl.signal_mut(id).wires.push((place.lo, node));
        Ok(())
    }
}
