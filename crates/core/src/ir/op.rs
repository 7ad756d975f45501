//! The operations of a program.

use crate::num::Code;
use std::fmt;

/// Index of an operation and of the value that it computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index of a lookup table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

impl ValueId {
    /// Returns the index for subscripts.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TableId {
    /// Returns the index for subscripts.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// Bit operation on one operand (opcode 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryBits {
    /// `-a - 1` for a signed result, otherwise the complement of the operand's bits.
    Not,
    /// 1 if any bit of the operand is set.
    Any,
    /// 1 if every bit of the operand is set; 1 for an operand without bits.
    All,
}

/// Bit operation on two operands (opcode 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryBits {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// One term of a [`Op::Sum`]: `± value * 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Operand of the sum.
    pub value: ValueId,
    /// Exponent of the weight.
    pub shift: i32,
    /// `true` if the term is subtracted.
    pub neg: bool,
}

/// Operation on values. Section 3 of the specification defines the exact semantics; every result is wrapped to the type
/// of its node.
///
/// A field `shift` scales the preceding operand by `2^shift`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Opcode -1: the external input, quantised.
    Input {
        /// Index of the input element.
        input: u32,
    },
    /// Opcode 5: the constant `value * step`, where `step` is the step of the node's interval.
    Const {
        /// Raw integer value, before wrapping.
        value: Code,
    },
    /// Opcode -2: `-x`.
    Neg {
        /// Operand.
        x: ValueId,
    },
    /// Opcode 0: `a + b * 2^shift`.
    Add {
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
        /// Scale of `b`.
        shift: i32,
    },
    /// Opcode 1: `a - b * 2^shift`.
    Sub {
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
        /// Scale of `b`.
        shift: i32,
    },
    /// Opcode 2: `max(x, 0)`, quantised.
    Relu {
        /// Operand.
        x: ValueId,
    },
    /// Opcode 3: `x * 2^shift`, quantised.
    Quantise {
        /// Operand.
        x: ValueId,
        /// Relative shift.
        shift: i32,
    },
    /// Opcode 4: `x + value * 2^-shift`. Note the sign: `shift` is the number of fractional bits of `value`.
    AddConst {
        /// Operand.
        x: ValueId,
        /// Raw integer value of the constant.
        value: Code,
        /// Number of fractional bits of the constant.
        shift: i32,
    },
    /// Opcode 6: `on_true` if the top bit of `cond` is set, else `on_false * 2^shift`; quantised.
    Mux {
        /// The condition: the sign bit if the type is signed, otherwise bit `width - 1`; clear if the type has no bits.
        cond: ValueId,
        /// Result if the bit is set.
        on_true: ValueId,
        /// Result if the bit is clear, before scaling.
        on_false: ValueId,
        /// Scale of `on_false`.
        shift: i32,
    },
    /// Opcode 7: `a * b`.
    Mul {
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
    },
    /// Opcode 8: entry `x - base` of a table.
    Lookup {
        /// Operand.
        x: ValueId,
        /// The table.
        table: TableId,
        /// Raw integer value of the operand at entry 0. Fixed when a file is read: narrowing an interval does not
        /// change it.
        base: Code,
    },
    /// Opcode 9: not, any, all.
    Unary {
        /// Kind of the operation.
        op: UnaryBits,
        /// Operand.
        x: ValueId,
    },
    /// Opcode 10: and, or, xor of `a` and `b * 2^shift`.
    Binary {
        /// Kind of the operation.
        op: BinaryBits,
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
        /// Scale of `b`.
        shift: i32,
    },
    /// Opcode 11: the sum of at least one signed, shifted term.
    Sum {
        /// The terms.
        terms: Box<[Term]>,
    },
}

impl Op {
    /// Calls `visit` for each operand, in the order of the version 4 `addr` field; repeated operands repeat.
    #[inline]
    pub fn for_each_operand(&self, mut visit: impl FnMut(ValueId)) {
        match self {
            Op::Input { input: _ } | Op::Const { value: _ } => {}
            Op::Neg { x }
            | Op::Relu { x }
            | Op::Quantise { x, shift: _ }
            | Op::AddConst { x, value: _, shift: _ }
            | Op::Lookup { x, table: _, base: _ }
            | Op::Unary { op: _, x } => visit(*x),
            Op::Add { a, b, shift: _ }
            | Op::Sub { a, b, shift: _ }
            | Op::Mul { a, b }
            | Op::Binary { op: _, a, b, shift: _ } => {
                visit(*a);
                visit(*b);
            }
            Op::Mux { cond, on_true, on_false, shift: _ } => {
                visit(*on_true);
                visit(*on_false);
                visit(*cond);
            }
            Op::Sum { terms } => terms.iter().for_each(|t| visit(t.value)),
        }
    }

    /// Returns the operands in the order of [`Op::for_each_operand`].
    pub fn operands(&self) -> Vec<ValueId> {
        let mut all = Vec::with_capacity(3);
        self.for_each_operand(|v| all.push(v));
        all
    }

    /// Replaces each operand by `map(operand)`.
    pub fn map_operands(&mut self, mut map: impl FnMut(ValueId) -> ValueId) {
        match self {
            Op::Input { input: _ } | Op::Const { value: _ } => {}
            Op::Neg { x }
            | Op::Relu { x }
            | Op::Quantise { x, shift: _ }
            | Op::AddConst { x, value: _, shift: _ }
            | Op::Lookup { x, table: _, base: _ }
            | Op::Unary { op: _, x } => *x = map(*x),
            Op::Add { a, b, shift: _ }
            | Op::Sub { a, b, shift: _ }
            | Op::Mul { a, b }
            | Op::Binary { op: _, a, b, shift: _ } => {
                *a = map(*a);
                *b = map(*b);
            }
            Op::Mux { cond, on_true, on_false, shift: _ } => {
                *on_true = map(*on_true);
                *on_false = map(*on_false);
                *cond = map(*cond);
            }
            Op::Sum { terms } => terms.iter_mut().for_each(|t| t.value = map(t.value)),
        }
    }

    /// Returns the opcode of the file format.
    pub fn opcode(&self) -> i8 {
        match self {
            Op::Neg { .. } => -2,
            Op::Input { .. } => -1,
            Op::Add { .. } => 0,
            Op::Sub { .. } => 1,
            Op::Relu { .. } => 2,
            Op::Quantise { .. } => 3,
            Op::AddConst { .. } => 4,
            Op::Const { .. } => 5,
            Op::Mux { .. } => 6,
            Op::Mul { .. } => 7,
            Op::Lookup { .. } => 8,
            Op::Unary { .. } => 9,
            Op::Binary { .. } => 10,
            Op::Sum { .. } => 11,
        }
    }

    /// Returns a short name for people, such as `relu`.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Neg { .. } => "neg",
            Op::Input { .. } => "input",
            Op::Add { .. } => "add",
            Op::Sub { .. } => "sub",
            Op::Relu { .. } => "relu",
            Op::Quantise { .. } => "quantise",
            Op::AddConst { .. } => "add_const",
            Op::Const { .. } => "const",
            Op::Mux { .. } => "mux",
            Op::Mul { .. } => "mul",
            Op::Lookup { .. } => "lookup",
            Op::Unary { op: UnaryBits::Not, .. } => "not",
            Op::Unary { op: UnaryBits::Any, .. } => "any",
            Op::Unary { op: UnaryBits::All, .. } => "all",
            Op::Binary { op: BinaryBits::And, .. } => "and",
            Op::Binary { op: BinaryBits::Or, .. } => "or",
            Op::Binary { op: BinaryBits::Xor, .. } => "xor",
            Op::Sum { .. } => "sum",
        }
    }

    /// Returns `true` if the operation may wrap although its operands are inside their intervals: inputs, ReLU,
    /// quantise, mux. For every other operation, a valid file guarantees that wrapping changes no value while the
    /// intervals hold.
    pub fn quantises(&self) -> bool {
        matches!(self, Op::Input { .. } | Op::Relu { .. } | Op::Quantise { .. } | Op::Mux { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_come_in_file_order() {
        let mux = Op::Mux { cond: ValueId(2), on_true: ValueId(0), on_false: ValueId(1), shift: 3 };
        assert_eq!(mux.operands(), [ValueId(0), ValueId(1), ValueId(2)]);
        let mut moved = mux;
        moved.map_operands(|v| ValueId(v.0 + 10));
        assert_eq!(moved.operands(), [ValueId(10), ValueId(11), ValueId(12)]);
    }

    #[test]
    fn operations_stay_small() {
        // A file with a million operations is normal.
        assert!(size_of::<Op>() <= 32, "{}", size_of::<Op>());
    }
}
