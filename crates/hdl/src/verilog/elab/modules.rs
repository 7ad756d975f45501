//! Modules: parameters, ports, generate blocks, instances, continuous assignments.

use super::super::ast::{Decl, DeclKind, Direction, Expr, ExprId, Instance, Item, Module, Sym};
use super::{Bounds, Elab, Kind, MAX_ITERATIONS, Object, Place, Process, Result, memory};
use crate::source::error;
use crate::{MAX_WIDTH, NodeId, SignalId};
use num_bigint::BigUint;
use rustc_hash::FxHashSet;

impl<'a> Elab<'a> {
    /// Elaborates a module. `outside` is the instance, or `None` for the top module.
    pub(super) fn module(
        &mut self,
        module: &'a Module,
        path: String,
        params: &[(Option<Sym>, ExprId, usize)],
        outside: Option<&Instance>,
    ) -> Result<usize> {
        self.instances += 1;
        if self.instances > 100_000 || path.matches('.').count() > 50 {
            return Err(error(
                self.text,
                module.at,
                "more than 100,000 instances, or instances nested more than 50 deep",
            ));
        }
        let scope = self.scope(None, path);
        if !self.assigned_names.contains_key(&module.name) {
            self.assigned_names.insert(module.name, memory::written(module, &self.file.exprs));
        }
        let mut given = 0;
        // Functions are declared first, as constant expressions of declarations may call them.
        for item in &module.items {
            self.declare_callable(scope, item)?;
        }
        for item in &module.items {
            let Item::Param(param) = item else { continue };
            let over = (!param.local).then(|| {
                given += 1;
                params.iter().enumerate().find(|(i, (name, ..))| match name {
                    Some(name) => *name == param.name,
                    None => i + 1 == given,
                })
            });
            let over = over.flatten().map(|(_, &(_, value, outer))| (value, outer));
            self.param(scope, param, over)?;
        }
        if params.iter().any(|p| p.0.is_none()) && params.len() > given {
            return Err(error(self.text, outside.map_or(module.at, |i| i.at), "more values than parameters"));
        }
        let known = |n: Sym| module.items.iter().any(|i| matches!(i, Item::Param(p) if p.name == n && !p.local));
        for &(name, ..) in params {
            if let Some(name) = name.filter(|&name| !known(name)) {
                let message = format!("{} has no parameter {}", self.name(module.name), self.name(name));
                return Err(error(self.text, outside.map_or(module.at, |i| i.at), message));
            }
        }
        for &name in &module.header {
            if !self.ports.contains_key(&(module.name, name)) {
                return Err(error(self.text, module.at, format!("port {} has no direction", self.name(name))));
            }
        }
        for port in &module.ports {
            let bounds = match port.kind {
                DeclKind::Integer => Bounds::from_width(32),
                _ => self.bounds(scope, port.range)?,
            };
            let id = self.new_signal(scope, port.name, bounds.width(), port.at)?;
            self.declare(scope, port.name, Object::Signal { id, bounds, signed: port.signed }, port.at)?;
            if port.kind == DeclKind::Wire || port.direction == Direction::In {
                self.nets.insert(id);
            }
            if let Some(value) = port.value {
                self.initial_value(scope, id, value)?;
            }
            if outside.is_none() {
                match port.direction {
                    Direction::In => {
                        self.rtl.signal_mut(id).input = true;
                        self.rtl.inputs.push(id);
                    }
                    Direction::Out | Direction::Both => self.rtl.outputs.push(id),
                }
            }
        }
        let items: Vec<(usize, &'a Item)> = module.items.iter().map(|i| (scope, i)).collect();
        self.body(items, module)?;
        Ok(scope)
    }

    /// Declares functions and tasks, which precede all other items of their scope.
    pub(super) fn declare_callable(&mut self, scope: usize, item: &'a Item) -> Result<()> {
        match item {
            Item::Function(f) => self.declare(scope, f.name, Object::Function(f), f.at),
            Item::Task(t) => self.declare(scope, t.name, Object::Task(t), t.at),
            _ => Ok(()),
        }
    }

    /// Returns the path of a scope with a name appended.
    pub(super) fn below(&self, scope: usize, name: &str) -> String {
        let path = &self.scopes[scope].path;
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }

    /// Declares a parameter; `over` is the value that an instance passes, and the scope of the value.
    pub(super) fn param(
        &mut self,
        scope: usize,
        param: &crate::verilog::ast::Param,
        over: Option<(ExprId, usize)>,
    ) -> Result<()> {
        let (value, from) = over.unwrap_or((param.value, scope));
        let mut p = Process::new(from, Kind::Constant);
        let (width, value_signed) = self.ty(&p, value)?;
        let given = match (param.range, param.integer) {
            (Some(_), _) => Some(self.bounds(scope, param.range)?),
            (None, true) => Some(Bounds::from_width(32)),
            (None, false) => None,
        };
        // A parameter with a range or type truncates or extends its value; otherwise it has the type of its value.
        let bounds = given.unwrap_or(Bounds::from_width(width));
        let node = self.assigned(&mut p, value, bounds.width())?;
        // Cells may have undefined parameters, such as the initial value of a register without one.
        if self.rtl.as_const(node).is_none() && !self.is_cell {
            return self.fail(value, "a constant is needed here");
        }
        let signed = if given.is_some() || param.signed { param.signed } else { value_signed };
        let object = Object::Param { value: node, bounds, signed };
        self.declare(scope, param.name, object, self.file.at[param.value as usize])
    }

    pub(super) fn new_signal(&mut self, scope: usize, name: Sym, width: u32, at: u32) -> Result<SignalId> {
        let name = self.below(scope, self.name(name));
        Ok(self.rtl.add_signal(name, width, at))
    }

    pub(super) fn initial_value(&mut self, scope: usize, id: SignalId, value: ExprId) -> Result<()> {
        let width = self.rtl.signal(id).width;
        let mut p = Process::new(scope, Kind::Constant);
        let node = self.assigned(&mut p, value, width)?;
        self.rtl.signal_mut(id).init = Some(node);
        Ok(())
    }

    /// Elaborates the items of a module and its generate blocks: declarations first, then constants of memories, then
    /// behaviour.
    pub(super) fn body(&mut self, items: Vec<(usize, &'a Item)>, module: &'a Module) -> Result<()> {
        self.written = self.assigned_names.get(&module.name).cloned().unwrap_or_default();
        let memories = self.memories.len();
        let mut flat: Vec<(usize, &'a Item)> = Vec::new();
        // Generate blocks are expanded in order; their declarations are visible only within the block.
        let mut queue: Vec<(usize, &'a Item)> = items;
        queue.reverse();
        while let Some((scope, item)) = queue.pop() {
            self.iterations += 1;
            if self.iterations > MAX_ITERATIONS {
                return Err(error(self.text, module.at, "more than 2,000,000 items or loop iterations"));
            }
            match item {
                Item::Nothing | Item::Function(_) | Item::Task(_) => {}
                Item::Param(p) => {
                    // Parameters of the module itself were declared before its ports.
                    if self.scopes[scope].parent.is_some() {
                        self.param(scope, p, None)?;
                    }
                }
                Item::Decl(d) => {
                    self.decl(scope, d, module)?;
                    flat.push((scope, item));
                }
                Item::GenBlock(name, inner) => {
                    let tag = name.map_or("gen", |n| self.name(n));
                    // The path of a generate loop's block contains the value of the loop variable.
                    let (outer, turn, path) = match self.turns.get(&scope) {
                        Some(&(outer, i)) => (outer, Some(i), self.below(outer, &format!("{tag}[{i}]"))),
                        None => (scope, None, self.below(scope, tag)),
                    };
                    let child = self.scope(Some(scope), path);
                    if let Some(name) = name {
                        self.blocks.insert((outer, *name, turn), child);
                    }
                    for item in inner {
                        self.declare_callable(child, item)?;
                    }
                    queue.extend(inner.iter().rev().map(|i| (child, i)));
                }
                Item::GenIf(cond, yes, no) => {
                    if self.constant(scope, *cond)? != BigUint::ZERO {
                        queue.push((scope, yes));
                    } else if let Some(no) = no {
                        queue.push((scope, no));
                    }
                }
                Item::GenCase(selector, cases, default) => {
                    let value = self.int(scope, *selector)?;
                    let mut chosen = default.as_deref();
                    'search: for (labels, item) in cases {
                        for &label in labels {
                            if self.int(scope, label)? == value {
                                chosen = Some(item);
                                break 'search;
                            }
                        }
                    }
                    queue.extend(chosen.map(|i| (scope, i)));
                }
                Item::GenFor { var, init, cond, step_var, step, body } => {
                    if step_var != var || !matches!(self.find(scope, *var), Some(Object::Genvar)) {
                        return self.fail(*init, "a generate loop counts one genvar");
                    }
                    let mut value = self.int(scope, *init)?;
                    let mut turns = Vec::new();
                    loop {
                        self.iterations += 1;
                        if self.iterations > MAX_ITERATIONS {
                            return self.fail(*cond, "more than 2,000,000 loop iterations");
                        }
                        let child = self.scope(Some(scope), self.scopes[scope].path.clone());
                        self.turns.insert(child, (scope, value));
                        let node = self.rtl.constant(BigUint::from(value as u64 & 0xffff_ffff), 32);
                        self.scopes[child]
                            .names
                            .insert(*var, Object::Param { value: node, bounds: Bounds::from_width(32), signed: true });
                        if self.constant(child, *cond)? == BigUint::ZERO {
                            break;
                        }
                        turns.push((child, &**body));
                        value = self.int(child, *step)?;
                    }
                    queue.extend(turns.into_iter().rev());
                }
                _ => flat.push((scope, item)),
            }
        }
        for &(scope, item) in &flat {
            if let Item::Initial(body, at) = item {
                self.initial(scope, body, *at)?;
            }
        }
        self.initial_memories(memories);
        for &(scope, item) in &flat {
            self.implicit_nets(scope, item)?;
        }
        for (scope, item) in flat {
            match item {
                Item::Decl(Decl { kind: DeclKind::Wire, name, value: Some(value), .. }) => {
                    let Some(&Object::Signal { id, .. }) = self.scopes[scope].names.get(name) else { continue };
                    let width = self.rtl.signal(id).width;
                    let node = self.rhs(scope, *value, width)?;
                    self.rtl.signal_mut(id).wires.push((0, node));
                }
                Item::Assign(target, value, at) => self.continuous(scope, *target, *value, *at)?,
                Item::Gate(target, inputs, value, at) => {
                    let p = Process::new(scope, Kind::Wire);
                    for &end in inputs.iter().chain([target]) {
                        if self.ty(&p, end)?.0 != 1 {
                            return self.fail(end, "a gate's connection of more than one bit");
                        }
                    }
                    self.continuous(scope, *target, *value, *at)?;
                }
                Item::Always(events, body, at) => self.always(scope, events, body, *at)?,
                Item::Instance(i) => self.instance(scope, i)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn decl(&mut self, scope: usize, d: &Decl, module: &Module) -> Result<()> {
        if d.kind == DeclKind::Genvar {
            return self.declare(scope, d.name, Object::Genvar, d.at);
        }
        let bounds = if d.kind == DeclKind::Integer { Bounds::from_width(32) } else { self.bounds(scope, d.range)? };
        if !d.memory.is_empty() {
            if d.value.is_some() {
                return Err(error(self.text, d.at, "a memory that is given a value as a whole"));
            }
            return self.memory(scope, d, bounds, false);
        }
        // `output y; reg y;` declares the port again.
        let port = self.ports.get(&(module.name, d.name)).filter(|_| self.scopes[scope].parent.is_none());
        if let (Some(port), Some(&Object::Signal { id, bounds: declared, signed })) =
            (port, self.scopes[scope].names.get(&d.name))
        {
            if (declared.msb, declared.lsb) != (bounds.msb, bounds.lsb) {
                return Err(error(self.text, d.at, "the port was declared with another range"));
            }
            let object = Object::Signal { id, bounds, signed: signed || d.signed };
            self.scopes[scope].names.insert(d.name, object);
            if d.kind != DeclKind::Wire && port.direction == Direction::Out {
                self.nets.remove(&id);
            }
        } else {
            let id = self.new_signal(scope, d.name, bounds.width(), d.at)?;
            match d.kind {
                DeclKind::Integer => self.integers.push(id),
                DeclKind::Wire => _ = self.nets.insert(id),
                _ => {}
            }
            self.declare(scope, d.name, Object::Signal { id, bounds, signed: d.signed }, d.at)?;
        }
        if let (DeclKind::Reg | DeclKind::Integer, Some(value), Some(&Object::Signal { id, .. })) =
            (d.kind, d.value, self.scopes[scope].names.get(&d.name))
        {
            self.initial_value(scope, id, value)?;
        }
        Ok(())
    }

    pub(super) fn instance(&mut self, scope: usize, i: &'a Instance) -> Result<()> {
        let Some(&module) = self.modules.get(&i.module) else {
            return Err(error(self.text, i.at, format!("no module is called {}", self.name(i.module))));
        };
        let params: Vec<_> = i.params.iter().map(|&(name, value)| (name, value, scope)).collect();
        let base = self.below(scope, self.name(i.name));
        // In an array of instances, the instance at the right end of the range is connected to the low bits.
        let (count, paths) = match i.range {
            None => (1, vec![base]),
            Some(_) => {
                let b = self.bounds(scope, i.range)?;
                let index = |n: i64| if b.msb >= b.lsb { b.lsb + n } else { b.lsb - n };
                if b.width() > 100_000 {
                    return Err(error(self.text, i.at, "more than 100,000 instances"));
                }
                (b.width(), (0..i64::from(b.width())).map(|n| format!("{base}[{}]", index(n))).collect())
            }
        };
        let written = std::mem::take(&mut self.written);
        let mut inner = Vec::with_capacity(paths.len());
        for path in paths {
            inner.push(self.module(module, path, &params, Some(i))?);
        }
        self.written = written;
        let mut seen = FxHashSet::default();
        for (at, (name, value)) in i.ports.iter().enumerate() {
            let port = match name {
                Some(name) => Some(*name),
                None => module.header.get(at).copied(),
            };
            let found = port.and_then(|name| self.ports.get(&(module.name, name)).copied());
            let Some(port) = found else {
                return Err(error(self.text, i.at, format!("module {} has no such port", self.name(i.module))));
            };
            if !seen.insert(port.name) {
                return Err(error(self.text, i.at, format!("port {} is connected twice", self.name(port.name))));
            }
            let ids: Vec<SignalId> = inner
                .iter()
                .filter_map(|&s| match self.scopes[s].names.get(&port.name) {
                    Some(Object::Signal { id, .. }) => Some(*id),
                    _ => None,
                })
                .collect();
            let Some(width) = ids.first().map(|&id| self.rtl.signal(id).width) else { continue };
            let all = match width.checked_mul(count) {
                Some(all) if all <= MAX_WIDTH => all,
                _ => return Err(error(self.text, i.at, "more than 2^24 bits")),
            };
            match (port.direction, value) {
                (Direction::In, Some(value)) => {
                    let own = self.ty(&Process::new(scope, Kind::Wire), *value)?.0;
                    if count > 1 && own != width && own != all {
                        return self.fail(
                            *value,
                            format!("{count} instances with ports of {width} bits take {width} or {all} bits"),
                        );
                    }
                    // A connection that is as wide as one port is shared by all instances.
                    let shared = count == 1 || own != all;
                    let node = self.rhs(scope, *value, if shared { width } else { all })?;
                    for (n, id) in ids.into_iter().enumerate() {
                        let part = if shared { node } else { self.rtl.slice(node, n as u32 * width, width) };
                        self.rtl.signal_mut(id).wires.push((0, part));
                    }
                }
                (Direction::Out | Direction::Both, Some(target)) => {
                    let own = self.target_width(&Process::new(scope, Kind::Wire), *target)?;
                    if count > 1 && own != all {
                        return self.fail(*target, format!("{count} instances drive {all} bits, not {own}"));
                    }
                    let nodes: Vec<NodeId> = ids.into_iter().map(|id| self.rtl.read(id)).collect();
                    let node = self.rtl.concat(&nodes);
                    self.drive(scope, *target, node, i.at)?;
                }
                (_, None) => {}
            }
        }
        if let Some(port) = module.ports.iter().find(|p| p.direction == Direction::In && !seen.contains(&p.name)) {
            return Err(error(self.text, i.at, format!("input {} is not connected", self.name(port.name))));
        }
        Ok(())
    }

    /// Declares undeclared names in connections and continuous assignments as nets of one bit, unless the file forbids
    /// implicit nets.
    pub(super) fn implicit_nets(&mut self, scope: usize, item: &'a Item) -> Result<()> {
        if !self.file.implicit {
            return Ok(());
        }
        let ends: Vec<ExprId> = match item {
            Item::Assign(target, ..) => vec![*target],
            Item::Gate(target, inputs, ..) => inputs.iter().copied().chain([*target]).collect(),
            Item::Instance(i) => i.ports.iter().filter_map(|p| p.1).collect(),
            _ => return Ok(()),
        };
        for e in ends {
            if let Expr::Name(sym) = self.expr(e)
                && self.find(scope, *sym).is_none()
            {
                let at = self.file.at[e as usize];
                let id = self.new_signal(scope, *sym, 1, at)?;
                self.declare(scope, *sym, Object::Signal { id, bounds: Bounds::SCALAR, signed: false }, at)?;
            }
        }
        Ok(())
    }

    // ---- Continuous assignments

    pub(super) fn rhs(&mut self, scope: usize, value: ExprId, width: u32) -> Result<NodeId> {
        let mut p = Process::new(scope, Kind::Wire);
        self.assigned(&mut p, value, width)
    }

    pub(super) fn continuous(&mut self, scope: usize, target: ExprId, value: ExprId, at: u32) -> Result<()> {
        let p = Process::new(scope, Kind::Wire);
        let width = self.target_width(&p, target)?;
        let node = self.rhs(scope, value, width)?;
        self.drive(scope, target, node, at)
    }

    pub(super) fn drive(&mut self, scope: usize, target: ExprId, node: NodeId, at: u32) -> Result<()> {
        let mut p = Process::new(scope, Kind::Wire);
        let width = self.target_width(&p, target)?;
        let node = self.rtl.resize(node, width, false);
        for (place, node) in self.places(&mut p, target, node)? {
            let (Place::Signal(id), Some(lo), []) = (place.what, place.lo, &place.steps[..]) else {
                return Err(error(self.text, at, "an assign drives wires, at constant places"));
            };
            self.rtl.signal_mut(id).wires.push((lo, node));
        }
        Ok(())
    }
}
