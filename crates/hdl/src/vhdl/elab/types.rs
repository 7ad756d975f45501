//! User-defined types: enumerations, records, arrays and integer ranges, and the encoding of their values as bits.

use super::super::syntax::{Arg, Decl, Expr, Kind, Object, Package, Use};
use super::{Bounds, Data, Elab, Expect, Named, Result, Run, Type, TypeOf, Value, Vector, show};
use crate::{Compare, MAX_WIDTH, NodeId};
use num_bigint::BigUint;
use std::sync::Arc;

/// Maximum number of bits of an array or record that is a signal or variable.
const MAX_ARRAY: u32 = 1 << 20;
/// Maximum number of fields of a record, and of literals of an enumeration.
const MAX_FIELDS: usize = 4096;
const MAX_LITERALS: usize = 1 << 16;

/// An enumeration.
#[derive(Debug, PartialEq)]
pub(super) struct Enumeration {
    pub(super) name: String,
    pub(super) literals: u32,
    /// Byte offset of the declaration, which distinguishes enumerations of the same name.
    at: u32,
}

/// An array; the element with the lowest index is in the low bits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArrayOf {
    pub(super) bounds: Bounds,
    pub(super) element: Type,
    /// Bounds of a vector element, or range of an integer element.
    pub(super) inner: Option<Bounds>,
    /// `true` if the elements are the next dimension of this array, `false` if they are separate objects.
    pub(super) more: bool,
}

/// A record; the first field is in the low bits.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) fields: Vec<(String, Type, Option<Bounds>)>,
    at: u32,
}

/// Returns width and signedness of the encoding of an integer in a range.
fn integer_format(range: Option<Bounds>) -> (u32, bool) {
    let Some(b) = range else { return (32, true) };
    let (low, high) = (b.left.min(b.right), b.left.max(b.right));
    let bits = |v: i64| 64 - v.leading_zeros();
    if low >= 0 { (bits(high).max(1), false) } else { (bits(high.max(0)).max(bits(!low)) + 1, true) }
}

/// Returns the number of bits that encode a value of a type.
pub(super) fn storage(ty: &Type, bounds: Option<Bounds>) -> u32 {
    match ty {
        Type::Bit | Type::Boolean => 1,
        Type::Real | Type::Text | Type::Line => 0,
        Type::Vector(_, w) => *w,
        Type::Integer => integer_format(bounds).0,
        Type::Enum(e) => (32 - (e.literals - 1).leading_zeros()).max(1),
        Type::Array(a) => a.bounds.len().saturating_mul(storage(&a.element, a.inner)),
        Type::Record(r) => r.fields.iter().fold(0, |sum, (_, ty, b)| sum.saturating_add(storage(ty, *b))),
    }
}

impl<'a> Elab<'a> {
    /// Decodes a value from its bits.
    pub(super) fn decoded(&self, node: NodeId, ty: &Type, bounds: Option<Bounds>) -> Value {
        let data = match ty {
            Type::Integer => {
                let (width, signed) = integer_format(bounds);
                match self.rtl.as_const(node).and_then(|v| i64::try_from(v).ok()) {
                    Some(v) if signed && v >= 1 << (width - 1) => Data::Int(v - (1 << width)),
                    Some(v) => Data::Int(v),
                    None if signed => Data::Whole(node),
                    None => Data::Natural(node),
                }
            }
            _ => Data::Node(node),
        };
        // The range of an integer is not passed on, as operations on the integer may exceed it.
        let bounds = bounds.filter(|_| *ty != Type::Integer);
        Value { ty: ty.clone(), data, bounds }
    }

    /// Encodes a value as bits. A non-constant integer outside of its range is undefined, as a simulation stops there.
    pub(super) fn encoded(&mut self, v: &Value, bounds: Option<Bounds>, at: u32) -> Result<NodeId> {
        match &v.data {
            Data::Node(n) => Ok(*n),
            Data::Real(_) | Data::Text(_) => self.fail(at, format!("{} outside of a constant", show(&v.ty))),
            Data::Array(entries) => {
                let Type::Array(a) = &v.ty else { return self.fail(at, "bits are expected here") };
                let width = storage(&a.element, a.inner);
                if width.saturating_mul(entries.len() as u32) > MAX_ARRAY {
                    return self.fail(at, "an array of more than 2^20 bits that is not only read by its elements");
                }
                let nodes: Vec<NodeId> = entries.iter().map(|e| self.rtl.constant(e.clone(), width)).collect();
                Ok(self.rtl.concat(&nodes))
            }
            Data::Int(i) => {
                let (width, _) = integer_format(bounds);
                let (low, high) =
                    bounds.map_or((-(1 << 31), (1 << 31) - 1), |b| (b.left.min(b.right), b.left.max(b.right)));
                if !(low..=high).contains(i) {
                    return self.fail(at, format!("{i} is outside of the range {low} to {high}"));
                }
                Ok(self.integer(*i, width))
            }
            Data::Natural(_) | Data::Whole(_) => {
                let node = self.whole(v);
                let (width, signed) = integer_format(bounds);
                let (low, high) =
                    bounds.map_or((-(1 << 31), (1 << 31) - 1), |b| (b.left.min(b.right), b.left.max(b.right)));
                let wide = self.rtl.width(node).max(width + 2).max(34);
                let x = self.rtl.resize(node, wide, true);
                let short = self.rtl.resize(node, width, true);
                let back = self.rtl.resize(short, wide, signed);
                // If the encoding covers exactly the range, the comparison after truncation is sufficient.
                let full =
                    if signed { (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1) } else { (0, (1i64 << width) - 1) };
                let inside = if (low, high) == full {
                    self.rtl.compare(Compare::Equal, back, x)
                } else {
                    let (l, h) = (self.integer(low, wide), self.integer(high, wide));
                    let below = self.rtl.compare(Compare::SignedLess, x, l);
                    let above = self.rtl.compare(Compare::SignedLess, h, x);
                    let outside = self.rtl.binary(crate::Binary::Or, below, above);
                    self.rtl.not(outside)
                };
                let free = self.rtl.free(width);
                Ok(self.rtl.mux(inside, short, free))
            }
        }
    }

    /// Returns an integer in two's complement, with the width that it needs.
    pub(super) fn whole(&mut self, v: &Value) -> NodeId {
        match &v.data {
            Data::Int(i) => self.integer(*i, 65 - (i ^ (i >> 63)).leading_zeros()),
            Data::Natural(n) => {
                let width = self.rtl.width(*n) + 1;
                self.rtl.resize(*n, width, false)
            }
            Data::Whole(n) | Data::Node(n) => *n,
            Data::Array(_) | Data::Real(_) | Data::Text(_) => self.rtl.number(0, 1),
        }
    }

    /// Returns the value of an object before its first assignment: the first value of its type, which is undefined for
    /// `std_logic`.
    pub(super) fn first(&mut self, ty: &Type, bounds: Option<Bounds>) -> NodeId {
        match ty {
            Type::Boolean | Type::Enum(_) => self.rtl.number(0, storage(ty, bounds)),
            Type::Integer => {
                let width = integer_format(bounds).0;
                self.integer(bounds.map_or(-(1 << 31), |b| b.left), width)
            }
            Type::Bit | Type::Vector(..) | Type::Real | Type::Text | Type::Line => self.rtl.free(storage(ty, bounds)),
            Type::Array(a) => {
                let nodes: Vec<NodeId> = (0..a.bounds.len()).map(|_| self.first(&a.element, a.inner)).collect();
                self.rtl.join(&nodes)
            }
            Type::Record(r) => {
                let nodes: Vec<NodeId> = r.fields.iter().map(|(_, ty, b)| self.first(ty, *b)).collect();
                self.rtl.join(&nodes)
            }
        }
    }

    /// Returns `true` if all parts of a type are undefined before the first assignment.
    pub(super) fn begins_undefined(ty: &Type) -> bool {
        match ty {
            Type::Bit | Type::Vector(..) | Type::Real | Type::Text | Type::Line => true,
            Type::Boolean | Type::Enum(_) | Type::Integer => false,
            Type::Array(a) => Self::begins_undefined(&a.element),
            Type::Record(r) => r.fields.iter().all(|f| Self::begins_undefined(&f.1)),
        }
    }

    pub(super) fn small_enough(&self, ty: &Type, bounds: Option<Bounds>, at: u32) -> Result<u32> {
        let width = storage(ty, bounds);
        if matches!(ty, Type::Array(_) | Type::Record(_)) && width > MAX_ARRAY {
            return self.fail(at, "an array or record of more than 2^20 bits that is not constant");
        }
        Ok(width)
    }

    // ---- Declarations

    /// Elaborates a declaration of a type or an alias, or a use clause.
    pub(super) fn type_decl(&mut self, scope: usize, d: &'a Decl) -> Result<()> {
        match d {
            Decl::Enum { name, literals, at } => {
                if literals.len() > MAX_LITERALS {
                    return self.fail(*at, "an enumeration of more than 2^16 literals");
                }
                let ty =
                    Type::Enum(Arc::new(Enumeration { name: name.clone(), literals: literals.len() as u32, at: *at }));
                for (i, (literal, at)) in literals.iter().enumerate() {
                    // Several enumerations may have a literal of the same name.
                    let one = (ty.clone(), i as u32);
                    match self.scopes[scope].names.get_mut(literal) {
                        Some(Named::Literals(all)) => all.push(one),
                        _ => self.declare(scope, literal, Named::Literals(vec![one]), *at)?,
                    }
                }
                self.declare(scope, name, Named::Type(TypeOf::Whole(ty, None)), *at)
            }
            Decl::Record { name, fields, at } => {
                if fields.len() > MAX_FIELDS {
                    return self.fail(*at, "a record of more than 4,096 fields");
                }
                let mut all: Vec<(String, Type, Option<Bounds>)> = Vec::with_capacity(fields.len());
                let mut names = rustc_hash::FxHashSet::default();
                for f in fields {
                    let TypeOf::Whole(ty, bounds) = self.type_of(scope, &f.ty)? else {
                        return self.fail(f.at, "a field needs a range");
                    };
                    if !names.insert(&f.name) {
                        return self.fail(f.at, format!("{} is declared twice", f.name));
                    }
                    all.push((f.name.clone(), ty, bounds));
                }
                let ty = Type::Record(Arc::new(Record { name: name.clone(), fields: all, at: *at }));
                if storage(&ty, None) > MAX_WIDTH {
                    return self.fail(*at, "a record of more than 2^24 bits");
                }
                self.declare(scope, name, Named::Type(TypeOf::Whole(ty, None)), *at)
            }
            Decl::Array { name, range, more, element } => {
                let TypeOf::Whole(mut of, mut inner) = self.type_of(scope, element)? else {
                    return self.fail(element.at, "elements of an array need a range");
                };
                // The last dimension is the innermost one.
                for (i, range) in more.iter().enumerate().rev() {
                    of = self.array_of(scope, range, of, inner, i + 1 < more.len())?;
                    inner = None;
                }
                let ty = match range {
                    Some(range) => TypeOf::Whole(self.array_of(scope, range, of, inner, !more.is_empty())?, None),
                    None => TypeOf::Open(of, inner),
                };
                self.declare(scope, name, Named::Type(ty), element.at)
            }
            Decl::Alias { name, ty, of, at } => {
                // An alias of a type, subprogram or literal denotes the object itself.
                let other = match &of.kind {
                    Kind::Name(n) => self.find(scope, n).cloned(),
                    _ => None,
                };
                if let Some(same @ (Named::Type(_) | Named::Functions(_) | Named::Procedures(_) | Named::Literals(_))) =
                    other
                {
                    return self.declare(scope, name, same, *at);
                }
                let ty = match ty {
                    Some(t) => Some(self.type_of(scope, t)?),
                    None => None,
                };
                self.declare(scope, name, Named::Alias { of, scope, ty }, *at)
            }
            Decl::Use(used) => self.use_package(scope, used),
            _ => Ok(()),
        }
    }

    /// Builds an array type with a range.
    pub(super) fn array_of(
        &mut self,
        scope: usize,
        range: &'a Expr,
        element: Type,
        inner: Option<Bounds>,
        more: bool,
    ) -> Result<Type> {
        let bounds = self.bounds(scope, range)?;
        let bits = u64::from(bounds.len()) * u64::from(storage(&element, inner));
        if bits > 1 << 28 {
            return self.fail(range.at, "an array of more than 2^28 bits");
        }
        Ok(Type::Array(Arc::new(ArrayOf { bounds, element, inner, more })))
    }

    /// Elaborates the packages of the file with their bodies.
    pub(super) fn packages(&mut self) -> Result<()> {
        for p in in_order(&self.file.packages) {
            let scope = match (self.package_scopes.get(&p.name), p.body) {
                (Some(&scope), true) => scope,
                (None, false) => self.scope(None, p.name.clone()),
                (None, true) => return self.fail(p.at, format!("no package is called {}", p.name)),
                (Some(_), false) => return self.fail(p.at, format!("package {} is declared twice", p.name)),
            };
            self.package_scopes.insert(p.name.clone(), scope);
            for used in &p.uses {
                self.use_package(scope, used)?;
            }
            for d in &p.decls {
                match d {
                    // The value of a deferred constant is in the package body.
                    Decl::Object(o) if o.value.is_none() && o.class == super::Class::Constant => {}
                    Decl::Object(o) if o.class != super::Class::Constant => {
                        return self.fail(o.at, "packages declare constants, types, functions and components");
                    }
                    d => self.decls(scope, std::slice::from_ref(d))?,
                }
            }
        }
        Ok(())
    }

    /// Makes the declarations of a package visible, or the one that the use clause names.
    pub(super) fn use_package(&mut self, scope: usize, used: &Use) -> Result<()> {
        let Some(&package) = self.package_scopes.get(&used.package) else {
            return self.fail(
                used.at,
                format!("the package work.{} is not supported: it is not in the file before this", used.package),
            );
        };
        if let Some(name) = &used.name
            && !self.scopes[package].names.contains_key(name)
        {
            return self.fail(used.at, format!("package {} has no {name}", used.package));
        }
        self.scopes[scope].uses.push((package, used.name.clone()));
        Ok(())
    }

    /// Returns `true` for `work` and the names of library clauses: all units of the files are in one library.
    pub(super) fn is_library(&self, name: &str) -> bool {
        name == "work" || self.file.libraries.iter().any(|library| library == name)
    }

    /// Returns the object that `work.p.x` or `p.x` names.
    pub(super) fn in_package(&self, base: &'a Expr, name: &str) -> Option<Named<'a>> {
        let package = match &base.kind {
            Kind::Name(p) => p,
            Kind::Field(work, p) if matches!(&work.kind, Kind::Name(w) if self.is_library(w)) => p,
            _ => return None,
        };
        let scope = *self.package_scopes.get(package)?;
        self.scopes[scope].names.get(name).cloned()
    }

    // ---- Values

    /// Returns an enumeration literal: that of the expected type, or the only one of this name.
    pub(super) fn literal(&mut self, all: &[(Type, u32)], expected: Option<&Expect>, at: u32) -> Result<Value> {
        let fits = |t: &Type| matches!(expected, Some(Expect::Exactly(e)) if e == t);
        let found = all.iter().find(|l| fits(&l.0)).or(match all {
            [only] => Some(only),
            _ => None,
        });
        let Some((ty, i)) = found else {
            return self.fail(at, "a literal of several enumerations: the context does not tell which");
        };
        let node = self.rtl.number(u64::from(*i), storage(ty, None));
        Ok(Value { ty: ty.clone(), data: Data::Node(node), bounds: None })
    }

    /// Returns lowest bit, type and bounds of a record field.
    pub(super) fn field(&self, ty: &Type, name: &str, at: u32) -> Result<(u32, Type, Option<Bounds>)> {
        let Type::Record(r) = ty else { return self.fail(at, format!("{} has no fields", show(ty))) };
        let mut lo = 0;
        for (field, ty, bounds) in &r.fields {
            if field == name {
                return Ok((lo, ty.clone(), *bounds));
            }
            lo += storage(ty, *bounds);
        }
        self.fail(at, format!("record {} has no field {name}", r.name))
    }

    /// Evaluates a record aggregate, with fields by position, by name or by `others`.
    pub(super) fn record(&mut self, run: &mut Run<'a>, args: &'a [Arg], r: &Arc<Record>, at: u32) -> Result<Value> {
        let mut nodes = Vec::with_capacity(r.fields.len());
        let mut used = 0;
        for (i, (name, ty, bounds)) in r.fields.iter().enumerate() {
            let named = |a: &&Arg| a.choices.iter().any(|c| matches!(&c.kind, Kind::Name(n) if n == name));
            let positional = args.get(i).filter(|a| a.choices.is_empty() && !a.others);
            let Some(arg) = args.iter().find(named).or(positional).or(args.iter().find(|a| a.others)) else {
                return self.fail(at, format!("an aggregate without the field {name}"));
            };
            used += usize::from(!arg.others);
            nodes.push(self.kept_as(run, &arg.value, ty, *bounds)?);
        }
        let given: usize = args.iter().map(|a| if a.others { 0 } else { a.choices.len().max(1) }).sum();
        if used != given {
            return self.fail(at, format!("record {} has other fields", r.name));
        }
        let node = self.rtl.concat(&nodes);
        Ok(Value { ty: Type::Record(r.clone()), data: Data::Node(node), bounds: None })
    }

    /// Evaluates an expression of a type and encodes it as bits.
    pub(super) fn kept_as(
        &mut self,
        run: &mut Run<'a>,
        e: &'a Expr,
        ty: &Type,
        bounds: Option<Bounds>,
    ) -> Result<NodeId> {
        self.context = bounds.filter(|_| *ty != Type::Integer);
        let v = self.value(run, e, Some(&Expect::Exactly(ty.clone())))?;
        self.same(e.at, ty, &v.ty)?;
        self.encoded(&v, bounds, e.at)
    }

    /// Evaluates an index, minus the lowest index: a number if it is constant, otherwise an unsigned word. A constant
    /// index outside of the array is an error.
    pub(super) fn distance(
        &mut self,
        run: &mut Run<'a>,
        e: &'a Expr,
        bounds: Bounds,
    ) -> Result<std::result::Result<u32, NodeId>> {
        let v = self.value(run, e, Some(&Expect::Exactly(Type::Integer)))?;
        let low = bounds.left.min(bounds.right);
        let len = i64::from(bounds.len());
        match v.data {
            Data::Int(i) if (0..len).contains(&(i - low)) => Ok(Ok((i - low) as u32)),
            Data::Int(_) => self.fail(e.at, "an index outside the array"),
            Data::Natural(n) if low == 0 => Ok(Err(n)),
            Data::Natural(_) | Data::Whole(_) => {
                let node = self.whole(&v);
                let wide = self.rtl.width(node).max(33) + 1;
                let (node, low) = (self.rtl.resize(node, wide, true), self.integer(low, wide));
                Ok(Err(self.rtl.binary(crate::Binary::Sub, node, low)))
            }
            _ => self.fail(e.at, "an integer is expected here"),
        }
    }

    /// Returns type and bounds of the prefix of an attribute: a type, or an object, whose value is not read.
    pub(super) fn bounds_of(&mut self, run: &mut Run<'a>, base: &'a Expr) -> Result<Option<(Type, Option<Bounds>)>> {
        let named = match &base.kind {
            Kind::Name(n) => self.find(run.scope, n).cloned(),
            Kind::Field(package, n) => self.in_package(package, n),
            _ => None,
        };
        if let Some(Named::Type(TypeOf::Whole(ty, bounds))) = named {
            return Ok(Some((ty, bounds)));
        }
        let reads = self.reads.len();
        let v = self.value(run, base, None)?;
        self.reads.truncate(reads);
        Ok(Some((v.ty, v.bounds)))
    }

    /// Evaluates `std_match` or `?=`, where a `-` in the pattern matches any bit. With `numbers` (`?=`), numbers of
    /// different lengths are compared.
    pub(super) fn matches(
        &mut self,
        run: &mut Run<'a>,
        a: &'a Expr,
        b: &'a Expr,
        numbers: bool,
        at: u32,
    ) -> Result<Value> {
        let (pattern, other) = match (&a.kind, &b.kind) {
            (_, Kind::Text(t)) => (t, a),
            (Kind::Text(t), _) => (t, b),
            // Only string literals may contain `-`; in other operands a `-` would be an undefined bit.
            _ => {
                let x = self.value(run, a, None)?;
                let y = self.value(run, b, Some(&Expect::Exactly(x.ty.clone())))?;
                for v in [&x, &y] {
                    if let Data::Node(n) = v.data {
                        self.settled(n, at)?;
                    }
                }
                let number =
                    |v: &Value| matches!(v.ty, Type::Integer | Type::Vector(Vector::Unsigned | Vector::Signed, _));
                if numbers && number(&x) && number(&y) && (x.ty != Type::Integer || y.ty != Type::Integer) {
                    let (x, y) = self.cut(x, y, at)?;
                    return self.relation("=", &x, &y, at);
                }
                self.same(at, &x.ty, &y.ty)?;
                let (m, n) = (self.bits(&x, at)?, self.bits(&y, at)?);
                let hit = self.rtl.compare(Compare::Equal, m, n);
                return Ok(self.boolean(hit));
            }
        };
        let v = self.value(run, other, None)?;
        let node = self.bits(&v, other.at)?;
        let hit = self.pattern(node, pattern, at)?;
        Ok(self.boolean(hit))
    }

    /// Returns an error if bits contain undefined literals such as `-` or `X`.
    pub(super) fn settled(&self, node: NodeId, at: u32) -> Result<()> {
        use crate::Expr as R;
        let mut stack = vec![node];
        let mut undefined = false;
        while let Some(n) = stack.pop() {
            match self.rtl.expr(n) {
                R::Free => undefined = true,
                R::Concat(parts) => stack.extend(parts.iter()),
                _ => {}
            }
        }
        if undefined { self.fail(at, "a pattern that is a string is expected here") } else { Ok(()) }
    }

    /// Returns one bit that is set if bits match a pattern, in which `-` matches any bit.
    pub(super) fn pattern(&mut self, node: NodeId, pattern: &str, at: u32) -> Result<NodeId> {
        let digits: Vec<char> = pattern.chars().filter(|&c| c != '_').collect();
        if digits.len() as u32 != self.rtl.width(node) {
            return self.fail(at, "std_match of different lengths");
        }
        let mut care = BigUint::ZERO;
        let mut want = BigUint::ZERO;
        for (i, c) in digits.iter().rev().enumerate() {
            match c {
                '0' | 'L' => care.set_bit(i as u64, true),
                '1' | 'H' => {
                    care.set_bit(i as u64, true);
                    want.set_bit(i as u64, true);
                }
                '-' => {}
                _ => return self.fail(at, "a pattern of 0, 1 and -"),
            }
        }
        let width = self.rtl.width(node);
        let (care, want) = (self.rtl.constant(care, width), self.rtl.constant(want, width));
        let seen = self.rtl.binary(crate::Binary::And, node, care);
        Ok(self.rtl.compare(Compare::Equal, seen, want))
    }

    /// Returns the initial value of a signal without an explicit one; `None` if it is undefined.
    pub(super) fn first_of_signal(&mut self, o: &Object, ty: &Type, bounds: Option<Bounds>) -> Option<NodeId> {
        (o.value.is_none() && !Self::begins_undefined(ty)).then(|| self.first(ty, bounds))
    }
}

/// Returns the packages in an order of analysis: each after the packages that it uses, and after their bodies if
/// possible.
fn in_order(packages: &[Package]) -> Vec<&Package> {
    let mut open: Vec<&Package> = packages.iter().collect();
    let mut ordered = Vec::with_capacity(open.len());
    while !open.is_empty() {
        let waits = |p: &Package, bodies: bool| {
            let inner = p.decls.iter().filter_map(|d| if let Decl::Use(used) = d { Some(used) } else { None });
            let uses = |name: &str| p.uses.iter().chain(inner.clone()).any(|used| used.package == name);
            open.iter().any(|q| match p.name == q.name {
                true => p.body && !q.body,
                false => (bodies || !q.body) && uses(&q.name),
            })
        };
        let first = [true, false].iter().find_map(|&bodies| open.iter().position(|p| !waits(p, bodies)));
        // For packages that use one another, the order of the file is kept; analysis then rejects them.
        ordered.push(open.remove(first.unwrap_or(0)));
    }
    ordered
}
