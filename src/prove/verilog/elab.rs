//! Elaboration: hierarchy, parameters and generate blocks unrolled, widths and signs of IEEE 1364-2001 sections 4 and 5
//! made explicit, processes executed symbolically.

mod memory;

use super::ast::{
    Decl, DeclKind, Direction, Events, Expr, ExprId, File, Function, Instance, Item, Module, Op, Range, Statement, Sym,
    Task, Unary,
};
use super::lexer::error;
use crate::diag::Diagnostic;
use crate::prove::rtl::{Binary, Compare, MAX_WIDTH, MAX_WORK, NodeId, Reduce, Register, Rtl, Shift, SignalId};
use memory::{Memory, Step};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Iterations of loops in one file, and calls inside calls.
const MAX_ITERATIONS: u32 = 2_000_000;
const MAX_CALLS: u32 = 64;

/// Bounds of a vector or memory.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    msb: i64,
    lsb: i64,
}

impl Bounds {
    fn of_width(width: u32) -> Bounds {
        Bounds { msb: i64::from(width) - 1, lsb: 0 }
    }

    fn width(self) -> u32 {
        (self.msb - self.lsb).unsigned_abs() as u32 + 1
    }

    /// Position of index `i`, from the low end, wherever that is.
    fn position(self, i: i64) -> i64 {
        if self.msb >= self.lsb { i.saturating_sub(self.lsb) } else { self.lsb.saturating_sub(i) }
    }
}

#[derive(Clone, Copy)]
enum Object<'a> {
    Signal {
        id: SignalId,
        bounds: Bounds,
        signed: bool,
    },
    /// A variable of a function or process: its value is in the state under this number.
    Variable {
        id: u32,
        bounds: Bounds,
        signed: bool,
    },
    /// A constant.
    Param {
        value: NodeId,
        bounds: Bounds,
        signed: bool,
    },
    /// A memory or an array of nets, with the bounds of its words.
    Memory {
        id: usize,
        bounds: Bounds,
        signed: bool,
    },
    Function(&'a Function),
    Task(&'a Task),
    Genvar,
}

/// Values that `defparam` gives to the parameters of an instance: name, value, the scope that it is from, and its place.
type Overrides = Vec<(Sym, ExprId, usize, u32)>;

/// A scope of names; generate blocks and functions see outwards.
struct Scope<'a> {
    names: FxHashMap<Sym, Object<'a>>,
    parent: Option<usize>,
    path: String,
}

/// Where a value is kept during the execution of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Slot {
    Variable(u32),
    /// A blocking assignment to a signal.
    Signal(SignalId),
    /// A nonblocking one.
    Next(SignalId),
}

/// Values during the execution of a process. Ordered, so that the same file makes the same expressions.
#[derive(Clone, Default)]
struct State {
    values: BTreeMap<Slot, NodeId>,
}

struct Elab<'a> {
    text: &'a str,
    file: &'a File,
    rtl: Rtl,
    scopes: Vec<Scope<'a>>,
    memories: Vec<Memory>,
    /// Words of all memories.
    words: u64,
    /// What the module that is being elaborated assigns outside of `initial` blocks.
    written: FxHashSet<Sym>,
    /// The same of modules that were looked at.
    assigned_names: FxHashMap<Sym, FxHashSet<Sym>>,
    /// Generate blocks by the scope they are in, their name, and their turn.
    blocks: FxHashMap<(usize, Sym, Option<i64>), usize>,
    /// Scopes of turns of generate loops: the scope of the loop, and the turn.
    turns: FxHashMap<usize, (usize, i64)>,
    defparams: FxHashMap<String, Overrides>,
    variables: u32,
    iterations: u32,
    calls: u32,
    instances: u32,
    modules: FxHashMap<Sym, &'a Module>,
    /// Free nodes that stand for "not assigned yet" in a process.
    unassigned: rustc_hash::FxHashSet<NodeId>,
    /// Signals that a process does not assign on every path, and where it is.
    latches: Vec<(SignalId, u32)>,
    /// Loop variables, which several processes may use in turn.
    integers: Vec<SignalId>,
    /// What clocked processes assign with `=`, and what they read: signal, process, and the place of reading.
    immediate: Vec<(SignalId, u32)>,
    sampled: Vec<(SignalId, u32, ExprId)>,
}

/// What is being executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A constant expression, or the body of an `initial`.
    Constant,
    /// A continuous assignment.
    Wire,
    /// A process that waits for an edge.
    Edge,
    /// A process that waits for levels. What it does not assign on every path would be a latch.
    Level,
}

/// One process being executed.
struct Process {
    state: State,
    scope: usize,
    kind: Kind,
    /// Whether it is the body of a function.
    function: bool,
    /// Bits of signals that were read before this process assigned them: signal, lowest bit, end, and where.
    reads: Vec<(SignalId, u32, u32, ExprId)>,
}

impl Process {
    fn new(scope: usize, kind: Kind) -> Process {
        Process { state: State::default(), scope, kind, function: false, reads: Vec::new() }
    }
}

/// Elaborates module `top`, or the only module that no other one instantiates.
pub(super) fn elaborate(text: &str, file: &File, top: Option<&str>) -> Result<Rtl> {
    let mut modules = FxHashMap::default();
    for module in &file.modules {
        if modules.insert(module.name, module).is_some() {
            return Err(error(text, module.at, "a second module of this name"));
        }
    }
    let top = find_top(text, file, top)?;
    let mut e = Elab {
        text,
        file,
        rtl: Rtl::new(file.names[top.name as usize].clone(), file.head.clone()),
        scopes: Vec::new(),
        memories: Vec::new(),
        words: 0,
        written: FxHashSet::default(),
        assigned_names: FxHashMap::default(),
        blocks: FxHashMap::default(),
        turns: FxHashMap::default(),
        defparams: FxHashMap::default(),
        variables: 0,
        iterations: 0,
        calls: 0,
        instances: 0,
        modules,
        unassigned: Default::default(),
        latches: Vec::new(),
        integers: Vec::new(),
        immediate: Vec::new(),
        sampled: Vec::new(),
    };
    e.module(top, String::new(), &[], None)?;
    if let Some(&(_, _, _, at)) = e.defparams.values().flatten().min_by_key(|d| d.3) {
        return Err(error(text, at, "defparam of a parameter that is not there"));
    }
    e.settle()?;
    e.rtl.check_drivers(|at| super::lexer::place(text, at))?;
    Ok(e.rtl)
}

fn find_top<'a>(text: &str, file: &'a File, top: Option<&str>) -> Result<&'a Module> {
    if let Some(top) = top {
        let found = file.modules.iter().find(|m| file.names[m.name as usize] == top);
        return found.ok_or_else(|| {
            let names: Vec<_> = file.modules.iter().map(|m| file.names[m.name as usize].as_str()).collect();
            error(text, 0, format!("no module is called {top}")).with_help(format!("modules: {}", names.join(", ")))
        });
    }
    let mut used = rustc_hash::FxHashSet::default();
    fn visit(item: &Item, used: &mut rustc_hash::FxHashSet<Sym>) {
        match item {
            Item::Instance(i) => {
                used.insert(i.module);
            }
            Item::GenBlock(_, items) => items.iter().for_each(|i| visit(i, used)),
            Item::GenFor { body, .. } => visit(body, used),
            Item::GenIf(_, yes, no) => {
                visit(yes, used);
                no.iter().for_each(|i| visit(i, used));
            }
            Item::GenCase(_, items, default) => {
                items.iter().for_each(|(_, i)| visit(i, used));
                default.iter().for_each(|i| visit(i, used));
            }
            _ => {}
        }
    }
    file.modules.iter().flat_map(|m| &m.items).for_each(|i| visit(i, &mut used));
    let tops: Vec<_> = file.modules.iter().filter(|m| !used.contains(&m.name)).collect();
    match tops[..] {
        [one] => Ok(one),
        [] => Err(error(text, 0, "the file has no top module")),
        _ => Err(error(text, tops[1].at, "more than one module that no other uses").with_help("--top NAME says which")),
    }
}

impl<'a> Elab<'a> {
    fn fail<T>(&self, e: ExprId, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, self.file.at[e as usize], message))
    }

    fn name(&self, sym: Sym) -> &'a str {
        &self.file.names[sym as usize]
    }

    fn expr(&self, e: ExprId) -> &'a Expr {
        &self.file.exprs[e as usize]
    }

    fn find(&self, scope: usize, sym: Sym) -> Option<&Object<'a>> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(object) = self.scopes[s].names.get(&sym) {
                return Some(object);
            }
            at = self.scopes[s].parent;
        }
        None
    }

    /// What a name or a path through generate blocks is for; nothing for other expressions.
    fn object(&self, p: &Process, e: ExprId) -> Result<Option<Object<'a>>> {
        match self.expr(e) {
            Expr::Name(sym) => Ok(self.find(p.scope, *sym).copied()),
            Expr::Path(path, name) => {
                let mut indices = Vec::with_capacity(path.len());
                for (_, index) in path {
                    indices.push(match index {
                        Some(i) => Some(self.peek_int(p, *i)?),
                        None => None,
                    });
                }
                // The first name is looked for outwards.
                let Some(&(first, _)) = path.first() else { return Ok(None) };
                let mut scope = Some(p.scope);
                let mut found = None;
                while let (Some(s), None) = (scope, found) {
                    found = self.blocks.get(&(s, first, indices[0])).copied();
                    scope = self.scopes[s].parent;
                }
                for ((sym, _), index) in path.iter().zip(&indices).skip(1) {
                    found = found.and_then(|f| self.blocks.get(&(f, *sym, *index)).copied());
                }
                match found.and_then(|f| self.scopes[f].names.get(name)) {
                    Some(&object) => Ok(Some(object)),
                    None => self
                        .fail(e, "no generate block with this name and turn declares it; paths lead to nothing else"),
                }
            }
            _ => Ok(None),
        }
    }

    /// A name for messages.
    fn shown(&self, e: ExprId) -> &'a str {
        match self.expr(e) {
            Expr::Name(sym) | Expr::Path(_, sym) => self.name(*sym),
            _ => "this",
        }
    }

    /// Refuses what would take too long or too much memory.
    fn budget(&self, e: ExprId) -> Result<()> {
        if self.rtl.work() > MAX_WORK {
            return self.fail(e, "constants and expressions beyond what is read: too many, or too wide");
        }
        Ok(())
    }

    fn scope(&mut self, parent: Option<usize>, path: String) -> usize {
        self.scopes.push(Scope { names: FxHashMap::default(), parent, path });
        self.scopes.len() - 1
    }

    fn declare(&mut self, scope: usize, sym: Sym, object: Object<'a>, at: u32) -> Result<()> {
        if self.scopes[scope].names.insert(sym, object).is_some() {
            return Err(error(self.text, at, format!("{} is declared twice", self.name(sym))));
        }
        Ok(())
    }

    // ---- Constants

    fn constant(&mut self, scope: usize, e: ExprId) -> Result<BigUint> {
        let mut p = Process::new(scope, Kind::Constant);
        let (width, signed) = self.ty(&p, e)?;
        let node = self.eval(&mut p, e, width, signed)?;
        match self.rtl.as_const(node) {
            Some(v) => Ok(v.clone()),
            None => self.fail(e, "a constant is needed here"),
        }
    }

    /// A constant as a signed number.
    fn int(&mut self, scope: usize, e: ExprId) -> Result<i64> {
        let p = Process::new(scope, Kind::Constant);
        let (width, signed) = self.ty(&p, e)?;
        let value = self.constant(scope, e)?;
        match small(&value, width, signed) {
            Some(v) if v.unsigned_abs() < 1 << 40 => Ok(v),
            _ => self.fail(e, "a constant beyond 2^40"),
        }
    }

    fn bounds(&mut self, scope: usize, range: Range) -> Result<Bounds> {
        let Some((msb, lsb)) = range else { return Ok(Bounds { msb: 0, lsb: 0 }) };
        let bounds = Bounds { msb: self.int(scope, msb)?, lsb: self.int(scope, lsb)? };
        if (bounds.msb - bounds.lsb).unsigned_abs() >= u64::from(MAX_WIDTH) {
            return self.fail(msb, "a vector of more than 2^24 bits");
        }
        Ok(bounds)
    }

    // ---- Modules

    /// Elaborates a module; `outside` are the signals that its ports become, for an instance.
    fn module(
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
        let overrides = self.defparams.remove(&path).unwrap_or_default();
        let scope = self.scope(None, path);
        if !self.assigned_names.contains_key(&module.name) {
            self.assigned_names.insert(module.name, memory::written(module, &self.file.exprs));
        }
        let mut given = 0;
        // Constant expressions of declarations may call functions.
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
            let last = overrides.iter().rev().find(|o| o.0 == param.name && !param.local);
            let over = last.map(|&(_, value, outer, _)| (value, outer)).or(over);
            self.param(scope, param, over)?;
        }
        if params.iter().any(|p| p.0.is_none()) && params.len() > given {
            return Err(error(self.text, outside.map_or(module.at, |i| i.at), "more values than parameters"));
        }
        let known = |n: Sym| module.items.iter().any(|i| matches!(i, Item::Param(p) if p.name == n && !p.local));
        if let Some(unknown) = overrides.iter().find(|o| !known(o.0)) {
            return Err(error(self.text, unknown.3, "no such parameter"));
        }
        for (name, ..) in params.iter() {
            if !name.is_none_or(known) {
                return Err(error(self.text, outside.map_or(module.at, |i| i.at), "no such parameter"));
            }
        }
        for &name in &module.header {
            if !module.ports.iter().any(|p| p.name == name) {
                return Err(error(self.text, module.at, format!("port {} has no direction", self.name(name))));
            }
        }
        for port in &module.ports {
            let bounds = match port.kind {
                DeclKind::Integer => Bounds::of_width(32),
                _ => self.bounds(scope, port.range)?,
            };
            let id = self.new_signal(scope, port.name, bounds.width(), port.at)?;
            self.declare(scope, port.name, Object::Signal { id, bounds, signed: port.signed }, port.at)?;
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

    /// Functions and tasks are there before anything else of their scope.
    fn declare_callable(&mut self, scope: usize, item: &'a Item) -> Result<()> {
        match item {
            Item::Function(f) => self.declare(scope, f.name, Object::Function(f), f.at),
            Item::Task(t) => self.declare(scope, t.name, Object::Task(t), t.at),
            _ => Ok(()),
        }
    }

    /// A path with one more name.
    fn below(&self, scope: usize, name: &str) -> String {
        let path = &self.scopes[scope].path;
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }

    /// A parameter; `over` is the value that an instance gives it, and the scope that it is from.
    fn param(&mut self, scope: usize, param: &super::ast::Param, over: Option<(ExprId, usize)>) -> Result<()> {
        let (value, from) = over.unwrap_or((param.value, scope));
        let mut p = Process::new(from, Kind::Constant);
        let (width, value_signed) = self.ty(&p, value)?;
        let given = match (param.range, param.integer) {
            (Some(_), _) => Some(self.bounds(scope, param.range)?),
            (None, true) => Some(Bounds::of_width(32)),
            (None, false) => None,
        };
        // With a type, a parameter is assigned to like a variable; else it takes the type of its value.
        let bounds = given.unwrap_or(Bounds::of_width(width));
        let node = self.assigned(&mut p, value, bounds.width())?;
        if self.rtl.as_const(node).is_none() {
            return self.fail(value, "a constant is needed here");
        }
        let signed = if given.is_some() || param.signed { param.signed } else { value_signed };
        let object = Object::Param { value: node, bounds, signed };
        self.declare(scope, param.name, object, self.file.at[param.value as usize])
    }

    fn new_signal(&mut self, scope: usize, name: Sym, width: u32, at: u32) -> Result<SignalId> {
        let name = self.below(scope, self.name(name));
        Ok(self.rtl.add_signal(name, width, at))
    }

    fn initial_value(&mut self, scope: usize, id: SignalId, value: ExprId) -> Result<()> {
        let width = self.rtl.signal(id).width;
        let mut p = Process::new(scope, Kind::Constant);
        let node = self.assigned(&mut p, value, width)?;
        self.rtl.signal_mut(id).init = Some(node);
        Ok(())
    }

    /// Items of a module with all its generate blocks: declarations first, then constants of memories, then behaviour.
    fn body(&mut self, items: Vec<(usize, &'a Item)>, module: &'a Module) -> Result<()> {
        self.written = self.assigned_names.get(&module.name).cloned().unwrap_or_default();
        let memories = self.memories.len();
        let mut flat: Vec<(usize, &'a Item)> = Vec::new();
        // Generate blocks open in order; what they declare is visible to what follows them only inside.
        let mut queue: Vec<(usize, &'a Item)> = items;
        queue.reverse();
        while let Some((scope, item)) = queue.pop() {
            self.iterations += 1;
            if self.iterations > MAX_ITERATIONS {
                return Err(error(self.text, module.at, "more than 2,000,000 items or loop iterations"));
            }
            match item {
                Item::Nothing | Item::Function(_) | Item::Task(_) => {}
                Item::Defparam(path, name, value, at) => {
                    let p = Process::new(scope, Kind::Constant);
                    let mut instance = self.scopes[scope].path.clone();
                    for &(step, index) in path {
                        let dot = if instance.is_empty() { "" } else { "." };
                        instance.push_str(&format!("{dot}{}", self.name(step)));
                        if let Some(i) = index {
                            instance.push_str(&format!("[{}]", self.peek_int(&p, i)?));
                        }
                    }
                    self.defparams.entry(instance).or_default().push((*name, *value, scope, *at));
                }
                Item::Param(p) => {
                    // Those of the module itself were read before its ports.
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
                    // The block of a loop has the turn in its name.
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
                            .insert(*var, Object::Param { value: node, bounds: Bounds::of_width(32), signed: true });
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
                Item::Decl(Decl { kind: DeclKind::Wire, name, value: Some(value), at, .. }) => {
                    let Some(&Object::Signal { id, .. }) = self.scopes[scope].names.get(name) else { continue };
                    let width = self.rtl.signal(id).width;
                    let node = self.rhs(scope, *value, width)?;
                    let _ = at;
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

    fn decl(&mut self, scope: usize, d: &Decl, module: &Module) -> Result<()> {
        if d.kind == DeclKind::Genvar {
            return self.declare(scope, d.name, Object::Genvar, d.at);
        }
        let bounds = if d.kind == DeclKind::Integer { Bounds::of_width(32) } else { self.bounds(scope, d.range)? };
        if !d.memory.is_empty() {
            if d.value.is_some() {
                return Err(error(self.text, d.at, "a memory that is given a value as a whole"));
            }
            return self.memory(scope, d, bounds, false);
        }
        // `output y; reg y;` names the port again.
        let is_port = self.scopes[scope].parent.is_none() && module.ports.iter().any(|p| p.name == d.name);
        if let (true, Some(&Object::Signal { id, bounds: port, signed })) =
            (is_port, self.scopes[scope].names.get(&d.name))
        {
            if (port.msb, port.lsb) != (bounds.msb, bounds.lsb) {
                return Err(error(self.text, d.at, "the port was declared with another range"));
            }
            let object = Object::Signal { id, bounds, signed: signed || d.signed };
            self.scopes[scope].names.insert(d.name, object);
        } else {
            let id = self.new_signal(scope, d.name, bounds.width(), d.at)?;
            if d.kind == DeclKind::Integer {
                self.integers.push(id);
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

    fn instance(&mut self, scope: usize, i: &'a Instance) -> Result<()> {
        let Some(&module) = self.modules.get(&i.module) else {
            return Err(error(self.text, i.at, format!("no module is called {}", self.name(i.module))));
        };
        let params: Vec<_> = i.params.iter().map(|&(name, value)| (name, value, scope)).collect();
        let base = self.below(scope, self.name(i.name));
        // Of an array, the instance at the right end of the range has the low bits of the connections.
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
            let found = port.and_then(|name| module.ports.iter().find(|p| p.name == name));
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
                    // As wide as one port: the same for each.
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

    /// Names that only connections and continuous assignments give are nets of one bit, unless the file forbids that.
    fn implicit_nets(&mut self, scope: usize, item: &'a Item) -> Result<()> {
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
                self.declare(scope, *sym, Object::Signal { id, bounds: Bounds::of_width(1), signed: false }, at)?;
            }
        }
        Ok(())
    }

    // ---- Continuous assignments

    fn rhs(&mut self, scope: usize, value: ExprId, width: u32) -> Result<NodeId> {
        let mut p = Process::new(scope, Kind::Wire);
        self.assigned(&mut p, value, width)
    }

    fn continuous(&mut self, scope: usize, target: ExprId, value: ExprId, at: u32) -> Result<()> {
        let p = Process::new(scope, Kind::Wire);
        let width = self.target_width(&p, target)?;
        let node = self.rhs(scope, value, width)?;
        self.drive(scope, target, node, at)
    }

    fn drive(&mut self, scope: usize, target: ExprId, node: NodeId, at: u32) -> Result<()> {
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

    // ---- Processes

    fn initial(&mut self, scope: usize, body: &'a Statement, at: u32) -> Result<()> {
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
                Slot::Variable(_) => {}
            }
        }
        Ok(())
    }

    fn always(&mut self, scope: usize, events: &Events, body: &'a Statement, at: u32) -> Result<()> {
        let Events::Edges(edges) = events else {
            let mut p = Process::new(scope, Kind::Level);
            self.run(&mut p, body)?;
            if p.reads.is_empty() {
                let message = "a process that reads nothing never runs: what it assigns stays undefined";
                return Err(
                    error(self.text, at, message).with_help("assign constants with assign, or in an initial block")
                );
            }
            self.check_waits(scope, events, &p)?;
            for (slot, node) in p.state.values {
                let (Slot::Signal(id) | Slot::Next(id)) = slot else { continue };
                if self.depends_on_unassigned(node) {
                    // A variable that nothing outside of the process sees may stay what it was.
                    self.latches.push((id, at));
                }
                self.drive_assigned_bits(id, node)?;
            }
            return Ok(());
        };
        let mut edges = edges.clone();
        let mut body = body;
        let mut resets: Vec<(NodeId, &'a Statement)> = Vec::new();
        // Each edge but the clock is an asynchronous reset that an `if` around the rest asks for.
        while edges.len() > 1 {
            while let Statement::Block(decls, inner) = body {
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
        // One process may not see whether another one has run already.
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
                    && !self.constant_or_held(value, hold)
                {
                    let message = format!(
                        "{} gets a value at its asynchronous reset that is not constant",
                        self.rtl.signal(id).name
                    );
                    return Err(error(self.text, at, message));
                }
            }
            let next = p.state.values.get(&slot).copied().unwrap_or(hold);
            let resets: Vec<(NodeId, NodeId)> =
                values.iter().map(|(cond, s)| (*cond, s.values.get(&slot).copied().unwrap_or(hold))).collect();
            self.register(id, next, clock, rising, resets);
        }
        Ok(())
    }

    /// A process that waits for levels has to wait for all that it reads, and what it reads before it assigns it would
    /// be of the time before.
    fn check_waits(&mut self, scope: usize, events: &Events, p: &Process) -> Result<()> {
        let mut waits = rustc_hash::FxHashSet::default();
        if let Events::Levels(list) = events {
            for &e in list {
                let mut names = Process::new(scope, Kind::Edge);
                self.alone(&mut names, e)?;
                // Only a name by itself makes the process wait for all its bits.
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
            let mut at = 0;
            let parts = match self.rtl.expr(node) {
                crate::prove::rtl::Expr::Concat(parts) => parts.to_vec(),
                _ => vec![node],
            };
            for part in parts {
                let width = self.rtl.width(part);
                if !self.unassigned.contains(&part) && at < end && lo < at + width {
                    return self.fail(e, format!("{name} is read before this process assigns it"));
                }
                at += width;
            }
        }
        Ok(())
    }

    /// Refuses latches that an output depends on. Loop variables and other temporaries that nothing outside of their
    /// processes reads drive nothing.
    fn settle(&mut self) -> Result<()> {
        let mut live = vec![false; self.rtl.signals().len()];
        let mut seen = vec![false; self.rtl.len()];
        let mut stack: Vec<NodeId> = self.rtl.outputs.iter().map(|&s| self.rtl.read(s)).collect();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            if let crate::prove::rtl::Expr::Signal(id) = self.rtl.expr(node) {
                live[id.0 as usize] = true;
                let signal = self.rtl.signal(*id);
                stack.extend(signal.wires.iter().map(|w| w.1));
                for r in &signal.registers {
                    stack.extend([r.next, self.rtl.read(r.clock)]);
                    stack.extend(r.resets.iter().flat_map(|&(cond, value)| [cond, value]));
                }
            } else {
                crate::prove::rtl::operands(self.rtl.expr(node), &mut |&n| stack.push(n));
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

    /// `x`, `!x`, `~x`, `x == 1'b0`, ... as a name and the level that it asks for.
    fn level(&self, e: ExprId) -> Option<(Sym, bool)> {
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

    /// Whether a value consists of constants and of bits of the register itself.
    fn constant_or_held(&self, value: NodeId, hold: NodeId) -> bool {
        use crate::prove::rtl::Expr as R;
        match self.rtl.expr(value) {
            R::Const(_) => true,
            R::Concat(parts) => parts.iter().all(|&p| self.constant_or_held(p, hold)),
            R::Slice { x, .. } => *x == hold,
            _ => value == hold,
        }
    }

    /// Adds a register for the bits of `id` that `next` or a reset really changes.
    fn register(&mut self, id: SignalId, next: NodeId, clock: SignalId, rising: bool, resets: Vec<(NodeId, NodeId)>) {
        let width = self.rtl.signal(id).width;
        // Other processes may own other bits: a span that holds itself everywhere is not ours.
        let own = self.rtl.read(id);
        let mut spans = self.own_spans(id, next, own);
        for (_, value) in &resets {
            let more = self.own_spans(id, *value, own);
            spans.iter_mut().zip(more).for_each(|(a, b)| *a |= b);
        }
        let mut lo = 0;
        while lo < width {
            let end = (lo..width).find(|&i| spans[i as usize] != spans[lo as usize]).unwrap_or(width);
            if spans[lo as usize] {
                let next = self.rtl.slice(next, lo, end - lo);
                let resets = resets.iter().map(|&(c, v)| (c, self.rtl.slice(v, lo, end - lo))).collect();
                self.rtl.signal_mut(id).registers.push(Register { lo, next, clock, rising, resets });
            }
            lo = end;
        }
    }

    /// Which bits of `node` are something else than the same bits of `own`.
    fn own_spans(&self, id: SignalId, node: NodeId, own: NodeId) -> Vec<bool> {
        use crate::prove::rtl::Expr as R;
        let width = self.rtl.signal(id).width as usize;
        let mut spans = vec![node != own; width];
        if let R::Concat(parts) = self.rtl.expr(node) {
            let mut at = 0;
            for &part in parts.iter() {
                let w = self.rtl.width(part);
                let held = matches!(self.rtl.expr(part), R::Slice { x, lo } if *x == own && *lo == at);
                if held {
                    spans[at as usize..(at + w) as usize].fill(false);
                }
                at += w;
            }
        }
        spans
    }

    /// Drives the bits that a combinational process assigned: unassigned spans belong to somebody else.
    fn drive_assigned_bits(&mut self, id: SignalId, node: NodeId) -> Result<()> {
        use crate::prove::rtl::Expr as R;
        if let R::Concat(parts) = self.rtl.expr(node).clone() {
            let mut at = 0;
            for &part in parts.iter() {
                if !self.unassigned.contains(&part) {
                    self.rtl.signal_mut(id).wires.push((at, part));
                }
                at += self.rtl.width(part);
            }
            return Ok(());
        }
        self.rtl.signal_mut(id).wires.push((0, node));
        Ok(())
    }

    /// Whether a value may be "not assigned" somewhere inside. A span of a concatenation that is nothing else is not
    /// counted: it was left to another process.
    fn depends_on_unassigned(&self, node: NodeId) -> bool {
        use crate::prove::rtl::{Expr as R, operands};
        if self.unassigned.is_empty() {
            return false;
        }
        if self.unassigned.contains(&node) {
            return true;
        }
        let mut stack = Vec::new();
        match self.rtl.expr(node) {
            R::Concat(parts) => stack.extend(parts.iter().copied().filter(|p| !self.unassigned.contains(p))),
            _ => stack.push(node),
        }
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(n) = stack.pop() {
            if self.unassigned.contains(&n) {
                return true;
            }
            if seen.insert(n) && !matches!(self.rtl.expr(n), R::Signal(_)) {
                operands(self.rtl.expr(n), &mut |&x| stack.push(x));
            }
        }
        false
    }

    fn local(&mut self, scope: usize, d: &Decl) -> Result<u32> {
        let bounds = if d.kind == DeclKind::Integer { Bounds::of_width(32) } else { self.bounds(scope, d.range)? };
        if !d.memory.is_empty() {
            self.memory(scope, d, bounds, true)?;
            return Ok(0);
        }
        let id = self.variables;
        self.variables += 1;
        self.scopes[scope].names.insert(d.name, Object::Variable { id, bounds, signed: d.signed });
        Ok(id)
    }

    fn step(&mut self, e: ExprId) -> Result<()> {
        self.budget(e)?;
        self.iterations += 1;
        if self.iterations > MAX_ITERATIONS {
            return self.fail(e, "more than 2,000,000 loop iterations");
        }
        Ok(())
    }

    fn run(&mut self, p: &mut Process, s: &'a Statement) -> Result<()> {
        match s {
            Statement::Null => Ok(()),
            Statement::Block(decls, body) => {
                let (outer, scopes) = (p.scope, self.scopes.len());
                if !decls.is_empty() {
                    let path = self.scopes[outer].path.clone();
                    p.scope = self.scope(Some(outer), path);
                    for d in decls {
                        self.local(p.scope, d)?;
                    }
                }
                for s in body {
                    self.run(p, s)?;
                }
                p.scope = outer;
                self.scopes.truncate(scopes);
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
                loop {
                    self.step(*cond)?;
                    let go = self.truth(p, *cond)?;
                    match self.rtl.as_const(go) {
                        None => return self.fail(*cond, "a loop whose end is not constant"),
                        Some(v) if *v == BigUint::ZERO => return Ok(()),
                        Some(_) => {}
                    }
                    self.run(p, body)?;
                    self.run(p, step)?;
                }
            }
            Statement::While(cond, body) => loop {
                self.step(*cond)?;
                let go = self.truth(p, *cond)?;
                match self.rtl.as_const(go) {
                    None => return self.fail(*cond, "a loop whose end is not constant"),
                    Some(v) if *v == BigUint::ZERO => return Ok(()),
                    Some(_) => self.run(p, body)?,
                }
            },
            Statement::Call(name, args, at) => self.task(p, *name, args, *at),
            Statement::Repeat(count, body) => {
                let times = self.int(p.scope, *count)?;
                for _ in 0..times {
                    self.step(*count)?;
                    self.run(p, body)?;
                }
                Ok(())
            }
        }
    }

    /// Joins the state after the branch taken when `cond` holds with the present one.
    fn merge(&mut self, p: &mut Process, cond: NodeId, yes: State) {
        let mut slots: Vec<Slot> = yes.values.keys().chain(p.state.values.keys()).copied().collect();
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            let a = yes.values.get(&slot).copied();
            let b = p.state.values.get(&slot).copied();
            let (a, b) = match (a, b) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a, self.before(p, slot, self.rtl.width(a))),
                (None, Some(b)) => (self.before(p, slot, self.rtl.width(b)), b),
                (None, None) => continue,
            };
            let node = self.rtl.mux(cond, a, b);
            p.state.values.insert(slot, node);
        }
    }

    /// What a slot reads as before it is assigned.
    fn before(&mut self, p: &Process, slot: Slot, width: u32) -> NodeId {
        match slot {
            Slot::Signal(id) | Slot::Next(id) if p.kind != Kind::Level => self.rtl.read(id),
            _ => {
                let node = self.rtl.free(width);
                self.unassigned.insert(node);
                node
            }
        }
    }

    fn case(
        &mut self,
        p: &mut Process,
        wild: (bool, bool),
        selector: ExprId,
        items: &'a [(Vec<ExprId>, Statement)],
        default: Option<&'a Statement>,
    ) -> Result<()> {
        // All expressions are extended to the widest, signed only if all are.
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
        // Priority: the first label that fits. Branches run on copies, joined from the last to the first.
        let before = p.state.clone();
        let mut branches = Vec::new();
        let mut decided = false;
        for (labels, body) in items {
            let mut hit = self.rtl.number(0, 1);
            for &label in labels {
                let this = self.label(p, value, label, (width, signed), wild)?;
                hit = self.rtl.binary(Binary::Or, hit, this);
            }
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
            // A full case without default: the last branch is the default.
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

    /// Whether the branches of a case compare with every value of a narrow selector.
    fn covers(&self, branches: &[(NodeId, State)], width: u32) -> bool {
        use crate::prove::rtl::Expr as R;
        if width > 20 || branches.len() != 1 << width {
            return false;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        branches.iter().all(|(hit, _)| match self.rtl.expr(*hit) {
            R::Compare(Compare::Equal, _, label) => self.rtl.as_const(*label).is_some_and(|v| seen.insert(v.clone())),
            _ => false,
        })
    }

    fn label(
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
            // Beyond its own size a label goes on as its top bit says: its sign, or the mark of a label without size.
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

    /// A case all of whose branches assign constants to one target is a table.
    fn case_table(
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
                None => return Ok(None),
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

    // ---- Targets

    fn target_width(&self, p: &Process, e: ExprId) -> Result<u32> {
        match self.expr(e) {
            Expr::Concat(parts) => {
                let mut total = 0u32;
                for &part in parts {
                    total = total.saturating_add(self.target_width(p, part)?);
                }
                Ok(total)
            }
            _ => Ok(self.ty(p, e)?.0),
        }
    }

    /// The places that a target names, each with its part of the value.
    fn places(&mut self, p: &mut Process, e: ExprId, node: NodeId) -> Result<Vec<(Target, NodeId)>> {
        if let Expr::Concat(parts) = self.expr(e) {
            let mut out = Vec::new();
            let mut lo = 0;
            for &part in parts.iter().rev() {
                let width = self.target_width(p, part)?;
                let piece = self.rtl.slice(node, lo, width);
                out.extend(self.places(p, part, piece)?);
                lo += width;
            }
            return Ok(out);
        }
        let target = self.target(p, e)?;
        Ok(vec![(target, node)])
    }

    fn target(&mut self, p: &mut Process, e: ExprId) -> Result<Target> {
        if let Some((id, bounds, _, addresses)) = self.word_of(p, e)? {
            return self.word_target(p, e, (id, bounds, &addresses), None);
        }
        let (base, select) = match self.expr(e) {
            Expr::Name(_) | Expr::Path(..) => (e, None),
            Expr::Index(base, _) | Expr::Range(base, ..) | Expr::Part(base, ..) => (*base, Some(e)),
            _ => return self.fail(e, "this cannot be assigned to"),
        };
        if let (Some(_), Some((id, bounds, _, addresses))) = (select, self.word_of(p, base)?) {
            return self.word_target(p, e, (id, bounds, &addresses), select);
        }
        let (what, bounds) = match self.object(p, base)? {
            Some(Object::Signal { id, bounds, .. }) => (Place::Signal(id), bounds),
            Some(Object::Variable { id, bounds, .. }) => (Place::Variable(id), bounds),
            _ => return self.fail(e, format!("{} cannot be assigned to", self.shown(base))),
        };
        let whole = bounds.width();
        let steps = Vec::new();
        let Some(select) = select else {
            return Ok(Target { what, width: whole, lo: Some(0), dynamic: None, whole, steps });
        };
        let (lo, width) = self.select(p, select, bounds)?;
        match lo {
            Place2::Constant(lo) => match u32::try_from(lo).ok().filter(|lo| lo + width <= whole) {
                Some(lo) => Ok(Target { what, width, lo: Some(lo), dynamic: None, whole, steps }),
                None => self.fail(e, "an assignment to bits outside the vector"),
            },
            Place2::Dynamic(node, negative) => {
                Ok(Target { what, width, lo: None, dynamic: Some((node, negative)), whole, steps })
            }
        }
    }

    /// A loop variable or constant as a number.
    fn value_int(&mut self, p: &mut Process, e: ExprId) -> Result<Option<i64>> {
        let (width, signed) = self.ty(p, e)?;
        let node = self.eval(p, e, width, signed)?;
        Ok(self.rtl.as_const(node).and_then(|v| small(v, width, signed)))
    }

    fn assign(&mut self, p: &mut Process, target: ExprId, value: ExprId, blocking: bool, at: u32) -> Result<()> {
        let width = self.target_width(p, target)?;
        let node = self.assigned(p, value, width)?;
        for (place, node) in self.places(p, target, node)? {
            self.store(p, place, node, blocking, at)?;
        }
        Ok(())
    }

    fn store(&mut self, p: &mut Process, t: Target, node: NodeId, blocking: bool, at: u32) -> Result<()> {
        let slot = match t.what {
            Place::Word(memory, word) => {
                let Some(value) = self.rtl.as_const(node).cloned().filter(|_| p.kind == Kind::Constant) else {
                    return Err(error(self.text, at, "initial blocks fill memories with constants"));
                };
                self.fill(memory, word, value);
                return Ok(());
            }
            Place::Variable(id) => Slot::Variable(id),
            Place::Signal(id) if blocking => Slot::Signal(id),
            Place::Signal(id) => Slot::Next(id),
        };
        if let Slot::Signal(id) | Slot::Next(id) = slot {
            let other = if blocking { Slot::Next(id) } else { Slot::Signal(id) };
            if p.state.values.contains_key(&other) {
                return Err(error(self.text, at, "blocking and nonblocking assignments to one signal"));
            }
        }
        let whole = t.steps.first().map_or(t.whole, |&(_, count, stride)| count * stride);
        let new = if t.steps.is_empty() && t.lo == Some(0) && t.width == whole {
            node
        } else {
            let before = match p.state.values.get(&slot) {
                Some(&v) => v,
                None => self.before(p, slot, whole),
            };
            self.rewritten(before, &t, &t.steps, node)
        };
        p.state.values.insert(slot, new);
        Ok(())
    }

    /// Parts of what was not assigned yet are not either.
    fn keep_unassigned(&mut self, whole: NodeId, part: NodeId) {
        if self.unassigned.contains(&whole) {
            self.unassigned.insert(part);
        } else {
            self.mark_free(part);
        }
    }

    /// A vector with the bits that a target names replaced.
    fn replaced(&mut self, before: NodeId, t: &Target, node: NodeId) -> NodeId {
        match (t.lo, t.dynamic) {
            (Some(lo), _) => {
                if t.width == t.whole {
                    return node;
                }
                let (end, after) = (lo + t.width, t.whole - lo - t.width);
                let (low, high) = (self.rtl.slice(before, 0, lo), self.rtl.slice(before, end, after));
                self.keep_unassigned(before, low);
                self.keep_unassigned(before, high);
                self.rtl.join(&[low, node, high])
            }
            (None, Some((shift, negative))) => {
                // Clear the field and put the value there; bits outside change nothing.
                let margin = if negative { t.width } else { 0 };
                let whole = t.whole + margin;
                let shift = if negative {
                    let back = self.rtl.number(u64::from(margin), self.rtl.width(shift));
                    self.rtl.binary(Binary::Add, shift, back)
                } else {
                    shift
                };
                let zeros = self.rtl.number(0, margin);
                let before = self.rtl.concat(&[zeros, before]);
                let ones = self.rtl.constant((BigUint::from(1u32) << t.width) - 1u32, whole);
                let field = self.rtl.shift(Shift::Left, ones, shift);
                let keep = self.rtl.not(field);
                let wide = self.rtl.resize(node, whole, false);
                let moved = self.rtl.shift(Shift::Left, wide, shift);
                let kept = self.rtl.binary(Binary::And, before, keep);
                let new = self.rtl.binary(Binary::Or, kept, moved);
                self.rtl.slice(new, margin, t.whole)
            }
            (None, None) => before,
        }
    }

    /// Slicing an undefined span makes new undefined nodes; they are still "not assigned".
    fn mark_free(&mut self, node: NodeId) {
        use crate::prove::rtl::Expr as R;
        match self.rtl.expr(node) {
            R::Free => {
                self.unassigned.insert(node);
            }
            R::Concat(parts) => {
                let free: Vec<NodeId> =
                    parts.iter().copied().filter(|p| matches!(self.rtl.expr(*p), R::Free)).collect();
                self.unassigned.extend(free);
            }
            _ => {}
        }
    }

    // ---- Expressions

    /// Width and sign of an expression by itself.
    fn ty(&self, p: &Process, e: ExprId) -> Result<(u32, bool)> {
        let too_wide = |w: u64| {
            if w > u64::from(MAX_WIDTH) { self.fail(e, "more than 2^24 bits") } else { Ok(w as u32) }
        };
        Ok(match self.expr(e) {
            Expr::Number { width, signed, .. } => (*width, *signed),
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Signal { bounds, signed, .. } | Object::Variable { bounds, signed, .. }) => {
                    (bounds.width(), signed)
                }
                Some(Object::Param { value, signed, .. }) => (self.rtl.width(value), signed),
                Some(Object::Memory { .. }) => return self.fail(e, "a memory is read and written word by word"),
                Some(Object::Function(_) | Object::Task(_) | Object::Genvar) | None => {
                    return self.fail(e, format!("{} is not declared as a value", self.shown(e)));
                }
            },
            Expr::Index(..) => match self.word_of(p, e)? {
                Some((_, bounds, signed, _)) => (bounds.width(), signed),
                None => (1, false),
            },
            Expr::Range(_, msb, lsb) => {
                let (msb, lsb) = (self.peek_int(p, *msb)?, self.peek_int(p, *lsb)?);
                (too_wide((msb - lsb).unsigned_abs() + 1)?, false)
            }
            Expr::Part(_, _, width, _) => {
                let width = self.peek_int(p, *width)?;
                if width < 1 {
                    return self.fail(e, "a part without bits");
                }
                (too_wide(width as u64)?, false)
            }
            Expr::Concat(parts) => {
                let mut total = 0u64;
                for &part in parts {
                    total += u64::from(self.ty(p, part)?.0);
                }
                (too_wide(total)?, false)
            }
            Expr::Repeat(count, x) => {
                let count = self.peek_int(p, *count)?;
                if count < 1 {
                    return self.fail(e, "a repetition of zero or fewer times");
                }
                (too_wide((count as u64).saturating_mul(u64::from(self.ty(p, *x)?.0)))?, false)
            }
            Expr::Unary(Unary::Plus | Unary::Minus | Unary::Not, x) => self.ty(p, *x)?,
            Expr::Unary(..) => (1, false),
            Expr::Binary(op, a, b) => match op {
                Op::Mul | Op::Div | Op::Mod | Op::Add | Op::Sub | Op::And | Op::Xor | Op::Xnor | Op::Or => {
                    let ((wa, sa), (wb, sb)) = (self.ty(p, *a)?, self.ty(p, *b)?);
                    (wa.max(wb), sa && sb)
                }
                Op::Shl | Op::Shr | Op::Sshl | Op::Sshr => self.ty(p, *a)?,
                Op::Power => self.ty(p, *a)?,
                _ => (1, false),
            },
            Expr::Cond(_, a, b) => {
                let ((wa, sa), (wb, sb)) = (self.ty(p, *a)?, self.ty(p, *b)?);
                (wa.max(wb), sa && sb)
            }
            Expr::Call(sym, _) => match self.find(p.scope, *sym) {
                Some(Object::Function(f)) if f.integer => (32, true),
                Some(Object::Function(f)) => {
                    let width = match f.range {
                        None => 1,
                        Some((msb, lsb)) => {
                            too_wide((self.peek_int(p, msb)? - self.peek_int(p, lsb)?).unsigned_abs() + 1)?
                        }
                    };
                    (width, f.signed)
                }
                _ => return self.fail(e, format!("no function is called {}", self.name(*sym))),
            },
            Expr::System(sym, args) => match (self.name(*sym), &args[..]) {
                ("$signed", [x]) => (self.ty(p, *x)?.0, true),
                ("$unsigned", [x]) => (self.ty(p, *x)?.0, false),
                ("$clog2", [_]) => (32, true),
                (name, _) => return self.fail(e, format!("{name} is not supported")),
            },
        })
    }

    /// A constant expression that only reads literals, parameters and loop variables.
    fn peek_int(&self, p: &Process, e: ExprId) -> Result<i64> {
        let bad = |s: &Self| s.fail(e, "a constant is needed here");
        let fold = |v: Option<i64>| match v {
            Some(v) if v.unsigned_abs() < 1 << 40 => Ok(v),
            _ => bad(self),
        };
        match self.expr(e) {
            Expr::Number { value, unknown, width, signed, .. } if *unknown == BigUint::ZERO => {
                fold(small(value, *width, *signed))
            }
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Param { value, signed, .. }) => {
                    fold(self.rtl.as_const(value).and_then(|v| small(v, self.rtl.width(value), signed)))
                }
                Some(Object::Variable { id, signed, .. }) => {
                    let node = p.state.values.get(&Slot::Variable(id));
                    fold(node.and_then(|n| self.rtl.as_const(*n).and_then(|v| small(v, self.rtl.width(*n), signed))))
                }
                _ => bad(self),
            },
            Expr::Unary(Unary::Minus, x) => fold(self.peek_int(p, *x)?.checked_neg()),
            Expr::Unary(Unary::Plus, x) => self.peek_int(p, *x),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.peek_int(p, *a)?, self.peek_int(p, *b)?);
                fold(match op {
                    Op::Add => a.checked_add(b),
                    Op::Sub => a.checked_sub(b),
                    Op::Mul => a.checked_mul(b),
                    Op::Div => a.checked_div(b),
                    Op::Mod => a.checked_rem(b),
                    Op::Shl | Op::Sshl if (0..40).contains(&b) => Some(a << b),
                    Op::Shr | Op::Sshr if (0..63).contains(&b) && a >= 0 => Some(a >> b),
                    Op::Power if (0..40).contains(&b) => a.checked_pow(b as u32),
                    Op::Less => Some(i64::from(a < b)),
                    Op::Greater => Some(i64::from(a > b)),
                    Op::LessEqual => Some(i64::from(a <= b)),
                    Op::GreaterEqual => Some(i64::from(a >= b)),
                    Op::Equal => Some(i64::from(a == b)),
                    Op::NotEqual => Some(i64::from(a != b)),
                    _ => None,
                })
            }
            Expr::Cond(c, a, b) => self.peek_int(p, if self.peek_int(p, *c)? != 0 { *a } else { *b }),
            Expr::System(sym, args) if self.name(*sym) == "$clog2" && args.len() == 1 => {
                let v = self.peek_int(p, args[0])?;
                fold(Some(if v <= 1 { 0 } else { i64::from(64 - (v - 1).leading_zeros()) }))
            }
            _ => bad(self),
        }
    }

    /// An expression as the right side of an assignment to `width` bits.
    fn assigned(&mut self, p: &mut Process, e: ExprId, width: u32) -> Result<NodeId> {
        let (own, signed) = self.ty(p, e)?;
        let node = self.eval(p, e, own.max(width), signed)?;
        Ok(self.rtl.resize(node, width, signed))
    }

    /// An expression by itself.
    fn alone(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        let (width, signed) = self.ty(p, e)?;
        self.eval(p, e, width, signed)
    }

    /// Whether an expression is not zero, one bit.
    fn truth(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        let node = self.alone(p, e)?;
        Ok(self.rtl.reduce(Reduce::Any, node))
    }

    /// An expression in a context of `width` bits, operands extended by `signed`.
    fn eval(&mut self, p: &mut Process, e: ExprId, width: u32, signed: bool) -> Result<NodeId> {
        let bit = |s: &mut Self, node: NodeId| Ok(s.rtl.resize(node, width, false));
        self.budget(e)?;
        match self.expr(e) {
            Expr::Unary(op, x) => match op {
                Unary::Plus => self.eval(p, *x, width, signed),
                Unary::Minus => {
                    let x = self.eval(p, *x, width, signed)?;
                    let zero = self.rtl.number(0, width);
                    Ok(self.rtl.binary(Binary::Sub, zero, x))
                }
                Unary::Not => {
                    let x = self.eval(p, *x, width, signed)?;
                    Ok(self.rtl.not(x))
                }
                _ => {
                    let x = self.alone(p, *x)?;
                    let (reduce, negate) = match op {
                        Unary::And => (Reduce::All, false),
                        Unary::Nand => (Reduce::All, true),
                        Unary::Or => (Reduce::Any, false),
                        Unary::Xor => (Reduce::Parity, false),
                        Unary::Xnor => (Reduce::Parity, true),
                        _ => (Reduce::Any, true),
                    };
                    let node = self.rtl.reduce(reduce, x);
                    let node = if negate { self.rtl.not(node) } else { node };
                    bit(self, node)
                }
            },
            Expr::Binary(op, a, b) => self.binary(p, *op, (*a, *b), width, signed, e),
            Expr::Cond(c, a, b) => {
                let c = self.truth(p, *c)?;
                let (a, b) = (self.eval(p, *a, width, signed)?, self.eval(p, *b, width, signed)?);
                Ok(self.rtl.mux(c, a, b))
            }
            _ => {
                let node = self.leaf(p, e)?;
                if let Expr::Number { unknown, width: own, sized: false, .. } = self.expr(e)
                    && width > *own
                    && unknown.bit(u64::from(*own) - 1)
                {
                    // An unknown number without size goes on being unknown.
                    let more = self.rtl.free(width - own);
                    return Ok(self.rtl.concat(&[node, more]));
                }
                Ok(self.rtl.resize(node, width, signed))
            }
        }
    }

    fn binary(
        &mut self,
        p: &mut Process,
        op: Op,
        (a, b): (ExprId, ExprId),
        width: u32,
        signed: bool,
        e: ExprId,
    ) -> Result<NodeId> {
        let simple = match op {
            Op::Add => Some(Binary::Add),
            Op::Sub => Some(Binary::Sub),
            Op::Mul => Some(Binary::Mul),
            Op::And => Some(Binary::And),
            Op::Or => Some(Binary::Or),
            Op::Xor | Op::Xnor => Some(Binary::Xor),
            _ => None,
        };
        if let Some(simple) = simple {
            let (x, y) = (self.eval(p, a, width, signed)?, self.eval(p, b, width, signed)?);
            let node = self.rtl.binary(simple, x, y);
            return Ok(if op == Op::Xnor { self.rtl.not(node) } else { node });
        }
        match op {
            Op::Div | Op::Mod => {
                let (x, y) = (self.eval(p, a, width, signed)?, self.eval(p, b, width, signed)?);
                Ok(self.divide(x, y, op == Op::Div, signed))
            }
            Op::Shl | Op::Sshl | Op::Shr | Op::Sshr => {
                let x = self.eval(p, a, width, signed)?;
                let by = self.alone(p, b)?;
                let kind = match op {
                    Op::Shr => Shift::Right,
                    Op::Sshr if signed => Shift::SignedRight,
                    Op::Sshr => Shift::Right,
                    _ => Shift::Left,
                };
                Ok(self.rtl.shift(kind, x, by))
            }
            Op::Power => {
                let (by_width, by_signed) = self.ty(p, b)?;
                let by = self.eval(p, b, by_width, by_signed)?;
                let x = self.eval(p, a, width, signed)?;
                if self.rtl.as_const(by).is_none() && by_width > 64 {
                    return self.fail(e, "a power with an exponent of more than 64 bits");
                }
                Ok(self.power(x, signed, by, by_signed))
            }
            Op::LogicAnd | Op::LogicOr => {
                let (x, y) = (self.truth(p, a)?, self.truth(p, b)?);
                let node = self.rtl.binary(if op == Op::LogicAnd { Binary::And } else { Binary::Or }, x, y);
                Ok(self.rtl.resize(node, width, false))
            }
            _ => {
                // Comparisons: operands as wide as the wider one, signed if both are.
                let ((wa, sa), (wb, sb)) = (self.ty(p, a)?, self.ty(p, b)?);
                let (w, s) = (wa.max(wb), sa && sb);
                let (x, y) = (self.eval(p, a, w, s)?, self.eval(p, b, w, s)?);
                let less = if s { Compare::SignedLess } else { Compare::Less };
                let (kind, x, y, negate) = match op {
                    Op::Less => (less, x, y, false),
                    Op::Greater => (less, y, x, false),
                    Op::LessEqual => (less, y, x, true),
                    Op::GreaterEqual => (less, x, y, true),
                    Op::NotEqual | Op::CaseNotEqual => (Compare::Equal, x, y, true),
                    _ => (Compare::Equal, x, y, false),
                };
                let node = self.rtl.compare(kind, x, y);
                let node = if negate { self.rtl.not(node) } else { node };
                Ok(self.rtl.resize(node, width, false))
            }
        }
    }

    /// `x ** by` (IEEE 1364-2005, table 5-6, for what 2001 leaves open): a negative exponent gives 0, but for the bases 1
    /// and -1, and something undefined for 0.
    fn power(&mut self, x: NodeId, signed: bool, by: NodeId, by_signed: bool) -> NodeId {
        let (width, by_width) = (self.rtl.width(x), self.rtl.width(by));
        let one = self.rtl.number(1, width);
        let mut product = one;
        // Bits above the highest of a constant exponent do nothing.
        let top = self.rtl.as_const(by).map_or(by_width, |v| v.bits() as u32);
        for i in (0..top).rev() {
            product = self.rtl.binary(Binary::Mul, product, product);
            let more = self.rtl.binary(Binary::Mul, product, x);
            let bit = self.rtl.slice(by, i, 1);
            product = self.rtl.mux(bit, more, product);
        }
        if !by_signed {
            return product;
        }
        let negative = self.rtl.slice(by, by_width - 1, 1);
        let (zero, free) = (self.rtl.number(0, width), self.rtl.free(width));
        let minus_one = self.rtl.not(zero);
        let odd = self.rtl.slice(by, 0, 1);
        let turned = self.rtl.mux(odd, minus_one, one);
        let mut below = zero;
        for (base, value) in [(zero, free), (minus_one, turned), (one, one)] {
            if base != minus_one || signed {
                let hit = self.rtl.compare(Compare::Equal, x, base);
                below = self.rtl.mux(hit, value, below);
            }
        }
        self.rtl.mux(negative, below, product)
    }

    /// Quotient or remainder; towards zero and with the dividend's sign if signed; undefined for a divisor of zero.
    fn divide(&mut self, x: NodeId, y: NodeId, quotient: bool, signed: bool) -> NodeId {
        let width = self.rtl.width(x);
        let zero = self.rtl.number(0, width);
        let negative = |s: &mut Self, n: NodeId| {
            if signed { s.rtl.slice(n, width - 1, 1) } else { s.rtl.number(0, 1) }
        };
        let (nx, ny) = (negative(self, x), negative(self, y));
        let absolute = |s: &mut Self, n: NodeId, neg: NodeId| {
            let minus = s.rtl.binary(Binary::Sub, zero, n);
            s.rtl.mux(neg, minus, n)
        };
        let (ax, ay) = (absolute(self, x, nx), absolute(self, y, ny));
        let raw = self.rtl.binary(if quotient { Binary::Div } else { Binary::Rem }, ax, ay);
        let flip = if quotient { self.rtl.binary(Binary::Xor, nx, ny) } else { nx };
        let result = absolute(self, raw, flip);
        let by_zero = self.rtl.compare(Compare::Equal, y, zero);
        let unknown = self.rtl.free(width);
        self.rtl.mux(by_zero, unknown, result)
    }

    /// Operands that are sized by themselves.
    fn leaf(&mut self, p: &mut Process, e: ExprId) -> Result<NodeId> {
        match self.expr(e) {
            Expr::Number { value, unknown, open, width, .. } => {
                if *open != BigUint::ZERO {
                    return self.fail(e, "z outside the labels of casez and casex: a tri-state");
                }
                let known = self.rtl.constant(value.clone(), *width);
                if *unknown == BigUint::ZERO {
                    return Ok(known);
                }
                // x and z bits may be anything.
                let free = self.rtl.free(*width);
                let mask = self.rtl.constant(unknown.clone(), *width);
                let bits = self.rtl.binary(Binary::And, free, mask);
                Ok(self.rtl.binary(Binary::Or, bits, known))
            }
            Expr::Name(_) | Expr::Path(..) => match self.object(p, e)? {
                Some(Object::Param { value, .. }) => Ok(value),
                Some(Object::Signal { id, .. }) => {
                    let slot = Slot::Signal(id);
                    match p.state.values.get(&slot) {
                        Some(&v) => Ok(v),
                        None if p.kind == Kind::Constant => self.fail(e, "a constant is needed here"),
                        None if self.calls > 0 && p.kind != Kind::Edge => {
                            // What the call stands in does not wait for it.
                            self.fail(
                                e,
                                "a function or task that reads a signal of its module, outside a clocked process",
                            )
                        }
                        None => {
                            p.reads.push((id, 0, self.rtl.signal(id).width, e));
                            Ok(self.rtl.read(id))
                        }
                    }
                }
                Some(Object::Variable { id, bounds, .. }) => match p.state.values.get(&Slot::Variable(id)) {
                    Some(&v) => Ok(v),
                    None => Ok(self.rtl.free(bounds.width())),
                },
                _ => self.fail(e, format!("{} is not declared as a value", self.shown(e))),
            },
            Expr::Index(base, _) => match self.word_of(p, e)? {
                Some((id, _, _, addresses)) => self.word(p, e, id, &addresses),
                None => self.selected(p, e, *base),
            },
            Expr::Range(base, ..) | Expr::Part(base, ..) => self.selected(p, e, *base),
            Expr::Concat(parts) => {
                let mut nodes = Vec::with_capacity(parts.len());
                for &part in parts.iter().rev() {
                    if let Expr::Number { sized: false, .. } = self.expr(part) {
                        return self.fail(part, "a number without size in a concatenation");
                    }
                    nodes.push(self.alone(p, part)?);
                }
                Ok(self.rtl.concat(&nodes))
            }
            Expr::Repeat(count, x) => {
                let count = self.peek_int(p, *count)?;
                if let Expr::Number { sized: false, .. } = self.expr(*x) {
                    return self.fail(*x, "a number without size in a concatenation");
                }
                let x = self.alone(p, *x)?;
                Ok(self.rtl.repeat(x, count as u32))
            }
            Expr::Call(sym, args) => self.call(p, e, *sym, args),
            Expr::System(sym, args) => match (self.name(*sym), &args[..]) {
                ("$signed" | "$unsigned", [x]) => self.alone(p, *x),
                ("$clog2", [x]) => {
                    let Some(v) = self.value_int(p, *x)? else { return self.fail(e, "a constant is needed here") };
                    let bits = if v <= 1 { 0 } else { 64 - (v - 1).leading_zeros() };
                    Ok(self.rtl.number(u64::from(bits), 32))
                }
                (name, _) => self.fail(e, format!("{name} is not supported")),
            },
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => self.alone(p, e),
        }
    }

    /// The base of a select must be a vector by name.
    fn selected(&mut self, p: &mut Process, e: ExprId, base: ExprId) -> Result<NodeId> {
        // A word of a memory may be selected from: mem[i][3:0].
        let bounds = match (self.object(p, base)?, self.word_of(p, base)?) {
            (_, Some((_, bounds, ..))) => bounds,
            (
                Some(Object::Signal { bounds, .. } | Object::Variable { bounds, .. } | Object::Param { bounds, .. }),
                _,
            ) => bounds,
            _ if matches!(self.expr(base), Expr::Name(_) | Expr::Path(..)) => {
                return self.fail(base, format!("{} is not declared as a value", self.shown(base)));
            }
            _ => return self.fail(e, "a select of a select"),
        };
        let node = self.leaf(p, base)?;
        let at = p.reads.last().filter(|r| node == self.rtl.read(r.0)).map(|_| p.reads.len() - 1);
        let (lo, width) = self.select(p, e, bounds)?;
        let whole = self.rtl.width(node);
        match lo {
            Place2::Constant(lo) => {
                // Bits past the ends are undefined.
                let end = lo.saturating_add(i64::from(width));
                let (from, to) = (lo.clamp(0, whole.into()), end.clamp(0, whole.into()));
                if let Some(read) = at.and_then(|at| p.reads.get_mut(at)) {
                    (read.1, read.2) = (from as u32, to as u32);
                }
                if from >= to {
                    return Ok(self.rtl.free(width));
                }
                let (before, after) = (self.rtl.free((from - lo) as u32), self.rtl.free((end - to) as u32));
                let inside = self.rtl.slice(node, from as u32, (to - from) as u32);
                Ok(self.rtl.concat(&[before, inside, after]))
            }
            Place2::Dynamic(shift, negative) => {
                // Bits past the ends are undefined.
                let beyond = self.rtl.free(width);
                let (padded, shift, whole) = if negative {
                    let before = self.rtl.free(width);
                    let reach = self.rtl.width(shift);
                    let back = self.rtl.number(u64::from(width), reach);
                    let shift = self.rtl.binary(Binary::Add, shift, back);
                    (self.rtl.concat(&[before, node, beyond]), shift, whole + width)
                } else {
                    (self.rtl.concat(&[node, beyond]), shift, whole)
                };
                let moved = self.rtl.shift(Shift::Right, padded, shift);
                let low = self.rtl.slice(moved, 0, width);
                // A shift beyond the padding would read zeros: undefined as well.
                let reach = self.rtl.width(shift);
                if reach < 32 && 1u64 << reach <= u64::from(whole) + 1 {
                    return Ok(low);
                }
                let limit = self.rtl.number(u64::from(whole), reach);
                let inside = self.rtl.compare(Compare::Less, shift, limit);
                let free = self.rtl.free(width);
                Ok(self.rtl.mux(inside, low, free))
            }
        }
    }

    /// Lowest bit and width that a select names.
    fn select(&mut self, p: &mut Process, e: ExprId, bounds: Bounds) -> Result<(Place2, u32)> {
        let descending = bounds.msb >= bounds.lsb;
        match self.expr(e) {
            Expr::Index(_, index) => {
                if let Some(i) = self.value_int(p, *index)? {
                    return Ok((Place2::Constant(bounds.position(i)), 1));
                }
                let (shift, negative) = self.dynamic(p, *index, bounds, 0)?;
                Ok((Place2::Dynamic(shift, negative), 1))
            }
            Expr::Range(_, msb, lsb) => {
                let (Some(msb), Some(lsb)) = (self.value_int(p, *msb)?, self.value_int(p, *lsb)?) else {
                    return self.fail(e, "the bounds of a part are constant");
                };
                let (high, low) = (bounds.position(msb), bounds.position(lsb));
                if high < low {
                    return self.fail(e, "a part against the direction of the vector");
                }
                match u32::try_from(high - low + 1) {
                    Ok(width) if width <= MAX_WIDTH => Ok((Place2::Constant(low), width)),
                    _ => self.fail(e, "more than 2^24 bits"),
                }
            }
            Expr::Part(_, start, width, up) => {
                let width = self.peek_int(p, *width)? as u32;
                // The indices are start ..= start + width - 1, or start - width + 1 ..= start.
                if let Some(s) = self.value_int(p, *start)? {
                    let (first, last) = if *up { (s, s + i64::from(width) - 1) } else { (s - i64::from(width) + 1, s) };
                    return Ok((Place2::Constant(bounds.position(first).min(bounds.position(last))), width));
                }
                // With ascending bounds the low end is at the largest index.
                let low_is_start = *up == descending;
                let back = if low_is_start { 0 } else { i64::from(width) - 1 };
                let (shift, negative) = self.dynamic(p, *start, bounds, back)?;
                Ok((Place2::Dynamic(shift, negative), width))
            }
            _ => self.fail(e, "this is not a select"),
        }
    }

    /// An index as a shift from the low end, `back` bits lower, and whether that may be negative.
    fn dynamic(&mut self, p: &mut Process, index: ExprId, bounds: Bounds, back: i64) -> Result<(NodeId, bool)> {
        let (width, signed) = self.ty(p, index)?;
        let node = self.eval(p, index, width, signed)?;
        let wide = width.max(34) + 2;
        let node = self.rtl.resize(node, wide, signed);
        let number = |s: &mut Self, v: i64| {
            let full = BigUint::from(1u32) << wide;
            let value = if v < 0 { full - BigUint::from(v.unsigned_abs()) } else { BigUint::from(v as u64) };
            s.rtl.constant(value, wide)
        };
        let (x, y) = if bounds.msb >= bounds.lsb {
            (node, number(self, bounds.lsb + back))
        } else {
            (number(self, bounds.lsb - back), node)
        };
        if !signed && bounds.lsb == 0 && back == 0 && bounds.msb >= 0 {
            return Ok((self.rtl.slice(node, 0, width), false));
        }
        Ok((self.rtl.binary(Binary::Sub, x, y), true))
    }

    fn call(&mut self, p: &mut Process, e: ExprId, sym: Sym, args: &[ExprId]) -> Result<NodeId> {
        let Some(Object::Function(f)) = self.find(p.scope, sym).copied() else {
            return self.fail(e, format!("no function is called {}", self.name(sym)));
        };
        if args.len() != f.inputs.len() {
            return self.fail(e, format!("{} takes {} arguments", self.name(sym), f.inputs.len()));
        }
        self.step(e)?;
        let scopes = self.scopes.len();
        let scope = self.inside(p.scope, sym);
        for param in &f.params {
            self.param(scope, param, None)?;
        }
        // It sees what its caller assigned so far.
        let signals = |s: &State| -> BTreeMap<Slot, NodeId> {
            let seen = s.values.iter().filter(|(slot, _)| !matches!(slot, Slot::Variable(_)));
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
        let bounds = if f.integer { Bounds::of_width(32) } else { self.bounds(scope, f.range)? };
        let result = self.variables;
        self.variables += 1;
        self.scopes[scope].names.insert(f.name, Object::Variable { id: result, bounds, signed: f.signed });
        for d in &f.locals {
            self.local(scope, d)?;
        }
        inner.function = true;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return self.fail(e, "functions and tasks that call one another more than 64 deep");
        }
        self.run(&mut inner, &f.body)?;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        if signals(&inner.state) != outside {
            return self.fail(e, format!("{} assigns to a signal of its module", self.name(sym)));
        }
        p.reads.append(&mut inner.reads);
        // Results that a path leaves open are undefined.
        match inner.state.values.get(&Slot::Variable(result)) {
            Some(&node) => Ok(node),
            None => Ok(self.rtl.free(bounds.width())),
        }
    }
}

impl<'a> Elab<'a> {
    /// A scope for a call: where the function or task is declared, not where it is called.
    fn inside(&mut self, from: usize, sym: Sym) -> usize {
        let mut home = from;
        while !self.scopes[home].names.contains_key(&sym) {
            match self.scopes[home].parent {
                Some(parent) => home = parent,
                None => break,
            }
        }
        let path = self.scopes[home].path.clone();
        self.scope(Some(home), path)
    }

    /// A task: its arguments go in as assignments, its body runs in the process, and its results are assigned.
    fn task(&mut self, p: &mut Process, sym: Sym, args: &[ExprId], at: u32) -> Result<()> {
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
            return fail(
                self,
                "tasks that call one another more than 64 deep, or more than 2,000,000 calls".to_owned(),
            );
        }
        p.scope = scope;
        self.run(p, &t.body)?;
        p.scope = outer;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        for (direction, id, width, signed, arg) in formals {
            if direction == Direction::In {
                continue;
            }
            // What the task left open is undefined.
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

/// A value as a signed number, if it fits.
fn small(value: &BigUint, width: u32, signed: bool) -> Option<i64> {
    let v = i128::try_from(value).ok()?;
    let v = if signed && width > 0 && value.bit(u64::from(width) - 1) {
        v - 1i128.checked_shl(width).filter(|_| width < 127)?
    } else {
        v
    };
    i64::try_from(v).ok()
}

#[derive(Clone, Copy)]
enum Place {
    Signal(SignalId),
    Variable(u32),
    /// A word of a memory.
    Word(usize, u32),
}

/// A place in a vector: at a constant offset, be it outside, or at a computed one.
enum Place2 {
    Constant(i64),
    /// As a shift that may be negative, or not.
    Dynamic(NodeId, bool),
}

struct Target {
    what: Place,
    width: u32,
    lo: Option<u32>,
    dynamic: Option<(NodeId, bool)>,
    /// Width of the vector: of a word, where it is one at a computed address.
    whole: u32,
    /// The way to that word.
    steps: Vec<Step>,
}
