//! Functions of the standard packages and of the file.

use super::super::syntax::{Arg, Expr, Function, Kind, error};
use super::{Data, Elab, Expect, MAX_CALLS, Named, Result, Run, State, Type, TypeOf, Value, Vector, expected_vector};
use crate::prove::rtl::{MAX_WIDTH, NodeId, Shift};
use num_bigint::BigUint;

impl<'a> Elab<'a> {
    /// Functions of the standard packages.
    pub(super) fn standard(&mut self, run: &mut Run, name: &str, args: &[Arg], at: u32) -> Result<Value> {
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

    pub(super) fn length(&mut self, run: &mut Run, e: &Expr) -> Result<u32> {
        // numeric_std of 2008 also takes a vector's length from a vector.
        let width = self.int(run, e)?;
        match u32::try_from(width) {
            Ok(w) if w <= MAX_WIDTH => Ok(w),
            _ => self.fail(e.at, "a width from 0 to 2^24"),
        }
    }

    pub(super) fn integer(&mut self, i: i64, width: u32) -> NodeId {
        let value = if i < 0 {
            let full = BigUint::from(1u32) << width.max(64);
            full - BigUint::from(i.unsigned_abs())
        } else {
            BigUint::from(i as u64)
        };
        self.rtl.constant(value, width)
    }

    pub(super) fn shifted(&mut self, run: &mut Run, name: &str, v: &Value, by: &Expr, at: u32) -> Result<Value> {
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
    pub(super) fn overloaded(
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
    pub(super) fn foreign(&self, package: &Expr) -> bool {
        match &package.kind {
            Kind::Field(library, _) => matches!(&library.kind, Kind::Name(n) if n == "ieee" || n == "std"),
            Kind::Name(n) => matches!(n.as_str(), "numeric_std" | "std_logic_1164"),
            _ => false,
        }
    }

    /// Arguments of a function in the order of its parameters, as the types of these want them.
    pub(super) fn arguments(
        &mut self,
        run: &mut Run,
        home: usize,
        f: &'a Function,
        args: &[Arg],
        at: u32,
    ) -> Result<Vec<Value>> {
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

    pub(super) fn call(&mut self, run: &mut Run, home: usize, f: &'a Function, args: &[Arg], at: u32) -> Result<Value> {
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
}
