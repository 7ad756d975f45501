//! Elaboration of VHDL: types, overload resolution, hierarchy, and processes.

mod assigned;
mod design;
mod functions;
mod operators;
mod places;
mod procedures;
mod process;
mod simulated;
mod standard;
mod statements;
mod types;
mod values;

use super::syntax::{
    Architecture, Arg, Class, Concurrent, Decl, Entity, Expr, File, Function, Kind, Object, Procedure, TypeName,
};
use crate::paths::Unassigned;
use crate::source::error;
use crate::{FindData, MAX_WIDTH, NodeId, Rtl, SignalId};
use alir_core::diag::Diagnostic;
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{ArrayOf, Enumeration, Record, storage};

type Result<T> = std::result::Result<T, Diagnostic>;

const MAX_ITERATIONS: u32 = 2_000_000;
const MAX_CALLS: u32 = 64;
const MAX_ALIASES: u32 = 1000;
/// Maximum number of exits of a loop under conditions that are not constant.
const MAX_OPEN_TURNS: usize = 1024;

/// Bounds of a vector or array; `down` for `downto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    left: i64,
    right: i64,
    down: bool,
}

impl Bounds {
    fn from_width(width: u32) -> Bounds {
        Bounds { left: i64::from(width) - 1, right: 0, down: true }
    }

    fn len(self) -> u32 {
        let n = if self.down { self.left - self.right } else { self.right - self.left };
        (n + 1).max(0) as u32
    }

    /// Returns the distance of an index from the right end, which is the least significant bit; `None` outside of the
    /// bounds.
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
    /// Real number, which exists in constants only, like `Text` and `Line`.
    Real,
    Text,
    Line,
    Enum(Arc<Enumeration>),
    Array(Arc<ArrayOf>),
    Record(Arc<Record>),
}

/// Value: an expression, or a compile-time constant.
#[derive(Clone, Debug)]
enum Data {
    Node(NodeId),
    Int(i64),
    /// A natural number that is not constant: `to_integer` of an unsigned vector.
    Natural(NodeId),
    /// Any integer that is not constant, in two's complement.
    Whole(NodeId),
    Array(Arc<Vec<BigUint>>),
    Real(f64),
    Text(Arc<str>),
}

#[derive(Clone, Debug)]
struct Value {
    ty: Type,
    data: Data,
    /// Bounds of a named vector, which determine the indices of its bits.
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
    /// Procedures of one name, each with the scope of its declaration.
    Procedures(Vec<(usize, &'a Procedure)>),
    Component(&'a Entity),
    /// Index of a file.
    File(usize),
    /// Enumeration literals of one name, each with its enumeration and position.
    Literals(Vec<(Type, u32)>),
    Alias {
        of: &'a Expr,
        scope: usize,
        ty: Option<TypeOf>,
    },
}

/// Type mark: constrained or unconstrained.
#[derive(Clone, Debug)]
enum TypeOf {
    Whole(Type, Option<Bounds>),
    Unconstrained(Vector),
    /// Unconstrained array: type of its elements, and their bounds.
    Open(Type, Option<Bounds>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Slot {
    /// Flag that is set after a loop or procedure was exited; a missing flag is not set. Flags are ordered first.
    Flag(u32),
    Variable(u32),
    Signal(SignalId),
}

type State = BTreeMap<Slot, StoredValue>;

/// Value stored in a slot.
#[derive(Clone, Debug, PartialEq)]
enum StoredValue {
    Node(NodeId),
    Int(i64),
    Real(f64),
    Text(Arc<str>),
}

struct Scope<'a> {
    names: FxHashMap<String, Named<'a>>,
    parent: Option<usize>,
    /// Visible packages, each completely or with one name.
    uses: Vec<(usize, Option<String>)>,
    path: String,
}

struct Elab<'a> {
    text: &'a str,
    find_data: &'a FindData<'a>,
    file: &'a File,
    rtl: Rtl,
    scopes: Vec<Scope<'a>>,
    variables: u32,
    /// Number of aliases that are being resolved.
    aliases: u32,
    iterations: u32,
    calls: u32,
    /// Declared files, and the number of bytes read from all of them.
    files: Vec<simulated::OpenFile>,
    read_bytes: usize,
    /// Nesting depth of the initial values and constants that are being evaluated.
    initial: u32,
    instances: u32,
    unassigned: Unassigned,
    /// Bounds of the target of the next expression, which determine the indices of an aggregate.
    context: Option<Bounds>,
    /// Signals that the current process or statement reads, with the byte offsets of the reads.
    reads: Vec<(SignalId, u32)>,
    package_scopes: FxHashMap<String, usize>,
    /// Ranges of integer variables.
    ranges: FxHashMap<u32, Option<Bounds>>,
    /// Variables of processes, which keep their values between activations: name, type, initial value, and the register
    /// if one is needed.
    kept: FxHashMap<u32, Kept>,
}

struct Kept {
    name: String,
    width: u32,
    at: u32,
    init: Option<NodeId>,
    register: Option<SignalId>,
}

/// Process or function body that is being executed.
struct Run<'a> {
    state: State,
    scope: usize,
    clocked: bool,
    /// Flags whose set state skips the following statements: `next`, `exit` of a loop, `return` of a procedure.
    leaving: Vec<u32>,
    /// Enclosing loops: label, and the flags for `exit` and `next`.
    loops: Vec<(&'a str, u32, u32)>,
    /// Flag for `return`, within a procedure.
    returned: Option<u32>,
    /// Within a function: type, bounds and value of the result so far, and the condition that nothing was returned yet.
    result: Option<(Type, Option<Bounds>, Option<NodeId>, NodeId)>,
}

impl Run<'_> {
    fn new(scope: usize, clocked: bool) -> Run<'static> {
        Run {
            state: State::new(),
            scope,
            clocked,
            leaving: Vec::new(),
            loops: Vec::new(),
            returned: None,
            result: None,
        }
    }
}

pub(super) fn elaborate(text: &str, file: &File, top: Option<&str>, find_data: &FindData<'_>) -> Result<Rtl> {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    fn visit<'f>(body: &'f [Concurrent], used: &mut FxHashSet<&'f str>) {
        for c in body {
            match c {
                Concurrent::Instance(i) => {
                    used.insert(&i.entity);
                }
                Concurrent::For { body, .. } => visit(body, used),
                Concurrent::If { branches, .. } => branches.iter().for_each(|b| visit(&b.1.body, used)),
                Concurrent::Case { items, .. } => items.iter().for_each(|i| visit(&i.2.body, used)),
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
            .with_help(format!("choose one with --top NAME; entities: {}", names.join(", "))));
    };
    let mut e = Elab {
        text,
        find_data,
        file,
        rtl: Rtl::new(entity.shown.clone(), file.head.clone()),
        scopes: Vec::new(),
        variables: 0,
        aliases: 0,
        iterations: 0,
        calls: 0,
        files: Vec::new(),
        read_bytes: 0,
        initial: 0,
        instances: 0,
        unassigned: Unassigned::default(),
        context: None,
        reads: Vec::new(),
        kept: FxHashMap::default(),
        package_scopes: FxHashMap::default(),
        ranges: FxHashMap::default(),
    };
    e.packages()?;
    e.entity(entity, None, String::new(), Vec::new(), true)?;
    e.rtl.complete_drivers(|at| crate::source::place(text, at))?;
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

    fn constant_run(&self, scope: usize) -> Run<'a> {
        Run::new(scope, true)
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
        self.decls(scope, &entity.decls)?;
        let inner = self.scope(Some(scope), self.scopes[scope].path.clone());
        let mut assigned = assigned::assigned_names(&architecture.body);
        assigned::aliases(&architecture.decls, &mut assigned);
        for d in &architecture.decls {
            match d {
                // An array signal with an initial value that nothing assigns is a table.
                Decl::Object(o @ Object { class: Class::Signal, value: Some(value), .. })
                    if !assigned.contains(o.name.as_str()) =>
                {
                    match self.type_of(inner, &o.ty)? {
                        ty @ TypeOf::Whole(Type::Array(_), _) => {
                            let v = self.constant(inner, value, &ty)?;
                            self.declare(inner, &o.name, Named::Constant(v), o.at)?;
                        }
                        _ => self.decls(inner, std::slice::from_ref(d))?,
                    }
                }
                d => self.decls(inner, std::slice::from_ref(d))?,
            }
        }
        self.concurrents(inner, &architecture.body)?;
        Ok(scope)
    }

    fn signal(&mut self, scope: usize, o: &'a Object) -> Result<SignalId> {
        let TypeOf::Whole(ty, bounds) = self.type_of(scope, &o.ty)? else {
            return self.fail(o.at, "a signal needs a range");
        };
        let width = self.small_enough(&ty, bounds, o.at)?;
        let path = &self.scopes[scope].path;
        // The name in its original spelling, for messages and for matching.
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
                Decl::Procedure(p) => match self.scopes[scope].names.get_mut(&p.name) {
                    Some(Named::Procedures(all)) => all.push((scope, p)),
                    _ => self.declare(scope, &p.name, Named::Procedures(vec![(scope, p)]), p.at)?,
                },
                Decl::File { name, path, at } => self.file_decl(scope, name, path.as_ref(), *at)?,
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

    fn type_of(&mut self, scope: usize, t: &'a TypeName) -> Result<TypeOf> {
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
            "real" => return Ok(TypeOf::Whole(Type::Real, None)),
            "string" => return Ok(TypeOf::Whole(Type::Text, None)),
            "line" => return Ok(TypeOf::Whole(Type::Line, None)),
            // `bit` is not distinguished from `std_logic`.
            "std_logic_vector" | "std_ulogic_vector" | "bit_vector" => Vector::Logic,
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
                            Ok(TypeOf::Whole(self.array_of(scope, range, element, inner, false)?, None))
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

    fn bounds(&mut self, scope: usize, range: &'a Expr) -> Result<Bounds> {
        self.bounds_within(scope, range, i64::from(MAX_WIDTH))
    }

    fn bounds_within(&mut self, scope: usize, range: &'a Expr, limit: i64) -> Result<Bounds> {
        let mut run = self.constant_run(scope);
        let bounds = self.range(&mut run, range)?;
        if bounds.left.unsigned_abs().max(bounds.right.unsigned_abs()) > limit.unsigned_abs() {
            return self.fail(range.at, format!("bounds beyond {limit}"));
        }
        Ok(bounds)
    }

    fn bounds_in(&mut self, run: &mut Run<'a>, range: &'a Expr) -> Result<Bounds> {
        let bounds = self.range(run, range)?;
        if bounds.left.unsigned_abs().max(bounds.right.unsigned_abs()) > u64::from(MAX_WIDTH) {
            return self.fail(range.at, "bounds beyond 2^24");
        }
        Ok(bounds)
    }

    fn range(&mut self, run: &mut Run<'a>, range: &'a Expr) -> Result<Bounds> {
        match &range.kind {
            Kind::Range(a, b, down) => Ok(Bounds { left: self.int(run, a)?, right: self.int(run, b)?, down: *down }),
            Kind::Attribute(..) => self.range_attribute(run, range, None),
            // `a'range(2)`
            Kind::Call(base, args) if matches!(base.kind, Kind::Attribute(..)) => {
                let [Arg { choices, others: false, value }] = &args[..] else {
                    return self.fail(range.at, "a range is expected here");
                };
                if !choices.is_empty() {
                    return self.fail(range.at, "a range is expected here");
                }
                self.range_attribute(run, base, Some(value))
            }
            // The range of a subtype of the integers.
            Kind::Name(n) => match self.find(run.scope, n) {
                Some(Named::Type(TypeOf::Whole(Type::Integer, Some(b)))) => Ok(*b),
                _ => self.fail(range.at, "a range is expected here"),
            },
            _ => self.fail(range.at, "a range is expected here"),
        }
    }

    fn range_attribute(&mut self, run: &mut Run<'a>, range: &'a Expr, dimension: Option<&'a Expr>) -> Result<Bounds> {
        let Kind::Attribute(base, name) = &range.kind else { return self.fail(range.at, "a range is expected here") };
        if name != "range" && name != "reverse_range" {
            return self.fail(range.at, "a range is expected here");
        }
        let Some(b) = self.bounds_along(run, base, dimension)? else {
            return self.fail(range.at, "this has no range that is known here");
        };
        Ok(if name == "range" { b } else { Bounds { left: b.right, right: b.left, down: !b.down } })
    }

    /// Returns the bounds of an object or type along a dimension (default: the first); `None` if it has no known
    /// bounds.
    fn bounds_along(
        &mut self,
        run: &mut Run<'a>,
        base: &'a Expr,
        dimension: Option<&'a Expr>,
    ) -> Result<Option<Bounds>> {
        let number = match dimension {
            Some(d) => self.int(run, d)?,
            None => 1,
        };
        let (mut ty, bounds) = match self.bounds_of(run, base)? {
            Some((ty @ Type::Array(_), _)) => (ty, None),
            Some((Type::Integer, _)) | None => return Ok(None),
            Some((ty, b)) => (ty, b),
        };
        for _ in 1..number {
            match ty {
                Type::Array(a) if a.more => ty = a.element.clone(),
                _ => return self.fail(base.at, "there are not as many dimensions"),
            }
        }
        Ok(match ty {
            Type::Array(a) => Some(a.bounds),
            _ if number == 1 => bounds,
            _ => return self.fail(base.at, "there are not as many dimensions"),
        })
    }

    fn constant(&mut self, scope: usize, e: &'a Expr, ty: &TypeOf) -> Result<Value> {
        let mut run = self.constant_run(scope);
        let expected = match ty {
            TypeOf::Whole(t, _) => Expect::Exactly(t.clone()),
            TypeOf::Unconstrained(v) => Expect::Vector(*v),
            TypeOf::Open(element, inner) => {
                // Elements of an unconstrained array are indexed from 0.
                let Kind::Aggregate(args) = &e.kind else { return self.fail(e.at, "an array of no known range") };
                let right = args.len() as i64 - 1;
                let bounds = Bounds { left: 0, right, down: false };
                let of = ArrayOf { bounds, element: element.clone(), inner: *inner, more: false };
                return self.constant(scope, e, &TypeOf::Whole(Type::Array(Arc::new(of)), None));
            }
        };
        if let TypeOf::Whole(ty, bounds) = ty {
            self.context = bounds.filter(|_| *ty != Type::Integer);
        }
        self.initial += 1;
        let v = self.value(&mut run, e, Some(&expected));
        self.initial -= 1;
        let mut v = v?;
        if let (Type::Array(a), Data::Node(node)) = (&v.ty, &v.data)
            && let Some(all) = self.rtl.as_const(*node).cloned()
        {
            // A constant array that a function computed is a table too.
            let width = u64::from(storage(&a.element, a.inner));
            let mask = (BigUint::from(1u32) << width) - 1u32;
            let entries = (0..u64::from(a.bounds.len())).map(|i| (&all >> (i * width)) & &mask).collect();
            v.data = Data::Array(Arc::new(entries));
        }
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
            Data::Int(_) | Data::Array(_) | Data::Real(_) | Data::Text(_) => true,
        };
        if known { Ok(v) } else { self.fail(e.at, "a constant is needed here") }
    }

    fn same(&self, at: u32, wanted: &Type, found: &Type) -> Result<()> {
        if alike(wanted, found) {
            Ok(())
        } else {
            self.fail(at, format!("{} is expected here, not {}", show(wanted), show(found)))
        }
    }
}

/// Type that the context expects: exactly this type, or a vector of this kind with any length.
#[derive(Clone, Debug)]
enum Expect {
    Exactly(Type),
    Vector(Vector),
}

/// Selection of an array element by a computed index.
#[derive(Clone)]
struct Step {
    /// Lowest bit of the array if all previous computed indices were the lowest ones.
    lo: u32,
    /// Index minus the lowest index.
    addr: NodeId,
    count: u32,
    stride: u32,
    /// `true` if the element with the lowest index is in the high bits.
    flip: bool,
}

struct Place {
    slot: Slot,
    /// Lowest bit if all computed indices were the lowest ones.
    lo: u32,
    /// Width of the whole slot.
    whole: u32,
    /// Selections by computed indices, the outermost first.
    steps: Vec<Step>,
    ty: Type,
    bounds: Option<Bounds>,
}

impl Place {
    /// Returns the part at a constant bit position within this place.
    fn part(self, lo: u32, ty: Type, bounds: Option<Bounds>) -> Place {
        Place { lo: self.lo + lo, ty, bounds, ..self }
    }

    /// Returns the element that `step` selects.
    fn step(mut self, step: Step, ty: Type, bounds: Option<Bounds>) -> Place {
        self.steps.push(step);
        Place { ty, bounds, ..self }
    }
}

/// Item with a type and bounds.
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

/// Returns `true` if a value of one type can be used as a value of the other. Arrays must have equal elements, the same
/// length and the same direction.
fn alike(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array(a), Type::Array(b)) => {
            (a.bounds.len(), a.bounds.down, a.inner, a.more) == (b.bounds.len(), b.bounds.down, b.inner, b.more)
                && alike(&a.element, &b.element)
        }
        _ => a == b,
    }
}

/// Returns `true` unless the expected type is an integer, whose bounds are a range of values and not indices of bits.
fn expected_vector(expected: &Expect) -> bool {
    !matches!(expected, Expect::Exactly(Type::Integer))
}

/// Returns the number of bits of a number, as a natural number or with a sign bit.
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
        Type::Integer | Type::Array(_) | Type::Record(_) | Type::Real | Type::Text | Type::Line => None,
    }
}

fn show(ty: &Type) -> String {
    match ty {
        Type::Bit => "std_logic".into(),
        Type::Boolean => "boolean".into(),
        Type::Integer => "integer".into(),
        Type::Real => "real".into(),
        Type::Text => "string".into(),
        Type::Line => "line".into(),
        Type::Vector(Vector::Logic, w) => format!("std_logic_vector of {w} bits"),
        Type::Vector(Vector::Unsigned, w) => format!("unsigned of {w} bits"),
        Type::Vector(Vector::Signed, w) => format!("signed of {w} bits"),
        Type::Enum(e) => e.name.clone(),
        Type::Record(r) => format!("record {}", r.name),
        Type::Array(a) => format!("array of {} elements of {}", a.bounds.len(), show(&a.element)),
    }
}
