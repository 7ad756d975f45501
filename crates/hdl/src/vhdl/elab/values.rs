//! Expressions: names, literals, aggregates, selections.

use super::super::syntax::{Arg, Expr, Kind};
use super::types::{ArrayOf, storage};
use super::{
    Bounds, Data, Elab, Expect, MAX_ALIASES, Named, Result, Run, Slot, StoredValue, Type, TypeOf, Value, Vector,
    expected_vector, show,
};
use crate::{Compare, MAX_WIDTH, NodeId, Shift};
use num_bigint::BigUint;
use std::sync::Arc;

impl<'a> Elab<'a> {
    pub(super) fn node(&self, v: &Value) -> Option<NodeId> {
        match v.data {
            Data::Node(n) => Some(n),
            _ => None,
        }
    }

    pub(super) fn bits(&self, v: &Value, at: u32) -> Result<NodeId> {
        match self.node(v) {
            Some(n) => Ok(n),
            None => self.fail(at, "bits are expected here"),
        }
    }

    /// Evaluates an expression of exactly this type.
    pub(super) fn typed(&mut self, run: &mut Run<'a>, e: &'a Expr, ty: &Type) -> Result<NodeId> {
        let v = self.value(run, e, Some(&Expect::Exactly(ty.clone())))?;
        self.same(e.at, ty, &v.ty)?;
        self.bits(&v, e.at)
    }

    pub(super) fn condition(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<NodeId> {
        let v = self.value(run, e, Some(&Expect::Exactly(Type::Boolean)))?;
        match v.ty {
            Type::Boolean => self.bits(&v, e.at),
            _ => self.fail(e.at, "a condition is expected here"),
        }
    }

    pub(super) fn int(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<i64> {
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

    pub(super) fn vector(&mut self, v: Vector, node: NodeId) -> Value {
        let width = self.rtl.width(node);
        // Indices of results of numeric_std descend to 0; the context determines the indices of other vectors.
        let bounds = (v != Vector::Logic).then_some(Bounds::from_width(width));
        Value { ty: Type::Vector(v, width), data: Data::Node(node), bounds }
    }

    pub(super) fn boolean(&self, node: NodeId) -> Value {
        Value { ty: Type::Boolean, data: Data::Node(node), bounds: None }
    }

    pub(super) fn value(&mut self, run: &mut Run<'a>, e: &'a Expr, expected: Option<&Expect>) -> Result<Value> {
        let int = |i: i64| Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
        // The bounds of the target do not apply to the operands.
        let context = self.context.take();
        match &e.kind {
            Kind::Int(i) if matches!(expected, Some(Expect::Exactly(Type::Real))) => self.real(*i as f64, e.at),
            Kind::Int(i) => Ok(int(*i)),
            Kind::Real(x) => self.real(*x, e.at),
            Kind::Text(t) if matches!(expected, Some(Expect::Exactly(Type::Text))) => Ok(self.text_value(t)),
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
                if t.len() > MAX_WIDTH as usize {
                    return self.fail(e.at, "more than 2^24 bits");
                }
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
                // Without a context, the indices of a string ascend from 0.
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
                    Some(StoredValue::Node(n)) => Ok(self.decoded(*n, &ty, bounds)),
                    Some(StoredValue::Int(i)) => Ok(int(*i)),
                    Some(StoredValue::Real(x)) => self.real(*x, e.at),
                    Some(StoredValue::Text(text)) => Ok(Value { ty, data: Data::Text(text.clone()), bounds: None }),
                    None if matches!(ty, Type::Real | Type::Text | Type::Line) => {
                        self.fail(e.at, format!("{n} is read before it is assigned"))
                    }
                    None => {
                        // In a clocked process, a variable that is read before it is written is a register.
                        let node = self.before(run.clocked, Slot::Variable(slot), storage(&ty, bounds));
                        Ok(self.decoded(node, &ty, bounds))
                    }
                },
                Some(Named::Alias { of, scope, ty }) => {
                    self.follow(e.at)?;
                    let outer = std::mem::replace(&mut run.scope, scope);
                    let v = self.value(run, of, expected);
                    run.scope = outer;
                    self.aliases -= 1;
                    let (v, (ty, bounds)) = self.seen_as(v?, ty, e.at)?;
                    Ok(Value { ty, bounds, ..v })
                }
                Some(Named::Literals(all)) => self.literal(&all, expected, e.at),
                Some(Named::Functions(all)) => self.overloaded(run, &all, &[], expected, e.at),
                _ => match self.math_constant(n, e.at) {
                    Some(constant) => constant,
                    None => self.fail(e.at, format!("{n} is not declared as a value")),
                },
            },
            Kind::Field(base, name) => {
                if self.foreign(base)
                    && let Some(constant) = self.math_constant(name, e.at)
                {
                    return constant;
                }
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
            Kind::Qualified(named, args) => {
                let name = &named.name;
                let ty = self.type_of(run.scope, named)?;
                let (expected, bounds) = match ty {
                    TypeOf::Whole(t, bounds) => (Expect::Exactly(t), bounds),
                    TypeOf::Unconstrained(v) => (Expect::Vector(v), None),
                    TypeOf::Open(element, inner) => {
                        let bounds = Bounds { left: 0, right: args.len() as i64 - 1, down: false };
                        (Expect::Exactly(Type::Array(Arc::new(ArrayOf { bounds, element, inner, more: false }))), None)
                    }
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
                    Some((Type::Integer, None)) => Bounds { left: -(1 << 31), right: (1 << 31) - 1, down: false },
                    Some((Type::Vector(_, w), None)) if name == "length" => Bounds::from_width(w),
                    Some((Type::Enum(t), None)) if matches!(name.as_str(), "left" | "low" | "right" | "high") => {
                        let i = if name == "left" || name == "low" { 0 } else { t.literals - 1 };
                        return self.literal(&[(Type::Enum(t), i)], None, e.at);
                    }
                    _ => return self.fail(e.at, "this has no bounds that are known here"),
                };
                self.attribute(b, name, e.at)
            }
            Kind::Call(base, args) => match (&base.kind, &args[..]) {
                (Kind::Attribute(of, name), [Arg { choices, others: false, value }]) if choices.is_empty() => {
                    self.attribute_of(run, of, name, value, e.at)
                }
                _ => self.call_or_select(run, e, base, args, expected),
            },
            Kind::Unary(op, x) => self.unary(run, op, x, expected, e.at),
            Kind::Binary(op, a, b) => self.binary(run, op, a, b, expected, e.at),
            Kind::Range(..) | Kind::Open => self.fail(e.at, "a value is expected here"),
        }
    }

    /// Returns the value of an attribute of bounds.
    fn attribute(&mut self, b: Bounds, name: &str, at: u32) -> Result<Value> {
        let i = match name {
            "length" => i64::from(b.len()),
            "left" => b.left,
            "right" => b.right,
            "high" => b.left.max(b.right),
            "low" => b.left.min(b.right),
            "ascending" => {
                let node = self.rtl.number(u64::from(!b.down), 1);
                return Ok(self.boolean(node));
            }
            _ => return self.fail(at, format!("the attribute {name} is not supported here")),
        };
        Ok(Value { ty: Type::Integer, data: Data::Int(i), bounds: None })
    }

    /// Evaluates an attribute with an argument: a dimension of an array, or a value of a type.
    fn attribute_of(&mut self, run: &mut Run<'a>, of: &'a Expr, name: &str, arg: &'a Expr, at: u32) -> Result<Value> {
        if !matches!(name, "pos" | "val" | "succ" | "pred" | "leftof" | "rightof") {
            let Some(b) = self.bounds_along(run, of, Some(arg))? else {
                return self.fail(at, "this has no bounds that are known here");
            };
            return self.attribute(b, name, at);
        }
        let Some((ty, bounds)) = self.bounds_of(run, of)? else { return self.fail(at, "a type is expected here") };
        let range = match &ty {
            Type::Enum(t) => Some(Bounds { left: 0, right: i64::from(t.literals) - 1, down: false }),
            Type::Integer => bounds,
            _ => return self.fail(at, format!("the attribute {name} of {}", show(&ty))),
        };
        let wanted = if name == "val" { Type::Integer } else { ty.clone() };
        let v = self.value(run, arg, Some(&Expect::Exactly(wanted.clone())))?;
        self.same(at, &wanted, &v.ty)?;
        // The position of an enumeration literal is the value of its bits.
        let number = match (&v.ty, &v.data) {
            (Type::Enum(_), Data::Node(n)) => self.decoded(*n, &Type::Integer, range),
            _ => v,
        };
        let down = range.is_some_and(|b| b.down);
        let step = match name {
            "succ" => 1,
            "pred" => -1,
            "leftof" => {
                if down {
                    1
                } else {
                    -1
                }
            }
            "rightof" => {
                if down {
                    -1
                } else {
                    1
                }
            }
            _ => 0,
        };
        let moved = match (step, &number.data) {
            (0, _) => number,
            (_, Data::Int(i)) => Value { data: Data::Int(i + step), ..number },
            _ => {
                let by = Value { ty: Type::Integer, data: Data::Int(step), bounds: None };
                self.whole_arithmetic("+", &number, &by, at)?
            }
        };
        if name == "pos" {
            return Ok(moved);
        }
        // A value outside of the type is an error or undefined.
        let node = self.encoded(&moved, range, at)?;
        if ty == Type::Integer && step == 0 {
            return Ok(moved);
        }
        Ok(self.decoded(node, &ty, range))
    }

    /// Counts the resolution of an alias, as an alias may refer to itself.
    pub(super) fn follow(&mut self, at: u32) -> Result<()> {
        self.turn(at)?;
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return self.fail(at, "an alias of itself, or aliases more than 1,000 deep");
        }
        Ok(())
    }

    /// Evaluates an aggregate, whose length is that of the context or of its choices.
    pub(super) fn aggregate(
        &mut self,
        run: &mut Run<'a>,
        args: &'a [Arg],
        expected: Option<&Expect>,
        context: Option<Bounds>,
        at: u32,
    ) -> Result<Value> {
        match expected {
            Some(Expect::Exactly(Type::Array(a))) => return self.array(run, args, &a.clone(), at),
            Some(Expect::Exactly(Type::Record(r))) => return self.record(run, args, &r.clone(), at),
            _ => {}
        }
        // The standard permits null ranges (`0 downto 1 => x`), which select no bits.
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
        // Only the bounds of the context determine the bit that a choice selects.
        let Some(context) = context.filter(|c| others.is_none() || c.len() == width) else {
            return self.fail(at, "choices in an aggregate whose bounds the context does not tell");
        };
        let (low, high) = match others {
            Some(_) => (context.left.min(context.right), context.left.max(context.right)),
            None => (low, low + i64::from(width) - 1),
        };
        let mut bits: Vec<Option<NodeId>> = vec![others; width as usize];
        for (b, node) in chosen {
            self.iterations = self.iterations.saturating_add(b.len() / 64);
            self.turn(at)?;
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

    /// Evaluates an array aggregate with positions, choices and `others`; constant elements form a table.
    pub(super) fn array(&mut self, run: &mut Run<'a>, args: &'a [Arg], a: &Arc<ArrayOf>, at: u32) -> Result<Value> {
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
                        self.iterations = self.iterations.saturating_add(b.len() / 64);
                        self.turn(at)?;
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

    pub(super) fn call_or_select(
        &mut self,
        run: &mut Run<'a>,
        e: &'a Expr,
        base: &'a Expr,
        args: &'a [Arg],
        expected: Option<&Expect>,
    ) -> Result<Value> {
        if let Kind::Field(package, name) = &base.kind {
            match self.in_package(package, name) {
                Some(Named::Functions(all)) => return self.overloaded(run, &all, args, expected, e.at),
                // ieee.numeric_std.resize(...)
                None if self.foreign(package) => return self.standard(run, name, args, expected, e.at),
                _ => {}
            }
        }
        if let Kind::Name(name) = &base.kind {
            if let Some(Named::Functions(all)) = self.find(run.scope, name).cloned() {
                return self.overloaded(run, &all, args, expected, e.at);
            }
            if self.find(run.scope, name).is_none() {
                return self.standard(run, name, args, expected, e.at);
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
        self.selected(run, v, args, e.at)
    }

    /// Selects an element, a bit or a part of a value.
    fn selected(&mut self, run: &mut Run<'a>, v: Value, args: &'a [Arg], at: u32) -> Result<Value> {
        let Some((Arg { choices, others: false, value }, rest)) = args.split_first() else {
            return self.fail(at, "one index or range is expected");
        };
        let dimensions = matches!(&v.ty, Type::Array(a) if a.more);
        if !choices.is_empty() || rest.is_empty() == dimensions {
            return self.fail(at, "one index or range is expected for each dimension");
        }
        if let Type::Array(a) = &v.ty {
            let width = storage(&a.element, a.inner);
            if self.is_range(value) {
                let part = self.bounds_in(run, value)?;
                let Some(lo) = self.elements(a.bounds, part, value.at)?.filter(|_| !a.more) else {
                    return self.fail(value.at, "a part of an array without elements, or of several dimensions");
                };
                let data = match &v.data {
                    Data::Array(entries) => {
                        let taken = entries.iter().skip(lo as usize).take(part.len() as usize);
                        Data::Array(Arc::new(taken.cloned().collect()))
                    }
                    Data::Node(n) => Data::Node(self.rtl.slice(*n, lo * width, part.len() * width)),
                    _ => return self.fail(at, "this has no elements"),
                };
                let ty = Type::Array(Arc::new(ArrayOf { bounds: part, ..(**a).clone() }));
                return Ok(Value { ty, data, bounds: None });
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
                    let words = self.rtl.split(*n, width, a.bounds.len());
                    self.rtl.choose(words, addr)
                }
                _ => return self.fail(at, "this has no elements"),
            };
            let element = self.decoded(node, &a.element, a.inner);
            return if rest.is_empty() { Ok(element) } else { self.selected(run, element, rest, at) };
        }
        let (Type::Vector(kind, width), Data::Node(node)) = (&v.ty, &v.data) else {
            return self.fail(at, "this has no bits to select");
        };
        let (kind, width, node) = (*kind, *width, *node);
        let Some(bounds) = v.bounds else {
            return self.fail(at, "bits of a value whose bounds are not known here");
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

    pub(super) fn convert(&mut self, run: &mut Run<'a>, to: Vector, x: &'a Expr) -> Result<Value> {
        let v = self.value(run, x, None)?;
        match (&v.ty, &v.data) {
            (Type::Vector(_, w), Data::Node(_)) => Ok(Value { ty: Type::Vector(to, *w), ..v }),
            _ => self.fail(x.at, "only vectors are converted"),
        }
    }
}
