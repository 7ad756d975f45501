//! Operators with the widths and signs of `numeric_std`.

use super::super::syntax::{Expr, Kind};
use super::{Bounds, Data, Elab, Expect, Result, Run, Type, Value, Vector, integer_bits, show, width_of};
use crate::{Binary, Compare, NodeId, Reduce};

impl<'a> Elab<'a> {
    pub(super) fn unary(
        &mut self,
        run: &mut Run<'a>,
        op: &str,
        x: &'a Expr,
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
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
        if op == "??" {
            let v = self.value(run, x, Some(&Expect::Exactly(Type::Bit)))?;
            self.same(at, &Type::Bit, &v.ty)?;
            let node = self.bits(&v, at)?;
            return Ok(self.boolean(node));
        }
        let v = self.value(run, x, expected)?;
        match (op, &v.data, &v.ty) {
            ("+", _, _) => Ok(v),
            ("-", Data::Int(i), _) => Ok(Value { data: Data::Int(-*i), ..v }),
            ("abs", Data::Int(i), _) => Ok(Value { data: Data::Int(i.abs()), ..v }),
            ("-", Data::Real(x), _) => self.real(-x, at),
            ("abs", Data::Real(x), _) => self.real(x.abs(), at),
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
                    Type::Vector(Vector::Unsigned | Vector::Signed, w) => Some(Bounds::from_width(w)),
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

    /// Evaluates both operands; a literal gets the type of the other operand.
    pub(super) fn operands(
        &mut self,
        run: &mut Run<'a>,
        a: &'a Expr,
        b: &'a Expr,
        expected: Option<&Expect>,
        same_length: bool,
    ) -> Result<(Value, Value)> {
        let literal = |e: &'a Expr| matches!(e.kind, Kind::Text(_) | Kind::Aggregate(_));
        let of = |v: &Value| match (&v.ty, expected) {
            (Type::Vector(k, _), _) if !same_length => Expect::Vector(*k),
            // `0 - "01001"` is a vector if a vector is expected.
            (Type::Integer, Some(Expect::Vector(k))) => Expect::Vector(*k),
            (t, _) => Expect::Exactly(t.clone()),
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

    pub(super) fn binary(
        &mut self,
        run: &mut Run<'a>,
        op: &str,
        a: &'a Expr,
        b: &'a Expr,
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        if op == "&" {
            if matches!(expected, Some(Expect::Exactly(Type::Text))) {
                return self.joined_text(run, a, b);
            }
            return self.concatenation(run, a, b, expected);
        }
        if let Some(plain) = op.strip_prefix('?') {
            // The result is a bit; `?=` and `?/=` support `-` (don't care).
            let v = match plain {
                "=" | "/=" => {
                    let v = self.matches(run, a, b, true, at)?;
                    let node = self.bits(&v, at)?;
                    if plain == "=" { node } else { self.rtl.not(node) }
                }
                _ => {
                    let (x, y) = self.operands(run, a, b, None, false)?;
                    let (x, y) = self.cut(x, y, at)?;
                    let v = self.relation(plain, &x, &y, at)?;
                    self.bits(&v, at)?
                }
            };
            return Ok(Value { ty: Type::Bit, data: Data::Node(v), bounds: None });
        }
        if matches!(op, "sll" | "srl" | "sla" | "sra" | "rol" | "ror") {
            let v = self.value(run, a, expected)?;
            return self.shifted(run, op, &v, b, at);
        }
        let relation = matches!(op, "=" | "/=" | "<" | "<=" | ">" | ">=");
        let kind_only = match expected {
            Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) if !relation => Some(Expect::Vector(*v)),
            Some(Expect::Exactly(t @ (Type::Bit | Type::Integer | Type::Boolean | Type::Real)))
                if !relation && op != "**" =>
            {
                Some(Expect::Exactly(t.clone()))
            }
            _ => None,
        };
        let bitwise = matches!(op, "and" | "or" | "xor" | "nand" | "nor" | "xnor");
        let (x, y) = self.operands(run, a, b, kind_only.as_ref(), bitwise || (relation && !self.numeric(a, b)))?;
        match (&x.data, &y.data) {
            (Data::Int(i), Data::Int(j)) => return self.integers(op, *i, *j, at),
            (Data::Real(_), _) | (_, Data::Real(_)) => return self.real_operator(op, &x, &y, at),
            (Data::Text(a), Data::Text(b)) if relation => {
                let node = self.rtl.number(u64::from((a == b) == (op == "=")), 1);
                return match op {
                    "=" | "/=" => Ok(self.boolean(node)),
                    _ => self.fail(at, "strings are compared with = and /="),
                };
            }
            _ => {}
        }
        if bitwise {
            let (mut m, mut n) = (self.bits(&x, at)?, self.bits(&y, at)?);
            let (mut x, y) = (x, y);
            // VHDL-2008: a bit with a vector is combined with each of its bits.
            match (&x.ty, &y.ty) {
                (Type::Vector(_, w), Type::Bit) if *w > 0 => n = self.rtl.repeat(n, *w),
                (Type::Bit, Type::Vector(_, w)) if *w > 0 => {
                    m = self.rtl.repeat(m, *w);
                    x.ty = y.ty.clone();
                }
                _ => self.same(at, &x.ty, &y.ty)?,
            }
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
                Type::Vector(Vector::Unsigned | Vector::Signed, w) => Some(Bounds::from_width(w)),
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

    /// Returns `true` if a relation may compare numbers of different lengths, so that string literals keep their
    /// length.
    pub(super) fn numeric(&self, a: &'a Expr, b: &'a Expr) -> bool {
        matches!(a.kind, Kind::Text(_)) || matches!(b.kind, Kind::Text(_))
    }

    pub(super) fn integers(&mut self, op: &str, i: i64, j: i64, at: u32) -> Result<Value> {
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

    /// Returns two vectors of one kind; an integer operand becomes a vector of the kind of the other. Its width is
    /// `width(vector, least)`, where `least` is the width that the integer needs.
    pub(super) fn pair(
        &mut self,
        x: &Value,
        y: &Value,
        width: fn(u32, u32) -> u32,
        at: u32,
    ) -> Result<(Vector, NodeId, NodeId)> {
        let kind = match (&x.ty, &y.ty) {
            (Type::Vector(k, _), Type::Vector(l, _)) if k == l => *k,
            (Type::Vector(k, _), Type::Integer | Type::Bit) | (Type::Integer | Type::Bit, Type::Vector(k, _)) => *k,
            _ => return self.fail(at, format!("{} beside {}", show(&x.ty), show(&y.ty))),
        };
        if kind == Vector::Logic {
            return self.fail(at, "arithmetic on std_logic_vector");
        }
        let of = |ty: &Type| width_of(ty).filter(|_| *ty != Type::Bit);
        let other = of(&x.ty).or(of(&y.ty)).unwrap_or(0);
        let node = |s: &mut Self, v: &Value| match &v.data {
            // VHDL-2008: a bit operand of an addition is the least significant bit.
            Data::Node(n) if v.ty == Type::Bit => Ok(s.rtl.resize(*n, other.max(1), false)),
            Data::Node(n) => Ok(*n),
            Data::Int(i) if *i < 0 && kind == Vector::Unsigned => {
                s.fail(at, "a negative number with an unsigned vector")
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
            Data::Array(_) | Data::Real(_) | Data::Text(_) => s.fail(at, "a number is expected here"),
        };
        Ok((kind, node(self, x)?, node(self, y)?))
    }

    /// Truncates an integer operand to the length of the vector, as matching operators do; other operands are
    /// unchanged.
    pub(super) fn cut(&mut self, x: Value, y: Value, at: u32) -> Result<(Value, Value)> {
        if !matches!((&x.ty, &y.ty), (Type::Vector(..), Type::Integer) | (Type::Integer, Type::Vector(..))) {
            return Ok((x, y));
        }
        let (kind, p, q) = self.pair(&x, &y, |vector, _| vector, at)?;
        Ok((self.vector(kind, p), self.vector(kind, q)))
    }

    /// Evaluates an operation on integers that are not constant, without overflow: a simulation stops beyond 32 bits.
    pub(super) fn whole_arithmetic(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
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

    pub(super) fn arithmetic(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        if matches!(op, "/" | "rem" | "mod") && x.ty != Type::Bit && y.ty != Type::Bit {
            return self.divide(op, x, y, at);
        }
        if (x.ty == Type::Bit || y.ty == Type::Bit) && !matches!(op, "+" | "-") {
            return self.fail(at, format!("{op} of a vector and a bit"));
        }
        // An integer is truncated to the length of the vector (numeric_std: to_unsigned(r, l'length)).
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

    /// Evaluates a division of `numeric_std`. The quotient has the length of the dividend and is rounded towards zero.
    /// A remainder has the length of the divisor, and the sign of the dividend (`rem`) or of the divisor (`mod`). With
    /// an integer operand, both have the length of the vector. Division by zero is undefined.
    pub(super) fn divide(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (kind, a, b) = self.pair(x, y, u32::max, at)?;
        let signed = kind == Vector::Signed;
        let (wa, wb) = (self.rtl.width(a), self.rtl.width(b));
        let width = match (width_of(&x.ty), width_of(&y.ty)) {
            (Some(vector), None) | (None, Some(vector)) => vector,
            _ if op == "/" => wa,
            _ => wb,
        };
        // One bit more than either operand, so that the magnitude of the smallest number fits.
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
                // A remainder whose sign differs from the divisor's is corrected by adding the divisor once.
                let some = self.rtl.reduce(Reduce::Any, rest);
                let differ = self.rtl.binary(Binary::Xor, np, nq);
                let turn = self.rtl.binary(Binary::And, some, differ);
                let sum = self.rtl.binary(Binary::Add, rest, q);
                self.rtl.mux(turn, sum, rest)
            } else {
                rest
            }
        };
        // For an integer divisor that does not fit the vector, numeric_std returns zero, even for the smallest number
        // divided by its own magnitude.
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
        // With an integer operand the result is resized again; `resize` of a signed vector keeps the sign.
        let long = if op == "/" { wa } else { wb };
        let node = self.rtl.slice(node, 0, long);
        let node = if signed { self.resize_signed(node, width) } else { self.rtl.resize(node, width, false) };
        Ok(self.vector(kind, node))
    }

    /// Evaluates `resize` of a signed vector. Truncation keeps the sign bit and the low bits (IEEE 1076.3).
    pub(super) fn resize_signed(&mut self, node: NodeId, width: u32) -> NodeId {
        let from = self.rtl.width(node);
        if width < from && width > 0 {
            let low = self.rtl.slice(node, 0, width - 1);
            let sign = self.rtl.slice(node, from - 1, 1);
            self.rtl.concat(&[low, sign])
        } else {
            self.rtl.resize(node, width, true)
        }
    }

    pub(super) fn relation(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (a, b, signed) = match (&x.ty, &y.ty) {
            (Type::Bit, Type::Bit) | (Type::Boolean, Type::Boolean) => (self.bits(x, at)?, self.bits(y, at)?, false),
            (Type::Enum(a), Type::Enum(b)) if a == b => (self.bits(x, at)?, self.bits(y, at)?, false),
            (Type::Array(_) | Type::Record(_), other) if x.ty == *other && matches!(op, "=" | "/=") => {
                (self.encoded(x, None, at)?, self.encoded(y, None, at)?, false)
            }
            (Type::Vector(Vector::Logic, m), Type::Vector(Vector::Logic, n)) => {
                if m != n {
                    return self.fail(at, "only std_logic_vectors of one length are compared");
                }
                (self.bits(x, at)?, self.bits(y, at)?, false)
            }
            (Type::Integer, Type::Integer) => {
                // One of the operands is an integer that is not constant.
                let (a, b) = (self.whole(x), self.whole(y));
                let width = self.rtl.width(a).max(self.rtl.width(b));
                (self.rtl.resize(a, width, true), self.rtl.resize(b, width, true), true)
            }
            _ => {
                if x.ty == Type::Bit || y.ty == Type::Bit {
                    return self.fail(at, format!("{} beside {}", show(&x.ty), show(&y.ty)));
                }
                // An integer is not truncated, as it may be outside of the vector's range.
                let (kind, a, b) = self.pair(x, y, u32::max, at)?;
                let signed = kind == Vector::Signed;
                let width = self.rtl.width(a).max(self.rtl.width(b));
                (self.rtl.resize(a, width, signed), self.rtl.resize(b, width, signed), signed)
            }
        };
        self.compared(op, a, b, signed)
    }

    pub(super) fn compared(&mut self, op: &str, a: NodeId, b: NodeId, signed: bool) -> Result<Value> {
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

    pub(super) fn concatenation(
        &mut self,
        run: &mut Run<'a>,
        a: &'a Expr,
        b: &'a Expr,
        expected: Option<&Expect>,
    ) -> Result<Value> {
        // Collects the parts of a chain of concatenations from left to right, without recursion.
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
