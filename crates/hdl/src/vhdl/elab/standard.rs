//! Functions of `std_logic_1164` and `numeric_std` (IEEE 1164, 1076.3, and VHDL-2008), and shifts.

use super::super::syntax::{Arg, Expr};
use super::{Bounds, Data, Elab, Expect, Result, Run, Type, Value, Vector};
use crate::{Binary, Compare, MAX_WIDTH, NodeId, Shift};
use alir_core::diag::Diagnostic;
use num_bigint::BigUint;

impl<'a> Elab<'a> {
    /// Evaluates a function of the standard packages.
    pub(super) fn standard(
        &mut self,
        run: &mut Run<'a>,
        name: &str,
        args: &'a [Arg],
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        if args.iter().any(|a| !a.choices.is_empty() || a.others) {
            return self.fail(at, "arguments by name are not supported here");
        }
        let arg = |i: usize| args.get(i).map(|a| &a.value);
        if args.len() <= 2
            && let Some(value) = self.math_function(run, name, &[arg(0), arg(1)], at)?
        {
            return Ok(value);
        }
        match (name, arg(0), arg(1)) {
            ("endfile", Some(file), None) => self.end_of_file(run, file),
            (_, Some(_), Some(_)) if args.len() > 2 => self.fail(at, format!("{name} with as many arguments")),
            ("unsigned" | "u_unsigned", Some(x), None) => self.convert(run, Vector::Unsigned, x),
            ("signed" | "u_signed", Some(x), None) => self.convert(run, Vector::Signed, x),
            (
                "std_logic_vector"
                | "std_ulogic_vector"
                | "to_stdlogicvector"
                | "to_stdulogicvector"
                | "to_std_logic_vector"
                | "to_std_ulogic_vector"
                | "to_slv"
                | "to_suv"
                | "to_bitvector"
                | "to_bit_vector"
                | "to_bv",
                Some(x),
                None,
            ) => self.convert(run, Vector::Logic, x),
            ("std_logic" | "std_ulogic" | "to_bit" | "to_stdulogic" | "to_std_ulogic", Some(x), None) => {
                self.value_of_type(run, x, &Type::Bit)
            }
            ("integer" | "natural" | "positive", Some(x), None) => {
                let v = self.value(run, x, None)?;
                match (v.data, &v.ty) {
                    (Data::Real(x), _) => self.rounded(x, at),
                    (data, Type::Integer) => Ok(Value { data, ..v }),
                    _ => self.fail(x.at, format!("integer is expected here, not {}", super::show(&v.ty))),
                }
            }
            // The strengths of 0 and 1 are not distinguished.
            ("to_x01" | "to_x01z" | "to_ux01", Some(x), None) | ("to_01", Some(x), _) => self.value(run, x, expected),
            // Functions of `std_logic_misc`.
            (
                "and_reduce" | "or_reduce" | "xor_reduce" | "nand_reduce" | "nor_reduce" | "xnor_reduce",
                Some(x),
                None,
            ) => {
                let op = match name {
                    "and_reduce" => "reduce and",
                    "or_reduce" => "reduce or",
                    "xor_reduce" => "reduce xor",
                    "nand_reduce" => "reduce nand",
                    "nor_reduce" => "reduce nor",
                    _ => "reduce xnor",
                };
                self.unary(run, op, x, expected, at)
            }
            ("is_x", Some(x), None) => {
                self.value(run, x, None)?;
                let never = self.rtl.number(0, 1);
                Ok(self.boolean(never))
            }
            ("std_match", Some(x), Some(y)) => self.matches(run, x, y, false, at),
            ("to_integer", Some(x), None) => self.integer_of(run, x),
            ("to_unsigned" | "to_signed", Some(x), Some(w)) => {
                let kind = if name == "to_signed" { Vector::Signed } else { Vector::Unsigned };
                let width = self.length(run, w)?;
                let v = self.value(run, x, Some(&Expect::Exactly(Type::Integer)))?;
                let node = match v.data {
                    Data::Int(i) if i < 0 && kind == Vector::Unsigned => {
                        return self.fail(x.at, "to_unsigned of a negative number");
                    }
                    Data::Int(i) => self.integer(i, width),
                    Data::Natural(n) => self.rtl.resize(n, width, false),
                    Data::Whole(n) => self.rtl.resize(n, width, true),
                    _ => return self.fail(x.at, "an integer is expected here"),
                };
                Ok(self.vector(kind, node))
            }
            ("resize", Some(x), Some(w)) => {
                let width = self.length(run, w)?;
                let v = self.value(run, x, expected_kind(expected).as_ref())?;
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
                let v = self.value(run, x, expected_kind(expected).as_ref())?;
                if !matches!(v.ty, Type::Vector(Vector::Unsigned | Vector::Signed, _)) {
                    return self.fail(x.at, format!("{name} takes unsigned or signed"));
                }
                self.shifted(run, name, &v, by, at)
            }
            ("find_leftmost" | "find_rightmost", Some(x), Some(y)) => {
                let v = self.value(run, x, None)?;
                let wanted = self.typed(run, y, &Type::Bit)?;
                self.find_bit(&v, wanted, name == "find_leftmost", at)
            }
            ("minimum" | "maximum", Some(x), Some(y)) => self.extreme(run, x, y, name == "maximum", expected, at),
            ("rising_edge" | "falling_edge", ..) => {
                self.fail(at, "a clock edge that is not the last condition of a process")
            }
            _ => self.fail(at, format!("{name} is not declared, or not a function that is read")),
        }
    }

    /// Evaluates an expression that must have a type.
    fn value_of_type(&mut self, run: &mut Run<'a>, x: &'a Expr, ty: &Type) -> Result<Value> {
        let v = self.value(run, x, Some(&Expect::Exactly(ty.clone())))?;
        self.same(x.at, ty, &v.ty)?;
        Ok(v)
    }

    fn integer_of(&mut self, run: &mut Run<'a>, x: &'a Expr) -> Result<Value> {
        let v = self.value(run, x, None)?;
        let node = self.bits(&v, x.at)?;
        let integer = |data: Data| Ok(Value { ty: Type::Integer, data, bounds: None });
        match (&v.ty, self.rtl.as_const(node).cloned()) {
            // `to_integer` of an empty vector is 0.
            (Type::Vector(Vector::Unsigned | Vector::Signed, 0), _) => integer(Data::Int(0)),
            (Type::Vector(Vector::Unsigned, _), None) => integer(Data::Natural(node)),
            (Type::Vector(kind @ (Vector::Unsigned | Vector::Signed), w), Some(c)) if *w <= 62 || c.bits() < 32 => {
                let negative = *kind == Vector::Signed && c.bit(u64::from(*w) - 1);
                let raw = i64::try_from(&c).map_err(|_| self.beyond(x.at))?;
                integer(Data::Int(if negative && *w < 63 { raw - (1 << w) } else { raw }))
            }
            (Type::Vector(Vector::Signed, _), None) => integer(Data::Whole(node)),
            _ => self.fail(x.at, "to_integer of unsigned and signed vectors"),
        }
    }

    fn beyond(&self, at: u32) -> Diagnostic {
        crate::source::error(self.text, at, "an integer beyond 64 bits")
    }

    /// Returns the index of the first bit from one end that equals `wanted`, or -1.
    fn find_bit(&mut self, v: &Value, wanted: NodeId, leftmost: bool, at: u32) -> Result<Value> {
        let (Type::Vector(Vector::Unsigned | Vector::Signed, width), Data::Node(node)) = (&v.ty, &v.data) else {
            return self.fail(at, "an unsigned or signed vector is expected here");
        };
        let Some(bounds) = v.bounds else { return self.fail(at, "bits of a value whose bounds are not known here") };
        self.settled(wanted, at)?;
        let mut found = self.integer(-1, 33);
        // The bit that is visited last has the highest priority.
        for k in 0..*width {
            self.turn(at)?;
            let lo = if leftmost { k } else { width - 1 - k };
            let bit = self.rtl.slice(*node, lo, 1);
            let hit = self.rtl.compare(Compare::Equal, bit, wanted);
            let index = if bounds.down { bounds.right + i64::from(lo) } else { bounds.right - i64::from(lo) };
            let index = self.integer(index, 33);
            found = self.rtl.mux(hit, index, found);
        }
        let bounds = Bounds { left: -(1 << 32), right: (1 << 32) - 1, down: false };
        Ok(self.decoded(found, &Type::Integer, Some(bounds)))
    }

    /// Evaluates the minimum or maximum of two values.
    fn extreme(
        &mut self,
        run: &mut Run<'a>,
        x: &'a Expr,
        y: &'a Expr,
        greater: bool,
        expected: Option<&Expect>,
        at: u32,
    ) -> Result<Value> {
        let (a, b) = self.operands(run, x, y, expected_kind(expected).as_ref(), false)?;
        if let (Data::Int(i), Data::Int(j)) = (&a.data, &b.data) {
            let i = if greater { *i.max(j) } else { *i.min(j) };
            return Ok(Value { data: Data::Int(i), ..a });
        }
        // An integer operand is truncated to the length of the vector before the comparison.
        let vectors = matches!(a.ty, Type::Vector(..)) || matches!(b.ty, Type::Vector(..));
        let (a, b) = match vectors {
            true if matches!(a.ty, Type::Vector(Vector::Logic, _)) => {
                return self.fail(at, "minimum and maximum of std_logic_vectors");
            }
            true => {
                let (kind, p, q) = self.pair(&a, &b, |vector, _| vector, at)?;
                (self.vector(kind, p), self.vector(kind, q))
            }
            false => (a, b),
        };
        let less = self.relation("<", &a, &b, at)?;
        let less = self.bits(&less, at)?;
        let first = if greater { self.rtl.not(less) } else { less };
        if a.ty == Type::Integer && b.ty == Type::Integer {
            let (p, q) = (self.whole(&a), self.whole(&b));
            let width = self.rtl.width(p).max(self.rtl.width(q));
            let (p, q) = (self.rtl.resize(p, width, true), self.rtl.resize(q, width, true));
            let node = self.rtl.mux(first, p, q);
            return Ok(Value { ty: Type::Integer, data: Data::Whole(node), bounds: None });
        }
        if vectors {
            // The result has the length of the longer vector.
            let (kind, p, q) = self.pair(&a, &b, |vector, _| vector, at)?;
            let signed = kind == Vector::Signed;
            let width = self.rtl.width(p).max(self.rtl.width(q));
            let (p, q) = (self.rtl.resize(p, width, signed), self.rtl.resize(q, width, signed));
            let node = self.rtl.mux(first, p, q);
            return Ok(self.vector(kind, node));
        }
        self.same(at, &a.ty, &b.ty)?;
        let (p, q) = (self.bits(&a, at)?, self.bits(&b, at)?);
        let node = self.rtl.mux(first, p, q);
        Ok(Value { data: Data::Node(node), ..a })
    }

    /// Evaluates a length: a number, or (in VHDL-2008) the length of a vector.
    fn length(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<u32> {
        let v = self.value(run, e, Some(&Expect::Exactly(Type::Integer)))?;
        match (&v.ty, &v.data) {
            (Type::Vector(_, w), _) => Ok(*w),
            (Type::Integer, Data::Int(i)) => match u32::try_from(*i) {
                Ok(w) if w <= MAX_WIDTH => Ok(w),
                _ => self.fail(e.at, "a width from 0 to 2^24"),
            },
            _ => self.fail(e.at, "a constant is needed here"),
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

    pub(super) fn shifted(&mut self, run: &mut Run<'a>, name: &str, v: &Value, by: &'a Expr, at: u32) -> Result<Value> {
        let node = self.bits(v, at)?;
        let Type::Vector(kind, width) = v.ty else { return self.fail(at, "a vector is expected here") };
        let amount = self.value(run, by, Some(&Expect::Exactly(Type::Integer)))?;
        self.same(by.at, &Type::Integer, &amount.ty)?;
        let signed = kind == Vector::Signed;
        if matches!(name, "sra" | "sla") && kind == Vector::Logic {
            return self.fail(at, format!("{name} of std_logic_vector"));
        }
        // Left, rotate, sign fill, and sign fill for a negative amount. With a negative amount only `sla` of a signed
        // vector fills with the sign, as it then shifts to the right.
        let (left, rotate, sign, back_sign) = match name {
            "shift_left" => (true, false, false, false),
            "sll" => (true, false, false, false),
            "sla" => (true, false, false, signed),
            "shift_right" => (false, false, signed, false),
            "srl" => (false, false, false, false),
            "sra" => (false, false, signed, false),
            "rotate_left" | "rol" => (true, true, false, false),
            "rotate_right" | "ror" => (false, true, false, false),
            _ => return self.fail(at, format!("{name} is not supported")),
        };
        let function = matches!(name, "shift_left" | "shift_right" | "rotate_left" | "rotate_right");
        let shifted = match amount.data {
            Data::Int(i) if i < 0 && function => return self.fail(by.at, "a shift by a negative number"),
            Data::Int(i) => {
                let (left, sign) = if i < 0 { (!left, back_sign) } else { (left, sign) };
                let count = self.rtl.constant(BigUint::from(i.unsigned_abs()), 64);
                self.moved(node, count, left, rotate, sign)
            }
            Data::Natural(n) => self.moved(node, n, left, rotate, sign),
            // The shift amount of a function is a natural number.
            Data::Whole(n) if function => {
                let keep = self.rtl.width(n) - 1;
                let n = self.rtl.slice(n, 0, keep);
                self.moved(node, n, left, rotate, sign)
            }
            Data::Whole(n) => {
                let wide = self.rtl.width(n);
                let zero = self.rtl.number(0, wide);
                let (minus, negative) = (self.rtl.binary(Binary::Sub, zero, n), self.rtl.slice(n, wide - 1, 1));
                let forward = self.moved(node, n, left, rotate, sign);
                let back = self.moved(node, minus, !left, rotate, back_sign);
                self.rtl.mux(negative, back, forward)
            }
            _ => return self.fail(by.at, "an integer is expected here"),
        };
        let width_now = self.rtl.width(shifted);
        debug_assert_eq!(width, width_now);
        Ok(self.vector(kind, shifted))
    }

    /// Shifts or rotates bits by a natural number.
    fn moved(&mut self, node: NodeId, count: NodeId, left: bool, rotate: bool, sign: bool) -> NodeId {
        let width = self.rtl.width(node);
        if !rotate || width < 2 {
            let op = match (left, sign) {
                _ if rotate => return node,
                (true, _) => Shift::Left,
                (false, true) => Shift::SignedRight,
                (false, false) => Shift::Right,
            };
            return self.rtl.shift(op, node, count);
        }
        // Reduce the amount modulo the width, then combine shifts in both directions.
        let reach = self.rtl.width(count).max(33);
        let (count, whole) = (self.rtl.resize(count, reach, false), self.rtl.number(width.into(), reach));
        let places = self.rtl.binary(Binary::Rem, count, whole);
        let others = self.rtl.binary(Binary::Sub, whole, places);
        let (up, down) = if left { (places, others) } else { (others, places) };
        let (high, low) = (self.rtl.shift(Shift::Left, node, up), self.rtl.shift(Shift::Right, node, down));
        self.rtl.binary(Binary::Or, high, low)
    }
}

/// Returns the expected kind of vector, with any length.
fn expected_kind(expected: Option<&Expect>) -> Option<Expect> {
    match expected {
        Some(Expect::Exactly(Type::Vector(v, _)) | Expect::Vector(v)) => Some(Expect::Vector(*v)),
        Some(other) => Some(other.clone()),
        None => None,
    }
}
