//! Calls of functions that the source or a standard package declares.

use super::super::syntax::{Arg, Expr, Function, Kind};
use super::types::ArrayOf;
use super::{Bounds, Elab, Expect, MAX_CALLS, Named, Result, Run, State, Type, TypeOf, Value};
use num_bigint::BigUint;
use std::sync::Arc;

impl<'a> Elab<'a> {
    /// Selects the function of a name that takes these arguments and returns the expected type, and calls it.
    pub(super) fn overloaded(
        &mut self,
        run: &mut Run<'a>,
        all: &[(usize, &'a Function)],
        args: &'a [Arg],
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        let fits: Vec<(usize, &'a Function)> = all
            .iter()
            .copied()
            .filter(|f| {
                let least = f.1.params.iter().filter(|p| p.value.is_none()).count();
                (least..=f.1.params.len()).contains(&args.len())
            })
            .collect();
        match (&fits[..], all) {
            (&[(home, f)], _) | (&[], &[(home, f)]) => return self.call(run, home, f, args, at),
            (&[], _) => return self.fail(at, "no function of this name takes as many arguments"),
            _ => {}
        }
        // Try the arguments on each function.
        let mut found = Vec::new();
        for &(home, f) in &fits {
            self.turn(at)?;
            let reads = self.reads.len();
            if self.arguments(run, home, f, args, at).is_ok() {
                found.push((home, f));
            } else {
                // An error message needs a search through the source for its line number, which costs time.
                self.iterations += 15;
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

    /// Returns `true` if a prefix names a standard package.
    pub(super) fn foreign(&self, package: &'a Expr) -> bool {
        match &package.kind {
            Kind::Field(library, _) => matches!(&library.kind, Kind::Name(n) if n == "ieee" || n == "std"),
            Kind::Name(n) => matches!(n.as_str(), "numeric_std" | "std_logic_1164" | "math_real" | "textio"),
            _ => false,
        }
    }

    /// Evaluates the arguments of a function in the order of its parameters, with their types.
    pub(super) fn arguments(
        &mut self,
        run: &mut Run<'a>,
        home: usize,
        f: &'a Function,
        args: &'a [Arg],
        at: u32,
    ) -> Result<Vec<Value>> {
        let least = f.params.iter().filter(|p| p.value.is_none()).count();
        if !(least..=f.params.len()).contains(&args.len()) {
            return self.fail(at, format!("{} takes {} arguments", f.name, f.params.len()));
        }
        self.known_names(&f.params, args, at)?;
        let mut values = Vec::with_capacity(args.len());
        for (i, p) in f.params.iter().enumerate() {
            let (e, default) = self.actual(i, p, args, at)?;
            let ty = self.type_of(home, &p.ty)?;
            let from = if default { std::mem::replace(&mut run.scope, home) } else { run.scope };
            let v = self.argument(run, e, &ty);
            run.scope = from;
            values.push(v?);
        }
        Ok(values)
    }

    pub(super) fn call(
        &mut self,
        run: &mut Run<'a>,
        home: usize,
        f: &'a Function,
        args: &'a [Arg],
        at: u32,
    ) -> Result<Value> {
        self.turn(at)?;
        let values = self.arguments(run, home, f, args, at)?;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return self.fail(at, "calls of functions nested more than 64 deep");
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
            // The returned value determines the number of elements.
            TypeOf::Open(element, inner) => {
                let bounds = Bounds { left: 0, right: -1, down: false };
                (Type::Array(Arc::new(ArrayOf { bounds, element, inner, more: false })), None)
            }
        };
        let open = self.rtl.number(1, 1);
        let mut inner = Run::new(scope, false);
        (inner.state, inner.result) = (state, Some((ty, bounds, None, open)));
        self.statements(&mut inner, &f.body)?;
        self.calls -= 1;
        self.scopes.truncate(scopes);
        match inner.result {
            Some((ty, bounds, Some(node), open)) => {
                let closed = self.rtl.as_const(open).is_some_and(|v| *v == BigUint::ZERO);
                let node = if closed {
                    node
                } else {
                    // The result is undefined on a path without return.
                    let free = self.rtl.free(self.rtl.width(node));
                    self.rtl.mux(open, free, node)
                };
                Ok(self.decoded(node, &ty, bounds))
            }
            _ => self.fail(at, format!("{} returns nothing", f.name)),
        }
    }
}
