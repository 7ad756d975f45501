//! Types, overloading and elaboration of VHDL.

mod types;

use super::syntax::{
    Architecture, Arg, Class, Concurrent, Decl, Entity, Expr, File, Function, Instance, Kind, Object, Statement,
    TypeName, Waits, error,
};
use crate::diag::Diagnostic;
use crate::prove::rtl::{self, Binary, Compare, MAX_WIDTH, MAX_WORK, NodeId, Reduce, Register, Rtl, Shift, SignalId};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{ArrayOf, Enumeration, Record, storage};

type Result<T> = std::result::Result<T, Diagnostic>;

const MAX_ITERATIONS: u32 = 2_000_000;
const MAX_CALLS: u32 = 64;

/// Bounds of a vector or array; `down` for `downto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    left: i64,
    right: i64,
    down: bool,
}

impl Bounds {
    fn of_width(width: u32) -> Bounds {
        Bounds { left: i64::from(width) - 1, right: 0, down: true }
    }

    fn len(self) -> u32 {
        let n = if self.down { self.left - self.right } else { self.right - self.left };
        (n + 1).max(0) as u32
    }

    /// Distance of an index from the right end, which is the low bit.
    fn offset(self, i: i64) -> Option<u32> {
        let d = if self.down { i - self.right } else { self.right - i };
        (0..i64::from(self.len())).contains(&d).then_some(d as u32)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vector {
    Logic,
    Unsigned,
    Signed,
}

#[derive(Clone, Debug, PartialEq)]
enum Type {
    Bit,
    Vector(Vector, u32),
    Integer,
    Boolean,
    Enum(Arc<Enumeration>),
    Array(Arc<ArrayOf>),
    Record(Arc<Record>),
}

/// A value: one node, or a compile-time integer or array.
#[derive(Clone, Debug)]
enum Data {
    Node(NodeId),
    Int(i64),
    /// A natural number that is not constant: `to_integer` of an unsigned vector.
    Natural(NodeId),
    /// Any integer that is not constant, in two's complement.
    Whole(NodeId),
    Array(Arc<Vec<BigUint>>),
}

#[derive(Clone, Debug)]
struct Value {
    ty: Type,
    data: Data,
    /// For a named vector: how its bits are counted.
    bounds: Option<Bounds>,
}

#[derive(Clone)]
enum Named<'a> {
    Signal {
        id: SignalId,
        ty: Type,
        bounds: Option<Bounds>,
    },
    Variable {
        slot: u32,
        ty: Type,
        bounds: Option<Bounds>,
    },
    Constant(Value),
    Type(TypeOf),
    /// Functions of one name, each with the scope of its declaration.
    Functions(Vec<(usize, &'a Function)>),
    Component(&'a Entity),
    /// Literals of one name, of several enumerations.
    Literals(Vec<(Type, u32)>),
    Alias {
        of: &'a Expr,
        scope: usize,
        ty: Option<TypeOf>,
    },
}

/// A type mark: constrained or not.
#[derive(Clone, Debug)]
enum TypeOf {
    Whole(Type, Option<Bounds>),
    Unconstrained(Vector),
    /// An array of any range: element and its bounds.
    Open(Type, Option<Bounds>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Slot {
    Variable(u32),
    Signal(SignalId),
}

type State = BTreeMap<Slot, Data2>;

/// What a slot holds.
#[derive(Clone, Debug, PartialEq)]
enum Data2 {
    Node(NodeId),
    Int(i64),
}

struct Scope<'a> {
    names: FxHashMap<String, Named<'a>>,
    parent: Option<usize>,
    /// Packages that are visible, as a whole or one name of each.
    uses: Vec<(usize, Option<String>)>,
    path: String,
}

struct Elab<'a> {
    text: &'a str,
    file: &'a File,
    rtl: Rtl,
    scopes: Vec<Scope<'a>>,
    variables: u32,
    iterations: u32,
    calls: u32,
    instances: u32,
    unassigned: FxHashSet<NodeId>,
    /// Bounds of what the next expression is for, which its aggregate counts by.
    context: Option<Bounds>,
    /// Signals that the present process or statement read, and where.
    reads: Vec<(SignalId, u32)>,
    package_scopes: FxHashMap<String, usize>,
    /// Ranges of variables that are integers.
    ranges: FxHashMap<u32, Option<Bounds>>,
    /// Variables of processes, which keep their values: name, type, first value, and the register if one is needed.
    kept: FxHashMap<u32, Kept>,
}

struct Kept {
    name: String,
    width: u32,
    at: u32,
    init: Option<NodeId>,
    register: Option<SignalId>,
}

/// A process or function body being executed.
struct Run {
    state: State,
    scope: usize,
    clocked: bool,
    /// In a function: the result so far, with the condition under which nothing was returned yet.
    result: Option<(Type, Option<Bounds>, Option<NodeId>, NodeId)>,
}

pub(super) fn elaborate(text: &str, file: &File, top: Option<&str>) -> Result<Rtl> {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    fn visit<'f>(body: &'f [Concurrent], used: &mut FxHashSet<&'f str>) {
        for c in body {
            match c {
                Concurrent::Instance(i) => {
                    used.insert(&i.entity);
                }
                Concurrent::For { body, .. } | Concurrent::If { body, .. } => visit(body, used),
                _ => {}
            }
        }
    }
    file.architectures.iter().for_each(|a| visit(&a.body, &mut used));
    let tops: Vec<&Entity> = match top {
        Some(top) => file.entities.iter().filter(|e| e.name == top.to_ascii_lowercase()).collect(),
        None => file.entities.iter().filter(|e| !used.contains(e.name.as_str())).collect(),
    };
    let [entity] = tops[..] else {
        let names: Vec<&str> = file.entities.iter().map(|e| e.name.as_str()).collect();
        return Err(error(text, 0, "the file has no such entity, or several that no other uses")
            .with_help(format!("--top NAME says which; entities: {}", names.join(", "))));
    };
    let mut e = Elab {
        text,
        file,
        rtl: Rtl::new(entity.shown.clone(), file.head.clone()),
        scopes: Vec::new(),
        variables: 0,
        iterations: 0,
        calls: 0,
        instances: 0,
        unassigned: FxHashSet::default(),
        context: None,
        reads: Vec::new(),
        kept: FxHashMap::default(),
        package_scopes: FxHashMap::default(),
        ranges: FxHashMap::default(),
    };
    e.packages()?;
    e.entity(entity, None, String::new(), Vec::new(), true)?;
    e.rtl.check_drivers(|at| crate::prove::verilog::place(text, at))?;
    Ok(e.rtl)
}

impl<'a> Elab<'a> {
    fn fail<T>(&self, at: u32, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, at, message))
    }

    fn scope(&mut self, parent: Option<usize>, path: String) -> usize {
        self.scopes.push(Scope { names: FxHashMap::default(), parent, uses: Vec::new(), path });
        self.scopes.len() - 1
    }

    fn find(&self, scope: usize, name: &str) -> Option<&Named<'a>> {
        let mut at = Some(scope);
        while let Some(s) = at {
            let used = || {
                let one = |(package, only): &(usize, Option<String>)| {
                    let visible = only.as_ref().is_none_or(|o| o == name);
                    self.scopes[*package].names.get(name).filter(|_| visible)
                };
                self.scopes[s].uses.iter().find_map(one)
            };
            if let Some(n) = self.scopes[s].names.get(name).or_else(used) {
                return Some(n);
            }
            at = self.scopes[s].parent;
        }
        None
    }

    fn declare(&mut self, scope: usize, name: &str, named: Named<'a>, at: u32) -> Result<()> {
        if self.scopes[scope].names.insert(name.to_owned(), named).is_some() {
            return self.fail(at, format!("{name} is declared twice"));
        }
        Ok(())
    }

    fn constant_run(&self, scope: usize) -> Run {
        Run { state: State::new(), scope, clocked: true, result: None }
    }

    // ---- Design units

    fn entity(
        &mut self,
        entity: &'a Entity,
        architecture: Option<&str>,
        path: String,
        generics: Vec<(String, Value)>,
        top: bool,
    ) -> Result<usize> {
        self.instances += 1;
        if self.instances > 100_000 || path.matches('.').count() > 50 {
            return self.fail(entity.at, "more than 100,000 instances, or instances nested more than 50 deep");
        }
        let fits = |a: &&Architecture| a.entity == entity.name && architecture.is_none_or(|n| a.name == n);
        let architecture: &'a Architecture = match self.file.architectures.iter().rev().find(fits) {
            Some(a) => a,
            None => return self.fail(entity.at, format!("entity {} has no such architecture", entity.name)),
        };
        let scope = self.scope(None, path);
        for used in entity.uses.iter().chain(&architecture.uses) {
            self.use_package(scope, used)?;
        }
        for g in &entity.generics {
            let given = generics.iter().find(|(n, _)| *n == g.name).map(|(_, v)| v.clone());
            let value = match (given, &g.value) {
                (Some(v), _) => v,
                (None, Some(default)) => {
                    let ty = self.type_of(scope, &g.ty)?;
                    self.constant(scope, default, &ty)?
                }
                (None, None) => return self.fail(g.at, format!("generic {} has no value", g.name)),
            };
            self.declare(scope, &g.name, Named::Constant(value), g.at)?;
        }
        for port in &entity.ports {
            let id = self.signal(scope, port)?;
            if top {
                if port.output {
                    self.rtl.outputs.push(id);
                } else {
                    self.rtl.signal_mut(id).input = true;
                    self.rtl.inputs.push(id);
                }
            }
        }
        let inner = self.scope(Some(scope), self.scopes[scope].path.clone());
        self.decls(inner, &architecture.decls)?;
        self.concurrents(inner, &architecture.body)?;
        Ok(scope)
    }

    fn signal(&mut self, scope: usize, o: &Object) -> Result<SignalId> {
        let TypeOf::Whole(ty, bounds) = self.type_of(scope, &o.ty)? else {
            return self.fail(o.at, "a signal needs a range");
        };
        let width = self.small_enough(&ty, bounds, o.at)?;
        let path = &self.scopes[scope].path;
        // The name as it is written, for people and for matching.
        let shown = self.text.get(o.at as usize..o.at as usize + o.name.len()).unwrap_or(&o.name).to_owned();
        let name = if path.is_empty() { shown } else { format!("{path}.{shown}") };
        let id = self.rtl.add_signal(name, width, o.at);
        if let Some(value) = &o.value {
            let v = self.constant(scope, value, &TypeOf::Whole(ty.clone(), bounds))?;
            self.rtl.signal_mut(id).init = Some(self.encoded(&v, bounds, o.at)?);
        }
        if let Some(first) = self.first_of_signal(o, &ty, bounds) {
            self.rtl.signal_mut(id).init = Some(first);
        }
        self.declare(scope, &o.name, Named::Signal { id, ty, bounds }, o.at)?;
        Ok(id)
    }

    fn decls(&mut self, scope: usize, decls: &'a [Decl]) -> Result<()> {
        for d in decls {
            match d {
                Decl::Function(f) => match self.scopes[scope].names.get_mut(&f.name) {
                    Some(Named::Functions(all)) => all.push((scope, f)),
                    _ => self.declare(scope, &f.name, Named::Functions(vec![(scope, f)]), f.result.at)?,
                },
                Decl::Enum { .. } | Decl::Record { .. } | Decl::Array { .. } | Decl::Alias { .. } | Decl::Use(_) => {
                    self.type_decl(scope, d)?;
                }
                Decl::Component(c) => self.declare(scope, &c.name, Named::Component(c), c.at)?,
                Decl::Subtype { name, ty } => {
                    let of = self.type_of(scope, ty)?;
                    self.declare(scope, name, Named::Type(of), ty.at)?;
                }
                Decl::Object(o) => match o.class {
                    Class::Signal => {
                        self.signal(scope, o)?;
                    }
                    Class::Constant => {
                        let Some(value) = &o.value else { return self.fail(o.at, "a constant needs a value") };
                        let ty = self.type_of(scope, &o.ty)?;
                        let v = self.constant(scope, value, &ty)?;
                        self.declare(scope, &o.name, Named::Constant(v), o.at)?;
                    }
                    Class::Variable => return self.fail(o.at, "a variable outside a process or function"),
                },
            }
        }
        Ok(())
    }

    fn type_of(&mut self, scope: usize, t: &TypeName) -> Result<TypeOf> {
        let vector = match t.name.as_str() {
            "std_logic" | "std_ulogic" | "bit" => return Ok(TypeOf::Whole(Type::Bit, None)),
            "integer" | "natural" | "positive" => {
                let least = match t.name.as_str() {
                    "natural" => Some(0),
                    "positive" => Some(1),
                    _ => None,
                };
                let range = match &t.range {
                    Some(range) => Some(self.bounds_within(scope, range, 1 << 31)?),
                    None => least.map(|left| Bounds { left, right: (1 << 31) - 1, down: false }),
                };
                return Ok(TypeOf::Whole(Type::Integer, range));
            }
            "boolean" => return Ok(TypeOf::Whole(Type::Boolean, None)),
            "std_logic_vector" | "std_ulogic_vector" => Vector::Logic,
            "unsigned" | "u_unsigned" => Vector::Unsigned,
            "signed" | "u_signed" => Vector::Signed,
            _ => match match &t.package {
                Some(p) => self.package_scopes.get(p).and_then(|&s| self.scopes[s].names.get(&t.name)),
                None => self.find(scope, &t.name),
            }
            .cloned()
            {
                Some(Named::Type(ty)) => {
                    return match (ty, &t.range) {
                        (ty, None) => Ok(ty),
                        (TypeOf::Open(element, inner), Some(range)) => {
                            Ok(TypeOf::Whole(self.array_of(scope, range, element, inner)?, None))
                        }
                        (TypeOf::Unconstrained(v), Some(range)) => {
                            let bounds = self.bounds(scope, range)?;
                            Ok(TypeOf::Whole(Type::Vector(v, bounds.len()), Some(bounds)))
                        }
                        (TypeOf::Whole(Type::Integer, _), Some(range)) => {
                            Ok(TypeOf::Whole(Type::Integer, Some(self.bounds_within(scope, range, 1 << 31)?)))
                        }
                        _ => self.fail(t.at, format!("a range of the type {}", t.name)),
                    };
                }
                _ => return self.fail(t.at, format!("the type {} is not supported", t.name)),
            },
        };
        match &t.range {
            None => Ok(TypeOf::Unconstrained(vector)),
            Some(range) => {
                let bounds = self.bounds(scope, range)?;
                Ok(TypeOf::Whole(Type::Vector(vector, bounds.len()), Some(bounds)))
            }
        }
    }

    fn bounds(&mut self, scope: usize, range: &Expr) -> Result<Bounds> {
        self.bounds_within(scope, range, i64::from(MAX_WIDTH))
    }

    fn bounds_within(&mut self, scope: usize, range: &Expr, limit: i64) -> Result<Bounds> {
        let mut run = self.constant_run(scope);
        let bounds = self.range(&mut run, range)?;
        if bounds.left.unsigned_abs().max(bounds.right.unsigned_abs()) > limit.unsigned_abs() {
            return self.fail(range.at, format!("bounds beyond {limit}"));
        }
        Ok(bounds)
    }

    fn bounds_in(&mut self, run: &mut Run, range: &Expr) -> Result<Bounds> {
        let bounds = self.range(run, range)?;
        if bounds.left.unsigned_abs().max(bounds.right.unsigned_abs()) > u64::from(MAX_WIDTH) {
            return self.fail(range.at, "bounds beyond 2^24");
        }
        Ok(bounds)
    }

    fn range(&mut self, run: &mut Run, range: &Expr) -> Result<Bounds> {
        match &range.kind {
            Kind::Range(a, b, down) => Ok(Bounds { left: self.int(run, a)?, right: self.int(run, b)?, down: *down }),
            Kind::Attribute(base, name) if name == "range" || name == "reverse_range" => {
                let b = match self.bounds_of(run, base)? {
                    Some((Type::Array(a), _)) => a.bounds,
                    Some((_, Some(b))) => b,
                    _ => return self.fail(range.at, "this has no range that is known here"),
                };
                Ok(if name == "range" { b } else { Bounds { left: b.right, right: b.left, down: !b.down } })
            }
            // A subtype of the integers stands for its range.
            Kind::Name(n) => match self.find(run.scope, n) {
                Some(Named::Type(TypeOf::Whole(Type::Integer, Some(b)))) => Ok(*b),
                _ => self.fail(range.at, "a range is expected here"),
            },
            _ => self.fail(range.at, "a range is expected here"),
        }
    }

    fn constant(&mut self, scope: usize, e: &Expr, ty: &TypeOf) -> Result<Value> {
        let mut run = self.constant_run(scope);
        let expected = match ty {
            TypeOf::Whole(t, _) => Expect::Exactly(t.clone()),
            TypeOf::Unconstrained(v) => Expect::Vector(*v),
            TypeOf::Open(element, inner) => {
                // Positions, counted from 0.
                let Kind::Aggregate(args) = &e.kind else { return self.fail(e.at, "an array of no known range") };
                let right = args.len() as i64 - 1;
                let bounds = Bounds { left: 0, right, down: false };
                let of = ArrayOf { bounds, element: element.clone(), inner: *inner };
                return self.constant(scope, e, &TypeOf::Whole(Type::Array(Arc::new(of)), None));
            }
        };
        if let TypeOf::Whole(ty, bounds) = ty {
            self.context = bounds.filter(|_| *ty != Type::Integer);
        }
        let mut v = self.value(&mut run, e, Some(&expected))?;
        let bounds = match ty {
            TypeOf::Whole(t, bounds) => {
                self.same(e.at, t, &v.ty)?;
                if let (Type::Integer, Data::Int(_)) = (t, &v.data) {
                    self.encoded(&v, *bounds, e.at)?;
                }
                bounds.filter(|_| *t != Type::Integer)
            }
            TypeOf::Unconstrained(_) | TypeOf::Open(..) => v.bounds,
        };
        v.bounds = bounds;
        let known = match &v.data {
            Data::Node(n) => self.rtl.as_const(*n).is_some(),
            Data::Natural(_) | Data::Whole(_) => false,
            Data::Int(_) | Data::Array(_) => true,
        };
        if known { Ok(v) } else { self.fail(e.at, "a constant is needed here") }
    }

    fn same(&self, at: u32, wanted: &Type, found: &Type) -> Result<()> {
        if wanted == found {
            Ok(())
        } else {
            self.fail(at, format!("{} is expected here, not {}", show(wanted), show(found)))
        }
    }

    // ---- Concurrent statements

    fn concurrents(&mut self, scope: usize, body: &'a [Concurrent]) -> Result<()> {
        for c in body {
            self.iterations += 1;
            if self.iterations > MAX_ITERATIONS {
                return self.fail(0, "more than 2,000,000 statements or loop iterations");
            }
            match c {
                Concurrent::Assign { target, values, at } => {
                    let mut run = self.constant_run(scope);
                    let (ty, bounds) = self.target_type(&mut run, target)?;
                    let node = self.waveform(&mut run, values, (&ty, bounds), *at, None)?;
                    self.drive(&mut run, target, node)?;
                }
                Concurrent::Select { selector, target, items, at } => {
                    let mut run = self.constant_run(scope);
                    let (ty, bounds) = self.target_type(&mut run, target)?;
                    let s = self.value(&mut run, selector, None)?;
                    self.covered(items.iter().map(|(_, choices, others)| (&choices[..], *others)), &s, selector.at)?;
                    let mut nodes = Vec::new();
                    for (value, choices, others) in items {
                        let v = self.kept_as(&mut run, value, &ty, bounds)?;
                        nodes.push((self.choose(&mut run, &s, choices)?, *others, v));
                    }
                    let Some(&(_, _, mut node)) = nodes.last() else {
                        return self.fail(*at, "a selection without choices");
                    };
                    if let Some(o) = nodes.iter().find(|n| n.1) {
                        node = o.2;
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
                    let turns: Vec<i64> =
                        if b.down { (b.right..=b.left).rev().collect() } else { (b.left..=b.right).collect() };
                    for i in turns {
                        let path = &self.scopes[scope].path;
                        let dot = if path.is_empty() { "" } else { "." };
                        let inner = self.scope(Some(scope), format!("{path}{dot}{label}({i})"));
                        let v = Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
                        self.declare(inner, var, Named::Constant(v), range.at)?;
                        self.decls(inner, decls)?;
                        self.concurrents(inner, body)?;
                    }
                }
                Concurrent::If { label, cond, decls, body } => {
                    let mut run = self.constant_run(scope);
                    let node = self.condition(&mut run, cond)?;
                    match self.rtl.as_const(node) {
                        None => return self.fail(cond.at, "a constant is needed here"),
                        Some(v) if *v == BigUint::ZERO => {}
                        Some(_) => {
                            let path = &self.scopes[scope].path;
                            let dot = if path.is_empty() { "" } else { "." };
                            let inner = self.scope(Some(scope), format!("{path}{dot}{label}"));
                            self.decls(inner, decls)?;
                            self.concurrents(inner, body)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn instance(&mut self, scope: usize, i: &'a Instance) -> Result<()> {
        let Instance { label, entity, architecture, direct, generics, ports, at } = i;
        let at = *at;
        let Some(found) = self.file.entities.iter().find(|e| e.name == *entity) else {
            return self.fail(at, format!("no entity is called {entity}"));
        };
        // A component says what positions and defaults are.
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
            for g in face.generics.iter().filter(|g| !generics_have(&values, &g.name)).collect::<Vec<_>>() {
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
        for (i, arg) in ports.iter().enumerate() {
            let name = formal(self, arg, i, &face.ports)?;
            let (Some(port), Some(Named::Signal { id, ty, bounds })) =
                (found.ports.iter().find(|p| p.name == name), self.scopes[inner].names.get(&name).cloned())
            else {
                return self.fail(arg.value.at, format!("{entity} has no port {name}"));
            };
            if !seen.insert(name) {
                return self.fail(arg.value.at, "a port that is connected twice");
            }
            let mut run = self.constant_run(scope);
            if matches!(arg.value.kind, Kind::Open) {
                continue;
            }
            if port.output {
                let (outer, _) = self.target_type(&mut run, &arg.value)?;
                self.same(arg.value.at, &ty, &outer)?;
                let node = self.rtl.read(id);
                self.drive(&mut run, &arg.value, node)?;
            } else {
                let node = self.kept_as(&mut run, &arg.value, &ty, bounds)?;
                self.rtl.signal_mut(id).wires.push((0, node));
            }
        }
        for port in &found.ports {
            if !port.output && !seen.contains(&port.name) {
                return self.fail(at, format!("input {} is not connected", port.name));
            }
        }
        Ok(())
    }

    /// Values under conditions; without a last one the bits keep `hold`.
    fn waveform(
        &mut self,
        run: &mut Run,
        values: &[(Expr, Option<Expr>)],
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

    fn drive(&mut self, run: &mut Run, target: &Expr, node: NodeId) -> Result<()> {
        let place = self.place(run, target)?;
        let (Slot::Signal(id), true) = (place.slot, place.steps.is_empty()) else {
            return self.fail(target.at, "a signal is expected here, at a constant place");
        };
        self.rtl.signal_mut(id).wires.push((place.lo, node));
        Ok(())
    }

    // ---- Processes

    fn process(
        &mut self,
        scope: usize,
        waits: &'a Waits,
        decls: &'a [Decl],
        body: &'a [Statement],
        at: u32,
    ) -> Result<()> {
        let inner = self.scope(Some(scope), self.scopes[scope].path.clone());
        self.locals(inner, decls, &mut State::new(), true)?;
        let new = |clocked: bool| Run { state: State::new(), scope: inner, clocked, result: None };
        if let (Waits::Inside, [Statement::Wait(cond), rest @ ..]) = (waits, body) {
            let Some((clock, rising, enable)) = self.edge(inner, cond)? else {
                return self.fail(cond.at, "the only wait is that until a clock edge");
            };
            let mut run = new(true);
            self.enabled(&mut run, enable, rest, at)?;
            self.registers(run.state, Vec::new(), clock, rising, at)?;
            self.kept.clear();
            return Ok(());
        }
        if matches!(waits, Waits::Inside) {
            return self.fail(at, "a process that waits for nothing");
        }
        // if rst = '1' then ... elsif rising_edge(clk) then ... end if;
        let mut edge = None;
        if let [Statement::If(branches, otherwise)] = body {
            for (i, (cond, _)) in branches.iter().enumerate() {
                if let Some((clock, rising, rest)) = self.edge(inner, cond)? {
                    edge = Some((i, clock, rising, rest));
                    if i + 1 != branches.len() || !otherwise.is_empty() {
                        return self.fail(cond.at, "nothing follows the clock edge of a process");
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
            let (Slot::Signal(id), Data2::Node(node)) = (slot, data) else { continue };
            self.combinational(id, node, at)?;
        }
        Ok(())
    }

    /// Refuses a process that does not wait for all that it read.
    fn check_waits(&mut self, scope: usize, waits: &Waits) -> Result<()> {
        let reads = std::mem::take(&mut self.reads);
        let Waits::List(list) = waits else { return Ok(()) };
        let mut run = self.constant_run(scope);
        for e in list {
            // Only a name by itself stands for all its bits.
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

    /// Statements at a clock edge, if a condition beside it holds.
    fn enabled(&mut self, run: &mut Run, enable: Option<&Expr>, body: &'a [Statement], at: u32) -> Result<()> {
        let Some(enable) = enable else { return self.statements(run, body) };
        let cond = self.condition(run, enable)?;
        let before = run.state.clone();
        self.statements(run, body)?;
        let after = std::mem::replace(&mut run.state, before);
        self.merge(run, cond, after, at)
    }

    /// The register of a process's variable that is read before it is assigned.
    fn kept(&mut self, slot: u32) -> Option<SignalId> {
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

    /// `rising_edge(clk)`, `clk'event and clk = '1'`, either with `and` and a further condition.
    fn edge(&mut self, scope: usize, cond: &'a Expr) -> Result<Option<(SignalId, bool, Option<&'a Expr>)>> {
        let signal = |s: &Self, e: &Expr| match &e.kind {
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
                        return self.fail(b.at, "after 'event comes the level of the clock");
                    };
                    let (id, same) = (signal(self, base)?, signal(self, c)?);
                    return match level.kind {
                        Kind::Bit(bit) if id == same && matches!(bit, '0' | '1') => Ok(Some((id, bit == '1', None))),
                        _ => self.fail(b.at, "after 'event comes the level of the clock"),
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

    /// Declarations of a function or process. Variables of processes keep their values.
    fn locals(&mut self, scope: usize, decls: &'a [Decl], state: &mut State, keep: bool) -> Result<()> {
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
                        state.insert(Slot::Variable(slot), Data2::Node(node));
                    }
                }
            }
            self.declare(scope, &o.name, Named::Variable { slot, ty, bounds }, o.at)?;
        }
        Ok(())
    }

    /// What a slot keeps of a value. Integers that are known stay numbers.
    fn data2(&mut self, v: &Value, bounds: Option<Bounds>, at: u32) -> Result<Data2> {
        let node = self.encoded(v, bounds, at)?;
        match v.data {
            Data::Int(i) => Ok(Data2::Int(i)),
            _ => Ok(Data2::Node(node)),
        }
    }

    /// What a slot holds, as bits.
    fn slot_bits(&mut self, slot: Slot, data: &Data2, at: u32) -> Result<NodeId> {
        match (data, slot) {
            (Data2::Node(n), _) => Ok(*n),
            (Data2::Int(i), Slot::Variable(v)) => {
                let bounds = self.ranges.get(&v).copied().flatten();
                let v = Value { ty: Type::Integer, data: Data::Int(*i), bounds: None };
                self.encoded(&v, bounds, at)
            }
            (Data2::Int(_), Slot::Signal(_)) => self.fail(at, "an integer that is not kept as bits"),
        }
    }

    fn registers(
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
            if resets.iter().any(|&(_, v)| !self.constant_or_held(v, hold)) {
                let name = self.rtl.signal(id).name.clone();
                return self.fail(at, format!("{name} gets a value at its asynchronous reset that is not constant"));
            }
            if matches!(slot, Slot::Variable(_)) {
                self.rtl.signal_mut(id).registers.push(Register { lo: 0, next, clock, rising, resets });
                continue;
            }
            // Spans that hold themselves everywhere belong to another process.
            let width = self.rtl.signal(id).width;
            let mut mine = vec![false; width as usize];
            for &value in std::iter::once(&next).chain(resets.iter().map(|r| &r.1)) {
                self.mark_changed(value, hold, &mut mine);
            }
            let mut lo = 0;
            while lo < width {
                let end = (lo..width).find(|&i| mine[i as usize] != mine[lo as usize]).unwrap_or(width);
                if mine[lo as usize] {
                    let next = self.rtl.slice(next, lo, end - lo);
                    let resets = resets.iter().map(|&(c, v)| (c, self.rtl.slice(v, lo, end - lo))).collect();
                    self.rtl.signal_mut(id).registers.push(Register { lo, next, clock, rising, resets });
                }
                lo = end;
            }
        }
        Ok(())
    }

    /// Whether a value consists of constants and of bits of the register itself.
    fn constant_or_held(&self, value: NodeId, hold: NodeId) -> bool {
        match self.rtl.expr(value) {
            rtl::Expr::Const(_) => true,
            rtl::Expr::Concat(parts) => parts.iter().all(|&p| self.constant_or_held(p, hold)),
            rtl::Expr::Slice { x, .. } => *x == hold,
            _ => value == hold,
        }
    }

    fn mark_changed(&self, node: NodeId, own: NodeId, mine: &mut [bool]) {
        if node == own {
            return;
        }
        if let rtl::Expr::Concat(parts) = self.rtl.expr(node) {
            let mut at = 0;
            for &part in parts.iter() {
                let w = self.rtl.width(part);
                let held = matches!(self.rtl.expr(part), rtl::Expr::Slice { x, lo } if *x == own && *lo == at);
                if !held {
                    mine[at as usize..(at + w) as usize].fill(true);
                }
                at += w;
            }
        } else {
            mine.fill(true);
        }
    }

    /// Drives what a process without clock assigned; a path that assigns nothing would be a latch.
    fn combinational(&mut self, id: SignalId, node: NodeId, at: u32) -> Result<()> {
        let parts: Vec<NodeId> = match self.rtl.expr(node) {
            rtl::Expr::Concat(parts) => parts.to_vec(),
            _ => vec![node],
        };
        let mut lo = 0;
        for part in parts {
            if !self.unassigned.contains(&part) {
                let mut stack = vec![part];
                let mut seen = FxHashSet::default();
                while let Some(n) = stack.pop() {
                    if self.unassigned.contains(&n) {
                        let message = format!("{} is not assigned on every path: a latch", self.rtl.signal(id).name);
                        return self.fail(at, message);
                    }
                    if seen.insert(n) {
                        rtl::operands(self.rtl.expr(n), &mut |&x| stack.push(x));
                    }
                }
                self.rtl.signal_mut(id).wires.push((lo, part));
            }
            lo += self.rtl.width(part);
        }
        Ok(())
    }

    fn statements(&mut self, run: &mut Run, body: &'a [Statement]) -> Result<()> {
        for s in body {
            self.statement(run, s)?;
        }
        Ok(())
    }

    fn statement(&mut self, run: &mut Run, s: &'a Statement) -> Result<()> {
        self.turn(0)?;
        match s {
            Statement::Null => Ok(()),
            Statement::Assign { target, values, signal, at } => self.assign(run, target, values, *signal, *at),
            Statement::If(branches, otherwise) => {
                let [(cond, body), rest @ ..] = &branches[..] else { return self.statements(run, otherwise) };
                self.branches(run, (cond, body), rest, otherwise)
            }
            Statement::Case { selector, items } => self.case(run, selector, items),
            Statement::For { var, range, body } => {
                let b = self.bounds_in(run, range)?;
                let turns: Vec<i64> =
                    if b.down { (b.right..=b.left).rev().collect() } else { (b.left..=b.right).collect() };
                for i in turns {
                    let outer = run.scope;
                    run.scope = self.scope(Some(outer), self.scopes[outer].path.clone());
                    let v = Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
                    self.declare(run.scope, var, Named::Constant(v), range.at)?;
                    self.statements(run, body)?;
                    run.scope = outer;
                }
                Ok(())
            }
            Statement::Wait(e) => self.fail(e.at, "a wait that is not the first statement of a process without a list"),
            Statement::Return(e) => {
                let Some((ty, bounds, so_far, open)) = run.result.clone() else {
                    return self.fail(e.at, "return outside a function");
                };
                let expected = match &ty {
                    Type::Vector(v, 0) => Expect::Vector(*v),
                    other => Expect::Exactly(other.clone()),
                };
                self.context = bounds.filter(|_| ty != Type::Integer);
                let v = self.value(run, e, Some(&expected))?;
                match &expected {
                    Expect::Exactly(t) => self.same(e.at, t, &v.ty)?,
                    Expect::Vector(k) if !matches!(&v.ty, Type::Vector(f, _) if f == k) => {
                        return self.fail(e.at, "a result of another type");
                    }
                    Expect::Vector(_) => {}
                }
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

    fn branches(
        &mut self,
        run: &mut Run,
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

    /// Joins the results of a function's two branches.
    fn join_results(
        &mut self,
        run: &mut Run,
        cond: NodeId,
        yes: Option<(Type, Option<Bounds>, Option<NodeId>, NodeId)>,
        at: u32,
    ) -> Result<()> {
        let (Some(yes), Some(no)) = (yes, run.result.clone()) else { return Ok(()) };
        let not = self.rtl.not(cond);
        // `open` of the yes side was narrowed by the condition; that of the other side was not.
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

    fn merge(&mut self, run: &mut Run, cond: NodeId, yes: State, at: u32) -> Result<()> {
        let mut slots: Vec<Slot> = yes.keys().chain(run.state.keys()).copied().collect();
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            let (a, b) = (yes.get(&slot).cloned(), run.state.get(&slot).cloned());
            if a == b {
                continue;
            }
            let bits = |s: &mut Self, d: &Option<Data2>| match d {
                Some(d) => s.slot_bits(slot, d, at).map(Some),
                None => Ok(None),
            };
            let (a, b) = (bits(self, &a)?, bits(self, &b)?);
            let Some(width) = a.or(b).map(|n| self.rtl.width(n)) else { continue };
            let a = a.unwrap_or_else(|| self.before(run.clocked, slot, width));
            let b = b.unwrap_or_else(|| self.before(run.clocked, slot, width));
            let merged = self.rtl.mux(cond, a, b);
            run.state.insert(slot, Data2::Node(merged));
        }
        Ok(())
    }

    fn before(&mut self, clocked: bool, slot: Slot, width: u32) -> NodeId {
        match slot {
            Slot::Signal(id) if clocked => self.rtl.read(id),
            Slot::Variable(v) if clocked && self.kept.contains_key(&v) => match self.kept(v) {
                Some(id) => self.rtl.read(id),
                None => self.rtl.free(width),
            },
            _ => {
                let node = self.rtl.free(width);
                self.unassigned.insert(node);
                node
            }
        }
    }

    fn case(
        &mut self,
        run: &mut Run,
        selector: &'a Expr,
        items: &'a [(Vec<Expr>, bool, Vec<Statement>)],
    ) -> Result<()> {
        let s = self.value(run, selector, None)?;
        self.covered(items.iter().map(|(choices, others, _)| (&choices[..], *others)), &s, selector.at)?;
        if self.case_table(run, &s, items)? {
            return Ok(());
        }
        let (before, before_result) = (run.state.clone(), run.result.clone());
        let mut done = Vec::new();
        for (choices, others, body) in items {
            let hit = if *others { self.rtl.number(1, 1) } else { self.choose(run, &s, choices)? };
            run.state = before.clone();
            run.result.clone_from(&before_result);
            if let Some((_, _, _, open)) = &mut run.result {
                *open = self.rtl.binary(Binary::And, *open, hit);
            }
            self.statements(run, body)?;
            done.push((hit, std::mem::take(&mut run.state), run.result.take()));
        }
        // The choices cover every value, so that the last one needs no comparison.
        let Some((_, state, result)) = done.pop() else { return self.fail(selector.at, "a case without choices") };
        run.state = state;
        run.result = result;
        for (hit, state, result) in done.into_iter().rev() {
            self.join_results(run, hit, result, selector.at)?;
            self.merge(run, hit, state, selector.at)?;
        }
        Ok(())
    }

    /// Refuses choices that leave values out: `std_logic` has nine, so that only `others` covers all, last.
    fn covered<'e>(&self, items: impl Iterator<Item = (&'e [Expr], bool)>, s: &Value, at: u32) -> Result<()> {
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

    /// A function's case that returns a constant for every value is a table.
    fn case_table(&mut self, run: &mut Run, s: &Value, items: &'a [(Vec<Expr>, bool, Vec<Statement>)]) -> Result<bool> {
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
            let [Statement::Return(e)] = &body[..] else { return Ok(false) };
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

    /// Whether a selector has one of the values.
    fn choose(&mut self, run: &mut Run, s: &Value, choices: &[Expr]) -> Result<NodeId> {
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
                (Kind::Name(_), Data::Int(_) | Data::Natural(_) | Data::Whole(_)) if matches!(self.range(run, c), Ok(b) if b.len() > 0) =>
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

    fn equals_int(&mut self, s: &Value, v: i64, at: u32) -> Result<NodeId> {
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

    // ---- Targets

    fn target_type(&mut self, run: &mut Run, e: &Expr) -> Result<(Type, Option<Bounds>)> {
        let p = self.place(run, e)?;
        Ok((p.ty, p.bounds))
    }

    fn place(&mut self, run: &mut Run, e: &Expr) -> Result<Place> {
        match &e.kind {
            Kind::Name(n) => match self.find(run.scope, n).cloned() {
                Some(Named::Signal { id, ty, bounds }) => {
                    let whole = storage(&ty, bounds);
                    Ok(Place { slot: Slot::Signal(id), lo: 0, whole, steps: Vec::new(), ty, bounds })
                }
                Some(Named::Variable { slot, ty, bounds }) => {
                    let whole = storage(&ty, bounds);
                    Ok(Place { slot: Slot::Variable(slot), lo: 0, whole, steps: Vec::new(), ty, bounds })
                }
                Some(Named::Alias { of, scope, ty }) => {
                    self.turn(e.at)?;
                    let outer = std::mem::replace(&mut run.scope, scope);
                    let p = self.place(run, of);
                    run.scope = outer;
                    let (p, (ty, bounds)) = self.seen_as(p?, ty, e.at)?;
                    Ok(Place { ty, bounds, ..p })
                }
                _ => self.fail(e.at, format!("{n} cannot be assigned to")),
            },
            Kind::Field(base, name) => {
                let p = self.place(run, base)?;
                let (lo, ty, bounds) = self.field(&p.ty, name, e.at)?;
                Ok(p.part(lo, ty, bounds))
            }
            Kind::Call(base, args) => {
                let p = self.place(run, base)?;
                let [Arg { choices, others: false, value }] = &args[..] else {
                    return self.fail(e.at, "this cannot be assigned to");
                };
                if !choices.is_empty() {
                    return self.fail(e.at, "this cannot be assigned to");
                }
                if let Type::Array(a) = &p.ty {
                    let a = a.clone();
                    let stride = storage(&a.element, a.inner);
                    let index = self.distance(run, value, a.bounds)?;
                    let step = match index {
                        Ok(i) => return Ok(p.part(i * stride, a.element.clone(), a.inner)),
                        Err(addr) => Step { lo: p.lo, addr, count: a.bounds.len(), stride, flip: false },
                    };
                    return Ok(p.step(step, a.element.clone(), a.inner));
                }
                let (Type::Vector(v, _), Some(b)) = (p.ty.clone(), p.bounds) else {
                    return self.fail(e.at, "this cannot be assigned to");
                };
                if self.is_range(value) {
                    let part = self.bounds_in(run, value)?;
                    let Some(lo) = self.part(b, part, value.at)? else {
                        return self.fail(value.at, "no bits to assign to");
                    };
                    return Ok(p.part(lo, Type::Vector(v, part.len()), Some(part)));
                }
                match self.distance(run, value, b)? {
                    Ok(i) => {
                        let lo = if b.down { i } else { b.len() - 1 - i };
                        Ok(p.part(lo, Type::Bit, None))
                    }
                    Err(addr) => {
                        let step = Step { lo: p.lo, addr, count: b.len(), stride: 1, flip: !b.down };
                        Ok(p.step(step, Type::Bit, None))
                    }
                }
            }
            _ => self.fail(e.at, "this cannot be assigned to"),
        }
    }

    /// A place or value under the type that an alias gives it.
    fn seen_as<T: Typed>(&self, x: T, ty: Option<TypeOf>, at: u32) -> Result<(T, (Type, Option<Bounds>))> {
        let (own, bounds) = x.typed();
        let seen = match ty {
            None => (own, bounds),
            Some(TypeOf::Unconstrained(_) | TypeOf::Open(..)) => (own, bounds),
            Some(TypeOf::Whole(t, b)) => {
                self.same(at, &t, &own)?;
                (t, b.or(bounds))
            }
        };
        Ok((x, seen))
    }

    /// Replaces what the steps lead to, of which the first is in `before` whole.
    fn rewritten(&mut self, before: NodeId, base: u32, steps: &[Step], p: &Place, node: NodeId) -> NodeId {
        let Some((step, rest)) = steps.split_first() else {
            let lo = p.lo - base;
            let end = lo + self.rtl.width(node);
            let after = self.rtl.width(before) - end;
            let (low, high) = (self.rtl.slice(before, 0, lo), self.rtl.slice(before, end, after));
            return self.rtl.join(&[low, node, high]);
        };
        let from = step.lo - base;
        let end = from + step.count * step.stride;
        let after = self.rtl.width(before) - end;
        let mut parts = vec![self.rtl.slice(before, 0, from)];
        let reach = self.rtl.width(step.addr);
        for k in 0..step.count {
            let old = self.rtl.slice(before, from + k * step.stride, step.stride);
            let index = if step.flip { step.count - 1 - k } else { k };
            let hit = if reach < 32 && index >= 1 << reach {
                self.rtl.number(0, 1)
            } else {
                let number = self.rtl.number(index.into(), reach);
                self.rtl.compare(Compare::Equal, step.addr, number)
            };
            let never = self.rtl.as_const(hit).is_some_and(|v| *v == BigUint::ZERO);
            let new = if never { old } else { self.rewritten(old, step.lo, rest, p, node) };
            parts.push(self.rtl.mux(hit, new, old));
        }
        parts.push(self.rtl.slice(before, end, after));
        self.rtl.join(&parts)
    }

    /// What the steps lead to.
    fn chosen(&mut self, word: NodeId, base: u32, steps: &[Step], p: &Place, width: u32) -> NodeId {
        let Some((step, rest)) = steps.split_first() else { return self.rtl.slice(word, p.lo - base, width) };
        let mut words: Vec<NodeId> = Vec::with_capacity(step.count as usize);
        for k in 0..step.count {
            let k = if step.flip { step.count - 1 - k } else { k };
            let part = self.rtl.slice(word, step.lo - base + k * step.stride, step.stride);
            words.push(self.chosen(part, step.lo, rest, p, width));
        }
        self.rtl.choose(words, step.addr)
    }

    /// Counts a turn of a loop, or a call.
    fn turn(&mut self, at: u32) -> Result<()> {
        self.iterations += 1;
        if self.iterations > MAX_ITERATIONS {
            return self.fail(at, "more than 2,000,000 statements or loop iterations");
        }
        if self.rtl.work() > MAX_WORK {
            return self.fail(at, "constants and expressions beyond what is read: too many, or too wide");
        }
        Ok(())
    }

    fn is_range(&self, e: &Expr) -> bool {
        match &e.kind {
            Kind::Range(..) => true,
            Kind::Attribute(_, n) => n == "range" || n == "reverse_range",
            _ => false,
        }
    }

    /// Lowest bit of a part; none for a null range.
    fn part(&self, whole: Bounds, part: Bounds, at: u32) -> Result<Option<u32>> {
        if part.len() == 0 {
            return Ok(None);
        }
        if part.down != whole.down && part.len() > 1 {
            return self.fail(at, "a part against the direction of the vector");
        }
        match (whole.offset(part.left), whole.offset(part.right)) {
            (Some(_), Some(lo)) => Ok(Some(lo)),
            _ => self.fail(at, "bits outside the vector"),
        }
    }

    fn assign(
        &mut self,
        run: &mut Run,
        target: &Expr,
        values: &[(Expr, Option<Expr>)],
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
            // Known integers stay numbers.
            let v = self.value(run, value, Some(&Expect::Exactly(Type::Integer)))?;
            self.same(at, &Type::Integer, &v.ty)?;
            let data = self.data2(&v, p.bounds, at)?;
            run.state.insert(p.slot, data);
            return Ok(());
        }
        let old = match run.state.get(&p.slot).cloned() {
            Some(data) => self.slot_bits(p.slot, &data, at)?,
            None => self.before(run.clocked, p.slot, p.whole),
        };
        let width = storage(&p.ty, p.bounds);
        if !p.steps.is_empty() {
            let held = self.chosen(old, 0, &p.steps, &p, width);
            let node = self.waveform(run, values, (&p.ty, p.bounds), at, Some(held))?;
            let new = self.rewritten(old, 0, &p.steps, &p, node);
            run.state.insert(p.slot, Data2::Node(new));
            return Ok(());
        }
        let held = self.rtl.slice(old, p.lo, width);
        let was_free = self.unassigned.contains(&old);
        if was_free {
            self.unassigned.insert(held);
        }
        let node = self.waveform(run, values, (&p.ty, p.bounds), at, Some(held))?;
        let (low, high) = (self.rtl.slice(old, 0, p.lo), self.rtl.slice(old, p.lo + width, p.whole - p.lo - width));
        for part in [low, high] {
            self.mark_free(part, was_free);
        }
        let new = self.rtl.join(&[low, node, high]);
        run.state.insert(p.slot, Data2::Node(new));
        Ok(())
    }

    /// Slices of an undefined span are undefined spans.
    fn mark_free(&mut self, node: NodeId, all: bool) {
        match self.rtl.expr(node) {
            rtl::Expr::Free if all => {
                self.unassigned.insert(node);
            }
            rtl::Expr::Free => {
                self.unassigned.insert(node);
            }
            rtl::Expr::Concat(parts) => {
                let free: Vec<NodeId> =
                    parts.iter().copied().filter(|p| matches!(self.rtl.expr(*p), rtl::Expr::Free)).collect();
                self.unassigned.extend(free);
            }
            _ => {}
        }
    }

    // ---- Expressions

    fn node(&self, v: &Value) -> Option<NodeId> {
        match v.data {
            Data::Node(n) => Some(n),
            _ => None,
        }
    }

    fn bits(&self, v: &Value, at: u32) -> Result<NodeId> {
        match self.node(v) {
            Some(n) => Ok(n),
            None => self.fail(at, "bits are expected here"),
        }
    }

    /// An expression of exactly this type, as a node.
    fn typed(&mut self, run: &mut Run, e: &Expr, ty: &Type) -> Result<NodeId> {
        let v = self.value(run, e, Some(&Expect::Exactly(ty.clone())))?;
        self.same(e.at, ty, &v.ty)?;
        self.bits(&v, e.at)
    }

    fn condition(&mut self, run: &mut Run, e: &Expr) -> Result<NodeId> {
        let v = self.value(run, e, Some(&Expect::Exactly(Type::Boolean)))?;
        match v.ty {
            Type::Boolean => self.bits(&v, e.at),
            _ => self.fail(e.at, "a condition is expected here"),
        }
    }

    fn int(&mut self, run: &mut Run, e: &Expr) -> Result<i64> {
        let v = self.value(run, e, Some(&Expect::Exactly(Type::Integer)))?;
        match v.data {
            Data::Int(i) => Ok(i),
            Data::Natural(n) => match self.rtl.as_const(n).and_then(|v| i64::try_from(v).ok()) {
                Some(i) => Ok(i),
                None => self.fail(e.at, "a constant is needed here"),
            },
            _ => self.fail(e.at, "an integer is expected here"),
        }
    }

    fn vector(&mut self, v: Vector, node: NodeId) -> Value {
        let width = self.rtl.width(node);
        // Results of numeric_std count down to 0. What else there is counts as its context says.
        let bounds = (v != Vector::Logic).then_some(Bounds::of_width(width));
        Value { ty: Type::Vector(v, width), data: Data::Node(node), bounds }
    }

    fn boolean(&self, node: NodeId) -> Value {
        Value { ty: Type::Boolean, data: Data::Node(node), bounds: None }
    }

    fn value(&mut self, run: &mut Run, e: &Expr, expected: Option<&Expect>) -> Result<Value> {
        let int = |i: i64| Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
        // What this expression is for says nothing about its operands.
        let context = self.context.take();
        match &e.kind {
            Kind::Int(i) => Ok(int(*i)),
            Kind::Bit(c) => {
                let node = match c {
                    '0' | 'L' => self.rtl.number(0, 1),
                    '1' | 'H' => self.rtl.number(1, 1),
                    'Z' => return self.fail(e.at, "Z: a tri-state"),
                    'X' | 'U' | '-' | 'W' => self.rtl.free(1),
                    _ => return self.fail(e.at, "not a value of std_logic"),
                };
                Ok(Value { ty: Type::Bit, data: Data::Node(node), bounds: None })
            }
            Kind::Text(t) => {
                let mut parts = Vec::new();
                for c in t.chars().rev().filter(|&c| c != '_') {
                    parts.push(match c {
                        '0' | 'L' => self.rtl.number(0, 1),
                        '1' | 'H' => self.rtl.number(1, 1),
                        'Z' => return self.fail(e.at, "Z: a tri-state"),
                        'X' | 'U' | '-' | 'W' => self.rtl.free(1),
                        _ => return self.fail(e.at, "not a string of std_logic"),
                    });
                }
                let node = self.rtl.concat(&parts);
                let kind = match expected {
                    Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) => *v,
                    _ => Vector::Logic,
                };
                // By itself a string counts from 0 upwards.
                let right = i64::from(self.rtl.width(node)) - 1;
                Ok(Value { bounds: Some(Bounds { left: 0, right, down: false }), ..self.vector(kind, node) })
            }
            Kind::Name(n) if n == "true" || n == "false" => {
                let node = self.rtl.number(u64::from(n == "true"), 1);
                Ok(self.boolean(node))
            }
            Kind::Name(n) => match self.find(run.scope, n).cloned() {
                Some(Named::Constant(v)) => Ok(v),
                Some(Named::Signal { id, ty, bounds }) => {
                    self.reads.push((id, e.at));
                    Ok(self.decoded(self.rtl.read(id), &ty, bounds))
                }
                Some(Named::Variable { slot, ty, bounds }) => match run.state.get(&Slot::Variable(slot)) {
                    Some(Data2::Node(n)) => Ok(self.decoded(*n, &ty, bounds)),
                    Some(Data2::Int(i)) => Ok(int(*i)),
                    None => {
                        // Read before it is written: in a clocked process it is a register.
                        let node = self.before(run.clocked, Slot::Variable(slot), storage(&ty, bounds));
                        Ok(self.decoded(node, &ty, bounds))
                    }
                },
                Some(Named::Alias { of, scope, ty }) => {
                    self.turn(e.at)?;
                    let outer = std::mem::replace(&mut run.scope, scope);
                    let v = self.value(run, of, expected);
                    run.scope = outer;
                    let (v, (ty, bounds)) = self.seen_as(v?, ty, e.at)?;
                    Ok(Value { ty, bounds, ..v })
                }
                Some(Named::Literals(all)) => self.literal(&all, expected, e.at),
                Some(Named::Functions(all)) => self.overloaded(run, &all, &[], expected, e.at),
                _ => self.fail(e.at, format!("{n} is not declared as a value")),
            },
            Kind::Field(base, name) => {
                match self.in_package(base, name) {
                    Some(Named::Constant(v)) => return Ok(v),
                    Some(Named::Literals(all)) => return self.literal(&all, expected, e.at),
                    Some(Named::Functions(all)) => return self.overloaded(run, &all, &[], expected, e.at),
                    Some(_) => return self.fail(e.at, format!("{name} is not a value")),
                    None => {}
                }
                let v = self.value(run, base, None)?;
                let (lo, ty, bounds) = self.field(&v.ty, name, e.at)?;
                let node = self.bits(&v, e.at)?;
                let part = self.rtl.slice(node, lo, storage(&ty, bounds));
                Ok(self.decoded(part, &ty, bounds))
            }
            Kind::Qualified(name, args) => {
                let named = TypeName { name: name.clone(), package: None, range: None, at: e.at };
                let ty = self.type_of(run.scope, &named)?;
                let (expected, bounds) = match ty {
                    TypeOf::Whole(t, bounds) => (Expect::Exactly(t), bounds),
                    TypeOf::Unconstrained(v) => (Expect::Vector(v), None),
                    TypeOf::Open(..) => return self.fail(e.at, "an array of no known range"),
                };
                let bounds = bounds.filter(|_| expected_vector(&expected));
                self.context = bounds;
                let v = match &args[..] {
                    [Arg { choices, others: false, value }] if choices.is_empty() => {
                        self.value(run, value, Some(&expected))?
                    }
                    _ => {
                        self.context = None;
                        self.aggregate(run, args, Some(&expected), bounds, e.at)?
                    }
                };
                let fits = match (&expected, &v.ty) {
                    (Expect::Exactly(a), b) => a == b,
                    (Expect::Vector(a), Type::Vector(b, _)) => a == b,
                    _ => false,
                };
                if fits { Ok(v) } else { self.fail(e.at, format!("{} is not a {name}", show(&v.ty))) }
            }
            Kind::Aggregate(args) => self.aggregate(run, args, expected, context, e.at),
            Kind::Attribute(base, name) => {
                let b = match self.bounds_of(run, base)? {
                    Some((Type::Array(a), _)) => a.bounds,
                    Some((_, Some(b))) => b,
                    Some((Type::Vector(_, w), None)) if name == "length" => Bounds::of_width(w),
                    Some((Type::Enum(t), None)) if matches!(name.as_str(), "left" | "low" | "right" | "high") => {
                        let i = if name == "left" || name == "low" { 0 } else { t.literals - 1 };
                        return self.literal(&[(Type::Enum(t), i)], None, e.at);
                    }
                    _ => return self.fail(e.at, "this has no bounds that are known here"),
                };
                Ok(int(match name.as_str() {
                    "length" => i64::from(b.len()),
                    "left" => b.left,
                    "right" => b.right,
                    "high" => b.left.max(b.right),
                    "low" => b.left.min(b.right),
                    _ => return self.fail(e.at, format!("the attribute {name} is not supported here")),
                }))
            }
            Kind::Call(base, args) => self.call_or_select(run, e, base, args, expected),
            Kind::Unary(op, x) => self.unary(run, op, x, expected, e.at),
            Kind::Binary(op, a, b) => self.binary(run, op, a, b, expected, e.at),
            Kind::Range(..) | Kind::Open => self.fail(e.at, "a value is expected here"),
        }
    }

    /// An aggregate takes its length from the context, or from its own choices.
    fn aggregate(
        &mut self,
        run: &mut Run,
        args: &[Arg],
        expected: Option<&Expect>,
        context: Option<Bounds>,
        at: u32,
    ) -> Result<Value> {
        match expected {
            Some(Expect::Exactly(Type::Array(a))) => return self.array(run, args, &a.clone(), at),
            Some(Expect::Exactly(Type::Record(r))) => return self.record(run, args, &r.clone(), at),
            _ => {}
        }
        // Null ranges (`0 downto 1 => x`) give nothing, as the language says.
        let mut chosen: Vec<(Bounds, NodeId)> = Vec::new();
        let mut positional = Vec::new();
        let mut others = None;
        for arg in args {
            let node = self.typed(run, &arg.value, &Type::Bit)?;
            if arg.others {
                others = Some(node);
            } else if arg.choices.is_empty() {
                positional.push(node);
            } else {
                for c in &arg.choices {
                    let b = if self.is_range(c) {
                        self.bounds_in(run, c)?
                    } else {
                        let i = self.int(run, c)?;
                        Bounds { left: i, right: i, down: true }
                    };
                    chosen.push((b, node));
                }
            }
        }
        let kind = match expected {
            Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) => *v,
            _ => return self.fail(at, "an aggregate whose type the context does not tell"),
        };
        if !positional.is_empty() {
            if !chosen.is_empty() {
                return self.fail(at, "positions and choices in one aggregate");
            }
            positional.reverse();
            if let (Some(other), Some(Expect::Exactly(Type::Vector(_, w)))) = (others, expected) {
                while (positional.len() as u32) < *w {
                    positional.insert(0, other);
                }
            }
            let node = self.rtl.concat(&positional);
            return Ok(Value { bounds: None, ..self.vector(kind, node) });
        }
        let low = chosen.iter().filter(|c| c.0.len() > 0).map(|c| c.0.left.min(c.0.right)).min();
        let high = chosen.iter().filter(|c| c.0.len() > 0).map(|c| c.0.left.max(c.0.right)).max();
        let (low, width) = match (expected, others, low, high) {
            (Some(Expect::Exactly(Type::Vector(_, w))), Some(_), _, _) => (0, *w),
            (_, Some(_), _, _) => return self.fail(at, "others needs a length from the context"),
            (_, None, Some(low), Some(high)) => (low, (high - low + 1) as u32),
            (_, None, _, _) => (0, 0),
        };
        if width > MAX_WIDTH {
            return self.fail(at, "more than 2^24 bits");
        }
        let uniform = match (&chosen[..], others) {
            ([(b, node)], _) if b.len() == width => Some(*node),
            ([], Some(node)) => Some(node),
            _ => None,
        };
        if let Some(node) = uniform {
            let node = if width == 0 { self.rtl.number(0, 0) } else { self.rtl.repeat(node, width) };
            return Ok(Value { bounds: None, ..self.vector(kind, node) });
        }
        // Which bit a choice means only the context tells.
        let Some(context) = context.filter(|c| others.is_none() || c.len() == width) else {
            return self.fail(at, "choices in an aggregate whose bounds the context does not tell");
        };
        let (low, high) = match others {
            Some(_) => (context.left.min(context.right), context.left.max(context.right)),
            None => (low, low + i64::from(width) - 1),
        };
        let mut bits: Vec<Option<NodeId>> = vec![others; width as usize];
        for (b, node) in chosen {
            for i in b.left.min(b.right)..=b.left.max(b.right) {
                let place = if context.down { i - low } else { high - i };
                match usize::try_from(place).ok().and_then(|p| bits.get_mut(p)) {
                    Some(slot) if b.len() > 0 => *slot = Some(node),
                    Some(_) => {}
                    None => return self.fail(at, "a choice outside the vector"),
                }
            }
        }
        let Some(bits) = bits.into_iter().collect::<Option<Vec<_>>>() else {
            return self.fail(at, "an aggregate with gaps");
        };
        let node = self.rtl.concat(&bits);
        Ok(Value { bounds: None, ..self.vector(kind, node) })
    }

    /// An array of positions, choices and `others`; of constants it is a table.
    fn array(&mut self, run: &mut Run, args: &[Arg], a: &Arc<ArrayOf>, at: u32) -> Result<Value> {
        let bounds = a.bounds;
        let len = bounds.len() as usize;
        let mut entries: Vec<Option<NodeId>> = vec![None; len];
        let mut others = None;
        let low = bounds.left.min(bounds.right);
        for (i, arg) in args.iter().enumerate() {
            let node = self.kept_as(run, &arg.value, &a.element, a.inner)?;
            if arg.others {
                others = Some(node);
                continue;
            }
            let mut places = Vec::new();
            for c in &arg.choices {
                if self.is_range(c) {
                    let b = self.bounds_in(run, c)?;
                    if b.len() > 0 {
                        places.extend(b.left.min(b.right)..=b.left.max(b.right));
                    }
                } else {
                    places.push(self.int(run, c)?);
                }
            }
            if arg.choices.is_empty() {
                places.push(if bounds.down { bounds.left - i as i64 } else { bounds.left + i as i64 });
            }
            for p in places {
                match usize::try_from(p - low).ok().and_then(|p| entries.get_mut(p)) {
                    Some(slot) => *slot = Some(node),
                    None => return self.fail(arg.value.at, "an index outside the array"),
                }
            }
        }
        let entries: Option<Vec<NodeId>> = entries.into_iter().map(|e| e.or(others)).collect();
        let Some(entries) = entries else { return self.fail(at, "an array with gaps") };
        let constants: Option<Vec<BigUint>> = entries.iter().map(|&e| self.rtl.as_const(e).cloned()).collect();
        let data = match constants {
            Some(constants) => Data::Array(Arc::new(constants)),
            None => Data::Node(self.rtl.concat(&entries)),
        };
        Ok(Value { ty: Type::Array(a.clone()), data, bounds: None })
    }

    fn call_or_select(
        &mut self,
        run: &mut Run,
        e: &Expr,
        base: &Expr,
        args: &[Arg],
        expected: Option<&Expect>,
    ) -> Result<Value> {
        if let Kind::Field(package, name) = &base.kind {
            match self.in_package(package, name) {
                Some(Named::Functions(all)) => return self.overloaded(run, &all, args, expected, e.at),
                // ieee.numeric_std.resize(...)
                None if self.foreign(package) => return self.standard(run, name, args, e.at),
                _ => {}
            }
        }
        if let Kind::Name(name) = &base.kind {
            if let Some(Named::Functions(all)) = self.find(run.scope, name).cloned() {
                return self.overloaded(run, &all, args, expected, e.at);
            }
            if self.find(run.scope, name).is_none() {
                return self.standard(run, name, args, e.at);
            }
            if let Some(Named::Type(ty)) = self.find(run.scope, name).cloned() {
                if let (TypeOf::Whole(Type::Integer, _), [arg]) = (&ty, args) {
                    return self.value(run, &arg.value, Some(&Expect::Exactly(Type::Integer)));
                }
                let (TypeOf::Whole(Type::Vector(v, _), _) | TypeOf::Unconstrained(v), [arg]) = (ty, args) else {
                    return self.fail(e.at, "a conversion to this type");
                };
                return self.convert(run, v, &arg.value);
            }
        }
        let v = self.value(run, base, None)?;
        let [Arg { choices, others: false, value }] = args else {
            return self.fail(e.at, "one index or range is expected");
        };
        if !choices.is_empty() {
            return self.fail(e.at, "one index or range is expected");
        }
        if let Type::Array(a) = &v.ty {
            let width = storage(&a.element, a.inner);
            if self.is_range(value) {
                return self.fail(e.at, "a part of an array: its elements are read one by one");
            }
            let node = match (self.distance(run, value, a.bounds)?, &v.data) {
                (Ok(i), Data::Array(entries)) => {
                    self.rtl.constant(entries.get(i as usize).cloned().unwrap_or_default(), width)
                }
                (Err(addr), Data::Array(entries)) => {
                    let missing = self.rtl.free(width);
                    self.rtl.table(entries.clone(), addr, missing)
                }
                (Ok(i), Data::Node(n)) => self.rtl.slice(*n, i * width, width),
                (Err(addr), Data::Node(n)) => {
                    let words = (0..a.bounds.len()).map(|i| self.rtl.slice(*n, i * width, width)).collect();
                    self.rtl.choose(words, addr)
                }
                _ => return self.fail(e.at, "this has no elements"),
            };
            return Ok(self.decoded(node, &a.element, a.inner));
        }
        let (Type::Vector(kind, width), Data::Node(node)) = (&v.ty, &v.data) else {
            return self.fail(e.at, "this has no bits to select");
        };
        let (kind, width, node) = (*kind, *width, *node);
        let Some(bounds) = v.bounds else {
            return self.fail(e.at, "bits of a value whose bounds are not known here");
        };
        if self.is_range(value) {
            let part = self.bounds_in(run, value)?;
            let Some(lo) = self.part(bounds, part, value.at)? else {
                let none = self.rtl.number(0, 0);
                return Ok(self.vector(kind, none));
            };
            let node = self.rtl.slice(node, lo, part.len());
            return Ok(Value { bounds: Some(part), ..self.vector(kind, node) });
        }
        let bit = match self.distance(run, value, bounds)? {
            Ok(i) => self.rtl.slice(node, if bounds.down { i } else { width - 1 - i }, 1),
            Err(addr) if bounds.down && bounds.right == 0 => {
                let moved = self.rtl.shift(Shift::Right, node, addr);
                let bit = self.rtl.slice(moved, 0, 1);
                let reach = self.rtl.width(addr);
                if reach < 32 && 1u64 << reach <= u64::from(width) {
                    bit
                } else {
                    let limit = self.rtl.number(u64::from(width), reach);
                    let inside = self.rtl.compare(Compare::Less, addr, limit);
                    let free = self.rtl.free(1);
                    self.rtl.mux(inside, bit, free)
                }
            }
            Err(addr) => {
                let lo = |i: u32| if bounds.down { i } else { width - 1 - i };
                let bits = (0..width).map(|i| self.rtl.slice(node, lo(i), 1)).collect();
                self.rtl.choose(bits, addr)
            }
        };
        Ok(Value { ty: Type::Bit, data: Data::Node(bit), bounds: None })
    }

    fn convert(&mut self, run: &mut Run, to: Vector, x: &Expr) -> Result<Value> {
        let v = self.value(run, x, None)?;
        match (&v.ty, &v.data) {
            (Type::Vector(_, w), Data::Node(_)) => Ok(Value { ty: Type::Vector(to, *w), ..v }),
            _ => self.fail(x.at, "only vectors are converted"),
        }
    }

    /// Functions of the standard packages.
    fn standard(&mut self, run: &mut Run, name: &str, args: &[Arg], at: u32) -> Result<Value> {
        if args.iter().any(|a| !a.choices.is_empty() || a.others) {
            return self.fail(at, "arguments by name are not supported here");
        }
        let arg = |i: usize| args.get(i).map(|a| &a.value);
        match (name, arg(0), arg(1)) {
            ("unsigned" | "u_unsigned", Some(x), None) => self.convert(run, Vector::Unsigned, x),
            ("signed" | "u_signed", Some(x), None) => self.convert(run, Vector::Signed, x),
            ("std_logic_vector" | "std_ulogic_vector" | "to_stdlogicvector" | "to_slv", Some(x), None) => {
                self.convert(run, Vector::Logic, x)
            }
            ("std_logic" | "std_ulogic" | "to_x01" | "integer" | "natural", Some(x), None) => self.value(run, x, None),
            ("std_match", Some(x), Some(y)) => self.matches(run, x, y, at),
            ("to_integer", Some(x), None) => {
                let v = self.value(run, x, None)?;
                let node = self.bits(&v, x.at)?;
                match (&v.ty, self.rtl.as_const(node).cloned()) {
                    (Type::Vector(Vector::Unsigned, _), None) => {
                        Ok(Value { ty: Type::Integer, data: Data::Natural(node), bounds: None })
                    }
                    (Type::Vector(kind @ (Vector::Unsigned | Vector::Signed), w), Some(c))
                        if *w <= 62 || c.bits() < 32 =>
                    {
                        let negative = *kind == Vector::Signed && *w > 0 && c.bit(u64::from(*w) - 1);
                        let raw = i64::try_from(&c).map_err(|_| error(self.text, x.at, "an integer beyond 64 bits"))?;
                        let value = if negative && *w < 63 { raw - (1 << w) } else { raw };
                        Ok(Value { ty: Type::Integer, data: Data::Int(value), bounds: None })
                    }
                    (Type::Vector(Vector::Signed, w), None) if *w > 0 => {
                        Ok(Value { ty: Type::Integer, data: Data::Whole(node), bounds: None })
                    }
                    _ => self.fail(x.at, "to_integer of unsigned and signed vectors"),
                }
            }
            ("to_unsigned" | "to_signed", Some(x), Some(w)) => {
                let kind = if name == "to_signed" { Vector::Signed } else { Vector::Unsigned };
                let width = self.length(run, w)?;
                let v = self.value(run, x, Some(&Expect::Exactly(Type::Integer)))?;
                let node = match v.data {
                    Data::Int(i) => self.integer(i, width),
                    Data::Natural(n) => self.rtl.resize(n, width, false),
                    Data::Whole(n) => self.rtl.resize(n, width, true),
                    _ => return self.fail(x.at, "an integer is expected here"),
                };
                Ok(self.vector(kind, node))
            }
            ("resize", Some(x), Some(w)) => {
                let width = self.length(run, w)?;
                let v = self.value(run, x, None)?;
                let node = self.bits(&v, x.at)?;
                match v.ty {
                    Type::Vector(Vector::Unsigned, _) => {
                        let node = self.rtl.resize(node, width, false);
                        Ok(self.vector(Vector::Unsigned, node))
                    }
                    Type::Vector(Vector::Signed, _) => {
                        let node = self.resize_signed(node, width);
                        Ok(self.vector(Vector::Signed, node))
                    }
                    _ => self.fail(x.at, "resize takes unsigned or signed"),
                }
            }
            ("shift_left" | "shift_right" | "rotate_left" | "rotate_right", Some(x), Some(by)) => {
                let v = self.value(run, x, None)?;
                self.shifted(run, name, &v, by, at)
            }
            ("rising_edge" | "falling_edge", ..) => {
                self.fail(at, "a clock edge that is not the last condition of a process")
            }
            _ => self.fail(at, format!("{name} is not declared")),
        }
    }

    fn length(&mut self, run: &mut Run, e: &Expr) -> Result<u32> {
        // numeric_std of 2008 also takes a vector's length from a vector.
        let width = self.int(run, e)?;
        match u32::try_from(width) {
            Ok(w) if w <= MAX_WIDTH => Ok(w),
            _ => self.fail(e.at, "a width from 0 to 2^24"),
        }
    }

    fn integer(&mut self, i: i64, width: u32) -> NodeId {
        let value = if i < 0 {
            let full = BigUint::from(1u32) << width.max(64);
            full - BigUint::from(i.unsigned_abs())
        } else {
            BigUint::from(i as u64)
        };
        self.rtl.constant(value, width)
    }

    fn shifted(&mut self, run: &mut Run, name: &str, v: &Value, by: &Expr, at: u32) -> Result<Value> {
        let node = self.bits(v, at)?;
        let Type::Vector(kind, width) = v.ty else { return self.fail(at, "a vector is expected here") };
        let amount = self.value(run, by, Some(&Expect::Exactly(Type::Integer)))?;
        let signed = kind == Vector::Signed;
        if name == "sra" && kind == Vector::Logic {
            return self.fail(at, "sra of std_logic_vector");
        }
        let (left, rotate, fill_sign) = match name {
            "shift_left" | "sll" => (true, false, false),
            "shift_right" => (false, false, signed),
            "srl" => (false, false, false),
            "sra" => (false, false, signed),
            "rotate_left" | "rol" => (true, true, false),
            "rotate_right" | "ror" => (false, true, false),
            _ => return self.fail(at, format!("{name} is not supported")),
        };
        let count = match amount.data {
            Data::Int(i) if i < 0 => return self.fail(by.at, "a shift by a negative number"),
            Data::Int(i) if rotate && width > 0 => {
                let i = (i % i64::from(width)) as u32;
                let i = if left { i } else { (width - i) % width };
                let (high, low) = (self.rtl.slice(node, 0, width - i), self.rtl.slice(node, width - i, i));
                let turned = self.rtl.concat(&[low, high]);
                return Ok(self.vector(kind, turned));
            }
            Data::Int(i) => self.rtl.number(i as u64, 40),
            Data::Natural(n) | Data::Whole(n) if !rotate => n,
            _ => return self.fail(by.at, "a rotation by a number that is not constant"),
        };
        let op = match (left, fill_sign) {
            (true, _) => Shift::Left,
            (false, true) => Shift::SignedRight,
            (false, false) => Shift::Right,
        };
        let node = self.rtl.shift(op, node, count);
        Ok(self.vector(kind, node))
    }

    /// The function of a name that takes these arguments, and gives what is expected.
    fn overloaded(
        &mut self,
        run: &mut Run,
        all: &[(usize, &'a Function)],
        args: &[Arg],
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        let fits: Vec<(usize, &'a Function)> = all.iter().copied().filter(|f| f.1.params.len() == args.len()).collect();
        match (&fits[..], all) {
            (&[(home, f)], _) | (&[], &[(home, f)]) => return self.call(run, home, f, args, at),
            (&[], _) => return self.fail(at, "no function of this name takes as many arguments"),
            _ => {}
        }
        // Each of them is tried on the arguments.
        let mut found = Vec::new();
        for &(home, f) in &fits {
            self.turn(at)?;
            let reads = self.reads.len();
            if self.arguments(run, home, f, args, at).is_ok() {
                found.push((home, f));
            }
            self.reads.truncate(reads);
        }
        if found.len() > 1 {
            let mut best = Vec::new();
            for &(home, f) in &found {
                let result = self.type_of(home, &f.result)?;
                let same = match (expected, &result) {
                    (Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)), TypeOf::Unconstrained(w)) => v == w,
                    (Some(Expect::Exactly(t)), TypeOf::Whole(u, _)) => t == u,
                    (Some(Expect::Vector(v)), TypeOf::Whole(Type::Vector(w, _), _)) => v == w,
                    _ => false,
                };
                if same {
                    best.push((home, f));
                }
            }
            found = best;
        }
        match found[..] {
            [(home, f)] => self.call(run, home, f, args, at),
            [] => self.fail(at, "no function of this name takes these arguments"),
            _ => self.fail(at, "several functions of this name take these arguments"),
        }
    }

    /// Whether a prefix is that of a standard package.
    fn foreign(&self, package: &Expr) -> bool {
        match &package.kind {
            Kind::Field(library, _) => matches!(&library.kind, Kind::Name(n) if n == "ieee" || n == "std"),
            Kind::Name(n) => matches!(n.as_str(), "numeric_std" | "std_logic_1164"),
            _ => false,
        }
    }

    /// Arguments of a function in the order of its parameters, as the types of these want them.
    fn arguments(&mut self, run: &mut Run, home: usize, f: &'a Function, args: &[Arg], at: u32) -> Result<Vec<Value>> {
        if args.len() != f.params.len() {
            return self.fail(at, format!("{} takes {} arguments", f.name, f.params.len()));
        }
        let mut values = Vec::with_capacity(args.len());
        for (i, p) in f.params.iter().enumerate() {
            // By position, or by name.
            let arg = args.iter().enumerate().find(|(j, a)| match &a.choices[..] {
                [] => *j == i,
                [Expr { kind: Kind::Name(n), .. }] => *n == p.name,
                _ => false,
            });
            let Some((_, arg)) = arg else {
                return self.fail(at, format!("{} has no argument {}", f.name, p.name));
            };
            let ty = self.type_of(home, &p.ty)?;
            let (expected, bounds) = match &ty {
                TypeOf::Whole(t, b) => (Expect::Exactly(t.clone()), *b),
                TypeOf::Unconstrained(v) => (Expect::Vector(*v), None),
                TypeOf::Open(..) => return self.fail(p.at, "an argument that is an array of no known range"),
            };
            let bounds = bounds.filter(|_| expected_vector(&expected));
            self.context = bounds;
            let v = self.value(run, &arg.value, Some(&expected))?;
            match &expected {
                Expect::Exactly(t) => self.same(arg.value.at, t, &v.ty)?,
                Expect::Vector(k) if !matches!(&v.ty, Type::Vector(f, _) if f == k) => {
                    return self.fail(arg.value.at, "an argument of another type");
                }
                Expect::Vector(_) => {}
            }
            let bounds = bounds.or(v.bounds);
            values.push(Value { bounds, ..v });
        }
        Ok(values)
    }

    fn call(&mut self, run: &mut Run, home: usize, f: &'a Function, args: &[Arg], at: u32) -> Result<Value> {
        self.turn(at)?;
        let values = self.arguments(run, home, f, args, at)?;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return self.fail(at, "functions that call one another more than 64 deep");
        }
        let scopes = self.scopes.len();
        let scope = self.scope(Some(home), self.scopes[home].path.clone());
        for (p, v) in f.params.iter().zip(values) {
            self.declare(scope, &p.name, Named::Constant(v), p.at)?;
        }
        let mut state = State::new();
        self.locals(scope, &f.decls, &mut state, false)?;
        let (ty, bounds) = match self.type_of(home, &f.result)? {
            TypeOf::Whole(t, b) => (t, b),
            TypeOf::Unconstrained(v) => (Type::Vector(v, 0), None),
            TypeOf::Open(..) => return self.fail(at, "a function that gives an array of no known range"),
        };
        let open = self.rtl.number(1, 1);
        let mut inner = Run { state, scope, clocked: false, result: Some((ty, bounds, None, open)) };
        self.statements(&mut inner, &f.body)?;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        match inner.result {
            Some((ty, bounds, Some(node), open)) => {
                let closed = self.rtl.as_const(open).is_some_and(|v| *v == BigUint::ZERO);
                let node = if closed {
                    node
                } else {
                    // A path without return: undefined there.
                    let free = self.rtl.free(self.rtl.width(node));
                    self.rtl.mux(open, free, node)
                };
                Ok(self.decoded(node, &ty, bounds))
            }
            _ => self.fail(at, format!("{} returns nothing", f.name)),
        }
    }

    fn unary(&mut self, run: &mut Run, op: &str, x: &Expr, expected: Option<&Expect>, at: u32) -> Result<Value> {
        if let Some(reduction) = op.strip_prefix("reduce ") {
            let v = self.value(run, x, None)?;
            let node = self.bits(&v, at)?;
            let (kind, negate) = match reduction {
                "and" => (Reduce::All, false),
                "nand" => (Reduce::All, true),
                "or" => (Reduce::Any, false),
                "nor" => (Reduce::Any, true),
                "xor" => (Reduce::Parity, false),
                _ => (Reduce::Parity, true),
            };
            let node = self.rtl.reduce(kind, node);
            let node = if negate { self.rtl.not(node) } else { node };
            return Ok(Value { ty: Type::Bit, data: Data::Node(node), bounds: None });
        }
        let v = self.value(run, x, expected)?;
        match (op, &v.data, &v.ty) {
            ("+", _, _) => Ok(v),
            ("-", Data::Int(i), _) => Ok(Value { data: Data::Int(-*i), ..v }),
            ("abs", Data::Int(i), _) => Ok(Value { data: Data::Int(i.abs()), ..v }),
            ("-" | "abs", Data::Natural(_) | Data::Whole(_), _) => {
                let node = self.whole(&v);
                let width = self.rtl.width(node) + 1;
                let (x, zero) = (self.rtl.resize(node, width, true), self.rtl.number(0, width));
                let minus = self.rtl.binary(Binary::Sub, zero, x);
                let node = if op == "abs" {
                    let sign = self.rtl.slice(x, width - 1, 1);
                    self.rtl.mux(sign, minus, x)
                } else {
                    minus
                };
                Ok(Value { data: Data::Whole(node), ..v })
            }
            ("not", Data::Node(n), _) => {
                let node = self.rtl.not(*n);
                let bounds = match v.ty {
                    Type::Vector(Vector::Unsigned | Vector::Signed, w) => Some(Bounds::of_width(w)),
                    _ => None,
                };
                Ok(Value { data: Data::Node(node), bounds, ..v })
            }
            ("-" | "abs", Data::Node(n), Type::Vector(Vector::Signed, w)) => {
                let zero = self.rtl.number(0, *w);
                let minus = self.rtl.binary(Binary::Sub, zero, *n);
                let node = if op == "abs" && *w > 0 {
                    let sign = self.rtl.slice(*n, w - 1, 1);
                    self.rtl.mux(sign, minus, *n)
                } else {
                    minus
                };
                Ok(self.vector(Vector::Signed, node))
            }
            _ => self.fail(at, format!("{op} of {} is not supported", show(&v.ty))),
        }
    }

    /// Both operands; one that is a literal takes its type from the other.
    fn operands(
        &mut self,
        run: &mut Run,
        a: &Expr,
        b: &Expr,
        expected: Option<&Expect>,
        same_length: bool,
    ) -> Result<(Value, Value)> {
        let literal = |e: &Expr| matches!(e.kind, Kind::Text(_) | Kind::Aggregate(_));
        let of = |v: &Value| match &v.ty {
            Type::Vector(k, _) if !same_length => Expect::Vector(*k),
            t => Expect::Exactly(t.clone()),
        };
        if literal(a) && !literal(b) {
            let y = self.value(run, b, expected)?;
            let x = self.value(run, a, Some(&of(&y)))?;
            return Ok((x, y));
        }
        let x = self.value(run, a, expected)?;
        let y = self.value(run, b, Some(&of(&x)))?;
        Ok((x, y))
    }

    fn binary(
        &mut self,
        run: &mut Run,
        op: &str,
        a: &Expr,
        b: &Expr,
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        if op == "&" {
            return self.concatenation(run, a, b, expected);
        }
        if matches!(op, "sll" | "srl" | "sla" | "sra" | "rol" | "ror") {
            let v = self.value(run, a, expected)?;
            return self.shifted(run, op, &v, b, at);
        }
        let relation = matches!(op, "=" | "/=" | "<" | "<=" | ">" | ">=");
        let kind_only = match expected {
            Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) if !relation => Some(Expect::Vector(*v)),
            Some(Expect::Exactly(t @ (Type::Bit | Type::Integer | Type::Boolean))) if !relation => {
                Some(Expect::Exactly(t.clone()))
            }
            _ => None,
        };
        let bitwise = matches!(op, "and" | "or" | "xor" | "nand" | "nor" | "xnor");
        let (x, y) = self.operands(run, a, b, kind_only.as_ref(), bitwise || (relation && !self.numeric(a, b)))?;
        if let (Data::Int(i), Data::Int(j)) = (&x.data, &y.data) {
            return self.integers(op, *i, *j, at);
        }
        if bitwise {
            let (m, n) = (self.bits(&x, at)?, self.bits(&y, at)?);
            self.same(at, &x.ty, &y.ty)?;
            let (kind, negate) = match op {
                "and" => (Binary::And, false),
                "nand" => (Binary::And, true),
                "or" => (Binary::Or, false),
                "nor" => (Binary::Or, true),
                "xor" => (Binary::Xor, false),
                _ => (Binary::Xor, true),
            };
            let node = self.rtl.binary(kind, m, n);
            let node = if negate { self.rtl.not(node) } else { node };
            let bounds = match x.ty {
                Type::Vector(Vector::Unsigned | Vector::Signed, w) => Some(Bounds::of_width(w)),
                _ => None,
            };
            return Ok(Value { ty: x.ty, data: Data::Node(node), bounds });
        }
        if relation {
            return self.relation(op, &x, &y, at);
        }
        if x.ty == Type::Integer && y.ty == Type::Integer {
            return self.whole_arithmetic(op, &x, &y, at);
        }
        self.arithmetic(op, &x, &y, at)
    }

    /// Whether a relation may be between numbers of different lengths: strings then keep their own.
    fn numeric(&self, a: &Expr, b: &Expr) -> bool {
        matches!(a.kind, Kind::Text(_)) || matches!(b.kind, Kind::Text(_))
    }

    fn integers(&mut self, op: &str, i: i64, j: i64, at: u32) -> Result<Value> {
        let truth = |s: &mut Self, v: bool| {
            let node = s.rtl.number(u64::from(v), 1);
            Ok(s.boolean(node))
        };
        let value = match op {
            "=" => return truth(self, i == j),
            "/=" => return truth(self, i != j),
            "<" => return truth(self, i < j),
            "<=" => return truth(self, i <= j),
            ">" => return truth(self, i > j),
            ">=" => return truth(self, i >= j),
            "+" => i.checked_add(j),
            "-" => i.checked_sub(j),
            "*" => i.checked_mul(j),
            "/" => i.checked_div(j),
            "rem" => i.checked_rem(j),
            "mod" => i.checked_rem(j).map(|r| if r != 0 && (r < 0) != (j < 0) { r + j } else { r }),
            "**" => u32::try_from(j).ok().and_then(|j| i.checked_pow(j)),
            _ => None,
        };
        match value {
            Some(v) => Ok(Value { ty: Type::Integer, data: Data::Int(v), bounds: None }),
            None => self.fail(at, format!("{op} of these integers")),
        }
    }

    /// Two vectors of one kind, or a vector and an integer that takes the kind of it. An integer gets the width that
    /// `width` says, from that of the vector and the one that it needs by itself.
    fn pair(&mut self, x: &Value, y: &Value, width: fn(u32, u32) -> u32, at: u32) -> Result<(Vector, NodeId, NodeId)> {
        let kind = match (&x.ty, &y.ty) {
            (Type::Vector(k, _), Type::Vector(l, _)) if k == l => *k,
            (Type::Vector(k, _), Type::Integer) | (Type::Integer, Type::Vector(k, _)) => *k,
            _ => return self.fail(at, format!("{} beside {}", show(&x.ty), show(&y.ty))),
        };
        if kind == Vector::Logic {
            return self.fail(at, "arithmetic on std_logic_vector");
        }
        let other = width_of(&x.ty).or(width_of(&y.ty)).unwrap_or(0);
        let node = |s: &mut Self, v: &Value| match &v.data {
            Data::Node(n) => Ok(*n),
            Data::Int(i) if *i < 0 && kind == Vector::Unsigned => {
                s.fail(at, "a negative number beside an unsigned vector")
            }
            Data::Int(i) => Ok(s.integer(*i, width(other, integer_bits(*i, kind)))),
            Data::Natural(n) => {
                let own = s.rtl.width(*n) + u32::from(kind == Vector::Signed);
                Ok(s.rtl.resize(*n, width(other, own), false))
            }
            Data::Whole(n) => {
                let own = s.rtl.width(*n);
                Ok(s.rtl.resize(*n, width(other, own), true))
            }
            Data::Array(_) => s.fail(at, "a number is expected here"),
        };
        Ok((kind, node(self, x)?, node(self, y)?))
    }

    /// Integers that are not constant, without overflow: beyond 32 bits a simulation stops.
    fn whole_arithmetic(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (a, b) = (self.whole(x), self.whole(y));
        let (wa, wb) = (self.rtl.width(a), self.rtl.width(b));
        let node = match op {
            "+" | "-" | "*" => {
                let (width, op) = match op {
                    "+" => (wa.max(wb) + 1, Binary::Add),
                    "-" => (wa.max(wb) + 1, Binary::Sub),
                    _ => (wa + wb, Binary::Mul),
                };
                let (a, b) = (self.rtl.resize(a, width, true), self.rtl.resize(b, width, true));
                let node = self.rtl.binary(op, a, b);
                if width > 64 { self.rtl.slice(node, 0, 64) } else { node }
            }
            "/" | "rem" | "mod" => {
                let width = wa.max(wb) + 1;
                let of = |s: &mut Self, n: NodeId| {
                    let node = s.rtl.resize(n, width, true);
                    s.vector(Vector::Signed, node)
                };
                let (a, b) = (of(self, a), of(self, b));
                let v = self.divide(op, &a, &b, at)?;
                self.bits(&v, at)?
            }
            _ => return self.fail(at, format!("{op} of integers that are not constant")),
        };
        Ok(Value { ty: Type::Integer, data: Data::Whole(node), bounds: None })
    }

    fn arithmetic(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        if matches!(op, "/" | "rem" | "mod") {
            return self.divide(op, x, y, at);
        }
        // An integer is cut to the length of the vector (numeric_std: to_unsigned(r, l'length)).
        let (kind, a, b) = self.pair(x, y, |vector, _| vector, at)?;
        let signed = kind == Vector::Signed;
        let (wa, wb) = (self.rtl.width(a), self.rtl.width(b));
        let (width, op) = match op {
            "+" => (wa.max(wb), Binary::Add),
            "-" => (wa.max(wb), Binary::Sub),
            "*" => (wa + wb, Binary::Mul),
            _ => return self.fail(at, format!("{op} is not supported")),
        };
        let (p, q) = (self.rtl.resize(a, width, signed), self.rtl.resize(b, width, signed));
        let node = self.rtl.binary(op, p, q);
        Ok(self.vector(kind, node))
    }

    /// Division of numeric_std: the quotient is as long as the dividend and cut towards zero, a remainder as long as the
    /// divisor, with the sign of the dividend (`rem`) or of the divisor (`mod`). Beside an integer, both are as long as
    /// the vector. By zero: undefined.
    fn divide(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (kind, a, b) = self.pair(x, y, u32::max, at)?;
        let signed = kind == Vector::Signed;
        let (wa, wb) = (self.rtl.width(a), self.rtl.width(b));
        let width = match (width_of(&x.ty), width_of(&y.ty)) {
            (Some(vector), None) | (None, Some(vector)) => vector,
            _ if op == "/" => wa,
            _ => wb,
        };
        // One bit more than either: the magnitude of the smallest number fits.
        let work = wa.max(wb) + 1;
        let (p, q) = (self.rtl.resize(a, work, signed), self.rtl.resize(b, work, signed));
        let zero = self.rtl.number(0, work);
        let (np, nq) = (self.rtl.slice(p, work - 1, 1), self.rtl.slice(q, work - 1, 1));
        let negated = |s: &mut Self, n: NodeId, when: NodeId| {
            let minus = s.rtl.binary(Binary::Sub, zero, n);
            s.rtl.mux(when, minus, n)
        };
        let (ap, aq) = (negated(self, p, np), negated(self, q, nq));
        let node = if op == "/" {
            let quotient = self.rtl.binary(Binary::Div, ap, aq);
            let differ = self.rtl.binary(Binary::Xor, np, nq);
            negated(self, quotient, differ)
        } else {
            let rest = self.rtl.binary(Binary::Rem, ap, aq);
            let rest = negated(self, rest, np);
            if op == "mod" {
                // A rest of the other sign than the divisor's goes round once.
                let some = self.rtl.reduce(Reduce::Any, rest);
                let differ = self.rtl.binary(Binary::Xor, np, nq);
                let turn = self.rtl.binary(Binary::And, some, differ);
                let sum = self.rtl.binary(Binary::Add, rest, q);
                self.rtl.mux(turn, sum, rest)
            } else {
                rest
            }
        };
        // numeric_std calls a quotient by an integer that is too long for the vector zero, which is not so for the
        // smallest number over its own magnitude.
        let node = if op == "/" && signed && width_of(&y.ty).is_none() {
            let short = self.rtl.slice(q, 0, wa.min(wb));
            let short = self.rtl.resize(short, work, true);
            let fits = self.rtl.compare(Compare::Equal, short, q);
            self.rtl.mux(fits, node, zero)
        } else {
            node
        };
        let by_zero = self.rtl.compare(Compare::Equal, q, zero);
        let free = self.rtl.free(work);
        let node = self.rtl.mux(by_zero, free, node);
        // Beside an integer the result is resized once more, which for signed ones keeps the sign.
        let long = if op == "/" { wa } else { wb };
        let node = self.rtl.slice(node, 0, long);
        let node = if signed { self.resize_signed(node, width) } else { self.rtl.resize(node, width, false) };
        Ok(self.vector(kind, node))
    }

    /// `resize` of a signed vector: narrowing keeps the sign bit and the low ones (1076.3).
    fn resize_signed(&mut self, node: NodeId, width: u32) -> NodeId {
        let from = self.rtl.width(node);
        if width < from && width > 0 {
            let low = self.rtl.slice(node, 0, width - 1);
            let sign = self.rtl.slice(node, from - 1, 1);
            self.rtl.concat(&[low, sign])
        } else {
            self.rtl.resize(node, width, true)
        }
    }

    fn relation(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (a, b, signed) = match (&x.ty, &y.ty) {
            (Type::Bit, Type::Bit) | (Type::Boolean, Type::Boolean) => (self.bits(x, at)?, self.bits(y, at)?, false),
            (Type::Enum(a), Type::Enum(b)) if a == b => (self.bits(x, at)?, self.bits(y, at)?, false),
            (Type::Array(_) | Type::Record(_), other) if x.ty == *other && matches!(op, "=" | "/=") => {
                (self.encoded(x, None, at)?, self.encoded(y, None, at)?, false)
            }
            (Type::Vector(Vector::Logic, m), Type::Vector(Vector::Logic, n)) => {
                if m != n || !matches!(op, "=" | "/=") {
                    return self.fail(at, "only = and /= of std_logic_vectors of one length are supported");
                }
                (self.bits(x, at)?, self.bits(y, at)?, false)
            }
            (Type::Integer, Type::Integer) => {
                // One of them is a number that is not constant.
                let (a, b) = (self.whole(x), self.whole(y));
                let width = self.rtl.width(a).max(self.rtl.width(b));
                (self.rtl.resize(a, width, true), self.rtl.resize(b, width, true), true)
            }
            _ => {
                // An integer is not cut: it may lie outside the vector's range.
                let (kind, a, b) = self.pair(x, y, u32::max, at)?;
                let signed = kind == Vector::Signed;
                let width = self.rtl.width(a).max(self.rtl.width(b));
                (self.rtl.resize(a, width, signed), self.rtl.resize(b, width, signed), signed)
            }
        };
        self.compared(op, a, b, signed)
    }

    fn compared(&mut self, op: &str, a: NodeId, b: NodeId, signed: bool) -> Result<Value> {
        let less = if signed { Compare::SignedLess } else { Compare::Less };
        let (kind, a, b, negate) = match op {
            "=" => (Compare::Equal, a, b, false),
            "/=" => (Compare::Equal, a, b, true),
            "<" => (less, a, b, false),
            ">" => (less, b, a, false),
            "<=" => (less, b, a, true),
            _ => (less, a, b, true),
        };
        let node = self.rtl.compare(kind, a, b);
        let node = if negate { self.rtl.not(node) } else { node };
        Ok(self.boolean(node))
    }

    fn concatenation(&mut self, run: &mut Run, a: &Expr, b: &Expr, expected: Option<&Expect>) -> Result<Value> {
        // The parts of a chain, left to right, without recursion into its depth.
        let mut parts = vec![b];
        let mut left = a;
        while let Kind::Binary("&", x, y) = &left.kind {
            parts.push(y);
            left = x;
        }
        parts.push(left);
        let hint = match expected {
            Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) => Some(Expect::Vector(*v)),
            _ => None,
        };
        let mut kind = None;
        let mut nodes = Vec::new();
        for part in parts {
            let v = self.value(run, part, hint.as_ref())?;
            match &v.ty {
                Type::Vector(k, _) => {
                    let text = matches!(part.kind, Kind::Text(_));
                    match kind {
                        None if !text => kind = Some(*k),
                        Some(known) if known != *k && !text => return self.fail(part.at, "parts of different types"),
                        _ => {}
                    }
                }
                Type::Bit => {}
                other => return self.fail(part.at, format!("{} in a concatenation", show(other))),
            }
            nodes.push(self.bits(&v, part.at)?);
        }
        let node = self.rtl.concat(&nodes);
        let kind = kind.or(match hint {
            Some(Expect::Vector(v)) => Some(v),
            _ => None,
        });
        Ok(Value { bounds: None, ..self.vector(kind.unwrap_or(Vector::Logic), node) })
    }
}

fn generics_have(values: &[(String, Value)], name: &str) -> bool {
    values.iter().any(|(n, _)| n == name)
}

/// What the context wants: exactly this type, or a vector of this kind and any length.
#[derive(Clone, Debug)]
enum Expect {
    Exactly(Type),
    Vector(Vector),
}

/// A step to an element at a computed index.
#[derive(Clone)]
struct Step {
    /// Where the array begins, were all indices before the lowest ones.
    lo: u32,
    /// Distance from the lowest index.
    addr: NodeId,
    count: u32,
    stride: u32,
    /// Whether the lowest index is at the high end.
    flip: bool,
}

struct Place {
    slot: Slot,
    /// Lowest bit, were all computed indices the lowest ones.
    lo: u32,
    /// Width of all that the slot keeps.
    whole: u32,
    /// Computed indices on the way.
    steps: Vec<Step>,
    ty: Type,
    bounds: Option<Bounds>,
}

impl Place {
    /// A part at a constant place.
    fn part(self, lo: u32, ty: Type, bounds: Option<Bounds>) -> Place {
        Place { lo: self.lo + lo, ty, bounds, ..self }
    }

    /// An element at a computed index.
    fn step(mut self, step: Step, ty: Type, bounds: Option<Bounds>) -> Place {
        self.steps.push(step);
        Place { ty, bounds, ..self }
    }
}

/// What has a type and counts its bits.
trait Typed {
    fn typed(&self) -> (Type, Option<Bounds>);
}

impl Typed for Place {
    fn typed(&self) -> (Type, Option<Bounds>) {
        (self.ty.clone(), self.bounds)
    }
}

impl Typed for Value {
    fn typed(&self) -> (Type, Option<Bounds>) {
        (self.ty.clone(), self.bounds)
    }
}

/// Whether bounds mean bits, rather than the range of an integer.
fn expected_vector(expected: &Expect) -> bool {
    !matches!(expected, Expect::Exactly(Type::Integer))
}

/// The bits that a number needs: as a natural number, or with a sign.
fn integer_bits(i: i64, kind: Vector) -> u32 {
    match kind {
        Vector::Signed => 65 - (i ^ (i >> 63)).leading_zeros(),
        _ => (64 - i.leading_zeros()).max(1),
    }
}

fn width_of(ty: &Type) -> Option<u32> {
    match ty {
        Type::Bit | Type::Boolean => Some(1),
        Type::Vector(_, w) => Some(*w),
        Type::Enum(_) => Some(storage(ty, None)),
        Type::Integer | Type::Array(_) | Type::Record(_) => None,
    }
}

fn show(ty: &Type) -> String {
    match ty {
        Type::Bit => "std_logic".into(),
        Type::Boolean => "boolean".into(),
        Type::Integer => "integer".into(),
        Type::Vector(Vector::Logic, w) => format!("std_logic_vector of {w} bits"),
        Type::Vector(Vector::Unsigned, w) => format!("unsigned of {w} bits"),
        Type::Vector(Vector::Signed, w) => format!("signed of {w} bits"),
        Type::Enum(e) => e.name.clone(),
        Type::Record(r) => format!("record {}", r.name),
        Type::Array(a) => format!("array of {} elements of {}", a.bounds.len(), show(&a.element)),
    }
}
