//! Procedures, whose bodies are executed at each call.

use super::super::syntax::{Arg, Class, Expr, Kind, Object, Procedure};
use super::{
    Bounds, Elab, Expect, MAX_CALLS, Named, Place, Result, Run, Slot, State, Type, TypeOf, Value, expected_vector,
};
use std::mem;

/// An output parameter of a procedure, whose value is copied back to the caller.
struct Result_<'a> {
    slot: u32,
    ty: Type,
    bounds: Option<Bounds>,
    to: Place,
    from: &'a Expr,
}

impl<'a> Elab<'a> {
    /// Executes a procedure call: inputs are copied, outputs are assigned at the end, and signal parameters are aliases
    /// of the caller's signals.
    pub(super) fn procedure(&mut self, run: &mut Run<'a>, call: &'a Expr) -> Result<()> {
        let (name, args): (&'a Expr, &'a [Arg]) = match &call.kind {
            Kind::Call(name, args) => (name, &args[..]),
            _ => (call, &[]),
        };
        let found = match &name.kind {
            Kind::Name(n) => self.find(run.scope, n).cloned(),
            Kind::Field(base, n) => self.in_package(base, n),
            _ => None,
        };
        let found = match (found, &name.kind) {
            (None, Kind::Name(n) | Kind::Field(_, n)) if self.text_procedure(run, n, args, call.at)? => return Ok(()),
            (found, _) => found,
        };
        let Some(Named::Procedures(all)) = found else {
            return self.fail(call.at, "no procedure has this name");
        };
        let takes = |p: &Procedure| {
            let least = p.params.iter().filter(|o| o.value.is_none()).count();
            (least..=p.params.len()).contains(&args.len())
        };
        let fits: Vec<(usize, &'a Procedure)> = all.into_iter().filter(|p| takes(p.1)).collect();
        let (home, p) = match fits[..] {
            [] => return self.fail(call.at, "no procedure of this name takes as many arguments"),
            [one] => one,
            _ => {
                let mut found = Vec::new();
                for &(home, p) in &fits {
                    self.turn(call.at)?;
                    let reads = self.reads.len();
                    let state = run.state.clone();
                    if self.suits(run, home, p, args).is_ok() {
                        found.push((home, p));
                    } else {
                        self.iterations += 15;
                    }
                    run.state = state;
                    self.reads.truncate(reads);
                }
                match found[..] {
                    [one] => one,
                    [] => return self.fail(call.at, "no procedure of this name takes these arguments"),
                    _ => return self.fail(call.at, "several procedures of this name take these arguments"),
                }
            }
        };
        self.run_procedure(run, home, p, args, call.at)
    }

    /// Returns the argument of a parameter, by position or by name, and `false`; without an argument, the default value
    /// and `true`.
    pub(super) fn actual(&self, i: usize, o: &'a Object, args: &'a [Arg], at: u32) -> Result<(&'a Expr, bool)> {
        let found = args.iter().enumerate().find(|(j, a)| match &a.choices[..] {
            [] => *j == i,
            [Expr { kind: Kind::Name(n), .. }] => *n == o.name,
            _ => false,
        });
        let given = found.map(|(_, a)| &a.value);
        match (given, &o.value) {
            (Some(e), _) if !matches!(e.kind, Kind::Open) => Ok((e, false)),
            (_, Some(default)) => Ok((default, true)),
            _ => self.fail(at, format!("there is no argument {}", o.name)),
        }
    }

    /// Returns an error for a named argument without a parameter of this name.
    pub(super) fn known_names(&self, params: &[Object], args: &'a [Arg], at: u32) -> Result<()> {
        for a in args {
            let known = match &a.choices[..] {
                [] => !a.others,
                [Expr { kind: Kind::Name(n), .. }] => params.iter().any(|p| p.name == *n),
                _ => false,
            };
            if !known {
                return self.fail(at, "an argument without a parameter");
            }
        }
        Ok(())
    }

    /// Checks that the arguments have the types of the parameters.
    fn suits(&mut self, run: &mut Run<'a>, home: usize, p: &'a Procedure, args: &'a [Arg]) -> Result<()> {
        for (i, o) in p.params.iter().enumerate() {
            let (e, default) = self.actual(i, o, args, p.at)?;
            let ty = self.type_of(home, &o.ty)?;
            if default {
                continue;
            }
            if o.output {
                let place = self.place(run, e)?;
                self.fitting(&ty, &place.ty, e.at)?;
            } else {
                self.argument(run, e, &ty)?;
            }
        }
        Ok(())
    }

    /// Returns an error if an argument's type is not that of the parameter.
    fn fitting(&self, ty: &TypeOf, found: &Type, at: u32) -> Result<()> {
        match (ty, found) {
            (TypeOf::Whole(t, _), f) => self.same(at, t, f),
            (TypeOf::Unconstrained(v), Type::Vector(w, _)) if v == w => Ok(()),
            (TypeOf::Open(e, b), Type::Array(a)) if a.element == *e && a.inner == *b && !a.more => Ok(()),
            _ => self.fail(at, "an argument of another type"),
        }
    }

    /// Evaluates an argument with the type of a parameter.
    pub(super) fn argument(&mut self, run: &mut Run<'a>, e: &'a Expr, ty: &TypeOf) -> Result<Value> {
        let (expected, bounds) = match ty {
            TypeOf::Whole(t, b) => (Some(Expect::Exactly(t.clone())), *b),
            TypeOf::Unconstrained(v) => (Some(Expect::Vector(*v)), None),
            TypeOf::Open(..) => (None, None),
        };
        let bounds = bounds.filter(|_| expected.as_ref().is_none_or(expected_vector));
        self.context = bounds;
        let v = self.value(run, e, expected.as_ref())?;
        self.fitting(ty, &v.ty, e.at)?;
        let bounds = bounds.or(v.bounds);
        Ok(Value { bounds, ..v })
    }

    fn run_procedure(
        &mut self,
        run: &mut Run<'a>,
        home: usize,
        p: &'a Procedure,
        args: &'a [Arg],
        at: u32,
    ) -> Result<()> {
        self.turn(at)?;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return self.fail(at, "calls of functions and procedures nested more than 64 deep");
        }
        self.known_names(&p.params, args, at)?;
        let (outer, scopes, first) = (run.scope, self.scopes.len(), self.variables);
        let scope = self.scope(Some(home), self.scopes[home].path.clone());
        let mut results: Vec<Result_<'a>> = Vec::new();
        for (i, o) in p.params.iter().enumerate() {
            let (e, default) = self.actual(i, o, args, at)?;
            let ty = self.type_of(home, &o.ty)?;
            if o.signal {
                let place = self.place(run, e)?;
                self.fitting(&ty, &place.ty, e.at)?;
                if !matches!(place.slot, Slot::Signal(_)) {
                    return self.fail(e.at, "a signal is expected here");
                }
                self.declare(scope, &o.name, Named::Alias { of: e, scope: outer, ty: Some(ty) }, o.at)?;
                continue;
            }
            let from = mem::replace(&mut run.scope, if default { scope } else { outer });
            let value = if !o.output || o.both { Some(self.argument(run, e, &ty)) } else { None };
            run.scope = from;
            let value = value.transpose()?;
            if o.class == Class::Constant {
                let Some(v) = value else { continue };
                self.declare(scope, &o.name, Named::Constant(v), o.at)?;
                continue;
            }
            // The parameter is a local variable, whose final value is copied to the argument.
            let to = if o.output { Some(self.place(run, e)?) } else { None };
            let (ty, bounds) = match (ty, &value, &to) {
                (TypeOf::Whole(t, b), ..) => (t, b),
                (other, _, Some(place)) => {
                    self.fitting(&other, &place.ty, e.at)?;
                    (place.ty.clone(), place.bounds)
                }
                (_, Some(v), None) => (v.ty.clone(), v.bounds),
                (_, None, None) => return self.fail(o.at, "a parameter needs a range"),
            };
            let slot = self.variables;
            self.variables += 1;
            if ty == Type::Integer {
                self.ranges.insert(slot, bounds);
            }
            match value {
                Some(v) => {
                    let data = self.data2(&v, bounds, at)?;
                    run.state.insert(Slot::Variable(slot), data);
                }
                None => {
                    let width = self.small_enough(&ty, bounds, o.at)?;
                    let first =
                        if Self::begins_undefined(&ty) { self.rtl.free(width) } else { self.first(&ty, bounds) };
                    run.state.insert(Slot::Variable(slot), super::StoredValue::Node(first));
                }
            }
            self.declare(scope, &o.name, Named::Variable { slot, ty: ty.clone(), bounds }, o.at)?;
            if let Some(to) = to {
                results.push(Result_ { slot, ty, bounds, to, from: e });
            }
        }
        let mut state: State = mem::take(&mut run.state);
        self.locals(scope, &p.decls, &mut state, false)?;
        run.state = state;
        let flag = self.flag();
        let leaving = mem::replace(&mut run.leaving, vec![flag]);
        let loops = mem::take(&mut run.loops);
        let returned = run.returned.replace(flag);
        // A return in the procedure must not affect the result of an enclosing function.
        let result = run.result.take();
        run.scope = scope;
        self.statements(run, &p.body)?;
        run.scope = outer;
        run.result = result;
        run.returned = returned;
        run.loops = loops;
        run.leaving = leaving;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        for r in results {
            let Some(data) = run.state.get(&Slot::Variable(r.slot)).cloned() else { continue };
            let v = match data {
                super::StoredValue::Int(i) => Value { ty: Type::Integer, data: super::Data::Int(i), bounds: None },
                super::StoredValue::Node(n) => self.decoded(n, &r.ty, r.bounds),
                super::StoredValue::Real(x) => self.real(x, at)?,
                super::StoredValue::Text(text) => {
                    Value { ty: r.ty.clone(), data: super::Data::Text(text), bounds: None }
                }
            };
            if matches!(r.to.slot, Slot::Signal(_)) {
                return self.fail(r.from.at, "a variable is expected here");
            }
            self.give(run, &r.to, &v, at)?;
        }
        run.state.retain(|slot, _| !matches!(slot, Slot::Variable(v) | Slot::Flag(v) if *v >= first));
        Ok(())
    }
}
